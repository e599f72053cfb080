/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_pow2.inc.c - the loops of core/block_fast.h for one carrier; included by variant.inc.c for each. */

/* Blocks from the first on that the fast form serves, at most `count`; powers: their scales. */
#define POW2_POWERS(rule)                                                                                              \
    case rule: SIMD for (size_t b = 0; b < count; b++) powers[b] = core_pow2_power(&q, rule, amax[b]); break

static size_t loop_pow2_powers(const core_pow2_block *how, size_t count, const uintw *amax, uintw *powers)
{
    const core_pow2_block q = *how;
    uintw others = 0;
    switch (q.rule) {
        POW2_POWERS(FPEMU_SCALING_CEIL);
        POW2_POWERS(FPEMU_SCALING_EVEN);
        POW2_POWERS(FPEMU_SCALING_RCEIL);
        POW2_POWERS(FPEMU_SCALING_HBFP);
    default: POW2_POWERS(FPEMU_SCALING_FLOOR);
    }
#pragma omp simd reduction(+ : others)
    for (size_t b = 0; b < count; b++)
        others += core_pow2_holds(&q, amax[b]) ^ 1;
    size_t held = others ? 0 : count;
    while (others && core_pow2_holds(&q, amax[held]))
        held++;
    return held;
}
#undef POW2_POWERS

/* Multipliers that undo such scales, and their exponents plus `bias` within `mask`; how many blocks are all zero. */
static size_t loop_pow2_codes(uint32_t bias, uint32_t mask, size_t count, const uintw *amax, const uintw *powers,
                              realw *down, uint8_t *codes)
{
    const uintw one = (uintw)CARRIER_BIAS << CARRIER_MANTISSA;
    uintw zeros = 0;
#pragma omp simd reduction(+ : zeros)
    for (size_t b = 0; b < count; b++) {
        const uintw power = powers[b];
        down[b] = core_value(one - power);
        codes[b] = (uint8_t)(((uint32_t)(power >> CARRIER_MANTISSA) + bias) & mask);
        zeros += amax[b] == 0;
    }
    return (size_t)zeros;
}

/* The scale of every element from those of blocks. */
static void loop_pow2_spread(size_t length, size_t count, const uintw *powers, uintw *spread)
{
    for (size_t b = 0; b < count; b++) {
        const uintw power = powers[b];
        SIMD for (size_t i = 0; i < length; i++)
            spread[b * length + i] = power;
    }
}

/* Elements with a scale each. */
#define POW2_LOOP(kind, mode)                                                                                          \
    static void CARRIER(loop_pow2_##kind##_##mode)(const core_pow2_block *how, size_t n, const void *x,                \
                                                   const uintw *powers, const uint32_t *r, void *y)                    \
    {                                                                                                                  \
        const core_pow2_block q = *how;                                                                                \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        (void)r;                                                                                                       \
        SIMD for (size_t i = 0; i < n; i++) {                                                                          \
            uintw u, v;                                                                                                \
            memcpy(&u, in + i * sizeof u, sizeof u);                                                                   \
            v = core_pow2_##kind(&q, mode, u, powers[i],                                                               \
                                 mode >= FPEMU_MODE_SR ? (uintw)r[i] << (CARRIER_BITS - 32) : 0);                      \
            memcpy(out + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                              \
    }
FAST_MODES(float, POW2_LOOP)
FAST_MODES(fixed, POW2_LOOP)
#undef POW2_LOOP

/* Blocks in a row to nearest even, whose constants then need no vector of their own; in pieces of a constant
 * length where they are made of such, so that nothing is left of the inner loop. */
#define POW2_ROWS(kind, n, piece)                                                                                      \
    for (size_t b = 0; b < count; b++) {                                                                               \
        const uintw power = powers[b];                                                                                 \
        for (size_t k = b * (n); k < (b + 1) * (n); k += (piece)) {                                                    \
            const char *const from = in + k * sizeof power;                                                            \
            char *const to = out + k * sizeof power;                                                                   \
            SIMD for (size_t i = 0; i < (piece); i++) {                                                                \
                uintw u, v;                                                                                            \
                memcpy(&u, from + i * sizeof u, sizeof u);                                                             \
                v = core_pow2_##kind(&q, FPEMU_MODE_RNE, u, power, 0);                                                 \
                memcpy(to + i * sizeof v, &v, sizeof v);                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    return

/* Several blocks at a time, from b on. */
#define SIXTEENS(many)                                                                                                 \
    for (; b + (many) <= count; b += (many)) {                                                                         \
        for (size_t k = b; k < b + (many); k++) {                                                                      \
            const realw one = core_value(shifts[k]), max = core_value(highest[k]), min = core_value(lowest[k]);        \
            SIMD for (size_t i = 0; i < 16; i++) {                                                                     \
                uintw u, v;                                                                                            \
                memcpy(&u, in + (k * 16 + i) * sizeof u, sizeof u);                                                    \
                v = core_pow2_nearest(core_value(u), one, max, min);                                                   \
                memcpy(out + (k * 16 + i) * sizeof v, &v, sizeof v);                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

/* The same of fixed point in blocks of 16, which a vector or two hold: their numbers are made for many blocks at once,
 * at most POW2_BLOCKS. */
static void loop_pow2_sixteens(const core_pow2_block *how, size_t count, const void *x, const uintw *powers, void *y)
{
    const uintw shift = how->shift, high = how->max, low = how->lowest, sign = ~(~(uintw)0 >> 1);
    const char *in = (const char *)x;
    char *out = (char *)y;
    uintw shifts[POW2_BLOCKS], highest[POW2_BLOCKS], lowest[POW2_BLOCKS];
    SIMD for (size_t b = 0; b < count; b++) {
        shifts[b] = shift + powers[b];
        highest[b] = high + powers[b];
        lowest[b] = (low + powers[b]) | sign;
    }
    size_t b = 0;
    SIXTEENS(4)
    SIXTEENS(1)
}
#undef SIXTEENS

#define POW2_LENGTHS(kind, sixteen)                                                                                    \
    static void CARRIER(loop_pow2_rows_##kind)(const core_pow2_block *how, size_t length, size_t count, const void *x, \
                                               const uintw *powers, void *y)                                           \
    {                                                                                                                  \
        const core_pow2_block q = *how;                                                                                \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)y;                                                                                         \
        if (length == 16) {                                                                                            \
            sixteen;                                                                                                   \
        }                                                                                                              \
        if (length == 32) {                                                                                            \
            POW2_ROWS(kind, 32, 32);                                                                                   \
        }                                                                                                              \
        if (length % 32 == 0) {                                                                                        \
            POW2_ROWS(kind, length, 32);                                                                               \
        }                                                                                                              \
        POW2_ROWS(kind, length, length);                                                                               \
    }
POW2_LENGTHS(float, POW2_ROWS(float, 16, 16))
POW2_LENGTHS(fixed, loop_pow2_sixteens(&q, count, x, powers, y); return)
#undef POW2_LENGTHS
#undef POW2_ROWS

/* y and the counters of elements with a scale each, g being their values on the grid without ends: the fast form of
 * loop_count and loop_count_element for finite elements. tests/against_judges/blocks_stats.c holds it to their counts.
 * */
FPEMU_FN void loop_count_pow2(const core_pow2_block *q, int fixed, size_t n, const void *x, const uintw *g,
                              const uintw *powers, void *y, tile_counts *c)
{
    const uintw magnitude = ~(uintw)0 >> 1, high = q->max, low = q->lowest, normal = q->normal;
    const char *in = (const char *)x;
    char *out = (char *)y;
    uintw zero = 0, made_zero = 0, small = 0, inexact = 0, clipped = 0, overflow = 0;
    uintw max_abs = 0, min_less_1 = ~(uintw)0, max_error = 0;
#pragma omp simd reduction(+ : zero, made_zero, small, inexact, clipped, overflow) reduction(max : max_abs, max_error) \
    reduction(min : min_less_1)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uintw a = u & magnitude, b = g[i] & magnitude, less_1 = a - 1;
        const uintw max = (fixed && u > magnitude ? low : high) + powers[i];
        const uintw kept = core_at_most(b, max), v = kept | (g[i] ^ b);
        const uintw error = core_bits(core_value(u) - core_value(v)) & magnitude;
        memcpy(out + i * sizeof v, &v, sizeof v);
        max_abs = a > max_abs ? a : max_abs;
        min_less_1 = less_1 < min_less_1 ? less_1 : min_less_1;
        max_error = error > max_error ? error : max_error;
        ADD_IF(zero, a == 0);
        ADD_IF(made_zero, kept == 0);
        ADD_IF(small, (intw)kept < (intw)(normal + powers[i]));
        ADD_IF(inexact, error != 0);
        ADD_IF(clipped, (intw)a > (intw)max);
        ADD_IF(overflow, (intw)b > (intw)max);
    }
    c->nan = c->infinite = c->invalid = 0;
    c->clipped = clipped;
    c->overflow = overflow;
    c->underflow = made_zero - zero;
    c->subnormal = normal ? small - made_zero : 0;
    c->inexact = inexact;
    c->min_abs = (uintw)(min_less_1 + 1);
    c->max_abs = max_abs;
    loop_add_error(n, in, out, max_error, q->mode <= FPEMU_MODE_RTZ, c);
}

static void loop_count_pow2_float(const core_pow2_block *q, size_t n, const void *x, const uintw *g,
                                  const uintw *powers, void *y, tile_counts *c)
{
    loop_count_pow2(q, 0, n, x, g, powers, y, c);
}

static void loop_count_pow2_fixed(const core_pow2_block *q, size_t n, const void *x, const uintw *g,
                                  const uintw *powers, void *y, tile_counts *c)
{
    loop_count_pow2(q, 1, n, x, g, powers, y, c);
}

/* Largest magnitudes of `lanes` columns of n elements, rows being `step` apart. */
static void loop_columns_amax(size_t n, ptrdiff_t step, size_t lanes, const void *x, uintw *amax)
{
    SIMD for (size_t l = 0; l < lanes; l++)
        amax[l] = 0;
    for (size_t k = 0; k < n; k++) {
        const char *in = (const char *)x + (ptrdiff_t)k * step * (ptrdiff_t)sizeof *amax;
        SIMD for (size_t l = 0; l < lanes; l++) {
            uintw u;
            memcpy(&u, in + l * sizeof u, sizeof u);
            u = u << 1 >> 1;
            amax[l] = u > amax[l] ? u : amax[l];
        }
    }
}
