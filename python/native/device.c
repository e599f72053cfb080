/* SPDX-License-Identifier: BSD-2-Clause */
/* device.c - calls on the memory of CUDA devices, by libfpemu_cuda, which is opened at run time. Tensors are checked here
 * for their dtypes, sizes and devices; counters are handed over by address. Nothing waits for the device but what reads
 * counters and ranges. */
#include "native.h"

#include <dlfcn.h>
#include <fpemu_cuda.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define CALLS(F)                                                                                                       \
    F(status_text)                                                                                                     \
    F(stats_size) F(stats_clear) F(stats_read) F(range_size) F(range_clear) F(range_read) F(measure) F(scratch_size)   \
        F(quantize_tensor) F(encode) F(decode) F(pack) F(unpack) F(arith) F(apply) F(gemm_scratch_size) F(gemm_scaled)
/* clang-format on */
#define MEMBER(name) __typeof__(fpemu_cuda_##name) *name;
#define ENTRY(name) {"fpemu_cuda_" #name, offsetof(struct library, name)},
static struct library {
    CALLS(MEMBER)
} cuda;

/* device_open(path): the bytes of counters on a device. OSError where there is no such library. */
PyObject *native_device_open(PyObject *module UNUSED, PyObject *path)
{
    static const struct {
        const char *name;
        size_t place;
    } calls[] = {CALLS(ENTRY)};
    const char *const utf8 = text_argument("path", path);
    void *const library = utf8 ? dlopen(utf8, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; utf8 && i < sizeof calls / sizeof calls[0]; i++) {
        void *const call = library ? dlsym(library, calls[i].name) : NULL;
        if (!call)
            return PyErr_Format(PyExc_OSError, "%s", dlerror());
        memcpy((char *)&cuda + calls[i].place, &call, sizeof call);
    }
    return utf8 ? PyLong_FromSize_t(cuda.stats_size()) : NULL;
}

static int is_open(void)
{
    if (cuda.gemm_scaled)
        return 1;
    PyErr_SetString(PyExc_RuntimeError, "device_open comes first");
    return 0;
}

/* A tensor without gaps, on the device of another (NULL: on any). 0; -1 with an exception. */
static int take(PyObject *object, const view *beside, view *v)
{
    const int found = view_of(object, "the tensor", v);
    if (found > 0 && v->contiguous && (!beside || v->device == beside->device))
        return 0;
    if (found > 0 && v->contiguous)
        PyErr_SetString(PyExc_ValueError, "tensors lie on several devices");
    else if (found >= 0)
        PyErr_SetString(PyExc_TypeError, "a tensor without gaps in memory of a device is needed");
    return -1;
}

static int check_type(const view *v, carrier type)
{
    if (v->type == type)
        return 0;
    return refuse(PyExc_TypeError, "a tensor has the dtype %s where %s is needed", carrier_name(v->type),
                  carrier_name(type));
}

static int check_count(const view *v, uint64_t count)
{
    if (v->count == count)
        return 0;
    return refuse(PyExc_ValueError, "a tensor has %llu elements where %llu are needed", (unsigned long long)v->count,
                  (unsigned long long)count);
}

/* New memory on the device of `like`, which torch's allocator keeps for the stream's earlier work once it is given back.
 * NULL with an exception. */
static PyObject *device_memory(const view *like, uint64_t bytes, view *v)
{
    PyObject *made =
        PyObject_CallMethod(like->object, "new_empty", "((K))", (unsigned long long)(bytes / like->item + 1));
    if (made && take(made, like, v))
        Py_CLEAR(made);
    return made;
}

/* Raises fpemu.Error for what libfpemu itself takes. */
static PyObject *raise_device(fpemu_cuda_status status, const char *verb, const format_object *format)
{
    const char *const text = status == FPEMU_CUDA_ERROR_UNSUPPORTED
                                 ? "a device has neither NaN policy error nor codes of a table of more than 256 values"
                                 : cuda.status_text(status);
    fpemu_why why = {.argument = 1};
    strncpy(why.message, text, sizeof why.message - 1);
    return raise_status((fpemu_status)status, verb, format, &why);
}

static const char *verb_of(int use)
{
    static const char *const verbs[] = {"quantize", "encode", "decode", "pack", "unpack"};
    return use >= FPEMU_USE_FUNCTION    ? fpemu_function_name((fpemu_function)(use - FPEMU_USE_FUNCTION))
           : use >= FPEMU_USE_OPERATION ? "the operation"
                                        : verbs[use];
}

/* Whether the tensors of a call are what it reads and writes. */
static int check_tensors(int use, const format_object *format, const fpemu_shape *shape, const view *x, int count,
                         const view *y)
{
    const fpemu_format *const f = &format->value;
    const int reads = use == FPEMU_USE_DECODE || use == FPEMU_USE_UNPACK;
    const view *const values = reads ? y : x, *const codes = reads ? x : y;
    if (values->type >= CARRIERS)
        return check_type(values, CARRIER_F32);
    if (use == FPEMU_USE_ENCODE || use == FPEMU_USE_DECODE) {
        const size_t size = fpemu_format_code_size(f);
        if (!f->scaling && (!codes->is_code || codes->item != size))
            return refuse(PyExc_TypeError, "codes of %R are unsigned integers of %zd bits, not %s", format,
                          (Py_ssize_t)size * 8, carrier_name(codes->type));
        return check_count(codes, values->count);
    }
    if (use == FPEMU_USE_PACK || use == FPEMU_USE_UNPACK) {
        fpemu_layout layout = {.bytes = 0};
        fpemu_packed_layout(f, shape, &layout);
        return check_type(codes, CARRIER_U8) || check_count(codes, layout.bytes);
    }
    for (int i = 0; i < count; i++) {
        const int single = use >= FPEMU_USE_OPERATION && x[i].count == 1;
        if (check_type(&x[i], y->type) || check_count(&x[i], single ? 1 : y->count))
            return -1;
    }
    return 0;
}

/* device_run(use, stream, format, rounding, inputs, result, axis, stats, range, state): an fpemu_use, to which an operation
 * or a function is added, on tensors without gaps. Inputs are a tuple; stats the address of counters, or 0; state None, or
 * two words, seed and stream, which the kernels read. */
NATIVE_TAKING(device_run, 10)
{
    enum { USE, STREAM, FORMAT, ROUNDING, INPUTS, RESULT, AXIS, STATS, RANGE, STATE };
    view x[3], y, memory, state;
    uint64_t use = 0, stream_at = 0, stats_at = 0;
    if (!is_open() || u64_argument(args[USE], "use", &use) || u64_argument(args[STREAM], "stream", &stream_at) ||
        u64_argument(args[STATS], "stats", &stats_at) || take(args[RESULT], NULL, &y))
        return NULL;
    const int count = PyTuple_Check(args[INPUTS]) ? (int)PyTuple_Size(args[INPUTS]) : 0;
    const int operation = use >= FPEMU_USE_OPERATION && use < FPEMU_USE_FUNCTION;
    static const int wanted[FPEMU_OPERATION_COUNT] = {2, 2, 2, 2, 1, 3, 2, 2, 2, 2};
    if (use >= FPEMU_USE_FUNCTION + FPEMU_FUNCTION_COUNT || (use > FPEMU_USE_UNPACK && use < FPEMU_USE_OPERATION) ||
        (operation && use >= FPEMU_USE_OPERATION + FPEMU_OPERATION_COUNT) ||
        count != (operation ? wanted[use - FPEMU_USE_OPERATION] : 1))
        return PyErr_Format(PyExc_ValueError, "no such call of so many tensors");
    const void *in[3] = {NULL};
    size_t steps[3];
    for (int i = 0; i < count; i++) {
        if (take(PyTuple_GetItem(args[INPUTS], i), &y, &x[i]))
            return NULL;
        in[i] = x[i].data;
        steps[i] = x[i].count == y.count;
    }
    const int reads = use == FPEMU_USE_DECODE || use == FPEMU_USE_UNPACK;
    const view *const values = reads ? &y : &x[0];
    format_object *format = format_of(args[FORMAT]);
    rounding_object *rounding = format ? rounding_of(args[ROUNDING]) : NULL;
    PyObject *scratch = NULL, *result = NULL;
    fpemu_range range;
    fpemu_shape shape;
    uint64_t sizes[MOST_DIMENSIONS] = {1};
    int axis;
    const fpemu_range *whole;
    if (!rounding || axis_argument(args[AXIS], values->dimensions, &axis) || range_of(args[RANGE], &range, &whole))
        goto end;
    for (int d = 0; d < values->dimensions; d++)
        sizes[d] = (uint64_t)values->size[d];
    fpemu_status fits = fpemu_shape_of(values->dimensions ? (size_t)values->dimensions : 1, sizes, axis, &shape);
    shape.whole = whole;
    if (fits) {
        raise_status(fits, verb_of((int)use), format, NULL);
        goto end;
    }
    const fpemu_format *const f = &format->value;
    fpemu_rounding told = rounding->value;
    const fpemu_rounding *const r = &told;
    fpemu_prepared own; /* which says to what the processor refuses what it says there, of no elements too */
    if (values->type < CARRIERS && !prepared_of(format, r, values->type, (int)use, verb_of((int)use), &own))
        goto end;
    if (check_tensors((int)use, format, &shape, x, count, &y))
        goto end;
    if (args[STATE] != Py_None) {
        if (take(args[STATE], &y, &state) || check_type(&state, CARRIER_U64) || check_count(&state, 2))
            goto end;
        told.generator |= FPEMU_CUDA_STATE;
        told.seed = (uint64_t)(uintptr_t)state.data;
    }
    const int tensor = use != FPEMU_USE_ENCODE && use != FPEMU_USE_DECODE && use < FPEMU_USE_OPERATION;
    const uint64_t bytes = tensor ? cuda.scratch_size(f, &shape) : 0;
    memory.data = NULL;
    if (bytes && !(scratch = device_memory(values, bytes, &memory)))
        goto end;
    const fpemu_type type = type_of(values->type);
    fpemu_cuda_stats *const stats = (fpemu_cuda_stats *)(uintptr_t)stats_at;
    const fpemu_cuda_stream stream = (fpemu_cuda_stream)(uintptr_t)stream_at;
    fpemu_cuda_status status;
    const size_t n = (size_t)values->count;
    Py_BEGIN_ALLOW_THREADS switch (use)
    {
    case FPEMU_USE_QUANTIZE:
        status = cuda.quantize_tensor(f, r, type, &shape, in[0], y.data, memory.data, stats, stream);
        break;
    case FPEMU_USE_ENCODE: status = cuda.encode(f, r, type, n, in[0], y.data, stats, stream); break;
    case FPEMU_USE_DECODE: status = cuda.decode(f, type, n, in[0], y.data, stream); break;
    case FPEMU_USE_PACK: status = cuda.pack(f, r, type, &shape, in[0], y.data, memory.data, stats, stream); break;
    case FPEMU_USE_UNPACK: status = cuda.unpack(f, type, &shape, in[0], y.data, memory.data, stream); break;
    default:
        status = operation ? cuda.arith(f, r, type, (fpemu_operation)(use - FPEMU_USE_OPERATION), (size_t)y.count, in,
                                        steps, y.data, stats, stream)
                           : cuda.apply(f, r, type, (fpemu_function)(use - FPEMU_USE_FUNCTION), n, in[0], y.data, stats,
                                        stream);
    }
    Py_END_ALLOW_THREADS result = status ? raise_device(status, verb_of((int)use), format) : Py_NewRef(Py_None);
end:
    Py_XDECREF(scratch);
    Py_XDECREF(format);
    Py_XDECREF(rounding);
    return result;
}

/* device_measure(stream, x, format): bytes of fpemu_range; waits for the stream */
NATIVE_TAKING(device_measure, 3)
{
    view x, memory;
    fpemu_range range;
    uint64_t stream_at = 0;
    if (!is_open() || u64_argument(args[0], "stream", &stream_at) || take(args[1], NULL, &x) ||
        (x.type >= CARRIERS && check_type(&x, CARRIER_F32)))
        return NULL;
    format_object *format = format_of(args[2]);
    PyObject *held = format ? device_memory(&x, cuda.range_size(), &memory) : NULL, *result = NULL;
    if (!held)
        goto end;
    const carrier wide = x.type == CARRIER_F64 ? CARRIER_F64 : CARRIER_F32;
    fpemu_why why;
    const fpemu_status fits = fpemu_check_use(&format->value, NULL, type_of(wide), FPEMU_USE_UNPACK, &why);
    if (fits) {
        raise_status(fits, "measure", format, &why);
        goto end;
    }
    fpemu_cuda_range *const seen = (fpemu_cuda_range *)(void *)memory.data;
    const fpemu_cuda_stream stream = (fpemu_cuda_stream)(uintptr_t)stream_at;
    fpemu_cuda_status status;
    Py_BEGIN_ALLOW_THREADS status = cuda.range_clear(seen, stream);
    if (!status)
        status = cuda.measure(&format->value, type_of(x.type), (size_t)x.count, x.data, seen, stream);
    if (!status)
        status = cuda.range_read(seen, &range, stream);
    Py_END_ALLOW_THREADS result = status ? raise_device(status, "measure", format)
                                         : PyBytes_FromStringAndSize((const char *)&range, sizeof range);
end:
    Py_XDECREF(held);
    Py_XDECREF(format);
    return result;
}

/* device_matmul(stream, a, b, result, (batch, m, n, k, transposed a, transposed b), spec bytes, type, stats, scales_a,
 * scales_b, alpha): products of matrices without gaps, all in float32 or float64; a and b have one for all products or one
 * for each, and so have their scales, or None. type: carrier that holds every result. */
NATIVE_TAKING(device_matmul, 11)
{
    enum { STREAM, A, B, RESULT, SIZES, SPEC, TYPE, STATS, SCALES_A, SCALES_B, ALPHA };
    view a, b, y, memory, scales[2];
    double alpha;
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s;
    fpemu_format as;
    int transposed[2];
    unsigned long long batch, m, n, k;
    uint64_t stream_at = 0, stats_at = 0, carrier_of_result = 0;
    if (!is_open() || u64_argument(args[STREAM], "stream", &stream_at) ||
        u64_argument(args[STATS], "stats", &stats_at) || u64_argument(args[TYPE], "dtype", &carrier_of_result) ||
        take(args[RESULT], NULL, &y) || take(args[A], &y, &a) || take(args[B], &y, &b) ||
        number_argument(args[ALPHA], "alpha", &alpha) ||
        !PyArg_ParseTuple(args[SIZES], "KKKKpp", &batch, &m, &n, &k, &transposed[0], &transposed[1]) ||
        spec_of(args[SPEC], &spec))
        return NULL;
    const carrier type_of_result = (carrier)carrier_of_result;
    if ((type_of_result == CARRIER_F16 || type_of_result == CARRIER_BF16) && narrow_result(type_of_result, &spec, &as))
        return NULL;
    memset(&s, 0, sizeof s);
    s.m = m;
    s.n = n;
    s.k = k;
    s.batch = batch;
    s.stride_a = a.count == m * k ? 0 : m * k;
    s.stride_b = b.count == k * n ? 0 : k * n;
    s.stride_c = m * n;
    s.transpose_a = (uint8_t)transposed[0];
    s.transpose_b = (uint8_t)transposed[1];
    if (check_type(&y, a.type == CARRIER_F64 ? CARRIER_F64 : CARRIER_F32) || check_type(&a, y.type) ||
        check_type(&b, y.type) || check_count(&y, batch * m * n) ||
        check_count(&a, s.stride_a ? batch * m * k : m * k) || check_count(&b, s.stride_b ? batch * k * n : k * n))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const uint64_t rows = (i ? n : m) * ((i ? s.stride_b : s.stride_a) ? batch : 1);
        scales[i].data = NULL;
        if (args[SCALES_A + i] == Py_None)
            continue;
        if (!spec.sum.chunk)
            return raise_status(FPEMU_ERROR_UNSUPPORTED, "matmul with scales", NULL, NULL);
        if (take(args[SCALES_A + i], &y, &scales[i]) || check_type(&scales[i], y.type) ||
            check_count(&scales[i], rows * ((k + spec.sum.chunk - 1) / spec.sum.chunk)))
            return NULL;
    }
    const fpemu_type type = type_of(y.type);
    fpemu_why why;
    const fpemu_status fits = fpemu_gemm_check(&spec, type, &why);
    if (fits)
        return raise_status(fits, "matmul", NULL, &why);
    const uint64_t bytes = cuda.gemm_scratch_size(&spec, &s, type);
    PyObject *scratch = NULL, *result = NULL;
    memory.data = NULL;
    if (bytes && !(scratch = device_memory(&y, bytes, &memory)))
        return NULL;
    fpemu_cuda_status status = FPEMU_CUDA_OK;
    Py_BEGIN_ALLOW_THREADS if (y.count) status =
        cuda.gemm_scaled(&spec, &s, type, alpha, a.data, scales[0].data, b.data, scales[1].data, 0, y.data, memory.data,
                         (fpemu_cuda_stats *)(uintptr_t)stats_at, (fpemu_cuda_stream)(uintptr_t)stream_at);
    Py_END_ALLOW_THREADS result = status ? raise_device(status, "matmul", NULL) : Py_NewRef(Py_None);
    Py_XDECREF(scratch);
    return result;
}

/* device_stats(stream, address, what): clears counters for what an integer asks, or adds them to a Stats, waiting. */
NATIVE_TAKING(device_stats, 3)
{
    uint64_t stream_at = 0, address = 0, want = 0;
    stats_object *to = NULL;
    if (!is_open() || u64_argument(args[0], "stream", &stream_at) || u64_argument(args[1], "stats", &address) ||
        (PyLong_Check(args[2]) ? u64_argument(args[2], "want", &want) : stats_of(args[2], &to)))
        return NULL;
    fpemu_cuda_stats *const counters = (fpemu_cuda_stats *)(uintptr_t)address;
    const fpemu_cuda_stream stream = (fpemu_cuda_stream)(uintptr_t)stream_at;
    void *const scratch = to ? malloc(cuda.stats_size()) : NULL;
    if (to && !scratch)
        return PyErr_NoMemory();
    fpemu_cuda_status status;
    Py_BEGIN_ALLOW_THREADS status = to ? cuda.stats_read(counters, scratch, &to->value, stream)
                                       : cuda.stats_clear(counters, (uint32_t)want, stream);
    Py_END_ALLOW_THREADS free(scratch);
    return status ? raise_device(status, "counters", NULL) : Py_NewRef(Py_None);
}
