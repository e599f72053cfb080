/* SPDX-License-Identifier: BSD-2-Clause */
/* posit_fast.inc.h - posits of one carrier in short forms; included by posit_fast.h. */

/* Whether core_element_quick_posit does what the plan asks, of which core_plan_unbounded takes the ends. */
FPEMU_FN int core_posit_is_quick(const core_plan *p)
{
    const uintw max = p->posit_max, negative = max | CARRIER_SIGN;
    const int stops = p->infinite[0] == max && p->infinite[1] == negative;
    const int nan = p->infinite[0] == p->nan[0] && p->infinite[1] == p->nan[0];
    return p->max[0] == max && p->max[1] == max && p->overflow[0] == max && p->overflow[1] == negative &&
           p->nan[0] == p->nan[1] && (stops || nan) && !p->zero[0] && !p->zero[1] && p->posit_min >= CARRIER_HIDDEN &&
           p->posit_n >= 3;
}

/* A magnitude on its way to a posit: x, its bits between minpos and maxpos less those of 1, and what follows. */
typedef struct core_posit_steps {
    uintw x, keep;    /* keep: all but the d bits to discard */
    uintw more;       /* nearest even adds half a step less 1, and 1 where the last bit kept is odd; d = 0: nothing */
    intw d, m, below; /* below: all ones below 1 */
} core_posit_steps;

/* With d discarded bits, all of the exponent's and the fraction's at most. */
FPEMU_FN core_posit_steps core_posit_begin(const core_plan *p, uintw a)
{
    const intw one = (intw)((uintw)CARRIER_BIAS << CARRIER_MANTISSA), all = CARRIER_MANTISSA + (intw)p->posit_es;
    const intw least = (intw)p->posit_min, most = (intw)p->posit_max;
    const intw up = (intw)a < least ? least : (intw)a, x = (up > most ? most : up) - one;
    const intw regime = x >> all, below = regime >> (CARRIER_BITS - 1), m = regime ^ below;
    const intw wanted = m + (all + 3 - (intw)p->posit_n), positive = wanted < 0 ? 0 : wanted;
    const intw d = positive > all ? all : positive;
    const uintw keep = p->ones << d, last_bit = (uintw)x >> d;
    const uintw odd = (positive >= all ? (uintw)below : last_bit) & (~keep & 1);
    const core_posit_steps s = {(uintw)x, keep, (~keep >> 1) + odd, d, m, below};
    return s;
}

/* All ones, or 0 where a is 0; a mask, since compilers do worse with a condition inside of another. */
FPEMU_FN uintw core_unless_zero(uintw a)
{
    return (uintw)((intw)(0 - a) >> (CARRIER_BITS - 1));
}

/* The last magnitude that is no NaN. */
FPEMU_FN uintw core_posit_last(const core_plan *p)
{
    return p->infinite[0] > CARRIER_INF ? CARRIER_INF - 1 : CARRIER_INF;
}

/* As core_element_posit. */
FPEMU_FN uintw core_element_quick_posit(const core_plan *p, int mode, uintw u, uintw r)
{
    const uintw a = u & ~CARRIER_SIGN;
    const core_posit_steps s = core_posit_begin(p, a);
    const uintw nearest = ((s.x + s.more) & s.keep) + ((uintw)CARRIER_BIAS << CARRIER_MANTISSA);
    const uintw y = (nearest | (u & CARRIER_SIGN)) & core_unless_zero(a);
    (void)mode;
    (void)r;
    return core_beyond(a, core_posit_last(p), p->nan[0], y);
}

/* Whether the two below hold. */
FPEMU_FN int core_posit_codes_quickly(const core_coder *c)
{
    return c->n >= 3 && c->n <= 32 && c->es <= 6 && c->n - 2 <= 60 && c->n <= CARRIER_BITS &&
           ((int64_t)c->n - 2) << c->es < CARRIER_BIAS - 1; /* the exponents of minpos and maxpos */
}

/* Code of a posit y. */
FPEMU_FN uintw core_posit_quick_code(const core_coder *c, uintw u, uintw y)
{
    const uintw sign = y & CARRIER_SIGN, a = y ^ sign;
    const intw all = CARRIER_MANTISSA + (intw)c->es, x = (intw)(a - ((uintw)CARRIER_BIAS << CARRIER_MANTISSA));
    const intw regime = x >> all, below = regime >> (CARRIER_BITS - 1), m = (regime ^ below) & (CARRIER_BITS - 1);
    const uintw tail = ((uintw)x & (((uintw)1 << all) - 1)) << (CARRIER_BITS - 2 - all);
    const intw head = (intw)(tail | (below ? CARRIER_SIGN >> 1 : CARRIER_SIGN));
    const uintw pattern = (uintw)(head >> m) >> (CARRIER_BITS + 1 - (intw)c->n);
    const uintw code = (sign ? 0 - pattern : pattern) & (uintw)c->mask;
    (void)u;
    return a > CARRIER_INF ? (uintw)c->nan[0] : a == 0 ? 0 : code;
}

/* Code of what core_element_quick_posit makes of u: the pattern has the bits that are kept at its end. `nan`: the code
 * of NaN. */
FPEMU_FN uintw core_posit_direct_code(const core_plan *p, uintw mask, uintw nan, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN;
    const intw all = CARRIER_MANTISSA + (intw)p->posit_es;
    const core_posit_steps s = core_posit_begin(p, a);
    const uintw tail = s.x & ~(p->ones << all), end = (tail + s.more) >> s.d;
    const intw head = (intw)(CARRIER_SIGN ^ ((uintw)s.below & (CARRIER_SIGN | CARRIER_SIGN >> 1)));
    const uintw pattern = ((uintw)(head >> s.m) >> (CARRIER_BITS + 1 - (intw)p->posit_n)) + end;
    const uintw negative = (uintw)((intw)u >> (CARRIER_BITS - 1));
    const uintw code = ((pattern ^ negative) - negative) & (mask & core_unless_zero(a));
    return core_beyond(a, core_posit_last(p), nan, code);
}

/* Value of a code, its unused bits 0. The regime's length is that of the zeros that lead it, made by a number's
 * exponent, which has a vector form everywhere. */
FPEMU_FN uintw core_posit_quick_value(const core_coder *c, uintw code)
{
    const intw n = (intw)c->n, es = (intw)c->es;
    const uintw left = code << (CARRIER_BITS - n), negative = (uintw)((intw)left >> (CARRIER_BITS - 1));
    const uintw x = ((left ^ negative) - negative) << 1; /* regime first; 0 for 0 and NaN */
    const intw ones = (intw)x >> (CARRIER_BITS - 1);
    const uintw zeros = (x ^ (uintw)ones) | 1;
#if CARRIER_BITS == 32 && defined(__AVX512CD__)
    const intw run = __builtin_clz(zeros);
#elif CARRIER_BITS == 32
    const uintw lone = zeros & ~(zeros >> 1); /* does not round up to the next power of two */
    const intw run = 158 - (intw)(core_bits((realw)(intw)lone) >> CARRIER_MANTISSA);
#elif defined(__AVX512CD__)
    const intw run = __builtin_clzll(zeros);
#else
    const uintw two = (uintw)(CARRIER_BIAS + CARRIER_MANTISSA) << CARRIER_MANTISSA; /* the high half tells it */
    const uintw high = core_bits(core_value(two | zeros >> 32) - core_value(two));
    const intw run = 31 + CARRIER_BIAS - (intw)(high >> CARRIER_MANTISSA);
#endif
    const intw shift = run & (CARRIER_BITS - 1), regime = (ones & (2 * run - 1)) - run; /* run - 1 or -run */
    const uintw tail = (x << shift << 1) >> (CARRIER_BITS - CARRIER_MANTISSA - es);
    const uintw y = ((uintw)regime << (es + CARRIER_MANTISSA)) + tail + ((uintw)CARRIER_BIAS << CARRIER_MANTISSA);
    const uintw some = (uintw)((intw)(x | (0 - x)) >> (CARRIER_BITS - 1));
    const uintw v = (y & some) | (left & CARRIER_SIGN);
    return v == CARRIER_SIGN ? CARRIER_NAN : v;
}
