/* SPDX-License-Identifier: BSD-2-Clause */
/* graph.c - making a network and looking at it; operators are added by op.c, the passes are in passes.c. */
#include "engine/graph.h"

#include "engine/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

graph *graph_new(uint64_t seed)
{
    graph *g = need(1, sizeof *g);
    g->seed = seed;
    g->tokens = g->logits = g->loss = -1;
    g->threads = 1;
    return g;
}

void graph_free(graph *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->ops; i++) {
        op *o = g->op[i];
        if (o->type->free)
            o->type->free(o);
        free(o->state);
        free(o->input);
        free(o->dx);
        free(o);
    }
    for (int i = 0; i < g->values; i++) {
        if (g->gathered) {
            free(g->gathered[i].part);
            free(g->gathered[i].alpha);
            free(g->gathered[i].largest);
        }
        free(g->value[i]);
    }
    for (int i = 0; i < g->params; i++)
        free(g->param[i]);
    for (int i = 0; i < g->buffers; i++) {
        free(g->buffer[i]->data);
        free(g->buffer[i]);
    }
    free(g->op);
    free(g->value);
    free(g->param);
    free(g->buffer);
    free(g->memory);
    free(g->start);
    free(g->deviation);
    free(g->scratch);
    free(g->scaled);
    free(g->gathered);
    free(g->labels);
    free(g);
}

/* ---------------------------------------------------------------------------------------------- building */

void graph_name(graph *g, const char *name)
{
    if (strlen(name) >= sizeof g->next_name)
        die("operator name too long: %s", name);
    snprintf(g->next_name, sizeof g->next_name, "%s", name);
}

bool graph_scale_last(graph *g, double by)
{
    const op *o = g->loss >= 0 ? g->op[g->loss] : NULL;
    while (o && !o->params) {
        const int from = o->inputs == 1 ? g->value[o->input[0]]->producer : -1;
        o = from >= 0 ? g->op[from] : NULL;
    }
    if (!o || !o->type->weighs)
        return false;
    g->deviation[o->first_param] *= by;
    return true;
}

int graph_input(graph *g, int c, int h, int w)
{
    if (g->values)
        die("a network has one fed batch, and begins with it");
    return op_value(g, -1, c, h, w, 1);
}

int graph_tokens(graph *g, int steps, int vocabulary)
{
    if (g->values)
        die("a network has one fed batch, and begins with it");
    g->vocabulary = vocabulary;
    g->tokens = op_value(g, -1, 1, 1, 1, steps);
    g->value[g->tokens]->is_tensor = false; /* numbers of tokens are names, not quantities */
    return g->tokens;
}

/* ---------------------------------------------------------------------------------------------- looking */

int graph_ops(const graph *g)
{
    return g->ops;
}

op_info graph_op(const graph *g, int op)
{
    const struct op *o = g->op[op];
    return (op_info){.type = o->type->type,
                     .name = o->name,
                     .gemm = o->type->gemm,
                     .inputs = o->inputs,
                     .input = o->input,
                     .output = o->output,
                     .params = o->params,
                     .first_param = o->first_param,
                     .fan = o->fan,
                     .macs = o->macs};
}

int graph_values(const graph *g)
{
    return g->values;
}

value *graph_value(graph *g, int value)
{
    return g->value[value];
}

int graph_tensor(graph *g, int value)
{
    while (!g->value[value]->is_tensor) {
        const int producer = g->value[value]->producer;
        if (producer < 0)
            return -1;
        value = g->op[producer]->input[0];
    }
    return value;
}

int graph_params(const graph *g)
{
    return g->params;
}

param *graph_param(graph *g, int param)
{
    return g->param[param];
}

int graph_buffers(const graph *g)
{
    return g->buffers;
}

buffer *graph_buffer(graph *g, int buffer)
{
    return g->buffer[buffer];
}

size_t graph_param_count(const graph *g)
{
    size_t n = 0;
    for (int i = 0; i < g->params; i++)
        n += g->param[i]->size;
    return n;
}

int graph_logits(const graph *g)
{
    return g->logits;
}

int graph_batch(const graph *g)
{
    return g->batch;
}

void graph_initial(const graph *g, int param, float *w)
{
    const double start = g->start[param], deviation = g->deviation[param];
    const size_t n = g->param[param]->size;
    for (size_t i = 0; i < n; i++)
        w[i] = (float)(deviation > 0 ? start + deviation * random_normal(g->seed, FOR_WEIGHTS, (uint64_t)param, i)
                                     : start);
}
