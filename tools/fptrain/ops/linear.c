/* SPDX-License-Identifier: BSD-2-Clause */
/* linear.c - y = W x + b on every row. */
#include "ops/ops.h"
#include "ops/products.h"

#include <math.h>

static void linear_forward(const pass *p)
{
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, out = (int)y->row;
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_W, p->o->first_param));
    op_gemm(p->g, false, true, rows, out, in, p->x[0], in, p->w[0], in, false, p->y, out);
    if (p->o->params > 1)
        op_add_bias(p->g, (size_t)rows, out, p->w[1], p->y);
}

static void linear_backward(const pass *p)
{
    const value *x = op_in(p, 0), *y = op_out(p);
    const int rows = (int)op_rows(p, y), in = (int)x->row, out = (int)y->row;
    op_products(p, op_step(p, ROLE_V, p->o->input[0]), op_step(p, ROLE_DV, p->o->output));
    op_gemm(p->g, true, false, out, in, rows, p->dy, out, p->x[0], in, false, p->dw[0], in);
    if (p->o->params > 1)
        op_sum_rows(p->g, (size_t)rows, out, p->dy, p->dw[1]);
    op_products(p, op_step(p, ROLE_DV, p->o->output), op_step(p, ROLE_W, p->o->first_param));
    if (p->dx[0])
        op_gemm(p->g, false, false, rows, in, out, p->passed, out, p->w[0], in, false, p->dx[0], in);
}

int graph_linear(graph *g, int x, int outputs, bool bias)
{
    static const op_type type = {
        .type = "linear", .gemm = true, .weighs = true, .forward = linear_forward, .backward = linear_backward};
    op *o = op_new(g, &type, 1, &x, 0);
    const value *v = g->value[x];
    const int y = op_output(g, o, outputs, 1, 1, v->rows_per_sample), dim[2] = {outputs, (int)v->row};
    op_param(g, o, PARAM_WEIGHT, "weight", 2, dim, 0, sqrt(2.0 / (double)v->row));
    if (bias)
        op_param(g, o, PARAM_BIAS, "bias", 1, &outputs, 0, 0);
    o->fan = outputs;
    o->macs = (double)outputs * (double)v->row * v->rows_per_sample;
    return y;
}
