/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors_judge.c - works out the results of `fpemu vectors --as hex` once more, in integers, without the library.
 *
 * Usage: vectors_judge FROM TO [OPERATION] <vectors. Prints and counts the lines it does not agree with; prints how
 * many it read. Operations are for operands of up to 24 bits of precision, and results of no more.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum specials { IEEE, FN, FINITE };
enum { INEXACT = 1, UNDERFLOW = 2, OVERFLOW = 4, DIVISION_BY_ZERO = 8, INVALID = 0x10, SUBNORMAL = 0x20 };
enum { RNE, RNA, RNZ, RTZ, RAZ, RTP, RTN, RTO };

struct format {
    const char *name;
    int e, m;
    enum specials specials;
};
static const struct format formats[] = {{"fp64", 11, 52, IEEE}, {"fp32", 8, 23, IEEE}, {"fp16", 5, 10, IEEE},
                                        {"bf16", 8, 7, IEEE},   {"e5m2", 5, 2, IEEE},  {"e4m3fn", 4, 3, FN},
                                        {"e2m1", 2, 1, FINITE}};

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    exit(2);
}

/* The codes without sign. */
static uint64_t all_ones(const struct format *f)
{
    return (UINT64_C(1) << (f->e + f->m)) - 1;
}

static uint64_t infinity(const struct format *f)
{
    return all_ones(f) >> f->m << f->m;
}

static uint64_t largest(const struct format *f)
{
    return f->specials == IEEE ? infinity(f) - 1 : f->specials == FN ? all_ones(f) - 1 : all_ones(f);
}

static uint64_t quiet_nan(const struct format *f)
{
    const bool ones = f->specials != IEEE || f->m == 2; /* OCP's formats; the largest value of a finite one */
    return ones ? all_ones(f) : infinity(f) | UINT64_C(1) << (f->m - 1);
}

static int emin(const struct format *f)
{
    return 2 - (1 << (f->e - 1));
}

/* Whether k steps and something become k + 1: `any` if there is something, `half` its order to half a step. */
static bool round_up(int mode, uint64_t k, bool any, int half, bool negative)
{
    switch (mode) {
    case RNE: return half > 0 || (half == 0 && (k & 1) != 0);
    case RNA: return half >= 0;
    case RNZ: return half > 0;
    case RAZ: return any;
    case RTP: return any && !negative;
    case RTN: return any && negative;
    case RTO: return any && (k & 1) == 0;
    default: return false;
    }
}

static bool overflows_outward(int mode, bool negative)
{
    return mode == RNE || mode == RNA || mode == RNZ || mode == RAZ || (mode == RTP && !negative) ||
           (mode == RTN && negative);
}

enum kind { NUMBER, INFINITE, NOT_A_NUMBER };

/* A number is significand * 2^exponent, significand < 2^62. The lowest bit may stand for all that is below it. */
struct value {
    enum kind kind;
    bool negative;
    uint64_t significand;
    int exponent;
};

static struct value unpack(const struct format *f, uint64_t code)
{
    const uint64_t size = code & all_ones(f), hidden = UINT64_C(1) << f->m, fraction = size & (hidden - 1);
    const int field = (int)(size >> f->m);
    const struct value v = {.kind = size <= largest(f)                           ? NUMBER
                                    : f->specials == IEEE && size == infinity(f) ? INFINITE
                                                                                 : NOT_A_NUMBER,
                            .negative = (code >> (f->e + f->m) & 1) != 0,
                            .significand = field > 0 ? hidden | fraction : fraction,
                            .exponent = (field > 0 ? field : 1) + emin(f) - 1 - f->m};
    return v;
}

/* The same number with its highest bit in place 61. */
static struct value lift(struct value v)
{
    while (v.significand != 0 && v.significand >> 61 == 0) {
        v.significand <<= 1;
        v.exponent--;
    }
    return v;
}

static bool is_zero(struct value v)
{
    return v.kind == NUMBER && v.significand == 0;
}

static struct value invalid(int *flags)
{
    *flags = INVALID;
    return (struct value){.kind = NOT_A_NUMBER};
}

/* Where bits of the smaller are lost, no more than one leading bit cancels. */
static struct value add(struct value a, struct value b, int mode, int *flags)
{
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return a.kind == NOT_A_NUMBER ? a : b;
    if (a.kind == INFINITE || b.kind == INFINITE)
        return a.kind == b.kind && a.negative != b.negative ? invalid(flags) : a.kind == INFINITE ? a : b;
    if (is_zero(a) || is_zero(b)) {
        struct value v = is_zero(a) ? b : a;
        v.negative = is_zero(v) && a.negative != b.negative ? mode == RTN : v.negative;
        return v;
    }
    a = lift(a);
    b = lift(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
        const struct value other = a;
        a = b;
        b = other;
    }
    const int gap = a.exponent - b.exponent > 63 ? 63 : a.exponent - b.exponent;
    const bool lost = (b.significand & ((UINT64_C(1) << gap) - 1)) != 0;
    b.significand = b.significand >> gap | lost;
    if (a.negative != b.negative) {
        a.significand -= b.significand;
        a.negative = a.significand == 0 ? mode == RTN : a.negative;
        return a;
    }
    a.significand += b.significand;
    if (a.significand >> 62 != 0) {
        a.significand = a.significand >> 1 | (a.significand & 1);
        a.exponent++;
    }
    return a;
}

static struct value multiply(struct value a, struct value b, int *flags)
{
    const bool negative = a.negative != b.negative;
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return a.kind == NOT_A_NUMBER ? a : b;
    if ((a.kind == INFINITE && is_zero(b)) || (b.kind == INFINITE && is_zero(a)))
        return invalid(flags);
    const enum kind kind = a.kind == INFINITE || b.kind == INFINITE ? INFINITE : NUMBER;
    return (struct value){kind, negative, a.significand * b.significand, a.exponent + b.exponent};
}

static struct value divide(struct value a, struct value b, int *flags)
{
    const bool negative = a.negative != b.negative;
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return a.kind == NOT_A_NUMBER ? a : b;
    if ((a.kind == INFINITE && b.kind == INFINITE) || (is_zero(a) && is_zero(b)))
        return invalid(flags);
    if (a.kind == INFINITE || is_zero(b)) {
        *flags = a.kind == INFINITE ? 0 : DIVISION_BY_ZERO;
        return (struct value){.kind = INFINITE, .negative = negative};
    }
    if (b.kind == INFINITE || is_zero(a))
        return (struct value){.kind = NUMBER, .negative = negative};
    a = lift(a);
    const uint64_t quotient = a.significand / b.significand, rest = a.significand % b.significand;
    return (struct value){NUMBER, negative, quotient | (rest != 0), a.exponent - b.exponent};
}

static struct value square_root(struct value a, int *flags)
{
    if (a.kind == NOT_A_NUMBER || is_zero(a))
        return a;
    if (a.negative)
        return invalid(flags);
    if (a.kind == INFINITE)
        return a;
    a = lift(a);
    if (a.exponent % 2 != 0) {
        a.significand >>= 1; /* 24 bits at the top: none is lost */
        a.exponent++;
    }
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        root += (root + bit) * (root + bit) <= a.significand ? bit : 0;
    const bool more = root * root != a.significand;
    return (struct value){NUMBER, false, root << 1 | more, a.exponent / 2 - 1};
}

/* -0 is less than +0; a NaN wins, or loses against a number. */
static struct value extremum(struct value a, struct value b, bool larger, bool number)
{
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return (a.kind == NOT_A_NUMBER) != number ? a : b;
    const struct value x = lift(a), y = lift(b);
    bool less; /* |a| < |b| */
    if (x.kind != y.kind)
        less = x.kind == NUMBER;
    else if (x.kind == INFINITE || is_zero(x) || is_zero(y))
        less = x.kind == NUMBER && is_zero(x) && !is_zero(y);
    else
        less = x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand);
    const bool a_first = a.negative != b.negative ? a.negative : less != a.negative; /* a < b; equals do not matter */
    return a_first != larger ? a : b;
}

static struct value operate(const char *operation, int mode, const struct value v[3], int *flags)
{
    struct value minus = v[1];
    minus.negative = !minus.negative;
    switch (*operation == 'm' ? operation[1] : *operation) {
    case 'c': return v[0];
    case 'a':
        return strcmp(operation, "add") == 0 ? add(v[0], v[1], mode, flags)
                                             : extremum(v[0], v[1], true, operation[7] == '-');
    case 's': return strcmp(operation, "sub") == 0 ? add(v[0], minus, mode, flags) : square_root(v[0], flags);
    case 'u': return multiply(v[0], v[1], flags);
    case 'd': return divide(v[0], v[1], flags);
    case 'f': {
        const struct value product = multiply(v[0], v[1], flags);
        if (v[2].kind == NOT_A_NUMBER) {
            *flags = 0; /* a quiet NaN came */
            return v[2];
        }
        return add(product, v[2], mode, flags);
    }
    case 'i': return extremum(v[0], v[1], false, operation[7] == '-');
    default: exit(2);
    }
}

/* The code of v in the format, rounded once. */
static uint64_t pack(const struct format *to, int mode, struct value v, int *flags)
{
    const uint64_t sign = (uint64_t)v.negative << (to->e + to->m);
    const uint64_t beyond =
        to->specials == FN ? all_ones(to) : (to->specials == IEEE ? infinity(to) : largest(to)) | sign;
    if (v.kind == NOT_A_NUMBER)
        return quiet_nan(to);
    if (v.kind == INFINITE) {
        *flags |= to->specials == FN ? INVALID : 0;
        return beyond;
    }
    if (v.significand == 0)
        return sign;
    int lead = v.exponent;
    for (uint64_t s = v.significand; s > 1; s >>= 1)
        lead++;
    const int binade = lead > emin(to) ? lead : emin(to);
    const int below = binade - to->m - v.exponent; /* bits below the last place of the result; 63: all, and no half */
    const int shift = below > 63 ? 63 : below;
    uint64_t k = shift > 0 ? v.significand >> shift : v.significand << -shift;
    const uint64_t rest = shift > 0 ? v.significand - (k << shift) : 0;
    const uint64_t middle = shift > 0 ? UINT64_C(1) << (shift - 1) : UINT64_MAX;
    k += round_up(mode, k, rest > 0, rest > middle ? 1 : rest == middle ? 0 : -1, v.negative);
    const uint64_t code = ((uint64_t)(binade - emin(to)) << to->m) + k;
    if (code > largest(to)) {
        *flags |= INEXACT | OVERFLOW;
        return overflows_outward(mode, v.negative) ? beyond : largest(to) | sign;
    }
    *flags |= (rest > 0 ? INEXACT : 0) | (code == 0 ? UNDERFLOW : 0) | (code > 0 && code >> to->m == 0 ? SUBNORMAL : 0);
    return code | sign;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        return 2;
    const struct format *from = find(argv[1]), *to = find(argv[2]);
    const char *operation = argc > 3 ? argv[3] : "convert";
    const int operands = strcmp(operation, "fma") == 0                                         ? 3
                         : strcmp(operation, "convert") == 0 || strcmp(operation, "sqrt") == 0 ? 1
                                                                                               : 2;
    long lines = 0, wrong = 0;
    for (unsigned mode, flags; scanf("%x", &mode) == 1; lines++) {
        uint64_t operand[3] = {0, 0, 0}, result;
        struct value v[3];
        int right_flags = 0;
        for (int k = 0; k < operands; k++)
            if (scanf("%" SCNx64, &operand[k]) != 1)
                return 1;
        if (scanf("%" SCNx64 "%x", &result, &flags) != 2)
            return 1;
        for (int k = 0; k < 3; k++)
            v[k] = unpack(from, operand[k]);
        const uint64_t right = pack(to, (int)mode, operate(operation, (int)mode, v, &right_flags), &right_flags);
        if ((right != result || right_flags != (int)flags) && wrong++ < 10) {
            printf("%x %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64 " %02x, should be %" PRIx64 " %02x\n", mode,
                   operand[0], operand[1], operand[2], result, flags, right, (unsigned)right_flags);
        }
    }
    printf("%ld\n", lines);
    return wrong > 0 || !feof(stdin) ? 1 : 0;
}
