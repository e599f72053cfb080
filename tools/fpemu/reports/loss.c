/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - see loss.h */
#include "common/system.h"

#include "reports/loss.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/error.h"
#include "common/shown.h"

/* A tensor has lost nearly all where so many percent of its numbers became zero. */
enum { NEARLY_ALL = 90 };

bool loss_one_sided(const fpemu_format *format)
{
    return format->lowest >= 0;
}

void loss_look(loss_signs *signs, size_t n, bool binary64, const void *x)
{
    const float *x32 = x;
    const double *x64 = x;
    uint64_t negative = 0, nonzero = 0;
    for (size_t i = 0; i < n && binary64; i++) {
        negative += x64[i] < 0;
        nonzero += x64[i] < 0 || x64[i] > 0;
    }
    for (size_t i = 0; i < n && !binary64; i++) {
        negative += x32[i] < 0;
        nonzero += x32[i] < 0 || x32[i] > 0;
    }
    signs->negative += negative;
    signs->nonzero += nonzero;
}

static void add(loss_count *c, const tensor *t, const char *spec, uint64_t lost, uint64_t elements)
{
    c->first = c->tensors == 0 ? t : c->first;
    c->spec = c->tensors == 0 ? spec : c->spec;
    c->tensors++;
    c->lost += lost;
    c->elements += elements;
}

void loss_add(loss *l, const tensor *t, const char *spec, const fpemu_format *format, const fpemu_stats *stats,
              const loss_signs *signs)
{
    const uint64_t negative = loss_one_sided(format) ? signs->negative : 0, others = signs->nonzero - negative;
    const uint64_t vanished = stats->underflow > negative ? stats->underflow - negative : 0;
    l->tensors++;
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

void loss_tell(const loss *l, const char *command)
{
    const loss_count *below = &l->below_zero, *vanished = &l->vanished;
    char scaled[SHOWN_SIZE];
    fpemu_format format;
    if (below->tensors > 0) {
        begin(l, below, command);
        fputs(" are below zero, where the format has no values\n", stderr);
    }
    if (vanished->tensors > 0) {
        begin(l, vanished, command);
        fputs(" other than zero became zero", stderr);
        const int length = snprintf(scaled, sizeof scaled, "scaled(%s)", vanished->spec);
        const bool whole = length > 0 && (size_t)length < sizeof scaled;
        if (whole && fpemu_format_parse(scaled, &format, NULL) == FPEMU_OK)
            fprintf(stderr, "; %s has a scale for the tensor", scaled);
        fputc('\n', stderr);
    }
}
