/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_settings.h - what a text says about an assignment, and the formats that follow from it. */
#ifndef FPTRAIN_POLICIES_ASSIGNMENT_SETTINGS_H
#define FPTRAIN_POLICIES_ASSIGNMENT_SETTINGS_H

#include "policies/assignment.h"

typedef enum promotion { PROMOTE_OFF, PROMOTE_ON, PROMOTE_CODE } promotion;

/* Everything that a text can say; assign_defaults is the paper's. Tell it by assign_set, then call assign_complete. */
typedef struct assign_settings {
    assign_choice choice;
    int group_count; /* of the digits of groups=...; 0: not given */
    promotion promote;
    double threshold;
    char spec[3][256]; /* hi, lo-forward, lo-backward */
    char rounding[ROLES][64];
    rule high[ROLES], low[ROLES]; /* low[ROLE_DW] is high[ROLE_DW] */
} assign_settings;

assign_settings assign_defaults(void);
/* One of the keys of policy_assign. */
bool assign_set(assign_settings *s, const char *key, const char *value, trouble *why);
/* key=value,... with commas outside of parentheses; a word alone is a scheme. */
bool assign_read(assign_settings *s, const char *text, trouble *why);
bool assign_complete(assign_settings *s, trouble *why);

const rule *assign_rule(const assign_settings *s, const assign_tensor *t);
/* The model aggregate: bits of all tensors. */
double assignment_bits(const assignment *a, const assign_settings *s);

#endif
