/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/tensor.h - tensors of blocks with scales: shapes, quantising, scales, packed bytes, delayed scaling. */
#ifndef FPEMU_API_TENSOR_H
#define FPEMU_API_TENSOR_H

#include "format.h"
#include "rounding.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------- range, shape */

/* What is known of a whole tensor: what a scale of all of it needs. All zero = nothing seen yet. One that a caller made
 * is refused (FPEMU_ERROR_ARGUMENT) where it cannot be one by a look at each number: amax, max and -min are finite and
 * at least 0, log2_max is within -1100..1100, what is reserved is 0. That they belong together is the caller's
 * business; fpemu_delayed_update leaves out what it cannot use. */
typedef struct fpemu_range {
    uint64_t count;     /* elements */
    uint64_t nonzero;   /* finite elements other than zero */
    uint64_t nonfinite; /* NaN and infinities; all below is of the finite elements */
    double amax;        /* largest |x| */
    double max, min;    /* largest and smallest x; 0 if there is none on that side of zero */
    double log2_max;    /* s2fp8: largest log2|x|, where nonzero > 0 */
    uint64_t log2_low;  /* s2fp8: sum of log2|x| in steps of 2^-32, a two's complement number of 128 bits: low half;
                           absmean: sum of |x| in steps of 2^-46 */
    int64_t log2_high;  /* high half */
    uint64_t reserved0[3];
} fpemu_range;
FPEMU_STATIC_ASSERT(sizeof(fpemu_range) == 96, "fpemu_range has no unnamed padding");

/* Adds n elements to *range; their logarithms too where `format` needs them. A tensor may be measured in any pieces and
 * in any order, the range is the same. n = 0 adds nothing, x may be NULL then; FPEMU_ERROR_ARGUMENT for an array past
 * the end of memory, or a range that cannot be. */
fpemu_status fpemu_measure(const fpemu_format *format, fpemu_type type, size_t n, const void *x, fpemu_range *range);

/* Scales, and zero points of integers, that the caller gives (doc/blocks.md, 1.4): arrays of one number a block, in the
 * order of fpemu_packed_extent, apart from what a call writes. All binary32 numbers, whatever the data. */
typedef enum fpemu_zero_order {
    FPEMU_ZERO_NONE = 0,
    FPEMU_ZERO_AFTER = 1, /* q = round(x / s) + z: whole numbers within the integers' range */
    FPEMU_ZERO_BEFORE = 2 /* q = round(x / s + z): any finite number */
} fpemu_zero_order;
typedef struct fpemu_given {
    union {
        const float *scales; /* finite, at least 0; a block with another one becomes NaN. NULL: FPEMU_ERROR_NULL */
        uint64_t scales_word;
    };
    union {
        const float *zeros; /* NULL = none; for elements int(B), B at most 16, and rules absmax and reciprocal */
        uint64_t zeros_word;
    };
    float tensor;          /* nvfp4 rules: the tensor's scale d, the multiplier being [1/d]; 0 = as the rule finds it;
                              another number under other rules: FPEMU_ERROR_ARGUMENT */
    uint8_t order;         /* fpemu_zero_order: NONE without zeros, else one of the others (FPEMU_ERROR_ARGUMENT) */
    uint8_t reserved0[11]; /* 0 */
} fpemu_given;
FPEMU_STATIC_ASSERT(sizeof(fpemu_given) == 32, "fpemu_given has no unnamed padding");

/* A tensor of outer x rows x length x inner elements. Element (o, r, l, i) has the index ((o*rows + r)*length +
 * l)*inner + i, which is also its place in the random stream, whatever the strides are. Blocks run along `length`,
 * tiles along `rows` and `length`. For blocks along any axis of a contiguous tensor: outer = the product of the axes
 * before it, length = that axis, inner = the product of the axes after it, rows = 1; for tiles rows = the axis before
 * it. A size of 0 is a tensor without elements: calls on it succeed and touch nothing. */
typedef struct fpemu_shape {
    uint64_t outer, rows, length, inner;
    int64_t x_stride[4]; /* of x: elements from one index to the next along outer, rows, length, inner; all zero =
                            contiguous */
    int64_t y_stride[4]; /* of y, likewise; no two elements of y may share a place: each stride passes what the smaller
                            ones reach together, else FPEMU_ERROR_ARGUMENT */
    union {
        const fpemu_range *whole; /* the range of the tensor of which this is a slice, where the format has a scale of
                                     the whole tensor; delayed scaling: of earlier tensors. Numbers that the carrier
                                     does not have are rounded to it. NULL = this is all of it, and it is measured */
        uint64_t whole_word;
    };
    union {
        const fpemu_given *given; /* scales in place of those that the rule finds; NULL = none.
                                     FPEMU_ERROR_UNSUPPORTED for scalar formats (write group(ELEMENT,...)), s2fp8,
                                     levels, compatibility settings and zero points that do not go with the format.
                                     Unpacking uses the zero points alone; scales must be there all the same */
        uint64_t given_word;
    };
    uint64_t reserved0[2];
} fpemu_shape;
FPEMU_STATIC_ASSERT(sizeof(fpemu_shape) == 128, "fpemu_shape has no unnamed padding");

/* 1 x 1 x n x 1: an array. */
fpemu_shape fpemu_shape_vector(uint64_t n);
/* A contiguous tensor of `dimensions` sizes with blocks along axis `axis` (-1 is the last), tiles along that one and
 * the one before it. FPEMU_ERROR_ARGUMENT, and *shape all zero, where there is no such axis, or the
 * sizes, but those that are 0, make 2^64 elements or more. */
fpemu_status fpemu_shape_of(size_t dimensions, const uint64_t *sizes, int axis, fpemu_shape *shape);

/* --------------------------------------------------------------------------------------- values and scales */

/* The calls on tensors, here and below, use up to 160 kB of stack. */

/* fpemu_quantize for a tensor, of any format: a scalar one has no scales. y == x with the same strides is allowed,
 * another element that both share is not. FPEMU_ERROR_UNSUPPORTED for a rounding that the format has no meaning for: a
 * mode that its element lacks, a compatibility setting but for those of blocks in rounding.h. FPEMU_ERROR_ARGUMENT for
 * a shape or range that cannot be, and for strides that put two elements of y in one place. */
fpemu_status fpemu_quantize_tensor(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   const fpemu_shape *shape, const void *x, void *y, fpemu_stats *stats);

/* The scales of a tensor's blocks: those that fpemu_quantize_tensor and fpemu_pack use for the same x; where the format
 * has a search, in mode rne, else in every mode. Any of the three outputs may be NULL, not all:
 *   scales  one number a block, in the order of fpemu_packed_extent, fpemu_layout.blocks of them: s of doc/blocks.md,
 *           2. The value of an element is y = P * s, P a value of its format (nvfp4 rules: P * s * d; levels: 2.6)
 *   codes   their codes, as many unsigned integers of fpemu_layout.scale_bytes bytes in host byte order, the code in
 *           the low bits: of fpemu_format_scale, or the exponent in two's complement; bits of levels above
 *   tensor  the two numbers of the whole tensor: nvfp4 rules the multiplier u and the tensor's scale d, with
 *           FPEMU_OUTER_ROW those of each line: fpemu_layout.tensor_bytes / 4 numbers; s2fp8 alpha and beta; other
 *           rules 1 and 1
 * The y_stride of `shape` is not used. A block that becomes NaN has the scale NaN. Scales of 16-bit arrays are binary32
 * numbers. A bare power of two outside the carrier's range is 0 or infinity; its code is right. FPEMU_ERROR_UNSUPPORTED
 * for scalar formats, and for scales and codes of s2fp8, whose blocks have none; FPEMU_ERROR_OVERLAP where an output
 * overlaps an element of x or another output. */
fpemu_status fpemu_scales(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, const void *x,
                          void *scales, void *codes, float *tensor);

/* ------------------------------------------------------------------------------------------- packed bytes */

/* Where what lies in the packed bytes of a tensor (doc/blocks.md, 4): first the two binary32 numbers of the whole
 * tensor where the format has them, then the blocks' scales in block order, then the elements. Offsets and sizes are in
 * bytes, sizes of elements in bits. A tensor without elements has no bytes; one of more than 2^59 elements,
 * or of 2^64 bits or more, is refused (FPEMU_ERROR_ARGUMENT). */
typedef struct fpemu_layout {
    uint64_t bytes;         /* in all */
    uint64_t blocks;        /* number of blocks; of a scalar format: of lines along `length` */
    uint64_t tensor_offset; /* nvfp4: multiplier and scale; s2fp8: alpha and beta */
    uint64_t tensor_bytes;  /* 8, or 8 a line of FPEMU_OUTER_ROW, or 0 where there are none */
    uint64_t scales_offset;
    uint64_t scale_bytes; /* of one scale, levels and second number included: 0, 1, 2, 4 or 8 */
    uint64_t elements_offset;
    uint64_t element_bits;
    uint64_t block_elements; /* of a full block */
    uint64_t block_bytes;    /* its elements' bytes */
    uint64_t reserved0[2];
} fpemu_layout;
FPEMU_STATIC_ASSERT(sizeof(fpemu_layout) == 96, "fpemu_layout has no unnamed padding");

/* Where one block lies. */
typedef struct fpemu_extent {
    uint64_t elements; /* how many it has */
    uint64_t offset;   /* of its elements' first byte in the packed bytes */
    uint64_t scale;    /* offset of its scale's code */
    uint64_t first;    /* index of its first element in the tensor */
    uint64_t reserved0[4];
} fpemu_extent;
FPEMU_STATIC_ASSERT(sizeof(fpemu_extent) == 64, "fpemu_extent has no unnamed padding");

/* On failure *layout is all zero. */
fpemu_status fpemu_packed_layout(const fpemu_format *format, const fpemu_shape *shape, fpemu_layout *layout);
/* Its `bytes`; 0 for what fpemu_packed_layout refuses. */
uint64_t fpemu_packed_size(const fpemu_format *format, const fpemu_shape *shape);
/* Of block 0, 1, ...; FPEMU_ERROR_ARGUMENT past the last. On failure *extent is all zero. */
fpemu_status fpemu_packed_extent(const fpemu_format *format, const fpemu_shape *shape, uint64_t block,
                                 fpemu_extent *extent);

/* Values to packed bytes and back: fpemu_packed_size of them, at any alignment, that overlap no element. unpack gives
 * what fpemu_quantize_tensor gives for the same x; a NaN without a code becomes the value of the code that the NaN
 * policy names, and an infinity that FPEMU_COMPAT_LEE_INF would make is what fpemu_encode makes of it. Bits between
 * blocks are written 0 and not read. Stats are as there; error sums of a scalar format by lines. */
fpemu_status fpemu_pack(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                        const fpemu_shape *shape, const void *x, void *bytes, fpemu_stats *stats);
fpemu_status fpemu_unpack(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, const void *bytes,
                          void *y);

/* Blocks first .. first+count-1 of a tensor's packed bytes: `bytes` are those of the whole tensor, x and y hold the
 * elements of just these blocks, one after the other in block order. Random bits are those of the elements' indices in
 * the tensor. The numbers of the whole tensor are read from the bytes, where the last fpemu_pack or
 * fpemu_pack_tensor_scales left them; with 4over6 rules from shape->whole (FPEMU_ERROR_NULL without it). Those of lines
 * (FPEMU_OUTER_ROW) are written too. FPEMU_ERROR_ARGUMENT for blocks that there are not, or packing part of a line. */
fpemu_status fpemu_pack_blocks(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                               const fpemu_shape *shape, uint64_t first, uint64_t count, const void *x, void *bytes,
                               fpemu_stats *stats);
fpemu_status fpemu_unpack_blocks(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, uint64_t first,
                                 uint64_t count, const void *bytes, void *y);

/* The scales of blocks first .. first+count-1 from a tensor's packed bytes, as fpemu_scales has them; of a code of NaN
 * a NaN, of an infinity an infinity. FPEMU_ERROR_UNSUPPORTED for scalar formats and s2fp8. */
fpemu_status fpemu_unpack_scales(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, uint64_t first,
                                 uint64_t count, const void *bytes, void *scales);

/* Writes the numbers of the whole tensor that follow from shape->whole into its packed bytes, nothing where the format
 * has none, or of lines. Then fpemu_pack_blocks can pack the tensor piece by piece. FPEMU_ERROR_ARGUMENT for a range
 * that no tensor has. */
fpemu_status fpemu_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape, void *bytes);

/* Scale codes of one byte each, rows x columns, from row-major order to the order in which tensor cores read them, and
 * back (cuBLAS's layout of 1D block scales: tiles of 128 x 4, padded with 0). fpemu_swizzled_size is the size of the
 * swizzled array, 0 where it would pass 2^64. The arrays do not overlap. */
uint64_t fpemu_swizzled_size(uint64_t rows, uint64_t columns);
fpemu_status fpemu_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to);
fpemu_status fpemu_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to);

/* ---------------------------------------------------------------------------------------- delayed scaling */

/* The largest magnitudes of the last `length` tensors, which decide the next scale. New: all zero but `history` and
 * `length`. */
typedef struct fpemu_delayed {
    union {
        double *history; /* the caller's array of `length` numbers */
        uint64_t history_word;
    };
    uint32_t length;   /* 1 and more; with 1 the previous tensor decides */
    uint32_t filled;   /* how many are in use */
    uint32_t next;     /* where the next one goes */
    uint32_t latest;   /* 0: the largest of the history decides; 1: the most recent */
    fpemu_range range; /* for fpemu_shape.whole: its amax is the history's. All zero at first: the scale is 1 */
} fpemu_delayed;
FPEMU_STATIC_ASSERT(sizeof(fpemu_delayed) == 120, "fpemu_delayed has no unnamed padding");

/* Takes in the range of the tensor just seen: its amax goes to the history, its count and nonzero to state->range. One
 * with a NaN, an infinity, or an amax that is no number above 0 is left out, and the range stays. */
fpemu_status fpemu_delayed_update(fpemu_delayed *state, const fpemu_range *seen);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_TENSOR_H */
