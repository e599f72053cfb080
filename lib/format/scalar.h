/* SPDX-License-Identifier: BSD-2-Clause */
/* scalar.h - formats without blocks: what follows from their parameters. */
#ifndef FPEMU_FORMAT_SCALAR_H
#define FPEMU_FORMAT_SCALAR_H

#include "parameters.h"

/* Derives the rest of a format of a known kind, whose policies are set, and whose fields of other kinds are zero. 1 on
 * success; else *problem is set and *format is left half done. */
int fpemu_derive_scalar(fpemu_format *format, fpemu_problem *problem);
int fpemu_derive_float(fpemu_format *format, fpemu_problem *problem);

/* Sets the parameters of a float, with the default policies, the rest zero. */
void fpemu_set_float(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t bias,
                     uint32_t specials, int is_signed);
/* Sets the parameters that the notation stands for. Numbers out of any range are refused, never truncated. */
int fpemu_set_lee(fpemu_format *format, int64_t exponent_bits, int64_t mantissa_bits, int64_t b,
                  fpemu_problem *problem);
int fpemu_set_p3109(fpemu_format *format, int64_t k, int64_t p, int is_signed, int has_infinity,
                    fpemu_problem *problem);

/* Whether every value of a derived scalar format is a number of `precision` bits, a multiple of 2^quantum and below
 * 2^(emax + 1) in magnitude; of integers, every value in binary32. */
int fpemu_scalar_fits(const fpemu_format *format, int precision, int quantum, int emax);

/* The bias that FPEMU_BIAS_DEFAULT stands for; exponent_bits >= 1. */
int32_t fpemu_default_bias(uint32_t exponent_bits, uint32_t specials);

/* Code of the smallest positive value of a float. */
uint64_t fpemu_smallest_code(const fpemu_format *format);

/* 1 if all parameters of the scalar format (of the element, where there are blocks) agree but for policies; 1 if those
 * do. */
int fpemu_same_scalar(const fpemu_format *a, const fpemu_format *b);
int fpemu_same_policies(const fpemu_format *a, const fpemu_format *b);

#endif /* FPEMU_FORMAT_SCALAR_H */
