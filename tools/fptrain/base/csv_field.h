/* SPDX-License-Identifier: BSD-2-Clause */
/* csv_field.h - text of others as a field of comma-separated values. */
#ifndef FPTRAIN_BASE_CSV_FIELD_H
#define FPTRAIN_BASE_CSV_FIELD_H

#include <stdio.h>

/* In quotes where RFC 4180 wants them. What is no UTF-8 would stop a reader: it becomes '?', and on a
 * terminal so does what drives one. */
void csv_put_field(FILE *out, const char *text);

#endif
