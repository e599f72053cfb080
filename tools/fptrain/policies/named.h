/* SPDX-License-Identifier: BSD-2-Clause */
/* named.h - policies by name. */
#ifndef FPTRAIN_POLICIES_NAMED_H
#define FPTRAIN_POLICIES_NAMED_H

#include "policies/policy.h"

/* "fixed", "assign:TEXT" (assignment_policy.h) or "muppet:TEXT" (muppet.h). For fixed, lines of formats are the rules;
 * for assign they are exceptions; muppet takes none. NULL and a sentence on failure. */
policy *policy_named(const char *text, int count, const format_line *lines, trouble *why);

#endif
