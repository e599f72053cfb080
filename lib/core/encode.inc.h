/* code.inc.h - values to bit patterns and back, for one carrier; included by code.h as round.inc.h is by round.h. */

/* What coding needs of a format (and, for NaN codes, of a rounding), made once a call by plan.h. */
typedef struct CORE(coder) {
    uint64_t mask;       /* the format's bits */
    uint64_t sign;       /* the sign bit of a code; 0 if unsigned or two's complement */
    uint64_t magnitude;  /* the bits below the sign */
    uint64_t infinite[2], nan[2], made_nan[2]; /* codes of +-inf, of a NaN that came, of one that was made; by sign */
    uint64_t top;        /* floats: magnitudes above this code are special */
    uint64_t decode_infinity, decode_nan;      /* the one magnitude that is infinite; the full code that is NaN */
    uint64_t fraction;   /* floats: the stored fraction bits */
    uint64_t least;      /* dlfloat: 1, as code 0 is no normal number there; else 0 */
    CORE_REAL step, step2; /* floats: smallest step, and twice that */
    int64_t zero_point;
    CORE_UINT emin_bits; /* as in the plan */
    CORE_SINT d_norm, d_low;
    int32_t bias;        /* format bias less carrier bias */
    int32_t m;           /* stored fraction bits */
    int32_t first_field; /* exponent field of 2^emin: 1; 0 where E = 0 is a normal binade */
    int32_t quantum;     /* exponent of the smallest step */
    uint32_t bits;       /* width of a code */
    int32_t n, es;       /* posit */
    uint8_t kind;        /* fpemu_kind */
    uint8_t drop_subnormals; /* codes E = 0, T != 0 are zeros */
    uint8_t is_signed, has_infinity, has_nan, has_negative_zero;
    uint8_t quick_encode, quick_decode; /* whether the quick forms below do */
    CORE_UINT quick_min; /* they: magnitudes below are counted in steps: 2^emin, or 0 where the carrier does that too */
    CORE_UINT quick_one; /* the code of 2^emin, or 0 */
    CORE_UINT quick_c;   /* bits of a number whose unit in the last place is the smallest step */
    CORE_UINT quick_bias;
    uint64_t unused;     /* symmetric formats: the code that no value has; else one beyond the mask */
    uint8_t affine;      /* int whose scale is no power of two, or too wide for the carrier */
    double scale_value;
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

/* The same for a float: every kind of result is worked out and one taken, so that the loop has a vector form. */
FPEMU_FN CORE_UINT CORE(encode_float)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y)
{
    const CORE_UINT a = y & ~CORE_SIGN, field = a >> CORE_MANT, implicit = field != 0;
    const CORE_UINT sig = (a & (CORE_HIDDEN - 1)) | (implicit << CORE_MANT);
    /* from 2^emin on: normal in the format, perhaps subnormal in the carrier */
    const CORE_SINT shift = field == 0 ? CORE(subnormal_shift)(a) & (CORE_W - 1) : 0;
    const CORE_UINT e = (CORE_UINT)((field == 0 ? 1 - shift : (CORE_SINT)field) + c->bias);
    const CORE_UINT normal = (e << c->m) + (((a << shift) & (CORE_HIDDEN - 1)) >> (c->d_norm & (CORE_W - 1)));
    /* below: counts steps */
    const CORE_SINT d = c->d_low - (CORE_SINT)(field + (implicit ^ 1));
    const CORE_UINT low = sig >> (d > CORE_W - 1 ? CORE_W - 1 : d & (CORE_W - 1));
    CORE_UINT code = (a >= c->emin_bits ? normal : low) | (y >> (CORE_W - 1) ? (CORE_UINT)c->sign : 0);
    code = a == CORE_INF ? (CORE_UINT)(y >> (CORE_W - 1) ? c->infinite[1] : c->infinite[0]) : code;
    const CORE_UINT came = (CORE_UINT)(u >> (CORE_W - 1) ? c->nan[1] : c->nan[0]);
    const CORE_UINT made = (CORE_UINT)(u >> (CORE_W - 1) ? c->made_nan[1] : c->made_nan[0]);
    return a > CORE_INF ? ((u & ~CORE_SIGN) > CORE_INF ? came : made) : code;
}

/* The same for most floats: subnormals are counted by adding a number whose last bits count them. */
FPEMU_FN CORE_UINT CORE(encode_quick)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y)
{
    const CORE_UINT sign = y & CORE_SIGN, a = y ^ sign;
    const CORE_REAL sum = CORE_VALUE(a) + CORE_VALUE(c->quick_c);
    const CORE_UINT low = CORE_BITS(sum) - c->quick_c, normal = (a >> c->d_norm) - c->quick_bias;
    CORE_UINT code = (CORE_SINT)a < (CORE_SINT)c->quick_min ? low : normal;
    (void)u;
    code = a == CORE_INF ? (CORE_UINT)c->infinite[0] : code;
    code |= (sign >> ((CORE_UINT)CORE_W - c->bits)) & (CORE_UINT)c->sign;
    return (CORE_SINT)a > (CORE_SINT)CORE_INF ? (CORE_UINT)c->nan[0] : code;
}

/* The same for fixed point, and for integers on a plain grid. */
FPEMU_FN CORE_UINT CORE(encode_fixed)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y)
{
    const CORE_UINT a = y & ~CORE_SIGN, field = a >> CORE_MANT, implicit = field != 0;
    const CORE_UINT sig = (a & (CORE_HIDDEN - 1)) | (implicit << CORE_MANT);
    const CORE_SINT d = c->d_low - (CORE_SINT)(field + (implicit ^ 1)), left = -d;
    const CORE_UINT fewer = sig >> (d > CORE_W - 1 ? CORE_W - 1 : d & (CORE_W - 1));
    const CORE_UINT more = sig << (left & (CORE_W - 1)); /* a value: nothing is shifted out */
    const CORE_UINT k = d < 0 ? more : fewer;
    const CORE_UINT code = ((y >> (CORE_W - 1) ? (CORE_UINT)0 - k : k) + (CORE_UINT)c->zero_point) & (CORE_UINT)c->mask;
    return a > CORE_INF ? (CORE_UINT)(u >> (CORE_W - 1) ? c->nan[1] : c->nan[0]) : code;
}

/* Code of y, the finished result for input u. */
FPEMU_FN uint64_t CORE(encode)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y)
{
    if (c->kind == FPEMU_KIND_FLOAT)
        return CORE(encode_float)(c, u, y);
    if (c->kind != FPEMU_KIND_POSIT)
        return CORE(encode_fixed)(c, u, y);
    const CORE_UINT a = y & ~CORE_SIGN;
    if (a > CORE_INF)
        return c->nan[0];
    const uint64_t code = a ? CORE(posit_code)(c, a) : 0;
    return (y >> (CORE_W - 1) ? 0 - code : code) & c->mask;
}

/* Code of an affine integer q that gave y for input u. */
FPEMU_FN uint64_t CORE(encode_affine)(const CORE(coder) *c, CORE_UINT u, CORE_UINT y, int64_t q)
{
    return (y & ~CORE_SIGN) > CORE_INF ? c->nan[u >> (CORE_W - 1)] : (uint64_t)q & c->mask;
}

/* Value of the code of a float, as bits of the carrier; branch-free as encode_float. Codes of at most CORE_W bits. */
FPEMU_FN CORE_UINT CORE(decode_float)(const CORE(coder) *c, CORE_UINT code)
{
    const CORE_UINT magnitude = code & (CORE_UINT)c->magnitude, sign = (code & (CORE_UINT)c->sign) ? CORE_SIGN : 0;
    const CORE_UINT t = magnitude & (CORE_UINT)c->fraction;
    const CORE_SINT e = (CORE_SINT)(magnitude >> c->m), carrier = e - c->bias, deep = 1 - carrier;
    const CORE_UINT sig = CORE_HIDDEN | (t << (c->d_norm & (CORE_W - 1)));
    const CORE_UINT subnormal = sig >> (deep > CORE_W - 1 ? CORE_W - 1 : deep & (CORE_W - 1));
    CORE_UINT y = carrier > 0 ? ((CORE_UINT)carrier << CORE_MANT) | (sig ^ CORE_HIDDEN) : subnormal;
    /* T * 2^quantum where E = 0 is no normal binade; exact, the high half of T apart as T may have a bit too many */
    const CORE_UINT two = (CORE_UINT)(CORE_BIAS + CORE_MANT) << CORE_MANT;
    const CORE_UINT steps = c->drop_subnormals ? 0 : t;
    const CORE_UINT half = steps >> 1, rest = steps & 1;
    const CORE_UINT doubled = CORE_BITS((CORE_VALUE(two | half) - CORE_VALUE(two)) * c->step2);
    const CORE_UINT single = CORE_BITS((CORE_VALUE(two | rest) - CORE_VALUE(two)) * c->step);
    const CORE_UINT low = CORE_BITS(CORE_VALUE(doubled) + CORE_VALUE(single));
    y = e < c->first_field || magnitude < (CORE_UINT)c->least ? low : y;
    y = y == 0 && !c->has_negative_zero ? 0 : y | sign;
    const CORE_UINT special =
        c->has_infinity && magnitude == (CORE_UINT)c->decode_infinity ? sign | CORE_INF : CORE_NAN;
    return magnitude > (CORE_UINT)c->top || (c->has_nan && code == (CORE_UINT)c->decode_nan) ? special : y;
}

/* The same for most floats, as encode_quick. */
FPEMU_FN CORE_UINT CORE(decode_quick)(const CORE(coder) *c, CORE_UINT code)
{
    const CORE_UINT magnitude = code & (CORE_UINT)c->magnitude;
    const CORE_UINT sign = (code & (CORE_UINT)c->sign) << ((CORE_UINT)CORE_W - c->bits);
    const CORE_REAL low = CORE_VALUE(c->quick_c + magnitude) - CORE_VALUE(c->quick_c);
    const CORE_UINT normal = (magnitude + c->quick_bias) << c->d_norm;
    const CORE_UINT y = ((CORE_SINT)magnitude < (CORE_SINT)c->quick_one ? CORE_BITS(low) : normal) | sign;
    const CORE_UINT special = magnitude == (CORE_UINT)c->decode_infinity ? sign | CORE_INF : CORE_NAN;
    return (CORE_SINT)magnitude > (CORE_SINT)c->top || code == (CORE_UINT)c->decode_nan ? special : y;
}

/* Value of a code, as bits of the carrier. */
FPEMU_FN CORE_UINT CORE(decode)(const CORE(coder) *c, uint64_t code)
{
    code &= c->mask;
    if (c->kind == FPEMU_KIND_FLOAT)
        return CORE(decode_float)(c, (CORE_UINT)code);
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
        /* n <= 32 leaves at most 29 fraction bits */
        const CORE_UINT sig = (CORE_UINT)((x >> 34) | (UINT64_C(1) << 30));
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
