/* SPDX-License-Identifier: BSD-2-Clause */
/* check_rng.c - random words and the bits of an element, against published vectors and a second implementation. */
#include "suite.h"

#include "../judges/longhand.h"

static FILE *open_vectors(const char *name)
{
    const char *directory = getenv("top_srcdir") ? getenv("top_srcdir") : getenv("srcdir");
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/tests/vectors/%s", directory ? directory : ".", name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s (is top_srcdir set?)", path);
    return file;
}

START_TEST(hash_has_its_test_values)
{
    FILE *file = open_vectors("hash_words.txt");
    char line[256];
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        uint64_t seed, stream, j;
        uint32_t word;
        if (sscanf(line, "%" SCNx64 "%" SCNx64 "%" SCNx64 "%" SCNx32, &seed, &stream, &j, &word) != 4)
            continue;
        count++;
        ck_assert_uint_eq(fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, j), word);
        ck_assert_uint_eq(lh_word(FPEMU_GENERATOR_HASH, seed, stream, j), word);
    }
    (void)fclose(file);
    ck_assert_int_eq(count, 6);
}
END_TEST

/* Counters of the second and third vector lie above 2^62, which no word index reaches: they prove the second
 * implementation, to which the library is compared everywhere else. */
START_TEST(philox_has_the_published_vectors)
{
    FILE *file = open_vectors("philox4x32_10.txt");
    char line[256];
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        uint32_t c[4], k[2], expected[4], out[4];
        if (sscanf(line,
                   "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32
                   "%" SCNx32,
                   &c[0], &c[1], &c[2], &c[3], &k[0], &k[1], &expected[0], &expected[1], &expected[2],
                   &expected[3]) != 10)
            continue;
        count++;
        lh_philox(c, k, out);
        uint64_t counter = (uint64_t)c[1] << 32 | c[0], stream = (uint64_t)c[3] << 32 | c[2];
        uint64_t seed = (uint64_t)k[1] << 32 | k[0];
        for (unsigned lane = 0; lane < 4; lane++) {
            ck_assert_uint_eq(out[lane], expected[lane]);
            if (counter < UINT64_C(1) << 62) {
                uint64_t j = counter / 32 * 128 + lane * 32 + counter % 32;
                ck_assert_uint_eq(fpemu_random_word(FPEMU_GENERATOR_PHILOX, seed, stream, j), expected[lane]);
            }
        }
    }
    (void)fclose(file);
    ck_assert_int_eq(count, 3);
}
END_TEST

static const uint64_t corners[] =
    LIST(0, 1, 31, 32, 33, 63, 64, 95, 96, 127, 128, 129, 4095, 4096, UINT64_C(0xffffffff), UINT64_C(0x100000000),
         UINT64_C(0x100000001), UINT64_C(0x1ffffffff), UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000),
         UINT64_C(0x8000000000000001), UINT64_C(0xffffffff00000000), UINT64_MAX - 1, UINT64_MAX);
enum { corner_count = (int)(sizeof corners / sizeof corners[0]) };

START_TEST(words_equal_the_definition)
{
    uint64_t state = 2026;
    for (int generator = FPEMU_GENERATOR_HASH; generator <= FPEMU_GENERATOR_PHILOX; generator++) {
        for (int a = 0; a < corner_count; a++)
            for (int b = 0; b < corner_count; b++)
                for (int c = 0; c < corner_count; c++)
                    ck_assert_uint_eq(fpemu_random_word((fpemu_generator)generator, corners[a], corners[b], corners[c]),
                                      lh_word(generator, corners[a], corners[b], corners[c]));
        for (int i = 0; i < 20000; i++) {
            uint64_t seed = lh_next(&state), stream = lh_next(&state), j = lh_next(&state) >> (i % 64);
            ck_assert_uint_eq(fpemu_random_word((fpemu_generator)generator, seed, stream, j),
                              lh_word(generator, seed, stream, j));
        }
    }
}
END_TEST

START_TEST(bits_of_an_element)
{
    uint64_t state = 2027;
    for (unsigned bits = 0; bits <= 32; bits++) /* 0 means 32 */
        for (int i = 0; i < 3000; i++) {
            fpemu_rounding r = fpemu_rounding_stochastic(lh_next(&state), lh_next(&state));
            r.generator = (uint8_t)(i & 1);
            r.bits = (uint8_t)bits;
            uint64_t index = i < 512   ? (uint64_t)i / 2
                             : i < 600 ? corners[i % corner_count]
                                       : lh_next(&state) >> (i % 64);
            uint32_t expected = lh_bits(r.generator, r.seed, r.stream, index, bits ? bits : 32);
            ck_assert_uint_eq(fpemu_random_bits(&r, index), expected);
        }
}
END_TEST

/* Words of the caller's, as instructions share them: bits worked by hand. */
START_TEST(words_that_are_given)
{
    static const uint32_t words[2] = {0x12345678, 0x9abcdef0};
    static const struct {
        int layout, bits;
        uint32_t of[4];
    } cases[] = {{FPEMU_WORDS_EACH, 20, {0x12345, 0x9abcd}},
                 {FPEMU_WORDS_PTX_X2, 13, {0x1678, 0x1234, 0x1ef0, 0x1abc}},
                 {FPEMU_WORDS_PTX_X4, 16, {0x5678, 0x1e6a, 0x1234, 0x2c48}}};
    for (size_t c = 0; c < 3; c++) {
        fpemu_rounding r = fpemu_rounding_stochastic(0, 0);
        r.generator = FPEMU_GENERATOR_WORDS;
        r.layout = (uint8_t)cases[c].layout;
        r.bits = (uint8_t)cases[c].bits;
        r.words = words;
        const fpemu_format f = format_of("fixed(20,0)");
        float x[4] = {0.5f, 0.5f, 0.5f, 0.5f}, y[4];
        const size_t n = c ? 4 : 2;
        GIVES_OK(fpemu_quantize_f32(&f, &r, n, x, y, NULL));
        for (size_t i = 0; i < n; i++) {
            ck_assert_uint_eq(fpemu_random_bits(&r, i), cases[c].of[i]);
            ck_assert(y[i] == (float)(cases[c].of[i] >> (cases[c].bits - 1))); /* up where the first bit is 1 */
        }
        r.offset = 1;
        ck_assert_uint_eq(fpemu_random_bits(&r, 0), cases[c].of[1]);
        r.bits = c ? 17 : 33;
        REFUSES(ROUNDING, fpemu_quantize_f32(&f, &r, n, x, y, NULL));
        r.bits = 1;
        r.words = NULL;
        REFUSES(ROUNDING, fpemu_quantize_f32(&f, &r, n, x, y, NULL));
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("rng", NULL, hash_has_its_test_values, philox_has_the_published_vectors,
                     words_equal_the_definition, bits_of_an_element, words_that_are_given);
}
