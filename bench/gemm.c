/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - emulated products of matrices against a real one: multiplications a second of fpemu_gemm_f32 and of an
 * OpenBLAS found at run time, in turn, and their ratio. Time is the processor's, so that a busy machine disturbs
 * little; one thread.
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

static const char *const models[] = {
    "seq(fp(6,9,0)); ab=fp(4,3,4); product=fp(6,9,0)",
    "seq(fp(6,9,0)); ab=fp(4,3,4)",
    "chunk(64,fp(6,9,0)); ab=e5m2",
    "seq(bf16); ab=e4m3fn; product=bf16",
    "fp32",
    "fp64",
    "seq(fp16)",
    "seq(fp(6,9,0)/sr); ab=fp(4,3,4)",
    "seq(fp(6,9,0)/sr); ab=fp(4,3,4); product=fp(6,9,0)/sr",
    "pairwise(fp16)",
    "kahan(bf16)",
    "tc(h100,fp16)",
    "tc(h100,e4m3fn,promote=128)",
    "int(32,saturate); ab=fixed(8,4)",
};

int main(void)
{
    sgemm *real = find_sgemm();
    const fpemu_gemm_shape shape = {.m = N, .n = N, .k = N};
    const double products = (double)N * N * N;
    uint32_t state = 1;
    for (size_t i = 0; i < 2 * N * N; i++) {
        state = state * 1664525u + 1013904223u;
        (i < N * N ? a : b)[i % (N * N)] = (float)((int32_t)state >> 8) * 0x1p-22f;
    }
    printf("%d x %d x %d, one thread, %s%s\n", N, N, N, fpemu_variant(), real ? "" : ", no OpenBLAS found");
    printf("%-58s %10s %10s\n", "model", "Gmac/s", "sgemm/this");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        double times[ROUNDS], ratios[ROUNDS];
        fpemu_gemm_spec spec;
        if (fpemu_gemm_parse(models[i], &spec, NULL))
            return 1;
        for (int r = -1; r < ROUNDS; r++) { /* one round warms up */
            const double t0 = now();
            if (real)
                real(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
            const double t1 = now();
            if (fpemu_gemm_f32(&spec, &shape, 1, a, b, 0, c, NULL))
                return 1;
            const double t2 = now();
            times[r < 0 ? 0 : r] = t2 - t1;
            ratios[r < 0 ? 0 : r] = (t2 - t1) / (t1 - t0);
        }
        qsort(times, ROUNDS, sizeof times[0], by_value);
        qsort(ratios, ROUNDS, sizeof ratios[0], by_value);
        printf("%-58s %10.2f ", models[i], 1e-9 * products / times[ROUNDS / 2]);
        if (real)
            printf("%10.1f\n", ratios[ROUNDS / 2]);
        else
            printf("%10s\n", "-");
    }
    return 0;
}
