/* SPDX-License-Identifier: BSD-2-Clause */
/* api_tensors.c - calls on tensors: quantise with strides and in slices, ranges. */
#include "../../tools/common/system.h"

#include "api.h"

/* ------------------------------------------------------------------------------------------------------ the shapes */
size_t shape_elements(const fpemu_shape *s)
{
    return (size_t)(s->outer * s->rows * s->length * s->inner);
}

/* Two threads share the tensor: one of its sizes grows. Blocks that are as long as an axis, or all others, are shared
 * themselves. */
static void grow(fpemu_shape *s, const fpemu_format *f, uint32_t axis)
{
    const int blocked = f->scaling != FPEMU_SCALING_NONE;
    uint64_t *const sizes[] = {&s->outer, &s->rows, &s->length, &s->inner};
    if (blocked && f->block == FPEMU_BLOCK_ROW) {
        axis = 2;
        s->outer = s->rows = s->inner = 1;
    } else if (blocked && f->block == FPEMU_BLOCK_CHANNEL) {
        axis = axis == 2 ? 3 : axis;
        s->length = 1;
    }
    *sizes[axis] *= LONG / shape_elements(s) + 1;
}

fpemu_shape draw_shape(draw *d, const fpemu_format *f, int used)
{
    fpemu_shape s = fpemu_shape_vector(0);
    const uint32_t any = draw_below(d, 256), kind = any % 4;
    s.outer = draw_below(d, 4) + 1;
    s.rows = draw_below(d, kind == 1 ? 12 : 3) + 1;
    s.length = draw_below(d, kind == 2 ? 200 : 40);
    s.inner = draw_below(d, kind == 3 ? 20 : 2) + 1;
    const int lines = f->scaling != FPEMU_SCALING_NONE &&
                      (f->block == FPEMU_BLOCK_ROW || f->block == FPEMU_BLOCK_CHANNEL); /* seldom drawn */
    if (used && any >= (lines ? 64 : 240) && s.length > 0)
        grow(&s, f, kind);
    return s;
}

/* Strides of the four axes in some order, with gaps, from one end or the other; *first is the place of element 0, and
 * the result how many places there are. */
static size_t draw_strides(draw *d, const fpemu_shape *s, int64_t stride[4], size_t *first)
{
    const uint64_t sizes[4] = {s->outer, s->rows, s->length, s->inner};
    int order[4] = {3, 2, 1, 0};
    size_t places = 1;
    *first = 0;
    for (int i = 3; i > 0; i--) {
        const int j = (int)draw_below(d, (uint32_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
    for (int i = 0; i < 4; i++) {
        const uint32_t flags = draw_below(d, 256);
        const int axis = order[i];
        places += flags & 3 ? 0 : flags >> 4 & 3; /* a gap */
        stride[axis] = (int64_t)places;
        const size_t span = sizes[axis] > 0 ? places * (size_t)(sizes[axis] - 1) : 0;
        if (flags & 4) {
            stride[axis] = -stride[axis];
            *first += span;
        }
        places += span;
    }
    return places;
}

static size_t place(const fpemu_shape *s, const int64_t stride[4], size_t first, size_t index)
{
    const size_t i = index % s->inner, l = index / s->inner % s->length, r = index / s->inner / s->length % s->rows;
    const size_t o = index / s->inner / s->length / s->rows;
    return (size_t)((int64_t)first + (int64_t)o * stride[0] + (int64_t)r * stride[1] + (int64_t)l * stride[2] +
                    (int64_t)i * stride[3]);
}

static void scatter(int carrier, const fpemu_shape *s, const int64_t stride[4], size_t first, const array *from,
                    array *to)
{
    const size_t size = carrier_size(carrier), n = shape_elements(s);
    for (size_t i = 0; i < n; i++)
        memcpy(to->data + place(s, stride, first, i) * size, from->data + i * size, size);
}

/* ------------------------------------------------------------------------------------------------------- quantise */
uint32_t draw_want(draw *d, const fpemu_format *f)
{
    return draw_below(d, 8) & (f->scaling != FPEMU_SCALING_NONE && f->scaling != FPEMU_SCALING_S2FP8 ? 7 : 3);
}

/* The same elements elsewhere in memory give the same, and nothing between them is written. */
static void tensor_strided(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                           const array *x, const array *y, uint32_t want, const counted *c)
{
    const size_t size = carrier_size(carrier);
    fpemu_shape strided = *s;
    size_t x_first, y_first;
    const size_t x_places = draw_strides(d, s, strided.x_stride, &x_first);
    const size_t y_places = draw_strides(d, s, strided.y_stride, &y_first);
    counted again;
    array u = array_new(d, x_places * size, size), v = array_new(d, y_places * size, size);
    array expected = array_new(d, v.bytes, size);
    memcpy(expected.data, v.data, v.bytes);
    scatter(carrier, s, strided.x_stride, x_first, x, &u);
    scatter(carrier, s, strided.y_stride, y_first, y, &expected);
    fpemu_quantize_tensor(f, r, carrier, &strided, u.data + x_first * size, v.data + y_first * size,
                          count_into(&again, want));
    INSIST(memcmp(v.data, expected.data, v.bytes) == 0, "strides change a result, or a gap was written");
    INSIST(counted_same(c, &again, 1), "strides change the counters");
}

int same_codes(const fpemu_format *f, const fpemu_rounding *r)
{
    if (r->compat != FPEMU_COMPAT_NONE || f->kind == FPEMU_KIND_CODEBOOK || !exact_steps(f))
        return 0;
    switch (f->scaling) {
    case FPEMU_SCALING_NONE:
    case FPEMU_SCALING_S2FP8: return 1;
    case FPEMU_SCALING_FLOOR:
    case FPEMU_SCALING_CEIL:
    case FPEMU_SCALING_EVEN:
    case FPEMU_SCALING_HBFP:
    case FPEMU_SCALING_MUPPET: return f->scale_power || f->scale_mantissa_bits == 0;
    default: return 0;
    }
}

/* w is the word of 16 bits nearest to y, ties to even; finite if y is. */
static int nearest_word(int carrier, uint16_t w, double y)
{
    const uint16_t above = (uint16_t)(w + 1), below = (uint16_t)(w - 1);
    const double v = carrier_load(carrier, &w, 0);
    if (!isfinite(y) || v == y)
        return api_same(v, y);
    const double up = carrier_load(carrier, &above, 0), away = fabs(v - y);
    const double down = w & 0x7fff ? carrier_load(carrier, &below, 0) : up; /* of zero: away from it only */
    if (!isfinite(v) || !signbit(v) != !signbit(y))
        return 0;
    if (!isfinite(up) && fabs(y) > fabs(v))
        return 1;
    return (away < fabs(up - y) || (away == fabs(up - y) && !(w & 1))) &&
           (away < fabs(down - y) || (away == fabs(down - y) && !(w & 1)));
}

int wider_values(int carrier, int wider, const fpemu_format *f, size_t n, const array *y, const array *v)
{
    int same = 1;
    for (size_t i = 0; i < n; i++) {
        const double a = carrier_load(carrier, y->data, i), b = carrier_load(wider, v->data, i);
        if (api_same(a, b))
            continue;
        same = 0;
        if (carrier == F32) {
            const float narrow = (float)b;
            const int cut = isinf(narrow) && isfinite(b) && f->scaling != FPEMU_SCALING_NONE;
            INSIST(f->scaling != FPEMU_SCALING_NONE, "two carriers give different numbers");
            INSIST(api_same(a, cut ? copysign(0x1.fffffep127, b) : (double)narrow), "a result is not the wider one's");
        } else {
            uint16_t word;
            memcpy(&word, y->data + 2 * i, 2);
            INSIST(nearest_word(carrier, word, b), "a word is not the nearest");
        }
    }
    return same;
}

/* The same numbers by the next wider carrier; of words of 16 bits by binary32, of which they are defined. */
static void tensor_wider(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                         const array *x, const array *y, fpemu_status status, const counted *c)
{
    const int wider = carrier == F32 ? F64 : F32;
    if (carrier == F64 || x->bytes == 0 || (carrier == F32 && !same_codes(f, r)))
        return;
    counted again;
    array u = array_widened(d, carrier, wider, x), v = array_new(d, u.bytes, carrier_size(wider));
    INSIST(fpemu_quantize_tensor(f, r, wider, s, u.data, v.data, count_into(&again, c->stats.request.want)) == status,
           "other status by the wider carrier");
    const int same = wider_values(carrier, wider, f, shape_elements(s), y, &v);
    INSIST(!(same || carrier != F32) || counted_same(c, &again, 1), "the wider carrier counts otherwise");
}

/* Whether the format has something of the whole tensor, which shape.whole tells (doc/blocks.md, 1.2). */
static int reads_whole(const fpemu_format *f)
{
    return f->scaling != FPEMU_SCALING_NONE &&
           (f->block == FPEMU_BLOCK_TENSOR || f->scaling == FPEMU_SCALING_S2FP8 || f->scaling == FPEMU_SCALING_NVFP4 ||
            f->scaling == FPEMU_SCALING_NVFP4_AO || f->scaling >= FPEMU_SCALING_4OVER6);
}

int draw_range(draw *d, const fpemu_format *f, fpemu_range *range)
{
    memset(range, 0, sizeof *range);
    const uint32_t kind = draw_below(d, 16), broken = draw_below(d, 8);
    if (kind == 0)
        return 1; /* delayed scaling begins with it */
    const double x = fabs(draw_number(d, f));
    range->amax = range->max = isfinite(x) ? x : 1;
    range->min = -range->max;
    range->count = draw_word(d, 2);
    range->nonzero = draw_word(d, 2);
    range->nonfinite = draw_below(d, 4) == 0;
    range->log2_max = (int16_t)draw_word(d, 2) % 1075;
    range->log2_low = draw_word(d, 8);
    range->log2_high = (int64_t)draw_word(d, draw_below(d, 9));
    if (kind < 12)
        return 1;
    switch (broken) {
    case 0: range->amax = NAN; break;
    case 1: range->amax = -1; break;
    case 2: range->amax = INFINITY; break;
    case 3: range->max = -0x1p-1074; break;
    case 4: range->min = 0x1p-1074; break;
    case 5: range->max = INFINITY; break;
    case 6: range->log2_max = NAN; break;
    default: range->reserved0[draw_below(d, 3)] = 1;
    }
    return 0;
}

/* Slices along `outer` that are told the range of the whole. Channels lie across them. */
static void tensor_slices(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                          const fpemu_range *range, const array *x, const array *y, uint32_t want, const counted *c)
{
    const int blocked = f->scaling != FPEMU_SCALING_NONE;
    if (blocked && f->block == FPEMU_BLOCK_CHANNEL)
        return;
    const uint64_t cut = draw_below(d, (uint32_t)s->outer + 1);
    const size_t size = carrier_size(carrier), at = (size_t)(cut * (s->rows * s->length * s->inner));
    counted first, second;
    fpemu_shape slice = *s;
    fpemu_rounding later = *r;
    array z = array_new(d, y->bytes, size);
    slice.whole = range;
    slice.outer = cut;
    fpemu_quantize_tensor(f, r, carrier, &slice, x->data, z.data, count_into(&first, want));
    slice.outer = s->outer - cut;
    later.offset += at;
    fpemu_quantize_tensor(f, &later, carrier, &slice, x->data + at * size, z.data + at * size,
                          count_into(&second, want));
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two slices and the whole differ");
    if (!blocked || f->block != FPEMU_BLOCK_TENSOR) /* each slice is a block of its own there */
        counted_pieces(&first, &second, c, blocked || cut == 0 || cut == s->outer || later.offset % 4096 == 0);
}

/* The tensor's own range when it is told, and any other. */
static void tensor_told(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *s,
                        const array *x, const array *y, fpemu_status status, uint32_t want, const counted *c)
{
    counted again;
    fpemu_range range = {0};
    fpemu_shape told = *s;
    told.whole = &range;
    array z = array_new(d, y->bytes, carrier_size(carrier));
    INSIST(fpemu_measure(f, carrier, shape_elements(s), x->data, &range) == FPEMU_OK, "not measured");
    INSIST(fpemu_quantize_tensor(f, r, carrier, &told, x->data, z.data, count_into(&again, want)) == status,
           "other status with the range told");
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "the range told differs from the range measured");
    INSIST(counted_same(c, &again, 1), "the range told counts otherwise");
    tensor_slices(d, carrier, f, r, s, &range, x, y, want, c);

    z = array_new(d, y->bytes, carrier_size(carrier));
    const int can_be = draw_range(d, f, &range);
    const fpemu_status other = fpemu_quantize_tensor(f, r, carrier, &told, x->data, z.data, count_into(&again, want));
    if (!can_be) {
        INSIST(other == FPEMU_ERROR_ARGUMENT, "a range that cannot be is taken");
        array_untouched(&z, "a refused call wrote");
        counted_untouched(&again, want);
    } else {
        INSIST(other == FPEMU_OK || other == FPEMU_ERROR_NAN, "a range is refused");
        INSIST(reads_whole(f) || memcmp(z.data, y->data, y->bytes) == 0, "a range that nothing needs changes results");
        api_digest(z.data, z.bytes);
        counted_digest(&again);
    }
}

int draw_whole(draw *d, fpemu_format *f)
{
    static const char *const texts[] = {"nvfp4", "nvfp4(e2m1,block=16,scale=e4m3fn,rule=nvfp4-ao)", "s2fp8"};
    static const fpemu_name names[] = {FPEMU_NAME_E4M3FN, FPEMU_NAME_E2M1, FPEMU_NAME_E5M2};
    fpemu_format element, scale;
    const uint32_t which = draw_below(d, 6), rule = draw_below(d, FPEMU_SCALING_COUNT), power = draw_below(d, 2);
    if (which < 3) {
        INSIST(fpemu_format_parse(texts[which], f, NULL) == FPEMU_OK, texts[which]);
        return 1;
    }
    fpemu_format_named(names[which - 3], &element);
    fpemu_format_named(FPEMU_NAME_BINARY32, &scale);
    return fpemu_format_blocked(f, &element, (fpemu_scaling)rule, power ? NULL : &scale, power ? 8 : 0,
                                FPEMU_BLOCK_TENSOR, 0, 0) == FPEMU_OK;
}

static void tensor_of(draw *d, const fpemu_format *f, int complete)
{
    fpemu_rounding r;
    counted c;
    const int carrier = draw_carrier(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_status expected = fpemu_check(f, &r, carrier, NULL);
    const fpemu_shape shape = draw_shape(d, f, expected == FPEMU_OK);
    const size_t n = shape_elements(&shape), size = carrier_size(carrier);
    const uint32_t want = draw_want(d, f);
    array x = draw_array(d, carrier, complete ? f : NULL, n), y = array_new(d, x.bytes, size);
    api_describe("tensor", f, &r, carrier, n);
    const fpemu_status status = fpemu_quantize_tensor(f, &r, carrier, &shape, x.data, y.data, count_into(&c, want));
    const int done = api_done(status, &y, &c, want);
    INSIST(done ? expected == FPEMU_OK || n == 0 : expected == status, "fpemu_check and the call disagree");
    if (done) {
        if (n > 0) {
            tensor_strided(d, carrier, f, &r, &shape, &x, &y, want, &c);
            tensor_told(d, carrier, f, &r, &shape, &x, &y, status, want, &c);
        }
        array z = array_copy(d, &x, size);
        fpemu_quantize_tensor(f, &r, carrier, &shape, z.data, z.data, NULL);
        INSIST(FPEMU_CORRECTED(f) || memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
        tensor_wider(d, carrier, f, &r, &shape, &x, &y, status, &c);
        if (shape.outer == 1 && shape.rows == 1 && shape.inner == 1) {
            z = array_new(d, x.bytes, size);
            fpemu_quantize(f, &r, carrier, n, x.data, z.data, NULL);
            INSIST(memcmp(z.data, y.data, y.bytes) == 0, "the call on arrays differs");
        }
    }
}

void api_tensor(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f);
    tensor_of(d, &f, complete);
    if (draw_below(d, 8) == 0) {
        const int whole = draw_whole(d, &f);
        tensor_of(d, &f, whole);
    }
}

/* ------------------------------------------------------------------------------------------------------- ranges */
void api_measure(draw *d)
{
    fpemu_format f;
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, CARRIERS);
    int many;
    const uint32_t some = draw_seldom(d, 200, &many);
    const size_t n = many ? LONG + some : some, size = carrier_size(carrier);
    const size_t cut = n > 0 ? draw_below(d, (uint32_t)n + 1) : 0;
    fpemu_range whole = {0}, pieces = {0}, other;
    fpemu_rounding r = fpemu_rounding_nearest();
    api_describe("measure", &f, &r, carrier, n);
    array x = draw_array(d, carrier, complete ? &f : NULL, n);
    const fpemu_status status = fpemu_measure(&f, carrier, n, x.data, &whole);
    INSIST(status == fpemu_check(&f, &r, carrier == F64 ? 64 : 32, NULL), "fpemu_check and measuring disagree");
    const int can_be = draw_range(d, &f, &other);
    const fpemu_range before = other;
    const fpemu_status added = fpemu_measure(&f, carrier, n, x.data, &other);
    INSIST(added == (status == FPEMU_OK && !can_be ? FPEMU_ERROR_ARGUMENT : status), "a range that cannot be");
    INSIST(added == FPEMU_OK || memcmp(&other, &before, sizeof before) == 0, "a refused call changed the range");
    if (status != FPEMU_OK) {
        INSIST(memcmp(&whole, &pieces, sizeof whole) == 0, "a refused call changed the range");
    } else {
        fpemu_measure(&f, carrier, n - cut, (x.data + cut * size), &pieces);
        fpemu_measure(&f, carrier, cut, x.data, &pieces);
        INSIST(memcmp(&whole, &pieces, sizeof whole) == 0, "pieces measure otherwise");
        double max = 0, min = 0;
        uint64_t nonzero = 0, nonfinite = 0;
        for (size_t i = 0; i < n; i++) {
            const double v = carrier_load(carrier, x.data, i);
            max = isfinite(v) && v > max ? v : max;
            min = isfinite(v) && v < min ? v : min;
            nonzero += isfinite(v) && v != 0;
            nonfinite += isfinite(v) ? 0 : 1;
        }
        INSIST(whole.max == max && whole.min == min && whole.amax == fmax(max, -min), "other ends than C's");
        INSIST(whole.count == n && whole.nonzero == nonzero && whole.nonfinite == nonfinite, "other counts than C's");
        double history[4] = {0};
        fpemu_delayed delayed = {.length = draw_below(d, 5), .latest = draw_below(d, 3)};
        delayed.history = draw_below(d, 8) ? history : NULL;
        for (int i = 0; i < 6; i++) {
            if (fpemu_delayed_update(&delayed, &whole) != FPEMU_OK) {
                INSIST(delayed.length == 0 || delayed.latest > 1 || delayed.history == NULL, "an update is refused");
                break;
            }
        }
        api_digest(&whole, sizeof whole);
        api_digest(history, sizeof history);
    }
}
