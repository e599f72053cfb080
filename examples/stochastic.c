/* SPDX-License-Identifier: BSD-2-Clause */
/* Stochastic rounding keeps small steps alive: add 0.001 a thousand times to a bfloat16 sum that starts at 1. To
 * nearest, every step is lost, because the values above 1 lie 2^-7 apart; stochastically, it is kept on average. */
#include <fpemu.h>
#include <stdio.h>

static float sum_of_steps(const fpemu_format *format, const fpemu_rounding *rounding)
{
    float sum = 1.0f;
    for (uint64_t i = 0; i < 1000; i++)
        sum = fpemu_quantize_one_f32(format, rounding, sum + 0.001f, i); /* step i draws random number i */
    return sum;
}

int main(void)
{
    fpemu_format format;
    if (fpemu_format_named(FPEMU_NAME_BFLOAT16, &format))
        return 1;
    fpemu_rounding nearest = fpemu_rounding_nearest();
    fpemu_why why;
    if (fpemu_check(&format, &nearest, FPEMU_TYPE_F32, &why)) { /* else every single number would be NaN */
        fprintf(stderr, "%s\n", why.message);
        return 1;
    }
    printf("nearest even:        %g\n", (double)sum_of_steps(&format, &nearest));
    for (uint64_t stream = 0; stream < 4; stream++) {
        fpemu_rounding rounding = fpemu_rounding_stochastic(42, stream);
        printf("stochastic, run %d:   %g\n", (int)stream, (double)sum_of_steps(&format, &rounding));
    }
    printf("exact:               2\n");
    return 0;
}
