/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.c - checkpoints of the trainer: a file laid out by hand, every bit of it damaged. That killed
 * writers leave a whole file is for cli/atomic_file.c. */
#include "base/checkpoint.h"

#include "../common.h"
#include <check.h> /* after ours: it has a macro of the name of one of our functions */

static trouble why;

/* The polynomial of IEEE 802.3, bit by bit. */
static uint32_t longhand_crc(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

static void put(uint8_t *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++, number >>= 8)
        to[i] = (uint8_t)number;
}

/* Of the header all but the digits of checksum and size; the arrays: "w" of the bytes 1 to 5, "x" of two floats, "n" of
 * one number of 64 bits, "empty" of none; numbers of 8 bytes lie first, bytes last. */
static const char header_text[] =
    "{\"__metadata__\":{\"checksum\":\"crc32 00000000 of 00000000000000000000 bytes\",\"note\":\"a \\\"b\\\"\"},"
    "\"n\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]},"
    "\"x\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[8,16]},"
    "\"w\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[16,21]},"
    "\"empty\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[21,21]}}";
enum { CRC_AT = 8 + 35, SIZE_AT = CRC_AT + 12, DATA = 21, MOST = 1024 };

/* The checksum and the size of a file are put right. */
static void seal(uint8_t *file, size_t length)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%020zu", length);
    memcpy(file + SIZE_AT, digits, 20);
    memset(file + CRC_AT, '0', 8);
    snprintf(digits, sizeof digits, "%08x", (unsigned)longhand_crc(file, length));
    memcpy(file + CRC_AT, digits, 8);
}

static size_t lay_out(uint8_t file[MOST])
{
    const size_t text = strlen(header_text), padded = (text + 7) / 8 * 8;
    memset(file, 0, MOST);
    put(file, padded, 8);
    memset(file + 8, ' ', padded);
    memcpy(file + 8, header_text, text);
    uint8_t *data = file + 8 + padded;
    put(data, UINT64_C(0x0123456789abcdef), 8);
    put(data + 8, 0x3f800000, 4);  /* 1 */
    put(data + 12, 0xc0400000, 4); /* -3 */
    memcpy(data + 16, "\1\2\3\4\5", 5);
    seal(file, 8 + padded + DATA);
    return 8 + padded + DATA;
}

START_TEST(layout)
{
    uint8_t file[MOST], bytes[5], written[MOST + 1];
    size_t length = 9;
    float x[2];
    uint64_t n;
    checkpoint_array a;
    const size_t size = lay_out(file);
    checkpoint *c = checkpoint_parse(file, size, "hand", &why);
    ck_assert_msg(c != NULL, "%s", why.text);
    ck_assert(checkpoint_at(c, 0, &a));
    ck_assert_str_eq(a.name, "n");
    ck_assert(checkpoint_at(c, 3, &a));
    ck_assert_str_eq(a.name, "empty");
    ck_assert(!checkpoint_at(c, 4, &a));
    ck_assert_ptr_nonnull(checkpoint_get(c, "empty", &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_ptr_null(checkpoint_get(c, "none", &length));
    ck_assert(checkpoint_take(c, "w", bytes, 5, &why));
    ck_assert_mem_eq(bytes, "\1\2\3\4\5", 5);
    ck_assert(checkpoint_take_floats(c, "x", 2, (int[2]){1, 2}, x, &why));
    ck_assert(x[0] == 1 && x[1] == -3);
    ck_assert(checkpoint_take_counts(c, "n", 1, &n, &why));
    ck_assert_uint_eq(n, UINT64_C(0x0123456789abcdef));
    ck_assert_str_eq(checkpoint_text(c, "note"), "a \"b\"");
    ck_assert_ptr_null(checkpoint_text(c, "checksum"));
    ck_assert(checkpoint_find(c, "x", &a) && a.dims == 2 && a.dim[1] == 2 && a.length == 8);
    ck_assert_str_eq(a.type, "F32");
    ck_assert(!checkpoint_take(c, "w", bytes, 4, &why));
    ck_assert_str_eq(why.text, "array 'w' of the checkpoint has 5 bytes, not 4");
    ck_assert(!checkpoint_take(c, "y", bytes, 4, &why));
    ck_assert_str_eq(why.text, "the checkpoint has no array 'y'");
    ck_assert(!checkpoint_take(c, "n", bytes, 8, &why));
    ck_assert_str_eq(why.text, "array 'n' of the checkpoint is of type U64, not U8");
    ck_assert(!checkpoint_take_floats(c, "x", 2, (int[2]){2, 1}, x, &why));
    ck_assert_str_eq(why.text, "array 'x' of the checkpoint has another shape");
    ck_assert(!checkpoint_take_reals(c, "none", 1, (double[1]){0}, &why));
    checkpoint_free(c);

    /* Put in another order and written, it is the same bytes. */
    c = checkpoint_new();
    checkpoint_put(c, "w", "\1\2\3\4\5", 5);
    checkpoint_put_text(c, "note", "a \"b\"");
    checkpoint_put(c, "empty", "", 0);
    checkpoint_put_floats(c, "x", 2, (int[2]){1, 2}, x);
    checkpoint_put_counts(c, "n", 1, &n);
    ck_assert(checkpoint_write(c, "layout.safetensors", &why));
    checkpoint_free(c);
    FILE *f = fopen("layout.safetensors", "rb");
    ck_assert_uint_eq(fread(written, 1, sizeof written, f), size);
    fclose(f);
    ck_assert_mem_eq(written, file, size);
    bool whole;
    c = checkpoint_import("layout.safetensors", &whole, &why);
    ck_assert(c && whole);
    ck_assert(checkpoint_export(c, "layout.safetensors", &why));
    checkpoint_free(c);
    /* Without its checksum it is no checkpoint, but may come in. */
    ck_assert_ptr_null(checkpoint_read("layout.safetensors", &why));
    ck_assert_str_eq(why.text, "layout.safetensors: not a checkpoint");
    c = checkpoint_import("layout.safetensors", &whole, &why);
    ck_assert(c && !whole && checkpoint_take(c, "w", bytes, 5, &why));
    ck_assert_str_eq(checkpoint_text(c, "note"), "a \"b\"");
    checkpoint_free(c);
    remove("layout.safetensors");
}
END_TEST

static void refused(const uint8_t *file, size_t length, const char *reason)
{
    why.text[0] = '\0';
    ck_assert_ptr_null(checkpoint_parse(file, length, "hand", &why));
    ck_assert_msg(strstr(why.text, reason) != NULL, "'%s' instead of '%s'", why.text, reason);
}

START_TEST(every_bit_counts)
{
    uint8_t file[MOST];
    const size_t size = lay_out(file);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        refused(file, size, "hand: ");
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t length = 0; length < size; length++)
        refused(file, length, "truncated");
    refused(file, size + 1, "too long");
}
END_TEST

START_TEST(two_of_a_name)
{
    checkpoint *c = checkpoint_new();
    checkpoint_put(c, "a", "x", 1);
    checkpoint_put(c, "a", "y", 1);
}
END_TEST

START_TEST(no_such_place)
{
    checkpoint *c = checkpoint_new();
    ck_assert(!checkpoint_write(c, "none/x.ckpt", &why));
    ck_assert_str_eq(why.text, "none/x.ckpt: No such file or directory");
    ck_assert_ptr_null(checkpoint_read("none/x.ckpt", &why));
    ck_assert_str_eq(why.text, "none/x.ckpt: No such file or directory");
    checkpoint_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("files");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, layout);
    tcase_add_test(tests, every_bit_counts);
    tcase_add_exit_test(tests, two_of_a_name, 2);
    tcase_add_test(tests, no_such_place);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
