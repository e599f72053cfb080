/* SPDX-License-Identifier: BSD-2-Clause */
/* stochastic.c - the two stochastic modes against the inequalities of IEEE P3109 4.7.4, decision by decision.
 *
 * A table over every R = 0..2^N-1 is filled from the definition; the library, which takes R from its generator only,
 * is run over so many elements that each R occurs, and every element must agree. The number of ups in the table is
 * P(up) * 2^N and must equal its closed form. N = 17..32 is tested at each element's own threshold instead.
 */

#include "../judges/longhand.h"

enum { SEED = 20261120, MAX_ELEMENTS = 1 << 20 };

static float x32[MAX_ELEMENTS], y32[MAX_ELEMENTS];
static double x64[MAX_ELEMENTS], y64[MAX_ELEMENTS];
static uint32_t drawn[MAX_ELEMENTS]; /* R of each element */

static const char *const mode_name[] = {"sr A", "sr B", "sr C", "se"};

/* Draws R for elements 0, 1, ... until each of the 2^bits values has been seen; how many elements that took. */
static size_t draw_all(int generator, uint64_t stream, unsigned bits)
{
    static uint8_t seen[1 << 16];
    size_t missing = (size_t)1 << bits, n = 0;
    memset(seen, 0, sizeof seen);
    while (missing && n < MAX_ELEMENTS) {
        drawn[n] = lh_bits(generator, SEED, stream, n, bits);
        missing -= !seen[drawn[n]];
        seen[drawn[n++]] = 1;
    }
    lh_check(missing == 0, "generator %d, %u bits: %zu values of R never drawn", generator, bits, missing);
    return n;
}

/* The exponent of the step at x. */
static int step_of(const lh_format *f, double x)
{
    int exponent;
    if (f->kind != FPEMU_KIND_FLOAT)
        return -f->fl;
    (void)frexp(x, &exponent);
    exponent -= 1;
    if (exponent < f->emin && f->subnormals == FPEMU_SUBNORMALS_NONE)
        return f->emin;
    return (exponent < f->emin ? f->emin : exponent) - f->p + 1;
}

static double closed_form(int variant, unsigned bits, double v)
{
    switch (variant) {
    case FPEMU_SR_VARIANT_A: return floor(ldexp(v, (int)bits));
    case FPEMU_SR_VARIANT_B: return floor((floor(ldexp(v, (int)bits + 1)) + 1) / 2);
    case FPEMU_SR_VARIANT_C: return rint(ldexp(v, (int)bits));
    default: return v > 0 ? ldexp(0.5, (int)bits) : 0.0;
    }
}

/* Fractions worth trying with N random bits. */
static size_t fractions(unsigned bits, double *v)
{
    size_t n = 0;
    double unit = ldexp(1.0, -(int)bits);
    const double fixed[] = {0, 0.5, 0.25, 0.75, 0.3, 1.0 / 3, 0.6, 0.9};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        v[n++] = fixed[i];
    const double around[] = {unit, unit / 2, 1 - unit, 1 - unit / 2, 0.5 + unit, 0.5 + unit / 2, 1.5 * unit};
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
        v[n++] = around[i];
        v[n++] = around[i] + unit / 64;
        v[n++] = around[i] - unit / 64;
    }
    v[n++] = unit / 1024;
    return n;
}

/* Every R for one format, value, mode and carrier. `variant` 3 stands for se. */
static void whole_space(const lh_format *f, const fpemu_format *format, int carrier, int generator, uint64_t stream,
                        unsigned bits, int variant, size_t elements, double x)
{
    static double table[1 << 16];
    if (carrier == 32)
        x = (double)(float)x;
    if (!isfinite(x))
        return;
    lh_rounding how = {
        variant == 3 ? FPEMU_MODE_SE : FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, variant, bits, 0};
    size_t space = (size_t)1 << bits, ups = 0;
    double down = 0;
    for (size_t r = 0; r < space; r++) {
        how.r = (uint32_t)r;
        table[r] = lh_round(f, carrier, how, x).y;
        if (r == 0)
            down = table[0];
        ups += !lh_same_f64(table[r], down);
    }
    int flushed = f->subnormals == FPEMU_SUBNORMALS_FLUSH_IN && fabs(x) < lh_min_normal(f);
    if (!flushed && f->subnormals != FPEMU_SUBNORMALS_FLUSH_OUT && f->family != LH_E8M0 && f->family != LH_DLFLOAT &&
        x != 0 && x > lh_lowest(f, carrier) && x < lh_max(f, carrier)) {
        double step = ldexp(1.0, step_of(f, x)), v = fmod(fabs(x), step) / step, p = closed_form(variant, bits, v);
        int certain = p >= (double)space; /* then R = 0 goes up too */
        lh_check((certain ? 0.0 : p) == (double)ups, "%s %s N=%u x=%a: %zu ups of %zu, exact %g", f->spec,
                 mode_name[variant], bits, x, ups, space, p);
    }
    fpemu_rounding rounding = fpemu_rounding_stochastic(SEED, stream);
    rounding.mode = (uint8_t)how.mode;
    rounding.generator = (uint8_t)generator;
    rounding.bits = (uint8_t)bits;
    rounding.variant = (uint8_t)(variant == 3 ? 0 : variant);
    rounding.overflow = FPEMU_OVERFLOW_IEEE;
    fpemu_status status;
    size_t wrong = 0, at = 0;
    if (carrier == 32) {
        for (size_t i = 0; i < elements; i++)
            x32[i] = (float)x;
        status = fpemu_quantize_f32(format, &rounding, elements, x32, y32, NULL);
        for (size_t i = 0; i < elements && status == FPEMU_OK; i++)
            if (!lh_same_f32(y32[i], table[drawn[i]])) {
                at = i;
                wrong++;
            }
    } else {
        for (size_t i = 0; i < elements; i++)
            x64[i] = x;
        status = fpemu_quantize_f64(format, &rounding, elements, x64, y64, NULL);
        for (size_t i = 0; i < elements && status == FPEMU_OK; i++)
            if (!lh_same_f64(y64[i], table[drawn[i]])) {
                at = i;
                wrong++;
            }
    }
    lh_check(status == FPEMU_OK && wrong == 0,
             "%s %s N=%u binary%d generator %d x=%a: %zu of %zu wrong, last R=%u got %a expected %a, status %d",
             f->spec, mode_name[variant], bits, carrier, generator, x, wrong, elements, drawn[at],
             carrier == 32 ? (double)y32[at] : y64[at], table[drawn[at]], (int)status);
}

/* Places on the grid: a whole number of steps k and the exponent of the step. */
typedef struct site {
    double k;
    int step;
} site;

static size_t sites(const lh_format *f, site *s)
{
    size_t n = 0;
    if (f->kind != FPEMU_KIND_FLOAT) {
        const double k[] = {0, 1, 2, 5, 63, (double)f->high - 1, (double)f->high, (double)f->high + 2};
        for (size_t i = 0; i < sizeof k / sizeof k[0]; i++)
            s[n++] = (site){k[i], -f->fl};
        return n;
    }
    double top = ldexp(1.0, f->p), bottom = top / 2;
    int quantum = f->subnormals == FPEMU_SUBNORMALS_NONE ? f->emin : f->emin - f->p + 1;
    s[n++] = (site){0, quantum}; /* below the smallest value */
    if (f->subnormals == FPEMU_SUBNORMALS_KEEP && f->p > 1) {
        s[n++] = (site){1, quantum};
        s[n++] = (site){bottom - 1, quantum};
    }
    const int exponents[] = {f->emin, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        s[n++] = (site){bottom, exponents[i] - f->p + 1};
        s[n++] = (site){top - 1, exponents[i] - f->p + 1};
    }
    int exponent;
    double m = frexp(f->max, &exponent); /* the last steps, and beyond */
    s[n++] = (site){ldexp(m, f->p) - 1, exponent - f->p};
    s[n++] = (site){ldexp(m, f->p), exponent - f->p};
    s[n++] = (site){ldexp(m, f->p) + 1, exponent - f->p};
    return n;
}

static const char *const specs[] = LIST(
    "fp16", "bf16", "e5m2", "e4m3fn", "e4m3fnuz", "e2m1", "e8m0", "ue4m3", "dlfloat16",
    "float(e=5,m=10,bias=15,specials=ieee,signed=1):nosub", "float(e=5,m=2,bias=15,specials=ieee,signed=1):flushin",
    "float(e=2,m=3,bias=1,specials=finite,signed=1):flushout", "p3109(8,4,se)", "p3109(8,1,ue)",
    "float(e=8,m=0,bias=127,specials=ieee,signed=1)", "float(e=4,m=0,bias=7,specials=finite,signed=1):nosub",
    "fixed(8,4)", "fixed(6,9)", "ufixed(8,4)", "int8");
enum { spec_count = (int)(sizeof specs / sizeof specs[0]) };

static void few_bits(void)
{
    const unsigned widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (int generator = FPEMU_GENERATOR_HASH; generator <= FPEMU_GENERATOR_PHILOX; generator++) {
            unsigned bits = widths[w];
            size_t elements = draw_all(generator, 7, bits);
            for (int i = 0; i < spec_count; i++) {
                if (bits > 9 && (i + (int)bits / 4 + generator) % (bits == 12 ? 4 : 7))
                    continue;
                const lh_format *f = lh_find(specs[i]);
                fpemu_format format = lh_parsed(f->spec);
                site s[16];
                double v[64];
                size_t places = sites(f, s), parts = fractions(bits, v);
                for (size_t j = 0; j < places * parts; j++) {
                    /* every value of small spaces, a sample of large ones, in both signs in turn */
                    if ((bits > 5 && (j * 7 + bits) % (bits > 12 ? 97 : bits > 9 ? 41 : 7)) || s[j / parts].k < 0)
                        continue;
                    double x = ldexp(s[j / parts].k + v[j % parts], s[j / parts].step);
                    if (j % 3 == 0)
                        x = -x;
                    int variant = (int)(j + bits) % 4;
                    for (int carrier = 32; carrier <= 64; carrier += 32)
                        whole_space(f, &format, carrier, generator, 7, bits, variant, elements, x);
                }
            }
        }
}

/* v at the threshold of this element's own R, half and quarter units to either side. */
static void own_thresholds(const lh_format *f, const fpemu_format *format, unsigned bits, int variant, int generator)
{
    enum { COUNT = 1024 };
    static const double deltas[] = {0, -1, 1, -0.5, 0.5, -0.53125, -0.46875, -0.25, -0.75, -1.5, 0.03125, -0.03125};
    uint64_t stream = 100 + bits, offset = bits * 977u;
    fpemu_rounding rounding = fpemu_rounding_stochastic(SEED, stream);
    rounding.bits = (uint8_t)(bits == 32 && variant == 0 ? 0 : bits); /* 0 means 32 */
    rounding.variant = (uint8_t)(variant == 3 ? 0 : variant);
    rounding.mode = variant == 3 ? FPEMU_MODE_SE : FPEMU_MODE_SR;
    rounding.generator = (uint8_t)generator;
    rounding.offset = offset;
    rounding.overflow = FPEMU_OVERFLOW_IEEE;
    site s[16];
    size_t places = sites(f, s);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t r = lh_bits(generator, SEED, stream, offset + i, bits);
        site at = s[i % places];
        double unit = ldexp(1.0, -(int)bits), v = 1 - r * unit + deltas[i % 12] * unit;
        if (v < 0 || v >= 1 || at.k < 0)
            v = 0.5;
        /* the exact sum where 53 bits hold it, else the nearest to it: an input like any other */
        x64[i] = ldexp(at.k + v, at.step) * (i % 5 == 0 ? -1.0 : 1.0);
        x32[i] = (float)x64[i];
    }
    lh_check(fpemu_quantize_f64(format, &rounding, COUNT, x64, y64, NULL) == FPEMU_OK, "%s refused", f->spec);
    lh_check(fpemu_quantize_f32(format, &rounding, COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", f->spec);
    for (size_t i = 0; i < COUNT; i++) {
        lh_rounding how = {rounding.mode, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, variant, bits, 0};
        how.r = lh_bits(generator, SEED, stream, offset + i, bits);
        double expected = lh_round(f, 64, how, x64[i]).y;
        lh_check(lh_same_f64(y64[i], expected), "%s %s N=%u binary64 x=%a R=%08x: got %a, expected %a", f->spec,
                 mode_name[variant], bits, x64[i], how.r, y64[i], expected);
        expected = lh_round(f, 32, how, (double)x32[i]).y;
        lh_check(lh_same_f32(y32[i], expected), "%s %s N=%u binary32 x=%a R=%08x: got %a, expected %a", f->spec,
                 mode_name[variant], bits, (double)x32[i], how.r, (double)y32[i], expected);
    }
}

static void many_bits(void)
{
    for (int i = 0; i < spec_count; i++) {
        const lh_format *f = lh_find(specs[i]);
        fpemu_format format = lh_parsed(f->spec);
        for (unsigned bits = 1; bits <= 32; bits++)
            for (int variant = 0; variant < 4; variant++)
                own_thresholds(f, &format, bits, variant, (int)(bits + (unsigned)variant) & 1);
        for (int variant = 0; variant < 4; variant++)
            for (int generator = 0; generator < 2; generator++)
                own_thresholds(f, &format, 32, variant, generator);
    }
}

/* Fractions below 2^-10 reach beyond the 32nd place even in a float: elements whose R is all but 2^32, found by
 * search, are decided there. */
static void beyond_32_bits(void)
{
    const lh_format *f = lh_find("e4m3fn");
    size_t hits = 0;
    fpemu_format format = lh_parsed(f->spec);
    for (uint64_t i = 0; i < 400000; i++) {
        uint32_t r = lh_bits(FPEMU_GENERATOR_HASH, SEED, 55, i, 32);
        if (r < UINT32_MAX - (1u << 22))
            continue;
        hits++;
        for (int variant = 0; variant < 3; variant++)
            for (int quarter = -5; quarter <= 5; quarter++) {
                lh_rounding how = {FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, variant, 32, r};
                fpemu_rounding rounding = fpemu_rounding_stochastic(SEED, 55);
                rounding.variant = (uint8_t)variant;
                double v = 1 - r * 0x1p-32 + quarter * 0x1p-34;
                float x = (float)(v * 0x1p-9), y = fpemu_quantize_one_f32(&format, &rounding, x, i);
                double expected = lh_round(f, 32, how, (double)x).y;
                lh_check(lh_same_f32(y, expected), "%s %s x=%a R=%08x: got %a, expected %a", f->spec,
                         mode_name[variant], (double)x, r, (double)y, expected);
            }
    }
    lh_check(hits > 100, "only %zu elements found", hits);
}

/* Any input whatever, every format, with the default of 32 bits. */
static void any_input(void)
{
    enum { COUNT = 4096 };
    uint64_t state = SEED;
    const lh_format *f;
    for (size_t i = 0; (f = lh_formats(i)); i++) {
        fpemu_format format;
        if (!lh_supports(f, FPEMU_MODE_SR) ||
            !lh_check(fpemu_format_parse(f->spec, &format, NULL) == FPEMU_OK, "cannot parse %s", f->spec))
            continue;
        for (int variant = 0; variant < 4; variant++) {
            fpemu_rounding rounding = fpemu_rounding_stochastic(SEED, i);
            rounding.variant = (uint8_t)(variant == 3 ? 0 : variant);
            rounding.mode = variant == 3 ? FPEMU_MODE_SE : FPEMU_MODE_SR;
            rounding.offset = UINT64_C(0xfffff800) - (uint64_t)variant * 0x200; /* across 2^32 */
            rounding.overflow = (uint8_t)(1 + (i + (size_t)variant) % 3);
            double largest = lh_max(f, 64);
            for (size_t j = 0; j < COUNT; j++) {
                uint64_t bits = lh_next(&state);
                x64[j] = j % 4 == 0   ? lh_double(bits)
                         : j % 4 == 1 ? (double)lh_float((uint32_t)bits)
                                      : ldexp((double)(bits >> 11), -(int)(bits % 97) - 20) * largest / 0x1p30;
                if (!isnan(x64[j]) && bits & 1024)
                    x64[j] = -x64[j];
                x32[j] = (float)x64[j];
            }
            if (!f->f64_only)
                lh_check(fpemu_quantize_f32(&format, &rounding, COUNT, x32, y32, NULL) == FPEMU_OK, "%s", f->spec);
            lh_check(fpemu_quantize_f64(&format, &rounding, COUNT, x64, y64, NULL) == FPEMU_OK, "%s", f->spec);
            for (size_t j = 0; j < COUNT; j++) {
                lh_rounding how = {rounding.mode, rounding.overflow, FPEMU_NAN_KEEP, variant, 32, 0};
                how.r = lh_bits(FPEMU_GENERATOR_HASH, SEED, i, rounding.offset + j, 32);
                double expected = lh_round(f, 64, how, x64[j]).y;
                lh_check(lh_same_f64(y64[j], expected), "%s %s binary64 policy %d x=%a R=%08x: got %a, expected %a",
                         f->spec, mode_name[variant], how.overflow, x64[j], how.r, y64[j], expected);
                if (f->f64_only)
                    continue;
                expected = lh_round(f, 32, how, (double)x32[j]).y;
                lh_check(lh_same_f32(y32[j], expected), "%s %s binary32 policy %d x=%a R=%08x: got %a, expected %a",
                         f->spec, mode_name[variant], how.overflow, (double)x32[j], how.r, (double)y32[j], expected);
            }
        }
    }
}

/* Frequencies with the default of 32 bits: |z| < 5 is passed by a right generator but once in two million seeds. The
 * seeds are fixed, so a pass stays a pass. Pairs (element i, its neighbour at a lag; the same element of another
 * stream, of another seed) fall into four cells; chi-square of the 2x2 table for independence, one degree of
 * freedom. */
static void statistics(void)
{
    enum { COUNT = 1 << 19 };
    static uint8_t up[2][COUNT];
    fpemu_format format = lh_parsed("bf16");
    const double wanted[] = {0x1p-12, 0.01, 0.25, 0.3, 0.5, 0.75, 0.999};
    for (int generator = 0; generator < 2; generator++)
        for (unsigned bits = 8; bits <= 32; bits *= 2)
            for (size_t w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
                for (int which = 0; which < 3; which++) { /* base, next stream, next seed */
                    fpemu_rounding r = fpemu_rounding_stochastic(31 + (which == 2), 41 + (which == 1));
                    r.generator = (uint8_t)generator;
                    r.bits = (uint8_t)bits;
                    for (size_t i = 0; i < COUNT; i++)
                        x32[i] = 1.0f + (float)wanted[w] * 0x1p-7f;
                    lh_check(fpemu_quantize_f32(&format, &r, COUNT, x32, y32, NULL) == FPEMU_OK, "bf16");
                    double p = floor(((double)x32[0] - 1) * 0x1p7 * ldexp(1, (int)bits)) * ldexp(1, -(int)bits);
                    size_t ups = 0;
                    for (size_t i = 0; i < COUNT; i++)
                        ups += up[which != 0][i] = y32[i] > 1.0f;
                    double z = ((double)ups - COUNT * p) / sqrt(COUNT * p * (1 - p));
                    if (p == 0)
                        z = (double)ups;
                    lh_check(fabs(z) < 5, "generator %d N=%u P=%g: %zu ups, z = %g", generator, bits, p, ups, z);
                    const size_t lags[] = {1, 2, 31, 32, 33, 64, 128, 4096};
                    for (size_t l = 0; l < (which ? 1 : sizeof lags / sizeof lags[0]) && p > 0.005; l++) {
                        double cell[2][2] = {{0, 0}, {0, 0}}, n = 0;
                        size_t lag = which ? 0 : lags[l];
                        for (size_t i = 0; i + lag < COUNT; i++, n++)
                            cell[up[0][i]][up[which != 0][i + lag]]++;
                        double a = cell[0][0], b = cell[0][1], c = cell[1][0], d = cell[1][1];
                        double chi = n * pow(a * d - b * c, 2) / ((a + b) * (c + d) * (a + c) * (b + d));
                        lh_check(chi < 25, "generator %d N=%u P=%g pairs %d lag %zu: chi-square %g", generator, bits, p,
                                 which, lag, chi);
                    }
                }
            }
}

int main(void)
{
    few_bits();
    many_bits();
    beyond_32_bits();
    any_input();
    statistics();
    return lh_report("stochastic");
}
