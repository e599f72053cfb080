/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_casts.c - conversions to 8-bit floats, one right and the others each with one defect. Built as a shared library,
 * or with -DMAIN as a program that reads numbers and prints codes of e4m3fn.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum defect {
    RIGHT,
    TRUNCATES,
    TIES_AWAY,
    FLUSHES,
    WRONG_THRESHOLD,
    LOSES_SIGN,
    NAN_IS_INFINITY,
    SATURATES,
    INFINITY_IS_MAX,
    NEVER_ZERO
};

/* Mantissa bits m, smallest normal exponent emin; the code of the largest value, of what overflows and of a NaN. */
struct target {
    int m, emin;
    uint32_t max, over, nan;
};
static const struct target e4m3fn = {3, -6, 0x7e, 0x7f, 0x7f}, e5m2 = {2, -14, 0x7b, 0x7c, 0x7f};

static uint32_t magnitude(float x, const struct target *t, enum defect defect)
{
    uint32_t u, infinity = 0x7f800000;
    memcpy(&u, &x, 4);
    u &= 0x7fffffff;
    if (u > infinity)
        return defect == NAN_IS_INFINITY ? t->over : t->nan;
    if (u == infinity && defect == INFINITY_IS_MAX)
        return t->max;
    const int exponent = u >> 23 != 0 ? (int)(u >> 23) - 127 : -126;
    const uint32_t significand = u >> 23 != 0 ? (u & 0x7fffff) | 0x800000 : u;
    const int below = exponent < t->emin ? t->emin - exponent : 0;
    const int shift = 23 - t->m + below > 31 ? 31 : 23 - t->m + below;
    const uint32_t half = UINT32_C(1) << (shift - 1), rest = significand & (2 * half - 1);
    uint32_t k = significand >> shift;
    if (defect == TIES_AWAY)
        k += rest >= half;
    else if (defect == NEVER_ZERO && k == 0 && rest > 0)
        k = rest == half ? 0 : 1;
    else if (defect != TRUNCATES)
        k += rest > half || (rest == half && (k & 1) != 0);
    if (below > 0 && defect == FLUSHES && k < UINT32_C(1) << t->m)
        return 0;
    uint32_t code = below > 0 ? k : ((uint32_t)(exponent - t->emin) << t->m) + k;
    if (defect == WRONG_THRESHOLD && t == &e4m3fn && fabsf(x) >= 464)
        code = t->over;
    const int stays = defect == SATURATES || defect == TRUNCATES;
    return code <= t->max ? code : stays && u < infinity ? t->max : t->over;
}

static uint8_t cast(float x, const struct target *t, enum defect defect)
{
    const uint32_t code = magnitude(x, t, defect);
    return (uint8_t)(code | (signbit(x) && (code != 0 || defect != LOSES_SIGN) ? 0x80 : 0));
}

#define CAST(NAME, TARGET, DEFECT)                                                                                     \
    uint8_t NAME(float x)                                                                                              \
    {                                                                                                                  \
        return cast(x, &TARGET, DEFECT);                                                                               \
    }
CAST(right, e4m3fn, RIGHT)
CAST(truncates, e4m3fn, TRUNCATES)
CAST(ties_away, e4m3fn, TIES_AWAY)
CAST(flushes, e4m3fn, FLUSHES)
CAST(wrong_threshold, e4m3fn, WRONG_THRESHOLD)
CAST(loses_sign, e4m3fn, LOSES_SIGN)
CAST(saturates, e4m3fn, SATURATES)
CAST(infinity_is_max, e4m3fn, INFINITY_IS_MAX)
CAST(never_zero, e4m3fn, NEVER_ZERO)
CAST(e5m2_right, e5m2, RIGHT)
CAST(e5m2_nan_is_infinity, e5m2, NAN_IS_INFINITY)

/* A NaN with another code, not with another meaning. */
uint8_t e5m2_other_nan(float x)
{
    return isnan(x) ? 0xfd : e5m2_right(x);
}

/* By way of binary32, rounded twice. */
uint8_t rounds_twice(double x)
{
    return right((float)x);
}

float decode(uint8_t code)
{
    const int e = code >> 3 & 15;
    const float size =
        (code & 0x7f) == 0x7f ? NAN : ldexpf((float)(e > 0 ? 8 + (code & 7) : code & 7), (e > 0 ? e : 1) - 10);
    return (code & 0x80) != 0 ? -size : size;
}

float decode_flushes(uint8_t code)
{
    return (code & 0x78) == 0 ? copysignf(0, decode(code)) : decode(code);
}

float round_value(float x)
{
    return decode(right(x));
}

/* e5m2 to e4m3fn, both as codes. */
uint8_t e5m2_to_e4m3(uint8_t code)
{
    const int e = code >> 2 & 31;
    const float size = e == 31 ? NAN : ldexpf((float)(e > 0 ? 4 + (code & 3) : code & 3), (e > 0 ? e : 1) - 17);
    return right((code & 0x80) != 0 ? -size : size);
}

uint8_t crashes(float x)
{
    if (x == 12)
        raise(SIGSEGV);
    return right(x);
}

uint8_t leaves(float x)
{
    if (x == 12)
        exit(3);
    return right(x);
}

uint8_t hangs(float x)
{
    for (volatile int stay = x == 12; stay;) {
    }
    return right(x);
}

/* On every operand of a large part of all, and wrong on another part. */
uint8_t crashes_above_70(float x)
{
    if (x > 70.3f)
        raise(SIGSEGV);
    return x == 1 ? 0 : right(x);
}

#define ARRAY(NAME)                                                                                                    \
    void NAME##_array(const float *x, uint8_t *codes, size_t n)                                                        \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            codes[i] = NAME(x[i]);                                                                                     \
    }
ARRAY(right)
ARRAY(crashes)
ARRAY(hangs)

/* The last element of an array of odd length above 1 is forgotten. */
void forgets_array(const float *x, uint8_t *codes, size_t n)
{
    right_array(x, codes, n > 1 ? n & ~(size_t)1 : n);
}

/* Only on arrays: no element is to blame. */
void crashes_on_long(const float *x, uint8_t *codes, size_t n)
{
    if (n >= 100)
        raise(SIGSEGV);
    right_array(x, codes, n);
}

#ifdef MAIN
/* What goes wrong on one operand, 12, and what it prints of it. */
static void fail_on_12(const char *what, uint8_t code)
{
    if (strcmp(what, "crash-12") == 0) {
        abort();
    } else if (strcmp(what, "exit-12") == 0) {
        exit(5);
    } else if (strcmp(what, "hang-12") == 0) {
        for (;;) {
        }
    } else if (strcmp(what, "garbage-12") == 0) {
        printf("\033[31m twelve\n");
    } else if (strcmp(what, "twice-12") == 0) {
        printf("0x%02x 0x%02x\n", code, code);
    } else if (strcmp(what, "nothing-12") != 0) {
        printf("0x%02x\n", code);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char word[100];
    for (int i = 0; scanf("%99s", word) == 1; i++) {
        const float x = strtof(word, NULL);
        if (strcmp(what, "crash") == 0 && i == 1000)
            abort();
        if (strcmp(what, "stop") == 0 && i == 1000)
            return 0;
        if (strcmp(what, "hang") == 0) {
            for (;;) {
            }
        }
        while (strcmp(what, "endless") == 0)
            puts("0x00");
        if (strcmp(what, "values") == 0)
            printf("%a\n", (double)round_value(x));
        else if (x == 12 && strcmp(what, "truncate") != 0)
            fail_on_12(what, right(x));
        else
            printf("0x%02x\n", strcmp(what, "truncate") == 0 ? truncates(x) : right(x));
    }
    return 0;
}
#endif
