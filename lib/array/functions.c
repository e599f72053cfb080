/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - elementary functions: their names, and their rule compiled once. The array loops are arith.c's. */
#include "core/functions.h"

#include "array.h"

static const char *const names[FPEMU_FUNCTION_COUNT] = {
    "exp",   "exp2",  "exp10", "expm1", "log",   "log2",    "log10", "log1p", "sin",
    "cos",   "tan",   "asin",  "acos",  "atan",  "sinh",    "cosh",  "tanh",  "asinh",
    "acosh", "atanh", "erf",   "erfc",  "rsqrt", "sigmoid", "silu",  "gelu",  "softplus"};

const char *fpemu_function_name(fpemu_function function)
{
    return (unsigned)function < FPEMU_FUNCTION_COUNT ? names[function] : NULL;
}

fpemu_status fpemu_function_named(const char *name, fpemu_function *function)
{
    if (!name || !function)
        return FPEMU_ERROR_NULL;
    for (int i = 0; i < FPEMU_FUNCTION_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *function = (fpemu_function)i;
            return FPEMU_OK;
        }
    return FPEMU_ERROR_ARGUMENT;
}

core_exact fpemu_function_exact(fpemu_function function, uint64_t bits)
{
    return core_function_result(function, bits);
}
