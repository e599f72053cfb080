/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.c - see limits.h */
#include "report/limits.h"

#include <math.h>
#include <string.h>

#include "policies/policy.h"

limits limits_of(const settings *s, const char *role, const char *tensor)
{
    const format_line *line = format_line_of(s->format_count, s->formats, role, tensor);
    limits l = {.spec = NULL};
    fpemu_format format;
    if (!line || strcmp(line->spec, "fp32") == 0 || fpemu_format_parse(line->spec, &format, NULL) != FPEMU_OK)
        return l;
    const double normal = fpemu_format_min_normal(&format), smallest = fpemu_format_min_positive(&format);
    if (format.scaling || !(smallest > 0))
        return l;
    l.spec = line->spec;
    l.smallest = ilogb(smallest);
    l.has_normal = normal > smallest;
    l.normal = l.has_normal ? ilogb(normal) : 0;
    l.largest = ilogb(fpemu_format_max(&format));
    return l;
}
