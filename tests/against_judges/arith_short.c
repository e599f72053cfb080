/* SPDX-License-Identifier: BSD-2-Clause */
/* arith_short.c - operations on arrays without counters, which take the carrier itself where it has the bits, against
 * the call for one element, which takes 128 bits: ordinary operands, halves and neighbours of the format's numbers,
 * zeros, operands beside the carrier's ends, infinity and NaN; arrays and single numbers of both carriers. */
#include "../judges/longhand.h"

enum { N = 2600, WIDE = 1300 }; /* more than two tiles, and one */

static const char *const formats[] =
    LIST("fp16", "bf16", "e4m3fn", "e5m2:saturate", "tf32", "fp(7,21,63)", "fp(5,22,15)", "fixed(8,4)", "fixed(16,12)",
         "fp(7,20,63):flushin", "int8", "uint8", "e8m0", "int(8,zero=3)", "posit(16,1)", "fp(8,21,126)",
         "bf16:saturate", "fixed(22,-104)", "fixed(24,-103)", "float(e=8,m=20):flushout", "fp(8,18,127)",
         "float(e=11,m=40)", "float(e=10,m=50)", "float(e=10,m=51)", "fixed(40,20)", "posit(8,0)", "posit(16,2)",
         "posit(17,3)", "posit(22,2)", "posit(32,2)", "posit(32,5)", "posit(6,4)");
enum { KINDS = 7, POLICIES = FPEMU_OVERFLOW_SATURATE_KEEP_INF + 1 };

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

/* With bits that binary32 has not, and of binary64's ends. */
static double pick_wide(int kind, const fpemu_format *f, uint64_t *state)
{
    const uint64_t r = lh_next(state);
    const double x = (double)pick(kind, f, state), more = r & 1 ? ldexp((double)(r >> 60) - 8, -52) : 0;
    const int far = kind == 4 ? -440 : kind == 5 ? 896 : kind == 6 ? (int)(r >> 16) % 900 : 0;
    return ldexp(x * (1 + more), r & 2 ? far : -far / 8);
}

/* How many of n results are not those of the call for one element; `first` is one of them. */
static unsigned differing(const fpemu_format *f, const fpemu_rounding *r, int carrier, int operation, size_t n,
                          const double *const *v, const size_t *steps, const void *y, size_t *first)
{
    unsigned differ = 0;
    for (size_t i = n; i-- > 0;) {
        const double a = v[0][steps[0] ? i : 0], b = v[1][steps[1] ? i : 0], c = v[2][steps[2] ? i : 0];
        const fpemu_operation o = (fpemu_operation)operation;
        const double one = carrier == 32 ? (double)fpemu_arith_one_f32(f, r, o, (float)a, (float)b, (float)c, i)
                                         : fpemu_arith_one_f64(f, r, o, a, b, c, i);
        if (lh_same_f64(lh_at(carrier, y, i), one))
            continue;
        *first = i;
        differ++;
    }
    return differ;
}

static void one_call(const char *spec, const fpemu_format *f, int carrier, uint8_t mode, int operation, int kind,
                     uint64_t seed)
{
    static float narrow[3][N];
    static double wide[3][N], y[N];
    const size_t n = carrier == 32 ? N : WIDE, size = carrier == 32 ? sizeof(float) : sizeof(double);
    fpemu_rounding r = fpemu_rounding_nearest();
    const double *const v[] = {wide[0], wide[1], wide[2]};
    const void *operands[3];
    uint64_t state = seed;
    size_t steps[] = {seed % 5 != 1, seed % 5 != 2, seed % 5 != 3}, first = 0;
    r.mode = mode;
    r.overflow = (uint8_t)(seed / KINDS % POLICIES);
    r.offset = seed % 2 ? 0 : seed * 77;
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < n; i++) {
            wide[o][i] = carrier == 32 ? (double)pick(kind, f, &state) : pick_wide(kind, f, &state);
            if (operation == FPEMU_OPERATION_SQRT && kind != 6)
                wide[o][i] = fabs(wide[o][i]);
        }
    if (seed % 3 == 0)
        wide[0][n / 2] = kind % 2 ? (double)NAN : (double)INFINITY; /* one tile goes another way */
    for (int o = 0; o < 3; o++) {
        for (size_t i = 0; i < n; i++)
            narrow[o][i] = (float)wide[o][i];
        operands[o] = carrier == 32 ? (const void *)narrow[o] : (const void *)wide[o];
    }
    for (int in_place = 0; in_place <= (int)(seed % 2); in_place++) {
        if (in_place) {
            memcpy(y, operands[0], n * size);
            operands[0] = y;
            steps[0] = 1;
        }
        lh_check(fpemu_arith(f, &r, carrier, (fpemu_operation)operation, n, operands, steps, y, NULL) == FPEMU_OK,
                 "%s: operation %d refused", spec, operation);
        const unsigned differ = differing(f, &r, carrier, operation, n, v, steps, y, &first);
        lh_check(differ == 0,
                 "%s mode %u operation %d f%d, operands of kind %d%s: %u of %zu differ, number %zu first: %a %a %a",
                 spec, mode, operation, carrier, kind, in_place ? ", in place" : "", differ, n, first, v[0][first],
                 v[1][first], v[2][first]);
    }
}

int main(void)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        fpemu_format f = lh_parsed(formats[i]);
        for (int operation = 0; operation < 6; operation++)
            for (uint8_t mode = 0; mode < FPEMU_MODE_COUNT; mode++)
                for (int k = 0; k < (f.kind != FPEMU_KIND_POSIT ? 2
                                     : mode == FPEMU_MODE_RNE   ? 2 * KINDS
                                                                : 0);
                     k++, seed++) {
                    for (int carrier = f.fits_f32 ? 32 : 64; carrier <= 64; carrier += 32)
                        one_call(formats[i], &f, carrier, mode, operation, (int)(seed * 5 % KINDS), seed + 1);
                }
    }
    return lh_report("arith_short");
}
