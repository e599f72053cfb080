/* output.h - common/atomic_file.h for a command: errors end the program, and so do signals, without leaving a temporary
 * file behind. One output at a time.
 */
#ifndef FPEMU_TOOL_OUTPUT_H
#define FPEMU_TOOL_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "common/atomic_file.h"

typedef atomic_file output;

/* The argument of -o; a usage error for "-", which is neither standard output here nor likely meant as a name. */
const char *output_path(const char *argument);
/* All of these end the program with an error when they fail. */
output output_open(const char *path);
void output_write(output *out, const void *bytes, size_t size);
void output_commit(output *out);

#endif
