/* SPDX-License-Identifier: BSD-2-Clause */
/* near.h - did you mean: the known words that an unknown one resembles. */
#ifndef COMMON_NEAR_H
#define COMMON_NEAR_H

enum { NEAR_MOST = 3 };

/* A search among candidates, one after the other; `word` and the candidates must stay. */
typedef struct near_search {
    const char *word, *found[NEAR_MOST];
    const char *before;  /* "" or "--": to be put before what was found */
    int count, distance; /* of those that were found, which are equally near */
    char text[160];
} near_search;

near_search near_start(const char *word);
/* A candidate is near if few letters are missing, extra, different or swapped, if the word is its beginning, or if both
 * have the same last part after a '_'. */
void near_try(near_search *n, const char *candidate);
/* " (did you mean 'run' or 'report'?)", or nothing: to be put behind the word. */
const char *near_text(near_search *n);

#endif
