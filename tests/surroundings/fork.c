/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.c - calls in a child of a process that has called. Whatever threads the parent has used, and whatever the child
 * asks of OpenMP, a child gets its results, by one thread; so does a child of it, and one that is made while another
 * thread is within a call. The parent goes on with its threads, and a program started by posix_spawn has its own. */
#include "../../tools/common/system.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../against_judges/variants.h"
#include "calls.h"

extern char **environ;

static call_room room;

static void visit(const call *c, void *context)
{
    uint64_t *const digest = context;
    void *at[CALL_ARRAYS];
    calls_place(&room, c, at);
    const uint64_t one = calls_digest(c, at, c->run(c, at));
    *digest = fnv(*digest, &one, sizeof one);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls of which threads share the work; *others: the part of its processor time that others than this one took. */
static uint64_t work(int threads, double *others)
{
    const double all = seconds(CLOCK_PROCESS_CPUTIME_ID), own = seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t digest = 0;
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
    (void)calls_each(131072 + 77, visit, &digest);
    *others = 1 - (seconds(CLOCK_THREAD_CPUTIME_ID) - own) / (seconds(CLOCK_PROCESS_CPUTIME_ID) - all);
    return digest;
}

enum { SAME, OTHER, THREADS, HANGS, DIES };

/* What becomes of a child that works, and of `more` generations of children of its. */
static int child(int threads, int more, uint64_t expected)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        double others;
        (void)alarm(120);
        const uint64_t found = work(threads, &others);
        _exit(found != expected ? OTHER : others > 0.01 ? THREADS : more ? child(threads, more - 1, expected) : SAME);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(77);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGALRM ? HANGS : DIES;
}

/* A call of few elements, and one of which threads share the work, with counters. */
static int two_calls(void)
{
    enum { MANY = 1 << 18 };
    static _Thread_local float x[MANY];
    fpemu_format f;
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_stats stats = {0};
    return fpemu_format_parse("e4m3fn", &f, NULL) == FPEMU_OK &&
           fpemu_quantize_f32(&f, &r, 1, x, x, &stats) == FPEMU_OK &&
           fpemu_quantize_f32(&f, &r, MANY, x, x, &stats) == FPEMU_OK && stats.count == 1 + MANY;
}

static atomic_int enough;

static void *call_on(void *nothing)
{
    while (!enough)
        (void)two_calls();
    return nothing;
}

/* Children of a process of which another thread calls all the time. */
static int children_meanwhile(int count)
{
    pthread_t thread;
    int status = 0;
    if (pthread_create(&thread, NULL, call_on, NULL) != 0)
        exit(77);
    for (int i = 0; i < count && status == 0; i++) {
        const pid_t pid = fork();
        if (pid == 0) {
            (void)alarm(60);
            _exit(two_calls() ? SAME : OTHER);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            exit(77);
    }
    enough = 1;
    (void)pthread_join(thread, NULL);
    return status;
}

/* The part of others in what a program of its own does, in percent. */
static int spawned(char *program)
{
    char *const arguments[] = {program, (char[]){"spawned"}, NULL};
    int status;
    pid_t pid;
    if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0 || waitpid(pid, &status, 0) != pid)
        exit(77);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    double others;
    if (getenv("OMP_WAIT_POLICY") == NULL && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        (void)execv(argv[0], argv);
    if (argc == 2) {
        (void)work(2, &others);
        return (int)(100 * others);
    }
    const uint64_t expected = work(1, &others);
    lh_check(child(2, 0, expected) == SAME, "a child with two threads of a parent with one");
    lh_check(work(2, &others) == expected, "two threads");
    lh_check(child(1, 0, expected) == SAME, "a child with one thread of a parent with two");
    const int both = child(2, 1, expected);
    lh_check(both == SAME, "a child with two threads of a parent with two, and a child of it: %d", both);
    const int meanwhile = children_meanwhile(100);
    lh_check(meanwhile == 0, "a child made while another thread calls: status %d", meanwhile);
    lh_check(work(2, &others) == expected, "two threads of a parent");
#ifdef _OPENMP
    const double least = 0.05;
#else
    const double least = -1;
#endif
    lh_check(others > least, "of the work of a parent its threads do %g", others);
    const int percent = spawned(argv[0]);
    lh_check(percent > 100 * least, "of the work of a program that was started its threads do %d %%", percent);
    return lh_report("fork");
}
