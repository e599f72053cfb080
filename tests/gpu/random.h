/* SPDX-License-Identifier: BSD-2-Clause */
/* random.h - numbers for tests, by SplitMix64; SEED says where a program begins. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include "../common.h"
#include <fpemu.h>

static uint64_t state = SEED;

static uint64_t next(void)
{
    return split_mix(&state);
}

/* Anything but the mode, the place and whose setting it is. */
__attribute__((unused)) static fpemu_rounding random_rounding(int mode)
{
    fpemu_rounding r = fpemu_rounding_nearest();
    r.mode = (uint8_t)mode;
    r.overflow = (uint8_t)(next() % 4);
    r.nan = (uint8_t)(next() % 5);
    r.variant = (uint8_t)(next() % 3);
    r.bits = (uint8_t)(next() % 33);
    r.generator = (uint8_t)(next() % 2);
    r.seed = next();
    r.stream = next();
    return r;
}

#endif
