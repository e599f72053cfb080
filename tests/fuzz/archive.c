/* SPDX-License-Identifier: BSD-2-Clause */
/* archive.c - see archive.h. A member is 60 characters, name and size among them, and its bytes, padded to even; names
 * of more than 15 characters stand in the member "//". */
#include "archive.h"

enum { MOST = 1 << 24, HEAD = 60, LENGTH = 48 };
static const char *const magic = "!<arch>\n";

static void fail(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

/* In memory of its own, so that a sanitizer sees what is read past the end. */
static void give(const char *bytes, size_t size, const char *name, archive_taker take, const void *context)
{
    uint8_t *own = malloc(size > 0 ? size : 1);
    if (own == NULL)
        fail(name, "not enough memory");
    memcpy(own, bytes, size);
    take(context, name, own, size);
    free(own);
}

int archive_each(const char *path, archive_taker take, const void *context)
{
    static char all[MOST + 1];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail(path, "cannot be opened");
    const size_t size = fread(all, 1, MOST, file);
    if (ferror(file) || getc(file) != EOF)
        fail(path, "cannot be read, or is too large");
    fclose(file);
    all[size] = '\0';
    if (strncmp(all, magic, strlen(magic)) != 0) {
        give(all, size, path, take, context);
        return 1;
    }

    int count = 0;
    const char *names = NULL;
    for (size_t at = strlen(magic), length; at < size; at += length + length % 2) {
        const char *name = all + at;
        at += HEAD;
        length = at <= size ? strtoul(name + LENGTH, NULL, 10) : 0;
        if (at > size || length > size - at)
            fail(path, "a member is cut off");
        if (strncmp(name, "// ", 3) == 0) {
            names = all + at;
            continue;
        }
        if (name[0] == '/' && names != NULL)
            name = names + strtoul(name + 1, NULL, 10);
        if (name < all || name >= all + size)
            fail(path, "a name lies outside");
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "/"), name);
        give(all + at, length, text, take, context);
        count++;
    }
    return count;
}
