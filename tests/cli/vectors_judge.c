/* vectors_judge.c - rounds the operands of `fpemu vectors --as hex` once more, in integers, without the library.
 *
 * Usage: vectors_judge FROM TO <vectors. Prints and counts the lines it does not agree with; prints how many it read.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum specials { IEEE, FN, FINITE };
enum { INEXACT = 1, UNDERFLOW = 2, OVERFLOW = 4, INVALID = 0x10, SUBNORMAL = 0x20 };
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
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
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

static uint64_t judge(const struct format *from, const struct format *to, int mode, uint64_t operand, int *flags)
{
    const uint64_t size = operand & all_ones(from), sign = (operand >> (from->e + from->m) & 1) << (to->e + to->m);
    const uint64_t beyond =
        to->specials == FN ? all_ones(to) : (to->specials == IEEE ? infinity(to) : largest(to)) | sign;
    *flags = 0;
    if (size > largest(from) && (from->specials != IEEE || size > infinity(from))) {
        return quiet_nan(to);
    }
    if (size > largest(from)) {
        *flags = to->specials == FN ? INVALID : 0;
        return beyond;
    }
    if (size == 0) {
        return sign;
    }
    const int field = (int)(size >> from->m);
    const uint64_t hidden = UINT64_C(1) << from->m, fraction = size & (hidden - 1);
    const uint64_t significand = field > 0 ? hidden | fraction : fraction;
    const int exponent = (field > 0 ? field : 1) + emin(from) - 1 - from->m;
    int lead = exponent;
    for (uint64_t s = significand; s > 1; s >>= 1) {
        lead++;
    }
    const int binade = lead > emin(to) ? lead : emin(to);
    const int below = binade - to->m - exponent; /* bits below the last place of the result; 60: more than there are */
    const int shift = below > 60 ? 60 : below;
    uint64_t k = shift > 0 ? significand >> shift : significand << -shift;
    const uint64_t rest = shift > 0 ? significand - (k << shift) : 0;
    const uint64_t middle = shift > 0 ? UINT64_C(1) << (shift - 1) : UINT64_MAX;
    k += round_up(mode, k, rest > 0, rest > middle ? 1 : rest == middle ? 0 : -1, sign != 0);
    const uint64_t code = ((uint64_t)(binade - emin(to)) << to->m) + k;
    *flags = (rest > 0 ? INEXACT : 0) | (code == 0 ? UNDERFLOW : 0);
    if (code > largest(to)) {
        *flags = INEXACT | OVERFLOW;
        return overflows_outward(mode, sign != 0) ? beyond : largest(to) | sign;
    }
    *flags |= code > 0 && code >> to->m == 0 ? SUBNORMAL : 0;
    return code | sign;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    const struct format *from = find(argv[1]), *to = find(argv[2]);
    unsigned mode, flags;
    uint64_t operand, result;
    long lines = 0, wrong = 0;
    while (scanf("%x %" SCNx64 " %" SCNx64 " %x", &mode, &operand, &result, &flags) == 4) {
        int right_flags;
        const uint64_t right = judge(from, to, (int)mode, operand, &right_flags);
        lines++;
        if ((right != result || right_flags != (int)flags) && wrong++ < 10) {
            printf("%x %" PRIx64 ": %" PRIx64 " %02x, should be %" PRIx64 " %02x\n", mode, operand, result, flags,
                   right, (unsigned)right_flags);
        }
    }
    printf("%ld\n", lines);
    return wrong > 0 || !feof(stdin) ? 1 : 0;
}
