/* SPDX-License-Identifier: BSD-2-Clause */
/* tensor_cores.c - the models of tensor cores against what devices gave (tests/vectors/tensor_cores.txt): one matrix
 * instruction a line, whose words must come out, by every way that a product is computed. One NaN is like another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../judges/longhand.h"

enum { BYTES = 32, COLUMNS = 17 }; /* as many outputs take whole vectors and what is left of them */

/* crossed: of every four products the instruction takes the first two, then of every four the others. */
static const struct instruction {
    const char *name, *operands, *result, *model;
    int crossed;
} instructions[] = {
    {"mma", "fp16", "fp32", "tc(h100,fp16)", 0},
    {"mma", "fp16", "fp16", "tc(h100,fp16,fp16)", 0},
    {"mma", "bf16", "fp32", "tc(h100,bf16)", 0},
    {"mma", "tf32", "fp32", "tc(h100,tf32)", 0},
    {"mma", "e4m3fn", "fp32", "fused(16,25,fp32/rtz,least=-133,promote=32); ab=e4m3fn", 1},
    {"mma", "e5m2", "fp32", "fused(16,25,fp32/rtz,least=-133,promote=32); ab=e5m2", 1},
    {"mma", "e4m3fn", "fp16", "fused(16,25,fp16,least=-21,promote=32,outer=fp16); ab=e4m3fn", 1},
    {"mma", "e5m2", "fp16", "fused(16,25,fp16,least=-21,promote=32,outer=fp16); ab=e5m2", 1},
    {"wgmma", "fp16", "fp32", "tc(h100,fp16)", 0},
    {"wgmma", "fp16", "fp16", "tc(h100,fp16,fp16)", 0},
    {"wgmma", "bf16", "fp32", "tc(h100,bf16)", 0},
    {"wgmma", "tf32", "fp32", "tc(h100,tf32)", 0},
    {"wgmma", "e4m3fn", "fp32", "tc(h100,e4m3fn)", 0},
    {"wgmma", "e5m2", "fp32", "tc(h100,e5m2)", 0},
    {"wgmma", "e4m3fn", "fp16", "tc(h100,e4m3fn,fp16)", 0},
    {"wgmma", "e5m2", "fp16", "tc(h100,e5m2,fp16)", 0},
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

/* Words of `size` bytes as the device has them in memory: the least byte first. Returns how many. */
static unsigned numbers(const char *digits, const char *format, const struct instruction *as, float *x)
{
    fpemu_format f;
    unsigned char bytes[BYTES];
    if (strlen(digits) != 2 * BYTES || fpemu_format_parse(format, &f, NULL))
        return 0;
    const unsigned size = strcmp(format, "tf32") == 0 ? 4 : (unsigned)fpemu_format_code_size(&f), n = BYTES / size;
    for (unsigned i = 0; i < BYTES; i++) {
        unsigned byte = 0;
        (void)sscanf(digits + 2 * i, "%2x", &byte);
        bytes[i] = (unsigned char)byte;
    }
    for (unsigned k = 0; k < n; k++) {
        const unsigned from = as->crossed ? k % (n / 2) / 2 * 4 + k % 2 + k / (n / 2) * 2 : k;
        uint32_t word = 0;
        for (unsigned i = 0; i < size; i++)
            word |= (uint32_t)bytes[from * size + i] << 8 * i;
        if (size == 4)
            x[k] = lh_float(word & 0xffffe000u); /* the device passes over the rest */
        else {
            const uint16_t narrow = (uint16_t)word;
            const unsigned char byte = (unsigned char)word;
            if (fpemu_decode_f32(&f, 1, size == 2 ? (const void *)&narrow : (const void *)&byte, x + k))
                return 0;
        }
    }
    return n;
}

static float of_word(const char *digits, const char *result)
{
    const uint32_t word = (uint32_t)strtoul(digits, NULL, 16);
    const uint16_t half = (uint16_t)word;
    fpemu_format f;
    float x = 0;
    if (strcmp(result, "fp32") == 0)
        return lh_float(word);
    lh_check(fpemu_format_parse(result, &f, NULL) == FPEMU_OK && fpemu_decode_f32(&f, 1, &half, &x) == FPEMU_OK,
             "%s is no %s", digits, result);
    return x;
}

static int same(double x, double y)
{
    return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
}

static void one(unsigned line, const struct instruction *as, const char *a, const char *b, float c, float d)
{
    static float x[BYTES], y[BYTES], many[BYTES * COLUMNS], sums[COLUMNS];
    static double wide_x[BYTES], wide_many[BYTES * COLUMNS], wide_sums[COLUMNS];
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s;
    memset(&s, 0, sizeof s);
    const unsigned n = numbers(a, as->operands, as, x);
    if (!lh_check(n && numbers(b, as->operands, as, y) == n && fpemu_gemm_parse(as->model, &spec, NULL) == FPEMU_OK,
                  "line %u is not understood", line))
        return;
    spec.start_from_c = 1;
    s.m = 1;
    s.n = COLUMNS;
    s.k = n;
    for (unsigned k = 0; k < n; k++) {
        wide_x[k] = (double)x[k];
        for (unsigned j = 0; j < COLUMNS; j++) {
            many[k * COLUMNS + j] = y[k];
            wide_many[k * COLUMNS + j] = (double)y[k];
        }
    }
    for (int counted = 0; counted < 2; counted++) {
        fpemu_stats stats;
        memset(&stats, 0, sizeof stats);
        for (unsigned j = 0; j < COLUMNS; j++)
            wide_sums[j] = (double)(sums[j] = c);
        lh_check(!fpemu_gemm_f32(&spec, &s, 1, x, many, 1, sums, counted ? &stats : NULL) &&
                     !fpemu_gemm_f64(&spec, &s, 1, wide_x, wide_many, 1, wide_sums, counted ? &stats : NULL),
                 "line %u: refused", line);
        for (unsigned j = 0; j < COLUMNS; j++)
            lh_check(same((double)sums[j], (double)d) && same(wide_sums[j], (double)d),
                     "line %u, %s of %s: %a and %a, the device gave %a", line, as->name, as->model, (double)sums[j],
                     wide_sums[j], (double)d);
    }
}

int main(void)
{
    static char line[512], gpu[16], name[16], operands[16], result[16], a[80], b[80], c[16], d[16];
    const char *source = getenv("top_srcdir");
    char path[4096];
    unsigned number = 0, of[INSTRUCTIONS] = {0};
    (void)snprintf(path, sizeof path, "%s/tests/vectors/tensor_cores.txt", source ? source : ".");
    FILE *const file = fopen(path, "r");
    if (!lh_check(file != NULL, "cannot open %s", path))
        return lh_report("tensor_cores");
    while (fgets(line, sizeof line, file)) {
        unsigned i = 0;
        number++;
        if (line[0] == '#')
            continue;
        if (!lh_check(
                sscanf(line, "%15s %15s %15s %15s %79s %79s %15s %15s", gpu, name, operands, result, a, b, c, d) == 8 &&
                    strcmp(gpu, "h100") == 0,
                "line %u is not understood", number))
            continue;
        while (i < INSTRUCTIONS && (strcmp(name, instructions[i].name) || strcmp(operands, instructions[i].operands) ||
                                    strcmp(result, instructions[i].result)))
            i++;
        if (!lh_check(i < INSTRUCTIONS, "line %u: no such instruction", number))
            continue;
        of[i]++;
        one(number, &instructions[i], a, b, of_word(c, result), of_word(d, result));
    }
    (void)fclose(file);
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        lh_check(of[i] >= 20, "%s of %s has %u answers", instructions[i].name, instructions[i].model, of[i]);
    return lh_report("tensor_cores");
}
