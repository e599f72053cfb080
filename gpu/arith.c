/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.c - the calls of arithmetic, elementary functions and comparisons: arguments are checked and made into a job,
 * which launch.h runs. */
#include "call.h"
#include "core/dot.h"

static const uint8_t operand_count[FPEMU_OPERATION_COUNT] = {2, 2, 2, 2, 1, 3, 2, 2, 2, 2};

/* Scales of an operand of n elements. */
static fpemu_cuda_status check_scales(const gpu_scales *s, size_t n, size_t size, const core_reach *result)
{
    if (!s->values)
        return FPEMU_CUDA_OK;
    const uint64_t blocks = s->length ? (n - 1) / s->length + 1 : 1;
    const uint64_t count = s->count && s->count < blocks ? s->count : blocks;
    return fpemu_gpu_check_scales(s->values, count, size, result);
}

/* Operands and y; y_size: bytes of an element of y. scales: NULL, or of each operand. */
static fpemu_cuda_status take_operands(gpu_arith_job *j, int count, size_t n, const void *const *operands,
                                       const size_t *steps, const gpu_scales *scales, void *y, int type, size_t y_size)
{
    const size_t size = fpemu_gpu_size(type, 0);
    core_reach result, one;
    if (!operands || !y)
        return FPEMU_CUDA_ERROR_NULL;
    if (!core_reach_array(&result, y, n, y_size))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    for (int o = 0; o < count; o++) {
        const size_t step = steps ? steps[o] : 1;
        if (!operands[o])
            return FPEMU_CUDA_ERROR_NULL;
        if (step > 1)
            return FPEMU_CUDA_ERROR_ARGUMENT;
        /* the device reads a single number with every element: it may not be written meanwhile */
        const fpemu_cuda_status status = step ? fpemu_gpu_check_pointers(operands[o], size, y, y_size, n)
                                              : fpemu_gpu_check_pointers(operands[o], size, operands[o], size, 1);
        if (status)
            return status;
        if (!step && core_reach_array(&one, operands[o], 1, size) && core_reaches_meet(&one, &result))
            return FPEMU_CUDA_ERROR_OVERLAP;
        j->operand[o] = operands[o];
        j->step[o] = (uint8_t)step;
        if (!scales)
            continue;
        const fpemu_cuda_status fit =
            check_scales(&scales[o], n, type == GPU_F64 ? sizeof(double) : sizeof(float), &result);
        if (fit)
            return fit;
        j->scales[o] = scales[o];
        j->scaled |= scales[o].values != NULL;
    }
    j->n = n;
    j->y = y;
    j->type = (uint8_t)type;
    return FPEMU_CUDA_OK;
}

/* The first element from which on four lie aligned in all arrays, y of elements of so many bytes; GPU_NO_QUADS: none. */
static uint8_t phase_of(const gpu_arith_job *j, int count, size_t y_size)
{
    const size_t size = fpemu_gpu_size(j->type, 0), aligned = size < 4 ? 4 * size : 16;
    for (uint8_t phase = 0; phase < 4; phase++) {
        int all = ((uintptr_t)j->y + phase * y_size) % (y_size < 4 ? 4 * y_size : 16) == 0;
        for (int o = 0; o < count; o++)
            all &= !j->step[o] || ((uintptr_t)j->operand[o] + phase * size) % aligned == 0;
        if (all)
            return phase;
    }
    return GPU_NO_QUADS;
}

/* The carrier in whose forms a job can be done, or 0; fills its target. */
static uint8_t carrier_of(gpu_arith_job *j, const fpemu_format *f, const fpemu_rounding *r)
{
    const fpemu_target t = {.format = *f, .rounding = *r};
    if (j->scaled && !j->counts)
        return 0;
    if (j->type != GPU_F64 && !j->counts) {
        core_dot_fast_make32(&j->fast.in32, &t, &j->plan);
        if (j->fast.in32.form)
            return 32;
    }
    core_dot_fast_make64(&j->fast.in64, &t, &j->plan);
    return j->fast.in64.form && !(j->counts && j->fast.in64.form == CORE_DOT_NATIVE) ? 64 : 0;
}

static fpemu_cuda_status operate_inside(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work,
                                        size_t n, const void *const *operands, const size_t *steps,
                                        const gpu_scales *scales, void *y, int type, fpemu_cuda_stats *stats,
                                        fpemu_cuda_stream stream)
{
    gpu_arith_job j;
    fpemu_format seen;
    if (work >= (function ? (unsigned)FPEMU_FUNCTION_COUNT : (unsigned)FPEMU_OPERATION_COUNT))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    memset(&j, 0, sizeof j);
    fpemu_cuda_status status = fpemu_gpu_check(f, r, gpu_carrier(type));
    if (!status && core_arith_plan(f, r, gpu_carrier(type), function, &j.plan, &seen))
        status = FPEMU_CUDA_ERROR_UNSUPPORTED;
    if (!status && fpemu_gpu_nan_is_error(f, r))
        status = FPEMU_CUDA_ERROR_UNSUPPORTED;
    if (!status && !fpemu_gpu_fits(f, type))
        status = FPEMU_CUDA_ERROR_CARRIER;
    if (!status)
        status = fpemu_gpu_check_offset(r, n);
    if (status)
        return status;
    status = take_operands(&j, function ? 1 : operand_count[work], n, operands, steps, scales, y, type,
                           fpemu_gpu_size(type, 0));
    if (!status)
        status = fpemu_gpu_check_words(stats);
    if (status)
        return status;
    j.random = fpemu_gpu_random(r);
    j.offset = r->offset;
    j.work = (uint8_t)work;
    j.counts = (gpu_counts *)(void *)stats;
    j.by_binary64 = type != GPU_F64 && !function && (work <= FPEMU_OPERATION_DIV || work == FPEMU_OPERATION_FMA) &&
                    core_dot_short(&seen, &j.plan);
    if (function)
        return fpemu_gpu_apply(&j, stream);
    j.carrier = carrier_of(&j, &seen, r);
    j.phase = j.random.used && j.random.generator == FPEMU_GENERATOR_PHILOX
                  ? GPU_NO_QUADS /* a lane's words come from one call of it */
                  : phase_of(&j, operand_count[work], fpemu_gpu_size(type, 0));
    return fpemu_gpu_arith(&j, stream);
}

static fpemu_cuda_status operate(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, size_t n,
                                 const void *const *operands, const size_t *steps, const gpu_scales *scales, void *y,
                                 int type, fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_CUDA_OK;
    if (!f || !r)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const fpemu_cuda_status status =
        operate_inside(f, r, function, work, n, operands, steps, scales, y, type, stats, stream);
    fpemu_environment_leave(&environment);
    return status;
}

static int operands_of(fpemu_operation operation)
{
    return (unsigned)operation < FPEMU_OPERATION_COUNT ? operand_count[operation] : 0;
}

/* The operands of a call as it hands them over: `count` pointers, and their scales where there are any. */
typedef struct operand_list {
    const void *p[3];
    gpu_scales scales[3];
} operand_list;

static operand_list list_of(size_t n, int count, const void *const *operands, const fpemu_operand_scales *scales)
{
    operand_list list = {.p = {NULL}};
    for (int o = 0; o < count && n && operands; o++) {
        list.p[o] = operands[o];
        if (scales)
            list.scales[o] = (gpu_scales){scales[o].values, scales[o].length, scales[o].count};
    }
    return list;
}

/* --------------------------------------------------------------------------------------------- public functions */

fpemu_cuda_status fpemu_cuda_arith_scaled(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                          fpemu_operation operation, size_t n, const void *const *operands,
                                          const size_t *steps, const fpemu_operand_scales *scales, void *d_y,
                                          fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    const operand_list list = list_of(n, operands_of(operation), operands, scales);
    return operate(format, rounding, 0, (unsigned)operation, n, list.p, steps, list.scales, d_y, fpemu_gpu_type(type),
                   d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_arith(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   fpemu_operation operation, size_t n, const void *const *operands,
                                   const size_t *steps, void *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    return fpemu_cuda_arith_scaled(format, rounding, type, operation, n, operands, steps, NULL, d_y, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_apply(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   fpemu_function function, size_t n, const void *d_x, void *d_y,
                                   fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    const operand_list list = {.p = {d_x}};
    return operate(format, rounding, 1, (unsigned)function, n, list.p, NULL, list.scales, d_y, fpemu_gpu_type(type),
                   d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_compare_scaled(fpemu_type type, fpemu_relation relation, size_t n,
                                            const void *const *operands, const size_t *steps,
                                            const fpemu_operand_scales *scales, uint8_t *d_y, fpemu_cuda_stream stream)
{
    const operand_list list = list_of(n, 2, operands, scales);
    const int x_type = fpemu_gpu_type(type);
    gpu_arith_job j;
    if (x_type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_CUDA_OK;
    if ((unsigned)relation >= FPEMU_RELATION_COUNT)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    memset(&j, 0, sizeof j);
    const fpemu_cuda_status status = take_operands(&j, 2, n, list.p, steps, list.scales, d_y, x_type, 1);
    j.work = (uint8_t)relation;
    j.phase = phase_of(&j, 2, 1);
    return status ? status : fpemu_gpu_compare(&j, stream);
}

fpemu_cuda_status fpemu_cuda_compare(fpemu_type type, fpemu_relation relation, size_t n, const void *const *operands,
                                     const size_t *steps, uint8_t *d_y, fpemu_cuda_stream stream)
{
    return fpemu_cuda_compare_scaled(type, relation, n, operands, steps, NULL, d_y, stream);
}
