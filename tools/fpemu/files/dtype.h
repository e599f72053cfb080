/* SPDX-License-Identifier: BSD-2-Clause */
/* dtype.h - the number types that array files hold, and the way between their bytes and a carrier. */
#ifndef FPEMU_TOOL_DTYPE_H
#define FPEMU_TOOL_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "fpemu.h"

typedef struct dtype {
    const char *name; /* as in safetensors: "F32" */
    const char *code; /* as in .npy, without the byte order: "f4"; NULL: .npy lacks it */
    const char *text; /* as NumPy says it: "float32" */
    fpemu_name format;
    unsigned size; /* bytes */
} dtype;

/* i = 0, 1, ...; NULL past the end. The types of floating-point numbers only. */
const dtype *dtype_at(unsigned i);
/* By name, upper or lower case, by what NumPy says, or by code; NULL if there is none. */
const dtype *dtype_named(const char *name);
const dtype *dtype_texted(const char *text);
const dtype *dtype_coded(const char *code);
/* The bytes of a type of integers, as .npy ("i4", "<i4") or safetensors ("I32") says it; 0: it is none. */
unsigned dtype_integer(const char *code, bool *is_signed);
fpemu_format dtype_format(const dtype *type);
/* n floats to the nearest values of the type, in place; NULL: they stay. */
void dtype_round(const dtype *type, size_t n, float *y);
/* Whether every value of the format, its infinities and NaN included, is a value of the type. Of a format with scales
 * only the carriers are known to hold them. */
bool dtype_holds(const dtype *type, const fpemu_format *format);

/* Whether elements of the type are rounded to the format as double, whatever type the results are stored in; else as
 * float. */
bool dtype_needs_binary64(const dtype *type, const fpemu_format *format);

/* The type of the arrays that elements are rounded in. */
static inline fpemu_type dtype_carrier(bool binary64)
{
    return binary64 ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32;
}

/* n elements of the type from bytes in the byte order said, which are turned in place, to float or double; exact (float
 * takes every type but F64). */
void dtype_load(const dtype *type, bool big_endian, size_t n, void *bytes, bool binary64, void *x);
/* The way back; false if some element is no value of the type. x may be `bytes` where the sizes are equal. */
bool dtype_store(const dtype *type, bool big_endian, size_t n, const void *x, bool binary64, void *bytes);

#endif
