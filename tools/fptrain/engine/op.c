/* SPDX-License-Identifier: BSD-2-Clause */
/* op.c - a new operator: its name, values, parameters and buffers. */
#include "engine/op.h"

#include "engine/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void op_refuse(const graph *g, const char *format, ...)
{
    trouble why;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why.text, sizeof why.text, format, arguments);
    va_end(arguments);
    if (!g->escape)
        die("%s", why.text);
    *g->escape->why = why;
    longjmp(g->escape->place, 1);
}

int graph_attempt(graph *g, graph_addition *add, const void *what, trouble *why)
{
    escape here = {.why = why, .outer = g->escape};
    g->escape = &here;
    const int y = setjmp(here.place) ? -1 : add(g, what);
    g->escape = here.outer;
    return y;
}

enum { LARGEST_ROW = 1 << 30 }; /* elements: rows are counted in int by whoever needs a vector of features */

static int is_named(const graph *g, const char *name)
{
    for (int i = 0; i < g->ops; i++)
        if (strcmp(g->op[i]->name, name) == 0)
            return 1;
    return 0;
}

/* The name that was asked for, or the type's with a number that is free: relu6 may be the 6th relu or the first relu6. */
static void name_op(graph *g, const op_type *type, char *name, size_t size)
{
    int number = 1;
    snprintf(name, size, "%s", g->next_name);
    g->next_name[0] = 0;
    if (name[0]) {
        if (is_named(g, name))
            op_refuse(g, "two operators are named %s", name);
        return;
    }
    for (int i = 0; i < g->ops; i++)
        number += g->op[i]->type == type;
    do
        snprintf(name, size, "%s%d", type->type, number++);
    while (is_named(g, name));
}

op *op_new(graph *g, const op_type *type, int inputs, const int *input, size_t state)
{
    char name[sizeof((op *)NULL)->name];
    name_op(g, type, name, sizeof name);
    if (g->batch || g->logits >= 0)
        op_refuse(g, "%s: the network is complete", name);
    for (int i = 0; i < inputs; i++)
        if (input[i] < 0 || input[i] >= g->values)
            op_refuse(g, "%s: there is no value %d", name, input[i]);
    op *o = need(1, sizeof *o); /* nothing is refused from here on */
    o->type = type;
    snprintf(o->name, sizeof o->name, "%s", name);
    o->inputs = inputs;
    o->input = need((size_t)inputs, sizeof *o->input);
    o->dx = need((size_t)inputs, sizeof *o->dx);
    for (int i = 0; i < inputs; i++) {
        o->input[i] = input[i];
        g->value[input[i]]->consumers++;
    }
    o->output = -1;
    o->first_param = g->params;
    o->first_buffer = g->buffers;
    o->state = need(1, state);
    g->op = need_more(g->op, (uint64_t)g->ops + 1, sizeof *g->op);
    g->op[g->ops++] = o;
    return o;
}

int op_value(graph *g, int producer, int c, int h, int w, int rows_per_sample)
{
    value *v = need(1, sizeof *v);
    *v = (value){.c = c, .h = h, .w = w, .rows_per_sample = rows_per_sample, .producer = producer, .is_tensor = true};
    v->row = (size_t)c * (size_t)h * (size_t)w;
    v->alpha = 1;
    g->value = need_more(g->value, (uint64_t)g->values + 1, sizeof *g->value);
    g->value[g->values] = v;
    return g->values++;
}

int op_output(graph *g, op *o, int c, int h, int w, int rows_per_sample)
{
    if (c < 1 || h < 1 || w < 1)
        op_refuse(g, "%s: nothing is left of its input (output of %d x %d x %d)", o->name, c, h, w);
    if ((double)c * h * w > LARGEST_ROW)
        op_refuse(g, "%s: an output of %d x %d x %d is too large", o->name, c, h, w);
    return o->output = op_value(g, g->ops - 1, c, h, w, rows_per_sample);
}

op *op_same(graph *g, const op_type *type, int x, size_t state)
{
    op *o = op_new(g, type, 1, &x, state);
    const value *v = g->value[x];
    op_output(g, o, v->c, v->h, v->w, v->rows_per_sample);
    return o;
}

void op_param(graph *g, op *o, param_kind kind, const char *name, int dims, const int *dim, double start,
              double deviation)
{
    size_t size = 1;
    for (int i = 0; i < dims; size *= (size_t)dim[i++])
        if ((double)size * dim[i] > (double)(SIZE_MAX / sizeof(float)))
            op_refuse(g, "%s: %s has more numbers than this machine can address", o->name, name);
    param *p = need(1, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s.%s", o->name, name);
    p->kind = kind;
    p->op = g->ops - 1;
    p->dims = dims;
    p->size = size;
    for (int i = 0; i < dims; i++)
        p->dim[i] = dim[i];
    p->alpha = 1;
    g->param = need_more(g->param, (uint64_t)g->params + 1, sizeof *g->param);
    g->start = need_more(g->start, (uint64_t)g->params + 1, sizeof *g->start);
    g->deviation = need_more(g->deviation, (uint64_t)g->params + 1, sizeof *g->deviation);
    g->param[g->params] = p;
    g->start[g->params] = start;
    g->deviation[g->params] = deviation;
    g->params++;
    o->params++;
}

void op_buffer(graph *g, op *o, const char *name, size_t size, float start)
{
    buffer *b = need(1, sizeof *b);
    snprintf(b->name, sizeof b->name, "%s.%s", o->name, name);
    b->size = size;
    b->start = start;
    g->buffer = need_more(g->buffer, (uint64_t)g->buffers + 1, sizeof *g->buffer);
    g->buffer[g->buffers++] = b;
}
