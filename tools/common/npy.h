/* SPDX-License-Identifier: BSD-2-Clause */
/* npy.h - the header of NumPy's .npy files (NEP 1, format versions 1.0, 2.0 and 3.0).
 *
 *   "\x93NUMPY" major minor length header data      length: 2 bytes in version 1, else 4, little-endian
 *   header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   padded with spaces, a newline at the end
 *
 * The reader is strict: a header that says anything unexpected is refused with the reason.
 */
#ifndef COMMON_NPY_H
#define COMMON_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_MOST_DIMENSIONS = 64 }; /* as NumPy 2 */
enum { NPY_LONGEST_STRING = 32 };

typedef struct npy_header {
    char type_text[NPY_LONGEST_STRING + 1]; /* as the header says it: "<f4"; "records" */
    char code[NPY_LONGEST_STRING + 1];      /* the type without its byte order: "f4"; of records "" */
    bool big_endian;
    bool fortran_order;
    unsigned dimensions; /* 0: one number without a shape */
    uint64_t extent[NPY_MOST_DIMENSIONS];
} npy_header;

#define NPY_IS_OTHER "not a .npy file" /* the error where the magic is not there */
/* Reads magic, version and header by `read`, which gives up to `size` bytes; the data come next, at `*skipped` bytes.
 * On failure `error` says why. */
#define NPY_ERROR_SIZE 160
typedef size_t npy_read(void *from, void *bytes, size_t size);
bool npy_read_header(npy_read *read, void *from, npy_header *header, uint64_t *skipped, char error[NPY_ERROR_SIZE]);

/* The bytes up to the data, as NumPy writes them: a multiple of 64. Enough for every header: */
#define NPY_HEADER_SIZE 2048
size_t npy_print_header(const npy_header *header, unsigned char bytes[NPY_HEADER_SIZE]);

#endif
