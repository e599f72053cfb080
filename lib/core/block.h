/* blocked.h - one element of a blocked format from end to end, whatever its scale: what devices call, one element a
 * thread. The loops of lib/array/blocks.inc.c take the same steps on tiles. */
#ifndef FPEMU_CORE_BLOCKED_H
#define FPEMU_CORE_BLOCKED_H

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

/* What happened to an element, and what became of it. */
typedef struct core_happened {
    int64_t q; /* the integer of affine formats, the index of codebooks */
    uint8_t clipped, overflow, subnormal;
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
