/* SPDX-License-Identifier: BSD-2-Clause */
/* codebooks.c - long arrays through tables, which are looked up by the loops, against the same elements in calls too
 * short for that, which search by the rule of doc/blocks.md, 5, and against quotients that are rounded one by one.
 * tests/against_judges/blocks.c judges the rule. */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/longhand.h"
#include "alone.h"
#include "variants.h"

#define MOST 16384
typedef struct book {
    const char *name;
    unsigned built_in; /* fpemu_codebook_name */
    uint32_t bits;
    uint32_t length; /* of values, where none is built in */
    const float *values;
} book;

static const float signs[] = {-1, 1};
static const float steps[] = {0, 1};
static const float three[] = {-3, -0x1p-20f, 0x1p20f};
static const float neighbours[] = {1, 0x1.000002p0f, 0x1.000004p0f, 0x1.000006p0f};
static const float close[] = {0x1.000002p0f, 0x1.000004p0f, 2}; /* the first middle is rounded to the second value */
static const float deep[] = {-0x1p-126f, -0x1p-149f, 0, 0x1p-149f, 0x1p-140f, 0x1p-100f};
static const float far[] = {-0x1.fffffep127f, -0x1p100f, -0x1p-100f, 0, 0x1p-90f, 0x1p127f, 0x1.fffffep127f};
static const float uneven[] = {-8, -7.5f, -7.25f, -1, -0.5f, 0.125f, 0.1875f, 2, 3, 100, 101, 102, 103, 104, 105, 106};
static float squares[256], random_values[256], longer[300];

static const book books[] =
    LIST({"nf4", FPEMU_CODEBOOK_NF4, 4, 0, NULL}, {"dynamic4", FPEMU_CODEBOOK_DYNAMIC, 4, 0, NULL},
         {"dynamic5", FPEMU_CODEBOOK_DYNAMIC, 5, 0, NULL}, {"dynamic6", FPEMU_CODEBOOK_DYNAMIC, 6, 0, NULL},
         {"dynamic7", FPEMU_CODEBOOK_DYNAMIC, 7, 0, NULL}, {"dynamic8", FPEMU_CODEBOOK_DYNAMIC, 8, 0, NULL},
         {"udynamic4", FPEMU_CODEBOOK_UDYNAMIC, 4, 0, NULL}, {"udynamic5", FPEMU_CODEBOOK_UDYNAMIC, 5, 0, NULL},
         {"udynamic6", FPEMU_CODEBOOK_UDYNAMIC, 6, 0, NULL}, {"udynamic7", FPEMU_CODEBOOK_UDYNAMIC, 7, 0, NULL},
         {"udynamic8", FPEMU_CODEBOOK_UDYNAMIC, 8, 0, NULL}, {"signs", 0, 0, 2, signs}, {"steps", 0, 0, 2, steps},
         {"three", 0, 0, 3, three}, {"neighbours", 0, 0, 4, neighbours}, {"close", 0, 0, 3, close},
         {"deep", 0, 0, 6, deep}, {"far", 0, 0, 7, far}, {"uneven", 0, 0, 16, uneven}, {"squares", 0, 0, 256, squares},
         {"random", 0, 0, 256, random_values}, {"longer", 0, 0, 300, longer});
enum { BOOKS = sizeof books / sizeof *books };

static const int modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RTZ, FPEMU_MODE_RAZ, FPEMU_MODE_RTP, FPEMU_MODE_RTN,
                            FPEMU_MODE_SR,  FPEMU_MODE_SE,  FPEMU_MODE_RNA, FPEMU_MODE_RNZ, FPEMU_MODE_RNP};
enum { MODES = sizeof modes / sizeof *modes };

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static float points32[MOST], y32[MOST];
static double points64[MOST], y64[MOST];
static size_t count;

static fpemu_status open_book(const book *b, fpemu_format *f)
{
    return b->built_in ? fpemu_format_codebook(f, (fpemu_codebook_name)b->built_in, b->bits)
                       : fpemu_format_table(f, b->length, b->values);
}

static void add_point(double x)
{
    if (count < MOST) {
        points32[count] = (float)x;
        points64[count++] = x;
    }
}

/* A number and its neighbours in both carriers, with either sign. */
static void add_around(double x)
{
    float a = (float)x, b = (float)x;
    double c = x, d = x;
    add_point(x);
    add_point(-x);
    for (int i = 0; i < 3; i++) {
        add_point(a = nextafterf(a, INFINITY));
        add_point(b = nextafterf(b, -INFINITY));
        add_point(c = nextafter(c, INFINITY));
        add_point(d = nextafter(d, -INFINITY));
    }
}

/* Values of the table, the middles between them, what lies around, specials, and anything; times scale. */
static void make_points(const fpemu_format *f, double scale, size_t most)
{
    uint64_t state = 5;
    const uint32_t step = f->codebook_length > 64 ? 3 : 1;
    count = 0;
    const double specials[] = {0,    0x1p-149,       0x1p-126, 0x1p-1074, 0x1p-1022, 1,       0x1p-60,
                               1e30, 0x1.fffffep127, 0x1p128,  0x1p1000,  INFINITY,  0x1p-20, 3};
    for (size_t i = 0; i < sizeof specials / sizeof *specials && scale == 1; i++)
        add_around(specials[i]);
    if (scale == 1) {
        add_point(lh_double(UINT64_C(0x7ff8000000000000)));
        add_point(lh_double(UINT64_C(0xfff8000000000000)));
        add_point(lh_double(UINT64_C(0xfff8123460000000)));
    }
    for (uint32_t k = 0; k < f->codebook_length; k++) {
        const double a = fpemu_decode_one_f64(f, k),
                     b = k + 1 < f->codebook_length ? fpemu_decode_one_f64(f, k + 1) : a;
        if (k % step == 0 || k + 2 > f->codebook_length) {
            add_around(scale * a);
            add_around(scale * ((a + b) / 2));
            add_around(scale * (double)(float)((a + b) / 2));
        } else {
            add_point(scale * a);
            add_point(scale * ((a + b) / 2));
        }
    }
    if (f->codebook_length == 2) /* middles between the steps of 7 random bits, which parity decides in one variant */
        for (int i = 0; i < 12 * 128; i++) {
            const double first = fpemu_decode_one_f64(f, 0), last = fpemu_decode_one_f64(f, 1);
            add_point(scale * (first + (last - first) * (2 * (i % 128) + 1) / 256));
        }
    while (count < most) {
        const uint64_t z = lh_next(&state);
        const double up = f->max > -f->lowest ? f->max : -f->lowest, u = (double)(z >> 11) * 0x1p-53;
        if (z % 97 == 0)
            add_point(0);
        add_point(scale * (z & 1 ? 1 : -1) * (z & 2 ? u * up : ldexp(u + 1, (int)(z >> 3 & 31) - 28) * up));
    }
}

/* One array call of `count` points, with values, counters or codes, against short ones of `run` elements. */
static void compare(const char *name, const fpemu_format *f, fpemu_rounding r, int carrier, size_t run)
{
    static float short32[MOST], uncounted[MOST];
    static double short64[MOST];
    static uint16_t codes[MOST], short_codes[MOST];
    fpemu_stats all = {0}, parts = {0};
    const fpemu_rounding whole = r;
    const size_t size = f->bits > 8 ? 2 : 1, n = count, width = carrier == 32 ? 4 : 8;
    const int coded = f->scaling == FPEMU_SCALING_NONE;
    const char *const x = LH_OF(points);
    char *const y = LH_OF(y), *const in_parts = LH_OF(short);
    fpemu_status in_turn = FPEMU_OK;
    memset(y32, 1, sizeof y32);
    memset(y64, 1, sizeof y64);
    const fpemu_status status = fpemu_quantize(f, &whole, carrier, n, x, y, NULL);
    for (size_t i = 0; i < n; i += run) {
        const size_t m = n - i < run ? n - i : run;
        r.offset = whole.offset + i;
        const fpemu_status one = fpemu_quantize(f, &r, carrier, m, x + i * width, in_parts + i * width, &parts);
        in_turn = one ? one : in_turn;
        if (!coded && carrier == 32)
            (void)fpemu_quantize_f32(f, &r, m, points32 + i, uncounted + i, NULL);
        if (coded)
            (void)fpemu_encode(f, &r, carrier, m, x + i * width, (char *)short_codes + i * size, NULL);
    }
    lh_check(coded || carrier == 64 || memcmp(short32, uncounted, n * sizeof *short32) == 0,
             "%s mode %u: short calls without counters", name, whole.mode);
    lh_check(status == in_turn, "%s mode %u carrier %d: status %d, in parts %d", name, whole.mode, carrier, status,
             in_turn);
    for (size_t i = 0; i < n; i++)
        if (!lh_check(lh_same_bits(carrier, y, in_parts, i), "%s mode %u nan %u carrier %d: %a gives %a, by itself %a",
                      name, whole.mode, whole.nan, carrier, lh_at(carrier, x, i), lh_at(carrier, y, i),
                      lh_at(carrier, in_parts, i)))
            break;
    digest = fnv(digest, y, n * width);
    (void)fpemu_quantize(f, &whole, carrier, n, x, y, &all);
    lh_check(memcmp(&all, &parts, sizeof all) == 0, "%s mode %u carrier %d: counters", name, whole.mode, carrier);
    lh_check(memcmp(y, in_parts, n * width) == 0, "%s mode %u carrier %d: values beside counters", name, whole.mode,
             carrier);
    if (!coded)
        return;
    (void)fpemu_encode(f, &whole, carrier, n, x, codes, NULL);
    lh_check(memcmp(codes, short_codes, n * size) == 0, "%s mode %u carrier %d: codes", name, whole.mode, carrier);
    (void)fpemu_decode(f, carrier, n, codes, y);
    alone_decoded(name, f, carrier, n, codes, y);
}

/* Bits above the code's are ignored, in few codes and in many. */
static void unused_bits(const fpemu_format *f, const char *name)
{
    enum { MANY = 700 };
    static float y[MANY], z[MANY];
    uint8_t bytes[2][MANY];
    uint16_t words[2][MANY];
    const uint32_t mask = (UINT32_C(1) << f->bits) - 1;
    for (size_t i = 0; i < MANY; i++) {
        words[0][i] = (uint16_t)(i * 40503 >> 3);
        words[1][i] = (uint16_t)(words[0][i] & mask);
        bytes[0][i] = (uint8_t)words[0][i];
        bytes[1][i] = (uint8_t)(bytes[0][i] & mask);
    }
    const int wide = f->bits > 8;
    for (size_t n = 7; n <= MANY; n += MANY - 7) {
        (void)fpemu_decode_f32(f, n, wide ? (const void *)words[0] : bytes[0], y);
        (void)fpemu_decode_f32(f, n, wide ? (const void *)words[1] : bytes[1], z);
        lh_check(memcmp(y, z, n * sizeof *y) == 0, "%s: bits above the code's, %zu codes", name, n);
        const uint64_t code = wide ? words[0][3] : bytes[0][3];
        lh_check(lh_float_bits(fpemu_decode_one_f32(f, code)) == lh_float_bits(z[3]), "%s: bits above one code", name);
    }
}

static void unscaled(void)
{
    for (int b = 0; b < BOOKS; b++) {
        fpemu_format f;
        if (!lh_check(open_book(&books[b], &f) == FPEMU_OK, "%s: no format", books[b].name))
            continue;
        unused_bits(&f, books[b].name);
        make_points(&f, 1, 6000);
        for (int m = 0; m < MODES; m++)
            for (int variant = 0; variant < (modes[m] == FPEMU_MODE_SR ? 3 : 1); variant++)
                for (int nan = FPEMU_NAN_FROM_FORMAT; nan <= FPEMU_NAN_ERROR; nan++) {
                    fpemu_rounding r = {0};
                    r.mode = (uint8_t)modes[m];
                    r.variant = (uint8_t)variant;
                    r.bits = (uint8_t)(variant == 0 || nan == FPEMU_NAN_KEEP ? 0 : 7);
                    r.nan = (uint8_t)nan;
                    r.seed = 11;
                    r.offset = 1000;
                    if (nan == FPEMU_NAN_ERROR && m > 0)
                        continue;
                    for (int carrier = 32; carrier <= 64; carrier += 32)
                        compare(books[b].name, &f, r, carrier, f.codebook_length > 16 ? 100 : 20);
                }
    }
}

/* A NaN at every place of a line of numbers that are values: it alone stays one, or becomes the lowest or largest
 * value under FPEMU_NAN_SIGNMAX; the others stay. */
static void lonely_nan(void)
{
    enum { LINE_LENGTH = 640, PLACES = 160 }; /* long enough for loops of vectors */
    for (int b = 0; b < BOOKS; b++) {
        fpemu_format f;
        if (!lh_check(open_book(&books[b], &f) == FPEMU_OK, "%s: no format", books[b].name))
            continue;
        for (size_t place = 0; place < PLACES; place++) {
            float x[LINE_LENGTH], y[LINE_LENGTH];
            const int negative = place % 2 != 0, keep = place % 3 != 0;
            const fpemu_rounding r = {.nan = keep ? FPEMU_NAN_KEEP : FPEMU_NAN_SIGNMAX};
            for (uint32_t i = 0; i < LINE_LENGTH; i++)
                x[i] = (float)fpemu_decode_one_f64(&f, i * 7 % f.codebook_length);
            x[place] = (float)lh_double(UINT64_C(0x7ff8000000000000) | (uint64_t)negative << 63);
            (void)fpemu_quantize_f32(&f, &r, LINE_LENGTH, x, y, NULL);
            for (size_t i = 0; i < LINE_LENGTH; i++) {
                const float want = i != place ? x[i] : negative ? (float)f.lowest : (float)f.max;
                const int right = i == place && keep ? y[i] != y[i] : y[i] == want;
                if (!lh_check(right, "%s: NaN at %zu, element %zu gives %a", books[b].name, place, i, (double)y[i]))
                    break;
            }
        }
    }
}

/* Values that compare left, under scales of binary32, against quotients that are rounded by themselves. */
static void by_quotients(const char *name, const fpemu_format *f, const fpemu_rounding *r, int carrier, size_t run)
{
    const double reach = f->max > -f->lowest ? f->max : -f->lowest, most = carrier == 32 ? FLT_MAX : DBL_MAX;
    for (size_t begin = 0; begin < count; begin += run) {
        double amax = 0;
        for (size_t i = begin; i < count && i < begin + run; i++) {
            const double a = fabs(lh_at(carrier, LH_OF(points), i));
            amax = a <= amax ? amax : amax == amax ? a : amax; /* of a NaN it stays one, and makes no scale */
        }
        const double scale = (float)(carrier == 32 ? (float)(amax / reach) : amax / reach);
        for (size_t i = begin; i < count && i < begin + run && scale > 0 && scale < INFINITY; i++) {
            const double x = lh_at(carrier, LH_OF(points), i), got = lh_at(carrier, LH_OF(y), i);
            const double y = carrier == 32 ? (float)(fpemu_quantize_one_f32(f, r, (float)(x / scale), i) * scale)
                                           : fpemu_quantize_one_f64(f, r, x / scale, i) * scale;
            if (!lh_check(got == fmax(fmin(y, most), -most), "%s mode %u carrier %d: %a under %a gives %a, not %a",
                          name, r->mode, carrier, x, scale, got, y))
                return;
        }
    }
}

/* Under scales, of which some lie near the ends of the carrier. */
static void scaled(void)
{
    static const double scales[] = {1,        0.1,      0x1.fffffep-1, 3,        0x1p-55,  0x1.8p-57, 0x1p55,
                                    0x1.4p57, 0x1p-100, 0x1p100,       0x1p-126, 0x1p-135, 0x1p120};
    for (int b = 0; b < BOOKS; b++) {
        fpemu_format element, scale, f;
        if (open_book(&books[b], &element))
            continue;
        const double reach = element.max > -element.lowest ? element.max : -element.lowest;
        for (size_t s = 0; s < sizeof scales / sizeof *scales + 40; s++) {
            uint64_t state = 77 + s;
            for (int d = 0; d < 100; d++)
                lh_next(&state);
            const size_t known = sizeof scales / sizeof *scales;
            const double by =
                s < known ? scales[s] : ldexp(1 + (double)(lh_next(&state) >> 41) * 0x1p-23, (int)(s % 9) - 4);
            static const char *const kinds[] = {"fp32", "e5m2", "fp32", "e4m3fn", "fp16", "e3m0"};
            if (fpemu_format_parse(kinds[s % 6], &scale, NULL) && fpemu_format_parse("e3m2", &scale, NULL))
                continue;
            const uint32_t length = s % 3 == 0 ? 64 : s % 3 == 1 ? 48 : 37;
            if (fpemu_format_blocked(&f, &element, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, length))
                continue;
            make_points(&element, by, s < known ? 4000 : 2500);
            for (size_t i = 0; i < count; i++) { /* blocks of the same scale, about, with other ends in between */
                const double end = (float)(reach * by);
                points64[i] = points64[i] > end ? end : points64[i] < -end ? -end : points64[i];
                if (i % length == (i / length) % length && i / length % 5)
                    points64[i] = end;
                points32[i] = (float)points64[i];
                points64[i] = i % 3 ? points64[i] : (double)points32[i];
            }
            for (int m = 0; m < MODES; m += s < known ? 1 : MODES) {
                fpemu_rounding r = {.mode = (uint8_t)modes[m], .seed = 3};
                for (int carrier = 32; carrier <= 64; carrier += 32) {
                    compare(books[b].name, &f, r, carrier, length);
                    if (strcmp(kinds[s % 6], "fp32") == 0)
                        by_quotients(books[b].name, &element, &r, carrier, length);
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 9;
    for (int i = 0; i < 256; i++)
        squares[i] = (float)((i - 100) * (i < 100 ? -1 : 1) * (i - 100));
    for (int i = 0; i < 256; i++)
        random_values[i] = (float)(i - 128) + (float)(lh_next(&state) >> 41) * 0x1p-23f;
    for (int i = 0; i < 300; i++)
        longer[i] = (float)i / 8;
    lonely_nan();
    unscaled();
    scaled();
    return variants_end(argc, argv, "codebooks", digest);
}
