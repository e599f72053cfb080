/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - see words.h */
#include "cli/words.h"

#include <stdbool.h>

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The first character of a word, or EOF. */
static int skip(words *w)
{
    bool passed_over = false;
    int c;
    while ((c = getc(w->file)) != EOF) {
        passed_over = passed_over || (w->comment != 0 && c == w->comment);
        if (!passed_over && !is_space(c))
            break;
        w->line += c == '\n';
        passed_over = passed_over && c != '\n';
    }
    return c;
}

words_found words_next(words *w, char *text, size_t size)
{
    size_t length = 0;
    int c = skip(w);
    w->word_line = w->line;
    for (; c != EOF && !is_space(c) && (w->comment == 0 || c != w->comment); c = getc(w->file)) {
        if (length + 1 == size)
            break;
        text[length++] = c != '\0' ? (char)c : '?';
        text[length] = '\0';
    }
    if (ferror(w->file))
        return WORDS_FAILED;
    if (c == EOF)
        return length > 0 ? WORDS_WORD : WORDS_END;
    ungetc(c, w->file);
    return is_space(c) || (w->comment != 0 && c == w->comment) ? WORDS_WORD : WORDS_LONG;
}
