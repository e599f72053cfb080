/* SPDX-License-Identifier: BSD-2-Clause */
/* elements.inc.c - the array loops of one carrier; included by variant.inc.c for each. */

/* One loop per rule and mode; `first` makes constants. */
#define ELEMENT_LOOP(name, first, value)                                                                               \
    static void CARRIER(name)(const core_plan *plan, size_t n, const void *x, const uint32_t *r, void *y)              \
    {                                                                                                                  \
        core_plan p = *plan;                                                                                           \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        (void)r;                                                                                                       \
        first;                                                                                                         \
        EACH_ELEMENT(value)                                                                                            \
    }
#define RANDOM_BITS(mode) (CORE_DRAWS(mode) ? (uintw)r[i] << (CARRIER_BITS - 32) : 0)
#define ROUND_LOOP(rule, mode)                                                                                         \
    ELEMENT_LOOP(loop_round_##rule##_##mode, , core_element_##rule(&p, mode, u, RANDOM_BITS(mode)))
/* with constants that core_rounds_to_powers asks for */
#define POWER_LOOP(rule, mode)                                                                                         \
    ELEMENT_LOOP(loop_round_##rule##_##mode, const uintw last = core_last_power(plan); p.one = 1;                      \
                 p.d_norm = CARRIER_MANTISSA, core_element_power(&p, last, mode, u, RANDOM_BITS(mode)))

ROUND_LOOP(posit, FPEMU_MODE_RNE)
ROUND_LOOP(quick_posit, FPEMU_MODE_RNE)
OWN_MODES(float, ROUND_LOOP)
EACH_LOOP(any, ROUND_LOOP)
FAST_MODES(wrapped, ROUND_LOOP)
FAST_MODES(power, POWER_LOOP)
EACH_LOOP(affine_fast, ROUND_LOOP)
#if CARRIER_BITS == 32
#define core_element_affine_wide core_element_affine_wide32
EACH_LOOP(affine_wide, ROUND_LOOP)
#undef core_element_affine_wide
#endif
#undef ROUND_LOOP
#undef POWER_LOOP
#undef RANDOM_BITS
#undef ELEMENT_LOOP

static void CARRIER(loop_posit)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    if (core_posit_is_quick(p))
        CARRIER(loop_round_quick_posit_FPEMU_MODE_RNE)(p, n, x, r, y);
    else
        CARRIER(loop_round_posit_FPEMU_MODE_RNE)(p, n, x, r, y);
}

static void loop_finish(const core_plan *plan, size_t n, const void *x, const uintw *g, void *y)
{
    const core_plan p = *plan;
    const char *in = (const char *)x;
    char *out = (char *)y;
    if (p.wrap) {
        for (size_t i = 0; i < n; i++) {
            uintw u, v;
            memcpy(&u, in + i * sizeof u, sizeof u);
            v = core_finish_wrap(&p, u, g[i] << 1 >> 1);
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
        return;
    }
    if (p.negative) {
        EACH_ELEMENT(core_finish_any(&p, u, g[i] << 1 >> 1))
    } else {
        EACH_ELEMENT(core_finish(&p, u, g[i] << 1 >> 1))
    }
}

#if CARRIER_BITS == 32
/* The largest finite |x - y|, exact as a binary64 difference. */
static double largest_error(size_t n, const char *x, const char *y)
{
    uint64_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        uint32_t u, v;
        memcpy(&u, x + i * sizeof u, sizeof u);
        memcpy(&v, y + i * sizeof v, sizeof v);
        const uint64_t error = core_bits64((double)core_value32(u) - (double)core_value32(v)) & (~UINT64_C(0) >> 1);
        const uint64_t finite = (uint64_t)((u << 1) < CARRIER_INF << 1) & (uint64_t)((v << 1) < CARRIER_INF << 1);
        const uint64_t kept = finite ? error : 0; /* the order of magnitudes is that of their bits */
        largest = kept > largest ? kept : largest;
    }
    return core_value64(largest);
}
#endif

/* Makes c->max_error the larger of itself and the tile's, of which `near` is the largest as the carrier rounds it:
 * rounding keeps the order, so that a smaller rounded difference is no larger one. */
static void loop_add_error(size_t n, const char *x, const char *y, uintw near, int exact, tile_counts *c)
{
    double error = (double)core_value(near);
#if CARRIER_BITS == 32
    if (!exact)
        error = near < core_narrow(c->max_error) ? 0 : largest_error(n, x, y);
#else
    (void)n;
    (void)x;
    (void)y;
    (void)exact;
#endif
    c->max_error = error > c->max_error ? error : c->max_error;
}

/* Adds up the events of elements, and what they are to the extrema. */
static void loop_count(const core_plan *p, size_t n, const void *x, const void *y, const uintw *g, tile_counts *c)
{
    const uintw max0 = p->max[0], max1 = p->max[1], normal = p->min_normal, magnitude = ~(uintw)0 >> 1;
    const char *in = (const char *)x, *out = (const char *)y;
    uintw nan = 0, infinite = 0, clipped = 0, overflow = 0, invalid = 0, underflow = 0, subnormal = 0, inexact = 0;
    uintw max_abs = 0, min_less_1 = ~(uintw)0, max_error = 0;
#pragma omp simd reduction(+ : nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact)               \
    reduction(max : max_abs, max_error) reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const uintw max = u > magnitude ? max1 : max0;
        const core_seen seen = {normal, u, 0, v, v, (u & magnitude) > max, (g[i] & magnitude) > max};
        nan += core_event(CORE_EVENT_NAN, seen);
        infinite += core_event(CORE_EVENT_INFINITE, seen);
        clipped += core_event(CORE_EVENT_CLIPPED, seen);
        overflow += core_event(CORE_EVENT_OVERFLOW, seen);
        invalid += core_event(CORE_EVENT_INVALID, seen);
        underflow += core_event(CORE_EVENT_UNDERFLOW, seen);
        subnormal += core_event(CORE_EVENT_SUBNORMAL, seen);
        inexact += core_event(CORE_EVENT_INEXACT, seen);
        const core_extent x_to_y = core_extent_of(u, v);
        const uintw less_1 = x_to_y.magnitude - 1;
        max_error = x_to_y.error > max_error ? x_to_y.error : max_error;
        max_abs = x_to_y.magnitude > max_abs ? x_to_y.magnitude : max_abs;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
    }
    c->nan = nan;
    c->infinite = infinite;
    c->clipped = clipped;
    c->overflow = overflow;
    c->invalid = invalid;
    c->underflow = underflow;
    c->subnormal = subnormal;
    c->inexact = inexact;
    c->min_abs = (uintw)(min_less_1 + 1);
    c->max_abs = max_abs;
    loop_add_error(n, in, out, max_error, 0, c);
}

/* The fast form of loop_count for a tile, already rounded, that holds nothing past the ends, no infinity and no NaN:
 * few counters are left then. Returns 0, with *c untouched, where the tile is none such; 2 where it is one for
 * loop_count_nonzero. `exact`: every x - y is a number of the carrier. tests/against_judges/counters.c holds it to the
 * same counts. */
static int loop_count_inside(const core_plan *p, size_t n, const void *x, const void *y, int exact, tile_counts *c)
{
    const uintw magnitude = ~(uintw)0 >> 1, normal = p->min_normal,
                end = p->max[0] < CARRIER_INF ? p->max[0] : CARRIER_INF - 1;
    const uintw key =
        p->max[1] < p->max[0] ? ~(uintw)0 : magnitude; /* with a nearer end below, no negative is inside */
    const char *in = (const char *)x, *out = (const char *)y;
    uintw zero = 0, made_zero = 0, small = 0, inexact = 0, farthest = 0, min_less_1 = ~(uintw)0, max_error = 0;
    if (p->negative)
        return 0;
#pragma omp simd reduction(+ : zero, made_zero, small, inexact) reduction(max : farthest, max_error)                   \
    reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const uintw a = u & magnitude, b = v & magnitude, k = u & key, less_1 = a - 1;
        const uintw error = core_bits(core_value(u) - core_value(v)) & magnitude;
        farthest = k > farthest ? k : farthest;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, b == 0);
        ADD_IF(small, (intw)b < (intw)normal);
        ADD_IF(inexact, error != 0);
    }
    if (farthest > end)
        return 0;
    c->nan = c->infinite = c->clipped = c->overflow = c->invalid = 0;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - made_zero : 0;
    c->inexact = inexact;
    c->min_abs = (uintw)(min_less_1 + 1);
    c->max_abs = farthest;
    loop_add_error(n, in, out, max_error, exact, c);
    return zero ? 1 : 2;
}

/* The fast form of loop_count_inside for a tile without zeros: what became zero went below the smallest value then, and
 * the smallest magnitude is found as it stands. Held to the same count by the same test. */
static int loop_count_nonzero(const core_plan *p, size_t n, const void *x, const void *y, int exact, tile_counts *c)
{
    const intw magnitude = (intw)(~(uintw)0 >> 1), normal = (intw)p->min_normal;
    const intw end = p->max[0] < CARRIER_INF ? (intw)p->max[0] : (intw)CARRIER_INF - 1;
    const char *in = (const char *)x, *out = (const char *)y;
    intw farthest = 0, nearest = magnitude, max_error = 0;
    uintw made_zero = 0, small = 0, inexact = 0;
    if (p->negative || p->max[1] < p->max[0])
        return 0;
#pragma omp simd reduction(+ : made_zero, small, inexact) reduction(max : farthest, max_error) reduction(min : nearest)
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const intw a = (intw)u & magnitude, b = (intw)v & magnitude;
        const intw error = (intw)core_bits(core_value(u) - core_value(v)) & magnitude;
        farthest = a > farthest ? a : farthest;
        nearest = a < nearest ? a : nearest;
        max_error = error > max_error ? error : max_error;
        ADD_IF(made_zero, b == 0);
        ADD_IF(small, b < normal);
        ADD_IF(inexact, error != 0);
    }
    if (farthest > end || nearest == 0)
        return 0;
    c->nan = c->infinite = c->clipped = c->overflow = c->invalid = 0;
    c->underflow = made_zero;
    c->subnormal = p->min_normal ? small - made_zero : 0;
    c->inexact = inexact;
    c->min_abs = (uintw)nearest;
    c->max_abs = (uintw)farthest;
    loop_add_error(n, in, out, (uintw)max_error, exact, c);
    return 1;
}

/* Codes of so many bytes as words of the carrier, and back. */
#define EACH_CODE(TYPE, action)                                                                                        \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        TYPE code;                                                                                                     \
        action;                                                                                                        \
    }                                                                                                                  \
    break
#define CODE_TO_WORD memcpy(&code, codes + i * sizeof code, sizeof code), words[i] = (uintw)code & mask
#define WORD_TO_CODE(TYPE) code = (TYPE)words[i], memcpy(codes + i * sizeof code, &code, sizeof code)
FPEMU_FN void CARRIER(codes_to_words)(size_t size, uintw mask, size_t n, const char *codes, uintw *words)
{
    switch (size) {
    case 1: EACH_CODE(uint8_t, CODE_TO_WORD);
    case 2: EACH_CODE(uint16_t, CODE_TO_WORD);
    case 4: EACH_CODE(uint32_t, CODE_TO_WORD);
    default: EACH_CODE(uint64_t, CODE_TO_WORD);
    }
}

FPEMU_FN void CARRIER(words_to_codes)(size_t size, size_t n, const uintw *words, char *codes)
{
    switch (size) {
    case 1: EACH_CODE(uint8_t, WORD_TO_CODE(uint8_t));
    case 2: EACH_CODE(uint16_t, WORD_TO_CODE(uint16_t));
    case 4: EACH_CODE(uint32_t, WORD_TO_CODE(uint32_t));
    default: EACH_CODE(uint64_t, WORD_TO_CODE(uint64_t));
    }
}
#undef EACH_CODE
#undef CODE_TO_WORD
#undef WORD_TO_CODE

/* One loop per rule. */
#define ENCODE(code)                                                                                                   \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        uintw u, v;                                                                                                    \
        memcpy(&u, x + i * sizeof u, sizeof u);                                                                        \
        memcpy(&v, y + i * sizeof v, sizeof v);                                                                        \
        words[i] = code;                                                                                               \
    }                                                                                                                  \
    return

FPEMU_FN void CARRIER(encode_words)(const core_coder *c, size_t n, const char *x, const char *y, uintw *words)
{
    const core_coder k = *c;
    if (k.fast_encode) {
        ENCODE(core_encode_fast(&k, u, v));
    }
    if (core_codes_are_powers(&k) && k.nan[0] == k.nan[1] && k.made_nan[0] == k.nan[0] && k.made_nan[1] == k.nan[0]) {
        ENCODE(core_encode_power(&k, u, v));
    }
    if (k.kind == FPEMU_KIND_FLOAT) {
        ENCODE(core_encode_float(&k, u, v));
    }
    if (k.kind == FPEMU_KIND_POSIT && core_posit_codes_quickly(&k)) {
        ENCODE(core_posit_quick_code(&k, u, v));
    }
    if (core_affine_codes_quickly(&k)) {
        const realw inverse = 1 / (realw)k.scale_value;
        ENCODE(core_affine_quick_code(&k, inverse, u, v));
    }
    if (k.affine) { /* of at most 22 bits: others are coded as they are rounded */
        ENCODE(core_encode_affine_fast(&k, u, v));
    }
    if (core_fixed_codes_quickly(&k)) {
        const realw many = core_value(core_power(k.quantum + CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1);
        ENCODE(core_fixed_quick_code(&k, many, u, v));
    }
    if (k.kind != FPEMU_KIND_POSIT) {
        ENCODE(core_encode_fixed(&k, u, v));
    }
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, x + i * sizeof u, sizeof u);
        memcpy(&v, y + i * sizeof v, sizeof v);
        words[i] = (uintw)core_encode(&k, u, v);
    }
}
#undef ENCODE

static void loop_encode(const core_coder *c, size_t n, const void *x, const void *y, size_t size, void *codes)
{
    uintw words[TILE];
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < TILE ? n - at : TILE;
        CARRIER(encode_words)(c, m, (const char *)x + at * sizeof(uintw), (const char *)y + at * sizeof(uintw), words);
        CARRIER(words_to_codes)(size, m, words, (char *)codes + at * size);
    }
}

/* Rounding and coding at once, for posits where core_posit_is_quick and core_posit_codes_quickly hold. */
static void loop_encode_posit(const core_plan *plan, const core_coder *c, size_t n, const void *x, size_t size,
                              void *codes)
{
    const core_plan p = *plan;
    const uintw mask = (uintw)c->mask, nan = (uintw)core_encode(c, CARRIER_NAN, p.nan[0]);
    uintw words[TILE];
    for (size_t at = 0, m; at < n; at += m) {
        const char *const in = (const char *)x + at * sizeof(uintw);
        m = n - at < TILE ? n - at : TILE;
        SIMD for (size_t i = 0; i < m; i++) {
            uintw u;
            memcpy(&u, in + i * sizeof u, sizeof u);
            words[i] = core_posit_direct_code(&p, mask, nan, u);
        }
        CARRIER(words_to_codes)(size, m, words, (char *)codes + at * size);
    }
}

#define DECODE(value)                                                                                                  \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        const uintw v = value;                                                                                         \
        memcpy(y + i * sizeof v, &v, sizeof v);                                                                        \
    }                                                                                                                  \
    return

FPEMU_FN void CARRIER(decode_words)(const core_coder *c, size_t n, const uintw *words, char *y)
{
    const core_coder k = *c;
    if (k.fast_decode) {
        DECODE(core_decode_fast(&k, words[i]));
    }
    if (core_codes_are_powers(&k)) {
        DECODE(core_decode_power(&k, words[i]));
    }
    if (k.bits <= 16 && core_affine_codes_quickly(&k)) {
        DECODE(core_affine_quick_value(&k, (uint32_t)words[i]));
    }
    if (core_fixed_codes_quickly(&k)) {
        const realw step = core_value(core_power(k.quantum));
        DECODE(core_fixed_quick_value(&k, step, (uint32_t)words[i]));
    }
    if (k.kind == FPEMU_KIND_POSIT && core_posit_codes_quickly(&k)) {
        DECODE(core_posit_quick_value(&k, words[i]));
    }
    if (k.kind == FPEMU_KIND_FLOAT) {
        DECODE(core_decode_float(&k, words[i]));
    }
    for (size_t i = 0; i < n; i++) {
        const uintw v = core_decode(&k, words[i]);
        memcpy(y + i * sizeof v, &v, sizeof v);
    }
}
#undef DECODE

static void loop_decode(const core_coder *c, size_t n, const void *codes, size_t size, int streaming, void *y)
{
    enum { STREAMED = STREAM_TILE / sizeof(uintw) };
    _Alignas(LINE) uintw values[STREAMED];
    uintw words[TILE];
    const size_t most = streaming ? STREAMED : TILE;
    for (size_t i = 0; c->bits > CARRIER_BITS && i < n; i++) { /* no words for such codes */
        const uintw v = core_decode(c, load_code(codes, size, i));
        memcpy((char *)y + i * sizeof v, &v, sizeof v);
    }
    for (size_t at = 0, m; c->bits <= CARRIER_BITS && at < n; at += m) {
        char *const to = (char *)y + at * sizeof(uintw);
        m = n - at < most ? n - at : most;
        CARRIER(codes_to_words)(size, (uintw)c->mask, m, (const char *)codes + at * size, words);
        CARRIER(decode_words)(c, m, words, streaming ? (char *)values : to);
        if (streaming)
            stream_tile(to, values, m * sizeof *values);
    }
}
