/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - what every call has: operands and results as views, another owner for arrays that are not known here, and
 * the end, where counters are added and statuses become exceptions. */
#include "native.h"

#include <string.h>

PyObject *call_by(PyObject *function, const char *verb, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    PyObject *tuple = PyTuple_New(nargs), *keywords = PyDict_New(), *result = NULL;
    if (tuple && keywords) {
        for (Py_ssize_t i = 0; i < nargs; i++) {
            Py_INCREF(args[i]);
            PyTuple_SetItem(tuple, i, args[i]);
        }
        const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
        int failed = 0;
        for (Py_ssize_t j = 0; j < named; j++)
            failed |= PyDict_SetItem(keywords, PyTuple_GetItem(names, j), args[nargs + j]);
        if (!failed)
            result = verb ? PyObject_CallFunction(function, "sOO", verb, tuple, keywords)
                          : PyObject_Call(function, tuple, keywords);
    }
    Py_XDECREF(tuple);
    Py_XDECREF(keywords);
    return result;
}

PyObject *call_adopter(const char *verb, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    return call_by(python.adopt, verb, args, nargs, names);
}

int wants_gradient(const view *v)
{
    if (v->kind != KIND_TORCH)
        return 0;
    static PyObject *requires_grad;
    if (!requires_grad)
        requires_grad = PyUnicode_InternFromString("requires_grad");
    PyObject *flag = PyObject_GetAttr(v->object, requires_grad);
    const int wanted = flag ? flag == Py_True : -1;
    Py_XDECREF(flag);
    if (wanted != 1 || !python.grad)
        return wanted;
    PyObject *enabled = PyObject_CallFunctionObjArgs(python.grad, NULL);
    const int on = enabled ? enabled == Py_True : -1;
    Py_XDECREF(enabled);
    return on;
}

int operand_view(PyObject *object, const char *name, const view *asked, view *v)
{
    const int found = view_beside(object, name, asked, v);
    if (found <= 0)
        return found;
    if (v->type >= CARRIERS)
        return refuse_type(object, name, WHY_REAL);
    if (v->kind != KIND_TORCH)
        return 1;
    const int gradient = wants_gradient(v);
    return gradient < 0 ? -1 : !gradient && v->device < 0;
}

/* As view_beside; also the memory of subclasses of NumPy's arrays, which Python's side lends. */
static int out_view(PyObject *out, const view *asked, view *y)
{
    int found = view_beside(out, "out", asked, y);
    if (found)
        return found;
    PyObject *memory = PyObject_CallFunctionObjArgs(python.memory, out, NULL);
    found = memory ? view_of(memory, "out", y) : -1;
    Py_XDECREF(memory); /* `out` keeps what it shows alive */
    y->object = out;
    return found;
}

PyObject *result_view(PyObject *out, const view *inputs, int count, carrier type, int dimensions, const int64_t *size,
                      view *y)
{
    if (!out || out == Py_None)
        return array_like(inputs, type, dimensions, size, y);
    const int found = out_view(out, inputs, y);
    if (found == 0)
        PyErr_SetString(PyExc_TypeError, "out is no array that fpemu writes to");
    if (found <= 0)
        return NULL;
    if (y->kind != inputs->kind)
        return PyErr_Format(PyExc_TypeError, "out is of another kind of array than the input");
    const int own = dimensions < 0;
    if (check_out(y, type, inputs->device, own ? inputs->dimensions : dimensions, own ? inputs->size : size))
        return NULL;
    if (wants_gradient(y)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "out requires a gradient: detach() it, or write under torch.no_grad()");
        return NULL;
    }
    for (int i = 0; i < count; i++)
        if (overlap_in_part(&inputs[i], y))
            return raise_status(FPEMU_ERROR_OVERLAP, "out", NULL, NULL);
    Py_INCREF(out);
    return out;
}

PyObject *finish_call(PyObject *made, PyObject *out, const view *y, counting *c, fpemu_status status, const char *verb,
                      const format_object *format, const fpemu_why *why)
{
    int failed = counting_end(c) != 0;
    failed = failed || (out && out != Py_None && array_written(y));
    if (!failed && status) {
        raise_status(status, verb, format, why);
        failed = 1;
    }
    if (!failed)
        return made;
    Py_DECREF(made);
    return NULL;
}

int range_of(PyObject *argument, fpemu_range *range, const fpemu_range **whole)
{
    *whole = NULL;
    if (!argument || argument == Py_None)
        return 0;
    PyObject *content = PyObject_GetAttrString(argument, "_content");
    const int fits = content && PyBytes_Check(content) && (size_t)PyBytes_Size(content) == sizeof *range;
    if (fits)
        memcpy(range, PyBytes_AsString(content), sizeof *range);
    Py_XDECREF(content);
    if (!fits)
        return refuse(PyExc_TypeError, "range is a fpemu.Range, as fpemu.measure makes one, or None");
    *whole = range;
    return 0;
}
