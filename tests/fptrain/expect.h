/* SPDX-License-Identifier: BSD-2-Clause */
/* expect.h - what the tests of the trainer share: a claim that fails with its place and goes on. */
#ifndef TESTS_FPTRAIN_EXPECT_H
#define TESTS_FPTRAIN_EXPECT_H

#include "../common.h"

static int failures;

#define EXPECT(claim, ...)                                                                                             \
    do {                                                                                                               \
        if (!(claim)) {                                                                                                \
            failures++;                                                                                                \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #claim);                                                         \
            printf(__VA_ARGS__);                                                                                       \
            putchar('\n');                                                                                             \
        }                                                                                                              \
    } while (0)

static inline int near(double a, double b, double relative)
{
    return isfinite(a) && isfinite(b) && fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

#endif
