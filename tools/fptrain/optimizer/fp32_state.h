/* SPDX-License-Identifier: BSD-2-Clause */
/* fp32_state.h - an optimiser that keeps everything as arrays of float. */
#ifndef FPTRAIN_OPTIMIZER_FP32_STATE_H
#define FPTRAIN_OPTIMIZER_FP32_STATE_H

#include "optimizer/state.h"

optimizer *optimizer_fp32(const optimizer_settings *settings, method m, graph *g, rounder *r);

#endif
