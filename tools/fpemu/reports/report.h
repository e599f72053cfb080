/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - what compare, quantize and pack say about tensors: rows of a table, and JSON. */
#ifndef FPEMU_TOOL_REPORT_H
#define FPEMU_TOOL_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "files/file.h"
#include "fpemu.h"

/* Columns of the longest name among the chosen tensors, at least 6, at most 60. */
int report_name_width(const file *f);
/* "format   bits  SQNR-dB  ..." with the first two columns named so. */
void report_heading(int width, const char *first, const char *second);
/* One row; counts as shares of all with `percent`. The largest relative error is left open (-) for REPORT_NO_ERROR. */
#define REPORT_NO_ERROR (-1.0)
void report_row(int width, const char *first, const char *second, const fpemu_stats *stats, double relative_error,
                bool percent);

/* A second column that holds a format as well, for tables of tensors of several. */
#define REPORT_SECOND_SIZE 300
const char *report_with_format(char text[REPORT_SECOND_SIZE], const char *second, const char *spec, int width);

/* Signal to noise as "31.25", "inf", "-" where there is no signal. */
#define REPORT_DB_SIZE 32
const char *report_db(char text[REPORT_DB_SIZE], double db);

/* Asks for sums, and for the histogram of scales where the format has any that are counted; report_free gives its
 * memory back. Format NULL: several, the sums alone. */
void report_want(fpemu_stats *stats, const fpemu_format *format);
void report_free(fpemu_stats *stats);
/* Adds what `from` counted. A total without a histogram of scales, as of several formats, leaves those of `from` out. */
void report_merge(fpemu_stats *total, const fpemu_stats *from);
/* What was counted block by block, of a format with blocks: as lines of a report; a table; and all counters as JSON,
 * with the histogram of scales from its first bin that is not empty to the last. */
void report_blocks(const fpemu_stats *stats, const fpemu_format *format);
void report_block_heading(int width, const char *first);
void report_block_row(int width, const char *first, const fpemu_stats *stats);
void report_json_stats(json_t *object, const fpemu_stats *stats, const fpemu_format *format);

/* name, dtype and shape of a tensor; and a list of that for the tensors that are not chosen. */
json_t *report_json_tensor(const tensor *t);
json_t *report_json_left_out(const file *f);

#endif
