/* output.h - a file that appears complete or not at all.
 *
 * It is written under a temporary name in its directory, and takes its own name only when everything is on the disk;
 * until then an error, the end of the program or a signal removes it. A path that exists and is no regular file (a
 * pipe, a device) is written directly. One output at a time.
 */
#ifndef FPEMU_TOOL_OUTPUT_H
#define FPEMU_TOOL_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

typedef struct output {
    FILE *file;
    const char *path; /* as the user wrote it */
    char *target;     /* what the temporary file becomes; NULL: written directly */
} output;

/* The argument of -o; a usage error for "-", which is neither standard output here nor likely meant as a name. */
const char *output_path(const char *argument);
/* All of these end the program with an error when they fail. */
output output_open(const char *path);
void output_write(output *out, const void *bytes, size_t size);
void output_commit(output *out);

#endif
