/* SPDX-License-Identifier: BSD-2-Clause */
/* elements.c - calls on each element by itself: codes, operations, functions, comparisons. Operands are broadcast as
 * NumPy does it. Arrays without gaps go to the library as they are, others in pieces, gathered and scattered. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 3
/* Pieces end at multiples of so many elements in the random stream, as those of the library's sums do. */
#define PIECE 4096

typedef struct element_call {
    const fpemu_prepared *call; /* NULL for comparisons */
    fpemu_place place;
    int use;      /* fpemu_use; of comparisons the relation */
    carrier type; /* of the numbers */
    int operands;
    view x[MOST_OPERANDS], y;
    int single[MOST_OPERANDS]; /* one number for all elements, in `held` */
    uint64_t held[MOST_OPERANDS];
} element_call;

static fpemu_status run(const element_call *c, const fpemu_place *place, size_t n, const void *const *in,
                        const size_t *steps, void *out, fpemu_stats *stats)
{
    if (!c->call)
        return fpemu_compare(type_of(c->type), (fpemu_relation)c->use, n, in, steps, out);
    if (c->use >= FPEMU_USE_OPERATION && c->use < FPEMU_USE_FUNCTION)
        return fpemu_run_operation(c->call, place, n, in, steps, NULL, out, stats);
    return fpemu_run(c->call, place, n, in[0], out, stats);
}

/* Functions refuse an array for what its numbers are, so that it goes to the library whole: what is not contiguous by a
 * copy. */
static fpemu_status run_whole(const element_call *c, fpemu_stats *stats)
{
    const view *const x = &c->x[0], *const y = &c->y;
    char *const memory = malloc(y->count * y->item);
    if (!memory)
        return FPEMU_ERROR_BUFFER;
    const void *const in = x->contiguous ? x->data : memory;
    void *const out = y->contiguous ? y->data : memory;
    const size_t step = 1;
    if (in == memory)
        gather(x, 0, x->count, memory);
    const fpemu_status status = run(c, &c->place, y->count, &in, &step, out, stats);
    if (out == memory && (!status || status == FPEMU_ERROR_NAN))
        scatter(y, 0, y->count, memory);
    free(memory);
    return status;
}

/* In pieces, each through memory of its own: calls that refuse no array for its numbers. */
static fpemu_status run_pieces(const element_call *c, fpemu_stats *stats)
{
    char *const memory = malloc(PIECE * 8 * (MOST_OPERANDS + 1));
    if (!memory)
        return FPEMU_ERROR_BUFFER;
    char *const result = memory + PIECE * 8 * MOST_OPERANDS;
    fpemu_place place = c->place;
    fpemu_status worst = FPEMU_OK;
    size_t steps[MOST_OPERANDS];
    const void *in[MOST_OPERANDS];
    for (uint64_t at = 0, n; at < c->y.count; at += n, place.offset += n) {
        n = PIECE - (place.offset & (PIECE - 1));
        n = n < c->y.count - at ? n : c->y.count - at;
        for (int i = 0; i < c->operands; i++) {
            const view *const x = &c->x[i];
            steps[i] = !c->single[i];
            if (c->single[i])
                in[i] = &c->held[i];
            else if (x->contiguous)
                in[i] = x->data + at * x->item;
            else {
                in[i] = memory + PIECE * 8 * (size_t)i;
                gather(x, at, n, memory + PIECE * 8 * (size_t)i);
            }
        }
        void *const out = c->y.contiguous ? c->y.data + at * c->y.item : result;
        const fpemu_status status = run(c, &place, n, in, steps, out, stats);
        if (status && status != FPEMU_ERROR_NAN) {
            worst = status;
            break;
        }
        worst = status ? status : worst;
        if (!c->y.contiguous)
            scatter(&c->y, at, n, result);
    }
    free(memory);
    return worst;
}

static fpemu_status run_all(const element_call *c, fpemu_stats *stats)
{
    size_t steps[MOST_OPERANDS];
    const void *in[MOST_OPERANDS];
    int direct = c->y.contiguous;
    for (int i = 0; i < c->operands; i++) {
        steps[i] = !c->single[i];
        in[i] = c->single[i] ? (const void *)&c->held[i] : c->x[i].data;
        direct &= c->single[i] || c->x[i].contiguous;
    }
    if (c->y.count == 0)
        return FPEMU_OK;
    if (direct)
        return run(c, &c->place, c->y.count, in, steps, c->y.data, stats);
    return c->call && c->use >= FPEMU_USE_FUNCTION ? run_whole(c, stats) : run_pieces(c, stats);
}

/* Stretches x to sizes: dimensions of 1 and missing ones repeat. */
static void stretch(view *x, int dimensions, const int64_t *size)
{
    int64_t stride[MOST_DIMENSIONS];
    uint64_t count = 1;
    int changed = x->dimensions != dimensions;
    for (int d = 0; d < dimensions; d++) {
        const int own = d - (dimensions - x->dimensions);
        count *= (uint64_t)size[d];
        stride[d] = own >= 0 && x->size[own] == size[d] ? x->stride[own] : 0;
        changed |= own < 0 || x->size[own] != size[d];
    }
    if (!changed)
        return;
    memcpy(x->stride, stride, sizeof stride[0] * (size_t)dimensions);
    memcpy(x->size, size, sizeof size[0] * (size_t)dimensions);
    x->dimensions = dimensions;
    x->contiguous = x->count == count && x->contiguous;
    x->count = count;
}

/* The sizes that all operands stretch to. */
static int common_sizes(const element_call *c, int64_t *size)
{
    int dimensions = 0;
    for (int i = 0; i < c->operands; i++)
        dimensions = c->x[i].dimensions > dimensions ? c->x[i].dimensions : dimensions;
    for (int d = 0; d < dimensions; d++) {
        size[d] = 1;
        for (int i = 0; i < c->operands; i++) {
            const int own = d - (dimensions - c->x[i].dimensions);
            const int64_t s = own < 0 ? 1 : c->x[i].size[own];
            if (s != 1 && size[d] != 1 && s != size[d])
                return refuse(PyExc_ValueError,
                              "operands of sizes %lld and %lld along one axis cannot be broadcast "
                              "together",
                              (long long)size[d], (long long)s);
            size[d] = s != 1 ? s : size[d];
        }
    }
    return dimensions;
}

/* A Python number as a number of the carrier; it is refused where it is none. */
static int hold_number(PyObject *object, carrier type, const char *name, uint64_t *held)
{
    double x;
    if (number_argument(object, name, &x))
        return -1;
    const float narrow = (float)x;
    int exact = 1;
    *held = 0;
    if (type == CARRIER_F64)
        memcpy(held, &x, sizeof x);
    else if (type == CARRIER_F32) {
        memcpy(held, &narrow, sizeof narrow);
        exact = (double)narrow == x || x != x;
    } else {
        fpemu_format format;
        const fpemu_rounding nearest = fpemu_rounding_nearest();
        fpemu_format_named(type == CARRIER_F16 ? FPEMU_NAME_BINARY16 : FPEMU_NAME_BFLOAT16, &format);
        const uint16_t code = (uint16_t)fpemu_encode_one_f64(&format, &nearest, x, 0);
        memcpy(held, &code, sizeof code);
        exact = fpemu_decode_one_f64(&format, code) == x || x != x;
    }
    if (exact)
        return 0;
    return refuse(PyExc_ValueError,
                  "%s, the number %R, is none of the arrays' dtype %s; fpemu.quantize rounds it first", name, object,
                  carrier_name(type));
}

/* Fills the operands from objects, Python's numbers among them. As view_of. */
static int take_operands(element_call *c, PyObject *const *objects, int count)
{
    static const char *const names[] = {"a", "b", "c"};
    int first = -1;
    c->operands = count;
    for (int i = 0; i < count; i++) {
        c->single[i] = PyFloat_Check(objects[i]) || PyLong_Check(objects[i]);
        if (c->single[i])
            continue;
        const int found =
            operand_view(objects[i], count == 1 ? "x" : names[i], first < 0 ? NULL : &c->x[first], &c->x[i]);
        if (found <= 0)
            return found;
        if (first < 0)
            first = i;
        else if (c->x[i].type != c->x[first].type || c->x[i].kind != c->x[first].kind)
            return refuse(PyExc_TypeError,
                          c->x[i].kind != c->x[first].kind
                              ? "operands are arrays of different kinds"
                              : "operands have the dtypes %s and %s: fpemu rounds neither first; convert one of them",
                          carrier_name(c->x[first].type), carrier_name(c->x[i].type));
    }
    if (first < 0)
        return 0; /* numbers alone */
    c->type = c->x[first].type;
    for (int i = 0; i < count; i++) {
        if (c->single[i]) {
            c->x[i] = c->x[first];
            c->x[i].dimensions = 0;
            c->x[i].count = 1;
            if (hold_number(objects[i], c->type, names[i], &c->held[i]))
                return -1;
        } else if (c->x[i].count == 1 && count > 1) {
            c->single[i] = 1;
            c->held[i] = 0;
            memcpy(&c->held[i], c->x[i].data, c->x[i].item);
        }
    }
    return 1;
}

/* Makes the result and calls. `y_type`: of the result. Comparisons have no format. */
static PyObject *make_elements(element_call *c, const char *verb, format_object *format, const fpemu_rounding *rounding,
                               PyObject *out, PyObject *stats_object_or_none, PyObject *offset, carrier y_type)
{
    fpemu_prepared own;
    int64_t size[MOST_DIMENSIONS];
    stats_object *stats = NULL;
    uint64_t moved = 0;
    counting counter;
    view inputs[MOST_OPERANDS];
    const int dimensions = common_sizes(c, size);
    if (dimensions < 0 || stats_of(stats_object_or_none, &stats) || u64_argument(offset, "offset", &moved))
        return NULL;
    c->call = format ? prepared_of(format, rounding, c->type, c->use, verb, &own) : NULL;
    if (format && !c->call)
        return NULL;
    c->place = place_of(rounding, moved);
    int owner = 0, kept = 0, same = 0;
    for (int i = 0; i < c->operands; i++)
        if (c->x[i].dimensions)
            owner = c->x[owner].dimensions ? owner : i;
    /* the first that is the whole result's size decides its layout */
    for (int i = 0; i < c->operands && !same; i++) {
        same = c->x[i].dimensions == dimensions && memcmp(c->x[i].size, size, sizeof size[0] * (size_t)dimensions) == 0;
        owner = same ? i : owner;
    }
    for (int i = 0; i < c->operands; i++)
        stretch(&c->x[i], dimensions, size);
    inputs[kept++] = c->x[owner];
    for (int i = 0; i < c->operands; i++)
        if (i != owner && !c->single[i])
            inputs[kept++] = c->x[i];
    if (c->single[owner]) { /* held already: it may lie in the result */
        inputs[0].count = 0;
        inputs[0].contiguous = 1;
    }
    PyObject *made = result_view(out, inputs, kept, y_type, same ? -1 : dimensions, size, &c->y);
    if (!made)
        return NULL;
    const int large = c->y.count > ELEMENTS_WITH_LOCK;
    if (counting_begin(&counter, stats, large)) {
        Py_DECREF(made);
        return NULL;
    }
    PyThreadState *const state = large ? PyEval_SaveThread() : NULL;
    const fpemu_status status = run_all(c, counter.stats);
    if (state)
        PyEval_RestoreThread(state);
    return finish_call(made, out, &c->y, &counter, status, verb, format, NULL);
}

/* The last five of a verb's arguments: format, rounding, offset, out, stats. `y_type`: of the result; -1: of codes. */
static PyObject *call_elements(element_call *c, const char *verb, PyObject *const *args, int y_type)
{
    PyObject *made = NULL;
    format_object *format = format_of(args[0]);
    rounding_object *rounding = format ? rounding_of(args[1]) : NULL;
    if (rounding)
        made = make_elements(c, verb, format, &rounding->value, args[3], args[4], args[2],
                             y_type < 0 ? unsigned_of(fpemu_format_code_size(&format->value)) : (carrier)y_type);
    Py_XDECREF(format);
    Py_XDECREF(rounding);
    return made;
}

/* encode(x, format, rounding, offset, out, stats) */
NATIVE_TAKING(encode, 6)
{
    element_call c;
    c.use = FPEMU_USE_ENCODE;
    const int found = take_operands(&c, args, 1);
    if (found <= 0)
        return found ? NULL : call_adopter("encode", args, nargs, names);
    return call_elements(&c, "encode", args + 1, -1);
}

/* decode(codes, format, type, out): type is a carrier's number */
NATIVE_TAKING(decode, 4)
{
    element_call c;
    uint64_t type = 0;
    c.use = FPEMU_USE_DECODE;
    c.operands = 1;
    c.single[0] = 0;
    const int found = view_of(args[0], "codes", &c.x[0]);
    if (found <= 0 || c.x[0].device >= 0)
        return found < 0 ? NULL : call_adopter("decode", args, nargs, names);
    if (u64_argument(args[2], "dtype", &type) || type >= CARRIERS) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "dtype is float32, float64, float16 or bfloat16");
        return NULL;
    }
    PyObject *made = NULL;
    format_object *format = format_of(args[1]);
    if (!format)
        return NULL;
    c.type = (carrier)type;
    const size_t size = fpemu_format_code_size(&format->value);
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    if (!format->value.scaling && (!c.x[0].is_code || c.x[0].item != size))
        PyErr_Format(PyExc_TypeError, "codes of %R are unsigned integers of %zd bits, not %s", format,
                     (Py_ssize_t)size * 8, carrier_name(c.x[0].type));
    else
        made = make_elements(&c, "decode", format, &nearest, args[3], Py_None, Py_None, c.type);
    Py_DECREF(format);
    return made;
}

/* arith(operation, operands, format, rounding, offset, out, stats) */
NATIVE_TAKING(arith, 7)
{
    static const int wanted[FPEMU_OPERATION_COUNT] = {2, 2, 2, 2, 1, 3, 2, 2, 2, 2};
    element_call c;
    const long operation = PyLong_AsLong(args[0]);
    if (operation < 0 || operation >= FPEMU_OPERATION_COUNT || !PyTuple_Check(args[1]) ||
        PyTuple_Size(args[1]) != wanted[operation]) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no such operation of so many operands");
        return NULL;
    }
    PyObject *objects[MOST_OPERANDS];
    for (int i = 0; i < wanted[operation]; i++)
        objects[i] = PyTuple_GetItem(args[1], i);
    c.use = FPEMU_USE_OPERATION + (int)operation;
    const int found = take_operands(&c, objects, wanted[operation]);
    if (found <= 0)
        return found ? NULL : call_adopter("arith", args, nargs, names);
    return call_elements(&c, "the operation", args + 2, c.type);
}

/* apply(function, x, format, rounding, offset, out, stats): function by its name */
NATIVE_TAKING(apply, 7)
{
    element_call c;
    fpemu_function function;
    const char *const name = PyUnicode_Check(args[0]) ? text_argument("function", args[0]) : NULL;
    if (!name || fpemu_function_named(name, &function)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "there is no function %R; fpemu.functions lists them", args[0]);
        return NULL;
    }
    c.use = FPEMU_USE_FUNCTION + (int)function;
    const int found = take_operands(&c, args + 1, 1);
    if (found <= 0)
        return found ? NULL : call_adopter("apply", args, nargs, names);
    return call_elements(&c, name, args + 2, c.type);
}

/* compare(relation, a, b, out) */
NATIVE_TAKING(compare, 4)
{
    element_call c;
    const long relation = PyLong_AsLong(args[0]);
    if (relation < 0 || relation >= FPEMU_RELATION_COUNT) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no such relation");
        return NULL;
    }
    c.use = (int)relation;
    const int found = take_operands(&c, args + 1, 2);
    if (found <= 0)
        return found ? NULL : call_adopter("compare", args, nargs, names);
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    return make_elements(&c, "compare", NULL, &nearest, args[3], Py_None, Py_None, CARRIER_BOOL);
}
