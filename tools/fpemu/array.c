/* array.c - see array.h */
#include "cli.h"

#include "array.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

bool array_raw_take(array_raw *raw, int option, const char *argument)
{
    if (option == CLI_OPT_RAW) {
        if (strcmp(argument, "f32") != 0 && strcmp(argument, "f64") != 0) {
            cli_usage("--raw: '%s' is neither f32 nor f64", argument);
        }
        raw->item_size = argument[1] == '3' ? 4 : 8;
        return true;
    }
    if (option == CLI_OPT_BYTE_ORDER) {
        if (strcmp(argument, "little") != 0 && strcmp(argument, "big") != 0) {
            cli_usage("--byte-order: '%s' is neither little nor big", argument);
        }
        raw->big_endian = argument[0] == 'b';
        raw->has_byte_order = true;
        return true;
    }
    return false;
}

void array_raw_check(const array_raw *raw)
{
    if (raw->has_byte_order && raw->item_size == 0) {
        cli_usage("--byte-order is for --raw: a .npy file says its own");
    }
}

static const char *read_error(void)
{
    return errno != 0 ? strerror(errno) : "read error";
}

/* Bytes from here to the end of a regular file. */
static bool remaining_bytes(FILE *file, uint64_t *bytes)
{
    struct stat status;
    const off_t here = ftello(file);
    if (here < 0 || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    *bytes = status.st_size > here ? (uint64_t)(status.st_size - here) : 0;
    return true;
}

static void check_length(const array_reader *reader, uint64_t bytes)
{
    const uint64_t wanted = reader->header.count * reader->header.item_size;
    if (bytes < wanted) {
        cli_fail("%s: truncated: the shape asks for %" PRIu64 " bytes of data, there are %" PRIu64, reader->path,
                 wanted, bytes);
    }
    if (bytes > wanted) {
        cli_fail("%s: the shape asks for %" PRIu64 " bytes of data, but %" PRIu64 " more follow", reader->path, wanted,
                 bytes - wanted);
    }
}

array_reader array_open(const char *path, const array_raw *raw)
{
    const bool standard = strcmp(path, "-") == 0;
    array_reader reader = {.path = standard ? "standard input" : path, .raw = raw->item_size != 0};
    uint64_t bytes = 0;
    reader.file = standard ? stdin : fopen(path, "rb");
    if (reader.file == NULL) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    if (reader.raw) {
        reader.header = (npy_header){.item_size = raw->item_size, .big_endian = raw->big_endian, .dimensions = 1};
        reader.count_is_known = remaining_bytes(reader.file, &bytes);
        reader.header.count = reader.header.extent[0] = bytes / raw->item_size;
    } else {
        char error[NPY_ERROR_SIZE];
        if (!npy_read_header(reader.file, &reader.header, error)) {
            cli_fail("%s: %s", reader.path, error);
        }
        reader.count_is_known = true;
        if (remaining_bytes(reader.file, &bytes)) {
            check_length(&reader, bytes);
        }
    }
    return reader;
}

/* Reverses the bytes of every element: x86 compilers make byte swaps of these loops. */
static void swap_bytes(void *elements, unsigned item_size, size_t count)
{
    unsigned char *b = elements;
    if (item_size == 4) {
        for (size_t i = 0; i < count; i++, b += 4) {
            const unsigned char t[4] = {b[3], b[2], b[1], b[0]};
            memcpy(b, t, 4);
        }
    } else {
        for (size_t i = 0; i < count; i++, b += 8) {
            const unsigned char t[8] = {b[7], b[6], b[5], b[4], b[3], b[2], b[1], b[0]};
            memcpy(b, t, 8);
        }
    }
}

static void to_or_from_host(const npy_header *header, void *elements, size_t count)
{
    if (header->big_endian != npy_host_is_big_endian()) {
        swap_bytes(elements, header->item_size, count);
    }
}

size_t array_read(array_reader *reader, void *elements)
{
    const size_t item_size = reader->header.item_size;
    size_t wanted = ARRAY_PIECE;
    if (!reader->raw && reader->header.count - reader->read < wanted) {
        wanted = (size_t)(reader->header.count - reader->read);
    }
    errno = 0;
    const size_t bytes = fread(elements, 1, wanted * item_size, reader->file);
    if (ferror(reader->file)) {
        cli_fail("%s: %s", reader->path, read_error());
    }
    if (!reader->raw && bytes < wanted * item_size) {
        check_length(reader, reader->read * item_size + bytes);
    }
    if (bytes % item_size != 0) {
        cli_fail("%s: ends inside an element: %" PRIu64 " whole elements of %u bytes, then %u bytes", reader->path,
                 reader->read + bytes / item_size, (unsigned)item_size, (unsigned)(bytes % item_size));
    }
    const size_t count = bytes / item_size;
    if (count == 0 && !reader->raw && getc(reader->file) != EOF) {
        cli_fail("%s: more data follow than the shape asks for", reader->path);
    }
    to_or_from_host(&reader->header, elements, count);
    reader->read += count;
    return count;
}

void array_close(array_reader *reader)
{
    if (reader->file != stdin) {
        fclose(reader->file);
    }
}

void array_write_header(output *out, const array_reader *like)
{
    unsigned char bytes[NPY_HEADER_SIZE];
    if (!like->raw) {
        output_write(out, bytes, npy_print_header(&like->header, bytes));
    }
}

void array_write(output *out, const array_reader *like, void *elements, size_t count)
{
    to_or_from_host(&like->header, elements, count);
    output_write(out, elements, count * like->header.item_size);
}
