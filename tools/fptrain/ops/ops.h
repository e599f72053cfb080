/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.h - the operators a network is made of. Each function adds one to a network and returns the index of its value.
 * Shapes that do not fit are refused: see graph_attempt.
 */
#ifndef FPTRAIN_OPS_OPS_H
#define FPTRAIN_OPS_OPS_H

#include "engine/graph.h"

typedef struct conv_spec {
    int channels, kernel, stride, padding, groups; /* zero: stride 1, groups 1 */
    bool bias;
} conv_spec;
typedef struct pool_spec {
    int kernel, stride, padding; /* stride 0: the kernel */
} pool_spec;

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
int graph_concat(graph *g, int count, const int *x);           /* along C */
int graph_slice(graph *g, int x, int first, int channels);     /* one part of a channel split */
int graph_shuffle(graph *g, int x, int groups);                /* channel shuffle: no tensor of its own */
int graph_shortcut(graph *g, int x, int channels, int stride); /* strided, zero-padded at the end of C */
int graph_dropout(graph *g, int x, double rate);
int graph_embedding(graph *g, int x, int features);
int graph_positions(graph *g, int x);            /* adds a learned vector for each time step */
int graph_lstm(graph *g, int x, int hidden);     /* zero state at the start of each sample */
int graph_attention(graph *g, int x, int heads); /* causal; x: queries, keys, values side by side in C */
void graph_cross_entropy(graph *g, int logits);  /* softmax and mean over the rows; ends the network */
/* In training the label has the target 1 - share + share / classes, and each other class share / classes (Szegedy et
 * al. 2016; the label_smoothing of torch.nn.CrossEntropyLoss). Other passes have the plain loss. 0 <= share <= 1. */
void graph_smooth_labels(graph *g, double share);

#endif
