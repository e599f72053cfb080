/* SPDX-License-Identifier: BSD-2-Clause */
/* log_values.h - the log of a run number by number, as it goes into files for other programs.
 *
 * Names are those of log.jsonl. What a line has for itself is called as there (loss, scale, test_accuracy); what stands
 * in `updates`, `clipping` and `sums` has that before it (updates/vanished); the counters of a tensor have its name
 * behind them (underflow/conv1.dv), `zeros` of its histogram too.
 */
#ifndef FPTRAIN_REPORT_LOG_VALUES_H
#define FPTRAIN_REPORT_LOG_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "common/trouble.h"

typedef struct log_value {
    const char *name;          /* underflow/conv1.dv */
    const char *tensor, *role; /* conv1.dv, dv; NULL: of no tensor */
    bool whole;                /* the number is `count`, and `real` is the nearest to it */
    int64_t count;
    double real; /* also infinite, or NaN */
} log_value;

/* How often exponents first, first + 1, ... occurred. */
typedef struct log_histogram {
    const char *name;          /* histogram/conv1.dv, or updates/ratio */
    const char *tensor, *role; /* NULL: of no tensor */
    int64_t first;
    size_t bins;
    const uint64_t *count;
} log_histogram;

typedef struct log_visitor {
    void *to;
    void (*line)(void *to, uint64_t step); /* of a line, before its numbers */
    void (*value)(void *to, const log_value *value);
    void (*histogram)(void *to, const log_histogram *histogram); /* NULL: not asked for */
} log_visitor;

/* Lines in their order. A last line without an end is one that is being written, and left out. */
bool log_visit(const char *directory, const log_visitor *visitor, trouble *why);

#endif
