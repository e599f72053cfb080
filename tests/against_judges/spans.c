/* SPDX-License-Identifier: BSD-2-Clause */
/* spans.c - arrays of formats and settings whose loops have short forms of their own (tables, posits, affine integers,
 * floats and fixed point in every mode, compatibility settings), of any length and at any address, in place or not,
 * with and without counters, against each element by itself; nothing beside the array is written, and the control word
 * of the processor is what it was.
 *
 *   spans [--rounds N] [--seed S]    N: how many times the usual number of arrays; every variant
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "../judges/longhand.h"
#include "alone.h"
#include "variants.h"
#if defined(__SSE__)
#include <xmmintrin.h>
#define CONTROL (_mm_getcsr() & ~0x3fu)
#else
#define CONTROL 0u
#endif

/* Bytes before and behind an array, elements of the longest, and arrays of a format, mode and carrier. */
enum { MARGIN = 80, MOST = 3000, ARRAYS = 12 };

static const char *const specs[] =
    LIST("table(nf4)", "table(dynamic8)", "table(udynamic8)", "table(dynamic5)", "posit(16,2)", "posit(16,1)",
         "posit(8,0)", "posit(8,2)", "posit(3,0)", "posit(5,3)", "posit(12,4)", "posit(24,2)", "posit(32,2)",
         "posit(32,0)", "int(8,scale=0.1)", "int(12,scale=0.7,zero=5)", "uint(16,scale=0.003)", "int(16,scale=1e-3)",
         "int(4,scale=0.3):symmetric", "uint(8,scale=0.02,zero=128)", "fp16", "bf16", "e4m3fn", "e5m2", "e3m2",
         "fp16:nosub", "tf32", "fixed(8,4)", "fixed(8,4):wrap", "fixed(16,-3):wrap", "uint(8):wrap", "int(8):symmetric",
         "uint(8,scale=0.5,zero=100)", "fixed(20,7)", "fixed(22,30):wrap", "int(8,scale=0.1):wrap", "e2m1", "ue4m3",
         "p3109(8,3,se)", "e4m3fnuz", "e5m2fnuz", "p3109(8,4,sf)", "e8m0", "p3109(8,3,ue)", "fp(4,3,120)", "fp(3,2,3)",
         "posit(8,1)", "uint8");
enum { SPECS = sizeof specs / sizeof *specs };

/* Compatibility settings, and formats for them; a setting also goes with other modes than its own. */
static const char *const settings[] = {
    "qpytorch",         "qpytorch-sr",    "lee-inf",       "cpfloat-sr",     "cpfloat-se",
    "nvidia",           "ml-dtypes",      "ml-dtypes-sat", "qpytorch-fixed", "qpytorch-fixed-sr",
    "pytorch-multiply", "pytorch-divide", "pytorch-cast",
};
static const char *const set_specs[] =
    LIST("fp16", "bf16", "e4m3fn", "e5m2", "e2m1", "ue4m3", "e8m0", "fp16:nosub", "p3109(8,3,se)", "e4m3fnuz",
         "fixed(8,4)", "ufixed(8,8)", "fixed(20,4)", "fixed(8,4):wrap", "int(8,scale=0.1)",
         "uint(8,scale=0.02,zero=128)", "int(16,scale=0.5)", "int(24,scale=0.3)");
enum { SETTINGS = sizeof settings / sizeof *settings, SET_SPECS = sizeof set_specs / sizeof *set_specs };

static uint64_t state, digest = UINT64_C(0xcbf29ce484222325);

static uint64_t below(uint64_t n)
{
    return (lh_next(&state) >> 11) % n;
}

/* Whether nearly all numbers of an array are of its format's range. */
static int calm;

/* A value of the format, the middle of two, something near, a special, or anything. */
static double draw(const fpemu_format *f, int carrier)
{
    static const double specials[] = {0,        -0.0,     INFINITY,  -INFINITY, 0x1p-149,  -0x1p-149,
                                      0x1p-126, 0x1p-150, 0x1p-1074, 0x1p127,   -0x1p1000, 0x1.fffffep127};
    if (calm && below(64) == 0)
        return below(2) ? -0.0 : 0;
    const uint64_t kind = calm && below(256) ? 5 + below(11) : below(16),
                   codes = f->bits > 32 ? UINT64_C(1) << 32 : UINT64_C(1) << f->bits;
    if (kind == 0)
        return specials[below(sizeof specials / sizeof *specials)];
    if (kind == 1)
        return lh_double(UINT64_C(0x7ff8000000000000) | below(2) << 63);
    if (kind < 5)
        return carrier == 32 ? (double)lh_float((uint32_t)(lh_next(&state) >> 7)) : lh_double(lh_next(&state));
    const uint64_t code = below(codes);
    const double a = fpemu_decode_one_f64(f, code), b = fpemu_decode_one_f64(f, code + 1 < codes ? code + 1 : code);
    const double x = kind < 9 ? a : kind < 14 ? a / 2 + b / 2 : a * (1 + (double)(below(1001)) * 0x1p-10);
    float near = (float)x;
    double close = x;
    for (uint64_t steps = below(4), up = below(2); steps > 0; steps--) {
        near = nextafterf(near, up ? INFINITY : -INFINITY);
        close = nextafter(close, up ? INFINITY : -INFINITY);
    }
    return carrier == 32 ? (double)near : close;
}

static void check_margins(const char *spec, const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < MARGIN; i++)
        if (!lh_check(at[-1 - (ptrdiff_t)i] == 0xa5 && at[bytes + i] == 0xa5, "%s: written beside the array", spec))
            return;
}

/* Codes of any bits, those that stand for no value and indices past a table's end too, are read as one by one. */
static void any_codes(const char *spec, const fpemu_format *f, int carrier, size_t n, unsigned char *y, void *x)
{
    const size_t code_size = fpemu_format_code_size(f);
    const uint64_t mask = f->kind == FPEMU_KIND_CODEBOOK ? ~UINT64_C(0) : ~UINT64_C(0) >> (64 - f->bits);
    for (size_t i = 0; i < n; i++) {
        const uint64_t code = lh_next(&state) & mask;
        memcpy(y + i * code_size, &code, code_size);
    }
    const fpemu_status status = fpemu_decode(f, carrier, n, y, x);
    lh_check(status == FPEMU_OK, "%s carrier %d: decode any", spec, carrier);
    alone_decoded(spec, f, carrier, n, y, x);
}

static void one_array(const char *spec, const fpemu_format *f, const fpemu_rounding *r, int carrier)
{
    static unsigned char from[MOST * 8 + 4 * MARGIN], to[MOST * 8 + 4 * MARGIN], held[MOST * 8];
    const size_t size = carrier == 32 ? 4 : 8, code_size = fpemu_format_code_size(f);
    const size_t n = below(3) ? (size_t)below(200) : (size_t)below(MOST);
    unsigned char *x = from + MARGIN + below(16) * size, *y = to + MARGIN + below(16) * size;
    memset(from, 0xa5, sizeof from);
    memset(to, 0xa5, sizeof to);
    calm = below(4) == 0;
    for (size_t i = 0; i < n; i++) {
        const double d = draw(f, carrier);
        const float s = (float)d;
        memcpy(x + i * size, carrier == 32 ? (const void *)&s : (const void *)&d, size);
    }
    memcpy(held, x, n * size);
    const int in_place = below(4) == 0, counted = below(3) == 0;
    fpemu_stats stats = {0};
    y = in_place ? x : y;
    const unsigned before = CONTROL;
    fpemu_status status = fpemu_quantize(f, r, carrier, n, x, y, counted ? &stats : NULL);
    lh_check(CONTROL == before, "%s mode %u: the control word is %x, it was %x", spec, r->mode, CONTROL, before);
    lh_check(status == FPEMU_OK, "%s mode %u carrier %d: status %d", spec, r->mode, carrier, status);
    check_margins(spec, y, n * size);
    digest = fnv(digest, y, n * size);
    alone_values(spec, f, r, carrier, n, held, y, counted ? &stats : NULL);
    /* codes, from any address, and back */
    memset(to, 0xa5, sizeof to);
    y = to + MARGIN + below(16) * code_size;
    memcpy(x, held, n * size);
    status = fpemu_encode(f, r, carrier, n, x, y, counted ? &stats : NULL);
    lh_check(status == FPEMU_OK && CONTROL == before, "%s mode %u carrier %d: encode", spec, r->mode, carrier);
    check_margins(spec, y, n * code_size);
    digest = fnv(digest, y, n * code_size);
    memset(from, 0xa5, sizeof from);
    status = fpemu_decode(f, carrier, n, y, x);
    lh_check(status == FPEMU_OK && CONTROL == before, "%s carrier %d: decode", spec, carrier);
    check_margins(spec, x, n * size);
    alone_codes(spec, f, r, carrier, n, held, y);
    alone_decoded(spec, f, carrier, n, y, x);
    any_codes(spec, f, carrier, n, y, x);
}

int main(int argc, char **argv)
{
    unsigned long rounds = 1, seed = 1, arrays = 0;
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(argv[++i], NULL, 10);
    state = seed;
    for (int k = 0; k < SPECS; k++) {
        fpemu_format f = lh_parsed(specs[k]);
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
            for (int carrier = 32; carrier <= 64; carrier += 32)
                for (unsigned long i = 0; i < ARRAYS * rounds; i++) {
                    fpemu_rounding r = {0};
                    r.mode = (uint8_t)mode;
                    r.nan = (uint8_t)(i % 4 == 3 ? FPEMU_NAN_KEEP : 0);
                    r.overflow = (uint8_t)(i / 2 % 4);
                    r.seed = 7 + i;
                    r.offset = i;
                    if (fpemu_check(&f, &r, carrier, NULL))
                        continue;
                    one_array(specs[k], &f, &r, carrier);
                    arrays++;
                }
    }
    for (int k = 0; k < SETTINGS * SET_SPECS; k++) {
        const char *setting = settings[k % SETTINGS], *spec = set_specs[k / SETTINGS];
        fpemu_format f = lh_parsed(spec);
        for (unsigned long i = 0; i < ARRAYS * rounds; i++) {
            fpemu_rounding r;
            char name[100];
            if (!lh_check(fpemu_rounding_parse(setting, &r, NULL) == FPEMU_OK, "no setting %s", setting))
                break;
            r.seed = 7 + i;
            r.offset = i;
            if (i % 3 == 2)
                r.mode = (uint8_t)below(FPEMU_MODE_COUNT);
            if (i % 4 == 3)
                r.overflow = (uint8_t)below(4);
            if (i % 4 == 2)
                r.nan = FPEMU_NAN_MAX;
            if (i % 5 > 2 && FPEMU_MODE_DRAWS(r.mode)) /* some random bits are all 0 or 1 then */
                r.bits = i % 5 == 3 ? 8 : 2;
            const int carrier = i % 2 ? 64 : 32;
            if (fpemu_check(&f, &r, carrier, NULL))
                continue;
            (void)snprintf(name, sizeof name, "%s %s", spec, setting);
            one_array(name, &f, &r, carrier);
            arrays++;
        }
    }
    if (argc == 1)
        variants_rerun(argv[0], "digest", digest);
    const int status = lh_report("spans");
    if (variants_is_child(argc, argv))
        variants_print(digest);
    else
        printf("spans: %lu arrays of %s\n", arrays, fpemu_variant());
    return status;
}
