/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.h - the fast form of blocks.h for values of tensors without gaps, binary32 alone; what it leaves over goes
 * by gpu_blocks, whose results are the same (tests/gpu/blocks.c holds both to the CPU's). */
#ifndef FPEMU_GPU_BLOCK_RUNS_H
#define FPEMU_GPU_BLOCK_RUNS_H

#include "blocks.h"

#include "core/carrier32.h"
/* Four values, or fewer at the end, from place i of y on. */
FPEMU_FN void gpu_block_runs_store(const gpu_blocks_job32 *j, uint64_t i, unsigned n, const uint32_t y[4])
{
    uint64_t element[4];
    UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_blocks_result32(j, y[k]);
    if (n == 4)
        gpu_store_quad(j->call.y, gpu_blocks_size32(j), i, element);
    else
        UNROLLED for (unsigned k = 0; k < 3; k++) if (k < n)
            gpu_store_code(j->call.y, gpu_blocks_size32(j), i + k, element[k]);
}

FPEMU_FN void gpu_block_runs_load(const gpu_blocks_job32 *j, uint64_t i, unsigned n, uint32_t u[4])
{
    uint64_t element[4] = {0, 0, 0, 0};
    if (n == 4)
        gpu_load_quad(j->call.x, gpu_blocks_size32(j), i, element);
    else
        UNROLLED for (unsigned k = 0; k < 3; k++) if (k < n) element[k] =
            gpu_load_code(j->call.x, gpu_blocks_size32(j), i + k);
    UNROLLED for (unsigned k = 0; k < 4; k++) u[k] =
        j->call.x_type == GPU_F32 ? (uint32_t)element[k] : gpu_widen(j->call.x_type, element[k]);
}

/* Values of a tensor without gaps, in strips of 128, a lane having four neighbours: of blocks of 16, 32, 64 or 128, or
 * all under one scale, which takes in what lies behind the last strip. The plan of the element is one of
 * core/round_fast.h. */
FPEMU_FN void gpu_block_runs(const gpu_blocks_job32 *j, int rule, int mode, uint64_t warp, uint64_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const unsigned group = job->run / 4;
    const uint64_t strips = job->whole ? (job->walk.total + 127) / 128 : job->walk.total / 128;
    core_codebook table = j->rule.table;
    core_block32 block = j->rule.block;
    core_extremes32 e[LANES];
    core_scale32 scale[LANES];
    gpu_lane lane[LANES];
    gpu_words words[LANES];
    uint64_t word_high[LANES];
    table.values = job->table ? job->table : j->table;
    block.tensor = job->range ? job->range->tensor : job->tensor;
    FOR_LANES(l)
    {
        gpu_lane_begin(&OF(lane, l));
        OF(word_high, l) = ~UINT64_C(0);
        memset(&OF(e, l), 0, sizeof OF(e, l));
        if (!job->whole)
            continue;
        OF(e, l).amax = (uint32_t)job->range->extremes.amax;
        OF(e, l).high = (uint32_t)job->range->extremes.high;
        OF(e, l).low = (uint32_t)job->range->extremes.low;
        OF(e, l).nonfinite = job->range->extremes.nonfinite != 0;
        OF(e, l).other = job->other;
        core_scale_find32(&block, &OF(e, l), &OF(scale, l));
    }
    for (uint64_t strip = warp; strip < strips; strip += warps) {
        uint32_t u[LANES][4], amax[LANES], nonfinite[LANES];
        FOR_LANES(l)
        {
            const uint64_t i = strip * 128 + 4 * l, left = i < job->walk.total ? job->walk.total - i : 0;
            gpu_block_runs_load(j, i, left < 4 ? (unsigned)left : 4, OF(u, l));
            OF(amax, l) = OF(nonfinite, l) = 0;
            UNROLLED for (unsigned k = 0; k < 4; k++)
            {
                const uint32_t a = OF(u, l)[k] & ~CARRIER_SIGN;
                OF(nonfinite, l) |= a >= CARRIER_INF;
                OF(amax, l) = a < CARRIER_INF && a > OF(amax, l) ? a : OF(amax, l);
            }
        }
        if (!job->whole) {
            lanes_group_max32(amax, group);
            lanes_group_max32(nonfinite, group);
        }
        FOR_LANES(l)
        {
            const uint64_t i = strip * 128 + 4 * l, left = i < job->walk.total ? job->walk.total - i : 0;
            uint32_t r[4] = {0, 0, 0, 0}, y[4];
            if (!job->whole) {
                OF(e, l).amax = OF(amax, l);
                OF(e, l).nonfinite = OF(nonfinite, l) != 0;
                core_scale_find32(&block, &OF(e, l), &OF(scale, l));
            }
            if (mode >= FPEMU_MODE_SR)
                gpu_bits_of_neighbours(&job->random, &OF(words, l), &OF(word_high, l), &OF(lane, l), job->offset + i,
                                       r);
            UNROLLED for (unsigned k = 0; k < 4; k++) y[k] = core_blocked_fast32(
                &j->rule, &table, rule, mode, &OF(scale, l), block.tensor, OF(e, l).amax, OF(u, l)[k], r[k]);
            gpu_block_runs_store(j, i, left < 4 ? (unsigned)left : 4, y);
        }
    }
}
#include "core/carrier_end.h"

#endif /* FPEMU_GPU_BLOCK_RUNS_H */
