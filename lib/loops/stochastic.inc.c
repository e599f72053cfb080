/* drawn.inc.c - fill_hash and round at once, for AVX2 and AVX-512; included by kernels.inc.c.
 *
 * Where elements are usual, no NaN, no end and no step below the first is near, only core_drawn_large is left of the
 * rule, and a look at a group of elements shows whether all are: what the look takes is less than what the rest would.
 * Compilers find no such look, which needs masks; all else is the element rules. */

/* Elements that are looked at and made at once: as many as go into registers with all that they need. */
#ifdef __AVX512F__
#define DRAWN_GROUP 32
#else
#define DRAWN_GROUP 8
#endif
/* Elements of which some are looked at beforehand: where unusual ones abound, the rule is quicker as a whole. */
#define DRAWN_TILE 4096
/* How many groups of them, and how many of these may have an unusual element. */
#define DRAWN_SAMPLES 8
#define DRAWN_UNUSUAL 2

FPEMU_FN uint32_t drawn_element(const core_plan32 *p, int rule, uint32_t u, uint32_t r)
{
    switch (rule) {
    case CORE_RULE_FLAT: return core_element_flat32(p, FPEMU_MODE_SR, u, r);
    case CORE_RULE_MAGIC_PASS: return core_element_pass32(p, FPEMU_MODE_SR, u, r);
    case CORE_RULE_MAGIC_STOP: return core_element_stop32(p, FPEMU_MODE_SR, u, r);
    default: return core_element_even32(p, FPEMU_MODE_SR, u, r);
    }
}

/* The same for a usual element; any number for another. */
FPEMU_FN uint32_t drawn_usual(const core_plan32 *p, int rule, uint32_t u, uint32_t r)
{
    const uint32_t sign = u & 0x80000000u, a = u ^ sign;
    return core_drawn_large32(p, rule == CORE_RULE_MAGIC_STOP ? core_at_most32(a, p->max[0]) : a, r) | sign;
}

/* Which elements of a group are not usual, a bit of each. Usual are magnitudes from the smallest step on to the largest
 * value or, where this takes the place of what lies beyond, to infinity. `others`: which are moreover not zero. */
FPEMU_FN uint32_t drawn_look(const core_plan32 *p, int rule, const char *x, uint32_t *others)
{
    const uint32_t end = rule == CORE_RULE_MAGIC_STOP ? 0x7f800000u : p->max[0];
#ifdef __AVX512F__
    const __m512i first = _mm512_set1_epi32((int)p->low_one), magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i span = _mm512_set1_epi32((int)(end - p->low_one));
    uint32_t unusual = 0;
    *others = 0;
    for (int v = 0; v < DRAWN_GROUP / 16; v++) {
        const __m512i a = _mm512_and_si512(_mm512_loadu_si512(x + 64 * v), magnitude);
        const __mmask16 far = _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(a, first), span);
        unusual |= (uint32_t)far << 16 * v;
        *others |= (uint32_t)_mm512_mask_test_epi32_mask(far, a, a) << 16 * v;
    }
#else
    const __m256i first = _mm256_set1_epi32((int)p->low_one), last = _mm256_set1_epi32((int)end);
    const __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)x);
    const __m256i a = _mm256_and_si256(u, _mm256_set1_epi32(0x7fffffff));
    const __m256i far = _mm256_or_si256(_mm256_cmpgt_epi32(first, a), _mm256_cmpgt_epi32(a, last));
    const __m256i other = _mm256_andnot_si256(_mm256_cmpeq_epi32(a, _mm256_setzero_si256()), far);
    const uint32_t unusual = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(far));
    *others = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(other));
#endif
    return unusual;
}

/* Whether unusual elements are few among n, whole groups. */
FPEMU_FN int drawn_few(const core_plan32 *p, int rule, size_t n, const char *x)
{
    const size_t groups = n / DRAWN_GROUP, stride = groups / DRAWN_SAMPLES;
    int unusual = 0;
    for (size_t s = 0; s < DRAWN_SAMPLES; s++) {
        uint32_t others;
        drawn_look(p, rule, x + s * stride * DRAWN_GROUP * sizeof(float), &others);
        unusual += others != 0;
    }
    return unusual < DRAWN_UNUSUAL;
}

/* One group, by random bits r. left: this and what follows. Each loop reads x for itself: out of an array of its own,
 * gcc 12 takes elements one by one where vectors are AVX2's. */
FPEMU_FN void drawn_group(const core_plan32 *p, int rule, int quick, int passing, size_t left, const char *x,
                          const uint32_t *r, char *y)
{
    _Alignas(LINE) uint32_t to[DRAWN_GROUP];
    if (passing && left >= DRAWN_GROUP + STREAM_AHEAD / sizeof *to)
        stream_ask(x + STREAM_AHEAD, sizeof to);
    SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
    {
        uint32_t u;
        memcpy(&u, x + l * sizeof u, sizeof u);
        to[l] = quick ? drawn_usual(p, rule, u, r[l]) : drawn_element(p, rule, u, r[l]);
    }
    uint32_t others;
    if (quick && drawn_look(p, rule, x, &others)) {
        if (others) {
            SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
            {
                uint32_t u;
                memcpy(&u, x + l * sizeof u, sizeof u);
                to[l] = drawn_element(p, rule, u, r[l]);
            }
        } else {
            SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
            {
                uint32_t u;
                memcpy(&u, x + l * sizeof u, sizeof u);
                to[l] = u << 1 ? to[l] : u;
            }
        }
    }
    if (passing)
        stream_tile(y, to, sizeof to);
    else
        memcpy(y, to, sizeof to);
}

/* n elements by words `low` and following, which share a lead and 1 << share elements each: the first elements of 32
 * words, then their second ones, ... quick: unusual elements are few; left: n and what follows. */
FPEMU_FN void drawn_words(const core_plan32 *p, int rule, int share, int quick, int passing, core_hash_key key,
                          uint32_t low, size_t n, size_t left, const char *x, char *y)
{
    const core_hash_key k = key;
    const uint32_t lead = core_hash_lead(k, low), mask = ~UINT32_C(0) << (32 - (32 >> share));
    for (size_t i = 0; i < n; i += (size_t)32 << share, low += 32) {
        for (uint32_t b = 0; b < 32; b += DRAWN_GROUP) {
            uint32_t words[DRAWN_GROUP];
            SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
                words[l] = core_hash_rest(k, (low + b + l) ^ lead);
            for (int field = 0; field < 1 << share; field++) {
                const size_t at = i + (size_t)field * 32 + b;
                uint32_t r[DRAWN_GROUP];
                SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
                    r[l] = (words[l] << (32 - (field + 1) * (32 >> share))) & mask;
                drawn_group(p, rule, quick, passing, left - at, x + at * sizeof(float), r, y + at * sizeof(float));
            }
        }
    }
}

/* At most a group, from any index on. */
FPEMU_FN void drawn_some(const core_plan32 *p, int rule, int share, core_hash_key key, uint64_t index, size_t n,
                         const char *x, char *y)
{
    uint32_t from[DRAWN_GROUP] = {0}, to[DRAWN_GROUP];
    memcpy(from, x, n * sizeof *from);
    SIMD for (uint32_t l = 0; l < DRAWN_GROUP; l++)
    {
        const uint32_t word = core_hash_word(key, (uint32_t)core_word_index(share, index + l));
        to[l] = drawn_element(p, rule, from[l],
                              core_field_top(share, 32 >> share, word, core_field_shift(share, index + l)));
    }
    memcpy(y, to, n * sizeof *to);
}

/* `settle` makes a constant of what the rule asks of the plan: no condition may be left in the loop. */
#define DRAWN_LOOP(name, rule, share, settle)                                                                          \
    static void drawn_##name##_##share(const core_plan32 *plan, core_hash_key k, uint64_t index, size_t n,             \
                                       int passing, const char *x, char *y)                                            \
    {                                                                                                                  \
        const int looks = (rule) == CORE_RULE_MAGIC_STOP || (rule) == CORE_RULE_MAGIC_PASS;                            \
        const size_t step = (size_t)32 << (share);                                                                     \
        core_plan32 p = *plan;                                                                                         \
        settle;                                                                                                        \
        for (size_t m; n > 0; index += m, n -= m, x += m * sizeof(float), y += m * sizeof(float)) {                    \
            const uint32_t low = (uint32_t)core_word_index(share, index);                                              \
            const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));                                      \
            const size_t most = words << (share) < n ? words << (share) : n;                                           \
            m = (most < DRAWN_TILE ? most : DRAWN_TILE) / step * step;                                                 \
            if ((share) && (index & (step - 1)))                                                                       \
                m = 0; /* some of the first words' fields are past */                                                  \
            if (m == 0) {                                                                                              \
                m = step - (share ? index & (step - 1) : 0);                                                           \
                m = m < DRAWN_GROUP ? m : DRAWN_GROUP;                                                                 \
                m = m < n ? m : n;                                                                                     \
                drawn_some(&p, rule, share, k, index, m, x, y);                                                        \
            } else if (looks && drawn_few(&p, rule, m, x)) {                                                           \
                drawn_words(&p, rule, share, 1, passing, k, low, m, n, x, y);                                          \
            } else {                                                                                                   \
                drawn_words(&p, rule, share, 0, passing, k, low, m, n, x, y);                                          \
            }                                                                                                          \
        }                                                                                                              \
    }

/* By as many random bits as the plan asks for: 32, 16 or 8. */
#define DRAWN_LOOPS(name, rule, settle)                                                                                \
    DRAWN_LOOP(name, rule, 0, settle)                                                                                  \
    DRAWN_LOOP(name, rule, 1, settle)                                                                                  \
    DRAWN_LOOP(name, rule, 2, settle)                                                                                  \
    static void drawn_##name(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int passing,             \
                             const void *x, void *y)                                                                   \
    {                                                                                                                  \
        const int share = core_share(p->n);                                                                            \
        (share == 0 ? drawn_##name##_0 : share == 1 ? drawn_##name##_1 : drawn_##name##_2)(                            \
            p, k, index, n, passing, (const char *)x, (char *)y);                                                      \
    }

#ifdef __AVX512F__ /* without a look, two loops are quicker where registers are few */
DRAWN_LOOPS(flat, CORE_RULE_FLAT, (void)0)
DRAWN_LOOPS(even, CORE_RULE_EVEN, (void)0)
#endif
DRAWN_LOOPS(to_infinity, CORE_RULE_MAGIC_PASS, p.quick_nan = 0x7f800000u)
DRAWN_LOOPS(to_nan, CORE_RULE_MAGIC_PASS, p.quick_nan = 0)
DRAWN_LOOPS(stop, CORE_RULE_MAGIC_STOP, (void)0)
#undef DRAWN_LOOPS
#undef DRAWN_LOOP

static void drawn_pass(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int passing, const void *x,
                       void *y)
{
    (p->quick_nan == 0x7f800000u ? drawn_to_infinity : drawn_to_nan)(p, k, index, n, passing, x, y);
}
