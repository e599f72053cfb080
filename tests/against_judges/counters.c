/* SPDX-License-Identifier: BSD-2-Clause */
/* counters.c - the counters, extrema, sums and histogram against a judge that counts for itself.
 *
 * The result y is taken from the library (other tests judge it); what is said about it is worked out here by the
 * definitions. Sums follow the stated order: blocks of 4096 by absolute index, 32 lanes, a tree, block totals added
 * exactly in a fixed-point number of 34 words.
 */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../judges/longhand.h"
#include "expected.h"

enum { COUNT = 3 * 4096 + 777, BINS = 40, FIRST_BIN = -20 };

static float x32[COUNT], y32[COUNT];
static double x64[COUNT], y64[COUNT];
static uint64_t codes[COUNT];

/* ------------------------------------------------------------------------------------------------ the judge */

static void add_exactly(fpemu_exact_sum *sum, double term)
{
    if (isinf(term)) {
        sum->infinite++;
        return;
    }
    if (term == 0)
        return;
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(term, &exponent), 53);
    int at = exponent - 53 + 1074; /* the weight of the last bit */
    while (at < 0) {
        m >>= 1; /* a subnormal term: these bits are zero */
        at++;
    }
    for (int bit = 0; bit < 53; bit++)
        if (m >> bit & 1)
            for (int w = (at + bit) / 64, carry = (at + bit) % 64;; w++, carry = 0) {
                uint64_t before = sum->word[w];
                sum->word[w] = before + ((uint64_t)1 << carry);
                if (sum->word[w] > before)
                    break;
            }
}

/* RNE of the whole number. */
static double read_exactly(const fpemu_exact_sum *sum)
{
    if (sum->infinite)
        return INFINITY;
    int top = 34 * 64 - 1;
    while (top >= 0 && !(sum->word[top / 64] >> top % 64 & 1))
        top--;
    if (top < 0)
        return 0.0;
    int last = top > 52 ? top - 52 : 0, sticky = 0;
    uint64_t m = 0;
    for (int bit = top; bit >= last; bit--)
        m = 2 * m + (sum->word[bit / 64] >> bit % 64 & 1);
    int half = last > 0 && (sum->word[(last - 1) / 64] >> (last - 1) % 64 & 1);
    for (int bit = 0; bit < last - 1; bit++)
        sticky |= (int)(sum->word[bit / 64] >> bit % 64 & 1);
    m += half && (sticky || (m & 1));
    return ldexp((double)m, last - 1074);
}

/* Terms of one kind of sum of one block. */
typedef struct block_sum {
    double lane[32];
} block_sum;

static double tree(block_sum *b)
{
    for (int half = 16; half; half /= 2)
        for (int l = 0; l < half; l++)
            b->lane[l] += b->lane[l + half];
    return b->lane[0];
}

typedef struct subject {
    const lh_format *f;
    int carrier;
    lh_rounding how; /* r is filled in for each element */
    uint64_t seed, stream, offset;
    int generator;
} subject;

static void expect_all(const subject *s, size_t n, const double *x, const double *y, fpemu_stats *stats)
{
    const lh_format *f = s->f;
    double lowest = lh_lowest(f, s->carrier), largest = lh_max(f, s->carrier), normal = lh_min_normal(f);
    block_sum sums[3] = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t j = s->offset + i;
        stats->count++;
        if (isnan(x[i])) {
            stats->nan++;
        } else {
            lh_rounding how = s->how;
            how.r = lh_bits(s->generator, s->seed, s->stream, j, how.bits);
            int beyond = isfinite(x[i]) && lh_round(f, s->carrier, how, x[i]).overflow;
            stats->infinite += isinf(x[i]) != 0;
            stats->overflow += (uint64_t)beyond;
            stats->invalid += isnan(y[i]) && !beyond;
        }
        /* e8m0 has no zero: nothing is clipped at its lower end */
        if (isfinite(x[i]))
            stats->clipped += x[i] > largest || (x[i] < lowest && f->family != LH_E8M0);
        stats->subnormal += !isnan(y[i]) && y[i] != 0 && fabs(y[i]) < normal;
        if (isfinite(x[i])) {
            double magnitude = fabs(x[i]);
            stats->underflow += x[i] != 0 && y[i] == 0;
            stats->inexact += !(x[i] == y[i]);
            if (magnitude != 0 && (stats->min_abs == 0 || magnitude < stats->min_abs))
                stats->min_abs = magnitude;
            stats->max_abs = magnitude > stats->max_abs ? magnitude : stats->max_abs;
            if (isfinite(y[i])) {
                double d = fabs(x[i] - y[i]);
                if (isfinite(d) && d > stats->max_error)
                    stats->max_error = d;
                sums[0].lane[j % 32] += d;
                sums[1].lane[j % 32] += d * d;
                sums[2].lane[j % 32] += x[i] * x[i];
            }
            if (magnitude != 0 && stats->request.want & FPEMU_STATS_HISTOGRAM) {
                int exponent;
                (void)frexp(magnitude, &exponent);
                int bin = exponent - 1 - stats->request.histogram_first + 1,
                    end = (int)stats->request.histogram_length - 1;
                stats->request.histogram[bin < 0 ? 0 : bin > end ? end : bin]++;
            }
        }
        if (stats->request.want & FPEMU_STATS_SUMS && (i + 1 == n || (j + 1) % 4096 == 0)) {
            add_exactly(&stats->sum_error, tree(&sums[0]));
            add_exactly(&stats->sum_error2, tree(&sums[1]));
            add_exactly(&stats->sum_square, tree(&sums[2]));
            memset(sums, 0, sizeof sums);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ comparison */

static void same_sum(const char *what, const char *name, const fpemu_exact_sum *got, const fpemu_exact_sum *expected)
{
    lh_check(!memcmp(got, expected, sizeof *got), "%s: %s is %a, expected %a (or differ in bits below)", what, name,
             read_exactly(got), read_exactly(expected));
}

static void same(const char *what, const fpemu_stats *got, const fpemu_stats *expected)
{
    const char *const other = other_counts(got, expected);
    lh_check(!other, "%s: %s", what, other);
    same_sum(what, "sum of |x - y|", &got->sum_error, &expected->sum_error);
    same_sum(what, "sum of (x - y)^2", &got->sum_error2, &expected->sum_error2);
    same_sum(what, "sum of x^2", &got->sum_square, &expected->sum_square);
    lh_check(lh_same_f64(fpemu_stats_sum_error(got), read_exactly(&expected->sum_error)), "%s: sum_error reads %a",
             what, fpemu_stats_sum_error(got));
    lh_check(lh_same_f64(fpemu_stats_sum_error2(got), read_exactly(&expected->sum_error2)), "%s: sum_error2 reads %a",
             what, fpemu_stats_sum_error2(got));
    lh_check(lh_same_f64(fpemu_stats_sum_square(got), read_exactly(&expected->sum_square)), "%s: sum_square reads %a",
             what, fpemu_stats_sum_square(got));
    if (expected->request.want & FPEMU_STATS_HISTOGRAM)
        for (unsigned i = 0; i < expected->request.histogram_length; i++)
            if (got->request.histogram[i] != expected->request.histogram[i]) {
                lh_check(0, "%s: bin %u holds %llu, expected %llu", what, i,
                         (unsigned long long)got->request.histogram[i],
                         (unsigned long long)expected->request.histogram[i]);
                break;
            }
}

static fpemu_stats empty(uint32_t want, uint64_t *bins)
{
    fpemu_stats stats = {.request.want = want};
    if (want & FPEMU_STATS_HISTOGRAM) {
        memset(bins, 0, BINS * sizeof *bins);
        stats.request.histogram = bins;
        stats.request.histogram_first = FIRST_BIN;
        stats.request.histogram_length = BINS;
    }
    return stats;
}

/* ------------------------------------------------------------------------------------------------ inputs */

/* A mixture: everything special, values around every end of the format, ties, and a wide spread. */
static void fill(const lh_format *f, uint64_t seed)
{
    uint64_t state = seed;
    double largest = lh_max(f, 64);
    const double special[] =
        LIST(NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0x1p-149, -0x1p-149, 0x1p-126,
             0x1.fffffep127, -0x1.fffffep127, 0x1p-127, 0x1p-128, 0x1.8p127, 0x1p-1074, 0x1p1023);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bits = lh_next(&state);
        double x;
        switch (bits % 8) {
        case 0: x = special[(bits >> 8) % (sizeof special / sizeof special[0])]; break;
        case 1: x = largest * (1 + ((double)(bits >> 50) - 8192) / 65536); break;
        case 2: x = ldexp((double)(bits >> 58), (int)(bits >> 8 & 63) - 40); break; /* few bits: exact, and ties */
        case 3: x = lh_double(bits >> 3 ^ bits << 57); break;
        case 4: x = (double)lh_float((uint32_t)(bits >> 20)); break;
        case 5: x = ldexp((double)(bits >> 11), f->emin - 53 - (int)(bits >> 4 & 15)); break; /* small */
        default: x = ldexp((double)(bits >> 11), -60 + (int)(bits >> 4 & 15)) - 0x1p-1 * (double)(bits >> 63);
        }
        if (!isnan(x) && bits & 8)
            x = -x;
        x64[i] = x;
        x32[i] = (float)x;
    }
}

/* ------------------------------------------------------------------------------------------------ the calls */

static fpemu_rounding as_rounding(const subject *s)
{
    fpemu_rounding r = fpemu_rounding_stochastic(s->seed, s->stream);
    r.mode = (uint8_t)s->how.mode;
    r.overflow = (uint8_t)s->how.overflow;
    r.nan = (uint8_t)s->how.nan;
    r.variant = (uint8_t)s->how.variant;
    r.bits = (uint8_t)s->how.bits;
    r.generator = (uint8_t)s->generator;
    r.offset = s->offset;
    return r;
}

/* One call of either carrier on elements first .. first+n-1. */
static fpemu_status call(const subject *s, const fpemu_format *format, size_t first, size_t n, int encode,
                         fpemu_stats *stats)
{
    fpemu_rounding r = as_rounding(s);
    r.offset += first;
    size_t size = fpemu_format_code_size(format);
    char *at = (char *)codes + first * size;
    const int carrier = s->carrier;
    const size_t width = carrier == 32 ? 4 : 8;
    const char *const x = (const char *)LH_OF(x) + first * width;
    return encode ? fpemu_encode(format, &r, carrier, n, x, at, stats)
                  : fpemu_quantize(format, &r, carrier, n, x, (char *)LH_OF(y) + first * width, stats);
}

static void widen(int carrier, const fpemu_format *format, int encode, double *x, double *y)
{
    lh_check(!encode || fpemu_decode(format, carrier, COUNT, codes, LH_OF(y)) == FPEMU_OK, "decode");
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = lh_at(carrier, LH_OF(x), i);
        y[i] = lh_at(carrier, LH_OF(y), i);
    }
}

static void one_subject(const subject *s, const fpemu_format *format, uint32_t want, int encode)
{
    static double x[COUNT], y[COUNT];
    static uint64_t bins[BINS], expected_bins[BINS], part_bins[BINS];
    char what[200];
    (void)snprintf(what, sizeof what, "%s %s binary%d mode %d policy %d want %u", encode ? "encode" : "quantize",
                   s->f->spec, s->carrier, s->how.mode, s->how.overflow, want);
    fpemu_stats got = empty(want, bins), expected = empty(want, expected_bins);
    if (!lh_check(call(s, format, 0, COUNT, encode, &got) == FPEMU_OK, "%s: refused", what))
        return;
    widen(s->carrier, format, encode, x, y);
    expect_all(s, COUNT, x, y, &expected);
    same(what, &got, &expected);

    /* Slices: cut anywhere without sums, at multiples of 4096 with them. */
    uint64_t state = s->seed + want;
    fpemu_stats all = empty(want, bins);
    size_t to_block = (size_t)((4096 - s->offset % 4096) % 4096);
    for (size_t first = 0, n; first < COUNT; first += n) {
        n = want & FPEMU_STATS_SUMS ? (first < to_block ? to_block : 4096 + 4096 * (size_t)(lh_next(&state) & 1))
                                    : (size_t)(lh_next(&state) % 1500);
        n = n > COUNT - first ? COUNT - first : n;
        fpemu_stats part = empty(want, part_bins);
        lh_check(call(s, format, first, n, encode, &part) == FPEMU_OK, "%s: slice refused", what);
        lh_check(fpemu_stats_merge(&all, &part) == FPEMU_OK, "%s: merge refused", what);
    }
    (void)strcat(what, " in slices");
    same(what, &all, &expected);
}

static void formats_and_modes(void)
{
    const lh_format *f;
    for (size_t i = 0; (f = lh_formats(i)); i++) {
        fpemu_format format = lh_parsed(f->spec);
        fill(f, 1000 + i);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            if (!lh_supports(f, mode))
                continue;
            subject s = {f,
                         0,
                         {mode, 1 + (int)(i + (size_t)mode) % 3, 1 + (int)(i + (size_t)mode) % 4, mode % 3,
                          1 + (unsigned)(i * 5 + 3) % 32, 0},
                         7,
                         i,
                         (uint64_t)mode * 1111,
                         mode & 1};
            uint32_t want = (uint32_t)(mode + (int)i) % 4;
            for (s.carrier = f->f64_only ? 64 : 32; s.carrier <= 64; s.carrier += 32) {
                one_subject(&s, &format, want, 0);
                one_subject(&s, &format, 3 - want, mode % 2 == 0);
            }
        }
    }
}

/* Threads share out blocks: any number of them gives the same bits, in the array and in the stats. */
static void threads(void)
{
#ifdef _OPENMP
    enum { LARGE = 1 << 18 };
    float *x = malloc(LARGE * sizeof *x), *y = malloc(LARGE * sizeof *y), *z = malloc(LARGE * sizeof *z);
    fpemu_format format;
    if (lh_check(x && y && z && fpemu_format_parse("e4m3fn", &format, NULL) == FPEMU_OK, "cannot begin")) {
        uint64_t state = 9;
        for (size_t i = 0; i < LARGE; i++)
            x[i] = (float)ldexp((double)(int64_t)lh_next(&state), -64 + (int)(i % 23));
        int before = omp_get_max_threads();
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            uint64_t bins[2][BINS];
            fpemu_stats one = empty(3, bins[0]);
            fpemu_rounding r = fpemu_rounding_stochastic(3, 4);
            r.mode = (uint8_t)mode;
            r.offset = 12345;
            omp_set_num_threads(1);
            lh_check(fpemu_quantize_f32(&format, &r, LARGE, x, y, &one) == FPEMU_OK, "one thread");
            for (int count = 2; count <= 5; count++) {
                fpemu_stats many = empty(3, bins[1]);
                omp_set_num_threads(count);
                lh_check(fpemu_quantize_f32(&format, &r, LARGE, x, z, &many) == FPEMU_OK, "%d threads", count);
                lh_check(!memcmp(y, z, LARGE * sizeof *y), "mode %d: %d threads change values", mode, count);
                lh_check(!memcmp(bins[0], bins[1], sizeof bins[0]), "mode %d: %d threads change the histogram", mode,
                         count);
                many.request.histogram = one.request.histogram;
                lh_check(!memcmp(&one, &many, sizeof one), "mode %d: %d threads change the stats", mode, count);
            }
        }
        omp_set_num_threads(before);
    }
    FREE(x, y, z);
#endif
}

/* Calls add up in one struct, and figures read from it. */
static void reading(void)
{
    fpemu_format format;
    fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_stats stats = empty(FPEMU_STATS_SUMS, NULL);
    float x[4] = {1.0f, 1.25f, -3.0f, 100.0f}, y[4];
    lh_check(fpemu_format_parse("int8", &format, NULL) == FPEMU_OK, "int8");
    lh_check(isnan(fpemu_stats_sqnr(&stats)), "sqnr without signal is NaN");
    lh_check(fpemu_quantize_f32(&format, &r, 1, x, y, &stats) == FPEMU_OK, "int8");
    lh_check(fpemu_stats_sqnr(&stats) == INFINITY, "sqnr without error is infinite");
    lh_check(fpemu_quantize_f32(&format, &r, 3, x + 1, y, &stats) == FPEMU_OK, "int8");
    lh_check(stats.count == 4 && stats.inexact == 1, "two calls add up");
    lh_check(fpemu_stats_sum_error(&stats) == 0.25 && fpemu_stats_sum_error2(&stats) == 0.0625, "sums of two calls");
    lh_check(fpemu_stats_sum_square(&stats) == 1 + 1.5625 + 9 + 10000, "sum of squares of two calls");
    double expected = 10 * log10((1 + 1.5625 + 9 + 10000) / 0.0625);
    lh_check(fabs(fpemu_stats_sqnr(&stats) - expected) < 1e-9, "sqnr %g, expected %g", fpemu_stats_sqnr(&stats),
             expected);
    lh_check(stats.max_error == 0.25 && stats.min_abs == 1 && stats.max_abs == 100, "extrema of two calls");

    /* without error, of a signal whose squares overflow; with one, of finite sums whose quotient does */
    const double huge = 1e200, far[2] = {0x1p500, 0x1.00000004p-500};
    double z[2];
    fpemu_stats beyond = empty(FPEMU_STATS_SUMS, NULL), apart = beyond;
    lh_check(fpemu_format_parse("fp64", &format, NULL) == FPEMU_OK, "fp64");
    lh_check(fpemu_quantize_f64(&format, &r, 1, &huge, z, &beyond) == FPEMU_OK, "fp64");
    lh_check(fpemu_stats_sqnr(&beyond) == INFINITY, "sqnr without error, of an infinite signal");
    lh_check(fpemu_format_parse("float(11,20)", &format, NULL) == FPEMU_OK, "float(11,20)");
    lh_check(fpemu_quantize_f64(&format, &r, 2, far, z, &apart) == FPEMU_OK, "float(11,20)");
    lh_check(fpemu_stats_sum_square(&apart) == 0x1p1000 && fpemu_stats_sum_error2(&apart) == 0x1p-1060, "far sums");
    lh_check(fabs(fpemu_stats_sqnr(&apart) - 20600 * log10(2)) < 1e-9, "sqnr %g of 2^2060", fpemu_stats_sqnr(&apart));

    /* merging different shapes of histogram is refused, and changes nothing */
    uint64_t a[BINS], b[BINS];
    fpemu_stats to = empty(FPEMU_STATS_HISTOGRAM, a), from = empty(FPEMU_STATS_HISTOGRAM, b), none = empty(0, NULL);
    from.count = 5;
    from.request.histogram_length = BINS - 1;
    lh_check(fpemu_stats_merge(&to, &from) == FPEMU_ERROR_STATS && to.count == 0, "lengths differ");
    from.request.histogram_length = BINS;
    from.request.histogram_first++;
    lh_check(fpemu_stats_merge(&to, &from) == FPEMU_ERROR_STATS && to.count == 0, "first exponents differ");
    none.count = 5;
    lh_check(fpemu_stats_merge(&to, &none) == FPEMU_ERROR_STATS && to.count == 0, "one without histogram");
    from = to;
    from.count = 5;
    lh_check(fpemu_stats_merge(&to, &from) == FPEMU_ERROR_STATS && to.count == 0, "one histogram for two");
    lh_check(fpemu_stats_merge(&to, &to) == FPEMU_ERROR_STATS && to.count == 0, "into itself");
    uint64_t both[BINS + 1];
    to = empty(FPEMU_STATS_HISTOGRAM, both);
    from = empty(FPEMU_STATS_HISTOGRAM, both + 1);
    from.count = 5;
    lh_check(fpemu_stats_merge(&to, &from) == FPEMU_ERROR_STATS && to.count == 0, "histograms that overlap");
    fpemu_stats scales = empty(0, NULL);
    scales.request.want = FPEMU_STATS_SCALES;
    scales.request.scale_histogram = both;
    scales.request.scale_length = BINS;
    lh_check(fpemu_stats_merge(&scales, &scales) == FPEMU_ERROR_STATS, "one histogram of scales for two");
    uint64_t three[24] = {0}; /* the scales of one lie in the histogram of the other */
    fpemu_stats crossed = {.request = LIST(.want = FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES, .histogram_length = 8,
                                           .scale_length = 8, .histogram = three, .scale_histogram = three + 8)};
    fpemu_stats other = crossed;
    other.request.histogram = three + 8;
    other.request.scale_histogram = three + 16;
    lh_check(fpemu_stats_merge(&crossed, &other) == FPEMU_ERROR_STATS, "scales in a histogram");
    other.request.scale_histogram = three;
    other.request.histogram = three + 16;
    lh_check(fpemu_stats_merge(&crossed, &other) == FPEMU_ERROR_STATS, "a histogram in scales");
    lh_check(fpemu_stats_merge(NULL, &none) == FPEMU_ERROR_NULL, "merge into NULL");
    lh_check(fpemu_stats_merge(&to, NULL) == FPEMU_ERROR_NULL, "merge from NULL");
}

/* Largest errors that binary32 does not hold: of numbers below the smallest value, rounded up to it. */
static void errors_between_floats(void)
{
    enum { COUNT = 600 };
    static const float below[] = {0.4f, 0.24f, 0.2f, 0.1f, 0.06f, 0.03f, 0.01f, 0.003f};
    fpemu_format format;
    const fpemu_rounding r = {.mode = FPEMU_MODE_RAZ};
    lh_check(fpemu_format_parse("e2m1", &format, NULL) == FPEMU_OK, "e2m1");
    for (size_t k = 0; k < sizeof below / sizeof *below; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            float x[COUNT], y[COUNT];
            fpemu_stats stats = empty(0, NULL);
            for (size_t i = 0; i < COUNT; i++)
                x[i] = (float)sign * (i == 77 ? below[k] : 0.5f);
            lh_check(fpemu_quantize_f32(&format, &r, COUNT, x, y, &stats) == FPEMU_OK, "e2m1");
            lh_check(stats.max_error == 0.5 - (double)below[k], "error of %a: %a", (double)x[77], stats.max_error);
        }
}

int main(void)
{
    formats_and_modes();
    threads();
    reading();
    errors_between_floats();
    return lh_report("counters");
}
