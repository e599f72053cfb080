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
#include <math.h>

#include "core/matrix.h"
#include "internal.h"
#include "parts.h"

/* Sizes of a tile: ROWS * DOT_LANES states, SLAB * DOT_LANES operands (binary32: twice as many rows and lanes); FEW
 * lanes with a SLAB_FEW slab or a stack of levels. */
#define ROWS 8
#define SLAB 16
#define FEW 32
#define SLAB_FEW 64
#define STATES (ROWS * DOT_LANES)
#define OPERANDS (SLAB * DOT_LANES)
#define LEVELS 64

FPEMU_STATIC_ASSERT(SLAB_FEW *FEW <= OPERANDS && LEVELS *FEW <= 2 * STATES, "both shapes of a tile fit");

/* Threads start from this many multiplications a thread on. */
#define PRODUCTS_PER_THREAD 131072

/* A target, prepared. */
typedef struct goal {
    core_plan64 plan, unbounded; /* unbounded: the same grid without ends */
    fpemu_rounding rounding;
    uint8_t given, stochastic, short_way, nan_is_error;
    uint8_t lean; /* the loops round_nearest, round_stochastic serve */
} goal;

/* One operand: element (o, k), o counting rows or lanes of a tile. */
typedef struct side {
    const void *p;
    ptrdiff_t step_o, step_k;               /* in elements */
    size_t stride;                          /* from one product of a batch to the next */
    uint64_t index_o, index_k, index_batch; /* steps of the index; one of the first two is 1 */
    const fpemu_target *target;             /* NULL: none */
    double least;                           /* fused: 2^emin */
    int quantum;                            /* integer: the grid is 2^quantum */
} side;

enum way { WAY_BINARY32, WAY_NATIVE32, WAY_NATIVE64, WAY_GENERAL };

typedef struct job {
    const kernels *k;
    const fpemu_gemm_spec *spec;
    goal product, inner, outer, out;
    core_plan32 product32, inner32; /* binary32 way, with their forms */
    enum mac_form product_form, inner_form;
    side rows, lanes;
    int carrier, way;
    uint8_t counted, plain; /* plain: alpha = 1, beta = 0, no out: s is the result */
    size_t m, n, depth, batch; /* rows, lanes, K */
    uint64_t index_row;        /* index of output (i, j): i * index_row + j */
    void *c;
    ptrdiff_t step_row, step_lane;
    size_t stride;
    double alpha, beta;
    uint64_t total; /* T */
} job;

/* What one thread works on. */
typedef struct work {
    const job *j;
    gathering *gathered; /* NULL: nothing is counted */
    int found_nan;
    size_t rows, lanes;   /* of this tile */
    size_t row, lane;     /* its first */
    size_t batch;
    union { /* two arrays; pairwise: levels of FEW; sums in binary32: all of it, chunked: the second */
        double d[2 * STATES];
        float f[4 * STATES];
        int64_t i[2 * STATES];
    } state;
    union {
        double d[ROWS * SLAB_FEW];
        float f[2 * ROWS * SLAB_FEW];
    } x;
    union {
        double d[OPERANDS];
        float f[2 * OPERANDS];
    } y;
    double powers_x[ROWS * SLAB_FEW];
    double leaf[FEW], leaf_factor; /* pairwise: a left leaf that waits */
    union {
        double d[OPERANDS]; /* operands on their way in; fused: the powers of y */
        float f[2 * OPERANDS];
    } spare;
} work;

static int is_narrow(const job *j)
{
    return j->way == WAY_BINARY32 || j->way == WAY_NATIVE32;
}

/* Sums in binary32 of a row. */
static float *narrow(work *w, size_t r)
{
    return w->j->spec->sum.chunk ? w->state.f + 2 * STATES + r * DOT_LANES : w->state.f + r * (2 * DOT_LANES);
}

/* ------------------------------------------------------------------------------------------------ checks */

static int is_zero(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= c[i];
    return any == 0;
}

static int is_none(const fpemu_target *t)
{
    return is_zero(t, sizeof *t);
}

/* Whether a target is a plain float whose steps binary64 reaches by an addition, to nearest or stochastic. */
static int is_lean(const fpemu_format *f, const core_plan64 *p)
{
    const uint64_t past = p->overflow[0];
    return f->kind == FPEMU_KIND_FLOAT && p->rule == CORE_RULE_FLOAT && f->mantissa_bits >= 1 && f->fits_f32 &&
           f->emax >= f->emin && f->subnormals == FPEMU_SUBNORMALS_KEEP &&
           (p->mode == FPEMU_RNE || p->mode == FPEMU_SR) &&
           p->zero[1] == CORE_SIGN64 && p->max[0] == p->max[1] && p->nan[0] == p->nan[1] &&
           p->nan[0] == (CORE_INF64 | CORE_INF64 >> 1) && p->infinite[0] == past && p->overflow[1] == p->infinite[1] &&
           p->overflow[1] == (past | CORE_SIGN64) && (past == CORE_INF64 || past == p->max[0]);
}

/* Whether a target goes with arithmetic; *g is its plan. */
static fpemu_status prepare_goal(goal *g, const fpemu_target *t, int carrier)
{
    memset(g, 0, sizeof *g);
    if (is_none(t))
        return FPEMU_OK;
    const fpemu_status status = fpemu_check(&t->format, &t->rounding, carrier);
    if (status)
        return status;
    if (t->rounding.compat)
        return FPEMU_ERROR_UNSUPPORTED;
    fpemu_format format;
    if (!core_dot_plan(&t->format, &t->rounding, carrier, &g->plan, &format))
        return FPEMU_ERROR_UNSUPPORTED;
    g->unbounded = g->plan;
    g->unbounded.max[0] = g->unbounded.max[1] = ~UINT64_C(0);
    g->unbounded.zero[0] = g->unbounded.zero[1] = 0;
    g->unbounded.negative = 0;
    g->rounding = t->rounding;
    g->given = 1;
    g->lean = (uint8_t)is_lean(&format, &g->plan);
    g->stochastic = g->plan.mode >= FPEMU_SR;
    g->nan_is_error = core_nan_policy(&format, &t->rounding) == FPEMU_NAN_ERROR && !format.has_nan;
    g->short_way = core_dot_short(&format, &g->plan);
    return FPEMU_OK;
}

static fpemu_status check_operand(const fpemu_target *t, int carrier)
{
    if (is_none(t))
        return FPEMU_OK;
    const fpemu_status status = fpemu_check(&t->format, &t->rounding, carrier);
    return status ? status : t->rounding.compat ? FPEMU_ERROR_UNSUPPORTED : FPEMU_OK;
}

/* Fused: what a step may give. */
static int is_step_result(const fpemu_target *t)
{
    const fpemu_format *f = &t->format;
    fpemu_rounding plain = fpemu_nearest();
    plain.mode = t->rounding.mode;
    return f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_IEEE && f->is_signed && f->has_nan &&
           f->emin >= -126 && f->emax <= 127 && f->emax >= f->emin && f->mantissa_bits <= 23 &&
           f->subnormals == FPEMU_SUBNORMALS_KEEP && f->overflow == FPEMU_OVERFLOW_IEEE &&
           (plain.mode == FPEMU_RTZ || plain.mode == FPEMU_RNE) &&
           memcmp(&plain, &t->rounding, sizeof plain) == 0;
}

static int is_fused_operand(const fpemu_target *t)
{
    return t->format.kind == FPEMU_KIND_FLOAT && t->format.mantissa_bits <= 11 && t->format.fits_f32 &&
           t->format.specials != FPEMU_SPECIALS_E8M0;
}

/* The power of two of an operand's grid; 0 if it has none or is too wide. */
static int is_integer_operand(const fpemu_target *t, int *quantum)
{
    *quantum = t->format.quantum;
    if (t->format.bits > 31)
        return 0;
    return t->format.kind == FPEMU_KIND_FIXED ||
           (t->format.kind == FPEMU_KIND_INT && core_is_power(t->format.scale, quantum));
}

/* Fields of the accumulator, by its model; targets are checked already. */
static int fields_fit(const fpemu_gemm_spec *spec)
{
    const fpemu_accumulator *s = &spec->sum;
    const int fused = s->model == FPEMU_FUSED, integer = s->model == FPEMU_INTEGER;
    const int has_outer = s->model == FPEMU_CHUNKED || (fused && s->chunk);
    if (s->model == FPEMU_MODEL_INVALID || s->model >= FPEMU_MODEL_COUNT || spec->start_from_c > 1 || s->wrap > 1)
        return 0;
    if (!is_zero(s->reserved0, sizeof s->reserved0) || !is_zero(s->reserved1, sizeof s->reserved1) ||
        !is_zero(spec->reserved0, sizeof spec->reserved0) || !is_zero(spec->reserved1, sizeof spec->reserved1))
        return 0;
    if (is_none(&s->inner) != integer || is_none(&s->outer) == has_outer)
        return 0;
    if (s->model == FPEMU_CHUNKED ? s->chunk == 0 : fused ? s->block && s->chunk % s->block != 0 : s->chunk != 0)
        return 0;
    if (fused ? s->block < 1 || s->block > 64 || s->fraction_bits > 40 ||
                    (s->least_exponent != FPEMU_NO_FLOOR &&
                     (s->least_exponent < -1000 || s->least_exponent > 1000))
              : s->block || s->fraction_bits || s->least_exponent)
        return 0;
    return integer ? s->width >= 2 && s->width <= 64 : s->width == 0 && s->wrap == 0;
}

/* Checks a spec and fills the goals of *j. */
static fpemu_status prepare_spec(job *j, const fpemu_gemm_spec *spec, int carrier)
{
    if (!spec)
        return FPEMU_ERROR_NULL;
    if (carrier != 32 && carrier != 64)
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_accumulator *s = &spec->sum;
    fpemu_status status = check_operand(&spec->a, carrier);
    if (!status)
        status = check_operand(&spec->b, carrier);
    if (!status)
        status = prepare_goal(&j->product, &spec->product, 64);
    if (!status)
        status = prepare_goal(&j->inner, &s->inner, 64);
    if (!status)
        status = prepare_goal(&j->outer, &s->outer, 64);
    if (!status)
        status = prepare_goal(&j->out, &spec->out, carrier);
    if (status)
        return status;
    if (!fields_fit(spec))
        return FPEMU_ERROR_ARGUMENT;
    if (s->model == FPEMU_FUSED &&
        (j->product.given || !is_step_result(&s->inner) || !is_fused_operand(&spec->a) || !is_fused_operand(&spec->b)))
        return FPEMU_ERROR_UNSUPPORTED;
    int quantum;
    if (s->model == FPEMU_INTEGER &&
        (j->product.given || spec->start_from_c || !is_integer_operand(&spec->a, &quantum) ||
         !is_integer_operand(&spec->b, &quantum)))
        return FPEMU_ERROR_UNSUPPORTED;
    if (s->model == FPEMU_FUSED)
        for (int sign = 0; sign < 2; sign++) /* past the end lies infinity, in rtz too */
            j->inner.plan.overflow[sign] = CORE_INF64 | (sign ? CORE_SIGN64 : 0);
    j->spec = spec;
    j->carrier = carrier;
    if (!j->out.given) { /* the carrier */
        fpemu_target t;
        memset(&t, 0, sizeof t);
        fpemu_named(carrier == 32 ? FPEMU_BINARY32 : FPEMU_BINARY64, &t.format);
        prepare_goal(&j->out, &t, carrier);
        j->out.given = 0;
    }
    return FPEMU_OK;
}

static fpemu_status prepare(job *j, const fpemu_gemm_spec *spec, int carrier)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = prepare_spec(j, spec, carrier);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_gemm_check(const fpemu_gemm_spec *spec, int carrier)
{
    job j;
    return prepare(&j, spec, carrier);
}

/* -------------------------------------------------------------------------------------------- one operation */

/* Vectors of an operation: v * w + u; w = NULL is 1, u = NULL is nothing at all. x = NULL: v is an array, else *x is
 * the one v of all lanes. */
typedef struct terms {
    const double *v, *x, *w, *u;
    const double *u_factor; /* exact way: u * *u_factor; NULL is 1 */
} terms;

static double first_of(const terms *a, size_t i)
{
    return a->x ? *a->x : a->v[i];
}

static void exact_way(work *w, const goal *g, size_t n, const terms *a, const uint32_t *r, double *y)
{
    const core_exact one = core_exact_from(core_bits64(1.0));
    tile_counts counts;
    memset(&counts, 0, sizeof counts);
    for (size_t i = 0; i < n; i++) {
        core_exact x = core_exact_multiply(core_exact_from(core_bits64(first_of(a, i))),
                                           a->w ? core_exact_from(core_bits64(a->w[i])) : one);
        int nan_came = isnan(first_of(a, i)) || (a->w && isnan(a->w[i]));
        if (a->u) {
            const core_exact u = core_exact_multiply(core_exact_from(core_bits64(a->u[i])),
                                                     a->u_factor ? core_exact_from(core_bits64(*a->u_factor)) : one);
            nan_came |= isnan(a->u[i]) || (a->u_factor && isnan(*a->u_factor));
            x = core_exact_add(x, u, g->plan.mode);
        }
        uint64_t grid;
        const double result = core_value64(core_exact_round(&g->plan, &x, g->stochastic ? r[i] : 0, &grid));
        w->found_nan |= g->nan_is_error && x.kind == CORE_NOT_A_NUMBER;
        if (w->gathered) {
            core_count_exact(&g->plan, &x, result, grid, &counts);
            counts.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        }
        y[i] = result;
    }
    if (w->gathered)
        fpemu_gather_tile(w->gathered, 64, 0, n, y, y, &counts);
}

/* Counts of the short way, from the exact results rounded to nearest and to odd. */
static void count_short(work *w, const goal *g, size_t n, const terms *a, const double *nearest, const double *odd,
                        const uint64_t *grid, const double *y)
{
    const kernels *k = w->j->k;
    tile_counts counts, extremes;
    memset(&counts, 0, sizeof counts);
    extremes.max_error = 0;
    k->count64(&g->plan, n, odd, y, grid, &counts);
    k->count64(&g->plan, n, nearest, y, grid, &extremes);
    counts.min_abs = extremes.min_abs;
    counts.max_abs = extremes.max_abs;
    counts.max_error = extremes.max_error;
    for (size_t i = 0; i < n; i++) {
        const double v = first_of(a, i), factor = a->w ? a->w[i] : 1, u = a->u ? a->u[i] : 0;
        counts.invalid += isnan(odd[i]) && !isnan(v) && !isnan(factor) && !isnan(u) &&
                          !(a->u_factor && isnan(*a->u_factor));
    }
    fpemu_gather_tile(w->gathered, 64, 0, n, nearest, y, &counts);
}

/* binary64 rounded to odd, taken to g. */
static void round_odd(const kernels *k, const goal *g, size_t n, const double *odd, const uint32_t *r, double *y)
{
    const core_plan64 *p = &g->plan;
    if (g->lean)
        (p->mode == FPEMU_SR ? k->round_stochastic : k->round_nearest)(p, n, odd, r, y);
    else
        k->round64[p->rule][p->mode](p, n, odd, r, y);
}

static void short_way(work *w, const goal *g, size_t n, const terms *a, const uint32_t *r, double *y)
{
    const kernels *k = w->j->k;
    const core_plan64 *p = &g->plan;
    const uint64_t zero_sign = p->mode == FPEMU_RTN ? CORE_SIGN64 : 0;
    double product[DOT_LANES], odd[DOT_LANES];
    if (a->u && a->x && a->w && !a->u_factor && !w->gathered) {
        if (g->lean && p->mode == FPEMU_RNE) {
            k->fma_nearest(p, n, *a->x, a->w, a->u, y);
            return;
        }
        k->fma_odd(n, *a->x, a->w, a->u, zero_sign, odd);
        round_odd(k, g, n, odd, r, y);
        return;
    }
    double right[DOT_LANES], nearest[DOT_LANES];
    uint64_t grid[DOT_LANES];
    const double *left = product, *other = a->u_factor ? right : a->u;
    if (!a->w && !a->x)
        left = a->v;
    else
        for (size_t i = 0; i < n; i++) /* exact, u_factor too: products of binary32 numbers */
            product[i] = a->w ? first_of(a, i) * a->w[i] : first_of(a, i);
    if (a->u_factor)
        for (size_t i = 0; i < n; i++)
            right[i] = a->u[i] * *a->u_factor;
    if (a->u && !w->gathered) {
        k->fma_odd(n, 1, left, other, zero_sign, odd);
    } else if (a->u) {
        k->exact[FPEMU_ADD](n, left, other, NULL, zero_sign, nearest, odd);
    } else {
        for (size_t i = 0; i < n; i++)
            nearest[i] = odd[i] = isnan(left[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : left[i];
    }
    if (!w->gathered) {
        round_odd(k, g, n, odd, r, y);
        return;
    }
    double result[DOT_LANES];
    k->round64[p->rule][p->mode](&g->unbounded, n, odd, r, grid);
    k->finish64(p, n, odd, grid, result);
    count_short(w, g, n, a, nearest, odd, grid, result);
    memcpy(y, result, n * sizeof *y); /* y may be an core_operand */
}

/* y = g(v * w + u) on n lanes of row `row` of the tile, rounding number t. */
static void operate(work *w, const goal *g, size_t row, uint64_t t, size_t n, const terms *a, int sum, double *y)
{
    const job *j = w->j;
    uint32_t r[DOT_LANES];
    if (g->stochastic) {
        fpemu_rounding numbered = g->rounding;
        numbered.stream = core_dot_stream(numbered.stream, t);
        const uint64_t index = ((uint64_t)w->batch * j->m + w->row + row) * j->index_row + w->lane;
        fpemu_random_fill(j->k, &numbered, numbered.offset + index, n, r);
    }
    double before[DOT_LANES], factor[DOT_LANES];
    terms old = *a;
    if (w->gathered && sum) { /* y may be an core_operand */
        memcpy(before, a->u, n * sizeof *before);
        old.u = before;
        if (!a->x) {
            memcpy(factor, a->v, n * sizeof *factor);
            old.v = factor;
        }
    }
    if (g->short_way && j->carrier == 32 && !g->nan_is_error)
        short_way(w, g, n, a, r, y);
    else
        exact_way(w, g, n, a, r, y);
    if (w->gathered && sum)
        for (size_t i = 0; i < n; i++)
            w->gathered->stats.swamped += (unsigned)core_dot_swamped(
                core_bits64(first_of(&old, i)), core_bits64(old.w ? old.w[i] : 1), core_bits64(old.u[i]),
                core_bits64(old.u_factor ? *old.u_factor : 1), core_bits64(y[i]));
}

/* --------------------------------------------------------------------------------------------------- models */

/* Each takes row r of the tile through products l0 .. l0+nk; x: nk numbers, y: nk rows of `ld` lanes. */

/* p = the product as it enters the sum: terms of v * w, rounded into `room` where the spec says so. */
static terms product_terms(work *w, size_t r, uint64_t t, const double *x, const double *y, double *room)
{
    const job *j = w->j;
    terms p = {NULL, x, y, NULL, NULL};
    if (j->product.given) {
        operate(w, &j->product, r, t, w->lanes, &p, 0, room);
        p.x = NULL;
        p.v = room;
        p.w = NULL;
    }
    return p;
}

/* Whether chunk number k / chunk ends after product k. */
static int chunk_ends(const job *j, size_t k)
{
    const size_t chunk = j->spec->sum.chunk;
    return chunk && ((k + 1) % chunk == 0 || k + 1 == j->depth);
}

/* The chunk's sum in `inner` goes into `s`; it begins anew. */
static void add_chunk(work *w, size_t r, uint64_t t, double *inner, double *s)
{
    const terms both = {inner, NULL, NULL, s, NULL};
    operate(w, &w->j->outer, r, t, w->lanes, &both, 1, s);
    for (size_t i = 0; i < w->lanes; i++)
        inner[i] = 0;
}

static void sequential(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const unsigned given = j->product.given;
    double *s = w->state.d + r * DOT_LANES, *chunk_sum = w->state.d + STATES + r * DOT_LANES;
    double *sum = j->spec->sum.chunk ? chunk_sum : s, room[DOT_LANES];
    for (size_t l = 0; l < nk; l++) {
        const uint64_t k = l0 + l, past = j->spec->sum.chunk ? k / j->spec->sum.chunk : 0;
        const uint64_t t = k * (given + 1) + past;
        terms p = product_terms(w, r, t, x + l, y + l * DOT_LANES, room);
        p.u = sum;
        operate(w, &j->inner, r, t + given, w->lanes, &p, 1, sum);
        if (chunk_ends(j, l0 + l))
            add_chunk(w, r, t + given + 1, sum, s);
    }
}

static void kahan(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const goal *g = &j->inner;
    const unsigned given = j->product.given;
    const size_t n = w->lanes;
    double *s = w->state.d + r * DOT_LANES, *minus_e = w->state.d + STATES + r * DOT_LANES;
    double room[DOT_LANES], d[DOT_LANES], t[DOT_LANES];
    for (size_t l = 0; l < nk; l++) {
        const uint64_t number = (uint64_t)(l0 + l) * (given + 4);
        terms p = product_terms(w, r, number, x + l, y + l * DOT_LANES, room);
        for (size_t i = 0; i < n; i++)
            minus_e[i] = -minus_e[i];
        p.u = minus_e;
        operate(w, g, r, number + given, n, &p, 0, room);
        const terms sum = {s, NULL, NULL, room, NULL};
        operate(w, g, r, number + given + 1, n, &sum, 1, t);
        for (size_t i = 0; i < n; i++)
            s[i] = -s[i];
        const terms change = {t, NULL, NULL, s, NULL};
        operate(w, g, r, number + given + 2, n, &change, 0, d);
        for (size_t i = 0; i < n; i++)
            room[i] = -room[i];
        const terms rest = {d, NULL, NULL, room, NULL};
        operate(w, g, r, number + given + 3, n, &rest, 0, minus_e);
        memcpy(s, t, n * sizeof *s);
    }
}

/* Joins the node that waits at `level` with the node `right` (v * w), node `index` of the next level; into `to`. */
static void join_nodes(work *w, uint64_t leaves, int level, uint64_t index, terms right, double *to)
{
    const job *j = w->j;
    terms both = right;
    both.u = level ? w->state.d + (size_t)level * FEW : w->leaf;
    both.u_factor = level ? NULL : &w->leaf_factor;
    /* left + right: only the sign of zero sees the order, and it does not depend on it */
    operate(w, &j->inner, 0, (j->product.given ? j->depth : 0) + core_dot_level(leaves, level + 1) + index, w->lanes,
            &both, 1, to);
}

/* Leaf number k of the tree: x * y, y NULL being 1. Nodes wait in the stack of levels, as in a binary counter. */
static void add_leaf(work *w, uint64_t leaves, uint64_t k, terms node)
{
    double room[FEW];
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        join_nodes(w, leaves, level, k >> 1, node, room);
        node.v = room;
        node.x = node.w = NULL;
    }
    double *to = level ? w->state.d + (size_t)level * FEW : w->leaf;
    w->leaf_factor = level ? w->leaf_factor : node.x ? *node.x : 1;
    memcpy(to, node.x ? node.w : node.v, w->lanes * sizeof *to);
}

static void pairwise(work *w, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const unsigned first = j->spec->start_from_c;
    double room[FEW];
    for (size_t l = 0; l < nk; l++)
        add_leaf(w, (uint64_t)j->depth + first, (uint64_t)l0 + l + first,
                 product_terms(w, 0, l0 + l, x + l, y + l * FEW, room));
}

/* What waits is joined from the lowest level up; s into `to`. */
static void pairwise_end(work *w, double *to)
{
    const job *j = w->j;
    const uint64_t leaves = (uint64_t)j->depth + j->spec->start_from_c;
    double room[FEW];
    for (size_t i = 0; i < w->lanes; i++)
        room[i] = 0;
    terms node = {room, NULL, NULL, NULL, NULL};
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            join_nodes(w, leaves, level, (k - 1) >> 1, node, room);
            node.v = room;
            node.x = node.w = NULL;
        } else if (level) {
            node.v = w->state.d + (size_t)level * FEW;
        } else {
            node.x = &w->leaf_factor;
            node.w = w->leaf;
        }
        have = 1;
    }
    if (leaves == 1)
        operate(w, &j->inner, 0, j->product.given ? j->depth : 0, w->lanes, &node, 0, room);
    else if (leaves)
        memcpy(room, node.v, w->lanes * sizeof *room);
    memcpy(to, room, w->lanes * sizeof *to);
}

/* As fused_sum of the loops, one lane, and what is lost on the way. */
static double fused_sum_counted(work *w, size_t nk, const double *x, const double *px, const double *y,
                                const double *py, double scale, double floor, double d, int *lost, int *nan_came)
{
    double top = core_dot_power(d, 0x1p-126), plain = d, sum = 0;
    top = top < floor ? floor : top;
    *nan_came = isnan(d);
    *lost = 0;
    for (size_t l = 0; l < nk; l++) {
        const double e = px[l] * py[l * FEW];
        top = e > top ? e : top;
        plain += x[l] * y[l * FEW];
        *nan_came |= isnan(x[l]) || isnan(y[l * FEW]);
    }
    if (!isfinite(plain))
        return plain;
    const double unit = scale / top;
    uint64_t swamped = 0;
    for (size_t l = 0; l <= nk; l++) {
        const double term = (l < nk ? x[l] * y[l * FEW] : d) * unit, kept = core_dot_cut(term);
        sum += kept;
        *lost |= kept != term;
        swamped += kept == 0 && term != 0;
    }
    w->gathered->stats.swamped += swamped;
    return sum / unit;
}

static void fused(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    const goal *g = &j->inner;
    const core_plan64 *p = &g->plan;
    const double scale = core_value64((uint64_t)(1023 + a->fraction_bits) << 52);
    const int least = a->least_exponent < -300 ? -300 : a->least_exponent; /* no exponent is below */
    const double floor = core_value64((uint64_t)(1023 + least) << 52);
    const double *px = w->powers_x + r * SLAB_FEW, *py = w->spare.d;
    double *s = w->state.d + r * DOT_LANES, *inner = w->state.d + STATES + r * DOT_LANES;
    double *d = a->chunk ? inner : s, t[FEW], y_lane[FEW];
    uint64_t grid[FEW];
    for (size_t l = 0; l < nk; l += a->block) {
        const size_t m = nk - l < a->block ? nk - l : a->block;
        if (!w->gathered) {
            j->k->fused_sum(m, w->lanes, FEW, x + l, px + l, y + l * FEW, py + l * FEW, scale, floor, d, t);
            j->k->round64[p->rule][p->mode](p, w->lanes, t, NULL, d);
        } else {
            tile_counts counts;
            memset(&counts, 0, sizeof counts);
            int lost[FEW], nan_came[FEW];
            for (size_t i = 0; i < w->lanes; i++)
                t[i] = fused_sum_counted(w, m, x + l, px + l, y + l * FEW + i, py + l * FEW + i, scale, floor, d[i],
                                         lost + i, nan_came + i);
            j->k->round64[p->rule][p->mode](&g->unbounded, w->lanes, t, NULL, grid);
            j->k->finish64(p, w->lanes, t, grid, y_lane);
            j->k->count64(p, w->lanes, t, y_lane, grid, &counts);
            for (size_t i = 0; i < w->lanes; i++) {
                counts.inexact += lost[i] && t[i] == y_lane[i] && isfinite(t[i]);
                counts.invalid += isnan(t[i]) && !nan_came[i];
            }
            fpemu_gather_tile(w->gathered, 64, 0, w->lanes, t, y_lane, &counts);
            memcpy(d, y_lane, w->lanes * sizeof *d);
        }
        if (chunk_ends(j, l0 + l + m - 1))
            add_chunk(w, r, (l0 + l) / a->chunk, d, s);
    }
}

/* S in the first array; the second is not zero once an operand was NaN. */
static void integer(work *w, size_t r, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    const int exponent = j->rows.quantum + j->lanes.quantum;
    int64_t *s = w->state.i + r * DOT_LANES, *nan = w->state.i + STATES + r * DOT_LANES;
    tile_counts counts;
    memset(&counts, 0, sizeof counts);
    for (size_t l = 0; l < nk; l++)
        for (size_t i = 0; i < w->lanes; i++) {
            const double v = x[l], u = y[l * DOT_LANES + i];
            int over = 0;
            nan[i] |= isnan(v) || isnan(u);
            const int64_t product = nan[i] ? 0 : (int64_t)v * (int64_t)u, old = s[i];
            s[i] = core_dot_integer(old, product, (int)a->width, a->wrap, &over);
            if (!w->gathered)
                continue;
            if (nan[i]) {
                counts.nan++;
                continue;
            }
            const core_exact sum =
                core_exact_add(core_exact_integer(old, exponent), core_exact_integer(product, exponent), FPEMU_RNE);
            const core_exact result = core_exact_integer(s[i], exponent);
            const double nearest = core_value64(core_exact_binary64(&sum, FPEMU_RNE));
            counts.overflow += (unsigned)over;
            counts.clipped += (unsigned)over;
            counts.inexact += (unsigned)over;
            counts.underflow += sum.kind != CORE_ZERO && s[i] == 0;
            w->gathered->stats.swamped += (s[i] == old && product) || (s[i] == product && old);
            const uint64_t kept = core_bits64(nearest) & ~CORE_SIGN64;
            counts.max_abs = kept > counts.max_abs ? kept : counts.max_abs;
            counts.min_abs = kept && (!counts.min_abs || kept < counts.min_abs) ? kept : counts.min_abs;
            core_exact minus = result;
            minus.negative ^= 1;
            const core_exact error = core_exact_add(sum, minus, FPEMU_RNE);
            const double d = fabs(core_value64(core_exact_binary64(&error, FPEMU_RNE)));
            counts.max_error = d > counts.max_error ? d : counts.max_error;
        }
    if (w->gathered)
        for (size_t l = 0; l < nk; l++) {
            fpemu_gather_tile(w->gathered, 64, 0, w->lanes, NULL, NULL, &counts);
            memset(&counts, 0, sizeof counts);
        }
}

/* ------------------------------------------------------------------------------------------------- operands */

/* Elements [first, first + count) of a side, k = l0 .. l0+nk, rounded: element (o, l) at out[o * out_o + l * out_l]; as
 * binary32 where sums are. At most OPERANDS in all. */
static void pack(work *w, const side *s, size_t first, size_t count, size_t l0, size_t nk, size_t out_o, size_t out_l,
                 void *out)
{
    const job *j = w->j;
    const int along_k = s->index_k == 1; /* lines are runs of the index */
    const size_t lines = along_k ? count : nk, length = along_k ? nk : count;
    const ptrdiff_t step_line = along_k ? s->step_o : s->step_k, step = along_k ? s->step_k : s->step_o;
    const size_t size = j->carrier == 32 ? sizeof(float) : sizeof(double);
    const char *p = (const char *)s->p + ((ptrdiff_t)(s->stride * w->batch) + (ptrdiff_t)first * s->step_o +
                                          (ptrdiff_t)l0 * s->step_k) * (ptrdiff_t)size;
    const size_t out_line = along_k ? out_o : out_l, out_step = along_k ? out_l : out_o;
    const int in_place = is_narrow(j) && out_step == 1 && out_line == length;
    char *const room = in_place ? (char *)out : (char *)&w->spare;
    for (size_t line = 0; line < lines; line++) {
        const char *from = p + (ptrdiff_t)line * step_line * (ptrdiff_t)size;
        char *to = room + line * length * size;
        if (step == 1)
            memcpy(to, from, length * size);
        else if (j->carrier == 32)
            for (size_t i = 0; i < length; i++)
                memcpy(to + i * sizeof(float), from + (ptrdiff_t)i * step * (ptrdiff_t)sizeof(float), sizeof(float));
        else
            for (size_t i = 0; i < length; i++)
                memcpy(to + i * sizeof(double), from + (ptrdiff_t)i * step * (ptrdiff_t)sizeof(double), sizeof(double));
    }
    if (s->target) {
        const int stochastic = s->target->rounding.mode >= FPEMU_SR;
        const size_t calls = stochastic ? lines : 1, each = stochastic ? length : lines * length;
        fpemu_rounding r = s->target->rounding;
        const uint64_t index = s->target->rounding.offset + s->index_batch * w->batch + s->index_o * first +
                               s->index_k * l0;
        for (size_t call = 0; call < calls; call++) {
            fpemu_status status;
            r.offset = index + call * (along_k ? s->index_o : s->index_k);
            if (j->carrier == 32) {
                float *v = (float *)(void *)room + call * length;
                status = fpemu_quantize_f32(&s->target->format, &r, each, v, v, NULL);
            } else {
                double *v = (double *)(void *)room + call * length;
                status = fpemu_quantize_f64(&s->target->format, &r, each, v, v, NULL);
            }
            w->found_nan |= status == FPEMU_ERROR_NAN;
        }
    }
    for (size_t line = 0; line < lines && !in_place; line++) {
        const float *f = w->spare.f + line * length;
        const double *d = w->spare.d + line * length;
        if (is_narrow(j)) {
            float *to = (float *)out + line * out_line;
            for (size_t i = 0; i < length; i++)
                to[i * out_step] = f[i];
        } else {
            double *to = (double *)out + line * out_line;
            for (size_t i = 0; i < length; i++)
                to[i * out_step] = j->carrier == 32 ? (double)f[i] : d[i];
        }
    }
}

/* Numbers of a grid become its integers. */
static void to_integers(size_t n, double *x, int quantum)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ldexp(x[i], -quantum);
}

/* ---------------------------------------------------------------------------------------------------- tiles */

static double load(const job *j, const char *p)
{
    float f;
    double d;
    if (j->carrier == 32) {
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
    memcpy(&d, p, sizeof d);
    return d;
}

static void store(const job *j, char *p, double x)
{
    const float f = (float)x;
    if (j->carrier == 32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &x, sizeof x);
}

static char *output(const work *w, size_t r, size_t i)
{
    const job *j = w->j;
    const ptrdiff_t size = j->carrier == 32 ? sizeof(float) : sizeof(double);
    return (char *)j->c + ((ptrdiff_t)(j->stride * w->batch) + (ptrdiff_t)(w->row + r) * j->step_row +
                           (ptrdiff_t)(w->lane + i) * j->step_lane) * size;
}

/* States at +0, or c rounded to the format that holds it. */
static void begin(work *w)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    memset(&w->state, 0, sizeof w->state);
    if (!j->spec->start_from_c)
        return;
    fpemu_format binary32;
    fpemu_named(FPEMU_BINARY32, &binary32);
    const fpemu_rounding nearest = fpemu_nearest();
    const fpemu_format *f = a->chunk                    ? &a->outer.format
                            : a->model == FPEMU_FUSED ? &binary32
                                                        : &a->inner.format;
    for (size_t r = 0; r < w->rows; r++) {
        double c[2 * DOT_LANES];
        for (size_t i = 0; i < w->lanes; i++)
            c[i] = load(j, output(w, r, i));
        fpemu_quantize_f64(f, &nearest, w->lanes, c, c, NULL);
        if (a->model == FPEMU_PAIRWISE) {
            const terms leaf = {c, NULL, NULL, NULL, NULL};
            add_leaf(w, (uint64_t)j->depth + 1, 0, leaf);
        } else if (is_narrow(j) && !a->chunk) {
            j->k->narrow(w->lanes, c, narrow(w, r));
        } else {
            memcpy(w->state.d + r * DOT_LANES, c, w->lanes * sizeof *c);
        }
    }
}

/* The products of a slab, all rows. */
static void advance(work *w, size_t l0, size_t nk)
{
    const job *j = w->j;
    const kernels *k = j->k;
    for (size_t r = 0; r < w->rows; r++) {
        const float *x = w->x.f + r * SLAB_FEW;
        const double *wide = w->x.d + r * SLAB_FEW;
        float *s = narrow(w, r);
        switch (j->way) {
        case WAY_NATIVE32: k->mac_binary32(nk, w->lanes, x, w->y.f, w->lanes, s); continue;
        case WAY_NATIVE64:
            k->mac_binary64(nk, w->lanes, wide, w->y.d, DOT_LANES, w->state.d + r * DOT_LANES);
            continue;
        case WAY_BINARY32:
            k->mac32[j->product_form][j->inner_form](&j->product32, &j->inner32, nk, w->lanes, x, w->y.f, w->lanes, s);
            continue;
        default: break;
        }
        switch (j->spec->sum.model) {
        case FPEMU_PAIRWISE: pairwise(w, l0, nk, wide, w->y.d); break;
        case FPEMU_KAHAN: kahan(w, r, l0, nk, wide, w->y.d); break;
        case FPEMU_FUSED: fused(w, r, l0, nk, wide, w->y.d); break;
        case FPEMU_INTEGER: integer(w, r, nk, wide, w->y.d); break;
        default: sequential(w, r, l0, nk, wide, w->y.d);
        }
    }
}

/* binary32 way, chunked: the chunk's sums, kept narrow, go into the wide ones. */
static void end_chunk(work *w, size_t k)
{
    const job *j = w->j;
    double sum[DOT_LANES];
    for (size_t r = 0; r < w->rows; r++) {
        float *chunk_sum = narrow(w, r);
        const uint64_t past = k / j->spec->sum.chunk, t = ((uint64_t)k + 1) * (j->product.given + 1u) + past;
        j->k->widen(w->lanes, chunk_sum, sum);
        add_chunk(w, r, t, sum, w->state.d + r * DOT_LANES);
        memset(chunk_sum, 0, w->lanes * sizeof *chunk_sum);
    }
}

/* out(alpha * s + beta * c) of row r, s having been found. */
static void finish(work *w, size_t r, const double *s)
{
    const job *j = w->j;
    const goal *g = &j->out;
    const int whole = j->spec->sum.model == FPEMU_INTEGER && j->alpha != 0;
    if (j->plain && !whole) {
        for (size_t i = 0; i < w->lanes; i++)
            store(j, output(w, r, i), isnan(s[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : s[i]);
        return;
    }
    gathering *gathered = w->gathered;
    fpemu_rounding numbered = g->rounding;
    numbered.stream = core_dot_stream(numbered.stream, j->total);
    const uint64_t index = ((uint64_t)w->batch * j->m + w->row + r) * j->index_row + w->lane;
    tile_counts counts;
    memset(&counts, 0, sizeof counts);
    for (size_t i = 0; i < w->lanes; i++) {
        core_exact x = core_exact_special(CORE_ZERO, 0, 0);
        int nan_came = isnan(j->alpha) || isnan(j->beta);
        if (j->alpha != 0) {
            x = core_exact_from(core_bits64(s[i]));
            if (whole)
                x = w->state.i[STATES + r * DOT_LANES + i]
                        ? core_exact_special(CORE_NOT_A_NUMBER, 0, 0)
                        : core_exact_integer(w->state.i[r * DOT_LANES + i], j->rows.quantum + j->lanes.quantum);
            nan_came |= x.kind == CORE_NOT_A_NUMBER;
            if (!(j->alpha == 1))
                x = core_exact_multiply(core_exact_from(core_bits64(j->alpha)), x);
        }
        if (j->beta != 0 && !j->spec->start_from_c) {
            const double old = load(j, output(w, r, i));
            const core_exact c =
                core_exact_multiply(core_exact_from(core_bits64(j->beta)), core_exact_from(core_bits64(old)));
            nan_came |= isnan(old);
            x = j->alpha != 0 ? core_exact_add(x, c, g->plan.mode) : c;
        }
        uint64_t grid;
        const uint32_t bits = g->stochastic ? fpemu_element_bits(&numbered, index + i) : 0;
        const double y = core_value64(core_exact_round(&g->plan, &x, bits, &grid));
        w->found_nan |= g->nan_is_error && x.kind == CORE_NOT_A_NUMBER;
        if (gathered && g->given) {
            core_count_exact(&g->plan, &x, y, grid, &counts);
            counts.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        }
        store(j, output(w, r, i), y);
    }
    if (gathered && g->given)
        fpemu_gather_tile(gathered, 64, 0, w->lanes, s, s, &counts);
}

static void run_tile(work *w)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    const int few = a->model == FPEMU_PAIRWISE || a->model == FPEMU_FUSED;
    const size_t ld = few ? FEW : is_narrow(j) ? w->lanes : DOT_LANES;
    const size_t slab = a->model == FPEMU_FUSED ? SLAB_FEW / a->block * a->block : few ? SLAB_FEW : SLAB;
    const size_t depth = j->alpha != 0 ? j->depth : 0;
    begin(w);
    for (size_t l = 0; l < depth;) {
        size_t nk = depth - l < slab ? depth - l : slab;
        if (j->way == WAY_BINARY32 && a->chunk && nk > a->chunk - l % a->chunk)
            nk = a->chunk - l % a->chunk;
        pack(w, &j->rows, w->row, w->rows, l, nk, SLAB_FEW, 1, &w->x);
        pack(w, &j->lanes, w->lane, w->lanes, l, nk, 1, ld, &w->y);
        if (a->model == FPEMU_FUSED) {
            for (size_t i = 0; i < w->rows * SLAB_FEW; i++)
                w->powers_x[i] = i % SLAB_FEW < nk ? core_dot_power(w->x.d[i], j->rows.least) : 0;
            for (size_t i = 0; i < nk * ld; i++)
                w->spare.d[i] = i % ld < w->lanes ? core_dot_power(w->y.d[i], j->lanes.least) : 0;
        } else if (a->model == FPEMU_INTEGER) {
            for (size_t r = 0; r < w->rows; r++)
                to_integers(nk, w->x.d + r * SLAB_FEW, j->rows.quantum);
            for (size_t k = 0; k < nk; k++)
                to_integers(w->lanes, w->y.d + k * ld, j->lanes.quantum);
        }
        advance(w, l, nk);
        l += nk;
        if (j->way == WAY_BINARY32 && chunk_ends(j, l - 1))
            end_chunk(w, l - 1);
    }
    for (size_t r = 0; r < w->rows; r++) {
        double wide[2 * DOT_LANES], *s = w->state.d + r * DOT_LANES;
        if (is_narrow(j) && !a->chunk) {
            s = wide;
            j->k->widen(w->lanes, narrow(w, r), s);
        }
        if (a->model == FPEMU_PAIRWISE && depth + j->spec->start_from_c)
            pairwise_end(w, s);
        finish(w, r, s);
    }
}

/* All tiles, on as many threads as are worth it. Returns whether a NaN met the policy `error`. */
static int run(const job *j, fpemu_stats *stats)
{
    const uint32_t model = j->spec->sum.model;
    const size_t lanes = model == FPEMU_PAIRWISE || model == FPEMU_FUSED ? FEW
                         : is_narrow(j) && !j->spec->sum.chunk           ? 2 * DOT_LANES
                                                                         : DOT_LANES;
    const size_t rows = model == FPEMU_PAIRWISE ? 1 : lanes == 2 * DOT_LANES ? 2 * ROWS : ROWS;
    const size_t down = (j->m - 1) / rows + 1, across = (j->n - 1) / lanes + 1;
    const size_t tiles = j->batch * down * across; /* no overflow: each tile has an output of its own in memory */
    int found_nan = 0, threads = 1;
#ifdef _OPENMP
    const double products = (double)j->batch * (double)j->m * (double)j->n * (double)(j->depth + 1);
    if (!omp_in_parallel() && products >= 2.0 * PRODUCTS_PER_THREAD && tiles > 1)
        threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(| : found_nan)
#endif
    {
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        gathering g;
        work w;
        w.j = j;
        w.gathered = j->counted ? &g : NULL;
        w.found_nan = 0;
        w.leaf_factor = 1;
        if (j->counted)
            fpemu_gather_begin(&g, 0, 64);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (size_t tile = 0; tile < tiles; tile++) {
            w.batch = tile / (down * across);
            w.row = tile / across % down * rows;
            w.lane = tile % across * lanes;
            w.rows = j->m - w.row < rows ? j->m - w.row : rows;
            w.lanes = j->n - w.lane < lanes ? j->n - w.lane : lanes;
            run_tile(&w);
        }
        if (j->counted) {
#ifdef _OPENMP
#pragma omp critical(fpemu_gather)
#endif
            fpemu_gather_end(&g, 64, stats);
        }
        found_nan |= w.found_nan;
        fpemu_environment_leave(&environment);
    }
    return found_nan;
}

/* ---------------------------------------------------------------------------------------- public functions */

/* Whether a target is the native format itself, to nearest. */
static int is_native(const fpemu_target *t, fpemu_name name)
{
    fpemu_format native;
    fpemu_named(name, &native);
    return fpemu_format_equal(&t->format, &native) && t->rounding.mode == FPEMU_RNE &&
           t->rounding.overflow <= FPEMU_OVERFLOW_IEEE;
}

/* Plan and form of a float of at most 11 bits of precision whose rounding to nearest has a short form, for numbers
 * below 2^top; 0 if t is none. */
static int quick_plan(core_plan32 *p, enum mac_form *form, const fpemu_target *t, int top)
{
    core_plan64 integers;
    const int m = (int)t->format.mantissa_bits;
    if (t->format.kind != FPEMU_KIND_FLOAT || m > 10 || !t->format.fits_f32 || t->rounding.mode != FPEMU_RNE ||
        core_nan_policy(&t->format, &t->rounding) == FPEMU_NAN_ERROR)
        return 0;
    core_plan_make32(p, &integers, &t->format, &t->rounding, 0);
    core_choose_quick32(p, &t->format);
    const uint32_t past = p->overflow[0];
    if (p->rule == CORE_RULE_FLAT) {
        *form = MAC_FLAT;
        return 1;
    }
    const int one_end = p->rule == CORE_RULE_MAGIC_PASS || p->rule == CORE_RULE_MAGIC_STOP; /* for infinity too */
    if (!one_end && p->rule != CORE_RULE_MAGIC_STOP_INF && p->rule != CORE_RULE_MAGIC_GRID)
        return 0;
    *form = MAC_ENDS;
    /* lean: 2^top leaves room for the number that is added; a NaN needs no care on the way */
    if (one_end && top + 23 - m <= 127 && p->nan[0] == 0x7fc00000u &&
        p->overflow[1] == (past | 0x80000000u) && (past == 0x7f800000u || past == p->max[0])) {
        *form = past == p->max[0] ? MAC_SAT : MAC_INF;
        p->quick_up += 0x00400000u; /* 1.5 times the power of two */
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
    if (j->carrier != 32 || j->counted || (model != FPEMU_SEQUENTIAL && model != FPEMU_CHUNKED))
        return WAY_GENERAL;
    if (model == FPEMU_SEQUENTIAL && !j->product.given && is_native(&s->sum.inner, FPEMU_BINARY32))
        return WAY_NATIVE32;
    if (model == FPEMU_SEQUENTIAL && !j->product.given && is_native(&s->sum.inner, FPEMU_BINARY64))
        return WAY_NATIVE64;
    if (!products_fit(s, &bits, &top))
        return WAY_GENERAL;
    j->product_form = MAC_NONE;
    if (j->product.given) {
        if (!quick_plan(&j->product32, &j->product_form, &s->product, top))
            return WAY_GENERAL;
        bits = (int)s->product.format.mantissa_bits + 1;
        top = s->product.format.emax + 1;
    }
    top = (top > f->emax + 1 ? top : f->emax + 1) + 1;
    return quick_plan(&j->inner32, &j->inner_form, &s->sum.inner, top) && bits <= (int)f->mantissa_bits + 1
               ? WAY_BINARY32
               : WAY_GENERAL;
}

static side side_of(const core_operand *o, const fpemu_target *t, int transposed, uint64_t batch_elements)
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
    s.index_batch = o->stride ? batch_elements : 0;
    s.target = is_none(t) ? NULL : t;
    s.least = core_value64(core_power64(t->format.emin));
    is_integer_operand(t, &s.quantum);
    return s;
}

/* In the default floating-point environment; the spec is prepared. a, b, c: op(A) m x k, op(B) k x n, C m x n. */
static fpemu_status multiply_inside(job *j, const core_operand *a, const core_operand *b, const core_operand *c, uint64_t batch,
                                    double alpha, double beta, fpemu_stats *stats)
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
    if (stats) {
        const fpemu_status status = stats->want ? FPEMU_ERROR_STATS : fpemu_stats_check(stats);
        if (status)
            return status;
    }
    j->k = fpemu_kernels();
    j->counted = stats != NULL;
    j->depth = (size_t)a->columns;
    j->batch = (size_t)batch;
    j->alpha = alpha;
    j->beta = beta;
    j->plain = alpha == 1 && (beta == 0 || spec->start_from_c) && !j->out.given;
    j->total = core_dot_roundings(&spec->sum, j->depth, j->product.given, spec->start_from_c);
    j->way = choose_way(j);
    j->c = (void *)(uintptr_t)c->p;
    j->stride = (size_t)c->stride;
    const side left = side_of(a, &spec->a, 0, a->rows * a->columns);
    const side right = side_of(b, &spec->b, 1, b->rows * b->columns);
    const int swapped = c->columns == 1; /* lanes run along the only long side of C */
    j->rows = swapped ? right : left;
    j->lanes = swapped ? left : right;
    j->m = (size_t)(swapped ? c->columns : c->rows);
    j->n = (size_t)(swapped ? c->rows : c->columns);
    j->index_row = j->n;
    j->step_row = swapped ? c->step_column : c->step_row;
    j->step_lane = swapped ? c->step_row : c->step_column;
    return run(j, stats) ? FPEMU_ERROR_NAN : FPEMU_OK;
}

static fpemu_status multiply(job *j, const core_operand *a, const core_operand *b, const core_operand *c, uint64_t batch, double alpha,
                             double beta, fpemu_stats *stats)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = multiply_inside(j, a, b, c, batch, alpha, beta, stats);
    fpemu_environment_leave(&environment);
    return status;
}

static fpemu_status gemm(const fpemu_gemm_spec *spec, int carrier, const fpemu_gemm_shape *s, double alpha,
                         const void *a, const void *b, double beta, void *c, fpemu_stats *stats)
{
    core_operand x, y, z;
    job j;
    const fpemu_status status = prepare(&j, spec, carrier);
    if (status)
        return status;
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
        (!core_operand_extent(&z, 1, 1, &from, &to) || s->stride_c < to - from)) /* products do not lie within each other */
        return FPEMU_ERROR_ARGUMENT;
    return multiply(&j, &x, &y, &z, batch, alpha, beta, stats);
}

static fpemu_status gemv(const fpemu_gemm_spec *spec, int carrier, fpemu_order order, int transpose, size_t m,
                         size_t n, double alpha, const void *a, size_t lda, const void *x, int64_t incx, double beta,
                         void *y, int64_t incy, fpemu_stats *stats)
{
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    core_operand left, right, out;
    job j;
    const fpemu_status status = prepare(&j, spec, carrier);
    if (status)
        return status;
    if ((unsigned)order > 1 || (unsigned)transpose > 1 || m > PTRDIFF_MAX || n > PTRDIFF_MAX ||
        !core_operand_matrix(&left, a, transpose ? n : m, transpose ? m : n, lda, 0, (int)order, transpose) ||
        !core_operand_vector(&right, x, transpose ? m : n, incx, size) || !core_operand_vector(&out, y, transpose ? n : m, incy, size))
        return FPEMU_ERROR_ARGUMENT;
    return multiply(&j, &left, &right, &out, 1, alpha, beta, stats);
}

static fpemu_status dot(const fpemu_gemm_spec *spec, int carrier, size_t n, const void *x, int64_t incx, const void *y,
                        int64_t incy, void *result, fpemu_stats *stats)
{
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    core_operand left, right, out;
    job j;
    const fpemu_status status = prepare(&j, spec, carrier);
    if (status)
        return status;
    if (!core_operand_vector(&left, x, n, incx, size) || !core_operand_vector(&right, y, n, incy, size) || !core_operand_vector(&out, result, 1, 1, size))
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
        return gemm(spec, bits, shape, (double)alpha, a, b, (double)beta, c, stats);                                   \
    }                                                                                                                  \
    fpemu_status fpemu_gemv_##suffix(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m,          \
                                     size_t n, real alpha, const real *a, size_t lda, const real *x, int64_t incx,     \
                                     real beta, real *y, int64_t incy, fpemu_stats *stats)                             \
    {                                                                                                                  \
        return gemv(spec, bits, order, transpose, m, n, (double)alpha, a, lda, x, incx, (double)beta, y, incy,         \
                    stats);                                                                                            \
    }                                                                                                                  \
    fpemu_status fpemu_dot_##suffix(const fpemu_gemm_spec *spec, size_t n, const real *x, int64_t incx,                \
                                    const real *y, int64_t incy, real *result, fpemu_stats *stats)                     \
    {                                                                                                                  \
        return dot(spec, bits, n, x, incx, y, incy, result, stats);                                                    \
    }

CARRIER(f32, float, 32)
CARRIER(f64, double, 64)
