/* SPDX-License-Identifier: BSD-2-Clause */
/* random.h - random word j of a stream, and which of its bits an element uses.
 *
 * A word is a pure function of (seed, stream, j): threads, vector width, call splitting and device cannot change it.
 * doc/numerics.md states both generators and the mapping, with test values. */
#ifndef FPEMU_CORE_RANDOM_H
#define FPEMU_CORE_RANDOM_H

#include "port.h"

#define CORE_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
FPEMU_FN uint64_t core_mix(uint64_t z)
{
    z ^= z >> 30;
    z *= UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    z *= UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z;
}

/* Keys of the hash for the 2^32 words with high half `high`. */
typedef struct core_hash_key {
    uint32_t k0, k1;
} core_hash_key;

FPEMU_FN core_hash_key core_hash_keys(uint64_t seed, uint64_t stream, uint64_t high)
{
    const uint64_t b = core_mix(core_mix(seed + CORE_GOLDEN) ^ stream);
    core_hash_key k;
    k.k0 = (uint32_t)(core_mix(b + (2 * high + 1) * CORE_GOLDEN) >> 32);
    k.k1 = (uint32_t)(core_mix(b + (2 * high + 2) * CORE_GOLDEN) >> 32);
    return k;
}

/* The hash's first step is an exclusive or of the index with this lead, the same for all indices that differ only in
 * their low 17 bits: for so many words. */
#define CORE_LEAD_WORDS 131072u

FPEMU_FN uint32_t core_hash_lead(core_hash_key k, uint32_t low)
{
    return k.k0 ^ k.k0 >> 17 ^ low >> 17;
}

/* The steps after it: a product, and the steps after that. */
#define CORE_HASH_FIRST 0xed5ad4bbu
FPEMU_FN uint32_t core_hash_last(core_hash_key k, uint32_t x)
{
    x ^= (x >> 11) ^ k.k1;
    x *= 0xac4c1b51u;
    x ^= x >> 15;
    x *= 0x31848babu;
    x ^= x >> 14;
    return x;
}

FPEMU_FN uint32_t core_hash_rest(core_hash_key k, uint32_t x)
{
    return core_hash_last(k, x * CORE_HASH_FIRST);
}

/* Bijection of the low half of j, keyed at both ends (constants: triple32, Wellons 2018). */
FPEMU_FN uint32_t core_hash_word(core_hash_key k, uint32_t low)
{
    return core_hash_rest(k, low ^ core_hash_lead(k, low)); /* of y = low ^ k0: y ^ y >> 17 */
}

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): the words that a counter begins with, one round of ten, and the four
 * outputs of one counter. */
FPEMU_FN void core_philox_begin(uint64_t stream, uint64_t counter, uint32_t *c0, uint32_t *c1, uint32_t *c2,
                                uint32_t *c3)
{
    *c0 = (uint32_t)counter;
    *c1 = (uint32_t)(counter >> 32);
    *c2 = (uint32_t)stream;
    *c3 = (uint32_t)(stream >> 32);
}

FPEMU_FN void core_philox_round(uint64_t seed, uint32_t round, uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3)
{
    const uint32_t k0 = (uint32_t)seed + round * 0x9e3779b9u, k1 = (uint32_t)(seed >> 32) + round * 0xbb67ae85u;
    const uint64_t p0 = (uint64_t)0xd2511f53u * *c0, p1 = (uint64_t)0xcd9e8d57u * *c2;
    const uint32_t n0 = (uint32_t)(p1 >> 32) ^ *c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ *c3 ^ k1;
    *c1 = (uint32_t)p1;
    *c3 = (uint32_t)p0;
    *c0 = n0;
    *c2 = n2;
}

FPEMU_FN void core_philox(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t out[4])
{
    core_philox_begin(stream, counter, out, out + 1, out + 2, out + 3);
    for (uint32_t round = 0; round < 10; round++)
        core_philox_round(seed, round, out, out + 1, out + 2, out + 3);
}

/* How many elements per_word one word: 1, 2 or 4, as log2. N is the number of random bits, 1..32. */
FPEMU_FN int core_per_word(int n_bits)
{
    return n_bits > 16 ? 0 : n_bits > 8 ? 1 : 2;
}

/* Word that element i reads, and by how much to shift it right so that the element's field (32, 16 or 8 bits) is
 * lowest. Neighbouring elements read neighbouring words, so that vector lanes need no shuffles. */
FPEMU_FN uint64_t core_word_index(int per_word, uint64_t i)
{
    return per_word == 0 ? i : ((i >> (5 + per_word)) << 5) | (i & 31);
}

FPEMU_FN int core_field_shift(int per_word, uint64_t i)
{
    return per_word == 0 ? 0 : (int)((i >> 5) & ((1u << per_word) - 1)) * (32 >> per_word);
}

/* The field's top N bits, left-aligned in 32: what the rounding adds below the last kept bit. */
FPEMU_FN uint32_t core_field_top(int per_word, int n_bits, uint32_t word, int shift)
{
    const uint32_t left = (word >> shift) << (32 - (32 >> per_word));
    return left & (uint32_t)(~UINT64_C(0) << (32 - n_bits));
}

/* Word j of a stream. */
FPEMU_FN uint32_t core_random_word(int philox, uint64_t seed, uint64_t stream, uint64_t j)
{
    if (philox) {
        uint32_t out[4];
        core_philox(seed, stream, (j >> 7) * 32 + (j & 31), out);
        const uint32_t k = (uint32_t)(j >> 5) & 3;
        return k == 0 ? out[0] : k == 1 ? out[1] : k == 2 ? out[2] : out[3];
    }
    return core_hash_word(core_hash_keys(seed, stream, j >> 32), (uint32_t)j);
}

/* The bits of element i, n_bits of them, left-aligned in 32. */
FPEMU_FN uint32_t core_random_bits(int philox, uint64_t seed, uint64_t stream, int n_bits, uint64_t i)
{
    const int per_word = core_per_word(n_bits);
    return core_field_top(per_word, n_bits, core_random_word(philox, seed, stream, core_word_index(per_word, i)),
                          core_field_shift(per_word, i));
}

#endif /* FPEMU_CORE_RANDOM_H */
