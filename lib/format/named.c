/* SPDX-License-Identifier: BSD-2-Clause */
/* named.c - the table of formats that have a name; named.def. */
#include "named.h"

#include "scalar.h"

#include <string.h>

static const struct named {
    uint32_t kind, bits, exponent_bits, mantissa_bits;
    int32_t bias;
    uint8_t specials, is_signed;
    const char *spec;     /* blocked formats: what the name stands for */
    const char *names[8]; /* ends with NULL */
} table[FPEMU_NAME_COUNT] = {
#define FORMAT_FLOAT(id, e, m, bias, specials, is_signed, ...)                                                         \
    [FPEMU_NAME_##id] = {FPEMU_KIND_FLOAT,   0, e, m, bias, FPEMU_SPECIALS_##specials, is_signed, NULL,                \
                         {__VA_ARGS__, NULL}},
#define FORMAT_INTEGER(id, bits, is_signed, ...)                                                                       \
    [FPEMU_NAME_##id] = {FPEMU_KIND_INT, bits, 0, 0, 0, 0, is_signed, NULL, {__VA_ARGS__, NULL}},
#define FORMAT_BLOCKED(id, spec, ...) [FPEMU_NAME_##id] = {0, 0, 0, 0, 0, 0, 0, spec, {__VA_ARGS__, NULL}},
#include "named.def"
#undef FORMAT_FLOAT
#undef FORMAT_INTEGER
#undef FORMAT_BLOCKED
};

const char *fpemu_format_name(fpemu_name name, unsigned alias)
{
    if ((uint32_t)name >= FPEMU_NAME_COUNT || alias >= sizeof table[0].names / sizeof table[0].names[0])
        return NULL;
    return table[name].names[alias];
}

const char *fpemu_named_spec(fpemu_name name)
{
    return table[name].spec;
}

int fpemu_named_scalar(fpemu_name name, fpemu_format *format)
{
    const struct named *n = &table[name];
    memset(format, 0, sizeof *format);
    if (n->kind == FPEMU_KIND_FLOAT) {
        fpemu_set_float(format, n->exponent_bits, n->mantissa_bits, n->bias, n->specials, n->is_signed);
    } else {
        format->kind = n->kind;
        format->bits = n->bits;
        format->is_signed = n->is_signed;
        format->scale = 1;
        format->overflow = FPEMU_OVERFLOW_IEEE;
        format->nan = FPEMU_NAN_KEEP;
    }
    fpemu_problem problem;
    return fpemu_derive_scalar(format, &problem);
}
