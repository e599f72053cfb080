/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.h - every public call, over every kind of format, model and carrier, on memory that the caller of this places.
 * What surrounds a call must not matter to it: the programs beside this change the surroundings, and compare. */
#ifndef SURROUNDINGS_CALLS_H
#define SURROUNDINGS_CALLS_H

#include "../common.h"

#include "fpemu.h"

/* The arrays of a call. */
typedef enum call_array {
    CALL_A, /* numbers; of a single-operand call x */
    CALL_B,
    CALL_C,
    CALL_SCALES_A, /* scales of operands */
    CALL_SCALES_B,
    CALL_CODES_IN,
    CALL_BYTES_IN,
    CALL_RANGE_IN, /* fpemu_range of a whole tensor */
    CALL_Y,        /* from here on written */
    CALL_CODES,
    CALL_BYTES,
    CALL_SCALES,
    CALL_SCALE_CODES,
    CALL_TENSOR, /* the two numbers of a whole tensor */
    CALL_STATS,  /* points into the two below */
    CALL_HISTOGRAM,
    CALL_SCALE_HISTOGRAM,
    CALL_RANGE,
    CALL_ARRAYS
} call_array;
#define CALL_FIRST_WRITTEN CALL_Y

typedef struct call call;
struct call {
    char name[256];
    const char *group; /* a part of the interface, for bounds of the stack */
    fpemu_status (*run)(const call *c, void *const *at);
    fpemu_format format;
    fpemu_rounding rounding;
    int carrier;  /* fpemu_type */
    int which;    /* operation, function, relation; what else the call needs */
    int specials; /* NaN (signalling too) and infinities are among the numbers */
    int by_value; /* functions that return a number, or make a format: on 32-bit x86 in registers of the x87 unit */
    uint32_t want;
    size_t n;
    fpemu_shape shape;
    uint64_t first, count; /* blocks */
    fpemu_gemm_spec gemm;
    fpemu_gemm_shape product;
    struct {
        size_t bytes;     /* 0: not used */
        size_t alignment; /* what the interface asks for; 1: any address */
    } need[CALL_ARRAYS];
};

/* Every call with some n elements, and products that are as large; from 2^17 on, when threads share the work, those
 * that do. Returns how many there were. */
size_t calls_each(size_t n, void (*visit)(const call *c, void *context), void *context);

/* Memory for the arrays of one call after the other. */
typedef struct call_room {
    void *arrays[CALL_ARRAYS];
    size_t capacity[CALL_ARRAYS];
} call_room;

/* The arrays that the call has, filled with a pattern and then as calls_fill does; NULL for the others. Ends the
 * program with 77 where there is no memory. */
void calls_place(call_room *room, const call *c, void **at);
void calls_leave(call_room *room);

/* Inputs become numbers of all kinds, made of integers alone; outputs a pattern; stats a request. */
void calls_fill(const call *c, void *const *at);
/* A digest of all that the call wrote, and its status. */
uint64_t calls_digest(const call *c, void *const *at, fpemu_status status);

#endif
