/* SPDX-License-Identifier: BSD-2-Clause */
/* words_tables.inc.c - binary16 and bfloat16 words by tables of at most 16 values, for AVX-512: to nearest as they are,
 * and by random bits in registers of binary32; included by variant.inc.c. A number of the type is above a threshold of
 * core_few just if it is above the largest number of the type that the threshold is not below. Words are in the order of
 * their numbers when those below zero have their other bits reversed. tests/against_judges/words.c compares all of
 * them. */

/* Vectors of 32 words that are made at once, step by step: processors look ahead no farther than a few of them take. */
#define WORDS_TABLE_VECTORS 4

/* Thresholds of one table or of two in that order, 16 each: the middle one, those in the middle of either half, all of
 * them, from the second on too; and values. Few are picked out of a vector, which takes longer than to choose between
 * two. */
typedef struct words_table {
    words half[2], low[2], high[2], second, cuts, values;
} words_table;

/* Words in the order of their numbers, as signed integers; -0 is below 0. */
static inline words words_ordered(words x)
{
    return _mm512_ternarylogic_epi32(x, word_signs(x), word_all(0x7fff), 0x78); /* x ^ (signs & 0x7fff) */
}

/* The largest words that are not above 32 thresholds, none of which is -0. */
FPEMU_FN words words_down(int bfloat, __m512 a, __m512 b)
{
    __m512i u[2] = {_mm512_castps_si512(a), _mm512_castps_si512(b)};
    for (int k = 0; k < 2; k++)
        u[k] = _mm512_add_epi32(u[k], _mm512_srli_epi32(_mm512_srai_epi32(u[k], 31), 16));
    return bfloat ? narrow_upper(u[0], u[1]) : narrow_f16_pair(a, b, _MM_FROUND_TO_NEG_INF);
}

/* `cuts`: 33 words, thresholds in that order and whatever. */
FPEMU_FN words_table words_table_of(const uint16_t *cuts, words values)
{
    const words_table t = {{word_all(cuts[7]), word_all(cuts[23])},
                           {word_all(cuts[3]), word_all(cuts[19])},
                           {word_all(cuts[11]), word_all(cuts[27])},
                           word_load(cuts + 1),
                           word_load(cuts),
                           values};
    return t;
}

/* The places of n vectors of words among the thresholds of the first table; of the second those of the upper half are,
 * and so are their places. */
FPEMU_FN void words_places(const words_table *t, int second, int n, const words *ordered, words *k)
{
    const words first = word_all(16 * second), later = word_all(16 * second + 8);
    words cut[WORDS_TABLE_VECTORS];
    word_mask more[WORDS_TABLE_VECTORS];
    for (int v = 0; v < n; v++)
        more[v] = word_above(ordered[v], t->half[second]);
    for (int v = 0; v < n; v++)
        cut[v] = word_where(more[v], t->high[second], t->low[second]);
    for (int v = 0; v < n; v++)
        k[v] = second ? word_where(more[v], later, first) : word_only(more[v], later);
    for (int by = 4; by; by /= 2) {
        for (int v = 0; v < n; v++)
            more[v] = word_above(ordered[v], cut[v]);
        for (int v = 0; v < n; v++)
            k[v] = _mm512_mask_add_epi16(k[v], more[v], k[v], word_all(by));
        for (int v = 0; v < n && by > 1; v++)
            cut[v] = _mm512_permutexvar_epi16(k[v], by == 4 ? t->second : t->cuts);
    }
}

/* What n vectors of words become. NaN lie beyond the others: values from 16 on are theirs, the first that of those below
 * zero. */
FPEMU_FN void words_by_table(const words_table *t, int bfloat, int n, const uint16_t *x, uint16_t *y)
{
    words from[WORDS_TABLE_VECTORS], ordered[WORDS_TABLE_VECTORS], k[WORDS_TABLE_VECTORS];
    for (int v = 0; v < n; v++)
        from[v] = word_load(x + 32 * v);
    for (int v = 0; v < n; v++)
        ordered[v] = words_ordered(from[v]);
    words_places(t, 0, n, ordered, k);
    for (int v = 0; v < n; v++) {
        const words least = word_sub(word_all(bfloat ? 0x7f80 : 0x7c00), word_and(from[v], word_all(0x7fff)));
        k[v] = _mm512_ternarylogic_epi32(k[v], _mm512_srli_epi16(least, 11), word_all(16), 0xf8);
    }
    for (int v = 0; v < n; v++)
        word_store(y + 32 * v, _mm512_permutexvar_epi16(k[v], t->values));
}

FPEMU_FN void words_all_by_table(const words_table *table, int bfloat, size_t n, const uint16_t *x, uint16_t *y)
{
    const words_table t = *table;
    size_t i = 0;
    for (; i + 128 <= n; i += 128)
        words_by_table(&t, bfloat, 4, x + i, y + i);
    for (; i + 32 <= n; i += 32)
        words_by_table(&t, bfloat, 1, x + i, y + i);
    if (i < n) {
        uint16_t rest[32] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *rest);
        words_by_table(&t, bfloat, 1, rest, rest);
        memcpy(y + i, rest, (n - i) * sizeof *rest);
    }
}

/* Words of 32 numbers; alone: of no block, where values need not be of the type. */
FPEMU_FN words words_of_values(int alone, int bfloat, __m512 a, __m512 b)
{
    return !alone   ? narrow_inside(bfloat, 0, a, b)
           : bfloat ? narrow_bf16_words(_mm512_castps_si512(a), _mm512_castps_si512(b))
                    : narrow_f16_words(a, b);
}

/* 32 words by random bits r, from those of f->low and, 16 places later, of f->high. */
FPEMU_FN void words_random_step(const core_search32 *s, int is_even, int alone, int bfloat, const few_block *b,
                                const few_random *f, words values, float scale, const uint16_t *x, const uint32_t *r,
                                uint16_t *y)
{
    __m512 v[2], to[2];
    __m512i place[2];
    uint32_t open = 0;
    for (int k = 0; k < 2; k++) {
        const __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)(x + 16 * k));
        v[k] = _mm512_castsi512_ps(widen_sixteen(bfloat, from));
        const few_drawn d = few_draw(s, is_even, alone, b, f, v[k], few_read(r + 16 * k));
        place[k] = _mm512_mask_add_epi32(d.place, d.up, d.place, _mm512_set1_epi32(16));
        open |= d.open;
    }
    if (open) {
        for (int k = 0; k < 2; k++)
            to[k] = few_random_value(s, is_even, alone, b, f, scale, v[k], few_read(r + 16 * k));
        word_store(y, words_of_values(alone, bfloat, to[0], to[1]));
    } else {
        word_store(y, _mm512_permutexvar_epi16(narrow_lower(place[0], place[1]), values));
    }
}

FPEMU_FN void words_random(const core_search32 *s, int is_even, int alone, int bfloat, float scale, size_t n,
                           const uint16_t *x, const uint32_t *r, uint16_t *y)
{
    const few_block b = few_begin(&s->few, scale, 15 / s->few.reach / scale);
    const few_random f = few_random_begin(s, scale);
    const words values = words_of_values(alone, bfloat, f.low, f.high);
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        words_random_step(s, is_even, alone, bfloat, &b, &f, values, scale, x + i, r + i, y + i);
    if (i < n) {
        uint16_t rest[32] = {0};
        uint32_t bits[32] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *rest);
        memcpy(bits, r + i, (n - i) * sizeof *bits);
        words_random_step(s, is_even, alone, bfloat, &b, &f, values, scale, rest, bits, rest);
        memcpy(y + i, rest, (n - i) * sizeof *rest);
    }
}

#define WORDS_RANDOM_BY(alone, ...)                                                                                    \
    switch (2 * (bfloat != 0) + (s->few.is_even != 0)) {                                                               \
    case 0: words_random(s, 0, alone, 0, __VA_ARGS__); break;                                                          \
    case 1: words_random(s, 1, alone, 0, __VA_ARGS__); break;                                                          \
    case 2: words_random(s, 0, alone, 1, __VA_ARGS__); break;                                                          \
    default: words_random(s, 1, alone, 1, __VA_ARGS__);                                                                \
    }

static int codebook_random_words(const core_search32 *s, int bfloat, size_t n, const uint16_t *x, const uint32_t *r,
                                 uint16_t *y)
{
    if (!core_few_draws(s))
        return 0;
    WORDS_RANDOM_BY(1, 1, n, x, r, y)
    return 1;
}

static size_t codebook_random_words_runs(const core_search32 *s, int bfloat, size_t length, size_t count,
                                         const float *scales, const uint16_t *x, const uint32_t *r, uint16_t *y)
{
    size_t b = 0;
    for (; core_few_draws(s) && b < count && core_few_holds(scales[b]); b++)
        WORDS_RANDOM_BY(0, scales[b], length, x + b * length, r + b * length, y + b * length)
    return b;
}
#undef WORDS_RANDOM_BY

static int codebook_words(const core_search32 *s, int bfloat, size_t n, const uint16_t *x, uint16_t *y)
{
    uint16_t cuts[33] = {0}, values[32];
    if (!s->few.usable)
        return 0;
    for (int k = 0; k < 32; k++)
        values[k] = (uint16_t)core_to_narrow(bfloat, k < 16 ? core_bits32(s->few.values[k]) : s->nan[k == 16]);
    const __m512 thresholds = _mm512_loadu_ps(s->few.thresholds);
    word_store(cuts, words_ordered(words_down(bfloat, thresholds, thresholds)));
    const words_table t = words_table_of(cuts, word_load(values));
    if (bfloat)
        words_all_by_table(&t, 1, n, x, y);
    else
        words_all_by_table(&t, 0, n, x, y);
    return 1;
}

/* A block by one of two tables. */
FPEMU_FN void words_block_by_table(const words_table *t, int second, size_t length, const uint16_t *x, uint16_t *y)
{
    for (size_t i = 0, n; i < length; i += 32 * n) {
        words ordered[2], k[2];
        n = length - i < 64 ? 1 : 2;
        for (size_t v = 0; v < n; v++)
            ordered[v] = words_ordered(word_load(x + i + 32 * v));
        words_places(t, second, (int)n, ordered, k);
        for (size_t v = 0; v < n; v++)
            word_store(y + i + 32 * v, _mm512_permutexvar_epi16(k[v], t->values));
    }
}

/* Blocks two by two, so that what is made of their scales fills vectors. Values of a block are as large as its largest
 * number, about, and finite. */
FPEMU_FN size_t words_table_runs(const core_search32 *s, int bfloat, size_t length, size_t count, const float *scales,
                                 const uint16_t *x, uint16_t *y)
{
    _Alignas(LINE) uint16_t cuts[FEW_BLOCKS / 2][64], values[FEW_BLOCKS / 2][32];
    const few_common common = few_common_of(&s->few);
    for (size_t b = 0, n; b < count; b += n) {
        for (n = 0; n < FEW_BLOCKS && b + n < count && core_few_holds(scales[b + n]);)
            n++;
        for (size_t k = 0; k < n; k += 2) {
            const few_block one = few_fused(&common, NULL, scales[b + k], 0);
            const few_block next = few_fused(&common, NULL, scales[b + (k + 1 < n ? k + 1 : k)], 0);
            word_store(cuts[k / 2], words_ordered(words_down(bfloat, one.thresholds, next.thresholds)));
            cuts[k / 2][32] = 0;
            word_store(values[k / 2], narrow_inside(bfloat, 0, one.values, next.values));
        }
        for (size_t k = 0; k < n; k += 2) {
            const words_table t = words_table_of(cuts[k / 2], word_load(values[k / 2]));
            const size_t at = (b + k) * length;
            words_block_by_table(&t, 0, length, x + at, y + at);
            if (k + 1 < n)
                words_block_by_table(&t, 1, length, x + at + length, y + at + length);
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
