/* SPDX-License-Identifier: BSD-2-Clause */
/* targets.h - a spec of dot products, checked and prepared. */
#ifndef FPEMU_GEMM_TARGETS_H
#define FPEMU_GEMM_TARGETS_H

#include "array/array.h"
#include "split.h"

/* A target as the fast models use it. */
typedef struct gemm_target {
    const core_target *rule;
    const fpemu_rounding *rounding;
    uint8_t is_short; /* what binary64 rounds to odd has the bits */
    uint8_t within;   /* the loop of SUM_GIVEN counts it */
    uint8_t form;     /* enum sum_form */
} gemm_target;

typedef struct gemm_targets {
    const fpemu_gemm_spec *spec;
    core_dot dot; /* what the spec alone tells of it */
    gemm_target product, inner, outer;
    int carrier;
    uint8_t binary32; /* operands are numbers of binary32: so binary64 holds every product */
    uint8_t nan_is_error;
} gemm_targets;

/* Whether one loop rounds by a plan that has its fast form, and finishes. */
static inline int is_one_loop(uint8_t rule, uint8_t wrap)
{
    return rule != CORE_RULE_AFFINE && rule != CORE_RULE_FULL_RANGE_GRID && rule != CORE_RULE_SHIFTER_GRID && !wrap;
}

static inline int is_zero(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= c[i];
    return any == 0;
}

/* Checks a spec and fills *t, which points into itself and the spec; in whatever floating-point environment. */
fpemu_status fpemu_gemm_targets(gemm_targets *t, const fpemu_gemm_spec *spec, int carrier, fpemu_why *why);
/* The same after *t, or *t and the spec, have moved. */
void fpemu_gemm_point(gemm_targets *t, const fpemu_gemm_spec *spec);

#endif /* FPEMU_GEMM_TARGETS_H */
