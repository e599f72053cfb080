/* SPDX-License-Identifier: BSD-2-Clause */
/* sequence.c - models of text: one character in, the next one out. */
#include "models/builders.h"

int build_charlstm(const plan *p, int x)
{
    x = graph_embedding(p->g, x, part_scaled(p, 64));
    x = graph_lstm(p->g, x, part_scaled(p, 128));
    return graph_linear(p->g, x, p->settings->classes, true);
}

/* A block with normalisation first (Radford et al. 2019), ReLU between its linear layers. */
static int block(const plan *p, int x, int features, int heads)
{
    int y = graph_linear(p->g, graph_layer_norm(p->g, x), 3 * features, true);
    y = graph_linear(p->g, graph_attention(p->g, y, heads), features, true);
    x = graph_add(p->g, x, y);
    y = graph_linear(p->g, graph_layer_norm(p->g, x), 4 * features, true);
    y = graph_linear(p->g, graph_relu(p->g, y), features, true);
    return graph_add(p->g, x, y);
}

int build_chargpt(const plan *p, int x)
{
    enum { HEADS = 4, BLOCKS = 4 };
    const int features = HEADS * part_scaled(p, 32);
    x = graph_positions(p->g, graph_embedding(p->g, x, features));
    for (int i = 0; i < BLOCKS; i++)
        x = block(p, x, features, HEADS);
    return graph_linear(p->g, graph_layer_norm(p->g, x), p->settings->classes, true);
}
