/* SPDX-License-Identifier: BSD-2-Clause */
/* sequence.c - models of text: one character in, the next one out. */
#include "models/builders.h"

int build_charlstm(const plan *p, int x)
{
    const sizes hidden = p->hidden.count ? p->hidden : (sizes){1, {128}};
    x = graph_embedding(p->g, x, part_scaled(p, p->settings->features ? p->settings->features : 64));
    for (int i = 0; i < hidden.count; i++)
        x = graph_lstm(p->g, x, part_scaled(p, hidden.size[i]));
    return graph_linear(p->g, x, p->settings->classes, true);
}

/* A block with normalisation first (Radford et al. 2019), ReLU between its linear layers. */
static int block(const plan *p, int x, int features, int heads, int hidden)
{
    int y = graph_linear(p->g, graph_layer_norm(p->g, x), 3 * features, true);
    y = graph_linear(p->g, graph_attention(p->g, y, heads), features, true);
    x = graph_add(p->g, x, y);
    y = graph_linear(p->g, graph_layer_norm(p->g, x), hidden, true);
    y = graph_linear(p->g, graph_relu(p->g, y), features, true);
    return graph_add(p->g, x, y);
}

int build_chargpt(const plan *p, int x)
{
    const int heads = p->settings->heads ? p->settings->heads : 4;
    const int asked = p->settings->features ? p->settings->features : 128;
    const int blocks = p->blocks.count ? p->blocks.size[0] : 4;
    if (asked % heads) {
        fail(p->why, "%d features do not divide among %d heads", asked, heads);
        return -1;
    }
    if (p->blocks.count > 1 || p->hidden.count > 1) {
        fail(p->why, "chargpt takes one number of blocks, and one of hidden units");
        return -1;
    }
    const int features = heads * part_scaled(p, asked / heads);
    const int hidden = p->hidden.count ? part_scaled(p, p->hidden.size[0]) : 4 * features;
    x = graph_positions(p->g, graph_embedding(p->g, x, features));
    for (int i = 0; i < blocks; i++)
        x = block(p, x, features, heads, hidden);
    return graph_linear(p->g, graph_layer_norm(p->g, x), p->settings->classes, true);
}
