/* gemm_model.c - one operation, round(v * w + u), on all lanes, and the models as sequences of it. */
#include "call.h"

/* -------------------------------------------------------------------------------------------- one operation */

static double first_of(const terms *a, size_t i)
{
    return a->x ? *a->x : a->v[i];
}

static void exact_way(work *w, const goal *g, size_t n, const terms *a, const uint32_t *r, double *y)
{
    const core_exact one = core_exact_from(core_bits64(1.0));
    tile_counts counts;
    memset(&counts, 0, sizeof counts);
    for (size_t i = 0; i < n; i++) {
        core_exact x = core_exact_multiply(core_exact_from(core_bits64(first_of(a, i))),
                                           a->w ? core_exact_from(core_bits64(a->w[i])) : one);
        int nan_came = isnan(first_of(a, i)) || (a->w && isnan(a->w[i]));
        if (a->u) {
            const core_exact u = core_exact_multiply(core_exact_from(core_bits64(a->u[i])),
                                                     a->u_factor ? core_exact_from(core_bits64(*a->u_factor)) : one);
            nan_came |= isnan(a->u[i]) || (a->u_factor && isnan(*a->u_factor));
            x = core_exact_add(x, u, g->plan.mode);
        }
        uint64_t grid;
        const double result = core_value64(core_exact_round(&g->plan, &x, g->stochastic ? r[i] : 0, &grid));
        w->found_nan |= g->nan_is_error && x.kind == CORE_NOT_A_NUMBER;
        if (w->gathered) {
            core_count_exact(&g->plan, &x, result, grid, &counts);
            counts.invalid += x.kind == CORE_NOT_A_NUMBER && !nan_came;
        }
        y[i] = result;
    }
    if (w->gathered)
        fpemu_gather_tile(w->gathered, 64, 0, n, y, y, &counts);
}

/* Counts of the short way, from the exact results rounded to nearest and to odd. */
static void count_short(work *w, const goal *g, size_t n, const terms *a, const double *nearest, const double *odd,
                        const uint64_t *grid, const double *y)
{
    const kernels *k = w->j->k;
    tile_counts counts, extremes;
    memset(&counts, 0, sizeof counts);
    extremes.max_error = 0;
    k->loops64->count(&g->plan, n, odd, y, grid, &counts);
    k->loops64->count(&g->plan, n, nearest, y, grid, &extremes);
    counts.min_abs = extremes.min_abs;
    counts.max_abs = extremes.max_abs;
    counts.max_error = extremes.max_error;
    for (size_t i = 0; i < n; i++) {
        const double v = first_of(a, i), factor = a->w ? a->w[i] : 1, u = a->u ? a->u[i] : 0;
        counts.invalid +=
            isnan(odd[i]) && !isnan(v) && !isnan(factor) && !isnan(u) && !(a->u_factor && isnan(*a->u_factor));
    }
    fpemu_gather_tile(w->gathered, 64, 0, n, nearest, y, &counts);
}

/* binary64 rounded to odd, taken to g. */
static void round_odd(const kernels *k, const goal *g, size_t n, const double *odd, const uint32_t *r, double *y)
{
    const core_plan64 *p = &g->plan;
    if (g->fast)
        (p->mode == FPEMU_MODE_SR ? k->round_stochastic : k->round_nearest)(p, n, odd, r, y);
    else
        k->loops64->round[p->rule][p->mode](p, n, odd, r, y);
}

static void short_way(work *w, const goal *g, size_t n, const terms *a, const uint32_t *r, double *y)
{
    const kernels *k = w->j->k;
    const core_plan64 *p = &g->plan;
    const uint64_t zero_sign = p->mode == FPEMU_MODE_RTN ? CORE_SIGN64 : 0;
    double product[DOT_LANES], odd[DOT_LANES];
    if (a->u && a->x && a->w && !a->u_factor && !w->gathered) {
        if (g->fast && p->mode == FPEMU_MODE_RNE) {
            k->fma_nearest(p, n, *a->x, a->w, a->u, y);
            return;
        }
        k->fma_odd(n, *a->x, a->w, a->u, zero_sign, odd);
        round_odd(k, g, n, odd, r, y);
        return;
    }
    double right[DOT_LANES], nearest[DOT_LANES];
    uint64_t grid[DOT_LANES];
    const double *left = product, *other = a->u_factor ? right : a->u;
    if (!a->w && !a->x)
        left = a->v;
    else
        for (size_t i = 0; i < n; i++) /* exact, u_factor too: products of binary32 numbers */
            product[i] = a->w ? first_of(a, i) * a->w[i] : first_of(a, i);
    if (a->u_factor)
        for (size_t i = 0; i < n; i++)
            right[i] = a->u[i] * *a->u_factor;
    if (a->u && !w->gathered) {
        k->fma_odd(n, 1, left, other, zero_sign, odd);
    } else if (a->u) {
        k->exact[FPEMU_OPERATION_ADD](n, left, other, NULL, zero_sign, nearest, odd);
    } else {
        for (size_t i = 0; i < n; i++)
            nearest[i] = odd[i] = isnan(left[i]) ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : left[i];
    }
    if (!w->gathered) {
        round_odd(k, g, n, odd, r, y);
        return;
    }
    double result[DOT_LANES];
    k->loops64->round[p->rule][p->mode](&g->unbounded, n, odd, r, grid);
    k->loops64->finish(p, n, odd, grid, result);
    count_short(w, g, n, a, nearest, odd, grid, result);
    memcpy(y, result, n * sizeof *y); /* y may be an operand */
}

/* y = g(v * w + u) on n lanes of row `row` of the tile, rounding number t. */
static void operate(work *w, const goal *g, size_t row, uint64_t t, size_t n, const terms *a, int sum, double *y)
{
    const job *j = w->j;
    uint32_t r[DOT_LANES];
    if (g->stochastic) {
        fpemu_rounding numbered = g->rounding;
        numbered.stream = core_dot_stream(numbered.stream, t);
        const uint64_t index = ((uint64_t)w->batch * j->m + w->row + row) * j->index_row + w->lane;
        fpemu_random_fill(j->k, &numbered, numbered.offset + index, n, r);
    }
    double before[DOT_LANES], factor[DOT_LANES];
    terms old = *a;
    if (w->gathered && sum) { /* y may be an operand */
        memcpy(before, a->u, n * sizeof *before);
        old.u = before;
        if (!a->x) {
            memcpy(factor, a->v, n * sizeof *factor);
            old.v = factor;
        }
    }
    if (g->short_way && j->binary32 && !g->nan_is_error && !a->wide)
        short_way(w, g, n, a, r, y);
    else
        exact_way(w, g, n, a, r, y);
    if (w->gathered && sum)
        for (size_t i = 0; i < n; i++)
            w->gathered->stats.swamped += (unsigned)core_dot_swamped(
                core_bits64(first_of(&old, i)), core_bits64(old.w ? old.w[i] : 1), core_bits64(old.u[i]),
                core_bits64(old.u_factor ? *old.u_factor : 1), core_bits64(y[i]));
}

/* --------------------------------------------------------------------------------------------------- models */

/* Each takes row r of the tile through products l0 .. l0+nk; x: nk numbers, y: nk rows of `ld` lanes. */

/* p = the product as it enters the sum: terms of v * w, rounded into `room` where the spec says so. */
static terms product_terms(work *w, size_t r, uint64_t t, const double *x, const double *y, double *room)
{
    const job *j = w->j;
    terms p = {NULL, x, y, NULL, NULL, 0};
    if (j->product.given) {
        operate(w, &j->product, r, t, w->lanes, &p, 0, room);
        p.x = NULL;
        p.v = room;
        p.w = NULL;
    }
    return p;
}

/* The scale of chunk number `chunk` of element o of a side. */
static double scale_of(const work *w, const side *s, size_t o, size_t chunk)
{
    const size_t chunks = (w->j->depth - 1) / w->j->spec->sum.chunk + 1, size = w->j->carrier == 32 ? 4 : 8;
    const size_t at = s->scales_batch * w->batch + o * chunks + chunk;
    return s->scales ? load(w->j, (const char *)s->scales + at * size) : 1;
}

/* Whether v * scale, itself a product of two binary32 numbers, is surely one of binary64: powers of two, 0, inf. */
static int shifts_exactly(double v, double scale)
{
    const double magnitude = fabs(v);
    return (core_bits64(scale) & ((UINT64_C(1) << 52) - 1)) == 0 &&
           (v == 0 || (magnitude > 0x1p-500 && magnitude < 0x1p500));
}

/* The sum in `inner` of the chunk with product k, times the scales of its blocks, goes into `s`; it begins anew. */
void fpemu_sum_chunk(work *w, size_t r, size_t k, uint64_t t, double *inner, double *s)
{
    const job *j = w->j;
    terms both = {inner, NULL, NULL, s, NULL, 0};
    double scale[DOT_LANES];
    if (j->rows.scales || j->lanes.scales) {
        const size_t chunk = k / j->spec->sum.chunk;
        const double row = scale_of(w, &j->rows, w->row + r, chunk);
        for (size_t i = 0; i < w->lanes; i++) {
            scale[i] = row * scale_of(w, &j->lanes, w->lane + i, chunk);
            both.wide |= !shifts_exactly(inner[i], scale[i]);
        }
        both.w = scale;
    }
    operate(w, &j->outer, r, t, w->lanes, &both, 1, s);
    for (size_t i = 0; i < w->lanes; i++)
        inner[i] = 0;
}

void fpemu_sum_sequential(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const unsigned given = j->product.given;
    double *s = w->state.d + r * DOT_LANES, *chunk_sum = w->state.d + STATES + r * DOT_LANES;
    double *sum = j->spec->sum.chunk ? chunk_sum : s, room[DOT_LANES];
    for (size_t l = 0; l < nk; l++) {
        const uint64_t k = l0 + l, past = j->spec->sum.chunk ? k / j->spec->sum.chunk : 0;
        const uint64_t t = k * (given + 1) + past;
        terms p = product_terms(w, r, t, x + l, y + l * DOT_LANES, room);
        p.u = sum;
        operate(w, &j->inner, r, t + given, w->lanes, &p, 1, sum);
        if (chunk_ends(j, l0 + l))
            fpemu_sum_chunk(w, r, l0 + l, t + given + 1, sum, s);
    }
}

void fpemu_sum_kahan(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const goal *g = &j->inner;
    const unsigned given = j->product.given;
    const size_t n = w->lanes;
    double *s = w->state.d + r * DOT_LANES, *minus_e = w->state.d + STATES + r * DOT_LANES;
    double room[DOT_LANES], d[DOT_LANES], t[DOT_LANES];
    for (size_t l = 0; l < nk; l++) {
        const uint64_t number = (uint64_t)(l0 + l) * (given + 4);
        terms p = product_terms(w, r, number, x + l, y + l * DOT_LANES, room);
        for (size_t i = 0; i < n; i++)
            minus_e[i] = -minus_e[i];
        p.u = minus_e;
        operate(w, g, r, number + given, n, &p, 0, room);
        const terms sum = {s, NULL, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 1, n, &sum, 1, t);
        for (size_t i = 0; i < n; i++)
            s[i] = -s[i];
        const terms change = {t, NULL, NULL, s, NULL, 0};
        operate(w, g, r, number + given + 2, n, &change, 0, d);
        for (size_t i = 0; i < n; i++)
            room[i] = -room[i];
        const terms rest = {d, NULL, NULL, room, NULL, 0};
        operate(w, g, r, number + given + 3, n, &rest, 0, minus_e);
        memcpy(s, t, n * sizeof *s);
    }
}

/* Joins the node that waits at `level` with the node `right` (v * w), node `index` of the next level; into `to`. */
static void join_nodes(work *w, uint64_t leaves, int level, uint64_t index, terms right, double *to)
{
    const job *j = w->j;
    terms both = right;
    both.u = level ? w->state.d + (size_t)level * FEW : w->leaf;
    both.u_factor = level ? NULL : &w->leaf_factor;
    /* left + right: only the sign of zero sees the order, and it does not depend on it */
    operate(w, &j->inner, 0, (j->product.given ? j->depth : 0) + core_dot_level(leaves, level + 1) + index, w->lanes,
            &both, 1, to);
}

/* Leaf number k of the tree: x * y, y NULL being 1. Nodes wait in the stack of levels, as in a binary counter. */
void fpemu_sum_leaf(work *w, uint64_t leaves, uint64_t k, terms node)
{
    double room[FEW];
    int level = 0;
    for (; k & 1; k >>= 1, level++) {
        join_nodes(w, leaves, level, k >> 1, node, room);
        node.v = room;
        node.x = node.w = NULL;
    }
    double *to = level ? w->state.d + (size_t)level * FEW : w->leaf;
    w->leaf_factor = level ? w->leaf_factor : node.x ? *node.x : 1;
    memcpy(to, node.x ? node.w : node.v, w->lanes * sizeof *to);
}

void fpemu_sum_pairwise(work *w, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const unsigned first = j->spec->start_from_c;
    double room[FEW];
    for (size_t l = 0; l < nk; l++)
        fpemu_sum_leaf(w, (uint64_t)j->depth + first, (uint64_t)l0 + l + first,
                       product_terms(w, 0, l0 + l, x + l, y + l * FEW, room));
}

/* What waits is joined from the lowest level up; s into `to`. */
void fpemu_sum_pairwise_end(work *w, double *to)
{
    const job *j = w->j;
    const uint64_t leaves = (uint64_t)j->depth + j->spec->start_from_c;
    double room[FEW];
    for (size_t i = 0; i < w->lanes; i++)
        room[i] = 0;
    terms node = {room, NULL, NULL, NULL, NULL, 0};
    int level = 0, have = 0;
    for (uint64_t k = leaves; k; k >>= 1, level++) {
        if (!(k & 1))
            continue;
        if (have) {
            join_nodes(w, leaves, level, (k - 1) >> 1, node, room);
            node.v = room;
            node.x = node.w = NULL;
        } else if (level) {
            node.v = w->state.d + (size_t)level * FEW;
        } else {
            node.x = &w->leaf_factor;
            node.w = w->leaf;
        }
        have = 1;
    }
    if (leaves == 1)
        operate(w, &j->inner, 0, j->product.given ? j->depth : 0, w->lanes, &node, 0, room);
    else if (leaves)
        memcpy(room, node.v, w->lanes * sizeof *room);
    memcpy(to, room, w->lanes * sizeof *to);
}

/* As fused_sum of the loops, one lane, and what is lost on the way. */
static double fused_sum_counted(work *w, size_t nk, const double *x, const double *px, const double *y,
                                const double *py, double scale, double floor, double d, int *lost, int *nan_came)
{
    double top = core_dot_power(d, 0x1p-126), plain = d, sum = 0;
    top = top < floor ? floor : top;
    *nan_came = isnan(d);
    *lost = 0;
    for (size_t l = 0; l < nk; l++) {
        const double e = px[l] * py[l * FEW];
        top = e > top ? e : top;
        plain += x[l] * y[l * FEW];
        *nan_came |= isnan(x[l]) || isnan(y[l * FEW]);
    }
    if (!isfinite(plain))
        return plain;
    const double unit = scale / top;
    uint64_t swamped = 0;
    for (size_t l = 0; l <= nk; l++) {
        const double term = (l < nk ? x[l] * y[l * FEW] : d) * unit, kept = core_dot_cut(term);
        sum += kept;
        *lost |= kept != term;
        swamped += kept == 0 && term != 0;
    }
    w->gathered->stats.swamped += swamped;
    return sum / unit;
}

void fpemu_sum_fused(work *w, size_t r, size_t l0, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    const goal *g = &j->inner;
    const core_plan64 *p = &g->plan;
    const double scale = core_value64((uint64_t)(1023 + a->fraction_bits) << 52);
    const int least = a->least_exponent < -300 ? -300 : a->least_exponent; /* no exponent is below */
    const double floor = core_value64((uint64_t)(1023 + least) << 52);
    const double *px = w->powers_x + r * SLAB_FEW, *py = w->spare.d;
    double *s = w->state.d + r * DOT_LANES, *inner = w->state.d + STATES + r * DOT_LANES;
    double *d = a->chunk ? inner : s, t[FEW], y_lane[FEW];
    uint64_t grid[FEW];
    for (size_t l = 0; l < nk; l += a->block) {
        const size_t m = nk - l < a->block ? nk - l : a->block;
        if (!w->gathered) {
            j->k->fused_sum(m, w->lanes, FEW, x + l, px + l, y + l * FEW, py + l * FEW, scale, floor, d, t);
            j->k->loops64->round[p->rule][p->mode](p, w->lanes, t, NULL, d);
        } else {
            tile_counts counts;
            memset(&counts, 0, sizeof counts);
            int lost[FEW], nan_came[FEW];
            for (size_t i = 0; i < w->lanes; i++)
                t[i] = fused_sum_counted(w, m, x + l, px + l, y + l * FEW + i, py + l * FEW + i, scale, floor, d[i],
                                         lost + i, nan_came + i);
            j->k->loops64->round[p->rule][p->mode](&g->unbounded, w->lanes, t, NULL, grid);
            j->k->loops64->finish(p, w->lanes, t, grid, y_lane);
            j->k->loops64->count(p, w->lanes, t, y_lane, grid, &counts);
            for (size_t i = 0; i < w->lanes; i++) {
                counts.inexact += lost[i] && t[i] == y_lane[i] && isfinite(t[i]);
                counts.invalid += isnan(t[i]) && !nan_came[i];
            }
            fpemu_gather_tile(w->gathered, 64, 0, w->lanes, t, y_lane, &counts);
            memcpy(d, y_lane, w->lanes * sizeof *d);
        }
        if (chunk_ends(j, l0 + l + m - 1))
            fpemu_sum_chunk(w, r, l0 + l, (l0 + l) / a->chunk, d, s);
    }
}

/* S in the first array; the second is not zero once an operand was NaN. */
void fpemu_sum_integer(work *w, size_t r, size_t nk, const double *x, const double *y)
{
    const job *j = w->j;
    const fpemu_accumulator *a = &j->spec->sum;
    const int exponent = j->rows.quantum + j->lanes.quantum;
    int64_t *s = w->state.i + r * DOT_LANES, *nan = w->state.i + STATES + r * DOT_LANES;
    tile_counts counts;
    memset(&counts, 0, sizeof counts);
    for (size_t l = 0; l < nk; l++)
        for (size_t i = 0; i < w->lanes; i++) {
            const double v = x[l], u = y[l * DOT_LANES + i];
            int over = 0;
            nan[i] |= isnan(v) || isnan(u);
            const int64_t product = nan[i] ? 0 : (int64_t)v * (int64_t)u, old = s[i];
            s[i] = core_dot_integer(old, product, (int)a->width, a->wrap, &over);
            if (!w->gathered)
                continue;
            if (nan[i]) {
                counts.nan++;
                continue;
            }
            const core_exact sum = core_exact_add(core_exact_integer(old, exponent),
                                                  core_exact_integer(product, exponent), FPEMU_MODE_RNE);
            const core_exact result = core_exact_integer(s[i], exponent);
            const double nearest = core_value64(core_exact_binary64(&sum, FPEMU_MODE_RNE));
            counts.overflow += (unsigned)over;
            counts.clipped += (unsigned)over;
            counts.inexact += (unsigned)over;
            counts.underflow += sum.kind != CORE_ZERO && s[i] == 0;
            w->gathered->stats.swamped += (s[i] == old && product) || (s[i] == product && old);
            const uint64_t kept = core_bits64(nearest) & ~CORE_SIGN64;
            counts.max_abs = kept > counts.max_abs ? kept : counts.max_abs;
            counts.min_abs = kept && (!counts.min_abs || kept < counts.min_abs) ? kept : counts.min_abs;
            core_exact minus = result;
            minus.negative ^= 1;
            const core_exact error = core_exact_add(sum, minus, FPEMU_MODE_RNE);
            const double d = fabs(core_value64(core_exact_binary64(&error, FPEMU_MODE_RNE)));
            counts.max_error = d > counts.max_error ? d : counts.max_error;
        }
    if (w->gathered)
        for (size_t l = 0; l < nk; l++) {
            fpemu_gather_tile(w->gathered, 64, 0, w->lanes, NULL, NULL, &counts);
            memset(&counts, 0, sizeof counts);
        }
}
