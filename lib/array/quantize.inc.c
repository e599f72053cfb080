/* quantize.inc.c - quantising, encoding and decoding arrays of one carrier; included twice by quantize.c. */

/* A call, checked and prepared. */
typedef struct quantize_job {
    const kernels *k;
    void (*round)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y); /* of plan */
    const fpemu_rounding *rounding;
    core_plan plan, grid; /* grid: the same without ends, where the loops take two steps */
    core_plan64 integers;
    core_coder coder;
    core_direct direct;
    const realw *x;
    void *out;   /* values, or codes of `size` bytes */
    size_t size; /* 0 = values */
    uint32_t want;
    uint8_t counted, stochastic, slow, in_place, stream;
    uint8_t two_steps; /* whether no loop of one step will do */
    uint8_t own_words; /* whether a loop makes its random words itself */
    uint8_t at_once;   /* whether `direct` makes codes out of values */
    uint8_t exact;     /* whether every x - y is a number of the carrier while nothing passes the ends */
} quantize_job;

static void quantize_prepare(quantize_job *j, const fpemu_format *f, const fpemu_rounding *r, int to_code)
{
    core_plan_make(&j->plan, &j->integers, f, r, to_code);
#if CARRIER_BITS == 64
    if (core_affine_is_fast64(
            &j->plan)) /* here, not with the plan: blocks and sums take the integers' way in binary64 */
        j->plan.rule = CORE_RULE_AFFINE_FAST;
#endif
    j->k = fpemu_kernels();
    j->rounding = r;
    j->stochastic = j->plan.mode >= FPEMU_MODE_SR;
    j->slow = j->plan.rule == CORE_RULE_AFFINE || j->plan.compat;
    core_choose_fast(&j->plan, f);
    j->round = j->slow ? NULL : j->k->loopsw->round[j->plan.rule][j->plan.mode];
#if CARRIER_BITS == 32
    if (j->k->half32 && core_is_half32(&j->plan))
        j->round = j->k->half32;
#endif
}

/* A tile the long way, for what has no loop of its own and where more must be known than the result: grid[e] is the
 * value without ends, or where elements are taken one by one beyond every end or not. */
static void quantize_tile_in_two_steps(const quantize_job *j, size_t n, const realw *x, const uint32_t *r, realw *y,
                                       uintw *grid, int64_t *q)
{
    if (!j->slow) {
        j->k->loopsw->round[j->grid.rule][j->plan.mode](&j->grid, n, x, r, grid);
        j->k->loopsw->finish(&j->plan, n, x, grid, y);
        return;
    }
    for (size_t e = 0; e < n; e++) {
        int overflow;
        uintw u, v;
        memcpy(&u, x + e, sizeof u);
        v = core_element(&j->plan, &j->integers, u, j->stochastic ? r[e] : 0, &overflow, q + e);
        memcpy(y + e, &v, sizeof v);
        grid[e] = overflow ? ~(uintw)0 >> 1 : 0;
    }
}

/* Rounds elements [first, first + n): tile by tile where something must be kept beside the result. */
static void quantize_run(const quantize_job *j, size_t first, size_t n, gathering *g)
{
    const uint64_t origin = j->rounding->offset;
    const core_plan *p = &j->plan;
    const realw *x = j->x + first;
    if (j->at_once) {
        j->k->loopsw->encode_nearest(&j->direct, n, x, j->size, (char *)j->out + first * j->size);
        return;
    }
    if (!j->stochastic && !j->two_steps && !j->counted && !j->size && !j->stream) {
        realw *y = (realw *)j->out + first;
        const size_t before = n < TILE ? 0 : (0 - (uintptr_t)y) % LINE / sizeof(realw);
        if (before)
            j->round(p, before, x, NULL, y);
        j->round(p, n - before, x + before, NULL, y + before);
        return;
    }
    _Alignas(LINE) realw y[COUNT_TILE / sizeof(realw)];
    _Alignas(LINE) uintw grid[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    int64_t q[TILE];
    int two_steps = j->two_steps, nonzero = 1; /* as the last tile, so the next */
#if CARRIER_BITS == 32
    core_hash_key key = {0, 0};
    uint64_t high = ~UINT64_C(0); /* of the words that the key is for */
#endif
    const int plain = j->counted && !j->stochastic && !j->size && !j->stream; /* no use for r */
    int whole = j->own_words && !j->counted && !j->size;                      /* nor for y */
#if CARRIER_BITS == 32
    if (whole && j->stream) { /* lines of y and groups of words must begin together */
        const size_t ahead = (0 - (uintptr_t)((const realw *)j->out + first)) % LINE / sizeof(realw);
        const int share = core_per_word(p->n);
        whole = share == 0 || ((origin + first + ahead) & (((uint64_t)32 << share) - 1)) == 0;
    }
#endif
    const size_t most = whole ? n : j->stream ? (j->counted ? STREAM_COUNTED : STREAM_TILE) / sizeof(realw) : TILE;
    for (size_t i = 0, m; i < n; i += m, x += m) {
        const uint64_t index = origin + first + i;
        char *out = (char *)j->out + (first + i) * (j->size ? j->size : sizeof(realw));
        const size_t before = n < TILE ? 0 : (0 - (uintptr_t)out) % LINE / (j->size ? j->size : sizeof(realw));
        m = before ? before : plain && !two_steps ? COUNT_TILE / sizeof(realw) : most;
        m = n - i < m ? n - i : m;
        if (j->stream && !whole && n - i > m + STREAM_AHEAD / sizeof *x)
            stream_ask(x + STREAM_AHEAD / sizeof *x, m * sizeof *x);
        /* counting and coding read x after y is made, so y waits on the stack where x may be the output */
        realw *to = !whole && (j->size || j->stream || (j->counted && j->in_place)) ? y : (realw *)(void *)out;
        tile_counts c = {0};
        c.max_error = j->counted ? g->stats.max_error : 0;
        const int own_words = j->own_words && !two_steps;
#if CARRIER_BITS == 32
        if (own_words) {
            const uint64_t left = (UINT64_C(1) << 32) - (index & UINT32_MAX);
            m = m < left ? m : (size_t)left;
            const uint64_t word = core_word_index(core_per_word(p->n), index);
            if (word >> 32 != high) {
                high = word >> 32;
                key = core_hash_keys(j->rounding->seed, j->rounding->stream, high);
            }
            j->k->stochastic32[p->rule](p, key, index, m, whole && j->stream && !before, x, to);
        }
#endif
        if (j->stochastic && !own_words)
            fpemu_random_fill(j->k, j->rounding, index, m, r);
        if (!two_steps) {
            if (!own_words)
                j->round(p, m, x, r, to);
            if (j->counted && !(nonzero && j->k->loopsw->count_nonzero(p, m, x, to, j->exact, &c))) {
                const int inside = j->k->loopsw->count_inside(p, m, x, to, j->exact, &c);
                two_steps = !inside;
                nonzero = inside == 2;
            }
        }
        if (two_steps) {
            m = m < TILE ? m : TILE; /* what of a longer tile lies beyond is the next */
            if (own_words)
                fpemu_random_fill(j->k, j->rounding, index, m, r);
            quantize_tile_in_two_steps(j, m, x, r, to, grid, q);
            if (j->counted)
                j->k->loopsw->count(p, m, x, to, grid, &c);
            two_steps = j->two_steps || (c.nan | c.infinite | c.clipped | c.overflow);
        }
        if (j->counted)
            fpemu_gather_tile(g, CARRIER_BITS, index, m, x, to, &c);
        if (j->size && p->rule == CORE_RULE_AFFINE) {
            for (size_t e = 0; e < m; e++) {
                uintw u, v;
                memcpy(&u, x + e, sizeof u);
                memcpy(&v, y + e, sizeof v);
                store_code(out, j->size, e, core_encode_affine(&j->coder, u, v, q[e]));
            }
        } else if (j->size)
            j->k->loopsw->encode(&j->coder, m, x, to, j->size, out);
        else if (j->stream && to == y)
            j->k->stream(out, y, m * sizeof *y);
        else if (to == y)
            memcpy(out, y, m * sizeof *y);
    }
    if (j->stream)
        stream_end();
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
#ifdef _OPENMP
#pragma omp critical(fpemu_gather)
#endif
    fpemu_gather_end(&g, CARRIER_BITS, stats);
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

static int array_has_nan(const realw *x, size_t n)
{
    int found = 0;
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, x + i, sizeof u);
        found |= (u & (~(uintw)0 >> 1)) > CARRIER_INF;
    }
    return found;
}

/* Values, or codes if to_code; in the default floating-point environment. */
static fpemu_status convert_inside(const fpemu_format *f, const fpemu_rounding *r, size_t n, const realw *x, void *out,
                                   int to_code, fpemu_stats *stats)
{
    fpemu_status status = fpemu_check(f, r, CARRIER_BITS);
    if (!status && stats)
        status = fpemu_stats_check(stats);
    const size_t size = to_code ? code_size(f->bits) : 0;
    if (!status)
        status = check_overlap(x, sizeof(realw), out, to_code ? size : sizeof(realw), n);
    if (status)
        return status;

    quantize_job j;
    quantize_prepare(&j, f, r, to_code);
    j.x = x;
    j.out = out;
    j.size = size;
    j.counted = stats != NULL;
    j.want = stats ? stats->want : 0;
    if (to_code)
        core_coder_make(&j.coder, f, r);
    j.at_once = to_code && !stats && core_direct_make(&j.direct, &j.plan, &j.coder);
    j.in_place = (const void *)x == out;
    j.stream = !size && !j.in_place && n >= STREAM_BYTES / sizeof(realw);
    j.grid = j.plan;
    j.grid.rule = core_grid_rule(&j.plan);
    j.grid.max[0] = j.grid.max[1] = ~(uintw)0;
    j.grid.zero[0] = j.grid.zero[1] = 0;
    j.grid.wrap = 0;
    j.grid.negative = 0;
    j.two_steps =
        j.slow || j.plan.wrap || j.plan.rule == CORE_RULE_FULL_RANGE_GRID || j.plan.rule == CORE_RULE_SHIFTER_GRID;
    j.own_words = 0;
#if CARRIER_BITS == 32
    j.own_words = !j.two_steps && j.plan.mode == FPEMU_MODE_SR && j.plan.n == 32 >> core_per_word(j.plan.n) &&
                  r->generator == FPEMU_GENERATOR_HASH && j.k->stochastic32[j.plan.rule];
#endif
    /* to nearest, and toward zero, y lies within a factor of two of x or is 0; but posits are never 0 */
    j.exact = j.plan.mode <= FPEMU_MODE_RTZ && j.plan.rule != CORE_RULE_POSIT;
    const int nan_is_error = core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan && array_has_nan(x, n);
    quantize_run_parts(&j, n, stats);
    return nan_is_error ? FPEMU_ERROR_NAN : FPEMU_OK;
}

fpemu_status fpemu_convert(const fpemu_format *f, const fpemu_rounding *r, size_t n, const realw *x, void *out,
                           int to_code, fpemu_stats *stats)
{
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r || !x || !out)
        return FPEMU_ERROR_NULL;
    if (f->scaling || f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_block_convert(f, r, n, x, out, to_code, stats);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = convert_inside(f, r, n, x, out, to_code, stats);
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

static fpemu_status decode_inside(const fpemu_format *f, size_t n, const void *codes, realw *y)
{
    fpemu_status status = fpemu_check(f, NULL, CARRIER_BITS);
    const size_t size = code_size(f->bits);
    if (!status)
        status = check_overlap(codes, size, y, sizeof(realw), n);
    if (status)
        return status;
    core_coder coder;
    core_coder_make(&coder, f, NULL);
    const int many = n >= STREAM_BYTES / sizeof(realw) && (const void *)y != codes, parts = thread_count(n);
    if (parts == 1) {
        decode_part(&coder, n, (const char *)codes, size, many, y);
        return FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int part = 0; part < parts; part++) {
        const size_t begin = part_begin(part, parts, n, 0), end = part_begin(part + 1, parts, n, 0);
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        decode_part(&coder, end - begin, (const char *)codes + begin * size, size, many, y + begin);
        fpemu_environment_leave(&environment);
    }
    return FPEMU_OK;
}

static fpemu_status decode_array(const fpemu_format *format, size_t n, const void *codes, realw *y)
{
    if (n == 0)
        return FPEMU_OK;
    if (!format || !codes || !y)
        return FPEMU_ERROR_NULL;
    if (format->scaling || format->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_block_decode(format, n, codes, y);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = decode_inside(format, n, codes, y);
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
    if (f && r && !fpemu_check(f, r, CARRIER_BITS)) {
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
        (void)fpemu_block_decode(format, 1, format->bits > 8 ? (const void *)&narrow : &byte, &value);
        return value;
    }
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (!fpemu_check(format, NULL, CARRIER_BITS)) {
        core_coder coder;
        core_coder_make(&coder, format, NULL);
        y = core_decode(&coder, code);
    }
    fpemu_environment_leave(&environment);
    return core_value(y);
}
