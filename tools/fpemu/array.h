/* array.h - arrays of binary32 or binary64 in files, read and written in pieces: .npy, or raw without a header. */
#ifndef FPEMU_TOOL_ARRAY_H
#define FPEMU_TOOL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "npy.h"
#include "output.h"

/* Elements a piece: a multiple of 4096, so that the error sums of the pieces add up to those of the whole. */
enum { ARRAY_PIECE = 1 << 18 };

/* How a file without a header is to be read; item_size 0: there is a header, .npy. */
typedef struct array_raw {
    unsigned item_size;
    bool big_endian, has_byte_order;
} array_raw;

/* The options --raw and --byte-order, for the table of a command and its help. */
#define ARRAY_RAW_LONG \
    {"raw", required_argument, NULL, CLI_OPT_RAW}, {"byte-order", required_argument, NULL, CLI_OPT_BYTE_ORDER}
#define ARRAY_RAW_HELP \
    "      --raw TYPE        data without a header: f32 or f64\n" \
    "      --byte-order B    of raw data: little or big (default: little)\n"
/* Takes one of them; false if `option` is another. */
bool array_raw_take(array_raw *raw, int option, const char *argument);
/* A usage error where they do not go together. */
void array_raw_check(const array_raw *raw);

typedef struct array_reader {
    FILE *file;
    const char *path;
    npy_header header; /* raw data: one dimension */
    bool raw;
    bool count_is_known; /* false: raw data from a pipe */
    uint64_t read;       /* elements so far */
} array_reader;

/* All of these end the program with an error that names the file when they fail. "-" is standard input. The length of
 * a regular file is checked here, that of a pipe at its end. */
array_reader array_open(const char *path, const array_raw *raw);
/* The next elements, at most ARRAY_PIECE, in host byte order, as float or double by header.item_size; 0 at the end. */
size_t array_read(array_reader *reader, void *elements);
void array_close(array_reader *reader);

/* The header of an array like this one, then its pieces, which are left in file byte order. */
void array_write_header(output *out, const array_reader *like);
void array_write(output *out, const array_reader *like, void *elements, size_t count);

#endif
