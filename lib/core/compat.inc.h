/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.inc.h - the compatibility rules for one carrier; included by compat.h. */

/* What e8m0 sees instead of u to nearest: 2^-126 of all that lies between 2^-127 and it, since ml_dtypes 0.6 and PyTorch
 * take the lower half up too. */
FPEMU_FN uintw core_least_power(const core_plan *p, uintw u)
{
    const uintw next = core_power(-126), nearest = p->mode == FPEMU_MODE_RNA;
    return nearest & (uintw)((intw)u > (intw)p->emin_bits) & (uintw)((intw)u < (intw)next) ? next : u;
}

/* Under ml_dtypes: of zero and finite negative numbers what those become. */
FPEMU_FN uintw core_ml_dtypes(const core_plan *p, uintw u)
{
    const uintw below = (u & ~CARRIER_SIGN) < CARRIER_INF ? p->negative : CARRIER_NAN;
    return (intw)u <= 0 ? below : core_least_power(p, u);
}

/* The input that the rules see instead of u. */
FPEMU_FN uintw core_compat_input(const core_plan *p, uintw u)
{
    const uintw a = u & ~CARRIER_SIGN;
    if (p->compat == FPEMU_COMPAT_CUDA && a <= CARRIER_INF)
        return a; /* e8m0 of the magnitude */
    if (p->compat == FPEMU_COMPAT_PYTORCH_CAST)
        return core_least_power(p, a);
    if (p->compat == FPEMU_COMPAT_ML_DTYPES)
        return core_ml_dtypes(p, u);
    if ((p->compat == FPEMU_COMPAT_QPYTORCH || p->compat == FPEMU_COMPAT_LEE_INF) && p->emin_bits < CARRIER_INF &&
        a < p->emin_bits) {
        /* x + 2^emin in binary32, then rounded: first to a multiple of 2^(emin-23) */
        const uintw field = a >> CARRIER_MANTISSA, implicit = field != 0;
        const uintw sig = (a & (CARRIER_HIDDEN - 1)) | (implicit << CARRIER_MANTISSA);
        const intw d = p->pre_d - (intw)(implicit ? field : 1);
        if (d > 0) {
            const uintw up = core_up(FPEMU_MODE_RNE, 0, p->one, sig, d, 1, 0, 0);
            const intw shift = d > CARRIER_MANTISSA ? CARRIER_MANTISSA : d;
            const uintw step = (uintw)1 << shift;
            const uintw one = core_power((int)p->pre_d - CARRIER_BIAS - CARRIER_MANTISSA);
            const uintw b = d > CARRIER_MANTISSA ? (up ? one : 0) : (a & ~(step - 1)) + (up ? step : 0);
            return b | (u & CARRIER_SIGN);
        }
    }
    return u;
}

/* Grid step of CPFloat's stochastic modes past the largest value: overflow (any magnitude above max), or max. */
FPEMU_FN uintw core_cpfloat_past_max(const core_plan *p, uintw a, uintw sign, uintw r)
{
    const uintw max = p->max[sign ? 1 : 0], field = max >> CARRIER_MANTISSA;
    if (p->mode == FPEMU_MODE_SE)
        return r >> (CARRIER_BITS - 1) ? a : max;
    const intw deeper = field ? 0 : CARRIER_MANTISSA - (intw)core_log2(max); /* max is a subnormal of the carrier */
    const intw d = max < p->emin_bits ? p->d_low - (intw)(field ? field : 1) : p->d_norm - deeper;
    const uintw rest = a - max;
    if (d < 2 || rest >= (uintw)1 << (d - 1)) /* ulp/2 and beyond; with d = 1, past max is at least ulp/2 */
        return a;
    const uintw v = rest << (CARRIER_BITS - (d - 1));
    return (uintw)(v + r) < v ? a : max;
}

/* QPyTorch's fixed point: binary32 sum x*2^fl + 1/2 (or + r), less 1/2, to the nearest integer. Signed bits of the
 * grid value. */
FPEMU_FN uintw core_qpytorch_fixed(const core_plan *p, uintw u, uint32_t r)
{
    const double scale = core_value64(core_power64(p->fraction_bits)), x = core_to_double(u);
    const double add = p->mode == FPEMU_MODE_SR ? (double)(r >> 8) / 16777216.0 : 0.5;
    const double t = (double)core_value32(core_narrow(x * scale + add)) - 0.5;
    const uint64_t z = core_bits64(t), sign = z >> 63 << 63;
    const core_plan64 integers = core_integers();
    const uint64_t g = core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, z & ~sign, sign, 0);
    const uintw sign_bit = sign ? CARRIER_SIGN : 0;
    if (g >= core_bits64(16777216.0)) /* a binary32 integer already: x itself is on the grid */
        return u;
    return core_compose((uintw)core_grid_steps64(g, 0), p->quantum) | sign_bit;
}

/* PyTorch's affine order in binary32: the integer before the zero point is added, as binary64 bits with sign. */
FPEMU_FN uint64_t core_pytorch_affine(const core_plan *p, uintw u)
{
    const float scale = (float)((double)p->scale_sig * core_value64(core_power64(p->scale_exp)));
    const float x = (float)core_to_double(u);
    const float inverse = 1.0f / scale;
    const float t = x == 0 ? x : p->compat == FPEMU_COMPAT_PYTORCH_MULTIPLY ? x * inverse : x / scale;
    const uint64_t z = core_bits64((double)t), sign = z >> 63 << 63;
    const core_plan64 integers = core_integers();
    return core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, z & ~sign, sign, 0) | sign;
}
