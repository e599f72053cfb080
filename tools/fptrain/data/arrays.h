/* SPDX-License-Identifier: BSD-2-Clause */
/* arrays.h - samples and labels in the arrays of NumPy. Fills a data set that is all zero.
 *
 * The arrays have names: of a .npz those of its members, in a directory those of its .npy files (plain, .gz or .xz). By
 * these the samples for training, their labels, and the same for testing are found: x_train, y_train, x_test, y_test
 * and a few more usual ones; or as options->names says. Without the last two the data set is still to be divided.
 */
#ifndef FPTRAIN_DATA_ARRAYS_H
#define FPTRAIN_DATA_ARRAYS_H

#include "base/source.h"
#include "data/samples.h"

/* where: a .npz file, or a directory, or FILE,FILE or FILE,FILE,FILE,FILE with the arrays in their order. Samples for
 * testing that options->test names are of the same kind, where the first two of their arrays count. */
bool arrays_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
/* The same for the bytes of a .npz in an open file, which stays the caller's. */
bool arrays_from_npz(dataset *d, FILE *file, const char *name, const dataset_options *options, trouble *why);
/* Whether a directory has such arrays. */
bool arrays_are_in(const char *directory);

#endif
