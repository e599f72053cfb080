/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.c - formats that are a sorted table of values: the built-in tables, and what follows from a table. */
#include "codebook.h"

#include "core/codebook.h"
#include "core/reach.h"
#include "decimal.h"

#include <string.h>

/* clang-format off */
static const float nf4[16] = {
    -0x1p0f, -0x1.647362p-1f, -0x1.0cd66p-1f, -0x1.94654p-2f, -0x1.23449ap-2f, -0x1.7a6a7ep-3f, -0x1.74f0e2p-4f, 0,
    0x1.45f5fep-4f, 0x1.4995c6p-3f, 0x1.f809bap-3f, 0x1.5a0674p-2f, 0x1.c3497p-2f, 0x1.200f56p-1f, 0x1.722766p-1f,
    0x1p0f,
};

/* (1/10 + 9/10 * (k + 1/2)/n) / d: the quotient of two integers, whose rounding to binary64 on the way to binary32
 * changes no value of the tables; tests/unit/check_blockspec.c works them out by rationals. Several from k on, ascending,
 * or negative and ascending. */
#define VALUE(d, n, k) ((2.0 * (n) + 9 * (2 * (k) + 1)) / (20.0 * (n) * (d)))
#define UP1(d, n, k) (float)VALUE(d, n, k)
#define DOWN1(d, n, k) (float)-VALUE(d, n, k)
#define UP2(d, n, k) UP1(d, n, k), UP1(d, n, (k) + 1)
#define DOWN2(d, n, k) DOWN1(d, n, (k) + 1), DOWN1(d, n, k)
#define UP4(d, n, k) UP2(d, n, k), UP2(d, n, (k) + 2)
#define DOWN4(d, n, k) DOWN2(d, n, (k) + 2), DOWN2(d, n, k)
#define UP8(d, n, k) UP4(d, n, k), UP4(d, n, (k) + 4)
#define DOWN8(d, n, k) DOWN4(d, n, (k) + 4), DOWN4(d, n, k)
#define UP16(d, n, k) UP8(d, n, k), UP8(d, n, (k) + 8)
#define DOWN16(d, n, k) DOWN8(d, n, (k) + 8), DOWN8(d, n, k)
#define UP32(d, n, k) UP16(d, n, k), UP16(d, n, (k) + 16)
#define DOWN32(d, n, k) DOWN16(d, n, (k) + 16), DOWN16(d, n, k)
#define UP64(d, n, k) UP32(d, n, k), UP32(d, n, (k) + 32)
#define DOWN64(d, n, k) DOWN32(d, n, (k) + 32), DOWN32(d, n, k)
#define UP128(d, n, k) UP64(d, n, k), UP64(d, n, (k) + 64)

static const float dynamic4[16] = {
    DOWN4(1, 4, 0), DOWN2(10, 2, 0), DOWN1(100, 1, 0), 0, UP1(100, 1, 0), UP2(10, 2, 0), UP4(1, 4, 0), 1,
};
static const float dynamic5[32] = {
    DOWN8(1, 8, 0), DOWN4(10, 4, 0), DOWN2(100, 2, 0), DOWN1(1000, 1, 0), 0, UP1(1000, 1, 0), UP2(100, 2, 0),
    UP4(10, 4, 0), UP8(1, 8, 0), 1,
};
static const float dynamic6[64] = {
    DOWN16(1, 16, 0), DOWN8(10, 8, 0), DOWN4(100, 4, 0), DOWN2(1000, 2, 0), DOWN1(10000, 1, 0), 0, UP1(10000, 1, 0),
    UP2(1000, 2, 0), UP4(100, 4, 0), UP8(10, 8, 0), UP16(1, 16, 0), 1,
};
static const float dynamic7[128] = {
    DOWN32(1, 32, 0), DOWN16(10, 16, 0), DOWN8(100, 8, 0), DOWN4(1000, 4, 0), DOWN2(10000, 2, 0),
    DOWN1(100000, 1, 0), 0, UP1(100000, 1, 0), UP2(10000, 2, 0), UP4(1000, 4, 0), UP8(100, 8, 0), UP16(10, 16, 0),
    UP32(1, 32, 0), 1,
};
static const float dynamic8[256] = {
    DOWN64(1, 64, 0), DOWN32(10, 32, 0), DOWN16(100, 16, 0), DOWN8(1000, 8, 0), DOWN4(10000, 4, 0),
    DOWN2(100000, 2, 0), DOWN1(1000000, 1, 0), 0, UP1(1000000, 1, 0), UP2(100000, 2, 0), UP4(10000, 4, 0),
    UP8(1000, 8, 0), UP16(100, 16, 0), UP32(10, 32, 0), UP64(1, 64, 0), 1,
};
static const float udynamic4[16] = {0, UP2(100, 2, 0), UP4(10, 4, 0), UP8(1, 8, 0), 1};
static const float udynamic5[32] = {0, UP2(1000, 2, 0), UP4(100, 4, 0), UP8(10, 8, 0), UP16(1, 16, 0), 1};
static const float udynamic6[64] = {
    0, UP2(10000, 2, 0), UP4(1000, 4, 0), UP8(100, 8, 0), UP16(10, 16, 0), UP32(1, 32, 0), 1,
};
static const float udynamic7[128] = {
    0, UP2(100000, 2, 0), UP4(10000, 4, 0), UP8(1000, 8, 0), UP16(100, 16, 0), UP32(10, 32, 0), UP64(1, 64, 0), 1,
};
static const float udynamic8[256] = {
    0, UP2(1000000, 2, 0), UP4(100000, 4, 0), UP8(10000, 8, 0), UP16(1000, 16, 0), UP32(100, 32, 0),
    UP64(10, 64, 0), UP128(1, 128, 0), 1,
};
/* clang-format on */

#define TABLES(name) {name##4, name##5, name##6, name##7, name##8}

/* The built-in table of a name and a width; NULL if there is none. */
static const float *built_in(uint32_t name, uint32_t bits)
{
    static const float *const tables[2][5] = {TABLES(dynamic), TABLES(udynamic)};
    if (name == FPEMU_CODEBOOK_NF4)
        return bits == 4 ? nf4 : NULL;
    if ((name != FPEMU_CODEBOOK_DYNAMIC && name != FPEMU_CODEBOOK_UDYNAMIC) || bits < 4 || bits > 8)
        return NULL;
    return tables[name == FPEMU_CODEBOOK_UDYNAMIC][bits - 4];
}

int fpemu_has_own_table(const fpemu_format *format)
{
    return format->codebook == FPEMU_CODEBOOK_CUSTOM || format->codebook == FPEMU_CODEBOOK_CODES;
}

const float *fpemu_table_values(const fpemu_format *format)
{
    return fpemu_has_own_table(format) ? format->table : built_in(format->codebook, format->bits);
}

int fpemu_same_table(const fpemu_format *a, const fpemu_format *b)
{
    if (a->codebook != b->codebook || a->codebook_length != b->codebook_length)
        return 0;
    if (a->codebook_length == 0 || !fpemu_has_own_table(a) || a->table == b->table)
        return 1;
    /* bits decide: all NaN have the same */
    return memcmp(a->table, b->table, a->codebook_length * sizeof(float)) == 0;
}

/* The order of numbers, infinities too, as an order of integers, -0 before +0, which no flush of subnormals disturbs. */
static int64_t order(float x)
{
    const uint32_t u = core_bits32(x);
    return u >> 31 ? -1 - (int64_t)(u & 0x7fffffffu) : (int64_t)u;
}

/* A finite number of binary32 as binary64. */
static double widen(float x)
{
    const uint32_t u = core_bits32(x), field = u >> 23 & 0xff, fraction = u & 0x7fffff;
    const double a = fpemu_exact(field ? fraction | 0x800000 : fraction, (int)(field ? field : 1) - 150);
    return u >> 31 ? core_value64(core_bits64(a) | UINT64_C(1) << 63) : a;
}

/* Codes by their values, and by themselves where these are equal: sorted by ever smaller steps. */
static void sort_codes(const float *values, float *codes, uint32_t n)
{
    for (uint32_t step = n / 2; step > 0; step /= 2) {
        for (uint32_t i = step; i < n; i++) {
            const float code = codes[i];
            const int64_t place = order(values[(uint32_t)code]);
            uint32_t k = i;
            for (; k >= step; k -= step) {
                const float other = codes[k - step];
                const int64_t before = order(values[(uint32_t)other]);
                if (before < place || (before == place && other < code))
                    break;
                codes[k] = other;
            }
            codes[k] = code;
        }
    }
}

/* The array has the values of all codes; how many finite values are written, -0 and +0 being two; the code of NaN;
 * `length` + 2 places for these values, ascending, from the second place on, and behind the last, as before the first,
 * what lies as far beyond the end as the last step goes; and as many places for their codes, of which those beyond the
 * ends are those of the infinities, or else of NaN. A code that does not exist is -1. What stands for a value twice has
 * the lower code. */
int fpemu_sort_codes(uint32_t length, const float *values, float *memory)
{
    float *const nan = memory + length + 1, *const grid = nan + 1, *const codes = grid + length + 2;
    float infinite[2] = {-1, -1};
    uint32_t n = 0, all = 0;
    memset(nan, 0, (2 * (size_t)length + 5) * sizeof *nan); /* equal tables have equal bytes */
    *nan = -1;
    for (uint32_t code = length; code-- > 0;) { /* the lowest of equal ones comes last */
        const uint32_t u = core_bits32(values[code]), magnitude = u & 0x7fffffff;
        memory[code] = magnitude > 0x7f800000 ? core_value32(0x7fc00000) : values[code];
        if (magnitude > 0x7f800000)
            *nan = (float)code;
        else if (magnitude == 0x7f800000)
            infinite[u >> 31] = (float)code;
        else
            codes[++all] = (float)code;
    }
    sort_codes(memory, codes + 1, all);
    for (uint32_t k = 1; k <= all; k++) {
        const float code = codes[k], value = memory[(uint32_t)code];
        if (n > 0 && order(value) == order(grid[n]))
            continue;
        codes[++n] = code;
        grid[n] = value;
    }
    if (n < 2 || (infinite[0] < 0 && infinite[1] >= 0) || (order(grid[1]) < 0 && infinite[0] >= 0 && infinite[1] < 0))
        return 0;
    memory[length] = (float)n;
    grid[0] = (float)(2 * (double)grid[1] - (double)grid[2]);
    grid[n + 1] = (float)(2 * (double)grid[n] - (double)grid[n - 1]);
    /* numbers too small for a table of those above zero do not overflow */
    codes[0] = order(grid[1]) > 0 ? -1 : infinite[1] >= 0 ? infinite[1] : *nan;
    codes[n + 1] = order(grid[n]) < -1 ? -1 : infinite[0] >= 0 ? infinite[0] : *nan;
    return 1;
}

/* Its indices; the values are there. */
static core_codebook indices_of(const fpemu_format *f)
{
    const fpemu_rounding nearest = {0};
    core_codebook c;
    core_codebook_make(&c, f, &nearest);
    c.values = fpemu_table_values(f);
    return c;
}

uint64_t fpemu_table_count(const fpemu_format *f)
{
    const core_codebook c = indices_of(f);
    return core_codebook_high(&c) - core_codebook_low(&c) + 1 - f->has_negative_zero;
}

uint64_t fpemu_table_nan_count(const fpemu_format *f)
{
    uint64_t count = fpemu_ones(f->bits) + 1 - f->codebook_length;
    for (uint32_t i = 0; i < f->codebook_length && f->has_nan; i++)
        count += (core_bits32(f->table[i]) & 0x7fffffff) > 0x7f800000;
    return count;
}

uint64_t fpemu_table_code(const fpemu_format *f, uint64_t i)
{
    const core_codebook c = indices_of(f);
    const uint32_t index = core_codebook_low(&c) + (uint32_t)i; /* -0 is left out */
    return core_codebook_code(&c, index + (f->has_negative_zero && order(core_codebook_at(&c, index)) >= -1));
}

double fpemu_table_value(const fpemu_format *format, uint64_t i)
{
    const float *const values = fpemu_table_values(format);
    return values && i < fpemu_table_count(format) ? widen(values[fpemu_table_code(format, i)])
                                                   : core_value64(UINT64_C(0x7ff8) << 48);
}

/* Finite, ascending, -0 where codes are the caller's. */
static int is_sorted(const core_codebook *c)
{
    for (uint32_t k = core_codebook_low(c); k <= core_codebook_high(c); k++) {
        const float x = core_codebook_at(c, k);
        if ((core_bits32(x) & 0x7fffffff) >= 0x7f800000 || (order(x) == -1 && !core_codebook_low(c)) ||
            (k > core_codebook_low(c) && order(x) <= order(core_codebook_at(c, k - 1))))
            return 0;
    }
    return 1;
}

/* Whether an array of this length is there, and says what it has to. */
static int has_table(const fpemu_format *f)
{
    const int coded = f->codebook == FPEMU_CODEBOOK_CODES;
    const float *const values = fpemu_table_values(f);
    const size_t length = coded ? FPEMU_CODES_MEMORY(f->codebook_length) : f->codebook_length;
    core_reach e;
    return values && core_reach_array(&e, values, length, sizeof *values) &&
           (!coded || (values[f->codebook_length] >= 2 && values[f->codebook_length] <= (float)f->codebook_length));
}

int fpemu_derive_codebook(fpemu_format *f, fpemu_problem *problem)
{
    if (f->symmetric || f->wrap)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP, "no wrap, no symmetric on a codebook");
    if (f->codebook > FPEMU_CODEBOOK_CODES)
        return refuse(problem, FPEMU_PARAMETER_TABLE, "a known table");
    if (fpemu_has_own_table(f)) {
        if (f->codebook_length < 2 || f->codebook_length > 65536)
            return refuse(problem, FPEMU_PARAMETER_TABLE, "a table of 2 to 65536 values");
        f->bits = 1 + (uint32_t)core_log2_32(f->codebook_length - 1);
    } else {
        if (!built_in(f->codebook, f->bits))
            return refuse(problem, FPEMU_PARAMETER_TABLE | FPEMU_PARAMETER_BITS, "nf4, or dynamic of 4 to 8 bits");
        f->codebook_length = UINT32_C(1) << f->bits;
    }
    if (!has_table(f))
        return refuse(problem, FPEMU_PARAMETER_TABLE, "a table");
    const core_codebook c = indices_of(f);
    const uint32_t high = core_codebook_high(&c);
    if (!is_sorted(&c))
        return refuse(problem, FPEMU_PARAMETER_TABLE, "a table of ascending finite values");
    for (uint32_t k = high + 1; k-- > core_codebook_low(&c);) {
        const int64_t place = order(core_codebook_at(&c, k));
        if (place > 0)
            f->min_positive = widen(core_codebook_at(&c, k));
        f->has_zero |= place == 0;
        f->has_negative_zero |= place == -1;
    }
    if (f->has_negative_zero && !f->has_zero)
        return refuse(problem, FPEMU_PARAMETER_TABLE, "+0 beside -0");
    f->has_nan = (c.flags & CORE_CODEBOOK_HAS_NAN) != 0;
    f->nan_code = f->has_nan ? (uint64_t)f->table[c.length + 1] : 0;
    f->has_infinity = core_codebook_flag(&c, CORE_CODEBOOK_INFINITE, 0) &&
                      core_bits32(c.values[core_codebook_code(&c, high + 1)]) == 0x7f800000;
    f->is_signed = order(core_codebook_at(&c, core_codebook_low(&c))) < 0;
    f->max = widen(core_codebook_at(&c, high));
    f->lowest = widen(core_codebook_at(&c, core_codebook_low(&c)));
    f->max_code = core_codebook_code(&c, high);
    f->lowest_code = core_codebook_code(&c, core_codebook_low(&c));
    f->min_normal = f->min_positive;
    f->fits_f32 = 1;
    f->fits_f64 = 1;
    return 1;
}
