/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.h - elementary functions by GNU MPFR: what fpemu_apply has to round. */
#ifndef REF_FUNCTIONS_H
#define REF_FUNCTIONS_H

#include <fpemu.h>
#include <gmp.h>

enum ref_kind { REF_FINITE, REF_INFINITE, REF_NAN };

typedef struct ref_value {
    int kind, negative, invalid, div_by_zero;
    /* finite: the magnitude is k * 2^e; where k is odd and has more bits than were asked for, it stands for any number
     * between (k - 1) * 2^e and (k + 1) * 2^e */
    mpz_t k;
    long e;
} ref_value;

void ref_value_init(ref_value *v);

/* The function at x, a binary32 number, to `bits` bits (2 to 170) and one more that says whether others follow. Past
 * 2^5000, or below 2^-5000, some number there. */
void ref_function(ref_value *v, fpemu_function function, double x, unsigned bits);

#endif
