/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c - random words on standard output, raw, for the batteries of tests that run.sh starts.
 *
 * usage: stream [--bits 24|32] [--streams N] [--seed S] [--generator hash|philox|feistel]
 *
 * The top 24 bits of every word, packed one piece after the other, the highest bit first, into 32-bit numbers of host
 * byte order; or whole words. With N streams: word 0 of streams 0 to N - 1, then their word 1, and so on. Writes until
 * nobody reads any more. `feistel' is no generator of the library: a random permutation of 32 bits, to tell what a test
 * sees of the hash from what it sees of any permutation.
 */
#include "../common.h"

#include "fpemu.h"

enum { GROUPS = 4096 }; /* of a write; four words are three numbers of 24 bits each */

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "stream: %s: '%s' is not a number from %llu to %llu\n", option, text, (unsigned long long)least,
                (unsigned long long)most);
        exit(2);
    }
    return value;
}

/* Four rounds with random functions, which nobody tells from a random permutation (Luby, Rackoff 1988); new ones for
 * every 2^32 indices, as the hash has new keys. */
static uint32_t feistel_word(uint64_t seed, uint64_t index)
{
    static uint16_t function[4][65536];
    static uint64_t high = UINT64_MAX;
    uint32_t left = (uint32_t)index >> 16, right = (uint32_t)index & 0xffff;
    if (index >> 32 != high) {
        high = index >> 32;
        for (size_t round = 0; round < 4; round++)
            for (size_t i = 0; i < 65536; i++)
                function[round][i] =
                    (uint16_t)(fpemu_random_word(FPEMU_GENERATOR_PHILOX, seed, 4 * high + round, i) >> 16);
    }
    for (size_t round = 0; round < 4; round++) {
        const uint32_t next = left ^ function[round][right];
        left = right;
        right = next;
    }
    return left << 16 | right;
}

int main(int argc, char **argv)
{
    int feistel = 0;
    uint64_t bits = 24, streams = 1, seed = 0;
    fpemu_generator generator = FPEMU_GENERATOR_HASH;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--bits") == 0) {
            bits = number(argv[i], value, 24, 32);
        } else if (strcmp(argv[i], "--streams") == 0) {
            streams = number(argv[i], value, 1, UINT64_C(1) << 32);
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = number(argv[i], value, 0, UINT64_MAX);
        } else if (strcmp(argv[i], "--generator") == 0 && strcmp(value, "philox") == 0) {
            generator = FPEMU_GENERATOR_PHILOX;
        } else if (strcmp(argv[i], "--generator") == 0 && strcmp(value, "feistel") == 0) {
            feistel = 1;
        } else if (strcmp(argv[i], "--generator") != 0 || strcmp(value, "hash") != 0) {
            fprintf(stderr, "usage: stream [--bits 24|32] [--streams N] [--seed S] "
                            "[--generator hash|philox|feistel]\n");
            return 2;
        }
    }
    if (bits != 24 && bits != 32) {
        fprintf(stderr, "stream: --bits: 24 or 32\n");
        return 2;
    }
    if (feistel && streams != 1) {
        fprintf(stderr, "stream: --generator feistel has one stream\n");
        return 2;
    }
    uint64_t stream = 0, index = 0;
    for (;;) {
        static uint32_t out[4 * GROUPS];
        size_t count = 0;
        for (size_t group = 0; group < GROUPS; group++) {
            uint32_t w[4];
            for (int k = 0; k < 4; k++) {
                w[k] = feistel ? feistel_word(seed, index) : fpemu_random_word(generator, seed, stream, index);
                if (++stream == streams) {
                    stream = 0;
                    index++;
                }
            }
            if (bits == 24) {
                out[count++] = (w[0] >> 8) << 8 | w[1] >> 24;
                out[count++] = (w[1] >> 8) << 16 | w[2] >> 16;
                out[count++] = (w[2] >> 8) << 24 | w[3] >> 8;
            } else {
                memcpy(out + count, w, sizeof w);
                count += 4;
            }
        }
        if (fwrite(out, sizeof *out, count, stdout) != count)
            return 0;
    }
}
