/* SPDX-License-Identifier: BSD-2-Clause */
/* runs.h - what the fast forms of blocks.h for tensors without gaps share: block_runs.h, unpack_runs.h, measure_runs.h.
 * They are of binary32 and of 16-bit arrays, and go in steps of four strips of 128 neighbours, a lane having four
 * neighbours of each. The results are those of blocks.h; tests/gpu/blocks.c holds all to the CPU's. */
#ifndef FPEMU_GPU_RUNS_H
#define FPEMU_GPU_RUNS_H

#include "blocks.h"

/* Strips of a step: so many loads are under way at a time, and so many lanes share the work of finding scales. */
#define GPU_RUN_STRIPS 4

/* Elements that go in strips. */
FPEMU_FN uint64_t gpu_run_elements(const gpu_blocks_call *j)
{
    const uint64_t unit = j->run > 128 ? j->run : 128;
    return j->whole ? j->walk.total : j->walk.total / unit * unit;
}

#include "core/carrier32.h"

/* A number of a 16-bit type as gpu_widen has it, by the device's own conversion; a NaN stays one. */
FPEMU_FN uint32_t gpu_run_widen(int type, uint64_t word)
{
#ifdef __CUDA_ARCH__
    float x;
    if (type == GPU_F16) {
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)word));
        return core_bits32(x);
    }
#endif
    return gpu_widen(type, word);
}

/* Four values of each strip of a step, from place i on. type: that of the array; quads: it is aligned. */
FPEMU_FN void gpu_run_load_as(const void *x, int type, int quads, uint64_t i, uint32_t u[GPU_RUN_STRIPS][4])
{
    const uint32_t size = type == GPU_F32 ? 4 : 2;
    UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) {
        uint64_t element[4];
        if (quads)
            gpu_load_quad(x, size, i + 128 * h, element);
        else UNROLLED
            for (unsigned k = 0; k < 4; k++)
                element[k] = gpu_load_code(x, size, i + 128 * h + k);
        UNROLLED for (unsigned k = 0; k < 4; k++)
            u[h][k] = type == GPU_F32 ? (uint32_t)element[k] : gpu_run_widen(type, element[k]);
    }
}

FPEMU_FN void gpu_run_load(const gpu_blocks_call *j, uint64_t i, uint32_t u[GPU_RUN_STRIPS][4])
{
    const int quads = j->x_quads, type = j->x_type; /* told apart once, so that no load waits for another */
    if (type == GPU_F32 && quads)
        gpu_run_load_as(j->x, GPU_F32, 1, i, u);
    else if (type == GPU_F32)
        gpu_run_load_as(j->x, GPU_F32, 0, i, u);
    else if (type == GPU_BF16 && quads)
        gpu_run_load_as(j->x, GPU_BF16, 1, i, u);
    else if (quads)
        gpu_run_load_as(j->x, GPU_F16, 1, i, u);
    else
        gpu_run_load_as(j->x, type, 0, i, u);
}

/* Four values back; finite: all of them are, and the device's own conversions make of them what gpu_narrow does. */
FPEMU_FN void gpu_run_store_as(void *y, int type, int finite, uint64_t i, const uint32_t v[4])
{
    uint64_t element[4];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (type != GPU_F32 && finite) {
        uint32_t two[2];
        UNROLLED for (unsigned k = 0; k < 2; k++) {
            const float low = core_value32(v[2 * k]), high = core_value32(v[2 * k + 1]);
            if (type == GPU_F16)
                asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(two[k]) : "f"(high), "f"(low));
            else
                asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(two[k]) : "f"(high), "f"(low));
        }
        *(uint2 *)((uint16_t *)y + i) = make_uint2(two[0], two[1]);
        return;
    }
#endif
    (void)finite;
    UNROLLED for (unsigned k = 0; k < 4; k++)
        element[k] = type == GPU_F32 ? v[k] : gpu_narrow(type, v[k]);
    gpu_store_quad(y, type == GPU_F32 ? 4 : 2, i, element);
}

FPEMU_FN void gpu_run_store(const gpu_blocks_call *j, int finite, uint64_t i, const uint32_t v[4])
{
    if (!j->y_quads) {
        UNROLLED for (unsigned k = 0; k < 4; k++)
            gpu_store_code(j->y, j->y_type == GPU_F32 ? 4 : 2, i + k,
                           j->y_type == GPU_F32 ? v[k] : gpu_narrow(j->y_type, v[k]));
        return;
    }
    switch (j->y_type) {
    case GPU_F32: gpu_run_store_as(j->y, GPU_F32, finite, i, v); break;
    case GPU_BF16: gpu_run_store_as(j->y, GPU_BF16, finite, i, v); break;
    default: gpu_run_store_as(j->y, GPU_F16, finite, i, v); break;
    }
}

#include "core/carrier_end.h"

#endif /* FPEMU_GPU_RUNS_H */
