/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - the words of a text: what stands between white space. */
#ifndef FPEMU_TOOL_WORDS_H
#define FPEMU_TOOL_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct words {
    FILE *file;
    int comment;              /* from this character on a line is passed over; 0: none */
    uint64_t line, word_line; /* where the text is, from 1, and where the last word began */
} words;

typedef enum words_found {
    WORDS_WORD,
    WORDS_LONG,  /* the word does not fit: its beginning is in `text` */
    WORDS_END,   /* no more words */
    WORDS_FAILED /* the file cannot be read: errno */
} words_found;

/* The next word, and a NUL; one within the word becomes '?', so that it does not seem to end there. No more of a file
 * is read than the word and what is before and just behind it. */
words_found words_next(words *w, char *text, size_t size);

#endif
