/* SPDX-License-Identifier: BSD-2-Clause */
/* tensor_operands.h - operands for the matrix instructions of a GPU that show how these add up: of one size, far apart,
 * subnormal, cancelling, beyond the largest number, infinite. A tile is M rows of a, N columns of b and M x N numbers c;
 * a row or column has ROW bytes, whatever the format. The same tile comes of the same format, way and number. */
#ifndef TENSOR_OPERANDS_H
#define TENSOR_OPERANDS_H

#define SEED 17
#include "random.h"

enum { M = 64, N = 8, ROW = 32, MOST_K = 32 };
enum kind { FP16, BF16, TF32, E4M3, E5M2, KINDS };

/* Words of `size` bytes; TF32 lies in the upper bits of 32. */
static const struct operand_format {
    const char *name;
    unsigned size, exponent, mantissa, shift;
} operand_formats[KINDS] = {
    {"fp16", 2, 5, 10, 0}, {"bf16", 2, 8, 7, 0}, {"tf32", 4, 8, 10, 13}, {"e4m3fn", 1, 4, 3, 0}, {"e5m2", 1, 5, 2, 0},
};

enum way {
    ONE_SIZE,
    MANY_SIZES,
    FAR_APART,
    ANY_BITS,
    SUBNORMAL,
    SPARSE,
    CANCELLING,
    SPECIAL,
    LARGE,
    FULL,
    C_FAR,
    C_CANCELS,
    C_SUBNORMAL,
    NO_TF32,
    WAYS
};
static const char *const way_names[WAYS] = {
    "one size",           "many sizes",        "far apart",       "any bits",      "subnormal",
    "one to three terms", "cancelling",        "infinities, NaN", "near the end",  "fractions full",
    "c far from the sum", "c cancels the sum", "c subnormal",     "no TF32 number"};

typedef struct tile {
    uint32_t a[M][MOST_K], b[N][MOST_K];
    float c[M][N];
} tile;

static unsigned depth_of(enum kind kind)
{
    return ROW / operand_formats[kind].size;
}

static uint64_t below(uint64_t n)
{
    return (next() >> 11) % n;
}

static uint32_t word_of(enum kind kind, uint32_t sign, uint32_t field, uint32_t fraction)
{
    const struct operand_format *const f = &operand_formats[kind];
    return ((sign << f->exponent | field) << f->mantissa | fraction) << f->shift;
}

/* A number with an exponent from least to most, which the format's own ends limit; subnormal ones at its least. */
static uint32_t draw(enum kind kind, int least, int most)
{
    const struct operand_format *const f = &operand_formats[kind];
    const int bias = (1 << (f->exponent - 1)) - 1, last = (1 << f->exponent) - (kind == E4M3 ? 1 : 2);
    int field = least + (int)below((uint64_t)(most - least + 1)) + bias;
    field = field < 0 ? 0 : field > last ? last : field;
    uint32_t fraction = (uint32_t)next() & ((1u << f->mantissa) - 1);
    if (kind == E4M3 && field == last && fraction == 7)
        fraction = 6;
    return word_of(kind, (uint32_t)below(2), (uint32_t)field, fraction);
}

static uint32_t zero_of(enum kind kind)
{
    return word_of(kind, (uint32_t)below(2), 0, 0);
}

static double value_of(enum kind kind, uint32_t word)
{
    const struct operand_format *const f = &operand_formats[kind];
    const uint32_t code = word >> f->shift, fraction = code & ((1u << f->mantissa) - 1);
    const int field = (int)(code >> f->mantissa & ((1u << f->exponent) - 1)), last = (1 << f->exponent) - 1;
    const int bias = (1 << (f->exponent - 1)) - 1;
    const double sign = code >> (f->mantissa + f->exponent) & 1 ? -1 : 1;
    if (kind == E4M3 ? field == last && fraction == 7 : field == last)
        return kind != E4M3 && fraction == 0 ? sign * (double)INFINITY : (double)NAN;
    return sign * (field ? ldexp((double)((1u << f->mantissa) + fraction), field - bias - (int)f->mantissa)
                         : ldexp((double)fraction, 1 - bias - (int)f->mantissa));
}

/* A binary32 number with an exponent from least to most. */
static float draw_c(int least, int most)
{
    const int e = least + (int)below((uint64_t)(most - least + 1));
    return (float)ldexp((double)((1u << 23) + (next() >> 41)), e - 23) * (below(2) ? 1.0f : -1.0f);
}

static float any_c(void)
{
    const uint32_t u = (uint32_t)(next() >> 32);
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* Rows of a and columns of b: `which` 0 or 1. */
static void draw_row(enum kind kind, enum way way, int which, uint32_t *row)
{
    const unsigned k = depth_of(kind);
    const int wide = operand_formats[kind].exponent == 8, far = wide ? 40 : 20;
    const uint32_t last = (1u << operand_formats[kind].mantissa) - 1;
    for (unsigned i = 0; i < k; i++)
        switch (way) {
        case ONE_SIZE: row[i] = draw(kind, -1, 0); break;
        case FAR_APART: row[i] = below(16) ? draw(kind, -far, far) : zero_of(kind); break;
        case SUBNORMAL:
            row[i] = which == 0 ? draw(kind, wide ? -127 : -20, wide ? -124 : -5) : draw(kind, wide ? -40 : -20, 2);
            break;
        case SPARSE: row[i] = which ? draw(kind, -far, far) : zero_of(kind); break;
        case C_SUBNORMAL: row[i] = which ? draw(kind, wide ? -85 : -16, wide ? -60 : -5) : zero_of(kind); break;
        case CANCELLING:
            row[i] = draw(kind, -6, 5);
            if (i % 2) {
                row[i] = row[i - 1] ^ (which ? 0 : word_of(kind, 1, 0, 0));
                if (below(8) == 0)
                    row[i] ^= word_of(kind, 0, 0, 1);
            }
            break;
        case LARGE: row[i] = wide ? draw(kind, 61, 63) : draw(kind, 5, 8); break;
        case FULL: {
            static const uint32_t from_end[4] = {0, 0, 1, 0};
            const uint64_t how = below(4);
            const uint32_t fraction = how == 3 ? (last + 1) / 2 : how == 0 ? (uint32_t)below(2) : last - from_end[how];
            row[i] = (draw(kind, -2, 0) & ~(last << operand_formats[kind].shift)) | word_of(kind, 0, 0, fraction);
            break;
        }
        default: row[i] = draw(kind, -6, 5); break;
        }
    if ((way == SPARSE || way == C_SUBNORMAL) && which == 0)
        for (uint64_t i = 1 + below(3); i > 0; i--)
            row[below(k)] = way == SPARSE ? draw(kind, -far, far) : draw(kind, wide ? -70 : -16, wide ? -60 : -8);
    for (unsigned i = 0; i < k; i++) {
        const struct operand_format *const f = &operand_formats[kind];
        if (way == ANY_BITS)
            row[i] = (uint32_t)(next() >> 32) >> (32 - 8 * f->size) >> f->shift << f->shift;
        if (way == NO_TF32)
            row[i] |= (uint32_t)(next() >> 51);
        if (way == SPECIAL && below(8) == 0)
            row[i] = zero_of(kind);
        if (way == SPECIAL && below(100) == 0)
            row[i] =
                word_of(kind, (uint32_t)below(2), (1u << f->exponent) - 1, kind == E4M3 || below(4) == 0 ? last : 0);
    }
}

/* Tile number `number` of a kind and way. */
static void draw_tile(enum kind kind, enum way way, uint64_t number, tile *t)
{
    const unsigned k = depth_of(kind);
    const int wide = operand_formats[kind].exponent == 8, far = wide ? 80 : 40;
    double a[M][MOST_K], b[N][MOST_K];
    state = ((uint64_t)kind << 56 | (uint64_t)way << 48 | number) * UINT64_C(0xd1342543de82ef95) + SEED;
    for (int i = 0; i < M; i++) {
        draw_row(kind, way, 0, t->a[i]);
        for (unsigned l = 0; l < k; l++)
            a[i][l] = value_of(kind, t->a[i][l]);
    }
    for (int j = 0; j < N; j++) {
        draw_row(kind, way, 1, t->b[j]);
        for (unsigned l = 0; l < k; l++)
            b[j][l] = value_of(kind, t->b[j][l]);
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            float c;
            for (unsigned l = 0; l < k; l++)
                sum += a[i][l] * b[j][l];
            switch (way) {
            case ONE_SIZE: c = draw_c(-3, 5); break;
            case FAR_APART:
            case SPARSE: c = draw_c(-far, far); break;
            case ANY_BITS: c = any_c(); break;
            case C_SUBNORMAL: c = wide ? draw_c(-149, -127) : draw_c(-24, -15); break;
            case SUBNORMAL: c = wide ? draw_c(-160, -110) : draw_c(-50, -5); break;
            case LARGE: c = wide ? draw_c(120, 127) : draw_c(8, 16); break;
            case C_FAR: c = (float)(sum * (double)draw_c(-30, 30)); break;
            case CANCELLING: c = below(2) ? draw_c(-30, 5) : 0; break;
            case C_CANCELS: c = (float)-(sum + ldexp(sum, -22) * (double)((int)below(9) - 4)); break;
            case SPECIAL: c = below(50) ? draw_c(-10, 12) : below(3) ? (float)INFINITY : (float)NAN; break;
            default: c = draw_c(-12, 12); break;
            }
            if (below(8) == 0)
                c = below(2) ? 0.0f : -0.0f;
            t->c[i][j] = c;
        }
}

#endif
