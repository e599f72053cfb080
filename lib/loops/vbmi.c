/* SPDX-License-Identifier: BSD-2-Clause */
/* vbmi.c - see vbmi.h. Compilers find no permutation of bytes in a look-up, and gcc multiplies 32 by 32
 * bits in lanes of 64 with the instruction for 64 by 64. */
#include "unfortified.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VBMI__)
#error "vbmi.c is compiled with -march=x86-64-v4 -mavx512vbmi"
#endif
#include <immintrin.h>

#include "core/codebook_fast.h"
#include "core/round_fast.h"
#include "vbmi.h"

/* The bytes of a table of 256 that `codes` name; `upper`: those codes from 128 on. */
FPEMU_FN __m512i look_up(const __m512i table[4], __m512i codes, __mmask64 upper)
{
    const __m512i below = _mm512_permutex2var_epi8(table[0], codes, table[1]);
    return _mm512_mask_blend_epi8(upper, below, _mm512_permutex2var_epi8(table[2], codes, table[3]));
}

/* Eight counters: a word in each lane of 64 bits, whose upper half holds anything. */
typedef struct lanes {
    __m512i c0, c1, c2, c3;
} lanes;

static inline void turn(lanes *s, __m512i k0, __m512i k1)
{
    const __m512i m0 = _mm512_set1_epi64(0xd2511f53), m1 = _mm512_set1_epi64(0xcd9e8d57);
    const __m512i p0 = _mm512_mul_epu32(m0, s->c0), p1 = _mm512_mul_epu32(m1, s->c2);
    s->c0 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p1, 32), s->c1), k0);
    s->c2 = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p0, 32), s->c3), k1);
    s->c1 = p1;
    s->c3 = p0;
}

void fpemu_vbmi_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words)
{
    const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    lanes s[4];
    for (unsigned v = 0; v < 4; v++) {
        s[v].c0 = _mm512_add_epi64(_mm512_set1_epi64((long long)(counter + 8 * v)), eight);
        s[v].c1 = _mm512_srli_epi64(s[v].c0, 32);
        s[v].c2 = _mm512_set1_epi64((long long)stream);
        s[v].c3 = _mm512_srli_epi64(s[v].c2, 32);
    }
    for (uint32_t round = 0; round < 10; round++) {
        const __m512i k0 = _mm512_set1_epi64((uint32_t)seed + round * 0x9e3779b9u);
        const __m512i k1 = _mm512_set1_epi64((uint32_t)(seed >> 32) + round * 0xbb67ae85u);
        for (int v = 0; v < 4; v++)
            turn(&s[v], k0, k1);
    }
    for (unsigned v = 0; v < 4; v++) {
        _mm256_storeu_si256((__m256i *)(void *)(words + 8 * v), _mm512_cvtepi64_epi32(s[v].c0));
        _mm256_storeu_si256((__m256i *)(void *)(words + 32 + 8 * v), _mm512_cvtepi64_epi32(s[v].c1));
        _mm256_storeu_si256((__m256i *)(void *)(words + 64 + 8 * v), _mm512_cvtepi64_epi32(s[v].c2));
        _mm256_storeu_si256((__m256i *)(void *)(words + 96 + 8 * v), _mm512_cvtepi64_epi32(s[v].c3));
    }
}

/* Bytes that stand for the integers of four vectors lie so that unpacking them twice gives the vectors back: in each
 * lane of 128 bits four of the first, four of the second, ... */
FPEMU_FN __m512i pack_bytes(const __m512i v[4])
{
    return _mm512_packus_epi16(_mm512_packus_epi32(v[0], v[1]), _mm512_packus_epi32(v[2], v[3]));
}

/* Bytes whose signs are those of the integers. */
FPEMU_FN __m512i pack_signs(const __m512i v[4])
{
    return _mm512_packs_epi16(_mm512_packs_epi32(v[0], v[1]), _mm512_packs_epi32(v[2], v[3]));
}

/* Bytes -1 where a bit is set. */
FPEMU_FN __m512i pack_masks(const __mmask16 m[4])
{
    const __m512i v[4] = {_mm512_movm_epi32(m[0]), _mm512_movm_epi32(m[1]), _mm512_movm_epi32(m[2]),
                          _mm512_movm_epi32(m[3])};
    return pack_signs(v);
}

/* The numbers whose bytes `planes` hold at 64 indices, 16 in each of four vectors. */
FPEMU_FN void look_up_words(const __m512i planes[4][4], __m512i c, __m512i words[4])
{
    const __mmask64 upper = _mm512_movepi8_mask(c);
    const __m512i b0 = look_up(planes[0], c, upper), b1 = look_up(planes[1], c, upper);
    const __m512i b2 = look_up(planes[2], c, upper), b3 = look_up(planes[3], c, upper);
    const __m512i low0 = _mm512_unpacklo_epi8(b0, b1), low1 = _mm512_unpackhi_epi8(b0, b1);
    const __m512i high0 = _mm512_unpacklo_epi8(b2, b3), high1 = _mm512_unpackhi_epi8(b2, b3);
    words[0] = _mm512_unpacklo_epi16(low0, high0);
    words[1] = _mm512_unpackhi_epi16(low0, high0);
    words[2] = _mm512_unpacklo_epi16(low1, high1);
    words[3] = _mm512_unpackhi_epi16(low1, high1);
}

FPEMU_FN __mmask64 join_masks(const __mmask16 m[4])
{
    return (__mmask64)m[0] | (__mmask64)m[1] << 16 | (__mmask64)m[2] << 32 | (__mmask64)m[3] << 48;
}

/* The tables as vectors. */
typedef struct codebook_vectors {
    __m512i base[8], thresholds[4][4], values[4][4], shift[2], offset[2];
    __m512i word_shift, word_offset; /* of the upper 16 bits, where these tell buckets */
} codebook_vectors;

/* The same from the upper 16 bits of each number. */
FPEMU_FN __m512i codebook_buckets_words(const core_planes *p, const codebook_vectors *t, int below, const __m512 x[4],
                                        __mmask64 *upper)
{
    const __m512i order =
        _mm512_set_epi16(63, 61, 59, 57, 31, 29, 27, 25, 55, 53, 51, 49, 23, 21, 19, 17, 47, 45, 43, 41, 15, 13, 11, 9,
                         39, 37, 35, 33, 7, 5, 3, 1); /* as pack_bytes takes them */
    const __m512i magnitude = _mm512_set1_epi16(0x7fff), low = _mm512_set1_epi16(255);
    const __m512i least = _mm512_set1_epi16((short)(p->least >> 16)), most = _mm512_set1_epi16((short)(p->most >> 16));
    __m512i u[2], buckets[2];
    for (int v = 0; v < 2; v++) {
        u[v] = _mm512_permutex2var_epi16(_mm512_castps_si512(x[2 * v]), order, _mm512_castps_si512(x[2 * v + 1]));
        __m512i a = _mm512_max_epi16(below ? _mm512_and_si512(u[v], magnitude) : u[v], least);
        a = _mm512_min_epi16(a, most);
        const __m512i e = _mm512_srli_epi16(a, 7); /* of which permutations take 5 bits */
        const __m512i shift = _mm512_permutexvar_epi16(e, t->word_shift);
        buckets[v] = _mm512_add_epi16(_mm512_srlv_epi16(a, shift), _mm512_permutexvar_epi16(e, t->word_offset));
    }
    if (below) {
        *upper = _mm512_movepi8_mask(_mm512_packs_epi16(u[0], u[1]));
        return _mm512_packus_epi16(buckets[0], buckets[1]);
    }
    const __m512i high = _mm512_packus_epi16(_mm512_srli_epi16(buckets[0], 8), _mm512_srli_epi16(buckets[1], 8));
    *upper = _mm512_test_epi8_mask(high, high);
    return _mm512_packus_epi16(_mm512_and_si512(buckets[0], low), _mm512_and_si512(buckets[1], low));
}

/* The bucket of each of 64 numbers: bytes, and bits of those in the upper half. below: of negative numbers; else these
 * count as zero. */
FPEMU_FN __m512i codebook_buckets(const core_planes *p, const codebook_vectors *t, int below, const __m512 x[4],
                                  __mmask64 *upper)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i least = _mm512_set1_epi32((int)p->least), most = _mm512_set1_epi32((int)p->most);
    __m512i u[4], buckets[4];
    for (int v = 0; v < 4; v++) {
        u[v] = _mm512_castps_si512(x[v]);
        __m512i a = _mm512_max_epi32(below ? _mm512_and_si512(u[v], magnitude) : u[v], least);
        a = _mm512_min_epi32(a, most);
        const __m512i e = _mm512_srli_epi32(a, 23); /* of which permutations take 5 bits */
        const __m512i shift = _mm512_permutex2var_epi32(t->shift[0], e, t->shift[1]);
        const __m512i offset = _mm512_permutex2var_epi32(t->offset[0], e, t->offset[1]);
        buckets[v] = _mm512_add_epi32(_mm512_srlv_epi32(a, shift), offset);
    }
    if (below) {
        *upper = _mm512_movepi8_mask(pack_signs(u));
        return pack_bytes(buckets);
    }
    const __m512i a = _mm512_packus_epi32(buckets[0], buckets[1]), b = _mm512_packus_epi32(buckets[2], buckets[3]);
    const __m512i high = _mm512_packus_epi16(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
    const __m512i low = _mm512_set1_epi16(255);
    *upper = _mm512_test_epi8_mask(high, high);
    return _mm512_packus_epi16(_mm512_and_si512(a, low), _mm512_and_si512(b, low));
}

/* The index of the value nearest to each of 64 numbers, as bytes, from their buckets; of a NaN any. finite: x and what
 * it is compared with differ by a number then, whose sign tells. */
FPEMU_FN __m512i codebook_from_buckets(const codebook_vectors *t, int finite, __m512i c, __mmask64 upper,
                                       const __m512 x[4])
{
    __m512i words[4], less[4];
    __mmask16 more[4];
    const __mmask64 odd = _mm512_movepi8_mask(c);
    const __m512i k = _mm512_mask_blend_epi8(upper, look_up(t->base, c, odd), look_up(t->base + 4, c, odd));
    look_up_words(t->thresholds, k, words);
    for (int v = 0; v < 4; v++)
        if (finite)
            less[v] = _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(words[v]), x[v]));
        else
            more[v] = _mm512_cmp_ps_mask(x[v], _mm512_castsi512_ps(words[v]), _CMP_GT_OQ);
    if (finite)
        return _mm512_mask_add_epi8(k, _mm512_movepi8_mask(pack_signs(less)), k, _mm512_set1_epi8(1));
    return _mm512_sub_epi8(k, pack_masks(more));
}

FPEMU_FN __m512i codebook_nearest(const core_planes *p, const codebook_vectors *t, int below, const __m512 x[4])
{
    __mmask64 upper;
    const __m512i c = codebook_buckets(p, t, below, x, &upper);
    return codebook_from_buckets(t, 0, c, upper, x);
}

enum codebook_quotient { CODEBOOK_ALONE, CODEBOOK_DIVIDED, CODEBOOK_QUICK };

/* Of 64 numbers at most that share a scale. */
typedef struct codebook_group {
    const char *in;
    char *out;
    size_t n;
    float down, inverse, scale;
} codebook_group;

/* A tile goes through the steps one by one: those of one group wait for each other, those of many do not. */
#define CODEBOOK_GROUPS 16
typedef struct codebook_tile {
    codebook_group groups[CODEBOOK_GROUPS];
    __m512 t[CODEBOOK_GROUPS][4];
    __m512i codes[CODEBOOK_GROUPS];
    __mmask64 upper[CODEBOOK_GROUPS];
} codebook_tile;

FPEMU_FN void codebook_quotients(const codebook_group *g, enum codebook_quotient form, int whole, __m512 t[4])
{
    const __m512 down = _mm512_set1_ps(g->down), inverse = _mm512_set1_ps(g->inverse);
    const __mmask64 some = g->n < 64 ? ~(~(__mmask64)0 << g->n) : ~(__mmask64)0;
    for (int v = 0; v < 4; v++) {
        const __m512 x = whole ? _mm512_loadu_ps(g->in + 64 * v)
                               : _mm512_maskz_loadu_ps((__mmask16)(some >> 16 * v), g->in + 64 * v);
        t[v] = form == CODEBOOK_DIVIDED ? _mm512_div_ps(x, down) : x;
        if (form == CODEBOOK_QUICK) { /* core_fast_quotient */
            const __m512 q = _mm512_mul_ps(x, inverse);
            t[v] = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, down, x), inverse, q);
        }
    }
}

/* Results of 64 numbers t from their values. */
FPEMU_FN void codebook_results(const codebook_group *g, const uint32_t nan[2], enum codebook_quotient form, int whole,
                               const __m512 t[4], const __m512i values[4])
{
    const __m512 scale = _mm512_set1_ps(g->scale), most = _mm512_set1_ps(FLT_MAX);
    const __mmask64 some = g->n < 64 ? ~(~(__mmask64)0 << g->n) : ~(__mmask64)0;
    __m512 y[4];
    for (int v = 0; v < 4; v++) {
        y[v] = _mm512_castsi512_ps(values[v]);
        if (form != CODEBOOK_ALONE)
            y[v] = _mm512_mul_ps(y[v], scale);
        if (form == CODEBOOK_DIVIDED) { /* values and scale are finite */
            y[v] = _mm512_max_ps(_mm512_min_ps(y[v], most), _mm512_sub_ps(_mm512_setzero_ps(), most));
        }
    }
    if (form == CODEBOOK_ALONE &&
        (_mm512_cmp_ps_mask(t[0], t[1], _CMP_UNORD_Q) | _mm512_cmp_ps_mask(t[2], t[3], _CMP_UNORD_Q)))
        for (int v = 0; v < 4; v++) {
            const __mmask16 is_nan = _mm512_cmp_ps_mask(t[v], t[v], _CMP_UNORD_Q);
            const __mmask16 below = _mm512_movepi32_mask(_mm512_castps_si512(t[v]));
            const __m512i of = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)nan[0]), below, (int)nan[1]);
            y[v] = _mm512_mask_mov_ps(y[v], is_nan, _mm512_castsi512_ps(of));
        }
    for (int v = 0; v < 4; v++)
        if (whole)
            _mm512_storeu_ps(g->out + 64 * v, y[v]);
        else
            _mm512_mask_storeu_ps(g->out + 64 * v, (__mmask16)(some >> 16 * v), y[v]);
}

/* whole: every group has 64. */
FPEMU_FN void codebook_run(const core_planes *p, const codebook_vectors *t, const uint32_t nan[2],
                           enum codebook_quotient form, int below, int words, int whole, int count, codebook_tile *tile)
{
    for (int i = 0; i < count; i++) {
        codebook_quotients(&tile->groups[i], form, whole, tile->t[i]);
        tile->codes[i] = (words ? codebook_buckets_words : codebook_buckets)(p, t, below, tile->t[i], &tile->upper[i]);
    }
    for (int i = 0; i < count; i++)
        tile->codes[i] = codebook_from_buckets(t, form == CODEBOOK_QUICK, tile->codes[i], tile->upper[i], tile->t[i]);
    for (int i = 0; i < count; i++) {
        __m512i values[4];
        look_up_words(t->values, tile->codes[i], values);
        codebook_results(&tile->groups[i], nan, form, whole, tile->t[i], values);
    }
}

FPEMU_FN __m512i low_words(__m512i a, __m512i b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)), _mm512_cvtepi32_epi16(b), 1);
}

FPEMU_FN void codebook_load(const core_planes *p, codebook_vectors *t)
{
    for (int k = 0; k < 8; k++)
        t->base[k] = _mm512_loadu_si512(p->base + 64 * k);
    for (int byte = 0; byte < 4; byte++)
        for (int k = 0; k < 4; k++) {
            t->thresholds[byte][k] = _mm512_loadu_si512(p->thresholds[byte] + 64 * k);
            t->values[byte][k] = _mm512_loadu_si512(p->values[byte] + 64 * k);
        }
    for (int k = 0; k < 2; k++) {
        t->shift[k] = _mm512_loadu_si512(p->shift + 16 * k);
        t->offset[k] = _mm512_loadu_si512(p->offset + 16 * k);
    }
    const __m512i less = _mm512_set1_epi32(16);
    t->word_shift = low_words(_mm512_sub_epi32(t->shift[0], less), _mm512_sub_epi32(t->shift[1], less));
    t->word_offset = low_words(t->offset[0], t->offset[1]);
}

/* `count` blocks of `length` numbers; alone: they have no scales. */
FPEMU_FN void codebook_blocks(const core_planes *p, const uint32_t nan[2], enum codebook_quotient form, int below,
                              int words, size_t length, size_t count, const float *down, const float *scales,
                              const char *x, char *y)
{
    codebook_vectors t;
    codebook_tile tile;
    int filled = 0, whole = 1;
    codebook_load(p, &t);
    for (size_t b = 0, at = 0; b < count; b++) {
        const float by = down ? down[b] : 1, inverse = 1 / by, scale = scales ? scales[b] : 1;
        for (size_t done = 0, m; done < length; done += m, at += m) {
            m = length - done < 64 ? length - done : 64;
            const codebook_group g = {x + 4 * at, y + 4 * at, m, by, inverse, scale};
            tile.groups[filled++] = g;
            whole &= m == 64;
            if (filled == CODEBOOK_GROUPS || (b + 1 == count && done + m == length)) {
                if (whole)
                    codebook_run(p, &t, nan, form, below, words, 1, filled, &tile);
                else
                    codebook_run(p, &t, nan, form, below, words, 0, filled, &tile);
                filled = 0;
                whole = 1;
            }
        }
    }
}

/* The usual cases as constants. */
FPEMU_FN void codebook_forms(const core_planes *p, const uint32_t nan[2], enum codebook_quotient form, size_t length,
                             size_t count, const float *down, const float *scales, const char *x, char *y)
{
    if (!p->words)
        codebook_blocks(p, nan, form, p->lowest != 0, 0, length, count, down, scales, x, y);
    else if (p->lowest)
        codebook_blocks(p, nan, form, 1, 1, length, count, down, scales, x, y);
    else
        codebook_blocks(p, nan, form, 0, 1, length, count, down, scales, x, y);
}

void fpemu_vbmi_codebook(const core_planes *p, const uint32_t nan[2], size_t n, const void *x, void *y)
{
    codebook_forms(p, nan, CODEBOOK_ALONE, n, 1, NULL, NULL, (const char *)x, (char *)y);
}

void fpemu_vbmi_codebook_runs(const core_planes *p, size_t length, size_t count, const float *down, const float *scales,
                              const void *x, void *y)
{
    int quick = p->quick;
    for (size_t b = 0; b < count; b++)
        quick &= core_few_holds(down[b]); /* which are the scales, or infinite */
    if (quick)
        codebook_forms(p, NULL, CODEBOOK_QUICK, length, count, down, scales, (const char *)x, (char *)y);
    else
        codebook_blocks(p, NULL, CODEBOOK_DIVIDED, p->lowest != 0, 0, length, count, down, scales, (const char *)x,
                        (char *)y);
}

/* What random bits need besides the tables: core_search_up has the rule. */
typedef struct codebook_ends {
    __m512 low, high, half;
} codebook_ends;

/* 64 numbers; bits of those that binary32 does not decide, and of NaN. The fraction is within 3 units of 2^-24 of that
 * of core_search_up, and what it is held against within one. */
FPEMU_FN __mmask64 codebook_random_64(const core_planes *p, const codebook_vectors *t, const codebook_ends *e,
                                      const __m512 x[4], const __m512i r[4], __m512 y[4])
{
    __m512 within[4];
    __m512i nearest[4], others[4];
    __mmask16 below[4], open[4];
    for (int v = 0; v < 4; v++)
        within[v] = _mm512_min_ps(_mm512_max_ps(x[v], e->low), e->high);
    const __m512i k = codebook_nearest(p, t, p->lowest != 0, within), one = _mm512_set1_epi8(1);
    look_up_words(t->values, k, nearest);
    for (int v = 0; v < 4; v++)
        below[v] = _mm512_cmp_ps_mask(within[v], _mm512_castsi512_ps(nearest[v]), _CMP_LT_OQ);
    const __mmask64 low = _mm512_movepi8_mask(pack_masks(below));
    const __m512i beside = _mm512_mask_sub_epi8(_mm512_add_epi8(k, one), low, k, one);
    look_up_words(t->values, beside, others);
    for (int v = 0; v < 4; v++) {
        const __m512 near = _mm512_castsi512_ps(nearest[v]), other = _mm512_castsi512_ps(others[v]);
        const __m512 a = _mm512_mask_mov_ps(near, below[v], other), b = _mm512_mask_mov_ps(other, below[v], near);
        const __m512 fraction = _mm512_div_ps(_mm512_sub_ps(within[v], a), _mm512_sub_ps(b, a));
        const __m512 bits = _mm512_cvtepu32_ps(r[v]);
        const __m512 left = _mm512_sub_ps(_mm512_fnmadd_ps(bits, _mm512_set1_ps(0x1p-32f), _mm512_set1_ps(1)), e->half);
        y[v] = _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(fraction, left, _CMP_GT_OQ), b);
        /* at the last value and beyond nothing lies above: no fraction, and not open */
        open[v] =
            _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_sub_ps(fraction, left)), _mm512_set1_ps(0x1p-21f), _CMP_LE_OQ) |
            _mm512_cmp_ps_mask(x[v], x[v], _CMP_UNORD_Q);
    }
    return join_masks(open);
}

void fpemu_vbmi_codebook_random(const core_planes *p, const core_codebook *table, size_t n, const void *x,
                                const uint32_t *r, void *y)
{
    codebook_vectors t;
    const double half = table->mode == FPEMU_MODE_SR ? 0 : 0.5 / (double)(UINT64_C(1) << table->n);
    const codebook_ends e = {_mm512_set1_ps(table->values[0]), _mm512_set1_ps(table->values[table->length - 1]),
                             _mm512_set1_ps((float)half)};
    codebook_load(p, &t);
    for (size_t i = 0; i < n; i += 64) {
        const size_t left = n - i;
        const __mmask64 some = left < 64 ? ~(~(__mmask64)0 << left) : ~(__mmask64)0;
        const char *in = (const char *)x + 4 * i;
        char *out = (char *)y + 4 * i;
        __m512 from[4], to[4];
        __m512i words[4];
        for (int v = 0; v < 4; v++) {
            const __mmask16 lanes = (__mmask16)(some >> 16 * v);
            from[v] = _mm512_maskz_loadu_ps(lanes, in + 64 * v);
            words[v] = _mm512_maskz_loadu_epi32(lanes, r + i + 16 * v);
        }
        __mmask64 open = codebook_random_64(p, &t, &e, from, words, to) & some;
        for (int v = 0; v < 4; v++)
            _mm512_mask_storeu_ps(out + 64 * v, (__mmask16)(some >> 16 * v), to[v]);
        for (; open; open &= open - 1) {
            const unsigned l = (unsigned)__builtin_ctzll(open);
            float number[64];
            memcpy(number, from, sizeof number);
            const uint32_t u = core_bits32(number[l]);
            const uint32_t v = core_codebook_value32(table, u, core_codebook_index32(table, u, r[i + l]));
            memcpy(out + 4 * l, &v, sizeof v);
        }
    }
}
