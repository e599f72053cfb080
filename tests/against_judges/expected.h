/* SPDX-License-Identifier: BSD-2-Clause */
/* expected.h - what the tests of operations share: the statistics that a judge's answers add up to, and roundings in
 * turn. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include "../judges/judge.h"
#include <math.h>

/* Counts the events of `times` elements. */
static inline void expect_events(fpemu_stats *e, uint32_t events, uint64_t times)
{
    e->clipped += times * ((events & JUDGE_CLIPPED) != 0);
    e->overflow += times * ((events & JUDGE_OVERFLOW) != 0);
    e->invalid += times * ((events & JUDGE_INVALID) != 0);
    e->underflow += times * ((events & JUDGE_UNDERFLOW) != 0);
    e->subnormal += times * ((events & JUDGE_SUBNORMAL) != 0);
    e->inexact += times * ((events & JUDGE_INEXACT) != 0);
}

/* The extrema with an element that is x, to nearest in binary64, and becomes y. */
static inline void expect_extrema(fpemu_stats *e, double x, double y)
{
    if (!isfinite(x))
        return;
    if (fabs(x) > e->max_abs)
        e->max_abs = fabs(x);
    if (x != 0 && (e->min_abs == 0 || fabs(x) < e->min_abs))
        e->min_abs = fabs(x);
    if (isfinite(y) && fabs(x - y) > e->max_error)
        e->max_error = fabs(x - y);
}

/* Rounding number i of a list that has every mode and variant; policies in turn. */
static inline int rounding_of(unsigned i, fpemu_rounding *r)
{
    static const struct {
        uint8_t mode, variant, bits;
    } list[] = {{FPEMU_MODE_RNE, 0, 0}, {FPEMU_MODE_RNA, 0, 0}, {FPEMU_MODE_RNZ, 0, 0}, {FPEMU_MODE_RTZ, 0, 0},
                {FPEMU_MODE_RAZ, 0, 0}, {FPEMU_MODE_RTP, 0, 0}, {FPEMU_MODE_RTN, 0, 0}, {FPEMU_MODE_RTO, 0, 0},
                {FPEMU_MODE_SE, 0, 0},  {FPEMU_MODE_SR, 0, 0},  {FPEMU_MODE_SR, 0, 27}, {FPEMU_MODE_SR, 0, 5},
                {FPEMU_MODE_SR, 1, 0},  {FPEMU_MODE_SR, 1, 14}, {FPEMU_MODE_SR, 2, 0},  {FPEMU_MODE_SR, 2, 8},
                {FPEMU_MODE_SR, 0, 28}, {FPEMU_MODE_SR, 2, 28}, {FPEMU_MODE_SR, 1, 27}};
    if (i >= sizeof list / sizeof *list)
        return 0;
    *r = fpemu_rounding_stochastic(20261120, i);
    r->mode = list[i].mode;
    r->variant = list[i].variant;
    r->bits = list[i].bits;
    r->overflow = (uint8_t)(1 + i % 3);
    return 1;
}

#endif
