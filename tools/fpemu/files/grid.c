/* SPDX-License-Identifier: BSD-2-Clause */
/* grid.c - see grid.h */
#include "files/grid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"
#include "common/safetensors.h"
#include "files/shards.h"
#include "files/stored.h"

/* ------------------------------------------------------------------------------------------- bytes of the file */

/* Pages of the file that were read last: codes may lie column by column, and scales beside them. */
enum { PAGE = 4096, PAGES = 4096 };

typedef struct pages {
    size_t part;
    bool failed;
    uint64_t tag[PAGES]; /* the number of the page + 1; 0: none */
    unsigned char byte[PAGES][PAGE];
} pages;

static unsigned byte_at(model *m, uint64_t place)
{
    pages *p = m->pages;
    const uint64_t page = place / PAGE;
    const size_t slot = page % PAGES;
    if (p->tag[slot] != page + 1 && !p->failed) {
        p->failed = !stored_some(m, page * PAGE, p->byte[slot], PAGE, place % PAGE + 1);
        p->tag[slot] = p->failed ? 0 : page + 1;
    }
    return p->failed ? 0 : p->byte[slot][place % PAGE];
}

static bool open_pages(model *m)
{
    pages *p = m->pages;
    if (p == NULL)
        p = m->pages = calloc(1, sizeof *p);
    if (p == NULL)
        return model_refuse(m, "out of memory");
    if (p->part != m->turned)
        memset(p->tag, 0, sizeof p->tag);
    p->part = m->turned;
    p->failed = false;
    return true;
}

static uint32_t bits_at(model *m, uint64_t place, unsigned bytes)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < bytes; i++)
        bits |= (uint32_t)byte_at(m, place + i) << 8 * i;
    return bits;
}

/* --------------------------------------------------------------------------------------------------- numbers */

static float code_at(model *m, const grid_codes *c, uint64_t matrix, uint64_t row_, uint64_t column_)
{
    static const unsigned awq[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    const uint64_t row = c->turned ? column_ : row_, column = c->turned ? row_ : column_;
    const uint64_t place = c->place + matrix * c->slice;
    const uint64_t bit = (c->way == GRID_HIGH ? column ^ 1 : column) * c->bits, b = bit / 8;
    unsigned low = (unsigned)(bit % 8), word;
    if (c->way == GRID_AWQ) {
        low = awq[row % 8] % 2 * 4;
        word = byte_at(m, place + column * c->pitch + row / 8 * 4 + awq[row % 8] / 2);
    } else if (c->way == GRID_WORDS) {
        word = byte_at(m, place + b / 4 * c->pitch + row * 4 + b % 4);
        if (low + c->bits > 8)
            word |= byte_at(m, place + (b + 1) / 4 * c->pitch + row * 4 + (b + 1) % 4) << 8;
    } else {
        word = byte_at(m, place + row * c->pitch + b);
        if (low + c->bits > 8)
            word |= byte_at(m, place + row * c->pitch + b + 1) << 8;
    }
    return c->value[word >> low & ((1u << c->bits) - 1)];
}

static float number_at(model *m, const grid_numbers *n, uint64_t i)
{
    if (n->type == NULL || n->type->size == 1)
        return n->value[byte_at(m, n->place + i)];
    uint32_t word = bits_at(m, n->place + i * n->type->size, n->type->size);
    uint16_t half = (uint16_t)word;
    float y;
    if (n->type->size == 4)
        memcpy(&y, &word, sizeof y);
    else
        dtype_load(n->type, byte_order_is_big(), 1, &half, false, &y);
    return y;
}

static float scale_at(model *m, const grid *g, uint64_t i)
{
    float s = number_at(m, &g->scale, i);
    if (g->outer.any)
        s = s * number_at(m, &g->outer, i / g->outer_block) + g->offset;
    return s;
}

/* Of block k of the tensor, which is that of a line of blocks. */
static float zero_at(model *m, const grid *g, uint64_t matrix, uint64_t line, uint64_t block, uint64_t k)
{
    return g->zero.any             ? number_at(m, &g->zero, k)
           : g->zero_code.bits > 0 ? code_at(m, &g->zero_code, matrix, line, block)
                                   : 0;
}

/* Which block of a row a column is in. */
static bool block_of(model *m, const grid *g, uint64_t column, uint64_t *block)
{
    *block = g->order != 0 ? bits_at(m, g->order + 4 * column, 4) : column / g->block[1];
    return *block < g->scales[1] ||
           model_refuse(m, "column %" PRIu64 " is in group %" PRIu64 " of %" PRIu64, column, *block, g->scales[1]);
}

bool grid_decode(model *m, const tensor *t, uint64_t first, size_t n, float *y)
{
    const grid *g = t->stored.grid;
    const uint64_t matrix_size = g->rows * g->columns, scales = g->scales[0] * g->scales[1];
    uint64_t matrix = first / matrix_size, row = first % matrix_size / g->columns, column = first % g->columns;
    uint64_t known = UINT64_MAX, block;
    float scale = 1, zero = 0;
    if (!open_pages(m))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!block_of(m, g, column, &block))
            return false;
        const uint64_t line = row / g->block[0];
        const uint64_t k = matrix * scales + (g->turned ? block * g->scales[0] + line : line * g->scales[1] + block);
        if (g->scale.any && k != known) {
            scale = scale_at(m, g, k);
            zero = zero_at(m, g, matrix, line, block, k);
            known = k;
        }
        const float product = (code_at(m, &g->code, matrix, row, column) - zero) * scale;
        y[i] = product * g->factor;
        if (++column == g->columns) {
            column = 0;
            matrix += ++row == g->rows;
            row = row == g->rows ? 0 : row;
        }
    }
    dtype_round(g->result, n, y);
    return !((pages *)m->pages)->failed;
}

bool grid_scales(model *m, const tensor *t, uint64_t first, size_t n, float *scales, float *zeros)
{
    const grid *g = t->stored.grid;
    const uint64_t size = g->scales[0] * g->scales[1];
    if (!shards_turn_to(m, t->part) || !open_pages(m))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint64_t k = (first + i) % size, line = k / g->scales[1], block = k % g->scales[1];
        const uint64_t at = first + i - k + (g->turned ? block * g->scales[0] + line : k);
        scales[i] = scale_at(m, g, at);
        zeros[i] = zero_at(m, g, (first + i) / size, line, block, at);
    }
    return !((pages *)m->pages)->failed;
}

/* ---------------------------------------------------------------------------------------------------- finding */

typedef struct search {
    model *m;
    grid_look_up *look_up;
    const void *directory;
    const tensor *e;
    grid *g;
    grid_found *found;
    size_t stem; /* how much of the name of the codes the parts begin with */
    bool good;   /* memory was there, and the file could be read */
} search;

/* What the names promise and the rest lacks. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool lacks(search *s, const char *format, ...)
{
    char *text = s->found->why;
    va_list arguments;
    snprintf(text, sizeof s->found->why, "%s, the nearest, has ", s->g->software);
    va_start(arguments, format);
    vsnprintf(text + strlen(text), sizeof s->found->why - strlen(text), format, arguments);
    va_end(arguments);
    return false;
}

/* The tensor whose name is the stem and then this. */
static const tensor *beside(search *s, const char *word)
{
    char *name = malloc(s->stem + strlen(word) + 1);
    const tensor *t = NULL;
    if (name == NULL) {
        s->good = model_refuse(s->m, "out of memory");
    } else {
        memcpy(name, s->e->name, s->stem);
        strcpy(name + s->stem, word);
        t = s->look_up(s->directory, name);
        t = t != NULL && t != s->e && t->part == s->e->part && t->stored.name == NULL ? t : NULL;
    }
    free(name);
    return t;
}

/* As that, and it becomes a part. */
static const tensor *take(search *s, const char *word)
{
    const tensor *t = beside(s, word);
    if (t != NULL)
        s->found->part[s->found->parts++] = t;
    return t;
}

/* Whether the name of the codes ends so; then the stem is what is before. */
static bool ends_in(search *s, const char *end)
{
    const size_t length = strlen(s->e->name), tail = strlen(end);
    s->stem = length >= tail ? length - tail : 0;
    s->found->parts = 0;
    s->found->part[s->found->parts++] = s->e;
    *s->g = (grid){.factor = 1, .block = {1, 1}};
    return length > tail && strcmp(s->e->name + s->stem, end) == 0;
}

static bool is(const tensor *t, const char *types)
{
    const char *at = t != NULL ? strstr(types, t->type_text) : NULL;
    const size_t length = t != NULL ? strlen(t->type_text) : 0;
    return at != NULL && length > 0 && (at == types || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ');
}

const grid_names grid_scaled = {"", "_scale", "_zero_point", NULL}, grid_inverse = {"", "_scale_inv", NULL, NULL},
                 grid_module = {"weight", "scale", NULL, NULL},
                 grid_words = {"_packed", "_scale", "_zero_point", "_shape"};

static const char floats[] = "F32 F16 BF16", small_floats[] = "F8_E4M3 F8_E5M2 F8_E4M3FNUZ F8_E5M2FNUZ";

static void numbers(grid_numbers *n, const tensor *t)
{
    unsigned char code[256];
    n->type = t->type;
    n->place = t->place;
    n->any = true;
    for (unsigned i = 0; i < 256; i++) {
        code[i] = (unsigned char)i;
        n->value[i] = i < 128 ? (float)i : (float)i - 256; /* of I8 */
    }
    const dtype *type = strcmp(t->type_text, "U8") == 0 ? dtype_named("F8_E8M0") : t->type;
    if (type != NULL && type->size == 1)
        dtype_load(type, false, 256, code, false, n->value);
}

/* What codes of a format stand for. */
static void decode_all(search *s, const char *spec, unsigned bits, float *value)
{
    uint8_t code[256];
    fpemu_format format;
    for (unsigned i = 0; i < 256; i++)
        code[i] = (uint8_t)i;
    if (fpemu_format_parse(spec, &format, NULL) != FPEMU_OK ||
        fpemu_decode_f32(&format, (size_t)1 << bits, code, value) != FPEMU_OK) {
        s->good = model_refuse(s->m, "no format %s", spec);
    }
}

/* Codes as a format has them, or integers from `least` on. */
static void code_floats(search *s, const char *spec, unsigned bits)
{
    s->g->code.bits = bits;
    snprintf(s->g->element, sizeof s->g->element, "%s", spec);
    decode_all(s, spec, bits, s->g->code.value);
}

static void code_integers(grid_codes *c, unsigned bits, int least)
{
    c->bits = bits;
    for (int i = 0; i < 1 << bits; i++)
        c->value[i] = (float)(i + least);
}

/* Integers, from `least` on; with 8 bits of a byte two's complements. */
static void integers(search *s, unsigned bits, int least)
{
    grid_numbers bytes = {0};
    code_integers(&s->g->code, bits, least);
    if (bits == 8 && least == 0)
        memcpy(s->g->code.value, (numbers(&bytes, s->e), bytes.value), sizeof bytes.value);
    snprintf(s->g->element, sizeof s->g->element, "int%u", bits);
}

/* The tensor has the shape of the codes, but `columns` a row, whose codes take `pitch` bytes. */
static bool shape_is(search *s, const tensor *like, uint64_t columns, uint64_t pitch)
{
    grid_found *f = s->found;
    if (like->dimensions == 0 || like->count == 0 || columns == 0)
        return lacks(s, "codes of one axis or more");
    f->dimensions = like->dimensions;
    memcpy(f->extent, like->extent, like->dimensions * sizeof *like->extent);
    f->extent[f->dimensions - 1] = columns;
    s->g->columns = columns;
    s->g->rows = f->dimensions > 1 ? f->extent[f->dimensions - 2] : 1;
    s->g->code.place = s->e->place;
    s->g->code.pitch = pitch;
    s->g->code.slice = pitch * s->g->rows;
    return true;
}

static uint64_t last_extent(const tensor *t)
{
    return t->dimensions > 0 ? t->extent[t->dimensions - 1] : 0;
}

/* How many of n elements of an axis belong to one of k scales; 0: so many do not fit. Of blocks of 128, as of
 * DeepSeek, the last may be short. */
static uint64_t block_along(uint64_t n, uint64_t k)
{
    if (k <= 1)
        return k == 1 ? n : 0;
    return n / 128 + (n % 128 != 0) == k ? 128 : n % k == 0 ? n / k : 0;
}

/* Scales of the tensor, of rows, or of equal blocks of the last two axes. */
static bool scales_fit(search *s, const tensor *scale)
{
    static const char wanted[] = "a scale for the tensor, a row or equal blocks";
    grid *g = s->g;
    const grid_found *f = s->found;
    const unsigned axes = f->dimensions;
    numbers(&g->scale, scale);
    g->scales[0] = g->scales[1] = 1;
    if (scale->dimensions == axes && (axes <= 2 || scale->count > 1)) {
        g->scales[0] = axes > 1 ? scale->extent[axes - 2] : 1;
        g->scales[1] = scale->extent[axes - 1];
        for (unsigned i = 0; i + 2 < axes; i++)
            if (scale->extent[i] != f->extent[i])
                return lacks(s, "%s", wanted);
    } else if (axes == 2 && scale->dimensions == 1) {
        g->scales[0] = scale->extent[0];
    } else if (scale->count != 1 || axes > 2) {
        return lacks(s, "%s", wanted);
    }
    g->block[0] = block_along(g->rows, g->scales[0]);
    g->block[1] = block_along(g->columns, g->scales[1]);
    g->result = is(scale, "F16 BF16") ? scale->type : NULL;
    return (g->block[0] > 0 && g->block[1] > 0) || lacks(s, "%s", wanted);
}

static void say_blocks(grid *g, const grid_found *f)
{
    const bool all_columns = g->block[1] >= g->columns, all_rows = g->block[0] >= g->rows;
    uint64_t count = 1;
    for (unsigned i = 0; i < f->dimensions; i++)
        count *= f->extent[i];
    if (all_columns && all_rows)
        strcpy(g->blocks, count > g->rows * g->columns ? "matrix" : "tensor");
    else if (all_columns && g->block[0] == 1)
        strcpy(g->blocks, "row");
    else if (g->block[0] == 1)
        snprintf(g->blocks, sizeof g->blocks, "%" PRIu64, g->block[1]);
    else
        snprintf(g->blocks, sizeof g->blocks, "%" PRIu64 "x%" PRIu64, g->block[0], g->block[1]);
}

/* ------------------------------------------------------------------------------------------------- the layouts */

static void code_small(search *s)
{
    if (strcmp(s->e->type_text, "F4") == 0)
        code_floats(s, "e2m1", 4);
    else if (strcmp(s->e->type_text, "F6_E2M3") == 0)
        code_floats(s, "e2m3", 6);
    else if (strcmp(s->e->type_text, "F6_E3M2") == 0)
        code_floats(s, "e3m2", 6);
    else
        code_floats(s, s->e->type->text + strlen("float8_"), 8);
}

/* X beside X_scale_inv, or M.weight beside M.scale; FP4, two of a byte, are called I8. */
static bool find_deepseek(search *s)
{
    const tensor *e = s->e, *scale = NULL;
    if (ends_in(s, grid_inverse.codes) && (scale = take(s, grid_inverse.scale)) == NULL &&
        ends_in(s, grid_module.codes)) {
        scale = take(s, grid_module.scale);
    }
    s->g->software = "DeepSeek";
    const bool fp4 = is(e, "I8") && is(scale, "F8_E8M0");
    if (scale == NULL || !(is(e, small_floats) || fp4))
        return false;
    if (!is(scale, "F32 BF16 F8_E8M0"))
        return lacks(s, "scales of F32, BF16 or F8_E8M0");
    if (fp4)
        code_floats(s, "e2m1", 4);
    else
        code_small(s);
    return shape_is(s, e, (fp4 ? 2 : 1) * last_extent(e), last_extent(e)) && scales_fit(s, scale);
}

/* What Quark's config.json says of all weights; NULL: nothing. */
static const char *quark_says(const search *s, const char *key)
{
    const json_t *config = json_object_get(s->m->config, "quantization_config");
    const char *method = json_string_value(json_object_get(config, "quant_method"));
    const json_t *all = json_object_get(json_object_get(config, "global_quant_config"), "weight");
    const bool some = json_object_size(json_object_get(config, "layer_quant_config")) +
                          json_object_size(json_object_get(config, "layer_type_quant_config")) >
                      0;
    return method != NULL && strcmp(method, "quark") == 0 && !some ? json_string_value(json_object_get(all, key))
                                                                   : NULL;
}

/* Floats of 4 and 6 bits in bytes of Quark, with scales of 32, or of 16 by E5M3. */
static bool code_quark(search *s, const tensor *scale, uint64_t *columns)
{
    const uint64_t bytes = last_extent(s->e), scales = last_extent(scale);
    const char *type = quark_says(s, "dtype"), *format = quark_says(s, "scale_format");
    const bool e5m3 = format != NULL && strcmp(format, "e5m3") == 0, six = scales > 0 && bytes / scales == 24;
    if (scales == 0 || bytes % scales != 0 || bytes / scales != (six ? 24 : e5m3 ? 8 : 16))
        return lacks(s, "a scale for 32 elements of a row");
    if (six && (type == NULL || strncmp(type, "fp6_", 4) != 0))
        return lacks(s, "a config.json that says which 6 bits");
    code_floats(s, six ? type + 4 : "e2m1", six ? 6 : 4);
    s->g->scale_spec = e5m3 ? "ue5m3" : "e8m0";
    *columns = six ? bytes / 3 * 4 : 2 * bytes;
    return true;
}

/* X beside X_scale: FP8 and bytes of compressed-tensors, ModelOpt and Quark, small floats of Quark, and FP4. */
static bool find_scaled(search *s)
{
    const tensor *scale, *zero, *e = s->e;
    const bool u8 = is(e, "U8"), f4 = is(e, "F4"), i8 = is(e, "I8");
    if (!ends_in(s, grid_scaled.codes) || !(u8 || f4 || i8 || is(e, small_floats)) ||
        (scale = take(s, grid_scaled.scale)) == NULL || beside(s, "_scale_2") != NULL) {
        return false;
    }
    const bool packed = u8 && is(scale, "U8");
    uint64_t columns = last_extent(e);
    s->g->software = u8 ? "Quark" : scale->dimensions == 0 && !i8 ? "ModelOpt, Quark" : "compressed-tensors";
    if (!packed && !is(scale, floats))
        return lacks(s, "scales of %s", u8 ? "U8, F32, F16 or BF16" : "F32, F16 or BF16");
    if (f4 && columns % 2 != 0)
        return lacks(s, "rows of whole bytes");
    if (packed && !code_quark(s, scale, &columns))
        return false;
    if (i8 || (u8 && !packed))
        integers(s, 8, 0);
    else if (!packed)
        code_small(s);
    if (u8 && !packed)
        code_integers(&s->g->code, 8, 0);
    if (!shape_is(s, e, columns, last_extent(e) / (f4 ? 2 : 1)) || !scales_fit(s, scale))
        return false;
    if (packed)
        decode_all(s, s->g->scale_spec, 8, s->g->scale.value);
    zero = take(s, grid_scaled.zero);
    if (zero == NULL)
        return !u8 || packed || lacks(s, "a zero point, U8, for each scale");
    if (!is(zero, u8 ? "U8" : "I8 F32 F16 BF16") || zero->count != scale->count)
        return lacks(s, "a zero point, %s, for each scale", u8 ? "U8" : "I8");
    numbers(&s->g->zero, zero);
    for (unsigned i = 0; u8 && i < 256; i++)
        s->g->zero.value[i] = (float)i;
    return true;
}

/* The tensor is a matrix, with scales for blocks of rows. */
static void matrix_is(search *s, const tensor *scale, uint64_t rows, uint64_t columns, uint64_t blocks)
{
    grid *g = s->g;
    s->found->dimensions = 2;
    s->found->extent[0] = g->rows = g->scales[0] = rows;
    s->found->extent[1] = g->columns = columns;
    g->scales[1] = blocks;
    g->block[0] = 1;
    g->block[1] = block_along(columns, blocks);
    g->result = is(scale, "F16 BF16") ? scale->type : NULL;
    numbers(&g->scale, scale);
}

/* Words of Quark: integers of 4 bits in rows, or in groups of rows, which then lie as AWQ's do. */
static bool find_quark_words(search *s)
{
    const tensor *scale, *zero, *e = s->e;
    if (!ends_in(s, "") || !is(e, "I32") || (scale = take(s, "_scale")) == NULL)
        return false;
    grid *g = s->g;
    const char *type = quark_says(s, "dtype"), *scheme = quark_says(s, "qscheme");
    const bool groups = scheme != NULL && strcmp(scheme, "per_group") == 0;
    const json_t *export = json_object_get(json_object_get(s->m->config, "quantization_config"), "export");
    const char *method = json_string_value(json_object_get(export, "pack_method"));
    g->software = "Quark";
    if (type == NULL || (strcmp(type, "int4") != 0 && strcmp(type, "uint4") != 0) || method == NULL)
        return lacks(s, "a config.json that says int4 or uint4, and how they are packed");
    zero = take(s, "_zero_point");
    if (e->dimensions != 2 || e->count == 0 || !is(scale, floats) || zero == NULL || !is(zero, "I32") ||
        scale->dimensions != (groups ? 2u : 1u) || zero->dimensions != scale->dimensions) {
        return lacks(s, "scales and zero points of rows or groups");
    }
    const uint64_t rows = last_extent(scale), columns = groups ? e->extent[0] : 8 * e->extent[1];
    const uint64_t blocks = groups ? scale->extent[0] : 1, words = groups ? e->extent[1] : e->extent[0];
    if (rows % 8 != 0 || (groups ? rows / 8 : rows) != words || last_extent(zero) != rows / 8 ||
        (groups && zero->extent[0] != blocks) || columns == 0 || block_along(columns, blocks) == 0) {
        return lacks(s, "codes, scales and zero points for the same rows");
    }
    const bool is_signed = type[0] == 'i', reorder = strcmp(method, "reorder") == 0;
    integers(s, 4, 0);
    matrix_is(s, scale, rows, columns, blocks);
    g->turned = groups;
    g->code = (grid_codes){reorder ? GRID_AWQ : GRID_ROW, groups != reorder, 4, e->place, 4 * e->extent[1], 0, {0}};
    g->zero_code = (grid_codes){reorder ? GRID_AWQ : GRID_ROW, !reorder, 4, zero->place, rows / 2, 0, {0}};
    for (int i = 0; i < 16; i++)
        g->code.value[i] = g->zero_code.value[i] = (float)(is_signed && i > 7 ? i - 16 : i);
    return true;
}

/* Takes an order of columns, I32: 0 where each is in the block that it is in without. */
static bool take_order(search *s, const tensor *order)
{
    unsigned char bytes[1024];
    grid *g = s->g;
    bool plain = true;
    if (!(s->good = shards_turn_to(s->m, order->part)))
        return false;
    for (uint64_t i = 0; plain && i < g->columns; i++) {
        const size_t at = (size_t)(4 * i % sizeof bytes), left = (size_t)(4 * (g->columns - i));
        if (at == 0 && !stored_bytes(s->m, order->place + 4 * i, bytes, left < sizeof bytes ? left : sizeof bytes))
            return s->good = false;
        plain = bytes_load(bytes + at, 4) == i / g->block[1];
    }
    g->order = plain ? 0 : order->place;
    return true;
}

/* Words of codes: rows of any length, whose shape stands in X_shape. */
static bool find_words(search *s)
{
    const tensor *scale, *shape, *zero, *order, *e = s->e;
    unsigned char bytes[16];
    if (!ends_in(s, grid_words.codes) || !is(e, "I32") || (scale = take(s, grid_words.scale)) == NULL)
        return false;
    s->g->software = "compressed-tensors";
    if ((shape = take(s, grid_words.shape)) == NULL || !is(shape, "I64 I32") || shape->count != 2 ||
        e->dimensions != 2 || !is(scale, floats)) {
        return lacks(s, "X_shape, two numbers, and scales of F32, F16 or BF16");
    }
    const int size = (int)(shape->bytes / 2);
    if (!(s->good = shards_turn_to(s->m, e->part) && stored_bytes(s->m, shape->place, bytes, shape->bytes)))
        return false;
    const uint64_t rows = bytes_load(bytes, size), columns = bytes_load(bytes + size, size), words = e->extent[1];
    static const unsigned widths[] = {4, 8, 2, 3, 5, 6, 7, 1};
    unsigned k = 0;
    while (k < 8 && (columns > UINT64_MAX / 8 - 32 || (columns * widths[k] + 31) / 32 != words))
        k++;
    if (rows != e->extent[0] || k == 8)
        return lacks(s, "codes for the shape %" PRIu64 "x%" PRIu64, rows, columns);
    const unsigned bits = widths[k];
    integers(s, bits, -(1 << bits) / 2);
    if (!shape_is(s, e, columns, 4 * words) || !scales_fit(s, scale))
        return false;
    if ((zero = take(s, grid_words.zero)) != NULL) {
        if (!is(zero, "I32") || zero->count != (s->g->scales[0] * bits + 31) / 32 * s->g->scales[1])
            return lacks(s, "zero points as words, one for each scale");
        s->g->zero_code = (grid_codes){GRID_WORDS, true, 0, zero->place, 4 * s->g->scales[1], 0, {0}};
        code_integers(&s->g->zero_code, bits, -(1 << bits) / 2);
    }
    if ((order = take(s, "_g_idx")) != NULL) {
        if (!is(order, "I32") || order->count != columns)
            return lacks(s, "X_g_idx, I32, for each column");
        return take_order(s, order);
    }
    return true;
}

/* A tensor A.B as A._B_qdata and A._B_scale; the metadata have the class, and the type of the numbers. */
static bool find_torchao(search *s)
{
    static const char suffix[] = "_qdata";
    const tensor *scale, *zero, *e = s->e;
    char *name = strdup(e->name);
    if (name == NULL)
        return s->good = model_refuse(s->m, "out of memory");
    char *dot = strrchr(name, '.');
    const size_t length = strlen(name);
    json_t *entry = NULL;
    if (ends_in(s, suffix) && dot != NULL && dot[1] == '_' && dot + 2 < name + length - strlen(suffix)) {
        name[length - strlen(suffix)] = '\0';
        memmove(dot + 1, dot + 2, strlen(dot + 1));
        entry = json_loads(json_string_value(json_object_get(s->m->metadata, name)) != NULL
                               ? json_string_value(json_object_get(s->m->metadata, name))
                               : "",
                           0, NULL);
    }
    const char *class = json_string_value(json_object_get(entry, "_type"));
    const char *type =
        json_string_value(json_object_get(json_object_get(json_object_get(entry, "_data"), "dtype"), "_data"));
    const bool fp8 = class != NULL && strcmp(class, "Float8Tensor") == 0;
    const bool int8 =
        class != NULL && (strcmp(class, "Int8Tensor") == 0 || strcmp(class, "IntxUnpackedToInt8Tensor") == 0);
    bool good = (fp8 || int8) && (scale = take(s, "_scale")) != NULL;
    s->g->software = "torchao";
    if (good) {
        const dtype *result = dtype_texted(type != NULL ? type : "");
        good = (is(e, fp8 ? small_floats : "I8") && is(scale, floats) && result != NULL && result->size >= 2) ||
               lacks(s, "%s codes, scales of F32, F16 or BF16, and a dtype", fp8 ? "FP8" : "I8");
        if (good && fp8)
            code_small(s);
        else if (good)
            integers(s, 8, 0);
        good = good && shape_is(s, e, last_extent(e), last_extent(e)) && scales_fit(s, scale);
        if (good && (zero = take(s, "_zero_point")) != NULL) {
            good =
                (is(zero, "I8 F32 F16 BF16") && zero->count == scale->count) || lacks(s, "a zero point for each scale");
            numbers(&s->g->zero, zero);
        }
        s->g->result = good && result->size == 2 ? result : NULL;
        s->found->name = good ? name : NULL;
    }
    json_decref(entry);
    if (!good)
        free(name);
    return good;
}

/* What GPTQ and AWQ keep: A.qweight, words of codes down the inputs or along the outputs; the weight has a row for each
 * output. */
static bool find_qweight(search *s)
{
    const tensor *e = s->e, *scale, *zeros, *order = NULL;
    if (!ends_in(s, "qweight") || !is(e, "I32") || (scale = take(s, "scales")) == NULL)
        return false;
    grid *g = s->g;
    zeros = take(s, "qzeros");
    order = take(s, "g_idx");
    g->software = order != NULL ? "GPTQ" : "AWQ or GPTQ";
    if (e->dimensions != 2 || scale->dimensions != 2 || !is(scale, floats) || e->count == 0 || scale->count == 0 ||
        zeros == NULL || !is(zeros, "I32") || zeros->dimensions != 2 || zeros->extent[0] != scale->extent[0]) {
        return lacks(s, "scales of groups times outputs, and as many zero points");
    }
    const uint64_t outputs = scale->extent[1], groups = scale->extent[0], words = zeros->extent[1];
    const bool awq = order == NULL && e->extent[1] == words && outputs / 8 == words && outputs % 8 == 0;
    const uint64_t wide = words <= UINT64_MAX / 32 ? 32 * words : 0;
    const unsigned bits = awq                                                         ? 4
                          : outputs > 0 && wide % outputs == 0 && wide / outputs <= 8 ? (unsigned)(wide / outputs)
                                                                                      : 0;
    const uint64_t inputs = awq ? e->extent[0] : bits > 0 ? 32 * e->extent[0] / bits : 0;
    g->software = awq ? "AWQ" : "GPTQ";
    if (!(bits == 2 || bits == 3 || bits == 4 || bits == 8) || inputs == 0 ||
        (!awq && (e->extent[1] != outputs || inputs * bits != 32 * e->extent[0])) ||
        (order != NULL && (!is(order, "I32") || order->count != inputs)) || block_along(inputs, groups) == 0) {
        return lacks(s, "codes, scales and zero points for the same inputs and outputs");
    }
    if (!awq && json_is_false(s->m->config))
        return lacks(s, "a config.json beside it that is JSON");
    integers(s, bits, 0);
    code_integers(&g->code, bits, 0); /* of 8 bits, too */
    matrix_is(s, scale, outputs, inputs, groups);
    g->turned = true;
    g->code.way = awq ? GRID_AWQ : GRID_WORDS;
    g->code.place = e->place;
    g->code.pitch = 4 * e->extent[1];
    /* Zero points: an output lies along the words of a group. GPTQ keeps them less 1, but in its second format. */
    g->zero_code = (grid_codes){awq ? GRID_AWQ : GRID_ROW, !awq, 0, zeros->place, 4 * words, 0, {0}};
    const char *version =
        json_string_value(json_object_get(json_object_get(s->m->config, "quantization_config"), "checkpoint_format"));
    const bool less = !awq && (version == NULL || strcmp(version, "gptq_v2") != 0);
    code_integers(&g->zero_code, bits, less);
    if (less)
        g->zero_code.value[(1 << bits) - 1] = 0;
    return order == NULL || take_order(s, order);
}

/* `count` numbers of a part, F32. */
static bool read_table(search *s, const tensor *t, unsigned count, float *value)
{
    unsigned char bytes[4 * 256];
    if (t == NULL || !is(t, "F32") || t->count != count)
        return lacks(s, "a table of %u numbers, F32", count);
    if (!stored_bytes(s->m, t->place, bytes, 4 * (size_t)count))
        return s->good = false;
    dtype_load(t->type, false, count, bytes, false, value);
    return true;
}

static bool positive(const json_t *object, const char *key, uint64_t *value)
{
    const json_int_t n = json_integer_value(json_object_get(object, key));
    *value = (uint64_t)n;
    return n > 0;
}

/* The shape that the state has; its codes are one after the other. */
static bool take_state(search *s, const json_t *state)
{
    grid_found *f = s->found;
    const json_t *shape = json_object_get(state, "shape");
    const char *type = json_string_value(json_object_get(state, "dtype"));
    uint64_t count = 1;
    f->dimensions = (unsigned)json_array_size(shape);
    if (f->dimensions == 0 || f->dimensions > 8 || !positive(state, "blocksize", &s->g->block[1]))
        return lacks(s, "a shape and a blocksize");
    for (unsigned i = 0; i < f->dimensions; i++) {
        const json_int_t n = json_integer_value(json_array_get(shape, i));
        f->extent[i] = (uint64_t)n;
        if (n <= 0 || count > 2 * s->e->bytes / f->extent[i])
            return lacks(s, "two codes a byte for the shape");
        count *= f->extent[i];
    }
    s->g->columns = count;
    s->g->rows = s->g->scales[0] = 1;
    s->g->scales[1] = (count - 1) / s->g->block[1] + 1;
    s->g->result = dtype_texted(type != NULL ? type : "");
    return (count + 1) / 2 == s->e->bytes || lacks(s, "two codes a byte for the shape");
}

/* X, two codes a byte of a table of 16, beside X.absmax and what belongs to it. */
static bool find_nibbles(search *s)
{
    const tensor *e = s->e, *absmax, *state = NULL, *nested;
    static const char *const kinds[] = {"nf4", "fp4"};
    grid *g = s->g;
    if (!ends_in(s, "") || !is(e, "U8") || (absmax = take(s, ".absmax")) == NULL)
        return false;
    g->software = "bitsandbytes";
    for (int k = 0; k < 2 && state == NULL; k++) {
        char name[64];
        snprintf(name, sizeof name, ".quant_state.bitsandbytes__%s", kinds[k]);
        strcpy(g->element, kinds[k]);
        state = take(s, name);
    }
    char text[4096];
    if (state == NULL || !is(state, "U8") || state->bytes > sizeof text)
        return lacks(s, "X.quant_state.bitsandbytes__nf4 or __fp4");
    if (!(s->good = shards_turn_to(s->m, e->part) && stored_bytes(s->m, state->place, text, (size_t)state->bytes)))
        return false;
    json_t *object = json_loadb(text, (size_t)state->bytes, 0, NULL);
    g->code = (grid_codes){.way = GRID_HIGH, .bits = 4, .place = e->place};
    bool good = take_state(s, object) && read_table(s, take(s, ".quant_map"), 16, g->code.value);
    if (good && strcmp(g->element, "fp4") == 0 && g->code.value[8] == 0)
        g->code.value[8] = -0.0F; /* as its kernels have it, which do not look at the table */
    if (good && absmax->count != g->scales[1])
        good = lacks(s, "a scale for each block of %" PRIu64, g->block[1]);
    numbers(&g->scale, absmax);
    if (good && is(absmax, "U8")) {
        nested = take(s, ".nested_absmax");
        good = read_table(s, take(s, ".nested_quant_map"), 256, g->scale.value);
        if (good && (nested == NULL || !is(nested, "F32") || !positive(object, "nested_blocksize", &g->outer_block) ||
                     (g->scales[1] - 1) / g->outer_block + 1 != nested->count)) {
            good = lacks(s, "X.nested_absmax for each block of scales");
        }
        if (good)
            numbers(&g->outer, nested);
        g->offset = (float)json_number_value(json_object_get(object, "nested_offset"));
    } else if (good && !is(absmax, "F32")) {
        good = lacks(s, "scales of F32 or U8");
    }
    json_decref(object);
    return good;
}

/* M.weight, a byte an element, beside M.SCB, 127 times the scale. */
static bool find_bytes(search *s)
{
    const tensor *scale;
    if (!ends_in(s, "weight") || !is(s->e, "I8") || (scale = take(s, "SCB")) == NULL)
        return false;
    s->g->software = "bitsandbytes";
    take(s, "weight_format");
    if (!is(scale, "F32") || scale->dimensions != 1 || s->e->dimensions != 2 || scale->extent[0] != s->e->extent[0])
        return lacks(s, "F32 M.SCB for each row");
    integers(s, 8, 0);
    s->g->factor = 7.874015718698502e-3F;
    return shape_is(s, s->e, last_extent(s->e), last_extent(s->e)) && scales_fit(s, scale);
}

/* Types of 4 and 6 bits are numbers as they stand. */
static bool find_bare(search *s)
{
    const tensor *e = s->e;
    if (!ends_in(s, "") || !is(e, "F4 F6_E2M3 F6_E3M2") || s->found->why[0] != '\0' || e->count == 0 ||
        e->dimensions == 0) {
        return false;
    }
    code_small(s);
    shape_is(s, e, last_extent(e), 0);
    s->g->columns = s->g->block[1] = e->count;
    s->g->rows = s->g->scales[0] = s->g->scales[1] = 1;
    return true;
}

bool grid_find(model *m, grid_look_up *look_up, const void *directory, const tensor *e, grid_found *found)
{
    static bool (*const find[])(search *) = {find_deepseek, find_scaled,  find_quark_words, find_words, find_torchao,
                                             find_qweight,  find_nibbles, find_bytes,       find_bare};
    *found = (grid_found){.grid = malloc(sizeof *found->grid)};
    search s = {m, look_up, directory, e, found->grid, found, 0, true};
    bool there = false;
    if (found->grid == NULL)
        return model_refuse(m, "out of memory");
    for (size_t k = 0; k < sizeof find / sizeof *find && s.good && !there; k++)
        there = find[k](&s);
    if (there)
        say_blocks(s.g, found);
    if (there && found->name == NULL) { /* a weight, where the stem is a module */
        const char *word = s.stem > 0 && e->name[s.stem - 1] == '.' ? "weight" : "";
        found->name = malloc(s.stem + strlen("weight") + 1);
        if (found->name != NULL) {
            memcpy(found->name, e->name, s.stem);
            strcpy(found->name + s.stem, word);
        }
        s.good = found->name != NULL || model_refuse(m, "out of memory");
    }
    if (!there || !s.good) {
        free(found->grid);
        found->grid = NULL;
    }
    return s.good;
}
