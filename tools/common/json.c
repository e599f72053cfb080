/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c - see json.h */
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of which so many bytes may still be taken. */
typedef struct limited {
    FILE *file;
    size_t left;
    int error; /* errno of a failure */
    bool larger;
} limited;

static size_t take(void *bytes, size_t size, void *from)
{
    limited *l = from;
    const size_t got = fread(bytes, 1, size < l->left ? size : l->left, l->file);
    l->left -= got;
    if (ferror(l->file))
        l->error = errno;
    else if (l->left == 0)
        l->larger = getc(l->file) != EOF;
    return l->error != 0 || l->larger ? 0 : got;
}

json_t *json_read(FILE *file, size_t most, trouble *why)
{
    limited from = {.file = file, .left = most};
    json_error_t error;
    json_t *root = json_load_callback(take, &from, JSON_REJECT_DUPLICATES, &error);
    if (from.error != 0)
        fail(why, "%s", strerror(from.error));
    else if (from.larger)
        fail(why, "larger than %zu bytes", most);
    else if (root == NULL)
        fail(why, "no JSON: %s, in line %d", error.text, error.line);
    else
        return root;
    json_decref(root);
    return NULL;
}

json_t *json_read_path(const char *path, size_t most, trouble *why)
{
    trouble inner;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail(why, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *root = json_read(file, most, &inner);
    fclose(file);
    if (root == NULL)
        fail(why, "%s: %.200s", path, inner.text);
    return root;
}

json_t *json_of_double(double value)
{
    return isfinite(value) ? json_real(value) : json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* jansson has signed whole numbers only: a larger one is a string of a NUL and its digits until it is printed. No other
 * string holds a NUL, and in the printed text no other place looks like its beginning. */
static const char printed_mark[] = "\"\\u0000";

json_t *json_of_count(uint64_t value)
{
    char text[24] = "";
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    const int digits = snprintf(text + 1, sizeof text - 1, "%" PRIu64, value);
    return json_stringn(text, (size_t)digits + 1);
}

bool json_to_count(const json_t *value, uint64_t *count)
{
    const json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    *count = (uint64_t)number;
    return number >= 0;
}

bool json_to_counts(const json_t *array, uint64_t *counts)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_to_count(json_array_get(array, i), &counts[i]))
            return false;
    return true;
}

/* Takes mark and quotes away, in place. */
static void bare_large_numbers(char *text)
{
    const size_t length = strlen(printed_mark);
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, printed_mark, length) == 0) {
            for (from += length; *from != '"'; from++)
                *to++ = *from;
            from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

char *json_to_text(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | JSON_ENCODE_ANY);
    if (text != NULL)
        bare_large_numbers(text);
    return text;
}

/* jansson leaves one control character. */
char *json_to_shown(const json_t *value, size_t flags)
{
    static const char escape[] = "\\u007F";
    char *text = json_to_text(value, flags | JSON_ENSURE_ASCII);
    size_t deletes = 0;
    for (const char *c = text; c != NULL && *c != '\0'; c++)
        deletes += *c == 0x7f;
    if (deletes == 0)
        return text;
    char *shown = malloc(strlen(text) + deletes * (sizeof escape - 2) + 1), *to = shown;
    for (const char *from = text; shown != NULL && *from != '\0'; from++) {
        const size_t length = *from == 0x7f ? strlen(escape) : 1;
        memcpy(to, length == 1 ? from : escape, length);
        to += length;
    }
    if (shown != NULL)
        *to = '\0';
    free(text);
    return shown;
}
