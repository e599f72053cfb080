/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - see operands.h: formats with scales. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/spec.h"
#include "testing/inputs.h"
#include "testing/operands.h"

static uint64_t draw(const blocks *t, unsigned stream, uint64_t i, uint64_t below)
{
    return inputs_random(t->seed, 50 + stream, i) % below;
}

static double sign(const blocks *t, uint64_t i)
{
    return t->other.is_signed && draw(t, 0, i, 2) == 0 ? -1 : 1;
}

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* ----------------------------------------------------------------------------------------- packed bytes */

uint64_t blocks_bits(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    uint64_t code = 0;
    for (unsigned k = 0; k < width; k++, bit++)
        code |= (uint64_t)(bytes[bit / 8] >> bit % 8 & 1) << k;
    return code;
}

static void put_bits(uint8_t *bytes, uint64_t bit, unsigned width, uint64_t code)
{
    for (unsigned k = 0; k < width; k++, bit++)
        bytes[bit / 8] = (uint8_t)((bytes[bit / 8] & ~(1u << bit % 8)) | (unsigned)(code >> k & 1) << bit % 8);
}

/* All codes of the packed bytes: numbers of the tensor, scales, elements; from the bytes or to them. */
static void move(const blocks *t, uint64_t *codes, bool back)
{
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    for (size_t field = 0; field < t->tensor + t->scales + t->layout.blocks; field++) {
        const size_t block = field - t->tensor - t->scales;
        fpemu_extent at = {.elements = 1};
        uint64_t bit = 8 * (t->layout.tensor_offset + 4 * field), *to = codes + field;
        unsigned width = 32;
        if (field >= t->tensor + t->scales) {
            cli_check(fpemu_packed_extent(&t->format, &shape, block, &at), "blocks");
            bit = 8 * at.offset;
            width = t->element_bits;
            to = codes + t->tensor + t->scales + at.first;
        } else if (field >= t->tensor) {
            bit = 8 * (t->layout.scales_offset + (field - t->tensor) * t->layout.scale_bytes);
            width = t->scale_bits;
        }
        for (size_t k = 0; k < at.elements; k++)
            if (back)
                put_bits(t->bytes, bit + k * width, width, to[k]);
            else
                to[k] = blocks_bits(t->bytes, bit + k * width, width);
    }
}

static bool is_binary32(const blocks *t)
{
    return fpemu_format_fits_f32(&t->other);
}

/* The values of the scales, and the number of the whole tensor beside them. */
static double read_scales(const blocks *t, double *scale)
{
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    float tensor = 1;
    if (t->scales > 0)
        cli_check(fpemu_unpack_scales(&t->format, FPEMU_TYPE_F64, &shape, 0, t->scales, t->bytes, scale), "scales");
    if (t->part)
        memcpy(&tensor, t->bytes + t->layout.tensor_offset + sizeof tensor, sizeof tensor);
    return (double)tensor;
}

static void pack(blocks *t, const fpemu_rounding *rounding, const uint64_t *codes, fpemu_stats *stats)
{
    fpemu_shape shape = fpemu_shape_vector(t->length);
    fpemu_range whole = {0};
    const fpemu_type type = is_binary32(t) ? FPEMU_TYPE_F32 : FPEMU_TYPE_F64;
    double x[BLOCKS_LONGEST + 1];
    float narrow[BLOCKS_LONGEST + 1];
    for (size_t k = 0; k < t->length + t->part; k++) {
        x[k] = fpemu_decode_one_f64(&t->other, codes[k]);
        narrow[k] = (float)x[k];
    }
    const void *from = is_binary32(t) ? (const void *)narrow : (const void *)x;
    if (t->part) {
        cli_check(fpemu_measure(&t->format, type, t->length + 1, from, &whole), "blocks");
        shape.whole = &whole;
    }
    cli_check_call(fpemu_pack(&t->format, rounding, type, &shape, from, t->bytes, stats), &t->format, rounding,
                   !is_binary32(t), FPEMU_USE_PACK, "blocks");
}

void blocks_run(blocks *t, const fpemu_rounding *rounding, const uint64_t *in, uint64_t *out, double *scale,
                double *exact, fpemu_stats *stats)
{
    const fpemu_shape shape = fpemu_shape_vector(t->length);
    if (t->decodes) {
        uint64_t codes[BLOCKS_LONGEST], inside[3 * BLOCKS_LONGEST + 2];
        memcpy(inside, in, (t->tensor + t->scales + t->length) * sizeof *inside);
        move(t, inside, true);
        read_scales(t, scale);
        cli_check(fpemu_unpack(&t->format, FPEMU_TYPE_F64, &shape, t->bytes, exact), "blocks");
        cli_check_call(fpemu_encode_f64(&t->other, rounding, t->length, exact, codes, stats), &t->other, rounding, true,
                       FPEMU_USE_ENCODE, "blocks");
        for (size_t k = 0; k < t->length; k++)
            out[k] = number_load_code(codes, fpemu_format_code_size(&t->other), k);
        return;
    }
    pack(t, rounding, in, stats);
    move(t, out, false);
    const double tensor = read_scales(t, scale);
    for (size_t block = 0; block < t->layout.blocks; block++) {
        fpemu_extent at;
        cli_check(fpemu_packed_extent(&t->format, &shape, block, &at), "blocks");
        const double by = (t->scales > 0 ? scale[block] : 1) * tensor;
        for (size_t k = at.first; k < at.first + at.elements; k++)
            exact[k] = by != 0 ? fpemu_decode_one_f64(&t->other, in[k]) / by : 0;
    }
}

/* --------------------------------------------------------------------------------------------------- cases
 *
 * Each starts from a tensor whose elements are parts of the largest magnitude of their block, `amax`, which stands at
 * `place`. */

typedef struct tensor {
    double x[BLOCKS_LONGEST];
    size_t place, size; /* of the block that the case is about, the last */
    int exponent;       /* of its largest magnitude, */
    double amax, special;
} tensor;

static void set_amax(const blocks *t, tensor *c, uint64_t i, double amax)
{
    c->amax = inputs_fit(&t->other, amax);
    const bool alone = draw(t, 1, i, 4) == 0;
    for (size_t k = 0; k < t->length; k++) {
        const uint64_t r = inputs_random(t->seed, 52, i * BLOCKS_LONGEST + k);
        const double part = alone ? 0 : (r & 3) != 0 ? (double)(r >> 58) / 64 : (double)(r >> 12) * 0x1p-52;
        c->x[k] = sign(t, i * BLOCKS_LONGEST + k) * c->amax * (k == c->place ? 1 : part);
    }
}

/* The last number below a power of two, the power, and where the elements end, with neighbours. */
static void binade_end(const blocks *t, tensor *c, uint64_t i)
{
    const double max = fpemu_format_max(&t->element), one = ldexp(1, ilogb(max));
    const double points[] = {1, max / one, (max / one + 2) / 2, 1.5};
    const double x = inputs_fit(&t->other, ldexp(points[i / 3 % 4], c->exponent));
    set_amax(t, c, i,
             i % 3 == 0   ? x
             : i % 3 == 1 ? fpemu_format_next_down(&t->other, x)
                          : fpemu_format_next_up(&t->other, x));
}

/* Largest magnitudes around those whose scale is the least, and the largest. */
static void scale_ends(const blocks *t, tensor *c, uint64_t i)
{
    const double points[] = {1, 1.25, 1.5, 1.75, 1.9375};
    set_amax(t, c, i, ldexp(points[i / 12 % 5], (i % 2 == 0 ? t->first : t->last) + (int)(i / 2 % 6) - 3));
}

static void zero(const blocks *t, tensor *c, uint64_t i)
{
    for (size_t k = 0; k < t->length; k++)
        c->x[k] = (i == 0 ? 1 : sign(t, i * BLOCKS_LONGEST + k)) * 0.0;
}

/* All below the smallest normal number. */
static void subnormal(const blocks *t, tensor *c, uint64_t i)
{
    const double least = fpemu_format_min_positive(&t->other), steps = fpemu_format_min_normal(&t->other) / least;
    const double less = i % 2 == 0 ? floor((double)draw(t, 3, i, 1 << 20) * 0x1p-20 * steps) : 0;
    set_amax(t, c, i, least * fmax(1, steps - 1 - less));
}

/* One NaN, and one infinity. */
static void special(const blocks *t, tensor *c, uint64_t i)
{
    set_amax(t, c, i, c->amax);
    c->x[c->place] = sign(t, i) * c->special;
}

/* Zeros behind the largest, as a last block is filled up; where the last block is shorter, it ends with the largest. */
static void short_block(const blocks *t, tensor *c, uint64_t i)
{
    const size_t first = t->length - c->size;
    const bool shorter = first > 0 && c->size < (size_t)t->layout.block_elements;
    c->place = shorter ? t->length - 1 : first + i % c->size;
    set_amax(t, c, i, c->amax);
    for (size_t k = c->place + 1; k < t->length; k++)
        c->x[k] = 0;
}

/* Elements midway between two values, and beside that. */
static void tie(const blocks *t, tensor *c, uint64_t i)
{
    const double max = fpemu_format_max(&t->element), unit = ldexp(1, c->exponent - ilogb(max));
    set_amax(t, c, i, max * unit);
    for (size_t k = 0; k < t->length; k++) {
        const double high =
            fpemu_format_next_up(&t->element, max * (double)draw(t, 4, i * BLOCKS_LONGEST + k, 4096) / 4097);
        const double low = fpemu_format_next_down(&t->element, high),
                     x = inputs_fit(&t->other, (low + (high - low) / 2) * unit);
        const double beside = (i + k) % 3 == 1   ? fpemu_format_next_up(&t->other, x)
                              : (i + k) % 3 == 2 ? fpemu_format_next_down(&t->other, x)
                                                 : x;
        c->x[k] = k == c->place ? c->x[k] : sign(t, i * BLOCKS_LONGEST + k) * beside;
    }
}

/* One among many around half of the smallest element. */
static void one_large(const blocks *t, tensor *c, uint64_t i)
{
    const double smallest = c->amax / fpemu_format_max(&t->element) * fpemu_format_min_positive(&t->element);
    set_amax(t, c, i, c->amax);
    for (size_t k = 0; k < t->length; k++)
        c->x[k] = k == c->place ? c->x[k] : sign(t, i * BLOCKS_LONGEST + k) * smallest * (double)(1 + (i + k) % 6) / 4;
}

/* Any codes, or parts of a largest. */
static void random_codes(const blocks *t, tensor *c, uint64_t i)
{
    set_amax(t, c, i, c->amax);
    for (size_t k = 0; k < t->length && i % 2 == 0; k++)
        c->x[k] =
            fpemu_decode_one_f64(&t->other, inputs_random(t->seed, 53, i * BLOCKS_LONGEST + k) >> (64 - t->other.bits));
}

static const struct {
    const char *name;
    void (*fill)(const blocks *t, tensor *c, uint64_t i); /* NULL: of codes to numbers alone; all, or those of scales */
    uint64_t vectors;                                     /* of each lane at level 1; 0: random ones */
    bool lanes;
} cases[] = {{"binade-end", binade_end, 24, false},
             {"scale-ends", scale_ends, 60, false},
             {"zero", zero, 4, false},
             {"subnormal", subnormal, 16, false},
             {"nan", special, 1, true},
             {"infinity", special, 2, true},
             {"short-block", short_block, 2, true},
             {"tie", tie, 32, false},
             {"one-large", one_large, 2, true},
             {"random", random_codes, 0, false},
             {"all-codes", NULL, 2, true},
             {"all-scales", NULL, 256, false}};
enum { CASES = sizeof cases / sizeof *cases };

const char *blocks_case(const blocks *t, unsigned which)
{
    return which < CASES && (t->decodes || cases[which].fill != NULL) ? cases[which].name : NULL;
}

uint64_t blocks_count(const blocks *t, unsigned which)
{
    return cases[which].vectors > 0
               ? cases[which].vectors * (cases[which].lanes ? t->length : 1) * (t->level > 1 ? 4 : 1)
               : t->random;
}

void blocks_codes(blocks *t, unsigned which, uint64_t i, uint64_t *codes)
{
    const uint64_t any = i * CASES + which;
    const size_t whole = (size_t)t->layout.block_elements, rest = whole > 0 ? t->length % whole : 0;
    tensor c = {.size = rest > 0 ? rest : whole < t->length && whole > 0 ? whole : t->length};
    c.place = cases[which].lanes ? (size_t)(i % t->length) : t->length - 1 - (size_t)draw(t, 5, any, c.size);
    const int low = draw(t, 2, any, 2) == 0 ? t->first : clamp(-4, t->first, t->last);
    const int high = low == t->first ? t->last : clamp(4, t->first, t->last);
    c.exponent = low + (int)draw(t, 6, any, (uint64_t)(high - low + 1));
    c.amax = inputs_fit(&t->other, ldexp(1 + (double)draw(t, 7, any, 64) / 64, c.exponent));
    c.special = cases[which].vectors == 1 ? (double)NAN : (double)INFINITY;
    (cases[which].fill != NULL ? cases[which].fill : random_codes)(t, &c, i);
    uint64_t x[BLOCKS_LONGEST + 1], *const to = t->decodes ? x : codes;
    for (size_t k = 0; k < t->length; k++)
        to[k] = inputs_nearest(&t->other, c.x[k]);
    if (t->part) {
        double amax = 0;
        for (size_t k = 0; k < t->length; k++)
            amax = isfinite(c.x[k]) ? fmax(amax, fabs(inputs_fit(&t->other, c.x[k]))) : amax;
        to[t->length] =
            inputs_nearest(&t->other, ldexp(amax, i % 4 == 0 ? 0 : (int)draw(t, 8, any, i % 4 == 1 ? 4 : 24)));
    }
    if (!t->decodes)
        return;
    pack(t, &(fpemu_rounding){.nan = FPEMU_NAN_ZERO}, x, NULL);
    move(t, codes, false);
    for (size_t k = 0; k < t->scales + t->length && cases[which].fill == NULL; k++) {
        const bool scale = k < t->scales;
        if (scale == (cases[which].lanes == 0))
            codes[t->tensor + k] = (i + k) & (UINT64_MAX >> (64 - (scale ? t->scale_bits : t->element_bits)));
    }
}

/* ------------------------------------------------------------------------------------------------- outside */

blocks blocks_start(const dots_request *q, const fpemu_format *format, const fpemu_format *other, bool decodes)
{
    blocks t = {.format = *format, .other = *other, .decodes = decodes};
    fpemu_format scale;
    fpemu_shape shape = fpemu_shape_vector(BLOCKS_LONGEST);
    cli_check_use(other, &(fpemu_rounding){0}, true, FPEMU_USE_ENCODE, "--from");
    cli_check(fpemu_format_element(format, &t.element), "blocks");
    cli_check(fpemu_packed_layout(format, &shape, &t.layout), "blocks");
    t.length = q->length > 0                              ? (size_t)q->length
               : t.layout.block_elements < BLOCKS_LONGEST ? (size_t)t.layout.block_elements
                                                          : 32;
    shape = fpemu_shape_vector(t.length);
    cli_check(fpemu_packed_layout(format, &shape, &t.layout), "blocks");
    t.scales = t.layout.scale_bytes > 0 ? (size_t)t.layout.blocks : 0;
    t.tensor = (size_t)t.layout.tensor_bytes / 4;
    t.part = t.tensor > 0 && t.scales > 0;
    t.scale_bits = 8 * (unsigned)t.layout.scale_bytes;
    t.element_bits = (unsigned)t.layout.element_bits;
    t.bytes = cli_allocate(t.layout.bytes, 1);
    t.seed = q->seed;
    t.random = q->random;
    t.level = q->level;
    const bool known = fpemu_format_scale(format, &scale) == FPEMU_OK && scale.kind != FPEMU_KIND_INVALID;
    const int top = ilogb(fpemu_format_max(&t.element));
    const int low = ilogb(fpemu_format_min_positive(other)), high = ilogb(fpemu_format_max(other));
    t.first = clamp((known ? ilogb(fpemu_format_min_positive(&scale)) : -126) + top, low, high);
    t.last = clamp((known ? ilogb(fpemu_format_max(&scale)) : 127) + top, low, high);
    return t;
}

void blocks_end(blocks *t)
{
    free(t->bytes);
}
