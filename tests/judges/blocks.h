/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.h - the slow judge of blocked formats: doc/blocks.md in exact numbers, one element at a time.
 *
 * Shares no code with the library. A bracket of the definition is an exact rational rounded once, by integers; elements
 * and scales are rounded by the slow judge of scalar formats, codebooks here. Of fpemu_format only the parameters are
 * read. Numbers travel as bits of the carrier (32 or 64), right-aligned.
 */
#ifndef REF_BLOCKS_H
#define REF_BLOCKS_H

#include "bits.h"
#include "judge.h"

typedef struct ref_element {
    uint64_t y; /* value to value */
    uint64_t code;
    uint32_t events; /* as the judge's of scalar formats */
    int nan_error;   /* the NaN policy `error` applies */
    double t, p;     /* what the element format saw (as binary64 holds it), and made of it */
} ref_element;

typedef struct ref_block {
    uint64_t elements, first; /* how many; where they begin in ref_tensor.order */
    uint64_t code;            /* of the scale */
    double scale;             /* its value times 2^-exponent */
    long exponent;
    double down, zero_point, offset, add; /* doc/blocks.md, 2.7: multiplier of elements or 0; z; what is taken off x;
                                             what is added to y */
    int order;                            /* what the second number of the block does, or 0 */
    int zero, nan, saturated;
} ref_block;

typedef struct ref_tensor {
    uint64_t n, blocks;
    unsigned carrier;
    uint64_t *order; /* index of each element, block after block */
    ref_block *block;
    ref_element *element;     /* by index */
    uint64_t lines;           /* that have numbers of their own, or 1 */
    float (*line)[2];         /* nvfp4: u, d of each, when the judge has quantised it */
    float multiplier, decode; /* of the last */
    float amax, most;         /* and A, [K*T] */
    const fpemu_given *given; /* of the shape */
} ref_tensor;

/* x: the elements by index, whatever the strides of `shape`, which are ignored. NULL where the judge has no opinion: a
 * mode the element lacks, a carrier that cannot hold it. Not for s2fp8. */
ref_tensor *ref_quantize(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier,
                         const fpemu_shape *shape, const uint64_t *x);
void ref_free(ref_tensor *t);
/* The blocks and the order of their elements alone. */
ref_tensor *ref_lay_out(const fpemu_format *format, unsigned carrier, const fpemu_shape *shape);

/* What is counted of it (doc/blocks.md, section 7): all but the sums, with the caller's histograms, into *stats; the
 * sums of |x - y|, (x - y)^2 and x^2, rounded once, into sums[0..2]. */
void ref_count(const ref_tensor *t, const uint64_t *x, fpemu_stats *stats, double sums[3]);

/* Bytes of one scale; the packed form of what was quantised (not s2fp8), and its size. */
unsigned ref_scale_bytes(const fpemu_format *format);
uint64_t ref_packed_size(const fpemu_format *format, const ref_tensor *t);
void ref_pack(const fpemu_format *format, const ref_tensor *t, unsigned char *bytes);

/* The values of the packed bytes of a tensor with these blocks (not s2fp8), by index, as the bits of the carrier. */
int ref_unpack(const fpemu_format *format, unsigned carrier, const ref_tensor *t, const unsigned char *bytes,
               uint64_t *y);

/* A table of doc/blocks.md, section 5, from exact rationals; `values` holds 2^bits. Returns its length. */
unsigned ref_codebook(unsigned name, unsigned bits, float *values);

/* S2FP8. What the tensor's numbers must be to, within the tolerance of the definition; and whether code and value of an
 * element agree with them. */
typedef struct ref_s2fp8 {
    double alpha_low, alpha_high, beta_low, beta_high;
} ref_s2fp8;
ref_s2fp8 ref_s2fp8_range(unsigned carrier, uint64_t n, const uint64_t *x);
int ref_s2fp8_element(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier, float alpha,
                      float beta, uint64_t x, uint64_t index, uint64_t code, uint64_t y);

#endif
