/* SPDX-License-Identifier: BSD-2-Clause */
/* properties.c - what must hold whatever the numbers are: pieces of a call, elements alone where there are many,
 * instruction sets. Single numbers are for quantize.c and quantize_neighbours.c, codes there and back for codes.c.
 *
 * `properties digest variant` ends with a digest of results; the program runs itself so for each instruction set. */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */

#include "../judges/longhand.h"
#include "alone.h"
#include "variants.h"

enum { COUNT = 3000, LARGE = 70000 };

static float x32[COUNT], y32[COUNT];
static double x64[COUNT], y64[COUNT];

static fpemu_rounding with_mode(int mode, int overflow, uint64_t seed)
{
    fpemu_rounding r = fpemu_rounding_stochastic(seed, 11);
    r.mode = (uint8_t)mode;
    r.overflow = (uint8_t)overflow;
    r.variant = (uint8_t)(seed % 3);
    r.bits = (uint8_t)(seed * 5 % 33);
    r.generator = (uint8_t)(seed / 2 % 2);
    return r;
}

/* Values of the format, their midpoints, what lies next to these, specials, and a wide spread. */
static void fill(const fpemu_format *format, uint64_t seed)
{
    uint64_t state = seed;
    const double special[] = LIST(NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 0x1p-149, -0x1p-149, 0x1.fffffep127,
                                  -0x1.fffffep127, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-126);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bits = lh_next(&state);
        double x = ldexp((double)(bits >> 11), -75 + (int)(bits >> 3 & 31));
        if (i % 8 == 0)
            x = special[i / 8 % (sizeof special / sizeof special[0])];
        else if (i % 8 == 1)
            x = lh_double(bits);
        else if (i % 8 == 2)
            x = (double)lh_float((uint32_t)(bits >> 7));
        else if (i % 8 == 3)
            x = ldexp((double)(bits >> 60), (int)(bits >> 40 & 63) - 40);
        else if (i % 8 <= 6) {
            double scale = i % 8 == 6 ? format->max / 0x1p64 : ldexp(format->min_normal, -60);
            double low = fpemu_format_next_down(format, (double)bits * scale);
            double high = fpemu_format_next_up(format, low), between = low / 2 + high / 2;
            if (isnan(between))
                x = low;
            else if (bits % 4 == 0)
                x = high;
            else if (bits % 4 == 1)
                x = between;
            else
                x = i & 16 ? nextafter(between, bits % 4 == 2 ? low : high)
                           : (double)nextafterf((float)between, (float)(bits % 4 == 2 ? low : high));
        }
        x64[i] = !isnan(x) && bits & 4 ? -x : x;
        x32[i] = (float)x64[i];
    }
}

/* A call in pieces, at odd addresses, of every length. */
static void pieces(const char *name, const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    static float whole32[LARGE], part32[LARGE + 64];
    static double whole64[LARGE], part64[LARGE + 64];
    static float in32[LARGE + 64];
    static double in64[LARGE + 64];
    uint64_t state = r->seed + 3;
    const size_t lengths[] = {2, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 10000};
    for (size_t i = 0; i < LARGE; i++) {
        in64[i] = i % 11 == 0 ? x64[i % COUNT] : ldexp((double)(int64_t)lh_next(&state), -62 - (int)(i % 40));
        in32[i] = i % 11 == 0 ? x32[i % COUNT] : (float)in64[i];
    }
    const size_t size = carrier == 32 ? 4 : 8;
    const unsigned char *const in = LH_OF(in), *const whole = LH_OF(whole);
    unsigned char *const part = LH_OF(part);
    lh_check(fpemu_quantize(f, r, carrier, LARGE, LH_OF(in), LH_OF(whole), NULL) == FPEMU_OK, "%s: refused", name);
    for (size_t first = 0, turn = 0, n; first < LARGE; first += n, turn++) {
        n = turn < 201 ? turn : lengths[(turn + r->mode) % (sizeof lengths / sizeof lengths[0])];
        n = n > LARGE - first ? LARGE - first : n;
        fpemu_rounding slice = *r;
        slice.offset += first;
        unsigned char *const out = part + turn % 17 * size; /* begins anywhere, and nothing beside it is touched */
        memset(part, 0x5a, (LARGE + 64) * size);
        const fpemu_status status = fpemu_quantize(f, &slice, carrier, n, in + first * size, out, NULL);
        lh_check(status == FPEMU_OK && !memcmp(out, whole + first * size, n * size),
                 "%s mode %d: %zu elements from %zu differ", name, r->mode, n, first);
        lh_check(out[n * size] == 0x5a && (out == part || out[-1] == 0x5a), "%s: written outside", name);
    }
}

/* ------------------------------------------------------------------------------------------------ digests */

enum { STREAMED = (9 << 20) + 5 };

/* Results too large for a cache against those of calls on `piece` elements, whole blocks: how many differ. out: they
 * begin anywhere. Counted where that is asked for. */
static size_t streamed_as(const char *spec, fpemu_rounding r, int carrier, size_t piece, int counted, const float *x,
                          const double *wide, void *out)
{
    static double part[1 << 16];
    const size_t many = carrier == 32 ? STREAMED : STREAMED / 2;
    fpemu_stats one = {0}, all = {0};
    size_t differing = 0;
    fpemu_format f = lh_parsed(spec);
    const size_t size = carrier == 32 ? 4 : 8;
    const char *const from = carrier == 32 ? (const void *)x : (const void *)wide;
    fpemu_status status = fpemu_quantize(&f, &r, carrier, many, from, out, counted ? &one : NULL);
    for (size_t first = 0; first < many && status == FPEMU_OK; first += piece, r.offset += piece) {
        const size_t n = many - first < piece ? many - first : piece;
        status = fpemu_quantize(&f, &r, carrier, n, from + first * size, part, counted ? &all : NULL);
        for (size_t i = 0; i < n; i++)
            differing += !lh_same_bits(carrier, part, (const char *)out + first * size, i);
    }
    lh_check(status == FPEMU_OK && differing == 0, "%s of binary%d: %zu large results differ", spec, carrier,
             differing);
    return differing + (status != FPEMU_OK) + (one.count != all.count) + (one.inexact != all.inexact) +
           (one.underflow != all.underflow) + (one.clipped != all.clipped) + (one.blocks != all.blocks);
}

/* The same of formats with and without scales: how many differ. */
static size_t streamed(void)
{
    static const char *const specs[] = {"e4m3fn:saturate", "fp16", "fixed(8,4)", "bf16", "e4m3fn", "fp16"};
    static const char *const scaled[] =
        LIST("mxfp8", "msfp12", "q8_0", "nf4", "group(int8,128)", "group(e3m2,24)", "mxint8", "mxfp4",
             "codebook(dynamic8,block=512)", "group(int8,1536)", "codebook(dynamic8,block=2048)");
    float *x = malloc(STREAMED * sizeof *x);
    double *wide = malloc(STREAMED / 2 * sizeof *wide), *out = malloc((STREAMED / 2 + 20) * sizeof *out);
    size_t differing = 0;
    if (!lh_check(x && wide && out, "no memory"))
        differing = 1;
    uint64_t state = 77;
    for (size_t i = 0; i < STREAMED && !differing; i++) {
        x[i] = i % 1001 == 0 ? lh_float((uint32_t)lh_next(&state))
                             : (float)(int64_t)(i * 2654435761u % 4001 - 2000) * 0x1p-13f;
        if (i < STREAMED / 2)
            wide[i] = i % 1001 == 0 ? lh_double(lh_next(&state)) : (double)x[i];
    }
    for (size_t k = 0; k < sizeof specs / sizeof *specs && !differing; k++) {
        fpemu_rounding r = fpemu_rounding_stochastic(5, k);
        const size_t shift = k == 0 ? 0 : k == 4 ? 4 : 2 * k + 1;
        r.mode = k % 2 && k < 4 ? FPEMU_MODE_RNE : FPEMU_MODE_SR;
        r.bits = k < 4 ? 32 : k == 4 ? 16 : 8;
        r.offset = UINT64_C(0xfff00000); /* beyond 2^32 halfway */
        differing += streamed_as(specs[k], r, 32, 50021, k == 2 || k == 3, x, NULL, (float *)out + shift);
    }
    for (size_t k = 0; k < sizeof scaled / sizeof *scaled * 4 && !differing; k++) {
        const size_t piece = 512 * 24 * 4;
        const int carrier = k % 4 < 2 ? 32 : 64, counted = k % 2;
        void *const begin = carrier == 32 ? (void *)((float *)out + k % 17) : (void *)(out + k % 17);
        differing += streamed_as(scaled[k / 4], with_mode(k % 3 ? FPEMU_MODE_RNE : FPEMU_MODE_RTZ, 0, 0), carrier,
                                 piece, counted, x, wide, begin);
    }
    FREE(x, wide, out);
    return differing;
}

/* Codes whose values are too many for a cache. */
static void decoded_past_caches(void)
{
    enum { MANY = (9 << 20) + 5 };
    static const char *const specs[] = {"e4m3fn", "fp16", "posit(8,1)"};
    uint16_t *codes = malloc(MANY * sizeof *codes);
    double *out = malloc((MANY + 9) * sizeof *out);
    for (size_t k = 0; k < sizeof specs / sizeof *specs && lh_check(codes && out, "no memory"); k++) {
        fpemu_format f = lh_parsed(specs[k]);
        float *y32 = (float *)out + 3 + k;
        double *y64 = out + 1 + 2 * k;
        for (size_t i = 0; i < MANY; i++)
            codes[i] = (uint16_t)(i * 40503u + i / 1009);
        lh_check(fpemu_decode_f32(&f, MANY, codes, y32) == FPEMU_OK, "%s", specs[k]);
        alone_decoded(specs[k], &f, 32, MANY, codes, y32);
        lh_check(fpemu_decode_f64(&f, MANY / 2, codes, y64) == FPEMU_OK, "%s", specs[k]);
        alone_decoded(specs[k], &f, 64, MANY / 2, codes, y64);
    }
    FREE(codes, out);
}

/* Stochastic rounding of many elements, where most are in range or none is. Indices pass those of 2^17 and 2^32 words,
 * where these change their keys. */
static void drawn_in_bulk(void)
{
    enum { MANY = 9001, KINDS = 6 };
    static const char *const specs[] = {"e4m3fn", "e4m3fn:saturate", "e5m2", "fp16",       "fp16:saturate",
                                        "bf16",   "e2m1:saturate",   "e3m2", "fixed(8,4)", "float(e=3,m=2,bias=20)"};
    static const uint64_t offsets[] = {0, 131072 - 4500 - 77, (UINT64_C(1) << 32) - 5000, 7};
    static float in[MANY], out[MANY];
    static uint16_t codes[MANY];
    uint64_t state = 4242;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        fpemu_format f = lh_parsed(specs[k]);
        const double least = fpemu_format_min_positive(&f), most = fpemu_format_max(&f),
                     spread = log2(most) - log2(least);
        for (size_t turn = 0; turn < KINDS * 12; turn++) {
            const size_t kind = turn % KINDS, n = turn < KINDS ? MANY : MANY - (size_t)(lh_next(&state) % 5000);
            const int share = (int)(turn / KINDS % 3); /* elements to a word, as log2 */
            fpemu_rounding r = fpemu_rounding_stochastic(turn, k);
            r.bits = (uint8_t)(32 >> share);
            r.offset = offsets[turn % 4] << (turn / 4 % 2 ? share : 0);
            for (size_t i = 0; i < n; i++) {
                const uint64_t word = lh_next(&state), choice = word >> 40;
                double x = fmin(least * exp2(spread * (double)(word & 0xffffff) * 0x1p-24), most);
                if (kind == 1 && choice % 61 == 0)
                    x = choice % 3 ? least * 0.7 : most * (choice % 2 ? 1.01 : 1e9);
                if ((kind == 2 || kind == 4) && choice % 2)
                    x = 0;
                if (kind == 4 && choice % 509 == 0)
                    x = choice & 64 ? NAN : INFINITY;
                if (kind == 5)
                    x = choice % 7 == 0 ? most * 1.5 : x * 0x1p-9;
                in[i] = kind == 3 ? lh_float((uint32_t)word) : (float)(word >> 63 ? -x : x);
            }
            const int in_place = turn % 3 == 1;
            if (in_place)
                memcpy(out, in, n * sizeof *in);
            fpemu_stats stats = {0};
            const int counted = turn % 4 == 3, coded = turn % 4 == 2;
            lh_check(fpemu_quantize_f32(&f, &r, n, in_place ? out : in, out, counted ? &stats : NULL) == FPEMU_OK &&
                         (!coded || fpemu_encode_f32(&f, &r, n, in, codes, NULL) == FPEMU_OK),
                     "%s, kind %zu: refused", specs[k], kind);
            alone_values(specs[k], &f, &r, 32, n, in, out, counted ? &stats : NULL);
            if (coded)
                alone_codes(specs[k], &f, &r, 32, n, in, codes);
        }
    }
}

/* A digest of values, codes and stats over formats and modes. */
enum { SETS = 14 };
static const char *const digest_specs[SETS] = {
    "fp16",          "bf16",           "e4m3fn",           "e8m0",        "fp16:nosub", "dlfloat16",
    "p3109(8,3,se)", "fixed(8,4)",     "int(8,scale=0.1)", "posit(16,1)", "fp32",       "float(e=8,m=0)",
    "table(nf4)",    "table(dynamic8)"};
static fpemu_format digest_format[SETS];
static float digest_x32[SETS][COUNT];
static double digest_x64[SETS][COUNT];

static void prepare(void)
{
    for (int i = 0; i < SETS; i++) {
        lh_check(fpemu_format_parse(digest_specs[i], &digest_format[i], NULL) == FPEMU_OK, "cannot parse %s",
                 digest_specs[i]);
        fill(&digest_format[i], 500 + (uint64_t)i);
        memcpy(digest_x32[i], x32, sizeof x32);
        memcpy(digest_x64[i], x64, sizeof x64);
    }
}

static uint64_t digest(void)
{
    static uint64_t codes[COUNT];
    uint64_t result = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < SETS; i++)
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            const fpemu_format *f = &digest_format[i];
            if (f->kind == FPEMU_KIND_POSIT && mode != FPEMU_MODE_RNE)
                continue;
            fpemu_rounding r = with_mode(mode, mode % 4, (uint64_t)(i + mode));
            for (int counted = 0; counted < 2; counted++) {
                fpemu_stats stats = {.request.want = FPEMU_STATS_SUMS};
                fpemu_stats *s = counted ? &stats : NULL;
                for (size_t n = COUNT; n > 0; n /= 7) { /* also short calls */
                    int a = (int)fpemu_quantize_f32(f, &r, n, digest_x32[i], y32, s);
                    int b = (int)fpemu_quantize_f64(f, &r, n, digest_x64[i], y64, s);
                    result = fnv(fnv(result, y32, n * sizeof *y32), y64, n * sizeof *y64);
                    int c = (int)fpemu_encode_f32(f, &r, n, digest_x32[i], codes, s);
                    result = fnv(result, codes, n * fpemu_format_code_size(f));
                    int d = (int)fpemu_decode_f32(f, n, codes, y32);
                    result = fnv(result, y32, n * sizeof *y32);
                    int e = (int)fpemu_encode_f64(f, &r, n, digest_x64[i], codes, s);
                    result = fnv(result, codes, n * fpemu_format_code_size(f));
                    int g = (int)fpemu_decode_f64(f, n, codes, y64);
                    result = fnv(result, y64, n * sizeof *y64);
                    result ^= (uint64_t)(a | b | c | d | e | g);
                }
                result = fnv(result, &stats, sizeof stats);
            }
            for (size_t j = 0; j < COUNT; j += 7) {
                float one = fpemu_quantize_one_f32(f, &r, digest_x32[i][j], j);
                double two = fpemu_quantize_one_f64(f, &r, digest_x64[i][j], j);
                result = fnv(fnv(result, &one, sizeof one), &two, sizeof two);
            }
        }
    return result;
}

/* ------------------------------------------------------------------------------------------------ all */

static void every_format(void)
{
    const lh_format *known;
    for (size_t i = 0; (known = lh_formats(i)); i++) {
        fpemu_format format = lh_parsed(known->spec);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
            if (lh_supports(known, mode)) {
                fpemu_rounding r = with_mode(mode, 1, i + (uint64_t)mode);
                fill(&format, 900 + i);
                for (int carrier = known->f64_only ? 64 : 32; carrier <= 64; carrier += 32)
                    pieces(known->spec, &format, &r, carrier);
            }
    }
}

int main(int argc, char **argv)
{
    const int child = variants_is_child(argc, argv);
    prepare();
    const uint64_t result = digest();
    if (child) {
        lh_check(streamed() == 0, "large results differ");
        decoded_past_caches();
        drawn_in_bulk();
    } else {
        every_format();
    }
    return variants_end(argc, argv, "properties", result);
}
