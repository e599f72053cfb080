/* SPDX-License-Identifier: BSD-2-Clause */
/* plots.h - the comparison as SVG files. */
#ifndef FPTRAIN_REPORT_PLOTS_H
#define FPTRAIN_REPORT_PLOTS_H

#include "report/choice.h"
#include "report/group.h"

/* A file for each curve and each map in the directory, which is made. */
bool plots_write(const char *directory, const groups *g, const report_choice *choice, trouble *why);

#endif
