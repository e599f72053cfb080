/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.inc.c - numbers under scales to packed codes, to nearest even, 64 at a time: quotients and codes as
 * core_direct has them, of which lanes of 32 bits need make the lowest 8 bits alone; included by variant.inc.c for
 * AVX2 and AVX-512, and by vbmi.c. By hand: compilers take a step for every bit that falls away. */

#ifdef __AVX512F__
#define PACK_LANES 16
#define PACK_VECTORS 4
#define PACK_PARTS 1
#define PACK_MOST_BINADES 32
typedef __m512 pack_floats;
typedef __m512i pack_lanes;
#define PACK_INT(name) _mm512_##name
#define PACK_CAST(v) _mm512_castps_si512(v)
#define PACK_UNCAST(v) _mm512_castsi512_ps(v)
#define PACK_AND _mm512_and_si512
#define PACK_OR _mm512_or_si512
#define PACK_LOAD(from) _mm512_loadu_si512(from)
FPEMU_FN __m512i pack_widen(int bfloat, const char *words)
{
    return widen_sixteen(bfloat, _mm256_loadu_si256((const __m256i *)(const void *)words));
}
#else
#define PACK_LANES 8
#define PACK_VECTORS 8
#define PACK_PARTS 2
#define PACK_MOST_BINADES 8
typedef __m256 pack_floats;
typedef __m256i pack_lanes;
#define PACK_INT(name) _mm256_##name
#define PACK_CAST(v) _mm256_castps_si256(v)
#define PACK_UNCAST(v) _mm256_castsi256_ps(v)
#define PACK_AND _mm256_and_si256
#define PACK_OR _mm256_or_si256
#define PACK_LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
FPEMU_FN __m256i pack_widen(int bfloat, const char *words)
{
    const __m128i w = _mm_loadu_si128((const __m128i *)(const void *)words);
    return bfloat ? _mm256_slli_epi32(_mm256_cvtepu16_epi32(w), 16) : _mm256_castps_si256(_mm256_cvtph_ps(w));
}
#endif

/* Which numbers the elements are: an even grid; floats; floats of few binades, whose sums a vector or two hold; floats
 * of so few that these go by cells of one width, of either sign. */
enum pack_kind { PACK_EVEN, PACK_FLOATS, PACK_BINADES, PACK_CELLS };

/* What the lanes need of the form. */
typedef struct pack_form {
    pack_floats low, high, count; /* an even grid: its ends, and what counts */
    pack_lanes magnitude, field;  /* floats: masks */
    pack_lanes emin, up;          /* as in core_direct; of binades the exponent alone */
    pack_floats end;              /* the largest */
    pack_floats sums[2];          /* of binades, by the lowest bits of the exponent: what to add to a magnitude */
    pack_floats per_cell;         /* of cells, whose sums are added to numbers: how many 1 has */
    __m128i drop;                 /* discarded bits */
    pack_lanes less, mask, nan;   /* of bytes; mask: of a code, or its sign */
} pack_form;

/* 64 codes, a byte each. */
typedef struct pack_codes {
    pack_lanes v[PACK_PARTS];
} pack_codes;

FPEMU_FN enum pack_kind pack_kind_of(const core_direct32 *d)
{
    if (d->even)
        return PACK_EVEN;
    if (d->drop < 23 && (d->end >> 23) - (d->emin >> 23) < PACK_MOST_BINADES)
        return PACK_BINADES;
    return PACK_FLOATS;
}

#ifdef __AVX512F__
/* Whether half the smallest binade is the width of such cells: every binade is some of them, and so is what lies past
 * the end. They are 32. */
FPEMU_FN int pack_has_cells(const core_direct32 *d)
{
    const uint32_t emin = d->emin >> 23, most = d->end >> 23;
    if (d->even || d->drop >= 23 || most < emin || most - emin > 2 || emin < 64 || emin > 192)
        return 0;
    const float cells = core_value32(d->end) / core_value32(d->emin) * 2;
    return cells == (float)(int)cells;
}

/* The sums of cells: as those of binades, with the sign, and in a negative one's code too; past the end so large a
 * number that it stays, with the end's code. */
FPEMU_FN void pack_cells_begin(const core_direct32 *d, pack_form *f)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i one = _mm512_set1_epi32(1), up = _mm512_set1_epi32((int)(d->emin + d->up));
    const __m512 width = _mm512_set1_ps(core_value32(d->emin) / 2);
    f->per_cell = _mm512_set1_ps(2 / core_value32(d->emin));
    for (int k = 0; k < 2; k++) {
        const __m512i from = k ? _mm512_sub_epi32(_mm512_set1_epi32(15), lane) : lane; /* its lower magnitude */
        const __mmask16 second = _mm512_cmpgt_epi32_mask(from, _mm512_set1_epi32(3)),
                        third = _mm512_cmpgt_epi32_mask(from, _mm512_set1_epi32(7));
        const __mmask16 past = _mm512_cmp_ps_mask(_mm512_mul_ps(_mm512_cvtepi32_ps(from), width),
                                                  _mm512_castsi512_ps(_mm512_set1_epi32((int)d->end)), _CMP_GE_OQ);
        const __m512i binade = _mm512_mask_add_epi32(_mm512_maskz_mov_epi32(second, one), third, one, one);
        const __m512i e = _mm512_slli_epi32(binade, 23);
        __m512i sum = _mm512_add_epi32(_mm512_add_epi32(e, up), _mm512_srl_epi32(e, _mm_cvtsi32_si128((int)d->drop)));
        sum = _mm512_mask_mov_epi32(sum, past, _mm512_set1_epi32((int)((d->emin + (33u << 23)) | (uint32_t)d->past)));
        if (k)
            sum = _mm512_add_epi32(sum, _mm512_set1_epi32((int)(0x80000000u | d->sign)));
        f->sums[k] = _mm512_castsi512_ps(sum);
    }
}
#endif

FPEMU_FN pack_form pack_begin(const core_direct32 *d, enum pack_kind kind)
{
    pack_form f;
#ifdef __AVX512F__
    if (kind == PACK_CELLS) {
        pack_cells_begin(d, &f);
        return f;
    }
#endif
    f.nan = PACK_INT(set1_epi8)((char)d->nan);
    if (kind == PACK_EVEN) {
        f.low = PACK_INT(set1_ps)(d->low);
        f.high = PACK_INT(set1_ps)(d->high);
        f.count = PACK_UNCAST(PACK_INT(set1_epi32)((int)d->count));
        f.less = PACK_INT(set1_epi8)((char)(0u - d->zero));
        f.mask = PACK_INT(set1_epi8)((char)d->mask);
        return f;
    }
    f.end = PACK_UNCAST(PACK_INT(set1_epi32)((int)d->end));
    f.drop = _mm_cvtsi32_si128((int)d->drop);
    f.mask = PACK_INT(set1_epi8)((char)d->sign);
    f.magnitude = PACK_INT(set1_epi32)(0x7fffffff);
    if (kind == PACK_BINADES) {
        /* the code is counted in the sums already: an even number of steps, and so ties stay where they are */
#ifdef __AVX512F__
        const pack_lanes lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#else
        const pack_lanes lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
#endif
        const pack_lanes up = PACK_INT(set1_epi32)((int)(d->emin + d->up));
        f.emin = PACK_INT(set1_epi32)((int)(d->emin >> 23));
        for (int k = 0; k < PACK_MOST_BINADES / PACK_LANES; k++) {
            const pack_lanes from =
                PACK_INT(sub_epi32)(PACK_INT(add_epi32)(lane, PACK_INT(set1_epi32)(PACK_LANES * k)), f.emin);
            const pack_lanes few = PACK_AND(from, PACK_INT(set1_epi32)(PACK_MOST_BINADES - 1));
            const pack_lanes e = PACK_INT(slli_epi32)(few, 23);
            f.sums[k] = PACK_UNCAST(PACK_INT(add_epi32)(PACK_INT(add_epi32)(e, up), PACK_INT(srl_epi32)(e, f.drop)));
        }
        return f;
    }
    f.field = PACK_INT(set1_epi32)((int)CORE_INF32);
    f.emin = PACK_INT(set1_epi32)((int)d->emin);
    f.up = PACK_INT(set1_epi32)((int)d->up);
    f.less = PACK_INT(set1_epi8)((char)(d->emin >> d->drop));
    return f;
}

/* The code of t in the lowest 8 bits, without its sign and, but for binades, `less` too large: what core_direct_code
 * takes off besides has none of these. The ends, which an element past them takes, come first. Not of a NaN. */
FPEMU_FN pack_lanes pack_codes_of(const pack_form *f, enum pack_kind kind, pack_floats t)
{
    if (kind == PACK_EVEN)
        return PACK_CAST(PACK_INT(add_ps)(PACK_INT(min_ps)(PACK_INT(max_ps)(t, f->low), f->high), f->count));
#ifdef __AVX512F__
    if (kind == PACK_CELLS) { /* 5 bits: the cell below, so that it is another on either side of 0 */
        const __m512 sum =
            _mm512_fmadd_round_ps(t, f->per_cell, _mm512_set1_ps(0x1.8p23f), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        return _mm512_castps_si512(
            _mm512_add_ps(t, _mm512_permutex2var_ps(f->sums[0], _mm512_castps_si512(sum), f->sums[1])));
    }
    if (kind == PACK_BINADES) {
        const __m512 a = _mm512_range_ps(t, f->end, 10); /* the smaller magnitude */
        const __m512i e = _mm512_max_epi32(_mm512_srli_epi32(_mm512_castps_si512(a), 23), f->emin);
        return _mm512_castps_si512(_mm512_add_ps(a, _mm512_permutex2var_ps(f->sums[0], e, f->sums[1])));
    }
#endif
    const pack_floats a = PACK_INT(min_ps)(PACK_UNCAST(PACK_AND(PACK_CAST(t), f->magnitude)), f->end);
#ifndef __AVX512F__
    if (kind == PACK_BINADES) {
        const __m256i e = _mm256_max_epi32(_mm256_srli_epi32(_mm256_castps_si256(a), 23), f->emin);
        return _mm256_castps_si256(_mm256_add_ps(a, _mm256_permutevar8x32_ps(f->sums[0], e)));
    }
#endif
    const pack_lanes e = PACK_INT(max_epi32)(PACK_AND(PACK_CAST(a), f->field), f->emin);
    const pack_floats sum = PACK_INT(add_ps)(a, PACK_UNCAST(PACK_INT(add_epi32)(e, f->up)));
    return PACK_INT(add_epi32)(PACK_CAST(sum), PACK_INT(srl_epi32)(e, f->drop));
}

#ifdef __AVX512VBMI__
/* Byte number `byte` of all lanes. */
FPEMU_FN __m512i pack_lane_bytes(const __m512i v[4], int byte)
{
    const __m512i lowest = _mm512_set_epi32(0x7c787470, 0x6c686460, 0x5c585450, 0x4c484440, 0x3c383430, 0x2c282420,
                                            0x1c181410, 0x0c080400, 0x7c787470, 0x6c686460, 0x5c585450, 0x4c484440,
                                            0x3c383430, 0x2c282420, 0x1c181410, 0x0c080400);
    const __m512i places = _mm512_add_epi8(lowest, _mm512_set1_epi8((char)byte));
    const __m512i a = _mm512_permutex2var_epi8(v[0], places, v[1]), b = _mm512_permutex2var_epi8(v[2], places, v[3]);
    return _mm512_mask_blend_epi64(0xf0, a, b);
}

FPEMU_FN pack_codes pack_low_bytes(const __m512i v[4])
{
    const pack_codes c = {{pack_lane_bytes(v, 0)}};
    return c;
}

/* Bytes with the signs of all lanes. */
FPEMU_FN pack_codes pack_sign_bytes(const __m512i v[4])
{
    const pack_codes c = {{pack_lane_bytes(v, 3)}};
    return c;
}
#elif defined(__AVX512F__)
/* Words, the lower ones or, with 1, the upper: of two vectors those in which packing below puts its bytes. */
FPEMU_FN __m512i pack_words(__m512i a, __m512i b, int upper)
{
    const __m512i words = _mm512_set_epi16(62, 60, 58, 56, 46, 44, 42, 40, 54, 52, 50, 48, 38, 36, 34, 32, 30, 28, 26,
                                           24, 14, 12, 10, 8, 22, 20, 18, 16, 6, 4, 2, 0);
    return _mm512_permutex2var_epi16(a, _mm512_add_epi16(words, _mm512_set1_epi16((short)upper)), b);
}

FPEMU_FN pack_codes pack_in_order(__m512i bytes)
{
    const __m512i order = _mm512_set_epi32(15, 11, 14, 10, 7, 3, 6, 2, 13, 9, 12, 8, 5, 1, 4, 0);
    const pack_codes c = {{_mm512_permutexvar_epi32(order, bytes)}};
    return c;
}

FPEMU_FN pack_codes pack_low_bytes(const __m512i v[4])
{
    const __m512i byte = _mm512_set1_epi16(255);
    const __m512i a = pack_words(v[0], v[1], 0), b = pack_words(v[2], v[3], 0);
    return pack_in_order(_mm512_packus_epi16(_mm512_and_si512(a, byte), _mm512_and_si512(b, byte)));
}

/* Bytes with the signs of all lanes. */
FPEMU_FN pack_codes pack_sign_bytes(const __m512i v[4])
{
    return pack_in_order(_mm512_packs_epi16(pack_words(v[0], v[1], 1), pack_words(v[2], v[3], 1)));
}
#else
FPEMU_FN __m256i pack_in_order(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

FPEMU_FN pack_codes pack_low_bytes(const __m256i v[8])
{
    const __m256i byte = _mm256_set1_epi32(255);
    pack_codes c;
    for (int k = 0; k < 2; k++) {
        __m256i low[4];
        for (int i = 0; i < 4; i++)
            low[i] = _mm256_and_si256(v[4 * k + i], byte);
        c.v[k] = pack_in_order(
            _mm256_packus_epi16(_mm256_packus_epi32(low[0], low[1]), _mm256_packus_epi32(low[2], low[3])));
    }
    return c;
}

/* Bytes with the signs of all lanes, or their integers where bytes hold them. */
FPEMU_FN pack_codes pack_sign_bytes(const __m256i v[8])
{
    pack_codes c;
    for (int k = 0; k < 2; k++)
        c.v[k] = pack_in_order(_mm256_packs_epi16(_mm256_packs_epi32(v[4 * k], v[4 * k + 1]),
                                                  _mm256_packs_epi32(v[4 * k + 2], v[4 * k + 3])));
    return c;
}
#endif

/* 64 codes, a byte each, without gaps. */
FPEMU_FN void pack_store(int width, const pack_codes *codes, unsigned char *bytes)
{
#ifdef __AVX512F__
    const __m512i c = codes->v[0];
    if (width == 8) {
        _mm512_storeu_si512(bytes, c);
    } else if (width == 4) {
        const __m512i two = _mm512_maddubs_epi16(c, _mm512_set1_epi16(0x1001));
        _mm256_storeu_si256((__m256i *)(void *)bytes, _mm512_cvtepi16_epi8(two));
    } else {
        const __m512i two = _mm512_maddubs_epi16(c, _mm512_set1_epi16(0x4001));
        const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(0x10000001));
        const __m512i order =
            _mm512_broadcast_i32x4(_mm_set_epi8(-1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0));
        const __m512i rows = _mm512_shuffle_epi8(four, order);
        const __m512i packed =
            _mm512_permutexvar_epi32(_mm512_set_epi32(15, 15, 15, 15, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0), rows);
        _mm512_mask_storeu_epi16(bytes, 0xffffff, packed);
    }
#else
    __m256i part[2];
    if (width == 4) {
        for (int k = 0; k < 2; k++)
            part[k] = _mm256_maddubs_epi16(codes->v[k], _mm256_set1_epi16(0x1001));
        const __m256i low = _mm256_set1_epi16(255);
        const __m256i all = _mm256_packus_epi16(_mm256_and_si256(part[0], low), _mm256_and_si256(part[1], low));
        _mm256_storeu_si256((__m256i *)(void *)bytes, _mm256_permute4x64_epi64(all, _MM_SHUFFLE(3, 1, 2, 0)));
        return;
    }
    for (int k = 0; k < 2; k++) {
        if (width == 8) {
            _mm256_storeu_si256((__m256i *)(void *)(bytes + 32 * k), codes->v[k]);
            continue;
        }
        const __m256i two = _mm256_maddubs_epi16(codes->v[k], _mm256_set1_epi16(0x4001));
        const __m256i four = _mm256_madd_epi16(two, _mm256_set1_epi32(0x10000001));
        const __m256i order =
            _mm256_broadcastsi128_si256(_mm_set_epi8(-1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0));
        const __m256i rows = _mm256_shuffle_epi8(four, order);
        const __m256i packed = _mm256_permutevar8x32_epi32(rows, _mm256_set_epi32(7, 7, 6, 5, 4, 2, 1, 0));
        _mm_storeu_si128((__m128i *)(void *)(bytes + 24 * k), _mm256_castsi256_si128(packed));
        _mm_storel_epi64((__m128i *)(void *)(bytes + 24 * k + 16), _mm256_extracti128_si256(packed, 1));
    }
#endif
}

/* How t comes from x: by a multiplier, by a divisor, by a divisor and its inverse as core_fast_quotient has it. */
enum pack_scale { PACK_TIMES, PACK_BY, PACK_INVERSE };

/* What is fetched ahead at most. */
#define PACK_AHEAD 4096

/* One scale or divisor for each block, and the inverses of these. */
typedef struct pack_scales {
    const float *down, *inverse;
} pack_scales;

/* 64 numbers, or words as numbers. */
FPEMU_FN void pack_load(enum unpack_type type, const char *x, pack_floats v[PACK_VECTORS])
{
    if (type == UNPACK_FLOATS)
        for (int k = 0; k < PACK_VECTORS; k++)
            v[k] = PACK_INT(loadu_ps)((const float *)(const void *)(x + 4 * PACK_LANES * k));
    else
        for (int k = 0; k < PACK_VECTORS; k++)
            v[k] = PACK_UNCAST(pack_widen(type == UNPACK_BF16, x + 2 * PACK_LANES * k));
}

/* 64 numbers, each 16 under a scale of their own: the numbers at, at + next[0], ...; left: the codes of those that
 * follow are 0; any: with NaN among them; *least: of cells the least quotients so far, as integers. */
FPEMU_FN void pack_64(const pack_form *f, int width, enum pack_kind kind, enum pack_scale how, int any,
                      const pack_scales *s, size_t at, const size_t next[4], size_t left, enum unpack_type type,
                      const char *x, unsigned char *bytes, pack_lanes *least)
{
    pack_lanes v[PACK_VECTORS], to[PACK_VECTORS], from[PACK_VECTORS];
    pack_floats numbers[PACK_VECTORS];
#ifdef __AVX512F__
    __mmask16 nan[PACK_VECTORS];
#else
    __m256i nan[PACK_VECTORS];
#endif
    pack_load(type, x, numbers);
    for (int k = 0; k < PACK_VECTORS; k++) {
        const size_t b = at + next[k * PACK_LANES / 16];
        const pack_floats one = numbers[k], scale = PACK_INT(set1_ps)(s->down[b]);
        pack_floats t;
        if (how == PACK_BY) {
            t = PACK_INT(div_ps)(one, scale);
        } else if (how == PACK_INVERSE) {
            const pack_floats inverse = PACK_INT(set1_ps)(s->inverse[b]), q = PACK_INT(mul_ps)(one, inverse);
            t = PACK_INT(fmadd_ps)(PACK_INT(fnmadd_ps)(q, scale, one), inverse, q);
        } else {
            t = PACK_INT(mul_ps)(one, scale);
        }
        v[k] = pack_codes_of(f, kind, t);
        from[k] = PACK_CAST(one);
        to[k] = PACK_CAST(t);
#ifdef __AVX512F__
        if (any)
            nan[k] = _mm512_cmp_ps_mask(t, t, _CMP_UNORD_Q);
#else
        if (any)
            nan[k] = PACK_CAST(_mm256_cmp_ps(t, t, _CMP_UNORD_Q));
#endif
    }
    if (kind == PACK_CELLS) /* by twos, so that one of four waits for what came before */
        *least = PACK_INT(min_epi32)(
            *least, PACK_INT(min_epi32)(PACK_INT(min_epi32)(to[0], to[1]), PACK_INT(min_epi32)(to[2], to[3])));
    pack_codes codes = pack_low_bytes(v);
    if (kind == PACK_BINADES || kind == PACK_FLOATS) { /* no scale turns a sign */
        const pack_codes signs = pack_sign_bytes(from);
        for (int k = 0; k < PACK_PARTS; k++) {
            if (kind == PACK_FLOATS)
                codes.v[k] = PACK_INT(sub_epi8)(codes.v[k], f->less);
            const pack_lanes sign = width == 8 ? signs.v[k] : PACK_INT(srli_epi16)(signs.v[k], (8 - width) & 7);
            codes.v[k] = PACK_OR(codes.v[k], PACK_AND(sign, f->mask));
        }
    } else if (kind == PACK_EVEN) {
        for (int k = 0; k < PACK_PARTS; k++)
            codes.v[k] = PACK_AND(PACK_INT(sub_epi8)(codes.v[k], f->less), f->mask);
    }
    if (any) {
#ifdef __AVX512F__
        const __mmask64 all = _mm512_kunpackd(_mm512_kunpackw(nan[3], nan[2]), _mm512_kunpackw(nan[1], nan[0]));
        codes.v[0] = _mm512_mask_mov_epi8(codes.v[0], all, f->nan);
#else
        const pack_codes all = pack_low_bytes(nan);
        for (int k = 0; k < PACK_PARTS; k++)
            codes.v[k] = _mm256_blendv_epi8(codes.v[k], f->nan, all.v[k]);
#endif
    }
    if (left < 64) {
        unsigned char some[64 + 64];
        memset(some, 255, 64);
        memset(some + 64, 0, 64);
        for (int k = 0; k < PACK_PARTS; k++)
            codes.v[k] = PACK_AND(codes.v[k], PACK_LOAD(some + 64 - left + 64 / PACK_PARTS * k));
    }
    pack_store(width, &codes, bytes);
}

/* n numbers whose scales go on by next[4] every 64. What lies `ahead` is fetched meanwhile: the caller looks for the
 * largest there next, and that would wait for every line. */
FPEMU_FN void pack_stretch(const pack_form *f, int width, enum pack_kind kind, enum pack_scale how, int any, size_t n,
                           const pack_scales *s, size_t at, const size_t next[5], size_t ahead, enum unpack_type type,
                           const char *x, unsigned char *bytes, pack_lanes *least)
{
    const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t);
    size_t i = 0;
    for (; i + 64 <= n; i += 64, bytes += width * 8, at += next[4], x += 64 * size) {
        const uintptr_t later = (uintptr_t)x + ahead * size;
        for (size_t k = 0; k < 64 * size; k += 128) {
            _mm_prefetch((const char *)(later + k), _MM_HINT_T0);
            _mm_prefetch((const char *)(later + k + 64), _MM_HINT_T0);
        }
        pack_64(f, width, kind, how, any, s, at, next, 64, type, x, bytes, least);
    }
    if (i < n) {
        const size_t left = n - i;
        const size_t within[4] = {0, left > 16 ? next[1] : 0, left > 32 ? next[2] : 0, left > 48 ? next[3] : 0};
        unsigned char some[64];
        char values[64 * sizeof(float)] = {0};
        memcpy(values, x, left * size);
        pack_64(f, width, kind, how, any, s, at, within, left, type, values, some, least);
        memcpy(bytes, some, (left * (size_t)width + 7) / 8);
    }
}

/* 0 if there is a -0 among cells: its code may be that of 0. */
FPEMU_FN int pack_runs(const core_direct32 *d, int width, enum pack_kind kind, enum pack_scale how, int any,
                       size_t length, size_t count, const pack_scales *s, enum unpack_type type, const char *x,
                       unsigned char *bytes)
{
    static const size_t places[3][5] = {{0, 1, 2, 3, 4}, {0, 0, 1, 1, 2}, {0, 0, 0, 0, 0}};
    const pack_form f = pack_begin(d, kind);
    const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t);
    const size_t ahead = length * count < PACK_AHEAD ? length * count : PACK_AHEAD;
    pack_lanes least = PACK_INT(set1_epi32)(0);
    if (!any && count > 1 && length == 16) { /* places as constants */
        pack_stretch(&f, width, kind, how, any, length * count, s, 0, places[0], ahead, type, x, bytes, &least);
    } else if (!any && count > 1 && length == 32) {
        pack_stretch(&f, width, kind, how, any, length * count, s, 0, places[1], ahead, type, x, bytes, &least);
    } else {
        for (size_t b = 0; b < count; b++)
            pack_stretch(&f, width, kind, how, any, length, s, b, places[2], ahead, type, x + b * length * size,
                         bytes + b * (length * (size_t)width / 8), &least);
    }
#ifdef __AVX512F__
    if (kind == PACK_CELLS)
        return _mm512_cmpeq_epi32_mask(least, _mm512_set1_epi32(INT32_MIN)) == 0;
#endif
    return 1;
}

#ifdef __AVX512F__
/* Whether no quotient of blocks with these largest magnitudes lies past all cells. */
FPEMU_FN int pack_cells_hold(const core_direct32 *d, size_t count, const uint32_t *amax, const float *down)
{
    const __m512i end = _mm512_castps_si512(_mm512_set1_ps(8 * core_value32(d->emin)));
    __m512i most = _mm512_setzero_si512(); /* as integers: a NaN is larger */
    size_t b = 0;
    for (; b + 16 <= count; b += 16)
        most = _mm512_max_epu32(
            most, _mm512_castps_si512(_mm512_mul_ps(_mm512_loadu_ps(amax + b), _mm512_loadu_ps(down + b))));
    const __mmask16 some = (__mmask16)((1u << (count - b)) - 1);
    const __m512 rest = _mm512_mul_ps(_mm512_maskz_loadu_ps(some, amax + b), _mm512_maskz_loadu_ps(some, down + b));
    return _mm512_cmpge_epu32_mask(_mm512_max_epu32(most, _mm512_castps_si512(rest)), end) == 0;
}
#endif

#ifdef __AVX512F__
#define PACK_OTHERS(width)                                                                                             \
    case PACK_FLOATS:                                                                                                  \
        if (divide)                                                                                                    \
            PACK_RUNS(width, PACK_FLOATS, PACK_BY, 1);                                                                 \
        else                                                                                                           \
            PACK_RUNS(width, PACK_FLOATS, PACK_TIMES, 1);                                                              \
        break;
#else
#define PACK_OTHERS(width)                                                                                             \
    case PACK_FLOATS: PACK_KIND(width, PACK_FLOATS);
#endif

#define PACK_RUNS(width, kind, how, any)                                                                               \
    pack_runs(d, width, kind, how, any, length, count, &s, type, (const char *)x, bytes)
#define PACK_KIND(width, kind)                                                                                         \
    if (divide && (any || !s.inverse))                                                                                 \
        PACK_RUNS(width, kind, PACK_BY, 1);                                                                            \
    else if (divide)                                                                                                   \
        PACK_RUNS(width, kind, PACK_INVERSE, 0);                                                                       \
    else if (any)                                                                                                      \
        PACK_RUNS(width, kind, PACK_TIMES, 1);                                                                         \
    else                                                                                                               \
        PACK_RUNS(width, kind, PACK_TIMES, 0);                                                                         \
    break

#ifdef __AVX512F__
#define PACK_BY_CELLS(width)                                                                                           \
    if ((width) != 8 && !divide && amax && pack_has_cells(d) && pack_cells_hold(d, count, amax, s.down) &&             \
        PACK_RUNS(width, PACK_CELLS, PACK_TIMES, 0))                                                                   \
    return
#else
#define PACK_BY_CELLS(width) (void)0
#endif

/* Floats apart: their loops would lose by asking what they are. */
#define PACK_LOOP(width)                                                                                               \
    FPEMU_FN void pack_as_##width(const core_direct32 *d, int divide, const uint32_t *amax, size_t length,             \
                                  size_t count, const pack_scales s, enum unpack_type type, const void *x,             \
                                  unsigned char *bytes)                                                                \
    {                                                                                                                  \
        const int any = amax == NULL;                                                                                  \
        PACK_BY_CELLS(width);                                                                                          \
        switch (pack_kind_of(d)) {                                                                                     \
        case PACK_EVEN: PACK_KIND(width, PACK_EVEN); PACK_OTHERS(width)                                                \
        default: PACK_KIND(width, PACK_BINADES);                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    PACK_STATIC void PACK_NAME(width)(const core_direct32 *d, int divide, const uint32_t *amax, size_t length,         \
                                      size_t count, const float *down, const float *inverse, enum unpack_type type,    \
                                      const void *x, unsigned char *bytes)                                             \
    {                                                                                                                  \
        const pack_scales s = {down, inverse};                                                                         \
        if (type == UNPACK_FLOATS)                                                                                     \
            pack_as_##width(d, divide, amax, length, count, s, UNPACK_FLOATS, x, bytes);                               \
        else                                                                                                           \
            pack_as_##width(d, divide, amax, length, count, s, type, x, bytes);                                        \
    }

#ifdef __AVX512VBMI__
#define PACK_STATIC
#define PACK_NAME(width) fpemu_vbmi_pack_##width
#else
#define PACK_STATIC static
#define PACK_NAME(width) loop_pack_##width
#endif
PACK_LOOP(4)
PACK_LOOP(6)
PACK_LOOP(8)
#undef PACK_LOOP
#undef PACK_BY_CELLS
#undef PACK_KIND
#undef PACK_RUNS
