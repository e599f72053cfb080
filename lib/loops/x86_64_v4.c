/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64_v4.c - the loops for x86-64-v4 (AVX-512). */
#include "unfortified.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512CD__)
#error "x86_64_v4.c is compiled with -march=x86-64-v4"
#endif
#ifdef HAVE_CONFIG_H
#include "variants.h"
#endif

#define KERNELS fpemu_kernels_v4
#define KERNELS_NAME "x86-64-v4"
#define KERNELS_VALID valid

#include "cpu.h"

/* The compiler's run-time asks the operating system as well as the processor. */
static inline int valid(void)
{
    return cpu_has_lzcnt() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
}

#include "variant.inc.c"

#if FPEMU_HAVE_VBMI

#include "vbmi.h"

static int valid_vbmi(void)
{
    return valid() && __builtin_cpu_supports("avx512vbmi");
}

static void codebook_vbmi(const core_search32 *s, size_t n, const void *t, void *y)
{
    if (s->planes.usable)
        fpemu_vbmi_codebook(&s->planes, s->nan, n, t, y);
    else
        few_codebook(s, n, t, y);
}

static void codebook_runs_vbmi(const core_search32 *s, size_t length, size_t count, const float *down,
                               const float *scales, const void *x, void *y)
{
    if (s->planes.usable)
        fpemu_vbmi_codebook_runs(&s->planes, length, count, down, scales, x, y);
    else
        few_codebook_runs(s, length, count, down, scales, x, y);
}

/* The planes of the nearest values, from which those on either side are found. */
static void codebook_nearest_planes(core_search32 *s, const core_codebook *c)
{
    core_search32 nearest;
    core_codebook table = *c;
    table.mode = FPEMU_MODE_RNE;
    core_search_begin32(&nearest, &table);
    if (nearest.usable && c->values[c->length - 1] - c->values[0] <= FLT_MAX)
        core_planes_make(&s->planes, &nearest);
}

static void codebook_random_vbmi(const core_search32 *s, size_t n, const void *t, const uint32_t *r, void *y)
{
    if (s->planes.usable)
        fpemu_vbmi_codebook_random(&s->planes, &s->table, n, t, r, y);
    else
        few_codebook_random(s, n, t, r, y);
}

static void codebook_random_runs_vbmi(const core_search32 *s, size_t length, size_t count, const float *down,
                                      const float *scales, const void *x, const uint32_t *r, void *y)
{
    float t[1024];
    if (!s->planes.usable) {
        few_codebook_random_runs(s, length, count, down, scales, x, r, y);
        return;
    }
    for (size_t b = 0, at = 0; b < count; b++)
        for (size_t done = 0, m; done < length; done += m, at += m) {
            char *const to = (char *)y + at * sizeof *t;
            m = length - done < 1024 ? length - done : 1024;
            loop_runs_t32(1, 0, m, 1, down + b, (const char *)x + at * sizeof *t, t);
            fpemu_vbmi_codebook_random(&s->planes, &s->table, m, t, r + at, to);
            loop_runs_y32(m, 1, scales + b, 1, to, to);
        }
}

/* Larger tables as bytes, which take no search in memory; so buckets are made for indices alone. */
static void codebook_begin_vbmi(core_search32 *s, const core_codebook *c, int only_values)
{
    if (only_values && c->length > 16) {
        core_search_begin32(s, c);
        if (s->usable && s->steps)
            core_planes_make(&s->planes, s);
        else if (s->usable && c->mode >= FPEMU_MODE_SR && c->mode != FPEMU_MODE_SE)
            codebook_nearest_planes(s, c);
        if (s->planes.usable)
            return;
    }
    few_codebook_begin(s, c, only_values);
}

PHILOX_SOURCE(philox_source_vbmi, fpemu_vbmi_philox)

static void philox_vbmi(uint64_t seed, uint64_t stream, int per_word, int n_bits, uint64_t first, size_t n, uint32_t *r)
{
    const word_source s = {.seed = seed,
                           .stream = stream,
                           .per_word = per_word,
                           .group = (size_t)128 << per_word,
                           .mask = (uint32_t)(~UINT64_C(0) << (32 - n_bits))};
    fill_groups(&s, philox_source_vbmi, first, n, r);
}

extern const carrier_loops32 LOOPS_OF(fpemu_vbmi, 32);
#define TABLE LOOPS_OF(fpemu_vbmi, 32)
#define TABLE_CODEBOOK codebook_vbmi
#define TABLE_CODEBOOK_CODES few_codebook_codes
#define TABLE_CODEBOOK_RANDOM codebook_random_vbmi
#define TABLE_CODEBOOK_RANDOM_RUNS codebook_random_runs_vbmi
#define TABLE_CODEBOOK_VALUES loop_codebook_values32
#define TABLE_CODEBOOK_RUNS codebook_runs_vbmi
#define TABLE_CODEBOOK_BEGIN codebook_begin_vbmi
#include "core/carrier32.h"
#include "table.inc.c"
#include "core/carrier_end.h"

#if PART == 0
const kernels fpemu_vbmi = KERNELS_TABLE("x86-64-v4-vbmi", valid_vbmi, &LOOPS_OF(fpemu_vbmi, 32), philox_vbmi);
#endif

#endif
