/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.inc.c - loops of plans whose ends differ by sign, and of compatibility settings, for one carrier; included
 * by variant.inc.c for each. */

/* Elements of which what is made between two loops stays in the first cache. */
#define SETTINGS_TILE 1024

/* Modes whose loops are short enough to leave the sign of zeros, where it is dropped, to another. */
#define ENDS_APART(mode) ((mode) == FPEMU_MODE_RTP || (mode) == FPEMU_MODE_RTN)

/* Elements are finished at once, tile by tile, up to a tile with an infinity or a NaN: how many lie before it. */
#define ENDS_LOOP(rule, mode, full, element_mode)                                                                      \
    static __attribute__((noinline)) size_t CARRIER(loop_ends_##rule##_##mode)(                                        \
        const core_plan *plan, const core_ends *ends, size_t n, const void *x, const uint32_t *r, void *y)             \
    {                                                                                                                  \
        const core_plan p = *plan;                                                                                     \
        const core_ends e = *ends;                                                                                     \
        const uintw not_kept = e.keeps ? ~(uintw)0 : CARRIER_SIGN; /* -0, or what no result is */                      \
        (void)not_kept;                                                                                                \
        uintw beside[SETTINGS_TILE];                                                                                   \
        size_t done = 0;                                                                                               \
        (void)r;                                                                                                       \
        for (size_t m; done < n; done += m) {                                                                          \
            const char *const in = (const char *)x + done * sizeof(uintw);                                             \
            char *const out = (char *)y + done * sizeof(uintw), *const to = in == out ? (char *)beside : out;          \
            const uint32_t *const random = mode >= FPEMU_MODE_SR ? r + done : NULL;                                    \
            intw far = 0;                                                                                              \
            (void)random;                                                                                              \
            m = n - done < SETTINGS_TILE ? n - done : SETTINGS_TILE;                                                   \
            _Pragma("omp simd reduction(max : far)") for (size_t i = 0; i < m; i++)                                    \
            {                                                                                                          \
                uintw u, v;                                                                                            \
                memcpy(&u, in + i * sizeof u, sizeof u);                                                               \
                v = core_element_by_ends(&p, &e, full, element_mode, u,                                                \
                                         mode >= FPEMU_MODE_SR ? (uintw)random[i] << (CARRIER_BITS - 32) : 0);         \
                if (!ENDS_APART(mode))                                                                                 \
                    v = v == not_kept ? 0 : v;                                                                         \
                memcpy(to + i * sizeof v, &v, sizeof v);                                                               \
                const intw a = (intw)(u & ~CARRIER_SIGN);                                                              \
                far = a > far ? a : far;                                                                               \
            }                                                                                                          \
            if (far >= (intw)CARRIER_INF)                                                                              \
                return done;                                                                                           \
            if (to != out)                                                                                             \
                memcpy(out, to, m * sizeof(uintw));                                                                    \
        }                                                                                                              \
        return done;                                                                                                   \
    }
#ifdef __SSE2__
#define SIDE_ENDS(rule, mode) ENDS_LOOP(rule, mode, 0, CORE_BY_SIDE(mode))
#define IN_SIDE(mode, call)                                                                                            \
    do {                                                                                                               \
        const unsigned before = _mm_getcsr();                                                                          \
        _mm_setcsr(before | SIDE_OF(mode));                                                                            \
        call;                                                                                                          \
        _mm_setcsr(before);                                                                                            \
    } while (0)
#else
#define SIDE_ENDS(rule, mode) ENDS_LOOP(rule, mode, 0, mode)
#define IN_SIDE(mode, call) call
#endif
#define PLAIN_ENDS(rule, mode) ENDS_LOOP(rule, mode, 0, mode)
#define FULL_ENDS(rule, mode) ENDS_LOOP(rule, mode, 1, mode)
SIDE_MODES(shifter, SIDE_ENDS)
OTHER_MODES(shifter, PLAIN_ENDS)
FAST_MODES(full, FULL_ENDS)
#undef SIDE_ENDS
#undef PLAIN_ENDS
#undef FULL_ENDS
#undef ENDS_LOOP

#define SIDE_CASE(rule, mode)                                                                                          \
    case mode: IN_SIDE(mode, done = CARRIER(loop_ends_##rule##_##mode)(p, e, n, x, r, y)); break;
#define PLAIN_CASE(rule, mode)                                                                                         \
    case mode: done = CARRIER(loop_ends_##rule##_##mode)(p, e, n, x, r, y); break;

static size_t CARRIER(loop_ends_by_mode)(const core_plan *p, const core_ends *e, size_t n, const void *x,
                                         const uint32_t *r, void *y)
{
    size_t done = 0;
    if (p->rule == CORE_RULE_FULL_RANGE_GRID)
        switch (p->mode) {
            FAST_MODES(full, PLAIN_CASE)
        default: break;
        }
    else
        switch (p->mode) {
            SIDE_MODES(shifter, SIDE_CASE)
            OTHER_MODES(shifter, PLAIN_CASE)
        default: break;
        }
    return done;
}
#undef SIDE_CASE
#undef PLAIN_CASE
#undef IN_SIDE

static void CARRIER(loop_ends_by_tiles)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    core_ends e;
    const char *in = (const char *)x;
    char *out = (char *)y;
    if (!core_ends_make(&e, p))
        return;
    for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * sizeof(uintw), r = r ? r + m : NULL) {
        uintw grid[SETTINGS_TILE];
        const int apart = !e.keeps && ENDS_APART(p->mode);
        m = CARRIER(loop_ends_by_mode)(p, &e, !apart || n < SETTINGS_TILE ? n : SETTINGS_TILE, in, r, out);
        if (apart) {
            SIMD for (size_t i = 0; i < m; i++) {
                realw v;
                memcpy(&v, out + i * sizeof v, sizeof v);
                v += 0; /* -0 becomes 0 */
                memcpy(out + i * sizeof v, &v, sizeof v);
            }
        }
        if (m == n || (m && apart))
            continue;
        in += m * sizeof(uintw), out += m * sizeof(uintw), r = r ? r + m : NULL;
        n -= m;
        m = n < SETTINGS_TILE ? n : SETTINGS_TILE;
        TABLE.round[p->rule][p->mode](p, m, in, r, grid);
        loop_finish(p, m, in, grid, out);
    }
}

#if CARRIER_BITS == 64 && defined(__AVX2__)
/* Elements, and how many of them show whether unusual ones are few. */
#define ENDS_TILE 1024
#define ENDS_LOOKED (4 * USUAL_GROUP)

static void loop_ends_stochastic(const core_plan64 *p, size_t n, const char *x, const uint32_t *r, char *y)
{
    for (size_t m; n > 0; n -= m, x += m * sizeof(double), y += m * sizeof(double), r += m) {
        m = n < ENDS_TILE ? n : ENDS_TILE;
        const size_t looked = m < ENDS_LOOKED ? m : ENDS_LOOKED, at = looked * sizeof(double);
        if (loop_usual_finished64(p, looked, x, r, y))
            loop_ends_by_tiles64(p, m - looked, x + at, r + looked, y + at);
        else
            loop_usual_finished64(p, m - looked, x + at, r + looked, y + at);
    }
}
#undef ENDS_TILE
#undef ENDS_LOOKED
#endif

/* For plans that core_ends_make takes. */
static void loop_ends(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
#ifdef __AVX512F__
    if (floats_ends(p, 0, n, x, y))
        return;
#endif
#if CARRIER_BITS == 64 && defined(__AVX2__)
    if (p->rule == CORE_RULE_SHIFTER_GRID && p->mode == FPEMU_MODE_SR) {
        loop_ends_stochastic(p, n, (const char *)x, r, (char *)y);
        return;
    }
#endif
    CARRIER(loop_ends_by_tiles)(p, n, x, r, y);
}

/* What the rule sees instead of x. */
static void loop_compat_input(const core_plan *p, size_t n, const void *x, void *y)
{
    const char *in = (const char *)x;
    char *out = (char *)y;
    if (p->compat == FPEMU_COMPAT_CUDA) { /* every NaN becomes the same */
        SIMD for (size_t i = 0; i < n; i++) {
            uintw u;
            memcpy(&u, in + i * sizeof u, sizeof u);
            u &= ~CARRIER_SIGN;
            memcpy(out + i * sizeof u, &u, sizeof u);
        }
    } else if (p->compat == FPEMU_COMPAT_ML_DTYPES) {
        const core_plan plan = *p;
        SIMD for (size_t i = 0; i < n; i++) {
            uintw u, v;
            memcpy(&u, in + i * sizeof u, sizeof u);
            v = core_ml_dtypes(&plan, u);
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
    } else {
        const uintw emin = p->emin_bits, c = core_power((int)p->pre_d - CARRIER_BIAS);
        SIMD for (size_t i = 0; i < n; i++) {
            uintw u, v;
            memcpy(&u, in + i * sizeof u, sizeof u);
            v = core_compat_first(emin, c, u);
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
    }
}

#define PAST_LOOP(mode)                                                                                                \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        uintw u, v;                                                                                                    \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        memcpy(&v, out + i * sizeof v, sizeof v);                                                                      \
        v = core_compat_past(&p, mode, u, v, (uintw)r[i] << (CARRIER_BITS - 32));                                      \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }
static void loop_compat_past(const core_plan *plan, size_t n, const void *x, const uint32_t *r, void *y)
{
    const core_plan p = *plan;
    const char *in = (const char *)x;
    char *out = (char *)y;
    uintw far = 0;
#pragma omp simd reduction(max : far)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        u &= ~CARRIER_SIGN;
        far = u > far ? u : far;
    }
    if (far <= p.max[0] && far <= p.max[1])
        return;
    if (p.mode == FPEMU_MODE_SE)
        PAST_LOOP(FPEMU_MODE_SE)
    else
        PAST_LOOP(FPEMU_MODE_SR)
}
#undef PAST_LOOP

#if CARRIER_BITS == 32
#define SETTINGS_LOOP(element)                                                                                         \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        uint32_t u, v;                                                                                                 \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        v = element;                                                                                                   \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }
static void loop_compat_fixed(const core_plan32 *plan, size_t n, const void *x, const uint32_t *r, void *y)
{
    const core_plan32 p = *plan;
    const float scale = core_value32(core_power32(p.fraction_bits)), step = core_value32(core_power32(p.quantum));
    const char *in = (const char *)x;
    char *out = (char *)y;
    const float low = -core_value32(p.max[1]) / step, high = core_value32(p.max[0]) / step;
    if (p.mode == FPEMU_MODE_SR)
        SETTINGS_LOOP(core_compat_fixed(&p, FPEMU_MODE_SR, scale, step, u, r[i]))
    else if (p.max[1] && p.nan[0] == p.nan[1])
        SETTINGS_LOOP(core_compat_nearest(&p, scale, step, low, high, u))
    else
        SETTINGS_LOOP(core_compat_fixed(&p, FPEMU_MODE_RNE, scale, step, u, 0))
}

static void loop_compat_affine(const core_plan32 *plan, size_t n, const void *x, void *y)
{
    const core_plan32 p = *plan;
    const float inverse = 1 / (float)p.scale_value;
    const float low = (float)(p.q_min - p.zero_point), high = (float)(p.q_max - p.zero_point);
    const char *in = (const char *)x;
    char *out = (char *)y;
    if (p.compat == FPEMU_COMPAT_PYTORCH_DIVIDE)
        SETTINGS_LOOP(core_compat_affine(&p, 1, inverse, low, high, u))
    else
        SETTINGS_LOOP(core_compat_affine(&p, 0, inverse, low, high, u))
}
#undef SETTINGS_LOOP
#endif

/* For plans that core_compat_is_quick takes. `rounds`: the loop of the plan's rule and mode. */
static void CARRIER(loop_compat_by)(const core_plan *p,
                                    void (*rounds)(const core_plan *, size_t, const void *, const uint32_t *, void *),
                                    size_t n, const void *x, const uint32_t *r, void *y)
{
    uintw from[SETTINGS_TILE], grid[SETTINGS_TILE];
    core_ends e;
    const int two = p->rule == CORE_RULE_SHIFTER_GRID || p->rule == CORE_RULE_FULL_RANGE_GRID;
    /* no number of the carrier is smaller than what QPyTorch rounds to first */
    const int same = p->rule == CORE_RULE_FULL_RANGE_GRID && CARRIER_BITS == 32;
    const int past = p->compat == FPEMU_COMPAT_CPFLOAT, ends = core_ends_make(&e, p);
#if CARRIER_BITS == 32 && defined(__AVX512F__)
    if (!past && floats_ends(p, 1, n, x, y))
        return;
#endif
    const char *in = (const char *)x;
    char *out = (char *)y;
    for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * sizeof(uintw), r = r ? r + m : NULL) {
        const void *now = in;
        m = n < SETTINGS_TILE ? n : SETTINGS_TILE;
        if (!past && !same) {
            loop_compat_input(p, m, in, from);
            now = from;
        } else if (past && in == out) {
            memcpy(from, in, m * sizeof *from);
            now = from;
        }
        if (ends) {
            loop_ends(p, m, now, r, out);
        } else if (two) {
            rounds(p, m, now, r, grid);
            loop_finish(p, m, now, grid, out);
        } else {
            rounds(p, m, now, r, out);
        }
        if (past)
            loop_compat_past(p, m, now, r, out);
    }
}

/* Of a setting for e8m0 that acts on what the rule sees: `plain` is the plan without it. */
static void CARRIER(loop_compat_powers)(const core_plan *p, const core_plan *plain, size_t n, const void *x,
                                        const uint32_t *r, void *y)
{
    uintw from[SETTINGS_TILE];
    const char *in = (const char *)x;
    char *out = (char *)y;
    for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * sizeof(uintw), r = r ? r + m : NULL) {
        m = n < SETTINGS_TILE ? n : SETTINGS_TILE;
        loop_compat_input(p, m, in, from);
        TABLE.power[p->mode](plain, m, from, r, out);
    }
}
#undef SETTINGS_TILE
#undef ENDS_APART

/* The same; which loop is the plan's, this set's table says. */
static void loop_compat(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
#if CARRIER_BITS == 32
    if (p->rule == CORE_RULE_AFFINE) {
        loop_compat_affine(p, n, x, y);
        return;
    }
    if (p->compat == FPEMU_COMPAT_QPYTORCH && p->emin_bits == CARRIER_INF) {
        loop_compat_fixed(p, n, x, r, y);
        return;
    }
#endif
    core_plan plain = *p;
    plain.compat = 0;
    plain.negative = p->nan[0];
    if (p->compat != FPEMU_COMPAT_CPFLOAT && core_rounds_to_powers(&plain))
        CARRIER(loop_compat_powers)(p, &plain, n, x, r, y);
    else
        CARRIER(loop_compat_by)(p, TABLE.round[p->rule][p->mode], n, x, r, y);
}
