/* SPDX-License-Identifier: BSD-2-Clause */
/* words_codes.inc.c - codes of binary16 and bfloat16 words to nearest even, for AVX-512; included by variant.inc.c. Those
 * of floats are made of the words themselves, by core_words_codes, those of integers of numbers of binary32, which stay
 * in registers. tests/against_judges/narrow.c has all words of both types. */

/* 32 codes by core_words_codes; deep: `more` is 0, else `less` is. */
FPEMU_FN words words_codes_of(const core_words_codes *c, int bfloat, int deep, words x)
{
    const words a = word_and(x, word_all(0x7fff)), field = word_and(a, word_all(bfloat ? 0x7f80 : 0x7c00));
    const words before = _mm512_min_epu16(word_less(field, word_all(bfloat ? 0x80 : 0x400)), word_all(c->normal));
    const words v = word_sub(a, before), f = _mm512_srli_epi16(before, bfloat ? 7 : 10);
    const words g = deep ? word_less(f, word_all(c->less)) : word_add(f, word_all(c->more));
    const words d = word_sub(word_all(bfloat ? 9 : 12), g),
                half = _mm512_srlv_epi16(word_all(bfloat ? 0xff : 0x7ff), g);
    const words odd = word_and(_mm512_srlv_epi16(v, d), word_all(1));
    const words code = _mm512_srlv_epi16(word_add(word_add(v, half), odd), d);
    const words some = word_where(word_above(a, word_all(c->end)), word_all(c->past), code);
    const words signs = word_with_sign(some, word_down(x, c->to_sign), word_all(c->sign));
    return word_where(word_above(a, word_all(c->nan_end)), word_all(c->nan), signs);
}

/* 32 codes by core_direct_even_code, of at most 16 bits; held: both ends are words, as `ends` has them. */
FPEMU_FN words words_even_codes_of(const core_direct32 *d, int bfloat, int held, const words ends[2], words x)
{
    const __m512 low = _mm512_set1_ps(d->low), high = _mm512_set1_ps(d->high);
    const __m512 count = _mm512_set1_ps(core_value32(d->count));
    const words within = held ? word_between(x, ends[1], ends[0]) : x;
    __m512 first = word_first(within, bfloat), second = word_second(within, bfloat);
    if (!held) {
        first = _mm512_min_ps(_mm512_max_ps(first, low), high);
        second = _mm512_min_ps(_mm512_max_ps(second, low), high);
    }
    const words one = _mm512_castps_si512(_mm512_add_ps(first, count));
    const words other = _mm512_castps_si512(_mm512_add_ps(second, count));
    const words even = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24,
                                        22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const words sums = bfloat ? word_where(0xaaaaaaaa, _mm512_slli_epi32(other, 16), one)
                              : _mm512_permutex2var_epi16(one, even, other);
    const words code = word_and(word_add(sums, word_all(d->zero)), word_all(d->mask));
    return word_where(word_above(word_and(x, word_all(0x7fff)), word_all(bfloat ? 0x7f80 : 0x7c00)), word_all(d->nan),
                      code);
}

/* 32 of them in so many bits each; of 4 the first is the lower half of a byte. */
FPEMU_FN void words_store_codes(size_t bits, words codes, char *to)
{
    if (bits == 4)
        _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(word_or(codes, _mm512_srli_epi32(codes, 12))));
    else if (bits == 8)
        _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi16_epi8(codes));
    else
        _mm512_storeu_si512(to, codes);
}

/* All of an array by what `make` has of the words `from`. */
#define WORDS_ENCODE(make)                                                                                             \
    {                                                                                                                  \
        const size_t whole = n - n % 32;                                                                               \
        words from;                                                                                                    \
        for (size_t i = 0; i < whole; i += 32) {                                                                       \
            from = word_load(x + i);                                                                                   \
            words_store_codes(bits, make, out + i * bits / 8);                                                         \
        }                                                                                                              \
        if (whole < n) {                                                                                               \
            uint16_t rest[32] = {0};                                                                                   \
            char made[32 * sizeof(uint16_t)];                                                                          \
            memcpy(rest, x + whole, (n - whole) * sizeof *x);                                                          \
            from = word_load(rest);                                                                                    \
            words_store_codes(bits, make, made);                                                                       \
            memcpy(out + whole * bits / 8, made, (n - whole) * bits / 8);                                              \
        }                                                                                                              \
    }

FPEMU_FN int words_encode(const core_direct32 *direct, int bfloat, size_t bits, size_t n, const uint16_t *x, char *out)
{
    const core_direct32 d = *direct;
    core_words_codes c;
    uint16_t end[2] = {0, 0};
    if (d.even) {
        const int held = core_words_hold(bfloat, core_bits32(d.high), end) &&
                         core_words_hold(bfloat, core_bits32(d.low), end + 1) && d.low <= 0;
        const words ends[2] = {word_all(end[0]), word_all(end[1] | 0x8000)};
        if (held)
            WORDS_ENCODE(words_even_codes_of(&d, bfloat, 1, ends, from))
        else
            WORDS_ENCODE(words_even_codes_of(&d, bfloat, 0, ends, from))
        return 1;
    }
    if (!core_words_codes_make(&c, &d, bfloat))
        return 0;
    if (c.more == 0)
        WORDS_ENCODE(words_codes_of(&c, bfloat, 1, from))
    else
        WORDS_ENCODE(words_codes_of(&c, bfloat, 0, from))
    return 1;
}
#undef WORDS_ENCODE

static int encode_words(const core_direct32 *d, int bfloat, size_t bits, size_t n, const uint16_t *x, void *codes)
{
    char *const out = (char *)codes;
    switch (bits + (bfloat ? 1 : 0)) {
    case 4: return words_encode(d, 0, 4, n, x, out);
    case 5: return words_encode(d, 1, 4, n, x, out);
    case 8: return words_encode(d, 0, 8, n, x, out);
    case 9: return words_encode(d, 1, 8, n, x, out);
    case 16: return words_encode(d, 0, 16, n, x, out);
    case 17: return words_encode(d, 1, 16, n, x, out);
    default: return 0;
    }
}
