/* SPDX-License-Identifier: BSD-2-Clause */
/* arrays.c - arrays of NumPy and PyTorch without their headers: NumPy's by the fields and the function table that its
 * stable binary interface promises, PyTorch's by the C exchange functions of DLPack 1.3. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

#define CORE_REACH_AXES MOST_DIMENSIONS
#include "core/reach.h"

/* ------------------------------------------------------------------------------------- what NumPy promises */

/* The fields of every version since 1.7; sizes and strides are in intptr_t, strides in bytes. */
typedef struct {
    PyObject_HEAD
    PyTypeObject *scalar;
    char kind, type, byte_order, former_flags;
    int number;
} numpy_type;

typedef struct {
    PyObject_HEAD
    char *data;
    int dimensions;
    intptr_t *size, *stride;
    PyObject *base;
    numpy_type *type;
    int flags;
} numpy_array;

#define NUMPY_CONTIGUOUS 0x0001
#define NUMPY_ALIGNED 0x0100
#define NUMPY_WRITABLE 0x0400
#define NUMPY_KEEP_ORDER 2

enum {
    NUMPY_BOOL = 0,
    NUMPY_UBYTE = 2,
    NUMPY_USHORT = 4,
    NUMPY_UINT = 6,
    NUMPY_ULONG = 8,
    NUMPY_ULONGLONG = 10,
    NUMPY_FLOAT = 11,
    NUMPY_DOUBLE = 12,
    NUMPY_HALF = 23
};

static struct {
    PyTypeObject *array;
    PyObject *(*type_of)(int number);
    PyObject *(*make)(PyTypeObject *type, PyObject *descr, int dimensions, const intptr_t *size, const intptr_t *stride,
                      void *data, int flags, PyObject *object);
    PyObject *(*make_like)(PyObject *array, int order, PyObject *descr, int subclass);
    PyTypeObject *bfloat16; /* ml_dtypes' scalar type, once seen */
    PyObject *bfloat16_type;
} numpy;

/* -------------------------------------------------------------------------------------- what DLPack promises */

enum { DEVICE_CPU = 1, DEVICE_CUDA = 2, DEVICE_CUDA_HOST = 3, DEVICE_CUDA_MANAGED = 13 };
enum {
    CODE_INT = 0,
    CODE_UINT = 1,
    CODE_FLOAT = 2,
    CODE_BFLOAT = 4,
    CODE_BOOL = 6,
    CODE_FLOAT8_FIRST = 7,
    CODE_FLOAT8_LAST = 14
};

typedef struct {
    void *data;
    int32_t device_type, device_number;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *size, *stride;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_managed *);
    uint64_t flags;
    dl_tensor tensor;
} dl_managed;

typedef struct dl_exchange {
    uint32_t major, minor;
    struct dl_exchange *previous;
    int (*allocate)(dl_tensor *prototype, dl_managed **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*managed_from_object)(void *object, dl_managed **out);
    int (*object_from_managed)(dl_managed *tensor, void **object);
    int (*tensor_from_object)(void *object, dl_tensor *out);
    int (*current_stream)(int32_t device_type, int32_t device_number, void **stream);
} dl_exchange;

/* torch.Tensor and torch.nn.Parameter, once seen. Their subclasses do things of their own, and are left to Python. */
static struct {
    PyTypeObject *tensor, *parameter;
    const dl_exchange *exchange;
    PyObject *is_neg; /* whether its numbers are those of memory negated, of which the exchange functions say nothing */
} torch;

/* --------------------------------------------------------------------------------------------------- types */

size_t carrier_size(carrier c)
{
    static const size_t size[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 0};
    return size[c];
}

const char *carrier_name(carrier c)
{
    static const char *const name[] = {"float32", "float64", "float16", "bfloat16", "uint8",
                                       "uint16",  "uint32",  "uint64",  "bool",     "another type"};
    return name[c];
}

static void finish_view(view *v)
{
    uint64_t count = 1;
    int contiguous = 1;
    for (int d = v->dimensions - 1; d >= 0; d--) {
        contiguous &= v->size[d] == 1 || (uint64_t)v->stride[d] == count;
        count *= (uint64_t)v->size[d];
    }
    v->count = count;
    v->contiguous = contiguous || count == 0;
}

/* ---------------------------------------------------------------------------------------------------- NumPy */

const char WHY_REAL[] = "fpemu takes float64, float32, float16 and bfloat16, and rounds none of them first; convert "
                        "the array where that loses nothing";

/* Which types the argument of that name may have. */
static const char *wanted_types(const char *name)
{
    if (strcmp(name, "codes") == 0 || strcmp(name, "bytes") == 0)
        return "codes are unsigned integers, or a type of ml_dtypes or torch with one number to a byte";
    return strcmp(name, "out") == 0 ? "results have that of the input, and codes are unsigned integers" : WHY_REAL;
}

int refuse_type(PyObject *array, const char *name, const char *why)
{
    PyObject *type = PyObject_GetAttrString(array, "dtype");
    if (type)
        PyErr_Format(PyExc_TypeError, "%s has the dtype %S: %s", name, type, why);
    Py_XDECREF(type);
    return -1;
}

static int numpy_is_bfloat16(const numpy_type *type)
{
    if (numpy.bfloat16)
        return type->scalar == numpy.bfloat16;
    PyObject *name = PyObject_GetAttrString((PyObject *)type->scalar, "__name__");
    const int found = name && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    if (found) {
        Py_INCREF(type->scalar);
        Py_INCREF(type);
        numpy.bfloat16 = type->scalar;
        numpy.bfloat16_type = (PyObject *)type;
    }
    return found;
}

/* What the type of an array is; CARRIER_OTHER for what is neither a number of ours nor a code. */
static carrier numpy_carrier(const numpy_type *type, size_t item, int *is_code)
{
    *is_code = 0;
    switch (type->number) {
    case NUMPY_FLOAT: return CARRIER_F32;
    case NUMPY_DOUBLE: return CARRIER_F64;
    case NUMPY_HALF: return CARRIER_F16;
    case NUMPY_BOOL: return CARRIER_BOOL;
    case NUMPY_UBYTE: *is_code = 1; return CARRIER_U8;
    case NUMPY_USHORT: *is_code = 1; return CARRIER_U16;
    case NUMPY_UINT: *is_code = 1; return CARRIER_U32;
    case NUMPY_ULONG:
    case NUMPY_ULONGLONG: *is_code = 1; return item == 4 ? CARRIER_U32 : CARRIER_U64;
    default: break;
    }
    if (type->number >= 24 && numpy_is_bfloat16(type)) /* types that other packages add */
        return CARRIER_BF16;
    if (type->number >= 256 && item == 1) { /* ml_dtypes' types of 8 bits and less */
        *is_code = 1;
        return CARRIER_U8;
    }
    return CARRIER_OTHER;
}

/* Bytes of an element, of types whose number does not tell. */
static size_t numpy_item(PyObject *type)
{
    PyObject *item = PyObject_GetAttrString(type, "itemsize");
    const size_t size = item ? PyLong_AsSize_t(item) : 0;
    Py_XDECREF(item);
    if (PyErr_Occurred())
        PyErr_Clear();
    return size;
}

static int view_numpy(PyObject *object, const char *name, view *v)
{
    const numpy_array *a = (const numpy_array *)object;
    const char order = a->type->byte_order;
    const uint16_t one = 1;
    const char foreign = *(const char *)&one ? '>' : '<';
    if (order == foreign)
        return refuse_type(object, name,
                           "its bytes are swapped; x.astype(x.dtype.newbyteorder('=')) puts them in order");
    const int plain = a->type->number == NUMPY_FLOAT || a->type->number == NUMPY_DOUBLE;
    const size_t item = plain ? 0 : numpy_item((PyObject *)a->type);
    v->type = numpy_carrier(a->type, item, &v->is_code);
    if (v->type == CARRIER_OTHER)
        return refuse_type(object, name, wanted_types(name));
    v->item = carrier_size(v->type);
    v->object = object;
    v->kind = KIND_NUMPY;
    v->data = a->data;
    v->writable = (a->flags & NUMPY_WRITABLE) != 0;
    v->device = -1;
    v->dimensions = a->dimensions;
    if (!(a->flags & NUMPY_ALIGNED))
        return 0; /* Python's side makes a copy */
    const int64_t bytes = (int64_t)v->item;
    for (int d = 0; d < a->dimensions; d++) {
        v->size[d] = a->size[d];
        if (a->stride[d] % bytes && a->size[d] > 1)
            return 0;
        v->stride[d] = a->stride[d] / bytes;
    }
    finish_view(v);
    return 1;
}

static PyObject *numpy_type_of(carrier type)
{
    static const int number[] = {NUMPY_FLOAT,  NUMPY_DOUBLE, NUMPY_HALF,      -1,        NUMPY_UBYTE,
                                 NUMPY_USHORT, NUMPY_UINT,   NUMPY_ULONGLONG, NUMPY_BOOL};
    if (type == CARRIER_BF16) {
        if (!numpy.bfloat16_type) { /* makes an array of that type, which is then seen */
            PyObject *package = PyImport_ImportModule("ml_dtypes"), *numpy_module = PyImport_ImportModule("numpy");
            PyObject *scalar = package ? PyObject_GetAttrString(package, "bfloat16") : NULL;
            if (scalar && numpy_module)
                numpy.bfloat16_type = PyObject_CallMethod(numpy_module, "dtype", "O", scalar);
            Py_XDECREF(scalar);
            Py_XDECREF(package);
            Py_XDECREF(numpy_module);
            if (!numpy.bfloat16_type)
                return NULL;
            numpy.bfloat16 = ((numpy_type *)numpy.bfloat16_type)->scalar;
            Py_INCREF(numpy.bfloat16);
        }
        Py_INCREF(numpy.bfloat16_type);
        return numpy.bfloat16_type;
    }
    return numpy.type_of(type == CARRIER_U64 && sizeof(long) == 8 ? NUMPY_ULONG : number[type]);
}

/* ---------------------------------------------------------------------------------------------------- torch */

static int is_named(PyTypeObject *type, const char *module, const char *name)
{
    PyObject *m = PyObject_GetAttrString((PyObject *)type, "__module__");
    PyObject *n = PyObject_GetAttrString((PyObject *)type, "__name__");
    const int same = m && n && PyUnicode_Check(m) && PyUnicode_Check(n) &&
                     PyUnicode_CompareWithASCIIString(m, module) == 0 && PyUnicode_CompareWithASCIIString(n, name) == 0;
    Py_XDECREF(m);
    Py_XDECREF(n);
    PyErr_Clear();
    return same;
}

/* Whether a type is PyTorch's own, one with exchange functions that we know. */
static int learn_torch(PyTypeObject *type)
{
    const int tensor = !torch.tensor && is_named(type, "torch", "Tensor");
    const int parameter = !tensor && !torch.parameter && is_named(type, "torch.nn.parameter", "Parameter");
    if (!tensor && !parameter)
        return 0;
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const dl_exchange *exchange = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (exchange && exchange->major != 1)
        exchange = exchange->previous;
    if (!exchange || !exchange->tensor_from_object || !exchange->object_from_managed)
        return 0;
    if (!torch.is_neg && !(torch.is_neg = PyObject_GetAttrString((PyObject *)type, "is_neg"))) {
        PyErr_Clear();
        return 0;
    }
    Py_INCREF(type);
    torch.exchange = exchange;
    if (tensor)
        torch.tensor = type;
    else
        torch.parameter = type;
    return 1;
}

static carrier dl_carrier(const dl_tensor *t, int *is_code)
{
    *is_code = 0;
    if (t->lanes != 1)
        return CARRIER_OTHER;
    if (t->code == CODE_FLOAT)
        return t->bits == 32 ? CARRIER_F32 : t->bits == 64 ? CARRIER_F64 : t->bits == 16 ? CARRIER_F16 : CARRIER_OTHER;
    if (t->code == CODE_BFLOAT && t->bits == 16)
        return CARRIER_BF16;
    if (t->code == CODE_BOOL && t->bits == 8)
        return CARRIER_BOOL;
    if ((t->code == CODE_UINT && t->bits >= 8) || (t->code >= CODE_FLOAT8_FIRST && t->code <= CODE_FLOAT8_LAST)) {
        *is_code = 1;
        return unsigned_of(t->bits / 8u);
    }
    return CARRIER_OTHER;
}

static int fill_from_dl(const dl_tensor *t, view *v)
{
    v->type = dl_carrier(t, &v->is_code);
    v->item = carrier_size(v->type);
    v->kind = KIND_TORCH;
    v->data = (char *)t->data + t->byte_offset;
    v->writable = 1;
    v->device = t->device_type == DEVICE_CUDA || t->device_type == DEVICE_CUDA_MANAGED ? t->device_number : -1;
    v->dimensions = t->dimensions;
    if (t->dimensions > MOST_DIMENSIONS)
        return 0;
    memcpy(v->size, t->size, sizeof v->size[0] * (size_t)t->dimensions);
    memcpy(v->stride, t->stride, sizeof v->stride[0] * (size_t)t->dimensions);
    finish_view(v);
    return 1;
}

static int view_torch(PyObject *object, const char *name, view *v)
{
    dl_tensor t;
    PyObject *const negated = PyObject_CallFunctionObjArgs(torch.is_neg, object, NULL);
    Py_XDECREF(negated);
    if (negated != Py_False || torch.exchange->tensor_from_object(object, &t)) {
        PyErr_Clear(); /* sparse, batched, negated, ...: Python's side knows, or says why not */
        return 0;
    }
    if (t.device_type != DEVICE_CPU && t.device_type != DEVICE_CUDA && t.device_type != DEVICE_CUDA_HOST &&
        t.device_type != DEVICE_CUDA_MANAGED)
        return 0;
    if (!fill_from_dl(&t, v) || (v->count && !t.data)) /* no memory: functionalized, fake, zeros that are only told */
        return 0;
    if (v->type == CARRIER_OTHER)
        return refuse_type(object, name, wanted_types(name));
    v->object = object;
    return 1;
}

static _Thread_local int unwatched;

/* Who in torch may watch calls: a function to ask, or a variable of a module to look at, and what nobody is. */
static struct {
    const char *module, *name;
    int is_call, nobody, flag;
    PyObject *function, *variables, *key;
} watchers[] = {{"torch._C", "_len_torch_dispatch_stack", 1, 0, WATCHED_RECORDED, NULL, NULL, NULL},
                {"torch._C", "_is_tracing", 1, 0, WATCHED_RECORDED, NULL, NULL, NULL},
                {"torch._C", "_is_torch_function_mode_enabled", 1, 0, WATCHED_SEEN, NULL, NULL, NULL},
                {"torch._C", "_are_functorch_transforms_active", 1, 0, WATCHED_LEVELS, NULL, NULL, NULL},
                {"torch.autograd.profiler", "_is_profiler_enabled", 0, 0, WATCHED_SEEN, NULL, NULL, NULL},
                {"torch.autograd.forward_ad", "_current_level", 0, -1, WATCHED_LEVELS, NULL, NULL, NULL}};
#define WATCHERS (sizeof watchers / sizeof watchers[0])

static int find_watchers(void)
{
    for (size_t i = 0; i < WATCHERS; i++) {
        PyObject *module = PyImport_ImportModule(watchers[i].module); /* kept, for its variables */
        watchers[i].key = PyUnicode_InternFromString(watchers[i].name);
        watchers[i].function = module && watchers[i].key ? PyObject_GetAttr(module, watchers[i].key) : NULL;
        if (!watchers[i].function)
            return -1;
        watchers[i].variables = PyModule_GetDict(module);
    }
    return 0;
}

int torch_watches(void)
{
    int flags = 0;
    if (unwatched)
        return 0;
    if (!watchers[WATCHERS - 1].variables && find_watchers())
        return -1;
    for (size_t i = 0; i < WATCHERS; i++) {
        PyObject *answer = watchers[i].is_call ? PyObject_CallNoArgs(watchers[i].function)
                                               : PyDict_GetItemWithError(watchers[i].variables, watchers[i].key);
        if (!answer)
            return -1;
        if (answer != Py_False && PyLong_AsLong(answer) != watchers[i].nobody)
            flags |= watchers[i].flag;
        if (watchers[i].is_call)
            Py_DECREF(answer);
    }
    return flags;
}

PyObject *native_watched(PyObject *module UNUSED, PyObject *unused UNUSED)
{
    const int flags = torch_watches();
    return flags < 0 ? NULL : PyLong_FromLong(flags);
}

PyObject *native_unwatched(PyObject *module UNUSED, PyObject *args, PyObject *keywords)
{
    PyObject *function, *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    if (!rest || !(function = PyTuple_GetItem(args, 0))) {
        Py_XDECREF(rest);
        return NULL;
    }
    unwatched++;
    PyObject *result = PyObject_Call(function, rest, keywords);
    unwatched--;
    Py_DECREF(rest);
    return result;
}

static void free_lent(dl_managed *lent)
{
    free(lent);
}

/* A new tensor in memory that is lent to torch, which costs less than to ask it for some. The memory lies behind what is
 * told of it, so that one piece is freed. */
static PyObject *make_torch(carrier type, int dimensions, const int64_t *size, view *v)
{
    static const struct {
        uint8_t code, bits;
    } code[] = {{CODE_FLOAT, 32}, {CODE_FLOAT, 64}, {CODE_FLOAT, 16}, {CODE_BFLOAT, 16}, {CODE_UINT, 8},
                {CODE_UINT, 16},  {CODE_UINT, 32},  {CODE_UINT, 64},  {CODE_BOOL, 8}};
    const size_t line = 64, told = sizeof(dl_managed) + 2 * sizeof(int64_t) * (size_t)dimensions;
    const size_t head = (told + line - 1) / line * line, item = carrier_size(type);
    uint64_t count = 1;
    int fits = 1;
    for (int d = 0; d < dimensions; d++) {
        fits &= size[d] == 0 || count <= PTRDIFF_MAX / item / (uint64_t)size[d];
        count *= (uint64_t)size[d];
    }
    char *const memory = fits || !count ? aligned_alloc(line, head + (count * item + line - 1) / line * line) : NULL;
    if (!memory)
        return PyErr_NoMemory();
    dl_managed *const lent = (dl_managed *)(void *)memory;
    int64_t *const sizes = (int64_t *)(void *)(memory + sizeof *lent), *const strides = sizes + dimensions;
    int64_t next = 1;
    for (int d = dimensions - 1; d >= 0; d--) {
        sizes[d] = size[d];
        strides[d] = next;
        next *= size[d];
    }
    *lent = (dl_managed){.major = 1,
                         .deleter = free_lent,
                         .tensor = {.data = memory + head,
                                    .device_type = DEVICE_CPU,
                                    .dimensions = dimensions,
                                    .code = code[type].code,
                                    .bits = code[type].bits,
                                    .lanes = 1,
                                    .size = sizes,
                                    .stride = strides}};
    fill_from_dl(&lent->tensor, v);
    void *object;
    if (torch.exchange->object_from_managed(lent, &object))
        return NULL;
    v->object = object;
    return object;
}

/* ------------------------------------------------------------------------------------------------- any kind */

int view_beside(PyObject *object, const char *name, const view *asked, view *v)
{
    PyTypeObject *const type = Py_TYPE(object);
    if (type == numpy.array)
        return view_numpy(object, name, v);
    if (type != torch.tensor && type != torch.parameter && !learn_torch(type))
        return 0;
    /* before anything is asked of the tensor, which would be recorded too */
    const int watched = asked && asked->kind == KIND_TORCH ? 0 : torch_watches();
    return watched ? -(watched < 0) : view_torch(object, name, v);
}

int view_of(PyObject *object, const char *name, view *v)
{
    return view_beside(object, name, NULL, v);
}

int view_of_address(uint64_t address, carrier type, PyObject *sizes, PyObject *strides, view *v)
{
    v->object = NULL;
    v->data = (char *)(uintptr_t)address;
    v->kind = KIND_NONE;
    v->type = type;
    v->item = carrier_size(type);
    v->is_code = type >= CARRIERS;
    v->writable = 1;
    v->device = -1;
    const Py_ssize_t n = PySequence_Size(sizes);
    if (n < 0 || n > MOST_DIMENSIONS) {
        if (n > 0)
            PyErr_SetString(PyExc_ValueError, "more than 64 dimensions");
        return -1;
    }
    v->dimensions = (int)n;
    int64_t next = 1;
    for (Py_ssize_t d = n - 1; d >= 0; d--) {
        PyObject *size = PySequence_GetItem(sizes, d);
        PyObject *stride = size && strides && strides != Py_None ? PySequence_GetItem(strides, d) : NULL;
        v->size[d] = size ? PyLong_AsLongLong(size) : -1;
        v->stride[d] = stride ? PyLong_AsLongLong(stride) : next;
        next *= v->size[d];
        Py_XDECREF(size);
        Py_XDECREF(stride);
        if (PyErr_Occurred() || v->size[d] < 0) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a size is negative");
            return -1;
        }
    }
    finish_view(v);
    return 0;
}

static int same_sizes(const view *v, int dimensions, const int64_t *size)
{
    return v->dimensions == dimensions && memcmp(v->size, size, sizeof size[0] * (size_t)dimensions) == 0;
}

PyObject *array_like(const view *like, carrier type, int dimensions, const int64_t *size, view *v)
{
    const int own = dimensions < 0;
    if (own) {
        dimensions = like->dimensions;
        size = like->size;
    }
    if (like->kind == KIND_TORCH) {
        if (own && !like->contiguous && type == like->type) {
            PyObject *module = PyImport_ImportModule("torch");
            PyObject *made = module ? PyObject_CallMethod(module, "empty_like", "O", like->object) : NULL;
            Py_XDECREF(module);
            if (made && Py_TYPE(made) != torch.tensor) { /* Parameter gives a tensor; nothing else comes here */
                Py_DECREF(made);
                made = NULL;
            } else if (made && view_torch(made, "out", v) == 1)
                return made;
            Py_XDECREF(made);
            if (PyErr_Occurred())
                return NULL;
        }
        return make_torch(type, dimensions, size, v);
    }
    PyObject *descr = numpy_type_of(type);
    if (!descr)
        return NULL;
    PyObject *made;
    if (own && !like->contiguous)
        made = numpy.make_like(like->object, NUMPY_KEEP_ORDER, descr, 0);
    else {
        intptr_t sizes[MOST_DIMENSIONS];
        for (int d = 0; d < dimensions; d++)
            sizes[d] = (intptr_t)size[d];
        made = numpy.make(numpy.array, descr, dimensions, sizes, NULL, NULL, 0, NULL);
    }
    if (made && view_numpy(made, "out", v) != 1) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

/* 0 where memory does not have the array, which has elements. */
static int reach_of(const view *v, core_reach *r)
{
    return core_reach_strided(r, v->data, v->item, v->dimensions, (const uint64_t *)v->size, v->stride);
}

int views_meet(const view *a, const view *b)
{
    core_reach x, y;
    if (a->count == 0 || b->count == 0 || a->device != b->device)
        return 0;
    return !reach_of(a, &x) || !reach_of(b, &y) || core_reaches_meet(&x, &y);
}

int overlap_in_part(const view *a, const view *b)
{
    if (a->data == b->data && a->item == b->item && same_sizes(a, b->dimensions, b->size)) {
        int same = 1;
        for (int d = 0; d < a->dimensions; d++)
            same &= a->size[d] == 1 || a->stride[d] == b->stride[d];
        if (same)
            return 0;
    }
    return views_meet(a, b);
}

static int overlaps_itself(const view *v)
{
    core_reach r;
    return v->count > 1 && !v->contiguous && !(reach_of(v, &r) && core_reach_is_apart(&r));
}

/* overlap((address, bytes of an element, sizes, strides)[, another such]): whether two elements share memory; of two
 * arrays, one of each, unless they are the very same array. */
PyObject *native_overlap(PyObject *module UNUSED, PyObject *args)
{
    unsigned long long address[2];
    Py_ssize_t item[2];
    PyObject *sizes[2], *strides[2] = {NULL, NULL};
    view v[2];
    if (!PyArg_ParseTuple(args, "(KnOO)|(KnOO)", &address[0], &item[0], &sizes[0], &strides[0], &address[1], &item[1],
                          &sizes[1], &strides[1]))
        return NULL;
    for (int i = 0; i < 2 && strides[i]; i++) {
        if (view_of_address(address[i], CARRIER_U8, sizes[i], strides[i], &v[i]))
            return NULL;
        v[i].item = (size_t)item[i];
    }
    return PyBool_FromLong(strides[1] ? overlap_in_part(&v[0], &v[1]) : overlaps_itself(&v[0]));
}

int check_out(const view *out, carrier type, int device, int dimensions, const int64_t *size)
{
    if (out->type != type)
        return refuse(PyExc_TypeError, "out has the dtype %s, and the result %s", carrier_name(out->type),
                      carrier_name(type));
    if (out->device != device)
        return refuse(PyExc_ValueError, "out lies on another device than the input");
    if (!same_sizes(out, dimensions, size))
        return refuse(PyExc_ValueError, "out has another shape than the result");
    if (!out->writable)
        return refuse(PyExc_ValueError, "out is read-only");
    if (overlaps_itself(out))
        return refuse(PyExc_ValueError, "elements of out share memory with one another");
    return 0;
}

int array_written(const view *v)
{
    if (v->kind != KIND_TORCH || !python.bump)
        return 0;
    PyObject *done = PyObject_CallFunctionObjArgs(python.bump, v->object, NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* ----------------------------------------------------------------------------------------- gather, scatter */

/* Moves `count` elements from element `first` in C order on; `to_memory`: out of the array. */
static void move(const view *v, uint64_t first, uint64_t count, char *memory, int to_memory)
{
    int64_t at[MOST_DIMENSIONS];
    const size_t item = v->item;
    const int last = v->dimensions - 1;
    char *place = v->data;
    if (count == 0)
        return;
    uint64_t rest = first;
    for (int d = last; d >= 0; d--) {
        at[d] = (int64_t)(rest % (uint64_t)v->size[d]);
        rest /= (uint64_t)v->size[d];
        place += at[d] * v->stride[d] * (int64_t)item;
    }
    if (last < 0) {
        memcpy(to_memory ? memory : place, to_memory ? place : memory, item);
        return;
    }
    for (;;) {
        uint64_t run = (uint64_t)(v->size[last] - at[last]);
        run = run < count ? run : count;
        const int64_t step = v->stride[last] * (int64_t)item;
        for (uint64_t i = 0; i < run; i++, place += step, memory += item)
            if (to_memory)
                memcpy(memory, place, item);
            else
                memcpy(place, memory, item);
        count -= run;
        if (count == 0)
            return;
        place -= v->size[last] * step;
        at[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            place += v->stride[d] * (int64_t)item;
            if (++at[d] < v->size[d])
                break;
            place -= v->size[d] * v->stride[d] * (int64_t)item;
            at[d] = 0;
        }
    }
}

void gather(const view *v, uint64_t first, uint64_t count, void *to)
{
    if (v->contiguous)
        memcpy(to, v->data + first * v->item, count * v->item);
    else
        move(v, first, count, to, 1);
}

void scatter(const view *v, uint64_t first, uint64_t count, const void *from)
{
    if (v->contiguous)
        memcpy(v->data + first * v->item, from, count * v->item);
    else
        move(v, first, count, (char *)(uintptr_t)from, 0);
}

int arrays_ready(void)
{
    PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
    if (!module) {
        PyErr_Clear();
        module = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
    void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    if (!table)
        return -1;
    numpy.array = table[2];
    memcpy(&numpy.type_of, &table[45], sizeof table[0]);
    memcpy(&numpy.make, &table[94], sizeof table[0]);
    memcpy(&numpy.make_like, &table[277], sizeof table[0]);
    return 0;
}
