/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment.c - tensors, groups and schemes: see assignment.h */
#include "policies/assignment.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- tensors and groups */

/* How many gemm operators stand in the list up to and including each operator: the group of what it puts out. */
static int *count_gemms(graph *g)
{
    int *count = need((size_t)graph_ops(g), sizeof *count);
    for (int i = 0, gemms = 0; i < graph_ops(g); i++)
        count[i] = gemms += graph_op(g, i).gemm;
    return count;
}

static int group_of_value(graph *g, const int *gemms, int v)
{
    const int tensor = graph_tensor(g, v);
    const int producer = tensor < 0 ? -1 : graph_value(g, tensor)->producer;
    return producer < 0 ? 0 : gemms[producer];
}

static void add_tensor(assignment *a, role which, int index, int group, uint64_t elements)
{
    a->at[which][index] = a->tensors;
    a->tensor[a->tensors++] = (assign_tensor){.which = which, .index = index, .group = group, .elements = elements};
    a->group_elements[group] += elements;
    a->elements += elements;
}

static void add_values(assignment *a, role which, const int *gemms, int batch)
{
    for (int i = 0; i < graph_values(a->g); i++) {
        const value *v = graph_value(a->g, i);
        a->at[which][i] = -1;
        if (v->is_tensor)
            add_tensor(a, which, i, group_of_value(a->g, gemms, i),
                       (uint64_t)batch * (uint64_t)v->rows_per_sample * v->row);
    }
}

static void add_params(assignment *a, role which, const int *gemms)
{
    for (int i = 0; i < graph_params(a->g); i++) {
        const param *p = graph_param(a->g, i);
        add_tensor(a, which, i, group_of_value(a->g, gemms, graph_op(a->g, p->op).input[0]), p->size);
    }
}

assignment *assignment_new(graph *g, int batch)
{
    assignment *a = need(1, sizeof *a);
    int *gemms = count_gemms(g);
    const int ops = graph_ops(g), most = 2 * (graph_values(g) + graph_params(g));
    a->g = g;
    a->batch = batch;
    a->groups = ops ? gemms[ops - 1] + 1 : 1;
    a->tensor = need((size_t)most, sizeof *a->tensor);
    a->group_elements = need((size_t)a->groups, sizeof *a->group_elements);
    a->order = need((size_t)a->groups, sizeof *a->order);
    a->opener = need((size_t)a->groups, sizeof *a->opener);
    for (int which = 0; which < ROLES; which++) {
        const bool value = which == ROLE_V || which == ROLE_DV;
        a->at[which] = need((size_t)(value ? graph_values(g) : graph_params(g)), sizeof *a->at[which]);
        if (value)
            add_values(a, (role)which, gemms, batch);
        else
            add_params(a, (role)which, gemms);
    }
    a->opener[0] = -1;
    for (int i = 0; i < ops; i++)
        if (graph_op(g, i).gemm)
            a->opener[gemms[i]] = i;
    free(gemms);
    return a;
}

void assignment_free(assignment *a)
{
    if (!a)
        return;
    for (int which = 0; which < ROLES; which++)
        free(a->at[which]);
    free(a->tensor);
    free(a->group_elements);
    free(a->order);
    free(a->opener);
    free(a);
}

double assignment_ratio(const assignment *a)
{
    uint64_t low = 0;
    for (int i = 0; i < a->tensors; i++)
        low += a->tensor[i].low ? a->tensor[i].elements : 0;
    return a->elements ? (double)low / (double)a->elements : 0;
}

bool assignment_equal(const assignment *a, const assignment *b)
{
    if (a->tensors != b->tensors)
        return false;
    for (int i = 0; i < a->tensors; i++)
        if (a->tensor[i].low != b->tensor[i].low)
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------- by group */

static void put_in_list_order(assignment *a)
{
    for (int i = 0; i < a->groups; i++)
        a->order[i] = i;
}

/* By insertion, which keeps the order of equals; there are few groups. */
static void sort_by_size(assignment *a, bool increasing)
{
    for (int i = 1; i < a->groups; i++) {
        const int group = a->order[i];
        const uint64_t size = a->group_elements[group];
        int k = i;
        for (; k > 0; k--) {
            const uint64_t before = a->group_elements[a->order[k - 1]];
            if (increasing ? before <= size : before >= size)
                break;
            a->order[k] = a->order[k - 1];
        }
        a->order[k] = group;
    }
}

/* Fisher and Yates; the remainder of 64 random bits by a few hundred has no bias that could be seen. */
static void shuffle(assignment *a, uint64_t seed)
{
    for (int i = a->groups - 1; i > 0; i--) {
        const int k = (int)(random_u64(seed, FOR_GROUPS, 0, (uint64_t)i) % (uint64_t)(i + 1));
        const int group = a->order[i];
        a->order[i] = a->order[k];
        a->order[k] = group;
    }
}

/* A quotient and a ratio that are the same decimal fraction are the same double, so the comparison is as by hand. */
static void demote_until(assignment *a, double ratio)
{
    uint64_t whole = 0;
    while (a->demoted < a->groups && (double)whole / (double)a->elements < ratio)
        whole += a->group_elements[a->order[a->demoted++]];
}

static void demote_set(assignment *a, uint64_t set)
{
    for (int i = 0; i < a->groups; i++)
        if (set >> i & 1)
            a->order[a->demoted++] = i;
}

static void mark_groups(assignment *a)
{
    bool *low = need((size_t)a->groups, sizeof *low);
    for (int i = 0; i < a->demoted; i++)
        low[a->order[i]] = true;
    for (int i = 0; i < a->tensors; i++)
        a->tensor[i].low = low[a->tensor[i].group] && a->tensor[i].which != ROLE_DW;
    free(low);
}

/* ---------------------------------------------------------------------------------------------- by operator */

static void mark(assignment *a, role which, int index, bool low)
{
    const int at = index < 0 ? -1 : a->at[which][index];
    if (at >= 0)
        a->tensor[at].low = low;
}

static void mark_op(assignment *a, const op_info *o, bool outputs, bool low)
{
    for (int i = 0; i < o->inputs; i++) {
        mark(a, ROLE_V, graph_tensor(a->g, o->input[i]), low);
        if (outputs)
            mark(a, ROLE_DV, graph_tensor(a->g, o->input[i]), low);
    }
    for (int i = 0; i < o->params; i++)
        mark(a, ROLE_W, o->first_param + i, low);
    mark(a, ROLE_DV, o->output, low);
    if (outputs)
        mark(a, ROLE_V, o->output, low);
}

static void mark_gemms(assignment *a, bool outputs)
{
    for (int i = 1; i < a->groups; i++) {
        const op_info o = graph_op(a->g, a->opener[i]);
        mark_op(a, &o, outputs, true);
    }
    const int ends[2] = {1, a->groups - 1};
    for (int i = 0; i < 2 && a->groups > 1; i++) {
        const op_info o = graph_op(a->g, a->opener[ends[i]]);
        mark_op(a, &o, true, false);
    }
}

/* ---------------------------------------------------------------------------------------------- choosing */

const char *scheme_name(scheme s)
{
    static const char *const names[SCHEMES] = {"fp32",  "uniform",          "op",           "op+out",
                                               "ratio", "ratio-increasing", "ratio-random", "groups"};
    return names[s];
}

bool assignment_choose(assignment *a, const assign_choice *choice, trouble *why)
{
    if (choice->scheme == SCHEME_GROUPS && (a->groups > 64 || (a->groups < 64 && choice->groups >> a->groups)))
        return fail(why, "groups are chosen one by one in networks of at most 64; this one has %d", a->groups);
    a->demoted = 0;
    for (int i = 0; i < a->tensors; i++)
        a->tensor[i].low = choice->scheme == SCHEME_UNIFORM && a->tensor[i].which != ROLE_DW;
    put_in_list_order(a);
    switch (choice->scheme) {
    case SCHEME_OP:
    case SCHEME_OP_OUT: mark_gemms(a, choice->scheme == SCHEME_OP_OUT); break;
    case SCHEME_RATIO:
    case SCHEME_RATIO_INCREASING:
        sort_by_size(a, choice->scheme == SCHEME_RATIO_INCREASING);
        demote_until(a, choice->ratio);
        mark_groups(a);
        break;
    case SCHEME_RATIO_RANDOM:
        shuffle(a, choice->seed);
        demote_until(a, choice->ratio);
        mark_groups(a);
        break;
    case SCHEME_GROUPS:
        demote_set(a, choice->groups);
        mark_groups(a);
        break;
    default: break;
    }
    return true;
}
