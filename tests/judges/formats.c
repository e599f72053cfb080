/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c - the formats that the judges know; the numbers are those of the tables of the format reference, or were
 * worked out by hand. */
#include "formats.h"

#define FLOAT(w, e, m, b, s, sp)                                                                                       \
    {.kind = FPEMU_KIND_FLOAT,                                                                                         \
     .bits = w,                                                                                                        \
     .exponent_bits = e,                                                                                               \
     .mantissa_bits = m,                                                                                               \
     .bias = b,                                                                                                        \
     .is_signed = s,                                                                                                   \
     .specials = FPEMU_SPECIALS_##sp,                                                                                  \
     .overflow = FPEMU_OVERFLOW_IEEE,                                                                                  \
     .nan = FPEMU_NAN_KEEP}
#define FIXED(w, fl, s)                                                                                                \
    {.kind = FPEMU_KIND_FIXED,                                                                                         \
     .bits = w,                                                                                                        \
     .fraction_bits = fl,                                                                                              \
     .is_signed = s,                                                                                                   \
     .overflow = FPEMU_OVERFLOW_IEEE,                                                                                  \
     .nan = FPEMU_NAN_KEEP}
#define INT(w, s)                                                                                                      \
    {.kind = FPEMU_KIND_INT,                                                                                           \
     .bits = w,                                                                                                        \
     .is_signed = s,                                                                                                   \
     .scale = 1.0,                                                                                                     \
     .overflow = FPEMU_OVERFLOW_IEEE,                                                                                  \
     .nan = FPEMU_NAN_KEEP}
#define POSIT(n, es)                                                                                                   \
    {.kind = FPEMU_KIND_POSIT,                                                                                         \
     .bits = n,                                                                                                        \
     .exponent_bits = es,                                                                                              \
     .is_signed = 1,                                                                                                   \
     .overflow = FPEMU_OVERFLOW_IEEE,                                                                                  \
     .nan = FPEMU_NAN_KEEP}

static const ref_format table[] = {
    /* spec, parameters, M, smallest normal, smallest positive, code of M, NaN codes, Inf codes */
    {"binary16", FLOAT(16, 5, 10, 15, 1, IEEE), 65504, 0x1p-14, 0x1p-24, 0x7bff, 2046, 2},
    {"bfloat16", FLOAT(16, 8, 7, 127, 1, IEEE), 255 * 0x1p120, 0x1p-126, 0x1p-133, 0x7f7f, 254, 2},
    {"tf32", FLOAT(19, 8, 10, 127, 1, IEEE), 2047 * 0x1p117, 0x1p-126, 0x1p-136, 0x3fbff, 2046, 2},
    {"binary32", FLOAT(32, 8, 23, 127, 1, IEEE), 16777215 * 0x1p104, 0x1p-126, 0x1p-149, 0x7f7fffff, 16777214, 2},
    {"binary64", FLOAT(64, 11, 52, 1023, 1, IEEE), 9007199254740991 * 0x1p971, 0x1p-1022, 0x1p-1074, 0x7fefffffffffffff,
     9007199254740990, 2},
    {"e5m2", FLOAT(8, 5, 2, 15, 1, IEEE), 57344, 0x1p-14, 0x1p-16, 0x7b, 6, 2},
    {"e4m3", FLOAT(8, 4, 3, 7, 1, IEEE), 240, 0x1p-6, 0x1p-9, 0x77, 14, 2},
    {"e3m4", FLOAT(8, 3, 4, 3, 1, IEEE), 15.5, 0x1p-2, 0x1p-6, 0x6f, 30, 2},
    {"e4m3fn", FLOAT(8, 4, 3, 7, 1, FN), 448, 0x1p-6, 0x1p-9, 0x7e, 2, 0},
    {"e4m3fnuz", FLOAT(8, 4, 3, 8, 1, FNUZ), 240, 0x1p-7, 0x1p-10, 0x7f, 1, 0},
    {"e5m2fnuz", FLOAT(8, 5, 2, 16, 1, FNUZ), 57344, 0x1p-15, 0x1p-17, 0x7f, 1, 0},
    {"e4m3b11fnuz", FLOAT(8, 4, 3, 11, 1, FNUZ), 30, 0x1p-10, 0x1p-13, 0x7f, 1, 0},
    {"e8m0", FLOAT(8, 8, 0, 127, 0, E8M0), 0x1p127, 0x1p-127, 0x1p-127, 0xfe, 1, 0},
    {"e3m2", FLOAT(6, 3, 2, 3, 1, FINITE), 28, 0x1p-2, 0x1p-4, 0x1f, 0, 0},
    {"e2m3", FLOAT(6, 2, 3, 1, 1, FINITE), 7.5, 1, 0x1p-3, 0x1f, 0, 0},
    {"e2m1", FLOAT(4, 2, 1, 1, 1, FINITE), 6, 1, 0.5, 0x7, 0, 0},
    {"ue4m3", FLOAT(7, 4, 3, 7, 0, FN), 448, 0x1p-6, 0x1p-9, 0x7e, 1, 0},
    {"ue5m3", FLOAT(8, 5, 3, 15, 0, FN), 114688, 0x1p-14, 0x1p-17, 0xfe, 1, 0},
    {"dlfloat16", FLOAT(16, 6, 9, 31, 1, DLFLOAT), 8573157376, 513 * 0x1p-40, 513 * 0x1p-40, 0x7ffe, 2, 0},
    {"fp(4,3,4)", FLOAT(8, 4, 3, 11, 1, FINITE), 30, 0x1p-10, 0x1p-13, 0x7f, 0, 0},
    {"fp(5,2,0)", FLOAT(8, 5, 2, 15, 1, FINITE), 114688, 0x1p-14, 0x1p-16, 0x7f, 0, 0},
    {"fp(6,9,0)", FLOAT(16, 6, 9, 31, 1, FINITE), 8581545984, 0x1p-30, 0x1p-39, 0x7fff, 0, 0},
    {"fp(4,3,-4)", FLOAT(8, 4, 3, 3, 1, FINITE), 7680, 0x1p-2, 0x1p-5, 0x7f, 0, 0},
    {"fp(5,10,0)", FLOAT(16, 5, 10, 15, 1, FINITE), 131008, 0x1p-14, 0x1p-24, 0x7fff, 0, 0},
    {"p3109(8,3,se)", FLOAT(8, 5, 2, 16, 1, P3109E), 49152, 0x1p-15, 0x1p-17, 0x7e, 1, 2},
    {"p3109(8,3,sf)", FLOAT(8, 5, 2, 16, 1, P3109F), 57344, 0x1p-15, 0x1p-17, 0x7f, 1, 0},
    {"p3109(8,4,se)", FLOAT(8, 4, 3, 8, 1, P3109E), 224, 0x1p-7, 0x1p-10, 0x7e, 1, 2},
    {"p3109(8,4,sf)", FLOAT(8, 4, 3, 8, 1, P3109F), 240, 0x1p-7, 0x1p-10, 0x7f, 1, 0},
    {"p3109(8,5,se)", FLOAT(8, 3, 4, 4, 1, P3109E), 15, 0x1p-3, 0x1p-7, 0x7e, 1, 2},
    {"p3109(8,3,ue)", FLOAT(8, 6, 2, 32, 0, P3109E), 5 * 0x1p29, 0x1p-31, 0x1p-33, 0xfd, 1, 1},
    {"p3109(8,4,ue)", FLOAT(8, 5, 3, 16, 0, P3109E), 53248, 0x1p-15, 0x1p-18, 0xfd, 1, 1},
    {"p3109(8,1,ue)", FLOAT(8, 8, 0, 128, 0, P3109E), 0x1p125, 0x1p-127, 0x1p-127, 0xfd, 1, 1},
    {"p3109(8,1,se)", FLOAT(8, 7, 0, 64, 1, P3109E), 0x1p62, 0x1p-63, 0x1p-63, 0x7e, 1, 2},
    {"p3109(8,1,uf)", FLOAT(8, 8, 0, 128, 0, P3109F), 0x1p126, 0x1p-127, 0x1p-127, 0xfe, 1, 0},
    {"p3109(6,3,sf)", FLOAT(6, 3, 2, 4, 1, P3109F), 14, 0x1p-3, 0x1p-5, 0x1f, 1, 0},
    {"p3109(6,4,sf)", FLOAT(6, 2, 3, 2, 1, P3109F), 3.75, 0x1p-1, 0x1p-4, 0x1f, 1, 0},
    {"p3109(4,2,sf)", FLOAT(4, 2, 1, 2, 1, P3109F), 3, 0x1p-1, 0x1p-2, 0x7, 1, 0},
    {"p3109(3,2,sf)", FLOAT(3, 1, 1, 1, 1, P3109F), 1.5, 1, 0x1p-1, 0x3, 1, 0},
    {"fixed(8,4)", FIXED(8, 4, 1), 7.9375, 0x1p-4, 0x1p-4, 0x7f, 0, 0},
    {"int4", INT(4, 1), 7, 1, 1, 0x7, 0, 0},
    {"int8", INT(8, 1), 127, 1, 1, 0x7f, 0, 0},
    {"int16", INT(16, 1), 32767, 1, 1, 0x7fff, 0, 0},
    {"uint4", INT(4, 0), 15, 1, 1, 0xf, 0, 0},
    {"uint8", INT(8, 0), 255, 1, 1, 0xff, 0, 0},
    {"uint16", INT(16, 0), 65535, 1, 1, 0xffff, 0, 0},
    {"posit(8,0)", POSIT(8, 0), 0x1p6, 0x1p-6, 0x1p-6, 0x7f, 1, 0},
    {"posit(8,1)", POSIT(8, 1), 0x1p12, 0x1p-12, 0x1p-12, 0x7f, 1, 0},
    {"posit(8,2)", POSIT(8, 2), 0x1p24, 0x1p-24, 0x1p-24, 0x7f, 1, 0},
    {"posit(16,1)", POSIT(16, 1), 0x1p28, 0x1p-28, 0x1p-28, 0x7fff, 1, 0},
    {"posit(16,2)", POSIT(16, 2), 0x1p56, 0x1p-56, 0x1p-56, 0x7fff, 1, 0},
    {"posit(32,2)", POSIT(32, 2), 0x1p120, 0x1p-120, 0x1p-120, 0x7fffffff, 1, 0},
};

const ref_format *ref_formats(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

/* Shorter names of some. */
static const struct {
    const char *name, *spec;
} short_names[] = {{"fp16", "binary16"}, {"bf16", "bfloat16"}, {"fp32", "binary32"}, {"fp64", "binary64"}};

const ref_format *ref_find(const char *spec)
{
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (strcmp(short_names[i].name, spec) == 0)
            spec = short_names[i].spec;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].spec, spec) == 0)
            return &table[i];
    return NULL;
}

static fpemu_format blank(fpemu_kind kind, unsigned bits, int is_signed)
{
    fpemu_format f = {0};
    f.kind = kind;
    f.bits = bits;
    f.is_signed = (uint8_t)is_signed;
    f.overflow = FPEMU_OVERFLOW_IEEE;
    f.nan = FPEMU_NAN_KEEP;
    return f;
}

fpemu_format ref_float(unsigned e, unsigned m, int bias, fpemu_specials specials, int is_signed)
{
    fpemu_format f = blank(FPEMU_KIND_FLOAT, e + m + (is_signed != 0), is_signed);
    f.exponent_bits = e;
    f.mantissa_bits = m;
    f.bias = bias;
    f.specials = (uint8_t)specials;
    return f;
}

fpemu_format ref_p3109(unsigned k, unsigned p, int is_signed, int has_infinity)
{
    /* Bias 2^(K-P-1) signed, 2^(K-P) unsigned; P-1 stored bits; the rest of the K bits is sign and exponent. */
    int bias = 1 << (k - p - (is_signed ? 1 : 0));
    return ref_float(k - p + (is_signed ? 0 : 1), p - 1, bias,
                     has_infinity ? FPEMU_SPECIALS_P3109E : FPEMU_SPECIALS_P3109F, is_signed);
}

fpemu_format ref_fixed(unsigned bits, int fraction_bits, int is_signed)
{
    fpemu_format f = blank(FPEMU_KIND_FIXED, bits, is_signed);
    f.fraction_bits = fraction_bits;
    return f;
}

fpemu_format ref_int(unsigned bits, int is_signed, double scale, int64_t zero_point)
{
    fpemu_format f = blank(FPEMU_KIND_INT, bits, is_signed);
    f.scale = scale;
    f.zero_point = zero_point;
    return f;
}

fpemu_format ref_posit(unsigned n, unsigned es)
{
    fpemu_format f = blank(FPEMU_KIND_POSIT, n, 1);
    f.exponent_bits = es;
    return f;
}

/* ----------------------------------------------------------------------------------------- unnamed formats */

static const struct float_case {
    uint8_t e, m;
    int16_t bias;
    uint8_t specials, is_signed, subnormals;
    double max; /* worked out by hand; 0 where it was not, and then the rules worked by hand leave the format out */
} floats[] =
    LIST(/* no exponent field */
         {0, 1, 0, FPEMU_SPECIALS_FINITE, 1, 0, 0}, {0, 7, 1, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         {0, 4, -3, FPEMU_SPECIALS_FN, 1, 0, 0}, {0, 8, 5, FPEMU_SPECIALS_FNUZ, 1, 0, 0},
         {0, 8, 20, FPEMU_SPECIALS_FINITE, 0, 0, 0}, {0, 9, 2, FPEMU_SPECIALS_FN, 0, 0, 0},
         /* one exponent bit */
         {1, 3, 0, FPEMU_SPECIALS_IEEE, 1, 0, 1.75}, {1, 7, 4, FPEMU_SPECIALS_IEEE, 1, 0, 0},
         {1, 5, 0, FPEMU_SPECIALS_IEEE, 0, 0, 0}, {1, 6, 1, FPEMU_SPECIALS_FNUZ, 1, 0, 0},
         {1, 1, 0, FPEMU_SPECIALS_FN, 1, 0, 0}, {1, 0, 3, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         /* no fraction */
         {2, 0, 1, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {3, 0, 3, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         {4, 0, 6, FPEMU_SPECIALS_FN, 1, 0, 0}, {5, 0, 16, FPEMU_SPECIALS_FNUZ, 1, 0, 0},
         {5, 0, 15, FPEMU_SPECIALS_IEEE, 0, 0, 0}, {8, 0, 127, FPEMU_SPECIALS_IEEE, 1, 0, 0x1p127},
         {8, 0, 128, FPEMU_SPECIALS_FINITE, 0, 0, 0}, {4, 0, 7, FPEMU_SPECIALS_FINITE, 1, FPEMU_SUBNORMALS_NONE, 0x1p8},
         {6, 0, 31, FPEMU_SPECIALS_FN, 0, FPEMU_SUBNORMALS_FLUSH_IN, 0},
         {6, 0, 32, FPEMU_SPECIALS_FINITE, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 0},
         /* the ordinary, at odd places */
         {2, 1, 1, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {2, 2, 9, FPEMU_SPECIALS_FN, 1, 0, 0},
         {2, 5, -20, FPEMU_SPECIALS_FINITE, 1, 0, 0}, {3, 1, 60, FPEMU_SPECIALS_IEEE, 1, 0, 0},
         {3, 3, 4, FPEMU_SPECIALS_FNUZ, 1, 0, 0}, {3, 5, 3, FPEMU_SPECIALS_IEEE, 0, 0, 0},
         {4, 2, 7, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_NONE, 0},
         {4, 3, 7, FPEMU_SPECIALS_FN, 1, FPEMU_SUBNORMALS_NONE, 448},
         {4, 3, 7, FPEMU_SPECIALS_FN, 1, FPEMU_SUBNORMALS_FLUSH_IN, 0},
         {4, 3, 7, FPEMU_SPECIALS_FN, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 0},
         {4, 3, 11, FPEMU_SPECIALS_FINITE, 1, FPEMU_SUBNORMALS_NONE, 0},
         {5, 2, 15, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_IN, 57344},
         {5, 2, 15, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 0},
         {5, 4, 15, FPEMU_SPECIALS_FINITE, 0, FPEMU_SUBNORMALS_NONE, 0},
         {4, 3, 8, FPEMU_SPECIALS_FNUZ, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 0},
         {3, 2, 9, FPEMU_SPECIALS_FNUZ, 1, FPEMU_SUBNORMALS_NONE, 0}, {4, 4, 7, FPEMU_SPECIALS_FN, 0, 0, 0},
         {4, 3, 139, FPEMU_SPECIALS_FN, 1, 0, 0}, {4, 3, 143, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         {4, 3, -108, FPEMU_SPECIALS_FN, 1, 0, 0}, {5, 3, -96, FPEMU_SPECIALS_FINITE, 0, 0, 0},
         {6, 1, 31, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {7, 2, 63, FPEMU_SPECIALS_FN, 1, 0, 0},
         {8, 1, 127, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {8, 1, 128, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         {8, 2, 127, FPEMU_SPECIALS_IEEE, 0, 0, 0}, {8, 3, 128, FPEMU_SPECIALS_FN, 1, 0, 0},
         {8, 7, 130, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {6, 9, 31, FPEMU_SPECIALS_IEEE, 1, 0, 0},
         {5, 10, 15, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 0}, {5, 10, 16, FPEMU_SPECIALS_FNUZ, 1, 0, 0},
         {8, 7, 127, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_IN, 0}, {8, 7, 128, FPEMU_SPECIALS_FN, 0, 0, 0},
         {3, 12, 3, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {2, 13, 1, FPEMU_SPECIALS_FN, 1, 0, 0},
         {1, 14, 0, FPEMU_SPECIALS_FN, 1, 0, 0},
         /* more of which the largest value was worked out: without some of the subnormals, unsigned */
         {5, 10, 15, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_NONE, 65504},
         {8, 7, 127, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 255 * 0x1p120},
         {2, 3, 1, FPEMU_SPECIALS_FINITE, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 7.5},
         {4, 0, 6, FPEMU_SPECIALS_FINITE, 1, 0, 0x1p9}, {4, 0, 7, FPEMU_SPECIALS_FINITE, 1, 0, 0x1p8},
         {0, 4, 1, FPEMU_SPECIALS_FINITE, 1, 0, 0.9375}, {5, 3, 15, FPEMU_SPECIALS_FN, 0, 0, 14 * 0x1p13},
         {3, 2, 3, FPEMU_SPECIALS_FINITE, 0, 0, 28}, {5, 4, 15, FPEMU_SPECIALS_IEEE, 0, 0, 31 * 0x1p11},
         /* normal numbers and subnormals that are both subnormal in binary32 */
         {7, 5, 140, FPEMU_SPECIALS_IEEE, 1, 0, 63 * 0x1p-19},
         {7, 5, 140, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_NONE, 63 * 0x1p-19},
         {7, 3, 140, FPEMU_SPECIALS_FN, 1, FPEMU_SUBNORMALS_FLUSH_OUT, 14 * 0x1p-16},
         {7, 7, 126, FPEMU_SPECIALS_IEEE, 1, 0, 1.9921875}, {7, 0, 140, FPEMU_SPECIALS_FINITE, 1, 0, 0x1p-13},
         {7, 0, 141, FPEMU_SPECIALS_FINITE, 1, FPEMU_SUBNORMALS_FLUSH_IN, 0x1p-14},
         /* wider than binary32 or outside its range */
         {6, 20, 1050, FPEMU_SPECIALS_IEEE, 1, 0, 2097151 * 0x1p-1008},
         {11, 10, 1023, FPEMU_SPECIALS_IEEE, 1, 0, 0x1.ffcp1023}, {10, 10, 1021, FPEMU_SPECIALS_IEEE, 1, 0, 0x1.ffcp1},
         {9, 30, 255, FPEMU_SPECIALS_IEEE, 1, 0, 0x1.fffffffcp255}, {8, 7, 100, FPEMU_SPECIALS_IEEE, 1, 0, 0},
         {9, 4, 255, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {11, 3, 1024, FPEMU_SPECIALS_FN, 1, 0, 0},
         {11, 0, 1024, FPEMU_SPECIALS_FINITE, 1, 0, 0}, {10, 4, 512, FPEMU_SPECIALS_FNUZ, 1, 0, 0},
         {8, 23, 127, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_FLUSH_IN, 0},
         {8, 23, 128, FPEMU_SPECIALS_FINITE, 1, 0, 0}, {8, 30, 127, FPEMU_SPECIALS_IEEE, 1, 0, 0},
         {11, 20, 1023, FPEMU_SPECIALS_IEEE, 1, 0, 0}, {11, 40, 1023, FPEMU_SPECIALS_IEEE, 1, FPEMU_SUBNORMALS_NONE, 0},
         {11, 51, 1023, FPEMU_SPECIALS_IEEE, 0, 0, 0}, {0, 23, 10, FPEMU_SPECIALS_FINITE, 1, 0, 0},
         {0, 24, 10, FPEMU_SPECIALS_FINITE, 1, 0, 0});

static const struct fixed_case {
    uint8_t bits;
    int16_t fl;
    uint8_t is_signed, symmetric, wrap;
} fixeds[] = {
    {2, 0, 1, 0, 0},    {2, 0, 1, 1, 0},     {3, 5, 1, 0, 0},   {4, -2, 1, 0, 0},  {8, 0, 1, 0, 0},
    {8, 4, 1, 1, 0},    {8, 4, 1, 0, 1},     {8, 7, 1, 0, 0},   {8, 8, 0, 0, 0},   {8, 4, 0, 0, 1},
    {8, 12, 1, 0, 0},   {10, 3, 1, 0, 1},    {8, -10, 0, 0, 0}, {8, 149, 1, 0, 0}, {8, -120, 1, 0, 0},
    {8, -121, 1, 0, 0}, {1, 0, 0, 0, 0},     {1, 0, 0, 0, 1},   {16, 8, 1, 0, 0},  {16, 8, 1, 0, 1},
    {16, 15, 1, 1, 0},  {24, 12, 0, 0, 0},   {25, 12, 1, 0, 0}, {25, 12, 1, 0, 1}, {26, 12, 1, 0, 0},
    {32, 16, 1, 0, 0},  {32, 16, 1, 0, 1},   {32, 0, 0, 0, 0},  {48, 40, 1, 0, 1}, {8, 1074, 1, 0, 0},
    {52, 20, 1, 0, 0},  {8, -1000, 1, 0, 0}, {16, 30, 0, 0, 1}, {5, -3, 1, 0, 1},  {8, -3, 1, 0, 0},
    {6, 9, 1, 0, 0},    {24, 12, 1, 0, 0},   {8, 4, 0, 0, 0},
};

static const struct int_case {
    uint8_t bits, is_signed, symmetric, wrap;
    double scale;
    int64_t zero;
} ints[] = LIST({8, 1, 0, 0, 0.1, 0}, {8, 0, 0, 0, 0.1, 128}, {8, 1, 1, 0, 0.007874015748031496, 0},
                {8, 1, 0, 0, 1.0, -128}, {8, 0, 0, 0, 1.0, 255}, {8, 1, 0, 1, 0.1, 5}, {8, 0, 0, 1, 0.3, 10},
                {4, 1, 0, 0, 0.333, 2}, {4, 0, 0, 0, 1e-3, 7}, {2, 1, 1, 0, 1.5, 0}, {1, 0, 0, 0, 0.75, 0},
                {3, 1, 0, 0, 7e30, 1}, {8, 1, 0, 0, 1e-38, 0}, {8, 1, 0, 0, 1e-44, 3}, {16, 1, 0, 0, 0.1, 100},
                {16, 0, 0, 0, 3.3e-5, 40000}, {12, 1, 0, 1, 0.7, -9}, {24, 1, 0, 0, 0.1, 0}, {32, 1, 0, 0, 0.1, 12345},
                {32, 0, 0, 0, 1e-9, 4000000000}, {32, 1, 0, 1, 0.1, -7}, {10, 1, 1, 0, 0.01, 0}, {8, 1, 0, 1, 1.0, 0},
                {8, 1, 0, 0, 0.0078125, -5}, {8, 1, 0, 0, 3.7, 11}, {8, 1, 1, 0, 0.3, 0}, {8, 1, 0, 1, 0.1, 3},
                {20, 1, 0, 0, 0.7, -1000}, {32, 1, 0, 0, 0.1, 0});

int ref_generic(size_t i, fpemu_format *f, char *text)
{
    double max;
    return ref_generic_max(i, f, text, &max);
}

int ref_generic_max(size_t i, fpemu_format *f, char *text, double *max)
{
    static const char *const subnormals[] = {[FPEMU_SUBNORMALS_KEEP] = "",
                                             [FPEMU_SUBNORMALS_NONE] = ":nosub",
                                             [FPEMU_SUBNORMALS_FLUSH_IN] = ":flushin",
                                             [FPEMU_SUBNORMALS_FLUSH_OUT] = ":flushout"};
    static const char *const specials[] = {"ieee", "fn", "fnuz", "finite", "p3109e", "p3109f", "e8m0", "dlfloat"};
    size_t n = sizeof floats / sizeof *floats;
    *max = 0;

    if (i < n) {
        const struct float_case *c = &floats[i];
        *f = ref_float(c->e, c->m, c->bias, (fpemu_specials)c->specials, c->is_signed);
        f->subnormals = c->subnormals;
        *max = c->max;
        snprintf(text, 80, "float(e=%d,m=%d,bias=%d,specials=%s,signed=%d)%s", c->e, c->m, c->bias,
                 specials[c->specials], c->is_signed, subnormals[c->subnormals]);
        return 1;
    }
    i -= n;
    n = sizeof fixeds / sizeof *fixeds;
    if (i < n) {
        const struct fixed_case *c = &fixeds[i];
        *f = ref_fixed(c->bits, c->fl, c->is_signed);
        f->symmetric = c->symmetric;
        f->wrap = c->wrap;
        snprintf(text, 80, "%sfixed(%d,%d)%s%s", c->is_signed ? "" : "u", c->bits, c->fl, c->wrap ? ":wrap" : "",
                 c->symmetric ? ":symmetric" : "");
        return 1;
    }
    i -= n;
    n = sizeof ints / sizeof *ints;
    if (i < n) {
        const struct int_case *c = &ints[i];
        *f = ref_int(c->bits, c->is_signed, c->scale, c->zero);
        f->symmetric = c->symmetric;
        f->wrap = c->wrap;
        snprintf(text, 80, "%sint(%d,scale=%.17g,zero=%lld)%s%s", c->is_signed ? "" : "u", c->bits, c->scale,
                 (long long)c->zero, c->wrap ? ":wrap" : "", c->symmetric ? ":symmetric" : "");
        return 1;
    }
    i -= n;
    /* Posits: every n from 2 to 12 with es 0..5, then a few wide ones; some fill the significand of binary32. */
    if (i < 66) {
        *f = ref_posit(2 + (unsigned)i / 6, (unsigned)i % 6);
        snprintf(text, 80, "posit(%u,%u)", f->bits, f->exponent_bits);
        return 1;
    }
    i -= 66;
    static const uint8_t wide[][2] = {{16, 0}, {16, 4}, {24, 1}, {32, 5}, {26, 0}, {27, 1}, {28, 2}};
    n = sizeof wide / sizeof *wide;
    if (i < n) {
        *f = ref_posit(wide[i][0], wide[i][1]);
        snprintf(text, 80, "posit(%u,%u)", f->bits, f->exponent_bits);
        return 1;
    }
    i -= n;
    /* P3109: all K from 3 to 10, every P, signed and unsigned, with and without infinity; then some of 16 bits. */
    {
        unsigned k, p, v;
        for (k = 3; k <= 16; k = k == 10 ? 16 : k + 1) {
            for (p = k == 16 ? 6 : 1; p <= k; p += k == 16 ? 5 : 1) {
                for (v = 0; v < 4; v++) {
                    int is_signed = (int)(v & 1), infinite = (int)(v >> 1);
                    if (is_signed && p == k)
                        continue;
                    if (i-- == 0) {
                        *f = ref_p3109(k, p, is_signed, infinite);
                        snprintf(text, 80, "p3109(%u,%u,%c%c)", k, p, is_signed ? 's' : 'u', infinite ? 'e' : 'f');
                        return 1;
                    }
                }
            }
        }
    }
    return 0;
}

void ref_each(void (*visit)(const char *spec, const fpemu_format *parameters, int named))
{
    fpemu_format f;
    char text[80];
    for (size_t i = 0; ref_formats(i); i++)
        visit(ref_formats(i)->spec, &ref_formats(i)->f, 1);
    for (size_t i = 0; ref_generic(i, &f, text); i++)
        visit(text, &f, 0);
}

int ref_parameters(const char *spec, fpemu_format *f)
{
    const ref_format *named = ref_find(spec);
    char text[80];
    if (named)
        *f = named->f;
    for (size_t i = 0; !named && ref_generic(i, f, text); i++)
        if (strcmp(text, spec) == 0)
            return 1;
    return named != NULL;
}

/* --------------------------------------------------------------------------------------- single conversions */

enum {
    RNE = FPEMU_MODE_RNE,
    RNA = FPEMU_MODE_RNA,
    RNZ = FPEMU_MODE_RNZ,
    RTZ = FPEMU_MODE_RTZ,
    RAZ = FPEMU_MODE_RAZ,
    RTP = FPEMU_MODE_RTP,
    RTN = FPEMU_MODE_RTN,
    RTO = FPEMU_MODE_RTO,
    RNP = FPEMU_MODE_RNP
};

/* Sections 2.1, 1.3, 1.4, 1.8, 2.4, and others worked out by hand. */
static const ref_conversion conversions[] = LIST(
    {"binary16", RNE, 1, 65520, INFINITY, 0x7c00}, {"binary16", RNE, 1, 0x1.ffdffffffffffp15, 65504, 0x7bff},
    {"binary16", RNE, 2, 65520, 65504, 0x7bff}, {"bfloat16", RNE, 1, 511 * 0x1p119, INFINITY, 0x7f80},
    {"bfloat16", RNE, 2, 511 * 0x1p119, 255 * 0x1p120, 0x7f7f}, {"tf32", RNE, 1, 4095 * 0x1p116, INFINITY, -1},
    {"binary32", RNE, 1, 33554431 * 0x1p103, INFINITY, 0x7f800000}, {"e5m2", RNE, 1, 61440, INFINITY, 0x7c},
    {"e5m2", RNE, 2, 61440, 57344, 0x7b}, {"e5m2", RNE, 3, 61440, 57344, 0x7b},
    {"e5m2", RNE, 3, INFINITY, INFINITY, 0x7c}, {"e5m2", RNE, 2, INFINITY, 57344, 0x7b},
    {"e5m2", RNE, 1, NAN, NAN, 0x7f}, {"e4m3fn", RNE, 1, 464, 448, 0x7e},
    {"e4m3fn", RNE, 1, 0x1.d000000000001p8, NAN, 0x7f}, {"e4m3fn", RNE, 2, 0x1.d000000000001p8, 448, 0x7e},
    {"e4m3fn", RNE, 1, -INFINITY, NAN, 0x7f}, {"e4m3fn", RNE, 2, -INFINITY, -448, 0xfe},
    {"e4m3fn", RTZ, 1, 1e30, 448, 0x7e}, {"e4m3fn", RTP, 1, 1e30, NAN, 0x7f}, {"e4m3fn", RTP, 1, -1e30, -448, 0xfe},
    {"e4m3fn", RTN, 1, 1e30, 448, 0x7e}, {"e4m3fn", RTN, 1, -1e30, NAN, 0x7f}, {"e4m3fn", RNA, 1, 464, NAN, 0x7f},
    {"e4m3fn", RNZ, 1, 464, 448, 0x7e}, {"e4m3fn", RAZ, 1, 449, NAN, 0x7f}, {"e4m3fn", RTO, 1, 449, 448, 0x7e},
    {"e4m3fn", RNP, 1, 464, NAN, 0x7f}, {"e4m3fn", RNP, 1, -464, -448, 0xfe}, {"e8m0", RNP, 1, 3, 4, 129},
    {"e4m3fn", RNP, 1, -0x1p-10, -0.0, 0x80}, {"e4m3fn", RNP, 1, 0x1p-10, 0x1p-9, 0x01},
    {"fixed(8,4)", RNP, 1, 0.03125, 0.0625, 1}, {"fixed(8,4)", RNP, 1, -0.03125, 0, 0},
    {"e4m3fn", RNE, 1, -431.99999999999994, -416, 0xfd}, {"e4m3fn", RNE, 1, -432, -448, 0xfe},
    {"e4m3fn", RNE, 1, 0x1p-10, 0, 0x00}, {"e4m3fn", RNE, 1, -0x1p-10, -0.0, 0x80},
    {"e4m3fn", RTP, 1, -1e-30, -0.0, 0x80}, {"e4m3", RNE, 1, 248, INFINITY, 0x78},
    {"e3m4", RNE, 1, 15.75, INFINITY, 0x70}, {"e4m3fnuz", RNE, 1, 248, NAN, 0x80}, {"e4m3fnuz", RNE, 1, -0.0, 0, 0x00},
    {"e4m3fnuz", RNE, 1, -0x1p-20, 0, 0x00}, {"e5m2fnuz", RNE, 1, 61440, NAN, 0x80},
    {"e4m3b11fnuz", RNE, 1, 31, NAN, 0x80}, {"e3m2", RNE, 1, 30, 28, 0x1f}, {"e2m3", RNE, 1, 1e9, 7.5, 0x1f},
    {"e2m1", RNE, 1, 7, 6, 7}, {"e2m1", RNE, 1, 0.25, 0, 0}, {"e2m1", RNE, 1, 0.75, 1, 2}, {"e2m1", RNE, 1, 1.25, 1, 2},
    {"e2m1", RNE, 1, 1.75, 2, 4}, {"e2m1", RNE, 1, 2.5, 2, 4}, {"e2m1", RNE, 1, 3.5, 4, 6},
    {"e2m1", RNE, 1, -5, -4, 14}, {"e2m1", RNE, 1, -INFINITY, -6, 15}, {"e2m1", RNE, 1, NAN, NAN, 7},
    {"fp(4,3,4)", RNE, 1, 31, 30, 0x7f}, {"fp(5,2,0)", RNE, 1, 1e9, 114688, 0x7f},
    {"fp(6,9,0)", RNE, 1, 8585740288, 8581545984, 0x7fff}, {"dlfloat16", RNA, 1, 8577351680, NAN, 0x7fff},
    {"dlfloat16", RNA, 1, 8577351679, 8573157376, 0x7ffe}, {"dlfloat16", RNA, 2, 8577351680, 8573157376, 0x7ffe},
    {"dlfloat16", RNA, 1, 0x1.004p-31, 513 * 0x1p-40, 0x0001}, {"dlfloat16", RNA, 1, -0x1.003ffp-31, -0.0, 0x8000},
    {"dlfloat16", RAZ, 1, 0x1p-31, 0, 0x0000}, {"dlfloat16", RAZ, 1, 0x1.fffffp-32, 0, 0x0000},
    {"dlfloat16", RAZ, 1, 0x1.00001p-31, 513 * 0x1p-40, 0x0001}, {"p3109(8,4,se)", RNE, 1, 232, 224, 0x7e},
    {"p3109(8,4,se)", RNE, 1, 232.5, INFINITY, 0x7f}, {"p3109(8,4,se)", RNE, 1, -232.5, -INFINITY, 0xff},
    {"p3109(8,4,se)", RTO, 1, 225, INFINITY, 0x7f}, {"p3109(8,4,se)", RTO, 3, 225, 224, 0x7e},
    {"p3109(8,3,se)", RNE, 1, 53248, 49152, 0x7e}, {"p3109(8,4,sf)", RNE, 1, 248, 240, 0x7f},
    {"p3109(8,4,sf)", RNE, 1, INFINITY, 240, 0x7f}, {"p3109(8,4,sf)", RNE, 1, NAN, NAN, 0x80},
    {"p3109(8,3,ue)", RNE, 1, -INFINITY, NAN, 0xff}, {"p3109(8,3,ue)", RNE, 3, -INFINITY, 0, 0},
    {"p3109(8,3,ue)", RNE, 1, -1, NAN, 0xff}, {"p3109(8,3,ue)", RTZ, 1, -1, 0, 0}, {"p3109(8,3,ue)", RTP, 1, -1, 0, 0},
    {"p3109(8,3,ue)", RTO, 1, 0x1p40, 5 * 0x1p29, 0xfd}, {"p3109(8,3,ue)", RNE, 1, -0x1p-34, 0, 0},
    {"ue4m3", RNE, 1, -1, NAN, 0x7f}, {"ue4m3", RNE, 2, -1, 0, 0}, {"e8m0", RNE, 1, 0, 0x1p-127, 0},
    {"e8m0", RNE, 1, -0.0, 0x1p-127, 0}, {"e8m0", RAZ, 1, 0x1p-140, 0x1p-127, 0}, {"e8m0", RNE, 2, -1, NAN, 0xff},
    {"e8m0", RNE, 1, 0x1.8p127, 0x1p127, 0xfe}, {"e8m0", RNA, 1, 0x1.8p127, NAN, 0xff},
    {"e8m0", RNA, 2, 0x1.8p127, 0x1p127, 0xfe}, {"e8m0", RTZ, 1, 0x1.8p127, 0x1p127, 0xfe},
    {"e8m0", RNA, 3, 0x1.8p127, NAN, 0xff}, {"e8m0", RNE, 2, INFINITY, 0x1p127, 0xfe},
    {"e8m0", RNE, 3, INFINITY, NAN, 0xff}, {"e8m0", RNE, 1, 1.5, 2, 128}, {"e8m0", RNE, 1, 3, 2, 128},
    {"fixed(8,4)", RNE, 1, 100, 7.9375, 0x7f}, {"fixed(8,4)", RNE, 1, -100, -8, 0x80},
    {"fixed(8,4)", RNE, 1, 0.03125, 0, 0}, {"fixed(8,4)", RNA, 1, -0.03125, -0.0625, 0xff}, {"int8", RNE, 1, 2.5, 2, 2},
    {"int8", RNE, 1, NAN, NAN, 0}, {"uint8", RTN, 1, -0.5, 0, 0}, {"posit(8,2)", RNE, 1, 0x1p22, 0x1p20, 0x7e},
    {"posit(8,2)", RNE, 1, 0x1.00001p22, 0x1p24, 0x7f}, {"posit(8,2)", RNE, 1, 1e-30, 0x1p-24, 0x01},
    {"posit(8,2)", RNE, 1, -1e30, -0x1p24, 0x81}, {"posit(8,0)", RNE, 1, INFINITY, NAN, 0x80},
    {"posit(8,0)", RNE, 2, -INFINITY, -64, 0x81}, {"posit(8,0)", RNE, 1, -0.0, 0, 0},
    /* just off a midpoint, onto which binary32 would move it */
    {"e4m3fn", RTP, 1, 0x1.0000000000001p0, 1.125, -1}, {"e4m3fn", RTO, 1, 0x1.0000000000001p0, 1.125, -1},
    {"e2m1", RNE, 1, 0x1.4000000000001p1, 3, -1}, {"bfloat16", RNE, 1, 0x1.0100000000001p0, 0x1.02p0, -1},
    {"bfloat16", RNE, 1, 0x1.01p0, 1, -1}, {"binary16", RNE, 1, 0x1.001ffffffffffp0, 1, -1},
    {"binary32", RNE, 1, 0x1.0000010000001p0, 0x1.000002p0, -1}, {"int8", RNE, 1, 2.5000000000000004, 3, -1},
    {"fixed(8,4)", RTZ, 1, 0x1.fffffffffffffp-5, 0, -1}, {"posit(8,0)", RNE, 1, 0x1.0400000000001p0, 1.03125, -1},
    /* mistakes that other emulators made. CPFloat: E4M3 up to 480, the sign of zero, infinities that become finite,
       subnormal numbers of format and carrier, the carrier's own precision, ties with one bit of precision */
    {"e4m3fn", RNE, 1, 465, NAN, 0x7f}, {"e4m3fn", RNE, 1, 480, NAN, 0x7f}, {"e4m3fn", RNE, 1, 0x1.d00002p8, NAN, 0x7f},
    {"e4m3fn", RNE, 2, 500, 448, 0x7e}, {"binary16", RTP, 1, -0x1p-140, -0.0, 0x8000},
    {"binary16", RTP, 1, -0.0, -0.0, 0x8000}, {"binary16", RTN, 1, -0.0, -0.0, 0x8000},
    {"binary16", RTN, 1, 0x1p-140, 0, 0}, {"binary16", RTN, 1, 0, 0, 0}, {"e4m3fn", RTZ, 1, INFINITY, NAN, 0x7f},
    {"e4m3fn", RTO, 1, -INFINITY, NAN, 0x7f}, {"e4m3fn", RTP, 1, -INFINITY, NAN, 0x7f},
    {"e4m3fn", RTN, 1, INFINITY, NAN, 0x7f}, {"binary16", RTZ, 1, -INFINITY, -INFINITY, 0xfc00},
    {"float(e=7,m=7,bias=126,specials=ieee,signed=1)", RNE, 1, 0x1.013e8p-132, 0x1p-132, -1},
    {"float(e=10,m=10,bias=1021,specials=ieee,signed=1)", RNE, 1, 0x1p-1030, 0x1p-1030, -1},
    {"float(e=7,m=7,bias=126,specials=ieee,signed=1)", RTZ, 1, 0x1.013e8p-132, 0x1p-132, -1},
    {"float(e=10,m=10,bias=1021,specials=ieee,signed=1)", RTZ, 1, 0x1p-1030, 0x1p-1030, -1},
    {"binary32", RNE, 1, 0x1.00076ap-126, 0x1.00076ap-126, -1}, {"binary32", RNA, 1, 1.5, 1.5, -1},
    {"binary32", RNA, 1, -3.25, -3.25, -1}, {"binary32", RNA, 1, 0x1.8p-127, 0x1.8p-127, -1},
    {"binary64", RNE, 1, 0x1.0000000000001p-1022, 0x1.0000000000001p-1022, -1},
    {"e8m0", RNE, 1, 0x1.8p-125, 0x1p-125, -1}, {"e8m0", RNE, 1, 0x1.8p-124, 0x1p-123, -1},
    {"float(e=8,m=0,bias=127,specials=ieee,signed=1)", RNE, 1, 0x1.8p-125, 0x1p-125, -1},
    {"float(e=4,m=0,bias=6,specials=finite,signed=1)", RNE, 1, 1.5, 1, -1},
    {"float(e=4,m=0,bias=7,specials=finite,signed=1)", RNE, 1, 1.5, 2, -1},
    /* FlexFloat: infinity by every mode, codes of powers of two among the subnormal numbers; pychop: 65536, 0 or late
       infinity */
    {"binary16", RTZ, 1, 70000, 65504, -1}, {"binary16", RTZ, 1, -1e30, -65504, -1},
    {"binary16", RTP, 1, -70000, -65504, -1}, {"binary16", RTP, 1, 70000, INFINITY, -1},
    {"binary16", RTN, 1, 70000, 65504, -1}, {"binary16", RTN, 1, -70000, -INFINITY, -1},
    {"bfloat16", RTZ, 1, -0x1.ffp127, -0x1.fep127, -1}, {"binary16", RNE, 1, 0x1p-24, 0x1p-24, 1},
    {"binary16", RNE, 1, 0x1p-15, 0x1p-15, 0x200}, {"binary16", RNE, 1, 0, 0, 0},
    {"binary16", RNE, 1, -0.0, -0.0, 0x8000}, {"binary16", RNE, 1, NAN, NAN, 0x7e00},
    {"binary16", RNE, 1, 65519.996, 65504, 0x7bff}, {"binary16", RNE, 1, 65536, INFINITY, 0x7c00},
    {"binary16", RNE, 1, 70000, INFINITY, 0x7c00}, {"e4m3", RNE, 1, 300, INFINITY, 0x78},
    /* QPyTorch: two roundings on the way to a subnormal number and to an integer */
    {"binary16", RNE, 1, 0x1.ffffep-26, 0, 0}, {"binary16", RNE, 1, 0x1.002p0, 1, -1},
    {"fixed(8,0)", RNE, 1, 0x1.000002p-1, 1, 1}, {"fp(5,2,0)", RNE, 1, -0x1p-60, -0.0, 0x80},
    /* ml_dtypes: infinity under saturation, powers of two upward; Intel's toolkit: through binary16, subnormals off the
       grid */
    {"e4m3fn", RNE, 3, INFINITY, NAN, 0x7f}, {"e4m3fn", RNE, 3, 1e30, 448, 0x7e}, {"e8m0", RAZ, 1, 1.1, 2, 128},
    {"e8m0", RTP, 1, 1.1, 2, 128}, {"e4m3fn", RNE, 1, 0x1.1001p0, 1.125, -1},
    {"e4m3fn", RNE, 1, 0.75 * 0x1p-9, 0x1p-9, -1}, {"e4m3fn", RNE, 1, 1.125 * 0x1p-7, 0x1p-7, -1},
    {"e4m3fn", RNE, 1, 1.25 * 0x1p-8, 0x1p-8, -1}, {"e4m3fn", RNE, 1, 1.75 * 0x1p-9, 0x1p-8, -1},
    {"e4m3fn", RNE, 1, 447, 448, -1}, {"e4m3fn", RNE, 2, NAN, NAN, 0x7f}, {"e4m3fn", RNE, 2, 1e9, 448, 0x7e},
    {"e5m2", RTP, 1, 0x1.04p0, 1.25, -1},
    /* gfloat: e8m0 below 2^-127, NaN past the end of a finite domain; universal: bfloat16 cut; posits beyond their
       ends */
    {"e8m0", RNE, 1, 0x1p-140, 0x1p-127, 0}, {"e8m0", RTZ, 1, 0x1p-149, 0x1p-127, 0},
    {"e8m0", RNE, 1, INFINITY, NAN, 0xff}, {"e8m0", RNE, 1, 0x1.800002p127, NAN, 0xff}, {"e8m0", RNE, 1, 1, 1, 127},
    {"p3109(8,4,sf)", RNE, 1, 1e6, 240, 0x7f}, {"p3109(8,4,se)", RNE, 1, 240, INFINITY, 0x7f},
    {"bfloat16", RNE, 1, 0x1.018p0, 0x1.02p0, -1}, {"bfloat16", RNE, 1, NAN, NAN, 0x7fc0},
    {"posit(8,2)", RNE, 1, 0x1p-140, 0x1p-24, 1}, {"posit(8,2)", RNE, 1, 0x1.8p21, 0x1p20, -1},
    {"posit(8,2)", RNE, 1, 0x1.000002p22, 0x1p24, 0x7f}, {"posit(8,2)", RNE, 1, NAN, NAN, 0x80},
    {"posit(8,2)", RNE, 1, 1, 1, 0x40},
    /* codes */
    {"e5m2", RNE, 1, 0x1p-16, 0x1p-16, 1}, {"e4m3fn", RNE, 1, 448, 448, 0x7e}, {"e4m3fnuz", RNE, 1, NAN, NAN, 0x80},
    {"e2m1", RNE, 1, -6, -6, 0xf}, {"dlfloat16", RNE, 1, INFINITY, NAN, 0x7fff}, {"int8", RNE, 1, -128, -128, 0x80},
    {"fixed(8,4)", RNE, 1, -0.0625, -0.0625, 0xff});

const ref_conversion *ref_conversions(size_t i)
{
    return i < sizeof conversions / sizeof *conversions ? &conversions[i] : NULL;
}
