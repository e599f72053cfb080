/* blocked.h - one element of a blocked format from end to end, whatever its scale: what devices call, one element a
 * thread. The loops of lib/array/blocks.inc.c take the same steps on tiles. */
#ifndef FPEMU_CORE_BLOCKED_H
#define FPEMU_CORE_BLOCKED_H

#include <float.h>

#include "events.h"
#include "scale.h"

/* Rules that have two numbers of the whole tensor. */
FPEMU_FN int core_has_tensor(const fpemu_format *f)
{
    return f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO ||
           f->scaling == FPEMU_SCALING_S2FP8;
}

/* Whether a range of the whole tensor is needed. */
FPEMU_FN int core_needs_range(const fpemu_format *f)
{
    return f->scaling && (core_has_tensor(f) || f->block == FPEMU_BLOCK_TENSOR);
}

/* Whether a range given by the caller can be one. */
FPEMU_FN int core_range_is_sane(const fpemu_range *r)
{
    return r->reserved0[0] == 0 && r->reserved0[1] == 0 && r->reserved0[2] == 0 && r->amax >= 0 && r->amax <= DBL_MAX &&
           r->max >= 0 && r->max <= DBL_MAX && r->min <= 0 && r->min >= -DBL_MAX && r->log2_max >= -1100 &&
           r->log2_max <= 1100;
}

/* What is known of an element beside its value: how it compares with the ends, as core_events_of wants it. */
typedef struct core_happened {
    int64_t q; /* the integer of affine formats, the index of codebooks */
    uint8_t past, over;
} core_happened;

/* The grid on which affine integers round their quotients. */
FPEMU_FN core_plan64 core_integers(void)
{
    core_plan64 p;
    memset(&p, 0, sizeof p);
    core_plan_fixed_grid64(&p, 0);
    return p;
}

#include "carrier64.h"
#include "block.inc.h"
#include "carrier_end.h"
#include "carrier32.h"
#include "block.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_BLOCKED_H */
