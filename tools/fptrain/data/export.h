/* SPDX-License-Identifier: BSD-2-Clause */
/* export.h - a data set as a .npz file, so that other programs see the same samples in the same parts. */
#ifndef FPTRAIN_DATA_EXPORT_H
#define FPTRAIN_DATA_EXPORT_H

#include "data/samples.h"

/* x_train, y_train, x_test, y_test: bytes or float32 of (N, features), (N, H, W) or (N, C, H, W), before they are
 * normalised, and int64 of (N); mean and deviation: float64 of (C); classes: their names, byte strings. Of a text:
 * train and test, uint16, and symbols, uint32, what a class stands for. The file appears whole or not at all. */
bool dataset_export(const dataset *d, const char *path, trouble *why);

#endif
