/* SPDX-License-Identifier: BSD-2-Clause */
/* tiles.c - products of matrices tile by tile, slab after slab, on threads. */
#include "tiles.h"

#include <math.h>

#include "array/threads.h"
#include "models.h"
#include "operands.h"

/* Threads start from this many multiplications a thread on, and each should have some tiles. */
#define PRODUCTS_PER_THREAD 131072
#define TILES_PER_THREAD 4

/* Output (row r, lane i) of the tile. */
static char *output(const gemm_tile *w, size_t r, size_t i)
{
    const gemm_call *c = w->call;
    const ptrdiff_t size = c->targets.carrier == 32 ? sizeof(float) : sizeof(double);
    return (char *)c->c + ((ptrdiff_t)(c->stride * w->batch) + (ptrdiff_t)(w->row + r) * c->step_row +
                           (ptrdiff_t)(w->lane + i) * c->step_lane) *
                              size;
}

/* What c holds there, where the call reads it. */
static double old_output(const gemm_tile *w, size_t r, size_t i)
{
    const core_dot *d = &w->call->targets.dot;
    return d->beta != 0 || d->start_from_c ? load(w->call->targets.carrier, output(w, r, i)) : 0;
}

/* Sums in binary32 of a row; where chunks have wide ones, those come first. */
static float *narrow_sums(gemm_tile *w, size_t r)
{
    return w->state.f + 2 * (r * w->call->row_states + (w->call->targets.dot.chunk ? DOT_LANES : 0));
}

/* Sums at +0, or c rounded to the format that holds it. */
static void begin_row(gemm_tile *w, size_t r)
{
    const gemm_call *call = w->call;
    const core_dot *d = &call->targets.dot;
    double c[2 * DOT_LANES];
    if (call->path == PATH_REFERENCE) {
        for (size_t i = 0; i < w->lanes; i++)
            fpemu_reference_begin(w, r, i, old_output(w, r, i));
        return;
    }
    if (d->model != FPEMU_MODEL_PAIRWISE)
        memset(sums_of(w, r), 0, call->row_states * sizeof(double));
    if (!d->start_from_c)
        return;
    for (size_t i = 0; i < w->lanes; i++) {
        core_dot_sum sum;
        core_dot_begin(d, old_output(w, r, i), &sum);
        c[i] = sum.s;
    }
    if (d->model == FPEMU_MODEL_PAIRWISE) {
        const dot_terms leaf = {.v = c};
        fpemu_fast_leaf(w, r, 0, leaf);
    } else if (is_narrow(call) && !d->chunk) {
        call->k->narrow(w->lanes, c, narrow_sums(w, r));
    } else {
        memcpy(sums_of(w, r), c, w->lanes * sizeof *c);
    }
}

static double largest(const gemm_call *c, size_t n, const float *x)
{
    return (double)core_value32(c->k->largest(n, x));
}

/* Whether neither a product nor a sum of a row in nk products goes past the end of its format; the largest magnitudes
 * being x, y and s. A rounding adds at most a step, relative to the number or, below it, to the smallest normal one. */
static int stays_inside(const gemm_call *c, size_t nk, double x, double y, double s)
{
    const fpemu_format *p = &c->targets.spec->product.format, *f = &c->targets.spec->sum.inner.format;
    double product = x * y;
    if (c->product_form != MAC_NONE) {
        if (!(product <= (double)core_value32(c->product32.max[0])))
            return 0;
        product += step_of(p) * (product + core_value64(core_power64(p->emin)));
    }
    return c->growth * (s + (double)nk * (product + core_value64(core_power64(f->emin)))) <=
           (double)core_value32(c->inner32.max[0]);
}

/* The products of a slab for rows [row, row + rows) of the tile, whose numbers x has. most: the largest number of y, or
 * fused, product, where it is asked for. */
static void advance_rows(gemm_tile *w, size_t row, size_t rows, size_t k0, size_t nk, double most)
{
    const gemm_call *c = w->call;
    const kernels *k = c->k;
    if (c->path == PATH_REFERENCE) {
        fpemu_reference_advance(w, row, rows, k0, nk);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        const size_t r = row + i;
        const float *x = c->paired ? w->y.f + OPERANDS : w->x.f + i * SLAB_FEW;
        const double *wide = is_narrow(c) ? NULL : c->paired ? w->y.d + OPERANDS / 2 : w->x.d + i * SLAB_FEW;
        float *s = is_narrow(c) ? narrow_sums(w, r) : NULL;
        switch (c->path) {
        case PATH_NATIVE32:
            if (c->targets.dot.chained)
                fpemu_fast_chained(w, nk, x, s);
            else
                k->mac_binary32(nk, w->lanes, x, c->paired, w->y.f, w->ld, s);
            continue;
        case PATH_NATIVE64: k->mac_binary64(nk, w->lanes, wide, w->y.d, w->ld, sums_of(w, r)); continue;
        case PATH_INTEGER:
            if (c->high > 0) {
                k->mac_saturated(nk, w->lanes, wide, w->y.d, w->ld, c->low, c->high, sums_of(w, r));
            } else {
                k->mac_binary64(nk, w->lanes, wide, w->y.d, w->ld, sums_of(w, r));
                k->wrap(w->lanes, c->low, sums_of(w, r));
            }
            continue;
        case PATH_BINARY32:
            (c->may_stay_inside && stays_inside(c, nk, largest(c, nk, x), most, largest(c, w->lanes, s))
                 ? k->mac_inside[c->product_form != MAC_NONE]
                 : k->mac32[c->product_form][c->inner_form])(&c->product32, &c->inner32, nk, w->lanes, x, w->y.f, w->ld,
                                                             s);
            continue;
        default: break;
        }
        switch (c->targets.dot.model) {
        case FPEMU_MODEL_PAIRWISE: fpemu_fast_pairwise(w, r, k0, nk, wide, w->y.d); break;
        case FPEMU_MODEL_KAHAN: fpemu_fast_kahan(w, r, k0, nk, wide, w->y.d); break;
        case FPEMU_MODEL_FUSED:
            fpemu_fast_fused(w, r, k0, nk, wide, w->y.d,
                             c->paired ? w->spare.d + OPERANDS / 2 : w->powers_x + i * SLAB_FEW, w->spare.d, most);
            break;
        default: fpemu_fast_sequential(w, r, k0, nk, wide, w->y.d);
        }
    }
}

/* The products [k0, k0 + nk): op(B)'s are read and rounded once for all rows. */
static void advance(gemm_tile *w, size_t k0, size_t nk)
{
    const gemm_call *c = w->call;
    const size_t read = is_narrow(c) ? 2 * ROWS_READ : ROWS_READ;
    const int fused = c->path == PATH_FAST && c->targets.dot.model == FPEMU_MODEL_FUSED;
    fpemu_operand_read(w, &c->lanes, w->lane, w->lanes, k0, nk, 1, w->ld, &w->y, &w->spare);
    if (c->paired) /* the other half of the room, a slab being half as long */
        fpemu_operand_read(w, &c->rows, w->lane, w->lanes, k0, nk, 1, w->ld, w->y.d + OPERANDS / 2, &w->spare);
    double most = 0;
    if (fused) /* where the operands came in */
        most = fpemu_fast_powers(w, &c->lanes, 0, nk, w->lane, k0, nk, w->y.d, w->spare.d);
    else if (c->path == PATH_BINARY32 && c->may_stay_inside)
        most = largest(c, nk * w->lanes, w->y.f);
    for (size_t l = 0; l < nk && c->path == PATH_NATIVE32; l++) /* lanes that are none */
        memset(w->y.f + l * w->ld + w->lanes, 0, (w->ld - w->lanes) * sizeof(float));
    if (c->paired) {
        double *const x = w->y.d + OPERANDS / 2, *const powers = w->spare.d + OPERANDS / 2;
        const double x_most = fused ? fpemu_fast_powers(w, &c->rows, 0, nk, w->lane, k0, nk, x, powers) : 0;
        advance_rows(w, 0, 1, k0, nk, x_most * most);
        return;
    }
    for (size_t row = 0; row < w->rows; row += read) {
        const size_t rows = w->rows - row < read ? w->rows - row : read;
        double x_most = 1;
        fpemu_operand_read(w, &c->rows, w->row + row, rows, k0, nk, SLAB_FEW, 1, &w->x, w->powers_x);
        if (fused)
            x_most = fpemu_fast_powers(w, &c->rows, 1, rows, w->row + row, k0, nk, w->x.d, w->powers_x);
        advance_rows(w, row, rows, k0, nk, x_most * most);
    }
}

/* binary32 path: a chunk's sums, kept narrow, go into the wide ones. */
static void end_chunk(gemm_tile *w, size_t k)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    double sum[DOT_LANES];
    for (size_t r = 0; r < w->rows; r++) {
        float *chunk_sum = narrow_sums(w, r);
        const uint64_t past = k / d->chunk, t = ((uint64_t)k + 1) * (d->product.given + 1u) + past;
        c->k->widen(w->lanes, chunk_sum, sum);
        fpemu_fast_chunk(w, r, k, t, sum, sums_of(w, r));
        memset(chunk_sum, 0, w->lanes * sizeof *chunk_sum);
    }
}

/* The outputs of row r. */
static void end_row(gemm_tile *w, size_t r)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    const int carrier = c->targets.carrier;
    double wide[2 * DOT_LANES], *s = wide;
    if (c->path == PATH_REFERENCE) {
        for (size_t i = 0; i < w->lanes; i++)
            store(carrier, output(w, r, i), fpemu_reference_end(w, r, i, old_output(w, r, i)));
        return;
    }
    if (is_narrow(c) && !d->chunk)
        c->k->widen(w->lanes, narrow_sums(w, r), wide);
    else if (d->model == FPEMU_MODEL_PAIRWISE)
        fpemu_fast_root(w, r, wide);
    else
        s = sums_of(w, r);
    if (d->plain) { /* as core_dot_end has it, without the rest */
        char *to = output(w, r, 0);
        const ptrdiff_t step = c->step_lane * (carrier == 32 ? (ptrdiff_t)sizeof(float) : (ptrdiff_t)sizeof(double));
        for (size_t i = 0; i < w->lanes; i++, to += step)
            store(carrier, to, isnan(s[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : s[i]);
        return;
    }
    core_dot_sum sum;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < w->lanes; i++) {
        sum.s = s[i];
        sum.exponent = tile_exponent(w, r, i);
        store(carrier, output(w, r, i),
              core_dot_end(d, tile_index(w, r) + i, old_output(w, r, i), &sum, c->counted ? &w->tally : NULL));
    }
}

/* Of every row and lane, below which its integer slices lie. */
static void take_exponents(gemm_tile *w)
{
    const gemm_call *c = w->call;
    for (size_t i = 0; i < w->rows; i++)
        w->row_exponents[i] = (int16_t)fpemu_operand_exponent(w, &c->rows, w->row + i);
    for (size_t i = 0; i < w->lanes; i++)
        w->lane_exponents[i] = (int16_t)fpemu_operand_exponent(w, &c->lanes, w->lane + i);
}

static void run_tile(gemm_tile *w)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    const int few = c->tile_lanes == LANES_FEW, fused = d->model == FPEMU_MODEL_FUSED;
    const size_t whole = few ? SLAB_FEW : SLAB, most = whole >> c->paired, depth = (size_t)d->depth;
    const size_t slab = fused ? most / core_dot_period(d) * core_dot_period(d) : most;
    w->ld = is_narrow(c) && !d->chained ? w->lanes : c->tile_lanes;
    if (c->split.bits)
        take_exponents(w);
    for (size_t r = 0; r < w->rows; r++)
        begin_row(w, r);
    for (size_t k = 0; k < depth;) {
        size_t nk = depth - k < slab ? depth - k : slab;
        if (c->path == PATH_BINARY32 && d->chunk && nk > d->chunk - k % d->chunk)
            nk = (size_t)(d->chunk - k % d->chunk);
        advance(w, k, nk);
        k += nk;
        if (c->path == PATH_BINARY32 && core_dot_chunk_ends(d, k - 1))
            end_chunk(w, k - 1);
    }
    for (size_t r = 0; r < w->rows; r++)
        end_row(w, r);
}

/* The shape of a tile: as many rows as the stack holds sums of. */
static void choose_tile(gemm_call *c)
{
    const core_dot *d = &c->targets.dot;
    const int pairwise = d->model == FPEMU_MODEL_PAIRWISE;
    c->tile_lanes = DOT_LANES;
    if (c->path == PATH_REFERENCE) {
        c->tile_lanes = LANES_FEW;
        c->row_states = LANES_FEW * reference_size(c);
    } else if (c->path == PATH_BINARY32 && d->chunk) {
        c->row_states = DOT_LANES + DOT_LANES / 2;
    } else if (is_narrow(c)) {
        c->tile_lanes = d->chained ? LANES_FEW : c->targets.carrier == 32 ? 2 * DOT_LANES : DOT_LANES;
        c->row_states = c->tile_lanes / 2;
    } else if (pairwise) {
        c->tile_lanes = LANES_FEW;
        c->row_states = LANES_FEW * tree_levels(d);
    } else {
        c->tile_lanes = d->model == FPEMU_MODEL_FUSED ? LANES_FEW : DOT_LANES;
        c->row_states = c->tile_lanes * (has_second(d) ? 2 : 1);
    }
    const size_t fit = STATES / c->row_states;
    /* where an operand is only copied, sums that stay in the nearest cache are worth more */
    const size_t most = c->path == PATH_NATIVE32 && !c->lanes.target ? 2 * ROWS_READ : TILE_ROWS;
    c->tile_rows = fit < most ? fit : most;
}

/* Fewer rows, where threads would have no tiles else. */
static void share_rows(gemm_call *c, int threads)
{
    const double rows = (double)c->batch * (double)c->m * (double)((c->n - 1) / c->tile_lanes + 1);
    const double each = rows / ((double)threads * TILES_PER_THREAD);
    const size_t read = is_narrow(c) ? 2 * ROWS_READ : ROWS_READ;
    if (threads > 1 && each < (double)c->tile_rows) {
        const size_t whole = ((size_t)each / read + 1) * read;
        c->tile_rows = whole < c->tile_rows ? whole : c->tile_rows;
    }
}

/* Adds what a thread has counted. */
static APART void add_tally(fpemu_stats *stats, const core_dot_tally *tally)
{
    gathering g;
    fpemu_gather_begin(&g, 0, 64);
    fpemu_gather_tile(&g, 64, 0, 0, NULL, NULL, &tally->c);
    g.stats.count = tally->roundings;
    g.stats.swamped = tally->swamped;
    fpemu_gather_end(&g, 64, stats);
}

/* Tile number `tile` of tiles that lie `across` beside each other. */
static void run_tile_at(gemm_tile *w, size_t tile, size_t down, size_t across)
{
    const gemm_call *const c = w->call;
    w->batch = tile / (down * across);
    w->row = tile / across % down * c->tile_rows;
    w->lane = tile % across * c->tile_lanes;
    w->rows = c->m - w->row < c->tile_rows ? c->m - w->row : c->tile_rows;
    w->lanes = c->n - w->lane < c->tile_lanes ? c->n - w->lane : c->tile_lanes;
    run_tile(w);
}

/* The work of a thread: tiles that no other has taken; *next is the next of them. Whether a NaN is an error. */
static int run_tiles(const gemm_call *c, size_t *next, size_t tiles, size_t down, size_t across, fpemu_stats *stats)
{
    fp_environment environment;
    fpemu_environment_enter(&environment); /* a worker thread has its own */
    gemm_tile w;
    w.call = c;
    memset(&w.tally, 0, sizeof w.tally);
    for (size_t tile = 0;; run_tile_at(&w, tile, down, across)) {
#pragma omp atomic capture
        tile = (*next)++;
        if (tile >= tiles)
            break;
    }
    if (c->counted) {
#pragma omp critical(fpemu_gather)
        add_tally(stats, &w.tally);
    }
    fpemu_environment_leave(&environment);
    return w.tally.found_nan;
}

int fpemu_gemm_run(gemm_call *c, fpemu_stats *stats)
{
    choose_tile(c);
    const double products = (double)c->batch * (double)c->m * (double)c->n * (double)(c->targets.dot.depth + 1);
    const int threads = products < 2.0 * PRODUCTS_PER_THREAD ? 1 : fpemu_threads();
    share_rows(c, threads);
    const size_t down = (c->m - 1) / c->tile_rows + 1, across = (c->n - 1) / c->tile_lanes + 1;
    const size_t tiles = c->batch * down * across; /* no overflow: each tile has an output of its own in memory */
    size_t next = 0;
    int found_nan = 0;
    if (threads == 1 || tiles == 1) /* apart: entering a parallel region costs more than many a call */
        return run_tiles(c, &next, tiles, down, across, stats);
#pragma omp parallel num_threads(threads) reduction(| : found_nan)
    found_nan |= run_tiles(c, &next, tiles, down, across, stats);
    return found_nan;
}
