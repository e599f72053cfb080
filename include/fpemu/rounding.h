/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/rounding.h - which neighbour a number becomes, what happens past the ends, and random bits. */
#ifndef FPEMU_API_ROUNDING_H
#define FPEMU_API_ROUNDING_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of its two neighbours a number x becomes, the values u and w of the format with u < |x| < w in magnitude. All
 * modes but rtp, rtn and rnp treat -x as the mirror image of x. doc/numerics.md, 4. */
typedef enum fpemu_mode {
    FPEMU_MODE_RNE = 0,  /* the nearer; in the middle, the even multiple of w - u */
    FPEMU_MODE_RNA = 1,  /* the nearer; in the middle, away from zero */
    FPEMU_MODE_RNZ = 2,  /* the nearer; in the middle, toward zero */
    FPEMU_MODE_RTZ = 3,  /* toward zero */
    FPEMU_MODE_RAZ = 4,  /* away from zero */
    FPEMU_MODE_RTP = 5,  /* toward +infinity */
    FPEMU_MODE_RTN = 6,  /* toward -infinity */
    FPEMU_MODE_RTO = 7,  /* the odd multiple of w - u */
    FPEMU_MODE_SR = 8,   /* stochastic: w with probability (|x| - u) / (w - u), to within the random bits */
    FPEMU_MODE_SE = 9,   /* stochastic: either with probability 1/2 */
    FPEMU_MODE_RNP = 10, /* the nearer; in the middle, toward +infinity */
    FPEMU_MODE_COUNT = 11
} fpemu_mode;

/* Whether a mode takes random bits. */
#define FPEMU_MODE_DRAWS(mode) ((mode) == FPEMU_MODE_SR || (mode) == FPEMU_MODE_SE)

/* Whether rounding to a format takes random bits: the mode does, or eden does for its scales in any mode. */
#define FPEMU_DRAWS(format, rounding) (FPEMU_MODE_DRAWS((rounding)->mode) || (format)->scaling == FPEMU_SCALING_EDEN)

/* How stochastic rounding (sr) decides by N random bits R, 0 <= R < 2^N, with v = (|x| - u) / (w - u): the larger
 * magnitude is taken if the line holds (IEEE P3109, 4.7.4; Fitzgibbon and Felix, ARITH 2025). */
typedef enum fpemu_sr_variant {
    FPEMU_SR_VARIANT_A = 0, /* floor(v*2^N) + R >= 2^N */
    FPEMU_SR_VARIANT_B = 1, /* floor(v*2^(N+1)) + 2R + 1 >= 2^(N+1) */
    FPEMU_SR_VARIANT_C = 2  /* round(v*2^N) + R >= 2^N, to nearest even */
} fpemu_sr_variant;

typedef enum fpemu_generator {
    FPEMU_GENERATOR_HASH = 0,   /* a keyed hash of the element's index */
    FPEMU_GENERATOR_PHILOX = 1, /* Philox4x32-10 (Salmon et al. 2011) */
    FPEMU_GENERATOR_WORDS = 2   /* the caller's own words */
} fpemu_generator;

/* How the elements of a call share the caller's words: element i, offset included, has of them these bits. What is
 * known of instructions is in doc/numerics.md, 5.4. */
typedef enum fpemu_words_layout {
    FPEMU_WORDS_EACH = 0,   /* the top `bits` of word i; AMD's v_cvt_sr_fp8_f32: bits 20, v_cvt_sr_bf8_f32: 21 */
    FPEMU_WORDS_PTX_X2 = 1, /* of word i / 2 the low `bits` of the low half, or, odd i, of the high half; PTX cvt.rs:
                               f16x2 bits 13, bf16x2 16 */
    FPEMU_WORDS_PTX_X4 = 2  /* of word i / 4 the top `bits` of the low half, i / 2 odd: of the high half; odd i: of the
                               half with its 16 bits in reverse; PTX cvt.rs.satfinite.e4m3x4.f32: bits 16 */
} fpemu_words_layout;

/* How other software departs from these rules, where no combination of the other fields says it. A setting acts on the
 * formats and modes named here; other scalar formats are as without it, other formats with scales refuse it, and scalar
 * ones those of blocks alone (FPEMU_ERROR_UNSUPPORTED). doc/numerics.md states each exactly. */
typedef enum fpemu_compat {
    FPEMU_COMPAT_NONE = 0,
    /* QPyTorch's CPU kernels. Floats: a subnormal result is first rounded (RNE) to 2^(emin-23), and a zero result is
     * +0. Fixed point on binary32 data, modes rne and sr: the sum x*2^fl + 1/2 (sr: x*2^fl + r, r the top 24 of 32
     * random bits as a fraction) is rounded to binary32 first. Blocks of rule floor with symmetric
     * fixed-point elements, on binary32 data, rne, rna and sr: its block_quantize (doc/blocks.md, 6). */
    FPEMU_COMPAT_QPYTORCH = 1,
    /* Lee's allow_inf: floats as under QPYTORCH, and value to value a finite x that overflows becomes infinity; an
     * infinite x becomes the largest value all the same where the format has no infinity. */
    FPEMU_COMPAT_LEE_INF = 2,
    /* CPFloat: under sr, x between max and max + ulp/2 overflows with probability (|x| - max) / (ulp/2), and beyond
     * that always; under se every x past max is a fair coin. */
    FPEMU_COMPAT_CPFLOAT = 3,
    /* ml_dtypes: codes of NaN have the sign of the NaN and the quiet bit; floats of finite values only code NaN as -0
     * and a negative NaN as +0; e8m0: zero and negative numbers become NaN, or 2^-127 where overflow saturates. */
    FPEMU_COMPAT_ML_DTYPES = 4,
    /* CUDA (cuda_fp8.h, cuda_fp16.h, cuda_bf16.h): the codes of NaN are 7F and 7FFF; e8m0 ignores the sign. */
    FPEMU_COMPAT_CUDA = 5,
    /* PyTorch's affine quantisation, integers on binary32 data: x * (1/scale), or x / scale, in binary32, then RNE. */
    FPEMU_COMPAT_PYTORCH_MULTIPLY = 6,
    FPEMU_COMPAT_PYTORCH_DIVIDE = 7,
    /* MuPPET's Eq. 6 as it is printed, rule muppet with sr: floor(t + U - 1/2), U the random bits as a fraction. */
    FPEMU_COMPAT_MUPPET = 8,
    /* ggml's quantisers of Q4_0, Q4_1, Q5_0, Q5_1 (rules ggml-0, ggml-1) and Q8_0, mode rna: doc/blocks.md, 2.7. */
    FPEMU_COMPAT_GGML = 9,
    /* PyTorch's casts to e8m0: magnitudes, in rne with ties away from zero. */
    FPEMU_COMPAT_PYTORCH_CAST = 10,
    FPEMU_COMPAT_COUNT = 11
} fpemu_compat;

/* How to round. All zero bits: to nearest even, and past the ends what the format says. Random bits are a function of
 * seed, stream, generator and the element's index, so neither threads nor the order of calls change them. */
typedef struct fpemu_rounding {
    uint8_t mode;      /* fpemu_mode */
    uint8_t overflow;  /* fpemu_overflow; 0 = as the format says */
    uint8_t nan;       /* fpemu_nan; 0 = as the format says */
    uint8_t variant;   /* fpemu_sr_variant, for sr */
    uint8_t bits;      /* random bits an element, for sr and se: 1..32; 0 = 32 */
    uint8_t generator; /* fpemu_generator */
    uint8_t compat;    /* fpemu_compat */
    uint8_t layout;    /* fpemu_words_layout, of generator words; else 0 */
    uint64_t seed;
    uint64_t stream; /* numbers from different streams are independent: say, one for each tensor and step */
    uint64_t offset; /* index of this call's first element in its stream: a tensor quantised slice by slice, each with
                          the offset of its first element, gets the bits of one call */
    union {
        const uint32_t *words; /* of generator words: as many as the layout has for all elements, offset included */
        uint64_t words_word;
    };
    uint64_t reserved1[3]; /* 0 */
} fpemu_rounding;
FPEMU_STATIC_ASSERT(sizeof(fpemu_rounding) == 64, "fpemu_rounding has no unnamed padding");

/* To nearest even (all zero bits), and stochastic with 32 random bits an element. */
fpemu_rounding fpemu_rounding_nearest(void);
fpemu_rounding fpemu_rounding_stochastic(uint64_t seed, uint64_t stream);

/* Reads a mode by its short or long name ("rne", "toward-zero", "sr", ...) or a compatibility setting by its own
 * ("qpytorch", "qpytorch-sr", "qpytorch-fixed", "qpytorch-fixed-sr", "lee", "lee-inf", "cpfloat-sr", "cpfloat-se",
 * "nvidia", "ml-dtypes", "ml-dtypes-sat", "pytorch-multiply", "pytorch-divide", "pytorch-cast", "muppet", "ggml"). Sets
 * mode, overflow, nan and compat; all other fields become 0. `error` may be NULL. FPEMU_ERROR_SPEC, and *rounding all
 * zero, to nearest even, for another text. */
fpemu_status fpemu_rounding_parse(const char *text, fpemu_rounding *rounding, fpemu_parse_error *error);
/* The short ("rne") and the long ("nearest-even") name of a mode; NULL if there is no such mode. */
const char *fpemu_mode_name(fpemu_mode mode);
const char *fpemu_mode_long_name(fpemu_mode mode);
/* Names of compatibility settings as fpemu_rounding_parse reads them: i = 0, 1, ...; NULL past the end. */
const char *fpemu_compat_name(unsigned i);

/* Random word j of a stream: 32 bits, a pure function of its arguments (doc/numerics.md, 5). */
uint32_t fpemu_random_word(fpemu_generator generator, uint64_t seed, uint64_t stream, uint64_t j);
/* The random bits R that the element at `index` uses, `rounding->bits` of them, right-aligned; `rounding->offset` is
 * added to the index. */
uint32_t fpemu_random_bits(const fpemu_rounding *rounding, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_ROUNDING_H */
