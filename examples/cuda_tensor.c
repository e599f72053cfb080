/* SPDX-License-Identifier: BSD-2-Clause */
/* The same on a GPU: a tensor in device memory is rounded on a stream, and its counters are read back once. */
#include <cuda_runtime_api.h>
#include <fpemu_cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 };

/* A status of CUDA calls, in words. */
static void must(fpemu_cuda_status status, const char *what)
{
    if (status == FPEMU_CUDA_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, fpemu_cuda_status_text(status));
    exit(1);
}

int main(void)
{
    static float x[N], y[N];
    fpemu_format format;
    fpemu_rounding rounding = fpemu_rounding_stochastic(1, 0);
    fpemu_stats stats = {.request.want = FPEMU_STATS_SUMS};
    const fpemu_shape shape = fpemu_shape_vector(N); /* one line of N elements; MX has blocks of 32 */
    float *d_x;
    fpemu_cuda_stats *d_stats;
    cudaStream_t stream;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1000 - 500) / 64;
    void *const room = malloc(fpemu_cuda_stats_size());
    if (!room || cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc((void **)&d_x, sizeof x) != cudaSuccess ||
        cudaMalloc((void **)&d_stats, fpemu_cuda_stats_size()) != cudaSuccess) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    if (fpemu_format_parse("mxfp8", &format, NULL) != FPEMU_OK)
        return 1;
    (void)cudaMemcpyAsync(d_x, x, sizeof x, cudaMemcpyHostToDevice, stream);
    must(fpemu_cuda_stats_clear(d_stats, stats.request.want, stream), "counters");
    must(fpemu_cuda_quantize_tensor_f32(&format, &rounding, &shape, d_x, d_x, NULL, d_stats, stream), "quantize");
    (void)cudaMemcpyAsync(y, d_x, sizeof y, cudaMemcpyDeviceToHost, stream);
    must(fpemu_cuda_stats_read(d_stats, room, &stats, stream), "counters"); /* waits for the stream */
    for (int i = 0; i < N; i += N / 8)
        printf("%10g -> %g\n", (double)x[i], (double)y[i]);
    printf("%llu elements, %llu clipped, signal to noise %.1f dB\n", (unsigned long long)stats.count,
           (unsigned long long)stats.clipped, fpemu_stats_sqnr(&stats));
    (void)cudaFree(d_x);
    (void)cudaFree(d_stats);
    (void)cudaStreamDestroy(stream);
    free(room);
    return 0;
}
