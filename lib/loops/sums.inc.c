/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.inc.c - one rounding of emulated sums (lib/gemm) on lanes that are independent outputs: v * w + u * f, taken to a
 * format and counted in one pass. Included by variant.inc.c for binary64, with simd.h.
 *
 * Products are numbers of binary64, but for SUM_NATIVE and SUM_GIVEN; what a sum loses is a number too (Knuth's TwoSum),
 * which tells the sum rounded to odd, and whether the result is exact. */
#define SUM_VECTORS 2
#define SUM_LANES (SUM_VECTORS * SIMD_LANES)
#define SUM_EACH UNROLLED for (int v = 0; v < SUM_VECTORS; v++)
#define SUM_AT(p) simd_load((p) + i + v * SIMD_LANES)

typedef struct sum_constants {
    simd_real least, end, past, normal, max; /* the smallest power of two that results stand at; their ends; ... */
    simd_bits keep, up, half;                /* from a power of two to the number that is added; to half a step */
    int cut;                                 /* so many bits of a normal number are discarded */
} sum_constants;

typedef struct sum_tally {
    simd_real most, least, error;
    simd_bits inexact, moved, underflow, subnormal;
    simd_mask beyond; /* not counted here */
} sum_tally;

/* a + b; *error is what it loses. */
SIMD_FN simd_real sum_two(simd_real a, simd_real b, simd_real *error)
{
    const simd_real sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

/* The power of two that results near x stand at, or the smallest. */
SIMD_FN simd_bits sum_power(const sum_constants *g, simd_real x)
{
    return (simd_bits)simd_max((simd_real)((simd_bits)x & CARRIER_INF), g->least);
}

/* To nearest, by a number that leaves no finer steps, which is added and taken away. */
SIMD_FN simd_real sum_nearest(const sum_constants *g, simd_real x, simd_bits power)
{
    const simd_real C = (simd_real)(power + g->up);
    return x + C - C;
}

/* Within the ends, with the sign of x. */
SIMD_FN simd_real sum_ended(const sum_constants *g, simd_real reaches, simd_real y, simd_real x)
{
    return (simd_real)((simd_bits)simd_select(simd_less(g->end, reaches), g->past, y) | ((simd_bits)x & CARRIER_SIGN));
}

/* A result to odd, taken to the format; random bits are added where the discarded ones are, whose number is the same
 * from the smallest normal number on, and below it after that is added. */
SIMD_FN simd_real sum_rounded(int form, const sum_constants *g, simd_real odd, const uint32_t *r)
{
    const simd_real a = simd_magnitude(odd), zero = simd_all_real(0);
    if (form == SUM_STOCHASTIC) {
        const simd_real C = simd_keep(simd_less(a, g->least), g->least), sum = a + C, lost = a - (sum - C);
        const simd_bits cut = simd_less_one_if(simd_less(lost, zero), (simd_bits)sum);
        const simd_real y = (simd_real)((cut + (simd_load_random(r) >> (CARRIER_BITS - g->cut))) & g->keep) - C;
        return sum_ended(g, y, simd_select(simd_differ(a, a), a, y), odd);
    }
    return sum_ended(g, a, sum_nearest(g, odd, sum_power(g, odd)), odd);
}

/* Counts results y, of exact results whose nearest numbers are near; of the sum of p and u, or not. */
SIMD_FN void sum_count(const sum_constants *g, simd_mask *lost, const simd_mask *beyond, const simd_real *near,
                       const simd_real *p, const simd_real *u, const simd_real *y, sum_tally *c)
{
    const simd_real zero = simd_all_real(0);
    simd_mask apart = beyond[0];
    simd_real a[SUM_VECTORS], b[SUM_VECTORS], error[SUM_VECTORS], some[SUM_VECTORS];
    SUM_EACH a[v] = some[v] = simd_magnitude(near[v]);
    SUM_EACH b[v] = simd_magnitude(y[v]);
    SUM_EACH error[v] = simd_magnitude(near[v] - y[v]);
    SUM_EACH apart = simd_either(apart, simd_either(beyond[v], simd_less(b[v], g->normal)));
    if (simd_any(apart))
        SUM_EACH
        {
            lost[v] = (simd_mask)(lost[v] & ~beyond[v]);
            a[v] = simd_select(beyond[v], zero, a[v]);
            b[v] = simd_select(beyond[v], zero, b[v]);
            error[v] = simd_select(beyond[v], zero, error[v]);
            some[v] = simd_select(simd_less(zero, a[v]), a[v], simd_all_real(core_value(CARRIER_INF)));
            c->underflow = simd_add_one_if(simd_both(lost[v], simd_at_most(b[v], zero)), c->underflow);
            c->subnormal = simd_add_one_if(simd_both(simd_less(zero, b[v]), simd_less(b[v], g->normal)), c->subnormal);
            c->beyond = simd_either(c->beyond, beyond[v]);
        }
    SUM_EACH
    {
        const simd_mask moved = simd_both(simd_differ(y[v], p[v]), simd_differ(y[v], u[v]));
        c->inexact = simd_add_one_if(lost[v], c->inexact);
        c->moved = simd_add_one_if(simd_both(lost[v], moved), c->moved);
        c->most = simd_max(a[v], c->most);
        c->least = simd_min(some[v], c->least);
        c->error = simd_max(error[v], c->error);
    }
}

/* To nearest of binary64's nearest: what binary64 loses matters where that lies between two results, in *between. */
SIMD_FN simd_real sum_quick(const sum_constants *g, simd_real near, simd_mask *between)
{
    const simd_bits power = sum_power(g, near);
    const simd_real y = sum_nearest(g, near, power), a = simd_magnitude(near - y);
    *between = simd_either(*between, simd_at_most((simd_real)(power - g->half), a));
    return sum_ended(g, simd_magnitude(near), y, near);
}

/* The first lanes, while that does not happen; one: v is, times: there is w, which are constants. */
SIMD_FN size_t sum_run(int one, int times, const sum_constants *g, size_t n, const dot_terms *t, double *y)
{
    const simd_real all = simd_all_real(*t->v);
    size_t i = 0;
    for (; n - i >= (size_t)SUM_LANES; i += (size_t)SUM_LANES) {
        simd_mask between = simd_less(all, all);
        simd_real x[SUM_VECTORS];
        SUM_EACH x[v] = one ? all : SUM_AT(t->v);
        SUM_EACH x[v] = times ? simd_fused(x[v], SUM_AT(t->w), SUM_AT(t->u)) : x[v] + SUM_AT(t->u);
        SUM_EACH x[v] = sum_quick(g, x[v], &between);
        if (!t->near && simd_any(between))
            break;
        SUM_EACH simd_store(y + i + v * SIMD_LANES, x[v]);
    }
    return i;
}

/* Lanes i and following, n in all; where the last are none, with zeros in their place. */
SIMD_FN void sum_lanes(int form, int counted, const sum_constants *g, size_t n, const dot_terms *t, size_t i,
                       const uint32_t *r, double *to, uint64_t *skipped, sum_tally *c)
{
    static const double numbers[SUM_VECTORS * 8] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const int apart = form == SUM_NATIVE || form == SUM_GIVEN; /* products may not be numbers of binary64 */
    const simd_real zero = simd_all_real(0), nan = simd_all_real(core_value(CARRIER_INF | CARRIER_INF >> 1));
    simd_real x[SUM_VECTORS], w[SUM_VECTORS], u[SUM_VECTORS], p[SUM_VECTORS], near[SUM_VECTORS], rest[SUM_VECTORS];
    simd_real odd[SUM_VECTORS], y[SUM_VECTORS];
    simd_mask lost[SUM_VECTORS], beyond[SUM_VECTORS];
    SUM_EACH x[v] = t->one ? simd_all_real(*t->v) : SUM_AT(t->v);
    SUM_EACH w[v] = t->w ? SUM_AT(t->w) : simd_all_real(1);
    SUM_EACH u[v] = t->u ? SUM_AT(t->u) : simd_all_real(-0.0);
    if (t->f)
        SUM_EACH u[v] *= SUM_AT(t->f);
    SUM_EACH y[v] = form == SUM_GIVEN ? SUM_AT(to) : zero;
    SUM_EACH odd[v] = form == SUM_GIVEN ? SUM_AT(t->odd) : zero;
    if (n - i < (size_t)SUM_LANES)
        SUM_EACH
        {
            const simd_mask lanes = simd_less(simd_load(numbers + v * SIMD_LANES), simd_all_real((double)(n - i)));
            x[v] = simd_keep(lanes, x[v]);
            w[v] = simd_keep(lanes, w[v]);
            u[v] = simd_keep(lanes, u[v]);
            y[v] = simd_keep(lanes, y[v]);
            odd[v] = simd_keep(lanes, odd[v]);
        }
    SUM_EACH p[v] = t->w ? x[v] * w[v] : x[v];
    if (apart) {
        SUM_EACH near[v] = simd_fused(x[v], w[v], u[v]);
        SUM_EACH y[v] = form == SUM_GIVEN ? y[v] : simd_select(simd_differ(near[v], near[v]), nan, near[v]);
    } else {
        SUM_EACH rest[v] = zero;
        SUM_EACH near[v] = t->u ? sum_two(p[v], u[v], &rest[v]) : p[v];
        SUM_EACH lost[v] = simd_less(zero, simd_magnitude(rest[v])); /* infinities have no rest, and NaN */
        SUM_EACH odd[v] = (simd_real)(((simd_bits)near[v] - (((simd_bits)near[v] ^ (simd_bits)rest[v]) >> 63)) | 1);
        SUM_EACH odd[v] = simd_select(lost[v], odd[v], near[v]);
        SUM_EACH y[v] = sum_rounded(form, g, odd[v], form == SUM_STOCHASTIC ? r + i + v * SIMD_LANES : r);
        if (t->flushed > 0)
            SUM_EACH
            {
                const simd_mask stays = simd_not_less(simd_magnitude(odd[v]), simd_all_real(t->flushed));
                y[v] = simd_select(stays, y[v], (simd_real)((simd_bits)odd[v] & CARRIER_SIGN));
            }
    }
    if (counted) {
        SUM_EACH beyond[v] = simd_not_less(simd_magnitude(near[v]), g->max);
        SUM_EACH lost[v] = simd_differ(odd[v], y[v]);
        if (form == SUM_NATIVE || (form == SUM_GIVEN && t->w))
            SUM_EACH
            {
                const simd_real e = simd_fused(x[v], w[v], -p[v]), size = simd_magnitude(p[v]);
                const simd_mask some = simd_both(simd_differ(x[v], zero), simd_differ(w[v], zero));
                const simd_mask tiny = simd_both(some, simd_less(size, simd_all_real(0x1p-900)));
                beyond[v] = simd_either(beyond[v], tiny);
                if (form == SUM_NATIVE) {
                    simd_real second, last, left;
                    const simd_real sum = sum_two(u[v], p[v], &second), third = sum_two(second, e, &last);
                    const simd_mask unlike = simd_differ(sum_two(sum, third, &left), y[v]);
                    const simd_mask far = simd_not_less(simd_max(size, simd_magnitude(u[v])), g->max);
                    lost[v] = simd_differ(left + last, zero);
                    beyond[v] = simd_either(beyond[v], simd_either(unlike, far));
                }
                p[v] = simd_select(simd_differ(e, zero), nan, p[v]); /* no number of binary64: y is another */
            }
        sum_count(g, lost, beyond, near, p, u, y, c);
        if (skipped)
            SUM_EACH simd_store(skipped + i + v * SIMD_LANES, simd_keep(beyond[v], simd_all_real(1)));
    }
    if (form != SUM_GIVEN)
        SUM_EACH simd_store(to + i + v * SIMD_LANES, y[v]);
}

/* Adds what lanes count. */
static void sum_end(const sum_tally *c, tile_counts *to, uint64_t *swamped)
{
    for (int l = 0; l < SIMD_LANES; l++) {
        const uint64_t most = core_bits(c->most[l]), least = core_bits(c->least[l]);
        to->inexact += c->inexact[l];
        to->underflow += c->underflow[l];
        to->subnormal += c->subnormal[l];
        to->max_abs = most > to->max_abs ? most : to->max_abs;
        to->min_abs = most && (!to->min_abs || least < to->min_abs) ? least : to->min_abs;
        to->max_error = c->error[l] > to->max_error ? c->error[l] : to->max_error;
        if (swamped)
            *swamped += c->inexact[l] - c->moved[l];
    }
}

SIMD_FN sum_constants sum_constants_of(int form, const core_plan64 *p)
{
    const int native = form == SUM_NATIVE, drawn = form == SUM_STOCHASTIC;
    sum_constants g;
    g.least = simd_all_real(core_value(drawn ? p->emin_bits : (uint64_t)p->fast_emin));
    g.up = simd_all(p->fast_up + (CARRIER_HIDDEN >> 1)); /* 1.5 times a power of two, for both signs */
    g.half = simd_all((uint64_t)(CARRIER_MANTISSA + 1 - p->d_norm) << CARRIER_MANTISSA);
    g.end = simd_all_real(core_value(drawn || p->rule == CORE_RULE_SHIFTER_STOP ? p->max[0] : p->past[0]));
    g.past = simd_all_real(core_value(p->overflow[0]));
    g.keep = simd_all(~UINT64_C(0) << p->d_norm);
    g.cut = (int)p->d_norm;
    g.normal = simd_all_real(core_value(p->min_normal ? p->min_normal : 1));
    g.max = simd_all_real(native ? 0x1p1000 : core_value(p->max[0] < CARRIER_INF ? p->max[0] : CARRIER_INF));
    return g;
}

/* Set one by one, which takes less than the few lanes of a step. */
SIMD_FN sum_tally sum_nothing(void)
{
    const simd_real zero = simd_all_real(0);
    sum_tally c;
    c.most = c.error = zero;
    c.least = simd_all_real(core_value(CARRIER_INF));
    c.inexact = c.moved = c.underflow = c.subnormal = simd_all(0);
    c.beyond = simd_less(zero, zero);
    return c;
}

SIMD_FN int sum_all(int form, int counted, const core_plan64 *p, size_t n, const dot_terms *terms, const uint32_t *r,
                    double *y, tile_counts *counts, uint64_t *swamped, uint64_t *skipped)
{
    const dot_terms t = *terms;
    const sum_constants g = sum_constants_of(form, p);
    sum_tally c = sum_nothing();
    size_t i = 0;
    if (form == SUM_NEAREST && !counted && t.u && !t.f && !(t.flushed > 0))
        i = t.one ? sum_run(1, 1, &g, n, &t, y) : t.w ? sum_run(0, 1, &g, n, &t, y) : sum_run(0, 0, &g, n, &t, y);
    for (; i < n; i += (size_t)SUM_LANES)
        sum_lanes(form, counted, &g, n, &t, i, r, y, skipped, &c);
    const int some = counted && simd_any(c.beyond);
    if (counted && (!some || skipped))
        sum_end(&c, counts, swamped);
    return !some;
}

#define SUM_LOOPS(form)                                                                                                \
    static int loop_##form(const core_plan64 *p, size_t n, const dot_terms *t, const uint32_t *r, double *y,           \
                           tile_counts *c, uint64_t *swamped, uint64_t *skipped)                                       \
    {                                                                                                                  \
        return c ? sum_all(form, 1, p, n, t, r, y, c, swamped, skipped)                                                \
                 : sum_all(form, 0, p, n, t, r, y, NULL, NULL, NULL);                                                  \
    }
SUM_LOOPS(SUM_NEAREST)
SUM_LOOPS(SUM_STOCHASTIC)
SUM_LOOPS(SUM_NATIVE)
SUM_LOOPS(SUM_GIVEN)
#undef SUM_LOOPS

/* u and a product to nearest, where that is a normal number. *doubt has a sign where it is none, and where binary64's
 * nearest tells too little: all discarded bits but the first are 0, and, with ties, it is not the exact sum. */
SIMD_FN simd_real sum_normal(int ties, int counted, const sum_constants *g, simd_real product, simd_real u,
                             simd_bits *doubt, sum_tally *c)
{
    const simd_real zero = simd_all_real(0);
    const uint64_t half = UINT64_C(1) << (g->cut - 1);
    simd_real rest, near = sum_two(product, u, &rest), a = simd_magnitude(near), some = a;
    const simd_bits bits = (simd_bits)near, even = ties ? (bits >> g->cut & 1) - 1 : simd_all(0);
    const simd_real y = (simd_real)((bits + (half + even)) & g->keep), error = simd_magnitude(near - y);
    simd_bits few = (bits & (half - 1)) - 1;
    simd_mask moved = simd_both(simd_differ(y, product), simd_differ(y, u));
    if (ties) {
        few &= simd_less_one_if(simd_differ(rest, zero), simd_all(0));
        some = simd_select(simd_less(zero, a), a, simd_all_real(core_value(CARRIER_INF)));
    }
    *doubt |= few | ((simd_bits)g->max - (simd_bits)a);
    c->most = simd_max(a, c->most);
    c->least = simd_min(some, c->least);
    if (counted && ties) {
        const simd_mask lost = simd_less(zero, error);
        c->inexact = simd_add_one_if(lost, c->inexact);
        moved = simd_both(lost, moved);
    }
    if (counted) {
        c->moved = simd_add_one_if(moved, c->moved);
        c->error = simd_max(error, c->error);
    }
    return y;
}

#define BLOCK_VECTORS 4
#define BLOCK_LANES ((size_t)BLOCK_VECTORS * (size_t)SIMD_LANES)
#define BLOCK_EACH UNROLLED for (int v = 0; v < vectors; v++)

/* What a row of a block has: numbers of w for the lanes, and of v too or one, or one of each for a sum alone. */
enum sum_row { SUM_ROW_EACH, SUM_ROW_ONE, SUM_ROW_ALONE };

/* Products of `rows` rows added to the sums s of so many vectors, if all results are normal numbers or, with ties,
 * zeros, and nothing is in doubt; else 0, and nothing is done. */
SIMD_FN int sum_block(int ties, int vectors, enum sum_row row, int counted, const sum_constants *g, size_t rows,
                      const dot_terms *t, double *s, sum_tally *to)
{
    const double *x = t->v, *w = t->w;
    simd_real u[BLOCK_VECTORS];
    simd_bits doubt = simd_all(0);
    sum_tally c = sum_nothing();
    BLOCK_EACH u[v] = row == SUM_ROW_ALONE ? simd_all_real(*s) : simd_load(s + v * SIMD_LANES);
    for (size_t k = 0; k < rows; k++, x += t->step_v, w += t->step_w)
        BLOCK_EACH
        {
            const simd_real factor = row == SUM_ROW_EACH ? simd_load(x + v * SIMD_LANES) : simd_all_real(*x);
            const simd_real other = row == SUM_ROW_ALONE ? simd_all_real(*w) : simd_load(w + v * SIMD_LANES);
            u[v] = sum_normal(ties, counted, g, factor * other, u[v], &doubt, &c);
        }
    const simd_mask small = simd_less(c.least, simd_max(g->least, g->normal));
    if (simd_any(simd_either(simd_negative(doubt), small)))
        return 0;
    if (row == SUM_ROW_ALONE)
        *s = u[0][0];
    else
        BLOCK_EACH simd_store(s + v * SIMD_LANES, u[v]);
    to->inexact += ties ? c.inexact : simd_all(rows * (size_t)vectors);
    to->moved += c.moved;
    to->most = simd_max(c.most, to->most);
    to->least = simd_min(c.least, to->least);
    to->error = simd_max(c.error, to->error);
    return 1;
}

/* The same of any results of n lanes, BLOCK_LANES at most; 0 and nothing done where some are not counted here. */
SIMD_FN int sum_block_slowly(int counted, const sum_constants *g, size_t rows, size_t n, const dot_terms *t, double *s,
                             sum_tally *c)
{
    const sum_tally before = *c;
    double sums[BLOCK_LANES];
    dot_terms row = *t;
    memcpy(sums, s, sizeof sums);
    row.u = s;
    for (size_t k = 0; k < rows; k++, row.v += t->step_v, row.w += t->step_w)
        for (size_t i = 0; i < n && i < BLOCK_LANES; i += (size_t)SUM_LANES)
            sum_lanes(SUM_NEAREST, counted, g, n, &row, i, NULL, s, NULL, c);
    if (!counted || !simd_any(c->beyond))
        return 1;
    memcpy(s, sums, sizeof sums);
    *c = before;
    return 0;
}

SIMD_FN size_t sum_rows(enum sum_row row, int counted, const core_plan64 *p, size_t rows, size_t n,
                        const dot_terms *terms, double *s, tile_counts *counts, uint64_t *swamped)
{
    const sum_constants g = sum_constants_of(SUM_NEAREST, p);
    dot_terms t = *terms;
    sum_tally c = sum_nothing();
    size_t i = 0;
    for (int quick = 2; i < n; i += BLOCK_LANES, s += BLOCK_LANES) {
        const int whole = n - i >= BLOCK_LANES;
        int done = whole && quick == 2 && sum_block(0, BLOCK_VECTORS, row, counted, &g, rows, &t, s, &c);
        if (!done && whole && quick)
            done = quick = sum_block(1, BLOCK_VECTORS, row, counted, &g, rows, &t, s, &c);
        if (!done && !sum_block_slowly(counted, &g, rows, n - i, &t, s, &c))
            break;
        t.v += t.one ? 0 : BLOCK_LANES;
        t.w += BLOCK_LANES;
    }
    if (counted)
        sum_end(&c, counts, swamped);
    return i < n ? i : n;
}

static size_t loop_sum_rows(const core_plan64 *p, size_t rows, size_t n, const dot_terms *t, double *s, tile_counts *c,
                            uint64_t *swamped)
{
    if (c && t->one)
        return sum_rows(SUM_ROW_ONE, 1, p, rows, n, t, s, c, swamped);
    if (c)
        return sum_rows(SUM_ROW_EACH, 1, p, rows, n, t, s, c, swamped);
    return t->one ? sum_rows(SUM_ROW_ONE, 0, p, rows, n, t, s, c, swamped)
                  : sum_rows(SUM_ROW_EACH, 0, p, rows, n, t, s, c, swamped);
}

static int loop_sum_alone(const core_plan64 *p, size_t n, const double *x, const double *w, double *s)
{
    const sum_constants g = sum_constants_of(SUM_NEAREST, p);
    const dot_terms t = {.v = x, .w = w, .step_v = 1, .step_w = 1};
    sum_tally c = sum_nothing();
    return sum_block(0, 1, SUM_ROW_ALONE, 0, &g, n, &t, s, &c) || sum_block(1, 1, SUM_ROW_ALONE, 0, &g, n, &t, s, &c);
}
#undef BLOCK_VECTORS
#undef BLOCK_LANES
#undef BLOCK_EACH
#undef SUM_VECTORS
#undef SUM_LANES
#undef SUM_EACH
#undef SUM_AT
