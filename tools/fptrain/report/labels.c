/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c - see labels.h */
#include "report/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The last `names` names of the first `length` bytes of a path; *whole: there are no more. */
static size_t start_of(const char *path, size_t length, int names, bool *whole)
{
    size_t at = length;
    for (; at > 0; at--)
        if (path[at - 1] == '/' && --names == 0)
            break;
    *whole = at == 0;
    return at;
}

static size_t without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* False: some are alike. *all: more names would change nothing. */
static bool try_names(int count, const char *const *paths, int names, char **labels, bool *all)
{
    bool differ = true;
    *all = true;
    for (int i = 0; i < count; i++) {
        bool whole;
        const size_t length = without_slashes(paths[i]), from = start_of(paths[i], length, names, &whole);
        *all = *all && whole;
        memcpy(labels[i], paths[i] + (from < length ? from : 0), length - (from < length ? from : 0));
        labels[i][length - (from < length ? from : 0)] = '\0';
        for (int k = 0; k < i; k++)
            differ = differ && strcmp(labels[k], labels[i]) != 0;
    }
    return differ;
}

static void number(int count, char **labels)
{
    for (int i = count - 1; i > 0; i--) {
        int before = 0;
        for (int k = 0; k < i; k++)
            before += strcmp(labels[k], labels[i]) == 0;
        if (before)
            snprintf(labels[i] + strlen(labels[i]), 16, " (%d)", before + 1);
    }
}

char **labels_make(int count, const char *const *paths)
{
    char **labels = need((size_t)count + 1, sizeof *labels);
    bool all = false;
    for (int i = 0; i < count; i++)
        labels[i] = need(strlen(paths[i]) + 20, 1);
    for (int names = 1; !try_names(count, paths, names, labels, &all); names++) {
        if (!all)
            continue;
        number(count, labels);
        break;
    }
    return labels;
}

void labels_free(int count, char **labels)
{
    for (int i = 0; i < count; i++)
        free(labels[i]);
    free(labels);
}
