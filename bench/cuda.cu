/* SPDX-License-Identifier: BSD-2-Clause */
/* cuda.cu - what libfpemu_cuda's functions move, as a fraction of a device-to-device copy in the same run, on arrays larger
 * than any cache; and emulated products of matrices beside a plain loop of fused multiply-adds, one output a thread.
 *
 *   make bench-cuda     half a minute, reckoned; tests/gpu/check.sh says of what */
#include <cuda_runtime.h>
#include <fpemu_cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, SIZE = 1024 };

static const size_t n = (size_t)1 << 28;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void fine(fpemu_cuda_status status, const char *what)
{
    if (status == FPEMU_CUDA_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, fpemu_cuda_status_text(status));
    exit(1);
}

static __global__ void fill(float *x, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t u = (uint32_t)i * 2654435761u;
        u ^= u >> 15;
        x[i] = (float)((int32_t)(u * 0x85ebca6bu) >> 8) * 0x1p-20f;
    }
}

static __global__ void plain(const float *a, const float *b, float *c)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, row = i / SIZE, column = i % SIZE;
    float s = 0;
    for (int k = 0; k < SIZE; k++)
        s = fmaf(a[row * SIZE + k], b[(size_t)k * SIZE + column], s);
    c[i] = s;
}

static float *d_x, *d_y;
static void *d_scratch, *d_stats, *d_range;
static cudaEvent_t begin, end;

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median of several rounds of `work`, in seconds; the first warms up. */
template <class Work> static double seconds(Work work)
{
    float times[ROUNDS + 1];
    for (int k = 0; k <= ROUNDS; k++) {
        must(cudaEventRecord(begin), "event");
        work();
        must(cudaEventRecord(end), "event");
        must(cudaEventSynchronize(end), "work");
        must(cudaEventElapsedTime(times + k, begin, end), "time");
    }
    qsort(times + 1, ROUNDS, sizeof *times, by_value);
    return times[1 + ROUNDS / 2] * 1e-3;
}

static double copy_rate;

/* `bytes` an element are moved at least. */
template <class Work> static void report(const char *name, double bytes, Work work)
{
    const double rate = (double)n * bytes / seconds(work);
    printf("%-34s %8.1f GB/s %6.2f of a copy\n", name, rate * 1e-9, rate / copy_rate);
}

static void quantize(const char *name, const char *spec, const fpemu_rounding *r, int counted)
{
    fpemu_format f;
    const fpemu_shape shape = fpemu_shape_vector(n);
    if (fpemu_format_parse(spec, &f, NULL))
        exit(1);
    fpemu_cuda_stats *const stats = counted ? (fpemu_cuda_stats *)d_stats : NULL;
    if (f.scaling)
        report(name, 8,
               [&] { fine(fpemu_cuda_quantize_tensor_f32(&f, r, &shape, d_x, d_y, d_scratch, stats, NULL), name); });
    else
        report(name, 8, [&] { fine(fpemu_cuda_quantize_f32(&f, r, n, d_x, d_y, stats, NULL), name); });
}

int main(void)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest(), stochastic = fpemu_rounding_stochastic(1, 2);
    int count = 0;
    cudaDeviceProp device;
    fpemu_format f;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("no CUDA device\n");
        return 77;
    }
    must(cudaGetDeviceProperties(&device, 0), "device");
    must(cudaMalloc(&d_x, n * sizeof(float)), "memory");
    must(cudaMalloc(&d_y, n * sizeof(float)), "memory");
    must(cudaMalloc(&d_scratch, 64 << 20), "memory");
    must(cudaMalloc(&d_stats, fpemu_cuda_stats_size()), "memory");
    must(cudaMalloc(&d_range, fpemu_cuda_range_size()), "memory");
    fine(fpemu_cuda_range_clear((fpemu_cuda_range *)d_range, NULL), "range");
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    fill<<<1024, 256>>>(d_x, n);
    fine(fpemu_cuda_stats_clear((fpemu_cuda_stats *)d_stats, 0, NULL), "stats");
    copy_rate =
        (double)n * 8 / seconds([] { must(cudaMemcpyAsync(d_y, d_x, n * 4, cudaMemcpyDeviceToDevice), "copy"); });
    printf("%s, %d MiB of L2; %zu numbers\n%-34s %8.1f GB/s\n", device.name, device.l2CacheSize >> 20, n, "copy",
           copy_rate * 1e-9);
    quantize("e4m3fn rne", "e4m3fn", &nearest, 0);
    quantize("e4m3fn sr", "e4m3fn", &stochastic, 0);
    quantize("e4m3fn rne, counters", "e4m3fn", &nearest, 1);
    quantize("e4m3fn sr, counters", "e4m3fn", &stochastic, 1);
    quantize("fp16 rne", "fp16", &nearest, 0);
    quantize("bf16 sr", "bf16", &stochastic, 0);
    quantize("fixed(8,4) rne", "fixed(8,4)", &nearest, 0);
    quantize("fixed(8,4) sr", "fixed(8,4)", &stochastic, 0);
    quantize("posit(16,2)", "posit(16,2)", &nearest, 0);
    quantize("mxfp4 rne", "mxfp4", &nearest, 0);
    quantize("mxfp8 sr", "mxfp8", &stochastic, 0);
    quantize("mxfp8 rne, counters", "mxfp8", &nearest, 1);
    quantize("nf4 rne", "nf4", &nearest, 0);
    quantize("codebook(nf4,block=64) rne", "codebook(nf4,block=64)", &nearest, 0);
    quantize("group(int4,block=128) rne", "group(int4,block=128)", &nearest, 0);
    quantize("group(int4,block=128) sr", "group(int4,block=128)", &stochastic, 0);
    const fpemu_shape shape = fpemu_shape_vector(n);
    static const char *const of_tensors[] = {"nvfp4", "scaled(e4m3fn)", "muppet(8)"}; /* a pass more, which reads */
    for (size_t i = 0; i < sizeof of_tensors / sizeof *of_tensors; i++) {
        fpemu_format scaled;
        if (fpemu_format_parse(of_tensors[i], &scaled, NULL))
            return 1;
        report(of_tensors[i], 12, [&] {
            fine(fpemu_cuda_quantize_tensor_f32(&scaled, &nearest, &shape, d_x, d_y, d_scratch, NULL, NULL),
                 "quantize");
        });
        report("  its first pass", 4,
               [&] { fine(fpemu_cuda_measure_f32(&scaled, n, d_x, (fpemu_cuda_range *)d_range, NULL), "measure"); });
    }
    fpemu_format_parse("e4m3fn", &f, NULL);
    report("e4m3fn rne, misaligned", 8,
           [&] { fine(fpemu_cuda_quantize_f32(&f, &nearest, n - 1, d_x + 1, d_y, NULL, NULL), "quantize"); });
    report("encode e4m3fn", 5, [&] { fine(fpemu_cuda_encode_f32(&f, &nearest, n, d_x, d_y, NULL, NULL), "encode"); });
    report("encode e4m3fn sr", 5,
           [&] { fine(fpemu_cuda_encode_f32(&f, &stochastic, n, d_x, d_y, NULL, NULL), "encode"); });
    report("decode e4m3fn", 5, [&] { fine(fpemu_cuda_decode_f32(&f, n, d_x, d_y, NULL), "decode"); });
    report("e4m3fn of bf16 arrays", 4, [&] {
        fine(fpemu_cuda_quantize_bf16(&f, &nearest, n, (uint16_t *)d_x, (uint16_t *)d_y, NULL, NULL), "quantize");
    });
    const float *const terms[2] = {d_x, d_x};
    report("add to e4m3fn", 8, [&] {
        fine(fpemu_cuda_arith_f32(&f, &nearest, FPEMU_OPERATION_ADD, n, terms, NULL, d_y, NULL, NULL), "add");
    });
    fpemu_format_parse("mxfp4", &f, NULL);
    report("pack mxfp4", 4.53,
           [&] { fine(fpemu_cuda_pack_f32(&f, &nearest, &shape, d_x, d_y, NULL, NULL, NULL), "pack"); });
    report("unpack mxfp4", 4.53, [&] { fine(fpemu_cuda_unpack_f32(&f, &shape, d_x, d_y, NULL, NULL), "unpack"); });

    static const char *const models[] = {"fp32",
                                         "fp64",
                                         "seq(fp16)",
                                         "seq(fp(6,9,0)/sr); ab=fp(4,3,4)",
                                         "chunk(64,fp(6,9,0)); ab=e5m2",
                                         "tc(h100,fp16)",
                                         "kahan(bf16)",
                                         "pairwise(fp16)",
                                         "int(32,saturate); ab=fixed(8,4)"};
    const double products = (double)SIZE * SIZE * SIZE;
    const double loop = seconds([] { plain<<<SIZE * SIZE / 256, 256>>>(d_x, d_x + SIZE * SIZE, d_y); });
    printf("%d x %d x %d\n%-34s %8.1f Gmac/s\n", SIZE, SIZE, SIZE, "fmaf", products / loop * 1e-9);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fpemu_gemm_spec spec;
        fpemu_gemm_shape s;
        memset(&s, 0, sizeof s);
        s.m = s.n = s.k = SIZE;
        if (fpemu_gemm_parse(models[i], &spec, NULL))
            return 1;
        const double t = seconds([&] {
            fine(fpemu_cuda_gemm_f32(&spec, &s, 1, d_x, d_x + SIZE * SIZE, 0, d_y, d_scratch, NULL, NULL), models[i]);
        });
        printf("%-34s %8.1f Gmac/s, fmaf is %.1f times as fast\n", models[i], products / t * 1e-9, t / loop);
    }
    return 0;
}
