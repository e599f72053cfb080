/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack_runs.h - the fast form of gpu_unpack for tensors without gaps (runs.h). What is rare, as NaN or scales at the
 * carrier's ends, goes by gpu_unpack_strip, a strip at a time. */
#ifndef FPEMU_GPU_UNPACK_RUNS_H
#define FPEMU_GPU_UNPACK_RUNS_H

#include "runs.h"

#include "core/carrier32.h"

/* Word l of a strip's packed codes, which take 4 b words, as far as they lie in the first n elements. */
FPEMU_FN uint32_t gpu_run_packed(const unsigned char *from, int aligned, uint32_t b, uint32_t n, uint32_t l)
{
    const uint32_t bytes = (n * b + 7) / 8;
    uint32_t word = 0;
    if (l >= 4 * b)
        return 0;
    if (aligned && n == 128)
        return (uint32_t)gpu_load_code(from, 4, l);
    UNROLLED for (uint32_t k = 0; k < 4; k++)
        if (4 * l + k < bytes)
            word |= (uint32_t)from[4 * l + k] << (8 * k);
    return word;
}

/* A lane's four codes, with any bits above them. word: of every lane. */
FPEMU_FN uint32_t gpu_run_field(const uint32_t *word, uint32_t b, uint32_t l)
{
    const uint32_t bit = 4 * b * l, shift = bit % 32;
    const uint32_t low = lanes_from(word, bit / 32), high = lanes_from(word, (bit / 32 + 1) & 31u);
    return low >> shift | (shift ? high << (32 - shift) : 0);
}

/* How codes become values. */
enum gpu_run_codes {
    GPU_RUN_FLOATS, /* core_decode_fast */
    GPU_RUN_FIXED,  /* core_fixed_quick_value */
    GPU_RUN_TABLE,
    GPU_RUN_NO_CODES
};

FPEMU_FN int gpu_run_codes(const gpu_blocks_job32 *j)
{
    const core_coder32 *const c = &j->rule.coder;
    return j->rule.is_table                ? GPU_RUN_TABLE
           : c->fast_decode                ? GPU_RUN_FLOATS
           : core_fixed_codes_quickly32(c) ? GPU_RUN_FIXED
                                           : GPU_RUN_NO_CODES;
}

FPEMU_FN uint32_t gpu_run_decoded(const gpu_blocks_job32 *j, const float *values, int codes, float step, uint32_t code)
{
    if (codes == GPU_RUN_TABLE)
        return code < j->rule.table.length ? core_bits32(values[code]) : CARRIER_NAN;
    return codes == GPU_RUN_FIXED ? core_fixed_quick_value32(&j->rule.coder, step, code)
                                  : core_decode_fast32(&j->rule.coder, code);
}

/* A strip of packed bytes by the rules for whatever scale there is. */
FPEMU_SLOW void gpu_unpack_strip(const gpu_blocks_job32 *j, uint64_t strip)
{
    const gpu_blocks_call *const job = &j->call;
    const uint64_t left = job->walk.total - strip * 128;
    const uint32_t in_strip = left < 128 ? (uint32_t)left : 128, b = job->element_bits;
    core_codebook table = j->rule.table;
    core_block32 block = j->rule.block;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->tensor_from_bytes ? gpu_load_tensor_scales(job->bytes) : job->tensor;
    FOR_LANES(l) NOT_UNROLLED
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = strip * 128 + 4 * l + k;
            core_scale32 s;
            if (4 * l + k >= in_strip)
                continue;
            memset(&s, 0, sizeof s);
            const uint64_t at = job->whole ? 0 : core_walk_quotient(i, job->walk.tile_length);
            if (j->rule.scaled)
                core_scale_read32(
                    &block, core_load_bytes(job->bytes + job->scales_offset + at * job->scale_bytes, job->scale_bytes),
                    &s);
            const uint64_t code = core_load_code(job->bytes + job->elements_offset, b, i) & ((1u << b) - 1);
            gpu_store_code(job->y, gpu_blocks_size32(j), i,
                           gpu_blocks_result32(j, core_blocked_read32(&j->rule, &table, &s, block.tensor, code)));
        }
}

/* Values of packed bytes, where both are without gaps; codes of at most 8 bits. values: of a table. */
FPEMU_FN void gpu_unpack_runs(const gpu_blocks_job32 *j, const float *values, int codes, uint32_t warp, uint32_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const uint32_t steps = (uint32_t)(job->walk.total / (128 * GPU_RUN_STRIPS)), b = job->element_bits;
    const uint32_t group = job->run < 128 ? job->run / 4 : 32, mask = (1u << b) - 1;
    const float step_value = codes == GPU_RUN_FIXED ? core_value32(core_power32(j->rule.coder.quantum)) : 0;
    const unsigned char *const elements = job->bytes + job->elements_offset;
    const int aligned = (uintptr_t)elements % 4 == 0;
    core_block32 block = j->rule.block;
    block.tensor = job->tensor_from_bytes ? gpu_load_tensor_scales(job->bytes) : job->tensor;
    for (uint32_t step = warp; step < steps; step += warps) {
        const uint64_t strip = (uint64_t)step * GPU_RUN_STRIPS;
        uint32_t word[GPU_RUN_STRIPS][LANES], scale[LANES], serves[LANES];
        float second[LANES];
        FOR_LANES(l) {
            core_scale32 s;
            const uint64_t i = (strip + l % GPU_RUN_STRIPS) * 128 + 4 * (l & ~(group - 1));
            const uint64_t at = job->whole ? 0 : core_walk_quotient(i, job->walk.tile_length);
            const unsigned char *const from = job->bytes + job->scales_offset + at * job->scale_bytes;
            const uint64_t code = job->scale_bytes == 1 ? *from : core_load_bytes(from, job->scale_bytes);
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
                OF(word[h], l) = gpu_run_packed(elements + (strip + h) * 16 * b, aligned, b, 128, l);
            core_scale_read32(&block, code, &s);
            const int power =
                s.kind == CORE_SCALE_POWER && s.exponent >= 1 - CARRIER_BIAS && s.exponent <= CARRIER_BIAS;
            OF(serves, l) = s.kind == CORE_SCALE_MULTIPLY || s.kind == CORE_SCALE_NAN || power;
            OF(scale, l) = s.kind == CORE_SCALE_NAN ? CARRIER_NAN : power ? core_power32(s.exponent) : core_bits32(s.s);
            OF(second, l) = s.d;
        }
        if (!lanes_all(serves)) {
            NOT_UNROLLED for (uint32_t h = 0; h < GPU_RUN_STRIPS; h++)
                gpu_unpack_strip(j, strip + h);
            continue;
        }
        UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
            FOR_LANES(l) {
                const uint32_t field = gpu_run_field(word[h], b, l), s = lanes_from(scale, (l & ~(group - 1)) + h);
                const core_scale32 product = {.s = core_value32(s), .d = OF(second, l), .kind = CORE_SCALE_MULTIPLY};
                uint32_t y[4];
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    y[k] = core_block_y32(&product,
                                          gpu_run_decoded(j, values, codes, step_value, (field >> k * b) & mask));
                gpu_run_store(job, 0, (strip + h) * 128 + 4 * l, y);
            }
    }
    for (uint64_t strip = (uint64_t)steps * GPU_RUN_STRIPS + warp; strip * 128 < gpu_run_elements(job); strip += warps)
        gpu_unpack_strip(j, strip);
}

#include "core/carrier_end.h"

#endif /* FPEMU_GPU_UNPACK_RUNS_H */
