/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.inc.c - rounding to a table, for one carrier; included by variant.inc.c for each. The rule is
 * core_codebook_index; what stands here is its search in core/codebook_fast.h, over arrays. */

/* Elements whose buckets are found, by vectors, before any is looked up. */
#define CODEBOOK_TILE 256

/* The buckets of n <= CODEBOOK_TILE numbers; returns whether one is a NaN. */
FPEMU_FN int codebook_buckets(const core_search *s, size_t n, const char *t, uint32_t *buckets)
{
    const uint32_t least = s->least, most = s->most, shift = s->shift, first = s->first, half = s->half;
    uintw largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        uintw u;
        memcpy(&u, t + i * sizeof u, sizeof u);
        const uint32_t pattern = core_search_pattern(core_value(u));
        const uint32_t a = core_search_magnitude(pattern, least, most);
        const uintw magnitude = u << 1 >> 1;
        largest = magnitude > largest ? magnitude : largest;
        buckets[i] = (a >> shift) - first + ((uint32_t) - (int32_t)(pattern >> 31) & half);
    }
    return largest > CARRIER_INF;
}

static void loop_codebook(const core_search *s, size_t n, const void *t, void *y)
{
    const char *in = (const char *)t;
    char *out = (char *)y;
    for (size_t done = 0, m; done < n; done += m, in += m * sizeof(realw), out += m * sizeof(realw)) {
        uint32_t buckets[CODEBOOK_TILE];
        m = n - done < CODEBOOK_TILE ? n - done : CODEBOOK_TILE;
        const int nan = codebook_buckets(s, m, in, buckets);
        for (size_t i = 0; i < m; i++) {
            realw x;
            memcpy(&x, in + i * sizeof x, sizeof x);
            uint32_t k = s->base[buckets[i]];
            k += (uint32_t)(x > s->thresholds[k]);
            const realw v = nan && x != x ? core_value(s->nan[core_bits(x) >> (CARRIER_BITS - 1)]) : s->values[k];
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
    }
}

static void loop_codebook_index(const core_search *s, size_t n, const void *t, const uint32_t *r, void *y, uintw *grid,
                                int64_t *q)
{
    const char *in = (const char *)t;
    char *out = (char *)y;
    const realw low = s->values[0], high = s->values[s->table.length - 1];
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        const uint32_t k = core_search_index(s, u, r ? r[i] : 0);
        const realw x = core_value(u);
        v = core_codebook_value(&s->table, u, k);
        memcpy(out + i * sizeof v, &v, sizeof v);
        grid[i] = x < low || x > high ? ~(uintw)0 >> 1 : 0;
        q[i] = k;
    }
}

static void loop_codebook_runs(const core_search *s, size_t length, size_t count, const realw *down,
                               const realw *scales, const void *x, void *y)
{
    for (size_t b = 0; b < count; b++) {
        for (size_t done = 0, m; done < length; done += m) {
            _Alignas(LINE) realw tile[CODEBOOK_TILE];
            const size_t at = (b * length + done) * sizeof(realw);
            m = length - done < CODEBOOK_TILE ? length - done : CODEBOOK_TILE;
            loop_runs_t(1, 0, m, 1, down + b, (const char *)x + at, tile);
            loop_codebook(s, m, tile, tile);
            loop_runs_y(m, 1, scales + b, 1, tile, (char *)y + at);
        }
    }
}

static void loop_codebook_begin(core_search *s, const core_codebook *c, int only_values)
{
    (void)only_values;
    core_search_begin(s, c);
    core_search_make(s);
}
#undef CODEBOOK_TILE
