/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - fpemu judge: by which rule the codes and scales of a file were made. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "files/file.h"
#include "files/ggml.h"
#include "files/grid.h"
#include "files/layout.h"
#include "files/shards.h"
#include "files/stored.h"
#include "reports/jsonout.h"

static const char help[] =
    "Usage: fpemu judge MODEL [--against SOURCE] [--json]\n"
    "Says of every tensor of codes with scales in safetensors or GGUF (files.md) whose layout it is,\n"
    "and by which rules codes, scales and zero points can have been made. With SOURCE, a file with\n"
    "the tensors before, each rule is applied to them: all numbers are the file's, or as many\n"
    "differ, and the first of each is named; and the error of the file's values. Without it a rule\n"
    "fits where each scale lies between those that it gives for the least and the largest magnitude\n"
    "that the block's largest code can stand for; with zero points, and in GGUF, where the codes of\n"
    "each block reach as far as the rule has them. One tensor at a time is in memory.\n"
    "\n"
    "      --against SOURCE  a file or directory with tensors of the same names and shapes\n"
    "      --json            as JSON, an object for each tensor\n"
    "\n"
    "Example: fpemu judge nvfp4.safetensors --against model.safetensors\n";

static const struct option options[] = {{"against", required_argument, NULL, CLI_OPT_AGAINST},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

/* One tensor, as the file has it. */
typedef struct subject {
    const tensor *t;
    char element[16];    /* a spec */
    const dtype *result; /* what the values are rounded to; NULL: binary32 */
    char block[GRID_TEXT];
    const char *scale;                 /* a spec */
    uint64_t matrices, rows, columns;  /* of a matrix */
    uint64_t high, wide, down, across; /* a block; how many there are */
    size_t blocks;
    float *y, *s, *z;   /* values, scales, zero points or least numbers */
    bool shifts;        /* these are not 0 */
    bool bare_zeros;    /* of the values none is -0 */
    const dtype *steps; /* what other software may have rounded each operation to; NULL: nothing */
    unsigned bits;      /* of integers */
    float whole[2];     /* u and d; 1 and 1: there is none */
    bool two_levels;    /* nvfp4 */
    float *x;           /* the source; NULL: there is none */
} subject;

/* What came of a rule. */
typedef struct verdict {
    char spec[CLI_SPEC_SIZE];
    bool can;                       /* it is a format, and was tried */
    const char *rounding;           /* rne where it is NULL */
    const char *how;                /* codes are made otherwise than the rule has it; NULL: they are not */
    uint64_t scales, zeros, values; /* how many differ */
    uint64_t first_scale, first_zero, first_value;
    float scale[2], zero[2], value[2]; /* there, in the file and by the rule */
    bool is_short;                     /* quotients are rounded to the type of the scales */
    bool short_scales;                 /* only those that make the scales are */
    bool unclipped;                    /* the scale is the larger of two, by the least and by the largest number */
    bool bare_zeros;                   /* zeros would be the rule's with their signs, of which the file has none */
    bool whole;                        /* the number of the whole tensor differs */
    uint64_t narrow, first_narrow;     /* blocks whose codes reach less far than the rule has them */
} verdict;

enum { MOST = 24 };

static bool is_integer(const subject *s)
{
    return strstr(s->element, "int") != NULL;
}

static uint64_t block_of(const subject *s, uint64_t i)
{
    const uint64_t matrix = i / (s->rows * s->columns), row = i / s->columns % s->rows, column = i % s->columns;
    return (matrix * s->down + row / s->high) * s->across + column / s->wide;
}

static fpemu_shape shape_of(const subject *s, const fpemu_range *whole)
{
    fpemu_shape shape = fpemu_shape_vector(s->columns);
    shape.outer = s->matrices;
    shape.rows = s->rows;
    shape.whole = whole;
    return shape;
}

/* -------------------------------------------------------------------------------------------------- the rules */

static void add(verdict *v, unsigned *n, const char *format, const char *a, const char *b, const char *c)
{
    if (*n < MOST)
        snprintf(v[(*n)++].spec, sizeof v->spec, format, a, b, c);
}

/* Those of GGUF, by ggml's rounding and to nearest. */
static unsigned list_ggml(const subject *s, verdict *v)
{
    unsigned n = 0;
    v[n].rounding = strcmp(s->element, "q8_0") == 0 ? "rna" : "ggml";
    for (int k = 0; k < 1 + (s->x != NULL); k++)
        add(v, &n, "%s%s%s", s->element, "", "");
    return n;
}

/* The rules that make such elements, blocks and scales. */
static unsigned list_rules(const subject *s, verdict *v)
{
    static const char *const powers[] = {"floor", "ceil", "even", "rceil"};
    static const char *const levels[] = {"nvfp4",      "nvfp4-ao",         "nvfp4-clamp",         "4over6",
                                         "4over6-mse", "4over6,bound=256", "4over6-mse,bound=256"};
    const char *block = strcmp(s->block, "matrix") == 0 ? "row" : s->block; /* see take_grid */
    unsigned n = 0;
    if (s->t->stored.ggml != NULL)
        return list_ggml(s, v);
    if (s->shifts) {
        add(v, &n, "group(%s,block=%s,scale=%s,rule=asymmetric)", s->element, block, s->scale);
        add(v, &n, "group(%s,block=%s,scale=%s,rule=minmax)", s->element, block, s->scale);
    } else if (s->two_levels) {
        for (int k = 0; k < 7; k++)
            add(v, &n, "nvfp4(rule=%s)%s%s", levels[k], "", "");
    } else if (strcmp(s->scale, "e8m0") == 0) {
        for (int k = 0; k < 4; k++)
            add(v, &n, "mx(%s,block=%s,rule=%s)", s->element, block, powers[k]);
    } else if (strcmp(s->element, "nf4") == 0) {
        add(v, &n, "codebook(%s,block=%s,scale=%s)", s->element, block, s->scale);
    } else if (is_integer(s)) {
        char element[32], target[48];
        snprintf(element, sizeof element, "fixed(%u,0)", s->bits);
        for (int k = 0; k < 4 && s->bits > 1; k++) { /* the largest code, half a step more, a step more */
            const double step = 0.5 * (k < 3 ? k : 2);
            snprintf(target, sizeof target, "%s,target=%g", s->scale, (double)(1 << (s->bits - 1)) - 1 + step);
            v[n].unclipped = k == 3;
            add(v, &n, "group(%s,block=%s,scale=%s)", element, block, target);
        }
    } else {
        add(v, &n, "group(%s,block=%s,scale=%s)", s->element, block, s->scale);
        add(v, &n, "group(%s,block=%s,scale=%s,rule=reciprocal)", s->element, block, s->scale);
        add(v, &n, "scaled(%s,block=%s)%s", s->element, block, "");
        add(v, &n, "scaled(%s,block=%s,rule=recipe-pow2)%s", s->element, block, "");
    }
    return n;
}

/* The range of a tensor that has this scale of the whole. */
static fpemu_range told_range(const subject *s, const fpemu_format *format)
{
    const double bound = format->bound > 0 ? (double)format->bound : 448;
    const double amax = 6 * bound * (double)s->whole[1];
    return (fpemu_range){.count = s->t->count, .nonzero = s->t->count, .amax = amax, .max = amax};
}

/* Counts a number that is another than the rule's, and keeps the first. */
static void count(uint64_t *differ, uint64_t *first, float pair[2], uint64_t at, float there, float ruled)
{
    if (there == ruled || (isnan(there) && isnan(ruled)))
        return;
    if ((*differ)++ == 0) {
        *first = at;
        pair[0] = there;
        pair[1] = ruled;
    }
}

static void compare_values(const subject *s, verdict *v, const float *y)
{
    const bool one_zero = is_integer(s) || s->t->stored.ggml != NULL || strcmp(s->element, "nf4") == 0;
    v->values = 0;
    for (uint64_t i = 0; i < s->t->count; i++) {
        const bool equal = one_zero || s->x[i] == 0 || !signbit(y[i]) == !signbit(s->y[i]);
        const bool same = y[i] == s->y[i] ? equal || s->bare_zeros : isnan(y[i]) && isnan(s->y[i]);
        v->bare_zeros |= y[i] == s->y[i] && !equal;
        if (!same && v->values++ == 0) {
            v->first_value = i;
            v->value[0] = s->y[i];
            v->value[1] = y[i];
        }
    }
}

/* An order in which codes are made of quotients and zero points. */
typedef struct order {
    bool multiplies, before;
    const char *how;
} order;

/* Scales and zero points of asymmetric where every operation is rounded to the type of the values. */
static void choose_short(const subject *s, const dtype *type, const order *o, double lowest, double most, float *scales,
                         float *zeros)
{
    const float L = (float)lowest, M = (float)most;
    float *low = cli_allocate(s->blocks, sizeof *low);
    for (uint64_t b = 0; b < s->blocks; b++)
        scales[b] = 0;
    for (uint64_t i = 0; i < s->t->count; i++) {
        const uint64_t b = block_of(s, i);
        low[b] = fminf(low[b], s->x[i]);
        scales[b] = fmaxf(scales[b], s->x[i]);
    }
    for (uint64_t b = 0; b < s->blocks; b++) {
        float *t = &scales[b], *z = &zeros[b];
        dtype_round(type, 1, (*t -= low[b], t));
        dtype_round(type, 1, (*t /= M - L, t));
        dtype_round(type, 1, (*z = low[b] / *t, z));
        dtype_round(type, 1, (*z = L - (o->before ? *z : nearbyintf(*z)), z));
        *z = nearbyintf(fminf(fmaxf(*z, L), M));
    }
    free(low);
}

/* Whether fewer values differ in another order of operations than the rule has; `type`, `of_scales`: and none where
 * each operation is rounded to it, or each that makes the scales. by_scales: NULL, or the scales of the quotients. */
static void try_order(const subject *s, verdict *v, const fpemu_format *format, const order *o, const dtype *type,
                      const dtype *of_scales, const float *by_scales, float *scales, float *zeros, float *y)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const bool own = by_scales == NULL && !o->before && o->multiplies == (format->scaling != FPEMU_SCALING_ABSMAX);
    const uint64_t n = s->t->count;
    verdict other = *v;
    fpemu_format element;
    cli_check(fpemu_format_element(format, &element), v->spec);
    element.overflow = FPEMU_OVERFLOW_SATURATE;
    other.is_short = type != NULL;
    other.short_scales = type == NULL && of_scales != NULL;
    other.bare_zeros = false;
    other.how = own ? NULL : o->how;
    if (of_scales != NULL && s->shifts) {
        choose_short(s, of_scales, o, element.lowest, element.max, scales, zeros);
        other.scales = other.zeros = 0;
        for (uint64_t b = 0; b < s->blocks; b++) {
            count(&other.scales, &other.first_scale, other.scale, b, s->s[b], scales[b]);
            count(&other.zeros, &other.first_zero, other.zero, b, s->z[b], zeros[b]);
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        const float scale = (by_scales != NULL ? by_scales : scales)[block_of(s, i)];
        float by = scale;
        if (o->multiplies)
            dtype_round(type, 1, (by = 1 / by, &by));
        y[i] = scale == 0 ? 0 : o->multiplies ? s->x[i] * by : s->x[i] / by;
    }
    dtype_round(type, n, y);
    for (uint64_t i = 0; s->shifts && i < n; i++)
        y[i] = zeros[block_of(s, i)] + (o->before ? y[i] : nearbyintf(y[i]));
    dtype_round(o->before ? type : NULL, n, y);
    fpemu_quantize(&element, &nearest, FPEMU_TYPE_F32, n, y, y, NULL);
    for (uint64_t i = 0; i < n; i++)
        y[i] = (y[i] - zeros[block_of(s, i)]) * scales[block_of(s, i)];
    dtype_round(s->result, n, y);
    compare_values(s, &other, y);
    if (of_scales != NULL ? other.scales + other.zeros + other.values == 0 : other.values < v->values)
        *v = other;
}

/* The rule's scales before they are rounded to fewer bits than binary32 has; false where they are not. */
static bool unrounded_scales(const subject *s, const verdict *v, float *scales)
{
    static const char mark[] = "scale=", single[] = "fp32";
    const fpemu_shape shape = shape_of(s, NULL);
    fpemu_format format;
    char spec[CLI_SPEC_SIZE], *at = strstr(strcpy(spec, v->spec), mark);
    if (at == NULL || strlen(s->scale) != strlen(single) || strcmp(s->scale, single) == 0) /* fp16, bf16 */
        return false;
    memcpy(at + strlen(mark), single, strlen(single));
    return fpemu_format_parse(spec, &format, NULL) == FPEMU_OK &&
           fpemu_scales(&format, FPEMU_TYPE_F32, &shape, s->x, scales, NULL, NULL) == FPEMU_OK;
}

static void try_orders(const subject *s, verdict *v, const fpemu_format *format, float *scales, float *zeros, float *y)
{
    static const order orders[] = {{false, false, "x/s"},
                                   {true, false, "x*(1/s)"},
                                   {false, true, "x/s, zero points before rounding"},
                                   {true, true, "x*(1/s), zero points before rounding"}},
                       unrounded = {false, false, "x/s, s before its rounding"};
    const int some = s->shifts ? 4 : is_integer(s) ? 2 : 1;
    for (int k = 0; k < some && v->values > 0 && is_integer(s); k++)
        try_order(s, v, format, &orders[k], NULL, NULL, NULL, scales, zeros, y);
    float *by_scales = cli_allocate(s->blocks, sizeof *by_scales);
    if (is_integer(s) && v->values > 0 && unrounded_scales(s, v, by_scales))
        try_order(s, v, format, &unrounded, NULL, NULL, by_scales, scales, zeros, y);
    free(by_scales);
    for (int k = 0; k < some && v->values > 0 && s->steps != NULL; k++)
        try_order(s, v, format, &orders[k], s->steps, s->steps, NULL, scales, zeros, y);
    for (int k = 0; k < some && v->values > 0 && s->steps != NULL && s->shifts; k++)
        try_order(s, v, format, &orders[k], NULL, s->steps, NULL, scales, zeros, y);
}

/* What torchao calls symmetric without clipping: the largest code is M = 2^(bits-1) - 1, the least -M - 1. */
static void choose_unclipped(const subject *s, float *scales)
{
    const float M = (float)(1 << (s->bits - 1)) - 1;
    for (uint64_t b = 0; b < s->blocks; b++)
        scales[b] = 0;
    for (uint64_t i = 0; i < s->t->count; i++) {
        float scale = s->x[i] < 0 ? s->x[i] / (-M - 1) : s->x[i] / M;
        dtype_round(s->steps, 1, &scale);
        scales[block_of(s, i)] = fmaxf(scales[block_of(s, i)], scale);
    }
}

/* The second number of a block, above the code of its scale. */
static float second_of(const fpemu_format *format, uint64_t code)
{
    fpemu_format scale, second;
    if (fpemu_format_scale(format, &scale) != FPEMU_OK || fpemu_format_element(format, &second) != FPEMU_OK)
        return NAN;
    return fpemu_decode_one_f32(format->scaling == FPEMU_SCALING_GGML_1 ? &scale : &second, code >> scale.bits);
}

/* The rule applied to the source. */
static void apply_rule(const subject *s, verdict *v, const fpemu_format *format)
{
    const fpemu_shape shape = shape_of(s, NULL);
    fpemu_rounding rounding = fpemu_rounding_nearest();
    fpemu_layout layout;
    float *scales = cli_allocate(s->blocks, sizeof *scales), *zeros = cli_allocate(s->blocks, sizeof *zeros), whole[2];
    float *y = cli_allocate(s->t->count, sizeof *y);
    void *codes = cli_allocate(s->blocks, 8);
    v->can = (v->rounding == NULL || fpemu_rounding_parse(v->rounding, &rounding, NULL) == FPEMU_OK) &&
             fpemu_packed_layout(format, &shape, &layout) == FPEMU_OK &&
             fpemu_scales(format, FPEMU_TYPE_F32, &shape, s->x, scales, codes, whole) == FPEMU_OK &&
             fpemu_quantize_tensor(format, &rounding, FPEMU_TYPE_F32, &shape, s->x, y, NULL) == FPEMU_OK;
    dtype_round(v->can ? s->result : NULL, s->t->count, y);
    if (v->unclipped)
        choose_unclipped(s, scales);
    const int kept = s->two_levels && !s->t->stored.layout->global_divides;
    v->whole = v->can && s->two_levels && whole[kept] != s->whole[kept];
    for (uint64_t i = 0; v->can && i < s->blocks; i++) {
        zeros[i] = s->shifts ? second_of(format, number_load_code(codes, layout.scale_bytes, i)) : 0;
        count(&v->scales, &v->first_scale, v->scale, i, s->s[i], scales[i]);
        count(&v->zeros, &v->first_zero, v->zero, i, s->z[i], zeros[i]);
    }
    if (v->can && v->unclipped)
        v->values = UINT64_MAX; /* none of these are by such scales */
    else if (v->can)
        compare_values(s, v, y);
    if (v->can && v->values > 0 &&
        (s->shifts ? format->scaling == FPEMU_SCALING_ASYMMETRIC || s->steps == NULL
                   : format->scaling == FPEMU_SCALING_ABSMAX))
        try_orders(s, v, format, scales, zeros, y);
    free(codes);
    free(scales);
    free(zeros);
    free(y);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The least and the largest number that become the magnitude next to p; what saturates has no largest. */
static void ends_of(const float *magnitude, size_t n, float p, float *least, float *largest)
{
    size_t i = 0, below = 0; /* each may be there twice */
    for (; i + 1 < n && fabsf(magnitude[i + 1] - p) <= fabsf(magnitude[i] - p); i++)
        below = magnitude[i + 1] > magnitude[i] ? i : below;
    *least = i > below ? (magnitude[below] + magnitude[i]) / 2 : 0;
    *largest = i + 1 < n ? (magnitude[i] + magnitude[i + 1]) / 2 : 2 * magnitude[i];
}

/* Whether the rule can have made each scale, by the largest code of its block. */
static void bracket_rule(const subject *s, verdict *v, const fpemu_format *format)
{
    enum { CODES = 256 };
    fpemu_format element;
    float magnitude[CODES], *amax = cli_allocate(s->blocks, sizeof *amax);
    float *x = cli_allocate(s->t->count, sizeof *x), *scales[2];
    uint8_t code[CODES];
    const fpemu_range told = told_range(s, format);
    const fpemu_shape shape = shape_of(s, s->two_levels ? &told : NULL);
    const float d = s->two_levels ? s->whole[1] : 1;
    size_t n = 0;
    for (int i = 0; i < CODES; i++)
        code[i] = (uint8_t)i;
    v->can = format->scaling != FPEMU_SCALING_4OVER6 && format->scaling != FPEMU_SCALING_4OVER6_MSE &&
             fpemu_format_element(format, &element) == FPEMU_OK && element.bits <= 8 &&
             fpemu_decode_f32(&element, (size_t)1 << element.bits, code, magnitude) == FPEMU_OK;
    for (size_t i = 0; v->can && i < (size_t)1 << element.bits; i++)
        if (isfinite(magnitude[i]))
            magnitude[n++] = fabsf(magnitude[i]);
    qsort(magnitude, n, sizeof *magnitude, ascending);
    for (uint64_t i = 0; i < s->t->count; i++)
        amax[block_of(s, i)] = fmaxf(amax[block_of(s, i)], fabsf(s->y[i]));
    for (int end = 0; end < 2; end++) {
        uint64_t seen = UINT64_MAX;
        scales[end] = cli_allocate(s->blocks, sizeof **scales);
        for (uint64_t i = 0; v->can && i < s->t->count; i++) { /* the first element of each block; the rest are zeros */
            const uint64_t b = block_of(s, i), row = i / s->columns % s->rows, column = i % s->columns;
            float ends[2] = {0, 0};
            if (b != seen && row % s->high == 0 && column % s->wide == 0)
                ends_of(magnitude, n, amax[b] / s->s[b] / d, &ends[0], &ends[1]);
            x[i] = ends[end] * s->s[b] * d;
            seen = b;
        }
        v->can = v->can && fpemu_scales(format, FPEMU_TYPE_F32, &shape, x, scales[end], NULL, NULL) == FPEMU_OK;
    }
    for (uint64_t i = 0; v->can && i < s->blocks; i++)
        if (amax[i] > 0 && !(scales[0][i] <= s->s[i] && s->s[i] <= scales[1][i])) {
            count(&v->scales, &v->first_scale, v->scale, i, s->s[i],
                  s->s[i] < scales[0][i] ? scales[0][i] : scales[1][i]);
        }
    free(scales[0]);
    free(scales[1]);
    free(amax);
    free(x);
}

/* Whether the codes of each block reach as far as rules have them that look at more than the largest magnitude. Those
 * of asymmetric and minmax can miss an end by one; where the zero point is an end, nothing is known. */
static void reach_rule(const subject *s, verdict *v, const fpemu_format *format)
{
    float *low = cli_allocate(s->blocks, sizeof *low), *high = cli_allocate(s->blocks, sizeof *high);
    const bool least_added = format->scaling == FPEMU_SCALING_GGML_1;
    fpemu_format element;
    v->can = fpemu_format_element(format, &element) == FPEMU_OK;
    for (uint64_t i = 0; i < s->blocks; i++) {
        const bool from_zero = format->scaling == FPEMU_SCALING_ASYMMETRIC;
        low[i] = from_zero ? s->z[i] : INFINITY;
        high[i] = from_zero ? s->z[i] : -INFINITY;
    }
    for (uint64_t i = 0; i < s->t->count; i++) {
        const uint64_t b = block_of(s, i);
        const float code = nearbyintf(least_added ? (s->y[i] - s->z[b]) / s->s[b] : s->y[i] / s->s[b] + s->z[b]);
        low[b] = fminf(low[b], code);
        high[b] = fmaxf(high[b], code);
    }
    for (uint64_t i = 0; v->can && i < s->blocks; i++) {
        const double L = element.lowest, M = element.max, l = (double)low[i], h = (double)high[i], z = (double)s->z[i];
        const bool narrow = format->scaling == FPEMU_SCALING_RECIPROCAL ? fmax(-l, h) < M
                            : format->scaling == FPEMU_SCALING_GGML_0   ? l > L
                            : least_added                               ? l > L || h < M
                                                                        : z > L && z < M && (l > L + 1 || h < M - 1);
        if (s->s[i] != 0 && narrow && v->narrow++ == 0)
            v->first_narrow = i;
    }
    free(low);
    free(high);
}

/* ------------------------------------------------------------------------------------------------- the report */

static bool fits(const verdict *v)
{
    return v->can && v->scales + v->zeros + v->values + v->narrow == 0 && !v->whole;
}

static const char *software_of(const tensor *t)
{
    return t->stored.ggml != NULL ? "GGUF" : t->stored.software;
}

static const char *meaning(const subject *s)
{
    return !s->two_levels                        ? NULL
           : s->t->stored.layout->global_divides ? "divides: values are code * scale / it"
                                                 : "multiplies: values are code * scale * it";
}

static double sqnr(const subject *s, double *worst)
{
    double signal = 0, noise = 0;
    *worst = 0;
    for (uint64_t i = 0; i < s->t->count; i++) {
        const double d = (double)s->y[i] - (double)s->x[i];
        signal += (double)s->x[i] * (double)s->x[i];
        noise += d * d;
        *worst = fmax(*worst, fabs(d));
    }
    return noise == 0 ? INFINITY : isnan(noise) ? NAN : 10 * log10(signal / noise);
}

static void print_numbers(const char *what, uint64_t differ, const char *of, uint64_t first, const float pair[2])
{
    char there[NUMBER_SIZE], ruled[NUMBER_SIZE];
    if (differ > 0) {
        printf("; %" PRIu64 " %s differ, the first of %s %" PRIu64 ": %s, by the rule %s", differ, what, of, first,
               number_print(there, (double)pair[0]), number_print(ruled, (double)pair[1]));
    }
}

static void print_verdict(const verdict *v, bool against, bool least_added)
{
    printf("  %-8s %s", fits(v) ? against ? "made by" : "fits" : "not", v->spec);
    if (v->rounding != NULL)
        printf(" -r %s", v->rounding);
    if (v->how != NULL)
        printf(", codes by %s", v->how);
    if (v->unclipped)
        printf(", scales by the larger of most/(target-1) and -least/target");
    if (v->is_short)
        printf(", quotients rounded to the type of the scales");
    if (v->short_scales)
        printf(", only those for the scales rounded to their type");
    if (v->bare_zeros)
        printf(", zeros without signs");
    if (v->whole)
        printf("; the number of the whole tensor differs");
    if (v->narrow > 0) {
        printf("; %" PRIu64 " blocks have codes that reach less far, the first block %" PRIu64, v->narrow,
               v->first_narrow);
    }
    print_numbers("scales", v->scales, "block", v->first_scale, v->scale);
    print_numbers(least_added ? "least numbers" : "zero points", v->zeros, "block", v->first_zero, v->zero);
    print_numbers("values", v->values, "element", v->first_value, v->value);
    putchar('\n');
}

static void print_subject(const subject *s, const verdict *v, unsigned n)
{
    const tensor *t = s->t;
    char name[FILE_NAME_SIZE], shape[FILE_SHAPE_SIZE], d[NUMBER_SIZE];
    printf("%s  %s %s, as %s, scales by %s\n", file_name_text(name, t), t->stored.name, file_shape_text(shape, t),
           software_of(t), s->block);
    if (s->two_levels) {
        printf("  %s %s, here %s\n", t->stored.part[2].name, meaning(s),
               number_print(d, (double)s->whole[!t->stored.layout->global_divides]));
    }
    if (n == 0)
        puts("  no rule is known for such codes");
    for (unsigned k = 0; k < n; k++)
        if (v[k].can)
            print_verdict(&v[k], s->x != NULL, t->stored.ggml != NULL);
    if (s->x != NULL) {
        double worst;
        const double db = sqnr(s, &worst);
        printf("  error    SQNR %.2f dB, at most %s\n", db, number_print(d, worst));
    }
}

static json_t *json_subject(const subject *s, const verdict *v, unsigned n)
{
    json_t *object = jsonout_object(), *rules = jsonout_array();
    double worst = 0;
    const double db = s->x != NULL ? sqnr(s, &worst) : 0;
    jsonout_set(object, "tensor", jsonout_text(s->t->name));
    jsonout_set(object, "software", jsonout_text(software_of(s->t)));
    jsonout_set(object, "element", jsonout_text(s->t->stored.name));
    jsonout_set(object, "block", jsonout_text(s->block));
    jsonout_set(object, "whole", jsonout_text(meaning(s)));
    jsonout_set(object, "sqnr", jsonout_real_or_null(db, s->x != NULL));
    jsonout_set(object, "max_error", jsonout_real_or_null(worst, s->x != NULL));
    for (unsigned k = 0; k < n; k++) {
        json_t *rule = jsonout_object();
        if (!v[k].can) {
            json_decref(rule);
            continue;
        }
        jsonout_set(rule, "rule", jsonout_text(v[k].spec));
        jsonout_set(rule, "rounding", jsonout_text(v[k].rounding));
        jsonout_set(rule, "codes", jsonout_text(v[k].how));
        jsonout_set(rule, "fits", jsonout_bool(fits(&v[k])));
        jsonout_set(rule, "short", jsonout_bool(v[k].is_short));
        jsonout_set(rule, "short_scales", jsonout_bool(v[k].short_scales));
        jsonout_set(rule, "unclipped", jsonout_bool(v[k].unclipped));
        jsonout_set(rule, "bare_zeros", jsonout_bool(v[k].bare_zeros));
        jsonout_set(rule, "scales_differ", jsonout_count(v[k].scales));
        jsonout_set(rule, "first_scale", v[k].scales > 0 ? jsonout_count(v[k].first_scale) : json_null());
        jsonout_set(rule, "zeros_differ", jsonout_count(v[k].zeros));
        jsonout_set(rule, "first_zero", v[k].zeros > 0 ? jsonout_count(v[k].first_zero) : json_null());
        jsonout_set(rule, "narrow", jsonout_count(v[k].narrow));
        jsonout_set(rule, "first_narrow", v[k].narrow > 0 ? jsonout_count(v[k].first_narrow) : json_null());
        jsonout_set(rule, "values_differ", s->x != NULL ? jsonout_count(v[k].values) : json_null());
        jsonout_set(rule, "first_value", v[k].values > 0 ? jsonout_count(v[k].first_value) : json_null());
        jsonout_append(rules, rule);
    }
    jsonout_set(object, "rules", rules);
    return object;
}

/* ------------------------------------------------------------------------------------------------ one tensor */

static const char *scale_name(const grid *g)
{
    return g->scale_spec != NULL                               ? g->scale_spec
           : g->scale.type == NULL || g->scale.type->size == 1 ? "e8m0"
           : g->scale.type->size == 4                          ? "fp32"
           : strcmp(g->scale.type->name, "F16") == 0           ? "fp16"
                                                               : "bf16";
}

/* False: the codes of the tensor are none that rules make. */
static bool take_grid(subject *s)
{
    const grid *g = s->t->stored.grid;
    strcpy(s->element, g->element);
    s->result = g->result;
    s->scale = scale_name(g);
    s->rows = g->rows;
    s->columns = g->columns;
    s->high = g->block[0];
    s->wide = g->block[1];
    s->down = g->scales[0];
    s->across = g->scales[1];
    strcpy(s->block, g->blocks);
    if (strcmp(s->block, "matrix") == 0) { /* one after the other they are rows */
        s->wide = s->columns = g->rows * g->columns;
        s->rows = s->down = s->t->count / s->columns;
        s->high = 1;
    }
    return g->scale.any && g->order == 0 && !g->outer.any && g->factor == 1 && strcmp(g->element, "fp4") != 0;
}

/* Which integers the codes are. Bytes may hold fewer bits; zero points that are all in the middle are none. */
static void find_integers(subject *s)
{
    const grid_codes *c = &s->t->stored.grid->code;
    bool is_signed = false, middle = true;
    float least = 0, most = 0;
    for (unsigned i = 0; i < 1u << c->bits; i++)
        is_signed |= c->value[i] < 0;
    const float half = is_signed ? 0 : (float)(1u << c->bits) / 2;
    for (uint64_t i = 0; i < s->t->count; i++) {
        const uint64_t b = block_of(s, i);
        const float code = s->s[b] != 0 ? nearbyintf(s->y[i] / s->s[b]) + s->z[b] : s->z[b];
        least = fminf(least, code);
        most = fmaxf(most, code);
    }
    for (uint64_t b = 0; b < s->blocks; b++)
        middle = middle && s->z[b] == half;
    s->shifts = !middle;
    s->bits = c->bits;
    for (unsigned bits = 7; c->bits == 8 && bits > 1; bits--) {
        const float end = (float)(1u << (bits - is_signed));
        s->bits = most < end && least >= (is_signed ? -end : 0) ? bits : s->bits;
    }
    snprintf(s->element, sizeof s->element, "%s(%u)", is_signed || middle ? "int" : "uint", s->bits);
    for (uint64_t b = 0; middle && b < s->blocks; b++)
        s->z[b] = 0;
}

/* Scales that are kept as binary32 may all be numbers of a narrower type, in which they were computed. */
static void find_steps(subject *s)
{
    static const char *const types[] = {"BF16", "F16"}, *const specs[] = {"bf16", "fp16"};
    for (int k = 0; k < 2 && strcmp(s->scale, "fp32") == 0; k++) {
        const dtype *type = dtype_named(types[k]);
        bool all = true;
        for (uint64_t b = 0; all && b < s->blocks; b++) {
            float scale = s->s[b];
            dtype_round(type, 1, &scale);
            all = scale == s->s[b];
        }
        s->steps = all ? type : s->steps;
        s->scale = all ? specs[k] : s->scale;
    }
}

/* Blocks of GGUF: binary16 numbers, then codes. */
static bool take_ggml(subject *s)
{
    static const char *const known[] = {"Q4_0", "Q5_0", "Q8_0", "Q4_1", "Q5_1"};
    const tensor *t = s->t;
    unsigned k = 0;
    while (k < 5 && strcmp(t->stored.name, known[k]) != 0)
        k++;
    s->shifts = k > 2;
    s->scale = "fp16";
    s->columns = t->extent[t->dimensions - 1];
    s->rows = t->count / s->columns;
    s->high = 1;
    s->wide = t->stored.count;
    s->down = s->rows;
    s->across = s->columns / s->wide;
    snprintf(s->block, sizeof s->block, "%u", t->stored.count);
    snprintf(s->element, sizeof s->element, "q%s", t->stored.name + 1);
    return k < 5;
}

static bool ggml_scales(model *m, const subject *s)
{
    const dtype *half = dtype_named("F16");
    unsigned char bytes[4];
    for (uint64_t b = 0; b < s->blocks; b++) {
        if (!stored_bytes(m, s->t->place + b * s->t->stored.size, bytes, sizeof bytes))
            return false;
        dtype_load(half, false, 1, bytes, false, &s->s[b]);
        if (s->shifts)
            dtype_load(half, false, 1, bytes + 2, false, &s->z[b]);
    }
    return true;
}

static bool take_layout(subject *s)
{
    const layout *l = s->t->stored.layout;
    const tensor *t = s->t;
    s->two_levels = l->global != NULL;
    strcpy(s->element, l->bits == 8 ? "e4m3fn" : "e2m1");
    s->scale = s->two_levels ? "e4m3fn" : "e8m0";
    s->columns = t->extent[t->dimensions - 1];
    s->rows = t->dimensions > 1 ? t->extent[t->dimensions - 2] : 1;
    s->high = 1;
    s->wide = l->block;
    s->down = s->rows;
    s->across = s->columns / l->block;
    snprintf(s->block, sizeof s->block, "%u", l->block);
    return true;
}

/* The tensor of this name and shape; NULL: there is none. */
static float *read_source(file *f, const tensor *t)
{
    for (size_t i = 0; i < f->model.count; i++) {
        const tensor *o = &f->model.tensor[i];
        if (strcmp(o->name, t->name) != 0 || o->type == NULL || o->type->size > 4 || o->count != t->count ||
            o->dimensions != t->dimensions || memcmp(o->extent, t->extent, t->dimensions * sizeof *t->extent) != 0) {
            continue;
        }
        float *x = cli_allocate(t->count, sizeof *x);
        walk w = walk_begin(f, i, true, false, 1, UINT64_MAX);
        while (walk_next(&w))
            memcpy(x + w.index, w.x32, w.count * sizeof *x);
        walk_end(&w);
        return x;
    }
    return NULL;
}

static void judge(file *f, file *source, size_t i, jsonout_stream *json)
{
    subject s = {.t = &f->model.tensor[i], .whole = {1, 1}};
    verdict v[MOST] = {{.can = false}};
    const tensor *t = s.t;
    const bool known = t->stored.grid != NULL   ? take_grid(&s)
                       : t->stored.ggml != NULL ? take_ggml(&s)
                                                : take_layout(&s);
    s.matrices = t->count / (s.rows * s.columns);
    s.blocks = (size_t)(s.matrices * s.down * s.across);
    s.x = source != NULL ? read_source(source, t) : NULL;
    if (source != NULL && s.x == NULL)
        cli_fail("%s: no tensor '%s' of this shape, of F32 or narrower", source->path, t->name);
    s.y = cli_allocate(t->count, sizeof *s.y);
    s.s = cli_allocate(s.blocks, sizeof *s.s);
    s.z = cli_allocate(s.blocks, sizeof *s.z);
    walk w = walk_begin(f, i, true, false, 1, UINT64_MAX);
    while (walk_next(&w))
        memcpy(s.y + w.index, w.x32, w.count * sizeof *s.y);
    walk_end(&w);
    const bool got = !known                   ? true
                     : t->stored.grid != NULL ? grid_scales(&f->model, t, 0, s.blocks, s.s, s.z)
                     : t->stored.ggml != NULL ? ggml_scales(&f->model, &s)
                                              : layout_scales(&f->model, t, 0, s.blocks, s.s, s.whole);
    if (!got)
        cli_fail("%s: tensor '%s': %s", f->path, t->name, f->model.error);
    s.bare_zeros = true;
    for (uint64_t k = 0; k < t->count; k++)
        s.bare_zeros = s.bare_zeros && !(s.y[k] == 0 && signbit(s.y[k]));
    s.steps = s.result;
    if (known && is_integer(&s)) {
        find_integers(&s);
        find_steps(&s);
    }
    const unsigned n = known ? list_rules(&s, v) : 0;
    for (unsigned k = 0; k < n; k++) {
        fpemu_format format;
        if (fpemu_format_parse(v[k].spec, &format, NULL) != FPEMU_OK)
            continue;
        if (s.x != NULL)
            apply_rule(&s, &v[k], &format);
        else if (v[k].unclipped)
            continue;
        else if (s.shifts || t->stored.ggml != NULL)
            reach_rule(&s, &v[k], &format);
        else
            bracket_rule(&s, &v[k], &format);
        cli_spec(&format, v[k].spec);
    }
    if (json != NULL)
        jsonout_stream_add(json, json_subject(&s, v, n));
    else
        print_subject(&s, v, n);
    free(s.x);
    free(s.y);
    free(s.s);
    free(s.z);
}

int cmd_judge(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    const char *against = NULL;
    bool json = false;
    jsonout_stream stream = {0};
    size_t judged = 0;
    for (int option; (option = cli_next(&c, "", options)) != -1;) {
        json |= option == CLI_OPT_JSON;
        against = option == CLI_OPT_AGAINST ? optarg : against;
    }
    cli_expect_operands(&c, 1, 1, "MODEL");
    file_options plain[2] = {{0}, {0}};
    file f = file_open(c.operand[0], &plain[0]), source = {0};
    file_expect_numbers(&f);
    if (against != NULL)
        source = file_open(against, &plain[1]);
    for (size_t i = 0; i < f.model.count; i++) {
        const tensor_stored *stored = &f.model.tensor[i].stored;
        if ((stored->software != NULL || (stored->ggml != NULL && stored->count > 1)) && f.model.tensor[i].count > 0) {
            judge(&f, against != NULL ? &source : NULL, i, json ? &stream : NULL);
            judged++;
        }
    }
    if (judged == 0)
        cli_fail("%s: no codes with scales in a layout that is read", f.path);
    if (json)
        jsonout_stream_end(&stream);
    if (against != NULL)
        file_close(&source);
    file_close(&f);
    return CLI_OK;
}
