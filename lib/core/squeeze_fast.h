/* SPDX-License-Identifier: BSD-2-Clause */
/* squeeze_fast.h - S2FP8 by thresholds: array loops only. As |x| grows, so does t = 2^beta |x|^alpha, and P steps from
 * one value of the element format to the next; the y of each P is one number of the tensor. So the numbers x where P
 * steps are found once, and an element is looked up among them (codebook_fast.h).
 *
 * The rule calculates t with errors, and so do the functions below with the numbers x. With L = |log2| of the largest
 * or smallest t where P steps, and logarithms and powers closer than 2^-48, log2 t is off by less than
 * (L + |beta| + 2) 2^-47 and log2 x by less than that over alpha and 2^-47 more: core_squeeze_slack is four times as
 * much. Outside that band the rule and the thresholds agree. Of binary32 there is seldom a number inside, and the rule
 * decides beforehand what it goes to; in binary64 the rule takes the elements inside. */
#ifndef FPEMU_CORE_SQUEEZE_FAST_H
#define FPEMU_CORE_SQUEEZE_FAST_H

#include "codebook_fast.h"
#include "scale.h"

/* Steps at most, and numbers of binary32 in a band at most. */
#define CORE_SQUEEZE_STEPS 128
#define CORE_SQUEEZE_BAND 4

/* Magnitudes of an element format, ascending from zero, and the t where they step. */
typedef struct core_squeezed {
    double values[CORE_SQUEEZE_STEPS + 1], steps[CORE_SQUEEZE_STEPS];
    double x[CORE_SQUEEZE_STEPS], y[CORE_SQUEEZE_STEPS + 1]; /* what becomes these t, closely; what these P become */
    uint32_t count;                                          /* of steps */
    float alpha, beta;
    double slack;
} core_squeezed;

FPEMU_FN int core_squeeze_is_float(const fpemu_format *f)
{
    return f->kind == FPEMU_KIND_FLOAT && f->bits <= 8 && f->mantissa_bits <= 6 &&
           f->specials != FPEMU_SPECIALS_DLFLOAT;
}

/* Of format f for a mode that treats both signs alike; past: what t far beyond the largest value goes to. 0 if they are
 * not such. Whether the plan does step there is for the caller to see. */
FPEMU_FN int core_squeeze_values(core_squeezed *q, const fpemu_format *f, int mode, double past)
{
    const int nearest = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_RNA || mode == FPEMU_MODE_RNZ;
    const uint32_t m = f->mantissa_bits, one = UINT32_C(1) << (m & 7);
    if (!core_squeeze_is_float(f) || !f->is_signed || !f->has_negative_zero || f->max > -f->lowest ||
        f->max < -f->lowest || f->subnormals != FPEMU_SUBNORMALS_KEEP || (!nearest && mode != FPEMU_MODE_RTZ) ||
        !(past >= f->max))
        return 0;
    q->count = 0;
    for (uint32_t code = 0; code <= CORE_SQUEEZE_STEPS; code++) {
        const int e = f->emin - (int)m + (code < one ? 0 : (int)(code >> m) - 1);
        const uint32_t integer = code < one ? code : one + (code & (one - 1));
        if (e < -1000 || e > 900)
            return 0;
        const double value = (double)integer * core_value64(core_power64(e));
        if (value > f->max)
            break;
        q->values[code] = value;
        q->count = code;
        if (code)
            q->steps[code - 1] = nearest ? (q->values[code - 1] + value) / 2 : value;
    }
    if (q->count < 2 || q->count >= CORE_SQUEEZE_STEPS || q->values[q->count] < f->max)
        return 0;
    if (past > f->max) { /* half a step beyond */
        const double last = q->values[q->count];
        q->steps[q->count] = last + (last - q->values[q->count - 1]) / 2;
        q->values[++q->count] = past;
    }
    return 1;
}

/* For the numbers of a tensor; 0 where the bands would be wide. Then q->x[k] and q->y[k] are to be made: the numbers
 * 2^((log2 v - beta) / alpha) of v = q->steps[k] and q->values[k]. */
FPEMU_FN int core_squeeze_tensor(core_squeezed *q, core_tensor t)
{
    const double low = core_log2(q->steps[0]), high = core_log2(q->steps[q->count - 1]);
    const double beta = (double)(t.b < 0 ? -t.b : t.b), below = low < 0 ? -low : low, above = high < 0 ? -high : high;
    q->alpha = t.a;
    q->beta = t.b;
    if (!(t.a >= 0x1p-10f && t.a <= 0x1p10f) || !(beta < 900))
        return 0;
    q->slack = ((below > above ? below : above) + beta + 2) * (1 + 1 / (double)t.a) * 0x1p-45;
    return q->slack < 0x1p-27;
}

/* P of the magnitude a, by the rule. */
FPEMU_FN double core_squeeze_p(const core_squeezed *q, const core_plan64 *p, double a)
{
    const core_tensor t = {q->alpha, q->beta};
    int overflow;
    int64_t integer;
    return core_value64(core_element64(p, p, core_bits64(core_s2fp8_t(t, a)), 0, &overflow, &integer));
}

/* The largest binary32 number that is not above x >= 0. */
FPEMU_FN float core_squeeze_down(double x)
{
    const float near = x > FLT_MAX ? FLT_MAX : (float)x;
    return (double)near > x ? core_value32(core_bits32(near) - 1) : near;
}

/* The largest magnitude that goes to values[k] or below, by the rule where it is not outside the band; -1 where there
 * is no such. */
FPEMU_FN float core_squeeze_threshold(const core_squeezed *q, const core_plan64 *p, uint32_t k)
{
    const double x = q->x[k];
    float below = core_squeeze_down(x * (1 - q->slack));
    const uint32_t first = core_bits32(below), last = core_bits32(core_squeeze_down(x * (1 + q->slack)));
    int above = 0;
    if (last - first > CORE_SQUEEZE_BAND)
        return -1;
    for (uint32_t u = first + 1; u <= last; u++) {
        const int is_above = core_squeeze_p(q, p, (double)core_value32(u)) > q->values[k];
        if (above && !is_above)
            return -1;
        above = is_above;
        below = above ? below : core_value32(u);
    }
    return below;
}

#include "carrier64.h"
#include "squeeze_fast.inc.h"
#include "carrier_end.h"
#include "carrier32.h"
#include "squeeze_fast.inc.h"
#include "carrier_end.h"

/* Thresholds and values for magnitudes in binary32; 0 where the rule does not step once at each. Then core_search_make
 * or core_planes_make. */
FPEMU_FN int core_squeeze_search32(const core_squeezed *q, const core_plan64 *p, core_search32 *s)
{
    core_squeeze_begin32(s);
    for (uint32_t k = 0; k < q->count; k++) {
        const float threshold = core_squeeze_threshold(q, p, k);
        if (threshold < 0)
            return 0;
        core_squeeze_add32(s, threshold, core_saturated32(q->y[k + 1]));
    }
    core_squeeze_end32(s);
    return 1;
}

/* The same in binary64, for the lower ends of the bands (-1) or the upper ones (1). */
FPEMU_FN void core_squeeze_search64(const core_squeezed *q, int end, core_search64 *s)
{
    core_squeeze_begin64(s);
    for (uint32_t k = 0; k < q->count; k++)
        core_squeeze_add64(s, q->x[k] * (1 + end * q->slack), q->y[k + 1]);
    core_squeeze_end64(s);
}

#endif /* FPEMU_CORE_SQUEEZE_FAST_H */
