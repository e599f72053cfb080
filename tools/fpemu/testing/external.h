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

typedef enum external_type { EXTERNAL_F32, EXTERNAL_F64, EXTERNAL_U8, EXTERNAL_U16, EXTERNAL_U32, EXTERNAL_U64 } external_type;

enum { EXTERNAL_OPERANDS = 3 };

/* OUT f(IN a), OUT f(IN a, IN b) or OUT f(IN a, IN b, IN c); or for arrays f(const IN *a, ..., OUT *y, size_t n). */
typedef struct external_signature {
    external_type in, out;
    bool array;
    int operands; /* 1 to EXTERNAL_OPERANDS */
} external_signature;

/* Reads "f32-to-u8", "f32-to-u8-array" and so on; `operands` stays. */
bool external_read_signature(const char *text, external_signature *signature);
#define EXTERNAL_SIGNATURE_SIZE 24
const char *external_print_signature(char text[EXTERNAL_SIGNATURE_SIZE], const external_signature *signature);
size_t external_size(external_type type); /* bytes */
bool external_is_code(external_type type);
external_type external_code_type(size_t size);

enum { EXTERNAL_BATCH = 1 << 17 }; /* the most inputs of one run */

typedef enum external_end {
    EXTERNAL_DONE,
    EXTERNAL_LATE,  /* the deadline passed; the inputs of this run have no results */
    EXTERNAL_FAILED /* `failure` says how */
} external_end;

typedef struct external {
    external_signature signature;
    const char *name; /* as the user wrote it */
    void *in[EXTERNAL_OPERANDS], *out; /* room for EXTERNAL_BATCH elements each; the other side may write anywhere */
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
/* Takes the first n elements of each operand in `in` to `out`. `deadline` is a time of external_now, or infinity. */
external_end external_run(external *f, size_t n, double deadline);
void external_close(external *f);

/* Seconds on a clock that only moves forward. */
double external_now(void);

#endif
