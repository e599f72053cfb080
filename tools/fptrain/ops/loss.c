/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - softmax and cross-entropy, the mean over the rows. */
#include "engine/op.h"
#include "ops/functions.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

/* Rows whose losses one thread adds up. */
enum { LOSS_ROWS = 16 };

typedef struct row_sums {
    float largest, sum; /* of the exponentials of what is left under the largest */
} row_sums;

static row_sums softmax_row(int n, const float *x)
{
    enum { AT_A_TIME = 64 };
    float e[AT_A_TIME];
    row_sums s = {x[0], 0};
    for (int i = 1; i < n; i++)
        s.largest = x[i] > s.largest ? x[i] : s.largest;
    for (int i = 0; i < n; i += AT_A_TIME) {
        const int here = n - i < AT_A_TIME ? n - i : AT_A_TIME;
        for (int k = 0; k < here; k++)
            e[k] = x[i + k] - s.largest;
        exp_of((size_t)here, e, e);
        for (int k = 0; k < here; k++)
            s.sum += e[k];
    }
    return s;
}

/* The mean of -log p over all classes. */
static double uniform_loss(int n, const float *x, const row_sums *s)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)(x[i] - s->largest);
    return (double)logf(s->sum) - sum / n;
}

static bool is_largest(int n, const float *x, int label)
{
    for (int i = 0; i < n; i++)
        if (i < label ? !(x[i] < x[label]) : !(x[i] <= x[label]))
            return false;
    return true;
}

static void loss_forward(const pass *p)
{
    const value *x = op_in(p, 0);
    const int rows = (int)op_rows(p, x), n = (int)x->row, count = pieces(rows, LOSS_ROWS);
    const double smoothing = p->training ? p->g->smoothing : 0;
    double *sum = need((size_t)count, sizeof *sum);
    size_t correct = 0;
#pragma omp parallel for num_threads(p->g->threads) reduction(+ : correct)
    for (int i = 0; i < count; i++)
        for (int k = 0; k < piece_length(rows, LOSS_ROWS, i); k++) {
            const int r = i * LOSS_ROWS + k, label = p->labels[r];
            const float *row = p->x[0] + (size_t)r * x->row;
            if (label < 0 || label >= n)
                die("label %d of %d classes", label, n);
            const row_sums s = softmax_row(n, row);
            const double plain = (double)(logf(s.sum) - (row[label] - s.largest));
            sum[i] += smoothing > 0 ? (1 - smoothing) * plain + smoothing * uniform_loss(n, row, &s) : plain;
            correct += is_largest(n, row, label);
        }
    double loss = 0;
    for (int i = 0; i < count; i++)
        loss += sum[i];
    free(sum);
    *p->result = (forward_result){loss / rows, correct, (size_t)rows};
}

static void loss_backward(const pass *p)
{
    const value *x = op_in(p, 0);
    const int rows = (int)op_rows(p, x), n = (int)x->row;
    const float scale = (float)p->scale;
    const double smoothing = p->g->smoothing;
    const float other = (float)(smoothing / n), own = (float)(1 - smoothing + smoothing / n);
#pragma omp parallel for num_threads(p->g->threads)
    for (int r = 0; r < rows; r++) {
        const float *row = p->x[0] + (size_t)r * x->row;
        float *dx = p->dx[0] + (size_t)r * x->row;
        const row_sums s = softmax_row(n, row);
        for (int i = 0; i < n; i++)
            dx[i] = row[i] - s.largest;
        exp_of(x->row, dx, dx);
        for (int i = 0; i < n; i++) {
            const float probability = dx[i] / s.sum;
            dx[i] = (probability - (i == p->labels[r] ? own : other)) / (float)rows * scale;
        }
    }
}

void graph_cross_entropy(graph *g, int logits)
{
    static const op_type type = {.type = "cross_entropy", .forward = loss_forward, .backward = loss_backward};
    op_new(g, &type, 1, &logits, 0);
    if (g->value[logits]->producer < 0)
        op_refuse(g, "a loss of the fed batch has nothing to learn");
    g->logits = logits;
    g->loss = g->ops - 1;
}

void graph_smooth_labels(graph *g, double share)
{
    g->smoothing = share;
}
