/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_vectors.c - blocked formats against known answers (tests/vectors/blocks.txt, by blocks.py), figures of the
 * sources, and mistakes that other software made: each as a small named check that this one does not make them.
 *
 * Names in front: the software, and what went wrong there.
 */

#include "../judges/longhand.h"

/* ------------------------------------------------------------------------------------------------- known answers */

/* Words of 8 digits of a line into bits; returns how many. */
static size_t words(const char *line, uint32_t *bits, size_t most)
{
    size_t n = 0;
    char *end;
    while (*line && n < most) {
        unsigned long word = strtoul(line, &end, 16);
        if (end == line)
            break;
        bits[n++] = (uint32_t)word;
        line = end;
    }
    return n;
}

static void known_answers(void)
{
    static char line[4096], spec[64], digits[4096];
    static uint32_t x[256], want[256];
    static float values[256], y[256];
    static double wide[256], wide_y[256];
    const char *source = getenv("top_srcdir");
    char path[4096];
    size_t n = 0, cases = 0, i;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/tests/vectors/blocks.txt", source ? source : ".");
    file = fopen(path, "r");
    if (!lh_check(file != NULL, "cannot open %s", path))
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "case ", 5)) {
            (void)snprintf(spec, sizeof spec, "%.60s", line + 5);
            cases++;
        } else if (!strncmp(line, "x ", 2)) {
            n = words(line + 2, x, 256);
        } else if (!strncmp(line, "bytes ", 6)) {
            (void)snprintf(digits, sizeof digits, "%s", line + 6);
        } else if (!strncmp(line, "y ", 2)) {
            fpemu_format f;
            fpemu_rounding r = fpemu_rounding_nearest();
            fpemu_shape s = fpemu_shape_vector(n);
            unsigned char bytes[1024];
            size_t size = strlen(digits) / 2;
            if (!lh_check(words(line + 2, want, 256) == n && n > 0 && fpemu_format_parse(spec, &f, NULL) == FPEMU_OK &&
                              fpemu_packed_size(&f, &s) == size,
                          "case %zu: %s of %zu", cases, spec, n))
                continue;
            for (i = 0; i < n; i++) {
                values[i] = lh_float(x[i]);
                wide[i] = (double)values[i];
            }
            lh_check(fpemu_pack_f32(&f, &r, &s, values, bytes, NULL) == FPEMU_OK, "case %zu: %s: pack", cases, spec);
            for (i = 0; i < size; i++) {
                unsigned byte = 0;
                (void)sscanf(digits + 2 * i, "%2x", &byte);
                lh_check(bytes[i] == byte, "case %zu: %s of %zu: byte %zu is %02x, not %02x", cases, spec, n, i,
                         bytes[i], byte);
            }
            lh_check(fpemu_quantize_tensor_f32(&f, &r, &s, values, y, NULL) == FPEMU_OK, "case %zu: quantize", cases);
            for (i = 0; i < n; i++)
                lh_check(lh_float_bits(y[i]) == want[i], "case %zu: %s: x=%a gives %a, not %a", cases, spec,
                         (double)values[i], (double)y[i], (double)lh_float(want[i]));
            lh_check(fpemu_unpack_f32(&f, &s, bytes, y) == FPEMU_OK, "case %zu: unpack", cases);
            for (i = 0; i < n; i++)
                lh_check(lh_float_bits(y[i]) == want[i], "case %zu: %s: unpack gives %a, not %a", cases, spec,
                         (double)y[i], (double)lh_float(want[i]));
            /* powers of two: the carrier makes no difference, but at its ends, and to the product of rceil */
            if (strncmp(spec, "mx", 2) == 0 && strstr(spec, "rceil") == NULL) {
                lh_check(fpemu_quantize_tensor_f64(&f, &r, &s, wide, wide_y, NULL) == FPEMU_OK, "case %zu: quantize",
                         cases);
                for (i = 0; i < n; i++)
                    lh_check(lh_float_bits((float)wide_y[i]) == want[i] || isnan(wide_y[i]) ||
                                 (want[i] & 0x7fffffff) == 0x7f7fffff,
                             "case %zu: %s: x=%a gives %a in binary64", cases, spec, wide[i], wide_y[i]);
            }
        }
    }
    (void)fclose(file);
    lh_check(cases > 700, "%zu cases read", cases);
}

/* ------------------------------------------------------------------------------------------------------- mistakes */

/* A block or several, in binary32, and what comes out; n ends the inputs. */
static const struct instance {
    const char *name, *spec, *how;
    unsigned n;
    float x[8], y[8];
} instances[] = {
    /* microxcaling #4, pytorch/ao #436: what the floor scale makes of numbers past the largest element */
    {"microxcaling-957", "mx(e4m3fn)", "rne", 1, {957}, {896}},
    {"microxcaling-957", "mx(e4m3fn,rule=even)", "rne", 1, {957}, {896}},
    {"microxcaling-957", "mx(e4m3fn,rule=ceil)", "rne", 1, {957}, {960}},
    {"microxcaling-957", "mx(e4m3fn,rule=rceil)", "rne", 1, {957}, {960}},
    {"microxcaling-470", "mx(e4m3fn)", "rne", 2, {470, 464}, {448, 448}},
    {"microxcaling-7", "mx(e2m1)", "rne", 2, {7, 6.5f}, {6, 6}},
    {"microxcaling-7", "mx(e2m1,rule=ceil)", "rne", 2, {7, 5}, {8, 4}},
    {"microxcaling-7", "mx(e2m1,rule=even)", "rne", 2, {7, 5}, {8, 4}},
    {"microxcaling-6.5", "mx(e2m1,rule=even)", "rne", 2, {6.5f, 5}, {6, 4}},
    {"microxcaling-7", "mx(e2m1,rule=rceil)", "rne", 2, {7, 5}, {8, 4}},
    {"microxcaling-6", "mx(e2m1,rule=rceil)", "rne", 2, {6, 5}, {6, 4}},
    /* microxcaling: the floating logarithm of the number just below a power of two is that power's */
    {"microxcaling-log2", "mxfp4", "rne", 2, {0x1.fffffep1f, -1.25f}, {3, -1}},
    {"microxcaling-log2", "mx(e2m1,rule=ceil)", "rne", 2, {0x1.fffffep1f, 1.25f}, {4, 1}},
    /* microxcaling: nearest means ties away there */
    {"microxcaling-ties", "mxfp4", "rne", 4, {4, 0.25f, 2.5f, -5}, {4, 0, 2, -4}},
    {"microxcaling-ties", "mxfp4", "rna", 4, {4, 0.25f, 2.5f, -5}, {4, 0.5f, 3, -6}},
    /* microxcaling, ml_dtypes: the sign of zero is lost */
    {"microxcaling-zero", "mxfp4", "rne", 3, {1, -0.0f, -0x1p-20f}, {1, -0.0f, -0.0f}},
    {"microxcaling-zero", "mxfp8", "rne", 2, {-0.0f, 0}, {-0.0f, 0}},
    {"microxcaling-zero", "nvfp4", "rne", 3, {-0.0f, 2688, -0x1p-20f}, {-0.0f, 2688, -0.0f}},
    /* MXINT8: -2 exists as a code and is not used */
    {"mxint8-symmetric", "mxint8", "rne", 2, {-0x1.fffffep0f, 0x1.fffffep0f}, {-1.984375f, 1.984375f}},
    /* gfloat #62: scales below 2^-127 */
    {"gfloat-62", "mxfp4", "rne", 3, {0x1p-126f, 0x1p-127f, 0x1p-128f}, {0x1p-126f, 0x1p-127f, 0x1p-128f}},
    {"gfloat-62", "mxfp4", "rne", 2, {0x1p-148f, 0x1p-149f}, {0, 0}},
    /* TransformerEngine #2407: the reciprocal of 2^127 is a subnormal number, of 2^-127 past 2^126 */
    {"te-2407", "mxint8", "rne", 3, {0x1p127f, 0x1p126f, -0x1.8p122f}, {0x1p127f, 0x1p126f, -0x1.8p122f}},
    {"te-2407", "mxint8", "rne", 3, {0x1p-127f, 0x1p-128f, -0x1.8p-132f}, {0x1p-127f, 0x1p-128f, -0x1.8p-132f}},
    {"te-2407", "msfp16", "rne", 2, {0x1.8p127f, 0x1p122f}, {0x1.fcp126f, 0x1p122f}},
    /* nothing finite becomes infinite: 3.99 * 2^126 */
    {"no-infinity", "mx(e2m1,rule=ceil)", "rne", 2, {FLT_MAX, -FLT_MAX}, {FLT_MAX, -FLT_MAX}},
    {"no-infinity", "group(int8,32)", "rne", 1, {FLT_MAX}, {FLT_MAX}},
    /* microxcaling: a scale past 2^127 makes a NaN block */
    {"microxcaling-scale", "mx(ufixed(8,8))", "rtz", 2, {0x1.fffffep127f, 0x1p120f}, {0x1.fep126f, 0x1p120f}},
    /* QPyTorch's block_quantize, wl = 4: ties go up there, and values of 1/2^21 of the largest are lost first */
    {"qpytorch-ties", "bfp(3)", "rne", 4, {1, 0.125f, -0.125f, -0.375f}, {1, 0, 0, -0.5f}},
    {"qpytorch-ties", "bfp(3)", "rna", 4, {1, 0.125f, -0.125f, -0.375f}, {1, 0.25f, -0.25f, -0.5f}},
    {"qpytorch-ties", "bfp(3)", "qpytorch", 4, {1, 0.125f, -0.125f, -0.375f}, {1, 0.25f, 0, -0.25f}},
    {"qpytorch-double", "bfp(3)", "rne", 2, {1, 0x1.fffffep-4f}, {1, 0}},
    {"qpytorch-double", "bfp(3)", "qpytorch", 2, {1, 0x1.fffffep-4f}, {1, 0.25f}},
    {"qpytorch-double", "bfp(3)", "qpytorch", 2, {1, 0x1.ffff8p-4f}, {1, 0}},
    {"qpytorch-limit", "bfp(3)", "qpytorch", 2, {1.9375f, -1.9375f}, {1.75f, -1.75f}},
    /* QPyTorch: 6*2^E overflows, the whole block becomes a positive constant */
    {"qpytorch-large", "bfp(7,exponent=9)", "qpytorch", 2, {-0x1.3p127f, 0x1p127f}, {-0x1.3p127f, 0x1p127f}},
    {"qpytorch-zero", "bfp(7)", "qpytorch", 2, {-0.0f, 0}, {0, 0}},
    /* HBFP: a power of two is the largest exponent's own, and clipped */
    {"hbfp-power", "hbfp(8)", "rne", 2, {1, 0.5f}, {0.99609375f, 0.5f}},
    {"hbfp-power", "bfp(8)", "rne", 2, {1, 0.5f}, {1, 0.5f}},
    /* MuPPET, the paper's own examples: s = 6, 5, -1 */
    {"muppet-6", "muppet(8)", "rne", 3, {1, -1, 0x1.04p-6f}, {1, -1, 0x1p-6f}},
    {"muppet-5", "muppet(8)", "rne", 3, {3.7f, -2.2f, 0x1.04p-5f}, {3.6875f, -2.1875f, 0x1p-5f}},
    {"muppet--1", "muppet(8)", "rne", 3, {127.6f, -1, 3}, {128, 0, 4}},
    {"muppet-clip", "muppet(8)", "rne", 2, {127.5f, -128.5f}, {127, -128}},
    {"muppet-zero", "muppet(8)", "rne", 2, {0, 0.0f}, {0, 0}},
    {"muppet-one-side", "muppet(8)", "rne", 2, {-1, -0.5f}, {-1, -0.5f}},
    /* lpmm: 0/0; a group of zeros stays */
    {"lpmm-zero", "group(int12)", "rne", 2, {0, -0.0f}, {0, 0}},
    {"lpmm-bound", "group(int4,4)", "rne", 3, {7, -7, 3.5f}, {7, -7, 4}},
    /* bitsandbytes: an exact middle goes where the search goes; the lower code here */
    {"bnb-middle", "codebook(nf4)", "rne", 3, {1, 0x1.45f5fep-5f, -0x1.74f0e2p-5f}, {1, 0, -0x1.74f0e2p-4f}},
    /* a tiny quotient: a posit never rounds to zero; a middle is one of the carrier, at its ends too */
    {"posit-tiny", "mx(posit(8,1),block=8)", "rne", 3, {32768, 0x1p-149f, -0x1p-140f}, {32768, 0x1p-9f, -0x1p-9f}},
    {"codebook-middle", "mx(table(nf4),block=2)", "rne", 2, {0x1p126f, 0x1.00da08p125f}, {0x1p126f, 0x1.c3497p124f}},
    {"codebook-middle", "mx(table(nf4),block=2)", "rne", 2, {2, 0x1.00da08p0f}, {2, 0x1.c3497p-1f}},
    /* no -1 in the dynamic map */
    {"bnb-minus-one", "codebook(dynamic8)", "rne", 2, {-1, 1}, {-0.99296875f, 1}},
    /* recipes: scale 1 for a tensor of zeros, and with an infinity */
    {"te-zero", "scaled(e4m3fn)", "rne", 2, {0, -0.0f}, {0, -0.0f}},
    {"te-current", "scaled(e4m3fn)", "rne", 3, {2, 1, -0x1.01p0f}, {2, 1, -1}},
    {"te-margin", "scaled(e4m3fn,margin=1)", "rne", 2, {2, 1}, {2, 1}},
};

static void mistakes(void)
{
    for (size_t i = 0; i < sizeof instances / sizeof *instances; i++) {
        const struct instance *t = &instances[i];
        const fpemu_format f = lh_parsed(t->spec);
        fpemu_rounding r;
        fpemu_shape s = fpemu_shape_vector(t->n);
        float y[8];
        if (!lh_check(fpemu_rounding_parse(t->how, &r, NULL) == FPEMU_OK &&
                          fpemu_quantize_tensor_f32(&f, &r, &s, t->x, y, NULL) == FPEMU_OK,
                      "%s: %s %s refused", t->name, t->spec, t->how))
            continue;
        for (size_t k = 0; k < t->n; k++)
            lh_check(lh_same_f32(y[k], (double)t->y[k]), "%s: %s %s: %a becomes %a, not %a", t->name, t->spec, t->how,
                     (double)t->x[k], (double)y[k], (double)t->y[k]);
    }
}

/* MuPPET's printed bracket lowers every value by half a step on average; the reading by default does not. */
static void readings(void)
{
    enum { N = 20000 };
    static float x[N], y[N];
    static const char *const settings[] = {"sr", "muppet"};
    static const double bias[] = {0, -0.5};
    fpemu_format f;
    for (size_t i = 0; i < N; i++)
        x[i] = (float)((double)((i * 7919) % 20000) / 20000 * 100 + 0.3);
    x[0] = 127;
    for (size_t k = 0; k < 2; k++) {
        fpemu_rounding r;
        double sum = 0;
        lh_check(fpemu_format_parse("muppet(8)", &f, NULL) == FPEMU_OK &&
                     fpemu_rounding_parse(settings[k], &r, NULL) == FPEMU_OK,
                 "muppet");
        r.mode = FPEMU_MODE_SR;
        r.seed = 5;
        lh_check(fpemu_quantize_f32(&f, &r, N, x, y, NULL) == FPEMU_OK, "muppet(8) %s", settings[k]);
        for (size_t i = 0; i < N; i++)
            sum += (double)y[i] - (double)x[i];
        lh_check(fabs(sum / N - bias[k]) < 0.02, "muppet(8) %s: mean error %g steps, not %g", settings[k], sum / N,
                 bias[k]);
    }
}

/* What lies far below the largest of its block is no zero where the element has none: of a table whose middle is zero,
 * and of powers of two, to which a negative number is a NaN. In arrays of every length, counted or not. */
static void without_zero(void)
{
    enum { N = 5000 };
    static const float ends[] = {-1, 1};
    static const size_t lengths[] = {2, 3, 16, 40, 100, 300, 2048, N};
    static const uint8_t modes[] = {FPEMU_MODE_RNE, FPEMU_MODE_RAZ, FPEMU_MODE_RTP, FPEMU_MODE_RTN};
    static float x[N], y[N];
    fpemu_format table, f;
    fpemu_format_table(&table, 2, ends);
    for (unsigned run = 8; run <= 256; run *= 2)
        for (size_t k = 0; k < sizeof modes * sizeof lengths / sizeof *lengths * 2; k++) {
            const size_t n = lengths[k / 2 / sizeof modes];
            const fpemu_rounding r = {.mode = modes[k / 2 % sizeof modes]};
            const fpemu_shape s = fpemu_shape_vector(n);
            fpemu_stats stats = {0};
            lh_check(!fpemu_format_blocked(&f, &table, FPEMU_SCALING_FLOOR, NULL, 8, FPEMU_BLOCK_RUN, 0, run), "run %u",
                     run);
            for (size_t i = 0; i < n; i++)
                x[i] = i % run == 0 ? 0x1p15f : i % 3 ? 0x1p-140f : -0x1p-140f;
            lh_check(!fpemu_quantize_tensor_f32(&f, &r, &s, x, y, k % 2 ? &stats : NULL), "-1 and 1: status");
            for (size_t i = 0; i < n; i++) {
                const int small = i % run != 0;
                const int down = r.mode == FPEMU_MODE_RTN ? small : r.mode == FPEMU_MODE_RTP ? 0 : x[i] < 0;
                lh_check(y[i] == (down ? -0x1p15f : 0x1p15f), "-1 and 1, run %u, mode %d, %zu of %zu, counted %zu: %a",
                         run, r.mode, i, n, k % 2, (double)y[i]);
            }
        }
    lh_check(!fpemu_format_parse("mx(e8m0,block=2)", &f, NULL), "mx(e8m0) is not read");
    const double wide[2] = {0x1p300, -0x1p-1000};
    const fpemu_shape two = fpemu_shape_vector(2);
    for (int mode = FPEMU_MODE_RNE; mode < FPEMU_MODE_COUNT; mode++)
        for (int counted = 0; counted < 2; counted++) {
            const fpemu_rounding r = {.mode = (uint8_t)mode};
            fpemu_stats stats = {0};
            unsigned char bytes[3];
            double p[2];
            lh_check(!fpemu_quantize_tensor_f64(&f, &r, &two, wide, p, counted ? &stats : NULL) && p[0] == 0x1p254 &&
                         isnan(p[1]),
                     "mx(e8m0), mode %d, counted %d: %a %a", mode, counted, p[0], p[1]);
            lh_check(!fpemu_pack_f64(&f, &r, &two, wide, bytes, counted ? &stats : NULL) && bytes[0] == 0xfe &&
                         bytes[1] == 0xfe && bytes[2] == 0xff,
                     "mx(e8m0), mode %d, counted %d: bytes %02x %02x %02x", mode, counted, bytes[0], bytes[1],
                     bytes[2]);
        }
}

int main(void)
{
    without_zero();
    known_answers();
    mistakes();
    readings();
    return lh_report("blocks_vectors");
}
