/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_operations.c - additions and the like on codes of e4m3fn and fp16, one right and the others each with one
 * defect, and conversions of fp16. Built as a shared library, or with -DMAIN as a program that reads pairs of codes of
 * e4m3fn and prints codes of their sums.
 */
#include "../common.h"
#include <signal.h>

struct target {
    int m, emin;
    uint32_t max, over, nan;
    int width;
};
static const struct target e4m3fn = {3, -6, 0x7e, 0x7f, 0x7f, 8}, fp16 = {10, -14, 0x7bff, 0x7c00, 0x7e00, 16};

/* The value of a code. */
static double value(uint32_t code, const struct target *t)
{
    const uint32_t size = code & ((1u << (t->width - 1)) - 1);
    const int field = (int)(size >> t->m), lead = 1 << t->m, fraction = (int)size & (lead - 1);
    const double x = size > t->over || t->nan == size ? (double)NAN
                     : size == t->over
                         ? (double)INFINITY
                         : ldexp(field > 0 ? lead + fraction : fraction, (field > 0 ? field : 1) - 1 + t->emin - t->m);
    return code >> (t->width - 1) != 0 ? -x : x;
}

/* x to the nearest multiple of 2^quantum, ties to even. Exact: there are no more than 53 bits. */
static double round_to(double x, int quantum)
{
    return ldexp(nearbyint(ldexp(x, -quantum)), quantum);
}

/* x with `digits` bits, but no bit below 2^least. */
static double shorten(double x, int digits, int least)
{
    const int quantum = x != 0 ? ilogb(x) + 1 - digits : least;
    return isfinite(x) ? round_to(x, quantum > least ? quantum : least) : x;
}

/* The code of x, rounded to nearest. */
static uint32_t code_of(double x, const struct target *t)
{
    const uint32_t sign = signbit(x) ? 1u << (t->width - 1) : 0;
    const double size = fabs(shorten(x, t->m + 1, t->emin - t->m));
    if (isnan(x))
        return t->nan;
    if (size > value(t->max, t))
        return t->over | sign;
    if (size < ldexp(1, t->emin))
        return (uint32_t)ldexp(size, t->m - t->emin) | sign;
    const int e = ilogb(size);
    return (((uint32_t)(e - t->emin) << t->m) + (uint32_t)ldexp(size, t->m - e)) | sign;
}

uint16_t half_of_float(float x)
{
    return (uint16_t)code_of((double)x, &fp16);
}

uint16_t half_of_double(double x)
{
    return (uint16_t)code_of(x, &fp16);
}

float float_of_half(uint16_t code)
{
    return (float)value(code, &fp16);
}

/* A sum of two numbers of fp16 or e4m3fn has at most 41 bits: binary64 has it exactly. */
static double sum(uint32_t a, uint32_t b, const struct target *t)
{
    return value(a, t) + value(b, t);
}

/* Of codes of e4m3fn, and of fp16. */
#define BYTES(NAME, EXPRESSION)                                                                                        \
    uint8_t NAME(uint8_t a, uint8_t b)                                                                                 \
    {                                                                                                                  \
        return (uint8_t)(EXPRESSION);                                                                                  \
    }
#define WORDS(NAME, EXPRESSION)                                                                                        \
    uint16_t NAME(uint16_t a, uint16_t b)                                                                              \
    {                                                                                                                  \
        return (uint16_t)(EXPRESSION);                                                                                 \
    }
BYTES(add, code_of(sum(a, b, &e4m3fn), &e4m3fn))
WORDS(half_add, code_of(sum(a, b, &fp16), &fp16))
/* By way of a format with two bits more. */
BYTES(adds_twice, code_of(shorten(sum(a, b, &e4m3fn), 6, -100), &e4m3fn))
WORDS(half_adds_twice, code_of(shorten(sum(a, b, &fp16), 14, -100), &fp16))
/* Subnormal sums become zero. */
BYTES(add_flushes, (add(a, b) & 0x78) == 0 ? add(a, b) & 0x80 : add(a, b))
WORDS(half_add_flushes, (half_add(a, b) & 0x7c00) == 0 ? half_add(a, b) & 0x8000 : half_add(a, b))
/* Subnormal operands are taken for zeros. */
BYTES(add_daz, add((a & 0x78) == 0 ? a & 0x80 : a, (b & 0x78) == 0 ? b & 0x80 : b))
/* x + -x is -0, as when rounding downward. */
BYTES(add_zero_sign, value(a, &e4m3fn) != 0 && value(a, &e4m3fn) == -value(b, &e4m3fn) ? 0x80 : add(a, b))
/* Infinity less infinity is infinity. */
WORDS(half_add_infinity, (a & 0x7fff) == 0x7c00 && (b & 0x7fff) == 0x7c00 ? a : half_add(a, b))
/* A NaN that is the second operand is lost. */
BYTES(add_loses_nan, (b & 0x7f) == 0x7f ? a : add(a, b))
WORDS(half_div, code_of(value(a, &fp16) / value(b, &fp16), &fp16)) /* innocuous: 53 >= 2 * 11 + 2 */

/* x / 0 is the largest number. */
uint16_t half_div_zero(uint16_t a, uint16_t b)
{
    const uint16_t y = half_div(a, b);
    return (b & 0x7fff) == 0 && (y & 0x7fff) == 0x7c00 && (a & 0x7fff) < 0x7c00 ? (y & 0x8000) | 0x7bff : y;
}

/* e4m3fn operands, fp16 results. */
uint16_t mul_wide(uint8_t a, uint8_t b)
{
    return (uint16_t)code_of(value(a, &e4m3fn) * value(b, &e4m3fn), &fp16);
}

/* Exact: the sum of a product and a number of e4m3fn has at most 36 bits. */
uint8_t multiply_add(uint8_t a, uint8_t b, uint8_t c)
{
    return (uint8_t)code_of(value(a, &e4m3fn) * value(b, &e4m3fn) + value(c, &e4m3fn), &e4m3fn);
}

/* Factors of e4m3fn and a term of fp16, all in 16 bits: exact, of at most 41. */
uint16_t multiply_add_mixed(uint16_t a, uint16_t b, uint16_t c)
{
    return (uint16_t)code_of(value(a, &e4m3fn) * value(b, &e4m3fn) + value(c, &fp16), &fp16);
}

/* The product is rounded first. */
uint8_t multiply_then_add(uint8_t a, uint8_t b, uint8_t c)
{
    return add((uint8_t)code_of(value(a, &e4m3fn) * value(b, &e4m3fn), &e4m3fn), c);
}

/* Values instead of codes, and arrays of them. */
float add_values(float a, float b)
{
    return (float)value(code_of((double)a + (double)b, &e4m3fn), &e4m3fn);
}

void add_array(const uint8_t *a, const uint8_t *b, uint8_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = add(a[i], b[i]);
}

void fma_array(const float *a, const float *b, const float *c, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)value(code_of((double)a[i] * (double)b[i] + (double)c[i], &e4m3fn), &e4m3fn);
}

uint8_t add_crashes(uint8_t a, uint8_t b)
{
    if (a == 0x38 && b == 0x40) /* 1 + 2 */
        raise(SIGSEGV);
    return add(a, b);
}

/* A sum of products in binary32, in sequence from c, the numbers of b `step` apart. */
static float add_up(const float *a, const float *b, size_t step, float c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        c = fmaf(a[k], b[k * step], c);
    return c;
}

void dot_from(const float *a, const float *b, const float *c, float *y, size_t n)
{
    *y = add_up(a, b, 1, *c, n);
}

void dot(const float *a, const float *b, float *y, size_t n)
{
    *y = add_up(a, b, 1, 0, n);
}

/* From the middle on; without the last of seven and more. */
void dot_turned(const float *a, const float *b, float *y, size_t n)
{
    *y = add_up(a, b, 1, add_up(a + n / 2, b + n / 2, 1, 0, n - n / 2), n / 2);
}

void dot_drops(const float *a, const float *b, float *y, size_t n)
{
    dot(a, b, y, n > 6 ? n - 1 : n);
}

void product(const float *a, const float *b, float *y, size_t m, size_t n, size_t k)
{
    for (size_t i = 0; i < m * n; i++)
        y[i] = add_up(a + i / n * k, b + i % n, n, 0, k);
}

/* Two products share scales, in binary64. */
void dot_scaled(const double *a, const double *b, const double *scale_a, const double *scale_b, double *y, size_t n)
{
    *y = 0;
    for (size_t k = 0; k < n; k += 2)
        *y += (a[k] * b[k] + a[k + 1] * b[k + 1]) * (scale_a[k / 2] * scale_b[k / 2]);
}

#ifdef MAIN
int main(int argc, char **argv)
{
    float x[8];
    unsigned a, b;
    while (argc > 1 && strcmp(argv[1], "dot") == 0 && scanf("%f", x) == 1) {
        for (int k = 1; k < 8 && scanf("%f", &x[k]) == 1; k++) {
        }
        printf("%a\n", (double)add_up(x, x + 4, 1, 0, 4));
    }
    while (scanf("%x %x", &a, &b) == 2) {
        printf("0x%02x\n", argc > 1 && strcmp(argv[1], "flush") == 0 ? add_flushes((uint8_t)a, (uint8_t)b)
                                                                     : add((uint8_t)a, (uint8_t)b));
    }
    return 0;
}
#endif
