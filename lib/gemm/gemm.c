/* gemm.c - dot products, matrix times vector, matrix times matrix, as a machine would compute them.
 *
 * Outputs are computed in tiles of rows by lanes, and k in slabs: the operands of a slab are gathered, rounded and kept
 * on the stack; then each row of the tile takes a step of its model for all lanes at once. Models are written as
 * sequences of one operation, `operate`: round(v * w + u), on all lanes, with the number of that rounding. Three ways:
 *
 *   binary32   products and sums in binary32, where that and a rounding to nearest give the right bits
 *   binary64   the exact result rounded to odd, then the loops of fpemu_quantize (as arith.c)
 *   exact      128 bits, one element at a time
 *
 * All give the same bits. doc/accumulation.md defines them. */
#include "call.h"

#include "core/gemm_shape.h"

/* Whether a target is the native format itself, to nearest. */
static int is_native(const fpemu_target *t, fpemu_name name)
{
    fpemu_format native;
    fpemu_format_named(name, &native);
    return fpemu_format_equal(&t->format, &native) && t->rounding.mode == FPEMU_MODE_RNE &&
           t->rounding.overflow <= FPEMU_OVERFLOW_IEEE;
}

/* Plan and form of a float of at most 11 bits of precision whose rounding to nearest has a short form, for numbers
 * below 2^top; 0 if t is none. */
static int fast_plan(core_plan32 *p, enum mac_form *form, const fpemu_target *t, int top)
{
    core_plan64 integers;
    const int m = (int)t->format.mantissa_bits;
    if (t->format.kind != FPEMU_KIND_FLOAT || m > 10 || !t->format.fits_f32 || t->rounding.mode != FPEMU_MODE_RNE ||
        core_nan_policy(&t->format, &t->rounding) == FPEMU_NAN_ERROR)
        return 0;
    core_plan_make32(p, &integers, &t->format, &t->rounding, 0);
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
    /* fast: 2^top leaves room for the number that is added; a NaN needs no care on the way */
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

/* The quickest way that gives the right bits. Rounding to nearest in binary32 first does no harm (Figueroa 1995) where
 * both terms of a sum have no more bits than the result, p, and 2p + 2 <= 24; for a product, where it is exact. */
static int choose_way(job *j)
{
    const fpemu_gemm_spec *s = j->spec;
    const fpemu_format *f = &s->sum.inner.format;
    const uint32_t model = s->sum.model;
    int bits, top;
    if (j->counted || (model != FPEMU_MODEL_SEQUENTIAL && model != FPEMU_MODEL_CHUNKED))
        return WAY_GENERAL;
    if (model == FPEMU_MODEL_SEQUENTIAL && !j->product.given && (j->binary32 || j->k->has_fma) &&
        is_native(&s->sum.inner, FPEMU_NAME_BINARY64))
        return WAY_NATIVE64;
    if (!j->binary32)
        return WAY_GENERAL;
    if (model == FPEMU_MODEL_SEQUENTIAL && !j->product.given && is_native(&s->sum.inner, FPEMU_NAME_BINARY32))
        return WAY_NATIVE32;
    if (!products_fit(s, &bits, &top))
        return WAY_GENERAL;
    j->product_form = MAC_NONE;
    if (j->product.given) {
        if (!fast_plan(&j->product32, &j->product_form, &s->product, top))
            return WAY_GENERAL;
        bits = (int)s->product.format.mantissa_bits + 1;
        top = s->product.format.emax + 1;
    }
    top = (top > f->emax + 1 ? top : f->emax + 1) + 1;
    if (!fast_plan(&j->inner32, &j->inner_form, &s->sum.inner, top) || bits > (int)f->mantissa_bits + 1)
        return WAY_GENERAL;
    j->may_stay_inside = j->inner_form >= MAC_INF && (j->product_form == MAC_NONE || j->product_form >= MAC_INF);
    j->growth = 1;
    for (int l = 0; l < SLAB; l++)
        j->growth *= 1 + step_of(f);
    return WAY_BINARY32;
}

/* How many scales belong to `count` rows or columns of an operand. */
static uint64_t scales_of(const job *j, uint64_t count)
{
    return count * ((j->depth - 1) / j->spec->sum.chunk + 1); /* no more than elements */
}

static side side_of(const job *j, const core_operand *o, const fpemu_target *t, int transposed)
{
    side s;
    memset(&s, 0, sizeof s);
    s.p = o->p;
    /* op(A) has its rows in o; op(B) its columns */
    s.step_o = transposed ? o->step_column : o->step_row;
    s.step_k = transposed ? o->step_row : o->step_column;
    s.index_o = transposed ? 1 : o->columns;
    s.index_k = transposed ? o->columns : 1;
    s.stride = (size_t)o->stride;
    s.index_batch = o->stride ? o->rows * o->columns : 0;
    s.target = is_none(t) ? NULL : t;
    s.least = core_value64(core_power64(t->format.emin));
    fpemu_gemm_grid(t, &s.quantum);
    s.scales = o->scales;
    s.scales_batch = o->scales && o->stride && j->depth ? (size_t)scales_of(j, transposed ? o->columns : o->rows) : 0;
    return s;
}

/* Whether scales can be read, lie apart from [from, to), and are binary32 numbers: so products of two are exact. */
static fpemu_status check_scales(const job *j, const core_operand *o, uint64_t count, uint64_t batch, uintptr_t from,
                                 uintptr_t to)
{
    const size_t size = j->carrier == 32 ? sizeof(float) : sizeof(double);
    const uint64_t one = scales_of(j, count), products = o->stride ? batch : 1, all = one * products;
    const uintptr_t p = (uintptr_t)o->scales;
    if (!o->scales)
        return FPEMU_OK;
    if (products > (UINTPTR_MAX - p) / size / one)
        return FPEMU_ERROR_ARGUMENT;
    if (p < to && from < p + (uintptr_t)all * size)
        return FPEMU_ERROR_OVERLAP;
    for (uint64_t i = 0; i < all && j->carrier == 64; i++) {
        const double x = load(j, (const char *)o->scales + i * size);
        if (isfinite(x) && !(fabs(x) <= 0x1.fffffep127 && (double)(float)x == x))
            return FPEMU_ERROR_ARGUMENT;
    }
    return FPEMU_OK;
}

/* In the default floating-point environment; the spec is prepared. a, b, c: op(A) m x k, op(B) k x n, C m x n. */
static fpemu_status multiply_inside(job *j, const core_operand *a, const core_operand *b, const core_operand *c,
                                    uint64_t batch, double alpha, double beta, fpemu_stats *stats)
{
    const fpemu_gemm_spec *spec = j->spec;
    if (spec->start_from_c && !(alpha == 1 && beta == 1))
        return FPEMU_ERROR_ARGUMENT;
    if (c->rows == 0 || c->columns == 0)
        return FPEMU_OK;
    const size_t size = j->carrier == 32 ? sizeof(float) : sizeof(double);
    const int reads = a->columns != 0 && alpha != 0;
    if (!c->p || (reads && (!a->p || !b->p)))
        return FPEMU_ERROR_NULL;
    uintptr_t from, to, first, last;
    if (!core_operand_extent(c, batch, size, &from, &to))
        return FPEMU_ERROR_ARGUMENT;
    for (int i = 0; i < 2 && reads; i++) {
        if (!core_operand_extent(i ? b : a, batch, size, &first, &last))
            return FPEMU_ERROR_ARGUMENT;
        if (first < to && from < last)
            return FPEMU_ERROR_OVERLAP;
    }
    j->depth = (size_t)a->columns;
    if (reads && (a->scales || b->scales)) {
        fpemu_status status = check_scales(j, a, a->rows, batch, from, to);
        if (!status)
            status = check_scales(j, b, b->columns, batch, from, to);
        if (status)
            return status;
    }
    if (stats) {
        const fpemu_status status = stats->want ? FPEMU_ERROR_STATS : fpemu_stats_check(stats);
        if (status)
            return status;
    }
    j->k = fpemu_kernels();
    j->counted = stats != NULL;
    j->batch = (size_t)batch;
    j->alpha = alpha;
    j->beta = beta;
    j->plain = alpha == 1 && (beta == 0 || spec->start_from_c) && !j->out.given;
    j->total = core_dot_roundings(&spec->sum, j->depth, j->product.given, spec->start_from_c);
    j->way = choose_way(j);
    j->c = (void *)(uintptr_t)c->p;
    j->stride = (size_t)c->stride;
    const side left = side_of(j, a, &spec->a, 0);
    const side right = side_of(j, b, &spec->b, 1);
    const int swapped = c->columns == 1; /* lanes run along the only long side of C */
    j->rows = swapped ? right : left;
    j->lanes = swapped ? left : right;
    j->m = (size_t)(swapped ? c->columns : c->rows);
    j->n = (size_t)(swapped ? c->rows : c->columns);
    j->index_row = j->n;
    j->step_row = swapped ? c->step_column : c->step_row;
    j->step_lane = swapped ? c->step_row : c->step_column;
    return fpemu_gemm_run(j, stats) ? FPEMU_ERROR_NAN : FPEMU_OK;
}

static fpemu_status multiply(job *j, const core_operand *a, const core_operand *b, const core_operand *c,
                             uint64_t batch, double alpha, double beta, fpemu_stats *stats)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = multiply_inside(j, a, b, c, batch, alpha, beta, stats);
    fpemu_environment_leave(&environment);
    return status;
}

static fpemu_status gemm(const fpemu_gemm_spec *spec, int carrier, const fpemu_gemm_shape *s, double alpha,
                         const void *a, const void *scales_a, const void *b, const void *scales_b, double beta, void *c,
                         fpemu_stats *stats)
{
    core_operand x, y, z;
    job j;
    const fpemu_status status = fpemu_gemm_prepare(&j, spec, carrier);
    if (status)
        return status;
    if ((scales_a || scales_b) && !spec->sum.chunk)
        return FPEMU_ERROR_UNSUPPORTED;
    if (!s)
        return FPEMU_ERROR_NULL;
    const uint64_t batch = s->batch ? s->batch : 1, most = PTRDIFF_MAX;
    if (s->order > 1 || s->transpose_a > 1 || s->transpose_b > 1 || !is_zero(s->reserved0, sizeof s->reserved0) ||
        !is_zero(s->reserved1, sizeof s->reserved1) || s->m > most || s->n > most || s->k > most ||
        !core_operand_matrix(&x, a, s->m, s->k, s->lda, s->stride_a, s->order, s->transpose_a) ||
        !core_operand_matrix(&y, b, s->k, s->n, s->ldb, s->stride_b, s->order, s->transpose_b) ||
        !core_operand_matrix(&z, c, s->m, s->n, s->ldc, s->stride_c, s->order, 0))
        return FPEMU_ERROR_ARGUMENT;
    uintptr_t from, to;
    if (batch > 1 && s->m && s->n &&
        (!core_operand_extent(&z, 1, 1, &from, &to) || s->stride_c < to - from)) /* products lie apart */
        return FPEMU_ERROR_ARGUMENT;
    x.scales = scales_a;
    y.scales = scales_b;
    return multiply(&j, &x, &y, &z, batch, alpha, beta, stats);
}

static fpemu_status gemv(const fpemu_gemm_spec *spec, int carrier, fpemu_order order, int transpose, size_t m, size_t n,
                         double alpha, const void *a, size_t lda, const void *x, int64_t incx, double beta, void *y,
                         int64_t incy, fpemu_stats *stats)
{
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    core_operand left, right, out;
    job j;
    const fpemu_status status = fpemu_gemm_prepare(&j, spec, carrier);
    if (status)
        return status;
    if ((unsigned)order > 1 || (unsigned)transpose > 1 || m > PTRDIFF_MAX || n > PTRDIFF_MAX ||
        !core_operand_matrix(&left, a, transpose ? n : m, transpose ? m : n, lda, 0, (int)order, transpose) ||
        !core_operand_vector(&right, x, transpose ? m : n, incx, size) ||
        !core_operand_vector(&out, y, transpose ? n : m, incy, size))
        return FPEMU_ERROR_ARGUMENT;
    return multiply(&j, &left, &right, &out, 1, alpha, beta, stats);
}

static fpemu_status dot(const fpemu_gemm_spec *spec, int carrier, size_t n, const void *x, int64_t incx, const void *y,
                        int64_t incy, void *result, fpemu_stats *stats)
{
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    core_operand left, right, out;
    job j;
    const fpemu_status status = fpemu_gemm_prepare(&j, spec, carrier);
    if (status)
        return status;
    if (!core_operand_vector(&left, x, n, incx, size) || !core_operand_vector(&right, y, n, incy, size) ||
        !core_operand_vector(&out, result, 1, 1, size))
        return FPEMU_ERROR_ARGUMENT;
    left.columns = left.rows; /* a row */
    left.rows = 1;
    left.step_column = left.step_row;
    left.step_row = 1;
    return multiply(&j, &left, &right, &out, 1, 1, spec->start_from_c, stats);
}

#define CARRIER(suffix, real, bits)                                                                                    \
    fpemu_status fpemu_gemm_##suffix(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, real alpha,           \
                                     const real *a, const real *b, real beta, real *c, fpemu_stats *stats)             \
    {                                                                                                                  \
        return gemm(spec, bits, shape, (double)alpha, a, NULL, b, NULL, (double)beta, c, stats);                       \
    }                                                                                                                  \
    fpemu_status fpemu_gemm_scaled_##suffix(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, real alpha,    \
                                            const real *a, const real *scales_a, const real *b, const real *scales_b,  \
                                            real beta, real *c, fpemu_stats *stats)                                    \
    {                                                                                                                  \
        return gemm(spec, bits, shape, (double)alpha, a, scales_a, b, scales_b, (double)beta, c, stats);               \
    }                                                                                                                  \
    fpemu_status fpemu_gemv_##suffix(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m,          \
                                     size_t n, real alpha, const real *a, size_t lda, const real *x, int64_t incx,     \
                                     real beta, real *y, int64_t incy, fpemu_stats *stats)                             \
    {                                                                                                                  \
        return gemv(spec, bits, order, transpose, m, n, (double)alpha, a, lda, x, incx, (double)beta, y, incy, stats); \
    }                                                                                                                  \
    fpemu_status fpemu_dot_##suffix(const fpemu_gemm_spec *spec, size_t n, const real *x, int64_t incx, const real *y, \
                                    int64_t incy, real *result, fpemu_stats *stats)                                    \
    {                                                                                                                  \
        return dot(spec, bits, n, x, incx, y, incy, result, stats);                                                    \
    }

CARRIER(f32, float, 32)
CARRIER(f64, double, 64)
