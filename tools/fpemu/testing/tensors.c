/* SPDX-License-Identifier: BSD-2-Clause */
/* tensors.c - see search.h: differences in formats with scales. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/progress.h"
#include "testing/difference.h"

enum { TENSORS_ROWS = 3, TENSORS_LONGEST = 1152, TENSORS_LONGEST_BLOCK = 128, TENSORS_SHOWN = 3 };

/* What differs, */
typedef enum tensors_part { TENSORS_SCALE_OF_ALL, TENSORS_SCALE, TENSORS_ELEMENT, TENSORS_STRAY } tensors_part;
/* and what is special about the block. */
typedef enum tensors_kind {
    TENSORS_NAN,
    TENSORS_INFINITY,
    TENSORS_ZERO,      /* nothing else */
    TENSORS_SHORT,     /* the last block, with fewer elements than others */
    TENSORS_POWER,     /* the largest magnitude is a power of two */
    TENSORS_LIMIT,     /* the scale is the smallest or the largest that there is */
    TENSORS_SUBNORMAL, /* all elements, in the function's own type */
    TENSORS_OTHER,
    TENSORS_SIGNS, /* of zeros */
    TENSORS_KINDS
} tensors_kind;

typedef struct tensors {
    trial trial;
    uint64_t seed;
    size_t block;      /* elements of a block; the tensor is shorter where that is longer */
    size_t rows, line; /* of the tensors at work, and the elements of a row, along which blocks are; */
    size_t length;     /* of all rows */
    bool down;         /* the tested code has columns in place of rows */
    fpemu_shape shape;
    fpemu_format scale;
    double *x;         /* a batch of tensors, */
    uint8_t *expected; /* and its results */
} tensors;

static fpemu_type type_of(const tensors *t)
{
    return t->trial.s->other.signature.in == EXTERNAL_F32 ? FPEMU_TYPE_F32 : FPEMU_TYPE_F64;
}

static bool is_binary32(const tensors *t)
{
    return t->trial.s->other.signature.in == EXTERNAL_F32;
}

/* ------------------------------------------------------------------------------------------------- tensors */

/* Row i of all: of the cases of vectors by turns, every other a random one. */
static void fill(tensors *t, blocks *cases, uint64_t i, double *x)
{
    uint64_t codes[BLOCKS_LONGEST];
    const unsigned turn = (unsigned)(i % (2 * BLOCKS_RANDOM)), which = turn < BLOCKS_RANDOM ? turn : BLOCKS_RANDOM;
    blocks_codes(cases, which, which < BLOCKS_RANDOM ? i / (2 * BLOCKS_RANDOM) : i, codes);
    /* Where scales stand below one of the tensor, the last block is smaller than others by turns. */
    const uint64_t less = cases->part && i % 3 == 0 ? inputs_random(t->seed, 54, i) % 24 : 0;
    for (size_t k = 0; k < t->line; k++) {
        const double one = fpemu_decode_one_f64(&cases->other, codes[k]);
        x[k] = k / t->block == (t->line - 1) / t->block ? inputs_fit(&cases->other, ldexp(one, -(int)less)) : one;
    }
}

/* Rows of the lengths of a block, and of others. */
static size_t line_of(const tensors *t, uint64_t batch)
{
    const size_t lengths[] = {t->block,    2 * t->block + t->block / 2 + 1, t->block - 1, 1, t->block + 1, t->block,
                              3 * t->block};
    const size_t n = lengths[batch % (sizeof lengths / sizeof *lengths)];
    return n > 0 ? n : 1;
}

/* -------------------------------------------------------------------------------------------------- results */

/* Where the tested code has element k. */
static size_t place_of(const tensors *t, size_t k)
{
    return t->down ? k % t->line * t->rows + k / t->line : k;
}

/* Bytes of a result. */
static size_t result_bytes(const tensors *t)
{
    return t->trial.s->other.results * signature_size(t->trial.s->other.signature.out);
}

/* What the library makes of a tensor; of a NaN that has no code a zero is made first. */
static void expect(const tensors *t, double *x, void *to)
{
    double carrier[TENSORS_LONGEST];
    const search *s = t->trial.s;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (size_t k = 0; k < t->length; k++)
            difference_store(s->other.signature.in, carrier, k, x[k]);
        const fpemu_status status =
            s->other.signature.bytes
                ? fpemu_pack(&s->format, &s->rounding, type_of(t), &t->shape, carrier, to, NULL)
                : fpemu_quantize_tensor(&s->format, &s->rounding, type_of(t), &t->shape, carrier, to, NULL);
        if (status != FPEMU_ERROR_NAN) {
            cli_check_call(status, &s->format, &s->rounding, !is_binary32(t),
                           s->other.signature.bytes ? FPEMU_USE_PACK : FPEMU_USE_QUANTIZE, s->spec);
            return;
        }
        for (size_t k = 0; k < t->length; k++)
            x[k] = isfinite(x[k]) ? x[k] : 0;
    }
    cli_fail("%s: no result for a tensor without NaN", s->spec);
}

/* ---------------------------------------------------------------------------------------------- comparison */

/* The class to be filled in, where this is the simplest example: few elements other than zero, or few elements, or
 * numbers near 1. */
static outcome *take(tensors *t, int order, const char *part, const char *kind, const double *x)
{
    double amax = 0, rank[OUTCOME_RANKS] = {0, (double)t->length};
    for (size_t k = 0; k < t->length; k++) {
        rank[0] += x[k] != 0;
        amax = isfinite(x[k]) ? fmax(amax, fabs(x[k])) : amax;
    }
    rank[2] = amax > 0 ? abs(ilogb(amax)) : 0;
    outcome *o = outcome_take(t->trial.s, order, part, kind, rank);
    size_t used = 0, told = 0;
    for (size_t k = 0; o != NULL && k < t->length && told < TENSORS_SHOWN; k++) {
        char value[NUMBER_SIZE];
        if (x[k] != 0 && ++told > 0)
            used += (size_t)snprintf(o->input + used, sizeof o->input - used, "x[%zu] = %s, ", place_of(t, k),
                                     number_print(value, x[k]));
    }
    if (o != NULL && (double)told < rank[0])
        snprintf(o->input + used, sizeof o->input - used, "and %g more, of %zu elements", rank[0] - (double)told,
                 t->length);
    else if (o != NULL)
        snprintf(o->input + used, sizeof o->input - used, "0 %s, %zu element%s", told > 0 ? "elsewhere" : "everywhere",
                 t->length, t->length > 1 ? "s" : "");
    return o;
}

static tensors_kind kind_of(const tensors *t, const double *x, size_t size, double scale)
{
    double amax = 0;
    bool nan = false, infinite = false;
    int e;
    for (size_t k = 0; k < size; k++) {
        nan = nan || isnan(x[k]);
        infinite = infinite || isinf(x[k]);
        amax = fmax(amax, fabs(x[k]));
    }
    return nan                      ? TENSORS_NAN
           : infinite               ? TENSORS_INFINITY
           : amax == 0              ? TENSORS_ZERO
           : size < t->block        ? TENSORS_SHORT
           : frexp(amax, &e) == 0.5 ? TENSORS_POWER
           : t->scale.kind != FPEMU_KIND_INVALID &&
                   (scale <= fpemu_format_min_positive(&t->scale) || scale >= fpemu_format_max(&t->scale))
               ? TENSORS_LIMIT
           : amax < (is_binary32(t) ? (double)FLT_MIN : DBL_MIN) ? TENSORS_SUBNORMAL
                                                                 : TENSORS_OTHER;
}

static double scale_at(const tensors *t, uint64_t block, const uint8_t *bytes)
{
    float scale = 1;
    return fpemu_unpack_scales(&t->trial.s->format, FPEMU_TYPE_F32, &t->shape, block, 1, bytes, &scale) == FPEMU_OK
               ? (double)scale
               : 1;
}

static void put_down(tensors *t, tensors_part part, tensors_kind kind, const double *x, size_t place, number expected,
                     number got)
{
    static const char *const parts[] = {"tensor-scale", "scale", "element", "stray-bits"};
    static const char *const kinds[] = {"nan",   "infinity",  "zero",   "short-block", "power-of-two",
                                        "limit", "subnormal", "normal", "signed-zero"};
    char value[NUMBER_SIZE];
    outcome *o = take(t, (int)part * TENSORS_KINDS + (int)kind, parts[part], kinds[kind], x);
    if (o == NULL)
        return;
    snprintf(o->expected, sizeof o->expected, "[%zu] %s (0x%" PRIx64 ")", place, number_print(value, expected.value),
             expected.code);
    snprintf(o->got, sizeof o->got, "%s (0x%" PRIx64 ")", number_print(value, got.value), got.code);
}

/* Only signs differ, which is told of a block where nothing else does. */
static bool are_zeros(number a, number b)
{
    return a.value == 0 && b.value == 0;
}

/* A block of packed bytes: its scale, else the first element. Where both scales are NaN, elements mean nothing. */
static bool compare_codes(tensors *t, const double *x, uint64_t block, const uint8_t *expected, const uint8_t *got)
{
    const search *s = t->trial.s;
    fpemu_layout layout;
    fpemu_extent extent;
    cli_check(fpemu_packed_layout(&s->format, &t->shape, &layout), s->spec);
    cli_check(fpemu_packed_extent(&s->format, &t->shape, block, &extent), s->spec);
    const double *own = x + extent.first;
    const unsigned wide = 8 * (unsigned)layout.scale_bytes;
    const number scale = {scale_at(t, block, expected), blocks_bits(expected, 8 * extent.scale, wide)};
    const number other = {scale_at(t, block, got), blocks_bits(got, 8 * extent.scale, wide)};
    const tensors_kind kind = kind_of(t, own, (size_t)extent.elements, scale.value);
    if (scale.code != other.code && (s->strict_nan || !isnan(scale.value) || !isnan(other.value))) {
        put_down(t, TENSORS_SCALE, kind, x, (size_t)block, scale, other);
        return true;
    }
    if (isnan(scale.value) && !s->strict_nan)
        return true;
    double values[2][TENSORS_LONGEST];
    cli_check(fpemu_unpack_blocks(&s->format, FPEMU_TYPE_F64, &t->shape, block, 1, expected, values[0]), s->spec);
    cli_check(fpemu_unpack_blocks(&s->format, FPEMU_TYPE_F64, &t->shape, block, 1, got, values[1]), s->spec);
    for (size_t i = 0; i < 2 * extent.elements; i++) {
        const size_t k = i % extent.elements;
        const bool zeros = i >= extent.elements;
        const uint64_t bit = 8 * extent.offset + k * layout.element_bits;
        const number a = {values[0][k], blocks_bits(expected, bit, (unsigned)layout.element_bits)};
        const number b = {values[1][k], blocks_bits(got, bit, (unsigned)layout.element_bits)};
        if (!difference_same(s, a, b) && are_zeros(a, b) == zeros) {
            put_down(t, TENSORS_ELEMENT, zeros ? TENSORS_SIGNS : kind, x, (size_t)extent.first + k, a, b);
            return true;
        }
    }
    return false;
}

static void compare_bytes(tensors *t, const double *x, const uint8_t *expected, const uint8_t *got)
{
    fpemu_layout layout;
    cli_check(fpemu_packed_layout(&t->trial.s->format, &t->shape, &layout), t->trial.s->spec);
    for (unsigned i = 0; i < layout.tensor_bytes / 4; i++) {
        const number a =
            difference_number(EXTERNAL_F32, NULL, blocks_bits(expected, 8 * layout.tensor_offset + 32 * i, 32));
        const number b = difference_number(EXTERNAL_F32, NULL, blocks_bits(got, 8 * layout.tensor_offset + 32 * i, 32));
        if (!difference_same(t->trial.s, a, b)) {
            put_down(t, TENSORS_SCALE_OF_ALL, kind_of(t, x, t->length, 1), x, i, a, b);
            return;
        }
    }
    bool told = false;
    for (uint64_t block = 0; block < layout.blocks; block++)
        told |= compare_codes(t, x, block, expected, got);
    for (size_t i = 0; !told && i < layout.bytes; i++)
        if (expected[i] != got[i])
            put_down(t, TENSORS_STRAY, TENSORS_OTHER, x, i, (number){expected[i], expected[i]},
                     (number){got[i], got[i]});
}

/* The first element of each block that differs. */
static void compare_values(tensors *t, const double *x, const void *expected, const void *got)
{
    const external_type type = t->trial.s->other.signature.out;
    for (size_t first = 0, end; first < t->length; first = end) {
        const size_t left = t->line - first % t->line;
        end = first + (left < t->block ? left : t->block);
        for (size_t i = 0; i < 2 * (end - first); i++) {
            const size_t k = first + i % (end - first);
            const bool zeros = i >= end - first;
            const number a = difference_number(type, NULL, number_load_code(expected, signature_size(type), k));
            const number b = difference_number(type, NULL, number_load_code(got, signature_size(type), place_of(t, k)));
            if (!difference_same(t->trial.s, a, b) && are_zeros(a, b) == zeros) {
                const tensors_kind kind = zeros ? TENSORS_SIGNS : kind_of(t, x + first, end - first, 1);
                put_down(t, TENSORS_ELEMENT, kind, x, place_of(t, k), a, b);
                break;
            }
        }
    }
}

/* --------------------------------------------------------------------------------------------------- search */

static outcome *take_failure(trial *base, int order, const char *part, const char *kind, size_t i)
{
    tensors *t = (tensors *)(void *)base;
    return take(t, order, part, kind, t->x + i * t->length);
}

static void give(trial *base, size_t first, size_t n)
{
    const tensors *t = (tensors *)(void *)base;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < t->length; k++)
            difference_store(base->s->other.signature.in, base->s->other.in[0], i * t->length + place_of(t, k),
                             t->x[(first + i) * t->length + k]);
}

static void compare(trial *base, size_t first, size_t n)
{
    tensors *t = (tensors *)(void *)base;
    const size_t bytes = result_bytes(t);
    const uint8_t *got = base->s->other.out;
    for (size_t i = 0; i < n; i++) {
        const double *x = t->x + (first + i) * t->length;
        const uint8_t *expected = t->expected + (first + i) * bytes;
        if (memcmp(expected, got + i * bytes, bytes) == 0)
            continue;
        if (base->s->other.signature.bytes)
            compare_bytes(t, x, expected, got + i * bytes);
        else
            compare_values(t, x, expected, got + i * bytes);
    }
    base->s->done[INPUTS_RANDOM] += n;
}

/* So many tensors of the batch's length. */
static bool try_batch(tensors *t, uint64_t first, size_t n)
{
    const dots_request row = {.length = t->line, .seed = t->seed, .level = 1};
    const fpemu_format carrier = cli_format(is_binary32(t) ? "fp32" : "fp64");
    blocks cases = blocks_start(&row, &t->trial.s->format, &carrier, false);
    for (size_t i = 0; i < n; i++) {
        double *x = t->x + i * t->length;
        for (size_t r = 0; r < t->rows; r++)
            fill(t, &cases, (first + i) * t->rows + r, x + r * t->line);
        expect(t, x, t->expected + i * result_bytes(t));
    }
    blocks_end(&cases);
    return trial_run(&t->trial, 0, n);
}

void tensors_search(search *s, uint64_t count, uint64_t seed, int axis)
{
    const fpemu_shape wide = fpemu_shape_vector(TENSORS_LONGEST);
    tensors whole = {.trial = {s, give, compare, take_failure}, .seed = seed, .down = axis == 0}, *t = &whole;
    external *f = &s->other;
    fpemu_layout layout;
    cli_check(fpemu_packed_layout(&s->format, &wide, &layout), s->spec);
    t->block = layout.block_elements < TENSORS_LONGEST_BLOCK ? (size_t)layout.block_elements : TENSORS_LONGEST_BLOCK;
    t->rows = axis == TENSORS_OF_ONE_AXIS ? 1 : TENSORS_ROWS;
    if (fpemu_format_scale(&s->format, &t->scale) != FPEMU_OK)
        t->scale = (fpemu_format){0};
    t->x = cli_allocate(EXTERNAL_BATCH, sizeof *t->x);
    t->expected = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    progress bar = progress_start("fuzz", count);
    uint64_t done = 0;
    for (uint64_t batch = 0, n; done < count; batch++, done += n) {
        t->line = line_of(t, batch);
        t->length = t->rows * t->line;
        t->shape = fpemu_shape_vector(t->line);
        t->shape.outer = t->rows;
        f->width[0] = f->size[0] = t->length;
        if (axis != TENSORS_OF_ONE_AXIS) {
            f->sizes = 2;
            f->size[axis] = t->line;
            f->size[1 - axis] = t->rows;
        }
        f->results = f->signature.bytes ? (size_t)fpemu_packed_size(&s->format, &t->shape) : t->length;
        const size_t room = EXTERNAL_BATCH / (t->length > f->results ? t->length : f->results);
        n = room < 4096 ? room : 4096;
        n = count - done < n ? count - done : n;
        if (!try_batch(t, done, (size_t)n))
            break;
        progress_advance(&bar, n);
    }
    progress_hide();
    snprintf(s->summary, sizeof s->summary, "%" PRIu64 " tensors of up to %zu elements, seed %" PRIu64,
             s->done[INPUTS_RANDOM], 3 * t->block * t->rows, seed);
    free(t->x);
    free(t->expected);
}
