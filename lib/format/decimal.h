/* SPDX-License-Identifier: BSD-2-Clause */
/* decimal.h - decimal numbers of specs, whatever the locale and the rounding direction. */
#ifndef FPEMU_FORMAT_DECIMAL_H
#define FPEMU_FORMAT_DECIMAL_H

#include "text.h"

/* k * 2^exponent; the caller knows that it is a number of binary64. */
double fpemu_exact(uint64_t k, int exponent);

/* The binary64 number nearest (RNE) to decimal text of the form digits[.digits][e[+-]digits], at least one digit in
 * all, `length` <= FPEMU_SPEC_LENGTH; infinity beyond the largest. Neither locale nor rounding direction matter. */
double fpemu_decimal_read(const char *text, size_t length);

/* Writes the shortest decimal that reads back as x > 0, finite; of several the nearest. Zero-terminated. */
#define FPEMU_DECIMAL_SIZE 32
void fpemu_decimal_print(double x, char text[FPEMU_DECIMAL_SIZE]);

#endif /* FPEMU_FORMAT_DECIMAL_H */
