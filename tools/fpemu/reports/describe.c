/* SPDX-License-Identifier: BSD-2-Clause */
/* describe.c - see describe.h */
#include "reports/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/error.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "reports/jsonout.h"

static bool is_float(const fpemu_format *format)
{
    return format->kind == FPEMU_KIND_FLOAT;
}

const char *describe_kind(const fpemu_format *format)
{
    static const char *const names[] = {"invalid", "float", "fixed", "int", "posit", "codebook"};
    return names[format->kind < sizeof names / sizeof *names ? format->kind : 0];
}

const char *describe_special_rule(const fpemu_format *format)
{
    static const char *const names[] = {"ieee", "fn", "fnuz", "finite", "p3109e", "p3109f", "e8m0", "dlfloat", "hif8"};
    return is_float(format) ? names[format->specials] : NULL;
}

/* Where the exponent field 0 is one more normal binade, and where there is no fraction, nothing lies below. */
static bool has_room_below_normals(const fpemu_format *format)
{
    return is_float(format) && format->specials != FPEMU_SPECIALS_E8M0 && format->specials != FPEMU_SPECIALS_DLFLOAT &&
           format->mantissa_bits > 0;
}

const char *describe_subnormals(const fpemu_format *format)
{
    static const char *const names[] = {"keep", "none", "flush-in", "flush-out"};
    return has_room_below_normals(format) ? names[format->subnormals] : NULL;
}

bool describe_has_normals(const fpemu_format *format)
{
    return is_float(format) && fpemu_format_min_normal(format) > 0;
}

bool describe_has_subnormals(const fpemu_format *format)
{
    return has_room_below_normals(format) && format->subnormals == FPEMU_SUBNORMALS_KEEP;
}

const char *describe_specials(char text[DESCRIBE_SIZE], const fpemu_format *format)
{
    const uint64_t nans = fpemu_format_nan_count(format);
    int used = 0;
    text[0] = '\0';
    if (format->has_infinity)
        used += snprintf(text + used, DESCRIBE_SIZE - (size_t)used, " inf");
    if (nans > 0)
        used += snprintf(text + used, DESCRIBE_SIZE - (size_t)used, " nan:%" PRIu64, nans);
    if (format->has_negative_zero)
        used += snprintf(text + used, DESCRIBE_SIZE - (size_t)used, " -0");
    if (used == 0)
        snprintf(text, DESCRIBE_SIZE, " none");
    return text + 1;
}

const char *describe_rule(const fpemu_format *format)
{
    static const char *const names[] = {NULL,     "floor",      "ceil",     "even",       "rceil",       "hbfp",
                                        "absmax", "nvfp4",      "nvfp4-ao", "recipe",     "recipe-pow2", "muppet",
                                        "s2fp8",  "reciprocal", "4over6",   "4over6-mse", "nvfp4-clamp", "pairs",
                                        "hif4",   "asymmetric", "minmax",   "tinygemm",   "hqq",         "ggml-1",
                                        "ggml-0", "eden",       "ggml-1k",  "ggml-0k",    "absmean"};
    return names[format->scaling < sizeof names / sizeof *names ? format->scaling : 0];
}

const char *describe_scale(char text[CLI_SPEC_SIZE], const fpemu_format *format)
{
    fpemu_format scale;
    if (format->scaling != FPEMU_SCALING_NONE && format->scale_power) {
        snprintf(text, CLI_SPEC_SIZE, "2^c, c of %u bits", (unsigned)format->scale_exponent_bits);
        return text;
    }
    return fpemu_format_scale(format, &scale) == FPEMU_OK ? cli_spec(&scale, text) : NULL;
}

const char *describe_block(char text[DESCRIBE_SIZE], const fpemu_format *format)
{
    if (format->scaling == FPEMU_SCALING_NONE)
        return NULL;
    switch (format->block) {
    case FPEMU_BLOCK_RUN: snprintf(text, DESCRIBE_SIZE, "%" PRIu32, format->block_length); return text;
    case FPEMU_BLOCK_TILE:
        snprintf(text, DESCRIBE_SIZE, "%" PRIu32 "x%" PRIu32, format->block_rows, format->block_length);
        return text;
    case FPEMU_BLOCK_ROW: return "row";
    case FPEMU_BLOCK_CHANNEL: return "channel";
    default: return "tensor";
    }
}

const char *describe_search(char text[DESCRIBE_SIZE], const fpemu_format *format)
{
    static const char *const errors[] = {
        [FPEMU_SEARCH_SQUARES] = "squares", [FPEMU_SEARCH_ABSOLUTE] = "absolute", [FPEMU_SEARCH_WEIGHTED] = "weighted"};
    char grid[16] = "";
    if (format->search_first == format->search_last)
        return NULL;
    if (format->search_grid)
        snprintf(grid, sizeof grid, "/%u", (unsigned)format->search_grid);
    snprintf(text, DESCRIBE_SIZE, "%d..%d%s, error %s", format->search_first, format->search_last, grid,
             errors[format->search_error]);
    return text;
}

const char *describe_element(char text[CLI_SPEC_SIZE], const fpemu_format *format)
{
    fpemu_format element;
    cli_check(fpemu_format_element(format, &element), "format");
    return cli_spec(&element, text);
}

void describe_json(json_t *object, const fpemu_format *format)
{
    const bool floating = is_float(format), posit = format->kind == FPEMU_KIND_POSIT;
    const bool fixed = format->kind == FPEMU_KIND_FIXED, integer = format->kind == FPEMU_KIND_INT;
    const bool normals = describe_has_normals(format);
    const double epsilon = fpemu_format_epsilon(format), min_positive = fpemu_format_min_positive(format);
    const uint64_t nans = fpemu_format_nan_count(format);
    const bool blocked = format->scaling != FPEMU_SCALING_NONE;
    char spec[CLI_SPEC_SIZE], block[DESCRIBE_SIZE], search[DESCRIBE_SIZE];

    jsonout_set(object, "spec", jsonout_text(cli_spec(format, spec)));
    jsonout_set(object, "kind", jsonout_text(describe_kind(format)));
    jsonout_set(object, "bits", jsonout_integer(format->bits));
    jsonout_set(object, "exponent_bits", floating || posit ? jsonout_integer(format->exponent_bits) : json_null());
    jsonout_set(object, "mantissa_bits", floating ? jsonout_integer(format->mantissa_bits) : json_null());
    jsonout_set(object, "bias", floating ? jsonout_integer(format->bias) : json_null());
    jsonout_set(object, "precision", floating ? jsonout_integer(format->precision) : json_null());
    jsonout_set(object, "emin", normals ? jsonout_integer(format->emin) : json_null());
    jsonout_set(object, "emax", normals ? jsonout_integer(format->emax) : json_null());
    jsonout_set(object, "fraction_bits", fixed ? jsonout_integer(format->fraction_bits) : json_null());
    jsonout_set(object, "scale", jsonout_real_or_null(format->scale, integer));
    jsonout_set(object, "zero_point", integer ? jsonout_integer(format->zero_point) : json_null());
    jsonout_set(object, "signed", jsonout_bool(format->is_signed));
    jsonout_set(object, "symmetric", fixed || integer ? jsonout_bool(format->symmetric) : json_null());
    jsonout_set(object, "wrap", fixed || integer ? jsonout_bool(format->wrap) : json_null());
    jsonout_set(object, "specials", jsonout_text(describe_special_rule(format)));
    jsonout_set(object, "subnormals", jsonout_text(describe_subnormals(format)));
    jsonout_set(object, "overflow", jsonout_text(cli_overflow_name(format->overflow)));
    jsonout_set(object, "nan", jsonout_text(cli_nan_name(format->nan)));
    jsonout_set(object, "has_infinity", jsonout_bool(format->has_infinity));
    jsonout_set(object, "has_zero", jsonout_bool(format->has_zero));
    jsonout_set(object, "negative_zero", jsonout_bool(format->has_negative_zero));
    jsonout_set(object, "nan_codes", jsonout_count(nans));
    jsonout_set(object, "max", jsonout_real(fpemu_format_max(format)));
    jsonout_set(object, "lowest", jsonout_real(fpemu_format_lowest(format)));
    jsonout_set(object, "min_normal", jsonout_real_or_null(fpemu_format_min_normal(format), normals));
    jsonout_set(object, "min_positive", jsonout_real_or_null(min_positive, min_positive > 0));
    jsonout_set(object, "min_subnormal", jsonout_real_or_null(min_positive, describe_has_subnormals(format)));
    jsonout_set(object, "epsilon", jsonout_real_or_null(epsilon, epsilon > 0));
    jsonout_set(object, "max_code", jsonout_count(format->max_code));
    jsonout_set(object, "lowest_code", jsonout_count(format->lowest_code));
    jsonout_set(object, "nan_code", format->has_nan ? jsonout_count(format->nan_code) : json_null());
    jsonout_set(object, "values", jsonout_count(fpemu_format_value_count(format)));
    jsonout_set(object, "element", blocked ? jsonout_text(describe_element(spec, format)) : json_null());
    jsonout_set(object, "block", jsonout_text(describe_block(block, format)));
    jsonout_set(object, "scale_format", jsonout_text(describe_scale(spec, format)));
    jsonout_set(object, "scale_rule", jsonout_text(describe_rule(format)));
    jsonout_set(object, "margin", blocked ? jsonout_integer(format->margin) : json_null());
    if (format->target > 0)
        jsonout_set(object, "target", jsonout_real((double)format->target));
    if (format->bound > 0)
        jsonout_set(object, "bound", jsonout_real((double)format->bound));
    if (format->outer)
        jsonout_set(object, "outer", jsonout_text("row"));
    if (FPEMU_CORRECTED(format))
        jsonout_set(object, "correct",
                    jsonout_integer((format->correct ? format->correct : 8) * (int64_t)format->block_length));
    if (describe_search(search, format))
        jsonout_set(object, "search", jsonout_text(search));
    jsonout_set(object, "bits_per_element", jsonout_real(fpemu_format_bits_per_element(format)));
    jsonout_set(object, "code_bytes", jsonout_integer((int64_t)fpemu_format_code_size(format)));
    jsonout_set(object, "fits_binary32", jsonout_bool(fpemu_format_fits_f32(format)));
    jsonout_set(object, "fits_binary64", jsonout_bool(fpemu_format_fits_f64(format)));
}
