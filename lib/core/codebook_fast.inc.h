/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_fast.inc.h - the search in a table, for one carrier; included by codebook_fast.h. */

/* Index k of the values for t > thresholds[k - 1]: of the result where that follows from t alone (steps), and of the
 * largest value at most t for the other modes. */
typedef struct core_search {
    core_codebook table;
    uint32_t least, most;        /* magnitudes beyond count as these */
    uint32_t shift, first, half; /* bucket: magnitude >> shift, less first; of a negative number half more */
    uint8_t usable, steps;
    uintw nan[2]; /* what a NaN becomes, by its sign, without random bits; and the indices of that */
    uint32_t nan_index[2];
    core_few few; /* of the loops that have them; else not usable */
    core_planes planes;
    realw thresholds[CORE_SEARCH_VALUES];                 /* ascending; infinite from the last on */
    realw values[CORE_SEARCH_VALUES + 1];                 /* the last one again at the end */
    uint8_t base[CORE_SEARCH_BUCKETS + CORE_SEARCH_STEP]; /* how many thresholds lie in buckets below */
} core_search;

/* t as binary32 bits: the order of numbers is kept, which is all that buckets need. */
FPEMU_FN uint32_t core_search_pattern(realw t)
{
    return core_bits32((float)t);
}

/* The next number below a finite one. */
FPEMU_FN realw core_search_below(realw x)
{
    const uintw u = core_bits(x);
    return core_value(u & CARRIER_SIGN ? u + 1 : u ? u - 1 : CARRIER_SIGN | 1);
}

/* The largest t that goes to a of the neighbours a < b, under a mode that does not ask for more; else the largest t
 * below b. *nearest: `middle` in the carrier. */
FPEMU_FN realw core_search_threshold(int mode, realw a, realw b, realw nearest)
{
    switch (mode) {
    case FPEMU_MODE_RNE: return nearest;
    case FPEMU_MODE_RTP: return a;
    case FPEMU_MODE_RTZ: return b <= 0 ? a : core_search_below(b);
    case FPEMU_MODE_RAZ: return a >= 0 ? a : b <= 0 ? core_search_below(b) : core_search_below(0);
    default: return core_search_below(b);
    }
}

/* Thresholds; 0 where rounding does not follow from them: middles that are one of their neighbours. */
FPEMU_FN int core_search_thresholds(core_search *s)
{
    const core_codebook *c = &s->table;
    const uint32_t last = c->length - 1, mode = c->mode, narrow = c->narrow;
    const float *const from = c->values;
    uintw same = 0, across = 0;
    for (uint32_t k = 0; k < last; k++) { /* of every mode, but in a form that vectors take */
        const double middle = ((double)from[k] + (double)from[k + 1]) / 2;
        const realw nearest = narrow ? (realw)(float)middle : (realw)middle;
        s->thresholds[k] = nearest;
        s->values[k] = (realw)from[k];
        same |= (uintw) !(nearest < (realw)from[k + 1]);
        across |= (uintw)((from[k] < 0) & (from[k + 1] > 0));
    }
    same = mode == FPEMU_MODE_RNE && same;
    for (uint32_t k = 0; k < last && mode != FPEMU_MODE_RNE; k++)
        s->thresholds[k] = core_search_threshold((int)mode, s->values[k], (realw)from[k + 1], s->thresholds[k]);
    for (uint32_t k = last; k < CORE_SEARCH_VALUES; k++) {
        s->values[k] = (realw)c->values[last];
        s->thresholds[k] = core_value(CARRIER_INF);
    }
    s->values[CORE_SEARCH_VALUES] = (realw)c->values[last];
    /* toward zero, where zero lies between two values, numbers go away from it: down and up, not by one threshold */
    s->steps = (uint8_t)(c->mode < FPEMU_MODE_SR && !(c->mode == FPEMU_MODE_RTZ && across));
    if (c->mode == FPEMU_MODE_RTZ && across)
        for (uint32_t k = 0; k < last; k++)
            s->thresholds[k] = core_search_below(s->values[k + 1]);
    return !same;
}

/* least and most, so that a zero has a bucket for itself. */
FPEMU_FN void core_search_ends(core_search *s)
{
    const uint32_t normal = 0x00800000u;
    uint32_t least = ~UINT32_C(0), most = 0;
    for (uint32_t k = 0; k + 1 < s->table.length; k++) {
        const uint32_t a = core_search_pattern(s->thresholds[k]) & 0x7fffffffu;
        least = a - normal < least ? a - normal : least; /* of smaller ones it is a large number */
        most = a > most ? a : most;
    }
    least = least > 0x7fffffffu ? ~UINT32_C(0) : least + normal;
    s->least = least > most || least < 2 * normal ? normal : least - normal;
    s->most = most < s->least ? s->least : most;
}

/* Begins *s: thresholds and values; s->usable says whether the table has such. */
FPEMU_FN void core_search_begin(core_search *s, const core_codebook *c)
{
    s->usable = s->steps = s->few.usable = s->planes.usable = 0;
    s->table = *c;
    for (int k = 0; k < 2; k++) {
        const uintw nan = CARRIER_NAN | (k ? CARRIER_SIGN : 0);
        s->nan_index[k] = core_codebook_index(c, nan, 0);
        s->nan[k] = core_codebook_value(c, nan, s->nan_index[k]);
    }
    s->usable = (uint8_t)(c->length <= CORE_SEARCH_VALUES && core_search_thresholds(s));
}

/* The buckets of *s, which is begun; s->usable says whether they do. */
FPEMU_FN void core_search_make(core_search *s)
{
    if (!s->usable)
        return;
    s->usable = 0;
    core_search_ends(s);
    const uint32_t count = s->table.length - 1;
    uint32_t negative = 0;
    int shift = 23;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t u = core_search_pattern(s->thresholds[k]);
        const uint32_t next = k + 1 < count ? core_search_pattern(s->thresholds[k + 1]) : ~u;
        const int apart = (u ^ next) >> 31 ? shift
                                           : core_search_apart(core_search_magnitude(u, s->least, s->most),
                                                               core_search_magnitude(next, s->least, s->most));
        shift = apart < shift ? apart : shift;
        negative += u >> 31;
    }
    if (shift < 0)
        return;
    s->shift = (uint32_t)shift;
    s->first = s->least >> shift;
    s->half = (s->most >> shift) - s->first + 1;
    if (s->half > CORE_SEARCH_BUCKETS / 2)
        return;
    uint32_t from = 0;
    for (uint32_t k = negative; k < count; k++) {
        const uint32_t u = core_search_pattern(s->thresholds[k]);
        const uint32_t b = (core_search_magnitude(u, s->least, s->most) >> shift) - s->first;
        core_search_fill(s->base, from, b + 1, k);
        from = b + 1;
    }
    core_search_fill(s->base, from, s->half, count);
    from = s->half;
    for (uint32_t k = negative; k > 0; k--) { /* magnitudes fall as numbers rise */
        const uint32_t u = core_search_pattern(s->thresholds[k - 1]);
        const uint32_t b = (core_search_magnitude(u, s->least, s->most) >> shift) - s->first + s->half;
        core_search_fill(s->base, from, b, k);
        from = b;
    }
    core_search_fill(s->base, from, 2 * s->half, 0);
    s->usable = 1;
}

FPEMU_FN uint32_t core_search_bucket(const core_search *s, uint32_t pattern)
{
    const uint32_t a = core_search_magnitude(pattern, s->least, s->most);
    return (a >> s->shift) - s->first + ((uint32_t)-(int32_t)(pattern >> 31) & s->half);
}

/* How many thresholds lie below t; of a NaN some index. */
FPEMU_FN uint32_t core_search_count(const core_search *s, realw t)
{
    const uint32_t k = s->base[core_search_bucket(s, core_search_pattern(t))];
    return k + (uint32_t)(t > s->thresholds[k]);
}

/* As core_codebook_index. */
FPEMU_FN uint32_t core_search_index(const core_search *s, uintw u, uint32_t r)
{
    const core_codebook *c = &s->table;
    const realw t = core_value(u);
    if (t != t)
        return core_codebook_index(c, u, r);
    const uint32_t k = core_search_count(s, t), last = c->length - 1;
    if (s->steps)
        return k;
    return t <= s->values[0] ? 0 : k == last ? last : core_codebook_between(c, k, t, r);
}

/* Whether t, with thresholds for the largest value a <= t and b the next one, goes to b by random bits r: as
 * core_codebook_between. A number beyond the last value comes as that value; below the first, a is the first. The
 * fraction v goes up just if floor(2^n v) + bits >= 2^n, that is, if v >= 1 - bits / 2^n; half a unit of the bits less,
 * and ties by their parity, in the other variants. Without branches. */
FPEMU_FN int core_search_up(int mode, int n, realw t, realw a, realw b, uint32_t r)
{
    const double x = (double)t, low = (double)a, v = (x - low) / ((double)b - low);
    /* 2^32 - r, of which n bits count */
    const double left = (2147483648.0 - (double)(int32_t)(r ^ 0x80000000u)) * (1.0 / 4294967296.0);
    const double half = mode == FPEMU_MODE_SR ? 0 : 0.5 / (double)(UINT64_C(1) << n), w = left - half;
    const int odd = mode == CORE_SR_C && (r >> (32 - n) & 1);
    if (mode == FPEMU_MODE_SE)
        return (int)(x > low) & (int)(r >> 31);
    return (int)(v > w) | ((int)(v == w) & !odd);
}
