/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.inc.c - quantising with scales in one carrier; included by blocks.c for each. */

/* ---------------------------------------------------------------------------------------------- elements */

/* The rule by which t is rounded to the element format. */
typedef struct element_plan {
    core_plan plan;
    core_codebook table;
    uint8_t is_table, stochastic;
    uint8_t one_by_one; /* by the reference alone */
    uint8_t two_steps;  /* no loop of one step will do */
} element_plan;

/* to_code: what it gives becomes codes. */
static void element_plan_make(element_plan *e, const fpemu_format *f, const fpemu_rounding *r, int to_code)
{
    e->stochastic = CORE_DRAWS(core_mode(r));
    e->is_table = f->kind == FPEMU_KIND_CODEBOOK;
    if (e->is_table) {
        memset(&e->plan, 0, sizeof e->plan);
        e->one_by_one = e->two_steps = 0;
        core_codebook_make(&e->table, f, r);
        e->table.values = fpemu_table_values(f);
        return;
    }
    core_plan_make(&e->plan, f, r, to_code);
    e->one_by_one = e->plan.rule == CORE_RULE_AFFINE || (e->plan.compat | e->plan.wrap); /* | as in core_plan_make */
    core_choose_fast(&e->plan, f);
    e->two_steps = e->plan.rule == CORE_RULE_FULL_RANGE_GRID || e->plan.rule == CORE_RULE_SHIFTER_GRID;
}

/* What rounds a call's elements. */
typedef struct block_element {
    const element_plan *p;
    core_plan grid;       /* the plan without ends, where the loops take two steps or count */
    core_plan64 integers; /* core_integers(), where the reference rounds affine integers */
    core_search *search;  /* of a table, for many elements; NULL = it is not searched by loops */
    uint8_t indices;      /* they are asked for */
    uint8_t values;       /* of the search, and no counters or codes are asked for */
} block_element;

/* counted: block_element_run will be asked to. */
static void block_element_begin(block_element *e, const element_plan *p, int counted)
{
    e->p = p;
    e->search = NULL;
    e->indices = e->values = 0;
    if (!p->is_table && (counted || p->two_steps))
        e->grid = core_plan_unbounded(&p->plan);
    if (p->one_by_one || p->plan.rule == CORE_RULE_AFFINE_FAST)
        e->integers = core_integers();
}

/* Has a table searched by the loops, for many elements, with *search; only_values: no indices. */
static void block_element_search(block_element *e, const kernels *k, uint64_t elements, int only_values, int counted,
                                 core_search *search)
{
    if (!e->p->is_table || elements < CORE_SEARCH_WORTH(e->p->table.length) || e->p->table.length > CORE_SEARCH_VALUES)
        return;
    k->loopsw->codebook_begin(search, &e->p->table);
    if (!search->usable)
        return;
    e->search = search;
    e->indices = !only_values;
    e->values = only_values && !counted;
}

/* Values of a table that is searched. */
static void block_element_search_values(const block_element *e, const kernels *k, size_t n, const realw *t,
                                        const uint32_t *r, realw *y)
{
    k->loopsw->codebook(e->search, n, t, e->p->stochastic ? r : NULL, y);
}

/* Whether the loops that scale and round at once have it. */
static int block_is_fast(const element_plan *e)
{
    return !e->is_table && !e->one_by_one && (e->plan.rule == CORE_RULE_SHIFTER_STOP || e->plan.rule == CORE_RULE_EVEN);
}

/* P of n numbers t; `counted`: the values on the grid without ends too (all ones: beyond an end, where there is no
 * grid). q: the integers of affine formats, and codes of codebooks. */
static void block_element_run(const block_element *e, const kernels *k, size_t n, const realw *t, const uint32_t *r,
                              int counted, uintw *grid, realw *rounded, int64_t *q)
{
    const core_plan *p = &e->p->plan;
    if (e->search) {
        block_element_search_values(e, k, n, t, r, rounded);
        if (e->values)
            return;
        (void)k->loopsw->codebook_outside(e->search, n, t, grid);
        for (size_t i = 0, m; i < n && e->indices; i += m) {
            uint8_t codes[BLOCK_TILE];
            m = n - i < BLOCK_TILE ? n - i : BLOCK_TILE;
            k->loopsw->codebook_codes(e->search, m, (e->search->steps ? t : rounded) + i, codes);
            for (size_t l = 0; l < m; l++)
                q[i + l] = codes[l];
        }
    } else if (e->p->is_table || e->p->one_by_one) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t random = e->p->stochastic ? r[i] : 0;
            int overflow;
            uintw u, v;
            memcpy(&u, t + i, sizeof u);
            if (e->p->is_table)
                v = core_codebook_element(&e->p->table, u, random, &overflow, q + i);
            else
                v = core_element(p, &e->integers, u, random, &overflow, q + i);
            memcpy(rounded + i, &v, sizeof v);
            grid[i] = overflow ? ~(uintw)0 >> 1 : 0;
        }
    } else if (counted || e->p->two_steps) {
        k->loopsw->round[e->grid.rule][p->mode](&e->grid, n, t, r, grid);
        k->loopsw->finish(p, n, t, grid, rounded);
    } else {
        k->loopsw->round[p->rule][p->mode](p, n, t, r, rounded);
    }
}

/* A plan without ends, past which lies what the grid says to be outside of a table. */
static const core_plan block_open = {.max = {CARRIER_SIGN - 2, CARRIER_SIGN - 2}};

static void block_element_count(const block_element *e, const kernels *k, size_t n, const realw *x, const realw *t,
                                const realw *rounded, const uintw *grid, tile_counts *c)
{
    k->loopsw->count_element(&e->p->plan, n, x, t, rounded, grid, c);
    if (e->p->is_table) /* outside its ends */
        c->clipped = c->overflow;
}

/* -------------------------------------------------------------------------------------------------- jobs */

/* What a format and a rounding ask of the blocks: made once, read by any number of calls. */
typedef struct block_plan {
    const kernels *k;
    size_t size; /* of a code */
    int carrier;
    uint8_t codes; /* they are asked for, else values */
    uint8_t scalar, stochastic, nan_is_error;
    uint8_t hold_many;      /* scales of many blocks are found, and taken to their format, by loops */
    uint8_t scales_at_once; /* their codes by `scale_direct` */
    uint8_t at_once;        /* those of elements by `direct` */
    uint8_t quotients;      /* quotients by inverses are the rule's where runs_inverses says so */
    /* what is read only where it is made */
    core_block_compat compat; /* or setting = 0 */
    core_pow2_block pow2;     /* every scale is a power of two, by which loops round at once; or usable = 0 */
    core_block block;         /* without the numbers of a tensor; all 0 where there are no scales */
    element_plan element;
    core_plan hold; /* of a scale, in a fast form */
    core_coder coder;
    core_direct direct, scale_direct; /* codes straight from quotients, and of scales */
} block_plan;

/* The scales. Arguments are checked; scale: the format of the scales, where they are floats. */
static void block_plan_scales(block_plan *p, const fpemu_format *f, const fpemu_format *scale, const fpemu_rounding *r,
                              int carrier, int codes)
{
    memset(p, 0, offsetof(block_plan, compat));
    p->compat.setting = 0;
    p->pow2.usable = 0;
    p->k = fpemu_kernels();
    p->size = code_size(f->bits);
    p->carrier = carrier;
    p->codes = (uint8_t)codes;
    p->scalar = f->scaling == FPEMU_SCALING_NONE;
    p->stochastic = CORE_DRAWS(core_mode(r));
    p->nan_is_error = core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan;
    if (p->scalar) {
        memset(&p->block, 0, sizeof p->block);
        return;
    }
    core_block_make(&p->block, f, scale, r);
    if (codes)
        core_block_codes(&p->block, scale);
    if (p->block.powers)
        p->pow2 = core_pow2_block_make(&p->block, f, core_mode(r));
    if (r->compat)
        p->compat = core_block_compat_make(f, r);
}

/* What rounds the elements, and their codes; f as before. */
static void block_plan_elements(block_plan *p, const fpemu_format *f, const fpemu_rounding *r)
{
    fpemu_rounding rounding;
    element_rounding(f, r, &rounding);
    element_plan_make(&p->element, f, &rounding, p->codes);
    p->quotients = !core_rule_is_nvfp4(f->scaling) && core_fast_quotients(f); /* which divide by s*d */
    if (!p->codes || p->element.is_table)
        return;
    core_coder_make(&p->coder, f, &rounding);
    p->at_once = (uint8_t)core_direct_make(&p->direct, &p->element.plan, &p->coder);
}

/* The loops for scales of many blocks. */
static void block_plan_many(block_plan *p, const fpemu_format *scale)
{
    const int rule = p->block.rule;
    p->hold_many = rule == FPEMU_SCALING_ABSMAX || rule == FPEMU_SCALING_RECIPROCAL ||
                   (core_rule_is_nvfp4(rule) && rule != FPEMU_SCALING_NVFP4_CLAMP);
    if (!p->hold_many || p->block.same)
        return;
    p->hold = p->block.scale_plan;
    p->hold.mode = FPEMU_MODE_RNE; /* that of a rule with a correction is sr */
    core_choose_fast(&p->hold, scale);
    p->hold_many = p->hold.rule != CORE_RULE_SHIFTER_GRID && p->hold.rule != CORE_RULE_FULL_RANGE_GRID;
    if (p->codes && p->hold_many)
        p->scales_at_once = (uint8_t)core_direct_make(&p->scale_direct, &p->hold, &p->block.scale_coder);
}

/* A call. */
typedef struct block_job {
    const kernels *k;
    const block_plan *p;
    const block_call *call;
    const core_block *block; /* the plan's; or, with what only this call knows, *own */
    core_block *own;         /* NULL until there is one */
    core_block room;
    block_element element;
    core_blocked wide; /* of the element, for exact quotients and S2FP8 */
    core_walk walk;
    core_extremes whole; /* of the tensor, where its blocks are one */
    const fpemu_given *given;
    const realw *x; /* NULL where the carrier is narrow */
    realw *y;
#if CARRIER_BITS == 32
    const uint16_t *words_x; /* then these */
    uint16_t *words_y;
#endif
    int carrier;
    uint32_t want;
    int *nan_seen; /* set where policy `error` is broken; else NULL */
    uint8_t counted, whole_known;
    uint8_t looks;        /* at the extremes of each block */
    uint8_t zeros;        /* integers have zero points, or blocks other second numbers */
    uint8_t many;         /* many blocks at a time: block_runs.inc.c */
    uint8_t stream;       /* whose results pass the caches */
    uint8_t hold_many;    /* their scales too */
    uint8_t own_words;    /* loops draw the random bits by themselves */
    uint8_t fused;        /* t, P and y in one loop, where the scales allow it */
    uint8_t fused_pieces; /* those of large blocks too */
    uint8_t codes;        /* codes of many elements at a time: block_codes.inc.c */
    uint8_t scales_only;  /* no element is rounded */
    uint8_t gives;        /* values go to y */
    uint8_t lines;        /* each has numbers that other rules have of the whole tensor */
    core_search search;   /* of a table */
} block_job;

/* A piece of a block within a tile. */
typedef struct block_part {
    core_place place;
    core_scale scale;
    uint64_t block, position;
    size_t begin, n;
    uintw amax;
    uint8_t last; /* the block ends here */
} block_part;

typedef struct block_tile {
    block_part parts[PARTS];
    _Alignas(LINE) realw x[BLOCK_TILE], t[BLOCK_TILE], rounded[BLOCK_TILE], y[BLOCK_TILE];
    _Alignas(LINE) uintw grid[BLOCK_TILE];
    _Alignas(LINE) int64_t q[BLOCK_TILE];
    _Alignas(LINE) uint32_t r[BLOCK_TILE];
    size_t n, count; /* elements, parts */
} block_tile;

/* n elements from place `at` of x on, `step` apart. */
static void block_load(const block_job *j, int64_t at, int64_t step, size_t n, realw *out)
{
#if CARRIER_BITS == 32
    if (j->words_x) {
        const uint16_t *words = j->words_x + at;
        _Alignas(LINE) uint16_t beside[BLOCK_TILE];
        if (step == 1)
            carrier_widen(j->k, j->carrier, n, words, out);
        for (size_t i = 0, m; i < n && step != 1; i += m) {
            m = n - i < BLOCK_TILE ? n - i : BLOCK_TILE;
            for (size_t e = 0; e < m; e++)
                beside[e] = words[(int64_t)(i + e) * step];
            carrier_widen(j->k, j->carrier, m, beside, out + i);
        }
        return;
    }
#endif
    const realw *from = j->x + at;
    if (step == 1)
        memcpy(out, from, n * sizeof *out);
    else
        for (size_t i = 0; i < n; i++)
            out[i] = from[(int64_t)i * step];
}

/* The same of y; n at most BLOCK_TILE where the step is not 1. */
static void block_store(const block_job *j, int64_t at, int64_t step, size_t n, const realw *y)
{
#if CARRIER_BITS == 32
    if (j->words_y) {
        uint16_t *const words = j->words_y + at, beside[BLOCK_TILE];
        carrier_narrow(j->k, j->carrier, n, y, step == 1 ? words : beside);
        for (size_t i = 0; i < n && step != 1; i++)
            words[(int64_t)i * step] = beside[i];
        return;
    }
#endif
    realw *to = j->y + at;
    if (step == 1)
        memcpy(to, y, n * sizeof *y);
    else
        for (size_t i = 0; i < n; i++)
            to[(int64_t)i * step] = y[i];
}

/* Whether elements that are neighbours can be read where they lie. */
static int block_in_place(const block_job *j)
{
    return j->carrier == CARRIER_BITS;
}

/* n elements of a block from place `position` on, one after the other. */
static void block_take(const block_job *j, const core_place *p, uint64_t position, size_t n, realw *out)
{
    while (n > 0) {
        core_span s = {n, 0, 1, p->x + (int64_t)position, 1, 0, 1};
        if (!j->call->compact)
            s = fpemu_walk_span(&j->walk, p, position, n);
        block_load(j, s.x, s.x_step, (size_t)s.n, out);
        out += s.n;
        n -= (size_t)s.n;
        position += s.n;
    }
}

static void block_give(const block_job *j, const core_place *p, uint64_t position, size_t n, const realw *y)
{
    while (n > 0) {
        const core_span s = fpemu_walk_span(&j->walk, p, position, n);
        block_store(j, s.y, s.y_step, (size_t)s.n, y);
        y += s.n;
        n -= (size_t)s.n;
        position += s.n;
    }
}

/* ------------------------------------------------------------------------------------------------ extremes */

/* Those of n elements in a row, the finite ones where there are others. */
static block_extremes block_extremes_of(const kernels *k, size_t n, const realw *x)
{
    block_extremes e;
    k->loopsw->extremes(n, x, &e);
    if (e.nonfinite == 0)
        return e;
    e.amax = e.high = e.low = 0;
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, x + i, sizeof u);
        const uintw a = u << 1 >> 1;
        uint64_t *const end = u == a ? &e.high : &e.low;
        if (a < CARRIER_INF) {
            e.amax = a > e.amax ? a : e.amax;
            *end = a > *end ? a : *end;
        }
    }
    return e;
}

static void block_join_extremes(core_extremes *to, const core_extremes *from)
{
    to->amax = from->amax > to->amax ? from->amax : to->amax;
    to->high = from->high > to->high ? from->high : to->high;
    to->low = from->low > to->low ? from->low : to->low;
    to->nonfinite |= from->nonfinite;
}

/* Of elements begin <= position < end of a block. */
static APART core_extremes block_extremes_between(const block_job *j, const core_place *p, uint64_t begin, uint64_t end)
{
    _Alignas(LINE) realw x[WORDS_TILE];
    core_extremes e = {0, 0, 0, 0, 0};
    for (uint64_t at = begin; at < end;) {
        uint64_t n = end - at < WORDS_TILE ? end - at : WORDS_TILE;
        const realw *from = x;
        if (!j->call->compact && j->walk.x[3] == 1 && block_in_place(j)) {
            const core_span s = fpemu_walk_span(&j->walk, p, at, end - at < 65536 ? end - at : 65536);
            n = s.n;
            from = j->x + s.x;
        } else {
            block_take(j, p, at, (size_t)n, x);
        }
        const block_extremes f = block_extremes_of(j->k, (size_t)n, from);
        const core_extremes own = {(uintw)f.amax, (uintw)f.high, (uintw)f.low, f.nonfinite != 0, 0};
        block_join_extremes(&e, &own);
        at += n;
    }
    return e;
}

/* The same by several threads. */
static void block_large_extremes(const block_job *j, const core_place *p, int parts, core_extremes *e)
{
    const size_t n = (size_t)p->elements;
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        *e = block_extremes_between(j, p, 0, n);
        return;
    }
    memset(e, 0, sizeof *e);
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int k = 0; k < parts; k++) {
        const core_extremes own =
            block_extremes_between(j, p, part_begin(k, parts, n, 0), part_begin(k + 1, parts, n, 0));
#ifdef _OPENMP
#pragma omp critical(fpemu_measure)
#endif
        block_join_extremes(e, &own);
    }
}

/* Adds n elements whose extremes, of the finite ones, are *e. */
static void block_range_join(size_t n, const block_extremes *e, fpemu_range *r)
{
    const double amax = (double)core_value((uintw)e->amax), max = (double)core_value((uintw)e->high);
    const double min = 0 - (double)core_value((uintw)e->low);
    r->count += n;
    r->nonzero += n - e->zeros - e->nonfinite;
    r->nonfinite += e->nonfinite;
    r->amax = amax > r->amax ? amax : r->amax;
    r->max = max > r->max ? max : r->max;
    r->min = min < r->min ? min : r->min;
}

/* Adds the finite magnitudes of n elements. */
static void block_add_magnitudes(size_t n, const realw *x, core_steps *s)
{
    for (size_t i = 0; i < n; i++) {
        const uintw a = core_bits(x[i]) & ~CARRIER_SIGN;
        core_steps_add(s, a < CARRIER_INF ? (double)core_value(a) : 0);
    }
}

/* Adds n elements in a row to a range; sums: 0, or the rule that asks for one; only_amax: the largest magnitude and what
 * is not finite will do. */
static void block_range_add(const kernels *k, int sums, int only_amax, size_t n, const realw *x, fpemu_range *r)
{
    for (size_t i = 0; i < n; i += 32768) {
        const size_t m = n - i < 32768 ? n - i : 32768;
        uintw most = CARRIER_INF;
        if (only_amax)
            k->loopsw->runs_amax(m, 1, x + i, &most);
        if (most < CARRIER_INF) {
            const double a = (double)core_value(most);
            r->amax = a > r->amax ? a : r->amax;
            continue;
        }
        const block_extremes e = block_extremes_of(k, m, x + i);
        if (sums == FPEMU_SCALING_ABSMEAN) {
            core_steps s = {0, 0};
            block_add_magnitudes(m, x + i, &s);
            add_magnitudes(r, &s);
        } else if (sums && m > e.zeros + e.nonfinite) {
            int64_t sum, largest;
            k->loopsw->logarithms(m, x + i, &sum, &largest);
            add_logarithms(r, sum, largest);
        }
        block_range_join(m, &e, r);
    }
}

/* The same of at most 65535 words from place `at` on, without sums. 0, and nothing is added: there are no words,
 * or some are not finite. */
static int block_range_add_words(const block_job *j, int64_t at, size_t n, fpemu_range *r)
{
#if CARRIER_BITS == 32
    if (j->words_x) {
        block_extremes e;
        j->k->extremes16[j->carrier == FPEMU_TYPE_BF16](n, j->words_x + at, &e);
        if (e.nonfinite == 0)
            block_range_join(n, &e, r);
        return e.nonfinite == 0;
    }
#else
    (void)j, (void)at, (void)n, (void)r;
#endif
    return 0;
}

/* Measures part k of a tensor, which is the one block at *place. */
static void block_measure_part(const block_job *j, int sums, int only_amax, const core_walk *all,
                               const core_place *place, int k, int parts, fpemu_range *own)
{
    const uint64_t end = part_begin(k + 1, parts, (size_t)all->total, 0);
    _Alignas(LINE) realw x[WORDS_TILE];
    for (uint64_t at = part_begin(k, parts, (size_t)all->total, 0); at < end;) {
        const core_span s = fpemu_walk_span(all, place, at, end - at);
        for (uint64_t i = 0; i < s.n;) {
            const int64_t first = s.x + (int64_t)i * s.x_step;
            const int copied = s.x_step != 1 || !block_in_place(j);
            const uint64_t left = s.n - i, n = copied && left > WORDS_TILE ? WORDS_TILE : left;
            if (s.x_step == 1 && !sums && block_range_add_words(j, first, (size_t)n, own)) {
                i += n;
                continue;
            }
            if (copied)
                block_load(j, first, s.x_step, (size_t)n, x);
            const realw *const from = copied ? x : j->x + first;
            block_range_add(j->k, sums, only_amax, (size_t)n, from, own);
            i += n;
        }
        at += s.n;
    }
}

/* Measures all of a tensor; known: NULL, or its walk. */
static void block_measure(const block_job *j, const fpemu_format *f, const fpemu_shape *shape, const core_walk *known,
                          int only_amax, fpemu_range *range)
{
    core_walk all;
    core_place place;
    static const fpemu_format scalar; /* all that a walk asks of it is that it has no scales */
    const int sums = core_rule_sums(f->scaling) ? f->scaling : 0;
    memset(range, 0, sizeof *range);
    if (known && known->array && block_in_place(j) && thread_count((size_t)known->total) == 1) {
        block_range_add(j->k, sums, only_amax, (size_t)known->total, j->x, range);
        return;
    }
    fpemu_shape plain = *shape;
    plain.given = NULL;
    if (fpemu_walk_begin(&all, &scalar, &plain, carrier_size(j->carrier), 0) || all.blocks == 0)
        return;
    fpemu_walk_block(&all, 0, &place);
    const int parts = thread_count((size_t)all.total);
    if (parts == 1) {
        block_measure_part(j, sums, only_amax, &all, &place, 0, 1, range);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int k = 0; k < parts; k++) {
        fpemu_range own;
        fp_environment environment;
        memset(&own, 0, sizeof own);
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        block_measure_part(j, sums, only_amax, &all, &place, k, parts, &own);
        fpemu_environment_leave(&environment);
#ifdef _OPENMP
#pragma omp critical(fpemu_measure)
#endif
        join_range(range, &own);
    }
}

/* ------------------------------------------------------------------------------------------------- tiles */

/* P, and q of integers, of the finite elements of a part by the compatibility setting; t: the quotients in binary64,
 * or NULL: those of the tile. */
static void block_compat_run(const block_job *j, const block_part *p, block_tile *w, const double *t)
{
    for (size_t i = p->begin; i < p->begin + p->n; i++) {
        int over;
        uintw u, v;
        memcpy(&u, w->x + i, sizeof u);
        if ((u << 1 >> 1) >= CARRIER_INF)
            continue; /* as the plain rule has it */
        v = core_block_compat_round(&j->p->compat, p->amax, u, t ? t[i - p->begin] : (double)w->t[i],
                                    j->p->stochastic ? w->r[i] : 0, &over, w->q + i);
        memcpy(w->rounded + i, &v, sizeof v);
        w->grid[i] = over ? ~(uintw)0 >> 1 : 0;
    }
}

/* A part whose quotients the carrier cannot hold: by binary64 and beyond, one by one. Fills P, q, y, and counts. */
static APART void block_wide_part(const block_job *j, const block_part *p, block_tile *w, tile_counts *c)
{
    for (size_t i = 0, at = p->begin; i < p->n; i++, at++) {
        const core_scale *s = &p->scale;
        const uintw u = core_bits(w->x[at]);
        core_scale levelled;
        uintw rounded;
        core_happened h;
        if (s->levels) {
            levelled = core_scale_at(j->block, &p->scale, (unsigned)(p->position + i));
            s = &levelled;
        }
        w->y[at] = core_value(core_blocked_wide(&j->wide, &j->element.p->table, s, j->block->tensor, p->amax, u,
                                                j->p->stochastic ? w->r[at] : 0, &rounded, &h));
        w->rounded[at] = core_value(rounded);
        w->q[at] = h.q;
        if (!j->counted)
            continue;
        const core_events e = core_blocked_events(&j->wide, u, core_bits(w->y[at]), rounded, &h);
        c->clipped += e.clipped;
        c->overflow += e.overflow;
        c->subnormal += e.subnormal;
    }
}

/* t of x, or (back) y of P, of a part whose scale has levels. */
static void block_level_part(const block_job *j, const block_part *p, int back, const realw *from, realw *to)
{
    const unsigned each = core_rule_levels(j->block->rule);
    for (size_t i = 0, end; i < p->n; i = end) {
        const core_scale s = core_scale_at(j->block, &p->scale, (unsigned)(p->position + i));
        end = i + each < p->n ? i + each : p->n;
        for (size_t k = i; k < end; k++)
            to[k] = core_value(back ? core_block_y(&s, core_bits(from[k]))
                                    : core_block_t(&s, j->block->sticky, core_bits(from[k])));
    }
}

/* What is scaled of a part: x, or that less an offset, in place of t. */
static const realw *block_offset_x(const block_part *p, block_tile *w)
{
    realw *const t = w->t + p->begin;
    if (p->scale.order != CORE_ZERO_OFFSET)
        return w->x + p->begin;
    for (size_t i = 0; i < p->n; i++)
        t[i] = core_value(core_offset_x(&p->scale, core_bits(w->x[p->begin + i])));
    return t;
}

/* t and P of a filled tile. */
static void block_tile_round(const block_job *j, block_tile *w)
{
    const kernels *k = j->k;
    int plain = 0;
    for (size_t i = 0; i < w->count; i++) {
        const block_part *p = w->parts + i;
        const int kind = p->scale.kind;
        realw *const t = w->t + p->begin;
        if (j->p->stochastic)
            for (uint64_t at = 0; at < p->n;) {
                const core_span s = fpemu_walk_span(&j->walk, &p->place, p->position + at, p->n - at);
                random_span(k, j->call->rounding, &s, w->r + p->begin + at);
                at += s.n;
            }
        if (kind == CORE_SCALE_NAN || kind == CORE_SCALE_POWER || kind == CORE_SCALE_S2FP8)
            memset(t, 0, p->n * sizeof *t);
        else if (kind == CORE_SCALE_NONE)
            memcpy(t, w->x + p->begin, p->n * sizeof *t);
        else if (p->scale.levels)
            block_level_part(j, p, 0, w->x + p->begin, t);
        else
            k->loopsw->scale_t(&p->scale, j->block->sticky, p->n, block_offset_x(p, w), t);
        if (p->scale.order && p->scale.order < CORE_ZERO_OFFSET)
            k->loopsw->zero_t(&p->scale, j->element.p->plan.nan, p->n, t);
        plain |= kind != CORE_SCALE_POWER && kind != CORE_SCALE_S2FP8;
    }
    if (plain)
        block_element_run(&j->element, k, w->n, w->t, w->r, j->counted | j->zeros, w->grid, w->rounded, w->q);
}

/* y of one of its parts, and the counters of t and P. */
static void block_tile_values(const block_job *j, block_tile *w, const block_part *p, tile_counts *seen)
{
    const kernels *k = j->k;
    const size_t begin = p->begin, n = p->n;
    const int kind = p->scale.kind;
    if (kind == CORE_SCALE_POWER || kind == CORE_SCALE_S2FP8) {
        block_wide_part(j, p, w, seen);
    } else if (kind == CORE_SCALE_NAN) {
        for (size_t e = begin; e < begin + n; e++) {
            const uintw nan = CARRIER_INF | CARRIER_INF >> 1;
            memcpy(w->y + e, &nan, sizeof nan);
        }
    } else {
        if (core_block_compat_acts(&j->p->compat, &p->scale, p->amax))
            block_compat_run(j, p, w, NULL);
        if (p->scale.order && p->scale.order < CORE_ZERO_OFFSET)
            k->loopsw->zero_q(j->block, &p->scale, j->element.p->plan.nan, n, w->x + begin, w->t + begin,
                              w->grid + begin, w->rounded + begin, w->y + begin, seen);
        else if (j->counted)
            block_element_count(&j->element, k, n, w->x + begin, w->t + begin, w->rounded + begin, w->grid + begin,
                                seen);
        if (kind == CORE_SCALE_NONE)
            memcpy(w->y + begin, w->rounded + begin, n * sizeof *w->y);
        else if (p->scale.levels)
            block_level_part(j, p, 1, w->rounded + begin, w->y + begin);
        else if (p->scale.order >= CORE_ZERO_OFFSET)
            for (size_t e = begin; e < begin + n; e++)
                w->y[e] = core_value(core_zero_y(&p->scale, core_bits(w->rounded[e])));
        else if (!p->scale.order)
            k->loopsw->scale_y(&p->scale, n, w->rounded + begin, w->y + begin);
    }
}

/* Takes a filled tile through every step. */
static void block_flush(const block_job *j, block_tile *w, gathering *g)
{
    const kernels *k = j->k;
    const block_sink *sink = j->call->sink;
    block_tile_round(j, w);
    for (size_t i = 0; i < w->count; i++) {
        const block_part *p = w->parts + i;
        const size_t begin = p->begin, n = p->n;
        const int kind = p->scale.kind;
        tile_counts seen = {0};
        block_tile_values(j, w, p, &seen);
        if (j->counted) {
            const uint64_t lane = j->p->scalar && j->walk.block == CORE_WALK_INDEX ? j->call->rounding->offset : 0;
            const int alone = kind == CORE_SCALE_NONE, scalar = alone && !j->element.p->is_table; /* all on x and y */
            tile_counts c;
            c.max_error = g->stats.max_error;
            if (!alone) /* judged on x and y, without ends and grid */
                memset(w->grid + begin, 0, n * sizeof *w->grid);
            k->loopsw->count(scalar ? &j->element.p->plan : &block_open, n, w->x + begin, w->y + begin, w->grid + begin,
                             &c);
            if (!scalar) {
                c.clipped = seen.clipped;
                c.overflow = seen.overflow;
                c.subnormal = seen.subnormal;
            }
            fpemu_gather_tile(g, CARRIER_BITS, lane + p->position, n, w->x + begin, w->y + begin, &c);
            if (p->last && j->walk.block != CORE_WALK_INDEX)
                fpemu_gather_close(g);
        }
        if (j->nan_seen && kind != CORE_SCALE_NAN)
            for (size_t e = begin; e < begin + n; e++)
                if (w->x[e] != w->x[e]) {
#ifdef _OPENMP
#pragma omp atomic write
#endif
                    *j->nan_seen = 1;
                }
        if (j->gives)
            block_give(j, &p->place, p->position, n, w->y + begin);
        if (sink) {
            uint64_t codes[BLOCK_TILE];
            if (kind == CORE_SCALE_NAN)
                memset(codes, 0, n * j->p->size);
            else if (j->element.p->is_table || j->element.p->plan.rule == CORE_RULE_AFFINE)
                for (size_t e = 0; e < n; e++) {
                    uintw u, v;
                    memcpy(&u, w->x + begin + e, sizeof u);
                    memcpy(&v, w->rounded + begin + e, sizeof v);
                    store_code(codes, j->p->size, e,
                               j->element.p->is_table ? (uint64_t)w->q[begin + e]
                                                      : core_encode_affine(&j->p->coder, u, v, w->q[begin + e]));
                }
            else
                k->loopsw->encode(&j->p->coder, n, w->x + begin, w->rounded + begin, j->p->size, codes);
            sink->codes(sink->context, p->block, p->position, n, j->p->size, codes);
        }
    }
    w->n = w->count = 0;
}

/* Adds n elements of a block from `position` on to the tile; n at most BLOCK_TILE. */
static void block_add_part(const block_job *j, block_tile *w, const block_part *part, uint64_t position, size_t n,
                           gathering *g)
{
    if (w->n + n > BLOCK_TILE || w->count == PARTS)
        block_flush(j, w, g);
    block_part *p = w->parts + w->count++;
    *p = *part;
    p->position = position;
    p->begin = w->n;
    p->n = n;
    p->last = position + n == p->place.elements;
    block_take(j, &p->place, position, n, w->x + w->n);
    w->n += n;
}

/* -------------------------------------------------------------------------------------------------- blocks */

/* Errors of n elements of a block, from `position` on, under the scale of *p. */
static void block_part_errors(const block_job *j, const block_part *p, uint64_t position, size_t n, block_tile *w,
                              realw *error)
{
    tile_counts seen = {0};
    block_take(j, &p->place, position, n, w->x);
    if (core_rule_chooses(j->block->rule)) {
        const realw down = p->scale.kind == CORE_SCALE_ZERO ? 0 : p->scale.down;
        j->k->loopsw->choice_errors(j->block, n, 1, &down, &p->scale.s, w->x, error);
        return;
    }
    w->n = w->parts[0].n = n;
    w->count = 1;
    block_tile_round(j, w);
    block_tile_values(j, w, w->parts, &seen);
    j->k->loopsw->search_errors(j->block->search_error, n, w->x, w->y, error);
}

/* The scale with the least error, in place of the first of the candidates. */
static APART void block_choose_scale(const block_job *j, block_part *p, const core_extremes *e)
{
    realw error[BLOCK_TILE], least = 0;
    block_tile w;
    if (p->scale.kind == CORE_SCALE_NAN)
        return;
    w.parts[0] = *p;
    w.parts[0].begin = 0;
    for (unsigned i = 0; i < j->block->candidates; i++) {
        realw row[CORE_CHOICE_ROWS];
        unsigned rows = 0;
        core_scale_candidate(j->block, e, i, &w.parts[0].scale);
        for (uint64_t from = 0; from < p->place.elements; from += p->place.n[3]) {
            realw sum = 0;
            for (uint64_t at = 0, n; at < p->place.n[3]; at += n) {
                n = core_smaller(p->place.n[3] - at, BLOCK_TILE);
                w.parts[0].position = from + at;
                block_part_errors(j, w.parts, from + at, (size_t)n, &w, error);
                for (size_t k = 0; k < n; k++)
                    sum += error[k];
            }
            row[rows++] = sum;
        }
        const realw total = core_choice_total(row, rows);
        if (i == 0 || total < least) {
            least = total;
            p->scale = w.parts[0].scale;
        }
    }
}

/* What blocks that share a correction have in common: which they are, and both sums, or the mantissa; or what those of a
 * super-block have by themselves. */
typedef struct block_group {
    uint64_t first, count;
    realw squares, products, mantissa;
    core_super_part part[CORE_SUPER_MOST];
} block_group;

/* Block b, a neighbour of that of *p. */
static void block_neighbour(const block_job *j, const block_part *p, uint64_t b, core_place *place)
{
    fpemu_walk_block(&j->walk, b, place);
    if (j->call->compact) {
        const core_layout l = core_layout_make(&j->walk);
        place->x = p->place.x + (int64_t)(core_layout_before(&l, b, 8) - core_layout_before(&l, p->block, 8));
    }
}

/* The mantissa that the block of *p shares. */
static APART realw block_find_mantissa(const block_job *j, const block_part *p, block_group *g)
{
    const core_sharing s = core_walk_sharing(&j->walk, p->block, j->block->corrected);
    core_extremes all = {0, 0, 0, 0, 0};
    if (g->first == s.first)
        return g->mantissa;
    g->first = s.first;
    for (uint64_t row = 0; row < s.rows; row++)
        for (uint64_t k = 0; k < s.along; k++) {
            core_place place;
            block_neighbour(j, p, s.first + row * j->walk.across + k, &place);
            const core_extremes e = block_extremes_between(j, &place, 0, place.elements);
            block_join_extremes(&all, &e);
        }
    g->mantissa = (realw)core_mantissa(core_saturated32((double)j->block->largest),
                                       core_saturated32((double)core_value(all.amax)));
    return g->mantissa;
}

/* Adds n errors each of `count` blocks, or pieces of blocks, to their sums. Each sum is a chain: eight run at a time. */
static void block_add_errors(size_t n, size_t count, const realw *error, realw *sum)
{
    size_t b = 0;
    for (; b + 8 <= count; b += 8) {
        const realw *const e = error + b * n;
        realw s[8];
        memcpy(s, sum + b, sizeof s);
        for (size_t k = 0; k < n; k++)
#pragma GCC unroll 8
            for (size_t l = 0; l < 8; l++)
                s[l] += e[l * n + k];
        memcpy(sum + b, s, sizeof s);
    }
    for (; b < count; b++)
        for (size_t k = 0; k < n; k++)
            sum[b] += error[b * n + k];
}

/* Adds t * t and t * P of n finite elements each of some blocks, at most TILE in all, to their sums. */
static void block_correction_sums(const block_job *j, size_t n, size_t count, const realw *down, const realw *x,
                                  realw *squares, realw *products)
{
    _Alignas(LINE) realw t[TILE], p[TILE];
    _Alignas(LINE) uintw grid[TILE];
    int64_t q[TILE];
    j->k->loopsw->runs_t(1, 0, n, count, down, x, t);
    block_element_run(&j->element, j->k, n * count, t, NULL, 0, grid, p, q);
    for (size_t i = 0; i < n * count; i++) {
        p[i] *= t[i];
        t[i] *= t[i];
    }
    block_add_errors(n, count, t, squares);
    block_add_errors(n, count, p, products);
}

/* Finds what the block of *p has in common with others, unless *g has it. */
static APART void block_find_group(const block_job *j, const block_part *p, block_group *g)
{
    const core_sharing share = core_walk_sharing(&j->walk, p->block, j->block->corrected);
    realw squares[CORE_CHOICE_ROWS] = {0}, products[CORE_CHOICE_ROWS] = {0}, x[BLOCK_TILE];
    if (g->first == share.first)
        return;
    g->first = share.first;
    g->count = share.along;
    for (uint64_t k = 0; k < share.along; k++) {
        core_place place;
        core_scale s;
        block_neighbour(j, p, g->first + k, &place);
        const core_extremes e = block_extremes_between(j, &place, 0, place.elements);
        if (core_rule_is_super(j->block->rule)) {
            memset(g->part + k, 0, sizeof *g->part);
            block_take(j, &place, 0, (size_t)place.elements, x);
            if (!e.nonfinite)
                g->part[k] = core_super_find(j->block, (unsigned)place.elements, x);
            continue;
        }
        core_scale_candidate(j->block, &e, 0, &s);
        if (s.kind != CORE_SCALE_DIVIDE)
            continue; /* there is nothing to add */
        for (uint64_t at = 0, n; at < place.elements; at += n) {
            n = core_smaller(place.elements - at, BLOCK_TILE);
            block_take(j, &place, at, (size_t)n, x);
            for (size_t i = 0; i < n; i++)
                x[i] = (core_bits(x[i]) & ~CARRIER_SIGN) < CARRIER_INF ? x[i] : 0;
            block_correction_sums(j, (size_t)n, 1, &s.down, x, squares + k, products + k);
        }
    }
    g->squares = core_choice_total(squares, (unsigned)share.along);
    g->products = core_choice_total(products, (unsigned)share.along);
}

/* Completes a scale by its levels. */
static APART void block_find_levels(const block_job *j, const core_place *place, uintw amax, core_scale *s)
{
    const unsigned each = core_rule_levels(j->block->rule), n = (unsigned)place->elements;
    realw x[CORE_LEVEL_ELEMENTS];
    uintw group[CORE_LEVEL_ELEMENTS / 2] = {0};
    block_take(j, place, 0, n, x);
    for (unsigned i = 0; i < n; i++) {
        const uintw a = core_bits(x[i]) & ~CARRIER_SIGN, kept = a < CARRIER_INF ? a : 0;
        group[i / each] = kept > group[i / each] ? kept : group[i / each];
    }
    core_scale_levels(j->block, amax, group, (n + each - 1) / each, s);
}

/* Extremes *e of a block, with its ends. */
static APART void block_find_ends(const block_job *j, const core_place *place, const core_extremes *e,
                                  core_extremes *ends)
{
    realw x[BLOCK_TILE];
    int first = 1;
    *ends = *e;
    for (uint64_t at = 0, n; at < place->elements; at += n) {
        n = core_smaller(place->elements - at, BLOCK_TILE);
        block_take(j, place, at, (size_t)n, x);
        for (size_t i = 0; i < n; i++)
            core_ends_add(j->block->rule, ends, &first, core_bits(x[i]));
    }
}

/* The mean magnitude of a block's finite elements. */
static APART realw block_find_mean(const block_job *j, const core_place *place)
{
    core_steps s = {0, 0};
    uint64_t count = 0, low;
    int64_t high;
    realw x[BLOCK_TILE];
    for (uint64_t at = 0, n; at < place->elements; at += n) {
        n = core_smaller(place->elements - at, BLOCK_TILE);
        block_take(j, place, at, n, x);
        block_add_magnitudes(n, x, &s);
        for (size_t i = 0; i < n; i++)
            count += (core_bits(x[i]) & ~CARRIER_SIGN) < CARRIER_INF;
    }
    core_steps_join(s.low, s.high, &low, &high);
    return (realw)core_steps_mean(low, high, count);
}

/* The scale of a block, counted and told to the sink. g: as the block before left it, or that of no block. */
static void block_find_scale(const block_job *j, block_part *p, const core_extremes *e, block_group *g,
                             fpemu_stats *counters)
{
    const block_call *call = j->call;
    core_scale *s = &p->scale;
    core_extremes ends;
    p->amax = e->amax;
    if (core_rule_has_ends(j->block->rule)) {
        block_find_ends(j, &p->place, e, &ends);
        e = &ends;
    } else if (j->block->rule == FPEMU_SCALING_ABSMEAN && !j->whole_known && !j->given) {
        ends = *e;
        ends.high = core_bits(block_find_mean(j, &p->place));
        e = &ends;
    }
    if (j->p->scalar) {
        memset(s, 0, sizeof *s);
        s->kind = CORE_SCALE_NONE;
        return;
    }
    if (j->given)
        core_scale_given(j->block, j->given, p->block, s);
    else if (j->block->order == CORE_MANTISSA)
        core_scale_share(j->block, e, block_find_mantissa(j, p, g), s);
    else
        core_scale_candidate(j->block, e, 0, s);
    if (j->block->candidates > 1 && !j->given)
        block_choose_scale(j, p, e);
    const int is_super = core_rule_is_super(j->block->rule);
    if (j->block->corrected && j->block->order != CORE_MANTISSA && (e->amax || is_super) && !j->given) {
        block_find_group(j, p, g);
        if (is_super)
            core_super_scale(j->block, g->part, (unsigned)g->count, (unsigned)(p->block - g->first), e->amax, s);
        else
            core_scale_correct(j->block, g->squares, g->products, fpemu_element_bits(call->rounding, p->place.first),
                               s);
    }
    if (core_rule_levels(j->block->rule))
        block_find_levels(j, &p->place, e->amax, s);
    if (call->sink && s->kind != CORE_SCALE_S2FP8)
        call->sink->scale(call->sink->context, p->block, core_scale_code(j->block, s));
    if (counters)
        count_block(counters, call->stats, s->kind, e->amax == 0 && !e->nonfinite, s->saturated, s->counted,
                    s->exponent);
}

#include "block_runs.inc.c"
#include "block_codes.inc.c"

/* Elements begin <= position < end of a block with a known scale: at once, or by the tile. */
static void block_add_elements(const block_job *j, block_tile *w, const block_part *p, uint64_t begin, uint64_t end,
                               gathering *g)
{
    for (uint64_t at = begin, n; at < end; at += n) {
        const uint64_t left = end - at;
        n = 0;
        if (j->codes) {
            n = block_code_piece(j, p, at, end);
        } else if (left >= BLOCK_TILE && j->fused_pieces) {
            if (g)
                block_flush(j, w, g); /* sums of errors go by place */
            n = block_fused_piece(j, p, at, end, g);
        }
        if (n)
            continue;
        n = left < BLOCK_TILE ? left : BLOCK_TILE;
        block_add_part(j, w, p, at, (size_t)n, g);
    }
}

/* Blocks begin <= v < end in the order of visits, one after the other. */
static void block_run_blocks(const block_job *j, block_tile *w, uint64_t begin, uint64_t end, gathering *g)
{
    /* where the block's elements begin in a compact x */
    uint64_t compact = j->lines ? (begin - j->call->first) / j->walk.across * j->walk.length : 0;
    uint64_t again = 0;
    block_group group = {.first = UINT64_MAX};
    for (uint64_t v = begin; v < end; v++) {
        block_part p;
        core_extremes e = j->whole;
        if (j->many && v >= again) {
            if (g)
                block_flush(j, w, g); /* the open sums are of the blocks in it */
            const uint64_t done = j->codes ? block_code_many(j, v, end) : block_run_many(j, v, end, g);
            again = done ? 0 : v + 16; /* where one block is left out, the next ones likely are */
            v += done;
            if (v == end)
                break;
        }
        p.block = j->call->count == UINT64_MAX && !j->lines ? core_walk_visited(&j->walk, v) : v;
        fpemu_walk_block(&j->walk, p.block, &p.place);
        if (j->call->compact) {
            p.place.x = (int64_t)compact;
            compact += p.place.elements;
        }
        if (j->looks)
            e = block_extremes_between(j, &p.place, 0, p.place.elements);
        block_find_scale(j, &p, &e, &group, g ? &g->stats : NULL);
        if (!j->scales_only)
            block_add_elements(j, w, &p, 0, p.place.elements, g);
    }
    block_flush(j, w, g);
}

/* A block for what only this call knows: that of its own plan, or a copy. */
static core_block *block_own(block_job *j)
{
    if (!j->own) {
        j->room = *j->block;
        j->own = &j->room;
    }
    j->block = j->own;
    return j->own;
}

/* The same line by line, where lines have numbers of their own. */
static void block_run_lines(const block_job *j, block_tile *w, uint64_t begin, uint64_t end, gathering *g)
{
    const uint64_t across = j->walk.across, length = j->walk.length;
    const block_sink *sink = j->call->sink;
    block_job own = *j;
    own.own = NULL;
    core_block *const block = block_own(&own);
    for (uint64_t b = begin; b < end; b += across) {
        core_place line;
        fpemu_range range = {0};
        fpemu_walk_block(&j->walk, b, &line);
        line.n[3] = line.elements = length;
        if (j->call->compact)
            line.x = (int64_t)((b - j->call->first) / across * length);
        range.amax = (double)core_value(block_extremes_between(j, &line, 0, length).amax);
        block->tensor = tensor_of(j->call->format, (double)block->scale_max, &range);
        if (sink && sink->tensor)
            sink->tensor(sink->context, b / across, block->tensor);
        block_run_blocks(&own, w, b, b + across, g);
    }
}

/* Counts a tile of a table's elements. */
static void block_table_count(const block_job *j, uint64_t index, size_t n, const realw *x, const realw *y,
                              gathering *g)
{
    tile_counts c = {0};
    c.max_error = g->stats.max_error;
    block_table_seen(j, n, x, y, &c);
    c.clipped = c.overflow = j->k->loopsw->codebook_outside(j->element.search, n, x, NULL);
    fpemu_gather_tile(g, CARRIER_BITS, index, n, x, y, &c);
}

/* Elements [begin, end) of an array by a table that is searched. */
static void block_table_part(const block_job *j, size_t begin, size_t end, gathering *g)
{
    const block_element *e = &j->element;
    const block_sink *sink = j->call->sink;
    const uint64_t offset = j->call->rounding->offset;
    _Alignas(LINE) realw held[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    uint8_t codes[TILE];
    _Alignas(LINE) realw tile[ASIDE(WORDS_TILE)];
    const int in_place = block_in_place(j), at_once = !g && !sink && !e->p->stochastic;
    if (at_once && in_place) {
        j->k->loopsw->codebook(e->search, end - begin, j->x + begin, NULL, j->y + begin);
        return;
    }
    for (size_t at = begin, n; at < end && at_once; at += n) {
        n = end - at < WORDS_TILE ? end - at : WORDS_TILE;
        block_load(j, (int64_t)at, 1, n, tile);
        j->k->loopsw->codebook(e->search, n, tile, NULL, tile);
        block_store(j, (int64_t)at, 1, n, tile);
    }
    for (size_t at = at_once ? end : begin, n; at < end; at += n) {
        const realw *const x = in_place ? j->x + at : tile;
        realw *const y = sink || !in_place || x == j->y + at ? held : j->y + at;
        n = end - at < TILE ? end - at : TILE;
        if (e->p->stochastic)
            fpemu_random_fill(j->k, j->call->rounding, offset + at, n, r);
        if (!in_place)
            block_load(j, (int64_t)at, 1, n, tile);
        if (!sink || g || !e->search->steps)
            block_element_search_values(e, j->k, n, x, r, y);
        if (g)
            block_table_count(j, offset + at, n, x, y, g);
        if (sink) {
            j->k->loopsw->codebook_codes(e->search, n, e->search->steps ? x : y, codes);
            sink->codes(sink->context, 0, at, n, j->p->size, codes);
        } else if (y == held) {
            block_store(j, (int64_t)at, 1, n, y);
        }
    }
}

/* What a call leaves to its threads: a large block, which p says, piece by piece (together), blocks first <= v < end in
 * equal parts, or, p = NULL, all elements of an array by a table that is searched. */
typedef struct block_slice {
    const block_job *j;
    const block_part *p;
    uint64_t first, end;
    int parts, together;
} block_slice;

static void block_run_slice(const block_slice *s, int k)
{
    const block_job *j = s->j;
    block_tile w;
    gathering g;
    w.n = w.count = 0;
    if (j->counted)
        fpemu_gather_begin(&g, j->want, CARRIER_BITS);
    if (!s->p) {
        const uint64_t offset = j->call->rounding->offset;
        block_table_part(j, part_begin(k, s->parts, (size_t)s->end, offset),
                         part_begin(k + 1, s->parts, (size_t)s->end, offset), j->counted ? &g : NULL);
    } else if (s->together) {
        const size_t n = (size_t)s->p->place.elements;
        const uint64_t offset = j->walk.block == CORE_WALK_INDEX ? j->call->rounding->offset : 0;
        block_add_elements(j, &w, s->p, part_begin(k, s->parts, n, offset), part_begin(k + 1, s->parts, n, offset),
                           j->counted ? &g : NULL);
        block_flush(j, &w, j->counted ? &g : NULL);
    } else {
        const uint64_t unit = j->lines ? j->walk.across : j->block->corrected ? j->block->corrected : 1;
        const uint64_t step = (s->end - s->first) / unit / (uint64_t)s->parts * unit;
        const uint64_t begin = s->first + step * (uint64_t)k, end = k + 1 == s->parts ? s->end : begin + step;
        (j->lines ? block_run_lines : block_run_blocks)(j, &w, begin, end, j->counted ? &g : NULL);
    }
    if (j->counted)
        fpemu_gather_join(&g, CARRIER_BITS, s->parts, j->call->stats);
}

static void block_run_slices(const block_slice *s)
{
    if (s->parts == 1) { /* apart: entering a parallel region costs more than many a call */
        block_run_slice(s, 0);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->parts) schedule(static, 1)
#endif
    for (int k = 0; k < s->parts; k++) {
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        block_run_slice(s, k);
        fpemu_environment_leave(&environment);
    }
}

/* Blocks `first` and following on as many threads as are worth it. Large blocks one after the other, each by all
 * threads, cut where a piece of its sums ends. */
static void block_run_all(const block_job *j, uint64_t first, uint64_t end)
{
    const core_walk *w = &j->walk;
    const uint64_t full = w->n[0] * w->n[1] * w->n[2] * w->n[3], count = end - first;
    const int large = full >= LARGE, together = large && !j->call->compact && !j->lines;
    const uint64_t most = count < w->total / full + 1 ? count * full : w->total; /* elements, about */
    const int parts = j->call->compact ? 1 : thread_count((size_t)(together ? full : most));
    block_part p;
    block_group group = {.first = UINT64_MAX};
    const block_slice s = {j, &p, first, end, parts, together};
    if (!together) {
        block_run_slices(&s);
        return;
    }
    for (uint64_t b = first; b < end; b++) {
        core_extremes e = j->whole;
        p.block = b;
        fpemu_walk_block(w, b, &p.place);
        if (j->looks)
            block_large_extremes(j, &p.place, parts, &e);
        block_find_scale(j, &p, &e, &group, j->counted ? j->call->stats : NULL);
        if (!j->scales_only)
            block_run_slices(&s);
    }
}

/* ------------------------------------------------------------------------------------------------- calls */

/* `count` blocks of n elements in a row from x, of which the first has index `at`: how many have scales of one kind, by
 * which alone this divides or multiplies. */
static uint64_t block_run_short(const block_job *j, size_t n, uint64_t count, uint64_t at, const realw *x, realw *y)
{
    const int measured = j->whole_known && !j->whole.other;
    block_scales found;
    uintw amax[FEW_BLOCKS], judged[FEW_BLOCKS]; /* judged: what the scales are of, which may be another tensor's */
    realw powers[FEW_BLOCKS];
    core_extremes e = j->whole;
    core_scale s;
    int kind = CORE_SCALE_NONE;
    uint64_t done = 0;
    if (measured)
        amax[0] = e.nonfinite ? CARRIER_INF : e.amax; /* it is the one block */
    else
        j->k->loopsw->runs_amax(n, (size_t)count, x, amax);
    for (; done < count && amax[done] < CARRIER_INF; done++) {
        if (!j->whole_known)
            e.amax = amax[done];
        core_scale_candidate(j->block, &e, 0, &s);
        kind = done ? kind : s.kind;
        if (s.kind != kind || (kind != CORE_SCALE_MULTIPLY && kind != CORE_SCALE_DIVIDE))
            break;
        judged[done] = e.amax;
        found.down[done] = s.down;
        found.s[done] = s.s;
        found.second = s.d;
    }
    found.divide = kind == CORE_SCALE_DIVIDE;
    found.powers = j->p->pow2.usable && j->k->loopsw->pow2_scales(&j->p->pow2, (size_t)done, judged, powers) == done;
    for (uint64_t b = 0; b < done; b++) /* that of zeros may be another */
        found.powers &= powers[b] == found.s[b];
    if (done == 0 || !block_choose(j, (size_t)done, amax, &found))
        return 0;
    block_at_once(j, &found, 0, at, n, (size_t)done, x, y);
    return done;
}

/* Blocks of an array from `first` on, with nothing counted: how many up to the first that this does not do. For few and
 * small ones, which feel what tiles ask for. */
static APART uint64_t block_run_few(const block_job *j, uint64_t first, uint64_t end)
{
    const uint64_t length = j->walk.n[3];
    for (uint64_t b = first, done; b < end; b += done) {
        const uint64_t at = b * length, left = j->walk.total - at, n = core_smaller(length, left);
        if (n >= FEW_LANES) {
            const uint64_t whole = (end - b) * n <= left ? end - b : end - b - 1; /* the last may be shorter */
            done = block_run_short(j, (size_t)n, n < length ? 1 : whole, at, j->x + at, j->y + at);
        } else { /* one vector costs less than element after element */
            realw held[FEW_LANES] = {0};
            memcpy(held, j->x + at, (size_t)n * sizeof *held);
            done = block_run_short(j, FEW_LANES, 1, at, held, held);
            if (done)
                memcpy(j->y + at, held, (size_t)n * sizeof *held);
        }
        if (done == 0)
            return b - first;
    }
    return end - first;
}

/* Whether all of a tensor without scales is asked for, and its elements follow one another as in an array. */
static int block_is_plain(const block_call *call, const core_walk *w)
{
    return call->format->scaling == FPEMU_SCALING_NONE && !call->compact && w->block == CORE_WALK_INDEX &&
           (!call->sink || call->sink->codes == codes_to_array) && call->first == 0 && call->count == UINT64_MAX &&
           w->n[3] == w->total && w->step[3] == 1 && w->x[3] == 1 && w->y[3] == 1;
}

/* Where the elements lie. */
static void block_set_arrays(block_job *j, int carrier, const void *x, void *y)
{
    const int narrow = carrier_is_narrow(carrier);
    j->carrier = carrier;
    j->x = narrow ? NULL : (const realw *)x;
    j->y = narrow ? NULL : (realw *)y;
    j->gives = y != NULL;
#if CARRIER_BITS == 32
    j->words_x = narrow ? (const uint16_t *)x : NULL;
    j->words_y = narrow ? (uint16_t *)y : NULL;
#endif
}

/* The call's own fields, but for what follows from where the blocks lie; j->walk is begun. */
static void block_job_begin(block_job *j, const block_call *call, const block_plan *p, core_block *own, const void *x,
                            void *y)
{
    j->k = p->k;
    j->p = p;
    j->call = call;
    j->block = &p->block;
    j->own = own;
    j->element.p = &p->element;
    j->element.search = NULL;
    block_set_arrays(j, call->carrier, x, y);
    memset(&j->whole, 0, sizeof j->whole);
    j->whole_known = 0;
    j->counted = call->stats != NULL;
    j->want = call->stats ? call->stats->request.want : 0;
    j->given = call->shape->given;
    j->zeros =
        (j->given && j->given->order) || core_rule_is_affine(call->format->scaling) || p->block.order == CORE_MANTISSA;
    j->lines = call->format->outer;
    j->nan_seen = NULL;
    j->scales_only = call->sink && !call->sink->codes;
    j->own_words = p->stochastic && call->rounding->generator == FPEMU_GENERATOR_HASH &&
                   call->rounding->bits % 32 == 0 && core_mode(call->rounding) < FPEMU_MODE_COUNT;
    j->fused = j->fused_pieces = j->codes = 0;
    if (!j->counted && (p->block.sticky & ~CORE_STICKY_VALUES))
        block_own(j)->sticky &= CORE_STICKY_VALUES;
}

/* Which forms for many blocks may take them as they lie. */
static void block_job_lie(block_job *j, const fpemu_format *f)
{
    const block_call *call = j->call;
    const core_walk *w = &j->walk;
    const uint64_t most = w->inner == 1 ? WORDS_TILE : WORDS_TILE / 16; /* of words, so that tiles are not small */
    const int fits = block_in_place(j) || w->tile_length <= most;
    const int takes = !j->zeros && (!j->given || (!j->counted && w->inner == 1));
    const int runs = fits && f->scaling && takes && !core_rule_sees_more(f->scaling) && f->block <= FPEMU_BLOCK_ROW &&
                     !call->rounding->compat && !call->sink;
    if (w->inner == 1)
        j->many = runs && w->x[3] == 1 && w->y[3] == 1;
    else
        j->many = runs && w->x_axis[3] == 1 && w->y_axis[3] == 1 && call->count == UINT64_MAX &&
                  !(j->want & FPEMU_STATS_SUMS) && !j->lines;
    j->stream = runs && w->inner == 1 && block_in_place(j) && j->x != j->y && !j->p->stochastic &&
                w->tile_length <= STREAM_LARGEST && w->total >= STREAM_BYTES / sizeof(realw);
    j->hold_many = 0;
}

/* The numbers of the whole tensor that follow from its scale, where the caller gives it. */
static void block_given_tensor(block_job *j, const fpemu_given *given)
{
    const block_sink *sink = j->call->sink;
    if (!(given->tensor > 0))
        return;
    block_own(j)->tensor = core_given_tensor(given);
    if (sink && sink->tensor)
        sink->tensor(sink->context, 0, j->block->tensor);
}

/* The numbers of the whole tensor, and its range where its blocks are one: measured, unless the caller tells them. */
static void block_job_tensor(block_job *j, const fpemu_format *f)
{
    const block_call *call = j->call;
    const fpemu_range *whole = call->shape->whole;
    /* rules that choose ask for more than packed bytes keep */
    const int known = core_has_tensor(f) && call->tensor && !core_rule_chooses(f->scaling);
    const fpemu_given *given = call->shape->given;
    if (given && (given->tensor > 0 || !core_has_tensor(f))) {
        block_given_tensor(j, given);
        if (!whole || f->block != FPEMU_BLOCK_TENSOR) /* which its range judges */
            return;
    }
    fpemu_range range;
    /* a block that is the whole tensor is counted by its range, also where its numbers are known */
    if ((!known || (call->stats && f->block == FPEMU_BLOCK_TENSOR)) && !whole) {
        const int more =
            core_rule_sees_more(f->scaling) || core_rule_sums(f->scaling) || f->scaling == FPEMU_SCALING_ASYMMETRIC;
        const fpemu_shape *shape = call->shape;
        fpemu_shape dense;
        if (call->compact) { /* x lies without gaps, whatever the tensor does */
            dense = *shape;
            memset(dense.x_stride, 0, sizeof dense.x_stride);
            shape = &dense;
        }
        block_measure(j, f, shape, &j->walk, !more, &range);
        whole = &range;
    }
    if (core_has_tensor(f)) {
        const core_tensor tensor = known ? *call->tensor : tensor_of(f, (double)j->block->scale_max, whole);
        block_own(j)->tensor = tensor;
        if (call->sink && call->sink->tensor)
            call->sink->tensor(call->sink->context, 0, tensor);
    }
    if (f->block != FPEMU_BLOCK_TENSOR && (whole != &range || j->walk.blocks != 1))
        return;
    j->whole_known = 1;
    if (!whole)
        return;
    j->whole.amax = (uintw)core_saturated_bits(whole->amax);
    j->whole.high = (uintw)core_saturated_bits(whole->max);
    j->whole.low = (uintw)core_saturated_bits(0 - whole->min); /* never -0 */
    j->whole.nonfinite = whole->nonfinite > 0;
    j->whole.other = whole != &range;
    if (f->scaling == FPEMU_SCALING_ABSMEAN) {
        const double mean = core_steps_mean(whole->log2_low, whole->log2_high, whole->count - whole->nonfinite);
        j->whole.high = core_bits((realw)mean);
    }
}

/* What rounds the elements, and the forms that take many of them. */
static void block_job_elements(block_job *j, const fpemu_format *f)
{
    const block_call *call = j->call;
    const element_plan *e = &j->p->element;
    const core_walk *w = &j->walk;
    block_element_begin(&j->element, e, j->counted | j->zeros);
    block_element_search(&j->element, j->k, w->total, !call->sink, j->counted, &j->search);
    j->fused = (!j->block->sticky || j->p->pow2.usable) && block_is_fast(e) && !core_rule_levels(f->scaling) &&
               !j->block->corrected;
    j->fused_pieces =
        j->fused && !j->p->scalar && !j->zeros && !call->rounding->compat && !call->sink && !call->compact;
    j->hold_many = j->p->hold_many && !j->given && w->blocks > FEW_BLOCKS;
    j->many &= (w->inner == 1 && (!call->stats || block_table_is_quick(j))) || j->fused;
    j->codes = (uint8_t)(block_can_code(j) && !j->zeros && !(j->given && j->block->powers));
    j->looks = !j->p->scalar && !j->whole_known && (!j->given || j->counted);
    if (core_rule_levels(f->scaling))
        j->many = j->codes = 0;
    if (j->block->candidates > 1 || j->block->corrected) /* their counters are those of one block at a time */
        j->many &= !j->counted && w->inner == 1;
    if (!j->codes)
        return;
    j->many = f->scaling && !core_rule_sees_more(f->scaling) && f->block <= FPEMU_BLOCK_ROW && w->inner == 1 &&
              w->x[3] == 1 && w->tile_length <= TILE;
}

/* What the tiles need beside that: elements whose scales take binary64. */
static void block_job_wide(block_job *j, const fpemu_format *f)
{
    fpemu_rounding rounding;
    if (!j->block->powers && f->scaling != FPEMU_SCALING_S2FP8)
        return;
    memset(&j->wide, 0, sizeof j->wide);
    element_rounding(f, j->call->rounding, &rounding);
    j->wide.compat = j->p->compat;
    j->wide.is_table = j->element.p->is_table;
    if (!j->wide.is_table)
        core_plan_make(&j->wide.plan, f, &rounding, j->p->codes);
    if (!j->wide.is_table && f->fits_f64)
        core_plan_make64(&j->wide.wide, f, &rounding, j->p->codes);
}

/* All of a call that is checked: j->walk is begun, and there are blocks. planned: NULL, or the plan of format and
 * rounding; without one, only as much of it is made as the call comes to. */
static APART fpemu_status block_run_checked(block_job *j, const block_call *call, const block_plan *planned,
                                            const fpemu_format *scale, uint64_t last, const void *x, void *y)
{
    const fpemu_format *f = call->format;
    const int plain = block_is_plain(call, &j->walk);
    uint64_t first = call->first;
    int nan_seen = 0;
    block_plan own;
    if (!planned)
        block_plan_scales(&own, f, scale, call->rounding, call->carrier, call->sink != NULL);
    block_job_begin(j, call, planned ? planned : &own, planned ? NULL : &own.block, x, y);
    block_job_lie(j, f);
    if (first == last)
        return FPEMU_OK;
    if (core_needs_range(f)) /* before the element: meanwhile it divides */
        block_job_tensor(j, f);
    if (!planned) {
        block_plan_elements(&own, f, call->rounding);
        if (j->walk.blocks > FEW_BLOCKS && !j->p->scalar)
            block_plan_many(&own, scale);
    }
    if (j->p->nan_is_error)
        j->nan_seen = &nan_seen; /* cppcheck-suppress autoVariables ; nobody looks at *j after this call */
    block_job_elements(j, f);
    /* which is known of a whole tensor alone */
    const int by_amax = (!core_rule_sees_more(f->scaling) || j->whole_known) && j->block->candidates < 2 &&
                        !j->block->corrected && !j->given;
    if (j->fused_pieces && !j->counted && j->walk.array && block_in_place(j) && by_amax && last - first <= FEW_BLOCKS &&
        j->walk.total <= BLOCK_TILE && !j->lines)
        first += block_run_few(j, first, last);
    if (j->codes && j->many && j->walk.total < SMALL && !j->lines)
        first += block_code_many(j, first, last);
    if (first == last)
        return FPEMU_OK;
    block_job_wide(j, f);
    if (plain && j->element.search && j->p->size == 1 && !j->nan_seen && !j->scales_only)
        block_run_slices(&(block_slice){j, NULL, 0, j->walk.total, thread_count((size_t)j->walk.total), 0});
    else
        block_run_all(j, first, last);
    return nan_seen ? FPEMU_ERROR_NAN : FPEMU_OK;
}

static fpemu_status block_run_inside(const block_call *call, const void *x, void *y)
{
    const fpemu_format *f = call->format;
    const block_plan *planned = (const block_plan *)call->plan;
    block_job j;
    fpemu_format own;
    const fpemu_format *scale = call->scale;
    const size_t size = carrier_size(call->carrier);
    fpemu_status status = FPEMU_OK;
    if (!scale && !planned)
        status = fpemu_check_scaled(f, call->rounding, call->sink ? CARRIER_BITS : call->carrier, &scale, &own, NULL);
    if (!status && call->stats)
        status = fpemu_stats_check(call->stats);
    if (!status && !call->walk)
        status = fpemu_walk_begin(&j.walk, f, call->shape, size, call->lines);
    if (status)
        return status;
    if (call->walk)
        j.walk = *call->walk;
    if (!core_told_range_is_sane(call->shape))
        return FPEMU_ERROR_ARGUMENT;
    if (call->shape->given && call->rounding->compat)
        return FPEMU_ERROR_UNSUPPORTED;
    const uint64_t blocks = j.walk.blocks, last = call->count == UINT64_MAX ? blocks : call->first + call->count;
    if (call->first > blocks || last < call->first || last > blocks)
        return FPEMU_ERROR_ARGUMENT;
    if (last == call->first)
        return FPEMU_OK;
    if (!x || (!y && !call->sink) ||
        (call->compact && core_rule_chooses(f->scaling) && !call->shape->whole && !f->outer))
        return FPEMU_ERROR_NULL; /* packed bytes do not keep the tensor's amax */
    const uint64_t line = j.walk.across * (f->block == FPEMU_BLOCK_TILE ? j.walk.down : 1);
    if ((f->outer || core_corrected(f)) && (call->first % line || last % line))
        return FPEMU_ERROR_ARGUMENT; /* part of a line does not have its numbers, or corrections */
    if (y)                           /* no element may change that the scales of others ask for */
        status = x == y && core_corrected(f) ? FPEMU_ERROR_OVERLAP : check_arrays(&j.walk, x, y, size);
    if (status)
        return status;
    if (f->kind != FPEMU_KIND_CODEBOOK && !call->sink && block_is_plain(call, &j.walk))
        return fpemu_convert(call->carrier, f, call->rounding, (size_t)j.walk.total, x, y, 0, call->stats);
    return block_run_checked(&j, call, planned, scale, last, x, y);
}

fpemu_status fpemu_block_run(const block_call *call, const void *x, void *y)
{
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = block_run_inside(call, x, y);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_block_tensor_run(int carrier, const void *plan, const fpemu_format *format,
                                    const fpemu_rounding *rounding, const fpemu_shape *shape, const void *x, void *y,
                                    fpemu_stats *stats)
{
    if (!format || !rounding || !shape)
        return FPEMU_ERROR_NULL;
    block_call call;
    memset(&call, 0, sizeof call);
    call.format = format;
    call.rounding = rounding;
    call.shape = shape;
    call.count = UINT64_MAX;
    call.stats = stats;
    call.carrier = carrier;
    call.plan = plan;
    return shape->outer && shape->rows && shape->length && shape->inner && !y ? FPEMU_ERROR_NULL
                                                                              : fpemu_block_run(&call, x, y);
}

static fpemu_status measure_array(int carrier, const fpemu_format *format, size_t n, const void *x, fpemu_range *range)
{
    if (!format || !range || (n && !x))
        return FPEMU_ERROR_NULL;
    core_reach e;
    if (!core_reach_array(&e, x, n, carrier_size(carrier)))
        return FPEMU_ERROR_ARGUMENT;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    fpemu_status status = fpemu_check_call(format, NULL, CARRIER_BITS, NULL);
    if (!status && !core_range_is_sane(range))
        status = FPEMU_ERROR_ARGUMENT;
    if (!status && n) {
        block_job j;
        fpemu_range seen;
        const fpemu_shape shape = {.outer = 1, .rows = 1, .length = n, .inner = 1};
        j.k = fpemu_kernels();
        block_set_arrays(&j, carrier, x, NULL);
        block_measure(&j, format, &shape, NULL, 0, &seen);
        join_range(range, &seen);
    }
    fpemu_environment_leave(&environment);
    return status;
}

/* ----------------------------------------------------------------------------------------------- reading */

void fpemu_reader_begin(block_reader *r, const fpemu_format *f, const fpemu_format *scale)
{
    const fpemu_rounding nearest = {0};
    r->scaled = f->scaling != FPEMU_SCALING_NONE;
    if (r->scaled) {
        core_block_make(&r->block, f, scale, &nearest);
        core_block_codes(&r->block, scale);
    }
    r->values = NULL;
    r->length = 0;
    r->size = code_size(f->bits);
    if (f->kind == FPEMU_KIND_CODEBOOK) {
        r->values = fpemu_table_values(f);
        r->length = f->codebook_length;
    } else {
        core_coder_make(&r->coder, f, NULL); /* of the element: it does not look at scales */
    }
}

void fpemu_reader_elements(const block_reader *r, size_t n, const void *codes, realw *y)
{
    const kernels *k = fpemu_kernels();
    if (r->values)
        k->loopsw->codebook_values(r->values, r->length, n, codes, r->size, y);
    else
        k->loopsw->decode(&r->coder, n, codes, r->size, 0, y);
}

void fpemu_reader_values(const block_reader *r, uint64_t code, realw zero, size_t n, const void *codes, realw *y)
{
    const kernels *k = fpemu_kernels();
    core_scale s;
    fpemu_reader_elements(r, n, codes, y);
    if (!r->scaled)
        return;
    core_scale_read(&r->block, code, &s);
    for (size_t i = 0; i < n && zero != 0; i++)
        y[i] -= zero;
    if (s.kind == CORE_SCALE_MULTIPLY && !s.levels && !s.order) {
        k->loopsw->scale_y(&s, n, y, y);
        return;
    }
    const core_scale whole = s;
    for (size_t i = 0; i < n; i++) {
        if (whole.levels) /* of blocks that are read at once */
            s = core_scale_at(&r->block, &whole, (unsigned)i);
        if (s.kind == CORE_SCALE_NAN)
            y[i] = core_value(CARRIER_INF | CARRIER_INF >> 1);
        else if (s.order)
            y[i] = core_value(core_zero_y(&s, core_bits(y[i])));
        else if (s.kind != CORE_SCALE_S2FP8)
            y[i] = core_value(core_block_y(&s, core_bits(y[i])));
        else if ((core_bits(y[i]) & ~CARRIER_SIGN) < CARRIER_INF)
            y[i] = core_value((uintw)core_saturated_bits(core_s2fp8_y(r->block.tensor, (double)y[i])));
    }
}

/* ------------------------------------------------------------------- what quantize.inc.c hands over */

fpemu_status fpemu_block_convert(int carrier, const void *plan, const fpemu_format *f, const fpemu_rounding *r,
                                 size_t n, const void *x, void *out, int to_code, fpemu_stats *stats)
{
    const fpemu_shape shape = {.outer = 1, .rows = 1, .length = n, .inner = 1};
    const block_sink sink = {out, NULL, NULL, codes_to_array, NULL};
    fpemu_status status = FPEMU_OK;
    if (to_code && !plan)
        status = fpemu_check_call(f, r, CARRIER_BITS, NULL);
    if (to_code && !status)
        status = fpemu_refuse(NULL, fpemu_use_refused(f, r, FPEMU_USE_ENCODE), f, r, carrier);
    if (to_code && !status)
        status = check_overlap(x, carrier_size(carrier), out, code_size(f->bits), n);
    const block_call call = {.format = f,
                             .rounding = r,
                             .shape = &shape,
                             .count = UINT64_MAX,
                             .sink = to_code ? &sink : NULL,
                             .stats = stats,
                             .carrier = carrier,
                             .plan = plan};
    return status ? status : fpemu_block_run(&call, x, to_code ? NULL : out);
}

fpemu_status fpemu_block_decode(int carrier, const fpemu_format *f, size_t n, const void *codes, void *y)
{
    block_reader reader;
    fpemu_format own;
    const fpemu_format *scale;
    fpemu_status status = fpemu_check_scaled(f, NULL, carrier, &scale, &own, NULL);
    if (!status)
        status = fpemu_refuse(NULL, fpemu_use_refused(f, NULL, FPEMU_USE_DECODE), f, NULL, carrier);
    if (status)
        return status;
    fpemu_reader_begin(&reader, f, scale);
    return fpemu_reader_run(&reader, carrier, n, codes, y);
}

fpemu_status fpemu_reader_run(const block_reader *reader, int carrier, size_t n, const void *codes, void *y)
{
    const size_t size = reader->size, element = carrier_size(carrier);
    if (!reader->values)
        return fpemu_decode_run(&reader->coder, size, carrier, n, codes, y);
    const fpemu_status status = check_overlap(codes, size, y, element, n);
    if (status)
        return status;
    if (carrier == CARRIER_BITS) {
        fpemu_reader_values(reader, 0, 0, n, codes, (realw *)y);
        return FPEMU_OK;
    }
#if CARRIER_BITS == 32
    for (size_t at = 0, m; at < n; at += m) {
        _Alignas(LINE) float tile[BLOCK_TILE];
        m = n - at < BLOCK_TILE ? n - at : BLOCK_TILE;
        fpemu_reader_values(reader, 0, 0, m, (const char *)codes + at * size, tile);
        carrier_narrow(fpemu_kernels(), carrier, m, tile, (char *)y + at * element);
    }
#endif
    return FPEMU_OK;
}

realw fpemu_table_round(const fpemu_format *f, const fpemu_rounding *r, realw x, uint64_t index, uint64_t *code)
{
    block_element e;
    realw y = core_value(CARRIER_INF | CARRIER_INF >> 1);
    uintw grid;
    int64_t q;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (f->scaling == FPEMU_SCALING_NONE && r && !fpemu_check_call(f, r, CARRIER_BITS, NULL)) {
        element_plan p;
        element_plan_make(&p, f, r, 0);
        block_element_begin(&e, &p, 0);
        const uint32_t random = p.stochastic ? fpemu_element_bits(r, index) : 0;
        block_element_run(&e, NULL, 1, &x, &random, 0, &grid, &y, &q);
        if (code)
            *code = (uint64_t)q;
    }
    fpemu_environment_leave(&environment);
    return y;
}

_Static_assert(sizeof(block_plan) <= PLAN_BYTES, "a block_plan is kept in an fpemu_prepared");
_Static_assert(sizeof(block_reader) <= PLAN_BYTES, "a block_reader is kept in an fpemu_prepared");

void fpemu_block_plan(void *plan, const fpemu_format *f, const fpemu_format *scale, const fpemu_rounding *r,
                      int carrier, int codes)
{
    block_plan *const p = (block_plan *)plan;
    block_plan_scales(p, f, scale, r, carrier, codes);
    block_plan_elements(p, f, r);
    if (!p->scalar)
        block_plan_many(p, scale);
}
