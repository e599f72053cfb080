/* box_walk.h - a tensor of a file in boxes (along.h): read from places far apart, and written back to them. */
#ifndef FPEMU_TOOL_BOXES_H
#define FPEMU_TOOL_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "files/file.h"
#include "files/partition.h"

typedef struct boxes {
    file *file;
    size_t i;
    const along *along;
    bool begun;
    along_box box;
    size_t count, room; /* elements of the box, and of the largest */
    float *x32;         /* one of these */
    double *x64;
    void *bytes;
    FILE *copy; /* of data that cannot be read in any order; or NULL */
} boxes;

/* Errors end the program. */
boxes boxes_begin(file *f, size_t i, const along *a, bool binary64);
/* The next box; false at the end. */
bool boxes_next(boxes *b);
/* The elements of the box, `size` bytes each, to their places in the data of the whole tensor. */
void boxes_put(const boxes *b, FILE *spool, const void *bytes, size_t size);
void boxes_end(boxes *b);

#endif
