/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - the comparison as one HTML page without a word from elsewhere. */
#ifndef FPTRAIN_REPORT_PAGE_H
#define FPTRAIN_REPORT_PAGE_H

#include "report/run_data.h"

void page_write(FILE *out, const run *runs, int count);

#endif
