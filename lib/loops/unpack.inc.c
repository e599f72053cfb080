/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack.inc.c - packed codes to values under scales, 64 codes at a time: their values are looked up in vectors, or of
 * longer codes by AVX2 made in steps, and multiplied; included by variant.inc.c for AVX2 and AVX-512, and by vbmi.c. By
 * hand: compilers find no permutation in a look-up. */

#if defined(__AVX512F__)
#define UNPACK_LANES 16
#define UNPACK_VECTORS 4
typedef __m512 unpack_values;
#define unpack_all _mm512_set1_ps
#define unpack_times _mm512_mul_ps
#define unpack_store _mm512_storeu_ps

/* As core_block_y has it, of any product of v. */
FPEMU_FN __m512 unpack_mend(__m512 v, __m512 y)
{
    const __m512 most = _mm512_set1_ps(FLT_MAX), least = _mm512_set1_ps(-FLT_MAX);
    const __mmask16 number = _mm512_cmp_ps_mask(y, y, _CMP_ORD_Q);
    const __mmask16 infinite = _mm512_cmp_ps_mask(_mm512_abs_ps(v), most, _CMP_GT_OQ);
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32((int)(CORE_INF32 | CORE_INF32 >> 1)));
    const __m512 kept = _mm512_mask_max_ps(nan, number, _mm512_min_ps(y, most), least);
    return _mm512_mask_mov_ps(kept, infinite & number, y);
}
#else
#define UNPACK_LANES 8
#define UNPACK_VECTORS 8
typedef __m256 unpack_values;
#define unpack_all _mm256_set1_ps
#define unpack_times _mm256_mul_ps
#define unpack_store _mm256_storeu_ps

FPEMU_FN __m256 unpack_mend(__m256 v, __m256 y)
{
    const __m256 most = _mm256_set1_ps(FLT_MAX), least = _mm256_set1_ps(-FLT_MAX);
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)(CORE_INF32 | CORE_INF32 >> 1)));
    const __m256 infinite = _mm256_cmp_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), v), most, _CMP_GT_OQ);
    const __m256 kept = _mm256_blendv_ps(_mm256_max_ps(_mm256_min_ps(y, most), least), y, infinite);
    return _mm256_blendv_ps(kept, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
}
#endif

#ifndef __AVX512VBMI__
/* Of codes of 4 bits: every lane takes the 4 bytes with its code, moves the code to their lowest bits and looks it up.
 * Both looks ask for these bits alone. */
typedef struct unpack_table_4 {
#ifdef __AVX512F__
    __m512 values;
#else
    __m256 below, above;
#endif
} unpack_table_4;

FPEMU_FN unpack_table_4 unpack_load_4(const core_unpack *u)
{
#ifdef __AVX512F__
    const unpack_table_4 t = {_mm512_castsi512_ps(_mm512_loadu_si512(u->values))};
#else
    const unpack_table_4 t = {_mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)u->values)),
                              _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)(u->values + 8)))};
#endif
    return t;
}

FPEMU_FN void unpack_64_of_4(const unpack_table_4 *t, const unsigned char *bytes, unpack_values v[UNPACK_VECTORS])
{
#ifdef __AVX512F__
    const __m512i by = _mm512_set_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i eight = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i all = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)bytes));
    for (int k = 0; k < 4; k++) {
        const __m512i words = _mm512_permutexvar_epi32(_mm512_add_epi32(eight, _mm512_set1_epi32(2 * k)), all);
        v[k] = _mm512_permutexvar_ps(_mm512_srlv_epi32(words, by), t->values);
    }
#else
    const __m256i by = _mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0);
    for (int k = 0; k < 8; k++) {
        int32_t word;
        memcpy(&word, bytes + 4 * k, sizeof word);
        const __m256i code = _mm256_srlv_epi32(_mm256_set1_epi32(word), by);
        const __m256 below = _mm256_permutevar8x32_ps(t->below, code), above = _mm256_permutevar8x32_ps(t->above, code);
        v[k] = _mm256_blendv_ps(below, above, _mm256_castsi256_ps(_mm256_slli_epi32(code, 28)));
    }
#endif
}

#ifdef __AVX512F__
/* Upper halves of 32 values, in the order that unpacking wants, as numbers. */
FPEMU_FN void unpack_widen(__m512i halves, unpack_values v[2])
{
    const __m512i zero = _mm512_setzero_si512();
    v[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, halves));
    v[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, halves));
}

/* Of codes of 6 bits: a lane of 128 bits holds four neighbours, at an odd or an even byte, and the four that come 16
 * places later. */
typedef struct unpack_table_6 {
    __m512i upper[2];
} unpack_table_6;

FPEMU_FN unpack_table_6 unpack_load_6(const core_unpack *u)
{
    const unpack_table_6 t = {{_mm512_loadu_si512(u->upper), _mm512_loadu_si512(u->upper + 32)}};
    return t;
}

FPEMU_FN void unpack_64_of_6(const unpack_table_6 *t, const unsigned char *bytes, unpack_values v[4])
{
    const __m512i all = _mm512_maskz_loadu_epi16(0xffffff, bytes);
    const __m512i words = _mm512_set_epi16(0, 0, 0, 0, 11, 10, 5, 4, 0, 0, 0, 0, 10, 9, 4, 3, 0, 0, 0, 0, 8, 7, 2, 1, 0,
                                           0, 0, 0, 7, 6, 1, 0);
    const __m128i even = _mm_set_epi8(7, 6, 6, 5, 5, 4, 5, 4, 3, 2, 2, 1, 1, 0, 1, 0);
    const __m128i odd = _mm_set_epi8(7, 7, 7, 6, 6, 5, 6, 5, 3, 3, 3, 2, 2, 1, 2, 1);
    const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(even), odd, 1);
    const __m512i pairs = _mm512_shuffle_i32x4(two, two, _MM_SHUFFLE(1, 0, 1, 0));
    const __m512i by = _mm512_set4_epi32(0x00020004, 0x00060000, 0x00020004, 0x00060000);
    for (int k = 0; k < 2; k++) {
        const __m512i some = _mm512_permutexvar_epi16(_mm512_add_epi16(words, _mm512_set1_epi16((short)(12 * k))), all);
        const __m512i code = _mm512_srlv_epi16(_mm512_shuffle_epi8(some, pairs), by);
        unpack_widen(_mm512_permutex2var_epi16(t->upper[0], code, t->upper[1]), v + 2 * k);
    }
}

/* Of codes of 8 bits. */
typedef struct unpack_table_8 {
    __m512i upper[8];
} unpack_table_8;

FPEMU_FN unpack_table_8 unpack_load_8(const core_unpack *u)
{
    unpack_table_8 t;
    for (int k = 0; k < 8; k++)
        t.upper[k] = _mm512_loadu_si512(u->upper + 32 * k);
    return t;
}

FPEMU_FN void unpack_64_of_8(const unpack_table_8 *t, const unsigned char *bytes, unpack_values v[4])
{
    const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    for (int k = 0; k < 2; k++) {
        const __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32 * k));
        const __m512i code = _mm512_cvtepu8_epi16(_mm256_permutevar8x32_epi32(from, order));
        const __mmask32 odd = _mm512_test_epi16_mask(code, _mm512_set1_epi16(64));
        const __mmask32 upper = _mm512_test_epi16_mask(code, _mm512_set1_epi16(128));
        __m512i q[4];
        for (int i = 0; i < 4; i++)
            q[i] = _mm512_permutex2var_epi16(t->upper[2 * i], code, t->upper[2 * i + 1]);
        const __m512i below = _mm512_mask_mov_epi16(q[0], odd, q[1]), above = _mm512_mask_mov_epi16(q[2], odd, q[3]);
        unpack_widen(_mm512_mask_mov_epi16(below, upper, above), v + 2 * k);
    }
}
#else
/* Of longer codes, as core_unpack_steps has them. */
typedef struct unpack_steps {
    __m256i magnitude, hidden, sign;
    __m256 end, step;
    __m128i down; /* of codes of 6 bits at the top of a lane: bits to where magnitudes lie; of 8 bits: up to there */
    __m256i others, odd;
    const uint16_t *upper; /* the values of these */
    int integers, some;
    int by_halves; /* floats that binary16 has in the same steps: then these */
    __m256i kept;  /* sign and magnitude of a word */
    __m256 times;
    __m128i along; /* bits to there: of codes of 8 bits up, of 6 at the top of a word down */
} unpack_steps;

FPEMU_FN unpack_steps unpack_load_steps(const core_unpack *u, uint32_t bits)
{
    const int up = 23 - (int)u->mantissa;
    unpack_steps t;
    t.magnitude = _mm256_set1_epi32((int)((UINT32_C(1) << (bits - 1)) - 1) << up);
    t.hidden = _mm256_set1_epi32((int)u->least - 0x800000);
    t.sign = _mm256_set1_epi32(INT32_MIN);
    t.end = _mm256_castsi256_ps(_mm256_set1_epi32((int)u->least));
    t.step = _mm256_set1_ps(u->step);
    t.down = _mm_cvtsi32_si128(bits == 8 ? up : 26 - up);
    t.others = _mm256_set1_epi8((char)(u->others - 1));
    t.odd = _mm256_set1_epi8(u->odd ? -128 : 0);
    t.upper = u->upper;
    t.integers = u->integers;
    t.some = u->odd || u->others < 128;
    const int place = 10 - (int)u->mantissa, magnitudes = (int)(UINT32_C(1) << (bits - 1)) - 1;
    t.by_halves = core_unpack_is_half(u, bits);
    if (t.by_halves) {
        t.kept = _mm256_set1_epi16((short)(magnitudes << place | INT16_MIN));
        t.times = _mm256_set1_ps(u->step * core_value32(core_power32(14 + (int)u->mantissa)));
        t.along = _mm_cvtsi32_si128(bits == 8 ? place : 10 - place);
    }
    return t;
}
typedef unpack_steps unpack_table_6, unpack_table_8;

FPEMU_FN unpack_table_6 unpack_load_6(const core_unpack *u)
{
    return unpack_load_steps(u, 6);
}

FPEMU_FN unpack_table_8 unpack_load_8(const core_unpack *u)
{
    return unpack_load_steps(u, 8);
}

/* Values of magnitudes, each where the mantissa of a number lies, and of signs at the top of a lane. */
FPEMU_FN __m256 unpack_float(const unpack_steps *t, __m256i magnitude, __m256i sign)
{
    const __m256 hidden = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(magnitude, t->magnitude), t->hidden));
    const __m256 a = _mm256_add_ps(hidden, _mm256_sub_ps(_mm256_min_ps(hidden, t->end), t->end));
    return _mm256_or_ps(a, _mm256_castsi256_ps(_mm256_and_si256(sign, t->sign)));
}

/* Values of 16 floats in binary16, whose subnormal numbers it widens exactly. */
FPEMU_FN void unpack_halves(const unpack_steps *t, __m256i words, __m256 v[2])
{
    const __m256i kept = _mm256_and_si256(words, t->kept);
    v[0] = _mm256_mul_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(kept)), t->times);
    v[1] = _mm256_mul_ps(_mm256_cvtph_ps(_mm256_extracti128_si256(kept, 1)), t->times);
}

FPEMU_FN void unpack_64_of_6(const unpack_steps *t, const unsigned char *bytes, __m256 v[8])
{
    if (t->by_halves) {
        const __m256i two = _mm256_setr_epi8(0, 1, 0, 1, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5, 5, 6, 6, 7, 6, 7, 7, 8, 8, 9, 9,
                                             10, 9, 10, 10, 11, 11, 11);
        const __m256i up =
            _mm256_setr_epi16(1024, 16, 64, 256, 1024, 16, 64, 256, 1024, 16, 64, 256, 1024, 16, 64, 256);
        for (int k = 0; k < 4; k++) {
            const unsigned char *const from = bytes + (k < 3 ? 12 * k : 32); /* no byte beyond the last */
            const __m256i places = k < 3 ? two : _mm256_add_epi8(two, _mm256_set1_epi8(4));
            const __m256i all = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)from));
            const __m256i top = _mm256_mullo_epi16(_mm256_shuffle_epi8(all, places), up);
            unpack_halves(t, _mm256_sra_epi16(top, t->along), v + 2 * k);
        }
        return;
    }
    const __m256i pairs = _mm256_setr_epi8(0, -1, -1, -1, 0, 1, -1, -1, 1, 2, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1, 3,
                                           4, -1, -1, 4, 5, -1, -1, 5, -1, -1, -1);
    const __m256i by = _mm256_setr_epi32(26, 20, 22, 24, 26, 20, 22, 24);
    for (int k = 0; k < 8; k++) {
        int64_t six = 0;
        if (k < 7) {
            memcpy(&six, bytes + 6 * k, 8);
        } else {
            memcpy(&six, bytes + 40, 8);
            six = (int64_t)((uint64_t)six >> 16);
        }
        const __m256i top = _mm256_sllv_epi32(_mm256_shuffle_epi8(_mm256_set1_epi64x(six), pairs), by);
        if (t->integers)
            v[k] = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srai_epi32(top, 26)), t->step);
        else
            v[k] = unpack_float(t, _mm256_srl_epi32(top, t->down), top);
    }
}

FPEMU_FN void unpack_64_of_8(const unpack_steps *t, const unsigned char *bytes, __m256 v[8])
{
    if (t->some) {
        const __m256i seven = _mm256_set1_epi8(127), top = _mm256_set1_epi8(-128);
        __m256i all = _mm256_setzero_si256();
        for (int k = 0; k < 2; k++) {
            const __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32 * k));
            const __m256i odd = _mm256_and_si256(_mm256_cmpeq_epi8(c, top), t->odd);
            all = _mm256_or_si256(all, _mm256_or_si256(odd, _mm256_cmpgt_epi8(_mm256_and_si256(c, seven), t->others)));
        }
        if (!_mm256_testz_si256(all, all)) {
            for (int k = 0; k < 8; k++) {
                uint32_t values[8];
                for (int i = 0; i < 8; i++)
                    values[i] = (uint32_t)t->upper[bytes[8 * k + i]] << 16;
                v[k] = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)values));
            }
            return;
        }
    }
    for (int k = 0; k < 4 && t->by_halves; k++) {
        const __m256i c = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * k)));
        unpack_halves(t, _mm256_sll_epi16(c, t->along), v + 2 * k);
    }
    for (int k = 0; k < 8 && !t->by_halves; k++) {
        const __m256i c = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(bytes + 8 * k)));
        if (t->integers)
            v[k] = _mm256_mul_ps(_mm256_cvtepi32_ps(c), t->step);
        else
            v[k] = unpack_float(t, _mm256_sll_epi32(c, t->down), c);
    }
}
#endif
#else
/* Of codes of 8 bits, by bytes. */
typedef struct unpack_table_8 {
    __m512i low[4], high[4];
} unpack_table_8;

static inline unpack_table_8 unpack_load_8(const core_unpack *u)
{
    unpack_table_8 t;
    for (int k = 0; k < 4; k++) {
        const __m512i a = _mm512_loadu_si512(u->upper + 64 * k), b = _mm512_loadu_si512(u->upper + 64 * k + 32);
        t.low[k] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
        t.high[k] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(_mm512_srli_epi16(a, 8))),
                                       _mm512_cvtepi16_epi8(_mm512_srli_epi16(b, 8)), 1);
    }
    return t;
}

static inline void unpack_64_of_8(const unpack_table_8 *t, const unsigned char *bytes, unpack_values v[4])
{
    /* unpacking takes 4 neighbours from each of the 4 lanes, as in decoding */
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i zero = _mm512_setzero_si512(), c = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(bytes));
    const __mmask64 upper = _mm512_movepi8_mask(c);
    const __m512i l = look_up(t->low, c, upper), h = look_up(t->high, c, upper);
    const __m512i first = _mm512_unpacklo_epi8(l, h), second = _mm512_unpackhi_epi8(l, h);
    v[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, first));
    v[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, first));
    v[2] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, second));
    v[3] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, second));
}
#endif

/* UNPACK_INSIDE: once, and no word is beyond the largest. */
enum unpack_form { UNPACK_AS_THEY_ARE, UNPACK_EXACT, UNPACK_INSIDE, UNPACK_ONCE, UNPACK_TWICE, UNPACK_MENDED };

/* 16 or 8 values under their scale. */
FPEMU_FN unpack_values unpack_under(enum unpack_form form, unpack_values v, float s, float second)
{
    if (form == UNPACK_AS_THEY_ARE)
        return v;
    unpack_values out = unpack_times(v, unpack_all(s));
    if (form > UNPACK_ONCE)
        out = unpack_times(out, unpack_all(second));
    return form == UNPACK_MENDED ? unpack_mend(v, out) : out;
}

/* 64 values of codes, each 16 under a scale of their own: the numbers s, s + next[0], ... */
FPEMU_FN void unpack_scale(enum unpack_form form, enum unpack_type type, const float *s, const size_t next[4],
                           float second, const unpack_values v[UNPACK_VECTORS], char *y)
{
#ifdef __AVX512F__
    for (int k = 0; k < UNPACK_VECTORS && type != UNPACK_FLOATS; k += 2) {
        const __m512 a = unpack_under(form, v[k], s[next[k]], second);
        const __m512 b = unpack_under(form, v[k + 1], s[next[k + 1]], second);
        char *const out = y + k * UNPACK_LANES * 2;
        if (type == UNPACK_F16 && form <= UNPACK_INSIDE) { /* by halves, which costs less than to join them */
            _mm256_storeu_si256((__m256i *)(void *)out, narrow_f16_side(a, _MM_FROUND_TO_NEAREST_INT));
            _mm256_storeu_si256((__m256i *)(void *)(out + 32), narrow_f16_side(b, _MM_FROUND_TO_NEAREST_INT));
        } else if (type == UNPACK_F16) {
            _mm512_storeu_si512(out, narrow_f16_words(a, b));
        } else {
            _mm512_storeu_si512(out, form <= UNPACK_INSIDE
                                         ? narrow_inside(1, form <= UNPACK_EXACT, a, b)
                                         : narrow_bf16_words(_mm512_castps_si512(a), _mm512_castps_si512(b)));
        }
    }
#endif
    for (int k = 0; k < UNPACK_VECTORS && type == UNPACK_FLOATS; k++)
        unpack_store((float *)(void *)(y + k * UNPACK_LANES * 4),
                     unpack_under(form, v[k], s[next[k * UNPACK_LANES / 16]], second));
}

/* Whether no value under its scale, times `second`, passes the largest word. */
FPEMU_FN int unpack_is_inside(const core_unpack *u, enum unpack_type type, size_t count, const float *s, float second)
{
    const float infinite = type == UNPACK_F16 ? 65520 : core_value32(0x7f7f8000u); /* the first that becomes so */
    float most = 0;
#pragma omp simd reduction(max : most)
    for (size_t b = 0; b < count; b++) {
        const float a = s[b] < 0 ? -s[b] : s[b];
        most = a > most ? a : most;
    }
    return (u->most * most) * (second < 0 ? -second : second) < infinite;
}

#if defined(__AVX512F__) && !defined(__AVX512VBMI__)
/* What is known of the words of a table: all values are words, or none passes the largest one. */
enum unpack_known { UNPACK_ANY, UNPACK_WITHIN, UNPACK_WORDS };

/* Words of all codes of 4 bits under two scales, one after the other; nothing is to be mended. */
FPEMU_FN __m512i unpack_words_of_4(const core_unpack *u, enum unpack_type type, enum unpack_known known, int twice,
                                   const float *s, size_t next, float second)
{
    const enum unpack_form form = twice ? UNPACK_TWICE : UNPACK_ONCE;
    const __m512 v = _mm512_castsi512_ps(_mm512_loadu_si512(u->values));
    const __m512 a = unpack_under(form, v, s[0], second), b = next ? unpack_under(form, v, s[next], second) : a;
    if (known)
        return narrow_inside(type == UNPACK_BF16, known == UNPACK_WORDS, a, b);
    return type == UNPACK_F16 ? narrow_f16_words(a, b)
                              : narrow_bf16_words(_mm512_castps_si512(a), _mm512_castps_si512(b));
}

/* Words of at most 32 codes; of the upper 16 the codes are `above` less than their places in the table, 16 or 0. The two
 * codes of a byte come into either half of 32 bits. */
FPEMU_FN void unpack_32_of_4(__m512i table, __m512i above, size_t n, const unsigned char *bytes, uint16_t *y)
{
    const __m512i low = _mm512_set1_epi32(0x000f000f);
    const __mmask16 in = (__mmask16)(n < 32 ? 0xffffu >> (16 - (n + 1) / 2) : 0xffff);
    const __m512i byte = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(in, bytes));
    const __m512i code = _mm512_ternarylogic_epi32(byte, _mm512_slli_epi32(byte, 12), low, 0xa8);
    const __m512i made = _mm512_permutexvar_epi16(_mm512_or_si512(code, above), table);
    if (n < 32)
        _mm512_mask_storeu_epi16(y, 0xffffffffu >> (32 - n), made);
    else
        _mm512_storeu_si512(y, made);
}

/* Whether such codes are a sign and a magnitude. */
FPEMU_FN int unpack_is_mirrored(const core_unpack *u)
{
    uint32_t others = 0;
    for (int k = 0; k < 8; k++)
        others |= u->values[k] ^ u->values[k + 8] ^ 0x80000000u;
    return others == 0;
}

/* Words of the magnitudes under four scales, one after the other, as unpack_words_of_4 has them of all codes. */
FPEMU_FN __m512i unpack_magnitudes_of_4(const core_unpack *u, enum unpack_type type, enum unpack_known known, int twice,
                                        const float *s, float second)
{
    const __m512i first = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i few = _mm256_loadu_si256((const __m256i *)(const void *)u->values);
    const __m512 v = _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(few), few, 1));
    const __m512 scales = _mm512_castps128_ps512(_mm_loadu_ps(s));
    __m512 y[2];
    for (int k = 0; k < 2; k++) {
        y[k] = _mm512_mul_ps(v, _mm512_permutexvar_ps(_mm512_add_epi32(first, _mm512_set1_epi32(2 * k)), scales));
        if (twice)
            y[k] = _mm512_mul_ps(y[k], _mm512_set1_ps(second));
    }
    return narrow_inside(type == UNPACK_BF16, known == UNPACK_WORDS, y[0], y[1]);
}

/* Words of 32 codes by them, the first of which are `above` places from those of the first block. */
FPEMU_FN void unpack_32_by_sign(__m512i table, __m512i above, const unsigned char *bytes, uint16_t *y)
{
    const __m512i low = _mm512_set1_epi32(0x000f000f), magnitude = _mm512_set1_epi16(7);
    const __m512i sign = _mm512_set1_epi16((short)0x8000);
    const __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
    const __m512i code = _mm512_ternarylogic_epi32(byte, _mm512_slli_epi32(byte, 12), low, 0xa8);
    const __m512i made = _mm512_permutexvar_epi16(_mm512_ternarylogic_epi32(code, magnitude, above, 0xea), table);
    _mm512_storeu_si512(y, _mm512_ternarylogic_epi32(made, _mm512_slli_epi16(code, 12), sign, 0x78));
}

/* Words are looked up under their scales; of blocks of 16 two at a time, or four where a magnitude will do. */
FPEMU_FN void unpack_runs_words_4(const core_unpack *u, enum unpack_type type, enum unpack_known known, int twice,
                                  size_t length, size_t count, const unsigned char *bytes, const float *s, float second,
                                  uint16_t *y)
{
    const __m512i none = _mm512_setzero_si512(), sixteen = _mm512_set1_epi16(16);
    const __m512i above = _mm512_inserti64x4(none, _mm512_castsi512_si256(sixteen), 1);
    size_t b = 0;
    if (length == 16 && known && unpack_is_mirrored(u)) {
        const __m512i eight = _mm512_srli_epi16(above, 1);
        for (; b + 4 <= count; b += 4) {
            const __m512i table = unpack_magnitudes_of_4(u, type, known, twice, s + b, second);
            unpack_32_by_sign(table, eight, bytes + b * 8, y + b * 16);
            unpack_32_by_sign(table, _mm512_or_si512(eight, sixteen), bytes + b * 8 + 16, y + b * 16 + 32);
        }
    }
    for (; length == 16 && b + 2 <= count; b += 2)
        unpack_32_of_4(unpack_words_of_4(u, type, known, twice, s + b, 1, second), above, 32, bytes + b * 8,
                       y + b * 16);
    for (; b < count; b++) {
        const __m512i table = unpack_words_of_4(u, type, known, twice, s + b, 0, second);
        const unsigned char *const from = bytes + b * (length / 2);
        uint16_t *const to = y + b * length;
        const size_t whole = length - length % 32;
        for (size_t i = 0; i < whole; i += 32)
            unpack_32_of_4(table, none, 32, from + i / 2, to + i);
        if (whole < length)
            unpack_32_of_4(table, none, length - whole, from + whole / 2, to + whole);
    }
}

FPEMU_FN void unpack_as_words_4(const core_unpack *u, enum unpack_type type, size_t length, size_t count,
                                const unsigned char *bytes, const float *s, float second, int tame, uint16_t *y)
{
    const enum unpack_known known = tame > 1                                      ? UNPACK_WORDS
                                    : unpack_is_inside(u, type, count, s, second) ? UNPACK_WITHIN
                                                                                  : UNPACK_ANY;
    const int twice = second < 1 || second > 1;
    if (known && length == 16)
        unpack_runs_words_4(u, type, UNPACK_WITHIN, 1, 16, count, bytes, s, second, y);
    else if (known == UNPACK_WORDS && length == 32)
        unpack_runs_words_4(u, type, UNPACK_WORDS, 0, 32, count, bytes, s, second, y);
    else if (known && length == 32 && !twice)
        unpack_runs_words_4(u, type, UNPACK_WITHIN, 0, 32, count, bytes, s, second, y);
    else if (known)
        unpack_runs_words_4(u, type, UNPACK_WITHIN, twice, length, count, bytes, s, second, y);
    else
        unpack_runs_words_4(u, type, UNPACK_ANY, twice, length, count, bytes, s, second, y);
}
#define UNPACK_WORDS_LOOKED_UP(width, type)                                                                            \
    if ((width) == 4 && tame)                                                                                          \
        unpack_as_words_4(u, type, length, count, bytes, s, second, tame, (uint16_t *)y);                              \
    else
#else
#define UNPACK_WORDS_LOOKED_UP(width, type)
#endif

#ifdef __AVX512F__
#define UNPACK_WORDS_AS(width, type)                                                                                   \
    UNPACK_WORDS_LOOKED_UP(width, type)                                                                                \
    unpack_as_##width(u, type, length, count, bytes, s, second, tame, (char *)y);                                      \
    break;
#define UNPACK_WORDS(width)                                                                                            \
    case UNPACK_F16: UNPACK_WORDS_AS(width, UNPACK_F16)                                                                \
    case UNPACK_BF16: UNPACK_WORDS_AS(width, UNPACK_BF16)
#else
#define UNPACK_WORDS(width)
#endif

/* n values whose scales go on by next[4] every 64. */
#define UNPACK_LOOP(width)                                                                                             \
    FPEMU_FN void unpack_stretch_##width(const unpack_table_##width *t, enum unpack_form form, enum unpack_type type,  \
                                         size_t n, const unsigned char *bytes, const float *s, const size_t next[5],   \
                                         float second, char *y)                                                        \
    {                                                                                                                  \
        const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t);                                  \
        unpack_values v[UNPACK_VECTORS];                                                                               \
        size_t i = 0;                                                                                                  \
        for (; i + 64 <= n; i += 64, bytes += (width) * 8, s += next[4]) {                                             \
            unpack_64_of_##width(t, bytes, v);                                                                         \
            unpack_scale(form, type, s, next, second, v, y + i * size);                                                \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            unsigned char some[(width) * 8] = {0};                                                                     \
            const size_t left = n - i;                                                                                 \
            const size_t within[4] = {0, left > 16 ? next[1] : 0, left > 32 ? next[2] : 0, left > 48 ? next[3] : 0};   \
            char values[64 * sizeof(float)];                                                                           \
            memcpy(some, bytes, (left * (width) + 7) / 8);                                                             \
            unpack_64_of_##width(t, some, v);                                                                          \
            unpack_scale(form, type, s, within, second, v, values);                                                    \
            memcpy(y + i * size, values, left * size);                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    FPEMU_FN void unpack_runs_##width(const core_unpack *u, enum unpack_form form, enum unpack_type type,              \
                                      size_t length, size_t count, const unsigned char *bytes, const float *s,         \
                                      float second, char *y)                                                           \
    {                                                                                                                  \
        static const size_t places[3][5] = {{0, 1, 2, 3, 4}, {0, 0, 1, 1, 2}, {0, 0, 0, 0, 0}};                        \
        const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t);                                  \
        const unpack_table_##width t = unpack_load_##width(u);                                                         \
        if (count > 1 && length <= 32) {                                                                               \
            unpack_stretch_##width(&t, form, type, length * count, bytes, s, places[length == 32], second, y);         \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t b = 0; b < count; b++)                                                                             \
            unpack_stretch_##width(&t, form, type, length, bytes + b * (length * (width) / 8), s + b, places[2],       \
                                   second, y + b * length * size);                                                     \
    }                                                                                                                  \
                                                                                                                       \
    FPEMU_FN void unpack_as_##width(const core_unpack *u, enum unpack_type type, size_t length, size_t count,          \
                                    const unsigned char *bytes, const float *s, float second, int tame, char *y)       \
    {                                                                                                                  \
        if (!tame)                                                                                                     \
            unpack_runs_##width(u, UNPACK_MENDED, type, length, count, bytes, s, second, y);                           \
        else if (tame == 2 && type != UNPACK_FLOATS)                                                                   \
            unpack_runs_##width(u, UNPACK_AS_THEY_ARE, type, length, count, bytes, s, second, y);                      \
        else if (tame == 3 && type != UNPACK_FLOATS)                                                                   \
            unpack_runs_##width(u, UNPACK_EXACT, type, length, count, bytes, s, second, y);                            \
        else if (second < 1 || second > 1)                                                                             \
            unpack_runs_##width(u, UNPACK_TWICE, type, length, count, bytes, s, second, y);                            \
        else if (type != UNPACK_FLOATS && unpack_is_inside(u, type, count, s, 1))                                      \
            unpack_runs_##width(u, UNPACK_INSIDE, type, length, count, bytes, s, second, y);                           \
        else                                                                                                           \
            unpack_runs_##width(u, UNPACK_ONCE, type, length, count, bytes, s, second, y);                             \
    }                                                                                                                  \
                                                                                                                       \
    UNPACK_STATIC void UNPACK_NAME(width)(const core_unpack *u, enum unpack_type type, size_t length, size_t count,    \
                                          const unsigned char *bytes, const float *s, float second, int tame, void *y) \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            UNPACK_WORDS(width)                                                                                        \
        default: unpack_as_##width(u, UNPACK_FLOATS, length, count, bytes, s, second, tame, (char *)y);                \
        }                                                                                                              \
    }

#ifdef __AVX512VBMI__
#define UNPACK_STATIC
#define UNPACK_NAME(width) fpemu_vbmi_unpack_##width
UNPACK_LOOP(8)
#else
#define UNPACK_STATIC static
#define UNPACK_NAME(width) loop_unpack_##width
UNPACK_LOOP(4)
UNPACK_LOOP(6)
UNPACK_LOOP(8)
#endif
