/* SPDX-License-Identifier: BSD-2-Clause */
/* dots.c - see operands.h: dot products. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/spec.h"
#include "common/shown.h"
#include "testing/inputs.h"
#include "testing/operands.h"

const char *const dots_names[DOTS_OPERANDS] = {"a", "b", "scale_a", "scale_b", "c"};

static uint64_t draw(const dots *t, unsigned stream, uint64_t i, uint64_t below)
{
    return inputs_random(t->seed, 20 + stream, i) % below;
}

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static int least(const fpemu_format *format)
{
    return ilogb(fpemu_format_min_positive(format));
}

static int most(const fpemu_format *format)
{
    return ilogb(fpemu_format_max(format));
}

/* An exponent that a product and the result can have. */
static int some_exponent(const dots *t, uint64_t i)
{
    const int low = least(&t->format[DOTS_A]) + least(&t->format[DOTS_B]);
    const int high = most(&t->format[DOTS_A]) + most(&t->format[DOTS_B]);
    const int first = clamp(least(&t->to), low, high), last = clamp(most(&t->to), low, high);
    return first + (int)draw(t, 0, i, (uint64_t)(last - first + 1));
}

/* Bits of the sum: a product so far below the largest is at its edge. */
static int width(const dots *t)
{
    const fpemu_accumulator *sum = &t->spec.sum;
    return sum->model == FPEMU_MODEL_FUSED     ? (int)sum->fraction_bits
           : sum->model == FPEMU_MODEL_INTEGER ? (int)sum->width
                                               : (int)sum->inner.format.mantissa_bits;
}

/* Makes product k as near to x as it comes, one of its operands a power of two; returns it. */
static double place(dots *t, size_t k, uint64_t i, double x)
{
    const fpemu_format *b = &t->format[DOTS_B];
    if (x == 0)
        return 0;
    const int half = ilogb(x) / 2 - 2 + (int)draw(t, 1, i, 5);
    const int high = ilogb(x) - least(&t->format[DOTS_A]), low = ilogb(x) - most(&t->format[DOTS_A]);
    const double by = inputs_fit(&t->format[DOTS_B], ldexp(1, clamp(clamp(half, low, high), least(b), most(b))));
    t->value[DOTS_A][k] = inputs_fit(&t->format[DOTS_A], x / by);
    t->value[DOTS_B][k] = by;
    return t->value[DOTS_A][k] * by;
}

/* Products, and at times c, that add up to y, as near as they come. */
static void aim(dots *t, uint64_t i, double y)
{
    const size_t n = t->count[DOTS_A], first = (size_t)draw(t, 2, i, n);
    double left = y;
    if (t->count[DOTS_C] > 0 && (n == 1 || draw(t, 3, i, 2) == 0)) {
        t->value[DOTS_C][0] = inputs_fit(&t->format[DOTS_C], y);
        left -= t->value[DOTS_C][0];
    }
    for (size_t k = 0; k < n; k++)
        left -= place(t, (first + k) % n, i * DOTS_LONGEST + k, left);
}

/* A number of the result, and the next one, at random. */
static void some_step(const dots *t, uint64_t i, double *low, double *high)
{
    const double x = ldexp(1 + (double)draw(t, 4, i, 1 << 20) * 0x1p-20, some_exponent(t, i));
    *high = fpemu_format_next_up(&t->to, fmin(x, fpemu_format_next_down(&t->to, fpemu_format_max(&t->to))));
    *low = fpemu_format_next_down(&t->to, *high);
}

/* --------------------------------------------------------------------------------------------------- cases
 *
 * Each starts from products +0 (0 times 1), scales 1 and c +0. `lane` goes through the products where a case is about
 * each of them, i counts its vectors. */

/* x y - x y + ..., and c a zero of either sign. */
static void cancel(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    for (size_t k = 0; k + 1 < t->count[DOTS_A]; k += 2) {
        place(t, k, i * DOTS_LONGEST + k, ldexp(1.5, some_exponent(t, i * DOTS_LONGEST + k)));
        t->value[DOTS_A][k + 1] = -t->value[DOTS_A][k];
        t->value[DOTS_B][k + 1] = t->value[DOTS_B][k];
    }
    t->value[DOTS_C][0] = i % 2 == 0 ? 0.0 : -0.0;
}

static void minus_zero(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    for (size_t k = 0; k < t->count[DOTS_A]; k++)
        t->value[i % 2 == 0 ? DOTS_A : DOTS_B][k] = i % 2 == 0 ? -0.0 : -1;
    t->value[DOTS_C][0] = i % 4 < 2 ? -0.0 : 0.0;
}

/* One product, or c, and another two bits within the width of the sum to two bits past it. */
static void align(dots *t, size_t lane, uint64_t i)
{
    const int e = some_exponent(t, i), far = width(t) - 2 + (int)(i % 5);
    const double large = ldexp(i % 2 == 0 ? 1 : 1.75, e), small = ldexp(i % 3 == 0 ? -1 : 1.5, e - far);
    const size_t n = t->count[DOTS_A];
    if (t->count[DOTS_C] > 0 && (n == 1 || i % 4 == 0))
        t->value[DOTS_C][0] = inputs_fit(&t->format[DOTS_C], large);
    else
        place(t, (lane + 1) % n, i, large);
    place(t, lane, i + 1, small);
}

static void tie(dots *t, size_t lane, uint64_t i)
{
    double low, high;
    (void)lane;
    some_step(t, i, &low, &high);
    aim(t, i, (i % 2 == 0 ? 1 : -1) * (low + (high - low) / 2));
}

/* A tie, and the smallest product beside it. */
static void sticky(dots *t, size_t lane, uint64_t i)
{
    tie(t, lane, i);
    t->value[DOTS_A][lane] = (i / 2 % 2 == 0 ? 1 : -1) * fpemu_format_min_positive(&t->format[DOTS_A]);
    t->value[DOTS_B][lane] = fpemu_format_min_positive(&t->format[DOTS_B]);
}

/* All ones and half a step: rounding carries into the next binade. */
static void carry(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    const double power = ldexp(1, some_exponent(t, i)), below = fpemu_format_next_down(&t->to, power);
    const double part = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 0.25 : 0.75;
    aim(t, i, (i % 2 == 0 ? 1 : -1) * (power - (power - below) * part));
}

static double subnormal_of(const dots *t, int operand, uint64_t i)
{
    const double step = fpemu_format_min_positive(&t->format[operand]);
    const double steps = fpemu_format_min_normal(&t->format[operand]) / step;
    return step * (1 + floor((double)draw(t, 5, i, 1 << 20) * 0x1p-20 * (steps > 1 ? steps - 1 : 1)));
}

static void subnormal_operands(dots *t, size_t lane, uint64_t i)
{
    t->value[DOTS_A][lane] = i % 3 != 1 ? subnormal_of(t, DOTS_A, i) : ldexp(1.5, most(&t->format[DOTS_A]) / 2);
    t->value[DOTS_B][lane] = i % 3 != 0 ? subnormal_of(t, DOTS_B, i) : ldexp(-1.5, most(&t->format[DOTS_B]) / 2);
    t->value[DOTS_C][0] = i % 4 == 0 ? subnormal_of(t, DOTS_C, i) : 0;
}

/* From a quarter of the smallest number up; and just below the smallest normal one, where tininess before rounding is
 * not that after it. */
static void subnormal_result(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    const double step = fpemu_format_min_positive(&t->to), steps = fpemu_format_min_normal(&t->to) / step;
    const double quarters = 1 + floor((double)draw(t, 6, i, 1 << 20) * 0x1p-20 * (steps < 1024 ? 4 * steps : 4096));
    aim(t, i, (i % 2 == 0 ? step : -step) * (i % 16 < 14 ? quarters / 4 : steps - 0.125));
}

/* `special` as any operand of a product, alone and beside the same with the other sign in the next product. */
static void put(dots *t, size_t lane, uint64_t i, double special)
{
    const int operand = (int)(i % DOTS_OPERANDS);
    const size_t n = t->count[operand], k = n > 0 ? lane % n : 0;
    for (size_t j = 0; j < t->count[DOTS_A]; j++)
        t->value[DOTS_A][j] = inputs_fit(&t->format[DOTS_A], j % 2 == 0 ? 1 : -2);
    t->value[operand][k] = i / DOTS_OPERANDS % 2 == 0 ? special : -special;
    if (i / DOTS_OPERANDS / 2 % 2 == 1 && operand <= DOTS_B) {
        if (i / DOTS_OPERANDS / 4 % 2 == 0)
            t->value[DOTS_A + DOTS_B - operand][k] = 0;
        else
            t->value[operand][(k + 1) % n] = special;
    }
}

/* Each of the others is at the edge of the sum, and all of one sign. */
static void one_large(dots *t, size_t lane, uint64_t i)
{
    const int e = some_exponent(t, i), far = width(t) - 1 + (int)(i % 3);
    for (size_t k = 0; k < t->count[DOTS_A]; k++)
        place(t, k, i, k == lane ? ldexp(i % 2 == 0 ? 1.5 : -1, e) : ldexp(i % 5 == 0 ? 1 : 1.5, e - far));
}

/* Around the largest number and half a step past it. */
static void overflow_result(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    const double max = fpemu_format_max(&t->to), step = max - fpemu_format_next_down(&t->to, max);
    const double past[] = {0, 0.25, 0.5, 0.75, 1, 2};
    aim(t, i, (i % 2 == 0 ? 1 : -1) * (max + step * past[i % 6]));
}

/* The largest products of one sign, then as many of the other. */
static void overflow_sum(dots *t, size_t lane, uint64_t i)
{
    const size_t n = t->count[DOTS_A];
    for (size_t k = 0; k < n; k++) {
        const bool first = (k + lane) % n < (n + 1) / 2;
        t->value[DOTS_A][k] = (first == (i % 2 == 0) ? 1 : -1) * fpemu_format_max(&t->format[DOTS_A]);
        t->value[DOTS_B][k] = fpemu_format_max(&t->format[DOTS_B]);
    }
    t->value[DOTS_C][0] = i % 4 < 2 ? 0 : fpemu_format_max(&t->format[DOTS_C]);
}

/* The scales of one block at their ends, by all pairs, and NaN. */
static void scale_ends(dots *t, size_t lane, uint64_t i)
{
    for (int s = DOTS_SCALES_A; s <= DOTS_SCALES_B; s++, i /= 6) {
        const fpemu_format *format = &t->format[s];
        const double ends[] = {fpemu_format_min_positive(format), fpemu_format_max(format), 1, 2, 0, (double)NAN};
        t->value[s][lane % t->count[s]] = ends[i % 6];
    }
    for (size_t k = 0; k < t->count[DOTS_A]; k++)
        place(t, k, i * DOTS_LONGEST + k, ldexp(k % 2 == 0 ? 1.5 : -1, (int)(k % 3)));
}

/* Any codes; or products and c about as large as one another. */
static void random_codes(dots *t, size_t lane, uint64_t i)
{
    (void)lane;
    const int e = some_exponent(t, i);
    for (int s = 0; s < DOTS_OPERANDS; s++) {
        for (size_t k = 0; k < t->count[s]; k++) {
            const uint64_t r = inputs_random(t->seed, 30 + (unsigned)s, i * DOTS_LONGEST + k);
            const int near = (s == DOTS_C ? e : s <= DOTS_B ? e / 2 : 0) + (int)(r & 7) - 4;
            const double x = ldexp(1 + (double)(r >> 12) * 0x1p-52, near);
            const bool negative = (r >> 3 & 1) != 0 && t->format[s].is_signed;
            t->value[s][k] = i % 2 == 0 ? fpemu_decode_one_f64(&t->format[s], r >> (64 - t->format[s].bits))
                                        : inputs_fit(&t->format[s], negative ? -x : x);
        }
    }
}

static const struct {
    const char *name;
    void (*fill)(dots *t, size_t lane, uint64_t i); /* NULL: `special` in each place */
    uint64_t vectors;                               /* of each lane at level 1; 0: as many random ones as asked for */
    bool lanes, scaled;
    double special;
} cases[] = {{"cancel", cancel, 8, false, false, 0},
             {"minus-zero", minus_zero, 4, false, false, 0},
             {"align", align, 20, true, false, 0},
             {"tie", tie, 32, false, false, 0},
             {"sticky", sticky, 8, true, false, 0},
             {"carry", carry, 24, false, false, 0},
             {"subnormal-operands", subnormal_operands, 12, true, false, 0},
             {"subnormal-result", subnormal_result, 32, false, false, 0},
             {"nan", NULL, 40, true, false, (double)NAN},
             {"infinity", NULL, 40, true, false, (double)INFINITY},
             {"zero", NULL, 20, true, false, 0},
             {"one-large", one_large, 6, true, false, 0},
             {"overflow-result", overflow_result, 24, false, false, 0},
             {"overflow-sum", overflow_sum, 4, true, false, 0},
             {"scale-ends", scale_ends, 36, true, true, 0},
             {"random", random_codes, 0, false, false, 0}};
enum { CASES = sizeof cases / sizeof *cases };

const char *dots_case(unsigned which)
{
    return which < CASES ? cases[which].name : NULL;
}

static size_t case_lanes(const dots *t, unsigned which)
{
    return !cases[which].lanes ? 1 : t->count[cases[which].scaled ? DOTS_SCALES_A : DOTS_A];
}

/* Sums of one product of matrices that are of the case: those on its diagonal, and beyond its end. */
static size_t sums_at_once(const dots *t)
{
    return t->rows > t->columns ? t->rows : t->columns;
}

uint64_t dots_count(const dots *t, unsigned which)
{
    const uint64_t sums =
        cases[which].vectors > 0 ? case_lanes(t, which) * cases[which].vectors * (t->level > 1 ? 4 : 1) : t->random;
    return (sums + sums_at_once(t) - 1) / sums_at_once(t);
}

/* The operands of sum i of a case. */
static void fill(dots *t, unsigned which, uint64_t i)
{
    const size_t lanes = case_lanes(t, which);
    for (int s = 0; s < DOTS_OPERANDS; s++)
        for (size_t k = 0; k < t->count[s] || k == 0; k++)
            t->value[s][k] = s == DOTS_A || s == DOTS_C ? 0 : 1;
    if (cases[which].fill != NULL)
        cases[which].fill(t, (size_t)(i % lanes), i / lanes);
    else
        put(t, (size_t)(i % lanes), i / lanes, cases[which].special);
}

/* The model rounds the operand before it multiplies. */
static bool is_changed(const dots *t, int operand, uint64_t code)
{
    const fpemu_format *inside = operand == DOTS_A ? &t->spec.a.format : &t->spec.b.format;
    const double x = operand <= DOTS_B ? fpemu_decode_one_f64(&t->format[operand], code) : 0;
    return operand <= DOTS_B && inside->kind != FPEMU_KIND_INVALID && isfinite(x) &&
           !fpemu_format_represents(inside, x);
}

void dots_codes(dots *t, unsigned which, uint64_t i, uint64_t *codes)
{
    const size_t sums = sums_at_once(t);
    for (size_t p = 0; p < sums; p++) {
        uint64_t *to = codes;
        fill(t, which, i * sums + p);
        for (int s = 0; s < DOTS_OPERANDS; to += t->all[s++]) {
            const bool down = s == DOTS_B || s == DOTS_SCALES_B;
            const size_t n = s == DOTS_C ? t->columns * t->count[s] : t->count[s];
            for (size_t k = 0; k < n && p < (down ? t->columns : t->rows); k++) {
                const uint64_t code = inputs_nearest(&t->format[s], t->value[s][s == DOTS_C ? 0 : k]);
                to[s == DOTS_B ? k * t->columns + p : p * n + k] = code;
                t->changed += is_changed(t, s, code);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------- outside */

static void read_model(dots *t, const char *text)
{
    fpemu_parse_error error;
    char cut[SHOWN_SIZE];
    if (fpemu_gemm_parse(text, &t->spec, &error) != FPEMU_OK) {
        cli_usage("--model: '%s', character %u: %s", shown(text, error.position, cut), (unsigned)error.position + 1,
                  error.message);
    }
    if (t->spec.out.format.kind != FPEMU_KIND_INVALID)
        cli_usage("--model: SPEC is the format of the result, -r its rounding: leave 'out=' away");
    cli_check(fpemu_gemm_print(&t->spec, t->text, sizeof t->text), "--model");
    const fpemu_target *const target[] = {&t->spec.a, &t->spec.b, &t->spec.product, &t->spec.sum.inner,
                                          &t->spec.sum.outer};
    for (size_t i = 0; i < sizeof target / sizeof *target; i++)
        if (FPEMU_MODE_DRAWS(target[i]->rounding.mode))
            cli_usage("--model: stochastic rounding has no one result");
}

static void read_shape(dots *t, const char *text, size_t *length)
{
    unsigned size[3];
    int used = 0;
    if (sscanf(text, "%3ux%3ux%3u%n", &size[0], &size[1], &size[2], &used) != 3 || text[used] != '\0' || size[0] < 1 ||
        size[0] > DOTS_WIDEST || size[1] < 1 || size[1] > DOTS_WIDEST || size[2] < 1 || size[2] > DOTS_LONGEST)
        cli_usage("--shape: '%s' is not MxNxK, such as 2x2x4, M and N up to %d, K up to %d", text, DOTS_WIDEST,
                  DOTS_LONGEST);
    t->rows = size[0];
    t->columns = size[1];
    *length = size[2];
}

/* Scales inside the steps of a model are of its own format. */
static void check_inside(const dots *t)
{
    const fpemu_format *own = &t->spec.sum.outer.format;
    char name[CLI_SPEC_SIZE];
    if (t->spec.sum.group > 0 && !fpemu_format_equal(own, &t->format[DOTS_SCALES_A])) {
        cli_spec(own, name);
        cli_usage("--scales: those of '%s' are %s", t->text, name);
    }
}

dots dots_start(const dots_request *q, const fpemu_format *to)
{
    static const operation what = {.name = "dot", .operands = 3};
    fpemu_format from[OPERATION_MOST];
    dots t = {.to = *to, .seed = q->seed, .random = q->random, .level = q->level, .rows = 1, .columns = 1};
    size_t length = q->length > 0 ? (size_t)q->length : 4;
    const bool matrices = strcmp(q->operation, "gemm") == 0;
    if (matrices && q->length > 0)
        cli_usage("--length is for --op dot and formats with scales; gemm takes --shape");
    if (!matrices && q->shape != NULL)
        cli_usage("--shape is for --op gemm");
    if (q->model == NULL)
        cli_usage("--op dot and gemm need --model MODEL, as in --model 'tc(h100,e4m3fn)'");
    read_model(&t, q->model);
    if (matrices)
        read_shape(&t, q->shape != NULL ? q->shape : "2x2x4", &length);
    t.format[DOTS_A] = t.spec.a.format.kind != FPEMU_KIND_INVALID ? t.spec.a.format : *to;
    t.format[DOTS_B] = t.spec.b.format.kind != FPEMU_KIND_INVALID ? t.spec.b.format : *to;
    t.format[DOTS_C] = *to;
    const int formats = q->from != NULL ? operands_read_formats(&what, 2, q->from, from) : 0;
    for (int k = 0; k < 2 && formats > 0; k++)
        t.format[DOTS_A + k] = from[k];
    if (formats == 3)
        t.format[DOTS_C] = from[2];
    t.count[DOTS_A] = t.count[DOTS_B] = length;
    t.count[DOTS_C] = t.spec.start_from_c || formats == 3;
    if (q->scales != NULL) {
        if (t.spec.sum.chunk == 0)
            cli_usage("--scales: the model has no blocks: chunk(LENGTH,...), or promote=LENGTH, gives their length");
        t.format[DOTS_SCALES_A] = t.format[DOTS_SCALES_B] = cli_format(q->scales);
        cli_check_use(&t.format[DOTS_SCALES_A], &(fpemu_rounding){0}, false, FPEMU_USE_ENCODE, "--scales");
        check_inside(&t);
        t.count[DOTS_SCALES_A] = t.count[DOTS_SCALES_B] = (length - 1) / t.spec.sum.chunk + 1;
    }
    for (int s = 0; s < DOTS_OPERANDS; s++) {
        const bool down = s == DOTS_B || s == DOTS_SCALES_B;
        t.all[s] = t.count[s] * (s == DOTS_C ? t.rows * t.columns : down ? t.columns : t.rows);
        t.value[s] = cli_allocate(DOTS_LONGEST * DOTS_WIDEST, sizeof(double));
    }
    t.spec.out.format = *to;
    cli_check(fpemu_format_named(FPEMU_NAME_BINARY64, &t.wide), "fp64");
    return t;
}

void dots_check(const dots *t, const fpemu_rounding *rounding)
{
    fpemu_gemm_spec spec = t->spec;
    fpemu_why why;
    spec.out.rounding = *rounding;
    if (fpemu_gemm_check(&spec, FPEMU_TYPE_F64, &why) != FPEMU_OK)
        cli_fail("%s: %s", t->text, why.message);
}

void dots_end(dots *t)
{
    if (t->changed > 0)
        cli_warn("%" PRIu64
                 " operands are no numbers of the model's own formats, and rounded to them first: --from can "
                 "be left away, or ab= behind the model",
                 t->changed);
    for (int s = 0; s < DOTS_OPERANDS; s++)
        free(t->value[s]);
}

static void decode(dots *t, const uint64_t *codes)
{
    for (int s = 0; s < DOTS_OPERANDS; s++)
        for (size_t k = 0; k < t->all[s]; k++)
            t->value[s][k] = fpemu_decode_one_f64(&t->format[s], *codes++);
}

void dots_run(dots *t, const fpemu_rounding *rounding, const uint64_t *codes, double *y, fpemu_stats *stats)
{
    const fpemu_gemm_shape shape = {.m = t->rows, .n = t->columns, .k = t->count[DOTS_A]};
    const bool scaled = t->count[DOTS_SCALES_A] > 0;
    decode(t, codes);
    memcpy(y, t->value[DOTS_C], t->all[DOTS_C] * sizeof *y);
    fpemu_gemm_spec spec = t->spec;
    spec.out.format = rounding != NULL ? t->to : t->wide;
    spec.out.rounding = rounding != NULL ? *rounding : (fpemu_rounding){.mode = FPEMU_MODE_RTO};
    cli_check(fpemu_gemm_scaled(&spec, &shape, FPEMU_TYPE_F64, 1, t->value[DOTS_A],
                                scaled ? t->value[DOTS_SCALES_A] : NULL, t->value[DOTS_B],
                                scaled ? t->value[DOTS_SCALES_B] : NULL, t->count[DOTS_C] > 0 ? 1 : 0, y, stats),
              "--op dot");
}

/* Products and sums with what their roundings lose [Ogita, Rump, Oishi 2005, Dot2]. */
void dots_exact(dots *t, const uint64_t *codes, double *y, double *size)
{
    const size_t length = t->count[DOTS_A];
    decode(t, codes);
    for (size_t i = 0; i < t->rows * t->columns; i++) {
        double sum = t->count[DOTS_C] > 0 ? t->value[DOTS_C][i] : 0, lost = 0;
        size[i] = fabs(sum);
        for (size_t k = 0; k < length; k++) {
            const double a = t->value[DOTS_A][i / t->columns * length + k];
            const double b = t->value[DOTS_B][k * t->columns + i % t->columns];
            const double product = a * b, next = sum + product, part = next - sum;
            lost += fma(a, b, -product) + ((sum - (next - part)) + (product - part));
            sum = next;
            size[i] += fabs(product);
        }
        y[i] = sum + lost;
    }
}
