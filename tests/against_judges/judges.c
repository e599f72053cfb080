/* SPDX-License-Identifier: BSD-2-Clause */
/* judges.c - the judges judged, without the library: against the constants printed in the format reference, against
 * each other. */
#include "../judges/bits.h"
#include "../judges/formats.h"
#include "../judges/judge.h"
#include "../list.h"
#include "points.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long failures, comparisons;

static const char *const mode_names[] = {"rne", "rna", "rnz", "rtz", "raz", "rtp", "rtn", "rto", "sr", "se"};

static void fail(const char *what, const char *format, const char *detail)
{
    if (failures++ < 20)
        printf("FAIL %s: %s: %s\n", what, format, detail);
}

/* ---------------------------------------------------------------------------- constants of the reference */

/* Section 1: largest value, its code, smallest normal and positive values, codes of NaN and infinity. */
static void check_constants(judge_kind kind, const ref_format *r)
{
    static const fpemu_rounding nearest;
    judge *j = judge_open(kind, &r->f, &nearest, 64);
    double max = 0, min_positive = INFINITY, v;
    uint64_t nans = 0, infs = 0, code;
    char text[160];

    if (!j)
        return;
    if (lh_double(judge_decode(j, r->max_code)) != r->max)
        fail("code of the largest value", r->spec, "");
    if (r->f.bits <= 19) {
        for (code = 0; code < UINT64_C(1) << r->f.bits; code++) {
            v = lh_double(judge_decode(j, code));
            nans += isnan(v) != 0;
            infs += isinf(v) != 0;
            if (isfinite(v) && v > max)
                max = v;
            if (isfinite(v) && v > 0 && v < min_positive)
                min_positive = v;
        }
        snprintf(text, sizeof text, "max %a min_positive %a nan %" PRIu64 " inf %" PRIu64, max, min_positive, nans,
                 infs);
        if (max != r->max || min_positive != r->min_positive || nans != r->nan_codes || infs != r->inf_codes)
            fail("constants", r->spec, text);
    }
    if (r->f.kind == FPEMU_KIND_FLOAT) {
        int below = r->min_normal > r->min_positive;
        judge_result at = judge_round(j, lh_double_bits(r->min_normal), 0, 1);
        judge_result under = judge_round(j, lh_double_bits(r->min_normal * 0.75), 0, 0);
        if (at.bits != lh_double_bits(r->min_normal) || (at.events & JUDGE_SUBNORMAL))
            fail("smallest normal value", r->spec, "");
        if (below && r->f.mantissa_bits > 1 && !(under.events & JUDGE_SUBNORMAL))
            fail("below the smallest normal value", r->spec, "");
    }
    judge_close(j);
}

/* Sections 2.1, 1.3, 1.4, 1.8, 2.4: single conversions; NAN and INFINITY as results. */
static const struct conversion {
    const char *spec;
    int mode, policy;
    double x, y;
    int64_t code; /* -1: not stated */
} conversions[] = LIST(
    {"binary16", FPEMU_MODE_RNE, 1, 65520, INFINITY, 0x7c00},
    {"binary16", FPEMU_MODE_RNE, 1, 0x1.ffdffffffffffp15, 65504, 0x7bff},
    {"binary16", FPEMU_MODE_RNE, 2, 65520, 65504, 0x7bff},
    {"bfloat16", FPEMU_MODE_RNE, 1, 511 * 0x1p119, INFINITY, 0x7f80},
    {"bfloat16", FPEMU_MODE_RNE, 2, 511 * 0x1p119, 255 * 0x1p120, 0x7f7f},
    {"tf32", FPEMU_MODE_RNE, 1, 4095 * 0x1p116, INFINITY, -1},
    {"binary32", FPEMU_MODE_RNE, 1, 33554431 * 0x1p103, INFINITY, 0x7f800000},
    {"e5m2", FPEMU_MODE_RNE, 1, 61440, INFINITY, 0x7c}, {"e5m2", FPEMU_MODE_RNE, 2, 61440, 57344, 0x7b},
    {"e5m2", FPEMU_MODE_RNE, 3, 61440, 57344, 0x7b}, {"e5m2", FPEMU_MODE_RNE, 3, INFINITY, INFINITY, 0x7c},
    {"e5m2", FPEMU_MODE_RNE, 2, INFINITY, 57344, 0x7b}, {"e5m2", FPEMU_MODE_RNE, 1, NAN, NAN, 0x7f},
    {"e4m3fn", FPEMU_MODE_RNE, 1, 464, 448, 0x7e}, {"e4m3fn", FPEMU_MODE_RNE, 1, 0x1.d000000000001p8, NAN, 0x7f},
    {"e4m3fn", FPEMU_MODE_RNE, 2, 0x1.d000000000001p8, 448, 0x7e}, {"e4m3fn", FPEMU_MODE_RNE, 1, -INFINITY, NAN, 0x7f},
    {"e4m3fn", FPEMU_MODE_RNE, 2, -INFINITY, -448, 0xfe}, {"e4m3fn", FPEMU_MODE_RTZ, 1, 1e30, 448, 0x7e},
    {"e4m3fn", FPEMU_MODE_RTP, 1, 1e30, NAN, 0x7f}, {"e4m3fn", FPEMU_MODE_RTP, 1, -1e30, -448, 0xfe},
    {"e4m3fn", FPEMU_MODE_RTN, 1, 1e30, 448, 0x7e}, {"e4m3fn", FPEMU_MODE_RTN, 1, -1e30, NAN, 0x7f},
    {"e4m3fn", FPEMU_MODE_RNA, 1, 464, NAN, 0x7f}, {"e4m3fn", FPEMU_MODE_RNZ, 1, 464, 448, 0x7e},
    {"e4m3fn", FPEMU_MODE_RAZ, 1, 449, NAN, 0x7f}, {"e4m3fn", FPEMU_MODE_RTO, 1, 449, 448, 0x7e},
    {"e4m3fn", FPEMU_MODE_RNE, 1, -431.99999999999994, -416, 0xfd}, {"e4m3fn", FPEMU_MODE_RNE, 1, -432, -448, 0xfe},
    {"e4m3fn", FPEMU_MODE_RNE, 1, 0x1p-10, 0, 0x00}, {"e4m3fn", FPEMU_MODE_RNE, 1, -0x1p-10, -0.0, 0x80},
    {"e4m3fn", FPEMU_MODE_RTP, 1, -1e-30, -0.0, 0x80}, {"e4m3", FPEMU_MODE_RNE, 1, 248, INFINITY, 0x78},
    {"e3m4", FPEMU_MODE_RNE, 1, 15.75, INFINITY, 0x70}, {"e4m3fnuz", FPEMU_MODE_RNE, 1, 248, NAN, 0x80},
    {"e4m3fnuz", FPEMU_MODE_RNE, 1, -0.0, 0, 0x00}, {"e4m3fnuz", FPEMU_MODE_RNE, 1, -0x1p-20, 0, 0x00},
    {"e5m2fnuz", FPEMU_MODE_RNE, 1, 61440, NAN, 0x80}, {"e4m3b11fnuz", FPEMU_MODE_RNE, 1, 31, NAN, 0x80},
    {"e3m2", FPEMU_MODE_RNE, 1, 30, 28, 0x1f}, {"e2m3", FPEMU_MODE_RNE, 1, 1e9, 7.5, 0x1f},
    {"e2m1", FPEMU_MODE_RNE, 1, 7, 6, 7}, {"e2m1", FPEMU_MODE_RNE, 1, 0.25, 0, 0},
    {"e2m1", FPEMU_MODE_RNE, 1, 0.75, 1, 2}, {"e2m1", FPEMU_MODE_RNE, 1, 1.25, 1, 2},
    {"e2m1", FPEMU_MODE_RNE, 1, 1.75, 2, 4}, {"e2m1", FPEMU_MODE_RNE, 1, 2.5, 2, 4},
    {"e2m1", FPEMU_MODE_RNE, 1, 3.5, 4, 6}, {"e2m1", FPEMU_MODE_RNE, 1, -5, -4, 14},
    {"e2m1", FPEMU_MODE_RNE, 1, -INFINITY, -6, 15}, {"e2m1", FPEMU_MODE_RNE, 1, NAN, NAN, 7},
    {"fp(4,3,4)", FPEMU_MODE_RNE, 1, 31, 30, 0x7f}, {"fp(5,2,0)", FPEMU_MODE_RNE, 1, 1e9, 114688, 0x7f},
    {"fp(6,9,0)", FPEMU_MODE_RNE, 1, 8585740288, 8581545984, 0x7fff},
    {"dlfloat16", FPEMU_MODE_RNA, 1, 8577351680, NAN, 0x7fff},
    {"dlfloat16", FPEMU_MODE_RNA, 1, 8577351679, 8573157376, 0x7ffe},
    {"dlfloat16", FPEMU_MODE_RNA, 2, 8577351680, 8573157376, 0x7ffe},
    {"dlfloat16", FPEMU_MODE_RNA, 1, 0x1.004p-31, 513 * 0x1p-40, 0x0001},
    {"dlfloat16", FPEMU_MODE_RNA, 1, -0x1.003ffp-31, -0.0, 0x8000},
    {"dlfloat16", FPEMU_MODE_RAZ, 1, 0x1p-31, 0, 0x0000}, {"dlfloat16", FPEMU_MODE_RAZ, 1, 0x1.fffffp-32, 0, 0x0000},
    {"dlfloat16", FPEMU_MODE_RAZ, 1, 0x1.00001p-31, 513 * 0x1p-40, 0x0001},
    {"p3109(8,4,se)", FPEMU_MODE_RNE, 1, 232, 224, 0x7e}, {"p3109(8,4,se)", FPEMU_MODE_RNE, 1, 232.5, INFINITY, 0x7f},
    {"p3109(8,4,se)", FPEMU_MODE_RNE, 1, -232.5, -INFINITY, 0xff},
    {"p3109(8,4,se)", FPEMU_MODE_RTO, 1, 225, INFINITY, 0x7f}, {"p3109(8,4,se)", FPEMU_MODE_RTO, 3, 225, 224, 0x7e},
    {"p3109(8,3,se)", FPEMU_MODE_RNE, 1, 53248, 49152, 0x7e}, {"p3109(8,4,sf)", FPEMU_MODE_RNE, 1, 248, 240, 0x7f},
    {"p3109(8,4,sf)", FPEMU_MODE_RNE, 1, INFINITY, 240, 0x7f}, {"p3109(8,4,sf)", FPEMU_MODE_RNE, 1, NAN, NAN, 0x80},
    {"p3109(8,3,ue)", FPEMU_MODE_RNE, 1, -INFINITY, NAN, 0xff}, {"p3109(8,3,ue)", FPEMU_MODE_RNE, 3, -INFINITY, 0, 0},
    {"p3109(8,3,ue)", FPEMU_MODE_RNE, 1, -1, NAN, 0xff}, {"p3109(8,3,ue)", FPEMU_MODE_RTZ, 1, -1, 0, 0},
    {"p3109(8,3,ue)", FPEMU_MODE_RTP, 1, -1, 0, 0}, {"p3109(8,3,ue)", FPEMU_MODE_RTO, 1, 0x1p40, 5 * 0x1p29, 0xfd},
    {"p3109(8,3,ue)", FPEMU_MODE_RNE, 1, -0x1p-34, 0, 0}, {"ue4m3", FPEMU_MODE_RNE, 1, -1, NAN, 0x7f},
    {"ue4m3", FPEMU_MODE_RNE, 2, -1, 0, 0}, {"e8m0", FPEMU_MODE_RNE, 1, 0, 0x1p-127, 0},
    {"e8m0", FPEMU_MODE_RNE, 1, -0.0, 0x1p-127, 0}, {"e8m0", FPEMU_MODE_RAZ, 1, 0x1p-140, 0x1p-127, 0},
    {"e8m0", FPEMU_MODE_RNE, 2, -1, NAN, 0xff}, {"e8m0", FPEMU_MODE_RNE, 1, 0x1.8p127, 0x1p127, 0xfe},
    {"e8m0", FPEMU_MODE_RNA, 1, 0x1.8p127, NAN, 0xff}, {"e8m0", FPEMU_MODE_RNA, 2, 0x1.8p127, 0x1p127, 0xfe},
    {"e8m0", FPEMU_MODE_RTZ, 1, 0x1.8p127, 0x1p127, 0xfe}, {"e8m0", FPEMU_MODE_RNA, 3, 0x1.8p127, NAN, 0xff},
    {"e8m0", FPEMU_MODE_RNE, 2, INFINITY, 0x1p127, 0xfe}, {"e8m0", FPEMU_MODE_RNE, 3, INFINITY, NAN, 0xff},
    {"e8m0", FPEMU_MODE_RNE, 1, 1.5, 2, 128}, {"e8m0", FPEMU_MODE_RNE, 1, 3, 2, 128},
    {"fixed(8,4)", FPEMU_MODE_RNE, 1, 100, 7.9375, 0x7f}, {"fixed(8,4)", FPEMU_MODE_RNE, 1, -100, -8, 0x80},
    {"fixed(8,4)", FPEMU_MODE_RNE, 1, 0.03125, 0, 0}, {"fixed(8,4)", FPEMU_MODE_RNA, 1, -0.03125, -0.0625, 0xff},
    {"int8", FPEMU_MODE_RNE, 1, 2.5, 2, 2}, {"int8", FPEMU_MODE_RNE, 1, NAN, NAN, 0},
    {"uint8", FPEMU_MODE_RTN, 1, -0.5, 0, 0}, {"posit(8,2)", FPEMU_MODE_RNE, 1, 0x1p22, 0x1p20, 0x7e},
    {"posit(8,2)", FPEMU_MODE_RNE, 1, 0x1.00001p22, 0x1p24, 0x7f},
    {"posit(8,2)", FPEMU_MODE_RNE, 1, 1e-30, 0x1p-24, 0x01}, {"posit(8,2)", FPEMU_MODE_RNE, 1, -1e30, -0x1p24, 0x81},
    {"posit(8,0)", FPEMU_MODE_RNE, 1, INFINITY, NAN, 0x80}, {"posit(8,0)", FPEMU_MODE_RNE, 2, -INFINITY, -64, 0x81},
    {"posit(8,0)", FPEMU_MODE_RNE, 1, -0.0, 0, 0});

static void check_conversion(judge_kind kind, const struct conversion *c)
{
    const ref_format *r = ref_find(c->spec);
    fpemu_rounding rounding = {0};
    judge_result got;
    judge *j;
    char text[200];
    uint64_t want = isnan(c->y) ? UINT64_C(0x7ff8000000000000) : lh_double_bits(c->y);

    if (!r) {
        fail("conversion", c->spec, "no such format");
        return;
    }
    rounding.mode = (uint8_t)c->mode;
    rounding.overflow = (uint8_t)c->policy;
    j = judge_open(kind, &r->f, &rounding, 64);
    if (!j)
        return;
    got = judge_round(j, lh_double_bits(c->x), 0, 1);
    comparisons++;
    snprintf(text, sizeof text, "%s policy %d, %a: want %a %" PRIx64 ", got %a %" PRIx64, mode_names[c->mode],
             c->policy, c->x, c->y, (uint64_t)c->code, lh_double(got.bits), got.code);
    if (got.bits != want || (c->code >= 0 && got.code != (uint64_t)c->code))
        fail(kind == JUDGE_SLOW ? "conversion (slow)" : "conversion (mpfr)", c->spec, text);
    judge_close(j);
}

/* Table 2.3: x past M + ulp_M, by mode and family: i infinity, n NaN, m the largest value. Rows: positive, negative. */
static void check_overflow_table(void)
{
    static const struct {
        const char *spec, *positive, *negative; /* rne rna rnz rtz raz rtp rtn rto sr se */
    } rows[] = {
        {"e5m2", "iiimiimmii", "iiimimimii"},          {"e4m3fn", "nnnmnnmmnn", "nnnmnmnmnn"},
        {"e4m3fnuz", "nnnmnnmmnn", "nnnmnmnmnn"},      {"fp(4,3,4)", "mmmmmmmmmm", "mmmmmmmmmm"},
        {"p3109(8,4,se)", "iiimiimiii", "iiimimiiii"}, {"p3109(8,4,sf)", "mmmmmmmmmm", "mmmmmmmmmm"},
        {"p3109(8,3,ue)", "iiimiimmii", "nnnmnmnnnn"}, {"dlfloat16", "nnnmnnmmnn", "nnnmnmnmnn"},
    };
    size_t i;
    int mode, side;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ref_format *r = ref_find(rows[i].spec);
        for (mode = 0; mode < 10; mode++) {
            for (side = 0; side < 2; side++) {
                char want = (side ? rows[i].negative : rows[i].positive)[mode], got;
                fpemu_rounding rounding = {.mode = (uint8_t)mode};
                judge *j = judge_open(JUDGE_SLOW, &r->f, &rounding, 64);
                /* All random bits set: stochastic modes go up wherever they can. */
                judge_result y = judge_round(j, lh_double_bits((side ? -1.26 : 1.26) * r->max), UINT32_MAX, 0);
                double v = lh_double(y.bits);
                got = isnan(v) ? 'n' : isinf(v) ? 'i' : 'm';
                comparisons++;
                if (got != want || !(y.events & JUDGE_OVERFLOW) || !(y.events & JUDGE_CLIPPED) ||
                    (isfinite(v) && fabs(v) != (side && !r->f.is_signed ? 0 : r->max)))
                    fail("overflow table", r->spec, mode_names[mode]);
                judge_close(j);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------- both judges */

static void compare_judges(const char *name, const fpemu_format *f, const fpemu_rounding *rounding, unsigned carrier,
                           const points *p)
{
    judge *slow = judge_open(JUDGE_SLOW, f, rounding, carrier);
    judge *mpfr = judge_open(JUDGE_MPFR, f, rounding, carrier);
    size_t i;
    char text[300];

    if (mpfr && !slow)
        fail("opening", name, "mpfr has an opinion, slow has not");
    if (slow && mpfr) {
        for (i = 0; i < p->n; i++) {
            judge_result a = judge_round(slow, p->x[i], 0, 1), b = judge_round(mpfr, p->x[i], 0, 1);
            comparisons++;
            if (a.bits == b.bits && a.code == b.code && a.events == b.events)
                continue;
            snprintf(text, sizeof text,
                     "%s overflow=%d nan=%d f%u x %" PRIx64 ": slow %" PRIx64 " code %" PRIx64
                     " events %x, mpfr %" PRIx64 " code %" PRIx64 " events %x",
                     mode_names[rounding->mode], rounding->overflow, rounding->nan, carrier, p->x[i], a.bits, a.code,
                     a.events, b.bits, b.code, b.events);
            fail("judges disagree", name, text);
        }
        for (i = 0; i < (f->bits <= 12 ? (size_t)1 << f->bits : 4096); i++) {
            uint64_t code = f->bits <= 12 ? i : i * UINT64_C(0x9e3779b97f4a7c15) >> (64 - f->bits);
            comparisons++;
            if (judge_decode(slow, code) != judge_decode(mpfr, code)) {
                snprintf(text, sizeof text, "f%u code %" PRIx64, carrier, code);
                fail("judges decode differently", name, text);
            }
        }
    }
    judge_close(slow);
    judge_close(mpfr);
}

static void check_format(const char *name, const fpemu_format *f, unsigned full_bits)
{
    points_want want = {.full_bits = full_bits, .reach = 1, .random = 100, .seed = 7};
    unsigned carrier, policy;
    int mode;

    for (carrier = 32; carrier <= 64; carrier += 32) {
        points p = {0};
        if (points_make(&p, f, carrier, &want)) {
            for (mode = 0; mode < 8; mode++) {
                for (policy = 1; policy <= 3; policy++) {
                    /* Unnamed formats: each mode with ieee and one of the saturating policies. */
                    if (full_bits < 8 && policy == 2 + (unsigned)mode % 2)
                        continue;
                    fpemu_rounding rounding = {.mode = (uint8_t)mode, .overflow = (uint8_t)policy};
                    rounding.nan = (uint8_t)(1 + ((unsigned)mode + policy) % 5);
                    compare_judges(name, f, &rounding, carrier, &p);
                }
            }
        }
        points_free(&p);
    }
}

int main(void)
{
    size_t i;
    fpemu_format f;
    char text[80];
    const ref_format *r;

    for (i = 0; (r = ref_formats(i)) != NULL; i++) {
        check_constants(JUDGE_SLOW, r);
        check_constants(JUDGE_MPFR, r);
    }
    for (i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        check_conversion(JUDGE_SLOW, &conversions[i]);
        check_conversion(JUDGE_MPFR, &conversions[i]);
    }
    check_overflow_table();
    for (i = 0; (r = ref_formats(i)) != NULL; i++)
        check_format(r->spec, &r->f, 8);
    for (i = 0; ref_generic(i, &f, text); i++)
        check_format(text, &f, 6);
    printf("judges: %lu comparisons, %lu failures\n", comparisons, failures);
    return failures != 0;
}
