/* SPDX-License-Identifier: BSD-2-Clause */
/* dot_fast.h - the roundings of dot_models.h by arithmetic of a carrier (odd_fast.h) and the forms of round_fast.h, for
 * the targets that go with them: a product and a sum, or two sums, in some ten operations. core_dot_form… says whether a
 * target does, and how; tests/gpu/gemm.c compares bits with those of the library. */
#ifndef FPEMU_CORE_DOT_FAST_H
#define FPEMU_CORE_DOT_FAST_H

#include "dot_models.h"
#include "element.h"
#include "odd_fast.h"

enum core_dot_form {
    CORE_DOT_NONE,       /* not here */
    CORE_DOT_NATIVE,     /* the carrier itself, to nearest */
    CORE_DOT_NEAREST,    /* floats with one end for all that overflows, to nearest */
    CORE_DOT_FULL_RANGE, /* bfloat16 and its like, to nearest, */
    CORE_DOT_FULL_MODE,  /* and in any other mode */
    CORE_DOT_POSIT,
    CORE_DOT_STOCHASTIC, /* as NEAREST, by random bits; in binary64 */
    CORE_DOT_ANY         /* by rule and mode of the plan: long */
};

/* How many significant bits and what smallest step a format has; 0: unknown. */
FPEMU_FN int core_dot_precision(const fpemu_format *f, const core_plan64 *p, int *quantum)
{
    *quantum = f->quantum;
    if (f->kind == FPEMU_KIND_FLOAT)
        return (int)f->mantissa_bits + 1;
    if (f->kind == FPEMU_KIND_POSIT)
        return (int)f->bits;
    if (f->kind != FPEMU_KIND_FIXED && f->kind != FPEMU_KIND_INT)
        return 0;
    const uint64_t most = p->max[0] > p->max[1] ? p->max[0] : p->max[1];
    *quantum = p->quantum;
    return (int)(most >> 52) - 1023 - p->quantum + 1;
}

#include "carrier32.h"
#include "dot_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "dot_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_DOT_FAST_H */
