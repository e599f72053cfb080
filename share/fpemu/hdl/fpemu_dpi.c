/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu_dpi.c - see fpemu_dpi.h. C and C++. */
#include "fpemu_dpi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fpemu.h"

enum { LANES = 256, TEXT = 256 };

static char error[TEXT];
typedef struct handle {
    char text[TEXT];
    union {
        fpemu_format format;
        fpemu_gemm_spec model;
    } is;
} handle;
static handle formats[FPEMU_DPI_HANDLES], models[FPEMU_DPI_HANDLES];
static int format_count, model_count;

static int refuse(const char *what, const char *why)
{
    snprintf(error, sizeof error, "%.100s: %.140s", what, why);
    return -1;
}

const char *fpemu_dpi_error(void)
{
    return error;
}

/* The handle of a text among those of the table, or the next one. */
static int handle_of(handle *table, int *count, const char *text)
{
    fpemu_parse_error wrong;
    handle *next = &table[*count];
    for (int i = 0; i < *count; i++)
        if (strcmp(table[i].text, text) == 0)
            return i;
    if (*count == FPEMU_DPI_HANDLES || strlen(text) >= TEXT)
        return refuse(text, "too many handles, or too long a text");
    if ((table == formats ? fpemu_format_parse(text, &next->is.format, &wrong)
                          : fpemu_gemm_parse(text, &next->is.model, &wrong)) != FPEMU_OK)
        return refuse(text, wrong.message);
    strcpy(next->text, text);
    return (*count)++;
}

int fpemu_dpi_format(const char *spec)
{
    return handle_of(formats, &format_count, spec);
}

int fpemu_dpi_model(const char *text)
{
    return handle_of(models, &model_count, text);
}

int fpemu_dpi_mode(const char *name)
{
    fpemu_rounding rounding;
    return fpemu_rounding_parse(name, &rounding, NULL) == FPEMU_OK ? rounding.mode : refuse(name, "no rounding mode");
}

static const fpemu_format *find(int format)
{
    return format >= 0 && format < format_count ? &formats[format].is.format : NULL;
}

int fpemu_dpi_bits(int format)
{
    return find(format) != NULL ? (int)find(format)->bits : refuse("format", "no such handle");
}

/* -1 where a use of the format is refused. */
static int check(int format, int mode, int use)
{
    fpemu_rounding rounding;
    fpemu_why why;
    memset(&rounding, 0, sizeof rounding);
    rounding.mode = (uint8_t)mode;
    if (find(format) == NULL)
        return refuse("format", "no such handle");
    if (mode < 0 || mode >= FPEMU_MODE_COUNT || mode == FPEMU_MODE_SE)
        return refuse("mode", "0 to 8, rne to sr, or 10, rnp");
    return fpemu_check_use(find(format), &rounding, FPEMU_TYPE_F64, use, &why) != FPEMU_OK
               ? refuse(formats[format].text, why.message)
               : 0;
}

static int flags_of(const fpemu_stats *s)
{
    return (s->inexact ? 1 : 0) | (s->underflow ? 2 : 0) | (s->overflow ? 4 : 0) | (s->div_by_zero ? 8 : 0) |
           (s->invalid ? 16 : 0) | (s->subnormal ? 32 : 0);
}

static double value(int format, long long code)
{
    const fpemu_format *f = find(format);
    return fpemu_decode_one_f64(f, (uint64_t)code & (UINT64_MAX >> (64 - f->bits)));
}

/* The mode toward or away from zero that takes x to where these random bits do. x is exact, or rounded to odd, so that
 * it lies on the right side of every point that has fewer bits. */
static int mode_by_bits(const fpemu_format *f, double x, int bits, int random)
{
    const double size = fabs(x), max = signbit(x) ? -fpemu_format_lowest(f) : fpemu_format_max(f);
    double low, high;
    if (!isfinite(x) || fpemu_format_represents(f, x))
        return FPEMU_MODE_RTZ;
    if (size > max) { /* on the grid without end */
        low = max;
        high = max + (f->kind == FPEMU_KIND_FLOAT ? ldexp(1, ilogb(max) - (int)f->mantissa_bits)
                                                  : max - fpemu_format_next_down(f, max));
    } else {
        low = fabs(signbit(x) ? fpemu_format_next_up(f, x) : fpemu_format_next_down(f, x));
        high = fabs(signbit(x) ? fpemu_format_next_down(f, x) : fpemu_format_next_up(f, x));
    }
    const double share = 1 - ldexp((double)((uint32_t)random & (UINT32_MAX >> (32 - bits))), -bits);
    return size >= low + (high - low) * share ? FPEMU_MODE_RAZ : FPEMU_MODE_RTZ;
}

/* A conversion (operation -1) or an operation, of n operands. */
static int compute(int operation, const int *from, const long long *code, int n, int to, int mode, int bits, int random,
                   long long *result, int *flags)
{
    const fpemu_format *f = find(to);
    double x[3] = {0, 0, 0}, y;
    const double *const operands[3] = {&x[0], &x[1], &x[2]};
    uint64_t word;
    fpemu_rounding rounding;
    fpemu_stats stats;
    memset(&rounding, 0, sizeof rounding);
    memset(&stats, 0, sizeof stats);
    if (check(to, mode, operation < 0 ? FPEMU_USE_ENCODE : FPEMU_USE_OPERATION + operation) != 0)
        return -1;
    for (int k = 0; k < n; k++) {
        if (check(from[k], 0, FPEMU_USE_DECODE) != 0)
            return -1;
        x[k] = value(from[k], code[k]);
    }
    rounding.mode = (uint8_t)mode;
    if (mode == FPEMU_MODE_SR) {
        fpemu_format binary64;
        if (bits < 1 || bits > 32)
            return refuse("random_bits", "1 to 32");
        rounding.mode = FPEMU_MODE_RTO;
        fpemu_format_named(FPEMU_NAME_BINARY64, &binary64);
        const double exact =
            operation < 0 ? x[0]
                          : fpemu_arith_one_f64(&binary64, &rounding, (fpemu_operation)operation, x[0], x[1], x[2], 0);
        rounding.mode = (uint8_t)mode_by_bits(f, exact, bits, random);
    }
    const fpemu_status status =
        operation < 0 ? fpemu_quantize_f64(f, &rounding, 1, x, &y, &stats)
                      : fpemu_arith_f64(f, &rounding, (fpemu_operation)operation, 1, operands, NULL, &y, &stats);
    if (status != FPEMU_OK)
        return refuse(formats[to].text, fpemu_status_text(status));
    memset(&rounding, 0, sizeof rounding);
    word = fpemu_encode_one_f64(f, &rounding, y, 0);
    *result = (long long)word;
    *flags = flags_of(&stats);
    return 0;
}

int fpemu_dpi_convert(int from, int to, int mode, long long code, int random_bits, int random, long long *result,
                      int *flags)
{
    return compute(-1, &from, &code, 1, to, mode, random_bits, random, result, flags);
}

int fpemu_dpi_operate(int operation, int from_a, int from_b, int from_c, int to, int mode, long long a, long long b,
                      long long c, int random_bits, int random, long long *result, int *flags)
{
    const int from[3] = {from_a, from_b, from_c};
    const long long code[3] = {a, b, c};
    if (operation < 0 || operation >= FPEMU_OPERATION_COUNT)
        return refuse("operation", "0 to 9");
    const int n = operation == FPEMU_OPERATION_FMA ? 3 : operation == FPEMU_OPERATION_SQRT ? 1 : 2;
    return compute(operation, from, code, n, to, mode, random_bits, random, result, flags);
}

/* ------------------------------------------------------------------------------------------------- vectors */

static uint64_t lane(const uint32_t *v, int width, int i)
{
    uint64_t code = 0;
    for (int k = 0; k < width; k++) {
        const int bit = i * width + k;
        code |= (uint64_t)(v[bit / 32] >> bit % 32 & 1) << k;
    }
    return code;
}

static int load(int format, const uint32_t *v, int n, double *x)
{
    if (check(format, 0, FPEMU_USE_DECODE) != 0)
        return -1;
    const int width = fpemu_dpi_bits(format);
    if (n * width > 32 * FPEMU_DPI_WORDS)
        return refuse(formats[format].text, "more lanes than a vector has bits");
    for (int i = 0; i < n; i++)
        x[i] = value(format, (long long)lane(v, width, i));
    return 0;
}

int fpemu_dpi_dot(int model, int from_a, int from_b, int scale, int to, int mode, int length, const uint32_t *a,
                  const uint32_t *b, const uint32_t *scales_a, const uint32_t *scales_b, int has_c, long long c,
                  long long *result, int *flags)
{
    double x[4][LANES], y = 0;
    fpemu_gemm_spec spec;
    fpemu_gemm_shape shape;
    fpemu_stats stats;
    if (model < 0 || model >= model_count)
        return refuse("model", "no such handle");
    if (length < 1 || length > LANES || mode == FPEMU_MODE_SR)
        return refuse(models[model].text, "1 to 256 products, and a mode other than sr");
    memset(&shape, 0, sizeof shape);
    memset(&stats, 0, sizeof stats);
    spec = models[model].is.model;
    const int blocks = spec.sum.chunk > 0 ? (length - 1) / (int)spec.sum.chunk + 1 : 1;
    if (check(to, mode, FPEMU_USE_ENCODE) != 0 || load(from_a, a, length, x[0]) != 0 ||
        load(from_b, b, length, x[1]) != 0 ||
        (scale >= 0 && (load(scale, scales_a, blocks, x[2]) != 0 || load(scale, scales_b, blocks, x[3]) != 0)))
        return -1;
    memset(&spec.out, 0, sizeof spec.out);
    spec.out.format = *find(to);
    spec.out.rounding.mode = (uint8_t)mode;
    shape.m = shape.n = 1;
    shape.k = (uint64_t)length;
    y = has_c ? value(to, c) : 0;
    const fpemu_status status =
        fpemu_gemm_scaled(&spec, &shape, FPEMU_TYPE_F64, 1, x[0], scale >= 0 ? x[2] : NULL, x[1],
                          scale >= 0 ? x[3] : NULL, has_c || spec.start_from_c ? 1 : 0, &y, &stats);
    if (status != FPEMU_OK)
        return refuse(models[model].text, fpemu_status_text(status));
    memset(&spec.out.rounding, 0, sizeof spec.out.rounding);
    *result = (long long)fpemu_encode_one_f64(find(to), &spec.out.rounding, y, 0);
    stats.subnormal = fabs(y) > 0 && fabs(y) < fpemu_format_min_normal(find(to));
    *flags = flags_of(&stats);
    return 0;
}

int fpemu_dpi_quantise(int format, int mode, int length, const uint32_t *x, uint32_t *packed, int *bytes)
{
    float values[LANES];
    uint8_t result[4 * FPEMU_DPI_WORDS];
    fpemu_rounding rounding;
    memset(&rounding, 0, sizeof rounding);
    memset(result, 0, sizeof result);
    rounding.mode = (uint8_t)mode;
    if (length < 1 || length > LANES || mode == FPEMU_MODE_SR)
        return refuse("quantise", "1 to 256 numbers, and a mode other than sr");
    if (check(format, mode, FPEMU_USE_PACK) != 0)
        return -1;
    const fpemu_shape shape = fpemu_shape_vector((uint64_t)length);
    const uint64_t size = fpemu_packed_size(find(format), &shape);
    if (size > sizeof result)
        return refuse(formats[format].text, "more bytes than a vector has");
    memcpy(values, x, (size_t)length * sizeof *values);
    const fpemu_status status = fpemu_pack(find(format), &rounding, FPEMU_TYPE_F32, &shape, values, result, NULL);
    if (status != FPEMU_OK)
        return refuse(formats[format].text, fpemu_status_text(status));
    memset(packed, 0, sizeof result);
    for (uint64_t i = 0; i < size; i++)
        packed[i / 4] |= (uint32_t)result[i] << 8 * (i % 4);
    *bytes = (int)size;
    return 0;
}
