/* kernels.inc.c - the array loops, written once and compiled per instruction set: kernels_portable.c, kernels_v3.c and
 * kernels_v4.c include this with KERNELS, KERNELS_NAME and KERNELS_VALID defined.
 *
 * Loops are laid out for the compiler's vectoriser: the plan is copied to a local, so that stores cannot alias it;
 * elements are read and written by memcpy, since the caller's arrays are floats and the rules work on bits; `omp simd`
 * promises that iterations are independent, which holds for x == y too. */

#include <math.h>

#include "internal.h"

#define SIMD _Pragma("omp simd")

/* Modes of the quick forms, and every mode of the grid step. */
#define QUICK_MODES(rule, LOOP)                                                                                        \
    LOOP(rule, FPEMU_RNE)                                                                                              \
    LOOP(rule, FPEMU_RNA)                                                                                              \
    LOOP(rule, FPEMU_RNZ)                                                                                              \
    LOOP(rule, FPEMU_RTZ)                                                                                              \
    LOOP(rule, FPEMU_RAZ)                                                                                              \
    LOOP(rule, FPEMU_RTP)                                                                                              \
    LOOP(rule, FPEMU_RTN)                                                                                              \
    LOOP(rule, FPEMU_RTO)                                                                                              \
    LOOP(rule, FPEMU_SR)                                                                                               \
    LOOP(rule, FPEMU_SE)

#define MODES(rule, LOOP)                                                                                              \
    QUICK_MODES(rule, LOOP)                                                                                            \
    LOOP(rule, CORE_SR_B)                                                                                              \
    LOOP(rule, CORE_SR_C)

static void fill_hash(core_hash_key k, int share, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    if (share == 0) {
        const uint32_t low = (uint32_t)first, mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits));
        SIMD for (size_t i = 0; i < n; i++) r[i] = core_hash_word(k, low + (uint32_t)i) & mask;
        return;
    }
    for (size_t i = 0; i < n; i++)
        r[i] = core_field_top(share, n_bits, core_hash_word(k, (uint32_t)core_word_index(share, first + i)),
                              core_field_shift(share, first + i));
}

static void fill_philox(uint64_t seed, uint64_t stream, int share, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    uint32_t words[128];
    const uint64_t span = UINT64_C(128) << share; /* elements that 128 words, 32 counters, serve */
    for (size_t i = 0; i < n;) {
        const uint64_t group = (first + i) / span;
        for (unsigned lane = 0; lane < 32; lane++) {
            uint32_t out[4];
            core_philox(seed, stream, group * 32 + lane, out);
            for (unsigned o = 0; o < 4; o++)
                words[o * 32 + lane] = out[o];
        }
        for (; i < n && (first + i) / span == group; i++)
            r[i] = core_field_top(share, n_bits, words[core_word_index(share, first + i) & 127],
                                  core_field_shift(share, first + i));
    }
}

#define CORE_W 32
#define UINT uint32_t
#define INF 0x7f800000u
#define PLAN core_plan32
#define CODER core_coder32
#define CORE(name) core_##name##32
#define LOOP(name) name##_32
#include "loops.inc.c"
#undef CORE_W
#undef UINT
#undef INF
#undef PLAN
#undef CODER
#undef CORE
#undef LOOP

#define CORE_W 64
#define UINT uint64_t
#define INF (UINT64_C(0x7ff) << 52)
#define PLAN core_plan64
#define CODER core_coder64
#define CORE(name) core_##name##64
#define LOOP(name) name##_64
#include "loops.inc.c"
#undef CORE_W
#undef UINT
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

const kernels KERNELS = {
    KERNELS_NAME,
    KERNELS_VALID,
    {[CORE_RULE_FLOAT] = {MODES(float, ENTRY_32)},
     [CORE_RULE_ANY] = {MODES(any, ENTRY_32)},
     [CORE_RULE_FLAT] = {QUICK_MODES(flat, ENTRY_32)},
     [CORE_RULE_FLAT_ENDS] = {QUICK_MODES(flat_ends, ENTRY_32)},
     [CORE_RULE_MAGIC] = {QUICK_MODES(magic, ENTRY_32)},
     [CORE_RULE_MAGIC_ENDS] = {QUICK_MODES(magic_ends, ENTRY_32)},
     [CORE_RULE_POSIT] = {round_posit_FPEMU_RNE_32},
     [CORE_RULE_SCALED] = {MODES(scaled, ENTRY_32)}},
    {[CORE_RULE_FLOAT] = {MODES(float, ENTRY_64)},
     [CORE_RULE_ANY] = {MODES(any, ENTRY_64)},
     [CORE_RULE_POSIT] = {round_posit_FPEMU_RNE_64}},
    finish_32,
    finish_64,
    count_32,
    count_64,
    fill_hash,
    fill_philox,
    {exact_add, exact_sub, exact_mul, exact_div, exact_sqrt, exact_fma, exact_minimum, exact_maximum,
     exact_minimum_number, exact_maximum_number},
    widen,
    narrow,
    encode_32,
    encode_64,
    decode_32,
    decode_64,
    fma_odd,
    round_nearest,
    round_stochastic,
    fma_nearest,
#define MAC_SUMS(form, product)                                                                                        \
    [form] = {[MAC_FLAT] = mac_##product##_flat,                                                                       \
              [MAC_ENDS] = mac_##product##_ends,                                                                       \
              [MAC_INF] = mac_##product##_inf,                                                                         \
              [MAC_SAT] = mac_##product##_sat}
    {MAC_SUMS(MAC_NONE, none), MAC_SUMS(MAC_FLAT, flat), MAC_SUMS(MAC_ENDS, ends), MAC_SUMS(MAC_INF, inf),
     MAC_SUMS(MAC_SAT, sat)},
    mac_binary32,
    mac_binary64,
    fused_sum,
};
