/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_host.c - memory.h where the processor simulates the device. */
#include "memory.h"

void device_begin(void)
{
}

void *device_memory(int which, size_t bytes)
{
    static void *buffer[10];
    static size_t size[10];
    if (bytes > size[which]) {
        free(buffer[which]);
        buffer[which] = malloc(bytes);
        size[which] = bytes;
        if (!buffer[which])
            abort();
    }
    return buffer[which];
}

void to_device(void *d, const void *h, size_t bytes)
{
    memcpy(d, h, bytes);
}

void from_device(void *h, const void *d, size_t bytes)
{
    memcpy(h, d, bytes);
}
