/* SPDX-License-Identifier: BSD-2-Clause */
/* Choose a format from its counters. The array is worked through in slices, as one that does not fit in memory would
 * be: `offset` says where a slice begins, so that its bits are those of one call, and the counters add up. */
#include <fpemu.h>
#include <math.h>
#include <stdio.h>

enum { LENGTH = 1 << 16, SLICE = 4096 };

/* Bell-shaped data over many powers of two, the same on every run. */
static void fill(float *x)
{
    for (uint64_t i = 0; i < LENGTH; i++) {
        double sum = -2.0;
        for (uint64_t k = 0; k < 4; k++)
            sum += fpemu_random_word(FPEMU_GENERATOR_HASH, 1, k, i) / 4294967296.0;
        x[i] = (float)ldexp(sum, -(int)(i % 16));
    }
}

int main(void)
{
    static const char *const specs[] = {"fp16", "bf16", "e5m2", "e4m3fn", "fixed(8,6)", "e2m1"};
    static float x[LENGTH], y[SLICE];
    fill(x);
    printf("%-12s %10s %9s %9s %9s\n", "format", "SQNR (dB)", "clipped", "zeroed", "inexact");
    for (size_t f = 0; f < sizeof specs / sizeof specs[0]; f++) {
        fpemu_format format;
        if (fpemu_format_parse(specs[f], &format, NULL))
            return 1;
        fpemu_stats stats = {.request.want = FPEMU_STATS_SUMS};
        fpemu_rounding rounding = fpemu_rounding_stochastic(42, 0);
        for (size_t at = 0; at < LENGTH; at += SLICE) {
            rounding.offset = at;
            if (fpemu_quantize_f32(&format, &rounding, SLICE, x + at, y, &stats))
                return 1;
        }
        printf("%-12s %10.2f %9d %9d %9d\n", specs[f], fpemu_stats_sqnr(&stats), (int)stats.clipped,
               (int)stats.underflow, (int)stats.inexact);
    }
    return 0;
}
