/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu_dpi.h - libfpemu for a simulator, by plain integers: SystemVerilog's DPI-C (fpemu_dpi.svh), a formal tool's C
 * side, or any C and C++ program (C links libm too).
 *
 * Formats and models are handles from texts; numbers are codes, right-aligned. Calls return 0, or -1 where they refuse;
 * fpemu_dpi_error() says why. Nothing is allocated; calls of several threads at a time are not allowed.
 *
 * Flags, in RISC-V's order: 01 inexact, 02 underflow, 04 overflow, 08 division by zero, 10 invalid; and 20, the result
 * is subnormal. They are the counters of the library: an inexact subnormal result is no underflow.
 *
 * Vectors are SystemVerilog's packed ones: FPEMU_DPI_WORDS words of 32 bits, the lowest first. Lane i of w bits is
 * v[i*w +: w], with w = fpemu_dpi_bits(format). */
#ifndef FPEMU_DPI_H
#define FPEMU_DPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FPEMU_DPI_WORDS = 256, FPEMU_DPI_HANDLES = 64 };

/* Why the last call refused; "" at first. */
const char *fpemu_dpi_error(void);
/* A handle, 0 and up, for a spec such as "e4m3fn:saturate" or "mxfp4", or a model such as "tc(h100,e4m3fn)"; the same
 * text gives the same one. -1 for another text, or more than FPEMU_DPI_HANDLES of them. */
int fpemu_dpi_format(const char *spec);
int fpemu_dpi_model(const char *text);
/* The number of a rounding mode by name: "rne" is 0, ... "sr" is 8; the bits of a format's codes. -1: none such. */
int fpemu_dpi_mode(const char *name);
int fpemu_dpi_bits(int format);

/* A conversion, and an operation by its number (fpemu_operation: 0 add, 1 sub, 2 mul, 3 div, 4 sqrt, 5 fma, 6 minimum,
 * ...), whose operands have formats of their own; b and c, where it has none, are not looked at.
 *
 * With mode sr the result is rounded by the random bits that are given: `random` holds `random_bits` of them, 1 to 32,
 * right-aligned, and the larger magnitude is taken where floor(v * 2^random_bits) + random >= 2^random_bits, v the
 * distance to the smaller one in steps (variant a). Other modes do not look at them. Mode se is refused. */
int fpemu_dpi_convert(int from, int to, int mode, long long code, int random_bits, int random, long long *result,
                      int *flags);
int fpemu_dpi_operate(int operation, int from_a, int from_b, int from_c, int to, int mode, long long a, long long b,
                      long long c, int random_bits, int random, long long *result, int *flags);

/* A dot product of `length` products, 1 to 256, added up as the model says, plus c (a code of `to`) unless the model
 * starts from it, rounded to `to`; without c where has_c is 0. `scale` is the format of the scales of the model's
 * blocks, one lane a block, or -1: none. Mode sr is refused. The flags are those of all roundings on the way,
 * subnormal is about the result. */
int fpemu_dpi_dot(int model, int from_a, int from_b, int scale, int to, int mode, int length, const uint32_t *a,
                  const uint32_t *b, const uint32_t *scales_a, const uint32_t *scales_b, int has_c, long long c,
                  long long *result, int *flags);

/* A tensor of `length` binary32 numbers, lanes of 32 bits, 1 to 256, in a format with blocks: *bytes packed bytes as
 * fpemu_pack lays them out (numbers of the tensor, scales, elements), byte i in packed[8*i +: 8]; bits above are 0.
 * Mode sr is refused. */
int fpemu_dpi_quantise(int format, int mode, int length, const uint32_t *x, uint32_t *packed, int *bytes);

#ifdef __cplusplus
}
#endif

#endif
