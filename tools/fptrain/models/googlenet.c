/* SPDX-License-Identifier: BSD-2-Clause */
/* googlenet.c - GoogLeNet (Szegedy et al. 2015) with normalisation, for small images. */
#include "models/builders.h"

static int conv(const plan *p, int x, int channels, int kernel)
{
    return part_conv(p, x, (conv_spec){.channels = part_scaled(p, channels), .kernel = kernel, .bias = true}, RELU);
}

/* Output channels of the branches: 1x1; 1x1 then 3x3; 1x1 then 5x5, as two 3x3; pooling then 1x1. */
typedef struct branches {
    int one, reduce3, three, reduce5, five, pool;
} branches;

static int inception(const plan *p, int x, const branches *b)
{
    const int one = conv(p, x, b->one, 1);
    const int three = conv(p, conv(p, x, b->reduce3, 1), b->three, 3);
    const int five = conv(p, conv(p, conv(p, x, b->reduce5, 1), b->five, 3), b->five, 3);
    const int pooled = conv(p, part_max_pool(p, x, 3, 1, 1), b->pool, 1);
    return graph_concat(p->g, 4, (int[]){one, three, five, pooled});
}

int build_googlenet(const plan *p, int x)
{
    static const branches block[] = {
        {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},   {192, 96, 208, 16, 48, 64},
        {160, 112, 224, 24, 64, 64},   {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
        {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}};
    x = conv(p, x, 192, 3);
    for (unsigned i = 0; i < sizeof block / sizeof *block; i++) {
        if (i == 2 || i == 7)
            x = part_max_pool(p, x, 3, 2, 1);
        x = inception(p, x, &block[i]);
    }
    return part_head(p, x);
}
