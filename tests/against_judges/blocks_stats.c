/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_stats.c - what is counted of blocked formats (doc/blocks.md, section 7) against the judge: counters, extrema,
 * histograms of elements and scales, error sums; and that pieces merge to the whole.
 *
 * blocks_stats [--rounds N] [--seed S]
 */
#include "../judges/longhand.h"
#include "blocks_cases.h"

static unsigned long rounds = 1;
static uint64_t first_seed = 1;

/* S2FP8, of which the judge knows no logarithms: with the range of another tensor, of 2^-1000 alone, alpha is 1, and
 * 2^1000 comes to be 2^2015, past binary64 and past every element. */
static void squeezed_past_the_end(void)
{
    enum { N = 3000 };
    static double x[N], y[N];
    const double small = 0x1p-1000;
    for (int i = 0; i < N; i++)
        x[i] = i % 2 ? 0x1p1000 : -0x1p1000;
    for (int k = 0; k < 2 * FPEMU_MODE_COUNT; k++) {
        fpemu_format f;
        fpemu_range whole = {0};
        fpemu_stats stats = {0};
        fpemu_rounding r = fpemu_rounding_nearest();
        fpemu_shape s = fpemu_shape_vector(k % 3 ? N : 5);
        r.mode = (uint8_t)(k / 2);
        s.whole = &whole;
        lh_check(fpemu_format_parse(k % 2 ? "s2fp8" : "s2fp8(e4m3fn)", &f, NULL) == FPEMU_OK &&
                     fpemu_measure_f64(&f, 1, &small, &whole) == FPEMU_OK &&
                     fpemu_quantize_tensor_f64(&f, &r, &s, x, y, &stats) == FPEMU_OK && stats.clipped == s.length &&
                     stats.overflow == s.length && stats.invalid == 0,
                 "s2fp8 of mode %d: %" PRIu64 " clipped, %" PRIu64 " overflow, %" PRIu64 " invalid of %" PRIu64, k / 2,
                 stats.clipped, stats.overflow, stats.invalid, s.length);
    }
}

/* Blocks longer than a piece of a sum, and sums that overflow. */
static void long_blocks(void)
{
    static const char *const specs[] = {
        "mx(e4m3fn,block=tensor)", "group(int8,5000)", "mx(e2m1,block=row)", "hbfp(8,block=channel)", "nvfp4",
        "scaled(e4m3fn)"};
    block_case c = {0};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        case_named(&c, specs[i]);
        for (c.carrier = 32; c.carrier <= 64; c.carrier += 32) {
            c.seed = i + 1;
            c.shape = fpemu_shape_vector(9001);
            if (i % 2) {
                c.shape.outer = 3;
                c.shape.length = 2;
                c.shape.inner = 1500;
            }
            if (i == 1)
                c.shape = fpemu_shape_vector(12345);
            case_fill(&c);
            memset(&c.r, 0, sizeof c.r);
            (void)case_counters(&c);
        }
    }
    case_free(&c);
}

/* Whole blocks in two calls, merged or counted on, and in one; on any number of elements. */
static void merging(void)
{
    static float x[6000], y[6000];
    static const char *const specs[] = {"mxfp4", "nf4", "group(int6,64)", "msfp12", "nvfp4"};
    uint64_t state = 11;
    for (size_t i = 0; i < 6000; i++)
        x[i] = (float)(int64_t)lh_next(&state) * 0x1p-60f;
    for (size_t i = 0; i < 6000; i += 97)
        x[i] = 0;
    memset(x + 640, 0, 64 * sizeof *x);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t k = 1; k < 90; k += 7) {
            fpemu_rounding r = fpemu_rounding_stochastic(3, 4), second;
            fpemu_stats one = {0}, a, b, on;
            fpemu_range whole = {0};
            fpemu_shape s;
            size_t cut = 64 * k;
            one.request.want = FPEMU_STATS_SUMS;
            a = b = on = one;
            fpemu_format f = lh_parsed(specs[i]);
            (void)fpemu_measure_f32(&f, 6000, x, &whole);
            second = r;
            second.offset = cut;
            lh_check(fpemu_quantize_f32(&f, &r, 6000, x, y, &one) == FPEMU_OK, "%s", specs[i]);
            s = fpemu_shape_vector(cut);
            s.whole = &whole;
            lh_check(fpemu_quantize_tensor_f32(&f, &r, &s, x, y, &a) == FPEMU_OK, "%s", specs[i]);
            (void)fpemu_quantize_tensor_f32(&f, &r, &s, x, y, &on);
            s.length = 6000 - cut;
            lh_check(fpemu_quantize_tensor_f32(&f, &second, &s, x + cut, y, &b) == FPEMU_OK, "%s", specs[i]);
            (void)fpemu_quantize_tensor_f32(&f, &second, &s, x + cut, y, &on);
            lh_check(fpemu_stats_merge(&a, &b) == FPEMU_OK && memcmp(&a, &one, sizeof a) == 0 &&
                         memcmp(&on, &one, sizeof on) == 0,
                     "%s: stats of two pieces cut at %zu differ from those of the whole", specs[i], cut);
        }
}

int main(int argc, char **argv)
{
    case_options(argc, argv, &rounds, &first_seed);
    case_randomised(case_counters, 1, 10 * rounds, first_seed);
    squeezed_past_the_end();
    long_blocks();
    merging();
    return lh_report("blocks_stats");
}
