/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - see record.h; how it begins and goes on is in record_start.c. */
#include "common/system.h"

#include "run/record_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/atomic_file.h"

static json_t *real(double x)
{
    json_t *value = isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
    if (!value)
        die("out of memory");
    return value;
}

json_t *record_count(uint64_t n)
{
    json_t *value = json_integer((json_int_t)n);
    if (!value)
        die("out of memory");
    return value;
}

void record_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        die("out of memory");
}

json_t *record_object(void)
{
    json_t *o = json_object();
    if (!o)
        die("out of memory");
    return o;
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
    json_decref(r->stopped);
    tally_free(r->tally);
    free(r->directory);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ lines */

bool record_line(record *r, json_t *line, const char *tensors, trouble *why)
{
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text)
        die("out of memory");
    size_t length = strlen(text);
    if (tensors) {
        const size_t room = length + strlen(tensors) + 16;
        char *longer = need(room, 1);
        snprintf(longer, room, "%.*s,\"tensors\":%s}", (int)length - 1, text, tensors);
        free(text);
        text = longer;
        length = strlen(text);
    }
    text[length] = '\n'; /* in place of the zero: one write for the whole line */
    const bool good = fwrite(text, 1, length + 1, r->log) == length + 1 && fflush(r->log) == 0;
    r->crc = (uint32_t)crc32_z(r->crc, (const uint8_t *)text, length + 1);
    free(text);
    return good || fail(why, "%s/log.jsonl: %s", r->directory, strerror(errno));
}

bool record_sync(record *r, trouble *why)
{
    if (fflush(r->log) == 0 && fsync(fileno(r->log)) == 0)
        return true;
    return fail(why, "%s/log.jsonl: %s", r->directory, strerror(errno));
}

static void hold(json_t **where, json_t *line)
{
    json_incref(line);
    json_decref(*where);
    *where = line;
}

static void remember_epoch(record *r, json_t *line)
{
    const double best = json_number_value(json_object_get(r->best, "test_accuracy"));
    if (!r->best || json_number_value(json_object_get(line, "test_accuracy")) > best)
        hold(&r->best, line);
    hold(&r->last, line);
}

void record_begin(record *r, const record_step *step)
{
    r->line = record_object();
    record_set(r->line, "step", record_count(step->step));
    record_set(r->line, "epoch", record_count((uint64_t)step->epoch));
    record_set(r->line, "loss", real(step->loss));
    record_set(r->line, "lr", real(step->lr));
    record_set(r->line, "scale", real(step->scale));
    record_set(r->line, "accuracy", real(step->accuracy));
    record_set(r->line, "skipped", json_boolean(step->skipped));
    record_set(r->line, "skipped_so_far", record_count(step->skipped_so_far));
    record_set(r->line, "seconds", real(step->seconds));
}

void record_tensor(record *r, role which, int index, const fpemu_stats *stats)
{
    tally_add(r->tally, r->first[which] + index, stats);
    r->totals[ELEMENTS] += stats->count;
    r->totals[OVERFLOW_] += stats->overflow;
    r->totals[UNDERFLOW_] += stats->underflow;
    r->totals[CLIPPED] += stats->clipped;
    r->totals[NOT_A_NUMBER] += stats->nan;
}

void record_gradient(record *r, role which, int index, double alpha, const dispersion *s)
{
    tally_gradient(r->tally, r->first[which] + index, alpha, s);
}

/* Whether the counters so far are told in this line of a step, the first being 1: in each of the first 500, then in
 * each second of 1000, each fourth of 2000... */
static bool is_due(uint64_t line)
{
    enum { AT_EACH = 500 };
    uint64_t together = 1;
    for (; line > AT_EACH * together; together *= 2)
        line -= AT_EACH * together;
    return line % together == 0;
}

/* The scale of the loss at the last line of a step. */
static double scale_of(const json_t *line)
{
    return json_number_value(json_object_get(line, "scale"));
}

/* Counters that no line has yet come into one without a loss. */
static bool tell_rest(record *r, trouble *why)
{
    if (tally_empty(r->tally))
        return true;
    json_t *line = record_object();
    record_set(line, "step", json_incref(json_object_get(r->step, "step")));
    record_set(line, "scale", json_incref(json_object_get(r->step, "scale")));
    char *tensors = tally_print(r->tally, scale_of(r->step));
    const bool good = record_line(r, line, tensors, why);
    free(tensors);
    json_decref(line);
    return good;
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
        if (json_array_append_new(counts, record_count(u->ratio[i])) != 0)
            die("out of memory");
    record_set(updates, "first", json_integer(UPDATE_FIRST - 1 + from));
    record_set(updates, "counts", counts);
    record_set(updates, "mean_move", real(u->elements ? u->moved / (double)u->elements : 0));
}

void record_updates(record *r, const update_counts *u, bool packed)
{
    json_t *updates = record_object();
    record_set(updates, "count", record_count(u->elements));
    record_set(updates, "not_zero", record_count(u->updates));
    record_set(updates, "vanished", record_count(u->vanished));
    record_set(updates, "gradients_below_2^-24", record_count(u->small_g));
    record_set(updates, "updates_below_2^-24", record_count(u->small_update));
    if (packed)
        set_ratios(updates, u);
    record_set(r->line, "updates", updates);
}

void record_clipping(record *r, const clipper *c)
{
    json_t *clipped = record_object();
    record_set(clipped, "largest", real(c->largest));
    record_set(clipped, "parts", record_count(c->last.parts));
    record_set(clipped, "clipped", record_count(c->last.parts_clipped));
    record_set(clipped, "steps_clipped_so_far", record_count(c->all.clipped));
    record_set(r->line, "clipping", clipped);
}

void record_sums(record *r, const sum_counts *s)
{
    json_t *sums = record_object();
    record_set(sums, "count", record_count(s->roundings));
    record_set(sums, "inexact", record_count(s->inexact));
    record_set(sums, "swamped", record_count(s->swamped));
    record_set(sums, "overflow", record_count(s->overflow));
    record_set(sums, "underflow", record_count(s->underflow));
    record_set(r->line, "sums", sums);
}

bool record_end(record *r, trouble *why)
{
    const uint64_t step = (uint64_t)json_integer_value(json_object_get(r->line, "step"));
    const bool tell = !tally_empty(r->tally) && is_due(step / r->every);
    char *tensors = tell ? tally_print(r->tally, scale_of(r->line)) : NULL;
    const bool good = record_line(r, r->line, tensors, why);
    free(tensors);
    hold(&r->step, r->line);
    json_decref(r->line);
    r->line = NULL;
    return good;
}

bool record_epoch_end(record *r, const record_epoch *epoch, trouble *why)
{
    json_t *line = record_object();
    record_set(line, "step", record_count(epoch->step));
    record_set(line, "epoch", record_count((uint64_t)epoch->epoch));
    record_set(line, "test_loss", real(epoch->test_loss));
    record_set(line, "test_accuracy", real(epoch->test_accuracy));
    record_set(line, "test_accuracy_fp32", real(epoch->test_accuracy_fp32));
    record_set(line, "seconds", real(epoch->seconds));
    const bool good = record_line(r, line, NULL, why);
    remember_epoch(r, line);
    json_decref(line);
    return good;
}

bool record_policy_end(record *r, uint64_t step, const policy_epoch *end, trouble *why)
{
    json_t *line = record_object();
    record_set(line, "step", record_count(step));
    record_set(line, "policy_epoch", record_count((uint64_t)end->policy_epoch));
    record_set(line, "bits", record_count((uint64_t)end->bits));
    if (end->p > 0)
        record_set(line, "p", real(end->p));
    if (end->threshold > 0)
        record_set(line, "threshold", real(end->threshold));
    record_set(line, "switched", json_boolean(end->switched));
    const bool good = record_line(r, line, NULL, why);
    json_decref(line);
    return good;
}

bool record_stop(record *r, uint64_t step, const char *reason, trouble *why)
{
    json_t *line = record_object();
    json_decref(r->stopped);
    r->stopped = json_string(reason);
    record_set(line, "step", record_count(step));
    record_set(line, "stopped", json_incref(r->stopped));
    const bool good = record_line(r, line, NULL, why);
    json_decref(line);
    return good;
}

bool record_save(record *r, checkpoint *to, trouble *why)
{
    if (!tell_rest(r, why) || !record_sync(r, why))
        return false;
    json_t *entry = record_object(), *totals = json_array();
    record_set(entry, "run", json_string(r->id));
    record_set(entry, "machine", machine_to_json(&r->machine));
    record_set(entry, "one_machine", json_boolean(r->one_machine));
    record_set(entry, "log", record_count((uint64_t)ftello(r->log)));
    record_set(entry, "log_crc32", record_count(r->crc));
    record_set(entry, "best", r->best ? json_incref(r->best) : json_null());
    record_set(entry, "last", r->last ? json_incref(r->last) : json_null());
    record_set(entry, "step", r->step ? json_incref(r->step) : json_null());
    for (int i = 0; i < TOTALS; i++)
        if (json_array_append_new(totals, record_count(r->totals[i])) != 0)
            die("out of memory");
    record_set(entry, "totals", totals);
    char *text = json_dumps(entry, JSON_COMPACT);
    if (!text)
        die("out of memory");
    checkpoint_put_text(to, "run", text);
    free(text);
    json_decref(entry);
    return true;
}

/* ------------------------------------------------------------------------------------------------ the summary */

void record_note(record *r, const char *key, double value)
{
    record_set(r->notes, key, real(value));
}

static void set_from(json_t *summary, const char *what, json_t *line, const char *from)
{
    json_t *value = json_object_get(line, from);
    record_set(summary, what, value ? json_incref(value) : json_null());
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

bool record_summary(record *r, const record_ending *ending, trouble *why)
{
    if (!tell_rest(r, why) || !record_sync(r, why))
        return false;
    json_t *summary = record_object();
    record_set(summary, "run", json_string(r->id));
    record_set(summary, "machine", machine_to_json(&r->machine));
    record_set(summary, "one_machine", json_boolean(r->one_machine));
    record_set(summary, "finished", json_boolean(ending->finished));
    record_set(summary, "diverged", json_boolean(ending->diverged));
    record_set(summary, "stopped", r->stopped ? json_incref(r->stopped) : json_null());
    record_set(summary, "first_loss_not_finite", ending->not_finite ? record_count(ending->not_finite) : json_null());
    record_set(summary, "steps", record_count(ending->steps));
    record_set(summary, "skipped", record_count(ending->skipped));
    set_from(summary, "last_loss", r->step, "loss");
    set_from(summary, "last_scale", r->step, "scale");
    set_from(summary, "seconds", r->step, "seconds");
    set_from(summary, "best_accuracy", r->best, "test_accuracy");
    set_from(summary, "best_epoch", r->best, "epoch");
    set_from(summary, "last_accuracy", r->last, "test_accuracy");
    set_from(summary, "last_accuracy_fp32", r->last, "test_accuracy_fp32");
    static const char *const totals[TOTALS] = {"elements", "overflow", "underflow", "clipped", "nan"};
    for (int i = 0; i < TOTALS; i++)
        record_set(summary, totals[i], record_count(r->totals[i]));
    record_set(summary, "notes", json_incref(r->notes));
    record_set(summary, "settings", json_incref(r->settings));
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
