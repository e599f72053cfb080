/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - see loss.h */
#include "reports/loss.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/error.h"
#include "common/shown.h"

/* A tensor has lost nearly all where so many percent of its numbers became zero. */
enum { NEARLY_ALL = 90 };

bool loss_one_sided(const fpemu_format *format)
{
    const bool adds = (format->scaling >= FPEMU_SCALING_ASYMMETRIC && format->scaling <= FPEMU_SCALING_GGML_1) ||
                      format->scaling == FPEMU_SCALING_GGML_1K;
    return format->lowest >= 0 && !adds; /* a second number a block */
}

void loss_look(loss_signs *signs, const fpemu_format *format, size_t n, bool binary64, const void *x)
{
    const float *x32 = x;
    const double *x64 = x;
    uint64_t negative = 0, nonzero = 0, below = 0, above = 0;
    const double lowest = format->lowest, max = format->max;
    for (size_t i = 0; i < n && binary64; i++) {
        negative += x64[i] < 0;
        nonzero += x64[i] < 0 || x64[i] > 0;
        below += x64[i] < lowest && x64[i] >= -DBL_MAX;
        above += x64[i] > max && x64[i] <= DBL_MAX;
    }
    for (size_t i = 0; i < n && !binary64; i++) {
        negative += x32[i] < 0;
        nonzero += x32[i] < 0 || x32[i] > 0;
        below += (double)x32[i] < lowest && x32[i] >= -FLT_MAX;
        above += (double)x32[i] > max && x32[i] <= FLT_MAX;
    }
    signs->negative += negative;
    signs->nonzero += nonzero;
    signs->below += below;
    signs->above += above;
}

/* Rounds the largest numbers many times: some stochastic roundings (CPFloat's) send only some of them past the end. */
loss_ends loss_find_ends(const fpemu_format *format, const fpemu_rounding *rounding)
{
    enum { TRIES = 64 };
    double x[TRIES], y[TRIES] = {0};
    loss_ends ends = {false, false};
    for (size_t i = 0; i < TRIES; i++)
        x[i] = i % 2 == 0 ? DBL_MAX : -DBL_MAX;
    if (format->scaling == FPEMU_SCALING_NONE) /* others saturate */
        cli_check(fpemu_quantize(format, rounding, FPEMU_TYPE_F64, TRIES, x, y, NULL), "overflow");
    for (size_t i = 0; i < TRIES; i += 2) {
        ends.above |= !isfinite(y[i]);
        ends.below |= !isfinite(y[i + 1]);
    }
    return ends;
}

uint64_t loss_overflowed(loss_ends ends, const fpemu_stats *stats, const loss_signs *signs)
{
    const uint64_t beyond = (ends.below ? signs->below : 0) + (ends.above ? signs->above : 0);
    return beyond < stats->overflow ? beyond : stats->overflow;
}

static void add(loss_count *c, const tensor *t, const char *spec, uint64_t lost, uint64_t elements)
{
    c->first = c->tensors == 0 ? t : c->first;
    c->spec = c->tensors == 0 ? spec : c->spec;
    c->tensors++;
    c->lost += lost;
    c->elements += elements;
}

void loss_add_overflowed(loss *l, const tensor *t, const char *spec, const fpemu_rounding *rounding, uint64_t lost)
{
    l->tensors++;
    l->told_to = rounding->overflow != FPEMU_OVERFLOW_FROM_FORMAT;
    if (lost > 0)
        add(&l->overflowed, t, spec, lost, t->count);
}

void loss_add(loss *l, const tensor *t, const char *spec, const fpemu_format *format, const fpemu_rounding *rounding,
              const fpemu_stats *stats, const loss_signs *signs)
{
    const uint64_t overflowed = loss_overflowed(loss_find_ends(format, rounding), stats, signs);
    const uint64_t negative = loss_one_sided(format) ? signs->negative : 0, others = signs->nonzero - negative;
    const uint64_t vanished = stats->underflow > negative ? stats->underflow - negative : 0;
    loss_add_overflowed(l, t, spec, rounding, overflowed > negative ? overflowed - negative : 0);
    if (negative > 0)
        add(&l->below_zero, t, spec, negative, stats->count);
    if (vanished > 0 && (double)vanished >= NEARLY_ALL / 100.0 * (double)others)
        add(&l->vanished, t, spec, vanished, others);
}

/* "fpemu: quantize: uint8, 2 of 5 tensors, first 'w': 5 of 8 elements"; nothing of tensors where there is one without a
 * name. */
static void begin(const loss *l, const loss_count *c, const char *command)
{
    char cut[SHOWN_SIZE], name[SHOWN_SIZE];
    fprintf(stderr, "fpemu: %s: %s", command, shown(c->spec, 0, cut));
    if (l->tensors > 1)
        fprintf(stderr, ", %zu of %zu tensors", c->tensors, l->tensors);
    if (c->first->name[0] != '\0')
        fprintf(stderr, ", %s'%s'", c->tensors > 1 ? "first " : "", shown(c->first->name, 0, name));
    fprintf(stderr, ": %" PRIu64 " of %" PRIu64 " elements", c->lost, c->elements);
}

/* Tells of the format that is made of a spec, where there is such a format. */
static void hint(const char *before, const char *spec, const char *after, const char *what)
{
    char made[SHOWN_SIZE];
    fpemu_format format;
    const int length = snprintf(made, sizeof made, "%s%s%s", before, spec, after);
    const bool whole = length > 0 && (size_t)length < sizeof made;
    if (whole && fpemu_format_parse(made, &format, NULL) == FPEMU_OK)
        fprintf(stderr, "; %s %s", made, what);
    fputc('\n', stderr);
}

void loss_tell(const loss *l, const char *command)
{
    const loss_count *below = &l->below_zero, *vanished = &l->vanished, *overflowed = &l->overflowed;
    if (below->tensors > 0) {
        begin(l, below, command);
        fputs(" are below zero, where the format has no values\n", stderr);
    }
    if (vanished->tensors > 0) {
        begin(l, vanished, command);
        fputs(" other than zero became zero", stderr);
        hint("scaled(", vanished->spec, ")", "has a scale for the tensor");
    }
    if (overflowed->tensors > 0) {
        begin(l, overflowed, command);
        fprintf(stderr, " became NaN or infinite by overflow%s",
                strcmp(command, "apply") != 0 ? ", which SQNR leaves out" : "");
        if (l->told_to)
            fputs("; --overflow saturate keeps them finite\n", stderr);
        else
            hint("", overflowed->spec, ":saturate", "keeps them finite");
    }
}
