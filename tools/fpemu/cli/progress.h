/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.h - a bar on stderr for long work, if stderr is a terminal and the work lasts more than half a second. */
#ifndef FPEMU_TOOL_PROGRESS_H
#define FPEMU_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *label;
    uint64_t total, done; /* total 0: unknown, only the count is shown */
    double started, drawn;
    bool terminal;
} progress;

progress progress_start(const char *label, uint64_t total);
void progress_advance(progress *p, uint64_t steps);
/* Removes the bar, if one is there; call it before anything is printed. Errors do. */
void progress_hide(void);

#endif
