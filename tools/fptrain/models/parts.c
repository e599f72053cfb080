/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.c - see parts.h */
#include "models/parts.h"

#include <math.h>

int part_scaled(const plan *p, int channels)
{
    return (int)fmax(1, floor(channels * p->width + 0.5));
}

int part_rounded(const plan *p, int channels)
{
    const double asked = channels * p->width;
    const int step = p->width <= 0.25 ? 4 : 8;
    int n = (int)floor(asked / step + 0.5) * step;
    if (n < step)
        n = step;
    return n < 0.9 * asked ? n + step : n;
}

int part_conv(const plan *p, int x, conv_spec spec, activation then)
{
    spec.padding = spec.kernel / 2;
    spec.bias = spec.bias || p->settings->no_norm;
    x = graph_conv(p->g, x, &spec);
    if (!p->settings->no_norm)
        x = graph_batch_norm(p->g, x);
    return then == RELU ? graph_relu(p->g, x) : then == RELU6 ? graph_relu6(p->g, x) : x;
}

int part_head(const plan *p, int x)
{
    return graph_linear(p->g, graph_global_pool(p->g, x), p->settings->classes, true);
}

int part_kernel(const plan *p, int normal)
{
    return p->settings->kernel ? p->settings->kernel : normal;
}

int part_hidden(const plan *p, int x, sizes normal)
{
    const sizes s = p->hidden.count ? p->hidden : normal;
    for (int i = 0; i < s.count; i++)
        x = graph_relu(p->g, graph_linear(p->g, x, part_scaled(p, s.size[i]), true));
    return graph_linear(p->g, x, p->settings->classes, true);
}

int part_max_pool(const plan *p, int x, int kernel, int stride, int padding)
{
    return graph_max_pool(p->g, x, &(pool_spec){.kernel = kernel, .stride = stride, .padding = padding});
}
