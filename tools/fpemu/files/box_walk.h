/* SPDX-License-Identifier: BSD-2-Clause */
/* box_walk.h - a tensor of a file in boxes (partition.h): read from places far apart, and written back to them. */
#ifndef FPEMU_TOOL_BOX_WALK_H
#define FPEMU_TOOL_BOX_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "files/file.h"
#include "files/partition.h"

typedef struct box_walk {
    file *file;
    size_t i;
    const partition *partition;
    bool begun;
    box box;
    size_t count, room; /* elements of the box, and of the largest */
    float *x32;         /* one of these */
    double *x64;
    void *bytes;
    FILE *copy; /* of data that cannot be read in any order; or NULL */
} box_walk;

/* Errors end the program. */
box_walk box_walk_begin(file *f, size_t i, const partition *a, bool binary64);
/* The next box; false at the end. */
bool box_walk_next(box_walk *b);
/* The elements of the box, `size` bytes each, to their places in the data of the whole tensor. */
void box_walk_put(const box_walk *b, FILE *scratch, const void *bytes, size_t size);
void box_walk_end(box_walk *b);

#endif
