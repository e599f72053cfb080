/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.inc.c - many blocks at a time where they are neighbours; included by blocks.inc.c. Each function does
 * blocks up to the first that it has to leave to block_flush, which knows everything. */

/* Full runs from block v on that follow one another in memory; the first of them is at *p. */
static uint64_t block_runs_from(const core_walk *w, uint64_t v, uint64_t end, core_place *p)
{
    const uint64_t along = v - core_walk_quotient(v, w->across) * w->across;
    const uint64_t full = w->across - (w->across * w->tile_length != w->length); /* the last may be shorter */
    const uint64_t left = along < full ? full - along : 0;
    fpemu_walk_block(w, v, p);
    return left < end - v ? left : end - v;
}

/* ---------------------------------------------------------------------------- scales that are powers of two */

/* Adds n elements and their counts, c. They are of blocks of `length`, the first of them at `position` of its block;
 * or, without sums of errors, of any. */
static void block_gather(const block_job *j, uint64_t position, uint64_t length, size_t n, const realw *x,
                         const realw *y, tile_counts *c, gathering *g)
{
    for (size_t at = 0, m; at < n; at += m) {
        const uint64_t left = length - position;
        m = !(j->want & FPEMU_STATS_SUMS) || left > n - at ? n - at : (size_t)left;
        fpemu_gather_tile(g, CARRIER_BITS, position, m, x + at, y + at, c);
        position += m;
        if (position == length) {
            fpemu_gather_close(g);
            position = 0;
        }
        memset(c, 0, sizeof *c); /* they are all counted with the first */
    }
}

/* Whether loops draw the random bits of n elements from `index` on, in blocks of `length`, by *d. */
static int block_draws(const block_job *j, uint64_t index, size_t length, size_t n, core_draw *d)
{
    const fpemu_rounding *r = j->call->rounding;
    const uint64_t i = r->offset + index;
    const uint32_t bits = r->bits ? r->bits : 32, low = (uint32_t)i & (CORE_LEAD_WORDS - 1);
    if (CARRIER_BITS != 32 || !j->k->pow2_drawn32[0] || core_mode(r) != FPEMU_MODE_SR ||
        r->generator != FPEMU_GENERATOR_HASH || core_per_word((int)bits) != 0 || n > CORE_LEAD_WORDS - low ||
        (length == 1 && j->p->pow2.usable ? n : length) % 16)
        return 0;
    d->key = core_hash_keys(r->seed, r->stream, i >> 32);
    d->low = (uint32_t)i;
    d->lead = core_hash_lead(d->key, d->low);
    d->mask = ~UINT32_C(0) << (32 - bits);
    return 1;
}

/* The same: d, or NULL and they are in r, where any are asked for. */
static const core_draw *block_draw(const block_job *j, uint64_t index, size_t length, size_t n, core_draw *d,
                                   uint32_t *r)
{
    if (!j->p->stochastic)
        return NULL;
    if (block_draws(j, index, length, n, d))
        return d;
    fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
    return NULL;
}

/* `count` blocks in a row, of `length` elements by such bits, of one element by those in r. */
static void block_pow2_round(const block_job *j, const core_pow2_block *q, const core_draw *d, size_t length,
                             size_t count, const realw *x, const uintw *powers, const uint32_t *r, void *y)
{
#if CARRIER_BITS == 32
    if (d) {
        j->k->pow2_drawn32[q->fixed](q, d, length, count, x, powers, y);
        return;
    }
#else
    (void)d;
#endif
    assert(length == 1);
    j->k->loopsw->pow2[q->fixed][q->mode](q, count, x, powers, r, y);
}

/* n elements from `index` on, each with its own scale. They are of blocks of `length`, the first of them at `position`
 * of its block; or, without sums of errors, of any. */
static void block_pow2_elements(const block_job *j, uint64_t index, size_t n, const uintw *powers, uint64_t position,
                                uint64_t length, const realw *x, realw *y, gathering *g)
{
    const core_pow2_block *q = &j->p->pow2;
    _Alignas(LINE) realw held[POW2_TILE];
    _Alignas(LINE) uintw grid[POW2_TILE];
    _Alignas(LINE) uint32_t r[POW2_TILE];
    core_draw draw;
    const core_draw *const d = block_draw(j, index, 1, n, &draw, r);
    if (!g) {
        block_pow2_round(j, q, d, 1, n, x, powers, r, y);
        return;
    }
    core_pow2_block open = *q;           /* without ends, as core_plan_unbounded */
    realw *const to = x == y ? held : y; /* counting reads x once more when y is made */
    tile_counts c;
    c.max_error = g->stats.max_error;
    open.max = open.lowest = q->past;
    block_pow2_round(j, &open, d, 1, n, x, powers, r, grid);
    j->k->loopsw->pow2_count[q->fixed](q, n, x, grid, powers, to, &c);
    block_gather(j, position, length, n, x, to, &c, g);
    if (to != y)
        memcpy(y, to, n * sizeof *y);
}

/* Counts blocks of finite elements. */
static void block_count_scales(const block_job *j, size_t count, const uintw *amax, uint64_t saturated, gathering *g)
{
    block_extremes all;
    j->k->loopsw->extremes(count, amax, &all);
    g->stats.blocks += count;
    g->stats.zero_blocks += all.zeros;
    g->stats.saturated_scales += saturated;
    for (size_t b = 0; b < count && (j->want & FPEMU_STATS_SCALES); b++) {
        const core_extremes e = {amax[b], 0, 0, 0, 0};
        core_scale s;
        core_scale_find(j->block, &e, &s);
        if (s.counted)
            count_scale(&j->call->stats->request, s.exponent);
    }
}

/* Full runs in a row. */
static APART uint64_t block_pow2_runs(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y,
                                      gathering *g)
{
    const core_pow2_block *q = &j->p->pow2;
    const size_t length = (size_t)j->walk.tile_length;
    const int rows = q->mode == FPEMU_MODE_RNE && !g;
    const size_t most = rows ? 2 * POW2_TILE : POW2_TILE, fit = length < most ? most / length : 1;
    const size_t full = fit < POW2_BLOCKS ? fit : POW2_BLOCKS;
    _Alignas(LINE) uintw amax[POW2_BLOCKS], powers[POW2_BLOCKS], spread[POW2_TILE];
    core_draw draw;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t count = j->k->loopsw->pow2_powers(q, wanted, amax, powers), n = count * length;
        if (rows)
            j->k->loopsw->pow2_rows[q->fixed](q, length, count, x, powers, y);
        else if (!g && j->p->stochastic && block_draws(j, index, length, n, &draw))
            block_pow2_round(j, q, &draw, length, count, x, powers, NULL, y);
        else
            for (size_t at = 0, m; at < n; at += m) {
                m = n - at < POW2_TILE ? n - at : POW2_TILE;
                if (length < POW2_TILE)
                    j->k->loopsw->pow2_spread(length, count, powers, spread);
                else
                    j->k->loopsw->pow2_spread(m, 1, powers, spread);
                block_pow2_elements(j, index + at, m, spread, at % length, length, x + at, y + at, g);
            }
        if (g)
            block_count_scales(j, count, amax, 0, g);
        x += n;
        y += n;
        index += n;
        done += count;
        if (count < wanted)
            return done;
    }
    return blocks;
}

/* Runs side by side: where they are read and written, and how far it is to their next elements. */
typedef struct block_columns {
    const realw *x;
    realw *y;
    int64_t x_step, y_step;
} block_columns;

/* How many of `lanes` runs are taken at a time. */
static uint64_t block_lanes(const block_job *j, uint64_t lanes, uint64_t elements)
{
    const uint64_t most = block_in_place(j) ? POW2_LANES : WORDS_TILE / elements;
    lanes = lanes < POW2_LANES ? lanes : POW2_LANES;
    return lanes < most ? lanes : most;
}

/* Those at *p; words lie in `tile`, of WORDS_TILE numbers, meanwhile. */
static block_columns block_columns_begin(const block_job *j, const core_place *p, uint64_t lanes, realw *tile)
{
    const core_walk *w = &j->walk;
    if (block_in_place(j))
        return (block_columns){j->x + p->x, j->y + p->y, w->x[3], w->y[3]};
    for (uint64_t k = 0; k < p->elements; k++)
        block_load(j, p->x + (int64_t)k * w->x[3], 1, (size_t)lanes, tile + k * lanes);
    return (block_columns){tile, tile, (int64_t)lanes, (int64_t)lanes};
}

/* The first `count` are done. */
static void block_columns_end(const block_job *j, const core_place *p, const block_columns *c, uint64_t count)
{
    for (uint64_t k = 0; k < p->elements && !block_in_place(j); k++)
        block_store(j, p->y + (int64_t)k * j->walk.y[3], 1, (size_t)count, c->y + (int64_t)k * c->y_step);
}

/* Columns: runs that are neighbours along the innermost axis, from the one visited as number v on. */
static APART uint64_t block_pow2_columns(const block_job *j, uint64_t v, uint64_t end, gathering *g)
{
    const core_walk *w = &j->walk;
    _Alignas(LINE) uintw amax[POW2_LANES], powers[POW2_LANES], spread[POW2_TILE];
    _Alignas(LINE) realw tile[ASIDE(WORDS_TILE)];
    for (uint64_t done = 0; done < end - v;) {
        const uint64_t left = end - v - done, lane = (v + done) % w->inner, beside = w->inner - lane;
        core_place p;
        fpemu_walk_block(w, core_walk_visited(w, v + done), &p);
        const uint64_t lanes = block_lanes(j, left < beside ? left : beside, p.elements);
        const block_columns c = block_columns_begin(j, &p, lanes, tile);
        j->k->loopsw->columns_amax((size_t)p.elements, (ptrdiff_t)c.x_step, (size_t)lanes, c.x, amax);
        const size_t count = j->k->loopsw->pow2_powers(&j->p->pow2, (size_t)lanes, amax, powers);
        if (count == 0)
            return done;
        /* several rows at a time where they follow one another without a gap */
        const int dense = count == w->inner && c.x_step == (int64_t)count && c.y_step == (int64_t)count;
        const uint64_t most = dense ? POW2_TILE / count : 1, rows = p.elements < most ? p.elements : most;
        for (uint64_t k = 0; k < rows; k++)
            memcpy(spread + k * count, powers, count * sizeof *powers);
        for (uint64_t k = 0, m; k < p.elements; k += m) {
            m = p.elements - k < rows ? p.elements - k : rows;
            block_pow2_elements(j, p.first + k * w->inner, (size_t)m * count, spread, 0, UINT64_MAX,
                                c.x + (int64_t)k * c.x_step, c.y + (int64_t)k * c.y_step, g);
        }
        block_columns_end(j, &p, &c, count);
        if (g)
            block_count_scales(j, count, amax, 0, g);
        done += count;
        if (count < lanes)
            return done;
    }
    return end - v;
}

/* ------------------------------------------------------------------------------------------ other scales */

/* Scales of some blocks, ready for their elements. */
typedef struct block_scales {
    realw down[POW2_LANES], s[POW2_LANES], second; /* divisors or multipliers, and factors; fast: inverse divisors */
    int divide, fast;                              /* fast: what runs_fast gave */
    uint64_t saturated;                            /* how many were cut to an end of the scale format, if counted */
    uintw high[POW2_LANES], over[POW2_LANES], low[POW2_LANES]; /* what runs_limits gave */
    uintw most;                                                /* the largest magnitude */
    int limits;                                                /* whether they are there */
} block_scales;

static void block_try_fast(const block_job *j, size_t count, const uintw *amax, block_scales *s)
{
    s->fast = 0;
    if (count && j->fast[s->divide] && (j->counted || j->walk.total > FEW_ELEMENTS))
        s->fast =
            j->k->loopsw->runs_fast(&j->element.p->plan, j->block, s->divide, count, amax, s->s, s->second, s->down);
}

/* How many of the scales v, not yet taken to their format, will be cut to one of its ends: the reference says so of
 * those that may be. */
static uint64_t block_saturated(const block_job *j, size_t count, const uintw *amax, const realw *v)
{
    const core_block *b = j->block;
    const realw ao = b->rule == FPEMU_SCALING_NVFP4_AO ? b->scale_normal : 0, least = b->no_zero ? b->scale_min : 0;
    const uintw half = b->same ? 0 : ((uintw)1 << b->scale_plan.d_norm) >> 1; /* of the last step */
    const realw low = ao > least ? ao : least;
    const realw high = core_value(b->same ? CARRIER_INF : b->scale_plan.max[0] + half);
    uint64_t saturated = 0;
    uintw most;
    j->k->loopsw->runs_amax(count, 1, v, &most);
    if (low == 0 && core_value(most) < high)
        return 0;
    for (size_t i = 0; i < count; i++)
        if ((v[i] >= high || v[i] < low) && amax[i]) {
            const core_extremes e = {amax[i], 0, 0, 0, 0};
            core_scale s;
            core_scale_find(b, &e, &s);
            saturated += s.saturated;
        }
    return saturated;
}

/* Scales of `wanted` blocks: how many, up to the first that is of another kind. */
static size_t block_tile_scales(const block_job *j, size_t wanted, const uintw *amax, block_scales *s)
{
    size_t count = 0;
    s->saturated = 0;
    const int at_once = j->hold_many && !j->block->same && j->block->rule == FPEMU_SCALING_NVFP4 && !j->counted &&
                        j->p->hold.rule == CORE_RULE_SHIFTER_STOP;
    if (at_once && j->k->loopsw->runs_nvfp4(&j->p->hold, j->block, wanted, amax, s->s, s->down)) {
        s->divide = 0;
        s->second = (realw)j->block->tensor.b;
        count = wanted;
    } else if (j->hold_many && j->k->loopsw->runs_scales(j->block, wanted, amax, s->s)) {
        if (j->counted)
            s->saturated = block_saturated(j, wanted, amax, s->s);
        const int before = j->block->rule == FPEMU_SCALING_RECIPROCAL; /* elements take what is not yet rounded */
        if (before)
            j->k->loopsw->runs_down(j->block, wanted, s->s, s->down);
        if (!j->block->same)
            j->k->loopsw->round[j->p->hold.rule][FPEMU_MODE_RNE](&j->p->hold, wanted, s->s, NULL, s->s);
        if (!before)
            j->k->loopsw->runs_down(j->block, wanted, s->s, s->down);
        if (before) {
#ifdef _OPENMP
#pragma omp simd
#endif
            for (size_t b = 0; b < wanted; b++)
                s->down[b] = s->s[b] > 0 ? s->down[b] : 0;
        }
        s->divide = j->block->rule == FPEMU_SCALING_ABSMAX;
        s->second = s->divide || before ? 1 : (realw)j->block->tensor.b;
        count = wanted;
    }
    while (count < wanted && amax[count] < CARRIER_INF) {
        const core_extremes e = {amax[count], 0, 0, 0, 0};
        core_scale scale;
        core_scale_find(j->block, &e, &scale);
        const int divides = scale.kind == CORE_SCALE_DIVIDE;
        if ((scale.kind != CORE_SCALE_MULTIPLY && !divides) || (count && divides != s->divide))
            break;
        s->divide = divides;
        s->second = scale.d;
        s->saturated += scale.saturated;
        s->down[count] = scale.down;
        s->s[count++] = scale.s;
    }
    block_try_fast(j, count, amax, s);
    return count;
}

/* t, P and y at once, of `count` blocks of `length` elements; the scales are those from `first` on. By random bits as
 * block_draw gave them. */
static void block_fused_elements(const block_job *j, const block_scales *s, size_t first, size_t length, size_t count,
                                 const realw *x, const core_draw *d, const uint32_t *r, realw *y)
{
    const core_plan *p = &j->element.p->plan;
    const int even = p->rule == CORE_RULE_EVEN;
    const realw *const down = s->down + first, *const scales = s->s + first;
#if CARRIER_BITS == 32
    if (d) {
        j->k->scaled_drawn[even][s->divide](p, d, length, count, down, scales, s->second, x, y);
        return;
    }
#else
    (void)d;
#endif
    if (s->fast)
        j->k->loopsw->scaled_fast[s->fast - 1][even][s->divide](p, length, count, down, scales, s->second, x, y);
    else
        j->k->loopsw->scaled[even][s->divide][p->mode == FPEMU_MODE_SR](p, length, count, down, scales, s->second, x, r,
                                                                        y);
}

/* Whether block_counted_elements does `count` blocks with these scales: to nearest it makes quotients as the fast form
 * does. */
static int block_try_counting(const block_job *j, size_t count, const uintw *amax, block_scales *s)
{
    block_extremes e;
    j->k->loopsw->extremes(count, amax, &e);
    s->most = (uintw)e.amax;
    s->limits = s->fast && j->k->loopsw->runs_limits(&j->element.p->plan, s->fast == 2, s->divide, count, amax, s->s,
                                                     s->second, s->down, s->high, s->over, s->low);
    return !s->divide || j->p->stochastic || s->fast;
}

/* The same of at most TILE elements from `index` on, and their counters; the first lies at `position` of its block, of
 * `whole` elements, as block_gather has it. */
static void block_counted_elements(const block_job *j, const block_scales *s, size_t first, uint64_t index,
                                   size_t length, size_t count, uint64_t position, uint64_t whole, const realw *x,
                                   realw *y, gathering *g)
{
    const core_plan *p = &j->element.p->plan;
    const int even = p->rule == CORE_RULE_EVEN;
    const size_t n = length * count;
    _Alignas(LINE) realw held[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    realw *const to = x == y ? held : y; /* counting reads x once more when y is made */
    tile_counts c;
    c.max_error = g->stats.max_error;
    if (s->limits) {
        block_fused_elements(j, s, first, length, count, x, NULL, NULL, to);
        j->k->loopsw->count_limits[s->fast == 2 ? 1 + even : 0](length, count, x, to, s->high + first, s->over + first,
                                                                s->low + first, &c);
        c.max_abs = s->most;
    } else {
        if (j->p->stochastic)
            fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
        j->k->loopsw->count_scaled[even][s->divide][p->mode == FPEMU_MODE_SR](p, length, count, s->down + first,
                                                                              s->s + first, s->second, x, r, to, &c);
    }
    block_gather(j, position, whole, n, x, to, &c, g);
    if (to != y)
        memcpy(y, to, n * sizeof *y);
}

/* Whether the loops of tables do blocks of it at once: their scales are as they are found, so that no element lies
 * farther out than the values times its scale. */
static int block_table_is_quick(const block_job *j)
{
    return j->block->rule == FPEMU_SCALING_ABSMAX && j->block->same && j->element.p->is_table && j->element.search &&
           !j->call->sink;
}

/* Blocks of a table, with divisors; at most TILE elements where they take random bits. */
static void block_table_runs(const block_job *j, const realw *down, const realw *s, uint64_t index, size_t length,
                             size_t count, const realw *x, realw *y)
{
    _Alignas(LINE) uint32_t r[TILE];
    if (j->p->stochastic)
        fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, length * count, r);
    j->k->loopsw->codebook_runs(j->element.search, length, count, down, s, x, j->p->stochastic ? r : NULL, y);
}

/* How many of n elements that share a scale lie outside the table: by the numbers where quotients pass its ends, which
 * are near the products; or by the quotients. */
static uint64_t block_table_outside(const block_job *j, realw down, realw s, uintw amax, size_t n, const realw *x)
{
    const core_search *search = j->element.search;
    const realw low = search->values[0], high = search->values[CORE_SEARCH_VALUES], most = core_value(amax) / down;
    if (-most >= low && most <= high)
        return 0;
    realw last = high * s, first = low * s;
    if (core_bits(last) << 1 >> 1 < CARRIER_INF - 2 && core_bits(first) << 1 >> 1 < CARRIER_INF - 2 && last > 0) {
        last = last / down > high ? core_value(core_bits(last) - 1) : last;
        const realw more = core_value(core_bits(last) + 1);
        first = first < 0 && first / down < low ? core_value(core_bits(first) - 1) : first;
        const realw less = core_value(core_bits(first) + 1);
        if (first < 0 && last / down <= high && more / down > high && first / down >= low && less / down < low)
            return j->k->loopsw->count_outside(first, last, n, x);
    }
    uint64_t outside = 0;
    _Alignas(LINE) realw t[BLOCK_TILE];
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < BLOCK_TILE ? n - at : BLOCK_TILE;
        j->k->loopsw->runs_t(1, 0, m, 1, &down, x + at, t);
        outside += j->k->loopsw->codebook_outside(search, m, t, NULL);
    }
    return outside;
}

/* The counters of n elements and what a table made of them, but for those outside. */
static void block_table_seen(const block_job *j, size_t n, const realw *x, const realw *y, tile_counts *c)
{
    static const core_plan open = {.max = {~(uintw)0, ~(uintw)0}};
    const kernels *k = j->k;
    const int keeps_zero = j->call->format->has_zero; /* which the second takes for granted */
    if (!k->loopsw->count_nonzero(&open, n, x, y, 0, c) &&
        !(keeps_zero && k->loopsw->count_inside(&open, n, x, y, 0, c))) {
        uintw grid[TABLE_TILE];
        memset(grid, 0, n * sizeof *grid);
        k->loopsw->count(&open, n, x, y, grid, c);
    }
}

/* As block_counted_elements, of a table. */
static void block_counted_table(const block_job *j, const block_scales *s, const uintw *amax, size_t first,
                                uint64_t index, size_t length, size_t count, uint64_t position, uint64_t whole,
                                const realw *x, realw *y, gathering *g)
{
    const size_t n = length * count;
    _Alignas(LINE) realw held[TILE];
    realw *const to = x == y ? held : y;
    tile_counts c = {0};
    uint64_t outside = 0;
    block_table_runs(j, s->down + first, s->s + first, index, length, count, x, to);
    c.max_error = g->stats.max_error;
    block_table_seen(j, n, x, to, &c);
    for (size_t b = 0; b < count; b++)
        outside += block_table_outside(j, s->down[first + b], s->s[first + b], amax[first + b], length, x + b * length);
    c.clipped = c.overflow = outside;
    block_gather(j, position, whole, n, x, to, &c, g);
    if (to != y)
        memcpy(y, to, n * sizeof *y);
}

/* Full runs in a row, counted. */
static APART uint64_t block_count_tiles(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y,
                                        gathering *g)
{
    const size_t length = (size_t)j->walk.tile_length, fit = length < 4 * TILE ? 4 * TILE / length : 1;
    const int table = block_table_is_quick(j);
    const size_t most =
        table && !j->p->stochastic && x != y ? TABLE_TILE : TILE; /* else bits or results wait in a tile */
    const size_t full = fit < POW2_LANES ? fit : POW2_LANES, few = length < most ? most / length : 1;
    uintw amax[POW2_LANES];
    block_scales s;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t count = block_tile_scales(j, wanted, amax, &s), n = count * length;
        if (count == 0 || !(table ? s.divide && s.second == 1 : block_try_counting(j, count, amax, &s)))
            return done;
        for (size_t b = 0; b < count; b += few) /* some blocks, or piece by piece of one */
            for (size_t at = 0, m; at < length; at += m) {
                const size_t runs = count - b < few ? count - b : few, from = b * length + at;
                m = length < most || length - at < most ? length - at : most;
                if (table)
                    block_counted_table(j, &s, amax, b, index + from, m, runs, at, length, x + from, y + from, g);
                else
                    block_counted_elements(j, &s, b, index + from, m, runs, at, length, x + from, y + from, g);
            }
        block_count_scales(j, count, amax, s.saturated, g);
        x += n;
        y += n;
        index += n;
        done += count;
    }
    return blocks;
}

/* Whether block_run_tiles passes the caches by itself: where most scales let it make elements at once. */
static int block_streams_pieces(const block_job *j, const gathering *g)
{
    return j->stream && !g && !j->p->pow2.usable && (block_table_is_quick(j) || j->fast[0]);
}

/* `count` blocks that are made at once, past the caches by way of a tile: some of them, or a piece of one, while as many
 * elements of the blocks after them are asked for, of which there are `left`. Apart: callers would share its place on
 * the stack. */
static APART void block_stream_pieces(const block_job *j, const block_scales *s, size_t length, size_t count,
                                      uint64_t left, const realw *x, realw *y)
{
    const size_t n = length * count, few = length < STREAM_BLOCKS ? STREAM_BLOCKS / length : 1;
    _Alignas(LINE) realw tile[STREAM_BLOCKS];
    for (size_t b = 0; b < count; b += few)
        for (size_t at = 0, m; at < length; at += m) {
            const size_t runs = count - b < few ? count - b : few, from = b * length + at;
            m = length - at < STREAM_BLOCKS ? length - at : STREAM_BLOCKS;
            if (left >= from + m * runs)
                stream_ask(x + n + from, m * runs * sizeof *x);
            if (s->fast)
                block_fused_elements(j, s, b, m, runs, x + from, NULL, NULL, tile);
            else
                block_table_runs(j, s->down + b, s->s + b, 0, m, runs, x + from, tile);
            j->k->stream(y + from, tile, m * runs * sizeof *y);
        }
}

/* Full runs in a row, tile by tile: every step takes all blocks of a tile at once. */
static APART uint64_t block_run_tiles(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y)
{
    const size_t length = (size_t)j->walk.tile_length;
    const size_t fit = length < TILE ? TILE / length : 1, few = fit < POW2_LANES ? fit : POW2_LANES;
    const size_t fast = length < 4 * TILE ? 4 * TILE / length : 1;
    const int table = block_table_is_quick(j) && !(j->p->stochastic && length > TILE);
    core_draw draw;
    const int draws = j->fused && j->p->stochastic && block_draws(j, index, length, length, &draw);
    const size_t full = !(j->fast[0] || draws || (table && !j->p->stochastic)) || length == 1 ? few
                        : fast < POW2_LANES                                                   ? fast
                                                                                              : POW2_LANES;
    _Alignas(LINE) realw t[TILE], rounded[TILE];
    _Alignas(LINE) uintw grid[TILE], amax[POW2_LANES];
    block_scales s;
    int64_t q[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t known = block_tile_scales(j, wanted, amax, &s);
        if (known == 0)
            return done;
        const int drawn = draws && block_draws(j, index, length, known * length, &draw);
        const int at_once = s.fast || drawn || (table && s.divide && s.second == 1), count_all = at_once || known < few;
        const size_t count = count_all ? known : few, n = count * length;
        if (at_once && j->stream)
            block_stream_pieces(j, &s, length, count, (blocks - done - count) * length, x, y);
        else if (s.fast)
            block_fused_elements(j, &s, 0, length, count, x, NULL, NULL, y);
        else if (drawn)
            block_fused_elements(j, &s, 0, length, count, x, &draw, NULL, y);
        else if (at_once)
            block_table_runs(j, s.down, s.s, index, length, count, x, y);
        for (size_t at = 0, m; at < n && !at_once; at += m) {
            m = n - at < TILE ? n - at : TILE;
            const size_t run = length < TILE ? length : m, runs = length < TILE ? count : 1;
            if (j->fused) {
                const core_draw *const d = block_draw(j, index + at, run, m, &draw, r);
                block_fused_elements(j, &s, 0, run, runs, x + at, d, r, y + at);
            } else {
                if (j->p->stochastic)
                    fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index + at, m, r);
                j->k->loopsw->runs_t(s.divide, j->block->sticky, run, runs, s.down, x + at, t);
                block_element_run(&j->element, j->k, m, t, r, 0, grid, rounded, q);
                j->k->loopsw->runs_y(run, runs, s.s, s.second, rounded, y + at);
            }
        }
        x += n;
        y += n;
        index += n;
        done += count;
    }
    return blocks;
}

/* Columns, as block_pow2_columns. */
static APART uint64_t block_fused_columns(const block_job *j, uint64_t v, uint64_t end, gathering *g)
{
    const core_walk *w = &j->walk;
    block_scales s;
    uintw amax[POW2_LANES];
    uint32_t r[POW2_LANES];
    _Alignas(LINE) realw tile[ASIDE(WORDS_TILE)];
    for (uint64_t done = 0; done < end - v;) {
        const uint64_t left = end - v - done, beside = w->inner - (v + done) % w->inner;
        core_place p;
        fpemu_walk_block(w, core_walk_visited(w, v + done), &p);
        const uint64_t lanes = block_lanes(j, left < beside ? left : beside, p.elements);
        const block_columns c = block_columns_begin(j, &p, lanes, tile);
        j->k->loopsw->columns_amax((size_t)p.elements, (ptrdiff_t)c.x_step, (size_t)lanes, c.x, amax);
        const size_t count = block_tile_scales(j, (size_t)lanes, amax, &s);
        if (count == 0 || (g && !block_try_counting(j, count, amax, &s)))
            return done;
        for (uint64_t k = 0; k < p.elements; k++) {
            const uint64_t index = p.first + k * w->inner;
            const realw *const x = c.x + (int64_t)k * c.x_step;
            realw *const y = c.y + (int64_t)k * c.y_step;
            if (g) {
                block_counted_elements(j, &s, 0, index, 1, count, 0, UINT64_MAX, x, y, g);
                continue;
            }
            core_draw draw;
            const core_draw *const d = block_draw(j, index, 1, count, &draw, r);
            block_fused_elements(j, &s, 0, 1, count, x, d, r, y);
        }
        block_columns_end(j, &p, &c, count);
        if (g)
            block_count_scales(j, count, amax, s.saturated, g);
        done += count;
    }
    return end - v;
}

/* Elements of a large block with a known scale, from `position` on, where they are neighbours: how many. They are
 * looked at once more, since the scale may be that of another tensor. */
static uint64_t block_fused_piece(const block_job *j, const block_part *p, uint64_t position, uint64_t end,
                                  gathering *g)
{
    block_scales s;
    _Alignas(LINE) uint32_t r[TILE];
    s.divide = p->scale.kind == CORE_SCALE_DIVIDE;
    if (p->scale.kind != CORE_SCALE_MULTIPLY && !s.divide)
        return 0;
    const core_span span = fpemu_walk_span(&j->walk, &p->place, position, end - position);
    if (span.step != 1 || span.x_step != 1 || span.y_step != 1)
        return 0;
    const uint64_t whole = p->place.elements;
    const int in_place = block_in_place(j);
    _Alignas(LINE) realw tile[ASIDE(4 * TILE)];
    for (uint64_t at = 0, m; at < span.n; at += m) {
        const realw *const x = in_place ? j->x + span.x + (int64_t)at : tile;
        const uint64_t index = span.first + at;
        core_draw draw;
        uintw amax;
        m = span.n - at < 4 * TILE ? span.n - at : 4 * TILE;
        if (m > TILE && j->p->stochastic && !g && !block_draws(j, index, (size_t)m, (size_t)m, &draw))
            m = TILE; /* for which r has room */
        if (!in_place)
            block_load(j, span.x + (int64_t)at, 1, (size_t)m, tile);
        j->k->loopsw->runs_amax((size_t)m, 1, x, &amax);
        if (amax >= CARRIER_INF)
            return at;
        s.down[0] = p->scale.down;
        s.s[0] = p->scale.s;
        s.second = p->scale.d;
        block_try_fast(j, 1, &amax, &s);
        realw *const y = in_place ? j->y + span.y + (int64_t)at : tile;
        if (g && !block_try_counting(j, 1, &amax, &s))
            return at;
        for (uint64_t k = 0, few; k < m && g; k += few) {
            few = m - k < TILE ? m - k : TILE;
            block_counted_elements(j, &s, 0, index + k, (size_t)few, 1, position + at + k, whole, x + k, y + k, g);
        }
        if (!g) {
            const core_draw *const d = block_draw(j, index, (size_t)m, (size_t)m, &draw, r);
            block_fused_elements(j, &s, 0, (size_t)m, 1, x, d, r, y);
        }
        if (!in_place)
            block_store(j, span.y + (int64_t)at, 1, (size_t)m, tile);
    }
    return span.n;
}

/* Full runs in a row. */
static uint64_t block_run_row(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y,
                              gathering *g)
{
    if (j->p->pow2.usable)
        return block_pow2_runs(j, index, blocks, x, y, g);
    return g ? block_count_tiles(j, index, blocks, x, y, g) : block_run_tiles(j, index, blocks, x, y);
}

/* As block_run_row, of words, which lie in a tile meanwhile. */
static uint64_t block_run_row_words(const block_job *j, uint64_t index, uint64_t blocks, int64_t x, int64_t y,
                                    gathering *g)
{
    const uint64_t length = j->walk.tile_length, full = WORDS_TILE / length;
    _Alignas(LINE) realw tile[ASIDE(WORDS_TILE)];
    uint64_t done = 0;
    for (uint64_t wanted, got; done < blocks; done += got) {
        const uint64_t i = index + done * length;
        const int64_t at = (int64_t)(done * length);
        wanted = blocks - done < full ? blocks - done : full;
        block_load(j, x + at, 1, (size_t)(wanted * length), tile);
        got = block_run_row(j, i, wanted, tile, tile, g);
        block_store(j, y + at, 1, (size_t)(got * length), tile);
        if (got < wanted)
            return done + got;
    }
    return done;
}

/* As block_run_row, past the caches, by way of a tile: blocks of at most STREAM_BLOCKS elements. */
static uint64_t block_run_row_streamed(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y,
                                       gathering *g)
{
    const uint64_t length = j->walk.tile_length, full = STREAM_BLOCKS / length;
    _Alignas(LINE) realw tile[STREAM_BLOCKS];
    uint64_t done = 0;
    for (uint64_t wanted, got; done < blocks; done += got) {
        const uint64_t left = blocks - done, at = done * length;
        wanted = left < full ? left : full;
        const size_t n = (size_t)(wanted * length);
        if (left * length >= n + 2 * STREAM_BLOCKS)
            stream_ask(x + at + 2 * STREAM_BLOCKS, n * sizeof *x);
        got = block_run_row(j, index + at, wanted, x + at, tile, g);
        j->k->stream(y + at, tile, (size_t)(got * length) * sizeof *y);
        if (got < wanted)
            return done + got;
    }
    return done;
}

/* Blocks from the one visited as number v on, however they lie: how many were done. */
static uint64_t block_run_many(const block_job *j, uint64_t v, uint64_t end, gathering *g)
{
    uint64_t done = 0;
    if (j->walk.inner > 1)
        return j->p->pow2.usable ? block_pow2_columns(j, v, end, g) : block_fused_columns(j, v, end, g);
    while (v + done < end) {
        core_place p;
        const uint64_t n = block_runs_from(&j->walk, v + done, end, &p);
        uint64_t got = 0;
        if (n == 0)
            break;
        if (j->stream && j->walk.tile_length <= STREAM_BLOCKS && !block_streams_pieces(j, g))
            got = block_run_row_streamed(j, p.first, n, j->x + p.x, j->y + p.y, g);
        else if (block_in_place(j))
            got = block_run_row(j, p.first, n, j->x + p.x, j->y + p.y, g);
        else
            got = block_run_row_words(j, p.first, n, p.x, p.y, g);
        done += got;
        if (got < n)
            break;
    }
    if (j->stream)
        stream_end();
    return done;
}
