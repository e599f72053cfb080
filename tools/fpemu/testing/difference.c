/* SPDX-License-Identifier: BSD-2-Clause */
/* difference.c - see difference.h; each class keeps its smallest example.
 *
 * A conversion is put into a class by its input, an operation by its operands and its exact result.
 */
#include "testing/difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/number.h"

static const char *const names[DIFFERENCES] = {"stray-bits",
                                               "tie",
                                               "subnormal",
                                               "underflow",
                                               "overflow-threshold",
                                               "above-max",
                                               "negative",
                                               "infinity",
                                               "division-by-zero",
                                               "invalid",
                                               "nan",
                                               "signed-zero",
                                               "zero",
                                               "normal"};

/* --------------------------------------------------------------------------------------------------- ties */

/* Rounding to nearest turns around at x, between the neighbours low and high. */
static bool is_midpoint(const fpemu_format *format, double x, double low, double high)
{
    fpemu_format wider;
    if (format->kind == FPEMU_KIND_POSIT) {
        return fabs(x) > format->min_positive &&
               fpemu_format_posit(&wider, format->bits + 1, format->exponent_bits) == FPEMU_OK &&
               fpemu_format_represents(&wider, x);
    }
    return x - low == high - x;
}

/* The result of an operation is a tie where nearest, ties away and nearest, ties to zero differ. This also holds for
 * results that binary64 cannot tell from their neighbours. */
static bool is_tie_of_operation(const search *s, const number operand[OPERATION_MOST], double *low, double *high)
{
    static const uint8_t modes[] = {FPEMU_MODE_RNZ, FPEMU_MODE_RNA};
    double y[2], x[OPERATION_MOST];
    for (int k = 0; k < OPERATION_MOST; k++)
        x[k] = operand[k].value;
    for (int i = 0; i < 2; i++) {
        const fpemu_rounding rounding = {.mode = modes[i], .overflow = s->rounding.overflow, .nan = s->rounding.nan};
        y[i] = fpemu_arith_one_f64(&s->format, &rounding, s->what->code, x[0], x[1], x[2], 0);
    }
    *low = fmin(y[0], y[1]);
    *high = fmax(y[0], y[1]);
    return *low < *high;
}

/* The other of the two neighbours of a tie was taken: whatever else is wrong is no matter of ties. */
static bool is_wrong_tie(const search *s, const number operand[OPERATION_MOST], double x, double expected, double got)
{
    double low, high;
    if (s->what->converts || s->format.kind == FPEMU_KIND_POSIT) {
        if (fpemu_format_represents(&s->format, x))
            return false;
        low = fpemu_format_next_down(&s->format, x);
        high = fpemu_format_next_up(&s->format, x);
        if (!is_midpoint(&s->format, x, low, high))
            return false;
    } else if (!is_tie_of_operation(s, operand, &low, &high)) {
        return false;
    }
    return (expected == low && got == high) || (expected == high && got == low);
}

/* ------------------------------------------------------------------------------------------------- classes */

/* By the exact result x alone, where that is a number. */
static difference classify_size(const fpemu_format *format, double x, double expected)
{
    const double normal = fpemu_format_min_normal(format), size = fabs(x);
    if (expected == 0)
        return UNDERFLOW_TO_ZERO;
    if (normal > fpemu_format_min_positive(format) && (size < normal || fabs(expected) < normal))
        return SUBNORMAL;
    return size < fpemu_format_min_positive(format) ? UNDERFLOW_TO_ZERO : NORMAL;
}

static difference classify(const search *s, const number operand[OPERATION_MOST], double x, double expected, double got)
{
    const fpemu_format *format = &s->format;
    const double max = fpemu_format_max(format), lowest = fpemu_format_lowest(format);
    bool has_nan = false, has_infinity = false;
    for (int k = 0; k < s->what->operands; k++) {
        has_nan |= isnan(operand[k].value) != 0;
        has_infinity |= isinf(operand[k].value) != 0;
    }
    if (has_nan)
        return NOT_A_NUMBER;
    if (isnan(x))
        return INVALID_OPERATION;
    if (has_infinity)
        return INFINITE;
    if (isinf(x))
        return DIVISION_BY_ZERO;
    if (expected == 0 && got == 0 && signbit(expected) != signbit(got))
        return SIGNED_ZERO;
    if (x == 0)
        return ZERO;
    if (x < 0 && !format->is_signed)
        return NEGATIVE;
    if (x > max)
        return x - max < max - fpemu_format_next_down(format, max) ? OVERFLOW_THRESHOLD : ABOVE_MAX;
    if (x < lowest && lowest <= 0) /* e8m0 begins above zero */
        return lowest - x < fpemu_format_next_up(format, lowest) - lowest ? OVERFLOW_THRESHOLD : ABOVE_MAX;
    if (isinf(expected)) /* of binary64 itself: x, rounded to odd, is its largest value */
        return ABOVE_MAX;
    return is_wrong_tie(s, operand, x, expected, got) ? TIE : classify_size(format, x, expected);
}

/* ------------------------------------------------------------------------------------------------ findings */

static double carrier_value(external_type type, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return type == EXTERNAL_F32 ? (double)narrow : wide;
}

number difference_number(external_type type, const fpemu_format *format, uint64_t code)
{
    return (number){signature_is_code(type) ? fpemu_decode_one_f64(format, code) : carrier_value(type, code), code};
}

void difference_store(external_type type, void *array, size_t i, double x)
{
    const float narrow = (float)x;
    if (type == EXTERNAL_F32)
        memcpy((char *)array + i * sizeof narrow, &narrow, sizeof narrow);
    else
        memcpy((char *)array + i * sizeof x, &x, sizeof x);
}

number difference_operand(const search *s, int k, size_t i)
{
    const external_type in = s->other.signature.in;
    if (s->what->converts)
        return difference_number(in, &s->from[k], s->codes[k][i]);
    return (number){fpemu_decode_one_f64(&s->from[k], s->codes[k][i]), s->codes[k][i]};
}

bool difference_same(const search *s, number expected, number got)
{
    return expected.code == got.code || (!s->strict_nan && isnan(expected.value) && isnan(got.value));
}

bool difference_stray_bits(const search *s, uint64_t code)
{
    return signature_is_code(s->other.signature.out) && code > s->mask;
}

static unsigned bits_of(external_type type, const fpemu_format *format, uint64_t code)
{
    const unsigned all = 8 * (unsigned)signature_size(type);
    const bool in_width = format->bits >= 64 || code >> format->bits == 0;
    return signature_is_code(type) && in_width ? format->bits : all;
}

/* "12 (0x41400000)" */
static size_t print(char *text, size_t size, external_type type, const fpemu_format *format, number x)
{
    char value[NUMBER_SIZE], code[NUMBER_SIZE];
    return (size_t)snprintf(text, size, "%s (%s)", number_print(value, x.value),
                            number_print_code(code, x.code, bits_of(type, format, x.code)));
}

outcome *difference_outcome(search *s, int order, const char *name, size_t i)
{
    double rank[OUTCOME_RANKS] = {0};
    number operand[OPERATION_MOST];
    size_t used = 0;
    for (int k = 0; k < s->what->operands; k++) { /* the positive of two numbers of one size is the smaller */
        operand[k] = difference_operand(s, k, i);
        rank[2 * k] = isnan(operand[k].value) ? (double)INFINITY : fabs(operand[k].value);
        rank[2 * k + 1] = (double)operand[k].code;
    }
    outcome *o = outcome_take(s, order, name, NULL, rank);
    for (int k = 0; o != NULL && k < s->what->operands; k++) {
        /* operands are codes of their format, also where the tested code gets their values */
        const external_type type =
            s->what->converts ? s->other.signature.in : signature_code_type(fpemu_format_code_size(&s->from[k]));
        o->code[k] = operand[k].code;
        used += (size_t)snprintf(o->input + used, sizeof o->input - used, k > 0 ? ", " : "");
        used += print(o->input + used, sizeof o->input - used, type, &s->from[k], operand[k]);
    }
    return o;
}

void difference_take(search *s, size_t i, number expected, number got)
{
    const external_type out = s->other.signature.out;
    number operand[OPERATION_MOST] = {{0, 0}, {0, 0}, {0, 0}};
    double x[OPERATION_MOST] = {0, 0, 0};
    for (int k = 0; k < s->what->operands; k++) {
        operand[k] = difference_operand(s, k, i);
        x[k] = operand[k].value;
    }
    const number low = {got.value, got.code & s->mask};
    const bool stray = difference_stray_bits(s, got.code) && difference_same(s, expected, low);
    const difference class =
        stray ? STRAY_BITS : classify(s, operand, operation_exact(s->what, x), expected.value, got.value);
    outcome *o = difference_outcome(s, (int)class, names[class], i);
    if (o != NULL) {
        print(o->expected, sizeof o->expected, out, &s->format, expected);
        print(o->got, sizeof o->got, out, &s->format, got);
    }
}
