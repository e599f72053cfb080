/* SPDX-License-Identifier: BSD-2-Clause */
/* native.h - the binding's own nouns: arrays of other packages as views, and formats, roundings and stats as objects.
 * Only the stable interface of Python 3.10 is used, and none of NumPy's or PyTorch's headers: what is needed of theirs,
 * which is fixed by their promises, is declared in arrays.c. */
#ifndef FPEMU_NATIVE_H
#define FPEMU_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fpemu.h>

#define MOST_DIMENSIONS 64
#define UNUSED __attribute__((unused))
/* Calls on more elements than this release the interpreter's lock. */
#define ELEMENTS_WITH_LOCK 4096

/* ------------------------------------------------------------------------------------------------ arrays */

typedef enum carrier {
    CARRIER_F32 = 0,
    CARRIER_F64 = 1,
    CARRIER_F16 = 2,
    CARRIER_BF16 = 3,
    CARRIERS = 4, /* what follows holds codes */
    CARRIER_U8 = 4,
    CARRIER_U16 = 5,
    CARRIER_U32 = 6,
    CARRIER_U64 = 7,
    CARRIER_BOOL = 8,
    CARRIER_OTHER = 9
} carrier;

/* What the library calls numbers of c < CARRIERS. */
static inline fpemu_type type_of(carrier c)
{
    static const fpemu_type types[CARRIERS] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, FPEMU_TYPE_F16, FPEMU_TYPE_BF16};
    return types[c];
}

/* The codes of so many bytes. */
static inline carrier unsigned_of(size_t bytes)
{
    return bytes == 1 ? CARRIER_U8 : bytes == 2 ? CARRIER_U16 : bytes == 4 ? CARRIER_U32 : CARRIER_U64;
}

/* Bytes of an element. */
size_t carrier_size(carrier c);
const char *carrier_name(carrier c);

typedef enum array_kind { KIND_NUMPY, KIND_TORCH, KIND_NONE } array_kind;

/* An array of another package, seen without a copy; it lives as long as `object`, which is borrowed. */
typedef struct view {
    PyObject *object;
    char *data;
    array_kind kind;
    carrier type;
    size_t item; /* bytes of an element */
    int is_code; /* CARRIER_U8...: its own type is an integer or one of 8 bits */
    int writable;
    int device; /* -1: the processor's memory; else the number of a CUDA device */
    int dimensions;
    uint64_t count;                                         /* elements */
    int contiguous;                                         /* in C order, without gaps */
    int64_t size[MOST_DIMENSIONS], stride[MOST_DIMENSIONS]; /* strides in elements */
} view;

/* 1: seen. 0: `object` is of another kind, or a tensor while torch watches, which Python's side may know how to adopt;
 * no exception is set. -1: an exception is set. `name` is the argument's. */
int view_of(PyObject *object, const char *name, view *v);
/* The same beside another array of the call, or NULL: torch is asked once in a call. */
int view_beside(PyObject *object, const char *name, const view *asked, view *v);
/* Who in torch watches what is called, once a tensor of torch was seen: 0 where nobody does, and the short way past
 * torch's dispatcher may be taken; -1 with an exception. RECORDED: for a graph, which would lack a call that is not
 * seen. SEEN: somebody looks on. LEVELS: derivatives, or mapped calls, in which this one has a part by its tensors. */
enum { WATCHED_RECORDED = 1, WATCHED_SEEN = 2, WATCHED_LEVELS = 4 };
int torch_watches(void);
/* watched(): the same. */
PyObject *native_watched(PyObject *module, PyObject *unused);
/* unwatched(function, ...): calls it where torch has been told already: inside kernels of operators. */
PyObject *native_unwatched(PyObject *module, PyObject *args, PyObject *keywords);
/* A raw address; sizes and strides (NULL: contiguous) are sequences of integers. */
int view_of_address(uint64_t address, carrier type, PyObject *sizes, PyObject *strides, view *v);
/* A new array of the same kind and device as `like`, with its sizes, or others: dimensions >= 0. Fills *v. The layout in
 * memory follows `like` where the sizes are its own and the kind allows it. */
PyObject *array_like(const view *like, carrier type, int dimensions, const int64_t *size, view *v);
/* 0 if `out` can take what `like`-shaped input gives; else -1 with an exception. */
int check_out(const view *out, carrier type, int device, int dimensions, const int64_t *size);
/* TypeError for the dtype of the argument of that name. Returns -1. */
int refuse_type(PyObject *array, const char *name, const char *why);
extern const char WHY_REAL[]; /* where numbers are wanted */
/* After writing into an array of the caller's: autograd's version counter. */
int array_written(const view *v);
/* 1 if an element of one array shares memory with one of the other. */
int views_meet(const view *a, const view *b);
/* 1 if they do without being element by element the same. */
int overlap_in_part(const view *a, const view *b);
PyObject *native_overlap(PyObject *module, PyObject *args);
/* Elements in C order from a place to another: gathered to contiguous memory, or scattered from it. */
void gather(const view *v, uint64_t first, uint64_t count, void *to);
void scatter(const view *v, uint64_t first, uint64_t count, const void *from);
int arrays_ready(void);

/* ----------------------------------------------------------------------------------------------- objects */

#define MOST_KEPT 16

typedef struct {
    PyObject_HEAD
    fpemu_format value;
    PyObject *spec;  /* canonical text, NULL for a table of the caller's */
    PyObject *table; /* bytes object that value.table lies in, or NULL */
    Py_hash_t hash;
    struct kept *kept[MOST_KEPT]; /* calls that are prepared; NULL after the last */
} format_object;

typedef struct {
    PyObject_HEAD
    fpemu_rounding value;
} rounding_object;

typedef struct {
    PyObject_HEAD
    fpemu_stats value;
} stats_object;

extern PyTypeObject *format_type, *rounding_type, *stats_type;
int objects_ready(PyObject *module);

/* What an argument stands for: an object of that type, or the text of one. A new reference, or NULL with an exception. */
format_object *format_of(PyObject *argument);
rounding_object *rounding_of(PyObject *argument);
/* The call that is prepared for a format, what a rounding says beside its place, a type and an fpemu_use. The first of
 * them are kept with the format, and constant as long as it lives; others are made in *own. NULL with an exception, of
 * `verb`, where the library refuses them. */
const fpemu_prepared *prepared_of(format_object *format, const fpemu_rounding *rounding, carrier type, int use,
                                  const char *verb, fpemu_prepared *own);
/* The same, made in *own and not kept: words belong to one call. */
const fpemu_prepared *prepared_apart(format_object *format, const fpemu_rounding *rounding, carrier type, int use,
                                     const char *verb, fpemu_prepared *own);
static inline fpemu_place place_of(const fpemu_rounding *rounding, uint64_t offset)
{
    return (fpemu_place){rounding->seed, rounding->stream, rounding->offset + offset};
}
/* 0, and *stats NULL for None; -1 with an exception. */
int stats_of(PyObject *argument, stats_object **stats);

/* Counters for one call: the object's own where the interpreter's lock is held, else apart from it. */
typedef struct counting {
    stats_object *object;
    fpemu_stats *stats; /* for the call; may be NULL */
    fpemu_stats own;
    int apart;
} counting;
int counting_begin(counting *c, stats_object *object, int apart);
/* Adds to the object; with the lock held. -1 with an exception. */
int counting_end(counting *c);

/* ---------------------------------------------------------------------------------------------- errors */

/* What Python's side registers. */
typedef struct registered {
    PyObject *format, *rounding, *error, *spec_error, *adopt, *memory, *bump, *grad, *given;
} registered;
extern registered python;

/* Raises fpemu.Error for a status, in the words of `why` (may be NULL) where it has some. Returns NULL. */
PyObject *raise_status(fpemu_status status, const char *what, const format_object *format, const fpemu_why *why);
/* `why`, filled where a call with that status refused a format, a rounding and arrays of a type for an fpemu_use. */
const fpemu_why *why_refused(fpemu_status status, const fpemu_format *f, const fpemu_rounding *r, carrier type, int use,
                             fpemu_why *why);
PyObject *raise_spec(const char *noun, PyObject *text, const fpemu_parse_error *error);

/* --------------------------------------------------------------------------------------------- arguments */

/* Names of a function's parameters; the first `positional` may be given by place, the first `required` must be given. */
typedef struct parameters {
    const char *function;
    int count, positional, required;
    const char *name[15];
} parameters;
int parse_arguments(const parameters *p, PyObject *const *args, Py_ssize_t positional, PyObject *names,
                    PyObject **value);
int u64_argument(PyObject *object, const char *name, uint64_t *value);
/* As PyErr_Format, for functions whose failure is -1. */
int refuse(PyObject *exception, const char *format, ...);
/* 0 where `function` is given the wanted number of arguments, all by place; else -1 with an exception. */
int takes(const char *function, Py_ssize_t given, Py_ssize_t wanted, PyObject *names);
/* A Python number as the binary64 number that it is; integers that are none are refused, never rounded. */
int number_argument(PyObject *object, const char *name, double *value);
/* The UTF-8 of a text for the library, which has neither zero characters nor lone surrogates. NULL with an exception. */
const char *text_argument(const char *noun, PyObject *text);

/* The dimension that `argument` (None: -1) names. -1 with an exception. */
int axis_argument(PyObject *argument, int dimensions, int *axis);

/* ------------------------------------------------------------------------------------------------ calls */

/* Calls function(verb, positional arguments, a dictionary of those by name); verb = NULL: function as it was called. */
PyObject *call_by(PyObject *function, const char *verb, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/* Python's side takes the call: it knows other arrays. */
PyObject *call_adopter(const char *verb, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/* Whether a tensor takes part in autograd now; -1 with an exception. */
int wants_gradient(const view *v);
/* An array of numbers as an operand. As view_beside; 0 also for tensors with a gradient and on a device. */
int operand_view(PyObject *object, const char *name, const view *asked, view *v);
/* The array to write to: `out`, which fits and shares no memory in part with the inputs, or a new one. A new reference,
 * or NULL with an exception. dimensions < 0: the sizes of inputs[0]. */
PyObject *result_view(PyObject *out, const view *inputs, int count, carrier type, int dimensions, const int64_t *size,
                      view *y);
/* *whole points at `range`, filled from a fpemu.Range, or is NULL for None. -1 with an exception. */
int range_of(PyObject *argument, fpemu_range *range, const fpemu_range **whole);
/* The model that the bytes of native_gemm hold. -1 with an exception. */
int spec_of(PyObject *bytes, fpemu_gemm_spec *spec);
/* Makes the results of a model numbers of a 16-bit type, rounded once; *as: its format. -1 with an exception. */
int narrow_result(carrier type, fpemu_gemm_spec *spec, fpemu_format *as);
/* What a call did: the result, or NULL with an exception, the result released. Ends the counting. */
PyObject *finish_call(PyObject *made, PyObject *out, const view *y, counting *c, fpemu_status status, const char *verb,
                      const format_object *format, const fpemu_why *why);

/* The sizes and strides of x and y as the library's tensor, blocks along `axis`. 0 if its four strides cannot tell them. */
int shape_of_views(const fpemu_format *format, const view *x, const view *y, int axis, fpemu_shape *shape);
/* x to y by a call that is prepared for the format; both are on the processor and of one type. */
fpemu_status quantize_views(const fpemu_prepared *call, const fpemu_format *format, const fpemu_place *place,
                            const view *x, const view *y, int axis, const fpemu_range *whole, const fpemu_given *given,
                            fpemu_stats *stats);

/* A function that is called by place and by name. Those of NATIVES have no documentation: Python's side calls them. */
#define NATIVE(name)                                                                                                   \
    PyObject *native_##name(PyObject *module UNUSED, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
/* The same where so many arguments are taken, all by place: others are refused. */
#define NATIVE_TAKING(name, count)                                                                                     \
    static PyObject *take_##name(PyObject *const *args, Py_ssize_t nargs, PyObject *names);                            \
    NATIVE(name)                                                                                                       \
    {                                                                                                                  \
        return takes(#name, nargs, count, names) ? NULL : take_##name(args, nargs, names);                             \
    }                                                                                                                  \
    static PyObject *take_##name(PyObject *const *args, Py_ssize_t nargs UNUSED, PyObject *names UNUSED)
#define NATIVES(each)                                                                                                  \
    each(encode), each(decode), each(arith), each(apply), each(compare), each(pack), each(unpack), each(layout),       \
        each(measure), each(swizzle), each(matmul), each(unpack_scales), each(extents), each(quantize_given),          \
        each(device_run), each(device_measure), each(device_matmul), each(device_stats)
#define NATIVE_TYPE(name) native_##name
typedef PyObject *native(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
native NATIVES(NATIVE_TYPE), native_quantize;
PyObject *native_device_open(PyObject *module, PyObject *path);
PyObject *native_delayed_update(PyObject *module, PyObject *args);
PyObject *native_gemm(PyObject *module, PyObject *args);

#endif /* FPEMU_NATIVE_H */
