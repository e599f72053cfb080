/* policy.h - which format each tensor has, and how the formats of the next step are decided. */
#ifndef FPTRAIN_POLICY_H
#define FPTRAIN_POLICY_H

#include "numerics/rounder.h"

typedef struct policy policy;
typedef struct policy_type {
    const char *name;
    void (*assign)(policy *p, rounder *r); /* before the first step: fills every rule */
    /* After every gradient computation, a skipped one too; r->seen has its counters. May change rules for the next. */
    void (*after_gradients)(policy *p, rounder *r, uint64_t step);
    void (*after_epoch)(policy *p, rounder *r, int epoch);
    /* State for a checkpoint: bytes that load takes back. */
    size_t (*save)(const policy *p, void *bytes, size_t capacity);
    bool (*load)(policy *p, rounder *r, const void *bytes, size_t length, trouble *why);
    void (*free)(policy *p);
    double (*rate)(const policy *p, double lr); /* the learning rate instead of the schedule's; may be NULL */
    bool (*over)(const policy *p);              /* whether training ends before its last epoch; may be NULL */
} policy_type;
struct optimizer;
struct policy {
    const policy_type *type;
    bool wants_gradients;              /* looks at them by optimizer_gradient, which packed parameters have not */
    const struct optimizer *optimizer; /* set before the first step */
};

/* The rule of a spec ("fp32": left alone) and a rounding mode (NULL: rne); false where a float cannot be rounded so. */
bool rule_parse(rule *l, const char *spec, const char *mode, trouble *why);

/* The fixed policy: formats by role, then by patterns of tensor names, the later one wins; `fp32` leaves alone. A
 * pattern that fits no tensor ends the program when formats are assigned. */
typedef struct format_line {
    const char *pattern; /* "v", "w", "dv", "dw" (a role), or a glob over tensor_name: "conv1.*", "*.bias" */
    const char *spec;    /* as fpemu_format_parse, or "fp32" */
    const char *mode;    /* as fpemu_rounding_parse; NULL: rne */
} format_line;
policy *policy_fixed(int count, const format_line *lines, trouble *why);

#endif
