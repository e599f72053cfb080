/* kernels.inc.c - the array loops, written once and compiled per instruction set: kernels_portable.c, kernels_v3.c and
 * kernels_v4.c include this with KERNELS, KERNELS_NAME and KERNELS_VALID defined.
 *
 * Loops are laid out for the compiler's vectoriser: the plan is copied to a local, so that stores cannot alias it;
 * elements are read and written by memcpy, since the caller's arrays are floats and the rules work on bits; `omp simd`
 * promises that iterations are independent, which holds for x == y too.
 *
 * Included once more with KERNELS_AGAIN defined, it makes only another table of the same loops, with KERNELS_PHILOX and
 * KERNELS_DECODE for two of them. */

#ifndef KERNELS_AGAIN

#include <math.h>

#include "internal.h"
#include "stream.h"

#define SIMD _Pragma("omp simd")

/* Adds 1 to n if `condition`, in the form that becomes the fewest instructions. */
#ifdef __AVX512F__
#define ADD_IF(n, condition) n = (condition) ? n + 1 : n
#else
#define ADD_IF(n, condition) n += (condition)
#endif

/* Modes of the quick forms, and every mode of the grid step. */
#define QUICK_MODES(rule, LOOP)                                                                                        \
    LOOP(rule, FPEMU_MODE_RNE)                                                                                              \
    LOOP(rule, FPEMU_MODE_RNA)                                                                                              \
    LOOP(rule, FPEMU_MODE_RNZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_RAZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTP)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTN)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTO)                                                                                              \
    LOOP(rule, FPEMU_MODE_SR)                                                                                               \
    LOOP(rule, FPEMU_MODE_SE)

/* Those that core_choose_quick… takes with CORE_RULE_MAGIC_PASS and CORE_RULE_MAGIC_STOP_INF. */
#define PASS_MODES(rule, LOOP)                                                                                         \
    LOOP(rule, FPEMU_MODE_RNE)                                                                                              \
    LOOP(rule, FPEMU_MODE_RNA)                                                                                              \
    LOOP(rule, FPEMU_MODE_RNZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_RAZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_SR)                                                                                               \
    LOOP(rule, FPEMU_MODE_SE)

#define STOP_INF_MODES(rule, LOOP)                                                                                     \
    LOOP(rule, FPEMU_MODE_RNE)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTZ)                                                                                              \
    LOOP(rule, FPEMU_MODE_RTO)

#define MODES(rule, LOOP)                                                                                              \
    QUICK_MODES(rule, LOOP)                                                                                            \
    LOOP(rule, CORE_SR_B)                                                                                              \
    LOOP(rule, CORE_SR_C)

/* A source of random words, and what elements take of them. Elements come in whole groups: those that share 32 words of
 * the hash, or the 128 words of 32 counters. */
typedef struct word_source {
    core_hash_key key;
    uint64_t seed, stream;
    int share;
    uint32_t mask; /* of n bits, left-aligned */
    size_t group;
} word_source;

/* Fields of word l of 32, of which r + l takes the first. */
FPEMU_FN void share_out(int share, uint32_t mask, uint32_t word, uint32_t *r)
{
    for (int field = 0; field < 1 << share; field++)
        r[field * 32] = (word << (32 - (field + 1) * (32 >> share))) & mask; /* what is lower goes with the mask */
}

FPEMU_FN void hash_groups(const word_source *s, int share, uint64_t first, size_t n, uint32_t *r)
{
    const core_hash_key k = s->key;
    const uint32_t mask = s->mask;
    uint32_t low = (uint32_t)core_word_index(share, first);
    for (size_t i = 0; i < n; i += (size_t)32 << share, low += 32) {
        const uint32_t lead = core_hash_lead(k, low); /* low is a multiple of 32 */
        SIMD for (uint32_t l = 0; l < 32; l++)
            share_out(share, mask, core_hash_rest(k, (low + l) ^ lead), r + i + l);
    }
}

static void hash_source(const word_source *s, uint64_t first, size_t n, uint32_t *r)
{
    if (s->share == 1)
        hash_groups(s, 1, first, n, r);
    else
        hash_groups(s, 2, first, n, r);
}

/* The words of 32 counters from `counter` on: first the first of each. */
static void philox_words(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words)
{
    SIMD for (uint32_t l = 0; l < 32; l++)
        core_philox_begin(stream, counter + l, words + l, words + 32 + l, words + 64 + l, words + 96 + l);
    for (uint32_t round = 0; round < 10; round++) {
        SIMD for (uint32_t l = 0; l < 32; l++)
            core_philox_round(seed, round, words + l, words + 32 + l, words + 64 + l, words + 96 + l);
    }
}

FPEMU_FN void philox_groups(const word_source *s, int share, uint64_t first, size_t n, uint32_t *r,
                            void (*make)(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t *words))
{
    const uint32_t mask = s->mask;
    uint64_t counter = first / s->group * 32;
    for (size_t i = 0; i < n; i += s->group, counter += 32) {
        _Alignas(LINE) uint32_t words[128];
        make(s->seed, s->stream, counter, words);
        for (size_t k = 0; k < 4; k++) {
            uint32_t *to = r + i + (k * 32 << share);
            const uint32_t *from = words + k * 32;
            SIMD for (uint32_t l = 0; l < 32; l++) share_out(share, mask, from[l], to + l);
        }
    }
}

#define PHILOX_SOURCE(name, make)                                                                                      \
    static void name(const word_source *s, uint64_t first, size_t n, uint32_t *r)                                      \
    {                                                                                                                  \
        switch (s->share) {                                                                                            \
        case 0: philox_groups(s, 0, first, n, r, make); break;                                                         \
        case 1: philox_groups(s, 1, first, n, r, make); break;                                                         \
        default: philox_groups(s, 2, first, n, r, make);                                                               \
        }                                                                                                              \
    }
PHILOX_SOURCE(philox_source, philox_words)

/* Elements from `first` on, whole groups or not. */
static void fill_groups(const word_source *s, void (*make)(const word_source *, uint64_t, size_t, uint32_t *),
                        uint64_t first, size_t n, uint32_t *r)
{
    uint32_t part[512];
    while (n > 0) {
        const size_t from = (size_t)first & (s->group - 1), rest = s->group - from, left = n < rest ? n : rest;
        const size_t whole = from ? 0 : n & ~(s->group - 1), m = whole ? whole : left;
        if (whole) {
            make(s, first, whole, r);
        } else {
            make(s, first - from, s->group, part);
            memcpy(r, part + from, m * sizeof *r);
        }
        first += m;
        r += m;
        n -= m;
    }
}

static void fill_hash(core_hash_key k, int share, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const uint32_t mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits));
    if (share) {
        const word_source s = {.key = k, .share = share, .mask = mask, .group = (size_t)32 << share};
        fill_groups(&s, hash_source, first, n, r);
        return;
    }
    uint32_t low = (uint32_t)first;
    for (size_t i = 0, m; i < n; i += m, r += m, low += (uint32_t)m) {
        const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));
        m = n - i < words ? n - i : words;
        const uint32_t lead = core_hash_lead(k, low), end = (uint32_t)m; /* vectors of 64-bit indices would cost */
        if (n_bits == 32) {
            SIMD for (uint32_t l = 0; l < end; l++) r[l] = core_hash_rest(k, (low + l) ^ lead);
        } else {
            SIMD for (uint32_t l = 0; l < end; l++) r[l] = core_hash_rest(k, (low + l) ^ lead) & mask;
        }
    }
}

static void stream(void *to, const void *from, size_t size)
{
    stream_tile(to, from, size);
}

static void fill_philox(uint64_t seed, uint64_t stream, int share, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const word_source s = {.seed = seed, .stream = stream, .share = share, .group = (size_t)128 << share,
                           .mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits))};
    fill_groups(&s, philox_source, first, n, r);
}

#define CORE_W 32
#define UINT uint32_t
#define SINT int32_t
#define INF 0x7f800000u
#define PLAN core_plan32
#define CODER core_coder32
#define CORE(name) core_##name##32
#define LOOP(name) name##_32
#define REAL float
#include "elements.inc.c"
#include "blocks.inc.c"
#include "blocks_pow2.inc.c"
#undef REAL
#undef CORE_W
#undef UINT
#undef SINT
#undef INF
#undef PLAN
#undef CODER
#undef CORE
#undef LOOP

#ifdef __AVX2__
#include "stochastic.inc.c"
#endif
#if defined(__AVX512F__) || defined(__F16C__)
#include "binary16.inc.c"
#define HALF half_nearest
#else
#define HALF NULL
#endif

#define CORE_W 64
#define UINT uint64_t
#define SINT int64_t
#define INF (UINT64_C(0x7ff) << 52)
#define PLAN core_plan64
#define CODER core_coder64
#define CORE(name) core_##name##64
#define LOOP(name) name##_64
#define REAL double
#include "elements.inc.c"
#include "blocks.inc.c"
#include "blocks_pow2.inc.c"
#undef REAL
#undef CORE_W
#undef UINT
#undef SINT
#undef INF
#undef PLAN
#undef CODER
#undef CORE
#undef LOOP

/* Exact results; `zero` is the sign of a zero sum of mixed signs. */
#define EXACT_LOOP(name, to_nearest, to_odd)                                                                           \
    static void exact_##name(size_t n, const double *a, const double *b, const double *c, uint64_t zero_sign,          \
                             double *nearest, double *odd)                                                             \
    {                                                                                                                  \
        const uint64_t zero = zero_sign;                                                                               \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        (void)zero;                                                                                                    \
        SIMD for (size_t i = 0; i < n; i++)                                                                            \
        {                                                                                                              \
            const double s = (to_nearest), t = (to_odd);                                                               \
            nearest[i] = s;                                                                                            \
            odd[i] = t != t ? core_value64(CORE_INF64 | CORE_INF64 >> 1) : t;                                          \
        }                                                                                                              \
    }
#define EXTREMUM(larger, number) core_value64(core_extremum(core_bits64(a[i]), core_bits64(b[i]), larger, number))

EXACT_LOOP(add, a[i] + b[i], core_sum_odd(a[i], b[i], zero))
EXACT_LOOP(sub, a[i] - b[i], core_sum_odd(a[i], -b[i], zero))
EXACT_LOOP(mul, a[i] * b[i], s)
EXACT_LOOP(div, a[i] / b[i], core_ratio_odd(a[i], b[i]))
EXACT_LOOP(sqrt, sqrt(a[i]), core_root_odd(a[i], s))
EXACT_LOOP(fma, a[i] * b[i] + c[i], core_sum_odd(a[i] * b[i], c[i], zero))
EXACT_LOOP(minimum, EXTREMUM(0, 0), s)
EXACT_LOOP(maximum, EXTREMUM(1, 0), s)
EXACT_LOOP(minimum_number, EXTREMUM(0, 1), s)
EXACT_LOOP(maximum_number, EXTREMUM(1, 1), s)
#undef EXTREMUM
#undef EXACT_LOOP

static void widen(size_t n, const float *x, double *y)
{
    SIMD for (size_t i = 0; i < n; i++) y[i] = (double)x[i];
}

static void narrow(size_t n, const double *x, float *y)
{
    SIMD for (size_t i = 0; i < n; i++) y[i] = (float)x[i];
}

#include "dot.inc.c"

#define ENTRY_32(rule, mode) [mode] = round_##rule##_##mode##_32,
#define ENTRY_64(rule, mode) [mode] = round_##rule##_##mode##_64,
#define QUICK_32(kind, mode) [mode] = quick_##kind##_##mode##_32,
#define QUICK_64(kind, mode) [mode] = quick_##kind##_##mode##_64,
#define MAC_SUMS(form, product)                                                                                        \
    [form] = {[MAC_FLAT] = mac_##product##_flat,                                                                       \
              [MAC_ENDS] = mac_##product##_ends,                                                                       \
              [MAC_INF] = mac_##product##_inf,                                                                         \
              [MAC_SAT] = mac_##product##_sat}
#if defined(__AVX512F__)
#define DRAWN                                                                                                          \
    {[CORE_RULE_FLAT] = drawn_flat, [CORE_RULE_MAGIC_PASS] = drawn_pass, [CORE_RULE_MAGIC_STOP] = drawn_stop,          \
     [CORE_RULE_EVEN] = drawn_even}
#elif defined(__AVX2__)
#define DRAWN {[CORE_RULE_MAGIC_PASS] = drawn_pass, [CORE_RULE_MAGIC_STOP] = drawn_stop}
#else
#define DRAWN {NULL}
#endif
#define KERNELS_PHILOX fill_philox
#define KERNELS_DECODE decode_32
#endif

const kernels KERNELS = {
    KERNELS_NAME,
    KERNELS_VALID,
    {[CORE_RULE_FLOAT] = {MODES(float, ENTRY_32)},
     [CORE_RULE_ANY] = {MODES(any, ENTRY_32)},
     [CORE_RULE_FLAT] = {QUICK_MODES(flat, ENTRY_32)},
     [CORE_RULE_FLAT_GRID] = {QUICK_MODES(flat_grid, ENTRY_32)},
     [CORE_RULE_MAGIC_PASS] = {PASS_MODES(pass, ENTRY_32)},
     [CORE_RULE_MAGIC_STOP] = {QUICK_MODES(stop, ENTRY_32)},
     [CORE_RULE_MAGIC_STOP_INF] = {STOP_INF_MODES(stop_inf, ENTRY_32)},
     [CORE_RULE_MAGIC_GRID] = {QUICK_MODES(magic_grid, ENTRY_32)},
     [CORE_RULE_EVEN] = {QUICK_MODES(even, ENTRY_32)},
     [CORE_RULE_POSIT] = {round_posit_FPEMU_MODE_RNE_32},
     [CORE_RULE_SCALED] = {MODES(scaled, ENTRY_32)}},
    {[CORE_RULE_FLOAT] = {MODES(float, ENTRY_64)},
     [CORE_RULE_ANY] = {MODES(any, ENTRY_64)},
     [CORE_RULE_FLAT] = {QUICK_MODES(flat, ENTRY_64)},
     [CORE_RULE_FLAT_GRID] = {QUICK_MODES(flat_grid, ENTRY_64)},
     [CORE_RULE_MAGIC_PASS] = {PASS_MODES(pass, ENTRY_64)},
     [CORE_RULE_MAGIC_STOP] = {QUICK_MODES(stop, ENTRY_64)},
     [CORE_RULE_MAGIC_STOP_INF] = {STOP_INF_MODES(stop_inf, ENTRY_64)},
     [CORE_RULE_MAGIC_GRID] = {QUICK_MODES(magic_grid, ENTRY_64)},
     [CORE_RULE_EVEN] = {QUICK_MODES(even, ENTRY_64)},
     [CORE_RULE_POSIT] = {round_posit_FPEMU_MODE_RNE_64},
     [CORE_RULE_SCALED] = {MODES(scaled, ENTRY_64)}},
    finish_32,
    finish_64,
    count_32,
    count_64,
    count_inside_32,
    count_inside_64,
    count_nonzero_32,
    count_nonzero_64,
    fill_hash,
    KERNELS_PHILOX,
    DRAWN,
    HALF,
    stream,
    {exact_add, exact_sub, exact_mul, exact_div, exact_sqrt, exact_fma, exact_minimum, exact_maximum,
     exact_minimum_number, exact_maximum_number},
    widen,
    narrow,
    encode_32,
    encode_64,
    encode_nearest_32,
    encode_nearest_64,
    KERNELS_DECODE,
    decode_64,
    extremes_32,
    extremes_64,
    logarithms_32,
    logarithms_64,
    scale_t_32,
    scale_t_64,
    scale_y_32,
    scale_y_64,
    count_element_32,
    count_element_64,
    runs_amax_32,
    runs_amax_64,
    runs_t_32,
    runs_t_64,
    runs_y_32,
    runs_y_64,
    runs_scales_32,
    runs_scales_64,
    runs_down_32,
    runs_down_64,
    {{{scaled_stop_times_nearest_32, scaled_stop_times_stochastic_32},
      {scaled_stop_by_nearest_32, scaled_stop_by_stochastic_32}},
     {{scaled_even_times_nearest_32, scaled_even_times_stochastic_32},
      {scaled_even_by_nearest_32, scaled_even_by_stochastic_32}}},
    {{{scaled_stop_times_nearest_64, scaled_stop_times_stochastic_64},
      {scaled_stop_by_nearest_64, scaled_stop_by_stochastic_64}},
     {{scaled_even_times_nearest_64, scaled_even_times_stochastic_64},
      {scaled_even_by_nearest_64, scaled_even_by_stochastic_64}}},
    runs_lean_32,
    runs_lean_64,
    {{{lean_stop_times_32, lean_stop_by_32}, {lean_even_times_32, lean_even_by_32}},
     {{lean_stop_times_inside_32, lean_stop_by_inside_32}, {lean_even_times_inside_32, lean_even_by_inside_32}}},
    {{{lean_stop_times_64, lean_stop_by_64}, {lean_even_times_64, lean_even_by_64}},
     {{lean_stop_times_inside_64, lean_stop_by_inside_64}, {lean_even_times_inside_64, lean_even_by_inside_64}}},
    quick_powers_32,
    quick_powers_64,
    quick_spread_32,
    quick_spread_64,
    {quick_rows_float_32, quick_rows_fixed_32},
    {quick_rows_float_64, quick_rows_fixed_64},
    {{QUICK_MODES(float, QUICK_32)}, {QUICK_MODES(fixed, QUICK_32)}},
    {{QUICK_MODES(float, QUICK_64)}, {QUICK_MODES(fixed, QUICK_64)}},
    {count_quick_float_32, count_quick_fixed_32},
    {count_quick_float_64, count_quick_fixed_64},
    columns_amax_32,
    columns_amax_64,
    fma_odd,
    round_nearest,
    round_stochastic,
    fma_nearest,
    {MAC_SUMS(MAC_NONE, none), MAC_SUMS(MAC_FLAT, flat), MAC_SUMS(MAC_ENDS, ends), MAC_SUMS(MAC_INF, inf),
     MAC_SUMS(MAC_SAT, sat)},
    {mac_none_inside, mac_inside_inside},
    largest,
    mac_binary32,
    mac_binary64,
    DOT_FMA,
    fused_sum,
};
