/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.inc.c - loops of compatibility settings, for one carrier; included by variant.inc.c for each. */

/* Elements of which what is made between two loops stays in the first cache. */
#define SETTINGS_TILE 1024

/* What the rule sees instead of x. */
#define INPUT(seen)                                                                                                    \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        uintw u;                                                                                                       \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        y[i] = seen;                                                                                                   \
    }                                                                                                                  \
    return
static void loop_compat_input(const core_plan *plan, size_t n, const void *x, const uint32_t *r, uintw *y)
{
    const core_plan p = *plan;
    const char *in = (const char *)x;
    const uintw c = core_power((int)p.pre_d - CARRIER_BIAS);
    (void)r;
    switch (p.compat) {
    case FPEMU_COMPAT_CPFLOAT: INPUT(u);
    case FPEMU_COMPAT_CUDA: INPUT(u & ~CARRIER_SIGN); /* every NaN becomes the same */
    case FPEMU_COMPAT_ML_DTYPES: INPUT(core_ml_dtypes(&p, u));
    case FPEMU_COMPAT_PYTORCH_CAST: INPUT(core_least_power(&p, u & ~CARRIER_SIGN));
    default: break;
    }
#if CARRIER_BITS == 32
    if (p.emin_bits == CARRIER_INF) {
        const float scale = core_value32(core_power32(p.fraction_bits)), step = core_value32(core_power32(p.quantum));
        if (p.mode == FPEMU_MODE_SR) {
            INPUT(core_compat_fixed_random(scale, step, u, r[i]));
        }
        INPUT(core_compat_fixed(scale, step, u));
    }
#endif
    INPUT(core_compat_first(p.emin_bits, c, u));
}
#undef INPUT

static void loop_compat_past(const core_plan *plan, size_t n, const uintw *x, const uint32_t *r, void *y)
{
    const core_plan p = *plan;
    char *out = (char *)y;
    uintw far = 0;
#pragma omp simd reduction(max : far)
    for (size_t i = 0; i < n; i++)
        far = (x[i] & ~CARRIER_SIGN) > far ? x[i] & ~CARRIER_SIGN : far;
    if (far <= p.max[0] && far <= p.max[1])
        return;
    SIMD for (size_t i = 0; i < n; i++) {
        uintw v;
        memcpy(&v, out + i * sizeof v, sizeof v);
        v = core_compat_past(&p, p.mode, x[i], v, (uintw)r[i] << (CARRIER_BITS - 32));
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}

/* What fixed point rounds to zero keeps its sign. */
static void loop_compat_zeros(uintw half, size_t n, const uintw *x, void *y)
{
    char *out = (char *)y;
    SIMD for (size_t i = 0; i < n; i++) {
        uintw v;
        memcpy(&v, out + i * sizeof v, sizeof v);
        v |= (x[i] & ~CARRIER_SIGN) <= half ? x[i] & CARRIER_SIGN : 0;
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}

/* For plans that core_compat_is_quick takes. */
static void loop_compat(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    uintw from[SETTINGS_TILE];
    const int past = p->compat == FPEMU_COMPAT_CPFLOAT, fixed = p->emin_bits == CARRIER_INF;
    const char *in = (const char *)x;
    char *out = (char *)y;
    core_plan plain = *p;
    if (p->rule == CORE_RULE_AFFINE) {
        TABLE.finished(p, n, x, r, y);
        return;
    }
    plain.compat = 0;
    plain.negative = p->nan[0];
    plain.mode = fixed ? FPEMU_MODE_RNE : p->mode;
    void (*const rounds)(const core_plan *, size_t, const void *, const uint32_t *, void *) =
        !past && core_rounds_to_powers(&plain) ? TABLE.power[plain.mode]
        : p->has_ends                          ? TABLE.finished
                                               : TABLE.round[p->rule][plain.mode];
    plain.negative = rounds == TABLE.power[plain.mode] ? p->nan[0] : p->negative;
    for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * sizeof(uintw), r = r ? r + m : NULL) {
        m = n < SETTINGS_TILE ? n : SETTINGS_TILE;
        loop_compat_input(p, m, in, r, from);
        rounds(&plain, m, from, r, out);
        if (past)
            loop_compat_past(p, m, from, r, out);
        else if (fixed)
            loop_compat_zeros(core_power(p->quantum - 1), m, from, out);
    }
}
#undef SETTINGS_TILE
