/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c - see model.h */
#include "files/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/shape.h"

static const struct {
    const char *name, *suffix;
} kinds[] = {[MODEL_RAW] = {"raw", NULL},      [MODEL_NPY] = {".npy", ".npy"},
             [MODEL_NPZ] = {".npz", ".npz"},   [MODEL_SAFETENSORS] = {"safetensors", ".safetensors"},
             [MODEL_GGUF] = {"GGUF", ".gguf"}, [MODEL_CONTAINER] = {"a file of packed tensors", ".fpk"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

model_kind model_kind_of_name(const char *name)
{
    for (unsigned kind = MODEL_NPY; kind < KINDS; kind++) {
        const size_t length = strlen(name), suffix = strlen(kinds[kind].suffix);
        if (length > suffix && strcasecmp(name + length - suffix, kinds[kind].suffix) == 0)
            return (model_kind)kind;
    }
    return MODEL_DETECT;
}

const char *model_kind_name(model_kind kind)
{
    return kinds[kind].name;
}

model_kind model_kind_written(model_kind kind)
{
    return kind == MODEL_GGUF ? MODEL_SAFETENSORS : kind;
}

#undef model_refuse
bool model_refuse(model *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->error, sizeof m->error, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------------------------------------ tensors */

/* Room for more is made whenever the count is a power of two. */
tensor *model_add(model *m, const char *name)
{
    if ((m->count & (m->count - 1)) == 0) {
        const size_t room = m->count > 0 ? 2 * m->count : 1;
        tensor *grown = room <= SIZE_MAX / sizeof *grown ? realloc(m->tensor, room * sizeof *grown) : NULL;
        if (grown == NULL) {
            model_refuse(m, "out of memory");
            return NULL;
        }
        m->tensor = grown;
    }
    tensor *t = &m->tensor[m->count];
    memset(t, 0, sizeof *t);
    t->name = strdup(name);
    if (t->name == NULL) {
        model_refuse(m, "out of memory");
        return NULL;
    }
    m->count++;
    return t;
}

bool model_move(model *m, model *from, size_t part)
{
    const size_t count = m->count + from->count;
    tensor *grown = count <= SIZE_MAX / sizeof *grown ? realloc(m->tensor, (count + 1) * sizeof *grown) : NULL;
    if (grown == NULL)
        return model_refuse(m, "out of memory");
    m->tensor = grown;
    for (size_t i = 0; i < from->count; i++) {
        grown[m->count] = from->tensor[i];
        grown[m->count++].part = part;
    }
    from->count = 0;
    return true;
}

bool model_set_shape(model *m, tensor *t, unsigned dimensions, const uint64_t *extent, unsigned bits)
{
    trouble why;
    t->extent = calloc(dimensions > 0 ? dimensions : 1, sizeof *t->extent);
    if (t->extent == NULL)
        return model_refuse(m, "out of memory");
    t->dimensions = dimensions;
    for (unsigned i = 0; i < dimensions; i++)
        t->extent[i] = extent[i];
    return shape_measure(dimensions, extent, bits, &t->count, &t->bytes, &why) || model_refuse(m, "%.200s", why.text);
}

const char *model_type_text(const tensor *t)
{
    return t->stored.name != NULL ? t->stored.name : t->type != NULL ? t->type->name : t->type_text;
}

uint64_t model_bytes(const tensor *t)
{
    return t->stored.name != NULL ? t->stored.bytes : t->bytes;
}

double model_type_bits(const tensor *t)
{
    return t->stored.name == NULL ? 8.0 * t->type->size
           : t->count > 0         ? 8 * (double)t->stored.bytes / (double)t->count
                                  : 0;
}

bool model_blame(model *m, const char *what, const char *name)
{
    char reason[MODEL_ERROR_SIZE];
    strcpy(reason, m->error);
    return model_refuse(m, "%s '%.80s': %.150s", what, name, reason);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool model_names_differ(const model *m, const char **twice)
{
    const char **names = calloc(m->count + 1, sizeof *names);
    *twice = NULL;
    if (names == NULL)
        return false;
    for (size_t i = 0; i < m->count; i++)
        names[i] = m->tensor[i].name;
    qsort(names, m->count, sizeof *names, by_name);
    for (size_t i = 1; i < m->count && *twice == NULL; i++)
        *twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    return *twice == NULL;
}

static void free_tensor(tensor *t)
{
    for (unsigned i = 0; i < t->stored.parts; i++)
        free_tensor(&t->stored.part[i]);
    free(t->stored.part);
    free(t->stored.grid);
    free(t->name);
    free(t->extent);
    free(t->spec);
}

void model_free(model *m)
{
    for (size_t i = 0; i < m->count; i++)
        free_tensor(&m->tensor[i]);
    free(m->tensor);
    for (size_t i = 0; i < m->parts; i++) {
        free(m->part[i].name);
        free(m->part[i].path);
        json_decref(m->part[i].metadata);
    }
    free(m->part);
    free(m->index_name);
    free(m->index_path);
    json_decref(m->index);
    json_decref(m->config);
    free(m->pages);
    json_decref(m->metadata);
    memset(m, 0, sizeof *m);
}
