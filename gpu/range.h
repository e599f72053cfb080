/* SPDX-License-Identifier: BSD-2-Clause */
/* range.h - what is known of a whole tensor, in device memory, and the two numbers of it that some formats keep. */
#ifndef FPEMU_GPU_RANGE_H
#define FPEMU_GPU_RANGE_H

#include "core/block.h"
#include "core/pack.h"
#include "warp.h"

/* The largest magnitudes of a long block's finite elements, as bits of the carrier; nonfinite: 1 if there are others.
 */
typedef struct gpu_extremes {
    uint64_t amax, high, low, nonfinite;
} gpu_extremes;

/* What is known of a whole tensor. All zero bits = nothing seen. */
typedef struct gpu_range {
    uint64_t count, nonzero, nonfinite;
    uint64_t high, low;         /* bits of binary64: the largest element above zero, the smallest below */
    uint64_t most;              /* largest log2 in steps of 2^-32, plus 2^62 */
    uint64_t sum_low, sum_high; /* sums of the low 32 bits and of the rest of such steps, or of those of magnitudes */
    core_tensor tensor;         /* the rule's numbers, once the range is complete */
    gpu_extremes extremes;      /* the same as bits of the carrier */
} gpu_range;

/* *r as the CPU has it. */
FPEMU_FN void gpu_range_value(const gpu_range *r, fpemu_range *to)
{
    memset(to, 0, sizeof *to);
    to->count = r->count;
    to->nonzero = r->nonzero;
    to->nonfinite = r->nonfinite;
    to->max = core_value64(r->high);
    to->min = 0 - core_value64(r->low);
    to->amax = core_value64(r->high > r->low ? r->high : r->low);
    if (r->most)
        to->log2_max = (double)((int64_t)r->most - (INT64_C(1) << 62)) / 4294967296.0;
    core_steps_join(r->sum_low, r->sum_high, &to->log2_low, &to->log2_high);
}

/* From a range that was measured, or given by the caller, to what blocks need of it. `given`: NULL, or that. */
typedef struct gpu_range_rule {
    float largest_scale, largest; /* K and T of doc/blocks.md, 2.1 */
    uint8_t rule, wide;           /* fpemu_scaling; wide: the carrier is binary64 */
} gpu_range_rule;

FPEMU_FN core_tensor gpu_tensor_scales(gpu_range_rule rule, const fpemu_range *w)
{
    const core_tensor none = {1, 1, 0, 0};
    if (rule.rule == FPEMU_SCALING_S2FP8)
        return core_s2fp8_tensor(w);
    if (core_rule_is_nvfp4(rule.rule))
        return core_nvfp4_tensor(w, rule.rule, rule.largest_scale, rule.largest);
    return none;
}

FPEMU_FN void gpu_range_finish(gpu_range *r, gpu_range_rule rule, const fpemu_range *given)
{
    fpemu_range seen;
    gpu_range_value(r, &seen);
    const fpemu_range *w = given ? given : &seen;
    r->tensor = gpu_tensor_scales(rule, w);
    const uint64_t magnitude = ~UINT64_C(0) >> 1;
    const double low = 0 - w->min;
    r->extremes.amax = rule.wide ? core_bits64(w->amax) : core_bits32(core_saturated32(w->amax));
    r->extremes.high = rule.wide ? core_bits64(w->max) : core_bits32(core_saturated32(w->max));
    r->extremes.low = rule.wide ? core_bits64(low) & magnitude : core_bits32(core_saturated32(low)) & 0x7fffffffu;
    r->extremes.nonfinite = w->nonfinite > 0;
    if (rule.rule == FPEMU_SCALING_ABSMEAN) {
        const double mean = core_steps_mean(w->log2_low, w->log2_high, w->count - w->nonfinite);
        r->extremes.high = rule.wide ? core_bits64(mean) : core_bits32((float)mean);
    }
}

/* The numbers of the whole tensor, as packed. */
FPEMU_FN void gpu_store_tensor_scales(unsigned char *bytes, core_tensor t)
{
    core_store_bytes(bytes, 4, core_bits32(t.a));
    core_store_bytes(bytes + 4, 4, core_bits32(t.b));
}

FPEMU_FN core_tensor gpu_load_tensor_scales(const unsigned char *bytes)
{
    core_tensor t;
    t.amax = t.most = 0;
    t.a = core_value32((uint32_t)core_load_bytes(bytes, 4));
    t.b = core_value32((uint32_t)core_load_bytes(bytes + 4, 4));
    return t;
}

/* The same from a range, measured, or given by the caller. */
FPEMU_FN void gpu_pack_tensor_scales(const gpu_range *range, gpu_range_rule rule, const fpemu_range *given,
                                     unsigned char *bytes)
{
    fpemu_range seen;
    if (!given)
        gpu_range_value(range, &seen);
    gpu_store_tensor_scales(bytes, gpu_tensor_scales(rule, given ? given : &seen));
}

#endif /* FPEMU_GPU_RANGE_H */
