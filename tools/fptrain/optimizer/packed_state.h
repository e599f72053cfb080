/* SPDX-License-Identifier: BSD-2-Clause */
/* packed_state.h - an optimiser that keeps everything as packed bytes. */
#ifndef FPTRAIN_OPTIMIZER_PACKED_STATE_H
#define FPTRAIN_OPTIMIZER_PACKED_STATE_H

#include "optimizer/state.h"

/* NULL, or false, and a sentence where the formats do not fit. */
optimizer *optimizer_packed(const optimizer_settings *settings, method m, graph *g, rounder *r, trouble *why);
/* What `bytes` and `workspace` would say of one, without making it. */
bool optimizer_packed_memory(const optimizer_settings *settings, method m, graph *g, optimizer_memory *to,
                             trouble *why);

#endif
