/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.inc.c - quantising, encoding and decoding arrays of one carrier; included twice by quantize.c. */

/* What a format, a rounding and a type ask of the loops: made once, read by any number of calls. */
typedef struct quantize_plan {
    const kernels *k;
    void (*round)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y); /* of plan */
    /* the same where the plan is one of the kernel's, or NULL */
    void (*kernel)(const core_plan *p, int type, const loop_draw *d, size_t n, const void *x, void *y);
    size_t size;           /* of a code; 0 = values are asked for */
    int carrier;           /* of x and of values */
    uint8_t at_once;       /* `direct` makes codes, or the loop for posits */
    uint8_t kernel_codes;  /* where nothing is counted, the kernel makes codes */
    uint8_t slow;          /* only the reference takes the first of two steps */
    uint8_t quick;         /* `round` finishes: the kernel where has_ends, a loop for settings, for powers of two */
    uint8_t own_words;     /* the kernel makes its random words itself */
    uint8_t two_steps;     /* no loop of one step will do */
    uint8_t counts_in_two; /* none will where it is counted */
    uint8_t exact;         /* every x - y is a number of the carrier while nothing passes the ends */
    uint8_t stochastic, philox, nan_is_error;
    core_plan plan;
    /* what is read only where it is made: of codes */
    core_coder coder;
    core_direct direct;
} quantize_plan;

/* A call. */
typedef struct quantize_job {
    const quantize_plan *p;
    const fpemu_rounding *rounding; /* its seed, stream and offset are the call's */
    const void *x;
    void *out;            /* values or codes */
    core_plan grid;       /* the plan without ends, where there may be two steps */
    core_plan64 integers; /* core_integers(), for the reference */
    uint32_t want;
    uint8_t counted, in_place, stream;
    uint8_t two_steps, own_words; /* the call takes two steps; the plan's loop makes its random words */
} quantize_job;

/* The rule, and the loop for it. */
static void quantize_plan_rule(quantize_plan *j, const fpemu_format *f, const fpemu_rounding *r, int to_code)
{
    core_plan_make(&j->plan, f, r, to_code);
#if CARRIER_BITS == 64
    if (j->plan.rule == CORE_RULE_AFFINE)
        j->plan.compat = 0;              /* PyTorch's settings are for binary32 data */
    if (core_affine_is_fast64(&j->plan)) /* here, not with the plan: blocks and sums round by integers in binary64 */
        j->plan.rule = CORE_RULE_AFFINE_FAST;
#endif
    j->k = fpemu_kernels();
    j->stochastic = CORE_DRAWS(j->plan.mode);
    j->slow = j->plan.rule == CORE_RULE_AFFINE || j->plan.compat;
    core_choose_fast(&j->plan, f);
    core_compat_choose(&j->plan, f);
    j->round = j->slow ? NULL : j->k->loopsw->round[j->plan.rule][j->plan.mode];
    j->quick = 1;
    if (core_compat_is_quick(&j->plan))
        j->round = j->k->loopsw->compat;
    else if (!j->slow && j->plan.has_ends)
        j->round = j->k->loopsw->finished;
    else if (core_wraps_quickly(&j->plan))
        j->round = j->k->loopsw->wrapped[j->plan.mode];
    else if (core_rounds_to_powers(&j->plan))
        j->round = j->k->loopsw->power[j->plan.mode];
#if CARRIER_BITS == 32
    else if (!to_code && core_affine_is_wide(&j->plan))
        j->round = j->k->affine32[j->plan.mode];
#endif
    else
        j->quick = 0;
    const int finished = j->round == j->k->loopsw->finished || (j->plan.rule != CORE_RULE_FULL_RANGE_GRID &&
                                                                j->plan.rule != CORE_RULE_SHIFTER_GRID && !j->quick);
    if (!j->slow && ((finished && j->plan.rule >= CORE_RULE_FULL_RANGE && j->plan.rule <= CORE_RULE_EVEN) ||
                     core_affine_is_quick(&j->plan)))
        j->kernel = j->k->loopsw->kernel;
}

/* Intermediate results of a tile. */
typedef struct quantize_tile {
    _Alignas(LINE) realw y[COUNT_TILE / sizeof(realw)];
    _Alignas(LINE) uintw grid[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    int64_t q[TILE]; /* integers of affine formats */
} quantize_tile;

/* Makes the key of element `index` and following: of how many, at most n. */
static size_t quantize_by_one_key(const quantize_job *j, word_key *words, uint64_t index, size_t n)
{
    const uint64_t left = (UINT64_C(1) << 32) - (index & UINT32_MAX);
    const uint64_t high = core_word_index(core_per_word(j->p->plan.n), index) >> 32;
    if (high != words->high) {
        words->high = high;
        words->key = core_hash_keys(j->rounding->seed, j->rounding->stream, high);
    }
    return n < left ? n : (size_t)left;
}

/* Rounds elements by the kernel's own random words, as far as one key goes: how many. type: of x and y; size: of codes
 * instead. */
static size_t quantize_by_words(const quantize_job *j, int type, size_t size, word_key *words, uint64_t index, size_t n,
                                const void *x, void *y)
{
    const size_t m = quantize_by_one_key(j, words, index, n);
    const loop_draw d = {NULL, words->key, index};
    if (size)
        j->p->k->loopsw->kernel_codes(&j->p->plan, &j->p->coder, &d, m, x, size, y);
    else
        j->p->kernel(&j->p->plan, type, &d, m, x, y);
    return m;
}

/* A tile in two steps, by the reference: for what has no loop of its own, and where more must be known than the result.
 * t->r holds the random bits. t->grid receives the values on the grid without ends; of elements that are taken one by
 * one it only says whether they overflow: all ones or 0. */
static void quantize_in_two_steps(const quantize_job *j, size_t n, const realw *x, quantize_tile *t, realw *y)
{
    assert(n <= TILE); /* of t->grid */
    if (!j->p->slow) {
        j->p->k->loopsw->round[j->grid.rule][j->p->plan.mode](&j->grid, n, x, t->r, t->grid);
        j->p->k->loopsw->finish(&j->p->plan, n, x, t->grid, y);
        return;
    }
    for (size_t e = 0; e < n; e++) {
        int overflow;
        uintw u, v;
        memcpy(&u, x + e, sizeof u);
        v = core_element(&j->p->plan, &j->integers, u, j->p->stochastic ? t->r[e] : 0, &overflow, t->q + e);
        memcpy(y + e, &v, sizeof v);
        t->grid[e] = overflow ? ~(uintw)0 >> 1 : 0;
    }
}

/* The results y of a tile to where they go: codes; past the caches; or to the output from beside it. */
static void quantize_deliver(const quantize_job *j, size_t n, const realw *x, const quantize_tile *t, const realw *y,
                             char *out)
{
    if (j->p->size && j->p->plan.rule == CORE_RULE_AFFINE && !j->p->quick) {
        for (size_t e = 0; e < n; e++) {
            uintw u, v;
            memcpy(&u, x + e, sizeof u);
            memcpy(&v, y + e, sizeof v);
            store_code(out, j->p->size, e, core_encode_affine(&j->p->coder, u, v, t->q[e]));
        }
    } else if (j->p->size) {
        j->p->k->loopsw->encode(&j->p->coder, n, x, y, j->p->size, out);
    } else if (j->stream) {
        j->p->k->stream(out, y, n * sizeof *y);
    } else if ((const void *)y != out) {
        memcpy(out, y, n * sizeof *y);
    }
}

/* The elements that a loop below has still to do. */
typedef struct quantize_span {
    const realw *x;
    char *out;
    uint64_t index; /* of its first element, for random numbers and sums */
    size_t n;
} quantize_span;

static void quantize_advance(quantize_span *s, size_t m, size_t size)
{
    s->x += m;
    s->out += m * size;
    s->index += m;
    s->n -= m;
}

/* Values, one loop for all of them. */
static void quantize_values(const quantize_job *j, const quantize_span *s)
{
    realw *const y = (realw *)(void *)s->out;
    const size_t before = elements_to_line(y, sizeof *y, s->n);
    if (before)
        j->p->round(&j->p->plan, before, s->x, NULL, y);
    j->p->round(&j->p->plan, s->n - before, s->x + before, NULL, y + before);
}

/* Values or codes by the kernel's own random words. */
static void quantize_all_by_words(const quantize_job *j, int type, uint64_t index, size_t n, const void *x, void *y)
{
    const size_t from = carrier_size(type), size = j->p->size, to = size ? size : from;
    word_key words = word_key_none();
    for (size_t at = 0; at < n;)
        at += quantize_by_words(j, type, size, &words, index + at, n - at, (const char *)x + at * from,
                                (char *)y + at * to);
}

/* A tile in one step: how many elements of at most n. The random bits, if it takes any from there, are left in t->r. */
static size_t quantize_in_one_step(const quantize_job *j, word_key *words, uint64_t index, size_t n, const realw *x,
                                   quantize_tile *t, realw *y)
{
    if (j->own_words)
        return quantize_by_words(j, CARRIER_BITS, 0, words, index, n, x, y);
    if (j->p->stochastic)
        fpemu_random_fill(j->p->k, j->rounding, index, n, t->r);
    j->p->round(&j->p->plan, n, x, t->r, y);
    return n;
}

/* How many elements the next tile has: those before a line begins, or `most`. */
static size_t quantize_next(const quantize_job *j, const quantize_span *s, size_t most)
{
    const size_t before = elements_to_line(s->out, j->p->size ? j->p->size : sizeof(realw), s->n);
    const size_t m = before ? before : most, n = s->n < m ? s->n : m;
    if (j->stream && s->n > n + STREAM_AHEAD / sizeof *s->x)
        stream_ask(s->x + STREAM_AHEAD / sizeof *s->x, n * sizeof *s->x);
    return n;
}

/* Tile by tile: codes, past the caches, with random bits from elsewhere, or in two steps. */
static void quantize_tiles(const quantize_job *j, quantize_span s)
{
    quantize_tile t;
    word_key words = word_key_none();
    const size_t most = j->stream ? STREAM_TILE / sizeof(realw) : TILE;
    for (size_t m; s.n > 0; quantize_advance(&s, m, j->p->size ? j->p->size : sizeof(realw))) {
        realw *const y = j->p->size || j->stream ? t.y : (realw *)(void *)s.out;
        m = quantize_next(j, &s, most);
        if (!j->two_steps) {
            m = quantize_in_one_step(j, &words, s.index, m, s.x, &t, y);
        } else {
            if (j->p->stochastic)
                fpemu_random_fill(j->p->k, j->rounding, s.index, m, t.r);
            quantize_in_two_steps(j, m, s.x, &t, y);
        }
        quantize_deliver(j, m, s.x, &t, y, s.out);
    }
    if (j->stream)
        stream_end();
}

/* The same with counters. Tiles that hold nothing past the ends, no infinity and no NaN are rounded in one step and
 * counted by the fast forms; the others by the reference. */
static void quantize_counted(const quantize_job *j, quantize_span s, gathering *g)
{
    const core_plan *p = &j->p->plan;
    quantize_tile t;
    word_key words = word_key_none();
    int two_steps = j->two_steps, nonzero = 1; /* as the last tile, so the next */
    const int large = !j->p->stochastic && !j->p->size && !j->stream;
    const size_t most = j->stream ? STREAM_COUNTED / sizeof(realw) : TILE;
    for (size_t m; s.n > 0; quantize_advance(&s, m, j->p->size ? j->p->size : sizeof(realw))) {
        /* counting and coding read x after y is made, so y waits on the stack where x may be the output */
        realw *const y = j->p->size || j->stream || j->in_place ? t.y : (realw *)(void *)s.out;
        int inside = 0;
        tile_counts c = {0};
        c.max_error = g->stats.max_error;
        m = quantize_next(j, &s, large && !two_steps ? COUNT_TILE / sizeof(realw) : most);
        if (!two_steps) {
            m = quantize_in_one_step(j, &words, s.index, m, s.x, &t, y);
            inside = nonzero && j->p->k->loopsw->count_nonzero(p, m, s.x, y, j->p->exact, &c) ? 2 : 0;
            if (!inside)
                inside = j->p->k->loopsw->count_inside(p, m, s.x, y, j->p->exact, &c);
            nonzero = inside == 2;
        }
        if (!inside) {
            m = m < TILE ? m : TILE;                             /* the rest of a longer tile becomes the next tile */
            if (j->p->stochastic && (two_steps || j->own_words)) /* else one step has them */
                fpemu_random_fill(j->p->k, j->rounding, s.index, m, t.r);
            quantize_in_two_steps(j, m, s.x, &t, y);
            j->p->k->loopsw->count(p, m, s.x, y, t.grid, &c);
            two_steps = j->two_steps || (c.nan | c.infinite | c.clipped | c.overflow);
        }
        fpemu_gather_tile(g, CARRIER_BITS, s.index, m, s.x, y, &c);
        quantize_deliver(j, m, s.x, &t, y, s.out);
    }
    if (j->stream)
        stream_end();
}

/* Rounds the elements of a span, by the loop that the call wants; g: NULL, or what counts. */
static void quantize_run_span(const quantize_job *j, const quantize_span *s, gathering *g)
{
    if (g)
        quantize_counted(j, *s, g);
    else if (j->p->kernel_codes && !j->p->stochastic)
        j->p->k->loopsw->kernel_codes(&j->p->plan, &j->p->coder, NULL, s->n, s->x, j->p->size, s->out);
    else if (j->p->at_once && j->p->plan.rule == CORE_RULE_POSIT)
        j->p->k->loopsw->encode_posit(&j->p->plan, &j->p->coder, s->n, s->x, j->p->size, s->out);
    else if (j->p->at_once)
        j->p->k->loopsw->codes(&j->p->direct, 0, s->n, 1, NULL, NULL, s->x, j->p->size, s->out);
    else if (!j->p->stochastic && !j->two_steps && !j->p->size && !j->stream)
        quantize_values(j, s);
    else if (j->own_words && (!j->p->size || j->p->kernel_codes) && !j->stream)
        quantize_all_by_words(j, CARRIER_BITS, s->index, s->n, s->x, s->out);
    else
        quantize_tiles(j, *s);
}

#if CARRIER_BITS == 32
/* The same of words, which go through binary32, in registers or a tile at a time. */
static void quantize_run_narrow(const quantize_job *j, size_t first, size_t n, gathering *g)
{
    _Alignas(LINE) float x[NARROW_TILE], y[NARROW_TILE];
    const uint16_t *from = (const uint16_t *)j->x + first;
    const size_t size = j->p->size ? j->p->size : sizeof(uint16_t);
    char *out = (char *)j->out + first * size;
    quantize_span s = {x, NULL, j->rounding->offset + first, 0};
    const int bfloat = j->p->carrier == FPEMU_TYPE_BF16; /* compatibility settings may make what is no word */
    void (*const narrow)(size_t, const float *, uint16_t *) =
        j->p->plan.compat ? j->p->k->narrow16[bfloat] : j->p->k->exact16[bfloat];
    if (j->p->kernel && !j->p->size && !g && j->own_words) {
        quantize_all_by_words(j, j->p->carrier, s.index, n, from, out);
        return;
    }
    if (j->p->kernel && !j->p->size && !g && !j->p->stochastic) {
        j->p->kernel(&j->p->plan, j->p->carrier, NULL, n, from, out);
        return;
    }
    for (size_t at = 0; at < n; at += s.n, s.index += s.n) {
        s.n = n - at < NARROW_TILE ? n - at : NARROW_TILE;
        carrier_widen(j->p->k, j->p->carrier, s.n, from + at, x);
        s.out = j->p->size ? out + at * size : (char *)(g ? y : x); /* counting reads x after y is made */
        quantize_run_span(j, &s, g);
        if (!j->p->size)
            narrow(s.n, g ? y : x, (uint16_t *)(void *)(out + at * size));
    }
}
#endif

/* Rounds elements [first, first + n). */
static void quantize_run(const quantize_job *j, size_t first, size_t n, gathering *g)
{
    const size_t size = j->p->size ? j->p->size : sizeof(realw);
#if CARRIER_BITS == 32
    if (carrier_is_narrow(j->p->carrier)) {
        quantize_run_narrow(j, first, n, g);
        return;
    }
#endif
    const quantize_span s = {(const realw *)j->x + first, (char *)j->out + first * size, j->rounding->offset + first,
                             n};
    quantize_run_span(j, &s, g);
}

/* Part k of a prepared job, in the default floating-point environment. */
static void quantize_run_part(const quantize_job *j, int k, int parts, size_t n, fpemu_stats *stats)
{
    const size_t begin = part_begin(k, parts, n, j->rounding->offset);
    const size_t end = part_begin(k + 1, parts, n, j->rounding->offset);
    if (!j->counted) {
        quantize_run(j, begin, end - begin, NULL);
        return;
    }
    gathering g;
    fpemu_gather_begin(&g, j->want, CARRIER_BITS);
    quantize_run(j, begin, end - begin, &g);
    fpemu_gather_join(&g, CARRIER_BITS, parts, stats);
}

/* Runs a prepared job on n elements, on as many threads as are worth it. */
static void quantize_run_parts(const quantize_job *j, size_t n, fpemu_stats *stats)
{
    const int parts = thread_count(n);
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        quantize_run_part(j, 0, 1, n, stats);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int k = 0; k < parts; k++) {
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        quantize_run_part(j, k, parts, n, stats);
        fpemu_environment_leave(&environment);
    }
}

static int array_has_nan(int carrier, const void *x, size_t n)
{
    int found = 0;
    if (carrier_is_narrow(carrier)) {
        const uint32_t infinity = carrier == FPEMU_TYPE_BF16 ? 0x7f80 : 0x7c00;
        for (size_t i = 0; i < n; i++)
            found |= (load_code(x, sizeof(uint16_t), i) & 0x7fff) > infinity;
        return found;
    }
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, (const char *)x + i * sizeof u, sizeof u);
        found |= (u & (~(uintw)0 >> 1)) > CARRIER_INF;
    }
    return found;
}

/* What makes codes, and the loops that make them out of values, if there are such. */
static void quantize_plan_codes(quantize_plan *p, const fpemu_format *f, const fpemu_rounding *r)
{
    p->size = code_size(f->bits);
    core_coder_make(&p->coder, f, r);
    p->at_once =
        (uint8_t)(p->plan.rule == CORE_RULE_POSIT ? core_posit_is_quick(&p->plan) && core_posit_codes_quickly(&p->coder)
                                                  : core_direct_make(&p->direct, &p->plan, &p->coder));
    p->kernel_codes = !p->at_once && !p->philox && core_integers_code_quickly(&p->plan, &p->coder);
}

_Static_assert(sizeof(quantize_plan) <= PLAN_BYTES, "a quantize_plan is kept in an fpemu_prepared");

/* Format and rounding are checked for the carrier; of codes for the binary one. */
void fpemu_convert_plan(void *plan, const fpemu_format *f, const fpemu_rounding *r, int carrier, int to_code)
{
    quantize_plan *const p = (quantize_plan *)plan;
    memset(p, 0, offsetof(quantize_plan, plan));
    quantize_plan_rule(p, f, r, to_code);
    p->carrier = carrier;
    p->philox = r->generator;
    p->nan_is_error = core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan;
    p->two_steps = !p->quick && (p->slow || p->plan.wrap || p->plan.rule == CORE_RULE_FULL_RANGE_GRID ||
                                 p->plan.rule == CORE_RULE_SHIFTER_GRID);
    /* count_inside takes for granted that 0 is kept, and that nothing below M is lifted past it, to 2^emin */
    p->counts_in_two =
        !f->has_zero || (p->plan.compat && p->plan.max[0] < p->plan.emin_bits && p->plan.emin_bits < CARRIER_INF);
    /* to nearest, and toward zero, y lies within a factor of two of x or is 0; but posits are never 0 */
    p->exact = (core_to_nearest(p->plan.mode) || p->plan.mode == FPEMU_MODE_RTZ) && p->plan.rule != CORE_RULE_POSIT &&
               !p->plan.compat;
    p->own_words = p->plan.mode == FPEMU_MODE_SR && p->plan.n == 32 && !p->philox && p->kernel;
    if (to_code)
        quantize_plan_codes(p, f, r);
}

/* Values or codes of n > 0 elements, in the default floating-point environment. */
fpemu_status fpemu_convert_run(const void *plan, const fpemu_rounding *r, size_t n, const void *x, void *out,
                               fpemu_stats *stats)
{
    const quantize_plan *const p = (const quantize_plan *)plan;
    const size_t element = carrier_size(p->carrier);
    fpemu_status status = stats ? fpemu_stats_check(stats) : FPEMU_OK;
    if (!status)
        status = check_overlap(x, element, out, p->size ? p->size : element, n);
    if (status)
        return status;
    quantize_job j;
    j.p = p;
    j.rounding = r;
    j.x = x;
    j.out = out;
    const int counted = stats != NULL, in_place = x == out && p->carrier == CARRIER_BITS;
    const int two_steps = p->two_steps || (counted && p->counts_in_two);
    j.want = counted ? stats->request.want : 0;
    j.counted = (uint8_t)counted;
    j.in_place = (uint8_t)in_place;
    j.stream = !p->size && !in_place && n >= STREAM_BYTES / sizeof(realw) && p->carrier == CARRIER_BITS;
    j.two_steps = (uint8_t)two_steps;
    j.own_words = p->own_words && !two_steps;
    if (counted || two_steps)
        j.grid = core_plan_unbounded(&p->plan);
    if (p->slow)
        j.integers = core_integers();
    const int nan = p->nan_is_error && array_has_nan(p->carrier, x, n); /* looked for before x may be written over */
    quantize_run_parts(&j, n, stats);
    return nan ? FPEMU_ERROR_NAN : FPEMU_OK;
}

fpemu_status fpemu_convert(int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                           void *out, int to_code, fpemu_stats *stats)
{
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r || !x || !out)
        return FPEMU_ERROR_NULL;
    if (f->scaling || f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_block_convert(carrier, NULL, f, r, n, x, out, to_code, stats);
    quantize_plan p;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    fpemu_status status = fpemu_check_call(f, r, to_code ? CARRIER_BITS : carrier, NULL); /* codes need not fit */
    if (!status) {
        fpemu_convert_plan(&p, f, r, carrier, to_code);
        status = fpemu_convert_run(&p, r, n, x, out, stats);
    }
    fpemu_environment_leave(&environment);
    return status;
}

#if CARRIER_BITS == 32
/* The values of many codes of a byte, by a table of them; 0 where `decode` is as fast. */
static int decode_by_table(const core_coder *c, int carrier, size_t n, const char *codes, size_t size, int streaming,
                           char *y)
{
    const kernels *k = fpemu_kernels();
    const int by_steps = carrier == CARRIER_BITS && c->kind != FPEMU_KIND_FLOAT && c->kind != FPEMU_KIND_POSIT;
    const size_t to = carrier_size(carrier), most = streaming ? STREAM_TILE : n;
    _Alignas(LINE) float tile[STREAM_TILE];
    core_unpack u;
    uint8_t all[256];
    if (size != 1 || n < DECODE_WORTH || by_steps || core_codes_are_powers(c))
        return 0;
    for (unsigned code = 0; code < 256; code++)
        all[code] = (uint8_t)code;
    k->loops32->decode(c, (size_t)1 << c->bits, all, 1, 0, u.values);
    k->loops32->unpack_make(&u, c->bits);
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < most ? n - at : most;
        k->loops32->unpack(&u, carrier_type(carrier), 1, m, 1, (const unsigned char *)codes + at, NULL, 1, 0,
                           streaming ? (void *)tile : y + at * to);
        if (streaming)
            k->stream(y + at * to, tile, m * to);
    }
    return 1;
}
#endif

/* many: past the caches, but for what lies before a line begins. */
static void decode_part(const core_coder *c, size_t n, const char *codes, size_t size, int many, realw *y)
{
    const kernels *k = fpemu_kernels();
    const size_t ahead = many ? (0 - (uintptr_t)y) % LINE / sizeof(realw) : 0, before = ahead < n ? ahead : n;
    const int streaming = many && (uintptr_t)(y + before) % LINE == 0;
    if (before)
        k->loopsw->decode(c, before, codes, size, 0, y);
#if CARRIER_BITS == 32
    if (!decode_by_table(c, CARRIER_BITS, n - before, codes + before * size, size, streaming, (char *)(y + before)))
#endif
        k->loopsw->decode(c, n - before, codes + before * size, size, streaming, y + before);
    if (streaming)
        stream_end();
}

#if CARRIER_BITS == 32
/* As decode_part, by way of binary32. */
static void decode_narrow(const core_coder *c, int carrier, size_t n, const char *codes, size_t size, char *y)
{
    _Alignas(LINE) float tile[NARROW_TILE];
    const kernels *k = fpemu_kernels();
    if (decode_by_table(c, carrier, n, codes, size, 0, y))
        return;
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < NARROW_TILE ? n - at : NARROW_TILE;
        k->loops32->decode(c, m, codes + at * size, size, 0, tile);
        k->exact16[carrier == FPEMU_TYPE_BF16](m, tile, (uint16_t *)(void *)(y + at * sizeof(uint16_t)));
    }
}
#endif

static void decode_elements(const core_coder *c, int carrier, size_t n, const char *codes, size_t size, int many,
                            char *y)
{
#if CARRIER_BITS == 32
    if (carrier_is_narrow(carrier)) {
        decode_narrow(c, carrier, n, codes, size, y);
        return;
    }
#endif
    (void)carrier;
    decode_part(c, n, codes, size, many, (realw *)(void *)y);
}

/* n > 0 codes of `size` bytes, in the default floating-point environment. */
fpemu_status fpemu_decode_run(const core_coder *coder, size_t size, int carrier, size_t n, const void *codes, void *y)
{
    const size_t element = carrier_size(carrier);
    const fpemu_status status = check_overlap(codes, size, y, element, n);
    if (status)
        return status;
    const int many = n >= STREAM_BYTES / sizeof(realw) && y != codes, parts = thread_count(n);
    if (parts == 1) {
        decode_elements(coder, carrier, n, (const char *)codes, size, many, (char *)y);
        return FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int part = 0; part < parts; part++) {
        const size_t begin = part_begin(part, parts, n, 0), end = part_begin(part + 1, parts, n, 0);
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        decode_elements(coder, carrier, end - begin, (const char *)codes + begin * size, size, many,
                        (char *)y + begin * element);
        fpemu_environment_leave(&environment);
    }
    return FPEMU_OK;
}

static fpemu_status decode_inside(int carrier, const fpemu_format *f, size_t n, const void *codes, void *y)
{
    core_coder coder;
    const fpemu_status status = fpemu_check_call(f, NULL, carrier, NULL);
    if (status)
        return status;
    core_coder_make(&coder, f, NULL);
    return fpemu_decode_run(&coder, code_size(f->bits), carrier, n, codes, y);
}

static fpemu_status decode_array(int carrier, const fpemu_format *format, size_t n, const void *codes, void *y)
{
    if (n == 0)
        return FPEMU_OK;
    if (!format || !codes || !y)
        return FPEMU_ERROR_NULL;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = format->scaling || format->kind == FPEMU_KIND_CODEBOOK
                                    ? fpemu_block_decode(carrier, format, n, codes, y)
                                    : decode_inside(carrier, format, n, codes, y);
    fpemu_environment_leave(&environment);
    return status;
}

/* Bits of one rounded number, or NaN; with `code` not NULL, its code, or 0. */
static uintw quantize_one(const fpemu_format *f, const fpemu_rounding *r, uintw u, uint64_t index, uint64_t *code)
{
    uintw y = CARRIER_INF | CARRIER_INF >> 1;
    if (f && (f->scaling || f->kind == FPEMU_KIND_CODEBOOK))
        return core_bits(fpemu_table_round(f, r, core_value(u), index, code));
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (f && r && !fpemu_check_call(f, r, CARRIER_BITS, NULL)) {
        quantize_plan p;
        const core_plan64 integers = core_integers();
        int64_t q = 0;
        int overflow;
        quantize_plan_rule(&p, f, r, code != NULL);
        y = core_element(&p.plan, &integers, u, p.stochastic ? fpemu_element_bits(r, index) : 0, &overflow, &q);
        if (code) {
            core_coder_make(&p.coder, f, r);
            *code = p.plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&p.coder, u, y, q)
                                                         : core_encode(&p.coder, u, y);
        }
    }
    fpemu_environment_leave(&environment);
    return y;
}

static realw decode_one(const fpemu_format *format, uint64_t code)
{
    uintw y = CARRIER_INF | CARRIER_INF >> 1;
    if (format && (format->scaling || format->kind == FPEMU_KIND_CODEBOOK)) {
        realw value = core_value(y);
        const uint16_t narrow = (uint16_t)code;
        const uint8_t byte = (uint8_t)code;
        (void)decode_array(CARRIER_BITS, format, 1, format->bits > 8 ? (const void *)&narrow : &byte, &value);
        return value;
    }
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (!fpemu_check_call(format, NULL, CARRIER_BITS, NULL)) {
        core_coder coder;
        core_coder_make(&coder, format, NULL);
        y = core_decode(&coder, code);
    }
    fpemu_environment_leave(&environment);
    return core_value(y);
}
