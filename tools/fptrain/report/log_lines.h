/* SPDX-License-Identifier: BSD-2-Clause */
/* log_lines.h - the lines of a log, as fptrain and as fpemu.torch write them. */
#ifndef FPTRAIN_REPORT_LOG_LINES_H
#define FPTRAIN_REPORT_LOG_LINES_H

#include <jansson.h>

#include "common/trouble.h"

/* A program takes a name as often as a line has numbers of it: longer ones would make a small log a large table. */
enum {
    LOG_COUNTERS = 32,
    LOG_MEMBERS = 64, /* of a tensor that is an object */
    LOG_NAME = 255    /* bytes of the name of a tensor, a role, a counter */
};

/* A line of a log: an object with a `step` that is no less than 0; names: the first line where that names the tensors,
 * else NULL. Both live as long as the call. */
typedef struct log_line {
    json_t *line;
    const json_t *names;
} log_line;

/* Of the log.jsonl of the directory, in their order. A last line without an end is one that is being written, and left
 * out. run: the id in the first line, for free(), or NULL where there is none; NULL: not asked for. */
bool log_read(const char *directory, void (*tell)(void *to, const log_line *line), void *to, char **run, trouble *why);

/* The `tensors` of a line one by one, as objects with name, role and what else is known, whatever the log has: arrays
 * after a first line with names, or such objects, as fpemu.torch writes them. Each lives as long as the call. */
void log_tensors(const log_line *line, void (*tell)(void *to, json_t *tensor), void *to);

#endif
