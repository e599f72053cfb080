/* SPDX-License-Identifier: BSD-2-Clause */
/* signature.h - the types of somebody else's function. */
#ifndef FPEMU_TOOL_SIGNATURE_H
#define FPEMU_TOOL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum external_type {
    EXTERNAL_F32,
    EXTERNAL_F64,
    EXTERNAL_U8,
    EXTERNAL_U16,
    EXTERNAL_U32,
    EXTERNAL_U64,
    EXTERNAL_TYPES
} external_type;

enum { EXTERNAL_OPERANDS = 5, EXTERNAL_SIZES = 3 };

/* OUT f(IN a), OUT f(IN a, IN b) or OUT f(IN a, IN b, IN c); or for arrays f(const IN *a, ..., OUT *y, size_t n), and
 * as many more sizes as matrices have. */
typedef struct external_signature {
    external_type in, out;
    bool array;
    bool tensors, bytes; /* arrays are tensors, or the operands of sums; the result is packed bytes, of type u8 */
    int operands;        /* 1 to EXTERNAL_OPERANDS */
} external_signature;

/* Reads "f32-to-u8", "f32-to-u8-array", "f32-to-bytes" and so on; `operands` and `tensors` stay. */
bool signature_read(const char *text, external_signature *signature);
#define SIGNATURE_SIZE 24
const char *signature_print(char text[SIGNATURE_SIZE], const external_signature *signature);
const char *signature_type_name(external_type type);
size_t signature_size(external_type type); /* bytes */
bool signature_is_code(external_type type);
external_type signature_code_type(size_t size);

#endif
