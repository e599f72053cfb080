/* SPDX-License-Identifier: BSD-2-Clause */
/* squeezed.c - S2FP8 in long arrays, which are looked up among the steps of their tensor, against the same elements in
 * calls too short for that, which calculate two logarithms each. tests/against_judges/blocks.c judges the rule by MPFR.
 *
 *   squeezed              element formats, modes, tensors, both carriers: at the steps and anywhere; every variant
 *   squeezed --all [K...] all 2^32 binary32 inputs with the numbers of tensor K, to nearest: the same result at both
 *                         ends of a run of equal results, or each element by itself
 */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/longhand.h"
#include "variants.h"
#include <math.h>
#include <stdlib.h>

#define MOST 8192

/* Tensors, by what is drawn for them: magnitudes around 2^mean, spread so many binades. Without spread alpha is 1, and
 * the numbers where results change are binary32 numbers. */
typedef struct tensor {
    double mean, spread;
} tensor;

static const tensor tensors[] = {{-6, 3},  {0, 1},    {-3, 0},     {-14, 8},  {3, 0.3},
                                 {40, 20}, {-60, 12}, {-20, 0.01}, {-100, 24}};
enum { TENSORS = sizeof tensors / sizeof *tensors };

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static float points32[MOST], y32[MOST];
static double points64[MOST], y64[MOST];
static size_t count;

/* About normal, from twelve uniform numbers. */
static double draw(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(lh_next(state) >> 11) * 0x1p-53;
    return sum;
}

static fpemu_range measured(const fpemu_format *f, const tensor *t)
{
    static float x[4096];
    uint64_t state = 3;
    fpemu_range range = {0};
    for (int i = 0; i < 4096; i++)
        x[i] = (float)(exp2(t->mean + t->spread * draw(&state)) * (lh_next(&state) & 1 ? 1 : -1));
    lh_check(fpemu_measure_f32(f, 4096, x, &range) == FPEMU_OK, "a tensor is not measured");
    return range;
}

static fpemu_shape shape_of(size_t n, const fpemu_range *whole)
{
    const fpemu_shape shape = {.outer = 1, .rows = 1, .length = n, .inner = 1, .whole = whole};
    return shape;
}

static double alone(const fpemu_format *f, const fpemu_rounding *r, const fpemu_range *whole, int carrier, double x)
{
    const fpemu_shape shape = shape_of(1, whole);
    float one32 = (float)x, got32 = 0;
    double one64 = x, got64 = 0;
    lh_check(fpemu_quantize_tensor(f, r, carrier, &shape, LH_OF(&one), LH_OF(&got), NULL) == FPEMU_OK,
             "%a is not rounded", x);
    return carrier == 32 ? (double)got32 : got64;
}

static void add_point(double x, int i)
{
    if (count < MOST) {
        points32[count] = (float)(i & 1 ? -x : x);
        points64[count++] = i & 2 ? -x : x;
    }
}

/* Where results change between two magnitudes: the numbers around, in both carriers. */
static void add_steps(const fpemu_format *f, const fpemu_rounding *r, const fpemu_range *whole, uint32_t low,
                      uint32_t high)
{
    if (lh_double_bits(alone(f, r, whole, 32, (double)lh_float(low))) ==
        lh_double_bits(alone(f, r, whole, 32, (double)lh_float(high))))
        return;
    if (high - low > 1) {
        add_steps(f, r, whole, low, low + (high - low) / 2);
        add_steps(f, r, whole, low + (high - low) / 2, high);
        return;
    }
    double a = (double)lh_float(low), b = (double)lh_float(high);
    for (int i = 0; i < 3; i++)
        add_point((double)lh_float(high + 1 - (uint32_t)i), i);
    while (nextafter(a, b) < b) {
        const double middle = a + (b - a) / 2;
        const int same = lh_double_bits(alone(f, r, whole, 64, middle)) == lh_double_bits(alone(f, r, whole, 64, a));
        *(same ? &a : &b) = middle;
    }
    for (int i = 0; i < 4; i++)
        add_point(i < 2 ? a : b, i);
}

static void compare(const char *name, const fpemu_format *f, const fpemu_rounding *r, const fpemu_range *whole)
{
    const fpemu_shape shape = shape_of(count, whole);
    for (int carrier = 32; carrier <= 64; carrier += 32) {
        lh_check(fpemu_quantize_tensor(f, r, carrier, &shape, LH_OF(points), LH_OF(y), NULL) == FPEMU_OK,
                 "%s: not rounded", name);
        for (size_t i = 0; i < count; i++) {
            const double x = lh_at(carrier, LH_OF(points), i), y = lh_at(carrier, LH_OF(y), i);
            const double one = alone(f, r, whole, carrier, x);
            if (!lh_check(lh_double_bits(y) == lh_double_bits(one), "%s mode %u: %a gives %a, by itself %a", name,
                          r->mode, x, y, one))
                break;
        }
        digest = variants_fold(digest, LH_OF(y), count * (carrier == 32 ? sizeof *y32 : sizeof *y64));
    }
}

static void some(void)
{
    static const char *const specs[] = {"s2fp8", "s2fp8(e4m3)", "s2fp8(e4m3fn)", "s2fp8(e3m2)", "s2fp8(e2m5)"};
    static const int modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RTZ, FPEMU_MODE_RNA, FPEMU_MODE_RAZ, FPEMU_MODE_RTP};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            for (int t = 0; t < TENSORS; t++) {
                fpemu_rounding r = {.mode = (uint8_t)modes[m]};
                uint64_t state = 17;
                if (t >= 3 && (s + m + (size_t)t) % 4)
                    continue; /* some of all */
                fpemu_format f = lh_parsed(specs[s]);
                const fpemu_range whole = measured(&f, &tensors[t]);
                count = 0;
                add_steps(&f, &r, &whole, lh_float_bits((float)exp2(tensors[t].mean - 2)),
                          lh_float_bits((float)exp2(tensors[t].mean + 2)));
                for (int i = 0; i < 4; i++) {
                    add_point(0, i);
                    add_point(INFINITY, i);
                    add_point(NAN, i);
                    add_point(0x1p-149, i);
                    add_point(0x1.fffffep127, i);
                }
                while (count < 1500)
                    add_point(lh_next(&state) & 1 ? exp2(tensors[t].mean + 1.5 * tensors[t].spread * draw(&state))
                                                  : fabs((double)lh_float((uint32_t)lh_next(&state))),
                              (int)(lh_next(&state) >> 40));
                compare(specs[s], &f, &r, &whole);
            }
}

/* All inputs with the numbers of a tensor. */
static void exhaustive(int t)
{
    static float x[1 << 16], y[1 << 16];
    fpemu_format f;
    const fpemu_rounding r = {0};
    uint64_t judged = 0;
    lh_check(fpemu_format_parse("s2fp8", &f, NULL) == FPEMU_OK, "no format");
    const fpemu_range whole = measured(&f, &tensors[t]);
    const fpemu_shape shape = shape_of(1 << 16, &whole);
    for (uint32_t high = 0; high < 1 << 16; high++) {
        for (uint32_t low = 0; low < 1 << 16; low++)
            x[low] = lh_float(high << 16 | low);
        (void)fpemu_quantize_tensor_f32(&f, &r, &shape, x, y, NULL);
        for (uint32_t low = 0, end; low < 1 << 16; low = end) {
            /* a run of equal results of finite numbers: by both ends, since t grows with |x| but for its errors, which
             * are far smaller than from one binary32 number to the next; others by themselves */
            const int finite = (high & 0x7fff) < 0x7f80;
            end = low + 1;
            while (finite && end < 1 << 16 && lh_float_bits(y[end]) == lh_float_bits(y[low]))
                end++;
            const uint32_t step = end - low > 1 ? end - low - 1 : 1;
            for (uint32_t i = low; i < end; i += step, judged++)
                if (!lh_check(lh_float_bits(y[i]) == lh_float_bits((float)alone(&f, &r, &whole, 32, (double)x[i])),
                              "tensor %d: %a", t, (double)x[i]))
                    return;
        }
    }
    printf("tensor %d: all inputs, %llu judged by themselves\n", t, (unsigned long long)judged);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--all") == 0) {
        for (int t = 0; t < TENSORS; t++) {
            int wanted = argc == 2;
            for (int i = 2; i < argc; i++)
                wanted |= atoi(argv[i]) == t;
            if (wanted)
                exhaustive(t);
        }
        return lh_report("squeezed");
    }
    some();
    return variants_end(argc, argv, "squeezed", digest);
}
