/* SPDX-License-Identifier: BSD-2-Clause */
/* measure_runs.h - the fast form of gpu_measure for tensors without gaps (runs.h). */
#ifndef FPEMU_GPU_MEASURE_RUNS_H
#define FPEMU_GPU_MEASURE_RUNS_H

#include "runs.h"

#include "core/carrier32.h"

/* What a lane has seen of a tensor: binary32, or 16-bit types in the upper half of as many bits. */
typedef struct gpu_seen {
    int32_t high; /* the largest, 0 at least */
    uint32_t low; /* with its sign bit, the one furthest below zero */
    uint32_t nonzero, nonfinite;
} gpu_seen;

FPEMU_FN void gpu_see(gpu_seen *s, uint32_t u)
{
    s->high = (int32_t)u > s->high ? (int32_t)u : s->high;
    s->low = u > s->low ? u : s->low;
    s->nonzero += (u & ~CARRIER_SIGN) != 0;
}

FPEMU_FN uint64_t gpu_seen_bits(int type, uint32_t magnitude)
{
    return core_bits64(core_to_double(type == GPU_F32 ? magnitude : gpu_widen(type, magnitude >> 16)));
}

/* As gpu_measure32, of a tensor without gaps and no sums. type: of the array. */
FPEMU_FN void gpu_measure_runs(const gpu_blocks_job32 *j, int type, uint64_t warp, uint64_t warps)
{
    const uint64_t steps = j->call.walk.total / (128 * GPU_RUN_STRIPS), done = steps * (128 * GPU_RUN_STRIPS);
    const uint32_t size = type == GPU_F32 ? 4 : 2, shift = type == GPU_F32 ? 0 : 16;
    const uint32_t infinity = type == GPU_F16 ? 0x7c000000u : CARRIER_INF;
    gpu_range *const to = j->call.range;
    gpu_seen seen[LANES];
    uint64_t high[LANES], low[LANES];
    uint32_t nonzero[LANES], nonfinite[LANES];
    FOR_LANES(l)
        memset(&OF(seen, l), 0, sizeof OF(seen, l));
    for (uint64_t step = warp; step < steps; step += warps)
        FOR_LANES(l) {
            uint32_t u[GPU_RUN_STRIPS][4];
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) {
                uint64_t element[4];
                gpu_load_quad(j->call.x, size, (step * GPU_RUN_STRIPS + h) * 128 + 4 * l, element);
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    u[h][k] = (uint32_t)element[k] << shift;
            }
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) {
                uint32_t largest = 0;
                UNROLLED for (unsigned k = 0; k < 4; k++) {
                    const uint32_t a = u[h][k] & ~CARRIER_SIGN;
                    largest = a > largest ? a : largest;
                }
                UNROLLED for (unsigned k = 0; k < 4; k++) {
                    const int other = largest >= infinity && (u[h][k] & ~CARRIER_SIGN) >= infinity;
                    OF(seen, l).nonfinite += (uint32_t)other;
                    gpu_see(&OF(seen, l), other ? 0 : u[h][k]);
                }
            }
        }
    for (uint64_t row = done + 32 * warp; row < j->call.walk.total; row += 32 * warps)
        FOR_LANES(l)
            if (row + l < j->call.walk.total) {
                const uint32_t u = (uint32_t)gpu_load_code(j->call.x, size, row + l) << shift;
                const int other = (u & ~CARRIER_SIGN) >= infinity;
                OF(seen, l).nonfinite += (uint32_t)other;
                gpu_see(&OF(seen, l), other ? 0 : u);
            }
    FOR_LANES(l) {
        const gpu_seen *const s = &OF(seen, l);
        OF(high, l) = gpu_seen_bits(type, (uint32_t)s->high);
        OF(low, l) = gpu_seen_bits(type, s->low & CARRIER_SIGN ? s->low ^ CARRIER_SIGN : 0);
        OF(nonzero, l) = s->nonzero;
        OF(nonfinite, l) = s->nonfinite;
    }
    lanes_group_max(high, 32);
    lanes_group_max(low, 32);
    const uint64_t some = lanes_sum(nonzero), others = lanes_sum(nonfinite);
    if (!lanes_writer())
        return;
    shared_max(&to->high, high[0]);
    shared_max(&to->low, low[0]);
    shared_add(&to->nonzero, some);
    shared_add(&to->nonfinite, others);
}

#include "core/carrier_end.h"

#endif /* FPEMU_GPU_MEASURE_RUNS_H */
