/* SPDX-License-Identifier: BSD-2-Clause */
/* named.c - policies by name. */
#include "policies/policy.h"

#include <string.h>

#include "policies/assignment_policy.h"

policy *policy_named(const char *text, int count, const format_line *lines, trouble *why)
{
    if (!strcmp(text, "fixed"))
        return policy_fixed(count, lines, why);
    if (!strncmp(text, "assign:", 7))
        return policy_assign(text + 7, count, lines, why);
    if (!strcmp(text, "muppet") || !strncmp(text, "muppet:", 7)) {
        if (!count)
            return policy_muppet(text + 6 + (text[6] == ':'), why);
        fail(why, "[formats] goes with the policies fixed and assign, not with muppet");
        return NULL;
    }
    fail(why, "no policy is called '%s' (fixed, assign:SETTINGS, muppet:SETTINGS)", text);
    return NULL;
}
