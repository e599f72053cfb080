/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - runs that differ in the seed alone, and their mean. */
#include "common/system.h"

#include <fnmatch.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/group.h"

bool group_tells(const settings_key *key)
{
    return strcmp(key->section, "output") != 0 && (strcmp(key->section, "train") != 0 || strcmp(key->key, "seed") != 0);
}

static bool same_settings(const settings *a, const settings *b)
{
    return settings_difference(a, b, group_tells) < 0 && settings_same_formats(a, b) && settings_same_network(a, b);
}

/* What the names of the members begin with, up to a mark between words; of one run its name. Directories above are left
 * out. */
static char *label_of(const group *g)
{
    const char *first = g->member[0]->name;
    size_t length = strlen(first);
    while (length > 1 && first[length - 1] == '/')
        length--;
    for (int i = 1; i < g->count; i++) {
        size_t same = 0;
        while (same < length && first[same] == g->member[i]->name[same])
            same++;
        while (same > 0 && !strchr("/-_.=", first[same - 1]))
            same--;
        length = same;
    }
    while (g->count > 1 && length > 0 && strchr("/-_.=", first[length - 1]))
        length--;
    if (length == 0)
        length = strlen(first);
    size_t from = length;
    while (from > 0 && first[from - 1] != '/')
        from--;
    if (from == length) /* "/" */
        from = 0;
    char *label = need(length - from + 1, 1);
    memcpy(label, first + from, length - from);
    return label;
}

/* ------------------------------------------------------------------------------------------------ means */

static const series *at(const void *of, size_t place)
{
    return (const series *)((const char *)of + place);
}

/* y at x; NaN: there is no such point. Points come in the order of x. */
static double find(const series *s, double x)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->x[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->x[low] == x ? s->y[low] : NAN;
}

/* At the points of the first; where others lack one, over those that have it. Scales are averaged as powers of two. */
static void average(series *to, int count, const series *const *from, bool scales)
{
    for (size_t i = 0; i < from[0]->count; i++) {
        double sum = 0, n = 0;
        for (int k = 0; k < count; k++) {
            const double y = k ? find(from[k], from[0]->x[i]) : from[0]->y[i];
            if (k && isnan(y))
                continue;
            sum += scales ? log2(y) : y;
            n++;
        }
        series_add(to, from[0]->x[i], scales ? exp2(sum / n) : sum / n);
    }
}

static void average_curves(run *mean, const group *g)
{
    static const size_t places[] = {offsetof(run, loss), offsetof(run, accuracy), offsetof(run, accuracy_fp32),
                                    offsetof(run, move), offsetof(run, scale)};
    const series **from = need((size_t)g->count, sizeof *from);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int k = 0; k < g->count; k++)
            from[k] = at(g->member[k], places[i]);
        average((series *)((char *)mean + places[i]), g->count, from, places[i] == offsetof(run, scale));
    }
    free(from);
}

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
        mean->nan += own[k]->nan;
        if (own[k]->exponents && !mean->exponents)
            mean->exponents = need(BINS, sizeof *mean->exponents);
        for (int i = 0; own[k]->exponents && i < BINS; i++)
            mean->exponents[i] += own[k]->exponents[i];
        mean->zeros += own[k]->zeros;
        mean->with_exponents += own[k]->with_exponents;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int k = 0; k < g->count; k++)
            from[k] = own[k] ? at(own[k], places[i]) : &none;
        average((series *)((char *)mean + places[i]), g->count, from, places[i] == offsetof(track, alpha));
    }
    free(own);
    free(from);
}

/* Over the chosen gradients of a step: the share that vanished, and the largest deviation. */
static void gather(run *mean, const char *tensors)
{
    const series *steps = NULL;
    for (size_t i = 0; i < mean->track_count; i++) {
        const track *t = &mean->tracks[i];
        if (fnmatch(tensors, t->name, 0) == 0 && (!steps || t->alpha.count > steps->count))
            steps = &t->alpha;
    }
    for (size_t k = 0; steps && k < steps->count; k++) {
        double vanished = 0, elements = 0, widest = NAN;
        for (size_t i = 0; i < mean->track_count; i++) {
            const track *t = &mean->tracks[i];
            if (fnmatch(tensors, t->name, 0) != 0)
                continue;
            const double share = find(&t->underflow_share, steps->x[k]);
            const double weight = isnan(share) ? 0 : (double)t->elements / (double)t->underflow_share.count;
            vanished += weight > 0 ? share * weight : 0;
            elements += weight;
            widest = fmax(widest, find(&t->deviation, steps->x[k]));
        }
        series_add(&mean->vanished, steps->x[k], elements > 0 ? vanished / elements : NAN);
        series_add(&mean->widest, steps->x[k], widest);
    }
}

static void make_mean(run *mean, const group *g, const char *tensors)
{
    const run *first = g->member[0];
    *mean = (run){.name = label_of(g),
                  .settings = first->settings,
                  .last_loss = NAN,
                  .best = NAN,
                  .last = NAN,
                  .last_fp32 = NAN,
                  .track_count = first->track_count,
                  .tracks = need(first->track_count + 1, sizeof *mean->tracks)};
    average_curves(mean, g);
    for (int k = 0; k < g->count; k++) {
        for (int i = 0; i < UPDATE_BINS; i++)
            mean->updates[i] += g->member[k]->updates[i];
        mean->updated += g->member[k]->updated;
    }
    for (size_t i = 0; i < first->track_count; i++)
        average_track(&mean->tracks[i], g, &first->tracks[i]);
    gather(mean, tensors);
}

groups groups_make(const run *runs, int count, const char *tensors)
{
    groups all = {0, need((size_t)count, sizeof *all.group), need((size_t)count, sizeof *all.mean)};
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < all.count && !same_settings(&all.group[k].member[0]->settings, &runs[i].settings))
            k++;
        group *g = &all.group[k];
        if (k == all.count) {
            all.count++;
            g->member = need((size_t)count, sizeof *g->member);
        }
        g->member[g->count++] = &runs[i];
    }
    for (int k = 0; k < all.count; k++)
        make_mean(&all.mean[k], &all.group[k], tensors);
    return all;
}

/* Names of tracks and settings belong to the runs. */
static void free_mean(run *mean)
{
    for (size_t i = 0; i < mean->track_count; i++) {
        free(mean->tracks[i].exponents);
        series_free(&mean->tracks[i].underflow_share);
        series_free(&mean->tracks[i].alpha);
        series_free(&mean->tracks[i].deviation);
        series_free(&mean->tracks[i].quantile);
    }
    series *const all[] = {&mean->loss, &mean->scale,    &mean->accuracy, &mean->accuracy_fp32,
                           &mean->move, &mean->vanished, &mean->widest};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        series_free(all[i]);
    free(mean->tracks);
    free(mean->name);
}

void groups_free(groups *g)
{
    for (int k = 0; k < g->count; k++) {
        free_mean(&g->mean[k]);
        free(g->group[k].member);
    }
    free(g->group);
    free(g->mean);
}
