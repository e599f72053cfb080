/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - see memory.h */
#include "engine/memory.h"

#include <stdlib.h>

#include "engine/op.h"

/* Operator i works at time i in the forward pass, and at 2 ops - 1 - i in the backward pass. */
typedef struct tenant {
    int from, until; /* both included */
    size_t size, at;
    size_t *place; /* where `at` is wanted */
} tenant;

static int time_back(const graph *g, int op)
{
    return 2 * g->ops - 1 - op;
}

static size_t size_of(const value *v, int batch)
{
    return ((size_t)batch * (size_t)v->rows_per_sample * v->row + 15) / 16 * 16;
}

/* Values, then the gradients that operators pass on. Returns how many there are. */
static int list_tenants(const graph *g, int batch, const memory_plan *p, tenant *list)
{
    int count = g->values;
    for (int i = 0; i < g->values; i++) {
        const int born = g->value[i]->producer;
        list[i] = (tenant){born, born, size_of(g->value[i], batch), 0, &p->value[i]};
    }
    for (int i = 0, edge = 0; i < g->ops; i++)
        for (int k = 0; k < g->op[i]->inputs; k++, edge++) {
            const int index = g->op[i]->input[k], producer = g->value[index]->producer;
            const int last = g->op[i]->type->input_unread ? i : time_back(g, i);
            if (list[index].until < last)
                list[index].until = last;
            if (producer >= 0)
                list[count++] =
                    (tenant){time_back(g, i), time_back(g, producer), list[index].size, 0, &p->gradient[edge]};
        }
    return count;
}

/* The largest first, then in the order of the list, so that a plan is a function of the network alone. */
static int by_size(const void *a, const void *b)
{
    const tenant *x = *(const tenant *const *)a, *y = *(const tenant *const *)b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return (x > y) - (x < y);
}

/* The lowest place beside those with which it shares a time; `settled` is in the order of their places. */
static size_t lowest_place(const tenant *t, int count, tenant *const *settled)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        const tenant *s = settled[i];
        if (s->until < t->from || t->until < s->from)
            continue;
        if (s->at >= at + t->size)
            break;
        at = s->at + s->size > at ? s->at + s->size : at;
    }
    return at;
}

static void settle_tenant(tenant *t, int count, tenant **settled)
{
    int i = count;
    t->at = *t->place = lowest_place(t, count, settled);
    for (; i > 0 && settled[i - 1]->at > t->at; i--)
        settled[i] = settled[i - 1];
    settled[i] = t;
}

memory_plan memory_plan_of(const graph *g, int batch)
{
    size_t edges = 0;
    for (int i = 0; i < g->ops; i++)
        edges += (size_t)g->op[i]->inputs;
    memory_plan p = {0, need((size_t)g->values, sizeof(size_t)), need(edges, sizeof(size_t))};
    const size_t most = (size_t)g->values + edges;
    tenant *list = need(most, sizeof *list), **order = need(most, sizeof *order), **settled = need(most, sizeof *order);
    const int count = list_tenants(g, batch, &p, list);
    for (int i = 0; i < count; i++)
        order[i] = &list[i];
    qsort(order, (size_t)count, sizeof *order, by_size);
    for (int i = 0; i < count; i++) {
        settle_tenant(order[i], i, settled);
        const size_t end = order[i]->at + order[i]->size;
        p.floats = end > p.floats ? end : p.floats;
    }
    free(list);
    free(order);
    free(settled);
    return p;
}

void memory_plan_free(memory_plan *p)
{
    free(p->value);
    free(p->gradient);
}

static op_needs needs_of(const graph *g, const op *o, int batch)
{
    return o->type->needs ? o->type->needs(g, o, batch) : (op_needs){0, 0};
}

size_t memory_scratch(const graph *g, int batch)
{
    size_t most = 0;
    for (int i = 0; i < g->ops; i++) {
        const size_t scratch = needs_of(g, g->op[i], batch).scratch;
        most = scratch > most ? scratch : most;
    }
    return most;
}

size_t memory_of_passes(const graph *g, int batch)
{
    memory_plan p = memory_plan_of(g, batch);
    size_t floats = p.floats + memory_scratch(g, batch);
    for (int i = 0; i < g->ops; i++)
        floats += needs_of(g, g->op[i], batch).kept;
    memory_plan_free(&p);
    return floats * sizeof(float);
}
