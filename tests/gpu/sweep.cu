/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.cu - all 2^32 binary32 inputs on a device.
 *
 *   sweep_device --digests FILE   every line of tests/digests.txt: the digest of all outputs (tests/against_judges/sweep.h says
 *                                 of what) against the recorded one, which the CPU and its judges agree on
 *   sweep_device --hardware       the device's own conversions to FP8, FP6, FP4, FP16, BF16 and E8M0 (cuda_fp8.h
 *                                 and the like) against fpemu_cuda_encode_f32 with the settings `nvidia' */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <fpemu_cuda.h>
#include <string.h>

#include "must.h"

#define CHUNK (UINT64_C(1) << 28)

static __device__ uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static __global__ void inputs(uint32_t first, uint32_t *x)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < CHUNK; i += (uint64_t)gridDim.x * blockDim.x)
        x[i] = first + (uint32_t)i;
}

/* The sum does not depend on its order. */
static __global__ void digest(uint64_t first, const uint32_t *y, unsigned long long *sum)
{
    uint64_t own = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < CHUNK; i += (uint64_t)gridDim.x * blockDim.x)
        own += (mix(first + i + 1) - mix(first + i)) * mix(y[i] + UINT64_C(0x9e3779b97f4a7c15));
    for (int step = 16; step > 0; step /= 2)
        own += __shfl_xor_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, (unsigned long long)own);
}

enum hardware { E4M3, E5M2, E4M3_NOSAT, E5M2_NOSAT, E3M2, E2M3, E2M1, FP16, BF16, E8M0_DOWN, E8M0_UP, HARDWARES };

static __device__ uint32_t convert(int how, float x)
{
    switch (how) {
    case E4M3: return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    case E5M2: return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    case E4M3_NOSAT: return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);
    case E5M2_NOSAT: return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
    case E3M2: return __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest);
    case E2M3: return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest);
    case E2M1: return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    case FP16: return __half_as_ushort(__float2half_rn(x));
    case BF16: return __bfloat16_as_ushort(__float2bfloat16_rn(x));
    case E8M0_DOWN: return __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundZero);
    default: return __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
    }
}

/* differ: how many do, and the least input that does. */
static __global__ void compare(int how, uint64_t first, const uint32_t *x, const uint8_t *codes, int size,
                               unsigned long long *differ)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < CHUNK;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const uint32_t code = size == 1 ? codes[i] : ((const uint16_t *)codes)[i];
        if (convert(how, __uint_as_float(x[i])) != code) {
            atomicAdd(differ, 1);
            atomicMin(differ + 1, (unsigned long long)(first + i));
        }
    }
}

static uint32_t *d_x, *d_y;
static unsigned long long *d_sum;

static int check_digests(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256], spec[128], mode[16], policy[32];
    unsigned long long recorded, seen;
    unsigned checked = 0, wrong = 0;
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    while (fgets(line, sizeof line, file)) {
        fpemu_format f;
        fpemu_rounding r;
        if (sscanf(line, "%127s %15s %31s %llx", spec, mode, policy, &recorded) != 4)
            continue;
        if (fpemu_format_parse(spec, &f, NULL) || fpemu_rounding_parse(mode, &r, NULL)) {
            fprintf(stderr, "%s is not understood\n", line);
            return 1;
        }
        r.overflow = strcmp(policy, "ieee") == 0       ? FPEMU_OVERFLOW_IEEE
                     : strcmp(policy, "saturate") == 0 ? FPEMU_OVERFLOW_SATURATE
                                                       : FPEMU_OVERFLOW_SATURATE_KEEP_INF;
        must(cudaMemset(d_sum, 0, sizeof *d_sum), "memset");
        for (uint64_t first = 0; first < UINT64_C(1) << 32; first += CHUNK) {
            inputs<<<1024, 256>>>((uint32_t)first, d_x);
            const fpemu_cuda_status status =
                fpemu_cuda_quantize_f32(&f, &r, CHUNK, (float *)d_x, (float *)d_y, NULL, NULL);
            if (status) {
                fprintf(stderr, "%s %s: %s\n", spec, mode, fpemu_cuda_status_text(status));
                return 1;
            }
            digest<<<1024, 256>>>(first, d_y, d_sum);
        }
        must(cudaMemcpy(&seen, d_sum, sizeof seen, cudaMemcpyDeviceToHost), "digest");
        checked++;
        wrong += seen != recorded;
        if (seen != recorded)
            printf("FAIL %s %s %s: %016llx, recorded %016llx\n", spec, mode, policy, seen, recorded);
    }
    fclose(file);
    printf("digests of 2^32 inputs: %u, %u differ\n", checked, wrong);
    return wrong != 0 || checked == 0;
}

static int check_hardware(void)
{
    static const struct {
        const char *spec, *settings;
        fpemu_mode mode;
        fpemu_overflow overflow;
    } cases[HARDWARES] = {
        {"e4m3fn", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE},
        {"e5m2", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE},
        {"e4m3fn", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE},
        {"e5m2", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE},
        {"e3m2", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE},
        {"e2m3", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE},
        {"e2m1", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE},
        {"fp16", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE},
        {"bf16", "nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE},
        {"e8m0", "nvidia", FPEMU_MODE_RTZ, FPEMU_OVERFLOW_SATURATE},
        {"e8m0", "nvidia", FPEMU_MODE_RAZ, FPEMU_OVERFLOW_SATURATE},
    };
    unsigned wrong = 0;
    for (int k = 0; k < HARDWARES; k++) {
        fpemu_format f;
        fpemu_rounding r;
        unsigned long long differ[2] = {0, ~0ull};
        if (fpemu_format_parse(cases[k].spec, &f, NULL) || fpemu_rounding_parse(cases[k].settings, &r, NULL))
            return 1;
        r.mode = (uint8_t)cases[k].mode;
        r.overflow = (uint8_t)cases[k].overflow;
        must(cudaMemcpy(d_sum, differ, sizeof differ, cudaMemcpyHostToDevice), "begin");
        for (uint64_t first = 0; first < UINT64_C(1) << 32; first += CHUNK) {
            inputs<<<1024, 256>>>((uint32_t)first, d_x);
            const fpemu_cuda_status status = fpemu_cuda_encode_f32(&f, &r, CHUNK, (float *)d_x, d_y, NULL, NULL);
            if (status) {
                fprintf(stderr, "%s: %s\n", cases[k].spec, fpemu_cuda_status_text(status));
                return 1;
            }
            compare<<<1024, 256>>>(k, first, d_x, (const uint8_t *)d_y, (int)fpemu_format_code_size(&f), d_sum);
        }
        must(cudaMemcpy(differ, d_sum, sizeof differ, cudaMemcpyDeviceToHost), "result");
        printf("%s mode %d overflow %d against the hardware: %llu of 2^32 differ", cases[k].spec, r.mode, r.overflow,
               differ[0]);
        printf(differ[0] ? ", first %08llx\n" : "\n", differ[1]);
        wrong += differ[0] != 0;
    }
    return wrong != 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    must(cudaMalloc(&d_x, CHUNK * 4), "memory");
    must(cudaMalloc(&d_y, CHUNK * 4), "memory");
    must(cudaMalloc(&d_sum, 2 * sizeof *d_sum), "memory");
    if (argc == 3 && strcmp(argv[1], "--digests") == 0)
        return check_digests(argv[2]);
    if (argc == 2 && strcmp(argv[1], "--hardware") == 0)
        return check_hardware();
    fprintf(stderr, "usage: sweep_device --digests FILE | --hardware\n");
    return 2;
}
