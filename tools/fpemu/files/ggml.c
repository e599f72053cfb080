/* SPDX-License-Identifier: BSD-2-Clause */
/* ggml.c - see ggml.h. Scales of binary16 are decoded by the library; what is left are whole numbers and products. */
#include "files/ggml.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/byte_order.h"
#include "fpemu.h"

/* ------------------------------------------------------------------------------------------- blocks of 32 */

/* Low nibbles first, all of them; then the high ones. */
static unsigned nibble(const unsigned char *q, unsigned half, unsigned i)
{
    return i < half ? q[i] & 15u : q[i - half] >> 4;
}

static unsigned bit(const unsigned char *bits, unsigned i)
{
    return (unsigned)bits[i / 8] >> i % 8 & 1u;
}

static void decode_q4_0(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)((int)nibble(b + 2, 16, i) - 8);
}

static void decode_q4_1(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)nibble(b + 4, 16, i) + halves[1];
}

static void decode_q5_0(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)((int)(nibble(b + 6, 16, i) | bit(b + 2, i) << 4) - 16);
}

static void decode_q5_1(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)(nibble(b + 8, 16, i) | bit(b + 4, i) << 4) + halves[1];
}

static int signed_byte(unsigned char byte)
{
    return byte < 128 ? byte : byte - 256;
}

static void decode_q8_0(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)signed_byte(b[2 + i]);
}

/* ------------------------------------------------------------------------------ blocks of 256: K quantisation */

/* Elements e of a block with two bits each, four neighbours 32 apart in a byte. */
static unsigned pair(const unsigned char *q, unsigned e)
{
    return (unsigned)q[e / 128 * 32 + e % 32] >> e / 32 % 4 * 2 & 3u;
}

static void decode_q2_k(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned k = 0; k < 16; k++) {
        const float scale = halves[0] * (float)(b[k] & 15), least = halves[1] * (float)(b[k] >> 4);
        for (unsigned e = 16 * k; e < 16 * k + 16; e++)
            y[e] = scale * (float)pair(b + 16, e) - least;
    }
}

static void decode_q3_k(const unsigned char *b, const float *halves, float *y)
{
    const unsigned char *s = b + 96;
    for (unsigned k = 0; k < 16; k++) {
        const unsigned low = nibble(s, 8, k), high = (unsigned)s[8 + k % 4] >> k / 4 * 2 & 3u;
        const float scale = halves[0] * (float)((int)(low | high << 4) - 32);
        for (unsigned e = 16 * k; e < 16 * k + 16; e++)
            y[e] = scale * (float)((int)pair(b + 32, e) - ((b[e % 32] >> e / 32 & 1) != 0 ? 0 : 4));
    }
}

/* Scales and minima of 6 bits, eight of each in twelve bytes. */
static void scale_and_least(const unsigned char *s, unsigned k, unsigned *scale, unsigned *least)
{
    if (k < 4) {
        *scale = s[k] & 63u;
        *least = s[k + 4] & 63u;
    } else {
        *scale = (s[k + 4] & 15u) | (unsigned)(s[k - 4] >> 6) << 4;
        *least = (unsigned)(s[k + 4] >> 4) | (unsigned)(s[k] >> 6) << 4;
    }
}

/* Eight parts of 32; the fifth bits of Q5_K lie elsewhere. */
static void decode_parts(const unsigned char *b, const float *halves, const unsigned char *fifth,
                         const unsigned char *q, float *y)
{
    for (unsigned k = 0; k < 8; k++) {
        unsigned scale, least;
        scale_and_least(b + 4, k, &scale, &least);
        const float d = halves[0] * (float)scale, m = halves[1] * (float)least;
        for (unsigned i = 0; i < 32; i++) {
            const unsigned high = fifth != NULL ? fifth[i] >> k & 1u : 0;
            y[32 * k + i] = d * (float)(((unsigned)q[k / 2 * 32 + i] >> k % 2 * 4 & 15u) | high << 4) - m;
        }
    }
}

static void decode_q4_k(const unsigned char *b, const float *halves, float *y)
{
    decode_parts(b, halves, NULL, b + 16, y);
}

static void decode_q5_k(const unsigned char *b, const float *halves, float *y)
{
    decode_parts(b, halves, b + 16, b + 48, y);
}

static void decode_q6_k(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned k = 0; k < 16; k++) {
        const float scale = halves[0] * (float)signed_byte(b[192 + k]);
        for (unsigned e = 16 * k; e < 16 * k + 16; e++) {
            const unsigned low = (unsigned)b[e / 128 * 64 + e % 64] >> e / 64 % 2 * 4 & 15u;
            y[e] = scale * (float)((int)(low | pair(b + 128, e) << 4) - 32);
        }
    }
}

/* ----------------------------------------------------------------------------------------- tables of numbers */

static const signed char table_nl[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const signed char table_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}; /* twice */

static void decode_iq4_nl(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned i = 0; i < 32; i++)
        y[i] = halves[0] * (float)table_nl[nibble(b + 2, 16, i)];
}

static void decode_iq4_xs(const unsigned char *b, const float *halves, float *y)
{
    for (unsigned k = 0; k < 8; k++) {
        const unsigned low = (unsigned)b[4 + k / 2] >> k % 2 * 4 & 15u;
        const unsigned high = (unsigned)bytes_load(b + 2, 2) >> 2 * k & 3u;
        const float scale = halves[0] * (float)((int)(low | high << 4) - 32);
        for (unsigned i = 0; i < 32; i++)
            y[32 * k + i] = scale * (float)table_nl[nibble(b + 8 + 16 * k, 16, i)];
    }
}

static void decode_mxfp4(const unsigned char *b, const float *halves, float *y)
{
    const float scale = ldexpf(1, b[0] - 128); /* for twice the numbers */
    (void)halves;
    for (unsigned i = 0; i < 32; i++)
        y[i] = scale * (float)table_e2m1[nibble(b + 1, 16, i)];
}

/* Half of an unsigned E4M3 number; its sign bit is not looked at. */
static float half_ue4m3(unsigned char code)
{
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    if (code == 0x7f)
        return 0;
    return exponent == 0 ? ldexpf((float)mantissa, -10) : ldexpf((float)(8 + mantissa), exponent - 11);
}

static void decode_nvfp4(const unsigned char *b, const float *halves, float *y)
{
    (void)halves;
    for (unsigned k = 0; k < 4; k++) {
        const float scale = half_ue4m3(b[k]);
        for (unsigned i = 0; i < 16; i++)
            y[16 * k + i] = scale * (float)table_e2m1[nibble(b + 4 + 8 * k, 8, i)];
    }
}

/* ------------------------------------------------------------------------------------------------ the types */

static const ggml_type types[] = {
    [0] = {"F32", "F32", 1, 4, 0, {0}, NULL},
    [1] = {"F16", "F16", 1, 2, 0, {0}, NULL},
    [2] = {"Q4_0", NULL, 32, 18, 1, {0}, decode_q4_0},
    [3] = {"Q4_1", NULL, 32, 20, 2, {0, 2}, decode_q4_1},
    [6] = {"Q5_0", NULL, 32, 22, 1, {0}, decode_q5_0},
    [7] = {"Q5_1", NULL, 32, 24, 2, {0, 2}, decode_q5_1},
    [8] = {"Q8_0", NULL, 32, 34, 1, {0}, decode_q8_0},
    [9] = {.name = "Q8_1"},
    [10] = {"Q2_K", NULL, 256, 84, 2, {80, 82}, decode_q2_k},
    [11] = {"Q3_K", NULL, 256, 110, 1, {108}, decode_q3_k},
    [12] = {"Q4_K", NULL, 256, 144, 2, {0, 2}, decode_q4_k},
    [13] = {"Q5_K", NULL, 256, 176, 2, {0, 2}, decode_q5_k},
    [14] = {"Q6_K", NULL, 256, 210, 1, {208}, decode_q6_k},
    [15] = {.name = "Q8_K"},
    [16] = {.name = "IQ2_XXS"},
    [17] = {.name = "IQ2_XS"},
    [18] = {.name = "IQ3_XXS"},
    [19] = {.name = "IQ1_S"},
    [20] = {"IQ4_NL", NULL, 32, 18, 1, {0}, decode_iq4_nl},
    [21] = {.name = "IQ3_S"},
    [22] = {.name = "IQ2_S"},
    [23] = {"IQ4_XS", NULL, 256, 136, 1, {0}, decode_iq4_xs},
    [24] = {"I8", "I8", 1, 1, 0, {0}, NULL},
    [25] = {"I16", "I16", 1, 2, 0, {0}, NULL},
    [26] = {"I32", "I32", 1, 4, 0, {0}, NULL},
    [27] = {"I64", "I64", 1, 8, 0, {0}, NULL},
    [28] = {"F64", "F64", 1, 8, 0, {0}, NULL},
    [29] = {.name = "IQ1_M"},
    [30] = {"BF16", "BF16", 1, 2, 0, {0}, NULL},
    [34] = {.name = "TQ1_0"},
    [35] = {.name = "TQ2_0"},
    [39] = {"MXFP4", NULL, 32, 17, 0, {0}, decode_mxfp4},
    [40] = {"NVFP4", NULL, 64, 36, 0, {0}, decode_nvfp4},
    [41] = {.name = "Q1_0"},
};
enum { TYPES = sizeof types / sizeof *types };

const ggml_type *ggml_type_numbered(uint32_t number)
{
    return number < TYPES && types[number].name != NULL ? &types[number] : NULL;
}

void ggml_decode(const ggml_type *type, size_t n, const unsigned char *bytes, float *y)
{
    enum { MOST = 64 };
    fpemu_format binary16;
    uint16_t code[2 * MOST];
    float half[2 * MOST];
    const fpemu_status named = fpemu_format_named(FPEMU_NAME_BINARY16, &binary16);
    assert(named == FPEMU_OK);
    (void)named;
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < MOST ? n - done : MOST;
        const unsigned char *b = bytes + done * type->size;
        for (size_t i = 0; i < some; i++)
            for (unsigned k = 0; k < type->halves; k++)
                code[i * type->halves + k] = (uint16_t)bytes_load(b + i * type->size + type->half[k], 2);
        if (type->halves > 0)
            fpemu_decode_f32(&binary16, some * type->halves, code, half);
        for (size_t i = 0; i < some; i++)
            type->decode(b + i * type->size, half + i * type->halves, y + (done + i) * type->count);
        done += some;
    }
}
