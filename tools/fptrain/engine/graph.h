/* SPDX-License-Identifier: BSD-2-Clause */
/* graph.h - a network: operators in topological order, the values they put out and the parameters they own.
 *
 * A network is made once, for a largest batch:
 *
 *     graph *g = graph_new(seed);
 *     int x = graph_input(g, 1, 28, 28);
 *     x = graph_relu(g, graph_conv(g, x, &(conv_spec){.channels = 6, .kernel = 5, .padding = 2, .bias = true}));
 *     ...
 *     graph_cross_entropy(g, graph_linear(g, x, 10, true));
 *     graph_finish(g, 128, backend, threads);
 *
 * The operators are in the room ops.
 */
#ifndef FPTRAIN_ENGINE_GRAPH_H
#define FPTRAIN_ENGINE_GRAPH_H

#include "engine/tensors.h"

typedef struct graph graph;

/* The properties of one operator that methods ask for. */
typedef struct op_info {
    const char *type; /* "conv", "linear", "batch_norm", ... */
    const char *name; /* "conv1": type and number, or what graph_name gave */
    bool gemm;        /* convolutions of every kind, linear layers, products of matrices */
    int inputs;
    const int *input; /* values */
    int output;       /* value; of the loss: -1 */
    int params;
    int first_param; /* its parameters are first_param ... first_param + params - 1 */
    double fan;      /* gemm: outputs times kernel area (what the code of layer-wise scaling calls fan); else 0 */
    double macs;     /* multiply-adds forward for one sample */
} op_info;

graph *graph_new(uint64_t seed);
void graph_free(graph *g);

/* ------------------------------------------------------------------------------------------------ building */

void graph_name(graph *g, const char *name); /* of the next operator */
int graph_input(graph *g, int c, int h, int w);
int graph_tokens(graph *g, int steps, int vocabulary); /* a fed batch of token numbers, one float a step */

/* Adds operators by `add`, which returns a value, or -1 with a sentence of its own. What an operator refuses, since
 * shapes do not fit, becomes a sentence and -1 too; outside of an attempt it ends the program. After -1 the graph can
 * only be freed. */
typedef int graph_addition(graph *g, const void *what);
int graph_attempt(graph *g, graph_addition *add, const void *what, trouble *why);

/* Multiplies the deviation of the first weights of the convolution or linear layer that makes the logits of a complete
 * network; false: no such layer is the last one with parameters, or several meet, and nothing has changed. */
bool graph_scale_last(graph *g, double by);

struct backend;

/* Reserves all memory for batches of at most `batch` samples. `threads` never changes a bit of any result. Values and
 * gradients take turns in memory (memory.h): a value's v holds until its last consumer has read it, its dv from the
 * rounding of dv until the backward pass of its producer. */
void graph_finish(graph *g, int batch, const struct backend *backend, int threads);

/* ------------------------------------------------------------------------------------------------ looking */

int graph_ops(const graph *g);
op_info graph_op(const graph *g, int op);
int graph_values(const graph *g);
value *graph_value(graph *g, int value);
/* The value itself, of a rearrangement the tensor behind it; -1 where there is none (numbers of tokens). */
int graph_tensor(graph *g, int value);
int graph_params(const graph *g);
param *graph_param(graph *g, int param);
int graph_buffers(const graph *g);
buffer *graph_buffer(graph *g, int buffer);
size_t graph_param_count(const graph *g);
int graph_logits(const graph *g); /* the value that the loss reads */
int graph_batch(const graph *g);  /* samples of the largest batch; 0 before graph_finish */

/* Fills `w` with the start of parameter p: He-normal by fan-out for convolutions, by fan-in for linear layers, 1 and 0
 * for normalisation, 0 for biases; N(0, 0.02^2) for embeddings; deviation 1/sqrt(3 hidden) for recurrent layers. A
 * function of (seed, p) alone. */
void graph_initial(const graph *g, int param, float *w);

/* ------------------------------------------------------------------------------------------------ running */

/* inputs: samples * (elements of the fed value); labels: samples * rows_per_sample of the logits, in [0, classes). The
 * fed batch is copied and rounded like every value. training: batch statistics, dropout (keyed by seed, step). */
forward_result graph_forward(graph *g, store *s, rounds *r, int samples, const float *inputs, const int *labels,
                             bool training, uint64_t step);
/* After graph_forward with training. dv of the logits = scale * dL/dv, rounded. */
void graph_backward(graph *g, store *s, rounds *r, layer_scaling *l, double scale);

#endif
