/* SPDX-License-Identifier: BSD-2-Clause */
/* block_codes.inc.c - codes of many elements at a time, for packing; included by blocks.inc.c. Elements whose
 * blocks have ordinary scales: the others are left to block_flush, which knows everything. */

/* Whether these forms serve a call: values come from neighbours in memory, and codes from loops. */
static int block_can_code(const block_job *j)
{
    const block_call *call = j->call;
    return call->sink && call->sink->runs && !j->scales_only && !call->stats && !call->compact && !j->gives &&
           block_in_place(j) && !j->nan_seen && !call->rounding->compat && !j->element.is_table &&
           !j->element.one_by_one && !j->element.two_steps;
}

/* Codes of at most TILE elements x, of which t are the quotients; `index` is the first one's. */
static void block_codes_of(const block_job *j, uint64_t index, size_t n, const realw *x, const realw *t, void *codes)
{
    const core_plan *p = &j->element.plan;
    realw rounded[TILE];
    uint32_t r[TILE];
    if (j->at_once) {
        j->k->loopsw->encode_nearest(&j->direct, n, t, j->size, codes);
        return;
    }
    if (j->stochastic)
        fpemu_random_fill(j->k, j->call->rounding, j->call->rounding->offset + index, n, r);
    j->k->loopsw->round[p->rule][p->mode](p, n, t, r, rounded);
    j->k->loopsw->encode(&j->coder, n, x, rounded, j->size, codes);
}

/* Scales that are powers of two, as block_tile_scales has the others; of a block of zeros it is 1. */
static size_t block_coded_powers(const block_job *j, size_t wanted, const uintw *amax, block_scales *s)
{
    const uintw one = (uintw)CARRIER_BIAS << CARRIER_MANTISSA;
    uintw powers[POW2_LANES];
    const size_t count = j->k->loopsw->pow2_powers(&j->pow2, wanted, amax, powers);
    s->divide = 0;
    s->second = 1;
    for (size_t b = 0; b < count; b++) {
        s->down[b] = core_value(one - powers[b]);
        s->s[b] = core_value(one + powers[b]);
    }
    return count;
}

/* Their codes, of `size` bytes. */
static void block_scale_codes(const block_job *j, size_t count, const uintw *amax, const block_scales *s, size_t size,
                              void *codes)
{
    if (j->block.bare)
        for (size_t b = 0; b < count; b++)
            store_code(codes, size, b, (uint32_t)core_exponent(core_bits(s->s[b])) & j->block.code_mask);
    else
        j->k->loopsw->encode(&j->block.scale_coder, count, s->s, s->s, size, codes);
    for (size_t b = 0; b < count; b++)
        if (amax[b] == 0) { /* 1 will do for its elements, but has not its code */
            const core_extremes zeros = {0, 0, 0, 0, 0};
            core_scale found;
            core_scale_find(&j->block, &zeros, &found);
            store_code(codes, size, b, core_scale_code(&j->block, &found));
        }
}

/* `blocks` full runs in a row from number `block` on, with elements x, the first of them of this index: how many. */
static uint64_t block_code_runs(const block_job *j, uint64_t block, uint64_t index, uint64_t blocks, const realw *x)
{
    const block_sink *sink = j->call->sink;
    const size_t length = (size_t)j->walk.tile_length, fit = TILE / length;
    const size_t full = fit < POW2_BLOCKS ? fit : POW2_BLOCKS;
    const size_t scale_size = code_size(fpemu_scale_bits(j->call->format));
    uint64_t codes[TILE], scales[POW2_BLOCKS]; /* of any size */
    realw t[TILE];
    uintw amax[POW2_LANES];
    block_scales s;
    for (uint64_t done = 0; done < blocks;) {
        const size_t wanted = blocks - done < full ? (size_t)(blocks - done) : full;
        j->k->loopsw->runs_amax(length, wanted, x, amax);
        const size_t count =
            j->pow2.usable ? block_coded_powers(j, wanted, amax, &s) : block_tile_scales(j, wanted, amax, &s);
        const size_t n = count * length;
        if (count == 0)
            return done;
        j->k->loopsw->runs_t(s.divide, j->block.sticky, length, count, s.down, x, t);
        block_codes_of(j, index, n, x, t, codes);
        block_scale_codes(j, count, amax, &s, scale_size, scales);
        sink->runs(sink->context, block + done, count, length, scale_size, scales, j->size, codes);
        x += n;
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
        const uint64_t got = n ? block_code_runs(j, v + done, p.first, n, j->x + p.x) : 0;
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
    const int kind = p->scale.kind;
    uint64_t codes[TILE]; /* of any size */
    realw t[TILE];
    if (kind != CORE_SCALE_NONE && kind != CORE_SCALE_MULTIPLY && kind != CORE_SCALE_DIVIDE)
        return 0;
    const core_span span = fpemu_walk_span(&j->walk, &p->place, position, end - position);
    if (span.step != 1 || span.x_step != 1 || (span.n < end - position && span.n % BLOCK_TILE))
        return 0;
    for (uint64_t at = 0, m; at < span.n; at += m) {
        const realw *const x = j->x + span.x + (int64_t)at;
        m = span.n - at < TILE ? span.n - at : TILE;
        if (kind != CORE_SCALE_NONE)
            j->k->loopsw->scale_t(&p->scale, j->block.sticky, (size_t)m, x, t);
        block_codes_of(j, span.first + at, (size_t)m, x, kind == CORE_SCALE_NONE ? x : t, codes);
        sink->codes(sink->context, p->block, position + at, (size_t)m, j->size, codes);
    }
    return span.n;
}
