/* SPDX-License-Identifier: BSD-2-Clause */
/* The sum of two tensors of 4-bit integers with a binary32 scale a group, in bfloat16: rounded once from the exact
 * scaled values, and as a kernel gets it that first decodes both tensors to bfloat16. */
#include <fpemu.h>
#include <stdio.h>

enum { LENGTH = 4096, GROUP = 32, GROUPS = LENGTH / GROUP };

typedef struct groups {
    float element[LENGTH], scale[GROUPS], decoded[LENGTH];
} groups;

static void draw(groups *g, uint64_t stream)
{
    for (size_t i = 0; i < LENGTH; i++)
        g->element[i] = (float)(int)(fpemu_random_word(FPEMU_GENERATOR_HASH, 1, stream, i) % 15) - 7;
    for (size_t i = 0; i < GROUPS; i++)
        g->scale[i] = (float)(fpemu_random_word(FPEMU_GENERATOR_HASH, 2, stream, i) / 4294967296.0);
}

int main(void)
{
    static groups a, b;
    static float once[LENGTH], twice[LENGTH];
    fpemu_format bf16;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const float *const operands[] = {a.element, b.element};
    const fpemu_operand_scales scales[] = {{.values = a.scale, .length = GROUP}, {.values = b.scale, .length = GROUP}};
    draw(&a, 0);
    draw(&b, 1);
    if (fpemu_format_parse("bf16", &bf16, NULL) ||
        fpemu_arith_scaled_f32(&bf16, &nearest, FPEMU_OPERATION_ADD, LENGTH, operands, NULL, scales, once, NULL))
        return 1;
    /* x * 1 with scales decodes */
    for (int o = 0; o < 2; o++) {
        groups *g = o ? &b : &a;
        const float one = 1;
        const float *const pair[] = {g->element, &one};
        const size_t steps[] = {1, 0}; /* an array, and one number */
        const fpemu_operand_scales pair_scales[] = {{.values = g->scale, .length = GROUP}, {.values = NULL}};
        if (fpemu_arith_scaled_f32(&bf16, &nearest, FPEMU_OPERATION_MUL, LENGTH, pair, steps, pair_scales, g->decoded,
                                   NULL))
            return 1;
    }
    const float *const decoded[] = {a.decoded, b.decoded};
    if (fpemu_arith_f32(&bf16, &nearest, FPEMU_OPERATION_ADD, LENGTH, decoded, NULL, twice, NULL))
        return 1;
    size_t differ = 0;
    for (size_t i = 0; i < LENGTH; i++)
        differ += once[i] != twice[i];
    printf("%d of %d sums differ when the tensors are decoded first\n", (int)differ, LENGTH);
    return 0;
}
