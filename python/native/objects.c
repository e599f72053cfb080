/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c - formats, roundings and stats as Python objects. Those of the first two never change; the classes that
 * users see are built on these in fpemu/_format.py, _rounding.py and _stats.py. */
#include "native.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

registered python;
PyTypeObject *format_type, *rounding_type, *stats_type;

/* Texts that were read, and their objects. */
static PyObject *formats, *roundings;
#define MOST_TEXTS 1024

/* The object that a class makes of a text, or of what it takes for one. A new reference, or NULL with an exception. */
static PyObject *object_of(PyObject *texts, PyObject *class, PyObject *text)
{
    const int is_text = PyUnicode_Check(text);
    PyObject *object = is_text ? PyDict_GetItemWithError(texts, text) : NULL;
    Py_XINCREF(object);
    if (object || PyErr_Occurred() || !(object = PyObject_CallFunctionObjArgs(class, text, NULL)))
        return object;
    if (is_text && PyDict_Size(texts) >= MOST_TEXTS)
        PyDict_Clear(texts);
    if (is_text && PyDict_SetItem(texts, text, object))
        Py_CLEAR(object);
    return object;
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *new_object(PyTypeObject *type)
{
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return make(type, 0);
}

/* ---------------------------------------------------------------------------------------------------- format */

/* Fills what follows from the value. */
static int finish_format(format_object *f)
{
    char text[256];
    if (fpemu_format_print(&f->value, text, sizeof text) == FPEMU_OK) {
        f->spec = PyUnicode_FromString(text);
        f->hash = f->spec ? PyObject_Hash(f->spec) : -1;
    } else
        f->hash = f->table ? PyObject_Hash(f->table) : -1;
    return f->hash == -1 ? -1 : 0;
}

static PyObject *format_from_value(PyTypeObject *type, const fpemu_format *value, PyObject *table)
{
    format_object *f = (format_object *)new_object(type);
    if (!f)
        return NULL;
    f->value = *value;
    Py_XINCREF(table);
    f->table = table;
    if (table)
        f->value.table = (const float *)PyBytes_AsString(table);
    if (finish_format(f)) {
        Py_DECREF(f);
        return NULL;
    }
    return (PyObject *)f;
}

/* Format(spec) or Format(bytes of binary32 numbers): ascending ones, or with codes=True the values of codes. */
static PyObject *format_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *spec;
    int codes = 0;
    static char *names[] = {"spec", "codes", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|p", names, &spec, &codes))
        return NULL;
    fpemu_format value;
    if (PyBytes_Check(spec)) {
        /* Python's bytes are aligned as any allocation is */
        const size_t length = (size_t)PyBytes_Size(spec) / sizeof(float);
        const float *const table = (const float *)PyBytes_AsString(spec);
        if (codes) {
            PyObject *const memory =
                PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(FPEMU_CODES_MEMORY(length) * sizeof(float)));
            PyObject *made = NULL;
            if (memory && length <= UINT32_MAX &&
                !fpemu_format_codes(&value, (uint32_t)length, table, (float *)PyBytes_AsString(memory)))
                made = format_from_value(type, &value, memory);
            else if (memory)
                PyErr_Format(PyExc_ValueError, "values of codes are 2 to 65536, two of them finite and not equal, +0 "
                                               "beside -0, infinities of both signs or of a table without negatives");
            Py_XDECREF(memory);
            return made;
        }
        const fpemu_status status =
            length > UINT32_MAX ? FPEMU_ERROR_FORMAT : fpemu_format_table(&value, (uint32_t)length, table);
        if (status)
            return PyErr_Format(PyExc_ValueError,
                                "a table has 2 to 65536 finite values in strictly ascending order, and "
                                "no -0; codes=True takes the values of codes in any order");
        return format_from_value(type, &value, spec);
    }
    const char *const text = PyUnicode_Check(spec) ? text_argument("format", spec) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "format is a fpemu.Format, a dtype or a text such as 'e4m3fn', not %R", spec);
        return NULL;
    }
    fpemu_parse_error error;
    if (fpemu_format_parse(text, &value, &error))
        return raise_spec("format", spec, &error);
    return format_from_value(type, &value, NULL);
}

static void format_free(PyObject *self)
{
    format_object *f = (format_object *)self;
    Py_XDECREF(f->spec);
    Py_XDECREF(f->table);
    for (int i = 0; i < MOST_KEPT; i++)
        PyMem_Free(f->kept[i]);
    free_object(self);
}

static Py_hash_t format_hash(PyObject *self)
{
    return ((format_object *)self)->hash;
}

static PyObject *format_compare(PyObject *a, PyObject *b, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(b, format_type))
        Py_RETURN_NOTIMPLEMENTED;
    const int equal = fpemu_format_equal(&((format_object *)a)->value, &((format_object *)b)->value);
    return PyBool_FromLong(operation == Py_EQ ? equal : !equal);
}

#define FIELD(name, type) {#name, type, offsetof(format_object, value.name), READONLY, NULL}
/* Members with a row for the end. */
#define MEMBERS(...)                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            NULL, 0, 0, 0, NULL                                                                                        \
        }                                                                                                              \
    }
static PyMemberDef format_members[] = MEMBERS(
    {"_spec", T_OBJECT, offsetof(format_object, spec), READONLY, NULL},
    {"_table", T_OBJECT, offsetof(format_object, table), READONLY, NULL}, FIELD(kind, T_UINT), FIELD(bits, T_UINT),
    FIELD(exponent_bits, T_UINT), FIELD(mantissa_bits, T_UINT), FIELD(bias, T_INT), FIELD(fraction_bits, T_INT),
    FIELD(is_signed, T_UBYTE), FIELD(specials, T_UBYTE), FIELD(subnormals, T_UBYTE), FIELD(overflow, T_UBYTE),
    FIELD(nan, T_UBYTE), FIELD(symmetric, T_UBYTE), FIELD(wrap, T_UBYTE), FIELD(scale, T_DOUBLE),
    FIELD(zero_point, T_LONGLONG), FIELD(precision, T_INT), FIELD(emin, T_INT), FIELD(emax, T_INT),
    FIELD(quantum, T_INT), FIELD(max, T_DOUBLE), FIELD(lowest, T_DOUBLE), FIELD(min_normal, T_DOUBLE),
    FIELD(min_positive, T_DOUBLE), FIELD(max_code, T_ULONGLONG), FIELD(lowest_code, T_ULONGLONG),
    FIELD(nan_code, T_ULONGLONG), FIELD(has_nan, T_UBYTE), FIELD(has_infinity, T_UBYTE),
    FIELD(has_negative_zero, T_UBYTE), FIELD(has_zero, T_UBYTE), FIELD(fits_f32, T_UBYTE), FIELD(fits_f64, T_UBYTE),
    FIELD(scaling, T_UBYTE), FIELD(block, T_UBYTE), FIELD(margin, T_INT), FIELD(block_length, T_UINT),
    FIELD(block_rows, T_UINT), FIELD(codebook_length, T_UINT), FIELD(target, T_FLOAT), FIELD(bound, T_FLOAT),
    FIELD(outer, T_UBYTE), FIELD(search_first, T_SHORT), FIELD(search_last, T_SHORT), FIELD(search_grid, T_USHORT),
    FIELD(search_error, T_USHORT), FIELD(correct, T_UBYTE));
#undef FIELD

static PyObject *format_facts(PyObject *self, PyObject *unused UNUSED)
{
    const fpemu_format *f = &((format_object *)self)->value;
    return Py_BuildValue("{s:d,s:K,s:K,s:d,s:n}", "epsilon", fpemu_format_epsilon(f), "value_count",
                         (unsigned long long)fpemu_format_value_count(f), "nan_count",
                         (unsigned long long)fpemu_format_nan_count(f), "bits_per_element",
                         fpemu_format_bits_per_element(f), "code_size", (Py_ssize_t)fpemu_format_code_size(f));
}

/* Of a format and the number x. */
#define OF_A_NUMBER(name, made)                                                                                        \
    static PyObject *format_##name(PyObject *self, PyObject *x)                                                        \
    {                                                                                                                  \
        double value;                                                                                                  \
        return number_argument(x, "x", &value) ? NULL                                                                  \
                                               : made(fpemu_format_##name(&((format_object *)self)->value, value));    \
    }
OF_A_NUMBER(represents, PyBool_FromLong)
OF_A_NUMBER(next_up, PyFloat_FromDouble)
OF_A_NUMBER(next_down, PyFloat_FromDouble)

/* Bytes of all values as binary64 numbers and of their codes. */
static PyObject *format_enumerate(PyObject *self, PyObject *unused UNUSED)
{
    const fpemu_format *f = &((format_object *)self)->value;
    const uint64_t n = fpemu_format_value_count(f);
    if (n > (UINT64_C(1) << 26))
        return PyErr_Format(PyExc_ValueError, "%llu values are too many to list", (unsigned long long)n);
    PyObject *values = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(double)));
    PyObject *codes = values ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(uint64_t))) : NULL;
    size_t count;
    fpemu_status status = FPEMU_OK;
    if (codes)
        status = fpemu_format_enumerate(f, (size_t)n, (double *)PyBytes_AsString(values),
                                        (uint64_t *)PyBytes_AsString(codes), &count);
    PyObject *both = codes && !status ? PyTuple_Pack(2, values, codes) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(codes);
    return status ? raise_status(status, "the values", (format_object *)self, NULL) : both;
}

static PyObject *part_of(PyObject *self, fpemu_status (*part)(const fpemu_format *, fpemu_format *))
{
    fpemu_format value;
    const fpemu_status status = part(&((format_object *)self)->value, &value);
    if (status == FPEMU_ERROR_UNSUPPORTED)
        Py_RETURN_NONE;
    if (status)
        return raise_status(status, "the part", (format_object *)self, NULL);
    return format_from_value(Py_TYPE(self), &value, ((format_object *)self)->table);
}

#define PART(name)                                                                                                     \
    static PyObject *format_##name(PyObject *self, PyObject *unused)                                                   \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        return part_of(self, fpemu_format_##name);                                                                     \
    }
PART(element)
PART(scale)

/* _check(rounding, carrier, use): whether the library would take numbers of a carrier for an fpemu_use, by itself to
 * quantize them, with that rounding: None, or why not. */
static PyObject *format_check(PyObject *self, PyObject *args)
{
    const fpemu_format *f = &((format_object *)self)->value;
    PyObject *rounding;
    int type, use = FPEMU_USE_QUANTIZE;
    if (!PyArg_ParseTuple(args, "Oi|i", &rounding, &type, &use))
        return NULL;
    rounding_object *r = rounding_of(rounding);
    if (!r)
        return NULL;
    fpemu_why why;
    why_refused(FPEMU_ERROR_ARGUMENT, f, &r->value, (carrier)type, use, &why);
    Py_DECREF(r);
    if (why.argument)
        return PyUnicode_FromString(why.message);
    Py_RETURN_NONE;
}

static PyMethodDef format_methods[] = {
    {"_facts", format_facts, METH_NOARGS, NULL},
    {"_enumerate", format_enumerate, METH_NOARGS, NULL},
    {"_element", format_element, METH_NOARGS, NULL},
    {"_scale", format_scale, METH_NOARGS, NULL},
    {"_check", format_check, METH_VARARGS, NULL},
    {"represents", format_represents, METH_O,
     "represents($self, x, /)\n--\n\nWhether the number x is a value of the format; of a format with blocks, of its "
     "element.\n\nInfinities and NaN are where the format has them."},
    {"next_up", format_next_up, METH_O,
     "next_up($self, x, /)\n--\n\nThe nearest finite value above the number x, which need not be a value itself; NaN "
     "if "
     "there is none."},
    {"next_down", format_next_down, METH_O,
     "next_down($self, x, /)\n--\n\nThe nearest finite value below the number x, which need not be a value itself; NaN "
     "if there is none."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot format_slots[] = {{Py_tp_new, format_new},
                                     {Py_tp_dealloc, format_free},
                                     {Py_tp_hash, format_hash},
                                     {Py_tp_richcompare, format_compare},
                                     {Py_tp_members, format_members},
                                     {Py_tp_methods, format_methods},
                                     {0, NULL}};
static PyType_Spec format_spec = {"fpemu._native.Format", sizeof(format_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, format_slots};

format_object *format_of(PyObject *argument)
{
    if (Py_TYPE(argument) == (PyTypeObject *)python.format || PyObject_TypeCheck(argument, format_type)) {
        Py_INCREF(argument);
        return (format_object *)argument;
    }
    return (format_object *)object_of(formats, python.format, argument);
}

/* A prepared call, and what it was prepared for beside its format. */
typedef struct kept {
    uint64_t rounding; /* all but its place */
    carrier type;
    int use;
    fpemu_prepared call;
} kept;
_Static_assert(offsetof(fpemu_rounding, seed) == sizeof(uint64_t), "a place follows what else a rounding says");

const fpemu_prepared *prepared_apart(format_object *f, const fpemu_rounding *r, carrier type, int use, const char *verb,
                                     fpemu_prepared *own)
{
    fpemu_why why;
    const fpemu_status status = fpemu_prepare(own, &f->value, r, type_of(type), use, &why);
    if (!status)
        return own;
    raise_status(status, verb, f, &why);
    return NULL;
}

const fpemu_prepared *prepared_of(format_object *f, const fpemu_rounding *r, carrier type, int use, const char *verb,
                                  fpemu_prepared *own)
{
    uint64_t rounding;
    memcpy(&rounding, r, sizeof rounding);
    int i = 0;
    for (; i < MOST_KEPT && f->kept[i]; i++)
        if (f->kept[i]->rounding == rounding && f->kept[i]->type == type && f->kept[i]->use == use)
            return &f->kept[i]->call;
    if (!prepared_apart(f, r, type, use, verb, own))
        return NULL;
    kept *const made = i < MOST_KEPT ? PyMem_Malloc(sizeof *made) : NULL;
    if (!made)
        return own;
    *made = (kept){rounding, type, use, *own};
    f->kept[i] = made;
    return &made->call;
}

/* --------------------------------------------------------------------------------------------------- rounding */

/* Rounding(text, overflow, nan, variant, bits, generator, compat, seed, stream, offset): numbers; -1 leaves what the text
 * says. Python's side turns names into them. */
static PyObject *rounding_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *text, *words[3] = {NULL, NULL, NULL};
    int overflow = -1, nan = -1, variant = 0, bits = 0, generator = 0, compat = -1;
    uint64_t seed = 0, stream = 0, offset = 0;
    static char *names[] = {"text",   "overflow", "nan",    "variant", "bits", "generator",
                            "compat", "seed",     "stream", "offset",  NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "U|iiiiiiOOO", names, &text, &overflow, &nan, &variant, &bits,
                                     &generator, &compat, &words[0], &words[1], &words[2]) ||
        u64_argument(words[0], "seed", &seed) || u64_argument(words[1], "stream", &stream) ||
        u64_argument(words[2], "offset", &offset))
        return NULL;
    const char *const mode = text_argument("rounding", text);
    fpemu_parse_error error;
    fpemu_rounding value;
    if (!mode)
        return NULL;
    if (fpemu_rounding_parse(mode, &value, &error))
        return raise_spec("rounding", text, &error);
    if (overflow >= 0)
        value.overflow = (uint8_t)overflow;
    if (nan >= 0)
        value.nan = (uint8_t)nan;
    if (compat >= 0)
        value.compat = (uint8_t)compat;
    value.variant = (uint8_t)variant;
    value.bits = (uint8_t)bits;
    value.generator = (uint8_t)generator;
    value.seed = seed;
    value.stream = stream;
    value.offset = offset;
    rounding_object *r = (rounding_object *)new_object(type);
    if (r)
        r->value = value;
    return (PyObject *)r;
}

static Py_hash_t rounding_hash(PyObject *self)
{
    const unsigned char *const bytes = (const unsigned char *)&((rounding_object *)self)->value;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof(fpemu_rounding); i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    const Py_hash_t result = (Py_hash_t)(hash ^ hash >> 32);
    return result == -1 ? -2 : result;
}

static PyObject *rounding_compare(PyObject *a, PyObject *b, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(b, rounding_type))
        Py_RETURN_NOTIMPLEMENTED;
    const int equal =
        memcmp(&((rounding_object *)a)->value, &((rounding_object *)b)->value, sizeof(fpemu_rounding)) == 0;
    return PyBool_FromLong(operation == Py_EQ ? equal : !equal);
}

/* R of the element at an index: what stochastic rounding compares with. */
static PyObject *rounding_random_bits(PyObject *self, PyObject *index)
{
    uint64_t i;
    if (u64_argument(index, "index", &i))
        return NULL;
    return PyLong_FromUnsignedLong(fpemu_random_bits(&((rounding_object *)self)->value, i));
}

#define FIELD(name, type) {#name, type, offsetof(rounding_object, value.name), READONLY, NULL}
#define HIDDEN(name) {"_" #name, T_UBYTE, offsetof(rounding_object, value.name), READONLY, NULL}
static PyMemberDef rounding_members[] =
    MEMBERS(HIDDEN(mode), HIDDEN(overflow), HIDDEN(nan), HIDDEN(variant), HIDDEN(generator), HIDDEN(compat),
            HIDDEN(bits), FIELD(seed, T_ULONGLONG), FIELD(stream, T_ULONGLONG), FIELD(offset, T_ULONGLONG));
#undef HIDDEN
#undef FIELD

static PyMethodDef rounding_methods[] = {
    {"random_bits", rounding_random_bits, METH_O,
     "random_bits($self, index, /)\n--\n\nThe random bits that the element at `index` uses, as an integer of `bits` "
     "bits; `offset` is added to the index."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot rounding_slots[] = {{Py_tp_new, rounding_new},
                                       {Py_tp_dealloc, free_object},
                                       {Py_tp_hash, rounding_hash},
                                       {Py_tp_richcompare, rounding_compare},
                                       {Py_tp_members, rounding_members},
                                       {Py_tp_methods, rounding_methods},
                                       {0, NULL}};
static PyType_Spec rounding_spec = {"fpemu._native.Rounding", sizeof(rounding_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, rounding_slots};

rounding_object *rounding_of(PyObject *argument)
{
    if (argument &&
        (Py_TYPE(argument) == (PyTypeObject *)python.rounding || PyObject_TypeCheck(argument, rounding_type))) {
        Py_INCREF(argument);
        return (rounding_object *)argument;
    }
    static PyObject *nearest;
    if (!argument || argument == Py_None) {
        if (!nearest)
            nearest = PyUnicode_InternFromString("rne");
        argument = nearest;
    }
    if (!argument || !PyUnicode_Check(argument)) {
        if (argument)
            PyErr_Format(PyExc_TypeError, "rounding is a fpemu.Rounding or a text such as 'rne', not %R", argument);
        return NULL;
    }
    return (rounding_object *)object_of(roundings, python.rounding, argument);
}

/* ----------------------------------------------------------------------------------------------------- stats */

/* Counts of both histograms lie behind the object's own pointers, one after the other; their bytes. */
static size_t histogram_bytes(const fpemu_stats_request *r)
{
    return ((size_t)r->histogram_length + r->scale_length) * sizeof(uint64_t);
}

static uint64_t *histogram_memory(const fpemu_stats_request *r)
{
    return r->histogram ? r->histogram : r->scale_histogram;
}

static int allocate_histograms(fpemu_stats *s)
{
    fpemu_stats_request *r = &s->request;
    const size_t bytes = histogram_bytes(r);
    uint64_t *const memory = bytes ? PyMem_Calloc(1, bytes) : NULL;
    r->histogram = r->histogram_length ? memory : NULL;
    r->scale_histogram = memory && r->scale_length ? memory + r->histogram_length : NULL;
    if (memory || !bytes)
        return 0;
    PyErr_NoMemory();
    return -1;
}

static void free_histograms(fpemu_stats *s)
{
    PyMem_Free(histogram_memory(&s->request));
    s->request.histogram = s->request.scale_histogram = NULL;
}

/* Stats(sums, first, length, scale_first, scale_length): a length of 0 is no histogram. */
static PyObject *stats_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    int sums = 0, first = 0, scale_first = 0;
    unsigned length = 0, scale_length = 0;
    static char *names[] = {"sums", "first", "length", "scale_first", "scale_length", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|piIiI", names, &sums, &first, &length, &scale_first,
                                     &scale_length))
        return NULL;
    if ((length && length < 3) || (scale_length && scale_length < 3) || length > 1u << 20 || scale_length > 1u << 20)
        return PyErr_Format(PyExc_ValueError, "a histogram has 3 bins to a million");
    stats_object *s = (stats_object *)new_object(type);
    if (!s)
        return NULL;
    memset(&s->value, 0, sizeof s->value);
    s->value.request.want =
        (sums ? FPEMU_STATS_SUMS : 0) | (length ? FPEMU_STATS_HISTOGRAM : 0) | (scale_length ? FPEMU_STATS_SCALES : 0);
    s->value.request.histogram_first = first;
    s->value.request.histogram_length = length;
    s->value.request.scale_first = scale_first;
    s->value.request.scale_length = scale_length;
    if (allocate_histograms(&s->value)) {
        Py_DECREF(s);
        return NULL;
    }
    return (PyObject *)s;
}

static void stats_free(PyObject *self)
{
    free_histograms(&((stats_object *)self)->value);
    free_object(self);
}

static PyObject *counts(const uint64_t *array, uint32_t length)
{
    if (!array)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)array, (Py_ssize_t)length * (Py_ssize_t)sizeof *array);
}

static PyObject *stats_histograms(PyObject *self, PyObject *unused UNUSED)
{
    const fpemu_stats_request *r = &((stats_object *)self)->value.request;
    return Py_BuildValue("(NN)", counts(r->histogram, r->histogram_length),
                         counts(r->scale_histogram, r->scale_length));
}

static PyObject *stats_sums(PyObject *self, PyObject *unused UNUSED)
{
    const fpemu_stats *s = &((stats_object *)self)->value;
    return Py_BuildValue("(dddd)", fpemu_stats_sum_error(s), fpemu_stats_sum_error2(s), fpemu_stats_sum_square(s),
                         fpemu_stats_sqnr(s));
}

static PyObject *stats_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, stats_type))
        return PyErr_Format(PyExc_TypeError, "only Stats can be added to Stats");
    stats_object *to = (stats_object *)self, *from = (stats_object *)other;
    if (self == other) /* the library wants histograms apart */
        return PyErr_Format(PyExc_ValueError, "stats cannot be merged into themselves; s + s can be formed");
    const fpemu_status status = fpemu_stats_merge(&to->value, &from->value);
    if (status)
        return raise_status(status, "two stats that ask for different things cannot be added", NULL, NULL);
    Py_RETURN_NONE;
}

/* All of it as bytes: the struct with its pointers 0, then the histograms. */
static PyObject *stats_bytes(PyObject *self, PyObject *unused UNUSED)
{
    const fpemu_stats *s = &((stats_object *)self)->value;
    const size_t more = histogram_bytes(&s->request);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof *s + more));
    if (!bytes)
        return NULL;
    char *to = PyBytes_AsString(bytes);
    fpemu_stats copy = *s;
    copy.request.histogram_word = copy.request.scale_histogram_word = 0;
    memcpy(to, &copy, sizeof copy);
    if (more)
        memcpy(to + sizeof copy, histogram_memory(&s->request), more);
    return bytes;
}

/* Takes what _bytes gave in a Stats that asks for the same; bytes of the bare struct leave the histograms as they are. */
static PyObject *stats_load(PyObject *self, PyObject *bytes)
{
    fpemu_stats *s = &((stats_object *)self)->value, copy;
    const size_t more = histogram_bytes(&s->request);
    if (!PyBytes_Check(bytes) || (size_t)PyBytes_Size(bytes) != sizeof copy + more)
        return PyErr_Format(PyExc_ValueError, "these are not the bytes of stats that ask for the same");
    const char *from = PyBytes_AsString(bytes);
    memcpy(&copy, from, sizeof copy);
    if (copy.request.want != s->request.want || copy.request.histogram_length != s->request.histogram_length ||
        copy.request.histogram_first != s->request.histogram_first ||
        copy.request.scale_length != s->request.scale_length || copy.request.scale_first != s->request.scale_first)
        return PyErr_Format(PyExc_ValueError, "these are the bytes of stats that ask for other things");
    copy.request = s->request;
    *s = copy;
    if (more)
        memcpy(histogram_memory(&s->request), from + sizeof copy, more);
    Py_RETURN_NONE;
}

static PyObject *stats_clear(PyObject *self, PyObject *unused UNUSED)
{
    fpemu_stats *s = &((stats_object *)self)->value;
    const fpemu_stats_request request = s->request;
    memset(s, 0, sizeof *s);
    s->request = request;
    if (histogram_bytes(&request))
        memset(histogram_memory(&request), 0, histogram_bytes(&request));
    Py_RETURN_NONE;
}

#define FIELD(name, type, text) {#name, type, offsetof(stats_object, value.name), READONLY, text}
static PyMemberDef stats_members[] = {
    FIELD(count, T_ULONGLONG, "Elements."),
    FIELD(nan, T_ULONGLONG, "Inputs that are NaN."),
    FIELD(infinite, T_ULONGLONG, "Inputs that are infinite."),
    FIELD(clipped, T_ULONGLONG, "Finite inputs outside [lowest, max]."),
    FIELD(overflow, T_ULONGLONG,
          "Finite inputs that, rounded as if the format had no ends, lie outside [lowest, max]."),
    FIELD(invalid, T_ULONGLONG, "Results that are NaN where the input is not, other than by overflow."),
    FIELD(div_by_zero, T_ULONGLONG, "Divisions of finite numbers by zero, and poles of functions."),
    FIELD(underflow, T_ULONGLONG, "Finite inputs other than zero that became zero."),
    FIELD(subnormal, T_ULONGLONG, "Results other than zero below the smallest normal value."),
    FIELD(inexact, T_ULONGLONG, "Finite inputs that became another number."),
    FIELD(swamped, T_ULONGLONG, "Dot products: additions where a term other than zero changed nothing."),
    FIELD(min_abs, T_DOUBLE, "Smallest |x| of finite inputs other than zero; 0 when there is none."),
    FIELD(max_abs, T_DOUBLE, "Largest |x| of finite inputs."),
    FIELD(max_error, T_DOUBLE, "Largest finite |x - y|."),
    FIELD(blocks, T_ULONGLONG, "Blocks seen."),
    FIELD(zero_blocks, T_ULONGLONG, "Blocks whose elements are all zero."),
    FIELD(nan_blocks, T_ULONGLONG, "Blocks that became NaN, since an element was NaN or infinite."),
    FIELD(saturated_scales, T_ULONGLONG, "Scales that their format could not hold."),
    {"_want", T_UINT, offsetof(stats_object, value.request.want), READONLY, NULL},
    {"_first", T_INT, offsetof(stats_object, value.request.histogram_first), READONLY, NULL},
    {"_length", T_UINT, offsetof(stats_object, value.request.histogram_length), READONLY, NULL},
    {"_scale_first", T_INT, offsetof(stats_object, value.request.scale_first), READONLY, NULL},
    {"_scale_length", T_UINT, offsetof(stats_object, value.request.scale_length), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
#undef FIELD

static PyMethodDef stats_methods[] = {
    {"_histograms", stats_histograms, METH_NOARGS, NULL},
    {"_sums", stats_sums, METH_NOARGS, NULL},
    {"_merge", stats_merge, METH_O, NULL},
    {"_bytes", stats_bytes, METH_NOARGS, NULL},
    {"_load", stats_load, METH_O, NULL},
    {"clear", stats_clear, METH_NOARGS, "clear($self, /)\n--\n\nForgets what was counted; what is asked for stays."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot stats_slots[] = {{Py_tp_new, stats_new},
                                    {Py_tp_dealloc, stats_free},
                                    {Py_tp_members, stats_members},
                                    {Py_tp_methods, stats_methods},
                                    {0, NULL}};
static PyType_Spec stats_spec = {"fpemu._native.Stats", sizeof(stats_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, stats_slots};

int stats_of(PyObject *argument, stats_object **stats)
{
    *stats = NULL;
    if (!argument || argument == Py_None)
        return 0;
    if (!PyObject_TypeCheck(argument, stats_type))
        return refuse(PyExc_TypeError, "stats is a fpemu.Stats or None, not %R", argument);
    *stats = (stats_object *)argument;
    return 0;
}

int counting_begin(counting *c, stats_object *object, int apart)
{
    c->object = object;
    c->apart = apart && object;
    c->stats = object ? &object->value : NULL;
    if (!c->apart)
        return 0;
    memset(&c->own, 0, sizeof c->own);
    c->own.request = object->value.request;
    c->stats = &c->own;
    return allocate_histograms(&c->own);
}

int counting_end(counting *c)
{
    if (!c->apart)
        return 0;
    const fpemu_status status = fpemu_stats_merge(&c->object->value, &c->own);
    free_histograms(&c->own);
    return status ? (raise_status(status, "the stats", NULL, NULL), -1) : 0;
}

static PyTypeObject *make_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type)
        return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type)) {
        Py_DECREF(type);
        return NULL;
    }
    return (PyTypeObject *)type;
}

int objects_ready(PyObject *module)
{
    formats = PyDict_New();
    roundings = PyDict_New();
    format_type = make_type(module, "Format", &format_spec);
    rounding_type = make_type(module, "Rounding", &rounding_spec);
    stats_type = make_type(module, "Stats", &stats_spec);
    return formats && roundings && format_type && rounding_type && stats_type ? 0 : -1;
}
