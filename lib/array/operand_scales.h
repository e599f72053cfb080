/* SPDX-License-Identifier: BSD-2-Clause */
/* operand_scales.h - operands of arithmetic that may have scales, without their types: for arith.c and compare.c. An
 * element times its scale is a binary64 number: always where both are binary32 numbers, else it is checked. */
#ifndef FPEMU_ARRAY_OPERAND_SCALES_H
#define FPEMU_ARRAY_OPERAND_SCALES_H

#include "core/fits.h"
#include "array.h"
#include "threads.h"

/* Scales of an operand, as fpemu_operand_scales. */
typedef struct scaling {
    const void *values; /* NULL: none */
    size_t length, count;
} scaling;

/* Element i of an operand. */
static inline double operand_at(const void *x, int carrier, size_t i)
{
    if (carrier == 32) {
        float v;
        memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
        return (double)v;
    }
    if (carrier_is_narrow(carrier))
        return (double)core_value32(core_from_narrow(carrier == FPEMU_TYPE_BF16, (uint32_t)load_code(x, 2, i)));
    double v;
    memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
    return v;
}

/* The scale of element i; *same: how many elements from there on share it. */
static inline double scale_at(const scaling *s, int carrier, size_t i, size_t *same)
{
    const size_t block = s->length ? i / s->length : 0;
    *same = s->length ? s->length - i % s->length : SIZE_MAX;
    return operand_at(s->values, carrier_wide(carrier), s->count ? block % s->count : block);
}

/* Multiplies elements [first, first + n) by their scales. */
static inline void scale_tile(const scaling *s, int carrier, size_t first, size_t n, double *v)
{
    for (size_t i = 0, m; i < n; i += m) {
        const double scale = scale_at(s, carrier, first + i, &m);
        m = m < n - i ? m : n - i;
        for (size_t e = i; e < i + m; e++)
            v[e] *= scale;
    }
}

/* check_overlap of an operand of n elements; step 0: one number, which may lie anywhere. */
static inline fpemu_status check_operand(const void *x, size_t step, size_t a, const void *y, size_t b, size_t n)
{
    core_reach one, all;
    if (step > 1)
        return FPEMU_ERROR_ARGUMENT;
    if (step)
        return check_overlap(x, a, y, b, n);
    return core_reach_array(&one, x, 1, a) && core_reach_array(&all, y, n, b) ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
}

/* Whether scales go with an operand of n elements (step 0: one), and lie apart from y, of n elements of `y_size`. */
static inline fpemu_status check_scales(const scaling *s, int carrier, size_t n, const void *x, size_t step,
                                        const void *y, size_t y_size)
{
    if (!s->values)
        return FPEMU_OK;
    const size_t blocks = s->length ? (n - 1) / s->length + 1 : 1;
    const size_t count = s->count && s->count < blocks ? s->count : blocks;
    const size_t size = carrier_size(carrier_wide(carrier));
    core_reach from, to;
    if (!core_reach_array(&from, s->values, count, size) || !core_reach_array(&to, y, n, y_size))
        return FPEMU_ERROR_ARGUMENT;
    if (core_reaches_meet(&from, &to))
        return FPEMU_ERROR_OVERLAP;
    int fit = 1;
    if (carrier == 64)
        for (size_t i = 0, same; i < n; i++)
            fit &= core_product_fits(operand_at(x, 64, i * step), scale_at(s, 64, i, &same));
    return fit ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
}

/* No array has more elements. */
static inline size_t clamp_to_size(uint64_t n)
{
    return n < SIZE_MAX ? (size_t)n : SIZE_MAX;
}

/* Pointers and scales of as many operands as the call takes. */
static inline void take_operands(int takes, const void *const *operands, const fpemu_operand_scales *scales,
                                 const void **all, scaling *scaled)
{
    for (int o = 0; o < takes; o++) {
        all[o] = operands ? operands[o] : NULL;
        scaled[o].values = scales ? scales[o].values : NULL;
        scaled[o].length = scales ? clamp_to_size(scales[o].length) : 0;
        scaled[o].count = scales ? clamp_to_size(scales[o].count) : 0;
    }
}

#endif /* FPEMU_ARRAY_OPERAND_SCALES_H */
