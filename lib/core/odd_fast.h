/* SPDX-License-Identifier: BSD-2-Clause */
/* odd_fast.h - one operation of a carrier, rounded to odd or to a side in that carrier: what exact.h makes of integers,
 * by the few instructions that a device has for it. A result is calculated twice, rounded down and rounded up: where the
 * two differ they are neighbours, and one of them is odd. That is the exact result rounded to odd, from the carrier's
 * smallest step to its largest number, which stands for all beyond it too; taken to a format of two bits less everywhere
 * it is the exact result taken there. Elsewhere by exact.h, so that tests of one hold the other. */
#ifndef FPEMU_CORE_ODD_FAST_H
#define FPEMU_CORE_ODD_FAST_H

#include "exact.h"

/* A binary64 number, itself perhaps rounded to odd, as binary32 rounds it to odd. */
FPEMU_FN float core_narrow_odd(double x)
{
    const float near = (float)x;
    const double error = x - (double)near; /* NaN of what is infinite; of what only becomes so, toward zero */
    const uint32_t u = core_bits32(near), past = (u >> 31) ^ (uint32_t)(error < 0);
    return error < 0 || error > 0 ? core_value32((u - past) | 1) : near;
}

/* The same, toward zero; finite. */
FPEMU_FN float core_narrow_cut(double x)
{
#if defined(__CUDA_ARCH__)
    return __double2float_rz(x);
#else
    const float near = (float)x;
    const double a = (double)near;
    return core_value32(core_bits32(near) - (uint32_t)(x < 0 ? a < x : a > x));
#endif
}

/* x * 2^-n, n >= 0. */
FPEMU_FN uint32_t core_shift_down(uint32_t x, uint32_t n)
{
#if defined(__CUDA_ARCH__)
    return __funnelshift_rc(x, 0, n);
#else
    return n > 31 ? 0 : x >> n;
#endif
}

#if defined(__CUDA_ARCH__)
/* Of zeros that cancel both are even, and the second has the sign. */
FPEMU_FN float core_the_odd32(float first, float second)
{
    return core_bits32(first) & 1 ? first : second;
}

FPEMU_FN double core_the_odd64(double first, double second)
{
    return __double2loint(first) & 1 ? first : second;
}

/* An operation, a constant, by the device's instructions for one type (f, d), rounded down (rd), up (ru), to the nearest
 * (rn) or toward zero (rz). */
#define CORE_DEVICE_OPERATION(name, real, type, fma, side)                                                             \
    FPEMU_FN real name(int operation, real a, real b, real c)                                                          \
    {                                                                                                                  \
        switch (operation) {                                                                                           \
        case FPEMU_OPERATION_ADD: return __##type##add_##side(a, b);                                                   \
        case FPEMU_OPERATION_SUB: return __##type##sub_##side(a, b);                                                   \
        case FPEMU_OPERATION_MUL: return __##type##mul_##side(a, b);                                                   \
        case FPEMU_OPERATION_DIV: return __##type##div_##side(a, b);                                                   \
        case FPEMU_OPERATION_SQRT: return __##type##sqrt_##side(a);                                                    \
        default: return __##fma##_##side(a, b, c);                                                                     \
        }                                                                                                              \
    }
CORE_DEVICE_OPERATION(core_rounded_down32, float, f, fmaf, rd)
CORE_DEVICE_OPERATION(core_rounded_up32, float, f, fmaf, ru)
CORE_DEVICE_OPERATION(core_rounded_down64, double, d, fma, rd)
CORE_DEVICE_OPERATION(core_rounded_up64, double, d, fma, ru)
CORE_DEVICE_OPERATION(core_near32, float, f, fmaf, rn)
CORE_DEVICE_OPERATION(core_near64, double, d, fma, rn)
CORE_DEVICE_OPERATION(core_cut64, double, d, fma, rz)
#undef CORE_DEVICE_OPERATION
#endif

/* The result of an operation, a constant, rounded to odd. down: zeros that cancel give -0. Quotients and roots are
 * rounded toward zero, with a remainder that is rounded up, and so is 0 only where it is; special values have none. */
FPEMU_FN float core_odd32(int operation, int down, float a, float b, float c)
{
#if defined(__CUDA_ARCH__)
    if (operation == FPEMU_OPERATION_DIV || operation == FPEMU_OPERATION_SQRT) {
        const int root = operation == FPEMU_OPERATION_SQRT;
        const float q = root ? __fsqrt_rz(a) : __fdiv_rz(a, b);
        const float rest = root ? __fmaf_ru(-q, q, a) : __fmaf_ru(-fabsf(q), fabsf(b), fabsf(a));
        return rest > 0 ? core_value32(core_bits32(q) | 1) : q;
    }
    const float below = core_rounded_down32(operation, a, b, c), above = core_rounded_up32(operation, a, b, c);
    return down ? core_the_odd32(above, below) : core_the_odd32(below, above);
#else
    const core_exact x = core_exact_result((fpemu_operation)operation, down ? FPEMU_MODE_RTN : FPEMU_MODE_RTO,
                                           core_bits64((double)a), core_bits64((double)b), core_bits64((double)c));
    return core_narrow_odd(core_value64(core_exact_binary64(&x, FPEMU_MODE_RTO)));
#endif
}

FPEMU_FN double core_odd64(int operation, int down, double a, double b, double c)
{
#if defined(__CUDA_ARCH__)
    if (operation == FPEMU_OPERATION_DIV || operation == FPEMU_OPERATION_SQRT) {
        const int root = operation == FPEMU_OPERATION_SQRT;
        const double q = root ? __dsqrt_rz(a) : __ddiv_rz(a, b);
        const double rest = root ? __fma_ru(-q, q, a) : __fma_ru(-fabs(q), fabs(b), fabs(a));
        return rest > 0 ? core_value64(core_bits64(q) | 1) : q;
    }
    const double below = core_rounded_down64(operation, a, b, c), above = core_rounded_up64(operation, a, b, c);
    return down ? core_the_odd64(above, below) : core_the_odd64(below, above);
#else
    const core_exact x = core_exact_result((fpemu_operation)operation, down ? FPEMU_MODE_RTN : FPEMU_MODE_RTO,
                                           core_bits64(a), core_bits64(b), core_bits64(c));
    return core_value64(core_exact_binary64(&x, FPEMU_MODE_RTO));
#endif
}

#if !defined(__CUDA_ARCH__)
/* The same, rounded to the nearest. */
FPEMU_FN float core_near32(int operation, float a, float b, float c)
{
    return (float)core_odd64(operation, 0, (double)a, (double)b, (double)c);
}

FPEMU_FN double core_near64(int operation, double a, double b, double c)
{
    const core_exact x =
        core_exact_result((fpemu_operation)operation, FPEMU_MODE_RNE, core_bits64(a), core_bits64(b), core_bits64(c));
    return core_value64(core_exact_binary64(&x, FPEMU_MODE_RNE));
}

/* The same, rounded toward zero. */
FPEMU_FN double core_cut64(int operation, double a, double b, double c)
{
    const core_exact x =
        core_exact_result((fpemu_operation)operation, FPEMU_MODE_RTZ, core_bits64(a), core_bits64(b), core_bits64(c));
    return core_value64(core_exact_binary64(&x, FPEMU_MODE_RTZ));
}
#endif

#endif /* FPEMU_CORE_ODD_FAST_H */
