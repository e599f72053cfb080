/* SPDX-License-Identifier: BSD-2-Clause */
/* lanes.h - the words of simd.h about masks that are lanes, all ones for yes; avx512.h says what each is. */
typedef simd_bits simd_mask;

SIMD_FN simd_mask simd_less(simd_real a, simd_real b)
{
    return (simd_mask)(a < b);
}

SIMD_FN simd_mask simd_at_most(simd_real a, simd_real b)
{
    return (simd_mask)(a <= b);
}

SIMD_FN simd_mask simd_differ(simd_real a, simd_real b)
{
    return (simd_mask)(a != b);
}

SIMD_FN simd_mask simd_not_less(simd_real a, simd_real b)
{
    return ~(simd_mask)(a < b);
}

SIMD_FN simd_mask simd_negative(simd_bits a)
{
    return (simd_mask)((simd_integers)a < 0);
}

SIMD_FN simd_mask simd_both(simd_mask a, simd_mask b)
{
    return a & b;
}

SIMD_FN simd_mask simd_either(simd_mask a, simd_mask b)
{
    return a | b;
}

SIMD_FN simd_real simd_keep(simd_mask m, simd_real a)
{
    return (simd_real)(m & (simd_bits)a);
}

SIMD_FN simd_bits simd_add_one_if(simd_mask m, simd_bits a)
{
    return a - m;
}

SIMD_FN simd_bits simd_less_one_if(simd_mask m, simd_bits a)
{
    return a + m;
}
