/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.h - scalar formats: the job of quantising, encoding or decoding an array, and the bodies of its kernels. */
#ifndef FPEMU_GPU_QUANTIZE_H
#define FPEMU_GPU_QUANTIZE_H

#include "core/block_fast.h"
/* What compiles this has fused products: a device itself, else the C library. */
#undef CORE_HAS_FMA
#define CORE_HAS_FMA 1
#include "core/affine_fast.h"
#include "core/affine_quick.h"
#include "core/element.h"
#include "core/posit_fast.h"
#include "core/round_fast.h"
#include "elements.h"
#include "lane.h"
#include "names.h"

/* Error sums are made of blocks of this many elements by absolute index; one warp adds up a block. */
#define GPU_SUM_PIECE 4096

/* What a kernel is given by value, whatever the carrier; gpu_quantize_job32 and 64 add what depends on it. */
typedef struct gpu_quantize_call {
    core_plan64 integers; /* affine integers: the grid of their quotients */
    gpu_random random;
    uint64_t n, offset; /* elements, and the index of the first in its stream */
    uint64_t piece; /* consecutive elements, by absolute index, that one warp takes at a time where it makes no sums:
                           a power of two up to CORE_LEAD_WORDS */
    const void *x;
    void *y;
    uint32_t x_size, y_size; /* bytes of an element */
    uint8_t x_type, y_type;
    uint8_t form, encode; /* as below, by gpu_prepare; where it is codes that come, how they are decoded */
    uint8_t phase;        /* of elements that lie aligned in both arrays, four at a time; or GPU_NO_QUADS */
    gpu_counts *counts;   /* NULL: none */
} gpu_quantize_call;

typedef struct gpu_quantize_job32 {
    gpu_quantize_call call;
    core_plan32 plan;
    core_coder32 coder;
    core_direct32 direct;      /* GPU_ENCODE_DIRECT */
    core_affine_quick32 quick; /* GPU_FORM_AFFINE */
    uint32_t last;             /* GPU_FORM_POWER */
    float count;               /* GPU_ENCODE_QUICK; the step of GPU_DECODE_FIXED */
} gpu_quantize_job32;

typedef struct gpu_quantize_job64 {
    gpu_quantize_call call;
    core_plan64 plan;
    core_coder64 coder;
    core_direct64 direct;
    core_affine_quick64 quick;
    uint64_t last;
    double count;
} gpu_quantize_job64;

/* The loop forms: how much of the general rule a plan needs. */
enum {
    GPU_FORM_FLOAT,   /* grid and finish in their shortest forms */
    GPU_FORM_ANY,     /* the same with flushing, narrow exponents, e8m0 */
    GPU_FORM_GENERAL, /* posits, affine integers, wrapping, compatibility settings: core_element */
    GPU_FORM_FAST,    /* the forms of core/round_fast.h by their rules, and apart from those: */
    GPU_FORM_POWER,   /* core_element_power */
    GPU_FORM_WRAPPED, /* core_element_wrapped */
    GPU_FORM_POSIT,   /* core_element_quick_posit */
    GPU_FORM_AFFINE   /* core_affine_quick_element, or for FPEMU_MODE_SR core_affine_quick_stochastic */
};

/* How results become elements of the output. */
enum {
    GPU_ENCODE_NOT,  /* values */
    GPU_ENCODE_ANY,  /* codes, by whatever rule the format has */
    GPU_ENCODE_FAST, /* core_encode_fast, or of a format that devices convert to, which is right for its values: */
    GPU_ENCODE_BF16,
    GPU_ENCODE_F16,
    GPU_ENCODE_E5M2,
    GPU_ENCODE_E4M3,
    GPU_ENCODE_FEW,    /* of a case: core_encode_fast, such a format or core_fixed_quick_code, as the job says */
    GPU_ENCODE_FIXED,  /* core_encode_fixed, or */
    GPU_ENCODE_QUICK,  /* core_fixed_quick_code */
    GPU_ENCODE_FLOAT,  /* core_encode_float */
    GPU_ENCODE_POWER,  /* core_encode_power */
    GPU_ENCODE_POSIT,  /* core_posit_quick_code */
    GPU_ENCODE_AFFINE, /* core_affine_quick_code */
    GPU_ENCODE_DIRECT  /* straight from the input: core_direct, core_posit_direct_code */
};

/* How codes become values. */
enum {
    GPU_DECODE_ANY,    /* core_decode */
    GPU_DECODE_FAST,   /* core_decode_fast */
    GPU_DECODE_FIXED,  /* core_fixed_quick_value */
    GPU_DECODE_AFFINE, /* core_affine_quick_value */
    GPU_DECODE_POWER,  /* core_decode_power */
    GPU_DECODE_POSIT   /* core_posit_quick_value */
};

/* What is counted. */
enum { GPU_COUNT_NOTHING, GPU_COUNT_EVENTS /* and extrema */, GPU_COUNT_ALL /* that is wanted */ };

FPEMU_FN int gpu_counts_of(const gpu_quantize_call *j)
{
    if (!j->counts)
        return GPU_COUNT_NOTHING;
    return j->counts->want & (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM) ? GPU_COUNT_ALL : GPU_COUNT_EVENTS;
}

/* What CORE_RULE_SHIFTER_PASS makes of what overflows in the stochastic modes: the plan's fast_nan says it. */
enum { GPU_PAST_UNKNOWN, GPU_PAST_INFINITE, GPU_PAST_NAN };

/* What tells calls apart. A kernel made for some of them knows it at compile time. */
typedef struct gpu_case {
    int form, rule, mode, past; /* the rule of the plan */
    int encode, counts, random;
    int x_type, y_type;
    uint32_t x_size, y_size;
    int known; /* whoever compiles knows the rest: few instructions an element, four are written out */
    int quads; /* a lane has four neighbours, which lie aligned; known cases only */
} gpu_case;

/* Whether each difference of an input and its result is a number of the carrier where no end is near: results are 0, or
 * half to twice the input. */
FPEMU_FN int gpu_is_exact(gpu_case c)
{
    return (core_to_nearest(c.mode) || c.mode == FPEMU_MODE_RTZ) &&
           (c.form == GPU_FORM_FAST || c.form == GPU_FORM_FLOAT || c.form == GPU_FORM_ANY ||
            c.form == GPU_FORM_WRAPPED);
}

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
