/* SPDX-License-Identifier: BSD-2-Clause */
/* data_parts.c - which assignment of a sweep is best, or good enough; a ratio chosen on one part of the training
 * data, and what it costs on the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "sweep/sweep.h"

static const trial *fp32_of(const sweep *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->trials[i].scheme == SCHEME_FP32 && s->trials[i].finished == s->seeds)
            return &s->trials[i];
    return NULL;
}

/* In points: what is lost to FP32, by the means over the seeds. */
static double lost(const sweep *s, const trial *t)
{
    return 100 * (fp32_of(s)->best.mean - t->best.mean);
}

const trial *sweep_choose(const sweep *s, double drop)
{
    const trial *best = NULL;
    for (int i = 0; i < s->count && fp32_of(s); i++) {
        const trial *t = &s->trials[i];
        const bool good = t->scheme == SCHEME_RATIO && t->finished == s->seeds && lost(s, t) <= drop + 1e-9;
        if (good && (!best || t->mean_ratio.mean > best->mean_ratio.mean))
            best = t;
    }
    return best;
}

const trial *sweep_best(const sweep *s, const trial *t)
{
    const trial *best = t;
    for (int i = 0; i < s->count; i++) {
        const trial *other = &s->trials[i];
        const bool alike = other->promote == t->promote || !other->promotable || !t->promotable;
        const bool rival =
            (other->scheme == SCHEME_RATIO || other->scheme == SCHEME_GROUPS) && other->finished == s->seeds && alike;
        if (rival && other->mean_ratio.mean >= t->mean_ratio.mean && other->best.mean > best->best.mean)
            best = other;
    }
    return best;
}

static void put_spread(FILE *out, const spread *s)
{
    fprintf(out, "  %6.2f (%6.2f %6.2f)", 100 * s->mean, 100 * s->low, 100 * s->high);
}

static void put_part(FILE *out, const sweep *s, int part, const trial *t)
{
    const trial *fp32 = fp32_of(s);
    fprintf(out, "%4d", part);
    if (fp32 && t && t->finished == s->seeds) {
        put_spread(out, &fp32->best);
        put_spread(out, &t->best);
        fprintf(out, " %6.2f %6.4f\n", lost(s, t), t->mean_ratio.mean);
    } else
        fprintf(out, "  not finished\n");
}

static void put_table(FILE *out, const sweep *parts, int count, const trial *chosen, double drop)
{
    fprintf(out,
            "%s: the largest low-precision ratio within %g points of FP32 on part 1 of %d of the training data\n\n"
            "%4s  %-22s  %-22s %6s %6s\n",
            chosen->name, drop, count, "part", "FP32, best", "chosen, best", "lost", "mean r");
    put_part(out, &parts[0], 1, chosen);
    for (int i = 1; i < count; i++)
        put_part(out, &parts[i], i + 1, sweep_choose(&parts[i], 100));
}

void sweep_parts_table(const char *out, const sweep *parts, int count, const trial *chosen, double drop)
{
    char path[SETTINGS_TEXT + 16];
    snprintf(path, sizeof path, "%s/parts.txt", out);
    atomic_file file = output_open("tradeoff", path);
    put_table(file.file, parts, count, chosen, drop);
    output_commit("tradeoff", &file);
    put_table(stdout, parts, count, chosen, drop);
}
