/* SPDX-License-Identifier: BSD-2-Clause */
/* wgmma.cu - one wgmma.mma_async of 64 x 8 outputs a warpgroup; a in registers, b in shared memory without swizzle. Made
 * for sm_90a alone, which has it. */
#include <cuda_runtime.h>
#include <stdint.h>

#include "tensor_cores.h"

enum { FP16, BF16, TF32, E4M3, E5M2 };
enum { M = 64, N = 8, ROW = 32 };

/* d += a * b; types: of d, a and b; after: what follows the scale of d in the syntax of these types. */
#define TO_FLOAT(shape, types, after)                                                                                  \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                               \
                 "wgmma.mma_async.sync.aligned." shape ".f32." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, " after    \
                 ";}"                                                                                                  \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(place))
#define TO_HALF(shape, types, after)                                                                                   \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                               \
                 "wgmma.mma_async.sync.aligned." shape ".f16." types " {%0,%1}, {%2,%3,%4,%5}, %6, p, " after ";}"     \
                 : "+r"(h[0]), "+r"(h[1])                                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(place))

template <int kind, int half>
static __global__ void __launch_bounds__(128) multiply(const unsigned char *as, const unsigned char *bs, void *cs)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(128) unsigned char b[N * ROW];
    const unsigned g = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const size_t tile = blockIdx.x;
    const unsigned char *const p = as + tile * M * ROW + g * ROW + 4 * t;
    const size_t at = tile * M * N + g * N + 2 * t;
    uint32_t a[4], h[2] = {0, 0};
    float d[4] = {0, 0, 0, 0};
    /* two cores of 8 columns by 16 bytes, one after the other along k */
    for (unsigned i = threadIdx.x; i < N * ROW; i += 128)
        b[i % ROW / 16 * 128 + i / ROW * 16 + i % 16] = bs[tile * N * ROW + i];
    for (int k = 0; k < 4; k++)
        a[k] = *(const uint32_t *)(p + k % 2 * 8 * ROW + k / 2 * 16);
    if (half) {
        h[0] = ((const uint32_t *)cs)[at / 2];
        h[1] = ((const uint32_t *)cs)[at / 2 + 4 * N];
    } else
        for (int k = 0; k < 4; k++)
            d[k] = ((const float *)cs)[at + k / 2 * 8 * N + k % 2];
    const uint64_t place = (uint64_t)((uint32_t)__cvta_generic_to_shared(b) >> 4 & 0x3fff) | UINT64_C(8) << 16 |
                           UINT64_C(8) << 32; /* 128 bytes from core to core */
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (kind == FP16 && half)
        TO_HALF("m64n8k16", "f16.f16", "1, 1, 0");
    else if (kind == FP16)
        TO_FLOAT("m64n8k16", "f16.f16", "1, 1, 0");
    else if (kind == BF16)
        TO_FLOAT("m64n8k16", "bf16.bf16", "1, 1, 0");
    else if (kind == TF32)
        TO_FLOAT("m64n8k8", "tf32.tf32", "1, 1");
    else if (kind == E4M3 && half)
        TO_HALF("m64n8k32", "e4m3.e4m3", "1, 1");
    else if (kind == E4M3)
        TO_FLOAT("m64n8k32", "e4m3.e4m3", "1, 1");
    else if (half)
        TO_HALF("m64n8k32", "e5m2.e5m2", "1, 1");
    else
        TO_FLOAT("m64n8k32", "e5m2.e5m2", "1, 1");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (half) {
        ((uint32_t *)cs)[at / 2] = h[0];
        ((uint32_t *)cs)[at / 2 + 4 * N] = h[1];
    } else
        for (int k = 0; k < 4; k++)
            ((float *)cs)[at + k / 2 * 8 * N + k % 2] = d[k];
#endif
}

void wgmma(int kind, int half, unsigned tiles, const unsigned char *d_a, const unsigned char *d_b, void *d_c)
{
    static void (*const all[5][2])(const unsigned char *, const unsigned char *, void *) = {
        {multiply<FP16, 0>, multiply<FP16, 1>},
        {multiply<BF16, 0>, NULL},
        {multiply<TF32, 0>, NULL},
        {multiply<E4M3, 0>, multiply<E4M3, 1>},
        {multiply<E5M2, 0>, multiply<E5M2, 1>},
    };
    all[kind][half]<<<tiles, 128>>>(d_a, d_b, d_c);
}
