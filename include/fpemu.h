/* fpemu.h - what would this computation do in that number format?
 *
 * Three nouns, all plain values without a pointer to free:
 *
 *   fpemu_format    which values exist and how they are coded
 *   fpemu_rounding  which neighbour is taken, and what happens past the ends
 *   fpemu_stats     what happened (counters, extrema, error sums, histogram)
 *
 * and verbs that all take: format, rounding, how much, input, output, stats (may be NULL).
 *
 *   fpemu_format f;
 *   fpemu_stats  s = {0};
 *   if (fpemu_format_parse("e4m3fn:saturate", &f, NULL)) return 1;
 *   fpemu_rounding r = fpemu_rounding_stochastic(42, 0);
 *   s.want = FPEMU_STATS_SUMS;
 *   if (fpemu_quantize_f32(&f, &r, n, x, y, &s)) return 1;
 *
 * Nothing here keeps state, allocates, prints or exits; every function is reentrant. Two calls with equal arguments
 * give equal bits on every thread, thread count, instruction set and machine, whatever the floating-point environment
 * of the caller. Link with `pkg-config --cflags --libs fpemu`. Manual: fpemu(3), fpemu-formats(7), numerics.md.
 *
 * "Carrier" below is the type that holds the values: binary32 (suffix _f32) or binary64 (suffix _f64).
 */
#ifndef FPEMU_H
#define FPEMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FPEMU_VERSION_MAJOR 0
#define FPEMU_VERSION_MINOR 1
#define FPEMU_VERSION_PATCH 0
#define FPEMU_VERSION (FPEMU_VERSION_MAJOR * 10000 + FPEMU_VERSION_MINOR * 100 + FPEMU_VERSION_PATCH)

/* FPEMU_VERSION of the library that is linked. */
int fpemu_version(void);

/* ------------------------------------------------------------------------------------------------ status */

/* What every function that can fail returns. Values, once released, stay. */
typedef enum fpemu_status {
    FPEMU_OK = 0,
    FPEMU_ERROR_NULL = 1,        /* a pointer that is needed is NULL */
    FPEMU_ERROR_FORMAT = 2,      /* the format is invalid: all zero bits, or parameters out of range */
    FPEMU_ERROR_CARRIER = 3,     /* the carrier cannot hold every value of the format exactly */
    FPEMU_ERROR_ROUNDING = 4,    /* a field of the rounding is out of range */
    FPEMU_ERROR_UNSUPPORTED = 5, /* format and rounding do not go together (say, a directed mode for a posit) */
    FPEMU_ERROR_OVERLAP = 6,     /* input and output overlap, other than by being the same array */
    FPEMU_ERROR_SPEC = 7,        /* a spec string could not be read; fpemu_parse_error says where and why */
    FPEMU_ERROR_BUFFER = 8,      /* a buffer of the caller is too small */
    FPEMU_ERROR_NAN = 9,         /* the NaN policy is `error`, and a NaN came; every element was processed */
    FPEMU_ERROR_STATS = 10,      /* a field of the stats is out of range, or two stats cannot be merged */
    FPEMU_ERROR_ARGUMENT = 11    /* another argument is out of range */
} fpemu_status;

/* A short English text, never NULL. */
const char *fpemu_status_text(fpemu_status status);

/* ------------------------------------------------------------------------------------------------ format */

typedef enum fpemu_kind {
    FPEMU_KIND_INVALID = 0,
    FPEMU_KIND_FLOAT = 1, /* sign, exponent, mantissa */
    FPEMU_KIND_FIXED = 2, /* integer times 2^-fraction_bits */
    FPEMU_KIND_INT = 3,   /* affine integer: scale * (q - zero_point) */
    FPEMU_KIND_POSIT = 4, /* Posit Standard 2022, any n <= 32 and es <= 4 */
    FPEMU_KIND_CODEBOOK = 5 /* a sorted table of values, coded by their index */
} fpemu_kind;

/* Which codes of a float are not numbers. With E the exponent field, T the fraction field. */
typedef enum fpemu_specials {
    FPEMU_SPECIALS_IEEE = 0,    /* E all ones: T = 0 infinity, else NaN (IEEE 754-2019) */
    FPEMU_SPECIALS_FN = 1,      /* NaN only where E and T are all ones, both signs; no infinity (OCP E4M3) */
    FPEMU_SPECIALS_FNUZ = 2,    /* NaN only at the code of -0; no infinity, no -0 */
    FPEMU_SPECIALS_FINITE = 3,  /* none: every code is a number (OCP FP6, FP4; Lee et al. 2023) */
    FPEMU_SPECIALS_P3109E = 4,  /* IEEE P3109, extended domain: one NaN, infinities, no -0 */
    FPEMU_SPECIALS_P3109F = 5,  /* IEEE P3109, finite domain: one NaN, no infinity, no -0 */
    FPEMU_SPECIALS_E8M0 = 6,    /* OCP UE8M0: powers of two, NaN all ones, no zero, unsigned, e = 8, m = 0 */
    FPEMU_SPECIALS_DLFLOAT = 7  /* IBM DLFloat: one merged NaN-infinity, E = 0 is a normal binade */
} fpemu_specials;

/* What lies below the smallest normal magnitude 2^emin. All act on magnitudes, in every mode. */
typedef enum fpemu_subnormals {
    FPEMU_SUBNORMALS_KEEP = 0,     /* gradual underflow */
    FPEMU_SUBNORMALS_NONE = 1,     /* the grid there is {0, 2^emin}, rounded by the mode (CPFloat's reading) */
    FPEMU_SUBNORMALS_FLUSH_IN = 2, /* |x| < 2^emin becomes zero before rounding (hardware FTZ/DAZ) */
    FPEMU_SUBNORMALS_FLUSH_OUT = 3 /* round with subnormals, then a result below 2^emin becomes zero */
} fpemu_subnormals;

/* What becomes of a result outside [lowest, max], and of an infinite input; doc/numerics.md has the table. */
typedef enum fpemu_overflow {
    FPEMU_OVERFLOW_FROM_FORMAT = 0,             /* in a rounding: the policy of the format. In a format: ieee */
    FPEMU_OVERFLOW_IEEE = 1,           /* the mode decides between infinity (or NaN) and the largest value */
    FPEMU_OVERFLOW_SATURATE = 2,       /* the largest value, for infinities too */
    FPEMU_OVERFLOW_SATURATE_KEEP_INF = 3 /* the largest value; infinities as under ieee */
} fpemu_overflow;

/* What a NaN becomes in a format without a NaN code. 0 in a rounding: the policy of the format; in a format: keep. */
typedef enum fpemu_nan {
    FPEMU_NAN_FROM_FORMAT = 0,
    FPEMU_NAN_KEEP = 1,    /* value to value: NaN; value to code: the code of +max (integers, fixed point: 0) */
    FPEMU_NAN_MAX = 2,     /* +max */
    FPEMU_NAN_SIGNMAX = 3, /* +max or lowest, by the sign bit of the NaN */
    FPEMU_NAN_ZERO = 4,    /* +0 */
    FPEMU_NAN_ERROR = 5    /* as keep, and the array call returns FPEMU_ERROR_NAN in the end */
} fpemu_nan;

/* How the scale s of a block follows from its elements; t = x/s is what the element format sees, P its value there, and
 * y = P*s. amax: largest |x| of the block; M, emax: largest value of the element format, floor(log2 M). Elements always
 * saturate. doc/blocks.md states every rule exactly. */
typedef enum fpemu_scaling {
    FPEMU_SCALING_NONE = 0,       /* a scalar format */
    FPEMU_SCALING_FLOOR = 1,      /* s = 2^(floor(log2 amax) - emax): OCP MX, block floating point, block minifloat */
    FPEMU_SCALING_CEIL = 2,       /* s = 2^(ceil(log2 amax) - emax) */
    FPEMU_SCALING_EVEN = 3,       /* as floor, of amax rounded to the precision of the element */
    FPEMU_SCALING_RCEIL = 4,      /* s = amax * (1/M) rounded up to a power of two (cuBLAS, TransformerEngine) */
    FPEMU_SCALING_HBFP = 5,       /* s = 2^(ceil(log2 amax) - emax - 1) (Drumond et al. 2018) */
    FPEMU_SCALING_ABSMAX = 6,     /* s = amax / M: group quantisers (LPMM), codebooks */
    FPEMU_SCALING_NVFP4 = 7,      /* a scale a block and one of the whole tensor, TransformerEngine's order */
    FPEMU_SCALING_NVFP4_AO = 8,   /* the same in the order of pytorch/ao */
    FPEMU_SCALING_RECIPE = 9,     /* multiplier (M/amax) * 2^-margin: TransformerEngine's current and delayed scaling */
    FPEMU_SCALING_RECIPE_POW2 = 10, /* the same, the multiplier cut down to a power of two */
    FPEMU_SCALING_MUPPET = 11,    /* the smallest power of two that keeps max and min inside (Rajagopal et al. 2020) */
    FPEMU_SCALING_S2FP8 = 12,     /* shift and squeeze: t = sign(x) 2^beta |x|^alpha (Cambier et al. 2020) */
    FPEMU_SCALING_COUNT = 13
} fpemu_scaling;

/* Which elements of a tensor of shape outer x rows x length x inner share a scale. */
typedef enum fpemu_block {
    FPEMU_BLOCK_RUN = 0,     /* block_length neighbours along `length`; the last of a line may be short */
    FPEMU_BLOCK_ROW = 1,     /* a whole line along `length` (per token) */
    FPEMU_BLOCK_TILE = 2,    /* block_rows x block_length along `rows` and `length`; the last ones may be short */
    FPEMU_BLOCK_CHANNEL = 3, /* all elements of one index along `length` (per channel) */
    FPEMU_BLOCK_TENSOR = 4   /* the whole tensor */
} fpemu_block;

/* Built-in tables of a codebook. Values are exact rationals rounded once to binary32. */
typedef enum fpemu_codebook_name {
    FPEMU_CODEBOOK_CUSTOM = 0,   /* the caller's table */
    FPEMU_CODEBOOK_NF4 = 1,      /* Dettmers et al. 2023, 4 bits */
    FPEMU_CODEBOOK_DYNAMIC = 2,  /* Dettmers 2015, 2022, signed, 4..8 bits: from -0.99.. through 0 to 1 */
    FPEMU_CODEBOOK_UDYNAMIC = 3  /* unsigned, 4..8 bits: from 0 to 1 */
} fpemu_codebook_name;

/* The default bias: 2^(e-1)-1; 2^(e-1) for fnuz and the P3109 family. */
#define FPEMU_BIAS_DEFAULT INT32_MIN

/* A number format. Fill it by fpemu_format_parse, fpemu_format_named or a constructor; or set the parameters by hand (the rest
 * zero) and call fpemu_format_complete. Copy it freely; compare with fpemu_format_equal. All zero bits = invalid.
 * Read-only for callers otherwise. */
typedef struct fpemu_format {
    /* Parameters */
    uint32_t kind;           /* fpemu_kind */
    uint32_t bits;           /* width of a code: 1..64; floats: derived from the other parameters */
    uint32_t exponent_bits;  /* float: 0..11; posit: es, 0..4; else 0 */
    uint32_t mantissa_bits;  /* float: stored fraction bits, 0..52; else 0 */
    int32_t bias;            /* float: value = (1 + T/2^m) * 2^(E - bias) for E > 0; else 0 */
    int32_t fraction_bits;   /* fixed: fl, may be negative or exceed the word length; else 0 */
    uint8_t is_signed;       /* 0 or 1 */
    uint8_t specials;        /* float: fpemu_specials; else 0 */
    uint8_t subnormals;      /* float: fpemu_subnormals; else 0 */
    uint8_t overflow;        /* default policy: fpemu_overflow, never 0 once complete */
    uint8_t nan;             /* default policy: fpemu_nan, never 0 once complete */
    uint8_t symmetric;       /* fixed, int, signed: the most negative code is not used */
    uint8_t wrap;            /* fixed, int: past the ends keep the low bits instead of saturating */
    uint8_t reserved0;
    double scale;            /* int: > 0; else 0 */
    int64_t zero_point;      /* int: within the codes; else 0 */

    /* Derived by fpemu_format_complete */
    int32_t precision;       /* float: m + 1; 0 for the others */
    int32_t emin, emax;      /* float: exponents of the smallest normal and of the largest finite value */
    int32_t quantum;         /* float, fixed: the smallest step of the grid is 2^quantum */
    double max, lowest;      /* largest and smallest finite value; int: as binary64 holds them */
    double min_normal;       /* float: smallest normal value (2^emin; dlfloat: one step more), 0 where there is none;
                                else equal to min_positive */
    double min_positive;     /* smallest value above zero */
    uint64_t max_code, lowest_code; /* codes of max and lowest */
    uint64_t nan_code;       /* code written for a NaN; meaningless where has_nan is 0 */
    uint8_t has_nan, has_infinity, has_negative_zero, has_zero; /* 0 or 1 */
    uint8_t fits_f32, fits_f64; /* 1: the carrier holds every value exactly */
    uint8_t reserved1[2];

    /* Blocked formats: scaling != 0; everything above is then the element's. */
    uint8_t scaling;             /* fpemu_scaling */
    uint8_t block;               /* fpemu_block */
    uint8_t scale_power;         /* 1: the scale is 2^c, c a two's complement code of scale_exponent_bits (2..12) bits;
                                    0: it is a float of the next fields, never negative */
    uint8_t scale_exponent_bits;
    uint8_t scale_mantissa_bits; /* 0..23 */
    uint8_t scale_specials;      /* fpemu_specials */
    uint8_t scale_signed;        /* the scale's code has a sign bit (always 0) */
    uint8_t codebook;            /* kind codebook: fpemu_codebook_name */
    int32_t scale_bias;
    int32_t margin;              /* recipe rules: 0..64 */
    uint32_t block_length;       /* run, tile: 1 and more; else 0 */
    uint32_t block_rows;         /* tile: 1 and more; else 0 */
    uint32_t codebook_length;    /* kind codebook: number of values, 2..65536; else 0 */
    uint32_t reserved2;
    union {
        const float *values;     /* codebook: strictly ascending finite values, borrowed if the caller's; else NULL */
        uint64_t size;           /* keeps the struct's size the same everywhere */
    } table;
    uint64_t reserved3[11];
} fpemu_format;

/* Names of the table of formats; fpemu-formats(7) lists what each is. */
typedef enum fpemu_name {
    FPEMU_NAME_NONE = 0,
    FPEMU_NAME_BINARY16 = 1, FPEMU_NAME_BFLOAT16 = 2, FPEMU_NAME_TF32 = 3, FPEMU_NAME_BINARY32 = 4, FPEMU_NAME_BINARY64 = 5,
    FPEMU_NAME_E5M2 = 6, FPEMU_NAME_E4M3 = 7, FPEMU_NAME_E3M4 = 8,
    FPEMU_NAME_E4M3FN = 9, FPEMU_NAME_E4M3FNUZ = 10, FPEMU_NAME_E5M2FNUZ = 11, FPEMU_NAME_E4M3B11FNUZ = 12,
    FPEMU_NAME_E8M0 = 13, FPEMU_NAME_E3M2 = 14, FPEMU_NAME_E2M3 = 15, FPEMU_NAME_E2M1 = 16, FPEMU_NAME_UE4M3 = 17,
    FPEMU_NAME_DLFLOAT16 = 18,
    FPEMU_NAME_INT4 = 19, FPEMU_NAME_INT8 = 20, FPEMU_NAME_INT16 = 21, FPEMU_NAME_UINT4 = 22, FPEMU_NAME_UINT8 = 23, FPEMU_NAME_UINT16 = 24,
    FPEMU_NAME_MXFP8_E4M3 = 25, FPEMU_NAME_MXFP8_E5M2 = 26, FPEMU_NAME_MXFP6_E2M3 = 27, FPEMU_NAME_MXFP6_E3M2 = 28, FPEMU_NAME_MXFP4 = 29,
    FPEMU_NAME_MXINT8 = 30, FPEMU_NAME_NVFP4 = 31, FPEMU_NAME_MSFP12 = 32, FPEMU_NAME_MSFP16 = 33, FPEMU_NAME_NF4 = 34, FPEMU_NAME_S2FP8 = 35,
    FPEMU_NAME_COUNT = 36 /* one more than the last name */
} fpemu_name;

/* Where a spec string went wrong. */
typedef struct fpemu_parse_error {
    uint32_t position; /* offset in bytes of the offending character; the length of the text for "too short" */
    char message[124]; /* one line: what was found and what was expected, zero-terminated */
} fpemu_parse_error;

/* Reads a spec string such as "e4m3fn:saturate" (grammar: fpemu-formats(7); at most 255 bytes).
 * `error` may be NULL. Returns FPEMU_ERROR_SPEC, and leaves *format all zero, when the text is wrong. */
fpemu_status fpemu_format_parse(const char *spec, fpemu_format *format, fpemu_parse_error *error);

/* Writes the canonical spec, zero-terminated; fpemu_format_parse of it gives an equal format. 256 bytes always suffice;
 * FPEMU_ERROR_BUFFER when `capacity` does not. */
fpemu_status fpemu_format_print(const fpemu_format *format, char *text, size_t capacity);

/* A format of the table. */
fpemu_status fpemu_format_named(fpemu_name name, fpemu_format *format);
/* Its first (canonical) name, or its i-th alias (0 = the canonical one); NULL past the end. */
const char *fpemu_format_name(fpemu_name name, unsigned alias);

/* Constructors. On failure *format is all zero.
 * Float FP(e,m,bias): e 0..11, m 0..52, bias as in the struct or FPEMU_BIAS_DEFAULT. */
fpemu_status fpemu_format_float(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t bias,
                         fpemu_specials specials, int is_signed);
/* FP(e,m,b) of Lee et al. 2023: values of FP(e,m,0) times 2^-b; finite only for e <= 7, IEEE-style for e = 8. */
fpemu_status fpemu_format_lee(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t b);
/* IEEE P3109 Binary{K}p{P}{s|u}{e|f}: K up to 64 as far as e = K-P (+1 unsigned) stays <= 11, P-1 <= 52. */
fpemu_status fpemu_format_p3109(fpemu_format *format, uint32_t k, uint32_t p, int is_signed, int has_infinity);
/* word_length bits in all (the sign counts), steps of 2^-fraction_bits. */
fpemu_status fpemu_format_fixed(fpemu_format *format, uint32_t word_length, int32_t fraction_bits, int is_signed);
/* Affine integer of 1..32 bits; scale > 0 finite (rounded to the carrier where it is used). */
fpemu_status fpemu_format_int(fpemu_format *format, uint32_t bits, int is_signed, double scale, int64_t zero_point);
/* posit<n,es>: 2 <= n <= 32, es <= 4. */
fpemu_status fpemu_format_posit(fpemu_format *format, uint32_t n, uint32_t es);
/* A built-in codebook of `bits` bits (nf4: 4; dynamic: 4..8), as a scalar format. */
fpemu_status fpemu_format_codebook(fpemu_format *format, fpemu_codebook_name name, uint32_t bits);
/* The caller's table of `length` (2..65536) strictly ascending finite values (no -0), code = index. Borrowed: it must
 * stay as long as the format and its copies are used. fpemu_format_print refuses such a format (FPEMU_ERROR_UNSUPPORTED). */
fpemu_status fpemu_format_table(fpemu_format *format, uint32_t length, const float *values);
/* A blocked format: `element` any scalar format that does not wrap and has a value above zero (rule even: no posit, no
 * codebook); `scale` a scalar float of at most 32 bits with default policies, or NULL for powers of two with a two's
 * complement exponent of `exponent_bits` (2..12; ignored otherwise). `rows`, `length`: as block_rows and block_length,
 * 0 where `block` has none. nvfp4 rules: block run or tile, scale not NULL; recipe rules: scale fp32;
 * muppet: element a fixed or integer format with power-of-two steps, scale NULL; s2fp8: block tensor, element a float,
 * scale fp32. FPEMU_ERROR_FORMAT (and all zero) otherwise. The margin of the recipe rules may be set afterwards,
 * followed by fpemu_format_complete. */
fpemu_status fpemu_format_blocked(fpemu_format *format, const fpemu_format *element, fpemu_scaling scaling,
                           const fpemu_format *scale, uint32_t exponent_bits, fpemu_block block, uint32_t rows,
                           uint32_t length);
/* The element format of a blocked one (a scalar format: itself), and its scale format (FPEMU_ERROR_UNSUPPORTED where
 * there is none, or the scale is a bare power of two). */
fpemu_status fpemu_format_element(const fpemu_format *format, fpemu_format *element);
fpemu_status fpemu_format_scale(const fpemu_format *format, fpemu_format *scale);
/* Checks the parameters of *format and derives the rest; also after a change of subnormals, overflow, nan,
 * symmetric or wrap. FPEMU_ERROR_FORMAT (and all zero) where they make no format. */
fpemu_status fpemu_format_complete(fpemu_format *format);

/* 1 if both say the same values, codes and policies; 0 otherwise or for NULL. */
int fpemu_format_equal(const fpemu_format *a, const fpemu_format *b);

/* Queries. They return 0 (or NaN where said) for NULL and invalid formats. */
double fpemu_format_max(const fpemu_format *format);
double fpemu_format_lowest(const fpemu_format *format);
double fpemu_format_min_normal(const fpemu_format *format);
double fpemu_format_min_positive(const fpemu_format *format);
double fpemu_format_epsilon(const fpemu_format *format);        /* floats: 2^-m; posits: next after 1, less 1; else 0 */
uint64_t fpemu_format_value_count(const fpemu_format *format);  /* distinct finite values, +-0 once; 2^64-1 if more */
uint64_t fpemu_format_nan_count(const fpemu_format *format);    /* codes that decode to NaN; symmetric: the unused one */
double fpemu_format_bits_per_element(const fpemu_format *format); /* run, tile: with the share of the scale's code */
size_t fpemu_format_code_size(const fpemu_format *format);      /* bytes of a code in an array: 1, 2, 4 or 8 */
int fpemu_format_fits_f32(const fpemu_format *format);          /* 1: float holds every value exactly (int: can be used) */
int fpemu_format_fits_f64(const fpemu_format *format);
int fpemu_format_represents(const fpemu_format *format, double x); /* infinities and NaN: where the format has them */
/* The nearest finite value strictly above (below) x; NaN if there is none, or x is NaN. x need not be a value. */
double fpemu_format_next_up(const fpemu_format *format, double x);
double fpemu_format_next_down(const fpemu_format *format, double x);
/* All finite values in ascending order, +-0 once (as +0), with their codes (`codes` may be NULL). *count is set to
 * fpemu_format_value_count; FPEMU_ERROR_BUFFER, and nothing written to the arrays, if `capacity` is less. */
fpemu_status fpemu_format_enumerate(const fpemu_format *format, size_t capacity, double *values, uint64_t *codes,
                             size_t *count);

/* ---------------------------------------------------------------------------------------------- rounding */

/* Which of the two neighbours u < |x| < w is taken. Modes act on magnitudes save rtp and rtn. */
typedef enum fpemu_mode {
    FPEMU_MODE_RNE = 0, /* nearest, ties to even */
    FPEMU_MODE_RNA = 1, /* nearest, ties away from zero */
    FPEMU_MODE_RNZ = 2, /* nearest, ties toward zero */
    FPEMU_MODE_RTZ = 3, /* toward zero */
    FPEMU_MODE_RAZ = 4, /* away from zero */
    FPEMU_MODE_RTP = 5, /* toward +infinity */
    FPEMU_MODE_RTN = 6, /* toward -infinity */
    FPEMU_MODE_RTO = 7, /* to odd */
    FPEMU_MODE_SR = 8,  /* stochastic, up with the probability of the distance */
    FPEMU_MODE_SE = 9,  /* stochastic, up with probability 1/2 */
    FPEMU_MODE_COUNT = 10
} fpemu_mode;

/* How N random bits R decide (IEEE P3109 4.7.4; Fitzgibbon & Felix, ARITH 2025), v the exact fraction: up iff */
typedef enum fpemu_sr_variant {
    FPEMU_SR_VARIANT_A = 0, /* floor(v*2^N) + R >= 2^N */
    FPEMU_SR_VARIANT_B = 1, /* floor(v*2^(N+1)) + 2R + 1 >= 2^(N+1) */
    FPEMU_SR_VARIANT_C = 2  /* RNE(v*2^N) + R >= 2^N */
} fpemu_sr_variant;

typedef enum fpemu_generator {
    FPEMU_GENERATOR_HASH = 0,  /* keyed hash of the element index, the default */
    FPEMU_GENERATOR_PHILOX = 1 /* Philox4x32-10 (Salmon et al. 2011) */
} fpemu_generator;

/* Departures of other software that no combination of the other fields expresses. Each acts only on the formats and
 * modes named here and leaves the others as they are. doc/numerics.md states each exactly. */
typedef enum fpemu_compat {
    FPEMU_COMPAT_NONE = 0,
    /* QPyTorch's CPU kernels. Floats: a subnormal result is first rounded (RNE) to 2^(emin-23); zero results are +0.
     * Fixed point on binary32 data, rne and sr: the sum x*2^fl + 1/2 (sr: + r, r the top 24 of 32 random bits as a
     * fraction) is rounded to binary32 first. Blocks of rule floor with symmetric fixed-point elements on binary32
     * data, rne and sr: block_quantize. */
    FPEMU_COMPAT_QPYTORCH = 1,
    /* As QPYTORCH for floats, and a finite x that overflows becomes infinity, value to value (Lee's allow_inf); an
     * infinite x goes to the largest value all the same. */
    FPEMU_COMPAT_LEE_INF = 2,
    /* CPFloat: sr between max and max + ulp/2 overflows with probability (|x|-max)/(ulp/2), beyond always; se past max
     * is a fair coin. */
    FPEMU_COMPAT_CPFLOAT = 3,
    /* ml_dtypes: NaN codes with the sign of the NaN and the quiet bit; finite-only floats code NaN as -0 and a
     * negative NaN as +0; e8m0: zero and negatives become NaN. */
    FPEMU_COMPAT_ML_DTYPES = 4,
    /* CUDA (cuda_fp8.h, cuda_fp16.h, cuda_bf16.h): NaN codes 7F and 7FFF; e8m0 ignores the sign. */
    FPEMU_COMPAT_CUDA = 5,
    /* PyTorch affine quantisation, int formats on binary32 data: x * (1/scale), or x / scale, in binary32, RNE. */
    FPEMU_COMPAT_PYTORCH_MULTIPLY = 6,
    FPEMU_COMPAT_PYTORCH_DIVIDE = 7,
    /* MuPPET's Eq. 6 as printed, muppet rule with sr: floor(t + U - 1/2), U the random bits as a fraction. */
    FPEMU_COMPAT_MUPPET = 8,
    FPEMU_COMPAT_COUNT = 9
} fpemu_compat;

/* All zero bits = nearest even, the format's own policies. */
typedef struct fpemu_rounding {
    uint8_t mode;      /* fpemu_mode */
    uint8_t overflow;  /* fpemu_overflow; 0 = the format's */
    uint8_t nan;       /* fpemu_nan; 0 = the format's */
    uint8_t variant;   /* fpemu_sr_variant, for sr */
    uint8_t bits;      /* random bits an element, for sr and se: 1..32; 0 = 32 */
    uint8_t generator; /* fpemu_generator */
    uint8_t compat;    /* fpemu_compat */
    uint8_t reserved0;
    uint64_t seed;
    uint64_t stream;
    uint64_t offset;   /* index of the first element of this call in its stream: slices give the bits of the whole */
    uint64_t reserved1[4];
} fpemu_rounding;

fpemu_rounding fpemu_rounding_nearest(void);
fpemu_rounding fpemu_rounding_stochastic(uint64_t seed, uint64_t stream);

/* Reads "rne", "toward-zero", "sr", ... (short or long name of a mode), or the name of a compatibility setting
 * ("qpytorch", "qpytorch-sr", "qpytorch-fixed", "qpytorch-fixed-sr", "lee", "lee-inf", "cpfloat-sr", "cpfloat-se",
 * "nvidia", "ml-dtypes", "ml-dtypes-sat", "pytorch-multiply", "pytorch-divide", "muppet"); sets mode, overflow, nan and
 * compat, leaves seed and the like zero. */
fpemu_status fpemu_rounding_parse(const char *text, fpemu_rounding *rounding, fpemu_parse_error *error);
/* Short ("rne") and long ("nearest-even") name of a mode; NULL if there is no such mode. */
const char *fpemu_mode_name(fpemu_mode mode);
const char *fpemu_mode_long_name(fpemu_mode mode);
/* Names of compatibility settings: i = 0, 1, ...; NULL past the end. */
const char *fpemu_compat_name(unsigned i);

/* Random word j of a stream, and the bits that element `index` uses (R, `rounding->bits` of them; index is added to
 * rounding->offset): pure functions of their arguments, stated in doc/numerics.md. */
uint32_t fpemu_random_word(fpemu_generator generator, uint64_t seed, uint64_t stream, uint64_t j);
uint32_t fpemu_random_bits(const fpemu_rounding *rounding, uint64_t index);

/* ------------------------------------------------------------------------------------------------- stats */

/* Bits of fpemu_stats.want: what is gathered beyond the counters and extrema. */
#define FPEMU_STATS_SUMS 1u
#define FPEMU_STATS_HISTOGRAM 2u
#define FPEMU_STATS_SCALES 4u

/* An exact sum of non-negative binary64 numbers, as a fixed-point integer; read it by fpemu_stats_sum_... */
typedef struct fpemu_exact_sum {
    uint64_t word[34]; /* little end first; bit 0 weighs 2^-1074 */
    uint64_t infinite; /* how many terms were infinite */
} fpemu_exact_sum;

/* Counters of one call or of several. The caller sets everything to zero, then `want` (and the histogram); calls add.
 * x is the exact input, y the result (value to code: the decoded code); an element may count in several. */
typedef struct fpemu_stats {
    uint32_t want; /* FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES */
    uint32_t reserved0;
    uint64_t count;       /* elements */
    uint64_t nan;         /* x is NaN */
    uint64_t infinite;    /* x is an infinity */
    uint64_t clipped;     /* x finite, outside [lowest, max] (e8m0: above max) */
    uint64_t overflow;    /* x finite; rounded on the grid without ends it lies outside [lowest, max] */
    uint64_t invalid;     /* x not NaN, y NaN, other than by overflow */
    uint64_t div_by_zero; /* arithmetic only */
    uint64_t underflow;   /* x finite and not zero, y zero */
    uint64_t subnormal;   /* y not zero, |y| below the smallest normal value */
    uint64_t inexact;     /* x finite, y differs (the sign of zero apart) */
    double min_abs;       /* smallest non-zero finite |x|; 0 when there is none */
    double max_abs;       /* largest finite |x| */
    double max_error;     /* largest finite |x - y|, x - y rounded once to binary64 */
    fpemu_exact_sum sum_error;   /* |x - y|    over elements with x and y finite, each rounded once to binary64, */
    fpemu_exact_sum sum_error2;  /* (x - y)^2  added in the order that doc/numerics.md fixes, so that neither      */
    fpemu_exact_sum sum_square;  /* x^2        threads nor device change a bit                                      */
    uint64_t *histogram;      /* the caller's array of histogram_length counts of floor(log2 |x|), finite x != 0: */
    int32_t histogram_first;  /*   bin 0 below this exponent, bin 1 this exponent, ..., the last bin all above */
    uint32_t histogram_length; /*  at least 3 */
    uint64_t swamped;         /* dot products only: additions of two numbers of which one, not zero, changed nothing */
    uint64_t reserved1[3];
    /* Blocked formats only: */
    uint64_t blocks;           /* blocks seen */
    uint64_t zero_blocks;      /* blocks whose elements are all zero */
    uint64_t nan_blocks;       /* blocks that became NaN, since an element was NaN or infinite */
    uint64_t saturated_scales; /* scales that their format could not hold: cut to its largest, raised to its smallest */
    uint64_t *scale_histogram; /* the caller's array, as `histogram`, of floor(log2 s), a count a block with finite */
    int32_t scale_first;       /*  s != 0; gathered where want has FPEMU_STATS_SCALES. Not for s2fp8 */
    uint32_t scale_length;
} fpemu_stats;

/* Adds what `from` counted to `to`. Histograms must have the same shape, or be absent in both. */
fpemu_status fpemu_stats_merge(fpemu_stats *to, const fpemu_stats *from);
/* The sums, each rounded once (RNE) to binary64; infinity if a term was infinite. */
double fpemu_stats_sum_error(const fpemu_stats *stats);
double fpemu_stats_sum_error2(const fpemu_stats *stats);
double fpemu_stats_sum_square(const fpemu_stats *stats);
/* Signal to quantisation noise, 10 log10(sum x^2 / sum (x-y)^2) in dB; +inf without error, NaN without signal. */
double fpemu_stats_sqnr(const fpemu_stats *stats);

/* ------------------------------------------------------------------------------------------------- verbs */

/* Value to nearest representable value. Shapes: x, y of n elements. y == x is allowed, partial overlap is not.
 * n = 0 succeeds and touches nothing, NULL pointers included. Arguments are checked before anything is written. */
fpemu_status fpemu_quantize_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                                float *y, fpemu_stats *stats);
fpemu_status fpemu_quantize_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                                double *y, fpemu_stats *stats);

/* Value to bit pattern. codes: n unsigned integers of fpemu_format_code_size bytes in host byte order, right-aligned.
 * codes == x is allowed where both have the same size; any other overlap is not. */
fpemu_status fpemu_encode_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *x,
                              void *codes, fpemu_stats *stats);
fpemu_status fpemu_encode_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *x,
                              void *codes, fpemu_stats *stats);

/* Bit pattern to value. Bits above the format's width are ignored; a code that no rule assigns gives NaN. */
fpemu_status fpemu_decode_f32(const fpemu_format *format, size_t n, const void *codes, float *y);
fpemu_status fpemu_decode_f64(const fpemu_format *format, size_t n, const void *codes, double *y);

/* What fpemu_quantize_f32 (carrier_bits = 32) or fpemu_quantize_f64 (64) would return for this format and rounding:
 * FPEMU_OK, or why the two are refused; also for blocked formats and codebooks. FPEMU_ERROR_NULL for NULL,
 * FPEMU_ERROR_ARGUMENT for another number of bits. A call may still fail for its arrays, stats or shape. */
fpemu_status fpemu_check(const fpemu_format *format, const fpemu_rounding *rounding, int carrier_bits);

/* Scalar forms: one element, `index` being its place in the stream (added to rounding->offset). NaN, or code 0, for
 * arguments that the array form refuses. */
float fpemu_quantize_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
double fpemu_quantize_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
uint64_t fpemu_encode_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index);
uint64_t fpemu_encode_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index);
float fpemu_decode_one_f32(const fpemu_format *format, uint64_t code);
double fpemu_decode_one_f64(const fpemu_format *format, uint64_t code);

/* ------------------------------------------------------------------------------- tensors, blocks, packing */

/* What is known of a whole tensor: what a scale of all of it needs. All zero = nothing seen. */
typedef struct fpemu_range {
    uint64_t count;     /* elements */
    uint64_t nonzero;   /* finite elements other than zero */
    uint64_t nonfinite; /* NaN and infinities; what follows is of the finite elements */
    double amax;        /* largest |x| */
    double max, min;    /* largest and smallest x, 0 if there is none on that side of zero */
    double log2_max;    /* s2fp8: largest log2|x|, meaningful where nonzero > 0 */
    uint64_t log2_low;  /* s2fp8: sum of log2|x| in steps of 2^-32, two's complement of 128 bits */
    int64_t log2_high;
    uint64_t reserved0[3];
} fpemu_range;

/* Adds n elements to *range (the logarithms too where `format` needs them). Any order and splitting give the same. */
fpemu_status fpemu_measure_f32(const fpemu_format *format, size_t n, const float *x, fpemu_range *range);
fpemu_status fpemu_measure_f64(const fpemu_format *format, size_t n, const double *x, fpemu_range *range);

/* A tensor outer x rows x length x inner, any of them 0 or more; element (o, r, l, i) has the index
 * ((o*rows + r)*length + l)*inner + i, which is also its place in the random stream, whatever the strides. Blocks run
 * along `length`, tiles along `rows` and `length`. Any axis of a contiguous tensor: outer = product of the axes before
 * it, length = the axis, inner = product of the axes after it, rows = 1; for tiles rows = the axis before it. */
typedef struct fpemu_shape {
    uint64_t outer, rows, length, inner;
    int64_t x_stride[4];      /* in elements, of x in that order of axes; all zero = contiguous */
    int64_t y_stride[4];      /* of y, likewise (not used by pack for its bytes) */
    const fpemu_range *whole; /* the tensor of which this is a slice, where the format has a scale of the whole tensor
                                 (delayed scaling: of earlier ones); NULL = this is all of it, and it is measured */
    uint64_t reserved0[3];
} fpemu_shape;

/* A shape 1 x 1 x n x 1. */
fpemu_shape fpemu_shape_vector(uint64_t n);
/* A contiguous tensor of `dimensions` sizes with blocks along axis `axis` (negative: from the end), tiles along the two
 * axes up to it. FPEMU_ERROR_ARGUMENT where there is no such axis, or the sizes do not fit. */
fpemu_status fpemu_shape_of(size_t dimensions, const uint64_t *sizes, int axis, fpemu_shape *shape);

/* fpemu_quantize for a tensor. Any format: a scalar one has no scale. y == x with equal strides is allowed, other
 * overlap is not. fpemu_quantize itself takes blocked formats too, as a vector. Nothing is allocated. A blocked format
 * with rounding settings that make no sense for it (compat, a mode its element lacks): FPEMU_ERROR_UNSUPPORTED. */
fpemu_status fpemu_quantize_tensor_f32(const fpemu_format *format, const fpemu_rounding *rounding,
                                      const fpemu_shape *shape, const float *x, float *y, fpemu_stats *stats);
fpemu_status fpemu_quantize_tensor_f64(const fpemu_format *format, const fpemu_rounding *rounding,
                                      const fpemu_shape *shape, const double *x, double *y, fpemu_stats *stats);

/* Where what lies in the packed bytes of a tensor (doc/blocks.md): the two binary32 numbers of the whole tensor where
 * the format has them, the blocks' scales in block order, the elements. A tensor without elements has no bytes; more
 * than 2^59 elements are refused. */
typedef struct fpemu_layout {
    uint64_t bytes;           /* in all */
    uint64_t blocks;          /* number of blocks (scalar formats: of lines) */
    uint64_t tensor_offset;   /* nvfp4: multiplier and scale; s2fp8: alpha and beta; tensor_bytes 0 or 8 */
    uint64_t tensor_bytes;
    uint64_t scales_offset;
    uint64_t scale_bytes;     /* of one scale: 0, 1, 2 or 4 */
    uint64_t elements_offset;
    uint64_t element_bits;
    uint64_t block_elements;  /* of a full block */
    uint64_t block_bytes;     /* of a full block */
    uint64_t reserved0[2];
} fpemu_layout;

/* Where one block lies. */
typedef struct fpemu_extent {
    uint64_t elements;  /* how many it has */
    uint64_t offset;    /* of its first byte in the packed bytes */
    uint64_t scale;     /* offset of its scale */
    uint64_t first;     /* index of its first element */
    uint64_t reserved0[4];
} fpemu_extent;

fpemu_status fpemu_packed_layout(const fpemu_format *format, const fpemu_shape *shape, fpemu_layout *layout);
/* layout.bytes, or 0 for what packed_layout refuses. */
uint64_t fpemu_packed_size(const fpemu_format *format, const fpemu_shape *shape);
fpemu_status fpemu_packed_extent(const fpemu_format *format, const fpemu_shape *shape, uint64_t block,
                                 fpemu_extent *extent);

/* Values to packed bytes and back; bytes: fpemu_packed_size of them, at any alignment, no overlap. unpack gives exactly
 * the values that quantize_along gives for the same x (NaN in a format without a code for it: the code of the NaN
 * policy). Bits between blocks are written 0 and ignored on reading. */
fpemu_status fpemu_pack_f32(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                            const float *x, void *bytes, fpemu_stats *stats);
fpemu_status fpemu_pack_f64(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape,
                            const double *x, void *bytes, fpemu_stats *stats);
fpemu_status fpemu_unpack_f32(const fpemu_format *format, const fpemu_shape *shape, const void *bytes, float *y);
fpemu_status fpemu_unpack_f64(const fpemu_format *format, const fpemu_shape *shape, const void *bytes, double *y);

/* Blocks first .. first+count-1 of packed bytes: their elements one after the other in x or y, as packed. The random
 * bits are those of the elements' indices in the tensor. Scales of the whole tensor are read from the bytes, where the
 * last fpemu_pack or fpemu_pack_tensor_scales left them. */
fpemu_status fpemu_pack_blocks_f32(const fpemu_format *format, const fpemu_rounding *rounding,
                                   const fpemu_shape *shape, uint64_t first, uint64_t count, const float *x,
                                   void *bytes, fpemu_stats *stats);
fpemu_status fpemu_pack_blocks_f64(const fpemu_format *format, const fpemu_rounding *rounding,
                                   const fpemu_shape *shape, uint64_t first, uint64_t count, const double *x,
                                   void *bytes, fpemu_stats *stats);
fpemu_status fpemu_unpack_blocks_f32(const fpemu_format *format, const fpemu_shape *shape, uint64_t first,
                                     uint64_t count, const void *bytes, float *y);
fpemu_status fpemu_unpack_blocks_f64(const fpemu_format *format, const fpemu_shape *shape, uint64_t first,
                                     uint64_t count, const void *bytes, double *y);
/* Writes the scales of the whole tensor that follow from shape->whole (nothing where the format has none); with it and
 * fpemu_pack_blocks a tensor can be packed piece by piece. */
fpemu_status fpemu_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape, void *bytes);

/* The scales of a tensor's blocks, exactly those that fpemu_quantize_tensor and fpemu_pack use for the same x; no
 * rounding changes them. x: as `shape` says (y_stride is not used; `whole` as there). scales: one number a block, in the
 * order of fpemu_packed_extent, fpemu_layout.blocks of them; the scale s of doc/blocks.md: an element's value is y =
 * P * s. codes: their codes, as many unsigned integers of fpemu_layout.scale_bytes bytes in host byte order: those of
 * fpemu_format_scale, or, for bare powers of two, the exponent in two's complement, bits above its width 0. tensor: the
 * two numbers of the whole tensor: nvfp4 rules multiplier u and tensor scale d, where y = P * s * d; s2fp8 alpha and
 * beta; other rules 1 and 1. Any of the three may be NULL, not all.
 *
 * A block that becomes NaN has the scale NaN. A bare power of two past the carrier's range becomes 0 or infinity; its
 * code is exact. s2fp8 has no scales of blocks: there scales and codes must be NULL. A tensor without elements has no
 * scales, and nothing is written. FPEMU_ERROR_UNSUPPORTED for scalar formats and for scales or codes of s2fp8;
 * FPEMU_ERROR_OVERLAP where an output overlaps x or another; shapes are refused as by fpemu_quantize_tensor. */
fpemu_status fpemu_scales_f32(const fpemu_format *format, const fpemu_shape *shape, const float *x, float *scales,
                              void *codes, float *tensor);
fpemu_status fpemu_scales_f64(const fpemu_format *format, const fpemu_shape *shape, const double *x, double *scales,
                              void *codes, float *tensor);
/* The scales of blocks first .. first+count-1 of packed bytes. Not for s2fp8 and scalar formats
 * (FPEMU_ERROR_UNSUPPORTED). A code without a meaning gives NaN. */
fpemu_status fpemu_unpack_scales_f32(const fpemu_format *format, const fpemu_shape *shape, uint64_t first,
                                     uint64_t count, const void *bytes, float *scales);
fpemu_status fpemu_unpack_scales_f64(const fpemu_format *format, const fpemu_shape *shape, uint64_t first,
                                     uint64_t count, const void *bytes, double *scales);

/* Block scales of one byte, rows x columns, between row-major order and the order that tensor cores read (cuBLAS's
 * layout for 1D block scales: tiles of 128 x 4, padded with 0). `to` and `from` do not overlap;
 * fpemu_swizzled_size(rows, columns) bytes on the swizzled side. */
uint64_t fpemu_swizzled_size(uint64_t rows, uint64_t columns);
fpemu_status fpemu_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to);
fpemu_status fpemu_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to);

/* Delayed scaling: the largest magnitudes of the last `length` tensors decide the next scale. All zero but `history`
 * and `length` = new. */
typedef struct fpemu_delayed {
    double *history;     /* the caller's array of `length` numbers */
    uint32_t length;     /* 1 and more; 1 with latest = 0 or 1: the previous tensor */
    uint32_t filled;     /* how many are in use */
    uint32_t next;       /* where the next goes */
    uint32_t latest;     /* 0: the largest of the history decides; 1: the most recent */
    fpemu_range range;   /* for shape.whole: amax of the history; all zero at first, which means the scale 1 */
} fpemu_delayed;

/* Takes in what the tensor just seen measured (a NaN, infinity or zero amax is kept out, and the range stays). */
fpemu_status fpemu_delayed_update(fpemu_delayed *state, const fpemu_range *seen);

/* -------------------------------------------------------------------------------------------- arithmetic */

/* One operation, correctly rounded once: y is the exact result of the operation on the operands, which are the
 * carrier's exact values whatever format they came from, taken to `format` by every rule of fpemu_quantize (mode,
 * random bits, policies). In `stats`, x is that exact result, as binary64 rounds it for extrema, sums and histogram.
 * Refused with FPEMU_ERROR_UNSUPPORTED: affine integers (scale no power of two, or too wide for the carrier), formats
 * that wrap, compatibility settings. */
typedef enum fpemu_operation {
    FPEMU_OPERATION_ADD = 0,            /* a + b */
    FPEMU_OPERATION_SUB = 1,            /* a - b */
    FPEMU_OPERATION_MUL = 2,            /* a * b */
    FPEMU_OPERATION_DIV = 3,            /* a / b */
    FPEMU_OPERATION_SQRT = 4,           /* square root of a */
    FPEMU_OPERATION_FMA = 5,            /* a * b + c */
    FPEMU_OPERATION_MINIMUM = 6,        /* IEEE 754-2019 minimum: a NaN wins, -0 < +0 */
    FPEMU_OPERATION_MAXIMUM = 7,
    FPEMU_OPERATION_MINIMUM_NUMBER = 8, /* IEEE 754-2019 minimumNumber: a NaN loses against a number, -0 < +0 */
    FPEMU_OPERATION_MAXIMUM_NUMBER = 9,
    FPEMU_OPERATION_COUNT = 10
} fpemu_operation;

/* Any operation; operands[0], [1], [2] are a, b, c, as many as the operation takes. steps[i] = 1: an array of n
 * elements; 0: one number, used with every element. steps = NULL: all 1. y may be the very same array as an operand of
 * step 1, partial overlap is not allowed; a single number may lie anywhere, y included: it is read first. */
fpemu_status fpemu_arith_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                             size_t n, const float *const *operands, const size_t *steps, float *y,
                             fpemu_stats *stats);
fpemu_status fpemu_arith_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                             size_t n, const double *const *operands, const size_t *steps, double *y,
                             fpemu_stats *stats);

/* Scales of an operand of a format with blocks: element i of the operand stands for its exact product with
 * values[i / length % count]. values = NULL: the operand has no scales. `length` neighbours share a scale, the last
 * ones may be fewer; 0 = all of them. count: after so many scales the first comes again; 0 = never. So the scale of
 * a tensor is {s}, of blocks of 32 along the last axis {s, 32}, of rows {s, columns}, of channels {s, inner,
 * channels}. */
typedef struct fpemu_operand_scales_f32 {
    const float *values;
    size_t length, count;
} fpemu_operand_scales_f32;
typedef struct fpemu_operand_scales_f64 {
    const double *values;
    size_t length, count;
} fpemu_operand_scales_f64;

/* fpemu_arith on operands with scales, one struct an operand (NULL: none has any): the product of element and scale,
 * which need not be a number of the carrier, enters the operation, and only its result is rounded. Scales are any
 * numbers; a product 0 * infinity is a NaN operand, not an invalid operation. y does not overlap scales. _f64 refuses
 * (FPEMU_ERROR_ARGUMENT) an array with a product that is no binary64 number, which operations are exact for. */
fpemu_status fpemu_arith_scaled_f32(const fpemu_format *format, const fpemu_rounding *rounding,
                                    fpemu_operation operation, size_t n, const float *const *operands,
                                    const size_t *steps, const fpemu_operand_scales_f32 *scales, float *y,
                                    fpemu_stats *stats);
fpemu_status fpemu_arith_scaled_f64(const fpemu_format *format, const fpemu_rounding *rounding,
                                    fpemu_operation operation, size_t n, const double *const *operands,
                                    const size_t *steps, const fpemu_operand_scales_f64 *scales, double *y,
                                    fpemu_stats *stats);

/* fpemu_arith on arrays of n elements, by name. */
fpemu_status fpemu_add_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                           const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_sub_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                           const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_mul_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                           const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_div_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                           const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_sqrt_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                            float *y, fpemu_stats *stats);
fpemu_status fpemu_fma_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                           const float *b, const float *c, float *y, fpemu_stats *stats);
fpemu_status fpemu_minimum_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                               const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_maximum_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const float *a,
                               const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_minimum_number_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                                      const float *a, const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_maximum_number_f32(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                                      const float *a, const float *b, float *y, fpemu_stats *stats);
fpemu_status fpemu_add_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                           const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_sub_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                           const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_mul_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                           const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_div_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                           const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_sqrt_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                            double *y, fpemu_stats *stats);
fpemu_status fpemu_fma_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                           const double *b, const double *c, double *y, fpemu_stats *stats);
fpemu_status fpemu_minimum_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                               const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_maximum_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n, const double *a,
                               const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_minimum_number_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                                      const double *a, const double *b, double *y, fpemu_stats *stats);
fpemu_status fpemu_maximum_number_f64(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                                      const double *a, const double *b, double *y, fpemu_stats *stats);

/* One element; operands that the operation does not take are ignored. `index` and refusals as in fpemu_quantize_one. */
float fpemu_arith_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                          float a, float b, float c, uint64_t index);
double fpemu_arith_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                           double a, double b, double c, uint64_t index);

/* Elementary functions of one operand. */
typedef enum fpemu_function {
    FPEMU_FUNCTION_EXP = 0,     /* e^x */
    FPEMU_FUNCTION_EXP2 = 1,    /* 2^x */
    FPEMU_FUNCTION_EXP10 = 2,   /* 10^x */
    FPEMU_FUNCTION_EXPM1 = 3,   /* e^x - 1 */
    FPEMU_FUNCTION_LOG = 4,
    FPEMU_FUNCTION_LOG2 = 5,
    FPEMU_FUNCTION_LOG10 = 6,
    FPEMU_FUNCTION_LOG1P = 7,   /* log(1 + x) */
    FPEMU_FUNCTION_SIN = 8,     /* angles in radians */
    FPEMU_FUNCTION_COS = 9,
    FPEMU_FUNCTION_TAN = 10,
    FPEMU_FUNCTION_ASIN = 11,
    FPEMU_FUNCTION_ACOS = 12,
    FPEMU_FUNCTION_ATAN = 13,
    FPEMU_FUNCTION_SINH = 14,
    FPEMU_FUNCTION_COSH = 15,
    FPEMU_FUNCTION_TANH = 16,
    FPEMU_FUNCTION_ASINH = 17,
    FPEMU_FUNCTION_ACOSH = 18,
    FPEMU_FUNCTION_ATANH = 19,
    FPEMU_FUNCTION_ERF = 20,
    FPEMU_FUNCTION_ERFC = 21,
    FPEMU_FUNCTION_RSQRT = 22,  /* 1 / sqrt(x) */
    FPEMU_FUNCTION_SIGMOID = 23,/* 1 / (1 + e^-x) */
    FPEMU_FUNCTION_SILU = 24,   /* x * sigmoid(x) */
    FPEMU_FUNCTION_GELU = 25,   /* x/2 * (1 + erf(x / sqrt(2))) */
    FPEMU_FUNCTION_SOFTPLUS = 26,/* log(1 + e^x) */
    FPEMU_FUNCTION_COUNT = 27
} fpemu_function;

/* "exp", "log2", ...; NULL if there is no such function. */
const char *fpemu_function_name(fpemu_function function);
/* The function of that name, in lower case; FPEMU_ERROR_ARGUMENT if there is none. */
fpemu_status fpemu_function_named(const char *name, fpemu_function *function);

/* y is the exact value of the function at x, correctly rounded once, as for the operations above; counters, refusals
 * and overlap too. doc/numerics.md, 9.6, has zeros, infinities and poles, and how correct rounding is shown.
 * Operands are binary32 numbers of at most 16 significant bits, as every value of fp16, bf16, TF32 and narrower formats
 * is, for these are what correct rounding is proven for: an array that has another number in it is refused with
 * FPEMU_ERROR_ARGUMENT. The format is one that binary32 holds (else FPEMU_ERROR_UNSUPPORTED), with both carriers. */
fpemu_status fpemu_apply_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function,
                             size_t n, const float *x, float *y, fpemu_stats *stats);
fpemu_status fpemu_apply_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function,
                             size_t n, const double *x, double *y, fpemu_stats *stats);
/* One element. `index` and refusals as in fpemu_quantize_one. */
float fpemu_apply_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, float x,
                          uint64_t index);
double fpemu_apply_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function,
                           double x, uint64_t index);

/* Comparisons need no format: y[i] = 1 where the relation holds between a[i] and b[i], else 0. -0 equals +0; a NaN is
 * in no relation, and signals nothing. y overlaps neither array; steps as in fpemu_arith. */
typedef enum fpemu_relation { FPEMU_RELATION_EQ = 0, FPEMU_RELATION_LT = 1, FPEMU_RELATION_LE = 2, FPEMU_RELATION_COUNT = 3 } fpemu_relation;

fpemu_status fpemu_compare_f32(fpemu_relation relation, size_t n, const float *const *operands, const size_t *steps,
                              uint8_t *y);
fpemu_status fpemu_compare_f64(fpemu_relation relation, size_t n, const double *const *operands, const size_t *steps,
                              uint8_t *y);
/* Of operands with scales, as fpemu_arith_scaled: their exact products are compared. */
fpemu_status fpemu_compare_scaled_f32(fpemu_relation relation, size_t n, const float *const *operands,
                                     const size_t *steps, const fpemu_operand_scales_f32 *scales, uint8_t *y);
fpemu_status fpemu_compare_scaled_f64(fpemu_relation relation, size_t n, const double *const *operands,
                                     const size_t *steps, const fpemu_operand_scales_f64 *scales, uint8_t *y);
fpemu_status fpemu_eq_f32(size_t n, const float *a, const float *b, uint8_t *y);
fpemu_status fpemu_lt_f32(size_t n, const float *a, const float *b, uint8_t *y);
fpemu_status fpemu_le_f32(size_t n, const float *a, const float *b, uint8_t *y);
fpemu_status fpemu_eq_f64(size_t n, const double *a, const double *b, uint8_t *y);
fpemu_status fpemu_lt_f64(size_t n, const double *a, const double *b, uint8_t *y);
fpemu_status fpemu_le_f64(size_t n, const double *a, const double *b, uint8_t *y);

/* ------------------------------------------------------------------------------------------ dot products */

/* Dot products as a machine computes them: what the operands, every product and every sum are rounded to, and in which
 * order. doc/accumulation.md defines each model bit by bit. Results do not depend on threads, tiles, transposes or
 * instruction set. */

/* A format and the way there. All zero bits = none: numbers pass unchanged. Compatibility settings are refused, and,
 * but for operands, formats that wrap and affine integers, as in arithmetic. */
typedef struct fpemu_target {
    fpemu_format format;
    fpemu_rounding rounding;
} fpemu_target;

typedef enum fpemu_model {
    FPEMU_MODEL_INVALID = 0,
    FPEMU_MODEL_SEQUENTIAL = 1, /* s = inner(s + product), k ascending */
    FPEMU_MODEL_CHUNKED = 2,    /* the same within chunks; then s = outer(s + chunk) (Wang et al. 2018) */
    FPEMU_MODEL_PAIRWISE = 3,   /* neighbours are added, then neighbours of those, ... */
    FPEMU_MODEL_KAHAN = 4,      /* compensated, four roundings a product */
    FPEMU_MODEL_FUSED = 5,      /* tensor core: products aligned to the largest exponent, cut, added as integers (Fasi et al.
                             2021; Khattak, Mikaitis 2025) */
    FPEMU_MODEL_INTEGER = 6,    /* integers of a given width that saturate or wrap */
    FPEMU_MODEL_COUNT = 7
} fpemu_model;

#define FPEMU_NO_FLOOR INT32_MIN

/* How products are added up. Fields that a model does not name are zero. inner and outer may be any format that
 * binary64 holds, whatever the carrier. */
typedef struct fpemu_accumulator {
    uint32_t model;         /* fpemu_model */
    uint32_t chunk;         /* chunked: products of a chunk, at least 1. fused: products after which the sum is promoted
                               to outer, a multiple of block; 0 = never */
    uint32_t block;         /* fused: products of a step, 1..64 */
    uint32_t fraction_bits; /* fused: bits kept below the largest exponent, 0..40 */
    int32_t least_exponent; /* fused: the largest exponent is at least this; FPEMU_NO_FLOOR = no such floor */
    uint32_t width;         /* integer: bits with the sign, 2..64 */
    uint8_t wrap;           /* integer: 0 saturates, 1 wraps */
    uint8_t reserved0[7];
    uint64_t reserved1[4];
    fpemu_target inner;     /* all but integer: after every addition. fused: what a step gives; an ieee float of
                               binary32's range or less, mode rtz or rne, overflow to infinity in both */
    fpemu_target outer;     /* chunked, and fused with chunk: after every addition of a chunk */
} fpemu_accumulator;

/* A dot product s = sum of a[k] * b[k], k = 0 .. K-1, and what is made of it: out(alpha * s + beta * c), exact but for
 * the one rounding. Random words: rounding number t (doc/accumulation.md numbers them) of output i uses element i of
 * the stream mix(stream + (t+1) * 0x9e3779b97f4a7c15); operands use the element of their index. */
typedef struct fpemu_gemm_spec {
    fpemu_target a, b;    /* operands, on their way in. fused: needed, floats of at most 12 bits of precision; integer:
                             needed, fixed or int of at most 31 bits on a power-of-two grid */
    fpemu_target product; /* none: the exact product enters the sum (fused multiply-add). fused, integer: none */
    fpemu_target out;     /* none: the carrier, nearest even */
    fpemu_accumulator sum;
    uint8_t start_from_c; /* 1: the sum starts from c in place of +0, as the instruction does; alpha and beta are 1 */
    uint8_t reserved0[7];
    uint64_t reserved1[7];
} fpemu_gemm_spec;

/* Reads the text of a model, such as "seq(fp(6,9,0)/sr)", "chunk(64,fp(6,9,0)); ab=e5m2", "pairwise(fp16)",
 * "kahan(bf16); product=bf16", "tc(h100,fp16)", "tc(h100,e4m3fn,promote=128)", "int(32,saturate); ab=fixed(8,4)",
 * "fp32", "fp64" (grammar: doc/accumulation.md; at most 1023 bytes). Seeds and streams stay zero. */
fpemu_status fpemu_gemm_parse(const char *text, fpemu_gemm_spec *spec, fpemu_parse_error *error);
/* Writes the canonical text, zero-terminated; FPEMU_ERROR_BUFFER where `capacity` (1024 always suffices) does not. Of a
 * rounding only the mode is told. FPEMU_ERROR_ARGUMENT for a model that does not exist. */
fpemu_status fpemu_gemm_print(const fpemu_gemm_spec *spec, char *text, size_t capacity);
/* FPEMU_OK if the spec can be used on a carrier of 32 or 64 bits. */
fpemu_status fpemu_gemm_check(const fpemu_gemm_spec *spec, int carrier);

/* Tensor cores by name. Operands: FPEMU_NAME_BINARY16; but for V100 FPEMU_NAME_BFLOAT16, FPEMU_NAME_TF32; Ada, H100, B200 also
 * FPEMU_NAME_E4M3FN, FPEMU_NAME_E5M2. Result: FPEMU_NAME_BINARY32, or FPEMU_NAME_BINARY16 for fp16 operands.
 * FPEMU_ERROR_UNSUPPORTED where the hardware has no such instruction. Models, not vendor documents. */
typedef enum fpemu_gpu {
    FPEMU_GPU_V100 = 1,
    FPEMU_GPU_A100 = 2,
    FPEMU_GPU_ADA = 3, /* L40S */
    FPEMU_GPU_H100 = 4, /* H200 */
    FPEMU_GPU_B200 = 5
} fpemu_gpu;
fpemu_status fpemu_gemm_tensor_core(fpemu_gemm_spec *spec, fpemu_gpu gpu, fpemu_name operands, fpemu_name result);

typedef enum fpemu_order { FPEMU_ORDER_ROW_MAJOR = 0, FPEMU_ORDER_COLUMN_MAJOR = 1 } fpemu_order;

/* op(A) is m x k, op(B) k x n, C m x n; op transposes where asked. All counts in elements. */
typedef struct fpemu_gemm_shape {
    uint64_t m, n, k;
    uint64_t lda, ldb, ldc;    /* from one row (column-major: column) of the array to the next; 0 = as long as it is */
    uint64_t batch;            /* independent products; 0 = 1 */
    uint64_t stride_a, stride_b, stride_c; /* from one product's array to the next; a, b: 0 = the same for all */
    uint8_t order;             /* fpemu_order, of all three */
    uint8_t transpose_a, transpose_b; /* 1: the array holds the transpose */
    uint8_t reserved0[5];
    uint64_t reserved1[5];
} fpemu_gemm_shape;

/* C = out(alpha * op(A) op(B) + beta * C). beta = 0: C is not read; alpha = 0: A and B are not. c overlaps neither a
 * nor b. m = 0 or n = 0 is success; k = 0 gives out(beta * C). Indices, whatever order, transposes and strides:
 * output (i,j) of product q is (q*m + i)*n + j, a(i,l) is (q*m + i)*k + l, b(l,j) is (q*k + l)*n + j, with q = 0 for
 * an array that all share. `stats` (may be NULL; want = 0) counts every rounding of products and sums and, where
 * given, of out. Returns FPEMU_ERROR_ARGUMENT for a leading dimension or stride that is too small, or an extent past
 * the end of memory. It is quicker where the formats of a and b are told, though the numbers be rounded to them
 * already. Some 90 kB of stack are used. */
fpemu_status fpemu_gemm_f32(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, float alpha, const float *a,
                            const float *b, float beta, float *c, fpemu_stats *stats);
fpemu_status fpemu_gemm_f64(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, double alpha, const double *a,
                            const double *b, double beta, double *c, fpemu_stats *stats);

/* The same with a scale for every block of sum.chunk elements along k (the last may be short), as hardware for MX and
 * NVFP4 has it: a chunk's sum, times the scales of its two blocks, is added to s by one rounding to outer. Chunked
 * models and fused ones with chunk; FPEMU_ERROR_UNSUPPORTED for others. scales_a: m rows of ceil(k / chunk) scales, one
 * for each row of op(A); scales_b: n rows of as many, one for each column of op(B); so for each product of the batch,
 * one after the other, or once where stride_a or stride_b is 0. NULL: all 1. c overlaps none. Scales are binary32
 * numbers with _f64 too, infinities or NaN (else FPEMU_ERROR_ARGUMENT). */
fpemu_status fpemu_gemm_scaled_f32(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, float alpha,
                                   const float *a, const float *scales_a, const float *b, const float *scales_b,
                                   float beta, float *c, fpemu_stats *stats);
fpemu_status fpemu_gemm_scaled_f64(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, double alpha,
                                   const double *a, const double *scales_a, const double *b, const double *scales_b,
                                   double beta, double *c, fpemu_stats *stats);

/* y = out(alpha * op(A) x + beta * y): A is an array of m rows and n columns, transpose = 1: x has m elements, y n.
 * Steps incx, incy are not 0; negative ones begin at the end, as in BLAS. Element l of x has index l, output i has
 * index i. */
fpemu_status fpemu_gemv_f32(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                            float alpha, const float *a, size_t lda, const float *x, int64_t incx, float beta,
                            float *y, int64_t incy, fpemu_stats *stats);
fpemu_status fpemu_gemv_f64(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                            double alpha, const double *a, size_t lda, const double *x, int64_t incx, double beta,
                            double *y, int64_t incy, fpemu_stats *stats);

/* *result = out(sum of x[i] * y[i]), output 0; with start_from_c *result is read first. n = 0 gives out(+0). */
fpemu_status fpemu_dot_f32(const fpemu_gemm_spec *spec, size_t n, const float *x, int64_t incx, const float *y,
                           int64_t incy, float *result, fpemu_stats *stats);
fpemu_status fpemu_dot_f64(const fpemu_gemm_spec *spec, size_t n, const double *x, int64_t incx, const double *y,
                           int64_t incy, double *result, fpemu_stats *stats);

/* ------------------------------------------------------------------------------------------------ others */

/* Instruction set of the array loops in use: "portable", "x86-64-v3", "x86-64-v4", "x86-64-v4-vbmi"; the environment
 * variable FPEMU_VARIANT forces one by name (ignored where the machine lacks it). It changes no bit of a result. */
const char *fpemu_variant(void);
/* Names of the variants compiled in that this machine can run: i = 0, 1, ...; NULL past the end. */
const char *fpemu_variant_available(unsigned i);

/* Sizes of the structs in the library, for other languages: "format", "rounding", "stats", "target", "accumulator",
 * "gemm_spec", "gemm_shape"; 0 for another noun. */
size_t fpemu_sizeof(const char *noun);

#ifdef __cplusplus
}
#define FPEMU_STATIC_ASSERT(c, m) static_assert(c, m)
#else
#define FPEMU_STATIC_ASSERT(c, m) _Static_assert(c, m)
#endif

FPEMU_STATIC_ASSERT(sizeof(fpemu_format) == 256, "fpemu_format has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_rounding) == 64, "fpemu_rounding has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_stats) == 1048, "fpemu_stats has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_range) == 96, "fpemu_range has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_layout) == 96, "fpemu_layout has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_extent) == 64, "fpemu_extent has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_parse_error) == 128, "fpemu_parse_error has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_target) == 320, "fpemu_target has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_accumulator) == 704, "fpemu_accumulator has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_gemm_spec) == 2048, "fpemu_gemm_spec has no unnamed padding");
FPEMU_STATIC_ASSERT(sizeof(fpemu_gemm_shape) == 128, "fpemu_gemm_shape has no unnamed padding");

#endif /* FPEMU_H */
