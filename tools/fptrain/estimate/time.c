/* SPDX-License-Identifier: BSD-2-Clause */
/* time.c - see time.h */
#include "estimate/time.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

static const char *const unit_names[UNITS] = {"fp32", "fp16", "int8"};

int estimate_unit(int bits)
{
    return !bits || bits > 16 ? UNIT_FP32 : bits > 8 ? UNIT_FP16 : UNIT_INT8;
}

const char *estimate_unit_name(int unit)
{
    return unit_names[unit];
}

/* ---------------------------------------------------------------------------------------------- hardware */

/* A number above 0; `absent` where the key is missing and may be. */
static bool read_number(const json_t *from, const char *key, double absent, double *to)
{
    const json_t *j = json_object_get(from, key);
    *to = j ? json_number_value(j) : absent;
    return j ? json_is_number(j) && *to > 0 && isfinite(*to) : absent >= 0;
}

static bool read_row(const json_t *from, hardware_row *row)
{
    bool good = json_is_object(from) && read_number(from, "m", 0, &row->m) && read_number(from, "n", 0, &row->n) &&
                read_number(from, "k", 0, &row->k) && (row->m > 0) == (row->n > 0) && (row->m > 0) == (row->k > 0);
    for (int unit = 0; unit < UNITS; unit++)
        good = good && read_number(from, unit_names[unit], -1, &row->speed[unit]);
    return good;
}

static bool read_hardware(hardware *h, const json_t *root, const char *path, trouble *why)
{
    const char *name = json_string_value(json_object_get(root, "name"));
    const json_t *rows = json_object_get(root, "rows");
    if (!name || !read_number(root, "bandwidth", -1, &h->bandwidth) || !json_array_size(rows))
        return fail(why, "%s: hardware has a name, a bandwidth in GB/s and rows of throughputs", path);
    snprintf(h->name, sizeof h->name, "%s", name);
    h->rows = need(json_array_size(rows), sizeof *h->rows);
    for (size_t i = 0; i < json_array_size(rows); i++, h->count++)
        if (!read_row(json_array_get(rows, i), &h->rows[i]))
            return fail(why, "%s: row %zu needs fp32, fp16 and int8 above 0, and all of m, n, k or none", path, i + 1);
    return true;
}

/* Takes the root over. */
static bool take_root(hardware *h, json_t *root, const char *path, trouble *why)
{
    const bool good = read_hardware(h, root, path, why);
    json_decref(root);
    if (!good)
        hardware_free(h);
    return good;
}

bool hardware_read(hardware *h, const char *path, trouble *why)
{
    enum { LARGEST = 1 << 20 };
    memset(h, 0, sizeof *h);
    json_t *root = json_read_path(path, LARGEST, why);
    return root && take_root(h, root, path, why);
}

bool hardware_parse(hardware *h, const void *bytes, size_t length, const char *path, trouble *why)
{
    json_error_t error;
    memset(h, 0, sizeof *h);
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    return root ? take_root(h, root, path, why)
                : fail(why, "%s: no JSON: %s, in line %d", path, error.text, error.line);
}

void hardware_free(hardware *h)
{
    free(h->rows);
    memset(h, 0, sizeof *h);
}

/* ---------------------------------------------------------------------------------------------- products */

static double distance(const hardware_row *row, double m, double n, double k)
{
    if (row->m == 0)
        return INFINITY;
    const double a = log(row->m / m), b = log(row->n / n), c = log(row->k / k);
    return a * a + b * b + c * c;
}

static void add_product(step_time *t, const hardware *h, double count, double m, double n, double k)
{
    const hardware_row *best = &h->rows[0];
    for (int i = 1; i < h->count; i++)
        if (distance(&h->rows[i], m, n, k) < distance(best, m, n, k)) /* infinite for a row without a shape */
            best = &h->rows[i];
    for (int unit = 0; unit < UNITS; unit++)
        t->products[unit] += count * m * n * k / (best->speed[unit] * 1e9);
    t->macs += count * m * n * k;
}

/* The product of one operator, forward (m x k by k x n), and both backward ones. */
static void add_operator(step_time *t, graph *g, const hardware *h, const op_info *o, int batch)
{
    const value *x = graph_value(g, o->input[0]), *y = graph_value(g, o->output);
    const double rows = (double)batch * y->rows_per_sample;
    double count = 1, m, n, k;
    if (!strcmp(o->type, "conv")) {
        const param *w = graph_param(g, o->first_param);
        count = (double)x->c / w->dim[1];
        m = w->dim[0] / count;
        k = (double)w->dim[1] * w->dim[2] * w->dim[3];
        n = rows * y->h * y->w;
    } else if (!strcmp(o->type, "linear")) {
        const param *w = graph_param(g, o->first_param);
        m = w->dim[0];
        k = w->dim[1];
        n = rows;
    } else { /* recurrent layers and attention: one square-ish product of as many multiply-adds */
        m = (double)y->row;
        n = rows;
        k = o->macs * batch / (m * n);
    }
    add_product(t, h, count, m, n, k);
    add_product(t, h, count, m, k, n);
    if (x->producer >= 0)
        add_product(t, h, count, k, n, m);
}

step_time estimate_step(graph *g, const hardware *h, int batch)
{
    step_time t = {0};
    for (int i = 0; i < graph_ops(g); i++) {
        const op_info o = graph_op(g, i);
        if (o.gemm && o.output >= 0)
            add_operator(&t, g, h, &o, batch);
    }
    for (int i = 0; i < graph_values(g); i++) {
        const value *v = graph_value(g, i);
        if (v->is_tensor)
            t.elements += (v->producer >= 0 ? 2.0 : 1.0) * batch * v->rows_per_sample * (double)v->row;
    }
    for (int p = 0; p < graph_params(g); p++)
        t.elements += 2.0 * (double)graph_param(g, p)->size;
    t.rounding = 8 * t.elements / (h->bandwidth * 1e9);
    return t;
}
