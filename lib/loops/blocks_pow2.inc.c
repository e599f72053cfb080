/* blockquick.inc.c - the loops of core/blockquick.h for one carrier; included by kernels.inc.c as loops.inc.c is. */

#define QUICK CORE(quick_block)

/* Blocks from the first on that the short way serves, at most `count`; powers: their scales. */
#define QUICK_POWERS(rule)                                                                                             \
    case rule: SIMD for (size_t b = 0; b < count; b++) powers[b] = CORE(quick_power)(&q, rule, amax[b]); break

static size_t LOOP(quick_powers)(const QUICK *how, size_t count, const UINT *amax, UINT *powers)
{
    const QUICK q = *how;
    UINT others = 0;
    switch (q.rule) {
        QUICK_POWERS(FPEMU_SCALING_CEIL);
        QUICK_POWERS(FPEMU_SCALING_EVEN);
        QUICK_POWERS(FPEMU_SCALING_RCEIL);
        QUICK_POWERS(FPEMU_SCALING_HBFP);
    default: QUICK_POWERS(FPEMU_SCALING_FLOOR);
    }
#pragma omp simd reduction(+ : others)
    for (size_t b = 0; b < count; b++)
        others += CORE(quick_holds)(&q, amax[b]) ^ 1;
    size_t held = others ? 0 : count;
    while (others && CORE(quick_holds)(&q, amax[held]))
        held++;
    return held;
}
#undef QUICK_POWERS

/* The scale of every element from those of blocks. */
static void LOOP(quick_spread)(size_t length, size_t count, const UINT *powers, UINT *spread)
{
    for (size_t b = 0; b < count; b++) {
        const UINT power = powers[b];
        SIMD for (size_t i = 0; i < length; i++) spread[b * length + i] = power;
    }
}

/* Elements with a scale each. */
#define QUICK_LOOP(kind, mode)                                                                                         \
    static void LOOP(quick_##kind##_##mode)(const QUICK *how, size_t n, const void *x, const UINT *powers,             \
                                            const uint32_t *r, void *y)                                                \
    {                                                                                                                  \
        const QUICK q = *how;                                                                                          \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        (void)r;                                                                                                       \
        SIMD for (size_t i = 0; i < n; i++)                                                                            \
        {                                                                                                              \
            UINT u, v;                                                                                                 \
            memcpy(&u, in + i * sizeof u, sizeof u);                                                                   \
            v = CORE(quick_##kind)(&q, mode, u, powers[i], mode >= FPEMU_MODE_SR ? (UINT)r[i] << (CORE_W - 32) : 0);        \
            memcpy(out + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                              \
    }
QUICK_MODES(float, QUICK_LOOP)
QUICK_MODES(fixed, QUICK_LOOP)
#undef QUICK_LOOP

/* Blocks in a row to nearest even, whose constants then need no vector of their own; in pieces of a constant
 * length where they are made of such, so that nothing is left of the inner loop. */
#define QUICK_ROWS(kind, n, piece)                                                                                     \
    for (size_t b = 0; b < count; b++) {                                                                               \
        const UINT power = powers[b];                                                                                  \
        for (size_t k = b * (n); k < (b + 1) * (n); k += (piece)) {                                                    \
            const char *const from = in + k * sizeof power;                                                            \
            char *const to = out + k * sizeof power;                                                                   \
            SIMD for (size_t i = 0; i < (piece); i++)                                                                  \
            {                                                                                                          \
                UINT u, v;                                                                                             \
                memcpy(&u, from + i * sizeof u, sizeof u);                                                             \
                v = CORE(quick_##kind)(&q, FPEMU_MODE_RNE, u, power, 0);                                                    \
                memcpy(to + i * sizeof v, &v, sizeof v);                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    return

/* Several blocks at a time, from b on. */
#define SIXTEENS(many)                                                                                                 \
    for (; b + (many) <= count; b += (many)) {                                                                         \
        for (size_t k = b; k < b + (many); k++) {                                                                      \
            const REAL one = CORE(value)(shifts[k]), max = CORE(value)(highest[k]), min = CORE(value)(lowest[k]);      \
            SIMD for (size_t i = 0; i < 16; i++)                                                                       \
            {                                                                                                          \
                UINT u, v;                                                                                             \
                memcpy(&u, in + (k * 16 + i) * sizeof u, sizeof u);                                                    \
                v = CORE(quick_nearest)(CORE(value)(u), one, max, min);                                                \
                memcpy(out + (k * 16 + i) * sizeof v, &v, sizeof v);                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

/* The same of fixed point in blocks of 16, which a vector or two hold: their numbers are made for many blocks at once,
 * at most QUICK_BLOCKS. */
static void LOOP(quick_sixteens)(const QUICK *how, size_t count, const void *x, const UINT *powers, void *y)
{
    const UINT shift = how->shift, high = how->max, low = how->lowest, sign = ~(~(UINT)0 >> 1);
    const char *in = (const char *)x;
    char *out = (char *)y;
    UINT shifts[QUICK_BLOCKS], highest[QUICK_BLOCKS], lowest[QUICK_BLOCKS];
    SIMD for (size_t b = 0; b < count; b++)
    {
        shifts[b] = shift + powers[b];
        highest[b] = high + powers[b];
        lowest[b] = (low + powers[b]) | sign;
    }
    size_t b = 0;
    SIXTEENS(4)
    SIXTEENS(1)
}
#undef SIXTEENS

#define QUICK_LENGTHS(kind, sixteen)                                                                                   \
    static void LOOP(quick_rows_##kind)(const QUICK *how, size_t length, size_t count, const void *x,                  \
                                        const UINT *powers, void *y)                                                   \
    {                                                                                                                  \
        const QUICK q = *how;                                                                                          \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        if (length == 16) {                                                                                            \
            sixteen;                                                                                                   \
        }                                                                                                              \
        if (length == 32) {                                                                                            \
            QUICK_ROWS(kind, 32, 32);                                                                                  \
        }                                                                                                              \
        if (length % 32 == 0) {                                                                                        \
            QUICK_ROWS(kind, length, 32);                                                                              \
        }                                                                                                              \
        QUICK_ROWS(kind, length, length);                                                                              \
    }
QUICK_LENGTHS(float, QUICK_ROWS(float, 16, 16))
QUICK_LENGTHS(fixed, LOOP(quick_sixteens)(&q, count, x, powers, y); return )
#undef QUICK_LENGTHS
#undef QUICK_ROWS

/* y and the counters of elements with a scale each; g: their values on the grid without ends. */
FPEMU_FN void LOOP(count_quick)(const QUICK *q, int fixed, size_t n, const void *x, const UINT *g, const UINT *powers,
                                void *y, tile_counts *c)
{
    const UINT magnitude = ~(UINT)0 >> 1, high = q->max, low = q->lowest, normal = q->normal;
    const char *in = (const char *)x;
    char *out = (char *)y;
    UINT zero = 0, made_zero = 0, small = 0, inexact = 0, clipped = 0, overflow = 0;
    UINT max_abs = 0, min_less_1 = ~(UINT)0, max_error = 0;
#pragma omp simd reduction(+ : zero, made_zero, small, inexact, clipped, overflow) \
    reduction(max : max_abs, max_error) reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        UINT u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const UINT a = u & magnitude, b = g[i] & magnitude, less_1 = a - 1;
        const UINT max = (fixed && u > magnitude ? low : high) + powers[i];
        const UINT kept = CORE(at_most)(b, max), v = kept | (g[i] ^ b);
        const UINT error = CORE(bits)(CORE(value)(u) - CORE(value)(v)) & magnitude;
        memcpy(out + i * sizeof v, &v, sizeof v);
        max_abs = a > max_abs ? a : max_abs;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, kept == 0);
        ADD_IF(small, (SINT)kept < (SINT)(normal + powers[i]));
        ADD_IF(inexact, error != 0);
        ADD_IF(clipped, (SINT)a > (SINT)max);
        ADD_IF(overflow, (SINT)b > (SINT)max);
    }
    c->nan = c->infinite = c->invalid = 0;
    c->clipped = clipped;
    c->overflow = overflow;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - made_zero : 0;
    c->inexact = inexact;
    c->min_abs = (UINT)(min_less_1 + 1);
    c->max_abs = max_abs;
    LOOP(add_error)(n, in, out, max_error, q->mode <= FPEMU_MODE_RTZ, c);
}

static void LOOP(count_quick_float)(const QUICK *q, size_t n, const void *x, const UINT *g, const UINT *powers, void *y,
                                    tile_counts *c)
{
    LOOP(count_quick)(q, 0, n, x, g, powers, y, c);
}

static void LOOP(count_quick_fixed)(const QUICK *q, size_t n, const void *x, const UINT *g, const UINT *powers, void *y,
                                    tile_counts *c)
{
    LOOP(count_quick)(q, 1, n, x, g, powers, y, c);
}

/* Largest magnitudes of `lanes` columns of n elements, rows being `step` apart. */
static void LOOP(columns_amax)(size_t n, ptrdiff_t step, size_t lanes, const void *x, UINT *amax)
{
    SIMD for (size_t l = 0; l < lanes; l++) amax[l] = 0;
    for (size_t k = 0; k < n; k++) {
        const char *in = (const char *)x + (ptrdiff_t)k * step * (ptrdiff_t)sizeof *amax;
        SIMD for (size_t l = 0; l < lanes; l++)
        {
            UINT u;
            memcpy(&u, in + l * sizeof u, sizeof u);
            u = u << 1 >> 1;
            amax[l] = u > amax[l] ? u : amax[l];
        }
    }
}
#undef QUICK
