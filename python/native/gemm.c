/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - products of matrices: any strides and batches, as the library's two dimensions with a stride between
 * products; what these cannot tell is copied without gaps first. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* python/fpemu/_array.py puts targets into a model by these places. */
FPEMU_STATIC_ASSERT(offsetof(fpemu_gemm_spec, out) == 960 && offsetof(fpemu_gemm_spec, sum.inner) == 1344 &&
                        sizeof(fpemu_format) == 256 && sizeof(fpemu_target) == 320 &&
                        offsetof(fpemu_rounding, seed) == 8 && offsetof(fpemu_rounding, words) == 32,
                    "_array.py knows where targets lie");

static int target_given(const fpemu_target *t)
{
    return t->format.kind != FPEMU_KIND_INVALID;
}

static int is_random(const fpemu_target *t)
{
    return target_given(t) && (FPEMU_MODE_DRAWS(t->rounding.mode));
}

/* The format of a target as a text; NULL where none is given, or it has no text. */
static const char *target_text(const fpemu_target *t, char text[256])
{
    return target_given(t) && !fpemu_format_print(&t->format, text, 256) ? text : NULL;
}

/* gemm(text, seed, stream): (bytes of fpemu_gemm_spec, canonical text, products of a chunk, the formats that a and b are
 * rounded to or None, whether any of its roundings is stochastic) */
PyObject *native_gemm(PyObject *module UNUSED, PyObject *args)
{
    PyObject *text, *words[2];
    uint64_t seed = 0, stream = 0;
    fpemu_gemm_spec spec;
    fpemu_parse_error error;
    char canonical[1024], a[256], b[256];
    if (!PyArg_ParseTuple(args, "UOO", &text, &words[0], &words[1]) || u64_argument(words[0], "seed", &seed) ||
        u64_argument(words[1], "stream", &stream))
        return NULL;
    const char *const utf8 = text_argument("model", text);
    if (!utf8)
        return NULL;
    if (fpemu_gemm_parse(utf8, &spec, &error))
        return raise_spec("model", text, &error);
    fpemu_target *const targets[] = {&spec.a, &spec.b, &spec.product, &spec.out, &spec.sum.inner, &spec.sum.outer};
    int random = 0;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (is_random(targets[i])) {
            targets[i]->rounding.seed = seed;
            targets[i]->rounding.stream = stream;
            random = 1;
        }
    if (fpemu_gemm_print(&spec, canonical, sizeof canonical))
        canonical[0] = 0;
    return Py_BuildValue("(y#sI(zz)N)", (const char *)&spec, (Py_ssize_t)sizeof spec, canonical, spec.sum.chunk,
                         target_text(&spec.a, a), target_text(&spec.b, b), PyBool_FromLong(random));
}

/* A matrix, or many of one size: what the library is told. */
typedef struct matrices {
    const void *data;
    void *memory;
    uint64_t leading, step;
    uint8_t transposed;
} matrices;

/* Products of both, and their sizes; dimensions before the last two are broadcast. */
typedef struct batch {
    int dimensions;
    int64_t size[MOST_DIMENSIONS];
    uint64_t count;
} batch;

static int common_batch(const view *a, const view *b, batch *all)
{
    const int x = a->dimensions - 2, y = b->dimensions - 2;
    all->dimensions = x > y ? x : y;
    all->count = 1;
    for (int d = 0; d < all->dimensions; d++) {
        const int i = d - (all->dimensions - x), j = d - (all->dimensions - y);
        const int64_t p = i < 0 ? 1 : a->size[i], q = j < 0 ? 1 : b->size[j];
        if (p != q && p != 1 && q != 1)
            return refuse(PyExc_ValueError, "batches of %lld and %lld products cannot be broadcast together",
                          (long long)p, (long long)q);
        all->size[d] = p == 1 ? q : p;
        all->count *= (uint64_t)all->size[d];
    }
    return 0;
}

/* v with the batch's dimensions before its last two; repeated ones have the stride 0. */
static void stretch_batch(const view *v, const batch *all, view *to)
{
    *to = *v;
    to->dimensions = all->dimensions + 2;
    for (int d = 0; d < all->dimensions; d++) {
        const int own = d - (all->dimensions - (v->dimensions - 2));
        to->size[d] = all->size[d];
        to->stride[d] = own < 0 || v->size[own] != all->size[d] ? 0 : v->stride[own];
    }
    for (int d = 0; d < 2; d++) {
        to->size[all->dimensions + d] = v->size[v->dimensions - 2 + d];
        to->stride[all->dimensions + d] = v->stride[v->dimensions - 2 + d];
    }
    to->count = all->count * (uint64_t)to->size[all->dimensions] * (uint64_t)to->size[all->dimensions + 1];
    to->contiguous = 0;
}

/* The one stride from a matrix to the next; 0 where all are the same; -1 where there is none such. */
static int64_t batch_stride(const view *v, int dimensions)
{
    int64_t stride = 0, size = 0;
    for (int d = 0; d < dimensions; d++) {
        if (v->size[d] == 1)
            continue;
        if (size && stride != v->stride[d] * v->size[d])
            return -1;
        stride = v->stride[d];
        size = v->size[d];
    }
    return stride < 0 ? -1 : stride;
}

/* 16-bit arrays become binary32, which holds their values. */
static int widen(carrier type, const void *from, uint64_t count, float *to)
{
    fpemu_format format;
    fpemu_format_named(type == CARRIER_F16 ? FPEMU_NAME_BINARY16 : FPEMU_NAME_BFLOAT16, &format);
    return fpemu_decode_f32(&format, count, from, to) == FPEMU_OK ? 0 : -1;
}

/* Copies v without gaps; as binary32 where it has 16 bits. */
static void *copy_dense(const view *v)
{
    const int narrow = v->item == 2;
    char *const memory = malloc(v->count * (narrow ? 4 : v->item) + 1);
    if (!memory || !narrow) {
        if (memory)
            gather(v, 0, v->count, memory);
        return memory;
    }
    uint16_t piece[4096];
    for (uint64_t at = 0, n; at < v->count; at += n) {
        n = v->count - at < 4096 ? v->count - at : 4096;
        gather(v, at, n, piece);
        widen(v->type, piece, n, (float *)(void *)memory + at);
    }
    return memory;
}

/* Whether all products share the one matrix. That is told by the sizes: a view that repeats a matrix for each product
 * is to give what its copy does, and the library has other random bits for a matrix that is shared. */
static int is_shared(const view *v)
{
    for (int d = 0; d < v->dimensions - 2; d++)
        if (v->size[d] != 1)
            return 0;
    return 1;
}

/* `apart`: each product has a matrix of its own, though they lie in one place. */
static int take_matrices(const view *v, const batch *all, int apart, matrices *m)
{
    view to;
    stretch_batch(v, all, &to);
    const int last = to.dimensions - 1;
    const int64_t rows = to.size[last - 1], columns = to.size[last], down = to.stride[last - 1],
                  right = to.stride[last];
    const int64_t step = batch_stride(&to, all->dimensions);
    m->memory = NULL;
    m->transposed = 0;
    m->step = (uint64_t)step;
    const int shared = step == 0 && !(apart && all->count > 1);
    int plain = v->item != 2 && step >= 0 && to.count && (step || shared);
    if (plain && (right == 1 || columns == 1) && (rows == 1 || down >= columns))
        m->leading = rows == 1 ? (uint64_t)columns : (uint64_t)down;
    else if (plain && (down == 1 || rows == 1) && (columns == 1 || right >= rows)) {
        m->transposed = 1;
        m->leading = columns == 1 ? (uint64_t)rows : (uint64_t)right;
    } else
        plain = 0;
    const uint64_t extent = plain ? m->leading * (uint64_t)(m->transposed ? columns : rows) : 0;
    if (plain && (step == 0 || (uint64_t)step >= extent)) {
        m->data = to.data;
        return 0;
    }
    if (shared) { /* one for all: copied once */
        view one = *v;
        batch none = {.dimensions = 0, .count = 1};
        stretch_batch(v, &none, &one);
        m->memory = copy_dense(&one);
        m->step = 0;
    } else {
        m->memory = copy_dense(&to);
        m->step = (uint64_t)(rows * columns);
    }
    m->transposed = 0;
    m->leading = (uint64_t)columns;
    m->data = m->memory;
    return m->memory ? 0 : -1;
}

/* Scales of operand rows: rows x blocks numbers, for all products or, if `batched`, for each. */
typedef struct operand_scales {
    view seen;
    int given, batched;
    void *memory;
} operand_scales;

/* None: none are given. Dimensions before the last two are broadcast to the batch, as those of operands are. As
 * view_of. */
static int see_scales(PyObject *argument, const char *name, carrier type, int64_t rows, int64_t blocks,
                      const batch *all, operand_scales *s)
{
    view *const v = &s->seen;
    s->given = argument != Py_None;
    s->batched = 0;
    s->memory = NULL;
    if (!s->given)
        return 1;
    const int found = view_of(argument, name, v);
    if (found <= 0)
        return found;
    if (v->type != type || v->device >= 0)
        return refuse(PyExc_TypeError, "%s is an array of %s", name, carrier_name(type));
    if (v->dimensions < 2 || v->size[v->dimensions - 2] != rows || v->size[v->dimensions - 1] != blocks)
        return refuse(PyExc_ValueError,
                      "%s has the shape (..., %lld, %lld): a row for each row of the operand, a scale for "
                      "each chunk%s",
                      name, (long long)rows, (long long)blocks,
                      blocks == 0 ? "; a model has chunks by chunk(LENGTH,...), or promote=LENGTH" : "");
    for (int d = 0; d < v->dimensions - 2; d++) {
        const int of_batch = d - (v->dimensions - 2 - all->dimensions);
        const int64_t products = of_batch < 0 ? 1 : all->size[of_batch];
        if (v->size[d] != 1 && v->size[d] != products)
            return refuse(PyExc_ValueError, "%s has a batch of %lld, and the product there one of %lld", name,
                          (long long)v->size[d], (long long)products);
        s->batched |= v->size[d] != 1;
    }
    return 1;
}

/* Copies them as the library takes them; `shared`: the operand is one for all products. */
static int copy_scales(operand_scales *s, int shared, const batch *all)
{
    const batch one = {.dimensions = 0, .count = 1};
    view to;
    if (!s->given)
        return 0;
    stretch_batch(&s->seen, shared ? &one : all, &to);
    s->memory = copy_dense(&to);
    return s->memory ? 0 : -1;
}

/* Whether each product needs a matrix of its own: for scales of its own, or for random bits of its own. */
static int is_apart(const view *v, const fpemu_target *t, const operand_scales *s)
{
    return s->batched || (is_random(t) && !is_shared(v));
}

int spec_of(PyObject *bytes, fpemu_gemm_spec *spec)
{
    if (!PyBytes_Check(bytes) || (size_t)PyBytes_Size(bytes) != sizeof *spec)
        return refuse(PyExc_TypeError, "spec is a fpemu.Gemm");
    memcpy(spec, PyBytes_AsString(bytes), sizeof *spec);
    return 0;
}

int narrow_result(carrier type, fpemu_gemm_spec *spec, fpemu_format *as)
{
    fpemu_format_named(type == CARRIER_F16 ? FPEMU_NAME_BINARY16 : FPEMU_NAME_BFLOAT16, as);
    if (!target_given(&spec->out)) {
        memset(&spec->out, 0, sizeof spec->out);
        spec->out.format = *as;
    } else if (!fpemu_format_fits(&spec->out.format, type_of(type)))
        return refuse(PyExc_ValueError, "%s cannot hold every result of the model's `out`: pass dtype='float32'",
                      carrier_name(type));
    return 0;
}

/* matmul(a, b, spec bytes, alpha, beta, c, scales_a, scales_b, out, type, stats): a and b of two dimensions and more;
 * type: carrier of the result, or None */
NATIVE_TAKING(matmul, 11)
{
    enum { A, B, SPEC, ALPHA, BETA, C, SCALES_A, SCALES_B, OUT, TYPE, STATS };
    view a, b, c, y;
    int found = operand_view(args[A], "a", NULL, &a);
    if (found > 0)
        found = operand_view(args[B], "b", &a, &b);
    if (found > 0 && args[C] != Py_None)
        found = operand_view(args[C], "c", &a, &c);
    if (found <= 0)
        return found ? NULL : call_adopter("matmul", args, nargs, names);
    if (a.type != b.type || a.kind != b.kind)
        return PyErr_Format(PyExc_TypeError,
                            a.kind != b.kind ? "a and b are arrays of different kinds"
                                             : "a and b have the dtypes %s and %s; convert one of them",
                            carrier_name(a.type), carrier_name(b.type));
    if (a.dimensions < 2 || b.dimensions < 2)
        return PyErr_Format(PyExc_ValueError, "a and b have two dimensions or more");
    const int64_t m = a.size[a.dimensions - 2], k = a.size[a.dimensions - 1], n = b.size[b.dimensions - 1];
    if (b.size[b.dimensions - 2] != k)
        return PyErr_Format(PyExc_ValueError, "a has %lld columns, and b %lld rows", (long long)k,
                            (long long)b.size[b.dimensions - 2]);
    fpemu_gemm_spec spec;
    double alpha, beta;
    uint64_t type = a.type;
    stats_object *stats;
    if (spec_of(args[SPEC], &spec) || number_argument(args[ALPHA], "alpha", &alpha) ||
        number_argument(args[BETA], "beta", &beta) || u64_argument(args[TYPE], "dtype", &type) ||
        stats_of(args[STATS], &stats))
        return NULL;
    const carrier inside = a.type == CARRIER_F64 ? CARRIER_F64 : CARRIER_F32;
    const int narrow = type == CARRIER_F16 || type == CARRIER_BF16;
    if (type >= CARRIERS || (!narrow && (carrier)type != inside))
        return PyErr_Format(PyExc_TypeError, "products of %s arrays are %s or, of 16-bit ones, float32",
                            carrier_name(a.type), carrier_name(inside));
    fpemu_format as;
    if (narrow && narrow_result((carrier)type, &spec, &as))
        return NULL;
    if (inside == CARRIER_F32 && alpha == alpha && beta == beta && ((float)alpha != alpha || (float)beta != beta))
        return PyErr_Format(PyExc_ValueError, "alpha and beta are no float32 numbers");
    batch all;
    operand_scales scales_a, scales_b;
    const uint32_t chunk = spec.sum.chunk;
    const int64_t blocks = chunk ? (k + chunk - 1) / chunk : 0;
    if (common_batch(&a, &b, &all))
        return NULL;
    found = see_scales(args[SCALES_A], "scales_a", inside, m, blocks, &all, &scales_a);
    if (found > 0)
        found = see_scales(args[SCALES_B], "scales_b", inside, n, blocks, &all, &scales_b);
    if (found <= 0)
        return found ? NULL : call_adopter("matmul", args, nargs, names);
    int64_t size[MOST_DIMENSIONS];
    if (all.dimensions + 2 > MOST_DIMENSIONS)
        return PyErr_Format(PyExc_ValueError, "more than 64 dimensions");
    memcpy(size, all.size, sizeof size[0] * (size_t)all.dimensions);
    size[all.dimensions] = m;
    size[all.dimensions + 1] = n;
    const int dimensions = all.dimensions + 2;
    PyObject *made = result_view(args[OUT], &a, 1, (carrier)type, dimensions, size, &y);
    if (!made)
        return NULL;
    matrices ma = {.memory = NULL}, mb = {.memory = NULL};
    void *result = NULL;
    counting counter;
    PyObject *finished = NULL;
    if (args[OUT] != Py_None && (views_meet(&a, &y) || views_meet(&b, &y))) {
        raise_status(FPEMU_ERROR_OVERLAP, "out", NULL, NULL);
        goto end;
    }
    if (take_matrices(&a, &all, is_apart(&a, &spec.a, &scales_a), &ma) ||
        take_matrices(&b, &all, is_apart(&b, &spec.b, &scales_b), &mb) || copy_scales(&scales_a, ma.step == 0, &all) ||
        copy_scales(&scales_b, mb.step == 0, &all)) {
        PyErr_NoMemory();
        goto end;
    }
    const size_t wide = inside == CARRIER_F64 ? 8 : 4;
    const int direct = y.contiguous && !narrow && args[C] == Py_None;
    void *to = y.data;
    if (!direct && !(to = result = malloc(y.count * wide + 1))) {
        PyErr_NoMemory();
        goto end;
    }
    if (args[C] != Py_None) {
        view stretched;
        int fits = c.type == a.type && c.kind == a.kind && c.dimensions >= 2 && c.dimensions <= dimensions &&
                   c.size[c.dimensions - 2] == m && c.size[c.dimensions - 1] == n;
        for (int d = 0; fits && d < c.dimensions - 2; d++)
            fits = c.size[d] == 1 || c.size[d] == all.size[d + dimensions - c.dimensions];
        if (!fits) {
            PyErr_SetString(PyExc_ValueError, "c has the dtype of a and b, and the shape of their product");
            goto end;
        }
        stretch_batch(&c, &all, &stretched);
        void *const start = copy_dense(&stretched);
        if (!start) {
            PyErr_NoMemory();
            goto end;
        }
        memcpy(result, start, y.count * wide);
        free(start);
    }
    const fpemu_gemm_shape shape = {.m = (uint64_t)m,
                                    .n = (uint64_t)n,
                                    .k = (uint64_t)k,
                                    .lda = ma.leading,
                                    .ldb = mb.leading,
                                    .ldc = (uint64_t)n,
                                    .batch = all.count,
                                    .stride_a = ma.step,
                                    .stride_b = mb.step,
                                    .stride_c = (uint64_t)(m * n),
                                    .transpose_a = ma.transposed,
                                    .transpose_b = mb.transposed};
    if (counting_begin(&counter, stats, 1))
        goto end;
    fpemu_status status = FPEMU_OK;
    Py_BEGIN_ALLOW_THREADS if (y.count) status =
        fpemu_gemm_scaled(&spec, &shape, type_of(inside), alpha, ma.data, scales_a.memory, mb.data, scales_b.memory,
                          beta, to, counter.stats);
    if (!direct && (!status || status == FPEMU_ERROR_NAN)) {
        if (narrow) { /* each is a number of the type: nothing is rounded here */
            const fpemu_rounding nearest = fpemu_rounding_nearest();
            uint16_t *const codes = malloc(y.count * 2 + 1);
            if (!codes)
                status = FPEMU_ERROR_BUFFER;
            else {
                fpemu_encode_f32(&as, &nearest, y.count, result, codes, NULL);
                scatter(&y, 0, y.count, codes);
            }
            free(codes);
        } else
            scatter(&y, 0, y.count, result);
    }
    Py_END_ALLOW_THREADS fpemu_why why;
    if (status)
        fpemu_gemm_check(&spec, type_of(inside), &why);
    finished = finish_call(made, args[OUT], &y, &counter, status, "matmul", NULL, status ? &why : NULL);
    made = NULL;
end:
    free(ma.memory);
    free(mb.memory);
    free(scales_a.memory);
    free(scales_b.memory);
    free(result);
    Py_XDECREF(made);
    return finished;
}
