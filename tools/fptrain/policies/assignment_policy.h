/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_policy.h - training under an assignment: tensors that overflow too much are promoted. */
#ifndef FPTRAIN_POLICIES_ASSIGNMENT_POLICY_H
#define FPTRAIN_POLICIES_ASSIGNMENT_POLICY_H

#include "policies/assignment_settings.h"
#include "policies/policy.h"

/* After every gradient computation each v and w that is low and of whose elements more than a share `threshold` lay
 * outside the range, (clipped + infinite) / elements, goes to high for good, from the next step on. PROMOTE_CODE is the
 * test of the paper's program: overflow / elements >= threshold.
 *
 * text: ratio=R, scheme=NAME, seed=N, groups=0110, promote=on|off|code, threshold=T, hi=SPEC, lo-forward=SPEC,
 * lo-backward=SPEC, rounding=MODE, rounding-v=MODE (w, dv, dw). lines: exceptions; tensors whose name fits a pattern
 * keep its format, and are never low. A role is no pattern there.
 *
 * Its note for the summary: the low-precision ratio at first, at last, and its mean over the ends of the epochs; the
 * model aggregate; how much of the largest aggregate the promotions took; and each promotion, with the step after which
 * it came and the share that lay outside. */
policy *policy_assign(const char *text, int count, const format_line *lines, trouble *why);

typedef struct promoted {
    uint64_t step, which, index; /* the step whose counters decided; role; value or parameter */
    uint64_t outside, elements;
} promoted;

/* Of a policy of assign: every promotion so far, and the assignment of the moment. NULL for other policies. */
const promoted *policy_promotions(const policy *p, size_t *count);
const assignment *policy_assignment(const policy *p);

#endif
