/* SPDX-License-Identifier: BSD-2-Clause */
/* tensor_answers.h - reads tensor_cores.txt: what matrix instructions gave on a device. */
#ifndef TENSOR_ANSWERS_H
#define TENSOR_ANSWERS_H

#include "../common.h"
#include "fpemu.h"

enum { TENSOR_BYTES = 32 };

typedef struct tensor_instruction {
    const char *name, *operands, *result, *model;
} tensor_instruction;

static const tensor_instruction tensor_instructions[] =
    LIST({"mma", "fp16", "fp32", "tc(h100,fp16)"}, {"mma", "fp16", "fp16", "tc(h100,fp16,fp16)"},
         {"mma", "bf16", "fp32", "tc(h100,bf16)"}, {"mma", "tf32", "fp32", "tc(h100,tf32)"},
         {"mma", "e4m3fn", "fp32", "fused(16,25,fp32/rtz,least=-133,promote=32,order=0145); ab=e4m3fn"},
         {"mma", "e5m2", "fp32", "fused(16,25,fp32/rtz,least=-133,promote=32,order=0145); ab=e5m2"},
         {"mma", "e4m3fn", "fp16", "fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e4m3fn"},
         {"mma", "e5m2", "fp16", "fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e5m2"},
         {"wgmma", "fp16", "fp32", "tc(h100,fp16)"}, {"wgmma", "fp16", "fp16", "tc(h100,fp16,fp16)"},
         {"wgmma", "bf16", "fp32", "tc(h100,bf16)"}, {"wgmma", "tf32", "fp32", "tc(h100,tf32)"},
         {"wgmma", "e4m3fn", "fp32", "tc(h100,e4m3fn)"}, {"wgmma", "e5m2", "fp32", "tc(h100,e5m2)"},
         {"wgmma", "e4m3fn", "fp16", "tc(h100,e4m3fn,fp16)"}, {"wgmma", "e5m2", "fp16", "tc(h100,e5m2,fp16)"});
enum { TENSOR_INSTRUCTIONS = sizeof tensor_instructions / sizeof *tensor_instructions };

/* d of the device: c and n products. */
typedef struct tensor_answer {
    unsigned line, instruction, n;
    float a[TENSOR_BYTES], b[TENSOR_BYTES], c, d;
} tensor_answer;

/* Words of `size` bytes as the device has them in memory: the least byte first. Returns how many; 0: not understood. */
static unsigned tensor_numbers(const char *digits, const tensor_instruction *as, float *x)
{
    fpemu_format f;
    unsigned char bytes[TENSOR_BYTES];
    if (strlen(digits) != 2 * TENSOR_BYTES || fpemu_format_parse(as->operands, &f, NULL))
        return 0;
    const unsigned size = strcmp(as->operands, "tf32") == 0 ? 4 : (unsigned)fpemu_format_code_size(&f),
                   n = TENSOR_BYTES / size;
    for (unsigned i = 0; i < TENSOR_BYTES; i++) {
        unsigned byte = 0;
        (void)sscanf(digits + 2 * i, "%2x", &byte);
        bytes[i] = (unsigned char)byte;
    }
    for (unsigned k = 0; k < n; k++) {
        uint32_t word = 0;
        for (unsigned i = 0; i < size; i++)
            word |= (uint32_t)bytes[k * size + i] << 8 * i;
        const uint16_t narrow = (uint16_t)word;
        const unsigned char byte = (unsigned char)word;
        word &= 0xffffe000u; /* of tf32; the device passes over the rest */
        if (size == 4)
            memcpy(x + k, &word, sizeof word);
        else if (fpemu_decode_f32(&f, 1, size == 2 ? (const void *)&narrow : (const void *)&byte, x + k))
            return 0;
    }
    return n;
}

static int tensor_number(const char *digits, const char *result, float *x)
{
    const uint32_t word = (uint32_t)strtoul(digits, NULL, 16);
    const uint16_t half = (uint16_t)word;
    fpemu_format f;
    if (strcmp(result, "fp32") != 0)
        return !fpemu_format_parse(result, &f, NULL) && !fpemu_decode_f32(&f, 1, &half, x);
    memcpy(x, &word, sizeof word);
    return 1;
}

/* Whether a number is the device's: one NaN is like another. */
static int tensor_same(double x, double y)
{
    return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
}

/* The next answer. Returns 1, 0 at the end, -1 for a line that is not understood. */
static int tensor_next(FILE *file, tensor_answer *t)
{
    char line[512], gpu[16], name[16], operands[16], result[16], a[80], b[80], c[16], d[16];
    do {
        if (!fgets(line, sizeof line, file))
            return 0;
        t->line++;
    } while (line[0] == '#');
    if (sscanf(line, "%15s %15s %15s %15s %79s %79s %15s %15s", gpu, name, operands, result, a, b, c, d) != 8 ||
        strcmp(gpu, "h100") != 0)
        return -1;
    for (t->instruction = 0; t->instruction < TENSOR_INSTRUCTIONS; t->instruction++) {
        const tensor_instruction *const as = &tensor_instructions[t->instruction];
        if (strcmp(name, as->name) || strcmp(operands, as->operands) || strcmp(result, as->result))
            continue;
        t->n = tensor_numbers(a, as, t->a);
        return t->n && tensor_numbers(b, as, t->b) == t->n && tensor_number(c, result, &t->c) &&
                       tensor_number(d, result, &t->d)
                   ? 1
                   : -1;
    }
    return -1;
}

#endif /* TENSOR_ANSWERS_H */
