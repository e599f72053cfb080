/* SPDX-License-Identifier: BSD-2-Clause */
/* compact.c - networks of few parameters: SqueezeNet, MobileNet-v2, ShuffleNet-v2. */
#include "models/builders.h"

static int channels_of(const plan *p, int x)
{
    return graph_value(p->g, x)->c;
}

static int pointwise(const plan *p, int x, int channels, activation then)
{
    return part_conv(p, x, (conv_spec){.channels = channels, .kernel = 1}, then);
}

static int depthwise(const plan *p, int x, int stride, activation then)
{
    const int c = channels_of(p, x);
    return part_conv(p, x, (conv_spec){.channels = c, .kernel = 3, .stride = stride, .groups = c}, then);
}

/* ------------------------------------------------------------------------------------------------ squeezenet */

/* Iandola et al. 2016, with normalisation; convolutions keep their biases. */
static int fire(const plan *p, int x, int squeeze, int expand)
{
    x = part_conv(p, x, (conv_spec){.channels = squeeze, .kernel = 1, .bias = true}, RELU);
    const int one = part_conv(p, x, (conv_spec){.channels = expand, .kernel = 1, .bias = true}, RELU);
    const int three = part_conv(p, x, (conv_spec){.channels = expand, .kernel = 3, .bias = true}, RELU);
    return graph_concat(p->g, 2, (int[]){one, three});
}

int build_squeezenet(const plan *p, int x)
{
    enum { FIRES = 8 };
    static const int whole[FIRES][2] = {{16, 64},  {16, 64},  {32, 128}, {32, 128},
                                        {48, 192}, {48, 192}, {64, 256}, {64, 256}};
    static const int tenth[FIRES][2] = {{4, 8}, {4, 8}, {4, 12}, {4, 12}, {8, 20}, {8, 20}, {8, 24}, {8, 256}};
    const bool small = p->width == 0.1;
    x = part_conv(p, x, (conv_spec){.channels = small ? 12 : part_scaled(p, 96), .kernel = 3, .bias = true}, RELU);
    x = part_max_pool(p, x, 2, 2, 0);
    for (int i = 0; i < FIRES; i++) {
        const int squeeze = small ? tenth[i][0] : part_scaled(p, whole[i][0]);
        const int expand = small ? tenth[i][1] : i == FIRES - 1 ? 256 : part_scaled(p, whole[i][1]);
        x = fire(p, x, squeeze, expand);
        if (i == 2 || i == 6)
            x = part_max_pool(p, x, 2, 2, 0);
    }
    x = graph_conv(p->g, x, &(conv_spec){.channels = p->settings->classes, .kernel = 1, .bias = true});
    return graph_global_pool(p->g, x);
}

/* ------------------------------------------------------------------------------------------------ mobilenetv2 */

/* Expand, filter each channel, project back (Sandler et al. 2018). */
static int inverted(const plan *p, int x, int expansion, int channels, int stride)
{
    const int in = channels_of(p, x);
    int y = pointwise(p, x, expansion * in, RELU6);
    y = pointwise(p, depthwise(p, y, stride, RELU6), channels, LINEAR);
    if (stride != 1)
        return y;
    return graph_add(p->g, y, in == channels ? x : pointwise(p, x, channels, LINEAR));
}

int build_mobilenetv2(const plan *p, int x)
{
    static const struct {
        int expansion, channels, blocks, stride;
    } stage[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    x = part_conv(p, x, (conv_spec){.channels = part_rounded(p, 32), .kernel = 3}, RELU6);
    for (unsigned s = 0; s < sizeof stage / sizeof *stage; s++)
        for (int i = 0; i < stage[s].blocks; i++)
            x = inverted(p, x, stage[s].expansion, part_rounded(p, stage[s].channels), i ? 1 : stage[s].stride);
    return part_head(p, pointwise(p, x, 1280, RELU6));
}

/* ------------------------------------------------------------------------------------------------ shufflenetv2 */

/* Half of the channels pass by, half go through a bottleneck (Ma et al. 2018). */
static int split_block(const plan *p, int x)
{
    const int half = channels_of(p, x) / 2;
    const int by = graph_slice(p->g, x, 0, half);
    int y = pointwise(p, graph_slice(p->g, x, half, half), half, RELU);
    y = pointwise(p, depthwise(p, y, 1, LINEAR), half, RELU);
    return graph_shuffle(p->g, graph_concat(p->g, 2, (int[]){by, y}), 2);
}

/* The first block of a stage: both branches go down, and the channels double. */
static int down_block(const plan *p, int x, int channels)
{
    const int half = channels / 2;
    const int left = pointwise(p, depthwise(p, x, 2, LINEAR), half, RELU);
    int right = pointwise(p, x, half, RELU);
    right = pointwise(p, depthwise(p, right, 2, LINEAR), half, RELU);
    return graph_shuffle(p->g, graph_concat(p->g, 2, (int[]){left, right}), 2);
}

int build_shufflenetv2(const plan *p, int x)
{
    static const struct {
        double width;
        int channels[3];
    } sizes[] = {{1, {116, 232, 464}}, {0.5, {56, 112, 224}}, {0.25, {28, 56, 112}}, {0.1, {12, 24, 48}}};
    static const int blocks[] = {4, 8, 4};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if (sizes[s].width != p->width)
            continue;
        x = part_conv(p, x, (conv_spec){.channels = 24, .kernel = 3}, RELU);
        for (int stage = 0; stage < 3; stage++) {
            x = down_block(p, x, sizes[s].channels[stage]);
            for (int i = 1; i < blocks[stage]; i++)
                x = split_block(p, x);
        }
        return part_head(p, pointwise(p, x, 1024, RELU));
    }
    fail(p->why, "shufflenetv2 has the widths 1, 0.5, 0.25 and 0.1, not %g", p->width);
    return -1;
}
