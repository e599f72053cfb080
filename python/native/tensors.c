/* SPDX-License-Identifier: BSD-2-Clause */
/* tensors.c - packed bytes, scales and ranges of whole tensors. */
#include "native.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* x as the library's tensor, through contiguous memory (to be freed) where four strides cannot tell it. */
typedef struct tensor_view {
    fpemu_shape shape;
    const void *data;
    void *memory;
} tensor_view;

static fpemu_status tensor_of_view(const fpemu_format *f, const view *x, int axis, const fpemu_range *whole,
                                   tensor_view *t)
{
    view flat = *x;
    uint64_t sizes[MOST_DIMENSIONS];
    int64_t next = 1;
    for (int d = x->dimensions - 1; d >= 0; d--) {
        flat.stride[d] = next;
        next *= x->size[d];
        sizes[d] = (uint64_t)x->size[d];
    }
    t->memory = NULL;
    t->data = x->data;
    fpemu_status status = FPEMU_OK;
    if (x->contiguous || x->count == 0 || f->scaling == FPEMU_SCALING_NONE ||
        !shape_of_views(f, x, &flat, axis, &t->shape)) {
        const uint64_t one = 1;
        status = x->dimensions ? fpemu_shape_of((size_t)x->dimensions, sizes, axis, &t->shape)
                               : fpemu_shape_of(1, &one, 0, &t->shape);
        if (!x->contiguous && !status) {
            if (!(t->memory = malloc(x->count * x->item)))
                return FPEMU_ERROR_BUFFER;
            gather(x, 0, x->count, t->memory);
            t->data = t->memory;
        }
    }
    t->shape.whole = whole;
    return status;
}

/* The same, and where packed bytes have what. */
static fpemu_status layout_of_view(const fpemu_format *f, const view *x, int axis, const fpemu_range *whole,
                                   tensor_view *t, fpemu_layout *layout)
{
    const fpemu_status status = tensor_of_view(f, x, axis, whole, t);
    return status ? status : fpemu_packed_layout(f, &t->shape, layout);
}

static int sizes_argument(PyObject *sizes, view *v)
{
    return view_of_address(0, CARRIER_F32, sizes, NULL, v);
}

/* pack(x, format, rounding, axis, offset, range, stats): the bytes, as an array of x's kind */
NATIVE_TAKING(pack, 7)
{
    fpemu_prepared own;
    view x, y;
    const int found = operand_view(args[0], "x", NULL, &x);
    if (found <= 0)
        return found ? NULL : call_adopter("pack", args, nargs, names);
    format_object *format = format_of(args[1]);
    rounding_object *rounding = format ? rounding_of(args[2]) : NULL;
    PyObject *made = NULL;
    stats_object *stats;
    tensor_view t = {.memory = NULL};
    fpemu_range range;
    const fpemu_range *whole;
    counting c;
    uint64_t offset = 0;
    int axis;
    if (!rounding || axis_argument(args[3], x.dimensions, &axis) || u64_argument(args[4], "offset", &offset) ||
        range_of(args[5], &range, &whole) || stats_of(args[6], &stats))
        goto end;
    const fpemu_prepared *const call = prepared_of(format, &rounding->value, x.type, FPEMU_USE_PACK, "pack", &own);
    if (!call)
        goto end;
    fpemu_layout layout;
    fpemu_status status = layout_of_view(&format->value, &x, axis, whole, &t, &layout);
    if (status) {
        raise_status(status, "pack", format, NULL);
        goto end;
    }
    const int64_t bytes = (int64_t)layout.bytes;
    if (!(made = array_like(&x, CARRIER_U8, 1, &bytes, &y)))
        goto end;
    const fpemu_place place = place_of(&rounding->value, offset);
    if (counting_begin(&c, stats, 1)) {
        Py_CLEAR(made);
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS status = fpemu_run_tensor(call, &place, &t.shape, t.data, y.data, c.stats);
    Py_END_ALLOW_THREADS made = finish_call(made, NULL, &y, &c, status, "pack", format, NULL);
end:
    free(t.memory);
    Py_XDECREF(format);
    Py_XDECREF(rounding);
    return made;
}

/* unpack(bytes, format, sizes, axis, type, out) */
NATIVE_TAKING(unpack, 6)
{
    fpemu_prepared own;
    view x, y, like;
    uint64_t type = 0;
    int axis;
    const int found = view_of(args[0], "bytes", &x);
    if (found <= 0 || x.device >= 0)
        return found < 0 ? NULL : call_adopter("unpack", args, nargs, names);
    if (sizes_argument(args[2], &like) || axis_argument(args[3], like.dimensions, &axis) ||
        u64_argument(args[4], "dtype", &type))
        return NULL;
    if (type >= CARRIERS || !x.is_code || x.item != 1 || !x.contiguous)
        return PyErr_Format(PyExc_TypeError, "packed bytes are a contiguous array of uint8");
    format_object *format = format_of(args[1]);
    PyObject *made = NULL;
    tensor_view t = {.memory = NULL};
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_prepared *const call =
        format ? prepared_of(format, &nearest, (carrier)type, FPEMU_USE_UNPACK, "unpack", &own) : NULL;
    if (!call)
        goto end;
    fpemu_layout layout;
    fpemu_status status = layout_of_view(&format->value, &like, axis, NULL, &t, &layout);
    if (!status && layout.bytes != x.count) {
        PyErr_Format(PyExc_ValueError, "a tensor of this shape in %R has %llu bytes, not %llu", format,
                     (unsigned long long)layout.bytes, (unsigned long long)x.count);
        goto end;
    }
    if (status) {
        raise_status(status, "unpack", format, NULL);
        goto end;
    }
    made = result_view(args[5], &x, 1, (carrier)type, like.dimensions, like.size, &y);
    if (!made)
        goto end;
    void *to = y.data;
    if (!y.contiguous && !(to = malloc(y.count * y.item))) {
        PyErr_NoMemory();
        Py_CLEAR(made);
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS status = fpemu_run_tensor(call, NULL, &t.shape, x.data, to, NULL);
    if (to != y.data) {
        if (!status || status == FPEMU_ERROR_NAN)
            scatter(&y, 0, y.count, to);
        free(to);
    }
    Py_END_ALLOW_THREADS counting c = {.apart = 0};
    made = finish_call(made, args[5], &y, &c, status, "unpack", format, NULL);
end:
    Py_XDECREF(format);
    return made;
}

/* layout(format, sizes, axis): a dict of fpemu_layout */
NATIVE_TAKING(layout, 3)
{
    view like;
    int axis;
    tensor_view t = {.memory = NULL};
    fpemu_layout l;
    if (sizes_argument(args[1], &like) || axis_argument(args[2], like.dimensions, &axis))
        return NULL;
    format_object *format = format_of(args[0]);
    if (!format)
        return NULL;
    const fpemu_status status = layout_of_view(&format->value, &like, axis, NULL, &t, &l);
    PyObject *result = status
                           ? raise_status(status, "layout", format, NULL)
                           : Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "bytes", l.bytes, "blocks",
                                           l.blocks, "tensor_offset", l.tensor_offset, "tensor_bytes", l.tensor_bytes,
                                           "scales_offset", l.scales_offset, "scale_bytes", l.scale_bytes,
                                           "elements_offset", l.elements_offset, "element_bits", l.element_bits,
                                           "block_elements", l.block_elements, "block_bytes", l.block_bytes);
    Py_DECREF(format);
    return result;
}

/* measure(x, format, range): bytes of fpemu_range, x's elements added to those of `range` */
NATIVE_TAKING(measure, 3)
{
    fpemu_why why;
    view x;
    fpemu_range range;
    const fpemu_range *before;
    const int found = operand_view(args[0], "x", NULL, &x);
    if (found <= 0)
        return found ? NULL : call_adopter("measure", args, nargs, names);
    format_object *format = format_of(args[1]);
    if (!format)
        return NULL;
    memset(&range, 0, sizeof range);
    if (range_of(args[2], &range, &before)) {
        Py_DECREF(format);
        return NULL;
    }
    fpemu_status status = FPEMU_OK;
    Py_BEGIN_ALLOW_THREADS if (x.contiguous) status =
        fpemu_measure(&format->value, type_of(x.type), x.count, x.data, &range);
    else
    {
        uint64_t piece[4096];
        for (uint64_t at = 0, n; at < x.count && !status; at += n) {
            n = x.count - at < 4096 ? x.count - at : 4096;
            gather(&x, at, n, piece);
            status = fpemu_measure(&format->value, type_of(x.type), n, piece, &range);
        }
    }
    Py_END_ALLOW_THREADS const carrier wide = x.type == CARRIER_F64 ? CARRIER_F64 : CARRIER_F32;
    why_refused(status, &format->value, NULL, wide, FPEMU_USE_UNPACK, &why);
    PyObject *result = status ? raise_status(status, "measure", format, &why)
                              : PyBytes_FromStringAndSize((const char *)&range, sizeof range);
    Py_DECREF(format);
    return result;
}

/* swizzle(codes, rows, columns, back): bytes of codes in the order of tensor cores, or back from it */
NATIVE_TAKING(swizzle, 4)
{
    view x, y;
    uint64_t rows = 0, columns = 0;
    const int found = view_of(args[0], "codes", &x);
    if (found <= 0 || x.device >= 0)
        return found < 0 ? NULL : call_adopter("swizzle", args, nargs, names);
    if (u64_argument(args[1], "rows", &rows) || u64_argument(args[2], "columns", &columns))
        return NULL;
    const int back = PyObject_IsTrue(args[3]);
    const uint64_t size = fpemu_swizzled_size(rows, columns);
    if (!x.contiguous || !x.is_code || x.item != 1 || x.count != (back ? size : rows * columns))
        return PyErr_Format(PyExc_ValueError, "the codes are a contiguous array of %llu bytes",
                            (unsigned long long)(back ? size : rows * columns));
    const int64_t count = (int64_t)(back ? rows * columns : size);
    PyObject *made = array_like(&x, CARRIER_U8, 1, &count, &y);
    if (!made)
        return NULL;
    const uint8_t *const from = (const uint8_t *)x.data;
    const fpemu_status status = back ? fpemu_unswizzle_scales(rows, columns, from, (uint8_t *)y.data)
                                     : fpemu_swizzle_scales(rows, columns, from, (uint8_t *)y.data);
    if (!status)
        return made;
    Py_DECREF(made);
    return raise_status(status, "swizzle", NULL, NULL);
}

/* unpack_scales(bytes, format, sizes, axis, type): the blocks' scales, an array of one dimension */
NATIVE_TAKING(unpack_scales, 5)
{
    fpemu_why why;
    view x, y, like;
    uint64_t type = 0;
    int axis;
    const int found = view_of(args[0], "bytes", &x);
    if (found <= 0 || x.device >= 0)
        return found < 0 ? NULL : call_adopter("unpack_scales", args, nargs, names);
    if (sizes_argument(args[2], &like) || axis_argument(args[3], like.dimensions, &axis) ||
        u64_argument(args[4], "dtype", &type))
        return NULL;
    format_object *format = format_of(args[1]);
    if (!format)
        return NULL;
    tensor_view t = {.memory = NULL};
    fpemu_layout layout;
    PyObject *made = NULL;
    fpemu_status status = layout_of_view(&format->value, &like, axis, NULL, &t, &layout);
    if (!status && (type > CARRIER_F64 || !x.is_code || x.item != 1 || !x.contiguous || x.count != layout.bytes))
        status = FPEMU_ERROR_ARGUMENT;
    if (!status) {
        const int64_t blocks = (int64_t)layout.blocks;
        made = array_like(&x, (carrier)type, 1, &blocks, &y);
        if (!made)
            goto end;
        status =
            fpemu_unpack_scales(&format->value, type_of((carrier)type), &t.shape, 0, layout.blocks, x.data, y.data);
    }
    if (status) {
        Py_CLEAR(made);
        raise_status(status, "scales", format,
                     why_refused(status, &format->value, &(fpemu_rounding){0}, (carrier)type, FPEMU_USE_SCALES, &why));
    }
end:
    Py_DECREF(format);
    return made;
}

/* extents(format, sizes, axis): how many elements each block has, a list */
NATIVE_TAKING(extents, 3)
{
    view like;
    int axis;
    tensor_view t = {.memory = NULL};
    fpemu_layout layout;
    if (sizes_argument(args[1], &like) || axis_argument(args[2], like.dimensions, &axis))
        return NULL;
    format_object *format = format_of(args[0]);
    if (!format)
        return NULL;
    fpemu_status status = layout_of_view(&format->value, &like, axis, NULL, &t, &layout);
    PyObject *list = status ? raise_status(status, "extents", format, NULL) : PyList_New(0);
    for (uint64_t block = 0; list && block < layout.blocks; block++) {
        fpemu_extent extent;
        fpemu_packed_extent(&format->value, &t.shape, block, &extent);
        PyObject *elements = PyLong_FromUnsignedLongLong(extent.elements);
        if (!elements || PyList_Append(list, elements))
            Py_CLEAR(list);
        Py_XDECREF(elements);
    }
    Py_DECREF(format);
    return list;
}

/* ---------------------------------------------------------------------------------------- delayed scaling */

/* python/fpemu/_packed.py makes the first state, and reads the range of each. */
FPEMU_STATIC_ASSERT(offsetof(fpemu_delayed, length) == 8 && offsetof(fpemu_delayed, latest) == 20 &&
                        offsetof(fpemu_delayed, range) == 24 && sizeof(fpemu_delayed) == 120,
                    "_packed.py knows a state");

/* delayed_update(state, range): a state is bytes, the struct with the pointer 0 and the history. */
PyObject *native_delayed_update(PyObject *module UNUSED, PyObject *args)
{
    PyObject *before, *seen;
    fpemu_delayed state;
    fpemu_range range;
    const fpemu_range *whole;
    if (!PyArg_ParseTuple(args, "SO", &before, &seen) || range_of(seen, &range, &whole))
        return NULL;
    const size_t size = (size_t)PyBytes_Size(before);
    if (size >= sizeof state)
        memcpy(&state, PyBytes_AsString(before), sizeof state);
    if (!whole || size < sizeof state || size - sizeof state != state.length * sizeof(double))
        return PyErr_Format(PyExc_TypeError, "a range is made by fpemu.measure, and a state by fpemu.Delayed");
    PyObject *bytes = PyBytes_FromStringAndSize(PyBytes_AsString(before), (Py_ssize_t)size);
    if (!bytes)
        return NULL;
    char *const to = PyBytes_AsString(bytes);
    state.history = (double *)(void *)(to + sizeof state); /* Python's bytes are aligned as any allocation is */
    const fpemu_status status = fpemu_delayed_update(&state, &range);
    state.history_word = 0;
    memcpy(to, &state, sizeof state);
    if (!status)
        return bytes;
    Py_DECREF(bytes);
    return raise_status(status, "delayed scaling", NULL, NULL);
}
