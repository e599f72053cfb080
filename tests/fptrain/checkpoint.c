/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.c - checkpoints of the trainer: a file laid out by hand, every bit of it damaged, writers killed. */
#define _POSIX_C_SOURCE 200809L
#include "base/checkpoint.h"

#include <check.h> /* after ours: it has a macro of the name of one of our functions */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Two entries: "w" of the bytes 1 to 5, "empty" of none. Header 40, table 25 + 29, so data at 128 and (none) at 192. */
enum { LENGTH = 192, TABLE = 54 };
static void lay_out(uint8_t file[LENGTH])
{
    memset(file, 0, LENGTH);
    memcpy(file, "\x89" "FPTRN\r\n", 8);
    put(file + 8, 1, 4);
    put(file + 12, 2, 4);
    put(file + 16, TABLE, 8);
    put(file + 24, LENGTH, 8);
    memcpy(file + 128, "\1\2\3\4\5", 5);
    put(file + 40, 1, 4);
    put(file + 44, longhand_crc(file + 128, 5), 4);
    put(file + 48, 128, 8);
    put(file + 56, 5, 8);
    memcpy(file + 64, "w", 1);
    put(file + 65, 5, 4);
    put(file + 69, longhand_crc(NULL, 0), 4);
    put(file + 73, 192, 8);
    put(file + 81, 0, 8);
    memcpy(file + 89, "empty", 5);
    put(file + 32, longhand_crc(file + 40, TABLE), 4);
    put(file + 36, longhand_crc(file, 36), 4);
}

START_TEST(layout)
{
    uint8_t file[LENGTH], bytes[5], written[LENGTH + 1];
    size_t length = 9;
    lay_out(file);
    checkpoint *c = checkpoint_parse(file, LENGTH, "hand", &why);
    ck_assert_msg(c != NULL, "%s", why.text);
    ck_assert_str_eq(checkpoint_name(c, 0), "w");
    ck_assert_str_eq(checkpoint_name(c, 1), "empty");
    ck_assert_ptr_null(checkpoint_name(c, 2));
    ck_assert_ptr_nonnull(checkpoint_get(c, "empty", &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_ptr_null(checkpoint_get(c, "none", &length));
    ck_assert(checkpoint_take(c, "w", bytes, 5, &why));
    ck_assert_mem_eq(bytes, "\1\2\3\4\5", 5);
    ck_assert(!checkpoint_take(c, "w", bytes, 4, &why));
    ck_assert_str_eq(why.text, "entry 'w' of the checkpoint has 5 bytes, not 4");
    ck_assert(!checkpoint_take(c, "x", bytes, 4, &why));
    ck_assert_str_eq(why.text, "the checkpoint has no entry 'x'");
    /* Written, it is the same bytes. */
    ck_assert(checkpoint_write(c, "layout.ckpt", &why));
    FILE *f = fopen("layout.ckpt", "rb");
    ck_assert_uint_eq(fread(written, 1, sizeof written, f), LENGTH);
    fclose(f);
    ck_assert_mem_eq(written, file, LENGTH);
    checkpoint_free(c);
    c = checkpoint_read("layout.ckpt", &why);
    ck_assert_ptr_nonnull(c);
    checkpoint_free(c);
    remove("layout.ckpt");
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
    uint8_t file[LENGTH];
    for (int bit = 0; bit < 8 * LENGTH; bit++) {
        lay_out(file);
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        refused(file, LENGTH, "hand: ");
    }
    lay_out(file);
    for (size_t length = 0; length < LENGTH; length++)
        refused(file, length, "truncated");
    uint8_t longer[LENGTH + 1] = {0};
    memcpy(longer, file, LENGTH);
    refused(longer, LENGTH + 1, "too long");
}
END_TEST

/* Changes whose checksums are right: only the numbers are wrong. */
static void refused_number(size_t at, uint64_t number, int bytes, const char *reason)
{
    uint8_t file[LENGTH];
    lay_out(file);
    put(file + at, number, bytes);
    put(file + 32, longhand_crc(file + 40, TABLE), 4);
    put(file + 36, longhand_crc(file, 36), 4);
    refused(file, LENGTH, reason);
}

START_TEST(numbers_are_checked)
{
    refused_number(8, 2, 4, "version 2");
    refused_number(12, 1, 4, "belong to no entry");
    refused_number(12, 3, 4, "ends in the middle");
    refused_number(12, UINT32_MAX, 4, "ends in the middle");
    refused_number(16, UINT64_MAX, 8, "larger than the file");
    refused_number(40, 0, 4, "a name of 0 bytes");
    refused_number(40, UINT32_MAX, 4, "a name of 4294967295 bytes");
    refused_number(48, 64, 8, "outside of the file");
    refused_number(48, UINT64_MAX - 63, 8, "outside of the file");
    refused_number(56, UINT64_MAX, 8, "outside of the file");
    refused_number(56, 65, 8, "outside of the file");
    refused_number(64, 0, 1, "zero byte");
    refused_number(73, 128, 8, "outside of the file");
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

enum { LARGE = 300000 };

/* The whole file of a kind: every entry is made of its number. */
static checkpoint *of_kind(uint8_t kind)
{
    static uint8_t bytes[LARGE];
    checkpoint *c = checkpoint_new();
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%d", i);
        memset(bytes, kind, LARGE);
        checkpoint_put(c, name, bytes, (size_t)(LARGE - 1000 * i - 10 * kind));
    }
    return c;
}

/* Its kind, or -1 where parts of different kinds have met. */
static int kind_of(const checkpoint *c)
{
    int kind = 0;
    for (int i = 0; i < 3; i++) {
        char name[16];
        size_t length = 0;
        snprintf(name, sizeof name, "part%d", i);
        const uint8_t *bytes = checkpoint_get(c, name, &length);
        if (!bytes || (i > 0 && bytes[0] != kind))
            return -1;
        kind = bytes[0];
        if (length != (size_t)(LARGE - 1000 * i - 10 * kind))
            return -1;
        for (size_t k = 0; k < length; k++)
            if (bytes[k] != kind)
                return -1;
    }
    return kind;
}

/* A letter goes to the descriptor after each whole one. */
static _Noreturn void write_for_ever(checkpoint *const kinds[3], int first, const char *path, int descriptor)
{
    for (int i = first;; i++)
        if (!checkpoint_write(kinds[i % 3], path, NULL) || write(descriptor, "x", 1) != 1)
            _exit(1);
}

/* A process that writes one kind after the other is killed at any moment: one whole file is there, old or new. */
START_TEST(killed_writers)
{
    char directory[] = "checkpoint-XXXXXX", path[64], command[64];
    int seen[4] = {0};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/run.ckpt", directory);
    checkpoint *kinds[3] = {of_kind(1), of_kind(2), of_kind(3)};
    ck_assert(checkpoint_write(kinds[0], path, &why));
    for (int round = 0; round < 60; round++) {
        int ends[2];
        char done[3];
        ck_assert_int_eq(pipe(ends), 0);
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            write_for_ever(kinds, round, path, ends[1]);
        /* After a few whole ones, somewhere within the next. */
        for (int i = 0; i <= round % 3; i++)
            ck_assert_int_eq(read(ends[0], &done[i], 1), 1);
        nanosleep(&(struct timespec){.tv_nsec = 137000 * (round % 40)}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[0]);
        close(ends[1]);
        checkpoint *c = checkpoint_read(path, &why);
        ck_assert_msg(c != NULL, "round %d: %s", round, why.text);
        const int kind = kind_of(c);
        ck_assert_int_gt(kind, 0);
        seen[kind]++;
        checkpoint_free(c);
    }
    ck_assert(seen[1] > 0 && seen[2] > 0 && seen[3] > 0);
    for (int i = 0; i < 3; i++)
        checkpoint_free(kinds[i]);
    snprintf(command, sizeof command, "rm -r %s", directory);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("files");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, layout);
    tcase_add_test(tests, every_bit_counts);
    tcase_add_test(tests, numbers_are_checked);
    tcase_add_exit_test(tests, two_of_a_name, 2);
    tcase_add_test(tests, no_such_place);
    tcase_add_test(tests, killed_writers);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
