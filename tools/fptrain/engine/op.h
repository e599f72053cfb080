/* SPDX-License-Identifier: BSD-2-Clause */
/* op.h - the inside of a network: what an operator is to the passes. Only this room and ops see it. */
#ifndef FPTRAIN_ENGINE_OP_H
#define FPTRAIN_ENGINE_OP_H

#include <setjmp.h>

#include "engine/backend.h"
#include "engine/tensors.h"

typedef struct graph graph;
typedef struct op op;

enum {
    OP_PARAMS = 3, /* the most parameters of one operator */
    OP_PARTED = 2  /* the most inputs of one with op_parts */
};

/* One operator at work in one pass. All arrays have samples * rows_per_sample rows: those of the batch or of a part. */
typedef struct pass {
    const graph *g;
    op *o;
    int samples;
    bool training;
    uint64_t step;
    double scale;           /* backward pass of the loss */
    const int *labels;      /* the loss */
    forward_result *result; /* forward pass of the loss */
    const float *const *x;  /* the inputs, rounded */
    float *y;
    const float *w[OP_PARAMS]; /* the parameters, rounded */
    const float *dy;           /* the gradient of the output, rounded */
    const float *passed;       /* the same times beta: what dx is made of */
    float *const *dx;          /* for each input, written whole; NULL: nobody wants it */
    float *dw[OP_PARAMS];
} pass;

typedef void op_pass(const pass *p);

/* A pass in parts of the batch, so that what it writes can be rounded while it is in a cache: first, if there is one,
 * sees the whole batch; then part goes through it, some samples at a time. The same bits as the whole pass. */
typedef struct op_parts {
    op_pass *first, *part; /* part NULL: only whole */
    int unit;              /* samples that a thread takes together; 0: as few as one */
} op_parts;

/* Floats that an operator keeps from the forward to the backward pass beside values, and those that it borrows of
 * graph.scratch in a pass. */
typedef struct op_needs {
    size_t kept, scratch;
} op_needs;

typedef struct op_type {
    const char *type;
    bool gemm;
    bool weighs;       /* multiplies by its first parameter: layer-wise scaling asks for a beta */
    bool input_unread; /* the backward pass reads no input, so their memory may go on before */
    op_needs (*needs)(const graph *g, const op *o, int batch); /* may be NULL, as finish and free */
    void (*finish)(graph *g, op *o);
    op_pass *forward, *backward;
    op_parts forward_parts, backward_parts;
    void (*free)(op *o); /* what state points to */
} op_type;

struct op {
    const op_type *type;
    char name[48];
    int inputs, *input, output;
    int params, first_param, first_buffer;
    double fan, macs;
    void *state; /* of the size that was asked for */
    float **dx;  /* by input */
};

/* The contributions to the gradient of one value, in the order in which the backward pass brings them. */
typedef struct gathered {
    int count;
    bool rounded; /* the only contribution was rounded as it was written */
    float **part;
    double *alpha, *largest;
} gathered;

/* Where op_refuse goes during graph_attempt. */
typedef struct escape escape;
struct escape {
    jmp_buf place;
    trouble *why;
    escape *outer; /* of an attempt around this one */
};

struct graph {
    uint64_t seed;
    escape *escape; /* NULL: what is refused ends the program */
    char next_name[48];
    int ops, values, params, buffers;
    op **op;
    value **value;
    param **param;
    buffer **buffer;
    double *start, *deviation; /* by parameter: mean and deviation of its first values */
    int tokens, vocabulary;    /* value that holds token numbers; -1 */
    int logits;                /* -1 until there is a loss */
    int loss;                  /* its operator */
    double smoothing;          /* of labels, in training */
    int batch, threads;
    const backend *backend;
    float *scratch;
    float *memory; /* of values and gradients, which take turns in it (memory.h) */
    size_t memory_size;
    gathered *gathered; /* by value; NULL before graph_finish */
    float *scaled;      /* a gradient times beta; made when first needed */
    size_t scaled_size;
    rounds *rounds; /* of the pass that runs; NULL: none */
    int samples;    /* of the last forward pass */
    bool training;  /* that it was one for a backward pass */
    uint64_t step;
    int *labels;
};

/* ---------------------------------------------------------------------------------------------- for builders */

/* An operator whose sizes do not fit says so, and does not come back: to graph_attempt, or the program ends. */
_Noreturn void op_refuse(const graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A new last operator; state is zeroed memory of the size. */
op *op_new(graph *g, const op_type *type, int inputs, const int *input, size_t state);
/* A new last value; producer -1: the batch that is fed. */
int op_value(graph *g, int producer, int c, int h, int w, int rows_per_sample);
int op_output(graph *g, op *o, int c, int h, int w, int rows_per_sample); /* its value: the index */
void op_param(graph *g, op *o, param_kind kind, const char *name, int dims, const int *dim, double start,
              double deviation);
void op_buffer(graph *g, op *o, const char *name, size_t size, float start);
/* The usual case: one input, and an output of the same shape. */
op *op_same(graph *g, const op_type *type, int x, size_t state);

/* ---------------------------------------------------------------------------------------------- for passes */

static inline const value *op_in(const pass *p, int i)
{
    return p->g->value[p->o->input[i]];
}

static inline const value *op_out(const pass *p)
{
    return p->g->value[p->o->output];
}

static inline size_t op_rows(const pass *p, const value *v)
{
    return (size_t)p->samples * (size_t)v->rows_per_sample;
}

/* How `count` things are cut into pieces of `size`, the last one shorter: the number of pieces, and piece i. */
static inline int pieces(int count, int size)
{
    return (count + size - 1) / size;
}

static inline int piece_length(int count, int size, int i)
{
    return count - i * size < size ? count - i * size : size;
}

/* Tells a backend of whole numbers what a step of the products of two rounded tensors is. */
static inline double op_step(const pass *p, role which, int index)
{
    rounds *r = p->g->rounds;
    return r && r->step ? r->step(r, which, index) : 0;
}

static inline void op_products(const pass *p, double step_a, double step_b)
{
    if (p->g->backend->step)
        p->g->backend->step(p->g->backend, step_a * step_b);
}

/* Element-wise loops run over pieces of this many elements: long enough to be worth a thread. */
enum { ELEMENTS = 1 << 14 };

static inline int element_pieces(size_t n)
{
    return (int)((n + ELEMENTS - 1) / ELEMENTS);
}

static inline size_t element_count(size_t n, int i)
{
    const size_t from = (size_t)i * ELEMENTS;
    return n - from < ELEMENTS ? n - from : ELEMENTS;
}

#endif
