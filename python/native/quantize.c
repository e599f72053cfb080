/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - quantising arrays of any strides: their dimensions are told to the library as the four of its tensors,
 * and where these do not suffice, slice by slice, or through contiguous memory. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Neighbouring dimensions of x and y that can be walked as one. */
typedef struct group {
    uint64_t size;
    int64_t x, y;
} group;

/* Dimensions first .. end-1 as few groups; sizes of 1 vanish. Returns their number. */
static int join_dimensions(const view *x, const view *y, int first, int end, group *g)
{
    int n = 0;
    for (int d = first; d < end; d++) {
        const uint64_t size = (uint64_t)x->size[d];
        if (size == 1)
            continue;
        if (n && g[n - 1].x == x->stride[d] * (int64_t)size && g[n - 1].y == y->stride[d] * (int64_t)size) {
            g[n - 1].size *= size;
            g[n - 1].x = x->stride[d];
            g[n - 1].y = y->stride[d];
        } else {
            g[n].size = size;
            g[n].x = x->stride[d];
            g[n].y = y->stride[d];
            n++;
        }
    }
    return n;
}

static void set_dimension(fpemu_shape *shape, int i, const group *g)
{
    uint64_t *const size[] = {&shape->outer, &shape->rows, &shape->length, &shape->inner};
    *size[i] = g->size;
    shape->x_stride[i] = g->x;
    shape->y_stride[i] = g->y;
}

/* All strides 0 mean contiguous to the library. One that is never used says that they are meant. 0 where there is
 * none. */
static int strides_are_told(fpemu_shape *s)
{
    const uint64_t size[] = {s->outer, s->rows, s->length, s->inner};
    int x = 0, y = 0;
    for (int i = 0; i < 4; i++) {
        if (size[i] == 1)
            s->x_stride[i] = s->y_stride[i] = 1;
        x |= s->x_stride[i] != 0;
        y |= s->y_stride[i] != 0;
    }
    return x && y;
}

int shape_of_views(const fpemu_format *format, const view *x, const view *y, int axis, fpemu_shape *shape)
{
    group g[MOST_DIMENSIONS];
    memset(shape, 0, sizeof *shape);
    shape->outer = shape->rows = shape->length = shape->inner = 1;
    if (!format->scaling) {
        const int n = join_dimensions(x, y, 0, x->dimensions, g);
        if (n > 4)
            return 0;
        /* the last along `length`, unless all four are needed */
        for (int i = 0; i < n; i++)
            set_dimension(shape, n == 4 ? i : 3 - n + i, &g[i]);
        return strides_are_told(shape);
    }
    if (x->dimensions == 0)
        return strides_are_told(shape);
    const int tile = format->block == FPEMU_BLOCK_TILE && axis > 0;
    const int before = join_dimensions(x, y, 0, axis - tile, g);
    if (before > (tile || format->block == FPEMU_BLOCK_TILE ? 1 : 2))
        return 0;
    for (int i = 0; i < before; i++)
        set_dimension(shape, i, &g[i]);
    const group along = {(uint64_t)x->size[axis], x->stride[axis], y->stride[axis]};
    set_dimension(shape, 2, &along);
    if (tile) {
        const group rows = {(uint64_t)x->size[axis - 1], x->stride[axis - 1], y->stride[axis - 1]};
        set_dimension(shape, 1, &rows);
    }
    const int after = join_dimensions(x, y, axis + 1, x->dimensions, g);
    if (after > 1)
        return 0;
    if (after)
        set_dimension(shape, 3, g);
    return strides_are_told(shape);
}

/* A scalar format, dimensions that four strides cannot tell: the first is taken apart. Without sums, whose order does
 * not survive cuts at other places than multiples of 4096. */
static fpemu_status slice_by_slice(const fpemu_prepared *call, const fpemu_format *f, const fpemu_place *place,
                                   const view *x, const view *y, fpemu_stats *stats)
{
    fpemu_shape shape;
    if (shape_of_views(f, x, y, 0, &shape))
        return fpemu_run_tensor(call, place, &shape, x->data, y->data, stats);
    view xs = *x, ys = *y;
    fpemu_place moved = *place;
    const int64_t size = x->size[0];
    xs.dimensions = ys.dimensions = x->dimensions - 1;
    memmove(xs.size, x->size + 1, sizeof xs.size - sizeof xs.size[0]);
    memmove(xs.stride, x->stride + 1, sizeof xs.stride - sizeof xs.stride[0]);
    memcpy(ys.size, xs.size, sizeof ys.size);
    memmove(ys.stride, y->stride + 1, sizeof ys.stride - sizeof ys.stride[0]);
    xs.count = ys.count = x->count / (uint64_t)size;
    fpemu_status worst = FPEMU_OK;
    for (int64_t i = 0; i < size; i++) {
        const fpemu_status status = slice_by_slice(call, f, &moved, &xs, &ys, stats);
        if (status && status != FPEMU_ERROR_NAN)
            return status;
        worst = status ? status : worst;
        xs.data += x->stride[0] * (int64_t)x->item;
        ys.data += y->stride[0] * (int64_t)y->item;
        moved.offset += xs.count;
    }
    return worst;
}

/* A contiguous view of the same sizes. */
static void make_contiguous(view *v, char *data)
{
    int64_t next = 1;
    for (int d = v->dimensions - 1; d >= 0; d--) {
        v->stride[d] = next;
        next *= v->size[d];
    }
    v->data = data;
    v->contiguous = 1;
}

/* Through contiguous memory: dimensions that four strides cannot tell, of formats with blocks or where sums are wanted.
 */
static fpemu_status through_memory(const fpemu_prepared *call, const fpemu_format *f, const fpemu_place *place,
                                   const view *x, const view *y, int axis, const fpemu_range *whole,
                                   const fpemu_given *given, fpemu_stats *stats)
{
    char *const memory = malloc(x->count * x->item);
    if (!memory)
        return FPEMU_ERROR_BUFFER;
    view held = *x;
    make_contiguous(&held, memory);
    gather(x, 0, x->count, memory);
    const fpemu_status status = quantize_views(call, f, place, &held, &held, axis, whole, given, stats);
    if (!status || status == FPEMU_ERROR_NAN)
        scatter(y, 0, y->count, memory);
    free(memory);
    return status;
}

fpemu_status quantize_views(const fpemu_prepared *call, const fpemu_format *f, const fpemu_place *place, const view *x,
                            const view *y, int axis, const fpemu_range *whole, const fpemu_given *given,
                            fpemu_stats *stats)
{
    fpemu_shape shape;
    if (x->count == 0)
        return FPEMU_OK;
    if (x->contiguous && y->contiguous && (!f->scaling || x->dimensions <= 1) && !whole && !given)
        return fpemu_run(call, place, x->count, x->data, y->data, stats);
    if (shape_of_views(f, x, y, axis, &shape)) {
        shape.whole = whole;
        shape.given = given;
        return fpemu_run_tensor(call, place, &shape, x->data, y->data, stats);
    }
    return f->scaling || (stats && stats->request.want & FPEMU_STATS_SUMS)
               ? through_memory(call, f, place, x, y, axis, whole, given, stats)
               : slice_by_slice(call, f, place, x, y, stats);
}

/* ----------------------------------------------------------------------------------------------- from Python */

/* What _given.py made of scales, zero points and words: one a block, and one for each place of the layout. */
typedef struct own_arrays {
    fpemu_given given;
    fpemu_rounding rounding; /* words = NULL: the caller's own rounding serves */
} own_arrays;

/* Bytes of the caller's, or None: NULL. */
static const void *bytes_or_none(PyObject *o)
{
    return o == Py_None ? NULL : PyBytes_AsString(o); /* as aligned as any allocation */
}

static int own_arrays_of(PyObject *argument, const fpemu_rounding *r, uint64_t offset, uint64_t count, own_arrays *own)
{
    PyObject *scales, *zeros, *words;
    int order, layout;
    memset(own, 0, sizeof *own);
    if (!argument || argument == Py_None)
        return 0;
    if (!PyArg_ParseTuple(argument, "OOifOi", &scales, &zeros, &order, &own->given.tensor, &words, &layout))
        return -1;
    own->given.scales = bytes_or_none(scales);
    own->given.zeros = bytes_or_none(zeros);
    own->given.order = (uint8_t)order;
    own->rounding = *r;
    own->rounding.words = bytes_or_none(words);
    own->rounding.generator = FPEMU_GENERATOR_WORDS;
    own->rounding.layout = (uint8_t)layout;
    if (PyErr_Occurred())
        return -1;
    const uint64_t held = own->rounding.words ? (uint64_t)PyBytes_Size(words) / 4 : 0;
    const uint64_t first = offset + r->offset;
    const int past_end = first < offset || first + (count - 1) < first; /* of the numbers of 64 bits */
    const uint64_t last = past_end ? UINT64_MAX : first + count - 1;
    if (own->rounding.words && count && last >> layout >= held)
        return refuse(PyExc_ValueError, "%llu random words are too few: the elements reach word %llu, counted from 0",
                      (unsigned long long)held, (unsigned long long)(last >> layout));
    return 0;
}

/* a: x, format, rounding, axis, offset, out, stats, range, what own_arrays_of takes; args, names: the call itself. */
static PyObject *run_quantize(const char *verb, PyObject *const *a, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *names)
{
    PyObject *made = NULL;
    view x, y;
    const int found = operand_view(a[0], "x", NULL, &x);
    if (found <= 0)
        return found ? NULL : call_adopter(verb, args, nargs, names);
    PyObject *const out = a[5] && a[5] != Py_None ? a[5] : NULL;
    format_object *format = format_of(a[1]);
    rounding_object *rounding = format ? rounding_of(a[2]) : NULL;
    stats_object *stats = NULL;
    fpemu_prepared own;
    fpemu_range range;
    const fpemu_range *whole = NULL;
    own_arrays given;
    uint64_t offset = 0;
    int axis = -1;
    if (!rounding || stats_of(a[6], &stats) || u64_argument(a[4], "offset", &offset) ||
        axis_argument(a[3], x.dimensions, &axis) || range_of(a[7], &range, &whole))
        goto end;
    if (own_arrays_of(a[8], &rounding->value, offset, x.count, &given))
        goto end;
    const fpemu_prepared *const call =
        given.rounding.words ? prepared_apart(format, &given.rounding, x.type, FPEMU_USE_QUANTIZE, "quantize", &own)
                             : prepared_of(format, &rounding->value, x.type, FPEMU_USE_QUANTIZE, "quantize", &own);
    if (!call || !(made = result_view(out, &x, 1, x.type, -1, NULL, &y)))
        goto end;
    const fpemu_place place = place_of(&rounding->value, offset);
    counting c;
    if (counting_begin(&c, stats, x.count > ELEMENTS_WITH_LOCK)) {
        Py_CLEAR(made);
        goto end;
    }
    PyThreadState *const state = x.count > ELEMENTS_WITH_LOCK ? PyEval_SaveThread() : NULL;
    const fpemu_status status = quantize_views(call, &format->value, &place, &x, &y, axis, whole,
                                               given.given.scales ? &given.given : NULL, c.stats);
    if (state)
        PyEval_RestoreThread(state);
    made = finish_call(made, out, &y, &c, status, "quantize", format, NULL);
end:
    Py_XDECREF(format);
    Py_XDECREF(rounding);
    return made;
}

NATIVE_TAKING(quantize_given, 9)
{
    return run_quantize("quantize_given", args, args, nargs, names);
}

NATIVE(quantize)
{
    static const parameters p = {"quantize",
                                 15,
                                 3,
                                 2,
                                 {"x", "format", "rounding", "axis", "offset", "out", "stats", "range", "scale", "zero",
                                  "zero_order", "reciprocal", "tensor_scale", "words", "layout"}};
    PyObject *a[15];
    if (parse_arguments(&p, args, nargs, names, a))
        return NULL;
    for (int i = 8; i < 15; i++)
        if (a[i])
            return call_by(python.given, NULL, args, nargs, names);
    return run_quantize("quantize", a, args, nargs, names); /* a[8] is NULL: the caller has told no scales */
}
