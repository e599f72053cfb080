/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_device.c - memory.h on a CUDA device. */
#include "memory.h"
#include <cuda_runtime_api.h>

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

void device_begin(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        exit(77);
    }
}

void *device_memory(int which, size_t bytes)
{
    static void *buffer[10];
    static size_t size[10];
    if (bytes > size[which]) {
        must(cudaFree(buffer[which]));
        must(cudaMalloc(&buffer[which], bytes));
        size[which] = bytes;
    }
    return buffer[which];
}

void to_device(void *d, const void *h, size_t bytes)
{
    must(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
}

void from_device(void *h, const void *d, size_t bytes)
{
    must(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));
}
