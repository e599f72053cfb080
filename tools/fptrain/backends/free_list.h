/* SPDX-License-Identifier: BSD-2-Clause */
/* free_list.h - things that threads borrow from a list: a thread that finds it empty makes one. Scratch memory of any
 * size is such a thing: there are as many pieces as threads that worked at a time, each as large as its largest use. */
#ifndef FPTRAIN_BACKENDS_FREE_LIST_H
#define FPTRAIN_BACKENDS_FREE_LIST_H

#include "base/base.h"

typedef struct pool {
    void **free;
    int count, room;
} pool;

void *pool_take(pool *p); /* NULL where none is free */
void pool_give(pool *p, void *thing);
void pool_clear(pool *p, void (*clear)(void *)); /* all have been given back */

/* A list of scratch memory alone. What is in it is arbitrary, or what its last use left; aligned to 64 bytes. */
void *scratch_take(pool *p, size_t bytes);
void scratch_give(pool *p, void *scratch);
void scratch_clear(pool *p);

#endif
