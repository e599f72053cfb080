/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - where values and gradients lie: those that are never needed at the same time share memory.
 *
 * A value is needed from the forward pass of its producer to that of its last consumer, and where a consumer reads it
 * once more in its backward pass, until then. A gradient lives from the backward pass of a consumer to that of the
 * producer. All of it lies in one array of float. */
#ifndef FPTRAIN_ENGINE_MEMORY_H
#define FPTRAIN_ENGINE_MEMORY_H

#include "engine/graph.h"

/* Places in floats, multiples of 16. */
typedef struct memory_plan {
    size_t floats;    /* of the whole array */
    size_t *value;    /* by value */
    size_t *gradient; /* by input of an operator, counted from the first operator's; of the fed batch: unused */
} memory_plan;

/* For batches of at most `batch` samples; the arrays are for memory_plan_free. */
memory_plan memory_plan_of(const graph *g, int batch);
void memory_plan_free(memory_plan *p);

size_t memory_scratch(const graph *g, int batch); /* floats that the operators borrow, one at a time */
/* Bytes that graph_finish reserves: values and gradients, what operators keep, and what they borrow. Backends and
 * parameters are not in it. */
size_t memory_of_passes(const graph *g, int batch);

#endif
