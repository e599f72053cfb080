/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/format.h - number formats: which values exist and how they are coded. */
#ifndef FPEMU_API_FORMAT_H
#define FPEMU_API_FORMAT_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the numbers of an array are. Another number is FPEMU_ERROR_ARGUMENT. */
typedef enum fpemu_type {
    FPEMU_TYPE_F32 = 32,  /* float: binary32 */
    FPEMU_TYPE_F64 = 64,  /* double: binary64 */
    FPEMU_TYPE_F16 = 16,  /* uint16_t: words of binary16 */
    FPEMU_TYPE_BF16 = -16 /* uint16_t: words of bfloat16 */
} fpemu_type;

typedef enum fpemu_kind {
    FPEMU_KIND_INVALID = 0,
    FPEMU_KIND_FLOAT = 1,   /* sign, exponent, mantissa */
    FPEMU_KIND_FIXED = 2,   /* fixed point: an integer times 2^-fraction_bits */
    FPEMU_KIND_INT = 3,     /* affine integer: scale * (q - zero_point), q an integer of `bits` bits */
    FPEMU_KIND_POSIT = 4,   /* Posit Standard 2022, with any n <= 32 and es <= 5 */
    FPEMU_KIND_CODEBOOK = 5 /* a sorted table of values, coded by their index */
} fpemu_kind;

/* Which codes of a float are not numbers. E is the exponent field of a code, T its fraction field. */
typedef enum fpemu_specials {
    FPEMU_SPECIALS_IEEE = 0,   /* E all ones: T = 0 infinity, else NaN (IEEE 754-2019) */
    FPEMU_SPECIALS_FN = 1,     /* NaN only where E and T are all ones, both signs; no infinity (OCP E4M3) */
    FPEMU_SPECIALS_FNUZ = 2,   /* NaN only at the code of -0; no infinity, no -0 */
    FPEMU_SPECIALS_FINITE = 3, /* none: every code is a number (OCP FP6, FP4; Lee et al. 2023) */
    FPEMU_SPECIALS_P3109E = 4, /* IEEE P3109, extended domain: one NaN, infinities, no -0 */
    FPEMU_SPECIALS_P3109F = 5, /* IEEE P3109, finite domain: one NaN, no infinity, no -0 */
    FPEMU_SPECIALS_E8M0 = 6,   /* OCP UE8M0, and E6M2 with bias 48: E = 0 is a binade, NaN all ones, no zero, no sign */
    FPEMU_SPECIALS_DLFLOAT = 7, /* IBM DLFloat: one code for NaN and infinity; E = 0 holds normal numbers */
    FPEMU_SPECIALS_HIF8 =
        8 /* Ascend HiFloat8: a prefix code, 3 to 0 fraction bits; e = 4, m = 3, bias 0 (numerics.md) */
} fpemu_specials;

/* What there is below the smallest normal magnitude 2^emin. All act on magnitudes, in every mode. */
typedef enum fpemu_subnormals {
    FPEMU_SUBNORMALS_KEEP = 0,     /* subnormal numbers: gradual underflow */
    FPEMU_SUBNORMALS_NONE = 1,     /* only 0 and 2^emin, between which the mode decides (as CPFloat has it) */
    FPEMU_SUBNORMALS_FLUSH_IN = 2, /* |x| < 2^emin becomes zero before rounding (hardware's FTZ/DAZ) */
    FPEMU_SUBNORMALS_FLUSH_OUT = 3 /* x is rounded with subnormals, then a result below 2^emin becomes zero */
} fpemu_subnormals;

/* What becomes of a result outside [lowest, max], and of an infinite input. doc/numerics.md, 4.4, has the table. */
typedef enum fpemu_overflow {
    FPEMU_OVERFLOW_FROM_FORMAT = 0,      /* in a rounding: as the format says; in a format: the same as ieee */
    FPEMU_OVERFLOW_IEEE = 1,             /* the mode decides between infinity (NaN, where there is none) and max */
    FPEMU_OVERFLOW_SATURATE = 2,         /* max or lowest, for infinities too */
    FPEMU_OVERFLOW_SATURATE_KEEP_INF = 3 /* max or lowest; infinities as under ieee */
} fpemu_overflow;

/* What a NaN becomes in a format without a code for it. */
typedef enum fpemu_nan {
    FPEMU_NAN_FROM_FORMAT = 0, /* in a rounding: as the format says; in a format: the same as keep */
    FPEMU_NAN_KEEP = 1,        /* value to value: NaN; value to code: the code of max (integers, fixed point: 0) */
    FPEMU_NAN_MAX = 2,         /* max */
    FPEMU_NAN_SIGNMAX = 3,     /* max, or lowest if the NaN's sign bit is set */
    FPEMU_NAN_ZERO = 4,        /* +0 */
    FPEMU_NAN_ERROR = 5        /* as keep, and in the end the call on the array returns FPEMU_ERROR_NAN */
} fpemu_nan;

/* How the scale s of a block follows from its elements x. The element format sees t = x/s and makes P of it; the result
 * is y = P*s. amax is the largest |x| of the block, M the largest value of the element format, emax = floor(log2 M).
 * Elements always saturate. doc/blocks.md, 2, states every rule exactly. */
typedef enum fpemu_scaling {
    FPEMU_SCALING_NONE = 0,         /* a scalar format: no blocks */
    FPEMU_SCALING_FLOOR = 1,        /* s = 2^(floor(log2 amax) - emax): OCP MX, block floating point, block minifloat */
    FPEMU_SCALING_CEIL = 2,         /* s = 2^(ceil(log2 amax) - emax) */
    FPEMU_SCALING_EVEN = 3,         /* as floor, of amax rounded to the precision of the element (pytorch/ao) */
    FPEMU_SCALING_RCEIL = 4,        /* s = amax * (1/M), up to a power of two (cuBLAS, TransformerEngine) */
    FPEMU_SCALING_HBFP = 5,         /* s = 2^(ceil(log2 amax) - emax - 1) (Drumond et al. 2018) */
    FPEMU_SCALING_ABSMAX = 6,       /* s = amax / M: group quantisers (LPMM), codebooks */
    FPEMU_SCALING_NVFP4 = 7,        /* a scale a block and one of the whole tensor, in TransformerEngine's order */
    FPEMU_SCALING_NVFP4_AO = 8,     /* the same in the order of pytorch/ao */
    FPEMU_SCALING_RECIPE = 9,       /* s = 1/u, u = (M/amax) * 2^-margin: TransformerEngine, current or delayed */
    FPEMU_SCALING_RECIPE_POW2 = 10, /* the same, u cut down to a power of two */
    FPEMU_SCALING_MUPPET = 11,      /* the smallest power of two that keeps all inside (Rajagopal et al. 2020) */
    FPEMU_SCALING_S2FP8 = 12,       /* shift and squeeze: t = sign(x) 2^beta |x|^alpha (Cambier et al. 2020) */
    FPEMU_SCALING_RECIPROCAL = 13,  /* as absmax, but elements are multiplied by M / amax unrounded: ggml's Q8_0 */
    FPEMU_SCALING_4OVER6 = 14,      /* as nvfp4, elements reach 6 or 4: the lesser sum of |y - x| (TransformerEngine) */
    FPEMU_SCALING_4OVER6_MSE = 15,  /* the same, the lesser sum of (y - x)^2 */
    FPEMU_SCALING_NVFP4_CLAMP = 16, /* as nvfp4-ao, in the order of AMD's ALTO, no scale of zero */
    FPEMU_SCALING_PAIRS = 17,       /* as floor, and a bit of each pair that halves its scale: MX9, MX6, MX4 */
    FPEMU_SCALING_HIF4 = 18,        /* Ascend HiFloat4: E6M2, a bit for each eight and each four that doubles it */
    FPEMU_SCALING_ASYMMETRIC = 19,  /* s = (max - min) / (most - least), 0 included, a whole zero point (torchao) */
    FPEMU_SCALING_MINMAX = 20,      /* the same, 0 not included */
    FPEMU_SCALING_TINYGEMM = 21,    /* as minmax, with a number that is added to y: torchao's zero points as floats */
    FPEMU_SCALING_HQQ = 22,         /* as minmax, zero points as floats are added before rounding: where HQQ begins */
    FPEMU_SCALING_GGML_1 = 23,      /* s = (max - min) / M, min is added to y: ggml's Q4_1, Q5_1 */
    FPEMU_SCALING_GGML_0 = 24,      /* s = x / lowest, x the element of the largest magnitude: ggml's Q4_0, Q5_0 */
    FPEMU_SCALING_EDEN = 25,        /* as nvfp4, corrected over some blocks, then rounded by sr (Quartet II) */
    FPEMU_SCALING_GGML_1K = 26,     /* as ggml-1 by a search, in multiples of two numbers of 256 elements: Q4_K, Q5_K */
    FPEMU_SCALING_GGML_0K = 27,     /* as ggml-0 by a search, in multiples of a number of 256 elements: Q6_K */
    FPEMU_SCALING_ABSMEAN = 28,     /* s = the mean of |x|, at least 1e-5: ternary elements (BitNet b1.58) */
    FPEMU_SCALING_COUNT = 29
} fpemu_scaling;

/* Whether neighbouring blocks share a correction or a super-block: results then go to another array than x, and a part
 * of a tensor has whole lines, of tiles all rows of them. */
#define FPEMU_CORRECTED(format)                                                                                        \
    ((format)->correct != 0 || (format)->scaling == FPEMU_SCALING_EDEN ||                                              \
     (format)->scaling == FPEMU_SCALING_GGML_1K || (format)->scaling == FPEMU_SCALING_GGML_0K)

/* Which elements of a tensor of outer x rows x length x inner elements (fpemu_shape) share a scale. */
typedef enum fpemu_block {
    FPEMU_BLOCK_RUN = 0,     /* block_length neighbours along `length`; the last of a line may have fewer */
    FPEMU_BLOCK_ROW = 1,     /* a whole line along `length` (per token) */
    FPEMU_BLOCK_TILE = 2,    /* block_rows x block_length along `rows` and `length`; those at the ends may have fewer */
    FPEMU_BLOCK_CHANNEL = 3, /* all elements of one index along `length` (per channel) */
    FPEMU_BLOCK_TENSOR = 4   /* the whole tensor */
} fpemu_block;

/* Whose is the second scale of nvfp4 rules. */
typedef enum fpemu_outer {
    FPEMU_OUTER_TENSOR = 0, /* the whole tensor's */
    FPEMU_OUTER_ROW = 1     /* each line along `length` has one of its own */
} fpemu_outer;

/* What an element x adds to the error of a scale that is tried, y being what it becomes of it. */
typedef enum fpemu_search_error {
    FPEMU_SEARCH_SQUARES = 0,  /* (y - x)^2 */
    FPEMU_SEARCH_ABSOLUTE = 1, /* |y - x| */
    FPEMU_SEARCH_WEIGHTED = 2  /* ((y - x) * x)^2 */
} fpemu_search_error;

/* Tables of a codebook: exact rationals, each rounded once to binary32 (doc/blocks.md, 5). */
typedef enum fpemu_codebook_name {
    FPEMU_CODEBOOK_CUSTOM = 0,   /* the caller's */
    FPEMU_CODEBOOK_NF4 = 1,      /* 4 bits (Dettmers et al. 2023) */
    FPEMU_CODEBOOK_DYNAMIC = 2,  /* signed, 4..8 bits, from -0.99.. through 0 to 1 (Dettmers 2015, 2022) */
    FPEMU_CODEBOOK_UDYNAMIC = 3, /* unsigned, 4..8 bits, from 0 to 1 */
    FPEMU_CODEBOOK_CODES = 4     /* the caller's, of the values of codes: fpemu_format_codes */
} fpemu_codebook_name;

/* As bias of a float: 2^(e-1)-1, or 2^(e-1) for fnuz and the P3109 formats, with e exponent bits. */
#define FPEMU_BIAS_DEFAULT INT32_MIN

/* A number format. Fill it by fpemu_format_parse, fpemu_format_named or a constructor; or set the parameters by hand,
 * the rest zero, and call fpemu_format_complete. All fields may be read. Only the parameters may be changed, and then
 * fpemu_format_complete derives the rest again. Copy it freely, compare by fpemu_format_equal. All zero bits are no
 * format. */
typedef struct fpemu_format {
    /* Parameters */
    uint32_t kind;          /* fpemu_kind */
    uint32_t bits;          /* width of a code: 1..64; of a float it follows from the other parameters */
    uint32_t exponent_bits; /* float: 0..11; posit: es, 0..5; else 0 */
    uint32_t mantissa_bits; /* float: stored fraction bits, 0..52; else 0 */
    int32_t bias;           /* float: value = (1 + T/2^m) * 2^(E - bias) for E > 0; else 0 */
    int32_t fraction_bits;  /* fixed: may be negative or exceed the word length; else 0 */
    uint8_t is_signed;      /* 0 or 1 */
    uint8_t specials;       /* float: fpemu_specials; else 0 */
    uint8_t subnormals;     /* float: fpemu_subnormals; else 0 */
    uint8_t overflow;       /* fpemu_overflow, where the rounding names none; never 0 once complete */
    uint8_t nan;            /* fpemu_nan, likewise */
    uint8_t symmetric;      /* fixed, int, signed: 1 = the most negative code is not used */
    uint8_t wrap;           /* fixed, int: 1 = past the ends the low bits are kept, in place of saturating */
    uint8_t reserved0;
    double scale;       /* int: > 0; else 0 */
    int64_t zero_point; /* int: one of the codes; else 0 */

    /* Derived by fpemu_format_complete; of a blocked format they are the element's */
    int32_t precision;   /* float: mantissa_bits + 1; else 0 */
    int32_t emin, emax;  /* float: exponents of the smallest normal and of the largest finite value */
    int32_t quantum;     /* float, fixed: the smallest distance of two values is 2^quantum */
    double max, lowest;  /* largest and smallest finite value; int: as binary64 holds them */
    double min_normal;   /* float: smallest normal value (2^emin; dlfloat: one step more), 0 where there is none;
                               else the same as min_positive */
    double min_positive; /* smallest value above zero */
    uint64_t max_code, lowest_code; /* codes of max and lowest */
    uint64_t nan_code;              /* the code that is written for a NaN; without meaning where has_nan is 0 */
    uint8_t has_nan, has_infinity, has_negative_zero, has_zero; /* 0 or 1 */
    uint8_t fits_f32, fits_f64;                                 /* 1: the carrier holds every value exactly */
    uint8_t reserved1[2];

    /* Parameters of a blocked format (scaling != 0), whose element is what stands above. The scale is a power of two
     * 2^c, c a two's complement integer, or a float that is never negative. */
    uint8_t scaling;             /* fpemu_scaling */
    uint8_t block;               /* fpemu_block */
    uint8_t scale_power;         /* 1: a power of two; 0: a float */
    uint8_t scale_exponent_bits; /* power of two: bits of c, 2..12; float: 0..11 */
    uint8_t scale_mantissa_bits; /* float: 0..23 */
    uint8_t scale_specials;      /* float: fpemu_specials */
    uint8_t scale_signed;        /* float: 1 = its code has a sign bit, which is 0 */
    uint8_t codebook;            /* kind codebook: fpemu_codebook_name; else 0 */
    int32_t scale_bias;          /* float */
    int32_t margin;              /* recipe rules: 0..64; else 0 */
    uint32_t block_length;       /* run, tile: 1 and more; else 0 */
    uint32_t block_rows;         /* tile: 1 and more; else 0 */
    uint32_t codebook_length;    /* kind codebook: number of values, 2..65536; else 0 */
    uint8_t outer;               /* nvfp4 rules, runs: fpemu_outer; else 0 */
    uint8_t correct;             /* blocks of a line that share a correction, 1..64; 0: none, of eden eight */
    uint8_t reserved2[2];
    union {
        const float *table; /* codebook custom: the caller's values, strictly ascending, finite; codes: the memory,
                               which begins with the value of each code; else NULL */
        uint64_t table_word;
    };
    float target; /* what amax is to become: a binary32 number near the element's largest value; 0: that */
    float bound;  /* rules of nvfp4: the largest scale to aim at; 0: that of the scale format */
    int16_t search_first, search_last; /* scales that are tried, in this order; both 0: that of the rule alone */
    uint16_t search_grid;              /* they are found from shares first/grid to last/grid of amax; 0: they are
                                          those so many codes beside that of the rule */
    uint16_t search_error;             /* fpemu_search_error: whose least sum decides */
    uint64_t reserved3[9];
} fpemu_format;
FPEMU_STATIC_ASSERT(sizeof(fpemu_format) == 256, "fpemu_format has no unnamed padding");

/* The formats that have a name; fpemu-formats(7) says what each is. */
typedef enum fpemu_name {
    FPEMU_NAME_NONE = 0,
    FPEMU_NAME_BINARY16 = 1,
    FPEMU_NAME_BFLOAT16 = 2,
    FPEMU_NAME_TF32 = 3,
    FPEMU_NAME_BINARY32 = 4,
    FPEMU_NAME_BINARY64 = 5,
    FPEMU_NAME_E5M2 = 6,
    FPEMU_NAME_E4M3 = 7,
    FPEMU_NAME_E3M4 = 8,
    FPEMU_NAME_E4M3FN = 9,
    FPEMU_NAME_E4M3FNUZ = 10,
    FPEMU_NAME_E5M2FNUZ = 11,
    FPEMU_NAME_E4M3B11FNUZ = 12,
    FPEMU_NAME_E8M0 = 13,
    FPEMU_NAME_E3M2 = 14,
    FPEMU_NAME_E2M3 = 15,
    FPEMU_NAME_E2M1 = 16,
    FPEMU_NAME_UE4M3 = 17,
    FPEMU_NAME_DLFLOAT16 = 18,
    FPEMU_NAME_INT4 = 19,
    FPEMU_NAME_INT8 = 20,
    FPEMU_NAME_INT16 = 21,
    FPEMU_NAME_UINT4 = 22,
    FPEMU_NAME_UINT8 = 23,
    FPEMU_NAME_UINT16 = 24,
    FPEMU_NAME_MXFP8_E4M3 = 25,
    FPEMU_NAME_MXFP8_E5M2 = 26,
    FPEMU_NAME_MXFP6_E2M3 = 27,
    FPEMU_NAME_MXFP6_E3M2 = 28,
    FPEMU_NAME_MXFP4 = 29,
    FPEMU_NAME_MXINT8 = 30,
    FPEMU_NAME_NVFP4 = 31,
    FPEMU_NAME_MSFP12 = 32,
    FPEMU_NAME_MSFP16 = 33,
    FPEMU_NAME_NF4 = 34,
    FPEMU_NAME_S2FP8 = 35,
    FPEMU_NAME_Q8_0 = 36,
    FPEMU_NAME_UE5M3 = 37,
    FPEMU_NAME_AMDFP4 = 38,
    FPEMU_NAME_HIF8 = 39,
    FPEMU_NAME_UE6M2 = 40,
    FPEMU_NAME_HIF4 = 41,
    FPEMU_NAME_MX9 = 42,
    FPEMU_NAME_MX6 = 43,
    FPEMU_NAME_MX4 = 44,
    FPEMU_NAME_Q4_0 = 45,
    FPEMU_NAME_Q4_1 = 46,
    FPEMU_NAME_Q5_0 = 47,
    FPEMU_NAME_Q5_1 = 48,
    FPEMU_NAME_Q4_K = 49,
    FPEMU_NAME_Q5_K = 50,
    FPEMU_NAME_Q6_K = 51,
    FPEMU_NAME_COUNT = 52 /* one more than the last */
} fpemu_name;

/* Where a text went wrong. */
typedef struct fpemu_parse_error {
    uint32_t position; /* offset in bytes of the offending character; the text's length where it ends too early */
    char message[124]; /* one line, zero-terminated: what was found and what was expected */
} fpemu_parse_error;
FPEMU_STATIC_ASSERT(sizeof(fpemu_parse_error) == 128, "fpemu_parse_error has no unnamed padding");

/* Reads a format from a text of at most 255 bytes, such as "e4m3fn:saturate" (grammar: fpemu-formats(7)). `error` may
 * be NULL. FPEMU_ERROR_SPEC, and *format all zero, where the text is wrong. */
fpemu_status fpemu_format_parse(const char *spec, fpemu_format *format, fpemu_parse_error *error);

/* Writes the canonical text, zero-terminated; fpemu_format_parse makes an equal format of it. FPEMU_ERROR_BUFFER where
 * `capacity` bytes do not suffice; 256 always do. On failure the text is empty, where there is room for that. */
fpemu_status fpemu_format_print(const fpemu_format *format, char *text, size_t capacity);

/* The format of a name; FPEMU_ERROR_ARGUMENT, and *format all zero, if there is none. */
fpemu_status fpemu_format_named(fpemu_name name, fpemu_format *format);
/* How a name is written: alias 0 is the canonical form, 1, 2, ... are others; NULL past the end. */
const char *fpemu_format_name(fpemu_name name, unsigned alias);

/* -------------------------------------------------------------------------------------------- constructors */

/* Each fills *format, and leaves it all zero where it fails: FPEMU_ERROR_FORMAT for parameters out of range. */

/* A float: 0..11 exponent bits, 0..52 mantissa bits, bias as in fpemu_format or FPEMU_BIAS_DEFAULT. */
fpemu_status fpemu_format_float(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t bias,
                                fpemu_specials specials, int is_signed);
/* FP(e,m,b) of Lee et al. 2023, the values of FP(e,m,0) times 2^-b; finite values only for e <= 7, IEEE's specials for
 * e = 8. */
fpemu_status fpemu_format_lee(fpemu_format *format, uint32_t exponent_bits, uint32_t mantissa_bits, int32_t b);
/* IEEE P3109 Binary{k}p{p}{s|u}{e|f}: k bits in all, p of precision. They give p - 1 mantissa bits, at most 52, and
 * k - p exponent bits (unsigned: one more), at most 11. */
fpemu_status fpemu_format_p3109(fpemu_format *format, uint32_t k, uint32_t p, int is_signed, int has_infinity);
/* Fixed point: word_length bits in all, sign included; steps of 2^-fraction_bits. */
fpemu_status fpemu_format_fixed(fpemu_format *format, uint32_t word_length, int32_t fraction_bits, int is_signed);
/* An affine integer of 1..32 bits; scale above 0, and no value beyond binary64 (where the scale is used it is rounded
 * to the carrier). */
fpemu_status fpemu_format_int(fpemu_format *format, uint32_t bits, int is_signed, double scale, int64_t zero_point);
/* posit<n,es>: n 2..32, es 0..5. */
fpemu_status fpemu_format_posit(fpemu_format *format, uint32_t n, uint32_t es);
/* A built-in table as a scalar format: nf4 of 4 bits, the dynamic ones of 4..8. */
fpemu_status fpemu_format_codebook(fpemu_format *format, fpemu_codebook_name name, uint32_t bits);
/* A table of the caller's, `length` (2..65536) strictly ascending finite values, no -0. The format keeps the pointer:
 * the array must stay as long as the format and its copies are used. fpemu_format_print refuses such a format
 * (FPEMU_ERROR_UNSUPPORTED). */
fpemu_status fpemu_format_table(fpemu_format *format, uint32_t length, const float *values);
/* The values of the codes 0 to length - 1 (2..65536 of them), in whatever order, also infinities, NaN, both zeros and
 * values that stand there twice (doc/blocks.md, 5). `memory` has FPEMU_CODES_MEMORY(length) numbers, which are filled,
 * and stays as long as the format and its copies are used; `values` is needed no longer, and is not part of it. */
fpemu_status fpemu_format_codes(fpemu_format *format, uint32_t length, const float *values, float *memory);
#define FPEMU_CODES_MEMORY(length) (3 * (size_t)(length) + 6)
/* A blocked format.
 *   element  a scalar format that does not wrap and has a value above zero; for the rule even no posit and no codebook
 *   scale    a float of at most 32 bits without policies of its own; or NULL: powers of two with an exponent of
 *            `exponent_bits` bits, 2..12 (ignored where there is a scale)
 *   rows, length  block_rows and block_length; 0 where `block` has none
 * nvfp4 rules: block run or tile, scale not NULL; 4over6 rules: the element e2m1 too, of at most 64 rows and 4096
 * elements a block. Recipe rules: scale fp32. The margin, the target (a sixteenth to 16 times the element's largest
 * value), the bound, outer and the search may be set afterwards where the rule has them, followed by
 * fpemu_format_complete. muppet: the element fixed point or an integer with steps of a power of two, scale NULL. s2fp8:
 * block tensor, the element a float, scale fp32. pairs, hif4, asymmetric and following: doc/blocks.md, 2.6, 2.7. */
fpemu_status fpemu_format_blocked(fpemu_format *format, const fpemu_format *element, fpemu_scaling scaling,
                                  const fpemu_format *scale, uint32_t exponent_bits, fpemu_block block, uint32_t rows,
                                  uint32_t length);
/* The element format of a blocked one; of a scalar format a copy. On failure *element is all zero. */
fpemu_status fpemu_format_element(const fpemu_format *format, fpemu_format *element);
/* The format of the scales of a blocked one; FPEMU_ERROR_UNSUPPORTED where they are bare powers of two, or there are
 * none. On failure *scale is all zero. */
fpemu_status fpemu_format_scale(const fpemu_format *format, fpemu_format *scale);
/* Checks the parameters of *format and derives the rest: also after a change of subnormals, overflow, nan, symmetric or
 * wrap. FPEMU_ERROR_FORMAT, and *format all zero, for parameters out of range. */
fpemu_status fpemu_format_complete(fpemu_format *format);

/* ----------------------------------------------------------------------------------------- what a format is */

/* 1 if both have the same parameters, and so the same values, codes and policies; 0 otherwise or for NULL. int(8) and
 * fixed(8,0), whose values and codes are the same, have other parameters. */
int fpemu_format_equal(const fpemu_format *a, const fpemu_format *b);

/* Questions about the values; of a blocked format they are answered for its element. 0 for NULL and for an invalid
 * format, unless something else is said. */
double fpemu_format_max(const fpemu_format *format);
double fpemu_format_lowest(const fpemu_format *format);
double fpemu_format_min_normal(const fpemu_format *format);
double fpemu_format_min_positive(const fpemu_format *format);
/* Floats: 2^-m, which is the distance from 1 to the next value where both are normal numbers; posits: that
 * distance, 0 where 1 is the largest; 0 for other kinds. */
double fpemu_format_epsilon(const fpemu_format *format);
/* How many finite values there are, +-0 counted once; 2^64-1 if more. */
uint64_t fpemu_format_value_count(const fpemu_format *format);
/* How many codes decode to NaN; of a symmetric format the unused code is one. */
uint64_t fpemu_format_nan_count(const fpemu_format *format);
/* Bits of a code; in blocks of a fixed size (run, tile) with the element's part of the scale's code. */
double fpemu_format_bits_per_element(const fpemu_format *format);
/* Bytes of a code in an array: 1, 2, 4 or 8. */
size_t fpemu_format_code_size(const fpemu_format *format);
/* 1 if the type holds every value exactly (int: if it can be used with that carrier; 16 bits: every value as binary32
 * has it): then arrays of it can be quantised to the format. With 16 bits 1 for blocked formats and codebooks that
 * float holds: what they give is rounded to the type. 0 for another type. */
int fpemu_format_fits(const fpemu_format *format, fpemu_type type);
/* 1 if x is a value of the format; -0 counts as 0, and infinities and NaN where the format has them. */
int fpemu_format_represents(const fpemu_format *format, double x);
/* The nearest finite value above (below) x, which need not be a value itself; NaN if there is none, or x is NaN. */
double fpemu_format_next_up(const fpemu_format *format, double x);
double fpemu_format_next_down(const fpemu_format *format, double x);
/* All finite values in ascending order, zero once (as +0), and their codes (`codes` may be NULL). *count becomes
 * fpemu_format_value_count. If that is more than `capacity`: FPEMU_ERROR_BUFFER, and nothing is written to the
 * arrays. */
fpemu_status fpemu_format_enumerate(const fpemu_format *format, size_t capacity, double *values, uint64_t *codes,
                                    size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_FORMAT_H */
