/* SPDX-License-Identifier: BSD-2-Clause */
/* near.c - see near.h */
#include "common/near.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40, FAR = 1000 };

static int least(int a, int b, int c)
{
    const int low = a < b ? a : b;
    return low < c ? low : c;
}

/* Letters to put in, take out or change, and neighbours to swap, until a is b. */
static int distance_of(const char *a, const char *b)
{
    const int m = (int)strlen(a), n = (int)strlen(b);
    int rows[3][LONGEST + 1]; /* this one and the two before it */
    if (m > LONGEST || n > LONGEST)
        return FAR;
    for (int i = 0; i <= m; i++) {
        int *row = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            row[j] = i == 0 ? j : least(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && second[j - 2] + 1 < row[j])
                row[j] = second[j - 2] + 1;
        }
    }
    return rows[m % 3][n];
}

/* Of "train_limit" it is "limit"; of one part all. */
static const char *last_part(const char *word)
{
    const char *mark = strrchr(word, '_');
    return mark != NULL ? mark + 1 : word;
}

near_search near_start(const char *word)
{
    return (near_search){.word = word, .before = "", .distance = FAR};
}

void near_try(near_search *n, const char *candidate)
{
    const size_t length = strlen(n->word);
    const int most = length < 4 ? 1 : length < 8 ? 2 : 3;
    const bool begins = length > 1 && strncmp(candidate, n->word, length) == 0;
    const char *last = last_part(n->word);
    const bool ends = last != n->word && strlen(last) > 3 && strcmp(last, last_part(candidate)) == 0;
    int distance = begins ? 1 : distance_of(n->word, candidate);
    if (ends && distance > most)
        distance = most;
    if (length == 0 || distance > most || distance > n->distance || (size_t)distance >= length)
        return;
    if (distance < n->distance) {
        n->count = 0;
        n->distance = distance;
    }
    if (n->count < NEAR_MOST)
        n->found[n->count++] = candidate;
}

const char *near_text(near_search *n)
{
    size_t used = 0;
    n->text[0] = '\0';
    for (int i = 0; i < n->count; i++) {
        const char *link = i == 0 ? " (did you mean " : i + 1 < n->count ? ", " : " or ";
        used += (size_t)snprintf(n->text + used, sizeof n->text - used, "%s'%s%.40s'", link, n->before, n->found[i]);
    }
    if (used > 0)
        snprintf(n->text + used, sizeof n->text - used, "?)");
    return n->text;
}
