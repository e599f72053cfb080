/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow.c - arrays of binary16 and bfloat16 words against judges: blocked formats, packing and scales along any
 * strides. What a number becomes as a word is found here by search among all words. Each of the 2^16 words to every scalar
 * format, and operations on them, are for words.c.
 *
 * `narrow digest variant` ends with a digest of results; the program runs itself so for each instruction set. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "blocks_cases.h"
#include "expected.h"
#include "half_words.h"
#include "variants.h"

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static unsigned long lines;

static uint64_t binary32(double x)
{
    const uint32_t sign = signbit(x) ? 0x80000000u : 0;
    return isnan(x) ? sign | 0x7fc00000u : lh_float_bits((float)x);
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
        const char *const other = other_counts(&s, &expected);
        lh_check(!other && (!c->f.scaling || s.blocks == expected.blocks), "%s, %s: counters of blocks: %s", t->name,
                 c->spec, other ? other : "blocks");
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
                fpemu_range measured = {0};
                (void)fpemu_measure(&c->f, t->type, n, dense, &measured);
                fpemu_shape told = c->shape;
                told.whole = told.whole ? told.whole : &measured; /* 4over6 rules need it */
                lh_check(c->f.outer ||
                             fpemu_pack_blocks(&c->f, &c->r, t->type, &told, b, 1, given, bytes, NULL) == FPEMU_OK &&
                                 memcmp(bytes + e.offset, packed + e.offset, (m * l.element_bits + 7) / 8) == 0,
                         "%s, %s: one block packed", t->name, c->spec);
                memset(given, 0, (m + 1) * 2);
                lh_check(fpemu_unpack_blocks(&c->f, t->type, &c->shape, b, 1, packed, given) == FPEMU_OK &&
                             memcmp(given, part, m * 2) == 0 && given[m] == 0,
                         "%s, %s: one block unpacked", t->name, c->spec);
                FREE(part, given);
            }
            FREE(bytes, packed, codes, scales);
        }
    }
    digest = fnv(digest, y, room * 2);
    if (right)
        ref_free(right);
    FREE(x, y, want, dense, place, read);
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
    printf("narrow: %lu arrays of words judged\n", lines);
    return variants_end(argc, argv, "narrow", digest);
}
