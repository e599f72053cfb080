/* SPDX-License-Identifier: BSD-2-Clause */
/* file.h - files of tensors as the commands meet them: options that choose among tensors, errors that end the program,
 * and the walk over a tensor in pieces. */
#ifndef FPEMU_TOOL_FILE_H
#define FPEMU_TOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "common/coded.h"
#include "files/reader.h"

/* Elements a piece: a multiple of 4096, so that the error sums of the pieces add up to those of the whole. */
enum { FILE_PIECE = 1 << 18 };

/* How a file is read. Start from all zero. */
typedef struct file_options {
    model_kind kind; /* MODEL_DETECT, but for files of packed tensors */
    reader_raw raw;  /* type NULL: there is a header */
    bool has_byte_order;
    const char **wanted, **unwanted; /* patterns of names, as many as were given */
    size_t wanted_count, unwanted_count;
    unsigned least_dimensions;
    bool as_numbers; /* --as-numbers */
} file_options;

/* The options, for the table of a command and its help. */
#define FILE_AS_NUMBERS_LONG {"as-numbers", no_argument, NULL, CLI_OPT_AS_NUMBERS}
#define FILE_AS_NUMBERS_HELP                                                                                           \
    "      --as-numbers      take codes with scales in a layout that is not read, and these\n"                         \
    "                        scales, as numbers; without it they are refused\n"
#define FILE_LONG                                                                                                      \
    {"raw", required_argument, NULL, CLI_OPT_RAW}, {"byte-order", required_argument, NULL, CLI_OPT_BYTE_ORDER},        \
        {"tensors", required_argument, NULL, CLI_OPT_TENSORS},                                                         \
        {"min-dims", required_argument, NULL, CLI_OPT_MIN_DIMS}, FILE_AS_NUMBERS_LONG,                                 \
    {                                                                                                                  \
        "exclude", required_argument, NULL, CLI_OPT_EXCLUDE                                                            \
    }
#define FILE_HELP                                                                                                      \
    "      --tensors GLOB    only tensors with such a name, as 'model.layers.*.weight'; may be\n"                      \
    "                        repeated\n"                                                                               \
    "      --exclude GLOB    not those with such a name; may be repeated\n"                                            \
    "      --min-dims N      only tensors of at least N dimensions: 2 leaves norms and biases "                        \
    "out\n" FILE_AS_NUMBERS_HELP "      --raw TYPE        data without a header: f32 or f64\n"                         \
    "      --byte-order B    of raw data: little or big (default: little)\n"
/* Takes one of them; false if `option` is another. */
bool file_take(file_options *options, int option, const char *argument);
/* A usage error where they do not go together. */
void file_check(const file_options *options);

/* The argument of --dtype. */
const dtype *file_dtype(const char *argument);

typedef struct file {
    const char *path;
    model model;
    bool *asked;      /* tensor i has a name and a number of dimensions that were asked for */
    bool *chosen;     /* and a floating-point type */
    coded_pair *pair; /* codes and scales in a layout that is not read, of which it is one */
    bool as_numbers;
    size_t chosen_count;
    uint64_t chosen_elements, elements; /* of those, and of all tensors, which progress counts */
} file;

/* All of these end the program with an error that names the file when they fail. Opening uses the options up. "-" is
 * standard input: raw data and .npy, or any kind where standard input is a file. A directory or an index of shards is
 * one model (shards.h). */
file file_open(const char *path, file_options *options);
void file_close(file *f);
/* Ends the program where no tensor is chosen, and says which there are. */
void file_expect_tensors(file *f);
/* Ends the program where a tensor that is asked for is codes, or their scales, in a layout that is not read. With
 * as_numbers a line says that it is taken as it is. */
void file_expect_numbers(file *f);
/* Ends the program: no tensor matches the pattern of an option; the nearest name is named. */
_Noreturn void file_refuse_pattern(const file *f, const char *option, const char *pattern);
/* Whether there is one array, without a name of its own. */
bool file_is_array(const file *f);
/* Whether an output is one file by its name: "-", or with the suffix of a kind of file. */
bool file_names_one(const char *output);
/* Refuses such an output of a directory. */
void file_check_directory(const file *f, const char *output);
/* The same, and refuses an output of another kind, as its name has it. */
void file_check_output(const file *f, const char *output);

/* A usage error where writing the path would replace what is read, or one of its files; path may be NULL. */
void file_refuse_output(const file *f, const char *option, const char *path);

/* The bytes of a tensor as they are: begin, then read until 0. */
void file_begin(file *f, size_t i);
size_t file_read(file *f, size_t i, void *bytes, size_t size);
/* Bytes from any place, where reader_random_access allows it. */
void file_read_at(file *f, size_t i, uint64_t from, void *bytes, size_t size);
/* Which part of the tensor's elements so many of its bytes are, for progress. */
uint64_t file_elements(const file *f, size_t i, uint64_t bytes);
/* A copy of them, in a file without a name. */
FILE *file_copy(file *f, size_t i);
/* Makes the data of a pipe, which has been read up to them, such that they can be read twice: it copies them. */
void file_keep(file *f);

/* Piece by piece in one carrier or both; F64 in binary64 alone. Pieces have FILE_PIECE elements, or a multiple of
 * `unit` about as large, where unit elements have to stay together. They are either whole periods, or end where one
 * ends. */
typedef struct walk {
    file *file;
    size_t i;
    float *x32; /* NULL where not asked for */
    double *x64;
    size_t count;   /* elements of the piece */
    uint64_t index; /* of its first element in the tensor */
    void *bytes;
    size_t room;
    uint64_t period;
} walk;
walk walk_begin(file *f, size_t i, bool want32, bool want64, uint64_t unit, uint64_t period);
/* The next piece; false at the end. */
bool walk_next(walk *w);
void walk_end(walk *w);

/* "2x3", "scalar". */
#define FILE_SHAPE_SIZE 64
const char *file_shape_text(char text[FILE_SHAPE_SIZE], const tensor *t);
/* The name with control characters as '?', so that it cannot drive a terminal; at most `width` bytes of it. */
#define FILE_NAME_SIZE 256
const char *file_name_text(char text[FILE_NAME_SIZE], const tensor *t);
/* A type as a file names it, so that it drives no terminal. */
const char *file_type_text(char text[MODEL_TYPE_SIZE], const char *type);

#endif
