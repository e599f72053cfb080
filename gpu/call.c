/* SPDX-License-Identifier: BSD-2-Clause */
/* call.c - checks of formats, pointers and 16-bit types, and texts of statuses, for all host calls. */
#include "call.h"
#include "core/plan.h"

const char *fpemu_cuda_status_text(fpemu_cuda_status status)
{
    switch (status) {
    case FPEMU_CUDA_ERROR_NO_DEVICE: return "no CUDA device";
    case FPEMU_CUDA_ERROR_DRIVER: return "the CUDA driver is missing or too old";
    case FPEMU_CUDA_ERROR_POINTER: return "a pointer that the CUDA device cannot reach";
    case FPEMU_CUDA_ERROR_NO_CODE: return "no code for this CUDA device";
    case FPEMU_CUDA_ERROR_LAUNCH: return "the CUDA kernel could not be launched";
    case FPEMU_CUDA_ERROR_DEVICE: return "earlier work on the CUDA device failed";
    case FPEMU_CUDA_ERROR_DEVICE_MEMORY: return "no CUDA device memory is left for the kernels";
    default: return fpemu_status_text((fpemu_status)status);
    }
}

fpemu_cuda_status fpemu_cuda_finish(fpemu_cuda_stream stream, const char **text)
{
    return fpemu_gpu_wait(stream, text);
}

int fpemu_gpu_type(fpemu_type type)
{
    switch (type) {
    case FPEMU_TYPE_F32: return GPU_F32;
    case FPEMU_TYPE_F64: return GPU_F64;
    case FPEMU_TYPE_F16: return GPU_F16;
    case FPEMU_TYPE_BF16: return GPU_BF16;
    }
    return GPU_CODES;
}

size_t fpemu_gpu_size(int type, uint32_t code_size)
{
    return type == GPU_F32 ? 4 : type == GPU_F64 ? 8 : type == GPU_CODES ? code_size : 2;
}

int fpemu_gpu_fits(const fpemu_format *f, int type)
{
    return type == GPU_F16 ? fpemu_format_fits_f16(f) : type != GPU_BF16 || fpemu_format_fits_bf16(f);
}

fpemu_cuda_status fpemu_gpu_check_pointers(const void *x, size_t x_size, const void *y, size_t y_size, size_t n)
{
    core_reach from, to;
    if (!core_reach_array(&from, x, n, x_size) || !core_reach_array(&to, y, n, y_size))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if ((x != y || x_size != y_size) && core_reaches_meet(&from, &to))
        return FPEMU_CUDA_ERROR_OVERLAP;
    if ((uintptr_t)x % x_size || (uintptr_t)y % y_size)
        return FPEMU_CUDA_ERROR_ARGUMENT; /* the device reads whole elements only */
    const fpemu_cuda_status status = fpemu_gpu_reachable(x);
    return status ? status : fpemu_gpu_reachable(y);
}

fpemu_cuda_status fpemu_gpu_check_words(const void *p)
{
    if (!p)
        return FPEMU_CUDA_OK;
    return (uintptr_t)p % sizeof(uint64_t) ? FPEMU_CUDA_ERROR_ARGUMENT : fpemu_gpu_reachable(p);
}

fpemu_cuda_status fpemu_gpu_check_offset(const fpemu_rounding *r, size_t n)
{
    const uint64_t most = UINT64_MAX - GPU_BEHIND, elements = n;
    return elements <= most && r->offset <= most - elements ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_ARGUMENT;
}

fpemu_cuda_status fpemu_gpu_check_scales(const void *scales, uint64_t count, size_t size, const core_reach *result)
{
    core_reach read;
    if (!core_reach_array(&read, scales, count, size) || (uintptr_t)scales % size)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (core_reaches_meet(&read, result))
        return FPEMU_CUDA_ERROR_OVERLAP;
    return fpemu_gpu_reachable(scales);
}

fpemu_cuda_status fpemu_gpu_check(const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    fpemu_rounding plain = *r;
    plain.generator &= (uint8_t)~FPEMU_CUDA_STATE;
    const fpemu_cuda_status status = plain.generator == FPEMU_GENERATOR_WORDS
                                         ? FPEMU_CUDA_ERROR_UNSUPPORTED
                                         : gpu_status(fpemu_check(f, &plain, carrier, NULL));
    if (status || plain.generator == r->generator)
        return status;
    return r->seed ? fpemu_gpu_check_words((const void *)(uintptr_t)r->seed) : FPEMU_CUDA_ERROR_NULL;
}

gpu_random fpemu_gpu_random(const fpemu_rounding *r)
{
    gpu_random random;
    memset(&random, 0, sizeof random);
    if (!r)
        return random;
    const int bits = r->bits ? r->bits : 32;
    random.seed = r->seed;
    random.stream = r->stream;
    random.state = r->generator & FPEMU_CUDA_STATE ? (const uint64_t *)(uintptr_t)r->seed : NULL;
    random.generator = r->generator & (uint8_t)~FPEMU_CUDA_STATE;
    random.per_word = (uint8_t)core_per_word(bits);
    random.bits = (uint8_t)bits;
    random.used = FPEMU_MODE_DRAWS(r->mode);
    return random;
}

int fpemu_gpu_nan_is_error(const fpemu_format *f, const fpemu_rounding *r)
{
    return core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan;
}
