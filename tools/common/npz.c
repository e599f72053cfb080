/* SPDX-License-Identifier: BSD-2-Clause */
/* npz.c - see npz.h */
#include "common/npz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

struct npz {
    zip_t *zip;
    zip_file_t *member;
    trouble *why; /* of the read that is going on in npz_header */
};

/* Its descriptor: libzip closes what it is given. */
static zip_t *open_copy(FILE *file, trouble *why)
{
    zip_error_t error;
    zip_error_init(&error);
    const int descriptor = dup(fileno(file));
    FILE *copy = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (copy == NULL) {
        fail(why, "out of file descriptors");
        return NULL;
    }
    zip_source_t *source = zip_source_filep_create(copy, 0, -1, &error);
    zip_t *zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (zip == NULL) {
        fail(why, "zip archive: %s", zip_error_strerror(&error));
        source != NULL ? zip_source_free(source) : (void)fclose(copy);
    }
    zip_error_fini(&error);
    return zip;
}

npz *npz_open(FILE *file, trouble *why)
{
    npz *z = calloc(1, sizeof *z);
    if (z == NULL) {
        fail(why, "out of memory");
        return NULL;
    }
    z->zip = open_copy(file, why);
    if (z->zip != NULL && (zip_get_num_entries(z->zip, 0) > 0 || fail(why, "zip archive: it is empty")))
        return z;
    npz_close(z);
    return NULL;
}

static void close_member(npz *z)
{
    if (z->member != NULL) {
        zip_fclose(z->member);
        z->member = NULL;
    }
}

void npz_close(npz *z)
{
    if (z == NULL)
        return;
    close_member(z);
    if (z->zip != NULL)
        zip_discard(z->zip);
    free(z);
}

uint64_t npz_count(const npz *z)
{
    return (uint64_t)zip_get_num_entries(z->zip, 0);
}

struct zip *npz_archive(npz *z)
{
    return z->zip;
}

bool npz_look(npz *z, uint64_t i, const char **name, uint64_t *size, trouble *why)
{
    zip_stat_t status;
    if (zip_stat_index(z->zip, i, 0, &status) != 0 || (status.valid & ZIP_STAT_NAME) == 0 ||
        (status.valid & ZIP_STAT_SIZE) == 0 || status.size > INT64_MAX) {
        return fail(why, "zip archive: a member without a name or a size");
    }
    *name = status.name;
    *size = status.size;
    return true;
}

bool npz_is_array(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

static bool open_member(npz *z, uint64_t i, trouble *why)
{
    zip_stat_t status;
    close_member(z);
    if (zip_stat_index(z->zip, i, 0, &status) != 0)
        return fail(why, "zip archive: %s", zip_strerror(z->zip));
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE)
        return fail(why, "it is encrypted");
    if ((status.valid & ZIP_STAT_COMP_METHOD) == 0 ||
        (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)) {
        return fail(why, "it is neither stored nor deflated");
    }
    z->member = zip_fopen_index(z->zip, i, 0);
    return z->member != NULL || fail(why, "zip archive: %s", zip_strerror(z->zip));
}

bool npz_read(npz *z, void *bytes, size_t size, size_t *got, trouble *why)
{
    *got = 0;
    while (*got < size) {
        const zip_int64_t more = zip_fread(z->member, (char *)bytes + *got, size - *got);
        if (more < 0)
            return fail(why, "zip archive: %s", zip_file_strerror(z->member));
        if (more == 0)
            break;
        *got += (size_t)more;
    }
    return true;
}

static size_t read_member(void *from, void *bytes, size_t size)
{
    npz *z = from;
    size_t got;
    npz_read(z, bytes, size, &got, z->why);
    return got;
}

bool npz_header(npz *z, uint64_t i, npy_header *header, uint64_t *skip, trouble *why)
{
    char error[NPY_ERROR_SIZE];
    trouble zip_error = {.text = ""};
    if (!open_member(z, i, why))
        return false;
    z->why = &zip_error;
    const bool good = npy_read_header(read_member, z, header, skip, error);
    z->why = NULL;
    return good || fail(why, "%s", zip_error.text[0] != '\0' ? zip_error.text : error);
}

bool npz_begin(npz *z, uint64_t i, uint64_t skip, trouble *why)
{
    unsigned char bytes[1024];
    if (!open_member(z, i, why))
        return false;
    for (uint64_t left = skip; left > 0;) {
        size_t got;
        if (!npz_read(z, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, &got, why))
            return false;
        if (got == 0)
            return fail(why, "truncated");
        left -= got;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- writing */

/* An archive as libzip writes it. */
typedef struct archive {
    FILE *to;
    zip_error_t error;
} archive;

static zip_int64_t seek_archive(archive *a, void *data, zip_uint64_t size)
{
    static const int whence[] = {[SEEK_SET] = SEEK_SET, [SEEK_CUR] = SEEK_CUR, [SEEK_END] = SEEK_END};
    const zip_source_args_seek_t *place = ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, size, NULL);
    if (place == NULL || fseeko(a->to, (off_t)place->offset, whence[place->whence]) != 0) {
        zip_error_set(&a->error, ZIP_ER_SEEK, errno);
        return -1;
    }
    return 0;
}

static zip_int64_t write_archive(archive *a, const void *data, zip_uint64_t size)
{
    if (fwrite(data, 1, (size_t)size, a->to) != size) {
        zip_error_set(&a->error, ZIP_ER_WRITE, errno);
        return -1;
    }
    return (zip_int64_t)size;
}

static zip_int64_t archive_source(void *state, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    archive *a = state;
    switch (command) {
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_READ: /* nothing there */
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE: /* that is for who opened the file */
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE: return 0;
    case ZIP_SOURCE_FREE: free(a); return 0;
    case ZIP_SOURCE_STAT:
        zip_stat_init(data);
        ((zip_stat_t *)data)->size = 0;
        ((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&a->error, data, size);
    case ZIP_SOURCE_WRITE: return write_archive(a, data, size);
    case ZIP_SOURCE_SEEK_WRITE: return seek_archive(a, data, size);
    case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)ftello(a->to);
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE,
                                              ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE,
                                              ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, ZIP_SOURCE_SUPPORTS, -1);
    default: zip_error_set(&a->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

zip_t *npz_create(FILE *to, trouble *why)
{
    zip_error_t error;
    archive *a = calloc(1, sizeof *a);
    if (a == NULL) {
        fail(why, "out of memory");
        return NULL;
    }
    a->to = to;
    zip_error_init(&a->error);
    zip_error_init(&error);
    const int flags = fcntl(fileno(to), F_GETFL);
    const char *lack = fseeko(to, 0, SEEK_CUR) != 0             ? strerror(errno)
                       : ftello(to) != 0                        ? "there is something before it"
                       : flags != -1 && (flags & O_APPEND) != 0 ? "it is appended to"
                                                                : NULL;
    if (lack != NULL) {
        fail(why, "a .npz file has to be written to a place that can be walked: %s", lack);
        free(a);
        return NULL;
    }
    zip_source_t *target = zip_source_function_create(archive_source, a, &error);
    zip_t *zip = target != NULL ? zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    if (zip == NULL) {
        fail(why, "%s", zip_error_strerror(&error));
        target != NULL ? zip_source_free(target) : free(a);
    }
    zip_error_fini(&error);
    return zip;
}
