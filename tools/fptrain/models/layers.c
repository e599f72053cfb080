/* SPDX-License-Identifier: BSD-2-Clause */
/* layers.c - see layers.h. A new operator is a line of the table and the few lines of its `add`. */
#include "models/layers.h"

#include <string.h>

#include "ops/ops.h"

enum { MOST_CHANNELS = 65536, MOST_SIDE = 4096 };

static int add_conv(graph *g, int x, const double *a)
{
    const conv_spec spec = {.channels = (int)a[0],
                            .kernel = (int)a[1],
                            .stride = (int)a[2],
                            .padding = (int)a[3],
                            .groups = (int)a[4],
                            .bias = a[5] != 0};
    return graph_conv(g, x, &spec);
}

static int add_linear(graph *g, int x, const double *a)
{
    return graph_linear(g, x, (int)a[0], a[1] != 0);
}

static int add_max_pool(graph *g, int x, const double *a)
{
    return graph_max_pool(g, x, &(pool_spec){.kernel = (int)a[0], .stride = (int)a[1], .padding = (int)a[2]});
}

static int add_average_pool(graph *g, int x, const double *a)
{
    return graph_average_pool(g, x, &(pool_spec){.kernel = (int)a[0], .stride = (int)a[1], .padding = (int)a[2]});
}

static int add_slice(graph *g, int x, const double *a)
{
    return graph_slice(g, x, (int)a[0], (int)a[1]);
}

static int add_shortcut(graph *g, int x, const double *a)
{
    return graph_shortcut(g, x, (int)a[0], (int)a[1]);
}

static int add_dropout(graph *g, int x, const double *a)
{
    return graph_dropout(g, x, a[0]);
}

#define PLAIN(name)                                                                                                    \
    static int add_##name(graph *g, int x, const double *a)                                                            \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        return graph_##name(g, x);                                                                                     \
    }
#define SIZED(name)                                                                                                    \
    static int add_##name(graph *g, int x, const double *a)                                                            \
    {                                                                                                                  \
        return graph_##name(g, x, (int)a[0]);                                                                          \
    }
SIZED(shuffle)
SIZED(embedding)
SIZED(lstm)
SIZED(attention)
PLAIN(batch_norm)
PLAIN(layer_norm)
PLAIN(relu)
PLAIN(relu6)
PLAIN(sigmoid)
PLAIN(tanh)
PLAIN(global_pool)
PLAIN(positions)

#define WHOLE(name, low, high, normal) {name, ARGUMENT_WHOLE, low, high, normal}
#define YESNO(name, normal) {name, ARGUMENT_YESNO, 0, 1, normal}
#define WINDOW                                                                                                         \
    {WHOLE("kernel", 1, MOST_SIDE, NULL), WHOLE("stride", 0, MOST_SIDE, "0"), WHOLE("pad", 0, MOST_SIDE, "0")}
/* clang-format off */
static const layer_kind table[] = {
    {"conv", {WHOLE("channels", 1, MOST_CHANNELS, NULL), WHOLE("kernel", 1, MOST_SIDE, NULL),
              WHOLE("stride", 1, MOST_SIDE, "1"), WHOLE("pad", 0, MOST_SIDE, "0"),
              WHOLE("groups", 1, MOST_CHANNELS, "1"), YESNO("bias", "yes")},
     add_conv, "convolution with a square kernel", false},
    {"linear", {WHOLE("outputs", 1, MOST_CHANNELS, NULL), YESNO("bias", "yes")},
     add_linear, "every output of all elements of a row", false},
    {"batch_norm", {{0}}, add_batch_norm, "normalisation over the batch, channel by channel", false},
    {"layer_norm", {{0}}, add_layer_norm, "normalisation over the elements of a row", false},
    {"relu", {{0}}, add_relu, "max(x, 0)", false},
    {"relu6", {{0}}, add_relu6, "min(max(x, 0), 6)", false},
    {"sigmoid", {{0}}, add_sigmoid, "1 / (1 + exp(-x))", false},
    {"tanh", {{0}}, add_tanh, "tanh(x)", false},
    {"max_pool", WINDOW, add_max_pool, "the largest of each window; stride 0: the kernel", false},
    {"average_pool", WINDOW, add_average_pool, "the mean of each window, its padding counted; stride 0: the kernel",
     false},
    {"global_pool", {{0}}, add_global_pool, "the mean of each channel", false},
    {"slice", {WHOLE("first", 0, 1 << 30, NULL), WHOLE("channels", 1, 1 << 30, NULL)},
     add_slice, "some of the channels, from `first` on, counted from 0", false},
    {"shuffle", {WHOLE("groups", 1, MOST_CHANNELS, NULL)}, add_shuffle, "channel shuffle", false},
    {"shortcut", {WHOLE("channels", 1, MOST_CHANNELS, NULL), WHOLE("stride", 1, MOST_SIDE, "1")},
     add_shortcut, "every stride-th pixel, with channels of zeros behind", false},
    {"dropout", {{"rate", ARGUMENT_NUMBER, 0, 0.999, NULL}}, add_dropout, "zeros at random, in training alone", false},
    {"embedding", {WHOLE("features", 1, MOST_CHANNELS, NULL)}, add_embedding, "a vector for each token of a text",
     true},
    {"positions", {{0}}, add_positions, "adds a learned vector for each place in the text", false},
    {"lstm", {WHOLE("hidden", 1, MOST_CHANNELS, NULL)}, add_lstm, "a recurrent layer", false},
    {"attention", {WHOLE("heads", 1, MOST_CHANNELS, NULL)},
     add_attention, "causal; reads queries, keys and values side by side", false},
};
/* clang-format on */

const layer_kind *layer_table(int i)
{
    return i >= 0 && (size_t)i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const layer_kind *layer_named(const char *name, size_t length)
{
    for (int i = 0; layer_table(i); i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}
