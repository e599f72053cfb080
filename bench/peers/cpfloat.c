/* SPDX-License-Identifier: BSD-2-Clause */
/* cpfloat.c - what peers.py measures of CPFloat, whose headers are not here: cpfloatf() with the parameters of a
 * format, in the mode of that number in CPFloat. Returns cpfloatf()'s status. */
#include <stddef.h>

#include "cpfloat_binary32.h"

int cpfloat_round(size_t n, const float *x, float *y, int precision, int emin, int emax, int mode)
{
    static optstruct *options;
    if (options == NULL && (options = init_optstruct()) == NULL)
        return -1;
    options->precision = (cpfloat_precision_t)precision;
    options->emin = emin;
    options->emax = emax;
    options->explim = CPFLOAT_EXPRANGE_TARG;
    options->infinity = CPFLOAT_INF_USE;
    options->saturation = CPFLOAT_SAT_NO;
    options->subnormal = CPFLOAT_SUBN_USE;
    options->round = (cpfloat_rounding_t)mode;
    options->flip = CPFLOAT_SOFTERR_NO;
    return cpfloatf(y, x, n, options);
}
