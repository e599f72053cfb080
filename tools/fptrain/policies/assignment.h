/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment.h - precision assignment by demotion and promotion (Lee et al. 2023): which tensors are low, until when.
 *
 * The tensors of a gradient computation are all v, w, dv and dw of a network, their sizes taken for one full minibatch.
 * The dv of the fed batch counts though nobody computes it; the loss does not, and neither do rearrangements and token
 * numbers, which are never rounded. Every tensor has two formats to choose from, high and low; dw is always high.
 *
 * Groups: the list of operators is cut after each gemm operator. v and dv belong to the group opened by the last gemm
 * at or before their producer, w and dw to the group of the first input of their operator (of a rearrangement: of what
 * it rearranges). So there is one group more than gemm operators, and on a chain a group holds everything after one
 * gemm, up to and including the next.
 */
#ifndef FPTRAIN_POLICIES_ASSIGNMENT_H
#define FPTRAIN_POLICIES_ASSIGNMENT_H

#include "engine/graph.h"
#include "numerics/rule.h"

typedef struct assign_tensor {
    role which;
    int index, group; /* of value or parameter; of the group */
    uint64_t elements;
    bool low;
    const rule *own; /* of an exception: never low; else NULL */
} assign_tensor;

typedef struct assignment {
    graph *g;
    int batch, tensors, groups;
    assign_tensor *tensor;    /* all v, all w, all dv, all dw, each in the order of the network */
    int *at[ROLES];           /* by index of value or parameter: the place in `tensor`; -1: none */
    uint64_t *group_elements; /* with the dw */
    uint64_t elements;
    int *opener;         /* the gemm operator that opened the group; -1: the fed batch */
    int demoted, *order; /* the groups that were demoted, in their order; none but for the schemes by group */
} assignment;

/* Everything high. */
assignment *assignment_new(graph *g, int batch);
void assignment_free(assignment *a);
double assignment_ratio(const assignment *a);                    /* elements in low / elements */
bool assignment_equal(const assignment *a, const assignment *b); /* for one network: the same tensors are low */

/* ------------------------------------------------------------------------------------------------ schemes */

typedef enum scheme {
    SCHEME_FP32,             /* nothing is rounded */
    SCHEME_UNIFORM,          /* all low but dw */
    SCHEME_OP,               /* low: what goes into gemm operators but the first and the last: v, w, dv coming back */
    SCHEME_OP_OUT,           /* and what they put out: v, and the dv of their inputs */
    SCHEME_RATIO,            /* groups in decreasing size (ties: as in the network) until the ratio is reached */
    SCHEME_RATIO_INCREASING, /* in increasing size */
    SCHEME_RATIO_RANDOM,     /* in a random order, by a seed */
    SCHEME_GROUPS,           /* the groups of a set */
    SCHEMES
} scheme;
const char *scheme_name(scheme s);

/* No tensor is low that touches the first or the last gemm operator, under op and op+out. For the test of a ratio, a
 * demoted group counts whole, its dw included: else a ratio of 1 would be out of reach. */
typedef struct assign_choice {
    scheme scheme;
    double ratio; /* 0: all high; 1: all low */
    uint64_t seed;
    uint64_t groups; /* bit i: group i is low; networks of at most 64 groups */
} assign_choice;
bool assignment_choose(assignment *a, const assign_choice *choice, trouble *why);

#endif
