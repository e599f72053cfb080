/* SPDX-License-Identifier: BSD-2-Clause */
/* why.c - what checks say of what they refuse. */
#include <stdio.h>

#include "array.h"
#include "format/decimal.h"

#define R(id, status, argument, text) {FPEMU_ERROR_##status, FPEMU_ARGUMENT_##argument, text},
static const struct {
    fpemu_status status;
    fpemu_argument argument;
    const char *text;
} reasons[] = {
    {FPEMU_OK, FPEMU_ARGUMENT_NONE, ""},
#include "core/reasons.def"
};
#undef R

/* The name of a compatibility setting, as fpemu_rounding_parse reads it. */
static const char *compat_name(uint32_t compat)
{
    fpemu_rounding r;
    unsigned i = 0;
    while (fpemu_compat_name(i) && (fpemu_rounding_parse(fpemu_compat_name(i), &r, NULL) || r.compat != compat))
        i++;
    return fpemu_compat_name(i);
}

/* What stands in the place of a text's '*'; memory is for a number. */
static const char *detail(core_reason reason, const fpemu_format *f, const fpemu_rounding *r, int type, char *memory)
{
    switch (reason) {
    case REASON_ROUNDING_FIELD: return fpemu_rounding_damage(r);
    case REASON_POSIT_MODE:
    case REASON_TABLE_MODE: return fpemu_mode_name((fpemu_mode)r->mode);
    case REASON_BLOCK_COMPAT:
    case REASON_SCALAR_COMPAT: return compat_name(r->compat);
    case REASON_RESULT_SCALE: fpemu_decimal_print(f->scale, memory); return memory;
    default: return type == FPEMU_TYPE_F16 ? "binary16" : type < 0 ? "bfloat16" : "binary32";
    }
}

fpemu_status fpemu_refuse(fpemu_why *why, core_reason reason, const fpemu_format *f, const fpemu_rounding *r, int type)
{
    const char *const text = reasons[reason].text, *const star = strchr(text, '*');
    char memory[FPEMU_DECIMAL_SIZE];
    if (why) {
        why->argument = reasons[reason].argument;
        snprintf(why->message, sizeof why->message, "%.*s%s%s", star ? (int)(star - text) : 123, text,
                 star ? detail(reason, f, r, type, memory) : "", star ? star + 1 : "");
    }
    return reasons[reason].status;
}
