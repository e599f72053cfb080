/* gemm_tile.c - tiles of rows by lanes: operands gathered and rounded, slab after slab; results; threads. */
#include "call.h"
#include "array/threads.h"

/* Threads start from this many multiplications a thread on. */
#define PRODUCTS_PER_THREAD 131072

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
    const char *p = (const char *)s->p +
                    ((ptrdiff_t)(s->stride * w->batch) + (ptrdiff_t)first * s->step_o + (ptrdiff_t)l0 * s->step_k) *
                        (ptrdiff_t)size;
    const size_t out_line = along_k ? out_o : out_l, out_step = along_k ? out_l : out_o;
    const int in_place = is_narrow(j) && j->carrier == 32 && out_step == 1 && out_line == length;
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
        const int stochastic = s->target->rounding.mode >= FPEMU_MODE_SR;
        const size_t calls = stochastic ? lines : 1, each = stochastic ? length : lines * length;
        fpemu_rounding r = s->target->rounding;
        const uint64_t index =
            s->target->rounding.offset + s->index_batch * w->batch + s->index_o * first + s->index_k * l0;
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
        const float *f = j->carrier == 32 ? w->spare.f + line * length : NULL;
        const double *d = j->carrier == 32 ? NULL : w->spare.d + line * length;
        if (is_narrow(j)) {
            float *to = (float *)out + line * out_line;
            for (size_t i = 0; i < length; i++)
                to[i * out_step] = j->carrier == 32 ? f[i] : (float)d[i]; /* exactly */
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
                           (ptrdiff_t)(w->lane + i) * j->step_lane) *
                              size;
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
    fpemu_format_named(FPEMU_NAME_BINARY32, &binary32);
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_format *f = a->chunk ? &a->outer.format : a->model == FPEMU_MODEL_FUSED ? &binary32 : &a->inner.format;
    for (size_t r = 0; r < w->rows; r++) {
        double c[2 * DOT_LANES];
        for (size_t i = 0; i < w->lanes; i++)
            c[i] = load(j, output(w, r, i));
        fpemu_quantize_f64(f, &nearest, w->lanes, c, c, NULL);
        if (a->model == FPEMU_MODEL_PAIRWISE) {
            const terms leaf = {c, NULL, NULL, NULL, NULL, 0};
            fpemu_sum_leaf(w, (uint64_t)j->depth + 1, 0, leaf);
        } else if (is_narrow(j) && !a->chunk) {
            j->k->narrow(w->lanes, c, narrow(w, r));
        } else {
            memcpy(w->state.d + r * DOT_LANES, c, w->lanes * sizeof *c);
        }
    }
}

static double largest(const work *w, size_t n, const float *x)
{
    return (double)core_value32(w->j->k->largest(n, x));
}

/* Whether neither a product nor a sum of a row in nk products goes past the end of its format; the largest magnitudes
 * being x, y and s. A rounding adds at most a step, relative to the number or, below it, to the smallest normal one. */
static int stays_inside(const job *j, size_t nk, double x, double y, double s)
{
    const fpemu_format *p = &j->spec->product.format, *f = &j->spec->sum.inner.format;
    double product = x * y;
    if (j->product_form != MAC_NONE) {
        if (!(product <= (double)core_value32(j->product32.max[0])))
            return 0;
        product += step_of(p) * (product + core_value64(core_power64(p->emin)));
    }
    return j->growth * (s + (double)nk * (product + core_value64(core_power64(f->emin)))) <=
           (double)core_value32(j->inner32.max[0]);
}

/* The products of a slab, all rows. */
static void advance(work *w, size_t l0, size_t nk)
{
    const job *j = w->j;
    const kernels *k = j->k;
    const int test = j->way == WAY_BINARY32 && j->may_stay_inside, rounded = test && j->product_form != MAC_NONE;
    const double y_most = test ? largest(w, nk * w->lanes, w->y.f) : 0;
    for (size_t r = 0; r < w->rows; r++) {
        const float *x = w->x.f + r * SLAB_FEW;
        const double *wide = is_narrow(j) ? NULL : w->x.d + r * SLAB_FEW;
        float *s = narrow(w, r);
        switch (j->way) {
        case WAY_NATIVE32: k->mac_binary32(nk, w->lanes, x, w->y.f, w->lanes, s); continue;
        case WAY_NATIVE64: k->mac_binary64(nk, w->lanes, wide, w->y.d, DOT_LANES, w->state.d + r * DOT_LANES); continue;
        case WAY_BINARY32:
            (test && stays_inside(j, nk, largest(w, nk, x), y_most, largest(w, w->lanes, s))
                 ? k->mac_inside[rounded]
                 : k->mac32[j->product_form][j->inner_form])(&j->product32, &j->inner32, nk, w->lanes, x, w->y.f,
                                                             w->lanes, s);
            continue;
        default: break;
        }
        switch (j->spec->sum.model) {
        case FPEMU_MODEL_PAIRWISE: fpemu_sum_pairwise(w, l0, nk, wide, w->y.d); break;
        case FPEMU_MODEL_KAHAN: fpemu_sum_kahan(w, r, l0, nk, wide, w->y.d); break;
        case FPEMU_MODEL_FUSED: fpemu_sum_fused(w, r, l0, nk, wide, w->y.d); break;
        case FPEMU_MODEL_INTEGER: fpemu_sum_integer(w, r, nk, wide, w->y.d); break;
        default: fpemu_sum_sequential(w, r, l0, nk, wide, w->y.d);
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
        fpemu_sum_chunk(w, r, k, t, sum, w->state.d + r * DOT_LANES);
        memset(chunk_sum, 0, w->lanes * sizeof *chunk_sum);
    }
}

/* out(alpha * s + beta * c) of row r, s having been found. */
static void finish(work *w, size_t r, const double *s)
{
    const job *j = w->j;
    const goal *g = &j->out;
    const int whole = j->spec->sum.model == FPEMU_MODEL_INTEGER && j->alpha != 0;
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
    const int few = a->model == FPEMU_MODEL_PAIRWISE || a->model == FPEMU_MODEL_FUSED;
    const size_t ld = few ? FEW : is_narrow(j) ? w->lanes : DOT_LANES;
    const size_t slab = a->model == FPEMU_MODEL_FUSED ? SLAB_FEW / a->block * a->block : few ? SLAB_FEW : SLAB;
    const size_t depth = j->alpha != 0 ? j->depth : 0;
    begin(w);
    for (size_t l = 0; l < depth;) {
        size_t nk = depth - l < slab ? depth - l : slab;
        if (j->way == WAY_BINARY32 && a->chunk && nk > a->chunk - l % a->chunk)
            nk = a->chunk - l % a->chunk;
        pack(w, &j->rows, w->row, w->rows, l, nk, SLAB_FEW, 1, &w->x);
        pack(w, &j->lanes, w->lane, w->lanes, l, nk, 1, ld, &w->y);
        if (a->model == FPEMU_MODEL_FUSED) {
            for (size_t i = 0; i < w->rows * SLAB_FEW; i++)
                w->powers_x[i] = i % SLAB_FEW < nk ? core_dot_power(w->x.d[i], j->rows.least) : 0;
            for (size_t i = 0; i < nk * ld; i++)
                w->spare.d[i] = i % ld < w->lanes ? core_dot_power(w->y.d[i], j->lanes.least) : 0;
        } else if (a->model == FPEMU_MODEL_INTEGER) {
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
        if (a->model == FPEMU_MODEL_PAIRWISE && depth + j->spec->start_from_c)
            fpemu_sum_pairwise_end(w, s);
        finish(w, r, s);
    }
}

/* All tiles, on as many threads as are worth it. Returns whether a NaN met the policy `error`. */
int fpemu_gemm_run(const job *j, fpemu_stats *stats)
{
    const uint32_t model = j->spec->sum.model;
    const size_t lanes = model == FPEMU_MODEL_PAIRWISE || model == FPEMU_MODEL_FUSED ? FEW
                         : is_narrow(j) && j->carrier == 32 && !j->spec->sum.chunk   ? 2 * DOT_LANES
                                                                                     : DOT_LANES;
    const size_t rows = model == FPEMU_MODEL_PAIRWISE ? 1 : lanes == 2 * DOT_LANES ? 2 * ROWS : ROWS;
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
