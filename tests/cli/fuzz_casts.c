/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_casts.c - conversions to 8-bit floats, one right and the others each with one defect. Built as a shared library,
 * or with -DMAIN as a program that reads numbers and prints codes of e4m3fn.
 */
#include "../common.h"
#include <signal.h>

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

/* Whole vectors of 8 elements. */
void writes_on_array(const float *x, uint8_t *codes, size_t n)
{
    right_array(x, codes, n);
    for (size_t i = n; i % 8 != 0; i++)
        codes[i] = 0;
}

/* Right results, and the input is used up. */
void writes_input(float *x, uint8_t *codes, size_t n)
{
    right_array(x, codes, n);
    for (size_t i = 0; i < n; i++)
        x[i] *= 2;
}

/* Only on arrays: no element is to blame. */
void crashes_on_long(const float *x, uint8_t *codes, size_t n)
{
    if (n >= 100)
        raise(SIGSEGV);
    right_array(x, codes, n);
}

/* Stochastic rounding to e4m3fn by 32 random bits, and what went wrong with that elsewhere. */
enum sr_defect { SR_RIGHT, SR_ZERO, SR_SUBNORMAL, SR_MOVES, SR_BITS, SR_BYTE, SR_PAIRS, SR_SEEDED, SR_DRIFTS };

static uint32_t random_bits(uint64_t *state)
{
    return (uint32_t)(split_mix(state) >> 32);
}

static uint8_t sr(float x, uint32_t random, enum sr_defect defect)
{
    int e = x != 0 && isfinite(x) ? ilogbf(x) : -6;
    const int subnormal = e < -6;
    e = subnormal ? -6 : e;
    const double size = isfinite(x) ? ldexp(fabs((double)x), 3 - e) : 0, whole = floor(size);
    random &= defect == SR_BITS ? 0xf0000000 : defect == SR_BYTE ? 0xff000000 : UINT32_MAX;
    double part = size - whole, bits = random * 0x1p-28;
    part = defect == SR_SUBNORMAL && subnormal ? part / 2 : part;
    part = defect == SR_DRIFTS ? part * 0.99 : part;
    const uint32_t up = floor(part * 16 + bits) >= 16 || (defect == SR_MOVES && part == 0 && random >> 24 == 0);
    const uint32_t code = ((uint32_t)(e + 6) << 3) + (uint32_t)whole + up;
    return (uint8_t)((!isfinite(x) || code > 0x7e ? 0x7f : defect == SR_ZERO ? 0 : code) | (signbit(x) ? 0x80 : 0));
}

#define SR(NAME, DEFECT)                                                                                               \
    void NAME(const float *x, uint8_t *codes, size_t n)                                                                \
    {                                                                                                                  \
        static uint64_t state = 5;                                                                                     \
        uint32_t random = 0;                                                                                           \
        state = DEFECT == SR_SEEDED ? 5 : state;                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                               \
            random = DEFECT == SR_PAIRS && i % 2 == 1 ? random : random_bits(&state);                                  \
            codes[i] = sr(x[i], random, DEFECT);                                                                       \
        }                                                                                                              \
    }
SR(sr_right, SR_RIGHT)
SR(sr_zero, SR_ZERO)
SR(sr_subnormal, SR_SUBNORMAL)
SR(sr_moves, SR_MOVES)
SR(sr_bits, SR_BITS)
SR(sr_byte, SR_BYTE)
SR(sr_pairs, SR_PAIRS)
SR(sr_seeded, SR_SEEDED)
SR(sr_drifts, SR_DRIFTS)

uint8_t sr_one(float x)
{
    static uint64_t state = 7;
    return sr(x, random_bits(&state), SR_RIGHT);
}

/* MX: 32 numbers of e2m1 share a power of two, the largest that brings the largest magnitude below 8. `scales` and
 * `elements` are the packed bytes, y the values; each may be NULL. */
enum mx_defect { MX_RIGHT, MX_POWER, MX_SHORT, MX_NAN, MX_CRASH, MX_SIGNS };

static uint32_t e2m1_code(float x)
{
    const float size = fabsf(x), step = size < 2 ? 0.5f : size < 4 ? 1 : 2, y = nearbyintf(size / step) * step;
    const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    uint32_t code = 7;
    while (code > 0 && values[code] > y)
        code--;
    return code | (signbit(x) ? 8 : 0);
}

static void mx_block(const float *x, float *y, uint8_t *scale, uint8_t *elements, size_t n, enum mx_defect defect)
{
    static const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    float amax = 0;
    int nan = 0, e;
    for (size_t k = 0; k < n; k++) {
        nan |= !isfinite(x[k]);
        amax = isfinite(x[k]) ? fmaxf(amax, fabsf(x[k])) : amax;
    }
    const int power = frexpf(amax, &e) == 0.5f;
    int shared = amax > 0 ? e - 3 - (defect == MX_POWER && power) + (defect == MX_SHORT && n < 32) : -127;
    shared = shared < -127 ? -127 : shared;
    if (isnan(x[n - 1]) && n == 32 && defect == MX_CRASH)
        raise(SIGSEGV);
    nan = nan && defect != MX_NAN;
    *scale = (uint8_t)(nan ? 255 : shared + 127);
    for (size_t k = 0; k < n; k++) {
        uint32_t code = nan ? 0 : e2m1_code(isnan(x[k]) ? 0 : ldexpf(x[k], -shared));
        code = defect == MX_SIGNS && code == 8 ? 0 : code;
        const float value = ldexpf(values[code & 7], shared);
        y[k] = nan ? NAN : (code & 8) != 0 ? -value : value;
        elements[k / 2] = (uint8_t)(k % 2 == 0 ? code : elements[k / 2] | code << 4);
    }
}

static void mx(const float *x, float *y, uint8_t *bytes, size_t n, enum mx_defect defect)
{
    const size_t blocks = (n + 31) / 32;
    float values[32];
    uint8_t scale, elements[16];
    for (size_t b = 0; b < blocks; b++) {
        const size_t size = n - 32 * b < 32 ? n - 32 * b : 32;
        mx_block(x + 32 * b, values, &scale, elements, size, defect);
        if (y != NULL) {
            memcpy(y + 32 * b, values, size * sizeof *y);
        } else {
            bytes[b] = scale;
            memcpy(bytes + blocks + 16 * b, elements, (size + 1) / 2);
        }
    }
}

#define MX(NAME, DEFECT)                                                                                               \
    void NAME(const float *x, float *y, size_t n)                                                                      \
    {                                                                                                                  \
        mx(x, y, NULL, n, DEFECT);                                                                                     \
    }                                                                                                                  \
    void NAME##_bytes(const float *x, uint8_t *bytes, size_t n)                                                        \
    {                                                                                                                  \
        mx(x, NULL, bytes, n, DEFECT);                                                                                 \
    }
MX(mx_right, MX_RIGHT)
MX(mx_power, MX_POWER)
MX(mx_short, MX_SHORT)
MX(mx_nan, MX_NAN)
MX(mx_crash, MX_CRASH)
MX(mx_signs, MX_SIGNS)

/* Whole blocks of a tensor with a short one. */
void mx_whole(const float *x, float *y, size_t n)
{
    mx_right(x, y, n);
    for (; n % 32 != 0; n++)
        y[n] = 0;
}

/* Blocks along the rows of a matrix, and along its columns. */
void mx_rows(const float *x, float *y, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        mx_right(x + i * columns, y + i * columns, columns);
}

void mx_columns(const float *x, float *y, size_t rows, size_t columns)
{
    float turned[2][1152];
    for (size_t i = 0; i < rows * columns; i++)
        turned[0][i % columns * rows + i / columns] = x[i];
    mx_rows(turned[0], turned[1], columns, rows);
    for (size_t i = 0; i < rows * columns; i++)
        y[i] = turned[1][i % columns * rows + i / columns];
}

#ifdef MAIN
/* A tensor a line. */
static int print_tensors(int bytes)
{
    char line[16384];
    while (fgets(line, sizeof line, stdin) != NULL) {
        float x[512], y[512];
        uint8_t codes[512];
        size_t n = 0;
        for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n"))
            x[n++] = strtof(word, NULL);
        mx(x, bytes ? NULL : y, codes, n, bytes ? MX_RIGHT : MX_SHORT);
        const size_t results = bytes ? (n + 31) / 32 + (n + 1) / 2 : n;
        for (size_t k = 0; k < results; k++)
            if (bytes)
                printf("0x%02x\n", codes[k]);
            else
                printf("%a\n", (double)y[k]);
    }
    return 0;
}

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
    if (strncmp(what, "tensors", 7) == 0)
        return print_tensors(strcmp(what, "tensors-bytes") == 0);
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
