/* SPDX-License-Identifier: BSD-2-Clause */
/* range.c - what is known of a whole tensor: measured, read, and packed as the two numbers that some formats keep. */
#include "block_job.h"

/* Adds what a tensor holds to a range. */
static fpemu_cuda_status measure(const fpemu_format *f, const fpemu_shape *shape, const void *x, int type,
                                 gpu_range *range, fpemu_cuda_stream stream)
{
    fpemu_format scalar = *f;
    fpemu_layout none;
    core_walk w;
    memset(&none, 0, sizeof none);
    scalar.scaling = FPEMU_SCALING_NONE;
    const fpemu_cuda_status status = gpu_status(core_walk_begin(&w, &scalar, shape, fpemu_gpu_size(type, 0), 0));
    if (status || w.blocks == 0)
        return status;
    const gpu_tensor c = {.format = f, .shape = shape, .count = ALL_BLOCKS, .x = x, .type = type};
    if (type == GPU_F64) {
        gpu_blocks_job64 j;
        memset(&j, 0, sizeof j);
        fpemu_gpu_fill_blocks(&j.call, &c, &w, &none);
        j.call.range = range;
        j.call.sums = core_rule_sums(f->scaling) ? f->scaling : 0;
        return fpemu_gpu_measure64(&j, w.total, stream);
    }
    gpu_blocks_job32 j;
    memset(&j, 0, sizeof j);
    fpemu_gpu_fill_blocks(&j.call, &c, &w, &none);
    j.call.range = range;
    j.call.sums = core_rule_sums(f->scaling) ? f->scaling : 0;
    j.call.run = !j.call.sums && fpemu_gpu_is_run(&c, &w, x, w.x_axis) ? 128 : 0;
    return fpemu_gpu_measure32(&j, w.total, stream);
}

/* What turns a range into the numbers of f. */
gpu_range_rule fpemu_gpu_tensor_rule(const fpemu_format *f, int type)
{
    gpu_range_rule rule;
    fpemu_format element, scale;
    memset(&rule, 0, sizeof rule);
    fpemu_gpu_formats(f, &element, &scale);
    rule.rule = f->scaling;
    rule.wide = type == GPU_F64;
    rule.largest_scale = f->bound > 0 ? f->bound : core_saturated32(scale.max);
    rule.largest = core_saturated32(core_block_target(f));
    return rule;
}

/* The numbers of the whole tensor into the scratch: measured, or from the caller's range. */
fpemu_cuda_status fpemu_gpu_find_range(const gpu_tensor *c, gpu_range *range, unsigned char *bytes,
                                       fpemu_cuda_stream stream)
{
    const fpemu_range *whole = c->shape->whole;
    fpemu_cuda_status status = fpemu_gpu_zero((uint64_t *)(void *)range, sizeof *range / 8, stream);
    fpemu_shape shape = c->count == ALL_BLOCKS ? *c->shape : fpemu_gpu_contiguous(c->shape);
    shape.given = NULL;
    if (!status && !whole)
        status = measure(c->format, &shape, c->x, c->type, range, stream);
    return status ? status
                  : fpemu_gpu_range_finish(range, fpemu_gpu_tensor_rule(c->format, c->type), whole,
                                           core_has_tensor(c->format) ? bytes : NULL, stream);
}

/* --------------------------------------------------------------------------------------------- public functions */

size_t fpemu_cuda_range_size(void)
{
    return sizeof(gpu_range);
}

fpemu_cuda_status fpemu_cuda_range_clear(fpemu_cuda_range *d_range, fpemu_cuda_stream stream)
{
    if (!d_range)
        return FPEMU_CUDA_ERROR_NULL;
    const fpemu_cuda_status status = fpemu_gpu_check_words(d_range);
    return status ? status : fpemu_gpu_zero((uint64_t *)(void *)d_range, sizeof(gpu_range) / 8, stream);
}

fpemu_cuda_status fpemu_cuda_range_read(const fpemu_cuda_range *d_range, fpemu_range *range, fpemu_cuda_stream stream)
{
    gpu_range seen;
    fp_environment environment;
    if (!d_range || !range)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_cuda_status status = fpemu_gpu_check_words(d_range);
    if (!status)
        status = fpemu_gpu_copy_back(&seen, d_range, sizeof seen, stream);
    if (status)
        return status;
    fpemu_environment_enter(&environment);
    gpu_range_value(&seen, range);
    fpemu_environment_leave(&environment);
    return FPEMU_CUDA_OK;
}

fpemu_cuda_status fpemu_cuda_measure(const fpemu_format *format, fpemu_type type, size_t n, const void *d_x,
                                     fpemu_cuda_range *d_range, fpemu_cuda_stream stream)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_shape shape = fpemu_shape_vector(n);
    const int x_type = fpemu_gpu_type(type);
    const size_t size = fpemu_gpu_size(x_type, 0);
    fp_environment environment;
    core_reach reach;
    if (x_type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (!format || !d_range || (n && !d_x))
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_cuda_status status = gpu_status(fpemu_check(format, &nearest, gpu_carrier(x_type), NULL));
    if (!status && n && ((uintptr_t)d_x % size || !core_reach_array(&reach, d_x, n, size)))
        status = FPEMU_CUDA_ERROR_ARGUMENT;
    if (!status && n)
        status = fpemu_gpu_reachable(d_x);
    if (!status)
        status = fpemu_gpu_check_words(d_range);
    if (status || n == 0)
        return status;
    fpemu_environment_enter(&environment);
    status = measure(format, &shape, d_x, x_type, (gpu_range *)(void *)d_range, stream);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_cuda_status fpemu_cuda_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape,
                                                const fpemu_cuda_range *d_range, void *d_bytes,
                                                fpemu_cuda_stream stream)
{
    const gpu_range *const range = (const gpu_range *)(const void *)d_range;
    fpemu_layout l;
    fp_environment environment;
    fpemu_cuda_status status = gpu_status(fpemu_packed_layout(format, shape, &l));
    if (!status && !core_told_range_is_sane(shape))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (status || l.tensor_bytes == 0 || format->outer)
        return status;
    if (!d_bytes || (!shape->whole && !range))
        return FPEMU_CUDA_ERROR_NULL;
    core_reach read, packed, written;
    if (!core_reach_array(&packed, d_bytes, l.bytes, 1) || !core_reach_array(&written, d_bytes, l.tensor_bytes, 1) ||
        (!shape->whole && !core_reach_array(&read, range, 1, sizeof *range)))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (!shape->whole && core_reaches_meet(&read, &written))
        return FPEMU_CUDA_ERROR_OVERLAP;
    status = shape->whole ? FPEMU_CUDA_OK : fpemu_gpu_check_words(range);
    if (!status)
        status = fpemu_gpu_reachable(d_bytes);
    if (status)
        return status;
    fpemu_environment_enter(&environment);
    status = fpemu_gpu_pack_tensor_scales(range, fpemu_gpu_tensor_rule(format, GPU_F64), shape->whole,
                                          (unsigned char *)d_bytes + l.tensor_offset, stream);
    fpemu_environment_leave(&environment);
    return status;
}
