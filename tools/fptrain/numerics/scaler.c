/* SPDX-License-Identifier: BSD-2-Clause */
/* scaler.c - see scaler.h; the layer-wise part is adaptive.c. */
#include "numerics/scaler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/adaptive.h"

enum scaler_kind { NONE, FIXED, BACKOFF, LOGMAX, ADAPTIVE, KINDS };
static const char *const names[KINDS] = {"none", "fixed", "backoff", "logmax", "adaptive"};

/* What a checkpoint holds. */
typedef struct scaler_state {
    double scale;
    uint64_t clean;                 /* backoff: clean steps in a row */
    uint64_t seen;                  /* logmax: gradients that were not all zero */
    double mean, slow_mean, square; /* logmax: running sums, before the correction for their start */
} scaler_state;

struct scaler {
    int kind;
    uint64_t interval;
    scaler_state state;
    adaptive *layers; /* NULL but for adaptive */
};

static bool power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

static bool settings_fit(const scaler_settings *s, int kind, trouble *why)
{
    if (kind == KINDS)
        return fail(why, "no loss scaler is called '%s' (none, fixed, backoff, logmax, adaptive)", s->name);
    if ((kind == FIXED || s->scale != 0) && !power_of_two(s->scale))
        return fail(why, "scaler.scale is a power of two; %g is not", s->scale);
    if (kind == BACKOFF && (s->scale > 0x1p24 || (s->scale != 0 && s->scale < 0x1p-24)))
        return fail(why, "backoff keeps scaler.scale between 2^-24 and 2^24; %g is outside", s->scale);
    if (!(s->underflow_target >= 0 && s->underflow_target < 1))
        return fail(why, "scaler.underflow_target is from 0 to below 1; %g is not", s->underflow_target);
    if ((s->beta_cap != 0 && !power_of_two(s->beta_cap)) || (s->alpha_cap != 0 && !power_of_two(s->alpha_cap)))
        return fail(why, "scaler.beta_cap and scaler.alpha_cap are powers of two, or 0");
    return true;
}

static adaptive *adaptive_of(const scaler_settings *s, graph *g, rounder *r)
{
    const adaptive_settings own = {.interval = s->interval,
                                   .underflow_target = s->underflow_target,
                                   .fan = s->fan,
                                   .beta_cap = s->beta_cap,
                                   .alpha_cap = s->alpha_cap};
    return adaptive_new(&own, g, r);
}

scaler *scaler_new(const scaler_settings *settings, graph *g, rounder *r, trouble *why)
{
    int kind = 0;
    while (kind < KINDS && strcmp(settings->name, names[kind]))
        kind++;
    if (!settings_fit(settings, kind, why))
        return NULL;
    scaler *s = need(1, sizeof *s);
    s->kind = kind;
    s->interval = settings->interval ? settings->interval : 2000;
    s->state.scale = 1;
    if (kind == FIXED)
        s->state.scale = settings->scale;
    if (kind == BACKOFF)
        s->state.scale = settings->scale != 0 ? settings->scale : 0x1p16;
    if (kind == ADAPTIVE)
        s->layers = adaptive_of(settings, g, r);
    return s;
}

void scaler_free(scaler *s)
{
    if (s)
        adaptive_free(s->layers);
    free(s);
}

double scaler_scale(const scaler *s)
{
    return s->state.scale;
}

layer_scaling *scaler_layers(scaler *s)
{
    return s->layers ? adaptive_calls(s->layers) : NULL;
}

double scaler_beta(const scaler *s, int op)
{
    return s->layers ? adaptive_beta(s->layers, op) : 1;
}

double scaler_seconds(const scaler *s)
{
    return s->layers ? adaptive_calls(s->layers)->seconds : 0;
}

static void update_backoff(scaler *s, bool bad)
{
    scaler_state *t = &s->state;
    if (bad) {
        t->scale = fmax(t->scale / 2, 0x1p-24);
        t->clean = 0;
    } else if (++t->clean == s->interval) {
        t->scale = fmin(t->scale * 2, 0x1p24);
        t->clean = 0;
    }
}

/* Kuchaiev et al. 2018: log2 of the largest gradient is taken as normal; 3.09 deviations are left above its mean. */
static void update_logmax(scaler *s, bool bad, const gradient_report *report)
{
    scaler_state *t = &s->state;
    const double fast = 0.99, slow = 0.999, room = log2(report->max_finite);
    if (!bad && report->largest_dw == 0)
        return;
    const double x = bad ? room : log2(report->largest_dw);
    t->seen++;
    t->mean = fast * t->mean + (1 - fast) * x;
    t->slow_mean = slow * t->slow_mean + (1 - slow) * x;
    t->square = slow * t->square + (1 - slow) * x * x;

    const double corrected = 1 - pow(slow, (double)t->seen);
    const double mean = t->mean / (1 - pow(fast, (double)t->seen));
    const double slow_mean = t->slow_mean / corrected;
    const double deviation = sqrt(fmax(t->square / corrected - slow_mean * slow_mean, 0));
    const double exponent = floor(room - mean - 3.09 * deviation);
    t->scale = exp2(fmin(fmax(exponent, 0), 24));
}

bool scaler_update(scaler *s, const gradient_report *report)
{
    const bool bad = report->overflowed || report->dw_not_finite;
    switch (s->kind) {
    case BACKOFF: update_backoff(s, bad); return !bad;
    case LOGMAX: update_logmax(s, bad, report); return !report->dw_not_finite;
    case ADAPTIVE: adaptive_update(s->layers, bad); return !report->dw_not_finite;
    case FIXED: return !report->dw_not_finite;
    default: return true;
    }
}

size_t scaler_save(const scaler *s, void *bytes, size_t capacity)
{
    const size_t own = sizeof s->state, rest = s->layers ? adaptive_size(s->layers) : 0;
    if (bytes && capacity >= own + rest) {
        memcpy(bytes, &s->state, own);
        if (s->layers)
            adaptive_save(s->layers, (unsigned char *)bytes + own);
    }
    return own + rest;
}

bool scaler_load(scaler *s, const void *bytes, size_t length, trouble *why)
{
    const size_t own = sizeof s->state;
    if (length != scaler_save(s, NULL, 0))
        return fail(why, "the state of the loss scaler has %zu bytes, not %zu", length, scaler_save(s, NULL, 0));
    memcpy(&s->state, bytes, own);
    if (!power_of_two(s->state.scale))
        return fail(why, "the loss scale of the checkpoint, %g, is no power of two", s->state.scale);
    if (s->layers)
        adaptive_load(s->layers, (const unsigned char *)bytes + own);
    return true;
}
