/* SPDX-License-Identifier: BSD-2-Clause */
/* origin.h - which files a data set is read from, so that no output takes the place of one. */
#ifndef FPTRAIN_DATA_ORIGIN_H
#define FPTRAIN_DATA_ORIGIN_H

#include <stdbool.h>

/* Whether writing the path would replace one of the files. `where` as for dataset_open, `test` as its option ("":
 * none): a file, each of a list with commas between, or of a directory what is there, or is what a link there leads to,
 * and has the name of such data. */
bool origin_has(const char *where, const char *test, const char *path);
/* Whether whatever lies in the directory is data, or will be: the directory is one of texts. */
bool origin_reads_all_of(const char *where, const char *test, const char *directory);

#endif
