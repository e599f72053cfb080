/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.h - scalar formats: the job of quantising, encoding or decoding an array, and the bodies of its kernels. */
#ifndef FPEMU_GPU_QUANTIZE_H
#define FPEMU_GPU_QUANTIZE_H

#include "core/element.h"
#include "elements.h"
#include "lane.h"
#include "names.h"

/* What a kernel is given by value, whatever the carrier; gpu_quantize_job32 and 64 add what depends on it. */
typedef struct gpu_quantize_call {
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
} gpu_quantize_call;

typedef struct gpu_quantize_job32 {
    gpu_quantize_call call;
    core_plan32 plan;
    core_coder32 coder;
} gpu_quantize_job32;

typedef struct gpu_quantize_job64 {
    gpu_quantize_call call;
    core_plan64 plan;
    core_coder64 coder;
} gpu_quantize_job64;

/* The loop forms: how much of the general rule a plan needs. */
enum {
    GPU_FORM_FLOAT,   /* grid and finish in their shortest forms */
    GPU_FORM_ANY,     /* the same with flushing, narrow exponents, e8m0 */
    GPU_FORM_GENERAL, /* posits, affine integers, wrapping, compatibility settings: core_element */
    GPU_FORM_FAST     /* the forms of core/round_fast.h */
};

/* How a warp takes elements [from, to) where a lane can have four at a time: in strips of 128 from `first` on, and
 * beside those in rows of 32, by index. In a strip a lane has four neighbours, which lie aligned, or every 32nd. */
typedef struct gpu_strips {
    uint64_t first, count;
} gpu_strips;

/* Groups of four neighbours (quads) begin at places that are `phase` modulo 4; GPU_NO_QUADS: nowhere. */
FPEMU_FN gpu_strips gpu_strips_of(uint64_t from, uint64_t to, uint64_t phase)
{
    gpu_strips s;
    s.first = from + (phase == GPU_NO_QUADS ? (0 - from) & 127 : (phase - from) & 3);
    s.first = s.first < to ? s.first : to;
    s.count = (to - s.first) / 128;
    return s;
}

#include "core/carrier32.h"
#include "quantize.inc.h"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#include "quantize.inc.h"
#include "core/carrier_end.h"

#endif /* FPEMU_GPU_QUANTIZE_H */
