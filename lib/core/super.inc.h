/* SPDX-License-Identifier: BSD-2-Clause */
/* super.inc.h - ggml's super-blocks in one carrier: doc/blocks.md, 2.10; included by scale.h. */

/* A scale, and what is below zero of a least number, that a block has by itself. */
typedef struct core_super_part {
    realw scale, least;
} core_super_part;

/* The nearest whole number, between low and high; low for a NaN. */
FPEMU_FN realw core_super_whole(realw v, realw low, realw high)
{
    const realw whole = core_whole(v);
    return whole > low ? (whole < high ? whole : high) : low;
}

/* The scale under which x is nearest to whole numbers, x^2 being the weight: of 19, from the element of the largest
 * magnitude. */
FPEMU_FN core_super_part core_super_signed(const core_block *b, unsigned n, const realw *x)
{
    core_super_part own = {0, 0};
    realw most = 0, best = 0;
    for (unsigned i = 0; i < n; i++)
        most = (core_bits(x[i]) & ~CARRIER_SIGN) > (core_bits(most) & ~CARRIER_SIGN) ? x[i] : most;
    if (most < (realw)1e-15f && -most < (realw)1e-15f)
        return own;
    for (int k = 0; k < 19; k++) {
        const int step = k == 0 ? 0 : k < 10 ? k - 10 : k - 9;
        const realw inverse = -(-b->lowest + (realw)0.1f * (realw)step) / most;
        realw products = 0, squares = 0;
        for (unsigned i = 0; i < n; i++) {
            const realw q = core_super_whole(inverse * x[i], b->lowest, b->largest), weight = x[i] * x[i];
            products += weight * x[i] * q;
            squares += weight * q * q;
        }
        if (k == 0 || (squares > 0 && products * products > best * squares)) {
            own.scale = products / squares;
            best = own.scale * products;
        }
        if (k == 0 && !((core_bits(own.scale) & ~CARRIER_SIGN) < CARRIER_INF)) /* squares past the carrier's end */
            own.scale = 1 / inverse;
    }
    return own;
}

/* What a block of n finite elements has by itself; of unsigned ones the scale and the least number by which whole
 * numbers come nearest to x, the weight being the root of the mean square and |x|: from one end to the other, then by
 * least squares from other scales. */
FPEMU_FN core_super_part core_super_find(const core_block *b, unsigned n, const realw *x)
{
    const int more = b->largest > 15, steps = more ? 15 : 20;
    core_super_part own = {0, 0};
    realw weight[CORE_SUPER_MOST], q[CORE_SUPER_MOST], squares = 0, low = x[0], high = x[0], all = 0, sum = 0;
    realw best = 0;
    if (b->rule == FPEMU_SCALING_GGML_0K)
        return core_super_signed(b, n, x);
    for (unsigned i = 0; i < n; i++)
        squares += x[i] * x[i];
    const core_exact root = core_exact_sqrt(core_exact_from(core_bits64((double)(squares / (realw)n))));
    const realw mean = (realw)core_value64(core_exact_binary64(&root, FPEMU_MODE_RNE)); /* as if rounded once */
    for (unsigned i = 0; i < n; i++) {
        weight[i] = mean + core_value(core_bits(x[i]) & ~CARRIER_SIGN);
        all += weight[i];
        sum += weight[i] * x[i];
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    low = low > 0 ? 0 : low;
    own.least = -low;
    if (!(high > low))
        return own;
    for (int k = -1; k <= steps; k++) {
        const realw first = (more ? (realw)-0.5 : -1) + (realw)0.1f * (realw)k;
        const realw inverse = (k < 0 ? b->largest : first + b->largest) / core_finite(high - low);
        realw scale = 1 / inverse, least = low, line = 0, curve = 0, slope = 0, error = 0;
        for (unsigned i = 0; i < n; i++) {
            q[i] = core_super_whole(inverse * (x[i] - low), 0, b->largest);
            line += weight[i] * q[i];
            curve += weight[i] * q[i] * q[i];
            slope += weight[i] * q[i] * x[i];
        }
        const realw determinant = all * curve - line * line;
        if (k >= 0) {
            if (!(determinant > 0))
                continue;
            scale = (all * slope - sum * line) / determinant;
            least = (curve * sum - line * slope) / determinant;
            if (least > 0) {
                least = 0;
                scale = slope / curve;
            }
        }
        for (unsigned i = 0; i < n; i++) {
            const realw d = scale * q[i] + least - x[i];
            error += weight[i] * (d * d);
        }
        if (k < 0 || error < best) {
            best = error;
            own.scale = scale;
            own.least = -least;
            low = least;
        }
    }
    return own;
}

/* The scale of part `which` of a super-block of so many, its largest magnitude being amax; NaN stays. */
FPEMU_FN void core_super_scale(const core_block *b, const core_super_part *part, unsigned count, unsigned which,
                               uintw amax, core_scale *s)
{
    const int is_signed = b->rule == FPEMU_SCALING_GGML_0K;
    realw most = 0, least = 0;
    if (s->kind == CORE_SCALE_NAN)
        return;
    s->saturated = 0;
    for (unsigned k = 0; k < count; k++) {
        const realw v = part[k].scale, a = is_signed && v < 0 ? -v : v, before = is_signed && most < 0 ? -most : most;
        most = a > before ? v : most;
        least = part[k].least > least ? part[k].least : least;
    }
    if (is_signed && most < (realw)1e-15f && -most < (realw)1e-15f)
        most = 0;
    const realw inverse = most > 0 || most < 0 ? (is_signed ? -128 : 63) / most : 0;
    const realw d = core_scale_hold_signed(b, !is_signed ? most / 63 : inverse > 0 || inverse < 0 ? 1 / inverse : 0, s);
    const realw m = core_scale_hold(b, least / 63, s);
    const realw multiple = core_super_whole(inverse * part[which].scale, is_signed ? -128 : 0, is_signed ? 127 : 63);
    const realw below = least > 0 ? core_super_whole(63 / least * part[which].least, 0, 63) : 0;
    const int own = b->level_shift;
    uint64_t multiples = is_signed ? (uint8_t)(int)multiple : (uint64_t)multiple << own | (uint64_t)below << (own + 6);
    multiples |= is_signed ? 0 : core_encode(&b->scale_coder, core_bits(m), core_bits(m));
    s->code = core_encode(&b->scale_coder, core_bits(d), core_bits(d)) | multiples << own;
    s->kind = CORE_SCALE_DIVIDE;
    s->saturated = s->saturated && amax != 0;
    core_super_ready(b, d, m, multiple, below, s);
    core_scale_end(s);
}
