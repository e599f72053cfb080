/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c - see layout.h */
#include "files/layout.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"
#include "common/safetensors.h"
#include "files/json_header.h"
#include "files/safetensors.h"
#include "files/shards.h"
#include "files/stored.h"

static const layout layouts[] = {
    {"compressed-tensors", "mxfp4", 32, 4, "_packed", "U8", "_scale", "U8", NULL, false, false, false, false,
     .method = "mxfp4-pack-quantized"},
    {"compressed-tensors", "nvfp4", 16, 4, "_packed", "U8", "_scale", "F8_E4M3", "_global_scale", true, true, false,
     false, .method = "nvfp4-pack-quantized"},
    {"compressed-tensors", "mxfp8", 32, 8, "", "F8_E4M3", "_scale", "U8", NULL, false, false, false, false,
     .method = "mxfp8-quantized"},
    {"gpt-oss", "mxfp4", 32, 4, "_blocks", "U8", "_scales", "U8", NULL, false, false, true, false, .method = "mxfp4"},
    {"ModelOpt", "nvfp4", 16, 4, "", "U8", "_scale", "F8_E4M3", "_scale_2", false, false, false, false,
     .method = "NVFP4"},
    {"torchao", "mxfp4", 32, 4, "_qdata", "U8", "_scale", "F8_E8M0", NULL, false, false, false, true,
     .method = "MXTensor"},
    {"torchao", "mxfp8", 32, 8, "_qdata", "F8_E4M3", "_scale", "F8_E8M0", NULL, false, false, false, true,
     .method = "MXTensor"},
    {"torchao", "nvfp4", 16, 4, "_qdata", "U8", "_scale", "F8_E4M3", "_per_tensor_scale", false, false, false, true,
     .method = "NVFP4Tensor"},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

#define BLOCKS(kind) (1u << FPEMU_BLOCK_##kind)
static const layout_matrix matrices[] = {
    {"compressed-tensors", "e4m3fn", BLOCKS(TENSOR) | BLOCKS(ROW) | BLOCKS(TILE), "fp32", &grid_scaled, "F8_E4M3",
     "F32", NULL, false, "float-quantized"},
    {"compressed-tensors", "int8", BLOCKS(TENSOR) | BLOCKS(ROW), "fp32", &grid_scaled, "I8", "F32", "I8", false,
     "int-quantized"},
    {"compressed-tensors", "int8", BLOCKS(RUN), "fp32", &grid_words, "I32", "F32", "I32", false, "pack-quantized"},
    {"compressed-tensors", "int4", BLOCKS(ROW) | BLOCKS(RUN), "fp32", &grid_words, "I32", "F32", "I32", false,
     "pack-quantized"},
    {"DeepSeek", "e4m3fn", BLOCKS(TILE), "fp32", &grid_inverse, "F8_E4M3", "F32", NULL, false, "float"},
    {"DeepSeek", "e4m3fn", BLOCKS(TILE), "e8m0", &grid_module, "F8_E4M3", "F8_E8M0", NULL, false, "ue8m0"},
    {"ModelOpt", "e4m3fn", BLOCKS(TENSOR), "fp32", &grid_scaled, "F8_E4M3", "F32", NULL, true, "FP8"},
};
enum { MATRICES = sizeof matrices / sizeof *matrices, TILE = 128 };

/* ---------------------------------------------------------------------------------------------------- names */

/* Whether parts have names behind the module, not behind the tensor. */
static bool of_module(const layout *l)
{
    return l->matrix != NULL && l->matrix->names == &grid_module;
}

/* The name of a part, to be freed; NULL when memory runs out. */
static char *part_name(const layout *l, const char *name, const char *suffix)
{
    const char *dot = l->underscore ? strrchr(name, '.') : NULL;
    const size_t before = dot != NULL ? (size_t)(dot - name) + 1 : 0, size = strlen(name) + strlen(suffix) + 2;
    const size_t stem = strlen(name) - (of_module(l) ? strlen(l->elements) : 0);
    char *text = malloc(size);
    if (text != NULL) {
        snprintf(text, size, "%.*s%s%.*s%s", (int)before, name, dot != NULL ? "_" : "", (int)(stem - before),
                 name + before, suffix);
    }
    return text;
}

/* The way back from the name of the elements, to be freed; NULL where it is no such name, or memory runs out. */
static char *whole_name(const layout *l, const char *name)
{
    const size_t length = strlen(name), suffix = strlen(l->elements);
    if (length <= suffix || strcmp(name + length - suffix, l->elements) != 0)
        return NULL;
    char *text = strdup(name);
    if (text == NULL)
        return NULL;
    text[length - suffix] = '\0';
    if (l->underscore) {
        char *dot = strrchr(text, '.');
        if (dot == NULL || dot[1] != '_' || dot[2] == '\0') {
            free(text);
            return NULL;
        }
        memmove(dot + 1, dot + 2, strlen(dot + 2) + 1);
    }
    return text;
}

/* -------------------------------------------------------------------------------------------------- reading */

/* The tensors by the names that they have in the file. */
typedef struct named {
    const char *name;
    size_t i;
} named;

typedef struct directory {
    model *m;
    named *by_name;
    size_t count;
    bool *taken; /* tensor i is a part of another */
} directory;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static tensor *look_up(const directory *d, const char *name)
{
    const named wanted = {name, 0}, *found = bsearch(&wanted, d->by_name, d->count, sizeof wanted, compare_names);
    return found != NULL ? &d->m->tensor[found->i] : NULL;
}

static tensor *look_up_part(const directory *d, const layout *l, const char *name, const char *suffix, const char *type)
{
    char *part = part_name(l, name, suffix);
    tensor *t = part != NULL ? look_up(d, part) : NULL;
    free(part);
    return t != NULL && t->stored.name == NULL && strcmp(t->type_text, type) == 0 && !d->taken[t - d->m->tensor] ? t
                                                                                                                 : NULL;
}

/* Elements and scales of the same rows, as many as belong together. */
static bool shapes_fit(const layout *l, const tensor *e, const tensor *s)
{
    const unsigned lead = s->dimensions - 1;
    if (s->dimensions == 0 || e->dimensions != s->dimensions + l->split || s->count == 0)
        return false;
    for (unsigned i = 0; i < lead; i++)
        if (e->extent[i] != s->extent[i])
            return false;
    const uint64_t bytes = l->block * l->bits / 8, scales = s->extent[lead];
    return l->split ? e->extent[lead] == scales && e->extent[lead + 1] == bytes
                    : scales <= UINT64_MAX / bytes && e->extent[lead] == scales * bytes;
}

/* torchao says in the metadata whether the scales lie in the order of the tensor. */
static bool metadata_fit(const model *m, const layout *l, const char *name)
{
    const char *text = json_string_value(json_object_get(m->metadata, name));
    json_t *entry = l->underscore && text != NULL ? json_loads(text, 0, NULL) : NULL;
    const char *class = json_string_value(json_object_get(entry, "_type"));
    const json_t *swizzled = json_object_get(json_object_get(entry, "_data"), "is_swizzled_scales");
    const bool fit = !l->underscore || (class != NULL && strcmp(class, l->method) == 0 && json_is_false(swizzled));
    json_decref(entry);
    return fit;
}

/* What tensor e is the elements of; all of it that is not there yet in *t. */
static bool find_parts(const directory *d, const layout *l, const char *name, tensor *e, tensor *parts[3])
{
    parts[0] = e;
    parts[1] = strcmp(e->type_text, l->elements_type) == 0 ? look_up_part(d, l, name, l->scales, l->scales_type) : NULL;
    parts[2] = l->global != NULL && parts[1] != NULL ? look_up_part(d, l, name, l->global, "F32") : NULL;
    if (parts[1] == NULL || parts[1] == e || parts[1]->part != e->part ||
        (l->global != NULL && (parts[2] == NULL || parts[2]->count != 1 || parts[2]->part != e->part))) {
        return false;
    }
    const tensor *same = look_up(d, name);
    return (same == NULL || same == e) && shapes_fit(l, e, parts[1]) && metadata_fit(d->m, l, name);
}

/* Moves the parts into one tensor in the place of the elements; *whole has the rest. */
static bool join(const directory *d, tensor *whole, unsigned dimensions, const uint64_t *extent,
                 const tensor *const *parts, unsigned count)
{
    model *m = d->m;
    tensor *e = &m->tensor[parts[0] - m->tensor];
    whole->part = e->part;
    whole->type = dtype_named("F32");
    strcpy(whole->type_text, "F32");
    whole->stored.part = calloc(count, sizeof *whole->stored.part);
    if (whole->name == NULL || whole->stored.part == NULL || !model_set_shape(m, whole, dimensions, extent, 32)) {
        const bool told = m->error[0] == '\0' ? model_refuse(m, "out of memory") : model_blame(m, "tensor", e->name);
        free(whole->name);
        free(whole->stored.part);
        free(whole->stored.grid);
        free(whole->extent);
        return told;
    }
    for (unsigned i = 0; i < count; i++) {
        whole->stored.bytes += parts[i]->bytes;
        whole->stored.part[i] = *parts[i];
        d->taken[parts[i] - m->tensor] = true;
    }
    whole->stored.parts = count;
    whole->place = whole->stored.part[0].place;
    *e = *whole;
    d->taken[e - m->tensor] = false;
    return true;
}

static bool join_blocks(const directory *d, const layout *l, const char *name, tensor *const parts[3])
{
    const tensor *s = parts[1];
    uint64_t extent[MODEL_MOST_DIMENSIONS];
    tensor whole = {.name = strdup(name)};
    whole.stored = (tensor_stored){l->spec, .layout = l, .count = l->block, .size = l->block * l->bits / 8};
    whole.stored.software = l->software;
    memcpy(extent, s->extent, s->dimensions * sizeof *extent);
    extent[s->dimensions - 1] *= l->block;
    return join(d, &whole, s->dimensions, extent, (const tensor *const *)parts, l->global != NULL ? 3 : 2);
}

/* A part that is one tensor of the file still. */
static const tensor *look_up_free(const void *directory_, const char *name)
{
    const directory *d = directory_;
    const tensor *t = look_up(d, name);
    return t == NULL || d->taken[t - d->m->tensor] ? NULL : t;
}

static bool join_grid(const directory *d, tensor *e)
{
    grid_found f;
    if (!grid_find(d->m, look_up_free, d, e, &f))
        return false;
    const tensor *same = f.grid != NULL ? look_up(d, f.name) : NULL;
    for (unsigned i = 0; same != NULL && i < f.parts; i++)
        same = same == f.part[i] ? NULL : same;
    if (f.grid == NULL || same != NULL) {
        free(f.grid);
        free(f.name);
        return true;
    }
    tensor whole = {.name = f.name, .stored = {.name = f.grid->element, .grid = f.grid, .count = 1, .size = 1}};
    whole.stored.software = f.grid->software;
    return join(d, &whole, f.dimensions, f.extent, f.part, f.parts);
}

/* Tries the layouts with the elements in tensor e. */
static bool join_at(const directory *d, tensor *e)
{
    bool good = true, done = e->stored.name != NULL;
    for (unsigned k = 0; good && !done && k < LAYOUTS; k++) {
        tensor *parts[3];
        char *name = whole_name(&layouts[k], e->name);
        done = name != NULL && find_parts(d, &layouts[k], name, e, parts);
        good = !done || join_blocks(d, &layouts[k], name, parts);
        free(name);
    }
    return good && (done || join_grid(d, e));
}

/* Takes away what metadata say of the layouts of these tensors. */
static void forget_layouts(json_t **metadata, const tensor *t, size_t count)
{
    const bool torchao = json_object_get(*metadata, "tensor_names") != NULL; /* it says something of each tensor */
    json_object_del(*metadata, "quantization_config");
    json_object_del(*metadata, "tensor_names");
    for (size_t i = 0; torchao && i < count; i++)
        json_object_del(*metadata, t[i].name);
    if (*metadata != NULL && json_object_size(*metadata) == 0) {
        json_decref(*metadata);
        *metadata = NULL;
    }
}

/* After tensors became fewer. */
static void settle(model *m)
{
    for (size_t k = 0; k < m->parts; k++)
        m->part[k].first = m->part[k].count = 0;
    for (size_t i = 0; m->parts > 0 && i < m->count; i++) {
        model_part *part = &m->part[m->tensor[i].part];
        part->first = part->count == 0 ? i : part->first;
        part->count++;
    }
    for (size_t k = 0; k < m->parts; k++)
        forget_layouts(&m->part[k].metadata, m->tensor + m->part[k].first, m->part[k].count);
    forget_layouts(&m->metadata, m->tensor, m->count);
}

bool layout_join(model *m)
{
    directory d = {.m = m, .count = m->count};
    bool good;
    size_t kept = 0;
    d.by_name = calloc(m->count + 1, sizeof *d.by_name);
    d.taken = calloc(m->count + 1, sizeof *d.taken);
    good = (d.by_name != NULL && d.taken != NULL) || model_refuse(m, "out of memory");
    for (size_t i = 0; good && i < m->count; i++)
        d.by_name[i] = (named){m->tensor[i].name, i};
    if (good)
        qsort(d.by_name, m->count, sizeof *d.by_name, compare_names);
    for (size_t i = 0; good && i < m->count; i++)
        good = d.taken[i] || join_at(&d, &m->tensor[i]);
    for (size_t i = 0; d.taken != NULL && i < m->count; i++)
        if (!d.taken[i])
            m->tensor[kept++] = m->tensor[i];
    if (d.taken != NULL && kept < m->count) {
        m->count = kept;
        settle(m);
    }
    free(d.by_name);
    free(d.taken);
    return good;
}

static const tensor *look_up_slowly(const void *m, const char *name)
{
    const model *of = m;
    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->tensor[i].name, name) == 0)
            return &of->tensor[i];
    return NULL;
}

const char *layout_nearest(model *m, const tensor *codes, char text[LAYOUT_NEAREST_SIZE])
{
    grid_found f;
    const bool fits = grid_find(m, look_up_slowly, m, codes, &f) && f.grid != NULL;
    if (fits)
        snprintf(text, LAYOUT_NEAREST_SIZE, "%s, the nearest, has no other tensor '%.80s'", f.grid->software, f.name);
    else
        snprintf(text, LAYOUT_NEAREST_SIZE, "%s", f.why[0] != '\0' ? f.why : "files.md has those that are");
    free(f.grid);
    free(f.name);
    return text;
}

/* -------------------------------------------------------------------------------------------------- numbers */

/* Two numbers of the whole tensor, as fpemu_unpack takes them. */
static bool load_global(model *m, const tensor *t, unsigned char bytes[8])
{
    const layout *l = t->stored.layout;
    unsigned char given[4];
    float value;
    if (!stored_bytes(m, t->stored.part[2].place, given, sizeof given))
        return false;
    const uint32_t code = (uint32_t)bytes_load(given, 4);
    memcpy(&value, &code, sizeof value);
    if (!(value > 0 && value <= FLT_MAX)) {
        return model_refuse(m, "its scale of the whole tensor, '%.100s', is %g, and no finite number above 0",
                            t->stored.part[2].name, (double)value);
    }
    const float other = 1 / value, u = l->global_divides ? value : other, d = l->global_divides ? other : value;
    const float two[2] = {u < FLT_MAX ? u : FLT_MAX, d < FLT_MAX ? d : FLT_MAX};
    for (int i = 0; i < 2; i++) {
        uint32_t bits;
        memcpy(&bits, &two[i], sizeof bits);
        bytes_store(bytes + 4 * i, 4, bits);
    }
    return true;
}

bool layout_scales(model *m, const tensor *t, uint64_t first, size_t n, float *scales, float whole[2])
{
    const tensor *part = &t->stored.part[1];
    unsigned char codes[4096], two[8] = {0};
    fpemu_format format, scale;
    if (fpemu_format_parse(t->stored.layout->spec, &format, NULL) != FPEMU_OK ||
        fpemu_format_scale(&format, &scale) != FPEMU_OK)
        return model_refuse(m, "no format %s", t->stored.layout->spec);
    whole[0] = whole[1] = 1;
    if (!shards_turn_to(m, t->part) || (t->stored.parts > 2 && !load_global(m, t, two)))
        return false;
    for (int i = 0; i < 2 && t->stored.parts > 2; i++) {
        const uint32_t bits = (uint32_t)bytes_load(two + 4 * i, 4);
        memcpy(&whole[i], &bits, sizeof bits);
    }
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < sizeof codes ? n - done : sizeof codes;
        if (!stored_bytes(m, part->place + first + done, codes, some))
            return false;
        fpemu_decode_f32(&scale, some, codes, scales + done);
        done += some;
    }
    return true;
}

bool layout_decode(model *m, const tensor *t, uint64_t first, size_t n, float *y)
{
    enum { MOST = 1 << 13 }; /* elements */
    const tensor_stored *s = &t->stored;
    unsigned char bytes[8 + MOST / 16 + MOST];
    const size_t global = s->parts > 2 ? 8 : 0;
    fpemu_format format;
    const fpemu_shape shape = fpemu_shape_vector(n * s->count);
    if (n * s->count > MOST || fpemu_format_parse(s->layout->spec, &format, NULL) != FPEMU_OK)
        return model_refuse(m, "too many blocks at once");
    if ((global > 0 && !load_global(m, t, bytes)) || !stored_bytes(m, s->part[1].place + first, bytes + global, n) ||
        !stored_bytes(m, s->part[0].place + first * s->size, bytes + global + n, n * s->size)) {
        return false;
    }
    const fpemu_status status = fpemu_unpack_f32(&format, &shape, bytes, y);
    return status == FPEMU_OK || model_refuse(m, "%s", fpemu_status_text(status));
}

/* -------------------------------------------------------------------------------------------------- writing */

/* Whether the bytes of a format are those of the layout's, whatever rule finds the scales. */
static bool same_bytes(const fpemu_format *a, const fpemu_format *b)
{
    fpemu_format ea, eb, sa, sb;
    fpemu_layout la, lb;
    const fpemu_shape block = fpemu_shape_vector(b->block_length);
    return fpemu_packed_layout(a, &block, &la) == FPEMU_OK && fpemu_packed_layout(b, &block, &lb) == FPEMU_OK &&
           la.tensor_bytes == lb.tensor_bytes && la.scale_bytes == lb.scale_bytes && !a->outer &&
           a->block == FPEMU_BLOCK_RUN && a->block_length == b->block_length && !a->scale_power &&
           fpemu_format_element(a, &ea) == FPEMU_OK && fpemu_format_element(b, &eb) == FPEMU_OK &&
           fpemu_format_scale(a, &sa) == FPEMU_OK && fpemu_format_scale(b, &sb) == FPEMU_OK &&
           fpemu_format_equal(&ea, &eb) && fpemu_format_equal(&sa, &sb);
}

/* Whether 1/d no longer says d. */
static bool loses_quotient(const fpemu_format *f)
{
    return f->scaling == FPEMU_SCALING_NVFP4_AO || f->scaling == FPEMU_SCALING_NVFP4_CLAMP ||
           f->scaling == FPEMU_SCALING_EDEN;
}

const char *layout_formats(const char *software)
{
    static const struct {
        const char *software, *formats;
    } known[] = {
        {"compressed-tensors", "mxfp8, mxfp4, nvfp4; group(e4m3fn,tensor), row or 128x128; group(int8,tensor), row or "
                               "K, group(int4,row) or K, with rule=asymmetric too; scales fp32"},
        {"DeepSeek", "group(e4m3fn,128x128), mx(e4m3fn,128x128)"},
        {"gpt-oss", "mxfp4"},
        {"ModelOpt", "nvfp4, group(e4m3fn,tensor)"},
        {"torchao", "mxfp8, mxfp4, nvfp4"},
    };
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].software, software) == 0)
            return known[k].formats;
    return NULL;
}

/* Whether a rule has values code times scale, or code less zero point. */
static bool multiplies(const fpemu_format *f)
{
    return (f->scaling >= FPEMU_SCALING_FLOOR && f->scaling <= FPEMU_SCALING_ABSMAX) ||
           f->scaling == FPEMU_SCALING_RECIPE || f->scaling == FPEMU_SCALING_RECIPE_POW2 ||
           f->scaling == FPEMU_SCALING_RECIPROCAL || f->scaling == FPEMU_SCALING_ASYMMETRIC ||
           f->scaling == FPEMU_SCALING_MINMAX;
}

/* Whether codes are those of the layout's element: integers, fixed or affine, as two's complements. */
static bool same_codes(const fpemu_format *a, const fpemu_format *b)
{
    const bool whole = a->kind == FPEMU_KIND_FIXED ? a->fraction_bits == 0
                                                   : a->kind == FPEMU_KIND_INT && a->scale == 1 && a->zero_point == 0;
    return b->kind == FPEMU_KIND_INT ? whole && a->is_signed && a->bits == b->bits : fpemu_format_equal(a, b) != 0;
}

static bool matrix_fits(const layout_matrix *x, const fpemu_format *f)
{
    fpemu_format element, scale, own, own_scale;
    return multiplies(f) && (x->blocks >> f->block & 1) != 0 && !f->scale_power &&
           (f->block != FPEMU_BLOCK_TILE || (f->block_rows == TILE && f->block_length == TILE)) &&
           fpemu_format_element(f, &element) == FPEMU_OK && fpemu_format_scale(f, &scale) == FPEMU_OK &&
           fpemu_format_parse(x->element, &own, NULL) == FPEMU_OK &&
           fpemu_format_parse(x->scale, &own_scale, NULL) == FPEMU_OK && same_codes(&element, &own) &&
           fpemu_format_equal(&scale, &own_scale);
}

static const layout *find_matrix(const char *software, const fpemu_format *f, layout *made)
{
    unsigned k = 0;
    while (k < MATRICES && (strcmp(matrices[k].software, software) != 0 || !matrix_fits(&matrices[k], f)))
        k++;
    if (k == MATRICES)
        return NULL;
    const layout_matrix *x = &matrices[k];
    const bool zeros = f->scaling == FPEMU_SCALING_ASYMMETRIC || f->scaling == FPEMU_SCALING_MINMAX;
    layout *l = made;
    while (l->software != NULL &&
           (l->matrix != x || l->kind != f->block || l->block != f->block_length || l->zeros != zeros))
        l++;
    *l = (layout){.software = software, .spec = x->element, .block = f->block_length, .bits = f->bits};
    l->elements = x->names->codes, l->elements_type = x->elements_type;
    l->scales = x->names->scale, l->scales_type = x->scales_type;
    l->method = x->method, l->matrix = x, l->kind = (fpemu_block)f->block, l->zeros = zeros;
    return l;
}

const layout *layout_find(const char *software, const fpemu_format *format, layout *made)
{
    for (unsigned k = 0; k < LAYOUTS; k++) {
        fpemu_format own;
        if (strcmp(layouts[k].software, software) == 0 && fpemu_format_parse(layouts[k].spec, &own, NULL) == FPEMU_OK &&
            same_bytes(format, &own) && (!layouts[k].global_divides || !loses_quotient(format))) {
            return &layouts[k];
        }
    }
    return find_matrix(software, format, made);
}

static const char *objection_to_name(bool underscore, const tensor *t)
{
    return underscore && strchr(t->name, '.') == NULL ? "there is no dot in its name" : NULL;
}

const char *layout_objection_to_copy(const char *software, const tensor *t)
{
    return objection_to_name(!layout_has_config(software), t);
}

static const char *objection_to_matrix(const layout *l, const tensor *t)
{
    const size_t length = strlen(t->name), word = of_module(l) ? strlen(l->elements) : 0;
    if (t->dimensions != 2)
        return "it is no matrix";
    if (l->kind == FPEMU_BLOCK_RUN && t->extent[1] % l->block != 0)
        return "its rows are no whole groups";
    if (l->matrix->names->shape != NULL && (t->extent[1] * l->bits % 32 != 0 || (l->block * l->bits) % 8 != 0))
        return "its rows are no whole words of 32 bits, or its groups no whole bytes";
    return word > 0 && (length < word || strcmp(t->name + length - word, l->elements) != 0)
               ? "its name does not end in 'weight'"
               : NULL;
}

const char *layout_objection(const layout *l, const tensor *t)
{
    if (t->dimensions == 0 || t->count == 0)
        return "it has no blocks";
    if (l->matrix != NULL)
        return t->name[0] == '\0' ? "it has no name" : objection_to_matrix(l, t);
    if (t->extent[t->dimensions - 1] % l->block != 0)
        return l->block == 16 ? "its rows are no whole blocks of 16" : "its rows are no whole blocks of 32";
    const char *dot = l->underscore ? strrchr(t->name, '.') : NULL; /* whole_name() wants a word behind it */
    return t->name[0] == '\0'              ? "it has no name"
           : dot != NULL && dot[1] == '\0' ? "there is no word behind the last dot of its name"
                                           : objection_to_name(l->underscore, t);
}

const unsigned char *layout_global(const layout *l, const unsigned char tensor_bytes[8])
{
    return l->global == NULL ? NULL : l->global_divides ? tensor_bytes : tensor_bytes + 4;
}

/* A tensor of the file. */
typedef struct part {
    const char *suffix, *type;
    unsigned dimensions;
    uint64_t extent[MODEL_MOST_DIMENSIONS + 1], bytes;
} part;

enum { PARTS = 5, TAIL = 3 }; /* number of the whole tensor, scales, elements; zero points, shape: those are the tail */

static uint64_t parts_up(uint64_t n, uint64_t d)
{
    return n / d + (n % d != 0);
}

/* Rows of scales, and scales of a row. */
static void count_scales(const layout *l, const tensor *t, uint64_t count[2])
{
    count[0] = l->kind == FPEMU_BLOCK_TENSOR ? 1
               : l->kind == FPEMU_BLOCK_TILE ? parts_up(t->extent[0], TILE)
                                             : t->extent[0];
    count[1] = l->kind == FPEMU_BLOCK_TILE || l->kind == FPEMU_BLOCK_RUN ? parts_up(t->extent[1], l->block) : 1;
}

static void list_matrix(const layout *l, const tensor *t, part p[PARTS])
{
    const grid_names *names = l->matrix->names;
    const bool words = names->shape != NULL;
    part *scales = &p[1], *zeros = &p[3], *shape = &p[4];
    if (words)
        p[2].extent[1] = t->extent[1] * l->bits / 32;
    count_scales(l, t, scales->extent);
    scales->bytes = scales->extent[0] * scales->extent[1] * (strcmp(l->scales_type, "F32") == 0 ? 4 : 1);
    if (l->kind == FPEMU_BLOCK_TENSOR)
        scales->dimensions = l->matrix->bare ? 0 : 1;
    if (l->zeros) {
        *zeros = *scales;
        zeros->suffix = names->zero, zeros->type = l->matrix->zeros_type;
        zeros->extent[0] = words ? parts_up(scales->extent[0] * l->bits, 32) : scales->extent[0];
        zeros->bytes = zeros->extent[0] * zeros->extent[1] * (words ? 4 : 1);
    }
    if (words)
        *shape = (part){names->shape, "I64", 1, {2}, 16};
}

/* The parts of a tensor in the order in which they lie in the file; without a suffix: there is no such. */
static void list_parts(const layout *l, const tensor *t, part p[PARTS])
{
    const unsigned last = t->dimensions - 1;
    const part none = {.type = NULL};
    for (int k = 0; k < PARTS; k++)
        p[k] = none;
    if (l->global != NULL)
        p[0] = (part){l->global, "F32", l->global_is_array, {1}, 4};
    for (int k = 1; k <= 2; k++) {
        p[k].dimensions = t->dimensions;
        memcpy(p[k].extent, t->extent, t->dimensions * sizeof *t->extent);
    }
    p[1].suffix = l->scales, p[1].type = l->scales_type;
    p[2].suffix = l->elements, p[2].type = l->elements_type;
    p[2].bytes = t->count * l->bits / 8;
    if (l->matrix != NULL) {
        list_matrix(l, t, p);
        return;
    }
    p[1].extent[last] /= l->block;
    p[1].bytes = t->count / l->block;
    p[2].extent[last] /= l->split ? l->block : 8 / l->bits;
    if (l->split)
        p[2].extent[p[2].dimensions++] = l->block * l->bits / 8;
}

static uint64_t bytes_from(const layout *l, const tensor *t, int first)
{
    part p[PARTS];
    uint64_t bytes = 0;
    list_parts(l, t, p);
    for (int k = first; k < PARTS; k++)
        bytes += p[k].bytes;
    return bytes;
}

uint64_t layout_bytes(const layout *l, const tensor *t)
{
    return bytes_from(l, t, 0);
}

uint64_t layout_tail_bytes(const layout *l, const tensor *t)
{
    return bytes_from(l, t, TAIL);
}

/* Integers of words have the sign bit the other way round: they count from the least. */
static void flip_signs(const layout *l, unsigned char *codes, uint64_t bytes)
{
    for (uint64_t i = 0; l->matrix->names->shape != NULL && i < bytes; i++)
        codes[i] ^= l->bits == 4 ? 0x88 : 0x80;
}

/* Block after block to row after row. */
static bool spread_tiles(const fpemu_shape *shape, unsigned char *elements)
{
    unsigned char *strip = malloc((size_t)(TILE * shape->length));
    for (uint64_t row = 0; strip != NULL && row < shape->rows; row += TILE) {
        const uint64_t rows = shape->rows - row < TILE ? shape->rows - row : TILE;
        unsigned char *to = elements + row * shape->length;
        const unsigned char *from = memcpy(strip, to, (size_t)(rows * shape->length));
        for (uint64_t column = 0; column < shape->length; column += TILE) {
            const size_t width = shape->length - column < TILE ? (size_t)(shape->length - column) : TILE;
            for (uint64_t r = 0; r < rows; r++, from += width)
                memcpy(to + r * shape->length + column, from, width);
        }
    }
    free(strip);
    return strip != NULL;
}

/* Words go down the rows. */
static void store_zero(const layout *l, uint64_t block, uint64_t blocks, unsigned code, unsigned char *tail)
{
    const uint64_t row = block / blocks, bit = row * l->bits;
    if (l->matrix->names->shape == NULL) {
        tail[block] = (unsigned char)code;
    } else {
        code ^= 1u << (l->bits - 1);
        tail[(bit / 32 * blocks + block % blocks) * 4 + bit % 32 / 8] |= (unsigned char)(code << bit % 8);
    }
}

size_t layout_arrange(const layout *l, const tensor *t, const fpemu_layout *packed, const fpemu_shape *shape,
                      uint64_t block, unsigned char *bytes, unsigned char *tail)
{
    const size_t size = l->zeros ? 4 : (size_t)packed->scale_bytes;
    unsigned char *scales = bytes + packed->scales_offset, *elements = bytes + packed->elements_offset;
    const uint64_t step = packed->scale_bytes, end = layout_tail_bytes(l, t);
    uint64_t count[2];
    count_scales(l, t, count);
    for (uint64_t k = 0; l->zeros && k < packed->blocks; k++) {
        store_zero(l, block + k, count[1], scales[k * step + 4] & ((1u << l->bits) - 1), tail);
        memmove(scales + k * size, scales + k * step, size);
    }
    flip_signs(l, elements, packed->bytes - packed->elements_offset);
    for (int i = 0; l->matrix->names->shape != NULL && i < 2; i++)
        bytes_store(tail + end - 16 + 8 * i, 8, t->extent[i]);
    return l->kind == FPEMU_BLOCK_TILE && !spread_tiles(shape, elements) ? 0 : size * (size_t)packed->blocks;
}

/* A header that is being made; once it is not good, it stays so. */
typedef struct print {
    json_t *header;
    uint64_t end;
    const char *twice; /* a tensor one of whose names is there already */
    bool good;
} print;

static void add(print *p, const tensor *t, const char *name, const char *type, json_t *shape, uint64_t bytes)
{
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", shape, "data_offsets", (json_int_t)p->end,
                              (json_int_t)(p->end + bytes));
    p->end += bytes;
    if (p->good && name != NULL && json_object_get(p->header, name) != NULL) {
        p->twice = t->name;
        p->good = false;
    }
    if (p->good && name != NULL && entry != NULL)
        p->good = json_object_set(p->header, name, entry) == 0;
    else
        p->good = false;
    json_decref(entry);
}

static void add_part(print *p, const layout *l, const tensor *t, const char *suffix, const char *type, json_t *shape,
                     uint64_t bytes)
{
    char *name = part_name(l, t->name, suffix);
    add(p, t, name, type, shape, bytes);
    free(name);
}

static void add_parts(print *p, const layout *l, const tensor *t)
{
    part parts[PARTS];
    list_parts(l, t, parts);
    for (const part *a = parts; a < parts + PARTS; a++) {
        json_t *shape = a->suffix != NULL ? json_array() : NULL;
        for (unsigned i = 0; shape != NULL && i < a->dimensions; i++)
            json_array_append_new(shape, json_integer((json_int_t)a->extent[i]));
        if (a->suffix != NULL)
            add_part(p, l, t, a->suffix, a->type, shape, a->bytes);
    }
}

/* What torchao wants to know of each tensor. */
static json_t *torchao_class(const layout *l)
{
    json_t *object, *single = json_pack("{s:s, s:s}", "_type", "torch.dtype", "_data", "float32");
    if (l->global != NULL) {
        object =
            json_pack("{s:s, s:{s:b, s:b, s:n, s:i, s:o}, s:[s, s, s]}", "_type", l->method, "_data",
                      "is_swizzled_scales", 0, "use_triton_kernel", 0, "act_quant_kwargs", "block_size", (int)l->block,
                      "orig_dtype", single, "_tensor_data_names", "per_tensor_scale", "qdata", "scale");
    } else {
        object = json_pack("{s:s, s:{s:{s:s, s:s}, s:i, s:o, s:{s:s, s:s}, s:n, s:b}, s:[s, s]}", "_type", l->method,
                           "_data", "elem_dtype", "_type", "torch.dtype", "_data",
                           l->bits == 8 ? "float8_e4m3fn" : "float4_e2m1fn_x2", "block_size", (int)l->block,
                           "orig_dtype", single, "kernel_preference", "_type", "KernelPreference", "_data", "EMULATED",
                           "act_quant_kwargs", "is_swizzled_scales", 0, "_tensor_data_names", "qdata", "scale");
    }
    return object;
}

static bool set_text(json_t *object, const char *key, json_t *value)
{
    char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const bool good = text != NULL && json_object_set_new(object, key, json_string(text)) == 0;
    free(text);
    json_decref(value);
    return good;
}

/* One of the layouts, for what they have in common. */
static const layout *first_of(const model *m, const layout *const *of)
{
    size_t i = 0;
    while (i + 1 < m->count && of[i] == NULL)
        i++;
    return of[i];
}

static json_t *metadata_of(const model *m, size_t first, size_t count, json_t *old, const layout *const *of)
{
    json_t *metadata = old != NULL ? json_copy(old) : json_object(), *names = json_array();
    const bool torchao = first_of(m, of)->underscore;
    bool good = metadata != NULL && names != NULL;
    for (size_t i = first; good && torchao && i < first + count; i++) {
        json_t *value = of[i] != NULL ? torchao_class(of[i]) : json_pack("{s:s}", "_type", "Tensor");
        good = set_text(metadata, m->tensor[i].name, value) &&
               json_array_append_new(names, json_string(m->tensor[i].name)) == 0;
    }
    if (good && torchao) {
        good = set_text(metadata, "tensor_names", json_incref(names));
    } else if (good) {
        json_t *config = layout_config(m, of);
        good = set_text(metadata, "quantization_config", json_incref(json_object_get(config, "quantization_config")));
        json_decref(config);
    }
    json_decref(names);
    if (!good) {
        json_decref(metadata);
        return NULL;
    }
    return metadata;
}

unsigned char *layout_print(const model *m, size_t first, size_t count, json_t *old, const layout *const *of,
                            size_t *size, const char **twice)
{
    print p = {.header = json_object()};
    json_t *metadata = metadata_of(m, first, count, old, of);
    p.good = p.header != NULL && metadata != NULL && json_object_set(p.header, "__metadata__", metadata) == 0;
    for (size_t i = first; i < first + count && p.good; i++) {
        const tensor *t = &m->tensor[i];
        if (of[i] != NULL)
            add_parts(&p, of[i], t);
        else
            add(&p, t, t->name, t->type_text, json_header_shape(t), t->bytes);
    }
    unsigned char *bytes = p.good ? safetensors_frame(p.header, size) : NULL;
    json_decref(metadata);
    json_decref(p.header);
    *twice = p.twice;
    return bytes;
}

/* Where a name lies; none may lie in two places. */
static bool place_name(json_t *map, const char *name, const char *file)
{
    return name != NULL && json_object_get(map, name) == NULL && json_object_set_new(map, name, json_string(file)) == 0;
}

static bool place_parts(json_t *map, const layout *l, const tensor *t, const char *file)
{
    part parts[PARTS];
    bool good = true;
    list_parts(l, t, parts);
    for (int k = 0; k < PARTS && good; k++) {
        char *name = parts[k].suffix != NULL ? part_name(l, t->name, parts[k].suffix) : NULL;
        good = parts[k].suffix == NULL || place_name(map, name, file);
        free(name);
    }
    return good;
}

json_t *layout_weight_map(const model *m, const layout *const *of, const char **twice)
{
    json_t *map = json_object();
    *twice = NULL;
    for (size_t i = 0; map != NULL && i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        const char *file = m->part[t->part].name;
        if (of[i] != NULL ? !place_parts(map, of[i], t, file) : !place_name(map, t->name, file)) {
            *twice = t->name;
            json_decref(map);
            map = NULL;
        }
    }
    return map;
}

/* -------------------------------------------------------------------------------------------- configuration */

bool layout_one_format(const char *software)
{
    return strcmp(software, "ModelOpt") == 0 || strcmp(software, "DeepSeek") == 0;
}

bool layout_has_config(const char *software)
{
    return strcmp(software, "torchao") != 0;
}

/* The module of a tensor: its name without the last word. */
static json_t *module_of(const tensor *t)
{
    const char *dot = strrchr(t->name, '.');
    return dot != NULL ? json_stringn(t->name, (size_t)(dot - t->name)) : json_string(t->name);
}

/* The modules of the tensors that are kept in a layout; NULL: of those that are not and could have been. */
static json_t *modules(const model *m, const layout *const *of, const layout *which)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->count; i++)
        if (of[i] == which && (which != NULL || m->tensor[i].type != NULL))
            json_array_append_new(list, module_of(&m->tensor[i]));
    return list;
}

/* One of the groups of compressed-tensors: modules whose weights have one format. */
static json_t *group_of(const model *m, const layout *const *of, const layout *l)
{
    const bool whole = l->matrix != NULL && strcmp(l->scales_type, "F32") == 0;
    const char *strategy = l->global != NULL               ? "tensor_group"
                           : !whole                        ? "group"
                           : l->kind == FPEMU_BLOCK_TENSOR ? "tensor"
                           : l->kind == FPEMU_BLOCK_TILE   ? "block"
                           : l->kind == FPEMU_BLOCK_RUN    ? "group"
                                                           : "channel";
    json_t *weights = json_pack("{s:i, s:s, s:b, s:b, s:s}", "num_bits", (int)l->bits, "type",
                                strcmp(l->spec, "int8") == 0 || strcmp(l->spec, "int4") == 0 ? "int" : "float",
                                "symmetric", !l->zeros, "dynamic", 0, "strategy", strategy);
    if (strcmp(strategy, "block") == 0)
        json_object_set_new(weights, "block_structure", json_pack("[i, i]", TILE, TILE));
    else if (l->block > 0)
        json_object_set_new(weights, "group_size", json_integer(l->block));
    if (l->matrix == NULL)
        json_object_set_new(weights, "scale_dtype",
                            json_string(l->global != NULL ? "torch.float8_e4m3fn" : "torch.uint8"));
    return json_pack("{s:o, s:o, s:n, s:n, s:s}", "targets", modules(m, of, l), "weights", weights, "input_activations",
                     "output_activations", "format", l->method);
}

static json_t *groups_of(const model *m, const layout *const *of)
{
    json_t *groups = json_object();
    for (size_t i = 0; i < m->count; i++) {
        size_t first = 0;
        while (of[first] != of[i])
            first++;
        if (of[i] != NULL && first == i) {
            char name[32];
            snprintf(name, sizeof name, "group_%u", (unsigned)json_object_size(groups));
            json_object_set_new(groups, name, group_of(m, of, of[i]));
        }
    }
    return groups;
}

json_t *layout_config(const model *m, const layout *const *of)
{
    const layout *l = first_of(m, of);
    json_t *config;
    if (strcmp(l->software, "ModelOpt") == 0) {
        config = json_pack("{s:s, s:s, s:o}", "quant_method", "modelopt", "quant_algo", l->method, "ignore",
                           modules(m, of, NULL));
        if (l->block > 0)
            json_object_set_new(config, "group_size", json_integer(l->block));
    } else if (strcmp(l->software, "DeepSeek") == 0) {
        config = json_pack("{s:s, s:s, s:s, s:s, s:[i, i], s:o}", "quant_method", "fp8", "fmt", "e4m3", "scale_fmt",
                           l->method, "activation_scheme", "dynamic", "weight_block_size", TILE, TILE,
                           "modules_to_not_convert", modules(m, of, NULL));
    } else if (strcmp(l->software, "gpt-oss") == 0) {
        config = json_pack("{s:s, s:o}", "quant_method", l->method, "modules_to_not_convert", modules(m, of, NULL));
    } else {
        json_t *groups = groups_of(m, of);
        const char *format = json_object_size(groups) > 1 ? "mixed-precision" : l->method;
        config =
            json_pack("{s:s, s:s, s:s, s:o, s:o}", "quant_method", "compressed-tensors", "format", format,
                      "quantization_status", "compressed", "config_groups", groups, "ignore", modules(m, of, NULL));
    }
    return config != NULL ? json_pack("{s:o}", "quantization_config", config) : NULL;
}
