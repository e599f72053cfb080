/* SPDX-License-Identifier: BSD-2-Clause */
/* loops.h - the array loops: a table for each instruction set, of which one is chosen. */
#ifndef FPEMU_LOOPS_LOOPS_H
#define FPEMU_LOOPS_LOOPS_H

#include "core/affine_quick.h"
#include "core/block_fast.h"
#include "core/codebook_fast.h"
#include "core/compat_fast.h"
#include "core/dot.h"
#include "core/element.h"
#include "core/events.h"
#include "core/exact.h"
#include "core/narrow.h"
#include "core/posit_fast.h"
#include "core/random.h"
#include "core/scale.h"
#include "core/unpack_fast.h"
#include "loops/names.h"

/* Lanes of the loops of dot products at most, in binary64; in binary32 twice as many. */
#define DOT_LANES 128
/* Lanes that sum_rows takes together, at most. */
#define SUM_GROUP 32

/* Short forms of rounding to nearest in binary32: none at all, full range of core/round_fast.h, shifter with any
 * ends, and shifter on signed numbers with infinity or the largest value past the end. */
enum mac_form { MAC_NONE, MAC_FULL_RANGE, MAC_ENDS, MAC_INF, MAC_SAT, MAC_FORMS };

/* Elements handled at a time where an intermediate result is kept on the stack. */
#define TILE 1024
/* Bytes counted at a time where no random words are needed: so much of input and output stays in L1. */
#define COUNT_TILE 16384
/* Blocks at most whose scales are found at a time. */
#define RUN_BLOCKS 256

/* Vectors that cross the boundary of a cache line cost more; longer arrays are entered at one. */
#define LINE 64
/* Error sums are made of blocks of this many elements, by absolute index; threads split there. */
#define SUM_BLOCK 4096

/* Element i of an array of codes of 1, 2, 4 or 8 bytes, at any alignment. */
static inline void store_code(void *codes, size_t size, size_t i, uint64_t code)
{
    switch (size) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: {
        const uint16_t c = (uint16_t)code;
        memcpy((char *)codes + 2 * i, &c, 2);
        break;
    }
    case 4: {
        const uint32_t c = (uint32_t)code;
        memcpy((char *)codes + 4 * i, &c, 4);
        break;
    }
    default: memcpy((char *)codes + 8 * i, &code, 8);
    }
}

static inline uint64_t load_code(const void *codes, size_t size, size_t i)
{
    switch (size) {
    case 1: return ((const uint8_t *)codes)[i];
    case 2: {
        uint16_t c;
        memcpy(&c, (const char *)codes + 2 * i, 2);
        return c;
    }
    case 4: {
        uint32_t c;
        memcpy(&c, (const char *)codes + 4 * i, 4);
        return c;
    }
    default: {
        uint64_t c;
        memcpy(&c, (const char *)codes + 8 * i, 8);
        return c;
    }
    }
}

/* What a counting loop gathers over one tile. */
typedef core_counts tile_counts;

/* Random bits of elements 0, 1, ... of a call: r, left-aligned in 32, or, where that is NULL, 32 of the hash for elements
 * `index` and following, of which none passes a multiple of 2^32. */
typedef struct loop_draw {
    const uint32_t *r;
    core_hash_key key;
    uint64_t index;
} loop_draw;

/* What elements are of the scales of their blocks: t is x times `down`, or divided by it; y the element times the scale. */
enum scaled_kind {
    UNSCALED,
    SCALED_POWERS,   /* powers of two that core_pow2_holds takes; `down` is not read */
    SCALED_TIMES,    /* and times a second number, which all blocks have in common */
    SCALED_BY,       /* x is divided by `down` */
    SCALED_QUOTIENT, /* by the scale, whose inverse `down` is, where runs_inverses says that */
    SCALED_KINDS
};

/* What a loop finds of the magnitudes of elements, as bits. */
typedef struct block_extremes {
    uint64_t amax;      /* the largest, NaN and infinities included */
    uint64_t high, low; /* of the largest above zero, of the smallest below */
    uint32_t zeros, nonfinite;
} block_extremes;

enum step_rounding { STEP_APART, STEP_NEAREST, STEP_CUT };

/* A step of a matrix unit in a slab of products (core/dot_models.h), whose numbers times scales lie at x, that of a lane
 * ld from one product to the next, and y, with their powers of two. */
typedef struct dot_step {
    const double *x, *y, *powers_x, *powers_y;
    const uint8_t *place;     /* of its products in the slab; from `have` on there are none */
    size_t terms, size, ways; /* products of a term */
    size_t have, ld;
    double least, scale, floor, late; /* 2^emin of d, or chains: below which results become zero; 2^f; 2^least exponent;
                                         0 or 2^late */
    double flushed;                   /* chains: what is less before its rounding becomes zero */
    double reach;                     /* 2^1024 over what counts as infinite */
    double grid;                      /* the smallest step of a result that is cut, */
    uint64_t keep;                    /* and the bits that stay of other results */
    double *sums, *near;              /* counted: what results are rounded from; of exact sums binary64's nearest */
    uint8_t rounding, exact, special; /* enum step_rounding; special: a product may not be finite */
} dot_step;

/* Vectors of an operation: v * w + u * f; w or f = NULL is 1, u = NULL is nothing at all. */
typedef struct dot_terms {
    const double *v, *w, *u, *f;
    const double *odd;     /* SUM_GIVEN: the results, rounded to odd */
    size_t step_v, step_w; /* sum_rows: from those of a row to those of the next */
    double flushed;        /* what is less before its rounding becomes zero */
    uint8_t one;           /* v is one number, which all lanes take */
    uint8_t wide;          /* v * w may have more bits than binary64 */
    uint8_t near;          /* a sum of two results: binary64's nearest tells them (Figueroa 1995) */
} dot_terms;

/* How they are rounded: to nearest, where adding a number and taking it away again does it; by random bits; to binary64,
 * of any products. Or they are, and only counted. */
enum sum_form { SUM_NONE, SUM_NEAREST, SUM_STOCHASTIC, SUM_NATIVE, SUM_GIVEN, SUM_FORMS };

#include "core/carrier32.h"
#include "loops.inc.h"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#include "loops.inc.h"
#include "core/carrier_end.h"

/* The array loops of one instruction set. */
typedef struct kernels {
    const char *name;
    int (*valid)(void); /* whether this machine runs it */
    const carrier_loops32 *loops32;
    const carrier_loops64 *loops64;

    /* random bits of elements i, i+1, ..., of which none passes a multiple of 2^32 */
    void (*hash)(core_hash_key k, int per_word, int n_bits, uint64_t i, size_t n, uint32_t *r);
    void (*philox)(uint64_t seed, uint64_t stream, int per_word, int n_bits, uint64_t i, size_t n, uint32_t *r);
    void (*stream)(void *to, const void *from, size_t size); /* stream_tile of stream.h */
    /* y = x rounded and finished by a plan that core_affine_is_wide takes, by mode */
    void (*affine32[CORE_MODE_COUNT])(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y);
    /* exact results of an operation on binary32 numbers (minimum and the like: any), to nearest and to odd */
    void (*exact[FPEMU_OPERATION_COUNT])(size_t n, const double *a, const double *b, const double *c,
                                         uint64_t zero_sign, double *nearest, double *odd);
    void (*widen)(size_t n, const float *x, double *y);
    void (*narrow)(size_t n, const double *x, float *y);
    /* binary16 (0) and bfloat16 (1) words to binary32, and back to nearest: core/narrow.h */
    void (*widen16[2])(size_t n, const uint16_t *x, float *y);
    void (*narrow16[2])(size_t n, const float *x, uint16_t *y);
    void (*exact16[2])(size_t n, const float *x, uint16_t *y); /* the same where every x is a number of the type */
    /* as extremes of loops32, of at most 65535 words */
    void (*extremes16[2])(size_t n, const uint16_t *x, block_extremes *e);

    /* dot products: dot.inc.c */
    void (*spread)(size_t n, double x, double *to);
    /* by the forms of products and of sums */
    void (*mac32[MAC_FORMS][MAC_FORMS])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n,
                                        const float *x, const float *y, size_t ld, float *s);
    /* in those of MAC_INF and MAC_SAT where nothing goes past an end: products of binary32 itself, rounded ones */
    void (*mac_inside[2])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n, const float *x,
                          const float *y, size_t ld, float *s);
    uint32_t (*largest)(size_t n, const float *x); /* bits of a magnitude; of a NaN, if there is one */
    /* each: x has a number for each lane, as y */
    void (*mac_binary32)(size_t nk, size_t n, const float *x, int each, const float *y, size_t ld, float *s);
    void (*mac_binary64)(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s);
    void (*mac_saturated)(size_t nk, size_t n, const double *x, const double *y, size_t ld, double low, double high,
                          double *s);
    void (*wrap)(size_t n, double low, double *s);
    /* x times their scales, or as they are; the powers of two of each, or, whole being set, of the scales where x is not 0.
     * The largest magnitude; of a NaN, if there is one */
    double (*take_powers)(size_t n, double least, const double *scales, double least_scale, int whole, double *x,
                          double *powers);
    int has_fma; /* mac_binary64 and exact's nearest round x * y + s once, whatever the operands */
} kernels;

extern const kernels fpemu_kernels_portable, fpemu_kernels_v3, fpemu_kernels_v4;

/* The variant in use; chosen once, the same for every thread. */
const kernels *fpemu_kernels(void);
/* Whether all choices of lib/kernel are read at run time: by FPEMU_VARIANT=general-..., for tests. */
int fpemu_choices_at_run_time(void);

#endif /* FPEMU_LOOPS_LOOPS_H */
