/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.inc.h - rounding to a table, for one carrier; included by codebook.h. doc/blocks.md, 5, states the rule. */

/* Index for the finite number t with random bits r, between the values of the indices k and k + 1. */
FPEMU_FN uint32_t core_codebook_between(const core_codebook *c, uint32_t k, realw t, uint32_t r)
{
    const double a = (double)core_codebook_at(c, k), b = (double)core_codebook_at(c, k + 1), x = (double)t;
    /* the sum of two binary32 numbers in binary64 is exact enough for the midpoint to be rounded once */
    const double sum = (a + b) / 2, middle = c->flags & CORE_CODEBOOK_NARROW ? (double)(float)sum : (double)(realw)sum;
    if (x == a)
        return k;
    if (core_to_nearest(c->mode))
        return k + (uint32_t)(x > middle || (x == middle && core_codebook_tie(c, k, middle)));
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
    const uint32_t low = core_codebook_low(c), high = core_codebook_high(c);
    const uint32_t first = low - core_codebook_flag(c, CORE_CODEBOOK_PAST, 1);
    const uint32_t last = high + core_codebook_flag(c, CORE_CODEBOOK_PAST, 0);
    realw t = core_value(u);
    if ((u & ~CARRIER_SIGN) > CARRIER_INF) {
        if (c->nan == FPEMU_NAN_SIGNMAX)
            return u & CARRIER_SIGN ? low : high;
        if (c->nan != FPEMU_NAN_ZERO)
            return high;
        t = 0;
    } else if (u << 1 >> 1 == CARRIER_INF) {
        return u & CARRIER_SIGN ? low - core_codebook_flag(c, CORE_CODEBOOK_INFINITE, 1)
                                : high + core_codebook_flag(c, CORE_CODEBOOK_INFINITE, 0);
    }
    if (t < (realw)core_codebook_at(c, first))
        return first;
    uint32_t k = first, count = last - first + 1; /* the value of k is the largest at most t */
    while (count > 1) {
        const uint32_t half = count / 2;
        k += (realw)core_codebook_at(c, k + half) <= t ? half : 0;
        count -= half;
    }
    if (k > first && core_bits(t) == CARRIER_SIGN && core_codebook_at(c, k - 1) == 0)
        return k - 1; /* -0, where there is one */
    return k == last ? k : core_codebook_between(c, k, t, r);
}

/* The value, as bits, of an index chosen for u; a NaN stays one where it has a code, or the policy keeps it. */
FPEMU_FN uintw core_codebook_value(const core_codebook *c, uintw u, uint32_t index)
{
    const int kept = c->nan == FPEMU_NAN_KEEP || c->nan == FPEMU_NAN_ERROR || (c->flags & CORE_CODEBOOK_HAS_NAN);
    return kept && (u & ~CARRIER_SIGN) > CARRIER_INF ? CARRIER_NAN
                                                     : core_bits((realw)c->values[core_codebook_code(c, index)]);
}

/* The element that bits t go to: *q is its code; *overflow says whether t lies outside the table. */
FPEMU_FN uintw core_codebook_element(const core_codebook *c, uintw t, uint32_t r, int *overflow, int64_t *q)
{
    const realw value = core_value(t);
    const uint32_t index = core_codebook_index(c, t, r);
    *q = value != value && (c->flags & CORE_CODEBOOK_HAS_NAN) ? (uint32_t)c->values[c->length + 1]
                                                              : core_codebook_code(c, index);
    *overflow = value < (realw)core_codebook_at(c, core_codebook_low(c)) ||
                value > (realw)core_codebook_at(c, core_codebook_high(c));
    return core_codebook_value(c, t, index);
}
