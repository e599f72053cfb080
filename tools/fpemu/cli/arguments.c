/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c - see arguments.h */
#include "cli/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"

enum { LONGEST_WORD = 1 << 16 }; /* binary64 needs at most 1077 characters */

arguments arguments_start(char **operand, int operands, int first)
{
    arguments a = {.input = {.file = stdin, .line = 1}};
    if (operands > first) {
        a.operand = operand;
        a.operands = operands;
        a.next = first;
    }
    return a;
}

static const char *next_from_stdin(arguments *a)
{
    static char text[LONGEST_WORD + 1];
    switch (words_next(&a->input, text, sizeof text)) {
    case WORDS_WORD: return text;
    case WORDS_END: return NULL;
    case WORDS_LONG:
        cli_fail("standard input, line %" PRIu64 ": a word of more than %d characters", a->input.word_line,
                 LONGEST_WORD);
    case WORDS_FAILED: break;
    }
    cli_fail("standard input: %s", strerror(errno));
}

const char *arguments_next(arguments *a)
{
    if (a->operand == NULL)
        return next_from_stdin(a);
    return a->next < a->operands ? a->operand[a->next++] : NULL;
}

void arguments_refuse(const arguments *a, const char *word, const char *kind)
{
    if (a->operand != NULL)
        cli_usage("'%s' is no %s", word, kind);
    cli_fail("standard input, line %" PRIu64 ": '%.100s' is no %s", a->input.word_line, word, kind);
}

bool arguments_next_number(arguments *a, bool binary64, double *x)
{
    const char *text = arguments_next(a);
    float narrow;
    if (text == NULL)
        return false;
    if (binary64 ? !number_read_f64(text, x) : !number_read_f32(text, &narrow))
        arguments_refuse(a, text, "number");
    if (!binary64)
        *x = (double)narrow;
    return true;
}

void arguments_check_numbers(char **operand, int operands, int first, bool binary64)
{
    if (operands > first) {
        arguments a = arguments_start(operand, operands, first);
        for (double x; arguments_next_number(&a, binary64, &x);) {
        }
    }
}
