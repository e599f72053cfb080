/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.h - dot products, one output a lane or thread: the job and its kernels' bodies. Operands come rounded. In
 * matrices a block of threads has a tile of outputs, and reads slabs of its rows of a and columns of b into shared
 * memory; each thread takes the products of its output in the model's order, as everywhere. What is narrow, pairwise or
 * counted goes without: neighbouring lanes have neighbouring outputs, so that they read one number of a and neighbours
 * of b. */
#ifndef FPEMU_GPU_GEMM_H
#define FPEMU_GPU_GEMM_H

#include "core/dot_fast.h"
#include "core/walk.h"
#include "lane.h"

/* Where an operand's numbers lie: steps from one output to the next, along k, from one product to the next; elements.
 */
typedef struct gpu_operand {
    const void *p;
    int64_t step, step_k, stride;
    const void *scales;     /* of every chunk of every row or column; NULL: none */
    uint64_t scales_stride; /* from one product to the next */
} gpu_operand;

/* Targets of the sums in forms of one carrier. */
typedef union gpu_macs_targets {
    struct {
        core_dot_fast32 inner, outer;
    } in32;
    struct {
        core_dot_fast64 inner, outer;
    } in64;
} gpu_macs_targets;

typedef struct gpu_gemm_job {
    core_dot rule;
    gpu_macs_targets fast;
    gpu_operand a, b; /* rows of op(A), columns of op(B) */
    void *c;
    int64_t step_row, step_column, stride;
    uint64_t m, n, batch;
    gpu_counts *counts;
    uint32_t slab; /* products that a tile takes at a time; 0: no tiles */
    uint8_t reads_c;
    uint8_t carrier; /* 32 or 64: by the forms of core/dot_fast.h in this carrier; 0: not */
} gpu_gemm_job;

/* Outputs of a tile in each direction, and most products of a slab. Rows are one number longer, for the banks' sake. */
#define GPU_TILE 16
#define GPU_SLAB 64

typedef struct gpu_tile {
    double a[GPU_TILE * (GPU_SLAB + 1)], b[GPU_TILE * (GPU_SLAB + 1)]; /* binary32 numbers take half of it */
} gpu_tile;

FPEMU_STATIC_ASSERT(sizeof(gpu_gemm_job) <= 4096, "what a kernel may be given");

FPEMU_FN core_dot_line gpu_line(const gpu_gemm_job *j, const gpu_operand *s, uint64_t batch, uint64_t i)
{
    core_dot_line line;
    const int64_t at = (int64_t)batch * s->stride + (int64_t)i * s->step;
    line.step = s->step_k;
    line.p = j->rule.wide ? (const void *)((const double *)s->p + at) : (const void *)((const float *)s->p + at);
    line.scales = NULL;
    if (s->scales) {
        const uint64_t first = batch * s->scales_stride + i * ((j->rule.depth - 1) / j->rule.chunk + 1);
        line.scales = j->rule.wide ? (const void *)((const double *)s->scales + first)
                                   : (const void *)((const float *)s->scales + first);
    }
    return line;
}

FPEMU_FN double gpu_gemm_old(const gpu_gemm_job *j, int64_t at)
{
    if (!j->reads_c)
        return 0;
    return j->rule.wide ? ((const double *)j->c)[at] : (double)((const float *)j->c)[at];
}

FPEMU_FN void gpu_gemm_store(const gpu_gemm_job *j, int64_t at, double y)
{
    if (j->rule.wide)
        ((double *)j->c)[at] = y;
    else
        ((float *)j->c)[at] = (float)y;
}

FPEMU_FN void gpu_gemm(const gpu_gemm_job *j, int counted, uint64_t warp, uint64_t warps)
{
    const uint64_t outputs = j->batch * j->m * j->n;
    gpu_lane lane[LANES];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t base = warp * 32; base < outputs; base += warps * 32) {
        FOR_LANES(l)
        {
            const uint64_t index = base + l;
            if (index >= outputs)
                continue;
            uint64_t rest = index;
            const uint64_t column = rest % j->n;
            rest /= j->n;
            const uint64_t row = rest % j->m, batch = rest / j->m;
            const int64_t at =
                (int64_t)batch * j->stride + (int64_t)row * j->step_row + (int64_t)column * j->step_column;
            const core_dot_line a = gpu_line(j, &j->a, batch, row), b = gpu_line(j, &j->b, batch, column);
            core_dot_tally tally;
            memset(&tally, 0, sizeof tally);
            gpu_gemm_store(j, at,
                              core_dot_output(&j->rule, a, b, index, gpu_gemm_old(j, at), counted ? &tally : NULL));
            if (counted) {
                gpu_lane_take(&OF(lane, l), &tally.c);
                OF(lane, l).counter[GPU_ROUNDINGS] += (uint32_t)tally.roundings;
                OF(lane, l).counter[GPU_SWAMPED] += (uint32_t)tally.swamped;
            }
        }
        if (counted)
            gpu_lane_flush(lane, j->counts);
    }
}

/* Rows `first` and on of an operand, products [from, from + n), into the tile; beyond the last row zeros. Neighbouring
 * threads read neighbours in memory. */
FPEMU_FN void gpu_tile_fill(const gpu_gemm_job *j, const gpu_operand *s, uint64_t batch, uint64_t first, uint64_t rows,
                            uint64_t from, uint32_t n, void *to)
{
    const int along = s->step_k == 1 || s->step_k == -1;
    const int64_t begin = (int64_t)batch * s->stride + (int64_t)first * s->step + (int64_t)from * s->step_k;
    FOR_THREADS(t)
    for (uint32_t i = t; i < GPU_TILE * n; i += THREADS) {
        const uint32_t row = along ? i / n : i % GPU_TILE, k = along ? i % n : i / GPU_TILE;
        const int64_t at = begin + (int64_t)row * s->step + (int64_t)k * s->step_k;
        const int inside = first + row < rows;
        if (j->rule.wide)
            ((double *)to)[row * (GPU_SLAB + 1) + k] = inside ? ((const double *)s->p)[at] : 0;
        else
            ((float *)to)[row * (GPU_SLAB + 1) + k] = inside ? ((const float *)s->p)[at] : 0;
    }
}

/* Uncounted products, a tile of outputs a block. `block` of `blocks`; tile: memory that its threads share. */
FPEMU_FN void gpu_gemm_tiles(const gpu_gemm_job *j, gpu_tile *tile, uint64_t block, uint64_t blocks)
{
    const uint64_t across = (j->n + GPU_TILE - 1) / GPU_TILE, down = (j->m + GPU_TILE - 1) / GPU_TILE;
    const core_dot *const p = &j->rule;
    for (uint64_t b = block; b < across * down * j->batch; b += blocks) {
        const uint64_t left = b % across * GPU_TILE, top = b / across % down * GPU_TILE, batch = b / across / down;
        core_dot_sum running[HELD];
        FOR_THREADS(t)
        {
            const uint64_t row = top + t / GPU_TILE, column = left + t % GPU_TILE;
            const int64_t at =
                (int64_t)batch * j->stride + (int64_t)row * j->step_row + (int64_t)column * j->step_column;
            const int inside = row < j->m && column < j->n;
            core_dot_begin(p, inside ? gpu_gemm_old(j, at) : 0, &OF(running, t));
        }
        for (uint64_t k = 0; k < p->depth; k += j->slab) {
            const uint32_t n = (uint32_t)core_smaller(j->slab, p->depth - k);
            gpu_tile_fill(j, &j->a, batch, top, j->m, k, n, tile->a);
            gpu_tile_fill(j, &j->b, batch, left, j->n, k, n, tile->b);
            threads_meet();
            FOR_THREADS(t)
            {
                const uint64_t row = top + t / GPU_TILE, column = left + t % GPU_TILE;
                if (row >= j->m || column >= j->n)
                    continue;
                core_dot_line x = gpu_line(j, &j->a, batch, row), y = gpu_line(j, &j->b, batch, column);
                const size_t at_x = t / GPU_TILE * (GPU_SLAB + 1), at_y = t % GPU_TILE * (GPU_SLAB + 1);
                x.step = y.step = 1;
                x.p = p->wide ? (const void *)(tile->a + at_x)
                              : (const void *)((const float *)(const void *)tile->a + at_x);
                y.p = p->wide ? (const void *)(tile->b + at_y)
                              : (const void *)((const float *)(const void *)tile->b + at_y);
                core_dot_advance(p, x, y, k, k + n, (batch * j->m + row) * j->n + column, &OF(running, t), NULL);
            }
            threads_meet();
        }
        FOR_THREADS(t)
        {
            const uint64_t row = top + t / GPU_TILE, column = left + t % GPU_TILE;
            if (row >= j->m || column >= j->n)
                continue;
            const int64_t at =
                (int64_t)batch * j->stride + (int64_t)row * j->step_row + (int64_t)column * j->step_column;
            gpu_gemm_store(
                j, at,
                core_dot_end(p, (batch * j->m + row) * j->n + column, gpu_gemm_old(j, at), &OF(running, t), NULL));
        }
    }
}

/* ---------------------------------------------------------------------- by the forms of core/dot_fast.h */

/* Outputs of a block of threads in each direction, in squares of GPU_EACH, each a thread's. */
#define GPU_EACH 4
#define GPU_SQUARE (GPU_EACH * GPU_EACH)
#define GPU_SIDE 16
#define GPU_WIDE (GPU_SIDE * GPU_EACH)

/* So that four neighbours are read at once. */
#ifdef __CUDACC__
#define GPU_ALIGNED __align__(16)
#else
#define GPU_ALIGNED
#endif

/* Where a thread's square begins. */
typedef struct gpu_outputs {
    uint64_t batch, row, column;
} gpu_outputs;

FPEMU_FN uint64_t gpu_output_index(const gpu_gemm_job *j, const gpu_outputs *o, unsigned i)
{
    return (o->batch * j->m + o->row + i / GPU_EACH) * j->n + o->column + i % GPU_EACH;
}

FPEMU_FN int gpu_output_is_inside(const gpu_gemm_job *j, const gpu_outputs *o, unsigned i)
{
    return o->row + i / GPU_EACH < j->m && o->column + i % GPU_EACH < j->n;
}

FPEMU_FN int64_t gpu_output_place(const gpu_gemm_job *j, const gpu_outputs *o, unsigned i)
{
    return (int64_t)o->batch * j->stride + (int64_t)(o->row + i / GPU_EACH) * j->step_row +
           (int64_t)(o->column + i % GPU_EACH) * j->step_column;
}

/* The sum before the first product, from the old c. */
FPEMU_SLOW double gpu_outputs_begin(const gpu_gemm_job *j, double c)
{
    core_dot_sum w;
    core_dot_begin(&j->rule, c, &w);
    return w.s;
}

/* What the sum becomes where it is not the result itself. */
FPEMU_SLOW double gpu_outputs_result(const gpu_gemm_job *j, uint64_t index, double c, double s)
{
    core_dot_sum w;
    memset(&w, 0, sizeof w);
    w.s = s;
    return core_dot_end(&j->rule, index, c, &w, NULL);
}

FPEMU_FN void gpu_outputs_end(const gpu_gemm_job *j, const gpu_outputs *o, unsigned i, double s)
{
    if (!gpu_output_is_inside(j, o, i))
        return;
    const int64_t at = gpu_output_place(j, o, i);
    if (!j->rule.plain)
        s = gpu_outputs_result(j, gpu_output_index(j, o, i), gpu_gemm_old(j, at), s);
    gpu_gemm_store(j, at, s == s ? s : core_value64(CORE_INF64 | CORE_INF64 >> 1));
}

#include "core/carrier32.h"
#include "gemm.inc.h"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#include "gemm.inc.h"
#include "core/carrier_end.h"

#endif /* FPEMU_GPU_GEMM_H */
