/* SPDX-License-Identifier: BSD-2-Clause */
/* port.h - what the element rules need of the compiler: C11, C++17 and nvcc read the same text. */
#ifndef FPEMU_CORE_PORT_H
#define FPEMU_CORE_PORT_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the rules of libfpemu need IEEE 754 arithmetic: compile without -ffast-math"
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "the error sums of libfpemu are binary64: on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif

/* Element rules are inlined into every loop, so that a constant mode costs nothing inside it. With FPEMU_FEW_INLINED 1
 * the compiler chooses: it needs far less time then, and makes slower code. */
#ifndef FPEMU_FEW_INLINED
#define FPEMU_FEW_INLINED 0
#endif
#if defined(__CUDACC__)
#define FPEMU_FN static __host__ __device__ __forceinline__
#elif defined(__GNUC__) && !FPEMU_FEW_INLINED
#define FPEMU_FN static inline __attribute__((always_inline, unused))
#else
#define FPEMU_FN static inline
#endif

/* What is long and rare. */
#if defined(__CUDACC__)
#define FPEMU_SLOW static __host__ __device__ __noinline__
#elif defined(__GNUC__)
#define FPEMU_SLOW static inline __attribute__((unused))
#else
#define FPEMU_SLOW static inline
#endif

FPEMU_FN uint32_t core_bits32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

FPEMU_FN float core_value32(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

FPEMU_FN uint64_t core_bits64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

FPEMU_FN double core_value64(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Index of the highest set bit of x != 0. */
FPEMU_FN int core_log2_64(uint64_t x)
{
#if defined(__CUDA_ARCH__)
    return 63 - __clzll((long long)x);
#elif defined(__GNUC__)
    return 63 - __builtin_clzll(x);
#else
    int n = 0;
    for (int s = 32; s > 0; s >>= 1)
        if (x >> s) {
            x >>= s;
            n += s;
        }
    return n;
#endif
}

FPEMU_FN int core_log2_32(uint32_t x)
{
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)x);
#elif defined(__GNUC__)
    return 31 - __builtin_clz(x);
#else
    return core_log2_64(x);
#endif
}

/* A 128-bit product in two halves. */
typedef struct core_wide {
    uint64_t high, low;
} core_wide;

FPEMU_FN core_wide core_multiply(uint64_t a, uint64_t b)
{
    core_wide w;
#if defined(__CUDA_ARCH__)
    w.high = __umul64hi(a, b);
    w.low = a * b;
#elif defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)a * b;
    w.high = (uint64_t)(product >> 64);
    w.low = (uint64_t)product;
#else
    const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    const uint64_t middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
    w.high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
    w.low = (middle << 32) | (p00 & 0xffffffffu);
#endif
    return w;
}

/* floor(a * 2^55 / b) and the remainder, for a and b in [2^52, 2^53). */
FPEMU_FN uint64_t core_divide(uint64_t a, uint64_t b, uint64_t *rest)
{
#if defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
    __extension__ typedef unsigned __int128 wide;
    const wide n = (wide)a << 55;
    const uint64_t q = (uint64_t)(n / b);
    *rest = (uint64_t)(n - (wide)q * b);
    return q;
#else
    uint64_t q = a / b, r = a % b;
    for (int i = 0; i < 5; i++) { /* eleven bits at a time: r < 2^53 */
        r <<= 11;
        q = (q << 11) | (r / b);
        r %= b;
    }
    *rest = r;
    return q;
#endif
}

#endif /* FPEMU_CORE_PORT_H */
