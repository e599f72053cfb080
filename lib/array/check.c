/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - what a call would say to a format and a rounding, on either carrier: the one place where they are refused,
 * blocked formats and codebooks too. */
#include "core/codebook.h"
#include "core/dot.h"
#include "format/blocking.h"
#include "format/codebook.h"
#include "array.h"

static int out_of_range(int value, int low, int high)
{
    return value < low || value > high;
}

/* The format by itself; *scale and own as fpemu_check_scaled says. */
static core_reason check_format(const fpemu_format *f, int carrier, const fpemu_format **scale, fpemu_format *own)
{
    static const fpemu_format none;
    *scale = &none;
    if (!f)
        return REASON_NO_FORMAT;
    uint64_t reserved = (uint64_t)f->reserved0 | f->reserved1[0] | f->reserved1[1];
    reserved |= (uint64_t)(f->reserved2[0] | f->reserved2[1] | (f->scaling ? 0 : f->outer | f->correct));
#pragma omp simd reduction(| : reserved)
    for (size_t i = 0; i < sizeof f->reserved3 / sizeof f->reserved3[0]; i++)
        reserved |= f->reserved3[i];
    if (f->is_signed > 1 || f->symmetric > 1 || f->wrap > 1 || f->kind < FPEMU_KIND_FLOAT ||
        f->kind > FPEMU_KIND_CODEBOOK || f->bits < 1 || f->bits > 64 || reserved || f->mantissa_bits > 52 ||
        f->exponent_bits > 11 || f->specials > FPEMU_SPECIALS_HIF8 || f->subnormals > FPEMU_SUBNORMALS_FLUSH_OUT ||
        out_of_range(f->overflow, FPEMU_OVERFLOW_IEEE, FPEMU_OVERFLOW_SATURATE_KEEP_INF) ||
        out_of_range(f->nan, FPEMU_NAN_KEEP, FPEMU_NAN_ERROR))
        return REASON_FIELDS;
    if (!(carrier == 32 ? f->fits_f32 : f->fits_f64))
        return f->fits_f32 ? REASON_NEEDS_F32 : REASON_NEEDS_F64;
    /* gross damage is refused here; a format changed by hand is the caller's to complete again */
    const int lowest = carrier == 32 ? -149 : -1074, highest = carrier == 32 ? 128 : 1024;
    if (f->kind == FPEMU_KIND_FLOAT &&
        (out_of_range(f->emin - (int)f->mantissa_bits, lowest, highest) || out_of_range(f->emin, lowest, highest - 1) ||
         out_of_range((int)f->mantissa_bits, 0, carrier == 32 ? 24 : 52))) /* 24: all explicit where e = 0 */
        return REASON_FIELDS;
    if (f->kind == FPEMU_KIND_FIXED && out_of_range(f->quantum, lowest, highest - 1))
        return REASON_FIELDS;
    if (f->kind == FPEMU_KIND_INT) {
        /* by bits: subnormals may be flushed here; what binary32 makes zero or infinite of is no scale there */
        const uint64_t least = carrier == 32 ? core_bits64(0x1p-150) + 1 : 1,
                       past = carrier == 32 ? core_bits64(0x1.ffffffp127) : CORE_INF64;
        if (f->bits > 32 || core_bits64(f->scale) - least >= past - least)
            return REASON_FIELDS;
        const int64_t half = INT64_C(1) << (f->bits - 1);
        if (f->zero_point < (f->is_signed ? -half : 0) || f->zero_point >= (f->is_signed ? half : 2 * half))
            return REASON_FIELDS;
    }
    if (f->kind == FPEMU_KIND_POSIT && (f->bits < 2 || f->bits > 32 || f->exponent_bits > 5))
        return REASON_FIELDS;
    if (f->kind == FPEMU_KIND_CODEBOOK ? f->codebook_length < 2 || f->codebook_length > 65536 || f->bits > 16 ||
                                             f->codebook > FPEMU_CODEBOOK_CODES || !fpemu_table_values(f)
                                       : f->codebook || f->codebook_length || f->table_word)
        return REASON_FIELDS;
    if (f->scaling && !fpemu_blocks_are_sane(f, scale, own))
        return REASON_FIELDS;
    /* as the format itself would say */
    if (f->scaling && !f->scale_power && !(carrier == 32 ? (*scale)->fits_f32 : (*scale)->fits_f64))
        return REASON_FIELDS;
    return REASON_NONE;
}

const char *fpemu_rounding_damage(const fpemu_rounding *r)
{
    const int words = r->generator == FPEMU_GENERATOR_WORDS;
    uint64_t reserved = words ? 0 : r->layout | r->words_word;
    for (size_t i = 0; i < sizeof r->reserved1 / sizeof r->reserved1[0]; i++)
        reserved |= r->reserved1[i];
    return r->mode >= FPEMU_MODE_COUNT                        ? "mode"
           : r->overflow > FPEMU_OVERFLOW_SATURATE_KEEP_INF   ? "overflow"
           : r->nan > FPEMU_NAN_ERROR                         ? "nan"
           : r->variant > FPEMU_SR_VARIANT_C                  ? "variant"
           : r->layout > FPEMU_WORDS_PTX_X4                   ? "layout"
           : r->bits > 32 || (r->layout && r->bits - 1u > 15) ? "bits"
           : r->generator > FPEMU_GENERATOR_WORDS             ? "generator"
           : words && !r->words                               ? "words"
           : r->compat >= FPEMU_COMPAT_COUNT                  ? "compat"
           : reserved                                         ? "reserved"
                                                              : NULL;
}

/* Modes that codebooks and posits have, compatibility settings that blocks have. */
static core_reason check_pair(const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    const int bits = (int)f->bits - 1, nearest = r->mode == FPEMU_MODE_RNE || r->mode == FPEMU_MODE_RNA;
    const int muppet =
        r->compat == FPEMU_COMPAT_MUPPET && f->scaling == FPEMU_SCALING_MUPPET && r->mode == FPEMU_MODE_SR;
    const int ggml = r->compat == FPEMU_COMPAT_GGML && r->mode == FPEMU_MODE_RNA &&
                     (f->scaling == FPEMU_SCALING_GGML_0 || f->scaling == FPEMU_SCALING_GGML_1 ||
                      f->scaling == FPEMU_SCALING_RECIPROCAL);
    if (f->scaling && r->compat && !muppet && !ggml &&
        !(r->compat == FPEMU_COMPAT_QPYTORCH && f->scaling == FPEMU_SCALING_FLOOR && f->kind == FPEMU_KIND_FIXED &&
          f->is_signed && f->symmetric && carrier == 32 && bits >= 2 && bits <= 21 &&
          (nearest || r->mode == FPEMU_MODE_SR)))
        return REASON_BLOCK_COMPAT;
    if (!f->scaling && (r->compat == FPEMU_COMPAT_MUPPET || r->compat == FPEMU_COMPAT_GGML)) /* of blocks alone */
        return REASON_SCALAR_COMPAT;
    if (f->kind == FPEMU_KIND_POSIT && r->mode != FPEMU_MODE_RNE)
        return REASON_POSIT_MODE;
    if (f->scaling == FPEMU_SCALING_EDEN || (f->scaling && core_candidates(f) > 1 && !core_rule_chooses(f->scaling))) {
        if (r->compat)
            return REASON_BLOCK_COMPAT;
        if (FPEMU_MODE_DRAWS(r->mode) && core_order(f) != CORE_MANTISSA)
            return REASON_SEARCH_MODE;
    }
    return f->kind == FPEMU_KIND_CODEBOOK && !core_codebook_mode(r->mode) ? REASON_TABLE_MODE : REASON_NONE;
}

fpemu_status fpemu_check_scaled(const fpemu_format *f, const fpemu_rounding *r, int carrier, const fpemu_format **scale,
                                fpemu_format *own, fpemu_why *why)
{
    core_reason reason = check_format(f, carrier_wide(carrier), scale, own);
    if (!reason && r)
        reason = fpemu_rounding_damage(r) ? REASON_ROUNDING_FIELD : check_pair(f, r, carrier_wide(carrier));
    if (!reason && carrier_is_narrow(carrier) &&
        !(carrier == FPEMU_TYPE_F16 ? fpemu_format_fits_f16(f) : fpemu_format_fits_bf16(f)))
        reason = REASON_NEEDS_F32;
    return reason ? fpemu_refuse(why, reason, f, r, carrier) : FPEMU_OK;
}

fpemu_status fpemu_check_call(const fpemu_format *f, const fpemu_rounding *r, int carrier, fpemu_why *why)
{
    fpemu_format own;
    const fpemu_format *scale;
    return fpemu_check_scaled(f, r, carrier, &scale, &own, why);
}

core_reason fpemu_use_refused(const fpemu_format *f, const fpemu_rounding *r, int use)
{
    if (use == FPEMU_USE_ENCODE || use == FPEMU_USE_DECODE)
        return f->scaling ? REASON_NO_CODES : REASON_NONE;
    if (use == FPEMU_USE_SCALES && (!f->scaling || f->scaling == FPEMU_SCALING_S2FP8))
        return f->scaling ? REASON_SQUEEZED : REASON_NO_SCALES;
    if (use < FPEMU_USE_FUNCTION_TABLE)
        return REASON_NONE;
    /* what depends on the place of an element, or is said of an array, is in no table */
    if (CORE_DRAWS(r->mode))
        return REASON_DRAWN_TABLE;
    return core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan ? REASON_NAN_TABLE : REASON_NONE;
}

static fpemu_status check_use(const fpemu_format *f, const fpemu_rounding *r, int type, int use, fpemu_why *why)
{
    const int rounds = fpemu_use_rounds(use), narrow = carrier_is_narrow(type);
    const int is_table = use >= FPEMU_USE_FUNCTION_TABLE;
    const int is_operation = (unsigned)use - FPEMU_USE_OPERATION < FPEMU_OPERATION_COUNT;
    const int is_function =
        (unsigned)use - (is_table ? FPEMU_USE_FUNCTION_TABLE : FPEMU_USE_FUNCTION) < FPEMU_FUNCTION_COUNT;
    core_reason reason = REASON_NONE;
    if (!f || (!r && rounds))
        reason = f ? REASON_NO_ROUNDING : REASON_NO_FORMAT;
    else if (!narrow && (is_table || (type != FPEMU_TYPE_F32 && type != FPEMU_TYPE_F64)))
        reason = REASON_NO_TYPE;
    else if ((unsigned)use > FPEMU_USE_SCALES && !is_operation && !is_function)
        reason = REASON_NO_USE;
    if (reason)
        return fpemu_refuse(why, reason, f, r, type);
    /* codes and scales need not fit a narrow type */
    const int fits = use != FPEMU_USE_ENCODE && use != FPEMU_USE_PACK && use != FPEMU_USE_SCALES;
    const fpemu_status status = fpemu_check_call(f, rounds ? r : NULL, fits ? type : carrier_wide(type), why);
    core_plan64 plan;
    fpemu_format seen;
    if (!status && (is_operation || is_function))
        reason = core_arith_plan(f, r, carrier_wide(type), is_function, &plan, &seen);
    if (!status && !reason)
        reason = fpemu_use_refused(f, r, use);
    return reason ? fpemu_refuse(why, reason, f, r, type) : status;
}

fpemu_status fpemu_check_use(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, int use,
                             fpemu_why *why)
{
    fp_environment environment;
    if (why)
        memset(why, 0, sizeof *why);
    fpemu_environment_enter(&environment);
    const fpemu_status status = check_use(format, rounding, (int)type, use, why);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_check(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, fpemu_why *why)
{
    return fpemu_check_use(format, rounding, type, FPEMU_USE_QUANTIZE, why);
}
