/* module.c - the table of what fpemu._native offers. */
#include "native.h"

#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* register(name=object, ...): what Python's side lends: classes, and functions for what is rare. */
static PyObject *native_register(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const struct {
        const char *name;
        PyObject **place;
    } table[] = {{"Format", &python.format}, {"Rounding", &python.rounding}, {"Error", &python.error},
                 {"SpecError", &python.spec_error}, {"adopt", &python.adopt}, {"bump", &python.bump},
                 {"grad", &python.grad}};
    (void)module;
    (void)args;
    for (size_t i = 0; keywords && i < sizeof table / sizeof table[0]; i++) {
        PyObject *object = PyDict_GetItemString(keywords, table[i].name);
        if (object) {
            Py_INCREF(object);
            Py_XDECREF(*table[i].place);
            *table[i].place = object;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *native_format(PyObject *module, PyObject *spec)
{
    (void)module;
    return (PyObject *)format_of(spec);
}

static PyObject *native_rounding(PyObject *module, PyObject *text)
{
    (void)module;
    return (PyObject *)rounding_of(text);
}

static PyObject *native_library(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *variants = PyList_New(0);
    const char *name;
    for (unsigned i = 0; variants && (name = fpemu_variant_available(i)); i++) {
        PyObject *text = PyUnicode_FromString(name);
        if (!text || PyList_Append(variants, text))
            Py_CLEAR(variants);
        Py_XDECREF(text);
    }
    return Py_BuildValue("{s:i,s:s,s:N}", "version", fpemu_version(), "variant", fpemu_variant(), "variants", variants);
}

#define FAST(name, text) {#name, (PyCFunction)(void (*)(void))native_##name, METH_FASTCALL | METH_KEYWORDS, text}
static PyMethodDef methods[] = {
    {"register", (PyCFunction)(void (*)(void))native_register, METH_VARARGS | METH_KEYWORDS, NULL},
    {"format", native_format, METH_O, NULL},
    {"rounding", native_rounding, METH_O, NULL},
    {"library", native_library, METH_NOARGS, NULL},
    FAST(quantize, "quantize($module, /, x, format, rounding='rne', *, axis=-1, offset=0, out=None, stats=None, "
                   "range=None)\n--\n\nRounds every element of x to a value of the format.\n"),
    FAST(quantize_raw, NULL),
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "fpemu._native",
                                        "The binding of fpemu to libfpemu; the public names stand in fpemu.", -1,
                                        methods, NULL, NULL, NULL, NULL};

/* A forked child has none of the threads that OpenMP believes in, and would wait for them: it works with one. */
#ifdef _OPENMP
static void after_fork(void)
{
    omp_set_num_threads(1);
}
#endif

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    if (arrays_ready() || objects_ready(module)) {
        Py_DECREF(module);
        return NULL;
    }
#ifdef _OPENMP
    static int handled;
    if (!handled && !pthread_atfork(NULL, NULL, after_fork))
        handled = 1;
#endif
    return module;
}
