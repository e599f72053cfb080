/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c - see layout.h */
#include "files/layout.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"
#include "common/safetensors.h"
#include "files/grid.h"
#include "files/json_header.h"
#include "files/safetensors.h"
#include "files/shards.h"
#include "files/stored.h"

static const layout layouts[] = {
    {"compressed-tensors", "mxfp4", 32, 4, "_packed", "U8", "_scale", "U8", NULL, false, false, false, false,
     "mxfp4-pack-quantized"},
    {"compressed-tensors", "nvfp4", 16, 4, "_packed", "U8", "_scale", "F8_E4M3", "_global_scale", true, true, false,
     false, "nvfp4-pack-quantized"},
    {"compressed-tensors", "mxfp8", 32, 8, "", "F8_E4M3", "_scale", "U8", NULL, false, false, false, false,
     "mxfp8-quantized"},
    {"gpt-oss", "mxfp4", 32, 4, "_blocks", "U8", "_scales", "U8", NULL, false, false, true, false, "mxfp4"},
    {"ModelOpt", "nvfp4", 16, 4, "", "U8", "_scale", "F8_E4M3", "_scale_2", false, false, false, false, "NVFP4"},
    {"torchao", "mxfp4", 32, 4, "_qdata", "U8", "_scale", "F8_E8M0", NULL, false, false, false, true, "MXTensor"},
    {"torchao", "mxfp8", 32, 8, "_qdata", "F8_E4M3", "_scale", "F8_E8M0", NULL, false, false, false, true, "MXTensor"},
    {"torchao", "nvfp4", 16, 4, "_qdata", "U8", "_scale", "F8_E4M3", "_per_tensor_scale", false, false, false, true,
     "NVFP4Tensor"},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* ---------------------------------------------------------------------------------------------------- names */

/* The name of a part, to be freed; NULL when memory runs out. */
static char *part_name(const layout *l, const char *name, const char *suffix)
{
    const char *dot = l->underscore ? strrchr(name, '.') : NULL;
    const size_t before = dot != NULL ? (size_t)(dot - name) + 1 : 0, size = strlen(name) + strlen(suffix) + 2;
    char *text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%.*s%s%s%s", (int)before, name, dot != NULL ? "_" : "", name + before, suffix);
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

bool layout_is_known(const char *software)
{
    unsigned k = 0;
    while (k < LAYOUTS && strcmp(layouts[k].software, software) != 0)
        k++;
    return k < LAYOUTS;
}

const layout *layout_find(const char *software, const fpemu_format *format)
{
    for (unsigned k = 0; k < LAYOUTS; k++) {
        fpemu_format own;
        if (strcmp(layouts[k].software, software) == 0 && fpemu_format_parse(layouts[k].spec, &own, NULL) == FPEMU_OK &&
            same_bytes(format, &own) && (!layouts[k].global_divides || !loses_quotient(format))) {
            return &layouts[k];
        }
    }
    return NULL;
}

static const char *objection_to_name(bool underscore, const tensor *t)
{
    return underscore && strchr(t->name, '.') == NULL ? "there is no dot in its name" : NULL;
}

const char *layout_objection_to_copy(const char *software, const tensor *t)
{
    return objection_to_name(!layout_has_config(software), t);
}

const char *layout_objection(const layout *l, const tensor *t)
{
    if (t->dimensions == 0 || t->count == 0)
        return "it has no blocks";
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

/* The shape with the last extent divided. */
static json_t *shape_of(const tensor *t, uint64_t divisor)
{
    json_t *shape = json_header_shape(t);
    json_array_set_new(shape, t->dimensions - 1, json_integer((json_int_t)(t->extent[t->dimensions - 1] / divisor)));
    return shape;
}

static void add_blocks(print *p, const layout *l, const tensor *t)
{
    const uint64_t blocks = t->count / l->block;
    json_t *elements = shape_of(t, l->split ? l->block : 8 / l->bits), *global = json_array();
    if (l->split)
        json_array_append_new(elements, json_integer(l->block * l->bits / 8));
    if (l->global_is_array)
        json_array_append_new(global, json_integer(1));
    if (l->global != NULL)
        add_part(p, l, t, l->global, "F32", json_incref(global), 4);
    json_decref(global);
    add_part(p, l, t, l->scales, l->scales_type, shape_of(t, l->block), blocks);
    add_part(p, l, t, l->elements, l->elements_type, elements, t->count * l->bits / 8);
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
            add_blocks(&p, of[i], t);
        else
            add(&p, t, t->name, t->type_text, json_header_shape(t), t->bytes);
    }
    unsigned char *bytes = p.good ? safetensors_frame(p.header, size) : NULL;
    json_decref(metadata);
    json_decref(p.header);
    *twice = p.twice;
    return bytes;
}

uint64_t layout_bytes(const layout *l, uint64_t packed)
{
    return l->global != NULL ? packed - 4 : packed; /* one number of the whole tensor, of two */
}

/* Where a name lies; none may lie in two places. */
static bool place_name(json_t *map, const char *name, const char *file)
{
    return name != NULL && json_object_get(map, name) == NULL && json_object_set_new(map, name, json_string(file)) == 0;
}

static bool place_parts(json_t *map, const layout *l, const tensor *t, const char *file)
{
    const char *const suffix[] = {l->elements, l->scales, l->global};
    bool good = true;
    for (int k = 0; k < 3 && good; k++) {
        char *name = suffix[k] != NULL ? part_name(l, t->name, suffix[k]) : NULL;
        good = suffix[k] == NULL || place_name(map, name, file);
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
    json_t *weights =
        json_pack("{s:i, s:s, s:b, s:b, s:s, s:i, s:s}", "num_bits", (int)l->bits, "type", "float", "symmetric", 1,
                  "dynamic", 0, "strategy", l->global != NULL ? "tensor_group" : "group", "group_size", (int)l->block,
                  "scale_dtype", l->global != NULL ? "torch.float8_e4m3fn" : "torch.uint8");
    return json_pack("{s:o, s:o, s:n, s:n, s:s}", "targets", modules(m, of, l), "weights", weights, "input_activations",
                     "output_activations", "format", l->method);
}

static json_t *groups_of(const model *m, const layout *const *of)
{
    json_t *groups = json_object();
    for (unsigned k = 0; k < LAYOUTS; k++) {
        size_t i = 0;
        while (i < m->count && of[i] != &layouts[k])
            i++;
        if (i < m->count) {
            char name[32];
            snprintf(name, sizeof name, "group_%u", (unsigned)json_object_size(groups));
            json_object_set_new(groups, name, group_of(m, of, &layouts[k]));
        }
    }
    return groups;
}

json_t *layout_config(const model *m, const layout *const *of)
{
    const layout *l = first_of(m, of);
    json_t *config;
    if (strcmp(l->software, "ModelOpt") == 0) {
        config = json_pack("{s:s, s:s, s:i, s:o}", "quant_method", "modelopt", "quant_algo", l->method, "group_size",
                           (int)l->block, "ignore", modules(m, of, NULL));
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
