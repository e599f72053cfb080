/* SPDX-License-Identifier: BSD-2-Clause */
/* writer.c - see writer.h. libzip asks for the data of a member when it writes it, hence the way round. */
#include "common/system.h"

#include "files/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "cli/error.h"
#include "cli/spec.h"
#include "common/npy.h"
#include "common/npz.h"
#include "files/output_directory.h"
#include "files/safetensors.h"
#include "files/shards.h"

static size_t npy_header_of(const tensor *t, const dtype *type, unsigned char bytes[NPY_HEADER_SIZE])
{
    npy_header header = {.big_endian = t->big_endian, .fortran_order = t->fortran_order};
    strcpy(header.code, type->code);
    header.dimensions = t->dimensions;
    memcpy(header.extent, t->extent, t->dimensions * sizeof *t->extent);
    return npy_print_header(&header, bytes);
}

void writer_npy_header(output *out, const tensor *like, const dtype *type)
{
    unsigned char bytes[NPY_HEADER_SIZE];
    output_write(out, bytes, npy_header_of(like, type, bytes));
}

static void save_tensor(output *out, const writer_source *source, size_t i)
{
    const void *bytes;
    source->begin(source->state, i);
    for (size_t size; (size = source->next(source->state, &bytes)) > 0;)
        output_write(out, bytes, size);
}

static void copy_tensor(output *out, file *in, const writer_source *source, size_t i)
{
    unsigned char bytes[1 << 16];
    uint64_t copied = 0;
    file_begin(in, i);
    for (size_t size; (size = file_read(in, i, bytes, sizeof bytes)) > 0;) {
        output_write(out, bytes, size);
        progress_advance(source->bar, file_elements(in, i, copied + size) - file_elements(in, i, copied));
        copied += size;
    }
}

static void put_tensor(output *out, file *in, const writer_source *source, size_t i)
{
    if (source->type[i] != NULL)
        save_tensor(out, source, i);
    else
        copy_tensor(out, in, source, i);
}

/* Of one array without a name; raw numbers have no header. */
static void save_array(output *out, file *in, const writer_source *source)
{
    const tensor *t = &in->model.tensor[0];
    if (in->model.kind != MODEL_RAW)
        writer_npy_header(out, t, source->type[0] != NULL ? source->type[0] : t->type);
    put_tensor(out, in, source, 0);
}

void writer_refuse_names(const file *in)
{
    if (!safetensors_takes_names(&in->model))
        cli_fail("%s: a tensor is called '__metadata__', a name that safetensors keep for themselves", in->path);
}

static void save_safetensors(output *out, file *in, const writer_source *source, size_t first, size_t count,
                             json_t *metadata)
{
    size_t size;
    writer_refuse_names(in);
    unsigned char *header = safetensors_print(&in->model, first, count, metadata, source->type, &size);
    if (header == NULL)
        cli_fail("out of memory");
    output_write(out, header, size);
    free(header);
    for (size_t i = first; i < first + count; i++)
        put_tensor(out, in, source, i);
}

/* ---------------------------------------------------------------------------------------------------- .npz */

/* A member that is being written: its header, then what the source gives. */
typedef struct member {
    const writer_source *source;
    size_t i, count; /* the tensor, and the bytes of its header */
    const void *at;  /* what is given next, and how much of it */
    size_t left;
    bool ended; /* libzip may ask again after the end */
    zip_stat_t status;
    zip_error_t error;
    unsigned char header[NPY_HEADER_SIZE];
} member;

static zip_int64_t read_member(member *m, unsigned char *to, zip_uint64_t size)
{
    zip_uint64_t done = 0;
    while (done < size) {
        if (m->left == 0 && !m->ended) {
            m->left = m->source->next(m->source->state, &m->at);
            m->ended = m->left == 0;
        }
        if (m->ended)
            break;
        const size_t part = m->left < size - done ? m->left : (size_t)(size - done);
        memcpy(to + done, m->at, part);
        m->at = (const unsigned char *)m->at + part;
        m->left -= part;
        done += part;
    }
    return (zip_int64_t)done;
}

static zip_int64_t member_source(void *state, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    member *m = state;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        m->source->begin(m->source->state, m->i);
        m->at = m->header;
        m->left = m->count;
        m->ended = false;
        return 0;
    case ZIP_SOURCE_READ: return read_member(m, data, size);
    case ZIP_SOURCE_CLOSE: return 0;
    case ZIP_SOURCE_STAT: memcpy(data, &m->status, sizeof m->status); return sizeof m->status;
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&m->error, data, size);
    case ZIP_SOURCE_FREE: free(m); return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    default: zip_error_set(&m->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

/* Compressed as the member it comes from, and as old. */
static zip_source_t *new_member(zip_t *zip, const file *in, const writer_source *source, size_t i,
                                const zip_stat_t *old)
{
    const tensor *t = &in->model.tensor[i];
    member *m = cli_allocate(1, sizeof *m);
    zip_error_init(&m->error);
    m->source = source;
    m->i = i;
    m->count = npy_header_of(t, source->type[i], m->header);
    zip_stat_init(&m->status);
    m->status.size = m->count + t->count * source->type[i]->size;
    m->status.mtime = old->mtime;
    m->status.valid = ZIP_STAT_SIZE | (old->valid & ZIP_STAT_MTIME);
    return zip_source_function(zip, member_source, m);
}

/* As it stands there, compressed or not: libzip 1.10 has a function that wants to be told so, older ones know it from the
 * last three arguments. */
static zip_source_t *copied_member(zip_t *zip, zip_t *from, zip_uint64_t number)
{
#if HAVE_ZIP_SOURCE_ZIP_FILE
    return zip_source_zip_file(zip, from, number, ZIP_FL_COMPRESSED, 0, -1, NULL);
#else
    return zip_source_zip(zip, from, number, 0, 0, -1);
#endif
}

/* Reads a member to its end: damage ends the program. libzip does not see it in what it copies compressed. */
static void check_member(file *in, size_t i)
{
    unsigned char bytes[1 << 12];
    file_begin(in, i);
    while (file_read(in, i, bytes, sizeof bytes) > 0) {
    }
}

static void save_npz(output *out, file *in, const writer_source *source)
{
    trouble why;
    zip_t *zip = npz_create(out->file, &why);
    if (zip == NULL)
        cli_fail("%s: %s", out->path, why.text);
    for (size_t i = 0; i < in->model.count; i++) {
        if (source->type[i] == NULL)
            check_member(in, i);
        const zip_uint64_t number = in->model.tensor[i].place;
        zip_t *from = npz_archive(in->model.npz);
        zip_stat_t old;
        bool good = zip_stat_index(from, number, 0, &old) == 0;
        zip_source_t *data = !good                     ? NULL
                             : source->type[i] != NULL ? new_member(zip, in, source, i, &old)
                                                       : copied_member(zip, from, number);
        const zip_int64_t place = data != NULL ? zip_file_add(zip, old.name, data, ZIP_FL_ENC_GUESS) : -1;
        good = place >= 0 && zip_set_file_compression(zip, (zip_uint64_t)place, old.comp_method, 0) == 0;
        if (!good)
            cli_fail("%s: %s", out->path, zip_strerror(zip));
    }
    if (zip_close(zip) != 0)
        cli_fail("%s: %s", out->path, zip_strerror(zip));
}

/* ---------------------------------------------------------------------------------------------- directories */

/* No file of the model may take the place of another. */
static void check_names(const char *path, const char *const *name, size_t names)
{
    for (size_t i = 0; i < names; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(name[i], name[k]) == 0)
                cli_fail("%s: two of its files would be called '%s'", path, name[i]);
    }
}

/* What the files of the directory are called, and at the end its index where there is one; free_names frees them. */
static char **names_of(const model *m, model_kind kind, size_t *names)
{
    char **name = cli_allocate(m->parts + 1, sizeof *name);
    *names = m->parts + (m->index != NULL);
    for (size_t k = 0; k < *names; k++) {
        name[k] = shards_name_as(k < m->parts ? m->part[k].name : m->index_name, kind);
        if (name[k] == NULL)
            cli_fail("out of memory");
    }
    return name;
}

static void free_names(char **name, size_t names)
{
    for (size_t k = 0; k < names; k++)
        free(name[k]);
    free(name);
}

void writer_refuse_same(const char *option, const char *path, const char *output, const model *m, model_kind kind)
{
    output_refuse_same(option, path, "the file of -o", output);
    if (path == NULL || m->parts == 0 || file_names_one(output))
        return;
    size_t names;
    char **name = names_of(m, kind, &names);
    for (size_t k = 0; k < names; k++) {
        char *other = cli_allocate(strlen(output) + strlen(name[k]) + 2, 1);
        strcat(strcat(strcpy(other, output), "/"), name[k]);
        output_refuse_same(option, path, "a file of -o", other);
        free(other);
    }
    free_names(name, names);
}

/* A table that is read may lie where a file of the directory will. */
static void refuse_tables(const char *path, char *const *name, size_t names)
{
    for (size_t k = 0; k < names; k++) {
        char *file = cli_allocate(strlen(path) + strlen(name[k]) + 2, 1);
        strcat(strcat(strcpy(file, path), "/"), name[k]);
        cli_refuse_tables("-o", file);
        free(file);
    }
}

void writer_write_parts(const char *path, bool force, const model *m, model_kind kind, char *index, writer_part write,
                        void *state)
{
    size_t names;
    char **name = names_of(m, kind, &names);
    check_names(path, (const char *const *)name, names);
    refuse_tables(path, name, names);
    output_directory to = output_directory_open(path, force, (const char *const *)name, names);
    for (size_t k = 0; k < names; k++) {
        output out = output_directory_file(&to, k);
        if (k < m->parts) {
            write(state, &out, m->part[k].first, m->part[k].count, m->part[k].metadata);
        } else {
            /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): only an index makes one name more */
            output_write(&out, index, strlen(index));
            output_write(&out, "\n", 1);
        }
        output_commit(&out);
    }
    output_directory_commit(&to);
    free_names(name, names);
    free(index);
}

typedef struct parts_job {
    file *in;
    const writer_source *source;
} parts_job;

static void save_part(void *state, output *out, size_t first, size_t count, json_t *metadata)
{
    const parts_job *j = state;
    save_safetensors(out, j->in, j->source, first, count, metadata);
}

static void save_parts(const char *path, bool force, file *in, const writer_source *source)
{
    const model *m = &in->model;
    parts_job job = {in, source};
    uint64_t total = 0;
    for (size_t i = 0; i < m->count; i++)
        total += source->type[i] != NULL ? m->tensor[i].count * source->type[i]->size : m->tensor[i].bytes;
    char *index = m->index != NULL ? shards_print_index(m, MODEL_SAFETENSORS, total, NULL) : NULL;
    if (m->index != NULL && index == NULL)
        cli_fail("out of memory");
    writer_write_parts(path, force, m, MODEL_SAFETENSORS, index, save_part, &job);
}

void writer_write(const char *path, bool force, file *in, const writer_source *source)
{
    const model *m = &in->model;
    if (m->parts > 0) {
        save_parts(path, force, in, source);
        return;
    }
    output out = output_open(path);
    if (m->kind == MODEL_NPZ)
        save_npz(&out, in, source);
    else if (!file_is_array(in))
        save_safetensors(&out, in, source, 0, m->count, m->metadata);
    else
        save_array(&out, in, source);
    output_commit(&out);
}
