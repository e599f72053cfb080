/* SPDX-License-Identifier: BSD-2-Clause */
/* table.inc.c - numbers rounded to a table of at most 256 values, under the scales of blocks too; after kernel.inc.c.
 * The rule is core_codebook_index; core/codebook_fast.h says how thresholds are found:
 *
 *   quotient    by the scale of a block
 *   index       where it stands among the thresholds
 *   value       what that stands for; of two neighbours in the modes that do not go by a threshold
 *   product     with the scale */

#define TABLE_PARTS (16 / SIMD_LANES)

/* TABLE_QUICK: divided by core_fast_quotient. */
enum table_scale { TABLE_ALONE, TABLE_DIVIDED, TABLE_QUICK };

typedef struct table_constants {
    simd_real down, inverse, scale; /* of a block */
    simd_real low, high;            /* the first value and the last */
    simd_real middle, least, most;  /* as in core_search */
    simd_bits offset;               /* of places, less one */
    simd_real half, band;           /* see table_up */
    simd_real nan[2];
#if SIMD_HAS_LOOK_UP
    simd_real thresholds[TABLE_PARTS], values[TABLE_PARTS], next[TABLE_PARTS]; /* of 16 values */
#if SIMD_HAS_LOOK_UP_32
    simd_real unit, shift;
    simd_bits even[2];
#else
    simd_real root;
#endif
#endif
} table_constants;

SIMD_FN table_constants table_begin(const core_search *s)
{
    const realw low = s->values[0], high = s->values[CORE_SEARCH_VALUES];
    const int mode = s->table.mode;
    table_constants c;
    c.down = c.inverse = c.scale = simd_all_real(1);
    c.low = simd_all_real(low);
    c.high = simd_all_real(high);
    c.middle = simd_all_real(s->middle);
    c.least = simd_all_real(core_value(s->least));
    c.most = simd_all_real(core_value(s->most));
    c.offset = simd_all(s->offset - 1);
    c.half = simd_all_real(mode == FPEMU_MODE_SR ? 0 : (realw)(0.5 / (double)(UINT64_C(1) << s->table.n)));
    c.band = simd_all_real(CARRIER_BITS == 64                     ? 0
                           : high - low < core_value(CARRIER_INF) ? (realw)0x1p-21
                                                                  : core_value(CARRIER_INF));
    for (int k = 0; k < 2; k++)
        c.nan[k] = simd_all_real(core_value(s->nan[k]));
#if SIMD_HAS_LOOK_UP
    for (int k = 0; k < TABLE_PARTS; k++) {
        c.thresholds[k] = simd_load(s->thresholds + k * SIMD_LANES);
        c.values[k] = simd_load(s->results + k * SIMD_LANES);
        c.next[k] = simd_load(s->values + k * SIMD_LANES + 1);
    }
#if SIMD_HAS_LOOK_UP_32
    c.unit = simd_all_real(s->unit);
    c.shift = simd_all_real((realw)CARRIER_HIDDEN * (realw)1.5 + 16);
    memcpy(c.even, s->even, sizeof c.even);
#else
    realw tree[16] = {0}; /* 1, then 2 and 3 beside it, ...: those that halve all, the halves, ... */
    for (int level = 0, node = 1; level < 4; level++)
        for (int k = (8 >> level) - 1; k < 15; k += 16 >> level)
            tree[node++] = s->thresholds[k];
    memcpy(c.thresholds, tree, sizeof tree);
    c.root = simd_all_real(tree[1]);
#endif
#endif
    return c;
}

/* How many thresholds lie below t, in the lowest 4 bits where the table is small; of a NaN any. */
SIMD_FN simd_bits table_index(int small, const core_search *s, const table_constants *c, simd_real t)
{
    (void)small;
#if SIMD_HAS_LOOK_UP_32
    if (small) {
        simd_bits k = simd_all(0);
        if (s->is_even) {
            k = simd_look_up_32(c->even, (simd_bits)(t * c->unit + c->shift));
            return simd_add_one_if(simd_less(simd_look_up_16(c->thresholds, k), t), k);
        }
        for (uintw half = 8; half; half /= 2) {
            const simd_mask above = simd_less(simd_look_up_16(c->thresholds, k + (half - 1)), t);
            k += (simd_bits)simd_keep(above, (simd_real)simd_all(half));
        }
        return k;
    }
#elif SIMD_HAS_LOOK_UP
    if (small) { /* down the tree, whose leaves are 16 and the index */
        simd_bits node = simd_add_one_if(simd_less(c->root, t), simd_all(2));
        for (int level = 1; level < 4; level++)
            node = simd_add_one_if(simd_less(simd_look_up_8(c->thresholds[level / 3], node), t), node + node);
        return node;
    }
#endif
    const simd_bits a = (simd_bits)simd_min(simd_max(simd_magnitude(t), c->least), c->most) - (simd_bits)c->least;
    const simd_bits above = (simd_bits)((simd_integers)(c->middle - t) >> (CARRIER_BITS - 1)); /* all ones, or 0 */
    const simd_bits place = c->offset - (a ^ above);
    return (place + simd_gather(s->entries, place >> s->shift)) >> s->shift;
}

/* The values at these indices, or the next ones. */
SIMD_FN simd_real table_values(int small, const core_search *s, const table_constants *c, int next, simd_bits k)
{
#if SIMD_HAS_LOOK_UP
    if (small)
        return simd_look_up_16(next ? c->next : c->values, k);
#endif
    (void)small;
    (void)c;
    return (simd_real)simd_gather(next ? s->values + 1 : s->results, k);
}

/* Whether t, at least a and less than b where these differ, goes to b. By random bits as core_search_up has it: in
 * binary32 the fraction and what it is held against are less than 8 units of 2^-24 off, which leaves some open. */
SIMD_FN simd_mask table_up(int mode, const table_constants *c, simd_real t, simd_real a, simd_real b, simd_bits r,
                           simd_mask *open)
{
    const simd_real one = simd_all_real(1);
    if (mode == FPEMU_MODE_SE)
        return simd_both(simd_less(a, t), simd_negative(r));
    if (mode == FPEMU_MODE_RTZ)
        return simd_both(simd_less(a, t), simd_less(t, simd_all_real(0)));
    const simd_real random = (simd_real)(r >> (CARRIER_BITS - CARRIER_MANTISSA) | (simd_bits)one) - one;
    const simd_real v = (t - a) / (b - a), left = one - random - c->half;
    *open = simd_either(*open, simd_at_most(simd_magnitude(v - left), c->band));
    return simd_less(left, v);
}

/* Values of numbers by the rule, one by one. */
FPEMU_SLOW void table_by_rule(const core_search *s, size_t n, const simd_real *t, const uint32_t *r, simd_real *y)
{
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, (const char *)t + i * sizeof u, sizeof u);
        v = core_codebook_value(&s->table, u, core_codebook_index(&s->table, u, r ? r[i] : 0));
        memcpy((char *)y + i * sizeof v, &v, sizeof v);
    }
}

SIMD_FN simd_real table_quotient(int scale, const table_constants *c, simd_real x)
{
#if SIMD_HAS_FUSED
    if (scale == TABLE_QUICK) {
        const simd_real q = x * c->inverse;
        return simd_fused(simd_fused(-q, c->down, x), c->inverse, q);
    }
#endif
    return scale == TABLE_ALONE ? x : x / c->down;
}

/* So many vectors; mode: FPEMU_MODE_RNE for every mode that goes by thresholds. Stage by stage: what waits for a gather
 * comes after that of all vectors. */
SIMD_FN void table_group(int scale, int small, int mode, const core_search *s, const table_constants *c, int vectors,
                         const char *from, const uint32_t *r, char *to)
{
    simd_real t[KERNEL_VECTORS], within[KERNEL_VECTORS], y[KERNEL_VECTORS], next[KERNEL_VECTORS],
        sum = simd_all_real(0);
    simd_bits index[KERNEL_VECTORS];
    simd_mask open = simd_less(sum, sum);
    const int steps = mode == FPEMU_MODE_RNE;
    EACH_OF(vectors)
    {
        t[k] = table_quotient(scale, c, simd_load(from + (size_t)k * SIMD_BYTES));
        sum += t[k];
        /* scales that core_search_scales takes leave no quotient far outside */
        within[k] = steps && (!small || scale == TABLE_QUICK) ? t[k] : simd_max(simd_min(t[k], c->high), c->low);
        index[k] = table_index(small, s, c, within[k]);
    }
    EACH_OF(vectors) y[k] = table_values(small, s, c, 0, index[k]);
    if (s->zero != UINT32_MAX) { /* zeros have a sign */
        const simd_bits sign = simd_all(CARRIER_SIGN);
        EACH_OF(vectors)
        y[k] = simd_select(simd_at_most(simd_magnitude(y[k]), simd_all_real(0)),
                           (simd_real)((simd_bits)y[k] | ((simd_bits)t[k] & sign)), y[k]);
    }
    if (!steps) {
        EACH_OF(vectors) next[k] = table_values(small, s, c, 1, index[k]);
        EACH_OF(vectors)
        {
            const simd_bits bits = !CORE_DRAWS(mode) ? simd_all(0) : simd_load_random(r + k * SIMD_LANES);
            y[k] = simd_select(table_up(mode, c, within[k], y[k], next[k], bits, &open), next[k], y[k]);
        }
        if (simd_any(simd_either(open, simd_differ(sum, sum))))
            table_by_rule(s, (size_t)(vectors * SIMD_LANES), t, r, y);
    } else if (!scale && simd_any(simd_differ(sum, sum))) { /* elements of blocks are finite */
        EACH_OF(vectors) y[k] = simd_select(simd_differ(t[k], t[k]), simd_by_sign(t[k], c->nan), y[k]);
    }
    EACH_OF(vectors)
    {
        simd_real z = scale ? y[k] * c->scale : y[k];
        if (scale == TABLE_DIVIDED) { /* an infinite product becomes the largest number */
            const simd_real most = simd_all_real(core_value(CARRIER_INF - 1));
            z = simd_max(simd_min(z, most), -most);
        }
        simd_store(to + (size_t)k * SIMD_BYTES, z);
    }
}

/* `count` blocks of `length` numbers, with scales, or numbers alone: count 1. */
SIMD_FN void table_blocks(int scale, int small, int mode, const core_search *s, size_t length, size_t count,
                          const realw *down, const realw *scales, const char *x, const uint32_t *r, char *y)
{
    enum { GROUP = KERNEL_VECTORS * SIMD_LANES };
    table_constants c = table_begin(s);
    for (size_t b = 0; b < count; b++) {
        if (scale) {
            c.down = simd_all_real(down[b]);
            c.inverse = simd_all_real(1 / down[b]);
            c.scale = simd_all_real(scales[b]);
        }
        for (size_t i = 0, m; i < length; i += m, x += m * sizeof(realw), y += m * sizeof(realw)) {
            const uint32_t *const bits = r ? r + b * length + i : NULL;
            m = length - i;
            if (m >= GROUP) {
                m = GROUP;
                table_group(scale, small, mode, s, &c, KERNEL_VECTORS, x, bits, y);
            } else {
                simd_real beside = simd_all_real(0);
                uint32_t some[SIMD_LANES] = {0};
                const int is_whole = m >= (size_t)SIMD_LANES;
                m = is_whole ? SIMD_LANES : m;
                if (!is_whole)
                    memcpy(&beside, x, m * sizeof(realw));
                if (!is_whole && bits)
                    memcpy(some, bits, m * sizeof *some);
                table_group(scale, small, mode, s, &c, 1, is_whole ? x : (char *)&beside, is_whole ? bits : some,
                            is_whole ? y : (char *)&beside);
                if (!is_whole)
                    memcpy(y, &beside, m * sizeof(realw));
            }
        }
    }
}

#define TABLE_BLOCKS(scale, small, mode)                                                                               \
    table_blocks(scale, small, mode, s, length, count, down, scales, (const char *)x, r, (char *)y)

/* Whatever has no constants below. */
static void loop_table_any(int scale, const core_search *s, size_t length, size_t count, const realw *down,
                           const realw *scales, const void *x, const uint32_t *r, void *y)
{
    TABLE_BLOCKS(scale, s->small, s->steps ? FPEMU_MODE_RNE : s->table.mode);
}

static int table_is_small_sr(const core_search *s)
{
    return s->small && CORE_DRAWS(s->table.mode) && s->table.mode != FPEMU_MODE_SE;
}

/* As the loops of struct carrier_loops. */
static void loop_table(const core_search *s, size_t length, const void *x, const uint32_t *r, void *y)
{
    const size_t count = 1;
    const realw *const down = NULL, *const scales = NULL;
    if (s->small && s->steps)
        TABLE_BLOCKS(TABLE_ALONE, 1, FPEMU_MODE_RNE);
    else if (s->steps)
        TABLE_BLOCKS(TABLE_ALONE, 0, FPEMU_MODE_RNE);
    else if (table_is_small_sr(s))
        TABLE_BLOCKS(TABLE_ALONE, 1, FPEMU_MODE_SR);
    else
        loop_table_any(TABLE_ALONE, s, length, count, down, scales, x, r, y);
}

static void loop_table_runs(const core_search *s, size_t length, size_t count, const realw *down, const realw *scales,
                            const void *x, const uint32_t *r, void *y)
{
    int quick = SIMD_HAS_FUSED && s->steps && s->quick;
    for (size_t b = 0; b < count; b++) /* divisors are scales, or infinite */
        quick &= core_search_scales(down[b]);
    if (quick && s->small)
        TABLE_BLOCKS(TABLE_QUICK, 1, FPEMU_MODE_RNE);
    else if (quick)
        TABLE_BLOCKS(TABLE_QUICK, 0, FPEMU_MODE_RNE);
    else if (table_is_small_sr(s))
        TABLE_BLOCKS(TABLE_DIVIDED, 1, FPEMU_MODE_SR);
    else
        loop_table_any(TABLE_DIVIDED, s, length, count, down, scales, x, r, y);
}
#undef TABLE_BLOCKS

static void loop_table_begin(core_search *s, const core_codebook *c)
{
    core_search_begin(s, c);
    s->small = SIMD_HAS_LOOK_UP && s->count <= 16;
    s->is_even = SIMD_HAS_LOOK_UP_32 && s->usable && core_search_even(s);
    if (!s->small)
        core_search_make(s);
}

/* Codes, of a NaN too, of KERNEL_VECTORS vectors. */
SIMD_FN void table_codes_group(int small, const core_search *s, const table_constants *c, const char *t, uint8_t *codes)
{
    enum { GROUP = KERNEL_VECTORS * SIMD_LANES };
    simd_real x[KERNEL_VECTORS], sum = simd_all_real(0);
    simd_bits index[KERNEL_VECTORS];
    EACH_VECTOR
    {
        x[k] = simd_load(t + (size_t)k * SIMD_BYTES);
        sum += x[k];
        index[k] = table_index(small, s, c, small ? simd_max(simd_min(x[k], c->high), c->low) : x[k]);
        index[k] &= small ? 15 : 255;
    }
    codes_store(1, index, (char *)codes);
    for (int l = 0; s->own && l < GROUP; l++) {
        uintw u;
        memcpy(&u, t + (size_t)l * sizeof u, sizeof u);
        codes[l] = u & CARRIER_SIGN && codes[l] == s->zero ? s->minus : s->codes[codes[l]];
    }
    for (int l = 0; simd_any(simd_differ(sum, sum)) && l < GROUP; l++) {
        realw v;
        memcpy(&v, t + (size_t)l * sizeof v, sizeof v);
        if (v != v)
            codes[l] = (uint8_t)s->nan_code[core_bits(v) >> (CARRIER_BITS - 1)];
    }
}

SIMD_FN void table_codes(int small, const core_search *s, size_t n, const char *t, uint8_t *codes)
{
    enum { GROUP = KERNEL_VECTORS * SIMD_LANES };
    const table_constants c = table_begin(s);
    const size_t whole = n - n % GROUP;
    for (size_t i = 0; i < whole; i += GROUP)
        table_codes_group(small, s, &c, t + i * sizeof(realw), codes + i);
    if (whole < n) {
        simd_real beside[KERNEL_VECTORS] = {simd_all_real(0)};
        uint8_t some[GROUP];
        memcpy(beside, t + whole * sizeof(realw), (n - whole) * sizeof(realw));
        table_codes_group(small, s, &c, (const char *)beside, some);
        memcpy(codes + whole, some, n - whole);
    }
}

static void loop_table_codes(const core_search *s, size_t n, const void *t, uint8_t *codes)
{
    if (s->small)
        table_codes(1, s, n, (const char *)t, codes);
    else
        table_codes(0, s, n, (const char *)t, codes);
}

/* How many finite numbers lie below `low` or above `high`. */
static uint64_t loop_count_outside(realw low, realw high, size_t n, const void *x)
{
    const char *in = (const char *)x;
    uintw count = 0;
#pragma omp simd reduction(+ : count)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const realw v = core_value(u), over = v < low ? low : v, kept = over > high ? high : over;
        ADD_IF(count, (uintw)(kept != v) & (uintw)(u << 1 >> 1 < CARRIER_INF));
    }
    return count;
}

/* How many finite elements lie outside the table; grid: all ones of a magnitude for those outside, or 0. */
static uint64_t loop_codebook_outside(const core_search *s, size_t n, const void *t, uintw *grid)
{
    const char *in = (const char *)t;
    const realw low = s->low, high = s->high;
    if (!grid)
        return loop_count_outside(low, high, n, t);
    SIMD for (size_t i = 0; i < n; i++) {
        realw x;
        memcpy(&x, in + i * sizeof x, sizeof x);
        grid[i] = (int)(x < low) | (int)(x > high) ? ~(uintw)0 >> 1 : 0;
    }
    return 0;
}

/* Values of codes, of as many bits as `length` values need, the others ignored; NaN of codes that stand for none. */
static void loop_codebook_values(const float *values, uint32_t length, size_t n, const void *codes, size_t size,
                                 void *y)
{
    char *out = (char *)y;
    realw all[CORE_SEARCH_VALUES];
    uint32_t mask = length - 1;
    for (int by = 1; by < 16; by *= 2)
        mask |= mask >> by;
    if (size == 1 && length <= CORE_SEARCH_VALUES && n >= CORE_SEARCH_VALUES) {
        const uint8_t *bytes = (const uint8_t *)codes;
        for (uint32_t k = 0; k < CORE_SEARCH_VALUES; k++)
            all[k] = (k & mask) < length ? (realw)values[k & mask] : core_value(CARRIER_NAN);
        SIMD for (size_t i = 0; i < n; i++) {
            const realw v = all[bytes[i]];
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t code = load_code(codes, size, i) & mask;
        const realw v = code < length ? (realw)values[code] : core_value(CARRIER_NAN);
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}
