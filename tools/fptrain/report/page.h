/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - the comparison as one HTML page without a word from elsewhere. */
#ifndef FPTRAIN_REPORT_PAGE_H
#define FPTRAIN_REPORT_PAGE_H

#include "report/group.h"

/* smooth: as in curves (chart.h). */
void page_write(FILE *out, const groups *g, const run *runs, int count, double smooth);

#endif
