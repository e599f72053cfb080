/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h - what the bits of a run hang on beside its settings: program, compiler, libraries, processor.
 *
 * Rounding to formats gives the same bits everywhere, and so do the loops of this program. What differs from machine to
 * machine is the order of sums in products of matrices (oneDNN and BLAS choose it by the processor) and the last bit of
 * exp and its like (the mathematics of the C library, which does so too).
 */
#ifndef FPTRAIN_RUN_MACHINE_H
#define FPTRAIN_RUN_MACHINE_H

#include <jansson.h>

#include "engine/backend.h"

enum { MACHINE_PARTS = 5, MACHINE_TEXT = 128 };
typedef struct machine {
    char part[MACHINE_PARTS][MACHINE_TEXT]; /* fptrain, compiler, mathematics, products, processor */
} machine;

/* This one, with products by this backend. */
machine machine_here(const backend *b);
json_t *machine_to_json(const machine *m);
bool machine_from_json(const json_t *from, machine *m); /* false: it is none */
/* False and a sentence that names the first part that differs. */
bool machine_same(const machine *now, const machine *then, trouble *why);

#endif
