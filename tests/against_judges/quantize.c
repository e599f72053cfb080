/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - every format of the tables, in every mode and policy, against the rule worked out by hand.
 *
 * Inputs sit where decisions are made: on the values, half way between two, one place of the carrier beside either, at
 * the ends, and at what is special. Values, codes and the way back are compared, of arrays and of single numbers. The
 * conversions of tests/judges/formats.c, mistakes of other emulators among them, are held against both.
 */

#include "../judges/formats.h"
#include "../judges/longhand.h"

enum { COUNT = 1500 };

static float x32[COUNT], y32[COUNT];
static double x64[COUNT], y64[COUNT];
static uint64_t codes[COUNT];

/* Some value of the format, or a number half way to the next. */
static double near_decision(const lh_format *f, int carrier, uint64_t *state)
{
    uint64_t bits = lh_next(state);
    double half = bits & 1 ? 0.5 : 0;
    int turn = (int)(bits >> 1 & 7);
    if (f->kind == FPEMU_KIND_POSIT) {
        uint64_t code = bits >> (64 - f->width);
        double a = lh_posit_value(code, f->width, f->es), b = lh_posit_value(2 * code + 1, f->width + 1, f->es);
        return half != 0 ? b : a;
    }
    if (f->kind != FPEMU_KIND_FLOAT) {
        double k = turn == 0   ? (double)f->high
                   : turn == 1 ? (double)f->low
                               : ldexp((double)(int64_t)bits, -64) * ldexp(1.5, turn == 2 ? 3 : f->width);
        double scale = f->kind == FPEMU_KIND_FIXED ? ldexp(1, -f->fl)
                       : carrier == 32             ? (double)(float)f->scale
                                                   : f->scale;
        return (rint(k) + half) * scale;
    }
    int top;
    (void)frexp(f->max, &top);
    double ends = ldexp(1, f->p);
    int step = turn < 2    ? f->emin - f->p + 1
               : turn < 4  ? top - f->p
               : turn == 4 ? f->emin
                           : f->emin - f->p + 1 + (int)(bits >> 32) % (top - f->emin + 2);
    double k = turn % 2 ? floor(ldexp((double)(bits >> 11), -53) * ends) : (bits >> 8) % 2 ? ends - 1 : ends / 2;
    if (turn == 2) /* M, and the steps about it */
        k = ldexp(f->max, -step) + (double)(bits >> 20 & 3) - 1;
    else if (turn == 0)
        k = (double)(bits >> 20 & 3);
    return ldexp(k + half, step);
}

static void fill(const lh_format *f, int carrier, uint64_t seed)
{
    uint64_t state = seed;
    const double special[] = LIST(NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 0x1p-149, 0x1p-1074, 0x1.fffffep127,
                                  0x1p-126, 0x1.fffffffffffffp1023, 0x1p-127, 0x1.8p-128);
    for (size_t i = 0; i < COUNT; i++) {
        double x = i < 2 * sizeof special / sizeof special[0] ? special[i / 2] : near_decision(f, carrier, &state);
        uint64_t bits = lh_next(&state);
        if (i % 8 == 7)
            x = ldexp((double)(bits >> 11), (int)(bits & 127) - 110);
        if (!isnan(x) && bits & 1 << 8)
            x = -x;
        x64[i] = x;
        x32[i] = (float)x;
        if (isfinite(x) && x != 0) { /* one place to either side, two times in four */
            int64_t side = (bits >> 16 & 3) == 0 ? 1 : (bits >> 16 & 3) == 1 ? -1 : 0;
            x64[i] = lh_double(lh_double_bits(x) + (uint64_t)side);
            x32[i] = lh_float(lh_float_bits(x32[i]) + (uint32_t)side);
        }
    }
}

/* The code of a finite value y (of steps: of the integer q). */
static uint64_t code_of(const lh_format *f, double y, int64_t q)
{
    double magnitude = fabs(y);
    int exponent;
    if (f->kind == FPEMU_KIND_POSIT) {
        uint64_t low = 0, high = ((uint64_t)1 << (f->width - 1)) - 1;
        while (low < high) {
            uint64_t middle = (low + high) / 2;
            if (lh_posit_value(middle, f->width, f->es) < magnitude)
                low = middle + 1;
            else
                high = middle;
        }
        return (y < 0 ? ~low + 1 : low) & (((uint64_t)1 << f->width) - 1);
    }
    if (f->kind != FPEMU_KIND_FLOAT)
        return (uint64_t)q & (((uint64_t)1 << f->width) - 1);
    int m = f->p - 1;
    (void)frexp(magnitude, &exponent);
    exponent -= 1;
    if (magnitude < ldexp(1, f->emin))
        return (uint64_t)ldexp(magnitude, m - f->emin);
    return (uint64_t)(exponent + f->bias) << m | (uint64_t)ldexp(ldexp(magnitude, -exponent) - 1, m);
}

/* The sign bit of a float's code stands above every other bit; unsigned formats have none. */
static uint64_t with_sign(const lh_format *f, const fpemu_format *format, uint64_t code, double y)
{
    return f->kind == FPEMU_KIND_FLOAT && signbit(y) ? code | (uint64_t)1 << (format->bits - 1) : code;
}

static void one_call(const lh_format *f, const fpemu_format *format, const fpemu_rounding *r, int carrier)
{
    fpemu_status a, b;
    if (carrier == 32) {
        a = fpemu_quantize_f32(format, r, COUNT, x32, y32, NULL);
        b = fpemu_encode_f32(format, r, COUNT, x32, codes, NULL);
    } else {
        a = fpemu_quantize_f64(format, r, COUNT, x64, y64, NULL);
        b = fpemu_encode_f64(format, r, COUNT, x64, codes, NULL);
    }
    if (!lh_check(a == FPEMU_OK && b == FPEMU_OK, "%s mode %d: status %d, %d", f->spec, r->mode, (int)a, (int)b))
        return;
    for (size_t i = 0; i < COUNT; i++) {
        lh_rounding how = {r->mode, r->overflow, r->nan, r->variant, r->bits, 0};
        how.r = lh_bits(r->generator, r->seed, r->stream, r->offset + i, r->bits);
        double x = carrier == 32 ? (double)x32[i] : x64[i], expected;
        lh_result result = lh_round(f, carrier, how, x);
        expected = result.y;
        double y = carrier == 32 ? (double)y32[i] : y64[i];
        int good = carrier == 32 ? lh_same_f32(y32[i], expected) : lh_same_f64(y64[i], expected);
        lh_check(good, "%s binary%d mode %d policy %d nan %d: %a gives %a, expected %a", f->spec, carrier, r->mode,
                 r->overflow, r->nan, x, y, expected);
        good = carrier == 32 ? lh_same_f32(fpemu_quantize_one_f32(format, r, x32[i], i), expected)
                             : lh_same_f64(fpemu_quantize_one_f64(format, r, x64[i], i), expected);
        lh_check(good, "%s binary%d mode %d policy %d: scalar of %a, expected %a", f->spec, carrier, r->mode,
                 r->overflow, x, expected);
        if (!isfinite(expected))
            continue;
        uint64_t code = code_at(codes, fpemu_format_code_size(format), i);
        uint64_t wanted = with_sign(f, format, code_of(f, expected, result.q), expected);
        const uint64_t alone =
            carrier == 32 ? fpemu_encode_one_f32(format, r, x32[i], i) : fpemu_encode_one_f64(format, r, x64[i], i);
        lh_check(code == wanted && alone == wanted, "%s binary%d mode %d: %a has code %llx, alone %llx, expected %llx",
                 f->spec, carrier, r->mode, expected, (unsigned long long)code, (unsigned long long)alone,
                 (unsigned long long)wanted);
        good = carrier == 32 ? lh_same_f32(fpemu_decode_one_f32(format, wanted), expected)
                             : lh_same_f64(fpemu_decode_one_f64(format, wanted), expected);
        lh_check(good, "%s binary%d: code %llx is not %a", f->spec, carrier, (unsigned long long)wanted, expected);
    }
}

/* The rule and the library against what is known of single numbers; in binary32 where it holds the number. */
static void known(const ref_conversion *c)
{
    const lh_rounding how = {c->mode, c->policy, FPEMU_NAN_KEEP, 0, 0, 0};
    const fpemu_rounding r = {.mode = (uint8_t)c->mode, .overflow = (uint8_t)c->policy};
    const fpemu_format format = lh_parsed(c->spec);
    const lh_format *const f = lh_find(c->spec);
    for (int carrier = format.fits_f32 && (isnan(c->x) || c->x == (double)(float)c->x) ? 32 : 64; carrier <= 64;
         carrier += 32) {
        const float x = (float)c->x;
        const double y = carrier == 32 ? (double)fpemu_quantize_one_f32(&format, &r, x, 0)
                                       : fpemu_quantize_one_f64(&format, &r, c->x, 0);
        const uint64_t code =
            carrier == 32 ? fpemu_encode_one_f32(&format, &r, x, 0) : fpemu_encode_one_f64(&format, &r, c->x, 0);
        lh_check(lh_same_f64(y, c->y) && (c->code < 0 || code == (uint64_t)c->code),
                 "%s binary%d mode %d policy %d: %a gives %a, code %llx; known: %a, %llx", c->spec, carrier, c->mode,
                 c->policy, c->x, y, (unsigned long long)code, c->y, (unsigned long long)c->code);
        lh_check(f && lh_same_f64(lh_round(f, carrier, how, c->x).y, c->y), "%s mode %d: the rule gives %a of %a",
                 c->spec, c->mode, f ? lh_round(f, carrier, how, c->x).y : 0, c->x);
    }
}

int main(void)
{
    const lh_format *f;
    for (size_t i = 0; ref_conversions(i); i++)
        known(ref_conversions(i));
    for (size_t i = 0; (f = lh_formats(i)); i++) {
        fpemu_format format = lh_parsed(f->spec);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
            for (int overflow = 1; overflow <= 3 && lh_supports(f, mode); overflow++)
                for (int carrier = f->f64_only ? 64 : 32; carrier <= 64; carrier += 32) {
                    fpemu_rounding r = fpemu_rounding_stochastic(i, (uint64_t)mode);
                    r.mode = (uint8_t)mode;
                    r.overflow = (uint8_t)overflow;
                    r.nan = (uint8_t)(1 + (i + (size_t)mode + (size_t)overflow) % 4);
                    r.variant = (uint8_t)((i + (size_t)overflow) % 3);
                    r.bits = (uint8_t)(1 + (i * 7 + (size_t)overflow * 11) % 32);
                    r.generator = (uint8_t)(i & 1);
                    r.offset = i * 123457;
                    fill(f, carrier, 40 + i * 64 + (uint64_t)mode);
                    one_call(f, &format, &r, carrier);
                }
    }
    return lh_report("quantize");
}
