/* output.c - see output.h */
#include "cli/cli.h"

#include "files/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file to remove, or NULL. Changed only while all signals are blocked. */
static char *pending;

static const int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof *fatal_signals };

static sigset_t block_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
}

static void set_pending(const char *name)
{
    const sigset_t before = block_signals();
    free(pending);
    pending = name != NULL ? strdup(name) : NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void remove_pending(void)
{
    if (pending != NULL) {
        unlink(pending);
    }
}

/* Installed with SA_RESETHAND: the second raise ends the program as the signal would have. */
static void remove_and_die(int signal_number)
{
    remove_pending();
    raise(signal_number);
}

static void guard_once(void)
{
    static bool guarded;
    if (guarded) {
        return;
    }
    guarded = true;
    atexit(remove_pending);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond its limit: the write fails instead */
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(fatal_signals[i], &action, NULL);
        }
    }
}

const char *output_path(const char *argument)
{
    if (strcmp(argument, "-") == 0) {
        cli_usage("-o: '-' is not taken for standard output; './-' names a file");
    }
    return argument;
}

/* A pipe may wait for its reader: then a signal has to end the program. */
static bool is_written_directly(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool open_guarded(output *out, const char *path, trouble *why)
{
    guard_once();
    const sigset_t before = block_signals();
    const bool good = atomic_file_open(out, path, why);
    set_pending(good ? out->temporary : NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}

output output_open(const char *path)
{
    output out;
    trouble why;
    if (!(is_written_directly(path) ? atomic_file_open(&out, path, &why) : open_guarded(&out, path, &why))) {
        cli_fail("%s", why.text);
    }
    return out;
}

void output_write(output *out, const void *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, out->file) != size) {
        cli_fail("%s: %s", out->path, strerror(errno));
    }
}

/* Between the renaming and the end, a signal finds nothing under the temporary name. */
void output_commit(output *out)
{
    trouble why;
    if (!atomic_file_commit(out, &why)) {
        cli_fail("%s", why.text);
    }
    set_pending(NULL);
}
