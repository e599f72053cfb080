/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - logs of the trainer: read back by jansson, they hold what was said; a run that goes on finds no files but
 * its own, and cuts what comes again. */
#include "run/record.h"

#include "../unit/suite.h" /* after ours: check.h has a macro of the name of one of our functions */

#include <jansson.h>
#include <unistd.h>

static trouble why;
static char directory[16]; /* of the test that runs */
static json_t *read_last;  /* the lines of a log */

static const machine here = {{"0.1.0", "a compiler", "a library", "a backend", "a processor"}};

static const char *const values[] = {"input.v"}, *const parameters[] = {"conv1.weight"},
                         *const gradients[] = {"conv1.dv", "relu1.dv"};
static const record_names names = {{1, 1, 2, 0}, {values, parameters, gradients, NULL}};

static void make_directory(void)
{
    strcpy(directory, "record-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static settings settings_here(void)
{
    settings s;
    settings_default(&s);
    ck_assert(settings_set(&s, "output", "directory", directory, &why));
    ck_assert(settings_set(&s, "output", "log_every", "1", &why));
    ck_assert(settings_set(&s, "formats", "w", "e4m3fn sr", &why));
    return s;
}

static record *start(void)
{
    settings s = settings_here();
    record *r = record_start(&s, &here, &names, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    settings_free(&s);
    return r;
}

static record *go_on(const checkpoint *from, const machine *m, bool another)
{
    settings s = settings_here();
    record *r = record_resume(&s, m, another, &names, from, &why);
    settings_free(&s);
    return r;
}

static checkpoint *saved(record *r)
{
    checkpoint *c = checkpoint_new();
    ck_assert_msg(record_save(r, c, &why), "%s", why.text);
    return c;
}

static void say_step(record *r, uint64_t step)
{
    uint64_t counts[40] = {0};
    const fpemu_stats plain = {.count = 100, .underflow = 5 + step, .overflow = 2, .nan = 1};
    fpemu_stats stats =
        LIST(.request.want = FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SUMS, .count = 100, .underflow = 5 + step,
             .overflow = 2, .request.histogram = counts, .request.histogram_first = -20, .request.histogram_length = 40,
             .min_abs = 0x1p-30, .max_abs = (double)0.1f, .nan = 1, .infinite = 3);
    counts[3] = 7; /* exponent -18 */
    counts[5] = 9;
    record_begin(r, &(record_step)LIST(.step = step, .epoch = 1, .loss = step == 3 ? NAN : 0.1 + (double)step,
                                       .lr = 0.05, .scale = 1024, .accuracy = 0.5, .skipped = step == 2,
                                       .skipped_so_far = step >= 2, .seconds = 2.5));
    record_tensor(r, ROLE_DV, 0, &stats);
    record_gradient(r, ROLE_DV, 0, 64, &(dispersion){100, 0.75, 0x1p-20});
    record_tensor(r, ROLE_W, 0, &plain);
    record_tensor(r, ROLE_DV, 1, &plain);
    record_gradient(r, ROLE_DV, 1, 1024, &(dispersion){0, 0, 0});
    ck_assert(record_end(r, &why));
}

static void say_epoch(record *r, uint64_t step, int epoch, double accuracy)
{
    ck_assert(record_epoch_end(r,
                               &(record_epoch){.step = step,
                                               .epoch = epoch,
                                               .test_loss = 0.5,
                                               .test_accuracy = accuracy,
                                               .test_accuracy_fp32 = accuracy + 0.01,
                                               .seconds = 3},
                               &why));
}

static FILE *open_file(const char *name, const char *mode)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, mode);
    ck_assert_ptr_nonnull(file);
    return file;
}

/* How many lines follow the first. */
static int read_log(void)
{
    char text[4096];
    FILE *file = open_file("log.jsonl", "r");
    json_decref(read_last);
    read_last = json_array();
    while (fgets(text, sizeof text, file))
        ck_assert_int_eq(json_array_append_new(read_last, json_loads(text, JSON_REJECT_DUPLICATES, NULL)), 0);
    fclose(file);
    return (int)json_array_size(read_last) - 1;
}

/* Of the log that was read last; its first one is -1. */
static json_t *line(int i)
{
    return json_array_get(read_last, (size_t)(i + 1));
}

static json_t *read_summary(void)
{
    FILE *file = open_file("summary.json", "r");
    json_t *summary = json_loadf(file, 0, NULL);
    fclose(file);
    ck_assert_ptr_nonnull(summary);
    return summary;
}

static void append(const char *name, const char *text)
{
    FILE *file = open_file(name, "a");
    fputs(text, file);
    fclose(file);
}

/* In the directory, by the shell. */
static void command(const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "cd %s && %s", directory, what);
    ck_assert_int_eq(system(text), 0);
}

static void remove_directory(void)
{
    json_decref(read_last);
    read_last = NULL;
    command("rm -r ../$(basename $PWD)");
}

static double real(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *word(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* The text has ' for the marks of strings. */
static void equals(const json_t *value, const char *text)
{
    char marked[1024] = "";
    for (size_t i = 0; text[i]; i++)
        marked[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    json_t *wanted = json_loads(marked, JSON_DECODE_ANY, NULL);
    char *found = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    ck_assert_msg(wanted && json_equal(wanted, (json_t *)(uintptr_t)value), "'%s' instead of '%s'", found, marked);
    free(found);
    json_decref(wanted);
}

START_TEST(lines)
{
    record *r = start();
    say_step(r, 1);
    say_step(r, 2);
    say_step(r, 3);
    say_epoch(r, 3, 1, 0.75);
    ck_assert(record_stop(r, 3, "no more", &why));
    record_close(r);
    ck_assert_int_eq(read_log(), 5);
    ck_assert_uint_eq(strlen(word(line(-1), "run")), 32);
    json_object_del(line(-1), "run");
    equals(line(-1),
           "{'log':2,'machine':{'fptrain':'0.1.0','compiler':'a compiler','mathematics':'a library',"
           "'products':'a backend','processor':'a processor'},'names':{'v':['input.v'],'w':['conv1.weight'],"
           "'dv':['conv1.dv','relu1.dv'],'dw':[]},'counters':['count','underflow','subnormal','inexact','min_abs',"
           "'max_abs','overflow','clipped','infinite','nan']}");
    /* Of tensors an element a name: 0 where nothing was counted, and no zeros at the end. Floats have the digits that
     * they need: the least is 2^-30, the quantile 2^-20. Where alpha is the scale it needs no word. */
    equals(line(0),
           "{'step':1,'epoch':1,'loss':1.1,'lr':0.05,'scale':1024.0,'accuracy':0.5,'skipped':false,"
           "'skipped_so_far':0,'seconds':2.5,'tensors':[0,[100,6,0,0,0,0,2,0,0,1],[100,6,0,0,9.313226e-10,0.1,2,0,"
           "3,1,{'alpha':64,'deviation':0.75,'quantile':9.536743e-07,'sqnr_db':'nan','histogram':{'first':-18,"
           "'counts':[7,0,9],'zeros':80}}],[100,6,0,0,0,0,2,0,0,1]]}");
    ck_assert(real(line(1), "step") == 2 && real(line(1), "loss") == 0.1 + 2);
    ck_assert(json_is_true(json_object_get(line(1), "skipped")));
    equals(json_array_get(json_object_get(line(1), "tensors"), 1), "[100,7,0,0,0,0,2,0,0,1]");
    ck_assert_str_eq(word(line(2), "loss"), "nan");
    equals(line(3),
           "{'step':3,'epoch':1,'test_loss':0.5,'test_accuracy':0.75,'test_accuracy_fp32':0.76,'seconds':3.0}");
    equals(line(4), "{'step':3,'stopped':'no more'}");
    remove_directory();
}
END_TEST

/* How many steps a line of counters of a long run tells of. */
static uint64_t steps_told(uint64_t step)
{
    return step <= 500 ? 1 : step <= 1500 ? 2 : step <= 3500 ? 4 : step < 3601 ? 8 : step == 3601 ? 5 : 2;
}

/* Counters of several steps together: where they are told, and that none is lost. */
START_TEST(long_run)
{
    char *text = NULL;
    size_t room = 0;
    uint64_t told = 0, sum = 0;
    record *r = start();
    for (uint64_t i = 1; i <= 3603; i++) {
        record_begin(r, &(record_step){.step = i, .scale = 1});
        record_tensor(r, ROLE_V, 0, &(fpemu_stats){.count = 1, .underflow = 1, .min_abs = 1.0 / (double)i});
        ck_assert(record_end(r, &why));
        if (i == 3601)
            checkpoint_free(saved(r)); /* what no line has yet is told first */
    }
    ck_assert(record_summary(r, &(record_ending){.steps = 3603}, &why));
    record_close(r);
    FILE *file = open_file("log.jsonl", "r");
    ck_assert(getline(&text, &room, file) > 0);
    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL), *t = json_array_get(json_object_get(line, "tensors"), 0);
        const uint64_t step = (uint64_t)real(line, "step");
        if (t) {
            ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(t, 0)), steps_told(step));
            ck_assert((float)json_number_value(json_array_get(t, 4)) == (float)(1.0 / (double)step));
            told++;
            sum += steps_told(step);
        }
        if (!json_object_get(line, "loss"))
            ck_assert(t && json_object_get(line, "scale") && step >= 3601);
        json_decref(line);
    }
    free(text);
    fclose(file);
    ck_assert_uint_eq(sum, 3603);
    ck_assert_uint_eq(told, 500 + 500 + 500 + 12 + 2);
    json_t *summary = read_summary();
    ck_assert(real(summary, "elements") == 3603 && real(summary, "underflow") == 3603);
    json_decref(summary);
    remove_directory();
}
END_TEST

START_TEST(methods)
{
    update_counts updates = {.elements = 8, .moved = 2, .updates = 7, .vanished = 5, .small_g = 3, .small_update = 4};
    updates.ratio[2] = 3; /* from 2^-23 to 2^-22 */
    updates.ratio[4] = 5;
    record *r = start();
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
    ck_assert_int_eq(read_log(), 4);
    equals(json_object_get(line(0), "updates"),
           "{'count':8,'not_zero':7,'vanished':5,'gradients_below_2^-24':3,'updates_below_2^-24':4,'first':-23,"
           "'counts':[3,0,5],'mean_move':0.25}");
    ck_assert_ptr_null(json_object_get(line(0), "sums"));
    equals(line(1), "{'step':6,'policy_epoch':2,'bits':8,'threshold':2.5,'switched':false}"); /* p is not defined */
    equals(line(2), "{'step':8,'policy_epoch':3,'bits':12,'p':4.5,'threshold':2.25,'switched':true}");
    equals(json_object_get(line(3), "updates"),
           "{'count':8,'not_zero':7,'vanished':5,'gradients_below_2^-24':3,'updates_below_2^-24':4}");
    equals(json_object_get(line(3), "sums"), "{'count':90,'inexact':60,'swamped':20,'overflow':2,'underflow':1}");
    remove_directory();
}
END_TEST

/* What every summary of the run below says. */
static void sums_up(json_t *summary)
{
    static const char *const others[] = {"run", "machine", "notes", "settings"};
    for (int i = 0; i < 4; i++)
        json_object_del(summary, others[i]);
    equals(summary, "{'one_machine':true,'finished':true,'diverged':false,'stopped':null,'first_loss_not_finite':null,"
                    "'steps':5,'skipped':2,'last_loss':'nan','last_scale':1024.0,'seconds':2.5,'best_accuracy':0.9,"
                    "'best_epoch':1,'last_accuracy':0.8,'last_accuracy_fp32':0.81,'elements':900,'overflow':18,"
                    "'underflow':63,'clipped':0,'nan':9}"); /* 6 + 7 + 8 in each of three tensors underflow */
    json_decref(summary);
}

START_TEST(resumed)
{
    record *r = start();
    say_step(r, 1);
    say_epoch(r, 1, 1, 0.9);
    say_step(r, 2);
    checkpoint *c = saved(r);
    say_step(r, 4);
    say_epoch(r, 4, 2, 0.99);
    record_close(r);
    append("log.jsonl", "{\"step\":5,\"lo"); /* killed in the middle of a line */
    r = go_on(c, &here, false);
    ck_assert_msg(r != NULL, "%s", why.text);
    say_step(r, 3);
    say_epoch(r, 3, 2, 0.8);
    record_note(r, "ratio", 0.25);
    checkpoint *last = saved(r);
    const record_ending ending = {.finished = true, .steps = 5, .skipped = 2};
    ck_assert(record_summary(r, &ending, &why));
    record_close(r);
    static const int steps[] = {1, 1, 2, 3, 3};
    ck_assert_int_eq(read_log(), 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(json_integer_value(json_object_get(line(i), "step")), steps[i]);
    json_t *summary = read_summary();
    ck_assert(json_equal(json_object_get(line(-1), "run"), json_object_get(summary, "run")));
    ck_assert(json_equal(json_object_get(line(-1), "machine"), json_object_get(summary, "machine")));
    equals(json_object_get(summary, "notes"), "{'ratio':0.25}");
    const json_t *all = json_object_get(summary, "settings");
    ck_assert_str_eq(word(all, "formats.w"), "e4m3fn sr");
    ck_assert_str_eq(word(all, "train.lr"), "0.05");
    sums_up(summary);
    /* Nothing was left to do: what the checkpoint knows is said again. */
    r = go_on(last, &here, false);
    ck_assert_msg(r != NULL, "%s", why.text);
    ck_assert(record_summary(r, &ending, &why));
    record_close(r);
    sums_up(read_summary());
    /* From the start: nothing of it stays. */
    r = start();
    record_close(r);
    ck_assert_int_eq(read_log(), 0);
    checkpoint_free(c);
    checkpoint_free(last);
    remove_directory();
}
END_TEST

static void refused(const checkpoint *c, const char *sentence)
{
    ck_assert_ptr_null(go_on(c, &here, false));
    ck_assert_msg(strstr(why.text, sentence) != NULL, "'%s' instead of '%s'", why.text, sentence);
}

/* What does not belong together: a log that is shorter or changed, other names; and checkpoints that do not say of which
 * run they are. Files of another run: kept.sh. */
START_TEST(strangers)
{
    record *r = start();
    say_step(r, 1);
    checkpoint *c = saved(r), *none = checkpoint_new(), *wrong = checkpoint_new();
    record_close(r);
    char best[64];
    snprintf(best, sizeof best, "%s/best.safetensors", directory);
    ck_assert(checkpoint_write(c, best, &why));
    command("truncate -s -1 best.safetensors");
    refused(c, "best.safetensors: truncated");
    ck_assert(checkpoint_write(c, best, &why));
    command("sed -i 2s/loss/lose/ log.jsonl");
    refused(c, "is not what it was at the checkpoint");
    command("sed -i 2s/lose/loss/ log.jsonl");
    r = go_on(c, &here, false);
    ck_assert_msg(r != NULL, "%s", why.text);
    record_close(r);
    command("truncate -s -1 log.jsonl");
    refused(c, "is not what it was at the checkpoint");
    append("log.jsonl", "x");
    refused(c, "is not what it was at the checkpoint");
    command("sed -i 1s/input.v/output.v/ log.jsonl");
    refused(c, "of a network with other tensors");
    command("sed -i 1d log.jsonl");
    refused(c, "not the log of a run that this fptrain can go on with");
    command("rm log.jsonl");
    refused(c, "log.jsonl: No such file or directory");
    refused(none, "an older fptrain wrote it");
    checkpoint_put_text(wrong, "run", "{\"run\":1}");
    refused(wrong, "does not say of which run it is");
    checkpoint_free(none);
    checkpoint_free(wrong);
    checkpoint_free(c);
    remove_directory();
}
END_TEST

START_TEST(other_machine)
{
    machine there = here;
    record *r = start();
    say_step(r, 1);
    checkpoint *c = saved(r);
    record_close(r);
    strcpy(there.part[3], "another backend");
    ck_assert_ptr_null(go_on(c, &there, false));
    ck_assert_str_eq(why.text, "the run was made with products a backend, and here it is another backend, which can "
                               "change bits: --allow-different-machine goes on all the same");
    r = go_on(c, &there, true);
    ck_assert_msg(r != NULL, "%s", why.text);
    checkpoint *after = saved(r);
    ck_assert(record_summary(r, &(record_ending){.finished = true}, &why));
    record_close(r);
    ck_assert_int_eq(read_log(), 2);
    ck_assert_str_eq(word(json_object_get(line(1), "machine"), "products"), "another backend");
    /* It is now one of the other machine, and of more than one for good. */
    refused(after, "products another backend");
    r = go_on(after, &there, false);
    ck_assert_ptr_nonnull(r);
    ck_assert(record_summary(r, &(record_ending){.finished = true}, &why));
    record_close(r);
    json_t *summary = read_summary();
    ck_assert(json_is_false(json_object_get(summary, "one_machine")));
    json_decref(summary);
    checkpoint_free(c);
    checkpoint_free(after);
    remove_directory();
}
END_TEST

int main(void)
{
    return RUN_SUITE("record", make_directory, lines, long_run, methods, resumed, strangers, other_machine);
}
