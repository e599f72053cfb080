/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.c - compatibility settings against what their sources do, each modelled here as that source computes.
 *
 * Where a source computes in binary32, so does its model (plain C, no contraction, no fast-math). The ml_dtypes rules
 * were compared with ml_dtypes 0.6.0 over all bfloat16 and binary16 inputs and a million binary32 inputs for each
 * format; e8m0, which takes 2^-127 < x < 1.5 * 2^-127 up to 2^-126, over all binary32 inputs, saturating and not.
 */

#include "../judges/longhand.h"

enum { COUNT = 1 << 16 };

static float x32[COUNT], y32[COUNT];
static double x64[COUNT];
static uint8_t codes8[COUNT];
static uint16_t codes16[COUNT];

static int setting(const char *name, fpemu_rounding *r)
{
    return lh_check(fpemu_rounding_parse(name, r, NULL) == FPEMU_OK, "no setting %s", name);
}

/* Binary32 inputs: all of binary16 in the first set, all of bfloat16 in the second, then any bits, dense small ones. */
enum { SETS = 6 };
static void fill(int set, double reach)
{
    uint64_t state = 77 + (uint64_t)set;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t e = i >> 10 & 31, t = i & 1023;
        uint64_t bits = lh_next(&state);
        switch (set) {
        case 0:
            x32[i] =
                e == 31 ? lh_float(0x7f800000 | t << 13) : ldexpf((float)(e ? t + 1024 : t), (int)(e ? e : 1) - 25);
            x32[i] = i >> 15 ? -x32[i] : x32[i];
            break;
        case 1: x32[i] = lh_float(i << 16); break;
        case 2: x32[i] = lh_float((uint32_t)bits); break;
        case 3: x32[i] = ldexpf((float)(int32_t)bits, -31) * (float)reach * 1.1f; break;
        case 4: x32[i] = ldexpf((float)(int32_t)bits, -31 - (int)(bits >> 33) % 48) * (float)reach; break;
        default: /* few bits in front, then a single one: ties and next to them */
            x32[i] = ldexpf((float)(bits >> 58), -6 - (int)(bits >> 20 & 31)) * (float)reach;
            x32[i] = lh_float(lh_float_bits(x32[i]) + (uint32_t)(bits & 3) - 1);
            x32[i] = bits & 4 ? -x32[i] : x32[i];
        }
    }
}

/* ------------------------------------------------------------------------------------------------ QPyTorch, Lee */

/* The CPU kernel float_quantize(x, e, m): add to the bits below the kept ones, and cut. `add` is half a unit for
 * nearest, a random number of 23-m bits for stochastic. Lee's variant first multiplies by 2^b, and allows infinity. */
static float qpytorch_float(float x, int e, int m, int b, uint32_t add, int allow_infinity)
{
    uint32_t cut = ~(((uint32_t)1 << (23 - m)) - 1);
    float largest = (float)ldexp(2 - ldexp(1, -m), (1 << (e - 1)) - b);
    float smallest_normal = ldexpf(1, 2 - (1 << (e - 1))), sign = signbit(x) ? -1.0f : 1.0f;
    if (!isfinite(x))
        return sign * largest;
    x = ldexpf(x, b);
    if (fabsf(x) < smallest_normal) {
        volatile float sum = x + sign * smallest_normal; /* the first rounding */
        float rounded = lh_float((lh_float_bits(sum) + add) & cut);
        return ldexpf(rounded - sign * smallest_normal, -b) + 0.0f;
    }
    if (isinf(x))
        return allow_infinity ? x : sign * largest;
    uint32_t bits = (lh_float_bits(x) + add) & cut;
    if ((int)(bits >> 23 & 255) - 127 > 1 << (e - 1) || (bits & 0x7fffffff) >= 0x7f800000)
        return allow_infinity ? sign * INFINITY : sign * largest;
    return ldexpf(lh_float(bits), -b);
}

typedef struct lee_format {
    int e, m, b;
} lee_format;

static void qpytorch_floats(void)
{
    static const lee_format all[] = {{4, 3, 0},  {5, 2, 0},  {5, 10, 0}, {6, 9, 0},  {2, 1, 0},  {3, 4, 0}, {1, 3, 0},
                                     {7, 20, 0}, {2, 22, 0}, {4, 3, 4},  {4, 3, -4}, {5, 2, -7}, {6, 9, 9}, {7, 1, 30}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        lee_format p = all[i];
        char spec[40];
        (void)snprintf(spec, sizeof spec, "fp(%d,%d,%d)", p.e, p.m, p.b);
        const fpemu_format f = lh_parsed(spec);
        fpemu_rounding r[3];
        const char *const ways[3] = {p.b ? "lee" : "qpytorch", "lee-inf", "qpytorch-sr"};
        if (!setting(ways[0], &r[0]) || !setting(ways[1], &r[1]) || !setting(ways[2], &r[2]))
            continue;
        r[2].seed = 5;
        r[2].stream = i;
        for (int k = 0; k < 3 * SETS; k++) {
            const int way = k % 3;
            fill(k / 3, f.max);
            lh_check(fpemu_quantize_f32(&f, &r[way], COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", spec);
            for (size_t j = 0; j < COUNT; j++) {
                /* its random number has as many bits as are cut: the top ones of ours decide alike, since the
                 * fraction that is left after its first rounding has no more bits than that */
                const uint32_t half = (uint32_t)1 << (22 - p.m);
                const uint32_t add = way < 2 ? half : lh_bits(FPEMU_GENERATOR_HASH, 5, i, j, 32) >> (9 + p.m);
                const float expected = qpytorch_float(x32[j], p.e, p.m, p.b, add, way == 1);
                lh_check(lh_same_f32(y32[j], (double)expected), "%s %s %a: got %a, expected %a", spec, ways[way],
                         (double)x32[j], (double)y32[j], (double)expected);
            }
        }
    }
    /* e = 8 never clamps; infinities and NaN pass */
    const fpemu_format f = lh_parsed("fp(8,7,0)");
    fpemu_rounding r;
    if (!setting("qpytorch", &r))
        return;
    for (int set = 0; set < SETS; set++) {
        fill(set, 1.0);
        lh_check(fpemu_quantize_f32(&f, &r, COUNT, x32, y32, NULL) == FPEMU_OK, "fp(8,7,0) refused");
        for (size_t j = 0; j < COUNT; j++) {
            float expected = x32[j];
            if (isfinite(x32[j]))
                expected = lh_float((lh_float_bits(x32[j]) + 0x8000) & 0xffff0000) + 0.0f;
            lh_check(lh_same_f32(y32[j], (double)expected), "fp(8,7,0) %a: got %a, expected %a", (double)x32[j],
                     (double)y32[j], (double)expected);
        }
    }
}

/* fixed_point_quantize on the CPU: nearbyint(float(x * 2^fl + r) - 0.5), r = 0.5 or uniform in 24 bits; clamp. */
static void qpytorch_fixed(void)
{
    static const int all[][2] = {{8, 4}, {8, 0}, {4, 2}, {16, 8}, {24, 12}, {12, 20}, {6, -2}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int variant = 0; variant < 4; variant++) { /* nearest or stochastic; symmetric or not */
            int wl = all[i][0], fl = all[i][1], symmetric = variant & 1;
            char spec[60];
            (void)snprintf(spec, sizeof spec, "fixed(%d,%d)%s", wl, fl, symmetric ? ":symmetric" : "");
            const fpemu_format f = lh_parsed(spec);
            fpemu_rounding r;
            if (!setting(variant & 2 ? "qpytorch-sr" : "qpytorch", &r))
                continue;
            r.mode = variant & 2 ? FPEMU_MODE_SR : FPEMU_MODE_RNE;
            r.nan = FPEMU_NAN_KEEP;
            r.seed = 6;
            r.stream = i;
            float high = (float)ldexp(ldexp(1, wl - 1) - 1, -fl);
            float low = symmetric ? -high : -(float)ldexp(1, wl - 1 - fl);
            for (int set = 0; set < SETS; set++) {
                fill(set, f.max);
                lh_check(fpemu_quantize_f32(&f, &r, COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", spec);
                for (size_t j = 0; j < COUNT; j++) {
                    float add =
                        variant & 2 ? (float)(lh_bits(FPEMU_GENERATOR_HASH, 6, i, j, 32) >> 8) * 0x1p-24f : 0.5f;
                    volatile float sum = ldexpf(x32[j], fl) + add;
                    float expected = ldexpf((float)nearbyint((double)sum - 0.5), -fl);
                    expected = expected < low ? low : expected > high ? high : expected;
                    if (isnan(x32[j]))
                        expected = NAN;
                    lh_check(lh_same_f32(y32[j], (double)expected), "%s %s %a: got %a, expected %a", spec,
                             variant & 2 ? "stochastic" : "nearest", (double)x32[j], (double)y32[j], (double)expected);
                }
            }
        }
}

/* ------------------------------------------------------------------------------------------------ CPFloat */

/* Past the largest value M, with u its last place: sr overflows with probability (|x| - M) / (u/2), surely from
 * M + u/2; se flips a coin. All else is the ordinary law. */
static void cpfloat(void)
{
    static const struct {
        const char *spec;
        double last_place, beyond;
    } all[] = {{"fp16", 32, INFINITY},      {"e5m2", 8192, INFINITY}, {"e4m3", 16, INFINITY},
               {"bf16", 0x1p120, INFINITY}, {"e4m3fn", 32, NAN},      {"e2m1", 2, 6.0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int equal = 0; equal < 2; equal++)
            for (int set = 0; set < 4; set++) {
                const lh_format *known = lh_find(all[i].spec);
                const unsigned bits = set == 3 ? 2 : 32; /* of 2 all are 0 at one element in four */
                const fpemu_format f = lh_parsed(all[i].spec);
                fpemu_rounding r;
                if (!setting(equal ? "cpfloat-se" : "cpfloat-sr", &r))
                    continue;
                r.seed = 7;
                r.stream = i;
                r.overflow = FPEMU_OVERFLOW_IEEE;
                r.bits = (uint8_t)(bits % 32);
                uint64_t state = 99;
                for (size_t j = 0; j < COUNT; j++) {
                    double t = ldexp((double)(lh_next(&state) >> 11), -53);
                    double x = set % 3 == 0 ? f.max + all[i].last_place * t
                               : set == 1   ? f.max * 1.5 * t
                                            : ldexp(t, (int)(j % 250) - 125);
                    x32[j] = (float)(j & 1 ? -x : x);
                    x64[j] = (double)x32[j];
                }
                lh_check(fpemu_quantize_f32(&f, &r, COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", all[i].spec);
                for (size_t j = 0; j < COUNT; j++) {
                    lh_rounding how = {
                        equal ? FPEMU_MODE_SE : FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, 0, bits, 0};
                    how.r = lh_bits(FPEMU_GENERATOR_HASH, 7, i, j, bits);
                    double past = fabs(x64[j]) - f.max, sign = x64[j] < 0 ? -1 : 1, expected;
                    const double half = all[i].last_place / 2;
                    int overflows;
                    if (past <= 0 || isinf(past)) /* no number is past the largest here */
                        expected = lh_round(known, 32, how, x64[j]).y;
                    else {
                        if (equal)
                            overflows = (int)(how.r >> (bits - 1));
                        else
                            overflows = past >= half ||
                                        floor(ldexp(past / half, (int)bits)) + (double)how.r >= ldexp(1, (int)bits);
                        expected = sign * (overflows ? all[i].beyond : f.max);
                    }
                    lh_check(lh_same_f32(y32[j], expected), "%s cpfloat-%s %a: got %a, expected %a", all[i].spec,
                             equal ? "se" : "sr", x64[j], (double)y32[j], expected);
                }
            }
}

/* ------------------------------------------------------------------------------------------------ codes */

/* The code of a finite value by fields. */
static unsigned code_of(const lh_format *f, int bits, double y)
{
    unsigned sign = signbit(y) ? 1u << (bits - 1) : 0;
    int exponent, m = f->p - 1;
    double magnitude = fabs(y);
    if (f->family == LH_E8M0) {
        (void)frexp(magnitude, &exponent);
        return (unsigned)(exponent - 1 + 127);
    }
    if (magnitude < ldexp(1, f->emin))
        return sign | (unsigned)ldexp(magnitude, m - f->emin);
    double t = frexp(magnitude, &exponent) * 2 - 1;
    exponent -= 1;
    return sign | (unsigned)(exponent + f->bias) << m | (unsigned)ldexp(t, m);
}

typedef struct coded {
    const char *spec;
    int bits;
    unsigned infinity, quiet_nan; /* positive codes; infinity 0: none */
} coded;

static const coded ml[] = {{"e5m2", 8, 0x7c, 0x7e},     {"e4m3", 8, 0x78, 0x7c},  {"e3m4", 8, 0x70, 0x78},
                           {"e4m3fn", 8, 0, 0x7f},      {"e4m3fnuz", 8, 0, 0x80}, {"e5m2fnuz", 8, 0, 0x80},
                           {"e4m3b11fnuz", 8, 0, 0x80}, {"e8m0", 8, 0, 0xff},     {"e3m2", 6, 0, 0x20},
                           {"e2m3", 6, 0, 0x20},        {"e2m1", 4, 0, 0x08},     {"bf16", 16, 0x7f80, 0x7fc0}};

/* ml_dtypes: NaN keeps its sign where the format can show it; finite-only formats write -0 for NaN, +0 for -NaN. */
static unsigned ml_code(const coded *c, const lh_format *f, double x, int saturate)
{
    unsigned sign = signbit(x) ? 1u << (c->bits - 1) : 0;
    unsigned nan = f->has_negative_zero ? c->quiet_nan | sign : c->quiet_nan;
    if (f->family == LH_FINITE && isnan(x))
        return signbit(x) ? 0 : c->quiet_nan;
    if (isnan(x))
        return nan;
    lh_rounding how = {FPEMU_MODE_RNE, saturate ? FPEMU_OVERFLOW_SATURATE_KEEP_INF : FPEMU_OVERFLOW_IEEE, 0, 0, 32, 0};
    if (f->family == LH_E8M0) {
        how.mode = FPEMU_MODE_RNA; /* ties go up */
        if (isinf(x) || x <= 0)
            return isinf(x) || !saturate ? nan : 0;
        if (x > 0x1p-127 && x < 0x1p-126)
            return 1;
        how.overflow = saturate ? FPEMU_OVERFLOW_SATURATE : FPEMU_OVERFLOW_IEEE;
    }
    double y = lh_round(f, 32, how, x).y;
    return isnan(y) ? nan : isinf(y) ? c->infinity | sign : code_of(f, c->bits, y);
}

static void compare_codes(const char *what, const coded *c, const fpemu_format *f, const fpemu_rounding *r,
                          unsigned (*model)(const coded *, const lh_format *, double, int), int flag)
{
    const lh_format *known = lh_find(c->spec);
    for (int set = 0; set < SETS; set++) {
        fill(set, f->max);
        void *codes = c->bits > 8 ? (void *)codes16 : (void *)codes8;
        lh_check(fpemu_encode_f32(f, r, COUNT, x32, codes, NULL) == FPEMU_OK, "%s refused", c->spec);
        for (size_t j = 0; j < COUNT; j++) {
            unsigned got = c->bits > 8 ? codes16[j] : codes8[j], expected = model(c, known, (double)x32[j], flag);
            lh_check(got == expected, "%s %s %a (%08x): code %x, expected %x", what, c->spec, (double)x32[j],
                     lh_float_bits(x32[j]), got, expected);
        }
    }
}

/* Values of e8m0, in loops and one by one, and what is counted: by hand. */
static void ml_dtypes_powers(int saturate)
{
    enum { N = 12, TIMES = 500 };
    static const double x[N] = {0,   -0.0, -1,       -0x1p-149,       -INFINITY,       INFINITY,
                                1.4, 3,    0x1p-127, 0x1.000004p-127, 0x1.7ffffcp-127, 0x1.8p127};
    static const double plain[N] = {NAN, NAN, NAN, NAN, NAN, NAN, 1, 4, 0x1p-127, 0x1p-126, 0x1p-126, NAN};
    static const double least[N] = {0x1p-127, 0x1p-127, 0x1p-127, 0x1p-127, NAN,      NAN,
                                    1,        4,        0x1p-127, 0x1p-126, 0x1p-126, 0x1p127};
    static float narrow[N * TIMES];
    static double wide[N * TIMES];
    const double *const expected = saturate ? least : plain;
    const fpemu_format f = lh_parsed("e8m0");
    fpemu_rounding r;
    fpemu_stats s[2] = {0};
    if (!setting(saturate ? "ml-dtypes-sat" : "ml-dtypes", &r))
        return;
    for (int i = 0; i < N * TIMES; i++) {
        wide[i] = x[i % N];
        narrow[i] = (float)wide[i];
    }
    lh_check(fpemu_quantize_f32(&f, &r, N * TIMES, narrow, narrow, &s[0]) == FPEMU_OK &&
                 fpemu_quantize_f64(&f, &r, N * TIMES, wide, wide, &s[1]) == FPEMU_OK,
             "e8m0 refused");
    for (int i = 0; i < N * TIMES; i++)
        lh_check(lh_same_f32(narrow[i], expected[i % N]) && lh_same_f64(wide[i], expected[i % N]) &&
                     lh_same_f32(fpemu_quantize_one_f32(&f, &r, (float)x[i % N], 0), expected[i % N]),
                 "ml-dtypes e8m0 %a, saturate %d: %a, %a", x[i % N], saturate, (double)narrow[i], wide[i]);
    for (int k = 0; k < 2; k++)
        lh_check(s[k].invalid == (saturate ? 2 : 6) * TIMES && s[k].overflow == TIMES && s[k].clipped == TIMES &&
                     s[k].inexact == 9 * TIMES && s[k].underflow == 0,
                 "ml-dtypes e8m0, saturate %d: invalid %g, overflow %g, clipped %g, inexact %g, underflow %g", saturate,
                 (double)s[k].invalid, (double)s[k].overflow, (double)s[k].clipped, (double)s[k].inexact,
                 (double)s[k].underflow);
}

static void ml_dtypes(void)
{
    for (size_t i = 0; i < sizeof ml / sizeof ml[0]; i++) {
        const fpemu_format f = lh_parsed(ml[i].spec);
        fpemu_rounding r;
        if (setting("ml-dtypes", &r))
            compare_codes("ml-dtypes", &ml[i], &f, &r, ml_code, 0);
        if (setting("ml-dtypes-sat", &r))
            compare_codes("ml-dtypes-sat", &ml[i], &f, &r, ml_code, 1);
    }
    ml_dtypes_powers(0);
    ml_dtypes_powers(1);
}

static const coded cuda[] = {{"e5m2", 8, 0x7c, 0x7f},     {"e4m3fn", 8, 0, 0x7f}, {"e3m2", 6, 0, 0x1f},
                             {"e2m3", 6, 0, 0x1f},        {"e2m1", 4, 0, 0x07},   {"fp16", 16, 0x7c00, 0x7fff},
                             {"bf16", 16, 0x7f80, 0x7fff}};

/* CUDA's conversions from float with __NV_SATFINITE: nearest even, infinities too to the largest; a NaN loses its sign
 * and becomes all ones, in FP6 and FP4 the largest value. */
static unsigned cuda_code(const coded *c, const lh_format *f, double x, int saturate)
{
    if (isnan(x))
        return c->quiet_nan;
    lh_rounding how = {FPEMU_MODE_RNE, saturate ? FPEMU_OVERFLOW_SATURATE : FPEMU_OVERFLOW_IEEE, 0, 0, 32, 0};
    double y = lh_round(f, 32, how, x).y;
    unsigned sign = signbit(x) ? 1u << (c->bits - 1) : 0;
    return isnan(y) ? c->quiet_nan | sign : isinf(y) ? c->infinity | sign : code_of(f, c->bits, y);
}

/* e8m0: __NV_SATFINITE or not, cudaRoundZero or cudaRoundPosInf; the sign is ignored. */
static unsigned cuda_e8m0(float x, int up, int saturate)
{
    uint32_t bits = lh_float_bits(x) & 0x7fffffff, field = bits >> 23;
    if (bits > 0x7f800000)
        return 0xff;
    if (bits == 0x7f800000)
        return saturate ? 0xfe : 0xff;
    if (up && bits & 0x7fffff && bits > 0x400000) /* 2^-127 is 00400000 */
        field++;
    return field == 255 && saturate ? 0xfe : field;
}

static void nvidia(void)
{
    for (size_t i = 0; i < sizeof cuda / sizeof cuda[0]; i++) {
        const fpemu_format f = lh_parsed(cuda[i].spec);
        fpemu_rounding r;
        if (!setting("nvidia", &r))
            continue;
        compare_codes("nvidia", &cuda[i], &f, &r, cuda_code, 1);
        r.overflow = FPEMU_OVERFLOW_IEEE; /* __NV_NOSAT */
        if (cuda[i].infinity || !strcmp(cuda[i].spec, "e4m3fn"))
            compare_codes("nvidia nosat", &cuda[i], &f, &r, cuda_code, 0);
    }
    const fpemu_format f = lh_parsed("e8m0");
    fpemu_rounding r;
    if (!setting("nvidia", &r))
        return;
    for (int variant = 0; variant < 4; variant++) {
        r.mode = variant & 1 ? FPEMU_MODE_RTP : FPEMU_MODE_RTZ;
        r.overflow = variant & 2 ? FPEMU_OVERFLOW_SATURATE : FPEMU_OVERFLOW_IEEE;
        for (int set = 0; set < SETS; set++) {
            fill(set, 0x1p120);
            lh_check(fpemu_encode_f32(&f, &r, COUNT, x32, codes8, NULL) == FPEMU_OK, "e8m0 refused");
            for (size_t j = 0; j < COUNT; j++) {
                unsigned expected = cuda_e8m0(x32[j], variant & 1, variant & 2);
                lh_check(codes8[j] == expected, "nvidia e8m0 %s %s %a: code %x, expected %x",
                         variant & 1 ? "up" : "zero", variant & 2 ? "sat" : "nosat", (double)x32[j], codes8[j],
                         expected);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------ PyTorch */

/* quantize_per_tensor: binary32 multiply by the reciprocal, or divide; nearbyint; zero point; clamp. */
static void pytorch(void)
{
    static const struct {
        const char *spec;
        float scale;
        int zero, low, high;
    } all[] = {{"int(8,scale=0.1)", 0.1f, 0, -128, 127},
               {"int(8,scale=0.003,zero=7)", 0.003f, 7, -128, 127},
               {"int(8,scale=3.7,zero=-128)", 3.7f, -128, -128, 127},
               {"int8", 1.0f, 0, -128, 127},
               {"int(8,scale=0.02):symmetric", 0.02f, 0, -127, 127}};
    int differ = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int divide = 0; divide < 2; divide++) {
            const fpemu_format f = lh_parsed(all[i].spec);
            fpemu_rounding r;
            if (!setting(divide ? "pytorch-divide" : "pytorch-multiply", &r))
                continue;
            volatile float inverse = 1.0f / all[i].scale;
            for (int set = 0; set <= SETS; set++) {
                fill(set, f.max);
                if (set == SETS) /* odd multiples of half a scale: where the two orders part */
                    for (size_t j = 0; j < COUNT; j++)
                        x32[j] = ((float)(int)(j % 512) - 255.5f) * all[i].scale;
                lh_check(fpemu_quantize_f32(&f, &r, COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", all[i].spec);
                lh_check(fpemu_encode_f32(&f, &r, COUNT, x32, codes8, NULL) == FPEMU_OK, "%s refused", all[i].spec);
                for (size_t j = 0; j < COUNT; j++) {
                    if (isnan(x32[j]))
                        continue;
                    volatile float product = x32[j] * inverse, quotient = x32[j] / all[i].scale;
                    differ += nearbyintf(product) != nearbyintf(quotient);
                    double q = (double)nearbyintf(divide ? quotient : product) + all[i].zero;
                    q = q < all[i].low ? all[i].low : q > all[i].high ? all[i].high : q;
                    volatile float value = all[i].scale * (float)(q - all[i].zero);
                    lh_check(lh_same_f32(y32[j], (double)(value + 0.0f)), "%s %s %a: got %a, expected %a", all[i].spec,
                             divide ? "divide" : "multiply", (double)x32[j], (double)y32[j], (double)value);
                    lh_check((int8_t)codes8[j] == (int)q, "%s %s %a: code %d, expected %d", all[i].spec,
                             divide ? "divide" : "multiply", (double)x32[j], (int8_t)codes8[j], (int)q);
                }
            }
        }
    lh_check(differ > 0, "no input tells multiply from divide");
}

/* Settings leave alone what they do not name, and those of blocks are refused. */
static void elsewhere(void)
{
    const char *const specs[] = {"posit(8,2)", "e4m3fn", "int8", "fixed(8,4)", "fp16", "p3109(8,4,se)"};
    for (int compat = 1; compat < FPEMU_COMPAT_COUNT; compat++)
        for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
            int is_float = i == 1 || i > 3;
            if ((is_float && compat <= FPEMU_COMPAT_LEE_INF) || (i == 3 && compat == FPEMU_COMPAT_QPYTORCH) ||
                (i == 2 && (compat == FPEMU_COMPAT_PYTORCH_MULTIPLY || compat == FPEMU_COMPAT_PYTORCH_DIVIDE)))
                continue;
            const fpemu_format f = lh_parsed(specs[i]);
            fpemu_rounding plain = fpemu_rounding_nearest(), with = plain;
            with.compat = (uint8_t)compat;
            for (int set = 0; set < SETS; set++) {
                static float z32[COUNT];
                fill(set, f.max);
                if (compat >= FPEMU_COMPAT_MUPPET) {
                    lh_check(fpemu_quantize_f32(&f, &with, COUNT, x32, z32, NULL) == FPEMU_ERROR_UNSUPPORTED,
                             "compat %d says nothing to %s", compat, specs[i]);
                    continue;
                }
                lh_check(fpemu_quantize_f32(&f, &plain, COUNT, x32, y32, NULL) == FPEMU_OK, "%s refused", specs[i]);
                lh_check(fpemu_quantize_f32(&f, &with, COUNT, x32, z32, NULL) == FPEMU_OK, "%s refused", specs[i]);
                lh_check(!memcmp(y32, z32, sizeof y32), "compat %d changes values of %s", compat, specs[i]);
            }
        }
}

int main(void)
{
    qpytorch_floats();
    qpytorch_fixed();
    cpfloat();
    ml_dtypes();
    nvidia();
    pytorch();
    elsewhere();
    return lh_report("compat");
}
