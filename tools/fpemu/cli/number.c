/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c - see number.h */
#include "cli/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtof and strtod skip white space first; a number here starts at its first character. */
static bool starts_like_a_number(const char *text)
{
    return *text != '\0' && strchr("+-.0123456789iInN", *text) != NULL;
}

/* strtof, not strtod and a cast: that would round twice. */
bool number_read_f32(const char *text, float *value)
{
    char *end;
    *value = strtof(text, &end);
    return starts_like_a_number(text) && end != text && *end == '\0';
}

bool number_read_f64(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return starts_like_a_number(text) && end != text && *end == '\0';
}

enum { MOST_DIGITS = 17 };

/* A decimal d.ddd * 10^exponent. */
typedef struct decimal {
    char digits[MOST_DIGITS + 1];
    int exponent;
} decimal;

static decimal nearest_decimal(double x, int digits)
{
    char text[NUMBER_SIZE];
    decimal d;
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    const char *e = strchr(text, 'e');
    d.exponent = (int)strtol(e + 1, NULL, 10);
    d.digits[0] = text[0];
    memcpy(d.digits + 1, text + 2, (size_t)(digits - 1));
    d.digits[digits] = '\0';
    return d;
}

static void next_decimal(decimal *d)
{
    size_t i = strlen(d->digits);
    while (i > 0 && d->digits[i - 1] == '9')
        d->digits[--i] = '0';
    if (i > 0) {
        d->digits[i - 1]++;
    } else {
        d->digits[0] = '1';
        d->exponent++;
    }
}

static bool reads_as(const decimal *d, double x)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%c.%se%d", d->digits[0], d->digits + 1, d->exponent);
    return strtod(text, NULL) == x;
}

/* The values on both sides of a power of two lie at different distances: there the nearest decimal may read as the
 * value below while the next decimal up, further off, reads as x. */
static decimal shortest_decimal(double x)
{
    int exponent;
    const bool power_of_two = frexp(x, &exponent) == 0.5;
    for (int digits = 1;; digits++) {
        decimal d = nearest_decimal(x, digits);
        if (digits == MOST_DIGITS || reads_as(&d, x))
            return d;
        if (power_of_two) {
            next_decimal(&d);
            if (reads_as(&d, x))
                return d;
        }
    }
}

static const char *print_special(char text[NUMBER_SIZE], double value)
{
    const char *sign = signbit(value) && !isnan(value) ? "-" : "";
    snprintf(text, NUMBER_SIZE, "%s%s", sign, isnan(value) ? "nan" : isinf(value) ? "inf" : "0");
    return text;
}

const char *number_print(char text[NUMBER_SIZE], double value)
{
    if (!isfinite(value) || value == 0)
        return print_special(text, value);
    const decimal d = shortest_decimal(fabs(value));
    const char *sign = value < 0 ? "-" : "";
    const int length = (int)strlen(d.digits);
    if (d.exponent < -4 || d.exponent >= 16) {
        snprintf(text, NUMBER_SIZE, "%s%c%s%se%c%02d", sign, d.digits[0], length > 1 ? "." : "", d.digits + 1,
                 d.exponent < 0 ? '-' : '+', abs(d.exponent));
    } else if (d.exponent < 0) {
        snprintf(text, NUMBER_SIZE, "%s0.%.*s%s", sign, -d.exponent - 1, "000", d.digits);
    } else if (length <= d.exponent + 1) {
        snprintf(text, NUMBER_SIZE, "%s%s%.*s", sign, d.digits, d.exponent + 1 - length, "000000000000000");
    } else {
        snprintf(text, NUMBER_SIZE, "%s%.*s.%s", sign, d.exponent + 1, d.digits, d.digits + d.exponent + 1);
    }
    return text;
}

const char *number_print_hex(char text[NUMBER_SIZE], double value)
{
    if (!isfinite(value))
        return print_special(text, value);
    snprintf(text, NUMBER_SIZE, "%a", value);
    return text;
}

const char *number_print_code(char text[NUMBER_SIZE], uint64_t code, unsigned bits)
{
    snprintf(text, NUMBER_SIZE, "0x%0*" PRIx64, (int)(bits + 3) / 4, code);
    return text;
}

uint64_t number_load_code(const void *codes, size_t size, size_t i)
{
    switch (size) {
    case 1: return ((const uint8_t *)codes)[i];
    case 2: return ((const uint16_t *)codes)[i];
    case 4: return ((const uint32_t *)codes)[i];
    default: return ((const uint64_t *)codes)[i];
    }
}

void number_store_code(void *codes, size_t size, size_t i, uint64_t code)
{
    switch (size) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)codes)[i] = (uint16_t)code; break;
    case 4: ((uint32_t *)codes)[i] = (uint32_t)code; break;
    default: ((uint64_t *)codes)[i] = code; break;
    }
}
