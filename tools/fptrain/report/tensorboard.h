/* SPDX-License-Identifier: BSD-2-Clause */
/* tensorboard.h - the logs of runs for TensorBoard. */
#ifndef FPTRAIN_REPORT_TENSORBOARD_H
#define FPTRAIN_REPORT_TENSORBOARD_H

#include "common/trouble.h"

/* DIRECTORY/LABEL/events.out.tfevents.fptrain for each run, with every number of its log as a scalar and every
 * histogram as one, called as in log_values.h. Numbers are rounded to binary32. The time of the last line is that at
 * which the log was changed last. A file of this name that is not of this program is not replaced. tensors: as in
 * csv_write. */
bool tensorboard_write(const char *directory, int count, char *const *runs, const char *const *labels,
                       const char *tensors, trouble *why);

#endif
