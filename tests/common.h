/* SPDX-License-Identifier: BSD-2-Clause */
/* common.h - what every test in C has: the headers of the C library; lists of short things, which the formatter fills
 * lines with, while in braces each would stand on one of its own. */
#ifndef TESTS_COMMON_H
#define TESTS_COMMON_H

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a sanitizer is at work, which has memory and frames of its own making. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define LIST(...) {__VA_ARGS__}

/* The same of calls, one after the other. */
#define EACH(...) ((void)(__VA_ARGS__))

/* Frees all of these. */
#define FREE(...) free_all((void *[]){__VA_ARGS__}, sizeof (void *[]){__VA_ARGS__} / sizeof(void *))

/* The finalizer of SplitMix64, and its next number. */
static inline uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t split_mix(uint64_t *state)
{
    return mixed(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* FNV-1a. */
static inline uint64_t fnv(uint64_t digest, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static inline void free_all(void *const *p, size_t n)
{
    while (n > 0)
        free(p[--n]);
}

#endif
