/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.c - arrays of binary16 and bfloat16 words along any strides, of every blocked format: values, packed bytes
 * and scales against the calls for binary32, which blocks.c, packing.c and blocks_scales.c judge. Single blocks are for
 * fuzz/api.sh, each of the 2^16 words to every scalar format, and operations on them, for words.c.
 *
 * `narrow digest variant` ends with a digest of results; the program runs itself so for each instruction set. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "../judges/longhand.h"
#include "blocks_cases.h"
#include "half_words.h"
#include "variants.h"

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static unsigned long lines;

static void compare_words(const struct type *t, const block_case *c, const char *what, size_t n, const float *floats,
                          const uint16_t *words)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] != word_of(t, (double)floats[i])) {
            lh_check(0, "%s, %s, mode %d, %s, place %zu: of floats %a, of words %04x", t->name, c->spec, c->r.mode,
                     what, i, (double)floats[i], words[i]);
            return;
        }
}

/* Packed and read again. */
static void packed_tensor(const struct type *t, const block_case *c, const fpemu_shape *shape, size_t room,
                          const float *x32, const uint16_t *x)
{
    fpemu_layout l;
    if (!lh_check(fpemu_packed_layout(&c->f, shape, &l) == FPEMU_OK, "%s: no layout", c->spec) || l.blocks == 0)
        return;
    unsigned char *bytes[2] = {calloc(l.bytes + 1, 1), calloc(l.bytes + 1, 1)};
    unsigned char *codes[2] = {calloc(l.blocks, 8), calloc(l.blocks, 8)};
    float *scales[2] = {calloc(l.blocks, sizeof **scales), calloc(l.blocks, sizeof **scales)};
    float *y32 = calloc(room, sizeof *y32);
    uint16_t *y = calloc(room, sizeof *y);
    fpemu_pack_f32(&c->f, &c->r, shape, x32, bytes[0], NULL);
    leave_on_stack(c->seed);
    fpemu_pack(&c->f, &c->r, t->type, shape, x, bytes[1], NULL);
    lh_check(memcmp(bytes[0], bytes[1], l.bytes + 1) == 0, "%s, %s: packed bytes", t->name, c->spec);
    if (c->f.scaling) {
        fpemu_scales_f32(&c->f, shape, x32, scales[0], codes[0], NULL);
        fpemu_scales(&c->f, t->type, shape, x, scales[1], codes[1], NULL);
        lh_check(memcmp(scales[0], scales[1], l.blocks * sizeof **scales) == 0, "%s, %s: scales", t->name, c->spec);
        lh_check(memcmp(codes[0], codes[1], l.blocks * 8) == 0, "%s, %s: codes of scales", t->name, c->spec);
    }
    fpemu_unpack_f32(&c->f, shape, bytes[0], y32);
    leave_on_stack(c->seed);
    fpemu_unpack(&c->f, t->type, shape, bytes[0], y);
    compare_words(t, c, "unpack", room, y32, y);
    FREE(bytes[0], bytes[1], codes[0], codes[1], scales[0], scales[1], y32, y);
}

/* A tensor with strides, in place too. */
static void block_tensor(const struct type *t, const block_case *c, uint64_t state)
{
    const uint64_t size[4] = {c->shape.outer, c->shape.rows, c->shape.length, c->shape.inner};
    const unsigned gap = (unsigned)(lh_next(&state) % 3);
    fpemu_shape shape = c->shape;
    int64_t step = 1 + (gap == 2);
    for (int a = 3; a >= 0; a--) {
        shape.x_stride[a] = shape.y_stride[a] = gap ? step : 0;
        step *= (int64_t)size[a] + (gap && a == 3);
    }
    const size_t room = (size_t)step + 1;
    float *x32 = calloc(room, sizeof *x32), *y32 = calloc(room, sizeof *y32);
    uint16_t *x = calloc(room, sizeof *x), *y = calloc(room, sizeof *y);
    fpemu_stats right = {0}, counted = {0};
    for (size_t i = 0; i < room; i++) {
        x[i] = word_of(t, (double)lh_float((uint32_t)c->x[i % (c->n + (c->n == 0))]));
        x32[i] = (float)values[t - types][x[i]];
    }
    const fpemu_status status = fpemu_quantize_tensor_f32(&c->f, &c->r, &shape, x32, y32, &right);
    /* the last in place, where gaps keep what they have; corrections refuse that */
    for (int k = 0; k < (FPEMU_CORRECTED(&c->f) ? 2 : 3); k++) {
        memset(y, 0, room * sizeof *y);
        if (k == 2)
            memcpy(y, x, room * sizeof *y);
        leave_on_stack(c->seed);
        lh_check(fpemu_quantize_tensor(&c->f, &c->r, t->type, &shape, k == 2 ? y : x, y, k == 1 ? &counted : NULL) ==
                     status,
                 "%s, %s: another status than %d", t->name, c->spec, status);
        if (k == 2) {
            memcpy(y32, x32, room * sizeof *y32);
            fpemu_quantize_tensor_f32(&c->f, &c->r, &shape, y32, y32, NULL);
        }
        compare_words(t, c, k == 2 ? "in place" : "tensor", room, y32, y);
    }
    lh_check(memcmp(&right, &counted, sizeof right) == 0, "%s, %s: counters", t->name, c->spec);
    packed_tensor(t, c, &shape, room, x32, x);
    digest = fnv(digest, y, room * sizeof *y);
    lines++;
    FREE(x32, y32, x, y);
}

static void blocks(void)
{
    block_case c = {.carrier = 32};
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

int main(int argc, char **argv)
{
    find_values();
    blocks();
    printf("narrow: %lu arrays of words compared\n", lines);
    return variants_end(argc, argv, "narrow", digest);
}
