/* search.h - what the parts of `fpemu fuzz` share: the search (fuzz.c), the classes of differences (fuzz_classes.c) and
 * the report (fuzz_report.c).
 */
#ifndef FPEMU_TOOL_SEARCH_H
#define FPEMU_TOOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fpemu.h"
#include "testing/external.h"
#include "testing/operands.h"
#include "testing/operation.h"

/* What a difference is about, in the order of the report. */
typedef enum difference {
    STRAY_BITS, /* the right code, with bits above the width of the format */
    TIE,
    SUBNORMAL,
    UNDERFLOW_TO_ZERO,
    OVERFLOW_THRESHOLD,
    ABOVE_MAX,
    NEGATIVE,
    INFINITE,
    DIVISION_BY_ZERO,
    INVALID_OPERATION, /* of numbers, none of them NaN */
    NOT_A_NUMBER,
    SIGNED_ZERO,
    ZERO,
    NORMAL,
    DIFFERENCES
} difference;
extern const char *const difference_names[DIFFERENCES];

/* One number with its bits; the value is exact. */
typedef struct number {
    double value;
    uint64_t code;
} number;

typedef struct finding {
    uint64_t count;
    number operand[OPERATION_MOST], expected, got;
} finding;

typedef struct search {
    const char *spec, *mode;   /* as the user wrote them */
    const operation *what;
    fpemu_format format, from; /* `from`: of the inputs; SPEC itself when its codes are decoded */
    uint64_t mask;             /* the bits of a code of `format` */
    bool decodes, strict_nan;
    fpemu_rounding rounding;
    external other;
    operands in;
    double deadline;
    uint64_t done[INPUT_STAGES];
    bool late;
    finding found[DIFFERENCES];
    uint64_t *codes[OPERATION_MOST]; /* a batch of inputs, */
    void *carrier[OPERATION_MOST];   /* as values where they are codes, */
    void *expected;                  /* and its results */
} search;

/* The bits of an element of a type, as a number; codes are of `format`. */
number fuzz_number(external_type type, const fpemu_format *format, uint64_t code);
/* Operand k of element i of the batch. */
number fuzz_operand(const search *s, int k, size_t i);
/* Both results say the same. */
bool fuzz_same(const search *s, number expected, number got);
/* A code with bits above the width of the format. */
bool fuzz_stray_bits(const search *s, uint64_t code);
/* Puts a difference into its class. */
void fuzz_take(search *s, const number operand[OPERATION_MOST], number expected, number got);

uint64_t fuzz_inputs(const search *s); /* how many were compared */
uint64_t fuzz_mismatches(const search *s);
void fuzz_print_table(const search *s);
void fuzz_print_json(const search *s);
/* Ends the command: the other side crashed, hung or gave nonsense; what was found until then was printed already. */
_Noreturn void fuzz_report_failure(const search *s);

#endif
