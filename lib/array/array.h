/* SPDX-License-Identifier: BSD-2-Clause */
/* array.h - what the calls on arrays, here and in lib/gemm, share beyond the public header. */
#ifndef FPEMU_ARRAY_ARRAY_H
#define FPEMU_ARRAY_ARRAY_H

#include "format/environment.h"
#include "core/reason.h"
#include "fpemu.h"
#include "loops/loops.h"
#include "names.h"

/* For functions of which one or the other is called: inlined, each would have its place on the stack all the time. */
#define APART __attribute__((noinline))

/* Random bits (left-aligned in 32) of elements i, i+1, ... */
void fpemu_random_fill(const kernels *k, const fpemu_rounding *r, uint64_t i, size_t n, uint32_t *out);

/* The exact result of a function of a binary32 number, given as binary64 bits. */
core_exact fpemu_function_exact(fpemu_function function, uint64_t bits);

/* What differs between the carriers of a call (an fpemu_type). The narrow ones are binary32 with words in memory. */
static inline int carrier_is_narrow(int carrier)
{
    return carrier == FPEMU_TYPE_F16 || carrier == FPEMU_TYPE_BF16;
}

static inline int is_type(int type)
{
    return type == FPEMU_TYPE_F32 || type == FPEMU_TYPE_F64 || carrier_is_narrow(type);
}

static inline int carrier_wide(int carrier)
{
    return carrier == FPEMU_TYPE_F64 ? 64 : 32;
}

static inline size_t carrier_size(int carrier)
{
    return carrier == FPEMU_TYPE_F64 ? sizeof(double) : carrier == FPEMU_TYPE_F32 ? sizeof(float) : 2;
}

/* A call of the carrier's function, whose first argument is the type of the caller's arrays; or that this is none. */
#define FOR_TYPE(type, function, ...)                                                                                  \
    ((type) == FPEMU_TYPE_F64 ? function##64((int)(type), __VA_ARGS__)                                                 \
     : is_type((int)(type))   ? function##32((int)(type), __VA_ARGS__)                                                 \
                              : FPEMU_ERROR_ARGUMENT)

/* What arrays of binary32 or of a narrow carrier hold. */
static inline enum unpack_type carrier_type(int carrier)
{
    return carrier == FPEMU_TYPE_BF16 ? UNPACK_BF16 : carrier == FPEMU_TYPE_F16 ? UNPACK_F16 : UNPACK_FLOATS;
}

/* Words of a narrow carrier to binary32 and back. */
static inline void carrier_widen(const kernels *k, int carrier, size_t n, const void *x, float *y)
{
    k->widen16[carrier == FPEMU_TYPE_BF16](n, (const uint16_t *)x, y);
}

static inline void carrier_narrow(const kernels *k, int carrier, size_t n, const float *x, void *y)
{
    k->narrow16[carrier == FPEMU_TYPE_BF16](n, x, (uint16_t *)y);
}

/* The status of a reason, which `why` (may be NULL) tells in words; f, r and type are those that words may need. */
fpemu_status fpemu_refuse(fpemu_why *why, core_reason reason, const fpemu_format *f, const fpemu_rounding *r, int type);
/* The name of a field that is out of range; NULL if none is. */
const char *fpemu_rounding_damage(const fpemu_rounding *r);

/* fpemu_check for a carrier, in the default floating-point environment. r = NULL: of the format alone. */
fpemu_status fpemu_check_call(const fpemu_format *f, const fpemu_rounding *r, int carrier, fpemu_why *why);

/* The same, and *scale becomes the format of the scales of f, where it has scales and they are floats: a constant, or
 * *own; else it is all zero. */
fpemu_status fpemu_check_scaled(const fpemu_format *f, const fpemu_rounding *r, int carrier, const fpemu_format **scale,
                                fpemu_format *own, fpemu_why *why);

/* Whether an fpemu_use looks at the rounding. */
static inline int fpemu_use_rounds(int use)
{
    return use != FPEMU_USE_DECODE && use != FPEMU_USE_UNPACK && use != FPEMU_USE_SCALES;
}

/* What an fpemu_use, arithmetic apart (core_arith_plan), asks of a format and a rounding that go together. */
core_reason fpemu_use_refused(const fpemu_format *f, const fpemu_rounding *r, int use);

/* Plans lie in the memory of an fpemu_prepared, so many bytes, all zero. */
#define PLAN_BYTES 2224
fpemu_status fpemu_arith_plan(void *plan, const fpemu_format *f, const fpemu_rounding *r, int use, int type);
/* n > 0 elements, in the default floating-point environment. */
fpemu_status fpemu_arith_run(const void *plan, const fpemu_rounding *r, size_t n, const void *const *operands,
                             const size_t *steps, const fpemu_operand_scales *scales, void *y, fpemu_stats *stats);

/* The random word and its bits, as the public functions but with a rounding known to be right. */
uint32_t fpemu_element_bits(const fpemu_rounding *r, uint64_t index);

/* Exponents of a carrier: -149..127 or -1074..1023, one bin each. */
#define EXPONENTS_F32 277
#define EXPONENTS_F64 2098

/* Bytes of a code of so many bits. */
static inline size_t code_size(uint32_t bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* What one thread gathers; joined into the caller's stats at its end. */
typedef struct gathering {
    fpemu_stats stats;   /* its histogram is not used */
    double lanes[3][32]; /* the open block of error sums */
    uint64_t bins[EXPONENTS_F64];
} gathering;

/* Begins: `want` is the caller's. */
void fpemu_gather_begin(gathering *g, uint32_t want, int carrier);
/* Counts of a tile, then (as wanted) its sums and exponents; `i` is the absolute index of its first element. */
void fpemu_gather_tile(gathering *g, int carrier, uint64_t i, size_t n, const void *x, const void *y,
                       const tile_counts *c);
/* Closes the open block of sums: those of a block of a blocked format are formed by themselves. */
void fpemu_gather_close(gathering *g);
/* Closes the open block of sums and adds everything to the caller's stats. */
void fpemu_gather_end(gathering *g, int carrier, fpemu_stats *to);

/* Whether the caller's fields of a stats are in range. */
fpemu_status fpemu_stats_check(const fpemu_stats *s);

#endif /* FPEMU_ARRAY_ARRAY_H */
