/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.h - what the right answer is, said by somebody else.
 *
 * Two judges behind one interface, sharing no code with the library and none with each other:
 *
 *   slow  the written definitions in integers of any length (GMP): every format, mode and policy
 *   mpfr  GNU MPFR: float and fixed-point formats in the modes MPFR has
 *
 * Of fpemu_format they read the parameters only (kind ... zero_point), never what fpemu_format_complete derives, so a wrong
 * derivation cannot hide behind itself. Carrier values travel as bit patterns: 32 or 64 bits, right-aligned.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "../common.h"
#include <fpemu.h>

typedef enum judge_kind { JUDGE_SLOW, JUDGE_MPFR } judge_kind;

/* Events of one element, named as the counters of fpemu_stats. */
enum {
    JUDGE_CLIPPED = 1,
    JUDGE_OVERFLOW = 2,
    JUDGE_INVALID = 4,
    JUDGE_UNDERFLOW = 8,
    JUDGE_SUBNORMAL = 16,
    JUDGE_INEXACT = 32
};

typedef struct judge_result {
    uint64_t bits;   /* value to value: the carrier's bits */
    uint64_t code;   /* value to code, when asked for; else 0 */
    uint32_t events; /* the same for both */
} judge_result;

typedef struct judge judge;

/* A judge of one format, rounding and carrier (32 or 64); NULL where this judge has no opinion: the carrier cannot
 * hold the format, the mode is not defined for it, or MPFR lacks it. Compatibility settings have no judge here. */
judge *judge_open(judge_kind kind, const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier);
/* MPFR where it has an opinion, else the slow judge. */
judge *judge_open_any(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier);
judge_kind judge_kind_of(const judge *j);
void judge_close(judge *j);

/* x: bits of the carrier; random: R, the N random bits of the element (ignored by the modes that need none). */
judge_result judge_round(judge *j, uint64_t x, uint32_t random, int want_code);
/* The value of a code as bits of the carrier; NaN is the canonical one. */
uint64_t judge_decode(judge *j, uint64_t code);

/* For the judges themselves. */
struct judge {
    judge_kind kind;
    judge_result (*round)(judge *j, uint64_t x, uint32_t random, int want_code);
    uint64_t (*decode)(judge *j, uint64_t code);
    void (*close)(judge *j);
};

judge *judge_open_slow(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier);
judge *judge_open_mpfr(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier);

#endif
