/* gemm.h - what the files of dot products share: a call as it is prepared, what a thread works on, the models.
 *
 *   gemm_check.c  a spec, checked and prepared
 *   gemm_model.c  one operation on all lanes; models as sequences of it
 *   gemm_tile.c   operands on their way in, tiles, threads
 *   gemm.c        the public functions: shapes, ways
 */
#ifndef FPEMU_GEMM_H
#define FPEMU_GEMM_H

#include <math.h>

#include "internal.h"

/* Sizes of a tile: ROWS * DOT_LANES states, SLAB * DOT_LANES operands (binary32: twice as many rows and lanes); FEW
 * lanes with a SLAB_FEW slab or a stack of levels. */
#define ROWS 8
#define SLAB 16
#define FEW 32
#define SLAB_FEW 64
#define STATES (ROWS * DOT_LANES)
#define OPERANDS (SLAB * DOT_LANES)
#define LEVELS 64

FPEMU_STATIC_ASSERT(SLAB_FEW *FEW <= OPERANDS && LEVELS * FEW <= 2 * STATES, "both shapes of a tile fit");

/* A target, prepared. */
typedef struct goal {
    core_plan64 plan, unbounded; /* unbounded: the same grid without ends */
    fpemu_rounding rounding;
    uint8_t given, stochastic, short_way, nan_is_error;
    uint8_t fast; /* the loops round_nearest, round_stochastic serve */
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
    const void *scales;                     /* of chunk j of element o: [o * chunks + j]; NULL: all 1 */
    size_t scales_batch;                    /* from one product of a batch to the next */
} side;

enum way { WAY_BINARY32, WAY_NATIVE32, WAY_NATIVE64, WAY_GENERAL };

typedef struct job {
    const kernels *k;
    const fpemu_gemm_spec *spec;
    goal product, inner, outer, out;
    core_plan32 product32, inner32; /* binary32 way, with their forms */
    enum mac_form product_form, inner_form;
    uint8_t may_stay_inside; /* forms that have the loops mac_inside */
    double growth;           /* of a sum by the roundings of a slab, at most */
    side rows, lanes;
    int carrier, way;
    uint8_t binary32;          /* operands are numbers of binary32: so binary64 holds every product */
    uint8_t counted, plain;    /* plain: alpha = 1, beta = 0, no out: s is the result */
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
    size_t rows, lanes; /* of this tile */
    size_t row, lane;   /* its first */
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

static inline int is_narrow(const job *j)
{
    return j->way == WAY_BINARY32 || j->way == WAY_NATIVE32;
}

/* Sums in binary32 of a row. */
static inline float *narrow(work *w, size_t r)
{
    return w->j->spec->sum.chunk ? w->state.f + 2 * STATES + r * DOT_LANES : w->state.f + r * (2 * DOT_LANES);
}

static inline int is_zero(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= c[i];
    return any == 0;
}

static inline int is_none(const fpemu_target *t)
{
    return is_zero(t, sizeof *t);
}

/* Steps of a float as parts of its numbers, at most. */
static inline double step_of(const fpemu_format *f)
{
    return core_value64(core_power64(-(int)f->mantissa_bits));
}

/* Vectors of an operation: v * w + u; w = NULL is 1, u = NULL is nothing at all. x = NULL: v is an array, else *x is
 * the one v of all lanes. */
typedef struct terms {
    const double *v, *x, *w, *u;
    const double *u_factor; /* exact way: u * *u_factor; NULL is 1 */
    int wide;               /* v * w may have more bits than binary64 */
} terms;

/* A number of the carrier. */
static inline double load(const job *j, const char *p)
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

/* Whether chunk number k / chunk ends after product k. */
static inline int chunk_ends(const job *j, size_t k)
{
    const size_t chunk = j->spec->sum.chunk;
    return chunk && ((k + 1) % chunk == 0 || k + 1 == j->depth);
}

/* Checks a spec and fills the goals of *j; in whatever floating-point environment. */
fpemu_status fpemu_gemm_prepare(job *j, const fpemu_gemm_spec *spec, int carrier);
/* The power of two of an integer model's operand; 0 if it has none or is too wide. */
int fpemu_gemm_grid(const fpemu_target *t, int *quantum);

/* Models. Each takes row r of the tile through products l0 .. l0+nk; x: nk numbers, y: nk rows of `ld` lanes. */
void fpemu_sum_sequential(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y);
void fpemu_sum_kahan(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y);
void fpemu_sum_pairwise(work *w, size_t l0, size_t nk, const double *x, const double *y);
void fpemu_sum_fused(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y);
void fpemu_sum_integer(work *w, size_t r, size_t nk, const double *x, const double *y);
/* The sum in `inner` of the chunk with product k, times the scales of its blocks, goes into `s`; it begins anew. */
void fpemu_sum_chunk(work *w, size_t r, size_t k, uint64_t t, double *inner, double *s);
/* Pairwise: leaf number k of the tree, x * y, y NULL being 1; and what waits at the end, joined, into `to`. */
void fpemu_sum_leaf(work *w, uint64_t leaves, uint64_t k, terms node);
void fpemu_sum_pairwise_end(work *w, double *to);

/* All tiles, on as many threads as are worth it. Returns whether a NaN met the policy `error`. */
int fpemu_gemm_run(const job *j, fpemu_stats *stats);

#endif /* FPEMU_GEMM_H */
