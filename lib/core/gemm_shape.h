/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm_shape.h - matrices and vectors of a product as steps through memory; doc/accumulation.md, 5, tells what is
 * refused. */
#ifndef FPEMU_CORE_GEMM_SHAPE_H
#define FPEMU_CORE_GEMM_SHAPE_H

#include <math.h>
#include <stddef.h>

#include "reach.h"
#include "fpemu.h"
#include "port.h"

/* Everything but the spec: matrices as strides. */
typedef struct core_operand {
    const void *p;
    uint64_t rows, columns;          /* of op(...) */
    ptrdiff_t step_row, step_column; /* in elements */
    uint64_t stride;
    const void *scales; /* of blocks along k; NULL: none */
} core_operand;

/* A factor as binary64: also a subnormal one in an environment of the caller's that takes it for zero. */
FPEMU_FN double fpemu_wide_f32(float x)
{
    const uint32_t u = core_bits32(x), fraction = u & 0x7fffff;
    return u << 1 >> 24 ? (double)x : (u >> 31 ? -0x1p-149 : 0x1p-149) * (double)fraction;
}

FPEMU_FN double fpemu_wide_f64(double x)
{
    return x;
}

/* Whether x is a number of binary32, infinity or NaN. */
FPEMU_FN int core_is_binary32(double x)
{
    return !isfinite(x) || (fabs(x) <= 0x1.fffffep127 && (double)(float)x == x);
}

/* A matrix in all products of the batch, from its lowest element to its highest; 0 where memory does not have it. */
FPEMU_FN int core_operand_reach(const core_operand *o, uint64_t batch, size_t size, core_reach *r)
{
    const uint64_t counts[] = {o->rows, o->columns, batch};
    const int64_t steps[] = {o->step_row, o->step_column, (int64_t)o->stride};
    return core_reach_strided(r, o->p, size, 3, counts, steps);
}

/* op(array) of rows x columns; 0 where the leading dimension is too small. */
FPEMU_FN int core_operand_matrix(core_operand *o, const void *p, uint64_t rows, uint64_t columns, uint64_t ld,
                                 uint64_t stride, int order, int transpose)
{
    const int row_wise =
        order == FPEMU_ORDER_ROW_MAJOR ? !transpose : transpose; /* rows of op are what lies together */
    const uint64_t length = row_wise ? columns : rows;
    if (ld == 0)
        ld = length;
    if (ld < length || ld > PTRDIFF_MAX || stride > PTRDIFF_MAX)
        return 0;
    o->p = p;
    o->rows = rows;
    o->columns = columns;
    o->step_row = row_wise ? (ptrdiff_t)ld : 1;
    o->step_column = row_wise ? 1 : (ptrdiff_t)ld;
    o->stride = stride;
    o->scales = NULL;
    return 1;
}

/* n elements, `inc` apart, as a column; negative steps begin at the end. */
FPEMU_FN int core_operand_vector(core_operand *o, const void *p, uint64_t n, int64_t inc, size_t size)
{
    if (inc == 0 || inc > PTRDIFF_MAX || inc < -PTRDIFF_MAX || n > PTRDIFF_MAX)
        return 0;
    const uint64_t step = inc < 0 ? 0 - (uint64_t)inc : (uint64_t)inc;
    if (n > 1 && (n - 1) > PTRDIFF_MAX / size / step)
        return 0;
    /* as a number: past the end of memory, which core_operand_reach refuses, there are no pointers */
    o->p = p && inc < 0 && n ? (const void *)((uintptr_t)p + (uintptr_t)((n - 1) * step * size)) : p;
    o->rows = n;
    o->columns = 1;
    o->step_row = (ptrdiff_t)inc;
    o->step_column = 1;
    o->stride = 0;
    o->scales = NULL;
    return 1;
}

#endif /* FPEMU_CORE_GEMM_SHAPE_H */
