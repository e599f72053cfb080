/* graph.c - building a network and looking at it; the passes are in graph_passes.c, the operators in op_*.c. */
#include "engine/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more element. Lists hold pointers, so that what they point to stays where it is. */
static void *longer(void *list, int count, size_t size)
{
    void *p = realloc(list, (size_t)(count + 1) * size);
    if (!p)
        die("out of memory");
    return p;
}

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
        free(g->value[i]->v);
        free(g->value[i]);
    }
    for (int i = 0; i < g->params; i++)
        free(g->param[i]);
    for (int i = 0; i < g->buffers; i++) {
        free(g->buffer[i]->data);
        free(g->buffer[i]);
    }
    for (int i = 0; i < g->blocks; i++)
        free(g->block[i]);
    free(g->op);
    free(g->value);
    free(g->param);
    free(g->buffer);
    free(g->block);
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

static void name_op(graph *g, op *o)
{
    int number = 1;
    for (int i = 0; i < g->ops; i++)
        number += g->op[i]->type == o->type;
    if (g->next_name[0])
        snprintf(o->name, sizeof o->name, "%s", g->next_name);
    else
        snprintf(o->name, sizeof o->name, "%s%d", o->type->type, number);
    g->next_name[0] = 0;
    for (int i = 0; i < g->ops; i++)
        if (strcmp(g->op[i]->name, o->name) == 0)
            die("two operators are named %s", o->name);
}

op *op_new(graph *g, const op_type *type, int inputs, const int *input, size_t state)
{
    op *o = need(1, sizeof *o);
    o->type = type;
    name_op(g, o);
    if (g->batch || g->logits >= 0)
        die("%s: the network is complete", o->name);
    o->inputs = inputs;
    o->input = need((size_t)inputs, sizeof *o->input);
    o->dx = need((size_t)inputs, sizeof *o->dx);
    for (int i = 0; i < inputs; i++) {
        if (input[i] < 0 || input[i] >= g->values)
            die("%s: there is no value %d", o->name, input[i]);
        o->input[i] = input[i];
        g->value[input[i]]->consumers++;
    }
    o->output = -1;
    o->first_param = g->params;
    o->first_buffer = g->buffers;
    o->state = need(1, state);
    g->op = longer(g->op, g->ops, sizeof *g->op);
    g->op[g->ops++] = o;
    return o;
}

static int add_value(graph *g, int producer, int c, int h, int w, int rows_per_sample)
{
    value *v = need(1, sizeof *v);
    *v = (value){.c = c, .h = h, .w = w, .rows_per_sample = rows_per_sample, .producer = producer, .is_tensor = true};
    v->row = (size_t)c * (size_t)h * (size_t)w;
    v->alpha = 1;
    g->value = longer(g->value, g->values, sizeof *g->value);
    g->value[g->values] = v;
    return g->values++;
}

int op_output(graph *g, op *o, int c, int h, int w, int rows_per_sample)
{
    if (c < 1 || h < 1 || w < 1)
        die("%s: nothing is left of its input (output of %d x %d x %d)", o->name, c, h, w);
    return o->output = add_value(g, g->ops - 1, c, h, w, rows_per_sample);
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
    param *p = need(1, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s.%s", o->name, name);
    p->kind = kind;
    p->op = g->ops - 1;
    p->dims = dims;
    p->size = 1;
    for (int i = 0; i < dims; i++) {
        p->dim[i] = dim[i];
        p->size *= (size_t)dim[i];
    }
    p->alpha = 1;
    g->param = longer(g->param, g->params, sizeof *g->param);
    g->start = longer(g->start, g->params, sizeof *g->start);
    g->deviation = longer(g->deviation, g->params, sizeof *g->deviation);
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
    b->data = need(size, sizeof *b->data);
    for (size_t i = 0; i < size; i++)
        b->data[i] = start;
    g->buffer = longer(g->buffer, g->buffers, sizeof *g->buffer);
    g->buffer[g->buffers++] = b;
}

int graph_input(graph *g, int c, int h, int w)
{
    if (g->values)
        die("a network has one fed batch, and begins with it");
    return add_value(g, -1, c, h, w, 1);
}

int graph_tokens(graph *g, int steps, int vocabulary)
{
    if (g->values)
        die("a network has one fed batch, and begins with it");
    g->vocabulary = vocabulary;
    g->tokens = add_value(g, -1, 1, 1, 1, steps);
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
