/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - files of characters for models of the next one. Fills a data set that is all zero.
 *
 * A character is a byte, or with options->utf8 a code point; each one that occurs is a class, in the order of its
 * number. The last tenth, or options->test_share of it, is for testing, or what lies in options->test.
 */
#ifndef FPTRAIN_DATA_TEXT_H
#define FPTRAIN_DATA_TEXT_H

#include "base/source.h"
#include "data/samples.h"

/* Of the rest of a source: any bytes but fewer than 20 characters; UTF-8 has to be right. */
bool text_read(dataset *d, source *s, const dataset_options *options, trouble *why);
/* where: PATH or PATH,PATH... one after the other; of a directory all its files in the order of their names. */
bool text_open(dataset *d, const char *where, const dataset_options *options, trouble *why);
/* How many of so many characters are for testing, when all lie together; false: none, or all. */
bool text_share(size_t length, double share, const char *name, size_t *test, trouble *why);

#endif
