/* SPDX-License-Identifier: BSD-2-Clause */
/* variant.inc.c - the array loops, written once and compiled for each instruction set: portable.c, x86_64_v3.c and
 * x86_64_v4.c include this with KERNELS (the table), KERNELS_NAME and KERNELS_VALID defined.
 *
 * Each is compiled in five parts, side by side: by itself; with PART 32 or 64 by the files named ..._f32.c and
 * ..._f64.c, which make the table of one carrier; and with KERNEL_PART too, the kernel of that carrier. The compiler
 * drops the functions that a part's tables do not lead to.
 *
 * Loops are laid out for the compiler's vectoriser: the plan is copied to a local, so that stores cannot alias it;
 * elements are read and written by memcpy, since the caller's arrays are floats and the rules work on bits; `omp simd`
 * promises that iterations are independent, which holds for x == y too. */

#include <fenv.h>
#include <math.h>

#include "loops.h"
#include "core/pack.h"
#include "stream.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#ifndef PART
#define PART 0
#endif

#define PART_OF(kernels, part, bits) PART_NAME(kernels, part, bits)
#define PART_NAME(kernels, part, bits) kernels##part##bits
extern const carrier_loops32 PART_OF(KERNELS, _loops, 32);
extern const carrier_loops64 PART_OF(KERNELS, _loops, 64);

#define SIMD _Pragma("omp simd")

/* out[i] = value, which is of u, the bits of in[i], for n elements. */
#define EACH_ELEMENT(value)                                                                                            \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        uintw u, v;                                                                                                    \
        memcpy(&u, in + i * sizeof u, sizeof u);                                                                       \
        v = value;                                                                                                     \
        memcpy(out + i * sizeof v, &v, sizeof v);                                                                      \
    }

/* Adds 1 to n if `condition`, in the form that becomes the fewest instructions. */
#ifdef __AVX512F__
#define ADD_IF(n, condition) n = (condition) ? n + 1 : n
#else
#define ADD_IF(n, condition) n += (condition)
#endif

/* The modes: those for which a loop is compiled, and those that one loop reads at run time, CORE_MODE_READ. */
#define OWN_MODES(rule, LOOP)                                                                                          \
    LOOP(rule, FPEMU_MODE_RNE)                                                                                         \
    LOOP(rule, FPEMU_MODE_SR)                                                                                          \
    LOOP(rule, FPEMU_MODE_SE)

#define READ_MODES(rule, LOOP)                                                                                         \
    LOOP(rule, FPEMU_MODE_RNA)                                                                                         \
    LOOP(rule, FPEMU_MODE_RNZ)                                                                                         \
    LOOP(rule, FPEMU_MODE_RTZ)                                                                                         \
    LOOP(rule, FPEMU_MODE_RAZ)                                                                                         \
    LOOP(rule, FPEMU_MODE_RTP)                                                                                         \
    LOOP(rule, FPEMU_MODE_RTN)                                                                                         \
    LOOP(rule, FPEMU_MODE_RTO)                                                                                         \
    LOOP(rule, FPEMU_MODE_RNP)

/* All that the fast forms have, and the other two stochastic variants. */
#define FAST_MODES(rule, LOOP) OWN_MODES(rule, LOOP) READ_MODES(rule, LOOP)
#define VARIANTS(rule, LOOP) LOOP(rule, CORE_SR_B) LOOP(rule, CORE_SR_C)
#define MODES(rule, LOOP) FAST_MODES(rule, LOOP) VARIANTS(rule, LOOP)

/* The loops of a rule, and their table. */
#define EACH_LOOP(rule, LOOP) OWN_MODES(rule, LOOP) VARIANTS(rule, LOOP) LOOP(rule, CORE_MODE_READ)
#define EACH_MODE(rule) OWN_MODES(rule, MODE_OWN) VARIANTS(rule, MODE_OWN) READ_MODES(rule, MODE_READ)
#define MODE_OWN(rule, mode) [mode] = CARRIER(loop_round_##rule##_##mode),
#define MODE_READ(rule, mode) [mode] = CARRIER(loop_round_##rule##_CORE_MODE_READ),

/* A source of random words, and what elements take of them. Elements come in whole groups: those of 32 words of the
 * hash, or the 128 words of 32 counters. */
typedef struct word_source {
    core_hash_key key;
    uint64_t seed, stream;
    int per_word;
    uint32_t mask; /* of n bits, left-aligned */
    size_t group;
} word_source;

/* Fields of word l of 32, of which r + l takes the first. */
FPEMU_FN void spread_word(int per_word, uint32_t mask, uint32_t word, uint32_t *r)
{
    for (int field = 0; field < 1 << per_word; field++)
        r[field * 32] = (word << (32 - (field + 1) * (32 >> per_word))) & mask; /* what is lower goes with the mask */
}

FPEMU_FN void hash_groups(const word_source *s, int per_word, uint64_t first, size_t n, uint32_t *r)
{
    const core_hash_key k = s->key;
    const uint32_t mask = s->mask;
    uint32_t low = (uint32_t)core_word_index(per_word, first);
    for (size_t i = 0; i < n; i += (size_t)32 << per_word, low += 32) {
        const uint32_t lead = core_hash_lead(k, low); /* low is a multiple of 32 */
        SIMD for (uint32_t l = 0; l < 32; l++)
            spread_word(per_word, mask, core_hash_rest(k, (low + l) ^ lead), r + i + l);
    }
}

static void hash_source(const word_source *s, uint64_t first, size_t n, uint32_t *r)
{
    if (s->per_word == 1)
        hash_groups(s, 1, first, n, r);
    else
        hash_groups(s, 2, first, n, r);
}

#ifdef __AVX512F__
#include "simd/philox.h"
#else
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
#endif

FPEMU_FN void philox_groups(const word_source *s, int per_word, uint64_t first, size_t n, uint32_t *r)
{
    const uint32_t mask = s->mask;
    uint64_t counter = first / s->group * 32;
    for (size_t i = 0; i < n; i += s->group, counter += 32) {
        _Alignas(LINE) uint32_t words[128];
        philox_words(s->seed, s->stream, counter, words);
        for (size_t k = 0; k < 4; k++) {
            uint32_t *to = r + i + (k * 32 << per_word);
            const uint32_t *from = words + k * 32;
            SIMD for (uint32_t l = 0; l < 32; l++)
                spread_word(per_word, mask, from[l], to + l);
        }
    }
}

static void philox_source(const word_source *s, uint64_t first, size_t n, uint32_t *r)
{
    switch (s->per_word) {
    case 0: philox_groups(s, 0, first, n, r); break;
    case 1: philox_groups(s, 1, first, n, r); break;
    default: philox_groups(s, 2, first, n, r);
    }
}

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

static void fill_hash(core_hash_key k, int per_word, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const uint32_t mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits));
    if (per_word) {
        const word_source s = {.key = k, .per_word = per_word, .mask = mask, .group = (size_t)32 << per_word};
        fill_groups(&s, hash_source, first, n, r);
        return;
    }
    uint32_t low = (uint32_t)first;
    for (size_t i = 0, m; i < n; i += m, r += m, low += (uint32_t)m) {
        const size_t words = CORE_LEAD_WORDS - (low & (CORE_LEAD_WORDS - 1));
        m = n - i < words ? n - i : words;
        const uint32_t lead = core_hash_lead(k, low), end = (uint32_t)m; /* vectors of 64-bit indices would cost */
        if (n_bits == 32) {
            SIMD for (uint32_t l = 0; l < end; l++)
                r[l] = core_hash_rest(k, (low + l) ^ lead);
        } else {
            SIMD for (uint32_t l = 0; l < end; l++)
                r[l] = core_hash_rest(k, (low + l) ^ lead) & mask;
        }
    }
}

static void stream(void *to, const void *from, size_t size)
{
    stream_tile(to, from, size);
}

static void fill_philox(uint64_t seed, uint64_t stream, int per_word, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const word_source s = {.seed = seed,
                           .stream = stream,
                           .per_word = per_word,
                           .group = (size_t)128 << per_word,
                           .mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits))};
    fill_groups(&s, philox_source, first, n, r);
}

#define TABLE PART_OF(KERNELS, _loops, CARRIER_BITS)
#define INSTANCES PART_OF(KERNELS, _kernel, CARRIER_BITS)
#include "core/carrier32.h"
#if PART != 64
#include "simd/simd.h"
#include "narrow.inc.c"
#endif
#include "elements.inc.c"
#include "settings.inc.c"
#include "blocks.inc.c"
#if PART == 32 && defined(KERNEL_PART)
#include "kernel/kernel.inc.c"
#elif PART == 32
#include "kernel/runs.inc.c"
#include "kernel/codes.inc.c"
#include "kernel/table.inc.c"
#include "steps.inc.c"
#endif
#include "operations.inc.c"
#include "table.inc.c"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#if PART == 64
#include "simd/simd.h"
#endif
#include "elements.inc.c"
#include "settings.inc.c"
#include "blocks.inc.c"
#if PART == 64 && defined(KERNEL_PART)
#include "kernel/kernel.inc.c"
#elif PART == 64
#include "kernel/runs.inc.c"
#include "kernel/codes.inc.c"
#include "kernel/table.inc.c"
#include "steps.inc.c"
#include "sums.inc.c"
#endif
#include "operations.inc.c"
#include "table.inc.c"
#include "core/carrier_end.h"
#undef TABLE
#undef INSTANCES

#if PART == 0
#if defined(__FMA__) || defined(__aarch64__)
#define DOT_FMA 1
#define DOT_FUSED(x, y, s) __builtin_fma(x, y, s)
#else
#define DOT_FMA 0
#define DOT_FUSED(x, y, s) ((s) + (x) * (y)) /* where products are exact */
#endif
#ifdef __SSE4_1__
#define DOT_CUT(x) __builtin_trunc(x)
#else
#define DOT_CUT(x) core_dot_cut(x)
#endif

/* Exact results; `zero` is the sign of a zero sum of mixed signs. */
#define EXACT_LOOP(name, to_nearest, to_odd)                                                                           \
    static void exact_##name(size_t n, const double *a, const double *b, const double *c, uint64_t zero_sign,          \
                             double *nearest, double *odd)                                                             \
    {                                                                                                                  \
        const uint64_t zero = zero_sign;                                                                               \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        (void)zero;                                                                                                    \
        SIMD for (size_t i = 0; i < n; i++) {                                                                          \
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
EXACT_LOOP(fma, DOT_FUSED(a[i], b[i], c[i]), core_sum_odd(a[i] * b[i], c[i], zero))
EXACT_LOOP(minimum, EXTREMUM(0, 0), s)
EXACT_LOOP(maximum, EXTREMUM(1, 0), s)
EXACT_LOOP(minimum_number, EXTREMUM(0, 1), s)
EXACT_LOOP(maximum_number, EXTREMUM(1, 1), s)
#undef EXTREMUM
#undef EXACT_LOOP

static void widen(size_t n, const float *x, double *y)
{
    SIMD for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
}

static void narrow(size_t n, const double *x, float *y)
{
    SIMD for (size_t i = 0; i < n; i++)
        y[i] = (float)x[i];
}

#include "dot.inc.c"

#define MAC_SUMS(form, product)                                                                                        \
    [form] = {[MAC_FULL_RANGE] = mac_##product##_full_range,                                                           \
              [MAC_ENDS] = mac_##product##_ends,                                                                       \
              [MAC_INF] = mac_##product##_inf,                                                                         \
              [MAC_SAT] = mac_##product##_sat}

#define CARRIER(name) name##32 /* of affine32 */
const kernels KERNELS = {
    .name = KERNELS_NAME,
    .valid = KERNELS_VALID,
    .loops32 = &PART_OF(KERNELS, _loops, 32),
    .loops64 = &PART_OF(KERNELS, _loops, 64),
    .hash = fill_hash,
    .philox = fill_philox,
    .stream = stream,
    .exact = {[FPEMU_OPERATION_ADD] = exact_add,
              [FPEMU_OPERATION_SUB] = exact_sub,
              [FPEMU_OPERATION_MUL] = exact_mul,
              [FPEMU_OPERATION_DIV] = exact_div,
              [FPEMU_OPERATION_SQRT] = exact_sqrt,
              [FPEMU_OPERATION_FMA] = exact_fma,
              [FPEMU_OPERATION_MINIMUM] = exact_minimum,
              [FPEMU_OPERATION_MAXIMUM] = exact_maximum,
              [FPEMU_OPERATION_MINIMUM_NUMBER] = exact_minimum_number,
              [FPEMU_OPERATION_MAXIMUM_NUMBER] = exact_maximum_number},
    .affine32 = {EACH_MODE(affine_wide)},
    .widen = widen,
    .narrow = narrow,
    .widen16 = {widen_f16, widen_bf16},
    .narrow16 = {narrow_f16, narrow_bf16},
    .exact16 = {exact_f16, exact_bf16},
    .extremes16 = {extremes_f16, extremes_bf16},
    .spread = spread,
    .mac32 = {MAC_SUMS(MAC_NONE, none), MAC_SUMS(MAC_FULL_RANGE, full_range), MAC_SUMS(MAC_ENDS, ends),
              MAC_SUMS(MAC_INF, inf), MAC_SUMS(MAC_SAT, sat)},
    .mac_inside = {mac_none_inside, mac_inside_inside},
    .largest = largest,
    .mac_binary32 = mac_binary32,
    .mac_binary64 = mac_binary64,
    .mac_saturated = mac_saturated,
    .wrap = wrap,
    .has_fma = DOT_FMA,
    .take_powers = take_powers,
};
#endif
#undef CARRIER
