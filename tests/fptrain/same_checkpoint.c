/* SPDX-License-Identifier: BSD-2-Clause */
/* same_checkpoint.c - for scripts: whether two checkpoints hold the same arrays and settings; the text "run" has an id
 * of its own and times. Exit status 0, or 1 and a line that names the first array that differs. */
#include "../common.h"

#include "base/checkpoint.h"

static checkpoint *read_one(const char *path)
{
    trouble why;
    checkpoint *c = checkpoint_read(path, &why);
    if (!c)
        die("%s", why.text);
    return c;
}

static bool same(const checkpoint_array *x, const checkpoint_array *y)
{
    return strcmp(x->type, y->type) == 0 && x->dims == y->dims &&
           (x->dims == 0 || memcmp(x->dim, y->dim, x->dims * sizeof *x->dim) == 0) && x->length == y->length &&
           (x->length == 0 || memcmp(x->bytes, y->bytes, x->length) == 0);
}

/* The name of an array of `a` that `b` has not, or has otherwise. */
static const char *difference(const checkpoint *a, const checkpoint *b)
{
    checkpoint_array x, y;
    for (size_t i = 0; checkpoint_at(a, i, &x); i++)
        if (!checkpoint_find(b, x.name, &y) || !same(&x, &y))
            return x.name;
    return strcmp(checkpoint_text(a, "settings"), checkpoint_text(b, "settings")) == 0 ? NULL : "settings";
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
