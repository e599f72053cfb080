/* SPDX-License-Identifier: BSD-2-Clause */
/* block_codes.inc.c - codes of many elements at a time, for packing; included by blocks.inc.c. Elements whose
 * blocks have ordinary scales: the others are left to block_flush, which knows everything. */

/* Whether these forms serve a call: values come from neighbours in memory, and codes from loops. */
static int block_can_code(const block_job *j)
{
    const block_call *call = j->call;
    return call->sink && call->sink->runs && !j->scales_only && !call->stats && !call->compact && !j->gives &&
           !j->nan_seen && !call->rounding->compat && !j->element.p->one_by_one && !j->element.p->two_steps &&
           (!j->element.p->is_table || (j->element.search && j->element.search->steps && j->p->size == 1));
}

/* Whether they are made straight from elements and scales. */
static int block_codes_at_once(const block_job *j)
{
    return j->p->at_once && !j->element.p->is_table && !j->block->sticky;
}

/* Codes of at most TILE elements x, of which t are the quotients; `index` is the first one's. rounded: room for as many,
 * which may be that of t. */
static void block_codes_of(const block_job *j, uint64_t index, size_t n, const realw *x, const realw *t, realw *rounded,
                           void *codes)
{
    const core_plan *p = &j->element.p->plan;
    _Alignas(LINE) uint32_t r[TILE];
    if (j->element.p->is_table) {
        j->k->loopsw->codebook_codes(j->element.search, n, t, codes);
        return;
    }
    if (j->p->at_once) {
        j->k->loopsw->codes(&j->p->direct, 0, n, 1, NULL, NULL, t, j->p->size, codes);
        return;
    }
    if (j->p->stochastic)
        fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
    j->k->loopsw->round[p->rule][p->mode](p, n, t, r, rounded);
    j->k->loopsw->encode(&j->p->coder, n, x, rounded, j->p->size, codes);
}

/* The code of blocks of zeros, in place of that of the scale 1, which will do for their elements. */
static void block_zero_codes(const block_job *j, size_t count, const uintw *amax, size_t size, void *codes)
{
    const core_extremes zeros = {0, 0, 0, 0, 0};
    core_scale found;
    core_scale_candidate(j->block, &zeros, 0, &found);
    const uint64_t code = core_scale_code(j->block, &found);
    for (size_t b = 0; b < count; b++)
        if (amax[b] == 0)
            store_code(codes, size, b, code);
}

/* Scales that are powers of two, as block_tile_scales has the others, and their codes, of `size` bytes; of a block of
 * zeros it is 1. */
static size_t block_coded_powers(const block_job *j, size_t wanted, const uintw *amax, block_scales *s, size_t size,
                                 void *codes)
{
    const core_block *block = j->block;
    const uintw one = (uintw)CARRIER_BIAS << CARRIER_MANTISSA;
    const int powers_code = !block->bare && core_codes_are_powers(&block->scale_coder);
    uintw powers[RUN_BLOCKS];
    const size_t count = j->k->loopsw->pow2_powers(&j->p->pow2, wanted, amax, powers);
    s->divide = 0;
    s->second = 1;
    if (size == 1 && (block->bare || powers_code)) {
        const uint32_t bias = block->bare ? 0 : 127, mask = block->bare ? block->code_mask : 255;
        if (j->k->loopsw->pow2_codes(bias, mask, count, amax, powers, s->down, codes))
            block_zero_codes(j, count, amax, size, codes);
        return count;
    }
    for (size_t b = 0; b < count; b++) {
        s->down[b] = core_value(one - powers[b]);
        s->s[b] = core_value(one + powers[b]);
        if (block->bare)
            store_code(codes, size, b, (uint32_t)core_exponent(core_bits(s->s[b])) & block->code_mask);
    }
    if (!block->bare)
        j->k->loopsw->encode(&block->scale_coder, count, s->s, s->s, size, codes);
    block_zero_codes(j, count, amax, size, codes);
    return count;
}

/* The codes of scales that block_tile_scales found. */
static void block_scale_codes(const block_job *j, size_t count, const uintw *amax, const block_scales *s, size_t size,
                              void *codes)
{
    int zeros = 0;
    if (j->block->bare)
        for (size_t b = 0; b < count; b++)
            store_code(codes, size, b, (uint32_t)core_exponent(core_bits(s->s[b])) & j->block->code_mask);
    else if (j->p->scales_at_once)
        j->k->loopsw->codes(&j->p->scale_direct, 0, count, 1, NULL, NULL, s->s, size, codes);
    else
        j->k->loopsw->encode(&j->block->scale_coder, count, s->s, s->s, size, codes);
    for (size_t b = 0; b < count && j->block->powers; b++) /* other scales of zeros are coded as what they are */
        zeros |= amax[b] == 0;
    if (zeros)
        block_zero_codes(j, count, amax, size, codes);
}

/* `blocks` full runs in a row from number `block` on, with elements from place `at` of x on, the first of them of this
 * index: how many. */
static uint64_t block_code_runs(const block_job *j, uint64_t block, uint64_t index, uint64_t blocks, int64_t at)
{
    const block_sink *sink = j->call->sink;
    const size_t length = (size_t)j->walk.tile_length;
    const int in_place = block_in_place(j);
    const int direct = block_codes_at_once(j) && is_group(length);
    const size_t most = direct && j->p->size == 1 ? WORDS_TILE : TILE, fit = most / length;
    const int powers = j->p->pow2.usable && j->block->candidates < 2;
    const size_t full = fit < RUN_BLOCKS ? fit : RUN_BLOCKS;
    const size_t scale_size = code_size(fpemu_scale_bits(j->call->format));
    uint64_t codes[TILE], scales[RUN_BLOCKS]; /* of any size */
    _Alignas(LINE) realw t[TILE], tile[ASIDE(WORDS_TILE)];
    uintw amax[RUN_BLOCKS];
    block_scales s;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        const realw *const x = in_place ? j->x + at : tile;
        if (!in_place)
            block_load(j, at, 1, wanted * length, tile);
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t count = powers ? block_coded_powers(j, wanted, amax, &s, scale_size, scales)
                                    : block_tile_scales(j, wanted, amax, length, index, x, &s);
        const size_t n = count * length;
        if (count == 0)
            return done;
        const int fast = direct && s.divide && j->p->quotients && j->k->loopsw->runs_inverses(count, amax, s.s, s.down);
        if (direct) {
            j->k->loopsw->codes(&j->p->direct, s.divide, length, count, fast ? s.s : s.down, fast ? s.down : NULL, x,
                                j->p->size, codes);
        } else {
            j->k->loopsw->runs_t(s.divide, j->block->sticky, length, count, s.down, x, t);
            block_codes_of(j, index, n, x, t, t, codes);
        }
        if (!powers)
            block_scale_codes(j, count, amax, &s, scale_size, scales);
        sink->runs(sink->context, block + done, count, length, scale_size, scales, j->p->size, codes);
        at += (int64_t)n;
        index += n;
        done += count;
        if (count < wanted)
            return done;
    }
    return blocks;
}

/* Blocks from the one visited as number v on: how many were done. */
static APART uint64_t block_code_many(const block_job *j, uint64_t v, uint64_t end)
{
    uint64_t done = 0;
    while (v + done < end) {
        core_place p;
        const uint64_t n = block_runs_from(&j->walk, v + done, end, &p);
        const uint64_t got = n ? block_code_runs(j, v + done, p.first, n, p.x) : 0;
        done += got;
        if (n == 0 || got < n)
            break;
    }
    return done;
}

/* Elements of a block with a known scale, or none, from `position` on where they are neighbours: how many. */
static APART uint64_t block_code_piece(const block_job *j, const block_part *p, uint64_t position, uint64_t end)
{
    const block_sink *sink = j->call->sink;
    const int kind = p->scale.kind, divide = kind == CORE_SCALE_DIVIDE, in_place = block_in_place(j);
    uint64_t codes[TILE]; /* of any size */
    _Alignas(LINE) realw t[TILE], tile[ASIDE(TILE)];
    if (kind != CORE_SCALE_NONE && kind != CORE_SCALE_MULTIPLY && kind != CORE_SCALE_DIVIDE)
        return 0;
    const core_span span = fpemu_walk_span(&j->walk, &p->place, position, end - position);
    if (span.step != 1 || span.x_step != 1 || (span.n < end - position && span.n % BLOCK_TILE))
        return 0;
    const uint64_t most = in_place && block_codes_at_once(j) ? sizeof codes / j->p->size : TILE;
    for (uint64_t at = 0, m; at < span.n; at += m) {
        const int64_t place = span.x + (int64_t)at;
        const realw *const x = in_place ? j->x + place : tile;
        m = span.n - at < most ? span.n - at : most;
        if (!in_place)
            block_load(j, place, 1, (size_t)m, tile);
        if (block_codes_at_once(j)) {
            j->k->loopsw->codes(&j->p->direct, divide, (size_t)m, 1, kind == CORE_SCALE_NONE ? NULL : &p->scale.down,
                                NULL, x, j->p->size, codes);
        } else {
            if (kind != CORE_SCALE_NONE)
                j->k->loopsw->scale_t(&p->scale, j->block->sticky, (size_t)m, x, t);
            block_codes_of(j, span.first + at, (size_t)m, x, kind == CORE_SCALE_NONE ? x : t, t, codes);
        }
        sink->codes(sink->context, p->block, position + at, (size_t)m, j->p->size, codes);
    }
    return span.n;
}
