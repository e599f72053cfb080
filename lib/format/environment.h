/* SPDX-License-Identifier: BSD-2-Clause */
/* environment.h - the floating-point environment: to the default (nearest, no flushing, no traps), and back. */
#ifndef FPEMU_FORMAT_ENVIRONMENT_H
#define FPEMU_FORMAT_ENVIRONMENT_H

#include <stdint.h>

typedef struct fp_environment {
    uint64_t saved[8];
} fp_environment;

void fpemu_environment_enter(fp_environment *e);
void fpemu_environment_leave(const fp_environment *e);

#endif /* FPEMU_FORMAT_ENVIRONMENT_H */
