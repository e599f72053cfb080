/* SPDX-License-Identifier: BSD-2-Clause */
/* run_data.c - a run from settings.ini, log.jsonl and summary.json of its directory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "report/log_lines.h"
#include "report/run_data.h"
#include "run/record.h"

void series_add(series *s, double x, double y)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + 64;
        s->x = need_more(s->x, s->room, sizeof *s->x);
        s->y = need_more(s->y, s->room, sizeof *s->y);
    }
    s->x[s->count] = x;
    s->y[s->count++] = y;
}

void series_free(series *s)
{
    free(s->x);
    free(s->y);
    *s = (series){0, 0, NULL, NULL};
}

/* A number, or one of the words for those that JSON has not; NaN where there is none. */
static double number(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    const char *word = json_string_value(value);
    if (word)
        return strcmp(word, "inf") == 0 ? INFINITY : strcmp(word, "-inf") == 0 ? -INFINITY : NAN;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t whole(const json_t *line, const char *key)
{
    const json_int_t n = json_integer_value(json_object_get(line, key));
    return n > 0 ? (uint64_t)n : 0;
}

/* One name may have several roles; the length keeps `a` of role `bc` apart from `ab` of role `c`. */
enum { TRACK_KEY = 2 * LOG_NAME + 32 };
static const char *key_of(const char *name, const char *role, char key[TRACK_KEY])
{
    snprintf(key, TRACK_KEY, "%zu %s%s", strlen(role), role, name);
    return key;
}

const track *run_track(const run *r, const char *name, const char *role)
{
    char key[TRACK_KEY];
    const json_t *place = json_object_get(r->places, key_of(name, role, key));
    return place ? &r->tracks[json_integer_value(place)] : NULL;
}

static track *find_track(run *r, const char *name, const char *role)
{
    char key[TRACK_KEY];
    const track *known = run_track(r, name, role);
    if (known)
        return &r->tracks[known - r->tracks];
    if ((r->track_count & (r->track_count - 1)) == 0) /* doubles at every power of two */
        r->tracks = need_more(r->tracks, 2 * r->track_count + 1, sizeof *r->tracks);
    r->places = r->places ? r->places : json_object();
    object_put(r->places, key_of(name, role, key), json_integer((json_int_t)r->track_count));
    r->tracks[r->track_count] = (track){.name = copy_text(name, strlen(name)), .role = copy_text(role, strlen(role))};
    return &r->tracks[r->track_count++];
}

/* Adds counts, the first of them to bin `first`, what lies outside to those at the ends; all of them together. */
static uint64_t add_counts(uint64_t *bins, int most, double first, const json_t *counts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < json_array_size(counts); i++) {
        const json_int_t n = json_integer_value(json_array_get(counts, i));
        const double place = first + (double)i;
        bins[place < 0 ? 0 : place >= most ? most - 1 : (int)place] += n > 0 ? (uint64_t)n : 0;
        sum += n > 0 ? (uint64_t)n : 0;
    }
    return sum;
}

/* What has no exponent, and is no NaN or infinity, is zero. */
static void add_histogram(track *t, const json_t *tensor)
{
    const json_t *histogram = json_object_get(tensor, "histogram"), *counts = json_object_get(histogram, "counts");
    const double first = (double)json_integer_value(json_object_get(histogram, "first"));
    const uint64_t elements = whole(tensor, "count");
    uint64_t others = whole(tensor, "nan") + whole(tensor, "infinite");
    if (!json_is_array(counts))
        return;
    if (!t->exponents)
        t->exponents = need(BINS, sizeof *t->exponents);
    others += add_counts(t->exponents, BINS, first - LOWEST, counts);
    t->with_exponents += elements;
    t->zeros += others < elements ? elements - others : 0;
}

static void add_number(series *s, double step, const json_t *tensor, const char *key)
{
    if (json_object_get(tensor, key))
        series_add(s, step, number(tensor, key));
}

static void add_tensor(void *to, json_t *tensor)
{
    run *r = to;
    const double step = (double)r->steps;
    const char *name = json_string_value(json_object_get(tensor, "name"));
    const char *role = json_string_value(json_object_get(tensor, "role"));
    if (!name || !role)
        return;
    track *t = find_track(r, name, role);
    const uint64_t elements = whole(tensor, "count"), underflow = whole(tensor, "underflow");
    t->elements += elements;
    t->overflow += whole(tensor, "overflow");
    t->underflow += underflow;
    if (elements > 0)
        series_add(&t->underflow_share, step, (double)underflow / (double)elements);
    if (elements > 0)
        series_add(&t->outside_share, step,
                   (double)(whole(tensor, "clipped") + whole(tensor, "infinite")) / (double)elements);
    add_number(&t->alpha, step, tensor, "alpha");
    add_number(&t->deviation, step, tensor, "deviation");
    add_number(&t->quantile, step, tensor, "quantile");
    add_histogram(t, tensor);
}

static void add_updates(run *r, const json_t *updates, double step)
{
    const json_t *counts = json_object_get(updates, "counts");
    const double first = (double)json_integer_value(json_object_get(updates, "first")) - (UPDATE_FIRST - 1);
    if (!json_is_array(counts))
        return;
    add_counts(r->updates, UPDATE_BINS, first, counts);
    r->updated += whole(updates, "count");
    series_add(&r->move, step, number(updates, "mean_move"));
}

static void add_policy(run *r, const json_t *line)
{
    const double epoch = (double)whole(line, "policy_epoch"), bits = (double)whole(line, "bits");
    series_add(&r->bits, epoch, bits);
    series_add(&r->p, epoch, number(line, "p"));
    series_add(&r->threshold, epoch, number(line, "threshold"));
    if (json_is_true(json_object_get(line, "switched")))
        series_add(&r->switched, epoch, bits);
}

static void add_step(run *r, const json_t *line, double step)
{
    r->skipped = whole(line, "skipped_so_far");
    series_add(&r->loss, step, number(line, "loss"));
    series_add(&r->scale, step, number(line, "scale"));
    add_updates(r, json_object_get(line, "updates"), step);
}

static void add_epoch(run *r, const json_t *line, double step)
{
    r->test_loss = number(line, "test_loss");
    r->last = number(line, "test_accuracy");
    r->last_fp32 = number(line, "test_accuracy_fp32");
    if (!(r->best >= r->last))
        r->best = r->last;
    series_add(&r->accuracy, step, r->last);
    series_add(&r->accuracy_fp32, step, r->last_fp32);
}

static void add_line(void *to, const log_line *in)
{
    run *r = to;
    const json_t *line = in->line;
    const double step = (double)whole(line, "step");
    r->steps = whole(line, "step");
    log_tensors(in, add_tensor, r);
    if (json_object_get(line, "test_accuracy"))
        add_epoch(r, line, step);
    else if (json_object_get(line, "policy_epoch"))
        add_policy(r, line);
    else if (json_object_get(line, "loss")) /* else counters alone, another machine, or the end */
        add_step(r, line, step);
}

/* A run that has not ended has none. */
static bool read_summary(run *r, const char *directory, trouble *why)
{
    char *path = path_join(directory, "summary.json");
    const bool there = access(path, F_OK) == 0 || errno != ENOENT;
    json_t *summary = there ? json_read_path(path, RECORD_LARGEST, why) : NULL;
    free(path);
    r->ended = there;
    r->notes = json_incref(json_object_get(summary, "notes"));
    if (json_is_integer(json_object_get(summary, "skipped"))) /* those after the last step of the log too */
        r->skipped = whole(summary, "skipped");
    const bool good = !there || summary;
    json_decref(summary);
    if (isfinite(r->test_loss)) { /* a number like the notes, but not known to them alone */
        r->notes = r->notes ? r->notes : json_object();
        json_object_set_new(r->notes, "test_loss", json_real(r->test_loss));
    }
    return good;
}

bool run_load(run *r, const char *directory, trouble *why)
{
    char *path = path_join(directory, "settings.ini");
    *r = (run){
        .name = copy_text(directory, strlen(directory)), .best = NAN, .last = NAN, .last_fp32 = NAN, .test_loss = NAN};
    settings_default(&r->settings);
    const bool good = settings_read(&r->settings, path, why) && log_read(directory, add_line, r, &r->id, why) &&
                      read_summary(r, directory, why);
    free(path);
    if (!good)
        run_free(r);
    return good;
}

void track_free(track *t)
{
    free(t->exponents);
    series_free(&t->underflow_share);
    series_free(&t->outside_share);
    series_free(&t->alpha);
    series_free(&t->deviation);
    series_free(&t->quantile);
}

void run_free(run *r)
{
    for (size_t i = 0; i < r->track_count; i++) {
        free(r->tracks[i].name);
        free(r->tracks[i].role);
        track_free(&r->tracks[i]);
    }
    free(r->tracks);
    json_decref(r->places);
    free(r->name);
    free(r->id);
    series_free(&r->loss);
    series_free(&r->scale);
    series_free(&r->accuracy);
    series_free(&r->accuracy_fp32);
    series_free(&r->p);
    series_free(&r->threshold);
    series_free(&r->bits);
    series_free(&r->switched);
    series_free(&r->move);
    series_free(&r->vanished);
    series_free(&r->widest);
    settings_free(&r->settings);
    json_decref(r->notes);
}
