/* SPDX-License-Identifier: BSD-2-Clause */
/* fits.h - products of an element and its scale, which arithmetic takes only where binary64 has them. */
#ifndef FPEMU_CORE_FITS_H
#define FPEMU_CORE_FITS_H

#include "exact.h"

/* Whether the product of two numbers is one of binary64; where it is infinite or NaN it is. */
FPEMU_FN int core_product_fits(double x, double y)
{
    const core_exact p = core_exact_multiply(core_exact_from(core_bits64(x)), core_exact_from(core_bits64(y)));
    return p.kind != CORE_FINITE || core_exact_binary64(&p, FPEMU_MODE_RTZ) == core_exact_binary64(&p, FPEMU_MODE_RAZ);
}

#endif /* FPEMU_CORE_FITS_H */
