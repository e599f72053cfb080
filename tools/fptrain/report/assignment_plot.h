/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_plot.h - an assignment as a picture of the network. */
#ifndef FPTRAIN_REPORT_ASSIGNMENT_PLOT_H
#define FPTRAIN_REPORT_ASSIGNMENT_PLOT_H

#include "policies/assignment_settings.h"

/* An SVG file; the title is ours, without mark-up. */
bool assign_plot(const char *path, const char *title, const assignment *a, const assign_settings *s, trouble *why);

#endif
