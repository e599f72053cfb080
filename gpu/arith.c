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

/* Scales of an operand of n elements: whole numbers, apart from y, reachable. */
static int check_scales(const gpu_scales *s, size_t n, const void *y, size_t bytes, size_t size)
{
    if (!s->values)
        return FPEMU_OK;
    const uint64_t blocks = s->length ? (n - 1) / s->length + 1 : 1;
    const uint64_t count = s->count && s->count < blocks ? s->count : blocks;
    const uintptr_t p = (uintptr_t)s->values, q = (uintptr_t)y;
    if (count > (UINTPTR_MAX - p) / size || p % size)
        return FPEMU_ERROR_ARGUMENT;
    if (p < q + bytes && q < p + count * size)
        return FPEMU_ERROR_OVERLAP;
    return fpemu_gpu_reachable(s->values);
}

/* Operands and y; y_size: bytes of an element of y. scales: NULL, or of each operand. */
static int take_operands(gpu_operate_job *j, int count, size_t n, const void *const *operands, const size_t *steps,
                         const gpu_scales *scales, void *y, int type, size_t y_size)
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
        if (!scales)
            continue;
        const int fit = check_scales(&scales[o], n, y, n * y_size, type == GPU_F64 ? sizeof(double) : sizeof(float));
        if (fit)
            return fit;
        j->scales[o] = scales[o];
        j->scaled |= scales[o].values != NULL;
    }
    j->n = n;
    j->y = y;
    j->type = (uint8_t)type;
    fpemu_gpu_narrow_coder(&j->narrow, type);
    return FPEMU_OK;
}

static int operate_inside(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, size_t n,
                          const void *const *operands, const size_t *steps, const gpu_scales *scales, void *y, int type,
                          fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
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
    status = take_operands(&j, function ? 1 : operand_count[work], n, operands, steps, scales, y, type,
                           fpemu_gpu_size(type, 0));
    if (!status)
        status = fpemu_gpu_check_words(stats);
    if (status)
        return status;
    (void)core_dot_plan(f, r, type == GPU_F64 ? 64 : 32, &j.plan, &seen);
    j.random = fpemu_gpu_random(r);
    j.offset = r->offset;
    j.work = (uint8_t)work;
    j.counts = (gpu_counts *)(void *)stats;
    j.short_way =
        type != GPU_F64 && !function && (work <= FPEMU_OPERATION_DIV || work == FPEMU_OPERATION_FMA) && core_dot_short(&seen, &j.plan);
    return function ? fpemu_gpu_apply(&j, stream) : fpemu_gpu_operate(&j, stream);
}

static int operate(const fpemu_format *f, const fpemu_rounding *r, int function, unsigned work, size_t n,
                   const void *const *operands, const size_t *steps, const gpu_scales *scales, void *y, int type,
                   fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const int status = operate_inside(f, r, function, work, n, operands, steps, scales, y, type, stats, stream);
    fpemu_environment_leave(&environment);
    return status;
}

static int relate(fpemu_relation relation, size_t n, const void *const *operands, const size_t *steps,
                  const gpu_scales *scales, uint8_t *y, int type, fpemu_cuda_stream stream)
{
    gpu_operate_job j;
    if (n == 0)
        return FPEMU_OK;
    if ((unsigned)relation >= FPEMU_RELATION_COUNT)
        return FPEMU_ERROR_ARGUMENT;
    memset(&j, 0, sizeof j);
    const int status = take_operands(&j, 2, n, operands, steps, scales, y, type, 1);
    j.work = (uint8_t)relation;
    return status ? status : fpemu_gpu_relate(&j, stream);
}

/* Pointers and scales of as many operands as a call takes. */
#define TAKE(takes)                                                                                                    \
    const void *all[3] = {NULL, NULL, NULL};                                                                           \
    gpu_scales scales[3];                                                                                              \
    memset(scales, 0, sizeof scales);                                                                                  \
    for (int o = 0; o < (takes) && n && d_operands; o++) {                                                             \
        all[o] = d_operands[o];                                                                                        \
        if (!d_scales)                                                                                                 \
            continue;                                                                                                  \
        scales[o].values = d_scales[o].values;                                                                         \
        scales[o].length = d_scales[o].length;                                                                         \
        scales[o].count = d_scales[o].count;                                                                           \
    }
#define VERBS(suffix, TYPE, type, SCALES)                                                                              \
    int fpemu_cuda_arith_scaled_##suffix(const fpemu_format *format, const fpemu_rounding *rounding,                   \
                                         fpemu_operation operation, size_t n, const TYPE *const *d_operands,           \
                                         const size_t *steps, const SCALES *d_scales, TYPE *d_y,                       \
                                         fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)                          \
    {                                                                                                                  \
        const unsigned work = (unsigned)operation;                                                                     \
        TAKE(work < FPEMU_OPERATION_COUNT ? operand_count[work] : 0)                                                   \
        return operate(format, rounding, 0, work, n, all, steps, d_scales ? scales : NULL, d_y, type, d_stats,         \
                       stream);                                                                                        \
    }                                                                                                                  \
    int fpemu_cuda_arith_##suffix(const fpemu_format *format, const fpemu_rounding *rounding,                          \
                                  fpemu_operation operation, size_t n, const TYPE *const *d_operands,                  \
                                  const size_t *steps, TYPE *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream) \
    {                                                                                                                  \
        return fpemu_cuda_arith_scaled_##suffix(format, rounding, operation, n, d_operands, steps, NULL, d_y, d_stats, \
                                                stream);                                                               \
    }                                                                                                                  \
    int fpemu_cuda_apply_##suffix(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, \
                                  size_t n, const TYPE *d_x, TYPE *d_y, fpemu_cuda_stats *d_stats,                     \
                                  fpemu_cuda_stream stream)                                                            \
    {                                                                                                                  \
        const void *const all[1] = {d_x};                                                                              \
        return operate(format, rounding, 1, (unsigned)function, n, all, NULL, NULL, d_y, type, d_stats, stream);       \
    }                                                                                                                  \
    int fpemu_cuda_compare_scaled_##suffix(fpemu_relation relation, size_t n, const TYPE *const *d_operands,            \
                                          const size_t *steps, const SCALES *d_scales, uint8_t *d_y,                   \
                                          fpemu_cuda_stream stream)                                                    \
    {                                                                                                                  \
        TAKE(2)                                                                                                        \
        return relate(relation, n, all, steps, d_scales ? scales : NULL, d_y, type, stream);                           \
    }                                                                                                                  \
    int fpemu_cuda_compare_##suffix(fpemu_relation relation, size_t n, const TYPE *const *d_operands,                   \
                                   const size_t *steps, uint8_t *d_y, fpemu_cuda_stream stream)                        \
    {                                                                                                                  \
        return fpemu_cuda_compare_scaled_##suffix(relation, n, d_operands, steps, NULL, d_y, stream);                   \
    }

VERBS(f32, float, GPU_F32, fpemu_operand_scales_f32)
VERBS(f64, double, GPU_F64, fpemu_operand_scales_f64)
VERBS(bf16, uint16_t, GPU_BF16, fpemu_operand_scales_f32)
VERBS(f16, uint16_t, GPU_F16, fpemu_operand_scales_f32)
