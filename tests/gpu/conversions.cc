/* conversions.cc - libfpemu with the settings `nvidia' against the conversions that CUDA's own headers (cuda_fp8.hpp,
 * cuda_fp6.hpp, cuda_fp4.hpp, cuda_fp16.hpp, cuda_bf16.hpp) do on the host: a judge that is not ours. No device is
 * needed.
 *
 *   conversions           all binary16 and bfloat16 numbers, all codes, a choice of binary32 and binary64 numbers that
 *                         has every neighbour of a rounding boundary
 *   conversions --all [K] all 2^32 binary32 numbers, for conversion K or for each */
#if !__has_include(<cuda_fp4.h>)
#include <stdio.h>
int main()
{
    printf("skipped: this CUDA toolkit has no conversions to FP4\n");
    return 77;
}
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <fpemu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 16 };

static unsigned long long failures, comparisons;

/* A conversion of each input type; NULL: CUDA has none. */
typedef struct conversion {
    const char *name, *spec;
    fpemu_mode mode;
    fpemu_overflow overflow;
    uint32_t (*from_float)(float);
    uint32_t (*from_double)(double);
    uint32_t (*from_half)(__half_raw);
    uint32_t (*from_bfloat)(__nv_bfloat16_raw);
} conversion;

#define FP8(name, kind, saturate)                                                                                      \
    static uint32_t name##_f(float x)                                                                                  \
    {                                                                                                                  \
        return __nv_cvt_float_to_fp8(x, saturate, kind);                                                               \
    }                                                                                                                  \
    static uint32_t name##_d(double x)                                                                                 \
    {                                                                                                                  \
        return __nv_cvt_double_to_fp8(x, saturate, kind);                                                              \
    }                                                                                                                  \
    static uint32_t name##_h(__half_raw x)                                                                             \
    {                                                                                                                  \
        return __nv_cvt_halfraw_to_fp8(x, saturate, kind);                                                             \
    }                                                                                                                  \
    static uint32_t name##_b(__nv_bfloat16_raw x)                                                                      \
    {                                                                                                                  \
        return __nv_cvt_bfloat16raw_to_fp8(x, saturate, kind);                                                         \
    }
FP8(e4m3, __NV_E4M3, __NV_SATFINITE)
FP8(e4m3_nosat, __NV_E4M3, __NV_NOSAT)
FP8(e5m2, __NV_E5M2, __NV_SATFINITE)
FP8(e5m2_nosat, __NV_E5M2, __NV_NOSAT)

#define NARROW(name, bits, kind, rounding)                                                                             \
    static uint32_t name##_f(float x)                                                                                  \
    {                                                                                                                  \
        return __nv_cvt_float_to_##bits(x, kind, rounding);                                                            \
    }                                                                                                                  \
    static uint32_t name##_d(double x)                                                                                 \
    {                                                                                                                  \
        return __nv_cvt_double_to_##bits(x, kind, rounding);                                                           \
    }                                                                                                                  \
    static uint32_t name##_h(__half_raw x)                                                                             \
    {                                                                                                                  \
        return __nv_cvt_halfraw_to_##bits(x, kind, rounding);                                                          \
    }                                                                                                                  \
    static uint32_t name##_b(__nv_bfloat16_raw x)                                                                      \
    {                                                                                                                  \
        return __nv_cvt_bfloat16raw_to_##bits(x, kind, rounding);                                                      \
    }
NARROW(e3m2, fp6, __NV_E3M2, cudaRoundNearest)
NARROW(e3m2_rz, fp6, __NV_E3M2, cudaRoundZero)
NARROW(e2m3, fp6, __NV_E2M3, cudaRoundNearest)
NARROW(e2m3_rz, fp6, __NV_E2M3, cudaRoundZero)
NARROW(e2m1, fp4, __NV_E2M1, cudaRoundNearest)
NARROW(e2m1_rz, fp4, __NV_E2M1, cudaRoundZero)

#define E8M0(name, saturate, rounding)                                                                                 \
    static uint32_t name##_f(float x)                                                                                  \
    {                                                                                                                  \
        return __nv_cvt_float_to_e8m0(x, saturate, rounding);                                                          \
    }                                                                                                                  \
    static uint32_t name##_d(double x)                                                                                 \
    {                                                                                                                  \
        return __nv_cvt_double_to_e8m0(x, saturate, rounding);                                                         \
    }                                                                                                                  \
    static uint32_t name##_b(__nv_bfloat16_raw x)                                                                      \
    {                                                                                                                  \
        return __nv_cvt_bfloat16raw_to_e8m0(x, saturate, rounding);                                                    \
    }
E8M0(e8m0_down, __NV_SATFINITE, cudaRoundZero)
E8M0(e8m0_up, __NV_SATFINITE, cudaRoundPosInf)
E8M0(e8m0_down_nosat, __NV_NOSAT, cudaRoundZero)
E8M0(e8m0_up_nosat, __NV_NOSAT, cudaRoundPosInf)

#define WIDE(mode)                                                                                                     \
    static uint32_t fp16_##mode(float x)                                                                               \
    {                                                                                                                  \
        return __half_as_ushort(__float2half_##mode(x));                                                               \
    }                                                                                                                  \
    static uint32_t bf16_##mode(float x)                                                                               \
    {                                                                                                                  \
        return __bfloat16_as_ushort(__float2bfloat16_##mode(x));                                                       \
    }
WIDE(rn)
WIDE(rz)
WIDE(ru)
WIDE(rd)

static uint32_t fp16_d(double x)
{
    return __half_as_ushort(__double2half(x));
}

static uint32_t bf16_d(double x)
{
    return __bfloat16_as_ushort(__double2bfloat16(x));
}

#define ALL_OF(name) name##_f, name##_d, name##_h, name##_b
#define SATURATE FPEMU_OVERFLOW_SATURATE
#define IEEE FPEMU_OVERFLOW_IEEE
static const conversion conversions[] = {
    {"e4m3, satfinite", "e4m3fn", FPEMU_MODE_RNE, SATURATE, ALL_OF(e4m3)},
    {"e4m3, nosat", "e4m3fn", FPEMU_MODE_RNE, IEEE, ALL_OF(e4m3_nosat)},
    {"e5m2, satfinite", "e5m2", FPEMU_MODE_RNE, SATURATE, ALL_OF(e5m2)},
    {"e5m2, nosat", "e5m2", FPEMU_MODE_RNE, IEEE, ALL_OF(e5m2_nosat)},
    {"e3m2, nearest", "e3m2", FPEMU_MODE_RNE, SATURATE, ALL_OF(e3m2)},
    {"e3m2, to zero", "e3m2", FPEMU_MODE_RTZ, SATURATE, ALL_OF(e3m2_rz)},
    {"e2m3, nearest", "e2m3", FPEMU_MODE_RNE, SATURATE, ALL_OF(e2m3)},
    {"e2m3, to zero", "e2m3", FPEMU_MODE_RTZ, SATURATE, ALL_OF(e2m3_rz)},
    {"e2m1, nearest", "e2m1", FPEMU_MODE_RNE, SATURATE, ALL_OF(e2m1)},
    {"e2m1, to zero", "e2m1", FPEMU_MODE_RTZ, SATURATE, ALL_OF(e2m1_rz)},
    {"e8m0, down, satfinite", "e8m0", FPEMU_MODE_RTZ, SATURATE, e8m0_down_f, e8m0_down_d, NULL, e8m0_down_b},
    {"e8m0, up, satfinite", "e8m0", FPEMU_MODE_RAZ, SATURATE, e8m0_up_f, e8m0_up_d, NULL, e8m0_up_b},
    {"e8m0, down, nosat", "e8m0", FPEMU_MODE_RTZ, IEEE, e8m0_down_nosat_f, e8m0_down_nosat_d, NULL, e8m0_down_nosat_b},
    {"e8m0, up, nosat", "e8m0", FPEMU_MODE_RAZ, IEEE, e8m0_up_nosat_f, e8m0_up_nosat_d, NULL, e8m0_up_nosat_b},
    {"fp16, rn", "fp16", FPEMU_MODE_RNE, IEEE, fp16_rn, fp16_d, NULL, NULL},
    {"fp16, rz", "fp16", FPEMU_MODE_RTZ, IEEE, fp16_rz, NULL, NULL, NULL},
    {"fp16, ru", "fp16", FPEMU_MODE_RTP, IEEE, fp16_ru, NULL, NULL, NULL},
    {"fp16, rd", "fp16", FPEMU_MODE_RTN, IEEE, fp16_rd, NULL, NULL, NULL},
    {"bf16, rn", "bf16", FPEMU_MODE_RNE, IEEE, bf16_rn, bf16_d, NULL, NULL},
    {"bf16, rz", "bf16", FPEMU_MODE_RTZ, IEEE, bf16_rz, NULL, NULL, NULL},
    {"bf16, ru", "bf16", FPEMU_MODE_RTP, IEEE, bf16_ru, NULL, NULL, NULL},
    {"bf16, rd", "bf16", FPEMU_MODE_RTN, IEEE, bf16_rd, NULL, NULL, NULL},
};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

static void differ(const conversion *c, const char *from, unsigned long long input, uint32_t theirs, uint32_t ours)
{
    if (failures++ < 40)
        printf("FAIL %s of a %s: %llx becomes %x, and here %x\n", c->name, from, input, theirs, ours);
}

static int prepare(const conversion *c, fpemu_format *f, fpemu_rounding *r)
{
    if (fpemu_format_parse(c->spec, f, NULL) || fpemu_rounding_parse("nvidia", r, NULL)) {
        printf("FAIL %s is not read\n", c->spec);
        failures++;
        return 0;
    }
    r->mode = (uint8_t)c->mode;
    r->overflow = (uint8_t)c->overflow;
    return 1;
}

static uint32_t code_at(const void *codes, size_t size, size_t i)
{
    uint16_t two;
    memcpy(&two, (const char *)codes + i * size, size == 1 ? 1 : 2);
    return size == 1 ? ((const uint8_t *)codes)[i] : two;
}

static unsigned char codes[2 * BATCH];

static void compare_floats(const conversion *c, size_t n, const float *x)
{
    fpemu_format f;
    fpemu_rounding r;
    if (!prepare(c, &f, &r))
        return;
    const int status = (int)fpemu_encode_f32(&f, &r, n, x, codes, NULL);
    comparisons += n;
    if (status)
        differ(c, "status", (unsigned long long)status, 0, 0);
    for (size_t i = 0; i < n && !status; i++) {
        const uint32_t theirs = c->from_float(x[i]), ours = code_at(codes, fpemu_format_code_size(&f), i);
        uint32_t u;
        memcpy(&u, x + i, sizeof u);
        if (theirs != ours)
            differ(c, "float", u, theirs, ours);
    }
}

static void compare_doubles(const conversion *c, size_t n, const double *x)
{
    fpemu_format f;
    fpemu_rounding r;
    if (!c->from_double || !prepare(c, &f, &r))
        return;
    const int status = (int)fpemu_encode_f64(&f, &r, n, x, codes, NULL);
    comparisons += n;
    for (size_t i = 0; i < n && !status; i++) {
        const uint32_t theirs = c->from_double(x[i]), ours = code_at(codes, fpemu_format_code_size(&f), i);
        uint64_t u;
        memcpy(&u, x + i, sizeof u);
        /* of a binary64 NaN the headers keep the sign, and two bits for e5m2; of a binary32 one 7f is made */
        const int any_nan =
            c->from_half && f.bits == 8 && x[i] != x[i] && (theirs & 0x7f) > (f.has_infinity ? 0x7cu : 0x7eu);
        if (theirs != ours && !any_nan)
            differ(c, "double", u, theirs, ours);
    }
}

/* All numbers of 16 bits, by way of the binary32 numbers that they are. */
static void compare_halves(const conversion *c)
{
    static float x[1 << 16];
    static uint16_t all[1 << 16];
    fpemu_format f, narrow;
    fpemu_rounding r;
    if (!prepare(c, &f, &r))
        return;
    for (uint32_t i = 0; i < 1 << 16; i++)
        all[i] = (uint16_t)i;
    for (int bfloat = 0; bfloat < 2; bfloat++) {
        if (bfloat ? !c->from_bfloat : !c->from_half)
            continue;
        if (fpemu_format_named(bfloat ? FPEMU_NAME_BFLOAT16 : FPEMU_NAME_BINARY16, &narrow) ||
            fpemu_decode_f32(&narrow, 1 << 16, all, x) || fpemu_encode_f32(&f, &r, 1 << 16, x, codes, NULL))
            differ(c, "status", 0, 0, 0);
        for (uint32_t i = 0; i < 1 << 16; i++, comparisons++) {
            __half_raw h;
            __nv_bfloat16_raw b;
            h.x = b.x = (unsigned short)i;
            const uint32_t theirs = bfloat ? c->from_bfloat(b) : c->from_half(h), ours = code_at(codes, 1, i);
            if (theirs != ours)
                differ(c, bfloat ? "bfloat16" : "half", i, theirs, ours);
        }
    }
}

/* Every upper half of a binary32 number with lower halves around its ends and middle: a boundary between numbers of up
 * to 15 significant bits, and its neighbours. */
static void choice(const conversion *c)
{
    static const uint32_t low[8] = {0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
    static float x[BATCH];
    static double y[BATCH];
    for (uint32_t high = 0; high < 1 << 16; high += BATCH / 8) {
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint32_t u = (high + i / 8) << 16 | low[i % 8];
            memcpy(x + i, &u, sizeof u);
            y[i] = (double)x[i];
            if (x[i] == x[i] && i % 3 == 1) { /* what lies between two binary32 numbers */
                uint64_t v;
                memcpy(&v, y + i, sizeof v);
                v += i % 2 ? 1 : (UINT64_C(1) << 28) + 1;
                memcpy(y + i, &v, sizeof v);
            }
        }
        compare_floats(c, BATCH, x);
        compare_doubles(c, BATCH, y);
    }
}

static void all_floats(const conversion *c)
{
    static float x[BATCH];
    const unsigned long long before = failures;
    for (uint64_t first = 0; first < UINT64_C(1) << 32; first += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint32_t u = (uint32_t)first + i;
            memcpy(x + i, &u, sizeof u);
        }
        compare_floats(c, BATCH, x);
    }
    printf("%s: %llu of 2^32 floats differ\n", c->name, failures - before);
    fflush(stdout);
}

/* Codes back: the half, or for e8m0 the bfloat16, that CUDA gives. */
static void compare_decoding(const char *spec, int codes_in_all, uint16_t (*theirs)(int), fpemu_name carrier)
{
    fpemu_format f, narrow;
    if (fpemu_format_parse(spec, &f, NULL) || fpemu_format_named(carrier, &narrow))
        return;
    for (int i = 0; i < codes_in_all; i++, comparisons++) {
        const uint8_t code = (uint8_t)i;
        const uint16_t half = theirs(i);
        float ours, other;
        if (fpemu_decode_f32(&f, 1, &code, &ours) || fpemu_decode_f32(&narrow, 1, &half, &other) ||
            memcmp(&ours, &other, sizeof ours) != 0) {
            printf("FAIL code %x of %s is %g, and here %g\n", i, spec, (double)other, (double)ours);
            failures++;
        }
    }
}

static uint16_t e4m3_back(int i)
{
    return __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, __NV_E4M3).x;
}

static uint16_t e5m2_back(int i)
{
    return __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, __NV_E5M2).x;
}

static uint16_t e3m2_back(int i)
{
    return __nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)i, __NV_E3M2).x;
}

static uint16_t e2m3_back(int i)
{
    return __nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)i, __NV_E2M3).x;
}

static uint16_t e2m1_back(int i)
{
    return __nv_cvt_fp4_to_halfraw((__nv_fp4_storage_t)i, __NV_E2M1).x;
}

static uint16_t e8m0_back(int i)
{
    return __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)i).x;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--all") == 0) {
        for (int k = 0; k < CONVERSIONS; k++)
            if (argc == 2 || atoi(argv[2]) == k)
                all_floats(&conversions[k]);
        return failures != 0;
    }
    for (int k = 0; k < CONVERSIONS; k++) {
        choice(&conversions[k]);
        compare_halves(&conversions[k]);
    }
    compare_decoding("e4m3fn", 256, e4m3_back, FPEMU_NAME_BINARY16);
    compare_decoding("e5m2", 256, e5m2_back, FPEMU_NAME_BINARY16);
    compare_decoding("e3m2", 64, e3m2_back, FPEMU_NAME_BINARY16);
    compare_decoding("e2m3", 64, e2m3_back, FPEMU_NAME_BINARY16);
    compare_decoding("e2m1", 16, e2m1_back, FPEMU_NAME_BINARY16);
    compare_decoding("e8m0", 256, e8m0_back, FPEMU_NAME_BFLOAT16);
    printf("conversions of CUDA's headers: %llu compared, %llu differ\n", comparisons, failures);
    return failures != 0;
}
#endif
