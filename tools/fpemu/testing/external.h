/* external.h - somebody else's conversion or operation: a function of a shared library, or a program.
 *
 * Neither can take the command down: the function is called in a child process, which may crash, hang or exit.
 */
#ifndef FPEMU_TOOL_FOREIGN_H
#define FPEMU_TOOL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum foreign_type { FOREIGN_F32, FOREIGN_F64, FOREIGN_U8, FOREIGN_U16, FOREIGN_U32, FOREIGN_U64 } foreign_type;

enum { FOREIGN_OPERANDS = 3 };

/* OUT f(IN a), OUT f(IN a, IN b) or OUT f(IN a, IN b, IN c); or for arrays f(const IN *a, ..., OUT *y, size_t n). */
typedef struct foreign_signature {
    foreign_type in, out;
    bool array;
    int operands; /* 1 to FOREIGN_OPERANDS */
} foreign_signature;

/* Reads "f32-to-u8", "f32-to-u8-array" and so on; `operands` stays. */
bool foreign_read_signature(const char *text, foreign_signature *signature);
#define FOREIGN_SIGNATURE_SIZE 24
const char *foreign_print_signature(char text[FOREIGN_SIGNATURE_SIZE], const foreign_signature *signature);
size_t foreign_size(foreign_type type); /* bytes */
bool foreign_is_code(foreign_type type);
foreign_type foreign_code_type(size_t size);

enum { FOREIGN_BATCH = 1 << 17 }; /* the most inputs of one run */

typedef enum foreign_end {
    FOREIGN_DONE,
    FOREIGN_LATE,  /* the deadline passed; the inputs of this run have no results */
    FOREIGN_FAILED /* `failure` says how */
} foreign_end;

typedef struct foreign {
    foreign_signature signature;
    const char *name; /* as the user wrote it */
    void *in[FOREIGN_OPERANDS], *out; /* room for FOREIGN_BATCH elements each; the other side may write anywhere */
    char failure[256];
    size_t failed_at; /* index of the input, or FOREIGN_NOWHERE */
    bool program;
    struct foreign_shared *shared; /* the rest is used by foreign.c alone */
    char *path;
    const char *symbol;
    int channel;
    pid_t child;
} foreign;
#define FOREIGN_NOWHERE SIZE_MAX

/* `target` is LIBRARY:FUNCTION. Ends the program with a usage error if there is no such thing. */
foreign foreign_library(const char *target, foreign_signature signature);
foreign foreign_program(const char *command, foreign_signature signature);
/* Takes the first n elements of each operand in `in` to `out`. `deadline` is a time of foreign_now, or infinity. */
foreign_end foreign_run(foreign *f, size_t n, double deadline);
void foreign_close(foreign *f);

/* Seconds on a clock that only moves forward. */
double foreign_now(void);

#endif
