/* SPDX-License-Identifier: BSD-2-Clause */
/* contents.c - see contents.h */
#include "common/system.h"

#include "reports/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/layout.h"
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

/* Of all tensors of a type, where the first of them stands. */
static void print_types(const model *m)
{
    for (size_t i = 0; i < m->count; i++) {
        uint64_t tensors = 0, elements = 0, bytes = 0;
        bool first = true;
        for (size_t k = 0; k < m->count; k++) {
            if (strcmp(model_type_text(&m->tensor[k]), model_type_text(&m->tensor[i])) == 0) {
                first = first && k >= i;
                tensors++;
                elements += m->tensor[k].count;
                bytes += model_bytes(&m->tensor[k]);
            }
            if (!first) {
                break;
            }
        }
        if (first) {
            printf("%-8s %" PRIu64 " tensors, %" PRIu64 " elements, %" PRIu64 " bytes\n",
                   model_type_text(&m->tensor[i]), tensors, elements, bytes);
        }
    }
}

static void print_part(const model *m, const tensor *t)
{
    char name[FILE_NAME_SIZE] = "";
    if (m->parts > 0) {
        file_name_text(name, &(tensor){.name = m->part[t->part].name});
    }
    const layout *l = t->stored.layout;
    const char *how = l != NULL ? l->software : t->spec != NULL ? t->spec : "";
    printf("  %s%s%s%s\n", name, name[0] != '\0' && how[0] != '\0' ? ", " : "", l != NULL ? "as " : "", how);
}

void contents_print(const file *f)
{
    const model *m = &f->model;
    const int width = widest_name(m);
    uint64_t elements = 0, bytes = 0;
    bool packed = false;
    for (size_t i = 0; i < m->count; i++) {
        packed |= m->tensor[i].spec != NULL || m->tensor[i].stored.layout != NULL;
    }
    printf("%-*s  %-7s  %-14s  %12s  %s\n", width, "tensor", "dtype", "shape", "bytes",
           m->parts > 0 ? "file"
           : packed     ? "format"
                        : "");
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        char name[FILE_NAME_SIZE], shape[FILE_SHAPE_SIZE];
        printf("%-*s  %-7s  %-14s  %12" PRIu64, width, file_name_text(name, t), model_type_text(t),
               file_shape_text(shape, t), model_bytes(t));
        print_part(m, t);
        elements += t->count;
        bytes += model_bytes(t);
    }
    putchar('\n');
    print_types(m);
    printf("%-8s %zu tensors, %" PRIu64 " elements, %" PRIu64 " bytes", "all", m->count, elements, bytes);
    if (m->parts > 0) {
        printf(", in %zu %s%s", m->parts, m->parts == 1 ? "file" : "files", m->index != NULL ? " with an index" : "");
    }
    putchar('\n');
}

void contents_print_json(const file *f)
{
    const model *m = &f->model;
    json_t *object = jsonout_object(), *tensors = jsonout_array(), *files = jsonout_array();
    uint64_t elements = 0, bytes = 0;
    for (size_t k = 0; k < m->parts; k++) {
        jsonout_append(files, jsonout_text(m->part[k].name));
    }
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        json_t *entry = report_json_tensor(t);
        jsonout_set(entry, "bytes", jsonout_count(model_bytes(t)));
        jsonout_set(entry, "spec", jsonout_text(t->spec));
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
