/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.c - chains of layers without branches: mlp, lenet, alexnet, vgg. */
#include "models/builders.h"

static int conv_relu(const plan *p, int x, conv_spec spec)
{
    spec.bias = true;
    return graph_relu(p->g, graph_conv(p->g, x, &spec));
}

int build_mlp(const plan *p, int x)
{
    return part_hidden(p, x, (sizes){2, {256, 128}});
}

int build_lenet(const plan *p, int x)
{
    const int kernel = part_kernel(p, 5);
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 6), .kernel = kernel, .padding = kernel / 2});
    x = part_max_pool(p, x, 2, 2, 0);
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 16), .kernel = kernel});
    x = part_max_pool(p, x, 2, 2, 0);
    return part_hidden(p, x, (sizes){2, {120, 84}});
}

int build_alexnet(const plan *p, int x)
{
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 64), .kernel = 11, .stride = 4, .padding = 5});
    x = part_max_pool(p, x, 2, 2, 0);
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 192), .kernel = 5, .padding = 2});
    x = part_max_pool(p, x, 2, 2, 0);
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 384), .kernel = 3, .padding = 1});
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 256), .kernel = 3, .padding = 1});
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 256), .kernel = 3, .padding = 1});
    x = part_max_pool(p, x, 2, 2, 0);
    return graph_linear(p->g, x, p->settings->classes, true);
}

/* The convolutions of each stage, before its pooling: by itself the first eight of VGG's configuration A. */
int build_vgg(const plan *p, int x)
{
    const sizes stages = p->blocks.count ? p->blocks : (sizes){5, {1, 1, 2, 2, 2}};
    const int kernel = part_kernel(p, 3);
    for (int stage = 0; stage < stages.count; stage++) {
        const int channels = part_scaled(p, stage < 3 ? 64 << stage : 512);
        for (int i = 0; i < stages.size[stage]; i++)
            x = conv_relu(p, x, (conv_spec){.channels = channels, .kernel = kernel, .padding = kernel / 2});
        x = part_max_pool(p, x, 2, 2, 0);
    }
    return graph_linear(p->g, x, p->settings->classes, true);
}
