/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - emulated products of matrices against a real one: multiplications a second of fpemu_gemm and of an OpenBLAS
 * found at run time, in turn, and their ratio: of binary32 arrays, with counters, of arrays of double, of as many
 * products of a batch of dot products of 32 numbers, and of prepared dot products of 4 and of 64. Time is the
 * processor's, so that a busy machine disturbs little; one thread.
 *
 *   make bench-gemm          OPENBLAS=path/of/libopenblas.so.0 where it lies elsewhere; OPENBLAS_CORETYPE=SkylakeX for
 *                            its AVX-512 kernel on processors that it does not know */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fpemu.h"

enum { N = 256, ROUNDS = 15 };

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);

static float a[N * N], b[N * N], c[N * N];
static double a64[N * N], b64[N * N], c64[N * N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *x, const void *y)
{
    const double *p = (const double *)x, *q = (const double *)y;
    return (*p > *q) - (*p < *q);
}

/* As data pointers and functions may not be converted into each other. */
static sgemm *find_sgemm(void)
{
    const char *path = getenv("OPENBLAS");
    void *library = dlopen(path ? path : "libopenblas.so.0", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cblas_sgemm") : NULL;
    sgemm *f = NULL;
    if (symbol)
        memcpy(&f, &symbol, sizeof f);
    return f;
}

static const struct row {
    const char *model;
    enum { PLAIN, COUNTED, DOUBLES, COUNTED_DOUBLES, DOTS, FOURS, LONE } kind;
} rows[] = {
    {"seq(fp(6,9,0)); ab=fp(4,3,4); product=fp(6,9,0)", PLAIN},
    {"seq(fp(6,9,0)); ab=fp(4,3,4)", PLAIN},
    {"chunk(64,fp(6,9,0)); ab=e5m2", PLAIN},
    {"seq(bf16); ab=e4m3fn; product=bf16", PLAIN},
    {"fp32", PLAIN},
    {"fp64", PLAIN},
    {"seq(fp16)", PLAIN},
    {"seq(fp(6,9,0)/sr); ab=fp(4,3,4)", PLAIN},
    {"seq(fp(6,9,0)/sr); ab=fp(4,3,4); product=fp(6,9,0)/sr", PLAIN},
    {"pairwise(fp16)", PLAIN},
    {"kahan(bf16)", PLAIN},
    {"tc(h100,fp16)", PLAIN},
    {"tc(h100,e4m3fn,promote=128)", PLAIN},
    {"tc(b200,mxf8f6f4)", PLAIN},
    {"tc(b200,mxf4nvf4)", PLAIN},
    {"tc(cdna1,fp16)", PLAIN},
    {"tc(cdna3,fp16)", PLAIN},
    {"tc(amx,bf16)", PLAIN},
    {"int(32,saturate); ab=fixed(8,4)", PLAIN},
    {"fp32", COUNTED},
    {"seq(fp16)", COUNTED},
    {"tc(h100,fp16)", COUNTED},
    {"tc(b200,mxf8f6f4)", COUNTED},
    {"tc(cdna1,fp16)", COUNTED},
    {"tc(cdna3,fp16)", COUNTED},
    {"tc(amx,bf16)", COUNTED},
    {"fp32", DOUBLES},
    {"seq(fp32); product=fp32", DOUBLES},
    {"fp64", COUNTED_DOUBLES},
    {"fp32", DOTS},
    {"seq(fp16)", DOTS},
    {"fp32", FOURS},
    {"fp32", LONE},
    {"seq(fp16)", FOURS},
    {"seq(fp16)", LONE},
};

static fpemu_status product(const struct row *r, const fpemu_gemm_spec *spec)
{
    const fpemu_gemm_shape whole = {.m = N, .n = N, .k = N};
    const fpemu_gemm_shape dots = {
        .m = 1, .n = 1, .k = 32, .batch = 2048, .stride_a = 32, .stride_b = 32, .stride_c = 1};
    fpemu_stats stats;
    memset(&stats, 0, sizeof stats);
    if (r->kind == DOUBLES || r->kind == COUNTED_DOUBLES)
        return fpemu_gemm_f64(spec, &whole, 1, a64, b64, 0, c64, r->kind == DOUBLES ? NULL : &stats);
    if (r->kind >= FOURS) { /* prepared, one by one */
        fpemu_prepared_gemm prepared;
        const size_t n = r->kind == FOURS ? 4 : 64;
        fpemu_status status = fpemu_prepare_gemm(&prepared, spec, FPEMU_TYPE_F32, NULL);
        for (size_t i = 0; i < (size_t)N * N * N / n && !status; i++)
            status = fpemu_run_dot(&prepared, n, a + i % 1024 * n, 1, b, 1, c, NULL);
        return status;
    }
    if (r->kind != DOTS)
        return fpemu_gemm_f32(spec, &whole, 1, a, b, 0, c, r->kind == COUNTED ? &stats : NULL);
    for (int i = 0; i < N * N * N / 65536; i++)
        if (fpemu_gemm_f32(spec, &dots, 1, a, b, 0, c, NULL))
            return FPEMU_ERROR_ARGUMENT;
    return FPEMU_OK;
}

int main(void)
{
    sgemm *real = find_sgemm();
    static const char *const kinds[] = {"", ", counted", ", double", ", double, counted", ", dots", ", 4", ", 64"};
    const double products = (double)N * N * N;
    uint32_t state = 1;
    for (size_t i = 0; i < 2 * N * N; i++) {
        state = state * 1664525u + 1013904223u;
        (i < N * N ? a : b)[i % (N * N)] = (float)((int32_t)state >> 8) * 0x1p-22f;
        (i < N * N ? a64 : b64)[i % (N * N)] = (double)(int32_t)state / 3e9;
    }
    printf("%d x %d x %d, one thread, %s%s\n", N, N, N, fpemu_variant(), real ? "" : ", no OpenBLAS found");
    printf("%-65s %10s %10s\n", "model", "Gmac/s", "sgemm/this");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double times[ROUNDS], ratios[ROUNDS];
        fpemu_gemm_spec spec;
        if (fpemu_gemm_parse(rows[i].model, &spec, NULL))
            return 1;
        for (int r = -1; r < ROUNDS; r++) { /* one round warms up */
            const double t0 = now();
            if (real)
                real(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
            const double t1 = now();
            if (product(&rows[i], &spec))
                return 1;
            const double t2 = now();
            times[r < 0 ? 0 : r] = t2 - t1;
            ratios[r < 0 ? 0 : r] = (t2 - t1) / (t1 - t0);
        }
        qsort(times, ROUNDS, sizeof times[0], by_value);
        qsort(ratios, ROUNDS, sizeof ratios[0], by_value);
        printf("%-48s%-17s %10.3f ", rows[i].model, kinds[rows[i].kind], 1e-9 * products / times[ROUNDS / 2]);
        if (real)
            printf("%10.1f\n", ratios[ROUNDS / 2]);
        else
            printf("%10s\n", "-");
    }
    return 0;
}
