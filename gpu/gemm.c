/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - the calls of matrix, matrix-vector and dot products. Operands that are rounded on their way in are rounded
 * once, densely, into the caller's scratch; then every output is a lane's. */
#include <math.h>

#include "call.h"
#include "core/dot_make.h"
#include "core/gemm_shape.h"

/* More products than 32-bit counters of a lane hold. */
#define MOST_COUNTED (UINT64_C(1) << 28)

typedef struct gemm_call {
    const fpemu_gemm_spec *spec;
    core_operand a, b, c; /* op(A) m x k, op(B) k x n, C m x n */
    uint64_t batch;
    double alpha, beta;
    void *scratch;
    fpemu_cuda_stats *stats;
    int type;
} gemm_call;

/* Bytes of scratch that no memory has; also where products of a small array, which may lie one in the other, make so
 * many elements. */
#define TOO_MUCH UINT64_MAX

/* Elements of an operand in all products, or TOO_MUCH. */
static uint64_t elements_of(const core_operand *o, uint64_t batch)
{
    const uint64_t matrices = o->stride ? batch : 1;
    uint64_t all = o->rows;
    if (all && o->columns > UINT64_MAX / all)
        return TOO_MUCH;
    all *= o->columns;
    return all && matrices > UINT64_MAX / all ? TOO_MUCH : all * matrices;
}

static uint64_t to_whole_lines(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Bytes of scratch for an operand: its elements rounded, and behind them what its format needs, a long table; or
 * TOO_MUCH. */
static uint64_t scratch_of(const gemm_call *c, const core_operand *o, const fpemu_target *t)
{
    const uint64_t n = elements_of(o, c->batch);
    const fpemu_shape shape = fpemu_shape_vector((size_t)n);
    if (core_target_is_none(t))
        return 0;
    if (n > PTRDIFF_MAX / 32)
        return TOO_MUCH;
    return to_whole_lines(n * fpemu_gpu_size(c->type, 0)) + to_whole_lines(fpemu_cuda_scratch_size(&t->format, &shape));
}

/* Rounds an operand into `to`; where its numbers then lie. across: columns one after the other. */
static fpemu_cuda_status round_operand(const gemm_call *c, core_operand *o, const fpemu_target *t, char *to, int across,
                                       fpemu_cuda_stream stream)
{
    char *const behind = to + to_whole_lines(elements_of(o, c->batch) * fpemu_gpu_size(c->type, 0));
    fpemu_shape s = {.outer = o->stride ? c->batch : 1, .rows = o->rows, .length = o->columns, .inner = 1};
    const int64_t dense[4] = {(int64_t)(o->rows * o->columns), across ? 1 : (int64_t)o->columns,
                              across ? (int64_t)o->rows : 1, 1};
    const int64_t given[4] = {s.outer > 1 ? (int64_t)o->stride : 1, o->step_row, o->step_column, 1};
    memcpy(s.x_stride, given, sizeof given);
    memcpy(s.y_stride, dense, sizeof dense);
    for (int k = 0; k < 4; k++) { /* axes of one element have no step that matters */
        const uint64_t extent[4] = {s.outer, s.rows, s.length, s.inner};
        if (extent[k] == 1)
            s.x_stride[k] = s.y_stride[k] = 1;
    }
    const fpemu_cuda_status status =
        fpemu_gpu_quantize_shape(&t->format, &t->rounding, &s, o->p, to, behind, c->type, stream);
    o->p = to;
    o->step_row = (ptrdiff_t)dense[1];
    o->step_column = (ptrdiff_t)dense[2];
    o->stride = o->stride ? (uint64_t)dense[0] : 0;
    return status;
}

static void fill_rule(core_dot *p, const gemm_call *c)
{
    const fpemu_gemm_spec *s = c->spec;
    const fpemu_accumulator *sum = &s->sum;
    const int narrow = c->type == GPU_F32;
    const int carrier = narrow ? 32 : 64;
    memset(p, 0, sizeof *p);
    if (!core_target_is_none(&s->product))
        core_target_make(&p->product, &s->product, 64, narrow);
    if (!core_target_is_none(&sum->inner))
        core_target_make(&p->inner, &sum->inner, 64, core_dot_sums_are_narrow(s, narrow));
    if (!core_target_is_none(&sum->outer))
        core_target_make(&p->outer, &sum->outer, 64, narrow);
    if (!core_target_is_none(&s->out))
        core_target_make(&p->out, &s->out, carrier, 0);
    core_dot_make(p, s, carrier);
    core_dot_make_call(p, s, c->alpha, c->beta, c->a.columns);
}

/* Products that a tile takes at a time: whole steps of tensor cores; 0 where tiles do not pay or do not go. */
static uint32_t slab_of(const gpu_gemm_job *j)
{
    const core_dot *p = &j->rule;
    const uint32_t step = p->model == FPEMU_MODEL_FUSED ? (uint32_t)core_dot_period(p) : 1;
    if (j->counts || !core_dot_in_pieces(p) || p->alpha == 0 || p->depth < 8 || j->m < GPU_TILE / 2 ||
        j->n < GPU_TILE / 2 || step > GPU_SLAB)
        return 0;
    return GPU_SLAB / step * step;
}

/* How many units an integer operand's numbers have at most. */
static double most_units(const fpemu_format *f)
{
    const double zero = f->kind == FPEMU_KIND_INT ? (double)(f->zero_point < 0 ? -f->zero_point : f->zero_point) : 0;
    return (double)(UINT64_C(1) << (f->bits - f->is_signed)) + zero;
}

/* Whether integers are summed in 32 bits, where a sum and the next product fit; whether it may come to the ends. */
static uint8_t whole_fits(gpu_gemm_job *j, const fpemu_gemm_spec *s)
{
    const core_dot *p = &j->rule;
    const double product = most_units(&s->a.format) * most_units(&s->b.format), end = ldexp(1, p->width - 1);
    const int quantum = p->quantum_a + p->quantum_b;
    if (quantum < -900 || quantum > 900)
        return 0;
    if (p->wrap)
        return p->width <= 32;
    j->ends = product * (double)p->depth >= end;
    return (j->ends ? end : product * (double)p->depth) + product < 0x1p31;
}

/* The carrier in whose forms the sums can be made, or 0; fills the job's targets. */
static uint8_t carrier_of(gpu_gemm_job *j, const fpemu_gemm_spec *s)
{
    const core_dot *p = &j->rule;
    const int chunked = p->chunk != 0, product = p->product.given;
    const uint64_t last = p->inner.offset + j->batch * j->m * j->n - 1;
    gpu_macs_of32 *const f = &j->fast.in32;
    gpu_macs_of64 *const g = &j->fast.in64;
    if (j->counts || p->model == FPEMU_MODEL_PAIRWISE || !core_dot_is_plain(p) || j->a.scales || j->b.scales ||
        p->alpha == 0 || p->depth < 8 || j->m < GPU_TILE || j->n < GPU_TILE)
        return 0;
    if (p->model == FPEMU_MODEL_INTEGER)
        return whole_fits(j, s) ? 32 : 0;
    if (p->model == FPEMU_MODEL_FUSED) {
        core_dot_fast32 *const outer = &j->fast.fused.outer;
        if (!core_fused_make(&j->fast.fused.step, s, &p->inner.plan))
            return 0;
        if (chunked)
            core_dot_fast_make32(outer, &s->sum.outer, &p->outer.plan);
        return !chunked || outer->form ? 32 : 0;
    }
    if (!p->wide) {
        memset(f, 0, sizeof *f);
        core_dot_fast_make32(&f->inner, &s->sum.inner, &p->inner.plan);
        if (chunked)
            core_dot_fast_make32(&f->outer, &s->sum.outer, &p->outer.plan);
        if (product)
            core_dot_fast_make32(&f->product, &s->product, &p->product.plan);
        if (f->inner.form && (!chunked || f->outer.form) && (!product || f->product.form))
            return 32;
    }
    memset(g, 0, sizeof *g);
    core_dot_fast_make64(&g->inner, &s->sum.inner, &p->inner.plan);
    if (g->inner.form == CORE_DOT_STOCHASTIC && (p->inner.philox || core_per_word(p->inner.plan.n) ||
                                                 last >> 32 != p->inner.offset >> 32 || p->model == FPEMU_MODEL_KAHAN))
        g->inner.form = CORE_DOT_ANY; /* a product has not one key for its words */
    if (chunked)
        core_dot_fast_make64(&g->outer, &s->sum.outer, &p->outer.plan);
    if (product)
        core_dot_fast_make64(&g->product, &s->product, &p->product.plan);
    return g->inner.form && (!chunked || g->outer.form) && (!product || g->product.form) ? 64 : 0;
}

/* What the CPU does not refuse, and devices do: NaN policy `error`, formats with scales, split operands. */
static int is_refused(const fpemu_gemm_spec *s)
{
    const fpemu_target *const all[] = {&s->a, &s->b, &s->product, &s->out, &s->sum.inner, &s->sum.outer};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!core_target_is_none(all[k]) &&
            (fpemu_gpu_nan_is_error(&all[k]->format, &all[k]->rounding) || all[k]->format.scaling))
            return 1;
    return s->splits != FPEMU_SPLITS_NONE;
}

/* How many scales belong to `count` rows or columns of an operand. */
static uint64_t scales_of(const gemm_call *c, uint64_t count)
{
    const uint64_t depth = c->a.columns;
    return c->spec->sum.chunk && depth ? count * ((depth - 1) / c->spec->sum.chunk + 1) : 0;
}

/* Scales of `count` rows or columns of an operand. */
static fpemu_cuda_status check_scales(const gemm_call *c, const core_operand *o, uint64_t count,
                                      const core_reach *result)
{
    const uint64_t one = scales_of(c, count), products = o->stride ? c->batch : 1;
    if (!o->scales || !one)
        return FPEMU_CUDA_OK;
    if (products > UINTPTR_MAX / one)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    return fpemu_gpu_check_scales(o->scales, one * products, fpemu_gpu_size(c->type, 0), result);
}

/* Arrays apart from each other, whole elements, reachable. */
static fpemu_cuda_status check_arrays(const gemm_call *c, int reads)
{
    const size_t size = fpemu_gpu_size(c->type, 0);
    core_reach result, read;
    if (!core_operand_reach(&c->c, c->batch, size, &result))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    for (int i = 0; i < 2 && reads; i++) {
        if (!core_operand_reach(i ? &c->b : &c->a, c->batch, size, &read))
            return FPEMU_CUDA_ERROR_ARGUMENT;
        if (core_reaches_meet(&read, &result))
            return FPEMU_CUDA_ERROR_OVERLAP;
    }
    fpemu_cuda_status fit = reads ? check_scales(c, &c->a, c->a.rows, &result) : FPEMU_CUDA_OK;
    if (!fit && reads)
        fit = check_scales(c, &c->b, c->b.columns, &result);
    if (fit)
        return fit;
    const void *const all[] = {c->c.p, reads ? c->a.p : NULL, reads ? c->b.p : NULL, c->scratch, c->stats};
    const size_t aligned[] = {size, size, size, 16, 8};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (all[k] && (uintptr_t)all[k] % aligned[k])
            return FPEMU_CUDA_ERROR_ARGUMENT;
        const fpemu_cuda_status status = all[k] ? fpemu_gpu_reachable(all[k]) : FPEMU_CUDA_OK;
        if (status)
            return status;
    }
    return FPEMU_CUDA_OK;
}

/* An operand of `count` rows or columns, `step` apart, and of products `step_k` apart. */
static gpu_operand operand_of(const gemm_call *c, const core_operand *o, int64_t step, int64_t step_k, uint64_t count,
                              int reads)
{
    return (gpu_operand){
        o->p, step, step_k, (int64_t)o->stride, reads ? o->scales : NULL, o->stride ? scales_of(c, count) : 0};
}

static fpemu_cuda_status multiply_inside(gemm_call *c, fpemu_cuda_stream stream)
{
    const fpemu_gemm_spec *s = c->spec;
    gpu_gemm_job j;
    if ((s->start_from_c && !(c->alpha == 1 && c->beta == 1)) ||
        (c->type == GPU_F32 && !(core_is_binary32(c->alpha) && core_is_binary32(c->beta))))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (c->c.rows == 0 || c->c.columns == 0)
        return FPEMU_CUDA_OK;
    const int reads = c->a.columns != 0 && c->alpha != 0;
    if (!c->c.p || (reads && (!c->a.p || !c->b.p)))
        return FPEMU_CUDA_ERROR_NULL;
    if (is_refused(s) || (c->stats && c->a.columns > MOST_COUNTED))
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    const uint64_t scratch_a = scratch_of(c, &c->a, &s->a), scratch_b = scratch_of(c, &c->b, &s->b);
    if (reads && (scratch_a == TOO_MUCH || scratch_b == TOO_MUCH))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    fpemu_cuda_status status = check_arrays(c, reads);
    if (!status && reads && (scratch_a || scratch_b) && !c->scratch)
        status = FPEMU_CUDA_ERROR_NULL;
    if (status)
        return status;
    memset(&j, 0, sizeof j);
    fill_rule(&j.rule, c);
    if (!reads)
        j.rule.depth = 0;
    const int across = c->c.columns == 1; /* neighbouring lanes are rows of op(A) */
    if (reads && !core_target_is_none(&s->a))
        status = round_operand(c, &c->a, &s->a, (char *)c->scratch, across, stream);
    if (!status && reads && !core_target_is_none(&s->b))
        status = round_operand(c, &c->b, &s->b, (char *)c->scratch + scratch_a, 0, stream);
    if (status)
        return status;
    j.a = operand_of(c, &c->a, c->a.step_row, c->a.step_column, c->a.rows, reads);
    j.b = operand_of(c, &c->b, c->b.step_column, c->b.step_row, c->b.columns, reads);
    j.c = (void *)(uintptr_t)c->c.p;
    j.step_row = c->c.step_row;
    j.step_column = c->c.step_column;
    j.stride = (int64_t)c->c.stride;
    j.m = c->c.rows;
    j.n = c->c.columns;
    j.batch = c->batch;
    j.counts = (gpu_counts *)(void *)c->stats;
    j.reads_c = c->beta != 0 || s->start_from_c;
    j.slab = slab_of(&j);
    j.carrier = carrier_of(&j, s);
    return fpemu_gpu_gemm(&j, stream);
}

static fpemu_cuda_status multiply(gemm_call *c, fpemu_cuda_stream stream)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_cuda_status status = multiply_inside(c, stream);
    fpemu_environment_leave(&environment);
    return status;
}

/* The matrices of a shape; 0 where it is refused. */
static int take_shape(gemm_call *c, const fpemu_gemm_shape *s, const void *a, const void *b, const void *out)
{
    const uint64_t most = PTRDIFF_MAX;
    core_reach all;
    uint64_t reserved = 0;
    for (size_t k = 0; k < sizeof s->reserved0; k++)
        reserved |= s->reserved0[k];
    for (size_t k = 0; k < sizeof s->reserved1 / sizeof *s->reserved1; k++)
        reserved |= s->reserved1[k];
    c->batch = s->batch ? s->batch : 1;
    if (s->order > 1 || s->transpose_a > 1 || s->transpose_b > 1 || reserved || s->m > most || s->n > most ||
        s->k > most || !core_operand_matrix(&c->a, a, s->m, s->k, s->lda, s->stride_a, s->order, s->transpose_a) ||
        !core_operand_matrix(&c->b, b, s->k, s->n, s->ldb, s->stride_b, s->order, s->transpose_b) ||
        !core_operand_matrix(&c->c, out, s->m, s->n, s->ldc, s->stride_c, s->order, 0))
        return 0;
    return !(c->batch > 1 && s->m && s->n &&
             (!core_operand_reach(&c->c, c->batch, fpemu_gpu_size(c->type, 0), &all) || !core_reach_is_apart(&all)));
}

uint64_t fpemu_cuda_gemm_scratch_size(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.spec = spec;
    c.type = fpemu_gpu_type(type);
    if (!shape || fpemu_gemm_check(spec, type, NULL) || !take_shape(&c, shape, NULL, NULL, NULL))
        return 0;
    const uint64_t a = scratch_of(&c, &c.a, &spec->a), b = scratch_of(&c, &c.b, &spec->b);
    return a == TOO_MUCH || b == TOO_MUCH ? TOO_MUCH : a + b;
}

/* --------------------------------------------------------------------------------------------- public functions */

/* A call with all but its matrices; FPEMU_CUDA_OK where the spec goes with the type. */
static fpemu_cuda_status begin(gemm_call *c, const fpemu_gemm_spec *spec, fpemu_type type, double alpha, double beta,
                               void *scratch, fpemu_cuda_stats *stats)
{
    const gemm_call call = {.spec = spec,
                            .batch = 1,
                            .alpha = alpha,
                            .beta = beta,
                            .scratch = scratch,
                            .stats = stats,
                            .type = fpemu_gpu_type(type)};
    *c = call;
    return gpu_status(fpemu_gemm_check(spec, type, NULL));
}

fpemu_cuda_status fpemu_cuda_gemm_scaled(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                                         double alpha, const void *d_a, const void *d_scales_a, const void *d_b,
                                         const void *d_scales_b, double beta, void *d_c, void *d_scratch,
                                         fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    gemm_call c;
    const fpemu_cuda_status status = begin(&c, spec, type, alpha, beta, d_scratch, d_stats);
    if (status)
        return status;
    if ((d_scales_a || d_scales_b) && !spec->sum.chunk)
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    if (!shape)
        return FPEMU_CUDA_ERROR_NULL;
    if (!take_shape(&c, shape, d_a, d_b, d_c))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    c.a.scales = d_scales_a;
    c.b.scales = d_scales_b;
    return multiply(&c, stream);
}

fpemu_cuda_status fpemu_cuda_gemm(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                                  double alpha, const void *d_a, const void *d_b, double beta, void *d_c,
                                  void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    return fpemu_cuda_gemm_scaled(spec, shape, type, alpha, d_a, NULL, d_b, NULL, beta, d_c, d_scratch, d_stats,
                                  stream);
}

fpemu_cuda_status fpemu_cuda_gemv(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                                  fpemu_type type, double alpha, const void *d_a, size_t lda, const void *d_x,
                                  int64_t incx, double beta, void *d_y, int64_t incy, void *d_scratch,
                                  fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    gemm_call c;
    const fpemu_cuda_status status = begin(&c, spec, type, alpha, beta, d_scratch, d_stats);
    if (status)
        return status;
    const size_t size = fpemu_gpu_size(c.type, 0);
    if ((unsigned)order > 1 || (unsigned)transpose > 1 || m > PTRDIFF_MAX || n > PTRDIFF_MAX ||
        !core_operand_matrix(&c.a, d_a, transpose ? n : m, transpose ? m : n, lda, 0, (int)order, transpose) ||
        !core_operand_vector(&c.b, d_x, transpose ? m : n, incx, size) ||
        !core_operand_vector(&c.c, d_y, transpose ? n : m, incy, size))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    return multiply(&c, stream);
}

fpemu_cuda_status fpemu_cuda_dot(const fpemu_gemm_spec *spec, size_t n, fpemu_type type, const void *d_x, int64_t incx,
                                 const void *d_y, int64_t incy, void *d_result, void *d_scratch,
                                 fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    gemm_call c;
    const fpemu_cuda_status status = begin(&c, spec, type, 1, 0, d_scratch, d_stats);
    if (status)
        return status;
    const size_t size = fpemu_gpu_size(c.type, 0);
    c.beta = spec->start_from_c;
    if (!core_operand_vector(&c.a, d_x, n, incx, size) || !core_operand_vector(&c.b, d_y, n, incy, size) ||
        !core_operand_vector(&c.c, d_result, 1, 1, size))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    c.a.columns = c.a.rows; /* a row */
    c.a.rows = 1;
    c.a.step_column = c.a.step_row;
    c.a.step_row = 1;
    return multiply(&c, stream);
}
