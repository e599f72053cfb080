/* SPDX-License-Identifier: BSD-2-Clause */
/* dataset.h - samples and labels in memory: read from files, or generated from a seed. */
#ifndef FPTRAIN_DATA_DATASET_H
#define FPTRAIN_DATA_DATASET_H

#include "data/samples.h"

/* "K/N" with 1 <= K <= N <= 1000, or "" for all. */
bool dataset_part_read(const char *text, dataset_options *options, trouble *why);
/* where: "digits" or "shapes" (generated: seed, train_count, test_count; 0 = defaults), "mnist:DIR" (four IDX files,
 * plain or .gz), "idx:DIR" (the same with any number of classes), "cifar10:DIR" or "cifar100:DIR" (binary batches,
 * plain, .gz or .xz, any record count), "npz:FILE", "text:FILE,..." or "tokens:FILE" (readers.h), or a bare path
 * whose content decides. */
bool dataset_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
/* The path in such a text, behind its word. */
const char *dataset_path(const char *where);
void dataset_free(dataset *d);
/* The numbers of a sample, 0 of a text; whether they are features without a place in an image. */
size_t dataset_numbers(const dataset *d);
bool dataset_is_flat(const dataset *d);
/* The name of a class, or its number, or (text) its character: in `text` of at least 16 bytes. */
const char *dataset_class(const dataset *d, int label, char *text);

#endif
