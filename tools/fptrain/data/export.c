/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c - see export.h. All members lie in memory until libzip writes them. */
#include "data/export.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "common/atomic_file.h"
#include "common/byte_order.h"
#include "common/npy.h"
#include "common/npz.h"
#include "data/dataset.h"

/* Adds an array; dated 1980, so that the same data make the same file. */
static bool add(zip_t *zip, const char *name, const npy_header *header, const void *data, size_t size)
{
    enum { FIRST_OF_JANUARY_1980 = 0x21 };
    unsigned char start[NPY_HEADER_SIZE];
    const size_t length = npy_print_header(header, start);
    char *bytes = malloc(length + size);
    if (!bytes)
        return false;
    memcpy(bytes, start, length);
    memcpy(bytes + length, data, size);
    zip_source_t *source = zip_source_buffer(zip, bytes, length + size, 1);
    if (!source) {
        free(bytes);
        return false;
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the source frees the bytes */
    const zip_int64_t place = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (place < 0) {
        zip_source_free(source); /* and the bytes */
        return false;
    }
    return zip_set_file_compression(zip, (zip_uint64_t)place, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(zip, (zip_uint64_t)place, 0, FIRST_OF_JANUARY_1980, 0) == 0;
}

static bool add_line(zip_t *zip, const char *name, const char *code, const void *data, size_t count, size_t size)
{
    npy_header header = {.big_endian = byte_order_is_big(), .dimensions = 1, .extent = {count}};
    snprintf(header.code, sizeof header.code, "%s", code);
    return add(zip, name, &header, data, count * size);
}

static bool add_samples(zip_t *zip, const char *name, const dataset *d, const split *s)
{
    const uint64_t n = s->count, c = (uint64_t)d->c, h = (uint64_t)d->h, w = (uint64_t)d->w;
    npy_header header = {.big_endian = byte_order_is_big(), .dimensions = 4, .extent = {n, c, h, w}};
    if (dataset_is_flat(d))
        header.dimensions = 2;
    else if (c == 1) {
        header.dimensions = 3;
        header.extent[1] = h;
        header.extent[2] = w;
    }
    strcpy(header.code, s->values ? "f4" : "u1");
    const size_t numbers = s->count * dataset_numbers(d);
    return s->values ? add(zip, name, &header, s->values, numbers * sizeof *s->values)
                     : add(zip, name, &header, s->pixels, numbers);
}

static bool add_labels(zip_t *zip, const char *name, const split *s)
{
    int64_t *wide = need(s->count, sizeof *wide);
    for (size_t i = 0; i < s->count; i++)
        wide[i] = s->labels[i];
    const bool good = add_line(zip, name, "i8", wide, s->count, sizeof *wide);
    free(wide);
    return good;
}

static bool add_classes(zip_t *zip, const dataset *d)
{
    size_t longest = 1;
    char number[16], code[32];
    for (int i = 0; i < d->classes; i++) {
        const size_t length = strlen(dataset_class(d, i, number));
        longest = length > longest ? length : longest;
    }
    char *names = need((size_t)d->classes, longest);
    for (int i = 0; i < d->classes; i++) {
        const char *name = dataset_class(d, i, number);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): a field of .npy ends where it ends */
        memcpy(names + (size_t)i * longest, name, strlen(name));
    }
    snprintf(code, sizeof code, "S%zu", longest);
    const bool good = add_line(zip, "classes.npy", code, names, (size_t)d->classes, longest);
    free(names);
    return good;
}

static bool add_all(zip_t *zip, const dataset *d)
{
    if (d->text)
        return add_line(zip, "train.npy", "u2", d->text, d->train.count, 2) &&
               add_line(zip, "test.npy", "u2", d->text + d->text_length - d->test.count, d->test.count, 2) &&
               (!d->symbol || add_line(zip, "symbols.npy", "u4", d->symbol, (size_t)d->classes, 4));
    return add_samples(zip, "x_train.npy", d, &d->train) && add_labels(zip, "y_train.npy", &d->train) &&
           add_samples(zip, "x_test.npy", d, &d->test) && add_labels(zip, "y_test.npy", &d->test) &&
           add_line(zip, "mean.npy", "f8", d->mean, (size_t)d->c, 8) &&
           add_line(zip, "deviation.npy", "f8", d->deviation, (size_t)d->c, 8) && add_classes(zip, d);
}

bool dataset_export(const dataset *d, const char *path, trouble *why)
{
    atomic_file out;
    trouble inner;
    if (!atomic_file_open(&out, path, why))
        return false;
    zip_t *zip = npz_create(out.file, &inner);
    if (zip && add_all(zip, d) && zip_close(zip) == 0)
        return atomic_file_commit(&out, why);
    fail(why, "%s: %s", path, zip ? zip_strerror(zip) : inner.text);
    if (zip)
        zip_discard(zip);
    atomic_file_drop(&out);
    return false;
}
