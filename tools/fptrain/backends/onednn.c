/* SPDX-License-Identifier: BSD-2-Clause */
/* onednn.c - convolutions and products of matrices by oneDNN.
 *
 * Arrays are plain NCHW outside; oneDNN chooses its own layouts and reorders what it reads and writes. A primitive is
 * made for one number of samples and one thread, when first needed, and run by one thread, so that no bit depends on
 * how many there are. Threads borrow memory objects (slots) from the primitive, and from the backend the memory in
 * which the arrays in oneDNN's layouts and its scratchpad lie: each thread has one piece for all convolutions. */
#include <config.h>

#include "backends/backends.h"
#include "backends/depthwise.h"
#include "backends/free_list.h"

#if HAVE_ONEDNN && defined _OPENMP

#include <dnnl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static void sure(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success)
        die("oneDNN: %s: error %d", what, (int)status);
}

/* How an array lies in memory. Up to version 2 of oneDNN a plain value, since then something that it allocates; and a
 * primitive's description was made in two steps, which are one since. */
typedef dnnl_memory_desc_t layout;

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t layout_in;

static layout_in in(const layout *l)
{
    return *l;
}

static void layout_make(layout *l, int ndims, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    sure(dnnl_memory_desc_create_with_tag(l, ndims, dims, dnnl_f32, tag), "layout");
}

static void layout_copy(layout *l, layout_in from)
{
    sure(dnnl_memory_desc_clone(l, from), "layout");
}

static void layout_free(layout *l)
{
    dnnl_memory_desc_destroy(*l);
}
#else
typedef const dnnl_memory_desc_t *layout_in;

static layout_in in(const layout *l)
{
    return l;
}

static void layout_make(layout *l, int ndims, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    sure(dnnl_memory_desc_init_by_tag(l, ndims, dims, dnnl_f32, tag), "layout");
}

static void layout_copy(layout *l, layout_in from)
{
    *l = *from;
}

static void layout_free(layout *l)
{
    (void)l;
}
#endif

/* oneDNN cuts its work by the number of threads that it may use. */
static int alone(void)
{
    const int before = omp_get_max_threads();
    if (before != 1)
        omp_set_num_threads(1);
    return before;
}

static void together(int before)
{
    if (before != 1)
        omp_set_num_threads(before);
}

/* ---------------------------------------------------------------------------------------------- matrices */

static void dnn_gemm(const backend *b, bool ta, bool tb, int m, int n, int k, const float *A, int lda, const float *B,
                     int ldb, bool add, float *C, int ldc)
{
    (void)b;
    const int before = alone();
    sure(dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, A, lda, B, ldb, add ? 1.0f : 0.0f, C, ldc), "sgemm");
    together(before);
}

/* ---------------------------------------------------------------------------------------------- primitives */

typedef enum direction { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, DIRECTIONS } direction;
enum { X, W, Y, TENSORS };

/* Which of the three arrays a direction writes, and what oneDNN calls them. */
static const struct role_of {
    int output, argument[TENSORS];
} role_of[DIRECTIONS] = {
    [FORWARD] = {Y, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}},
    [BACKWARD_DATA] = {X, {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST}},
    [BACKWARD_WEIGHTS] = {W, {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}},
};

typedef struct prepared {
    struct prepared *next;
    int n;
    direction which;
    dnnl_engine_t engine;
    dnnl_primitive_t primitive, reorder[TENSORS]; /* NULL: oneDNN takes the array as it is */
    layout plain[TENSORS], own[TENSORS], scratch;
    size_t at[TENSORS + 1], bytes; /* where own and scratch lie in the memory that is borrowed, and its size */
    pool slots;
} prepared;

typedef struct slot {
    dnnl_stream_t stream;
    dnnl_memory_t plain[TENSORS], own[TENSORS], scratch; /* own: NULL without a reorder */
    char *memory;                                        /* where own and scratch point */
} slot;

struct conv {
    conv_shape s;
    prepared *first; /* grows under a lock */
};

typedef struct dnn_state {
    dnnl_engine_t engine;
    pool scratch; /* of memory for all primitives */
} dnn_state;

/* The layouts outside, and `any` for oneDNN to choose. */
static void describe(const conv_shape *s, int n, layout *plain, layout *any)
{
    const dnnl_dims_t x = {n, s->c, s->h, s->w}, y = {n, s->k, s->oh, s->ow};
    const dnnl_dims_t w = {s->k, s->c, s->r, s->r};
    const dnnl_dims_t grouped = {s->groups, s->k / s->groups, s->c / s->groups, s->r, s->r};
    for (int i = 0; i < 2; i++) {
        layout *l = i ? any : plain;
        const dnnl_format_tag_t image = i ? dnnl_format_tag_any : dnnl_nchw;
        layout_make(&l[X], 4, x, image);
        layout_make(&l[Y], 4, y, image);
        if (s->groups > 1)
            layout_make(&l[W], 5, grouped, i ? image : dnnl_goihw);
        else
            layout_make(&l[W], 4, w, i ? image : dnnl_oihw);
    }
}

#if DNNL_VERSION_MAJOR >= 3
static dnnl_status_t describe_direction(dnnl_primitive_desc_t *d, const conv_shape *s, direction which,
                                        const layout *any, dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                        dnnl_primitive_desc_t forward)
{
    const dnnl_dims_t stride = {s->stride, s->stride}, padding = {s->padding, s->padding}, dense = {0, 0};
    const dnnl_alg_kind_t how = dnnl_convolution_direct;
    switch (which) {
    case FORWARD:
        return dnnl_convolution_forward_primitive_desc_create(d, engine, dnnl_forward_training, how, any[X], any[W],
                                                              NULL, any[Y], stride, dense, padding, padding,
                                                              attributes);
    case BACKWARD_DATA:
        return dnnl_convolution_backward_data_primitive_desc_create(d, engine, how, any[X], any[W], any[Y], stride,
                                                                    dense, padding, padding, forward, attributes);
    default:
        return dnnl_convolution_backward_weights_primitive_desc_create(
            d, engine, how, any[X], any[W], NULL, any[Y], stride, dense, padding, padding, forward, attributes);
    }
}
#else
static dnnl_status_t describe_direction(dnnl_primitive_desc_t *d, const conv_shape *s, direction which,
                                        const layout *any, dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                        dnnl_primitive_desc_t forward)
{
    const dnnl_dims_t stride = {s->stride, s->stride}, padding = {s->padding, s->padding};
    const dnnl_alg_kind_t how = dnnl_convolution_direct;
    dnnl_convolution_desc_t c;
    dnnl_status_t status;
    switch (which) {
    case FORWARD:
        status = dnnl_convolution_forward_desc_init(&c, dnnl_forward_training, how, &any[X], &any[W], NULL, &any[Y],
                                                    stride, padding, padding);
        break;
    case BACKWARD_DATA:
        status = dnnl_convolution_backward_data_desc_init(&c, how, &any[X], &any[W], &any[Y], stride, padding, padding);
        break;
    default:
        status = dnnl_convolution_backward_weights_desc_init(&c, how, &any[X], &any[W], NULL, &any[Y], stride, padding,
                                                             padding);
    }
    return status == dnnl_success ? dnnl_primitive_desc_create(d, &c, attributes, engine, forward) : status;
}
#endif

/* A backward pass is described beside its forward pass. */
static dnnl_primitive_desc_t describe_primitive(const conv_shape *s, direction which, const layout *any,
                                                dnnl_engine_t engine, dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t forward, backward;
    sure(describe_direction(&forward, s, FORWARD, any, engine, attributes, NULL), "convolution");
    if (which == FORWARD)
        return forward;
    sure(describe_direction(&backward, s, which, any, engine, attributes, forward), "gradient of a convolution");
    dnnl_primitive_desc_destroy(forward);
    return backward;
}

static dnnl_primitive_t new_reorder(const layout *from, const layout *to, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t d;
    dnnl_primitive_t p;
    sure(dnnl_reorder_primitive_desc_create(&d, in(from), engine, in(to), engine, NULL), "reorder");
    sure(dnnl_primitive_create(&p, d), "reorder");
    dnnl_primitive_desc_destroy(d);
    return p;
}

static prepared *prepare(dnnl_engine_t engine, const conv_shape *s, int n, direction which)
{
    prepared *p = need(1, sizeof *p);
    dnnl_primitive_attr_t attributes;
    layout any[TENSORS];
    p->n = n;
    p->which = which;
    p->engine = engine;
    sure(dnnl_primitive_attr_create(&attributes), "attributes");
    sure(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user), "attributes");
    describe(s, n, p->plain, any);
    dnnl_primitive_desc_t d = describe_primitive(s, which, any, engine, attributes);
    for (int i = 0; i < TENSORS; i++) {
        layout_copy(&p->own[i], dnnl_primitive_desc_query_md(d, dnnl_query_exec_arg_md, role_of[which].argument[i]));
        const bool out = i == role_of[which].output;
        if (!dnnl_memory_desc_equal(in(&p->plain[i]), in(&p->own[i])))
            p->reorder[i] = new_reorder(out ? &p->own[i] : &p->plain[i], out ? &p->plain[i] : &p->own[i], engine);
        layout_free(&any[i]);
    }
    layout_copy(&p->scratch, dnnl_primitive_desc_query_md(d, dnnl_query_scratchpad_md, 0));
    for (int i = 0; i <= TENSORS; i++) {
        p->at[i] = p->bytes;
        if (i == TENSORS || p->reorder[i])
            p->bytes += (dnnl_memory_desc_get_size(in(i < TENSORS ? &p->own[i] : &p->scratch)) + 63) / 64 * 64;
    }
    sure(dnnl_primitive_create(&p->primitive, d), "convolution");
    dnnl_primitive_desc_destroy(d);
    dnnl_primitive_attr_destroy(attributes);
    return p;
}

/* Made once; the list is only ever read and extended under the lock. */
static prepared *prepared_for(const backend *b, conv *c, int n, direction which)
{
    prepared *p;
#pragma omp critical(fptrain_onednn)
    {
        for (p = c->first; p && (p->n != n || p->which != which);)
            p = p->next;
        if (!p) {
            p = prepare(((const dnn_state *)b->state)->engine, &c->s, n, which);
            p->next = c->first;
            c->first = p;
        }
    }
    return p;
}

/* ---------------------------------------------------------------------------------------------- running */

static slot *new_slot(const prepared *p)
{
    slot *s = need(1, sizeof *s);
    sure(dnnl_stream_create(&s->stream, p->engine, dnnl_stream_default_flags), "stream");
    for (int i = 0; i < TENSORS; i++) {
        sure(dnnl_memory_create(&s->plain[i], in(&p->plain[i]), p->engine, DNNL_MEMORY_NONE), "memory");
        if (p->reorder[i])
            sure(dnnl_memory_create(&s->own[i], in(&p->own[i]), p->engine, DNNL_MEMORY_NONE), "memory");
    }
    sure(dnnl_memory_create(&s->scratch, in(&p->scratch), p->engine, DNNL_MEMORY_NONE), "memory");
    return s;
}

/* Setting a handle zeroes padding, which takes time; reorders and convolutions do so themselves where they write. */
static void lay_out(const prepared *p, slot *s, char *memory)
{
    if (s->memory == memory)
        return;
    s->memory = memory;
    for (int i = 0; i < TENSORS; i++)
        if (p->reorder[i])
            sure(dnnl_memory_set_data_handle(s->own[i], memory + p->at[i]), "memory");
    sure(dnnl_memory_set_data_handle(s->scratch, memory + p->at[TENSORS]), "memory");
}

static void free_slot(void *thing)
{
    slot *s = thing;
    for (int i = 0; i < TENSORS; i++) {
        dnnl_memory_destroy(s->plain[i]);
        if (s->own[i])
            dnnl_memory_destroy(s->own[i]);
    }
    dnnl_memory_destroy(s->scratch);
    dnnl_stream_destroy(s->stream);
    free(s);
}

static void reorder(const prepared *p, const slot *s, int i, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    sure(dnnl_primitive_execute(p->reorder[i], s->stream, 2, arguments), "reorder");
}

static void run(const backend *b, conv *c, int n, direction which, float *const array[TENSORS])
{
    const int before = alone(), output = role_of[which].output;
    prepared *p = prepared_for(b, c, n, which);
    slot *s = pool_take(&p->slots);
    s = s ? s : new_slot(p);
    char *memory = scratch_take(b->scratch, p->bytes);
    lay_out(p, s, memory);
    dnnl_exec_arg_t arguments[TENSORS + 1] = {[TENSORS] = {DNNL_ARG_SCRATCHPAD, s->scratch}};
    for (int i = 0; i < TENSORS; i++) {
        sure(dnnl_memory_set_data_handle(s->plain[i], array[i]), "memory");
        if (p->reorder[i] && i != output)
            reorder(p, s, i, s->plain[i], s->own[i]);
        arguments[i] = (dnnl_exec_arg_t){role_of[which].argument[i], p->reorder[i] ? s->own[i] : s->plain[i]};
    }
    sure(dnnl_primitive_execute(p->primitive, s->stream, TENSORS + 1, arguments), "convolution");
    if (p->reorder[output])
        reorder(p, s, output, s->own[output], s->plain[output]);
    sure(dnnl_stream_wait(s->stream), "stream");
    scratch_give(b->scratch, memory);
    pool_give(&p->slots, s);
    together(before);
}

/* oneDNN's arguments carry no const. */
static float *unconst(const float *p)
{
    return (float *)(uintptr_t)p;
}

static void dnn_forward(const backend *b, conv *c, int n, const float *x, const float *w, float *y)
{
    run(b, c, n, FORWARD, (float *[TENSORS]){unconst(x), unconst(w), y});
}

static void dnn_backward_data(const backend *b, conv *c, int n, const float *dy, const float *w, float *dx)
{
    run(b, c, n, BACKWARD_DATA, (float *[TENSORS]){dx, unconst(w), unconst(dy)});
}

static void dnn_backward_weights(const backend *b, conv *c, int n, const float *x, const float *dy, float *dw)
{
    run(b, c, n, BACKWARD_WEIGHTS, (float *[TENSORS]){unconst(x), dw, unconst(dy)});
}

static conv *dnn_new(const backend *b, const conv_shape *shape)
{
    (void)b;
    conv *c = need(1, sizeof *c);
    c->s = *shape;
    return c;
}

static void dnn_conv_free(const backend *b, conv *c)
{
    (void)b;
    for (prepared *p = c->first, *next; p; p = next) {
        next = p->next;
        pool_clear(&p->slots, free_slot);
        for (int i = 0; i < TENSORS; i++) {
            layout_free(&p->plain[i]);
            layout_free(&p->own[i]);
            if (p->reorder[i])
                dnnl_primitive_destroy(p->reorder[i]);
        }
        layout_free(&p->scratch);
        dnnl_primitive_destroy(p->primitive);
        free(p);
    }
    free(c);
}

static void dnn_free(backend *b)
{
    dnn_state *s = b->state;
    scratch_clear(&s->scratch);
    dnnl_engine_destroy(s->engine);
    free(s);
    free(b);
}

backend *backend_onednn(trouble *why)
{
    dnn_state *s = need(1, sizeof *s);
    if (dnnl_engine_create(&s->engine, dnnl_cpu, 0) != dnnl_success) {
        free(s);
        fail(why, "backend onednn: this machine offers no engine");
        return NULL;
    }
    backend *b = need(1, sizeof *b);
    *b = (backend){.name = "onednn",
                   .state = s,
                   .scratch = &s->scratch,
                   .free = dnn_free,
                   .gemm = dnn_gemm,
                   .conv_new = dnn_new,
                   .conv_free = dnn_conv_free,
                   .conv_forward = dnn_forward,
                   .conv_backward_data = dnn_backward_data,
                   .conv_backward_weights = dnn_backward_weights};
    return b;
}

#else

backend *backend_onednn(trouble *why)
{
    fail(why, "backend onednn: this build is without it (oneDNN and OpenMP)");
    return NULL;
}

#endif
