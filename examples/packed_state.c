/* SPDX-License-Identifier: BSD-2-Clause */
/* An optimiser whose momentum lives in packed storage, 8 bits an element and a scale a group: a group is unpacked,
 * changed, and packed again with stochastic rounding. All the memory beside it is one group. */
#include <fpemu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 10000, GROUP = 128, STEPS = 100 };

/* The loss is half the sum of curvature * (w - goal)^2; both differ from weight to weight. */
static double curvature(size_t i)
{
    return 0.1 + 1.9 * fpemu_random_word(FPEMU_GENERATOR_HASH, 1, 0, i) / 4294967296.0;
}

static double goal(size_t i)
{
    return fpemu_random_word(FPEMU_GENERATOR_HASH, 1, 1, i) / 2147483648.0 - 1.0;
}

static double loss(const float *w)
{
    double sum = 0;
    for (size_t i = 0; i < LENGTH; i++)
        sum += 0.5 * curvature(i) * (w[i] - goal(i)) * (w[i] - goal(i));
    return sum / LENGTH;
}

/* Steps of momentum 0.9 from w = 0, all zero bytes being a momentum of zero; 0 on failure. */
static int train(const fpemu_format *format, const fpemu_shape *shape, void *state, float *w)
{
    fpemu_layout layout;
    fpemu_rounding rounding = fpemu_rounding_stochastic(42, 0);
    if (fpemu_packed_layout(format, shape, &layout))
        return 0;
    for (int step = 0; step < STEPS; step++) {
        rounding.stream = (uint64_t)step; /* other random bits in every step */
        for (uint64_t b = 0; b < layout.blocks; b++) {
            float m[GROUP];
            fpemu_extent extent;
            if (fpemu_packed_extent(format, shape, b, &extent) ||
                fpemu_unpack_blocks_f32(format, shape, b, 1, state, m))
                return 0;
            for (size_t j = 0; j < extent.elements; j++) {
                const size_t i = (size_t)extent.first + j;
                m[j] = 0.9f * m[j] + (float)(curvature(i) * (w[i] - goal(i)));
                w[i] -= 0.1f * m[j];
            }
            if (fpemu_pack_blocks_f32(format, &rounding, shape, b, 1, m, state, NULL))
                return 0;
        }
    }
    return 1;
}

int main(void)
{
    static const char *const specs[] = {"mx(bf16,block=128)", "group(int8,block=128)", "codebook(dynamic8,block=128)",
                                        "mx(e4m3fn,block=128)", "group(int4,block=128)"};
    const fpemu_shape shape = fpemu_shape_vector(LENGTH);
    static float w[LENGTH];
    printf("%-30s %9s %12s\n", "momentum in", "bytes", "loss");
    for (size_t f = 0; f < sizeof specs / sizeof specs[0]; f++) {
        fpemu_format format;
        if (fpemu_format_parse(specs[f], &format, NULL))
            return 1;
        const size_t size = (size_t)fpemu_packed_size(&format, &shape);
        void *state = calloc(size, 1);
        for (size_t i = 0; i < LENGTH; i++)
            w[i] = 0;
        if (!state || !train(&format, &shape, state, w))
            return 1;
        printf("%-30s %9d %12.2e\n", specs[f], (int)size, loss(w));
        free(state);
    }
    return 0;
}
