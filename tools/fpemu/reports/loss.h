/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.h - what a format takes away from tensors so that hardly anybody can want it: the numbers below zero, where it
 * has none, and nearly all numbers of a tensor. Told in a line on stderr, with how many they are. */
#ifndef FPEMU_TOOL_LOSS_H
#define FPEMU_TOOL_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/model.h"
#include "fpemu.h"

/* Whether the format, or the element of one with blocks, has no value below zero. */
bool loss_one_sided(const fpemu_format *format);

/* Of the elements that were looked at: those below zero, and those other than zero. */
typedef struct loss_signs {
    uint64_t negative, nonzero;
} loss_signs;
void loss_look(loss_signs *signs, size_t n, bool binary64, const void *x);

/* What several tensors lose. Start from all zero. */
typedef struct loss_count {
    size_t tensors; /* that lose */
    uint64_t lost, elements;
    const tensor *first;
    const char *spec; /* of the format of the first */
} loss_count;
typedef struct loss {
    size_t tensors; /* that were added */
    loss_count below_zero, vanished;
} loss;
/* `spec` and `t` must stay; `stats` counted the elements that `signs` has seen. */
void loss_add(loss *l, const tensor *t, const char *spec, const fpemu_format *format, const fpemu_stats *stats,
              const loss_signs *signs);
/* At most two lines, which name the command and the format of the first tensor. */
void loss_tell(const loss *l, const char *command);

#endif
