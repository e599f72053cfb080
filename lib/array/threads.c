/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c - see threads.h. A child of fork has one thread. OpenMP's runtime may wait there for threads of the parent,
 * and a lock for one that the parent's threads held: so calls in a child use neither. */
#include "threads.h"

#ifdef _OPENMP
#include <omp.h>

static int alone; /* written before there are other threads, at the start and in a child */

#if !defined(_WIN32)
#include <pthread.h>

static void note_fork(void)
{
    alone = 1;
}

/* At the start, since other users of OpenMP may have threads before this library's first call. */
static __attribute__((constructor)) void watch_forks(void)
{
    alone = pthread_atfork(NULL, NULL, note_fork) != 0;
}
#endif
#endif

int fpemu_threads(void)
{
#ifdef _OPENMP
    return alone || omp_in_parallel() ? 1 : omp_get_max_threads();
#else
    return 1;
#endif
}

void fpemu_gather_join(gathering *g, int carrier, int parts, fpemu_stats *to)
{
    if (parts == 1) {
        fpemu_gather_end(g, carrier, to);
        return;
    }
#ifdef _OPENMP
#pragma omp critical(fpemu_gather)
#endif
    fpemu_gather_end(g, carrier, to);
}
