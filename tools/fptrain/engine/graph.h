/* graph.h - a network: operators in topological order, the values they put out and the parameters they own.
 *
 * A value is an (N, C, H, W) array of float, W fastest. N is the number of rows: the batch times rows_per_sample, which
 * is 1 for images and the number of time steps for sequences (row = sample * steps + time; features in C). Whoever
 * needs a vector of features (linear, softmax) takes C*H*W as one; so there is no operator for flattening.
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
 * The functions that add an operator return the index of its value, and end the program on shapes that do not fit (a
 * model is code, not input). Operators live in op_*.c, a forward and a backward side by side in each.
 */
#ifndef FPTRAIN_GRAPH_H
#define FPTRAIN_GRAPH_H

#include "base/base.h"

typedef struct graph graph;
typedef struct op op;

/* The four kinds of tensors of a gradient computation: output values, parameters, and their gradients. */
typedef enum role { ROLE_V, ROLE_W, ROLE_DV, ROLE_DW, ROLES } role;

typedef struct value {
    int c, h, w, rows_per_sample;
    size_t row;      /* c * h * w */
    int producer;    /* index of the operator; -1: the batch that is fed */
    int consumers;   /* how many inputs of operators read it */
    bool is_tensor;  /* false: a rearrangement (channel shuffle) that is never rounded by itself */
    float *v, *dv;   /* rows of the largest batch; dv of the fed batch: NULL */
    double alpha;    /* what dv is multiplied by, over the true gradient: set by every backward pass */
} value;

typedef enum param_kind { PARAM_WEIGHT, PARAM_BIAS, PARAM_SCALE, PARAM_SHIFT } param_kind;

typedef struct param {
    char name[64];   /* "conv1.weight": the operator's name and the kind; unique */
    param_kind kind;
    int op;
    int dims, dim[4];
    size_t size;
    double alpha;    /* what its dw of the last backward pass is multiplied by */
} param;

/* Running statistics and the like: no parameter, but part of a checkpoint. */
typedef struct buffer {
    char name[64];
    size_t size;
    float *data;
} buffer;

/* The properties of one operator that methods ask for. */
typedef struct op_info {
    const char *type; /* "conv", "linear", "batch_norm", ... */
    const char *name; /* "conv1": type and number, or what graph_name gave */
    bool gemm;        /* convolutions of every kind, linear layers, products of matrices */
    int inputs;
    const int *input; /* values */
    int output;       /* value; of the loss: -1 */
    int params;
    int first_param;  /* its parameters are first_param ... first_param + params - 1 */
    double fan;       /* gemm: outputs times kernel area (what the code of layer-wise scaling calls fan); else 0 */
    double macs;      /* multiply-adds forward for one sample */
} op_info;

graph *graph_new(uint64_t seed);
void graph_free(graph *g);

/* ------------------------------------------------------------------------------------------------ building */

typedef struct conv_spec {
    int channels, kernel, stride, padding, groups; /* zero: stride 1, groups 1 */
    bool bias;
} conv_spec;
typedef struct pool_spec {
    int kernel, stride, padding; /* stride 0: the kernel */
} pool_spec;

void graph_name(graph *g, const char *name); /* of the next operator */
int graph_input(graph *g, int c, int h, int w);
int graph_tokens(graph *g, int steps, int vocabulary); /* a fed batch of token numbers, one float a step */
int graph_conv(graph *g, int x, const conv_spec *spec);
int graph_linear(graph *g, int x, int outputs, bool bias);
int graph_batch_norm(graph *g, int x);
int graph_layer_norm(graph *g, int x);
int graph_relu(graph *g, int x);
int graph_relu6(graph *g, int x);
int graph_sigmoid(graph *g, int x);
int graph_tanh(graph *g, int x);
int graph_max_pool(graph *g, int x, const pool_spec *spec);
int graph_average_pool(graph *g, int x, const pool_spec *spec); /* padding counts in the mean */
int graph_global_pool(graph *g, int x);                         /* (N, C, 1, 1) */
int graph_add(graph *g, int a, int b);
int graph_concat(graph *g, int count, const int *x);            /* along C */
int graph_slice(graph *g, int x, int first, int channels);      /* one part of a channel split */
int graph_shuffle(graph *g, int x, int groups);                 /* channel shuffle: no tensor of its own */
int graph_shortcut(graph *g, int x, int channels, int stride);  /* strided, zero-padded at the end of C */
int graph_dropout(graph *g, int x, double rate);
int graph_embedding(graph *g, int x, int features);
int graph_positions(graph *g, int x);                           /* adds a learned vector for each time step */
int graph_lstm(graph *g, int x, int hidden);                    /* zero state at the start of each sample */
int graph_attention(graph *g, int x, int heads);                /* causal; x: queries, keys, values side by side in C */
void graph_cross_entropy(graph *g, int logits);                 /* softmax and mean over the rows; ends the network */

/* Reserves all memory for batches of at most `batch` samples. `threads` never changes a bit of any result. Gradients
 * take turns in memory: a value's dv holds from the rounding of dv until the backward pass of its producer. */
struct backend;
void graph_finish(graph *g, int batch, const struct backend *backend, int threads);

/* ------------------------------------------------------------------------------------------------ looking */

int graph_ops(const graph *g);
op_info graph_op(const graph *g, int op);
int graph_values(const graph *g);
value *graph_value(graph *g, int value);
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

/* Where parameters live. The passes call fetch before an operator needs parameter p and release after; backward also
 * asks where to put dw and says when it is there. Thus a store may keep parameters packed and unpack one at a time. */
typedef struct store store;
struct store {
    const float *(*fetch)(store *s, int param); /* the rounded weights of this step */
    void (*release)(store *s, int param);
    float *(*gradient)(store *s, int param);
    void (*gradient_done)(store *s, int param); /* dw, multiplied by graph_param(p)->alpha, has been written */
};

/* What happens to a tensor when it has just been computed: one function rounds it and counts (rounder.h). */
typedef struct rounds rounds;
struct rounds {
    void (*round)(rounds *r, role which, int index, size_t n, float *x); /* index: of value or parameter */
    /* May be NULL: the step of which all elements are whole numbers since the last rounding; 0: there is none. */
    double (*step)(rounds *r, role which, int index);
    /* May be NULL: whether v or dv gives the same when it is rounded in parts, from its first element to its last. */
    bool (*parts)(rounds *r, role which, int index);
    bool each; /* several consumers: round each contribution (`fanout=each`), else the sum */
};

/* Layer-wise scaling; NULL: none. beta is asked before the backward pass of a convolution or linear layer that passes a
 * gradient on, with the gradient that arrives (n elements, multiplied by alpha) and its rounded weights; a power of
 * two, by which the gradient is multiplied before the layer makes of it what it passes on (not its dw). All other
 * operators leave alpha as it is. join is asked where `count` contributions with multipliers alpha[i] meet, in the
 * order of the backward pass: it returns the one alpha to which all are brought before they are added. largest[i] is
 * max |contribution i|. */
typedef struct layer_scaling layer_scaling;
struct layer_scaling {
    double (*beta)(layer_scaling *s, int op, size_t n, const float *delta, size_t weights, const float *w);
    double (*join)(layer_scaling *s, int value, int count, const double *alpha, const double *largest);
    bool (*wants_largest)(layer_scaling *s, int value); /* false: join is called with largest NULL (interval) */
    double seconds; /* that statistics took: the passes add what they need for `largest` */
};

typedef struct forward_result {
    double loss; /* mean over the rows */
    size_t correct, rows;
} forward_result;

/* inputs: samples * (elements of the fed value); labels: samples * rows_per_sample of the logits, in [0, classes). The
 * fed batch is copied and rounded like every value. training: batch statistics, dropout (keyed by seed, step). */
forward_result graph_forward(graph *g, store *s, rounds *r, int samples, const float *inputs, const int *labels,
                             bool training, uint64_t step);
/* After graph_forward with training. dv of the logits = scale * dL/dv, rounded. */
void graph_backward(graph *g, store *s, rounds *r, layer_scaling *l, double scale);

#endif
