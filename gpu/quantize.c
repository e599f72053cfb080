/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - the calls of scalar formats: arguments are checked and made into a job, which launch.h runs. Formats
 * with scales and codebooks go to blocks.c. */
#include "call.h"
#include "core/plan.h"
#include "core/round_fast.h"

/* So that arrays of a million elements keep every warp busy; and those of so many that they do so anyway. */
#define PIECE 512
#define LARGE_PIECE 2048
#define LARGE ((size_t)1 << 24)

/* The first element from which on four at a time lie aligned, modulo *step. */
static uintptr_t aligned_from(const void *p, size_t size, uintptr_t *step)
{
    *step = size == 8 ? 2 : 4; /* two vectors where an element has 8 bytes */
    return (0 - (uintptr_t)p / size) % *step;
}

/* The first element, modulo 4, from which on four at a time lie aligned in both arrays, or GPU_NO_QUADS. */
static uint8_t phase_of(const void *x, size_t x_size, const void *y, size_t y_size)
{
    uintptr_t a, b;
    const uintptr_t p = aligned_from(x, x_size, &a), q = aligned_from(y, y_size, &b);
    if ((p ^ q) % (a < b ? a : b))
        return GPU_NO_QUADS;
    return (uint8_t)(a < b ? q : p);
}

static void fill_job(gpu_quantize_call *j, const fpemu_rounding *r, size_t n, const void *x, int x_type, void *y,
                     int y_type, uint32_t size, fpemu_cuda_stats *stats)
{
    j->n = n;
    j->integers = core_integers();
    j->x = x;
    j->y = y;
    j->x_type = (uint8_t)x_type;
    j->y_type = (uint8_t)y_type;
    j->x_size = (uint32_t)fpemu_gpu_size(x_type, size);
    j->y_size = (uint32_t)fpemu_gpu_size(y_type, size);
    j->random = fpemu_gpu_random(r);
    j->phase = j->random.used && j->random.generator == FPEMU_GENERATOR_PHILOX ? GPU_NO_QUADS
                                                                               : phase_of(x, j->x_size, y, j->y_size);
    j->counts = (gpu_counts *)(void *)stats;
    j->piece = n < LARGE ? PIECE : LARGE_PIECE;
    j->offset = r ? r->offset : 0;
}

/* Values of x_type to values of the same type, or to codes. */
static fpemu_cuda_status convert_inside(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                                        int x_type, void *y, int to_code, fpemu_cuda_stats *stats,
                                        fpemu_cuda_stream stream)
{
    fpemu_cuda_status status = fpemu_gpu_check(f, r, gpu_carrier(x_type));
    if (status)
        return status;
    if (f->scaling || f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_gpu_quantize_blocks(f, r, n, x, x_type, y, to_code, stats, stream);
    if (fpemu_gpu_nan_is_error(f, r))
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    const int y_type = to_code ? GPU_CODES : x_type;
    const uint32_t size = (uint32_t)fpemu_format_code_size(f);
    if (!to_code && !fpemu_gpu_fits(f, x_type))
        return FPEMU_CUDA_ERROR_CARRIER;
    status = fpemu_gpu_check_offset(r, n);
    if (!status)
        status = fpemu_gpu_check_pointers(x, fpemu_gpu_size(x_type, 0), y, fpemu_gpu_size(y_type, size), n);
    if (!status)
        status = fpemu_gpu_check_words(stats);
    if (status)
        return status;
    if (x_type == GPU_F64) {
        gpu_quantize_job64 j;
        memset(&j, 0, sizeof j);
        core_plan_make64(&j.plan, f, r, to_code);
        core_coder_make64(&j.coder, f, r);
        if (!to_code || j.coder.fast_encode || f->kind != FPEMU_KIND_FLOAT)
            core_choose_fast64(&j.plan, f);
        fill_job(&j.call, r, n, x, x_type, y, y_type, size, stats);
        gpu_prepare64(&j);
        return fpemu_gpu_quantize64(&j, stream);
    }
    gpu_quantize_job32 j;
    memset(&j, 0, sizeof j);
    core_plan_make32(&j.plan, f, r, to_code);
    core_coder_make32(&j.coder, f, r);
    if (!to_code || j.coder.fast_encode || f->kind != FPEMU_KIND_FLOAT)
        core_choose_fast32(&j.plan, f);
    fill_job(&j.call, r, n, x, x_type, y, y_type, size, stats);
    gpu_prepare32(&j);
    return fpemu_gpu_quantize32(&j, stream);
}

/* In the default floating-point environment: plans are made of arithmetic. */
static fpemu_cuda_status convert(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x, int x_type,
                                 void *y, int to_code, fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (x_type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_CUDA_OK;
    if (!f || !r || !x || !y)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const fpemu_cuda_status status = convert_inside(f, r, n, x, x_type, y, to_code, stats, stream);
    fpemu_environment_leave(&environment);
    return status;
}

static fpemu_cuda_status decode_inside(const fpemu_format *f, size_t n, const void *codes, void *y, int y_type,
                                       fpemu_cuda_stream stream)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const uint32_t size = (uint32_t)fpemu_format_code_size(f);
    fpemu_cuda_status status = gpu_status(fpemu_check(f, &nearest, gpu_carrier(y_type), NULL));
    if (!status && (f->scaling || f->kind == FPEMU_KIND_CODEBOOK))
        return fpemu_gpu_decode_codebook(f, n, codes, y, y_type, stream);
    if (!status && !fpemu_gpu_fits(f, y_type))
        status = FPEMU_CUDA_ERROR_CARRIER;
    if (!status)
        status = fpemu_gpu_check_pointers(codes, size, y, fpemu_gpu_size(y_type, 0), n);
    if (status)
        return status;
    if (y_type == GPU_F64) {
        gpu_quantize_job64 j;
        memset(&j, 0, sizeof j);
        core_coder_make64(&j.coder, f, NULL);
        fill_job(&j.call, NULL, n, codes, GPU_CODES, y, y_type, size, NULL);
        gpu_prepare_decode64(&j);
        return fpemu_gpu_decode64(&j, stream);
    }
    gpu_quantize_job32 j;
    memset(&j, 0, sizeof j);
    core_coder_make32(&j.coder, f, NULL);
    fill_job(&j.call, NULL, n, codes, GPU_CODES, y, y_type, size, NULL);
    gpu_prepare_decode32(&j);
    return fpemu_gpu_decode32(&j, stream);
}

/* --------------------------------------------------------------------------------------------- public functions */

fpemu_cuda_status fpemu_cuda_quantize(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                      size_t n, const void *d_x, void *d_y, fpemu_cuda_stats *d_stats,
                                      fpemu_cuda_stream stream)
{
    return convert(format, rounding, n, d_x, fpemu_gpu_type(type), d_y, 0, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_encode(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                    size_t n, const void *d_x, void *d_codes, fpemu_cuda_stats *d_stats,
                                    fpemu_cuda_stream stream)
{
    return convert(format, rounding, n, d_x, fpemu_gpu_type(type), d_codes, 1, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_decode(const fpemu_format *format, fpemu_type type, size_t n, const void *d_codes,
                                    void *d_y, fpemu_cuda_stream stream)
{
    const int y_type = fpemu_gpu_type(type);
    fp_environment environment;
    if (y_type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_CUDA_OK;
    if (!format || !d_codes || !d_y)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const fpemu_cuda_status status = decode_inside(format, n, d_codes, d_y, y_type, stream);
    fpemu_environment_leave(&environment);
    return status;
}
