/* SPDX-License-Identifier: BSD-2-Clause */
/* slow.c - the exact judge: the written definitions in integers of any length, and nothing else.
 *
 * Every magnitude is an integer times 2^-unit, with `unit` large enough for the carrier's smallest subnormal and for
 * the half steps of a posit, so that no step below rounds unless its name says so. Codes are found by bisection over
 * decoding, which leaves one definition of a format: what its codes mean. Assumes a 64-bit unsigned long.
 */
#include "exact.h"

typedef enum outcome { FINITE, INFINITE, NAN_OUT } outcome;

typedef struct slow {
    judge base;
    fpemu_format f;
    unsigned mode, overflow, nan, variant, random_bits;
    /* The carrier: significand bits, exponent of its smallest normal, its bias. */
    unsigned width, digits;
    long carrier_emin;
    unsigned long unit;
    long emin;          /* floats: exponent of the smallest normal value */
    uint64_t end_code;  /* floats, posits: largest magnitude code that is finite */
    int64_t qmin, qmax; /* fixed, int: range of the integers */
    mpz_t max, lowest;  /* signed */
    mpz_t scale;        /* int: the scale as the carrier holds it */
    mpz_t x, y, k, rem, a, b;
} slow;

static int bit(uint64_t code, unsigned i)
{
    return (int)(code >> i & 1);
}

static uint64_t ones(unsigned n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static int is_p3109(const slow *s)
{
    return s->f.specials == FPEMU_SPECIALS_P3109E || s->f.specials == FPEMU_SPECIALS_P3109F;
}

static int has_nan(const slow *s)
{
    switch (s->f.kind) {
    case FPEMU_KIND_FLOAT:
        if (s->f.specials == FPEMU_SPECIALS_IEEE)
            return s->f.mantissa_bits > 0;
        return s->f.specials != FPEMU_SPECIALS_FINITE;
    case FPEMU_KIND_POSIT: return 1;
    default: return 0;
    }
}

static int has_infinity(const slow *s)
{
    return s->f.kind == FPEMU_KIND_FLOAT &&
           (s->f.specials == FPEMU_SPECIALS_IEEE || s->f.specials == FPEMU_SPECIALS_P3109E ||
            s->f.specials == FPEMU_SPECIALS_HIF8);
}

static int has_negative_zero(const slow *s)
{
    return s->f.kind == FPEMU_KIND_FLOAT && s->f.is_signed && s->f.specials != FPEMU_SPECIALS_FNUZ && !is_p3109(s) &&
           s->f.specials != FPEMU_SPECIALS_HIF8;
}

static int is_hif8(const slow *s)
{
    return s->f.kind == FPEMU_KIND_FLOAT && s->f.specials == FPEMU_SPECIALS_HIF8;
}

static int is_e8m0(const slow *s)
{
    return s->f.kind == FPEMU_KIND_FLOAT && s->f.specials == FPEMU_SPECIALS_E8M0;
}

/* ------------------------------------------------------------------------------------------------ carrier */

/* mag = significand * 2^exponent. */
static void set_scaled(const slow *s, mpz_t mag, uint64_t significand, long exponent)
{
    mpz_set_ui(mag, significand);
    if (significand)
        mpz_mul_2exp(mag, mag, (unsigned long)(exponent + (long)s->unit));
}

static long floor_log2(const slow *s, const mpz_t mag)
{
    return (long)mpz_sizeinbase(mag, 2) - 1 - (long)s->unit;
}

static outcome load(const slow *s, uint64_t bits, mpz_t mag, int *negative)
{
    const unsigned m = s->digits - 1;
    const uint64_t fraction = bits & ones(m);
    const long exponent = (long)(bits >> m & ones(s->width - 1 - m));
    *negative = bit(bits, s->width - 1);
    if (exponent == (long)ones(s->width - 1 - m))
        return fraction ? NAN_OUT : INFINITE;
    if (exponent == 0)
        set_scaled(s, mag, fraction, s->carrier_emin - (long)m);
    else
        set_scaled(s, mag, fraction | (uint64_t)1 << m, s->carrier_emin - (long)m + exponent - 1);
    return FINITE;
}

static uint64_t infinity_bits(const slow *s, int negative)
{
    uint64_t sign = (uint64_t)(negative != 0) << (s->width - 1);
    return sign | (ones(s->width - 1) & ~ones(s->digits - 1));
}

static uint64_t nan_bits(const slow *s)
{
    return s->width == 32 ? 0x7fc00000 : 0x7ff8000000000000;
}

/* Bits of a magnitude in the carrier, rounded to nearest even; only affine integers ever need the rounding. */
static uint64_t store(slow *s, int negative, const mpz_t mag)
{
    const long m = (long)s->digits - 1;
    if (mpz_sgn(mag) == 0)
        return (uint64_t)(negative != 0) << (s->width - 1);
    long top = floor_log2(s, mag);
    if (top < s->carrier_emin)
        top = s->carrier_emin;
    const unsigned long shift = (unsigned long)(top - m + (long)s->unit);
    mpz_fdiv_q_2exp(s->a, mag, shift);
    mpz_fdiv_r_2exp(s->b, mag, shift);
    uint64_t k = mpz_get_ui(s->a);
    if (shift && mpz_tstbit(s->b, shift - 1) && (mpz_scan1(s->b, 0) != shift - 1 || (k & 1)))
        k++;
    /* The exponent field counts binades from the smallest; a carry out of the significand runs into it by itself. */
    k += (uint64_t)(top - s->carrier_emin) << m;
    if (k >= infinity_bits(s, 0))
        return infinity_bits(s, negative);
    return (uint64_t)(negative != 0) << (s->width - 1) | k;
}

/* ------------------------------------------------------------------------------------------------- decode */

/* The fields of HiFloat8 from the highest bit on: sign, dot (11, 10, 01, 001, 0001: exponents of 4, 3, 2, 1, 0 bits;
 * 0000: 2^(M - 23)), sign of the exponent, its magnitude less the first bit, fraction. */
static outcome decode_hif8(const slow *s, uint64_t code, mpz_t mag, int *negative)
{
    static const struct {
        unsigned dot, width, exponent, fraction;
    } fields[] = {{3, 2, 4, 1}, {2, 2, 3, 2}, {1, 2, 2, 3}, {1, 3, 1, 3}, {1, 4, 0, 3}};
    const uint64_t body = code & 0x7f;
    *negative = bit(code, 7);
    if (body == 0) {
        mpz_set_ui(mag, 0);
        return *negative ? NAN_OUT : FINITE;
    }
    if (body == 0x6f)
        return INFINITE;
    for (unsigned i = 0; i < 5; i++)
        if (body >> (7 - fields[i].width) == fields[i].dot) {
            const unsigned d = fields[i].exponent, m = fields[i].fraction;
            const uint64_t rest = body >> m & ones(d);
            const long size = d ? (long)((uint64_t)1 << (d - 1) | (rest & ones(d - 1))) : 0;
            const long e = d && bit(rest, d - 1) ? -size : size;
            set_scaled(s, mag, (uint64_t)1 << m | (body & ones(m)), e - (long)m);
            return FINITE;
        }
    set_scaled(s, mag, 1, (long)body - 23);
    return FINITE;
}

static outcome decode_float(const slow *s, uint64_t code, mpz_t mag, int *negative)
{
    if (is_hif8(s))
        return decode_hif8(s, code, mag, negative);
    const fpemu_format *f = &s->f;
    unsigned mag_bits = f->bits - f->is_signed;
    unsigned m = f->mantissa_bits;
    uint64_t body = code & ones(mag_bits), E = body >> m, T = body & ones(m);
    int sign = f->is_signed && bit(code, f->bits - 1);
    *negative = sign;
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE:
        if (E == ones(f->exponent_bits))
            return T ? NAN_OUT : INFINITE;
        break;
    case FPEMU_SPECIALS_FN:
        if (body == ones(mag_bits))
            return NAN_OUT;
        break;
    case FPEMU_SPECIALS_FNUZ:
        if (sign && body == 0)
            return NAN_OUT;
        break;
    case FPEMU_SPECIALS_P3109E:
    case FPEMU_SPECIALS_P3109F:
        if (f->is_signed ? (sign && body == 0) : body == ones(mag_bits))
            return NAN_OUT;
        if (f->specials == FPEMU_SPECIALS_P3109E && body == ones(mag_bits) - (f->is_signed ? 0 : 1))
            return INFINITE;
        break;
    case FPEMU_SPECIALS_E8M0:
        if (body == ones(mag_bits))
            return NAN_OUT;
        set_scaled(s, mag, (uint64_t)1 << m | T, (long)E - f->bias - (long)m);
        return FINITE;
    case FPEMU_SPECIALS_DLFLOAT:
        if (body == ones(mag_bits))
            return NAN_OUT;
        if (body == 0)
            mpz_set_ui(mag, 0);
        else
            set_scaled(s, mag, (uint64_t)1 << m | T, (long)E - f->bias - (long)m);
        return FINITE;
    default: break;
    }
    if (E > 0)
        set_scaled(s, mag, (uint64_t)1 << m | T, (long)E - f->bias - (long)m);
    else if (f->subnormals == FPEMU_SUBNORMALS_KEEP)
        set_scaled(s, mag, T, 1 - (long)f->bias - (long)m);
    else
        mpz_set_ui(mag, 0);
    if (mpz_sgn(mag) == 0 && !has_negative_zero(s))
        *negative = 0;
    return FINITE;
}

static int64_t code_to_integer(const slow *s, uint64_t code)
{
    code &= ones(s->f.bits);
    if (s->f.is_signed && bit(code, s->f.bits - 1))
        return (int64_t)(code | ~ones(s->f.bits));
    return (int64_t)code;
}

/* |value| of the integer q of a fixed-point or affine format, the latter as rounded to the carrier. */
static void integer_value(slow *s, int64_t q, mpz_t mag, int *negative)
{
    if (s->f.kind == FPEMU_KIND_FIXED) {
        *negative = q < 0;
        set_scaled(s, mag, q < 0 ? 0 - (uint64_t)q : (uint64_t)q, -(long)s->f.fraction_bits);
    } else {
        int64_t steps = q - s->f.zero_point;
        *negative = steps < 0;
        mpz_mul_ui(mag, s->scale, steps < 0 ? 0 - (uint64_t)steps : (uint64_t)steps);
        load(s, store(s, *negative, mag), mag, negative);
        if (mpz_sgn(mag) == 0)
            *negative = 0;
    }
}

/* n may be one more than the format's: the point where rounding switches is the (n+1)-bit posit in between. */
static outcome decode_posit(const slow *s, unsigned n, uint64_t code, mpz_t mag, int *negative)
{
    int left = (int)n - 2; /* index of the next bit */
    int run = 0;
    long E = 0;
    code &= ones(n);
    *negative = bit(code, n - 1);
    if (code == (uint64_t)1 << (n - 1))
        return NAN_OUT;
    if (*negative)
        code = (0 - code) & ones(n);
    if (code == 0) {
        mpz_set_ui(mag, 0);
        return FINITE;
    }
    const int first = bit(code, n - 2);
    for (; left >= 0 && bit(code, (unsigned)left) == first; left--)
        run++;
    left--; /* the bit that ended the run */
    const long r = first ? run - 1 : -run;
    for (unsigned i = 0; i < s->f.exponent_bits; i++, left--)
        E = 2 * E + (left >= 0 ? bit(code, (unsigned)left) : 0);
    if (left < 0)
        left = -1;
    left++; /* bits of fraction */
    set_scaled(s, mag, (uint64_t)1 << left | (code & ones((unsigned)left)), r * (1L << s->f.exponent_bits) + E - left);
    return FINITE;
}

static outcome decode(slow *s, uint64_t code, mpz_t mag, int *negative)
{
    switch (s->f.kind) {
    case FPEMU_KIND_FLOAT: return decode_float(s, code, mag, negative);
    case FPEMU_KIND_POSIT: return decode_posit(s, s->f.bits, code, mag, negative);
    default: {
        int64_t q = code_to_integer(s, code);
        if (q < s->qmin)
            return NAN_OUT; /* the unused code of a symmetric format */
        integer_value(s, q, mag, negative);
        return FINITE;
    }
    }
}

static uint64_t slow_decode(judge *j, uint64_t code)
{
    slow *s = (slow *)j;
    int negative;
    switch (decode(s, code, s->y, &negative)) {
    case FINITE: return store(s, negative, s->y);
    case INFINITE: return infinity_bits(s, negative);
    default: return nan_bits(s);
    }
}

/* The largest magnitude code, of those that are finite, whose value is at most mag; its value goes to s->a. Values rise
 * with the code, so bisection finds it. */
static uint64_t code_at_most(slow *s, const mpz_t mag)
{
    uint64_t low = 0, high = s->end_code;
    int negative;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        decode(s, middle, s->a, &negative);
        if (mpz_cmp(s->a, mag) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    decode(s, low, s->a, &negative);
    return low;
}

/* ----------------------------------------------------------------------------------------------- rounding */

/* Whether the magnitude goes up, v being rem / 2^shift. */
static int goes_up(slow *s, int negative, int odd, const mpz_t rem, unsigned long shift, uint32_t random)
{
    const unsigned n = s->random_bits;
    if (mpz_sgn(rem) == 0)
        return 0;
    const int at_least_half = mpz_tstbit(rem, shift - 1), tie = at_least_half && mpz_scan1(rem, 0) == shift - 1;
    switch (s->mode) {
    case FPEMU_MODE_RNE: return tie ? odd : at_least_half;
    case FPEMU_MODE_RNA: return at_least_half;
    case FPEMU_MODE_RNZ: return at_least_half && !tie;
    case FPEMU_MODE_RNP: return at_least_half && !(tie && negative);
    case FPEMU_MODE_RTZ: return 0;
    case FPEMU_MODE_RAZ: return 1;
    case FPEMU_MODE_RTP: return !negative;
    case FPEMU_MODE_RTN: return negative;
    case FPEMU_MODE_RTO: return !odd;
    case FPEMU_MODE_SE: return (int)(random >> (n - 1) & 1);
    default: break;
    }
    switch (s->variant) {
    case FPEMU_SR_VARIANT_A:
        mpz_mul_2exp(s->a, rem, n);
        mpz_fdiv_q_2exp(s->a, s->a, shift);
        return mpz_get_ui(s->a) + random >= (uint64_t)1 << n;
    case FPEMU_SR_VARIANT_B:
        mpz_mul_2exp(s->a, rem, n + 1);
        mpz_fdiv_q_2exp(s->a, s->a, shift);
        return mpz_get_ui(s->a) + 2 * (uint64_t)random + 1 >= (uint64_t)1 << (n + 1);
    default:
        mpz_mul_2exp(s->a, rem, n);
        mpz_fdiv_r_2exp(s->b, s->a, shift);
        mpz_fdiv_q_2exp(s->a, s->a, shift);
        if (mpz_tstbit(s->b, shift - 1) && (mpz_scan1(s->b, 0) != shift - 1 || mpz_odd_p(s->a)))
            mpz_add_ui(s->a, s->a, 1);
        return mpz_get_ui(s->a) + random >= (uint64_t)1 << n;
    }
}

/* y = (k + up) * 2^step: the magnitude in s->x rounded on the grid of steps 2^step. odd: what RNE and RTO take for the
 * parity of k; -1 = the parity of k itself. */
static void round_to_step(slow *s, int negative, long step, int odd, uint32_t random)
{
    unsigned long shift = (unsigned long)(step + (long)s->unit);
    mpz_fdiv_q_2exp(s->k, s->x, shift);
    mpz_fdiv_r_2exp(s->rem, s->x, shift);
    if (odd < 0)
        odd = mpz_odd_p(s->k);
    if (goes_up(s, negative, odd, s->rem, shift, random))
        mpz_add_ui(s->k, s->k, 1);
    mpz_mul_2exp(s->y, s->k, shift);
}

/* s->y = s->x (not zero) on the unbounded grid of a float format. */
static void round_float(slow *s, int negative, uint32_t random)
{
    const fpemu_format *f = &s->f;
    long top = floor_log2(s, s->x);
    int below = top < s->emin, odd = -1;
    if (below && (f->subnormals == FPEMU_SUBNORMALS_FLUSH_IN || f->specials == FPEMU_SPECIALS_DLFLOAT || is_e8m0(s))) {
        mpz_set_ui(s->y, 0);
        return;
    }
    if (below)
        top = s->emin;
    if (is_hif8(s)) {
        const long size = top < 0 ? -top : top;
        const int m = size < 4 ? 3 : size < 8 ? 2 : size < 16 ? 1 : 0;
        round_to_step(s, negative, top - m, m ? -1 : below ? 0 : (int)((top + 23) & 1), random);
        return;
    }
    /* With one digit of precision the parity is the code's, that of the exponent field; zero counts as even. */
    if (f->mantissa_bits == 0)
        odd = below ? 0 : (int)((top + f->bias) & 1);
    if (below && f->subnormals == FPEMU_SUBNORMALS_NONE)
        round_to_step(s, negative, s->emin, 0, random);
    else
        round_to_step(s, negative, top - (long)f->mantissa_bits, odd, random);
    if (mpz_sgn(s->y) == 0)
        return;
    if (f->subnormals == FPEMU_SUBNORMALS_FLUSH_OUT && floor_log2(s, s->y) < s->emin)
        mpz_set_ui(s->y, 0);
    if (f->specials == FPEMU_SPECIALS_DLFLOAT) {
        set_scaled(s, s->a, 1, s->emin); /* the one point of the grid without a code */
        if (mpz_cmp(s->y, s->a) == 0)
            mpz_set_ui(s->y, 0);
    }
}

/* The end of the range on this side into s->y. */
static outcome take_end(slow *s, int *negative)
{
    mpz_srcptr end = *negative ? s->lowest : s->max;
    *negative = mpz_sgn(end) < 0;
    mpz_abs(s->y, end);
    return FINITE;
}

/* A finite float that rounded past the end. */
static outcome overflow_float(slow *s, int *negative)
{
    int toward_zero = s->mode == FPEMU_MODE_RTZ || (s->mode == FPEMU_MODE_RTP && *negative) ||
                      (s->mode == FPEMU_MODE_RTN && !*negative);
    int up = s->mode == FPEMU_MODE_RTZ || s->mode == FPEMU_MODE_RTP;
    /* e8m0 has nothing that keepinf could keep: there it reads as ieee. */
    if (s->overflow == FPEMU_OVERFLOW_SATURATE || (s->overflow == FPEMU_OVERFLOW_SATURATE_KEEP_INF && !is_e8m0(s)))
        return take_end(s, negative);
    if (*negative && !s->f.is_signed)
        return up || !has_nan(s) ? take_end(s, negative) : NAN_OUT;
    if (toward_zero)
        return take_end(s, negative);
    if (s->mode == FPEMU_MODE_RTO && !(s->f.specials == FPEMU_SPECIALS_P3109E && s->f.is_signed))
        return take_end(s, negative);
    if (has_infinity(s))
        return INFINITE;
    return has_nan(s) && s->f.specials != FPEMU_SPECIALS_P3109F ? NAN_OUT : take_end(s, negative);
}

static outcome infinite_input(slow *s, int *negative)
{
    switch (s->f.kind) {
    case FPEMU_KIND_POSIT: return s->overflow == FPEMU_OVERFLOW_SATURATE ? take_end(s, negative) : NAN_OUT;
    case FPEMU_KIND_FLOAT:
        if (is_e8m0(s) && *negative)
            return NAN_OUT;
        if (s->overflow == FPEMU_OVERFLOW_SATURATE)
            return take_end(s, negative);
        if (*negative && !s->f.is_signed)
            return s->overflow == FPEMU_OVERFLOW_IEEE && has_nan(s) ? NAN_OUT : take_end(s, negative);
        if (has_infinity(s))
            return INFINITE;
        return has_nan(s) && s->f.specials != FPEMU_SPECIALS_P3109F ? NAN_OUT : take_end(s, negative);
    default: return take_end(s, negative);
    }
}

/* Brings the integer in s->k into the format: the low bits for wrap, else the nearer end. Returns 1 if it was out. */
static int fit_integer(slow *s, int64_t *q)
{
    int outside = mpz_cmp_si(s->k, s->qmax) > 0 || mpz_cmp_si(s->k, s->qmin) < 0;
    if (outside && s->f.wrap && s->overflow == FPEMU_OVERFLOW_IEEE) {
        mpz_fdiv_r_2exp(s->k, s->k, s->f.bits);
        *q = code_to_integer(s, mpz_get_ui(s->k));
    } else if (outside) {
        *q = mpz_sgn(s->k) > 0 ? s->qmax : s->qmin;
    } else {
        *q = mpz_get_si(s->k);
    }
    return outside;
}

/* s->k = the integer of the fixed-point x in s->x. */
static void round_fixed(slow *s, int negative, uint32_t random)
{
    round_to_step(s, negative, -(long)s->f.fraction_bits, -1, random);
    if (negative)
        mpz_neg(s->k, s->k);
}

/* s->a * 2^*step = x / scale, rounded to odd in binary64; past its largest value, that value. */
static void quotient_to_odd(slow *s, long *step)
{
    long have = (long)mpz_sizeinbase(s->x, 2), divisor = (long)mpz_sizeinbase(s->scale, 2);
    const long lift = divisor - have + 56 > 0 ? divisor - have + 56 : 0;
    mpz_mul_2exp(s->a, s->x, (unsigned long)lift);
    mpz_fdiv_qr(s->a, s->b, s->a, s->scale);
    int sticky = mpz_sgn(s->b) != 0;
    const long top = (long)mpz_sizeinbase(s->a, 2) - 1 - lift;
    if (top > 1023) {
        mpz_set_ui(s->a, ones(53));
        *step = 971;
        return;
    }
    *step = (top < -1022 ? -1022 : top) - 52;
    const unsigned long drop = (unsigned long)(*step + lift);
    mpz_fdiv_r_2exp(s->b, s->a, drop);
    sticky |= mpz_sgn(s->b) != 0;
    mpz_fdiv_q_2exp(s->a, s->a, drop);
    if (sticky)
        mpz_setbit(s->a, 0);
}

/* s->k = the integer q of the x in s->x (bits `xbits`), not yet brought into range. */
static void round_affine(slow *s, uint64_t xbits, int negative, uint32_t random)
{
    long step;
    quotient_to_odd(s, &step);
    if (step >= 0) { /* an integer: half of twice itself, without a rest */
        mpz_mul_2exp(s->a, s->a, (unsigned long)step + 1);
        step = -1;
    }
    const unsigned long shift = (unsigned long)-step;
    mpz_fdiv_q_2exp(s->k, s->a, shift);
    mpz_fdiv_r_2exp(s->rem, s->a, shift);
    int up = mpz_tstbit(s->rem, shift - 1) && (mpz_scan1(s->rem, 0) != shift - 1 || mpz_odd_p(s->k));
    /* First: a value of the format is a fixed point of every mode, though x / scale need not be the integer. */
    mpz_add_ui(s->y, s->k, (unsigned long)up);
    mpz_mul(s->y, s->y, s->scale);
    if (store(s, negative, s->y) != xbits)
        up = goes_up(s, negative, mpz_odd_p(s->k), s->rem, shift, random);
    mpz_add_ui(s->k, s->k, (unsigned long)up);
    if (negative)
        mpz_neg(s->k, s->k);
    if (s->f.zero_point >= 0)
        mpz_add_ui(s->k, s->k, (unsigned long)s->f.zero_point);
    else
        mpz_sub_ui(s->k, s->k, 0 - (unsigned long)s->f.zero_point);
    /* Several integers may have one value: x that is an end in value is that end. */
    if (!negative && mpz_cmp(s->x, s->max) == 0 && mpz_cmp_si(s->k, s->qmax) > 0)
        mpz_set_si(s->k, s->qmax);
    if (negative && mpz_cmpabs(s->x, s->lowest) == 0 && mpz_cmp_si(s->k, s->qmin) < 0)
        mpz_set_si(s->k, s->qmin);
}

/* s->y and the code of the x in s->x (not zero). */
static uint64_t round_posit(slow *s, int negative)
{
    const unsigned n = s->f.bits;
    int dummy;
    uint64_t u = code_at_most(s, s->x);
    if (u == 0) {
        u = 1; /* below the smallest positive posit: never to zero */
    } else if (u < s->end_code && mpz_cmp(s->a, s->x) != 0) {
        decode_posit(s, n + 1, u << 1 | 1, s->a, &dummy);
        const int order = mpz_cmp(s->x, s->a);
        if (order > 0 || (order == 0 && (u & 1)))
            u++;
    }
    decode_posit(s, n, u, s->y, &dummy);
    return negative ? (0 - u) & ones(n) : u;
}

/* --------------------------------------------------------------------------------------------- one element */

static uint64_t nan_code(const slow *s)
{
    const fpemu_format *f = &s->f;
    unsigned mag_bits = f->bits - f->is_signed;
    if (f->kind == FPEMU_KIND_POSIT)
        return (uint64_t)1 << (f->bits - 1);
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE:
        if (f->bits <= 8)
            return ones(mag_bits);
        return ones(f->exponent_bits) << f->mantissa_bits | (uint64_t)1 << (f->mantissa_bits - 1);
    case FPEMU_SPECIALS_HIF8:
    case FPEMU_SPECIALS_FNUZ: return (uint64_t)1 << (f->bits - 1);
    case FPEMU_SPECIALS_P3109E:
    case FPEMU_SPECIALS_P3109F: return f->is_signed ? (uint64_t)1 << (f->bits - 1) : ones(mag_bits);
    default: return ones(mag_bits);
    }
}

static uint64_t infinity_code(const slow *s, int negative)
{
    const fpemu_format *f = &s->f;
    unsigned mag_bits = f->bits - f->is_signed;
    uint64_t sign = negative ? (uint64_t)1 << (f->bits - 1) : 0;
    if (is_hif8(s))
        return sign | 0x6f;
    if (f->specials == FPEMU_SPECIALS_P3109E)
        return sign | (ones(mag_bits) - (f->is_signed ? 0 : 1));
    return sign | ones(f->exponent_bits) << f->mantissa_bits;
}

static uint64_t finite_code(slow *s, int negative, const mpz_t mag)
{
    if (s->f.kind == FPEMU_KIND_FIXED) {
        mpz_fdiv_q_2exp(s->a, mag, (unsigned long)((long)s->unit - s->f.fraction_bits));
        return (negative ? 0 - mpz_get_ui(s->a) : mpz_get_ui(s->a)) & ones(s->f.bits);
    }
    if (s->f.kind == FPEMU_KIND_POSIT) {
        uint64_t u = code_at_most(s, mag);
        return negative ? (0 - u) & ones(s->f.bits) : u;
    }
    for (uint64_t code = 1; is_hif8(s); code++) /* does not rise with the value */
        if (mpz_sgn(mag) == 0 || (decode(s, code, s->a, &(int){0}) == FINITE && mpz_cmp(s->a, mag) == 0))
            return mpz_sgn(mag) ? code | (negative ? 0x80u : 0) : 0;
    return (mpz_sgn(mag) ? code_at_most(s, mag) : 0) | (negative ? (uint64_t)1 << (s->f.bits - 1) : 0);
}

static judge_result nan_input(slow *s, int negative, int want_code)
{
    judge_result r = {0, 0, 0};
    if (has_nan(s)) {
        r.bits = nan_bits(s);
        r.code = want_code ? nan_code(s) : 0;
        return r;
    }
    switch (s->nan) {
    case FPEMU_NAN_MAX:
        negative = 0;
        take_end(s, &negative);
        break;
    case FPEMU_NAN_SIGNMAX: take_end(s, &negative); break;
    case FPEMU_NAN_ZERO:
        negative = 0;
        mpz_set_ui(s->y, 0);
        break;
    default:
        r.bits = nan_bits(s);
        if (want_code && s->f.kind == FPEMU_KIND_FLOAT) {
            negative = 0;
            take_end(s, &negative);
            r.code = finite_code(s, negative, s->y);
        }
        return r;
    }
    r.bits = store(s, negative, s->y);
    if (want_code && s->f.kind == FPEMU_KIND_INT) {
        int64_t q = mpz_sgn(s->y) == 0 ? s->f.zero_point : negative ? s->qmin : s->qmax;
        /* The largest value may be zero, too, where the zero point is the largest code: the same code then. */
        r.code = (uint64_t)q & ones(s->f.bits);
    } else if (want_code) {
        r.code = finite_code(s, negative, s->y);
    }
    return r;
}

/* x is what was loaded: its magnitude, if finite, in s->x; xbits: the same as bits of the carrier, for affine
 * integers. */
static judge_result round_loaded(slow *s, outcome x, int xnegative, uint64_t xbits, uint32_t random, int want_code)
{
    judge_result r = {0, 0, 0};
    const int integer = s->f.kind == FPEMU_KIND_INT || s->f.kind == FPEMU_KIND_FIXED;
    int negative = xnegative;
    int64_t q = 0;
    outcome y = FINITE;
    if (x == NAN_OUT)
        return nan_input(s, negative, want_code);
    if (x == INFINITE) {
        y = infinite_input(s, &negative);
        q = xnegative ? s->qmin : s->qmax;
    } else if (is_e8m0(s) && negative && mpz_sgn(s->x)) {
        y = NAN_OUT;
    } else if (is_e8m0(s) && (mpz_sgn(s->x) == 0 || floor_log2(s, s->x) < s->emin)) {
        negative = 0;
        set_scaled(s, s->y, 1, s->emin);
    } else if (integer) {
        if (mpz_sgn(s->x) == 0)
            mpz_set_si(s->k, s->f.zero_point);
        else if (s->f.kind == FPEMU_KIND_FIXED)
            round_fixed(s, negative, random);
        else
            round_affine(s, xbits, negative, random);
        if (fit_integer(s, &q))
            r.events |= JUDGE_OVERFLOW;
        integer_value(s, q, s->y, &negative);
    } else if (mpz_sgn(s->x) == 0) {
        mpz_set_ui(s->y, 0);
    } else if (s->f.kind == FPEMU_KIND_POSIT) {
        round_posit(s, negative);
        if (mpz_cmp(s->x, s->max) > 0)
            r.events |= JUDGE_OVERFLOW;
    } else {
        round_float(s, negative, random);
        if (mpz_cmp(s->y, s->max) > 0 || (negative && !s->f.is_signed && mpz_sgn(s->y))) {
            r.events |= JUDGE_OVERFLOW;
            y = overflow_float(s, &negative);
        }
    }
    if (y == FINITE && mpz_sgn(s->y) == 0 && !has_negative_zero(s))
        negative = 0;
    if (x == FINITE) {
        if (xnegative)
            mpz_neg(s->x, s->x);
        if (mpz_cmp(s->x, s->max) > 0 || (!is_e8m0(s) && mpz_cmp(s->x, s->lowest) < 0))
            r.events |= JUDGE_CLIPPED;
        if (y == FINITE && mpz_sgn(s->x) && mpz_sgn(s->y) == 0)
            r.events |= JUDGE_UNDERFLOW;
        if (y != FINITE || mpz_cmpabs(s->x, s->y) || (mpz_sgn(s->y) && negative != xnegative))
            r.events |= JUDGE_INEXACT;
    }
    if (y == NAN_OUT && !(r.events & JUDGE_OVERFLOW))
        r.events |= JUDGE_INVALID;
    const long normal = is_hif8(s) ? -15 : s->emin;
    if (y == FINITE && s->f.kind == FPEMU_KIND_FLOAT && mpz_sgn(s->y) && floor_log2(s, s->y) < normal &&
        floor_log2(s, s->max) >= normal)
        r.events |= JUDGE_SUBNORMAL;
    switch (y) {
    case NAN_OUT:
        r.bits = nan_bits(s);
        r.code = want_code ? nan_code(s) : 0;
        break;
    case INFINITE:
        r.bits = infinity_bits(s, negative);
        r.code = want_code ? infinity_code(s, negative) : 0;
        break;
    default:
        r.bits = store(s, negative, s->y);
        if (want_code)
            r.code = integer ? (uint64_t)q & ones(s->f.bits) : finite_code(s, negative, s->y);
        break;
    }
    return r;
}

static judge_result slow_round(judge *j, uint64_t xbits, uint32_t random, int want_code)
{
    slow *s = (slow *)j;
    int negative;
    outcome x = load(s, xbits, s->x, &negative);
    return round_loaded(s, x, negative, xbits, random, want_code);
}

/* s->x = k * 2^exponent, what lies below its unit as one sticky bit. Returns 1 if there was any. */
static int load_exact(slow *s, mpz_srcptr k, long exponent)
{
    long shift = exponent + (long)s->unit;
    int sticky = 0;
    if (shift >= 0) {
        mpz_mul_2exp(s->x, k, (unsigned long)shift);
    } else {
        mpz_fdiv_r_2exp(s->x, k, (unsigned long)-shift);
        sticky = mpz_sgn(s->x) != 0;
        mpz_fdiv_q_2exp(s->x, k, (unsigned long)-shift);
        if (sticky)
            mpz_setbit(s->x, 0);
    }
    return sticky;
}

judge_result judge_exact(judge *j, int negative, mpz_srcptr k, long exponent, uint32_t random)
{
    slow *s = (slow *)j;
    load_exact(s, k, exponent);
    return round_loaded(s, FINITE, negative, 0, random, 0);
}

judge_result judge_exact_code(judge *j, int negative, mpz_srcptr k, long exponent, uint32_t random)
{
    slow *s = (slow *)j;
    int sticky = load_exact(s, k, exponent), dummy;
    uint64_t bits = store(s, negative, s->x);
    /* A number that the carrier lacks is no value of the format: bits that no value has. */
    if (load(s, bits, s->y, &dummy) != FINITE || mpz_cmp(s->x, s->y) || sticky)
        bits = ~(uint64_t)0;
    return round_loaded(s, FINITE, negative, bits, random, 1);
}

/* --------------------------------------------------------------------------------------------------- open */

static void slow_close(judge *j)
{
    slow *s = (slow *)j;
    mpz_clears(s->max, s->lowest, s->scale, s->x, s->y, s->k, s->rem, s->a, s->b, (mpz_ptr)NULL);
    free(s);
}

/* Whether significands of `digits` bits on a grid of 2^step up to (not including) 2^end fit the carrier. */
static int carrier_holds(const slow *s, long digits, long step, long end)
{
    return digits <= (long)s->digits && step >= s->carrier_emin - (long)s->digits + 1 && end <= 2 - s->carrier_emin;
}

static int open_float(slow *s)
{
    const fpemu_format *f = &s->f;
    unsigned mag_bits = f->bits - f->is_signed;
    int dummy;
    if (is_hif8(s)) {
        s->emin = -22;
        s->end_code = 0x6e;
        set_scaled(s, s->max, 1, 15);
        mpz_neg(s->lowest, s->max);
        return 1;
    }
    s->emin = f->specials == FPEMU_SPECIALS_E8M0 || f->specials == FPEMU_SPECIALS_DLFLOAT ? -(long)f->bias
                                                                                          : 1 - (long)f->bias;
    switch (f->specials) {
    case FPEMU_SPECIALS_IEEE: s->end_code = (ones(f->exponent_bits) << f->mantissa_bits) - 1; break;
    case FPEMU_SPECIALS_FN:
    case FPEMU_SPECIALS_E8M0:
    case FPEMU_SPECIALS_DLFLOAT: s->end_code = ones(mag_bits) - 1; break;
    case FPEMU_SPECIALS_P3109E: s->end_code = ones(mag_bits) - (f->is_signed ? 1 : 2); break;
    case FPEMU_SPECIALS_P3109F: s->end_code = ones(mag_bits) - (f->is_signed ? 0 : 1); break;
    default: s->end_code = ones(mag_bits); break;
    }
    const uint64_t E = s->end_code >> f->mantissa_bits;
    const long digits = (long)f->mantissa_bits + (E > 0);
    const long end = (E > 0 ? (long)E : 1) - (long)f->bias + (E > 0);
    if (!carrier_holds(s, digits, s->emin - (long)f->mantissa_bits, end))
        return 0;
    decode_float(s, s->end_code, s->max, &dummy);
    if (f->is_signed)
        mpz_neg(s->lowest, s->max);
    else if (is_e8m0(s))
        set_scaled(s, s->lowest, 1, s->emin);
    return 1;
}

static int open_integer(slow *s)
{
    const fpemu_format *f = &s->f;
    unsigned mag_bits = f->bits - f->is_signed;
    int negative;
    if (mag_bits > 62)
        return 0;
    s->qmax = (int64_t)ones(mag_bits);
    s->qmin = f->is_signed ? -s->qmax - !f->symmetric : 0;
    if (f->kind == FPEMU_KIND_FIXED) {
        /* -2^(w-1) is a power of two: it takes the end of the range up by one, not the digits. */
        long end = (long)mag_bits - f->fraction_bits + (f->is_signed && !f->symmetric);
        if (!carrier_holds(s, mag_bits, -(long)f->fraction_bits, end))
            return 0;
    } else {
        float single = (float)f->scale;
        uint32_t single_bits;
        uint64_t bits;
        memcpy(&single_bits, &single, sizeof single);
        memcpy(&bits, &f->scale, sizeof bits);
        if (load(s, s->width == 32 ? single_bits : bits, s->scale, &negative) != FINITE || negative ||
            mpz_sgn(s->scale) == 0)
            return 0;
    }
    integer_value(s, s->qmax, s->max, &negative);
    integer_value(s, s->qmin, s->lowest, &negative);
    if (negative)
        mpz_neg(s->lowest, s->lowest);
    return 1;
}

static int open_posit(slow *s)
{
    const fpemu_format *f = &s->f;
    long range = (1L << f->exponent_bits) * ((long)f->bits - 2);
    long digits = (long)f->bits - 2 - (long)f->exponent_bits;
    int dummy;
    if (s->mode != FPEMU_MODE_RNE || !carrier_holds(s, digits, -range, range + 1))
        return 0;
    s->end_code = ones(f->bits - 1);
    decode_posit(s, f->bits, s->end_code, s->max, &dummy);
    mpz_neg(s->lowest, s->max);
    return 1;
}

judge *judge_open_slow(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier)
{
    if ((carrier != 32 && carrier != 64) || rounding->compat != FPEMU_COMPAT_NONE)
        return NULL;
    slow *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = (judge){JUDGE_SLOW, slow_round, slow_decode, slow_close};
    s->f = *format;
    s->mode = rounding->mode;
    s->overflow = rounding->overflow ? rounding->overflow : format->overflow ? format->overflow : FPEMU_OVERFLOW_IEEE;
    s->nan = rounding->nan ? rounding->nan : format->nan ? format->nan : FPEMU_NAN_KEEP;
    s->variant = rounding->variant;
    s->random_bits = rounding->bits ? rounding->bits : 32;
    s->width = carrier;
    s->digits = carrier == 32 ? 24 : 53;
    s->carrier_emin = carrier == 32 ? -126 : -1022;
    s->unit = carrier == 32 ? 192 : 1152;
    mpz_inits(s->max, s->lowest, s->scale, s->x, s->y, s->k, s->rem, s->a, s->b, (mpz_ptr)NULL);
    int ok = 0;
    switch (format->kind) {
    case FPEMU_KIND_FLOAT: ok = open_float(s); break;
    case FPEMU_KIND_FIXED:
    case FPEMU_KIND_INT: ok = open_integer(s); break;
    case FPEMU_KIND_POSIT: ok = open_posit(s); break;
    default: break;
    }
    if (!ok) {
        slow_close(&s->base);
        return NULL;
    }
    return &s->base;
}
