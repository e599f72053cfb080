/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.inc.c - quantising, encoding and decoding arrays of one carrier; included twice by quantize.c. */

/* A call, checked and prepared. */
typedef struct quantize_job {
    const kernels *k;
    void (*round)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y); /* of plan */
    void (*narrow)(const core_plan32 *p, size_t n, const uint16_t *x, uint16_t *y); /* the same of words, or NULL */
    core_words words; /* the fast forms of that, or NULL; where they are counted, what counts them */
    void (*by_words)(const core_words *w, size_t n, const uint16_t *x, uint16_t *y);
    size_t (*by_random)(const core_words *w, const core_plan32 *p, core_hash_key k, uint64_t index, size_t n,
                        const uint16_t *x, uint16_t *y);
    int (*count_words)(const core_words *w, const core_plan32 *p, int exact, size_t n, const uint16_t *x,
                       const uint16_t *y, tile_counts *c);
    const fpemu_rounding *rounding;
    core_plan plan, grid; /* grid: the same without ends, where there may be two steps */
    core_plan64 integers;
    core_coder coder;
    core_direct direct;
    core_integer_codes integer_codes; /* with `to_integers` */
    void (*to_integers)(const core_integer_codes *k, size_t n, const void *x, size_t size, void *codes); /* or NULL */
    void (*draw_integers)(const core_plan32 *p, const core_integer_codes32 *c, core_hash_key k, uint64_t index,
                          size_t n, const void *x, size_t size, void *codes); /* the same by random bits, or NULL */
    const void *x;
    void *out;   /* values, or codes of `size` bytes */
    size_t size; /* 0 = values */
    int carrier; /* of x and of values */
    uint32_t want;
    uint8_t counted, stochastic, slow, in_place, stream;
    uint8_t two_steps; /* whether no loop of one step will do */
    uint8_t quick;     /* whether `round` is a loop for settings, for ends that differ by sign, for powers of two */
    uint8_t own_words; /* whether a loop makes its random words itself */
    uint8_t at_once;   /* whether `direct` makes codes out of values */
    uint8_t exact;     /* whether every x - y is a number of the carrier while nothing passes the ends */
} quantize_job;

static void quantize_prepare(quantize_job *j, const fpemu_format *f, const fpemu_rounding *r, int to_code)
{
    core_plan_make(&j->plan, &j->integers, f, r, to_code);
#if CARRIER_BITS == 64
    if (j->plan.rule == CORE_RULE_AFFINE)
        j->plan.compat = 0;              /* PyTorch's settings are for binary32 data */
    if (core_affine_is_fast64(&j->plan)) /* here, not with the plan: blocks and sums round by integers in binary64 */
        j->plan.rule = CORE_RULE_AFFINE_FAST;
#endif
    j->k = fpemu_kernels();
    j->rounding = r;
    j->stochastic = j->plan.mode >= FPEMU_MODE_SR;
    j->slow = j->plan.rule == CORE_RULE_AFFINE || j->plan.compat;
    core_choose_fast(&j->plan, f);
    core_compat_choose(&j->plan, f);
    core_ends ends;
    j->round = j->slow ? NULL : j->k->loopsw->round[j->plan.rule][j->plan.mode];
    j->quick = 1;
    if (core_compat_is_quick(&j->plan))
        j->round = j->k->loopsw->compat;
    else if (!j->slow && core_ends_make(&ends, &j->plan))
        j->round = j->k->loopsw->ends;
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
#if CARRIER_BITS == 32
    if (j->k->binary16 && core_is_binary16(&j->plan))
        j->round = j->k->binary16;
#endif
}

/* Intermediate results of a tile. */
typedef struct quantize_tile {
    _Alignas(LINE) realw y[COUNT_TILE / sizeof(realw)];
    _Alignas(LINE) uintw grid[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    int64_t q[TILE]; /* integers of affine formats */
} quantize_tile;

#if CARRIER_BITS == 32
/* Makes the key of element `index` and following: of how many, at most n. */
static size_t quantize_by_one_key(const quantize_job *j, word_key *words, uint64_t index, size_t n)
{
    const uint64_t left = (UINT64_C(1) << 32) - (index & UINT32_MAX);
    const uint64_t high = core_word_index(core_per_word(j->plan.n), index) >> 32;
    if (high != words->high) {
        words->high = high;
        words->key = core_hash_keys(j->rounding->seed, j->rounding->stream, high);
    }
    return n < left ? n : (size_t)left;
}

/* Rounds elements by the loop that makes its random words itself, as far as one key goes: how many. */
static size_t quantize_by_words(const quantize_job *j, word_key *words, uint64_t index, size_t n, int streaming,
                                const float *x, float *y)
{
    const size_t m = quantize_by_one_key(j, words, index, n);
    j->k->stochastic32[j->plan.rule](&j->plan, words->key, index, m, streaming, x, y);
    return m;
}
#endif

/* A tile in two steps, by the reference: for what has no loop of its own, and where more must be known than the result.
 * t->r holds the random bits. t->grid receives the values on the grid without ends; of elements that are taken one by
 * one it only says whether they overflow: all ones or 0. */
static void quantize_in_two_steps(const quantize_job *j, size_t n, const realw *x, quantize_tile *t, realw *y)
{
    assert(n <= TILE); /* of t->grid */
    if (!j->slow) {
        j->k->loopsw->round[j->grid.rule][j->plan.mode](&j->grid, n, x, t->r, t->grid);
        j->k->loopsw->finish(&j->plan, n, x, t->grid, y);
        return;
    }
    for (size_t e = 0; e < n; e++) {
        int overflow;
        uintw u, v;
        memcpy(&u, x + e, sizeof u);
        v = core_element(&j->plan, &j->integers, u, j->stochastic ? t->r[e] : 0, &overflow, t->q + e);
        memcpy(y + e, &v, sizeof v);
        t->grid[e] = overflow ? ~(uintw)0 >> 1 : 0;
    }
}

/* The results y of a tile to where they go: codes; past the caches; or to the output from beside it. */
static void quantize_deliver(const quantize_job *j, size_t n, const realw *x, const quantize_tile *t, const realw *y,
                             char *out)
{
    if (j->size && j->plan.rule == CORE_RULE_AFFINE && !j->quick) {
        for (size_t e = 0; e < n; e++) {
            uintw u, v;
            memcpy(&u, x + e, sizeof u);
            memcpy(&v, y + e, sizeof v);
            store_code(out, j->size, e, core_encode_affine(&j->coder, u, v, t->q[e]));
        }
    } else if (j->size) {
        j->k->loopsw->encode(&j->coder, n, x, y, j->size, out);
    } else if (j->stream) {
        j->k->stream(out, y, n * sizeof *y);
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
        j->round(&j->plan, before, s->x, NULL, y);
    j->round(&j->plan, s->n - before, s->x + before, NULL, y + before);
}

#if CARRIER_BITS == 32
/* Whether quantize_all_by_words may be used. Where y is stored past the caches, each of its cache lines must begin at a
 * group of random words. */
static int quantize_words_fit(const quantize_job *j, const quantize_span *s)
{
    const size_t ahead = (0 - (uintptr_t)s->out) % LINE / sizeof(realw);
    const int per_word = core_per_word(j->plan.n);
    return !j->stream || per_word == 0 || ((s->index + ahead) & (((uint64_t)32 << per_word) - 1)) == 0;
}

/* Values rounded by the loop's own random words. */
static void quantize_all_by_words(const quantize_job *j, quantize_span s)
{
    word_key words = word_key_none();
    while (s.n > 0) {
        const size_t before = elements_to_line(s.out, sizeof(realw), s.n), m = before ? before : s.n;
        const int streaming = j->stream && (uintptr_t)s.out % LINE == 0;
        const size_t done = quantize_by_words(j, &words, s.index, m, streaming, s.x, (realw *)(void *)s.out);
        quantize_advance(&s, done, sizeof(realw));
    }
    if (j->stream)
        stream_end();
}

/* Codes of integers by the loop's own random words. */
static void quantize_draw_integers(const quantize_job *j, quantize_span s)
{
    word_key words = word_key_none();
    for (size_t m; s.n > 0; quantize_advance(&s, m, j->size)) {
        m = quantize_by_one_key(j, &words, s.index, s.n);
        j->draw_integers(&j->plan, &j->integer_codes, words.key, s.index, m, s.x, j->size, s.out);
    }
}
#endif

/* A tile in one step: how many elements of at most n. The random bits, if it takes any from there, are left in t->r. */
static size_t quantize_in_one_step(const quantize_job *j, word_key *words, uint64_t index, size_t n, const realw *x,
                                   quantize_tile *t, realw *y)
{
#if CARRIER_BITS == 32
    if (j->own_words)
        return quantize_by_words(j, words, index, n, 0, x, y);
#else
    (void)words;
#endif
    if (j->stochastic)
        fpemu_random_fill(j->k, j->rounding, index, n, t->r);
    j->round(&j->plan, n, x, t->r, y);
    return n;
}

/* How many elements the next tile has: those before a line begins, or `most`. */
static size_t quantize_next(const quantize_job *j, const quantize_span *s, size_t most)
{
    const size_t before = elements_to_line(s->out, j->size ? j->size : sizeof(realw), s->n);
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
    for (size_t m; s.n > 0; quantize_advance(&s, m, j->size ? j->size : sizeof(realw))) {
        realw *const y = j->size || j->stream ? t.y : (realw *)(void *)s.out;
        m = quantize_next(j, &s, most);
        if (!j->two_steps) {
            m = quantize_in_one_step(j, &words, s.index, m, s.x, &t, y);
        } else {
            if (j->stochastic)
                fpemu_random_fill(j->k, j->rounding, s.index, m, t.r);
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
    const core_plan *p = &j->plan;
    quantize_tile t;
    word_key words = word_key_none();
    int two_steps = j->two_steps, nonzero = 1; /* as the last tile, so the next */
    const int large = !j->stochastic && !j->size && !j->stream;
    const size_t most = j->stream ? STREAM_COUNTED / sizeof(realw) : TILE;
    for (size_t m; s.n > 0; quantize_advance(&s, m, j->size ? j->size : sizeof(realw))) {
        /* counting and coding read x after y is made, so y waits on the stack where x may be the output */
        realw *const y = j->size || j->stream || j->in_place ? t.y : (realw *)(void *)s.out;
        int inside = 0;
        tile_counts c = {0};
        c.max_error = g->stats.max_error;
        m = quantize_next(j, &s, large && !two_steps ? COUNT_TILE / sizeof(realw) : most);
        if (!two_steps) {
            m = quantize_in_one_step(j, &words, s.index, m, s.x, &t, y);
            inside = nonzero && j->k->loopsw->count_nonzero(p, m, s.x, y, j->exact, &c) ? 2 : 0;
            if (!inside)
                inside = j->k->loopsw->count_inside(p, m, s.x, y, j->exact, &c);
            nonzero = inside == 2;
        }
        if (!inside) {
            m = m < TILE ? m : TILE;                          /* the rest of a longer tile becomes the next tile */
            if (j->stochastic && (two_steps || j->own_words)) /* else one step has them */
                fpemu_random_fill(j->k, j->rounding, s.index, m, t.r);
            quantize_in_two_steps(j, m, s.x, &t, y);
            j->k->loopsw->count(p, m, s.x, y, t.grid, &c);
            two_steps = j->two_steps || (c.nan | c.infinite | c.clipped | c.overflow);
        }
        fpemu_gather_tile(g, CARRIER_BITS, s.index, m, s.x, y, &c);
        quantize_deliver(j, m, s.x, &t, y, s.out);
    }
    if (j->stream)
        stream_end();
}

/* Rounds the elements of a span, by the loop that the call wants; g: NULL, or what counts. */
static void quantize_run_span(const quantize_job *j, quantize_span s, gathering *g)
{
    if (j->to_integers)
        j->to_integers(&j->integer_codes, s.n, s.x, j->size, s.out);
#if CARRIER_BITS == 32
    else if (j->draw_integers)
        quantize_draw_integers(j, s);
#endif
    else if (j->at_once && j->plan.rule == CORE_RULE_POSIT)
        j->k->loopsw->encode_posit(&j->plan, &j->coder, s.n, s.x, j->size, s.out);
    else if (j->at_once)
        j->k->loopsw->encode_nearest(&j->direct, s.n, s.x, j->size, s.out);
    else if (g)
        quantize_counted(j, s, g);
    else if (!j->stochastic && !j->two_steps && !j->size && !j->stream)
        quantize_values(j, &s);
#if CARRIER_BITS == 32
    else if (j->own_words && !j->size && quantize_words_fit(j, &s))
        quantize_all_by_words(j, s);
#endif
    else
        quantize_tiles(j, s);
}

#if CARRIER_BITS == 32
/* Words by their fast form, elements `index` and following: how many of at most n, perhaps none. */
static size_t quantize_words(const quantize_job *j, word_key *key, uint64_t index, size_t n, const uint16_t *x,
                             uint16_t *y)
{
    if (j->by_random) {
        const size_t m = quantize_by_one_key(j, key, index, n);
        return j->by_random(&j->words, &j->plan, key->key, index, m, x, y);
    }
    if (j->by_words)
        j->by_words(&j->words, n, x, y);
    return j->by_words ? n : 0;
}

/* Whether a few of the words show that count_words will not count them. */
static int quantize_words_outside(const quantize_job *j, size_t n, const uint16_t *x)
{
    const uint16_t key = j->words.max[1] < j->words.max[0] ? 0xffff : 0x7fff, max = j->words.max[0];
    const size_t stride = n / 64 + 1;
    int outside = 0;
    for (size_t i = 0; i < n; i += stride)
        outside |= (x[i] & key) > max;
    return outside;
}

/* The same with counters, at most `most`; none where count_words does not count them. */
static APART size_t quantize_words_counted(const quantize_job *j, word_key *key, uint64_t index, size_t n, size_t most,
                                           const uint16_t *x, uint16_t *y, gathering *g)
{
    uint16_t beside[WORDS_COUNTED];
    uint16_t *const to = j->x == j->out ? beside : y; /* x is read after y is made */
    const int looks = (j->want & (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM)) != 0;
    const size_t tile = looks ? NARROW_TILE : most;
    tile_counts c = {0};
    c.max_error = g->stats.max_error;
    if (quantize_words_outside(j, n < tile ? n : tile, x))
        return 0;
    const size_t m = quantize_words(j, key, index, n < tile ? n : tile, x, to);
    if (m == 0 || !j->count_words(&j->words, &j->plan, j->exact, m, x, to, &c))
        return 0;
    _Alignas(LINE) float values[2][NARROW_TILE];
    if (looks) {
        carrier_widen(j->k, j->carrier, m, x, values[0]);
        carrier_widen(j->k, j->carrier, m, to, values[1]);
    }
    fpemu_gather_tile(g, CARRIER_BITS, index, m, values[0], values[1], &c);
    if (to != y)
        memcpy(y, to, m * sizeof *y);
    return m;
}

/* How many elements the next tile has where no fast form was found: the one after it begins at a group of random
 * words. */
static size_t quantize_next_narrow(const quantize_job *j, uint64_t index, size_t n)
{
    const size_t group = (size_t)32 << core_per_word(j->plan.n), past = (size_t)(index & (group - 1));
    const size_t m = j->by_random && group > 32 && past ? group - past : NARROW_TILE;
    return n < m ? n : m;
}

/* The same of words, which go through binary32 a tile at a time where there is no loop for them. */
static void quantize_run_narrow(const quantize_job *j, size_t first, size_t n, gathering *g)
{
    _Alignas(LINE) float x[NARROW_TILE], y[NARROW_TILE];
    const uint16_t *from = (const uint16_t *)j->x + first;
    const size_t size = j->size ? j->size : sizeof(uint16_t);
    char *out = (char *)j->out + first * size;
    quantize_span s = {x, NULL, j->rounding->offset + first, 0};
    const int bfloat = j->carrier == FPEMU_TYPE_BF16; /* compatibility settings may make what is no word */
    void (*const narrow)(size_t, const float *, uint16_t *) =
        j->plan.compat ? j->k->narrow16[bfloat] : j->k->exact16[bfloat];
    word_key key = word_key_none();
    size_t wait = 0, waits = 1; /* tiles before the fast form is tried again where it has failed: 1, 2, 4, 8 */
    if (j->narrow) {
        j->narrow(&j->plan, n, from, (uint16_t *)(void *)out);
        return;
    }
    if (j->at_once && j->plan.rule != CORE_RULE_POSIT && j->k->encode16 &&
        j->k->encode16(&j->direct, bfloat, 8 * size, n, from, out))
        return;
    for (size_t at = 0; at < n; at += s.n, s.index += s.n) {
        uint16_t *const to = (uint16_t *)(void *)(out + at * size);
        const size_t line = j->by_words && at == 0 ? elements_to_line(to, sizeof *to, n) : 0;
        s.n = 0;
        if (wait == 0 && (j->by_words || j->by_random)) {
            const size_t m = line ? line : n - at;
            s.n = g ? quantize_words_counted(j, &key, s.index, m, waits > 1 ? NARROW_TILE : WORDS_COUNTED, from + at,
                                             to, g)
                    : quantize_words(j, &key, s.index, m, from + at, to);
            wait = s.n ? 0 : waits;
            waits = s.n ? 1 : waits < 8 ? 2 * waits : waits;
            if (s.n)
                continue;
        }
        wait -= wait > 0;
        s.n = quantize_next_narrow(j, s.index, n - at);
        carrier_widen(j->k, j->carrier, s.n, from + at, x);
        s.out = j->size ? out + at * size : (char *)(g ? y : x); /* counting reads x after y is made */
        quantize_run_span(j, s, g);
        if (!j->size)
            narrow(s.n, g ? y : x, to);
    }
}
#endif

/* Rounds elements [first, first + n). */
static void quantize_run(const quantize_job *j, size_t first, size_t n, gathering *g)
{
    const size_t size = j->size ? j->size : sizeof(realw);
#if CARRIER_BITS == 32
    if (carrier_is_narrow(j->carrier)) {
        quantize_run_narrow(j, first, n, g);
        return;
    }
#endif
    const quantize_span s = {(const realw *)j->x + first, (char *)j->out + first * size, j->rounding->offset + first,
                             n};
    quantize_run_span(j, s, g);
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

#if CARRIER_BITS == 32
/* The loops of words, where values are asked for. */
static void quantize_choose_narrow(quantize_job *j, const fpemu_format *f)
{
    const int bfloat = j->carrier == FPEMU_TYPE_BF16, mode = j->plan.mode, per_word = core_per_word(j->plan.n);
    if (!j->two_steps && !j->quick && !j->counted && j->plan.rule <= CORE_RULE_AFFINE_FAST)
        j->narrow = j->k->round16[bfloat][j->plan.rule][mode];
    if (j->narrow || (j->counted && (!j->k->count_words[bfloat] || !f->has_zero)) || mode >= FPEMU_MODE_COUNT ||
        !core_words_make(&j->words, &j->plan, bfloat))
        return;
    if (mode < FPEMU_MODE_SR)
        j->by_words = j->k->round_words[mode][j->words.form][j->words.ends];
    else if (j->plan.n == 32 >> per_word && j->rounding->generator == FPEMU_GENERATOR_HASH)
        j->by_random = j->k->random_words[mode - FPEMU_MODE_SR][j->words.form][j->words.ends][per_word];
    j->count_words = j->k->count_words[bfloat];
}
#endif

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

/* The loop that makes codes of integers out of values, if there is one. */
static void quantize_choose_integers(quantize_job *j)
{
    const core_plan *p = &j->plan;
    const int affine = p->rule == CORE_RULE_AFFINE_FAST;
    if (!core_integer_codes_make(&j->integer_codes, p, &j->coder))
        return;
    if (p->mode <= FPEMU_MODE_RTO)
        j->to_integers = j->k->loopsw->encode_integers[affine][p->mode];
#if CARRIER_BITS == 32
    else if (p->n == 32 && j->rounding->generator == FPEMU_GENERATOR_HASH && (!affine || j->integer_codes.q.is_near))
        j->draw_integers = j->k->encode_drawn32[affine];
#endif
}

/* Values, or codes if to_code; in the default floating-point environment. */
static fpemu_status convert_inside(int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                                   void *out, int to_code, fpemu_stats *stats)
{
    const size_t element = carrier_size(carrier);
    fpemu_status status = fpemu_check_call(f, r, to_code ? CARRIER_BITS : carrier); /* codes need not fit */
    if (!status && stats)
        status = fpemu_stats_check(stats);
    const size_t size = to_code ? code_size(f->bits) : 0;
    if (!status)
        status = check_overlap(x, element, out, to_code ? size : element, n);
    if (status)
        return status;

    quantize_job j;
    quantize_prepare(&j, f, r, to_code);
    j.x = x;
    j.out = out;
    j.size = size;
    j.carrier = carrier;
    j.counted = stats != NULL;
    j.want = stats ? stats->request.want : 0;
    if (to_code)
        core_coder_make(&j.coder, f, r);
    j.at_once = to_code && !stats &&
                (j.plan.rule == CORE_RULE_POSIT ? core_posit_is_quick(&j.plan) && core_posit_codes_quickly(&j.coder)
                                                : core_direct_make(&j.direct, &j.plan, &j.coder));
    j.to_integers = NULL;
    j.draw_integers = NULL;
    if (to_code && !stats && !j.at_once)
        quantize_choose_integers(&j);
    j.in_place = x == out && carrier == CARRIER_BITS;
    j.stream = !size && !j.in_place && n >= STREAM_BYTES / sizeof(realw) && carrier == CARRIER_BITS;
    j.two_steps = !j.quick && (j.slow || j.plan.wrap || j.plan.rule == CORE_RULE_FULL_RANGE_GRID ||
                               j.plan.rule == CORE_RULE_SHIFTER_GRID);
    /* count_inside takes for granted that 0 is kept, and that nothing below M is lifted past it, to 2^emin */
    j.two_steps |= j.counted && !f->has_zero;
    j.two_steps |= j.counted && j.plan.compat && j.plan.max[0] < j.plan.emin_bits && j.plan.emin_bits < CARRIER_INF;
    if (j.counted || j.two_steps)
        j.grid = core_plan_unbounded(&j.plan);
    j.own_words = 0;
#if CARRIER_BITS == 32
    j.own_words = !j.two_steps && (!j.quick || core_draws_grid(&j.plan)) && j.plan.mode == FPEMU_MODE_SR &&
                  j.plan.n == 32 >> core_per_word(j.plan.n) && r->generator == FPEMU_GENERATOR_HASH &&
                  j.k->stochastic32[j.plan.rule];
#endif
    j.narrow = NULL;
    j.by_words = NULL;
    j.by_random = NULL;
    j.count_words = NULL;
#if CARRIER_BITS == 32
    if (carrier_is_narrow(carrier) && !size)
        quantize_choose_narrow(&j, f);
#endif
    /* to nearest, and toward zero, y lies within a factor of two of x or is 0; but posits are never 0 */
    j.exact = j.plan.mode <= FPEMU_MODE_RTZ && j.plan.rule != CORE_RULE_POSIT && !j.plan.compat;
    const int nan_is_error = core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan && array_has_nan(carrier, x, n);
    quantize_run_parts(&j, n, stats);
    return nan_is_error ? FPEMU_ERROR_NAN : FPEMU_OK;
}

fpemu_status fpemu_convert(int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                           void *out, int to_code, fpemu_stats *stats)
{
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r || !x || !out)
        return FPEMU_ERROR_NULL;
    if (f->scaling || f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_block_convert(carrier, f, r, n, x, out, to_code, stats);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = convert_inside(carrier, f, r, n, x, out, to_code, stats);
    fpemu_environment_leave(&environment);
    return status;
}

/* many: past the caches, but for what lies before a line begins. */
static void decode_part(const core_coder *c, size_t n, const char *codes, size_t size, int many, realw *y)
{
    const kernels *k = fpemu_kernels();
    const size_t ahead = many ? (0 - (uintptr_t)y) % LINE / sizeof(realw) : 0, before = ahead < n ? ahead : n;
    const int streaming = many && (uintptr_t)(y + before) % LINE == 0;
    if (before)
        k->loopsw->decode(c, before, codes, size, 0, y);
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
    if (size == 1 && k->decode_words &&
        k->decode_words(c, carrier == FPEMU_TYPE_BF16, n, (const uint8_t *)codes, (uint16_t *)(void *)y))
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

static fpemu_status decode_inside(int carrier, const fpemu_format *f, size_t n, const void *codes, void *y)
{
    fpemu_status status = fpemu_check_call(f, NULL, carrier);
    const size_t size = code_size(f->bits), element = carrier_size(carrier);
    if (!status)
        status = check_overlap(codes, size, y, element, n);
    if (status)
        return status;
    core_coder coder;
    core_coder_make(&coder, f, NULL);
    const int many = n >= STREAM_BYTES / sizeof(realw) && y != codes, parts = thread_count(n);
    if (parts == 1) {
        decode_elements(&coder, carrier, n, (const char *)codes, size, many, (char *)y);
        return FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int part = 0; part < parts; part++) {
        const size_t begin = part_begin(part, parts, n, 0), end = part_begin(part + 1, parts, n, 0);
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        decode_elements(&coder, carrier, end - begin, (const char *)codes + begin * size, size, many,
                        (char *)y + begin * element);
        fpemu_environment_leave(&environment);
    }
    return FPEMU_OK;
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
    if (f && r && !fpemu_check_call(f, r, CARRIER_BITS)) {
        quantize_job j;
        int64_t q = 0;
        int overflow;
        quantize_prepare(&j, f, r, code != NULL);
        y = core_element(&j.plan, &j.integers, u, j.stochastic ? fpemu_element_bits(r, index) : 0, &overflow, &q);
        if (code) {
            core_coder_make(&j.coder, f, r);
            *code = j.plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&j.coder, u, y, q)
                                                         : core_encode(&j.coder, u, y);
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
    if (!fpemu_check_call(format, NULL, CARRIER_BITS)) {
        core_coder coder;
        core_coder_make(&coder, format, NULL);
        y = core_decode(&coder, code);
    }
    fpemu_environment_leave(&environment);
    return core_value(y);
}
