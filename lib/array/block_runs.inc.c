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

/* Whether loops draw the random bits of n elements from `index` on by themselves. */
static int block_draws(const block_job *j, uint64_t index, size_t n)
{
    const uint64_t i = j->call->rounding->offset + index;
    return j->own_words && i >> 32 == (i + n - 1) >> 32;
}

/* Where the random bits of so many elements come from; r: room for them where loops do not draw them. */
static loop_draw block_draw(const block_job *j, uint64_t index, size_t n, uint32_t *r)
{
    const fpemu_rounding *rounding = j->call->rounding;
    loop_draw d = {NULL, {0, 0}, rounding->offset + index};
    if (j->p->stochastic && block_draws(j, index, n)) {
        d.key = core_hash_keys(rounding->seed, rounding->stream, d.index >> 32);
    } else if (j->p->stochastic) {
        fpemu_random_fill(j->k, rounding, d.index, n, r);
        d.r = r;
    }
    return d;
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
        core_scale_candidate(j->block, &e, 0, &s);
        if (s.counted)
            count_scale(&j->call->stats->request, s.exponent);
    }
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
    const uint64_t most = block_in_place(j) ? RUN_BLOCKS : WORDS_TILE / elements;
    lanes = lanes < RUN_BLOCKS ? lanes : RUN_BLOCKS;
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

/* Scales of some blocks, ready for their elements. */
typedef struct block_scales {
    realw down[RUN_BLOCKS], s[RUN_BLOCKS], second; /* divisors or multipliers, and factors */
    int divide, powers;                            /* powers: powers of two that core_pow2_holds takes */
    int kind;           /* what block_choose chose for the elements, `down` being what that asks for */
    uint64_t saturated; /* how many were cut to an end of the scale format, if counted */
} block_scales;

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
            core_scale_candidate(b, &e, 0, &s);
            saturated += s.saturated;
        }
    return saturated;
}

static int block_choose(const block_job *j, size_t count, const uintw *amax, block_scales *s);

/* What elements see of scales that are held, made of v; and how the rule has it. */
static void block_scales_follow(const block_job *j, size_t count, const realw *v, block_scales *s)
{
    const int rule = j->block->rule, plain = rule == FPEMU_SCALING_ABSMAX || rule == FPEMU_SCALING_RECIPROCAL;
    j->k->loopsw->runs_down(j->block, count, v, s->s, s->down);
    s->divide = rule == FPEMU_SCALING_ABSMAX || rule == FPEMU_SCALING_EDEN;
    s->second = plain ? 1 : (realw)j->block->tensor.b;
}

/* Scales of many blocks by loops, those of the rule times a factor before they are rounded; 0: there are others than
 * loops find. */
static int block_hold_scales(const block_job *j, size_t count, const uintw *amax, realw factor, block_scales *s)
{
    realw v[RUN_BLOCKS];
    if (!j->hold_many || !j->k->loopsw->runs_scales(j->block, count, amax, v))
        return 0;
    for (size_t b = 0; b < count && factor > 1; b++)
        v[b] = core_finite(v[b] * factor);
    if (j->counted)
        s->saturated = block_saturated(j, count, amax, v);
    if (j->block->same)
        memcpy(s->s, v, count * sizeof *v);
    else
        j->k->loopsw->round[j->p->hold.rule][FPEMU_MODE_RNE](&j->p->hold, count, v, NULL, s->s);
    block_scales_follow(j, count, v, s);
    return 1;
}

/* Candidate c of the scales of many blocks by loops; codes: those of the rule's scales, of a search by them. 0: there are
 * others than loops find. */
static int block_try_scales(const block_job *j, unsigned c, size_t count, const uintw *amax, const uint32_t *codes,
                            block_scales *s)
{
    const core_block *b = j->block;
    const int k = b->search_first + b->search_step * (int)c, by_code = b->search_step && !b->search_grid;
    const uintw two = 2 * ((uintw)CARRIER_BIAS << CARRIER_MANTISSA);
    uintw own[RUN_BLOCKS];
    s->powers = b->powers;
    if (by_code && b->rule == FPEMU_SCALING_NVFP4_AO)
        return 0; /* whose loops clamp */
    if (by_code && !b->powers) {
        for (size_t i = 0; i < count; i++) {
            const int64_t code = (int64_t)codes[i] + k, least = !b->no_zero;
            const int64_t kept = code < least ? least : code > b->code_most ? b->code_most : code;
            s->s[i] = core_value(core_decode(&b->scale_coder, (uint64_t)(amax[i] ? kept : codes[i])));
        }
        block_scales_follow(j, count, s->s, s);
        return 1;
    }
    if (by_code && (k > CARRIER_BIAS / 2 || k < -CARRIER_BIAS / 2))
        return 0;
    const realw share = b->search_grid ? (realw)k / (realw)b->search_grid : by_code ? core_value(core_power(k)) : 1;
    for (size_t i = 0; i < count; i++) {
        own[i] = core_bits(core_finite(core_value(amax[i]) * share));
        own[i] += (uintw)(own[i] == 0) & (uintw)(amax[i] != 0);
    }
    if (!b->powers)
        return block_hold_scales(j, count, own, core_rule_chooses(b->rule) && c ? (realw)1.5 : 1, s);
    /* k exponents further are as 2^k times as much, where both are far from the ends */
    if (!j->p->pow2.usable || j->k->loopsw->pow2_scales(&j->p->pow2, count, amax, s->s) < count ||
        j->k->loopsw->pow2_scales(&j->p->pow2, count, own, s->s) < count)
        return 0;
    for (size_t i = 0; i < count; i++)
        s->down[i] = core_value(two - core_bits(s->s[i]));
    s->divide = 0;
    s->second = 1;
    return 1;
}

/* Candidate c of `wanted` scales one by one, the first that of block `first` if they are given: how many, up to the first
 * that is of another kind. */
static size_t block_each_scale(const block_job *j, unsigned c, size_t wanted, const uintw *amax, uint64_t first,
                               block_scales *s)
{
    size_t count = 0;
    s->powers = 0;
    s->saturated = 0;
    while (count < wanted && amax[count] < CARRIER_INF) {
        const core_extremes e = {amax[count], 0, 0, 0, 0};
        core_scale scale;
        if (j->given)
            core_scale_given(j->block, j->given, first + count, &scale);
        else
            core_scale_candidate(j->block, &e, c, &scale);
        const int divides = scale.kind == CORE_SCALE_DIVIDE;
        if ((scale.kind != CORE_SCALE_MULTIPLY && !divides) || (count && divides != s->divide))
            break;
        s->divide = divides;
        s->second = scale.d;
        s->saturated += scale.saturated;
        s->down[count] = scale.down;
        s->s[count++] = scale.s;
    }
    return count;
}

/* The scales with the least errors, as block_choose_scale has them, for blocks of `length` elements in a row from x; 0
 * where no loop makes t, P and y at once. */
static APART int block_choose_scales(const block_job *j, size_t wanted, const uintw *amax, size_t length,
                                     const realw *x, block_scales *s)
{
    const loop_draw none = {NULL, {0, 0}, 0};
    const int chooses = core_rule_chooses(j->block->rule);
    const size_t few = length < TILE ? TILE / length : 1;
    const realw infinity = core_value(CARRIER_INF);
    realw least[RUN_BLOCKS];
    uint32_t codes[RUN_BLOCKS] = {0};
    block_scales own;
    const int many = j->block->powers || block_hold_scales(j, wanted, amax, 1, &own);
    for (size_t b = 0; b < wanted && many && j->block->code_most; b++)
        codes[b] = (uint32_t)core_encode(&j->block->scale_coder, core_bits(own.s[b]), core_bits(own.s[b]));
    s->powers = 1;
    for (unsigned c = 0; c < j->block->candidates; c++) {
        _Alignas(LINE) realw y[TILE], error[TILE];
        realw sum[RUN_BLOCKS] = {0};
        if ((!many || !block_try_scales(j, c, wanted, amax, codes, &own)) &&
            block_each_scale(j, c, wanted, amax, 0, &own) < wanted)
            return 0;
        if ((c && own.divide != s->divide) || (!chooses && !block_choose(j, wanted, amax, &own)))
            return 0;
        for (size_t at = 0, m; at < length * wanted; at += m) {
            const size_t left = length - at % length, b = at / length;
            const size_t count = length >= TILE ? 1 : wanted - b < few ? wanted - b : few;
            const size_t n = length < TILE ? length : left < TILE ? left : TILE;
            m = count * n;
            if (chooses) {
                j->k->loopsw->choice_errors(j->block, n, count, own.down + b, own.s + b, x + at, error);
            } else {
                j->k->loopsw->kernel_scaled(&j->element.p->plan, own.kind, 0, &none, n, count, own.down + b, own.s + b,
                                            own.second, x + at, y);
                j->k->loopsw->search_errors(j->block->search_error, m, x + at, y, error);
            }
            block_add_errors(n, count, error, sum + b);
        }
        for (size_t b = 0; b < wanted; b++) {
            const int better = c == 0 || sum[b] < least[b];
            least[b] = better ? sum[b] : least[b];
            s->s[b] = better ? own.s[b] : s->s[b];
            s->down[b] = !better ? s->down[b] : !own.divide ? own.down[b] : own.s[b] > 0 ? own.s[b] : infinity;
        }
        s->powers &= own.powers;
        s->divide = own.divide;
        s->second = own.second;
    }
    return 1;
}

/* Corrects scales of blocks of `length` elements in a row from x, the first of this index, as block_find_scale does: how
 * many, whole groups. */
static APART size_t block_correct_scales(const block_job *j, size_t count, const uintw *amax, size_t length,
                                         uint64_t index, const realw *x, block_scales *s)
{
    const core_walk *w = &j->walk;
    const size_t share = j->block->corrected, all = count - count % share;
    const core_span firsts = {.n = all, .first = index, .step = length};
    realw squares[RUN_BLOCKS] = {0}, products[RUN_BLOCKS] = {0};
    uint32_t random[RUN_BLOCKS];
    if (length > TILE || w->across % share || w->across * length != w->length || index % (length * share))
        return 0;
    for (size_t b = 0, m; b < all; b += m) {
        m = core_smaller(TILE / length, all - b);
        block_correction_sums(j, length, m, s->down + b, x + b * length, squares + b, products + b);
    }
    random_span(j->k, j->call->rounding, &firsts, random);
    for (size_t b = 0, first; b < all; b++) {
        core_scale scale = {.kind = CORE_SCALE_DIVIDE, .s = s->s[b], .down = s->down[b]};
        first = b - b % share;
        if (b == first) {
            squares[b] = core_choice_total(squares + b, (unsigned)share);
            products[b] = core_choice_total(products + b, (unsigned)share);
        }
        if (amax[b])
            core_scale_correct(j->block, squares[first], products[first], random[b], &scale);
        s->s[b] = scale.s;
        s->down[b] = scale.kind == CORE_SCALE_ZERO ? core_value(CARRIER_INF) : s->down[b];
    }
    return all;
}

/* Scales of `wanted` blocks of `length` elements, in a row from x if the rule chooses, the first of them of this index
 * if they are given: how many, up to the first that is of another kind. */
static size_t block_tile_scales(const block_job *j, size_t wanted, const uintw *amax, size_t length, uint64_t index,
                                const realw *x, block_scales *s)
{
    const core_walk *w = &j->walk;
    const uint64_t first = j->given ? index / w->length * w->across + index % w->length / w->tile_length : 0;
    if (j->block->candidates > 1 && !j->given)
        return block_choose_scales(j, wanted, amax, length, x, s) ? wanted : 0;
    s->saturated = 0;
    s->powers = j->p->pow2.usable && j->fused && !j->given;
    if (s->powers) {
        s->divide = 0;
        s->second = 1;
        return j->k->loopsw->pow2_scales(&j->p->pow2, wanted, amax, s->s);
    }
    const int held = block_hold_scales(j, wanted, amax, 1, s);
    if (j->block->corrected && !j->given)
        return held ? block_correct_scales(j, wanted, amax, length, index, x, s) : 0;
    return held ? wanted : block_each_scale(j, 0, wanted, amax, first, s);
}

/* Chooses what makes t, P and y of these elements at once: 0, and s->kind is UNSCALED, where nothing does. */
static int block_choose(const block_job *j, size_t count, const uintw *amax, block_scales *s)
{
    uintw most;
    s->kind = UNSCALED;
    if (!j->fused || (s->divide && core_rule_is_nvfp4(j->block->rule))) /* quotients come with one factor */
        return 0;
    j->k->loopsw->runs_amax(count, 1, s->s, &most);
    if (!s->powers &&
        (j->block->sticky || !(2 * j->block->largest * core_value(most) * s->second < core_value(CARRIER_INF))))
        return 0; /* what underflows must not become zero, or some y might be infinite */
    s->kind = s->powers ? SCALED_POWERS : s->divide ? SCALED_BY : SCALED_TIMES;
    if (s->divide && j->p->quotients && j->element.p->plan.mode == FPEMU_MODE_RNE &&
        j->k->loopsw->runs_inverses(count, amax, s->s, s->down))
        s->kind = SCALED_QUOTIENT;
    return 1;
}

/* t, P and y at once, of `count` blocks of `length` elements; the scales are those from `first` on. At most TILE
 * elements where loops do not draw the random bits. */
static void block_at_once(const block_job *j, const block_scales *s, size_t first, uint64_t index, size_t length,
                          size_t count, const realw *x, realw *y)
{
    _Alignas(LINE) uint32_t r[TILE];
    const loop_draw d = block_draw(j, index, length * count, r);
    j->k->loopsw->kernel_scaled(&j->element.p->plan, s->kind, 0, &d, length, count, s->down + first, s->s + first,
                                s->second, x, y);
}

/* The same of at most TILE elements from `index` on, and their counters; the first lies at `position` of its block, of
 * `whole` elements, as block_gather has it. */
static void block_counted_elements(const block_job *j, const block_scales *s, size_t first, uint64_t index,
                                   size_t length, size_t count, uint64_t position, uint64_t whole, const realw *x,
                                   realw *y, gathering *g)
{
    const size_t n = length * count;
    _Alignas(LINE) realw held[TILE];
    _Alignas(LINE) uintw grid[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    realw *const to = x == y ? held : y; /* counting reads x once more when y is made */
    const loop_draw d = block_draw(j, index, n, r);
    tile_counts c;
    c.max_error = g->stats.max_error;
    j->k->loopsw->kernel_scaled(&j->element.grid, s->kind, 1, &d, length, count, s->down + first, s->s + first,
                                s->second, x, grid);
    j->k->loopsw->count_scaled(&j->element.p->plan, s->kind, length, count, s->down + first, s->s + first, s->second, x,
                               grid, to, &c);
    block_gather(j, position, whole, n, x, to, &c, g);
    if (to != y)
        memcpy(y, to, n * sizeof *y);
}

/* Whether the loops of tables do blocks of it at once: their scales are as they are found. */
static int block_table_is_quick(const block_job *j)
{
    return j->block->rule == FPEMU_SCALING_ABSMAX && j->block->same && !j->given &&
           core_bits(j->block->max) == core_bits(j->block->largest) && j->element.p->is_table && j->element.search &&
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
    const realw low = search->low, high = search->high, most = core_value(amax) / down;
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

/* The counters of n elements and what a table made of them, but for those outside. The fast forms take for granted that
 * what is finite stays so, as it does but in tables alone, and the second that 0 is kept. */
static void block_table_seen(const block_job *j, size_t n, const realw *x, const realw *y, tile_counts *c)
{
    const kernels *k = j->k;
    const core_search *search = j->element.search;
    const int finite = (core_bits(search->results[0]) & ~CARRIER_SIGN) < CARRIER_INF &&
                       (core_bits(search->results[CORE_SEARCH_VALUES]) & ~CARRIER_SIGN) < CARRIER_INF;
    const int keeps_zero = j->call->format->has_zero;
    if (!(finite && (k->loopsw->count_nonzero(&block_open, n, x, y, 0, c) ||
                     (keeps_zero && k->loopsw->count_inside(&block_open, n, x, y, 0, c))))) {
        uintw grid[TABLE_TILE];
        memset(grid, 0, n * sizeof *grid);
        if (!finite)
            (void)k->loopsw->codebook_outside(search, n, x, grid);
        k->loopsw->count(&block_open, n, x, y, grid, c);
    }
}

/* As block_counted_elements, of a table. */
static APART void block_counted_table(const block_job *j, const block_scales *s, const uintw *amax, size_t first,
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
    const size_t full = fit < RUN_BLOCKS ? fit : RUN_BLOCKS, few = length < most ? most / length : 1;
    uintw amax[RUN_BLOCKS];
    block_scales s;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t count = block_tile_scales(j, wanted, amax, length, index, x, &s), n = count * length;
        if (count == 0 || !(table ? s.divide && s.second == 1 : block_choose(j, count, amax, &s)))
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
    return j->stream && !g && (block_table_is_quick(j) || j->fused);
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
            if (s->kind)
                block_at_once(j, s, b, 0, m, runs, x + from, tile);
            else
                block_table_runs(j, s->down + b, s->s + b, 0, m, runs, x + from, tile);
            j->k->stream(y + from, tile, m * runs * sizeof *y);
        }
}

/* y of at most TILE elements by loops of one step each, for what nothing makes at once. Apart, for its place on the
 * stack. */
static APART void block_by_steps(const block_job *j, const block_scales *s, uint64_t index, size_t length, size_t count,
                                 const realw *x, realw *y)
{
    _Alignas(LINE) realw t[TILE], rounded[TILE];
    _Alignas(LINE) uintw grid[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    int64_t q[TILE];
    const size_t n = length * count;
    if (j->p->stochastic)
        fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
    j->k->loopsw->runs_t(s->divide, j->block->sticky, length, count, s->down, x, t);
    block_element_run(&j->element, j->k, n, t, r, 0, grid, rounded, q);
    j->k->loopsw->runs_y(length, count, s->s, s->second, rounded, y);
}

/* Full runs in a row, tile by tile: every step takes all blocks of a tile at once. */
static APART uint64_t block_run_tiles(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y)
{
    const size_t length = (size_t)j->walk.tile_length;
    const size_t fit = length < TILE ? TILE / length : 1, few = fit < RUN_BLOCKS ? fit : RUN_BLOCKS;
    const size_t many = length < 4 * TILE ? 4 * TILE / length : 1;
    const int table = block_table_is_quick(j) && !(j->p->stochastic && length > TILE);
    const int wide = j->p->stochastic ? j->fused && block_draws(j, index, (size_t)blocks * length) : j->fused || table;
    const size_t full = !wide || length == 1 ? few : many < RUN_BLOCKS ? many : RUN_BLOCKS;
    _Alignas(LINE) uintw amax[RUN_BLOCKS];
    block_scales s;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t known = block_tile_scales(j, wanted, amax, length, index, x, &s);
        if (known == 0)
            return done;
        const int fused = block_choose(j, known, amax, &s) && (wide || !j->p->stochastic || length <= TILE);
        const int at_once = fused || (table && s.divide && s.second == 1);
        const size_t count = at_once || known < few ? known : few, n = count * length;
        if (at_once && j->stream)
            block_stream_pieces(j, &s, length, count, (blocks - done - count) * length, x, y);
        else if (fused)
            block_at_once(j, &s, 0, index, length, count, x, y);
        else if (at_once)
            block_table_runs(j, s.down, s.s, index, length, count, x, y);
        for (size_t at = 0, m; at < n && !at_once; at += m) {
            m = n - at < TILE ? n - at : TILE;
            const size_t run = length < TILE ? length : m, runs = length < TILE ? count : 1;
            if (s.kind)
                block_at_once(j, &s, 0, index + at, run, runs, x + at, y + at);
            else
                block_by_steps(j, &s, index + at, run, runs, x + at, y + at);
        }
        x += n;
        y += n;
        index += n;
        done += count;
    }
    return blocks;
}

/* Columns: runs that are neighbours along the innermost axis, from the one visited as number v on. */
static APART uint64_t block_run_columns(const block_job *j, uint64_t v, uint64_t end, gathering *g)
{
    const core_walk *w = &j->walk;
    block_scales s;
    uintw amax[RUN_BLOCKS];
    _Alignas(LINE) realw tile[ASIDE(WORDS_TILE)];
    for (uint64_t done = 0; done < end - v;) {
        const uint64_t left = end - v - done, beside = w->inner - (v + done) % w->inner;
        core_place p;
        fpemu_walk_block(w, core_walk_visited(w, v + done), &p);
        const uint64_t lanes = block_lanes(j, left < beside ? left : beside, p.elements);
        const block_columns c = block_columns_begin(j, &p, lanes, tile);
        j->k->loopsw->columns_amax((size_t)p.elements, (ptrdiff_t)c.x_step, (size_t)lanes, c.x, amax);
        const size_t count = block_tile_scales(j, (size_t)lanes, amax, 0, 0, NULL, &s);
        if (count == 0 || !block_choose(j, count, amax, &s))
            return done;
        for (uint64_t k = 0; k < p.elements; k++) {
            const uint64_t index = p.first + k * w->inner;
            const realw *const x = c.x + (int64_t)k * c.x_step;
            realw *const y = c.y + (int64_t)k * c.y_step;
            if (g)
                block_counted_elements(j, &s, 0, index, 1, count, 0, UINT64_MAX, x, y, g);
            else
                block_at_once(j, &s, 0, index, 1, count, x, y);
        }
        block_columns_end(j, &p, &c, count);
        if (g)
            block_count_scales(j, count, amax, s.saturated, g);
        done += count;
        if (count < lanes)
            return done;
    }
    return end - v;
}

/* Elements of a large block with a known scale, from `position` on, where they are neighbours: how many. They are
 * looked at once more, since the scale may be that of another tensor. */
static uint64_t block_fused_piece(const block_job *j, const block_part *p, uint64_t position, uint64_t end,
                                  gathering *g)
{
    block_scales s;
    realw power;
    s.divide = p->scale.kind == CORE_SCALE_DIVIDE;
    s.powers = j->p->pow2.usable && !j->given && j->k->loopsw->pow2_scales(&j->p->pow2, 1, &p->amax, &power) == 1 &&
               power == p->scale.s; /* that of zeros may be another */
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
        uintw amax;
        m = span.n - at < 4 * TILE ? span.n - at : 4 * TILE;
        if (m > TILE && j->p->stochastic && !g && !block_draws(j, index, (size_t)m))
            m = TILE;
        if (!in_place)
            block_load(j, span.x + (int64_t)at, 1, (size_t)m, tile);
        j->k->loopsw->runs_amax((size_t)m, 1, x, &amax);
        if (amax >= CARRIER_INF)
            return at;
        s.down[0] = p->scale.down;
        s.s[0] = p->scale.s;
        s.second = p->scale.d;
        realw *const y = in_place ? j->y + span.y + (int64_t)at : tile;
        if (!block_choose(j, 1, &amax, &s))
            return at;
        for (uint64_t k = 0, few; k < m && g; k += few) {
            few = m - k < TILE ? m - k : TILE;
            block_counted_elements(j, &s, 0, index + k, (size_t)few, 1, position + at + k, whole, x + k, y + k, g);
        }
        if (!g)
            block_at_once(j, &s, 0, index, (size_t)m, 1, x, y);
        if (!in_place)
            block_store(j, span.y + (int64_t)at, 1, (size_t)m, tile);
    }
    return span.n;
}

/* Full runs in a row. */
static uint64_t block_run_row(const block_job *j, uint64_t index, uint64_t blocks, const realw *x, realw *y,
                              gathering *g)
{
    return g ? block_count_tiles(j, index, blocks, x, y, g) : block_run_tiles(j, index, blocks, x, y);
}

/* As block_run_row, of elements from places x and y on, by way of a tile: of words; or of blocks of at most STREAM_BLOCKS
 * elements, whose results pass the caches. */
static uint64_t block_run_row_aside(const block_job *j, uint64_t index, uint64_t blocks, int64_t x, int64_t y,
                                    gathering *g)
{
    const int streams = block_in_place(j);
    const uint64_t length = j->walk.tile_length, full = (streams ? STREAM_BLOCKS : WORDS_TILE) / length;
    _Alignas(LINE) realw tile[CARRIER_BITS == 32 ? WORDS_TILE : STREAM_BLOCKS];
    for (uint64_t done = 0, wanted, got; done < blocks; done += got) {
        const uint64_t left = blocks - done;
        const int64_t at = (int64_t)(done * length);
        wanted = left < full ? left : full;
        const size_t n = (size_t)(wanted * length);
        if (streams && left * length >= n + 2 * STREAM_BLOCKS)
            stream_ask(j->x + x + at + 2 * STREAM_BLOCKS, n * sizeof *j->x);
        if (!streams)
            block_load(j, x + at, 1, n, tile);
        got = block_run_row(j, index + (uint64_t)at, wanted, streams ? j->x + x + at : tile, tile, g);
        if (streams)
            j->k->stream(j->y + y + at, tile, (size_t)(got * length) * sizeof *tile);
        else
            block_store(j, y + at, 1, (size_t)(got * length), tile);
        if (got < wanted)
            return done + got;
    }
    return blocks;
}

/* Blocks from the one visited as number v on, however they lie: how many were done. */
static uint64_t block_run_many(const block_job *j, uint64_t v, uint64_t end, gathering *g)
{
    uint64_t done = 0;
    if (j->walk.inner > 1)
        return block_run_columns(j, v, end, g);
    while (v + done < end) {
        core_place p;
        const uint64_t n = block_runs_from(&j->walk, v + done, end, &p);
        uint64_t got;
        if (n == 0)
            break;
        if (block_in_place(j) && !(j->stream && j->walk.tile_length <= STREAM_BLOCKS && !block_streams_pieces(j, g)))
            got = block_run_row(j, p.first, n, j->x + p.x, j->y + p.y, g);
        else
            got = block_run_row_aside(j, p.first, n, p.x, p.y, g);
        done += got;
        if (got < n)
            break;
    }
    if (j->stream)
        stream_end();
    return done;
}
