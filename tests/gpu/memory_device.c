/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_device.c - memory.h on a CUDA device. */
#include "memory.h"
#include "must.h"

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
        must(cudaFree(buffer[which]), "cudaFree");
        must(cudaMalloc(&buffer[which], bytes), "cudaMalloc");
        size[which] = bytes;
    }
    return buffer[which];
}

void to_device(void *d, const void *h, size_t bytes)
{
    must(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void from_device(void *h, const void *d, size_t bytes)
{
    must(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}
