/* external.h - somebody else's conversion or operation: a function of a shared library, or a program.
 *
 * Neither can take the command down: the function is called in a child process, which may crash, hang or exit.
 */
#ifndef FPEMU_TOOL_EXTERNAL_H
#define FPEMU_TOOL_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "testing/signature.h"

enum { EXTERNAL_BATCH = 1 << 17 }; /* the most inputs of one run */

typedef enum external_end {
    EXTERNAL_DONE,
    EXTERNAL_LATE,  /* the deadline passed; the inputs of this run have no results */
    EXTERNAL_FAILED /* `failure` says how */
} external_end;

typedef struct external {
    external_signature signature;
    const char *name; /* as the user wrote it */
    void *in[EXTERNAL_OPERANDS], *out; /* room for EXTERNAL_BATCH elements each; the tested code may write anywhere */
    char failure[256];
    size_t failed_at; /* index of the input, or EXTERNAL_NOWHERE */
    bool program;
    struct external_shared *shared; /* the rest is used by external.c alone */
    char *path;
    const char *symbol;
    int channel;
    pid_t child;
} external;
#define EXTERNAL_NOWHERE SIZE_MAX

/* `target` is LIBRARY:FUNCTION. Ends the program with a usage error if there is no such thing. */
external external_library(const char *target, external_signature signature);
external external_program(const char *command, external_signature signature);
/* Takes the first n elements of each operand in `in` to `out`. `deadline` is a time of clock_seconds, or infinity. */
external_end external_run(external *f, size_t n, double deadline);
void external_close(external *f);

#endif
