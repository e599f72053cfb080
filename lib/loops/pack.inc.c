/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.inc.c - numbers under scales to packed codes, to nearest even, 64 at a time: quotients and codes as
 * core_direct has them, of which vectors of 32-bit lanes need make the lowest 8 bits alone; included by variant.inc.c
 * for AVX-512. By hand: compilers take a step for every bit that falls away. */

/* What the lanes need of the form. */
typedef struct pack_form {
    __m512 low, high, count;       /* an even grid: its ends, and what counts */
    __m512i magnitude, field;      /* floats: masks */
    __m512i emin, up;              /* as in core_direct */
    __m512 end;                    /* the largest */
    __m128i drop;                  /* discarded bits */
    __m512i less, mask, sign, nan; /* of bytes */
} pack_form;

FPEMU_FN pack_form pack_begin(const core_direct32 *d)
{
    pack_form f;
    f.nan = _mm512_set1_epi8((char)d->nan);
    if (d->even) {
        f.low = _mm512_set1_ps(d->low);
        f.high = _mm512_set1_ps(d->high);
        f.count = _mm512_castsi512_ps(_mm512_set1_epi32((int)d->count));
        f.less = _mm512_set1_epi8((char)(0u - d->zero));
        f.mask = _mm512_set1_epi8((char)d->mask);
        return f;
    }
    f.magnitude = _mm512_set1_epi32(0x7fffffff);
    f.field = _mm512_set1_epi32((int)CORE_INF32);
    f.emin = _mm512_set1_epi32((int)d->emin);
    f.up = _mm512_set1_epi32((int)d->up);
    f.end = _mm512_castsi512_ps(_mm512_set1_epi32((int)d->end));
    f.drop = _mm_cvtsi32_si128((int)d->drop);
    f.less = _mm512_set1_epi8((char)(d->emin >> d->drop));
    f.sign = _mm512_set1_epi8((char)d->sign);
    return f;
}

/* The code of t in the lowest 8 bits, `less` too large and without its sign: what core_direct_code takes off besides
 * has none of these. The ends, which an element past them takes, come first. Not of a NaN. */
FPEMU_FN __m512i pack_codes_of(const pack_form *f, int even, __m512 t)
{
    if (even)
        return _mm512_castps_si512(_mm512_add_ps(_mm512_min_ps(_mm512_max_ps(t, f->low), f->high), f->count));
    const __m512 a = _mm512_min_ps(_mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(t), f->magnitude)), f->end);
    const __m512i e = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(a), f->field), f->emin);
    const __m512 sum = _mm512_add_ps(a, _mm512_castsi512_ps(_mm512_add_epi32(e, f->up)));
    return _mm512_add_epi32(_mm512_castps_si512(sum), _mm512_srl_epi32(e, f->drop));
}

/* The lowest bytes of four vectors. */
FPEMU_FN __m512i pack_low_bytes(const __m512i v[4])
{
    /* of two vectors: the words of the lanes in which packing below puts its bytes */
    const __m512i words = _mm512_set_epi16(62, 60, 58, 56, 46, 44, 42, 40, 54, 52, 50, 48, 38, 36, 34, 32, 30, 28, 26,
                                           24, 14, 12, 10, 8, 22, 20, 18, 16, 6, 4, 2, 0);
    const __m512i byte = _mm512_set1_epi16(255);
    const __m512i a = _mm512_permutex2var_epi16(v[0], words, v[1]), b = _mm512_permutex2var_epi16(v[2], words, v[3]);
    const __m512i bytes = _mm512_packus_epi16(_mm512_and_si512(a, byte), _mm512_and_si512(b, byte));
    return _mm512_permutexvar_epi32(_mm512_set_epi32(15, 11, 14, 10, 7, 3, 6, 2, 13, 9, 12, 8, 5, 1, 4, 0), bytes);
}

FPEMU_FN __mmask64 pack_join(const __mmask16 m[4])
{
    return _mm512_kunpackd(_mm512_kunpackw(m[3], m[2]), _mm512_kunpackw(m[1], m[0]));
}

/* 64 codes, a byte each, without gaps. */
FPEMU_FN void pack_store(int width, __m512i codes, unsigned char *bytes)
{
    if (width == 8) {
        _mm512_storeu_si512(bytes, codes);
    } else if (width == 4) {
        const __m512i two = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x1001));
        _mm256_storeu_si256((__m256i *)(void *)bytes, _mm512_cvtepi16_epi8(two));
    } else {
        const __m512i two = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x4001));
        const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(0x10000001));
        const __m512i order =
            _mm512_broadcast_i32x4(_mm_set_epi8(-1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0));
        const __m512i rows = _mm512_shuffle_epi8(four, order);
        const __m512i packed =
            _mm512_permutexvar_epi32(_mm512_set_epi32(15, 15, 15, 15, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0), rows);
        _mm512_mask_storeu_epi16(bytes, 0xffffff, packed);
    }
}

/* How t comes from x. */
enum pack_scale { PACK_TIMES, PACK_BY };

/* 64 numbers, each 16 under a scale of their own: the numbers down, down + next[0], ...; some: whose codes are not 0;
 * any: with NaN among them. */
FPEMU_FN void pack_64(const pack_form *f, int width, int even, enum pack_scale how, int any, const float *down,
                      const size_t next[4], __mmask64 some, const float *x, unsigned char *bytes)
{
    __m512i v[4];
    __mmask16 negative[4], nan[4];
    for (int k = 0; k < 4; k++) {
        const __m512 from = _mm512_loadu_ps(x + 16 * k), scale = _mm512_set1_ps(down[next[k]]);
        const __m512 t = how == PACK_BY ? _mm512_div_ps(from, scale) : _mm512_mul_ps(from, scale);
        v[k] = pack_codes_of(f, even, t);
        if (!even)
            negative[k] = _mm512_movepi32_mask(_mm512_castps_si512(t));
        if (any)
            nan[k] = _mm512_cmp_ps_mask(t, t, _CMP_UNORD_Q);
    }
    __m512i codes = _mm512_sub_epi8(pack_low_bytes(v), f->less);
    if (even)
        codes = _mm512_and_si512(codes, f->mask);
    else
        codes = _mm512_mask_add_epi8(codes, pack_join(negative), codes, f->sign);
    if (any)
        codes = _mm512_mask_mov_epi8(codes, pack_join(nan), f->nan);
    if (some != ~(__mmask64)0)
        codes = _mm512_maskz_mov_epi8(some, codes);
    pack_store(width, codes, bytes);
}

/* n numbers whose scales go on by next[4] every 64. What lies `ahead` is fetched meanwhile: the caller looks for the
 * largest there next, and that would wait for every line. */
FPEMU_FN void pack_stretch(const pack_form *f, int width, int even, enum pack_scale how, int any, size_t n,
                           const float *down, const size_t next[5], size_t ahead, const float *x, unsigned char *bytes)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64, bytes += width * 8, down += next[4]) {
        const uintptr_t later = (uintptr_t)(x + i) + ahead * sizeof *x;
        for (unsigned k = 0; k < 256; k += LINE)
            _mm_prefetch((const char *)(later + k), _MM_HINT_T0);
        pack_64(f, width, even, how, any, down, next, ~(__mmask64)0, x + i, bytes);
    }
    if (i < n) {
        const size_t left = n - i;
        const size_t within[4] = {0, left > 16 ? next[1] : 0, left > 32 ? next[2] : 0, left > 48 ? next[3] : 0};
        unsigned char some[64];
        float values[64] = {0};
        memcpy(values, x + i, left * sizeof *x);
        pack_64(f, width, even, how, any, down, within, ~(~(__mmask64)0 << left), values, some);
        memcpy(bytes, some, (left * (size_t)width + 7) / 8);
    }
}

FPEMU_FN void pack_runs(const core_direct32 *d, int width, int even, enum pack_scale how, int any, size_t length,
                        size_t count, const float *down, const float *x, unsigned char *bytes)
{
    static const size_t places[3][5] = {{0, 1, 2, 3, 4}, {0, 0, 1, 1, 2}, {0, 0, 0, 0, 0}};
    const pack_form f = pack_begin(d);
    if (count > 1 && length <= 32) {
        pack_stretch(&f, width, even, how, any, length * count, down, places[length == 32], length * count, x, bytes);
        return;
    }
    for (size_t b = 0; b < count; b++)
        pack_stretch(&f, width, even, how, any, length, down + b, places[2], length * count, x + b * length,
                     bytes + b * (length * (size_t)width / 8));
}

#define PACK_LOOP(width)                                                                                               \
    static void loop_pack_##width(const core_direct32 *d, int divide, int any, size_t length, size_t count,            \
                                  const float *down, const float *x, unsigned char *bytes)                             \
    {                                                                                                                  \
        switch ((d->even ? 4 : 0) + (divide ? 2 : 0) + (any ? 1 : 0)) {                                                \
        case 0: pack_runs(d, width, 0, PACK_TIMES, 0, length, count, down, x, bytes); break;                           \
        case 1: pack_runs(d, width, 0, PACK_TIMES, 1, length, count, down, x, bytes); break;                           \
        case 2: pack_runs(d, width, 0, PACK_BY, 0, length, count, down, x, bytes); break;                              \
        case 3: pack_runs(d, width, 0, PACK_BY, 1, length, count, down, x, bytes); break;                              \
        case 4: pack_runs(d, width, 1, PACK_TIMES, 0, length, count, down, x, bytes); break;                           \
        case 5: pack_runs(d, width, 1, PACK_TIMES, 1, length, count, down, x, bytes); break;                           \
        case 6: pack_runs(d, width, 1, PACK_BY, 0, length, count, down, x, bytes); break;                              \
        default: pack_runs(d, width, 1, PACK_BY, 1, length, count, down, x, bytes);                                    \
        }                                                                                                              \
    }
PACK_LOOP(4)
PACK_LOOP(6)
PACK_LOOP(8)
#undef PACK_LOOP
