/* SPDX-License-Identifier: BSD-2-Clause */
/* check_scales.c - the scales of a tensor's blocks: wide powers, what is refused. The judge of all rules, of ranges that
 * are told and of scales that are given too, is met in against_judges, the caller's environment in tests/surroundings. */
#include "suite.h"

/* Powers of two of twelve bits pass the range of binary32; in their codes nothing is lost. */
START_TEST(wide_powers)
{
    const fpemu_format element = format_of("fixed(4,120)");
    fpemu_format tiny;
    GIVES_OK(fpemu_format_blocked(&tiny, &element, FPEMU_SCALING_FLOOR, NULL, 12, FPEMU_BLOCK_RUN, 0, 2));
    const fpemu_shape shape = fpemu_shape_vector(2);
    float s = -7;
    double wide = -7;
    uint16_t code = 7;
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
    shape.reserved0[1] = 1;
    REFUSES(ARGUMENT, fpemu_scales_f32(&f, &shape, x, s, codes, tensor));
    shape.reserved0[1] = 0;
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

START_TEST(given_refused)
{
    const float x[8] = {1, -1, 3, -3}, s[2] = {0.5f, 1}, z[2] = {1, 0};
    float y[8] = {-7};
    fpemu_given given = {.scales = s, .tensor = 0.25f};
    fpemu_shape shape = fpemu_shape_vector(8);
    shape.given = &given;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_format f = format_of("block(int4,block=4,scale=fp32,rule=absmax)");
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &nearest, &shape, x, y, NULL)); /* has no scale of the tensor */
    given = (fpemu_given){.scales = s, .zeros = z, .order = FPEMU_ZERO_AFTER};
    const fpemu_format no_zero[] = {format_of("group(e4m3fn,4)"), format_of("mx(int8,4)"),
                                    format_of("group(int(20),4)"), format_of("e4m3fn"), format_of("s2fp8")};
    for (size_t i = 0; i < sizeof no_zero / sizeof *no_zero; i++)
        REFUSES(UNSUPPORTED, fpemu_quantize_tensor_f32(&no_zero[i], &nearest, &shape, x, y, NULL));
    given.order = 3;
    REFUSES(ARGUMENT, fpemu_quantize_tensor_f32(&f, &nearest, &shape, x, y, NULL));
    given = (fpemu_given){.zeros = z, .order = FPEMU_ZERO_AFTER};
    REFUSES(NULL, fpemu_quantize_tensor_f32(&f, &nearest, &shape, x, y, NULL));
    given = (fpemu_given){.scales = s, .reserved0[3] = 1};
    REFUSES(ARGUMENT, fpemu_pack_f32(&f, &nearest, &shape, x, y, NULL));
    ck_assert(y[0] == -7.0f);
}
END_TEST

int main(void)
{
    return RUN_SUITE("scales", NULL, wide_powers, refused, given_refused);
}
