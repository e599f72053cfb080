/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_fast.inc.h - the search in a table, for one carrier; included by codebook_fast.h. */

/* Index k of the values for t > thresholds[k - 1]: of the result where that follows from t alone (steps), and of the
 * largest value at most t for the other modes. */
typedef struct core_search {
    core_codebook table;
    uint8_t usable, steps;
    uint8_t small, is_even; /* of loops: 16 values at most, which they look up without memory; by even places */
    uint8_t quick; /* core_fast_quotient will do for scales that core_search_scales has: no threshold is too near to
                    * zero for it, and no product too large */
    uint8_t own;   /* codes are the table's own */
    uint8_t minus; /* the code of -0, where there is one */
    uint8_t codes[CORE_SEARCH_VALUES];
    uint32_t count, first; /* of the values; the first is that of this index of the table */
    uint32_t zero;         /* from here on indices of the table are one more, as -0 is left out; or UINT32_MAX */
    realw low, high;       /* the ends of the finite values */
    uintw nan[2];          /* what a NaN becomes, by its sign, without random bits; and the codes of that */
    uint32_t nan_code[2];
    uintw least, most; /* magnitudes beyond count as these */
    uintw offset;      /* of the places of core_search_place, which begin with 0 */
    realw middle;      /* the lower side of the places ends here */
    uint32_t shift;    /* bucket: place >> shift */
    realw unit;        /* even place: t * unit + 16, to the nearest integer; even[] lie below it for sure */
    uint32_t even[32];
    realw thresholds[CORE_SEARCH_VALUES];                                /* ascending; infinite from the last on */
    realw values[CORE_SEARCH_VALUES + 1];                                /* the last one again at the end */
    realw results[CORE_SEARCH_VALUES + 1];                               /* the same, or what stands for overflow */
    uintw entries[CORE_SEARCH_BUCKETS(CARRIER_BITS) + CORE_SEARCH_STEP]; /* added to a place: index << shift, and less
                                                                          * than 1 << shift */
} core_search;

/* The next number below a finite one. */
FPEMU_FN realw core_search_below(realw x)
{
    const uintw u = core_bits(x);
    return core_value(u & CARRIER_SIGN ? u + 1 : u ? u - 1 : CARRIER_SIGN | 1);
}

/* The largest t that goes to a of the neighbours a < b, under a mode that does not ask for more; else the largest t
 * below b. */
FPEMU_FN realw core_search_threshold(int mode, realw a, realw b)
{
    switch (mode) {
    case FPEMU_MODE_RTP: return a;
    case FPEMU_MODE_RTZ: return b <= 0 ? a : core_search_below(b);
    case FPEMU_MODE_RAZ: return a >= 0 ? a : core_search_below(b > 0 ? 0 : b);
    default: return core_search_below(b);
    }
}

/* Index of the table for index k of the values. */
FPEMU_FN uint32_t core_search_index(const core_search *s, uint32_t k)
{
    return s->first + k + (k >= s->zero);
}

/* The values, which are s->count, and what they become. */
FPEMU_FN void core_search_values(core_search *s)
{
    const core_codebook *const c = &s->table;
    for (uint32_t k = 0; k <= CORE_SEARCH_VALUES; k++) {
        const uint32_t index = core_search_index(s, k < s->count ? k : s->count - 1);
        const uint32_t code = core_codebook_code(c, index);
        s->values[k] = (realw)core_codebook_at(c, index);
        s->results[k] = (realw)c->values[code];
        if (k < CORE_SEARCH_VALUES)
            s->codes[k] = (uint8_t)code;
    }
}

FPEMU_FN void core_search_thresholds(core_search *s)
{
    const core_codebook *const c = &s->table;
    const uint32_t last = s->count - 1, mode = c->mode, narrow = c->flags & CORE_CODEBOOK_NARROW;
    uint32_t across = 0; /* zero lies between two values */
    for (uint32_t k = 0; k < last; k++) {
        const realw a = s->values[k], b = s->values[k + 1];
        const double middle = ((double)a + (double)b) / 2;
        const realw nearest = narrow ? (realw)(float)middle : (realw)middle;
        const int below =
            nearest >= b || (nearest > a && core_codebook_tie(c, core_search_index(s, k), (double)nearest));
        s->thresholds[k] = below ? core_search_below(nearest) : nearest; /* b itself is a value */
        across |= (uint32_t)(a < 0) & (uint32_t)(b > 0);
    }
    /* where numbers on either side of zero change sides, one threshold does not do */
    const uint32_t apart = mode == FPEMU_MODE_RTZ && across;
    s->steps = (uint8_t)(!CORE_DRAWS(mode) && !apart);
    for (uint32_t k = 0; k < last && !core_to_nearest((int)mode); k++)
        s->thresholds[k] = core_search_threshold(apart ? FPEMU_MODE_SR : (int)mode, s->values[k], s->values[k + 1]);
    for (uint32_t k = last; k < CORE_SEARCH_VALUES; k++)
        s->thresholds[k] = core_value(CARRIER_INF);
    const realw near = (realw)0x1p-40f, far = (realw)0x1p60f;
    uint32_t quick = s->values[0] > -far && s->values[last] < far;
    for (uint32_t k = 0; k < last; k++)
        quick &= (uint32_t)(s->thresholds[k] >= near) | (uint32_t)(s->thresholds[k] <= -near);
    s->quick = (uint8_t)quick;
}

/* Begins *s: thresholds and values; s->usable says whether the table has such. */
FPEMU_FN void core_search_begin(core_search *s, const core_codebook *c)
{
    const uint32_t low = core_codebook_low(c), high = core_codebook_high(c);
    const int past = CORE_CODEBOOK_PAST;
    s->steps = 0;
    s->table = *c;
    s->own = (uint8_t)low;
    s->first = low - core_codebook_flag(c, past, 1);
    s->count = high + core_codebook_flag(c, past, 0) - s->first + 1;
    s->zero = UINT32_MAX;
    s->low = (realw)core_codebook_at(c, low);
    s->high = (realw)core_codebook_at(c, high);
    for (uint32_t k = low; k < high && low; k++)
        if (core_codebook_at(c, k) == core_codebook_at(c, k + 1)) { /* zeros */
            s->zero = k - s->first;
            s->minus = (uint8_t)core_codebook_code(c, k);
            s->count--;
        }
    /* infinities are rounded as other numbers are */
    s->usable = s->count <= CORE_SEARCH_VALUES && c->length <= 256 &&
                (c->flags / CORE_CODEBOOK_PAST & 3) == (c->flags / CORE_CODEBOOK_INFINITE & 3);
    for (int k = 0; k < 2; k++) {
        const uintw nan = CARRIER_NAN | (k ? CARRIER_SIGN : 0);
        int64_t code;
        int outside;
        s->nan[k] = core_codebook_element(c, nan, 0, &outside, &code);
        s->nan_code[k] = (uint32_t)code;
    }
    if (!s->usable)
        return;
    core_search_values(s);
    core_search_thresholds(s);
    s->usable = (uint8_t)(s->steps | !low);
}

/* Where t lies: integers that ascend with t, from threshold to threshold for sure. */
FPEMU_FN uintw core_search_place(const core_search *s, realw t)
{
    const intw u = (intw)(core_bits(t) & ~CARRIER_SIGN), least = (intw)s->least, most = (intw)s->most;
    const intw up = u < least ? least : u, a = (up > most ? most : up) - least;
    return (uintw)(t > s->middle ? a : ~a) + s->offset;
}

/* The ends of magnitudes, and the middle: zero, or the threshold nearest to it where the next one lies far out, so that
 * there need not be places for all that lies between. */
FPEMU_FN void core_search_ends(core_search *s)
{
    const uint32_t count = s->count - 1;
    intw nearest = (intw)CARRIER_INF, next = (intw)CARRIER_INF, farthest = 0, same = 0, below = 0;
    for (uint32_t k = 0; k < count; k++) {
        const intw a = (intw)(core_bits(s->thresholds[k]) & ~CARRIER_SIGN);
        nearest = a < nearest ? a : nearest;
        farthest = a > farthest ? a : farthest;
    }
    for (uint32_t k = 0; k < count; k++) {
        const intw a = (intw)(core_bits(s->thresholds[k]) & ~CARRIER_SIGN), at = a == nearest ? -1 : 0;
        same -= at;
        below |= at & (intw)core_bits(s->thresholds[k]);
        next = !at && a < next ? a : next;
    }
    s->middle = core_value((uintw)(below | nearest));
    s->least = (uintw)next - CARRIER_HIDDEN;
    if (same > 1 || next - nearest < 2 * (intw)CARRIER_HIDDEN) {
        s->middle = 0;
        s->least = nearest ? (uintw)nearest - 1 : 0;
    }
    s->most = (uintw)farthest + 1 < s->least ? s->least : (uintw)farthest + 1;
}

/* The buckets of *s, which is begun, as wide as they may be for each to have one threshold at most; s->usable says
 * whether they do. */
FPEMU_FN void core_search_make(core_search *s)
{
    const uint32_t count = s->count - 1;
    uintw places[CORE_SEARCH_VALUES + 1], closest = CARRIER_SIGN >> 8; /* an index has 8 bits */
    if (!s->usable)
        return;
    core_search_ends(s);
    s->offset = 0;
    for (uint32_t k = 0; k < count; k++)
        places[k] = core_search_place(s, s->thresholds[k]);
    for (uint32_t k = 0; k + 1 < count; k++) {
        const uintw apart = places[k] ^ places[k + 1];
        closest = apart < closest ? apart : closest;
    }
    const uint32_t shift = (uint32_t)core_log2(closest);
    const uintw half = ((s->most - s->least) >> shift) + 1, step = (uintw)1 << shift;
    s->usable = half <= CORE_SEARCH_BUCKETS(CARRIER_BITS) / 2;
    if (!s->usable)
        return;
    s->shift = shift;
    s->offset = half << shift;
    size_t b = 0;
    for (uint32_t k = 0; k <= count; k++) {
        const uintw place = (k < count ? places[k] : 0) + s->offset;
        const size_t end = (size_t)(k < count ? place >> shift : 2 * half);
        for (; b < end; b += CORE_SEARCH_STEP) {
            const uintw first = ((uintw)k - (uintw)b) << shift;
            for (uint32_t i = 0; i < CORE_SEARCH_STEP; i++)
                s->entries[b + i] = first - i * step;
        }
        s->entries[end] = ((uintw)(k + 1) << shift) - 1 - place;
        b = end + 1;
    }
}

/* Even places of at most 16 values; whether each has one threshold at most. */
FPEMU_FN int core_search_even(core_search *s)
{
    const uint32_t count = s->count - 1;
    const realw low = -s->values[0], high = s->values[count], reach = high > low ? high : low;
    int before = -1; /* the last place that the threshold before may have */
    uint32_t from = 0;
    if (count >= 16 || !(reach >= (realw)0x1p-40f && reach <= (realw)0x1p40f))
        return 0;
    s->unit = 15 / reach;
    for (uint32_t k = 0; k < count; k++) {
        const realw place = s->thresholds[k] * s->unit + (realw)16.5, slack = (realw)0x1p-10f; /* floor is to nearest */
        const int first = (int)(place - slack), last = (int)(place + slack);
        if (first <= before)
            return 0;
        for (; from <= (uint32_t)last; from++)
            s->even[from] = k;
        before = last;
    }
    for (; from < 32; from++)
        s->even[from] = count;
    return 1;
}

/* Whether a scale s leaves core_fast_quotient what s->quick says. */
FPEMU_FN int core_search_scales(realw scale)
{
    return scale >= (realw)0x1p-56f && scale <= (realw)0x1p56f;
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
