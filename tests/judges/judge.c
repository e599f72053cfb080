/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - the common door of the two judges. */
#include "judge.h"

judge *judge_open(judge_kind kind, const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier)
{
    return kind == JUDGE_MPFR ? judge_open_mpfr(format, rounding, carrier) : judge_open_slow(format, rounding, carrier);
}

judge *judge_open_any(const fpemu_format *format, const fpemu_rounding *rounding, unsigned carrier)
{
    judge *j = judge_open_mpfr(format, rounding, carrier);
    return j ? j : judge_open_slow(format, rounding, carrier);
}

judge_kind judge_kind_of(const judge *j)
{
    return j->kind;
}

void judge_close(judge *j)
{
    if (j)
        j->close(j);
}

judge_result judge_round(judge *j, uint64_t x, uint32_t random, int want_code)
{
    return j->round(j, x, random, want_code);
}

uint64_t judge_decode(judge *j, uint64_t code)
{
    return j->decode(j, code);
}
