/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.h - warns on stderr of losses that hardly anybody can want, with their counts: negative numbers in a format that
 * has none, tensors of which nearly all became zero, and numbers that overflow to NaN or infinity. */
#ifndef FPEMU_TOOL_LOSS_H
#define FPEMU_TOOL_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/model.h"
#include "fpemu.h"

/* Whether the format, or the element of one with blocks, has no value below zero. */
bool loss_one_sided(const fpemu_format *format);

/* Of the elements that were looked at: those below zero, those other than zero, and finite ones beyond each end. */
typedef struct loss_signs {
    uint64_t negative, nonzero, below, above;
} loss_signs;
void loss_look(loss_signs *signs, const fpemu_format *format, size_t n, bool binary64, const void *x);

/* Past which ends a finite number becomes NaN or infinite. */
typedef struct loss_ends {
    bool below, above;
} loss_ends;
loss_ends loss_find_ends(const fpemu_format *format, const fpemu_rounding *rounding);
/* How many elements did. */
uint64_t loss_overflowed(loss_ends ends, const fpemu_stats *stats, const loss_signs *signs);

/* What several tensors lose. Start from all zero. */
typedef struct loss_count {
    size_t tensors; /* that lose */
    uint64_t lost, elements;
    const tensor *first;
    const char *spec; /* of the format of the first */
} loss_count;
typedef struct loss {
    size_t tensors; /* that were added */
    loss_count below_zero, vanished, overflowed;
    bool told_to; /* overflow as the rounding has it, whatever the format says */
} loss;
/* `spec` and `t` must stay; `stats` counted the elements that `signs` has seen. */
void loss_add(loss *l, const tensor *t, const char *spec, const fpemu_format *format, const fpemu_rounding *rounding,
              const fpemu_stats *stats, const loss_signs *signs);
/* Only those that overflowed. */
void loss_add_overflowed(loss *l, const tensor *t, const char *spec, const fpemu_rounding *rounding, uint64_t lost);
/* At most three lines, which name the command and the format of the first tensor. */
void loss_tell(const loss *l, const char *command);

#endif
