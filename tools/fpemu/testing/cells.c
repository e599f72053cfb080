/* SPDX-License-Identifier: BSD-2-Clause */
/* cells.c - see operands.h: what was covered. */
#include <math.h>

#include "testing/inputs.h"
#include "testing/operands.h"

const char *const cell_class_names[CELL_CLASSES] = {"zero", "subnormal", "normal", "infinity", "nan"};
const char *const cell_rounding_names[CELL_ROUNDINGS] = {"exact", "below", "above", "tie", "beyond", "special"};

bool cell_class_exists(const fpemu_format *format, cell_class class)
{
    const uint64_t infinity = fpemu_encode_one_f64(format, &(fpemu_rounding){0}, (double)INFINITY, 0);
    return class == CELL_SUBNORMAL  ? fpemu_format_min_positive(format) < fpemu_format_min_normal(format)
           : class == CELL_INFINITY ? isinf(fpemu_decode_one_f64(format, infinity)) != 0
           : class == CELL_NAN      ? format->has_nan != 0
           : class == CELL_ZERO     ? fpemu_format_represents(format, 0) != 0
                                    : true;
}

cell_class cell_class_of(const fpemu_format *format, double x)
{
    return isnan(x)                                    ? CELL_NAN
           : isinf(x)                                  ? CELL_INFINITY
           : x == 0                                    ? CELL_ZERO
           : fabs(x) < fpemu_format_min_normal(format) ? CELL_SUBNORMAL
                                                       : CELL_NORMAL;
}

cell_rounding cell_rounding_of(const fpemu_format *format, double exact)
{
    if (!isfinite(exact))
        return CELL_SPECIAL;
    if (exact > fpemu_format_max(format) || exact < fpemu_format_lowest(format))
        return CELL_BEYOND;
    if (exact == fpemu_format_max(format) || fpemu_format_represents(format, exact))
        return CELL_EXACT;
    const double high = fpemu_format_next_up(format, exact), low = fpemu_format_next_down(format, high);
    const double middle = exact < 0 ? -inputs_midpoint(format, -high, -low) : inputs_midpoint(format, low, high);
    return exact == middle ? CELL_TIE : (exact < middle) == (exact > 0) ? CELL_BELOW : CELL_ABOVE;
}
