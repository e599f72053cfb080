/* SPDX-License-Identifier: BSD-2-Clause */
/* operation.h - the operations that fuzz and vectors are about: those of the library, and conversion. */
#ifndef FPEMU_TOOL_OPERATION_H
#define FPEMU_TOOL_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "fpemu.h"

enum { OPERATION_MOST = 3 }; /* operands */

typedef struct operation {
    const char *name;
    int operands;
    bool converts; /* then there is no `code` */
    fpemu_operation code;
} operation;

/* The operation of that name, or NULL. */
const operation *operation_search(const char *name);
/* By the argument of --op; a usage error that lists the names otherwise, and behind them `others`, which the command
 * has too. */
const operation *operation_find(const char *name, const char *others);

/* The exact result in binary64, rounded to odd: it lies on the same side of whatever has fewer bits. For a conversion
 * the operand. */
double operation_exact(const operation *o, const double operands[OPERATION_MOST]);

/* Results of n operations, as values of `format`; a conversion quantises. Ends the program where the library refuses,
 * `spec` saying what was asked for. */
void operation_run(const operation *o, const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                   const double *const operands[OPERATION_MOST], double *y, fpemu_stats *stats, const char *spec);

#endif
