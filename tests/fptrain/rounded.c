/* SPDX-License-Identifier: BSD-2-Clause */
/* rounded.c - a small network with few-bit tensors, against the same steps in integers: what is rounded, when and how
 * often. Values are integers in units of 2^-40; the formats are coarse enough that FP32 is exact on the way.
 *
 *     batch (2, 3, 3) -> conv1 2x2 + bias -> relu1 -+-> conv2 1x1 -> add1 -> linear1 -> loss
 *                                                   +---------------->
 */
#include "harness.h"

enum { N = 3, CLASSES = 3, UNIT = 40 };

typedef int64_t fixed;

/* To p significant bits, a tie to even, but nothing finer than 2^quantum. */
static fixed nearest(fixed x, int p, int quantum)
{
    uint64_t m = (uint64_t)(x < 0 ? -x : x);
    int length = 0;
    while (length < 63 && m >> length)
        length++;
    const int shift = length - p > UNIT + quantum ? length - p : UNIT + quantum;
    const uint64_t unit = (uint64_t)1 << shift, rest = m & (unit - 1);
    m -= rest;
    if (rest > unit / 2 || (rest == unit / 2 && (m & unit)))
        m += unit;
    return x < 0 ? -(fixed)m : (fixed)m;
}

static fixed round_as(role which, fixed x)
{
    return which == ROLE_V ? nearest(x, 4, -7) : nearest(x, 3, which == ROLE_DV ? -10 : -9);
}

static fixed fixed_of(double x)
{
    return (fixed)llrint(ldexp(x, UNIT));
}

static void round_floats(role which, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)ldexp((double)round_as(which, fixed_of((double)x[i])), -UNIT);
}

/* All factors are multiples of 2^-20. */
static fixed times(fixed a, fixed b)
{
    return (a / (1 << 20)) * (b / (1 << 20));
}

/* ---------------------------------------------------------------------------------------------- by integers */

typedef struct worked {
    fixed x[N][2][3][3], w1[2][2][2][2], b1[2], w2[2][2], w3[CLASSES][8], b3[CLASSES];
    fixed c1[N][8], r[N][8], c2[N][8], a[N][8], l[N][CLASSES];
    fixed dl[N][CLASSES], da[N][8], dc2[N][8], dr[N][8], dc1[N][8];
    fixed dw1[2][2][2][2], db1[2], dw2[2][2], dw3[CLASSES][8], db3[CLASSES];
} worked;

static void work_forward(worked *t)
{
    for (int n = 0; n < N; n++) {
        for (int i = 0; i < 18; i++)
            (&t->x[n][0][0][0])[i] = round_as(ROLE_V, (&t->x[n][0][0][0])[i]);
        for (int k = 0; k < 8; k++) { /* (channel, row, column) */
            fixed sum = t->b1[k / 4];
            for (int i = 0; i < 8; i++)
                sum +=
                    times(t->w1[k / 4][i / 4][i / 2 % 2][i % 2], t->x[n][i / 4][k / 2 % 2 + i / 2 % 2][k % 2 + i % 2]);
            t->c1[n][k] = round_as(ROLE_V, sum);
            t->r[n][k] = round_as(ROLE_V, t->c1[n][k] > 0 ? t->c1[n][k] : 0);
        }
        for (int k = 0; k < 8; k++) {
            t->c2[n][k] =
                round_as(ROLE_V, times(t->w2[k / 4][0], t->r[n][k % 4]) + times(t->w2[k / 4][1], t->r[n][4 + k % 4]));
            t->a[n][k] = round_as(ROLE_V, t->r[n][k] + t->c2[n][k]);
        }
        for (int o = 0; o < CLASSES; o++) {
            fixed sum = t->b3[o];
            for (int k = 0; k < 8; k++)
                sum += times(t->w3[o][k], t->a[n][k]);
            t->l[n][o] = round_as(ROLE_V, sum);
        }
    }
}

static void work_loss(worked *t, const int *labels, double scale)
{
    for (int n = 0; n < N; n++) {
        double sum = 0;
        for (int o = 0; o < CLASSES; o++)
            sum += exp(ldexp((double)t->l[n][o], -UNIT));
        for (int o = 0; o < CLASSES; o++) {
            const double share = exp(ldexp((double)t->l[n][o], -UNIT)) / sum;
            t->dl[n][o] = round_as(ROLE_DV, fixed_of(scale * (share - (o == labels[n])) / N));
        }
    }
}

static void work_backward(worked *t, bool each)
{
    for (int n = 0; n < N; n++) {
        for (int k = 0; k < 8; k++) {
            fixed sum = 0;
            for (int o = 0; o < CLASSES; o++)
                sum += times(t->w3[o][k], t->dl[n][o]);
            t->da[n][k] = round_as(ROLE_DV, sum);
            t->dc2[n][k] = round_as(ROLE_DV, t->da[n][k]);
        }
        for (int k = 0; k < 8; k++) {
            const fixed back = times(t->w2[0][k / 4], t->dc2[n][k % 4]) + times(t->w2[1][k / 4], t->dc2[n][4 + k % 4]);
            t->dr[n][k] =
                each ? round_as(ROLE_DV, t->da[n][k]) + round_as(ROLE_DV, back) : round_as(ROLE_DV, t->da[n][k] + back);
            t->dc1[n][k] = t->c1[n][k] > 0 ? round_as(ROLE_DV, t->dr[n][k]) : 0;
        }
    }
}

static void work_weights(worked *t)
{
    for (int n = 0; n < N; n++)
        for (int k = 0; k < 8; k++) {
            t->db1[k / 4] += t->dc1[n][k];
            for (int i = 0; i < 8; i++)
                t->dw1[k / 4][i / 4][i / 2 % 2][i % 2] +=
                    times(t->dc1[n][k], t->x[n][i / 4][k / 2 % 2 + i / 2 % 2][k % 2 + i % 2]);
            t->dw2[k / 4][0] += times(t->dc2[n][k], t->r[n][k % 4]);
            t->dw2[k / 4][1] += times(t->dc2[n][k], t->r[n][4 + k % 4]);
            for (int o = 0; o < CLASSES; o++)
                t->dw3[o][k] += times(t->dl[n][o], t->a[n][k]);
        }
    for (int n = 0; n < N; n++)
        for (int o = 0; o < CLASSES; o++)
            t->db3[o] += t->dl[n][o];
}

/* ---------------------------------------------------------------------------------------------- the comparison */

static void fill(size_t n, fixed *to, float *w, uint64_t seed, int step)
{
    for (size_t i = 0; i < n; i++) {
        const double x = ldexp(rint(sequence(seed, i) * step), -3);
        to[i] = fixed_of(x);
        w[i] = (float)x;
    }
}

static void equal(const char *what, role which, size_t n, const float *got, fixed *want)
{
    for (size_t i = 0; i < n; i++) {
        const fixed w = which == ROLE_DW ? round_as(ROLE_DW, want[i]) : want[i];
        check(fixed_of((double)got[i]) == w, "%s: element %zu is %g, not %g", what, i, (double)got[i],
              ldexp((double)w, -UNIT));
    }
}

static void test(const backend *b, bool each)
{
    static worked t;
    memset(&t, 0, sizeof t);
    graph *g = graph_new(1);
    const int c1 = graph_conv(g, graph_input(g, 2, 3, 3), &(conv_spec){.channels = 2, .kernel = 2, .bias = true});
    const int r = graph_relu(g, c1), c2 = graph_conv(g, r, &(conv_spec){.channels = 2, .kernel = 1});
    const int a = graph_add(g, r, c2), l = graph_linear(g, a, CLASSES, true);
    graph_cross_entropy(g, l);
    graph_finish(g, N, b, 2);
    harness *h = harness_new(g, 0, 1);
    h->rounded = round_floats;
    h->rounds.each = each;
    float x[N * 18];
    static const int labels[N] = {0, 2, 1};
    for (size_t i = 0; i < N * 18; i++) {
        x[i] = (float)(1.9 * sequence(11, i));
        (&t.x[0][0][0][0])[i] = fixed_of((double)x[i]);
    }
    fill(16, &t.w1[0][0][0][0], h->w[0], 21, 6);
    fill(2, t.b1, h->w[1], 22, 3);
    fill(4, &t.w2[0][0], h->w[2], 23, 6);
    fill(24, &t.w3[0][0], h->w[3], 24, 6);
    fill(3, t.b3, h->w[4], 25, 3);
    work_forward(&t);
    work_loss(&t, labels, 16);
    work_backward(&t, each);
    work_weights(&t);
    harness_run(h, N, x, labels, NULL, 16);
    equal("input.v", ROLE_V, N * 18, h->v[0], &t.x[0][0][0][0]);
    equal("conv1.v", ROLE_V, N * 8, h->v[c1], &t.c1[0][0]);
    equal("relu1.v", ROLE_V, N * 8, h->v[r], &t.r[0][0]);
    equal("conv2.v", ROLE_V, N * 8, h->v[c2], &t.c2[0][0]);
    equal("add1.v", ROLE_V, N * 8, h->v[a], &t.a[0][0]);
    equal("linear1.v", ROLE_V, N * CLASSES, h->v[l], &t.l[0][0]);
    equal("linear1.dv", ROLE_DV, N * CLASSES, h->dv[l], &t.dl[0][0]);
    equal("add1.dv", ROLE_DV, N * 8, h->dv[a], &t.da[0][0]);
    equal("conv2.dv", ROLE_DV, N * 8, h->dv[c2], &t.dc2[0][0]);
    equal("relu1.dv", ROLE_DV, N * 8, h->dv[r], &t.dr[0][0]);
    check(h->joined == each, "%d sums of rounded contributions", h->joined);
    equal("conv1.dv", ROLE_DV, N * 8, h->dv[c1], &t.dc1[0][0]);
    equal("conv1.dweight", ROLE_DW, 16, h->dw[0], &t.dw1[0][0][0][0]);
    equal("conv1.dbias", ROLE_DW, 2, h->dw[1], t.db1);
    equal("conv2.dweight", ROLE_DW, 4, h->dw[2], &t.dw2[0][0]);
    equal("linear1.dweight", ROLE_DW, 24, h->dw[3], &t.dw3[0][0]);
    equal("linear1.dbias", ROLE_DW, 3, h->dw[4], t.db3);
    for (int i = 0; i < graph_values(g); i++) {
        check(h->v_calls[i] == 1, "output %d was rounded %d times", i, h->v_calls[i]);
        check(h->dv_calls[i] == (i == 0           ? 0
                                 : i == r && each ? 2
                                                  : 1),
              "gradient %d was rounded %d times", i, h->dv_calls[i]);
    }
    harness_free(h);
}

int main(void)
{
    static const char *const names[] = {"blas", "onednn", "emulated:fp32"};
    for (int i = 0; i < 3; i++) {
        const backend *b = backend_named(names[i], NULL);
        for (int each = 0; each < 2 && b; each++)
            test(b, each);
        backend_free(b);
    }
    return failures();
}
