/* blocks.inc.c - the loops of blocked formats for one carrier; included by kernels.inc.c as loops.inc.c is, with REAL
 * besides. */

/* Magnitude bits of the largest element (NaN and infinities included), of the largest above zero and of the smallest
 * below; how many are zero, and not finite. n below 2^31. */
static void LOOP(extremes)(size_t n, const void *x, block_extremes *e)
{
    const char *in = (const char *)x;
    UINT amax = 0, high = 0, low = 0;
    uint32_t zeros = 0, nonfinite = 0;
#pragma omp simd reduction(max : amax, high, low) reduction(+ : zeros, nonfinite)
    for (size_t i = 0; i < n; i++) {
        UINT u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const UINT a = u << 1 >> 1, up = u == a ? a : 0, down = u == a ? 0 : a;
        amax = a > amax ? a : amax;
        high = up > high ? up : high;
        low = down > low ? down : low;
        zeros += a == 0;
        nonfinite += a >= INF;
    }
    e->amax = amax;
    e->high = high;
    e->low = low;
    e->zeros = zeros;
    e->nonfinite = nonfinite;
}

/* Sum and largest of log2 of the finite elements other than zero, in steps of 2^-32; n below 2^16. */
static void LOOP(logarithms)(size_t n, const void *x, int64_t *sum, int64_t *largest)
{
    const char *in = (const char *)x;
    int64_t total = 0, most = INT64_MIN;
#pragma omp simd reduction(+ : total) reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        UINT u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const UINT a = u << 1 >> 1, some = (a != 0) & (a < INF);
        const int64_t steps = core_log2_steps(some ? (double)CORE(value)(a) : 1);
        total += steps; /* of 1: 0 */
        const int64_t counted = some ? steps : INT64_MIN;
        most = counted > most ? counted : most;
    }
    *sum = total;
    *largest = most;
}

/* t of the kinds ZERO, MULTIPLY and DIVIDE. */
#define SCALE_T(of_kind, keep)                                                                                         \
    SIMD for (size_t i = 0; i < n; i++)                                                                                \
    {                                                                                                                  \
        CORE(scale) one;                                                                                               \
        UINT u, v;                                                                                                     \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        one.kind = of_kind;                                                                                            \
        one.down = down;                                                                                               \
        v = CORE(block_t)(&one, keep, u);                                                                              \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }                                                                                                                  \
    return

static void LOOP(scale_t)(const CORE(scale) *s, int sticky, size_t n, const void *x, void *t)
{
    const REAL down = s->down;
    const char *in = (const char *)x;
    char *out = (char *)t;
    switch (s->kind) {
    case CORE_SCALE_ZERO: SCALE_T(CORE_SCALE_ZERO, 0);
    case CORE_SCALE_DIVIDE: SCALE_T(CORE_SCALE_DIVIDE, 0);
    default: break;
    }
    if (sticky) {
        SCALE_T(CORE_SCALE_MULTIPLY, 1);
    }
    SCALE_T(CORE_SCALE_MULTIPLY, 0);
}
#undef SCALE_T

/* The same for `count` blocks of `length` elements in a row, each with its own divisor or multiplier; and their largest
 * magnitudes, and y. */
static void LOOP(runs_amax)(size_t length, size_t count, const void *x, UINT *amax)
{
    const char *in = (const char *)x;
    for (size_t b = 0; b < count; b++) {
        UINT largest = 0;
#pragma omp simd reduction(max : largest)
        for (size_t i = 0; i < length; i++) {
            UINT u;
            memcpy(&u, in + (b * length + i) * sizeof u, sizeof u);
            u = u << 1 >> 1;
            largest = u > largest ? u : largest;
        }
        amax[b] = largest;
    }
}

#define RUNS_T(of_kind, keep)                                                                                          \
    for (size_t b = 0; b < count; b++) {                                                                               \
        const REAL one_down = down[b];                                                                                 \
        SIMD for (size_t i = 0; i < length; i++)                                                                       \
        {                                                                                                              \
            CORE(scale) one;                                                                                           \
            UINT u, v;                                                                                                 \
            memcpy(&u, in + (b * length + i) * sizeof u, sizeof u);                                                    \
            one.kind = of_kind;                                                                                        \
            one.down = one_down;                                                                                       \
            v = CORE(block_t)(&one, keep, u);                                                                          \
            memcpy(out + (b * length + i) * sizeof v, &v, sizeof v);                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    return

static void LOOP(runs_t)(int divide, int sticky, size_t length, size_t count, const REAL *down, const void *x, void *t)
{
    const char *in = (const char *)x;
    char *out = (char *)t;
    if (divide) {
        RUNS_T(CORE_SCALE_DIVIDE, 0);
    }
    if (sticky) {
        RUNS_T(CORE_SCALE_MULTIPLY, 1);
    }
    RUNS_T(CORE_SCALE_MULTIPLY, 0);
}
#undef RUNS_T

static void LOOP(runs_y)(size_t length, size_t count, const REAL *scales, REAL second, const void *p, void *y)
{
    const char *in = (const char *)p;
    char *out = (char *)y;
    for (size_t b = 0; b < count; b++) {
        const REAL scale = scales[b];
        SIMD for (size_t i = 0; i < length; i++)
        {
            CORE(scale) one;
            UINT u, v;
            memcpy(&u, in + (b * length + i) * sizeof u, sizeof u);
            one.kind = CORE_SCALE_MULTIPLY;
            one.s = scale;
            one.d = second;
            v = CORE(block_y)(&one, u);
            memcpy(out + (b * length + i) * sizeof v, &v, sizeof v);
        }
    }
}

/* y of the kinds MULTIPLY and DIVIDE. */
static void LOOP(scale_y)(const CORE(scale) *s, size_t n, const void *p, void *y)
{
    const REAL scale = s->s, second = s->d;
    const char *in = (const char *)p;
    char *out = (char *)y;
    SIMD for (size_t i = 0; i < n; i++)
    {
        CORE(scale) one;
        UINT u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        one.kind = CORE_SCALE_MULTIPLY;
        one.s = scale;
        one.d = second;
        v = CORE(block_y)(&one, u);
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}

/* The counters that are judged on what the element format sees: t, its value g on the grid without ends, and P. */
static void LOOP(count_element)(const PLAN *p, size_t n, const void *x, const void *t, const void *rounded,
                                const UINT *g, tile_counts *c)
{
    const UINT max0 = p->max[0], max1 = p->max[1], normal = p->min_normal;
    const char *in = (const char *)x, *seen = (const char *)t, *out = (const char *)rounded;
    UINT clipped = 0, overflow = 0, subnormal = 0;
#pragma omp simd reduction(+ : clipped, overflow, subnormal)
    for (size_t i = 0; i < n; i++) {
        UINT u, w, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        memcpy(&w, seen + i * sizeof w, sizeof w);
        memcpy(&v, out + i * sizeof v, sizeof v);
        const UINT finite = (u << 1 >> 1) < INF, max = u == u << 1 >> 1 ? max0 : max1, b = v << 1 >> 1;
        clipped += finite & (UINT)((w << 1 >> 1) > max);
        overflow += finite & (UINT)((g[i] << 1 >> 1) > max);
        subnormal += (UINT)(b != 0) & (UINT)(b < normal);
    }
    c->clipped = clipped;
    c->overflow = overflow;
    c->subnormal = subnormal;
}

#if CORE_W == 32
#define QUICK(kind)                                                                                                    \
    FPEMU_FN void quick_##kind(const core_quick_block *q, uint32_t power, size_t n, const char *in, char *out)         \
    {                                                                                                                  \
        const core_quick_##kind k = core_quick_##kind##_of(q, power);                                                  \
        SIMD for (size_t i = 0; i < n; i++)                                                                            \
        {                                                                                                              \
            uint32_t u, v;                                                                                             \
            memcpy(&u, in + i * sizeof u, sizeof u);                                                                   \
            v = core_quick_##kind##_element(&k, u);                                                                    \
            memcpy(out + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                              \
    }
QUICK(float)
QUICK(fixed)
#undef QUICK

/* Blocks whose scales are found and used at a time. */
#define GROUP 16

#define QUICK_ELEMENTS(kind, n)                                                                                        \
    for (size_t b = 0; b < ok; b++)                                                                                    \
        quick_##kind(&q, powers[b], n, in + b * n * sizeof *x, out + b * n * sizeof *y);                               \
    break

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/* Largest magnitudes of GROUP blocks of n elements, n a multiple of 16: columns first, then neighbours pair by pair, so
 * that every step is one of whole vectors. */
FPEMU_FN void quick_largest(size_t n, const char *in, uint32_t *amax)
{
    uint32_t w[16 * GROUP];
    for (size_t b = 0; b < GROUP; b++) {
        SIMD for (size_t i = 0; i < 16; i++)
        {
            uint32_t largest = 0;
            for (size_t k = 0; k < n; k += 16) {
                uint32_t u;
                memcpy(&u, in + (b * n + k + i) * sizeof u, sizeof u);
                u &= 0x7fffffffu;
                largest = LARGER(largest, u);
            }
            w[b * 16 + i] = largest;
        }
    }
    SIMD for (size_t i = 0; i < 8 * GROUP; i++) w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < 4 * GROUP; i++) w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < 2 * GROUP; i++) w[i] = LARGER(w[2 * i], w[2 * i + 1]);
    SIMD for (size_t i = 0; i < GROUP; i++) amax[i] = LARGER(w[2 * i], w[2 * i + 1]);
}
#undef LARGER

/* Blocks of `length` elements in a row, up to the first that core_quick_blocks leaves out: how many were done. */
static size_t quick_blocks(const core_quick_block *how, size_t blocks, size_t length, const float *x, float *y)
{
    const core_quick_block q = *how;
    const char *in = (const char *)x;
    char *out = (char *)y;
    uint32_t amax[GROUP] = {0}, powers[GROUP];
    for (size_t done = 0; done < blocks;) {
        const size_t group = blocks - done < GROUP ? blocks - done : GROUP;
        if (group == GROUP && length == 32) /* the usual lengths as constants: nothing is left of the inner loop */
            quick_largest(32, in, amax);
        else if (group == GROUP && length == 16)
            quick_largest(16, in, amax);
        else
            runs_amax_32(length, group, in, amax);
        uint32_t bad = 0;
#pragma omp simd reduction(| : bad)
        for (size_t b = 0; b < GROUP; b++)
            bad |= (uint32_t)(amax[b] - q.least > q.most - q.least) & (uint32_t)(amax[b] != 0);
        size_t ok = group;
        if (bad)
            for (ok = 0; ok < group && (amax[ok] - q.least <= q.most - q.least || amax[ok] == 0);)
                ok++;
#define QUICK_POWERS(rule)                                                                                             \
    case rule:                                                                                                         \
        SIMD for (size_t b = 0; b < GROUP; b++) powers[b] = core_quick_power(&q, rule, amax[b]);          \
        break
        switch (q.rule) {
            QUICK_POWERS(FPEMU_SCALING_CEIL);
            QUICK_POWERS(FPEMU_SCALING_EVEN);
            QUICK_POWERS(FPEMU_SCALING_RCEIL);
            QUICK_POWERS(FPEMU_SCALING_HBFP);
        default: QUICK_POWERS(FPEMU_SCALING_FLOOR);
        }
#undef QUICK_POWERS
        if (q.fixed)
            switch (length) {
            case 16: QUICK_ELEMENTS(fixed, 16);
            case 32: QUICK_ELEMENTS(fixed, 32);
            default: QUICK_ELEMENTS(fixed, length);
            }
        else
            switch (length) {
            case 16: QUICK_ELEMENTS(float, 16);
            case 32: QUICK_ELEMENTS(float, 32);
            default: QUICK_ELEMENTS(float, length);
            }
        done += ok;
        in += ok * length * sizeof *x;
        out += ok * length * sizeof *y;
        if (ok < group)
            return done;
    }
    return blocks;
}
#undef QUICK_ELEMENTS
#undef GROUP
#endif
