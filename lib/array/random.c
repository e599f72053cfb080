/* SPDX-License-Identifier: BSD-2-Clause */
/* random.c - random words for callers and for the array loops (rules: core/random.h). */
#include "array.h"

uint32_t fpemu_random_word(fpemu_generator generator, uint64_t seed, uint64_t stream, uint64_t j)
{
    return core_random_word(generator == FPEMU_GENERATOR_PHILOX, seed, stream, j);
}

/* The bits that element i has of the caller's words, left-aligned in 32. */
static uint32_t bits_of_words(const fpemu_rounding *r, uint64_t i)
{
    const uint32_t n = r->bits ? r->bits : 32;
    const int share = r->layout; /* log2 of how many elements share a word */
    uint32_t w = r->words[i >> share];
    if (share == 0)
        return w & (uint32_t)(~UINT64_C(0) << (32 - n));
    w = (share == 1 ? i & 1 : i >> 1 & 1) ? w >> 16 : w & 0xffff;
    if (share == 1)
        return w << (32 - n);
    uint32_t reversed = 0;
    for (int k = 0; k < 16; k++)
        reversed |= (w >> k & 1) << (15 - k);
    return ((i & 1 ? reversed : w) << 16) & (uint32_t)(~UINT64_C(0) << (32 - n));
}

/* Left-aligned in 32. */
uint32_t fpemu_element_bits(const fpemu_rounding *r, uint64_t index)
{
    if (r->generator == FPEMU_GENERATOR_WORDS)
        return bits_of_words(r, r->offset + index);
    return core_random_bits(r->generator == FPEMU_GENERATOR_PHILOX, r->seed, r->stream, r->bits ? r->bits : 32,
                            r->offset + index);
}

uint32_t fpemu_random_bits(const fpemu_rounding *rounding, uint64_t index)
{
    if (!rounding || rounding->bits > 32 || rounding->generator > FPEMU_GENERATOR_WORDS ||
        rounding->layout > FPEMU_WORDS_PTX_X4 || (rounding->generator == FPEMU_GENERATOR_WORDS && !rounding->words))
        return 0;
    return fpemu_element_bits(rounding, index) >> (32 - (rounding->bits ? rounding->bits : 32));
}

void fpemu_random_fill(const kernels *k, const fpemu_rounding *r, uint64_t i, size_t n, uint32_t *out)
{
    const int bits = r->bits ? r->bits : 32, per_word = core_per_word(bits);
    if (r->generator == FPEMU_GENERATOR_WORDS) {
        for (size_t at = 0; at < n; at++)
            out[at] = bits_of_words(r, i + at);
        return;
    }
    while (n > 0) {
        /* up to the next multiple of 2^32 the keys of the hash and the high halves of indices are constant; loops count
         * to 2^31 */
        const uint64_t left = (UINT64_C(1) << 31) - (i & 0x7fffffffu);
        const size_t m = n < left ? n : (size_t)left;
        if (r->generator == FPEMU_GENERATOR_PHILOX)
            k->philox(r->seed, r->stream, per_word, bits, i, m, out);
        else
            k->hash(core_hash_keys(r->seed, r->stream, core_word_index(per_word, i) >> 32), per_word, bits, i, m, out);
        i += m;
        out += m;
        n -= m;
    }
}
