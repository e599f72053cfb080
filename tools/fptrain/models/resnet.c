/* SPDX-License-Identifier: BSD-2-Clause */
/* resnet.c - residual networks (He et al. 2016) with 3x3 blocks, after their first convolution of 3x3. */
#include "models/builders.h"

enum { MOST_STAGES = 8 };

/* Two convolutions beside a shortcut, which is x itself where the shape stays. */
static int block(const plan *p, int x, int channels, int stride, bool projections)
{
    const bool same = stride == 1 && graph_value(p->g, x)->c == channels;
    const int kernel = part_kernel(p, 3);
    int y = part_conv(p, x, (conv_spec){.channels = channels, .kernel = kernel, .stride = stride}, RELU);
    y = part_conv(p, y, (conv_spec){.channels = channels, .kernel = kernel}, LINEAR);
    int shortcut = x;
    if (!same && projections)
        shortcut = part_conv(p, x, (conv_spec){.channels = channels, .kernel = 1, .stride = stride}, LINEAR);
    else if (!same)
        shortcut = graph_shortcut(p->g, x, channels, stride);
    return graph_relu(p->g, graph_add(p->g, y, shortcut));
}

/* Stages whose channels double while height and width halve. */
static int build_stages(const plan *p, int x, sizes stages, int channels, int (*scaled)(const plan *p, int channels),
                        bool projections)
{
    x = part_conv(p, x, (conv_spec){.channels = scaled(p, channels), .kernel = part_kernel(p, 3)}, RELU);
    for (int stage = 0; stage < stages.count; stage++)
        for (int i = 0; i < stages.size[stage]; i++)
            x = block(p, x, scaled(p, channels << stage), stage && !i ? 2 : 1, projections);
    return part_head(p, x);
}

/* Three stages for small images. */
static int build_small(const plan *p, int x, int blocks)
{
    return build_stages(p, x, (sizes){3, {blocks, blocks, blocks}}, 16, part_scaled, p->settings->projections);
}

/* The same with any number of layers or of blocks. */
int build_resnet(const plan *p, int x)
{
    const int depth = p->settings->depth ? p->settings->depth : 20;
    if (p->blocks.count && p->settings->depth) {
        fail(p->why, "model.depth and model.blocks both say how many blocks there are: one of them");
        return -1;
    }
    if (depth < 8 || depth % 6 != 2) {
        fail(p->why, "a resnet for small images has 6 n + 2 layers, as 8, 14 or 20; not %d", depth);
        return -1;
    }
    if (p->blocks.count > MOST_STAGES) {
        fail(p->why, "a resnet has at most %d stages, not %d", MOST_STAGES, p->blocks.count);
        return -1;
    }
    if (!p->blocks.count)
        return build_small(p, x, depth / 6);
    return build_stages(p, x, p->blocks, 16, part_scaled, p->settings->projections);
}

int build_resnet20(const plan *p, int x)
{
    return build_small(p, x, 3);
}

int build_resnet32(const plan *p, int x)
{
    return build_small(p, x, 5);
}

int build_resnet56(const plan *p, int x)
{
    return build_small(p, x, 9);
}

int build_resnet110(const plan *p, int x)
{
    return build_small(p, x, 18);
}

int build_resnet18(const plan *p, int x)
{
    const sizes stages = p->blocks.count ? p->blocks : (sizes){4, {2, 2, 2, 2}};
    if (stages.count > MOST_STAGES) {
        fail(p->why, "a resnet has at most %d stages, not %d", MOST_STAGES, stages.count);
        return -1;
    }
    return build_stages(p, x, stages, 64, part_rounded, true);
}
