/* loops.inc.c - the array loops of one carrier; included twice by kernels.inc.c with
 *   CORE_W width, UINT and SINT its integers, PLAN and CODER the structs, CORE(name) and LOOP(name) the names, and
 *   INF the bits of infinity. */

FPEMU_FN UINT CORE(element_float)(const PLAN *p, int mode, UINT u, UINT r)
{
    const UINT sign = u >> (CORE_W - 1) << (CORE_W - 1);
    return CORE(finish)(p, u, CORE(grid)(p, mode, 0, p->n, u ^ sign, sign, r));
}

FPEMU_FN UINT CORE(element_any)(const PLAN *p, int mode, UINT u, UINT r)
{
    const UINT sign = u >> (CORE_W - 1) << (CORE_W - 1);
    return CORE(finish_any)(p, u, CORE(grid)(p, mode, 1, p->n, u ^ sign, sign, r));
}

FPEMU_FN UINT CORE(element_posit)(const PLAN *p, int mode, UINT u, UINT r)
{
    const UINT a = u << 1 >> 1;
    (void)mode;
    (void)r;
    return CORE(finish)(p, u, a == 0 || a >= INF ? 0 : CORE(posit)(p, a));
}

FPEMU_FN UINT CORE(element_scaled)(const PLAN *p, int mode, UINT u, UINT r)
{
    const UINT sign = u >> (CORE_W - 1) << (CORE_W - 1), a = u ^ sign;
    return CORE(finish)(p, u, CORE(scaled_grid)(p, mode, a < INF ? a : 0, sign, r));
}

/* One loop per rule and mode. */
#define ROUND_LOOP(rule, mode)                                                                                         \
    static void LOOP(round_##rule##_##mode)(const PLAN *plan, size_t n, const void *x, const uint32_t *r, void *y)     \
    {                                                                                                                  \
        const PLAN p = *plan;                                                                                          \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        (void)r;                                                                                                       \
        SIMD for (size_t i = 0; i < n; i++)                                                                            \
        {                                                                                                              \
            UINT u, v;                                                                                                 \
            memcpy(&u, in + i * sizeof u, sizeof u);                                                                   \
            v = CORE(element_##rule)(&p, mode, u, mode >= FPEMU_MODE_SR ? (UINT)r[i] << (CORE_W - 32) : 0);                 \
            memcpy(out + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                              \
    }

ROUND_LOOP(posit, FPEMU_MODE_RNE)
MODES(float, ROUND_LOOP)
MODES(any, ROUND_LOOP)
QUICK_MODES(flat, ROUND_LOOP)
QUICK_MODES(flat_grid, ROUND_LOOP)
PASS_MODES(pass, ROUND_LOOP)
QUICK_MODES(stop, ROUND_LOOP)
STOP_INF_MODES(stop_inf, ROUND_LOOP)
QUICK_MODES(magic_grid, ROUND_LOOP)
QUICK_MODES(even, ROUND_LOOP)
MODES(scaled, ROUND_LOOP)
#undef ROUND_LOOP

static void LOOP(finish)(const PLAN *plan, size_t n, const void *x, const UINT *g, void *y)
{
    const PLAN p = *plan;
    const char *in = (const char *)x;
    char *out = (char *)y;
    if (p.wrap) {
        for (size_t i = 0; i < n; i++) {
            UINT u, v;
            memcpy(&u, in + i * sizeof u, sizeof u);
            v = CORE(finish_wrap)(&p, u, g[i] << 1 >> 1);
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
        return;
    }
    if (p.negative) {
        SIMD for (size_t i = 0; i < n; i++)
        {
            UINT u, v;
            memcpy(&u, in + i * sizeof u, sizeof u);
            v = CORE(finish_any)(&p, u, g[i] << 1 >> 1);
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
        return;
    }
    SIMD for (size_t i = 0; i < n; i++)
    {
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        v = CORE(finish)(&p, u, g[i] << 1 >> 1);
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}

#if CORE_W == 32
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
        const uint64_t finite = (uint64_t)((u << 1) < INF << 1) & (uint64_t)((v << 1) < INF << 1);
        const uint64_t kept = finite ? error : 0; /* the order of magnitudes is that of their bits */
        largest = kept > largest ? kept : largest;
    }
    return core_value64(largest);
}
#endif

/* Makes c->max_error the larger of itself and the tile's, of which `near` is the largest as the carrier rounds it:
 * rounding keeps the order, so that a smaller rounded difference is no larger one. */
static void LOOP(add_error)(size_t n, const char *x, const char *y, UINT near, int exact, tile_counts *c)
{
    double error = (double)CORE(value)(near);
#if CORE_W == 32
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

static void LOOP(count)(const PLAN *p, size_t n, const void *x, const void *y, const UINT *g, tile_counts *c)
{
    const UINT max0 = p->max[0], max1 = p->max[1], normal = p->min_normal, magnitude = ~(UINT)0 >> 1;
    const char *in = (const char *)x, *out = (const char *)y;
    UINT nan = 0, infinite = 0, clipped = 0, overflow = 0, invalid = 0, underflow = 0, subnormal = 0, inexact = 0;
    UINT max_abs = 0, min_less_1 = ~(UINT)0, max_error = 0;
#pragma omp simd reduction(+ : nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact) \
    reduction(max : max_abs, max_error) reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const UINT a = u & magnitude, b = v & magnitude, max = u > magnitude ? max1 : max0;
        const UINT is_nan = a > INF, is_infinite = a == INF, finite = a < INF, nonzero = a != 0;
        const UINT over = finite & (UINT)((g[i] & magnitude) > max);
        nan += is_nan;
        infinite += is_infinite;
        clipped += finite & (UINT)(a > max);
        overflow += over;
        invalid += (UINT)(b > INF) & (is_nan ^ 1) & (over ^ 1);
        underflow += finite & nonzero & (UINT)(b == 0);
        subnormal += (UINT)(b != 0) & (UINT)(b < normal);
        inexact += finite & (UINT)(u != v) & (UINT)((a | b) != 0);
        const UINT kept = finite ? a : 0, less_1 = kept - 1;
        const UINT error = CORE(bits)(CORE(value)(u) - CORE(value)(v)) & magnitude;
        const UINT kept_error = finite & (UINT)(b < INF) ? error : 0;
        max_error = kept_error > max_error ? kept_error : max_error;
        max_abs = kept > max_abs ? kept : max_abs;
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
    c->min_abs = (UINT)(min_less_1 + 1);
    c->max_abs = max_abs;
    LOOP(add_error)(n, in, out, max_error, 0, c);
}

/* As count for a tile, already rounded, that holds nothing beyond the ends, no infinity and no NaN: few counters are
 * left then. Returns 0, with *c untouched, where the tile is none such; 2 where it is one for count_nonzero. `exact`:
 * every x - y is a number of the carrier. */
static int LOOP(count_inside)(const PLAN *p, size_t n, const void *x, const void *y, int exact, tile_counts *c)
{
    const UINT magnitude = ~(UINT)0 >> 1, normal = p->min_normal, end = p->max[0] < INF ? p->max[0] : INF - 1;
    const UINT key = p->max[1] < p->max[0] ? ~(UINT)0 : magnitude; /* with a nearer end below, no negative is inside */
    const char *in = (const char *)x, *out = (const char *)y;
    UINT zero = 0, made_zero = 0, small = 0, inexact = 0, farthest = 0, min_less_1 = ~(UINT)0, max_error = 0;
    if (p->negative)
        return 0;
#pragma omp simd reduction(+ : zero, made_zero, small, inexact) reduction(max : farthest, max_error) \
    reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const UINT a = u & magnitude, b = v & magnitude, k = u & key, less_1 = a - 1;
        const UINT error = CORE(bits)(CORE(value)(u) - CORE(value)(v)) & magnitude;
        farthest = k > farthest ? k : farthest;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, b == 0);
        ADD_IF(small, (SINT)b < (SINT)normal);
        ADD_IF(inexact, error != 0);
    }
    if (farthest > end)
        return 0;
    c->nan = c->infinite = c->clipped = c->overflow = c->invalid = 0;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - made_zero : 0;
    c->inexact = inexact;
    c->min_abs = (UINT)(min_less_1 + 1);
    c->max_abs = farthest;
    LOOP(add_error)(n, in, out, max_error, exact, c);
    return zero ? 1 : 2;
}

/* As count_inside for a tile without zeros: what became zero went below the smallest value then, and the smallest
 * magnitude is found as it stands. */
static int LOOP(count_nonzero)(const PLAN *p, size_t n, const void *x, const void *y, int exact, tile_counts *c)
{
    const SINT magnitude = (SINT)(~(UINT)0 >> 1), normal = (SINT)p->min_normal;
    const SINT end = p->max[0] < INF ? (SINT)p->max[0] : (SINT)INF - 1;
    const char *in = (const char *)x, *out = (const char *)y;
    SINT farthest = 0, nearest = magnitude, max_error = 0;
    UINT made_zero = 0, small = 0, inexact = 0;
    if (p->negative || p->max[1] < p->max[0])
        return 0;
#pragma omp simd reduction(+ : made_zero, small, inexact) reduction(max : farthest, max_error) reduction(min : nearest)
    for (size_t i = 0; i < n; i++) {
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const SINT a = (SINT)u & magnitude, b = (SINT)v & magnitude;
        const SINT error = (SINT)CORE(bits)(CORE(value)(u) - CORE(value)(v)) & magnitude;
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
    c->min_abs = (UINT)nearest;
    c->max_abs = (UINT)farthest;
    LOOP(add_error)(n, in, out, (UINT)max_error, exact, c);
    return 1;
}

/* One loop per rule and size of a code. */
#define ENCODE(rule, TYPE)                                                                                             \
    SIMD for (size_t i = 0; i < n; i++)                                                                                \
    {                                                                                                                  \
        UINT u, v;                                                                                                     \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        memcpy(&v, rounded + i * sizeof v, sizeof v);                                                                  \
        const TYPE code = (TYPE)CORE(rule)(&k, u, v);                                                                  \
        memcpy(out + i * sizeof code, &code, sizeof code);                                                             \
    }                                                                                                                  \
    return

static void LOOP(encode)(const CODER *c, size_t n, const void *x, const void *y, size_t size, void *codes)
{
    const CODER k = *c;
    const char *in = (const char *)x, *rounded = (const char *)y;
    char *out = (char *)codes;
    if (k.quick_encode)
        switch (size) {
        case 1: ENCODE(encode_quick, uint8_t);
        case 2: ENCODE(encode_quick, uint16_t);
        case 4: ENCODE(encode_quick, uint32_t);
        default: ENCODE(encode_quick, uint64_t);
        }
    if (k.kind == FPEMU_KIND_FLOAT)
        switch (size) {
        case 1: ENCODE(encode_float, uint8_t);
        case 2: ENCODE(encode_float, uint16_t);
        case 4: ENCODE(encode_float, uint32_t);
        default: ENCODE(encode_float, uint64_t);
        }
    if (k.affine) /* of at most 22 bits: others are coded as they are rounded */
        switch (size) {
        case 1: ENCODE(encode_scaled, uint8_t);
        case 2: ENCODE(encode_scaled, uint16_t);
        default: ENCODE(encode_scaled, uint32_t);
        }
    if (k.kind != FPEMU_KIND_POSIT)
        switch (size) {
        case 1: ENCODE(encode_fixed, uint8_t);
        case 2: ENCODE(encode_fixed, uint16_t);
        case 4: ENCODE(encode_fixed, uint32_t);
        default: ENCODE(encode_fixed, uint64_t);
        }
    for (size_t i = 0; i < n; i++) {
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&v, rounded + i * sizeof v, sizeof v);
        store_code(codes, size, i, CORE(encode)(&k, u, v));
    }
}
#undef ENCODE

#define ENCODE_NEAREST(TYPE)                                                                                           \
    SIMD for (size_t i = 0; i < n; i++)                                                                                \
    {                                                                                                                  \
        UINT u;                                                                                                        \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        const TYPE code = (TYPE)CORE(direct_code)(&d, u);                                                              \
        memcpy(out + i * sizeof code, &code, sizeof code);                                                             \
    }                                                                                                                  \
    return

static void LOOP(encode_nearest)(const CORE(direct) *direct, size_t n, const void *x, size_t size, void *codes)
{
    const CORE(direct) d = *direct;
    const char *in = (const char *)x;
    char *out = (char *)codes;
    switch (size) {
    case 1: ENCODE_NEAREST(uint8_t);
    case 2: ENCODE_NEAREST(uint16_t);
    case 4: ENCODE_NEAREST(uint32_t);
    default: ENCODE_NEAREST(uint64_t);
    }
}
#undef ENCODE_NEAREST

#define DECODE(TYPE, VALUE_OF)                                                                                         \
    for (size_t done = 0, m; done < n; done += m) {                                                                    \
        _Alignas(LINE) UINT tile[STREAM_TILE / sizeof(UINT)];                                                          \
        const char *from = in + done * sizeof(TYPE);                                                                   \
        char *to = passing ? (char *)tile : out;                                                                       \
        m = !passing || n - done < STREAM_TILE / sizeof(UINT) ? n - done : STREAM_TILE / sizeof(UINT);                 \
        SIMD for (size_t i = 0; i < m; i++)                                                                            \
        {                                                                                                              \
            TYPE code;                                                                                                 \
            memcpy(&code, from + i * sizeof code, sizeof code);                                                        \
            const UINT v = VALUE_OF;                                                                                   \
            memcpy(to + i * sizeof v, &v, sizeof v);                                                                   \
        }                                                                                                              \
        if (passing)                                                                                                   \
            stream_tile(out + done * sizeof(UINT), tile, m * sizeof *tile);                                            \
    }                                                                                                                  \
    return

static void LOOP(decode)(const CODER *c, size_t n, const void *codes, size_t size, int passing, void *y)
{
    const CODER k = *c;
    const UINT mask = (UINT)k.mask;
    const char *in = (const char *)codes;
    char *out = (char *)y;
    if (k.quick_decode)
        switch (size) {
        case 1: DECODE(uint8_t, CORE(decode_quick)(&k, code & mask));
        case 2: DECODE(uint16_t, CORE(decode_quick)(&k, code & mask));
        case 4: DECODE(uint32_t, CORE(decode_quick)(&k, code & mask));
        default: DECODE(uint64_t, CORE(decode_quick)(&k, (UINT)code & mask));
        }
    if (size == 1 && n >= 1024) { /* worth a table, whatever the rule */
        UINT table[256];
        for (unsigned code = 0; code < 256; code++)
            table[code] = CORE(decode)(&k, code);
        DECODE(uint8_t, table[code]);
    }
    if (k.kind == FPEMU_KIND_FLOAT)
        switch (size) {
        case 1: DECODE(uint8_t, CORE(decode_float)(&k, code & mask));
        case 2: DECODE(uint16_t, CORE(decode_float)(&k, code & mask));
        case 4: DECODE(uint32_t, CORE(decode_float)(&k, code & mask));
        default: DECODE(uint64_t, CORE(decode_float)(&k, (UINT)code & mask));
        }
    for (size_t i = 0; i < n; i++) {
        const UINT v = CORE(decode)(&k, load_code(codes, size, i));
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}
#undef DECODE
