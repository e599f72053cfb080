/* SPDX-License-Identifier: BSD-2-Clause */
/* matrix_units.c - the models of Intel's matrix units against the processor itself, wherever it has them: AVX512-BF16,
 * AMX-BF16, AMX-FP16, AMX-INT8. Results are compared bit by bit, NaN with NaN. Skipped elsewhere. */
#define _GNU_SOURCE /* syscall */

#if defined __x86_64__ && defined __linux__ && (defined __clang__ ? __clang_major__ >= 12 : __GNUC__ >= 11)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../judges/longhand.h"

enum { ROWS = 16, DEPTH = 96, TILES = 2100 };

/* Operands of a 16 x 16 product as numbers and as the unit has them: op(A) by rows, op(B) by columns. */
static float a[ROWS][DEPTH], b[ROWS][DEPTH], c[ROWS][ROWS], got[ROWS][ROWS], want[ROWS][ROWS];
static uint16_t a16[ROWS][DEPTH], b16[ROWS][DEPTH];
static uint64_t state = 88172645463325252u;
static int units; /* that the processor has */

static uint32_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Kinds of operands, 16 bits with 5 or 8 of exponent, and of c: */
enum { ANY_BITS, MODERATE, SMALL, LARGE, SPECIAL, CANCEL, TINY_STEPS, KINDS };

static uint16_t draw_half(int kind, int fraction)
{
    const uint32_t u = draw(), sign = u >> 16 & 0x8000, low = u & ((1u << fraction) - 1), wide = fraction == 7;
    const uint32_t bias = wide ? 127 : 15, infinite = (2 * bias + 1) << fraction;
    const uint32_t special[] = {
        0, 1, infinite, infinite | low | 1, low, infinite - 1, 1u << fraction, bias << fraction};
    switch (kind) {
    case ANY_BITS: return (uint16_t)u;
    case SMALL: return (uint16_t)(sign | (wide ? 60 + (u >> 8) % 10 : (u >> 8) % 3) << fraction | low);
    case LARGE: return (uint16_t)(sign | (wide ? 186 + (u >> 8) % 8 : 28 + (u >> 8) % 3) << fraction | low);
    case SPECIAL: return (uint16_t)(sign | special[u >> 8 & 31 ? 4 + (u >> 13 & 3) : u >> 13 & 7]);
    case TINY_STEPS: return (uint16_t)(sign | (wide ? 50 + (u >> 8) % 4 : 1) << fraction | low);
    default: return (uint16_t)(sign | (bias - 4 + (u >> 8) % 8) << fraction | low);
    }
}

static float draw_c(int kind)
{
    const uint32_t u = draw(), sign = u & 0x80000000u, low = u & 0x7fffff;
    switch (kind) {
    case ANY_BITS: return lh_float(u);
    case SMALL: return lh_float(sign | (draw() % 4) << 23 | low);
    case TINY_STEPS: return lh_float(sign | 1u << 23 | (low & 3)); /* next to the smallest normal number */
    case LARGE: return lh_float(sign | (250 + draw() % 5) << 23 | low);
    case SPECIAL:
        return draw() % 8 ? lh_float(sign | (draw() & 1 ? low : 0)) : lh_float(sign | 0x7f800000u | (low & 1));
    case CANCEL: return ldexpf((float)(int32_t)(u >> 8) - 0x1p23f, -20);
    default: return ldexpf((float)(int32_t)(u >> 8) - 0x1p23f, -21);
    }
}

static float value_of(uint16_t u, int fraction)
{
    if (fraction == 7)
        return lh_float((uint32_t)u << 16);
    const int e = u >> 10 & 31, m = u & 1023;
    const float x = e == 31 ? m ? NAN : INFINITY : ldexpf((float)(e ? m | 1024 : m), (e ? e : 1) - 25);
    return u & 0x8000 ? -x : x;
}

static void draw_product(int kind, int fraction, int depth)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < depth; k++) {
            a16[i][k] = draw_half(kind, fraction);
            b16[i][k] = draw_half(kind, fraction);
            if (kind == CANCEL && k >= 2 && draw() & 1) { /* what was added two products before is taken away */
                a16[i][k] = a16[i][k - 2] ^ 0x8000;
                b16[i][k] = b16[i][k - 2];
            }
            a[i][k] = value_of(a16[i][k], fraction);
            b[i][k] = value_of(b16[i][k], fraction);
        }
    for (int i = 0; i < ROWS * ROWS; i++)
        c[i / ROWS][i % ROWS] = draw_c(kind);
}

/* The model's products beside `got`. */
static void compare(const char *text, int kind, int depth)
{
    fpemu_gemm_spec spec;
    const fpemu_gemm_shape shape = {
        .m = ROWS, .n = ROWS, .k = (uint64_t)depth, .lda = DEPTH, .ldb = DEPTH, .transpose_b = 1};
    memcpy(want, c, sizeof want);
    lh_check(fpemu_gemm_parse(text, &spec, NULL) == FPEMU_OK, "%s: not read", text);
    lh_check(fpemu_gemm_f32(&spec, &shape, 1, a[0], b[0], 1, want[0], NULL) == FPEMU_OK, "%s: refused", text);
    for (int i = 0; i < ROWS * ROWS; i++) {
        const float x = got[i / ROWS][i % ROWS], y = want[i / ROWS][i % ROWS];
        const int same = memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
        lh_check(same, "%s, kind %d, %d products, from %a: %a, the processor %a", text, kind, depth,
                 (double)c[i / ROWS][i % ROWS], (double)y, (double)x);
    }
}

__attribute__((target("avx512f,avx512bf16"))) static void by_avx512(int depth)
{
    for (int i = 0; i < ROWS; i++) {
        __m512 sum = _mm512_loadu_ps(c[i]);
        for (int k = 0; k < depth; k += 2) {
            uint16_t x[32], y[32];
            for (int j = 0; j < 32; j++) {
                x[j] = a16[i][k + j % 2];
                y[j] = b16[j / 2][k + j % 2];
            }
            sum = _mm512_dpbf16_ps(sum, (__m512bh)_mm512_loadu_si512(x), (__m512bh)_mm512_loadu_si512(y));
        }
        _mm512_storeu_ps(got[i], sum);
    }
}

/* Tile 0: 16 rows of 16 results. 1: 16 rows of `bytes`; 2: as many bytes of each column, four a row. */
typedef struct __attribute__((packed)) tiles {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tiles;

static tiles tiles_of(int bytes)
{
    tiles t = {.palette = 1, .bytes = {64, (uint16_t)bytes, 64}, .rows = {ROWS, ROWS, (uint8_t)(bytes / 4)}};
    return t;
}

/* Bytes [from, from + bytes) of each line, as the third tile has them. */
static void interleave(const void *lines, size_t stride, size_t from, int bytes, uint8_t to[16][64])
{
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < bytes; i++)
            to[i / 4][4 * j + i % 4] = ((const uint8_t *)lines)[(size_t)j * stride + from + (size_t)i];
}

#define BY_AMX(name, feature, instruction)                                                                             \
    __attribute__((target("amx-tile," feature))) static void name(const void *x, const void *y, size_t stride,         \
                                                                  int size, void *sums)                                \
    {                                                                                                                  \
        uint8_t third[16][64];                                                                                         \
        for (int from = 0, bytes; from < size; from += bytes) {                                                        \
            bytes = size - from < 64 ? size - from : 64;                                                               \
            const tiles t = tiles_of(bytes);                                                                           \
            interleave(y, stride, (size_t)from, bytes, third);                                                         \
            _tile_loadconfig(&t);                                                                                      \
            _tile_loadd(0, sums, 64);                                                                                  \
            _tile_loadd(1, (const uint8_t *)x + from, stride);                                                         \
            _tile_loadd(2, third, 64);                                                                                 \
            instruction(0, 1, 2);                                                                                      \
            _tile_stored(0, sums, 64);                                                                                 \
            _tile_release();                                                                                           \
        }                                                                                                              \
    }
BY_AMX(by_amx_bf16, "amx-bf16", _tile_dpbf16ps)
#if defined __clang__ ? __clang_major__ >= 16 : __GNUC__ >= 13
#define HAS_FP16
BY_AMX(by_amx_fp16, "amx-fp16", _tile_dpfp16ps)
#endif
BY_AMX(by_amx_ss, "amx-int8", _tile_dpbssd)
BY_AMX(by_amx_su, "amx-int8", _tile_dpbsud)
BY_AMX(by_amx_us, "amx-int8", _tile_dpbusd)
BY_AMX(by_amx_uu, "amx-int8", _tile_dpbuud)

static void check_floats(const char *text, int fraction, void (*amx)(const void *, const void *, size_t, int, void *))
{
    for (int t = 0; t < TILES; t++) {
        const int kind = t % KINDS, depth = t % 3 == 0 ? DEPTH : 2 + (int)(draw() % (DEPTH / 2 - 1)) * 2;
        draw_product(kind, fraction, depth);
        memcpy(got, c, sizeof got);
        if (amx)
            amx(a16, b16, sizeof a16[0], 2 * depth, got);
        else
            by_avx512(depth);
        compare(text, kind, depth);
    }
    printf("%s: %d results of the processor\n", text, TILES * ROWS * ROWS);
    units++;
}

static void check_integers(const char *text, int is_signed,
                           void (*amx)(const void *, const void *, size_t, int, void *))
{
    static uint8_t x[ROWS][2 * DEPTH], y[ROWS][2 * DEPTH];
    static double left[ROWS][2 * DEPTH], right[ROWS][2 * DEPTH], sum[ROWS][ROWS];
    static int32_t whole[ROWS][ROWS];
    const fpemu_gemm_shape shape = {.m = ROWS, .n = ROWS, .k = 2 * DEPTH, .transpose_b = 1};
    fpemu_gemm_spec spec;
    lh_check(fpemu_gemm_parse(text, &spec, NULL) == FPEMU_OK, "%s: not read", text);
    for (int t = 0; t < TILES / 10; t++) {
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < 2 * DEPTH; k++) {
                const uint8_t u = x[i][k] = (uint8_t)(t % 2 ? draw() >> 8 : 128 + draw() % 2);
                const uint8_t v = y[i][k] = (uint8_t)(t % 2 ? draw() >> 8 : 128 + draw() % 2);
                left[i][k] = is_signed & 1 ? (double)(int8_t)u : (double)u;
                right[i][k] = is_signed & 2 ? (double)(int8_t)v : (double)v;
            }
        memset(whole, 0, sizeof whole);
        amx(x, y, sizeof x[0], 2 * DEPTH, whole);
        lh_check(fpemu_gemm_f64(&spec, &shape, 1, left[0], right[0], 0, sum[0], NULL) == FPEMU_OK, "%s: refused", text);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                lh_check(sum[i][j] == (double)whole[i][j], "%s: %g, not %d", text, sum[i][j], whole[i][j]);
    }
    units++;
}

int main(void)
{
    enum { ASK_FOR_TILES = 0x1023, TILE_DATA = 18 };
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0, more = 0, rest[3];
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        __get_cpuid_count(7, 1, &more, rest, rest + 1, rest + 2);
    if (__builtin_cpu_supports("avx512f") && more >> 5 & 1)
        check_floats("tc(avx512,bf16); start=c", 7, NULL);
    const int tile = edx >> 24 & 1 && syscall(SYS_arch_prctl, ASK_FOR_TILES, TILE_DATA) == 0;
    if (tile && edx >> 22 & 1)
        check_floats("tc(amx,bf16); start=c", 7, by_amx_bf16);
#ifdef HAS_FP16
    if (tile && more >> 21 & 1)
        check_floats("tc(amx,fp16); start=c", 10, by_amx_fp16);
#endif
    if (tile && edx >> 25 & 1) {
        check_integers("int(32,wrap); ab=int8", 3, by_amx_ss);
        check_integers("int(32,wrap); a=int8; b=uint8", 1, by_amx_su);
        check_integers("int(32,wrap); a=uint8; b=int8", 2, by_amx_us);
        check_integers("int(32,wrap); ab=uint8", 0, by_amx_uu);
    }
    if (units)
        return lh_report("matrix_units");
#else
int main(void)
{
#endif
    printf("skipped: this processor has none of AVX512-BF16, AMX-BF16, AMX-FP16, AMX-INT8, or the compiler none\n");
    return 77;
}
