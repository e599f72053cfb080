/* job.h - a call as the kernels get it: plain values, by value. */
#ifndef FPEMU_GPU_JOB_H
#define FPEMU_GPU_JOB_H

#include "core/element.h"
#include "core/random.h"
#include "counts.h"

/* How numbers lie in an array. */
enum gpu_type { GPU_F32, GPU_F64, GPU_BF16, GPU_F16, GPU_CODES };

/* No four neighbours lie aligned in both arrays of a call. */
#define GPU_NO_QUADS 4

/* Random bits: what an element of the stream uses. */
typedef struct gpu_random {
    uint64_t seed, stream;
    uint8_t generator, share, bits, used;
} gpu_random;

typedef struct gpu_job {
    core_plan64 integers; /* affine integers: the grid of their quotients */
    gpu_random random;
    uint64_t n, offset; /* elements, and the index of the first in its stream */
    uint64_t piece;     /* consecutive elements, by absolute index, that one warp takes at a time: 4096 or 512 */
    const void *x;
    void *y;
    uint32_t x_size, y_size; /* bytes of an element */
    uint8_t x_type, y_type;
    uint8_t phase;      /* of elements that lie aligned in both arrays, four at a time; or GPU_NO_QUADS */
    gpu_counts *counts; /* NULL: none */
} gpu_job;

typedef struct gpu_job32 {
    gpu_job job;
    core_plan32 plan;
    core_coder32 coder, narrow; /* narrow: binary16 or bfloat16, for arrays of these */
} gpu_job32;

typedef struct gpu_job64 {
    gpu_job job;
    core_plan64 plan;
    core_coder64 coder;
} gpu_job64;

/* The loop forms: how much of the general rule a plan needs. */
enum gpu_form {
    GPU_FORM_FLOAT,   /* grid and finish in their shortest forms */
    GPU_FORM_ANY,     /* the same with flushing, narrow exponents, e8m0 */
    GPU_FORM_GENERAL, /* posits, affine integers, wrapping, compatibility settings: core_element */
    GPU_FORM_FAST     /* the forms of core/quick.h */
};

FPEMU_FN int gpu_form32(const core_plan32 *p)
{
    if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
        return GPU_FORM_FAST;
    if (p->compat || p->wrap || (p->rule != CORE_RULE_FLOAT && p->rule != CORE_RULE_ANY))
        return GPU_FORM_GENERAL;
    return p->rule == CORE_RULE_FLOAT ? GPU_FORM_FLOAT : GPU_FORM_ANY;
}

FPEMU_FN int gpu_form64(const core_plan64 *p)
{
    if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
        return GPU_FORM_FAST;
    if (p->compat || p->wrap || (p->rule != CORE_RULE_FLOAT && p->rule != CORE_RULE_ANY))
        return GPU_FORM_GENERAL;
    return p->rule == CORE_RULE_FLOAT ? GPU_FORM_FLOAT : GPU_FORM_ANY;
}

#endif /* FPEMU_GPU_JOB_H */
