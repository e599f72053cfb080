/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - a file of bytes for models of characters. Fills a data set that is all zero. */
#ifndef FPTRAIN_DATA_TEXT_H
#define FPTRAIN_DATA_TEXT_H

#include "base/source.h"
#include "data/samples.h"

/* Any bytes but none at all: classes, train and test. */
bool text_read(dataset *d, source *s, trouble *why);
bool text_open(dataset *d, const char *path, trouble *why);

#endif
