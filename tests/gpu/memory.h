/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - memory that the device can reach, for tests that run on a device and on the processor that simulates one. */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include <fpemu_cuda.h>

/* Ends the program with 77 (skipped) where there is no device. */
void device_begin(void);
/* Buffer `which` (0..7) of at least `bytes` bytes; the same one as long as it is large enough. */
void *device_memory(int which, size_t bytes);
void to_device(void *d, const void *h, size_t bytes);
void from_device(void *h, const void *d, size_t bytes);

#endif
