/* SPDX-License-Identifier: BSD-2-Clause */
/* mma.cu - the models tc(gpu, operands) of gemm against the mma.sync instruction of the device they are named after:
 * A100 on sm_80, Ada on sm_89, H100 on sm_90, B200 on sm_100. Operands of nearly one size, of many sizes, sums that
 * cancel, any bits; c alike. What comes out is printed. All have to agree but FP8 on H100: from c = 0, and only
 * printed, since its model was measured on another instruction (wgmma). On B200 its c is added last (promote=32). */
#include <cuda_runtime.h>
#include <fpemu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 17
#include "random.h"

enum { M = 16, N = 8, ROW = 32, TILES = 1 << 14 }; /* a row of a, a column of b: 32 bytes */
enum kind { FP16, BF16, TF32, E4M3, E5M2, KINDS };

static const char *const operands[KINDS] = {"fp16", "bf16", "tf32", "e4m3fn", "e5m2"};
static const fpemu_name names[KINDS] = {FPEMU_NAME_BINARY16, FPEMU_NAME_BFLOAT16, FPEMU_NAME_TF32, FPEMU_NAME_E4M3FN, FPEMU_NAME_E5M2};
static const unsigned sizes[KINDS] = {2, 2, 4, 1, 1};

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

#define MMA(shape, types)                                                                                              \
    asm("mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"   \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/* A warp has a tile. Its registers lie alike for all types, counted in bytes along k. */
static __global__ void multiply(int kind, const unsigned char *as, const unsigned char *bs, float *cs)
{
    const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
    const size_t tile = blockIdx.x;
    const unsigned char *const p = as + tile * M * ROW + g * ROW + 4 * t;
    const unsigned char *const q = bs + tile * N * ROW + g * ROW + 4 * t;
    float *const c = cs + tile * M * N + g * N + 2 * t;
    uint32_t a[4], b[2];
    for (int k = 0; k < 4; k++)
        a[k] = *(const uint32_t *)(p + k % 2 * 8 * ROW + k / 2 * 16);
    for (int k = 0; k < 2; k++)
        b[k] = *(const uint32_t *)(q + k * 16);
    float d[4] = {c[0], c[1], c[8 * N], c[8 * N + 1]};
    switch (kind) {
    case FP16: MMA("m16n8k16", "f16.f16"); break;
    case BF16: MMA("m16n8k16", "bf16.bf16"); break;
    case TF32: MMA("m16n8k8", "tf32.tf32"); break;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    case E4M3: MMA("m16n8k32", "e4m3.e4m3"); break;
    case E5M2: MMA("m16n8k32", "e5m2.e5m2"); break;
#endif
    }
    c[0] = d[0];
    c[1] = d[1];
    c[8 * N] = d[2];
    c[8 * N + 1] = d[3];
}

static unsigned char a[TILES * M * ROW], b[TILES * N * ROW];
static float c[TILES * M * N], got[TILES * M * N], want[TILES * M * N];
static float wide_a[TILES * M * ROW], wide_b[TILES * N * ROW];

/* +-2^e (1 + f), e from a window as wide as `how` tells; of 2, now and then the opposite of the one before. */
static float number(int how, float before)
{
    const uint64_t u = next();
    const int window = how == 0 ? 2 : how == 1 ? 12 : 30;
    if (how == 2 && u % 3 == 0)
        return -before;
    return ldexpf((float)(1 + (double)(u >> 11) / 9007199254740992.0), (int)(u >> 4 & 63) % window - window / 2) *
           (u & 1 ? 1 : -1);
}

/* Numbers of a type, as bytes and as binary32. */
static void fill(int kind, int how, size_t count, unsigned char *codes, float *x)
{
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f;
    if (fpemu_format_named(names[kind], &f))
        exit(1);
    for (size_t i = 0; i < count; i++)
        x[i] = number(how, i ? x[i - 1] : 1);
    if (kind == TF32) { /* the upper bits of a binary32 number */
        fpemu_quantize_f32(&f, &r, count, x, x, NULL);
        for (size_t i = 0; i < count && how == 3; i++) {
            const uint32_t u = (uint32_t)next() & 0xffffe000u;
            memcpy(x + i, &u, 4);
        }
        memcpy(codes, x, 4 * count);
        return;
    }
    fpemu_encode_f32(&f, &r, count, x, codes, NULL);
    for (size_t i = 0; i < count * sizes[kind] && how == 3; i++)
        codes[i] = (unsigned char)next();
    fpemu_decode_f32(&f, count, codes, x);
}

/* How many outputs differ from the model; a NaN is one like another. */
static size_t differences(const char *model, int kind, int how, int from_zero, unsigned char *d_a, unsigned char *d_b,
                          float *d_c)
{
    const unsigned k = ROW / sizes[kind];
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s;
    size_t differ = 0;
    memset(&s, 0, sizeof s);
    if (fpemu_gemm_parse(model, &spec, NULL)) {
        printf("%s: no such model\n", model);
        exit(1);
    }
    spec.start_from_c = 1;
    s.m = M;
    s.n = N;
    s.k = k;
    s.transpose_b = 1;
    s.batch = TILES;
    s.stride_a = M * k;
    s.stride_b = N * k;
    s.stride_c = M * N;
    fill(kind, how, (size_t)TILES * M * k, a, wide_a);
    fill(kind, how, (size_t)TILES * N * k, b, wide_b);
    for (size_t i = 0; i < (size_t)TILES * M * N; i++)
        c[i] = from_zero ? 0 : how == 0 ? number(0, 1) * (float)k : number(how, wide_a[i]);
    memcpy(want, c, sizeof c);
    if (fpemu_gemm_f32(&spec, &s, 1, wide_a, wide_b, 1, want, NULL)) {
        printf("%s: refused\n", model);
        exit(1);
    }
    must(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d_c, c, sizeof c, cudaMemcpyHostToDevice), "copy");
    multiply<<<TILES, 32>>>(kind, d_a, d_b, d_c);
    must(cudaMemcpy(got, d_c, sizeof got, cudaMemcpyDeviceToHost), "mma");
    for (size_t i = 0; i < (size_t)TILES * M * N; i++) {
        const int same = memcmp(got + i, want + i, 4) == 0 || (got[i] != got[i] && want[i] != want[i]);
        if (!same && differ++ == 0)
            printf("  first: output %zu is %a, by the model %a\n", i, (double)got[i], (double)want[i]);
    }
    return differ;
}

int main(void)
{
    static const char *const hows[] = {"one size", "many sizes", "cancelling", "any bits"};
    int count = 0, wrong = 0;
    cudaDeviceProp device;
    unsigned char *d_a, *d_b;
    float *d_c;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    must(cudaGetDeviceProperties(&device, 0), "device");
    const int version = device.major * 10 + device.minor;
    const char *const gpu = version == 80    ? "a100"
                            : version == 89  ? "ada"
                            : version == 90  ? "h100"
                            : version == 100 ? "b200"
                                             : NULL;
    if (!gpu) {
        printf("no model is named after %s (sm_%d)\n", device.name, version);
        return 0;
    }
    must(cudaMalloc(&d_a, sizeof a), "memory");
    must(cudaMalloc(&d_b, sizeof b), "memory");
    must(cudaMalloc(&d_c, sizeof c), "memory");
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind >= E4M3 && version < 89)
            continue;
        for (int how = 0; how < 4; how++) {
            char model[64];
            const int fp8 = kind >= E4M3;
            (void)snprintf(model, sizeof model, "tc(%s,%s%s)", gpu, operands[kind],
                           fp8 && version == 100 ? ",promote=32" : "");
            const size_t differ = differences(model, kind, how, fp8 && version == 90, d_a, d_b, d_c);
            printf("%s against mma.sync, %s: %zu of %d outputs differ\n", model, hows[how], differ, TILES * M * N);
            wrong |= differ != 0 && !(fp8 && version == 90);
        }
    }
    return wrong;
}
