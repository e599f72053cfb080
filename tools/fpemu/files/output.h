/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h - common/atomic_file.h for a command: errors end the program, and so do signals, without leaving a temporary
 * file behind. "-" is standard output.
 */
#ifndef FPEMU_TOOL_OUTPUT_H
#define FPEMU_TOOL_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "common/atomic_file.h"

typedef atomic_file output;

/* The argument of -o; a usage error for "-" where standard output is a terminal. */
const char *output_path(const char *argument);
/* The argument of --plot; a usage error for "-", and for names of other kinds than SVG. */
const char *output_plot_path(const char *argument);
/* A usage error where writing the path would leave nothing of the other file, `what`; each may be NULL. */
void output_refuse_same(const char *option, const char *path, const char *what, const char *other);
/* Whether a path names what standard output is: "-", /dev/stdout and its like. */
bool output_is_standard(const char *path);
/* A usage error where the path, which may be NULL, names standard output; `what` says why not. */
void output_refuse_standard(const char *option, const char *path, const char *what);
/* All of these end the program with an error when they fail. */
output output_open(const char *path);
void output_write(output *out, const void *bytes, size_t size);
void output_commit(output *out);

#endif
