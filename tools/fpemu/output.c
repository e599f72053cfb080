/* output.c - see output.h */
#include "cli.h"

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file to remove, or NULL. Changed only while the signals below are blocked. */
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

static void remove_pending(void)
{
    const sigset_t before = block_signals();
    if (pending != NULL) {
        unlink(pending);
        free(pending);
        pending = NULL;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Installed with SA_RESETHAND: the second raise ends the program as the signal would have. */
static void remove_and_die(int signal_number)
{
    if (pending != NULL) {
        unlink(pending);
    }
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

/* "directory/.fpemu-XXXXXX" beside the target. */
static char *temporary_name(const char *target)
{
    const char *slash = strrchr(target, '/');
    const size_t directory = slash != NULL ? (size_t)(slash - target) + 1 : 0;
    static const char name[] = ".fpemu-XXXXXX";
    char *path = cli_allocate(directory + sizeof name, 1);
    memcpy(path, target, directory);
    memcpy(path + directory, name, sizeof name);
    return path;
}

/* The permissions of the file that is replaced, or those of a new file. */
static mode_t permissions(bool exists, const struct stat *status)
{
    if (exists) {
        return status->st_mode & 0777;
    }
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

const char *output_path(const char *argument)
{
    if (strcmp(argument, "-") == 0) {
        cli_usage("-o: '-' is not taken for standard output; './-' names a file");
    }
    return argument;
}

output output_open(const char *path)
{
    output out = {.path = path};
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    if (!exists && errno != ENOENT) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    if (exists && !S_ISREG(status.st_mode)) {
        out.file = fopen(path, "wb"); /* a directory fails here */
        if (out.file == NULL) {
            cli_fail("%s: %s", path, strerror(errno));
        }
        return out;
    }
    out.target = exists ? realpath(path, NULL) : strdup(path); /* through a link, its target is replaced */
    if (out.target == NULL) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    guard_once();
    char *temporary = temporary_name(out.target);
    const sigset_t before = block_signals();
    const int descriptor = mkstemp(temporary);
    const int error = errno;
    if (descriptor >= 0) {
        pending = temporary;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (descriptor < 0) {
        cli_fail("%s: cannot create a file beside it: %s", path, strerror(error));
    }
    if (fchmod(descriptor, permissions(exists, &status)) != 0 || (out.file = fdopen(descriptor, "wb")) == NULL) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    return out;
}

void output_write(output *out, const void *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, out->file) != size) {
        cli_fail("%s: %s", out->path, strerror(errno));
    }
}

void output_commit(output *out)
{
    const bool temporary = out->target != NULL;
    if (fflush(out->file) != 0 || (temporary && fsync(fileno(out->file)) != 0)) {
        cli_fail("%s: %s", out->path, strerror(errno));
    }
    if (fclose(out->file) != 0) {
        cli_fail("%s: %s", out->path, strerror(errno));
    }
    if (!temporary) {
        return;
    }
    const sigset_t before = block_signals();
    const int failed = rename(pending, out->target);
    const int error = errno;
    char *name = pending;
    if (failed == 0) {
        pending = NULL;
        free(name);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        cli_fail("%s: %s", out->path, strerror(error));
    }
    free(out->target);
    out->target = NULL;
}
