/* SPDX-License-Identifier: BSD-2-Clause */
/* xla_ffi.h - the part of XLA's FFI (foreign function interface) for custom calls that jax_ffi.c needs.
 *
 * XLA documents this interface as a C ABI with a version: structs that begin with their own size, to which later minor
 * versions only append. So no header of jaxlib is needed to build, and one binary serves every jaxlib of the same major
 * version. Names are ours; the order of members, their types and the numbers are the ABI of major version 0 (minor
 * versions 0 to 3 have been read). tests/python/test_jax.py compares every offset below with the header of the jaxlib
 * that is installed. */
#ifndef FPEMU_XLA_FFI_H
#define FPEMU_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 3 };

/* Types of elements, as XLA numbers them. */
enum { XLA_S64 = 5, XLA_U8 = 6, XLA_U16 = 7, XLA_U32 = 8, XLA_U64 = 9 };
enum { XLA_F16 = 10, XLA_F32 = 11, XLA_F64 = 12, XLA_BF16 = 16 };

/* Kinds of arguments, results and attributes; kinds of extensions; the stage at which a handler computes; errors. */
enum { XLA_ARGUMENT_BUFFER = 1, XLA_RESULT_BUFFER = 1 };
enum { XLA_ATTRIBUTE_ARRAY = 1, XLA_ATTRIBUTE_DICTIONARY = 2, XLA_ATTRIBUTE_SCALAR = 3, XLA_ATTRIBUTE_STRING = 4 };
enum { XLA_EXTENSION_METADATA = 1 };
enum { XLA_STAGE_EXECUTE = 3 };
enum { XLA_INVALID_ARGUMENT = 3, XLA_RESOURCE_EXHAUSTED = 8, XLA_UNIMPLEMENTED = 12 };

typedef struct xla_extension {
    size_t struct_size;
    int type;
    struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
    size_t struct_size;
    xla_extension *extensions;
    int major_version, minor_version;
} xla_version;

/* What XLA asks of a handler before it is used: the version it was written for. Older minor versions end before
 * state_type. */
typedef struct xla_metadata {
    size_t struct_size;
    xla_version version;
    uint32_t traits;
    int64_t state_type;
} xla_metadata;

typedef struct xla_metadata_extension {
    xla_extension base;
    xla_metadata *metadata;
} xla_metadata_extension;

typedef struct xla_error xla_error;

typedef struct xla_error_arguments {
    size_t struct_size;
    xla_extension *extensions;
    const char *message;
    int code;
} xla_error_arguments;

typedef struct xla_buffer {
    size_t struct_size;
    xla_extension *extensions;
    int type;
    void *data;
    int64_t rank;
    int64_t *sizes;
} xla_buffer;

typedef struct xla_bytes {
    const char *data;
    size_t length;
} xla_bytes;

typedef struct xla_scalar {
    int type;
    void *value;
} xla_scalar;

typedef struct xla_array {
    int type;
    size_t length;
    void *data;
} xla_array;

/* Arguments and results have one layout, attributes a name more. */
typedef struct xla_buffers {
    size_t struct_size;
    xla_extension *extensions;
    int64_t count;
    int *kinds;
    void **items;
} xla_buffers;

typedef struct xla_attributes {
    size_t struct_size;
    xla_extension *extensions;
    int64_t count;
    int *kinds;
    xla_bytes **names;
    void **items;
} xla_attributes;

/* The first members of the table of functions; more follow. */
typedef struct xla_api {
    size_t struct_size;
    xla_extension *extensions;
    xla_version version;
    const void *internal;
    xla_error *(*create_error)(xla_error_arguments *arguments);
} xla_api;

typedef struct xla_frame {
    size_t struct_size;
    xla_extension *extensions;
    const xla_api *api;
    void *context;
    int stage;
    xla_buffers arguments;
    xla_buffers results;
    xla_attributes attributes;
} xla_frame;

#endif /* FPEMU_XLA_FFI_H */
