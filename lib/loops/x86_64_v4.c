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

/* Bytes whose values have their low 16 bits clear are looked up; a table costs as much as some hundred codes. */
static void decode_vbmi(const core_coder32 *c, size_t n, const void *codes, size_t size, int streaming, void *y)
{
    uint8_t all[256], low[256], high[256];
    uint32_t values[256], longer = 0;
    if (size != 1 || n < 512) {
        loop_decode32(c, n, codes, size, streaming, y);
        return;
    }
    for (unsigned code = 0; code < 256; code++)
        all[code] = (uint8_t)code;
    loop_decode32(c, 256, all, 1, 0, values);
    for (unsigned code = 0; code < 256; code++) {
        low[code] = (uint8_t)(values[code] >> 16);
        high[code] = (uint8_t)(values[code] >> 24);
        longer |= values[code] & 0xffffu;
    }
    if (longer)
        loop_decode32(c, n, codes, size, streaming, y);
    else
        fpemu_vbmi_decode(low, high, n, (const uint8_t *)codes, streaming, y);
}

/* The same of words. */
static int decode_words_vbmi(const core_coder32 *c, int bfloat, size_t n, const uint8_t *codes, uint16_t *y)
{
    uint8_t all[256], low[256], high[256];
    float values[256];
    uint16_t words[256];
    if (n < 512)
        return 0;
    for (unsigned code = 0; code < 256; code++)
        all[code] = (uint8_t)code;
    loop_decode32(c, 256, all, 1, 0, values);
    (bfloat ? exact_bf16 : exact_f16)(256, values, words);
    for (unsigned code = 0; code < 256; code++) {
        low[code] = (uint8_t)words[code];
        high[code] = (uint8_t)(words[code] >> 8);
    }
    fpemu_vbmi_decode_words(low, high, n, codes, y);
    return 1;
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
#define TABLE_DECODE decode_vbmi
#include "core/carrier32.h"
#include "table.inc.c"
#include "core/carrier_end.h"

#define PACK_TABLE_VBMI {[4] = fpemu_vbmi_pack_4, [6] = fpemu_vbmi_pack_6, [8] = fpemu_vbmi_pack_8}

#if PART == 0
const kernels fpemu_vbmi = KERNELS_TABLE("x86-64-v4-vbmi", valid_vbmi, &LOOPS_OF(fpemu_vbmi, 32), philox_vbmi,
                                         decode_words_vbmi, fpemu_vbmi_unpack_8, PACK_TABLE_VBMI);
#endif

#endif
