/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - see record.h */
#include "common/system.h"

#include "run/record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/atomic_file.h"

struct record {
    char *directory;
    FILE *log;
    json_t *line;    /* between record_begin and record_end */
    json_t *settings, *notes;
    json_t *best, *last; /* lines of epochs */
    json_t *step;        /* the last line of a step */
    uint64_t totals[5];  /* over the lines of steps: elements, overflow, underflow, clipped, nan */
};

static json_t *real(double x)
{
    json_t *value = isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
    if (!value)
        die("out of memory");
    return value;
}

static json_t *count(uint64_t n)
{
    json_t *value = json_integer((json_int_t)n);
    if (!value)
        die("out of memory");
    return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        die("out of memory");
}

static json_t *object(void)
{
    json_t *o = json_object();
    if (!o)
        die("out of memory");
    return o;
}

/* ------------------------------------------------------------------------------------------------ an older log */

/* What the lines that stay have counted goes into the totals again. */
static void remember(record *r, json_t *line)
{
    static const char *const keys[] = {"count", "overflow", "underflow", "clipped", "nan"};
    json_t *tensor;
    size_t i;
    json_array_foreach(json_object_get(line, "tensors"), i, tensor)
    {
        for (int k = 0; k < 5; k++)
            r->totals[k] += (uint64_t)json_integer_value(json_object_get(tensor, keys[k]));
    }
    if (json_object_get(line, "loss")) {
        json_decref(r->step);
        r->step = json_incref(line);
    }
    if (!json_object_get(line, "test_accuracy"))
        return;
    const double best = json_number_value(json_object_get(r->best, "test_accuracy"));
    if (!r->best || json_number_value(json_object_get(line, "test_accuracy")) > best) {
        json_decref(r->best);
        r->best = json_incref(line);
    }
    json_decref(r->last);
    r->last = json_incref(line);
}

/* Length of the part of the log that stays: whole lines up to the step. */
static long long keep(record *r, FILE *log, uint64_t step)
{
    long long length = 0;
    char *text = NULL;
    size_t room = 0;
    ssize_t got;
    while ((got = getline(&text, &room, log)) > 0 && text[got - 1] == '\n') {
        json_t *line = json_loadb(text, (size_t)got, 0, NULL), *at = json_object_get(line, "step");
        const bool stays = json_is_integer(at) && (uint64_t)json_integer_value(at) <= step;
        if (stays)
            remember(r, line);
        json_decref(line);
        if (!stays)
            break;
        length += got;
    }
    free(text);
    return length;
}

static bool open_log(record *r, uint64_t step, trouble *why)
{
    char *path = path_join(r->directory, "log.jsonl");
    const int descriptor = open(path, O_RDWR | O_CREAT, 0666);
    r->log = descriptor >= 0 ? fdopen(descriptor, "r+b") : NULL;
    const long long length = r->log && step > 0 ? keep(r, r->log, step) : 0;
    const bool good = r->log && ftruncate(descriptor, (off_t)length) == 0 &&
                      fseeko(r->log, (off_t)length, SEEK_SET) == 0;
    if (!good)
        fail(why, "%s: %s", path, strerror(errno));
    free(path);
    return good;
}

static json_t *settings_as_json(const settings *s)
{
    json_t *all = object();
    settings_key key;
    char text[SETTINGS_TEXT], name[128];
    for (int i = 0; settings_table(i, &key); i++) {
        snprintf(name, sizeof name, "%s.%s", key.section, key.key);
        set(all, name, json_string(settings_value(s, i, text)));
    }
    for (int i = 0; i < s->format_count; i++) {
        const format_line *f = &s->formats[i];
        snprintf(name, sizeof name, "formats.%s", f->pattern);
        set(all, name, json_sprintf("%s%s%s", f->spec, f->mode ? " " : "", f->mode ? f->mode : ""));
    }
    return all;
}

record *record_open(const settings *s, uint64_t step, trouble *why)
{
    const char *directory = s->output.directory;
    record *r = need(1, sizeof *r);
    r->settings = settings_as_json(s);
    r->notes = object();
    r->directory = path_join(directory, "");
    r->directory[strlen(directory)] = '\0';
    char *path = path_join(directory, "settings.ini");
    bool good = directory_make(directory, why);
    good = good && settings_write(s, path, why) && open_log(r, step, why);
    free(path);
    if (!good) {
        record_close(r);
        r = NULL;
    }
    return r;
}

void record_close(record *r)
{
    if (!r)
        return;
    if (r->log)
        fclose(r->log);
    json_decref(r->line);
    json_decref(r->step);
    json_decref(r->settings);
    json_decref(r->notes);
    json_decref(r->best);
    json_decref(r->last);
    free(r->directory);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ lines */

static bool write_line(record *r, json_t *line, trouble *why)
{
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text)
        die("out of memory");
    const size_t length = strlen(text);
    text[length] = '\n'; /* in place of the zero: one write for the whole line */
    const bool good = fwrite(text, 1, length + 1, r->log) == length + 1 && fflush(r->log) == 0;
    free(text);
    return good || fail(why, "%s/log.jsonl: %s", r->directory, strerror(errno));
}

void record_begin(record *r, const record_step *step)
{
    r->line = object();
    set(r->line, "step", count(step->step));
    set(r->line, "epoch", count((uint64_t)step->epoch));
    set(r->line, "loss", real(step->loss));
    set(r->line, "lr", real(step->lr));
    set(r->line, "scale", real(step->scale));
    set(r->line, "accuracy", real(step->accuracy));
    set(r->line, "skipped", json_boolean(step->skipped));
    set(r->line, "skipped_so_far", count(step->skipped_so_far));
    set(r->line, "seconds", real(step->seconds));
}

/* Of the numbers before they were rounded. Bins that are empty at both ends are left out; `first` is the exponent of
 * the first count. The bins below and above all exponents become the neighbours of the first and the last. What has no
 * exponent and is finite is zero. */
static json_t *histogram(const fpemu_stats *stats)
{
    json_t *counts = json_array(), *all = object();
    uint32_t from = 0, to = stats->request.histogram_length;
    uint64_t others = stats->nan + stats->infinite;
    for (uint32_t i = 0; i < to; i++)
        others += stats->request.histogram[i];
    while (from < to && stats->request.histogram[from] == 0)
        from++;
    while (to > from && stats->request.histogram[to - 1] == 0)
        to--;
    for (uint32_t i = from; i < to; i++)
        if (json_array_append_new(counts, count(stats->request.histogram[i])) != 0)
            die("out of memory");
    set(all, "first", json_integer((json_int_t)stats->request.histogram_first - 1 + from));
    set(all, "counts", counts);
    set(all, "zeros", count(stats->count - others));
    return all;
}

void record_tensor(record *r, const char *name, role which, const fpemu_stats *stats)
{
    json_t *tensors = json_object_get(r->line, "tensors"), *t = object();
    if (!tensors) {
        tensors = json_array();
        set(r->line, "tensors", tensors);
    }
    set(t, "name", json_string(name));
    set(t, "role", json_string(role_name(which)));
    set(t, "count", count(stats->count));
    set(t, "nan", count(stats->nan));
    set(t, "infinite", count(stats->infinite));
    set(t, "clipped", count(stats->clipped));
    set(t, "overflow", count(stats->overflow));
    set(t, "underflow", count(stats->underflow));
    set(t, "subnormal", count(stats->subnormal));
    set(t, "inexact", count(stats->inexact));
    set(t, "min_abs", real(stats->min_abs));
    set(t, "max_abs", real(stats->max_abs));
    if (stats->request.want & FPEMU_STATS_SUMS)
        set(t, "sqnr_db", real(fpemu_stats_sqnr(stats)));
    if ((stats->request.want & FPEMU_STATS_HISTOGRAM) && stats->request.histogram)
        set(t, "histogram", histogram(stats));
    if (json_array_append_new(tensors, t) != 0)
        die("out of memory");
}

void record_gradient(record *r, double alpha, const dispersion *s)
{
    json_t *tensors = json_object_get(r->line, "tensors");
    json_t *t = json_array_get(tensors, json_array_size(tensors) - 1);
    set(t, "alpha", real(alpha));
    if (s->count == 0)
        return;
    set(t, "deviation", real(s->deviation));
    set(t, "quantile", real(s->quantile));
}

/* How large the updates were in steps of packed weights. */
static void set_ratios(json_t *updates, const update_counts *u)
{
    json_t *counts = json_array();
    int from = 0, to = UPDATE_BINS;
    while (from < to && u->ratio[from] == 0)
        from++;
    while (to > from && u->ratio[to - 1] == 0)
        to--;
    for (int i = from; i < to; i++)
        if (json_array_append_new(counts, count(u->ratio[i])) != 0)
            die("out of memory");
    set(updates, "first", json_integer(UPDATE_FIRST - 1 + from));
    set(updates, "counts", counts);
    set(updates, "mean_move", real(u->elements ? u->moved / (double)u->elements : 0));
}

void record_updates(record *r, const update_counts *u, bool packed)
{
    json_t *updates = object();
    set(updates, "count", count(u->elements));
    set(updates, "not_zero", count(u->updates));
    set(updates, "vanished", count(u->vanished));
    set(updates, "gradients_below_2^-24", count(u->small_g));
    set(updates, "updates_below_2^-24", count(u->small_update));
    if (packed)
        set_ratios(updates, u);
    set(r->line, "updates", updates);
}

void record_clipping(record *r, const clipper *c)
{
    json_t *clipped = object();
    set(clipped, "largest", real(c->largest));
    set(clipped, "parts", count(c->last.parts));
    set(clipped, "clipped", count(c->last.parts_clipped));
    set(clipped, "steps_clipped_so_far", count(c->all.clipped));
    set(r->line, "clipping", clipped);
}

void record_sums(record *r, const sum_counts *s)
{
    json_t *sums = object();
    set(sums, "count", count(s->roundings));
    set(sums, "inexact", count(s->inexact));
    set(sums, "swamped", count(s->swamped));
    set(sums, "overflow", count(s->overflow));
    set(sums, "underflow", count(s->underflow));
    set(r->line, "sums", sums);
}

bool record_end(record *r, trouble *why)
{
    const bool good = write_line(r, r->line, why);
    remember(r, r->line);
    json_decref(r->line);
    r->line = NULL;
    return good;
}

bool record_epoch_end(record *r, const record_epoch *epoch, trouble *why)
{
    json_t *line = object();
    set(line, "step", count(epoch->step));
    set(line, "epoch", count((uint64_t)epoch->epoch));
    set(line, "test_loss", real(epoch->test_loss));
    set(line, "test_accuracy", real(epoch->test_accuracy));
    set(line, "test_accuracy_fp32", real(epoch->test_accuracy_fp32));
    set(line, "seconds", real(epoch->seconds));
    const bool good = write_line(r, line, why);
    remember(r, line);
    json_decref(line);
    return good;
}

bool record_policy_end(record *r, uint64_t step, const policy_epoch *end, trouble *why)
{
    json_t *line = object();
    set(line, "step", count(step));
    set(line, "policy_epoch", count((uint64_t)end->policy_epoch));
    set(line, "bits", count((uint64_t)end->bits));
    if (end->p > 0)
        set(line, "p", real(end->p));
    if (end->threshold > 0)
        set(line, "threshold", real(end->threshold));
    set(line, "switched", json_boolean(end->switched));
    const bool good = write_line(r, line, why);
    json_decref(line);
    return good;
}

/* ------------------------------------------------------------------------------------------------ the summary */

void record_note(record *r, const char *key, double value)
{
    set(r->notes, key, real(value));
}

static void set_from(json_t *summary, const char *what, json_t *line, const char *from)
{
    json_t *value = json_object_get(line, from);
    set(summary, what, value ? json_incref(value) : json_null());
}

static void tell_note(void *to, const char *key, double value)
{
    record_note(to, key, value);
}

void record_policy_notes(record *r, const policy *p)
{
    if (p->type->note)
        p->type->note(p, tell_note, r);
}

bool record_summary(record *r, bool finished, uint64_t steps, uint64_t skipped, trouble *why)
{
    json_t *summary = object();
    set(summary, "finished", json_boolean(finished));
    set(summary, "steps", count(steps));
    set(summary, "skipped", count(skipped));
    set_from(summary, "last_loss", r->step, "loss");
    set_from(summary, "last_scale", r->step, "scale");
    set_from(summary, "seconds", r->step, "seconds");
    set_from(summary, "best_accuracy", r->best, "test_accuracy");
    set_from(summary, "best_epoch", r->best, "epoch");
    set_from(summary, "last_accuracy", r->last, "test_accuracy");
    set_from(summary, "last_accuracy_fp32", r->last, "test_accuracy_fp32");
    set(summary, "elements", count(r->totals[0]));
    set(summary, "overflow", count(r->totals[1]));
    set(summary, "underflow", count(r->totals[2]));
    set(summary, "clipped", count(r->totals[3]));
    set(summary, "nan", count(r->totals[4]));
    set(summary, "notes", json_incref(r->notes));
    set(summary, "settings", json_incref(r->settings));
    char *text = json_dumps(summary, JSON_INDENT(2));
    char *path = path_join(r->directory, "summary.json");
    if (!text)
        die("out of memory");
    const bool good = atomic_file_write(path, text, strlen(text), why);
    free(path);
    free(text);
    json_decref(summary);
    return good;
}
