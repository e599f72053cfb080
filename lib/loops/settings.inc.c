/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.inc.c - loops of compatibility settings, for one carrier; included by variant.inc.c for each. */

/* Elements of which what is made between two loops stays in the first cache. */
#define SETTINGS_TILE 1024

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
    const int two = p->rule == CORE_RULE_SHIFTER_GRID || p->rule == CORE_RULE_FULL_RANGE_GRID;
    /* no number of the carrier is smaller than what QPyTorch rounds to first */
    const int same = p->rule == CORE_RULE_FULL_RANGE_GRID && CARRIER_BITS == 32;
    const int past = p->compat == FPEMU_COMPAT_CPFLOAT, ends = p->has_ends;
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
            TABLE.finished(p, m, now, r, out);
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
