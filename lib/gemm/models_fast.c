/* SPDX-License-Identifier: BSD-2-Clause */
/* models_fast.c - the models of core/dot_models.h for all lanes of a row at a time: each model as a sequence of one
 * operation, round(v * w + u), on arrays, and what it counts for. tests/gpu/gemm.c holds results and counters
 * against the reference, tests/unit/check_gemm.c and tests/against_judges/gemm.c against the definition. */
#include <math.h>

#include "models.h"

/* -------------------------------------------------------------------------------------------- one operation */

/* By the reference's operation, lane by lane, or those of `lanes`. sum: an addition that changes nothing is counted. */
static void operate_slowly(const core_target *g, size_t n, const dot_terms *a, const uint32_t *r, int sum,
                           core_dot_tally *tally, const uint64_t *lanes, double *y)
{
    for (size_t i = 0; i < n; i++) {
        const double v = a->v[a->one ? 0 : i], w = a->w ? a->w[i] : 1, u = a->u ? a->u[i] : 0, f = a->f ? a->f[i] : 1;
        const uint32_t bits = g->stochastic ? r[i] : 0;
        if (lanes && !lanes[i])
            continue;
        y[i] = a->wide ? core_dot_operate_exact(g, v, w, a->u != NULL, u, f, bits, sum, tally)
                       : core_dot_operate_with(g, bits, v, w, a->u != NULL, u, f, sum, tally);
    }
}

/* Exact results to odd. wide: products need not be numbers of binary64. */
static void operate_exactly(const kernels *k, size_t n, fpemu_operation work, int wide, int downward, const double *v,
                            const double *w, const double *u, double *odd)
{
    const int second = downward && work != FPEMU_OPERATION_MUL; /* a product's zero has a sign of its own */
    double nearest[DOT_LANES];
    if (wide || k->loops64->odd[second][work])
        k->loops64->odd[second][work](n, v, w, u, odd);
    else
        k->exact[work](n, v, w, u, downward ? CORE_SIGN64 : 0, nearest, odd);
}

/* binary64 rounded to odd, taken to g. */
static void round_odd(const kernels *k, const gemm_target *g, size_t n, double *odd, const uint32_t *r, double *y)
{
    const core_plan64 *p = &g->rule->plan;
    for (size_t i = 0; i < n && p->nan[0] != p->nan[1]; i++) /* which sign a processor's NaN has */
        odd[i] = isnan(odd[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : odd[i];
    k->loops64->round[p->rule][p->mode](p, n, odd, r, y);
}

/* By several passes of binary64 arithmetic, where it has the bits. */
static int operate_fast(const kernels *k, const gemm_target *g, size_t n, const dot_terms *a, int wide,
                        const uint32_t *r, double *y, core_counts *c, uint64_t *swamped, uint64_t *skipped)
{
    const fpemu_operation work = !a->u ? FPEMU_OPERATION_MUL : a->w ? FPEMU_OPERATION_FMA : FPEMU_OPERATION_ADD;
    double left[DOT_LANES], right[DOT_LANES], odd[DOT_LANES];
    dot_terms t = *a;
    if (a->one) {
        k->spread(n, *a->v, left);
        t.v = left;
    }
    if (a->f) { /* products of binary32 numbers */
        k->exact[FPEMU_OPERATION_MUL](n, a->u, a->f, a->u, 0, right, odd);
        t.u = right;
    }
    t.f = NULL;
    t.one = 0;
    t.odd = odd;
    operate_exactly(k, n, work, wide, g->rule->plan.mode == FPEMU_MODE_RTN, t.v, t.w ? t.w : t.u, t.u ? t.u : t.w, odd);
    round_odd(k, g, n, odd, r, y);
    return !c || k->loops64->sum[SUM_GIVEN](&g->rule->plan, n, &t, NULL, y, c, swamped, skipped);
}

/* y = g(v * w + u * f) on n lanes, with random bits r; y may be an operand. sum: an addition that changes nothing is
 * counted. */
static void operate_lanes(gemm_tile *w, const gemm_target *g, size_t n, const uint32_t *r, const dot_terms *a, int sum,
                          double *y)
{
    const kernels *const k = w->call->k;
    core_dot_tally *const tally = w->call->counted ? &w->tally : NULL;
    const int wide = a->wide || !g->rule->by_binary64, flushes = g->rule->flushed > 0;
    dot_terms own;
    if (flushes) {
        own = *a;
        own.flushed = g->rule->flushed;
        a = &own;
    }
    /* sums without a product go so whatever they are of */
    const int at_once =
        k->loops64->sum[g->form] && (!wide || !a->w || g->form == SUM_NATIVE) && (!a->f || g->rule->narrow);
    const int fast =
        g->is_short && !flushes && (!tally || g->within) &&
        (!wide || (!a->f && FLT_EVAL_METHOD == 0 && k->has_fma && k->loops64->odd[0][FPEMU_OPERATION_FMA]));
    if (!at_once && !fast) {
        operate_slowly(g->rule, n, a, r, sum, tally, NULL, y);
        return;
    }
    core_counts *const c = tally ? &tally->c : NULL;
    uint64_t *const swamped = tally && sum ? &tally->swamped : NULL, skipped[DOT_LANES];
    double result[DOT_LANES], *const to = tally ? result : y; /* y may be an operand */
    const int all = at_once ? k->loops64->sum[g->form](&g->rule->plan, n, a, r, to, c, swamped, skipped)
                            : operate_fast(k, g, n, a, wide, r, to, c, swamped, skipped);
    if (!tally)
        return;
    tally->roundings += n;
    for (size_t i = 0; i < n && !all; i++)
        tally->roundings -= skipped[i] != 0; /* which counts itself */
    if (!all)
        operate_slowly(g->rule, n, a, r, sum, tally, skipped, result);
    memcpy(y, result, n * sizeof *y);
}

/* The same on the lanes of row r of the tile, rounding number t. */
static void operate(gemm_tile *w, const gemm_target *g, size_t r, uint64_t t, const dot_terms *a, int sum, double *y)
{
    uint32_t bits[DOT_LANES];
    if (g->rule->stochastic) {
        fpemu_rounding numbered = *g->rounding;
        numbered.stream = core_dot_stream(numbered.stream, t);
        fpemu_random_fill(w->call->k, &numbered, numbered.offset + tile_index(w, r), w->lanes, bits);
    }
    operate_lanes(w, g, w->lanes, bits, a, sum, y);
}

/* --------------------------------------------------------------------------------------------------- models */

static double *second_of(gemm_tile *w, size_t r)
{
    return sums_of(w, r) + w->call->tile_lanes;
}

/* From one product of a slab of op(A) to the next. */
static size_t step_of_x(const gemm_tile *w)
{
    return w->call->paired ? w->ld : 1;
}

/* The product as it enters the sum: x * y on the lanes, rounded into `room` where the spec says so. */
static dot_terms product_terms(gemm_tile *w, size_t r, uint64_t t, const double *x, const double *y, double *room)
{
    dot_terms p = {.v = x, .w = y, .one = (uint8_t)!w->call->paired};
    if (w->call->targets.dot.product.given) {
        operate(w, &w->call->targets.product, r, t, &p, 0, room);
        p = (dot_terms){.v = room};
    }
    return p;
}

/* The scale of chunk number `chunk` of element o of an operand. */
static double scale_of(const gemm_tile *w, const gemm_operand *s, size_t o, size_t chunk)
{
    const core_dot *d = &w->call->targets.dot;
    const int carrier = w->call->targets.carrier;
    const size_t chunks = (size_t)((d->depth - 1) / d->scaled + 1), size = carrier == 32 ? 4 : 8;
    const size_t at = s->scales_batch * w->batch + o * chunks + chunk;
    return s->scales ? load(carrier, (const char *)s->scales + at * size) : 1;
}

/* Whether v * scale, itself a product of two binary32 numbers, is surely one of binary64: powers of two, 0, inf. */
static int shifts_exactly(double v, double scale)
{
    const double magnitude = fabs(v);
    return (core_bits64(scale) & ((UINT64_C(1) << 52) - 1)) == 0 &&
           (v == 0 || (magnitude > 0x1p-500 && magnitude < 0x1p500));
}

void fpemu_fast_chunk(gemm_tile *w, size_t r, size_t k, uint64_t t, double *inner, double *s)
{
    const gemm_call *c = w->call;
    dot_terms both = {.v = inner, .u = s};
    double scale[DOT_LANES];
    if (c->rows.scales || c->lanes.scales) {
        const size_t chunk = k / (size_t)c->targets.dot.chunk;
        const double row = scale_of(w, &c->rows, w->row + r, chunk);
        for (size_t i = 0; i < w->lanes; i++) {
            scale[i] = row * scale_of(w, &c->lanes, w->lane + i, chunk);
            both.wide |= (uint8_t)!shifts_exactly(inner[i], scale[i]);
        }
        both.w = scale;
    }
    operate(w, &c->targets.outer, r, t, &both, 1, s);
    for (size_t i = 0; i < w->lanes; i++)
        inner[i] = 0;
}

/* Whether add_rows takes the sums' form. */
static int has_rows(const gemm_target *g)
{
    return g->form == SUM_NEAREST && g->rule->by_binary64;
}

/* Adds nk rows of products, of row number k of a slab on and `every` that, to sums s; they are not rounded. */
static void add_rows(gemm_tile *w, size_t nk, size_t k, size_t every, const double *x, const double *y, double *s)
{
    const gemm_target *const g = &w->call->targets.inner;
    const size_t n = w->lanes, step = step_of_x(w), each = w->call->paired;
    core_dot_tally *const tally = w->call->counted ? &w->tally : NULL;
    dot_terms t = {.v = x + k * step,
                   .w = y + k * w->ld,
                   .step_v = every * step,
                   .step_w = every * w->ld,
                   .flushed = g->rule->flushed,
                   .one = !each};
    for (size_t i = 0, done; i < n; i += done) {
        done = !has_rows(g) ? 0
                            : w->call->k->loops64->sum_rows(&g->rule->plan, nk, n - i, &t, s + i,
                                                            tally ? &tally->c : NULL, tally ? &tally->swamped : NULL);
        if (tally)
            tally->roundings += nk * done;
        const size_t left = n - i - done, few = left < SUM_GROUP || !has_rows(g) ? left : SUM_GROUP;
        dot_terms row = {.v = t.v + each * done, .w = t.w + done, .u = s + i + done, .one = t.one};
        for (size_t l = 0; l < nk && few; l++, row.v += t.step_v, row.w += t.step_w)
            operate_lanes(w, g, few, NULL, &row, 1, s + i + done);
        done += few;
        t.v += each * done;
        t.w += done;
    }
}

void fpemu_fast_sequential(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    const gemm_targets *targets = &w->call->targets;
    const core_dot *d = &targets->dot;
    const unsigned given = d->product.given;
    double *s = sums_of(w, r), *sum = d->chunk ? second_of(w, r) : s, room[DOT_LANES];
    const int at_once = !given && has_rows(&targets->inner);
    uint64_t rows;
    for (uint64_t k = k0; k < k0 + nk; k += rows, x += rows * step_of_x(w), y += rows * w->ld) {
        const uint64_t t = k * (given + 1) + (d->chunk ? k / d->chunk : 0), left = k0 + nk - k;
        const uint64_t of_chunk = d->chunk ? d->chunk - k % d->chunk : left;
        rows = !at_once ? 1 : left < of_chunk ? left : of_chunk;
        if (at_once) {
            add_rows(w, (size_t)rows, 0, 1, x, y, sum);
        } else {
            dot_terms p = product_terms(w, r, t, x, y, room);
            p.u = sum;
            operate(w, &targets->inner, r, t + given, &p, 1, sum);
        }
        if (core_dot_chunk_ends(d, k + rows - 1))
            fpemu_fast_chunk(w, r, (size_t)(k + rows - 1), t + rows + given, sum, s);
    }
}

void fpemu_fast_kahan(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    const gemm_target *g = &w->call->targets.inner;
    const unsigned given = w->call->targets.dot.product.given;
    const size_t n = w->lanes;
    double *s = sums_of(w, r), *minus_e = second_of(w, r);
    double room[DOT_LANES], d[DOT_LANES], t[DOT_LANES];
    for (uint64_t k = k0; k < k0 + nk; k++, x += step_of_x(w), y += w->ld) {
        const uint64_t number = k * (given + 4);
        dot_terms p = product_terms(w, r, number, x, y, room);
        for (size_t i = 0; i < n; i++)
            minus_e[i] = -minus_e[i];
        p.u = minus_e;
        operate(w, g, r, number + given, &p, 0, room);
        const dot_terms sum = {.v = s, .u = room, .near = 1};
        operate(w, g, r, number + given + 1, &sum, 1, t);
        for (size_t i = 0; i < n; i++)
            s[i] = -s[i];
        const dot_terms change = {.v = t, .u = s, .near = 1};
        operate(w, g, r, number + given + 2, &change, 0, d);
        for (size_t i = 0; i < n; i++)
            room[i] = -room[i];
        const dot_terms rest = {.v = d, .u = room, .near = 1};
        operate(w, g, r, number + given + 3, &rest, 0, minus_e);
        memcpy(s, t, n * sizeof *s);
    }
}

/* Nodes of the tree of row r that wait at a level; level 0 is a leaf, to be multiplied by what lies at level -1. */
static double *nodes_at(gemm_tile *w, size_t r, int level)
{
    return sums_of(w, r) + (size_t)(level + 1) * LANES_FEW;
}

/* Joins the node that waits at `level` with the node `right` (v * w), node `number` of the next level; into `to`. */
static void join_nodes(gemm_tile *w, size_t r, int level, uint64_t number, dot_terms right, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t products = d->product.given * d->depth, leaves = d->depth + d->start_from_c;
    dot_terms both = right;
    both.u = nodes_at(w, r, level);
    both.f = level || d->product.given ? NULL : nodes_at(w, r, -1);
    both.near = level > 0 && !right.w; /* a leaf may pass up as it is */
    operate(w, &w->call->targets.inner, r, products + core_dot_level(leaves, level + 1) + number, &both, 1, to);
}

void fpemu_fast_leaf(gemm_tile *w, size_t r, uint64_t k, dot_terms node)
{
    double room[LANES_FEW];
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        join_nodes(w, r, level, k >> 1, node, room);
        node = (dot_terms){.v = room};
    }
    if (node.one)
        w->call->k->spread(w->lanes, *node.v, nodes_at(w, r, level));
    else
        memcpy(nodes_at(w, r, level), node.v, w->lanes * sizeof(double));
    if (level == 0 && node.w)
        memcpy(nodes_at(w, r, -1), node.w, w->lanes * sizeof(double));
    else if (level == 0)
        w->call->k->spread(w->lanes, 1, nodes_at(w, r, -1));
}

void fpemu_fast_pairwise(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y)
{
    double room[LANES_FEW];
    for (uint64_t k = k0; k < k0 + nk; k++, x += step_of_x(w), y += w->ld)
        fpemu_fast_leaf(w, r, k + w->call->targets.dot.start_from_c, product_terms(w, r, k, x, y, room));
}

void fpemu_fast_root(gemm_tile *w, size_t r, double *to)
{
    const core_dot *d = &w->call->targets.dot;
    const uint64_t leaves = d->depth + d->start_from_c;
    double room[LANES_FEW] = {0};
    dot_terms node = {.v = room};
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            join_nodes(w, r, level, (k - 1) >> 1, node, room);
            node = (dot_terms){.v = room};
        } else {
            node.v = nodes_at(w, r, level);
            node.w = level ? NULL : nodes_at(w, r, -1);
        }
        have = 1;
    }
    if (leaves == 1)
        operate(w, &w->call->targets.inner, r, d->product.given * d->depth, &node, 0, room);
    else if (leaves)
        memcpy(room, node.v, w->lanes * sizeof *room);
    memcpy(to, room, w->lanes * sizeof *to);
}

void fpemu_fast_steps(gemm_call *c)
{
    const core_dot *const d = &c->targets.dot;
    dot_step *const s = &c->step;
    const size_t period = (size_t)core_dot_period(d);
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < SLAB_FEW; k++)
        c->place[k] =
            (uint8_t)(k / period * period + core_dot_place(d, k % period / d->block * d->block, k % d->block));
    s->size = d->group > 1 ? d->group : 1;
    s->terms = d->block / s->size;
    s->ways = d->ways ? d->ways : 1;
    s->least = d->chained && !d->flush ? -1 : d->least_d;
    s->flushed = d->inner.flushed;
    s->scale = d->scale;
    s->floor = d->floor;
    s->late = d->late ? core_value64((uint64_t)(1023 + d->late) << 52) : 0;
    s->reach = d->late ? 0x1p896 : 1;
    s->exact = d->exact;
    const fpemu_format *const f = &c->targets.spec->sum.inner.format;
    if (f->emin != -126 || f->emax != 127 || f->mantissa_bits < 1)
        return;
    s->rounding = d->inner.plan.mode == FPEMU_MODE_RTZ ? STEP_CUT : f->mantissa_bits == 23 ? STEP_NEAREST : STEP_APART;
    s->grid = core_value64(core_power64(-126 - (int)f->mantissa_bits));
    s->keep = ~UINT64_C(0) << (52 - f->mantissa_bits);
}

double fpemu_fast_powers(const gemm_tile *w, const gemm_operand *s, int along_k, size_t lines, size_t first, size_t k0,
                         size_t nk, double *x, double *powers)
{
    const gemm_call *c = w->call;
    const core_dot *d = &c->targets.dot;
    const size_t n = along_k ? nk : w->lanes, ld = along_k ? SLAB_FEW : w->ld;
    const int scaled = d->group && (c->rows.scales || c->lanes.scales);
    double scales[SLAB_FEW], most = 0;
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = 0, run; i < n && scaled; i += run) {
            const size_t k = k0 + (along_k ? i : line), chunk = k / (size_t)d->scaled;
            const size_t left = (size_t)d->scaled * (chunk + 1) - k, rest = n - i;
            run = !along_k ? 1 : left < rest ? left : rest;
            if (!along_k && line && k % d->scaled)
                break; /* those of the line before */
            c->k->spread(run, scale_of(w, s, first + (along_k ? line : i), chunk), scales + i);
        }
        double *const at = x + line * ld, *const to = powers + line * ld;
        const double largest =
            c->k->take_powers(n, s->least, scaled ? scales : NULL, d->least_scale, d->group > 1, at, to);
        most = largest > most || largest != largest ? largest : most;
        for (size_t i = n; i < ld && !along_k; i++) /* lanes that are none */
            at[i] = to[i] = 0;
    }
    return most;
}

/* Whether a step of lane i adds a NaN. */
static int takes_nan(const gemm_tile *w, size_t i, const dot_step *s, double d)
{
    int nan = isnan(d);
    for (size_t t = 0; t < s->terms * s->size; t++) {
        const size_t l = s->place[t];
        nan |= l < s->have && (isnan(s->y[l * s->ld + i]) || isnan(w->call->paired ? s->x[l * s->ld + i] : s->x[l]));
    }
    return nan;
}

/* The results y of a step at product k: counted, and by the reference where binary64 has not the products' sum. */
static void end_step(gemm_tile *w, const dot_step *s, size_t k, const double *d, const uint64_t *lost, uint64_t swamped,
                     double *y)
{
    const gemm_call *const c = w->call;
    const double *const t = s->sums;
    const dot_terms sums = {.v = s->exact ? s->near : t, .odd = t};
    const size_t n = w->lanes;
    core_dot_tally *const tally = c->counted ? &w->tally : NULL;
    const int given =
        tally && !(s->exact && swamped) &&
        c->k->loops64->sum[SUM_GIVEN](&c->targets.dot.inner.plan, n, &sums, NULL, y, &tally->c, NULL, NULL);
    if (tally && !s->exact)
        tally->swamped += swamped;
    if (given) {
        uint64_t inexact = 0;
        for (size_t i = 0; i < n; i++)
            inexact += (uint64_t)(lost[i] != 0) & (uint64_t)(t[i] == y[i]);
        tally->c.inexact += inexact;
        tally->roundings += n;
        return;
    }
    core_dot dot = c->targets.dot;
    dot.wide = 1;
    for (size_t i = 0; i < n; i++) {
        const core_dot_line row = {c->paired ? s->x + i : s->x, (int64_t)step_of_x(w), NULL};
        const core_dot_line lane = {s->y + i, (int64_t)s->ld, NULL};
        if (s->exact && lost[i])
            y[i] = core_dot_exact_step(&dot, row, lane, k, s->have, d[i], tally);
        else if (tally)
            y[i] = core_dot_step_result(&dot, t[i], sums.v[i], isnan(t[i]) && takes_nan(w, i, s, d[i]), lost[i] != 0,
                                        tally);
    }
}

/* Chains of fused multiply-adds, one of which begins with d unless d joins late; they join in pairs. */
static void advance_chains(gemm_tile *w, const dot_step *s, double *d)
{
    const gemm_target *const g = &w->call->targets.inner;
    const size_t bytes = w->lanes * sizeof *d;
    double chain[8][LANES_FEW];
    for (size_t way = 0; way < s->ways; way++) {
        memset(chain[way], 0, sizeof chain[way]);
        if (way == 0 && !(s->late > 0))
            memcpy(chain[0], d, bytes);
        for (size_t t = way, rows; t < s->terms; t += rows * s->ways) {
            const size_t k = s->place[t];
            for (rows = 1; t + rows * s->ways < s->terms && s->place[t + rows * s->ways] == k + rows * s->ways; rows++)
                if (k + rows * s->ways >= s->have)
                    break;
            if (k < s->have)
                add_rows(w, rows, k, s->ways, s->x, s->y, chain[way]);
        }
    }
    for (size_t gap = 1; gap < s->ways; gap *= 2)
        for (size_t way = 0; way < s->ways; way += 2 * gap) {
            const dot_terms both = {.v = chain[way], .u = chain[way + gap]};
            operate_lanes(w, g, w->lanes, NULL, &both, 1, chain[way]);
        }
    const dot_terms both = {.v = chain[0], .u = d};
    if (s->late > 0)
        operate_lanes(w, g, w->lanes, NULL, &both, 1, d);
    else
        memcpy(d, chain[0], bytes);
}

void fpemu_fast_fused(gemm_tile *w, size_t r, size_t k0, size_t nk, const double *x, const double *y, const double *px,
                      const double *py, double most)
{
    const gemm_call *const c = w->call;
    const core_dot *dot = &c->targets.dot;
    const core_plan64 *p = &dot->inner.plan;
    const size_t period = (size_t)core_dot_period(dot), end = (nk + period - 1) / period * period, n = w->lanes;
    const double plus = dot->late || dot->exact ? -0.0 : 0; /* a zero is +0 */
    double *s = sums_of(w, r), *d = dot->chunk ? second_of(w, r) : s, t[LANES_FEW];
    double result[LANES_FEW], whole[LANES_FEW], near[LANES_FEW];
    uint64_t lost[LANES_FEW], swamped;
    dot_step step = c->step;
    step.x = x;
    step.y = y;
    step.sums = whole;
    step.near = near;
    step.powers_x = px;
    step.powers_y = py;
    step.ld = w->ld;
    step.have = nk;
    step.special = (uint8_t)!(most < (dot->late ? 0x1p128 : (double)INFINITY));
    for (size_t k = 0; k < end; k += dot->block) {
        step.place = c->place + k;
        if (dot->chained) {
            advance_chains(w, &step, d);
        } else {
            c->k->loops64->step[c->paired][c->counted](&step, n, d, t, lost, &swamped);
            if (step.rounding == STEP_APART)
                c->k->loops64->round[p->rule][p->mode](p, n, t, NULL, result);
            double *const results = step.rounding == STEP_APART ? result : t;
            if (c->counted || (dot->exact && swamped))
                end_step(w, &step, k, d, lost, swamped, results);
            for (size_t i = 0; i < n; i++)
                d[i] = plus + results[i];
        }
        if (dot->chunk && ((k0 + k + dot->block) % dot->chunk == 0 || (k + dot->block == end && k0 + nk == dot->depth)))
            fpemu_fast_chunk(w, r, k0 + k, (k0 + k) / dot->chunk, d, s);
    }
}

void fpemu_fast_chained(gemm_tile *w, size_t nk, const float *x, float *sums)
{
    const gemm_call *const c = w->call;
    const size_t period = (size_t)core_dot_period(&c->targets.dot), end = (nk + period - 1) / period * period;
    float to[LANES_FEW];
    dot_step step = c->step;
    step.place = c->place;
    step.ld = w->ld;
    step.have = nk;
    if (!c->k->loops32->chains(&step, end, w->lanes, x, w->y.f, sums, to)) {
        core_dot narrow = c->targets.dot;
        narrow.wide = 0;
        for (size_t i = 0; i < w->lanes; i++) {
            core_dot_sum sum = {.s = (double)sums[i]};
            const core_dot_line row = {x, 1, NULL}, lane = {w->y.f + i, (int64_t)w->ld, NULL};
            core_dot_fused(&narrow, row, lane, 0, nk, 0, &sum, NULL);
            to[i] = (float)sum.s;
        }
    }
    memcpy(sums, to, w->lanes * sizeof *sums);
}
