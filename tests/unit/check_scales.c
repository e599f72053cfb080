/* SPDX-License-Identifier: BSD-2-Clause */
/* check_scales.c - the scales of a tensor's blocks: numbers worked by hand, what is refused. The judge of all
 * rules, of ranges that are told too, is met in against_judges/blocks_scales.c, the caller's environment in
 * tests/surroundings. */
#include "suite.h"

START_TEST(by_hand)
{
    const float x[] = {5, -1, 0.5f, 0, 3, 0, 0, 0, 0, 0, -0.25f, NAN};
    const fpemu_shape shape = fpemu_shape_vector(11);
    float s[4], tensor[2];
    uint8_t codes[4];
    fpemu_format f = format_of("mx(e2m1,block=4)");
    s[3] = -7;
    GIVES_OK(fpemu_scales_f32(&f, &shape, x, s, codes, tensor));
    ck_assert(s[0] == 1.0f && s[1] == 0.5f && s[2] == 0x1p-4f && s[3] == -7.0f); /* floor(log2 amax) - 2 */
    ck_assert(codes[0] == 127 && codes[1] == 126 && codes[2] == 123);
    ck_assert(tensor[0] == 1.0f && tensor[1] == 1.0f);

    f = format_of("bfp(4,block=4,exponent=5)"); /* elements k/16 below 1, so emax = -1 */
    GIVES_OK(fpemu_scales_f32(&f, &shape, x, s, codes, NULL));
    ck_assert(s[0] == 8.0f && s[1] == 4.0f && s[2] == 0.5f);
    ck_assert(codes[0] == 3 && codes[1] == 2 && codes[2] == 31); /* 31 = -1 in five bits */

    f = format_of("group(int4,4)"); /* -7 .. 7 */
    GIVES_OK(fpemu_scales_f32(&f, &shape, x, s, NULL, NULL));
    ck_assert(s[0] == 5.0f / 7 && s[1] == 3.0f / 7 && s[2] == 0.25f / 7);

    f = format_of("muppet(8)"); /* the least power of two that keeps 5 in 127.5 steps, and -1 in 128.5 */
    GIVES_OK(fpemu_scales_f32(&f, &shape, x, s, NULL, NULL));
    ck_assert(s[0] == 0x1p-4f);

    f = format_of("nvfp4(block=4)"); /* u = 448 * 6 / 5, d = 1 / u; then amax * u / 6 in e4m3fn */
    GIVES_OK(fpemu_scales_f32(&f, &shape, x, s, NULL, tensor));
    ck_assert(tensor[0] == 2688.0f / 5 && tensor[1] == 1 / (2688.0f / 5));
    ck_assert(s[0] == 448.0f && s[1] == 256.0f && s[2] == 22.0f); /* 268.8 and 22.4 lie between 256, 288; 22, 24 */

    f = format_of("mx(e2m1,block=4)"); /* a NaN in the last block */
    const fpemu_shape longer = fpemu_shape_vector(12);
    GIVES_OK(fpemu_scales_f32(&f, &longer, x, s, codes, NULL));
    ck_assert(isnan(s[2]) && codes[2] == 255);
}
END_TEST

/* Powers of two of twelve bits pass the range of both carriers; in their codes nothing is lost. */
START_TEST(wide_powers)
{
    const fpemu_format f = format_of("bfp(4,block=2,exponent=12)"), element = format_of("fixed(4,120)");
    fpemu_format tiny;
    GIVES_OK(fpemu_format_blocked(&tiny, &element, FPEMU_SCALING_FLOOR, NULL, 12, FPEMU_BLOCK_RUN, 0, 2));
    const float zero[2] = {0, 0};
    const double zeros[2] = {0, 0};
    const fpemu_shape shape = fpemu_shape_vector(2);
    float s = -7;
    double wide = -7;
    uint16_t code = 7;
    GIVES_OK(fpemu_scales_f32(&f, &shape, zero, &s, &code, NULL));
    ck_assert(s == 0.0f);
    ck_assert_uint_eq(code, 0x800); /* -2048 */
    GIVES_OK(fpemu_scales_f64(&f, &shape, zeros, &wide, &code, NULL));
    ck_assert(wide == 0.0);
    ck_assert_uint_eq(code, 0x800);
    const float x[2] = {0x1p100f, 0};
    const double x64[2] = {0x1p100, 0};
    GIVES_OK(fpemu_scales_f32(&tiny, &shape, x, &s, &code, NULL));
    ck_assert(isinf(s) && s > 0);
    ck_assert_uint_eq(code, 100 + 118);
    GIVES_OK(fpemu_scales_f64(&tiny, &shape, x64, &wide, &code, NULL));
    ck_assert(wide == 0x1p218);
}
END_TEST

START_TEST(refused)
{
    const fpemu_format f = format_of("mxfp4"), s2fp8 = format_of("s2fp8"), scalar = format_of("e4m3fn"),
                       wide = format_of("group(fp64,32)"), none = {0};
    fpemu_shape shape = fpemu_shape_vector(64);
    float s[2] = {-7, -7}, tensor[2] = {-7, -7};
    double z[2];
    uint8_t codes[2], bytes[64];
    static float x[64];
    REFUSES(NULL, fpemu_scales_f32(NULL, &shape, x, s, codes, tensor), fpemu_scales_f32(&f, NULL, x, s, codes, tensor),
            fpemu_scales_f32(&f, &shape, NULL, s, codes, tensor), fpemu_scales_f32(&f, &shape, x, NULL, NULL, NULL));
    REFUSES(FORMAT, fpemu_scales_f32(&none, &shape, x, s, codes, tensor));
    REFUSES(CARRIER, fpemu_scales_f32(&wide, &shape, x, s, codes, tensor));
    REFUSES(UNSUPPORTED, fpemu_scales_f32(&scalar, &shape, x, s, codes, tensor),
            fpemu_scales_f32(&s2fp8, &shape, x, s, NULL, tensor),
            fpemu_scales_f32(&s2fp8, &shape, x, NULL, codes, tensor));
    REFUSES(OVERLAP, fpemu_scales_f32(&f, &shape, x, x + 63, codes, tensor),
            fpemu_scales_f32(&f, &shape, x, s, x, tensor), fpemu_scales_f32(&f, &shape, x, s, (char *)s + 1, tensor),
            fpemu_scales_f32(&f, &shape, x, s, codes, s + 1));
    shape.reserved0[2] = 1;
    REFUSES(ARGUMENT, fpemu_scales_f32(&f, &shape, x, s, codes, tensor));
    shape.reserved0[2] = 0;
    float *const end = (float *)(UINTPTR_MAX - 3); /* no two scales have room there */
    const fpemu_shape three = fpemu_shape_vector(3 * 32);
    REFUSES(ARGUMENT, fpemu_scales_f32(&f, &three, x, end, NULL, NULL),
            fpemu_scales_f32(&f, &three, end, s, NULL, NULL));
    REFUSES(UNSUPPORTED, fpemu_unpack_scales_f32(&s2fp8, &shape, 0, 1, bytes, s),
            fpemu_unpack_scales_f32(&scalar, &shape, 0, 1, bytes, s));
    REFUSES(ARGUMENT, fpemu_unpack_scales_f32(&f, &shape, 1, 2, bytes, s));
    REFUSES(NULL, fpemu_unpack_scales_f32(&f, &shape, 0, 1, NULL, s),
            fpemu_unpack_scales_f32(&f, &shape, 0, 1, bytes, NULL), fpemu_unpack_scales_f64(&f, NULL, 0, 1, bytes, z));
    REFUSES(CARRIER, fpemu_unpack_scales_f32(&wide, &shape, 0, 1, bytes, s));
    ck_assert(s[0] == -7.0f && s[1] == -7.0f && tensor[0] == -7.0f && tensor[1] == -7.0f);
    GIVES_OK(fpemu_unpack_scales_f32(&f, &shape, 2, 0, NULL, NULL));
    shape.length = 0;
    GIVES_OK(fpemu_scales_f32(&f, &shape, NULL, NULL, NULL, NULL));
}
END_TEST

int main(void)
{
    return RUN_SUITE("scales", NULL, by_hand, wide_powers, refused);
}
