/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier_ends.c - formats whose values, scales or settings reach the ends of their carrier, or its last place: figures
 * worked out by hand from doc/numerics.md and doc/blocks.md. In arrays of some lengths, which go different ways, counted
 * and not. */

#include "../judges/longhand.h"
#include "alone.h"

enum { MOST = 6000 };

static const size_t lengths[] = {1, 7, 40, 4096};
static const fpemu_rounding nearest;

static fpemu_format blocked(const char *element, fpemu_scaling rule, const char *scale, unsigned length)
{
    const fpemu_format e = lh_parsed(element), s = lh_parsed(scale);
    fpemu_format f;
    lh_check(fpemu_format_blocked(&f, &e, rule, &s, 0, FPEMU_BLOCK_RUN, 0, length) == FPEMU_OK, "%s, %s is not made",
             element, scale);
    return f;
}

/* Every length of `given`, over and over, gives `wanted` by binary32 data. */
static void blocks_give(const char *what, const fpemu_format *f, const fpemu_rounding *r, size_t n, const float *given,
                        const float *wanted)
{
    static float x[MOST], y[MOST];
    for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
        const size_t all = lengths[k / 2] * n < MOST ? lengths[k / 2] * n : MOST / n * n;
        const fpemu_shape s = fpemu_shape_vector(all);
        fpemu_stats stats = {0};
        for (size_t i = 0; i < all; i++)
            x[i] = given[i % n];
        lh_check(!fpemu_quantize_tensor_f32(f, r, &s, x, y, k % 2 ? &stats : NULL), "%s: status", what);
        for (size_t i = 0; i < all; i++)
            if (!lh_check(lh_same_f32(y[i], (double)wanted[i % n]), "%s, element %zu of %zu: %a gives %a, not %a", what,
                          i, all, (double)x[i], (double)y[i], (double)wanted[i % n]))
                break;
    }
}

/* The largest value of an affine integer is one of the carrier: s is 1, and nothing moves. 2^25 - 1 is none either. */
static void largest_values(void)
{
    fpemu_format f = lh_parsed("group(int(8,scale=0.143),block=1)");
    const float a = 127 * 0.143f, b = 6370.30029296875f, c[2] = {33554432, 1};
    blocks_give("int(8,scale=0.143)", &f, &nearest, 1, &a, &a);
    f = lh_parsed("group(uint(16,scale=0.1,zero=1832),block=1)");
    blocks_give("uint(16,scale=0.1,zero=1832)", &f, &nearest, 1, &b, &b);
    f = lh_parsed("muppet(26,block=2)");
    blocks_give("muppet(26)", &f, &nearest, 2, c, c);
}

/* An infinity is M or the lowest value, also where a scale passes the carrier's end and is its largest number, so that
 * amax becomes M too. Reciprocal: M = 127/128, s = 131008, and amax/M is past the end. Nvfp4: M = 1.5 * 2^-37, s = 2^7,
 * d is the carrier's largest number and s*d past it: 1.5 * 2^98 * (1 - 2^-24), rounded. */
static void scales_past_the_end(void)
{
    const float x[4] = {INFINITY, 3.4e38f, -INFINITY, 1}, y[4] = {129984.5f, 129984.5f, -129984.5f, 0};
    const float v[4] = {INFINITY, 2e34f, -INFINITY, 0}, w[4] = {0x1.7ffffep98f, 0x1.7ffffep98f, -0x1.7ffffep98f, 0};
    const uint8_t policies[] = {FPEMU_NAN_KEEP, FPEMU_NAN_MAX, FPEMU_NAN_SIGNMAX, FPEMU_NAN_ZERO};
    const fpemu_format f = blocked("fixed(8,7):symmetric", FPEMU_SCALING_RECIPROCAL, "float(5,10,15,finite)", 4);
    const fpemu_format g = blocked("float(2,1,40,finite)", FPEMU_SCALING_NVFP4, "float(3,0,0,finite)", 4);
    for (size_t i = 0; i < sizeof policies; i++) {
        const fpemu_rounding r = {.nan = policies[i]};
        blocks_give("infinities by reciprocal", &f, &r, 4, x, y);
        blocks_give("infinities by nvfp4", &g, &r, 4, v, w);
    }
}

/* A negative number into e8m0 is invalid, and no overflow, also where x/s is infinite. */
static void negative_into_powers(void)
{
    const fpemu_format f = blocked("e8m0", FPEMU_SCALING_ABSMAX, "float(4,18,120,finite)", 1);
    const fpemu_shape s = fpemu_shape_vector(40);
    float x[40], y[40];
    fpemu_stats stats = {0};
    for (size_t i = 0; i < 40; i++)
        x[i] = -0x1p64f;
    lh_check(!fpemu_quantize_tensor_f32(&f, &nearest, &s, x, y, &stats), "e8m0: status");
    lh_check(isnan(y[0]) && stats.overflow == 0 && stats.invalid == 40, "e8m0: %d overflow, %d invalid",
             (int)stats.overflow, (int)stats.invalid);
}

/* The quotient of the smallest number and M underflows, and its scale, raised from 0, is counted as that. */
static void scales_raised(void)
{
    const fpemu_format f = blocked("e4m3fn", FPEMU_SCALING_ABSMAX, "e8m0", 1), g = lh_parsed("group(int16,block=1)");
    const fpemu_format h = blocked("int16", FPEMU_SCALING_RECIPROCAL, "e8m0", 1);
    const fpemu_format *const formats[] = {&f, &h, &g};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (size_t i = 0; i < 3; i++) {
            static float x[MOST], y[MOST];
            const fpemu_shape s = fpemu_shape_vector(lengths[k]);
            fpemu_stats stats = {0};
            for (size_t j = 0; j < lengths[k]; j++)
                x[j] = 0x1p-149f;
            lh_check(!fpemu_quantize_tensor_f32(formats[i], &nearest, &s, x, y, &stats), "raised: status");
            lh_check(stats.saturated_scales == (i < 2 ? lengths[k] : 0), "%d of %d scales are raised",
                     (int)stats.saturated_scales, (int)lengths[k]);
        }
}

/* Of elements whose M is far below 1 the scale 2^c is so large that 2^-c is no normal number: packed like others. */
static void packed_under_large_powers(void)
{
    static const struct {
        const char *spec;
        int first, last; /* exponents of x */
    } cases[] = {{"block(fixed(8,60),block=2,exponent=9,rule=floor)", 60, 126},
                 {"block(fp(2,1,60),block=2,exponent=10,rule=floor)", 60, 126},
                 {"block(float(3,3,80,finite),block=4,exponent=9,rule=ceil)", 40, 126},
                 {"block(fixed(8,60),block=32,exponent=10,rule=floor)", 60, 126},
                 {"block(fixed(8,140),block=32,exponent=12,rule=floor)", 880, 1022}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = cases[i].first; e <= cases[i].last; e++)
            for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
                static double x[4096], y[4096];
                static float x32[4096], y32[4096];
                static uint8_t bytes[3 * 4096];
                const fpemu_format f = lh_parsed(cases[i].spec);
                const size_t n = lengths[k / 2];
                const fpemu_shape s = fpemu_shape_vector(n);
                fpemu_stats stats = {0}, *const counted = k % 2 ? &stats : NULL;
                int wrong = 0;
                for (size_t j = 0; j < n; j++)
                    x[j] = ldexp(j % 3 ? 1 : -1, e - (int)(j % 2)); /* every format has these */
                for (size_t j = 0; j < n && e < 128; j++)
                    x32[j] = (float)x[j];
                lh_check(!fpemu_pack_f64(&f, &nearest, &s, x, bytes, counted), "%s: status", cases[i].spec);
                lh_check(!fpemu_unpack_f64(&f, &s, bytes, y), "%s: status", cases[i].spec);
                for (size_t j = 0; j < n; j++)
                    wrong += y[j] != x[j];
                lh_check(!wrong, "%s: of 2^%d %d of %d are packed as others", cases[i].spec, e, wrong, (int)n);
                if (e > 127)
                    continue;
                lh_check(!fpemu_pack_f32(&f, &nearest, &s, x32, bytes, counted), "%s: status", cases[i].spec);
                lh_check(!fpemu_unpack_f32(&f, &s, bytes, y32), "%s: status", cases[i].spec);
                for (size_t j = 0; j < n; j++)
                    wrong += y32[j] < x32[j] || y32[j] > x32[j];
                lh_check(!wrong, "%s: of 2^%d %d of %d are packed as others", cases[i].spec, e, wrong, (int)n);
            }
}

/* Words of a type without their subnormal numbers, uncounted too: 7 + 3 and 7 * 1 of the smallest are 0. */
static void flushed_words(void)
{
    static const char *const specs[] = {"fp16:flushin", "fp16:flushout", "bf16:flushin", "bf16:flushout"};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
            static uint16_t a[4096], b[4096], sum[4096], product[4096];
            const fpemu_format f = lh_parsed(specs[i]);
            const size_t n = lengths[k / 2], steps[3] = {1, 1, 0};
            const void *const terms[3] = {a, a, NULL}, *const factors[3] = {a, b, NULL};
            fpemu_stats stats = {0}, *const counted = k % 2 ? &stats : NULL;
            int wrong = 0;
            for (size_t j = 0; j < n; j++) {
                a[j] = 7;
                b[j] = i < 2 ? 0x3c00 : 0x3f80;
            }
            const fpemu_type type = i < 2 ? FPEMU_TYPE_F16 : FPEMU_TYPE_BF16;
            const int status =
                fpemu_arith(&f, &nearest, type, FPEMU_OPERATION_ADD, n, terms, steps, sum, counted) ||
                fpemu_arith(&f, &nearest, type, FPEMU_OPERATION_MUL, n, factors, steps, product, counted);
            for (size_t j = 0; j < n; j++)
                wrong += sum[j] != 0 || product[j] != 0;
            lh_check(!status && !wrong, "%s: %d of %d results are not flushed", specs[i], wrong, (int)n);
        }
}

/* Sums past 53 bits: -1024 * -1024 is 2^60 steps of 2^-40, and 127 of them are the most that 8 bits hold. The error of
 * each is taken of the sum as binary64 rounds it, 2^60 and again 2^60: 2^60 - 127, rounded. */
static void integer_sums(void)
{
    const double x[2] = {-1024, -1024};
    fpemu_gemm_spec spec;
    fpemu_stats stats = {0};
    double result = 0;
    lh_check(fpemu_gemm_parse("int(8,saturate); ab=fixed(31,20)", &spec, NULL) == FPEMU_OK, "integers are not read");
    lh_check(!fpemu_dot_f64(&spec, 2, x, 1, x, 1, &result, &stats), "integers: status");
    lh_check(lh_same_f64(result, 127 * 0x1p-40), "integers give %a", result);
    lh_check(lh_same_f64(stats.max_error, 0x1.fffffffffffffp+19), "integers have an error of %a", stats.max_error);
}

/* 2^-1084 is 2^-12 of the smallest value: one number in some four thousand goes up, never one in four. */
static void products_below(void)
{
    const fpemu_format f = lh_parsed("float(2,12,1061,fn,1)");
    const double a = 0x1p-1064, b = 0x1p-20, zero = 0, more = 0x1p20;
    const double *const operands[] = {&a, &b, &zero}, *const divided[] = {&a, &more};
    const size_t steps[] = {0, 0, 0};
    const fpemu_operation operations[] = {FPEMU_OPERATION_MUL, FPEMU_OPERATION_DIV, FPEMU_OPERATION_FMA};
    static double y[MOST];
    for (int k = 0; k < 6; k++)
        for (unsigned variant = FPEMU_SR_VARIANT_A; variant <= FPEMU_SR_VARIANT_C; variant++) {
            fpemu_rounding r = fpemu_rounding_stochastic(1, variant);
            fpemu_stats stats = {0};
            int up = 0;
            r.bits = 20;
            r.variant = (uint8_t)variant;
            lh_check(!fpemu_arith_f64(&f, &r, operations[k / 2], 4096, k / 2 == 1 ? divided : operands, steps, y,
                                      k % 2 ? &stats : NULL),
                     "operation %d: status", k / 2);
            for (size_t i = 0; i < 4096; i++) {
                const uint32_t word = lh_bits(0, r.seed, r.stream, i, 20);
                const int wanted = word >= (1 << 20) - (1 << 8); /* 2^-12 of 2^20 words */
                up += y[i] != 0;
                lh_check((y[i] != 0) == wanted, "operation %d, variant %u: element %zu, %a", k / 2, variant, i, y[i]);
            }
            lh_check(up < 16, "operation %d: %d of 4096 go up", k / 2, up);
        }
}

/* Numbers of the carrier by their bits: in arrays, and alone. */
static void all_give(int carrier, const char *spec, fpemu_rounding r, uint64_t bits, uint64_t wanted)
{
    const fpemu_format f = lh_parsed(spec);
    static float x32[MOST], y32[MOST];
    static double x64[MOST], y64[MOST];
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const size_t n = lengths[k];
        for (size_t i = 0; i < n; i++) {
            x32[i] = lh_float((uint32_t)bits);
            x64[i] = lh_double(bits);
        }
        lh_check(!fpemu_quantize(&f, &r, carrier, n, LH_OF(x), LH_OF(y), NULL), "%s: status", spec);
        alone_values(spec, &f, &r, carrier, n, LH_OF(x), LH_OF(y), NULL);
        for (size_t i = 0; i < n; i++)
            lh_check((carrier == 32 ? lh_float_bits(y32[i]) : lh_double_bits(y64[i])) == wanted,
                     "%s, setting %d: %a gives %a", spec, r.compat, lh_at(carrier, LH_OF(x), i),
                     lh_at(carrier, LH_OF(y), i));
    }
}

/* Settings: QPyTorch's first rounding up to 2^emin at the top; CPFloat's past a largest value that is a subnormal number
 * of the carrier, and not of unsigned floats; a zero by a scale whose inverse is no number; fixed point that wraps, where
 * the integer, a power of two, is one past the carrier's end: its low bits are 0. */
static void settings(void)
{
    fpemu_rounding first = {.compat = FPEMU_COMPAT_QPYTORCH}, down = first, past = fpemu_rounding_stochastic(1, 0);
    all_give(32, "float(1,10,-126,p3109e,1)", first, 0x7effffff, 0x7f000000);
    first.compat = FPEMU_COMPAT_LEE_INF;
    all_give(32, "float(1,10,-126,p3109e,1)", first, 0x7effffff, 0x7f000000);
    down.mode = FPEMU_MODE_RTN;
    all_give(64, "float(2,4,-1000,ieee,1):flushin", (fpemu_rounding){.compat = FPEMU_COMPAT_QPYTORCH},
             UINT64_C(0x7e7fffffffffffff), UINT64_C(0x7e80000000000000));
    all_give(64, "float(3,4,-1015,ieee,1)", down, UINT64_C(0x7f6fffffffffffff), UINT64_C(0x7f70000000000000));
    past.compat = FPEMU_COMPAT_CPFLOAT;
    all_give(32, "float(2,4,140,fn,1)", past, 0x3c00, 0x7fc00000);
    all_give(64, "float(2,12,1060,fn,1)", past, UINT64_C(0x40059), UINT64_C(0x7ff8000000000000));
    past.mode = FPEMU_MODE_SE;
    all_give(32, "ue4m3", past, lh_float_bits(1e9f), 0x7fc00000);
    all_give(32, "fixed(16,-108):wrap", (fpemu_rounding){.compat = FPEMU_COMPAT_QPYTORCH}, 0x7f7fffff, 0);
    all_give(32, "fixed(16,-108):wrap", (fpemu_rounding){.compat = FPEMU_COMPAT_QPYTORCH}, 0xff7fffff, 0);
    all_give(32, "uint(13,scale=2.2958874039497803e-41)", (fpemu_rounding){.compat = FPEMU_COMPAT_PYTORCH_MULTIPLY}, 0,
             0);
}

/* Counters of the same: M of a float without normal numbers becomes 2^emin by QPyTorch's first rounding, which is past
 * M, alone and beside a number that overflows by itself. */
static void counters_of_settings(void)
{
    static const char *const specs[] = {"float(1,30)", "float(1,26,1,ieee,1)", "float(0,26,1,fn,1)"};
    const uint32_t compats[] = {FPEMU_COMPAT_QPYTORCH, FPEMU_COMPAT_LEE_INF};
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++) {
        const fpemu_format f = lh_parsed(specs[i / 2]);
        const fpemu_rounding r = {.compat = (uint8_t)compats[i % 2]};
        const double x[2] = {f.max, 2 * f.max};
        double y[2];
        for (size_t n = 1; n <= 2; n++) {
            fpemu_stats stats = {0};
            lh_check(!fpemu_quantize_f64(&f, &r, n, x, y, &stats) && stats.overflow == n && stats.invalid == 0,
                     "%s, setting %d: %u of %u overflow", specs[i / 2], r.compat, (unsigned)stats.overflow,
                     (unsigned)n);
        }
    }
}

/* Zeros and the one value of floats whose only binade is the carrier's last: twice the step is no number there. */
static void codes_of_the_last_binade(void)
{
    static const struct {
        const char *spec;
        uint64_t zero, negative, one;
    } of[] = {{"float(1,0,-126,finite,1)", 0, UINT64_C(1) << 63, 0x47e},
              {"float(1,0,-126,finite,0)", 0, 0, 0x47e},
              {"float(1,0,-1022,finite,1)", 0, UINT64_C(1) << 63, 0x7fe}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const fpemu_format f = lh_parsed(of[i].spec);
        const uint64_t value = of[i].one << 52, wanted[] = {of[i].zero, value, of[i].negative, value | of[i].negative};
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            static uint8_t codes[MOST], bytes[MOST];
            static double x[MOST], y[MOST], z[MOST];
            static float narrow[MOST];
            const fpemu_shape s = fpemu_shape_vector(lengths[k]);
            for (size_t j = 0; j < lengths[k]; j++) {
                codes[j] = (uint8_t)(f.is_signed ? j % 4 : j % 2);
                x[j] = lh_double(wanted[codes[j]]);
            }
            lh_check(!fpemu_decode_f64(&f, lengths[k], codes, y), "%s: status", of[i].spec);
            lh_check(!fpemu_pack_f64(&f, &nearest, &s, x, bytes, NULL) && !fpemu_unpack_f64(&f, &s, bytes, z) &&
                         (!f.fits_f32 || !fpemu_decode_f32(&f, lengths[k], codes, narrow)),
                     "%s: status", of[i].spec);
            for (size_t j = 0; j < lengths[k]; j++) {
                const uint64_t w = wanted[codes[j]];
                lh_check(lh_double_bits(y[j]) == w && lh_double_bits(z[j]) == w &&
                             lh_double_bits(fpemu_decode_one_f64(&f, codes[j])) == w &&
                             (!f.fits_f32 || lh_double_bits((double)narrow[j]) == w),
                         "%s: code %d gives %a, packed %a, not %a", of[i].spec, codes[j], y[j], z[j], x[j]);
            }
        }
    }
}

/* The largest finite error counts where infinities are, though it is past binary32: 2^127 + (2^128 - 2^104). */
static void errors_past_binary32(void)
{
    static const float values[2] = {0x1p127f, 0x1.8p127f};
    fpemu_format f, g;
    lh_check(!fpemu_format_table(&f, 2, values), "a table of two is not made");
    for (int i = 0; i < 3; i++) { /* as it is; integers that wrap, 2^7 - (-1.5 * 2^7) mod 2^8 = 2^6; with scales */
        static const size_t places[] = {1, 511, 512, 599, 5000};
        if (i == 1)
            lh_check(!fpemu_format_int(&g, 8, 0, 0x1p120, 0), "an integer is not made");
        g.wrap = i == 1;
        lh_check(i != 1 || !fpemu_format_complete(&g), "an integer that wraps is not made");
        if (i == 2)
            g = blocked("float(1,0,-126,finite,1)", FPEMU_SCALING_ABSMAX, "e8m0", 1);
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            static float x[MOST], y[MOST];
            const fpemu_shape s = fpemu_shape_vector(MOST);
            fpemu_stats stats = {0};
            double wanted = 0;
            for (size_t j = 0; j < MOST; j++)
                x[j] = 0x1p127f;
            x[0] = i == 1 ? -0x1.8p127f : -0x1.fffffep127f;
            x[places[k]] = INFINITY;
            lh_check(!fpemu_quantize_tensor_f32(i ? &g : &f, &nearest, &s, x, y, &stats), "errors: status");
            for (size_t j = 0; j < MOST; j++) {
                const double error = fabs((double)x[j] - (double)y[j]);
                wanted = isfinite(x[j]) && isfinite(y[j]) && error > wanted ? error : wanted;
            }
            lh_check(stats.max_error == wanted && isfinite(wanted), "max_error %g, not %g", stats.max_error, wanted);
            if (i < 2)
                lh_check(wanted == (i ? 0x1p128 : 0x1p128 + 0x1p127 - 0x1p104), "the error is %g", wanted);
        }
    }
}

/* Lee's infinity is no code: what overflows packs to what it encodes to, and counts as that. 1e9 and -1e9. */
static void packed_infinities(void)
{
    static const struct {
        const char *spec;
        uint8_t up, down;
        double error;
    } of[] = {{"e4m3fn", 0x7f, 0x7f, 0}, /* NaN */
              {"e4m3fnuz", 0x80, 0x80, 0},
              {"float(4,4,7,finite,0)", 0xff, 0, 1e9},
              {"fp(4,3,0)", 0x7f, 0xff, 1e9}};
    const fpemu_rounding lee = {.mode = FPEMU_MODE_RNA,
                                .overflow = FPEMU_OVERFLOW_IEEE,
                                .nan = FPEMU_NAN_SIGNMAX,
                                .compat = FPEMU_COMPAT_LEE_INF};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
            const fpemu_format f = lh_parsed(of[i].spec);
            const size_t n = lengths[k / 2];
            const fpemu_shape s = fpemu_shape_vector(n);
            static float x[MOST];
            static uint8_t codes[MOST], bytes[MOST];
            fpemu_stats encoded = {0}, packed = {0};
            for (size_t j = 0; j < n; j++)
                x[j] = j % 2 ? -1e9f : 1e9f;
            lh_check(!fpemu_encode_f32(&f, &lee, n, x, codes, k % 2 ? &encoded : NULL) &&
                         !fpemu_pack_f32(&f, &lee, &s, x, bytes, k % 2 ? &packed : NULL),
                     "%s: status", of[i].spec);
            for (size_t j = 0; j < n; j++) {
                const uint8_t wanted = j % 2 ? of[i].down : of[i].up;
                lh_check(codes[j] == wanted && bytes[j] == wanted, "%s: %g encodes to %02x and packs to %02x, not %02x",
                         of[i].spec, (double)x[j], codes[j], bytes[j], wanted);
            }
            lh_check(k % 2 == 0 ||
                         (packed.overflow == n && encoded.overflow == n && packed.max_error == encoded.max_error),
                     "%s: max_error %g and %g", of[i].spec, packed.max_error, encoded.max_error);
        }
}

/* QPyTorch's blocks, of a range told too small: 1e30 is 2^99 times the largest, and becomes the largest all the same. */
static void blocks_far_past_a_told_range(void)
{
    const fpemu_format f = lh_parsed("bfp(7,block=tensor)");
    const float x[4] = {1000, -1000, 0.5f, 1e30f}, wanted[4] = {127 / 64.0f, -127 / 64.0f, 0.5f, 127 / 64.0f};
    const fpemu_range whole = {.count = 4, .nonzero = 4, .amax = 1, .max = 1, .min = -1};
    fpemu_shape s = fpemu_shape_vector(4);
    fpemu_rounding r = {.compat = FPEMU_COMPAT_QPYTORCH};
    float y[4];
    s.whole = &whole;
    for (int sr = 0; sr < 2; sr++) {
        r.mode = sr ? FPEMU_MODE_SR : FPEMU_MODE_RNE;
        lh_check(!fpemu_quantize_tensor_f32(&f, &r, &s, x, y, NULL), "qpytorch: status");
        for (int i = 0; i < 4; i++)
            lh_check(y[i] == wanted[i], "qpytorch: %g gives %g", (double)x[i], (double)y[i]);
    }
}

/* MuPPET's scales where UB + h needs 54 bits, 2^53 - 1/2 < 2^53, or is no normal number, 300.3/4 < 127.5 < 300.3/2; and
 * its Eq. 6 for integers that binary32 holds rounded: a zero is -1 step where R < 2^31, packed as in values. */
static void muppet_at_the_ends(void)
{
    fpemu_format e, f;
    fpemu_shape s = fpemu_shape_vector(1);
    double x = 0x1p53, scale = 0, y = 0;
    lh_check(!fpemu_format_fixed(&e, 54, 0, 1) &&
                 !fpemu_format_blocked(&f, &e, FPEMU_SCALING_MUPPET, NULL, 10, FPEMU_BLOCK_TENSOR, 0, 0) &&
                 !fpemu_scales_f64(&f, &s, &x, &scale, NULL, NULL) &&
                 !fpemu_quantize_tensor_f64(&f, &nearest, &s, &x, &y, NULL),
             "fixed(54,0): status");
    lh_check(scale == 2 && y == 0x1p53, "fixed(54,0): scale %g, %a", scale, y);
    for (int fl = 1000; fl < 1060; fl += 4) {
        x = ldexp(300.3, -fl);
        lh_check(!fpemu_format_fixed(&e, 8, fl, 1) &&
                     !fpemu_format_blocked(&f, &e, FPEMU_SCALING_MUPPET, NULL, 10, FPEMU_BLOCK_TENSOR, 0, 0) &&
                     !fpemu_scales_f64(&f, &s, &x, &scale, NULL, NULL),
                 "fixed(8,%d): status", fl);
        lh_check(scale == 4, "fixed(8,%d): scale %g", fl, scale);
    }
    static const char *const specs[] = {"muppet(8)", "muppet(24)", "muppet(25)", "muppet(28)"};
    fpemu_rounding r = fpemu_rounding_stochastic(5, 1);
    r.compat = FPEMU_COMPAT_MUPPET;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        float in[64] = {100}, out[64], back[64], step[1];
        unsigned char bytes[64 * 4 + 8];
        int fallen = 0;
        f = lh_parsed(specs[k]);
        s = fpemu_shape_vector(64);
        lh_check(!fpemu_quantize_tensor_f32(&f, &r, &s, in, out, NULL) &&
                     !fpemu_pack_f32(&f, &r, &s, in, bytes, NULL) && !fpemu_unpack_f32(&f, &s, bytes, back) &&
                     !fpemu_scales_f32(&f, &s, in, step, NULL, NULL),
                 "%s: status", specs[k]);
        for (uint64_t i = 1; i < 64; i++) {
            const float wanted = fpemu_random_bits(&r, i) < UINT32_C(0x80000000) ? -step[0] : 0;
            fallen += wanted < 0;
            lh_check(out[i] == wanted && back[i] == wanted, "%s: a zero gives %g, packed %g, not %g", specs[k],
                     (double)out[i], (double)back[i], (double)wanted);
        }
        lh_check(fallen > 10 && fallen < 50, "%s: %d zeros of 63 fall", specs[k], fallen);
    }
    /* and what Eq. 6 takes past an end overflows, whatever the size of a step */
    for (int far = 0; far < 2; far++) {
        const double unit = far ? 0x1p-100 : 0.5, most = 536870911; /* 2^29 - 1 */
        uint64_t overflow = 0, wanted = 0;
        lh_check(!fpemu_format_int(&e, 30, 1, unit, 0) &&
                     !fpemu_format_blocked(&f, &e, FPEMU_SCALING_MUPPET, NULL, 12, FPEMU_BLOCK_TENSOR, 0, 0),
                 "int(30): status");
        s = fpemu_shape_vector(2);
        for (uint64_t seed = 0; seed < 400; seed++) {
            const float in[2] = {(float)((most + 0.4) * unit), (float)((-most - 1.4) * unit)};
            float out[2], by = 1;
            fpemu_stats stats = {0};
            r.seed = seed;
            lh_check(!fpemu_quantize_tensor_f32(&f, &r, &s, in, out, &stats) &&
                         !fpemu_scales_f32(&f, &s, in, &by, NULL, NULL),
                     "int(30): status");
            overflow += stats.overflow;
            for (int i = 0; i < 2; i++) {
                const double k = floor((double)in[i] / (double)by / unit +
                                       (double)fpemu_random_bits(&r, (uint64_t)i) * 0x1p-32 - 0.5);
                wanted += k > most || k < -most - 1;
            }
        }
        lh_check(overflow == wanted && wanted > 100, "int(30), step %a: overflow %d, not %d", unit, (int)overflow,
                 (int)wanted);
    }
}

/* A product far past binary32, of a format that it has values for, is summed by targets with fast loops to what every
 * large number is: past their largest value. 2^972 and 2^981 are those whose exponents the loops for e4m3fn and fp16
 * cannot raise. */
static void products_past_binary32(void)
{
    static const struct {
        const char *spec;
        float wanted;
    } cases[] = {{"seq(e4m3fn:saturate); product=fixed(8,-975)/raz", 448},
                 {"kahan(e4m3fn:saturate); product=fixed(8,-975)/raz", 448},
                 {"seq(fp16); product=fixed(8,-982)/raz", INFINITY},
                 {"seq(fp16/sr); product=fixed(8,-982)/raz", INFINITY},
                 {"chunk(2,fixed(8,-982)/raz,fp16)", INFINITY}};
    const float x[6] = {1, 1, 1, 1, 1, 1};
    fpemu_gemm_spec spec;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 1; n <= 3; n++)
            for (int counted = 0; counted < 2; counted++) {
                const fpemu_gemm_shape shape = {.m = 2, .n = 1, .k = n};
                fpemu_stats stats = {0};
                float y[2] = {0, 0};
                lh_check(!fpemu_gemm_parse(cases[i].spec, &spec, NULL) &&
                             !fpemu_gemm_f32(&spec, &shape, 1, x, x, 0, y, counted ? &stats : NULL),
                         "%s: status", cases[i].spec);
                lh_check(y[0] == cases[i].wanted && y[1] == y[0], "%s, %zu products, %s: %g", cases[i].spec, n,
                         counted ? "counted" : "not counted", (double)y[0]);
            }
}

/* The first sums of a tree are of two numbers of `product`, which may add up past binary64: 2^1023 + 2^1023 is finite,
 * and fp16 towards zero has 65504 for it. Exact sums of integers past binary64 are nothing to the extrema. */
static void sums_past_binary64(void)
{
    static const char *const trees[] = {"pairwise(fp16/rtz); product=ufixed(1,-1023)/raz",
                                        "pairwise(fp16/rtz); product=float(11,4,1023,ieee,1):saturate"};
    fpemu_gemm_spec spec;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        for (int counted = 0; counted < 2; counted++) {
            const float v = i ? INFINITY : 1, x[4] = {v, v, v, v}, one[2] = {1, 1};
            const double w = (double)v, wide[4] = {w, w, w, w}, ones[2] = {1, 1};
            const fpemu_gemm_shape shape = {.m = 2, .n = 1, .k = 2};
            fpemu_stats a = {0}, b = {0};
            float y[2] = {0, 0};
            double z[2] = {0, 0};
            lh_check(!fpemu_gemm_parse(trees[i], &spec, NULL) &&
                         !fpemu_gemm_f32(&spec, &shape, 1, x, one, 0, y, counted ? &a : NULL) &&
                         !fpemu_gemm_f64(&spec, &shape, 1, wide, ones, 0, z, counted ? &b : NULL),
                     "%s: status", trees[i]);
            lh_check(y[0] == 65504 && y[1] == 65504 && z[0] == 65504 && z[1] == 65504, "%s: %g and %g", trees[i],
                     (double)y[0], z[0]);
            lh_check(!counted || (a.overflow == b.overflow && a.infinite == b.infinite && a.overflow == 2),
                     "%s: other counters", trees[i]);
        }
    const double a = 0x1p960;
    double y;
    fpemu_stats stats = {0};
    lh_check(!fpemu_gemm_parse("int(8,wrap); ab=fixed(8,-960)", &spec, NULL) &&
                 !fpemu_dot_f64(&spec, 1, &a, 1, &a, 1, &y, &stats),
             "int(8,wrap): status");
    lh_check(stats.max_abs == 0 && stats.min_abs == 0 && stats.max_error == 0, "int(8,wrap): extrema %g, %g, %g",
             stats.min_abs, stats.max_abs, stats.max_error);
}

int main(void)
{
    largest_values();
    blocks_far_past_a_told_range();
    muppet_at_the_ends();
    products_past_binary32();
    sums_past_binary64();
    codes_of_the_last_binade();
    errors_past_binary32();
    packed_infinities();
    scales_past_the_end();
    negative_into_powers();
    products_below();
    settings();
    counters_of_settings();
    flushed_words();
    integer_sums();
    scales_raised();
    packed_under_large_powers();
    return lh_report("carrier_ends");
}
