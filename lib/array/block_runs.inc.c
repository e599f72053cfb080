/* blockrows.inc.c - many blocks at a time where they lie side by side; included by block.inc.c. Each function does
 * blocks up to the first that it has to leave to the long way, which knows everything. */

/* Full runs from block v on that follow one another in memory; the first of them is at *p. */
static uint64_t NAME(runs_from)(const block_walk *w, uint64_t v, uint64_t end, block_place *p)
{
    const uint64_t along = v % w->across, full = w->length / w->tile_length;
    const uint64_t left = along < full ? full - along : 0;
    fpemu_walk_block(w, v, p);
    return left < end - v ? left : end - v;
}

/* ---------------------------------------------------------------------------- scales that are powers of two */

/* n elements from `index` on, each with its own scale. They are of blocks of `length`, the first of them at `position`
 * of its block; or, without sums of errors, of any. */
static void NAME(quick_elements)(const NAME(block_job) *j, uint64_t index, size_t n, const UINT *powers,
                                 uint64_t position, uint64_t length, const REAL *x, REAL *y, gathering *g)
{
    const CORE(quick_block) *q = &j->quick;
    REAL held[QUICK_TILE];
    UINT grid[QUICK_TILE];
    uint32_t r[QUICK_TILE];
    if (j->stochastic)
        fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
    if (!g) {
        j->k->LOOP(quick)[q->fixed][q->mode](q, n, x, powers, r, y);
        return;
    }
    CORE(quick_block) open = *q; /* without ends */
    REAL *const to = x == y ? held : y; /* counting reads x once more when y is made */
    tile_counts c;
    c.max_error = g->stats.max_error;
    open.max = open.lowest = q->past;
    j->k->LOOP(quick)[q->fixed][q->mode](&open, n, x, powers, r, grid);
    j->k->LOOP(quick_count)[q->fixed](q, n, x, grid, powers, to, &c);
    for (size_t at = 0, m; at < n; at += m) {
        const uint64_t left = length - position;
        m = !(j->want & FPEMU_STATS_SUMS) || left > n - at ? n - at : (size_t)left;
        fpemu_gather_tile(g, CORE_W, position, m, x + at, to + at, &c);
        position += m;
        if (position == length) {
            fpemu_gather_close(g);
            position = 0;
        }
        memset(&c, 0, sizeof c); /* they are all counted with the first */
    }
    if (to != y)
        memcpy(y, to, n * sizeof *y);
}

/* Counts blocks of the short way. */
static void NAME(quick_scales)(const NAME(block_job) *j, size_t count, const UINT *amax, gathering *g)
{
    uint64_t zeros = 0;
    for (size_t b = 0; b < count; b++)
        zeros += amax[b] == 0;
    g->stats.blocks += count;
    g->stats.zero_blocks += zeros;
    for (size_t b = 0; b < count && (j->want & FPEMU_STATS_SCALES); b++) {
        const CORE(extremes) e = {amax[b], 0, 0, 0, 0};
        CORE(scale) s;
        CORE(scale_find)(&j->block, &e, &s);
        count_scale(j->call->stats, s.exponent);
    }
}

/* Full runs in a row. */
static uint64_t NAME(quick_runs)(const NAME(block_job) *j, uint64_t index, uint64_t blocks, const REAL *x, REAL *y,
                                 gathering *g)
{
    const CORE(quick_block) *q = &j->quick;
    const size_t length = (size_t)j->walk.tile_length;
    const int rows = q->mode == FPEMU_MODE_RNE && !g;
    const size_t most = rows ? 2 * QUICK_TILE : QUICK_TILE, fit = length < most ? most / length : 1;
    const size_t full = fit < QUICK_BLOCKS ? fit : QUICK_BLOCKS;
    UINT amax[QUICK_BLOCKS], powers[QUICK_BLOCKS], spread[QUICK_TILE];
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->LOOP(runs_amax)(length, wanted, x, amax);
        const size_t count = j->k->LOOP(quick_powers)(q, wanted, amax, powers), n = count * length;
        if (rows)
            j->k->LOOP(quick_rows)[q->fixed](q, length, count, x, powers, y);
        else
            for (size_t at = 0, m; at < n; at += m) {
                m = n - at < QUICK_TILE ? n - at : QUICK_TILE;
                if (length < QUICK_TILE)
                    j->k->LOOP(quick_spread)(length, count, powers, spread);
                else
                    j->k->LOOP(quick_spread)(m, 1, powers, spread);
                NAME(quick_elements)(j, index + at, m, spread, at % length, length, x + at, y + at, g);
            }
        if (g)
            NAME(quick_scales)(j, count, amax, g);
        x += n;
        y += n;
        index += n;
        done += count;
        if (count < wanted)
            return done;
    }
    return blocks;
}

/* Runs side by side, neighbours along the innermost axis, from the one visited as number v on. */
static uint64_t NAME(quick_columns)(const NAME(block_job) *j, uint64_t v, uint64_t end, gathering *g)
{
    const block_walk *w = &j->walk;
    UINT amax[QUICK_LANES], powers[QUICK_LANES], spread[QUICK_TILE];
    for (uint64_t done = 0; done < end - v;) {
        const uint64_t left = end - v - done, lane = (v + done) % w->inner, beside = w->inner - lane;
        uint64_t lanes = left < beside ? left : beside;
        lanes = lanes < QUICK_LANES ? lanes : QUICK_LANES;
        block_place p;
        fpemu_walk_block(w, core_walk_visited(w, v + done), &p);
        j->k->LOOP(columns_amax)((size_t)p.elements, (ptrdiff_t)w->x[3], (size_t)lanes, j->x + p.x, amax);
        const size_t count = j->k->LOOP(quick_powers)(&j->quick, (size_t)lanes, amax, powers);
        if (count == 0)
            return done;
        /* several rows at a time where they follow one another without a gap */
        const int dense = count == w->inner && w->x[3] == (int64_t)count && w->y[3] == (int64_t)count;
        const uint64_t most = dense ? QUICK_TILE / count : 1, rows = p.elements < most ? p.elements : most;
        for (uint64_t k = 0; k < rows; k++)
            memcpy(spread + k * count, powers, count * sizeof *powers);
        for (uint64_t k = 0, m; k < p.elements; k += m) {
            m = p.elements - k < rows ? p.elements - k : rows;
            NAME(quick_elements)(j, p.first + k * w->inner, (size_t)m * count, spread, 0, UINT64_MAX,
                                 j->x + p.x + (int64_t)k * w->x[3], j->y + p.y + (int64_t)k * w->y[3], g);
        }
        if (g)
            NAME(quick_scales)(j, count, amax, g);
        done += count;
        if (count < lanes)
            return done;
    }
    return end - v;
}

/* ------------------------------------------------------------------------------------------ other scales */

/* Scales of some blocks, ready for their elements. */
typedef struct NAME(scales) {
    REAL down[QUICK_LANES], s[QUICK_LANES], second; /* divisors or multipliers, and factors; lean: inverse divisors */
    int divide, lean;                               /* lean: what runs_lean gave */
} NAME(scales);

static void NAME(try_lean)(const NAME(block_job) *j, size_t count, const UINT *amax, NAME(scales) *s)
{
    s->lean = 0;
    if (count && j->lean[s->divide])
        s->lean = j->k->LOOP(runs_lean)(&j->element.plan, &j->block, s->divide, count, amax, s->s, s->second, s->down);
}

/* Scales of `wanted` blocks: how many, up to the first that is of another kind. */
static size_t NAME(tile_scales)(const NAME(block_job) *j, size_t wanted, const UINT *amax, NAME(scales) *s)
{
    size_t count = 0;
    if (j->hold_many && j->k->LOOP(runs_scales)(&j->block, wanted, amax, s->s)) {
        if (!j->block.same)
            j->k->LOOP(round)[j->hold.rule][FPEMU_MODE_RNE](&j->hold, wanted, s->s, NULL, s->s);
        j->k->LOOP(runs_down)(&j->block, wanted, s->s, s->down);
        s->divide = j->block.rule == FPEMU_SCALING_ABSMAX;
        s->second = s->divide ? 1 : (REAL)j->block.tensor.b;
        count = wanted;
    }
    while (count < wanted && amax[count] < INF) {
        const CORE(extremes) e = {amax[count], 0, 0, 0, 0};
        CORE(scale) scale;
        CORE(scale_find)(&j->block, &e, &scale);
        const int divides = scale.kind == CORE_SCALE_DIVIDE;
        if ((scale.kind != CORE_SCALE_MULTIPLY && !divides) || (count && divides != s->divide))
            break;
        s->divide = divides;
        s->second = scale.d;
        s->down[count] = scale.down;
        s->s[count++] = scale.s;
    }
    NAME(try_lean)(j, count, amax, s);
    return count;
}

/* t, P and y at once, of `count` blocks of `length` elements. */
static void NAME(fused_elements)(const NAME(block_job) *j, const NAME(scales) *s, size_t length, size_t count,
                                 const REAL *x, const uint32_t *r, REAL *y)
{
    const CORE(plan) *p = &j->element.plan;
    const int even = p->rule == CORE_RULE_EVEN;
    if (s->lean)
        j->k->LOOP(lean)[s->lean - 1][even][s->divide](p, length, count, s->down, s->s, s->second, x, y);
    else
        j->k->LOOP(scaled)[even][s->divide][p->mode == FPEMU_MODE_SR](p, length, count, s->down, s->s, s->second, x, r, y);
}

/* Full runs in a row, tile by tile: every step takes all blocks of a tile at once. */
static uint64_t NAME(run_tiles)(const NAME(block_job) *j, uint64_t index, uint64_t blocks, const REAL *x, REAL *y)
{
    const size_t length = (size_t)j->walk.tile_length;
    const size_t fit = length < TILE ? TILE / length : 1, few = fit < QUICK_LANES ? fit : QUICK_LANES;
    const size_t lean = length < 4 * TILE ? 4 * TILE / length : 1;
    const size_t full = !j->lean[0] || length == 1 ? few : lean < QUICK_LANES ? lean : QUICK_LANES;
    REAL t[TILE], rounded[TILE];
    UINT grid[TILE], amax[QUICK_LANES];
    NAME(scales) s;
    int64_t q[TILE];
    uint32_t r[TILE];
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->LOOP(runs_amax)(length, wanted, x, amax);
        const size_t known = NAME(tile_scales)(j, wanted, amax, &s), count = s.lean || known < few ? known : few;
        const size_t n = count * length;
        if (count == 0)
            return done;
        if (s.lean)
            NAME(fused_elements)(j, &s, length, count, x, NULL, y);
        for (size_t at = 0, m; at < n && !s.lean; at += m) {
            m = n - at < TILE ? n - at : TILE;
            const size_t run = length < TILE ? length : m, runs = length < TILE ? count : 1;
            if (j->stochastic)
                fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index + at, m, r);
            if (j->fused) {
                NAME(fused_elements)(j, &s, run, runs, x + at, r, y + at);
            } else {
                j->k->LOOP(runs_t)(s.divide, j->block.sticky, run, runs, s.down, x + at, t);
                NAME(element_run)(&j->element, j->k, m, t, r, 0, grid, rounded, q);
                j->k->LOOP(runs_y)(run, runs, s.s, s.second, rounded, y + at);
            }
        }
        x += n;
        y += n;
        index += n;
        done += count;
    }
    return blocks;
}

/* Runs side by side, as quick_columns. */
static uint64_t NAME(fused_columns)(const NAME(block_job) *j, uint64_t v, uint64_t end)
{
    const block_walk *w = &j->walk;
    NAME(scales) s;
    UINT amax[QUICK_LANES];
    uint32_t r[QUICK_LANES];
    for (uint64_t done = 0; done < end - v;) {
        const uint64_t left = end - v - done, beside = w->inner - (v + done) % w->inner;
        uint64_t lanes = left < beside ? left : beside;
        lanes = lanes < QUICK_LANES ? lanes : QUICK_LANES;
        block_place p;
        fpemu_walk_block(w, core_walk_visited(w, v + done), &p);
        j->k->LOOP(columns_amax)((size_t)p.elements, (ptrdiff_t)w->x[3], (size_t)lanes, j->x + p.x, amax);
        const size_t count = NAME(tile_scales)(j, (size_t)lanes, amax, &s);
        if (count == 0)
            return done;
        for (uint64_t k = 0; k < p.elements; k++) {
            const uint64_t index = j->call->rounding->offset + p.first + k * w->inner;
            if (j->stochastic)
                fpemu_random_fill(j->k, j->call->rounding, index, count, r);
            NAME(fused_elements)
            (j, &s, 1, count, j->x + p.x + (int64_t)k * w->x[3], r, j->y + p.y + (int64_t)k * w->y[3]);
        }
        done += count;
    }
    return end - v;
}

/* Elements of a large block with a known scale, from `position` on, where they lie side by side: how many. They are
 * looked at once more, since the scale may be that of another tensor. */
static uint64_t NAME(fused_piece)(const NAME(block_job) *j, const NAME(part) *p, uint64_t position, uint64_t end)
{
    NAME(scales) s;
    uint32_t r[TILE];
    s.divide = p->scale.kind == CORE_SCALE_DIVIDE;
    if (p->scale.kind != CORE_SCALE_MULTIPLY && !s.divide)
        return 0;
    const block_span span = fpemu_walk_span(&j->walk, &p->place, position, end - position);
    if (span.step != 1 || span.x_step != 1 || span.y_step != 1)
        return 0;
    const size_t most = j->stochastic ? TILE : 4 * TILE;
    for (uint64_t at = 0, m; at < span.n; at += m) {
        const REAL *const x = j->x + span.x + (int64_t)at;
        UINT amax;
        m = span.n - at < most ? span.n - at : most;
        j->k->LOOP(runs_amax)((size_t)m, 1, x, &amax);
        if (amax >= INF)
            return at;
        s.down[0] = p->scale.down;
        s.s[0] = p->scale.s;
        s.second = p->scale.d;
        NAME(try_lean)(j, 1, &amax, &s);
        if (j->stochastic)
            fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + span.first + at, (size_t)m, r);
        NAME(fused_elements)(j, &s, (size_t)m, 1, x, r, j->y + span.y + (int64_t)at);
    }
    return span.n;
}

/* Blocks from the one visited as number v on, in whichever way they lie: how many were done. */
static uint64_t NAME(run_many)(const NAME(block_job) *j, uint64_t v, uint64_t end, gathering *g)
{
    uint64_t done = 0;
    if (j->walk.inner > 1)
        return j->quick.usable ? NAME(quick_columns)(j, v, end, g) : NAME(fused_columns)(j, v, end);
    while (v + done < end) {
        block_place p;
        const uint64_t n = NAME(runs_from)(&j->walk, v + done, end, &p);
        uint64_t got = 0;
        if (n == 0)
            break;
        if (j->quick.usable)
            got = NAME(quick_runs)(j, p.first, n, j->x + p.x, j->y + p.y, g);
        else
            got = NAME(run_tiles)(j, p.first, n, j->x + p.x, j->y + p.y);
        done += got;
        if (got < n)
            break;
    }
    return done;
}
