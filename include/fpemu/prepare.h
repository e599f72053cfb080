/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/prepare.h - calls that are prepared once and made often. */
#ifndef FPEMU_API_PREPARE_H
#define FPEMU_API_PREPARE_H

#include "arith.h"
#include "quantize.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A format, a rounding, a type and a use, checked and planned. It lies in the caller's memory, is constant once it is
 * made, may be used by many threads at a time and copied by assignment, and needs no freeing. It holds nothing of a
 * call, and of the caller's memory no pointer but that of a custom table's values, which must not change. It serves
 * the process that made it. All zero bits are none, and every call refuses it (FPEMU_ERROR_ARGUMENT). */
typedef struct fpemu_prepared {
    uint64_t state[320];
} fpemu_prepared;
FPEMU_STATIC_ASSERT(sizeof(fpemu_prepared) == 2560, "fpemu_prepared has no unnamed padding");

/* Where the elements of one call lie in the random streams: as in fpemu_rounding. A call that shall draw other numbers
 * than the last one has another stream, or an offset past the elements of the last one. */
typedef struct fpemu_place {
    uint64_t seed, stream, offset;
} fpemu_place;
FPEMU_STATIC_ASSERT(sizeof(fpemu_place) == 24, "fpemu_place has no unnamed padding");

/* `use`: an fpemu_use, to which an operation or a function is added. Seed, stream and offset of the rounding are not
 * looked at, and none of it (NULL will do) for FPEMU_USE_DECODE, _UNPACK, _SCALES. Refuses FPEMU_USE_FUNCTION_TABLE and
 * what fpemu_check_use refuses, with the reason in *why (may be NULL); then *prepared is all zero. */
fpemu_status fpemu_prepare(fpemu_prepared *prepared, const fpemu_format *format, const fpemu_rounding *rounding,
                           fpemu_type type, int use, fpemu_why *why);

/* What fpemu_quantize, fpemu_encode, fpemu_decode or fpemu_apply does with n elements, or fpemu_pack and fpemu_unpack
 * with a vector of them; arrays, stats and errors are as there. `place` may be NULL where no random bits are drawn and
 * error sums need not go by an offset, else FPEMU_ERROR_NULL. `stats` is not looked at by what has none. */
fpemu_status fpemu_run(const fpemu_prepared *prepared, const fpemu_place *place, size_t n, const void *x, void *y,
                       fpemu_stats *stats);

/* The same for a tensor: fpemu_quantize_tensor, fpemu_pack, fpemu_unpack. FPEMU_ERROR_ARGUMENT for other uses. */
fpemu_status fpemu_run_tensor(const fpemu_prepared *prepared, const fpemu_place *place, const fpemu_shape *shape,
                              const void *x, void *y, fpemu_stats *stats);

/* fpemu_arith_scaled, or with scales = NULL fpemu_arith. FPEMU_ERROR_ARGUMENT for what is no operation. */
fpemu_status fpemu_run_operation(const fpemu_prepared *prepared, const fpemu_place *place, size_t n,
                                 const void *const *operands, const size_t *steps, const fpemu_operand_scales *scales,
                                 void *y, fpemu_stats *stats);

/* fpemu_scales. FPEMU_ERROR_ARGUMENT for another use. */
fpemu_status fpemu_run_scales(const fpemu_prepared *prepared, const fpemu_shape *shape, const void *x, void *scales,
                              void *codes, float *tensor);

#ifdef __cplusplus
}

/* C++ does not add enumerations to one another: FPEMU_USE_OPERATION + FPEMU_OPERATION_ADD is an int, as in C. */
constexpr int operator+(fpemu_use use, fpemu_operation operation)
{
    return static_cast<int>(use) + static_cast<int>(operation);
}
constexpr int operator+(fpemu_use use, fpemu_function function)
{
    return static_cast<int>(use) + static_cast<int>(function);
}
#endif

#endif /* FPEMU_API_PREPARE_H */
