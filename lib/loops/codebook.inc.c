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
        buckets[i] = (a >> shift) - first + ((uint32_t)-(int32_t)(pattern >> 31) & half);
    }
    return largest > CARRIER_INF;
}

/* How many thresholds lie below x, whose bucket is given. */
FPEMU_FN uint32_t codebook_count(const core_search *s, uint32_t bucket, realw x)
{
    const uint32_t k = s->base[bucket];
    return k + (uint32_t)(x > s->thresholds[k]);
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
            const uint32_t k = codebook_count(s, buckets[i], x);
            const realw v = nan && x != x ? core_value(s->nan[core_bits(x) >> (CARRIER_BITS - 1)]) : s->values[k];
            memcpy(out + i * sizeof v, &v, sizeof v);
        }
    }
}

/* Indices, of a NaN too. */
static void loop_codebook_codes(const core_search *s, size_t n, const void *t, uint8_t *codes)
{
    const char *in = (const char *)t;
    for (size_t done = 0, m; done < n; done += m, in += m * sizeof(realw)) {
        uint32_t buckets[CODEBOOK_TILE];
        m = n - done < CODEBOOK_TILE ? n - done : CODEBOOK_TILE;
        const int nan = codebook_buckets(s, m, in, buckets);
        for (size_t i = 0; i < m; i++) {
            realw x;
            memcpy(&x, in + i * sizeof x, sizeof x);
            const uint32_t k = codebook_count(s, buckets[i], x);
            codes[done + i] = (uint8_t)(nan && x != x ? s->nan_index[core_bits(x) >> (CARRIER_BITS - 1)] : k);
        }
    }
}

/* y of those among n elements that are NaN, by the rule. */
static void loop_codebook_patch(const core_search *s, size_t n, const char *in, const uint32_t *r, char *out)
{
    for (size_t i = 0; i < n; i++) {
        uintw u, v;
        memcpy(&u, in + i * sizeof u, sizeof u);
        if (u << 1 >> 1 <= CARRIER_INF)
            continue;
        v = core_codebook_value(&s->table, u, core_codebook_index(&s->table, u, r ? r[i] : 0));
        memcpy(out + i * sizeof v, &v, sizeof v);
    }
}

#define RANDOM(mode)                                                                                                   \
    SIMD for (size_t i = 0; i < m; i++) {                                                                              \
        realw x;                                                                                                       \
        memcpy(&x, in + i * sizeof x, sizeof x);                                                                       \
        x = x > high ? high : x;                                                                                       \
        const realw v = core_search_up(mode, n_bits, x, a[i], b[i], r[done + i]) ? b[i] : a[i];                        \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }                                                                                                                  \
    break

/* y in the modes whose results do not follow from t alone; y apart from t. */
static void loop_codebook_random(const core_search *s, size_t n, const void *t, const uint32_t *r, void *y)
{
    const char *in = (const char *)t;
    char *out = (char *)y;
    const realw high = s->values[CORE_SEARCH_VALUES];
    const int n_bits = s->table.n;
    for (size_t done = 0, m; done < n; done += m, in += m * sizeof(realw), out += m * sizeof(realw)) {
        uint32_t buckets[CODEBOOK_TILE];
        realw a[CODEBOOK_TILE], b[CODEBOOK_TILE];
        m = n - done < CODEBOOK_TILE ? n - done : CODEBOOK_TILE;
        const int nan = codebook_buckets(s, m, in, buckets);
        for (size_t i = 0; i < m; i++) {
            realw x;
            memcpy(&x, in + i * sizeof x, sizeof x);
            const uint32_t k = codebook_count(s, buckets[i], x);
            a[i] = s->values[k];
            b[i] = s->values[k + 1];
        }
        switch (s->table.mode) {
        case FPEMU_MODE_SR: RANDOM(FPEMU_MODE_SR);
        case CORE_SR_B: RANDOM(CORE_SR_B);
        case CORE_SR_C: RANDOM(CORE_SR_C);
        case FPEMU_MODE_SE: RANDOM(FPEMU_MODE_SE);
        default: /* FPEMU_MODE_RTZ, across zero */
            for (size_t i = 0; i < m; i++) {
                realw x;
                memcpy(&x, in + i * sizeof x, sizeof x);
                const realw v = x < 0 && x > a[i] && x < b[i] ? b[i] : a[i];
                memcpy(out + i * sizeof v, &v, sizeof v);
            }
        }
        if (nan)
            loop_codebook_patch(s, m, in, r ? r + done : NULL, out);
    }
}
#undef RANDOM

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
    const realw low = s->values[0], high = s->values[CORE_SEARCH_VALUES];
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

#if defined(__AVX2__) && CARRIER_BITS == 32
/* What the count of thresholds in buckets below says: the next one, and the values on its sides. By hand: the compiler
 * finds no other way to load it than number by number. */
typedef struct codebook_entry {
    float threshold, below, above, unused;
} codebook_entry;

/* The values nearest to eight numbers in these buckets. */
FPEMU_FN __m256 codebook_eight(const uint8_t *base, const codebook_entry *entries, const uint32_t *buckets, __m256 t)
{
    __m256 e[4];
    for (int i = 0; i < 4; i++)
        e[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(&entries[base[buckets[i]]].threshold)),
                                    _mm_loadu_ps(&entries[base[buckets[i + 4]]].threshold), 1);
    const __m256d low0 = _mm256_castps_pd(_mm256_unpacklo_ps(e[0], e[1]));
    const __m256d low1 = _mm256_castps_pd(_mm256_unpacklo_ps(e[2], e[3]));
    const __m256d high0 = _mm256_castps_pd(_mm256_unpackhi_ps(e[0], e[1]));
    const __m256d high1 = _mm256_castps_pd(_mm256_unpackhi_ps(e[2], e[3]));
    const __m256 threshold = _mm256_castpd_ps(_mm256_unpacklo_pd(low0, low1));
    return _mm256_blendv_ps(_mm256_castpd_ps(_mm256_unpackhi_pd(low0, low1)),
                            _mm256_castpd_ps(_mm256_unpacklo_pd(high0, high1)),
                            _mm256_cmp_ps(t, threshold, _CMP_GT_OQ));
}

/* In a function of its own: callers with other loops would share its place on the stack. */
static __attribute__((noinline)) void loop_codebook_runs(const core_search *s, size_t length, size_t count,
                                                         const realw *down, const realw *scales, const void *x, void *y)
{
    const char *in = (const char *)x;
    char *out = (char *)y;
    const __m256 most = _mm256_set1_ps(FLT_MAX), least = _mm256_set1_ps(-FLT_MAX);
    codebook_entry entries[CORE_SEARCH_VALUES];
    for (int k = 0; k < CORE_SEARCH_VALUES; k++)
        entries[k] = (codebook_entry){s->thresholds[k], s->values[k], s->values[k + 1], 0};
    for (size_t b = 0; b < count; b++) {
        const __m256 scale = _mm256_set1_ps(scales[b]);
        for (size_t done = 0, m; done < length; done += m, in += m * sizeof(float), out += m * sizeof(float)) {
            _Alignas(LINE) float tile[CODEBOOK_TILE];
            uint32_t buckets[CODEBOOK_TILE];
            m = length - done < CODEBOOK_TILE ? length - done : CODEBOOK_TILE;
            loop_runs_t32(1, 0, m, 1, down + b, in, tile);
            (void)codebook_buckets32(s, m, (const char *)tile, buckets);
            memset(buckets + m, 0, (0 - m) % 8 * sizeof *buckets);
            memset(tile + m, 0, (0 - m) % 8 * sizeof *tile);
            for (size_t i = 0; i < m; i += 8) {
                const __m256 t = _mm256_load_ps(tile + i);
                const __m256 wide = _mm256_mul_ps(codebook_eight(s->base, entries, buckets + i, t), scale);
                const __m256 finite = _mm256_max_ps(_mm256_min_ps(wide, most), least);
                if (i + 8 <= m) {
                    _mm256_storeu_ps((float *)(void *)(out + i * sizeof(float)), finite);
                } else {
                    _mm256_store_ps(tile, finite);
                    memcpy(out + i * sizeof(float), tile, (m - i) * sizeof(float));
                }
            }
        }
    }
}
#else
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
#endif

static void loop_codebook_random_runs(const core_search *s, size_t length, size_t count, const realw *down,
                                      const realw *scales, const void *x, const uint32_t *r, void *y)
{
    for (size_t b = 0; b < count; b++) {
        for (size_t done = 0, m; done < length; done += m) {
            _Alignas(LINE) realw tile[CODEBOOK_TILE], rounded[CODEBOOK_TILE];
            const size_t first = b * length + done, at = first * sizeof(realw);
            m = length - done < CODEBOOK_TILE ? length - done : CODEBOOK_TILE;
            loop_runs_t(1, 0, m, 1, down + b, (const char *)x + at, tile);
            loop_codebook_random(s, m, tile, r + first, rounded);
            loop_runs_y(m, 1, scales + b, 1, rounded, (char *)y + at);
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
