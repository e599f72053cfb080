/* SPDX-License-Identifier: BSD-2-Clause */
/* floats.inc.c - floats to odd, and those whose zeros or ends differ by sign, in vectors of AVX-512, for one carrier;
 * included by variant.inc.c for each. The forms of core_shifter_by_side for FPEMU_MODE_RTO and of core_element_by_ends;
 * tests/against_judges/quantize_exhaustive.c, quantize_f64.c and spans.c compare them.
 *
 * A sum that is rounded down and up has its last bit odd in one of them if the number is no value, and then the lower
 * one with the last bit of the upper one is that: the mode to odd. */

/* Vectors of the carrier, and of integers as wide. */
#if CARRIER_BITS == 32
#define FLOATS_VECTOR __m512
#define FLOATS_MASK __mmask16
#define FLOATS_REAL(operation) _mm512_##operation##_ps
#define FLOATS_INT(operation) _mm512_##operation##_epi32
#define FLOATS_REAL_IF(comparison) _mm512_##comparison##_ps_mask
#define FLOATS_INT_IF(comparison) _mm512_##comparison##_epi32_mask
#define FLOATS_OF_BITS(v) _mm512_castsi512_ps(v)
#define FLOATS_BITS(v) _mm512_castps_si512(v)
#define FLOATS_SET(u) _mm512_set1_epi32((int)(u))
#define FLOATS_SIGNS(v) _mm512_movepi32_mask(v)
#else
#define FLOATS_VECTOR __m512d
#define FLOATS_MASK __mmask8
#define FLOATS_REAL(operation) _mm512_##operation##_pd
#define FLOATS_INT(operation) _mm512_##operation##_epi64
#define FLOATS_REAL_IF(comparison) _mm512_##comparison##_pd_mask
#define FLOATS_INT_IF(comparison) _mm512_##comparison##_epi64_mask
#define FLOATS_OF_BITS(v) _mm512_castsi512_pd(v)
#define FLOATS_BITS(v) _mm512_castpd_si512(v)
#define FLOATS_SET(u) _mm512_set1_epi64((long long)(u))
#define FLOATS_SIGNS(v) _mm512_movepi64_mask(v)
#endif
#define FLOATS_LANES (sizeof(FLOATS_VECTOR) / sizeof(realw))

FPEMU_FN FLOATS_VECTOR floats_to_odd(FLOATS_VECTOR down, FLOATS_VECTOR up)
{
    return FLOATS_OF_BITS(FLOATS_INT(ternarylogic)(FLOATS_BITS(down), FLOATS_BITS(up), FLOATS_SET(1), 0xf8));
}

/* The finished result; infinity becomes the largest value, or what the plan says if `infinite`: itself or the NaN. */
FPEMU_FN FLOATS_VECTOR floats_odd(const core_plan *p, int infinite, FLOATS_VECTOR x)
{
    const __m512i u = FLOATS_BITS(x), sign = FLOATS_SET(CARRIER_SIGN);
    const __m512i end = FLOATS_SET(CARRIER_INF), nan = FLOATS_SET(p->nan[0]);
    const __m512i a = _mm512_andnot_si512(sign, u), m = FLOATS_INT(min)(a, FLOATS_SET(p->max[0]));
    const __m512i e = FLOATS_INT(max)(_mm512_and_si512(m, end), FLOATS_SET(p->fast_emin));
    const FLOATS_VECTOR c = FLOATS_OF_BITS(FLOATS_INT(add)(e, FLOATS_SET(p->fast_up)));
    const FLOATS_VECTOR t = FLOATS_OF_BITS(m);
    const FLOATS_VECTOR down = FLOATS_REAL(add_round)(t, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const FLOATS_VECTOR up = FLOATS_REAL(add_round)(t, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __m512i g = FLOATS_BITS(FLOATS_REAL(sub)(floats_to_odd(down, up), c));
    const __m512i y = FLOATS_INT(ternarylogic)(g, u, sign, 0xf8);
    const FLOATS_MASK other = infinite ? FLOATS_INT_IF(cmpge)(a, end) : FLOATS_INT_IF(cmpgt)(a, end);
    if (!infinite)
        return FLOATS_OF_BITS(FLOATS_INT(mask_mov)(y, other, nan));
    /* a NaN becomes that NaN, and infinity either itself or that too */
    const int kinds = p->infinite[0] == CARRIER_INF ? 0x00110000 : 0;
    return FLOATS_REAL(mask_mov)(FLOATS_OF_BITS(y), other,
                                 FLOATS_REAL(fixupimm)(FLOATS_OF_BITS(nan), x, FLOATS_SET(kinds), 0));
}

#define FLOATS_ODD(rule, infinite)                                                                                     \
    static void CARRIER(loop_round_##rule##_FPEMU_MODE_RTO)(const core_plan *plan, size_t n, const void *x,            \
                                                            const uint32_t *r, void *y)                                \
    {                                                                                                                  \
        const core_plan p = *plan;                                                                                     \
        const realw *const in = (const realw *)x;                                                                      \
        realw *const out = (realw *)y;                                                                                 \
        size_t i = 0;                                                                                                  \
        (void)r;                                                                                                       \
        for (; n - i >= FLOATS_LANES; i += FLOATS_LANES)                                                               \
            FLOATS_REAL(storeu)(out + i, floats_odd(&p, infinite, FLOATS_REAL(loadu)(in + i)));                        \
        const FLOATS_MASK rest = (FLOATS_MASK)((1u << (n - i)) - 1);                                                   \
        if (rest)                                                                                                      \
            FLOATS_REAL(mask_storeu)(out + i, rest, floats_odd(&p, infinite, FLOATS_REAL(maskz_loadu)(rest, in + i))); \
    }
FLOATS_ODD(stop, 0)
FLOATS_ODD(stop_inf, 1)
#undef FLOATS_ODD

#if CARRIER_BITS == 32
/* What becomes of numbers past the ends, and of infinities. */
enum floats_end {
    FLOATS_BY_RULE, /* none of these */
    FLOATS_TO_MAX,  /* the largest value; of infinities that or the NaN */
    FLOATS_TO_NAN,  /* the NaN, of infinities too */
    FLOATS_TO_INF,  /* infinity; of infinities that or the NaN */
    FLOATS_BY_SIDE  /* on the side that the mode rounds to as FLOATS_TO_NAN, on the other as FLOATS_TO_MAX */
};
#endif

/* Whether both infinities become the NaN. */
FPEMU_FN int floats_have_no_infinity(const core_plan *p)
{
    return p->infinite[0] == p->nan[0] && p->infinite[1] == p->nan[0];
}

/* Which of them holds for a plan that core_ends_make takes. */
FPEMU_FN int floats_end_of(const core_plan *p)
{
    const uintw sign = CARRIER_SIGN, inf = CARRIER_INF, max = p->max[0], nan = p->nan[0];
    const uintw up = p->overflow[0], down = p->overflow[1];
    const int none = floats_have_no_infinity(p);
    if (p->rule != CORE_RULE_SHIFTER_GRID || p->max[1] != max || p->nan[1] != nan ||
        !(none || (p->infinite[0] == up && p->infinite[1] == down)))
        return FLOATS_BY_RULE;
    if (none && ((p->mode == FPEMU_MODE_RTP && up == nan && down == (max | sign)) ||
                 (p->mode == FPEMU_MODE_RTN && up == max && down == nan)))
        return FLOATS_BY_SIDE;
    if (p->zero[1])
        return FLOATS_BY_RULE;
    return up == max && down == (max | sign)   ? FLOATS_TO_MAX
           : up == inf && down == (inf | sign) ? FLOATS_TO_INF
           : none && up == nan && down == nan  ? FLOATS_TO_NAN
                                               : FLOATS_BY_RULE;
}

#define FLOATS_TO(side) (_MM_FROUND_TO_##side | _MM_FROUND_NO_EXC)

/* What core_ends_make and floats_end_of made of a plan. from: magnitudes past it become the NaN, whatever they are. */
typedef struct floats_constants {
    __m512i emin, up, past, from, infinity;
    __m512i half, twice; /* from the exponent of c to that of half a step; what QPyTorch adds to it below emin */
    FLOATS_VECTOR max, nan;
} floats_constants;

FPEMU_FN void floats_begin(floats_constants *g, const core_plan *p, const core_ends *e)
{
    g->emin = FLOATS_SET(p->fast_emin);
    g->up = FLOATS_SET(p->fast_up);
    g->past = FLOATS_SET(e->past[0]);
    g->from = FLOATS_SET(floats_have_no_infinity(p) ? CARRIER_INF - 1 : CARRIER_INF);
    g->infinity = FLOATS_SET(CARRIER_INF);
    g->half = FLOATS_SET((uintw)(CARRIER_MANTISSA + 1) << CARRIER_MANTISSA);
    g->twice = FLOATS_SET(CARRIER_HIDDEN >> p->d_norm);
    g->max = FLOATS_REAL(set1)(core_value(p->max[0]));
    g->nan = FLOATS_REAL(set1)(core_value(p->nan[0]));
}

/* The sum of t and c, which has its sign, rounded by the mode. `first`: as QPyTorch does, which rounds what is below
 * emin to nearest even, to 24 bits below it, and then to nearest away: half a step of those less is enough to go up. */
FPEMU_FN FLOATS_VECTOR floats_sum(const floats_constants *g, int mode, int first, FLOATS_VECTOR t, __m512i field,
                                  FLOATS_VECTOR c)
{
    switch (mode) {
    case FPEMU_MODE_RTZ: return FLOATS_REAL(add_round)(t, c, FLOATS_TO(ZERO));
    case FPEMU_MODE_RTP: return FLOATS_REAL(add_round)(t, c, FLOATS_TO(POS_INF));
    case FPEMU_MODE_RTN: return FLOATS_REAL(add_round)(t, c, FLOATS_TO(NEG_INF));
    case FPEMU_MODE_RNA: {
        __m512i half = FLOATS_INT(sub)(FLOATS_BITS(c), g->half);
        if (first)
            half = FLOATS_INT(mask_or)(half, FLOATS_INT_IF(cmplt)(field, g->emin), half, g->twice);
        return FLOATS_REAL(add_round)(FLOATS_REAL(add_round)(t, FLOATS_OF_BITS(half), FLOATS_TO(ZERO)), c,
                                      FLOATS_TO(ZERO));
    }
    case FPEMU_MODE_RAZ: {
        const FLOATS_MASK below = FLOATS_SIGNS(FLOATS_BITS(c));
        return FLOATS_REAL(mask_add_round)(FLOATS_REAL(add_round)(t, c, FLOATS_TO(POS_INF)), below, t, c,
                                           FLOATS_TO(NEG_INF));
    }
    case FPEMU_MODE_RTO: { /* the odd one, if there is one */
        const FLOATS_VECTOR down = FLOATS_REAL(add_round)(t, c, FLOATS_TO(NEG_INF));
        const FLOATS_MASK odd = FLOATS_INT_IF(test)(FLOATS_BITS(down), FLOATS_SET(1));
        return FLOATS_REAL(mask_mov)(FLOATS_REAL(add_round)(t, c, FLOATS_TO(POS_INF)), odd, down);
    }
    default: return FLOATS_REAL(add)(t, c);
    }
}

/* The finished result. No difference is -0, which is what zeros become that keep no sign. */
FPEMU_FN FLOATS_VECTOR floats_by_ends(const floats_constants *g, int end, int mode, int keeps, int first,
                                      FLOATS_VECTOR x)
{
    const __m512i u = FLOATS_BITS(x), sign = FLOATS_SET(CARRIER_SIGN);
    const FLOATS_VECTOR least = FLOATS_OF_BITS(_mm512_or_si512(FLOATS_BITS(g->max), sign));
    const FLOATS_VECTOR t = end == FLOATS_TO_MAX
                                ? FLOATS_REAL(range)(x, g->max, 2) /* the smaller magnitude, with x's sign */
                            : end != FLOATS_BY_SIDE  ? x
                            : mode == FPEMU_MODE_RTP ? FLOATS_REAL(max)(x, least)
                                                     : FLOATS_REAL(min)(x, g->max);
    const __m512i field = _mm512_and_si512(FLOATS_BITS(t), g->infinity);
    const __m512i magnitude = FLOATS_INT(add)(FLOATS_INT(max)(field, g->emin), g->up);
    const FLOATS_VECTOR c = FLOATS_OF_BITS(FLOATS_INT(ternarylogic)(magnitude, u, sign, 0xf8));
    FLOATS_VECTOR y = FLOATS_REAL(sub)(floats_sum(g, mode, first, t, field, c), c);
    if (end == FLOATS_BY_SIDE) {
        const FLOATS_MASK within = mode == FPEMU_MODE_RTP ? FLOATS_REAL_IF(cmp)(x, g->max, _CMP_LE_OQ)
                                                          : FLOATS_REAL_IF(cmp)(x, least, _CMP_GE_OQ);
        const __m512i other = mode == FPEMU_MODE_RTP ? _mm512_or_si512(g->infinity, sign) : g->infinity;
        if (keeps)
            y = FLOATS_OF_BITS(FLOATS_INT(ternarylogic)(FLOATS_BITS(y), u, sign, 0xf8));
        return FLOATS_REAL(mask_mov)(g->nan, FLOATS_INT_IF(mask_cmpneq)(within, u, other), y);
    }
    const __m512i a = _mm512_andnot_si512(sign, u);
    if (end == FLOATS_TO_NAN)
        return FLOATS_REAL(mask_mov)(y, FLOATS_INT_IF(cmpgt)(a, g->past), g->nan);
    if (end == FLOATS_TO_INF) {
        const __m512i infinite = FLOATS_INT(ternarylogic)(g->infinity, u, sign, 0xf8);
        y = FLOATS_REAL(mask_mov)(y, FLOATS_INT_IF(cmpgt)(a, g->past), FLOATS_OF_BITS(infinite));
    }
    return FLOATS_REAL(mask_mov)(y, FLOATS_INT_IF(cmpgt)(a, g->from), g->nan);
}

#define FLOATS_BY_ENDS(end, mode, keeps, first)                                                                        \
    static void CARRIER(loop_floats_##end##_##mode##_##keeps##_##first)(const floats_constants *floats_of, size_t n,   \
                                                                        const realw *in, realw *out)                   \
    {                                                                                                                  \
        const floats_constants g = *floats_of;                                                                         \
        size_t i = 0;                                                                                                  \
        for (; n - i >= FLOATS_LANES; i += FLOATS_LANES)                                                               \
            FLOATS_REAL(storeu)(out + i, floats_by_ends(&g, end, mode, keeps, first, FLOATS_REAL(loadu)(in + i)));     \
        const FLOATS_MASK rest = (FLOATS_MASK)((1u << (n - i)) - 1);                                                   \
        if (rest) {                                                                                                    \
            const FLOATS_VECTOR last = FLOATS_REAL(maskz_loadu)(rest, in + i);                                         \
            FLOATS_REAL(mask_storeu)(out + i, rest, floats_by_ends(&g, end, mode, keeps, first, last));                \
        }                                                                                                              \
    }
#if CARRIER_BITS == 32
#define FLOATS_FIRST(end, LOOP) LOOP(end, FPEMU_MODE_RNA, 0, 1)
#else
#define FLOATS_FIRST(end, LOOP)
#endif
#define FLOATS_AWAY(end, LOOP)                                                                                         \
    LOOP(end, FPEMU_MODE_RNE, 0, 0)                                                                                    \
    LOOP(end, FPEMU_MODE_RNA, 0, 0)                                                                                    \
    LOOP(end, FPEMU_MODE_RAZ, 0, 0)                                                                                    \
    FLOATS_FIRST(end, LOOP)
#define FLOATS_FORMS(LOOP)                                                                                             \
    FLOATS_AWAY(FLOATS_TO_NAN, LOOP)                                                                                   \
    FLOATS_AWAY(FLOATS_TO_INF, LOOP)                                                                                   \
    FLOATS_AWAY(FLOATS_TO_MAX, LOOP)                                                                                   \
    LOOP(FLOATS_TO_MAX, FPEMU_MODE_RTZ, 0, 0)                                                                          \
    LOOP(FLOATS_TO_MAX, FPEMU_MODE_RTP, 0, 0)                                                                          \
    LOOP(FLOATS_TO_MAX, FPEMU_MODE_RTN, 0, 0)                                                                          \
    LOOP(FLOATS_TO_MAX, FPEMU_MODE_RTO, 0, 0)                                                                          \
    LOOP(FLOATS_BY_SIDE, FPEMU_MODE_RTP, 0, 0)                                                                         \
    LOOP(FLOATS_BY_SIDE, FPEMU_MODE_RTP, 1, 0)                                                                         \
    LOOP(FLOATS_BY_SIDE, FPEMU_MODE_RTN, 0, 0)                                                                         \
    LOOP(FLOATS_BY_SIDE, FPEMU_MODE_RTN, 1, 0)
FLOATS_FORMS(FLOATS_BY_ENDS)
#undef FLOATS_BY_ENDS

/* All of an array, if there is a form; 0 if there is none. first: QPyTorch's rounding before the mode's, too. */
static int floats_ends(const core_plan *p, int first, size_t n, const void *x, void *y)
{
    const int end = p->mode < FPEMU_MODE_SR ? floats_end_of(p) : FLOATS_BY_RULE;
    core_ends e;
    floats_constants g;
    if (end == FLOATS_BY_RULE || (first && p->d_norm < 2) || !core_ends_make(&e, p))
        return 0;
    floats_begin(&g, p, &e);
#define FLOATS_CASE(of, mode_of, keeps, first_of)                                                                      \
    if (end == of && p->mode == mode_of && keeps == (p->zero[1] != 0) && first == first_of) {                          \
        CARRIER(loop_floats_##of##_##mode_of##_##keeps##_##first_of)(&g, n, (const realw *)x, (realw *)y);             \
        return 1;                                                                                                      \
    }
    FLOATS_FORMS(FLOATS_CASE)
#undef FLOATS_CASE
    return 0;
}
#undef FLOATS_FIRST
#undef FLOATS_AWAY
#undef FLOATS_FORMS
#undef FLOATS_TO
#undef FLOATS_VECTOR
#undef FLOATS_MASK
#undef FLOATS_REAL
#undef FLOATS_INT
#undef FLOATS_REAL_IF
#undef FLOATS_INT_IF
#undef FLOATS_OF_BITS
#undef FLOATS_BITS
#undef FLOATS_SET
#undef FLOATS_SIGNS
#undef FLOATS_LANES
