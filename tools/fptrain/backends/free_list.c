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
            p->free = realloc(p->free, (size_t)p->room * sizeof(void *));
            if (!p->free)
                die("out of memory");
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
