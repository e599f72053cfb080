/* SPDX-License-Identifier: BSD-2-Clause */
/* resnet.c - residual networks (He et al. 2016) with 3x3 blocks, after their first convolution of 3x3. */
#include "models/builders.h"

/* Two convolutions beside a shortcut, which is x itself where the shape stays. */
static int block(const plan *p, int x, int channels, int stride, bool projections)
{
    const bool same = stride == 1 && graph_value(p->g, x)->c == channels;
    int y = part_conv(p, x, (conv_spec){.channels = channels, .kernel = 3, .stride = stride}, RELU);
    y = part_conv(p, y, (conv_spec){.channels = channels, .kernel = 3}, LINEAR);
    int shortcut = x;
    if (!same && projections)
        shortcut = part_conv(p, x, (conv_spec){.channels = channels, .kernel = 1, .stride = stride}, LINEAR);
    else if (!same)
        shortcut = graph_shortcut(p->g, x, channels, stride);
    return graph_relu(p->g, graph_add(p->g, y, shortcut));
}

/* Three stages for small images. */
static int build_small(const plan *p, int x, int blocks)
{
    x = part_conv(p, x, (conv_spec){.channels = part_scaled(p, 16), .kernel = 3}, RELU);
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < blocks; i++)
            x = block(p, x, part_scaled(p, 16 << stage), stage && !i ? 2 : 1, p->settings->projections);
    return part_head(p, x);
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
    x = part_conv(p, x, (conv_spec){.channels = part_rounded(p, 64), .kernel = 3}, RELU);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < 2; i++)
            x = block(p, x, part_rounded(p, 64 << stage), stage && !i ? 2 : 1, true);
    return part_head(p, x);
}
