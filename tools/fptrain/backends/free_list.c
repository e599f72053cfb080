/* SPDX-License-Identifier: BSD-2-Clause */
/* free_list.c - see free_list.h */
#include "backends/free_list.h"

#include <stdlib.h>

void *pool_take(pool *p)
{
    void *thing = NULL;
#ifdef _OPENMP
#pragma omp critical(fptrain_pool)
#endif
    if (p->count)
        thing = p->free[--p->count];
    return thing;
}

void pool_give(pool *p, void *thing)
{
#ifdef _OPENMP
#pragma omp critical(fptrain_pool)
#endif
    {
        if (p->count == p->room) {
            p->room = 2 * p->room + 4;
            p->free = need_more(p->free, (uint64_t)p->room, sizeof *p->free);
        }
        p->free[p->count++] = thing;
    }
}

void pool_clear(pool *p, void (*clear)(void *))
{
    for (int i = 0; i < p->count; i++)
        clear(p->free[i]);
    free(p->free);
    *p = (pool){0};
}

/* ---------------------------------------------------------------------------------------------- scratch memory */

/* What lies before the memory that is lent; as long as the alignment. */
typedef union scratch {
    size_t bytes;
    char line[64];
} scratch;

void *scratch_take(pool *p, size_t bytes)
{
    scratch *s = pool_take(p);
    if (s && s->bytes >= bytes)
        return s + 1;
    free(s);
    if (bytes > SIZE_MAX - sizeof *s)
        die("out of memory");
    s = need_room(1, sizeof *s + bytes);
    s->bytes = bytes;
    return s + 1;
}

void scratch_give(pool *p, void *memory)
{
    pool_give(p, (scratch *)memory - 1);
}

void scratch_clear(pool *p)
{
    pool_clear(p, free);
}
