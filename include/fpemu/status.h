/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/status.h - the version, what calls return, and what the library says of itself. */
#ifndef FPEMU_API_STATUS_H
#define FPEMU_API_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define FPEMU_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define FPEMU_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define FPEMU_VERSION_MAJOR 0
#define FPEMU_VERSION_MINOR 1
#define FPEMU_VERSION_PATCH 0
#define FPEMU_VERSION (FPEMU_VERSION_MAJOR * 10000 + FPEMU_VERSION_MINOR * 100 + FPEMU_VERSION_PATCH)

/* FPEMU_VERSION of the library that is linked; the macro is that of the header. */
int fpemu_version(void);

/* What every function that can fail returns. Values, once released, stay. */
typedef enum fpemu_status {
    FPEMU_OK = 0,
    FPEMU_ERROR_NULL = 1,        /* a pointer that is needed is NULL */
    FPEMU_ERROR_FORMAT = 2,      /* the format is invalid: all zero bits, or parameters out of range */
    FPEMU_ERROR_CARRIER = 3,     /* the carrier cannot hold every value of the format exactly */
    FPEMU_ERROR_ROUNDING = 4,    /* a field of the rounding is out of range */
    FPEMU_ERROR_UNSUPPORTED = 5, /* format and rounding, or format and call, do not go together; fpemu_why says why */
    FPEMU_ERROR_OVERLAP = 6,     /* input and output share an element, other than by being one array */
    FPEMU_ERROR_SPEC = 7,        /* a text could not be read; fpemu_parse_error says where and why */
    FPEMU_ERROR_BUFFER = 8,      /* a buffer of the caller is too small */
    FPEMU_ERROR_NAN = 9,         /* the NaN policy is `error`, and a NaN came; every element was processed */
    FPEMU_ERROR_STATS = 10,      /* a field of the stats is out of range, or two stats cannot be merged */
    FPEMU_ERROR_ARGUMENT = 11    /* another argument is out of range */
} fpemu_status;

/* Which argument a check refuses. */
typedef enum fpemu_argument {
    FPEMU_ARGUMENT_NONE = 0,
    FPEMU_ARGUMENT_FORMAT = 1,
    FPEMU_ARGUMENT_ROUNDING = 2,
    FPEMU_ARGUMENT_TYPE = 3,
    FPEMU_ARGUMENT_USE = 4,
    FPEMU_ARGUMENT_SPEC = 5, /* of a product: the spec, or its accumulator; and its targets */
    FPEMU_ARGUMENT_A = 6,
    FPEMU_ARGUMENT_B = 7,
    FPEMU_ARGUMENT_PRODUCT = 8,
    FPEMU_ARGUMENT_INNER = 9,
    FPEMU_ARGUMENT_OUTER = 10,
    FPEMU_ARGUMENT_OUT = 11
} fpemu_argument;

/* Why a check refuses; all zero where it does not. */
typedef struct fpemu_why {
    uint32_t argument; /* fpemu_argument */
    char message[124]; /* one line, zero-terminated: what is wrong with the argument, and what would do */
} fpemu_why;
FPEMU_STATIC_ASSERT(sizeof(fpemu_why) == 128, "fpemu_why has no unnamed padding");

/* A short English text, for numbers that are no status too; never NULL. */
const char *fpemu_status_text(fpemu_status status);

/* Which instruction set the array loops use: "portable", "x86-64-v3" or "x86-64-v4". The best one that the machine runs
 * is taken; the environment variable FPEMU_VARIANT names another, and is ignored where the machine lacks that one. The
 * choice changes no bit of a result. */
const char *fpemu_variant(void);
/* Names of the variants that are compiled in and that this machine runs: i = 0, 1, ...; NULL past the end. */
const char *fpemu_variant_available(unsigned i);

/* Bytes of a struct of these headers in the library, for programs in other languages: `noun` is its name without
 * "fpemu_", such as "format", "stats" or "gemm_spec". 0 for another noun and for NULL. Every struct has the same size
 * on every machine: pointers lie in a union with 64 bits, and no padding is unnamed. */
size_t fpemu_sizeof(const char *noun);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_STATUS_H */
