/* SPDX-License-Identifier: BSD-2-Clause */
/* npz.c - see npz.h */
#include "common/system.h"

#include "common/npz.h"

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
    if (z->zip != NULL && (zip_get_num_entries(z->zip, 0) > 0 || fail(why, "zip archive: it is empty"))) {
        return z;
    }
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
    if (z == NULL) {
        return;
    }
    close_member(z);
    if (z->zip != NULL) {
        zip_discard(z->zip);
    }
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
    if (zip_stat_index(z->zip, i, 0, &status) != 0) {
        return fail(why, "zip archive: %s", zip_strerror(z->zip));
    }
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
        return fail(why, "it is encrypted");
    }
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
        if (more < 0) {
            return fail(why, "zip archive: %s", zip_file_strerror(z->member));
        }
        if (more == 0) {
            break;
        }
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
    if (!open_member(z, i, why)) {
        return false;
    }
    z->why = &zip_error;
    const bool good = npy_read_header(read_member, z, header, skip, error);
    z->why = NULL;
    return good || fail(why, "%s", zip_error.text[0] != '\0' ? zip_error.text : error);
}

bool npz_begin(npz *z, uint64_t i, uint64_t skip, trouble *why)
{
    unsigned char bytes[1024];
    if (!open_member(z, i, why)) {
        return false;
    }
    for (uint64_t left = skip; left > 0;) {
        size_t got;
        if (!npz_read(z, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, &got, why)) {
            return false;
        }
        if (got == 0) {
            return fail(why, "truncated");
        }
        left -= got;
    }
    return true;
}
