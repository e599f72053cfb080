/* SPDX-License-Identifier: BSD-2-Clause */
/* child.c - see child.h */
#include "testing/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ending.h"
#include "cli/error.h"

static volatile pid_t running; /* the leader of a process group, or 0 */

/* No child outlives the command, however that ends. */
static void stop_running(void)
{
    if (running > 0)
        kill(-running, SIGKILL);
}

/* What a crash raises; the handlers of a sanitizer would make an exit status of it. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

pid_t child_start(void)
{
    ending_act(stop_running);
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0)
        cli_fail("cannot start a process: %s", strerror(errno));
    if (child == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the command is killed */
#endif
        setpgid(0, 0);
        ending_leave_signals();
        for (int i = 0; i < CRASH_SIGNALS; i++)
            signal(crash_signals[i], SIG_DFL);
        return 0;
    }
    setpgid(child, child); /* whoever comes first; the other call may fail */
    running = child;
    return child;
}

int child_reap(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    running = 0;
    return status;
}

int child_kill(pid_t child)
{
    kill(-child, SIGKILL);
    return child_reap(child);
}

void child_describe_end(char *text, size_t size, int status)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
}

bool child_has_ended(pid_t child, int *status)
{
    if (waitpid(child, status, WNOHANG) == 0)
        return false;
    running = 0;
    return true;
}
