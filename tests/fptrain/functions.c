/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - exp, tanh and the logistic function of arrays: within their bounds of the functions of long double of
 * the C library, and with the bits of glibc 2.36 (x86-64 with FMA), whose digests over each 4099th float stand here. */
#include "ops/functions.h"

#include "../judges/bits.h"
#include "expect.h"

enum { STRIDE = 4099, N = 1 << 20 };

static uint64_t digest(const float *y)
{
    uint64_t d = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < N; i++)
        if (y[i] == y[i])
            d = (d ^ lh_float_bits(y[i])) * UINT64_C(0x100000001b3);
    return d;
}

static long double logistic(long double x)
{
    return 1 / (1 + expl(-x));
}

static const struct function {
    const char *name;
    void (*ours)(size_t n, const float *x, float *y);
    long double (*judge)(long double x);
    double ulps; /* of the logistic function: three roundings */
    float from;  /* where that is promised: below, 1 + exp(-x) is infinite */
    uint64_t digest;
} functions[] = {{"exp", exp_of, expl, 0.51, -INFINITY, UINT64_C(0x7525e966481b4d53)},
                 {"tanh", tanh_of, tanhl, 2.2, -INFINITY, UINT64_C(0xb962abe1539b3540)},
                 {"sigmoid", sigmoid_of, logistic, 2.6, -88, UINT64_C(0x5d80b4b687b83aa8)}};

static double distance(float y, long double want)
{
    const float size = fabsf(y) < 0x1p-126f ? 0x1p-126f : fabsf(y);
    const double ulp = ldexp(1, ilogbf(size) - 23);
    return fabs((double)((long double)y - want)) / ulp;
}

static void check_function(const struct function *f)
{
    static float x[N], y[N];
    double worst = 0;
    for (int i = 0; i < N; i++)
        x[i] = lh_float((uint32_t)i * STRIDE);
    f->ours(N, x, y);
    for (int i = 0; i < N; i++) {
        const long double want = f->judge((long double)x[i]);
        EXPECT((x[i] != x[i]) == (y[i] != y[i]), "%s(%a) = %a", f->name, (double)x[i], (double)y[i]);
        if (isfinite(y[i]) && x[i] >= f->from && fabsl(want) < 0x1p128L && distance(y[i], want) > worst)
            worst = distance(y[i], want);
        if (isinf(y[i]))
            EXPECT(want > 0x1.ffffffp127L, "%s(%a) = inf", f->name, (double)x[i]);
    }
    EXPECT(worst <= f->ulps, "%s is off by %.3f units in the last place", f->name, worst);
    EXPECT(digest(y) == f->digest, "%s: 0x%016llx", f->name, (unsigned long long)digest(y));
}

/* Every length around the widths of vectors, in place and not, gives what one element alone gives. */
static void check_lengths(const struct function *f)
{
    float x[41], y[41], alone;
    for (int n = 0; n <= 40; n++) {
        for (int i = 0; i < 41; i++)
            x[i] = y[i] = (float)(0.37 * i - 7);
        f->ours((size_t)n, y, y);
        for (int i = 0; i < 41; i++) {
            alone = x[i];
            if (i < n)
                f->ours(1, &x[i], &alone);
            EXPECT(memcmp(&alone, &y[i], sizeof alone) == 0, "%s, %d of %d: %a, not %a", f->name, i, n, (double)y[i],
                   (double)alone);
        }
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        check_function(&functions[i]);
        check_lengths(&functions[i]);
    }
    return failures != 0;
}
