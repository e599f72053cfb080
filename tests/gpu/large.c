/* SPDX-License-Identifier: BSD-2-Clause */
/* large.c - more than 2^33 elements in one call, on a device, or more than 2^32 where less memory is free: quantize,
 * encode and decode, stochastic rounding by indices beyond 2^32, counters; measure; blocks in place, packed, unpacked;
 * 16-bit words. What can be read back is compared with libfpemu: windows around every multiple of 2^31 and at both
 * ends, the last element included; of counters and ranges everything. Skips, saying so, where the device's free memory
 * is too small. */
#include "../common.h"
#include "must.h"
#include <fpemu_cuda.h>

#ifndef STEP
#define STEP ((size_t)1 << 31) /* windows lie around multiples of this */
#endif
enum { WINDOW = 4096, BLOCK = 32, ROOM = WINDOW + BLOCK, WINDOWS = 16 };

static unsigned long failures, comparisons;

static void expect(int right, const char *what, unsigned long long at)
{
    comparisons++;
    if (!right && failures++ < 25)
        printf("FAIL %s at %llu\n", what, at);
}

/* ------------------------------------------------------------------------------------------------- windows */

/* Elements [first, first + count); first is a multiple of BLOCK. */
typedef struct window {
    size_t first, count;
} window;

/* Around every multiple of STEP, and up to the end. */
static int windows_of(size_t n, window *w)
{
    int k = 0;
    for (size_t begin = 0; begin + WINDOW / 2 <= n && k < WINDOWS - 1; begin += STEP) {
        w[k].first = begin < WINDOW / 2 ? 0 : begin - WINDOW / 2;
        w[k++].count = WINDOW;
    }
    w[k].first = (n - WINDOW) / BLOCK * BLOCK;
    w[k].count = n - w[k].first;
    return k + 1;
}

static float x[ROOM], y[ROOM], got[ROOM];
static uint16_t words[ROOM], right_words[ROOM], got_words[ROOM];
static unsigned char codes[2 * ROOM], got_codes[2 * ROOM];

/* A number for each place: a window that was written elsewhere, or read from elsewhere, is seen. */
static float number_at(size_t i)
{
    const uint64_t r = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    return (float)((int64_t)(r >> 40) - (1 << 23)) / (float)(1 << (r >> 30 & 15)) / 4096;
}

static void numbers_of(window w)
{
    for (size_t i = 0; i < w.count; i++) {
        uint32_t bits;
        x[i] = number_at(w.first + i);
        memcpy(&bits, &x[i], 4);
        words[i] = (uint16_t)(bits >> 16);
    }
}

/* 0.747... everywhere, which lies between two values, but numbers of their own in windows. d: floats or bfloat16
 * words. */
static void fill(void *d, size_t n, size_t size)
{
    window w[WINDOWS];
    const int count = windows_of(n, w);
    must(cudaMemset(d, 0x3f, size * n), "fill");
    for (int k = 0; k < count; k++) {
        numbers_of(w[k]);
        must(cudaMemcpy((char *)d + size * w[k].first, size == 4 ? (void *)x : (void *)words, size * w[k].count,
                        cudaMemcpyHostToDevice),
             "copy");
    }
}

static void fetch(void *to, const void *d, size_t size, window w)
{
    must(cudaMemcpy(to, (const char *)d + size * w.first, size * w.count, cudaMemcpyDeviceToHost), "copy");
}

static fpemu_rounding rounding_at(const fpemu_rounding *given, window w)
{
    fpemu_rounding r = *given;
    r.offset += w.first;
    return r;
}

/* ------------------------------------------------------------------------------------------------- elements */

/* x is the same everywhere. */
static void check_windows(const fpemu_format *f, const fpemu_rounding *given, size_t n, const float *d_y,
                          const unsigned char *d_codes)
{
    window w[WINDOWS];
    const int count = windows_of(n, w);
    for (int k = 0; k < count; k++) {
        const fpemu_rounding r = rounding_at(given, w[k]);
        fpemu_quantize_f32(f, &r, w[k].count, x, y, NULL);
        fpemu_encode_f32(f, &r, w[k].count, x, codes, NULL);
        if (d_y) {
            fetch(got, d_y, 4, w[k]);
            expect(memcmp(got, y, 4 * w[k].count) == 0, "values", w[k].first);
        }
        if (d_codes) {
            fetch(got_codes, d_codes, 1, w[k]);
            expect(memcmp(got_codes, codes, w[k].count) == 0, "codes", w[k].first);
        }
    }
}

static void check_elements(size_t n, float *d_x, unsigned char *d_codes, fpemu_cuda_stats *d_stats, void *scratch)
{
    fpemu_format f;
    const fpemu_rounding rounding[2] = {fpemu_rounding_nearest(), fpemu_rounding_stochastic(5, 6)};
    expect(fpemu_format_parse("e4m3fn:saturate", &f, NULL) == FPEMU_OK, "format", 0);
    for (int k = 0; k < 2; k++) {
        fpemu_rounding r = rounding[k];
        fpemu_stats stats = {0};
        r.offset = 12345;
        must(cudaMemset(d_x, 0x3f, 4 * n), "fill"); /* 0.747..., between two values */
        memset(x, 0x3f, sizeof x);
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
    fpemu_stats stats = {0};
    must(cudaMemset(d_x, 0x7e, 4 * n), "fill");
    expect(fpemu_cuda_stats_clear(d_stats, 0, NULL) == FPEMU_CUDA_OK, "clear", 0);
    expect(fpemu_cuda_quantize_f32(&f, &rounding[0], n, d_x, d_x, d_stats, NULL) == FPEMU_CUDA_OK, "quantize", n);
    expect(fpemu_cuda_stats_read(d_stats, scratch, &stats, NULL) == FPEMU_CUDA_OK, "read", n);
    expect(stats.clipped == n && stats.overflow == n, "clipped", stats.clipped);
    /* nothing at all */
    expect(fpemu_cuda_quantize_f32(&f, &rounding[0], 0, NULL, NULL, NULL, NULL) == FPEMU_CUDA_OK, "nothing", 0);
}

/* bfloat16 words: to codes, where there is room for n of them, and in place. */
static void check_words(size_t n, uint16_t *d_x, unsigned char *d_codes, size_t n_codes)
{
    window w[WINDOWS];
    fpemu_format f;
    fpemu_rounding given = fpemu_rounding_stochastic(7, 8);
    given.offset = 12345;
    expect(fpemu_format_parse("e4m3fn:saturate", &f, NULL) == FPEMU_OK, "format", 0);
    fill(d_x, n, 2);
    if (n <= n_codes) {
        expect(fpemu_cuda_encode_bf16(&f, &given, n, d_x, d_codes, NULL, NULL) == FPEMU_CUDA_OK, "encode words", n);
        for (int k = 0, count = windows_of(n, w); k < count; k++) {
            const fpemu_rounding r = rounding_at(&given, w[k]);
            numbers_of(w[k]);
            fpemu_encode_bf16(&f, &r, w[k].count, words, codes, NULL);
            fetch(got_codes, d_codes, 1, w[k]);
            expect(memcmp(got_codes, codes, w[k].count) == 0, "codes of words", w[k].first);
        }
    }
    expect(fpemu_cuda_quantize_bf16(&f, &given, n, d_x, d_x, NULL, NULL) == FPEMU_CUDA_OK, "quantize words", n);
    for (int k = 0, count = windows_of(n, w); k < count; k++) {
        const fpemu_rounding r = rounding_at(&given, w[k]);
        numbers_of(w[k]);
        fpemu_quantize_bf16(&f, &r, w[k].count, words, right_words, NULL);
        fetch(got_words, d_x, 2, w[k]);
        expect(memcmp(got_words, right_words, 2 * w[k].count) == 0, "words", w[k].first);
    }
}

/* ------------------------------------------------------------------------------------------------- tensors */

static void check_measure(size_t n, const float *d_x, void *d_memory)
{
    window w[WINDOWS];
    fpemu_format f;
    fpemu_range right = {0}, seen;
    fpemu_cuda_range *const d_range = d_memory;
    size_t elsewhere = n, after = 0;
    float one;
    expect(fpemu_format_parse("nvfp4", &f, NULL) == FPEMU_OK, "format", 0);
    expect(fpemu_cuda_range_clear(d_range, NULL) == FPEMU_CUDA_OK, "clear", 0);
    expect(fpemu_cuda_measure_f32(&f, n, d_x, d_range, NULL) == FPEMU_CUDA_OK, "measure", n);
    expect(fpemu_cuda_range_read(d_range, &seen, NULL) == FPEMU_CUDA_OK, "read", n);
    for (int k = 0, count = windows_of(n, w); k < count; k++) { /* the last two may meet */
        const size_t skip = w[k].first < after ? after - w[k].first : 0;
        numbers_of(w[k]);
        if (skip < w[k].count) {
            fpemu_measure_f32(&f, w[k].count - skip, x + skip, &right);
            elsewhere -= w[k].count - skip;
            after = w[k].first + w[k].count;
        }
    }
    memset(&one, 0x3f, sizeof one);
    fpemu_measure_f32(&f, 1, &one, &right);
    right.count += elsewhere - 1;
    right.nonzero += elsewhere - 1;
    expect(memcmp(&seen, &right, sizeof seen) == 0, "range", seen.count);
}

/* Blocks of 32 in place, by either rounding. */
static void check_blocks(size_t n, float *d_x)
{
    const fpemu_rounding rounding[2] = {fpemu_rounding_nearest(), fpemu_rounding_stochastic(5, 6)};
    const fpemu_shape shape = fpemu_shape_vector(n);
    window w[WINDOWS];
    fpemu_format f;
    expect(fpemu_format_parse("mxfp8", &f, NULL) == FPEMU_OK, "format", 0);
    for (int mode = 0; mode < 2; mode++) {
        fill(d_x, n, 4);
        expect(fpemu_cuda_quantize_tensor_f32(&f, &rounding[mode], &shape, d_x, d_x, NULL, NULL, NULL) == FPEMU_CUDA_OK,
               "quantize_tensor", n);
        for (int k = 0, count = windows_of(n, w); k < count; k++) {
            const fpemu_rounding r = rounding_at(&rounding[mode], w[k]);
            const fpemu_shape part = fpemu_shape_vector(w[k].count);
            numbers_of(w[k]);
            fpemu_quantize_tensor_f32(&f, &r, &part, x, y, NULL);
            fetch(got, d_x, 4, w[k]);
            expect(memcmp(got, y, 4 * w[k].count) == 0, "blocks", w[k].first);
        }
    }
}

/* d_bytes: room for n bytes. */
static void check_packed(size_t n, float *d_x, unsigned char *d_bytes)
{
    const fpemu_rounding given = fpemu_rounding_stochastic(5, 6);
    const fpemu_shape shape = fpemu_shape_vector(n);
    window w[WINDOWS];
    fpemu_layout all, some;
    fpemu_format f;
    expect(fpemu_format_parse("mxfp4", &f, NULL) == FPEMU_OK, "format", 0);
    expect(fpemu_packed_layout(&f, &shape, &all) == FPEMU_OK && all.bytes <= n, "layout", all.bytes);
    if (all.bytes > n)
        return;
    fill(d_x, n, 4);
    expect(fpemu_cuda_pack_f32(&f, &given, &shape, d_x, d_bytes, NULL, NULL, NULL) == FPEMU_CUDA_OK, "pack", n);
    must(cudaMemset(d_x, 0, 4 * n), "fill");
    expect(fpemu_cuda_unpack_f32(&f, &shape, d_bytes, d_x, NULL, NULL) == FPEMU_CUDA_OK, "unpack", n);
    for (int k = 0, count = windows_of(n, w); k < count; k++) {
        const fpemu_rounding r = rounding_at(&given, w[k]);
        const fpemu_shape part = fpemu_shape_vector(w[k].count);
        const size_t block = w[k].first / BLOCK;
        fpemu_packed_layout(&f, &part, &some);
        numbers_of(w[k]);
        fpemu_pack_f32(&f, &r, &part, x, codes, NULL);
        fpemu_unpack_f32(&f, &part, codes, y);
        const window scales = {all.scales_offset + block * all.scale_bytes, some.blocks * some.scale_bytes};
        const window elements = {all.elements_offset + block * all.block_bytes, some.bytes - some.elements_offset};
        fetch(got_codes, d_bytes, 1, scales);
        expect(memcmp(got_codes, codes + some.scales_offset, scales.count) == 0, "packed scales", w[k].first);
        fetch(got_codes, d_bytes, 1, elements);
        expect(memcmp(got_codes, codes + some.elements_offset, elements.count) == 0, "packed elements", w[k].first);
        fetch(got, d_x, 4, w[k]);
        expect(memcmp(got, y, 4 * w[k].count) == 0, "unpacked", w[k].first);
    }
}

int main(void)
{
    const size_t most = 4 * STEP + 3 * WINDOW + 5, fewer = 2 * STEP + 3 * WINDOW + 5, spare = (size_t)64 << 20;
    int count = 0;
    size_t room = 0, all = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    must(cudaMemGetInfo(&room, &all), "memory");
    if (room < 5 * fewer + spare) {
        printf("skipped: %zu MiB of device memory are free, %zu are needed\n", room >> 20, (5 * fewer + spare) >> 20);
        return 77;
    }
    const size_t n = room < 5 * most + spare ? fewer : most;
    if (n < most)
        printf("%zu MiB of device memory are free, not %zu: half as many elements\n", room >> 20,
               (5 * most + spare) >> 20);
    float *d_x;
    unsigned char *d_codes;
    fpemu_cuda_stats *d_stats;
    void *d_range;
    void *const scratch = malloc(fpemu_cuda_stats_size());
    must(cudaMalloc((void **)&d_x, 4 * n), "memory");
    must(cudaMalloc((void **)&d_codes, n), "memory");
    must(cudaMalloc((void **)&d_stats, fpemu_cuda_stats_size()), "memory");
    must(cudaMalloc(&d_range, fpemu_cuda_range_size()), "memory");
    if (!scratch)
        return 1;
    check_elements(n, d_x, d_codes, d_stats, scratch);
    fill(d_x, n, 4);
    check_measure(n, d_x, d_range);
    check_blocks(n, d_x);
    check_packed(n, d_x, d_codes);
    check_words(n < most ? 2 * n : n, (uint16_t *)(void *)d_x, d_codes, n);
    const char *text = NULL;
    expect(fpemu_cuda_finish(NULL, &text) == FPEMU_CUDA_OK, text ? text : "finish", 0);
    printf("%zu elements: %lu compared, %lu differ\n", n, comparisons, failures);
    return failures != 0;
}
