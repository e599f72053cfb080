/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - what a call costs beside its elements: nanoseconds of calls that plan anew and of prepared ones, in turn, on
 * 1 and on 32 numbers of binary32; one thread. The least of many short rounds, so that a busy machine disturbs little.
 *
 *   make bench-calls */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fpemu.h"

enum { MOST = 32, ROUNDS = 600, CALLS = 100, ADD = FPEMU_USE_OPERATION };

static const struct row {
    const char *format, *rounding;
    int use, counted;
} rows[] = {
    {"e4m3fn", "rne", FPEMU_USE_QUANTIZE, 0},      {"e4m3fn", "rne", FPEMU_USE_QUANTIZE, 1},
    {"e4m3fn", "sr", FPEMU_USE_QUANTIZE, 0},       {"fp16", "rne", FPEMU_USE_QUANTIZE, 0},
    {"fixed(8,4)", "rne", FPEMU_USE_QUANTIZE, 0},  {"int(8,scale=0.1)", "rne", FPEMU_USE_QUANTIZE, 0},
    {"posit(16,1)", "rne", FPEMU_USE_QUANTIZE, 0}, {"table(nf4)", "rne", FPEMU_USE_QUANTIZE, 0},
    {"mxfp8", "rne", FPEMU_USE_QUANTIZE, 0},       {"mxfp8", "rne", FPEMU_USE_QUANTIZE, 1},
    {"mxfp4", "sr", FPEMU_USE_QUANTIZE, 0},        {"nvfp4", "rne", FPEMU_USE_QUANTIZE, 0},
    {"nvfp4", "rne", FPEMU_USE_QUANTIZE, 1},       {"nvfp4", "sr", FPEMU_USE_QUANTIZE, 0},
    {"e4m3fn", "rne", FPEMU_USE_ENCODE, 0},        {"e4m3fn", "rne", FPEMU_USE_DECODE, 0},
    {"mxfp8", "rne", FPEMU_USE_PACK, 0},           {"mxfp8", "rne", FPEMU_USE_UNPACK, 0},
    {"nvfp4", "rne", FPEMU_USE_PACK, 0},           {"bf16", "rne", ADD + FPEMU_OPERATION_ADD, 0},
    {"bf16", "rne", ADD + FPEMU_OPERATION_FMA, 0}, {"bf16", "rne", ADD + FPEMU_OPERATION_SQRT, 0},
    {"bf16", "rne", FPEMU_USE_FUNCTION, 0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float x[MOST];
static unsigned char y[4 * MOST];
static const void *const operands[3] = {x, x, x};

static fpemu_status anew(const struct row *w, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                         fpemu_stats *stats)
{
    const fpemu_type type = FPEMU_TYPE_F32;
    const fpemu_shape shape = fpemu_shape_vector(n);
    switch (w->use) {
    case FPEMU_USE_QUANTIZE: return fpemu_quantize(f, r, type, n, x, y, stats);
    case FPEMU_USE_ENCODE: return fpemu_encode(f, r, type, n, x, y, stats);
    case FPEMU_USE_DECODE: return fpemu_decode(f, type, n, x, y);
    case FPEMU_USE_PACK: return fpemu_pack(f, r, type, &shape, x, y, stats);
    case FPEMU_USE_UNPACK: return fpemu_unpack(f, type, &shape, x, y);
    case FPEMU_USE_FUNCTION: return fpemu_apply(f, r, type, FPEMU_FUNCTION_EXP, n, x, y, stats);
    default: return fpemu_arith(f, r, type, (fpemu_operation)(w->use - ADD), n, operands, NULL, y, stats);
    }
}

static fpemu_status prepared(const struct row *w, const fpemu_prepared *p, const fpemu_place *place, size_t n,
                             fpemu_stats *stats)
{
    return w->use >= ADD && w->use < FPEMU_USE_FUNCTION
               ? fpemu_run_operation(p, place, n, operands, NULL, NULL, y, stats)
               : fpemu_run(p, place, n, x, y, stats);
}

static int measure(const struct row *w, size_t n, double least[2])
{
    fpemu_format f;
    fpemu_rounding r;
    fpemu_prepared p;
    fpemu_stats stats, *const counted = w->counted ? &stats : NULL;
    memset(&stats, 0, sizeof stats);
    if (fpemu_format_parse(w->format, &f, NULL) || fpemu_rounding_parse(w->rounding, &r, NULL) ||
        fpemu_prepare(&p, &f, &r, FPEMU_TYPE_F32, w->use, NULL))
        return 0;
    least[0] = least[1] = 1e9;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        fpemu_place place = {1, 2, 0};
        const double begin = now();
        for (int i = 0; i < CALLS; i++) {
            place.offset = r.offset = (uint64_t)i * n;
            if (round % 2 ? prepared(w, &p, &place, n, counted) : anew(w, &f, &r, n, counted))
                return 0;
        }
        const double time = (now() - begin) * 1e9 / CALLS;
        least[round % 2] = time < least[round % 2] ? time : least[round % 2];
    }
    return 1;
}

int main(void)
{
    static const char *const names[] = {"quantize", "encode", "decode", "pack", "unpack"};
    for (int i = 0; i < MOST; i++)
        x[i] = (float)((i * 37) % 64 + 1) * 0.0625f;
    printf("%-18s %-4s %-10s %9s %9s %9s %9s\n", "ns", "", "elements:", "1", "1, prep.", "32", "32, prep.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *w = rows + i;
        double one[2], many[2];
        if (!measure(w, 1, one) || !measure(w, MOST, many))
            return 1;
        printf("%-18s %-4s %-10s %9.1f %9.1f %9.1f %9.1f\n", w->format, w->rounding,
               w->counted                            ? "counted"
               : w->use < ADD                        ? names[w->use]
               : w->use == FPEMU_USE_FUNCTION        ? "exp"
               : w->use == ADD                       ? "add"
               : w->use == ADD + FPEMU_OPERATION_FMA ? "fma"
                                                     : "sqrt",
               one[0], one[1], many[0], many[1]);
    }
    return 0;
}
