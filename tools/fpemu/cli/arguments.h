/* arguments.h - the texts that a command works on: its operands or, without any, the words of standard input. */
#ifndef FPEMU_TOOL_WORDS_H
#define FPEMU_TOOL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct words {
    char **operand; /* NULL: standard input */
    int operands, next;
    uint64_t line, word_line; /* lines begun so far; the line of the last word */
} words;

/* The operands from number `first` on. */
words words_start(char **operand, int operands, int first);
/* The next word, NULL at the end; valid until the next call. */
const char *words_next(words *w);
/* Ends the program: the last word is no `kind`. From an operand that is a usage error, from standard input a failure
 * that names the line. */
_Noreturn void words_refuse(const words *w, const char *word, const char *kind);

/* The next word as a number, read as binary32 or binary64; false at the end. */
bool words_next_number(words *w, bool binary64, double *x);
/* Refuses a bad number among the operands before anything is printed. */
void words_check_numbers(char **operand, int operands, int first, bool binary64);

#endif
