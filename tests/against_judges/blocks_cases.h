/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_cases.h - blocked formats of every family, shapes, and inputs that cluster where mistakes are made, for the
 * tests of blocks; and the library against the judge of blocks.c on one of them. */
#ifndef BLOCKS_CASES_H
#define BLOCKS_CASES_H

#include "../judges/blocks.h"

/* Fills what the next call has as its stack with a byte of 0 to 15, which could be a mode or a rule of it. A call that
 * uses what it has not set then goes wrong sooner or later, whatever came before it. */
__attribute__((noinline, unused)) static void leave_on_stack(unsigned long long seed)
{
    unsigned char room[160 << 10];
    memset(room, (int)(seed % 16), sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

/* Formats of every family, small blocks: i = 0, 1, ...; returns 0 past the end. A format the library cannot make is a
 * failure. `text` (200 bytes) names it. */
int case_format(size_t i, fpemu_format *f, char *text);
/* Memory of so many bytes, and some behind them, all 0xa5; the program ends where there is none. */
void *case_room(uint64_t bytes);

typedef struct block_case {
    char spec[200];
    fpemu_format f;
    fpemu_rounding r;
    fpemu_shape shape; /* the strides are chosen by the checks, by `seed` */
    unsigned carrier;
    uint64_t seed;
    int plain;   /* 1: contiguous, no strides chosen */
    uint64_t *x; /* by index, bits of the carrier */
    uint64_t n;
} block_case;

/* The format of this name, which there is. */
void case_named(block_case *c, const char *spec);
/* A shape of 1 to 4 dimensions and any axis, of at most a few hundred elements: made by fpemu_shape_of, and compared
 * with what it should be. */
fpemu_shape case_shape(uint64_t *state);
/* Whether it has a scale of the whole tensor beside those of blocks. */
int case_is_nvfp4(const fpemu_format *f);
/* A range for shape.whole by `seed`, as delayed scaling tells that of earlier tensors: of nothing, or of numbers so much
 * smaller or larger that what is rounded lies past the carrier's end, or below its least; some of one sign only, some
 * with a NaN. 0: no scale of the format, or none that the judge knows, is made of it. */
int case_range(const block_case *c, fpemu_range *whole);
/* Scales for shape.given by `seed`, of a case that is filled: about those that elements ask for, and any others; the
 * scale of the tensor and zero points where the format takes them; some of what makes a block NaN. The arrays serve
 * until the next call. 0: the format takes none. */
int case_given(const block_case *c, fpemu_given *given);
/* Fills c->x (allocated; c->n set) with values for the format, the shape and the carrier, by `seed`. */
void case_fill(block_case *c);
/* Modes and the like by `seed`: every mode, variant, number of bits, generator and NaN policy comes. */
void case_rounding(block_case *c);
void case_free(block_case *c);

/* --rounds N and --seed S of a program's arguments. */
void case_options(int argc, char **argv, unsigned long *rounds, uint64_t *seed);

/* The library on the case, each failure printed by lh_check. Return 0 where the judge has no opinion, and then the
 * library must have refused too. */
int case_values(const block_case *c);
int case_packing(const block_case *c);
int case_counters(const block_case *c);

/* Such a check on random cases, `each` of every format, some longer than any piece the library works in; is_ranged: of
 * some the range of the tensor is told. */
void case_randomised(int (*check)(const block_case *), int is_ranged, unsigned long each, uint64_t seed);

#endif
