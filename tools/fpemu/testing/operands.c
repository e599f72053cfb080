/* SPDX-License-Identifier: BSD-2-Clause */
/* operands.c - see operands.h */
#include "testing/operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/error.h"

static const fpemu_rounding saturating = {.mode = FPEMU_MODE_RNE, .overflow = FPEMU_OVERFLOW_SATURATE};

static uint64_t mask(const fpemu_format *format)
{
    return UINT64_MAX >> (64 - format->bits);
}

static uint64_t code_of(const operands *t, int k, double x)
{
    return fpemu_encode_one_f64(&t->from[k], &saturating, x, 0);
}

/* x as operand k can have it. */
static double fit(const operands *t, int k, double x)
{
    return fpemu_decode_one_f64(&t->from[k], code_of(t, k, x));
}

/* ------------------------------------------------------------------------------------------------- formats */

/* Where the spec at the front of a list ends; commas within parentheses are its own. */
static const char *spec_end(const char *list)
{
    int depth = 0;
    for (; *list != '\0' && (*list != ',' || depth > 0); list++)
        depth += (*list == '(') - (*list == ')');
    return list;
}

int operands_read_formats(const operation *what, int least, const char *list, fpemu_format from[OPERATION_MOST])
{
    int count = 0;
    for (const char *rest = list, *end = list; count == 0 || *end != '\0'; rest = end + 1) {
        char spec[CLI_SPEC_SIZE];
        end = spec_end(rest);
        if (snprintf(spec, sizeof spec, "%.*s", (int)(end - rest), rest) >= (int)sizeof spec)
            cli_usage("--from: a spec of more than %d characters", CLI_SPEC_SIZE - 1);
        const fpemu_format format = cli_format(strcmp(spec, "f32") == 0   ? "fp32"
                                               : strcmp(spec, "f64") == 0 ? "fp64"
                                                                          : spec);
        cli_check_use(&format, &(fpemu_rounding){0}, true, FPEMU_USE_ENCODE, "--from");
        for (int k = count++; k < what->operands; k++)
            from[k] = format;
    }
    if (count != 1 && (count < least || count > what->operands)) {
        cli_usage("--from: %d formats, but %s has %d operand%s: name one for all, or one for each", count, what->name,
                  what->operands, what->operands > 1 ? "s" : "");
    }
    return count;
}

const char *operands_print_formats(const operation *what, const fpemu_format from[OPERATION_MOST],
                                   char text[OPERANDS_FORMATS_SIZE])
{
    char spec[CLI_SPEC_SIZE];
    bool same = true;
    size_t used = (size_t)snprintf(text, OPERANDS_FORMATS_SIZE, "%s", cli_spec(&from[0], spec));
    for (int k = 1; k < what->operands; k++)
        same = same && memcmp(&from[k], &from[0], sizeof *from) == 0;
    for (int k = 1; !same && k < what->operands; k++)
        used += (size_t)snprintf(text + used, OPERANDS_FORMATS_SIZE - used, ",%s", cli_spec(&from[k], spec));
    return text;
}

unsigned operands_bits(const operation *what, const fpemu_format from[OPERATION_MOST])
{
    unsigned bits = 0;
    for (int k = 0; k < what->operands; k++)
        bits += from[k].bits;
    return bits;
}

/* ------------------------------------------------------------------------------------------------ boundary */

static void push(operands *t, int k, uint64_t code)
{
    for (size_t i = 0; i < t->edge_count[k]; i++)
        if (t->edges[k][i] == code)
            return;
    if (t->edge_count[k] < OPERANDS_EDGES)
        t->edges[k][t->edge_count[k]++] = code;
}

static void push_value(operands *t, int k, double x)
{
    if (isfinite(x)) {
        push(t, k, code_of(t, k, x));
        if (t->from[k].is_signed)
            push(t, k, code_of(t, k, -x));
    }
}

/* Zeros, infinities, NaNs, one, the ends of both formats; with their neighbours where there is a reach of 2. */
static void list_edges(operands *t, int k, const fpemu_format *to, unsigned reach)
{
    const fpemu_format *from = &t->from[k];
    const uint64_t sign = (mask(from) >> 1) + 1;
    push(t, k, 0);
    push(t, k, from->is_signed ? sign : 0);
    push(t, k, from->has_nan ? from->nan_code : 0);
    push(t, k, fpemu_encode_one_f64(from, &(fpemu_rounding){0}, (double)INFINITY, 0));
    push(t, k, fpemu_encode_one_f64(from, &(fpemu_rounding){0}, -(double)INFINITY, 0));
    push(t, k, mask(from));
    const double ends[] = {fpemu_format_max(from), fpemu_format_min_positive(from), fpemu_format_min_normal(from), 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        push_value(t, k, ends[i]);
    push(t, k, from->lowest_code);
    if (reach < 2)
        return;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        push_value(t, k, fpemu_format_next_up(from, ends[i]));
        push_value(t, k, fpemu_format_next_down(from, ends[i]));
    }
    const double max = fpemu_format_max(to), least = fpemu_format_min_positive(to);
    const double half_step = (max - fpemu_format_next_down(to, max)) / 2;
    const double others[] = {max, half_step, least,     least / 2,  fpemu_format_min_normal(to),
                             2,   3,         sqrt(max), sqrt(least)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        push_value(t, k, others[i]);
}

static void boundary_codes(const operands *t, uint64_t i, uint64_t codes[OPERATION_MOST])
{
    for (int k = t->what->operands - 1; k >= 0; k--) {
        codes[k] = t->edges[k][i % t->edge_count[k]];
        i /= t->edge_count[k];
    }
}

/* ------------------------------------------------------------------------------------------------ coverage */

/* A number of few bits, or of any, with exponent e; of either sign, where operand k has one. */
static double some_number(const operands *t, int k, unsigned stream, uint64_t i, int e)
{
    const uint64_t r = inputs_random(t->seed, stream, i);
    const double few = 1 + (double)(r & 7) / 8, any = 1 + (double)(r >> 12) * 0x1p-52;
    const double x = ldexp((r >> 3 & 1) != 0 ? few : any, e);
    return (r >> 4 & 1) != 0 && t->from[k].is_signed ? -x : x;
}

/* An exponent within `reach` of e. */
static int near_exponent(const operands *t, unsigned stream, uint64_t i, int e, int reach)
{
    return e - reach + (int)(fpemu_random_word(FPEMU_GENERATOR_HASH, t->seed, stream, i) % (unsigned)(2 * reach + 1));
}

enum { AIMS = 3 }; /* ways to aim at a result */

/* Operands whose exact result is y, but for the rounding of `*last` to the format of the operands. */
static int aim(const operands *t, uint64_t i, unsigned way, double y, double x[OPERATION_MOST])
{
    const int e = y != 0 && isfinite(y) ? ilogb(y) : 0;
    const bool fma = t->what->code == FPEMU_OPERATION_FMA;
    const int term = fma ? 2 : 0, by = t->what->code == FPEMU_OPERATION_DIV || (fma && way == 0);
    const fpemu_format *from = &t->from[term];
    const int digits = from->kind == FPEMU_KIND_FLOAT ? (int)from->mantissa_bits + 2 : (int)from->bits;
    const double near = fit(t, term, y); /* what is left to y is half a step, or less, or nothing */
    const double a = way == 0 ? near : some_number(t, term, 4, i, near_exponent(t, 5, i, e, way == 1 ? 1 : digits));
    const double factor = fit(t, by, some_number(t, by, 6, i, near_exponent(t, 7, i, e / 2, 3)));
    x[0] = fit(t, 0, a);
    switch (t->what->code) {
    case FPEMU_OPERATION_ADD: x[1] = y - x[0]; return 1;
    case FPEMU_OPERATION_SUB: x[1] = x[0] - y; return 1;
    case FPEMU_OPERATION_MUL:
        x[0] = factor;
        x[1] = y / factor;
        return 1;
    case FPEMU_OPERATION_DIV:
        x[1] = factor;
        x[0] = y * factor;
        return 0;
    case FPEMU_OPERATION_SQRT: x[0] = y * y; return 0;
    case FPEMU_OPERATION_FMA:
        if (way == 0) { /* y less its neighbour, as a product */
            x[2] = near;
            x[1] = factor;
            x[0] = (y - near) / factor;
            return 0;
        }
        x[0] = factor;
        x[1] = fit(t, 1, a / factor);
        x[2] = y - x[0] * x[1];
        return 2;
    default:
        x[0] = near;
        x[1] = a;
        return 1;
    }
}

/* By turns: every result to aim at, in every way, with the neighbours of the operand that was fitted. */
static void coverage_codes(const operands *t, uint64_t i, uint64_t codes[OPERATION_MOST])
{
    const uint64_t around = 2 * (uint64_t)t->reach + 1, targets = t->in.count[INPUTS_BOUNDARY];
    const uint64_t bits = inputs_code(&t->in, INPUTS_BOUNDARY, i % targets);
    const uint64_t step = i / targets % around, way = i / targets / around;
    double y, x[OPERATION_MOST] = {0, 0, 0};
    memcpy(&y, &bits, sizeof y);
    const int fitted = aim(t, way * targets + i % targets, (unsigned)way, y, x);
    for (int k = 0; k < t->what->operands; k++)
        codes[k] = code_of(t, k, x[k]);
    codes[fitted] = (codes[fitted] + step - t->reach) & mask(&t->from[fitted]);
}

/* -------------------------------------------------------------------------------------------------- random */

/* Any codes; or numbers about as large as one another, near a random result. */
static void random_codes(const operands *t, uint64_t i, uint64_t codes[OPERATION_MOST])
{
    const uint64_t any = inputs_code(&t->in, INPUTS_RANDOM, i);
    double y;
    memcpy(&y, &any, sizeof y);
    for (int k = 0; k < t->what->operands; k++) {
        const uint64_t place = i * OPERATION_MOST + (uint64_t)k;
        if (i % 2 == 0 || y == 0 || !isfinite(y)) {
            codes[k] = inputs_random(t->seed, 8, place) & mask(&t->from[k]);
            continue;
        }
        const bool product = t->what->code == FPEMU_OPERATION_MUL || (t->what->code == FPEMU_OPERATION_FMA && k < 2);
        const int e = t->what->code == FPEMU_OPERATION_SQRT ? 2 * ilogb(y) : product ? ilogb(y) / 2 : ilogb(y);
        codes[k] = code_of(t, k, some_number(t, k, 9, place, near_exponent(t, 10, place, e, 4)));
    }
}

/* ------------------------------------------------------------------------------------------------- outside */

operands operands_start(const operation *what, const fpemu_format from[OPERATION_MOST], const fpemu_format *to,
                        input_depth depth, uint64_t random, uint64_t seed)
{
    operands t = {.what = what, .seed = seed, .bits = operands_bits(what, from), .reach = depth.reach};
    memcpy(t.from, from, sizeof t.from);
    if (what->converts) {
        t.in = inputs_start(&from[0], to, depth, random, seed);
        memcpy(t.count, t.in.count, sizeof t.count);
        return t;
    }
    fpemu_format binary64;
    cli_check(fpemu_format_named(FPEMU_NAME_BINARY64, &binary64), "fp64");
    const input_depth results = {depth.every_bits < 12 ? depth.every_bits : 12, depth.per_binade, 0};
    t.in = inputs_start(&binary64, to, results, random, seed);
    t.count[INPUTS_BOUNDARY] = 1;
    for (int k = 0; k < what->operands; k++) {
        list_edges(&t, k, to, depth.reach);
        t.count[INPUTS_BOUNDARY] *= t.edge_count[k];
    }
    t.count[INPUTS_COVERAGE] = t.in.count[INPUTS_BOUNDARY] * AIMS * (2 * depth.reach + 1);
    t.count[INPUTS_RANDOM] = random;
    t.count[INPUTS_ALL] = t.bits < 64 ? UINT64_C(1) << t.bits : UINT64_MAX;
    return t;
}

void operands_end(operands *t)
{
    inputs_end(&t->in);
}

void operands_codes(const operands *t, input_stage stage, uint64_t i, uint64_t codes[OPERATION_MOST])
{
    memset(codes, 0, OPERATION_MOST * sizeof *codes);
    if (t->what->converts) {
        codes[0] = inputs_code(&t->in, stage, i);
        return;
    }
    switch (stage) {
    case INPUTS_BOUNDARY: boundary_codes(t, i, codes); break;
    case INPUTS_COVERAGE: coverage_codes(t, i, codes); break;
    case INPUTS_RANDOM: random_codes(t, i, codes); break;
    default:
        for (int k = t->what->operands - 1; k >= 0; k--) {
            codes[k] = i & mask(&t->from[k]);
            i = t->from[k].bits < 64 ? i >> t->from[k].bits : 0;
        }
    }
}
