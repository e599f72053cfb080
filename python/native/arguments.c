/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c - what was passed, by place and by name; and exceptions for statuses of the library. */
#include "native.h"

#include <string.h>

int refuse(PyObject *exception, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyErr_FormatV(exception, format, values);
    va_end(values);
    return -1;
}

int parse_arguments(const parameters *p, PyObject *const *args, Py_ssize_t positional, PyObject *names,
                    PyObject **value)
{
    if (positional > p->positional)
        return refuse(PyExc_TypeError, "%s() takes at most %d arguments by place, %zd were given", p->function,
                      p->positional, positional);
    for (int i = 0; i < p->count; i++)
        value[i] = i < positional ? args[i] : NULL;
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t j = 0; j < named; j++) {
        PyObject *name = PyTuple_GetItem(names, j);
        int i = 0;
        while (i < p->count && PyUnicode_CompareWithASCIIString(name, p->name[i]) != 0)
            i++;
        if (i == p->count || value[i])
            return refuse(PyExc_TypeError, i == p->count ? "%s() has no argument %R" : "%s() got %R twice", p->function,
                          name);
        value[i] = args[positional + j];
    }
    for (int i = 0; i < p->required; i++)
        if (!value[i])
            return refuse(PyExc_TypeError, "%s() needs the argument '%s'", p->function, p->name[i]);
    return 0;
}

/* As Python's integer; for what is none an error that tells which argument it is, and what it should be. */
static PyObject *index_argument(PyObject *object, const char *name, const char *what)
{
    PyObject *integer = PyNumber_Index(object);
    if (!integer && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s is %s, not %R", name, what, object);
    return integer;
}

int u64_argument(PyObject *object, const char *name, uint64_t *value)
{
    if (!object || object == Py_None)
        return 0;
    PyObject *integer = index_argument(object, name, "an integer from 0 to 2**64 - 1");
    if (!integer)
        return -1;
    *value = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    if (*value == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        return refuse(PyExc_ValueError, "%s is an integer from 0 to 2**64 - 1, not %R", name, object);
    }
    return 0;
}

int number_argument(PyObject *object, const char *name, double *value)
{
    *value = PyFloat_AsDouble(object);
    const int failed = *value == -1 && PyErr_Occurred();
    if (failed && PyErr_ExceptionMatches(PyExc_TypeError))
        return refuse(PyExc_TypeError, "%s is a number, not of %R", name, (PyObject *)Py_TYPE(object));
    if (!PyIndex_Check(object)) /* no integer, of Python or NumPy */
        return failed ? -1 : 0;
    if (failed && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyErr_Clear();
    PyObject *held = failed ? NULL : PyFloat_FromDouble(*value), *whole = held ? PyNumber_Index(object) : NULL;
    if (!failed && !whole) {
        const int none = held && PyErr_ExceptionMatches(PyExc_TypeError); /* an array of one real number */
        Py_XDECREF(held);
        if (none)
            PyErr_Clear();
        return none ? 0 : -1;
    }
    const int same = held && PyObject_RichCompareBool(held, whole, Py_EQ) == 1; /* of exact values */
    Py_XDECREF(held);
    Py_XDECREF(whole);
    if (same)
        return 0;
    return refuse(PyExc_ValueError,
                  "%s is an integer that float64 does not hold, and would be rounded twice: pass a float", name);
}

int axis_argument(PyObject *argument, int dimensions, int *axis)
{
    long value = -1;
    int past = 0; /* the ends of long */
    if (argument && argument != Py_None) {
        PyObject *integer = index_argument(argument, "axis", "an integer");
        value = integer ? PyLong_AsLongAndOverflow(integer, &past) : 0;
        Py_XDECREF(integer);
        if (PyErr_Occurred())
            return -1;
    }
    const int n = dimensions ? dimensions : 1;
    if (past || value < -n || value >= n)
        return refuse(PyExc_ValueError, "there is no axis %S in an array of %d dimension%s", argument, dimensions,
                      dimensions == 1 ? "" : "s");
    *axis = (int)(value < 0 ? value + n : value);
    return 0;
}

const char *text_argument(const char *noun, PyObject *text)
{
    Py_ssize_t length;
    const char *const utf8 = PyUnicode_AsUTF8AndSize(text, &length);
    if (utf8 && strlen(utf8) == (size_t)length)
        return utf8;
    if (!utf8 && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return NULL;
    PyErr_Clear();
    fpemu_parse_error error;
    memset(&error, 0, sizeof error);
    for (Py_ssize_t i = 0; i < PyUnicode_GetLength(text); i++) {
        const Py_UCS4 c = PyUnicode_ReadChar(text, i);
        if (c == 0 || (c >= 0xd800 && c < 0xe000)) {
            strcpy(error.message, c ? "found a lone surrogate" : "found a zero character");
            break;
        }
        error.position += c < 0x80 ? 1u : c < 0x800 ? 2u : c < 0x10000 ? 3u : 4u;
    }
    raise_spec(noun, text, &error);
    return NULL;
}

/* Raises an exception of a class with arguments, a tuple; NULL: one is set already. Returns NULL. */
static PyObject *raise_of(PyObject *class, PyObject *arguments)
{
    if (arguments)
        PyErr_SetObject(class, arguments);
    Py_XDECREF(arguments);
    return NULL;
}

PyObject *raise_spec(const char *noun, PyObject *text, const fpemu_parse_error *error)
{
    PyObject *message = PyUnicode_FromFormat("%s %R: %s (at position %u)", noun, text, error->message, error->position);
    return raise_of(python.spec_error, Py_BuildValue("(NOsI)", message, text, error->message, error->position));
}

const fpemu_why *why_refused(fpemu_status status, const fpemu_format *f, const fpemu_rounding *r, carrier type, int use,
                             fpemu_why *why)
{
    if (!status)
        return NULL;
    fpemu_check_use(f, r, type_of(type), use, why);
    return why;
}

PyObject *raise_status(fpemu_status status, const char *what, const format_object *format, const fpemu_why *why)
{
    const int reads_neighbours = status == FPEMU_ERROR_OVERLAP && format && FPEMU_CORRECTED(&format->value);
    const char *const text = reads_neighbours ? "neighbouring blocks of this format share numbers: out is another array"
                             : why && why->argument ? why->message
                                                    : fpemu_status_text(status);
    PyObject *message = format && format->spec ? PyUnicode_FromFormat("%s: %s (format %U)", what, text, format->spec)
                                               : PyUnicode_FromFormat("%s: %s", what, text);
    return raise_of(python.error, Py_BuildValue("(Ni)", message, (int)status));
}

int takes(const char *function, Py_ssize_t given, Py_ssize_t wanted, PyObject *names)
{
    if (given == wanted && !names)
        return 0;
    return refuse(PyExc_TypeError, "_native.%s() takes %zd arguments by place", function, wanted);
}
