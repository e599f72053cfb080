/* SPDX-License-Identifier: BSD-2-Clause */
/* fixed.h - the fixed policy: formats by role, then by patterns of tensor names. */
#ifndef FPTRAIN_POLICIES_FIXED_H
#define FPTRAIN_POLICIES_FIXED_H

#include "policies/policy.h"

/* The later line wins; `fp32` leaves alone. A pattern that fits no tensor ends the program when formats are
 * assigned. */
policy *policy_fixed(int count, const format_line *lines, trouble *why);

/* The line that decides about a tensor; NULL: none does. */
const format_line *format_line_of(int count, const format_line *lines, const char *role, const char *name);

#endif
