/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.c - chains of layers without branches: mlp, lenet, alexnet, vgg. */
#include "models/builders.h"

static int linear_relu(const plan *p, int x, int outputs)
{
    return graph_relu(p->g, graph_linear(p->g, x, outputs, true));
}

static int conv_relu(const plan *p, int x, conv_spec spec)
{
    spec.bias = true;
    return graph_relu(p->g, graph_conv(p->g, x, &spec));
}

int build_mlp(const plan *p, int x)
{
    x = linear_relu(p, x, part_scaled(p, 256));
    x = linear_relu(p, x, part_scaled(p, 128));
    return graph_linear(p->g, x, p->settings->classes, true);
}

int build_lenet(const plan *p, int x)
{
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 6), .kernel = 5, .padding = 2});
    x = part_max_pool(p, x, 2, 2, 0);
    x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, 16), .kernel = 5});
    x = part_max_pool(p, x, 2, 2, 0);
    x = linear_relu(p, x, part_scaled(p, 120));
    x = linear_relu(p, x, part_scaled(p, 84));
    return graph_linear(p->g, x, p->settings->classes, true);
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

/* The eight convolutions of VGG's configuration A; 0: pooling. */
int build_vgg(const plan *p, int x)
{
    static const int layer[] = {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0};
    for (unsigned i = 0; i < sizeof layer / sizeof *layer; i++) {
        if (layer[i])
            x = conv_relu(p, x, (conv_spec){.channels = part_scaled(p, layer[i]), .kernel = 3, .padding = 1});
        else
            x = part_max_pool(p, x, 2, 2, 0);
    }
    return graph_linear(p->g, x, p->settings->classes, true);
}
