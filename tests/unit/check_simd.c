/* SPDX-License-Identifier: BSD-2-Clause */
/* check_simd.c - every word of lib/simd against plain C, lane by lane. Compiled by simd.sh for each instruction set, and
 * for lanes of 32 (BITS) or 64 bits. */
#include "core/block_fast.h"
#if BITS == 32
#include "core/carrier32.h"
#else
#include "core/carrier64.h"
#endif
#define FMA(a, b, c) (BITS == 32 ? (double)fmaf((float)(a), (float)(b), (float)(c)) : fma(a, b, c))
#include "../common.h"
#include "simd/simd.h"
#include <fenv.h>

static unsigned failures;
static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any number, with specials, neighbours and small integers among them. */
static realw number(void)
{
    static const realw specials[] = {0, (realw)-0.0, INFINITY, -INFINITY, NAN, 1, -1, (realw)1.5};
    const uint64_t u = next();
    switch (u % 4) {
    case 0: return specials[u >> 8 & 7];
    case 1: return (realw)(int64_t)(u >> 8 & 63) - 32;
    default: return core_value((uintw)(u ^ u >> 29));
    }
}

static void see(const char *word, int lane, uintw got, uintw want)
{
    if (got != want && failures++ < 20)
        printf("FAILED %s, lane %d: %llx, not %llx\n", word, lane, (unsigned long long)got, (unsigned long long)want);
}

/* Compares an expression of vectors a, b, bits u, v and mask m with the same of their elements. */
#define SEE(word, of_vectors, of_lanes)                                                                                \
    do {                                                                                                               \
        const simd_bits got = (simd_bits)(of_vectors);                                                                 \
        for (int l = 0; l < SIMD_LANES; l++)                                                                           \
            see(word, l, ((const uintw *)&got)[l], (uintw)(of_lanes));                                                 \
    } while (0)
#define MASK(m) simd_keep(m, (simd_real)simd_all(1))

/* a * b + a. */
static realw rounded_fused(int direction, realw a, realw b)
{
    volatile realw x = a, y = b, result;
    fesetround(direction);
    result = BITS == 32 ? (realw)fmaf((float)x, (float)y, (float)x) : (realw)fma((double)x, (double)y, (double)x);
    fesetround(FE_TONEAREST);
    return result;
}

static realw rounded_sum(int side, realw a, realw b)
{
    volatile realw x = a, y = b, sum;
    fesetround(side == SIMD_UP ? FE_UPWARD : FE_DOWNWARD);
    sum = x + y;
    fesetround(FE_TONEAREST);
    return sum;
}

static uintw carries(realw z, uintw r)
{
    return (uint64_t)z + (r >> (BITS - 32)) > 0xffffffff;
}

static void once(void)
{
    realw A[SIMD_LANES], B[SIMD_LANES], Z[SIMD_LANES];
    uintw U[SIMD_LANES], S[SIMD_LANES], M[SIMD_LANES];
    uint32_t R[SIMD_LANES];
    uint16_t W[2 * SIMD_LANES], Y[2 * SIMD_LANES];
    simd_bits u, s, m;
    for (int l = 0; l < SIMD_LANES; l++) {
        A[l] = number();
        B[l] = l % 3 ? number() : A[l];
        U[l] = (uintw)next();
        S[l] = next() % (BITS + 4);
        M[l] = next() & 1 ? ~(uintw)0 : 0;
        R[l] = (uint32_t)next();
        Z[l] = (realw)(next() % 3 ? next() >> 32 : next() % 5) * (realw)0.75;
    }
    for (int l = 0; l < 2 * SIMD_LANES; l++)
        W[l] = (uint16_t)next() & 0x7bff; /* finite in both types */
    memcpy(&u, U, sizeof u);
    memcpy(&s, S, sizeof s);
    memcpy(&m, M, sizeof m);
    const simd_real a = simd_load(A), b = simd_load(B), z = simd_load(Z);
    const simd_mask mask = simd_negative(m);
    simd_real stored;
    simd_store(&stored, a);
    SEE("store", stored, core_bits(A[l]));
    SEE("all", simd_all(U[1]), U[1]);
    SEE("all_real", simd_all_real(A[0]), core_bits(A[0]));
    SEE("magnitude", simd_magnitude(a), core_bits(A[l]) & ~CARRIER_SIGN);
    SEE("min", simd_min(a, b), core_bits(A[l] < B[l] ? A[l] : B[l]));
    SEE("max", simd_max(a, b), core_bits(A[l] > B[l] ? A[l] : B[l]));
    SEE("min_magnitude", simd_keep(simd_at_most(a, a), simd_min_magnitude(a, z)),
        A[l] == A[l] ? core_bits(fabs((double)A[l]) < (double)Z[l] ? A[l] : Z[l]) & ~CARRIER_SIGN : 0);
    SEE("less", MASK(simd_less(a, b)), A[l] < B[l]);
    SEE("at_most", MASK(simd_at_most(a, b)), A[l] <= B[l]);
    SEE("not_less", MASK(simd_not_less(a, b)), !(A[l] < B[l]));
    SEE("differ", MASK(simd_differ(a, b)), A[l] != B[l]);
    SEE("negative", MASK(simd_negative(u)), U[l] >> (BITS - 1));
    SEE("both", MASK(simd_both(mask, simd_negative(u))), (M[l] & U[l]) >> (BITS - 1));
    SEE("either", MASK(simd_either(mask, simd_negative(u))), (M[l] | U[l]) >> (BITS - 1));
    SEE("select", simd_select(mask, a, b), core_bits(M[l] ? A[l] : B[l]));
    SEE("keep", simd_keep(mask, a), M[l] ? core_bits(A[l]) : 0);
    SEE("add_one_if", simd_add_one_if(mask, u), U[l] + (M[l] & 1));
    SEE("less_one_if", simd_less_one_if(mask, u), U[l] - (M[l] & 1));
    SEE("shift_right", simd_shift_right(u, s), S[l] < BITS ? U[l] >> S[l] : 0);
    SEE("load_random", simd_load_random(R), (uintw)R[l] << (BITS - 32));
    SEE("random", simd_random(simd_load_random(R)), core_bits((realw)(R[l] >> (32 - SIMD_RANDOM_BITS))));
    for (int l = 0; l < SIMD_LANES; l++)
        A[l] = (realw)(int64_t)(next() >> 32 & 0x1fff) / 64 - 60, B[l] = (realw)(int64_t)(next() >> 44) / 4 - 99999;
    SEE("cut", simd_cut(simd_load(A)) + 0, core_bits((realw)(int64_t)A[l]));
    SEE("floor", simd_floor(simd_load(A)) + 0, core_bits((realw)floor((double)A[l])));
    SEE("floor", simd_floor(simd_load(B)) + 0, core_bits((realw)floor((double)B[l])));
    for (int l = 0; l < SIMD_LANES; l++)
        A[l] = (realw)(int64_t)next(), B[l] = (realw)(int64_t)next();
    SEE("fused", simd_fused(simd_load(A), simd_load(B), -simd_load(A) * simd_load(B)),
        core_bits(SIMD_HAS_FUSED ? (realw)FMA(A[l], B[l], -(A[l] * B[l])) : 0));
    for (size_t size = 1; size <= 4; size *= 2) {
        unsigned char codes[4 * SIMD_LANES];
        const simd_bits few = u & (uintw)((UINT64_C(1) << 8 * size) - 1);
        simd_store_codes(codes, size, few);
        for (int l = 0; l < SIMD_LANES; l++) {
            uint32_t code = 0;
            memcpy(&code, codes + (size_t)l * size, size);
            see("store_codes", l, code, few[l]);
        }
    }
    SEE("carries", MASK(simd_carries(z, simd_load_random(R))), carries(Z[l], (uintw)R[l] << (BITS - 32)));
    realw T[32];
    simd_bits at;
    for (int l = 0; l < 32; l++)
        T[l] = number();
    for (int l = 0; l < SIMD_LANES; l++)
        ((uintw *)&at)[l] = U[l] & 31;
    SEE("gather", simd_gather(T, at), core_bits(T[U[l] & 31]));
#if SIMD_HAS_LOOK_UP
    simd_real numbers[16 / SIMD_LANES];
    memcpy(numbers, T, sizeof numbers);
    SEE("look_up_16", simd_look_up_16(numbers, u), core_bits(T[U[l] & 15]));
#if SIMD_HAS_LOOK_UP_32
    uint32_t I[32];
    simd_bits integers[2];
    for (int l = 0; l < 32; l++)
        I[l] = (uint32_t)next();
    memcpy(integers, I, sizeof integers);
    SEE("look_up_32", simd_look_up_32(integers, u), I[U[l] & 31]);
#else
    SEE("look_up_8", simd_look_up_8(numbers[0], u), core_bits(T[U[l] & 7]));
#endif
#endif
    uintw any = 0;
    for (int l = 0; l < SIMD_LANES; l++)
        any |= M[l];
    see("any", 0, (uintw)simd_any(mask), any != 0);
#if SIMD_HAS_SIDES
    for (int l = 0; l < SIMD_LANES; l++)
        A[l] = Z[l] - (realw)R[l], B[l] = (realw)next();
    const simd_real c = simd_load(A), d = simd_load(B);
    SEE("add_toward up", simd_add_toward(SIMD_UP, c, d), core_bits(rounded_sum(SIMD_UP, A[l], B[l])));
    SEE("add_toward down", simd_add_toward(SIMD_DOWN, c, d), core_bits(rounded_sum(SIMD_DOWN, A[l], B[l])));
    SEE("fused_toward up", simd_fused_toward(SIMD_UP, c, d, c), core_bits(rounded_fused(FE_UPWARD, A[l], B[l])));
    SEE("fused_toward down", simd_fused_toward(SIMD_DOWN, c, d, c), core_bits(rounded_fused(FE_DOWNWARD, A[l], B[l])));
#endif
#if BITS == 32
    simd_bits four[4];
    uint8_t from[4 * SIMD_LANES], to[4 * SIMD_LANES];
    memcpy(from, W, 2 * SIMD_LANES);
    memcpy(from + 2 * SIMD_LANES, R, 2 * SIMD_LANES);
    simd_load_bytes(from, four);
    for (int k = 0; k < 4; k++) {
        SEE("load_bytes", four[k], from[k * SIMD_LANES + l]);
        four[k] = (four[k] | u << 8) + s; /* bytes below others */
    }
    simd_store_bytes(to, four);
    for (int l = 0; l < 4 * SIMD_LANES; l++)
        see("store_bytes", l, to[l], (uint8_t)(from[l] + S[l % SIMD_LANES]));
#if SIMD_HAS_F16
    simd_real even, odd;
    SEE("load_f16", simd_load_f16(W), core_from_f16(W[l]));
    SEE("load_bf16", simd_load_bf16(W), (uint32_t)W[l] << 16);
    simd_store_f16(Y, simd_load_f16(W));
    simd_store_bf16(Y + SIMD_LANES, simd_load_bf16(W));
    simd_load_bf16_pair(W, &even, &odd);
    SEE("bf16_pair", even, (uint32_t)W[2 * l] << 16);
    SEE("bf16_pair", odd, (uint32_t)W[2 * l + 1] << 16);
    for (int l = 0; l < SIMD_LANES; l++) {
        see("store_f16", l, Y[l], W[l]);
        see("store_bf16", l, Y[SIMD_LANES + l], W[l]);
    }
    simd_store_bf16_pair(Y, even, odd);
    for (int l = 0; l < 2 * SIMD_LANES; l++)
        see("store_bf16_pair", l, Y[l], W[l]);
    for (int l = 0; l < SIMD_LANES; l++)
        A[l] = (float)((double)next() / 0x1p64 * 60000); /* finite in binary16 */
    SEE("through_f16", simd_through_f16(simd_load(A)), core_from_f16(core_to_f16(core_bits(A[l]))));
#endif
#endif
    (void)Y;
    (void)W;
}

int main(void)
{
    for (int i = 0; i < 100000; i++)
        once();
    printf("check_simd: %d lanes of %d bits, %u failed\n", SIMD_LANES, BITS, failures);
    return failures != 0;
}
