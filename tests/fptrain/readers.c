/* SPDX-License-Identifier: BSD-2-Clause */
/* readers.c - data files of the trainer, made here byte by byte: what they hold is read, a cut or excess is told. What
 * Python wrote is read in cli/fptrain_data.sh and cli/fptrain_text.sh. */
#include "data/readers.h"
#include "common/json.h"
#include "data/dataset.h"

#include "../unit/suite.h" /* after ours: check.h has a macro of the name of one of our functions */

#include <lzma.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

static trouble why;

static source *from_memory(const void *bytes, size_t length)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    rewind(file);
    source *s = source_from(file, "memory", &why);
    ck_assert_ptr_nonnull(s);
    return s;
}

/* Two images of 2 rows and 3 columns. */
static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0,  0,  2,  0, 0, 0, 3, /* header */
                                 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};

static bool read_idx(const void *bytes, size_t length, int dimensions, idx *x)
{
    source *s = from_memory(bytes, length);
    const bool good = idx_read(x, s, dimensions, &why);
    source_close(s);
    return good;
}

static void refused_idx(const void *bytes, size_t length, int dimensions, const char *reason)
{
    idx x;
    ck_assert_msg(!read_idx(bytes, length, dimensions, &x), "taken: %s", reason);
    ck_assert_msg(strstr(why.text, reason) != NULL, "'%s' instead of '%s'", why.text, reason);
    ck_assert_ptr_null(x.bytes);
}

START_TEST(idx_cut_anywhere)
{
    for (size_t length = 0; length < sizeof images; length++)
        refused_idx(images, length, 3, "truncated");
}
END_TEST

START_TEST(idx_header)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *reason;
    } changes[] = {{0, 1, "not an IDX file"}, {1, 7, "not an IDX file"},    {2, 0x0d, "type 0x0d"},
                   {3, 1, "1 dimensions"},    {7, 1, "after its data"},     {7, 0, "extent of 0"},
                   {11, 0, "extent of 0"},    {8, 1, "extent of 16777218"}, {15, 4, "truncated"}};
    uint8_t bytes[sizeof images];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memcpy(bytes, images, sizeof images);
        bytes[changes[i].at] = changes[i].byte;
        refused_idx(bytes, sizeof bytes, 3, changes[i].reason);
    }
    refused_idx(images, sizeof images, 1, "3 dimensions, 1 expected");
}
END_TEST

/* What a header asks for is not reserved before that much has come. */
START_TEST(idx_promises)
{
    static const uint8_t two_gib[] = {0, 0, 8, 1, 0x80, 0, 0, 0, 1, 2, 3};
    static const uint8_t endless[] = {0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 16, 0, 0, 0, 16, 0, 1};
    if (!SANITIZED) /* else it reserves far more; of this test's own process */
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30}), 0);
    refused_idx(two_gib, sizeof two_gib, 1,
                sizeof(size_t) > 4 ? "truncated: 2147483648 bytes of data expected, 3 found" : "asks for more than");
    refused_idx(endless, sizeof endless, 3, "asks for more than");
}
END_TEST

static size_t make_gzip(const uint8_t *from, size_t length, uint8_t *to, size_t room)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)length};
    z.next_out = to;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static size_t make_xz(const uint8_t *from, size_t length, uint8_t *to, size_t room)
{
    size_t size = 0;
    ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, from, length, to, &size, room), LZMA_OK);
    return size;
}

START_TEST(packed)
{
    uint8_t bytes[512];
    idx x;
    for (int kind = 0; kind < 2; kind++) {
        size_t (*const make)(const uint8_t *, size_t, uint8_t *, size_t) = kind ? make_xz : make_gzip;
        const size_t length = make(images, sizeof images, bytes, sizeof bytes);
        ck_assert(read_idx(bytes, length, 3, &x));
        ck_assert(x.extent[0] == 2 && x.extent[1] == 2 && x.extent[2] == 3 && x.count == 12);
        ck_assert_mem_eq(x.bytes, images + 16, 12);
        free(x.bytes);
        for (size_t cut = 2; cut < length; cut++)
            refused_idx(bytes, cut, 3, "truncated");
        bytes[length] = 'x';
        refused_idx(bytes, length + 1, 3, kind ? "xz" : "gzip");
        bytes[length - 6] ^= 1; /* of the checksums */
        refused_idx(bytes, length, 3, "damaged");
        /* Two members, one after the other, are the bytes of both. */
        size_t two = make(images, 20, bytes, sizeof bytes);
        two += make(images + 20, sizeof images - 20, bytes + two, sizeof bytes - two);
        ck_assert_msg(read_idx(bytes, two, 3, &x), "%s", why.text);
        ck_assert_mem_eq(x.bytes, images + 16, 12);
        free(x.bytes);
    }
}
END_TEST

/* What lies behind a text counts too, and a byte too many is found wherever it lies. */
START_TEST(json_files)
{
    char text[] = "{\"a\": [1, 2]}  ";
    for (size_t most = 0; most <= sizeof text; most++) {
        FILE *file = fmemopen(text, sizeof text - 1, "rb");
        why.text[0] = '\0';
        json_t *root = json_read(file, most, &why);
        fclose(file);
        ck_assert_msg((root != NULL) == (most >= sizeof text - 1), "at most %zu: %s", most, why.text);
        ck_assert(root || strncmp(why.text, "larger than ", 12) == 0);
        json_decref(root);
    }
}
END_TEST

/* ------------------------------------------------------------------------------------------------ generated */

static dataset generated(const char *name, const dataset_options *options)
{
    dataset d;
    ck_assert_msg(dataset_open(&d, name, options, &why), "%s", why.text);
    return d;
}

/* A change of these numbers is a change of all results on generated data: it is one for NEWS. */
START_TEST(pictures_stay_the_same)
{
    static const struct {
        const char *name;
        size_t size;
        uint32_t train, test;
    } known[] = {{"digits", 784, 0xce46812f, 0xa9115b92}, {"shapes", 3072, 0x3c513b96, 0x0322c298}};
    for (int i = 0; i < 2; i++) {
        dataset d = generated(known[i].name, &(dataset_options){.seed = 1, .train_count = 300, .test_count = 100});
        ck_assert_uint_eq(crc32(0, d.train.pixels, (uInt)(300 * known[i].size)), known[i].train);
        ck_assert_uint_eq(crc32(0, d.test.pixels, (uInt)(100 * known[i].size)), known[i].test);
        dataset_free(&d);
    }
}
END_TEST

START_TEST(a_sample_depends_on_its_number_alone)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "shapes" : "digits";
        dataset few = generated(name, &(dataset_options){.seed = 5, .train_count = 20, .test_count = 20});
        dataset many = generated(name, &(dataset_options){.seed = 5, .train_count = 200, .test_count = 30});
        dataset other = generated(name, &(dataset_options){.seed = 6, .train_count = 20, .test_count = 20});
        const size_t size = (size_t)(few.c * few.h * few.w) * 20;
        ck_assert_mem_eq(few.train.pixels, many.train.pixels, size);
        ck_assert_mem_eq(few.train.labels, many.train.labels, 20 * sizeof *few.train.labels);
        ck_assert_mem_eq(few.test.pixels, many.test.pixels, size);
        ck_assert_mem_ne(few.train.pixels, few.test.pixels, size);
        ck_assert_mem_ne(few.train.pixels, other.train.pixels, size);
        dataset_free(&few);
        dataset_free(&many);
        dataset_free(&other);
    }
}
END_TEST

START_TEST(padding_and_limit)
{
    dataset plain = generated("digits", &(dataset_options){.seed = 2, .train_count = 50, .test_count = 10});
    const dataset_options options = {
        .seed = 2, .train_count = 50, .test_count = 10, .limit = 20, .width = 32, .height = 30};
    dataset d = generated("digits", &options);
    ck_assert_int_eq(d.w, 32);
    ck_assert_int_eq(d.h, 30);
    ck_assert_uint_eq(d.train.count, 20);
    ck_assert_uint_eq(d.test.count, 10);
    for (size_t i = 0; i < 10; i++)
        for (int y = 0; y < 30; y++)
            for (int x = 0; x < 32; x++) {
                const bool in = y >= 1 && y < 29 && x >= 2 && x < 30;
                const int expected = in ? plain.test.pixels[i * 784 + (size_t)((y - 1) * 28 + x - 2)] : 0;
                ck_assert_int_eq(d.test.pixels[i * 960 + (size_t)(y * 32 + x)], expected);
            }
    /* Twenty different ones of the fifty. */
    bool taken[50] = {false};
    for (size_t i = 0; i < 20; i++) {
        const uint8_t *first = &d.train.pixels[i * 960 + 34]; /* its rows 0 and 15 are compared */
        size_t k = 0;
        while (k < 50 && (taken[k] || memcmp(first, &plain.train.pixels[k * 784], 28) != 0 ||
                          memcmp(first + 15 * 32, &plain.train.pixels[k * 784 + 15 * 28], 28) != 0))
            k++;
        ck_assert_uint_lt(k, 50);
        ck_assert_uint_eq(d.train.labels[i], plain.train.labels[k]);
        taken[k] = true;
    }
    dataset_free(&d);
    const dataset_options fewer = {.seed = 2, .train_count = 50, .test_count = 10, .test_limit = 4};
    d = generated("digits", &fewer);
    ck_assert_uint_eq(d.train.count, 50);
    ck_assert_mem_eq(d.train.pixels, plain.train.pixels, 50 * 784);
    ck_assert_uint_eq(d.test.count, 4);
    bool tested[10] = {false};
    for (size_t i = 0; i < 4; i++) {
        size_t k = 0;
        while (k < 10 && (tested[k] || memcmp(&d.test.pixels[i * 784], &plain.test.pixels[k * 784], 784) != 0))
            k++;
        ck_assert_uint_lt(k, 10);
        ck_assert_uint_eq(d.test.labels[i], plain.test.labels[k]);
        tested[k] = true;
    }
    dataset_free(&d);
    ck_assert(!dataset_open(&d, "digits", &(dataset_options){.train_count = 1, .test_count = 1, .width = 20}, &why));
    ck_assert_str_eq(why.text, "images of 28x28 pixels cannot be padded to 20x28");
    dataset_free(&plain);
}
END_TEST

/* Which sample of `all` this is, by its bytes. */
static size_t number_of(const dataset *all, const uint8_t *pixels)
{
    size_t i = 0;
    while (i < all->train.count && memcmp(all->train.pixels + i * 784, pixels, 784) != 0)
        i++;
    ck_assert_uint_lt(i, all->train.count);
    return i;
}

/* Each sample lies in one part; of each class the parts have as many, or one more; the limit takes some of a part. */
START_TEST(parts_are_disjoint)
{
    enum { ALL = 103, PARTS = 5 };
    const dataset_options options = {.seed = 2, .train_count = ALL, .test_count = 10};
    dataset plain = generated("digits", &options);
    int in[ALL] = {0}, of_class[PARTS][10] = {{0}};
    for (int k = 0; k < PARTS; k++) {
        dataset_options o = options;
        char text[32];
        snprintf(text, sizeof text, "%d/%d", k + 1, PARTS);
        ck_assert(dataset_part_read(text, &o, &why));
        dataset d = generated("digits", &o), again = generated("digits", &o);
        ck_assert_uint_eq(d.train.count, again.train.count);
        ck_assert_mem_eq(d.train.pixels, again.train.pixels, d.train.count * 784);
        for (size_t i = 0; i < d.train.count; i++) {
            const size_t number = number_of(&plain, d.train.pixels + i * 784);
            ck_assert_int_eq(in[number]++, 0);
            ck_assert_uint_eq(d.train.labels[i], plain.train.labels[number]);
            of_class[k][d.train.labels[i]]++;
        }
        ck_assert_uint_eq(d.test.count, 10);
        o.limit = 7;
        dataset few = generated("digits", &o);
        ck_assert_uint_eq(few.train.count, 7);
        ck_assert_uint_eq(few.test.count, 10);
        for (size_t i = 0; i < 7; i++)
            number_of(&d, few.train.pixels + i * 784);
        dataset_free(&few);
        dataset_free(&again);
        dataset_free(&d);
    }
    for (int i = 0; i < ALL; i++)
        ck_assert_int_eq(in[i], 1);
    for (int c = 0; c < 10; c++)
        for (int k = 0; k < PARTS; k++)
            ck_assert_int_le(abs(of_class[k][c] - of_class[0][c]), 1);
    dataset_free(&plain);
}
END_TEST

/* 40 characters, of which the last 4 are for testing: thirds of the other 36. */
START_TEST(parts_of_a_text)
{
    static const char text[] = "the quick brown fox jumps over 13 dogs..";
    char path[] = "text-parts-XXXXXX";
    const int descriptor = mkstemp(path);
    ck_assert_int_eq(write(descriptor, text, 40), 40);
    close(descriptor);
    for (int k = 0; k < 3; k++) {
        dataset d;
        ck_assert_msg(dataset_open(&d, path, &(dataset_options){.part = k + 1, .parts = 3}, &why), "%s", why.text);
        ck_assert_uint_eq(d.train.count, 12);
        ck_assert_uint_eq(d.test.count, 4);
        ck_assert_uint_eq(d.text_length, 16);
        for (int i = 0; i < 16; i++)
            ck_assert_int_eq((int)d.symbol[d.text[i]], (uint8_t)(i < 12 ? text[12 * k + i] : text[24 + i]));
        dataset_free(&d);
    }
    unlink(path);
    static const char *const wrong[] = {"0/3",  "4/3",  "1",    "1/",     "/3",  "1/3x",
                                        " 1/3", "+1/3", "01/3", "1/1001", "-1/3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!dataset_part_read(wrong[i], &(dataset_options){0}, &why), "'%s' was taken", wrong[i]);
}
END_TEST

int main(void)
{
    return RUN_SUITE("readers", NULL, idx_cut_anywhere, idx_header, idx_promises, packed, json_files,
                     pictures_stay_the_same, a_sample_depends_on_its_number_alone, padding_and_limit,
                     parts_are_disjoint, parts_of_a_text);
}
