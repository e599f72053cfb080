/* SPDX-License-Identifier: BSD-2-Clause */
/* large.c - more than 2^32 elements in one call, on a device: quantize, encode and decode, stochastic rounding by
 * indices beyond 2^32, counters. What can be read back is compared with libfpemu: windows around the ends and around
 * every multiple of 2^31; of counters everything. Skips, saying so, where the device's free memory is too small. */
#include <cuda_runtime_api.h>
#include <fpemu_cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4096 };

static unsigned long failures, comparisons;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(int right, const char *what, unsigned long long at)
{
    comparisons++;
    if (!right && failures++ < 25)
        printf("FAIL %s at %llu\n", what, at);
}

static float x[WINDOW], y[WINDOW], got[WINDOW];
static unsigned char codes[WINDOW], got_codes[WINDOW];

static void check_windows(const fpemu_format *f, const fpemu_rounding *given, size_t n, const float *d_y,
                          const unsigned char *d_codes)
{
    for (size_t begin = 0; begin < n; begin += (size_t)1 << 31) {
        const size_t first = begin < WINDOW / 2 ? 0 : begin - WINDOW / 2;
        fpemu_rounding r = *given;
        r.offset += first;
        fpemu_quantize_f32(f, &r, WINDOW, x, y, NULL);
        fpemu_encode_f32(f, &r, WINDOW, x, codes, NULL);
        if (first + WINDOW > n)
            break;
        if (d_y) {
            must(cudaMemcpy(got, d_y + first, sizeof got, cudaMemcpyDeviceToHost), "copy");
            expect(memcmp(got, y, sizeof y) == 0, "values", first);
        }
        if (d_codes) {
            must(cudaMemcpy(got_codes, d_codes + first, sizeof got_codes, cudaMemcpyDeviceToHost), "copy");
            expect(memcmp(got_codes, codes, sizeof codes) == 0, "codes", first);
        }
    }
}

int main(void)
{
    const size_t n = ((size_t)1 << 32) + 3 * WINDOW + 5;
    int count = 0;
    size_t room = 0, all = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    must(cudaMemGetInfo(&room, &all), "memory");
    if (room < 5 * n + ((size_t)64 << 20)) {
        printf("skipped: %zu MiB of device memory are free, %zu are needed\n", room >> 20, (5 * n >> 20) + 64);
        return 77;
    }
    float *d_x;
    unsigned char *d_codes;
    fpemu_cuda_stats *d_stats;
    fpemu_format f;
    void *const scratch = malloc(fpemu_cuda_stats_size());
    must(cudaMalloc((void **)&d_x, 4 * n), "memory");
    must(cudaMalloc((void **)&d_codes, n), "memory");
    must(cudaMalloc((void **)&d_stats, fpemu_cuda_stats_size()), "memory");
    if (!scratch || fpemu_format_parse("e4m3fn:saturate", &f, NULL))
        return 1;
    const fpemu_rounding rounding[2] = {fpemu_rounding_nearest(), fpemu_rounding_stochastic(5, 6)};
    for (int k = 0; k < 2; k++) {
        fpemu_rounding r = rounding[k];
        fpemu_stats stats;
        r.offset = 12345;
        must(cudaMemset(d_x, 0x3f, 4 * n), "fill"); /* 0.747..., between two values */
        memset(x, 0x3f, sizeof x);
        memset(&stats, 0, sizeof stats);
        expect(fpemu_cuda_stats_clear(d_stats, 0, NULL) == FPEMU_CUDA_OK, "clear", 0);
        expect(fpemu_cuda_encode_f32(&f, &r, n, d_x, d_codes, NULL, NULL) == FPEMU_CUDA_OK, "encode", n);
        expect(fpemu_cuda_quantize_f32(&f, &r, n, d_x, d_x, d_stats, NULL) == FPEMU_CUDA_OK, "quantize", n);
        expect(fpemu_cuda_stats_read(d_stats, scratch, &stats, NULL) == FPEMU_CUDA_OK, "read", n);
        check_windows(&f, &r, n, d_x, d_codes);
        expect(stats.count == n && stats.inexact == n && stats.clipped == 0 && stats.underflow == 0, "counters",
               stats.inexact);
        /* what was encoded, decoded */
        must(cudaMemset(d_x, 0, 4 * n), "fill");
        expect(fpemu_cuda_decode_f32(&f, n, d_codes, d_x, NULL) == FPEMU_CUDA_OK, "decode", n);
        check_windows(&f, &r, n, d_x, NULL);
    }
    /* every element past the end */
    fpemu_stats stats;
    memset(&stats, 0, sizeof stats);
    must(cudaMemset(d_x, 0x7e, 4 * n), "fill");
    expect(fpemu_cuda_stats_clear(d_stats, 0, NULL) == FPEMU_CUDA_OK, "clear", 0);
    expect(fpemu_cuda_quantize_f32(&f, &rounding[0], n, d_x, d_x, d_stats, NULL) == FPEMU_CUDA_OK, "quantize", n);
    expect(fpemu_cuda_stats_read(d_stats, scratch, &stats, NULL) == FPEMU_CUDA_OK, "read", n);
    expect(stats.clipped == n && stats.overflow == n, "clipped", stats.clipped);
    /* nothing at all */
    expect(fpemu_cuda_quantize_f32(&f, &rounding[0], 0, NULL, NULL, NULL, NULL) == FPEMU_CUDA_OK, "nothing", 0);
    printf("%zu elements: %lu compared, %lu differ\n", n, comparisons, failures);
    return failures != 0;
}
