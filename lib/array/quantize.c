/* quantize.c - the verbs on arrays and on single numbers: arguments are checked, work is split, loops are called.
 * What the loops compute stands in core/. */
#include "internal.h"
#include "format/blocking.h"
#include "format/codebook.h"
#include "threads.h"
#include "loops/stream.h"

static int out_of_range(int value, int low, int high)
{
    return value < low || value > high;
}

fpemu_status fpemu_check_scaled(const fpemu_format *f, const fpemu_rounding *r, int carrier, fpemu_format *scale)
{
    memset(scale, 0, sizeof *scale);
    if (!f)
        return FPEMU_ERROR_NULL;
    uint64_t reserved = (uint64_t)f->reserved0 | f->reserved1[0] | f->reserved1[1];
    reserved |= f->reserved2;
    for (size_t i = 0; i < sizeof f->reserved3 / sizeof f->reserved3[0]; i++)
        reserved |= f->reserved3[i];
    if (f->is_signed > 1 || f->symmetric > 1 || f->wrap > 1 || f->kind < FPEMU_KIND_FLOAT ||
        f->kind > FPEMU_KIND_CODEBOOK || f->bits < 1 || f->bits > 64 || reserved || f->mantissa_bits > 52 ||
        f->exponent_bits > 11 || f->specials > FPEMU_SPECIALS_DLFLOAT || f->subnormals > FPEMU_SUBNORMALS_FLUSH_OUT ||
        out_of_range(f->overflow, FPEMU_OVERFLOW_IEEE, FPEMU_OVERFLOW_SATURATE_KEEP_INF) ||
        out_of_range(f->nan, FPEMU_NAN_KEEP, FPEMU_NAN_ERROR))
        return FPEMU_ERROR_FORMAT;
    if (!(carrier == 32 ? f->fits_f32 : f->fits_f64))
        return FPEMU_ERROR_CARRIER;
    /* gross damage is refused here; a format changed by hand is the caller's to complete again */
    const int lowest = carrier == 32 ? -149 : -1074, highest = carrier == 32 ? 128 : 1024;
    if (f->kind == FPEMU_KIND_FLOAT &&
        (out_of_range(f->emin - (int)f->mantissa_bits, lowest, highest) || out_of_range(f->emin, lowest, highest - 1) ||
         out_of_range((int)f->mantissa_bits, 0, carrier == 32 ? 24 : 52))) /* 24: all explicit where e = 0 */
        return FPEMU_ERROR_FORMAT;
    if (f->kind == FPEMU_KIND_FIXED && out_of_range(f->quantum, lowest, highest - 1))
        return FPEMU_ERROR_FORMAT;
    if (f->kind == FPEMU_KIND_INT) {
        if (f->bits > 32 || !(f->scale > 0))
            return FPEMU_ERROR_FORMAT;
        const int64_t half = INT64_C(1) << (f->bits - 1);
        if (f->zero_point < (f->is_signed ? -half : 0) || f->zero_point >= (f->is_signed ? half : 2 * half))
            return FPEMU_ERROR_FORMAT;
    }
    if (f->kind == FPEMU_KIND_POSIT && (f->bits < 2 || f->bits > 32 || f->exponent_bits > 4))
        return FPEMU_ERROR_FORMAT;
    if (f->kind == FPEMU_KIND_CODEBOOK ? f->codebook_length < 2 || f->codebook_length > 65536 || f->bits > 16 ||
                                             f->codebook > FPEMU_CODEBOOK_UDYNAMIC || !fpemu_table_values(f)
                                       : f->codebook || f->codebook_length || f->table.size)
        return FPEMU_ERROR_FORMAT;
    if (f->scaling && !fpemu_blocks_are_sane(f, scale))
        return FPEMU_ERROR_FORMAT;
    if (!r)
        return FPEMU_OK;
    reserved = r->reserved0;
    for (size_t i = 0; i < sizeof r->reserved1 / sizeof r->reserved1[0]; i++)
        reserved |= r->reserved1[i];
    if (reserved || r->mode >= FPEMU_MODE_COUNT || r->overflow > FPEMU_OVERFLOW_SATURATE_KEEP_INF ||
        r->nan > FPEMU_NAN_ERROR || r->variant > FPEMU_SR_VARIANT_C || r->bits > 32 ||
        r->generator > FPEMU_GENERATOR_PHILOX || r->compat >= FPEMU_COMPAT_COUNT)
        return FPEMU_ERROR_ROUNDING;
    if (f->kind == FPEMU_KIND_POSIT && r->mode != FPEMU_MODE_RNE)
        return FPEMU_ERROR_UNSUPPORTED; /* posits have one rounding rule */
    return FPEMU_OK;
}

fpemu_status fpemu_check(const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    fpemu_format scale;
    return fpemu_check_scaled(f, r, carrier, &scale);
}

static size_t code_size(uint32_t bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

#include "core/carrier32.h"
#include "quantize.inc.c"
#include "core/carrier_end.h"

#include "core/carrier64.h"
#include "quantize.inc.c"
#include "core/carrier_end.h"

fpemu_status fpemu_quantize_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                                float *y, fpemu_stats *stats)
{
    return fpemu_convert32(format, rounding, n, x, y, 0, stats);
}

fpemu_status fpemu_encode_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                              void *codes, fpemu_stats *stats)
{
    return fpemu_convert32(format, rounding, n, x, codes, 1, stats);
}

fpemu_status fpemu_decode_f32(const fpemu_format *format, size_t n, const void *codes, float *y)
{
    return decode_array32(format, n, codes, y);
}

float fpemu_quantize_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index)
{
    return core_value32(quantize_one32(format, rounding, core_bits32(x), index, NULL));
}

uint64_t fpemu_encode_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index)
{
    uint64_t code = 0;
    quantize_one32(format, rounding, core_bits32(x), index, &code);
    return code;
}

float fpemu_decode_one_f32(const fpemu_format *format, uint64_t code)
{
    return decode_one32(format, code);
}

fpemu_status fpemu_quantize_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                                double *y, fpemu_stats *stats)
{
    return fpemu_convert64(format, rounding, n, x, y, 0, stats);
}

fpemu_status fpemu_encode_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                              void *codes, fpemu_stats *stats)
{
    return fpemu_convert64(format, rounding, n, x, codes, 1, stats);
}

fpemu_status fpemu_decode_f64(const fpemu_format *format, size_t n, const void *codes, double *y)
{
    return decode_array64(format, n, codes, y);
}

double fpemu_quantize_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index)
{
    return core_value64(quantize_one64(format, rounding, core_bits64(x), index, NULL));
}

uint64_t fpemu_encode_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index)
{
    uint64_t code = 0;
    quantize_one64(format, rounding, core_bits64(x), index, &code);
    return code;
}

double fpemu_decode_one_f64(const fpemu_format *format, uint64_t code)
{
    return decode_one64(format, code);
}
