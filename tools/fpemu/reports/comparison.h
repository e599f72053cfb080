/* SPDX-License-Identifier: BSD-2-Clause */
/* comparison.h - what `fpemu compare` has found, as tables, as JSON and as a plot. */
#ifndef FPEMU_TOOL_COMPARISON_H
#define FPEMU_TOOL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/spec.h"
#include "files/given.h"
#include "fpemu.h"
#include "reports/loss.h"

/* What a format does to a tensor, or to all. */
typedef struct comparison_cell {
    fpemu_stats stats;
    loss_signs signs;
    uint64_t lost; /* numbers that became NaN or infinite, which the error sums leave out */
    double relative_error;
    double bits; /* an element */
    bool packed; /* as 'fpemu pack' stores it; else of the format by itself */
} comparison_cell;

typedef struct comparison_format {
    const char *spec; /* as it was given */
    char text[CLI_SPEC_SIZE];
    fpemu_format plain, format; /* the second with the blocks of given scales, of the last tensor */
    given given;
    comparison_cell total;
} comparison_format;

typedef struct comparison {
    file in;
    fpemu_rounding rounding;
    comparison_format *candidate;
    size_t candidates;
    int axis;
    comparison_cell *cell; /* of tensor i and format k at [i * candidates + k] */
    bool has_threshold, has_limit, percent, all_counters;
    double threshold;            /* dB */
    double limit;                /* bits an element */
    const struct choice *chosen; /* by one of them; or NULL */
} comparison;

void comparison_print(const comparison *j);
void comparison_print_json(const comparison *j);
/* SQNR against bits an element, to an SVG file; with a limit also what choices for each tensor can reach. */
void comparison_plot(const comparison *j, const char *path);

#endif
