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

/* Short forms of rounding to nearest in binary32: none at all, full range of core/round_fast.h, shifter with any
 * ends, and shifter on signed numbers with infinity or the largest value past the end. */
enum mac_form { MAC_NONE, MAC_FULL_RANGE, MAC_ENDS, MAC_INF, MAC_SAT, MAC_FORMS };

/* Elements handled at a time where an intermediate result is kept on the stack. */
#define TILE 1024
/* Bytes counted at a time where no random words are needed: so much of input and output stays in L1. */
#define COUNT_TILE 16384
/* Blocks at most whose scales runs_fast looks at. */
#define FAST_BLOCKS 256

/* See block_few. */
#define BLOCK_FEW_ELEMENTS 128
/* Blocks at most with scales that are powers of two at a time. */
#define POW2_BLOCKS 128
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

/* Random bits of elements 0, 1, ... of a loop: words low, low + 1, ... of the hash, of which none has another lead than
 * the first; mask: of n bits, left-aligned. */
typedef struct core_draw {
    core_hash_key key;
    uint32_t low, lead, mask;
} core_draw;

/* Random bits of elements 0, 1, ... of a call: r, left-aligned in 32, or, where that is NULL, 32 of the hash for elements
 * `index` and following, of which none passes a multiple of 2^32. */
typedef struct loop_draw {
    const uint32_t *r;
    core_hash_key key;
    uint64_t index;
} loop_draw;

/* What a loop finds of the magnitudes of elements, as bits. */
typedef struct block_extremes {
    uint64_t amax;      /* the largest, NaN and infinities included */
    uint64_t high, low; /* of the largest above zero, of the smallest below */
    uint32_t zeros, nonfinite;
} block_extremes;

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
    /* blocks of finite elements, of a multiple of 16 each, rounded by bits that the loop draws, a word an element: as
     * pow2 by sr, also a multiple of 16 elements with a power each (length 1), and as scaled by sr. May be NULL */
    void (*pow2_drawn32[2])(const core_pow2_block32 *q, const core_draw *d, size_t length, size_t count, const void *x,
                            const uint32_t *powers, void *y);
    void (*scaled_drawn[2][2])(const core_plan32 *p, const core_draw *d, size_t length, size_t count, const float *down,
                               const float *s, float second, const void *x, void *y);
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
    /* words of either type from codes of a byte, all of which have values of the type; 0 where the loop does not do
     * that. May be NULL */
    int (*decode_words)(const core_coder32 *c, int bfloat, size_t n, const uint8_t *codes, uint16_t *y);
    /* y = the values of packed codes of so many bits, times the scale of their block, times `second`: of one block, or
     * `count` of `length` = 16, 32 or more that fill bytes. tame: core_unpack_is_tame of all scales; 2 if they are
     * 1 and the values are of the type; 3 if core_unpack_fits too and second is 1. Words only with `unpack_words`. May
     * be NULL */
    void (*unpack32[CORE_UNPACK_BITS + 1])(const core_unpack *u, enum unpack_type type, size_t length, size_t count,
                                           const unsigned char *bytes, const float *s, float second, int tame, void *y);
    int unpack_words;
    int (*unpack_make)(core_unpack *u, uint32_t bits, const uint32_t *values); /* core_unpack_make */
    /* the other way: packed codes of so many bits, by a form for which core_direct_stops, of x times `down` of their
     * block, or by it; amax: the largest magnitudes of the blocks, or NULL where x may be NaN; inverse: NULL, or
     * inverses of `down` where core_fast_holds; x: numbers, or words. May be NULL */
    void (*pack32[CORE_UNPACK_BITS + 1])(const core_direct32 *d, int divide, const uint32_t *amax, size_t length,
                                         size_t count, const float *down, const float *inverse, enum unpack_type type,
                                         const void *x, unsigned char *bytes);
    /* the same of finite numbers by a table of codes of 4 bits, in blocks with such divisors;
     * 0 where the loop does not do that. May be NULL */
    int (*pack_few)(const core_search32 *s, size_t length, size_t count, const float *scales, const float *x,
                    unsigned char *bytes);
    /* y of one block of finite elements whose scale multiplies or divides, by a table of at most block_few_most values
     * and to nearest, at most BLOCK_FEW_ELEMENTS by more than 16; 0 where the loop does not do that */
    int (*block_few)(const core_codebook *c, const core_scale32 *s, size_t n, const float *x, float *y);
    uint32_t block_few_most; /* 0: none */

    /* dot products: dot.inc.c */
    void (*fma_odd)(size_t n, double x, const double *y, const double *s, uint64_t zero_sign, double *odd);
    /* as round, for formats that has_fast of lib/gemm/targets.c knows: nearest, stochastic; and both steps at once */
    void (*round_nearest)(const core_plan64 *p, size_t n, const double *x, const uint32_t *r, double *y);
    void (*round_stochastic)(const core_plan64 *p, size_t n, const double *x, const uint32_t *r, double *y);
    void (*fma_nearest)(const core_plan64 *p, size_t n, double x, const double *y, const double *s, double *out);
    /* by the forms of products and of sums */
    void (*mac32[MAC_FORMS][MAC_FORMS])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n,
                                        const float *x, const float *y, size_t ld, float *s);
    /* in those of MAC_INF and MAC_SAT where nothing goes past an end: products of binary32 itself, rounded ones */
    void (*mac_inside[2])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n, const float *x,
                          const float *y, size_t ld, float *s);
    uint32_t (*largest)(size_t n, const float *x); /* bits of a magnitude; of a NaN, if there is one */
    void (*mac_binary32)(size_t nk, size_t n, const float *x, const float *y, size_t ld, float *s);
    void (*mac_binary64)(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s);
    int has_fma; /* mac_binary64 rounds x * y + s once, whatever the operands */
    void (*fused_sum)(size_t nk, size_t n, size_t ld, const double *x, const double *px, const double *y,
                      const double *py, double least, double scale, double floor, const double *d, double *t);
} kernels;

extern const kernels fpemu_kernels_portable, fpemu_kernels_v3, fpemu_kernels_v4, fpemu_vbmi;

/* The variant in use; chosen once, the same for every thread. */
const kernels *fpemu_kernels(void);
/* Whether all choices of lib/kernel are read at run time: by FPEMU_VARIANT=general-..., for tests. */
int fpemu_choices_at_run_time(void);

#endif /* FPEMU_LOOPS_LOOPS_H */
