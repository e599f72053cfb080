/* arguments.c - see arguments.h */
#include "cli/cli.h"

#include "cli/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/number.h"

enum { LONGEST_WORD = 1 << 16 }; /* binary64 needs at most 1077 characters */

words words_start(char **operand, int operands, int first)
{
    words w = {.line = 1};
    if (operands > first) {
        w.operand = operand;
        w.operands = operands;
        w.next = first;
    }
    return w;
}

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *next_from_stdin(words *w)
{
    static char text[LONGEST_WORD + 1];
    int c;
    while (is_space(c = getc(stdin))) {
        w->line += c == '\n';
    }
    w->word_line = w->line;
    size_t length = 0;
    for (; c != EOF && !is_space(c); c = getc(stdin)) {
        if (length == LONGEST_WORD) {
            cli_fail("standard input, line %" PRIu64 ": a word of more than %d characters", w->word_line, LONGEST_WORD);
        }
        text[length++] = c != '\0' ? (char)c : '?'; /* so that the word does not seem to end here */
    }
    w->line += c == '\n';
    if (ferror(stdin)) {
        cli_fail("standard input: %s", strerror(errno));
    }
    text[length] = '\0';
    return length > 0 ? text : NULL;
}

const char *words_next(words *w)
{
    if (w->operand == NULL) {
        return next_from_stdin(w);
    }
    return w->next < w->operands ? w->operand[w->next++] : NULL;
}

void words_refuse(const words *w, const char *word, const char *kind)
{
    if (w->operand != NULL) {
        cli_usage("'%s' is no %s", word, kind);
    }
    cli_fail("standard input, line %" PRIu64 ": '%.100s' is no %s", w->word_line, word, kind);
}

bool words_next_number(words *w, bool binary64, double *x)
{
    const char *text = words_next(w);
    float narrow;
    if (text == NULL) {
        return false;
    }
    if (binary64 ? !number_read_f64(text, x) : !number_read_f32(text, &narrow)) {
        words_refuse(w, text, "number");
    }
    if (!binary64) {
        *x = (double)narrow;
    }
    return true;
}

void words_check_numbers(char **operand, int operands, int first, bool binary64)
{
    if (operands > first) {
        words w = words_start(operand, operands, first);
        for (double x; words_next_number(&w, binary64, &x);) {
        }
    }
}
