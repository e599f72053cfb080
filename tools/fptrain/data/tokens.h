/* SPDX-License-Identifier: BSD-2-Clause */
/* tokens.h - texts that are numbers of tokens already. Fills a data set that is all zero. */
#ifndef FPTRAIN_DATA_TOKENS_H
#define FPTRAIN_DATA_TOKENS_H

#include "base/source.h"
#include "data/samples.h"

/* where: a .npy file of whole numbers (plain, .gz or .xz), any other file as uint16, little-endian, without a header,
 * or a directory with train.bin or train.npy and val or test. What is for testing: as of a text (text.h). */
bool tokens_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
/* The numbers of one file; *classes grows to hold them, or, where it is fixed, they have to be less. */
uint16_t *tokens_read(source *s, bool npy, size_t *count, int *classes, bool fixed, trouble *why);

#endif
