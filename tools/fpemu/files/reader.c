/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.c - see reader.h */
#include "files/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/npy.h"
#include "files/container.h"
#include "files/foreign.h"
#include "files/gguf.h"
#include "files/layout.h"
#include "files/members.h"
#include "files/safetensors.h"
#include "files/shards.h"
#include "files/stored.h"

static const char *file_error(void)
{
    return errno != 0 ? strerror(errno) : "read error";
}

/* --------------------------------------------------------------------------------------------------- .npy */

static size_t read_file(void *file, void *bytes, size_t size)
{
    errno = 0;
    return fread(bytes, 1, size, file);
}

/* Bytes from here to the end, and back; false where the file cannot be walked, as a pipe, or has no end, as a device of
 * characters. */
static bool remaining_bytes(FILE *file, uint64_t *bytes)
{
    struct stat status;
    const off_t here = ftello(file);
    if (here < 0 || fstat(fileno(file), &status) != 0 || S_ISCHR(status.st_mode) || fseeko(file, 0, SEEK_END) != 0)
        return false;
    const off_t end = ftello(file);
    *bytes = end > here ? (uint64_t)(end - here) : 0;
    return fseeko(file, here, SEEK_SET) == 0;
}

static bool check_length(model *m, const tensor *t, uint64_t bytes)
{
    if (bytes < t->bytes) {
        return model_refuse(m, "truncated: the shape asks for %" PRIu64 " bytes of data, there are %" PRIu64, t->bytes,
                            bytes);
    }
    if (bytes > t->bytes) {
        return model_refuse(m, "the shape asks for %" PRIu64 " bytes of data, but %" PRIu64 " more follow", t->bytes,
                            bytes - t->bytes);
    }
    return true;
}

static bool npy_open(model *m)
{
    npy_header header;
    char error[NPY_ERROR_SIZE];
    uint64_t skipped, bytes;
    if (!npy_read_header(read_file, m->file, &header, &skipped, error)) {
        const bool other = !ferror(m->file) && strcmp(error, NPY_IS_OTHER) == 0;
        return model_refuse(m, "%s%s", ferror(m->file) ? file_error() : error,
                            other ? " (data without a header: --raw of quantize, compare, apply and pack)" : "");
    }
    const dtype *type = dtype_coded(header.code);
    bool is_signed;
    const unsigned size = type != NULL ? type->size : dtype_integer(header.code, &is_signed);
    if (size == 0) {
        return model_refuse(m, "the elements are of type '%s'; expected '<f2', '<f4', '<f8' or the same with '>'",
                            header.type_text);
    }
    tensor *t = model_add(m, "");
    if (t == NULL || !model_set_shape(m, t, header.dimensions, header.extent, 8 * size))
        return false;
    t->type = type;
    t->big_endian = header.big_endian;
    t->fortran_order = header.fortran_order;
    memcpy(t->type_text, header.type_text, sizeof t->type_text);
    m->walkable = remaining_bytes(m->file, &bytes);
    t->place = m->walkable ? (uint64_t)ftello(m->file) : 0;
    return !m->walkable || check_length(m, t, bytes);
}

static bool raw_open(model *m, const reader_raw *raw)
{
    uint64_t bytes = 0;
    struct stat status;
    tensor *t = model_add(m, "");
    if (fstat(fileno(m->file), &status) == 0 && S_ISDIR(status.st_mode))
        return model_refuse(m, "%s", strerror(EISDIR));
    m->walkable = remaining_bytes(m->file, &bytes);
    m->endless = !m->walkable;
    const uint64_t count = bytes / raw->type->size;
    if (t == NULL || !model_set_shape(m, t, 1, &count, 8 * raw->type->size))
        return false;
    t->type = raw->type;
    t->big_endian = raw->big_endian;
    t->place = m->walkable ? (uint64_t)ftello(m->file) : 0;
    return bytes % raw->type->size == 0 ||
           model_refuse(m, "ends inside an element: %" PRIu64 " whole elements of %u bytes, then %u bytes", count,
                        raw->type->size, (unsigned)(bytes % raw->type->size));
}

/* ------------------------------------------------------------------------------------------------- opening */

/* By the first bytes, and by the name where they leave it open. */
static bool choose_kind(model *m, const unsigned char *start, size_t size, const char *name)
{
    const model_kind named = name != NULL ? model_kind_of_name(name) : MODEL_DETECT;
    char error[MODEL_ERROR_SIZE];
    if (size >= CONTAINER_MAGIC_SIZE && memcmp(start, container_magic, CONTAINER_MAGIC_SIZE) == 0) {
        if (m->kind == MODEL_PACKED) {
            m->kind = MODEL_CONTAINER;
            return true;
        }
        return model_refuse(m, "a file of packed tensors: 'fpemu unpack' makes it a readable one");
    }
    if (size >= 4 && memcmp(start, "GGUF", 4) == 0)
        m->kind = MODEL_GGUF;
    else if (size > 8 && start[8] == '{' && memcmp(start, "\x93NUMPY", 6) != 0)
        m->kind = MODEL_SAFETENSORS; /* first its length, which may begin as the other two do */
    else if (size >= 4 && memcmp(start, "PK", 2) == 0 && start[2] < 8)
        m->kind = MODEL_NPZ;
    else if (size > 0 && start[0] == 0x93)
        m->kind = MODEL_NPY;
    else if (foreign_kind(start, size, name, error))
        return model_refuse(m, "%s", error);
    else if (named == MODEL_NPZ)
        return model_refuse(m, "not a .npz file: no zip archive");
    else
        m->kind = named == MODEL_SAFETENSORS || named == MODEL_GGUF ? named : MODEL_NPY;
    return true;
}

static bool detect(model *m, const char *name)
{
    unsigned char start[FOREIGN_START];
    const off_t here = ftello(m->file);
    if (here != 0 || fseeko(m->file, 0, SEEK_SET) != 0) { /* a pipe: only .npy is read from its beginning to its end */
        m->kind = MODEL_NPY;
        return true;
    }
    const size_t got = read_file(m->file, start, sizeof start);
    if (ferror(m->file))
        return model_refuse(m, "%s", file_error());
    return choose_kind(m, start, got, name) &&
           (fseeko(m->file, 0, SEEK_SET) == 0 || model_refuse(m, "%s", file_error()));
}

bool reader_open(model *m, FILE *file, model_kind kind, const char *name, const reader_raw *raw)
{
    *m = (model){.kind = kind, .file = file};
    if ((kind == MODEL_DETECT || kind == MODEL_PACKED) && !detect(m, name))
        return false;
    m->walkable = true; /* only raw data and .npy may come from a pipe */
    switch (m->kind) {
    case MODEL_RAW: return raw_open(m, raw);
    case MODEL_NPZ: return members_open(m);
    case MODEL_SAFETENSORS:
        return (name == NULL || shards_read_config(m, name)) && safetensors_open(m) && layout_join(m);
    case MODEL_GGUF: return gguf_open(m);
    case MODEL_CONTAINER: return container_open(m);
    default: return npy_open(m);
    }
}

bool reader_begin(model *m, tensor *t)
{
    if (!shards_turn_to(m, t->part))
        return false;
    m->left = t->bytes;
    m->crc = 0;
    m->checked = false;
    if (m->kind == MODEL_NPZ)
        return members_begin(m, t);
    if (t->stored.name != NULL)
        return true;
    return !m->walkable || fseeko(m->file, (off_t)t->place, SEEK_SET) == 0 || model_refuse(m, "%s", file_error());
}

/* Raw data from a pipe: how much there is shows at its end. */
static bool read_endless(model *m, tensor *t, void *bytes, size_t size, size_t *got)
{
    *got = read_file(m->file, bytes, size);
    if (ferror(m->file))
        return model_refuse(m, "%s", file_error());
    t->bytes += *got;
    t->count = t->extent[0] = t->bytes / t->type->size;
    return *got == size || t->bytes % t->type->size == 0 ||
           model_refuse(m, "ends inside an element: %" PRIu64 " whole elements of %u bytes, then %u bytes", t->count,
                        t->type->size, (unsigned)(t->bytes % t->type->size));
}

/* One byte past the data, where nothing may follow; of a member of a zip archive this checks its CRC. */
static bool check_end(model *m, const tensor *t)
{
    unsigned char byte;
    size_t more = 0;
    m->checked = true;
    if (m->kind == MODEL_CONTAINER)
        return container_check(m);
    if (m->kind == MODEL_NPZ && !members_read(m, &byte, 1, &more))
        return false;
    if (m->kind == MODEL_NPY)
        more = read_file(m->file, &byte, 1);
    return more == 0 || model_refuse(m, "more data follow than the shape of %" PRIu64 " elements asks for", t->count);
}

bool reader_read(model *m, tensor *t, void *bytes, size_t size, size_t *got)
{
    if (m->endless)
        return read_endless(m, t, bytes, size, got);
    const size_t wanted = size < m->left ? size : (size_t)m->left;
    if (m->kind == MODEL_NPZ) {
        if (!members_read(m, bytes, wanted, got))
            return false;
    } else if (t->stored.name != NULL) {
        *got = wanted;
        if (!stored_read(m, t, t->bytes - m->left, bytes, wanted))
            return false;
    } else {
        *got = read_file(m->file, bytes, wanted);
        if (ferror(m->file))
            return model_refuse(m, "%s", file_error());
    }
    if (m->kind == MODEL_CONTAINER)
        m->crc = container_crc(m->crc, bytes, *got);
    m->left -= *got;
    if (*got < wanted)
        return check_length(m, t, t->bytes - m->left);
    return m->left > 0 || size == 0 || m->checked || check_end(m, t);
}

bool reader_random_access(const model *m)
{
    return m->walkable && m->kind != MODEL_NPZ && m->kind != MODEL_CONTAINER;
}

bool reader_read_at(model *m, const tensor *t, uint64_t from, void *bytes, size_t size)
{
    if (from > t->bytes || size > t->bytes - from)
        return model_refuse(m, "no bytes %" PRIu64 " to %" PRIu64 " in %" PRIu64, from, from + size, t->bytes);
    if (!shards_turn_to(m, t->part))
        return false;
    return t->stored.name != NULL ? stored_read(m, t, from, bytes, size)
                                  : stored_bytes(m, t->place + from, bytes, size);
}

void reader_close(model *m)
{
    members_close(m);
    if (m->file != NULL && m->file != stdin)
        fclose(m->file);
    model_free(m);
}
