/* operations.c - the verbs of arithmetic, elementary functions and comparisons. */
#include "call.h"
#include "core/dot.h"

static const uint8_t operand_count[FPEMU_OPERATION_COUNT] = {2, 2, 2, 2, 1, 3, 2, 2, 2, 2};

/* The library's own check, by its verb on one number. */
static int check(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, int type)
{
    const float x32 = 1, *const three32[3] = {&x32, &x32, &x32};
    const double x64 = 1, *const three64[3] = {&x64, &x64, &x64};
    float y32;
    double y64;
    if (function)
        return (int)(type == GPU_F64 ? fpemu_apply_f64(f, r, (fpemu_function)work, 1, &x64, &y64, NULL)
                                     : fpemu_apply_f32(f, r, (fpemu_function)work, 1, &x32, &y32, NULL));
    return (int)(type == GPU_F64 ? fpemu_arith_f64(f, r, (fpemu_operation)work, 1, three64, NULL, &y64, NULL)
                                 : fpemu_arith_f32(f, r, (fpemu_operation)work, 1, three32, NULL, &y32, NULL));
}

/* Operands and y; y_size: bytes of an element of y. */
static int take_operands(gpu_operate_job *j, int count, size_t n, const void *const *operands, const size_t *steps,
                         void *y, int type, size_t y_size)
{
    const size_t size = fpemu_gpu_size(type, 0);
    if (!operands || !y)
        return FPEMU_ERROR_NULL;
    for (int o = 0; o < count; o++) {
        const size_t step = steps ? steps[o] : 1;
        if (!operands[o])
            return FPEMU_ERROR_NULL;
        if (step > 1)
            return FPEMU_ERROR_ARGUMENT;
        /* the device reads a single number with every element: it may not be written meanwhile */
        const int status = step ? fpemu_gpu_check_pointers(operands[o], size, y, y_size, n)
                                : fpemu_gpu_check_pointers(operands[o], size, operands[o], size, 1);
        if (status)
            return status;
        if (!step && (uintptr_t)operands[o] + size > (uintptr_t)y && (uintptr_t)operands[o] < (uintptr_t)y + n * y_size)
            return FPEMU_ERROR_OVERLAP;
        j->operand[o] = operands[o];
        j->step[o] = (uint8_t)step;
    }
    j->n = n;
    j->y = y;
    j->type = (uint8_t)type;
    fpemu_gpu_narrow_coder(&j->narrow, type);
    return FPEMU_OK;
}

static int operate_inside(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, size_t n,
                          const void *const *operands, const size_t *steps, void *y, int type, fpemu_cuda_stats *stats,
                          fpemu_cuda_stream stream)
{
    gpu_operate_job j;
    fpemu_format seen;
    int status = check(f, r, function, work, type);
    if (!status && fpemu_gpu_nan_is_error(f, r))
        status = FPEMU_ERROR_UNSUPPORTED;
    if (!status && (type == GPU_BF16 || type == GPU_F16) && !fpemu_gpu_fits(f, type))
        status = FPEMU_ERROR_CARRIER;
    if (!status && r->offset > UINT64_MAX - n - 4096)
        status = FPEMU_ERROR_ARGUMENT;
    if (status)
        return status;
    memset(&j, 0, sizeof j);
    status = take_operands(&j, function ? 1 : operand_count[work], n, operands, steps, y, type,
                           fpemu_gpu_size(type, 0));
    if (!status && stats)
        status = fpemu_gpu_reachable(stats);
    if (status)
        return status;
    (void)core_dot_plan(f, r, type == GPU_F64 ? 64 : 32, &j.plan, &seen);
    j.random = fpemu_gpu_random(r);
    j.offset = r->offset;
    j.work = (uint8_t)work;
    j.counts = (gpu_counts *)(void *)stats;
    j.short_way = type != GPU_F64 && !function && (work <= FPEMU_DIV || work == FPEMU_FMA) &&
                  core_dot_short(&seen, &j.plan);
    return function ? fpemu_gpu_apply(&j, stream) : fpemu_gpu_operate(&j, stream);
}

static int operate(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, size_t n,
                   const void *const *operands, const size_t *steps, void *y, int type, fpemu_cuda_stats *stats,
                   fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const int status = operate_inside(f, r, function, work, n, operands, steps, y, type, stats, stream);
    fpemu_environment_leave(&environment);
    return status;
}

static int relate(fpemu_relation relation, size_t n, const void *const *operands, const size_t *steps, uint8_t *y,
                  int type, fpemu_cuda_stream stream)
{
    gpu_operate_job j;
    if (n == 0)
        return FPEMU_OK;
    if ((unsigned)relation >= FPEMU_RELATION_COUNT)
        return FPEMU_ERROR_ARGUMENT;
    memset(&j, 0, sizeof j);
    const int status = take_operands(&j, 2, n, operands, steps, y, type, 1);
    j.work = (uint8_t)relation;
    return status ? status : fpemu_gpu_relate(&j, stream);
}

#define VERBS(suffix, TYPE, type)                                                                                      \
    int fpemu_cuda_arith_##suffix(const fpemu_format *format, const fpemu_rounding *rounding,                          \
                                  fpemu_operation operation, size_t n, const TYPE *const *d_operands,                  \
                                  const size_t *steps, TYPE *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream) \
    {                                                                                                                  \
        const void *all[3] = {NULL, NULL, NULL};                                                                       \
        if (n && d_operands && (unsigned)operation < FPEMU_OPERATION_COUNT)                                            \
            for (int o = 0; o < operand_count[operation]; o++)                                                         \
                all[o] = d_operands[o];                                                                                \
        return operate(format, rounding, 0, (unsigned)operation, n, all, steps, d_y, type, d_stats, stream);           \
    }                                                                                                                  \
    int fpemu_cuda_apply_##suffix(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, \
                                  size_t n, const TYPE *d_x, TYPE *d_y, fpemu_cuda_stats *d_stats,                     \
                                  fpemu_cuda_stream stream)                                                            \
    {                                                                                                                  \
        const void *const all[1] = {d_x};                                                                              \
        return operate(format, rounding, 1, (unsigned)function, n, all, NULL, d_y, type, d_stats, stream);             \
    }                                                                                                                  \
    int fpemu_cuda_relate_##suffix(fpemu_relation relation, size_t n, const TYPE *const *d_operands,                   \
                                   const size_t *steps, uint8_t *d_y, fpemu_cuda_stream stream)                        \
    {                                                                                                                  \
        const void *const both[2] = {n && d_operands ? d_operands[0] : NULL, n && d_operands ? d_operands[1] : NULL};  \
        return relate(relation, n, both, steps, d_y, type, stream);                                                    \
    }

VERBS(f32, float, GPU_F32)
VERBS(f64, double, GPU_F64)
VERBS(bf16, uint16_t, GPU_BF16)
VERBS(f16, uint16_t, GPU_F16)
