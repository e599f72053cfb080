/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors_judge.c - works out the results of `fpemu vectors --as hex` once more, without the library: operations in
 * binary64, rounded to odd, and then to the format in integers.
 *
 * Usage: vectors_judge FROM[,FROM...] TO [OPERATION] <vectors. Prints and counts the lines it does not agree with;
 * prints how many it read. Operations are for operands of up to 24 bits of precision, and results of no more.
 */
#include "../common.h"

enum specials { IEEE, FN, FINITE };
enum { INEXACT = 1, UNDERFLOW = 2, OVERFLOW = 4, DIVISION_BY_ZERO = 8, INVALID = 0x10, SUBNORMAL = 0x20 };
enum { RNE, RNA, RNZ, RTZ, RAZ, RTP, RTN, RTO, RNP = 10 };

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
    case RNP: return half > 0 || (half == 0 && !negative);
    case RAZ: return any;
    case RTP: return any && !negative;
    case RTN: return any && negative;
    case RTO: return any && (k & 1) == 0;
    default: return false;
    }
}

static bool overflows_outward(int mode, bool negative)
{
    return mode == RNE || mode == RNA || mode == RNZ || mode == RNP || mode == RAZ || (mode == RTP && !negative) ||
           (mode == RTN && negative);
}

static double unpack(const struct format *f, uint64_t code)
{
    const uint64_t size = code & all_ones(f), hidden = UINT64_C(1) << f->m, fraction = size & (hidden - 1);
    const int field = (int)(size >> f->m), exponent = (field > 0 ? field : 1) + emin(f) - 1 - f->m;
    const bool infinite = f->specials == IEEE && size == infinity(f);
    const double x = size <= largest(f) ? ldexp((double)(field > 0 ? hidden | fraction : fraction), exponent)
                     : infinite         ? (double)INFINITY
                                        : (double)NAN;
    return (code >> (f->e + f->m) & 1) != 0 ? -x : x;
}

/* Of the two numbers around an exact result, y and the next one in the direction of the rest, the one whose last bit is
 * odd; y, if nothing is left. To fewer than 52 bits it is rounded as the exact result is. */
static double odd(double y, double rest)
{
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    return !(rest < 0 || rest > 0) || (bits & 1) != 0 ? y
                                                      : nextafter(y, rest > 0 ? (double)INFINITY : -(double)INFINITY);
}

static double add(double a, double b, int mode)
{
    const double large = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
    const volatile double y = large + small, gone = y - large;
    if (y == 0 && !signbit(a) != !signbit(b))
        return mode == RTN ? -0.0 : 0.0;
    return isfinite(y) ? odd(y, small - gone) : y;
}

static double divide(double a, double b, int *flags)
{
    const volatile double y = a / b;
    if (isfinite(a) && a != 0 && b == 0)
        *flags = DIVISION_BY_ZERO;
    const double rest = isfinite(y) && isfinite(b) ? fma(-y, b, a) : 0;
    return odd(y, b < 0 ? -rest : rest);
}

static double square_root(double a)
{
    const volatile double y = sqrt(a);
    return isfinite(y) ? odd(y, fma(-y, y, a)) : y;
}

/* -0 is less than +0; a NaN wins, or loses against a number. */
static double extremum(double a, double b, bool larger, bool number)
{
    if (isnan(a) || isnan(b))
        return isnan(a) != number ? a : b;
    return (a < b || (a == b && signbit(a))) != larger ? a : b;
}

static double operate(const char *operation, int mode, const double v[3], int *flags)
{
    switch (*operation == 'm' ? operation[1] : *operation) {
    case 'c': return v[0];
    case 'a':
        return strcmp(operation, "add") == 0 ? add(v[0], v[1], mode) : extremum(v[0], v[1], true, operation[7] == '-');
    case 's': return strcmp(operation, "sub") == 0 ? add(v[0], -v[1], mode) : square_root(v[0]);
    case 'u': return v[0] * v[1]; /* exact */
    case 'd': return divide(v[0], v[1], flags);
    case 'f': return add(v[0] * v[1], v[2], mode);
    case 'i': return extremum(v[0], v[1], false, operation[7] == '-');
    default: exit(2);
    }
}

/* The code of v in the format, rounded once. */
static uint64_t pack(const struct format *to, int mode, double v, int *flags)
{
    const bool negative = signbit(v) != 0;
    const uint64_t sign = (uint64_t)negative << (to->e + to->m);
    const uint64_t beyond =
        to->specials == FN ? all_ones(to) : (to->specials == IEEE ? infinity(to) : largest(to)) | sign;
    if (isnan(v))
        return quiet_nan(to);
    if (isinf(v)) {
        *flags |= to->specials == FN ? INVALID : 0;
        return beyond;
    }
    if (v == 0)
        return sign;
    int above; /* |v| lies in [2^(above - 1), 2^above) */
    const uint64_t significand = (uint64_t)ldexp(frexp(fabs(v), &above), 53);
    const int binade = above - 1 > emin(to) ? above - 1 : emin(to);
    const int below = binade - to->m - (above - 53); /* bits below the last place of the result; 63: all, and no half */
    const int shift = below > 63 ? 63 : below;
    uint64_t k = shift > 0 ? significand >> shift : significand << -shift;
    const uint64_t rest = shift > 0 ? significand - (k << shift) : 0;
    const uint64_t middle = shift > 0 ? UINT64_C(1) << (shift - 1) : UINT64_MAX;
    k += round_up(mode, k, rest > 0, rest > middle ? 1 : rest == middle ? 0 : -1, negative);
    const uint64_t code = ((uint64_t)(binade - emin(to)) << to->m) + k;
    if (code > largest(to)) {
        *flags |= INEXACT | OVERFLOW;
        return overflows_outward(mode, negative) ? beyond : largest(to) | sign;
    }
    *flags |= (rest > 0 ? INEXACT : 0) | (code == 0 ? UNDERFLOW : 0) | (code > 0 && code >> to->m == 0 ? SUBNORMAL : 0);
    return code | sign;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        return 2;
    const struct format *from[3], *to = find(argv[2]);
    char *name = strtok(argv[1], ",");
    for (int k = 0; k < 3; k++) {
        from[k] = find(name);
        char *next = strtok(NULL, ",");
        name = next != NULL ? next : name; /* the last for the rest */
    }
    const char *operation = argc > 3 ? argv[3] : "convert";
    const int operands = strcmp(operation, "fma") == 0                                         ? 3
                         : strcmp(operation, "convert") == 0 || strcmp(operation, "sqrt") == 0 ? 1
                                                                                               : 2;
    long lines = 0, wrong = 0;
    for (unsigned mode, flags; scanf("%x", &mode) == 1; lines++) {
        uint64_t operand[3] = {0, 0, 0}, result;
        double v[3];
        int right_flags = 0;
        for (int k = 0; k < operands; k++)
            if (scanf("%" SCNx64, &operand[k]) != 1)
                return 1;
        if (scanf("%" SCNx64 "%x", &result, &flags) != 2)
            return 1;
        for (int k = 0; k < 3; k++)
            v[k] = unpack(from[k], operand[k]);
        const double exact = operate(operation, (int)mode, v, &right_flags);
        if (isnan(exact) && !isnan(v[0]) && !isnan(v[1]) && !isnan(v[2]))
            right_flags = INVALID;
        const uint64_t right = pack(to, (int)mode, exact, &right_flags);
        if ((right != result || right_flags != (int)flags) && wrong++ < 10) {
            printf("%x %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64 " %02x, should be %" PRIx64 " %02x\n", mode,
                   operand[0], operand[1], operand[2], result, flags, right, (unsigned)right_flags);
        }
    }
    printf("%ld\n", lines);
    return wrong > 0 || !feof(stdin) ? 1 : 0;
}
