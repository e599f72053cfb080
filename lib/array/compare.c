/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c - comparisons of arrays, in binary64, which holds the operands of all carriers and their products with
 * scales. */
#include "array.h"
#include "threads.h"
#include "operand_scales.h"

static int holds(fpemu_relation relation, double a, double b)
{
    switch (relation) {
    case FPEMU_RELATION_EQ: return a == b;
    case FPEMU_RELATION_LT: return a < b;
    default: return a <= b;
    }
}

/* In the default floating-point environment: no subnormal is taken for zero. */
static void compare(fpemu_relation relation, int carrier, size_t n, const void *const *operands, const size_t *step,
                    const scaling *scales, uint8_t *y)
{
    double v[2][TILE];
    const double single[2] = {operand_at(operands[0], carrier, 0), operand_at(operands[1], carrier, 0)};
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < TILE ? n - i : TILE;
        for (int o = 0; o < 2; o++) {
            for (size_t e = 0; e < m; e++)
                v[o][e] = step[o] ? operand_at(operands[o], carrier, i + e) : single[o];
            if (scales[o].values)
                scale_tile(&scales[o], carrier, i, m, v[o]);
        }
        for (size_t e = 0; e < m; e++)
            y[i + e] = (uint8_t)holds(relation, v[0][e], v[1][e]);
    }
}

fpemu_status fpemu_compare_scaled(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                                  const size_t *steps, const fpemu_operand_scales *scales, uint8_t *y)
{
    const int carrier = (int)type;
    const void *both[2];
    scaling scaled[2];
    if (!is_type(carrier))
        return FPEMU_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_OK;
    if ((unsigned)relation >= FPEMU_RELATION_COUNT)
        return FPEMU_ERROR_ARGUMENT;
    take_operands(2, operands, scales, both, scaled);
    if (!both[0] || !both[1] || !y)
        return FPEMU_ERROR_NULL;
    const size_t size = carrier_size(carrier);
    const size_t step[2] = {steps ? steps[0] : 1, steps ? steps[1] : 1};
    for (int o = 0; o < 2; o++) {
        fpemu_status status = check_operand(both[o], step[o], size, y, 1, n);
        if (!status)
            status = check_scales(&scaled[o], carrier, n, both[o], step[o], y, 1);
        if (status)
            return status;
    }
    fp_environment environment;
    fpemu_environment_enter(&environment);
    compare(relation, carrier, n, both, step, scaled, y);
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

fpemu_status fpemu_compare(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                           const size_t *steps, uint8_t *y)
{
    return fpemu_compare_scaled(type, relation, n, operands, steps, NULL, y);
}
