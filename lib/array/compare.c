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
            if (scales && scales[o].values)
                scale_tile(&scales[o], carrier, i, m, v[o]);
        }
        for (size_t e = 0; e < m; e++)
            y[i + e] = (uint8_t)holds(relation, v[0][e], v[1][e]);
    }
}

static fpemu_status relate(fpemu_relation relation, int carrier, size_t n, const void *const *operands,
                           const size_t *steps, const scaling *scales, uint8_t *y)
{
    if (n == 0)
        return FPEMU_OK;
    if ((unsigned)relation >= FPEMU_RELATION_COUNT)
        return FPEMU_ERROR_ARGUMENT;
    if (!operands[0] || !operands[1] || !y)
        return FPEMU_ERROR_NULL;
    const size_t size = carrier_size(carrier);
    const size_t step[2] = {steps ? steps[0] : 1, steps ? steps[1] : 1};
    for (int o = 0; o < 2; o++) {
        fpemu_status status = check_operand(operands[o], step[o], size, y, 1, n);
        if (!status && scales)
            status = check_scales(&scales[o], carrier, n, operands[o], step[o], y, 1);
        if (status)
            return status;
    }
    fp_environment environment;
    fpemu_environment_enter(&environment);
    compare(relation, carrier, n, operands, step, scales, y);
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

fpemu_status fpemu_compare_scaled_f32(fpemu_relation relation, size_t n, const float *const *operands,
                                      const size_t *steps, const fpemu_operand_scales_f32 *scales, uint8_t *y)
{
    const void *both[2] = {NULL, NULL};
    scaling scaled[2];
    if (n)
        take_operands_f32(2, operands, scales, both, scaled);
    return relate(relation, 32, n, both, steps, scales ? scaled : NULL, y);
}

fpemu_status fpemu_compare_scaled_f64(fpemu_relation relation, size_t n, const double *const *operands,
                                      const size_t *steps, const fpemu_operand_scales_f64 *scales, uint8_t *y)
{
    const void *both[2] = {NULL, NULL};
    scaling scaled[2];
    if (n)
        take_operands_f64(2, operands, scales, both, scaled);
    return relate(relation, 64, n, both, steps, scales ? scaled : NULL, y);
}

fpemu_status fpemu_compare_f32(fpemu_relation relation, size_t n, const float *const *operands, const size_t *steps,
                               uint8_t *y)
{
    return fpemu_compare_scaled_f32(relation, n, operands, steps, NULL, y);
}

fpemu_status fpemu_compare_f64(fpemu_relation relation, size_t n, const double *const *operands, const size_t *steps,
                               uint8_t *y)
{
    return fpemu_compare_scaled_f64(relation, n, operands, steps, NULL, y);
}

static fpemu_status relate_narrow(fpemu_relation relation, int carrier, size_t n, const uint16_t *const *operands,
                                  const size_t *steps, const fpemu_operand_scales_f32 *scales, uint8_t *y)
{
    const void *both[2] = {NULL, NULL};
    scaling scaled[2];
    if (n)
        take_operands_narrow(2, operands, scales, both, scaled);
    return relate(relation, carrier, n, both, steps, scales ? scaled : NULL, y);
}

fpemu_status fpemu_compare_scaled_f16(fpemu_relation relation, size_t n, const uint16_t *const *operands,
                                      const size_t *steps, const fpemu_operand_scales_f32 *scales, uint8_t *y)
{
    return relate_narrow(relation, FPEMU_TYPE_F16, n, operands, steps, scales, y);
}

fpemu_status fpemu_compare_f16(fpemu_relation relation, size_t n, const uint16_t *const *operands, const size_t *steps,
                               uint8_t *y)
{
    return relate_narrow(relation, FPEMU_TYPE_F16, n, operands, steps, NULL, y);
}

fpemu_status fpemu_compare_scaled_bf16(fpemu_relation relation, size_t n, const uint16_t *const *operands,
                                       const size_t *steps, const fpemu_operand_scales_f32 *scales, uint8_t *y)
{
    return relate_narrow(relation, FPEMU_TYPE_BF16, n, operands, steps, scales, y);
}

fpemu_status fpemu_compare_bf16(fpemu_relation relation, size_t n, const uint16_t *const *operands, const size_t *steps,
                                uint8_t *y)
{
    return relate_narrow(relation, FPEMU_TYPE_BF16, n, operands, steps, NULL, y);
}
