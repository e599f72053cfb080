/* SPDX-License-Identifier: BSD-2-Clause */
/* query.c - what can be asked about a format. Values are found by their place in ascending order: a code follows from
 * the place, and decoding does the rest, for every kind of format alike. */
#include "blocking.h"
#include "codebook.h"
#include "decimal.h"
#include "environment.h"
#include "format.h"
#include "scalar.h"

#include "core/reach.h"
#include "core/round.h"
#include "core/scale.h"

static double not_a_number(void)
{
    return core_value64(UINT64_C(0x7ff8) << 48);
}

double fpemu_format_max(const fpemu_format *format)
{
    return fpemu_is_format(format) ? format->max : 0;
}

double fpemu_format_lowest(const fpemu_format *format)
{
    return fpemu_is_format(format) ? format->lowest : 0;
}

double fpemu_format_min_normal(const fpemu_format *format)
{
    return fpemu_is_format(format) ? format->min_normal : 0;
}

double fpemu_format_min_positive(const fpemu_format *format)
{
    return fpemu_is_format(format) ? format->min_positive : 0;
}

double fpemu_format_epsilon(const fpemu_format *format)
{
    if (!fpemu_is_format(format))
        return 0;
    if (format->kind == FPEMU_KIND_FLOAT)
        return fpemu_exact(1, -(int)format->mantissa_bits);
    if (format->kind != FPEMU_KIND_POSIT || format->bits == 2) /* posit<2,es> ends at 1 */
        return 0;
    /* 1 is sign 0, regime 10, zeros: what is left for exponent and fraction decides. */
    const int left = (int)format->bits - 3, es = (int)format->exponent_bits;
    if (left >= es)
        return fpemu_exact(1, es - left);
    return fpemu_exact(fpemu_ones((uint32_t)1 << (es - left)), 0); /* 2^(2^(es - left)) - 1 */
}

/* Floats: how many values are above zero. */
static uint64_t positive_count(const fpemu_format *f)
{
    return f->specials == FPEMU_SPECIALS_HIF8 ? 126 : f->max_code - fpemu_smallest_code(f) + 1;
}

uint64_t fpemu_format_value_count(const fpemu_format *format)
{
    if (!fpemu_is_format(format))
        return 0;
    if (format->kind == FPEMU_KIND_FLOAT)
        return positive_count(format) * (format->is_signed ? 2 : 1) + format->has_zero;
    if (format->kind == FPEMU_KIND_POSIT)
        return fpemu_ones(format->bits);
    if (format->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_table_count(format);
    return fpemu_ones(format->bits) + !format->symmetric;
}

uint64_t fpemu_format_nan_count(const fpemu_format *format)
{
    if (!fpemu_is_format(format))
        return 0;
    if (format->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_table_nan_count(format);
    if (format->kind != FPEMU_KIND_FLOAT)
        return (uint64_t)format->has_nan + format->symmetric; /* the code that symmetric formats leave out */
    switch (format->specials) {
    case FPEMU_SPECIALS_IEEE: return fpemu_ones(format->mantissa_bits) << format->is_signed;
    case FPEMU_SPECIALS_FN:
    case FPEMU_SPECIALS_DLFLOAT: return (uint64_t)1 << format->is_signed;
    default: return format->has_nan;
    }
}

double fpemu_format_bits_per_element(const fpemu_format *format)
{
    if (!fpemu_is_format(format))
        return 0;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const double tile = format->block == FPEMU_BLOCK_TILE ? format->block_rows : 1.0;
    const double block = tile * format->block_length; /* 0: as many elements as there come */
    double scale = fpemu_scale_bits(format);
    if (core_rule_is_super(format->scaling)) { /* its numbers are in the code of each of its blocks */
        const int own = format->scale_exponent_bits + format->scale_mantissa_bits + format->scale_signed;
        scale -= own * (core_rule_order(format->scaling) ? 2 : 1) * (1 - 1.0 / core_corrected(format));
    }
    const double bits = format->bits + (block > 0 ? scale / block : 0);
    fpemu_environment_leave(&environment);
    return bits;
}

size_t fpemu_format_code_size(const fpemu_format *format)
{
    if (!fpemu_is_format(format))
        return 0;
    return format->bits <= 8 ? 1 : format->bits <= 16 ? 2 : format->bits <= 32 ? 4 : 8;
}

/* Blocks and tables give what is rounded to the type anyway. */
static int fits_narrow(const fpemu_format *format, int precision, int quantum, int emax)
{
    return format->fits_f32 && (format->scaling || format->kind == FPEMU_KIND_CODEBOOK ||
                                fpemu_scalar_fits(format, precision, quantum, emax));
}

int fpemu_format_fits(const fpemu_format *format, fpemu_type type)
{
    if (!fpemu_is_format(format))
        return 0;
    switch (type) {
    case FPEMU_TYPE_F32: return format->fits_f32;
    case FPEMU_TYPE_F64: return format->fits_f64;
    case FPEMU_TYPE_F16: return fits_narrow(format, 11, -24, 15);
    case FPEMU_TYPE_BF16: return fits_narrow(format, 8, -133, 127);
    }
    return 0;
}

/* The element format, to ask about values; `format` is valid. */
static fpemu_format element_of(const fpemu_format *format)
{
    fpemu_format f = *format;
    fpemu_clear_blocked(&f);
    f.fits_f64 = 1; /* as all elements do */
    return f;
}

/* Code of the k-th value of hif8 above zero, k from 0. */
static uint64_t hif8_code(const fpemu_format *f, uint64_t k)
{
    const fpemu_rounding exact = {0};
    for (int e = f->quantum;; e++) {
        const int fraction = 3 - (int)core_taper64(e);
        if (k >> fraction == 0)
            return fpemu_encode_one_f64(f, &exact, fpemu_exact((UINT64_C(1) << fraction) + k, e - fraction), 0);
        k -= UINT64_C(1) << fraction;
    }
}

/* Code of the i-th finite value in ascending order, i < fpemu_format_value_count. */
static uint64_t code_at(const fpemu_format *f, uint64_t i)
{
    if (f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_table_code(f, i);
    if (f->kind != FPEMU_KIND_FLOAT) /* two's complement, so the codes count upward from the lowest */
        return (f->lowest_code + i) & fpemu_ones(f->bits);
    const uint64_t positive = positive_count(f), skipped = fpemu_smallest_code(f) - f->has_zero;
    if (f->specials == FPEMU_SPECIALS_HIF8)
        return i == positive  ? 0
               : i > positive ? hif8_code(f, i - positive - 1)
                              : hif8_code(f, positive - 1 - i) | UINT64_C(0x80);
    if (f->is_signed && i < positive)
        return (positive - i + skipped) | UINT64_C(1) << (f->bits - 1);
    i -= f->is_signed ? positive : 0;
    return i == 0 ? 0 : i + skipped;
}

/* Its value; f is a scalar format. */
static double value_at(const fpemu_format *f, uint64_t i)
{
    return f->kind == FPEMU_KIND_CODEBOOK ? fpemu_table_value(f, i) : fpemu_decode_one_f64(f, code_at(f, i));
}

/* Order of doubles as an integer, +-0 equal; comparing the doubles would obey a flush of subnormals. */
static int64_t order(double x)
{
    const uint64_t u = core_bits64(x), magnitude = u & fpemu_ones(63);
    return u >> 63 ? -(int64_t)magnitude : (int64_t)magnitude;
}

static int is_nan(double x)
{
    return (core_bits64(x) & fpemu_ones(63)) > UINT64_C(0x7ff) << 52;
}

/* How many finite values are below x (not above x, if `or_equal`). */
static uint64_t count_below(const fpemu_format *f, double x, int or_equal)
{
    uint64_t first = 0, last = fpemu_format_value_count(f);
    const int64_t limit = order(x) + or_equal;
    while (first < last) {
        const uint64_t middle = first + (last - first) / 2;
        if (order(value_at(f, middle)) < limit)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

int fpemu_format_represents(const fpemu_format *format, double x)
{
    if (!fpemu_is_format(format))
        return 0;
    if (is_nan(x))
        return format->has_nan;
    if ((core_bits64(x) & fpemu_ones(63)) == UINT64_C(0x7ff) << 52)
        return format->has_infinity && (format->is_signed || core_bits64(x) >> 63 == 0);
    const fpemu_format f = element_of(format);
    return count_below(&f, x, 1) > count_below(&f, x, 0);
}

double fpemu_format_next_up(const fpemu_format *format, double x)
{
    if (!fpemu_is_format(format) || is_nan(x))
        return not_a_number();
    const fpemu_format f = element_of(format);
    const uint64_t i = count_below(&f, x, 1);
    return i < fpemu_format_value_count(&f) ? value_at(&f, i) : not_a_number();
}

double fpemu_format_next_down(const fpemu_format *format, double x)
{
    if (!fpemu_is_format(format) || is_nan(x))
        return not_a_number();
    const fpemu_format f = element_of(format);
    const uint64_t i = count_below(&f, x, 0);
    return i > 0 ? value_at(&f, i - 1) : not_a_number();
}

fpemu_status fpemu_format_enumerate(const fpemu_format *format, size_t capacity, double *values, uint64_t *codes,
                                    size_t *count)
{
    if (!format || !count)
        return FPEMU_ERROR_NULL;
    *count = 0;
    if (!fpemu_is_format(format))
        return FPEMU_ERROR_FORMAT;
    const uint64_t n = fpemu_format_value_count(format);
    *count = n < SIZE_MAX ? (size_t)n : SIZE_MAX;
    if (capacity < n)
        return FPEMU_ERROR_BUFFER;
    if (!values)
        return FPEMU_ERROR_NULL;
    core_reach e;
    if (!core_reach_array(&e, values, n, sizeof *values) || (codes && !core_reach_array(&e, codes, n, sizeof *codes)))
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_format f = element_of(format);
    for (size_t i = 0; i < n; i++) {
        values[i] = value_at(&f, i);
        if (codes)
            codes[i] = code_at(&f, i);
    }
    return FPEMU_OK;
}
