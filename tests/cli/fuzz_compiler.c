/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_compiler.c - the conversions of the compiler or the processor: FLOAT16, BFLOAT16, F16C or AVX512BF16. */
#include <stdint.h>
#include <string.h>

#ifdef FLOAT16
typedef _Float16 narrow;
#endif
#ifdef BFLOAT16
typedef __bf16 narrow;
#endif

#if defined(AVX512BF16)
#include <immintrin.h>

uint16_t from_float(float x)
{
    const __m128bh y = _mm_cvtneps_pbh(_mm_set_ss(x));
    uint16_t code;
    memcpy(&code, &y, sizeof code);
    return code;
}
#elif defined(F16C)
#include <immintrin.h>

uint16_t from_float(float x)
{
    return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}

uint16_t from_float_toward_zero(float x)
{
    return _cvtss_sh(x, _MM_FROUND_TO_ZERO);
}

float to_float(uint16_t code)
{
    return _cvtsh_ss(code);
}
#else
uint16_t from_float(float x)
{
    const narrow y = (narrow)x;
    uint16_t code;
    memcpy(&code, &y, sizeof code);
    return code;
}

uint16_t from_double(double x)
{
    const narrow y = (narrow)x;
    uint16_t code;
    memcpy(&code, &y, sizeof code);
    return code;
}

float to_float(uint16_t code)
{
    narrow x;
    memcpy(&x, &code, sizeof code);
    return (float)x;
}
#endif
