/* code.inc.h - values to bit patterns and back, for one carrier; included by code.h as round.inc.h is by round.h. */

#define CORE_SIGN ((CORE_UINT)1 << (CORE_W - 1))
#define CORE_HIDDEN ((CORE_UINT)1 << CORE_MANT)
#define CORE_INF ((CORE_UINT)(2 * CORE_BIAS + 1) << CORE_MANT)
#define CORE_NAN (CORE_INF | (CORE_HIDDEN >> 1))

/* What coding needs of a format (and, for NaN codes, of a rounding), made once a call by plan.h. */
typedef struct CORE(coder) {
    uint64_t mask;       /* the format's bits */
    uint64_t sign;       /* the sign bit of a code; 0 if unsigned or two's complement */
    uint64_t magnitude;  /* the bits below the sign */
    uint64_t infinite[2], nan[2], made_nan[2]; /* codes of +-inf, of a NaN that came, of one that was made; by sign */
    uint64_t top;        /* floats: magnitudes above this code are special */
    uint64_t decode_infinity, decode_nan;      /* the one magnitude that is infinite; the full code that is NaN */
    int64_t zero_point;
    CORE_UINT emin_bits; /* as in the plan */
    CORE_SINT d_norm, d_low;
    int32_t bias;        /* format bias less carrier bias */
    int32_t m;           /* stored fraction bits */
    int32_t first_field; /* exponent field of 2^emin: 1; 0 where E = 0 is a normal binade */
    int32_t quantum;     /* exponent of the smallest step */
    int32_t n, es;       /* posit */
    uint8_t kind;        /* fpemu_kind */
    uint8_t specials;
    uint8_t drop_subnormals; /* codes E = 0, T != 0 are zeros */
    uint8_t is_signed, has_infinity, has_nan, has_negative_zero;
    uint64_t unused;     /* symmetric formats: the code that no value has; else one beyond the mask */
    uint8_t affine;      /* int whose scale is no power of two, or too wide for the carrier */
    uint64_t scale_sig;  /* its scale = scale_sig * 2^scale_exp */
    int32_t scale_exp;
} CORE(coder);

/* The posit code of a representable magnitude a != 0. */
FPEMU_FN uint64_t CORE(posit_code)(const CORE(coder) *c, CORE_UINT a)
{
    const CORE_SINT u = (CORE_SINT)(a - ((CORE_UINT)CORE_BIAS << CORE_MANT));
    const CORE_SINT regime = u >> (CORE_MANT + c->es);
    const int run = (int)(regime >= 0 ? regime + 1 : -regime), left = c->n - 2 - run;
    const CORE_UINT tail = (CORE_UINT)u & (((CORE_UINT)1 << (CORE_MANT + c->es)) - 1);
    if (left < 0) /* maxpos: no room for the regime's end */
        return (UINT64_C(1) << (c->n - 1)) - 1;
    const uint64_t head = regime >= 0 ? ((UINT64_C(1) << (run + 1)) - 2) : 1;
    const int drop = CORE_MANT + c->es - left;
    return (head << left) | (drop >= 0 ? (uint64_t)tail >> drop : (uint64_t)tail << -drop);
}

/* Code of y, the finished result for input u. */
FPEMU_FN uint64_t CORE(encode)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y)
{
    const CORE_UINT a = y & ~CORE_SIGN;
    const unsigned s = (unsigned)(y >> (CORE_W - 1)), came = (unsigned)(u >> (CORE_W - 1));
    if (a > CORE_INF)
        return (u & ~CORE_SIGN) > CORE_INF ? c->nan[came] : c->made_nan[came];
    if (a == CORE_INF)
        return c->infinite[s];
    if (c->kind == FPEMU_KIND_FLOAT) {
        uint64_t code;
        const CORE_UINT field = a >> CORE_MANT;
        if (a >= c->emin_bits && a != 0) {
            CORE_UINT sig = a & (CORE_HIDDEN - 1);
            int32_t e = (int32_t)field;
            if (field == 0) { /* subnormal in the carrier, normal in the format */
                const int shift = CORE_MANT - (int)CORE_LOG2(a);
                sig = (a << shift) & (CORE_HIDDEN - 1);
                e = 1 - shift;
            }
            code = ((uint64_t)(uint32_t)(e + c->bias) << c->m) + (sig >> c->d_norm);
        } else {
            const CORE_UINT sig = (a & (CORE_HIDDEN - 1)) | (field ? CORE_HIDDEN : 0);
            const CORE_SINT d = c->d_low - (CORE_SINT)(field ? field : 1);
            code = d < CORE_W ? sig >> d : 0;
        }
        return s && (code || c->has_negative_zero) ? code | c->sign : code;
    }
    if (a == 0)
        return (uint64_t)c->zero_point & c->mask;
    if (c->kind == FPEMU_KIND_POSIT) {
        const uint64_t code = CORE(posit_code)(c, a);
        return (s ? 0 - code : code) & c->mask;
    }
    const uint64_t k = CORE(count)(a, c->quantum);
    return ((s ? 0 - k : k) + (uint64_t)c->zero_point) & c->mask;
}

/* Code of an affine integer q that gave y for input u. */
FPEMU_FN uint64_t CORE(encode_affine)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y, int64_t q)
{
    return (y & ~CORE_SIGN) > CORE_INF ? c->nan[u >> (CORE_W - 1)] : (uint64_t)q & c->mask;
}

/* Value of a code, as bits of the carrier. */
FPEMU_FN CORE_UINT CORE(decode)(const CORE(coder) *c, uint64_t code)
{
    code &= c->mask;
    if (c->kind == FPEMU_KIND_FLOAT) {
        const uint64_t magnitude = code & c->magnitude;
        const CORE_UINT sign = (code & c->sign) ? CORE_SIGN : 0;
        if (magnitude > c->top || code == c->decode_nan)
            return c->has_infinity && magnitude == c->decode_infinity ? sign | CORE_INF : CORE_NAN;
        const uint64_t field = magnitude >> c->m;
        const uint64_t t = magnitude & ((UINT64_C(1) << c->m) - 1);
        if (field < (uint64_t)c->first_field || (c->specials == FPEMU_SPECIALS_DLFLOAT && magnitude == 0)) {
            if (c->drop_subnormals || t == 0)
                return c->has_negative_zero ? sign : 0;
            return sign | CORE(compose)((CORE_UINT)t, c->quantum);
        }
        const CORE_UINT sig = (CORE_UINT)(t | (UINT64_C(1) << c->m));
        return sign | CORE(compose)(sig, (int)field - c->bias - CORE_BIAS - c->m);
    }
    if (c->kind == FPEMU_KIND_POSIT) {
        const uint64_t sign = UINT64_C(1) << (c->n - 1);
        if (code == 0)
            return 0;
        if (code == sign)
            return CORE_NAN;
        const int negative = (code & sign) != 0;
        uint64_t x = (negative ? 0 - code : code) << (64 - c->n) << 1; /* regime first, left-aligned, not all zero */
        const int ones = (int)(x >> 63), run = 63 - core_log2_64(ones ? ~x : x);
        const int regime = ones ? run - 1 : -run;
        x <<= run + 1;
        const int e = regime * (1 << c->es) + (c->es ? (int)(x >> (64 - c->es)) : 0);
        x <<= c->es;
        const CORE_UINT sig = (CORE_UINT)((x >> 34) | (UINT64_C(1) << 30)); /* n <= 32 leaves at most 29 fraction bits */
        return (negative ? CORE_SIGN : 0) | CORE(compose)(sig, e - 30);
    }
    if (code == c->unused)
        return CORE_NAN;
    const uint64_t top = (c->mask >> 1) + 1;
    int64_t q = (int64_t)code;
    if (c->is_signed && (code & top))
        q = (int64_t)(code | ~c->mask);
    q -= c->zero_point;
    if (c->affine)
        return CORE(scaled)(c->scale_sig, c->scale_exp, q);
    const uint64_t k = q < 0 ? 0 - (uint64_t)q : (uint64_t)q;
    return (q < 0 ? CORE_SIGN : 0) | CORE(compose)((CORE_UINT)k, c->quantum);
}

#undef CORE_SIGN
#undef CORE_HIDDEN
#undef CORE_INF
#undef CORE_NAN
