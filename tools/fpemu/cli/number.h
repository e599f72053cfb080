/* SPDX-License-Identifier: BSD-2-Clause */
/* number.h - numbers as text: exactly read, shortest printed. The locale is always "C": nobody calls setlocale. */
#ifndef FPEMU_TOOL_NUMBER_H
#define FPEMU_TOOL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text as a number, correctly rounded to the nearest value of the type: decimal, hexadecimal (0x1.8p3), inf,
 * infinity, nan, with or without a sign. False if it is anything else. */
bool number_read_f32(const char *text, float *value);
bool number_read_f64(const char *text, double *value);

/* The shortest decimal that reads back as exactly this binary64, laid out without an exponent from 1e-4 up to 1e16;
 * "inf", "-inf", "nan", "-0". Returns `text`. */
#define NUMBER_SIZE 48
const char *number_print(char text[NUMBER_SIZE], double value);
/* The same in C99 hexadecimal. */
const char *number_print_hex(char text[NUMBER_SIZE], double value);

/* A bit pattern: 0x and as many digits as `bits` bits need. */
const char *number_print_code(char text[NUMBER_SIZE], uint64_t code, unsigned bits);
/* An element of an array of codes, `size` bytes each (1, 2, 4 or 8, host byte order), and the way back. */
uint64_t number_load_code(const void *codes, size_t size, size_t i);
void number_store_code(void *codes, size_t size, size_t i, uint64_t code);

#endif
