/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.c - arrays of binary16 and bfloat16 words against judges: each of the 2^16 words of both types to every format
 * of the reference that fits, in every mode, value, code and counters; blocked formats, packing and scales along any
 * strides; products and sums. What a number becomes as a word is found here by search among all words.
 *
 * `narrow digest variant` ends with a digest of results; the program runs itself so for each instruction set. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "../judges/formats.h"
#include "../list.h"
#include "blocks_cases.h"
#include "expected.h"
#include "half_words.h"
#include "variants.h"
#include <math.h>
#include <stdlib.h>

static int child; /* only the digest is wanted */
static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static unsigned long lines;

static uint64_t binary32(double x)
{
    const uint32_t sign = signbit(x) ? 0x80000000u : 0;
    return isnan(x) ? sign | 0x7fc00000u : lh_float_bits((float)x);
}

/* ------------------------------------------------------------------------------------------ every word */

/* Whether each value that the judge decodes is a word. */
static int judged_fit(const struct type *t, const fpemu_format *f, judge *j)
{
    for (uint64_t code = 0; code >> f->bits == 0; code++) {
        const double v = (double)lh_float((uint32_t)judge_decode(j, code));
        if (isfinite(v) && values[t - types][word_of(t, v) & 0x7fff] != fabs(v))
            return 0;
    }
    return 1;
}

static void expect_counters(fpemu_stats *s, uint32_t events, double x)
{
    expect_events(s, events, 1);
    s->nan += isnan(x) != 0;
    s->infinite += isinf(x) != 0;
}

static int same_counters(const fpemu_stats *a, const fpemu_stats *b)
{
    return a->clipped == b->clipped && a->overflow == b->overflow && a->invalid == b->invalid &&
           a->underflow == b->underflow && a->subnormal == b->subnormal && a->inexact == b->inexact &&
           a->nan == b->nan && a->infinite == b->infinite && a->count == b->count;
}

static void compare_words(const struct type *t, const char *spec, int mode, const char *what, size_t n,
                          const uint16_t *x, const uint16_t *want, const uint16_t *got)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            lh_check(0, "%s, %s, mode %d, %s, element %zu: of %04x the judge makes %04x, the library %04x", t->name,
                     spec, mode, what, i, x[i], want[i], got[i]);
            return;
        }
}

/* Parts of the array, at any place, into memory whose other words stay. */
static void slices(const struct type *t, const char *spec, const fpemu_format *f, const fpemu_rounding *r,
                   const uint16_t *x, const uint16_t *want)
{
    static uint16_t y[300];
    uint64_t state = 7 + r->mode;
    for (int k = 0; k < 12; k++) {
        const size_t begin = lh_next(&state) % (WORDS - 200), n = lh_next(&state) % 150, at = lh_next(&state) % 70;
        fpemu_rounding part = *r;
        fpemu_stats s = {0};
        part.offset += begin;
        for (size_t i = 0; i < 300; i++)
            y[i] = 0xa5a5;
        if (k % 3 == 0)
            memcpy(y + at, x + begin, n * sizeof *y);
        lh_check(fpemu_quantize(f, &part, t->type, n, k % 3 == 0 ? y + at : x + begin, y + at,
                                k % 4 == 1 ? &s : NULL) == FPEMU_OK,
                 "%s, %s: a part is refused", t->name, spec);
        compare_words(t, spec, r->mode, "a part", n, x + begin, want + begin, y + at);
        for (size_t i = 0; i < 300; i++)
            if ((i < at || i >= at + n) && !lh_check(y[i] == 0xa5a5, "%s, %s: written beside", t->name, spec))
                return;
    }
}

/* A format in one mode, all words. */
static void all_words(const struct type *t, const char *spec, const fpemu_format *parameters, const fpemu_format *f,
                      const fpemu_rounding *r)
{
    static uint16_t x[WORDS], want[WORDS], y[WORDS];
    static uint64_t code_memory[WORDS];
    const size_t size = fpemu_format_code_size(f);
    judge *j = child ? NULL : judge_open_any(parameters, r, 32);
    fpemu_stats none = {0}, expected = none, quantized = none, encoded = none;
    for (unsigned i = 0; i < WORDS; i++)
        x[i] = (uint16_t)i;
    memset(y, 0xa5, sizeof y);
    const fpemu_status status = fpemu_quantize(f, r, t->type, WORDS, x, y, NULL);
    lh_check(fpemu_check(f, r, t->type, NULL) == status, "%s, %s: fpemu_check differs", t->name, spec);
    if (!child)
        lh_check((j != NULL) == (status == FPEMU_OK), "%s, %s, mode %d: status %d", t->name, spec, r->mode,
                 (int)status);
    if (status || (!child && !j)) {
        for (size_t i = 0; i < WORDS; i++)
            if (!lh_check(y[i] == 0xa5a5, "%s, %s: refused, and written", t->name, spec))
                break;
        return;
    }
    lines++;
    digest = variants_fold(digest, y, sizeof y);
    fpemu_encode(f, r, t->type, WORDS, x, code_memory, NULL);
    digest = variants_fold(digest, code_memory, WORDS * size);
    if (child) {
        fpemu_quantize(f, r, t->type, WORDS, x, y, &quantized);
        digest = variants_fold(digest, y, sizeof y);
        digest = variants_fold(digest, &quantized, sizeof quantized);
        return;
    }
    unsigned long wrong = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        const double v = values[t - types][i];
        const uint32_t random = r->mode >= FPEMU_MODE_SR ? fpemu_random_bits(r, i) : 0;
        const judge_result right = judge_round(j, binary32(v), random, 1);
        want[i] = word_of(t, (double)lh_float((uint32_t)right.bits));
        wrong += code_at(code_memory, size, i) != right.code;
        expect_counters(&expected, right.events, v);
    }
    expected.count = WORDS;
    lh_check(wrong == 0, "%s, %s, mode %d: %lu wrong codes", t->name, spec, r->mode, wrong);
    compare_words(t, spec, r->mode, "quantize", WORDS, x, want, y);
    fpemu_quantize(f, r, t->type, WORDS, x, y, &quantized);
    digest = variants_fold(digest, y, sizeof y);
    digest = variants_fold(digest, &quantized, sizeof quantized);
    compare_words(t, spec, r->mode, "with counters", WORDS, x, want, y);
    memcpy(y, x, sizeof y);
    fpemu_quantize(f, r, t->type, WORDS, y, y, NULL);
    compare_words(t, spec, r->mode, "in place", WORDS, x, want, y);
    memcpy(y, x, sizeof y);
    fpemu_encode(f, r, t->type, WORDS, y, code_memory, &encoded);
    lh_check(same_counters(&quantized, &expected), "%s, %s, mode %d: counters of quantize", t->name, spec, r->mode);
    lh_check(same_counters(&encoded, &expected), "%s, %s, mode %d: counters of encode", t->name, spec, r->mode);
    slices(t, spec, f, r, x, want);
    judge_close(j);
}

/* Whether the format fits, its codes, and all words in the modes whose turn it is. */
static void format_of_words(const struct type *t, const char *spec, const fpemu_format *parameters, size_t turn)
{
    static uint32_t codes[WORDS];
    static uint16_t y[WORDS];
    const fpemu_rounding nearest = {0};
    fpemu_format f = lh_parsed(spec);
    judge *j = judge_open_any(parameters, &nearest, 32);
    const int fits = j && f.bits <= 16 && judged_fit(t, &f, j); /* there are no more words */
    lh_check(fpemu_format_fits(&f, t->type) == fits, "%s, %s: fits %d", t->name, spec, fits);
    if (fits) {
        const size_t n = (size_t)1 << f.bits;
        for (size_t i = 0; i < n; i++)
            f.bits <= 8 ? (void)(((uint8_t *)codes)[i] = (uint8_t)i) : (void)(((uint16_t *)codes)[i] = (uint16_t)i);
        lh_check(fpemu_decode(&f, t->type, n, codes, y) == FPEMU_OK, "%s, %s: decode is refused", t->name, spec);
        for (size_t i = 0; i < n; i++)
            if (!lh_check(y[i] == word_of(t, (double)lh_float((uint32_t)judge_decode(j, i))),
                          "%s, %s: code %zx is decoded to %04x", t->name, spec, i, y[i]))
                break;
        digest = variants_fold(digest, y, n * sizeof *y);
    } else if (fpemu_format_fits_f32(&f)) {
        y[0] = 0xa5a5;
        memset(codes, 0, 8);
        lh_check(fpemu_decode(&f, t->type, 1, codes, y) == FPEMU_ERROR_CARRIER && y[0] == 0xa5a5 &&
                     fpemu_quantize(&f, &nearest, t->type, 1, (uint16_t *)codes, y, NULL) == FPEMU_ERROR_CARRIER &&
                     y[0] == 0xa5a5,
                 "%s, %s: not refused", t->name, spec);
    }
    if (j)
        judge_close(j);
    for (int mode = 0; mode < FPEMU_MODE_COUNT && fits; mode++) {
        fpemu_rounding r = fpemu_rounding_stochastic(20261122, turn);
        r.mode = (uint8_t)mode;
        r.overflow = (uint8_t)(1 + (turn + (size_t)mode) % 3);
        r.nan = (uint8_t)(f.has_nan ? 0 : 1 + (turn + (size_t)mode) % 4);
        r.bits = mode >= FPEMU_MODE_SR ? (uint8_t)(turn % 3 ? 4 + 4 * (turn % 8) : 0) : 0;
        r.variant = (uint8_t)(turn / 3 % 3);
        r.offset = turn % 2 ? 12345 : 0;
        if (mode != FPEMU_MODE_SR)
            r.variant = 0;
        if (mode < 2 || mode >= FPEMU_MODE_SR || (turn + (size_t)mode) % 3 == 0)
            all_words(t, spec, parameters, &f, &r);
    }
}

static void scalars(void)
{
    const ref_format *r;
    fpemu_format f;
    char text[80];
    for (size_t i = 0; (r = ref_formats(i)) != NULL; i++)
        for (int t = 0; t < TYPES; t++)
            format_of_words(&types[t], r->spec, &r->f, i + (size_t)t);
    for (size_t i = 0; ref_generic(i, &f, text); i++)
        format_of_words(&types[i % TYPES], text, &f, i);
    /* What float's tests have no room for: scales of one odd factor, and the first that is too long. */
    static const struct {
        unsigned bits;
        int is_signed, f16, bf16;
        double scale;
        int64_t zero;
        const char *spec;
    } ints[] = LIST({8, 1, 1, 1, 0.5, 0, "int(8,scale=0.5)"}, {8, 1, 1, 0, 3 * 0x1p-5, 0, "int(8,scale=0.09375)"},
                    {6, 1, 1, 1, 3 * 0x1p-5, 0, "int(6,scale=0.09375)"},
                    {7, 0, 1, 0, 0.75, 5, "uint(7,scale=0.75,zero=5)"}, {12, 1, 1, 0, 1, 0, "int(12)"},
                    {13, 1, 0, 0, 1, 0, "int(13)"}, {9, 1, 1, 1, 1, 0, "int(9)"}, {10, 1, 1, 0, 1, 0, "int(10)"},
                    {8, 1, 0, 0, 0.1, 0, "int(8,scale=0.1)"}, {8, 1, 0, 1, 0x1p10, 0, "int(8,scale=1024)"},
                    {8, 1, 0, 1, 0x1p-25, 0, "int(8,scale=2.98023223876953125e-08)"});
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        for (int t = 0; t < TYPES; t++) {
            const fpemu_format parameters = ref_int(ints[i].bits, ints[i].is_signed, ints[i].scale, ints[i].zero);
            if (fpemu_format_parse(ints[i].spec, &f, NULL) != FPEMU_OK) {
                lh_check(0, "%s is not parsed", ints[i].spec);
                continue;
            }
            lh_check(fpemu_format_fits(&f, types[t].type) == (t ? ints[i].bf16 : ints[i].f16), "%s, %s: fits",
                     types[t].name, ints[i].spec);
            format_of_words(&types[t], ints[i].spec, &parameters, i);
        }
}

/* NaN policies that look at the sign, and `error`. */
static void nan_policies(const struct type *t)
{
    fpemu_format f;
    fpemu_rounding r = {0};
    fpemu_format_parse("e2m1", &f, NULL);
    const uint16_t x[] = {(uint16_t)(t->infinity + 1), (uint16_t)(0x8001 + t->infinity), word_of(t, 1), 0xffff, 0x7fff};
    uint16_t y[5];
    r.nan = FPEMU_NAN_SIGNMAX;
    lh_check(fpemu_quantize(&f, &r, t->type, 5, x, y, NULL) == FPEMU_OK && y[0] == word_of(t, 6) &&
                 y[1] == word_of(t, -6) && y[2] == word_of(t, 1) && y[3] == word_of(t, -6) && y[4] == word_of(t, 6),
             "%s: policy signmax", t->name);
    r.nan = FPEMU_NAN_ERROR;
    lh_check(fpemu_quantize(&f, &r, t->type, 5, x, y, NULL) == FPEMU_ERROR_NAN && y[2] == word_of(t, 1), "%s: error",
             t->name);
    lh_check(fpemu_quantize(&f, &r, t->type, 1, x + 2, y, NULL) == FPEMU_OK, "%s: error without a NaN", t->name);
    lh_check(fpemu_quantize(&f, &r, t->type, 5, x, (uint16_t *)x + 1, NULL) == FPEMU_ERROR_OVERLAP, "%s: overlap",
             t->name);
}

/* ---------------------------------------------------------------------------------------------- blocks */

/* A tensor with strides, in place too, packed and read again. */
static void block_tensor(const struct type *t, block_case *c, uint64_t state)
{
    static const fpemu_shape none;
    const uint64_t size[4] = {c->shape.outer, c->shape.rows, c->shape.length, c->shape.inner};
    const unsigned gap = (unsigned)(lh_next(&state) % 3);
    int64_t stride[4], step = 1 + (gap == 2);
    for (int a = 3; a >= 0; a--) {
        stride[a] = step;
        step *= (int64_t)size[a] + (gap && a == 3);
    }
    const size_t room = (size_t)step + 1, n = (size_t)c->n;
    uint16_t *x = calloc(room, 2), *y = calloc(room, 2), *want = calloc(room, 2), *dense = calloc(n + 1, 2);
    uint64_t *place = calloc(n + 1, 8), *read = calloc(n + 1, 8), i = 0;
    for (uint64_t o = 0; o < size[0]; o++)
        for (uint64_t r = 0; r < size[1]; r++)
            for (uint64_t l = 0; l < size[2]; l++)
                for (uint64_t k = 0; k < size[3]; k++)
                    place[i++] = o * (uint64_t)stride[0] + r * (uint64_t)stride[1] + l * (uint64_t)stride[2] +
                                 k * (uint64_t)stride[3];
    for (i = 0; i < n; i++) {
        x[place[i]] = dense[i] = word_of(t, (double)lh_float((uint32_t)c->x[i]));
        c->x[i] = binary32(values[t - types][dense[i]]);
    }
    for (i = 0; i < room; i++)
        y[i] = want[i] = 0x1234;
    ref_tensor *right = ref_quantize(&c->f, &c->r, 32, &c->shape, c->x);
    fpemu_shape shape = c->shape;
    memcpy(shape.x_stride, gap ? stride : none.x_stride, sizeof stride);
    memcpy(shape.y_stride, gap ? stride : none.y_stride, sizeof stride);
    leave_on_stack(c->seed);
    const fpemu_status status = fpemu_quantize_tensor(&c->f, &c->r, t->type, &shape, x, y, NULL);
    if (right && status != FPEMU_ERROR_NAN && lh_check(status == FPEMU_OK, "%s, %s: %d", t->name, c->spec, status)) {
        fpemu_stats s = {0}, expected = {0};
        double sums[3];
        fpemu_layout l;
        for (i = 0; i < n; i++)
            want[place[i]] = word_of(t, (double)lh_float((uint32_t)right->element[i].y));
        compare_words(t, c->spec, c->r.mode, "tensor", room, x, want, y);
        for (i = 0; i < room; i++)
            y[i] = 0x1234;
        lh_check(fpemu_quantize_tensor(&c->f, &c->r, t->type, &shape, x, y, &s) == FPEMU_OK, "%s, %s: counted", t->name,
                 c->spec);
        compare_words(t, c->spec, c->r.mode, "counted tensor", room, x, want, y);
        ref_count(right, c->x, &expected, sums);
        lh_check(same_counters(&s, &expected) && (!c->f.scaling || s.blocks == expected.blocks) &&
                     s.max_error == expected.max_error && s.max_abs == expected.max_abs &&
                     s.min_abs == expected.min_abs,
                 "%s, %s: counters of blocks", t->name, c->spec);
        for (i = 0; i < room; i++)
            y[i] = want[i] = 0x1234;
        for (i = 0; i < n; i++) {
            y[place[i]] = dense[i];
            want[place[i]] = word_of(t, (double)lh_float((uint32_t)right->element[i].y));
        }
        lh_check(fpemu_quantize_tensor(&c->f, &c->r, t->type, &shape, y, y, NULL) == FPEMU_OK, "%s, %s: in place",
                 t->name, c->spec);
        compare_words(t, c->spec, c->r.mode, "in place", room, x, want, y);
        lines++;

        if (lh_check(fpemu_packed_layout(&c->f, &c->shape, &l) == FPEMU_OK, "%s: no layout", c->spec) && n) {
            unsigned char *bytes = calloc(l.bytes + 1, 1), *packed = calloc(l.bytes + 1, 1);
            unsigned char *codes = calloc(l.blocks + 1, 8);
            float *scales = calloc(l.blocks + 1, sizeof *scales);
            ref_pack(&c->f, right, packed);
            leave_on_stack(c->seed);
            lh_check(fpemu_pack(&c->f, &c->r, t->type, &shape, x, bytes, NULL) == FPEMU_OK &&
                         memcmp(bytes, packed, l.bytes) == 0,
                     "%s, %s: packed bytes", t->name, c->spec);
            if (c->f.scaling) {
                lh_check(fpemu_scales(&c->f, t->type, &shape, x, scales, codes, NULL) == FPEMU_OK &&
                             memcmp(codes, packed + l.scales_offset, l.blocks * l.scale_bytes) == 0,
                         "%s, %s: scales", t->name, c->spec);
                for (i = 0; i < l.blocks; i++)
                    if (!right->block[i].nan &&
                        !lh_check((double)scales[i] ==
                                      (double)(float)ldexp(right->block[i].scale, (int)right->block[i].exponent),
                                  "%s, %s: scale %g of block %u", t->name, c->spec, (double)scales[i], (unsigned)i))
                        break;
            }
            if (ref_unpack(&c->f, 32, right, packed, read)) {
                for (i = 0; i < room; i++)
                    y[i] = want[i] = 0x1234;
                for (i = 0; i < n; i++)
                    want[place[i]] = word_of(t, (double)lh_float((uint32_t)read[i]));
                leave_on_stack(c->seed);
                lh_check(fpemu_unpack(&c->f, t->type, &shape, packed, y) == FPEMU_OK, "%s, %s: unpack", t->name,
                         c->spec);
                compare_words(t, c->spec, c->r.mode, "unpack", room, x, want, y);
                /* one block by itself, its elements dense */
                const uint64_t b = lh_next(&state) % right->blocks, m = right->block[b].elements;
                uint16_t *part = calloc(m + 1, 2), *given = calloc(m + 1, 2);
                memset(bytes, 0xa5, l.bytes);
                memcpy(bytes, packed, l.scales_offset);
                for (i = 0; i < m; i++) {
                    const uint64_t at = right->order[right->block[b].first + i];
                    given[i] = dense[at];
                    part[i] = word_of(t, (double)lh_float((uint32_t)read[at]));
                }
                fpemu_extent e;
                fpemu_packed_extent(&c->f, &c->shape, b, &e);
                lh_check(fpemu_pack_blocks(&c->f, &c->r, t->type, &c->shape, b, 1, given, bytes, NULL) == FPEMU_OK &&
                             memcmp(bytes + e.offset, packed + e.offset, (m * l.element_bits + 7) / 8) == 0,
                         "%s, %s: one block packed", t->name, c->spec);
                memset(given, 0, (m + 1) * 2);
                lh_check(fpemu_unpack_blocks(&c->f, t->type, &c->shape, b, 1, packed, given) == FPEMU_OK &&
                             memcmp(given, part, m * 2) == 0 && given[m] == 0,
                         "%s, %s: one block unpacked", t->name, c->spec);
                free(part);
                free(given);
            }
            free(bytes);
            free(packed);
            free(codes);
            free(scales);
        }
    }
    digest = variants_fold(digest, y, room * 2);
    if (right)
        ref_free(right);
    free(x);
    free(y);
    free(want);
    free(dense);
    free(place);
    free(read);
}

static void blocks(void)
{
    block_case c = {0};
    c.carrier = 32;
    for (size_t i = 0; case_format(i, &c.f, c.spec); i++)
        for (unsigned k = 0; k < 8 && c.f.scaling != FPEMU_SCALING_S2FP8 && fpemu_format_fits_f32(&c.f); k++) {
            uint64_t state = k * UINT64_C(0x2545f4914f6cdd1d) + i + 1;
            const struct type *const t = &types[k % TYPES];
            if (!c.f.scaling && c.f.kind != FPEMU_KIND_CODEBOOK && !fpemu_format_fits(&c.f, t->type))
                continue;
            c.seed = state;
            (void)lh_next(&state);
            c.shape = k % 4 < 2 ? case_shape(&state) : fpemu_shape_vector(1 + lh_next(&state) % (k < 4 ? 700 : 9000));
            if (k == 1 || k == 6) { /* many columns, more than are taken at a time */
                c.shape = fpemu_shape_vector(20 + lh_next(&state) % 40);
                c.shape.inner = 200;
            }
            case_fill(&c);
            case_rounding(&c);
            c.r.compat = 0;
            block_tensor(t, &c, state);
        }
    case_free(&c);
}

static void measured(const struct type *t)
{
    static uint16_t x[WORDS];
    fpemu_range r = {0};
    fpemu_format f;
    fpemu_format_parse("nvfp4", &f, NULL);
    for (unsigned i = 0; i < WORDS; i++)
        x[i] = (uint16_t)i;
    const size_t finite = 2 * (size_t)t->infinity;
    lh_check(fpemu_measure(&f, t->type, 1000, x, &r) == FPEMU_OK && r.amax == value_of(t, 999) && r.min == 0 &&
                 r.count == 1000 && r.nonzero == 999,
             "%s: measured", t->name);
    lh_check(fpemu_measure(&f, t->type, WORDS - 1000, x + 1000, &r) == FPEMU_OK && r.count == WORDS &&
                 r.nonzero == finite - 2 && r.nonfinite == WORDS - finite && r.amax == value_of(t, t->most) &&
                 r.max == r.amax && r.min == -r.amax,
             "%s: all measured", t->name);
    uint64_t state = 7;
    for (unsigned k = 0; k < 2000; k++) { /* a few words, most of them finite */
        const size_t n = lh_next(&state) % 300, special = lh_next(&state) % 8 ? n : lh_next(&state) % 300;
        const uint64_t one_sign = lh_next(&state) % 3, zeros = lh_next(&state) % 4;
        fpemu_range want = {0};
        for (size_t i = 0; i < n; i++) {
            uint16_t w = (uint16_t)(lh_next(&state) % t->infinity);
            w = lh_next(&state) % 4 < zeros ? 0 : w;
            w = (uint16_t)(w | (one_sign == 0 ? 0 : one_sign == 1 ? 0x8000 : lh_next(&state) & 0x8000));
            x[i] = i == special ? (uint16_t)(t->infinity + lh_next(&state) % 3) : w;
            const double v = value_of(t, x[i]);
            want.count++;
            want.nonfinite += isfinite(v) ? 0 : 1;
            if (!isfinite(v))
                continue;
            want.nonzero += v != 0;
            want.amax = fmax(want.amax, fabs(v));
            want.max = fmax(want.max, v);
            want.min = fmin(want.min, v);
        }
        memset(&r, 0, sizeof r);
        lh_check(fpemu_measure(&f, t->type, n, x, &r) == FPEMU_OK && r.count == want.count &&
                     r.nonzero == want.nonzero && r.nonfinite == want.nonfinite && r.amax == want.amax &&
                     r.max == want.max && r.min == want.min,
                 "%s: %zu words measured: %a to %a, %" PRIu64 " not zero, not %a to %a, %" PRIu64, t->name, n, r.min,
                 r.max, r.nonzero, want.min, want.max, want.nonzero);
    }
}

/* ------------------------------------------------------------------------------------------ operations */

/* Products, and sums that binary64 holds, rounded by the judge of binary64; comparisons of exact products. The format
 * treats its subnormal numbers so; where it drops them the operands are near them. */
static void operations(const struct type *t, const char *spec, fpemu_subnormals subnormals)
{
    enum { N = 4099 };
    static uint16_t a[N], b[N], y[N], uncounted[N], want[N];
    static uint8_t relation[N];
    static double p[N], q[N];
    const void *const operands[] = {a, b, a};
    fpemu_format f;
    const ref_format *reference = ref_find(spec);
    uint64_t state = 99;
    if (!lh_check(reference && fpemu_format_parse(spec, &f, NULL) == FPEMU_OK, "no %s", spec))
        return;
    fpemu_format judged = reference->f;
    judged.subnormals = f.subnormals = (uint8_t)subnormals;
    lh_check(fpemu_format_complete(&f) == FPEMU_OK, "no %s that treats subnormal numbers as %d", spec, (int)subnormals);
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (int scaled = 0; scaled < 2; scaled++)
            for (int work = 0; work < 3; work++) {
                static const float scale[] = {0.75f, -3, 0x1p-4f, 1.0009765625f};
                const fpemu_operation operation = work == 2 ? FPEMU_OPERATION_MUL : (fpemu_operation)work;
                fpemu_operand_scales scales[3] = {0};
                fpemu_rounding r = fpemu_rounding_stochastic(5, 6);
                fpemu_stats s = {0}, expected = {0};
                size_t steps[3] = {1, 1, 1};
                steps[1] = (size_t)(mode % 4 != 3);
                r.mode = (uint8_t)mode;
                scales[0].values = scaled ? scale : NULL;
                scales[0].length = 7;
                scales[0].count = 4;
                judge *j = judge_open_any(&judged, &r, 64);
                for (size_t i = 0; i < N; i++) {
                    /* exponents near one another, so that binary64 holds the sums */
                    const uint64_t u = lh_next(&state);
                    const uint16_t near = (uint16_t)(subnormals ? 0 : (t->bias - 4) << t->digits);
                    a[i] = (uint16_t)(i % 50 ? ((u & 0x8000) | (near + (u >> 20) % (8u << t->digits))) : u);
                    b[i] = (uint16_t)(i % 51 ? ((u >> 40 & 0x8000) | (near + (u >> 44) % (8u << t->digits))) : u >> 30);
                }
                for (size_t i = 0; i < N; i++) {
                    p[i] = values[t - types][a[i]] * (scaled ? (double)scale[i / 7 % 4] : 1);
                    q[i] = values[t - types][b[steps[1] ? i : 0]];
                    const double x = work == 2 ? p[i] * q[i] : work ? p[i] - q[i] : p[i] + q[i];
                    const double back = work == 2 ? 0 : work ? x + q[i] : x - q[i];
                    if (work != 2 && isfinite(x) && (back != p[i] || x - back != (work ? -q[i] : q[i]))) {
                        a[i] = 0; /* not exact */
                        p[i] = 0 * (scaled ? (double)scale[i / 7 % 4] : 1);
                    }
                }
                for (size_t i = 0; i < N && j; i++) {
                    const double x = work == 2 ? p[i] * q[i] : work ? p[i] - q[i] : p[i] + q[i];
                    const judge_result right = judge_round(j, isnan(x) ? 0x7ff8000000000000 : carrier_bits(64, x),
                                                           mode >= FPEMU_MODE_SR ? fpemu_random_bits(&r, i) : 0, 0);
                    want[i] = word_of(t, lh_double(right.bits));
                    if (mode == FPEMU_MODE_RTN && work != 2 && x == 0 &&
                        !signbit(p[i]) != !signbit(work ? -q[i] : q[i]))
                        want[i] = 0x8000; /* the sum of opposites is -0 downwards */
                    expect_counters(&expected, right.events, 0);
                }
                lh_check((scaled || work == 2
                              ? fpemu_arith_scaled(&f, &r, t->type, operation, N, operands, steps,
                                                   scaled ? scales : NULL, y, &s)
                              : fpemu_arith(&f, &r, t->type, operation, N, operands, steps, y, &s)) == FPEMU_OK,
                         "%s, %s: operation %d", t->name, spec, work);
                lh_check((scaled || work == 2 ? fpemu_arith_scaled(&f, &r, t->type, operation, N, operands, steps,
                                                                   scaled ? scales : NULL, uncounted, NULL)
                                              : fpemu_arith(&f, &r, t->type, operation, N, operands, steps, uncounted,
                                                            NULL)) == FPEMU_OK &&
                             memcmp(uncounted, y, sizeof y) == 0,
                         "%s, %s, mode %d: operation %d without counters", t->name, spec, mode, work);
                if (j) {
                    compare_words(t, spec, mode, "operation", N, a, want, y);
                    lh_check(s.overflow == expected.overflow && s.underflow == expected.underflow &&
                                 s.inexact == expected.inexact && s.subnormal == expected.subnormal,
                             "%s, %s, mode %d: counters of operation %d", t->name, spec, mode, work);
                    judge_close(j);
                }
                lines++;
                digest = variants_fold(digest, y, sizeof y);
                for (int k = 0; k < FPEMU_RELATION_COUNT; k++) {
                    lh_check(fpemu_compare_scaled(t->type, (fpemu_relation)k, N, operands, steps,
                                                  scaled ? scales : NULL, relation) == FPEMU_OK,
                             "%s: compare", t->name);
                    for (size_t i = 0; i < N; i++)
                        if (!lh_check(relation[i] == (k == 0   ? p[i] == q[i]
                                                      : k == 1 ? p[i] < q[i]
                                                               : p[i] <= q[i]),
                                      "%s: relation %d of %g, %g", t->name, k, p[i], q[i]))
                            break;
                }
            }
}

/* Functions of all words: what functions.c has judged in binary32. */
static void functions(const struct type *t, const char *spec)
{
    static uint16_t x[WORDS], y[WORDS];
    static float wide[WORDS], right[WORDS];
    static const fpemu_function some[] = {FPEMU_FUNCTION_EXP, FPEMU_FUNCTION_TANH, FPEMU_FUNCTION_GELU};
    fpemu_format f;
    const fpemu_rounding r = {0};
    fpemu_format_parse(spec, &f, NULL);
    for (unsigned i = 0; i < WORDS; i++) {
        x[i] = (uint16_t)i;
        wide[i] = (float)values[t - types][i];
    }
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        lh_check(fpemu_apply(&f, &r, t->type, some[k], WORDS, x, y, NULL) == FPEMU_OK &&
                     fpemu_apply_f32(&f, &r, some[k], WORDS, wide, right, NULL) == FPEMU_OK,
                 "%s: apply", t->name);
        for (unsigned i = 0; i < WORDS; i++)
            if (!lh_check(y[i] == word_of(t, (double)right[i]), "%s: function %zu of %04x", t->name, k, i))
                break;
    }
}

int main(int argc, char **argv)
{
    child = variants_is_child(argc, argv);
    find_values();
    scalars();
    blocks();
    for (int t = 0; t < TYPES; t++) {
        nan_policies(&types[t]);
        measured(&types[t]);
        operations(&types[t], "e4m3fn", FPEMU_SUBNORMALS_KEEP);
        operations(&types[t], "e5m2", FPEMU_SUBNORMALS_KEEP);
        operations(&types[t], t ? "bf16" : "fp16", FPEMU_SUBNORMALS_KEEP);
        operations(&types[t], t ? "bf16" : "fp16", FPEMU_SUBNORMALS_FLUSH_IN);
        operations(&types[t], t ? "bf16" : "fp16", FPEMU_SUBNORMALS_FLUSH_OUT);
        if (!child)
            functions(&types[t], t ? "bf16" : "fp16");
    }
    printf("narrow: %lu arrays of words judged\n", lines);
    return variants_end(argc, argv, "narrow", digest);
}
