/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.h - the texts that a command works on: its operands or, without any, the words of standard input. */
#ifndef FPEMU_TOOL_ARGUMENTS_H
#define FPEMU_TOOL_ARGUMENTS_H

#include <stdbool.h>

#include "cli/words.h"

typedef struct arguments {
    char **operand; /* NULL: standard input */
    int operands, next;
    words input; /* else */
} arguments;

/* The operands from number `first` on. */
arguments arguments_start(char **operand, int operands, int first);
/* The next word, NULL at the end; valid until the next call. */
const char *arguments_next(arguments *a);
/* Ends the program: the last word is no `kind`. From an operand that is a usage error, from standard input a failure
 * that names the line. */
_Noreturn void arguments_refuse(const arguments *a, const char *word, const char *kind);

/* The next word as a number, read as binary32 or binary64; false at the end. */
bool arguments_next_number(arguments *a, bool binary64, double *x);
/* Refuses a bad number among the operands before anything is printed. */
void arguments_check_numbers(char **operand, int operands, int first, bool binary64);

#endif
