/* external.c - see external.h
 *
 * A function lives in a child process that loads the library. Inputs and results are in memory that both share; over a
 * socket the command says how many inputs to convert, and the child answers when it has done so. `at` in the shared
 * memory is the input at work, so that a crash can be put down to it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cli/cli.h"

#include "testing/external.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/number.h"

typedef struct external_shared {
    volatile size_t at;
    bool one_by_one; /* an array function gets arrays of one element */
    char message[200];
    double in[EXTERNAL_OPERANDS][EXTERNAL_BATCH], out[EXTERNAL_BATCH]; /* as large as any type needs */
} external_shared;

static const double GRACE = 1; /* seconds past the deadline that a run may still end in */

double external_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------- signatures */

static const struct type {
    const char *name;
    size_t size;
} types[] = {{"f32", 4}, {"f64", 8}, {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
enum { TYPES = sizeof types / sizeof *types };

static const char *read_type(const char *text, external_type *type)
{
    for (int i = 0; i < TYPES; i++) {
        const size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) == 0) {
            *type = (external_type)i;
            return text + length;
        }
    }
    return NULL;
}

bool external_read_signature(const char *text, external_signature *signature)
{
    text = read_type(text, &signature->in);
    if (text == NULL || strncmp(text, "-to-", 4) != 0 || (text = read_type(text + 4, &signature->out)) == NULL) {
        return false;
    }
    signature->array = strcmp(text, "-array") == 0;
    return signature->array || *text == '\0';
}

const char *external_print_signature(char text[EXTERNAL_SIGNATURE_SIZE], const external_signature *signature)
{
    snprintf(text, EXTERNAL_SIGNATURE_SIZE, "%s-to-%s%s", types[signature->in].name, types[signature->out].name,
             signature->array ? "-array" : "");
    return text;
}

size_t external_size(external_type type)
{
    return types[type].size;
}

bool external_is_code(external_type type)
{
    return type != EXTERNAL_F32 && type != EXTERNAL_F64;
}

external_type external_code_type(size_t size)
{
    return size == 1 ? EXTERNAL_U8 : size == 2 ? EXTERNAL_U16 : size == 4 ? EXTERNAL_U32 : EXTERNAL_U64;
}

/* ------------------------------------------------------------------------------------------------ children */

static volatile pid_t running; /* the leader of a process group, or 0 */

static void stop_running(void)
{
    if (running > 0) {
        kill(-running, SIGKILL);
    }
}

/* Installed with SA_RESETHAND: the second raise ends the command as the signal would have. */
static void stop_and_die(int signal_number)
{
    stop_running();
    raise(signal_number);
}

static const int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof *fatal_signals };

/* No child outlives the command, however that ends. */
static void guard_once(void)
{
    static bool guarded;
    if (guarded) {
        return;
    }
    guarded = true;
    atexit(stop_running);
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = stop_and_die, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(fatal_signals[i], &action, NULL);
        }
    }
}

/* What a crash raises; the handlers of a sanitizer would make an exit status of it. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

/* fork into a process group of its own; in the child the signals act as usual. */
static pid_t start_child(void)
{
    guard_once();
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        cli_fail("cannot start a process: %s", strerror(errno));
    }
    if (child == 0) {
        setpgid(0, 0);
        for (int i = 0; i < FATAL_SIGNALS; i++) {
            signal(fatal_signals[i], SIG_DFL);
        }
        for (int i = 0; i < CRASH_SIGNALS; i++) {
            signal(crash_signals[i], SIG_DFL);
        }
        return 0;
    }
    setpgid(child, child); /* whoever comes first; the other call may fail */
    running = child;
    return child;
}

/* The end of a child that has ended or is about to. */
static int reap(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    running = 0;
    return status;
}

static int end_child(pid_t child)
{
    kill(-child, SIGKILL);
    return reap(child);
}

static void describe_end(char *text, size_t size, int status)
{
    if (WIFSIGNALED(status)) {
        snprintf(text, size, "crashed: %s", strsignal(WTERMSIG(status)));
    } else {
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
    }
}

/* ------------------------------------------------------------------------------------------------- library */

/* dlsym gives a pointer to data, which ISO C does not convert to one to a function. */
typedef union function {
    void *data;
    void (*any)(void);
} function;

#define OPERAND(IN, K) (((const IN *)(const void *)s->in[K])[i])
#define EACH(OUT, ...) \
    for (size_t i = 0; i < n; i++) { \
        s->at = i; \
        ((OUT *)(void *)s->out)[i] = (__VA_ARGS__); \
    }
#define CALL(IN, OUT) \
    if (signature->operands == 1) { \
        EACH(OUT, ((OUT(*)(IN))f.any)(OPERAND(IN, 0))) \
    } else if (signature->operands == 2) { \
        EACH(OUT, ((OUT(*)(IN, IN))f.any)(OPERAND(IN, 0), OPERAND(IN, 1))) \
    } else { \
        EACH(OUT, ((OUT(*)(IN, IN, IN))f.any)(OPERAND(IN, 0), OPERAND(IN, 1), OPERAND(IN, 2))) \
    } \
    break
#define CALLS(FROM, IN) \
    case (FROM) * TYPES + EXTERNAL_F32: CALL(IN, float); \
    case (FROM) * TYPES + EXTERNAL_F64: CALL(IN, double); \
    case (FROM) * TYPES + EXTERNAL_U8: CALL(IN, uint8_t); \
    case (FROM) * TYPES + EXTERNAL_U16: CALL(IN, uint16_t); \
    case (FROM) * TYPES + EXTERNAL_U32: CALL(IN, uint32_t); \
    case (FROM) * TYPES + EXTERNAL_U64: CALL(IN, uint64_t)

static void call_scalar(external_shared *s, function f, const external_signature *signature, size_t n)
{
    switch ((int)signature->in * TYPES + (int)signature->out) {
        CALLS(EXTERNAL_F32, float);
        CALLS(EXTERNAL_F64, double);
        CALLS(EXTERNAL_U8, uint8_t);
        CALLS(EXTERNAL_U16, uint16_t);
        CALLS(EXTERNAL_U32, uint32_t);
        CALLS(EXTERNAL_U64, uint64_t);
    }
}

/* At the machine's level pointers of all types are alike, as `void *` is to C for data. */
static void call_slice(external_shared *s, function f, const external_signature *signature, size_t first, size_t n)
{
    const size_t in = first * external_size(signature->in);
    const void *a = (const char *)s->in[0] + in, *b = (const char *)s->in[1] + in, *c = (const char *)s->in[2] + in;
    void *y = (char *)s->out + first * external_size(signature->out);
    switch (signature->operands) {
    case 1: ((void (*)(const void *, void *, size_t))f.any)(a, y, n); break;
    case 2: ((void (*)(const void *, const void *, void *, size_t))f.any)(a, b, y, n); break;
    default: ((void (*)(const void *, const void *, const void *, void *, size_t))f.any)(a, b, c, y, n); break;
    }
}

static void call_array(external_shared *s, function f, const external_signature *signature, size_t n)
{
    if (!s->one_by_one) {
        call_slice(s, f, signature, 0, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        s->at = i;
        call_slice(s, f, signature, i, 1);
    }
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
    if (result.data == NULL) {
        snprintf(f->shared->message, sizeof f->shared->message, "%s", error != NULL ? error : "it is a null pointer");
    }
    return result;
}

static _Noreturn void work(external *f, int channel)
{
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what the function prints is no result */
    const function converter = load(f);
    const char loaded = converter.data != NULL ? 'y' : 'n', done = 'y';
    const char *answer = &loaded;
    uint64_t n;
    while (send(channel, answer, 1, MSG_NOSIGNAL) == 1 && recv(channel, &n, sizeof n, 0) == (ssize_t)sizeof n) {
        if (f->signature.array) {
            call_array(f->shared, converter, &f->signature, (size_t)n);
        } else {
            call_scalar(f->shared, converter, &f->signature, (size_t)n);
        }
        answer = &done;
    }
    _exit(0);
}

/* The answer of the child: 'y' or 'n', 0 where it has ended without one, -1 past the deadline. */
static int await(external *f, double deadline)
{
    for (;;) {
        struct pollfd p = {.fd = f->channel, .events = POLLIN};
        const double left = deadline - external_now();
        const int timeout = !(left < 1e6) ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0;
        const int ready = poll(&p, 1, timeout);
        if (ready == 0 && external_now() >= deadline) {
            return -1;
        }
        char answer;
        if (ready > 0) {
            return recv(f->channel, &answer, 1, 0) == 1 ? answer : 0;
        }
    }
}

static void close_worker(external *f)
{
    if (f->child != 0) {
        close(f->channel);
        end_child(f->child);
        f->child = 0;
    }
}

/* The child has ended by itself. */
static external_end worker_died(external *f)
{
    char end[100];
    close(f->channel);
    describe_end(end, sizeof end, reap(f->child));
    f->child = 0;
    snprintf(f->failure, sizeof f->failure, "%s %s", f->name, end);
    f->failed_at = f->shared->at;
    return EXTERNAL_FAILED;
}

static void open_worker(external *f)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        cli_fail("cannot start a process: %s", strerror(errno));
    }
    f->child = start_child();
    if (f->child == 0) {
        close(ends[0]);
        work(f, ends[1]);
    }
    close(ends[1]);
    f->channel = ends[0];
    const int answer = await(f, (double)INFINITY);
    if (answer == 'n') {
        cli_usage("%s: %s", f->name, f->shared->message);
    }
    if (answer == 0) {
        worker_died(f);
        cli_fail("%s, while it was loaded", f->failure);
    }
}

external external_library(const char *target, external_signature signature)
{
    const char *colon = strrchr(target, ':');
    if (colon == NULL || colon == target || colon[1] == '\0') {
        cli_usage("--against: '%s' is not LIBRARY:FUNCTION", target);
    }
    external f = {.signature = signature, .name = target, .symbol = colon + 1};
    const size_t length = (size_t)(colon - target);
    f.path = cli_allocate(length + 3, 1);
    snprintf(f.path, length + 3, "%.*s", (int)length, target);
    if (strchr(f.path, '/') == NULL && access(f.path, F_OK) == 0) {
        snprintf(f.path, length + 3, "./%.*s", (int)length, target); /* a bare name would be looked up in the system */
    }
    f.shared = mmap(NULL, sizeof *f.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f.shared == MAP_FAILED) {
        cli_fail("out of memory");
    }
    for (int k = 0; k < EXTERNAL_OPERANDS; k++) {
        f.in[k] = f.shared->in[k];
    }
    f.out = f.shared->out;
    open_worker(&f);
    return f;
}

static int ask_worker(external *f, size_t n, double deadline)
{
    const uint64_t count = n;
    f->shared->at = 0;
    return send(f->channel, &count, sizeof count, MSG_NOSIGNAL) == (ssize_t)sizeof count ? await(f, deadline) : 0;
}

/* An array function crashed: once more, an element at a time, to learn on which. */
static external_end find_crash(external *f, size_t n, double deadline)
{
    open_worker(f);
    f->shared->one_by_one = true;
    const int answer = ask_worker(f, n, deadline);
    f->shared->one_by_one = false;
    if (answer == 0) {
        return worker_died(f);
    }
    close_worker(f);
    f->failed_at = EXTERNAL_NOWHERE;
    return EXTERNAL_FAILED;
}

static external_end run_library(external *f, size_t n, double deadline)
{
    int answer = ask_worker(f, n, deadline);
    if (answer == -1) {
        const size_t at = f->shared->at;
        answer = await(f, deadline + GRACE);
        if (answer == -1) {
            const bool stuck = f->shared->at == at;
            close_worker(f);
            snprintf(f->failure, sizeof f->failure, "%s gives no result, the time limit passed", f->name);
            f->failed_at = f->signature.array ? EXTERNAL_NOWHERE : at;
            return stuck ? EXTERNAL_FAILED : EXTERNAL_LATE;
        }
    }
    if (answer == 0) {
        worker_died(f);
        return f->signature.array ? find_crash(f, n, deadline) : EXTERNAL_FAILED;
    }
    return EXTERNAL_DONE;
}

/* ------------------------------------------------------------------------------------------------- program */

external external_program(const char *command, external_signature signature)
{
    external f = {.signature = signature, .name = command, .program = true};
    for (int k = 0; k < signature.operands; k++) {
        f.in[k] = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    }
    f.out = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    return f;
}

static FILE *scratch_file(void)
{
    FILE *file = tmpfile();
    if (file == NULL) {
        cli_fail("cannot create a temporary file: %s", strerror(errno));
    }
    return file;
}

/* Values in hexadecimal, NaN with its sign; codes as 0x7e. */
static void print_operand(external_type type, const void *in, size_t i, FILE *file)
{
    char text[NUMBER_SIZE];
    if (external_is_code(type)) {
        const size_t size = external_size(type);
        fputs(number_print_code(text, number_load_code(in, size, i), 8 * (unsigned)size), file);
    } else {
        const double x = type == EXTERNAL_F32 ? (double)((const float *)in)[i] : ((const double *)in)[i];
        fprintf(file, "%s%s", isnan(x) && signbit(x) ? "-" : "", number_print_hex(text, x));
    }
}

/* The operands of one result a line. */
static void print_inputs(const external *f, size_t n, FILE *file)
{
    const int operands = f->signature.operands;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < operands; k++) {
            print_operand(f->signature.in, f->in[k], i, file);
            putc(k + 1 < operands ? ' ' : '\n', file);
        }
    }
    if (fflush(file) != 0) {
        cli_fail("cannot write a temporary file: %s", strerror(errno));
    }
    rewind(file);
}

static bool read_result(external *f, size_t i, const char *word)
{
    const external_type type = f->signature.out;
    uint64_t code;
    if (type == EXTERNAL_F32) {
        return number_read_f32(word, &((float *)f->out)[i]);
    }
    if (type == EXTERNAL_F64) {
        return number_read_f64(word, &((double *)f->out)[i]);
    }
    const size_t size = external_size(type);
    if (!cli_read_u64(word, &code) || (size < 8 && code >> (8 * size) != 0)) {
        return false;
    }
    number_store_code(f->out, size, i, code);
    return true;
}

/* How many results there are; stops at the first that cannot be read. */
static size_t read_results(external *f, size_t n, FILE *file)
{
    char word[200];
    size_t count = 0;
    rewind(file);
    while (fscanf(file, "%199s", word) == 1) {
        if (count == n) {
            snprintf(f->failure, sizeof f->failure, "%s gave more than %zu results for %zu inputs", f->name, n, n);
            return n + 1;
        }
        if (!read_result(f, count, word)) {
            snprintf(f->failure, sizeof f->failure, "%s gave '%.60s', which is no %s", f->name, word,
                     types[f->signature.out].name);
            return count;
        }
        count++;
    }
    return count;
}

/* The end of the program, false past the deadline. */
static bool await_program(pid_t child, double deadline, int *status)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    if (!(deadline < (double)INFINITY)) {
        *status = reap(child);
        return true;
    }
    while (waitpid(child, status, WNOHANG) == 0) {
        if (external_now() > deadline + GRACE) {
            end_child(child);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    running = 0;
    return true;
}

static external_end run_program(external *f, size_t n, double deadline)
{
    FILE *in = scratch_file(), *out = scratch_file();
    print_inputs(f, n, in);
    const pid_t child = start_child();
    if (child == 0) {
        dup2(fileno(in), STDIN_FILENO);
        dup2(fileno(out), STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", f->name, (char *)NULL);
        _exit(127);
    }
    int status;
    external_end end = EXTERNAL_LATE;
    if (await_program(child, deadline, &status)) {
        f->failure[0] = '\0';
        const size_t count = read_results(f, n, out);
        char text[100];
        end = EXTERNAL_DONE;
        if (status != 0) {
            describe_end(text, sizeof text, status);
            snprintf(f->failure, sizeof f->failure, "%.100s %s, after %zu of %zu results", f->name, text, count, n);
        } else if (count < n && f->failure[0] == '\0') {
            snprintf(f->failure, sizeof f->failure, "%.100s gave %zu results for %zu inputs", f->name, count, n);
        }
        if (f->failure[0] != '\0') {
            f->failed_at = count < n ? count : EXTERNAL_NOWHERE;
            end = EXTERNAL_FAILED;
        }
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
        for (int k = 0; k < EXTERNAL_OPERANDS; k++) {
            free(f->in[k]);
        }
        free(f->out);
    } else {
        close_worker(f);
        munmap(f->shared, sizeof *f->shared);
        free(f->path);
    }
}
