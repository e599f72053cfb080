/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.h - dot products: the job and its kernels' bodies. Operands come rounded. In matrices a block of threads has a
 * tile of outputs, and reads slabs of its rows of a and columns of b into shared memory; each thread takes the products
 * of its outputs in the model's order, as everywhere. Three ways give the same bits:
 *
 *   fast forms  four by four outputs a thread, by the forms of core/dot_fast.h, steps of tensor cores and integers in
 *               32 bits: where the targets have such forms (carrier_of in gemm.c)
 *   tiles       an output a thread, by core/dot_models.h
 *   rows        the same without shared memory, for what is narrow, pairwise or counted: neighbouring lanes have
 *               neighbouring outputs, so that they read one number of a and neighbours of b */
#ifndef FPEMU_GPU_GEMM_H
#define FPEMU_GPU_GEMM_H

#include "core/dot_fast.h"
#include "core/walk.h"
#include "lane.h"
#include "names.h"

/* Where an operand's numbers lie: steps from one output to the next, along k, from one product to the next; elements.
 */
typedef struct gpu_operand {
    const void *p;
    int64_t step, step_k, stride;
    const void *scales;     /* of every chunk of every row or column; NULL: none */
    uint64_t scales_stride; /* from one product to the next */
} gpu_operand;

/* Targets of the roundings in forms of one carrier. */
typedef struct gpu_macs_of32 {
    core_dot_fast32 inner, outer, product;
} gpu_macs_of32;

typedef struct gpu_macs_of64 {
    core_dot_fast64 inner, outer, product;
} gpu_macs_of64;

/* What is prepared for the models in fast forms. */
typedef union gpu_gemm_fast {
    gpu_macs_of32 in32;
    gpu_macs_of64 in64;
    struct {
        core_fused step;
        core_dot_fast32 outer;
    } fused;
} gpu_gemm_fast;

typedef struct gpu_gemm_job {
    core_dot rule;
    gpu_gemm_fast fast;
    gpu_operand a, b; /* rows of op(A), columns of op(B) */
    void *c;
    int64_t step_row, step_column, stride;
    uint64_t m, n, batch;
    gpu_counts *counts;
    uint32_t slab; /* products that a tile takes at a time; 0: no tiles */
    uint8_t reads_c;
    uint8_t ends;    /* of integers in 32 bits: a sum may come to those of its width */
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
        const uint64_t first = batch * s->scales_stride + i * ((j->rule.depth - 1) / j->rule.scaled + 1);
        line.scales = j->rule.wide ? (const void *)((const double *)s->scales + first)
                                   : (const void *)((const float *)s->scales + first);
    }
    return line;
}

FPEMU_FN int64_t gpu_gemm_place(const gpu_gemm_job *j, uint64_t batch, uint64_t row, uint64_t column)
{
    return (int64_t)batch * j->stride + (int64_t)row * j->step_row + (int64_t)column * j->step_column;
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
    FOR_LANES(l)
        gpu_lane_begin(&OF(lane, l));
    for (uint64_t base = warp * 32; base < outputs; base += warps * 32) {
        FOR_LANES(l) {
            const uint64_t index = base + l;
            if (index >= outputs)
                continue;
            uint64_t rest = index;
            const uint64_t column = rest % j->n;
            rest /= j->n;
            const uint64_t row = rest % j->m, batch = rest / j->m;
            const int64_t at = gpu_gemm_place(j, batch, row, column);
            const core_dot_line a = gpu_line(j, &j->a, batch, row), b = gpu_line(j, &j->b, batch, column);
            core_dot_tally tally;
            memset(&tally, 0, sizeof tally);
            gpu_gemm_store(j, at, core_dot_output(&j->rule, a, b, index, gpu_gemm_old(j, at), counted ? &tally : NULL));
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
        FOR_THREADS(t) {
            const uint64_t row = top + t / GPU_TILE, column = left + t % GPU_TILE;
            const int64_t at = gpu_gemm_place(j, batch, row, column);
            const int inside = row < j->m && column < j->n;
            core_dot_begin(p, inside ? gpu_gemm_old(j, at) : 0, &OF(running, t));
        }
        for (uint64_t k = 0; k < p->depth; k += j->slab) {
            const uint32_t n = (uint32_t)core_smaller(j->slab, p->depth - k);
            gpu_tile_fill(j, &j->a, batch, top, j->m, k, n, tile->a);
            gpu_tile_fill(j, &j->b, batch, left, j->n, k, n, tile->b);
            threads_meet();
            FOR_THREADS(t) {
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
        FOR_THREADS(t) {
            const uint64_t row = top + t / GPU_TILE, column = left + t % GPU_TILE;
            if (row >= j->m || column >= j->n)
                continue;
            const int64_t at = gpu_gemm_place(j, batch, row, column);
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
    return gpu_gemm_place(j, o->batch, o->row + i / GPU_EACH, o->column + i % GPU_EACH);
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

/* The form whose kernel a job takes. */
FPEMU_FN int gpu_macs_form(const gpu_gemm_job *j)
{
    const int form = j->carrier == 32 ? j->fast.in32.inner.form : j->fast.in64.inner.form;
    const int common = form == CORE_DOT_NATIVE || form == CORE_DOT_NEAREST || form == CORE_DOT_FULL_RANGE;
    return j->rule.product.given || (j->rule.model == FPEMU_MODEL_KAHAN && !common) ? CORE_DOT_ANY : form;
}

/* ------------------------------------------------------------------------------------------------ tensor cores
 * By core_fused, in tiles as above, its states in binary32. */

/* Products of a slab at most: whole steps. */
#define GPU_FUSED_DEEP 32

typedef struct GPU_ALIGNED gpu_fused_tile {
    uint32_t a[GPU_FUSED_DEEP][GPU_WIDE + 4], b[GPU_FUSED_DEEP][GPU_WIDE + 4];
    int32_t word_a[GPU_FUSED_DEEP][GPU_WIDE + 4], word_b[GPU_FUSED_DEEP][GPU_WIDE + 4];
    uint64_t special; /* the slab after which an operand was no number */
} gpu_fused_tile;

FPEMU_FN float gpu_operand_at(const gpu_gemm_job *j, const gpu_operand *s, int64_t at)
{
    return j->rule.wide ? (float)((const double *)s->p)[at] : ((const float *)s->p)[at];
}

FPEMU_FN void gpu_fused_fill(const gpu_gemm_job *j, const gpu_operand *s, uint64_t batch, uint64_t first, uint64_t rows,
                             uint64_t from, uint32_t n, int bits, int least, int lift, uint32_t (*to)[GPU_WIDE + 4],
                             int32_t (*word)[GPU_WIDE + 4], uint64_t *special)
{
    const int along = s->step_k == 1 || s->step_k == -1;
    const int64_t begin = (int64_t)batch * s->stride + (int64_t)first * s->step + (int64_t)from * s->step_k;
    FOR_THREADS(t) UNROLLED
        for (uint32_t i = 0; i < GPU_WIDE * GPU_FUSED_DEEP / THREADS; i++) {
            const uint32_t place = i * THREADS + t;
            const uint32_t row = along ? place / GPU_FUSED_DEEP : place % GPU_WIDE;
            const uint32_t k = along ? place % GPU_FUSED_DEEP : place / GPU_WIDE;
            float x = 0;
            if (first + row < rows && k < n)
                x = gpu_operand_at(j, s, begin + (int64_t)row * s->step + (int64_t)k * s->step_k);
            if (core_is_special(x))
                *special = from + 1;
            word[k][row] = core_fused_word(x, bits, least, lift, &to[k][row]);
        }
}

/* A step of a thread's outputs: its products [k, k + n) of the tile. long_sum: 32 bits do not hold their sum. */
FPEMU_FN void gpu_fused_step(const core_fused *g, int long_sum, const gpu_fused_tile *tile, unsigned t, uint32_t k,
                             uint32_t n, float d[GPU_SQUARE])
{
    const unsigned row = t / GPU_SIDE * GPU_EACH, column = t % GPU_SIDE * GPU_EACH;
    int32_t top[GPU_SQUARE], sum[GPU_SQUARE];
    int64_t all[GPU_SQUARE];
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
        const int32_t power = core_fused_power(g, d[i]);
        top[i] = (power < g->floor ? g->floor : power) * 65536;
        sum[i] = 0;
        all[i] = 0;
    }
    for (uint32_t l = k; l < k + n; l++) {
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
            const int32_t power = tile->word_a[l][row + i / GPU_EACH] + tile->word_b[l][column + i % GPU_EACH];
            top[i] = power > top[i] ? power : top[i];
        }
    }
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        top[i] >>= 16;
    for (uint32_t l = k; l < k + n; l++) {
        uint32_t x[GPU_EACH], y[GPU_EACH];
        int32_t power_x[GPU_EACH], power_y[GPU_EACH], sign_x[GPU_EACH], sign_y[GPU_EACH];
        UNROLLED for (unsigned i = 0; i < GPU_EACH; i++) {
            x[i] = tile->a[l][row + i];
            y[i] = tile->b[l][column + i];
            power_x[i] = (tile->word_a[l][row + i] >> 16) - g->drop;
            power_y[i] = tile->word_b[l][column + i] >> 16;
            sign_x[i] = 1 - 2 * (tile->word_a[l][row + i] & 1);
            sign_y[i] = 1 - 2 * (tile->word_b[l][column + i] & 1);
        }
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
            const unsigned r = i / GPU_EACH, c = i % GPU_EACH;
            const uint32_t kept = core_shift_down(x[r] * y[c], (uint32_t)(top[i] - power_x[r] - power_y[c]));
            sum[i] += (int32_t)kept * (sign_x[r] * sign_y[c]);
        }
        if (long_sum && (l - k) % 16 == 15) UNROLLED
            for (unsigned i = 0; i < GPU_SQUARE; i++) {
                all[i] += sum[i];
                sum[i] = 0;
            }
    }
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        d[i] = core_fused_result(g, long_sum ? all[i] + sum[i] : sum[i], top[i], d[i]);
}

/* The same of one output, where operands are infinite or NaN. */
FPEMU_SLOW float gpu_fused_special(const gpu_gemm_job *j, uint64_t batch, uint64_t row, uint64_t column, uint64_t k,
                                   uint64_t n, float d)
{
    core_dot_line a = gpu_line(j, &j->a, batch, row), b = gpu_line(j, &j->b, batch, column);
    return (float)core_dot_fused_step(&j->rule, a, b, 0, k, k + n, (double)d, NULL);
}

/* Products [from, from + n) of a thread's outputs. */
FPEMU_FN void gpu_fused_slab(const gpu_gemm_job *j, int long_sum, int chunked, const gpu_fused_tile *tile,
                             const gpu_outputs *o, unsigned t, uint64_t from, uint32_t n, gpu_mac_sums32 *w)
{
    const core_dot *const p = &j->rule;
    for (uint32_t k = 0; k < n; k += p->block) {
        const uint32_t step = n - k < p->block ? n - k : p->block;
        if (tile->special == from + 1) {
            UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
                if (gpu_output_is_inside(j, o, i))
                    w->s[i] = gpu_fused_special(j, o->batch, o->row + i / GPU_EACH, o->column + i % GPU_EACH, from + k,
                                                step, w->s[i]);
        } else {
            gpu_fused_step(&j->fast.fused.step, long_sum, tile, t, k, step, w->s);
        }
        if (!chunked)
            continue;
        w->left -= step;
        if (w->left == 0 || from + k + step == p->depth) {
            gpu_mac_join32(j, &j->fast.fused.outer, o, (from + k) / p->chunk, w);
            w->left = p->chunk;
        }
    }
}

/* Whether sums of a step's products are longer than 32 bits. */
FPEMU_FN int gpu_fused_is_long(const gpu_gemm_job *j)
{
    return (uint64_t)j->rule.block << (j->fast.fused.step.fraction + 2) > UINT64_C(1) << 31;
}

FPEMU_FN void gpu_fused(const gpu_gemm_job *j, int long_sum, int chunked, gpu_fused_tile *tile, uint64_t block,
                        uint64_t blocks)
{
    const uint64_t across = (j->n + GPU_WIDE - 1) / GPU_WIDE, down = (j->m + GPU_WIDE - 1) / GPU_WIDE;
    const core_dot *const p = &j->rule;
    const core_fused *const g = &j->fast.fused.step;
    const uint32_t slab = GPU_FUSED_DEEP / p->block * p->block;
    for (uint64_t b = block; b < across * down * j->batch; b += blocks) {
        gpu_mac_sums32 sums[HELD];
        gpu_outputs outputs[HELD];
        const uint64_t left = b % across * GPU_WIDE, top = b / across % down * GPU_WIDE, batch = b / across / down;
        FOR_THREADS(t) {
            gpu_mac_begin32(j, chunked, batch, top, left, t, &OF(outputs, t), &OF(sums, t));
            if (t == 0)
                tile->special = 0;
        }
        threads_meet();
        for (uint64_t k = 0; k < p->depth; k += slab) {
            const uint32_t n = (uint32_t)core_smaller(slab, p->depth - k);
            gpu_fused_fill(j, &j->a, batch, top, j->m, k, n, g->bits_a, g->least_a, g->lift, tile->a, tile->word_a,
                           &tile->special);
            gpu_fused_fill(j, &j->b, batch, left, j->n, k, n, g->bits_b, g->least_b, 0, tile->b, tile->word_b,
                           &tile->special);
            threads_meet();
            FOR_THREADS(t)
                gpu_fused_slab(j, long_sum, chunked, tile, &OF(outputs, t), t, k, n, &OF(sums, t));
            threads_meet();
        }
        FOR_THREADS(t)
            gpu_mac_end32(j, chunked, &OF(outputs, t), &OF(sums, t));
    }
}

/* ---------------------------------------------------------------------------------------------------- integers
 * Sums of core_dot_integer in 32 bits, where they hold a sum and the next product. */

#define GPU_WHOLE_DEEP 32

typedef struct GPU_ALIGNED gpu_whole_tile {
    int32_t a[GPU_WHOLE_DEEP][GPU_WIDE + 4], b[GPU_WHOLE_DEEP][GPU_WIDE + 4];
    uint8_t nan_a[GPU_WIDE], nan_b[GPU_WIDE]; /* rows and columns with a NaN */
} gpu_whole_tile;

typedef struct gpu_whole_sums {
    int32_t sum[GPU_SQUARE];
} gpu_whole_sums;

FPEMU_FN void gpu_whole_fill(const gpu_gemm_job *j, const gpu_operand *s, uint64_t batch, uint64_t first, uint64_t rows,
                             uint64_t from, uint32_t n, int quantum, int32_t (*to)[GPU_WIDE + 4], uint8_t *nan)
{
    const int along = s->step_k == 1 || s->step_k == -1;
    const int64_t begin = (int64_t)batch * s->stride + (int64_t)first * s->step + (int64_t)from * s->step_k;
    const core_dot_unit unit = core_dot_unit_of(quantum);
    FOR_THREADS(t) UNROLLED
        for (uint32_t i = 0; i < GPU_WIDE * GPU_WHOLE_DEEP / THREADS; i++) {
            const uint32_t place = i * THREADS + t;
            const uint32_t row = along ? place / GPU_WHOLE_DEEP : place % GPU_WIDE;
            const uint32_t k = along ? place % GPU_WHOLE_DEEP : place / GPU_WIDE;
            double x = 0;
            if (first + row < rows && k < n) {
                const int64_t at = begin + (int64_t)row * s->step + (int64_t)k * s->step_k;
                x = j->rule.wide ? ((const double *)s->p)[at] : (double)((const float *)s->p)[at];
            }
            if (x != x)
                nan[row] = 1;
            /* its integer in the last bits of a number that counts ones */
            to[k][row] = x == x ? (int32_t)(uint32_t)core_bits64(x * unit.low * unit.high + 6755399441055744.0) : 0;
        }
}

/* The sum as number of the result. */
FPEMU_SLOW double gpu_whole_result(const gpu_gemm_job *j, uint64_t index, double c, int64_t whole, int nan)
{
    core_dot_sum w;
    memset(&w, 0, sizeof w);
    w.whole = whole;
    w.nan = nan;
    return core_dot_end(&j->rule, index, c, &w, NULL);
}

FPEMU_FN void gpu_whole_end(const gpu_gemm_job *j, const gpu_outputs *o, unsigned i, int32_t sum, int nan)
{
    const core_dot *const p = &j->rule;
    if (!gpu_output_is_inside(j, o, i))
        return;
    const int64_t at = gpu_output_place(j, o, i);
    if (p->wrap) { /* bits above the width are the highest of it */
        const uint32_t above = 32 - (uint32_t)p->width;
        sum = (int32_t)((uint32_t)sum << above) >> above;
    }
    double y;
    if (!p->plain) {
        y = gpu_whole_result(j, gpu_output_index(j, o, i), gpu_gemm_old(j, at), sum, nan);
    } else {
        const core_dot_unit unit = core_dot_unit_of(-p->quantum_a - p->quantum_b);
        y = nan ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : (double)sum * unit.low * unit.high;
    }
    gpu_gemm_store(j, at, y);
}

/* ends: whether a sum may come to those of its width. */
FPEMU_FN void gpu_whole(const gpu_gemm_job *j, int ends, gpu_whole_tile *tile, uint64_t block, uint64_t blocks)
{
    const uint64_t across = (j->n + GPU_WIDE - 1) / GPU_WIDE, down = (j->m + GPU_WIDE - 1) / GPU_WIDE;
    const core_dot *const p = &j->rule;
    const int32_t most = (int32_t)((UINT64_C(1) << (ends ? p->width - 1 : 31)) - 1), least = -most - 1;
    for (uint64_t b = block; b < across * down * j->batch; b += blocks) {
        gpu_whole_sums sums[HELD];
        const uint64_t left = b % across * GPU_WIDE, top = b / across % down * GPU_WIDE, batch = b / across / down;
        FOR_THREADS(t) {
            UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
                OF(sums, t).sum[i] = 0;
            if (t < GPU_WIDE)
                tile->nan_a[t] = tile->nan_b[t] = 0;
        }
        threads_meet();
        for (uint64_t from = 0; from < p->depth; from += GPU_WHOLE_DEEP) {
            const uint32_t n = (uint32_t)core_smaller(GPU_WHOLE_DEEP, p->depth - from);
            gpu_whole_fill(j, &j->a, batch, top, j->m, from, n, p->quantum_a, tile->a, tile->nan_a);
            gpu_whole_fill(j, &j->b, batch, left, j->n, from, n, p->quantum_b, tile->b, tile->nan_b);
            threads_meet();
            FOR_THREADS(t)
                for (uint32_t k = 0; k < GPU_WHOLE_DEEP; k++) { /* zeros behind the last product */
                    const int32_t *const x = &tile->a[k][t / GPU_SIDE * GPU_EACH];
                    const int32_t *const y = &tile->b[k][t % GPU_SIDE * GPU_EACH];
                    int32_t *const sum = OF(sums, t).sum;
                    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
                        const int32_t z =
                            (int32_t)((uint32_t)x[i / GPU_EACH] * (uint32_t)y[i % GPU_EACH] + (uint32_t)sum[i]);
                        const int32_t above = z < least ? least : z;
                        sum[i] = !ends ? z : above > most ? most : above;
                    }
                }
            threads_meet();
        }
        FOR_THREADS(t) UNROLLED
            for (unsigned i = 0; i < GPU_SQUARE; i++) {
                const unsigned row = t / GPU_SIDE * GPU_EACH, column = t % GPU_SIDE * GPU_EACH;
                const gpu_outputs o = {batch, top + row, left + column};
                gpu_whole_end(j, &o, i, OF(sums, t).sum[i],
                              tile->nan_a[row + i / GPU_EACH] | tile->nan_b[column + i % GPU_EACH]);
            }
        threads_meet();
    }
}

#endif /* FPEMU_GPU_GEMM_H */
