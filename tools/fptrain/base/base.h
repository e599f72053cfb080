/* SPDX-License-Identifier: BSD-2-Clause */
/* base.h - what every file of fptrain uses: memory that is there or the program ends, and how errors are told. */
#ifndef FPTRAIN_BASE_BASE_H
#define FPTRAIN_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/atomic_file.h"
#include "common/clock.h"
#include "common/trouble.h"

/* One line on standard error that drives no terminal, from the command that runs. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* And exit status 2. Not for what a library function of ours can report. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The command that runs: lines that do not begin with its name get it. */
void die_in(const char *command);

/* Zeroed memory for count elements, aligned to 64 bytes; ends the program when there is none. Freed with free. */
void *need(uint64_t count, size_t size);
void *need_room(uint64_t count, size_t size);          /* not zeroed: what is written before it is read */
void *need_more(void *p, uint64_t count, size_t size); /* as realloc: what is new is not zeroed, nor aligned to 64 */
void *needed(void *p);                                 /* p; NULL ends the program: out of memory */
char *copy_text(const char *text, size_t length);      /* so many bytes of it, and an end; for free() */

bool ends_with(const char *text, const char *end);
char *text_joined(const char *a, const char *b, const char *c); /* one after the other, for free() */
char *path_join(const char *directory, const char *name);       /* DIRECTORY/NAME, for free() */

/* A command's files that must be whole. On failure: die, with the name of the command before the sentence. */
atomic_file output_open(const char *command, const char *path);
void output_commit(const char *command, atomic_file *file);

/* A value goes into an object or an array of JSON and belongs to it; all three are as jansson made them, NULL too. */
struct json_t;
void object_put(struct json_t *object, const char *key, struct json_t *value);
void array_add(struct json_t *array, struct json_t *value);

/* 64 bits from the pair (stream of a named purpose, index): every random decision that is no rounding. Pure. */
typedef enum purpose {
    FOR_WEIGHTS = 1,
    FOR_ORDER = 2,
    FOR_AUGMENT = 3,
    FOR_DROPOUT = 4,
    FOR_DATA = 5,
    FOR_ROUNDING = 6,
    FOR_STORING = 7,
    FOR_GROUPS = 8
} purpose;
uint64_t random_u64(uint64_t seed, purpose why, uint64_t stream, uint64_t index);
double random_unit(uint64_t seed, purpose why, uint64_t stream, uint64_t index);   /* [0, 1), 53 bits */
double random_normal(uint64_t seed, purpose why, uint64_t stream, uint64_t index); /* mean 0, deviation 1 */

/* Small loops over floats (`omp simd') that are compiled for several instruction sets. No operation is fused and sums
 * have fixed lanes, so all give the same bits. gcc 11 does not know these names of them. */
#if defined __x86_64__ && defined __GNUC__ && __GNUC__ >= 12 && !defined __clang__ && defined __GLIBC__ &&             \
    !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDE
#endif

#endif
