/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.h - the comparison as tables in Markdown. */
#ifndef FPTRAIN_REPORT_TABLES_H
#define FPTRAIN_REPORT_TABLES_H

#include "report/choice.h"
#include "report/group.h"

void tables_write(FILE *out, const groups *g, const report_choice *choice);

#endif
