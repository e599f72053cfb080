/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize_neighbours.c - every pair of neighbouring values with its midpoint and the carrier's numbers next to these,
 * and the thresholds past the ends: library against judge, value, code and counters, in every mode and policy. Formats
 * of more than 10 bits: the pairs around binade edges, the subnormal range and the ends, and a seeded sample.
 *
 * binary64 inputs are rounded once, directly: of named formats two of the carrier's numbers on each side, and more at
 * random. A detour through binary32 would show at nearly every midpoint. */
#include "../judges/bits.h"
#include "../judges/formats.h"
#include "compare.h"
#include "points.h"

static unsigned long failures, printed, lines;
static unsigned long long inputs;

static void check_rounding(const char *spec, const fpemu_format *f, const fpemu_format *parameters,
                           const fpemu_rounding *rounding, unsigned carrier, const points *p)
{
    judge *j = judge_open_any(parameters, rounding, carrier);
    if (!j)
        return; /* not a mode of this format */
    unsigned long found =
        compare_array(spec, f, rounding, carrier, p->x, p->n, j, printed < 100 ? 2 : 0, compare_print, NULL);
    failures += found;
    printed += found < 2 ? found : 2;
    inputs += p->n;
    lines++;
    judge_close(j);
}

static void check_format(const char *spec, const fpemu_format *parameters, int named)
{
    fpemu_format f = *parameters;
    if (named ? fpemu_format_parse(spec, &f, NULL) : fpemu_format_complete(&f)) {
        printf("FAIL %s is refused\n", spec);
        failures++;
        return;
    }
    for (unsigned carrier = 32; carrier <= 64; carrier += 32) {
        const int wide = named && carrier == 64;
        const points_want want = {
            .full_bits = named ? 10 : 8, .reach = wide ? 2 : 1, .random = wide ? 3000 : 200, .seed = 11};
        points p = {0};
        int fits = points_make(&p, parameters, carrier, &want);
        if (fits != (carrier == 32 ? f.fits_f32 : f.fits_f64)) {
            printf("FAIL %s: fits_f%u is %d, judge says %d\n", spec, carrier, !fits, fits);
            failures++;
        }
        for (int mode = 0; fits && mode < FPEMU_MODE_COUNT; mode++) {
            for (unsigned policy = 1; policy <= 3; policy++) {
                fpemu_rounding rounding = {.mode = (uint8_t)mode, .overflow = (uint8_t)policy};
                if (!named && policy == 2 + (unsigned)mode % 2)
                    continue;
                rounding.nan = (uint8_t)(1 + ((unsigned)mode + policy) % 5);
                if (FPEMU_MODE_DRAWS(mode)) {
                    static const uint8_t widths[] = {0, 1, 3, 8, 9, 16, 17, 31};
                    rounding.variant = (uint8_t)(mode == FPEMU_MODE_SR ? policy - 1 : 0);
                    rounding.bits = widths[(lines + policy) % 8];
                    rounding.generator = (uint8_t)(lines % 2);
                    rounding.seed = lines;
                    rounding.stream = policy;
                }
                check_rounding(spec, &f, parameters, &rounding, carrier, &p);
            }
        }
        points_free(&p);
    }
}

int main(void)
{
    ref_each(check_format);
    printf("quantize_neighbours: %llu inputs in %lu formats x modes x policies, %lu failures\n", inputs, lines,
           failures);
    return failures != 0;
}
