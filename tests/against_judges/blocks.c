/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - blocked formats, value to value, against the judge of tests/judges/blocks.c.
 *
 * blocks [--rounds N] [--seed S]   N: how many times the usual number of random cases
 * `blocks digest variant` ends with a digest of results; the program runs itself so for each instruction set.
 */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/longhand.h"
#include "blocks_cases.h"
#include "variants.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static unsigned long rounds = 1;
static uint64_t first_seed = 1;

/* A NaN of either sign and infinities under every NaN policy, with scales and zero points that are given. */
static void given_to_nan(void)
{
    static const char *const specs[] = {"group(uint4,block=5)", "group(int(5),block=4,rule=reciprocal)"};
    block_case c = {.carrier = 32, .plain = 1};
    fpemu_given given;
    for (unsigned k = 0; k < 2 * 6 * 20; k++) {
        case_named(&c, specs[k % 2]);
        c.shape = fpemu_shape_vector(21);
        c.seed = k * UINT64_C(0x9e3779b97f4a7c15);
        case_fill(&c);
        for (unsigned i = 0; i < 16; i++)
            c.x[i] = carrier_bits(32, i % 4 < 2 ? (double)NAN : (double)INFINITY) | (uint64_t)(i % 2) << 31;
        case_rounding(&c);
        c.r.nan = (uint8_t)(k / 2 % 6);
        c.shape.given = case_given(&c, &given) ? &given : NULL;
        (void)case_values(&c);
        (void)case_counters(&c);
    }
    case_free(&c);
}

/* What most callers ask for, and what has short cuts: binary32, to nearest, one array after the other. */
static void plain_arrays(void)
{
    block_case c = {.plain = 1, .carrier = 32};
    for (size_t i = 0; case_format(i, &c.f, c.spec); i++)
        for (unsigned long k = 0; k < 12 * rounds && fpemu_format_fits_f32(&c.f); k++) {
            uint64_t state = (first_seed + k) * UINT64_C(0xd1342543de82ef95) + i;
            if (k % 3 == 2 && c.f.block == FPEMU_BLOCK_RUN && c.f.scaling && c.f.scaling != FPEMU_SCALING_HIF4 &&
                c.f.scaling != FPEMU_SCALING_GGML_1K && c.f.scaling != FPEMU_SCALING_GGML_0K) {
                c.f.block_length = (uint32_t)(k % 2 ? 16 : 32);
                (void)fpemu_format_complete(&c.f);
            }
            c.seed = state;
            c.shape = fpemu_shape_vector(k % 4 ? 64 * (1 + state / 64 % 3) : 1 + state % 200);
            if (k % 4 == 1)
                c.shape.rows = 1 + state % 3;
            case_fill(&c);
            memset(&c.r, 0, sizeof c.r);
            (void)case_values(&c);
        }
    case_free(&c);
}

/* ------------------------------------------------------------------------------------ every content of small blocks */

static int with_pairs(fpemu_format *f)
{
    f->block = FPEMU_BLOCK_RUN;
    f->block_length = 2;
    f->block_rows = 0;
    return fpemu_format_complete(f) == FPEMU_OK;
}

/* Pairs of multiples of half a step of a 4-bit element, of both signs, under each scale: codes, midpoints, beyond. */
static void exhaustive(void)
{
    static const struct {
        const char *spec;
        int halves, e; /* x = k * 2^e * 2^scale, |k| <= halves */
    } small[] = LIST({"mx(e2m1,block=2)", 16, -1}, {"mx(e2m1,block=2,rule=ceil)", 16, -1},
                     {"mx(e2m1,block=2,rule=even)", 16, -1}, {"mx(e2m1,block=2,rule=rceil)", 16, -1},
                     {"bfp(3,block=2)", 16, -1}, {"bfp(3,block=2,rule=hbfp)", 16, -1}, {"mx(int4,block=2)", 16, -1});
    static const uint8_t modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RNA, FPEMU_MODE_RTZ, FPEMU_MODE_RTP,
                                    FPEMU_MODE_RTO, FPEMU_MODE_SR,  FPEMU_MODE_RNP};
    block_case c = {.carrier = 32};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        int n = small[i].halves, scale, a, b;
        case_named(&c, small[i].spec);
        free(c.x);
        c.x = case_room(sizeof *c.x * 2 * (size_t)(2 * n + 1) * (size_t)(2 * n + 1) * 24);
        for (size_t m = 0; m < sizeof modes; m++) {
            /* every scale for rne, else a few, the ends among them */
            for (scale = -150; scale <= 126;) {
                int top = scale + (rounds > 1 || (m == 0 && i < 2) ? 24 : 3);
                c.n = 0;
                for (; scale < top && scale <= 126; scale++)
                    for (a = -n; a <= n; a++)
                        for (b = a; b <= n; b++) {
                            c.x[c.n++] = carrier_bits(
                                32, fmin(fmax(ldexp(a, scale + small[i].e), -0x1.fffffep127), 0x1.fffffep127));
                            c.x[c.n++] = carrier_bits(
                                32, fmin(fmax(ldexp(b, scale + small[i].e), -0x1.fffffep127), 0x1.fffffep127));
                        }
                if (rounds == 1 && (m || i > 1))
                    scale += scale < -120 || scale > 100 ? 9 : 60;
                c.shape = fpemu_shape_vector(c.n);
                memset(&c.r, 0, sizeof c.r);
                c.r.mode = modes[m];
                c.r.bits = (uint8_t)(m * 5 % 33);
                c.seed = (uint64_t)(scale + 1000);
                (void)case_values(&c);
            }
        }
    }
    case_free(&c);
}

/* The other families: two elements of 4 bits with every content that their rules tell apart, under a set of scales.
 *
 * A content is a pair from a grid: codes, midpoints, and what lies beyond; of a codebook its values and its middles,
 * with the numbers on both sides of each. The grid is taken times 2^e for every binade of binary32, and where the scale
 * is no power of two also times the mantissas below. For nvfp4, every value of the scale format under each of the
 * largest magnitudes below, which make the tensor's scale: 2^32 of those cannot all be had. */
enum { GRID = 80, ROOM = 1 << 17 };
static const double scale_mantissas[] = {1, 1 + 0x1p-23, 1.5, 2 - 0x1p-23};
static const double tensor_maxima[] = {6 * 448,        1,       1 + 0x1p-23, 5.99,    0x1p-126, 0x1p-149,
                                       0x1.fffffep127, 0x1p100, 0x1p-100,    2688.25, 7.0e-3,   0x1.8p-130};

static const struct content {
    const char *spec;
    int halves, e;        /* the grid: k * 2^e, |k| <= halves */
    unsigned book;        /* or of this codebook */
    unsigned mantissas;   /* how many of scale_mantissas */
    const char *rounding; /* more than the modes; or NULL */
} contents[] =
    LIST({"group(int4,2)", 16, -1, 0, 4, NULL}, {"group(int4,2,scale=bf16)", 16, -1, 0, 4, NULL},
         {"group(int4,2,scale=e8m0)", 16, -1, 0, 2, NULL}, {"group(e2m1,2)", 14, -1, 0, 4, NULL},
         {"group(e2m1,2,scale=e4m3fn)", 14, -1, 0, 4, NULL}, {"codebook(nf4,2)", 0, 0, FPEMU_CODEBOOK_NF4, 3, NULL},
         {"codebook(dynamic4,2)", 0, 0, FPEMU_CODEBOOK_DYNAMIC, 3, NULL},
         {"codebook(udynamic4,2)", 0, 0, FPEMU_CODEBOOK_UDYNAMIC, 3, NULL}, {"bm(2,1,block=2)", 28, -3, 0, 1, NULL},
         {"bm(1,2,block=2)", 20, -3, 0, 1, NULL}, {"bm(3,0,block=2)", 20, -4, 0, 1, NULL},
         {"muppet(4,block=2)", 18, -1, 0, 1, "muppet"}, {"scaled(e2m1,block=2)", 14, -1, 0, 4, NULL},
         {"scaled(e2m1,block=2,margin=1)", 14, -1, 0, 2, NULL}, {"scaled(int4,block=2)", 16, -1, 0, 4, NULL},
         {"scaled(e2m1,block=2,rule=recipe-pow2)", 14, -1, 0, 4, NULL}, {"nvfp4(block=2)", 14, -1, 0, 0, NULL},
         {"nvfp4(block=2,rule=nvfp4-ao)", 14, -1, 0, 0, NULL}, {"nvfp4(int4,block=2)", 16, -1, 0, 0, NULL});

static size_t make_grid(const struct content *t, double *grid)
{
    size_t n = 0;
    for (int k = -t->halves; k <= t->halves && t->book == 0; k++)
        grid[n++] = ldexp(k, t->e);
    if (t->book != 0) {
        float v[16];
        const unsigned values = ref_codebook(t->book, 4, v);
        unsigned i;
        for (i = 0; i < values; i++) {
            grid[n++] = (double)v[i];
            if (i + 1 < values) {
                const float middle = (float)(((double)v[i] + (double)v[i + 1]) / 2);
                grid[n++] = (double)middle;
                grid[n++] = (double)nextafterf(middle, -2);
                grid[n++] = (double)nextafterf(middle, 2);
            }
        }
        grid[n++] = -1;
    }
    return n;
}

static uint64_t scaled32(double x, double scale)
{
    const double limit = 0x1.fffffep127;
    return carrier_bits(32, (double)(float)fmin(fmax(x * scale, -limit), limit));
}

static void add_pairs(block_case *c, const double *grid, size_t n, double scale)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            c->x[c->n++] = scaled32(grid[(a + b) % 2 ? a : b], scale);
            c->x[c->n++] = scaled32(grid[(a + b) % 2 ? b : a], scale);
        }
}

/* To nearest and in another mode, which changes from turn to turn; now and then packed bytes and counters too. */
static void judge_contents(block_case *c, unsigned turn, const char *rounding)
{
    static const uint8_t modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_SR,  FPEMU_MODE_RTZ, FPEMU_MODE_RTP,
                                    FPEMU_MODE_RNA, FPEMU_MODE_RTO, FPEMU_MODE_SE,  FPEMU_MODE_RNP};
    c->shape = fpemu_shape_vector(c->n);
    for (size_t m = 0; m < (rounds > 1 ? 2 : 1 + turn % 2); m++) {
        memset(&c->r, 0, sizeof c->r);
        c->r.mode = modes[m == 0 ? 0 : 1 + turn % (sizeof modes - 1)];
        c->r.bits = (uint8_t)(turn * 5 % 33);
        c->r.seed = c->seed = turn;
        (void)case_values(c);
    }
    if (rounding != NULL) {
        lh_check(fpemu_rounding_parse(rounding, &c->r, NULL) == FPEMU_OK, "%s", rounding);
        c->r.mode = FPEMU_MODE_SR;
        c->r.seed = turn;
        (void)case_values(c);
    }
    memset(&c->r, 0, sizeof c->r);
    if (rounds > 1 && turn % 4 == 0) {
        (void)case_packing(c);
        (void)case_counters(c);
    }
    c->n = 0;
}

/* Every magnitude of the scale format under one of the tensor's: A first, so that it is the largest. */
static void under_tensor_scales(block_case *c, const struct content *t, const double *grid, size_t n)
{
    const size_t count = sizeof tensor_maxima / sizeof *tensor_maxima, every = rounds > 1 ? 1 : 5;
    const double largest = t->halves == 16 ? 7 : 6;
    for (size_t k = 0; k < count; k += every) {
        const double d = tensor_maxima[k] / (448 * largest);
        for (unsigned code = 0; code < 0x7f;) {
            c->x[c->n++] = carrier_bits(32, tensor_maxima[k]);
            c->x[c->n++] = 0;
            while (code < 0x7f && c->n < ROOM - 2 * GRID * GRID) {
                const unsigned e = code >> 3, m = code & 7;
                double scale = e > 0 ? ldexp(8 + m, (int)e - 10) : ldexp(m, -9);
                size_t first = c->n, i;
                add_pairs(c, grid, n, scale * d);
                for (i = first; i < c->n; i++) /* nothing above A */
                    if (fabs(carrier_value(32, c->x[i])) > tensor_maxima[k])
                        c->x[i] = carrier_bits(32, tensor_maxima[k]);
                code += rounds > 1 || code < 2 || code > 124 ? 1 : 40;
            }
            judge_contents(c, (unsigned)(k * 128 + code), t->rounding);
        }
    }
}

static void every_content(void)
{
    block_case c = {0};
    double grid[GRID];
    c.carrier = 32;
    c.x = case_room(sizeof *c.x * ROOM);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const struct content *t = &contents[i];
        const size_t n = make_grid(t, grid);
        const unsigned mantissas = rounds > 1 || t->mantissas < 2 ? t->mantissas : 2;
        unsigned turn = (unsigned)i, k;
        int e;
        (void)snprintf(c.spec, sizeof c.spec, "%s", t->spec);
        if (!lh_check(fpemu_format_parse(c.spec, &c.f, NULL) == FPEMU_OK && n <= GRID, "%s", c.spec))
            continue;
        if (t->mantissas == 0)
            under_tensor_scales(&c, t, grid, n);
        for (k = 0; k < mantissas; k++)
            for (e = -150; e <= 127;) {
                while (e <= 127 && c.n < ROOM - 2 * GRID * GRID) {
                    add_pairs(&c, grid, n, ldexp(scale_mantissas[k], e));
                    e += rounds > 1 || e < -149 ? 1 : 69;
                }
                judge_contents(&c, turn++, t->rounding);
            }
    }
    case_free(&c);
}

/* A block for every binade of the carrier, with magnitudes at the rules' thresholds and elements down to where they
 * vanish: where short ways end and long ones begin. Blocks one after the other, or side by side; counted, or not. */
static void every_binade(void)
{
    static const char *const elements[] = {
        "e4m3fn", "e5m2",        "e2m1",        "e3m2",       "fp16",       "fixed(8,6):symmetric",
        "int4",   "fixed(18,9)", "fp(4,4,133)", "fp(4,4,60)", "fp(4,4,-40)"};
    static const size_t far = 8; /* from here on: values far from 1, under bare powers of two beyond the carrier's */
    static const char *const rules[] = {"floor", "ceil", "even", "rceil"};
    enum { LENGTH = 4, EACH = 5 };
    block_case c = {0};
    unsigned turn = 0;
    c.plain = 1;
    c.x = case_room(sizeof *c.x * LENGTH * EACH * 2200);
    for (c.carrier = 32; c.carrier <= 64; c.carrier += 32)
        for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
            for (size_t k = 0; k <= sizeof rules / sizeof *rules; k++) {
                static const uint8_t modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_SR, FPEMU_MODE_RTZ, FPEMU_MODE_RNE,
                                                FPEMU_MODE_RAZ, FPEMU_MODE_SE, FPEMU_MODE_RTN};
                const int lowest = c.carrier == 32 ? -149 : -1074, highest = c.carrier == 32 ? 127 : 1023;
                const double ulp = c.carrier == 32 ? 0x1p-23 : 0x1p-52;
                const unsigned by_columns = turn % 3 == 2;
                uint64_t blocks, b = 0, j;
                int e;
                if (k == sizeof rules / sizeof *rules)
                    (void)snprintf(c.spec, sizeof c.spec, "hbfp(%zu,block=4,exponent=%u)", 3 + i, turn % 2 ? 8u : 12u);
                else
                    (void)snprintf(c.spec, sizeof c.spec, "%s(%s,block=4,%srule=%s)", i < far ? "mx" : "block",
                                   elements[i], i < far ? "" : "exponent=12,", rules[k]);
                c.f = lh_parsed(c.spec);
                const double top = c.f.max / exp2(floor(log2(c.f.max)));
                const double mantissas[EACH] = {1, 1 + ulp, top, top + ulp, 2 - ulp};
                blocks = (uint64_t)(highest - lowest + 1) * EACH;
                for (e = lowest; e <= highest; e++)
                    for (j = 0; j < EACH; j++, b++) {
                        const int m = (int)c.f.bits, down[LENGTH] = {0, (int)j % 3, m - 2, m + (int)(b % 24)};
                        uint64_t l;
                        for (l = 0; l < LENGTH; l++) {
                            const uint64_t lane = (l + b) % LENGTH;
                            const double x = ldexp(mantissas[(j + l) % EACH], e - down[l]);
                            const uint64_t bits = carrier_bits(c.carrier, (b + l) % 3 ? x : -x);
                            c.x[by_columns ? lane * blocks + b : b * LENGTH + lane] = bits;
                        }
                    }
                c.n = blocks * LENGTH;
                c.shape = fpemu_shape_vector(c.n);
                if (by_columns) {
                    c.shape.length = LENGTH;
                    c.shape.inner = blocks;
                }
                for (j = 0; j < (rounds > 1 ? sizeof modes : 2); j++) {
                    memset(&c.r, 0, sizeof c.r);
                    c.r.mode = modes[(turn + j) % sizeof modes];
                    c.r.bits = (uint8_t)(turn % 4 ? 0 : 7 + turn % 11);
                    c.r.seed = c.seed = turn;
                    (void)case_values(&c);
                }
                (void)case_counters(&c);
                turn++;
            }
    case_free(&c);
}

/* Every pair (largest magnitude, element) of a grid, in blocks of two, every rule that looks at a block alone. */
static void edges(void)
{
    static const double mantissas[] = {1, 1.25, 1.5, 1.75, 1.875, 1.9375, 1.984375, 1.99609375};
    static const int exponents32[] = {-149, -148, -145, -140, -127, -126, -125, -120, -60,
                                      -1,   0,    1,    8,    100,  118,  124,  126,  127};
    static const int exponents64[] = {-1074, -1073, -1030, -1022, -1021, -800, -150, -127,
                                      0,     1,     127,   128,   600,   1022, 1023};
    block_case c = {0};
    unsigned mode = 0;
    c.x = case_room(sizeof *c.x * 400000);
    for (size_t i = 0; case_format(i, &c.f, c.spec); i++) {
        if (!c.f.scaling || case_is_nvfp4(&c.f) || c.f.scaling == FPEMU_SCALING_S2FP8 || !with_pairs(&c.f))
            continue;
        for (c.carrier = 32; c.carrier <= 64; c.carrier += 32) {
            const int *exponents = c.carrier == 32 ? exponents32 : exponents64;
            size_t count =
                c.carrier == 32 ? sizeof exponents32 / sizeof *exponents32 : sizeof exponents64 / sizeof *exponents64;
            if (!fpemu_format_fits(&c.f, c.carrier))
                continue;
            c.n = 0;
            for (size_t e = i % 2; e < count; e += rounds > 1 ? 1 : 2)
                for (size_t m = 0; m < sizeof mantissas / sizeof *mantissas; m++) {
                    int by, step;
                    uint64_t amax = carrier_bits(c.carrier, ldexp(mantissas[m], exponents[e]));
                    for (by = -1; by <= 1; by++)
                        for (step = 0; step <= 32; step += rounds > 1 ? 1 : 1 + (int)(m % 4)) {
                            double element = carrier_value(c.carrier, amax + (uint64_t)(int64_t)by) * step / 32;
                            uint64_t sign = UINT64_C(1) << (c.carrier - 1), bits = carrier_bits(c.carrier, element);
                            if (amax == 0)
                                continue;
                            c.x[c.n++] = (amax + (uint64_t)(int64_t)by) | (step & 1 ? sign : 0);
                            c.x[c.n++] = bits | (step & 2 ? sign : 0);
                        }
                }
            c.shape = fpemu_shape_vector(c.n);
            memset(&c.r, 0, sizeof c.r);
            c.r.mode = (uint8_t)(mode++ % 2 ? FPEMU_MODE_RNE : mode / 2 % FPEMU_MODE_COUNT);
            c.seed = mode;
            c.plain = c.r.mode == FPEMU_MODE_RNE;
            if (!case_values(&c)) {
                c.r.mode = FPEMU_MODE_RNE;
                (void)case_values(&c);
            }
        }
    }
    case_free(&c);
}

/* Quotients and products of the largest element that underflow or overflow, and scales whose inverses are infinite. */
static void quotients_at_ends(void)
{
    static const char *const specs[] =
        LIST("nvfp4(fp(2,1,16),block=2)", "nvfp4(fp(2,1,16),block=2,rule=nvfp4-ao)",
             "block(fp(2,1,-9),block=2,scale=e8m0,rule=reciprocal)", "block(e3m2,block=2,scale=e5m2,rule=reciprocal)",
             "block(fp(3,2,20),block=2,scale=fp32,rule=reciprocal)", "block(int16,block=2,scale=e8m0,rule=reciprocal)",
             "block(e4m3fn,block=2,scale=e8m0,rule=absmax)", "block(table(dynamic8),block=2,scale=e8m0,rule=absmax)",
             "bfp(1,block=2,exponent=9,rule=rceil)", "mx(fp(2,1,135),block=2,rule=rceil)");
    static const int exponents[] = {-1074, -1060, -1030, -1022, -149, -140, -130, -126, 0, 100, 125, 127, 128, 1023};
    enum { PAIRS = 33 };
    block_case c = {0};
    uint64_t x[2 * PAIRS];
    c.x = x;
    c.n = 2 * PAIRS;
    c.shape = fpemu_shape_vector(c.n);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        case_named(&c, specs[i]);
        for (c.carrier = 32; c.carrier <= 64; c.carrier += 32)
            for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
                const double amax = ldexp(1.5, exponents[e]);
                if (c.carrier == 32 && (double)(float)amax != amax)
                    continue;
                for (int k = 0; k < PAIRS; k++) {
                    x[2 * k] = carrier_bits(c.carrier, k % 4 == 3 ? -amax : amax);
                    x[2 * k + 1] = carrier_bits(c.carrier, ldexp(amax * (k - 16) / 16, k % 3 * -2));
                }
                memset(&c.r, 0, sizeof c.r);
                c.seed = e;
                (void)case_values(&c);
            }
    }
}

/* The middle above a value of the element format, chosen by `pick`. */
static double middle(const fpemu_format *f, uint64_t pick)
{
    if (f->kind == FPEMU_KIND_FLOAT) {
        const int m = (int)f->mantissa_bits, e = f->emin + (int)(pick % (uint64_t)(f->emax - f->emin + 1));
        const uint64_t fraction = pick / 64 % (UINT64_C(1) << m), hidden = pick / 7 % 4 ? UINT64_C(1) << m : 0;
        return ldexp((double)(hidden + fraction) + 0.5, (hidden ? e : f->emin) - m);
    }
    return ((double)(pick / 64 % (uint64_t)(f->max / f->min_positive + 1)) + 0.5) * f->min_positive;
}

/* Elements whose quotients lie next to the middle between two values, by scales that are no powers of two: a quotient
 * wrong by a last bit shows. Blocks of every length that has a way of its own, in a row or side by side. */
static void quotients(void)
{
    static const char *const specs[] =
        LIST("group(e2m1,block=16)", "group(e4m3fn,block=128)", "group(e5m2,block=32)", "group(e3m2,block=40)",
             "group(int4,block=64)", "group(int8,block=48)", "group(fp16,block=96)", "group(fixed(8,6),block=row)",
             "group(e4m3fn,block=32,scale=bf16)", "group(e4m3fn,block=16,scale=e4m3fn)", "nvfp4",
             "nvfp4(rule=nvfp4-ao)", "nvfp4(e4m3fn,block=32)", "scaled(e4m3fn,block=row)", "scaled(e5m2)", "hbfp(8)");
    enum { LENGTH = 960, LINES = 4 };
    block_case c = {0};
    c.plain = 1;
    c.x = case_room(sizeof *c.x * LENGTH * LINES);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (unsigned long k = 0; k < 4 * rounds; k++) {
            uint64_t state = (first_seed + k) * UINT64_C(0x9fb21c651e98df25) + i, j, l, width;
            const int side = k % 4 >= 2;
            case_named(&c, specs[i]);
            c.carrier = k % 2 ? 64 : 32;
            width = c.f.block == FPEMU_BLOCK_RUN ? c.f.block_length : LENGTH;
            c.n = LENGTH * LINES;
            c.shape = fpemu_shape_vector(LENGTH);
            c.shape.rows = side ? 1 : LINES;
            c.shape.inner = side ? LINES : 1;
            for (l = 0; l < LINES; l++) {
                double amax = 0, scale = 0;
                const int e = (int)(lh_next(&state) % 40) - 20;
                for (j = 0; j < LENGTH; j++) {
                    const uint64_t pick = lh_next(&state), sign = pick >> 60 & 1;
                    uint64_t u;
                    if (j % width == 0) {
                        amax = ldexp(1 + (double)(pick >> 40) * 0x1p-24, e + (int)(pick % 5));
                        amax = (double)(float)(pick % 9 == 0 ? 0 : amax);
                        scale = (double)(float)(amax / c.f.max);
                        u = carrier_bits(c.carrier, amax);
                    } else {
                        const double x = middle(&c.f, pick) * scale;
                        u = carrier_bits(c.carrier, c.carrier == 32 ? (double)(float)fmin(x, amax) : fmin(x, amax));
                        if (x > 0 && x < amax)
                            u += (pick >> 50) % 7 - 3;
                    }
                    c.x[side ? j * LINES + l : l * LENGTH + j] = u | (sign << (c.carrier - 1));
                }
            }
            memset(&c.r, 0, sizeof c.r);
            c.seed = k;
            (void)case_values(&c);
        }
    case_free(&c);
}

/* Elements on both sides of the number from which on their random bits round them up, in blocks with the scale 2^e; the
 * largest; and some zeros. Where e is odd, some blocks are all zero; where it is far below 0, products of steps and
 * scales are subnormal. */
static void draws(void)
{
    static const struct {
        const char *spec;
        double amax;
        int e;
    } kinds[] =
        LIST({"mxfp4", 4, 0}, {"mxfp6_e3m2", 16, 0}, {"mx(e5m2,block=16)", 32768, 0}, {"mxint8", 1, 0},
             {"mx(fixed(6,4),block=48)", 1, 0}, {"group(e2m1,block=16)", 6, 0}, {"group(e4m3fn,block=32)", 448, 0},
             {"group(e4m3fn,block=80)", 448, 0},
             {"group(float(e=3,m=2,bias=-9),block=32)", 57344, 0}, /* no step is 1 or less */
             {"group(int8,block=32)", 127, 0}, {"group(int8,block=64)", 127, 0}, {"group(int8,block=40)", 127, 0},
             {"group(uint(8),block=16)", 255, 0},
             {"group(e2m1,block=16,scale=bf16)", (double)FLT_MAX, 0}, /* six times its scale is past the end */
             {"group(e2m1,block=16)", 6, -61}, {"group(e2m1,block=16)", 6, -124}, {"group(e4m3fn,block=32)", 448, -120},
             {"group(e4m3fn,block=32)", 448, -130}, {"group(int8,block=64)", 127, -126});
    static const uint8_t bits[] = {0, 17, 24, 31, 16, 8};
    enum { N = 1920 };
    block_case c = {0};
    unsigned turn = 0;
    c.plain = 1;
    c.x = case_room(sizeof *c.x * N);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t b = 0; b < sizeof bits; b++) {
            uint64_t state = (first_seed + turn) * UINT64_C(0x9fb21c651e98df25), j;
            case_named(&c, kinds[i].spec);
            memset(&c.r, 0, sizeof c.r);
            c.r.mode = FPEMU_MODE_SR;
            c.r.bits = bits[b];
            c.r.seed = c.seed = turn;
            c.r.offset = turn % 3 ? lh_next(&state) & ~UINT64_C(31) : 131072 - 960; /* past the end of a lead too */
            c.r.offset += turn % 5 == 2 ? 7 : 0;
            c.carrier = turn++ % 4 == 3 ? 64 : 32;
            c.n = N;
            c.shape = fpemu_shape_vector(N);
            for (j = 0; j < N; j++) {
                const int n = c.r.bits ? c.r.bits : 32;
                const uint64_t pick = lh_next(&state), sign = pick >> 60 & 1;
                const double up = 1 - ldexp((double)fpemu_random_bits(&c.r, j), -n);
                double x = ldexp(((double)(pick % 3 % 2) + up) * c.f.min_positive, kinds[i].e);
                if (j % c.f.block_length == 0)
                    x = ldexp(kinds[i].amax, kinds[i].e);
                else if (c.carrier == 32 && (double)(float)x > x)
                    x = (double)nextafterf((float)x, 0);
                c.x[j] = carrier_bits(c.carrier, c.carrier == 32 ? (double)(float)x : x);
                if (j % c.f.block_length && c.x[j] && pick >> 40 & 1)
                    c.x[j]--;
                if ((kinds[i].e % 2 && j / c.f.block_length % 7 == 3) || j % 37 == 5)
                    c.x[j] = 0;
                c.x[j] |= sign << (c.carrier - 1);
            }
            (void)case_values(&c);
        }
    case_free(&c);
}

/* ---------------------------------------------------------------------------------------------------------- S2FP8 */

static const char *const s2fp8_specs[] = {"s2fp8", "s2fp8(e4m3fn)", "s2fp8(e2m1)", "s2fp8(fp16)",
                                          "s2fp8(e5m2:nan=zero)"};
enum { S2FP8_SPECS = sizeof s2fp8_specs / sizeof *s2fp8_specs };

/* The library on a tensor in both directions: its alpha and beta inside the judge's bounds, and then every element by
 * them. codes: of its elements, where they are known beforehand, or NULL. */
static void s2fp8_case(const block_case *c, const uint64_t *codes)
{
    uint64_t i, size, bad = 0;
    uint32_t words[2];
    fpemu_status status;

    ref_tensor *t = ref_lay_out(&c->f, c->carrier, &c->shape);
    size = c->n ? 8 + (c->n * c->f.bits + 7) / 8 : 0;
    void *x = case_room(c->n * 8), *y = case_room(c->n * 8), *z = case_room(c->n * 8);
    unsigned char *bytes = case_room(size);
    for (i = 0; i < c->n; i++) {
        ((double *)x)[i] = 0;
        if (c->carrier == 32)
            ((uint32_t *)x)[i] = (uint32_t)c->x[i];
        else
            ((uint64_t *)x)[i] = c->x[i];
    }
    lh_check(fpemu_packed_size(&c->f, &c->shape) == size, "%s: packed size", c->spec);
    if (c->carrier == 32) {
        status = fpemu_quantize_tensor_f32(&c->f, &c->r, &c->shape, x, y, NULL);
        lh_check(fpemu_pack_f32(&c->f, &c->r, &c->shape, x, bytes, NULL) == status, "%s: status of pack", c->spec);
        lh_check(fpemu_unpack_f32(&c->f, &c->shape, bytes, z) == FPEMU_OK, "%s: unpack", c->spec);
    } else {
        status = fpemu_quantize_tensor_f64(&c->f, &c->r, &c->shape, x, y, NULL);
        lh_check(fpemu_pack_f64(&c->f, &c->r, &c->shape, x, bytes, NULL) == status, "%s: status of pack", c->spec);
        lh_check(fpemu_unpack_f64(&c->f, &c->shape, bytes, z) == FPEMU_OK, "%s: unpack", c->spec);
    }
    lh_check(status == FPEMU_OK || (status == FPEMU_ERROR_NAN && c->r.nan == FPEMU_NAN_ERROR), "%s: status %d", c->spec,
             (int)status);
    for (i = 0; i < 2; i++)
        words[i] = bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
                   (uint32_t)bytes[4 * i + 3] << 24;
    float alpha = lh_float(words[0]), beta = lh_float(words[1]);
    ref_s2fp8 range = ref_s2fp8_range(c->carrier, c->n, c->x);
    if (c->n)
        lh_check((double)alpha >= range.alpha_low && (double)alpha <= range.alpha_high &&
                     (double)beta >= range.beta_low && (double)beta <= range.beta_high,
                 "%s f%u seed 0x%" PRIx64 ": alpha %a in %a..%a, beta %a in %a..%a", c->spec, c->carrier, c->seed,
                 (double)alpha, range.alpha_low, range.alpha_high, (double)beta, range.beta_low, range.beta_high);
    for (i = 0; i < c->n && bad < 3; i++) {
        uint64_t index = t->order[i], code = 0, got, back;
        unsigned b;
        for (b = 0; b < c->f.bits; b++)
            code |= (uint64_t)(bytes[8 + (i * c->f.bits + b) / 8] >> (i * c->f.bits + b) % 8 & 1) << b;
        got = c->carrier == 32 ? ((uint32_t *)y)[index] : ((uint64_t *)y)[index];
        back = c->carrier == 32 ? ((uint32_t *)z)[index] : ((uint64_t *)z)[index];
        if (!lh_check(ref_s2fp8_element(&c->f, &c->r, c->carrier, alpha, beta, c->x[index], index, code, got),
                      "%s f%u mode %d seed 0x%" PRIx64 " alpha %a beta %a: x=%a has code %" PRIx64 ", y=%a", c->spec,
                      c->carrier, c->r.mode, c->seed, (double)alpha, (double)beta,
                      carrier_value(c->carrier, c->x[index]), code, carrier_value(c->carrier, got)))
            bad++;
        lh_check(!codes || code == codes[i], "%s f%u: %a of %a, %a has code %" PRIx64 ", not %" PRIx64, c->spec,
                 c->carrier, carrier_value(c->carrier, c->x[i]), carrier_value(c->carrier, c->x[0]),
                 carrier_value(c->carrier, c->x[1]), code, codes ? codes[i] : 0);
        lh_check(got == back || isnan(carrier_value(c->carrier, got)), "%s: unpack gives %a, quantize %a", c->spec,
                 carrier_value(c->carrier, back), carrier_value(c->carrier, got));
    }
    FREE(x, y, z, bytes);
    ref_free(t);
}

static void s2fp8(void)
{
    block_case c = {0};
    unsigned long k, each = 60 * rounds;
    for (k = 0; k < each; k++) {
        uint64_t state = (first_seed + k) * UINT64_C(0xd1342543de82ef95) | 1, i;
        int unary = k % 5 == 4;

        case_named(&c, s2fp8_specs[lh_next(&state) % S2FP8_SPECS]);
        c.carrier = k % 3 == 2 ? 64 : 32;
        c.seed = state;
        c.shape = k % 2 ? case_shape(&state) : fpemu_shape_vector(1 + lh_next(&state) % 120);
        case_fill(&c);
        case_rounding(&c);
        if (unary) /* all magnitudes equal */
            for (i = 0; i < c.n; i++)
                c.x[i] = carrier_bits(c.carrier, (i & 1 ? -1 : 1) * (i % 7 == 3 ? 0 : 3 * (double)(1 + k % 8)));
        if (k % 7 == 6) /* a few binades, as data are */
            for (i = 0; i < c.n; i++)
                c.x[i] = carrier_bits(c.carrier,
                                      ldexp((double)(float)((double)(int64_t)lh_next(&state) * 0x1p-63), (int)(i % 6)));
        s2fp8_case(&c, NULL);
    }
    case_free(&c);
}

/* Every pair of numbers of a small format, infinities and NaN among them, as a whole tensor; in more rounds of a larger
 * one. By the rule the larger magnitude becomes 2^15, and the smaller, as far below the mean of the logarithms as the
 * larger is above it, 2^-15; a single one becomes 2^15. */
static void s2fp8_pairs(void)
{
    static const uint64_t high[S2FP8_SPECS] = {0x78, 0x7e, 7, 0x7800, 0x78}, low[S2FP8_SPECS] = {2, 0, 0, 0x200, 2};
    const char *const spec = rounds > 1 ? "e5m2" : "float(e=4,m=1,specials=ieee)";
    block_case c = {0};
    c.n = 2;
    c.x = case_room(2 * sizeof *c.x);
    c.shape = fpemu_shape_vector(2);
    fpemu_format numbers = lh_parsed(spec);
    for (size_t s = 0; s < S2FP8_SPECS; s++) {
        const uint64_t count = UINT64_C(1) << numbers.bits;
        uint64_t pair;
        case_named(&c, s2fp8_specs[s]);
        c.carrier = s % 2 ? 64 : 32;
        for (pair = 0; pair < count * count; pair++) {
            uint64_t codes[2];
            double v[2];
            int i, known = 1;
            for (i = 0; i < 2; i++) {
                v[i] = fpemu_decode_one_f64(&numbers, i ? pair / count : pair % count);
                c.x[i] = carrier_bits(c.carrier, v[i]);
                known = known && isfinite(v[i]);
            }
            for (i = 0; i < 2; i++) {
                codes[i] = (uint64_t)(signbit(v[i]) != 0) << (c.f.bits - 1);
                if (v[i] != 0)
                    codes[i] |= fabs(v[i]) < fabs(v[!i]) ? low[s] : high[s];
            }
            s2fp8_case(&c, known ? codes : NULL);
        }
    }
    case_free(&c);
}

/* ------------------------------------------------------------------------------------------ compatibility settings */

static void compat(void)
{
    static const struct {
        const char *spec;
        int setting, mode;
    } settings[] = {{"bfp(7,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNA},
                    {"bfp(7,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNE},
                    {"bfp(3,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNA},
                    {"bfp(2,block=3)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNE},
                    {"bfp(15,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNA},
                    {"bfp(21,block=row)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_RNA},
                    {"bfp(7,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_SR},
                    {"bfp(20,block=4)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_SR},
                    {"bfp(3,block=channel)", FPEMU_COMPAT_QPYTORCH, FPEMU_MODE_SR},
                    {"muppet(8)", FPEMU_COMPAT_MUPPET, FPEMU_MODE_SR},
                    {"muppet(4,block=row)", FPEMU_COMPAT_MUPPET, FPEMU_MODE_SR},
                    {"muppet(16,block=4)", FPEMU_COMPAT_MUPPET, FPEMU_MODE_SR},
                    {"q4_0", FPEMU_COMPAT_GGML, FPEMU_MODE_RNA},
                    {"group(uint(5),block=4,rule=ggml-1)", FPEMU_COMPAT_GGML, FPEMU_MODE_RNA},
                    {"q8_0", FPEMU_COMPAT_GGML, FPEMU_MODE_RNA}};
    block_case c = {0};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        case_named(&c, settings[i].spec);
        for (unsigned long k = 0; k < 60 * rounds; k++) {
            uint64_t state = (first_seed + k) * UINT64_C(0x2545f4914f6cdd1d) + i;
            c.seed = state;
            c.carrier = settings[i].setting != FPEMU_COMPAT_QPYTORCH && k % 3 == 0 ? 64 : 32;
            c.shape = case_shape(&state);
            case_fill(&c);
            case_rounding(&c);
            c.r.mode = (uint8_t)settings[i].mode;
            c.r.compat = (uint8_t)settings[i].setting;
            c.r.variant = FPEMU_SR_VARIANT_A;
            if (settings[i].setting == FPEMU_COMPAT_QPYTORCH)
                c.r.bits = 0;
            (void)case_values(&c);
        }
    }
    case_free(&c);
}

/* -------------------------------------------------------------------------------------------- threads, variants */

enum { MANY = 50000 };

/* All families on one array, folded into a number. */
static uint64_t digest(void)
{
    static float x[MANY], y[MANY], z[MANY];
    static double x64[MANY / 8], y64[MANY / 8], z64[MANY / 8];
    static const char *const specs[] =
        LIST("mxfp8", "mxfp6_e2m3", "mxint8", "nvfp4", "nvfp4(rule=nvfp4-ao)", "msfp16", "nf4", "group(int8,64)",
             "group(e4m3fn,128)", "codebook(dynamic8)", "muppet(8)", "scaled(e4m3fn)", "scaled(e5m2,block=row)",
             "s2fp8", "hbfp(8,block=row)", "mx(e2m1,block=tensor)", "mx(e2m1,rule=rceil)");
    const fpemu_shape vector = fpemu_shape_vector(MANY);
    uint64_t state = 99, hash = 1469598103934665603u;
    for (size_t i = 0; i < MANY; i++)
        x[i] = ldexpf((float)(int64_t)lh_next(&state) * 0x1p-63f, (int)(lh_next(&state) % 24) - 12);
    for (size_t i = 0; i < MANY; i += 1009)
        x[i] = i % 2 ? 0.0f : -0.0f;
    for (size_t i = 0; i < 40; i++)
        x[300 + i] = ldexpf(x[i], i % 2 ? -130 : 115);
    for (size_t i = 0; i < MANY / 8; i++)
        x64[i] = (double)x[i] * (1 + 0x1p-30);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (size_t mode = 0; mode < 2; mode++) {
            fpemu_format f;
            fpemu_rounding r = fpemu_rounding_stochastic(7, 3);
            fpemu_stats stats = {.request.want = FPEMU_STATS_SUMS};
            r.mode = mode ? FPEMU_MODE_SR : FPEMU_MODE_RNE;
            if (fpemu_format_parse(specs[k], &f, NULL))
                return 0;
            if (fpemu_quantize_f32(&f, &r, MANY, x, y, &stats) ||
                fpemu_quantize_f64(&f, &r, MANY / 8, x64, y64, &stats))
                return 0;
            /* what is not counted goes other ways; an array is a vector */
            if (fpemu_quantize_tensor_f32(&f, &r, &vector, x, z, NULL) || memcmp(y, z, sizeof y) ||
                fpemu_quantize_f64(&f, &r, MANY / 8, x64, z64, NULL) || memcmp(y64, z64, sizeof y64))
                return 0;
            const double sum = fpemu_stats_sum_error(&stats);
            hash = fnv(fnv(hash, y, sizeof y), y64, sizeof y64);
            hash = fnv(fnv(hash, &sum, sizeof sum), &stats.inexact, sizeof stats.inexact);
            hash = fnv(hash, &stats.clipped, sizeof stats.clipped);
        }
    return hash;
}

static void threads(uint64_t expected)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    for (int i = 1; i <= 3; i++) {
        omp_set_num_threads(i);
        lh_check(digest() == expected, "%d threads change results", i);
    }
    omp_set_num_threads(before);
#endif
    (void)expected;
}

int main(int argc, char **argv)
{
    const uint64_t expected = digest();
    lh_check(expected != 0, "a call of the digest is refused, or counting changes results");
    if (variants_is_child(argc, argv)) {
        variants_print(expected);
        return EXIT_SUCCESS;
    }
    case_options(argc, argv, &rounds, &first_seed);
    case_randomised(case_values, 1, 18 * rounds, first_seed);
    given_to_nan();
    plain_arrays();
    exhaustive();
    every_content();
    every_binade();
    edges();
    quotients_at_ends();
    quotients();
    draws();
    s2fp8();
    s2fp8_pairs();
    compat();
    threads(expected);
    variants_rerun(argv[0], "digest", expected);
    return lh_report("blocks");
}
