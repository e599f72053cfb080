/* SPDX-License-Identifier: BSD-2-Clause */
/* readers.h - data sets by their kinds. Each reader fills a data set that is all zero.
 *
 * Beside what opens a kind stands what reads one of its files, from bytes that are there already.
 */
#ifndef FPTRAIN_DATA_READERS_H
#define FPTRAIN_DATA_READERS_H

#include "base/source.h"
#include "data/samples.h"

/* `where` is what follows the word of the kind, as in "idx:DIR". */
typedef bool reader(dataset *d, const char *where, const dataset_options *options, trouble *why);

/* ---- IDX files, of MNIST and its like: mnist has ten classes, idx as many as the labels have, or more where that is
 * asked for. where: a directory with train-images-idx3-ubyte, train-labels-idx1-ubyte and the same of t10k or test, or
 * with a word and a hyphen before each of these names, as EMNIST has them; DIRECTORY/WORD where there are several such
 * words (idx alone). */
reader mnist_open, idx_open;
/* One file of unsigned bytes with so many dimensions. */
typedef struct idx {
    size_t extent[3], count; /* count: elements */
    uint8_t *bytes;
} idx;
bool idx_read(idx *x, source *s, int dimensions, trouble *why);

/* ---- CIFAR: binary batches. */
reader cifar10_open, cifar100_open;
/* All records of one file, added to the split; before each are 1 byte of label, or 2 (the second counts). */
bool cifar_read(split *to, source *s, int label_bytes, int classes, trouble *why);

/* ---- Samples and labels in the arrays of a .npz. By the names of its members the samples for training, their labels,
 * and the same for testing are found: x_train, y_train, x_test, y_test and a few more usual ones; or as options->names
 * says. Without the last two the data set is still to be divided. Of another .npz, which options->test names, the first
 * two count. */
reader arrays_open;
/* The same for the bytes of a .npz in an open file, which stays the caller's. */
bool arrays_from_npz(dataset *d, FILE *file, const char *name, const dataset_options *options, trouble *why);

/* ---- Files of characters for models of the next one. A character is a byte, or with options->utf8 a code point; each
 * one that occurs is a class, in the order of its number. The last tenth, or options->test_share of it, is for testing,
 * or what lies in options->test.
 *
 * where: PATH or PATH,PATH... one after the other; of a directory all its files in the order of their names. */
reader text_open;
/* Of the rest of a source: any bytes but fewer than 20 characters; UTF-8 has to be right. */
bool text_read(dataset *d, source *s, const dataset_options *options, trouble *why);
/* How many of so many characters are for testing, when all lie together; false: none, or all. */
bool text_share(size_t length, double share, const char *name, size_t *test, trouble *why);

/* ---- Texts that are numbers of tokens already. where: a .npy file of whole numbers (plain, .gz or .xz), any other file
 * as uint16, little-endian, without a header, or a directory with train.bin or train.npy and val or test. What is for
 * testing: as of a text. */
reader tokens_open;
/* The numbers of one file; *classes grows to hold them, or, where it is fixed, they have to be less. */
uint16_t *tokens_read(source *s, bool npy, size_t *count, int *classes, bool fixed, trouble *why);

/* ---- Pictures made from a seed. */
void digits_make(dataset *d, const dataset_options *options);
void shapes_make(dataset *d, const dataset_options *options);

#endif
