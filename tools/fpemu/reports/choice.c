/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.c - see choice.h */
#include "reports/choice.h"

#include <math.h>
#include <stdlib.h>

#include "cli/error.h"
#include "plans/allocation.h"
#include "plans/plan.h"

bool choice_keeps(const comparison *j, const comparison_cell *c)
{
    const double db = fpemu_stats_sqnr(&c->stats);
    const bool silent = isnan(db) && fpemu_stats_sum_error2(&c->stats) == 0; /* nothing but zeros: they all keep */
    return db >= j->threshold || silent;
}

const comparison_format *choice_cheapest(const comparison *j, const comparison_cell *first)
{
    const comparison_format *best = NULL;
    double best_db = 0, best_bits = 0;
    for (size_t k = 0; k < j->candidates; k++) {
        const comparison_format *c = &j->candidate[k];
        const comparison_cell *here = first != NULL ? &first[k] : &c->total;
        const double db = fpemu_stats_sqnr(&here->stats);
        if (choice_keeps(j, here) && here->lost == 0 &&
            (best == NULL || here->bits < best_bits || (here->bits == best_bits && db > best_db))) {
            best = c;
            best_bits = here->bits;
            best_db = db;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------- within bits */

/* Formats that keep the numbers of a tensor, as options; without any the tensor itself. */
typedef struct options {
    allocation_item *item;
    size_t *tensor;         /* of each item */
    size_t *format;         /* of each option, in a row */
    allocation_option *all; /* the same */
    size_t items;
    double signal; /* sum of the squares of all elements */
} options;

static double stored_bits(const tensor *t)
{
    return model_type_bits(t) * (double)t->count;
}

/* Bits of a whole tensor; those that pack stores are whole bytes. */
static double total_bits(const comparison_cell *c, const tensor *t)
{
    const double bits = c->bits * (double)t->count;
    return c->packed ? 8 * nearbyint(bits / 8) : bits;
}

static double signal_of(const comparison *j, size_t i)
{
    double signal = 0; /* some format may have lost some numbers */
    for (size_t k = 0; k < j->candidates; k++)
        signal = fmax(signal, fpemu_stats_sum_square(&j->cell[i * j->candidates + k].stats));
    return signal;
}

static options list_options(const comparison *j)
{
    const model *m = &j->in.model;
    const size_t most = j->in.chosen_count * (j->candidates + 1);
    options o = {.item = cli_allocate(j->in.chosen_count, sizeof *o.item),
                 .tensor = cli_allocate(j->in.chosen_count, sizeof *o.tensor),
                 .format = cli_allocate(most, sizeof *o.format),
                 .all = cli_allocate(most, sizeof *o.all)};
    size_t used = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (!j->in.chosen[i])
            continue;
        allocation_item *item = &o.item[o.items];
        item->option = &o.all[used];
        for (size_t k = 0; k < j->candidates; k++) {
            const comparison_cell *c = &j->cell[i * j->candidates + k];
            const double error = fpemu_stats_sum_error2(&c->stats);
            if (c->lost == 0 && isfinite(error)) {
                o.format[used] = k;
                o.all[used++] = (allocation_option){total_bits(c, &m->tensor[i]), error};
                item->options++;
            }
        }
        if (item->options == 0) {
            o.format[used] = SIZE_MAX;
            o.all[used++] = (allocation_option){stored_bits(&m->tensor[i]), 0};
            item->options = 1;
        }
        o.tensor[o.items++] = i;
        o.signal += signal_of(j, i);
    }
    return o;
}

static void free_options(options *o)
{
    free(o->item);
    free(o->tensor);
    free(o->format);
    free(o->all);
}

static double decibels(double signal, double error)
{
    return error > 0 ? 10 * log10(signal / error) : (double)INFINITY;
}

choice choice_within_bits(const comparison *j, double most_bits)
{
    options o = list_options(j);
    allocation a;
    const double elements = (double)j->in.chosen_elements;
    if (!allocation_find(o.items, o.item, most_bits * elements, 0, &a)) {
        cli_fail("%s: --max-bits %g: the fewest bits an element are %.6g; give a format with fewer", j->in.path,
                 most_bits, a.bits / elements);
    }
    choice c = {.of = cli_allocate(j->in.model.count, sizeof *c.of)};
    for (size_t n = 0; n < o.items; n++) {
        const size_t k = o.format[o.item[n].option - o.all + (ptrdiff_t)a.chosen[n]];
        c.of[o.tensor[n]] = k != SIZE_MAX ? &j->candidate[k] : NULL;
        c.none += k == SIZE_MAX;
    }
    c.bits = elements > 0 ? a.bits / elements : 0;
    c.sqnr = decibels(o.signal, a.error);
    c.proven = a.bound >= a.error;
    c.gap = c.proven ? 0 : decibels(o.signal, a.bound) - c.sqnr;
    free(a.chosen);
    free_options(&o);
    return c;
}

/* Between corners the error falls in proportion to the bits, and so SQNR does not rise along a straight line. */
choice_point *choice_curve(const comparison *j, size_t *count)
{
    enum { PARTS = 8, MOST = 500 };
    options o = list_options(j);
    size_t corners;
    allocation_option *corner = allocation_curve(o.items, o.item, &corners);
    const size_t parts = corners <= MOST ? PARTS : 1;
    choice_point *curve = cli_allocate(corners * parts, sizeof *curve);
    *count = 0;
    for (size_t k = 0; k < corners * parts; k++) {
        const allocation_option *from = &corner[k / parts], *to = k / parts + 1 < corners ? from + 1 : from;
        const double share = (double)(k % parts) / (double)parts;
        const double error = from->error + share * (to->error - from->error);
        /* below that, what is left is the rounding of the sums */
        if (error > 1e-12 * corner[0].error && o.signal > 0 && !(to == from && share > 0)) {
            curve[(*count)++] =
                (choice_point){(from->bits + share * (to->bits - from->bits)) / (double)j->in.chosen_elements,
                               decibels(o.signal, error)};
        }
    }
    free(corner);
    free_options(&o);
    return curve;
}

/* ------------------------------------------------------------------------------------------- by a threshold */

choice choice_by_threshold(const comparison *j)
{
    choice c = {.of = cli_allocate(j->in.model.count, sizeof *c.of)};
    double signal = 0, error = 0;
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            const comparison_cell *first = &j->cell[i * j->candidates];
            c.of[i] = choice_cheapest(j, first);
            c.none += c.of[i] == NULL;
            c.bits += (double)t->count * (c.of[i] != NULL ? first[c.of[i] - j->candidate].bits : model_type_bits(t));
            error += c.of[i] != NULL ? fpemu_stats_sum_error2(&first[c.of[i] - j->candidate].stats) : 0;
            signal += signal_of(j, i);
        }
    }
    c.bits = j->in.chosen_elements > 0 ? c.bits / (double)j->in.chosen_elements : 0;
    c.sqnr = decibels(signal, error);
    return c;
}

void choice_free(choice *c)
{
    free(c->of);
}

void choice_write_plan(const comparison *j, const choice *c, const char *path)
{
    json_t *p = plan_new(j->in.path, j->axis, c->bits, c->sqnr);
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (!j->in.chosen[i])
            continue;
        if (c->of[i] == NULL) {
            plan_add(p, t, PLAN_KEEP, model_type_bits(t), (double)INFINITY);
        } else {
            const comparison_cell *cell = &j->cell[i * j->candidates + (size_t)(c->of[i] - j->candidate)];
            plan_add(p, t, c->of[i]->text, cell->bits, fpemu_stats_sqnr(&cell->stats));
        }
    }
    plan_write(p, path);
}
