/* rng.c - random words for callers and for the array loops (rules: core/random.h). */
#include "internal.h"

static uint32_t word_of(unsigned generator, uint64_t seed, uint64_t stream, uint64_t j)
{
    if (generator == FPEMU_PHILOX) {
        uint32_t out[4];
        core_philox(seed, stream, (j >> 7) * 32 + (j & 31), out);
        return out[(j >> 5) & 3];
    }
    return core_hash_word(core_hash_keys(seed, stream, j >> 32), (uint32_t)j);
}

uint32_t fpemu_random_word(fpemu_generator generator, uint64_t seed, uint64_t stream, uint64_t j)
{
    return word_of((unsigned)generator, seed, stream, j);
}

/* Left-aligned in 32. */
uint32_t fpemu_element_bits(const fpemu_rounding *r, uint64_t index)
{
    const uint64_t i = r->offset + index;
    const int n = r->bits ? r->bits : 32, share = core_share(n);
    return core_field_top(share, n, word_of(r->generator, r->seed, r->stream, core_word_index(share, i)),
                          core_field_shift(share, i));
}

uint32_t fpemu_random_bits(const fpemu_rounding *rounding, uint64_t index)
{
    if (!rounding || rounding->bits > 32 || rounding->generator > FPEMU_PHILOX)
        return 0;
    return fpemu_element_bits(rounding, index) >> (32 - (rounding->bits ? rounding->bits : 32));
}

void fpemu_random_fill(const kernels *k, const fpemu_rounding *r, uint64_t i, size_t n, uint32_t *out)
{
    const int bits = r->bits ? r->bits : 32, share = core_share(bits);
    while (n > 0) {
      /* up to the next multiple of 2^32 the keys of the hash and the high halves of indices are constant; loops count
         * to 2^31 */
        const uint64_t left = (UINT64_C(1) << 31) - (i & 0x7fffffffu);
        const size_t m = n < left ? n : (size_t)left;
        if (r->generator == FPEMU_PHILOX)
            k->philox(r->seed, r->stream, share, bits, i, m, out);
        else
            k->hash(core_hash_keys(r->seed, r->stream, core_word_index(share, i) >> 32), share, bits, i, m, out);
        i += m;
        out += m;
        n -= m;
    }
}
