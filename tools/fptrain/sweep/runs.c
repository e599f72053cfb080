/* SPDX-License-Identifier: BSD-2-Clause */
/* runs.c - the runs of a sweep as processes, and what they left behind. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "common/json.h"
#include "run/occupied.h"
#include "run/record.h"
#include "sweep/sweep.h"

/* ---------------------------------------------------------------------------------------------- finished runs */

static bool same_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const size_t length = strlen(text);
    char *found = need(length + 1, 1);
    const bool same = fread(found, 1, length + 1, file) == length && !memcmp(found, text, length);
    fclose(file);
    free(found);
    return same;
}

/* The summary of a run that is finished, NULL where there is none. One of other settings is not ours to replace. */
static json_t *own_summary(const sweep *s, const trial *t, int seed)
{
    char *directory = sweep_directory(s, t, seed), *path = path_join(directory, "summary.json");
    json_t *summary = json_read_path(path, RECORD_LARGEST, NULL);
    if (summary && !json_is_true(json_object_get(summary, "finished"))) {
        json_decref(summary);
        summary = NULL;
    }
    if (summary) {
        settings one = sweep_settings(s, t, seed);
        char *text = settings_print(&one), *ini = path_join(directory, "settings.ini");
        if (!same_file(ini, text))
            die("tradeoff: %s holds a run of other settings; choose another --out, or remove it", directory);
        free(ini);
        free(text);
        settings_free(&one);
    }
    free(path);
    free(directory);
    return summary;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* If nothing was promoted in a run of `other`, one of `t` has the same bits. */
static bool could_stand_for(const trial *other, const trial *t)
{
    return other != t && other->promote && t->promotable && (!t->promote || other->threshold <= t->threshold) &&
           (other->scheme == SCHEME_FP32) == (t->scheme == SCHEME_FP32) &&
           assignment_equal(other->assignment, t->assignment);
}

/* Its own, or that of a run that has the same bits. */
static json_t *summary_of(const sweep *s, const trial *t, int seed)
{
    json_t *summary = own_summary(s, t, seed);
    for (int i = 0; i < s->count && !summary; i++) {
        if (could_stand_for(&s->trials[i], t))
            summary = own_summary(s, &s->trials[i], seed);
        if (summary && number(json_object_get(summary, "notes"), "promotions") > 0) {
            json_decref(summary);
            summary = NULL;
        }
    }
    return summary;
}

int sweep_missing(const sweep *s)
{
    int missing = 0;
    for (int i = 0; i < s->count; i++)
        for (int seed = 0; seed < s->seeds; seed++) {
            json_t *summary = summary_of(s, &s->trials[i], seed);
            missing += !summary;
            json_decref(summary);
        }
    return missing;
}

/* ---------------------------------------------------------------------------------------------- running */

/* In the child: becomes `fptrain run`, with the same program file. It does not outlive the sweep: a second one would
 * write into the directory of a run that goes on. */
static _Noreturn void become_run(const char *ini)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    execlp(length > 0 ? program : "fptrain", "fptrain", "run", "--config", ini, "--resume", "--quiet", (char *)NULL);
    fprintf(stderr, "fptrain: tradeoff: cannot start fptrain run: %s\n", strerror(errno));
    _exit(127);
}

static void start(const sweep *s, const trial *t, int seed)
{
    char *directory = sweep_directory(s, t, seed), *ini = text_joined(directory, ".ini", "");
    settings one = sweep_settings(s, t, seed);
    trouble why;
    if (!settings_write(&one, ini, &why))
        die("tradeoff: %s", why.text);
    settings_free(&one);
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        die("tradeoff: no new process: %s", strerror(errno));
    if (child == 0)
        become_run(ini);
    free(ini);
    free(directory);
}

/* Waits for one of the runs; 1 if it failed. */
static int finish_one(int *running)
{
    int status;
    while (wait(&status) < 0)
        if (errno != EINTR)
            die("tradeoff: %s", strerror(errno));
    (*running)--;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static double free_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes > 0 ? 1024 * kilobytes : INFINITY;
}

/* Those that may stand for others come first: with promotion, the lowest threshold before higher ones. */
static bool comes_before(const trial *a, const trial *b)
{
    return a->promote != b->promote ? a->promote : a->promote && a->threshold < b->threshold;
}

/* Numbers of the trials in the order in which they run; for free(). */
static int *run_order(const sweep *s)
{
    int *order = need((size_t)s->count, sizeof *order);
    for (int i = 0; i < s->count; i++) {
        int at = i;
        for (; at > 0 && comes_before(&s->trials[i], &s->trials[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* Before the first run starts: none of them may meet a run of other settings. */
static void look_first(const sweep *s)
{
    trouble why;
    for (int i = 0; i < s->count; i++)
        for (int seed = 0; seed < s->seeds; seed++) {
            json_t *summary = summary_of(s, &s->trials[i], seed);
            settings one = sweep_settings(s, &s->trials[i], seed);
            if (!summary && !occupied_check(&one, RUN_RESUME, &why))
                die("tradeoff: %s; choose another --out, or remove it", why.text);
            settings_free(&one);
            json_decref(summary);
        }
}

int sweep_run(const sweep *s)
{
    const double memory = s->memory > 0 ? s->memory : 0.9 * free_memory();
    const double fit = fmax(1, floor(memory / s->run_bytes));
    const int jobs = fit < s->jobs ? (int)fit : s->jobs;
    int failed = 0, running = 0, *order = run_order(s);
    if (jobs < s->jobs)
        printf("memory for %d side by side: a run needs about %.0f MB\n", jobs, s->run_bytes / 1e6);
    trouble why;
    look_first(s);
    if (!directory_make(s->out, &why))
        die("tradeoff: %s", why.text);
    for (int seed = 0; seed < s->seeds; seed++)
        for (int i = 0; i < s->count; i++) {
            const trial *t = &s->trials[order[i]];
            if (running == jobs)
                failed += finish_one(&running);
            json_t *summary = summary_of(s, t, seed);
            json_decref(summary);
            if (summary)
                continue;
            start(s, t, seed);
            running++;
        }
    while (running)
        failed += finish_one(&running);
    free(order);
    return failed;
}

/* ---------------------------------------------------------------------------------------------- results */

static void spread_add(spread *s, int before, double x)
{
    s->low = before ? fmin(s->low, x) : x;
    s->high = before ? fmax(s->high, x) : x;
    s->mean = (s->mean * before + x) / (before + 1);
}

void sweep_collect(sweep *s)
{
    for (int i = 0; i < s->count; i++) {
        trial *t = &s->trials[i];
        for (int seed = 0; seed < s->seeds; seed++) {
            json_t *summary = summary_of(s, t, seed);
            const json_t *notes = json_object_get(summary, "notes");
            if (!summary)
                continue;
            spread_add(&t->best, t->finished, number(summary, "best_accuracy"));
            spread_add(&t->last, t->finished, number(summary, "last_accuracy"));
            spread_add(&t->mean_ratio, t->finished, number(notes, "low_ratio_mean"));
            spread_add(&t->promotions, t->finished, number(notes, "promotions"));
            spread_add(&t->promoted_share, t->finished, number(notes, "promoted_share_of_high"));
            t->seconds = (t->seconds * t->finished + number(summary, "seconds")) / (t->finished + 1);
            t->finished++;
            json_decref(summary);
        }
    }
}
