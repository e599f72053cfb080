/* SPDX-License-Identifier: BSD-2-Clause */
/* steps.inc.c - steps of matrix units (doc/accumulation.md, 2.5) on up to LANES_FEW lanes of lib/gemm at a time, which
 * all arrays have; lanes are independent outputs. Chains run in binary32, aligned sums in binary64. Included by
 * variant.inc.c for each carrier, with simd.h. */
#define STEP_VECTORS (CARRIER_BITS == 32 && SIMD_BYTES == 64 ? 2 : 4)
#define STEP_LANES ((size_t)STEP_VECTORS * (size_t)SIMD_LANES)
#define STEP_EACH UNROLLED for (int v = 0; v < STEP_VECTORS; v++)
#define STEP_AT(p) simd_load((p) + i + v * SIMD_LANES)

#if CARRIER_BITS == 32

/* x * y + s to nearest; what is less than s->flushed before becomes zero of its sign. doubt: a result of which binary32
 * does not tell whether it was less. */
SIMD_FN simd_real chain_add(const dot_step *step, simd_real x, simd_real y, simd_real s, simd_mask *doubt)
{
#if SIMD_HAS_FUSED
    const simd_real sum = simd_fused(x, y, s), least = simd_all_real((float)step->least), a = simd_magnitude(sum);
    const simd_mask stays = simd_not_less(a, least); /* NaN too */
    *doubt = simd_either(*doubt, simd_both(stays, simd_at_most(a, least)));
    return simd_select(stays, sum, (simd_real)((simd_bits)sum & CARRIER_SIGN));
#else
    simd_real sum;
    (void)doubt;
    for (int l = 0; l < SIMD_LANES; l++) {
        const double odd = core_sum_odd((double)x[l] * (double)y[l], (double)s[l], 0);
        const uint64_t sign = core_bits64(odd) & CORE_SIGN64;
        sum[l] = (float)(core_value64(core_bits64(odd) ^ sign) < step->flushed ? core_value64(sign) : odd);
    }
    return sum;
#endif
}

/* All steps of a slab, from sums to `to`; 0: not sure of some result. */
static int loop_chains(const dot_step *s, size_t places, size_t n, const float *x, const float *y, const float *sums,
                       float *to)
{
    const simd_real zero = simd_all_real(0), one = simd_all_real(1);
    simd_mask doubt = simd_less(zero, zero);
    for (size_t i = 0; i < n; i += STEP_LANES) {
        simd_real d[STEP_VECTORS], chain[8][STEP_VECTORS];
        STEP_EACH d[v] = STEP_AT(sums);
        for (size_t k = 0; k < places; k += s->terms) {
            for (size_t way = 0; way < s->ways; way++) {
                simd_real sum[STEP_VECTORS];
                STEP_EACH sum[v] = way || s->late > 0 ? zero : d[v];
                for (size_t t = k + way; t < k + s->terms; t += s->ways) {
                    const size_t l = s->place[t];
                    if (l < s->have)
                        STEP_EACH sum[v] = chain_add(s, simd_all_real(x[l]), STEP_AT(y + l * s->ld), sum[v], &doubt);
                }
                STEP_EACH chain[way][v] = sum[v];
            }
            for (size_t gap = 1; gap < s->ways; gap *= 2)
                for (size_t way = 0; way < s->ways; way += 2 * gap)
                    STEP_EACH chain[way][v] = chain_add(s, chain[way][v], one, chain[way + gap][v], &doubt);
            STEP_EACH d[v] = s->late > 0 ? chain_add(s, chain[0][v], one, d[v], &doubt) : chain[0][v];
        }
        STEP_EACH simd_store(to + i + v * SIMD_LANES, d[v]);
    }
    return !simd_any(doubt);
}

#else

/* Of a power of two. */
SIMD_FN simd_real step_inverse(simd_real power)
{
    return (simd_real)(simd_all(UINT64_C(2046) << 52) - (simd_bits)power);
}

/* core_dot_power, but of 0 `least` too. */
SIMD_FN simd_real step_power(simd_real x, double least)
{
    return simd_max((simd_real)((simd_bits)x & CARRIER_INF), simd_all_real(least));
}

/* Number l of a slab for lanes i and following. */
#define STEP_X(x) (each ? STEP_AT((x) + l * s->ld) : simd_all_real((x)[l]))

/* What a step counts beside its result: lanes that lost bits, terms that came to nothing. */
typedef struct step_losses {
    simd_real lost[STEP_VECTORS];
    simd_bits nothing[STEP_VECTORS];
} step_losses;

/* What is kept of `whole`, which may be a term. */
SIMD_FN simd_real step_kept(int counted, int term, simd_real kept, simd_real whole, step_losses *c, int v)
{
    const simd_real zero = simd_all_real(0);
    const simd_mask none = simd_both(simd_at_most(kept, zero), simd_at_most(zero, kept));
    if (counted)
        c->lost[v] = simd_select(simd_differ(kept, whole), simd_all_real(1), c->lost[v]);
    if (counted && term)
        c->nothing[v] = simd_add_one_if(simd_both(none, simd_differ(whole, zero)), c->nothing[v]);
    return kept;
}

SIMD_FN simd_real step_floor(int counted, simd_real x, step_losses *c, int v)
{
    return step_kept(counted, 0, simd_floor(x), x, c, v);
}

/* t as the result of a step: to nearest in binary32, or cut to a format of its range, or left for lib/gemm to round. */
SIMD_FN simd_real step_rounded(const dot_step *s, simd_real t)
{
    typedef float floats __attribute__((vector_size(SIMD_BYTES / 2)));
    if (s->rounding == STEP_NEAREST)
        t = __builtin_convertvector(__builtin_convertvector(t, floats), simd_real);
    if (s->rounding == STEP_CUT) {
        const simd_real most = t * 0x1p896 * 0x1p-896; /* infinite from 2^128 on */
        const simd_mask tiny = simd_less(simd_magnitude(t), simd_all_real(0x1p-126));
        t = simd_select(tiny, simd_cut(t * (1 / s->grid)) * s->grid, (simd_real)((simd_bits)most & s->keep));
    }
    return t;
}

/* a + b rounded to odd. */
SIMD_FN simd_real step_odd(simd_real a, simd_real b)
{
#if SIMD_HAS_SIDES
    const simd_real down = simd_add_toward(SIMD_DOWN, a, b);
    return simd_select(simd_negative((simd_bits)down << 63), down, simd_add_toward(SIMD_UP, a, b));
#else
    const simd_real sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part), zero = simd_all_real(0);
    const simd_bits past = ((simd_bits)sum ^ (simd_bits)error) >> 63, odd = ((simd_bits)sum - past) | 1;
    return simd_select(simd_either(simd_less(error, zero), simd_less(zero, error)), (simd_real)odd, sum);
#endif
}

/* The sum of terms first, first + ways, ... on lanes i and following, each cut where f bits below the largest power of
 * two end, which goes into top, in such units; and of all of them, plain: not finite where a term is not. */
SIMD_FN void step_sum(const dot_step *s, int each, int counted, size_t first, size_t i, simd_real *tops,
                      simd_real *sums, simd_real *plain, step_losses *c)
{
    simd_real value[32][STEP_VECTORS]; /* of terms that are sums themselves */
    simd_real top[STEP_VECTORS], unit[STEP_VECTORS], sum[STEP_VECTORS];
    const size_t size = s->size;
    STEP_EACH top[v] = tops[v];
    for (size_t t = first; t < s->terms; t += s->ways) {
        const size_t from = s->place[t * size], to = from + size < s->have ? from + size : s->have;
        STEP_EACH sum[v] = simd_all_real(0);
        for (size_t l = from; l < to; l++) {
            STEP_EACH top[v] = simd_max(STEP_X(s->powers_x) * STEP_AT(s->powers_y + l * s->ld), top[v]);
            if (size > 1)
                STEP_EACH sum[v] = simd_fused(STEP_X(s->x), STEP_AT(s->y + l * s->ld), sum[v]);
        }
        if (size > 1)
            STEP_EACH value[t][v] = sum[v];
    }
    STEP_EACH unit[v] = simd_all_real(s->scale) * step_inverse(top[v]);
    STEP_EACH sum[v] = simd_all_real(0);
    for (size_t t = first; t < s->terms; t += s->ways) {
        const size_t l = s->place[t * size];
        simd_real x[STEP_VECTORS];
        if (l >= s->have)
            continue;
        if (size > 1)
            STEP_EACH x[v] = value[t][v];
        else
            STEP_EACH x[v] = STEP_X(s->x) * STEP_AT(s->y + l * s->ld);
        if (s->special)
            STEP_EACH plain[v] += x[v] * s->reach * (1 / s->reach);
        STEP_EACH x[v] *= unit[v];
        STEP_EACH sum[v] += step_kept(counted, 1, simd_cut(x[v]), x[v], c, v);
    }
    STEP_EACH tops[v] = top[v];
    STEP_EACH sums[v] = sum[v];
}

/* Where d joins late: the sums of products, and d, all toward minus infinity. */
SIMD_FN simd_real step_late(const dot_step *s, int counted, simd_real d, const simd_real top[2], const simd_real sum[2],
                            step_losses *c, int v)
{
    const double more = 2 * s->late / s->scale;
    simd_real dot = top[0], all = sum[0];
    if (s->ways > 1) {
        dot = simd_max(top[0], top[1]);
        const simd_real ratio = step_inverse(dot);
        all = step_floor(counted, sum[0] * (top[0] * ratio), c, v);
        all += step_floor(counted, sum[1] * (top[1] * ratio), c, v);
    }
    const simd_real power = step_power(d, s->least), last = simd_max(dot, power), share = step_inverse(last);
    const simd_real finer = d * (s->scale * share);
    simd_real old = simd_floor(finer);
    if (s->ways > 1)
        old = simd_select(simd_less(power * (2 * s->scale), last), simd_all_real(0), old);
    old = step_kept(counted, 1, old, finer, c, v);
    const simd_real products = step_floor(counted, all * (dot * share * more), c, v);
    const simd_real whole = simd_fused(old, simd_all_real(more), products) * (last * (0.5 / s->late));
    const simd_real unit = step_power(whole, s->least) * (1 / s->late);
    return step_floor(counted, whole * step_inverse(unit), c, v) * unit;
}

SIMD_FN void step_aligned(const dot_step *s, int each, int counted, size_t i, const double *d, double *t,
                          step_losses *c)
{
    simd_real top[2][STEP_VECTORS], sum[2][STEP_VECTORS], plain[STEP_VECTORS];
    const simd_real zero = simd_all_real(0);
    STEP_EACH
    {
        const simd_real old = STEP_AT(d), power = simd_keep(simd_differ(old, zero), step_power(old, s->least));
        plain[v] = old;
        top[0][v] = simd_max(s->late > 0 ? zero : power, simd_all_real(s->floor));
        top[1][v] = simd_all_real(s->floor);
        sum[1][v] = zero;
    }
    for (size_t way = 0; way < s->ways; way++)
        step_sum(s, each, counted, way, i, top[way], sum[way], plain, c);
    STEP_EACH
    {
        const simd_real old = STEP_AT(d), unit = simd_all_real(s->scale) * step_inverse(top[0][v]);
        const simd_real tops[2] = {top[0][v], top[1][v]}, sums[2] = {sum[0][v], sum[1][v]}, term = old * unit;
        const simd_real result =
            s->late > 0 ? step_late(s, counted, old, tops, sums, c, v)
                        : (sum[0][v] + step_kept(counted, 1, simd_cut(term), term, c, v)) * step_inverse(unit);
        const simd_real some = simd_select(simd_differ(plain[v] - plain[v], zero), plain[v], result);
        if (counted) {
            const simd_mask finite = simd_at_most(simd_magnitude(some), simd_all_real(DBL_MAX));
            c->nothing[v] = (simd_bits)simd_keep(finite, (simd_real)c->nothing[v]);
            simd_store(s->sums + i + v * SIMD_LANES, some);
        }
        simd_store(t + i + v * SIMD_LANES, step_rounded(s, some));
    }
}

/* The exact sum of d and the products, and s->sums, to odd, and s->near where it is counted; lost: not 0 where binary64 has not all of
 * the products', or something in them is not finite. */
SIMD_FN void step_exact(const dot_step *s, int each, int counted, size_t i, const double *d, double *t, step_losses *c)
{
    simd_real sum[STEP_VECTORS];
    simd_bits rest[STEP_VECTORS];
    STEP_EACH sum[v] = simd_all_real(0);
    STEP_EACH rest[v] = simd_all(0);
    for (size_t k = 0; k < s->terms; k++) {
        const size_t l = s->place[k];
        if (l >= s->have)
            continue;
        STEP_EACH
        {
            const simd_real x = STEP_X(s->x), y = STEP_AT(s->y + l * s->ld);
            const simd_real next = simd_fused(x, y, sum[v]), change = next - sum[v]; /* Knuth's TwoSum */
            rest[v] |= (simd_bits)(sum[v] - (next - change)) | (simd_bits)simd_fused(x, y, -change);
            sum[v] = next;
        }
    }
    STEP_EACH c->lost[v] = (simd_real)(rest[v] << 1);
    STEP_EACH
    {
        const simd_real odd = step_odd(sum[v], STEP_AT(d));
        if (counted) {
            simd_store(s->near + i + v * SIMD_LANES, sum[v] + STEP_AT(d));
            simd_store(s->sums + i + v * SIMD_LANES, odd);
        }
        simd_store(t + i + v * SIMD_LANES, step_rounded(s, odd));
    }
}

SIMD_FN void step_lanes(const dot_step *s, int each, int counted, size_t n, const double *d, double *t, uint64_t *lost,
                        uint64_t *swamped)
{
    simd_bits nothing = simd_all(0);
    uint64_t some = 0;
    for (size_t i = 0; i < n; i += STEP_LANES) {
        step_losses c;
        STEP_EACH c.lost[v] = simd_all_real(0);
        STEP_EACH c.nothing[v] = simd_all(0);
        if (s->exact)
            step_exact(s, each, counted, i, d, t, &c);
        else
            step_aligned(s, each, counted, i, d, t, &c);
        if (s->exact || counted)
            STEP_EACH simd_store(lost + i + v * SIMD_LANES, c.lost[v]);
        if (s->exact)
            STEP_EACH some |= (uint64_t)simd_any(simd_differ(c.lost[v], simd_all_real(0)));
        if (counted)
            STEP_EACH nothing += c.nothing[v];
    }
    for (int l = 0; l < SIMD_LANES && counted; l++)
        some += nothing[l];
    *swamped = some;
}

#define STEP_LOOP(name, each, counted)                                                                                 \
    static void name(const dot_step *s, size_t n, const double *d, double *t, uint64_t *lost, uint64_t *swamped)       \
    {                                                                                                                  \
        step_lanes(s, each, counted, n, d, t, lost, swamped);                                                          \
    }
STEP_LOOP(loop_step, 0, 0)
STEP_LOOP(loop_step_counted, 0, 1)
STEP_LOOP(loop_step_each, 1, 0)
STEP_LOOP(loop_step_each_counted, 1, 1)
#undef STEP_LOOP
#undef STEP_X
#endif
#undef STEP_VECTORS
#undef STEP_LANES
#undef STEP_EACH
#undef STEP_AT
