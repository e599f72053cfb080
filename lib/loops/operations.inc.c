/* SPDX-License-Identifier: BSD-2-Clause */
/* operations.inc.c - operations on numbers of one carrier in that carrier, rounded to odd; included by variant.inc.c for
 * each. A result is calculated twice, rounded down and rounded up: where the two differ they are neighbours, and one of
 * them is odd. That is the exact result rounded to odd, from the carrier's smallest step to its largest number, which
 * stands for all beyond it too. Rounded to a format that has two bits less everywhere, it is the exact one rounded. Of
 * zeros that cancel both are even, and the second has the sign.
 *
 * AVX-512 has the side in each instruction. Elsewhere the processor is told, once for all elements; the loops stand in
 * functions of their own, so that nothing can leave the bracket. */

#ifdef __AVX512F__
#if CARRIER_BITS == 32
#define ODD_VECTOR __m512
#define ODD_FLOATS(verb) _mm512_##verb##_ps
#define ODD_IN(x) _mm512_test_epi32_mask(_mm512_castps_si512(x), _mm512_set1_epi32(1))
#define ODD_PAST(x, y) _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ)
#define ODD_LAST_BIT _mm512_castsi512_ps(_mm512_set1_epi32(1))
#else
#define ODD_VECTOR __m512d
#define ODD_FLOATS(verb) _mm512_##verb##_pd
#define ODD_IN(x) _mm512_test_epi64_mask(_mm512_castpd_si512(x), _mm512_set1_epi64(1))
#define ODD_PAST(x, y) _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ)
#define ODD_LAST_BIT _mm512_castsi512_pd(_mm512_set1_epi64(1))
#endif
#define ODD_HOLDS 1
#define ODD_FUSES 1
#define ODD_TO(side) (_MM_FROUND_TO_##side | _MM_FROUND_NO_EXC)
#define ODD_LANES (sizeof(ODD_VECTOR) / sizeof(realw))
#define ODD_SAMPLES 2 /* vectors that are looked at */

FPEMU_FN ODD_VECTOR CARRIER(odd_of)(ODD_VECTOR first, ODD_VECTOR second)
{
    return ODD_FLOATS(mask_mov)(second, ODD_IN(first), first);
}

/* Of a quotient or root that is rounded toward zero, with a remainder that is rounded up and so is 0 only where it is.
 * Special values have none: infinity and NaN make it a NaN. */
FPEMU_FN ODD_VECTOR CARRIER(odd_from)(ODD_VECTOR q, ODD_VECTOR rest)
{
    const ODD_VECTOR zero = ODD_FLOATS(setzero)();
    return ODD_FLOATS(mask_or)(q, ODD_PAST(rest, zero), q, ODD_LAST_BIT);
}

FPEMU_FN ODD_VECTOR CARRIER(odd_quotient)(ODD_VECTOR x, ODD_VECTOR y)
{
    const ODD_VECTOR a = ODD_FLOATS(abs)(x), b = ODD_FLOATS(abs)(y), q = ODD_FLOATS(div_round)(a, b, ODD_TO(ZERO));
    const ODD_VECTOR sign = ODD_FLOATS(and)(ODD_FLOATS(xor)(x, y), ODD_FLOATS(set1)((realw)-0.0));
    return ODD_FLOATS(or)(CARRIER(odd_from)(q, ODD_FLOATS(fnmadd_round)(q, b, a, ODD_TO(POS_INF))), sign);
}

FPEMU_FN ODD_VECTOR CARRIER(odd_root)(ODD_VECTOR x)
{
    const ODD_VECTOR q = ODD_FLOATS(sqrt_round)(x, ODD_TO(ZERO));
    return CARRIER(odd_from)(q, ODD_FLOATS(fnmadd_round)(q, q, x, ODD_TO(POS_INF)));
}

/* The same of any binades: the processor takes long where an operand, a quotient or a remainder is subnormal. So these
 * are of the numbers from 1 to 2 that stand before the powers of two. A quotient that is cut at the carrier's smallest
 * step, or stops at its largest number, is taken back for its remainder; of zeros and infinities that is a NaN. */
FPEMU_FN ODD_VECTOR CARRIER(odd_quotient_far)(ODD_VECTOR x, ODD_VECTOR y)
{
    const ODD_VECTOR a = ODD_FLOATS(getmant)(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    const ODD_VECTOR b = ODD_FLOATS(getmant)(y, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    const ODD_VECTOR m = ODD_FLOATS(getexp)(x), n = ODD_FLOATS(getexp)(y);
    const ODD_VECTOR q = ODD_FLOATS(div_round)(a, b, ODD_TO(ZERO));
    const ODD_VECTOR kept = ODD_FLOATS(scalef_round)(q, ODD_FLOATS(sub)(m, n), ODD_TO(ZERO));
    const ODD_VECTOR back = ODD_FLOATS(scalef)(kept, ODD_FLOATS(sub)(n, m));
    const ODD_VECTOR sign = ODD_FLOATS(and)(ODD_FLOATS(xor)(x, y), ODD_FLOATS(set1)((realw)-0.0));
    return ODD_FLOATS(or)(CARRIER(odd_from)(kept, ODD_FLOATS(fnmadd_round)(back, b, a, ODD_TO(POS_INF))), sign);
}

/* By numbers from 1/2 to 2 that stand before even powers of two. What is scaled goes by the integer below. */
FPEMU_FN ODD_VECTOR CARRIER(odd_root_far)(ODD_VECTOR x)
{
    const ODD_VECTOR half = ODD_FLOATS(set1)((realw)0.5);
    const ODD_VECTOR power = ODD_FLOATS(fmadd)(ODD_FLOATS(getexp)(x), half, half);
    const ODD_VECTOR a = ODD_FLOATS(getmant)(x, _MM_MANT_NORM_p5_2, _MM_MANT_SIGN_zero);
    const ODD_VECTOR root = ODD_FLOATS(scalef)(CARRIER(odd_root)(a), power), zero = ODD_FLOATS(setzero)();
    const ODD_VECTOR sign = ODD_FLOATS(and)(x, ODD_FLOATS(set1)((realw)-0.0));
    const ODD_VECTOR nan = ODD_FLOATS(set1)(core_value(CARRIER_INF | CARRIER_INF >> 1));
    return ODD_FLOATS(mask_mov)(ODD_FLOATS(or)(root, sign), ODD_PAST(zero, x), nan);
}

/* Whether the first of n numbers are so far from the carrier's ends that quotients and remainders are too, or
 * are 0, infinite or NaN; at_most: none is too large. */
static int CARRIER(odd_is_near)(size_t n, const realw *a, int at_most)
{
    const uintw far = CARRIER_BIAS / 2 - 3, infinity = CARRIER_INF;
    const ODD_VECTOR zero = ODD_FLOATS(setzero)(), end = ODD_FLOATS(set1)(core_value(infinity));
    const ODD_VECTOR least = ODD_FLOATS(set1)(core_value((CARRIER_BIAS - far) << CARRIER_MANTISSA));
    const ODD_VECTOR most = at_most ? ODD_FLOATS(set1)(core_value((CARRIER_BIAS + far) << CARRIER_MANTISSA)) : end;
    int away = 0;
    for (size_t k = 0; k < ODD_SAMPLES && n >= ODD_LANES * ODD_SAMPLES; k++) {
        const ODD_VECTOR x = ODD_FLOATS(abs)(ODD_FLOATS(loadu)(a + k * ODD_LANES));
        away |= (ODD_PAST(x, zero) & ODD_PAST(least, x)) | (ODD_PAST(x, most) & ODD_PAST(end, x));
    }
    return !away;
}

#define ODD_ADD(side) ODD_FLOATS(add_round)(x, y, side)
#define ODD_SUB(side) ODD_FLOATS(sub_round)(x, y, side)
#define ODD_MUL(side) ODD_FLOATS(mul_round)(x, y, side)
#define ODD_FMA(side) ODD_FLOATS(fmadd_round)(x, y, z, side)
#define ODD_ARRAYS(name, result)                                                                                       \
    FPEMU_FN void CARRIER(odd_step_##name)(const realw *a, const realw *b, const realw *c, realw *odd)                 \
    {                                                                                                                  \
        const ODD_VECTOR x = ODD_FLOATS(loadu)(a), y = ODD_FLOATS(loadu)(b), z = ODD_FLOATS(loadu)(c);                 \
        (void)y;                                                                                                       \
        (void)z;                                                                                                       \
        ODD_FLOATS(storeu)(odd, result);                                                                               \
    }                                                                                                                  \
    static void CARRIER(odd_##name)(size_t n, const realw *a, const realw *b, const realw *c, realw *odd)              \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; n - i >= ODD_LANES; i += ODD_LANES)                                                                     \
            CARRIER(odd_step_##name)(a + i, b + i, c + i, odd + i);                                                    \
        if (i < n) {                                                                                                   \
            realw rest[4][ODD_LANES] = {{0}};                                                                          \
            const realw *const from[] = {a, b, c};                                                                     \
            for (int o = 0; o < 3; o++)                                                                                \
                memcpy(rest[o], from[o] + i, (n - i) * sizeof(realw));                                                 \
            CARRIER(odd_step_##name)(rest[0], rest[1], rest[2], rest[3]);                                              \
            memcpy(odd + i, rest[3], (n - i) * sizeof(realw));                                                         \
        }                                                                                                              \
    }
/* In one loop, and in those of sums, which cancel: first down, but first up for FPEMU_MODE_RTN. */
#define ODD_LOOP(name, operation) ODD_ARRAYS(name, operation)
#define ODD_SUMS(name, operation)                                                                                      \
    ODD_ARRAYS(name, CARRIER(odd_of)(operation(ODD_TO(NEG_INF)), operation(ODD_TO(POS_INF))))                          \
    ODD_ARRAYS(name##_downward, CARRIER(odd_of)(operation(ODD_TO(POS_INF)), operation(ODD_TO(NEG_INF))))
#define ODD_PRODUCT CARRIER(odd_of)(ODD_MUL(ODD_TO(NEG_INF)), ODD_MUL(ODD_TO(POS_INF)))
#else
#ifdef __SSE2__
#define ODD_HOLDS 1
#define ODD_DOWN _MM_ROUND_DOWN
#define ODD_UP _MM_ROUND_UP
#define ODD_BEFORE const unsigned before = _mm_getcsr()
#define ODD_TELL(side) _mm_setcsr(before | (side))
#define ODD_AGAIN _mm_setcsr(before)
#elif defined(FE_DOWNWARD) && defined(FE_UPWARD)
#define ODD_HOLDS 1
#define ODD_DOWN FE_DOWNWARD
#define ODD_UP FE_UPWARD
#define ODD_BEFORE const int before = fegetround()
#define ODD_TELL(side) (void)fesetround(side)
#define ODD_AGAIN (void)fesetround(before)
#else
#define ODD_HOLDS 0
#endif
#ifdef __FMA__
#define ODD_FUSES ODD_HOLDS
#else
#define ODD_FUSES 0
#endif
#define ODD_ADD a[i] + b[i]
#define ODD_SUB a[i] - b[i]
#define ODD_MUL a[i] * b[i]
#define ODD_DIV a[i] / b[i]
#if CARRIER_BITS == 32
#define ODD_SQRT __builtin_sqrtf(a[i])
#define ODD_FMA __builtin_fmaf(a[i], b[i], c[i])
#else
#define ODD_SQRT __builtin_sqrt(a[i])
#define ODD_FMA __builtin_fma(a[i], b[i], c[i])
#endif
#define ODD_SIDES(name, pair, first_side, second_side)                                                                 \
    static void CARRIER(odd_##name)(size_t n, const realw *a, const realw *b, const realw *c, realw *odd)              \
    {                                                                                                                  \
        realw first[TILE];                                                                                             \
        ODD_BEFORE;                                                                                                    \
        for (size_t i = 0, m; i < n; i += m) {                                                                         \
            m = n - i < TILE ? n - i : TILE;                                                                           \
            ODD_TELL(first_side);                                                                                      \
            CARRIER(odd_first_##pair)(m, a + i, b + i, c + i, first);                                                  \
            ODD_TELL(second_side);                                                                                     \
            CARRIER(odd_second_##pair)(m, a + i, b + i, c + i, first, odd + i);                                        \
            ODD_AGAIN;                                                                                                 \
        }                                                                                                              \
    }
#define ODD_PAIR(name, operation)                                                                                      \
    static __attribute__((noinline)) void CARRIER(odd_first_##name)(size_t n, const realw *a, const realw *b,          \
                                                                    const realw *c, realw *first)                      \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        SIMD for (size_t i = 0; i < n; i++)                                                                            \
            first[i] = operation;                                                                                      \
    }                                                                                                                  \
    static __attribute__((noinline)) void CARRIER(odd_second_##name)(size_t n, const realw *a, const realw *b,         \
                                                                     const realw *c, const realw *first, realw *odd)   \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        (void)c;                                                                                                       \
        SIMD for (size_t i = 0; i < n; i++) {                                                                          \
            const realw second = operation;                                                                            \
            odd[i] = core_bits(first[i]) & 1 ? first[i] : second;                                                      \
        }                                                                                                              \
    }
#if ODD_HOLDS
#define ODD_LOOP(name, operation) ODD_PAIR(name, operation) ODD_SIDES(name, name, ODD_DOWN, ODD_UP)
#define ODD_SUMS(name, operation) ODD_LOOP(name, operation) ODD_SIDES(name##_downward, name, ODD_UP, ODD_DOWN)
#else
#define ODD_LOOP(name, operation)
#define ODD_SUMS(name, operation)
#endif
#define ODD_PRODUCT ODD_MUL
#endif

ODD_SUMS(add, ODD_ADD)
ODD_SUMS(sub, ODD_SUB)
ODD_LOOP(mul, ODD_PRODUCT)
#ifdef __AVX512F__
ODD_ARRAYS(div_near, CARRIER(odd_quotient)(x, y))
ODD_ARRAYS(div_far, CARRIER(odd_quotient_far)(x, y))
ODD_ARRAYS(sqrt_near, CARRIER(odd_root)(x))
ODD_ARRAYS(sqrt_far, CARRIER(odd_root_far)(x))

static void CARRIER(odd_div)(size_t n, const realw *a, const realw *b, const realw *c, realw *odd)
{
    const int near = CARRIER(odd_is_near)(n, a, 1) && CARRIER(odd_is_near)(n, b, 1);
    (near ? CARRIER(odd_div_near) : CARRIER(odd_div_far))(n, a, b, c, odd);
}

static void CARRIER(odd_sqrt)(size_t n, const realw *a, const realw *b, const realw *c, realw *odd)
{
    (CARRIER(odd_is_near)(n, a, 0) ? CARRIER(odd_sqrt_near) : CARRIER(odd_sqrt_far))(n, a, b, c, odd);
}
#else
ODD_LOOP(div, ODD_DIV)
ODD_LOOP(sqrt, ODD_SQRT)
#endif
#if ODD_FUSES
ODD_SUMS(fma, ODD_FMA)
#endif

#undef ODD_TABLE
#if ODD_HOLDS
#define ODD_ROW(last, downward)                                                                                        \
    {[FPEMU_OPERATION_ADD] = CARRIER(odd_add##downward), [FPEMU_OPERATION_SUB] = CARRIER(odd_sub##downward),           \
     [FPEMU_OPERATION_MUL] = CARRIER(odd_mul),           [FPEMU_OPERATION_DIV] = CARRIER(odd_div),                     \
     [FPEMU_OPERATION_SQRT] = CARRIER(odd_sqrt),         last(downward)}
#if ODD_FUSES
#define ODD_LAST(downward) [FPEMU_OPERATION_FMA] = CARRIER(odd_fma##downward)
#else
#define ODD_LAST(downward)
#endif
#define ODD_TABLE {ODD_ROW(ODD_LAST, ), ODD_ROW(ODD_LAST, _downward)}
#else
#define ODD_TABLE                                                                                                      \
    {                                                                                                                  \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#endif
#undef ODD_VECTOR
#undef ODD_FLOATS
#undef ODD_IN
#undef ODD_PAST
#undef ODD_LAST_BIT
#undef ODD_TO
#undef ODD_LANES
#undef ODD_SAMPLES
#undef ODD_HOLDS
#undef ODD_FUSES
#undef ODD_DOWN
#undef ODD_UP
#undef ODD_BEFORE
#undef ODD_TELL
#undef ODD_AGAIN
#undef ODD_ADD
#undef ODD_SUB
#undef ODD_MUL
#undef ODD_DIV
#undef ODD_SQRT
#undef ODD_FMA
#undef ODD_PRODUCT
#undef ODD_ARRAYS
#undef ODD_SIDES
#undef ODD_PAIR
#undef ODD_SUMS
#undef ODD_LOOP
