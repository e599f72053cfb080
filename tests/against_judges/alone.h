/* SPDX-License-Identifier: BSD-2-Clause */
/* alone.h - what array calls give against each element by itself, whose call follows the rules step by step. Each
 * function stops at the first element that differs. */
#ifndef ALONE_H
#define ALONE_H

#include "../judges/longhand.h"

/* Whether element i of y is the carrier's number v. */
static inline int alone_is(int carrier, const void *y, size_t i, double v)
{
    const float f = (float)v;
    return carrier == 32 ? memcmp((const char *)y + i * sizeof f, &f, sizeof f) == 0
                         : memcmp((const char *)y + i * sizeof v, &v, sizeof v) == 0;
}

/* y: of x. stats: NULL, or what y alone was counted in; clipped is looked at of integers in binary64. */
static inline void alone_values(const char *name, const fpemu_format *f, const fpemu_rounding *r, int carrier, size_t n,
                                const void *x, const void *y, const fpemu_stats *stats)
{
    uint64_t inexact = 0, underflow = 0, clipped = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = lh_at(carrier, x, i);
        const double one =
            carrier == 32 ? (double)fpemu_quantize_one_f32(f, r, (float)v, i) : fpemu_quantize_one_f64(f, r, v, i);
        if (!lh_check(alone_is(carrier, y, i, one),
                      "%s mode %u carrier %d: element %zu of %zu, %a, became %a, alone %a", name, r->mode, carrier, i,
                      n, v, lh_at(carrier, y, i), one))
            return;
        inexact += isfinite(v) && !(one == v);
        underflow += isfinite(v) && v != 0 && one == 0;
        clipped += isfinite(v) && (v > f->max || v < f->lowest);
    }
    lh_check(!stats || (stats->count == n && stats->inexact == inexact && stats->underflow == underflow &&
                        (carrier == 32 || f->kind != FPEMU_KIND_INT || stats->clipped == clipped)),
             "%s mode %u carrier %d: counters of %zu elements", name, r->mode, carrier, n);
}

/* codes: of x. */
static inline void alone_codes(const char *name, const fpemu_format *f, const fpemu_rounding *r, int carrier, size_t n,
                               const void *x, const void *codes)
{
    for (size_t i = 0; i < n; i++) {
        const double v = lh_at(carrier, x, i);
        const uint64_t code = code_at(codes, fpemu_format_code_size(f), i);
        const uint64_t one = carrier == 32 ? fpemu_encode_one_f32(f, r, (float)v, i) : fpemu_encode_one_f64(f, r, v, i);
        if (!lh_check(code == one, "%s mode %u carrier %d: element %zu of %zu, %a: code %llx, alone %llx", name,
                      r->mode, carrier, i, n, v, (unsigned long long)code, (unsigned long long)one))
            return;
    }
}

/* y: of codes. */
static inline void alone_decoded(const char *name, const fpemu_format *f, int carrier, size_t n, const void *codes,
                                 const void *y)
{
    const size_t size = fpemu_format_code_size(f);
    for (size_t i = 0; i < n; i++) {
        const uint64_t code = code_at(codes, size, i);
        const double one = carrier == 32 ? (double)fpemu_decode_one_f32(f, code) : fpemu_decode_one_f64(f, code);
        if (!lh_check(alone_is(carrier, y, i, one), "%s carrier %d: code %llx, %zu of %zu, is read as %a, alone %a",
                      name, carrier, (unsigned long long)code, i, n, lh_at(carrier, y, i), one))
            return;
    }
}

#endif
