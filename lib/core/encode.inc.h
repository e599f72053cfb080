/* SPDX-License-Identifier: BSD-2-Clause */
/* encode.inc.h - values to bit patterns and back, for one carrier; included by encode.h. */

/* What coding needs of a format (and, for NaN codes, of a rounding), made once a call by plan.h. */
typedef struct core_coder {
    uint64_t mask;                             /* the format's bits */
    uint64_t sign;                             /* the sign bit of a code; 0 if unsigned or two's complement */
    uint64_t magnitude;                        /* the bits below the sign */
    uint64_t infinite[2], nan[2], made_nan[2]; /* codes of +-inf, of a NaN that came, of one that was made; by sign */
    uint64_t top;                              /* floats: magnitudes above this code are special */
    uint64_t decode_infinity, decode_nan;      /* the one magnitude that is infinite; the full code that is NaN */
    uint64_t fraction;                         /* floats: the stored fraction bits */
    uint64_t least;                            /* dlfloat: 1, as code 0 is no normal number there; else 0 */
    realw step, step2;                         /* floats: smallest step, and twice that */
    int64_t zero_point;
    uintw emin_bits; /* as in the plan */
    intw d_norm, d_low;
    int32_t bias;            /* format bias less carrier bias */
    int32_t m;               /* stored fraction bits */
    int32_t first_field;     /* exponent field of 2^emin: 1; 0 where E = 0 is a normal binade */
    int32_t quantum;         /* exponent of the smallest step */
    uint32_t bits;           /* width of a code */
    int32_t n, es;           /* posit; or CORE_HIF8_N */
    uint8_t kind;            /* fpemu_kind */
    uint8_t drop_subnormals; /* codes E = 0, T != 0 are zeros */
    uint8_t is_signed, has_infinity, has_nan, has_negative_zero;
    uint8_t fast_encode, fast_decode; /* whether the fast forms below do */
    uintw fast_min; /* they: magnitudes below are counted in steps: 2^emin, or 0 where the carrier does that too */
    uintw fast_one; /* the code of 2^emin, or 0 */
    uintw fast_c;   /* bits of a number whose unit in the last place is the smallest step */
    uintw fast_bias;
    uint64_t unused; /* symmetric formats: the code that no value has; else one beyond the mask */
    uint8_t affine;  /* int whose scale is no power of two, or too wide for the carrier */
    double scale_value;
    uint64_t scale_sig; /* its scale = scale_sig * 2^scale_exp */
    int32_t scale_exp;
} core_coder;

/* The posit code of a representable magnitude a != 0. */
FPEMU_FN uint64_t core_posit_code(const core_coder *c, uintw a)
{
    const intw u = (intw)(a - ((uintw)CARRIER_BIAS << CARRIER_MANTISSA));
    const intw regime = u >> (CARRIER_MANTISSA + c->es);
    const int run = (int)(regime >= 0 ? regime + 1 : -regime), left = c->n - 2 - run;
    const uintw tail = (uintw)u & (((uintw)1 << (CARRIER_MANTISSA + c->es)) - 1);
    if (left < 0) /* maxpos: no room for the regime's end */
        return (UINT64_C(1) << (c->n - 1)) - 1;
    const uint64_t head = regime >= 0 ? ((UINT64_C(1) << (run + 1)) - 2) : 1;
    const int drop = CARRIER_MANTISSA + c->es - left;
    return (head << left) | (drop >= 0 ? (uint64_t)tail >> drop : (uint64_t)tail << -drop);
}

/* hif8. The exponent is a prefix that tells its width w, its sign, and the magnitude's bits below the first. */
FPEMU_FN uint64_t core_hif8_code(const core_coder *c, uintw y)
{
    const uintw a = y & ~CARRIER_SIGN, sign = y >> (CARRIER_BITS - 1);
    const int e = (int)(a >> CARRIER_MANTISSA) - CARRIER_BIAS, k = e < 0 ? -e : e, m = 3 - (int)core_taper(e);
    const int w = k ? (int)core_log2((uintw)k) + 1 : 0, first = k ? 1 << (w - 1) : 0;
    if (a >= CARRIER_INF)
        return a > CARRIER_INF ? c->nan[0] : c->infinite[sign];
    if (a == 0)
        return 0;
    const int prefix = w < 3 ? 8 << w : 32 * (w - 1), exponent = k ? ((e < 0) * first + k - first) << m : 0;
    const uint64_t fraction = (a & (CARRIER_HIDDEN - 1)) >> (CARRIER_MANTISSA - m);
    return (e < -15 ? (uint64_t)(e + 23) : (uint64_t)(prefix + exponent) | fraction) | (sign ? c->sign : 0);
}

FPEMU_FN uintw core_hif8_value(const core_coder *c, uint64_t code)
{
    const int t = (int)(code & c->magnitude), w = t < 16 ? 0 : t < 32 ? 1 : t < 64 ? 2 : t < 96 ? 3 : 4;
    const int m = w < 3 ? 3 : 5 - w, first = w ? 1 << (w - 1) : 0, k = first + ((t >> m) & (first - (first > 0)));
    const int e = t < 8 ? t - 23 : (t >> m) & first ? -k : k;
    const uintw fraction = t < 8 ? 0 : ((uintw)t & (((uintw)1 << m) - 1)) << (CARRIER_MANTISSA - m);
    if (t == 0)
        return code ? CARRIER_NAN : 0;
    return ((uint64_t)t == c->decode_infinity ? CARRIER_INF : core_power(e) | fraction) |
           (code & c->sign ? CARRIER_SIGN : 0);
}

/* The same for a float: every kind of result is worked out and one taken, so that the loop has a vector form. */
FPEMU_FN uintw core_encode_float(const core_coder *c, uintw u, uintw y)
{
    const uintw a = y & ~CARRIER_SIGN, field = a >> CARRIER_MANTISSA, implicit = field != 0;
    const uintw sig = (a & (CARRIER_HIDDEN - 1)) | (implicit << CARRIER_MANTISSA);
    /* from 2^emin on: normal in the format, perhaps subnormal in the carrier */
    const intw shift = field == 0 ? core_subnormal_shift(a) & (CARRIER_BITS - 1) : 0;
    const uintw e = (uintw)((field == 0 ? 1 - shift : (intw)field) + c->bias);
    const uintw normal = (e << c->m) + (((a << shift) & (CARRIER_HIDDEN - 1)) >> (c->d_norm & (CARRIER_BITS - 1)));
    /* below: counts steps */
    const intw d = c->d_low - (intw)(field + (implicit ^ 1));
    const uintw low = sig >> (d > CARRIER_BITS - 1 ? CARRIER_BITS - 1 : d & (CARRIER_BITS - 1));
    uintw code = (a >= c->emin_bits ? normal : low) | (y >> (CARRIER_BITS - 1) ? (uintw)c->sign : 0);
    code = a == CARRIER_INF ? (uintw)(y >> (CARRIER_BITS - 1) ? c->infinite[1] : c->infinite[0]) : code;
    const uintw came = (uintw)(u >> (CARRIER_BITS - 1) ? c->nan[1] : c->nan[0]);
    const uintw made = (uintw)(u >> (CARRIER_BITS - 1) ? c->made_nan[1] : c->made_nan[0]);
    return a > CARRIER_INF ? ((u & ~CARRIER_SIGN) > CARRIER_INF ? came : made) : code;
}

/* The same for most floats: subnormals are counted by adding a number whose last bits count them. */
FPEMU_FN uintw core_encode_fast(const core_coder *c, uintw u, uintw y)
{
    const uintw sign = y & CARRIER_SIGN, a = y ^ sign;
    const realw sum = core_value(a) + core_value(c->fast_c);
    const uintw low = core_bits(sum) - c->fast_c, normal = (a >> c->d_norm) - c->fast_bias;
    uintw code = (intw)a < (intw)c->fast_min ? low : normal;
    (void)u;
    code = a == CARRIER_INF ? (uintw)c->infinite[0] : code;
    code |= (sign >> ((uintw)CARRIER_BITS - c->bits)) & (uintw)c->sign;
    return (intw)a > (intw)CARRIER_INF ? (uintw)c->nan[0] : code;
}

/* The same for fixed point, and for integers on a plain grid. */
FPEMU_FN uintw core_encode_fixed(const core_coder *c, uintw u, uintw y)
{
    const uintw a = y & ~CARRIER_SIGN, field = a >> CARRIER_MANTISSA, implicit = field != 0;
    const uintw sig = (a & (CARRIER_HIDDEN - 1)) | (implicit << CARRIER_MANTISSA);
    const intw d = c->d_low - (intw)(field + (implicit ^ 1)), left = -d;
    const uintw fewer = sig >> (d > CARRIER_BITS - 1 ? CARRIER_BITS - 1 : d & (CARRIER_BITS - 1));
    const uintw more = sig << (left & (CARRIER_BITS - 1)); /* a value: nothing is shifted out */
    const uintw k = d < 0 ? more : fewer;
    const uintw code = ((y >> (CARRIER_BITS - 1) ? (uintw)0 - k : k) + (uintw)c->zero_point) & (uintw)c->mask;
    return a > CARRIER_INF ? (uintw)(u >> (CARRIER_BITS - 1) ? c->nan[1] : c->nan[0]) : code;
}

/* Code of y, the finished result for input u. */
FPEMU_FN uint64_t core_encode(const core_coder *c, uintw u, uintw y)
{
    if (c->kind == FPEMU_KIND_FLOAT)
        return core_encode_float(c, u, y);
    if (c->kind != FPEMU_KIND_POSIT)
        return core_encode_fixed(c, u, y);
    if (c->n == CORE_HIF8_N)
        return core_hif8_code(c, y);
    const uintw a = y & ~CARRIER_SIGN;
    if (a > CARRIER_INF)
        return c->nan[0];
    const uint64_t code = a ? core_posit_code(c, a) : 0;
    return (y >> (CARRIER_BITS - 1) ? 0 - code : code) & c->mask;
}

/* Code of an affine integer q that gave y for input u. */
FPEMU_FN uint64_t core_encode_affine(const core_coder *c, uintw u, uintw y, int64_t q)
{
    return (y & ~CARRIER_SIGN) > CARRIER_INF ? c->nan[u >> (CARRIER_BITS - 1)] : (uint64_t)q & c->mask;
}

/* The same by y, which is scale * k within half an ulp; k has at most 23 bits, so the quotient is nearest to k. */
FPEMU_FN uintw core_encode_affine_fast(const core_coder *c, uintw u, uintw y)
{
    const double shift = 6755399441055744.0, finite = (double)core_value((y << 1) < (CARRIER_INF << 1) ? y : 0);
    const double sum = finite / c->scale_value + shift; /* 1.5 * 2^52: the integer is in the low bits */
    const uintw code = ((uintw)core_bits64(sum) + (uintw)c->zero_point) & (uintw)c->mask;
    return (y << 1) > (CARRIER_INF << 1) ? (uintw)(u >> (CARRIER_BITS - 1) ? c->nan[1] : c->nan[0]) : code;
}

/* Value of the code of a float, as bits of the carrier; branch-free as core_encode_float. Codes of at most CARRIER_BITS
 * bits. */
FPEMU_FN uintw core_decode_float(const core_coder *c, uintw code)
{
    const uintw magnitude = code & (uintw)c->magnitude, sign = (code & (uintw)c->sign) ? CARRIER_SIGN : 0;
    const uintw t = magnitude & (uintw)c->fraction;
    const intw e = (intw)(magnitude >> c->m), carrier = e - c->bias, deep = 1 - carrier;
    const uintw sig = CARRIER_HIDDEN | (t << (c->d_norm & (CARRIER_BITS - 1)));
    const uintw subnormal = sig >> (deep > CARRIER_BITS - 1 ? CARRIER_BITS - 1 : deep & (CARRIER_BITS - 1));
    uintw y = carrier > 0 ? ((uintw)carrier << CARRIER_MANTISSA) | (sig ^ CARRIER_HIDDEN) : subnormal;
    /* T * 2^quantum where E = 0 is no normal binade; exact, the high half of T apart as T may have a bit too many */
    const uintw two = (uintw)(CARRIER_BIAS + CARRIER_MANTISSA) << CARRIER_MANTISSA;
    const uintw steps = c->drop_subnormals ? 0 : t;
    const uintw half = steps >> 1, rest = steps & 1;
    const uintw doubled = core_bits((core_value(two | half) - core_value(two)) * c->step2);
    const uintw single = core_bits((core_value(two | rest) - core_value(two)) * c->step);
    const uintw low = core_bits(core_value(doubled) + core_value(single));
    y = e < c->first_field || magnitude < (uintw)c->least ? low : y;
    y = y == 0 && !c->has_negative_zero ? 0 : y | sign;
    const uintw special = c->has_infinity && magnitude == (uintw)c->decode_infinity ? sign | CARRIER_INF : CARRIER_NAN;
    return magnitude > (uintw)c->top || (c->has_nan && code == (uintw)c->decode_nan) ? special : y;
}

/* The same for most floats, as core_encode_fast. */
FPEMU_FN uintw core_decode_fast(const core_coder *c, uintw code)
{
    const uintw magnitude = code & (uintw)c->magnitude;
    const uintw sign = (code & (uintw)c->sign) << ((uintw)CARRIER_BITS - c->bits);
    const realw low = core_value(c->fast_c + magnitude) - core_value(c->fast_c);
    const uintw normal = (magnitude + c->fast_bias) << c->d_norm;
    const uintw y = ((intw)magnitude < (intw)c->fast_one ? core_bits(low) : normal) | sign;
    const uintw special = magnitude == (uintw)c->decode_infinity ? sign | CARRIER_INF : CARRIER_NAN;
    return (intw)magnitude > (intw)c->top || code == (uintw)c->decode_nan ? special : y;
}

/* Whether codes are those of e8m0, powers of two with a NaN as the last; and the value of such a code. */
FPEMU_FN int core_codes_are_powers(const core_coder *c)
{
    return c->kind == FPEMU_KIND_FLOAT && c->bits == 8 && c->m == 0 && c->sign == 0 && c->first_field == 0 &&
           c->least == 0 && c->top == 254 && c->has_nan && c->decode_nan == 255 && !c->has_infinity &&
           c->bias == 127 - CARRIER_BIAS;
}

/* As core_encode_float, where there is one code for NaN. */
FPEMU_FN uintw core_encode_power(const core_coder *c, uintw u, uintw y)
{
    const uintw a = y & ~CARRIER_SIGN, code = (a >> CARRIER_MANTISSA) + (uintw)c->bias;
    (void)u;
    return (intw)a > (intw)CARRIER_INF ? (uintw)c->nan[0] : a == CARRIER_INF ? (uintw)c->infinite[0] : code;
}

FPEMU_FN uintw core_decode_power(const core_coder *c, uintw code)
{
    const uintw power = (code - (uintw)c->bias) << CARRIER_MANTISSA;
    return code == 255 ? CARRIER_NAN : power ? power : CARRIER_HIDDEN >> 1;
}

/* Value of a code, as bits of the carrier. */
FPEMU_FN uintw core_decode(const core_coder *c, uint64_t code)
{
    code &= c->mask;
    if (c->kind == FPEMU_KIND_FLOAT)
        return core_decode_float(c, (uintw)code);
    if (c->kind == FPEMU_KIND_POSIT && c->n == CORE_HIF8_N)
        return core_hif8_value(c, code);
    if (c->kind == FPEMU_KIND_POSIT) {
        const uint64_t sign = UINT64_C(1) << (c->n - 1);
        if (code == 0)
            return 0;
        if (code == sign)
            return CARRIER_NAN;
        const int negative = (code & sign) != 0;
        uint64_t x = (negative ? 0 - code : code) << (64 - c->n) << 1; /* regime first, left-aligned, not all zero */
        const int ones = (int)(x >> 63), run = 63 - core_log2_64(ones ? ~x : x);
        const int regime = ones ? run - 1 : -run;
        x <<= run + 1;
        const int e = regime * (1 << c->es) + (c->es ? (int)(x >> (64 - c->es)) : 0);
        x <<= c->es;
        /* n <= 32 leaves at most 29 fraction bits */
        const uintw sig = (uintw)((x >> 34) | (UINT64_C(1) << 30));
        return (negative ? CARRIER_SIGN : 0) | core_compose(sig, e - 30);
    }
    if (code == c->unused)
        return CARRIER_NAN;
    const uint64_t top = (c->mask >> 1) + 1;
    int64_t q = (int64_t)code;
    if (c->is_signed && (code & top))
        q = (int64_t)(code | ~c->mask);
    q -= c->zero_point;
    if (c->affine)
        return core_affine_value(c->scale_sig, c->scale_exp, q);
    const uint64_t k = q < 0 ? 0 - (uint64_t)q : (uint64_t)q;
    return (q < 0 ? CARRIER_SIGN : 0) | core_compose((uintw)k, c->quantum);
}
