/* SPDX-License-Identifier: BSD-2-Clause */
/* log_lines.h - the lines of a log, of this and of earlier forms. */
#ifndef FPTRAIN_REPORT_LOG_LINES_H
#define FPTRAIN_REPORT_LOG_LINES_H

#include <jansson.h>

#include "common/trouble.h"

/* An object with a `step` that is no less than 0. `tensors`, where there are any, are objects with name, role and what
 * else is known, whatever the log has: arrays after a first line with names, or such objects, as an older fptrain wrote
 * them and fpemu.torch does. Lives as long as the call. */
typedef void log_line(void *to, json_t *line);

/* Of the log.jsonl of the directory, in their order. A last line without an end is one that is being written, and left
 * out. */
bool log_read(const char *directory, log_line *tell, void *to, trouble *why);

#endif
