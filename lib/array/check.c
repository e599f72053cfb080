/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - what a call would say to a format and a rounding, on either carrier: the one place where they are refused,
 * blocked formats and codebooks too. */
#include "core/codebook.h"
#include "format/blocking.h"
#include "format/codebook.h"
#include "array.h"

static int out_of_range(int value, int low, int high)
{
    return value < low || value > high;
}

/* The format by itself; *scale and own as fpemu_check_scaled says. */
static fpemu_status check_format(const fpemu_format *f, int carrier, const fpemu_format **scale, fpemu_format *own)
{
    static const fpemu_format none;
    *scale = &none;
    if (!f)
        return FPEMU_ERROR_NULL;
    uint64_t reserved = (uint64_t)f->reserved0 | f->reserved1[0] | f->reserved1[1];
    reserved |= f->reserved2;
#pragma omp simd reduction(| : reserved)
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
        /* by bits: subnormals may be flushed here; what binary32 makes zero or infinite of is no scale there */
        const uint64_t least = carrier == 32 ? core_bits64(0x1p-150) + 1 : 1,
                       past = carrier == 32 ? core_bits64(0x1.ffffffp127) : CORE_INF64;
        if (f->bits > 32 || core_bits64(f->scale) - least >= past - least)
            return FPEMU_ERROR_FORMAT;
        const int64_t half = INT64_C(1) << (f->bits - 1);
        if (f->zero_point < (f->is_signed ? -half : 0) || f->zero_point >= (f->is_signed ? half : 2 * half))
            return FPEMU_ERROR_FORMAT;
    }
    if (f->kind == FPEMU_KIND_POSIT && (f->bits < 2 || f->bits > 32 || f->exponent_bits > 4))
        return FPEMU_ERROR_FORMAT;
    if (f->kind == FPEMU_KIND_CODEBOOK ? f->codebook_length < 2 || f->codebook_length > 65536 || f->bits > 16 ||
                                             f->codebook > FPEMU_CODEBOOK_UDYNAMIC || !fpemu_table_values(f)
                                       : f->codebook || f->codebook_length || f->table_word)
        return FPEMU_ERROR_FORMAT;
    if (f->scaling && !fpemu_blocks_are_sane(f, scale, own))
        return FPEMU_ERROR_FORMAT;
    /* as the format itself would say */
    if (f->scaling && !f->scale_power && !(carrier == 32 ? (*scale)->fits_f32 : (*scale)->fits_f64))
        return FPEMU_ERROR_FORMAT;
    return FPEMU_OK;
}

static int fields_are_in_range(const fpemu_rounding *r)
{
    uint64_t reserved = r->reserved0;
    for (size_t i = 0; i < sizeof r->reserved1 / sizeof r->reserved1[0]; i++)
        reserved |= r->reserved1[i];
    return !reserved && r->mode < FPEMU_MODE_COUNT && r->overflow <= FPEMU_OVERFLOW_SATURATE_KEEP_INF &&
           r->nan <= FPEMU_NAN_ERROR && r->variant <= FPEMU_SR_VARIANT_C && r->bits <= 32 &&
           r->generator <= FPEMU_GENERATOR_PHILOX && r->compat < FPEMU_COMPAT_COUNT;
}

/* Modes that codebooks and posits have, compatibility settings that blocks have. */
static fpemu_status check_pair(const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    if (f->kind == FPEMU_KIND_POSIT && r->mode != FPEMU_MODE_RNE)
        return FPEMU_ERROR_UNSUPPORTED; /* posits have one rounding rule */
    if (f->kind == FPEMU_KIND_CODEBOOK && !core_codebook_mode(r->mode))
        return FPEMU_ERROR_UNSUPPORTED;
    if (!f->scaling || r->compat == FPEMU_COMPAT_NONE)
        return FPEMU_OK;
    const int bits = (int)f->bits - 1;
    if (r->compat == FPEMU_COMPAT_MUPPET && f->scaling == FPEMU_SCALING_MUPPET && r->mode == FPEMU_MODE_SR)
        return FPEMU_OK;
    const int nearest = r->mode == FPEMU_MODE_RNE || r->mode == FPEMU_MODE_RNA;
    if (r->compat == FPEMU_COMPAT_QPYTORCH && f->scaling == FPEMU_SCALING_FLOOR && f->kind == FPEMU_KIND_FIXED &&
        f->is_signed && f->symmetric && carrier == 32 && bits >= 2 && bits <= 21 &&
        (nearest || r->mode == FPEMU_MODE_SR))
        return FPEMU_OK;
    return FPEMU_ERROR_UNSUPPORTED;
}

fpemu_status fpemu_check_scaled(const fpemu_format *f, const fpemu_rounding *r, int carrier, const fpemu_format **scale,
                                fpemu_format *own)
{
    fpemu_status status = check_format(f, carrier_wide(carrier), scale, own);
    if (!status && r)
        status = fields_are_in_range(r) ? check_pair(f, r, carrier_wide(carrier)) : FPEMU_ERROR_ROUNDING;
    if (!status && carrier_is_narrow(carrier) &&
        !(carrier == FPEMU_TYPE_F16 ? fpemu_format_fits_f16(f) : fpemu_format_fits_bf16(f)))
        status = FPEMU_ERROR_CARRIER;
    return status;
}

fpemu_status fpemu_check_call(const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    fpemu_format own;
    const fpemu_format *scale;
    return fpemu_check_scaled(f, r, carrier, &scale, &own);
}

fpemu_status fpemu_check(const fpemu_format *format, const fpemu_rounding *rounding, int carrier_bits)
{
    if (!format || !rounding)
        return FPEMU_ERROR_NULL;
    if (carrier_bits != 32 && carrier_bits != 64 && !carrier_is_narrow(carrier_bits))
        return FPEMU_ERROR_ARGUMENT;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = fpemu_check_call(format, rounding, carrier_bits);
    fpemu_environment_leave(&environment);
    return status;
}
