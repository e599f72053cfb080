/* SPDX-License-Identifier: BSD-2-Clause */
/* module.c - the table of what fpemu._native offers. */
#include "native.h"

#include <fpemu_cuda.h>

/* register(name=object, ...): what Python's side lends: classes, and functions for what is rare. */
static PyObject *native_register(PyObject *module UNUSED, PyObject *args UNUSED, PyObject *keywords)
{
    static const struct {
        const char *name;
        PyObject **place;
    } table[] = {{"Format", &python.format}, {"Rounding", &python.rounding},
                 {"Error", &python.error},   {"SpecError", &python.spec_error},
                 {"adopt", &python.adopt},   {"memory", &python.memory},
                 {"bump", &python.bump},     {"grad", &python.grad},
                 {"given", &python.given}};
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

static PyObject *native_format(PyObject *module UNUSED, PyObject *spec)
{
    return (PyObject *)format_of(spec);
}

static PyObject *native_rounding(PyObject *module UNUSED, PyObject *text)
{
    return (PyObject *)rounding_of(text);
}

static PyObject *list_of(const char *(*name)(unsigned), unsigned first, unsigned end)
{
    PyObject *list = PyList_New(0);
    for (unsigned i = first; list && i < end && name(i); i++) {
        PyObject *text = PyUnicode_FromString(name(i));
        if (!text || PyList_Append(list, text))
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *native_library(PyObject *module UNUSED, PyObject *unused UNUSED)
{
    return Py_BuildValue("{s:i,s:s,s:N}", "version", fpemu_version(), "variant", fpemu_variant(), "variants",
                         list_of(fpemu_variant_available, 0, UINT_MAX));
}

static const char *function_name(unsigned i)
{
    return fpemu_function_name((fpemu_function)i);
}

static const char *format_name(unsigned i)
{
    return fpemu_format_name((fpemu_name)i, 0);
}

static PyObject *native_functions(PyObject *module UNUSED, PyObject *unused UNUSED)
{
    return list_of(function_name, 0, FPEMU_FUNCTION_COUNT);
}

static PyObject *native_names(PyObject *module UNUSED, PyObject *unused UNUSED)
{
    return list_of(format_name, 1, FPEMU_NAME_COUNT);
}

/* random_word(generator, seed, stream, j) */
static PyObject *native_random_word(PyObject *module UNUSED, PyObject *args)
{
    int generator;
    PyObject *words[3];
    uint64_t seed = 0, stream = 0, j = 0;
    if (!PyArg_ParseTuple(args, "iOOO", &generator, &words[0], &words[1], &words[2]) ||
        u64_argument(words[0], "seed", &seed) || u64_argument(words[1], "stream", &stream) ||
        u64_argument(words[2], "j", &j))
        return NULL;
    return PyLong_FromUnsignedLong(fpemu_random_word((fpemu_generator)generator, seed, stream, j));
}

#define FAST(name, text) {#name, (PyCFunction)(void (*)(void))native_##name, METH_FASTCALL | METH_KEYWORDS, text}
#define FAST_PLAIN(name) FAST(name, NULL)
static PyMethodDef methods[] = {
    {"register", (PyCFunction)(void (*)(void))native_register, METH_VARARGS | METH_KEYWORDS, NULL},
    {"format", native_format, METH_O, NULL},
    {"rounding", native_rounding, METH_O, NULL},
    {"watched", native_watched, METH_NOARGS, NULL},
    {"unwatched", (PyCFunction)(void (*)(void))native_unwatched, METH_VARARGS | METH_KEYWORDS, NULL},
    {"library", native_library, METH_NOARGS, NULL},
    FAST(quantize,
         "quantize($module, /, x, format, rounding='rne', *, axis=-1, offset=0, out=None, stats=None, range=None, "
         "scale=None, zero=None, zero_order='after', reciprocal=False, tensor_scale=0.0, words=None, layout='each')\n"
         "--\n"
         "\n"
         "Rounds every element of x once to a value of the format, by its exact value.\n"
         "\n"
         "x: an array of NumPy, torch or jax, or anything with __dlpack__ or __array_interface__, of any shape and\n"
         "    strides; of float64, float32, float16 or bfloat16 (a Python number is a float64; an integer that is\n"
         "    none is refused). A dtype must hold every value of the format.\n"
         "format: a Format or its spec, such as \"e4m3fn:saturate\" or \"nvfp4\"; see fpemu.format.\n"
         "rounding: a Rounding or its text, such as \"rne\", \"rtz\", \"sr\"; see fpemu.rounding.\n"
         "axis: blocks of formats with scales run along it; tiles along it and the one before.\n"
         "offset: index of x's first element in the random stream. Elements count in C order, whatever the strides\n"
         "    are, so that a tensor quantised slice by slice, each with the offset of its first element, gets the\n"
         "    bits of one call.\n"
         "out: an array of x's kind, dtype and shape to write to, of any strides, in aligned memory; x itself is\n"
         "    allowed, another array that shares elements with it is not.\n"
         "stats: a Stats, to which the call adds what happened.\n"
         "range: a Range: what is known of the whole tensor of which x is a slice, or of earlier ones (delayed\n"
         "    scaling).\n"
         "The others, with which out is refused:\n"
         "scale: scales in place of those that a format finds, or for one that has none (doc/blocks.md, 1.4): an\n"
         "    array of float32 that broadcasts to the blocks, shaped as Packed.scales; without blocks to x, where\n"
         "    a size that divides x's stands for as many neighbours. reciprocal: x times 1/scale, not x / scale.\n"
         "zero: zero points of integers, likewise; zero_order: 'after' rounding, or 'before'.\n"
         "tensor_scale: nvfp4 rules: the tensor's scale beside `scale`.\n"
         "words: random words of one's own for sr and se, uint32; layout: 'each' element one, or as PTX's cvt.rs\n"
         "    shares them: 'ptx-x2', 'ptx-x4' (doc/numerics.md, 5.4).\n"
         "\n"
         "Returns an array of x's kind, device, dtype and shape, or out. A tensor that requires a gradient goes\n"
         "through fpemu.torch, whose gradient is the identity. Equal arguments give equal bits on every machine\n"
         "and with any number of threads.\n"
         "\n"
         "Raises fpemu.SpecError for a text that cannot be read, fpemu.Error where format, rounding and dtype do\n"
         "not go together (posit(32,2) in float32, a directed mode for a posit) or arrays overlap, TypeError for\n"
         "other dtypes and objects, ValueError for an out that is read-only or of another shape, and for an axis\n"
         "that there is not.\n"
         ""),
    NATIVES(FAST_PLAIN),
    {"device_open", native_device_open, METH_O, NULL},
    {"delayed_update", native_delayed_update, METH_VARARGS, NULL},
    {"gemm", native_gemm, METH_VARARGS, NULL},
    {"overlap", native_overlap, METH_VARARGS, NULL},
    {"functions", native_functions, METH_NOARGS, NULL},
    {"names", native_names, METH_NOARGS, NULL},
    {"random_word", native_random_word, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "fpemu._native", .m_size = -1,
                                        .m_methods = methods,
                                        .m_doc = "The binding of fpemu to libfpemu; the public names stand in fpemu."};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    if (arrays_ready() || objects_ready(module) ||
        PyModule_AddIntConstant(module, "DEVICE_OVERFLOW", FPEMU_CUDA_STATS_OVERFLOW)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
