/* SPDX-License-Identifier: BSD-2-Clause */
/* data_settings.h - what the settings of a run say of its data. */
#ifndef FPTRAIN_RUN_DATA_SETTINGS_H
#define FPTRAIN_RUN_DATA_SETTINGS_H

#include "data/dataset.h"
#include "run/settings.h"

/* The words of the options are those of the settings. False and a sentence where data.part is none. */
bool data_settings_read(const settings *s, dataset_options *options, trouble *why);

#endif
