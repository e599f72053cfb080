/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - the slow judge of blocked formats: doc/blocks.md in exact numbers, one element at a time.
 *
 * A number is m * 2^e with a binary64 m: powers of two as scales leave every carrier's range, and t = x/s with them.
 */
#include "blocks.h"
#include "exact.h"
#include "longhand.h"
#include <mpfr.h>

typedef struct number {
    double m;
    long e;
} number;

static const double largest32 = 0x1.fffffep127; /* F of the definition */

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------------------------------- one rounded operation */

static number plain(double m)
{
    return (number){m, 0};
}

/* |x| = k * 2^result; x finite. */
static long integer_of(mpz_t k, number x)
{
    int e;
    double fraction = frexp(fabs(x.m), &e);
    mpz_set_d(k, ldexp(fraction, 53));
    return x.m == 0 ? 0 : x.e + e - 53;
}

/* floor(log2 |x|), x not zero. */
static long binade(number x)
{
    int e;
    frexp(x.m, &e);
    return x.e + e - 1;
}

/* Whether |x| is a power of two. */
static int is_power(number x)
{
    int e;
    return fabs(frexp(x.m, &e)) == 0.5;
}

/* n/d * 2^e rounded to nearest even to the carrier; n >= 0, d > 0. Destroys n and d. */
static double round_rational(unsigned carrier, int negative, mpz_t n, mpz_t d, long e)
{
    long digits = carrier == 32 ? 24 : 53, emin = carrier == 32 ? -126 : -1022, top, step;
    mpz_t q;
    int order;

    if (mpz_sgn(n) == 0)
        return negative ? -0.0 : 0.0;
    /* floor(log2(n/d)): the difference of the lengths, or one less. */
    top = (long)mpz_sizeinbase(n, 2) - (long)mpz_sizeinbase(d, 2);
    mpz_init(q);
    if (top >= 0) {
        mpz_mul_2exp(q, d, (unsigned long)top);
        order = mpz_cmp(n, q);
    } else {
        mpz_mul_2exp(q, n, (unsigned long)-top);
        order = mpz_cmp(q, d);
    }
    top += e - (order < 0);
    step = (top < emin ? emin : top) - digits + 1;
    if (e >= step)
        mpz_mul_2exp(n, n, (unsigned long)(e - step));
    else
        mpz_mul_2exp(d, d, (unsigned long)(step - e));
    mpz_fdiv_qr(q, n, n, d);
    mpz_mul_2exp(n, n, 1);
    order = mpz_cmp(n, d);
    if (order > 0 || (order == 0 && mpz_odd_p(q)))
        mpz_add_ui(q, q, 1);
    double y =
        mpz_sgn(q) && (long)mpz_sizeinbase(q, 2) + step > 1 - emin + 1 ? INFINITY : ldexp(mpz_get_d(q), (int)step);
    mpz_clear(q);
    return negative ? -y : y;
}

/* [a*b] and [a/b]. */
static double multiply(unsigned carrier, number a, number b)
{
    mpz_t n, d;
    if (!isfinite(a.m) || !isfinite(b.m))
        return a.m * b.m;
    mpz_inits(n, d, (mpz_ptr)NULL);
    long e = integer_of(n, a) + integer_of(d, b);
    mpz_mul(n, n, d);
    mpz_set_ui(d, 1);
    double y = round_rational(carrier, (signbit(a.m) != 0) != (signbit(b.m) != 0), n, d, e);
    mpz_clears(n, d, (mpz_ptr)NULL);
    return y;
}

static double divide(unsigned carrier, number a, number b)
{
    mpz_t n, d;
    if (!isfinite(a.m) || !isfinite(b.m) || b.m == 0)
        return a.m / b.m;
    mpz_inits(n, d, (mpz_ptr)NULL);
    long e = integer_of(n, a) - integer_of(d, b);
    double y = round_rational(carrier, (signbit(a.m) != 0) != (signbit(b.m) != 0), n, d, e);
    mpz_clears(n, d, (mpz_ptr)NULL);
    return y;
}

/* A number of the carrier as a binary32 number, saturating. */
static double to_single(double x)
{
    double y = multiply(32, plain(x), plain(1));
    return fabs(y) > largest32 ? copysign(largest32, y) : y;
}

static double saturate(unsigned carrier, double y)
{
    double end = carrier == 32 ? largest32 : 0x1.fffffffffffffp1023;
    return isinf(y) ? copysign(end, y) : y;
}

/* x rounded to the carrier, saturating. */
static double to_number(unsigned carrier, double x)
{
    return saturate(carrier, multiply(carrier, plain(x), plain(1)));
}

/* --------------------------------------------------------------------------------------------------- codebooks */

static const float nf4[16] = LIST(
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
    -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
    0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f);

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

unsigned ref_codebook(unsigned name, unsigned bits, float *values)
{
    unsigned n = 0, i, k, count;
    if (name == FPEMU_CODEBOOK_NF4) {
        memcpy(values, nf4, sizeof nf4);
        return 16;
    }
    values[n++] = 0;
    values[n++] = 1;
    for (i = 0; i + 1 < bits; i++) {
        count = 1u << (i + (name == FPEMU_CODEBOOK_UDYNAMIC));
        for (k = 0; k < count; k++) {
            /* 0.1 + 0.9*(k + 1/2)/count = (2*count + 9*(2*k + 1)) / (20*count), times 10^(i-(bits-2)) */
            mpz_t top, bottom;
            float v;
            mpz_init_set_ui(top, 2 * count + 9 * (2 * k + 1));
            mpz_init(bottom);
            mpz_ui_pow_ui(bottom, 10, bits - 2 - i);
            mpz_mul_ui(bottom, bottom, 20 * count);
            v = (float)round_rational(32, 0, top, bottom, 0);
            mpz_clears(top, bottom, (mpz_ptr)NULL);
            values[n++] = v;
            if (name == FPEMU_CODEBOOK_DYNAMIC)
                values[n++] = -v;
        }
    }
    qsort(values, n, sizeof *values, ascending);
    return n;
}

/* ------------------------------------------------------------------------------------------- elements of a call */

typedef struct context {
    const fpemu_format *f;
    const fpemu_rounding *r;
    unsigned carrier, random_bits;
    judge *element, *scale; /* NULL: a codebook; no scale, or a bare power of two */
    judge *drawn;           /* rounds scales that are corrected */
    judge *whole;           /* rounds to integers, where blocks can have second numbers */
    const fpemu_given *given;
    float *table;
    mpq_t *points, t, a; /* of the table */
    unsigned length;
    double max, lowest; /* M (largest magnitude of a codebook), lowest value */
    long emax;
    double step;                 /* fixed point, integers */
    double scale_max, scale_min; /* float scales: largest, smallest positive */
    int scale_nan;
    uint64_t scale_nan_code;
} context;

static fpemu_format element_parameters(const fpemu_format *f)
{
    fpemu_format e = *f;
    e.scaling = 0;
    return e;
}

static fpemu_format scale_parameters(const fpemu_format *f)
{
    fpemu_format s = {0};
    s.kind = FPEMU_KIND_FLOAT;
    s.exponent_bits = f->scale_exponent_bits;
    s.mantissa_bits = f->scale_mantissa_bits;
    s.bias = f->scale_bias;
    s.specials = f->scale_specials;
    s.is_signed = f->scale_signed;
    s.bits = s.exponent_bits + s.mantissa_bits + s.is_signed;
    s.overflow = FPEMU_OVERFLOW_IEEE;
    s.nan = FPEMU_NAN_KEEP;
    return s;
}

static void close_context(context *c)
{
    judge_close(c->element);
    judge_close(c->scale);
    judge_close(c->drawn);
    judge_close(c->whole);
    if (c->points) {
        for (unsigned i = 0; i < c->length; i++)
            mpq_clear(c->points[i]);
        mpq_clears(c->t, c->a, (mpq_ptr)NULL);
    }
    FREE(c->points, c->table);
}

static int open_codebook(context *c)
{
    if (c->r->mode == FPEMU_MODE_RTO)
        return 0;
    c->table = allocate(c->f->codebook_length + 256, sizeof *c->table);
    if (c->f->codebook == FPEMU_CODEBOOK_CUSTOM) {
        c->length = c->f->codebook_length;
        memcpy(c->table, c->f->table, c->length * sizeof *c->table);
    } else {
        c->length = ref_codebook(c->f->codebook, c->f->bits, c->table);
    }
    c->points = allocate(c->length, sizeof *c->points);
    mpq_inits(c->t, c->a, (mpq_ptr)NULL);
    for (unsigned i = 0; i < c->length; i++) {
        mpq_init(c->points[i]);
        mpq_set_d(c->points[i], (double)c->table[i]);
    }
    c->lowest = (double)c->table[0];
    c->max = fmax(fabs(c->lowest), fabs((double)c->table[c->length - 1]));
    return 1;
}

/* What the second number of a block does, by rule. */
enum { AFTER = 1, BEFORE, OFFSET, MANTISSA };
static const uint8_t orders[FPEMU_SCALING_COUNT] = {
    [FPEMU_SCALING_ASYMMETRIC] = AFTER, [FPEMU_SCALING_MINMAX] = AFTER,  [FPEMU_SCALING_HQQ] = BEFORE,
    [FPEMU_SCALING_TINYGEMM] = OFFSET,  [FPEMU_SCALING_GGML_1] = OFFSET, [FPEMU_SCALING_GGML_1K] = OFFSET};

static int open_context(context *c, const fpemu_format *f, const fpemu_rounding *r, unsigned carrier)
{
    static const fpemu_rounding nearest;
    fpemu_format element = element_parameters(f), scale = scale_parameters(f);
    fpemu_rounding how = *r, scale_how = nearest;

    memset(c, 0, sizeof *c);
    c->f = f;
    c->r = r;
    c->carrier = carrier;
    c->random_bits = r->bits ? r->bits : 32;
    how.compat = FPEMU_COMPAT_NONE;
    if (f->scaling)
        how.overflow = FPEMU_OVERFLOW_SATURATE;
    if (f->kind == FPEMU_KIND_CODEBOOK) {
        if (!open_codebook(c))
            return 0;
    } else {
        c->element = judge_open_slow(&element, &how, carrier);
        if (!c->element)
            return 0;
        if (f->scaling) {
            c->max = carrier_value(carrier, judge_round(c->element, carrier_bits(carrier, INFINITY), 0, 0).bits);
            c->lowest = carrier_value(carrier, judge_round(c->element, carrier_bits(carrier, -INFINITY), 0, 0).bits);
        }
    }
    if (!f->scaling)
        return 1;
    c->emax = binade(plain(c->max));
    c->step = f->kind == FPEMU_KIND_INT ? f->scale : f->kind == FPEMU_KIND_FIXED ? ldexp(1, -f->fraction_bits) : 0;
    if (f->scaling == FPEMU_SCALING_S2FP8 || f->scale_power)
        return 1;
    const fpemu_format whole = {.kind = FPEMU_KIND_INT, .bits = 32, .is_signed = 1, .scale = 1}; /* its ends are far */
    c->whole = f->kind == FPEMU_KIND_INT ? judge_open_slow(&whole, &how, 64) : NULL;
    scale_how.overflow = FPEMU_OVERFLOW_SATURATE;
    c->scale = judge_open_slow(&scale, &scale_how, 64);
    if (!c->scale)
        return 0;
    scale_how.mode = FPEMU_MODE_SR;
    scale_how.bits = r->bits;
    scale_how.variant = r->variant;
    c->drawn = f->scaling == FPEMU_SCALING_EDEN ? judge_open_slow(&scale, &scale_how, 64) : NULL;
    c->scale_max = carrier_value(64, judge_round(c->scale, carrier_bits(64, INFINITY), 0, 0).bits);
    c->scale_nan_code = judge_round(c->scale, carrier_bits(64, NAN), 0, 1).code;
    c->scale_nan = isnan(carrier_value(64, judge_decode(c->scale, c->scale_nan_code)));
    c->scale_min = carrier_value(64, judge_decode(c->scale, 0));
    if (c->scale_min == 0)
        c->scale_min = carrier_value(64, judge_decode(c->scale, 1));
    return 1;
}

/* R, the random bits of an element. */
static uint32_t random_of(const context *c, uint64_t index)
{
    if (!FPEMU_MODE_DRAWS(c->r->mode))
        return 0;
    return lh_bits(c->r->generator, c->r->seed, c->r->stream, c->r->offset + index, c->random_bits);
}

/* Up by v = the quotient, which is binary64, and R. */
static int goes_up(const context *c, double v, uint32_t random)
{
    mpq_t scaled, half;
    mpz_t k;
    mpq_inits(scaled, half, (mpq_ptr)NULL);
    mpz_init(k);
    mpq_set_d(scaled, v);
    mpq_mul_2exp(scaled, scaled, c->random_bits + (c->r->variant == FPEMU_SR_VARIANT_B));
    mpz_fdiv_q(k, mpq_numref(scaled), mpq_denref(scaled));
    if (c->r->variant == FPEMU_SR_VARIANT_C) { /* to nearest even */
        mpq_t rest;
        mpq_init(rest);
        mpq_set_z(rest, k);
        mpq_sub(rest, scaled, rest);
        mpq_set_ui(half, 1, 2);
        if (mpq_cmp(rest, half) > 0 || (mpq_equal(rest, half) && mpz_odd_p(k)))
            mpz_add_ui(k, k, 1);
        mpq_clear(rest);
    }
    if (c->r->variant == FPEMU_SR_VARIANT_B)
        mpz_add_ui(k, k, 2 * (unsigned long)random + 1);
    else
        mpz_add_ui(k, k, random);
    int up = mpz_sizeinbase(k, 2) > c->random_bits + (c->r->variant == FPEMU_SR_VARIANT_B);
    mpq_clears(scaled, half, (mpq_ptr)NULL);
    mpz_clear(k);
    return up;
}

/* A rational to the carrier, nearest even. */
static double to_carrier(unsigned carrier, mpq_t x)
{
    mpz_t n, d;
    mpz_init(n);
    mpz_init_set(d, mpq_denref(x));
    mpz_abs(n, mpq_numref(x));
    double y = round_rational(carrier, mpq_sgn(x) < 0, n, d, 0);
    mpz_clears(n, d, (mpz_ptr)NULL);
    return y;
}

/* The index that stands for t, which is finite. */
static unsigned lookup(context *c, number t, uint32_t random)
{
    unsigned low = 0, high = c->length - 1;
    double a, gap, distance;
    mpq_set_d(c->t, t.m);
    if (t.e >= 0)
        mpq_mul_2exp(c->t, c->t, (unsigned long)t.e);
    else
        mpq_div_2exp(c->t, c->t, (unsigned long)-t.e);
    if (mpq_cmp(c->t, c->points[0]) <= 0)
        return 0;
    if (mpq_cmp(c->t, c->points[high]) >= 0)
        return high;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (mpq_cmp(c->points[middle], c->t) <= 0)
            low = middle;
        else
            high = middle;
    }
    if (mpq_equal(c->t, c->points[low]))
        return low;
    switch (c->r->mode) {
    case FPEMU_MODE_RNE:
    case FPEMU_MODE_RNA:
    case FPEMU_MODE_RNZ:
    case FPEMU_MODE_RNP:
        mpq_add(c->a, c->points[low], c->points[high]);
        mpq_div_2exp(c->a, c->a, 1);
        a = to_carrier(c->carrier, c->a);
        mpq_set_d(c->a, a);
        if (mpq_equal(c->t, c->a))
            return c->r->mode == FPEMU_MODE_RNP || (c->r->mode == FPEMU_MODE_RNA && a >= 0) ||
                           (c->r->mode == FPEMU_MODE_RNZ && a < 0)
                       ? high
                       : low;
        return mpq_cmp(c->t, c->a) > 0 ? high : low;
    case FPEMU_MODE_RTZ: return t.m >= 0 ? low : high;
    case FPEMU_MODE_RAZ: return t.m >= 0 ? high : low;
    case FPEMU_MODE_RTP: return high;
    case FPEMU_MODE_RTN: return low;
    case FPEMU_MODE_SE: return random >> (c->random_bits - 1) & 1 ? high : low;
    default: break;
    }
    mpq_sub(c->a, c->points[high], c->points[low]);
    gap = to_carrier(64, c->a);
    mpq_sub(c->a, c->t, c->points[low]);
    distance = to_carrier(64, c->a);
    return goes_up(c, divide(64, plain(distance), plain(gap)), random) ? high : low;
}

static const uint32_t of_t = JUDGE_CLIPPED | JUDGE_OVERFLOW | JUDGE_SUBNORMAL;

/* *p and e->code, e->events of a finite or infinite t. */
static void round_element(context *c, number t, uint64_t index, ref_element *e)
{
    uint32_t random = random_of(c, index);
    e->t = ldexp(t.m, (int)t.e);
    if (c->f->kind == FPEMU_KIND_CODEBOOK) {
        double top = (double)c->table[c->length - 1];
        unsigned k = isinf(t.m) ? (t.m > 0 ? c->length - 1 : 0) : lookup(c, t, random);
        e->p = (double)c->table[k] + 0.0;
        e->code = k;
        mpq_set_d(c->a, top);
        if (isinf(t.m) || mpq_cmp(c->t, c->a) > 0 || mpq_cmp(c->t, c->points[0]) < 0)
            e->events = JUDGE_CLIPPED | JUDGE_OVERFLOW;
    } else {
        judge_result r;
        if (isinf(t.m)) {
            r = judge_round(c->element, carrier_bits(c->carrier, t.m), random, 1);
            r.events |= JUDGE_CLIPPED | JUDGE_OVERFLOW;
        } else {
            mpz_t k;
            long exponent;
            mpz_init(k);
            exponent = integer_of(k, t);
            r = judge_exact_code(c->element, signbit(t.m) != 0, k, exponent, random);
            mpz_clear(k);
        }
        e->p = carrier_value(c->carrier, r.bits);
        e->code = r.code;
        e->events = r.events & of_t;
    }
}

/* A NaN, and an infinity in a block that did not become NaN. */
static void special_element(context *c, uint64_t x, uint64_t index, ref_element *e)
{
    double v = carrier_value(c->carrier, x);
    unsigned nan = c->r->nan ? c->r->nan : c->f->nan ? c->f->nan : FPEMU_NAN_KEEP;
    judge_result r;
    if (c->f->kind != FPEMU_KIND_CODEBOOK) {
        r = judge_round(c->element, x, 0, 1);
        e->p = carrier_value(c->carrier, r.bits);
        e->code = r.code;
        e->nan_error =
            isnan(v) && nan == FPEMU_NAN_ERROR && !isnan(carrier_value(c->carrier, judge_decode(c->element, r.code)));
        return;
    }
    if (isnan(v)) {
        int negative = (int)(x >> (c->carrier - 1) & 1);
        e->p = NAN;
        e->code = c->length - 1;
        e->nan_error = nan == FPEMU_NAN_ERROR;
        if (nan == FPEMU_NAN_SIGNMAX && negative)
            e->code = 0;
        if (nan == FPEMU_NAN_MAX || nan == FPEMU_NAN_SIGNMAX)
            e->p = (double)c->table[e->code];
        if (nan == FPEMU_NAN_ZERO) {
            e->code = lookup(c, plain(0), random_of(c, index));
            e->p = (double)c->table[e->code] + 0.0;
        }
        return;
    }
    e->code = v > 0 ? c->length - 1 : 0;
    e->p = (double)c->table[e->code] + 0.0;
}

/* ------------------------------------------------------------------------------------------------------ scales */

static number block_scale(const ref_block *b)
{
    return (number){b->scale, b->exponent};
}

/* 2^exponent as scale; beyond = -1, 1: below or above whatever there is. */
static void power_scale(context *c, long exponent, int beyond, ref_block *b)
{
    long low, high;
    if (c->f->scale_power) {
        low = -(1L << (c->f->scale_exponent_bits - 1));
        high = -low - 1;
    } else {
        low = binade(plain(c->scale_min));
        high = binade(plain(c->scale_max));
    }
    if (beyond < 0 || exponent < low) {
        b->saturated = 1;
        exponent = low;
    } else if (beyond > 0 || exponent > high) {
        b->saturated = 1;
        exponent = high + 1;
    }
    if (c->f->scale_power) {
        exponent = exponent > high ? high : exponent;
        b->code = (uint64_t)exponent & ((UINT64_C(1) << c->f->scale_exponent_bits) - 1);
        b->scale = 1;
        b->exponent = exponent;
    } else {
        judge_result r =
            judge_round(c->scale, carrier_bits(64, exponent > high ? INFINITY : ldexp(1, (int)exponent)), 0, 1);
        b->code = r.code;
        b->scale = carrier_value(64, r.bits);
        b->exponent = 0;
    }
}

static int has_zero(judge *scale)
{
    return carrier_value(64, judge_decode(scale, 0)) == 0;
}

/* v in S, as `how` rounds it. */
static void rounded_scale(context *c, judge *how, double v, uint32_t random, ref_block *b)
{
    judge_result r = judge_round(how, carrier_bits(64, v), random, 1);
    b->code = r.code;
    b->scale = carrier_value(64, r.bits);
    b->exponent = 0;
    /* past the largest value even when rounded without end; or below the smallest of a format without zero */
    b->saturated = isinf(v) || (r.events & JUDGE_OVERFLOW) || (v < c->scale_min && !has_zero(c->scale));
}

/* [v]_S. */
static void value_scale(context *c, double v, ref_block *b)
{
    rounded_scale(c, c->scale, v, 0, b);
}

/* x rounded to p bits, ties up: its binade. */
static long binade_rounded(double x, unsigned p)
{
    mpz_t k;
    mpz_init(k);
    long e = integer_of(k, plain(x));
    long size = (long)mpz_sizeinbase(k, 2);
    long drop = size - (long)p;
    if (drop > 0) {
        mpz_t half;
        mpz_init_set_ui(half, 1);
        mpz_mul_2exp(half, half, (unsigned long)drop - 1);
        mpz_add(k, k, half);
        mpz_clear(half);
        size = (long)mpz_sizeinbase(k, 2);
    }
    mpz_clear(k);
    return e + size - 1;
}

static unsigned precision_of(const fpemu_format *f)
{
    if (f->kind == FPEMU_KIND_FLOAT)
        return f->mantissa_bits + 1;
    return f->bits - f->is_signed;
}

/* The largest n with x*2^n <= bound. */
static long headroom(double x, double bound)
{
    int ex, eb;
    double fx = frexp(x, &ex), fb = frexp(bound, &eb);
    return (long)eb - ex - (fx > fb);
}

typedef struct extent {
    double amax, max, min;     /* of finite elements; max at least 0, min at most */
    double most, least, first; /* without that; the first of magnitude amax */
    double mean;               /* of magnitudes, as absmean has it */
    int nonfinite, zero, any;
} extent;

/* Bits of a scale's code below those of its levels. */
static unsigned scale_width(const fpemu_format *f)
{
    return f->scale_power ? f->scale_exponent_bits
                          : (unsigned)f->scale_exponent_bits + f->scale_mantissa_bits + f->scale_signed;
}

/* What the levels of a scale's code make of the exponent of its element j. */
static long level(const fpemu_format *f, uint64_t code, uint64_t j)
{
    code >>= scale_width(f);
    if (f->scaling == FPEMU_SCALING_PAIRS)
        return code >> j / 2 & 1 ? -1 : 0;
    return f->scaling == FPEMU_SCALING_HIF4 ? (long)(code >> j / 8 & 1) + (long)(code >> (8 + j / 4) & 1) : 0;
}

/* x to eight digits, ties to even. */
static double bfloat(double x)
{
    int e;
    const double fraction = frexp(x, &e);
    return ldexp(nearbyint(fraction * 256), e - 8);
}

static int is_nvfp4(const fpemu_format *f)
{
    return f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO ||
           f->scaling == FPEMU_SCALING_NVFP4_CLAMP || f->scaling == FPEMU_SCALING_4OVER6 ||
           f->scaling == FPEMU_SCALING_4OVER6_MSE || f->scaling == FPEMU_SCALING_EDEN;
}

/* T: the target, M where there is none. */
static double target_of(const context *c)
{
    return c->f->target > 0 ? (double)c->f->target : c->max;
}

/* The multiplier of the recipes, exact. */
static double recipe_multiplier(context *c, const extent *x)
{
    if (x->amax == 0 || x->nonfinite)
        return 1;
    double u = divide(c->carrier, plain(target_of(c)), plain(x->amax));
    u = to_single(u > largest32 ? largest32 : u);
    u = ldexp(u, -c->f->margin);
    if (u < 0x1p-126)
        u = 0x1p-126;
    return c->f->scaling == FPEMU_SCALING_RECIPE_POW2 ? ldexp(1, (int)binade(plain(u))) : u;
}

/* a + b, rounded to the carrier: binary64 has more than twice the digits of binary32. */
static double sum_of(unsigned carrier, double a, double b)
{
    return carrier == 32 ? multiply(32, plain(a + b), plain(1)) : a + b;
}

static double inverse(unsigned carrier, double x)
{
    const double u = x == 0 ? 0 : divide(carrier, plain(1), plain(x));
    return isinf(u) ? copysign(largest32, u) : u;
}

static int is_affine(const fpemu_format *f)
{
    return (f->scaling >= FPEMU_SCALING_ASYMMETRIC && f->scaling <= FPEMU_SCALING_GGML_0) ||
           f->scaling == FPEMU_SCALING_GGML_1K || f->scaling == FPEMU_SCALING_GGML_0K;
}

/* doc/blocks.md, 2.7. */
static void affine_scale(context *c, const extent *x, ref_block *b)
{
    const unsigned carrier = c->carrier;
    const int rule = c->f->scaling, from_zero = rule == FPEMU_SCALING_ASYMMETRIC;
    const double lo = (from_zero ? x->min : x->least) + 0.0, hi = (from_zero ? x->max : x->most) + 0.0,
                 steps = c->max - c->lowest;
    const double range = saturate(carrier, sum_of(carrier, hi, -lo));
    const double q = divide(carrier, plain(range), plain(steps)), d = fmax(q, carrier == 32 ? 0x1p-126 : 0x1p-1022);
    ref_block second = {0};
    switch (rule) {
    case FPEMU_SCALING_GGML_0:
        value_scale(c, divide(carrier, plain(x->first), plain(c->lowest)), b);
        b->down = inverse(carrier, divide(carrier, plain(x->first), plain(c->lowest)));
        return;
    case FPEMU_SCALING_GGML_1:
        value_scale(c, lo, &second);
        value_scale(c, q, b);
        b->offset = lo;
        b->add = second.scale;
        b->down = inverse(carrier, q);
        break;
    case FPEMU_SCALING_HQQ:
        b->down = fmin(multiply(carrier, plain(divide(carrier, plain(1), plain(range))), plain(steps)), 20000);
        b->zero_point = multiply(carrier, plain(-lo), plain(b->down));
        value_scale(c, c->f->bits == 4 ? nearbyint(b->zero_point) + 0.0 : b->zero_point, &second);
        value_scale(c, inverse(carrier, b->down), b);
        b->zero_point = second.scale;
        break;
    case FPEMU_SCALING_TINYGEMM:
        b->zero_point = (c->max + c->lowest + 1) / 2;
        value_scale(c, saturate(carrier, sum_of(carrier, lo, multiply(carrier, plain(d), plain(b->zero_point)))),
                    &second);
        value_scale(c, d, b);
        b->add = second.scale;
        b->offset =
            saturate(carrier, sum_of(carrier, b->add, -multiply(carrier, block_scale(b), plain(b->zero_point))));
        break;
    default:
        value_scale(c, d, b);
        b->down = inverse(carrier, b->scale);
        b->zero_point = c->lowest - nearbyint(divide(carrier, plain(lo), plain(d)));
        b->zero_point = fmin(fmax(b->zero_point, c->lowest), c->max);
        second.code = (uint64_t)(int64_t)b->zero_point & ((UINT64_C(1) << c->f->bits) - 1);
        break;
    }
    b->saturated |= second.saturated;
    b->code |= second.code << scale_width(c->f);
}

/* doc/blocks.md, 1.4, of the block `at`. */
static void given_scale(context *c, uint64_t at, ref_block *b)
{
    const int rule = c->f->scaling, after = c->given->order == FPEMU_ZERO_AFTER;
    const int powers = (rule >= FPEMU_SCALING_FLOOR && rule <= FPEMU_SCALING_HBFP) || rule == FPEMU_SCALING_MUPPET;
    const double v = (double)c->given->scales[at], z = c->given->order ? (double)c->given->zeros[at] : 0;
    if (signbit(v) || !isfinite(v) || !isfinite(z) || (powers && !is_power(plain(v))) ||
        (after && (z < c->lowest || z > c->max || z != nearbyint(z)))) {
        b->nan = 1;
        b->code = c->f->scale_power ? 0 : c->scale_nan_code;
        b->scale = c->f->scale_power ? 1 : carrier_value(64, judge_decode(c->scale, b->code));
        return;
    }
    if (powers)
        power_scale(c, binade(plain(v)), 0, b);
    else
        value_scale(c, v, b);
    b->order = after ? AFTER : c->given->order ? BEFORE : 0;
    b->zero_point = z;
}

/* four: the scale of a rule that chooses, for elements up to 4. */
static void scale_of_block(context *c, const extent *x, const ref_tensor *tensor, int four, ref_block *b)
{
    number amax = plain(x->amax), M = plain(target_of(c));
    unsigned carrier = c->carrier;
    double p;
    int rule = c->f->scaling;

    if (c->given) {
        given_scale(c, (uint64_t)(b - tensor->block), b);
        return;
    }
    b->order = orders[rule];
    if (x->nonfinite && c->scale_nan && rule != FPEMU_SCALING_RECIPE && rule != FPEMU_SCALING_RECIPE_POW2) {
        b->nan = 1;
        b->code = c->scale_nan_code;
        b->scale = NAN;
        return;
    }
    const int powers = (rule >= FPEMU_SCALING_FLOOR && rule <= FPEMU_SCALING_HBFP) || rule == FPEMU_SCALING_PAIRS;
    if (x->amax == 0 && powers) {
        power_scale(c, 0, -1, b);
        b->saturated = 0;
        return;
    }
    if (c->f->target > 0 && powers && rule != FPEMU_SCALING_RCEIL) {
        p = saturate(carrier, multiply(carrier, amax, plain(divide(carrier, plain(c->max), M))));
        amax = plain(p == 0 ? carrier == 32 ? 0x1p-149 : 0x1p-1074 : p);
    }
    long up = x->amax != 0 ? binade(amax) + !is_power(amax) : 0;
    switch (rule) {
    case FPEMU_SCALING_PAIRS:
    case FPEMU_SCALING_FLOOR: power_scale(c, binade(amax) - c->emax, 0, b); break;
    case FPEMU_SCALING_HIF4: value_scale(c, bfloat(multiply(carrier, amax, plain(bfloat(1.0 / 7)))), b); break;
    case FPEMU_SCALING_CEIL: power_scale(c, up - c->emax, 0, b); break;
    case FPEMU_SCALING_EVEN: power_scale(c, binade_rounded(amax.m, precision_of(c->f)) - c->emax, 0, b); break;
    case FPEMU_SCALING_HBFP: power_scale(c, up - c->emax - 1, 0, b); break;
    case FPEMU_SCALING_RCEIL:
        p = saturate(carrier, divide(carrier, plain(1), M));
        p = saturate(carrier, multiply(carrier, amax, plain(p)));
        if (p == 0)
            power_scale(c, 0, -1, b);
        else
            power_scale(c, binade(plain(p)) + !is_power(plain(p)), 0, b);
        break;
    case FPEMU_SCALING_ABSMAX:
    case FPEMU_SCALING_RECIPROCAL: value_scale(c, divide(carrier, amax, M), b); break;
    case FPEMU_SCALING_ABSMEAN: {
        const double least = carrier == 32 ? (double)1e-5f : 1e-5, target = c->f->target > 0 ? (double)c->f->target : 1;
        b->down = inverse(carrier, divide(carrier, plain(fmax(x->mean, least)), plain(target)));
        value_scale(c, divide(carrier, plain(1), plain(b->down)), b);
        break;
    }
    case FPEMU_SCALING_NVFP4:
        p = multiply(carrier, plain((double)tensor->multiplier), plain(divide(carrier, plain(1), M)));
        value_scale(c, multiply(carrier, amax, plain(p)), b);
        break;
    case FPEMU_SCALING_NVFP4_AO: {
        fpemu_format f = scale_parameters(c->f);
        int emin = f.specials == FPEMU_SPECIALS_E8M0 ? -f.bias : 1 - f.bias;
        double normal = ldexp(1, emin);
        p = divide(carrier, plain(divide(carrier, amax, M)), plain((double)tensor->decode));
        value_scale(c, p < normal ? normal : p > c->scale_max ? c->scale_max : p, b);
        {
            judge_result r = judge_round(c->scale, carrier_bits(64, p), 0, 0);
            b->saturated =
                isinf(p) || (r.events & JUDGE_OVERFLOW) ||
                (x->amax != 0 && (carrier_value(64, r.bits) < normal || (p < c->scale_min && !has_zero(c->scale))));
        }
        break;
    }
    case FPEMU_SCALING_4OVER6:
    case FPEMU_SCALING_4OVER6_MSE:
        p = multiply(carrier, plain(divide(carrier, amax, M)), plain((double)tensor->multiplier));
        value_scale(c, four ? multiply(carrier, plain(p), plain(1.5)) : p, b);
        break;
    case FPEMU_SCALING_EDEN:
        value_scale(c, divide(carrier, plain(divide(carrier, amax, M)), plain((double)tensor->decode)), b);
        b->down = saturate(carrier, multiply(carrier, block_scale(b), plain((double)tensor->decode)));
        break;
    case FPEMU_SCALING_NVFP4_CLAMP: {
        int raised, cut;
        p = divide(carrier, plain(divide(carrier, amax, plain((double)tensor->decode))), M);
        raised = p < c->scale_min;
        cut = isinf(p) || (judge_round(c->scale, carrier_bits(64, p), 0, 0).events & JUDGE_OVERFLOW);
        value_scale(c, raised ? c->scale_min : p > c->scale_max ? c->scale_max : p, b);
        b->saturated = raised || cut;
        break;
    }
    case FPEMU_SCALING_RECIPE:
    case FPEMU_SCALING_RECIPE_POW2:
        b->exponent = 0;
        b->scale = divide(32, plain(1), plain(recipe_multiplier(c, x)));
        b->code = lh_float_bits((float)b->scale);
        break;
    case FPEMU_SCALING_MUPPET: {
        double half = c->step / 2;
        long n = 0, m;
        int asked = 0;
        if (x->max > 0) {
            n = headroom(x->max, c->max + half);
            asked = 1;
        }
        if (x->min < 0 && c->lowest < 0) {
            m = headroom(-x->min, half - c->lowest);
            n = asked && n < m ? n : m;
        }
        power_scale(c, -n, 0, b);
        break;
    }
    default: /* those of super-blocks follow */
        if (is_affine(c->f) && rule <= FPEMU_SCALING_GGML_0)
            affine_scale(c, x, b);
        break;
    }
    if (x->amax == 0)
        b->saturated = 0;
}

/* The scale that is tried as number k; own->amax becomes the one that it is found from. */
static void scale_tried(context *c, extent *own, const ref_tensor *tensor, int k, ref_block *b)
{
    const fpemu_format *f = c->f;
    const int step = f->search_first < f->search_last ? k : -k, tried = f->search_first + step;
    if (f->search_grid && own->amax != 0) {
        const double share = divide(c->carrier, plain(tried), plain(f->search_grid));
        own->amax = saturate(c->carrier, multiply(c->carrier, plain(own->amax), plain(share)));
        own->amax = own->amax == 0 ? (c->carrier == 32 ? 0x1p-149 : 0x1p-1074) : own->amax;
    }
    scale_of_block(c, own, tensor, k, b);
    if (f->search_first == f->search_last || f->search_grid || own->amax == 0 || b->nan)
        return;
    if (f->scaling <= FPEMU_SCALING_HBFP) {
        b->saturated = 0;
        power_scale(c, binade(block_scale(b)) + tried, 0, b);
        return;
    }
    const long code = (long)b->code + tried, least = has_zero(c->scale),
               most = (long)judge_round(c->scale, carrier_bits(64, c->scale_max), 0, 1).code;
    const long kept = code < least ? least : code > most ? most : code;
    b->saturated |= kept != code;
    b->code = (uint64_t)kept;
    b->scale = carrier_value(64, judge_decode(c->scale, b->code));
    b->exponent = 0;
    b->down = f->scaling == FPEMU_SCALING_RECIPROCAL ? inverse(c->carrier, b->scale) : 0;
}

/* u and d: binary32 arithmetic for both carriers. */
static void tensor_scale(context *c, double largest, ref_tensor *t)
{
    double K = c->f->bound > 0 ? (double)c->f->bound : c->scale_max;
    double KM = saturate(32, multiply(32, plain(K), plain(to_single(target_of(c))))), A = to_single(largest), u = 1,
           d = 1;
    t->amax = (float)A;
    t->most = (float)KM;
    if (c->given && c->given->tensor > 0) {
        d = (double)c->given->tensor;
        u = saturate(32, divide(32, plain(1), plain(d)));
    } else if (c->f->scaling == FPEMU_SCALING_NVFP4_CLAMP) {
        d = fmax(saturate(32, divide(32, plain(A), plain(KM))), (double)1e-30f);
        u = saturate(32, divide(32, plain(1), plain(d)));
    } else if (c->f->scaling != FPEMU_SCALING_NVFP4_AO && c->f->scaling != FPEMU_SCALING_EDEN) {
        if (A != 0)
            u = saturate(32, divide(32, plain(KM), plain(A)));
        d = saturate(32, divide(32, plain(1), plain(u)));
    } else {
        if (A != 0)
            d = c->f->scaling != FPEMU_SCALING_EDEN
                    ? saturate(32, divide(32, plain(A), plain(KM)))
                    : saturate(32, divide(32, plain(divide(32, plain(A), plain(K))), plain(to_single(target_of(c)))));
        if (d == 0)
            d = 1;
        u = saturate(32, divide(32, plain(1), plain(d)));
    }
    t->multiplier = (float)u;
    t->decode = (float)d;
}

/* ---------------------------------------------------------------------------------------------------- elements */

/* y of a P under the scale of its block. An infinity, of bytes that others packed, stays one. */
static double scaled(unsigned carrier, const fpemu_format *f, const ref_tensor *tensor, const ref_block *b, double p)
{
    const int twice = is_nvfp4(f);
    double y;
    if (b->order)
        p = sum_of(carrier, p, -b->zero_point);
    if (b->order == MANTISSA) {
        y = isinf(p) ? p : saturate(carrier, multiply(carrier, plain(p), block_scale(b)));
        return divide(carrier, plain(y), plain(b->add));
    }
    if (isinf(p))
        return p * b->scale * (twice ? (double)tensor->decode : 1);
    y = multiply(carrier, plain(p), block_scale(b));
    if (b->order == OFFSET)
        y = sum_of(carrier, y, b->add);
    if (twice)
        y = isinf(y) ? y * (double)tensor->decode : multiply(carrier, plain(y), plain((double)tensor->decode));
    return saturate(carrier, y);
}

static number seen(context *c, const ref_tensor *tensor, const ref_block *b, const extent *extent_, double x)
{
    unsigned carrier = c->carrier;
    number s = block_scale(b);
    double e;
    if (b->order == MANTISSA) {
        e = multiply(carrier, plain(x), (number){b->add, -binade(s)});
        return plain(e == 0 && x != 0 ? copysign(carrier == 32 ? 0x1p-149 : 0x1p-1074, x) : e);
    }
    if (is_affine(c->f)) {
        e = orders[c->f->scaling] == OFFSET ? sum_of(carrier, x, -b->offset) : x;
        return plain(b->down == 0 ? divide(carrier, plain(e), s) : multiply(carrier, plain(e), plain(b->down)));
    }
    const int inverts = c->f->scaling == FPEMU_SCALING_ABSMEAN || c->f->scaling == FPEMU_SCALING_RECIPROCAL ||
                        c->f->scaling == FPEMU_SCALING_RECIPE || c->f->scaling == FPEMU_SCALING_RECIPE_POW2;
    if (c->given && inverts)
        return plain(multiply(carrier, plain(x), plain(inverse(carrier, b->scale))));
    switch (c->f->scaling) {
    case FPEMU_SCALING_EDEN:
    case FPEMU_SCALING_NVFP4_CLAMP:
        e = c->f->scaling == FPEMU_SCALING_EDEN && !c->given
                ? b->down
                : saturate(carrier, multiply(carrier, s, plain((double)tensor->decode)));
        return plain(e > 0 ? divide(carrier, plain(x), plain(e)) : copysign(0, x));
    case FPEMU_SCALING_NVFP4:
    case FPEMU_SCALING_4OVER6:
    case FPEMU_SCALING_4OVER6_MSE:
        e = saturate(carrier, multiply(carrier, s, plain((double)tensor->decode)));
        e = divide(carrier, plain(1), plain(e));
        return plain(multiply(carrier, plain(x), plain(e > largest32 ? largest32 : e)));
    case FPEMU_SCALING_NVFP4_AO:
        e = divide(carrier, plain((double)tensor->multiplier), s);
        return plain(multiply(carrier, plain(x), plain(isinf(e) ? largest32 : e)));
    case FPEMU_SCALING_RECIPE:
    case FPEMU_SCALING_RECIPE_POW2: return plain(multiply(carrier, plain(x), plain(recipe_multiplier(c, extent_))));
    case FPEMU_SCALING_ABSMEAN: return plain(multiply(carrier, plain(x), plain(b->down)));
    case FPEMU_SCALING_RECIPROCAL:
        if (b->down != 0)
            return plain(multiply(carrier, plain(x), plain(b->down)));
        e = saturate(carrier, divide(carrier, plain(extent_->amax), plain(target_of(c))));
        e = e > 0 ? divide(carrier, plain(1), plain(e)) : 0;
        return plain(multiply(carrier, plain(x), plain(isinf(e) ? largest32 : e)));
    case FPEMU_SCALING_HIF4: return plain(multiply(carrier, plain(x), (number){bfloat(1 / b->scale), -b->exponent}));
    case FPEMU_SCALING_ABSMAX:
        if (!c->f->scale_power)
            return plain(divide(carrier, plain(x), s));
        break;
    default: break;
    }
    if (is_power(s)) { /* exact */
        int e2;
        frexp(s.m, &e2);
        return (number){x, -(s.e + e2 - 1)};
    }
    return plain(divide(carrier, plain(x), s));
}

/* The compatibility settings: QPyTorch's block_quantize, MuPPET's printed bracket. 0 where the plain rule holds. */
static int compat_element(context *c, const extent *block, double x, number t, uint64_t index, ref_element *e)
{
    mpq_t a, q;
    mpz_t k;
    long E, m = (long)c->f->bits - 1, low, high, result;

    if (c->r->compat == FPEMU_COMPAT_MUPPET && c->f->scaling == FPEMU_SCALING_MUPPET && c->r->mode == FPEMU_MODE_SR) {
        mpq_inits(a, q, (mpq_ptr)NULL);
        mpz_init(k);
        mpq_set_d(a, t.m);
        if (t.e >= 0)
            mpq_mul_2exp(a, a, (unsigned long)t.e);
        else
            mpq_div_2exp(a, a, (unsigned long)-t.e);
        mpq_set_d(q, c->step);
        mpq_div(a, a, q);
        mpq_set_ui(q, random_of(c, index), 1);
        mpq_div_2exp(q, q, c->random_bits);
        mpq_add(a, a, q);
        mpq_set_ui(q, 1, 2);
        mpq_sub(a, a, q);
        mpz_fdiv_q(k, mpq_numref(a), mpq_denref(a));
        high = lrint(c->max / c->step);
        low = lrint(c->lowest / c->step);
    } else if (c->r->compat == FPEMU_COMPAT_QPYTORCH && c->f->scaling == FPEMU_SCALING_FLOOR &&
               c->f->kind == FPEMU_KIND_FIXED && c->f->symmetric && c->carrier == 32 &&
               (c->r->mode == FPEMU_MODE_RNE || c->r->mode == FPEMU_MODE_RNA || c->r->mode == FPEMU_MODE_SR) &&
               block->amax != 0 && (E = binade(plain(block->amax))) >= -126 && E <= 124) {
        /* a = RN32(x + 6*2^E), exactly first */
        mpq_inits(a, q, (mpq_ptr)NULL);
        mpz_init(k);
        mpq_set_d(a, x);
        mpq_set_d(q, ldexp(6, (int)E));
        mpq_add(a, a, q);
        mpq_set_d(a, to_carrier(32, a));
        if (c->r->mode == FPEMU_MODE_SR)
            mpq_set_d(q, ldexp((double)(random_of(c, index) >> (32 - (22 - m))), (int)E - 21));
        else
            mpq_set_d(q, ldexp(1, (int)(E - m))); /* half a quantum */
        mpq_add(a, a, q);
        mpq_set_d(q, ldexp(1, (int)(E - m + 1)));
        mpq_div(a, a, q);
        mpz_fdiv_q(k, mpq_numref(a), mpq_denref(a));
        mpz_sub_ui(k, k, 6ul << (m - 1));
        high = (1L << m) - 1;
        low = -high;
    } else if (c->r->compat == FPEMU_COMPAT_GGML && c->f->scaling != FPEMU_SCALING_RECIPROCAL) {
        mpq_inits(a, q, (mpq_ptr)NULL);
        mpz_init_set_d(k, floor(fmin(sum_of(c->carrier, t.m, 0.5 - c->lowest), 65536)) + c->lowest);
        high = lrint(c->max);
        low = lrint(c->lowest);
    } else {
        return 0;
    }
    e->t = ldexp(t.m, (int)t.e);
    e->events = (e->t > c->max || e->t < c->lowest ? JUDGE_CLIPPED : 0) |
                (mpz_cmp_si(k, high) > 0 || mpz_cmp_si(k, low) < 0 ? JUDGE_OVERFLOW : 0);
    result = mpz_cmp_si(k, high) > 0 ? high : mpz_cmp_si(k, low) < 0 ? low : mpz_get_si(k);
    e->p = (double)result * c->step;
    e->code = (uint64_t)result & ((UINT64_C(1) << c->f->bits) - 1);
    mpq_clears(a, q, (mpq_ptr)NULL);
    mpz_clear(k);
    return 1;
}

static void one_element(context *c, const ref_tensor *tensor, const ref_block *b, const extent *block, uint64_t index,
                        uint64_t bits, ref_element *e);

/* The mean of n magnitudes whose sum is so many steps of 2^-46: the quotient of the sum, rounded to binary64, once more
 * rounded to that and to the carrier. */
static double mean_of(unsigned carrier, mpz_t steps, uint64_t n)
{
    mpz_t one;
    mpz_init_set_ui(one, 1);
    double mean = n ? divide(64, plain(round_rational(64, mpz_sgn(steps) < 0, steps, one, -46)), plain((double)n)) : 0;
    mpz_clear(one);
    return multiply(carrier, plain(mean), plain(1));
}

static extent extent_of(unsigned carrier, const ref_tensor *t, const ref_block *b, const uint64_t *x)
{
    extent e = {.zero = 1};
    uint64_t finite = 0;
    mpz_t steps, one;
    mpz_inits(steps, one, (mpz_ptr)NULL);
    for (uint64_t j = 0; j < b->elements; j++) {
        double v = carrier_value(carrier, x[t->order[b->first + j]]);
        if (!isfinite(v)) {
            e.nonfinite = 1;
            e.zero = 0;
            continue;
        }
        finite++;
        mpz_set_d(one, ldexp(fmin(fabs(v), 65536), 46)); /* cut */
        mpz_add(steps, steps, one);
        e.zero &= v == 0;
        e.first = !e.any || fabs(v) > e.amax ? v : e.first;
        e.most = !e.any || v > e.most ? v : e.most;
        e.least = !e.any || v < e.least ? v : e.least;
        e.any = 1;
        e.amax = fmax(e.amax, fabs(v));
        e.max = fmax(e.max, v);
        e.min = fmin(e.min, v);
    }
    e.mean = mean_of(carrier, steps, finite);
    mpz_clears(steps, one, (mpz_ptr)NULL);
    return e;
}

/* The sum of so many rows: halves by halves. */
static double total_of(context *c, double sum[64], uint64_t rows)
{
    for (uint64_t half = 32; half > 0; half /= 2)
        for (uint64_t row = 0; row < half && row + half < rows; row++)
            sum[row] = sum_of(c->carrier, sum[row], sum[row + half]);
    return sum[0];
}

/* The error of a block whose scale is chosen under the scale *b: of each row, then of rows. */
static double error_of_block(context *c, const ref_tensor *t, const ref_block *b, const extent *block, uint64_t along,
                             const uint64_t *x)
{
    static const double value[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    uint64_t j, rows = 1, row;
    double sum[64] = {0};

    for (j = 0; j < b->elements; j++) {
        double v = carrier_value(c->carrier, x[t->order[b->first + j]]), seen_, p, difference;
        int k = 0;
        row = j / along;
        rows = row + 1;
        if (!isfinite(v))
            continue;
        if (c->f->search_first != c->f->search_last) {
            ref_element e;
            one_element(c, t, b, block, t->order[b->first + j], x[t->order[b->first + j]], &e);
            difference = sum_of(c->carrier, carrier_value(c->carrier, e.y), -v);
            if (c->f->search_error == FPEMU_SEARCH_WEIGHTED)
                difference = multiply(c->carrier, plain(difference), plain(v));
            sum[row] = sum_of(c->carrier, sum[row],
                              c->f->search_error == FPEMU_SEARCH_ABSOLUTE
                                  ? fabs(difference)
                                  : multiply(c->carrier, plain(difference), plain(difference)));
            continue;
        }
        seen_ = b->scale == 0 ? 0 : fabs(seen(c, t, b, block, v).m);
        while (k < 7 && (seen_ > (value[k] + value[k + 1]) / 2 || (seen_ == (value[k] + value[k + 1]) / 2 && k % 2)))
            k++;
        p = multiply(c->carrier, plain(copysign(value[k], v)), block_scale(b));
        p = multiply(c->carrier, plain(p), plain((double)t->amax));
        p = isinf(p) ? p : divide(c->carrier, plain(p), plain((double)t->most));
        difference = fabs(sum_of(c->carrier, p, -v));
        if (c->f->scaling == FPEMU_SCALING_4OVER6_MSE)
            difference = multiply(c->carrier, plain(difference), plain(difference));
        sum[row] = sum_of(c->carrier, sum[row], difference);
    }
    return total_of(c, sum, rows);
}

/* What the scales of `count` blocks from *b on are multiplied by: doc/blocks.md, 2.9. */
static double correction_of(context *c, const ref_tensor *t, const ref_block *b, uint64_t count, const uint64_t *x)
{
    double squares[64] = {0}, products[64] = {0};
    for (uint64_t k = 0; k < count; k++) {
        ref_block own = {.first = b[k].first, .elements = b[k].elements};
        const extent e = extent_of(c->carrier, t, &own, x);
        scale_of_block(c, &e, t, 0, &own);
        for (uint64_t j = own.first; j < own.first + own.elements && !own.nan; j++) {
            const uint64_t index = t->order[j];
            ref_element one;
            if (!isfinite(carrier_value(c->carrier, x[index])))
                continue;
            one_element(c, t, &own, &e, index, x[index], &one);
            squares[k] = sum_of(c->carrier, squares[k], multiply(c->carrier, plain(one.t), plain(one.t)));
            products[k] = sum_of(c->carrier, products[k], multiply(c->carrier, plain(one.t), plain(one.p)));
        }
    }
    const double found = divide(c->carrier, plain(total_of(c, squares, count)), plain(total_of(c, products, count)));
    return found > 0 && isfinite(found) ? found : 1;
}

/* Whether blocks share a mantissa, which is then the `correct`th part of a line, of tiles of the rows too. */
static int shares_mantissa(const fpemu_format *f)
{
    return f->correct && f->scaling != FPEMU_SCALING_EDEN;
}

/* The eight bits of the mantissa of block b: doc/blocks.md, 2.12. */
static unsigned mantissa_of(context *c, const ref_tensor *t, uint64_t b, const fpemu_shape *shape, const uint64_t *x)
{
    const uint64_t across = (shape->length - 1) / c->f->block_length + 1, N = c->f->block_rows, share = c->f->correct;
    const uint64_t down = N ? (shape->rows - 1) / N + 1 : 1;
    double A = 0;
    for (uint64_t k = 0; k < t->blocks; k++)
        if (k / across / down == b / across / down && k / across % down / share == b / across % down / share &&
            k % across / share == b % across / share)
            A = fmax(A, extent_of(c->carrier, t, &t->block[k], x).amax);
    const double quotient = divide(32, plain(to_single(c->max)), plain(fmax(to_single(A), (double)1e-12f)));
    return lh_float_bits((float)quotient) >> 15 & 255;
}

/* v, which binary64 holds or rounds innocuously, rounded to the carrier. */
static double rounded(const context *c, double v)
{
    return c->carrier == 32 ? (double)(float)v : v;
}

#define R(expression) rounded(c, expression)

static double whole_between(double v, double low, double high)
{
    return isnan(v) ? low : fmin(fmax(nearbyint(v), low), high);
}

/* doc/blocks.md, 2.10: a and b of n numbers under ggml-1k. */
static void search_from_least(const context *c, const double *x, int n, double own[2])
{
    const double M = c->max, first = M > 15 ? -0.5 : -1, tenth = (double)0.1f;
    double least = x[0], most = x[0], w[32], q[32], W = 0, X = 0, lowest_error = 0, mean = 0;
    for (int j = 0; j < n; j++) {
        least = fmin(least, x[j]);
        most = fmax(most, x[j]);
        mean = R(mean + R(x[j] * x[j]));
    }
    least = fmin(least, 0);
    const int constant = most == least;
    own[0] = 0;
    own[1] = -least;
    mean = R(sqrt(R(mean / n)));
    for (int j = 0; j < n; j++) {
        w[j] = R(mean + fabs(x[j]));
        W = R(W + w[j]);
        X = R(X + R(w[j] * x[j]));
    }
    for (int k = -1; k <= (M > 15 ? 15 : 20) && !constant; k++) {
        const double range = saturate(c->carrier, R(most - least)), up = R(R(first + R(tenth * k)) + M);
        const double u = R((k < 0 ? M : up) / range);
        double a = R(1 / u), b = least, A = 0, B = 0, C = 0, error = 0;
        for (int j = 0; j < n; j++) {
            q[j] = whole_between(R(u * R(x[j] - least)), 0, M);
            A = R(A + R(w[j] * q[j]));
            B = R(B + R(R(w[j] * q[j]) * q[j]));
            C = R(C + R(R(w[j] * q[j]) * x[j]));
        }
        if (k >= 0) {
            const double D = R(R(W * B) - R(A * A));
            if (!(D > 0))
                continue;
            a = R(R(R(W * C) - R(X * A)) / D);
            b = R(R(R(B * X) - R(A * C)) / D);
            a = b > 0 ? R(C / B) : a;
            b = b > 0 ? 0 : b;
        }
        for (int j = 0; j < n; j++) {
            const double d = R(R(R(a * q[j]) + b) - x[j]);
            error = R(error + R(w[j] * R(d * d)));
        }
        if (k < 0 || error < lowest_error) {
            lowest_error = error;
            own[0] = a;
            own[1] = -b;
            least = b;
        }
    }
}

/* a under ggml-0k. */
static double search_around_first(const context *c, const double *x, int n)
{
    double v = 0, a = 0, best = 0;
    for (int j = 0; j < n; j++)
        v = fabs(x[j]) > fabs(v) ? x[j] : v;
    for (int k = -10; k <= 9 && fabs(v) >= (double)1e-15f; k++) {
        const int step = k == -10 ? 0 : k;
        const double u = R(-R(-c->lowest + R((double)0.1f * step)) / v);
        double P = 0, S = 0;
        for (int j = 0; j < n; j++) {
            const double q = whole_between(R(u * x[j]), c->lowest, c->max), w = R(x[j] * x[j]);
            P = R(P + R(R(w * x[j]) * q));
            S = R(S + R(R(w * q) * q));
        }
        if (k == -10)
            a = isfinite(R(P / S)) ? R(P / S) : R(1 / u);
        else if (k == 0 || !(S > 0 && R(P * P) > R(best * S)))
            continue;
        else
            a = R(P / S);
        best = R(a * P);
    }
    return a;
}

/* The scale of block `at` of the `count` blocks of a super-block from *b on. */
static void super_scale(context *c, const ref_tensor *t, ref_block *b, uint64_t at, uint64_t count, const uint64_t *x)
{
    const int one = c->f->scaling == FPEMU_SCALING_GGML_1K;
    const unsigned width = scale_width(c->f);
    double own[16][2] = {{0}}, most = 0, least = 0;
    for (uint64_t k = 0; k < count; k++) {
        const extent e = extent_of(c->carrier, t, &b[k], x);
        double v[32] = {0};
        for (uint64_t j = 0; j < b[k].elements; j++)
            v[j] = carrier_value(c->carrier, x[t->order[b[k].first + j]]);
        if (!e.nonfinite && one)
            search_from_least(c, v, (int)b[k].elements, own[k]);
        else if (!e.nonfinite)
            own[k][0] = search_around_first(c, v, (int)b[k].elements);
        most = one ? fmax(most, own[k][0]) : fabs(own[k][0]) > fabs(most) ? own[k][0] : most;
        least = fmax(least, own[k][1]);
    }
    most = !one && fabs(most) < (double)1e-15f ? 0 : most;
    const double u = most == 0 ? 0 : R((one ? 63 : -128) / most), bottom = one ? 0 : -128, top = one ? 63 : 127;
    const double times = whole_between(R(u * own[at][0]), bottom, top);
    const double below = least == 0 ? 0 : whole_between(R(R(63 / least) * own[at][1]), 0, 63);
    ref_block second = {0};
    value_scale(c, one ? R(most / 63) : u == 0 ? 0 : R(1 / u), &b[at]);
    value_scale(c, R(least / 63), &second);
    b[at].saturated |= second.saturated;
    b[at].scale = R(b[at].scale * times) + 0.0;
    b[at].code |= one ? second.code << width | (uint64_t)times << 2 * width | (uint64_t)below << (2 * width + 6)
                      : ((uint64_t)(int64_t)times & 255) << width;
    b[at].offset = b[at].add = one ? -R(second.scale * below) : 0;
    b[at].down = 0;
}
#undef R

/* Adds the bits of levels to the code of a block's scale. */
static void add_levels(context *c, const ref_tensor *t, ref_block *b, const extent *block, const uint64_t *x)
{
    const int pairs = c->f->scaling == FPEMU_SCALING_PAIRS;
    double most[16] = {0}; /* of two or four neighbours */
    if (b->nan || block->amax == 0 || (!pairs && c->f->scaling != FPEMU_SCALING_HIF4))
        return;
    for (uint64_t j = 0; j < b->elements; j++) {
        const double a = fabs(carrier_value(c->carrier, x[t->order[b->first + j]]));
        if (isfinite(a))
            most[j / (pairs ? 2 : 4)] = fmax(most[j / (pairs ? 2 : 4)], a);
    }
    for (uint64_t g = 0; g < (b->elements + (pairs ? 1 : 3)) / (pairs ? 2 : 4); g++) {
        const double both = fmax(most[g], pairs ? 0 : most[g ^ 1]), down = pairs ? 0 : bfloat(1 / b->scale);
        const int high = !pairs && multiply(c->carrier, plain(both), plain(down)) >= 4;
        if (pairs ? most[g] == 0 || binade(plain(most[g])) < binade(plain(block->amax))
                  : multiply(c->carrier, plain(most[g]), plain(down)) >= (high ? 4 : 2))
            b->code |= UINT64_C(1) << (scale_width(c->f) + g + (pairs ? 0 : 8));
        if (high)
            b->code |= UINT64_C(1) << (scale_width(c->f) + g / 2);
    }
}

/* *p and e->code, e->events of a t in a block with a zero point. */
static void zero_element(context *c, const ref_block *b, number t, uint64_t index, ref_element *e)
{
    const int after = b->order == AFTER;
    const double both = sum_of(c->carrier, ldexp(t.m, (int)t.e), b->zero_point), seen_ = after ? t.m : both;
    const uint64_t whole = judge_round(c->whole, carrier_bits(64, seen_), random_of(c, index), 0).bits;
    const double v = carrier_value(64, whole) + (after ? b->zero_point : 0);
    e->t = both;
    e->p = fmin(fmax(v, c->lowest), c->max) + 0.0;
    e->code = (uint64_t)(int64_t)e->p & ((UINT64_C(1) << c->f->bits) - 1);
    e->events =
        (both < c->lowest || both > c->max ? JUDGE_CLIPPED : 0) | (v < c->lowest || v > c->max ? JUDGE_OVERFLOW : 0);
}

static void one_element(context *c, const ref_tensor *tensor, const ref_block *b, const extent *block, uint64_t index,
                        uint64_t bits, ref_element *e)
{
    double x = carrier_value(c->carrier, bits), y;
    const unsigned nan = c->r->nan ? c->r->nan : c->f->nan;
    const int whole = b->order == AFTER || b->order == BEFORE;

    memset(e, 0, sizeof *e);
    if (b->nan) {
        e->p = e->t = NAN;
        e->y = carrier_bits(c->carrier, NAN);
        if (!isnan(x))
            e->events = JUDGE_INVALID | (isfinite(x) ? JUDGE_INEXACT : 0);
        return;
    }
    if (isnan(x) && whole && nan == FPEMU_NAN_ZERO) {
        zero_element(c, b, plain(0), index, e);
        e->events = 0;
    } else if (!isfinite(x)) {
        special_element(c, bits ^ ((uint64_t)(isinf(x) && b->scale < 0) << (c->carrier - 1)), index, e);
    } else if (whole) {
        zero_element(c, b, b->scale == 0 ? plain(copysign(0, x)) : seen(c, tensor, b, block, x), index, e);
    } else if (b->scale == 0) {
        round_element(c, plain(copysign(0, x)), index, e);
        e->events = 0;
    } else {
        number t = seen(c, tensor, b, block, x);
        if (!compat_element(c, block, x, t, index, e))
            round_element(c, t, index, e);
    }
    y = isnan(e->p) ? NAN : scaled(c->carrier, c->f, tensor, b, e->p);
    e->y = carrier_bits(c->carrier, y);
    if (isfinite(x)) {
        if (x != 0 && y == 0)
            e->events |= JUDGE_UNDERFLOW;
        if (!(x == y))
            e->events |= JUDGE_INEXACT;
    }
    if (!isnan(x) && isnan(y) && !(e->events & JUDGE_OVERFLOW))
        e->events |= JUDGE_INVALID;
}

/* ------------------------------------------------------------------------------------------------------- shapes */

static void begin_block(ref_tensor *t, uint64_t at)
{
    t->block[t->blocks].first = at;
    t->blocks++;
}

/* The blocks and their elements, straight from the table of doc/blocks.md, section 3. */
ref_tensor *ref_lay_out(const fpemu_format *f, unsigned carrier, const fpemu_shape *shape)
{
    uint64_t O = shape->outer, R = shape->rows, L = shape->length, I = shape->inner;
    uint64_t K = f->block_length, N = f->block_rows, o, r, l, i, from, row, at = 0, b;
    unsigned kind = f->scaling ? f->block : FPEMU_BLOCK_ROW;
    ref_tensor *t = allocate(1, sizeof *t);
#define PUT(o_, r_, l_, i_) (t->order[at++] = (((o_) * R + (r_)) * L + (l_)) * I + (i_))
    t->n = O * R * L * I;
    t->carrier = carrier;
    t->order = allocate(t->n, sizeof *t->order);
    t->block = allocate(t->n + O * R * I + L + 1, sizeof *t->block);
    t->element = allocate(t->n, sizeof *t->element);
    t->lines = f->outer && t->n ? O * R * I : 1;
    t->line = allocate(t->lines, sizeof *t->line);
    if (t->n == 0)
        return t; /* no elements, no blocks */
    switch (kind) {
    case FPEMU_BLOCK_RUN:
        for (o = 0; o < O; o++)
            for (r = 0; r < R; r++)
                for (i = 0; i < I; i++)
                    for (from = 0; from < L; from += K) {
                        begin_block(t, at);
                        for (l = from; l < L && l < from + K; l++)
                            PUT(o, r, l, i);
                    }
        break;
    case FPEMU_BLOCK_ROW:
        for (o = 0; o < O; o++)
            for (r = 0; r < R; r++)
                for (i = 0; i < I; i++) {
                    begin_block(t, at);
                    for (l = 0; l < L; l++)
                        PUT(o, r, l, i);
                }
        break;
    case FPEMU_BLOCK_TILE:
        for (o = 0; o < O; o++)
            for (i = 0; i < I; i++)
                for (row = 0; row < R; row += N)
                    for (from = 0; from < L; from += K) {
                        begin_block(t, at);
                        for (r = row; r < R && r < row + N; r++)
                            for (l = from; l < L && l < from + K; l++)
                                PUT(o, r, l, i);
                    }
        break;
    case FPEMU_BLOCK_CHANNEL:
        for (l = 0; l < L; l++) {
            begin_block(t, at);
            for (o = 0; o < O; o++)
                for (r = 0; r < R; r++)
                    for (i = 0; i < I; i++)
                        PUT(o, r, l, i);
        }
        break;
    default:
        begin_block(t, at);
        for (o = 0; o < O; o++)
            for (r = 0; r < R; r++)
                for (i = 0; i < I; i++)
                    for (l = 0; l < L; l++)
                        PUT(o, r, l, i);
        break;
    }
#undef PUT
    for (b = 0; b < t->blocks; b++)
        t->block[b].elements = (b + 1 < t->blocks ? t->block[b + 1].first : at) - t->block[b].first;
    return t;
}

void ref_free(ref_tensor *t)
{
    if (t)
        FREE(t->order, t->block, t->element, t->line, t);
}

ref_tensor *ref_quantize(const fpemu_format *f, const fpemu_rounding *r, unsigned carrier, const fpemu_shape *shape,
                         const uint64_t *x)
{
    context c;

    if (!open_context(&c, f, r, carrier) ||
        ((f->search_first != f->search_last || f->scaling == FPEMU_SCALING_EDEN) && FPEMU_MODE_DRAWS(r->mode))) {
        close_context(&c);
        return NULL;
    }
    ref_tensor *t = ref_lay_out(f, carrier, shape);
    t->given = c.given = shape->given;
    if (!f->scaling) {
        for (uint64_t j = 0; j < t->n; j++) {
            ref_element *e = &t->element[j];
            if (f->kind == FPEMU_KIND_CODEBOOK) {
                double v = carrier_value(carrier, x[j]);
                if (isfinite(v))
                    round_element(&c, plain(v), j, e);
                else
                    special_element(&c, x[j], j, e);
                e->y = carrier_bits(carrier, e->p);
                if (isfinite(v) && !(v == e->p))
                    e->events |= JUDGE_INEXACT | (v != 0 && e->p == 0 ? JUDGE_UNDERFLOW : 0);
            } else {
                judge_result one = judge_round(c.element, x[j], random_of(&c, j), 1);
                e->y = one.bits;
                e->code = one.code;
                e->events = one.events;
                e->nan_error = (r->nan ? r->nan : f->nan) == FPEMU_NAN_ERROR && isnan(carrier_value(carrier, x[j])) &&
                               !isnan(carrier_value(carrier, judge_decode(c.element, one.code)));
            }
        }
        close_context(&c);
        return t;
    }
    const uint64_t each = t->blocks / t->lines;
    for (uint64_t b = 0; b < t->blocks; b++) {
        ref_block *block = &t->block[b];
        if (is_nvfp4(f) && b % each == 0) {
            double largest = 0;
            for (uint64_t j = block->first; j < (b + each < t->blocks ? block[each].first : t->n); j++) {
                double v = fabs(carrier_value(carrier, x[t->order[j]]));
                if (isfinite(v))
                    largest = fmax(largest, v);
            }
            tensor_scale(&c, shape->whole && !f->outer ? shape->whole->amax : largest, t);
            t->line[b / each][0] = t->multiplier;
            t->line[b / each][1] = t->decode;
        }
        extent e = extent_of(carrier, t, block, x);
        if (shape->whole && f->block == FPEMU_BLOCK_TENSOR) {
            e.amax = to_number(carrier, shape->whole->amax);
            e.max = to_number(carrier, shape->whole->max);
            e.min = to_number(carrier, shape->whole->min);
            e.nonfinite = shape->whole->nonfinite > 0;
            mpz_t steps;
            mpz_init_set_si(steps, shape->whole->log2_high);
            mpz_mul_2exp(steps, steps, 64);
            mpz_add_ui(steps, steps, shape->whole->log2_low);
            e.mean = mean_of(carrier, steps, shape->whole->count - shape->whole->nonfinite);
            mpz_clear(steps);
            e.zero = e.amax == 0 && !e.nonfinite;
        }
        block->zero = e.zero;
        const unsigned fraction = shares_mantissa(f) ? mantissa_of(&c, t, b, shape, x) : 0;
        const double mantissa = 1 + (double)fraction / 256;
        if (shares_mantissa(f))
            e.amax = saturate(carrier, multiply(carrier, plain(e.amax), plain(mantissa)));
        const int chooses = f->scaling == FPEMU_SCALING_4OVER6 || f->scaling == FPEMU_SCALING_4OVER6_MSE,
                  tries = c.given ? 0 : 1 + abs(f->search_last - f->search_first) + chooses;
        const ref_block none = *block;
        const extent all = e;
        double least = 0;
        if (c.given)
            scale_of_block(&c, &e, t, 0, block);
        for (int k = 0; k < tries && !block->nan; k++) {
            ref_block other = none;
            extent own = all;
            uint64_t along =
                shape->length - t->order[block->first] / shape->inner % shape->length; /* to the line's end */
            along = along < f->block_length ? along : f->block_length;
            scale_tried(&c, &own, t, k, &other);
            const double error = tries > 1 && !other.nan ? error_of_block(&c, t, &other, &own, along, x) : 0;
            if (k == 0 || error < least) {
                *block = other;
                e = own;
                least = error;
            }
        }
        if (shares_mantissa(f) && !block->nan) {
            block->order = MANTISSA;
            block->add = mantissa;
            block->code |= (uint64_t)fraction << scale_width(f);
        }
        if (f->scaling == FPEMU_SCALING_EDEN && !c.given && e.amax > 0 && !block->nan) {
            const uint64_t across = (shape->length - 1) / f->block_length + 1, along = b % across;
            const uint64_t share = f->correct ? f->correct : 8, before = along % share, left = across - along + before;
            const double p = correction_of(&c, t, block - before, left < share ? left : share, x);
            ref_block kept = *block;
            rounded_scale(&c, c.drawn, saturate(carrier, multiply(carrier, block_scale(block), plain(p))),
                          lh_bits(r->generator, r->seed, r->stream, r->offset + t->order[block->first], c.random_bits),
                          &kept);
            kept.saturated |= block->saturated;
            *block = kept;
        }
        if ((f->scaling == FPEMU_SCALING_GGML_1K || f->scaling == FPEMU_SCALING_GGML_0K) && !block->nan) {
            const uint64_t across = (shape->length - 1) / f->block_length + 1,
                           before = b % across % (256 / f->block_length);
            const uint64_t left = across - b % across + before, most = 256 / f->block_length;
            super_scale(&c, t, block - before, before, left < most ? left : most, x);
            block->saturated = block->saturated && e.amax > 0;
        }
        add_levels(&c, t, block, &e, x);
        for (uint64_t j = 0; j < block->elements; j++) {
            uint64_t index = t->order[block->first + j];
            ref_block own = *block;
            own.exponent += level(f, block->code, j);
            one_element(&c, t, &own, &e, index, x[index], &t->element[index]);
        }
    }
    close_context(&c);
    return t;
}

/* ----------------------------------------------------------------------------------------------------- counting */

static void count_exponent(uint64_t *histogram, int first, unsigned length, long exponent)
{
    long bin = exponent - first + 1;
    histogram[bin < 0 ? 0 : bin >= (long)length ? length - 1 : (unsigned)bin]++;
}

/* The total of 32 lanes, the upper half taken in by the lower each time. */
static double lanes_total(double lane[32])
{
    for (int half = 16; half; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

void ref_count(const ref_tensor *t, const uint64_t *x, fpemu_stats *s, double sums[3])
{
    mpq_t total[3], one;
    int k, infinite[3] = {0, 0, 0};

    for (k = 0; k < 3; k++)
        mpq_init(total[k]);
    mpq_init(one);
    for (uint64_t b = 0; b < t->blocks; b++) {
        const ref_block *block = &t->block[b];
        double lane[3][32] = {0};
        s->blocks++;
        s->zero_blocks += (uint64_t)block->zero;
        s->nan_blocks += (uint64_t)block->nan;
        s->saturated_scales += (uint64_t)block->saturated;
        if ((s->request.want & FPEMU_STATS_SCALES) && !block->nan && block->scale != 0)
            count_exponent(s->request.scale_histogram, s->request.scale_first, s->request.scale_length,
                           binade(block_scale(block)));
        for (uint64_t j = 0; j < block->elements; j++) {
            uint64_t index = t->order[block->first + j];
            const ref_element *e = &t->element[index];
            double v = carrier_value(t->carrier, x[index]), y = carrier_value(t->carrier, e->y), d = fabs(v - y);
            s->count++;
            s->nan += isnan(v) != 0;
            s->infinite += isinf(v) != 0;
            s->clipped += (e->events & JUDGE_CLIPPED) != 0;
            s->overflow += (e->events & JUDGE_OVERFLOW) != 0;
            s->invalid += (e->events & JUDGE_INVALID) != 0;
            s->underflow += (e->events & JUDGE_UNDERFLOW) != 0;
            s->subnormal += (e->events & JUDGE_SUBNORMAL) != 0;
            s->inexact += (e->events & JUDGE_INEXACT) != 0;
            if (isfinite(v)) {
                s->max_abs = fmax(s->max_abs, fabs(v));
                if (v != 0 && (s->min_abs == 0 || fabs(v) < s->min_abs))
                    s->min_abs = fabs(v);
                if (v != 0 && (s->request.want & FPEMU_STATS_HISTOGRAM))
                    count_exponent(s->request.histogram, s->request.histogram_first, s->request.histogram_length,
                                   binade(plain(v)));
                if (isfinite(y)) {
                    if (isfinite(d))
                        s->max_error = fmax(s->max_error, d);
                    lane[0][j % 32] += d;
                    lane[1][j % 32] += d * d;
                    lane[2][j % 32] += v * v;
                }
            }
            if (j % 4096 == 4095 || j + 1 == block->elements) {
                for (k = 0; k < 3; k++) {
                    double piece = lanes_total(lane[k]);
                    if (isinf(piece)) {
                        infinite[k] = 1;
                    } else {
                        mpq_set_d(one, piece);
                        mpq_add(total[k], total[k], one);
                    }
                }
                memset(lane, 0, sizeof lane);
            }
        }
    }
    for (k = 0; k < 3; k++) {
        sums[k] = infinite[k] ? INFINITY : to_carrier(64, total[k]);
        mpq_clear(total[k]);
    }
    mpq_clear(one);
}

/* ------------------------------------------------------------------------------------------------------ packing */

unsigned ref_scale_bytes(const fpemu_format *f)
{
    if (!f->scaling || f->scaling == FPEMU_SCALING_S2FP8)
        return 0;
    const unsigned levels = f->scaling == FPEMU_SCALING_HIF4      ? 24
                            : f->scaling == FPEMU_SCALING_PAIRS   ? (f->block_length + 1) / 2
                            : orders[f->scaling] == AFTER         ? f->bits
                            : f->scaling == FPEMU_SCALING_GGML_1K ? scale_width(f) + 12
                            : f->scaling == FPEMU_SCALING_GGML_0K ? 8
                            : shares_mantissa(f)                  ? 8
                            : orders[f->scaling]                  ? scale_width(f)
                                                                  : 0;
    const unsigned bits = scale_width(f) + levels;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static uint64_t tensor_bytes(const fpemu_format *f, const ref_tensor *t)
{
    return t->n && (is_nvfp4(f) || f->scaling == FPEMU_SCALING_S2FP8) ? 8 * t->lines : 0;
}

uint64_t ref_packed_size(const fpemu_format *f, const ref_tensor *t)
{
    uint64_t size = tensor_bytes(f, t) + t->blocks * ref_scale_bytes(f), b;
    for (b = 0; b < t->blocks; b++)
        size += (t->block[b].elements * f->bits + 7) / 8;
    return size;
}

static unsigned char *put(unsigned char *bytes, uint64_t value, unsigned count)
{
    while (count--) {
        *bytes++ = (unsigned char)value;
        value >>= 8;
    }
    return bytes;
}

void ref_pack(const fpemu_format *f, const ref_tensor *t, unsigned char *bytes)
{
    memset(bytes, 0, ref_packed_size(f, t));
    for (uint64_t k = 0; k < tensor_bytes(f, t) / 4; k++)
        bytes = put(bytes, lh_float_bits(t->line[k / 2][k % 2]), 4);
    for (uint64_t b = 0; b < t->blocks; b++)
        bytes = put(bytes, t->block[b].code, ref_scale_bytes(f));
    for (uint64_t b = 0; b < t->blocks; b++) {
        const ref_block *block = &t->block[b];
        for (uint64_t j = 0; j < block->elements; j++) {
            uint64_t code = block->nan ? 0 : t->element[t->order[block->first + j]].code;
            for (unsigned k = 0; k < f->bits; k++) {
                uint64_t at = j * f->bits + k;
                bytes[at / 8] = (unsigned char)(bytes[at / 8] | (code >> k & 1) << at % 8);
            }
        }
        bytes += (block->elements * f->bits + 7) / 8;
    }
}

static uint64_t get(const unsigned char *bytes, unsigned count)
{
    uint64_t value = 0;
    while (count--)
        value = value << 8 | bytes[count];
    return value;
}

int ref_unpack(const fpemu_format *f, unsigned carrier, const ref_tensor *t, const unsigned char *bytes, uint64_t *y)
{
    static const fpemu_rounding nearest;
    unsigned width = ref_scale_bytes(f), k;
    const unsigned char *scales = bytes + tensor_bytes(f, t), *codes = scales + t->blocks * width;
    ref_tensor decoded = {0};
    context c;

    if (!open_context(&c, f, &nearest, carrier)) {
        close_context(&c);
        return 0;
    }
    for (uint64_t b = 0; b < t->blocks; b++) {
        if (tensor_bytes(f, t))
            decoded.decode = lh_float((uint32_t)get(bytes + 8 * (b / (t->blocks / t->lines)) + 4, 4));
        ref_block block = {0}, own;
        uint64_t code = get(scales + b * width, width), all = code;
        if (f->scale_power) {
            uint64_t sign = UINT64_C(1) << (f->scale_exponent_bits - 1);
            code &= 2 * sign - 1;
            block.scale = 1;
            block.exponent = code & sign ? (long)code - (long)(2 * sign) : (long)code;
        } else if (c.scale) {
            const uint64_t second = all >> scale_width(f);
            block.scale = carrier_value(64, judge_decode(c.scale, code));
            block.order = shares_mantissa(f) ? MANTISSA : orders[f->scaling];
            if (block.order == MANTISSA)
                block.add = 1 + (double)(second & 255) / 256;
            if (orders[f->scaling] == OFFSET)
                block.add = carrier_value(64, judge_decode(c.scale, second));
            if (f->scaling == FPEMU_SCALING_GGML_1K) {
                block.scale *= (double)(second >> scale_width(f) & 63);
                block.add *= -(double)(second >> (scale_width(f) + 6) & 63);
            } else if (f->scaling == FPEMU_SCALING_GGML_0K) {
                block.scale = block.scale * ((double)(second & 255) - (second & 128 ? 256 : 0)) + 0.0;
            }
            block.zero_point = f->scaling == FPEMU_SCALING_TINYGEMM ? (c.max + c.lowest + 1) / 2
                               : orders[f->scaling] == BEFORE       ? carrier_value(64, judge_decode(c.scale, second))
                               : orders[f->scaling] == AFTER ? carrier_value(carrier, judge_decode(c.element, second))
                                                             : 0;
        }
        if (t->given && t->given->order) {
            block.order = t->given->order == FPEMU_ZERO_AFTER ? AFTER : BEFORE;
            block.zero_point = (double)t->given->zeros[b];
        }
        for (uint64_t j = 0; j < t->block[b].elements; j++) {
            uint64_t q = 0;
            double p;
            for (k = 0; k < f->bits; k++) {
                uint64_t at = j * f->bits + k;
                q |= (uint64_t)(codes[at / 8] >> at % 8 & 1) << k;
            }
            if (f->kind == FPEMU_KIND_CODEBOOK)
                p = q < c.length ? (double)c.table[q] + 0.0 : NAN;
            else
                p = carrier_value(carrier, judge_decode(c.element, q));
            own = block;
            own.exponent += level(f, all, j);
            if (f->scaling)
                p = isnan(p) || isnan(block.scale) ? NAN : scaled(carrier, f, &decoded, &own, p);
            y[t->order[t->block[b].first + j]] = carrier_bits(carrier, p);
        }
        codes += (t->block[b].elements * f->bits + 7) / 8;
    }
    close_context(&c);
    return 1;
}

/* -------------------------------------------------------------------------------------------------------- S2FP8 */

/* log2|x| by MPFR, nearest, 128 bits; rounded to a multiple of 2^-32 if `fine` is 0. */
static void log2_of(mpfr_t y, double x, int fine)
{
    mpfr_set_d(y, fabs(x), MPFR_RNDN);
    mpfr_log2(y, y, MPFR_RNDN);
    if (!fine) {
        mpfr_mul_2ui(y, y, 32, MPFR_RNDN);
        mpfr_rint(y, y, MPFR_RNDN);
        mpfr_div_2ui(y, y, 32, MPFR_RNDN);
    }
}

ref_s2fp8 ref_s2fp8_range(unsigned carrier, uint64_t n, const uint64_t *x)
{
    ref_s2fp8 r = {1, 1, 0, 0};
    mpfr_t sum, most, one;
    double mu, mx, gap, slack = 0x1.1p-32, low, high;
    uint64_t i, count = 0;
    int same = 1;
    double first = 0;

    mpfr_inits2(200, sum, most, one, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    for (i = 0; i < n; i++) {
        double v = fabs(carrier_value(carrier, x[i]));
        if (!isfinite(v) || v == 0)
            continue;
        log2_of(one, v, 0);
        if (count == 0 || mpfr_cmp(one, most) > 0)
            mpfr_set(most, one, MPFR_RNDN);
        mpfr_add(sum, sum, one, MPFR_RNDN);
        same = same && (count == 0 || v == first);
        first = v;
        count++;
    }
    if (count) {
        mpfr_div_ui(sum, sum, count, MPFR_RNDN);
        mu = mpfr_get_d(sum, MPFR_RNDN);
        mx = mpfr_get_d(most, MPFR_RNDN);
        mpfr_sub(sum, most, sum, MPFR_RNDN);
        gap = mpfr_get_d(sum, MPFR_RNDN);
        if (same) {
            r.alpha_low = r.alpha_high = 1;
            r.beta_low = 15 - mx - slack;
            r.beta_high = 15 - mx + slack;
        } else {
            low = 15 / (gap + slack);
            high = gap > slack ? 15 / (gap - slack) : INFINITY;
            r.alpha_low = low;
            r.alpha_high = high;
            r.beta_low =
                fmin(fmin(-low * (mu - slack), -low * (mu + slack)), fmin(-high * (mu - slack), -high * (mu + slack)));
            r.beta_high =
                fmax(fmax(-low * (mu - slack), -low * (mu + slack)), fmax(-high * (mu - slack), -high * (mu + slack)));
        }
        /* and one rounding to binary32 */
        r.alpha_low *= 1 - 0x1p-23;
        r.alpha_high *= 1 + 0x1p-23;
        r.beta_low -= fabs(r.beta_low) * 0x1p-23;
        r.beta_high += fabs(r.beta_high) * 0x1p-23;
    }
    mpfr_clears(sum, most, one, (mpfr_ptr)NULL);
    return r;
}

/* 2^v as a binary64 number, at its ends 0 or the largest number. */
static double power_of_two(mpfr_t v)
{
    mpfr_exp2(v, v, MPFR_RNDN);
    double y = mpfr_get_d(v, MPFR_RNDN);
    return isinf(y) ? 0x1.fffffffffffffp1023 : y;
}

/* Whether b lies within two units of the last place, or of the smallest number, of a. */
static int close_to(unsigned carrier, double a, double b, double relative)
{
    double end = carrier == 32 ? largest32 : 0x1.fffffffffffffp1023, tiny = carrier == 32 ? 0x1p-149 : 0x1p-1074;
    double scale = fmax(fabs(a), fabs(b));
    if (a == b || (fabs(a) >= end * (1 - relative) && fabs(b) >= end * (1 - relative) && (a > 0) == (b > 0)))
        return 1;
    return fabs(a - b) <= scale * relative + tiny;
}

int ref_s2fp8_element(const fpemu_format *f, const fpemu_rounding *r, unsigned carrier, float alpha, float beta,
                      uint64_t bits, uint64_t index, uint64_t code, uint64_t ybits)
{
    double x = carrier_value(carrier, bits), y = carrier_value(carrier, ybits), p, t[2], want, slack, size;
    judge_result low = {0, 0, 0}, high = {0, 0, 0};
    context c;
    mpfr_t v, w;
    int ok = 1, side;
    mpz_t k;

    if (!open_context(&c, f, r, carrier)) {
        close_context(&c);
        return 0;
    }
    mpfr_inits2(200, v, w, (mpfr_ptr)NULL);
    mpz_init(k);
    p = carrier_value(carrier, judge_decode(c.element, code));
    if (!isfinite(x)) {
        ref_element e = {0};
        special_element(&c, bits, index, &e);
        ok = e.code == code;
        p = isnan(x) ? e.p : p;
    } else if (x == 0) {
        ok = p == 0 && y == 0 && (signbit(y) != 0) == (signbit(p) != 0);
        ok = ok && code == judge_exact_code(c.element, signbit(x) != 0, k, 0, 0).code;
    } else {
        for (side = 0; side < 2; side++) {
            log2_of(v, x, 1);
            size = fabs(mpfr_get_d(v, MPFR_RNDN) * (double)alpha) + fabs((double)beta) + 1;
            slack = size * 0x1p-46;
            mpfr_mul_d(v, v, (double)alpha, MPFR_RNDN);
            mpfr_add_d(v, v, (double)beta, MPFR_RNDN);
            mpfr_add_d(v, v, side ? slack : -slack, MPFR_RNDN);
            t[side] = power_of_two(v);
        }
        {
            uint32_t random = random_of(&c, index);
            long e = integer_of(k, plain(t[0]));
            low = judge_exact_code(c.element, signbit(x) != 0, k, e, random);
            e = integer_of(k, plain(t[1]));
            high = judge_exact_code(c.element, signbit(x) != 0, k, e, random);
        }
        if (code != low.code && code != high.code) {
            double a = carrier_value(carrier, low.bits), b = carrier_value(carrier, high.bits);
            ok = p >= fmin(a, b) && p <= fmax(a, b);
        }
    }
    if (isnan(p)) {
        ok = ok && isnan(y);
    } else if (p == 0) {
        ok = ok && y == 0 && (signbit(y) != 0) == (signbit(p) != 0);
    } else if (ok) {
        log2_of(v, p, 1);
        size = fabs(mpfr_get_d(v, MPFR_RNDN)) + fabs((double)beta);
        mpfr_sub_d(v, v, (double)beta, MPFR_RNDN);
        mpfr_div_d(v, v, (double)alpha, MPFR_RNDN);
        slack = (size / fabs((double)alpha) + 1) * 0x1p-46 + (carrier == 32 ? 0x1p-23 : 0x1p-52);
        want = copysign(power_of_two(v), p);
        ok = close_to(carrier, want, y, slack);
    }
    mpfr_clears(v, w, (mpfr_ptr)NULL);
    mpz_clear(k);
    close_context(&c);
    return ok;
}
