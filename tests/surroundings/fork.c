/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.c - calls in a child of a process that has called. Whatever the parent did, a child that lets one thread work
 * (omp_set_num_threads) gets its results; with more threads it does where the parent had none of its own at work. What
 * a child with two threads does after a parent with two is OpenMP's: libgomp waits for threads that are gone, for ever,
 * libomp starts new ones. It must not give other results. */
#include "../../tools/common/system.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../against_judges/variants.h"
#include "calls.h"

static call_room room;

static void visit(const call *c, void *context)
{
    uint64_t *const digest = context;
    void *at[CALL_ARRAYS];
    calls_place(&room, c, at);
    const uint64_t one = calls_digest(c, at, c->run(c, at));
    *digest = variants_fold(*digest, &one, sizeof one);
}

/* Calls of which threads share the work. */
static uint64_t work(int threads)
{
    uint64_t digest = 0;
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
    (void)calls_each(131072 + 77, visit, &digest);
    return digest;
}

enum { SAME, OTHER, HANGS, DIES };

/* What becomes of a child that works, within so many seconds. */
static int child(int threads, unsigned seconds, uint64_t expected)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(seconds);
        _exit(work(threads) == expected ? SAME : OTHER);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(77);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGALRM ? HANGS : DIES;
}

/* A process whose parent has used no threads yet; its child uses two. */
static int grandchild(uint64_t expected)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(work(1) == expected ? child(2, 120, expected) : OTHER);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(77);
    return WIFEXITED(status) ? WEXITSTATUS(status) : DIES;
}

int main(int argc, char **argv)
{
    if (getenv("OMP_WAIT_POLICY") == NULL && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        (void)execv(argv[0], argv);
    const uint64_t expected = work(1);
    lh_check(argc == 1, "no arguments");
    lh_check(grandchild(expected) == SAME, "a child with two threads of a parent with one");
    lh_check(work(2) == expected, "two threads");
    lh_check(child(1, 120, expected) == SAME, "a child with one thread of a parent with two");
    const int both = child(2, 3, expected);
    lh_check(both == SAME || both == HANGS, "a child with two threads of a parent with two: %d", both);
    if (getenv("FORK_PRINT"))
        printf("a child with two threads of a parent with two %s\n", both == SAME ? "works" : "hangs");
    return lh_report("fork");
}
