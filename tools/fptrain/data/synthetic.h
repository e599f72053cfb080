/* SPDX-License-Identifier: BSD-2-Clause */
/* synthetic.h - pictures made from a seed. They fill a data set that is all zero. */
#ifndef FPTRAIN_DATA_SYNTHETIC_H
#define FPTRAIN_DATA_SYNTHETIC_H

#include "data/samples.h"

void digits_make(dataset *d, const dataset_options *options);
void shapes_make(dataset *d, const dataset_options *options);

#endif
