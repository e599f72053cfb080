/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.c - operations against integers of any length: exact results by GMP, rounded by the slow judge.
 *
 *   every pair of codes of every named format of at most 8 bits (add, sub, mul, div), every triple (fma) of those of at
 *   most 6 bits, every mode, two policies, counters included; fma on sampled triples of the rest
 *   boundary-heavy and random operands for wider results in both carriers, every mode and stochastic variant
 *   special values in every place; published mistakes of others by name
 *
 * usage: arith [--stop]                ends at the first part that fails
 *        arith --triples [SPEC...]     fma on all triples of formats of up to 8 bits (all of them if none is named)
 */
#include "../judges/formats.h"
#include "../judges/longhand.h"
#include "expected.h"
#include "points.h"

static const char *const mode_names[] = {"rne", "rna", "rnz", "rtz", "raz", "rtp", "rtn", "rto", "sr", "se", "rnp"};
static const char *const operation_names[] = {"add", "sub",     "mul",     "div",           "sqrt",
                                              "fma", "minimum", "maximum", "minimumNumber", "maximumNumber"};

static unsigned long failures, comparisons;

/* ------------------------------------------------------------------------------------------- exact results */

static number one, two, three; /* working space */

/* `one` = the exact result. */
static void exact_result(fpemu_operation operation, unsigned mode, double a, double b, double c)
{
    number_double(&one, a);
    number_double(&two, b);
    if (operation == FPEMU_OPERATION_FMA)
        number_double(&three, c);
    operate(operation, &one, &two, &three, mode == FPEMU_MODE_RTN);
}

/* --------------------------------------------------------------------------------------------- comparison */

typedef struct subject {
    const char *spec;
    fpemu_format typed;  /* by the reference tables, for the judge */
    fpemu_format parsed; /* by the library */
} subject;

static int subject_named(subject *s, const char *spec, const fpemu_format *typed)
{
    s->spec = spec;
    /* the judge of integers takes a carrier's numbers only; those of scale 1 are fixed point without a fraction */
    s->typed = typed->kind == FPEMU_KIND_INT ? ref_fixed(typed->bits, 0, typed->is_signed) : *typed;
    if (fpemu_format_parse(spec, &s->parsed, NULL) == FPEMU_OK)
        return 1;
    printf("FAIL cannot parse %s\n", spec);
    failures++;
    return 0;
}

enum { MOST = 1 << 18 };

static float a32[MOST], b32[MOST], c32[MOST], y32[MOST];
static double va[MOST], vb[MOST], vc[MOST], y64[MOST];
static uint64_t got[MOST]; /* bits of the carrier */

static void report(const subject *s, fpemu_operation operation, const fpemu_rounding *r, unsigned carrier, size_t i,
                   uint64_t want)
{
    if (failures++ < 25)
        printf("FAIL %s %s %s policy=%u variant=%u bits=%u f%u element %zu: (%a, %a, %a) -> %a, judge %a (%" PRIx64
               ", %" PRIx64 ")\n",
               s->spec, operation_names[operation], mode_names[r->mode], r->overflow, r->variant, r->bits, carrier, i,
               va[i], vb[i], vc[i], carrier_value(carrier, got[i]), carrier_value(carrier, want), got[i], want);
}

/* Runs the library on va, vb, vc; the answer in got. */
static int run(const subject *s, fpemu_operation operation, const fpemu_rounding *r, unsigned carrier, size_t n,
               fpemu_stats *stats)
{
    fpemu_status status;
    if (carrier == 32) {
        const float *const operands[] = {a32, b32, c32};
        for (size_t i = 0; i < n; i++) {
            a32[i] = (float)va[i];
            b32[i] = (float)vb[i];
            c32[i] = (float)vc[i];
        }
        status = fpemu_arith_f32(&s->parsed, r, operation, n, operands, NULL, y32, stats);
        for (size_t i = 0; i < n; i++) {
            uint32_t u;
            memcpy(&u, y32 + i, sizeof u);
            got[i] = u;
        }
    } else {
        const double *const operands[] = {va, vb, vc};
        status = fpemu_arith_f64(&s->parsed, r, operation, n, operands, NULL, y64, stats);
        for (size_t i = 0; i < n; i++)
            got[i] = lh_double_bits(y64[i]);
    }
    if (status && failures++ < 25)
        printf("FAIL %s %s %s f%u: status %d\n", s->spec, operation_names[operation], mode_names[r->mode], carrier,
               (int)status);
    return status == FPEMU_OK;
}

/* Adds what one element counts, from `one`, its value in binary64 and the judge's answer. */
static void expect(fpemu_stats *e, uint64_t nearest, unsigned carrier, judge_result answer, uint64_t times)
{
    const double x = lh_double(nearest), y = carrier_value(carrier, answer.bits);
    e->count += times;
    e->nan += times * (unsigned)(one.kind == NOT_A_NUMBER);
    e->infinite += times * (unsigned)(one.kind == INFINITE);
    expect_events(e, answer.events, times);
    expect_extrema(e, x, y);
}

static void compare_counts(const subject *s, fpemu_operation operation, const fpemu_rounding *r, unsigned carrier,
                           const fpemu_stats *have, const fpemu_stats *want)
{
    const char *const other = other_counts(have, want);
    comparisons++;
    if (other && failures++ < 25)
        printf("FAIL %s %s %s policy=%u f%u: counter %s\n", s->spec, operation_names[operation], mode_names[r->mode],
               r->overflow, carrier, other);
}

/* The judge asked for every element, of the array and alone. */
static void check_each(const subject *s, fpemu_operation operation, const fpemu_rounding *r, unsigned carrier, size_t n)
{
    judge *j = judge_open_slow(&s->typed, r, carrier);
    fpemu_stats have = {0}, want = {0};
    if (!j || !run(s, operation, r, carrier, n, &have)) {
        judge_close(j);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        judge_result answer;
        exact_result(operation, r->mode, va[i], vb[i], vc[i]);
        answer = judge_number(j, carrier, &one, fpemu_random_bits(r, i));
        comparisons++;
        if (answer.bits != got[i])
            report(s, operation, r, carrier, i, answer.bits);
        got[i] = carrier == 32 ? lh_float_bits(fpemu_arith_one_f32(&s->parsed, r, operation, a32[i], b32[i], c32[i], i))
                               : lh_double_bits(fpemu_arith_one_f64(&s->parsed, r, operation, va[i], vb[i], vc[i], i));
        if (answer.bits != got[i])
            report(s, operation, r, carrier, i, answer.bits);
        expect(&want, in_binary64(&one, 0), carrier, answer, 1);
        want.invalid += (uint64_t)one.invalid;
        want.div_by_zero += (uint64_t)one.div_by_zero;
    }
    compare_counts(s, operation, r, carrier, &have, &want);
    judge_close(j);
}

/* Many elements, few different results: each result is rounded once. Two results that agree after rounding to odd in
 * binary64 round alike to formats of at most 51 bits (Boldo, Melquiond 2008). Extrema and errors are of what is nearest
 * in binary64: results that differ in that, as 2^127 + 2^74 and 2^127 + 2^75 do, are two. */
typedef struct distinct {
    uint64_t key, nearest, times;
    mpz_t k;
    long e;
    int kind, negative;
    judge_result answer;
} distinct;

static distinct results[MOST];
static size_t result_count, results_ready;
static uint32_t id[MOST], slots[2 * MOST];
static uint64_t invalid, div_by_zero;

static void collect(fpemu_operation operation, unsigned mode, size_t n)
{
    memset(slots, 0xff, sizeof slots);
    result_count = 0;
    invalid = div_by_zero = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key, nearest;
        size_t slot;
        exact_result(operation, mode, va[i], vb[i], vc[i]);
        invalid += (uint64_t)one.invalid;
        div_by_zero += (uint64_t)one.div_by_zero;
        key = in_binary64(&one, 1);
        nearest = key & 1 ? in_binary64(&one, 0) : key; /* even: exact */
        slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 45);
        while (slots[slot] != UINT32_MAX &&
               (results[slots[slot]].key != key || results[slots[slot]].nearest != nearest))
            slot = (slot + 1) % (2 * MOST);
        if (slots[slot] == UINT32_MAX) {
            distinct *d = &results[result_count];
            if (result_count >= results_ready) {
                mpz_init(d->k);
                results_ready++;
            }
            d->key = key;
            d->nearest = nearest;
            d->times = 0;
            d->kind = one.kind;
            d->negative = one.negative;
            d->e = one.e;
            if (one.kind == FINITE)
                mpz_set(d->k, one.k);
            slots[slot] = (uint32_t)result_count++;
        }
        id[i] = slots[slot];
        results[id[i]].times++;
    }
}

static void check_many(const subject *s, fpemu_operation operation, size_t n)
{
    static const uint8_t modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RNA, FPEMU_MODE_RNZ, FPEMU_MODE_RNP, FPEMU_MODE_RTZ,
                                    FPEMU_MODE_RAZ, FPEMU_MODE_RTP, FPEMU_MODE_RTO, FPEMU_MODE_RTN};
    collect(operation, FPEMU_MODE_RNE, n);
    for (size_t m = 0; m < sizeof modes; m++) {
        if (modes[m] == FPEMU_MODE_RTN) /* zero sums have another sign there */
            collect(operation, FPEMU_MODE_RTN, n);
        for (unsigned policy = FPEMU_OVERFLOW_IEEE; policy <= FPEMU_OVERFLOW_SATURATE; policy++) {
            fpemu_rounding r = {.mode = modes[m], .overflow = (uint8_t)policy};
            for (unsigned carrier = 32; carrier <= 64; carrier += 32) {
                judge *j = judge_open_slow(&s->typed, &r, carrier);
                fpemu_stats have = {0}, want = {0};
                if (!j)
                    continue;
                for (size_t i = 0; i < result_count; i++) {
                    distinct *d = &results[i];
                    one.kind = d->kind;
                    one.negative = d->negative;
                    one.e = d->e;
                    if (d->kind == FINITE)
                        mpz_set(one.k, d->k);
                    d->answer = judge_number(j, carrier, &one, 0);
                    expect(&want, d->nearest, carrier, d->answer, d->times);
                }
                want.invalid += invalid;
                want.div_by_zero = div_by_zero;
                /* counters take another way through the loops: every other time without */
                if (run(s, operation, &r, carrier, n, (m + policy) % 2 ? &have : NULL)) {
                    comparisons += n;
                    for (size_t i = 0; i < n; i++)
                        if (got[i] != results[id[i]].answer.bits)
                            report(s, operation, &r, carrier, i, results[id[i]].answer.bits);
                    if ((m + policy) % 2)
                        compare_counts(s, operation, &r, carrier, &have, &want);
                }
                judge_close(j);
            }
        }
    }
}

static unsigned first_rounding(const subject *s, unsigned i)
{
    return s->typed.kind == FPEMU_KIND_POSIT ? (i ? 1000 : 0) : i;
}

/* ------------------------------------------------------------------------------------------- small formats */

static size_t decode_all(const subject *s, double *v)
{
    const fpemu_rounding nearest = {0};
    judge *j = judge_open_slow(&s->typed, &nearest, 64);
    size_t n = (size_t)1 << s->typed.bits;
    for (size_t i = 0; i < n; i++)
        v[i] = lh_double(judge_decode(j, i));
    judge_close(j);
    return n;
}

static void check_pairs(const subject *s)
{
    double v[256];
    size_t n = decode_all(s, v), pairs = n * n;
    static const fpemu_operation operations[] = LIST(
        FPEMU_OPERATION_ADD, FPEMU_OPERATION_SUB, FPEMU_OPERATION_MUL, FPEMU_OPERATION_DIV, FPEMU_OPERATION_MINIMUM,
        FPEMU_OPERATION_MAXIMUM, FPEMU_OPERATION_MINIMUM_NUMBER, FPEMU_OPERATION_MAXIMUM_NUMBER);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        fpemu_rounding r;
        for (size_t i = 0; i < pairs; i++) {
            va[i] = v[i / n];
            vb[i] = v[i % n];
            vc[i] = 0;
        }
        check_many(s, operations[o], pairs);
        if (operations[o] >= FPEMU_OPERATION_MINIMUM)
            continue;
        /* the stochastic modes on a sample */
        for (unsigned k = 8; rounding_of(first_rounding(s, k), &r); k++) {
            const size_t sample = 1500;
            uint64_t state = k;
            for (size_t i = 0; i < sample; i++) {
                va[i] = v[split_mix(&state) % n];
                vb[i] = v[split_mix(&state) % n];
            }
            check_each(s, operations[o], &r, k % 2 ? 32 : 64, sample);
        }
    }
    memcpy(va, v, n * sizeof *v);
    check_many(s, FPEMU_OPERATION_SQRT, n);
}

static void check_triples(const subject *s)
{
    double v[256];
    size_t n = decode_all(s, v), total = n * n * n;
    for (size_t done = 0; done < total; done += MOST) {
        size_t m = total - done < MOST ? total - done : MOST;
        for (size_t i = 0; i < m; i++) {
            va[i] = v[(done + i) / (n * n)];
            vb[i] = v[(done + i) / n % n];
            vc[i] = v[(done + i) % n];
        }
        check_many(s, FPEMU_OPERATION_FMA, m);
    }
}

static void sample_triples(const subject *s)
{
    double v[256];
    size_t n = decode_all(s, v);
    uint64_t state = 3;
    for (size_t i = 0; i < 20000; i++) {
        va[i] = v[split_mix(&state) % n];
        vb[i] = v[split_mix(&state) % n];
        vc[i] = v[split_mix(&state) % n];
    }
    check_many(s, FPEMU_OPERATION_FMA, 20000);
}

static int is_small(const ref_format *r, unsigned low, unsigned high)
{
    return r->f.bits >= low && r->f.bits <= high;
}

/* -------------------------------------------------------------------------------------------- wide results */

static uint64_t state = 11;

static uint64_t below(uint64_t n)
{
    return split_mix(&state) % n;
}

/* A number of the carrier with exponent e, of a significand with few bits, or of p bits or one more, or any. */
static double draw(unsigned carrier, int p, int e)
{
    const int digits = carrier == 32 ? 24 : 53, lowest = carrier == 32 ? -149 : -1074;
    uint64_t s = (uint64_t)1 << (digits - 1);
    const uint64_t any = split_mix(&state) >> (64 - digits) | s;
    int keep = digits;
    switch (below(8)) {
    case 0: break;
    case 1: s |= (uint64_t)1 << below((uint64_t)digits); break;
    case 2: s = 2 * s - ((uint64_t)1 << below((uint64_t)digits - 1)); break;
    case 3: s |= (uint64_t)1 << below((uint64_t)digits) | (uint64_t)1 << below((uint64_t)digits); break;
    case 4:
    case 5:
        keep = p + (int)below(2);
        s = keep >= digits ? any : any >> (digits - keep) << (digits - keep);
        break;
    default: s = any; break;
    }
    if (e > (carrier == 32 ? 127 : 1023))
        e = carrier == 32 ? 127 : 1023;
    if (e < lowest)
        e = lowest;
    if (e - digits + 1 < lowest) /* subnormal: cut, so that it is a number of the carrier */
        s = s >> (lowest - (e - digits + 1)) << (lowest - (e - digits + 1));
    return ldexp(below(2) ? -(double)s : (double)s, e - digits + 1);
}

static double carried(unsigned carrier, double x)
{
    return carrier == 32 ? (double)(float)x : x;
}

/* The exponent of a result: anywhere, or at an end of the format, or around 1. */
static int result_exponent(const fpemu_format *f, unsigned carrier)
{
    const int bottom = f->kind == FPEMU_KIND_FLOAT   ? f->emin - (int)f->mantissa_bits
                       : f->kind == FPEMU_KIND_FIXED ? f->quantum
                                                     : -30;
    const int top = f->max > 0 ? ilogb(f->max) : 0, reach = carrier == 32 ? 127 : 1023;
    switch (below(5)) {
    case 0: return bottom - 3 + (int)below(8);
    case 1: return f->kind == FPEMU_KIND_FLOAT ? f->emin - 3 + (int)below(6) : (int)below(8);
    case 2: return top - 2 + (int)below(4);
    case 3: return (int)below(2 * (uint64_t)reach) - reach;
    default: return bottom + (int)below((uint64_t)(top - bottom + 1));
    }
}

static void fill(const subject *s, fpemu_operation operation, unsigned carrier, size_t n)
{
    const fpemu_format *f = &s->parsed;
    const int p = f->kind == FPEMU_KIND_FLOAT ? (int)f->mantissa_bits + 1 : (int)f->bits;
    for (size_t i = 0; i < n; i++) {
        const int e = result_exponent(f, carrier);
        double a, b, c = 0;
        switch (operation) {
        case FPEMU_OPERATION_MUL:
            a = draw(carrier, p / 2 + 1, e / 2 + (int)below(40) - 20);
            b = draw(carrier, p / 2 + 1, e - ilogb(a) - (int)below(2));
            break;
        case FPEMU_OPERATION_DIV: {
            const double q = draw(carrier, p, e);
            b = draw(carrier, p, (int)below(60) - 30);
            a = carried(carrier, below(3) ? q * b : q);
            break;
        }
        case FPEMU_OPERATION_SQRT: {
            const double q = draw(carrier, p, e);
            a = below(3) && e < 500 && e > -500 ? carried(carrier, q * q) : below(9) ? fabs(q) : q;
            b = 0;
            break;
        }
        case FPEMU_OPERATION_FMA: {
            const int gap = below(3) ? (int)below(8) - 4 + (below(2) ? p : 0) : (int)below(300) - 150;
            a = draw(carrier, p, e / 2 + (int)below(20) - 10);
            b = draw(carrier, p, e - ilogb(a) - (below(2) ? gap : 0));
            c = draw(carrier, p, below(2) ? e : e - gap);
            if (below(5) == 0)
                c = carried(carrier, -a * b); /* what is left is the product's own rounding error */
            else if (below(6) == 0)
                c = carried(carrier, a * ldexp(b, below(2) ? (int)below(200) : -(int)below(200)));
            break;
        }
        default: {
            const int gap = below(3) ? (int)below((uint64_t)p + 3) : below(2) ? p + (int)below(45) : (int)below(300);
            a = draw(carrier, p, e);
            b = draw(carrier, below(2) ? 1 : p, e - gap);
            if (below(9) == 0)
                b = carried(carrier, (below(2) ? a : -a) * (1 + ldexp((double)below(5), -(int)below(53))));
            break;
        }
        }
        va[i] = isfinite(a) ? a : 1;
        vb[i] = isfinite(b) ? b : 1;
        vc[i] = isfinite(c) ? c : 1;
        if (operation <= FPEMU_OPERATION_DIV && below(2) && operation != FPEMU_OPERATION_DIV) {
            va[i] = vb[i];
            vb[i] = isfinite(a) ? a : 1;
        }
    }
}

static void check_wide(const subject *s, unsigned carrier, size_t n)
{
    fpemu_rounding r;
    for (unsigned o = FPEMU_OPERATION_ADD; o <= FPEMU_OPERATION_FMA; o++)
        for (unsigned k = 0; rounding_of(first_rounding(s, k), &r); k++) {
            fill(s, (fpemu_operation)o, carrier, n);
            check_each(s, (fpemu_operation)o, &r, carrier, n);
        }
}

/* ------------------------------------------------------------------------------------------ special values */

static void check_specials(const subject *s)
{
    const double signalling = lh_double(UINT64_C(0x7ff4000000000000));
    const double top = s->parsed.max, lowest = s->parsed.lowest;
    const double v32[] = LIST(0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 1, -1, 0x1p-149, -0x1p-149, 0x1.fffffep127,
                              -0x1.fffffep127, 3, top, -top, lowest, -0.75);
    const double v64[] = LIST(0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, signalling, -1, 0x1p-1074, -0x1p-1074,
                              0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 3, top, -top, lowest, -0.75);
    const size_t n = sizeof v32 / sizeof *v32;
    fpemu_rounding r;
    for (unsigned carrier = 32; carrier <= 64; carrier += 32)
        for (unsigned o = 0; o < FPEMU_OPERATION_COUNT; o++)
            for (unsigned k = 0; rounding_of(first_rounding(s, k), &r); k++) {
                const double *v = carrier == 32 ? v32 : v64;
                for (size_t i = 0; i < n * n * n; i++) {
                    va[i] = v[i / n % n];
                    vb[i] = v[i % n];
                    vc[i] = v[i / n / n];
                }
                check_each(s, (fpemu_operation)o, &r, carrier, o == FPEMU_OPERATION_FMA ? n * n * n : n * n);
            }
}

/* -------------------------------------------------------------------------------- mistakes made by others */

static void same(const char *what, double y, double want)
{
    comparisons++;
    if (lh_double_bits(y) != lh_double_bits(want) && failures++ < 25)
        printf("FAIL %s: %a, should be %a\n", what, y, want);
}

static double both(const char *what, const fpemu_format *f, uint8_t mode, fpemu_operation operation, double a, double b,
                   double c)
{
    const fpemu_rounding r = {.mode = mode};
    const float fa = (float)a, fb = (float)b, fc = (float)c;
    const float *const operands[] = {&fa, &fb, &fc};
    const double wide = fpemu_arith_one_f64(f, &r, operation, a, b, c, 0);
    float y = 0;
    same(what, (double)fpemu_arith_one_f32(f, &r, operation, fa, fb, fc, 0), wide);
    if (fpemu_arith_f32(f, &r, operation, 1, operands, NULL, &y, NULL))
        y = NAN;
    same(what, (double)y, wide);
    return wide;
}

static void check_mistakes(void)
{
    const fpemu_format half = lh_parsed("fp16"), e5m2 = lh_parsed("e5m2"), bf16 = lh_parsed("bf16"),
                       four = lh_parsed("float(e=5,m=3)");
    same("directed addition after the processor's rounding",
         both("rtp", &half, FPEMU_MODE_RTP, FPEMU_OPERATION_ADD, 32768, 0x1p-24, 0), 32800);
    same("fma of binary16 by way of binary32",
         both("fma", &half, FPEMU_MODE_RNE, FPEMU_OPERATION_FMA, -0x1.2ep-12, -0x1.b2p-1, 0x1.394p-1), 0x1.394p-1);
    same("fma of e5m2 by way of binary32",
         both("fma", &e5m2, FPEMU_MODE_RNE, FPEMU_OPERATION_FMA, 0x1.8p+12, -0x1.4p+3, 0x1.cp-10), -0x1.cp+15);
    same("toward zero past binary32's range",
         both("rtz", &bf16, FPEMU_MODE_RTZ, FPEMU_OPERATION_ADD, -0x1.fep127, -0x1.fep127, 0), -0x1.fep127);
    same("no width makes a double rounding of fma harmless",
         both("fma", &four, FPEMU_MODE_RNE, FPEMU_OPERATION_FMA, 9, 14, 2304), 2304);
    same("the sign of an underflowing product",
         both("rtp", &half, FPEMU_MODE_RTP, FPEMU_OPERATION_MUL, -0x1p-24, 0x1p-24, 0), -0.0);
    same("the sign of an underflowing quotient",
         both("rtp", &half, FPEMU_MODE_RTP, FPEMU_OPERATION_DIV, -0x1p-24, 0x1p15, 0), -0.0);
}

/* binary16, stochastic, 1024 + 2^-14: the addend is 2^-14 of a step, and must count, in either carrier, and so it must
 * where the exact sum has more bits than binary64. */
static void check_small_addends(void)
{
    const fpemu_format half = lh_parsed("fp16");
    const fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
    enum { N = 1 << 22, PART = 1 << 18 };
    const float big32 = 1024, small32 = 0x1p-14f;
    const double big64 = 1024, small64 = 0x1p-14;
    const float *const operands32[] = {&big32, &small32};
    const double *const operands64[] = {&big64, &small64};
    const size_t single[] = {0, 0};
    unsigned long ups = 0;
    for (size_t first = 0; first < N; first += PART) {
        fpemu_rounding part = r;
        part.offset = first;
        if (fpemu_arith_f32(&half, &part, FPEMU_OPERATION_ADD, PART, operands32, single, y32, NULL) ||
            fpemu_arith_f64(&half, &part, FPEMU_OPERATION_ADD, PART, operands64, single, y64, NULL))
            failures++;
        for (size_t i = 0; i < PART; i++) {
            const double want = (((uint64_t)fpemu_random_bits(&part, i) + (1u << 18)) >> 32) ? 1025 : 1024;
            ups += want > 1024;
            same("small addend, binary32", (double)y32[i], want);
            same("small addend, binary64", y64[i], want);
        }
    }
    if (ups < 150 || ups > 400) {
        printf("FAIL small addends went up %lu times\n", ups);
        failures++;
    }
    /* 2^30 less 2^-60: v = 1 - 2^-60 of the step below; and 2^30 plus it: v = 2^-60 */
    const fpemu_format single_format = lh_parsed("fp32");
    for (unsigned variant = FPEMU_SR_VARIANT_A; variant <= FPEMU_SR_VARIANT_C; variant++)
        for (uint64_t i = 0; i < 1000; i++) {
            fpemu_rounding v = r;
            v.variant = (uint8_t)variant;
            const int certain = variant != FPEMU_SR_VARIANT_A || fpemu_random_bits(&v, i) != 0;
            same("just below", fpemu_arith_one_f64(&single_format, &v, FPEMU_OPERATION_SUB, 0x1p30, 0x1p-60, 0, i),
                 certain ? 0x1p30 : 0x1p30 - 64);
            same("just above", fpemu_arith_one_f64(&single_format, &v, FPEMU_OPERATION_ADD, 0x1p30, 0x1p-60, 0, i),
                 0x1p30);
        }
}

/* ---------------------------------------------------------------------------------- close to a decision */

/* Sums at and next to the point where an element's own random bits begin to take it up: 1 + (T + d) 2^(1 - p - N), T =
 * 2^N - R, in quarters. Says whether the short way for binary32 is taken only where binary64 has the bits. */
static void check_thresholds(const subject *s, unsigned bits)
{
    const int p = (int)s->parsed.mantissa_bits + 1;
    for (unsigned variant = FPEMU_SR_VARIANT_A; variant <= FPEMU_SR_VARIANT_C; variant++) {
        fpemu_rounding r = fpemu_rounding_stochastic(8, variant);
        unsigned found = 0;
        r.variant = (uint8_t)variant;
        r.bits = (uint8_t)bits;
        for (uint64_t index = 0; found < 12; index++) {
            const uint64_t threshold = ((uint64_t)1 << bits) - fpemu_random_bits(&r, index);
            if (threshold >= 1 << 21)
                continue;
            found++;
            for (int quarters = -6; quarters <= 6; quarters++) {
                fpemu_rounding at = r;
                at.offset = index;
                va[0] = 1;
                vb[0] = ldexp((double)threshold + 0.25 * quarters, 1 - p - (int)bits);
                vc[0] = 0;
                check_each(s, FPEMU_OPERATION_ADD, &at, 32, 1);
                check_each(s, FPEMU_OPERATION_ADD, &at, 64, 1);
            }
        }
    }
}

/* Quotients that only the last remainder tells from a tie of SR variant C with N = 24: a / b = m / 2^77 + r / (b 2^77)
 * with r = 1, 2, 3 and m odd of 78 bits, and an element whose random bits make that tie decide. */
static void check_hard_quotients(const subject *s)
{
    fpemu_rounding r = fpemu_rounding_stochastic(3, 4);
    mpz_t b, m, inverse, modulus, a;
    unsigned found = 0;
    mpz_inits(b, m, inverse, modulus, a, (mpz_ptr)NULL);
    mpz_setbit(modulus, 77);
    r.variant = FPEMU_SR_VARIANT_C;
    r.bits = 24;
    while (found < 4) {
        const uint64_t divisor = ((uint64_t)1 << 51 | split_mix(&state) >> 13) | 1, rest = 1 + below(3);
        uint64_t fraction, index;
        mpz_set_ui(b, divisor);
        mpz_invert(inverse, b, modulus);
        mpz_mul_ui(m, inverse, rest);
        mpz_neg(m, m);
        mpz_fdiv_r(m, m, modulus);
        fraction = mpz_get_ui(m) & (((uint64_t)1 << 25) - 1); /* v, and the bit that ties */
        if (fraction % 4 != 1)
            continue; /* a tie that goes down, were it one */
        mpz_add(m, m, modulus);
        mpz_mul(a, m, b);
        mpz_add_ui(a, a, rest);
        mpz_fdiv_q_2exp(a, a, 77);
        for (index = 0; fpemu_random_bits(&r, index) + (fraction >> 1) + 1 != (uint64_t)1 << 24; index++)
            ;
        va[0] = mpz_get_d(a);
        vb[0] = (double)divisor;
        vc[0] = 0;
        r.offset = index;
        check_each(s, FPEMU_OPERATION_DIV, &r, 64, 1);
        r.offset = 0;
        found++;
    }
    mpz_clears(b, m, inverse, modulus, a, (mpz_ptr)NULL);
}

/* Roots next to midpoints: m^2 + 7 = 2^55 a for an odd m of 54 bits (Hensel), a little above; and around powers of
 * two, a little below. */
static void check_hard_roots(const subject *s)
{
    size_t n = 0;
    for (uint64_t first = 1; first < 8; first += 2) {
        uint64_t m = first;
        for (unsigned bit = 4; bit <= 55; bit++) /* m^2 + 7 = 0 modulo 2^bit; the next bit of m is 2^(bit - 2) */
            if ((m * m + 7) & ((UINT64_C(1) << bit) - 1))
                m += UINT64_C(1) << (bit - 2);
        mpz_set_ui(one.k, m);
        mpz_setbit(one.k, 53);
        mpz_mul(one.k, one.k, one.k);
        mpz_add_ui(one.k, one.k, 7);
        if (mpz_scan1(one.k, 0) < 55)
            continue;
        mpz_fdiv_q_2exp(one.k, one.k, 54);
        va[n] = mpz_get_d(one.k);
        comparisons++;
        if (mpz_cmp_d(one.k, va[n]) != 0 && failures++ < 25)
            printf("FAIL hard root of more than 53 bits\n");
        n++;
    }
    if (n == 0 && failures++ < 25)
        printf("FAIL no hard roots\n");
    for (int i = 1; i < 200; i++)
        for (int e = 0; e < 4; e++) {
            va[n++] = ldexp(1 + i * 0x1p-52, e);
            va[n++] = ldexp(1 - i * 0x1p-53, e);
        }
    memset(vb, 0, n * sizeof *vb);
    memset(vc, 0, n * sizeof *vc);
    fpemu_rounding r;
    for (unsigned k = 0; rounding_of(k, &r); k++)
        check_each(s, FPEMU_OPERATION_SQRT, &r, 64, n);
}

/* fma where the low halves of 128 bits carry into a high half of ones: a * b = 2^106 - c + less than 2^42. */
static void check_long_carries(const subject *s)
{
    mpz_t want, product;
    size_t n = 0;
    mpz_inits(want, product, (mpz_ptr)NULL);
    while (n < 50) {
        const uint64_t c = (split_mix(&state) >> 11) | UINT64_C(1) << 52;
        const uint64_t a = (UINT64_C(1) << 53) - 1 - below(c >> 26);
        mpz_set_ui(want, 1);
        mpz_mul_2exp(want, want, 106);
        mpz_set_ui(product, c);
        mpz_mul_2exp(product, product, 28);
        mpz_sub(want, want, product);
        mpz_cdiv_q_ui(product, want, a);
        if (mpz_sizeinbase(product, 2) > 53)
            continue;
        vb[n] = mpz_get_d(product);
        mpz_mul_ui(product, product, a);
        mpz_sub(product, product, want);
        if (mpz_sizeinbase(product, 2) > 42)
            continue;
        va[n] = (double)a;
        vc[n++] = ldexp((double)c, 28);
    }
    fpemu_rounding r;
    for (unsigned k = 0; rounding_of(k, &r); k++)
        check_each(s, FPEMU_OPERATION_FMA, &r, 64, n);
    mpz_clears(want, product, (mpz_ptr)NULL);
}

/* ---------------------------------------------------------------------------------------------------- main */

static void check_all_wide(void)
{
    static const struct {
        const char *spec;
        uint8_t e, m, carriers; /* 1: binary32, 2: binary64, 3: both */
    } ieee[] = {{"float(e=11,m=51)", 11, 51, 2}, {"float(e=11,m=43)", 11, 43, 2}, {"float(e=11,m=29)", 11, 29, 2},
                {"float(e=9,m=30)", 9, 30, 2},   {"float(e=8,m=18)", 8, 18, 3},   {"float(e=8,m=22)", 8, 22, 3},
                {"float(e=5,m=18)", 5, 18, 1}};
    static const struct {
        const char *spec;
        uint8_t bits, fraction, carriers;
    } fixed[] = {{"fixed(24,12)", 24, 12, 3},
                 {"fixed(48,20)", 48, 20, 2},
                 {"fixed(53,52)", 53, 52, 2},
                 {"fixed(54,0)", 54, 0, 2}};
    static const char *const named[] = {"binary16",    "bfloat16",    "tf32",      "binary32",
                                        "binary64",    "dlfloat16",   "fp(6,9,0)", "posit(16,1)",
                                        "posit(16,2)", "posit(32,2)", "int16"};
    subject s;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const ref_format *r = ref_find(named[i]);
        if (!r || !subject_named(&s, named[i], &r->f))
            continue;
        if (s.parsed.fits_f32)
            check_wide(&s, 32, 700);
        check_wide(&s, 64, 700);
    }
    for (size_t i = 0; i < sizeof ieee / sizeof *ieee; i++) {
        const fpemu_format f = ref_float(ieee[i].e, ieee[i].m, (1 << (ieee[i].e - 1)) - 1, FPEMU_SPECIALS_IEEE, 1);
        if (!subject_named(&s, ieee[i].spec, &f))
            continue;
        for (unsigned c = 0; c < 2; c++)
            if (ieee[i].carriers >> c & 1)
                check_wide(&s, c ? 64 : 32, 500);
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const fpemu_format f = ref_fixed(fixed[i].bits, fixed[i].fraction, 1);
        if (!subject_named(&s, fixed[i].spec, &f))
            continue;
        for (unsigned c = 0; c < 2; c++)
            if (fixed[i].carriers >> c & 1)
                check_wide(&s, c ? 64 : 32, 500);
        check_specials(&s);
    }
    {
        /* the format's normal numbers are the carrier's subnormals; subnormals lost in each way */
        fpemu_format f = ref_float(6, 20, 1050, FPEMU_SPECIALS_IEEE, 1);
        if (subject_named(&s, "float(e=6,m=20,bias=1050)", &f))
            check_wide(&s, 64, 300);
        f = ref_float(5, 10, 15, FPEMU_SPECIALS_IEEE, 1);
        f.subnormals = FPEMU_SUBNORMALS_NONE;
        if (subject_named(&s, "fp16:nosub", &f))
            check_wide(&s, 32, 300), check_wide(&s, 64, 300);
        f.subnormals = FPEMU_SUBNORMALS_FLUSH_IN;
        if (subject_named(&s, "fp16:flushin", &f))
            check_wide(&s, 32, 300), check_wide(&s, 64, 300);
        f.subnormals = FPEMU_SUBNORMALS_FLUSH_OUT;
        if (subject_named(&s, "fp16:flushout", &f))
            check_wide(&s, 32, 300), check_wide(&s, 64, 300);
    }
}

static int all_triples(int count, char **specs)
{
    const ref_format *r;
    for (size_t i = 0; (r = ref_formats(i)); i++) {
        int wanted = count == 0;
        subject s;
        for (int k = 0; k < count; k++)
            wanted |= strcmp(specs[k], r->spec) == 0;
        if (!wanted || !is_small(r, 1, 8) || !subject_named(&s, r->spec, &r->f))
            continue;
        const unsigned long before = comparisons, failed = failures;
        check_triples(&s);
        printf("%-16s %lu comparisons, %lu failures\n", r->spec, comparisons - before, failures - failed);
        fflush(stdout);
    }
    return failures || !comparisons;
}

static void check_small(const ref_format *r)
{
    subject s;
    if (!subject_named(&s, r->spec, &r->f))
        return;
    if (is_small(r, 1, 8))
        check_pairs(&s);
    if (is_small(r, 1, 6))
        check_triples(&s);
    else if (is_small(r, 7, 8))
        sample_triples(&s);
}

static void check_all_specials(void)
{
    const ref_format *r;
    subject s;
    static const char *const specials[] = {"binary16",      "e4m3fn",      "e5m2fnuz",   "e8m0", "e2m1",
                                           "p3109(8,3,ue)", "dlfloat16",   "fixed(8,4)", "int8", "uint8",
                                           "posit(8,2)",    "posit(32,2)", "binary64"};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if ((r = ref_find(specials[i])) && subject_named(&s, r->spec, &r->f))
            check_specials(&s);
    const fpemu_format hif8 = ref_float(4, 3, 0, FPEMU_SPECIALS_HIF8, 1);
    if (subject_named(&s, "hif8", &hif8)) {
        check_specials(&s);
        check_pairs(&s);
    }
}

static void check_decisions(void)
{
    subject s;
    for (unsigned m = 17; m <= 23; m++) {
        const fpemu_format f = ref_float(8, m, 127, FPEMU_SPECIALS_IEEE, 1);
        char spec[40];
        snprintf(spec, sizeof spec, "float(e=8,m=%u)", m);
        if (subject_named(&s, spec, &f))
            for (unsigned bits = 26; bits <= 32; bits++)
                check_thresholds(&s, bits);
    }
    if (subject_named(&s, "binary64", &ref_find("binary64")->f)) {
        check_hard_quotients(&s);
        check_hard_roots(&s);
        check_long_carries(&s);
    }
}

int main(int argc, char **argv)
{
    static void (*const parts[])(void) = {check_mistakes, check_all_specials, check_all_wide, check_decisions,
                                          check_small_addends};
    const ref_format *r;
    const int stop = argc > 1 && strcmp(argv[1], "--stop") == 0;
    mpz_inits(one.k, two.k, three.k, (mpz_ptr)NULL);
    if (argc > 1 && strcmp(argv[1], "--triples") == 0)
        return all_triples(argc - 2, argv + 2);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !(stop && failures); i++)
        parts[i]();
    for (size_t i = 0; (r = ref_formats(i)) && !(stop && failures); i++)
        check_small(r);
    if (failures)
        printf("arith: %lu comparisons, %lu failures\n", comparisons, failures);
    return failures || !comparisons;
}
