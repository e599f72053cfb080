/* SPDX-License-Identifier: BSD-2-Clause */
/* external.c - see external.h
 *
 * A function lives in a child process that loads the library. Inputs and results are in memory that both share; over a
 * socket the command says how many inputs to convert, and the child answers when it has done so. `at` in the shared
 * memory is the input at work, so that a crash can be put down to it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "testing/external.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/words.h"
#include "common/clock.h"
#include "common/shown.h"
#include "testing/child.h"

typedef struct external_shared {
    volatile size_t at;
    bool one_by_one; /* an array function gets arrays of one element */
    char message[200];
    size_t width[EXTERNAL_OPERANDS], results; /* of a tensor and its result; 1: none */
    size_t size[EXTERNAL_SIZES];              /* that a function of tensors gets */
    int sizes;
    double in[EXTERNAL_OPERANDS][EXTERNAL_BATCH], out[EXTERNAL_BATCH]; /* as large as any type needs */
} external_shared;

static const double GRACE = 1; /* seconds past the deadline that a run may still end in */

static void describe(external *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void describe(external *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    shown_message(f->failure, sizeof f->failure, format, arguments);
    va_end(arguments);
    shown_controls(f->failure);
}

/* ------------------------------------------------------------------------------------------------- library */

/* dlsym gives a pointer to data, which ISO C does not convert to one to a function. */
typedef union function {
    void *data;
    void (*any)(void);
} function;

#define OPERAND(IN, K) (((const IN *)(const void *)s->in[K])[i])
#define EACH(OUT, ...)                                                                                                 \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        s->at = i;                                                                                                     \
        ((OUT *)(void *)s->out)[i] = (__VA_ARGS__);                                                                    \
    }
#define CALL(IN, OUT)                                                                                                  \
    if (signature->operands == 1) {                                                                                    \
        EACH(OUT, ((OUT (*)(IN))f.any)(OPERAND(IN, 0)))                                                                \
    } else if (signature->operands == 2) {                                                                             \
        EACH(OUT, ((OUT (*)(IN, IN))f.any)(OPERAND(IN, 0), OPERAND(IN, 1)))                                            \
    } else {                                                                                                           \
        EACH(OUT, ((OUT (*)(IN, IN, IN))f.any)(OPERAND(IN, 0), OPERAND(IN, 1), OPERAND(IN, 2)))                        \
    }                                                                                                                  \
    break
#define CALLS(FROM, IN)                                                                                                \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_F32: CALL(IN, float);                                                      \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_F64: CALL(IN, double);                                                     \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_U8: CALL(IN, uint8_t);                                                     \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_U16: CALL(IN, uint16_t);                                                   \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_U32: CALL(IN, uint32_t);                                                   \
    case (FROM) * EXTERNAL_TYPES + EXTERNAL_U64: CALL(IN, uint64_t)

static void call_scalar(external_shared *s, function f, const external_signature *signature, size_t n)
{
    switch ((int)signature->in * EXTERNAL_TYPES + (int)signature->out) {
        CALLS(EXTERNAL_F32, float);
        CALLS(EXTERNAL_F64, double);
        CALLS(EXTERNAL_U8, uint8_t);
        CALLS(EXTERNAL_U16, uint16_t);
        CALLS(EXTERNAL_U32, uint32_t);
        CALLS(EXTERNAL_U64, uint64_t);
    }
}

enum { GUARD = 256, GUARD_BYTE = 0x5a };

/* A copy for the function, between guard bytes; the last is for the result. */
static char *enter(int which, const void *data, size_t bytes)
{
    static double rooms[EXTERNAL_OPERANDS + 1][GUARD / sizeof(double) + EXTERNAL_BATCH + GUARD / sizeof(double)];
    char *copy = (char *)rooms[which] + GUARD;
    memset(copy - GUARD, GUARD_BYTE, GUARD);
    memcpy(copy, data, bytes);
    memset(copy + bytes, GUARD_BYTE, GUARD);
    return copy;
}

static bool is_guarded(const char *copy, size_t bytes)
{
    bool whole = true;
    for (size_t i = 0; i < GUARD; i++)
        whole = whole && copy[-1 - (ptrdiff_t)i] == GUARD_BYTE && copy[bytes + i] == GUARD_BYTE;
    return whole;
}

/* At the machine's level pointers of all types are alike, as `void *` is to C for data. */
#define FUNCTION(...) ((void (*)(__VA_ARGS__, void *, size_t))f.any)
#define PRODUCT(...) ((void (*)(__VA_ARGS__, void *, size_t, size_t, size_t))f.any)
typedef const void *operand;

static void call(function f, int operands, int sizes, char *const x[EXTERNAL_OPERANDS], char *y,
                 const size_t n[EXTERNAL_SIZES])
{
    switch (operands + EXTERNAL_OPERANDS * (sizes - 1)) {
    case 1: FUNCTION(operand)(x[0], y, n[0]); break;
    case 2: FUNCTION(operand, operand)(x[0], x[1], y, n[0]); break;
    case 3: FUNCTION(operand, operand, operand)(x[0], x[1], x[2], y, n[0]); break;
    case 4: FUNCTION(operand, operand, operand, operand)(x[0], x[1], x[2], x[3], y, n[0]); break;
    case 5: FUNCTION(operand, operand, operand, operand, operand)(x[0], x[1], x[2], x[3], x[4], y, n[0]); break;
    case 6: ((void (*)(operand, void *, size_t, size_t))f.any)(x[0], y, n[0], n[1]); break;
    case 12: PRODUCT(operand, operand)(x[0], x[1], y, n[0], n[1], n[2]); break;
    case 13: PRODUCT(operand, operand, operand)(x[0], x[1], x[2], y, n[0], n[1], n[2]); break;
    case 14: PRODUCT(operand, operand, operand, operand)(x[0], x[1], x[2], x[3], y, n[0], n[1], n[2]); break;
    default: PRODUCT(operand, operand, operand, operand, operand)(x[0], x[1], x[2], x[3], x[4], y, n[0], n[1], n[2]);
    }
}

/* 'w': it wrote outside of its result, 'i': to an input, else 'y'. */
static char call_slice(external_shared *s, function f, const external_signature *signature, size_t first, size_t n)
{
    const size_t bytes = n * s->results * signature_size(signature->out), element = signature_size(signature->in);
    char *out = (char *)s->out + first * s->results * signature_size(signature->out);
    char *y = enter(EXTERNAL_OPERANDS, out, bytes), *x[EXTERNAL_OPERANDS] = {NULL}, answer = 'y';
    for (int k = 0; k < signature->operands; k++)
        x[k] = enter(k, (const char *)s->in[k] + first * s->width[k] * element, n * s->width[k] * element);
    call(f, signature->operands, s->sizes, x, y, signature->tensors ? s->size : &n);
    memcpy(out, y, bytes);
    if (!is_guarded(y, bytes))
        answer = 'w';
    for (int k = 0; k < signature->operands; k++) {
        const size_t size = s->width[k] * element;
        if (!is_guarded(x[k], n * size) || memcmp(x[k], (const char *)s->in[k] + first * size, n * size) != 0)
            answer = 'i';
    }
    return answer;
}

static char call_array(external_shared *s, function f, const external_signature *signature, size_t n)
{
    if (!s->one_by_one)
        return call_slice(s, f, signature, 0, n);
    for (size_t i = 0; i < n; i++) {
        s->at = i;
        const char answer = call_slice(s, f, signature, i, 1);
        if (answer != 'y')
            return answer;
    }
    return 'y';
}

static function load(external *f)
{
    function result = {.data = NULL};
    void *library = dlopen(f->path, RTLD_NOW | RTLD_LOCAL);
    const char *error = dlerror();
    if (library != NULL) {
        result.data = dlsym(library, f->symbol);
        error = dlerror();
    }
    if (result.data == NULL)
        snprintf(f->shared->message, sizeof f->shared->message, "%s", error != NULL ? error : "it is a null pointer");
    return result;
}

static _Noreturn void work(external *f, int channel)
{
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what the function prints is no result */
    const function converter = load(f);
    char answer = converter.data != NULL ? 'y' : 'n';
    uint64_t n;
    while (send(channel, &answer, 1, MSG_NOSIGNAL) == 1 && recv(channel, &n, sizeof n, 0) == (ssize_t)sizeof n)
        if (!f->signature.array)
            call_scalar(f->shared, converter, &f->signature, (size_t)n);
        else
            answer = call_array(f->shared, converter, &f->signature, (size_t)n);
    _exit(0);
}

enum { LATE = -1, STUCK = -2 };

/* The answer of the child: 'y' or 'n', 'w' or 'i' where a function wrote elsewhere than to its result, 0 where it has
 * ended without one, LATE past the deadline, STUCK where it has been at one input for longer than `patience`. */
static int await(external *f, double deadline, double patience)
{
    size_t at = f->shared->at;
    for (double since = clock_seconds();;) {
        struct pollfd p = {.fd = f->channel, .events = POLLIN};
        const double left = fmin(deadline - clock_seconds(), patience / 4);
        const int timeout = !(left < 1e6) ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0;
        const int ready = poll(&p, 1, timeout);
        const double now = clock_seconds();
        char answer;
        if (ready > 0)
            return recv(f->channel, &answer, 1, 0) == 1 ? answer : 0;
        if (ready == 0 && now >= deadline)
            return LATE;
        if (f->shared->at != at) {
            at = f->shared->at;
            since = now;
        } else if (now - since >= patience) {
            return STUCK;
        }
    }
}

static void close_worker(external *f)
{
    if (f->child != 0) {
        close(f->channel);
        child_kill(f->child);
        f->child = 0;
    }
}

/* The child has ended by itself. */
static external_end worker_died(external *f)
{
    char end[100];
    close(f->channel);
    const int status = child_reap(f->child);
    child_describe_end(end, sizeof end, status);
    f->child = 0;
    f->failing = WIFSIGNALED(status) ? EXTERNAL_CRASHED : EXTERNAL_ENDED;
    describe(f, "%.120s %s", f->name, end);
    f->failed_at = f->shared->at;
    return EXTERNAL_FAILED;
}

/* It does not come back from the input at work. */
static external_end worker_hangs(external *f)
{
    f->failed_at = f->shared->at;
    close_worker(f);
    f->failing = EXTERNAL_HUNG;
    describe(f, "%.120s hangs: no result for %g s", f->name, f->patience);
    return EXTERNAL_FAILED;
}

/* What else it wrote to is not known: it is not asked again. */
static external_end worker_writes_outside(external *f, int answer)
{
    f->failed_at = f->shared->at;
    close_worker(f);
    f->failing = EXTERNAL_OUTSIDE;
    describe(f, "%.120s writes %s", f->name, answer == 'i' ? "to its input" : "outside of its result");
    return EXTERNAL_FAILED;
}

static void open_worker(external *f)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        cli_fail("cannot start a process: %s", strerror(errno));
    f->child = child_start();
    if (f->child == 0) {
        close(ends[0]);
        work(f, ends[1]);
    }
    close(ends[1]);
    f->channel = ends[0];
    const int answer = await(f, (double)INFINITY, (double)INFINITY);
    if (answer == 'n')
        cli_usage("%s: %s", f->name, f->shared->message);
    if (answer == 0) {
        worker_died(f);
        cli_fail("%s, while it was loaded", f->failure);
    }
}

external external_library(const char *target, external_signature signature)
{
    const char *colon = strrchr(target, ':');
    if (colon == NULL || colon == target || colon[1] == '\0')
        cli_usage("--against: '%s' is not LIBRARY:FUNCTION", target);
    external f = {.signature = signature, .width = {1, 1, 1}, .results = 1, .sizes = 1};
    f.name = target;
    f.symbol = colon + 1;
    const size_t length = (size_t)(colon - target);
    f.path = cli_allocate(length + 3, 1);
    snprintf(f.path, length + 3, "%.*s", (int)length, target);
    if (strchr(f.path, '/') == NULL && access(f.path, F_OK) == 0)
        snprintf(f.path, length + 3, "./%.*s", (int)length, target); /* a bare name would be looked up in the system */
    f.shared = mmap(NULL, sizeof *f.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f.shared == MAP_FAILED)
        cli_fail("out of memory");
    for (int k = 0; k < EXTERNAL_OPERANDS; k++)
        f.in[k] = f.shared->in[k];
    f.out = f.shared->out;
    open_worker(&f);
    return f;
}

static int ask_worker(external *f, size_t n, bool one_by_one, double deadline)
{
    const uint64_t count = n;
    f->shared->at = 0;
    memcpy(f->shared->width, f->width, sizeof f->width);
    memcpy(f->shared->size, f->size, sizeof f->size);
    f->shared->results = f->results;
    f->shared->sizes = f->sizes;
    f->shared->one_by_one = one_by_one || f->signature.tensors;
    return send(f->channel, &count, sizeof count, MSG_NOSIGNAL) == (ssize_t)sizeof count
               ? await(f, deadline, f->patience)
               : 0;
}

/* An array function crashed, hung or wrote outside of its result: once more, an element at a time, to learn on
 * which. */
static external_end find_element(external *f, size_t n, double deadline)
{
    open_worker(f);
    const int answer = ask_worker(f, n, true, deadline);
    if (answer == 0)
        return worker_died(f);
    if (answer == STUCK)
        return worker_hangs(f);
    if (answer == 'w' || answer == 'i')
        return worker_writes_outside(f, answer);
    close_worker(f);
    f->failed_at = EXTERNAL_NOWHERE;
    return EXTERNAL_FAILED;
}

static external_end run_library(external *f, size_t n, double deadline)
{
    const bool whole = f->signature.array && !f->signature.tensors; /* one call for all */
    if (f->child == 0)
        open_worker(f);
    int answer = ask_worker(f, n, false, deadline);
    if (answer == LATE) {
        const size_t at = f->shared->at;
        answer = await(f, deadline + GRACE, (double)INFINITY);
        if (answer == LATE) {
            const bool stuck = f->shared->at == at;
            close_worker(f);
            f->failing = EXTERNAL_HUNG;
            describe(f, "%.120s gives no result, the time limit passed", f->name);
            f->failed_at = whole ? EXTERNAL_NOWHERE : at;
            f->good = whole ? 0 : at;
            return stuck ? EXTERNAL_FAILED : EXTERNAL_LATE;
        }
    }
    if (answer == 'y')
        return EXTERNAL_DONE;
    const external_end end = answer == STUCK ? worker_hangs(f)
                             : answer == 0   ? worker_died(f)
                                             : worker_writes_outside(f, answer);
    f->good = whole ? 0 : f->failed_at;
    return whole ? find_element(f, n, deadline) : end;
}

/* ------------------------------------------------------------------------------------------------- program */

external external_program(const char *command, external_signature signature)
{
    external f = {.signature = signature, .width = {1, 1, 1}, .results = 1, .name = command, .program = true};
    for (int k = 0; k < signature.operands; k++)
        f.in[k] = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    f.out = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    return f;
}

static FILE *scratch_file(void)
{
    FILE *file = tmpfile();
    if (file == NULL)
        cli_fail("cannot create a temporary file: %s", strerror(errno));
    return file;
}

/* Values in hexadecimal, NaN with its sign; codes as 0x7e. */
static void print_operand(external_type type, const void *in, size_t i, FILE *file)
{
    char text[NUMBER_SIZE];
    if (signature_is_code(type)) {
        const size_t size = signature_size(type);
        fputs(number_print_code(text, number_load_code(in, size, i), 8 * (unsigned)size), file);
    } else {
        const double x = type == EXTERNAL_F32 ? (double)((const float *)in)[i] : ((const double *)in)[i];
        fprintf(file, "%s%s", isnan(x) && signbit(x) ? "-" : "", number_print_hex(text, x));
    }
}

/* The operands of one result, or a tensor, a line. */
static void print_inputs(const external *f, size_t n, FILE *file)
{
    const int last = f->signature.operands - 1;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k <= last; k++) {
            for (size_t j = 0; j < f->width[k]; j++) {
                print_operand(f->signature.in, f->in[k], i * f->width[k] + j, file);
                putc(k < last || j + 1 < f->width[k] ? ' ' : '\n', file);
            }
        }
    }
    if (fflush(file) != 0)
        cli_fail("cannot write a temporary file: %s", strerror(errno));
    rewind(file);
}

static bool read_result(external *f, size_t i, const char *word)
{
    const external_type type = f->signature.out;
    uint64_t code;
    if (type == EXTERNAL_F32)
        return number_read_f32(word, &((float *)f->out)[i]);
    if (type == EXTERNAL_F64)
        return number_read_f64(word, &((double *)f->out)[i]);
    const size_t size = signature_size(type);
    if (!cli_read_u64(word, &code) || (size < 8 && code >> (8 * size) != 0))
        return false;
    number_store_code(f->out, size, i, code);
    return true;
}

/* binary64 needs at most 1077 characters. */
enum { LONGEST_RESULT = 1100 };

/* How many results there are; stops at the first that cannot be read. */
static size_t read_results(external *f, size_t n, FILE *file)
{
    words results = {.file = file, .line = 1};
    char word[LONGEST_RESULT + 1];
    words_found found;
    size_t count = 0;
    rewind(file);
    while ((found = words_next(&results, word, sizeof word)) == WORDS_WORD || found == WORDS_LONG) {
        if (count == n) {
            f->failing = EXTERNAL_TOO_MANY;
            describe(f, "%.120s gave more than %zu result%s for %zu input%s", f->name, n, n > 1 ? "s" : "",
                     n / f->results, n / f->results > 1 ? "s" : "");
            return n;
        }
        if (found == WORDS_LONG || !read_result(f, count, word)) {
            f->failing = EXTERNAL_UNREADABLE;
            describe(f, "%.120s gave '%.40s%s', which is no %s", f->name, word, strlen(word) > 40 ? "..." : "",
                     signature_type_name(f->signature.out));
            return count;
        }
        count++;
    }
    if (found == WORDS_FAILED)
        cli_fail("cannot read a temporary file: %s", strerror(errno));
    return count;
}

/* Bytes that were printed so far. */
static uint64_t size_of(FILE *file)
{
    struct stat status;
    return fstat(fileno(file), &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* More than n results can need; what prints without an end would fill the disk. */
static uint64_t most_bytes(size_t n)
{
    return (UINT64_C(1) << 20) + (uint64_t)n * 200;
}

/* 'y': the program has ended, with *status; LATE past the deadline, STUCK where it has printed nothing for longer than
 * the patience, or far too much; then it is gone. */
static int await_program(const external *f, pid_t child, size_t n, FILE *out, double deadline, int *status)
{
    struct timespec pause = {.tv_nsec = 100000};
    uint64_t size = 0;
    double since = clock_seconds();
    while (!child_has_ended(child, status)) {
        const double now = clock_seconds();
        const uint64_t printed = size_of(out);
        since = printed != size ? now : since;
        size = printed;
        const bool late = now > deadline + GRACE;
        if (late || now - since > f->patience || size > most_bytes(n)) {
            child_kill(child);
            return late ? LATE : STUCK;
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 2000000 ? 2 * pause.tv_nsec : pause.tv_nsec;
    }
    return 'y';
}

/* What went wrong, where that has no name yet; nothing: all is well. */
static void judge_program(external *f, size_t count, size_t n, bool stuck, int status)
{
    char text[100];
    if (f->failure[0] != '\0' && (stuck || f->failing == EXTERNAL_UNREADABLE))
        return;
    if (stuck) {
        f->failing = EXTERNAL_HUNG;
        describe(f, "%.120s hangs: nothing printed for %g s, after %zu of %zu results", f->name, f->patience, count, n);
    } else if (status != 0) {
        child_describe_end(text, sizeof text, status);
        const bool more = f->failure[0] != '\0';
        f->failing = WIFSIGNALED(status) ? EXTERNAL_CRASHED : EXTERNAL_ENDED;
        describe(f, "%.120s %s, after %s%zu of %zu results", f->name, text, more ? "more than " : "", count, n);
    } else if (count < n && f->failure[0] == '\0') {
        f->failing = EXTERNAL_TOO_FEW;
        describe(f, "%.120s gave %zu result%s for %zu input%s", f->name, count, count == 1 ? "" : "s", n / f->results,
                 n / f->results == 1 ? "" : "s");
    }
}

static external_end run_program(external *f, size_t n, double deadline)
{
    FILE *in = scratch_file(), *out = scratch_file();
    print_inputs(f, n, in);
    const pid_t child = child_start();
    if (child == 0) {
        dup2(fileno(in), STDIN_FILENO);
        dup2(fileno(out), STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", f->name, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    external_end end = EXTERNAL_LATE;
    const int answer = await_program(f, child, n * f->results, out, deadline, &status);
    if (answer != LATE) {
        f->failure[0] = '\0';
        f->good = 0; /* what was lost or is too much may stand before them */
        const size_t wanted = n * f->results, count = read_results(f, wanted, out);
        judge_program(f, count, wanted, answer == STUCK, status);
        f->failed_at = count < wanted ? count / f->results : EXTERNAL_NOWHERE;
        end = f->failure[0] != '\0' ? EXTERNAL_FAILED : EXTERNAL_DONE;
    }
    fclose(in);
    fclose(out);
    return end;
}

/* ------------------------------------------------------------------------------------------------- outside */

external_end external_run(external *f, size_t n, double deadline)
{
    return f->program ? run_program(f, n, deadline) : run_library(f, n, deadline);
}

void external_close(external *f)
{
    if (f->program) {
        for (int k = 0; k < EXTERNAL_OPERANDS; k++)
            free(f->in[k]);
        free(f->out);
    } else {
        close_worker(f);
        munmap(f->shared, sizeof *f->shared);
        free(f->path);
    }
}
