/* SPDX-License-Identifier: BSD-2-Clause */
/* tensorboard.c - see tensorboard.h */
#include "report/tensorboard.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "common/atomic_file.h"
#include "report/events.h"
#include "report/log_values.h"

typedef struct board {
    events events;
    const char *tensors;
    double begin; /* of the run, in seconds since 1970 */
} board;

static bool chosen(const board *b, const char *tensor)
{
    return !tensor || !b->tensors || fnmatch(b->tensors, tensor, 0) == 0;
}

static void put_line(void *to, uint64_t step, double seconds)
{
    board *b = to;
    events_step(&b->events, b->begin + seconds, (int64_t)step);
}

static void put_value(void *to, const log_value *v)
{
    board *b = to;
    if (chosen(b, v->tensor))
        events_scalar(&b->events, v->name, v->real);
}

static void put_histogram(void *to, const log_histogram *h)
{
    board *b = to;
    if (chosen(b, h->tensor))
        events_histogram(&b->events, h->name, h->first, h->bins, h->count);
}

/* ------------------------------------------------------------------------------------------------ when it was */

static void keep_seconds(void *to, uint64_t step, double seconds)
{
    (void)step;
    *(double *)to = seconds;
}

static void skip(void *to, const log_value *value)
{
    (void)to, (void)value;
}

/* The log says seconds since the run began, and the file system when its last line came. */
static bool find_begin(double *begin, const char *run, trouble *why)
{
    struct stat status;
    double seconds = 0;
    char *path = path_join(run, "log.jsonl");
    const bool there = stat(path, &status) == 0 || fail(why, "%s: %s", path, strerror(errno));
    free(path);
    if (!there)
        return false;
    *begin = (double)status.st_mtime;
    if (!log_visit(run, &(log_visitor){&seconds, keep_seconds, skip, NULL}, why))
        return false;
    *begin -= seconds;
    return true;
}

/* ------------------------------------------------------------------------------------------------ files */

static bool may_replace(const char *path, trouble *why)
{
    FILE *in = fopen(path, "rb");
    const bool good = in ? events_are_ours(in) : errno == ENOENT;
    if (in)
        fclose(in);
    return good || fail(why, "%.200s is there already, and not of this program: choose another directory", path);
}

static bool write_run(const char *path, const char *run, const char *tensors, trouble *why)
{
    atomic_file out;
    board b = {.tensors = tensors};
    if (!find_begin(&b.begin, run, why) || !may_replace(path, why) || !atomic_file_open(&out, path, why))
        return false;
    events_begin(&b.events, out.file, b.begin);
    const bool good = log_visit(run, &(log_visitor){&b, put_line, put_value, put_histogram}, why);
    events_end(&b.events);
    if (!good) {
        atomic_file_drop(&out);
        return false;
    }
    return atomic_file_commit(&out, why);
}

/* DIRECTORY/LABEL; a name with a dot at its start, which may lead out of the directory or be hidden, gets another. */
static char *path_below(const char *directory, const char *label)
{
    char *path = path_join(directory, label);
    for (char *c = path + strlen(directory) + 1; *c; c++)
        if (*c == '.' && c[-1] == '/')
            *c = '_';
    return path;
}

bool tensorboard_write(const char *directory, int count, char *const *runs, const char *const *labels,
                       const char *tensors, trouble *why)
{
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        char *below = path_below(directory, labels[i]), *path = path_join(below, "events.out.tfevents.fptrain");
        good = directory_make(below, why) && write_run(path, runs[i], tensors, why);
        free(below);
        free(path);
    }
    return good;
}
