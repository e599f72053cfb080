/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - see memory.h */
#include "estimate/memory.h"

#include <math.h>
#include <string.h>

#include "engine/memory.h"
#include "run/trainer.h"

enum { HUNDREDTHS = 1600 }; /* the largest width that the settings take */

static bool look(graph *g, const settings *s, double width, uint64_t most, const memory_choice *choice, memory_fit *fit,
                 trouble *why)
{
    optimizer_settings o = optimizer_settings_of(s);
    optimizer_memory memory;
    o.name = choice->name;
    o.packed = choice->packed;
    if (!optimizer_memory_of(&o, g, &memory, why))
        return false;
    if (memory.stored + memory.workspace <= most)
        *fit = (memory_fit){width, graph_param_count(g), memory};
    return true;
}

bool memory_largest_widths(const settings *s, const model_shape *shape, uint64_t most, int choices,
                           const memory_choice *choice, memory_fit *fit, trouble *why)
{
    settings at = *s;
    bool built = false;
    int found = 0;
    for (int i = 0; i < choices; i++)
        fit[i] = (memory_fit){0};
    for (int hundredths = HUNDREDTHS; hundredths > 0 && found < choices; hundredths--) {
        bool good = true;
        at.model.width = hundredths / 100.0;
        graph *g = network_build(&at, shape, why);
        if (!g)
            continue;
        built = true;
        for (int i = 0; i < choices && good; i++) {
            if (fit[i].width > 0)
                continue;
            good = look(g, s, at.model.width, most, &choice[i], &fit[i], why);
            found += fit[i].width > 0;
        }
        graph_free(g);
        if (!good)
            return false;
    }
    return built; /* else `why` has what the model says of its last width */
}

/* Samples that a convolution takes at a time, and what the program and its libraries have before a network is made. */
enum { PIECE_SAMPLES = 8, PROGRAM_BYTES = 20 << 20 };

/* Input, output and weights of the largest convolution once more, for each thread that finds a piece of the batch. */
static double convolution_bytes(const settings *s, graph *g, int threads)
{
    const int batch = s->train.batch, pieces = (batch + PIECE_SAMPLES - 1) / PIECE_SAMPLES;
    double most = 0;
    for (int i = 0; i < graph_ops(g); i++) {
        const op_info o = graph_op(g, i);
        if (strcmp(o.type, "conv") != 0)
            continue;
        const double sample = (double)(graph_value(g, o.input[0])->row + graph_value(g, o.output)->row);
        const double weights = (double)graph_param(g, o.first_param)->size;
        most = fmax(most, fmin(batch, PIECE_SAMPLES) * sample + weights);
    }
    return most * (double)sizeof(float) * (threads < pieces ? threads : pieces);
}

double memory_of_training(const settings *s, graph *g, int threads, trouble *why)
{
    const optimizer_settings kind = optimizer_settings_of(s);
    optimizer_memory kept;
    if (!optimizer_memory_of(&kind, g, &kept, why))
        return NAN;
    return (double)memory_of_passes(g, s->train.batch) + convolution_bytes(s, g, threads) +
           (double)(kept.stored + kept.workspace) + PROGRAM_BYTES +
           (double)s->train.batch * (double)graph_value(g, 0)->row * sizeof(float);
}
