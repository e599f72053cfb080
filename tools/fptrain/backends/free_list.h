/* SPDX-License-Identifier: BSD-2-Clause */
/* free_list.h - things that threads borrow from a list: a thread that finds it empty makes one. */
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

#endif
