/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - dot products, matrix times vector, matrix times matrix, as a machine would compute them: the public
 * functions, their matrices and vectors, and which path a call takes. doc/accumulation.md defines the bits. */
#include <math.h>
#include <stdlib.h>

#include "models.h"
#include "operands.h"
#include "tiles.h"

/* Whether a target is binary32 itself, to nearest. */
static int is_binary32(const fpemu_target *t)
{
    fpemu_format native;
    if (t->format.mantissa_bits != 23 || t->rounding.mode != FPEMU_MODE_RNE)
        return 0;
    fpemu_format_named(FPEMU_NAME_BINARY32, &native);
    return fpemu_format_equal(&t->format, &native) && t->rounding.overflow <= FPEMU_OVERFLOW_IEEE;
}

/* Plan and form of a float of at most 11 bits of precision whose rounding to nearest has a short form, for numbers
 * below 2^top; 0 if t is none. */
static int fast_plan(core_plan32 *p, enum mac_form *form, const fpemu_target *t, int top)
{
    const int m = (int)t->format.mantissa_bits;
    if (t->format.kind != FPEMU_KIND_FLOAT || m > 10 || !t->format.fits_f32 || t->rounding.mode != FPEMU_MODE_RNE ||
        core_nan_policy(&t->format, &t->rounding) == FPEMU_NAN_ERROR)
        return 0;
    core_plan_make32(p, &t->format, &t->rounding, 0);
    if (p->nan[0] != p->nan[1])
        return 0; /* the processor's NaN of an invalid operation has any sign */
    core_choose_fast32(p, &t->format);
    const uint32_t past = p->overflow[0];
    if (p->rule == CORE_RULE_FULL_RANGE) {
        *form = MAC_FULL_RANGE;
        return 1;
    }
    const int one_end = p->rule == CORE_RULE_SHIFTER_PASS || p->rule == CORE_RULE_SHIFTER_STOP; /* for infinity too */
    if (!one_end && p->rule != CORE_RULE_SHIFTER_STOP_INF && p->rule != CORE_RULE_SHIFTER_GRID)
        return 0;
    *form = MAC_ENDS;
    /* fast: 2^top leaves room for the number that is added; a NaN needs no attention on its path */
    if (one_end && top + 23 - m <= 127 && p->nan[0] == 0x7fc00000u && p->overflow[1] == (past | 0x80000000u) &&
        (past == 0x7f800000u || past == p->max[0])) {
        *form = past == p->max[0] ? MAC_SAT : MAC_INF;
        p->fast_up += 0x00400000u; /* 1.5 times the power of two */
    }
    return 1;
}

/* Whether every product of two operands is a number of binary32: bits, smallest and largest. It has *bits, and is below
 * 2^*top. */
static int products_fit(const fpemu_gemm_spec *s, int *bits, int *top)
{
    const fpemu_format *a = &s->a.format, *b = &s->b.format;
    if (a->kind != FPEMU_KIND_FLOAT || b->kind != FPEMU_KIND_FLOAT)
        return 0;
    *bits = (int)a->mantissa_bits + (int)b->mantissa_bits + 2;
    *top = a->emax + b->emax + 2;
    return *bits <= 24 && a->emin - (int)a->mantissa_bits + b->emin - (int)b->mantissa_bits >= -149 && *top <= 127;
}

/* Whether binary64 holds every sum of integers while a slab is added; then what it calculates is their model's s, which
 * it ends as others do. */
static int binary64_has_integers(gemm_call *c)
{
    core_dot *const d = &c->targets.dot;
    const fpemu_format *const a = &c->targets.spec->a.format, *const b = &c->targets.spec->b.format;
    if (abs(d->quantum_a) > 400 || abs(d->quantum_b) > 400)
        return 0;
    const double unit = core_value64(core_power64(d->quantum_a + d->quantum_b));
    const double product = fmax(a->max, -a->lowest) * fmax(b->max, -b->lowest);
    c->low = -core_value64(core_power64(d->width - 1)) * unit;
    c->high = d->wrap ? 0 : -c->low - unit;
    if (fmin(SLAB * product - c->low, (double)d->depth * product) > 0x1p52 * unit)
        return 0;
    d->model = FPEMU_MODEL_SEQUENTIAL;
    return 1;
}

/* The path of steps of matrix units. */
static enum gemm_path step_path(const gemm_call *c)
{
    const core_dot *const d = &c->targets.dot;
    const fpemu_gemm_spec *const spec = c->targets.spec;
    const fpemu_accumulator *const s = &spec->sum;
    if (d->chained)
        return c->counted || d->chunk || !is_binary32(&s->inner) ? PATH_FAST : PATH_NATIVE32;
    /* counted: a NaN that an infinite number times a scale makes is none that came */
    const int infinite =
        s->outer.format.has_infinity || (c->counted && (spec->a.format.has_infinity || spec->b.format.has_infinity));
    return d->group && infinite ? PATH_REFERENCE : PATH_FAST;
}

/* The fastest path that gives the right bits. Rounding to nearest in binary32 first does no harm (Figueroa 1995) where
 * both terms of a sum have no more bits than the result, p, and 2p + 2 <= 24; for a product, where it is exact. */
static enum gemm_path choose_path(gemm_call *c)
{
    const fpemu_gemm_spec *s = c->targets.spec;
    const fpemu_format *f = &s->sum.inner.format;
    const uint32_t model = c->targets.dot.model;
    int bits, top;
    if (model == FPEMU_MODEL_INTEGER && !c->counted && !c->targets.nan_is_error && binary64_has_integers(c))
        return PATH_INTEGER;
    if (c->targets.nan_is_error || model == FPEMU_MODEL_INTEGER ||
        (c->counted && !c->targets.inner.is_short && !c->targets.dot.inner.native))
        return PATH_REFERENCE;
    if (model == FPEMU_MODEL_FUSED)
        return step_path(c);
    if (c->counted || (model != FPEMU_MODEL_SEQUENTIAL && model != FPEMU_MODEL_CHUNKED))
        return PATH_FAST;
    if (model == FPEMU_MODEL_SEQUENTIAL && !c->targets.dot.product.given && (c->targets.binary32 || c->k->has_fma) &&
        c->targets.dot.inner.native)
        return PATH_NATIVE64;
    if (!c->targets.binary32 || c->split.bits) /* slices have sums, and bits, of their own */
        return PATH_FAST;
    if (model == FPEMU_MODEL_SEQUENTIAL && !c->targets.dot.product.given && is_binary32(&s->sum.inner))
        return PATH_NATIVE32;
    if (!products_fit(s, &bits, &top))
        return PATH_FAST;
    c->product_form = MAC_NONE;
    if (c->targets.dot.product.given) {
        if (!fast_plan(&c->product32, &c->product_form, &s->product, top))
            return PATH_FAST;
        bits = (int)s->product.format.mantissa_bits + 1;
        top = s->product.format.emax + 1;
    }
    top = (top > f->emax + 1 ? top : f->emax + 1) + 1;
    if (!fast_plan(&c->inner32, &c->inner_form, &s->sum.inner, top) || bits > (int)f->mantissa_bits + 1)
        return PATH_FAST;
    c->may_stay_inside = c->inner_form >= MAC_INF && (c->product_form == MAC_NONE || c->product_form >= MAC_INF);
    c->growth = 1;
    for (int l = 0; l < SLAB; l++)
        c->growth *= 1 + step_of(f);
    return PATH_BINARY32;
}

/* How many scales belong to `count` rows or columns of an operand. */
static uint64_t scales_of(uint64_t depth, uint64_t chunk, uint64_t count)
{
    return count * ((depth - 1) / chunk + 1); /* no more than elements */
}

static void begin_operand(const gemm_call *c, gemm_operand *s, const core_operand *o, uint64_t depth, int transposed)
{
    s->p = o->p;
    /* op(A) has its rows in o; op(B) its columns */
    s->step_o = transposed ? o->step_column : o->step_row;
    s->step_k = transposed ? o->step_row : o->step_column;
    s->side = (uint8_t)transposed;
    s->index_o = transposed ? 1 : o->columns;
    s->index_k = transposed ? o->columns : 1;
    s->stride = (size_t)o->stride;
    s->index_batch = o->stride ? o->rows * o->columns : 0;
    s->scales = o->scales;
    s->scales_batch = 0;
    if (o->scales && o->stride && depth)
        s->scales_batch = (size_t)scales_of(depth, c->targets.dot.scaled, transposed ? o->columns : o->rows);
    s->least = transposed ? c->targets.dot.least_b : c->targets.dot.least_a;
}

/* The same operand of each product of a batch, as lanes of one. */
static void along_batch(gemm_operand *s)
{
    s->step_o = (ptrdiff_t)s->stride;
    s->index_o = s->index_batch;
}

/* A batch of dot products becomes one product whose lanes they are; of two operands that change with them, both have a
 * number for each lane. Such a call takes the path that goes lane by lane. */
static void join_batch(gemm_call *c)
{
    const core_dot *const d = &c->targets.dot;
    const int both = c->rows.stride != 0 && c->lanes.stride != 0;
    const int goes = c->path != PATH_REFERENCE && c->path != PATH_NATIVE64 && c->path != PATH_INTEGER &&
                     !(d->model == FPEMU_MODEL_FUSED && (d->chained || core_dot_period(d) > SLAB_FEW / 2));
    if (c->m != 1 || c->n != 1 || c->batch == 1 || c->split.terms || c->rows.scales || c->lanes.scales ||
        c->lanes.stride == 0 || (both && !goes))
        return;
    if (both) {
        c->path = c->path == PATH_NATIVE32 ? PATH_NATIVE32 : PATH_FAST;
        c->paired = 1;
        along_batch(&c->rows);
    }
    along_batch(&c->lanes);
    c->n = c->index_row = c->batch;
    c->step_lane = (ptrdiff_t)c->stride;
    c->batch = 1;
}

/* Whether scales can be read, lie apart from [from, to), and are what the model takes. */
static fpemu_status check_scales(const gemm_call *c, const core_operand *o, uint64_t depth, uint64_t count,
                                 uint64_t batch, const core_reach *result)
{
    const int carrier = c->targets.carrier;
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    if (!o->scales)
        return FPEMU_OK;
    const uint64_t one = scales_of(depth, c->targets.dot.scaled, count), products = o->stride ? batch : 1;
    const uint64_t all = one * products;
    core_reach e;
    if (products > UINT64_MAX / one || !core_reach_array(&e, o->scales, all, size))
        return FPEMU_ERROR_ARGUMENT;
    if (core_reaches_meet(&e, result))
        return FPEMU_ERROR_OVERLAP;
    for (uint64_t i = 0; i < all && (carrier == 64 || c->targets.dot.group); i++) {
        const double x = load(carrier, (const char *)o->scales + i * size);
        if (x == x && !core_dot_is_scale(&c->targets.dot, x))
            return FPEMU_ERROR_ARGUMENT;
    }
    return FPEMU_OK;
}

/* Matrices of a product: op(A) m x k, op(B) k x n, C m x n. */
typedef struct matrices {
    core_operand a, b, c;
    uint64_t batch;
    double alpha, beta;
} matrices;

/* Whether everything that is read or written is there, and C apart from the rest. */
static fpemu_status check_matrices(const gemm_call *call, const matrices *m, int reads)
{
    const size_t size = call->targets.carrier == 32 ? sizeof(float) : sizeof(double);
    const core_operand *const operands[] = {&m->a, &m->b};
    core_reach result, read;
    if (!m->c.p || (reads && (!m->a.p || !m->b.p)))
        return FPEMU_ERROR_NULL;
    if (!core_operand_reach(&m->c, m->batch, size, &result))
        return FPEMU_ERROR_ARGUMENT;
    for (int i = 0; i < 2 && reads; i++) {
        if (!core_operand_reach(operands[i], m->batch, size, &read))
            return FPEMU_ERROR_ARGUMENT;
        if (core_reaches_meet(&read, &result))
            return FPEMU_ERROR_OVERLAP;
    }
    if (!reads)
        return FPEMU_OK;
    const fpemu_status status = check_scales(call, &m->a, m->a.columns, m->a.rows, m->batch, &result);
    return status ? status : check_scales(call, &m->b, m->a.columns, m->b.columns, m->batch, &result);
}

/* Whether lanes run along the rows of C: its only long side; or the operand that changes with the products of a batch;
 * or where both operands lie so in memory, and no random bits go by the place of an output. */
static int goes_down(const gemm_call *call, const core_operand *c)
{
    const core_dot *const d = &call->targets.dot;
    const int drawn = d->product.stochastic | d->inner.stochastic | d->outer.stochastic | d->out.stochastic;
    if (c->columns == 1)
        return c->rows > 1 || call->rows.stride != 0;
    return !drawn && c->rows >= DOT_LANES / 2 && call->rows.step_o == 1 && call->lanes.step_o != 1;
}

/* In the default floating-point environment; the spec is prepared. */
static fpemu_status multiply_inside(gemm_call *call, const matrices *m, fpemu_stats *stats)
{
    const fpemu_gemm_spec *spec = call->targets.spec;
    const core_operand *c = &m->c;
    core_dot *const d = &call->targets.dot;
    if ((spec->start_from_c && !(m->alpha == 1 && m->beta == 1)) ||
        (spec->splits == FPEMU_SPLITS_INT8 && m->a.columns > SPLIT_DEPTH) ||
        (call->targets.carrier == 32 && !(core_is_binary32(m->alpha) && core_is_binary32(m->beta))))
        return FPEMU_ERROR_ARGUMENT;
    if (c->rows == 0 || c->columns == 0)
        return FPEMU_OK;
    fpemu_status status = check_matrices(call, m, m->a.columns != 0 && m->alpha != 0);
    if (!status && stats)
        status = stats->request.want ? FPEMU_ERROR_STATS : fpemu_stats_check(stats);
    if (status)
        return status;
    const uint64_t depth = fpemu_split_begin(&call->split, spec, m->a.columns);
    core_dot_make_call(d, spec, m->alpha, m->beta, depth);
    if (call->split.bits) {
        d->chunk = m->a.columns;
        d->total = depth ? depth + call->split.terms : 0;
    }
    d->depth = m->alpha != 0 ? depth : 0; /* A and B are not read */
    call->counted = stats != NULL;
    call->batch = (size_t)m->batch;
    call->path = choose_path(call);
    call->c = (void *)(uintptr_t)c->p;
    call->stride = (size_t)c->stride;
    begin_operand(call, &call->rows, &m->a, m->a.columns, 0);
    begin_operand(call, &call->lanes, &m->b, m->a.columns, 1);
    const int swapped = goes_down(call, c);
    if (swapped) {
        const gemm_operand left = call->rows;
        call->rows = call->lanes;
        call->lanes = left;
        const int32_t quantum = d->quantum_a;
        const double least = d->least_a;
        d->quantum_a = d->quantum_b;
        d->quantum_b = quantum;
        d->least_a = d->least_b;
        d->least_b = least;
    }
    call->m = (size_t)(swapped ? c->columns : c->rows);
    call->n = (size_t)(swapped ? c->rows : c->columns);
    call->index_row = call->n;
    call->paired = 0;
    call->step_row = swapped ? c->step_column : c->step_row;
    call->step_lane = swapped ? c->step_row : c->step_column;
    join_batch(call);
    if (call->path == PATH_FAST && call->n == 1 && !call->split.terms)
        call->path = PATH_REFERENCE;
    if (d->model == FPEMU_MODEL_FUSED)
        fpemu_fast_steps(call);
    return fpemu_gemm_run(call, stats) ? FPEMU_ERROR_NAN : FPEMU_OK;
}

static fpemu_status multiply(gemm_call *call, const matrices *m, fpemu_stats *stats)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = multiply_inside(call, m, stats);
    fpemu_environment_leave(&environment);
    return status;
}

/* Whether an operand is rounded by one loop, or not at all, without random bits. */
static int is_line(const gemm_operand *o)
{
    return !o->target || ((o->round32 || o->round64) && !CORE_DRAWS(o->target->rounding.mode));
}

/* What the spec and the type alone tell of a call; alone: and of a dot product by itself. */
static fpemu_status prepare(gemm_call *call, const fpemu_gemm_spec *spec, fpemu_type type, int alone, fpemu_why *why)
{
    fp_environment environment;
    const fpemu_status status = fpemu_gemm_targets(&call->targets, spec, (int)type, why);
    if (status)
        return status;
    call->k = fpemu_kernels();
    fpemu_environment_enter(&environment);
    fpemu_operand_prepare(&call->rows, &spec->a, (int)type);
    fpemu_operand_prepare(&call->lanes, &spec->b, (int)type);
    call->alone = !spec->splits && !call->targets.nan_is_error && is_line(&call->rows) && is_line(&call->lanes);
    if (alone && call->alone) {
        call->counted = 0;
        call->split.bits = 0;
        call->path = spec->sum.model == FPEMU_MODEL_SEQUENTIAL ? choose_path(call) : PATH_REFERENCE;
    }
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

static fpemu_status run_gemm(gemm_call *call, const fpemu_gemm_shape *s, double alpha, const void *a,
                             const void *scales_a, const void *b, const void *scales_b, double beta, void *c,
                             fpemu_stats *stats)
{
    matrices m;
    if ((scales_a || scales_b) && (!call->targets.spec->sum.chunk || call->targets.spec->splits))
        return FPEMU_ERROR_UNSUPPORTED;
    if (!s)
        return FPEMU_ERROR_NULL;
    const uint64_t most = PTRDIFF_MAX;
    m.batch = s->batch ? s->batch : 1;
    m.alpha = alpha;
    m.beta = beta;
    if (s->order > 1 || s->transpose_a > 1 || s->transpose_b > 1 || !is_zero(s->reserved0, sizeof s->reserved0) ||
        !is_zero(s->reserved1, sizeof s->reserved1) || s->m > most || s->n > most || s->k > most ||
        !core_operand_matrix(&m.a, a, s->m, s->k, s->lda, s->stride_a, s->order, s->transpose_a) ||
        !core_operand_matrix(&m.b, b, s->k, s->n, s->ldb, s->stride_b, s->order, s->transpose_b) ||
        !core_operand_matrix(&m.c, c, s->m, s->n, s->ldc, s->stride_c, s->order, 0))
        return FPEMU_ERROR_ARGUMENT;
    core_reach all; /* products, which lie apart */
    if (m.batch > 1 && s->m && s->n &&
        (!core_operand_reach(&m.c, m.batch, (size_t)call->targets.carrier / 8, &all) || !core_reach_is_apart(&all)))
        return FPEMU_ERROR_ARGUMENT;
    m.a.scales = scales_a;
    m.b.scales = scales_b;
    return multiply(call, &m, stats);
}

fpemu_status fpemu_gemm_scaled(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                               double alpha, const void *a, const void *scales_a, const void *b, const void *scales_b,
                               double beta, void *c, fpemu_stats *stats)
{
    gemm_call call;
    const fpemu_status status = prepare(&call, spec, type, 0, NULL);
    return status ? status : run_gemm(&call, shape, alpha, a, scales_a, b, scales_b, beta, c, stats);
}

fpemu_status fpemu_gemm(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type, double alpha,
                        const void *a, const void *b, double beta, void *c, fpemu_stats *stats)
{
    return fpemu_gemm_scaled(spec, shape, type, alpha, a, NULL, b, NULL, beta, c, stats);
}

fpemu_status fpemu_gemv(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                        fpemu_type type, double alpha, const void *a, size_t lda, const void *x, int64_t incx,
                        double beta, void *y, int64_t incy, fpemu_stats *stats)
{
    const size_t size = carrier_size((int)type);
    matrices product = {.batch = 1, .alpha = alpha, .beta = beta};
    gemm_call call;
    const fpemu_status status = prepare(&call, spec, type, 0, NULL);
    if (status)
        return status;
    if ((unsigned)order > 1 || (unsigned)transpose > 1 || m > PTRDIFF_MAX || n > PTRDIFF_MAX ||
        !core_operand_matrix(&product.a, a, transpose ? n : m, transpose ? m : n, lda, 0, (int)order, transpose) ||
        !core_operand_vector(&product.b, x, transpose ? m : n, incx, size) ||
        !core_operand_vector(&product.c, y, transpose ? n : m, incy, size))
        return FPEMU_ERROR_ARGUMENT;
    return multiply(&call, &product, stats);
}

static fpemu_status dot_alone(const gemm_call *call, const fpemu_gemm_spec *spec, const matrices *m)
{
    const fpemu_status status = check_matrices(call, m, m->a.columns != 0);
    fp_environment environment;
    if (status)
        return status;
    fpemu_environment_enter(&environment);
    core_dot d = call->targets.dot;
    core_dot_make_call(&d, spec, 1, m->beta, m->a.columns);
    fpemu_reference_alone(call, &d, &m->a, &m->b, (void *)(uintptr_t)m->c.p);
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

/* Vectors as a row and a column. */
static int take_vectors(matrices *m, int carrier, size_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                        const void *result, int start_from_c)
{
    const size_t size = carrier_size(carrier);
    core_operand *const row = &m->a;
    if (!core_operand_vector(row, x, n, incx, size) || !core_operand_vector(&m->b, y, n, incy, size) ||
        !core_operand_vector(&m->c, result, 1, 1, size))
        return 0;
    row->columns = row->rows;
    row->rows = 1;
    row->step_column = row->step_row;
    row->step_row = 1;
    m->batch = 1;
    m->alpha = 1;
    m->beta = start_from_c;
    return 1;
}

fpemu_status fpemu_dot(const fpemu_gemm_spec *spec, size_t n, fpemu_type type, const void *x, int64_t incx,
                       const void *y, int64_t incy, void *result, fpemu_stats *stats)
{
    matrices m;
    gemm_call call;
    const fpemu_status status = prepare(&call, spec, type, 1, NULL);
    if (status)
        return status;
    if (!take_vectors(&m, (int)type, n, x, incx, y, incy, result, spec->start_from_c))
        return FPEMU_ERROR_ARGUMENT;
    return call.alone && !stats ? dot_alone(&call, spec, &m) : multiply(&call, &m, stats);
}

/* ------------------------------------------------------------------------------------------- prepared calls */

/* What lies in an fpemu_prepared_gemm. */
typedef struct prepared {
    uint64_t mark; /* MARK, once it is made */
    fpemu_gemm_spec spec;
    gemm_call call;
} prepared;
_Static_assert(sizeof(prepared) <= sizeof(fpemu_prepared_gemm), "a prepared lies in an fpemu_prepared_gemm");

#define MARK UINT64_C(0x6670656d67652e31)

fpemu_status fpemu_prepare_gemm(fpemu_prepared_gemm *to, const fpemu_gemm_spec *spec, fpemu_type type, fpemu_why *why)
{
    if (why)
        memset(why, 0, sizeof *why);
    if (!to)
        return FPEMU_ERROR_NULL;
    prepared *const p = (prepared *)(void *)to;
    memset(to, 0, sizeof *to);
    if (spec)
        p->spec = *spec;
    const fpemu_status status = prepare(&p->call, spec ? &p->spec : NULL, type, 1, why);
    if (status)
        memset(to, 0, sizeof *to);
    else
        p->mark = MARK;
    return status;
}

/* A call of one's own, which points into itself. */
static void begin_prepared(gemm_call *call, const prepared *p)
{
    *call = p->call;
    fpemu_gemm_point(&call->targets, &p->spec);
    call->rows.target = call->rows.target ? &p->spec.a : NULL;
    call->lanes.target = call->lanes.target ? &p->spec.b : NULL;
}

fpemu_status fpemu_run_gemm(const fpemu_prepared_gemm *from, const fpemu_gemm_shape *shape, double alpha, const void *a,
                            const void *scales_a, const void *b, const void *scales_b, double beta, void *c,
                            fpemu_stats *stats)
{
    const prepared *const p = (const prepared *)(const void *)from;
    gemm_call call;
    if (!p || p->mark != MARK)
        return p ? FPEMU_ERROR_ARGUMENT : FPEMU_ERROR_NULL;
    begin_prepared(&call, p);
    return run_gemm(&call, shape, alpha, a, scales_a, b, scales_b, beta, c, stats);
}

fpemu_status fpemu_run_dot(const fpemu_prepared_gemm *from, size_t n, const void *x, int64_t incx, const void *y,
                           int64_t incy, void *result, fpemu_stats *stats)
{
    const prepared *const p = (const prepared *)(const void *)from;
    matrices m;
    gemm_call call;
    if (!p || p->mark != MARK)
        return p ? FPEMU_ERROR_ARGUMENT : FPEMU_ERROR_NULL;
    if (!take_vectors(&m, p->call.targets.carrier, n, x, incx, y, incy, result, p->spec.start_from_c))
        return FPEMU_ERROR_ARGUMENT;
    if (p->call.alone && !stats)
        return dot_alone(&p->call, &p->spec, &m);
    begin_prepared(&call, p);
    return multiply(&call, &m, stats);
}
