/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - dot products against integers of any length: doc/accumulation.md carried out step by step with exact numbers
 * (GMP), every rounding by the slow judge, every random word by its definition.
 *
 *   every model, with rounded and exact products, every mode, both carriers, counters included
 *   lengths around chunks, blocks and powers of two; data that cancel, swamp, underflow, overflow and are not numbers
 *   tensor cores: published observations by name (Fasi, Higham, Mikaitis, Pranesh 2021, all of their experiments)
 *   layouts, transposes, leading dimensions, strides, batches: the same bits as the plain product
 *   chunks in the scales of their blocks
 *   all of this with every instruction set; larger products, on several threads, with the same bits everywhere
 *
 * usage: gemm [ROUNDS]: how many random matrices a model gets (default 12)
 */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/exact.h"
#include "expected.h"
#include "variants.h"
#include <limits.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ------------------------------------------------------------------------------------- roundings, counted */

typedef struct target {
    const fpemu_target *t;
    judge *j;
    unsigned carrier;
    int given, counted;
} target;

static fpemu_stats tally;

static void target_open(target *to, const fpemu_target *t, unsigned carrier, int counted)
{
    to->t = t;
    to->given = t->format.kind != 0;
    to->carrier = carrier;
    to->counted = counted;
    to->j = to->given ? judge_open_slow(&t->format, &t->rounding, carrier) : NULL;
    lh_check(!to->given || to->j != NULL, "no judge for a target");
}

static void target_close(target *to)
{
    if (to->j)
        judge_close(to->j);
}

static int rounds_down(const target *to)
{
    return to->given && to->t->rounding.mode == FPEMU_MODE_RTN;
}

static uint32_t random_of(const fpemu_rounding *r, uint64_t stream, uint64_t index)
{
    return lh_bits(r->generator, r->seed, stream, r->offset + index, r->bits ? r->bits : 32);
}

/* Counters of one element that is x and becomes y. */
static void count(const number *x, double y, uint32_t events)
{
    const double near = nearest_double(x);
    tally.count++;
    tally.nan += x->kind == NOT_A_NUMBER;
    tally.infinite += x->kind == INFINITE;
    tally.invalid += x->kind == NOT_A_NUMBER && x->invalid && !(events & JUDGE_INVALID);
    expect_events(&tally, events, 1);
    if (x->kind == FINITE)
        expect_extrema(&tally, near, y);
}

/* x becomes its rounding number t of output i; counted. */
static void round_number(const target *to, number *x, uint64_t t, uint64_t i)
{
    const fpemu_rounding *r = &to->t->rounding;
    const uint64_t stream = mixed(r->stream + (t + 1) * UINT64_C(0x9e3779b97f4a7c15));
    const judge_result result = judge_number(to->j, to->carrier, x, random_of(r, stream, i));
    const double y = carrier_value(to->carrier, result.bits);
    if (to->counted)
        count(x, y, result.events);
    number_double(x, y);
}

/* --------------------------------------------------------------------------------------------- the models */

enum { LONGEST = 400 };

typedef struct product_spec {
    const fpemu_gemm_spec *spec;
    target product, inner, outer, out;
    unsigned carrier;
} product_spec;

static number p[LONGEST], s, u, v, w, carry;
static long left_out; /* s is to be taken times 2^left_out */

/* Scales of the blocks of an output's operands, one a chunk; NULL: none. */
static const double *row_scales, *column_scales;

/* The sum of chunk number `chunk` in its scales: Xa * Xb * sum, exact. */
static void scale_chunk(number *sum, uint64_t chunk)
{
    static number scale, other;
    if (!row_scales && !column_scales)
        return;
    if (!scale.k->_mp_alloc)
        mpz_inits(scale.k, other.k, (mpz_ptr)NULL);
    number_double(&scale, row_scales ? row_scales[chunk] : 1);
    number_double(&other, column_scales ? column_scales[chunk] : 1);
    multiply(&scale, &other);
    scale.invalid = 0; /* as a NaN among the scales */
    multiply(sum, &scale);
}

/* x = rounded(x + y), number t; where watched, a swamped addition is counted. */
static void add_rounded(const target *to, number *x, const number *y, uint64_t t, uint64_t i, int watched)
{
    static number before;
    if (!before.k->_mp_alloc)
        mpz_init(before.k);
    number_copy(&before, x);
    add(x, y, rounds_down(to));
    round_number(to, x, t, i);
    if (watched && before.kind == FINITE && y->kind == FINITE && x->kind == FINITE)
        tally.swamped += (compare(x, &before) == 0 && !is_zero(y)) || (compare(x, y) == 0 && !is_zero(&before));
}

static void subtract_rounded(const target *to, number *x, number *y, uint64_t t, uint64_t i)
{
    y->negative = y->kind != NOT_A_NUMBER && !y->negative;
    add_rounded(to, x, y, t, i, 0);
    y->negative = y->kind != NOT_A_NUMBER && !y->negative;
}

/* Sections 2.1 to 2.4: s from its start and the products; returns T. */
static uint64_t add_up(const product_spec *g, uint64_t K, uint64_t i, int from_c)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    const uint64_t P = g->product.given ? 1 : 0, L = sum->chunk;
    static number leaf[LONGEST + 1];
    switch (sum->model) {
    case FPEMU_MODEL_SEQUENTIAL:
        for (uint64_t k = 0; k < K; k++) {
            if (P)
                round_number(&g->product, &p[k], k * 2, i);
            add_rounded(&g->inner, &s, &p[k], k * (P + 1) + P, i, 1);
        }
        return K * (P + 1);
    case FPEMU_MODEL_CHUNKED:
        for (uint64_t first = 0, j = 0; first < K; first += L, j++) {
            number_double(&u, 0);
            const uint64_t end = first + L < K ? first + L : K;
            for (uint64_t k = first; k < end; k++) {
                if (P)
                    round_number(&g->product, &p[k], k * 2 + j, i);
                add_rounded(&g->inner, &u, &p[k], k * (P + 1) + P + j, i, 1);
            }
            scale_chunk(&u, j);
            add_rounded(&g->outer, &s, &u, end * (P + 1) + j, i, 1);
        }
        return K * (P + 1) + (K + L - 1) / L;
    case FPEMU_MODEL_PAIRWISE: {
        uint64_t n = 0, t = P * K;
        for (uint64_t k = 0; k <= K; k++)
            if (!leaf[k].k->_mp_alloc)
                mpz_init(leaf[k].k);
        if (from_c)
            number_copy(&leaf[n++], &s);
        for (uint64_t k = 0; k < K; k++) {
            if (P)
                round_number(&g->product, &p[k], k, i);
            number_copy(&leaf[n++], &p[k]);
        }
        if (n == 1) {
            round_number(&g->inner, &leaf[0], t++, i);
        } else {
            for (; n > 1; n = (n + 1) / 2) {
                for (uint64_t k = 0; k + 1 < n; k += 2) {
                    add_rounded(&g->inner, &leaf[k], &leaf[k + 1], t++, i, 1);
                    number_copy(&leaf[k / 2], &leaf[k]);
                }
                if (n & 1)
                    number_copy(&leaf[n / 2], &leaf[n - 1]);
            }
        }
        if (from_c || K)
            number_copy(&s, &leaf[0]);
        return t;
    }
    default: /* Kahan */
        number_double(&carry, 0);
        for (uint64_t k = 0; k < K; k++) {
            const uint64_t t = k * (P + 4) + P;
            if (P)
                round_number(&g->product, &p[k], t - 1, i);
            number_copy(&u, &p[k]);
            subtract_rounded(&g->inner, &u, &carry, t, i); /* y */
            number_copy(&v, &s);
            add_rounded(&g->inner, &v, &u, t + 1, i, 1); /* t */
            number_copy(&w, &v);
            subtract_rounded(&g->inner, &w, &s, t + 2, i); /* d */
            subtract_rounded(&g->inner, &w, &u, t + 3, i); /* e */
            number_copy(&carry, &w);
            number_copy(&s, &v);
        }
        return K * (P + 4);
    }
}

static long exponent_of(double x, long least)
{
    int e;
    frexp(x, &e);
    return e - 1 < least ? least : e - 1;
}

static long emin_of(const fpemu_format *f)
{
    return 1 - f->bias;
}

/* Product i of the step that begins at product k, by the order in which steps take them. */
static uint64_t product_at(const fpemu_accumulator *sum, uint64_t k, uint64_t i)
{
    const uint64_t n = sum->block, second = k / n % 2;
    switch (sum->order) {
    case FPEMU_PRODUCTS_ODD_FIRST: return k + (i % 2 ? i - 1 : i + 1);
    case FPEMU_PRODUCTS_BY_FOURS: return k - second * n + i / 2 * 4 + i % 2 + 2 * second;
    default: return k + i;
    }
}

/* What a step adds up: products, or groups of them, that are not zero; d is the last. */
typedef struct summand {
    number x;
    long e; /* the exponent that counts */
    uint64_t chain;
} summand;

static summand *summands_at(const product_spec *g, const double *x, const double *y, uint64_t k, uint64_t K, int *n)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    const uint64_t size = sum->group ? sum->group : 1;
    static summand list[65];
    static number part;
    *n = 0;
    for (uint64_t i = 0; i < sum->block; i += size) {
        summand *const t = &list[*n];
        const uint64_t first = product_at(sum, k, i);
        int zero = 1;
        if (!t->x.k->_mp_alloc)
            mpz_init(t->x.k);
        number_double(&t->x, 0);
        t->e = LONG_MIN;
        t->chain = i % (sum->ways ? sum->ways : 1);
        for (uint64_t l = first; l < first + size && l < K; l++) {
            const long e =
                exponent_of(x[l], emin_of(&g->spec->a.format)) + exponent_of(y[l], emin_of(&g->spec->b.format));
            if (is_zero(&p[l]))
                continue;
            add(&t->x, &p[l], 0);
            t->e = e > t->e ? e : t->e;
            zero = 0;
        }
        if (sum->group && first < K) {
            const double *const scales[] = {row_scales, column_scales};
            if (!part.k->_mp_alloc)
                mpz_init(part.k);
            t->e = sum->group > 1 ? 0 : t->e;
            for (int side = 0; side < 2; side++) {
                const double scale = scales[side] ? scales[side][first / sum->chunk] : 1;
                number_double(&part, scale);
                if (t->x.kind != NOT_A_NUMBER || isnan(scale)) /* else it stays what made it */
                    multiply(&t->x, &part);
                zero &= t->x.kind == FINITE;
                t->e += isnan(scale) || zero ? 0 : exponent_of(scale, emin_of(&sum->outer.format));
            }
        }
        if (sum->late > 1 && t->x.kind == FINITE && mpz_sgn(t->x.k) && t->x.e + (long)mpz_sizeinbase(t->x.k, 2) > 128)
            t->x.kind = INFINITE;
        *n += !zero;
    }
    if (!list[*n].x.k->_mp_alloc)
        mpz_init(list[*n].x.k);
    number_copy(&list[*n].x, &s);
    if (!is_zero(&s)) {
        list[*n].e = s.kind == FINITE ? exponent_of(nearest_double(&s), emin_of(&sum->inner.format)) : 0;
        ++*n;
    }
    return list;
}

/* x toward zero, or down, to a multiple of 2^unit; whether bits were lost. */
static int cut_to(number *x, long unit, int down)
{
    if (x->e >= unit)
        return 0;
    const mp_bitcnt_t shift = (mp_bitcnt_t)(unit - x->e);
    const int lost = mpz_scan1(x->k, 0) < shift;
    if (down && x->negative)
        mpz_cdiv_q_2exp(x->k, x->k, shift);
    else
        mpz_fdiv_q_2exp(x->k, x->k, shift);
    x->e = unit;
    return lost && mpz_sgn(x->k) >= 0;
}

/* A step's result: past the end lies infinity. flush: what would be below 2^emin if exponents had no end is zero. */
static void round_step(const product_spec *g, uint32_t more)
{
    const fpemu_target *inner = &g->spec->sum.inner;
    judge_result result = judge_number(g->inner.j, g->inner.carrier, &s, 0);
    double d = carrier_value(64, result.bits);
    if (result.events & JUDGE_OVERFLOW)
        d = s.negative ? -INFINITY : INFINITY;
    if (g->spec->sum.flush && s.kind == FINITE && !is_zero(&s)) {
        static number near;
        if (!near.k->_mp_alloc)
            mpz_init(near.k);
        number_copy(&near, &s);
        const long digits = (long)inner->format.mantissa_bits + 1, have = (long)mpz_sizeinbase(s.k, 2);
        if (have > digits && inner->rounding.mode == FPEMU_MODE_RNE) { /* half a step more, a tie as it is */
            mpz_mul_2exp(near.k, near.k, 1);
            mpz_setbit(near.k, 0);
            near.e--;
            mpz_set_ui(u.k, 1);
            mpz_mul_2exp(u.k, u.k, (mp_bitcnt_t)(have - digits));
            mpz_add(near.k, near.k, u.k);
        }
        if (near.e + (long)mpz_sizeinbase(near.k, 2) - 1 < emin_of(&inner->format)) {
            d = s.negative ? -0.0 : 0.0;
            result.events = JUDGE_UNDERFLOW | JUDGE_INEXACT;
        }
    }
    count(&s, d, result.events | more);
    number_double(&s, d);
}

/* s = rounded(s + y), a multiply-add of a chain. */
static void add_step(const product_spec *g, const number *y)
{
    static number before;
    if (!before.k->_mp_alloc)
        mpz_init(before.k);
    number_copy(&before, &s);
    add(&s, y, 0);
    round_step(g, 0);
    if (before.kind == FINITE && y->kind == FINITE && s.kind == FINITE)
        tally.swamped += (compare(&s, &before) == 0 && !is_zero(y)) || (compare(&s, y) == 0 && !is_zero(&before));
}

static void chained_step(const product_spec *g, uint64_t k, uint64_t K)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    const uint64_t ways = sum->ways ? sum->ways : 1;
    static number chain[8], start;
    for (uint64_t i = 0; i < 8 && !chain[i].k->_mp_alloc; i++)
        mpz_init(chain[i].k);
    if (!start.k->_mp_alloc)
        mpz_init(start.k);
    number_copy(&start, &s);
    for (uint64_t way = 0; way < ways; way++) {
        if (way || sum->late)
            number_double(&s, 0);
        for (uint64_t i = way; i < sum->block; i += ways)
            if (product_at(sum, k, i) < K)
                add_step(g, &p[product_at(sum, k, i)]);
        number_copy(&chain[way], &s);
    }
    for (uint64_t gap = 1; gap < ways; gap *= 2)
        for (uint64_t i = 0; i < ways; i += 2 * gap) {
            number_copy(&s, &chain[i]);
            add_step(g, &chain[i + gap]);
            number_copy(&chain[i], &s);
        }
    number_copy(&s, &chain[0]);
    if (sum->late)
        add_step(g, &start);
}

/* Steps 3 to 6 where d joins late, toward minus infinity; whether bits were lost. */
static int add_late(const fpemu_accumulator *sum, summand *t, int n, int has_d)
{
    const long f = (long)sum->fraction_bits, L = sum->late, emin = emin_of(&sum->inner.format);
    long E[2] = {LONG_MIN, LONG_MIN};
    int cut = 0;
    for (int i = 0; i < n - has_d; i++)
        E[t[i].chain] = t[i].e > E[t[i].chain] ? t[i].e : E[t[i].chain];
    const long E1 = E[0] > E[1] ? E[0] : E[1], d = has_d ? t[n - 1].e : emin, E2 = E1 > d ? E1 : d;
    number_double(&s, 0);
    for (uint64_t way = 0; way < 2; way++) {
        number_double(&v, 0);
        for (int i = 0; i < n - has_d; i++)
            if (t[i].chain == way) {
                cut |= cut_to(&t[i].x, E[way] - f, 0);
                tally.swamped += mpz_sgn(t[i].x.k) == 0;
                add(&v, &t[i].x, 0);
            }
        cut |= !is_zero(&v) && cut_to(&v, E1 - f, 1);
        add(&s, &v, 0);
    }
    const long last = E2 > emin ? E2 : emin;
    cut |= !is_zero(&s) && cut_to(&s, last - L - 1, 1);
    if (has_d) {
        number *const old = &t[n - 1].x;
        if (sum->ways == 2 && d < last - f - 1)
            mpz_set_ui(old->k, 0), cut = 1;
        cut |= cut_to(old, last - f, 1);
        tally.swamped += mpz_sgn(old->k) == 0;
        add(&s, old, 0);
    }
    if (is_zero(&s))
        return cut;
    const long top = s.e + (long)mpz_sizeinbase(s.k, 2) - 1;
    return cut | cut_to(&s, (top > emin ? top : emin) - L, 1);
}

/* Section 2.5: one step, from s and the products from k on; s is a number of `inner`. */
static void fused_step(const product_spec *g, const double *x, const double *y, uint64_t k, uint64_t K)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    int n, cut = 0;
    summand *const t = summands_at(g, x, y, k, K, &n);
    const int has_d = !is_zero(&s);
    long E = sum->least_exponent == FPEMU_NO_FLOOR ? -100000 : sum->least_exponent;
    number_double(&u, 0);
    int special = 0;
    for (int i = 0; i < n; i++) {
        special |= t[i].x.kind != FINITE;
        if (t[i].x.kind != FINITE)
            add(&u, &t[i].x, 0);
        E = t[i].e > E ? t[i].e : E;
    }
    if (special) {
        number_copy(&s, &u);
        count(&s, 0, 0);
        s.invalid = 0;
        return;
    }
    if (sum->late) {
        cut = add_late(sum, t, n, has_d);
    } else {
        number_double(&s, 0);
        for (int i = 0; i < n; i++) {
            if (sum->fraction_bits <= 40 && !is_zero(&t[i].x)) { /* a group may cancel */
                cut |= cut_to(&t[i].x, E - (long)sum->fraction_bits, 0);
                tally.swamped += (uint64_t)is_zero(&t[i].x);
            }
            add(&s, &t[i].x, 0);
        }
    }
    s.negative &= !is_zero(&s);
    round_step(g, cut ? JUDGE_INEXACT : 0);
    if (!sum->late && sum->fraction_bits <= 40 && is_zero(&s))
        s.negative = 0;
}

static uint64_t add_fused(const product_spec *g, const double *x, const double *y, uint64_t K, uint64_t i)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    uint64_t t = 0;
    static number outer;
    if (!outer.k->_mp_alloc)
        mpz_init(outer.k);
    if (sum->chunk && !sum->group) {
        number_copy(&outer, &s);
        number_double(&s, 0);
    }
    const uint64_t period = sum->order == FPEMU_PRODUCTS_BY_FOURS ? 2 * sum->block : sum->block;
    const uint64_t end = (K + period - 1) / period * period;
    for (uint64_t k = 0; k < end; k += sum->block) {
        if (sum->fraction_bits == FPEMU_SUM_CHAINED)
            chained_step(g, k, K);
        else
            fused_step(g, x, y, k, K);
        const uint64_t done = k + sum->block;
        if (!sum->group && sum->chunk && (done % sum->chunk == 0 || done == end)) {
            scale_chunk(&s, t);
            add_rounded(&g->outer, &outer, &s, t++, i, 1);
            number_double(&s, 0);
        }
    }
    if (sum->chunk && !sum->group)
        number_copy(&s, &outer);
    return t;
}

static long step_of(const fpemu_format *f)
{
    int e;
    if (f->kind == FPEMU_KIND_FIXED)
        return -f->fraction_bits;
    frexp(f->scale, &e);
    return e - 1;
}

/* Section 2.6. */
static void add_integers(const product_spec *g, const double *x, const double *y, uint64_t K)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    const long qa = step_of(&g->spec->a.format), qb = step_of(&g->spec->b.format);
    static mpz_t S, high, low, before, term;
    int nan = 0;
    if (!S->_mp_alloc)
        mpz_inits(S, high, low, before, term, (mpz_ptr)NULL);
    mpz_set_ui(S, 0);
    mpz_set_ui(high, 1);
    mpz_mul_2exp(high, high, sum->width - 1);
    mpz_neg(low, high);
    mpz_sub_ui(high, high, 1);
    for (uint64_t k = 0; k < K; k++) {
        nan |= isnan(x[k]) || isnan(y[k]);
        if (nan) {
            make_nan(&u, 0);
            count(&u, NAN, 0);
            continue;
        }
        mpz_set(before, S);
        mpz_set_d(term, ldexp(x[k], (int)-qa));
        mpz_set_d(u.k, ldexp(y[k], (int)-qb));
        mpz_mul(term, term, u.k);
        mpz_add(S, S, term);
        u.kind = FINITE;
        u.negative = mpz_sgn(S) < 0;
        mpz_abs(u.k, S);
        u.e = qa + qb;
        const int over = mpz_cmp(S, high) > 0 || mpz_cmp(S, low) < 0;
        if (over && sum->wrap) {
            mpz_fdiv_r_2exp(S, S, sum->width);
            if (mpz_cmp(S, high) > 0) {
                mpz_set_ui(v.k, 1);
                mpz_mul_2exp(v.k, v.k, sum->width);
                mpz_sub(S, S, v.k);
            }
        } else if (over) {
            mpz_set(S, mpz_sgn(S) < 0 ? low : high);
        }
        v.kind = FINITE;
        v.negative = mpz_sgn(S) < 0;
        mpz_abs(v.k, S);
        v.e = qa + qb;
        const double y_near = nearest_double(&v);
        uint32_t events = over ? JUDGE_CLIPPED | JUDGE_OVERFLOW : 0;
        if (compare(&u, &v) != 0)
            events |= JUDGE_INEXACT;
        if (!is_zero(&u) && is_zero(&v))
            events |= JUDGE_UNDERFLOW;
        count(&u, y_near, events);
        tally.swamped += (mpz_cmp(S, before) == 0 && mpz_sgn(term) != 0) || (mpz_cmp(S, term) == 0 && mpz_sgn(before));
    }
    if (nan) {
        make_nan(&s, 0);
        return;
    }
    s.kind = FINITE;
    s.negative = mpz_sgn(S) < 0;
    mpz_abs(s.k, S);
    s.e = qa + qb;
}

/* One output: x, y the K operands as they are after their own rounding, c what stood there. Bits of the carrier. */
static double one_output(const product_spec *g, double alpha, double beta, const double *x, const double *y, uint64_t K,
                         double c, uint64_t i)
{
    const fpemu_accumulator *sum = &g->spec->sum;
    const int from_c = g->spec->start_from_c;
    const uint64_t P = g->product.given ? 1 : 0;
    uint64_t T;
    fpemu_target plain = {0};
    target start;
    number_double(&s, 0);
    if (from_c) {
        if (sum->model == FPEMU_MODEL_CHUNKED || (sum->model == FPEMU_MODEL_FUSED && sum->chunk && !sum->group))
            plain.format = sum->outer.format;
        else if (sum->model == FPEMU_MODEL_FUSED)
            fpemu_format_named(FPEMU_NAME_BINARY32, &plain.format);
        else
            plain.format = sum->inner.format;
        target_open(&start, &plain, 64, 0);
        number_double(&s, c);
        number_double(&s, carrier_value(64, judge_number(start.j, start.carrier, &s, 0).bits));
        target_close(&start);
        if (sum->flush && s.kind == FINITE && fabs(nearest_double(&s)) < ldexp(1, (int)emin_of(&sum->inner.format)))
            number_double(&s, s.negative ? -0.0 : 0);
    }
    if (alpha != 0) {
        for (uint64_t k = 0; k < K; k++) {
            number_double(&p[k], x[k]);
            number_double(&u, y[k]);
            multiply(&p[k], &u);
        }
        if (sum->model == FPEMU_MODEL_FUSED) {
            T = add_fused(g, x, y, K, i);
        } else if (sum->model == FPEMU_MODEL_INTEGER) {
            add_integers(g, x, y, K);
            T = 0;
        } else {
            T = add_up(g, K, i, from_c);
        }
    } else { /* numbers of roundings that do not happen */
        switch (sum->model) {
        case FPEMU_MODEL_SEQUENTIAL: T = K * (P + 1); break;
        case FPEMU_MODEL_CHUNKED: T = K * (P + 1) + (K + sum->chunk - 1) / sum->chunk; break;
        case FPEMU_MODEL_PAIRWISE: T = K ? P * K + (K > 1 ? K - 1 : 1) : 0; break;
        case FPEMU_MODEL_KAHAN: T = K * (P + 4); break;
        case FPEMU_MODEL_FUSED: T = sum->chunk && !sum->group ? (K + sum->chunk - 1) / sum->chunk : 0; break;
        default: T = 0;
        }
    }
    s.e += left_out;
    if (!from_c) {
        const int down = rounds_down(&g->out);
        number_double(&u, alpha);
        number_double(&v, beta);
        number_double(&w, c);
        multiply(&v, &w);
        if (alpha == 0 && beta == 0)
            number_double(&s, 0);
        else if (alpha == 0)
            number_copy(&s, &v);
        else {
            if (alpha != 1)
                multiply(&s, &u);
            if (beta != 0)
                add(&s, &v, down);
        }
    }
    if (g->out.given) {
        round_number(&g->out, &s, T, i);
        return nearest_double(&s);
    }
    memset(&plain, 0, sizeof plain);
    fpemu_format_named(g->carrier == 32 ? FPEMU_NAME_BINARY32 : FPEMU_NAME_BINARY64, &plain.format);
    target_open(&start, &plain, g->carrier, 0);
    const double y_out = carrier_value(g->carrier, judge_number(start.j, start.carrier, &s, 0).bits);
    target_close(&start);
    return y_out;
}

/* ------------------------------------------------------------------------------------------ whole products */

enum { MOST = 40000 };

typedef struct matrices {
    uint64_t m, n, k;
    double a[MOST], b[MOST], c[MOST]; /* plain: row-major, nothing between rows; numbers of the carrier */
    double want[MOST];
    int scaled; /* 1: scales of a, 2: of b, 3: both; [row of a, column of b][chunk] */
    double scales_a[MOST], scales_b[MOST];
} matrices;

static uint64_t chunks_of(const fpemu_gemm_spec *spec, const matrices *x)
{
    return spec->sum.chunk ? (x->k + spec->sum.chunk - 1) / spec->sum.chunk : 0;
}

static void open_product(product_spec *g, const fpemu_gemm_spec *spec, unsigned carrier)
{
    g->spec = spec;
    g->carrier = carrier;
    target_open(&g->product, &spec->product, 64, 1);
    target_open(&g->inner, &spec->sum.inner, 64, 1);
    target_open(&g->outer, &spec->sum.outer, 64, 1);
    target_open(&g->out, &spec->out, carrier, 1);
}

static void close_product(product_spec *g)
{
    target_close(&g->product);
    target_close(&g->inner);
    target_close(&g->outer);
    target_close(&g->out);
}

static double round_operand(const target *to, double x, uint64_t index)
{
    if (!to->given)
        return x;
    number_double(&u, x);
    const uint32_t random = random_of(&to->t->rounding, to->t->rounding.stream, index);
    return carrier_value(to->carrier, judge_number(to->j, to->carrier, &u, random).bits);
}

/* Section 2.8: which pieces each product takes, by the names of the rule. */
static const struct split_rule {
    int pieces, terms;
    const char *term; /* piece of x, piece of y, ... */
} split_rules[] = {{1, 1, "00"},
                   {2, 3, "01 10 00"},
                   {3, 6, "02 11 20 01 10 00"},
                   {3, 9, "22 12 21 02 11 20 01 10 00"},
                   {2, 3, "10 01 00"}};

/* Integer slice number `piece` of x below 2^top. */
static double slice_of(double x, long top, unsigned piece, unsigned bits)
{
    int e;
    static mpz_t q;
    if (!q->_mp_alloc)
        mpz_init(q);
    if (!isfinite(x))
        return NAN;
    mpz_set_d(q, ldexp(fabs(frexp(x, &e)), 53));
    const long up = e - 53 - top + (long)((piece + 1) * bits);
    if (up >= 0)
        mpz_mul_2exp(q, q, (mp_bitcnt_t)up);
    else
        mpz_tdiv_q_2exp(q, q, (mp_bitcnt_t)-up);
    mpz_fdiv_r_2exp(q, q, bits);
    return ldexp(x < 0 ? -mpz_get_d(q) : mpz_get_d(q), -(int)((piece + 1) * bits));
}

static double piece_of(const target *to, double x, int piece)
{
    double part = round_operand(to, x, 0);
    for (; piece > 0; piece--) {
        x -= part;
        part = round_operand(to, x, 0);
    }
    return part;
}

/* The exponent below which all finite ones of K numbers lie. */
static long top_of(const double *x, uint64_t K)
{
    long top = LONG_MIN;
    for (uint64_t k = 0; k < K; k++)
        if (isfinite(x[k]) && x[k] != 0 && ilogb(x[k]) + 1 > top)
            top = ilogb(x[k]) + 1;
    return top == LONG_MIN ? 0 : top;
}

/* In place of K operands each those whose products are added; how many. */
static uint64_t split(const fpemu_gemm_spec *spec, const target *a, const target *b, double *x, double *y, uint64_t K)
{
    static double from_x[LONGEST], from_y[LONGEST];
    const uint64_t block = spec->split_block ? spec->split_block : K;
    const struct split_rule *rule = &split_rules[spec->splits % FPEMU_SPLITS_INT8];
    uint64_t n = 0;
    memcpy(from_x, x, K * sizeof *x);
    memcpy(from_y, y, K * sizeof *y);
    if (spec->splits == FPEMU_SPLITS_INT8) {
        const unsigned bits = K <= 1 << 17 ? 7 : 0;
        const long top_x = top_of(x, K), top_y = top_of(y, K);
        left_out = top_x + top_y;
        for (unsigned sum = 0; sum < spec->slices; sum++)
            for (unsigned i = 0; i <= sum; i++)
                for (uint64_t k = 0; k < K; k++, n++) {
                    x[n] = slice_of(from_x[k], top_x, i, bits);
                    y[n] = slice_of(from_y[k], top_y, sum - i, bits);
                }
        return n;
    }
    for (uint64_t first = 0; first < K; first += block)
        for (int t = 0; t < rule->terms; t++)
            for (uint64_t k = first; k < K && k < first + block; k++, n++) {
                x[n] = piece_of(a, from_x[k], rule->term[3 * t] - '0');
                y[n] = piece_of(b, from_y[k], rule->term[3 * t + 1] - '0');
            }
    return n;
}

/* Fills want and the tally. */
static void judge_product(const fpemu_gemm_spec *spec, unsigned carrier, double alpha, double beta, matrices *x)
{
    static double row[LONGEST], column[LONGEST];
    static fpemu_gemm_spec sliced;
    product_spec g;
    target a, b;
    left_out = 0;
    if (spec->splits == FPEMU_SPLITS_INT8) {
        sliced = *spec;
        sliced.sum.model = FPEMU_MODEL_CHUNKED;
        sliced.sum.chunk = (uint32_t)x->k;
        sliced.sum.outer = spec->sum.inner;
        memset(&sliced.sum.inner, 0, sizeof sliced.sum.inner);
        fpemu_format_named(FPEMU_NAME_BINARY64, &sliced.sum.inner.format);
    }
    open_product(&g, spec->splits == FPEMU_SPLITS_INT8 && x->k ? &sliced : spec, carrier);
    target_open(&a, &spec->a, carrier, 0);
    target_open(&b, &spec->b, carrier, 0);
    memset(&tally, 0, sizeof tally);
    for (uint64_t i = 0; i < x->m; i++)
        for (uint64_t j = 0; j < x->n; j++) {
            for (uint64_t k = 0; k < x->k && alpha != 0; k++) {
                const double p = x->a[i * x->k + k], q = x->b[k * x->n + j];
                row[k] = spec->splits % FPEMU_SPLITS_INT8 ? p : round_operand(&a, p, i * x->k + k);
                column[k] = spec->splits % FPEMU_SPLITS_INT8 ? q : round_operand(&b, q, k * x->n + j);
            }
            const uint64_t products = spec->splits ? split(spec, &a, &b, row, column, x->k) : x->k;
            row_scales = x->scaled & 1 ? x->scales_a + i * chunks_of(spec, x) : NULL;
            column_scales = x->scaled & 2 ? x->scales_b + j * chunks_of(spec, x) : NULL;
            x->want[i * x->n + j] =
                one_output(&g, alpha, beta, row, column, products, x->c[i * x->n + j], i * x->n + j);
        }
    target_close(&a);
    target_close(&b);
    close_product(&g);
}

static void check_counts(const char *text, unsigned carrier, const matrices *x, const fpemu_stats *got)
{
    const char *const other = other_counts(got, &tally);
    lh_check(!other, "%s f%u %" PRIu64 "x%" PRIu64 "x%" PRIu64 ": %s", text, carrier, x->m, x->n, x->k, other);
}

static uint64_t state = 20260704;

static unsigned pick(unsigned n)
{
    return (unsigned)(lh_next(&state) >> 33) % n;
}

/* How the arrays lie: everything that must not matter. */
typedef struct lying {
    int columns, transpose_a, transpose_b;
    uint64_t pad_a, pad_b, pad_c;
} lying;

static size_t place(const lying *l, int transposed, uint64_t pad, uint64_t rows, uint64_t columns, uint64_t i,
                    uint64_t j)
{
    const uint64_t r = transposed ? j : i, c = transposed ? i : j;
    const uint64_t height = transposed ? columns : rows, width = transposed ? rows : columns;
    return (size_t)(l->columns ? c * (height + pad) + r : r * (width + pad) + c);
}

static void store(double *array, unsigned carrier, size_t i, double x)
{
    if (carrier == 32)
        ((float *)array)[i] = (float)x;
    else
        array[i] = x;
}

static double load(const double *array, unsigned carrier, size_t i)
{
    return carrier == 32 ? (double)((const float *)array)[i] : array[i];
}

/* Runs the library on one product in one way of lying, and compares. */
static void run(const char *text, const fpemu_gemm_spec *spec, unsigned carrier, double alpha, double beta,
                const matrices *x, const lying *l, int counted)
{
    static double a[2 * MOST], b[2 * MOST], c[2 * MOST], scales[2][MOST]; /* numbers of the carrier */
    const fpemu_gemm_shape shape = {.m = x->m,
                                    .n = x->n,
                                    .k = x->k,
                                    .order = l->columns ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR,
                                    .transpose_a = (uint8_t)l->transpose_a,
                                    .transpose_b = (uint8_t)l->transpose_b,
                                    .lda = (l->columns == l->transpose_a ? x->k : x->m) + l->pad_a,
                                    .ldb = (l->columns == l->transpose_b ? x->n : x->k) + l->pad_b,
                                    .ldc = (l->columns ? x->m : x->n) + l->pad_c};
    fpemu_stats stats = {0};
    for (size_t i = 0; i < 2 * MOST; i++) {
        store(a, carrier, i, -77);
        store(b, carrier, i, -77);
        store(c, carrier, i, -77);
    }
    for (uint64_t i = 0; i < x->m; i++)
        for (uint64_t k = 0; k < x->k; k++)
            store(a, carrier, place(l, l->transpose_a, l->pad_a, x->m, x->k, i, k), x->a[i * x->k + k]);
    for (uint64_t k = 0; k < x->k; k++)
        for (uint64_t j = 0; j < x->n; j++)
            store(b, carrier, place(l, l->transpose_b, l->pad_b, x->k, x->n, k, j), x->b[k * x->n + j]);
    for (uint64_t i = 0; i < x->m; i++)
        for (uint64_t j = 0; j < x->n; j++)
            store(c, carrier, place(l, 0, l->pad_c, x->m, x->n, i, j), x->c[i * x->n + j]);
    for (uint64_t i = 0; i < x->m * chunks_of(spec, x); i++)
        store(scales[0], carrier, i, x->scales_a[i]);
    for (uint64_t i = 0; i < x->n * chunks_of(spec, x); i++)
        store(scales[1], carrier, i, x->scales_b[i]);
    const fpemu_status status = fpemu_gemm_scaled(spec, &shape, carrier, alpha, a, x->scaled & 1 ? scales[0] : NULL, b,
                                                  x->scaled & 2 ? scales[1] : NULL, beta, c, counted ? &stats : NULL);
    if (!lh_check(status == FPEMU_OK, "%s f%u: status %d", text, carrier, (int)status))
        return;
    for (uint64_t i = 0; i < x->m; i++)
        for (uint64_t j = 0; j < x->n; j++) {
            const size_t q = place(l, 0, l->pad_c, x->m, x->n, i, j);
            const double want = x->want[i * x->n + j], got = load(c, carrier, q);
            lh_check(carrier == 32 ? lh_same_f32((float)got, want) : lh_same_f64(got, want),
                     "%s f%u alpha=%a beta=%a %" PRIu64 "x%" PRIu64 "x%" PRIu64 " output (%" PRIu64 ",%" PRIu64
                     "): library %a, judge %a",
                     text, carrier, alpha, beta, x->m, x->n, x->k, i, j, got, want);
            store(c, carrier, q, -77);
        }
    int untouched = 1;
    for (size_t i = 0; i < 2 * MOST; i++)
        untouched &= load(c, carrier, i) == -77;
    lh_check(untouched, "%s f%u: wrote between the rows of c", text, carrier);
    if (counted)
        check_counts(text, carrier, x, &stats);
}

/* Numbers of many kinds; `kind` says what the data are like. */
static double random_number(unsigned kind, unsigned carrier)
{
    const uint64_t r = lh_next(&state);
    const double sign = r & 1 ? -1 : 1, unit = (double)(r >> 12) / 4503599627370496.0; /* [0, 1) */
    double x;
    switch (kind) {
    case 0: x = sign * unit; break;
    case 1: x = sign * ldexp(1 + unit, (int)pick(24) - 12); break;
    case 2: x = sign * (double)pick(16); break;
    case 3: x = sign * ldexp(1 + (double)pick(8) / 8, (int)pick(40) - 30); break;
    case 4: x = sign * ldexp(1 + unit, (int)pick(carrier == 32 ? 250 : 2000) - (carrier == 32 ? 125 : 1000)); break;
    case 5: x = sign * ldexp(1 + (double)pick(4) / 4, 5 + (int)pick(12)); break;
    default:
        switch (pick(12)) {
        case 0: x = NAN; break;
        case 1: x = sign * INFINITY; break;
        case 2: x = sign * 0.0; break;
        default: x = sign * ldexp(1 + unit, (int)pick(10) - 5);
        }
    }
    return carrier == 32 ? (double)(float)x : x;
}

enum { KINDS = 7 };

static void fill(matrices *x, unsigned kind, unsigned carrier)
{
    for (uint64_t i = 0; i < x->m * x->k; i++)
        x->a[i] = random_number(kind == 6 && pick(3) ? 1 : kind, carrier);
    for (uint64_t i = 0; i < x->k * x->n; i++)
        x->b[i] = random_number(kind == 6 && pick(3) ? 1 : kind, carrier);
    for (uint64_t i = 0; i < x->m * x->n; i++)
        x->c[i] = random_number(pick(2) ? kind : 1, carrier);
    if (kind == 0 && x->k > 1 && pick(2)) /* sums that cancel */
        for (uint64_t i = 0; i < x->m; i++)
            for (uint64_t k = 1; k < x->k; k += 2)
                x->a[i * x->k + k] = -x->a[i * x->k + k - 1];
    if (kind == 0 && x->k > 1 && pick(2))
        for (uint64_t k = 1; k < x->k; k += 2)
            for (uint64_t j = 0; j < x->n; j++)
                x->b[k * x->n + j] = x->b[(k - 1) * x->n + j];
}

/* Scales: E8M0, E4M3, any number; now and then none, a tiny, an infinite one or a NaN. */
static void draw_scales(double *scales, uint64_t n, unsigned kind)
{
    for (uint64_t i = 0; i < n; i++) {
        const double unit = (double)(lh_next(&state) >> 12) / 4503599627370496.0;
        switch (kind) {
        case 0: scales[i] = ldexp(1, (int)pick(13) - 6); break;
        case 1: scales[i] = ldexp(1 + (double)pick(8) / 8, (int)pick(15) - 6); break;
        case 2: scales[i] = (double)(float)(unit - 0.25); break;
        default: scales[i] = pick(4) ? 1 : ldexp(1, (int)pick(254) - 127); break;
        }
        if (kind == 3 && pick(9) == 0)
            scales[i] = pick(3) == 0 ? 0 : pick(2) ? INFINITY : NAN;
    }
}

static matrices x;

static void draw_lying(lying *l)
{
    l->columns = (int)pick(2);
    l->transpose_a = (int)pick(2);
    l->transpose_b = (int)pick(2);
    l->pad_a = pick(3);
    l->pad_b = pick(3);
    l->pad_c = pick(3);
}

static const uint64_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 255};

/* One spec text, with seeds, random bits, sizes and numbers of many kinds. */
static void try_spec(const char *text, unsigned rounds)
{
    fpemu_gemm_spec spec;
    fpemu_parse_error error;
    char printed[1024];
    const fpemu_status status = fpemu_gemm_parse(text, &spec, &error);
    if (!lh_check(status == FPEMU_OK, "%s: %s", text, error.message))
        return;
    lh_check(fpemu_gemm_print(&spec, printed, sizeof printed) == FPEMU_OK, "%s: not printed", text);
    fpemu_gemm_spec again;
    lh_check(fpemu_gemm_parse(printed, &again, NULL) == FPEMU_OK && memcmp(&again, &spec, sizeof spec) == 0,
             "%s: printed as %s, which reads differently", text, printed);
    fpemu_target *const targets[] = {&spec.a, &spec.b, &spec.product, &spec.out, &spec.sum.inner, &spec.sum.outer};
    for (size_t i = 0; i < 6; i++)
        if (FPEMU_MODE_DRAWS(targets[i]->rounding.mode)) {
            targets[i]->rounding.seed = 11 + i;
            targets[i]->rounding.stream = 5 * i;
            targets[i]->rounding.offset = i & 1 ? 0 : 1000 * i;
        }
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned carrier = 32; carrier <= 64; carrier += 32) {
            const double scalars[] = {1, 0, -1, 0.5, 3, 1.1, NAN};
            double alpha = 1, beta = 0;
            lying l;
            if (!lh_check(fpemu_gemm_check(&spec, (int)carrier, NULL) == FPEMU_OK, "%s: refused on %u bits", text,
                          carrier))
                continue;
            if (FPEMU_MODE_DRAWS(spec.sum.inner.rounding.mode) && round % 3) {
                spec.sum.inner.rounding.bits = (uint8_t)(round % 3 == 1 ? 8 : 13);
                spec.sum.inner.rounding.variant = (uint8_t)(round % 3);
                spec.sum.inner.rounding.generator = (uint8_t)(round / 3 % 2);
            }
            x.m = 1 + (round % 8 == 6 ? 63 + pick(5) : pick(4)); /* lanes may run along many rows */
            x.n = 1 + (round % 4 == 3 ? pick(40) : pick(5));
            x.k = lengths[pick(sizeof lengths / sizeof *lengths)];
            if (x.n + x.m > 12 && x.k > 40)
                x.k = 40;
            if (spec.splits && x.k > 40)
                x.k -= x.k > 200 ? 215 : x.k - 40;
            if (spec.start_from_c) {
                beta = 1;
            } else if (round % 3 == 2) {
                alpha = scalars[pick(6)];
                beta = scalars[pick(7)];
            }
            if (carrier == 32) {
                alpha = (double)(float)alpha;
                beta = (double)(float)beta;
            }
            fill(&x, round % KINDS, carrier);
            x.scaled = spec.sum.chunk && !spec.splits && round % 2 ? 1 + (int)pick(3) : 0;
            if (x.scaled) {
                const unsigned inside = spec.sum.group, kind = pick(4); /* scales inside are numbers of their format */
                draw_scales(x.scales_a, x.m * chunks_of(&spec, &x), inside ? 0 : kind);
                draw_scales(x.scales_b, x.n * chunks_of(&spec, &x), inside ? 0 : pick(4));
                x.scales_a[0] = inside && pick(8) == 0 ? NAN : x.scales_a[0];
            }
            judge_product(&spec, carrier, alpha, beta, &x);
            draw_lying(&l);
            run(text, &spec, carrier, alpha, beta, &x, &l, round & 1);
            draw_lying(&l);
            run(text, &spec, carrier, alpha, beta, &x, &l, !(round & 1));
        }
}

/* ----------------------------------------------------------------------------- batches, vectors */

/* What a batch adds to the index of a rounding of its product number q. */
static void shift(fpemu_target *t, uint64_t by)
{
    t->rounding.offset += FPEMU_MODE_DRAWS(t->rounding.mode) ? by : 0;
}

/* Products that follow one another, one of whose arrays they share; and so do their scales, if there are chunks. */
static void check_batch(const char *text, const fpemu_gemm_spec *spec, int scaled, size_t products, size_t m, size_t n)
{
    enum { K = 37, GAP = 5, ROOM = 40 * K };
    static matrices part;
    static float a[ROOM], b[ROOM], c[ROOM], scales_a[ROOM], scales_b[ROOM];
    part.m = m;
    part.n = n;
    part.k = K;
    part.scaled = scaled && spec->sum.chunk && !spec->splits ? 3 : 0;
    const uint64_t chunks = part.scaled ? chunks_of(spec, &part) : 0;
    for (size_t i = 0; i < products * m * K; i++)
        a[i] = (float)random_number(0, 32);
    for (size_t i = 0; i < products * K * n; i++)
        b[i] = (float)random_number(0, 32);
    for (uint64_t i = 0; i < products * m * chunks; i++)
        scales_a[i] = (float)ldexp(1 + (double)pick(spec->sum.group ? 1 : 8) / 8, (int)pick(5) - 2);
    for (uint64_t i = 0; i < products * n * chunks; i++)
        scales_b[i] = (float)ldexp(1, (int)pick(5) - 2);
    for (int shared = 0; shared < 3; shared++) { /* b, a, none */
        const uint64_t stride_a = shared == 1 ? 0 : m * K, stride_b = shared == 0 ? 0 : K * n, stride_c = m * n + GAP;
        const fpemu_gemm_shape shape = LIST(.m = m, .n = n, .k = K, .batch = products, .stride_a = stride_a,
                                            .stride_b = stride_b, .stride_c = stride_c);
        const int beta = spec->start_from_c;
        for (size_t i = 0; i < products * stride_c; i++)
            c[i] = i % stride_c < m * n ? 0.5f : -77;
        lh_check(fpemu_gemm_scaled_f32(spec, &shape, 1, a, chunks ? scales_a : NULL, b, chunks ? scales_b : NULL,
                                       (float)beta, c, NULL) == FPEMU_OK,
                 "%s: batch refused", text);
        for (uint64_t q = 0; q < products; q++) {
            const uint64_t qa = stride_a ? q : 0, qb = stride_b ? q : 0;
            fpemu_gemm_spec shifted = *spec;
            shift(&shifted.a, qa * m * K);
            shift(&shifted.b, qb * K * n);
            shift(&shifted.product, q * m * n);
            shift(&shifted.sum.inner, q * m * n);
            shift(&shifted.sum.outer, q * m * n);
            shift(&shifted.out, q * m * n);
            for (size_t i = 0; i < m * K; i++)
                part.a[i] = (double)a[qa * m * K + i];
            for (size_t i = 0; i < K * n; i++)
                part.b[i] = (double)b[qb * K * n + i];
            for (size_t i = 0; i < m * chunks; i++)
                part.scales_a[i] = (double)scales_a[qa * m * chunks + i];
            for (size_t i = 0; i < n * chunks; i++)
                part.scales_b[i] = (double)scales_b[qb * n * chunks + i];
            for (size_t i = 0; i < m * n; i++)
                part.c[i] = 0.5;
            judge_product(&shifted, 32, 1, beta, &part);
            for (size_t i = 0; i < stride_c; i++)
                lh_check(lh_same_f32(c[q * stride_c + i], i < m * n ? part.want[i] : -77),
                         "%s: batch %" PRIu64 " output %zu: library %a, judge %a", text, q, i,
                         (double)c[q * stride_c + i], part.want[i]);
        }
    }
}

/* Batches, gemv and dot give what one plain product gives, with the indices of their definition. Numbers below 1, of
 * which no format makes a NaN. */
static void check_calls(const char *text)
{
    enum { M = 3, K = 37, PAD = 2 };
    static matrices part;
    fpemu_gemm_spec spec;
    if (!lh_check(fpemu_gemm_parse(text, &spec, NULL) == FPEMU_OK, "%s: not read", text))
        return;
    if (FPEMU_MODE_DRAWS(spec.sum.inner.rounding.mode))
        spec.sum.inner.rounding.seed = 99;
    if (spec.out.format.kind)
        spec.out.rounding.seed = 98;
    check_batch(text, &spec, 1, 3, 3, 4);
    check_batch(text, &spec, 0, 40, 1, 1); /* dot products */
    for (size_t i = 0; i < M * K; i++)
        part.a[i] = random_number(0, 32);
    for (size_t k = 0; k < K; k++)
        part.b[k] = random_number(0, 32);
    /* A x with A of M x K, in both layouts, forwards and backwards; the transpose; in both carriers, and of one row */
    for (int way = 0; way < 32; way++) {
        const unsigned carrier = way & 16 ? 64 : 32;
        const int columns = way & 1, backward = way >> 1 & 1, transpose = way >> 2 & 1, dot = way >> 3 & 1;
        static double x[2 * K], y[2 * M], plain[(M + PAD) * (K + PAD)]; /* numbers of the carrier */
        const lying l = {.columns = columns};
        const size_t rows = transpose ? K : M, ld = (columns ? rows : M + K - rows) + PAD;
        const double beta = spec.start_from_c ? 1 : dot ? 0 : 2;
        fpemu_stats stats = {0};
        part.m = dot ? 1 : M;
        part.n = 1;
        part.k = K;
        for (size_t i = 0; i < part.m; i++) {
            for (size_t k = 0; k < K; k++) /* the array holds op(A) or its transpose, by rows or by columns */
                store(plain, carrier, dot ? k : place(&l, transpose, PAD, M, K, i, k), part.a[i * K + k]);
            part.c[i] = 0.25 * (double)i;
            store(y, carrier, 2 * (backward ? part.m - 1 - i : i), part.c[i]);
        }
        for (size_t k = 0; k < K; k++)
            store(x, carrier, 2 * (backward ? K - 1 - k : k), part.b[k]);
        judge_product(&spec, carrier, 1, beta, &part);
        const int64_t step = backward ? -2 : 2;
        const fpemu_order order = columns ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
        fpemu_prepared_gemm made, kept;
        double alone = y[0];
        if (dot) { /* the same by itself: uncounted, prepared, moved */
            lh_check(!fpemu_prepare_gemm(&made, &spec, carrier, NULL), "%s: not prepared", text);
            kept = made;
            memset(&made, 255, sizeof made);
            lh_check(!fpemu_run_dot(&kept, K, plain, 1, x, step, &alone, NULL), "%s: not run", text);
        }
        const fpemu_status status = dot ? fpemu_dot(&spec, K, carrier, plain, 1, x, step, y, &stats)
                                        : fpemu_gemv(&spec, order, transpose, rows, M + K - rows, carrier, 1, plain, ld,
                                                     x, step, beta, y, step, &stats);
        lh_check(status == FPEMU_OK, "%s: refused (way %d)", text, way);
        for (size_t i = 0; i < part.m; i++) {
            const double got = load(y, carrier, 2 * (backward ? part.m - 1 - i : i));
            lh_check(carrier == 32 ? lh_same_f32((float)got, part.want[i]) : lh_same_f64(got, part.want[i]),
                     "%s: way %d output %zu: library %a, judge %a", text, way, i, got, part.want[i]);
        }
        lh_check(!dot || memcmp(&alone, y, carrier / 8) == 0, "%s: way %d: another result alone", text, way);
        check_counts(text, carrier, &part, &stats);
    }
}

/* --------------------------------------------------------------------------- tensor cores, as observed */

static double tensor_core(const char *text, size_t n, const double *a, const double *b, double c)
{
    fpemu_gemm_spec spec;
    float left[64], right[64], result = (float)c;
    for (size_t i = 0; i < n; i++) {
        left[i] = (float)a[i];
        right[i] = (float)b[i];
    }
    lh_check(fpemu_gemm_parse(text, &spec, NULL) == FPEMU_OK, "%s: not read", text);
    lh_check(fpemu_dot_f32(&spec, n, left, 1, right, 1, &result, NULL) == FPEMU_OK, "%s: refused", text);
    return (double)result;
}

/* Sums of four products and c whose outcome tells the inside (after Fasi et al. 2021); worked out by hand. */
static void check_observations(void)
{
    const double p12 = 0x1p-12, p13 = 0x1p-13, ones[4] = {1, 1, 1, 1};
    const double u24 = 0x1p-24, below = 1 - 0x1p-11, square = 1 - 0x1p-10 + 0x1p-22;
    const struct {
        const char *what;
        double a[4], b[4], c, v100, a100, h100;
    } seen[] = {
        /* a term below the last kept bit of the largest is lost by itself, though four of them would count */
        {"2^-24 four times on 1", {p12, p12, p12, p12}, {p12, p12, p12, p12}, 1, 1, 1 + 0x1p-22, 1 + 0x1p-22},
        {"2^-25 four times on 1", {p12, p12, p12, p12}, {p13, p13, p13, p13}, 1, 1, 1, 1 + 0x1p-23},
        {"2^-26 four times on 1", {p13, p13, p13, p13}, {p13, p13, p13, p13}, 1, 1, 1, 1},
        /* the result is cut, not rounded: 1 + 3 * 2^-24 */
        {"1.5 units of the last place", {1, p12, p12, p12}, {1, p12, p12, p12}, 0, 1, 1 + 0x1p-23, 1 + 0x1p-23},
        /* negative terms are cut toward zero too: 1 - 2^-26 would go down if they were floored */
        {"a small negative term", {-p13, 0, 0, 0}, {p13, 0, 0, 0}, 1, 1, 1, 1},
        /* subnormal numbers count */
        {"subnormal operands", {0x1p-24, 0, 0, 0}, {0x1p-24, 0, 0, 0}, 0, 0x1p-48, 0x1p-48, 0x1p-48},
        /* alignment is by the exponents of the factors: 1.5 * 1.5 is 2.25 with exponent 0, and carries are kept */
        {"products are not normalised", {1.5, p12, 0, 0}, {1.5, 0x1p-11, 0, 0}, 0, 2.25, 2.25, 2.25},
        {"cancellation leaves what was aligned", {1, -1, p13, 0}, {1, 1, p12, 0}, 0, 0, 0, 0x1p-25},
        /* the programs of the paper (north-numerical-computing/tensor-cores-numerical-behavior), section by section;
           what V100 and A100 gave, H100 by the model of doc/accumulation.md */
        {"A: subnormal operand", {u24, 0, 0, 0}, {4, 0, 0, 0}, 0, 4 * u24, 4 * u24, 4 * u24},
        {"A: subnormal c", {0}, {0}, 0x1p-149, 0x1p-149, 0x1p-149, 0x1p-149},
        {"A: a subnormal difference", {0x1p-14, 0, 0, 0}, {1, 0, 0, 0}, -0x1p-15, 0x1p-15, 0x1p-15, 0x1p-15},
        {"B: a product is exact", {below, 0, 0, 0}, {below, 0, 0, 0}, 0, square, square, square},
        {"B: four", {below, below, below, below}, {below, below, below, below}, 0, 4 * square, 4 * square, 4 * square},
        {"B: the largest is aligned to, first", {1, 1, 1, 1}, {1, u24, u24, u24}, u24, 1, 1 + 4 * u24, 1 + 4 * u24},
        {"B: the largest is aligned to, last", {1, 1, 1, 1}, {u24, u24, u24, 1}, u24, 1, 1 + 4 * u24, 1 + 4 * u24},
        {"B: halves, first", {1, 0.5, 0.5, 0.5}, {1, u24, u24, u24}, u24, 1, 1, 1 + 2 * u24},
        {"B: halves, last", {0.5, 0.5, 0.5, 1}, {u24, u24, u24, 1}, u24, 1, 1, 1 + 2 * u24},
        {"C: down above zero", {1, 1, 0, 0}, {2, 3 * u24, 0, 0}, 0, 2, 2, 2},
        {"C: up below zero", {1, 1, 0, 0}, {-2, -3 * u24, 0, 0}, 0, -2, -2, -2},
        {"D1: bits beyond the significand", {1, 0, 0, 0}, {1, 0, 0, 0}, u24 - 1, 2 * u24, u24, u24},
        {"D2: not normalised", {1, 1, 1, 1}, {u24, u24, u24, u24}, 1 - u24, 1 + 2 * u24, 1 + 2 * u24, 1 + 2 * u24},
        {"D3: nor after a difference", {1, 1, 0, 0}, {1, -u24, 0, 0}, u24 - 1, 2 * u24, 0, 0},
        {"D4: a small one first", {1, 1, 1, 1}, {2 * u24, 1, 1, 1}, 1 + 6 * u24, 4 + 8 * u24, 4 + 8 * u24, 4 + 8 * u24},
        {"D4: a small one last", {1, 1, 1, 1}, {1, 1, 1, 2 * u24}, 1 + 6 * u24, 4 + 8 * u24, 4 + 8 * u24, 4 + 8 * u24},
        {"D4: three bits of carry", {1, 1, 1, 1}, {1, 1.5, 1.75, 1.875}, 1.875, 8, 8, 8},
        {"D4: cut after the carry", {1, 1, 1, 1}, {1, 1, 1, 1}, 1 + 6 * u24, 5, 5, 5},
        {"D4: and below zero", {1, 1, 1, 1}, {-1, -1, -1, -1}, -1 - 6 * u24, -5, -5, -5},
        /* a larger c, a smaller sum: V100 by four of 2^-24 (D2 against the first case), A100 by this pair */
        {"D5: not monotone", {0.5, 0.5, 0.5, 0.5}, {u24, u24, u24, 3 * u24}, 1 - u24, 1, 1 + 2 * u24, 1 + 2 * u24},
        {"D5: with c = 1", {0.5, 0.5, 0.5, 0.5}, {u24, u24, u24, 3 * u24}, 1, 1, 1, 1 + 2 * u24},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        const double got[3] = {tensor_core("tc(v100,fp16); start=c", 4, seen[i].a, seen[i].b, seen[i].c),
                               tensor_core("tc(a100,fp16); start=c", 4, seen[i].a, seen[i].b, seen[i].c),
                               tensor_core("tc(h100,fp16); start=c", 4, seen[i].a, seen[i].b, seen[i].c)};
        lh_check(got[0] == seen[i].v100 && got[1] == seen[i].a100 && got[2] == seen[i].h100,
                 "%s: V100 %a (%a), A100 %a (%a), H100 %a (%a)", seen[i].what, got[0], seen[i].v100, got[1],
                 seen[i].a100, got[2], seen[i].h100);
    }
    /* results in binary16, on V100, T4 and A100 alike */
    static const char *const half_cores[] = {"tc(v100,fp16,fp16); start=c", "tc(a100,fp16,fp16); start=c",
                                             "tc(h100,fp16,fp16); start=c"};
    const struct {
        double a[2], b[2], c, want;
    } half_results[] = {
        {{u24, 0}, {4, 0}, 0, 4 * u24},       /* A: subnormal operand */
        {{0x1p-14, 0}, {0.5, 0}, 0, 0x1p-15}, /* A: subnormal result */
        {{0x1p-14, 0}, {1, 0}, -0x1p-15, 0x1p-15},
        {{below, below}, {below, 0x1p-11}, 0, below}, /* B: exact until the end */
        {{u24, u24}, {0.5, 0.25}, 0, u24},            /* C: to nearest */
    };
    for (size_t i = 0; i < sizeof half_results / sizeof *half_results; i++)
        for (size_t core = 0; core < 3; core++) {
            const double *a = half_results[i].a, *b = half_results[i].b, want = half_results[i].want;
            const double got = tensor_core(half_cores[core], 2, a, b, half_results[i].c);
            lh_check(got == want, "%s result %zu: %a, published %a", half_cores[core], i, got, want);
        }
    /* FP8 on H100 keeps 13 fraction bits: 2^-14 below 1 is lost, the double of it is not */
    const double tiny[1] = {0x1p-7}, half[1] = {0x1p-6};
    lh_check(tensor_core("tc(h100,e4m3fn); start=c", 1, tiny, tiny, 1) == 1, "H100 FP8 kept 2^-14");
    lh_check(tensor_core("tc(h100,e4m3fn); start=c", 1, tiny, half, 1) == 1 + 0x1p-13, "H100 FP8 lost 2^-13");
    lh_check(tensor_core("tc(b200,e4m3fn); start=c", 1, tiny, tiny, 1) == 1 + 0x1p-14, "B200 FP8 lost 2^-14");
    lh_check(tensor_core("tc(v100,fp16)", 4, ones, ones, 0) == 4, "ones");
}

/* Sums that meet an end only after some products, a product that does, a sum that rounds to -0, an operand with more
 * bits than half of binary64's; worked out by hand. */
static void check_ends(void)
{
    const double tiny = 0x1p-16, d50 = 0x1p-50;
    const struct {
        const char *text;
        size_t k;
        double x, y, want;
    } rows[] = {
        {"seq(float(e=4,m=6)); ab=e2m1", 15, 4, 4, 240},
        {"seq(float(e=4,m=6)); ab=e2m1", 16, 4, 4, INFINITY}, /* largest value 254; 255 and more round to infinity */
        {"seq(float(e=4,m=6)); ab=e2m1", 16, -4, 4, -INFINITY},
        {"seq(float(e=4,m=6):saturate); ab=e2m1", 16, -4, 4, -254},
        {"seq(float(e=4,m=6)); ab=e2m1; product=float(e=3,m=4)", 2, 2, 6, 24},
        {"seq(float(e=4,m=6)); ab=e2m1; product=float(e=3,m=4)", 2, 3, 6, INFINITY}, /* largest product 15.5 */
        {"seq(float(e=4,m=6)); ab=e2m1; product=float(e=3,m=4):saturate", 2, 3, 6, 31},
        {"seq(fp16); ab=e5m2", 1, -tiny, tiny, -0.0},
        {"seq(fp16); ab=e5m2", 1, tiny, tiny, 0},
        {"seq(fp16); ab=fp64", 1, 1 + 0x1p-11 - d50, 1 + d50, 1 + 0x1p-10}, /* just above a tie */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fpemu_gemm_spec spec;
        double x[16], y[16], result64 = -77;
        float x32[16], y32[16], result32 = -77;
        for (size_t l = 0; l < rows[i].k; l++) {
            x32[l] = (float)(x[l] = rows[i].x);
            y32[l] = (float)(y[l] = rows[i].y);
        }
        lh_check(fpemu_gemm_parse(rows[i].text, &spec, NULL) == FPEMU_OK, "%s: not read", rows[i].text);
        fpemu_dot_f64(&spec, rows[i].k, x, 1, y, 1, &result64, NULL);
        lh_check(lh_same_f64(result64, rows[i].want), "%s f64, row %zu: %a, not %a", rows[i].text, i, result64,
                 rows[i].want);
        if (fpemu_gemm_check(&spec, 32, NULL) != FPEMU_OK)
            continue;
        fpemu_dot_f32(&spec, rows[i].k, x32, 1, y32, 1, &result32, NULL);
        lh_check(lh_same_f32(result32, rows[i].want), "%s f32, row %zu: %a, not %a", rows[i].text, i, (double)result32,
                 rows[i].want);
    }
    /* 1025 + 1/2 - 2^-45 on all lanes of a row: binary64's nearest lies halfway between two results */
    const fpemu_gemm_shape shape = {.m = 1, .n = 32, .k = 2};
    const float a[2] = {1, 0.5F + 0x1p-23F};
    float b[2][32], c[32];
    fpemu_gemm_spec spec;
    for (int i = 0; i < 32; i++) {
        b[0][i] = 1025;
        b[1][i] = 1 - 0x1p-22F;
    }
    fpemu_gemm_parse("seq(fp16)", &spec, NULL);
    fpemu_gemm_f32(&spec, &shape, 1, a, b[0], 0, c, NULL);
    lh_check(c[0] == 1025 && c[31] == 1025, "just below a tie: %a, %a", (double)c[0], (double)c[31]);
}

static const char *const specs[] =
    LIST("fp32", "fp64", "seq(fp16)", "seq(fp(6,9,0))", "seq(bf16)", "seq(e5m2)", "seq(e4m3fn)", "seq(e2m1)",
         "seq(fp16); product=fp16", "seq(fp(6,9,0)); product=fp(6,9,0)", "seq(bf16); product=e4m3fn; ab=e5m2",
         "seq(fp32); product=fp32", "seq(fp16:saturate); product=fp16:saturate", "seq(fixed(16,8)); ab=fixed(8,4)",
         "seq(posit(16,1))", "seq(tf32)", "seq(fp(8,10,0))", "seq(e4m3fnuz)", "seq(binary8p3se)", "seq(fp16/rna)",
         "seq(fp16/rnz)", "seq(fp16/rtz)", "seq(fp16/raz)", "seq(fp16/rtp)", "seq(fp16/rtn)", "seq(fp16/rto)",
         "seq(fp16/sr)", "seq(fp16/se)", "seq(fp(6,9,0)/sr); product=fp(6,9,0)/sr",
         "seq(fp(6,9,0)/rtz); product=fp(6,9,0)/rtz; out=e5m2/sr", "seq(bf16/rtn); out=fp16/rtn", "seq(fp32/rtz)",
         "seq(fp32/sr)", "seq(fp64/rtp)", "seq(fp16:nosub)", "seq(fp16:flushout)", "seq(fp16:flushin)",
         "seq(fp16); a=e4m3fn/sr; b=e5m2/sr; out=bf16", "seq(fp32); ab=e4m3fn; out=bf16; start=c", "seq(fp16); start=c",
         "seq(fp16); ab=e4m3fn; product=fp16", "seq(fp(4,6,0)); ab=e2m1; product=fp(4,6,0)",
         "seq(fp(4,5,0):saturate); ab=e2m1", "seq(fp(5,6,0)); ab=e5m2; product=e5m2:saturate; start=c",
         "seq(fp(5,7,0):nan=signmax); ab=e5m2", "seq(fp(5,7,0):nan=max); ab=e5m2",
         "seq(fp(5,7,0):nan=zero); ab=e5m2; product=fp(4,3,0):nan=signmax",
         "seq(fp16); ab=e5m2; product=fp(4,3,0):nan=signmax", "chunk(4,fp(5,9,0):nan=signmax,fp32); ab=e5m2",
         "pairwise(fp(5,7,0):nan=signmax); ab=e5m2", "chunk(64,fp(6,9,0)); ab=e5m2", "chunk(8,fp(4,6,0)); ab=e2m1",
         "chunk(1,fp16)", "chunk(32,fp32); ab=e4m3fn", "chunk(16,fp64,fp32); ab=e2m1", "chunk(32,fp64/rtz,fp64/rtz)",
         "fused(32,25,fp32/rtz,promote=32); ab=e4m3fn", "chunk(7,fp(6,9,0),fp32); product=fp(6,9,0)",
         "chunk(16,fp16/sr,bf16/sr); product=fp16/sr; out=e4m3fn/sr", "chunk(32,fp(6,9,0)/rtn); start=c",
         "pairwise(fp16)", "pairwise(bf16/sr); product=bf16/sr; out=fp16/sr", "pairwise(fp32); start=c",
         "pairwise(e5m2/rtn)", "kahan(bf16); product=bf16", "kahan(fp16)", "kahan(fp32)",
         "kahan(e5m2/sr); product=e4m3fn/sr; out=e5m2/sr", "kahan(fp16/rtn); start=c", "tc(v100,fp16)", "tc(a100,fp16)",
         "tc(a100,bf16)", "tc(a100,tf32)", "tc(ada,e4m3fn)", "tc(ada,fp16,fp16)", "tc(ada,e4m3fn,fp16)",
         "tc(h100,fp16)", "tc(h100,bf16); start=c", "tc(h100,tf32)", "tc(h100,e4m3fn)", "tc(h100,e4m3fn,promote=128)",
         "tc(h100,e5m2,promote=64,outer=fp16/sr)", "tc(h100,fp16,fp16); start=c", "tc(h100,e5m2,fp16); start=c",
         "tc(v100,fp16,fp16)", "tc(b200,e5m2)", "tc(b200,fp16); out=bf16", "fused(3,5,e5m2/rne,least=-7); ab=e4m3fn",
         "fused(1,23,fp32/rtz); ab=e5m2", "fused(64,40,fp32/rne); ab=fp16; start=c", "int(32,saturate); ab=fixed(8,4)",
         "int(10,saturate); ab=int(8)", "int(10,wrap); ab=int(8,zero=3)", "int(12,wrap); a=ufixed(5,2); b=fixed(6,-1)",
         "int(64,saturate); ab=fixed(16,14); out=fixed(8,4)/sr", "int(2,wrap); ab=fixed(4,0)",
         "int(12,wrap); a=fixed(8,4)/sr; b=ufixed(6,2); out=fixed(10,3)/rtz", "fp64; ab=e5m2/sr; out=bf16",
         "seq(fp16/rtn); product=fp16/rtp", "seq(dlfloat16); product=dlfloat16/rna",
         "seq(fixed(16,8)); product=fixed(16,8)/rtz", "fused(5,20,fp16,least=-3); a=e5m2; b=e4m3fn", "tc(cdna1,fp16)",
         "tc(cdna1,bf16); start=c", "tc(cdna2,bf16); start=c", "tc(cdna2,fp16)", "tc(cdna2old,bf16)",
         "tc(cdna3,fp16); start=c", "tc(cdna3,tf32)", "tc(cdna3,e4m3fnuz)", "tc(cdna3,e5m2fnuz,promote=32); start=c",
         "tc(amx,bf16); start=c", "tc(amx,fp16)", "tc(avx512,bf16); start=c", "tc(b200,mxf8f6f4)",
         "tc(b200,mxf4); start=c", "tc(b200,mxf4nvf4)", "tc(b200,mxf8f6f4); a=e2m1; b=e5m2; start=c",
         "fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e5m2", "fused(4,exact,fp16/rtz); ab=fp16",
         "fused(8,chained,fp32/rtz,ways=4,late=1,flush); ab=bf16; start=c",
         "fused(6,exact,fp32,order=1032); ab=bf16; start=c", "fused(8,13,fp16,ways=2,late=20); ab=fp16; start=c",
         "fp32; splits=bf16x3", "fp32; splits=bf16x6/16; start=c", "tc(b200,bf16,promote=144); splits=bf16x9/16",
         "fp64; splits=bf16x9", "tc(h100,bf16); splits=bf16x9; start=c", "tc(a100,tf32); splits=tf32x3/8",
         "fused(8,24,fp32/rtz); a=tf32/rtz; b=tf32/rna; splits=tf32x3; out=bf16/sr", "pairwise(fp16); splits=bf16x3",
         "kahan(bf16); product=bf16; splits=bf16x3/5", "tc(amx,bf16); splits=bf16x6",
         "chunk(12,fp(6,9,0)/sr,fp32); product=fp32; splits=bf16x6", "fp64; splits=int8x3", "fp32; splits=int8x2",
         "seq(bf16/sr); splits=int8x3; out=fp16/sr", "seq(fp16/rtn); a=fixed(8,0); b=e4m3fn/rtz; splits=int8x4");

/* ------------------------------------------------------------------------------- threads, instruction sets */

/* A product of whole vectors and something left over, of depth k; results and, if counted, counters. */
static uint64_t digest_of(const char *text, unsigned carrier, uint64_t k, int counted, uint64_t digest)
{
    enum { M = 35, N = 150, K = 67 };
    static double a[M * K], b[K * N], c[M * N];
    static float a32[M * K], b32[K * N], c32[M * N];
    const fpemu_gemm_shape shape = {.m = M, .n = N, .k = k};
    fpemu_gemm_spec spec;
    fpemu_stats stats = {0};
    lh_check(fpemu_gemm_parse(text, &spec, NULL) == FPEMU_OK, "%s: not read", text);
    state = 5;
    for (size_t i = 0; i < M * K; i++)
        a32[i] = (float)(a[i] = random_number(i % 97 ? 1 : 6, 32));
    for (size_t i = 0; i < K * N; i++)
        b32[i] = (float)(b[i] = random_number(1, 32));
    for (size_t i = 0; i < M * N; i++)
        c32[i] = (float)(c[i] = random_number(1, 32));
    const fpemu_status status =
        carrier == 32 ? fpemu_gemm_f32(&spec, &shape, 1, a32, b32, spec.start_from_c, c32, counted ? &stats : NULL)
                      : fpemu_gemm_f64(&spec, &shape, 1, a, b, spec.start_from_c, c, counted ? &stats : NULL);
    lh_check(status == FPEMU_OK, "%s: status %d", text, (int)status);
    digest = carrier == 32 ? fnv(digest, c32, sizeof c32) : fnv(digest, c, sizeof c);
    return fnv(digest, &stats, sizeof stats);
}

/* Of everything; the deep products are enough for several threads, and must not depend on how many there are. */
static uint64_t digest_all(void)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        digest = digest_of(specs[i], 64, 5, 0, digest);
        digest = digest_of(specs[i], 32, 5, 1, digest);
        for (int counted = 0; counted < 2; counted++) {
            const uint64_t before = digest;
            digest = digest_of(specs[i], 32, 67, counted, before);
#ifdef _OPENMP
            const int most = omp_get_max_threads();
            for (int threads = 1; threads <= 3; threads += 2) {
                omp_set_num_threads(threads);
                lh_check(digest_of(specs[i], 32, 67, counted, before) == digest, "%s: %d threads change bits", specs[i],
                         threads);
            }
            omp_set_num_threads(most);
#endif
        }
    }
    return digest;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 12;
    number *const all[] = {&s, &u, &v, &w, &carry};
    for (size_t i = 0; i < 5; i++)
        mpz_init(all[i]->k);
    for (size_t i = 0; i < LONGEST; i++)
        mpz_init(p[i].k);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        try_spec(specs[i], rounds);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        check_calls(specs[i]);
    check_calls("kahan(bf16); a=e5m2/sr; b=e4m3fn/sr");
    check_observations();
    check_ends();
    const uint64_t digest = digest_all();
    if (!variants_is_child(argc, argv))
        variants_rerun(argv[0], argc > 1 ? argv[1] : "12", digest);
    const int status = lh_report("gemm");
    if (variants_is_child(argc, argv))
        variants_print(digest);
    return status;
}
