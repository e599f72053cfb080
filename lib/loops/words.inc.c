/* SPDX-License-Identifier: BSD-2-Clause */
/* words.inc.c - binary16 and bfloat16 words rounded as they are, in vectors of 16-bit integers: the steps of
 * core/words_fast.h; included by narrow.inc.c for AVX2 and AVX-512. By hand, since compilers shift words of 16 bits by
 * numbers of their own one at a time. */

#if defined(__AVX512BW__)
#define WORD_LANES 32
typedef __m512i words;
typedef __mmask32 word_mask;
#define word_load(p) _mm512_loadu_si512(p)
#define word_store(p, y) _mm512_storeu_si512(p, y)
#define word_all(v) _mm512_set1_epi16((short)(v))
#define word_and _mm512_and_si512
#define word_or _mm512_or_si512
#define word_and_not(y, no) _mm512_andnot_si512(no, y)
#define word_add _mm512_add_epi16
#define word_sub _mm512_sub_epi16
#define word_less _mm512_subs_epu16
#define word_larger _mm512_max_epi16
#define word_farther _mm512_max_epu16
#define word_nearer _mm512_min_epu16
#define word_one_more(count, mask) _mm512_mask_add_epi16(count, mask, count, _mm512_set1_epi16(1))
#define word_smaller _mm512_min_epi16
#define word_between(x, below, above) _mm512_min_epu16(_mm512_min_epi16(x, above), below)
#define word_half(x) _mm512_srli_epi16(x, 1)
#define word_down(x, by) _mm512_srl_epi16(x, _mm_cvtsi32_si128(by))
#define word_signs(x) _mm512_srai_epi16(x, 15)
#define word_times_high _mm512_mulhi_epu16
#define word_above _mm512_cmpgt_epi16_mask
#define word_above_below(x, end) _mm512_cmpgt_epu16_mask(x, end) /* of negative numbers, as they stand */
#define word_equal _mm512_cmpeq_epi16_mask
#define word_where(mask, instead, y) _mm512_mask_mov_epi16(y, mask, instead)
#define word_only _mm512_maskz_mov_epi16
#define word_negated(x) _mm512_xor_si512(x, _mm512_set1_epi16((short)0x8000))
#define word_any(mask) ((mask) != 0)
static inline words word_with_sign(words y, words x, words sign) /* y | (x & sign) */
{
    return _mm512_ternarylogic_epi32(y, x, sign, 0xf8);
}
static inline words word_parity(words b, words flip, words step) /* (b ^ flip) & step */
{
    return _mm512_ternarylogic_epi32(b, flip, step, 0x28);
}
#else
#define WORD_LANES 16
typedef __m256i words;
typedef __m256i word_mask;
#define word_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define word_store(p, y) _mm256_storeu_si256((__m256i *)(void *)(p), y)
#define word_all(v) _mm256_set1_epi16((short)(v))
#define word_and _mm256_and_si256
#define word_or _mm256_or_si256
#define word_and_not(y, no) _mm256_andnot_si256(no, y)
#define word_add _mm256_add_epi16
#define word_sub _mm256_sub_epi16
#define word_less _mm256_subs_epu16
#define word_larger _mm256_max_epi16
#define word_farther _mm256_max_epu16
#define word_nearer _mm256_min_epu16
#define word_one_more(count, mask) _mm256_sub_epi16(count, mask)
#define word_smaller _mm256_min_epi16
#define word_between(x, below, above) _mm256_min_epu16(_mm256_min_epi16(x, above), below)
#define word_half(x) _mm256_srli_epi16(x, 1)
#define word_down(x, by) _mm256_srl_epi16(x, _mm_cvtsi32_si128(by))
#define word_signs(x) _mm256_srai_epi16(x, 15)
#define word_times_high _mm256_mulhi_epu16
#define word_look_up _mm256_shuffle_epi8
#define word_above _mm256_cmpgt_epi16
#define word_above_below(x, end) _mm256_cmpgt_epi16(word_negated(x), word_negated(end))
#define word_equal _mm256_cmpeq_epi16
#define word_where(mask, instead, y) _mm256_blendv_epi8(y, instead, mask)
#define word_only _mm256_and_si256
#define word_negated(x) _mm256_xor_si256(x, _mm256_set1_epi16((short)0x8000))
#define word_any(mask) (!_mm256_testz_si256(mask, mask))
static inline words word_with_sign(words y, words x, words sign)
{
    return _mm256_or_si256(y, _mm256_and_si256(x, sign));
}
static inline words word_parity(words b, words flip, words step)
{
    return _mm256_and_si256(_mm256_xor_si256(b, flip), step);
}
#endif

/* core_words, in vectors. */
typedef struct word_vectors {
    words least, flip, from, fewest, most, deeper, steps;
    words zero, past[2], overflow[2], keeps, largest, nan;
    int one_nan; /* only NaN need more, all of them the same */
} word_vectors;

/* 2^d, word by word. */
static inline words word_powers(words d)
{
#ifdef __AVX512BW__
    return _mm512_sllv_epi16(word_all(1), d);
#else
    const words low = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64,
                                       -128, 0, 0, 0, 0, 0, 0, 0, 0);
    const words both = _mm256_mullo_epi16(d, word_all(0x0101)); /* in either byte */
    return _mm256_shuffle_epi8(low, word_sub(both, word_all(0x0800)));
#endif
}

static inline words word_wide_step(const word_vectors *v, words field)
{
    const words d = word_smaller(word_larger(word_sub(v->from, field), v->fewest), v->most);
    return word_powers(word_sub(d, word_less(v->deeper, field)));
}

static inline word_vectors word_vectors_of(const core_words *w, int mode, int form, int ends)
{
    word_vectors v;
    v.least = word_all(w->least);
    v.flip = word_all(w->flip);
    v.from = word_all(w->from);
    v.fewest = word_all(w->fewest);
    v.most = word_all(w->most);
    v.deeper = word_all(w->deeper);
    v.steps = word_all(1 << w->fewest);
    if (form == CORE_WORDS_TABLE) {
#ifdef __AVX512BW__ /* by the field's last five bits */
        static const uint16_t lane[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                          16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
        const words first = word_all(w->least >> w->digits);
        v.steps = word_wide_step(&v, word_add(first, word_and(word_sub(word_load(lane), first), word_all(31))));
#else /* of each word's lower byte, by the difference; the upper one becomes 0 */
        v.steps = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128,
                                   0, 0, 0, 0, 0, 0, 0, 0);
        v.from = word_all(w->from - w->fewest + 0x8000);
#endif
    }
    v.zero = word_all(w->zero[mode == FPEMU_MODE_RTP]); /* of the sign that goes toward zero */
    v.past[0] = word_all(w->past[0]);
    v.past[1] = word_all(w->past[1] | 0x8000);
    v.overflow[0] = word_all(w->overflow[0]);
    v.overflow[1] = word_all(ends == CORE_WORDS_ALIKE ? w->overflow[0] ^ w->overflow[1] : w->overflow[1]);
    v.keeps = word_all(w->keeps ? 0x8000 : 0);
    v.largest = word_all(w->largest);
    v.nan = word_all(w->nan[0]);
    v.one_nan = w->largest == (0x7fff & ~0u << w->digits) && w->nan[0] == w->nan[1];
    return v;
}

/* The step at b. */
static inline words word_step(const core_words *w, const word_vectors *v, int form, words b)
{
    if (form == CORE_WORDS_CONST)
        return v->steps;
    const words field = word_down(b, w->digits);
    if (form == CORE_WORDS_WIDE)
        return word_wide_step(v, field);
#ifdef __AVX512BW__
    return _mm512_permutexvar_epi16(field, v->steps);
#else
    const words more = _mm256_max_epu16(word_sub(v->from, field), word_all(0x8000));
    return _mm256_sll_epi16(_mm256_shuffle_epi8(v->steps, more), _mm_cvtsi32_si128(w->fewest));
#endif
}

/* What becomes of infinities and NaN among x. */
static __attribute__((noinline)) words word_specials(const core_words *w, words x, words y)
{
    const words a = word_and(x, word_all(0x7fff)), infinity = word_all(0x7fff & ~0u << w->digits);
    const word_mask infinite = word_equal(a, infinity), nan = word_above(a, infinity);
    const word_mask negative = word_above(word_all(0), x);
    y = word_where(infinite, word_where(negative, word_all(w->infinite[1]), word_all(w->infinite[0])), y);
    return word_where(nan, word_where(negative, word_all(w->nan[1]), word_all(w->nan[0])), y);
}

/* One vector of words. random: as many bits as there are at the top of each, for the
 * stochastic modes; by SR, numbers between 0 and the first step are left to the caller. */
FPEMU_FN words word_round(const core_words *w, const word_vectors *v, int mode, int form, int ends, words given,
                          words random)
{
    const words one = word_all(1), sign = word_all(0x8000), magnitude = word_all(0x7fff);
    const words x = ends == CORE_WORDS_STOP ? word_between(given, v->past[1], v->past[0]) : given;
    const words m = word_and(x, magnitude), a = ends == CORE_WORDS_LAST ? word_smaller(m, v->past[0]) : m;
    const words b = form == CORE_WORDS_CONST ? a : word_larger(a, v->least), step = word_step(w, v, form, b);
    const words low = word_sub(step, one), side = mode == FPEMU_MODE_SE ? word_signs(random) : word_signs(x);
    words t = b, zero = v->zero, y;
    switch (mode) {
    case FPEMU_MODE_RNE:
        t = word_add(b, word_less(word_half(step), word_less(one, word_parity(b, v->flip, step))));
        break;
    case FPEMU_MODE_RNA: t = word_add(b, word_half(step)); break;
    case FPEMU_MODE_RNZ: t = word_add(b, word_less(word_half(step), one)); break;
    case FPEMU_MODE_RAZ: t = word_add(b, low); break;
    case FPEMU_MODE_RTO: /* a carry out of the low bits: they were not all zero */
        t = word_or(b, word_and_not(word_and(word_add(word_and(b, low), low), step), v->flip));
        break;
    case FPEMU_MODE_RTP:
        t = word_add(b, word_and_not(low, side));
        zero = word_and(zero, side);
        break;
    case FPEMU_MODE_RTN:
        t = word_add(b, word_and(low, side));
        zero = word_and_not(zero, side);
        break;
    case FPEMU_MODE_SR: t = word_add(b, word_times_high(random, step)); break;
    case FPEMU_MODE_SE:
        t = word_add(b, word_and(low, side));
        zero = word_and_not(word_sub(v->least, one), side);
        break;
    default: break; /* FPEMU_MODE_RTZ */
    }
    y = word_and_not(t, low);
    const word_mask some = form == CORE_WORDS_CONST ? word_above(y, word_all(0)) : word_above(a, zero);
    if (ends == CORE_WORDS_NONE) {
        y = word_with_sign(y, x, sign);
    } else if (ends == CORE_WORDS_LAST) {
        y = word_with_sign(word_only(some, y), x, sign);
    } else if (ends == CORE_WORDS_ALIKE) {
        const word_mask past = word_above(mode >= FPEMU_MODE_SR ? y : a, v->past[0]);
        y = word_with_sign(word_only(some, y), x, sign);
        y = word_where(past, word_with_sign(v->overflow[0], x, v->overflow[1]), y);
    } else {
        y = word_only(some, word_with_sign(y, x, sign));
    }
    if (ends == CORE_WORDS_ANY)
        y = word_with_sign(y, x, v->keeps);
    if (ends == CORE_WORDS_ANY) {
        const words end = mode >= FPEMU_MODE_SR ? y : x;
        const word_mask above = word_above(end, v->past[0]), below = word_above_below(end, v->past[1]);
        y = word_where(below, v->overflow[1], word_where(above, v->overflow[0], y));
    }
    return y;
}

/* y, made of x, or what it should be where x has infinities or NaN. */
static inline words word_unless_special(const core_words *w, const word_vectors *v, words x, words y)
{
    const word_mask above = word_above(word_and(x, word_all(0x7fff)), v->largest);
    if (v->one_nan) /* no branch, which NaN strewn among numbers would have the processor mispredict */
        return word_where(above, v->nan, y);
    return __builtin_expect(word_any(above), 0) ? word_specials(w, x, y) : y;
}

/* Two halves of a vector, each in binary32. */
#ifdef __AVX512BW__
#define word_reals __m512
#define word_count(half, c) _mm512_sub_ps(_mm512_add_ps(half, c), c)
#define word_count_back(half, c) _mm512_sub_ps(c, _mm512_add_ps(half, c))
#define word_real(c) _mm512_set1_ps(c)
#define word_error(most, x, y) _mm512_range_ps(most, _mm512_sub_ps(x, y), 0xb) /* the larger magnitude */
static inline __m512 word_first(words x, int bfloat)
{
    return bfloat ? _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)) : _mm512_cvtph_ps(_mm512_castsi512_si256(x));
}
static inline __m512 word_second(words x, int bfloat)
{
    return bfloat ? _mm512_castsi512_ps(word_and(x, _mm512_set1_epi32((int)0xffff0000)))
                  : _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1));
}
static inline words word_joined(__m512 first, __m512 second, int bfloat) /* of numbers of the type */
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }; /* clang takes no variable */
    return bfloat ? _mm512_mask_mov_epi16(_mm512_srli_epi32(_mm512_castps_si512(first), 16), 0xaaaaaaaa,
                                          _mm512_castps_si512(second))
                  : _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(first, NEAREST)),
                                       _mm512_cvtps_ph(second, NEAREST), 1);
}
#else
#define word_reals __m256
#define word_count(half, c) _mm256_sub_ps(_mm256_add_ps(half, c), c)
#define word_count_back(half, c) _mm256_sub_ps(c, _mm256_add_ps(half, c))
#define word_real(c) _mm256_set1_ps(c)
static inline __m256 word_error(__m256 most, __m256 x, __m256 y)
{
    const __m256i error = _mm256_and_si256(_mm256_castps_si256(_mm256_sub_ps(x, y)), _mm256_set1_epi32(0x7fffffff));
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(most), error));
}
static inline __m256 word_first(words x, int bfloat)
{
    return bfloat ? _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)) : _mm256_cvtph_ps(_mm256_castsi256_si128(x));
}
static inline __m256 word_second(words x, int bfloat)
{
    return bfloat ? _mm256_castsi256_ps(word_and(x, _mm256_set1_epi32((int)0xffff0000)))
                  : _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1));
}
static inline words word_joined(__m256 first, __m256 second, int bfloat)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }; /* clang takes no variable */
    return bfloat ? _mm256_blend_epi16(_mm256_srli_epi32(_mm256_castps_si256(first), 16), _mm256_castps_si256(second),
                                       0xaa)
                  : _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvtps_ph(first, NEAREST)),
                                            _mm256_cvtps_ph(second, NEAREST), 1);
}
#endif

/* One vector where CORE_WORDS_EVEN, while the processor rounds its sums to the mode's side. Downward a difference of 0
 * is -0, so the opposite is calculated. */
FPEMU_FN words word_even(const core_words *w, const word_vectors *v, int mode, int bfloat, words x)
{
    const word_reals c = word_real(core_value32(w->count));
    const words inside = word_between(x, v->past[1], v->past[0]);
    const word_reals first = word_first(inside, bfloat), second = word_second(inside, bfloat);
    words y = mode == FPEMU_MODE_RTN ? word_joined(word_count_back(first, c), word_count_back(second, c), bfloat)
                                     : word_joined(word_count(first, c), word_count(second, c), bfloat);
    if (mode == FPEMU_MODE_RTN)
        y = word_negated(y);
    return word_unless_special(w, v, x, y);
}

/* Whether there are such numbers among the first. */
static int words_have_special(const word_vectors *v, size_t n, const uint16_t *x)
{
    enum { SAMPLES = 8 };
    words most = word_all(0);
    for (size_t s = 0; s < SAMPLES && n >= WORD_LANES * SAMPLES; s++)
        most = word_larger(most, word_and(word_load(x + s * WORD_LANES), word_all(0x7fff)));
    return word_any(word_above(most, v->largest));
}

/* A loop over whole vectors, and what is left in one more. */
#define WORDS_RUN(vector)                                                                                              \
    {                                                                                                                  \
        const size_t whole = n - n % WORD_LANES;                                                                       \
        uint16_t rest[WORD_LANES] = {0};                                                                               \
        words from;                                                                                                    \
        for (size_t i = 0; i < whole; i += WORD_LANES) {                                                               \
            from = word_load(x + i);                                                                                   \
            word_store(y + i, vector);                                                                                 \
        }                                                                                                              \
        if (whole < n) {                                                                                               \
            memcpy(rest, x + whole, (n - whole) * sizeof *rest);                                                       \
            from = word_load(rest);                                                                                    \
            word_store(rest, vector);                                                                                  \
            memcpy(y + whole, rest, (n - whole) * sizeof *rest);                                                       \
        }                                                                                                              \
    }

#define WORDS_LOOP(name, mode, form, ends)                                                                             \
    static void words_##name##_##form##_##ends(const core_words *given, size_t n, const uint16_t *x, uint16_t *y)      \
    {                                                                                                                  \
        const core_words w = *given;                                                                                   \
        word_vectors v = word_vectors_of(&w, mode, CORE_WORDS_##form, CORE_WORDS_##ends);                              \
        v.one_nan &= words_have_special(&v, n, x);                                                                     \
        WORDS_RUN(word_unless_special(&w, &v, from,                                                                    \
                                      word_round(&w, &v, mode, CORE_WORDS_##form, CORE_WORDS_##ends, from, from)))     \
    }

/* In functions of their own, so that no calculation leaves the bracket. */
#define WORDS_EVEN_SIDE(name, mode, bfloat)                                                                            \
    static __attribute__((noinline)) void words_##name##_side_##bfloat(const core_words *given, size_t n,              \
                                                                       const uint16_t *x, uint16_t *y)                 \
    {                                                                                                                  \
        const core_words w = *given;                                                                                   \
        word_vectors v = word_vectors_of(&w, mode, CORE_WORDS_EVEN, CORE_WORDS_STOP);                                  \
        v.one_nan &= words_have_special(&v, n, x);                                                                     \
        WORDS_RUN(word_even(&w, &v, mode, bfloat, from))                                                               \
    }
#define WORDS_EVEN(name, mode, side)                                                                                   \
    WORDS_EVEN_SIDE(name, mode, 0)                                                                                     \
    WORDS_EVEN_SIDE(name, mode, 1)                                                                                     \
    static void words_##name##_EVEN(const core_words *w, size_t n, const uint16_t *x, uint16_t *y)                     \
    {                                                                                                                  \
        const unsigned before = (side) ? _mm_getcsr() : 0;                                                             \
        if (side) /* else it rounds so already, and to say it again takes as long as hundreds of words */              \
            _mm_setcsr(before | (side));                                                                               \
        (w->digits == 7 ? words_##name##_side_1 : words_##name##_side_0)(w, n, x, y);                                  \
        if (side)                                                                                                      \
            _mm_setcsr(before);                                                                                        \
    }
WORDS_EVEN(rne, FPEMU_MODE_RNE, 0)
WORDS_EVEN(rtp, FPEMU_MODE_RTP, SIDE_OF(FPEMU_MODE_RTP))
WORDS_EVEN(rtn, FPEMU_MODE_RTN, SIDE_OF(FPEMU_MODE_RTN))
#undef WORDS_EVEN
#undef WORDS_EVEN_SIDE

#define WORDS_LOOPS(name, mode)                                                                                        \
    WORDS_LOOP(name, mode, CONST, NONE)                                                                                \
    WORDS_LOOP(name, mode, CONST, ANY)                                                                                 \
    WORDS_LOOP(name, mode, TABLE, ALIKE)                                                                               \
    WORDS_LOOP(name, mode, TABLE, LAST)                                                                                \
    WORDS_LOOP(name, mode, TABLE, STOP)                                                                                \
    WORDS_LOOP(name, mode, TABLE, ANY)                                                                                 \
    WORDS_LOOP(name, mode, WIDE, ANY)
WORDS_LOOPS(rne, FPEMU_MODE_RNE)
WORDS_LOOPS(rna, FPEMU_MODE_RNA)
WORDS_LOOPS(rnz, FPEMU_MODE_RNZ)
WORDS_LOOPS(rtz, FPEMU_MODE_RTZ)
WORDS_LOOPS(raz, FPEMU_MODE_RAZ)
WORDS_LOOPS(rtp, FPEMU_MODE_RTP)
WORDS_LOOPS(rtn, FPEMU_MODE_RTN)
WORDS_LOOPS(rto, FPEMU_MODE_RTO)
#undef WORDS_LOOPS
#undef WORDS_LOOP

/* As largest_error of elements.inc.c. */
#define WORDS_LARGEST_ERROR(type)                                                                                      \
    static __attribute__((noinline)) double words_largest_error_##type(size_t n, const uint16_t *x, const uint16_t *y) \
    {                                                                                                                  \
        uint64_t largest = 0;                                                                                          \
        _Pragma("omp simd reduction(max : largest)") for (size_t i = 0; i < n; i++)                                    \
        {                                                                                                              \
            const float u = core_value32(core_from_##type(x[i])), v = core_value32(core_from_##type(y[i]));            \
            const uint64_t error = core_bits64((double)u - (double)v) & (~UINT64_C(0) >> 1);                           \
            largest = error > largest ? error : largest;                                                               \
        }                                                                                                              \
        return core_value64(largest);                                                                                  \
    }
WORDS_LARGEST_ERROR(f16)
WORDS_LARGEST_ERROR(bf16)
#undef WORDS_LARGEST_ERROR

static inline uint32_t word_sum(words counts)
{
    uint16_t count[WORD_LANES];
    uint32_t sum = 0;
    word_store(count, counts);
    for (int l = 0; l < WORD_LANES; l++)
        sum += count[l];
    return sum;
}

/* As loop_count_inside, of at most WORDS_COUNTED words. From the first number of the grid on, y lies within a factor of
 * two of x, and their difference is a number of binary32. Below it is at most that number, and a multiple of the unit
 * in the last place of the smallest x: a number of binary32 too where their quotient is at most 2^24. */
FPEMU_FN int words_count(const core_words *w, const core_plan32 *p, int bfloat, int exact, size_t n, const uint16_t *x,
                         const uint16_t *y, tile_counts *c)
{
    const words one = word_all(1), magnitude = word_all(0x7fff);
    const words key = w->max[1] < w->max[0] ? word_all(0xffff) : magnitude;
    words zero = word_all(0), made_zero = zero, small = zero, same = zero, farthest = zero, nearest = word_all(0xffff);
    word_reals most = word_real(0);
    uint16_t lower = 0, far[WORD_LANES], near[WORD_LANES], rest[2][WORD_LANES] = {{0}};
    uint32_t errors[WORD_LANES / 2], error = 0;
    if (!core_words_hold(bfloat, p->min_normal, &lower))
        return 0;
    const words normal = word_all(lower);
    for (size_t i = 0; i < n; i += WORD_LANES) {
        if (n - i < WORD_LANES) { /* the others are zeros */
            memcpy(rest[0], x + i, (n - i) * sizeof *x);
            memcpy(rest[1], y + i, (n - i) * sizeof *y);
        }
        const words u = word_load(n - i < WORD_LANES ? rest[0] : x + i);
        const words v = word_load(n - i < WORD_LANES ? rest[1] : y + i);
        const words a = word_and(u, magnitude), b = word_and(v, magnitude);
        farthest = word_farther(farthest, word_and(u, key));
        nearest = word_nearer(nearest, word_sub(a, one));
        zero = word_add(zero, word_less(one, a));
        made_zero = word_add(made_zero, word_less(one, b));
        small = word_one_more(small, word_above(normal, b));
        same = word_one_more(same, word_equal(a, b));
        most = word_error(most, word_first(u, bfloat), word_first(v, bfloat));
        most = word_error(most, word_second(u, bfloat), word_second(v, bfloat));
    }
    word_store(far, farthest);
    word_store(near, nearest);
    memcpy(errors, &most, sizeof errors);
    uint16_t last = 0, first = 0xffff;
    for (int l = 0; l < WORD_LANES; l++) {
        last = far[l] > last ? far[l] : last;
        first = near[l] < first ? near[l] : first;
        error = errors[l / 2] > error ? errors[l / 2] : error;
    }
    if (last > w->max[0])
        return 0;
    const uint32_t padding = (uint32_t)((0 - n) % WORD_LANES), zeros = word_sum(zero), made = word_sum(made_zero);
    c->nan = c->infinite = c->clipped = c->overflow = c->invalid = 0;
    c->underflow = made - zeros;
    c->subnormal = lower ? word_sum(small) - made : 0;
    c->inexact = n + padding - word_sum(same);
    c->min_abs = core_from_narrow(bfloat, (uint16_t)(first + 1));
    c->max_abs = core_from_narrow(bfloat, last);
    double found = (double)core_value32(error);
    const int field = (uint16_t)(first + 1) >> w->digits, top = w->least >> w->digits;
    if (!exact && error <= p->low_one && (top ? top : 1) - (field ? field : 1) + w->digits > 24)
        found = error < core_narrow(c->max_error) ? 0
                : bfloat                          ? words_largest_error_bf16(n, x, y)
                                                  : words_largest_error_f16(n, x, y);
    c->max_error = found > c->max_error ? found : c->max_error;
    return 1;
}

static int words_count_f16(const core_words *w, const core_plan32 *p, int exact, size_t n, const uint16_t *x,
                           const uint16_t *y, tile_counts *c)
{
    return words_count(w, p, 0, exact, n, x, y, c);
}

static int words_count_bf16(const core_words *w, const core_plan32 *p, int exact, size_t n, const uint16_t *x,
                            const uint16_t *y, tile_counts *c)
{
    return words_count(w, p, 1, exact, n, x, y, c);
}
#define WORDS_COUNTS {words_count_f16, words_count_bf16}

/* Random bits at the top of each word: those of field `field` of a group's random words, as core_field_top has them. */
static inline words word_random(const uint32_t *random, int per_word, int field)
{
    const int upper = field >= (1 << per_word) / 2; /* the upper half of each */
#ifdef __AVX512BW__
    const __m512i first = _mm512_loadu_si512(random), second = _mm512_loadu_si512(random + 16);
    uint16_t place[32];
    for (int l = 0; l < 32; l++)
        place[l] = (uint16_t)(2 * l + upper);
    const words halves = _mm512_permutex2var_epi16(first, word_load(place), second);
    const words high = per_word == 2 && field % 2 == 0 ? _mm512_slli_epi16(halves, 8) : halves;
#else
    const __m256i first = word_load(random), second = word_load(random + 8), low = _mm256_set1_epi32(0xffff);
    const words packed = upper ? _mm256_packus_epi32(_mm256_srli_epi32(first, 16), _mm256_srli_epi32(second, 16))
                               : _mm256_packus_epi32(word_and(first, low), word_and(second, low));
    const words halves = _mm256_permute4x64_epi64(packed, 0xd8);
    const words high = per_word == 2 && field % 2 == 0 ? _mm256_slli_epi16(halves, 8) : halves;
#endif
    return per_word == 2 ? word_and(high, word_all(0xff00)) : high;
}

/* Whether there are numbers between 0 and the first step. */
static inline int word_has_small(const word_vectors *v, words x)
{
    const words a = word_and(x, word_all(0x7fff));
#ifdef __AVX512BW__
    return _mm512_mask_test_epi16_mask(_mm512_cmplt_epi16_mask(a, v->least), a, a) != 0;
#else
    return word_any(word_and(word_above(v->least, a), word_above(a, word_all(0))));
#endif
}

/* The same, or infinities or NaN. */
static inline int word_is_unusual(const word_vectors *v, words x)
{
    const words a = word_and(x, word_all(0x7fff));
#ifdef __AVX512BW__
    const __mmask32 far = _mm512_cmpgt_epu16_mask(word_sub(a, v->least), word_sub(v->largest, v->least));
    return _mm512_mask_test_epi16_mask(far, a, a) != 0;
#else
    return word_any(word_or(word_and(word_above(v->least, a), word_above(a, word_all(0))), word_above(a, v->largest)));
#endif
}

/* One vector by the rule; r: random bits as core_field_top has them. */
static __attribute__((noinline)) void words_by_rule(const core_plan32 *plan, int bfloat, const uint32_t *r,
                                                    const uint16_t *x, uint16_t *y)
{
    const core_plan32 p = *plan;
    SIMD for (uint32_t l = 0; l < WORD_LANES; l++) {
        const uint32_t u = core_from_narrow(bfloat, x[l]);
        y[l] = (uint16_t)core_to_narrow(bfloat, core_element_float32(&p, FPEMU_MODE_SR, u, r[l]));
    }
}

/* The same where only numbers between 0 and the first step are rounded: core_stochastic_small32. y has the others. */
static __attribute__((noinline)) void words_below(const core_words *w, const core_plan32 *plan, int bfloat,
                                                  const uint32_t *r, const uint16_t *x, uint16_t *y)
{
    const core_plan32 p = *plan;
    const uint16_t least = w->least, keeps = w->keeps ? 0x8000 : 0;
    SIMD for (uint32_t l = 0; l < WORD_LANES; l++) {
        const uint16_t a = x[l] & 0x7fff, sign = x[l] & 0x8000;
        const uint32_t up = core_stochastic_small32(&p, core_from_narrow(bfloat, a), r[l]) != 0;
        y[l] = a >= least ? y[l] : up ? least | sign : sign & keeps;
    }
}

/* As stochastic_words, of stochastic.inc.c. */
FPEMU_FN void words_stochastic(const core_words *w, const core_plan32 *p, const word_vectors *v, int mode, int form,
                               int ends, int per_word, core_hash_key key, uint32_t low, size_t n, const uint16_t *x,
                               uint16_t *y)
{
    const core_hash_key k = key;
    const uint32_t lead = core_hash_lead(k, low), mask = ~UINT32_C(0) << (32 - (32 >> per_word));
    for (size_t i = 0; i < n; i += (size_t)32 << per_word, low += 32)
        for (uint32_t b = 0; b < 32; b += WORD_LANES) {
            uint32_t random[WORD_LANES];
            SIMD for (uint32_t l = 0; l < WORD_LANES; l++)
                random[l] = core_hash_rest(k, (low + b + l) ^ lead);
            for (int field = 0; field < 1 << per_word; field++) {
                const size_t at = i + (size_t)field * 32 + b;
                const words from = word_load(x + at);
                const words bits = word_random(random, per_word, field);
                const words to = word_round(w, v, mode, form, ends, from, bits);
                const int looks = mode == FPEMU_MODE_SR && form != CORE_WORDS_CONST;
                if (looks && __builtin_expect(word_is_unusual(v, from), 0) && word_has_small(v, from)) {
                    uint32_t r[WORD_LANES];
                    uint16_t in[WORD_LANES], out[WORD_LANES];
                    SIMD for (uint32_t l = 0; l < WORD_LANES; l++)
                        r[l] = (random[l] << (32 - (field + 1) * (32 >> per_word))) & mask;
                    word_store(in, from);
                    word_store(out, word_unless_special(w, v, from, to));
                    /* an end at 0 is below the least; the others are not made for core_stochastic_small32 */
                    if (w->max[0] == 0 || w->max[1] == 0 || p->rule < CORE_RULE_SHIFTER_PASS)
                        words_by_rule(p, w->digits == 7, r, in, out);
                    else if (w->digits == 7)
                        words_below(w, p, 1, r, in, out);
                    else
                        words_below(w, p, 0, r, in, out);
                    memcpy(y + at, out, sizeof out);
                } else {
                    word_store(y + at, word_unless_special(w, v, from, to));
                }
            }
        }
}

/* Whether vectors with such numbers are few among n words. */
static int words_have_few(const core_words *w, size_t n, const uint16_t *x)
{
    const word_vectors v = {.least = word_all(w->least)};
    const size_t vectors = n / WORD_LANES, stride = vectors / STOCHASTIC_SAMPLES;
    int small = 0;
    for (size_t s = 0; s < STOCHASTIC_SAMPLES; s++)
        small += word_has_small(&v, word_load(x + s * stride * WORD_LANES));
    return small < STOCHASTIC_UNUSUAL;
}

#define WORDS_RANDOM(name, mode, form, ends, per_word)                                                                 \
    static size_t words_##name##_##form##_##ends##_##per_word(const core_words *given, const core_plan32 *p,           \
                                                              core_hash_key k, uint64_t index, size_t n,               \
                                                              const uint16_t *x, uint16_t *y)                          \
    {                                                                                                                  \
        const core_words w = *given;                                                                                   \
        const word_vectors v = word_vectors_of(&w, mode, CORE_WORDS_##form, CORE_WORDS_##ends);                        \
        const size_t step = (size_t)32 << (per_word), left = n;                                                        \
        for (size_t m; n > 0; index += m, n -= m, x += m, y += m) {                                                    \
            const uint32_t low = (uint32_t)core_word_index(per_word, index);                                           \
            const size_t fit = (size_t)(CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1))) << (per_word);                \
            const size_t most = fit < n ? fit : n;                                                                     \
            m = (most < STOCHASTIC_TILE ? most : STOCHASTIC_TILE) / step * step;                                       \
            if (((per_word) && (index & (step - 1))) || m == 0 ||                                                      \
                (CORE_WORDS_##form != CORE_WORDS_CONST && (mode) == FPEMU_MODE_SR && !words_have_few(&w, m, x)))       \
                break;                                                                                                 \
            words_stochastic(&w, p, &v, mode, CORE_WORDS_##form, CORE_WORDS_##ends, per_word, k, low, m, x, y);        \
        }                                                                                                              \
        return left - n;                                                                                               \
    }
#define WORDS_RANDOM_LOOPS(name, mode, form, ends)                                                                     \
    WORDS_RANDOM(name, mode, form, ends, 0)                                                                            \
    WORDS_RANDOM(name, mode, form, ends, 1)                                                                            \
    WORDS_RANDOM(name, mode, form, ends, 2)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, CONST, NONE)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, CONST, ANY)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, TABLE, ALIKE)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, TABLE, LAST)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, TABLE, STOP)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, TABLE, ANY)
WORDS_RANDOM_LOOPS(sr, FPEMU_MODE_SR, WIDE, ANY)
WORDS_RANDOM_LOOPS(se, FPEMU_MODE_SE, CONST, NONE)
WORDS_RANDOM_LOOPS(se, FPEMU_MODE_SE, CONST, ANY)
WORDS_RANDOM_LOOPS(se, FPEMU_MODE_SE, TABLE, ANY)
WORDS_RANDOM_LOOPS(se, FPEMU_MODE_SE, WIDE, ANY)
#undef WORDS_RANDOM_LOOPS
#undef WORDS_RANDOM

#define IN_WORDS_RANDOM(loop) {loop##_0, loop##_1, loop##_2}
#define WORDS_RANDOM_ANY(loop)                                                                                         \
    {[CORE_WORDS_ALIKE] = IN_WORDS_RANDOM(loop),                                                                       \
     [CORE_WORDS_LAST] = IN_WORDS_RANDOM(loop),                                                                        \
     [CORE_WORDS_STOP] = IN_WORDS_RANDOM(loop),                                                                        \
     [CORE_WORDS_ANY] = IN_WORDS_RANDOM(loop)}
#define WORDS_RANDOM_CONST(name)                                                                                       \
    {[CORE_WORDS_NONE] = IN_WORDS_RANDOM(words_##name##_CONST_NONE),                                                   \
     [CORE_WORDS_ALIKE] = IN_WORDS_RANDOM(words_##name##_CONST_ANY),                                                   \
     [CORE_WORDS_LAST] = IN_WORDS_RANDOM(words_##name##_CONST_ANY),                                                    \
     [CORE_WORDS_STOP] = IN_WORDS_RANDOM(words_##name##_CONST_ANY),                                                    \
     [CORE_WORDS_ANY] = IN_WORDS_RANDOM(words_##name##_CONST_ANY)}
#define WORDS_RANDOM_TABLE                                                                                             \
    {                                                                                                                  \
        {[CORE_WORDS_CONST] = WORDS_RANDOM_CONST(sr),                                                                  \
         [CORE_WORDS_TABLE] = {[CORE_WORDS_ALIKE] = IN_WORDS_RANDOM(words_sr_TABLE_ALIKE),                             \
                               [CORE_WORDS_LAST] = IN_WORDS_RANDOM(words_sr_TABLE_LAST),                               \
                               [CORE_WORDS_STOP] = IN_WORDS_RANDOM(words_sr_TABLE_STOP),                               \
                               [CORE_WORDS_ANY] = IN_WORDS_RANDOM(words_sr_TABLE_ANY)},                                \
         [CORE_WORDS_WIDE] = WORDS_RANDOM_ANY(words_sr_WIDE_ANY)},                                                     \
        {                                                                                                              \
            [CORE_WORDS_CONST] = WORDS_RANDOM_CONST(se), [CORE_WORDS_TABLE] = WORDS_RANDOM_ANY(words_se_TABLE_ANY),    \
            [CORE_WORDS_WIDE] = WORDS_RANDOM_ANY(words_se_WIDE_ANY)                                                    \
        }                                                                                                              \
    }

#define WORDS_OF(name, even)                                                                                           \
    {                                                                                                                  \
        {words_##name##_CONST_NONE, words_##name##_CONST_ANY, words_##name##_CONST_ANY, words_##name##_CONST_ANY,      \
         words_##name##_CONST_ANY},                                                                                    \
        {NULL, words_##name##_TABLE_ALIKE, words_##name##_TABLE_LAST, words_##name##_TABLE_STOP,                       \
         words_##name##_TABLE_ANY},                                                                                    \
        {NULL, words_##name##_WIDE_ANY, words_##name##_WIDE_ANY, words_##name##_WIDE_ANY, words_##name##_WIDE_ANY},    \
        {NULL, NULL, NULL, even, NULL},                                                                                \
    }
#define WORDS_TABLE                                                                                                    \
    {[FPEMU_MODE_RNE] = WORDS_OF(rne, words_rne_EVEN), [FPEMU_MODE_RNA] = WORDS_OF(rna, NULL),                         \
     [FPEMU_MODE_RNZ] = WORDS_OF(rnz, NULL),           [FPEMU_MODE_RTZ] = WORDS_OF(rtz, NULL),                         \
     [FPEMU_MODE_RAZ] = WORDS_OF(raz, NULL),           [FPEMU_MODE_RTP] = WORDS_OF(rtp, words_rtp_EVEN),               \
     [FPEMU_MODE_RTN] = WORDS_OF(rtn, words_rtn_EVEN), [FPEMU_MODE_RTO] = WORDS_OF(rto, NULL)}
