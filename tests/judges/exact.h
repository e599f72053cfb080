/* SPDX-License-Identifier: BSD-2-Clause */
/* exact.h - the slow judge on numbers that no carrier holds: the results of operations. */
#ifndef REF_EXACT_H
#define REF_EXACT_H

#include "judge.h"
#include <gmp.h>

/* As judge_round of a judge opened by judge_open_slow, for x = k * 2^exponent, k >= 0, negated if `negative`. Not for
 * affine integers. What lies some 40 binary places below the carrier's smallest number is kept as one sticky bit. */
judge_result judge_exact(judge *slow, int negative, mpz_srcptr k, long exponent, uint32_t random);
/* The same with the code, for affine integers too. */
judge_result judge_exact_code(judge *slow, int negative, mpz_srcptr k, long exponent, uint32_t random);

#endif
