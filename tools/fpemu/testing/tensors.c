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
#include "common/clock.h"
#include "testing/difference.h"
#include "testing/failure.h"

enum { TENSORS_LONGEST = 512, TENSORS_LONGEST_BLOCK = 128, TENSORS_SHOWN = 3 };

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
    search *s;
    uint64_t seed;
    size_t block;  /* elements of a block; the tensor is shorter where that is longer */
    size_t length; /* of the tensors at work */
    fpemu_format scale;
    double *x;         /* a batch of tensors, */
    uint8_t *expected; /* and its results */
} tensors;

static fpemu_type type_of(const tensors *t)
{
    return t->s->other.signature.in == EXTERNAL_F32 ? FPEMU_TYPE_F32 : FPEMU_TYPE_F64;
}

static bool is_binary32(const tensors *t)
{
    return t->s->other.signature.in == EXTERNAL_F32;
}

/* ------------------------------------------------------------------------------------------------- tensors */

/* Tensor i: of the cases of vectors by turns, every other a random one. */
static void fill(tensors *t, blocks *cases, uint64_t i, double *x)
{
    uint64_t codes[TENSORS_LONGEST];
    const unsigned turn = (unsigned)(i % (2 * BLOCKS_RANDOM)), which = turn < BLOCKS_RANDOM ? turn : BLOCKS_RANDOM;
    blocks_codes(cases, which, which < BLOCKS_RANDOM ? i / (2 * BLOCKS_RANDOM) : i, codes);
    /* Where scales stand below one of the tensor, the last block is smaller than others by turns. */
    const uint64_t less = cases->part && i % 3 == 0 ? inputs_random(t->seed, 54, i) % 24 : 0;
    for (size_t k = 0; k < t->length; k++) {
        const double one = fpemu_decode_one_f64(&cases->other, codes[k]);
        x[k] = k / t->block == (t->length - 1) / t->block ? inputs_fit(&cases->other, ldexp(one, -(int)less)) : one;
    }
}

/* Tensors of the lengths of a block, and of others. */
static size_t length_of(const tensors *t, uint64_t batch)
{
    const size_t lengths[] = {t->block,    2 * t->block + t->block / 2 + 1, t->block - 1, 1, t->block + 1, t->block,
                              3 * t->block};
    const size_t n = lengths[batch % (sizeof lengths / sizeof *lengths)];
    return n > 0 ? n : 1;
}

/* -------------------------------------------------------------------------------------------------- results */

static void store(const tensors *t, const double *x, size_t n, void *to)
{
    for (size_t k = 0; k < n; k++)
        difference_store(t->s->other.signature.in, to, k, x[k]);
}

/* Bytes of a result. */
static size_t result_bytes(const tensors *t)
{
    return t->s->other.results * signature_size(t->s->other.signature.out);
}

/* What the library makes of a tensor; of a NaN that has no code a zero is made first. */
static void expect(const tensors *t, double *x, void *to)
{
    double carrier[TENSORS_LONGEST];
    const search *s = t->s;
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    for (int attempt = 0; attempt < 2; attempt++) {
        store(t, x, t->length, carrier);
        const fpemu_status status =
            s->other.signature.bytes
                ? fpemu_pack(&s->format, &s->rounding, type_of(t), &shape, carrier, to, NULL)
                : fpemu_quantize_tensor(&s->format, &s->rounding, type_of(t), &shape, carrier, to, NULL);
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
    double amax = 0, rank[3] = {0, (double)t->length, 0};
    for (size_t k = 0; k < t->length; k++) {
        rank[0] += x[k] != 0;
        amax = isfinite(x[k]) ? fmax(amax, fabs(x[k])) : amax;
    }
    rank[2] = amax > 0 ? abs(ilogb(amax)) : 0;
    outcome *o = outcome_take(t->s, order, part, kind, rank);
    size_t used = 0, told = 0;
    for (size_t k = 0; o != NULL && k < t->length && told < TENSORS_SHOWN; k++) {
        char value[NUMBER_SIZE];
        if (x[k] != 0 && ++told > 0)
            used += (size_t)snprintf(o->input + used, sizeof o->input - used, "x[%zu] = %s, ", k,
                                     number_print(value, x[k]));
    }
    if (o != NULL && told < rank[0])
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

static double scale_at(const tensors *t, const fpemu_shape *shape, uint64_t block, const uint8_t *bytes)
{
    float scale = 1;
    return fpemu_unpack_scales(&t->s->format, FPEMU_TYPE_F32, shape, block, 1, bytes, &scale) == FPEMU_OK
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
    const search *s = t->s;
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    fpemu_layout layout;
    fpemu_extent extent;
    cli_check(fpemu_packed_layout(&s->format, &shape, &layout), s->spec);
    cli_check(fpemu_packed_extent(&s->format, &shape, block, &extent), s->spec);
    const double *own = x + extent.first;
    const unsigned wide = 8 * (unsigned)layout.scale_bytes;
    const number scale = {scale_at(t, &shape, block, expected), blocks_bits(expected, 8 * extent.scale, wide)};
    const number other = {scale_at(t, &shape, block, got), blocks_bits(got, 8 * extent.scale, wide)};
    const tensors_kind kind = kind_of(t, own, (size_t)extent.elements, scale.value);
    if (scale.code != other.code && (s->strict_nan || !isnan(scale.value) || !isnan(other.value))) {
        put_down(t, TENSORS_SCALE, kind, x, (size_t)block, scale, other);
        return true;
    }
    if (isnan(scale.value) && !s->strict_nan)
        return true;
    double values[2][TENSORS_LONGEST];
    cli_check(fpemu_unpack_blocks(&s->format, FPEMU_TYPE_F64, &shape, block, 1, expected, values[0]), s->spec);
    cli_check(fpemu_unpack_blocks(&s->format, FPEMU_TYPE_F64, &shape, block, 1, got, values[1]), s->spec);
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
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    fpemu_layout layout;
    cli_check(fpemu_packed_layout(&t->s->format, &shape, &layout), t->s->spec);
    for (unsigned i = 0; i < layout.tensor_bytes / 4; i++) {
        const number a =
            difference_number(EXTERNAL_F32, NULL, blocks_bits(expected, 8 * layout.tensor_offset + 32 * i, 32));
        const number b = difference_number(EXTERNAL_F32, NULL, blocks_bits(got, 8 * layout.tensor_offset + 32 * i, 32));
        if (!difference_same(t->s, a, b)) {
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
    const external_type type = t->s->other.signature.out;
    for (size_t first = 0; first < t->length; first += t->block) {
        const size_t end = first + t->block < t->length ? first + t->block : t->length;
        for (size_t i = 0; i < 2 * (end - first); i++) {
            const size_t k = first + i % (end - first);
            const bool zeros = i >= end - first;
            const number a = difference_number(type, NULL, number_load_code(expected, signature_size(type), k));
            const number b = difference_number(type, NULL, number_load_code(got, signature_size(type), k));
            if (!difference_same(t->s, a, b) && are_zeros(a, b) == zeros) {
                const tensors_kind kind = zeros ? TENSORS_SIGNS : kind_of(t, x + first, end - first, 1);
                put_down(t, TENSORS_ELEMENT, kind, x, k, a, b);
                break;
            }
        }
    }
}

/* Tensors of the batch from `first` on with the first n results. */
static void compare(tensors *t, size_t first, size_t n)
{
    const size_t bytes = result_bytes(t);
    const uint8_t *got = t->s->other.out;
    for (size_t i = 0; i < n; i++) {
        const double *x = t->x + (first + i) * t->length;
        const uint8_t *expected = t->expected + (first + i) * bytes;
        if (memcmp(expected, got + i * bytes, bytes) == 0)
            continue;
        if (t->s->other.signature.bytes)
            compare_bytes(t, x, expected, got + i * bytes);
        else
            compare_values(t, x, expected, got + i * bytes);
    }
    t->s->done[INPUTS_RANDOM] += n;
}

/* --------------------------------------------------------------------------------------------------- search */

/* Tensor i of the batch has no result. False: there were so many that the search gives up. */
static bool take_failure(tensors *t, size_t i)
{
    search *s = t->s;
    outcome *o =
        take(t, (int)s->other.failing - EXTERNAL_FAILINGS, failure_names[s->other.failing], NULL, t->x + i * t->length);
    if (o != NULL)
        snprintf(o->got, sizeof o->got, "%s", s->other.failure);
    s->gave_up = outcome_count(s, true) >= (s->other.failing == EXTERNAL_HUNG ? FAILURES_MOST_HANGS : FAILURES_MOST);
    return !s->gave_up;
}

/* All n tensors from `first` on are compared, or put down as without a result. False: the search is over. */
static bool try_part(tensors *t, size_t first, size_t n)
{
    search *s = t->s;
    if (n == 0)
        return true;
    store(t, t->x + first * t->length, n * t->length, s->other.in[0]);
    memset(s->other.out, 0xa5, n * result_bytes(t)); /* so that results left out are noticed */
    const external_end end = clock_seconds() > s->deadline ? EXTERNAL_LATE : external_run(&s->other, n, s->deadline);
    if (end == EXTERNAL_DONE) {
        compare(t, first, n);
        return true;
    }
    if (end == EXTERNAL_LATE) {
        s->late = true;
        return false;
    }
    if (n == 1)
        return take_failure(t, first);
    if (s->other.program)
        return try_part(t, first, n / 2) && try_part(t, first + n / 2, n - n / 2);
    const size_t at = s->other.failed_at;
    compare(t, first, s->other.good);
    return take_failure(t, first + at) && try_part(t, first + at + 1, n - at - 1);
}

/* So many tensors of the batch's length. */
static bool try_batch(tensors *t, uint64_t first, size_t n)
{
    const dots_request tensor = {.length = t->length, .seed = t->seed, .level = 1};
    const fpemu_format carrier = cli_format(is_binary32(t) ? "fp32" : "fp64");
    blocks cases = blocks_start(&tensor, &t->s->format, &carrier, false);
    for (size_t i = 0; i < n; i++) {
        double *x = t->x + i * t->length;
        fill(t, &cases, first + i, x);
        expect(t, x, t->expected + i * result_bytes(t));
    }
    blocks_end(&cases);
    return try_part(t, 0, n);
}

void tensors_search(search *s, uint64_t count, uint64_t seed)
{
    const fpemu_shape wide = fpemu_shape_vector(TENSORS_LONGEST);
    tensors whole = {.s = s, .seed = seed}, *t = &whole;
    fpemu_layout layout;
    cli_check(fpemu_packed_layout(&s->format, &wide, &layout), s->spec);
    t->block = layout.block_elements < TENSORS_LONGEST_BLOCK ? (size_t)layout.block_elements : TENSORS_LONGEST_BLOCK;
    if (fpemu_format_scale(&s->format, &t->scale) != FPEMU_OK)
        t->scale = (fpemu_format){0};
    t->x = cli_allocate(EXTERNAL_BATCH, sizeof *t->x);
    t->expected = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    progress bar = progress_start("fuzz", count);
    uint64_t done = 0;
    for (uint64_t batch = 0, n; done < count; batch++, done += n) {
        t->length = length_of(t, batch);
        const fpemu_shape shape = fpemu_shape_vector(t->length);
        s->other.width = t->length;
        s->other.results = s->other.signature.bytes ? (size_t)fpemu_packed_size(&s->format, &shape) : t->length;
        const size_t room = EXTERNAL_BATCH / (t->length > s->other.results ? t->length : s->other.results);
        n = room < 4096 ? room : 4096;
        n = count - done < n ? count - done : n;
        if (!try_batch(t, done, (size_t)n))
            break;
        progress_advance(&bar, n);
    }
    progress_hide();
    snprintf(s->summary, sizeof s->summary, "%" PRIu64 " tensors of up to %zu elements, seed %" PRIu64,
             s->done[INPUTS_RANDOM], 3 * t->block, seed);
    free(t->x);
    free(t->expected);
}
