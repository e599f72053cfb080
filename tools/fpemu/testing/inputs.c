/* SPDX-License-Identifier: BSD-2-Clause */
/* inputs.c - see inputs.h */
#include "testing/inputs.h"

#include <math.h>
#include <stdlib.h>

#include "cli/error.h"

/* Nothing becomes an infinity or a NaN on the way into `from`: those codes are listed by themselves. */
static const fpemu_rounding saturating = {.mode = FPEMU_MODE_RNE, .overflow = FPEMU_OVERFLOW_SATURATE};

uint64_t inputs_nearest(const fpemu_format *format, double x)
{
    return fpemu_encode_one_f64(format, isfinite(x) ? &saturating : &(fpemu_rounding){0}, x, 0);
}

double inputs_fit(const fpemu_format *format, double x)
{
    return fpemu_decode_one_f64(format, inputs_nearest(format, x));
}

/* ------------------------------------------------------------------------------------------------ boundary */

static void push(inputs *in, uint64_t code)
{
    uint64_t *count = &in->count[INPUTS_BOUNDARY];
    if (*count == in->room) {
        const size_t room = in->room > 0 ? 2 * in->room : 4096;
        uint64_t *larger = realloc(in->boundary, room * sizeof *larger);
        if (larger == NULL)
            cli_fail("out of memory");
        in->boundary = larger;
        in->room = room;
    }
    in->boundary[(*count)++] = code & in->mask;
}

static void push_neighbours(inputs *in, uint64_t code, unsigned reach)
{
    for (uint64_t d = 0; d <= reach; d++) {
        push(in, code + d);
        push(in, code - d);
    }
}

/* The code of `from` nearest to x, that of -x, and their neighbours. */
static void push_around(inputs *in, double x, unsigned reach)
{
    if (isfinite(x)) {
        push_neighbours(in, fpemu_encode_one_f64(&in->from, &saturating, x, 0), reach);
        if (in->from.is_signed)
            push_neighbours(in, fpemu_encode_one_f64(&in->from, &saturating, -x, 0), reach);
    }
}

double inputs_midpoint(const fpemu_format *to, double low, double high)
{
    fpemu_format wider;
    if (to->kind == FPEMU_KIND_POSIT && low > 0 &&
        fpemu_format_posit(&wider, to->bits + 1, to->exponent_bits) == FPEMU_OK) {
        return fpemu_format_next_up(&wider, low);
    }
    return low + (high - low) / 2;
}

static void push_gap(inputs *in, double low, double high, unsigned reach)
{
    push_around(in, low, reach);
    push_around(in, inputs_midpoint(&in->to, low, high), reach);
}

static void push_every_value(inputs *in, unsigned reach)
{
    size_t count = (size_t)fpemu_format_value_count(&in->to);
    double *values = cli_allocate(count, sizeof *values);
    cli_check(fpemu_format_enumerate(&in->to, count, values, NULL, &count), "values");
    for (size_t i = 0; i + 1 < count; i++)
        push_gap(in, values[i], values[i + 1], reach);
    free(values);
}

/* The exponents of the smallest and the largest magnitude of `to`. */
static int first_binade(const inputs *in)
{
    const double least = fpemu_format_min_positive(&in->to);
    return ilogb(least > 0 ? least : -fpemu_format_lowest(&in->to));
}

static int last_binade(const inputs *in)
{
    return ilogb(fmax(fpemu_format_max(&in->to), -fpemu_format_lowest(&in->to)));
}

static void push_binades(inputs *in, unsigned per_binade, unsigned reach)
{
    const int last = last_binade(in);
    for (int e = first_binade(in); e <= last; e++) {
        for (unsigned i = 0; i < per_binade; i++) {
            const uint32_t word = fpemu_random_word(FPEMU_GENERATOR_HASH, in->seed, 2, (uint64_t)(e + 2048) * 8 + i);
            const double mantissa = i == 0 ? 1 : i == 1 ? 1.5 : i == 2 ? 2 - 0x1p-30 : 1 + word * 0x1p-32;
            const double high = fpemu_format_next_up(&in->to, ldexp(mantissa, e));
            const double middle = fpemu_format_next_down(&in->to, high); /* ldexp(...), where that is a value */
            const double low = fpemu_format_next_down(&in->to, middle);
            if (!isnan(high) && !isnan(low)) {
                push_gap(in, low, middle, reach);
                push_gap(in, middle, high, reach);
            }
        }
    }
}

/* Past the end of the range: half a step, one, two, four, and as much again as the whole range. */
static void push_end(inputs *in, double end, double inner, unsigned reach)
{
    const double step = end - inner;
    const double factors[] = {0, 0.5, 1, 2, 4};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        push_around(in, end + step * factors[i], reach);
    push_around(in, 2 * end, reach);
}

/* The codes of `from` that are special, whatever `to` is: zero, the smallest, the largest, infinities, NaN quiet and
 * signalling. */
static void push_specials(inputs *in, unsigned reach)
{
    const fpemu_format *from = &in->from;
    const uint64_t sign = (in->mask >> 1) + 1;
    const uint64_t infinity = fpemu_encode_one_f64(from, &(fpemu_rounding){0}, (double)INFINITY, 0);
    const uint64_t codes[] = {0,
                              from->max_code,
                              from->lowest_code,
                              infinity,
                              in->mask,
                              from->has_nan ? from->nan_code : 0,
                              fpemu_encode_one_f64(from, &saturating, fpemu_format_min_normal(from), 0)};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        push_neighbours(in, codes[i], reach);
        push_neighbours(in, codes[i] ^ sign, reach);
    }
}

static int compare_codes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_boundary(inputs *in, input_depth depth)
{
    const fpemu_format *to = &in->to;
    if (to->bits <= depth.every_bits)
        push_every_value(in, depth.reach);
    else
        push_binades(in, depth.per_binade, depth.reach);
    const double max = fpemu_format_max(to), lowest = fpemu_format_lowest(to), least = fpemu_format_min_positive(to);
    push_end(in, max, fpemu_format_next_down(to, max), depth.reach);
    push_end(in, lowest, fpemu_format_next_up(to, lowest), depth.reach);
    push_around(in, fpemu_format_min_normal(to), depth.reach);
    for (int i = 0; i <= 2; i++)
        push_around(in, ldexp(least, -i), depth.reach);
    push_specials(in, depth.reach);

    qsort(in->boundary, (size_t)in->count[INPUTS_BOUNDARY], sizeof *in->boundary, compare_codes);
    size_t kept = 0;
    for (size_t i = 0; i < in->count[INPUTS_BOUNDARY]; i++)
        if (kept == 0 || in->boundary[i] != in->boundary[kept - 1])
            in->boundary[kept++] = in->boundary[i];
    in->count[INPUTS_BOUNDARY] = kept;
}

/* ------------------------------------------------------------------------------------- coverage and random */

uint64_t inputs_random(uint64_t seed, unsigned stream, uint64_t i)
{
    return (uint64_t)fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, 2 * i) << 32 |
           fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, 2 * i + 1);
}

enum { PATTERNS = 6 };

/* Sign and exponent, some random leading bits of the mantissa, then a pattern: a value, a tie, or beside one. */
static uint64_t coverage_code(const inputs *in, uint64_t i)
{
    const unsigned m = in->from.mantissa_bits;
    const unsigned width = 1 + (unsigned)(i / PATTERNS % m); /* of the pattern */
    const uint64_t half = UINT64_C(1) << (width - 1), ones = 2 * half - 1;
    const uint64_t patterns[PATTERNS] = {0, 1, half - 1, half, half + 1, ones};
    const uint64_t leading = inputs_random(in->seed, 1, i) & ((UINT64_C(1) << m) - 1) & ~ones;
    return i / PATTERNS / m << m | leading | (patterns[i % PATTERNS] & ones);
}

static uint64_t random_code(const inputs *in, uint64_t i)
{
    const uint64_t r = inputs_random(in->seed, 0, i);
    if (i % 2 == 0)
        return r & in->mask;
    const int first = first_binade(in) - 2, last = last_binade(in) + 1;
    const int e = first + (int)((r & 0xffff) % (unsigned)(last - first + 1));
    const uint64_t more = inputs_random(in->seed, 3, i);
    const double x = ldexp(1 + (double)(more >> 12) * 0x1p-52, e);
    return fpemu_encode_one_f64(&in->from, &saturating, (r >> 16 & 1) != 0 && in->from.is_signed ? -x : x, 0);
}

/* ------------------------------------------------------------------------------------------------- outside */

inputs inputs_start(const fpemu_format *from, const fpemu_format *to, input_depth depth, uint64_t random, uint64_t seed)
{
    inputs in = {.from = *from, .to = *to, .seed = seed};
    in.mask = from->bits < 64 ? (UINT64_C(1) << from->bits) - 1 : UINT64_MAX;
    in.count[INPUTS_ALL] = from->bits < 64 ? in.mask + 1 : UINT64_MAX;
    in.count[INPUTS_RANDOM] = random;
    if (from->kind == FPEMU_KIND_FLOAT && from->mantissa_bits > 0)
        in.count[INPUTS_COVERAGE] = ((in.mask >> from->mantissa_bits) + 1) * from->mantissa_bits * PATTERNS;
    list_boundary(&in, depth);
    return in;
}

void inputs_end(inputs *in)
{
    free(in->boundary);
    in->boundary = NULL;
}

const char *inputs_stage_name(input_stage stage)
{
    static const char *const names[INPUT_STAGES] = {"boundary", "coverage", "random", "all"};
    return names[stage];
}

uint64_t inputs_code(const inputs *in, input_stage stage, uint64_t i)
{
    switch (stage) {
    case INPUTS_BOUNDARY: return in->boundary[i];
    case INPUTS_COVERAGE: return coverage_code(in, i);
    case INPUTS_RANDOM: return random_code(in, i);
    default: return i;
    }
}
