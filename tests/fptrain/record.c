/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - logs of the trainer: read back by jansson, they hold what was said; resuming cuts what comes again. */
#define _POSIX_C_SOURCE 200809L
#include "run/record.h"

#include <check.h> /* after ours: it has a macro of the name of one of our functions */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static trouble why;

static record *open_record(const char *directory, uint64_t step)
{
    settings s;
    settings_default(&s);
    ck_assert(settings_set(&s, "output", "directory", directory, &why));
    ck_assert(settings_set(&s, "formats", "w", "e4m3fn sr", &why));
    record *r = record_open(&s, step, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    settings_free(&s);
    return r;
}

static void say_step(record *r, uint64_t step)
{
    uint64_t counts[40] = {0};
    fpemu_stats stats = {.request.want = FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SUMS,
                         .count = 100,
                         .underflow = 5 + step,
                         .overflow = 2,
                         .request.histogram = counts,
                         .request.histogram_first = -20,
                         .request.histogram_length = 40,
                         .max_abs = INFINITY,
                         .nan = 1,
                         .infinite = 3};
    counts[3] = 7; /* exponent -18 */
    counts[5] = 9;
    record_begin(r, &(record_step){.step = step, .epoch = 1, .loss = step == 3 ? NAN : 0.1 + (double)step, .lr = 0.05,
                                   .scale = 1024, .accuracy = 0.5, .skipped = step == 2, .skipped_so_far = step >= 2,
                                   .seconds = 2.5});
    record_tensor(r, "conv1.dv", ROLE_DV, &stats);
    record_gradient(r, 64, &(dispersion){100, 0.75, 0x1p-20});
    stats.request.want = 0;
    record_tensor(r, "conv1.weight", ROLE_W, &stats);
    record_tensor(r, "conv1.dweight", ROLE_DW, &stats);
    record_gradient(r, 2, &(dispersion){0, 0, 0});
    ck_assert(record_end(r, &why));
}

static void say_epoch(record *r, uint64_t step, int epoch, double accuracy)
{
    ck_assert(record_epoch_end(
        r, &(record_epoch){.step = step, .epoch = epoch, .test_loss = 0.5, .test_accuracy = accuracy,
                           .test_accuracy_fp32 = accuracy + 0.01, .seconds = 3}, &why));
}

/* The lines of the log. */
static int read_log(const char *directory, json_t *lines[20])
{
    char path[64], text[4096];
    int count = 0;
    snprintf(path, sizeof path, "%s/log.jsonl", directory);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(text, sizeof text, file)) {
        lines[count] = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(lines[count++]);
    }
    fclose(file);
    return count;
}

static double real(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void remove_directory(const char *directory)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(lines)
{
    char directory[] = "record-XXXXXX";
    json_t *line[20];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    record *r = open_record(directory, 0);
    say_step(r, 1);
    say_step(r, 2);
    say_step(r, 3);
    say_epoch(r, 3, 1, 0.75);
    record_close(r);
    ck_assert_int_eq(read_log(directory, line), 4);
    ck_assert_int_eq(json_integer_value(json_object_get(line[1], "step")), 2);
    ck_assert(real(line[1], "loss") == 0.1 + 2 && real(line[1], "scale") == 1024 && real(line[1], "lr") == 0.05);
    ck_assert(json_is_true(json_object_get(line[1], "skipped")) && json_is_false(json_object_get(line[0], "skipped")));
    ck_assert_str_eq(json_string_value(json_object_get(line[2], "loss")), "nan");
    const json_t *tensors = json_object_get(line[0], "tensors"), *t = json_array_get(tensors, 0);
    ck_assert_uint_eq(json_array_size(tensors), 3);
    ck_assert_str_eq(json_string_value(json_object_get(t, "name")), "conv1.dv");
    ck_assert_str_eq(json_string_value(json_object_get(t, "role")), "dv");
    ck_assert(real(t, "count") == 100 && real(t, "underflow") == 6 && real(t, "overflow") == 2);
    ck_assert_str_eq(json_string_value(json_object_get(t, "max_abs")), "inf");
    ck_assert(real(t, "alpha") == 64 && real(t, "deviation") == 0.75 && real(t, "quantile") == 0x1p-20);
    const json_t *histogram = json_object_get(t, "histogram"), *counts = json_object_get(histogram, "counts");
    ck_assert(real(histogram, "first") == -18);
    ck_assert_uint_eq(json_array_size(counts), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 0)), 7);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 1)), 0);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 2)), 9);
    ck_assert(real(histogram, "zeros") == 100 - 7 - 9 - 1 - 3);
    t = json_array_get(tensors, 1);
    ck_assert_str_eq(json_string_value(json_object_get(t, "role")), "w");
    ck_assert_ptr_null(json_object_get(t, "histogram"));
    ck_assert_ptr_null(json_object_get(t, "sqnr_db"));
    ck_assert_ptr_null(json_object_get(t, "alpha"));
    t = json_array_get(tensors, 2);
    ck_assert(real(t, "alpha") == 2 && !json_object_get(t, "deviation") && !json_object_get(t, "quantile"));
    ck_assert(real(line[3], "test_accuracy") == 0.75 && real(line[3], "test_accuracy_fp32") == 0.76);
    for (int i = 0; i < 4; i++)
        json_decref(line[i]);
    remove_directory(directory);
}
END_TEST

START_TEST(methods)
{
    char directory[] = "record-XXXXXX";
    json_t *line[20];
    update_counts updates = {.elements = 8, .moved = 2, .updates = 7, .vanished = 5, .small_g = 3, .small_update = 4};
    updates.ratio[2] = 3; /* from 2^-23 to 2^-22 */
    updates.ratio[4] = 5;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    record *r = open_record(directory, 0);
    record_begin(r, &(record_step){.step = 6});
    record_updates(r, &updates, true);
    ck_assert(record_end(r, &why));
    ck_assert(record_policy_end(r, 6, &(policy_epoch){.policy_epoch = 2, .bits = 8, .threshold = 2.5}, &why));
    ck_assert(record_policy_end(r, 8, &(policy_epoch){3, 12, 4.5, 2.25, true}, &why));
    record_begin(r, &(record_step){.step = 9});
    record_updates(r, &updates, false);
    record_sums(r, &(sum_counts){.roundings = 90, .inexact = 60, .swamped = 20, .overflow = 2, .underflow = 1});
    ck_assert(record_end(r, &why));
    record_close(r);
    ck_assert_int_eq(read_log(directory, line), 4);
    const json_t *u = json_object_get(line[0], "updates"), *counts = json_object_get(u, "counts");
    ck_assert(real(u, "count") == 8 && real(u, "first") == -23 && real(u, "mean_move") == 0.25);
    ck_assert_uint_eq(json_array_size(counts), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 0)), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 1)), 0);
    ck_assert_int_eq(json_integer_value(json_array_get(counts, 2)), 5);
    ck_assert(real(line[1], "step") == 6 && real(line[1], "policy_epoch") == 2 && real(line[1], "bits") == 8);
    ck_assert(real(line[1], "threshold") == 2.5 && json_is_false(json_object_get(line[1], "switched")));
    ck_assert_ptr_null(json_object_get(line[1], "p")); /* not defined */
    ck_assert(real(line[2], "p") == 4.5 && real(line[2], "threshold") == 2.25 && real(line[2], "bits") == 12);
    ck_assert(json_is_true(json_object_get(line[2], "switched")));
    ck_assert_ptr_null(json_object_get(line[0], "sums"));
    u = json_object_get(line[3], "updates");
    ck_assert(real(u, "count") == 8 && real(u, "not_zero") == 7 && real(u, "vanished") == 5);
    ck_assert(real(u, "gradients_below_2^-24") == 3 && real(u, "updates_below_2^-24") == 4);
    ck_assert_ptr_null(json_object_get(u, "counts"));
    u = json_object_get(line[3], "sums");
    ck_assert(real(u, "count") == 90 && real(u, "inexact") == 60 && real(u, "swamped") == 20);
    ck_assert(real(u, "overflow") == 2 && real(u, "underflow") == 1);
    for (int i = 0; i < 4; i++)
        json_decref(line[i]);
    remove_directory(directory);
}
END_TEST

START_TEST(resumed)
{
    char directory[] = "record-XXXXXX", path[64];
    json_t *line[20];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    record *r = open_record(directory, 0);
    say_step(r, 1);
    say_epoch(r, 1, 1, 0.9);
    say_step(r, 2);
    say_step(r, 4);
    say_epoch(r, 4, 2, 0.99);
    record_close(r);
    snprintf(path, sizeof path, "%s/log.jsonl", directory);
    FILE *torn = fopen(path, "a"); /* killed in the middle of a line */
    fputs("{\"step\":5,\"lo", torn);
    fclose(torn);
    r = open_record(directory, 2);
    say_step(r, 3);
    say_epoch(r, 3, 2, 0.8);
    record_note(r, "ratio", 0.25);
    ck_assert(record_summary(r, true, 5, 2, &why));
    record_close(r);
    static const int steps[] = {1, 1, 2, 3, 3};
    ck_assert_int_eq(read_log(directory, line), 5);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(json_integer_value(json_object_get(line[i], "step")), steps[i]);
        json_decref(line[i]);
    }
    snprintf(path, sizeof path, "%s/summary.json", directory);
    json_t *summary = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(summary);
    ck_assert(real(summary, "best_accuracy") == 0.9 && real(summary, "last_accuracy") == 0.8);
    ck_assert(real(summary, "best_epoch") == 1 && real(summary, "steps") == 5 && real(summary, "skipped") == 2);
    ck_assert(real(summary, "underflow") == 3 * (6 + 7 + 8) && real(summary, "overflow") == 18);
    ck_assert(real(summary, "elements") == 900);
    ck_assert(json_is_true(json_object_get(summary, "finished")));
    ck_assert(real(json_object_get(summary, "notes"), "ratio") == 0.25);
    const json_t *all = json_object_get(summary, "settings");
    ck_assert_str_eq(json_string_value(json_object_get(all, "formats.w")), "e4m3fn sr");
    ck_assert_str_eq(json_string_value(json_object_get(all, "train.lr")), "0.05");
    json_decref(summary);
    /* Nothing was left to do: what the log has is said again. */
    r = open_record(directory, 3);
    ck_assert(record_summary(r, true, 5, 2, &why));
    record_close(r);
    summary = json_load_file(path, 0, NULL);
    ck_assert(real(summary, "steps") == 5 && real(summary, "skipped") == 2 && real(summary, "last_scale") == 1024);
    ck_assert_str_eq(json_string_value(json_object_get(summary, "last_loss")), "nan");
    ck_assert(real(summary, "seconds") == 2.5 && real(summary, "last_accuracy") == 0.8);
    json_decref(summary);
    /* From the start: nothing of it stays. */
    r = open_record(directory, 0);
    record_close(r);
    ck_assert_int_eq(read_log(directory, line), 0);
    remove_directory(directory);
}
END_TEST

/* A last line whose end is missing goes, even if it reads well: the next one would be glued to it. */
START_TEST(torn_line)
{
    char directory[] = "record-XXXXXX", path[64];
    json_t *line[20];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/log.jsonl", directory);
    FILE *torn = fopen(path, "w");
    fputs("{\"step\":1}\n{\"step\":2}", torn);
    fclose(torn);
    record *r = open_record(directory, 2);
    say_step(r, 2);
    record_close(r);
    ck_assert_int_eq(read_log(directory, line), 2);
    ck_assert_ptr_nonnull(json_object_get(line[1], "loss"));
    json_decref(line[0]);
    json_decref(line[1]);
    remove_directory(directory);
}
END_TEST

START_TEST(no_directory)
{
    settings s;
    settings_default(&s);
    ck_assert(settings_set(&s, "output", "directory", "/dev/null/at/all", &why));
    ck_assert_ptr_null(record_open(&s, 0, &why));
    ck_assert_str_eq(why.text, "/dev/null/at: Not a directory");
    settings_free(&s);
}
END_TEST

START_TEST(directories_above)
{
    char top[] = "above.XXXXXX", path[64];
    settings s;
    settings_default(&s);
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(path, sizeof path, "%s/are/made", top);
    ck_assert(settings_set(&s, "output", "directory", path, &why));
    record *r = record_open(&s, 0, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    record_close(r);
    settings_free(&s);
    snprintf(path, sizeof path, "%s/are/made/settings.ini", top);
    ck_assert_int_eq(access(path, R_OK), 0);
    static const char *const left[] = {"/are/made/settings.ini", "/are/made/log.jsonl", "/are/made", "/are", ""};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        snprintf(path, sizeof path, "%s%s", top, left[i]);
        ck_assert_int_eq(remove(path), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record");
    TCase *tests = tcase_create("files");
    tcase_add_test(tests, lines);
    tcase_add_test(tests, methods);
    tcase_add_test(tests, resumed);
    tcase_add_test(tests, torn_line);
    tcase_add_test(tests, no_directory);
    tcase_add_test(tests, directories_above);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
