/* compat.inc.h - the compatibility rules for one carrier; included by compat.h. */

/* The input that the rules see instead of u. */
FPEMU_FN CORE_UINT CORE(compat_input)(const CORE(plan) *p, CORE_UINT u)
{
    const CORE_UINT a = u & ~CORE_SIGN;
    if (p->compat == FPEMU_COMPAT_CUDA && a <= CORE_INF)
        return a; /* e8m0 of the magnitude */
    if (p->compat == FPEMU_COMPAT_ML_DTYPES && a == 0)
        return CORE_NAN;
    if ((p->compat == FPEMU_COMPAT_QPYTORCH || p->compat == FPEMU_COMPAT_LEE_INF) && p->emin_bits < CORE_INF &&
        a < p->emin_bits) {
        /* x + 2^emin in binary32, then rounded: first to a multiple of 2^(emin-23) */
        const CORE_UINT field = a >> CORE_MANT, implicit = field != 0;
        const CORE_UINT sig = (a & (CORE_HIDDEN - 1)) | (implicit << CORE_MANT);
        const CORE_SINT d = p->pre_d - (CORE_SINT)(implicit ? field : 1);
        if (d > 0) {
            const CORE_UINT up = CORE(up)(FPEMU_MODE_RNE, 0, p->one, sig, d, 1, 0, 0);
            const CORE_SINT shift = d > CORE_MANT ? CORE_MANT : d;
            const CORE_UINT step = (CORE_UINT)1 << shift;
            const CORE_UINT one = CORE(power)((int)p->pre_d - CORE_BIAS - CORE_MANT);
            const CORE_UINT b = d > CORE_MANT ? (up ? one : 0) : (a & ~(step - 1)) + (up ? step : 0);
            return b | (u & CORE_SIGN);
        }
    }
    return u;
}

/* Grid step of CPFloat's stochastic modes past the largest value: overflow (any magnitude above max), or max. */
FPEMU_FN CORE_UINT CORE(cpfloat_past_max)(const CORE(plan) *p, CORE_UINT a, CORE_UINT sign, CORE_UINT r)
{
    const CORE_UINT max = p->max[sign ? 1 : 0], field = max >> CORE_MANT;
    if (p->mode == FPEMU_MODE_SE)
        return r >> (CORE_W - 1) ? a : max;
    const CORE_SINT d = max < p->emin_bits ? p->d_low - (CORE_SINT)(field ? field : 1) : p->d_norm;
    const CORE_UINT rest = a - max;
    if (d < 2 || rest >= (CORE_UINT)1 << (d - 1)) /* ulp/2 and beyond; with d = 1, past max is at least ulp/2 */
        return a;
    const CORE_UINT v = rest << (CORE_W - (d - 1));
    return (CORE_UINT)(v + r) < v ? a : max;
}

/* QPyTorch's fixed point: binary32 sum x*2^fl + 1/2 (or + r), less 1/2, to the nearest integer. Signed bits of the
 * grid value. */
FPEMU_FN CORE_UINT CORE(qpytorch_fixed)(const CORE(plan) *p, CORE_UINT u, uint32_t r)
{
    const double scale = core_value64(core_power64(p->fraction_bits)), x = CORE_TO_DOUBLE(u);
    const double add = p->mode == FPEMU_MODE_SR ? (double)(r >> 8) / 16777216.0 : 0.5;
    const double t = (double)core_value32(core_narrow(x * scale + add)) - 0.5;
    const uint64_t z = core_bits64(t), sign = z >> 63 << 63;
    core_plan64 integers;
    memset(&integers, 0, sizeof integers);
    core_plan_fixed_grid64(&integers, 0);
    const uint64_t g = core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, z & ~sign, sign, 0);
    const CORE_UINT side = sign ? CORE_SIGN : 0;
    if (g >= core_bits64(16777216.0)) /* a binary32 integer already: x itself is on the grid */
        return u;
    return CORE(compose)((CORE_UINT)core_count64(g, 0), p->quantum) | side;
}

/* PyTorch's affine order in binary32: the integer before the zero point is added, as binary64 bits with sign. */
FPEMU_FN uint64_t CORE(pytorch_affine)(const CORE(plan) *p, CORE_UINT u)
{
    const float scale = (float)((double)p->scale_sig * core_value64(core_power64(p->scale_exp)));
    const float x = (float)CORE_TO_DOUBLE(u);
    const float inverse = 1.0f / scale;
    const float t = p->compat == FPEMU_COMPAT_PYTORCH_MULTIPLY ? x * inverse : x / scale;
    const uint64_t z = core_bits64((double)t), sign = z >> 63 << 63;
    core_plan64 integers;
    memset(&integers, 0, sizeof integers);
    core_plan_fixed_grid64(&integers, 0);
    return core_grid64(&integers, FPEMU_MODE_RNE, 0, 32, z & ~sign, sign, 0) | sign;
}
