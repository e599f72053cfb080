/* SPDX-License-Identifier: BSD-2-Clause */
/* rule.c - see rule.h */
#include "numerics/rule.h"

#include <float.h>
#include <string.h>

#include "common/shown.h"

bool rule_parse(rule *l, const char *spec, const char *mode, trouble *why)
{
    memset(l, 0, sizeof *l);
    fpemu_parse_error error;
    char cut[SHOWN_SIZE];
    if (mode && fpemu_rounding_parse(mode, &l->rounding, &error))
        return fail(why, "rounding '%s': %s", shown(mode, error.position, cut), error.message);
    if (!strcmp(spec, "fp32"))
        return true;
    if (fpemu_format_parse(spec, &l->format, &error))
        return fail(why, "format '%s', character %u: %s", shown(spec, error.position, cut),
                    (unsigned)error.position + 1, error.message);
    fpemu_why refused;
    if (fpemu_prepare(&l->call, &l->format, &l->rounding, FPEMU_TYPE_F32, FPEMU_USE_QUANTIZE, &refused)) {
        memset(l, 0, sizeof *l);
        return fail(why, "format '%s'%s%s: %s", shown(spec, 0, cut), mode ? " with rounding " : "", mode ? mode : "",
                    refused.message);
    }
    return true;
}

double rule_max(const rule *l)
{
    return !l->format.kind || l->format.scaling ? FLT_MAX : fpemu_format_max(&l->format);
}

double rule_min(const rule *l)
{
    return !l->format.kind || l->format.scaling ? 0x1p-149 : fpemu_format_min_positive(&l->format);
}

double rule_bits(const rule *l)
{
    return l->format.kind ? fpemu_format_bits_per_element(&l->format) : 32;
}
