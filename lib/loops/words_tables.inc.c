/* SPDX-License-Identifier: BSD-2-Clause */
/* words_tables.inc.c - binary16 and bfloat16 words by tables of at most 16 values and to nearest, as they are, for
 * AVX-512; included by variant.inc.c. A number of the type is above a threshold of core_few just if it is above the
 * largest number of the type that the threshold is not below. Words are in the order of their numbers when those below
 * zero have their other bits reversed. tests/against_judges/words.c compares all of them. */

/* Thresholds of a table in that order: the middle one, those in the middle of either half, all of them, from the second
 * on too; and its values. Few are picked out of a vector, which takes longer than to choose between two. */
typedef struct words_table {
    words half, low, high, second, cuts, values;
} words_table;

/* Words in the order of their numbers, as signed integers; -0 is below 0. */
static inline words words_ordered(words x)
{
    return _mm512_ternarylogic_epi32(x, word_signs(x), word_all(0x7fff), 0x78); /* x ^ (signs & 0x7fff) */
}

/* The largest words that are not above 16 thresholds, none of which is -0. */
FPEMU_FN __m256i words_down(int bfloat, __m512 thresholds)
{
    const __m512i u = _mm512_castps_si512(thresholds), below = _mm512_srli_epi32(_mm512_srai_epi32(u, 31), 16);
    return bfloat ? _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(u, below), 16))
                  : narrow_f16_side(thresholds, _MM_FROUND_TO_NEG_INF);
}

/* `cuts`: 32 words, thresholds in that order and whatever. */
FPEMU_FN words_table words_table_of(const uint16_t *cuts, words values)
{
    const __m256i *const from = (const __m256i *)(const void *)cuts, *const next =
                                                                         (const __m256i *)(const void *)(cuts + 1);
    const words_table t = {word_all(cuts[7]),
                           word_all(cuts[3]),
                           word_all(cuts[11]),
                           _mm512_castsi256_si512(_mm256_loadu_si256(next)),
                           _mm512_castsi256_si512(_mm256_loadu_si256(from)),
                           values};
    return t;
}

/* The places of 32 words. */
FPEMU_FN words words_places(const words_table *t, words ordered)
{
    const word_mask upper = word_above(ordered, t->half);
    const word_mask more = word_above(ordered, word_where(upper, t->high, t->low));
    words k = word_only(upper, word_all(8));
    k = _mm512_mask_add_epi16(k, more, k, word_all(4));
    k = _mm512_mask_add_epi16(k, word_above(ordered, _mm512_permutexvar_epi16(k, t->second)), k, word_all(2));
    return word_one_more(k, word_above(ordered, _mm512_permutexvar_epi16(k, t->cuts)));
}

/* What 32 words become. NaN lie beyond the others: values from 16 on are theirs, the first that of those below zero. */
FPEMU_FN words words_by_table(const words_table *t, int bfloat, words x)
{
    const words least = word_sub(word_all(bfloat ? 0x7f80 : 0x7c00), word_and(x, word_all(0x7fff)));
    const words k = words_places(t, words_ordered(x));
    const words place = _mm512_ternarylogic_epi32(k, _mm512_srli_epi16(least, 11), word_all(16), 0xf8);
    return _mm512_permutexvar_epi16(place, t->values);
}

static int codebook_words(const core_search32 *s, int bfloat, size_t n, const uint16_t *x, uint16_t *y)
{
    uint16_t cuts[32] = {0}, values[32];
    if (!s->few.usable)
        return 0;
    for (int k = 0; k < 32; k++)
        values[k] = (uint16_t)core_to_narrow(bfloat, k < 16 ? core_bits32(s->few.values[k]) : s->nan[k == 16]);
    const words ordered = words_ordered(_mm512_castsi256_si512(words_down(bfloat, _mm512_loadu_ps(s->few.thresholds))));
    _mm256_storeu_si256((__m256i *)(void *)cuts, _mm512_castsi512_si256(ordered));
    const words_table t = words_table_of(cuts, word_load(values));
    if (bfloat)
        WORDS_RUN(words_by_table(&t, 1, from))
    else
        WORDS_RUN(words_by_table(&t, 0, from))
    return 1;
}

/* Values of a block to the nearest words: they are as large as its largest number, about, and finite. */
FPEMU_FN __m256i words_of_values(int bfloat, __m512 values)
{
    __mmask16 past;
    return bfloat ? _mm512_cvtepi32_epi16(_mm512_srli_epi32(narrow_bf16_vector(_mm512_castps_si512(values), &past), 16))
                  : narrow_f16_side(values, _MM_FROUND_TO_NEAREST_INT);
}

FPEMU_FN size_t words_table_runs(const core_search32 *s, int bfloat, size_t length, size_t count, const float *scales,
                                 const uint16_t *x, uint16_t *y)
{
    uint16_t cuts[FEW_BLOCKS][32], values[FEW_BLOCKS][16];
    const few_common common = few_common_of(&s->few);
    for (size_t b = 0, n; b < count; b += n) {
        for (n = 0; n < FEW_BLOCKS && b + n < count && core_few_holds(scales[b + n]); n++) {
            const few_block block = few_fused(&common, NULL, scales[b + n], 0);
            const words ordered = words_ordered(_mm512_castsi256_si512(words_down(bfloat, block.thresholds)));
            _mm512_storeu_si512(cuts[n], ordered);
            _mm256_storeu_si256((__m256i *)(void *)values[n], words_of_values(bfloat, block.values));
        }
        for (size_t k = 0; k < n; k++) {
            const __m256i own = _mm256_loadu_si256((const __m256i *)(const void *)values[k]);
            const words_table t = words_table_of(cuts[k], _mm512_castsi256_si512(own));
            for (size_t i = (b + k) * length; i < (b + k + 1) * length; i += 32)
                word_store(y + i,
                           _mm512_permutexvar_epi16(words_places(&t, words_ordered(word_load(x + i))), t.values));
        }
        if (n == 0)
            return b;
    }
    return count;
}

static size_t codebook_words_runs(const core_search32 *s, int bfloat, size_t length, size_t count, const float *scales,
                                  const uint16_t *x, uint16_t *y)
{
    if (!s->few.usable || !s->few.fused || length % 32)
        return 0;
    if (bfloat)
        return length == 64 ? words_table_runs(s, 1, 64, count, scales, x, y)
                            : words_table_runs(s, 1, length, count, scales, x, y);
    return length == 64 ? words_table_runs(s, 0, 64, count, scales, x, y)
                        : words_table_runs(s, 0, length, count, scales, x, y);
}
