/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.h - operations, elementary functions and comparisons: the job and its kernels' bodies. Operations without
 * counters and scales go four elements a lane by the forms of core/dot_fast.h (arith.inc.h), where the format has such
 * forms; counted ones by binary64's own arithmetic; the rest, and functions, by exact results, an element a lane. */
#ifndef FPEMU_GPU_ARITH_H
#define FPEMU_GPU_ARITH_H

#include "core/dot_fast.h"
#include "core/events.h"
#include "core/fits.h"
#include "core/functions.h"
#include "core/walk.h"
#include "elements.h"
#include "lane.h"
#include "names.h"

/* Scales of an operand, as fpemu_operand_scales_f32, or as _f64 where the carrier is binary64. */
typedef struct gpu_scales {
    const void *values; /* NULL: none */
    uint64_t length, count;
} gpu_scales;

/* A call; arrays hold one type of numbers. */
typedef struct gpu_arith_job {
    core_plan64 plan;
    gpu_random random;
    uint64_t n, offset;
    const void *operand[3];
    gpu_scales scales[3];
    void *y;
    gpu_counts *counts;
    uint8_t step[3];     /* 1: an array, 0: one number */
    uint8_t work, type;  /* fpemu_operation or fpemu_function; gpu_type */
    uint8_t by_binary64; /* by binary64 arithmetic, where nothing is counted */
    uint8_t scaled;      /* some operand has scales */
    uint8_t carrier;     /* 32 or 64: by the forms of core/dot_fast.h in this carrier, four at a time; 0: not */
    uint8_t phase;       /* of elements that lie aligned in all arrays, four at a time; or GPU_NO_QUADS */
    union {
        core_dot_fast32 in32;
        core_dot_fast64 in64;
    } fast;
} gpu_arith_job;

/* Element i of an operand, times its scale: NaN where that is no binary64 number. */
FPEMU_FN double gpu_number(const gpu_arith_job *j, int o, uint64_t i)
{
    const uint64_t at = j->step[o] ? i : 0;
    const gpu_scales *const s = &j->scales[o];
    double x;
    switch (j->type) {
    case GPU_F32: x = (double)((const float *)j->operand[o])[at]; break;
    case GPU_F64: x = ((const double *)j->operand[o])[at]; break;
    default: x = (double)core_value32(gpu_widen(j->type, ((const uint16_t *)j->operand[o])[at]));
    }
    if (!s->values)
        return x;
    uint64_t block = s->length ? core_walk_quotient(i, s->length) : 0;
    if (s->count && block >= s->count)
        block -= core_walk_quotient(block, s->count) * s->count;
    if (j->type != GPU_F64)
        return x * (double)((const float *)s->values)[block];
    const double scale = ((const double *)s->values)[block];
    return core_product_fits(x, scale) ? x * scale : core_value64(CORE_INF64 | CORE_INF64 >> 1);
}

/* Whether binary64 has room for the exact result on its way: scaled operands have up to 48 bits. */
FPEMU_FN int gpu_is_short(const gpu_arith_job *j, double a, double b, double c)
{
    if (!j->by_binary64 || !j->scaled || j->work == FPEMU_OPERATION_ADD || j->work == FPEMU_OPERATION_SUB)
        return j->by_binary64;
    return ((core_bits64(a) | core_bits64(b) | core_bits64(c)) & ((UINT64_C(1) << 29) - 1)) == 0;
}

FPEMU_FN void gpu_number_store(const gpu_arith_job *j, uint64_t i, double y)
{
    switch (j->type) {
    case GPU_F32: ((float *)j->y)[i] = (float)y; break;
    case GPU_F64: ((double *)j->y)[i] = y; break;
    default: {
        const uint32_t u = core_bits32((float)y);
        ((uint16_t *)j->y)[i] = (uint16_t)gpu_narrow(j->type, u);
    }
    }
}

/* The exact result rounded to odd in binary64, for binary32 operands. */
FPEMU_FN double gpu_arith_odd(int operation, int mode, double a, double b, double c)
{
    const uint64_t zero = mode == FPEMU_MODE_RTN ? CORE_SIGN64 : 0;
    switch (operation) {
    case FPEMU_OPERATION_ADD: return core_sum_odd(a, b, zero);
    case FPEMU_OPERATION_SUB: return core_sum_odd(a, -b, zero);
    case FPEMU_OPERATION_MUL: return a * b;
    case FPEMU_OPERATION_DIV: return core_ratio_odd(a, b);
    default: return core_sum_odd(a * b, c, zero);
    }
}

/* A finite or infinite binary64 number, or the one NaN, taken to a plan. */
FPEMU_FN double gpu_round_odd(const core_plan64 *p, double x, uint32_t r)
{
    const uint64_t u = x == x ? core_bits64(x) : CORE_INF64 | CORE_INF64 >> 1, sign = u & CORE_SIGN64, a = u ^ sign;
    if (p->rule == CORE_RULE_POSIT)
        return core_value64(core_finish64(p, u, a == 0 || a >= CORE_INF64 ? 0 : core_posit64(p, a)));
    return core_value64(
        core_finish_any64(p, u, a >= CORE_INF64 ? 0 : core_grid64(p, p->mode, 1, p->n, a, sign, (uint64_t)r << 32)));
}

/* The operand that minimum and its like choose. */
FPEMU_FN double gpu_extremum(int work, double a, double b)
{
    const int larger = work == FPEMU_OPERATION_MAXIMUM || work == FPEMU_OPERATION_MAXIMUM_NUMBER;
    const int number = work == FPEMU_OPERATION_MINIMUM_NUMBER || work == FPEMU_OPERATION_MAXIMUM_NUMBER;
    return core_value64(core_extremum(core_bits64(a), core_bits64(b), larger, number));
}

/* An exact result in binary64: rounded to odd, and to nearest. */
typedef struct gpu_exact {
    double odd, nearest;
} gpu_exact;

FPEMU_FN gpu_exact gpu_exact_of(int operation, int down, double a, double b, double c)
{
    const gpu_exact x = {core_odd64(operation, down, a, b, c), core_near64(operation, a, b, c)};
    return x;
}

FPEMU_FN gpu_exact gpu_arith_exact(const gpu_arith_job *j, double a, double b, double c)
{
    const int down = j->plan.mode == FPEMU_MODE_RTN;
    switch (j->work) {
    case FPEMU_OPERATION_ADD: return gpu_exact_of(FPEMU_OPERATION_ADD, down, a, b, c);
    case FPEMU_OPERATION_SUB: return gpu_exact_of(FPEMU_OPERATION_SUB, down, a, b, c);
    case FPEMU_OPERATION_MUL: return gpu_exact_of(FPEMU_OPERATION_MUL, down, a, b, c);
    case FPEMU_OPERATION_DIV: return gpu_exact_of(FPEMU_OPERATION_DIV, down, a, b, c);
    case FPEMU_OPERATION_SQRT: return gpu_exact_of(FPEMU_OPERATION_SQRT, down, a, b, c);
    case FPEMU_OPERATION_FMA: return gpu_exact_of(FPEMU_OPERATION_FMA, down, a, b, c);
    default: {
        const double y = gpu_extremum(j->work, a, b);
        const gpu_exact x = {y, y};
        return x;
    }
    }
}

/* An exact result taken to the plan of j->fast.in64, and counted as core_count_exact does; what it becomes. */
FPEMU_FN double gpu_arith_count(const gpu_arith_job *j, gpu_exact x, uint32_t r, int nan_came, gpu_lane *lane)
{
    const core_plan64 *const p = &j->fast.in64.plan;
    const uint64_t nan = CORE_INF64 | CORE_INF64 >> 1, u = x.odd == x.odd ? core_bits64(x.odd) : nan;
    const uint64_t sign = u & CORE_SIGN64, a = u ^ sign, random = (uint64_t)r << 32, max = p->max[u >> 63];
    uint64_t grid = 0;
    if (a < CORE_INF64) {
        if (p->rule == CORE_RULE_FULL_RANGE || p->rule == CORE_RULE_FULL_RANGE_GRID)
            grid = core_element_full_range_grid64(p, p->mode, u, random);
        else if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
            grid = core_element_shifter_grid64(p, p->mode, u, random);
        else if (p->rule == CORE_RULE_POSIT)
            grid = a ? core_posit64(p, a) : 0;
        else
            grid = core_grid64(p, p->mode, 1, p->n, a, sign, random);
    }
    const uint64_t y = core_finish_any64(p, u, grid);
    const core_events64 e = core_events_of64(p->min_normal, u, 0, y, y, a > max, grid > max);
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)e.nan;
    n[GPU_INFINITE] += (uint32_t)e.infinite;
    n[GPU_CLIPPED] += (uint32_t)e.clipped;
    n[GPU_OVERFLOW] += (uint32_t)e.overflow;
    n[GPU_INVALID] += (uint32_t)(e.invalid + (e.nan & (uint64_t)!nan_came));
    n[GPU_UNDERFLOW] += (uint32_t)e.underflow;
    n[GPU_SUBNORMAL] += (uint32_t)e.subnormal;
    n[GPU_INEXACT] += (uint32_t)e.inexact;
    const double result = core_value64(y);
    if (x.nearest - x.nearest == 0)
        gpu_lane_extrema(lane, x.nearest, result - result == 0 ? x.nearest - result : 0);
    return result;
}

/* What functions take: a binary32 number of at most 16 significant bits, infinity or NaN. */
FPEMU_FN int gpu_is_narrow(double x)
{
    const uint64_t a = core_bits64(x) & ~CORE_SIGN64;
    if (a == 0 || a >= CORE_INF64)
        return 1;
    if (x > FLT_MAX || x < -FLT_MAX)
        return 0;
    const double back = (double)(float)x;
    return core_bits64(back) == core_bits64(x) && (a & ((UINT64_C(1) << 37) - 1)) == 0;
}

/* One element of those that gpu_arith takes: *nearest is its exact result as binary64 has it, where it is counted. */
FPEMU_FN double gpu_arith_by_exact(const gpu_arith_job *j, int function, int counted, double v, double w, double u,
                                   uint32_t r, gpu_lane *lane, double *nearest)
{
    const core_exact x = function ? core_function_result((fpemu_function)j->work, core_bits64(v))
                                  : core_exact_result((fpemu_operation)j->work, j->plan.mode, core_bits64(v),
                                                      core_bits64(w), core_bits64(u));
    uint64_t grid;
    const double y = core_value64(core_exact_round(&j->plan, &x, r, &grid));
    if (!counted)
        return y;
    core_counts c;
    memset(&c, 0, sizeof c);
    core_count_exact(&j->plan, &x, y, grid, &c);
    c.invalid += x.exception == CORE_INVALID;
    lane->counter[GPU_DIV_BY_ZERO] += x.exception == CORE_DIV_BY_ZERO;
    gpu_lane_take(lane, &c);
    *nearest = core_value64(core_exact_binary64(&x, FPEMU_MODE_RNE));
    return y;
}

/* The same of operations by binary64's own arithmetic; j->carrier is 64. */
FPEMU_FN double gpu_arith_by_binary64(const gpu_arith_job *j, double v, double w, double u, uint32_t r, gpu_lane *lane,
                                      double *nearest)
{
    const gpu_exact x = gpu_arith_exact(j, v, w, u);
    lane->counter[GPU_DIV_BY_ZERO] += (uint32_t)(j->work == FPEMU_OPERATION_DIV && w == 0 && v - v == 0 && v != 0);
    *nearest = x.nearest;
    return gpu_arith_count(j, x, r, v != v || w != w || u != u, lane);
}

/* function: `work` is one. fast: of those that are counted, by binary64's arithmetic. */
FPEMU_FN void gpu_arith(const gpu_arith_job *j, int function, int counted, int fast, uint64_t warp, uint64_t warps)
{
    const uint64_t begin = j->offset, end = begin + j->n, piece = 4096;
    const int sums = counted && (j->counts->want & FPEMU_STATS_SUMS),
              histogram = counted && (j->counts->want & FPEMU_STATS_HISTOGRAM);
    gpu_lane lane[LANES];
    double sum[3][LANES];
    FOR_LANES(l)
        gpu_lane_begin(&OF(lane, l));
    const uint64_t last = j->n ? (end - 1) / piece : 0; /* b * piece can pass 2^64 */
    for (uint64_t b = begin / piece + warp; j->n && b <= last; b += warps) {
        const gpu_words words = gpu_words_begin(&j->random, b * piece);
        FOR_LANES(l)
            for (int k = 0; k < 3; k++)
                OF(sum[k], l) = 0;
        for (uint64_t row = b * piece; row < (b + 1) * piece && row < end; row += 32)
            FOR_LANES(l) {
                const uint64_t index = row + l, i = index - begin;
                if (index < begin || index >= end)
                    continue;
                const uint32_t r = j->random.used ? gpu_bits(&j->random, &words, &OF(lane, l), index) : 0;
                const double v = gpu_number(j, 0, i), w = j->operand[1] ? gpu_number(j, 1, i) : 0;
                const double u = j->operand[2] ? gpu_number(j, 2, i) : 0;
                if (!function && !counted && gpu_is_short(j, v, w, u)) {
                    gpu_number_store(j, i, gpu_round_odd(&j->plan, gpu_arith_odd(j->work, j->plan.mode, v, w, u), r));
                    continue;
                }
                if (function && !gpu_is_narrow(v)) {
                    gpu_number_store(j, i, core_value64(CORE_INF64 | CORE_INF64 >> 1));
                    continue;
                }
                double nearest = 0;
                const double y = fast ? gpu_arith_by_binary64(j, v, w, u, r, &OF(lane, l), &nearest)
                                      : gpu_arith_by_exact(j, function, counted, v, w, u, r, &OF(lane, l), &nearest);
                gpu_number_store(j, i, y);
                const uint64_t a = core_bits64(nearest) & ~CORE_SIGN64;
                if (sums && a < CORE_INF64 && y - y == 0) {
                    const double d = nearest - y;
                    OF(sum[0], l) += d < 0 ? -d : d;
                    OF(sum[1], l) += d * d;
                    OF(sum[2], l) += nearest * nearest;
                }
                if (histogram && a != 0 && a < CORE_INF64)
                    shared_add(&j->counts->bins[gpu_bin(a)], 1);
            }
        if (sums)
            for (int k = 0; k < 3; k++) {
                const double total = lanes_fold(sum[k]);
                if (lanes_writer())
                    gpu_add_exact(j->counts, k, total);
            }
        if (counted)
            gpu_lane_flush(lane, j->counts);
    }
}

/* Elements that are taken in strips: how many come before the first whole one, and strips, those as one. */
FPEMU_FN uint64_t gpu_arith_head(const gpu_arith_job *j)
{
    return core_smaller(j->n, j->phase == GPU_NO_QUADS ? (0 - j->offset) & 127 : j->phase);
}

FPEMU_FN uint64_t gpu_arith_strips(const gpu_arith_job *j)
{
    return 1 + (j->n - gpu_arith_head(j) + 127) / 128;
}

#include "core/carrier32.h"
#include "arith.inc.h"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#include "arith.inc.h"
#include "core/carrier_end.h"

FPEMU_FN int gpu_holds(int relation, double a, double b)
{
    return relation == FPEMU_RELATION_EQ ? a == b : relation == FPEMU_RELATION_LT ? a < b : a <= b;
}

FPEMU_FN int gpu_holds32(int relation, float a, float b)
{
    return relation == FPEMU_RELATION_EQ ? a == b : relation == FPEMU_RELATION_LT ? a < b : a <= b;
}

/* y[i] = 1 where the relation holds, of scaled numbers. */
FPEMU_FN void gpu_compare_scaled(const gpu_arith_job *j, uint64_t warp, uint64_t warps)
{
    for (uint64_t row = warp * 32; row < j->n; row += warps * 32)
        FOR_LANES(l) {
            const uint64_t i = row + l;
            if (i < j->n)
                ((uint8_t *)j->y)[i] = (uint8_t)gpu_holds(j->work, gpu_number(j, 0, i), gpu_number(j, 1, i));
        }
}

FPEMU_FN int gpu_holds_of(const gpu_arith_job *j, int type, uint64_t a, uint64_t b)
{
    if (type == GPU_F64)
        return gpu_holds(j->work, core_value64(a), core_value64(b));
    return gpu_holds32(j->work, gpu_arith_element32(type, a), gpu_arith_element32(type, b));
}

/* Four neighbours, aligned, their type a constant. */
FPEMU_FN void gpu_compare_four(const gpu_arith_job *j, int type, uint64_t i)
{
    const uint32_t size = type == GPU_F64 ? 8 : type == GPU_F32 ? 4 : 2;
    uint64_t element[2][4], holds[4];
    UNROLLED for (unsigned o = 0; o < 2; o++) {
        if (j->step[o])
            gpu_load_quad(j->operand[o], size, i, element[o]);
        else
            element[o][0] = element[o][1] = element[o][2] = element[o][3] = gpu_load_code(j->operand[o], size, 0);
    }
    UNROLLED for (unsigned k = 0; k < 4; k++)
        holds[k] = (uint64_t)gpu_holds_of(j, type, element[0][k], element[1][k]);
    gpu_store_quad(j->y, 1, i, holds);
}

/* The same of numbers as they are, in strips. */
FPEMU_FN void gpu_compare(const gpu_arith_job *j, uint64_t warp, uint64_t warps)
{
    const uint64_t head = gpu_arith_head(j), strips = gpu_arith_strips(j);
    const uint32_t size = j->type == GPU_F64 ? 8 : j->type == GPU_F32 ? 4 : 2;
    for (uint64_t s = warp; s < strips; s += warps) {
        const uint64_t from = s ? head + (s - 1) * 128 : 0, to = s ? core_smaller(j->n, from + 128) : head;
        const int quads = j->phase != GPU_NO_QUADS && s && to - from == 128;
        FOR_LANES(l) {
            const uint64_t i = from + 4 * l;
            if (!quads) {
                NOT_UNROLLED for (uint64_t at = from + l; at < to; at += 32) {
                    const uint64_t a = gpu_load_code(j->operand[0], size, j->step[0] ? at : 0);
                    const uint64_t b = gpu_load_code(j->operand[1], size, j->step[1] ? at : 0);
                    gpu_store_code(j->y, 1, at, (uint64_t)gpu_holds_of(j, j->type, a, b));
                }
            } else if (j->type == GPU_F64) {
                gpu_compare_four(j, GPU_F64, i);
            } else if (j->type == GPU_F32) {
                gpu_compare_four(j, GPU_F32, i);
            } else if (j->type == GPU_BF16) {
                gpu_compare_four(j, GPU_BF16, i);
            } else {
                gpu_compare_four(j, GPU_F16, i);
            }
        }
    }
}

/* Whether the form of a job's target is one of many, which have one loop. */
FPEMU_FN int gpu_arith_is_any(const gpu_arith_job *j)
{
    const int form = j->carrier == 32 ? j->fast.in32.form : j->fast.in64.form;
    return form != CORE_DOT_NATIVE && form != CORE_DOT_NEAREST &&
           form != (j->carrier == 32 ? CORE_DOT_FULL_RANGE : CORE_DOT_STOCHASTIC);
}

/* The operation in whose kernel job's is. */
FPEMU_FN int gpu_arith_kernel(const gpu_arith_job *j)
{
    return j->work == FPEMU_OPERATION_SUB       ? FPEMU_OPERATION_ADD
           : j->work >= FPEMU_OPERATION_MINIMUM ? FPEMU_OPERATION_MINIMUM
                                                : j->work;
}

#endif /* FPEMU_GPU_ARITH_H */
