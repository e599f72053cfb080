/* SPDX-License-Identifier: BSD-2-Clause */
/* judges.c - the judges judged, without the library: against the constants printed in the format reference, against
 * each other. */
#include "../judges/bits.h"
#include "../judges/formats.h"
#include "../judges/judge.h"
#include "points.h"

static unsigned long failures, comparisons;

static const char *const mode_names[] = {"rne", "rna", "rnz", "rtz", "raz", "rtp", "rtn", "rto", "sr", "se", "rnp"};

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

static void check_conversion(judge_kind kind, const ref_conversion *c)
{
    fpemu_format f;
    fpemu_rounding rounding = {0};
    char text[200];
    uint64_t want = isnan(c->y) ? UINT64_C(0x7ff8000000000000) : lh_double_bits(c->y);

    if (!ref_parameters(c->spec, &f)) {
        fail("conversion", c->spec, "no such format");
        return;
    }
    rounding.mode = (uint8_t)c->mode;
    rounding.overflow = (uint8_t)c->policy;
    judge *j = judge_open(kind, &f, &rounding, 64);
    if (!j)
        return;
    judge_result got = judge_round(j, lh_double_bits(c->x), 0, 1);
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

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ref_format *r = ref_find(rows[i].spec);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            for (int side = 0; side < 2; side++) {
                char want =
                         (side ? rows[i].negative : rows[i].positive)[mode == FPEMU_MODE_RNP ? FPEMU_MODE_RNE : mode],
                     got;
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
    char text[300];

    if (mpfr && !slow)
        fail("opening", name, "mpfr has an opinion, slow has not");
    if (slow && mpfr) {
        for (size_t i = 0; i < p->n; i++) {
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
        for (size_t i = 0; i < (f->bits <= 12 ? (size_t)1 << f->bits : 4096); i++) {
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

static void check_format(const char *name, const fpemu_format *f, int named)
{
    points_want want = {.full_bits = named ? 8 : 6, .reach = 1, .random = 100, .seed = 7};

    for (unsigned carrier = 32; carrier <= 64; carrier += 32) {
        points p = {0};
        if (points_make(&p, f, carrier, &want)) {
            for (int mode = 0; mode < 8; mode++) {
                for (unsigned policy = 1; policy <= 3; policy++) {
                    /* Unnamed formats: each mode with ieee and one of the saturating policies. */
                    if (!named && policy == 2 + (unsigned)mode % 2)
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
    const ref_format *r;

    for (size_t i = 0; (r = ref_formats(i)) != NULL; i++) {
        check_constants(JUDGE_SLOW, r);
        check_constants(JUDGE_MPFR, r);
    }
    for (size_t i = 0; ref_conversions(i) != NULL; i++) {
        check_conversion(JUDGE_SLOW, ref_conversions(i));
        check_conversion(JUDGE_MPFR, ref_conversions(i));
    }
    check_overflow_table();
    ref_each(check_format);
    printf("judges: %lu comparisons, %lu failures\n", comparisons, failures);
    return failures != 0;
}
