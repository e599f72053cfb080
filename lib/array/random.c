/* SPDX-License-Identifier: BSD-2-Clause */
/* random.c - random words for callers and for the array loops (rules: core/random.h). */
#include "array.h"

uint32_t fpemu_random_word(fpemu_generator generator, uint64_t seed, uint64_t stream, uint64_t j)
{
    return core_random_word(generator == FPEMU_GENERATOR_PHILOX, seed, stream, j);
}

/* Left-aligned in 32. */
uint32_t fpemu_element_bits(const fpemu_rounding *r, uint64_t index)
{
    return core_random_bits(r->generator == FPEMU_GENERATOR_PHILOX, r->seed, r->stream, r->bits ? r->bits : 32,
                            r->offset + index);
}

uint32_t fpemu_random_bits(const fpemu_rounding *rounding, uint64_t index)
{
    if (!rounding || rounding->bits > 32 || rounding->generator > FPEMU_GENERATOR_PHILOX)
        return 0;
    return fpemu_element_bits(rounding, index) >> (32 - (rounding->bits ? rounding->bits : 32));
}

void fpemu_random_fill(const kernels *k, const fpemu_rounding *r, uint64_t i, size_t n, uint32_t *out)
{
    const int bits = r->bits ? r->bits : 32, per_word = core_per_word(bits);
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
