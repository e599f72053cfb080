/* SPDX-License-Identifier: BSD-2-Clause */
/* affine.c - arrays of affine integers, which the loops round by a quick form where it holds, against each element by
 * itself, which follows the rule of doc/numerics.md step by step: at every integer and every half between two, and
 * stochastically where the random bits just decide. tests/against_judges/quantize.c and, for all floats,
 * quantize_exhaustive.c judge these formats by other means. Integers with plain steps are here for their codes. */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/longhand.h"
#include "alone.h"
#include "variants.h"

#define MOST 8192

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static float x32[MOST], y32[MOST];
static double x64[MOST], y64[MOST];
static size_t count;

static void add_around(double x)
{
    float a = (float)x, b = a;
    double c = x, d = x;
    if (count + 5 > MOST)
        return;
    for (int i = 0; i < 5; i++) {
        x32[count] = i == 0 ? a : i % 2 ? (a = nextafterf(a, INFINITY)) : (b = nextafterf(b, -INFINITY));
        x64[count++] = i == 0 ? x : i % 2 ? (c = nextafter(c, INFINITY)) : (d = nextafter(d, -INFINITY));
    }
}

/* The step of a format. */
static double step_of(const fpemu_format *f)
{
    return f->kind == FPEMU_KIND_INT ? (double)(float)f->scale : f->min_positive;
}

/* Integers and halves about the ends and zero and in between, and others. */
static void make_points(const fpemu_format *f)
{
    const double s = step_of(f);
    const double low = f->lowest / s, high = f->max / s, step = high - low < 300 ? 1 : (high - low) / 290;
    uint64_t state = 3;
    count = 0;
    add_around(0);
    add_around(-0.0);
    x32[0] = -0.0f;
    x64[0] = -0.0;
    for (double k = low - 3 * step; k < high + 3 * step; k += step) {
        const double whole = floor(k);
        add_around(whole * s);
        add_around((whole + 0.5) * s);
        add_around(-(whole + 0.5) * (f->kind == FPEMU_KIND_INT ? f->scale : s));
    }
    const double others[] =
        LIST(INFINITY, -INFINITY, 1e38, -1e38, 1e300, 1e-45, -1e-45, 1e-310, lh_double(UINT64_C(0x7ff8000000000000)),
             lh_double(UINT64_C(0xfff8000000000000)), f->max, f->lowest);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_around(others[i]);
    while (count + 5 <= MOST) {
        const int far = f->wrap && lh_next(&state) % 2 ? (int)(lh_next(&state) % 90) : 0;
        add_around(ldexp((low + (high - low) * ((double)(lh_next(&state) >> 11) * 0x1p-53)) * s, far));
    }
}

/* x so that its fraction of a step and the random bits of its place make one, about. */
static void make_close(const fpemu_format *f, const fpemu_rounding *r)
{
    const double s = step_of(f);
    uint64_t state = 8;
    for (count = 0; count < MOST; count++) {
        const uint32_t bits = lh_bits(0, r->seed, r->stream, r->offset + count, 32);
        const double high = f->max / s, low = -f->lowest / s, end = count % 2 ? low : high;
        const double whole = floor((double)(lh_next(&state) >> 11) * 0x1p-53 *
                                   (count % 4 < 2 ? end
                                    : end < 5     ? end
                                                  : 5));
        const double near = ldexp((double)(lh_next(&state) % 17) - 8, -(int)(lh_next(&state) % 4) * 8 - 22);
        x64[count] = (whole + 1 - ldexp((double)bits, -32) + near) * s * (count % 2 ? -1 : 1);
        x32[count] = (float)x64[count];
    }
}

static void compare(const char *spec, const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    static union {
        uint8_t bytes[MOST];
        uint16_t words[MOST];
        uint32_t longs[MOST];
    } codes;
    const size_t n = count, size = fpemu_format_code_size(f);
    const void *const x = LH_OF(x);
    void *const y = LH_OF(y);
    (void)fpemu_quantize(f, r, carrier, n, x, y, NULL);
    alone_values(spec, f, r, carrier, n, x, y, NULL);
    digest = fnv(digest, y, n * (size_t)carrier / 8);
    if (carrier == 64) {
        fpemu_stats stats = {0};
        (void)fpemu_quantize(f, r, carrier, n, x, y, &stats);
        alone_values(spec, f, r, carrier, n, x, y, &stats);
    }
    if (f->bits > 22)
        return;
    (void)fpemu_encode(f, r, carrier, n, x, &codes, NULL);
    alone_codes(spec, f, r, carrier, n, x, &codes);
    for (size_t at = 0; size <= 2 && at < (size == 1 ? 1 : 1 << 16); at += MOST) {
        for (size_t i = 0; i < MOST; i++)
            if (size == 1)
                codes.bytes[i] = (uint8_t)i;
            else
                codes.words[i] = (uint16_t)(at + i);
        (void)fpemu_decode(f, carrier, MOST, &codes, y);
        alone_decoded(spec, f, carrier, MOST, &codes, y);
    }
}

/* scale * k in binary32: 24 bits by at most 33 are an integer of 57, and converting it rounds to nearest even. */
static float wide_value(float scale, int64_t k)
{
    int exponent;
    const int64_t significand = (int64_t)ldexp(frexp((double)scale, &exponent), 24);
    return (float)ldexp((double)(float)(significand * k), exponent - 24);
}

/* Integers of more bits than binary32 has: many have one value. The ends stay where they are in every mode, those of
 * formats that wrap too, and count no overflow; the numbers past them do. */
static void compare_ends(const char *spec, const fpemu_format *f, int mode)
{
    enum { N = 64 };
    float x[N], y[N], back[N];
    uint32_t codes[N];
    fpemu_rounding r = {.mode = (uint8_t)mode};
    const int64_t high = f->is_signed ? (INT64_C(1) << (f->bits - 1)) - 1 : (INT64_C(1) << f->bits) - 1;
    const int64_t low = f->is_signed ? -high - 1 : 0;
    for (int side = 0; side < 2; side++)
        for (int past = 0; past < 2; past++) {
            const int64_t k = (side ? low : high) - f->zero_point;
            const float end = wide_value((float)f->scale, k), next = nextafterf(end, side ? -INFINITY : INFINITY);
            for (int i = 0; i < N; i++)
                x[i] = past ? next : end;
            if (past && imaxabs(k) < INT64_C(1) << 25)
                continue; /* may round back */
            const uint64_t expected = past ? N : 0;
            fpemu_stats quantized = {0}, encoded = {0};
            lh_check(fpemu_quantize_f32(f, &r, N, x, y, &quantized) == FPEMU_OK, "%s: quantize", spec);
            lh_check(quantized.overflow == expected && quantized.clipped == expected,
                     "%s mode %d: %a counts %d overflow, %d clipped", spec, mode, (double)x[0], (int)quantized.overflow,
                     (int)quantized.clipped);
            lh_check(fpemu_encode_f32(f, &r, N, x, codes, &encoded) == FPEMU_OK, "%s: encode", spec);
            lh_check(encoded.overflow == expected && encoded.clipped == expected,
                     "%s mode %d: the code of %a counts %d overflow, %d clipped", spec, mode, (double)x[0],
                     (int)encoded.overflow, (int)encoded.clipped);
            if (past && f->wrap)
                continue;
            (void)fpemu_decode_f32(f, N, codes, back);
            for (int i = 0; i < N; i++)
                lh_check(y[i] == end && back[i] == end && fpemu_quantize_one_f32(f, &r, x[i], (uint64_t)i) == end,
                         "%s mode %d: %a gives %a, its code %a", spec, mode, (double)x[i], (double)y[i],
                         (double)back[i]);
            (void)fpemu_quantize_f32(f, &r, N, x, y, NULL);
            for (int i = 0; i < N; i++)
                lh_check(y[i] == end, "%s mode %d: %a gives %a", spec, mode, (double)x[i], (double)y[i]);
        }
}

int main(int argc, char **argv)
{
    static const char *const specs[] =
        LIST("int(8,scale=0.1)", "int(8,scale=0.1,zero=3)", "uint(8,scale=0.02,zero=128)", "int(4,scale=0.3)",
             "int(8,scale=0.003):symmetric", "int(12,scale=1.7)", "uint(16,scale=0.1)", "int(16,scale=0.7,zero=-5)",
             "int(16,scale=0.7):symmetric", "int(17,scale=0.3)", "int(18,scale=0.3)", "int(22,scale=0.1)",
             "int(8,scale=1e-17)", "int(8,scale=3e-18)", "int(8,scale=7e16)", "int(8,scale=9e16)", "int(8,scale=1e-40)",
             "int(8,scale=0.1):wrap", "int(24,scale=0.1)", "int(32,scale=0.7)", "uint(32,scale=1e-9,zero=100000)",
             "int(29,scale=0.3,zero=-7)", "uint(31,scale=0.3,zero=2147483647)", "int(32,scale=0.1):wrap",
             "uint(8,scale=0.02,zero=128):wrap", "uint(27,scale=0.3,zero=5):wrap", "int(32,scale=1e-12):wrap",
             "int(16,scale=1e5,zero=9):wrap", "uint(3,scale=0.9)", "int(2,scale=1e30)", "int8", "uint8",
             "int(8,zero=7)", "int4:symmetric", "int16", "int(20,scale=0.25,zero=-9)", "fixed(8,4)", "fixed(13,-2)",
             "fixed(20,40)", /* scales from end to end of binary64 */
             "int(22,scale=0.2499999999,zero=7)", "int(16,scale=3.7):symmetric", "int(8,scale=1e-270,zero=-3)",
             "int(22,scale=3e270)", "int(8,scale=1e-300)", "int(8,scale=7e300)", "uint(4,scale=0.3)");
    const int modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RNA, FPEMU_MODE_RNZ, FPEMU_MODE_RTZ, FPEMU_MODE_RAZ, FPEMU_MODE_RTP,
                         FPEMU_MODE_RTN, FPEMU_MODE_RTO, FPEMU_MODE_SR,  FPEMU_MODE_SE,  FPEMU_MODE_RNP};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        fpemu_format f = lh_parsed(specs[k]);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            for (int nan = 0; nan < (m == 0 ? 3 : 1); nan++)
                for (int carrier = 32; carrier <= 64; carrier += 32) {
                    fpemu_rounding r = {0};
                    r.mode = (uint8_t)modes[m];
                    r.nan = (uint8_t)(nan == 1 ? FPEMU_NAN_SIGNMAX : nan == 2 ? FPEMU_NAN_KEEP : 0);
                    r.seed = 21;
                    if (fpemu_check(&f, &r, carrier, NULL))
                        continue;
                    if (f.bits > 24 && carrier == 32 && nan == 0)
                        compare_ends(specs[k], &f, modes[m]);
                    make_points(&f);
                    compare(specs[k], &f, &r, carrier);
                    if (modes[m] != FPEMU_MODE_SR)
                        continue;
                    make_close(&f, &r);
                    compare(specs[k], &f, &r, carrier);
                    r.bits = 8;
                    make_points(&f);
                    compare(specs[k], &f, &r, carrier);
                    r.variant = 1;
                    compare(specs[k], &f, &r, carrier);
                }
    }
    return variants_end(argc, argv, "affine", digest);
}
