/* SPDX-License-Identifier: BSD-2-Clause */
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

/* How a run failed. */
typedef enum external_failing {
    EXTERNAL_CRASHED,  /* by a signal */
    EXTERNAL_ENDED,    /* of itself, before the last result, or with a status that is not 0 */
    EXTERNAL_HUNG,     /* no result for `patience` seconds */
    EXTERNAL_TOO_MANY, /* results */
    EXTERNAL_TOO_FEW,
    EXTERNAL_UNREADABLE, /* something that is no result */
    EXTERNAL_OUTSIDE,    /* wrote elsewhere than to a result, as to an input; told of arrays */
    EXTERNAL_FAILINGS
} external_failing;

typedef struct external {
    external_signature signature;
    size_t width[EXTERNAL_OPERANDS], results; /* elements of an input and its result, where these are tensors; else 1 */
    size_t size[EXTERNAL_SIZES];              /* what the function is told of tensors, */
    int sizes;                                /* so many numbers */
    const char *name;                         /* as the user wrote it */
    void *in[EXTERNAL_OPERANDS], *out; /* room for EXTERNAL_BATCH elements each; the tested code may write anywhere */
    double patience;                   /* seconds */
    char failure[256];                 /* what happened, in printable ASCII */
    external_failing failing;
    size_t failed_at; /* index of the input, or EXTERNAL_NOWHERE; of a program that of the first without a result */
    size_t good;      /* so many results at the front of `out` are right to be compared all the same */
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
/* Takes the first n elements of each operand in `in` to `out`, or n tensors of `width` elements that stand one after
 * the other and fit, as their results do. `deadline` is a time of clock_seconds, or infinity. What failed can be run
 * again. */
external_end external_run(external *f, size_t n, double deadline);
void external_close(external *f);

#endif
