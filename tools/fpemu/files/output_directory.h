/* SPDX-License-Identifier: BSD-2-Clause */
/* output_directory.h - a directory of output files that appears whole or not at all: it is written beside its place,
 * and renamed. Errors end the program, and neither they nor signals leave anything behind.
 */
#ifndef FPEMU_TOOL_OUTPUT_DIRECTORY_H
#define FPEMU_TOOL_OUTPUT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "files/output.h"

typedef struct output_directory {
    char *path;      /* as it was named, without slashes at its end */
    char *target;    /* that, with links followed */
    char *temporary; /* where it is until then */
    int lock;        /* on that; -1: none */
    const char *const *name;
    size_t names;
    bool exists; /* then its files take their places in it one by one */
} output_directory;

/* The files that will be in it have the names given. A directory that is there and holds anything is refused; with
 * `force`, only if models' files in it would be left beside the new ones. Other files in it stay. */
output_directory output_directory_open(const char *path, bool force, const char *const *name, size_t names);
/* File i of it, to be committed as any output. */
output output_directory_file(output_directory *d, size_t i);
void output_directory_commit(output_directory *d);

#endif
