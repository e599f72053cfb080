/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - runs that differ in the seed alone, and their mean. */
#include <fnmatch.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/outputs.h"
#include "report/group.h"

/* ---- names */
/* The last `names` names of the first `length` bytes of a path; *whole: there are no more. */
static size_t start_of(const char *path, size_t length, int names, bool *whole)
{
    size_t at = length;
    for (; at > 0; at--)
        if (path[at - 1] == '/' && --names == 0)
            break;
    *whole = at == 0;
    return at;
}

static size_t without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* False: some are alike. *all: more names would change nothing. */
static bool try_names(int count, const char *const *paths, int names, char **labels, bool *all)
{
    bool differ = true;
    *all = true;
    for (int i = 0; i < count; i++) {
        bool whole;
        const size_t length = without_slashes(paths[i]), from = start_of(paths[i], length, names, &whole);
        *all = *all && whole;
        memcpy(labels[i], paths[i] + (from < length ? from : 0), length - (from < length ? from : 0));
        labels[i][length - (from < length ? from : 0)] = '\0';
        for (int k = 0; k < i; k++)
            differ = differ && strcmp(labels[k], labels[i]) != 0;
    }
    return differ;
}

static void number(int count, char **labels)
{
    for (int i = count - 1; i > 0; i--) {
        int before = 0;
        for (int k = 0; k < i; k++)
            before += strcmp(labels[k], labels[i]) == 0;
        if (before)
            snprintf(labels[i] + strlen(labels[i]), 16, " (%d)", before + 1);
    }
}

/* Short names of directories, by which one can still tell them apart: of each path its last names, as many as make all
 * differ; where nothing does, a number follows. */
static char **labels_make(int count, const char *const *paths)
{
    char **labels = need((size_t)count + 1, sizeof *labels);
    bool all = false;
    for (int i = 0; i < count; i++)
        labels[i] = need(strlen(paths[i]) + 20, 1);
    for (int names = 1; !try_names(count, paths, names, labels, &all); names++) {
        if (!all)
            continue;
        number(count, labels);
        break;
    }
    return labels;
}

static void labels_free(int count, char **labels)
{
    for (int i = 0; i < count; i++)
        free(labels[i]);
    free(labels);
}

/* ---- groups */

bool group_tells(const settings_key *key)
{
    return strcmp(key->section, "output") != 0 && (strcmp(key->section, "train") != 0 || strcmp(key->key, "seed") != 0);
}

bool group_alike(const run *one, const run *other)
{
    const settings *a = &one->settings, *b = &other->settings;
    return settings_difference(a, b, group_tells) < 0 && settings_same_formats(a, b) && settings_same_network(a, b);
}

/* What has not ended has no result, and a seed counts once. */
static bool belongs(const group *g, const run *r)
{
    bool good = r->ended && g->member[0]->ended && group_alike(g->member[0], r);
    for (int i = 0; i < g->count; i++)
        good = good && g->member[i]->settings.train.seed != r->settings.train.seed;
    return good;
}

/* The bytes of first[0..length) with which all names of the members begin. */
static size_t alike(const group *g, const char *first, size_t length)
{
    for (int i = 1; i < g->count; i++) {
        size_t same = 0;
        while (same < length && first[same] == g->member[i]->name[same])
            same++;
        length = same;
    }
    return length;
}

static size_t without(const char *text, size_t length, const char *ends)
{
    while (length > 0 && strchr(ends, text[length - 1]))
        length--;
    return length;
}

/* What the names of the members begin with, up to a mark between words, or in the last word, where that has none, up
 * to a number; of one run its name. */
static char *path_of(const group *g)
{
    static const char marks[] = "/-_.=", digits[] = "0123456789";
    const char *first = g->member[0]->name;
    size_t whole = strlen(first), length;
    while (whole > 1 && first[whole - 1] == '/')
        whole--;
    length = whole;
    if (g->count > 1) {
        const size_t same = alike(g, first, whole);
        for (length = same; length > 0 && !strchr(marks, first[length - 1]);)
            length--;
        if (length == 0 || first[length - 1] == '/')
            length = without(first, same, digits);
        length = without(first, length, marks);
    }
    if (length == 0)
        length = whole;
    return copy_text(first, length);
}

/* ------------------------------------------------------------------------------------------------ means */

/* y at x; NULL: there is no such point. Points come in the order of x. */
static const double *find(const series *s, double x)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->x[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->x[low] == x ? &s->y[low] : NULL;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every x that one of the curves has, once, in order; for free(). */
static double *all_places(int count, const series *const *from, size_t *places)
{
    size_t n = 0;
    for (int k = 0; k < count; k++)
        n += from[k]->count;
    double *x = need(n + 1, sizeof *x);
    n = 0;
    for (int k = 0; k < count; k++) {
        if (from[k]->count)
            memcpy(x + n, from[k]->x, from[k]->count * sizeof *x);
        n += from[k]->count;
    }
    qsort(x, n, sizeof *x, compare);
    *places = 0;
    for (size_t i = 0; i < n; i++)
        if (!*places || x[i] > x[*places - 1])
            x[(*places)++] = x[i];
    return x;
}

/* Where only some have a point, over those; where one has no number, there is none. Scales are averaged as powers of
 * two. low, high: the ends of the range; NULL: not asked for. */
static void average(series *mean, series *low, series *high, int count, const series *const *from, bool scales)
{
    size_t places;
    double *x = all_places(count, from, &places);
    for (size_t i = 0; i < places; i++) {
        double sum = 0, n = 0, least = INFINITY, most = -INFINITY;
        for (int k = 0; k < count; k++) {
            const double *y = find(from[k], x[i]);
            if (!y)
                continue;
            sum += scales ? log2(*y) : *y;
            least = fmin(least, *y);
            most = fmax(most, *y);
            n++;
        }
        series_add(mean, x[i], scales ? exp2(sum / n) : sum / n);
        if (low)
            series_add(low, x[i], isfinite(sum) ? least : NAN);
        if (high)
            series_add(high, x[i], isfinite(sum) ? most : NAN);
    }
    free(x);
}

static const size_t curves_of_runs[] = {offsetof(run, loss),  offsetof(run, accuracy), offsetof(run, accuracy_fp32),
                                        offsetof(run, move),  offsetof(run, scale),    offsetof(run, vanished),
                                        offsetof(run, widest)};
enum { CURVES = sizeof curves_of_runs / sizeof *curves_of_runs };

static void average_track(track *mean, const group *g, const track *first)
{
    static const size_t places[] = {offsetof(track, underflow_share), offsetof(track, deviation),
                                    offsetof(track, quantile), offsetof(track, alpha)};
    static const series none = {0, 0, NULL, NULL};
    const series **from = need((size_t)g->count, sizeof *from);
    const track **own = need((size_t)g->count, sizeof *own);
    *mean = (track){.name = first->name, .role = first->role};
    for (int k = 0; k < g->count; k++) {
        own[k] = run_track(g->member[k], first->name, first->role);
        if (!own[k])
            continue;
        mean->elements += own[k]->elements;
        mean->overflow += own[k]->overflow;
        mean->underflow += own[k]->underflow;
        if (own[k]->exponents && !mean->exponents)
            mean->exponents = need(BINS, sizeof *mean->exponents);
        for (int i = 0; own[k]->exponents && i < BINS; i++)
            mean->exponents[i] += own[k]->exponents[i];
        mean->zeros += own[k]->zeros;
        mean->with_exponents += own[k]->with_exponents;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int k = 0; k < g->count; k++)
            from[k] = own[k] ? series_at(own[k], places[i]) : &none;
        average(series_at(mean, places[i]), NULL, NULL, g->count, from, places[i] == offsetof(track, alpha));
    }
    free(own);
    free(from);
}

/* Sums over the chosen gradients of one step. */
typedef struct step_sums {
    double vanished, elements, widest;
} step_sums;

/* The steps are looked up for the points of a track, so that many short tracks take no more time than they have points.
 * Of several points at one step the first counts. */
static void gather_track(const track *t, const series *steps, step_sums *sums)
{
    const series *const share = &t->underflow_share, *const deviation = &t->deviation;
    const double weight = share->count ? (double)t->elements / (double)share->count : 0;
    for (size_t i = 0; i < share->count; i++) {
        const double *step = find(steps, share->x[i]);
        if (!step || (i && share->x[i] == share->x[i - 1]))
            continue;
        sums[step - steps->y].vanished += weight > 0 ? share->y[i] * weight : 0;
        sums[step - steps->y].elements += weight;
    }
    for (size_t i = 0; i < deviation->count; i++) {
        const double *step = find(steps, deviation->x[i]);
        if (step && !(i && deviation->x[i] == deviation->x[i - 1]))
            sums[step - steps->y].widest = fmax(sums[step - steps->y].widest, deviation->y[i]);
    }
}

/* Over the chosen gradients of a step: the share that vanished, and the largest deviation. */
static void gather(run *to, const run *r, const char *tensors)
{
    const series *longest = NULL;
    bool *chosen = need(r->track_count + 1, sizeof *chosen);
    for (size_t i = 0; i < r->track_count; i++) {
        const track *t = &r->tracks[i];
        chosen[i] = fnmatch(tensors, t->name, 0) == 0;
        if (chosen[i] && (!longest || t->alpha.count > longest->count))
            longest = &t->alpha;
    }
    series steps = {.count = 0};
    steps.x = steps.y = longest ? all_places(1, &longest, &steps.count) : NULL;
    step_sums *sums = need(steps.count + 1, sizeof *sums);
    for (size_t k = 0; k < steps.count; k++)
        sums[k].widest = NAN;
    for (size_t i = 0; i < r->track_count; i++)
        if (chosen[i])
            gather_track(&r->tracks[i], &steps, sums);
    for (size_t k = 0; k < steps.count; k++) {
        if (sums[k].elements > 0)
            series_add(&to->vanished, steps.x[k], sums[k].vanished / sums[k].elements);
        if (!isnan(sums[k].widest))
            series_add(&to->widest, steps.x[k], sums[k].widest);
    }
    free(chosen);
    free(steps.x);
    free(sums);
}

static void average_curves(groups *all, int k, const char *tensors)
{
    const group *g = &all->group[k];
    const series **from = need((size_t)g->count, sizeof *from);
    run *own = need((size_t)g->count, sizeof *own); /* the two curves that are gathered */
    for (int m = 0; m < g->count; m++)
        gather(&own[m], g->member[m], tensors);
    for (int i = 0; i < CURVES; i++) {
        const size_t place = curves_of_runs[i];
        for (int m = 0; m < g->count; m++)
            from[m] = series_at(
                place == offsetof(run, vanished) || place == offsetof(run, widest) ? &own[m] : g->member[m], place);
        average(series_at(&all->mean[k], place), series_at(&all->low[k], place), series_at(&all->high[k], place),
                g->count, from, place == offsetof(run, scale));
    }
    for (int m = 0; m < g->count; m++) {
        series_free(&own[m].vanished);
        series_free(&own[m].widest);
    }
    free(own);
    free(from);
}

static void make_mean(run *mean, const group *g)
{
    const run *first = g->member[0];
    *mean = (run){.settings = first->settings,
                  .best = NAN,
                  .last = NAN,
                  .last_fp32 = NAN,
                  .track_count = first->track_count,
                  .places = first->places,
                  .tracks = need(first->track_count + 1, sizeof *mean->tracks)};
    for (int k = 0; k < g->count; k++) {
        for (int i = 0; i < UPDATE_BINS; i++)
            mean->updates[i] += g->member[k]->updates[i];
        mean->updated += g->member[k]->updated;
    }
    for (size_t i = 0; i < first->track_count; i++)
        average_track(&mean->tracks[i], g, &first->tracks[i]);
}

/* Names by which groups can be told apart. */
static void name_groups(groups *all)
{
    char **paths = need((size_t)all->count, sizeof *paths);
    for (int k = 0; k < all->count; k++)
        paths[k] = path_of(&all->group[k]);
    all->label = labels_make(all->count, (const char *const *)paths);
    for (int k = 0; k < all->count; k++) {
        all->mean[k].name = all->label[k];
        free(paths[k]);
    }
    free(paths);
}

groups groups_make(const run *runs, int count, const char *tensors)
{
    groups all = {.group = need((size_t)count, sizeof *all.group),
                  .mean = need((size_t)count, sizeof *all.mean),
                  .low = need((size_t)count, sizeof *all.low),
                  .high = need((size_t)count, sizeof *all.high)};
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < all.count && !belongs(&all.group[k], &runs[i]))
            k++;
        group *g = &all.group[k];
        if (k == all.count) {
            all.count++;
            g->member = need((size_t)count, sizeof *g->member);
        }
        g->member[g->count++] = &runs[i];
    }
    for (int k = 0; k < all.count; k++) {
        make_mean(&all.mean[k], &all.group[k]);
        average_curves(&all, k, tensors);
    }
    name_groups(&all);
    return all;
}

/* Logs of before have no id. */
bool group_same_run(const run *a, const run *b)
{
    return a->settings.train.seed == b->settings.train.seed &&
           (a->id && b->id ? strcmp(a->id, b->id) == 0 : same_target(a->name, b->name));
}

/* Names and places of tracks, and settings, belong to the runs. */
static void free_mean(run *mean)
{
    for (size_t i = 0; i < mean->track_count; i++)
        track_free(&mean->tracks[i]);
    free(mean->tracks);
}

static void free_curves(run *of)
{
    for (int i = 0; i < CURVES; i++)
        series_free(series_at(of, curves_of_runs[i]));
}

void groups_free(groups *g)
{
    for (int k = 0; k < g->count; k++) {
        free_mean(&g->mean[k]);
        free_curves(&g->mean[k]);
        free_curves(&g->low[k]);
        free_curves(&g->high[k]);
        free(g->group[k].member);
    }
    labels_free(g->count, g->label);
    free(g->group);
    free(g->mean);
    free(g->low);
    free(g->high);
}

/* ------------------------------------------------------------------------------------------------ figures */

void figure_add(figure *f, double x)
{
    if (isnan(x))
        return;
    f->low = f->count ? fmin(f->low, x) : x;
    f->high = f->count ? fmax(f->high, x) : x;
    f->sum += x;
    f->count++;
}

figure figure_of_runs(const group *g, size_t place)
{
    figure f = {0};
    for (int i = 0; i < g->count; i++) {
        double value;
        memcpy(&value, (const char *)g->member[i] + place, sizeof value);
        figure_add(&f, value);
    }
    return f;
}

figure figure_of_notes(const group *g, const char *key)
{
    figure f = {0};
    for (int i = 0; i < g->count; i++) {
        const json_t *value = json_object_get(g->member[i]->notes, key);
        figure_add(&f, json_is_number(value) ? json_number_value(value) : NAN);
    }
    return f;
}
