/* SPDX-License-Identifier: BSD-2-Clause */
/* elements.h - elements of arrays: how they lie, and one or four neighbours read and written. */
#ifndef FPEMU_GPU_ELEMENTS_H
#define FPEMU_GPU_ELEMENTS_H

#include "core/narrow.h"
#include "warp.h"

/* How numbers lie in an array. */
enum gpu_type { GPU_F32, GPU_F64, GPU_BF16, GPU_F16, GPU_CODES };

/* No four neighbours lie aligned in both arrays of a call. */
#define GPU_NO_QUADS 4

/* A word of a 16-bit type as binary32 bits, and back. */
FPEMU_FN uint32_t gpu_widen(int type, uint64_t word)
{
    return core_from_narrow(type == GPU_BF16, (uint32_t)word);
}

FPEMU_FN uint32_t gpu_narrow(int type, uint32_t y)
{
    return core_to_narrow(type == GPU_BF16, y);
}

/* The same by the device's own conversion, which keeps all of a number but forgets the sign of a NaN. */
FPEMU_FN uint32_t gpu_widen_fast(int type, uint64_t word)
{
#ifdef __CUDA_ARCH__
    if (type == GPU_F16) {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)word));
        return core_bits32(x);
    }
#endif
    return gpu_widen(type, word);
}

/* Two values of the type, or NaN as the rules make it, as words, the first one lowest. */
FPEMU_FN uint32_t gpu_narrow_two(int type, uint32_t a, uint32_t b)
{
    if (type == GPU_BF16)
        return a >> 16 | (b & 0xffff0000u);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t both, nan; /* all ones where it is, as 7fff */
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(core_value32(b)), "f"(core_value32(a)));
    asm("set.nan.u32.f16x2 %0, %1, %1;" : "=r"(nan) : "r"(both));
    return both & ~(nan & 0x01ff01ffu);
#else
    return gpu_narrow(type, a) | gpu_narrow(type, b) << 16;
#endif
}

/* Elements of 1, 2, 4 or 8 bytes in an array. */
FPEMU_FN void gpu_store_code(void *to, uint32_t size, uint64_t i, uint64_t code)
{
    switch (size) {
    case 1: ((uint8_t *)to)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)to)[i] = (uint16_t)code; break;
    case 4: ((uint32_t *)to)[i] = (uint32_t)code; break;
    default: ((uint64_t *)to)[i] = code;
    }
}

FPEMU_FN uint64_t gpu_load_code(const void *from, uint32_t size, uint64_t i)
{
    switch (size) {
    case 1: return ((const uint8_t *)from)[i];
    case 2: return ((const uint16_t *)from)[i];
    case 4: return ((const uint32_t *)from)[i];
    default: return ((const uint64_t *)from)[i];
    }
}

/* Four neighbours at once, from element i on: as many bytes, 16 at most, are what their address is a multiple of. Here
 * that is checked, since a device stops at it. */
#ifdef __CUDA_ARCH__
/* Written so that no compiler makes several stores of one, which it does with make_uint4. */
FPEMU_FN void gpu_store_two(void *to, uint32_t a, uint32_t b)
{
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(__cvta_generic_to_global(to)), "r"(a), "r"(b));
}

FPEMU_FN void gpu_store_vector(void *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "r"(a), "r"(b), "r"(c), "r"(d));
}

FPEMU_FN void gpu_store_quad(void *to, uint32_t size, uint64_t i, const uint64_t c[4])
{
    switch (size) {
    case 1:
        ((uint32_t *)((uint8_t *)to + i))[0] =
            (uint32_t)c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (uint32_t)c[3] << 24;
        break;
    case 2:
        gpu_store_two((uint16_t *)to + i, (uint32_t)c[0] | (uint32_t)c[1] << 16, (uint32_t)c[2] | (uint32_t)c[3] << 16);
        break;
    case 4: gpu_store_vector((uint32_t *)to + i, (uint32_t)c[0], (uint32_t)c[1], (uint32_t)c[2], (uint32_t)c[3]); break;
    default:
        gpu_store_vector((uint64_t *)to + i, (uint32_t)c[0], (uint32_t)(c[0] >> 32), (uint32_t)c[1],
                         (uint32_t)(c[1] >> 32));
        gpu_store_vector((uint64_t *)to + i + 2, (uint32_t)c[2], (uint32_t)(c[2] >> 32), (uint32_t)c[3],
                         (uint32_t)(c[3] >> 32));
    }
}

FPEMU_FN void gpu_load_quad(const void *from, uint32_t size, uint64_t i, uint64_t c[4])
{
    switch (size) {
    case 1: {
        const uint32_t v = *(const uint32_t *)((const uint8_t *)from + i);
        c[0] = v & 0xff, c[1] = v >> 8 & 0xff, c[2] = v >> 16 & 0xff, c[3] = v >> 24;
        break;
    }
    case 2: {
        const uint2 v = *(const uint2 *)((const uint16_t *)from + i);
        c[0] = v.x & 0xffff, c[1] = v.x >> 16, c[2] = v.y & 0xffff, c[3] = v.y >> 16;
        break;
    }
    case 4: {
        const uint4 v = *(const uint4 *)((const uint32_t *)from + i);
        c[0] = v.x, c[1] = v.y, c[2] = v.z, c[3] = v.w;
        break;
    }
    default: {
        const ulonglong2 v = ((const ulonglong2 *)((const uint64_t *)from + i))[0];
        const ulonglong2 w = ((const ulonglong2 *)((const uint64_t *)from + i))[1];
        c[0] = v.x, c[1] = v.y, c[2] = w.x, c[3] = w.y;
    }
    }
}

/* Four words of 16 bits, two by two; and four of 8 bits. */
FPEMU_FN void gpu_store_pairs(void *to, uint64_t i, const uint32_t pair[2])
{
    gpu_store_two((uint16_t *)to + i, pair[0], pair[1]);
}

FPEMU_FN void gpu_store_bytes(void *to, uint64_t i, uint32_t bytes)
{
    *(uint32_t *)((uint8_t *)to + i) = bytes;
}
#else
FPEMU_FN void gpu_check_quad(const void *p, uint32_t size, uint64_t i)
{
    assert(((uintptr_t)p + i * size) % (size < 4 ? 4 * size : 16) == 0);
}

FPEMU_FN void gpu_store_quad(void *to, uint32_t size, uint64_t i, const uint64_t c[4])
{
    gpu_check_quad(to, size, i);
    for (unsigned k = 0; k < 4; k++)
        gpu_store_code(to, size, i + k, c[k]);
}

FPEMU_FN void gpu_load_quad(const void *from, uint32_t size, uint64_t i, uint64_t c[4])
{
    gpu_check_quad(from, size, i);
    for (unsigned k = 0; k < 4; k++)
        c[k] = gpu_load_code(from, size, i + k);
}

FPEMU_FN void gpu_store_pairs(void *to, uint64_t i, const uint32_t pair[2])
{
    gpu_check_quad(to, 2, i);
    for (unsigned k = 0; k < 4; k++)
        gpu_store_code(to, 2, i + k, pair[k / 2] >> k % 2 * 16);
}

FPEMU_FN void gpu_store_bytes(void *to, uint64_t i, uint32_t bytes)
{
    gpu_check_quad(to, 1, i);
    for (unsigned k = 0; k < 4; k++)
        gpu_store_code(to, 1, i + k, bytes >> 8 * k);
}
#endif

#endif /* FPEMU_GPU_ELEMENTS_H */
