/* SPDX-License-Identifier: BSD-2-Clause */
/* What an 8-bit float does to an array: round it, and read the counters. */
#include <fpemu.h>
#include <stdio.h>

int main(void)
{
    const float x[] = {0.1f, -1.0f, 3.14159f, 250.0f, 1000.0f, 1e-5f};
    enum { N = sizeof x / sizeof x[0] };
    float y[N];

    fpemu_format format;
    fpemu_parse_error error;
    if (fpemu_format_parse("e4m3fn:saturate", &format, &error)) {
        fprintf(stderr, "at character %u: %s\n", (unsigned)error.position, error.message);
        return 1;
    }
    fpemu_rounding rounding = fpemu_rounding_nearest();
    fpemu_stats stats = {.request.want = FPEMU_STATS_SUMS};
    fpemu_status status = fpemu_quantize_f32(&format, &rounding, N, x, y, &stats);
    if (status) {
        fprintf(stderr, "%s\n", fpemu_status_text(status));
        return 1;
    }
    for (int i = 0; i < N; i++)
        printf("%12g -> %g\n", (double)x[i], (double)y[i]);
    printf("%d clipped, %d became zero, signal to noise %.1f dB\n", (int)stats.clipped, (int)stats.underflow,
           fpemu_stats_sqnr(&stats));
    return 0;
}
