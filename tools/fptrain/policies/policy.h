/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.h - which format each tensor has, and how the formats of the next step are decided. */
#ifndef FPTRAIN_POLICIES_POLICY_H
#define FPTRAIN_POLICIES_POLICY_H

#include "numerics/rounder.h"
#include "optimizer/state.h"

typedef struct policy policy;

/* The end of a policy epoch, of a policy that has such. */
typedef struct policy_epoch {
    int64_t policy_epoch;
    int bits;            /* in this policy epoch; 32: FP32 */
    double p, threshold; /* 0: not defined, and left out */
    bool switched;       /* other bits follow */
} policy_epoch;

/* One number of a note, to whoever collects them. */
typedef void policy_tell(void *to, const char *key, double value);

typedef struct policy_type {
    const char *name;
    void (*assign)(policy *p, rounder *r); /* before the first step: fills every rule */
    /* After every gradient computation, a skipped one too; r->seen has its counters. May change rules for the next. */
    void (*after_gradients)(policy *p, rounder *r, uint64_t step);
    /* After every update of the weights; may be NULL. Without a master copy r->seen then has of each parameter what the
     * update's rounding did. */
    void (*after_update)(policy *p, rounder *r, uint64_t step);
    void (*after_epoch)(policy *p, rounder *r, int epoch);
    /* State for a checkpoint: bytes that load takes back. */
    size_t (*save)(const policy *p, void *bytes, size_t capacity);
    bool (*load)(policy *p, rounder *r, const void *bytes, size_t length, trouble *why);
    void (*free)(policy *p);
    double (*rate)(const policy *p, double lr); /* the learning rate instead of the schedule's; may be NULL */
    bool (*over)(const policy *p);              /* whether training ends before its last epoch; may be NULL */
    /* May be NULL: numbers for the summary of a run. */
    void (*note)(const policy *p, policy_tell *tell, void *to);
    /* May be NULL: how many policy epochs are over, and number j of them, for the log. */
    int64_t (*epochs)(const policy *p);
    policy_epoch (*epoch)(const policy *p, int64_t j);
} policy_type;
struct policy {
    const policy_type *type;
    bool wants_gradients;       /* looks at them by gradient of the optimiser, which packed parameters have not */
    const optimizer *optimizer; /* set before the first step */
};

/* A line of formats. */
typedef struct format_line {
    const char *pattern; /* "v", "w", "dv", "dw" (a role), or a glob over tensor_name: "conv1.*", "*.bias" */
    const char *spec;    /* as fpemu_format_parse, or "fp32" */
    const char *mode;    /* as fpemu_rounding_parse; NULL: rne */
} format_line;

/* "fixed", "assign:TEXT" (assignment_policy.h) or "muppet:TEXT" (muppet.h). For fixed, lines of formats are the rules;
 * for assign they are exceptions; muppet takes none. NULL and a sentence on failure. */
policy *policy_named(const char *text, int count, const format_line *lines, trouble *why);

/* Formats by role, then by patterns of tensor names. The later line wins; `fp32` leaves alone. A pattern that fits no tensor ends the program when formats are
 * assigned. */
policy *policy_fixed(int count, const format_line *lines, trouble *why);

/* The line that decides about a tensor; NULL: none does. */
const format_line *format_line_of(int count, const format_line *lines, const char *role, const char *name);

/* The word length of every tensor under MuPPET, and the learning rate that goes with it. text: as muppet_read. Its note for the summary: after which policy epochs the word length grew. */
policy *policy_muppet(const char *text, trouble *why);

#endif
