/* SPDX-License-Identifier: BSD-2-Clause */
/* words_blocks.inc.c - blocks of binary16 and bfloat16 words, in vectors of 16-bit integers of AVX-512; included by
 * variant.inc.c. Words keep the order of their magnitudes, so that the largest of a block is found among them; and where
 * scales are powers of two they are rounded as words, by core_words_block of core/words_fast.h. */

#define WORDS_LARGER _mm512_max_epu16

/* Words without their sign, which are twice as large. */
static inline __m512i words_doubled(const uint16_t *x)
{
    return _mm512_slli_epi16(_mm512_loadu_si512(x), 1);
}

/* The larger of neighbours: by 64 bits, of a first; by 32 bits, of all in a before all in b; of words of a in the even
 * places and of b in the odd ones; and by 128 bits, those of a in the lower half. */
static inline __m512i words_larger_fours(__m512i a, __m512i b)
{
    return WORDS_LARGER(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

static inline __m512i words_larger_pairs(__m512i a, __m512i b)
{
    const __m512 left = _mm512_castsi512_ps(a), right = _mm512_castsi512_ps(b);
    return WORDS_LARGER(_mm512_castps_si512(_mm512_shuffle_ps(left, right, 0x88)),
                        _mm512_castps_si512(_mm512_shuffle_ps(left, right, 0xdd)));
}

static inline __m512i words_larger(__m512i a, __m512i b)
{
    const __mmask32 odd = 0xaaaaaaaa;
    return WORDS_LARGER(_mm512_mask_blend_epi16(odd, a, _mm512_slli_epi32(b, 16)),
                        _mm512_mask_blend_epi16(odd, _mm512_srli_epi32(a, 16), b));
}

static inline __m512i words_larger_lanes(__m512i a, __m512i b)
{
    return WORDS_LARGER(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

/* The largest of columns of a block of n words, n a multiple of 32. */
static inline __m512i words_column(size_t n, const uint16_t *x)
{
    __m512i largest = words_doubled(x);
    for (size_t k = 32; k < n; k += 32)
        largest = WORDS_LARGER(largest, words_doubled(x + k));
    return largest;
}

/* Eight vectors of columns become one, whose lanes of 128 bits have eight words in a row: of vector 0, 1, ... What
 * costs most comes last, when there are fewest. */
static inline __m512i words_of_eight(size_t n, const uint16_t *x)
{
    __m512i two[2];
    for (size_t k = 0; k < 2; k++) {
        const uint16_t *const from = x + k * n;
        two[k] = words_larger_pairs(words_larger_fours(words_column(n, from), words_column(n, from + 2 * n)),
                                    words_larger_fours(words_column(n, from + 4 * n), words_column(n, from + 6 * n)));
    }
    return words_larger(two[0], two[1]);
}

/* Largest magnitudes of 16 blocks of n words, n = 16 or a multiple of 32, as bits of binary32. */
FPEMU_FN void words_sixteen_amax(int bfloat, size_t n, const uint16_t *x, uint32_t *amax)
{
    const __m512i first = words_of_eight(n == 16 ? 32 : n, x);
    __m256i largest;
    if (n == 16) { /* two blocks to a vector: the even ones in the lower half */
        const __m512i both = WORDS_LARGER(first, _mm512_shuffle_i32x4(first, first, 0xb1));
        const __m128i even = _mm512_castsi512_si128(both), odd = _mm512_extracti32x4_epi32(both, 2);
        largest = _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd));
    } else {
        const __m512i both = words_larger_lanes(first, words_of_eight(n, x + 8 * n));
        const __m512i lanes = WORDS_LARGER(both, _mm512_shuffle_i32x4(both, both, 0xb1));
        largest = _mm512_castsi512_si256(_mm512_shuffle_i32x4(lanes, lanes, 0x08));
    }
    _mm512_storeu_si512(amax, widen_sixteen(bfloat, _mm256_srli_epi16(largest, 1)));
}

/* The largest magnitude of n words; of many four vectors at a time. */
FPEMU_FN uint16_t words_largest(size_t n, const uint16_t *x)
{
    uint16_t largest = 0;
    size_t from = 0;
    if (n >= 128) {
        __m512i four[4] = {words_doubled(x), words_doubled(x + 32), words_doubled(x + 64), words_doubled(x + 96)};
        uint16_t doubled[32];
        for (from = 128; from + 128 <= n; from += 128)
            for (size_t k = 0; k < 4; k++)
                four[k] = WORDS_LARGER(four[k], words_doubled(x + from + 32 * k));
        _mm512_storeu_si512(doubled, WORDS_LARGER(WORDS_LARGER(four[0], four[1]), WORDS_LARGER(four[2], four[3])));
        for (size_t k = 0; k < 32; k++)
            largest = doubled[k] / 2 > largest ? doubled[k] / 2 : largest;
    }
#pragma omp simd reduction(max : largest)
    for (size_t i = from; i < n; i++) {
        const uint16_t a = x[i] & 0x7fff;
        largest = a > largest ? a : largest;
    }
    return largest;
}

/* As runs_amax. */
FPEMU_FN void words_runs_amax(int bfloat, size_t length, size_t count, const uint16_t *x, uint32_t *amax)
{
    size_t b = 0;
    if (length == 16)
        for (; b + 16 <= count; b += 16)
            words_sixteen_amax(bfloat, 16, x + b * 16, amax + b);
    if (length == 32)
        for (; b + 16 <= count; b += 16)
            words_sixteen_amax(bfloat, 32, x + b * 32, amax + b);
    if (length % 32 == 0 && length < 1024)
        for (; b + 16 <= count; b += 16)
            words_sixteen_amax(bfloat, length, x + b * length, amax + b);
    for (; b < count; b++)
        amax[b] = core_from_narrow(bfloat, words_largest(length, x + b * length));
}

static void words_runs_amax_f16(size_t length, size_t count, const uint16_t *x, uint32_t *amax)
{
    words_runs_amax(0, length, count, x, amax);
}

static void words_runs_amax_bf16(size_t length, size_t count, const uint16_t *x, uint32_t *amax)
{
    words_runs_amax(1, length, count, x, amax);
}

/* core_words_block of many blocks, every number of it twice in 32 bits. */
typedef struct words_blocks {
    uint32_t least[POW2_BLOCKS], first[POW2_BLOCKS], top[POW2_BLOCKS], low[POW2_BLOCKS], max[POW2_BLOCKS],
        flip_or_up[POW2_BLOCKS], zero_or_down[POW2_BLOCKS]; /* to nearest, or by random bits */
} words_blocks;

/* A vector of blocks `even`, below, and `odd`, above: perhaps the same. */
static inline __m512i words_of_blocks(const uint32_t *number, size_t even, size_t odd)
{
    const __m512i lower = _mm512_set1_epi32((int)number[even]);
    return even == odd ? lower : _mm512_mask_set1_epi32(lower, 0xff00, (int)number[odd]);
}

/* The step less 1 at numbers b. */
FPEMU_FN __m512i words_block_low(const words_blocks *w, int bfloat, size_t even, size_t odd, __m512i b)
{
    const __m512i cut = word_smaller(b, words_of_blocks(w->top, even, odd)),
                  field = _mm512_srli_epi16(cut, bfloat ? 7 : 10);
    const __m512i above = word_less(field, words_of_blocks(w->first, even, odd));
    return _mm512_srlv_epi16(words_of_blocks(w->low, even, odd), above);
}

/* 32 words rounded as core_words_block has it. */
FPEMU_FN __m512i words_block_round(const words_blocks *w, int bfloat, int fixed, size_t even, size_t odd, __m512i x)
{
    const __m512i magnitude = _mm512_set1_epi16(0x7fff), one = _mm512_set1_epi16(1);
    const __m512i a = _mm512_and_si512(x, magnitude), b = word_larger(a, words_of_blocks(w->least, even, odd));
    const __m512i low = words_block_low(w, bfloat, even, odd, b), step = word_add(low, one);
    const __m512i parity = word_parity(b, words_of_blocks(w->flip_or_up, even, odd), step);
    const __m512i t = word_add(b, word_less(word_half(step), word_less(one, parity)));
    const __m512i y = word_smaller(word_and_not(t, low), words_of_blocks(w->max, even, odd));
    const __mmask32 some = word_above(a, words_of_blocks(w->zero_or_down, even, odd));
    return fixed ? word_only(some, word_with_sign(y, x, word_all(0x8000)))
                 : word_with_sign(word_only(some, y), x, word_all(0x8000));
}

/* The upper halves of the random bits of 32 elements from number `at` of the draw on, as drawn_bits has them but not
 * inverted: there are more than 16, so that the mask leaves all of these. The last step of the hash has to do with none
 * of the lower halves. */
FPEMU_FN __m512i words_drawn(const core_draw *d, __m512i at)
{
    __m512i half[2];
    for (int k = 0; k < 2; k++) {
        __m512i h = _mm512_xor_si512(_mm512_add_epi32(at, _mm512_set1_epi32(16 * k)), _mm512_set1_epi32((int)d->lead));
        h = _mm512_mullo_epi32(h, _mm512_set1_epi32((int)0xed5ad4bbu));
        h = _mm512_ternarylogic_epi32(h, _mm512_srli_epi32(h, 11), _mm512_set1_epi32((int)d->key.k1), 0x96);
        h = _mm512_mullo_epi32(h, _mm512_set1_epi32((int)0xac4c1b51u));
        h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 15));
        half[k] = _mm512_mullo_epi32(h, _mm512_set1_epi32((int)0x31848babu));
    }
    const __m512i upper = narrow_upper(half[0], half[1]);
    return _mm512_xor_si512(upper, _mm512_srli_epi16(upper, 14));
}

/* 32 words by drawn_pow2. */
static __attribute__((noinline)) __m512i words_block_by_numbers(const core_pow2_block32 *q, const core_draw *d,
                                                                int bfloat, uint32_t even, uint32_t odd, __m512i at,
                                                                __m512i x)
{
    const __m256i lower = _mm512_castsi512_si256(x), upper = _mm512_extracti64x4_epi64(x, 1);
    const __m512i powers[2] = {_mm512_set1_epi32((int)even), _mm512_set1_epi32((int)odd)};
    const __m512i inverted[2] = {drawn_bits(d, at), drawn_bits(d, _mm512_add_epi32(at, _mm512_set1_epi32(16)))};
    const __m512i u[2] = {widen_sixteen(bfloat, lower), widen_sixteen(bfloat, upper)};
    __m512i y[2];
    for (int k = 0; k < 2; k++)
        y[k] =
            q->fixed ? drawn_pow2(q, 1, u[k], powers[k], inverted[k]) : drawn_pow2(q, 0, u[k], powers[k], inverted[k]);
    return bfloat ? narrow_bf16_words(y[0], y[1])
                  : narrow_f16_words(_mm512_castsi512_ps(y[0]), _mm512_castsi512_ps(y[1]));
}

/* 32 words rounded as core_words_block has it by random bits; 0 where that does not tell. From `least` on a word has no
 * bit below 2^-16 of a step; below it the upper halves of its fraction and of the bits may be equal. */
FPEMU_FN int words_block_draw(const words_blocks *w, const core_draw *d, int bfloat, int fixed, size_t even, size_t odd,
                              __m512i at, __m512i x, __m512i *y)
{
    const __m512i all = _mm512_set1_epi16(-1), random = words_drawn(d, at), inverted = _mm512_xor_si512(random, all);
    const __m512i a = _mm512_and_si512(x, word_all(0x7fff)), least = words_of_blocks(w->least, even, odd);
    const __m512i b = word_larger(a, least), low = words_block_low(w, bfloat, even, odd, b);
    const __m512i t = word_add(b, word_times_high(random, word_sub(low, all)));
    const __m512i field = _mm512_srli_epi16(a, bfloat ? 7 : 10), more = word_less(field, word_all(1));
    const __m512i own = word_sub(a, _mm512_slli_epi16(more, bfloat ? 7 : 10));
    const __m512i up = _mm512_sllv_epi16(own, words_of_blocks(w->flip_or_up, even, odd));
    const __m512i fraction = _mm512_srlv_epi16(up, word_sub(words_of_blocks(w->zero_or_down, even, odd), more));
    const __mmask32 small = _mm512_cmplt_epi16_mask(a, least);
    const __mmask32 none = _mm512_mask_cmple_epu16_mask(small, fraction, inverted);
    const __m512i rounded = word_smaller(word_and_not(t, low), words_of_blocks(w->max, even, odd));
    *y = fixed ? word_only(~none, word_with_sign(rounded, x, word_all(0x8000)))
               : word_with_sign(word_only(~none, rounded), x, word_all(0x8000));
    return _mm512_mask_cmpeq_epi16_mask(small, fraction, inverted) == 0;
}

FPEMU_FN void words_block_rows(const words_blocks *w, int bfloat, int fixed, size_t length, size_t count,
                               const uint16_t *x, uint16_t *y)
{
    if (length == 16) {
        size_t b = 0;
        for (; b + 2 <= count; b += 2)
            word_store(y + b * 16, words_block_round(w, bfloat, fixed, b, b + 1, word_load(x + b * 16)));
        if (b < count)
            _mm256_storeu_si256(
                (__m256i *)(void *)(y + b * 16),
                _mm512_castsi512_si256(words_block_round(
                    w, bfloat, fixed, b, b,
                    _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)(x + b * 16))))));
        return;
    }
    for (size_t b = 0; b < count; b++)
        for (size_t i = b * length; i < (b + 1) * length; i += 32)
            word_store(y + i, words_block_round(w, bfloat, fixed, b, b, word_load(x + i)));
}

/* Vectors of words from number i on up to the first that is left to words_block_by_numbers, which is returned, or n;
 * pairs: of two blocks of 16 words each. */
FPEMU_FN size_t words_block_drawn(const words_blocks *w, const core_draw *d, int bfloat, int fixed, int pairs,
                                  size_t length, size_t i, size_t n, const uint16_t *x, uint16_t *y)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)(d->low + i)), lanes);
    size_t b = i / length, end = (b + 1) * length;
    for (; i < n; i += 32) {
        __m512i made;
        if (__builtin_expect(!words_block_draw(w, d, bfloat, fixed, b, pairs ? b + 1 : b, at, word_load(x + i), &made),
                             0))
            return i;
        word_store(y + i, made);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(32));
        b += pairs ? 2 : i + 32 == end;
        end += !pairs && i + 32 == end ? length : 0;
    }
    return n;
}

FPEMU_FN void words_block_draws(const words_blocks *w, const core_pow2_block32 *q, const core_draw *draw,
                                const uint32_t *powers, int bfloat, int fixed, size_t length, size_t count,
                                const uint16_t *x, uint16_t *y)
{
    const core_draw d = *draw;
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const size_t all = length * count, n = all - all % 32;
    for (size_t i = 0; i < all; i += 32) {
        if (length == 16)
            i = words_block_drawn(w, &d, bfloat, fixed, 1, 16, i, n, x, y);
        else if (length == 32)
            i = words_block_drawn(w, &d, bfloat, fixed, 0, 32, i, n, x, y);
        else
            i = words_block_drawn(w, &d, bfloat, fixed, 0, length, i, n, x, y);
        if (i < all) {
            const __mmask32 here = i < n ? 0xffffffff : 0xffff;
            const uint32_t even = powers[i / length], odd = powers[(i < n ? i + 16 : i) / length];
            const __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)(d.low + i)), lanes);
            const __m512i from = _mm512_maskz_loadu_epi16(here, x + i);
            _mm512_mask_storeu_epi16(y + i, here, words_block_by_numbers(q, &d, bfloat, even, odd, at, from));
        }
    }
}

/* 32 words as numbers, and back where none of these passes the largest word: in the lower and the upper half those of
 * binary16, in even and odd places those of bfloat16. */
FPEMU_FN void words_widen(int bfloat, const uint16_t *x, __m512 *u)
{
    if (bfloat) {
        const __m512i both = word_load(x);
        u[0] = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        u[1] = _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32((int)0xffff0000u)));
    } else { /* by loads, since to halve a vector costs more */
        u[0] = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
        u[1] = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(x + 16)));
    }
}

FPEMU_FN __m512i words_narrow(int bfloat, const __m512 *y)
{
    if (!bfloat)
        return narrow_inside(0, 0, y[0], y[1]);
    const __m512i even = _mm512_castps_si512(y[0]), odd = _mm512_castps_si512(y[1]);
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    const __m512i high = _mm512_ternarylogic_epi32(_mm512_srli_epi32(even, 16), odd, upper, 0xf8);
    const __m512i low = _mm512_ternarylogic_epi32(_mm512_slli_epi32(odd, 16), even, upper, 0xf4);
    return narrow_bf16_halves(high, low);
}

/* y of 16 elements as core_pow2_float has it, but for the sign of a zero, and core_pow2_fixed: C and half of it let
 * negative numbers count too. */
FPEMU_FN __m512 words_pow2_y(const core_pow2_block32 *q, int fixed, __m512i power, __m512 x)
{
    const __m512 max = _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_set1_epi32((int)q->max)));
    if (fixed) {
        const __m512i lowest = _mm512_add_epi32(power, _mm512_set1_epi32((int)(q->lowest | 0x80000000u)));
        const __m512 shift = _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_set1_epi32((int)q->shift)));
        const __m512 nearest = _mm512_sub_ps(_mm512_add_ps(x, shift), shift);
        return _mm512_max_ps(_mm512_min_ps(nearest, max), _mm512_castsi512_ps(lowest));
    }
    const __m512i e = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32((int)CORE_INF32));
    const __m512i emin = _mm512_add_epi32(power, _mm512_set1_epi32((int)q->emin));
    const __m512 by = _mm512_castsi512_ps(_mm512_max_epi32(e, emin));
    const __m512 times = _mm512_castsi512_ps(_mm512_set1_epi32((int)(q->up + 0x3fc00000u))); /* 1.5 */
    const __m512 nearest = _mm512_fnmadd_ps(by, times, _mm512_fmadd_ps(by, times, x));
    return _mm512_range_ps(nearest, max, 2); /* the smaller magnitude, with the sign of the first */
}

/* 32 words of a block, or of two, by way of binary32. */
FPEMU_FN __m512i words_pow2_wide(const core_pow2_block32 *q, int bfloat, int fixed, const uint32_t *powers, size_t even,
                                 size_t odd, const uint16_t *x)
{
    __m512 u[2], y[2];
    words_widen(bfloat, x, u);
    for (size_t k = 0; k < 2; k++) {
        const size_t last = k ? odd : even;
        y[k] = words_pow2_y(q, fixed, words_of_blocks(powers, bfloat ? even : last, bfloat ? odd : last), u[k]);
    }
    const __m512i made = words_narrow(bfloat, y);
    return fixed ? made : word_with_sign(made, word_load(x), word_all(0x8000));
}

/* Blocks to nearest where one of them is not rounded as a word: its smallest normal number may be none of the type. 0
 * where an element may pass the largest word. */
FPEMU_FN int words_pow2_wide_rows(const core_pow2_block32 *q, int bfloat, int fixed, size_t length, size_t count,
                                  const uint16_t *x, const uint32_t *powers, uint16_t *y)
{
    const uint32_t most = q->max > q->lowest ? q->max : q->lowest;
    const uint32_t infinite = bfloat ? 0x7f7f8000u : core_bits32(65520); /* the first that is rounded to infinity */
    uint32_t past = !fixed && q->up < 2u << 23;                          /* which leaves no room for half of C */
#pragma omp simd reduction(+ : past)
    for (size_t b = 0; b < count; b++)
        past += most + powers[b] >= infinite;
    if (past)
        return 0;
    size_t b = 0;
    for (; length == 16 && b + 2 <= count; b += 2)
        word_store(y + b * 16, words_pow2_wide(q, bfloat, fixed, powers, b, b + 1, x + b * 16));
    for (; length > 16 && b < count; b++)
        for (size_t i = b * length; i < (b + 1) * length; i += 32)
            word_store(y + i, words_pow2_wide(q, bfloat, fixed, powers, b, b, x + i));
    if (b < count) {
        uint16_t few[32] = {0};
        memcpy(few, x + b * 16, 16 * sizeof *few);
        word_store(few, words_pow2_wide(q, bfloat, fixed, powers, b, b, few));
        memcpy(y + b * 16, few, 16 * sizeof *few);
    }
    return 1;
}

/* By the random bits of d, or to nearest where it is NULL. */
FPEMU_FN int words_pow2_by(int bfloat, int fixed, const core_pow2_block32 *how, const core_draw *d, size_t length,
                           size_t count, const uint16_t *x, const uint32_t *powers, uint16_t *y)
{
    const core_pow2_block32 q = *how;
    words_blocks w;
    uint32_t others = 0;
#pragma omp simd reduction(+ : others)
    for (size_t b = 0; b < count; b++) {
        core_words_block one;
        others += core_words_block_make(&one, &q, bfloat, fixed, powers[b]) ^ 1;
        w.least[b] = one.least * 0x10001u;
        w.first[b] = one.first * 0x10001u;
        w.top[b] = one.top * 0x10001u;
        w.low[b] = one.low * 0x10001u;
        w.max[b] = one.max * 0x10001u;
        w.flip_or_up[b] = (d ? one.up : one.flip) * 0x10001u;
        w.zero_or_down[b] = (d ? one.down : one.zero) * 0x10001u;
    }
    if (others)
        return !d && words_pow2_wide_rows(&q, bfloat, fixed, length, count, x, powers, y);
    if (d)
        words_block_draws(&w, &q, d, powers, bfloat, fixed, length, count, x, y);
    else
        words_block_rows(&w, bfloat, fixed, length, count, x, y);
    return 1;
}

#define WORDS_POW2_ROWS(type, bfloat)                                                                                  \
    static int words_pow2_rows_##type(const core_pow2_block32 *q, size_t length, size_t count, const uint16_t *x,      \
                                      const uint32_t *powers, uint16_t *y)                                             \
    {                                                                                                                  \
        return q->fixed ? words_pow2_by(bfloat, 1, q, NULL, length, count, x, powers, y)                               \
                        : words_pow2_by(bfloat, 0, q, NULL, length, count, x, powers, y);                              \
    }                                                                                                                  \
    static int words_pow2_drawn_##type(const core_pow2_block32 *q, const core_draw *d, size_t length, size_t count,    \
                                       const uint16_t *x, const uint32_t *powers, uint16_t *y)                         \
    {                                                                                                                  \
        return q->fixed ? words_pow2_by(bfloat, 1, q, d, length, count, x, powers, y)                                  \
                        : words_pow2_by(bfloat, 0, q, d, length, count, x, powers, y);                                 \
    }
WORDS_POW2_ROWS(f16, 0)
WORDS_POW2_ROWS(bf16, 1)
#undef WORDS_POW2_ROWS
#undef WORDS_LARGER

/* Vectors of binary32 that are made at once. */
#define WORDS_FAST_VECTORS 4

/* Magnitudes y with the signs of x. */
FPEMU_FN words words_signed(words y, words x)
{
    return _mm512_ternarylogic_epi32(y, x, word_all(0x8000), 0xd8);
}

/* A number of their block each; `next` 1: the upper 16 words are of the next one. */
FPEMU_FN void words_numbers(int bfloat, const float *number, size_t next, __m512 *out)
{
    out[0] = _mm512_set1_ps(number[0]);
    out[1] = _mm512_set1_ps(number[next]);
    if (bfloat && next)
        out[0] = out[1] = _mm512_mask_mov_ps(out[0], 0xff00, out[1]);
}

/* Whether no element of the plan times one of these scales and `second` passes the largest word. */
FPEMU_FN int words_inside(const core_plan32 *p, int bfloat, size_t count, const float *s, float second)
{
    const float max = core_value32(p->max[0] > p->max[1] ? p->max[0] : p->max[1]);
    const float infinite = bfloat ? core_value32(0x7f7f8000u) : 65520; /* the first that is rounded to infinity */
    float most = 0;
#pragma omp simd reduction(max : most)
    for (size_t b = 0; b < count; b++)
        most = s[b] > most ? s[b] : most;
    return (max * most) * second < infinite;
}

/* y of n vectors of finite elements as core_fast_stop and core_fast_even have it, step by step, since processors look
 * ahead no farther than a few of them take: of the former without the sign, cut to the largest only when rounded; of the
 * latter where the step is 1. */
FPEMU_FN void words_fast_y(const core_plan32 *p, int even, int inside, int divided, int n, const __m512 *down,
                           const __m512 *s, __m512 second, const __m512 *x, __m512 *y)
{
    const __m512 high = _mm512_castsi512_ps(_mm512_set1_epi32((int)p->max[0]));
    const __m512 low = _mm512_castsi512_ps(_mm512_set1_epi32((int)(p->max[1] | 0x80000000u)));
    const __m512 times = _mm512_castsi512_ps(_mm512_set1_epi32((int)(p->fast_up + 0x3fc00000u))); /* 1.5 */
    const __m512i emin = _mm512_set1_epi32((int)p->fast_emin), infinity = _mm512_set1_epi32((int)CORE_INF32);
    __m512 t[WORDS_FAST_VECTORS], by[WORDS_FAST_VECTORS];
    for (int v = 0; v < n; v++)
        t[v] = _mm512_mul_ps(x[v], down[v]);
    for (int v = 0; v < n && divided; v++)
        t[v] = _mm512_fmadd_ps(_mm512_fnmadd_ps(t[v], s[v], x[v]), down[v], t[v]);
    if (even) {
        for (int v = 0; v < n && !inside; v++)
            t[v] = _mm512_min_ps(_mm512_max_ps(t[v], low), high);
        for (int v = 0; v < n; v++)
            t[v] = _mm512_roundscale_ps(t[v], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        for (int v = 0; v < n; v++)
            y[v] = _mm512_fmadd_ps(t[v], s[v], _mm512_setzero_ps()); /* -0 becomes 0 */
    } else {
        for (int v = 0; v < n; v++) {
            const __m512i e = _mm512_and_si512(_mm512_castps_si512(t[v]), infinity);
            by[v] = _mm512_castsi512_ps(_mm512_max_epi32(e, emin));
        }
        for (int v = 0; v < n; v++)
            t[v] = _mm512_fmadd_ps(by[v], times, t[v]);
        for (int v = 0; v < n; v++)
            t[v] = _mm512_fnmadd_ps(by[v], times, t[v]);
        for (int v = 0; v < n && !inside; v++)
            t[v] = _mm512_range_ps(t[v], high, 2); /* the smaller magnitude; of a NaN, where t was infinite, `high` */
        for (int v = 0; v < n; v++)
            y[v] = _mm512_mul_ps(t[v], s[v]);
    }
    for (int v = 0; v < n && !divided; v++)
        y[v] = _mm512_mul_ps(y[v], second);
}

/* Vectors of 32 words, `apart` blocks from each other, whose upper halves are `next` blocks farther. */
FPEMU_FN void words_fast(const core_plan32 *p, int bfloat, int even, int inside, int divided, int vectors, size_t apart,
                         size_t next, const float *downs, const float *scales, __m512 second, const uint16_t *x,
                         uint16_t *y)
{
    __m512 u[WORDS_FAST_VECTORS], down[WORDS_FAST_VECTORS], s[WORDS_FAST_VECTORS], to[WORDS_FAST_VECTORS];
    for (int v = 0; v < vectors; v++) {
        words_widen(bfloat, x + 32 * v, u + 2 * v);
        words_numbers(bfloat, downs + (size_t)v * apart, next, down + 2 * v);
        words_numbers(bfloat, scales + (size_t)v * apart, next, s + 2 * v);
    }
    words_fast_y(p, even, inside, divided, 2 * vectors, down, s, second, u, to);
    for (int v = 0; v < vectors; v++) {
        const __m512i made = words_narrow(bfloat, to + 2 * v);
        word_store(y + 32 * v, even ? made : words_signed(made, word_load(x + 32 * v)));
    }
}

/* All elements of the blocks, 64 at a time; of 16 four blocks, of 32 two, and the last few of a block by way of a
 * vector. */
FPEMU_FN void words_fast_rows(const core_plan32 *plan, int bfloat, int even, int inside, int divided, size_t length,
                              size_t count, const float *down, const float *s, float times, const uint16_t *x,
                              uint16_t *y)
{
#define WORDS_FAST_SOME(vectors, apart, next, x, y)                                                                    \
    words_fast(&p, bfloat, even, inside, divided, vectors, apart, next, down + b, s + b, second, x, y)
    const core_plan32 p = *plan;
    const __m512 second = _mm512_set1_ps(times);
    const size_t whole = length - length % 32;
    size_t b = 0;
    for (; length == 16 && b + 4 <= count; b += 4)
        WORDS_FAST_SOME(2, 2, 1, x + b * 16, y + b * 16);
    for (; length == 16 && b + 2 <= count; b += 2)
        WORDS_FAST_SOME(1, 0, 1, x + b * 16, y + b * 16);
    for (; length == 32 && b + 2 <= count; b += 2)
        WORDS_FAST_SOME(2, 1, 0, x + b * 32, y + b * 32);
    for (; b < count; b++) {
        const uint16_t *const from = x + b * length;
        uint16_t *const to = y + b * length;
        size_t i = 0;
        for (; i + 64 <= whole; i += 64)
            WORDS_FAST_SOME(2, 0, 0, from + i, to + i);
        if (i < whole)
            WORDS_FAST_SOME(1, 0, 0, from + i, to + i);
        if (whole < length) {
            uint16_t few[32] = {0};
            memcpy(few, from + whole, (length - whole) * sizeof *few);
            WORDS_FAST_SOME(1, 0, 0, few, few);
            memcpy(to + whole, few, (length - whole) * sizeof *few);
        }
    }
#undef WORDS_FAST_SOME
}

/* The usual lengths as constants. */
#define WORDS_FAST(even, inside, divided)                                                                              \
    if (length == 16)                                                                                                  \
        words_fast_rows(p, bfloat, even, inside, divided, 16, count, down, s, second, x, y);                           \
    else if (length == 32)                                                                                             \
        words_fast_rows(p, bfloat, even, inside, divided, 32, count, down, s, second, x, y);                           \
    else                                                                                                               \
        words_fast_rows(p, bfloat, even, inside, divided, length, count, down, s, second, x, y);                       \
    break

FPEMU_FN int words_fast_by(const core_plan32 *p, int bfloat, int inside, int divided, size_t length, size_t count,
                           const float *down, const float *s, float second, const uint16_t *x, uint16_t *y)
{
    const int even = p->rule == CORE_RULE_EVEN;
    const int room = even ? p->fast_emin + p->fast_up == 150u << 23 : p->fast_up > 1u << 23; /* for C and half of it */
    if (!words_inside(p, bfloat, count, s, second) || !room)
        return 0;
    switch (4 * even + 2 * (inside != 0) + (divided != 0)) {
    case 0: WORDS_FAST(0, 0, 0);
    case 1: WORDS_FAST(0, 0, 1);
    case 2: WORDS_FAST(0, 1, 0);
    case 3: WORDS_FAST(0, 1, 1);
    case 4: WORDS_FAST(1, 0, 0);
    case 5: WORDS_FAST(1, 0, 1);
    case 6: WORDS_FAST(1, 1, 0);
    default: WORDS_FAST(1, 1, 1);
    }
    return 1;
}
#undef WORDS_FAST

static int words_scaled_f16(const core_plan32 *p, int inside, int divided, size_t length, size_t count,
                            const float *down, const float *s, float second, const uint16_t *x, uint16_t *y)
{
    return words_fast_by(p, 0, inside, divided, length, count, down, s, second, x, y);
}

static int words_scaled_bf16(const core_plan32 *p, int inside, int divided, size_t length, size_t count,
                             const float *down, const float *s, float second, const uint16_t *x, uint16_t *y)
{
    return words_fast_by(p, 1, inside, divided, length, count, down, s, second, x, y);
}
#define WORDS_AMAX {words_runs_amax_f16, words_runs_amax_bf16}
#define WORDS_POW2 {words_pow2_rows_f16, words_pow2_rows_bf16}
#define WORDS_POW2_DRAWN {words_pow2_drawn_f16, words_pow2_drawn_bf16}
#define WORDS_SCALED {words_scaled_f16, words_scaled_bf16}
