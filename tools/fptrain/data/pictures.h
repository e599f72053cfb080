/* SPDX-License-Identifier: BSD-2-Clause */
/* pictures.h - a directory in which each class is a folder of pictures. Fills a data set that is all zero.
 *
 * Classes are numbered by the bytes of their names, samples follow class by class and by name: the order in which the
 * system lists them does not matter. Names that begin with a dot, and files that are no pictures, are passed over.
 */
#ifndef FPTRAIN_DATA_PICTURES_H
#define FPTRAIN_DATA_PICTURES_H

#include "data/samples.h"

/* Folders of classes, or the folders train and test (or val, valid, validation) with folders of classes. Without a part
 * for testing, also none in options->test, the data set is still to be divided. */
bool pictures_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
/* Whether a directory has folders, and no folder of folders but train, test and the like. */
bool pictures_are_in(const char *directory);

#endif
