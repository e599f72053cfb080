/* SPDX-License-Identifier: BSD-2-Clause */
/* fingerprint.c - see fingerprint.h */
#include "data/fingerprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/shown.h"

enum { MOST_CHANNELS = 16, MOST_TOKENS = 1 << 22 }; /* that are told, that are looked at */

static unsigned long checksum(const void *bytes, size_t size)
{
    return crc32_z(0, bytes, size);
}

static void print_split(FILE *file, const char *key, const dataset *d, const split *s, const uint16_t *text)
{
    const size_t looked = s->count < MOST_TOKENS ? s->count : MOST_TOKENS;
    fprintf(file, "%s %zu %08lx\n", key, s->count,
            d->text ? checksum(text, looked * sizeof *text) : checksum(s->labels, s->count * sizeof *s->labels));
}

static void print_numbers(FILE *file, const char *key, const double *number, int count)
{
    fputs(key, file);
    for (int c = 0; c < count && count <= MOST_CHANNELS; c++)
        fprintf(file, " %.17g", number[c]);
    if (count > MOST_CHANNELS)
        fprintf(file, " %08lx", checksum(number, (size_t)count * sizeof *number));
    fputc('\n', file);
}

char *fingerprint_text(const dataset *d)
{
    char *text = NULL;
    size_t length;
    FILE *file = needed(open_memstream(&text, &length));
    fprintf(file, "name %s\n", d->name);
    print_split(file, "training", d, &d->train, d->text);
    print_split(file, "test", d, &d->test, d->text ? d->text + d->text_length - d->test.count : NULL);
    fprintf(file, "measured %08lx\n", (unsigned long)d->measured);
    fprintf(file, "classes %d\n", d->classes);
    fprintf(file, "shape %d %d %d\n", d->c, d->h, d->w);
    print_numbers(file, "mean", d->mean, d->c);
    print_numbers(file, "deviation", d->deviation, d->c);
    if (d->symbol)
        fprintf(file, "symbols %08lx\n", checksum(d->symbol, (size_t)d->classes * sizeof *d->symbol));
    for (int i = 0; d->class_name && i < d->classes; i++) {
        char name[SHOWN_SIZE];
        shown(d->class_name[i], 0, name);
        fprintf(file, "class %s\n", name);
    }
    if (fclose(file) != 0)
        die("out of memory");
    return text;
}

/* What follows "\nKEY " up to the end of its line; NULL: no such line. */
static const char *value_of(const char *text, const char *key)
{
    char begin[32];
    snprintf(begin, sizeof begin, "\n%s ", key);
    const char *at = strstr(text, begin);
    return at ? at + strlen(begin) : NULL;
}

static bool take_numbers(double *number, int count, const char *text, const char *key)
{
    const char *at = value_of(text, key);
    char *end;
    double read[MOST_CHANNELS];
    if (!at || count > MOST_CHANNELS)
        return false;
    at--;
    for (int c = 0; c < count; c++, at = end) {
        if (*at != ' ')
            return false;
        read[c] = strtod(at, &end);
    }
    if (*at != '\n')
        return false;
    memcpy(number, read, (size_t)count * sizeof *number);
    return true;
}

void fingerprint_normalise(dataset *d, const char *text, size_t length)
{
    char *its = copy_text(text, length);
    double *mean = need((size_t)d->c, sizeof *mean);
    if (take_numbers(mean, d->c, its, "mean") && take_numbers(d->deviation, d->c, its, "deviation"))
        memcpy(d->mean, mean, (size_t)d->c * sizeof *mean);
    free(mean);
    free(its);
}

bool fingerprint_check(const dataset *d, const char *text, size_t length, bool classes_alone, trouble *why)
{
    char *mine = fingerprint_text(d), *other = copy_text(text, length);
    char *a = mine, *b = other;
    if (classes_alone) {
        char *from = strstr(a, "\nclasses "), *its = strstr(b, "\nclasses ");
        a = from ? from + 1 : a;
        b = its ? its + 1 : b;
        from = strstr(a, "\nclass ");
        its = strstr(b, "\nclass ");
        if (!from != !its) /* classes that have names, and others that have numbers alone: these say nothing */
            *(from ? from + 1 : its + 1) = '\0';
    }
    bool good = true;
    while (good && (*a || *b)) {
        const size_t m = strcspn(a, "\n"), n = strcspn(b, "\n");
        if (m != n || strncmp(a, b, m) != 0)
            good = fail(why, "the data are others than those of the checkpoint: '%.*s' now, '%.*s' then",
                        (int)(m < 80 ? m : 80), a, (int)(n < 80 ? n : 80), b);
        a += m + (a[m] == '\n');
        b += n + (b[n] == '\n');
    }
    free(mine);
    free(other);
    return good;
}
