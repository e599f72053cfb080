/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize_f64.c - binary64 inputs are rounded once, directly: values, midpoints and overflow points +- 2 ulp of
 * binary64, and seeded random numbers, for every named format. A detour through binary32 would show at nearly every
 * midpoint. */
#include "../judges/bits.h"
#include "../judges/formats.h"
#include "../list.h"
#include "compare.h"
#include "points.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned long failures, printed, lines;
static unsigned long long inputs;

/* Answers worked out by hand: a double just off a midpoint, which binary32 would move onto it. */
static void check_known(void)
{
    static const struct {
        const char *spec;
        int mode;
        double x, y;
    } known[] = LIST(
        {"e4m3fn", FPEMU_MODE_RNE, -431.99999999999994, -416}, {"e4m3fn", FPEMU_MODE_RNE, -432, -448},
        {"e4m3fn", FPEMU_MODE_RNE, 0x1.d000000000001p8, NAN}, {"e4m3fn", FPEMU_MODE_RNE, 464, 448},
        {"e4m3fn", FPEMU_MODE_RTP, 0x1.0000000000001p0, 1.125}, {"e4m3fn", FPEMU_MODE_RTO, 0x1.0000000000001p0, 1.125},
        {"e2m1", FPEMU_MODE_RNE, 0x1.4000000000001p1, 3}, {"bfloat16", FPEMU_MODE_RNE, 0x1.0100000000001p0, 0x1.02p0},
        {"bfloat16", FPEMU_MODE_RNE, 0x1.01p0, 1}, {"binary16", FPEMU_MODE_RNE, 0x1.ffdffffffffffp15, 65504},
        {"binary32", FPEMU_MODE_RNE, 0x1.0000010000001p0, 0x1.000002p0},
        {"int8", FPEMU_MODE_RNE, 2.5000000000000004, 3}, {"fixed(8,4)", FPEMU_MODE_RTZ, 0x1.fffffffffffffp-5, 0},
        {"posit(8,0)", FPEMU_MODE_RNE, 0x1.0400000000001p0, 1.03125});
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        fpemu_format f;
        fpemu_rounding rounding = {.mode = (uint8_t)known[i].mode};
        double y = NAN;
        if (fpemu_format_parse(known[i].spec, &f, NULL) == FPEMU_OK)
            y = fpemu_quantize_one_f64(&f, &rounding, known[i].x, 0);
        if (lh_double_bits(y) != (isnan(known[i].y) ? UINT64_C(0x7ff8000000000000) : lh_double_bits(known[i].y))) {
            printf("FAIL %s %s x=%a: want %a, library %a\n", known[i].spec, compare_mode(rounding.mode), known[i].x,
                   known[i].y, y);
            failures++;
        }
    }
}

int main(void)
{
    points_want want = {.full_bits = 8, .reach = 2, .random = 10000, .seed = 5};
    const ref_format *r;
    size_t i;

    check_known();
    for (i = 0; (r = ref_formats(i)) != NULL; i++) {
        fpemu_format f;
        points p = {0};
        int mode;
        if (fpemu_format_parse(r->spec, &f, NULL) != FPEMU_OK || !points_make(&p, &r->f, 64, &want)) {
            printf("FAIL %s is not usable\n", r->spec);
            failures++;
            continue;
        }
        for (mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            fpemu_rounding rounding = {.mode = (uint8_t)mode, .overflow = (uint8_t)(1 + lines % 3)};
            unsigned long found;
            judge *j;
            if (mode >= FPEMU_MODE_SR) {
                rounding.variant = (uint8_t)(mode == FPEMU_MODE_SR ? i % 3 : 0);
                rounding.seed = 100 + lines;
            }
            j = judge_open_any(&r->f, &rounding, 64);
            if (!j)
                continue;
            found = compare_array(r->spec, &f, &rounding, 64, p.x, p.n, j, printed < 100 ? 2 : 0, compare_print, NULL);
            failures += found;
            printed += found < 2 ? found : 2;
            inputs += p.n;
            lines++;
            judge_close(j);
        }
        points_free(&p);
    }
    printf("quantize_f64: %llu inputs in %lu formats x modes, %lu failures\n", inputs, lines, failures);
    return failures != 0;
}
