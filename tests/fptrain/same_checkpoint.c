/* SPDX-License-Identifier: BSD-2-Clause */
/* same_checkpoint.c - for scripts: whether two checkpoints hold the same bits, but for the entry "run", which has an id of
 * its own and times. Exit status 0, or 1 and a line that names the first entry that differs. */
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"

static checkpoint *read_one(const char *path)
{
    trouble why;
    checkpoint *c = checkpoint_read(path, &why);
    if (!c)
        die("%s", why.text);
    return c;
}

/* The name of an entry of `a` that `b` has not, or has otherwise. */
static const char *difference(const checkpoint *a, const checkpoint *b)
{
    const char *name;
    for (size_t i = 0; (name = checkpoint_name(a, i)); i++) {
        size_t one = 0, other = 0;
        const void *x = checkpoint_get(a, name, &one), *y = checkpoint_get(b, name, &other);
        if (strcmp(name, "run") != 0 && (!y || one != other || (one > 0 && memcmp(x, y, one) != 0)))
            return name;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: same_checkpoint FILE FILE");
    checkpoint *a = read_one(argv[1]), *b = read_one(argv[2]);
    const char *name = difference(a, b);
    if (!name)
        name = difference(b, a);
    if (name)
        printf("%s and %s differ in '%s'\n", argv[1], argv[2], name);
    const int status = name != NULL;
    checkpoint_free(a);
    checkpoint_free(b);
    return status;
}
