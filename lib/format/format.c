/* SPDX-License-Identifier: BSD-2-Clause */
/* format.c - from parameters to a format: the one way in, and the constructors. */
#include "format.h"

#include "blocking.h"
#include "codebook.h"
#include "core/port.h"
#include "core/reach.h"
#include "environment.h"
#include "scalar.h"

#include <string.h>

/* The parameters alone. */
static fpemu_format parameters_of(const fpemu_format *f)
{
    fpemu_format p;
    memset(&p, 0, sizeof p);
    memcpy(&p, f, offsetof(fpemu_format, precision)); /* where those of scalar formats end */
    p.codebook = f->codebook;
    p.codebook_length = f->codebook_length;
    if (f->kind == FPEMU_KIND_CODEBOOK && fpemu_has_own_table(f))
        p.table = f->table;
    fpemu_copy_blocked(&p, f);
    return p;
}

/* Enumerations and flags within range, and nothing set that means nothing for the kind. */
static int check_fields(const fpemu_format *f, fpemu_problem *problem)
{
    const int is_float = f->kind == FPEMU_KIND_FLOAT, is_posit = f->kind == FPEMU_KIND_POSIT;
    uint64_t reserved = f->reserved0 | f->reserved1[0] | f->reserved1[1];
    reserved |= (uint64_t)(f->reserved2[0] | f->reserved2[1]);
    for (size_t i = 0; i < sizeof f->reserved3 / sizeof f->reserved3[0]; i++)
        reserved |= f->reserved3[i];
    if (f->kind < FPEMU_KIND_FLOAT || f->kind > FPEMU_KIND_CODEBOOK || reserved)
        return refuse(problem, 0, "a known kind of format");
    if (f->is_signed > 1)
        return refuse(problem, FPEMU_PARAMETER_SIGNED, "signed 0 or 1");
    if (f->symmetric > 1 || f->wrap > 1)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP, "symmetric and wrap 0 or 1");
    if (f->overflow > FPEMU_OVERFLOW_SATURATE_KEEP_INF)
        return refuse(problem, FPEMU_PARAMETER_OVERFLOW, "a known overflow policy");
    if (f->nan > FPEMU_NAN_ERROR)
        return refuse(problem, FPEMU_PARAMETER_NAN, "a known NaN policy");
    if (is_float ? f->specials > FPEMU_SPECIALS_HIF8 : f->specials != 0)
        return refuse(problem, FPEMU_PARAMETER_SPECIALS, "known specials");
    if (is_float ? f->subnormals > FPEMU_SUBNORMALS_FLUSH_OUT : f->subnormals != 0)
        return refuse(problem, FPEMU_PARAMETER_SUBNORMALS, "a known reading of subnormals");
    if ((!is_float && !is_posit && f->exponent_bits) || (!is_float && (f->mantissa_bits || f->bias)) ||
        (f->kind != FPEMU_KIND_FIXED && f->fraction_bits) ||
        (f->kind != FPEMU_KIND_INT && (core_bits64(f->scale) || f->zero_point)) ||
        (f->kind != FPEMU_KIND_CODEBOOK && (f->codebook || f->codebook_length || f->table_word)))
        return refuse(problem, 0, "no parameters of other kinds");
    return 1;
}

int fpemu_derive(fpemu_format *format, fpemu_problem *problem)
{
    if (!check_fields(format, problem))
        return 0;
    fpemu_format f = parameters_of(format);
    f.overflow = f.overflow ? f.overflow : FPEMU_OVERFLOW_IEEE;
    f.nan = f.nan ? f.nan : FPEMU_NAN_KEEP;
    const int good = fpemu_derive_scalar(&f, problem) && fpemu_derive_blocked(&f, problem);
    if (good)
        *format = f;
    return good;
}

fpemu_status fpemu_format_complete(fpemu_format *format)
{
    fpemu_problem problem;
    if (!format)
        return FPEMU_ERROR_NULL;
    if (fpemu_derive(format, &problem))
        return FPEMU_OK;
    memset(format, 0, sizeof *format);
    return FPEMU_ERROR_FORMAT;
}

int fpemu_same_base(const fpemu_format *a, const fpemu_format *b)
{
    return fpemu_same_scalar(a, b) && fpemu_same_blocking(a, b);
}

int fpemu_format_equal(const fpemu_format *a, const fpemu_format *b)
{
    return fpemu_is_format(a) && fpemu_is_format(b) && fpemu_same_base(a, b) && fpemu_same_policies(a, b);
}

/* ------------------------------------------------------------------------------------------ constructors */

fpemu_status fpemu_format_float(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t bias,
                                fpemu_specials specials, int is_signed)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    fpemu_set_float(format, exponent_bits, mantissa_bits, bias, (uint32_t)specials, is_signed);
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_lee(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t b)
{
    fpemu_problem problem;
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (!fpemu_set_lee(format, exponent_bits, mantissa_bits, b, &problem))
        return FPEMU_ERROR_FORMAT;
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_p3109(fpemu_format *format, uint32_t k, uint32_t p, int is_signed, int has_infinity)
{
    fpemu_problem problem;
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (!fpemu_set_p3109(format, k, p, is_signed != 0, has_infinity, &problem))
        return FPEMU_ERROR_FORMAT;
    return fpemu_format_complete(format);
}

/* The format with these parameters, and no others. */
static fpemu_status make(fpemu_format *format, const fpemu_format *parameters)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    *format = *parameters;
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_fixed(fpemu_format *format, uint32_t word_length, int32_t fraction_bits, int is_signed)
{
    const fpemu_format f = {
        .kind = FPEMU_KIND_FIXED, .bits = word_length, .fraction_bits = fraction_bits, .is_signed = is_signed != 0};
    return make(format, &f);
}

fpemu_status fpemu_format_int(fpemu_format *format, uint32_t bits, int is_signed, double scale, int64_t zero_point)
{
    const fpemu_format f = {
        .kind = FPEMU_KIND_INT, .bits = bits, .is_signed = is_signed != 0, .scale = scale, .zero_point = zero_point};
    return make(format, &f);
}

fpemu_status fpemu_format_posit(fpemu_format *format, uint32_t n, uint32_t es)
{
    const fpemu_format f = {.kind = FPEMU_KIND_POSIT, .bits = n, .exponent_bits = es, .is_signed = 1};
    return make(format, &f);
}

fpemu_status fpemu_format_codebook(fpemu_format *format, fpemu_codebook_name name, uint32_t bits)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (name == FPEMU_CODEBOOK_CUSTOM)
        return FPEMU_ERROR_FORMAT;
    format->kind = FPEMU_KIND_CODEBOOK;
    format->codebook = (uint32_t)name <= FPEMU_CODEBOOK_UDYNAMIC ? (uint8_t)name : UINT8_MAX;
    format->bits = bits;
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_table(fpemu_format *format, uint32_t length, const float *values)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (!values)
        return FPEMU_ERROR_NULL;
    format->kind = FPEMU_KIND_CODEBOOK;
    format->codebook_length = length;
    format->table = values;
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_codes(fpemu_format *format, uint32_t length, const float *values, float *memory)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (!values || !memory)
        return FPEMU_ERROR_NULL;
    fp_environment environment;
    core_reach e;
    fpemu_environment_enter(&environment);
    const int sorted = length >= 2 && length <= 65536 && core_reach_array(&e, values, length, sizeof *values) &&
                       core_reach_array(&e, memory, FPEMU_CODES_MEMORY(length), sizeof *memory) &&
                       fpemu_sort_codes(length, values, memory);
    fpemu_environment_leave(&environment);
    if (!sorted)
        return FPEMU_ERROR_FORMAT;
    format->kind = FPEMU_KIND_CODEBOOK;
    format->codebook = FPEMU_CODEBOOK_CODES;
    format->codebook_length = length;
    format->table = memory;
    return fpemu_format_complete(format);
}

fpemu_status fpemu_format_blocked(fpemu_format *format, const fpemu_format *element, fpemu_scaling scaling,
                                  const fpemu_format *scale, uint32_t exponent_bits, fpemu_block block, uint32_t rows,
                                  uint32_t length)
{
    fpemu_problem problem;
    if (!format)
        return FPEMU_ERROR_NULL;
    if (!element) {
        memset(format, 0, sizeof *format);
        return FPEMU_ERROR_NULL;
    }
    fpemu_format f = *element; /* `format` may be the same as either */
    int good = f.scaling == FPEMU_SCALING_NONE && scaling != FPEMU_SCALING_NONE;
    f.scaling = (uint32_t)scaling < FPEMU_SCALING_COUNT ? (uint8_t)scaling : UINT8_MAX;
    f.block = (uint32_t)block <= FPEMU_BLOCK_TENSOR ? (uint8_t)block : UINT8_MAX;
    f.block_rows = rows;
    f.block_length = length;
    if (scale) {
        good = good && fpemu_set_scale(&f, scale, &problem);
    } else {
        f.scale_power = 1;
        f.scale_exponent_bits = exponent_bits <= UINT8_MAX ? (uint8_t)exponent_bits : UINT8_MAX;
    }
    memset(format, 0, sizeof *format);
    if (!good || !fpemu_derive(&f, &problem))
        return FPEMU_ERROR_FORMAT;
    *format = f;
    return FPEMU_OK;
}

fpemu_status fpemu_format_element(const fpemu_format *format, fpemu_format *element)
{
    fpemu_problem problem;
    if (!element)
        return FPEMU_ERROR_NULL;
    fpemu_format f = {0};
    if (format)
        f = *format;
    memset(element, 0, sizeof *element);
    if (!format)
        return FPEMU_ERROR_NULL;
    fpemu_clear_blocked(&f);
    if (!fpemu_derive(&f, &problem))
        return FPEMU_ERROR_FORMAT;
    *element = f;
    return FPEMU_OK;
}

fpemu_status fpemu_format_scale(const fpemu_format *format, fpemu_format *scale)
{
    fpemu_format f = {0};
    if (!scale)
        return FPEMU_ERROR_NULL;
    if (format)
        f = *format;
    memset(scale, 0, sizeof *scale);
    if (!format)
        return FPEMU_ERROR_NULL;
    if (f.kind == FPEMU_KIND_INVALID || f.kind > FPEMU_KIND_CODEBOOK || f.scaling >= FPEMU_SCALING_COUNT)
        return FPEMU_ERROR_FORMAT;
    if (f.scaling == FPEMU_SCALING_NONE || f.scaling == FPEMU_SCALING_S2FP8 || f.scale_power)
        return FPEMU_ERROR_UNSUPPORTED;
    return fpemu_scale_of(&f, scale) ? FPEMU_OK : FPEMU_ERROR_FORMAT;
}
