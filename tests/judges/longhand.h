/* SPDX-License-Identifier: BSD-2-Clause */
/* longhand.h - the rules of the library worked out by hand, one element at a time, for tests to compare with.
 *
 * Shares nothing with lib/: formats are those typed in (formats.h), a value is taken apart by frexp, the decision is
 * made on the exact remainder. Slow and plain on purpose.
 */
#ifndef LONGHAND_H
#define LONGHAND_H

#include "bits.h"
#include "fpemu.h"

/* What becomes of overflow under `ieee`, and which special codes exist. */
enum lh_family { LH_IEEE, LH_NAN_ONLY, LH_FINITE, LH_P3109E, LH_P3109F, LH_E8M0, LH_DLFLOAT };

typedef struct lh_format {
    const char *spec;
    int kind; /* fpemu_kind */
    /* floats */
    int p, emin, bias, family, is_signed, has_nan, has_negative_zero, subnormals;
    double max;
    /* fixed point and integers: codes low..high, step 2^-fl or scale with zero point */
    int width, fl, wrap;
    int64_t low, high, zero;
    double scale;
    /* posits: width and es */
    int es;
    int f64_only; /* binary32 cannot carry it */
} lh_format;

/* Every format of formats.h of which the largest value is known, i = 0, 1, ...; NULL past the end. */
const lh_format *lh_formats(size_t i);
/* The same by spec or by a shorter name; NULL if there is none. */
const lh_format *lh_find(const char *spec);

/* Largest and smallest finite value, and the smallest normal one, as the carrier (32 or 64) holds them. */
double lh_max(const lh_format *f, int carrier);
double lh_lowest(const lh_format *f, int carrier);
double lh_min_normal(const lh_format *f);
/* Only the rule for posits and nothing stochastic or directed goes with them. */
int lh_supports(const lh_format *f, int mode);

typedef struct lh_rounding {
    int mode, overflow, nan, variant;
    unsigned bits; /* N: 1..32 */
    uint32_t r;    /* the N random bits */
} lh_rounding;

typedef struct lh_result {
    double y;
    int overflow; /* x finite, and outside [lowest, max] before the policy */
    int64_t q;    /* fixed point and integers: the code as a number; two of a wide integer may have one value */
} lh_result;

lh_result lh_round(const lh_format *f, int carrier, lh_rounding how, double x);

/* How many of R = 0 .. 2^N-1 make lh_round go away from zero is P(up) * 2^N; the fraction v = rem / 2^shift. */
int lh_up(int mode, int variant, unsigned bits, uint32_t r, int negative, int odd, uint64_t rem, int shift);
double lh_posit_value(uint64_t code, int n, int es);

/* Random words by their definitions. */
void lh_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
uint32_t lh_word(int generator, uint64_t seed, uint64_t stream, uint64_t j);
uint32_t lh_bits(int generator, uint64_t seed, uint64_t stream, uint64_t i, unsigned bits);

/* A small generator for test values; not one of the library's. */
uint64_t lh_next(uint64_t *state);

/* The array of a carrier, 32 or 64: of x, x32 or x64; its elements, by value and by their bits. */
#define LH_OF(array) (carrier == 32 ? (void *)array##32 : (void *)array##64)
double lh_at(int carrier, const void *array, size_t i);
int lh_same_bits(int carrier, const void *a, const void *b, size_t i);

/* 1 if y and the expected value have equal bits, NaN meaning the canonical quiet NaN. */
int lh_same_f32(float y, double expected);
int lh_same_f64(double y, double expected);

/* Counts a check; a failed one is printed (the first 25 of a program), and ends the program
 * where the environment has STOP_AT_FAILURE. Returns `good`. */
int lh_check(int good, const char *format, ...);
/* The format that a test names; ends the program where there is none. */
fpemu_format lh_parsed(const char *spec);
/* Prints the tally; the exit status of the program. */
int lh_report(const char *program);

#endif
