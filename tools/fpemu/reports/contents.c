/* SPDX-License-Identifier: BSD-2-Clause */
/* contents.c - see contents.h */
#include "reports/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "files/grid.h"
#include "reports/jsonout.h"
#include "reports/report.h"

static int widest_name(const model *m)
{
    enum { LEAST = 6, MOST = 60 };
    int width = LEAST;
    for (size_t i = 0; i < m->count; i++) {
        char name[FILE_NAME_SIZE];
        const int length = (int)strlen(file_name_text(name, &m->tensor[i]));
        width = length > width ? length : width;
    }
    return width < MOST ? width : MOST;
}

/* The tensors of one type; `first` is the place of the first of them. */
typedef struct type_sums {
    const char *type;
    size_t first;
    uint64_t tensors, elements, bytes;
} type_sums;

static int compare_first(const void *left, const void *right)
{
    const type_sums *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static int compare_types(const void *left, const void *right)
{
    const type_sums *a = left, *b = right;
    const int order = strcmp(a->type, b->type);
    return order != 0 ? order : compare_first(left, right);
}

static void print_sums(const char *type, uint64_t tensors, uint64_t elements, uint64_t bytes)
{
    char text[MODEL_TYPE_SIZE];
    printf("%-8s %" PRIu64 " tensor%s, %" PRIu64 " element%s, %" PRIu64 " bytes", file_type_text(text, type), tensors,
           tensors == 1 ? "" : "s", elements, elements == 1 ? "" : "s", bytes);
}

/* Of all tensors of a type, in the order of the first of them; a file may have as many types as tensors. */
static void print_types(const model *m)
{
    type_sums *of = cli_allocate(m->count, sizeof *of);
    size_t types = 0;
    for (size_t i = 0; i < m->count; i++)
        of[i] = (type_sums){model_type_text(&m->tensor[i]), i, 1, m->tensor[i].count, model_bytes(&m->tensor[i])};
    qsort(of, m->count, sizeof *of, compare_types);
    for (size_t i = 0; i < m->count; i++) {
        if (types > 0 && strcmp(of[types - 1].type, of[i].type) == 0) {
            of[types - 1].tensors++;
            of[types - 1].elements += of[i].elements;
            of[types - 1].bytes += of[i].bytes;
        } else {
            of[types++] = of[i];
        }
    }
    qsort(of, types, sizeof *of, compare_first);
    for (size_t i = 0; i < types; i++) {
        print_sums(of[i].type, of[i].tensors, of[i].elements, of[i].bytes);
        putchar('\n');
    }
    free(of);
}

/* Where the scales of tensor i are, if nothing makes numbers of both; NULL: it has none so. */
static const char *scales_of(const file *f, size_t i)
{
    const coded_pair *p = &f->pair[i];
    return p->codes != p->scales && p->codes == i ? f->model.tensor[p->scales].name : NULL;
}

static void print_part(const file *f, size_t i)
{
    const model *m = &f->model;
    const tensor *t = &m->tensor[i];
    char name[FILE_NAME_SIZE] = "", scales[FILE_NAME_SIZE];
    if (m->parts > 0)
        file_name_text(name, &(tensor){.name = m->part[t->part].name});
    const char *software = t->stored.software;
    const char *how = software != NULL ? software : t->spec != NULL ? t->spec : "";
    const char *before = software != NULL ? "as " : "";
    if (scales_of(f, i) != NULL) {
        how = file_name_text(scales, &(tensor){.name = (char *)scales_of(f, i)});
        before = "codes, not read with the scales in ";
    }
    printf("  %s%s%s%s", name, name[0] != '\0' && how[0] != '\0' ? ", " : "", before, how);
    if (software != NULL && t->stored.grid != NULL)
        printf(", scales by %s", t->stored.grid->blocks);
    putchar('\n');
}

void contents_print(const file *f)
{
    const model *m = &f->model;
    const int width = widest_name(m);
    uint64_t elements = 0, bytes = 0;
    bool packed = false;
    for (size_t i = 0; i < m->count; i++)
        packed |= m->tensor[i].spec != NULL || m->tensor[i].stored.software != NULL || scales_of(f, i) != NULL;
    printf("%-*s  %-7s  %-14s  %12s  %s\n", width, "tensor", "dtype", "shape", "bytes",
           m->parts > 0 ? "file"
           : packed     ? "format"
                        : "");
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        char name[FILE_NAME_SIZE], type[MODEL_TYPE_SIZE], shape[FILE_SHAPE_SIZE];
        printf("%-*s  %-7s  %-14s  %12" PRIu64, width, file_name_text(name, t),
               file_type_text(type, model_type_text(t)), file_shape_text(shape, t), model_bytes(t));
        print_part(f, i);
        elements += t->count;
        bytes += model_bytes(t);
    }
    putchar('\n');
    print_types(m);
    print_sums("all", m->count, elements, bytes);
    if (m->parts > 0)
        printf(", in %zu %s%s", m->parts, m->parts == 1 ? "file" : "files", m->index != NULL ? " with an index" : "");
    putchar('\n');
}

void contents_print_json(const file *f)
{
    const model *m = &f->model;
    json_t *object = jsonout_object(), *tensors = jsonout_array(), *files = jsonout_array();
    uint64_t elements = 0, bytes = 0;
    for (size_t k = 0; k < m->parts; k++)
        jsonout_append(files, jsonout_text(m->part[k].name));
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        json_t *entry = report_json_tensor(t);
        jsonout_set(entry, "bytes", jsonout_count(model_bytes(t)));
        jsonout_set(entry, "spec", jsonout_text(t->spec));
        jsonout_set(entry, "scales", jsonout_text(scales_of(f, i)));
        jsonout_set(entry, "file", jsonout_text(m->parts > 0 ? m->part[t->part].name : NULL));
        jsonout_append(tensors, entry);
        elements += t->count;
        bytes += model_bytes(t);
    }
    jsonout_set(object, "input", jsonout_text(f->path));
    jsonout_set(object, "kind", jsonout_text(model_kind_name(m->kind)));
    jsonout_set(object, "index", jsonout_text(m->index_name));
    jsonout_set(object, "files", files);
    jsonout_set(object, "metadata", m->metadata != NULL ? json_incref(m->metadata) : json_null());
    jsonout_set(object, "elements", jsonout_count(elements));
    jsonout_set(object, "bytes", jsonout_count(bytes));
    jsonout_set(object, "tensors", tensors);
    jsonout_print(object);
}
