/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.c - see checkpoint.h for the layout of the file. */
#include "base/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/atomic_file.h"
#include "common/byte_order.h"
#include "common/safetensors.h"

enum { LONGEST_NAME = 255, CRC_DIGITS = 8, SIZE_DIGITS = 20 };

/* The beginning of the header, after its length; the digits of the checksum and of the size stand where the blanks are.
 */
static const char before_crc[] = "{\"__metadata__\":{\"checksum\":\"crc32 ", between[] = " of ",
                  after_size[] = " bytes\"";
enum {
    CRC_AT = 8 + sizeof before_crc - 1,
    SIZE_AT = CRC_AT + CRC_DIGITS + sizeof between - 1,
    START = SIZE_AT + SIZE_DIGITS + sizeof after_size - 1 /* bytes of the file up to the end of all this */
};

typedef struct entry {
    char *name;
    char type[SAFETENSORS_TYPE_SIZE];
    unsigned dims;
    uint64_t *dim;
    uint8_t *bytes;
    size_t length;
} entry;

struct checkpoint {
    entry *entry;
    size_t count, room;
    json_t *texts;
};

checkpoint *checkpoint_new(void)
{
    checkpoint *c = need(1, sizeof *c);
    c->texts = needed(json_object());
    return c;
}

void checkpoint_free(checkpoint *c)
{
    for (size_t i = 0; c && i < c->count; i++) {
        free(c->entry[i].name);
        free(c->entry[i].dim);
        free(c->entry[i].bytes);
    }
    if (c) {
        free(c->entry);
        json_decref(c->texts);
    }
    free(c);
}

/* ------------------------------------------------------------------------------------------------ in memory */

static const entry *find(const checkpoint *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->entry[i].name, name) == 0)
            return &c->entry[i];
    return NULL;
}

/* A new entry with room for its bytes. */
static entry *add(checkpoint *c, const char *name, const char *type, unsigned dims, const uint64_t *dim, size_t length)
{
    if (c->count == c->room) {
        c->room = 2 * c->room + 16;
        c->entry = need_more(c->entry, c->room, sizeof *c->entry);
    }
    entry *e = &c->entry[c->count++];
    *e = (entry){.name = copy_text(name, strlen(name)),
                 .dims = dims,
                 .dim = need(dims, sizeof *dim),
                 .bytes = need_room(length, 1),
                 .length = length};
    snprintf(e->type, sizeof e->type, "%s", type);
    if (dims > 0)
        memcpy(e->dim, dim, dims * sizeof *dim);
    return e;
}

void checkpoint_put_array(checkpoint *c, const checkpoint_array *a)
{
    const size_t name_length = strlen(a->name);
    if (name_length == 0 || name_length > LONGEST_NAME || find(c, a->name))
        die("checkpoint: array '%s' twice, or no name for one", a->name);
    entry *e = add(c, a->name, a->type, a->dims, a->dim, a->length);
    if (a->length > 0)
        memcpy(e->bytes, a->bytes, a->length);
}

static void put_vector(checkpoint *c, const char *name, const char *type, size_t n, size_t size, const void *bytes)
{
    const uint64_t dim = n;
    checkpoint_put_array(
        c, &(checkpoint_array){.name = name, .type = type, .dims = 1, .dim = &dim, .bytes = bytes, .length = n * size});
}

void checkpoint_put(checkpoint *c, const char *name, const void *bytes, size_t length)
{
    put_vector(c, name, "U8", length, 1, bytes);
}

void checkpoint_put_counts(checkpoint *c, const char *name, size_t n, const uint64_t *x)
{
    put_vector(c, name, "U64", n, sizeof *x, x);
}

void checkpoint_put_reals(checkpoint *c, const char *name, size_t n, const double *x)
{
    put_vector(c, name, "F64", n, sizeof *x, x);
}

void checkpoint_put_floats(checkpoint *c, const char *name, int dims, const int *dim, const float *x)
{
    uint64_t wide[SAFETENSORS_MOST_DIMENSIONS];
    size_t n = 1;
    for (int i = 0; i < dims; i++) {
        wide[i] = (uint64_t)dim[i];
        n *= (size_t)dim[i];
    }
    checkpoint_put_array(
        c, &(checkpoint_array){
               .name = name, .type = "F32", .dims = (unsigned)dims, .dim = wide, .bytes = x, .length = n * sizeof *x});
}

void checkpoint_put_text(checkpoint *c, const char *key, const char *text)
{
    if (json_object_get(c->texts, key) || json_object_set_new(c->texts, key, json_string(text)) != 0)
        die("checkpoint: text '%s' twice, or no UTF-8", key);
}

const char *checkpoint_text(const checkpoint *c, const char *key)
{
    return json_string_value(json_object_get(c->texts, key));
}

const void *checkpoint_get(const checkpoint *c, const char *name, size_t *length)
{
    const entry *e = find(c, name);
    if (e && length)
        *length = e->length;
    return e ? e->bytes : NULL;
}

static checkpoint_array array_of(const entry *e)
{
    return (checkpoint_array){
        .name = e->name, .type = e->type, .dims = e->dims, .dim = e->dim, .bytes = e->bytes, .length = e->length};
}

bool checkpoint_find(const checkpoint *c, const char *name, checkpoint_array *a)
{
    const entry *e = find(c, name);
    if (e)
        *a = array_of(e);
    return e != NULL;
}

bool checkpoint_at(const checkpoint *c, size_t i, checkpoint_array *a)
{
    if (i < c->count)
        *a = array_of(&c->entry[i]);
    return i < c->count;
}

/* The array of that name, type and length; dims < 0: of one dimension. */
static const entry *wanted(const checkpoint *c, const char *name, const char *type, int dims, const int *dim,
                           size_t length, trouble *why)
{
    const entry *e = find(c, name);
    if (!e) {
        fail(why, "the checkpoint has no array '%s'", name);
        return NULL;
    }
    bool same = e->dims == (dims < 0 ? 1 : (unsigned)dims);
    for (int i = 0; same && i < dims; i++)
        same = e->dim[i] == (uint64_t)dim[i];
    if (strcmp(e->type, type) != 0)
        fail(why, "array '%s' of the checkpoint is of type %s, not %s", name, e->type, type);
    else if (e->length != length)
        fail(why, "array '%s' of the checkpoint has %zu bytes, not %zu", name, e->length, length);
    else if (!same)
        fail(why, "array '%s' of the checkpoint has another shape", name);
    else
        return e;
    return NULL;
}

static bool take_vector(const checkpoint *c, const char *name, const char *type, void *to, size_t length, trouble *why)
{
    const entry *e = wanted(c, name, type, -1, NULL, length, why);
    if (e && length > 0)
        memcpy(to, e->bytes, length);
    return e != NULL;
}

bool checkpoint_take(const checkpoint *c, const char *name, void *bytes, size_t length, trouble *why)
{
    return take_vector(c, name, "U8", bytes, length, why);
}

bool checkpoint_take_counts(const checkpoint *c, const char *name, size_t n, uint64_t *x, trouble *why)
{
    return take_vector(c, name, "U64", x, n * sizeof *x, why);
}

bool checkpoint_take_reals(const checkpoint *c, const char *name, size_t n, double *x, trouble *why)
{
    return take_vector(c, name, "F64", x, n * sizeof *x, why);
}

bool checkpoint_take_floats(const checkpoint *c, const char *name, int dims, const int *dim, float *x, trouble *why)
{
    size_t n = 1;
    for (int i = 0; i < dims; i++)
        n *= (size_t)dim[i];
    const entry *e = wanted(c, name, "F32", dims, dim, n * sizeof *x, why);
    if (e && n > 0)
        memcpy(x, e->bytes, n * sizeof *x);
    return e != NULL;
}

/* ------------------------------------------------------------------------------------------------ on disk */

/* Bytes of an element; 0: not known. */
static size_t size_of(const char *type)
{
    return safetensors_bits(type) / 8;
}

/* Between the bytes of a file and those of this machine. */
static void turn(uint8_t *bytes, size_t length, size_t size)
{
    if (size > 1 && byte_order_is_big())
        byte_order_swap(bytes, (unsigned)size, length / size);
}

/* Elements lie at multiples of their size, as readers want who look at them in place: the large ones come first. The
 * entries in that order. */
static const entry **in_order(const checkpoint *c)
{
    const entry **order = need(c->count, sizeof *order);
    size_t n = 0;
    for (size_t size = 9; size-- > 0;)
        for (size_t i = 0; i < c->count; i++)
            if (size_of(c->entry[i].type) == size)
                order[n++] = &c->entry[i];
    return order;
}

static json_t *shape_of(const entry *e)
{
    json_t *shape = json_array();
    for (unsigned i = 0; i < e->dims; i++)
        array_add(shape, json_integer((json_int_t)e->dim[i]));
    return shape;
}

/* The length and the header; texts come first, and of those the checksum. */
static uint8_t *make_header(const checkpoint *c, const entry *const *order, bool checked, size_t *size)
{
    char zeros[sizeof "crc32 " + CRC_DIGITS + sizeof between + SIZE_DIGITS + sizeof " bytes"];
    snprintf(zeros, sizeof zeros, "crc32 %0*d of %0*d bytes", CRC_DIGITS, 0, SIZE_DIGITS, 0);
    json_t *header = json_object(), *texts = json_object();
    bool good = header && texts && (!checked || json_object_set_new(texts, "checksum", json_string(zeros)) == 0) &&
                json_object_update_missing(texts, c->texts) == 0 &&
                (json_object_size(texts) == 0 || json_object_set(header, "__metadata__", texts) == 0);
    uint64_t place = 0;
    for (size_t i = 0; good && i < c->count; i++) {
        const entry *e = order[i];
        good = json_object_set_new(header, e->name,
                                   safetensors_describe(e->type, shape_of(e), place, place + e->length)) == 0;
        place += e->length;
    }
    uint8_t *bytes = needed(good ? safetensors_frame(header, size) : NULL);
    json_decref(texts);
    json_decref(header);
    return bytes;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t length)
{
    return (uint32_t)crc32_z(crc, bytes, length);
}

/* The bytes of an entry as the file has them; NULL: they are so already. */
static uint8_t *turned(const entry *e)
{
    if (!byte_order_is_big())
        return NULL;
    uint8_t *bytes = need_room(e->length, 1);
    if (e->length > 0)
        memcpy(bytes, e->bytes, e->length);
    turn(bytes, e->length, size_of(e->type));
    return bytes;
}

static void fill_in_checksum(uint8_t *header, size_t size, const entry *const *order, size_t count)
{
    char digits[SIZE_DIGITS + 1];
    uint64_t length = size;
    for (size_t i = 0; i < count; i++)
        length += order[i]->length;
    snprintf(digits, sizeof digits, "%0*" PRIu64, SIZE_DIGITS, length);
    memcpy(header + SIZE_AT, digits, SIZE_DIGITS);
    uint32_t crc = crc_of(0, header, size);
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = turned(order[i]);
        crc = crc_of(crc, bytes ? bytes : order[i]->bytes, order[i]->length);
        free(bytes);
    }
    snprintf(digits, sizeof digits, "%0*" PRIx32, CRC_DIGITS, crc);
    memcpy(header + CRC_AT, digits, CRC_DIGITS);
}

static bool write_file(const checkpoint *c, const char *path, bool checked, trouble *why)
{
    atomic_file out;
    size_t size;
    if (!atomic_file_open(&out, path, why))
        return false;
    const entry **order = in_order(c);
    uint8_t *header = make_header(c, order, checked, &size);
    if (checked)
        fill_in_checksum(header, size, order, c->count);
    fwrite(header, 1, size, out.file);
    for (size_t i = 0; i < c->count; i++) {
        uint8_t *bytes = turned(order[i]);
        fwrite(bytes ? bytes : order[i]->bytes, 1, order[i]->length, out.file);
        free(bytes);
    }
    free(header);
    free(order);
    return atomic_file_commit(&out, why);
}

bool checkpoint_write(const checkpoint *c, const char *path, trouble *why)
{
    return write_file(c, path, true, why);
}

bool checkpoint_export(const checkpoint *c, const char *path, trouble *why)
{
    return write_file(c, path, false, why);
}

/* ------------------------------------------------------------------------------------------------ reading */

static bool begins_like_one(const uint8_t *bytes, size_t length)
{
    return length >= CRC_AT && memcmp(bytes + 8, before_crc, sizeof before_crc - 1) == 0;
}

static bool read_digits(const uint8_t *from, int count, int base, uint64_t *number)
{
    char text[SIZE_DIGITS + 1] = "", *end;
    memcpy(text, from, (size_t)count);
    errno = 0;
    *number = strtoull(text, &end, base);
    return strspn(text, base == 16 ? "0123456789abcdef" : "0123456789") == (size_t)count && errno == 0;
}

/* The beginning of a checkpoint, and the size and the checksum that it says. */
static bool read_start(const uint8_t *bytes, size_t length, const char *name, uint64_t *size, uint64_t *crc,
                       trouble *why)
{
    if (length < START && (length < CRC_AT || begins_like_one(bytes, length)))
        return fail(why, "%s: truncated: a checkpoint has at least %d bytes, this has %zu", name, START, length);
    if (!begins_like_one(bytes, length))
        return fail(why, "%s: not a checkpoint", name);
    if (memcmp(bytes + CRC_AT + CRC_DIGITS, between, sizeof between - 1) != 0 ||
        memcmp(bytes + SIZE_AT + SIZE_DIGITS, after_size, sizeof after_size - 1) != 0 ||
        !read_digits(bytes + CRC_AT, CRC_DIGITS, 16, crc) || !read_digits(bytes + SIZE_AT, SIZE_DIGITS, 10, size))
        return fail(why, "%s: the header is damaged: no checksum and size at its beginning", name);
    return true;
}

/* After this all bytes are what was written. */
static bool check_whole(const uint8_t *bytes, size_t length, const char *name, trouble *why)
{
    uint64_t size, crc;
    if (!read_start(bytes, length, name, &size, &crc, why))
        return false;
    if (size != length)
        return size > length
                   ? fail(why, "%s: truncated: it should have %" PRIu64 " bytes, it has %zu", name, size, length)
                   : fail(why, "%s: too long: it should have %" PRIu64 " bytes", name, size);
    uint8_t zeros[CRC_DIGITS];
    memset(zeros, '0', sizeof zeros);
    uint32_t found = crc_of(crc_of(0, bytes, CRC_AT), zeros, sizeof zeros);
    found = crc_of(found, bytes + CRC_AT + CRC_DIGITS, length - CRC_AT - CRC_DIGITS);
    return found == crc || fail(why, "%s: the checkpoint is damaged (checksum)", name);
}

/* The arrays and texts of a .safetensors file. */
static checkpoint *parse_any(const uint8_t *bytes, size_t length, const char *name, trouble *why)
{
    trouble inner = {""};
    uint64_t header;
    safetensors s = {.count = 0};
    bool good = safetensors_length(bytes, length, &header, &inner);
    const uint8_t *data = bytes + (good ? 8 + header : 0);
    good = good && safetensors_parse(&s, (const char *)bytes + 8, (size_t)header, length - 8 - header, &inner);
    checkpoint *c = checkpoint_new();
    for (size_t i = 0; good && i < s.count; i++) {
        const safetensors_entry *e = &s.entry[i];
        const size_t name_length = strlen(e->name);
        good = (name_length > 0 && name_length <= LONGEST_NAME) ||
               fail(&inner, "a tensor with a name of %zu bytes", name_length);
        if (!good)
            break;
        entry *to = add(c, e->name, e->type, e->dimensions, e->extent, (size_t)e->bytes);
        if (e->bytes > 0)
            memcpy(to->bytes, data + e->place, (size_t)e->bytes);
        turn(to->bytes, to->length, size_of(to->type));
    }
    if (good && s.metadata && json_object_update(c->texts, s.metadata) != 0)
        die("out of memory");
    json_object_del(c->texts, "checksum");
    safetensors_free(&s);
    if (good)
        return c;
    fail(why, "%s: %s", name, inner.text);
    checkpoint_free(c);
    return NULL;
}

checkpoint *checkpoint_parse(const uint8_t *bytes, size_t length, const char *name, trouble *why)
{
    return check_whole(bytes, length, name, why) ? parse_any(bytes, length, name, why) : NULL;
}

/* No more is read than a file says of itself, and one byte, which shows that there is more. */
static bool read_up_to(source *s, uint8_t **bytes, size_t *length, uint64_t end, trouble *why)
{
    return source_more(s, bytes, length, end < SIZE_MAX / 4 ? (size_t)end + 1 : SIZE_MAX / 4, why);
}

/* A checkpoint says its size at its beginning. */
static bool read_checkpoint(source *s, uint8_t **bytes, size_t *length, trouble *why)
{
    uint64_t size, crc;
    return read_start(*bytes, *length, source_name(s), &size, &crc, why) && read_up_to(s, bytes, length, size, why);
}

/* Another file of safetensors has a header that tells where its data end. What ends before that is for parse_any. */
static bool read_tensors(source *s, uint8_t **bytes, size_t *length, trouble *why)
{
    trouble inner = {""};
    const uint64_t header = *length >= 8 ? bytes_load(*bytes, 8) : 0;
    if (header > SAFETENSORS_LONGEST_HEADER)
        return fail(why, "%s: no safetensors: a header of %" PRIu64 " bytes, and the longest has %d", source_name(s),
                    header, SAFETENSORS_LONGEST_HEADER);
    if (!read_up_to(s, bytes, length, 8 + header, why))
        return false;
    if (*length < 8 + header)
        return true;
    safetensors found;
    const bool good =
        safetensors_parse(&found, (const char *)*bytes + 8, (size_t)header, SAFETENSORS_NOT_KNOWN, &inner);
    const uint64_t end = found.data < SIZE_MAX / 4 ? 8 + header + found.data : SIZE_MAX / 4;
    safetensors_free(&found);
    if (!good)
        return fail(why, "%s: %s", source_name(s), inner.text);
    return read_up_to(s, bytes, length, end, why) &&
           (*length <= end || fail(why, "%s: has bytes after its data", source_name(s)));
}

checkpoint *checkpoint_import_from(source *s, bool *whole, trouble *why)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    checkpoint *c = NULL;
    const bool read = source_more(s, &bytes, &length, START, why);
    const bool must = !whole || (read && begins_like_one(bytes, length));
    if (read && must && read_checkpoint(s, &bytes, &length, why))
        c = checkpoint_parse(bytes, length, source_name(s), why);
    else if (read && !must && read_tensors(s, &bytes, &length, why))
        c = parse_any(bytes, length, source_name(s), why);
    if (whole)
        *whole = must;
    free(bytes);
    return c;
}

static checkpoint *read_path(const char *path, bool *whole, trouble *why)
{
    source *s = source_open(path, why);
    checkpoint *c = s ? checkpoint_import_from(s, whole, why) : NULL;
    source_close(s);
    return c;
}

checkpoint *checkpoint_read(const char *path, trouble *why)
{
    return read_path(path, NULL, why);
}

checkpoint *checkpoint_import(const char *path, bool *whole, trouble *why)
{
    return read_path(path, whole, why);
}
