/* SPDX-License-Identifier: BSD-2-Clause */
/* floats.inc.c - floats in binary32 to odd, and those whose zeros or ends differ by sign, in vectors of AVX-512;
 * included by variant.inc.c. The forms of core_shifter_by_side for FPEMU_MODE_RTO and of core_element_by_ends;
 * tests/against_judges/quantize_exhaustive.c and spans.c compare them.
 *
 * A sum that is rounded down and up has its last bit odd in one of them if the number is no value, and then the lower
 * one with the last bit of the upper one is that: the mode to odd. */

FPEMU_FN __m512 to_odd(__m512 down, __m512 up)
{
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(down), _mm512_castps_si512(up), _mm512_set1_epi32(1), 0xf8));
}

/* The finished result; infinity becomes the largest value, or what the plan says if `infinite`: itself or the NaN. */
FPEMU_FN __m512 floats_odd(const core_plan32 *p, int infinite, __m512 x)
{
    const __m512i u = _mm512_castps_si512(x), sign = _mm512_set1_epi32((int)0x80000000u);
    const __m512i end = _mm512_set1_epi32(0x7f800000), nan = _mm512_set1_epi32((int)p->nan[0]);
    const __m512i a = _mm512_andnot_si512(sign, u), m = _mm512_min_epi32(a, _mm512_set1_epi32((int)p->max[0]));
    const __m512i e = _mm512_max_epi32(_mm512_and_si512(m, end), _mm512_set1_epi32((int)p->fast_emin));
    const __m512 c = _mm512_castsi512_ps(_mm512_add_epi32(e, _mm512_set1_epi32((int)p->fast_up)));
    const __m512 t = _mm512_castsi512_ps(m);
    const __m512 down = _mm512_add_round_ps(t, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_add_round_ps(t, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __m512i g = _mm512_castps_si512(_mm512_sub_ps(to_odd(down, up), c));
    const __m512i y = _mm512_ternarylogic_epi32(g, u, sign, 0xf8);
    const __mmask16 other = infinite ? _mm512_cmpge_epi32_mask(a, end) : _mm512_cmpgt_epi32_mask(a, end);
    if (!infinite)
        return _mm512_castsi512_ps(_mm512_mask_mov_epi32(y, other, nan));
    /* a NaN becomes that NaN, and infinity either itself or that too */
    const int kinds = p->infinite[0] == 0x7f800000u ? 0x00110000 : 0;
    return _mm512_mask_mov_ps(_mm512_castsi512_ps(y), other,
                              _mm512_fixupimm_ps(_mm512_castsi512_ps(nan), x, _mm512_set1_epi32(kinds), 0));
}

#define FLOATS_ODD(rule, infinite)                                                                                     \
    static void loop_round_##rule##_FPEMU_MODE_RTO32(const core_plan32 *plan, size_t n, const void *x,                 \
                                                     const uint32_t *r, void *y)                                       \
    {                                                                                                                  \
        const core_plan32 p = *plan;                                                                                   \
        const float *const in = (const float *)x;                                                                      \
        float *const out = (float *)y;                                                                                 \
        size_t i = 0;                                                                                                  \
        (void)r;                                                                                                       \
        for (; n - i >= 16; i += 16)                                                                                   \
            _mm512_storeu_ps(out + i, floats_odd(&p, infinite, _mm512_loadu_ps(in + i)));                              \
        const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                                       \
        if (rest)                                                                                                      \
            _mm512_mask_storeu_ps(out + i, rest, floats_odd(&p, infinite, _mm512_maskz_loadu_ps(rest, in + i)));       \
    }
FLOATS_ODD(stop, 0)
FLOATS_ODD(stop_inf, 1)
#undef FLOATS_ODD

/* What becomes of numbers past the ends, and of infinities. */
enum floats_end {
    FLOATS_BY_RULE, /* none of these */
    FLOATS_TO_MAX,  /* the largest value; of infinities that or the NaN */
    FLOATS_TO_NAN,  /* the NaN, of infinities too */
    FLOATS_TO_INF,  /* infinity; of infinities that or the NaN */
    FLOATS_BY_SIDE  /* on the side that the mode rounds to as FLOATS_TO_NAN, on the other as FLOATS_TO_MAX */
};

/* Whether both infinities become the NaN. */
FPEMU_FN int floats_have_no_infinity(const core_plan32 *p)
{
    return p->infinite[0] == p->nan[0] && p->infinite[1] == p->nan[0];
}

/* Which of them holds for a plan that core_ends_make takes. */
FPEMU_FN int floats_end_of(const core_plan32 *p)
{
    const uint32_t sign = 0x80000000u, inf = 0x7f800000u, max = p->max[0], nan = p->nan[0];
    const uint32_t up = p->overflow[0], down = p->overflow[1];
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
typedef struct floats {
    __m512i emin, up, past, from, infinity;
    __m512i half, twice; /* from the exponent of c to that of half a step; what QPyTorch adds to it below emin */
    __m512 max, nan;
} floats;

FPEMU_FN void floats_begin(floats *g, const core_plan32 *p, const core_ends32 *e)
{
    g->emin = _mm512_set1_epi32((int)p->fast_emin);
    g->up = _mm512_set1_epi32((int)p->fast_up);
    g->past = _mm512_set1_epi32(e->past[0]);
    g->from = _mm512_set1_epi32(floats_have_no_infinity(p) ? 0x7f7fffff : 0x7f800000);
    g->infinity = _mm512_set1_epi32(0x7f800000);
    g->half = _mm512_set1_epi32((CARRIER_MANTISSA + 1) << CARRIER_MANTISSA);
    g->twice = _mm512_set1_epi32((1 << CARRIER_MANTISSA) >> p->d_norm);
    g->max = _mm512_set1_ps(core_value32(p->max[0]));
    g->nan = _mm512_set1_ps(core_value32(p->nan[0]));
}

/* The sum of t and c, which has its sign, rounded by the mode. `first`: as QPyTorch does, which rounds what is below
 * emin to nearest even, to 24 bits below it, and then to nearest away: half a step of those less is enough to go up. */
FPEMU_FN __m512 floats_sum(const floats *g, int mode, int first, __m512 t, __m512i field, __m512 c)
{
    switch (mode) {
    case FPEMU_MODE_RTZ: return _mm512_add_round_ps(t, c, FLOATS_TO(ZERO));
    case FPEMU_MODE_RTP: return _mm512_add_round_ps(t, c, FLOATS_TO(POS_INF));
    case FPEMU_MODE_RTN: return _mm512_add_round_ps(t, c, FLOATS_TO(NEG_INF));
    case FPEMU_MODE_RNA: {
        __m512i half = _mm512_sub_epi32(_mm512_castps_si512(c), g->half);
        if (first)
            half = _mm512_mask_or_epi32(half, _mm512_cmplt_epi32_mask(field, g->emin), half, g->twice);
        return _mm512_add_round_ps(_mm512_add_round_ps(t, _mm512_castsi512_ps(half), FLOATS_TO(ZERO)), c,
                                   FLOATS_TO(ZERO));
    }
    case FPEMU_MODE_RAZ: {
        const __mmask16 below = _mm512_movepi32_mask(_mm512_castps_si512(c));
        return _mm512_mask_add_round_ps(_mm512_add_round_ps(t, c, FLOATS_TO(POS_INF)), below, t, c, FLOATS_TO(NEG_INF));
    }
    case FPEMU_MODE_RTO: { /* the odd one, if there is one */
        const __m512 down = _mm512_add_round_ps(t, c, FLOATS_TO(NEG_INF));
        const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
        return _mm512_mask_mov_ps(_mm512_add_round_ps(t, c, FLOATS_TO(POS_INF)), odd, down);
    }
    default: return _mm512_add_ps(t, c);
    }
}

/* The finished result. No difference is -0, which is what zeros become that keep no sign. */
FPEMU_FN __m512 floats_by_ends(const floats *g, int end, int mode, int keeps, int first, __m512 x)
{
    const __m512i u = _mm512_castps_si512(x), sign = _mm512_set1_epi32((int)0x80000000u);
    const __m512 least = _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(g->max), sign));
    const __m512 t = end == FLOATS_TO_MAX     ? _mm512_range_ps(x, g->max, 2) /* the smaller magnitude, with x's sign */
                     : end != FLOATS_BY_SIDE  ? x
                     : mode == FPEMU_MODE_RTP ? _mm512_max_ps(x, least)
                                              : _mm512_min_ps(x, g->max);
    const __m512i field = _mm512_and_si512(_mm512_castps_si512(t), g->infinity);
    const __m512i magnitude = _mm512_add_epi32(_mm512_max_epi32(field, g->emin), g->up);
    const __m512 c = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(magnitude, u, sign, 0xf8));
    __m512 y = _mm512_sub_ps(floats_sum(g, mode, first, t, field, c), c);
    if (end == FLOATS_BY_SIDE) {
        const __mmask16 within = mode == FPEMU_MODE_RTP ? _mm512_cmp_ps_mask(x, g->max, _CMP_LE_OQ)
                                                        : _mm512_cmp_ps_mask(x, least, _CMP_GE_OQ);
        const __m512i other = mode == FPEMU_MODE_RTP ? _mm512_or_si512(g->infinity, sign) : g->infinity;
        if (keeps)
            y = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(y), u, sign, 0xf8));
        return _mm512_mask_mov_ps(g->nan, _mm512_mask_cmpneq_epi32_mask(within, u, other), y);
    }
    const __m512i a = _mm512_andnot_si512(sign, u);
    if (end == FLOATS_TO_NAN)
        return _mm512_mask_mov_ps(y, _mm512_cmpgt_epi32_mask(a, g->past), g->nan);
    if (end == FLOATS_TO_INF) {
        const __m512i infinite = _mm512_ternarylogic_epi32(g->infinity, u, sign, 0xf8);
        y = _mm512_mask_mov_ps(y, _mm512_cmpgt_epi32_mask(a, g->past), _mm512_castsi512_ps(infinite));
    }
    return _mm512_mask_mov_ps(y, _mm512_cmpgt_epi32_mask(a, g->from), g->nan);
}

#define FLOATS_BY_ENDS(end, mode, keeps, first)                                                                        \
    static void loop_floats_##end##_##mode##_##keeps##_##first(const floats *floats_of, size_t n, const float *in,     \
                                                               float *out)                                             \
    {                                                                                                                  \
        const floats g = *floats_of;                                                                                   \
        size_t i = 0;                                                                                                  \
        for (; n - i >= 16; i += 16)                                                                                   \
            _mm512_storeu_ps(out + i, floats_by_ends(&g, end, mode, keeps, first, _mm512_loadu_ps(in + i)));           \
        const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);                                                       \
        if (rest)                                                                                                      \
            _mm512_mask_storeu_ps(out + i, rest,                                                                       \
                                  floats_by_ends(&g, end, mode, keeps, first, _mm512_maskz_loadu_ps(rest, in + i)));   \
    }
#define FLOATS_AWAY(end, LOOP)                                                                                         \
    LOOP(end, FPEMU_MODE_RNE, 0, 0)                                                                                    \
    LOOP(end, FPEMU_MODE_RNA, 0, 0)                                                                                    \
    LOOP(end, FPEMU_MODE_RAZ, 0, 0)                                                                                    \
    LOOP(end, FPEMU_MODE_RNA, 0, 1)
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
static int floats_ends(const core_plan32 *p, int first, size_t n, const void *x, void *y)
{
    const int end = p->mode < FPEMU_MODE_SR ? floats_end_of(p) : FLOATS_BY_RULE;
    core_ends32 e;
    floats g;
    if (end == FLOATS_BY_RULE || (first && p->d_norm < 2) || !core_ends_make32(&e, p))
        return 0;
    floats_begin(&g, p, &e);
#define FLOATS_CASE(of, mode_of, keeps, first_of)                                                                      \
    if (end == of && p->mode == mode_of && keeps == (p->zero[1] != 0) && first == first_of) {                          \
        loop_floats_##of##_##mode_of##_##keeps##_##first_of(&g, n, (const float *)x, (float *)y);                      \
        return 1;                                                                                                      \
    }
    FLOATS_FORMS(FLOATS_CASE)
#undef FLOATS_CASE
    return 0;
}
#undef FLOATS_AWAY
#undef FLOATS_FORMS
#undef FLOATS_TO
