/* SPDX-License-Identifier: BSD-2-Clause */
/* stochastic.inc.c - fill_hash and round at once, for AVX2 and AVX-512; included by variant.inc.c.
 *
 * Where elements are usual, no NaN, no end and no step below the first is near, only core_stochastic_large is left of
 * the rule, and a look at a group of elements shows whether all are. The look costs less than the rest of the rule.
 * Compilers do not find it by themselves, since it needs masks. */

/* Elements that are looked at and made at once: as many as go into registers with all that they need. */
#ifdef __AVX512F__
#define STOCHASTIC_GROUP 32
#else
#define STOCHASTIC_GROUP 8
#endif
/* Elements of which some are looked at beforehand: where unusual ones abound, the whole rule takes less time. */
#define STOCHASTIC_TILE 4096
/* How many groups of them, and how many of these may have an unusual element. */
#define STOCHASTIC_SAMPLES 8
#define STOCHASTIC_UNUSUAL 2

/* CORE_RULE_SHIFTER_GRID, where core_draws_grid, finished, after QPyTorch's first rounding. */
#define STOCHASTIC_TWICE CORE_RULE_COUNT

/* What the rule sees instead of u. */
FPEMU_FN uint32_t stochastic_input(const core_plan32 *p, int rule, uint32_t u)
{
    return rule == STOCHASTIC_TWICE ? core_compat_first32(p->emin_bits, core_power32((int)p->pre_d - 127), u) : u;
}

FPEMU_FN uint32_t stochastic_element(const core_plan32 *p, int rule, uint32_t u, uint32_t r)
{
    const uint32_t v = stochastic_input(p, rule, u);
    switch (rule) {
    case CORE_RULE_FULL_RANGE: return core_element_full_range32(p, FPEMU_MODE_SR, u, r);
    case CORE_RULE_SHIFTER_PASS: return core_element_pass32(p, FPEMU_MODE_SR, u, r);
    case CORE_RULE_SHIFTER_STOP: return core_element_stop32(p, FPEMU_MODE_SR, u, r);
    case CORE_RULE_SHIFTER_GRID:
    case STOCHASTIC_TWICE: return core_element_finished32(p, FPEMU_MODE_SR, v, r);
    default: return core_element_even32(p, FPEMU_MODE_SR, u, r);
    }
}

/* The same for a usual element; any number for another. */
FPEMU_FN uint32_t stochastic_usual(const core_plan32 *p, int rule, uint32_t u, uint32_t r)
{
    const uint32_t sign = u & 0x80000000u, a = stochastic_input(p, rule, u) ^ sign;
    return core_stochastic_large32(p, rule == CORE_RULE_SHIFTER_STOP ? core_at_most32(a, p->max[0]) : a, r) | sign;
}

/* Which elements of a group are not usual, a bit of each. Usual are magnitudes from the smallest step on to the largest
 * value or, where this takes the place of what lies beyond, to infinity. *others: those of them that are not zero. */
FPEMU_FN uint32_t stochastic_look(const core_plan32 *p, int rule, const char *x, uint32_t *others)
{
    const uint32_t end = rule == CORE_RULE_SHIFTER_STOP ? 0x7f800000u : p->max[0];
#ifdef __AVX512F__
    const __m512i first = _mm512_set1_epi32((int)p->low_one), magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i span = _mm512_set1_epi32((int)(end - p->low_one));
    uint32_t unusual = 0;
    *others = 0;
    for (int v = 0; v < STOCHASTIC_GROUP / 16; v++) {
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
FPEMU_FN int stochastic_few(const core_plan32 *p, int rule, size_t n, const char *x)
{
    const size_t groups = n / STOCHASTIC_GROUP, stride = groups / STOCHASTIC_SAMPLES;
    int unusual = 0;
    for (size_t s = 0; s < STOCHASTIC_SAMPLES; s++) {
        uint32_t others;
        stochastic_look(p, rule, x + s * stride * STOCHASTIC_GROUP * sizeof(float), &others);
        unusual += others != 0;
    }
    return unusual < STOCHASTIC_UNUSUAL;
}

/* One group, by random bits r. left: this and what follows. Each loop reads x for itself: out of an array of its own,
 * gcc 12 takes elements one by one where vectors are AVX2's. */
FPEMU_FN void stochastic_group(const core_plan32 *p, int rule, int usual, int streaming, size_t left, const char *x,
                               const uint32_t *r, char *y)
{
    _Alignas(LINE) uint32_t to[STOCHASTIC_GROUP];
    if (streaming && left >= STOCHASTIC_GROUP + STREAM_AHEAD / sizeof *to)
        stream_ask(x + STREAM_AHEAD, sizeof to);
    SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++) {
        uint32_t u;
        memcpy(&u, x + l * sizeof u, sizeof u);
        to[l] = usual ? stochastic_usual(p, rule, u, r[l]) : stochastic_element(p, rule, u, r[l]);
    }
    const uint32_t zeros = rule == CORE_RULE_SHIFTER_GRID || rule == STOCHASTIC_TWICE ? p->zero[1] : 0x80000000u;
    uint32_t others;
    if (usual && stochastic_look(p, rule, x, &others)) {
        if (others) {
            SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++) {
                uint32_t u;
                memcpy(&u, x + l * sizeof u, sizeof u);
                to[l] = stochastic_element(p, rule, u, r[l]);
            }
        } else {
            SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++) {
                uint32_t u;
                memcpy(&u, x + l * sizeof u, sizeof u);
                to[l] = u << 1 ? to[l] : u & zeros;
            }
        }
    }
    if (streaming)
        stream_tile(y, to, sizeof to);
    else
        memcpy(y, to, sizeof to);
}

/* n elements by words `low` and following, which have one lead, and 1 << per_word elements each: the first elements of
 * 32 words, then their second ones, ... usual: unusual elements are few; left: n and what follows. */
FPEMU_FN void stochastic_words(const core_plan32 *p, int rule, int per_word, int usual, int streaming,
                               core_hash_key key, uint32_t low, size_t n, size_t left, const char *x, char *y)
{
    const core_hash_key k = key;
    const uint32_t lead = core_hash_lead(k, low), mask = ~UINT32_C(0) << (32 - (32 >> per_word));
    for (size_t i = 0; i < n; i += (size_t)32 << per_word, low += 32) {
        for (uint32_t b = 0; b < 32; b += STOCHASTIC_GROUP) {
            uint32_t words[STOCHASTIC_GROUP];
            SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++)
                words[l] = core_hash_rest(k, (low + b + l) ^ lead);
            for (int field = 0; field < 1 << per_word; field++) {
                const size_t at = i + (size_t)field * 32 + b;
                uint32_t r[STOCHASTIC_GROUP];
                SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++)
                    r[l] = (words[l] << (32 - (field + 1) * (32 >> per_word))) & mask;
                stochastic_group(p, rule, usual, streaming, left - at, x + at * sizeof(float), r,
                                 y + at * sizeof(float));
            }
        }
    }
}

/* At most a group, from any index on. */
FPEMU_FN void stochastic_some(const core_plan32 *p, int rule, int per_word, core_hash_key key, uint64_t index, size_t n,
                              const char *x, char *y)
{
    uint32_t from[STOCHASTIC_GROUP] = {0}, to[STOCHASTIC_GROUP];
    memcpy(from, x, n * sizeof *from);
    SIMD for (uint32_t l = 0; l < STOCHASTIC_GROUP; l++) {
        const uint32_t word = core_hash_word(key, (uint32_t)core_word_index(per_word, index + l));
        to[l] = stochastic_element(
            p, rule, from[l], core_field_top(per_word, 32 >> per_word, word, core_field_shift(per_word, index + l)));
    }
    memcpy(y, to, n * sizeof *to);
}

/* `settle` makes a constant of what the rule asks of the plan: no condition may be left in the loop. */
#define STOCHASTIC_LOOP(name, rule, per_word, settle)                                                                  \
    static void stochastic_##name##_##per_word(const core_plan32 *plan, core_hash_key k, uint64_t index, size_t n,     \
                                               int streaming, const char *x, char *y)                                  \
    {                                                                                                                  \
        const int looks = (rule) != CORE_RULE_FULL_RANGE && (rule) != CORE_RULE_EVEN;                                  \
        const size_t step = (size_t)32 << (per_word);                                                                  \
        core_plan32 p = *plan;                                                                                         \
        settle;                                                                                                        \
        for (size_t m; n > 0; index += m, n -= m, x += m * sizeof(float), y += m * sizeof(float)) {                    \
            const uint32_t low = (uint32_t)core_word_index(per_word, index);                                           \
            const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));                                      \
            const size_t most = words << (per_word) < n ? words << (per_word) : n;                                     \
            m = (most < STOCHASTIC_TILE ? most : STOCHASTIC_TILE) / step * step;                                       \
            if ((per_word) && (index & (step - 1)))                                                                    \
                m = 0; /* some of the first words' fields are past */                                                  \
            if (m == 0) {                                                                                              \
                m = step - (per_word ? index & (step - 1) : 0);                                                        \
                m = m < STOCHASTIC_GROUP ? m : STOCHASTIC_GROUP;                                                       \
                m = m < n ? m : n;                                                                                     \
                stochastic_some(&p, rule, per_word, k, index, m, x, y);                                                \
            } else if (looks && stochastic_few(&p, rule, m, x)) {                                                      \
                stochastic_words(&p, rule, per_word, 1, streaming, k, low, m, n, x, y);                                \
            } else {                                                                                                   \
                stochastic_words(&p, rule, per_word, 0, streaming, k, low, m, n, x, y);                                \
            }                                                                                                          \
        }                                                                                                              \
    }

/* By as many random bits as the plan asks for: 32, 16 or 8. */
#define STOCHASTIC_LOOPS(name, rule, settle)                                                                           \
    STOCHASTIC_LOOP(name, rule, 0, settle)                                                                             \
    STOCHASTIC_LOOP(name, rule, 1, settle)                                                                             \
    STOCHASTIC_LOOP(name, rule, 2, settle)                                                                             \
    static void stochastic_##name(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,      \
                                  const void *x, void *y)                                                              \
    {                                                                                                                  \
        const int per_word = core_per_word(p->n);                                                                      \
        (per_word == 0   ? stochastic_##name##_0                                                                       \
         : per_word == 1 ? stochastic_##name##_1                                                                       \
                         : stochastic_##name##_2)(p, k, index, n, streaming, (const char *)x, (char *)y);              \
    }

#ifdef __AVX512F__ /* without a look, two loops are quicker where registers are few */
STOCHASTIC_LOOPS(full_range, CORE_RULE_FULL_RANGE, (void)0)
STOCHASTIC_LOOP(grid, CORE_RULE_SHIFTER_GRID, 0, (void)0)
STOCHASTIC_LOOP(twice, STOCHASTIC_TWICE, 0, (void)0)
static void stochastic_grid(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,
                            const void *x, void *y)
{
    (p->compat ? stochastic_twice_0 : stochastic_grid_0)(p, k, index, n, streaming, (const char *)x, (char *)y);
}
STOCHASTIC_LOOP(even, CORE_RULE_EVEN, 1, (void)0)
STOCHASTIC_LOOP(even, CORE_RULE_EVEN, 2, (void)0)
static void stochastic_even(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,
                            const void *x, void *y)
{
    if (p->n == 32)
        integers_drawn_even(p, k, index, n, streaming, x, y);
    else
        (core_per_word(p->n) == 1 ? stochastic_even_1 : stochastic_even_2)(p, k, index, n, streaming, (const char *)x,
                                                                           (char *)y);
}
#endif
STOCHASTIC_LOOPS(to_infinity, CORE_RULE_SHIFTER_PASS, p.fast_nan = 0x7f800000u)
STOCHASTIC_LOOPS(to_nan, CORE_RULE_SHIFTER_PASS, p.fast_nan = 0)
STOCHASTIC_LOOPS(stop, CORE_RULE_SHIFTER_STOP, (void)0)
#undef STOCHASTIC_LOOPS
#undef STOCHASTIC_LOOP
#undef STOCHASTIC_TWICE

static void stochastic_pass(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int streaming,
                            const void *x, void *y)
{
    (p->fast_nan == 0x7f800000u ? stochastic_to_infinity : stochastic_to_nan)(p, k, index, n, streaming, x, y);
}
