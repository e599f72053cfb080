/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.inc.h - what one warp does, for one carrier; read twice by quantize.h. Warp `warp` of `warps` takes pieces
 * warp, warp + warps, ... of the stream. */

FPEMU_FN int gpu_form(const core_plan *p)
{
    if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
        return GPU_FORM_FAST;
    if (p->compat || p->wrap || (p->rule != CORE_RULE_FLOAT && p->rule != CORE_RULE_ANY))
        return GPU_FORM_GENERAL;
    return p->rule == CORE_RULE_FLOAT ? GPU_FORM_FLOAT : GPU_FORM_ANY;
}

/* The form of a job, which may be shorter; makes what it takes. */
FPEMU_FN int gpu_short_form(gpu_quantize_job *j)
{
    const core_plan *const p = &j->plan;
    if (core_wraps_quickly(p))
        return GPU_FORM_WRAPPED;
    if (core_rounds_to_powers(p)) {
        j->last = core_last_power(p);
        return GPU_FORM_POWER;
    }
    if (p->rule == CORE_RULE_POSIT && !p->compat && core_posit_is_quick(p))
        return GPU_FORM_POSIT;
    if (p->rule == CORE_RULE_AFFINE_FAST && p->mode < FPEMU_MODE_COUNT && core_affine_quick_make(&j->quick, p))
        return GPU_FORM_AFFINE;
    return gpu_form(p);
}

/* The format whose codes these are, of those that devices convert to, as above; GPU_ENCODE_FAST: none. */
FPEMU_FN int gpu_converts(const core_coder *c)
{
    const int least = (int)(c->emin_bits >> CARRIER_MANTISSA) - CARRIER_BIAS, sign = c->sign == (c->mask >> 1) + 1;
    if (CARRIER_BITS != 32 || !c->has_nan || !sign || !c->has_negative_zero)
        return GPU_ENCODE_FAST;
    if (c->bits == 16 && c->m == 7 && least == -126 && c->nan[0] == 0x7fc0 && c->infinite[0] == 0x7f80)
        return GPU_ENCODE_BF16;
    if (c->bits == 16 && c->m == 10 && least == -14 && c->nan[0] == 0x7e00 && c->infinite[0] == 0x7c00)
        return GPU_ENCODE_F16;
    if (c->bits == 8 && c->m == 2 && least == -14 && c->nan[0] == 0x7f && c->infinite[0] == 0x7c)
        return GPU_ENCODE_E5M2;
    if (c->bits == 8 && c->m == 3 && least == -6 && c->nan[0] == 0x7f && !c->has_infinity)
        return GPU_ENCODE_E4M3;
    return GPU_ENCODE_FAST;
}

/* How results of a job become its output; makes what that takes. */
FPEMU_FN int gpu_encode(gpu_quantize_job *j, int form)
{
    const core_coder *const c = &j->coder;
    const int one_nan = c->nan[0] == c->nan[1] && c->made_nan[0] == c->nan[0] && c->made_nan[1] == c->nan[0];
    if (j->call.y_type != GPU_CODES)
        return GPU_ENCODE_NOT;
    if (form == GPU_FORM_FAST && c->fast_encode && gpu_converts(c) != GPU_ENCODE_FAST)
        return gpu_converts(c);
    if (form == GPU_FORM_FAST && !j->call.counts && core_direct_make(&j->direct, &j->plan, c))
        return GPU_ENCODE_DIRECT;
    if (form == GPU_FORM_POSIT && !j->call.counts && core_posit_codes_quickly(c)) {
        j->direct.nan = (uintw)core_encode(c, CARRIER_NAN, j->plan.nan[0]);
        return GPU_ENCODE_DIRECT;
    }
    if (c->fast_encode)
        return GPU_ENCODE_FAST;
    if (c->kind == FPEMU_KIND_FLOAT && c->bits <= CARRIER_BITS)
        return core_codes_are_powers(c) && one_nan ? GPU_ENCODE_POWER : GPU_ENCODE_FLOAT;
    if (c->kind == FPEMU_KIND_POSIT && core_posit_codes_quickly(c))
        return GPU_ENCODE_POSIT;
    if (form == GPU_FORM_AFFINE && core_affine_codes_quickly(c)) {
        j->count = 1 / (realw)c->scale_value;
        return GPU_ENCODE_AFFINE;
    }
    if (core_fixed_codes_quickly(c) && (form == GPU_FORM_FAST || form == GPU_FORM_WRAPPED)) {
        j->count = core_value(core_power(c->quantum + CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1);
        return GPU_ENCODE_QUICK;
    }
    return form == GPU_FORM_FAST ? GPU_ENCODE_FIXED : GPU_ENCODE_ANY;
}

/* What the call of a job decides once, after the rest is there. */
FPEMU_FN void gpu_prepare(gpu_quantize_job *j)
{
    int form = gpu_short_form(j);
    j->call.encode = (uint8_t)gpu_encode(j, form);
    if (form == GPU_FORM_AFFINE && j->call.encode == GPU_ENCODE_ANY) /* which asks for the integer */
        form = GPU_FORM_GENERAL;
    j->call.form = (uint8_t)form;
}

/* The case of a job. */
FPEMU_FN gpu_case gpu_case_of(const gpu_quantize_job *j, int counts)
{
    gpu_case c;
    c.form = j->call.form;
    c.rule = j->plan.rule;
    c.mode = j->plan.mode;
    c.past = c.rule != CORE_RULE_SHIFTER_PASS || !CORE_DRAWS(c.mode) ? GPU_PAST_UNKNOWN
             : j->plan.fast_nan == CARRIER_INF                       ? GPU_PAST_INFINITE
                                                                     : GPU_PAST_NAN;
    c.encode = counts && (j->call.encode == GPU_ENCODE_QUICK ||
                          (j->call.encode >= GPU_ENCODE_FAST && j->call.encode <= GPU_ENCODE_E4M3))
                   ? GPU_ENCODE_FEW
                   : j->call.encode;
    c.counts = counts;
    c.random = gpu_random_of(&j->call.random);
    c.x_type = j->call.x_type;
    c.y_type = j->call.y_type;
    c.x_size = j->call.x_size;
    c.y_size = j->call.y_size;
    c.known = c.form != GPU_FORM_GENERAL;
    c.quads = c.known && counts != GPU_COUNT_ALL && j->call.phase != GPU_NO_QUADS;
    return c;
}

/* An element of the input as carrier bits. */
FPEMU_FN uintw gpu_value(gpu_case c, uint64_t element)
{
#if CARRIER_BITS == 32
    const int one_nan =
        c.form == GPU_FORM_FAST && c.rule != CORE_RULE_FULL_RANGE_GRID && c.rule != CORE_RULE_SHIFTER_GRID;
    if (c.x_type != GPU_F32)
        return one_nan ? gpu_widen_fast(c.x_type, element) : gpu_widen(c.x_type, element);
#endif
    (void)c;
    return (uintw)element;
}

/* Result v for input u as element of the output; q: the integer behind v, affine formats only. */
GPU_PART uint64_t gpu_result(const gpu_quantize_job *j, gpu_case c, uintw u, uintw v, int64_t q)
{
    switch (c.encode) {
    case GPU_ENCODE_DIRECT:
        if (c.form == GPU_FORM_POSIT || c.form == GPU_FORM_GENERAL) /* kernels of the latter take posits too */
            return core_posit_direct_code(&j->plan, (uintw)j->coder.mask, j->direct.nan, u);
        return c.rule == CORE_RULE_EVEN ? core_direct_even_code(&j->direct, u) : core_direct_code(&j->direct, u);
    case GPU_ENCODE_FEW:
        return j->call.encode == GPU_ENCODE_QUICK ? core_fixed_quick_code(&j->coder, j->count, u, v)
                                                  : core_encode_fast(&j->coder, u, v);
    case GPU_ENCODE_BF16:
    case GPU_ENCODE_F16:
    case GPU_ENCODE_E5M2:
    case GPU_ENCODE_E4M3:
    case GPU_ENCODE_FAST: return core_encode_fast(&j->coder, u, v);
    case GPU_ENCODE_QUICK: return core_fixed_quick_code(&j->coder, j->count, u, v);
    case GPU_ENCODE_FIXED: return core_encode_fixed(&j->coder, u, v);
    case GPU_ENCODE_FLOAT: return core_encode_float(&j->coder, u, v);
    case GPU_ENCODE_POWER: return core_encode_power(&j->coder, u, v);
    case GPU_ENCODE_POSIT: return core_posit_quick_code(&j->coder, u, v);
    case GPU_ENCODE_AFFINE: return core_affine_quick_code(&j->coder, j->count, u, v);
    case GPU_ENCODE_ANY:
        return j->plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&j->coder, u, v, q)
                                                     : core_encode(&j->coder, u, v);
    default: break; /* GPU_ENCODE_NOT */
    }
#if CARRIER_BITS == 32
    if (c.y_type != GPU_F32)
        return gpu_narrow(c.y_type, v);
#endif
    return v;
}

/* Magnitude of the affine integer that finite u goes to, without ends; GPU_FORM_AFFINE, which doubles never have. */
FPEMU_FN uintw gpu_affine_grid(const gpu_quantize_job *j, int mode, uintw u, uintw random)
{
#if CARRIER_BITS == 32
    return core_affine_fast_grid32(&j->plan, mode, u & ~CARRIER_SIGN, u & CARRIER_SIGN, random);
#else
    (void)j, (void)mode, (void)random;
    return u & ~CARRIER_SIGN;
#endif
}

/* Whether finite u with random bits r overflows: its value on the grid lies past the ends. */
FPEMU_FN int gpu_is_over(const gpu_quantize_job *j, gpu_case c, uintw u, uint32_t r)
{
    const uintw random = (uintw)r << (CARRIER_BITS - 32), sign = u & CARRIER_SIGN, a = u ^ sign;
    uintw g;
    if (a >= CARRIER_INF)
        return 0;
    switch (c.form) {
    case GPU_FORM_FAST:
        g = c.rule == CORE_RULE_FULL_RANGE || c.rule == CORE_RULE_FULL_RANGE_GRID
                ? core_element_full_range_grid(&j->plan, c.mode, u, random)
                : core_element_shifter_grid(&j->plan, c.mode, u, random);
        break;
    case GPU_FORM_FLOAT:
    case GPU_FORM_WRAPPED: g = core_grid(&j->plan, c.mode, 0, j->plan.n, a, sign, random); break;
    case GPU_FORM_ANY:
    case GPU_FORM_POWER: g = core_grid(&j->plan, c.mode, 1, j->plan.n, a, sign, random); break;
    case GPU_FORM_POSIT: g = a; break;                         /* whose rule leaves what lies past the ends */
    default: g = gpu_affine_grid(j, c.mode, u, random); break; /* GPU_FORM_AFFINE */
    }
    return g > CORE_BY_SIGN(u, j->plan.max);
}

/* One element: result for input u with random bits r; in the general form *over and *q are given too. */
GPU_PART uintw gpu_round_element(const gpu_quantize_job *j, gpu_case c, uintw u, uint32_t r, int *over, int64_t *q)
{
    const uintw random = (uintw)r << (CARRIER_BITS - 32);
    uintw open, v;
    switch (c.form) {
    case GPU_FORM_GENERAL: return core_element(&j->plan, &j->call.integers, u, r, over, q);
    case GPU_FORM_FLOAT: return core_element_float(&j->plan, c.mode, u, random);
    case GPU_FORM_ANY: return core_element_any(&j->plan, c.mode, u, random);
    case GPU_FORM_POWER: return core_element_power(&j->plan, j->last, c.mode, u, random);
    case GPU_FORM_WRAPPED: return core_element_wrapped(&j->plan, c.mode, u, random);
    case GPU_FORM_POSIT: return core_element_quick_posit(&j->plan, c.mode, u, random);
    case GPU_FORM_AFFINE:
        if (c.mode != FPEMU_MODE_SR)
            return core_affine_quick_element(&j->quick, c.mode, u, random);
        v = core_affine_quick_stochastic(&j->quick, u, random, &open);
        if (open)
            v = core_finish(&j->plan, u, (u & ~CARRIER_SIGN) < CARRIER_INF ? gpu_affine_grid(j, c.mode, u, random) : 0);
        return v;
    default: break; /* GPU_FORM_FAST */
    }
    if (c.past == GPU_PAST_UNKNOWN)
        return core_element_fast(&j->plan, c.rule, c.mode, u, random);
    core_plan p = j->plan; /* the compiler keeps nothing of it but what it now knows */
    p.fast_nan = c.past == GPU_PAST_INFINITE ? CARRIER_INF : 0;
    return core_element_pass(&p, c.mode, u, random);
}

/* Four elements of which core_affine_quick_stochastic left some open. */
GPU_PART void gpu_round_again(const gpu_quantize_job *j, gpu_case c, const uintw from[4], const uint32_t random[4],
                              uintw v[4])
{
    uintw u[4] = {from[0], from[1], from[2], from[3]};
    uint32_t r[4] = {random[0], random[1], random[2], random[3]};
    NOT_UNROLLED for (unsigned k = 0; k < 4; k++) {
        int over;
        int64_t q;
        v[0] = v[1], v[1] = v[2], v[2] = v[3];
        v[3] = gpu_round_element(j, c, u[0], r[0], &over, &q);
        u[0] = u[1], u[1] = u[2], u[2] = u[3];
        r[0] = r[1], r[1] = r[2], r[2] = r[3];
    }
}

/* Adds the events of one element to its lane's. */
FPEMU_FN void gpu_lane_events(gpu_lane *lane, core_events e)
{
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)e.nan;
    n[GPU_INFINITE] += (uint32_t)e.infinite;
    n[GPU_CLIPPED] += (uint32_t)e.clipped;
    n[GPU_OVERFLOW] += (uint32_t)e.overflow;
    n[GPU_INVALID] += (uint32_t)e.invalid;
    n[GPU_UNDERFLOW] += (uint32_t)e.underflow;
    n[GPU_SUBNORMAL] += (uint32_t)e.subnormal;
    n[GPU_INEXACT] += (uint32_t)e.inexact;
}

/* Adds finite u, whose result is v, to its lane's sums and a histogram. */
GPU_PART void gpu_add_up(int sums, uint32_t *bins, double sum[3], uintw u, uintw v)
{
    const uintw a = u & ~CARRIER_SIGN;
#if CARRIER_BITS == 32
    if (bins && a != 0)
        shared_count(bins + gpu_bin32(a));
#else
    if (bins && a != 0)
        shared_count(bins + gpu_bin(a));
#endif
    if (sums && (v & ~CARRIER_SIGN) < CARRIER_INF) {
        const double x = core_to_double(u), d = x - core_to_double(v);
        sum[0] += d < 0 ? -d : d;
        sum[1] += d * d;
        sum[2] += x * x;
    }
}

/* Counts one element and adds it to its lane's sums. */
GPU_PART void gpu_count(const gpu_quantize_job *j, int sums, uint32_t *bins, gpu_lane *lane, double sum[3], uintw u,
                        uintw v, int over)
{
    const uintw a = u & ~CARRIER_SIGN, c = v & ~CARRIER_SIGN;
    const core_events e = core_events_of(j->plan.min_normal, u, 0, v, v, a > CORE_BY_SIGN(u, j->plan.max), (uintw)over);
    gpu_lane_events(lane, e);
    if (a >= CARRIER_INF)
        return;
#if CARRIER_BITS == 32
    gpu_lane_extrema32(lane, core_value(u), core_value(v), c >= CARRIER_INF);
#else
    gpu_lane_extrema(lane, core_value(u), c < CARRIER_INF ? core_value(u) - core_value(v) : 0);
#endif
    gpu_add_up(sums, bins, sum, u, v);
}

/* Counts four elements of a known case. */
GPU_PART void gpu_count_past(const gpu_quantize_job *j, gpu_case c, int sums, uint32_t *bins, gpu_lane *lane,
                             double sum[3], const uintw from[4], const uintw to[4], const uint32_t random[4])
{
    uintw u[4] = {from[0], from[1], from[2], from[3]}, v[4] = {to[0], to[1], to[2], to[3]};
    uint32_t r[4] = {random[0], random[1], random[2], random[3]};
    NOT_UNROLLED for (unsigned k = 0; k < 4; k++) {
        gpu_count(j, sums, bins, lane, sum, u[0], v[0], gpu_is_over(j, c, u[0], r[0]));
        u[0] = u[1], u[1] = u[2], u[2] = u[3];
        v[0] = v[1], v[1] = v[2], v[2] = v[3];
        r[0] = r[1], r[1] = r[2], r[2] = r[3];
    }
}

/* The same in a short form where none of the four lies past the ends: no NaN is among them, nor anything infinite,
 * nor does a result lie past the ends. */
FPEMU_FN void gpu_count_four(const gpu_quantize_job *j, gpu_case c, int sums, uint32_t *bins, gpu_lane *lane,
                             double sum[3], const uintw u[4], const uintw v[4], const uint32_t r[4])
{
    const realw high = core_value(j->plan.max[0]);
    const realw low =
        c.form == GPU_FORM_POWER ? 0 : core_value(j->plan.max[1] | CARRIER_SIGN); /* no power is negative */
    const uintw subnormals = j->plan.min_normal - (j->plan.min_normal != 0);
    int inside = 1; /* no NaN is, nor anything where there is no end */
    UNROLLED for (unsigned k = 0; k < 4; k++)
        inside &= core_value(u[k]) >= low && core_value(u[k]) <= high;
    if (!inside) {
        gpu_count_past(j, c, sums, bins, lane, sum, u, v, r);
        return;
    }
    UNROLLED for (unsigned k = 0; k < 4; k++) {
        const uintw b = v[k] & ~CARRIER_SIGN;
        const uint32_t inexact = core_value(u[k]) != core_value(v[k]);
        lane->counter[GPU_UNDERFLOW] += inexact & (uint32_t)(b == 0);
        lane->counter[GPU_SUBNORMAL] += b - 1 < subnormals;
        lane->counter[GPU_INEXACT] += inexact;
        gpu_add_up(sums, bins, sum, u[k], v[k]);
    }
#if CARRIER_BITS == 32
    gpu_lane_extrema_of_four(lane, gpu_is_exact(c), u, v);
#else
    UNROLLED for (unsigned k = 0; k < 4; k++)
        gpu_lane_extrema(lane, core_value(u[k]), core_value(u[k]) - core_value(v[k]));
#endif
}

/* Four elements of the input: neighbours from i on, aligned, or every 32nd. */
FPEMU_FN void gpu_load_four(const gpu_quantize_job *j, gpu_case c, uint64_t i, uint64_t element[4])
{
    if (c.quads)
        gpu_load_quad(j->call.x, c.x_size, i, element);
    else UNROLLED
        for (unsigned k = 0; k < 4; k++)
            element[k] = gpu_load_code(j->call.x, c.x_size, i + 32 * k);
}

/* The likes of the output. */
FPEMU_FN void gpu_store_four(const gpu_quantize_job *j, gpu_case c, uint64_t i, const uint64_t element[4])
{
    if (c.quads)
        gpu_store_quad(j->call.y, c.y_size, i, element);
    else UNROLLED
        for (unsigned k = 0; k < 4; k++)
            gpu_store_code(j->call.y, c.y_size, i + 32 * k, element[k]);
}

/* Codes of four values of a format that devices convert to, the first one lowest. */
FPEMU_FN uint32_t gpu_byte_codes(const gpu_quantize_job *j, int encode, const uintw v[4])
{
#if CARRIER_BITS == 32 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    if (encode == GPU_ENCODE_E4M3) {
        uint16_t low, high;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(core_value(v[1])), "f"(core_value(v[0])));
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(core_value(v[3])), "f"(core_value(v[2])));
        return low | (uint32_t)high << 16;
    }
    /* e5m2: the upper bytes of binary16, which has infinity; its NaN is 7fff here */
    uint32_t low, high;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(low) : "f"(core_value(v[1])), "f"(core_value(v[0])));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(core_value(v[3])), "f"(core_value(v[2])));
    return __byte_perm(low, high, 0x7531);
#else
    uint32_t codes = 0;
    (void)encode;
    UNROLLED for (unsigned k = 0; k < 4; k++)
        codes |= (uint32_t)core_encode_fast(&j->coder, 0, v[k]) << 8 * k;
    return codes;
#endif
}

/* Results for inputs u: codes, or values v that rules gave without compatibility settings. */
FPEMU_FN void gpu_give_four(const gpu_quantize_job *j, gpu_case c, uint64_t i, const uintw u[4], const uintw v[4])
{
    const int encode = c.encode == GPU_ENCODE_FEW ? j->call.encode : c.encode;
    uint64_t element[4];
#if CARRIER_BITS == 32
    const int type = encode == GPU_ENCODE_BF16 ? GPU_BF16 : encode == GPU_ENCODE_F16 ? GPU_F16 : c.y_type;
    if (encode == GPU_ENCODE_E5M2 || encode == GPU_ENCODE_E4M3) {
        const uint32_t codes = gpu_byte_codes(j, encode, v);
        if (c.quads) {
            gpu_store_bytes(j->call.y, i, codes);
            return;
        }
        UNROLLED for (unsigned k = 0; k < 4; k++)
            element[k] = codes >> 8 * k & 0xff;
        gpu_store_four(j, c, i, element);
        return;
    }
    if (type == GPU_BF16 || type == GPU_F16) {
        const uint32_t pair[2] = {gpu_narrow_two(type, v[0], v[1]), gpu_narrow_two(type, v[2], v[3])};
        if (c.quads) {
            gpu_store_pairs(j->call.y, i, pair);
            return;
        }
        UNROLLED for (unsigned k = 0; k < 4; k++)
            element[k] = pair[k / 2] >> k % 2 * 16;
        gpu_store_four(j, c, i, element);
        return;
    }
#endif
    if (c.encode == GPU_ENCODE_FEW && encode != GPU_ENCODE_QUICK) /* asked once for four */
        UNROLLED
        for (unsigned k = 0; k < 4; k++)
            element[k] = core_encode_fast(&j->coder, u[k], v[k]);
    else if (c.encode == GPU_ENCODE_FEW) UNROLLED
        for (unsigned k = 0; k < 4; k++)
            element[k] = core_fixed_quick_code(&j->coder, j->count, u[k], v[k]);
    else UNROLLED
        for (unsigned k = 0; k < 4; k++)
            element[k] = gpu_result(j, c, u[k], v[k], 0);
    gpu_store_four(j, c, i, element);
}

/* A lane's part of a strip, from place i of the arrays on. */
FPEMU_FN void gpu_round_four(const gpu_quantize_job *j, gpu_case c, int sums, uint32_t *bins, const gpu_words *words,
                             gpu_lane *lane, double sum[3], uint64_t index, uint64_t i, const uintw x[4])
{
    uintw u[4] = {gpu_value(c, x[0]), gpu_value(c, x[1]), gpu_value(c, x[2]), gpu_value(c, x[3])};
    uint32_t r[4] = {0, 0, 0, 0};
    int64_t q = 0;
    int over;
    if (CORE_DRAWS(c.mode))
        gpu_bits_of_strip(&j->call.random, c.random, words, lane, index, c.quads ? 1 : 32, r);
    if (c.known) {
        uintw v[4] = {0, 0, 0, 0};
        uintw open, some = 0;
        if (c.form == GPU_FORM_AFFINE && c.mode == FPEMU_MODE_SR) {
            UNROLLED for (unsigned k = 0; k < 4; k++) {
                v[k] = core_affine_quick_stochastic(&j->quick, u[k], (uintw)r[k] << (CARRIER_BITS - 32), &open);
                some |= open;
            }
            if (some)
                gpu_round_again(j, c, u, r, v);
        } else if (c.encode != GPU_ENCODE_DIRECT) UNROLLED
            for (unsigned k = 0; k < 4; k++)
                v[k] = gpu_round_element(j, c, u[k], r[k], &over, &q);
        gpu_give_four(j, c, i, u, v);
        if (c.counts)
            gpu_count_four(j, c, sums, bins, lane, sum, u, v, r);
        return;
    }
    uint64_t element[4] = {0, 0, 0, 0};
    uintw v[4] = {0, 0, 0, 0};
    NOT_UNROLLED for (unsigned k = 0; k < 4; k++) {
        const uintw from = u[0], y = gpu_round_element(j, c, from, r[0], &over, &q);
        if (c.counts && c.form == GPU_FORM_GENERAL)
            gpu_count(j, sums, bins, lane, sum, from, y, over);
        element[0] = element[1], element[1] = element[2], element[2] = element[3];
        element[3] = gpu_result(j, c, from, y, q);
        u[0] = u[1], u[1] = u[2], u[2] = u[3], u[3] = from;
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = y;
        const uint32_t bits = r[0];
        r[0] = r[1], r[1] = r[2], r[2] = r[3], r[3] = bits;
    }
    gpu_store_four(j, c, i, element);
    if (c.counts && c.form != GPU_FORM_GENERAL)
        gpu_count_four(j, c, sums, bins, lane, sum, u, v, r);
}

/* Strips of a piece, two at a time, so that more is under way: four of narrow elements. */
FPEMU_FN void gpu_quantize_strips(const gpu_quantize_job *j, gpu_case c, int sums, uint32_t *bins,
                                  const gpu_words *words, gpu_lane *lane, double sum[LANES][3],
                                  const gpu_strips *strips)
{
    const unsigned many = c.known && c.x_size < 4 ? 4 : 2;
    for (uint64_t s = 0; s < strips->count; s += many) {
        FOR_LANES(l) {
            const uint64_t index = strips->first + s * 128 + (c.quads ? 4 * l : l), i = index - j->call.offset;
            uintw x[4][4];
            UNROLLED for (unsigned h = 0; h < 4; h++) {
                uint64_t element[4] = {0, 0, 0, 0};
                if (h < many && s + h < strips->count)
                    gpu_load_four(j, c, i + 128 * h, element);
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    x[h][k] = (uintw)element[k];
            }
            UNROLLED for (unsigned h = 0; h < 4; h++) {
                if (h < many && s + h < strips->count)
                    gpu_round_four(j, c, sums, bins, words, &OF(lane, l), OF(sum, l), index + 128 * h, i + 128 * h,
                                   x[h]);
            }
        }
        if (c.counts && CARRIER_BITS == 32 && !gpu_is_exact(c))
            gpu_lanes_share_near(lane);
    }
}

/* Elements [from, to), a lane having every 32nd by index. */
FPEMU_FN void gpu_quantize_rows(const gpu_quantize_job *j, gpu_case c, int sums, uint32_t *bins, const gpu_words *words,
                                gpu_lane *lane, double sum[LANES][3], uint64_t from, uint64_t to)
{
    NOT_UNROLLED for (uint64_t row = from & ~(uint64_t)31; row < to; row += 32)
        FOR_LANES(l) {
            const uint64_t index = row + l, i = index - j->call.offset;
            if (index < from || index >= to)
                continue;
            const uint32_t r =
                CORE_DRAWS(c.mode) ? gpu_bits_of_piece(&j->call.random, c.random, words, &OF(lane, l), index) : 0;
            const uintw u = gpu_value(c, gpu_load_code(j->call.x, c.x_size, i));
            int over;
            int64_t q = 0;
            const uintw v = gpu_round_element(j, c, u, r, &over, &q);
            gpu_store_code(j->call.y, c.y_size, i, gpu_result(j, c, u, v, q));
            if (c.counts && c.form != GPU_FORM_GENERAL)
                over = gpu_is_over(j, c, u, r);
            if (c.counts)
                gpu_count(j, sums, bins, &OF(lane, l), OF(sum, l), u, v, over);
        }
}

/* Rounds (or codes) elements, counting them if asked to; bins: GPU_BINS for a histogram, which several warps may share,
 * or NULL. Where sums are made a lane has every 32nd element, and random numbers by Philox come four at a time for
 * such. */
FPEMU_FN void gpu_quantize(const gpu_quantize_job *j, gpu_case c, uint32_t *bins, uint64_t warp, uint64_t warps)
{
    const uint64_t begin = j->call.offset, end = begin + j->call.n;
    const uint64_t piece = c.counts == GPU_COUNT_ALL ? GPU_SUM_PIECE : j->call.piece;
    const int sums = c.counts == GPU_COUNT_ALL && (j->call.counts->want & FPEMU_STATS_SUMS);
    const uint64_t phase = c.quads ? (begin + j->call.phase) & 3 : GPU_NO_QUADS, last_piece = (end - 1) / piece;
    gpu_words words = gpu_words_none();
    uint32_t pieces = 0;
    gpu_lane lane[LANES];
    double sum[LANES][3];
    FOR_LANES(l)
        gpu_lane_begin(&OF(lane, l));
    for (uint64_t b = begin / piece + warp; b <= last_piece; b += warps) {
        const uint64_t from = b * piece < begin ? begin : b * piece, to = (b + 1) * piece < end ? (b + 1) * piece : end;
        const gpu_strips strips = gpu_strips_of(from, to, phase);
        if (CORE_DRAWS(c.mode))
            gpu_words_next(&words, &j->call.random, from);
        FOR_LANES(l)
            for (int k = 0; k < 3; k++)
                OF(sum, l)[k] = 0;
        NOT_UNROLLED for (int part = 0; part < 3; part++) {
            const uint64_t last = strips.first + strips.count * 128;
            if (part != 1)
                gpu_quantize_rows(j, c, sums, bins, &words, lane, sum, part ? last : from, part ? to : strips.first);
            else
                gpu_quantize_strips(j, c, sums, bins, &words, lane, sum, &strips);
        }
        if (sums)
            for (int k = 0; k < 3; k++) {
                double one[LANES];
                FOR_LANES(l)
                    OF(one, l) = OF(sum, l)[k];
                const double total = lanes_fold(one);
                if (lanes_writer())
                    gpu_add_exact(j->call.counts, k, total);
            }
        if (c.counts && ((++pieces & 0xfff) == 0 || last_piece - b < warps))
            gpu_lane_flush(lane, j->call.counts);
    }
}

/* What a call that decodes decides once. */
FPEMU_FN void gpu_prepare_decode(gpu_quantize_job *j)
{
    const core_coder *const c = &j->coder;
    j->call.form = c->fast_decode                                               ? GPU_DECODE_FAST
                   : c->bits > 32                                               ? GPU_DECODE_ANY
                   : core_fixed_codes_quickly(c)                                ? GPU_DECODE_FIXED
                   : core_affine_codes_quickly(c)                               ? GPU_DECODE_AFFINE
                   : core_codes_are_powers(c)                                   ? GPU_DECODE_POWER
                   : c->kind == FPEMU_KIND_POSIT && core_posit_codes_quickly(c) ? GPU_DECODE_POSIT
                                                                                : GPU_DECODE_ANY;
    if (j->call.form == GPU_DECODE_FIXED)
        j->count = core_value(core_power(c->quantum));
}

/* The case of such a job; its form is how codes become values. */
FPEMU_FN gpu_case gpu_case_of_decode(const gpu_quantize_job *j)
{
    gpu_case c = gpu_case_of(j, GPU_COUNT_NOTHING);
    c.known = c.form != GPU_DECODE_ANY;
    c.quads = c.known && j->call.phase != GPU_NO_QUADS;
    return c;
}

/* The value of a code. */
GPU_PART uintw gpu_decoded(const gpu_quantize_job *j, int form, uint64_t code)
{
    const core_coder *const c = &j->coder;
    code &= c->mask;
    switch (form) {
    case GPU_DECODE_FAST: return core_decode_fast(c, (uintw)code);
    case GPU_DECODE_FIXED: return core_fixed_quick_value(c, j->count, (uint32_t)code);
    case GPU_DECODE_AFFINE: return core_affine_quick_value(c, (uint32_t)code);
    case GPU_DECODE_POWER: return core_decode_power(c, (uintw)code);
    case GPU_DECODE_POSIT: return core_posit_quick_value(c, (uintw)code);
    default: return core_decode(c, code);
    }
}

/* Elements [from, to), a lane having every 32nd. */
FPEMU_FN void gpu_decode_rows(const gpu_quantize_job *j, gpu_case c, uint64_t from, uint64_t to, uint64_t warp,
                              uint64_t warps)
{
    for (uint64_t row = from + warp * 32; row < to; row += warps * 32)
        FOR_LANES(l)
            if (row + l < to) {
                const uintw v = gpu_decoded(j, c.form, gpu_load_code(j->call.x, c.x_size, row + l));
                gpu_store_code(j->call.y, c.y_size, row + l, gpu_result(j, c, 0, v, 0));
            }
}

/* Codes to values, four strips at a time. What is not known is long. */
FPEMU_FN void gpu_decode(const gpu_quantize_job *j, gpu_case c, uint64_t warp, uint64_t warps)
{
    const gpu_strips strips = gpu_strips_of(0, j->call.n, c.quads ? j->call.phase : GPU_NO_QUADS);
    const unsigned many = c.known ? 4 : 1;
    for (uint64_t strip = many * warp; strip < strips.count; strip += many * warps)
        FOR_LANES(l) {
            const uint64_t i = strips.first + strip * 128 + (c.quads ? 4 * l : l);
            const uintw none[4] = {0, 0, 0, 0};
            uint64_t code[4][4];
            uintw v[4] = {0, 0, 0, 0};
            UNROLLED for (unsigned h = 0; h < 4; h++) {
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    code[h][k] = 0;
                if (h < many && strip + h < strips.count)
                    gpu_load_four(j, c, i + 128 * h, code[h]);
            }
            if (!c.known) {
                NOT_UNROLLED for (unsigned k = 0; k < 4; k++) {
                    v[0] = v[1], v[1] = v[2], v[2] = v[3];
                    v[3] = gpu_decoded(j, c.form, code[0][0]);
                    code[0][0] = code[0][1], code[0][1] = code[0][2], code[0][2] = code[0][3];
                }
                gpu_give_four(j, c, i, none, v);
                continue;
            }
            UNROLLED for (unsigned h = 0; h < 4; h++) {
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    v[k] = gpu_decoded(j, c.form, code[h][k]);
                if (strip + h < strips.count)
                    gpu_give_four(j, c, i + 128 * h, none, v);
            }
        }
    gpu_decode_rows(j, c, 0, strips.first, warp, warps);
    gpu_decode_rows(j, c, strips.first + strips.count * 128, j->call.n, warp, warps);
}
