/* SPDX-License-Identifier: BSD-2-Clause */
/* block_squeeze.inc.c - S2FP8 by its steps (core/squeeze_fast.h); included by blocks.inc.c. */

/* Whether the element format's plan does step where core_squeeze_values has it. */
static int block_squeeze_holds(const block_job *j, const core_squeezed *q)
{
    double t[2 * CORE_SQUEEZE_STEPS], rounded[2 * CORE_SQUEEZE_STEPS];
    uint64_t grid[2 * CORE_SQUEEZE_STEPS];
    int64_t integers[2 * CORE_SQUEEZE_STEPS];
    for (uint32_t k = 0; k < q->count; k++) {
        t[2 * k] = q->steps[k] * (1 - 0x1p-45);
        t[2 * k + 1] = q->steps[k] * (1 + 0x1p-45);
    }
    block_element_run64(WIDE(j), j->k, 2 * (size_t)q->count, t, NULL, 0, grid, rounded, integers);
    for (uint32_t k = 0; k < q->count; k++)
        if (rounded[2 * k] < q->values[k] || rounded[2 * k] > q->values[k] || rounded[2 * k + 1] < q->values[k + 1] ||
            rounded[2 * k + 1] > q->values[k + 1])
            return 0;
    return 1;
}

/* Finds the steps for the numbers of the tensor; returns whether there are such. */
static APART int block_squeeze_begin(block_job *j, const fpemu_format *f)
{
    const core_tensor tensor = j->block->tensor;
    const core_plan64 *p = &WIDE(j)->p->plan;
    const double far = core_value64(core_power64(1000));
    core_squeezed q;
    double past;
    uint64_t grid;
    int64_t integer;
    if (!core_squeeze_is_float(f) || p->wrap)
        return 0;
    block_element_run64(WIDE(j), j->k, 1, &far, NULL, 0, &grid, &past, &integer);
    if (!core_squeeze_values(&q, f, p->mode, past) || !core_squeeze_tensor(&q, tensor) || !block_squeeze_holds(j, &q))
        return 0;
    const uint32_t finite = q.values[q.count] > DBL_MAX ? q.count : q.count + 1;
    j->k->unsqueeze((double)q.alpha, (double)q.beta, q.count, q.steps, q.x);
    j->k->unsqueeze((double)q.alpha, (double)q.beta, finite - 1, q.values + 1, q.y + 1);
    for (uint32_t k = 1; k <= q.count; k++)
        q.y[k] = k < finite ? core_finite64(q.y[k]) : core_s2fp8_y(tensor, q.values[k]);
#if CARRIER_BITS == 32
    if (!core_squeeze_search32(&q, p, j->searches))
        return 0;
    j->k->loops32->codebook_make(j->searches);
    return j->searches[0].usable || j->searches[0].planes.usable;
#else
    for (int end = 0; end < 2; end++) {
        core_squeeze_search64(&q, end ? 1 : -1, j->searches + end);
        j->k->loops64->codebook_make(j->searches + end);
        if (!j->searches[end].usable)
            return 0;
    }
    return 1;
#endif
}

/* One element by the rule. */
static uintw block_squeeze_element(const block_job *j, realw x)
{
    const core_tensor tensor = j->block->tensor;
    const double t = core_s2fp8_t(tensor, (double)x);
    double p;
    uint64_t grid;
    int64_t integer;
    block_element_run64(WIDE(j), j->k, 1, &t, NULL, 0, &grid, &p, &integer);
    const double y = core_s2fp8_y(tensor, p);
    return y == y ? core_saturated_bits(y) : CARRIER_INF | CARRIER_INF >> 1;
}

/* n <= TILE elements. */
static void block_squeeze_tile(const block_job *j, size_t n, const realw *x, realw *y)
{
    realw a[TILE], found[TILE];
    uintw largest;
    j->k->loopsw->magnitudes(n, x, a, &largest);
    j->k->loopsw->codebook(j->searches, n, a, found);
#if CARRIER_BITS == 64
    realw above[TILE]; /* of the other end of the bands: inside these the rule decides */
    j->k->loopsw->codebook(j->searches + 1, n, a, above);
    if (memcmp(found, above, n * sizeof *found) != 0)
        for (size_t i = 0; i < n; i++)
            if (found[i] < above[i] || found[i] > above[i])
                found[i] = core_value(block_squeeze_element(j, a[i]));
#endif
    if (largest >= CARRIER_INF) { /* what is not finite comes as the rule has it, sign and all */
        for (size_t i = 0; i < n; i++) {
            uintw u, v;
            memcpy(&u, x + i, sizeof u);
            memcpy(&v, found + i, sizeof v);
            v = u << 1 >> 1 < CARRIER_INF ? v | (u & CARRIER_SIGN) : block_squeeze_element(j, x[i]);
            memcpy(y + i, &v, sizeof v);
        }
        return;
    }
    j->k->loopsw->signs(n, x, found, y);
}

/* Elements of a tensor from `position` on, as block_fused_piece. */
static uint64_t block_squeeze_piece(const block_job *j, const block_part *p, uint64_t position, uint64_t end)
{
    realw tile[ASIDE(TILE)];
    const core_span span = fpemu_walk_span(&j->walk, &p->place, position, end - position);
    if (p->scale.kind != CORE_SCALE_S2FP8 || span.step != 1 || span.x_step != 1 || span.y_step != 1)
        return 0;
    const int in_place = block_in_place(j);
    for (uint64_t at = 0, m; at < span.n; at += m) {
        const int64_t from = span.x + (int64_t)at, to = span.y + (int64_t)at;
        m = span.n - at < TILE ? span.n - at : TILE;
        if (!in_place)
            block_load(j, from, 1, (size_t)m, tile);
        block_squeeze_tile(j, (size_t)m, in_place ? j->x + from : tile, in_place ? j->y + to : tile);
        if (!in_place)
            block_store(j, to, 1, (size_t)m, tile);
    }
    return span.n;
}
