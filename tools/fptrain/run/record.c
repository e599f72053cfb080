/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - see record.h; how it begins and goes on is in record_start.c. */
#include "run/record_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/atomic_file.h"
#include "common/json.h"

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
    char *text = needed(json_dumps(line, JSON_COMPACT));
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

static bool sync_log(record *r, trouble *why)
{
    return (fflush(r->log) == 0 && fsync(fileno(r->log)) == 0) ||
           fail(why, "%s/log.jsonl: %s", r->directory, strerror(errno));
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
    r->line = json_object();
    object_put(r->line, "step", json_of_count(step->step));
    object_put(r->line, "epoch", json_of_count((uint64_t)step->epoch));
    object_put(r->line, "loss", json_of_double(step->loss));
    object_put(r->line, "lr", json_of_double(step->lr));
    object_put(r->line, "scale", json_of_double(step->scale));
    object_put(r->line, "accuracy", json_of_double(step->accuracy));
    object_put(r->line, "skipped", json_boolean(step->skipped));
    object_put(r->line, "skipped_so_far", json_of_count(step->skipped_so_far));
    object_put(r->line, "seconds", json_of_double(step->seconds));
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
    json_t *line = json_object();
    object_put(line, "step", json_incref(json_object_get(r->step, "step")));
    object_put(line, "scale", json_incref(json_object_get(r->step, "scale")));
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
        array_add(counts, json_of_count(u->ratio[i]));
    object_put(updates, "first", json_integer(UPDATE_FIRST - 1 + from));
    object_put(updates, "counts", counts);
    object_put(updates, "mean_move", json_of_double(u->elements ? u->moved / (double)u->elements : 0));
}

void record_updates(record *r, const update_counts *u, bool packed)
{
    json_t *updates = json_object();
    object_put(updates, "count", json_of_count(u->elements));
    object_put(updates, "not_zero", json_of_count(u->updates));
    object_put(updates, "vanished", json_of_count(u->vanished));
    object_put(updates, "gradients_below_2^-24", json_of_count(u->small_g));
    object_put(updates, "updates_below_2^-24", json_of_count(u->small_update));
    if (packed)
        set_ratios(updates, u);
    object_put(r->line, "updates", updates);
}

void record_clipping(record *r, const clipper *c)
{
    json_t *clipped = json_object();
    object_put(clipped, "largest", json_of_double(c->largest));
    object_put(clipped, "parts", json_of_count(c->last.parts));
    object_put(clipped, "clipped", json_of_count(c->last.parts_clipped));
    object_put(clipped, "steps_clipped_so_far", json_of_count(c->all.clipped));
    object_put(r->line, "clipping", clipped);
}

void record_sums(record *r, const sum_counts *s)
{
    json_t *sums = json_object();
    object_put(sums, "count", json_of_count(s->roundings));
    object_put(sums, "inexact", json_of_count(s->inexact));
    object_put(sums, "swamped", json_of_count(s->swamped));
    object_put(sums, "overflow", json_of_count(s->overflow));
    object_put(sums, "underflow", json_of_count(s->underflow));
    object_put(r->line, "sums", sums);
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
    json_t *line = json_object();
    object_put(line, "step", json_of_count(epoch->step));
    object_put(line, "epoch", json_of_count((uint64_t)epoch->epoch));
    object_put(line, "test_loss", json_of_double(epoch->test_loss));
    object_put(line, "test_accuracy", json_of_double(epoch->test_accuracy));
    object_put(line, "test_accuracy_fp32", json_of_double(epoch->test_accuracy_fp32));
    object_put(line, "seconds", json_of_double(epoch->seconds));
    const bool good = record_line(r, line, NULL, why);
    remember_epoch(r, line);
    json_decref(line);
    return good;
}

bool record_policy_end(record *r, uint64_t step, const policy_epoch *end, trouble *why)
{
    json_t *line = json_object();
    object_put(line, "step", json_of_count(step));
    object_put(line, "policy_epoch", json_of_count((uint64_t)end->policy_epoch));
    object_put(line, "bits", json_of_count((uint64_t)end->bits));
    if (end->p > 0)
        object_put(line, "p", json_of_double(end->p));
    if (end->threshold > 0)
        object_put(line, "threshold", json_of_double(end->threshold));
    object_put(line, "switched", json_boolean(end->switched));
    const bool good = record_line(r, line, NULL, why);
    json_decref(line);
    return good;
}

bool record_stop(record *r, uint64_t step, const char *reason, trouble *why)
{
    json_t *line = json_object();
    json_decref(r->stopped);
    r->stopped = json_string(reason);
    object_put(line, "step", json_of_count(step));
    object_put(line, "stopped", json_incref(r->stopped));
    const bool good = record_line(r, line, NULL, why);
    json_decref(line);
    return good;
}

bool record_save(record *r, checkpoint *to, trouble *why)
{
    if (!tell_rest(r, why) || !sync_log(r, why))
        return false;
    json_t *entry = json_object(), *totals = json_array();
    object_put(entry, "run", json_string(r->id));
    object_put(entry, "machine", machine_to_json(&r->machine));
    object_put(entry, "one_machine", json_boolean(r->one_machine));
    object_put(entry, "log", json_of_count((uint64_t)ftello(r->log)));
    object_put(entry, "log_crc32", json_of_count(r->crc));
    object_put(entry, "best", r->best ? json_incref(r->best) : json_null());
    object_put(entry, "last", r->last ? json_incref(r->last) : json_null());
    object_put(entry, "step", r->step ? json_incref(r->step) : json_null());
    for (int i = 0; i < TOTALS; i++)
        array_add(totals, json_of_count(r->totals[i]));
    object_put(entry, "totals", totals);
    char *text = needed(json_dumps(entry, JSON_COMPACT));
    checkpoint_put_text(to, "run", text);
    free(text);
    json_decref(entry);
    return true;
}

/* ------------------------------------------------------------------------------------------------ the summary */

void record_note(record *r, const char *key, double value)
{
    object_put(r->notes, key, json_of_double(value));
}

static void set_from(json_t *summary, const char *what, json_t *line, const char *from)
{
    json_t *value = json_object_get(line, from);
    object_put(summary, what, value ? json_incref(value) : json_null());
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
    if (!tell_rest(r, why) || !sync_log(r, why))
        return false;
    json_t *summary = json_object();
    object_put(summary, "run", json_string(r->id));
    object_put(summary, "machine", machine_to_json(&r->machine));
    object_put(summary, "one_machine", json_boolean(r->one_machine));
    object_put(summary, "finished", json_boolean(ending->finished));
    object_put(summary, "diverged", json_boolean(ending->diverged));
    object_put(summary, "stopped", r->stopped ? json_incref(r->stopped) : json_null());
    object_put(summary, "first_loss_not_finite", ending->not_finite ? json_of_count(ending->not_finite) : json_null());
    object_put(summary, "steps", json_of_count(ending->steps));
    object_put(summary, "skipped", json_of_count(ending->skipped));
    set_from(summary, "last_loss", r->step, "loss");
    set_from(summary, "last_scale", r->step, "scale");
    set_from(summary, "seconds", r->step, "seconds");
    set_from(summary, "best_accuracy", r->best, "test_accuracy");
    set_from(summary, "best_epoch", r->best, "epoch");
    set_from(summary, "last_accuracy", r->last, "test_accuracy");
    set_from(summary, "last_accuracy_fp32", r->last, "test_accuracy_fp32");
    static const char *const totals[TOTALS] = {"elements", "overflow", "underflow", "clipped", "nan"};
    for (int i = 0; i < TOTALS; i++)
        object_put(summary, totals[i], json_of_count(r->totals[i]));
    object_put(summary, "notes", json_incref(r->notes));
    object_put(summary, "settings", json_incref(r->settings));
    char *text = needed(json_dumps(summary, JSON_INDENT(2)));
    char *path = path_join(r->directory, "summary.json");
    const bool good = atomic_file_write(path, text, strlen(text), why);
    free(path);
    free(text);
    json_decref(summary);
    return good;
}
