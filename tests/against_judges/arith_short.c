/* SPDX-License-Identifier: BSD-2-Clause */
/* arith_short.c - operations on arrays of binary32 without counters, which take binary32 itself where it has the bits,
 * against the call for one element, which takes 128 bits: ordinary operands, halves and neighbours of the format's
 * numbers, zeros, and operands beside the ends where binary32 no longer serves; arrays, single numbers, words. */
#include "../judges/longhand.h"
#include <math.h>
#include <string.h>

enum { N = 2600 }; /* more than two tiles */

static const char *const formats[] = {
    "fp16",        "bf16",        "e4m3fn",     "e5m2:saturate", "tf32",
    "fp(7,21,63)", "fp(5,22,15)", "fixed(8,4)", "fixed(16,12)",  "fp(7,20,63):flushin"};
enum { KINDS = 7 };

static float pick(int kind, const fpemu_format *f, uint64_t *state)
{
    const uint64_t r = lh_next(state);
    const int sign = (int)(r & 1) ? -1 : 1;
    const double fraction = 1 + (double)(r >> 40) * 0x1p-24;
    const fpemu_rounding nearest = {.overflow = FPEMU_OVERFLOW_SATURATE};
    switch (kind) {
    case 0: return (float)ldexp(sign * fraction, (int)(r >> 8) % 8);
    case 1: { /* numbers of the format */
        const float x = (float)ldexp(sign * fraction, (int)(r >> 8) % 12 - 4);
        return fpemu_quantize_one_f32(f, &nearest, x, 0);
    }
    case 2: { /* the same, or a sixteenth of a step beside it: near the middle too, and cancelling */
        const float x = fpemu_quantize_one_f32(f, &nearest, (float)ldexp(sign * fraction, (int)(r >> 8) % 3), 0);
        return r >> 16 & 3 ? x : x * (float)(1 + ldexp(sign, -(int)(r >> 20) % 23 - 1));
    }
    case 3: return (r >> 8) % 3 ? (float)ldexp(sign * fraction, (int)(r >> 12) % 5) : sign < 0 ? -0.0f : 0.0f;
    case 4: return (float)ldexp(sign * fraction, (int)(r >> 8) % 30 - 65);  /* products about 2^-100 */
    case 5: return (float)ldexp(sign * fraction, (int)(r >> 8) % 20 + 108); /* sums about 2^127 */
    default: return (float)ldexp(sign * fraction, (int)(r >> 8) % 254 - 127);
    }
}

static int same(float a, float b)
{
    uint32_t u, v;
    memcpy(&u, &a, sizeof u);
    memcpy(&v, &b, sizeof v);
    return u == v || (isnan(a) && isnan(b));
}

static void one_call(const char *spec, const fpemu_format *f, uint8_t mode, int operation, int kind, uint64_t seed)
{
    static float v[3][N], y[N];
    fpemu_rounding r = fpemu_rounding_nearest();
    const float *const operands[] = {v[0], v[1], v[2]};
    uint64_t state = seed;
    const size_t steps[] = {seed % 5 != 1, seed % 5 != 2, seed % 5 != 3};
    unsigned differ = 0, first = 0;
    r.mode = mode;
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < N; i++) {
            v[o][i] = pick(kind, f, &state);
            if (operation == FPEMU_OPERATION_SQRT && kind != 6)
                v[o][i] = fabsf(v[o][i]);
        }
    if (seed % 3 == 0)
        v[0][N / 2] = kind % 2 ? (float)NAN : (float)INFINITY; /* one tile goes another way */
    lh_check(fpemu_arith_f32(f, &r, (fpemu_operation)operation, N, operands, steps, y, NULL) == FPEMU_OK,
             "%s: operation %d refused", spec, operation);
    for (size_t i = 0; i < N; i++) {
        const float a = v[0][steps[0] ? i : 0], b = v[1][steps[1] ? i : 0], c = v[2][steps[2] ? i : 0];
        if (!same(y[i], fpemu_arith_one_f32(f, &r, (fpemu_operation)operation, a, b, c, i))) {
            first = differ ? first : (unsigned)i;
            differ++;
        }
    }
    lh_check(differ == 0, "%s mode %u operation %d, operands of kind %d: %u of %d differ, number %u first", spec, mode,
             operation, kind, differ, (int)N, first);
    if (seed % 2) { /* in place */
        memcpy(y, v[0], sizeof y);
        const float *const own[] = {y, v[1], v[2]};
        const size_t all[] = {1, steps[1], steps[2]};
        (void)fpemu_arith_f32(f, &r, (fpemu_operation)operation, N, own, all, y, NULL);
        for (size_t i = differ = 0; i < N; i++)
            differ += !same(y[i], fpemu_arith_one_f32(f, &r, (fpemu_operation)operation, v[0][i],
                                                      v[1][steps[1] ? i : 0], v[2][steps[2] ? i : 0], i));
        lh_check(differ == 0, "%s mode %u operation %d in place: %u differ", spec, mode, operation, differ);
    }
}

int main(void)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        fpemu_format f;
        if (!lh_check(fpemu_format_parse(formats[i], &f, NULL) == FPEMU_OK, "%s", formats[i]))
            continue;
        for (int operation = 0; operation < 6; operation++)
            for (uint8_t mode = 0; mode < FPEMU_MODE_SR; mode++)
                for (int k = 0; k < 3; k++, seed++)
                    one_call(formats[i], &f, mode, operation, (int)(seed * 5 % KINDS), seed + 1);
    }
    return lh_report("arith_short");
}
