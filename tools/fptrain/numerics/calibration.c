/* SPDX-License-Identifier: BSD-2-Clause */
/* calibration.c - see calibration.h */
#include "numerics/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

enum { KEPT = 1 << 16, CANDIDATES = 41 };

/* What was seen of a tensor. */
typedef struct seen {
    uint64_t count, nonfinite;
    double max, min; /* of finite elements, and 0 */
    size_t kept;
    float *sample;
    fpemu_range range; /* that the rule has now */
} seen;

struct calibration {
    rounds calls; /* first, so that a calibration is a rounds */
    rounder *r;
    int batches;
    seen *tensor[2]; /* ROLE_V, ROLE_W */
};

bool range_rule_read(range_rule *r, const char *text, trouble *why)
{
    static const char percentile[] = "percentile:";
    const size_t length = strlen(percentile);
    *r = (range_rule){.kind = strcmp(text, "mse") == 0 ? RANGE_MSE : RANGE_ABSMAX};
    if (strcmp(text, "absmax") == 0 || strcmp(text, "mse") == 0)
        return true;
    if (strncmp(text, percentile, length) == 0) {
        r->kind = RANGE_PERCENTILE;
        if (number_real(text + length, 0, 100, &r->percent) && r->percent > 0)
            return true;
    }
    return fail(why, "a range is absmax, mse or percentile:P with P above 0 and up to 100, not '%.50s'", text);
}

/* At most `share` elements are kept: of stretches as long as that asks, one each. Which one is drawn, since tensors
 * repeat: of a column that a fixed stride never leaves, nothing else would be seen. */
static void look(const calibration *c, role which, int index, size_t n, const float *x, size_t share)
{
    seen *s = &c->tensor[which == ROLE_W][index];
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            s->nonfinite++;
            continue;
        }
        s->max = (double)x[i] > s->max ? (double)x[i] : s->max;
        s->min = (double)x[i] < s->min ? (double)x[i] : s->min;
    }
    if (!s->sample)
        s->sample = need(KEPT, sizeof *s->sample);
    const uint64_t stream = (uint64_t)which << 32 | (uint64_t)index;
    const size_t every = (n + share - 1) / share;
    for (size_t first = 0; first < n && s->kept < KEPT; first += every) {
        const size_t length = n - first < every ? n - first : every;
        const size_t i = first + random_u64(c->r->seed, FOR_CALIBRATION, stream, s->count + first) % length;
        if (isfinite(x[i]))
            s->sample[s->kept++] = x[i];
    }
    s->count += n;
}

static void observe(rounds *calls, role which, int index, size_t n, float *x)
{
    const calibration *c = (const calibration *)calls;
    if (which == ROLE_V && n > 0)
        look(c, which, index, n, x, KEPT / (size_t)c->batches);
}

calibration *calibration_new(rounder *r, int batches)
{
    calibration *c = need(1, sizeof *c);
    c->calls.round = observe;
    c->r = r;
    c->batches = batches < KEPT ? batches : KEPT;
    c->tensor[0] = need((size_t)rounder_count(r, ROLE_V), sizeof *c->tensor[0]);
    c->tensor[1] = need((size_t)rounder_count(r, ROLE_W), sizeof *c->tensor[1]);
    return c;
}

void calibration_free(calibration *c)
{
    if (!c)
        return;
    calibration_lift(c);
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < rounder_count(c->r, (role)which); i++)
            free(c->tensor[which][i].sample);
        free(c->tensor[which]);
    }
    free(c);
}

rounds *calibration_observer(calibration *c)
{
    return &c->calls;
}

void calibration_weights(calibration *c, int param, const float *w)
{
    look(c, ROLE_W, param, graph_param(c->r->g, param)->size, w, KEPT);
}

/* ------------------------------------------------------------------------------------------------ ranges */

static int by_magnitude(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x > y) - (x < y);
}

static double percentile(seen *s, double percent)
{
    qsort(s->sample, s->kept, sizeof *s->sample, by_magnitude);
    const double share = percent * (double)s->kept / 100; /* 33.00000000000001 for 1.1 % of 3000 */
    const double rank = ceil(share * (1 - 0x1p-50));
    const size_t at = rank < 1 ? 0 : (size_t)rank - 1;
    return s->kept ? (double)fabsf(s->sample[at < s->kept ? at : s->kept - 1]) : 0;
}

/* The range of a tensor cut to magnitudes up to `most`. */
static fpemu_range cut(const seen *s, double most)
{
    const double max = fmin(s->max, most), min = fmax(s->min, -most);
    return (fpemu_range){
        .count = s->count, .nonzero = fmax(max, -min) > 0, .amax = fmax(max, -min), .max = max, .min = min};
}

static double squared_error(const rule *l, const seen *s, const fpemu_range *range, float *rounded)
{
    fpemu_shape shape = fpemu_shape_vector(s->kept);
    fpemu_rounding nearest = fpemu_rounding_nearest();
    double sum = 0;
    shape.whole = range;
    if (fpemu_quantize_tensor_f32(&l->format, &nearest, &shape, s->sample, rounded, NULL) != FPEMU_OK)
        return INFINITY;
    for (size_t i = 0; i < s->kept; i++) {
        const double e = (double)rounded[i] - (double)s->sample[i];
        sum += e * e;
    }
    return sum;
}

static double least_error(const rule *l, const seen *s, double most)
{
    float *rounded = need(s->kept, sizeof *rounded);
    double best = most, least = INFINITY;
    for (int k = 0; k < CANDIDATES && most > 0; k++) {
        const double candidate = (double)(float)(most * exp2(-k / 4.0));
        const fpemu_range range = cut(s, candidate);
        const double error = squared_error(l, s, &range, rounded);
        if (error < least) {
            least = error;
            best = candidate;
        }
    }
    free(rounded);
    return best;
}

static bool takes_range(const rule *l)
{
    return l->format.kind && l->format.scaling && l->format.block == FPEMU_BLOCK_TENSOR &&
           l->format.scaling != FPEMU_SCALING_S2FP8;
}

int calibration_apply(calibration *c, const range_rule *how)
{
    int given = 0;
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < rounder_count(c->r, (role)which); i++) {
            rule *l = &c->r->rule[which][i];
            seen *s = &c->tensor[which][i];
            if (!takes_range(l) || !s->count)
                continue;
            double most = fmax(s->max, -s->min);
            if (how->kind == RANGE_PERCENTILE)
                most = percentile(s, how->percent);
            else if (how->kind == RANGE_MSE)
                most = least_error(l, s, most);
            s->range = cut(s, most);
            l->whole = &s->range;
            given++;
        }
    return given;
}

void calibration_lift(calibration *c)
{
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < rounder_count(c->r, (role)which); i++)
            c->r->rule[which][i].whole = NULL;
}
