/* SPDX-License-Identifier: BSD-2-Clause */
/* call.h - a product of matrices as it is prepared, and the tile of it that a thread works on. */
#ifndef FPEMU_GEMM_CALL_H
#define FPEMU_GEMM_CALL_H

#include "targets.h"

/* A tile has up to `rows` x `lanes` outputs; k is taken in slabs. The operands of a slab are rounded once for all rows
 * of the tile, so that the more rows there are, the fewer times op(B) is rounded; STATES, in numbers of binary64, is
 * what all sums of a tile may take of the stack. Rows of op(A) are read a few at a time. */
#define STATES 4096
#define LANES_FEW 32 /* of models that keep more than two numbers an output, or take steps of many products */
#define TILE_ROWS 64 /* whatever the room */
#define SLAB 16
#define SLAB_FEW 64 /* with LANES_FEW */
#define ROWS_READ 8 /* in binary32 twice as many */
#define OPERANDS (SLAB * DOT_LANES)

FPEMU_STATIC_ASSERT(SLAB_FEW *LANES_FEW <= OPERANDS, "both shapes of a slab fit");

/* A sum of the reference on its way; pairwise sums alone have a tree, which others have no room for. */
typedef struct reference_state {
    core_dot_sum sum;
    core_dot_tree tree;
} reference_state;
FPEMU_STATIC_ASSERT(LANES_FEW * sizeof(reference_state) <= STATES * sizeof(double), "a tile has a row at least");

/* One operand: element (o, k), o counting rows or lanes of a tile. */
typedef struct gemm_operand {
    const void *p;
    ptrdiff_t step_o, step_k;               /* in elements */
    size_t stride;                          /* from one product of a batch to the next */
    uint64_t index_o, index_k, index_batch; /* steps of the index; one of the first two is 1 */
    const void *scales;                     /* of chunk j of element o: [o * chunks + j]; NULL: all 1 */
    size_t scales_batch;                    /* from one product of a batch to the next */
    double least;                           /* fused: 2^emin */
    uint8_t side;                           /* 0: op(A), 1: op(B) */

    const fpemu_target *target; /* NULL: none */
    /* the loop that rounds to it, by the carrier; NULL: fpemu_quantize does */
    void (*round32)(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y);
    void (*round64)(const core_plan64 *p, size_t n, const void *x, const uint32_t *r, void *y);
    union {
        core_plan32 plan32;
        core_plan64 plan64;
    };
} gemm_operand;

/* How sums are made; all give the same bits. */
enum gemm_path {
    PATH_REFERENCE, /* models.c: core/dot_models.h, output by output */
    PATH_FAST,      /* models_fast.c: by binary64, lane by lane the reference's operation where that has not the bits */
    PATH_BINARY32,  /* products and sums in binary32, where that and a rounding to nearest give the right bits */
    PATH_NATIVE32,  /* sums in binary32 itself */
    PATH_NATIVE64,  /* sums in binary64 itself */
    PATH_INTEGER,   /* integers, each times the same power of two, in binary64, which holds those of a slab */
};

typedef struct gemm_call {
    gemm_targets targets;
    const kernels *k;
    core_plan32 product32, inner32; /* binary32 path, with their forms */
    enum mac_form product_form, inner_form;
    uint8_t may_stay_inside; /* forms that have the loops mac_inside */
    uint8_t alone;           /* a dot product by itself needs no tile, where nothing is counted */
    double growth;           /* of a sum by the roundings of a slab, at most */
    double low, high;        /* integer path: the ends of sums; high = 0: sums wrap */
    dot_step step;           /* fused: what all steps share; places of products */
    uint8_t place[SLAB_FEW];
    gemm_operand rows, lanes; /* as prepared: op(A), op(B) */
    enum gemm_path path;      /* as prepared: of a dot product alone */
    gemm_split split;
    uint8_t counted;
    uint8_t paired;               /* lanes are products of a batch: each has a row of op(A) of its own */
    size_t m, n, batch;           /* rows, lanes, products */
    size_t tile_rows, tile_lanes; /* of a tile, at most */
    size_t row_states;            /* from the sums of a row to those of the next, in numbers of binary64 */
    uint64_t index_row;           /* index of output (i, j): i * index_row + j */
    void *c;
    ptrdiff_t step_row, step_lane;
    size_t stride;
} gemm_call;

/* What one thread works on. */
typedef struct gemm_tile {
    const gemm_call *call;
    core_dot_tally tally;
    size_t rows, lanes; /* of this tile */
    size_t row, lane;   /* its first */
    size_t batch;
    size_t ld; /* lanes from one product of a slab to the next */
    union {
        _Alignas(LINE) double d[STATES];
        float f[2 * STATES];
    } state;
    int16_t row_exponents[TILE_ROWS], lane_exponents[2 * DOT_LANES]; /* of integer slices */
    union {
        double d[ROWS_READ * SLAB_FEW];
        float f[2 * ROWS_READ * SLAB_FEW];
    } x;
    union {
        _Alignas(LINE) double d[OPERANDS];
        float f[2 * OPERANDS];
    } y;
    /* operands on their way in; then, fused, the powers of two of x and of y */
    double powers_x[ROWS_READ * SLAB_FEW];
    union {
        double d[OPERANDS];
        float f[2 * OPERANDS];
    } spare;
} gemm_tile;

/* Whether operands of a slab are kept in binary32. */
static inline int is_narrow(const gemm_call *c)
{
    return c->path == PATH_BINARY32 || c->path == PATH_NATIVE32 ||
           (c->path == PATH_REFERENCE && c->targets.carrier == 32);
}

/* Numbers of binary64 that such a sum takes. */
static inline size_t reference_size(const gemm_call *c)
{
    const int pairwise = c->targets.dot.model == FPEMU_MODEL_PAIRWISE;
    return (pairwise ? sizeof(reference_state) : sizeof(core_dot_sum)) / sizeof(double);
}

/* Whether an output keeps a second sum: that of a chunk, or Kahan's. */
static inline int has_second(const core_dot *d)
{
    return d->chunk != 0 || d->model == FPEMU_MODEL_KAHAN;
}

/* Levels of the tree of a pairwise sum; a leaf takes two. */
static inline size_t tree_levels(const core_dot *d)
{
    size_t levels = 2;
    for (uint64_t leaves = d->depth + d->start_from_c; leaves > 1; leaves >>= 1)
        levels++;
    return levels;
}

/* The index of output (row r, lane 0) of the tile. */
static inline uint64_t tile_index(const gemm_tile *w, size_t r)
{
    return ((uint64_t)w->batch * w->call->m + w->row + r) * w->call->index_row + w->lane;
}

static inline double *sums_of(gemm_tile *w, size_t r)
{
    return w->state.d + r * w->call->row_states;
}

/* The power of two that is left out of output (row r, lane i) of the tile. */
static inline int tile_exponent(const gemm_tile *w, size_t r, size_t i)
{
    return w->call->split.bits ? w->row_exponents[r] + w->lane_exponents[i] : 0;
}

/* Steps of a float as parts of its numbers, at most. */
static inline double step_of(const fpemu_format *f)
{
    return core_value64(core_power64(-(int)f->mantissa_bits));
}

/* A number of the carrier. */
static inline double load(int carrier, const void *p)
{
    float f;
    double d;
    if (carrier == 32) {
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
    memcpy(&d, p, sizeof d);
    return d;
}

static inline void store(int carrier, void *p, double x)
{
    const float f = (float)x;
    if (carrier == 32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &x, sizeof x);
}

#endif /* FPEMU_GEMM_CALL_H */
