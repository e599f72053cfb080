/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.inc.h - rounding to a table, for one carrier; included by codebook.h. doc/blocks.md, 5, states the rule. */

/* Index for the finite number t with random bits r, where values[k] <= t < values[k + 1]. */
FPEMU_FN uint32_t core_codebook_between(const core_codebook *c, uint32_t k, realw t, uint32_t r)
{
    const double a = (double)c->values[k], b = (double)c->values[k + 1], x = (double)t;
    /* the sum of two binary32 numbers in binary64 is exact enough for the midpoint to be rounded once */
    const double sum = (a + b) / 2, middle = c->narrow ? (double)(float)sum : (double)(realw)sum;
    if (x == a)
        return k;
    if (core_to_nearest(c->mode))
        return k + (uint32_t)(x > middle || (x == middle && core_codebook_tie(c->mode, middle)));
    switch (c->mode) {
    case FPEMU_MODE_RTZ: return k + (uint32_t)(x < 0);
    case FPEMU_MODE_RAZ: return k + (uint32_t)(x >= 0);
    case FPEMU_MODE_RTP: return k + 1;
    case FPEMU_MODE_RTN: return k;
    case FPEMU_MODE_SE: return k + (r >> 31);
    default: return k + core_codebook_chance(c, (x - a) / (b - a), r);
    }
}

/* Index of the value that bits u go to, random bits r. */
FPEMU_FN uint32_t core_codebook_index(const core_codebook *c, uintw u, uint32_t r)
{
    const uint32_t last = c->length - 1;
    realw t = core_value(u);
    if ((u & ~CARRIER_SIGN) > CARRIER_INF) {
        if (c->nan == FPEMU_NAN_SIGNMAX)
            return u & CARRIER_SIGN ? 0 : last;
        if (c->nan != FPEMU_NAN_ZERO)
            return last;
        t = 0;
    }
    if (t <= (realw)c->values[0])
        return 0;
    if (t >= (realw)c->values[last])
        return last;
    uint32_t k = 0, count = last; /* values[k] <= t < values[k + count] */
    while (count > 1) {
        const uint32_t half = count / 2;
        k += (realw)c->values[k + half] <= t ? half : 0;
        count -= half;
    }
    return core_codebook_between(c, k, t, r);
}

/* The value at an index chosen for u, as bits; a NaN stays one where the policy keeps it. */
FPEMU_FN uintw core_codebook_value(const core_codebook *c, uintw u, uint32_t index)
{
    const int kept = c->nan == FPEMU_NAN_KEEP || c->nan == FPEMU_NAN_ERROR;
    return kept && (u & ~CARRIER_SIGN) > CARRIER_INF ? CARRIER_NAN : core_bits((realw)c->values[index]);
}

/* The element that bits t go to: *q is its index; *overflow says whether t lies outside the table. */
FPEMU_FN uintw core_codebook_element(const core_codebook *c, uintw t, uint32_t r, int *overflow, int64_t *q)
{
    const realw value = core_value(t);
    const uint32_t index = core_codebook_index(c, t, r);
    *q = index;
    *overflow = value < (realw)c->values[0] || value > (realw)c->values[c->length - 1];
    return core_codebook_value(c, t, index);
}
