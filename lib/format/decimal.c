/* SPDX-License-Identifier: BSD-2-Clause */
/* decimal.c - decimal numbers of spec strings, read and printed exactly.
 *
 * strtod and printf follow the locale and the rounding direction of the caller; these do not. Numbers of arbitrary
 * length are arrays of 32-bit words, little end first; the largest are 5^1074 times a significand and a spec's 255
 * digits shifted left by what its exponent can ask for. */
#include "decimal.h"

#include "core/port.h"

#include <assert.h>

#define WORDS 128 /* 4096 bits */
#define BILLION 1000000000u

typedef struct big {
    uint32_t word[WORDS];
    int count; /* words in use; the top one is not zero */
} big;

static void big_multiply_add(big *a, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (int i = 0; i < a->count; i++) {
        carry += (uint64_t)a->word[i] * factor;
        a->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        assert(a->count < WORDS);
        a->word[a->count++] = (uint32_t)carry;
    }
}

/* a /= divisor; returns the remainder. */
static uint32_t big_divide(big *a, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = a->count - 1; i >= 0; i--) {
        rest = rest << 32 | a->word[i];
        a->word[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (a->count > 0 && a->word[a->count - 1] == 0)
        a->count--;
    return (uint32_t)rest;
}

static void big_shift_words(big *a, int words)
{
    assert(a->count + words <= WORDS);
    for (int i = a->count - 1; i >= 0; i--)
        a->word[i + words] = a->word[i];
    for (int i = 0; i < words; i++)
        a->word[i] = 0;
    a->count += words;
}

double fpemu_exact(uint64_t k, int exponent)
{
    if (k == 0)
        return 0;
    const int top = core_log2_64(k), field = exponent + top + 1023;
    if (field < 1) { /* subnormal */
        const int shift = exponent + 1074;
        return core_value64(shift >= 0 ? k << shift : k >> -shift);
    }
    const uint64_t significand = top <= 52 ? k << (52 - top) : k >> (top - 52);
    return core_value64((uint64_t)field << 52 | (significand & ((UINT64_C(1) << 52) - 1)));
}

/* (a + something in (0, 1) if `sticky`) * 2^exponent, rounded to nearest even; a > 0. */
static double round_big(const big *a, int exponent, int sticky)
{
    /* the top 64 bits */
    const int highest = core_log2_32(a->word[a->count - 1]);
    uint64_t top = 0;
    for (int i = 0; i < 3; i++) {
        const int at = a->count - 1 - i;
        const uint64_t w = at >= 0 ? a->word[at] : 0;
        const int left = 63 - highest - 32 * i; /* weight of the word's bit 0 in `top` */
        top |= left >= 0 ? w << left : w >> -left;
        if (left < 0)
            sticky |= (w & ((UINT64_C(1) << -left) - 1)) != 0;
    }
    for (int i = 0; i < a->count - 3; i++)
        sticky |= a->word[i] != 0;

    const int log2 = exponent + 32 * (a->count - 1) + highest;
    if (log2 > 1023)
        return core_value64(UINT64_C(0x7ff) << 52);
    const int keep = log2 >= -1022 ? 53 : 53 + 1022 + log2;
    if (keep < 0)
        return 0;
    const int drop = 64 - keep;
    uint64_t k = drop < 64 ? top >> drop : 0;
    const uint64_t rest = drop < 64 ? top & ((UINT64_C(1) << drop) - 1) : top;
    const uint64_t half = UINT64_C(1) << (drop - 1);
    k += rest > half || (rest == half && (sticky || (k & 1)));
    return fpemu_exact(k, log2 - 63 + drop); /* a carry past the largest number spells infinity */
}

/* digits * 10^exponent; `count` decimal digits, as '0'...'9'. */
static double from_decimal(const char *digits, int count, int exponent)
{
    while (count > 0 && *digits == '0') {
        digits++;
        count--;
    }
    if (count == 0 || count + exponent < -324)
        return 0;
    if (count + exponent > 310)
        return core_value64(UINT64_C(0x7ff) << 52);
    big a = {.count = 0};
    for (int i = 0; i < count; i++)
        big_multiply_add(&a, 10, (uint32_t)(digits[i] - '0'));
    if (exponent >= 0) {
        for (; exponent > 0; exponent--)
            big_multiply_add(&a, 10, 0);
        return round_big(&a, 0, 0);
    }
    /* Room for 64 bits of quotient: 10^n < 2^(10n/3 + 1). */
    const int words = (64 + 1 - 10 * exponent / 3) / 32 + 1;
    big_shift_words(&a, words);
    int sticky = 0;
    for (; exponent <= -9; exponent += 9)
        sticky |= big_divide(&a, BILLION) != 0;
    for (; exponent < 0; exponent++)
        sticky |= big_divide(&a, 10) != 0;
    return round_big(&a, -32 * words, sticky);
}

double fpemu_decimal_read(const char *text, size_t length)
{
    char digits[FPEMU_SPEC_LENGTH];
    int count = 0, exponent = 0, point = 0;
    size_t i = 0;
    assert(length <= FPEMU_SPEC_LENGTH);
    for (; i < length && text[i] != 'e' && text[i] != 'E'; i++)
        if (text[i] == '.') {
            point = 1;
        } else {
            digits[count++] = text[i];
            exponent -= point;
        }
    if (i < length) {
        const int minus = text[++i] == '-';
        int written = 0;
        i += text[i] == '-' || text[i] == '+';
        for (; i < length; i++)
            written = written > 99999 ? written : written * 10 + (text[i] - '0');
        exponent += minus ? -written : written;
    }
    return from_decimal(digits, count, exponent);
}

/* All decimal digits of x > 0, without leading zeros; x = 0.digits * 10^*exponent. Returns how many. */
static int exact_digits(double x, char *digits, int size, int *exponent)
{
    const uint64_t u = core_bits64(x);
    const int field = (int)(u >> 52);
    uint64_t k = (u & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(field != 0) << 52;
    int e = (field ? field : 1) - 1075;
    while (e < 0 && (k & 1) == 0) {
        k >>= 1;
        e++;
    }
    big a = {.word = {(uint32_t)k, (uint32_t)(k >> 32)}, .count = k >> 32 ? 2 : 1};
    for (int i = 0; i < e; i++)
        big_multiply_add(&a, 2, 0);
    for (int i = 0; i > e; i--) /* k * 2^e = k * 5^-e * 10^e */
        big_multiply_add(&a, 5, 0);
    int at = size; /* written from the end */
    do {
        uint32_t nine = big_divide(&a, BILLION);
        for (int i = 0; i < 9; i++, nine /= 10)
            digits[--at] = (char)('0' + nine % 10);
    } while (a.count > 0);
    while (digits[at] == '0')
        at++;
    for (int i = at; i < size; i++)
        digits[i - at] = digits[i];
    *exponent = size - at + (e < 0 ? e : 0);
    return size - at;
}

/* The first n digits, plus one in the last if `up`; returns how many remain: 1 more power of ten for 99...9. */
static void round_digits(char *out, const char *digits, int n, int up, int *exponent)
{
    for (int i = 0; i < n; i++)
        out[i] = digits[i];
    int i = n - 1;
    for (; up && i >= 0 && out[i] == '9'; i--)
        out[i] = '0';
    if (up && i >= 0) {
        out[i]++;
    } else if (up) { /* all nines: 1 and zeros */
        out[0] = '1';
        ++*exponent;
    }
}

void fpemu_decimal_print(double x, char text[FPEMU_DECIMAL_SIZE])
{
    char all[792], digits[17];
    int point;
    const int count = exact_digits(x, all, (int)sizeof all, &point);
    int n = 1, chosen = 0, exponent = point;
    for (; n <= 17 && !chosen; n++) {
        /* below, then above, the nearer first: nearest at n digits need not be the one that reads back, since the
         * gap between neighbours changes at powers of two */
        const int nearer = n < count && all[n] >= '5';
        for (int t = 0; t < 2 && !chosen; t++) {
            const int up = nearer ^ t;
            if (n >= count && up)
                continue;
            for (int i = count; i < n; i++)
                all[i] = '0';
            exponent = point;
            round_digits(digits, all, n, up, &exponent);
            chosen = core_bits64(from_decimal(digits, n, exponent - n)) == core_bits64(x);
        }
    }
    n--;
    while (n > 1 && digits[n - 1] == '0')
        n--;

    char *out = text;
    const int scientific = exponent < -4 || exponent > 16;
    if (!scientific && exponent <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = exponent; i < 0; i++)
            *out++ = '0';
    }
    const int before = scientific ? 1 : exponent;
    for (int i = 0; i < n || i < before; i++) {
        if (i == before && before > 0)
            *out++ = '.';
        *out++ = i < n ? digits[i] : '0';
    }
    if (scientific) {
        int e = exponent - 1;
        *out++ = 'e';
        if (e < 0)
            *out++ = '-';
        e = e < 0 ? -e : e;
        if (e >= 100)
            *out++ = (char)('0' + e / 100);
        if (e >= 10)
            *out++ = (char)('0' + e / 10 % 10);
        *out++ = (char)('0' + e % 10);
    }
    *out = '\0';
}
