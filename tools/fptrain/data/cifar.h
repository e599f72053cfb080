/* SPDX-License-Identifier: BSD-2-Clause */
/* cifar.h - CIFAR: binary batches. Fills a data set that is all zero. */
#ifndef FPTRAIN_DATA_CIFAR_H
#define FPTRAIN_DATA_CIFAR_H

#include "base/source.h"
#include "data/samples.h"

/* All records of one CIFAR file, added to the split; before each are 1 byte of label, or 2 (the second counts). */
bool cifar_read(split *to, source *s, int label_bytes, int classes, trouble *why);
bool cifar_open(dataset *d, const char *directory, int classes, trouble *why);

#endif
