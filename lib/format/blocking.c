/* SPDX-License-Identifier: BSD-2-Clause */
/* blocking.c - formats with scales: an element format, a scale format, the rule that finds a scale, the shape of a
 * block. Which combinations there are, and what follows from one. */
#include "blocking.h"

#include "core/plan.h"
#include "core/scale.h"
#include "environment.h"
#include "scalar.h"

#include <float.h>
#include <string.h>

void fpemu_copy_blocked(fpemu_format *to, const fpemu_format *from)
{
    const size_t begin = offsetof(fpemu_format, scaling), end = offsetof(fpemu_format, reserved3);
    const fpemu_format before = *to;
    memcpy((char *)to + begin, (const char *)from + begin, end - begin);
    to->codebook = before.codebook; /* these are the element's */
    to->codebook_length = before.codebook_length;
    to->table_word = before.table_word;
}

void fpemu_clear_blocked(fpemu_format *format)
{
    static const fpemu_format zero;
    fpemu_copy_blocked(format, &zero);
}

int fpemu_same_blocking(const fpemu_format *a, const fpemu_format *b)
{
    fpemu_format other = *b;
    fpemu_copy_blocked(&other, a);
    return memcmp(&other, b, sizeof other) == 0;
}

/* ------------------------------------------------------------------------------------------------ scales */

/* One of e and m bits with infinities: its largest value, smallest normal one and smallest. */
#define IEEE_SCALE(e, m, most, normal, least)                                                                          \
    {.kind = FPEMU_KIND_FLOAT,                                                                                         \
     .bits = 1 + (e) + (m),                                                                                            \
     .exponent_bits = (e),                                                                                             \
     .mantissa_bits = (m),                                                                                             \
     .bias = (1 << ((e) - 1)) - 1,                                                                                     \
     .is_signed = 1,                                                                                                   \
     .specials = FPEMU_SPECIALS_IEEE,                                                                                  \
     .overflow = FPEMU_OVERFLOW_IEEE,                                                                                  \
     .nan = FPEMU_NAN_KEEP,                                                                                            \
     .precision = (m) + 1,                                                                                             \
     .emin = 2 - (1 << ((e) - 1)),                                                                                     \
     .emax = (1 << ((e) - 1)) - 1,                                                                                     \
     .quantum = 2 - (1 << ((e) - 1)) - (m),                                                                            \
     .max = (double)(most),                                                                                            \
     .lowest = -(double)(most),                                                                                        \
     .min_normal = (normal),                                                                                           \
     .min_positive = (least),                                                                                          \
     .max_code = (((UINT64_C(1) << (e)) - 1) << (m)) - 1,                                                              \
     .lowest_code = (((UINT64_C(1) << ((e) + 1)) - 1) << (m)) - 1,                                                     \
     .nan_code = ((UINT64_C(1) << ((e) + 1)) - 1) << ((m) - 1),                                                        \
     .has_nan = 1,                                                                                                     \
     .has_infinity = 1,                                                                                                \
     .has_negative_zero = 1,                                                                                           \
     .has_zero = 1,                                                                                                    \
     .fits_f32 = 1,                                                                                                    \
     .fits_f64 = 1}

/* What fpemu_scale_of derives of the usual ones, since calls on few elements feel how long that takes. */
static const fpemu_format usual_scales[] = {
    {.kind = FPEMU_KIND_FLOAT,
     .bits = 8,
     .exponent_bits = 8,
     .bias = 127,
     .specials = FPEMU_SPECIALS_E8M0,
     .overflow = FPEMU_OVERFLOW_IEEE,
     .nan = FPEMU_NAN_KEEP,
     .precision = 1,
     .emin = -127,
     .emax = 127,
     .quantum = -127,
     .max = 0x1p127,
     .lowest = 0x1p-127,
     .min_normal = 0x1p-127,
     .min_positive = 0x1p-127,
     .max_code = 0xfe,
     .nan_code = 0xff,
     .has_nan = 1,
     .fits_f32 = 1,
     .fits_f64 = 1},
    {.kind = FPEMU_KIND_FLOAT,
     .bits = 8,
     .exponent_bits = 4,
     .mantissa_bits = 3,
     .bias = 7,
     .is_signed = 1,
     .specials = FPEMU_SPECIALS_FN,
     .overflow = FPEMU_OVERFLOW_IEEE,
     .nan = FPEMU_NAN_KEEP,
     .precision = 4,
     .emin = -6,
     .emax = 8,
     .quantum = -9,
     .max = 448,
     .lowest = -448,
     .min_normal = 0x1p-6,
     .min_positive = 0x1p-9,
     .max_code = 0x7e,
     .lowest_code = 0xfe,
     .nan_code = 0x7f,
     .has_nan = 1,
     .has_negative_zero = 1,
     .has_zero = 1,
     .fits_f32 = 1,
     .fits_f64 = 1},
    IEEE_SCALE(8, 23, FLT_MAX, 0x1p-126, 0x1p-149),
    IEEE_SCALE(5, 10, 65504, 0x1p-14, 0x1p-24),
};

/* The same where it is: in that table, or *own; NULL if there is none. */
static const fpemu_format *find_scale(const fpemu_format *f, fpemu_format *own)
{
    fpemu_problem problem;
    for (size_t i = 0; i < sizeof usual_scales / sizeof *usual_scales; i++) {
        const fpemu_format *u = usual_scales + i;
        if (f->scale_mantissa_bits == u->mantissa_bits && f->scale_exponent_bits == u->exponent_bits &&
            f->scale_bias == u->bias && f->scale_specials == u->specials && f->scale_signed == u->is_signed)
            return u;
    }
    fpemu_set_float(own, f->scale_exponent_bits, f->scale_mantissa_bits, f->scale_bias, f->scale_specials,
                    f->scale_signed);
    if (f->scale_specials <= FPEMU_SPECIALS_HIF8 && fpemu_derive_float(own, &problem))
        return own;
    return NULL;
}

int fpemu_scale_of(const fpemu_format *f, fpemu_format *scale)
{
    const fpemu_format *const found = find_scale(f, scale);
    if (!found)
        memset(scale, 0, sizeof *scale);
    else if (found != scale)
        *scale = *found;
    return found != NULL;
}

int fpemu_set_scale(fpemu_format *f, const fpemu_format *scale, fpemu_problem *problem)
{
    fpemu_format plain;
    if (scale->kind != FPEMU_KIND_FLOAT || scale->scaling || scale->bits > 32 || scale->mantissa_bits > 23)
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE, "a float of at most 32 bits as scale");
    f->scale_power = 0;
    f->scale_exponent_bits = (uint8_t)scale->exponent_bits;
    f->scale_mantissa_bits = (uint8_t)scale->mantissa_bits;
    f->scale_specials = scale->specials;
    f->scale_signed = scale->is_signed;
    f->scale_bias = scale->bias;
    if (!fpemu_scale_of(f, &plain) || !fpemu_same_scalar(scale, &plain) || !fpemu_same_policies(scale, &plain))
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE, "a scale without policies of its own");
    return 1;
}

uint32_t fpemu_scale_bits(const fpemu_format *f)
{
    if (f->scaling == FPEMU_SCALING_NONE || f->scaling == FPEMU_SCALING_S2FP8)
        return 0;
    const uint32_t own = (uint32_t)f->scale_exponent_bits + f->scale_mantissa_bits + f->scale_signed;
    const int order = core_order(f);
    return own + (f->scaling == FPEMU_SCALING_HIF4      ? 24u
                  : f->scaling == FPEMU_SCALING_PAIRS   ? (f->block_length + 1) / 2
                  : f->scaling == FPEMU_SCALING_GGML_1K ? own + 12
                  : f->scaling == FPEMU_SCALING_GGML_0K ? 8u
                  : order == FPEMU_ZERO_AFTER           ? f->bits
                  : order == CORE_MANTISSA              ? 8u
                  : order                               ? own
                                                        : 0);
}

/* ---------------------------------------------------------------------------------------------- validity */

/* What the fields of shape and scale may hold, whatever the rule. */
static int check_fields(const fpemu_format *f, fpemu_problem *problem)
{
    const int is_tile = f->block == FPEMU_BLOCK_TILE, is_run = f->block == FPEMU_BLOCK_RUN;
    if (f->scaling >= FPEMU_SCALING_COUNT)
        return refuse(problem, FPEMU_PARAMETER_RULE, "a known scale rule");
    if (f->block > FPEMU_BLOCK_TENSOR || (f->block_length > 0) != (is_run || is_tile) || (f->block_rows > 0) != is_tile)
        return refuse(problem, FPEMU_PARAMETER_BLOCK, "a block of 1 element or more");
    if (f->scale_power > 1 || f->scale_signed > 1)
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE, "flags of the scale 0 or 1");
    if (f->scale_power && (f->scale_mantissa_bits || f->scale_specials || f->scale_signed || f->scale_bias))
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE, "no parameters of a float on a power of two");
    if (f->scale_power && (f->scale_exponent_bits < 2 || f->scale_exponent_bits > 12))
        return refuse(problem, FPEMU_PARAMETER_BLOCK_EXPONENT, "an exponent of 2 to 12 bits");
    return 1;
}

/* Steps of a power of two, so that the scale can be one. */
static int has_power_steps(const fpemu_format *f)
{
    int exponent;
    return f->kind == FPEMU_KIND_FIXED || (f->kind == FPEMU_KIND_INT && core_is_power(f->scale, &exponent));
}

static int is_binary32(const fpemu_format *scale)
{
    return scale->exponent_bits == 8 && scale->mantissa_bits == 23 && scale->bias == 127 && scale->is_signed &&
           scale->specials == FPEMU_SPECIALS_IEEE;
}

/* Whether the largest scale times the largest element is past binary32. */
static int passes_binary32(const fpemu_format *f, const fpemu_format *scale)
{
    /* a look at the exponents, whose sum the product passes by two at most, spares the environment */
    const uint64_t up = core_bits64(f->max) >> 52 & 2047, down = core_bits64(f->lowest) >> 52 & 2047;
    if ((core_bits64(scale->max) >> 52 & 2047) + (up > down ? up : down) + 2 <= 2 * 1023 + 127)
        return 0;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const int passes = scale->max * (f->max > -f->lowest ? f->max : -f->lowest) > (double)FLT_MAX;
    fpemu_environment_leave(&environment);
    return passes;
}

/* e2m1 without policies that change its values. */
static int is_plain_e2m1(const fpemu_format *f)
{
    return f->kind == FPEMU_KIND_FLOAT && f->exponent_bits == 2 && f->mantissa_bits == 1 && f->bias == 1 &&
           f->is_signed && f->specials == FPEMU_SPECIALS_FINITE && f->subnormals == FPEMU_SUBNORMALS_KEEP;
}

/* Whether a block can have more than CORE_CHOICE_ELEMENTS elements. */
static int block_is_large(const fpemu_format *f)
{
    return !f->block_length || (f->block_rows ? f->block_rows : 1) * (uint64_t)f->block_length > CORE_CHOICE_ELEMENTS;
}

static int check_search(const fpemu_format *f, fpemu_problem *problem)
{
    const int first = f->search_first, last = f->search_last, grid = f->search_grid, least = grid ? 1 : -255;
    const int most = grid ? 16 * grid : 255, low = first < last ? first : last, high = first < last ? last : first;
    if (core_candidates(f) < 2 || core_rule_chooses(f->scaling))
        return (!first && !last && !grid && !f->search_error) ||
               refuse(problem, FPEMU_PARAMETER_SEARCH | FPEMU_PARAMETER_ERROR,
                      core_rule_chooses(f->scaling) ? "no search and error with 4over6 rules"
                                                    : "a search of two scales or more, if there is an error or a grid");
    if (!core_rule_searches(f->scaling))
        return refuse(problem, FPEMU_PARAMETER_SEARCH | FPEMU_PARAMETER_RULE,
                      "a search with the rules floor, ceil, even, rceil, hbfp, absmax, reciprocal or nvfp4's alone");
    if (low < least || high > most || high - low > 1023)
        return refuse(problem, FPEMU_PARAMETER_SEARCH,
                      "at most 1024 shares from 1/G to 16, or codes from -255 to 255 beside that of the rule");
    if (!grid && f->scale_specials == FPEMU_SPECIALS_HIF8)
        return refuse(problem, FPEMU_PARAMETER_SEARCH | FPEMU_PARAMETER_BLOCK_SCALE,
                      "a search of shares, FIRST..LAST/G, with this scale");
    if (f->search_error > FPEMU_SEARCH_WEIGHTED)
        return refuse(problem, FPEMU_PARAMETER_ERROR, "a known error");
    if (f->block_rows > CORE_CHOICE_ROWS || block_is_large(f))
        return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_SEARCH,
                      "a block N or RxC of at most 64 rows and 4096 elements with a search");
    return 1;
}

/* Target and bound, by bits where they may be anything. */
static int check_range(const fpemu_format *f, const fpemu_format *scale, fpemu_problem *problem)
{
    const double max = f->kind == FPEMU_KIND_CODEBOOK && -f->lowest > f->max ? -f->lowest : f->max;
    const double target = (double)f->target, bound = (double)f->bound;
    const int fixed = f->scaling == FPEMU_SCALING_MUPPET || f->scaling == FPEMU_SCALING_S2FP8 ||
                      f->scaling == FPEMU_SCALING_HIF4 || core_rule_is_affine(f->scaling);
    if (core_bits32(f->target) && (fixed || !(target >= max / 16 && target / 16 <= max && target >= 0x1p-126)))
        return refuse(problem, FPEMU_PARAMETER_TARGET | FPEMU_PARAMETER_CLIP | FPEMU_PARAMETER_MARGIN,
                      fixed ? "no target, margin or clip with the rules muppet, s2fp8, hif4 and those of zero points"
                            : "a target from a sixteenth of the element's largest value to 16 times it");
    if (core_bits32(f->bound) &&
        (!core_rule_is_nvfp4(f->scaling) || f->scale_power || !(bound >= scale->min_normal && bound <= scale->max)))
        return refuse(problem, FPEMU_PARAMETER_BOUND,
                      "with nvfp4 rules alone, a bound that is a scale from the smallest"
                      " normal one on");
    if (f->outer > FPEMU_OUTER_ROW || (f->outer && (!core_rule_is_nvfp4(f->scaling) || f->block != FPEMU_BLOCK_RUN)))
        return refuse(problem, FPEMU_PARAMETER_OUTER, "outer=row with nvfp4 rules and blocks N alone");
    const int powers = f->scaling <= FPEMU_SCALING_HBFP && f->block_length && scale->bits && !f->scale_mantissa_bits &&
                       !f->scale_signed && f->search_first == f->search_last;
    if (f->correct > CORE_CHOICE_ROWS || (f->correct && !powers && f->scaling != FPEMU_SCALING_EDEN))
        return refuse(problem, FPEMU_PARAMETER_CORRECT,
                      "a correction over 1 to 64 blocks: the rule eden, or powers of two in e8m0, no search");
    return check_search(f, problem);
}

/* What each rule asks. `scale` is all zero for a power of two. */
static int check_rule(const fpemu_format *f, const fpemu_format *scale, fpemu_problem *problem)
{
    const uint32_t scales = FPEMU_PARAMETER_BLOCK_SCALE | FPEMU_PARAMETER_BLOCK_EXPONENT | FPEMU_PARAMETER_RULE;
    const int has_sign = f->scaling == FPEMU_SCALING_GGML_0 || f->scaling == FPEMU_SCALING_GGML_0K;
    switch (f->scaling) {
    case FPEMU_SCALING_EVEN:
        if (f->kind == FPEMU_KIND_POSIT || f->kind == FPEMU_KIND_CODEBOOK)
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE,
                          "elements with a precision for the rule even: no posit, no codebook");
        break;
    case FPEMU_SCALING_4OVER6:
    case FPEMU_SCALING_4OVER6_MSE:
        if (!is_plain_e2m1(f))
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE, "e2m1 with 4over6 rules");
        if (f->block_rows > CORE_CHOICE_ROWS || block_is_large(f))
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          "at most 64 rows and 4096 elements a block with 4over6 rules");
        /* fall through */
    case FPEMU_SCALING_NVFP4:
    case FPEMU_SCALING_NVFP4_AO:
    case FPEMU_SCALING_NVFP4_CLAMP:
    case FPEMU_SCALING_EDEN:
        if (f->block != FPEMU_BLOCK_RUN && (f->block != FPEMU_BLOCK_TILE || f->scaling == FPEMU_SCALING_EDEN))
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          f->scaling == FPEMU_SCALING_EDEN ? "a block N with the rule eden"
                                                           : "a block N or RxC with nvfp4 rules");
        if (f->scale_power)
            return refuse(problem, scales, "a float as scale with nvfp4 rules");
        if (passes_binary32(f, scale))
            return refuse(problem, scales, "a scale whose largest value, times the element's, is a binary32 number");
        break;
    case FPEMU_SCALING_ABSMEAN:
        if (f->block != FPEMU_BLOCK_TENSOR && block_is_large(f))
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          "a block N or RxC of at most 4096 elements, or tensor, with the rule absmean");
        /* fall through */
    case FPEMU_SCALING_ABSMAX:
    case FPEMU_SCALING_RECIPROCAL:
        if (f->scale_power)
            return refuse(problem, scales, "a float as scale with this rule, such as e8m0");
        break;
    case FPEMU_SCALING_RECIPE:
    case FPEMU_SCALING_RECIPE_POW2:
        if (!is_binary32(scale))
            return refuse(problem, scales, "scale=fp32 with recipe rules");
        break;
    case FPEMU_SCALING_MUPPET:
        if (!f->scale_power)
            return refuse(problem, scales, "a power of two as scale with the rule muppet");
        if (!has_power_steps(f))
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE,
                          "fixed or int with steps of a power of two with the rule muppet");
        break;
    case FPEMU_SCALING_PAIRS:
        if (f->block != FPEMU_BLOCK_RUN || f->block_length > 32)
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          "a block N of 1 to 32 with the rule pairs");
        if (f->scale_mantissa_bits || f->scale_signed)
            return refuse(problem, scales, "powers of two as scale with the rule pairs, such as e8m0");
        break;
    case FPEMU_SCALING_HIF4:
        if (f->block != FPEMU_BLOCK_RUN || f->block_length != 64)
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE, "block=64 with the rule hif4");
        if (f->scale_exponent_bits != 6 || f->scale_specials != FPEMU_SPECIALS_E8M0)
            return refuse(problem, scales, "scale=ue6m2 with the rule hif4");
        if (f->kind != FPEMU_KIND_FIXED || f->bits != 4 || f->fraction_bits != 2 || !f->symmetric)
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE,
                          "fixed(4,2):symmetric with the rule hif4");
        break;
    case FPEMU_SCALING_GGML_1K:
    case FPEMU_SCALING_GGML_0K:
        if (f->block != FPEMU_BLOCK_RUN || f->block_length * core_corrected(f) != 256)
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          "block=32 with the rule ggml-1k, block=16 with ggml-0k");
        if (scale->bits > 16)
            return refuse(problem, scales, "a scale of at most 16 bits, such as fp16, with this rule");
        /* fall through */
    case FPEMU_SCALING_MINMAX:
    case FPEMU_SCALING_TINYGEMM:
    case FPEMU_SCALING_HQQ:
    case FPEMU_SCALING_GGML_1:
    case FPEMU_SCALING_GGML_0:
        if (block_is_large(f))
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE,
                          "a block N or RxC of at most 4096 elements with this rule");
        if (!f->scale_signed && f->scaling != FPEMU_SCALING_MINMAX)
            return refuse(problem, scales, "a scale with a sign, such as fp16, with this rule");
        /* fall through */
    case FPEMU_SCALING_ASYMMETRIC:
        if (f->scale_power || !scale->has_zero)
            return refuse(problem, scales, "a scale such as fp32 or fp16 with this rule");
        if (f->kind != FPEMU_KIND_INT || core_bits64(f->scale) != core_bits64(1) || f->zero_point || f->bits > 16 ||
            (has_sign && !f->is_signed) || (f->scaling == FPEMU_SCALING_GGML_1K && f->is_signed))
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE,
                          has_sign ? "int(B), B at most 16, with the rules ggml-0 and ggml-0k"
                                   : "uint(B), B at most 16, or int(B) but with ggml-1k, with this rule");
        break;
    case FPEMU_SCALING_S2FP8:
        if (f->block != FPEMU_BLOCK_TENSOR)
            return refuse(problem, FPEMU_PARAMETER_BLOCK | FPEMU_PARAMETER_RULE, "block=tensor with the rule s2fp8");
        if (!is_binary32(scale))
            return refuse(problem, scales, "scale=fp32 with the rule s2fp8");
        if (f->kind != FPEMU_KIND_FLOAT)
            return refuse(problem, FPEMU_PARAMETER_ELEMENT | FPEMU_PARAMETER_RULE, "a float with the rule s2fp8");
        break;
    default: break;
    }
    const int has_margin = f->scaling == FPEMU_SCALING_RECIPE || f->scaling == FPEMU_SCALING_RECIPE_POW2;
    if (f->margin < 0 || f->margin > (has_margin ? 64 : 0))
        return refuse(problem, FPEMU_PARAMETER_MARGIN, "margin=N/D, or with recipe rules 0 to 64");
    return check_range(f, scale, problem);
}

/* All of that, for complete elements; *scale and own as fpemu_blocks_are_sane has them. */
static int check_blocks(const fpemu_format *f, const fpemu_format **scale, fpemu_format *own, fpemu_problem *problem)
{
    static const fpemu_format power;
    if (!check_fields(f, problem))
        return 0;
    const fpemu_format *const found = f->scale_power ? &power : f->scale_mantissa_bits > 23 ? NULL : find_scale(f, own);
    if (!found || found->bits > 32)
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE, "a float of at most 32 bits as scale");
    *scale = found;
    return check_rule(f, found, problem);
}

int fpemu_blocks_are_sane(const fpemu_format *f, const fpemu_format **scale, fpemu_format *own)
{
    fpemu_problem problem;
    return check_blocks(f, scale, own, &problem) && !f->wrap;
}

int fpemu_derive_blocked(fpemu_format *f, fpemu_problem *problem)
{
    static const fpemu_format none;
    if (f->scaling == FPEMU_SCALING_NONE)
        return fpemu_same_blocking(f, &none) || refuse(problem, 0, "no blocks in a scalar format");
    if (f->wrap)
        return refuse(problem, FPEMU_PARAMETER_WRAP | FPEMU_PARAMETER_ELEMENT, "an element that does not wrap");
    if (core_bits64(f->max) == 0 || core_bits64(f->max) >> 63)
        return refuse(problem, FPEMU_PARAMETER_ELEMENT, "an element with a positive value");
    fpemu_format own;
    const fpemu_format *scale;
    if (!check_blocks(f, &scale, &own, problem))
        return 0;
    if (!f->scale_power) {
        f->scale_bias = scale->bias; /* the default has become a number */
        f->fits_f32 &= scale->fits_f32;
        f->fits_f64 &= scale->fits_f64;
    }
    return 1;
}
