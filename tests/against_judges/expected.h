/* SPDX-License-Identifier: BSD-2-Clause */
/* expected.h - what the tests of operations share: exact numbers, the statistics that a judge's answers add up to, and
 * roundings in turn. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include "../judges/bits.h"
#include "../judges/exact.h"

/* ------------------------------------------------------------------------------------------- exact numbers */

enum { FINITE, INFINITE, NOT_A_NUMBER };

typedef struct number {
    int kind, negative;
    int invalid; /* NaN that an operation made */
    int div_by_zero;
    mpz_t k; /* finite: the magnitude is k * 2^e */
    long e;
} number;

static inline void number_double(number *x, double v)
{
    int e = 0;
    x->invalid = x->div_by_zero = 0;
    x->kind = isnan(v) ? NOT_A_NUMBER : isinf(v) ? INFINITE : FINITE;
    x->negative = !isnan(v) && signbit(v);
    mpz_set_ui(x->k, 0);
    x->e = 0;
    if (x->kind == FINITE && v != 0) {
        mpz_set_d(x->k, ldexp(frexp(fabs(v), &e), 53));
        x->e = e - 53;
    }
}

static inline void number_copy(number *to, const number *x)
{
    to->kind = x->kind;
    to->negative = x->negative;
    to->invalid = x->invalid;
    to->div_by_zero = x->div_by_zero;
    to->e = x->e;
    mpz_set(to->k, x->k);
}

static inline int is_zero(const number *x)
{
    return x->kind == FINITE && mpz_sgn(x->k) == 0;
}

static inline void make_nan(number *x, int invalid)
{
    x->kind = NOT_A_NUMBER;
    x->negative = 0;
    x->invalid = invalid;
}

static inline void multiply(number *x, const number *y)
{
    if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
        make_nan(x, 0);
    } else if (x->kind == INFINITE || y->kind == INFINITE) {
        if (is_zero(x) || is_zero(y)) {
            make_nan(x, 1);
        } else {
            x->kind = INFINITE;
            x->negative ^= y->negative;
        }
    } else {
        x->negative ^= y->negative;
        mpz_mul(x->k, x->k, y->k);
        x->e += y->e;
    }
}

/* x += y, minus_zero: the sign of an exact zero from terms of different signs. Keeps `invalid` of a NaN product. */
static inline void add(number *x, const number *y, int minus_zero)
{
    static mpz_t other;
    if (!other->_mp_alloc)
        mpz_init(other);
    if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
        /* an operation that a NaN also enters is not invalid (numerics.md 9.2) */
        const int both = (x->kind == NOT_A_NUMBER && !x->invalid) || (y->kind == NOT_A_NUMBER && !y->invalid);
        make_nan(x, !both && (x->invalid || y->invalid));
    } else if (x->kind == INFINITE || y->kind == INFINITE) {
        if (x->kind == y->kind && x->negative != y->negative) {
            make_nan(x, 1);
        } else if (y->kind == INFINITE) {
            x->kind = INFINITE;
            x->negative = y->negative;
        }
    } else if (is_zero(x) && is_zero(y)) {
        x->negative = x->negative == y->negative ? x->negative : minus_zero;
    } else if (is_zero(y)) {
        return;
    } else if (is_zero(x)) {
        number_copy(x, y);
    } else {
        const long e = x->e < y->e ? x->e : y->e;
        mpz_mul_2exp(x->k, x->k, (unsigned long)(x->e - e));
        mpz_mul_2exp(other, y->k, (unsigned long)(y->e - e));
        if (x->negative == y->negative)
            mpz_add(x->k, x->k, other);
        else
            mpz_sub(x->k, x->k, other);
        x->e = e;
        if (mpz_sgn(x->k) < 0)
            x->negative = !x->negative;
        else if (mpz_sgn(x->k) == 0)
            x->negative = minus_zero;
        mpz_abs(x->k, x->k);
    }
}

/* Quotients and roots keep 300 bits and one that says whether more would follow. */
static inline void divide(number *x, const number *y)
{
    const int negative = x->negative ^ y->negative;
    if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
        make_nan(x, 0);
    } else if ((x->kind == INFINITE && y->kind == INFINITE) || (is_zero(x) && is_zero(y))) {
        make_nan(x, 1);
    } else if (x->kind == INFINITE || is_zero(y)) {
        x->div_by_zero = x->kind == FINITE;
        x->kind = INFINITE;
        x->negative = negative;
    } else if (y->kind == INFINITE || is_zero(x)) {
        mpz_set_ui(x->k, 0);
        x->negative = negative;
    } else {
        const mp_bitcnt_t more = 300 + (mp_bitcnt_t)mpz_sizeinbase(y->k, 2);
        mpz_t rest;
        mpz_init(rest);
        mpz_mul_2exp(x->k, x->k, more);
        mpz_tdiv_qr(x->k, rest, x->k, y->k);
        mpz_mul_2exp(x->k, x->k, 1);
        if (mpz_sgn(rest))
            mpz_setbit(x->k, 0);
        x->e -= y->e + (long)more + 1;
        x->negative = negative;
        mpz_clear(rest);
    }
}

static inline void square_root(number *x)
{
    if (x->kind == NOT_A_NUMBER || is_zero(x))
        return;
    if (x->negative) {
        make_nan(x, 1);
    } else if (x->kind == FINITE) {
        mpz_t rest;
        mpz_init(rest);
        mpz_mul_2exp(x->k, x->k, 600 + (x->e & 1));
        x->e -= 600 + (x->e & 1);
        mpz_sqrtrem(x->k, rest, x->k);
        mpz_mul_2exp(x->k, x->k, 1);
        if (mpz_sgn(rest))
            mpz_setbit(x->k, 0);
        x->e = x->e / 2 - 1;
        mpz_clear(rest);
    }
}

/* -1, 0, 1; zeros of either sign are equal. Neither is a NaN. */
static inline int compare(const number *x, const number *y)
{
    static mpz_t a, b;
    const int sx = is_zero(x) ? 0 : x->negative ? -1 : 1, sy = is_zero(y) ? 0 : y->negative ? -1 : 1;
    if (sx != sy)
        return sx < sy ? -1 : 1;
    if (sx == 0)
        return 0;
    if (x->kind == INFINITE || y->kind == INFINITE)
        return x->kind == y->kind ? 0 : (x->kind == INFINITE) == (sx > 0) ? 1 : -1;
    if (!a->_mp_alloc)
        mpz_inits(a, b, (mpz_ptr)NULL);
    const long e = x->e < y->e ? x->e : y->e;
    mpz_mul_2exp(a, x->k, (unsigned long)(x->e - e));
    mpz_mul_2exp(b, y->k, (unsigned long)(y->e - e));
    return sx * mpz_cmp(a, b);
}

/* IEEE 754-2019, 9.6: the operand that a minimum or maximum chooses. */
static inline const number *extremum(fpemu_operation operation, const number *a, const number *b)
{
    const int number_wins = operation >= FPEMU_OPERATION_MINIMUM_NUMBER;
    const int smaller = operation == FPEMU_OPERATION_MINIMUM || operation == FPEMU_OPERATION_MINIMUM_NUMBER;
    if (a->kind == NOT_A_NUMBER || b->kind == NOT_A_NUMBER)
        return (a->kind == NOT_A_NUMBER) == number_wins ? b : a;
    if (is_zero(a) && is_zero(b))
        return smaller == a->negative ? a : b;
    return smaller == (compare(a, b) < 0) ? a : b;
}

/* x becomes the exact result for the operands x, y and z; down: the mode is rtn. y may change. */
static inline void operate(fpemu_operation operation, number *x, number *y, const number *z, int down)
{
    switch (operation) {
    case FPEMU_OPERATION_SUB: y->negative = !y->negative; /* fall through */
    case FPEMU_OPERATION_ADD: add(x, y, down); break;
    case FPEMU_OPERATION_MUL: multiply(x, y); break;
    case FPEMU_OPERATION_DIV: divide(x, y); break;
    case FPEMU_OPERATION_FMA:
        multiply(x, y);
        add(x, z, down);
        break;
    case FPEMU_OPERATION_SQRT: square_root(x); break;
    default: number_copy(x, extremum(operation, x, y)); break;
    }
}

/* x in binary64: to odd (and then finite), or to nearest even. */
static inline uint64_t in_binary64(const number *x, int to_odd)
{
    static mpz_t q, r;
    uint64_t sign = (uint64_t)x->negative << 63, k;
    long top, step;
    if (!q->_mp_alloc)
        mpz_inits(q, r, (mpz_ptr)NULL);
    if (x->kind == NOT_A_NUMBER)
        return UINT64_C(0x7ff8000000000000);
    if (x->kind == INFINITE)
        return sign | UINT64_C(0x7ff0000000000000);
    if (mpz_sgn(x->k) == 0)
        return sign;
    top = (long)mpz_sizeinbase(x->k, 2) - 1 + x->e;
    if (top > 1023)
        return sign | (UINT64_C(0x7ff0000000000000) - (to_odd ? 1 : 0));
    if (top < -1022)
        top = -1022;
    step = top - 52;
    if (step <= x->e) {
        mpz_mul_2exp(q, x->k, (unsigned long)(x->e - step));
        k = mpz_get_ui(q);
    } else {
        unsigned long shift = (unsigned long)(step - x->e);
        mpz_fdiv_q_2exp(q, x->k, shift);
        mpz_fdiv_r_2exp(r, x->k, shift);
        k = mpz_get_ui(q);
        if (to_odd)
            k |= mpz_sgn(r) != 0;
        else if (mpz_tstbit(r, shift - 1) && (mpz_scan1(r, 0) != shift - 1 || (k & 1)))
            k++;
    }
    return sign | (k + ((uint64_t)(top + 1022) << 52));
}

static inline double nearest_double(const number *x)
{
    return lh_double(in_binary64(x, 0));
}

static inline judge_result judge_number(judge *j, unsigned carrier, const number *x, uint32_t random)
{
    const uint64_t sign = (uint64_t)x->negative << (carrier - 1);
    if (x->kind == NOT_A_NUMBER)
        return judge_round(j, carrier_bits(carrier, NAN), random, 0);
    if (x->kind == INFINITE)
        return judge_round(j, sign | carrier_bits(carrier, INFINITY), random, 0);
    if (is_zero(x))
        return judge_round(j, sign, random, 0);
    return judge_exact(j, x->negative, x->k, x->e, random);
}

/* ---------------------------------------------------------------------------------------------- statistics */

/* Counts the events of `times` elements. */
static inline void expect_events(fpemu_stats *e, uint32_t events, uint64_t times)
{
    e->clipped += times * ((events & JUDGE_CLIPPED) != 0);
    e->overflow += times * ((events & JUDGE_OVERFLOW) != 0);
    e->invalid += times * ((events & JUDGE_INVALID) != 0);
    e->underflow += times * ((events & JUDGE_UNDERFLOW) != 0);
    e->subnormal += times * ((events & JUDGE_SUBNORMAL) != 0);
    e->inexact += times * ((events & JUDGE_INEXACT) != 0);
}

/* The extrema with an element that is x, to nearest in binary64, and becomes y. */
static inline void expect_extrema(fpemu_stats *e, double x, double y)
{
    if (!isfinite(x))
        return;
    if (fabs(x) > e->max_abs)
        e->max_abs = fabs(x);
    if (x != 0 && (e->min_abs == 0 || fabs(x) < e->min_abs))
        e->min_abs = fabs(x);
    if (isfinite(y) && fabs(x - y) > e->max_error)
        e->max_error = fabs(x - y);
}

/* The first counter or extremum that the library has otherwise than the judge, as text; NULL: none. */
static inline const char *other_counts(const fpemu_stats *library, const fpemu_stats *judge)
{
#define MEMBER(name)                                                                                                   \
    {                                                                                                                  \
        #name, offsetof(fpemu_stats, name)                                                                             \
    }
    static const struct {
        const char *name;
        size_t at;
    } members[] = LIST(MEMBER(count), MEMBER(nan), MEMBER(infinite), MEMBER(clipped), MEMBER(overflow), MEMBER(invalid),
                       MEMBER(div_by_zero), MEMBER(underflow), MEMBER(subnormal), MEMBER(inexact), MEMBER(swamped),
                       MEMBER(min_abs), MEMBER(max_abs), MEMBER(max_error));
#undef MEMBER
    static char text[120];
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        uint64_t a, b;
        memcpy(&a, (const char *)library + members[i].at, sizeof a);
        memcpy(&b, (const char *)judge + members[i].at, sizeof b);
        if (a == b)
            continue;
        const int real = i + 3 >= sizeof members / sizeof *members;
        (void)snprintf(text, sizeof text, real ? "%s %a, judge %a" : "%s %.0f, judge %.0f", members[i].name,
                       real ? lh_double(a) : (double)a, real ? lh_double(b) : (double)b);
        return text;
    }
    return NULL;
}

/* Rounding number i of a list that has every mode and variant; policies in turn. */
static inline int rounding_of(unsigned i, fpemu_rounding *r)
{
    static const struct {
        uint8_t mode, variant, bits;
    } list[] = {{FPEMU_MODE_RNE, 0, 0}, {FPEMU_MODE_RNA, 0, 0}, {FPEMU_MODE_RNZ, 0, 0}, {FPEMU_MODE_RTZ, 0, 0},
                {FPEMU_MODE_RAZ, 0, 0}, {FPEMU_MODE_RTP, 0, 0}, {FPEMU_MODE_RTN, 0, 0}, {FPEMU_MODE_RTO, 0, 0},
                {FPEMU_MODE_SE, 0, 0},  {FPEMU_MODE_SR, 0, 0},  {FPEMU_MODE_SR, 0, 27}, {FPEMU_MODE_SR, 0, 5},
                {FPEMU_MODE_SR, 1, 0},  {FPEMU_MODE_SR, 1, 14}, {FPEMU_MODE_SR, 2, 0},  {FPEMU_MODE_SR, 2, 8},
                {FPEMU_MODE_SR, 0, 28}, {FPEMU_MODE_SR, 2, 28}, {FPEMU_MODE_SR, 1, 27}, {FPEMU_MODE_RNP, 0, 0}};
    if (i >= sizeof list / sizeof *list)
        return 0;
    *r = fpemu_rounding_stochastic(20261120, i);
    r->mode = list[i].mode;
    r->variant = list[i].variant;
    r->bits = list[i].bits;
    r->overflow = (uint8_t)(1 + i % 3);
    return 1;
}

#endif
