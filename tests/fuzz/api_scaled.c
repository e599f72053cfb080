/* SPDX-License-Identifier: BSD-2-Clause */
/* api_scaled.c - arithmetic and comparisons of operands with scales and without; layouts of packed bytes and the order of scales;
 * single elements, names and random words. */
#include "../../tools/common/system.h"

#include "api.h"

enum { SHORT = 48 };

/* ------------------------------------------------------------------------------------------- operands with scales */
typedef struct scaled {
    array x, scales;
    size_t step, n;
    uint64_t length, count;
    int given;
} scaled;

static size_t scale_of(const scaled *s, size_t i)
{
    const uint64_t block = s->length ? i / s->length : 0;
    return (size_t)(s->count ? block % s->count : block);
}

static scaled draw_scaled(draw *d, int carrier, const fpemu_format *f, size_t n, int with_scales)
{
    scaled s = {.step = draw_below(d, 4) != 0, .given = with_scales && draw_below(d, 4) != 0};
    const int wide = carrier == F64 ? F64 : F32;
    s.n = s.step ? n : 1;
    s.length = draw_below(d, 3) ? draw_below(d, 40) : 0;
    s.count = draw_below(d, 3) ? 0 : 1 + draw_below(d, 7);
    s.x = draw_array(d, carrier, f, s.n);
    size_t most = 0; /* a single number is used with every element's scale */
    for (size_t i = 0; i < n; i++) {
        const size_t at = scale_of(&s, i);
        most = at + 1 > most ? at + 1 : most;
    }
    s.scales = array_new(d, (most > 0 ? most : 1) * carrier_size(wide), carrier_size(wide));
    const int exact = draw_below(d, 4) != 0; /* binary64: most calls have products that it holds */
    for (size_t i = 0; i < s.scales.bytes / carrier_size(wide); i++) {
        const int power = (int)(draw_word(d, 1) % 32) - 16;
        carrier_store(wide, s.scales.data, i, exact ? ldexp(1, power) : draw_number(d, NULL));
    }
    return s;
}

static double product_of(const scaled *s, int carrier, size_t i)
{
    const double x = carrier_load(carrier, s->x.data, s->step ? i : 0);
    return s->given ? x * carrier_load(carrier == F64 ? F64 : F32, s->scales.data, scale_of(s, i)) : x;
}

/* The structs of the calls. */
typedef struct taken {
    const void *operands[3];
    size_t steps[3];
    fpemu_operand_scales scales[3];
    int with_scales;
} taken;

static void take(taken *t, const scaled *s, int i)
{
    t->operands[i] = s->x.data;
    t->steps[i] = s->step;
    t->scales[i] = (fpemu_operand_scales){{s->given ? s->scales.data : NULL}, s->length, s->count};
}

static fpemu_status arith(int carrier, const fpemu_format *f, const fpemu_rounding *r, fpemu_operation operation,
                          size_t n, const taken *t, void *y, fpemu_stats *stats)
{
    return t->with_scales ? fpemu_arith_scaled(f, r, carrier, operation, n, t->operands, t->steps, t->scales, y, stats)
                          : fpemu_arith(f, r, carrier, operation, n, t->operands, t->steps, y, stats);
}

/* The product of two binary32 numbers is one of binary64: the operation on those gives the same. */
static void arith_wider(int carrier, const fpemu_format *f, const fpemu_rounding *r, fpemu_operation operation,
                        size_t n, const scaled *s, const array *y)
{
    double wide[3][SHORT], result[SHORT];
    const double *const at[3] = {wide[0], wide[1], wide[2]};
    if (carrier == F64 || n > SHORT || !fpemu_format_fits_f64(f) || f->kind == FPEMU_KIND_INT)
        return;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < n; i++)
            wide[k][i] = product_of(&s[k], carrier, i);
    fpemu_arith_f64(f, r, operation, n, at, NULL, result, NULL);
    for (size_t i = 0; i < n; i++)
        INSIST(api_same(result[i], carrier_load(carrier, y->data, i)), "scaled operands and their products differ");
}

/* In two pieces, the second with a scale for each element. */
static void arith_pieces(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r,
                         fpemu_operation operation, size_t n, const scaled *s, taken *t, const array *y, uint32_t want,
                         const counted *whole)
{
    const size_t size = carrier_size(carrier), cut = draw_cut(d, n, r->offset);
    const int wide = carrier == F64 ? F64 : F32;
    counted first, second;
    fpemu_rounding later = *r;
    later.offset += cut;
    array z = array_new(d, y->bytes, size), scales[3];
    arith(carrier, f, r, operation, cut, t, z.data, count_into(&first, want));
    for (int k = 0; k < 3; k++) {
        scales[k] = array_new(d, (n - cut) * carrier_size(wide), carrier_size(wide));
        for (size_t i = cut; i < n; i++)
            carrier_store(wide, scales[k].data, i - cut, carrier_load(wide, s[k].scales.data, scale_of(&s[k], i)));
        t->operands[k] = s[k].x.data + (s[k].step ? cut * size : 0);
        t->scales[k] = (fpemu_operand_scales){{s[k].given ? scales[k].data : NULL}, 1, 0};
    }
    arith(carrier, f, &later, operation, n - cut, t, z.data + cut * size, count_into(&second, want));
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two pieces and the whole differ");
    counted_pieces(&first, &second, whole, sums_cut(cut, n, &later));
    for (int k = 0; k < 3; k++)
        take(t, &s[k], k);
}

static void arith_ones(int carrier, const fpemu_format *f, const fpemu_rounding *r, fpemu_operation operation, size_t n,
                       const scaled *s, const array *y)
{
    for (size_t i = 0; i < n && carrier_size(carrier) > 2; i += 1 + n / SHORT) {
        const double a = product_of(&s[0], carrier, i), b = product_of(&s[1], carrier, i);
        const double c = product_of(&s[2], carrier, i);
        const double one = carrier == F32
                               ? (double)fpemu_arith_one_f32(f, r, operation, (float)a, (float)b, (float)c, i)
                               : fpemu_arith_one_f64(f, r, operation, a, b, c, i);
        INSIST(api_same(one, carrier_load(carrier, y->data, i)), "one operation and the array differ");
    }
}

/* Operations with scales for the operands, or without any. */
static void arith_of(draw *d, int with_scales)
{
    fpemu_format f;
    fpemu_rounding r;
    counted c;
    scaled s[3];
    taken t = {.with_scales = with_scales};
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_operation operation = (fpemu_operation)draw_below(d, FPEMU_OPERATION_COUNT + 1);
    const uint32_t kind = draw_below(d, 64), some = draw_below(d, SHORT + 1), want = draw_below(d, 4);
    const uint32_t same = draw_below(d, 4);
    /* most calls are refused, and more of the others long */
    const int used = fpemu_check(&f, &r, carrier, NULL) == FPEMU_OK;
    const size_t n = kind > (used ? 58 : 62) ? LONG + some : kind > 56 ? 32 * some : some, size = carrier_size(carrier);
    for (int i = 0; i < 3; i++) {
        s[i] = draw_scaled(d, carrier, complete ? &f : NULL, n, with_scales);
        take(&t, &s[i], i);
    }
    array y = array_new(d, n * size, size);
    api_describe(with_scales ? "arith_scaled" : "arith", &f, &r, carrier, n);
    const fpemu_status status = arith(carrier, &f, &r, operation, n, &t, y.data, count_into(&c, want));
    if (!api_done(status, &y, &c, want) || n == 0)
        return;
    INSIST(complete, "a format that was refused is used");
    array z = array_new(d, y.bytes, size);
    INSIST(arith(carrier, &f, &r, operation, n, &t, z.data, NULL) == status, "status without counters");
    INSIST(memcmp(z.data, y.data, y.bytes) == 0, "counting changes results");
    arith_wider(carrier, &f, &r, operation, n, s, &y);
    arith_pieces(d, carrier, &f, &r, operation, n, s, &t, &y, want, &c);
    if (!with_scales)
        arith_ones(carrier, &f, &r, operation, n, s, &y);
    if (same == 3)
        return;
    /* the result in the place of an operand, or a single number within the result's */
    void *const place = z.data + (s[same].step ? 0 : draw_below(d, (uint32_t)n) * size);
    t.operands[same] = memcpy(place, s[same].x.data, s[same].x.bytes);
    INSIST(arith(carrier, &f, &r, operation, n, &t, z.data, NULL) == status, "other status in place");
    INSIST(memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
}

static void compare_of(draw *d, int with_scales)
{
    scaled s[2];
    taken t;
    const int carrier = draw_carrier(d, CARRIERS);
    const fpemu_relation relation = (fpemu_relation)draw_below(d, FPEMU_RELATION_COUNT + 1);
    int many;
    const uint32_t some = draw_seldom(d, 200, &many);
    const size_t n = many ? LONG + some : some;
    for (int i = 0; i < 2; i++) {
        s[i] = draw_scaled(d, carrier, NULL, n, with_scales);
        take(&t, &s[i], i);
    }
    array y = array_new(d, n, 1);
    CASE("compare%s relation %d carrier %d n %zu", with_scales ? "_scaled" : "", (int)relation, carrier, n);
    const fpemu_status status = with_scales
                                    ? fpemu_compare_scaled(carrier, relation, n, t.operands, t.steps, t.scales, y.data)
                                    : fpemu_compare(carrier, relation, n, t.operands, t.steps, y.data);
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK) {
        INSIST(relation >= FPEMU_RELATION_COUNT || (with_scales && carrier == F64), "a comparison is refused");
        array_untouched(&y, "a refused comparison wrote");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double a = product_of(&s[0], carrier, i), b = product_of(&s[1], carrier, i);
        const int holds = relation == FPEMU_RELATION_EQ ? a == b : relation == FPEMU_RELATION_LT ? a < b : a <= b;
        INSIST(y.data[i] == holds, "a comparison that C decides otherwise");
    }
}

#define DOOR(verb, of, with_scales)                                                                                    \
    void api_##verb(draw *d)                                                                                           \
    {                                                                                                                  \
        of(d, with_scales);                                                                                            \
    }
DOOR(arith, arith_of, 0)
DOOR(arith_scaled, arith_of, 1)
DOOR(compare, compare_of, 0)
DOOR(compare_scaled, compare_of, 1)

/* ----------------------------------------------------------------------------------- shapes without elements */
/* a * b, or the most that there is. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return a > 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* The bytes of n codes. */
static uint64_t bytes_of(uint64_t n, uint64_t bits)
{
    return n / 8 * bits + (n % 8 * bits + 7) / 8;
}

/* The bytes of so many lines of n elements in blocks of `most`. */
static uint64_t bytes_of_lines(uint64_t lines, uint64_t n, uint64_t most, uint64_t bits)
{
    return lines * (n / most * bytes_of(most, bits) + bytes_of(n % most, bits));
}

/* The bytes of a tensor of at most 2^59 elements, and some, and how many blocks it has (doc/blocks.md, 3 and 4). */
static uint64_t packed_bytes(const fpemu_format *f, const fpemu_shape *s, uint64_t *blocks)
{
    const uint64_t all = s->outer * s->rows * s->length * s->inner, bits = f->bits, lines = all / s->length;
    const int scaled = f->scaling != FPEMU_SCALING_NONE && f->scaling != FPEMU_SCALING_S2FP8;
    const int numbers = f->scaling == FPEMU_SCALING_S2FP8 || f->scaling == FPEMU_SCALING_NVFP4 ||
                        f->scaling == FPEMU_SCALING_NVFP4_AO ||
                        (f->scaling >= FPEMU_SCALING_4OVER6 && f->scaling <= FPEMU_SCALING_NVFP4_CLAMP) ||
                        f->scaling == FPEMU_SCALING_EDEN;
    const uint32_t levels = f->scaling == FPEMU_SCALING_HIF4                 ? 8 + 16
                            : f->scaling == FPEMU_SCALING_PAIRS              ? (f->block_length + 1) / 2
                            : f->correct && f->scaling != FPEMU_SCALING_EDEN ? 8
                            : f->scaling >= FPEMU_SCALING_ASYMMETRIC && f->scaling <= FPEMU_SCALING_MINMAX ? f->bits
                            : f->scaling == FPEMU_SCALING_GGML_1K
                                ? (uint32_t)f->scale_exponent_bits + f->scale_mantissa_bits + 13
                            : f->scaling == FPEMU_SCALING_GGML_0K ? 8
                            : f->scaling >= FPEMU_SCALING_TINYGEMM && f->scaling <= FPEMU_SCALING_GGML_1
                                ? (uint32_t)f->scale_exponent_bits + f->scale_mantissa_bits + 1
                                : 0;
    const uint64_t k = f->block_length, tiled = f->block_rows;
    fpemu_format scale;
    uint64_t code = 0, bytes = 0;
    if (scaled) {
        const uint32_t wide =
            levels + (fpemu_format_scale(f, &scale) == FPEMU_OK ? scale.bits : f->scale_exponent_bits);
        code = wide <= 8 ? 1 : wide <= 16 ? 2 : wide <= 32 ? 4 : 8;
    }
    switch (f->scaling == FPEMU_SCALING_NONE ? FPEMU_BLOCK_ROW : f->block) {
    case FPEMU_BLOCK_RUN:
        *blocks = lines * ((s->length - 1) / k + 1);
        bytes = bytes_of_lines(lines, s->length, k, bits);
        break;
    case FPEMU_BLOCK_TILE: { /* a column of tiles of so many rows is lines of them */
        const uint64_t columns = s->outer * s->inner, left = s->rows % tiled;
        const uint64_t wide = s->length / k, rest = s->length % k;
        *blocks = columns * ((s->rows - 1) / tiled + 1) * ((s->length - 1) / k + 1);
        for (int last = 0; last < 2; last++) {
            const uint64_t rows = last ? left : tiled, times_so = last ? columns : columns * (s->rows / tiled);
            bytes += times_so * (wide > 0 ? wide * bytes_of(rows * k, bits) : 0);
            bytes += times_so * bytes_of(rows * rest, bits);
        }
        break;
    }
    case FPEMU_BLOCK_CHANNEL:
        *blocks = s->length;
        bytes = s->length * bytes_of(lines, bits);
        break;
    case FPEMU_BLOCK_TENSOR:
        *blocks = 1;
        bytes = bytes_of(all, bits);
        break;
    default:
        *blocks = lines;
        bytes = lines * bytes_of(s->length, bits);
        break;
    }
    return bytes + *blocks * code + (numbers ? 8 : 0);
}

/* What is refused, and how many bytes and blocks there are: worked out once more. */
static fpemu_status layout_expected(const fpemu_format *f, const fpemu_shape *s, uint64_t *bytes, uint64_t *blocks)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_status status = fpemu_check(f, &nearest, 64, NULL);
    *bytes = *blocks = 0;
    if (status != FPEMU_OK || s->outer == 0 || s->rows == 0 || s->length == 0 || s->inner == 0)
        return status;
    if (times(times(s->outer, s->rows), times(s->length, s->inner)) > UINT64_C(1) << 59)
        return FPEMU_ERROR_ARGUMENT;
    *bytes = packed_bytes(f, s, blocks);
    return *bytes < UINT64_C(1) << 61 ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
}

/* A shape of sizes is refused where there is no such axis, or where 2^64 elements are reached; sizes of which one is 0
 * and others pass that may be. */
static void shape_expected(uint32_t dimensions, const uint64_t *sizes, int axis, fpemu_status status,
                           const fpemu_shape *shape)
{
    static const fpemu_shape none;
    const int along = axis < 0 ? axis + (int)dimensions : axis;
    int empty = 0, many = 0;
    uint64_t all = 1;
    for (uint32_t i = 0; i < dimensions; i++) {
        empty |= sizes[i] == 0;
        many |= sizes[i] > 0 && all > UINT64_MAX / sizes[i];
        all *= sizes[i] > 0 ? sizes[i] : 1;
    }
    const int is_shape = along >= 0 && along < (int)dimensions && !many;
    INSIST(status == (is_shape ? FPEMU_OK : FPEMU_ERROR_ARGUMENT),
           "sizes that make no shape, or a shape that is refused");
    if (status != FPEMU_OK) {
        INSIST(memcmp(shape, &none, sizeof none) == 0, "a refused shape leaves something");
        return;
    }
    INSIST(shape->length == sizes[along] && shape->rows == (along > 0 ? sizes[along - 1] : 1), "another axis");
    INSIST(shape->outer * shape->rows * shape->length * shape->inner == (empty ? 0 : all),
           "another number of elements");
}

/* Sizes of any magnitude: the layout is consistent or refused. */
void api_shape(draw *d)
{
    fpemu_format f;
    fpemu_layout layout;
    fpemu_extent extent;
    uint64_t sizes[6];
    fpemu_shape shape;
    const int complete = draw_format(d, &f);
    const uint32_t dimensions = draw_below(d, 7), axis = draw_below(d, 10);
    for (int i = 0; i < 6; i++)
        sizes[i] = draw_word(d, draw_below(d, 9));
    CASE("shape_of %u sizes, axis %d", dimensions, (int)axis - 3);
    memset(&shape, 0xa5, sizeof shape);
    const fpemu_status shaped = fpemu_shape_of(dimensions, sizes, (int)axis - 3, &shape);
    shape_expected(dimensions, sizes, (int)axis - 3, shaped, &shape);
    if (shaped != FPEMU_OK) {
        shape.outer = sizes[0];
        shape.rows = sizes[1];
        shape.length = sizes[2];
        shape.inner = sizes[3];
    }
    char text[300] = "";
    fpemu_format_print(&f, text, sizeof text);
    CASE("layout of %s: %llu x %llu x %llu x %llu", text, (unsigned long long)shape.outer,
         (unsigned long long)shape.rows, (unsigned long long)shape.length, (unsigned long long)shape.inner);
    memset(&layout, 0xa5, sizeof layout);
    memset(&extent, 0xa5, sizeof extent);
    const fpemu_status status = fpemu_packed_layout(&f, &shape, &layout);
    uint64_t bytes, blocks;
    api_digest(&status, sizeof status);
    INSIST(status == layout_expected(&f, &shape, &bytes, &blocks), "a layout that is refused, or should be");
    if (status != FPEMU_OK) {
        static const fpemu_layout none;
        static const fpemu_extent nowhere;
        INSIST(memcmp(&layout, &none, sizeof none) == 0, "a refused layout leaves something");
        INSIST(fpemu_packed_size(&f, &shape) == 0, "a size of what is refused");
        INSIST(fpemu_packed_extent(&f, &shape, 0, &extent) == status, "an extent in what is refused");
        INSIST(memcmp(&extent, &nowhere, sizeof nowhere) == 0, "a refused extent leaves something");
        return;
    }
    INSIST(complete, "a layout for a refused format");
    INSIST(layout.bytes == bytes && layout.blocks == blocks, "another number of bytes or blocks");
    api_digest(&layout, sizeof layout);
    if (layout.blocks == 0) {
        INSIST(layout.bytes == 0, "bytes without blocks");
        return;
    }
    INSIST(fpemu_packed_extent(&f, &shape, layout.blocks, &extent) == FPEMU_ERROR_ARGUMENT, "a block past the last");
    uint64_t end = layout.elements_offset;
    const uint64_t some[] = {0, layout.blocks / 2, layout.blocks - 1};
    for (int i = 0; i < 3; i++) {
        INSIST(fpemu_packed_extent(&f, &shape, some[i], &extent) == FPEMU_OK, "a block without an extent");
        INSIST(i == 0 || some[i] == some[i - 1] || extent.offset >= end, "blocks that overlap");
        const uint64_t bits = extent.elements * layout.element_bits;
        INSIST(extent.elements <= UINT64_MAX / layout.element_bits, "a block of 2^64 bits");
        end = extent.offset + bits / 8 + (bits % 8 != 0);
        INSIST(end <= layout.bytes && end >= extent.offset, "a block past the bytes");
    }
    INSIST(end == layout.bytes, "bytes after the last block");
}

/* --------------------------------------------------------------------------------------------- order of scales */
void api_swizzle(draw *d)
{
    const uint64_t rows = draw_below(d, 300), columns = draw_below(d, 20);
    CASE("swizzle %llu x %llu", (unsigned long long)rows, (unsigned long long)columns);
    const uint64_t huge[2] = {draw_word(d, 8), draw_word(d, 8)};
    const uint64_t any = fpemu_swizzled_size(huge[0], huge[1]), size = fpemu_swizzled_size(rows, columns);
    INSIST(any == 0 || (any >= huge[0] && any >= huge[1] && any % 512 == 0), "a size that wraps");
    array from = array_new(d, (size_t)(rows * columns), 1), to = array_new(d, (size_t)size, 1);
    array back = array_new(d, from.bytes, 1);
    if (rows > 0 && columns > 0) {
        INSIST(size >= rows * columns, "fewer places than scales");
        INSIST(fpemu_swizzle_scales(rows, columns, from.data, to.data) == FPEMU_OK, "not swizzled");
        INSIST(fpemu_unswizzle_scales(rows, columns, to.data, back.data) == FPEMU_OK, "not unswizzled");
        INSIST(memcmp(from.data, back.data, from.bytes) == 0, "there and back differs");
        api_digest(to.data, to.bytes);
    }
}

/* -------------------------------------------------------------------------------------------------- single elements */
static uint64_t code_at(const array *codes, size_t width, size_t i)
{
    const unsigned char *at = codes->data + i * width;
    uint16_t half;
    uint32_t word;
    uint64_t code;
    memcpy(&half, at, width >= 2 ? 2 : 1);
    switch (width) {
    case 1: return *at;
    case 2: return half;
    case 4: memcpy(&word, at, 4); return word;
    default: memcpy(&code, at, 8); return code;
    }
}

void api_one(draw *d)
{
    fpemu_format f, scale;
    fpemu_rounding r;
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, 2);
    draw_rounding(d, &r);
    const size_t n = draw_below(d, SHORT), size = carrier_size(carrier), width = fpemu_format_code_size(&f);
    array x = draw_array(d, carrier, complete ? &f : NULL, n), codes = array_new(d, n * width, width ? width : 1);
    array y = array_new(d, x.bytes, size);
    api_describe("one", &f, &r, carrier, n);
    const fpemu_status status = fpemu_encode(&f, &r, carrier, n, x.data, codes.data, NULL);
    const fpemu_status decoded = fpemu_decode(&f, carrier, n, codes.data, y.data);
    const int read = status == FPEMU_OK && decoded == FPEMU_OK;
    for (size_t i = 0; i < n; i++) {
        const double v = carrier_load(carrier, x.data, i);
        const uint64_t code =
            carrier == F32 ? fpemu_encode_one_f32(&f, &r, (float)v, i) : fpemu_encode_one_f64(&f, &r, v, i);
        INSIST(status == FPEMU_OK ? code == code_at(&codes, width, i) : status == FPEMU_ERROR_NAN || code == 0,
               "one element and the array have two codes");
        const double back = carrier == F32 ? (double)fpemu_decode_one_f32(&f, code) : fpemu_decode_one_f64(&f, code);
        INSIST(!read || api_same(back, carrier_load(carrier, y.data, i)), "one code and the array differ");
        api_digest(&code, sizeof code);
    }
    const fpemu_status scales = fpemu_format_scale(&f, &scale);
    INSIST(scales != FPEMU_OK || fpemu_format_complete(&scale) == FPEMU_OK, "a format of scales that is none");
    const uint32_t bits = fpemu_random_bits(&r, draw_word(d, 8));
    INSIST(r.bits == 0 || r.bits >= 32 || bits >> r.bits == 0, "more random bits than were asked for");
    api_digest(&bits, sizeof bits);
}

/* Names read back as what they name, and nothing else has one. */
void api_names(draw *d)
{
    const uint32_t i = (uint32_t)draw_word(d, draw_below(d, 5));
    fpemu_format f, g;
    fpemu_rounding r;
    fpemu_function function;
    CASE("names of number %u", (unsigned)i);
    for (unsigned alias = 0; i > 0 && i < FPEMU_NAME_COUNT && alias < 40; alias++) {
        const char *name = fpemu_format_name((fpemu_name)i, alias);
        if (name == NULL) {
            INSIST(alias > 0, "a format without a name");
            break;
        }
        INSIST(fpemu_format_named((fpemu_name)i, &f) == FPEMU_OK && fpemu_format_parse(name, &g, NULL) == FPEMU_OK &&
                   fpemu_format_equal(&f, &g),
               "a name that reads as another format");
    }
    INSIST((i > 0 && i < FPEMU_NAME_COUNT) || fpemu_format_name((fpemu_name)i, 0) == NULL, "a name of no format");
    const char *name = fpemu_function_name((fpemu_function)i);
    INSIST((name != NULL) == (i < FPEMU_FUNCTION_COUNT), "functions and their names");
    INSIST(name == NULL || (fpemu_function_named(name, &function) == FPEMU_OK && function == (fpemu_function)i),
           "a name that reads as another function");
    const char *const modes[] = {fpemu_mode_name((fpemu_mode)i), fpemu_mode_long_name((fpemu_mode)i)};
    for (int k = 0; k < 2; k++) {
        INSIST((modes[k] != NULL) == (i < FPEMU_MODE_COUNT), "modes and their names");
        INSIST(modes[k] == NULL || (fpemu_rounding_parse(modes[k], &r, NULL) == FPEMU_OK && r.mode == i),
               "a name that reads as another mode");
    }
    const char *compat = fpemu_compat_name(i);
    INSIST(compat == NULL || fpemu_rounding_parse(compat, &r, NULL) == FPEMU_OK, "a setting that is not read");
    INSIST(fpemu_status_text((fpemu_status)i)[0] != '\0', "a status without a text");
    const uint64_t seed = draw_word(d, 8), stream = draw_word(d, 8), at = draw_word(d, 8);
    const uint32_t word = fpemu_random_word((fpemu_generator)(i % 2), seed, stream, at);
    const fpemu_rounding stochastic = fpemu_rounding_stochastic(seed, stream);
    const uint32_t bits = fpemu_random_bits(&stochastic, at);
    api_digest(&word, sizeof word);
    api_digest(&bits, sizeof bits);
}
