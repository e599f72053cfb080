/* SPDX-License-Identifier: BSD-2-Clause */
/* exact.h - one operation on two or three numbers, exactly, then one rounding to a format.
 *
 * An exact result is a sign, an exponent and 128 significant bits of which the lowest also stands for everything below
 * (round to odd: Boldo, Melquiond 2008). No rounding rule looks at more than 53 + 34 bits, so the only rounding is the
 * last, core_exact_grid, which asks the same core_up64 as every other path. Operands and result are binary64, which
 * holds binary32 too; integers throughout, so that nothing overflows, underflows or depends on the environment. */
#ifndef FPEMU_CORE_EXACT_H
#define FPEMU_CORE_EXACT_H

#include "affine_fast.h"

enum core_kind { CORE_ZERO, CORE_FINITE, CORE_INFINITE, CORE_NOT_A_NUMBER };

/* Exceptions of IEEE 754-2019, clause 7, that an exact result does not show. */
enum core_exception { CORE_INVALID = 1, CORE_DIV_BY_ZERO = 2 };

typedef struct core_exact {
    uint64_t high, low; /* finite: high >= 2^63, the magnitude is (high + low * 2^-64) * 2^(top - 63) */
    int32_t top;
    uint8_t kind; /* enum core_kind; a NaN is the canonical one, sign + */
    uint8_t negative;
    uint8_t exception; /* enum core_exception */
} core_exact;

#define CORE_SIGN64 (UINT64_C(1) << 63)
#define CORE_INF64 (UINT64_C(2047) << 52)

FPEMU_FN core_exact core_exact_special(int kind, unsigned negative, int exception)
{
    core_exact x;
    memset(&x, 0, sizeof x);
    x.kind = (uint8_t)kind;
    x.negative = (uint8_t)negative;
    x.exception = (uint8_t)exception;
    return x;
}

/* The binary64 number with bits u. */
FPEMU_FN core_exact core_exact_from(uint64_t u)
{
    const uint64_t a = u & ~CORE_SIGN64;
    core_exact x = core_exact_special(CORE_FINITE, (unsigned)(u >> 63), 0);
    if (a > CORE_INF64)
        return core_exact_special(CORE_NOT_A_NUMBER, 0, 0);
    if (a == CORE_INF64 || a == 0) {
        x.kind = a ? CORE_INFINITE : CORE_ZERO;
        return x;
    }
    if (a >> 52) {
        x.high = a << 11 | CORE_SIGN64;
        x.top = (int32_t)(a >> 52) - 1023;
    } else {
        const int log2 = core_log2_64(a);
        x.high = a << (63 - log2);
        x.top = log2 - 1074;
    }
    return x;
}

/* x * 2^-n, n >= 0, what falls off being kept as the lowest bit. Not normalised any more. */
FPEMU_FN void core_exact_right(core_exact *x, int n)
{
    uint64_t lost;
    if (n == 0)
        return;
    if (n < 64) {
        lost = x->low << (64 - n);
        x->low = x->low >> n | x->high << (64 - n);
        x->high >>= n;
    } else if (n < 128) {
        lost = x->low | (n == 64 ? 0 : x->high << (128 - n));
        x->low = n == 64 ? x->high : x->high >> (n - 64);
        x->high = 0;
    } else {
        lost = x->high | x->low;
        x->high = x->low = 0;
    }
    x->low |= (uint64_t)(lost != 0);
}

/* Restores high >= 2^63; the significand is not zero. */
FPEMU_FN void core_exact_normalise(core_exact *x)
{
    if (x->high == 0) {
        x->high = x->low;
        x->low = 0;
        x->top -= 64;
    }
    const int n = 63 - core_log2_64(x->high);
    if (n) {
        x->high = x->high << n | x->low >> (64 - n);
        x->low <<= n;
        x->top -= n;
    }
}

/* a + b, of at most 106 bits each. The smaller loses bits only where it is shifted by 23 places or more; then no more
 * than one leading bit cancels, and the lowest bit still tells what lies below. A zero sum, unless of two zeros of one
 * sign, is +0, but -0 toward -infinity. */
FPEMU_FN core_exact core_exact_add(core_exact a, core_exact b, int mode)
{
    if (a.kind < b.kind ||
        (a.kind == CORE_FINITE && b.kind == CORE_FINITE &&
         (a.top < b.top || (a.top == b.top && (a.high < b.high || (a.high == b.high && a.low < b.low)))))) {
        const core_exact c = a;
        a = b;
        b = c;
    }
    if (a.kind == CORE_NOT_A_NUMBER)
        return a;
    const int differ = a.negative != b.negative;
    if (a.kind == CORE_INFINITE)
        return b.kind == CORE_INFINITE && differ ? core_exact_special(CORE_NOT_A_NUMBER, 0, CORE_INVALID) : a;
    const core_exact zero = core_exact_special(CORE_ZERO, mode == FPEMU_MODE_RTN, 0);
    if (b.kind == CORE_ZERO)
        return a.kind == CORE_ZERO && differ ? zero : a;
    core_exact_right(&b, a.top - b.top > 128 ? 128 : a.top - b.top);
    if (differ) {
        a.high -= b.high + (uint64_t)(a.low < b.low);
        a.low -= b.low;
        if ((a.high | a.low) == 0)
            return zero;
        core_exact_normalise(&a);
        return a;
    }
    a.low += b.low;
    const uint64_t carry = a.low < b.low, high = a.high + b.high;
    const uint64_t out = (high < b.high) | ((carry != 0) & (high == ~UINT64_C(0)));
    a.high = high + carry;
    if (out) {
        core_exact_right(&a, 1);
        a.high |= CORE_SIGN64;
        a.top++;
    }
    return a;
}

/* a * b, both binary64 numbers: 106 bits. */
FPEMU_FN core_exact core_exact_multiply(core_exact a, core_exact b)
{
    const unsigned negative = a.negative ^ b.negative;
    if (a.kind == CORE_NOT_A_NUMBER || b.kind == CORE_NOT_A_NUMBER)
        return core_exact_special(CORE_NOT_A_NUMBER, 0, 0);
    if (a.kind == CORE_INFINITE || b.kind == CORE_INFINITE)
        return a.kind == CORE_ZERO || b.kind == CORE_ZERO ? core_exact_special(CORE_NOT_A_NUMBER, 0, CORE_INVALID)
                                                          : core_exact_special(CORE_INFINITE, negative, 0);
    if (a.kind == CORE_ZERO || b.kind == CORE_ZERO)
        return core_exact_special(CORE_ZERO, negative, 0);
    const core_wide w = core_multiply(a.high, b.high);
    a.negative = (uint8_t)negative;
    a.high = w.high;
    a.low = w.low;
    a.top += b.top + 1;
    core_exact_normalise(&a);
    return a;
}

/* floor((high * 2^64 + low) / d) and the remainder; high < d. */
FPEMU_FN uint64_t core_divide_wide(uint64_t high, uint64_t low, uint64_t d, uint64_t *rest)
{
#if defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
    __extension__ typedef unsigned __int128 wide;
    const wide n = (wide)high << 64 | low;
    const uint64_t q = (uint64_t)(n / d);
    *rest = (uint64_t)(n - (wide)q * d);
    return q;
#else
    for (int i = 0; i < 64; i++) { /* bit by bit; the quotient takes the place of the bits used up */
        const uint64_t out = high >> 63;
        high = high << 1 | low >> 63;
        low <<= 1;
        if (out | (uint64_t)(high >= d)) {
            high -= d;
            low |= 1;
        }
    }
    *rest = high;
    return low;
#endif
}

/* a / b, both binary64 numbers: 127 bits and more. */
FPEMU_FN core_exact core_exact_divide(core_exact a, core_exact b)
{
    const unsigned negative = a.negative ^ b.negative;
    if (a.kind == CORE_NOT_A_NUMBER || b.kind == CORE_NOT_A_NUMBER)
        return core_exact_special(CORE_NOT_A_NUMBER, 0, 0);
    if (a.kind == b.kind && a.kind != CORE_FINITE) /* 0/0, inf/inf */
        return core_exact_special(CORE_NOT_A_NUMBER, 0, CORE_INVALID);
    if (b.kind == CORE_ZERO)
        return core_exact_special(CORE_INFINITE, negative, a.kind == CORE_FINITE ? CORE_DIV_BY_ZERO : 0);
    if (a.kind == CORE_INFINITE)
        return core_exact_special(CORE_INFINITE, negative, 0);
    if (a.kind == CORE_ZERO || b.kind == CORE_INFINITE)
        return core_exact_special(CORE_ZERO, negative, 0);
    uint64_t rest;
    a.negative = (uint8_t)negative;
    a.top -= b.top;
    a.high = core_divide_wide(a.high >> 1, 0, b.high, &rest); /* binary64 numbers have room: no bit is lost */
    a.low = core_divide_wide(rest, 0, b.high, &rest);
    core_exact_normalise(&a);
    a.low |= (uint64_t)(rest != 0);
    return a;
}

/* From root = floor(sqrt(n)) and rest = n - root^2 to those of n * 2^(2 bits) + tail (Zimmermann, Karatsuba square
 * root, 1999); the highest bit of root weighs 2^(bits - 1) at least. */
FPEMU_FN void core_root_digits(uint64_t *root, uint64_t *rest, int bits, uint64_t tail)
{
    const uint64_t t = *rest << bits | tail >> bits, q = t / (2 * *root), left = t % (2 * *root);
    const uint64_t sum = left << bits | (tail & ((UINT64_C(1) << bits) - 1)), square = q * q;
    *root = (*root << bits) + q;
    *rest = sum - square;
    if (sum < square) { /* one too large */
        *rest += 2 * *root - 1;
        (*root)--;
    }
}

/* Square root of a binary64 number: 95 bits, by digits of 16, 16, 31 and 32. */
FPEMU_FN core_exact core_exact_sqrt(core_exact a)
{
    if (a.kind == CORE_NOT_A_NUMBER || a.kind == CORE_ZERO)
        return a;
    if (a.negative)
        return core_exact_special(CORE_NOT_A_NUMBER, 0, CORE_INVALID);
    if (a.kind == CORE_INFINITE)
        return a;
    const uint64_t n = a.top & 1 ? a.high : a.high >> 1; /* n * 2^-62 in [1, 4), times an even power of two */
    uint64_t root = 0, rest = n >> 32;
    for (int bit = 30; bit >= 0; bit -= 2) {
        const uint64_t one = UINT64_C(1) << bit, trial = root + one, take = 0 - (uint64_t)(rest >= trial);
        rest -= trial & take;
        root = (root >> 1) + (one & take);
    }
    core_root_digits(&root, &rest, 16, n & 0xffffffffu);
    a.top = (a.top - (a.top & 1)) / 2;
    a.low = 0;
    a.high = root << 32;
    if (rest == 0)
        return a; /* else irrational: n has no more than 64 bits */
    core_root_digits(&root, &rest, 31, 0);
    /* 63 bits of root, and rest < 2 root: it is 2 root only for an n of 62 bits; so 32 digits more */
    uint64_t left;
    const uint64_t q = core_divide_wide(rest >> 32, rest << 32, 2 * root, &left);
    const core_wide square = core_multiply(q, q);
    const int less = left >> 32 < square.high || (left >> 32 == square.high && left << 32 < square.low);
    const uint64_t digits = q - (uint64_t)less; /* as above */
    a.high = root << 1 | digits >> 31;
    a.low = digits << 33 | 1;
    return a;
}

/* IEEE 754-2019 9.6: the smaller (or larger) operand, -0 < +0; a NaN wins, or, for the ...Number operations, loses. */
FPEMU_FN uint64_t core_extremum(uint64_t a, uint64_t b, int larger, int number)
{
    const int a_nan = (a & ~CORE_SIGN64) > CORE_INF64, b_nan = (b & ~CORE_SIGN64) > CORE_INF64;
    if (a_nan || b_nan)
        return a_nan != number ? a : b; /* a NaN operand; for ...Number the other one, which may be a NaN too */
    /* two's complement order: negatives with their magnitude's bits inverted */
    const uint64_t ka = a >> 63 ? ~a : a | CORE_SIGN64, kb = b >> 63 ? ~b : b | CORE_SIGN64;
    return (ka < kb) != larger ? a : b;
}

/* The exact result of an operation on binary64 numbers; operands that it does not take are ignored. */
FPEMU_FN core_exact core_exact_result(fpemu_operation operation, int mode, uint64_t a, uint64_t b, uint64_t c)
{
    const core_exact x = core_exact_from(a), y = core_exact_from(b);
    switch (operation) {
    case FPEMU_OPERATION_ADD: return core_exact_add(x, y, mode);
    case FPEMU_OPERATION_SUB: return core_exact_add(x, core_exact_from(b ^ CORE_SIGN64), mode);
    case FPEMU_OPERATION_MUL: return core_exact_multiply(x, y);
    case FPEMU_OPERATION_DIV: return core_exact_divide(x, y);
    case FPEMU_OPERATION_SQRT: return core_exact_sqrt(x);
    case FPEMU_OPERATION_FMA: {
        const core_exact z = core_exact_from(c), product = core_exact_multiply(x, y);
        return z.kind == CORE_NOT_A_NUMBER ? z : core_exact_add(product, z, mode); /* 0 * inf + NaN is quiet */
    }
    case FPEMU_OPERATION_MINIMUM: return core_exact_from(core_extremum(a, b, 0, 0));
    case FPEMU_OPERATION_MAXIMUM: return core_exact_from(core_extremum(a, b, 1, 0));
    case FPEMU_OPERATION_MINIMUM_NUMBER: return core_exact_from(core_extremum(a, b, 0, 1));
    default: return core_exact_from(core_extremum(a, b, 1, 1));
    }
}

/* Magnitude on the grid without upper end, as core_grid64, of a finite x; infinity's bits past binary64's range.
 * r: random bits, left-aligned in 64. */
FPEMU_FN uint64_t core_exact_grid(const core_plan64 *p, int mode, const core_exact *x, uint64_t r)
{
    const int fixed = p->emin_bits == CORE_INF64, field = x->top + 1023, normal = !fixed && field >= p->emin_field;
    const int taper = (int)(core_taper64(x->top) & -(int64_t)(p->p1 / CORE_HIF8_P1)), bare = taper == 3;
    const int quantum = (int)(normal ? x->top - 52 + p->d_norm + taper : p->d_low - 1075);
    if (!normal && p->in_min)
        return 0;
    if (x->top > 1023 || x->top - quantum > 62)
        return CORE_INF64;
    /* |x| = (k + v) * 2^quantum; v to 62 bits, the lowest again for everything below */
    const int d = quantum - x->top + 127; /* 65 at least */
    core_exact v = *x;
    core_exact_right(&v, d > 128 ? d - 128 : 0);
    uint64_t k = 0, fraction = v.high, below = v.low;
    if (d < 128) {
        k = v.high >> (d - 64);
        fraction = v.high << (128 - d) | v.low >> (d - 64);
        below = v.low << (128 - d);
    }
    fraction = fraction >> 2 | (uint64_t)((fraction & 3) != 0 || below != 0);
    const uint64_t odd = ((uint64_t)(field + bare) * (p->p1 | (uint64_t)bare) + p->odd) & 1;
    k += core_up64(mode, p->n, 1, (k & 1) << 62 | fraction, 62, odd, x->negative ? CORE_SIGN64 : 0, r);
    k += k >> 53 & k & 1; /* no number of binary64; an end of 54 bits, 2^53, is passed by 1 */
    const uint64_t g = core_compose64(k, quantum);
    return g < p->out_min ? 0 : g;
}

/* binary64 itself as a grid. */
FPEMU_FN core_plan64 core_plan_binary64(void)
{
    core_plan64 p;
    memset(&p, 0, sizeof p);
    p.emin_field = 1;
    p.emin_bits = UINT64_C(1) << 52;
    p.d_low = 1;
    p.odd = 1;
    p.one = 1;
    return p;
}

/* x in binary64, sign included; FPEMU_MODE_RTO and FPEMU_MODE_RTZ stay finite. */
FPEMU_FN uint64_t core_exact_binary64(const core_exact *x, int mode)
{
    const uint64_t sign = x->negative ? CORE_SIGN64 : 0;
    if (x->kind == CORE_NOT_A_NUMBER)
        return CORE_INF64 | CORE_INF64 >> 1;
    if (x->kind != CORE_FINITE)
        return x->kind == CORE_ZERO ? sign : sign | CORE_INF64;
    const core_plan64 p = core_plan_binary64();
    const uint64_t g = core_exact_grid(&p, mode, x, 0);
    return sign | (g == CORE_INF64 && (mode == FPEMU_MODE_RTO || mode == FPEMU_MODE_RTZ) ? CORE_INF64 - 1 : g);
}

/* Result bits in binary64; *g, for finite x, is its magnitude on the grid without ends. r as in core_element64. */
FPEMU_FN uint64_t core_exact_round(const core_plan64 *p, const core_exact *x, uint32_t r, uint64_t *g)
{
    /* finish looks at the input's sign and at whether it is zero, finite, infinite or NaN */
    const uint64_t like[] = {0, 1, CORE_INF64, CORE_INF64 | CORE_INF64 >> 1};
    *g = 0;
    if (x->kind == CORE_FINITE) {
        if (p->rule == CORE_RULE_POSIT) /* binary64 has more than two bits beyond any posit of 32 bits */
            *g = core_posit64(p, core_exact_binary64(x, FPEMU_MODE_RTO) & ~CORE_SIGN64);
        else
            *g = core_exact_grid(p, p->mode, x, (uint64_t)r << 32);
    }
    return core_finish_any64(p, like[x->kind] | (x->negative ? CORE_SIGN64 : 0), *g);
}

/* ------------------------------------------------------------------------------------- by binary64 arithmetic
 * For operands that are binary32 numbers, or of 24 bits between 2^-298 and 2^256 (with scales): exact results rounded
 * to odd in binary64, with what the processor offers and in a form that vectorises. No step overflows or underflows.
 * Enough for p bits and N random bits where p + N + 2 <= 53. Callers see to the default floating-point environment. */

/* x rounded to odd, s being x rounded to nearest and `error` of the sign of x - s (or NaN where s is a special). */
FPEMU_FN double core_to_odd(double s, double error)
{
    const uint64_t u = core_bits64(s), past = (u >> 63) ^ (uint64_t)(error < 0);
    return error < 0 || error > 0 ? core_value64((u - past) | 1) : s;
}

/* a + b, each a binary32 number or the product of two; zero_sign is the sign of a zero that mixed signs give. */
FPEMU_FN double core_sum_odd(double a, double b, uint64_t zero_sign)
{
    const double s = a + b, t = s - a, error = (a - (s - t)) + (b - t); /* Knuth's TwoSum: s + error is exact */
    const uint64_t mixed = core_bits64(a) | core_bits64(b);
    return s == 0 && mixed != 0 ? core_value64(core_bits64(s) | zero_sign) : core_to_odd(s, error);
}

FPEMU_FN double core_ratio_odd(double a, double b)
{
    const uint64_t sign = (core_bits64(a) ^ core_bits64(b)) & CORE_SIGN64;
    const double x = core_value64(core_bits64(a) & ~CORE_SIGN64), y = core_value64(core_bits64(b) & ~CORE_SIGN64);
    return core_value64(core_quotient_odd(x, y) ^ sign);
}

/* s, the square root of x rounded to nearest, to odd. */
FPEMU_FN double core_root_odd(double x, double s)
{
    const double high = core_value64(core_bits64(s) >> 27 << 27), low = s - high;
    return core_to_odd(s, ((x - high * high) - 2 * high * low) - low * low); /* exact, term by term */
}

#endif /* FPEMU_CORE_EXACT_H */
