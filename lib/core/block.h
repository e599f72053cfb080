/* SPDX-License-Identifier: BSD-2-Clause */
/* block.h - one element of a blocked format from end to end, whatever its scale: what devices call, one element a
 * thread. lib/array/blocks.inc.c takes the same steps on tiles. */
#ifndef FPEMU_CORE_BLOCK_H
#define FPEMU_CORE_BLOCK_H

#include <float.h>

#include "events.h"
#include "scale.h"

/* Rules that have two numbers of the whole tensor. */
FPEMU_FN int core_has_tensor(const fpemu_format *f)
{
    return core_rule_is_nvfp4(f->scaling) || f->scaling == FPEMU_SCALING_S2FP8;
}

/* Whether a range of the whole tensor is needed. */
FPEMU_FN int core_needs_range(const fpemu_format *f)
{
    return f->scaling && ((core_has_tensor(f) && !f->outer) || f->block == FPEMU_BLOCK_TENSOR);
}

/* Whether a range given by the caller can be one. */
FPEMU_FN int core_range_is_sane(const fpemu_range *r)
{
    return r->reserved0[0] == 0 && r->reserved0[1] == 0 && r->reserved0[2] == 0 && r->amax >= 0 && r->amax <= DBL_MAX &&
           r->max >= 0 && r->max <= DBL_MAX && r->min <= 0 && r->min >= -DBL_MAX && r->log2_max >= -1100 &&
           r->log2_max <= 1100;
}

/* Whether the range of the whole tensor that a call is told, if it is, is one. */
FPEMU_FN int core_told_range_is_sane(const fpemu_shape *shape)
{
    return !shape->whole || core_range_is_sane(shape->whole);
}

/* The compatibility settings of blocks: MuPPET's rounding as printed, and QPyTorch's. */
typedef struct core_block_compat {
    double step, max, lowest;            /* of the element format */
    int64_t q_least, q_most, zero_point; /* of integers, else 0 */
    int32_t bits;                        /* of an element's magnitude */
    uint8_t setting;                     /* fpemu_compat; 0 where the format has no scales */
    uint8_t stochastic;
} core_block_compat;

FPEMU_FN core_block_compat core_block_compat_make(const fpemu_format *f, const fpemu_rounding *r)
{
    int64_t least = 0, most = 0;
    if (f->kind == FPEMU_KIND_INT)
        core_int_ends(f, &least, &most);
    const core_block_compat c = {f->kind == FPEMU_KIND_INT ? f->scale : core_value64(core_power64(f->quantum)),
                                 f->max,
                                 f->lowest,
                                 least,
                                 most,
                                 f->kind == FPEMU_KIND_INT ? f->zero_point : 0,
                                 (int32_t)f->bits - 1,
                                 f->scaling == FPEMU_SCALING_RECIPROCAL ? (uint8_t)FPEMU_COMPAT_NONE : r->compat,
                                 CORE_DRAWS(core_mode(r))};
    return c;
}

/* What is known of an element beside its value: how it compares with the ends, as core_events_of wants it. */
typedef struct core_happened {
    int64_t q; /* the integer of affine formats, the code of codebooks */
    uint8_t past, over;
} core_happened;

#include "carrier64.h"
#include "block.inc.h"
#include "carrier_end.h"
#include "carrier32.h"
#include "block.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_BLOCK_H */
