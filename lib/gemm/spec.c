/* SPDX-License-Identifier: BSD-2-Clause */
/* spec.c - how products are added up, as text, and the tensor cores by name. doc/accumulation.md states the
 * grammar and the figures. */
#include <stdio.h>

#include "array/array.h"
#include "core/dot_make.h"
#include "format/text.h"
#include "split.h"

/* --------------------------------------------------------------------------------------------- matrix units */

static const struct gpu_name {
    const char *name;
    uint32_t gpu;
} gpu_names[] = {{"v100", FPEMU_GPU_V100},         {"a100", FPEMU_GPU_A100},   {"ada", FPEMU_GPU_ADA},
                 {"l40s", FPEMU_GPU_ADA},          {"h100", FPEMU_GPU_H100},   {"h200", FPEMU_GPU_H100},
                 {"b200", FPEMU_GPU_B200},         {"cdna1", FPEMU_GPU_CDNA1}, {"cdna2", FPEMU_GPU_CDNA2},
                 {"cdna3", FPEMU_GPU_CDNA3},       {"amx", FPEMU_GPU_AMX},     {"avx512", FPEMU_GPU_AVX512},
                 {"cdna2old", FPEMU_GPU_CDNA2_OLD}};

#define GPU_NAMES (sizeof gpu_names / sizeof gpu_names[0])

#define NAMED 5 /* kinds of operands of a row at most */
#define HALVES FPEMU_NAME_BINARY16, FPEMU_NAME_BFLOAT16
#define EIGHTS FPEMU_NAME_E4M3FN, FPEMU_NAME_E5M2
#define SMALL EIGHTS, FPEMU_NAME_E3M2, FPEMU_NAME_E2M3, FPEMU_NAME_E2M1
#define SCALED FPEMU_NAME_MXFP8_E4M3, FPEMU_NAME_MXFP8_E5M2, FPEMU_NAME_MXFP6_E3M2, FPEMU_NAME_MXFP6_E2M3
#define TO_NEAREST .to_nearest = 1
#define FLUSHED TO_NEAREST, .flush = 1, .flush_read = 1

/* One row a kind of operand; what is not told is 0. */
static const struct core_figures {
    uint8_t gpu, operands[NAMED]; /* fpemu_name */
    uint32_t block, fraction_bits;
    int16_t least, least_fp16; /* 0: no floor; no binary16 result */
    uint8_t cut;               /* fraction bits of the result where fewer than 23 */
    uint8_t ways, late, group, order;
    uint8_t scales, scaled;                /* with group: fpemu_name; elements of a scale */
    uint8_t to_nearest, flush, flush_read; /* results, subnormal ones and operands */
} core_figures[] = {
    {FPEMU_GPU_V100, {FPEMU_NAME_BINARY16}, 4, 23, .least_fp16 = -19},
    {FPEMU_GPU_A100, {HALVES}, 8, 24, .least = -132, .least_fp16 = -20},
    {FPEMU_GPU_A100, {FPEMU_NAME_TF32}, 4, 24, .least = -132},
    {FPEMU_GPU_ADA, {HALVES}, 8, 24, .least = -132, .least_fp16 = -20},
    {FPEMU_GPU_ADA, {FPEMU_NAME_TF32}, 4, 24, .least = -132},
    {FPEMU_GPU_ADA, {EIGHTS}, 16, 13, .least = -132, .least_fp16 = -20, .cut = 13},
    {FPEMU_GPU_H100, {HALVES}, 16, 25, .least = -133, .least_fp16 = -21},
    {FPEMU_GPU_H100, {FPEMU_NAME_TF32}, 8, 25, .least = -133},
    {FPEMU_GPU_H100, {EIGHTS}, 32, 13, .least = -133, .least_fp16 = -21, .cut = 13},
    {FPEMU_GPU_B200, {HALVES}, 16, 25, .least = -133, .least_fp16 = -21},
    {FPEMU_GPU_B200, {FPEMU_NAME_TF32}, 8, 25, .least = -133},
    {FPEMU_GPU_B200, {SMALL}, 32, 25, .least = -133, .least_fp16 = -21},
    {FPEMU_GPU_B200, {SCALED}, 32, 25, .least = -133, .group = 1, .scales = FPEMU_NAME_E8M0, .scaled = 32},
    {FPEMU_GPU_B200, {FPEMU_NAME_MXFP4}, 64, 35, .least = -139, .group = 16, .scales = FPEMU_NAME_E8M0, .scaled = 32},
    {FPEMU_GPU_B200, {FPEMU_NAME_NVFP4}, 64, 35, .least = -139, .group = 16, .scales = FPEMU_NAME_UE4M3, .scaled = 16},
    {FPEMU_GPU_CDNA1, {FPEMU_NAME_BINARY16}, 4, FPEMU_SUM_EXACT, TO_NEAREST},
    {FPEMU_GPU_CDNA1, {FPEMU_NAME_BFLOAT16}, 2, FPEMU_SUM_EXACT, TO_NEAREST},
    {FPEMU_GPU_CDNA2, {HALVES}, 4, FPEMU_SUM_CHAINED, .ways = 4, .late = 1, FLUSHED},
    {FPEMU_GPU_CDNA2_OLD, {FPEMU_NAME_BFLOAT16}, 2, FPEMU_SUM_CHAINED, .ways = 2, .late = 1, FLUSHED},
    {FPEMU_GPU_CDNA3, {HALVES}, 8, 24, .late = 31, TO_NEAREST},
    {FPEMU_GPU_CDNA3, {FPEMU_NAME_TF32}, 4, 24, .late = 31, TO_NEAREST},
    {FPEMU_GPU_CDNA3, {FPEMU_NAME_E4M3FNUZ, FPEMU_NAME_E5M2FNUZ}, 16, 24, .ways = 2, .late = 31, TO_NEAREST},
    {FPEMU_GPU_AMX, {FPEMU_NAME_BFLOAT16}, 32, FPEMU_SUM_CHAINED, .ways = 2, .late = 1, FLUSHED},
    {FPEMU_GPU_AMX, {FPEMU_NAME_BINARY16}, 32, FPEMU_SUM_CHAINED, .ways = 2, .late = 1, .flush = 1, TO_NEAREST},
    {FPEMU_GPU_AVX512, {FPEMU_NAME_BFLOAT16}, 2, FPEMU_SUM_CHAINED, .order = FPEMU_PRODUCTS_ODD_FIRST, FLUSHED},
};

#define CORE_FIGURES (sizeof core_figures / sizeof core_figures[0])

/* Block-scaled instructions by their names: the first operands, which `ab=` replaces. */
static const struct block_unit {
    const char *name;
    fpemu_name operands, elements;
} block_units[] = {
    {"mxf8f6f4", FPEMU_NAME_MXFP8_E4M3, FPEMU_NAME_E4M3FN}, {"mxf4", FPEMU_NAME_MXFP4, FPEMU_NAME_E2M1},
    {"mxf4nvf4", FPEMU_NAME_NVFP4, FPEMU_NAME_E2M1},        {NULL, FPEMU_NAME_MXFP8_E5M2, FPEMU_NAME_E5M2},
    {NULL, FPEMU_NAME_MXFP6_E3M2, FPEMU_NAME_E3M2},         {NULL, FPEMU_NAME_MXFP6_E2M3, FPEMU_NAME_E2M3}};

#define BLOCK_UNITS 3 /* with a name */

static int has_name(const struct core_figures *f, fpemu_name operands)
{
    return operands != FPEMU_NAME_NONE && memchr(f->operands, (int)operands, NAMED) != NULL;
}

/* The figures of an accumulator by a row of the table. */
static fpemu_status fill_core(fpemu_gemm_spec *spec, const struct core_figures *f, fpemu_name operands,
                              fpemu_name result)
{
    const int half = result == FPEMU_NAME_BINARY16;
    fpemu_accumulator *const s = &spec->sum;
    s->model = FPEMU_MODEL_FUSED;
    s->block = f->block;
    s->fraction_bits = f->fraction_bits;
    s->least_exponent = half ? f->least_fp16 : f->least ? f->least : FPEMU_NO_FLOOR;
    s->ways = f->ways;
    s->late = f->late;
    s->group = f->group;
    s->order = f->order;
    s->flush = f->flush;
    s->chunk = f->scaled;
    if (f->group)
        fpemu_format_named((fpemu_name)f->scales, &s->outer.format);
    for (size_t i = 0; i < sizeof block_units / sizeof *block_units; i++)
        operands = block_units[i].operands == operands ? block_units[i].elements : operands;
    s->inner.rounding.mode = half || f->to_nearest ? FPEMU_MODE_RNE : FPEMU_MODE_RTZ;
    fpemu_format_named(operands, &spec->a.format);
    if (f->flush_read) {
        spec->a.format.subnormals = FPEMU_SUBNORMALS_FLUSH_IN;
        fpemu_format_complete(&spec->a.format);
    }
    spec->b = spec->a;
    return f->cut && !half ? fpemu_format_float(&s->inner.format, 8, f->cut, FPEMU_BIAS_DEFAULT, FPEMU_SPECIALS_IEEE, 1)
                           : fpemu_format_named(result, &s->inner.format);
}

fpemu_status fpemu_gemm_tensor_core(fpemu_gemm_spec *spec, fpemu_gpu gpu, fpemu_name operands, fpemu_name result)
{
    if (!spec)
        return FPEMU_ERROR_NULL;
    memset(spec, 0, sizeof *spec);
    const int half = result == FPEMU_NAME_BINARY16;
    if (half ? operands == FPEMU_NAME_BFLOAT16 : result != FPEMU_NAME_BINARY32)
        return FPEMU_ERROR_UNSUPPORTED;
    for (size_t i = 0; i < CORE_FIGURES; i++) {
        const struct core_figures *f = &core_figures[i];
        if (f->gpu == (uint32_t)gpu && has_name(f, operands) && (!half || f->least_fp16))
            return fill_core(spec, f, operands, result);
    }
    return FPEMU_ERROR_UNSUPPORTED;
}

/* --------------------------------------------------------------------------------------------------- reading */

#define TEXT_LENGTH 1023 /* of a whole spec; each format within it is bound to FPEMU_SPEC_LENGTH */

static int need(reader *r, char c, const char *expected)
{
    return take(r, c) || fail(r, r->at, expected);
}

/* "word=" or "word", if it stands next. */
static int take_key(reader *r, const char *word, int assigned)
{
    const size_t start = r->at, length = take_word(r);
    if (fpemu_word_is(r->text + start, length, word) && (!assigned || take(r, '=')))
        return 1;
    r->at = start;
    return 0;
}

static int take_number(reader *r, int64_t low, int64_t high, const char *expected, int64_t *value)
{
    const size_t start = r->at;
    const int minus = take(r, '-');
    const size_t digits = r->at;
    const int64_t v = take_digits(r, &r->at);
    *value = minus ? -v : v;
    return (r->at > digits && *value >= low && *value <= high) || fail(r, start, expected);
}

/* Text up to the next punctuation outside of parentheses that ends a format. */
static size_t piece_end(const reader *r)
{
    int depth = 0;
    size_t at = r->at;
    for (; at < r->length; at++) {
        const char c = r->text[at];
        if (depth == 0 && (c == ',' || c == ')' || c == ';' || c == '/'))
            break;
        depth += (c == '(') - (c == ')');
    }
    return at;
}

static int take_target(reader *r, fpemu_target *t)
{
    char piece[FPEMU_SPEC_LENGTH + 1];
    fpemu_parse_error inside;
    memset(t, 0, sizeof *t);
    for (int part = 0; part < 2; part++) {
        const size_t start = r->at, end = piece_end(r);
        if (end - start > FPEMU_SPEC_LENGTH)
            return fail(r, start + FPEMU_SPEC_LENGTH, "at most 255 bytes of a format");
        memcpy(piece, r->text + start, end - start);
        piece[end - start] = '\0';
        const fpemu_status status = part == 0 ? fpemu_format_parse(piece, &t->format, &inside)
                                              : fpemu_rounding_parse(piece, &t->rounding, &inside);
        if (status) {
            if (start + inside.position >= end) /* say what really stands there */
                return fail(r, end, part == 0 ? "the rest of a format" : "the name of a mode");
            if (r->error) {
                *r->error = inside;
                r->error->position += (uint32_t)start;
            }
            return 0;
        }
        if (part == 1 && t->rounding.compat)
            return fail(r, start, "a mode: rne, rna, rnz, rnp, rtz, raz, rtp, rtn, rto, sr or se");
        r->at = end;
        if (part == 1 || !take(r, '/'))
            break;
    }
    skip_space(r);
    return 1;
}

/* What sums, products or results are rounded to. */
static int take_rounded(reader *r, fpemu_target *t)
{
    const size_t start = r->at;
    if (!take_target(r, t))
        return 0;
    if (core_takes_sums(&t->format))
        return 1;
    r->status = FPEMU_ERROR_UNSUPPORTED;
    return fail(r, start, "a format without scales and tables, as sums and results have no blocks");
}

/* What a fused model has beside its first three figures, as key=number; low to high. */
static const struct fused_option {
    const char *key;
    uint8_t generic; /* not after the name of a unit */
    int64_t low, high;
    const char *expected;
} fused_options[] = {{"least", 1, -CORE_DOT_LEAST_EXPONENT, CORE_DOT_LEAST_EXPONENT, "an exponent"},
                     {"promote", 0, 1, UINT32_MAX, "the number of products between promotions"},
                     {"ways", 1, 2, 8, "2, 4 or 8 interleaved sums"},
                     {"late", 1, 1, 40, "bits with which the old sum joins, or 1"},
                     {"group", 1, 1, 64, "1, or products of a group"},
                     {"every", 0, 1, UINT32_MAX, "the number of elements of a scale"},
                     {"order", 1, 145, 1032, "0145 or 1032"}};

enum { LEAST, PROMOTE, WAYS, LATE, GROUP, EVERY, ORDER, OUTER, SCALES, FLUSH };

#define GENERIC_OPTIONS "least=, promote=, outer=, ways=, late=, order=, group=, scales=, every= or flush, each once"

static void set_option(fpemu_accumulator *s, int option, int64_t v)
{
    switch (option) {
    case LEAST: s->least_exponent = (int32_t)v; break;
    case WAYS: s->ways = (uint8_t)v; break;
    case LATE: s->late = (uint8_t)v; break;
    case GROUP: s->group = (uint8_t)v; break;
    case ORDER: s->order = v == 145 ? FPEMU_PRODUCTS_BY_FOURS : FPEMU_PRODUCTS_ODD_FIRST; break;
    default: s->chunk = (uint32_t)v;
    }
}

/* [, KEY=...], in any order, each once. */
static int take_options(reader *r, fpemu_accumulator *s, int generic)
{
    const size_t first = r->at;
    unsigned seen = 0;
    while (take(r, ',')) {
        const size_t start = r->at;
        int option = 0;
        int64_t v;
        while (option < OUTER && !((generic || !fused_options[option].generic) && !(seen >> option & 1) &&
                                   take_key(r, fused_options[option].key, 1)))
            option++;
        if (option == OUTER) {
            option = take_key(r, "outer", 1) ? OUTER : take_key(r, "scales", 1) ? SCALES : FLUSH;
            if ((seen >> option & 1) || (option == FLUSH && !(generic && take_key(r, "flush", 0))))
                return fail(r, start,
                            generic    ? GENERIC_OPTIONS
                            : s->group ? "scales= or every=, each once"
                                       : "promote= or outer=, each once");
            s->flush |= option == FLUSH;
            if (option != FLUSH && !take_rounded(r, &s->outer))
                return 0;
            skip_space(r);
        } else {
            if (!take_number(r, fused_options[option].low, fused_options[option].high, fused_options[option].expected,
                             &v))
                return 0;
            if (option == PROMOTE && v % s->block)
                return fail(r, start, "a multiple of the products of a step");
            if (option == ORDER && v != 145 && v != 1032)
                return fail(r, start, fused_options[ORDER].expected);
            set_option(s, option, v);
        }
        seen |= 1u << option;
    }
    const unsigned outer = seen >> OUTER & 1, promote = seen >> PROMOTE & 1;
    const unsigned scales = seen >> SCALES & 1, every = seen >> EVERY & 1;
    if (outer && !promote)
        return fail(r, r->at, "promote=, which outer= needs");
    if (s->group ? (outer || promote || (generic && !(scales && every))) : (scales || every))
        return fail(r, first, "either promote= and outer=, or group=, scales= and every=");
    if (promote && !outer)
        fpemu_format_named(FPEMU_NAME_BINARY32, &s->outer.format);
    return core_dot_steps_exist(s) || fail(r, first, "figures of a step that go together");
}

/* The name of a format of the table; FPEMU_NAME_NONE otherwise. */
static fpemu_name name_of(const fpemu_format *f)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format named;
        if (fpemu_format_named((fpemu_name)name, &named) == FPEMU_OK && fpemu_format_equal(f, &named))
            return (fpemu_name)name;
    }
    return FPEMU_NAME_NONE;
}

static int take_tensor_core(reader *r, fpemu_gemm_spec *spec)
{
    const size_t start = r->at, length = take_word(r);
    uint32_t gpu = 0;
    fpemu_target operands, result;
    for (size_t i = 0; i < GPU_NAMES; i++)
        if (fpemu_word_is(r->text + start, length, gpu_names[i].name))
            gpu = gpu_names[i].gpu;
    if (!gpu)
        return fail(r, start, "v100, a100, ada, l40s, h100, h200, b200, cdna1, cdna2, cdna2old, cdna3, amx or avx512");
    if (!need(r, ',', "',' and the format of the operands"))
        return 0;
    const size_t place = r->at;
    fpemu_name from = FPEMU_NAME_NONE;
    for (int i = 0; i < BLOCK_UNITS && !from; i++)
        from = take_key(r, block_units[i].name, 0) ? block_units[i].operands : from;
    skip_space(r);
    if (!from && !take_target(r, &operands))
        return 0;
    from = from ? from : name_of(&operands.format);
    fpemu_name to = FPEMU_NAME_BINARY32;
    const size_t comma = r->at;
    if (take(r, ',')) {
        const size_t word = r->at;
        take_word(r);
        const int option = take(r, '=');
        r->at = option ? comma : word;
        if (!option) {
            if (!take_target(r, &result))
                return 0;
            to = name_of(&result.format);
            if (to != FPEMU_NAME_BINARY16 && to != FPEMU_NAME_BINARY32)
                return fail(r, word, "fp16 or fp32");
        }
    }
    if (fpemu_gemm_tensor_core(spec, (fpemu_gpu)gpu, from, to))
        return fail(r, place, "operands and a result that this unit has");
    return take_options(r, &spec->sum, 0);
}

static const char *const model_names[FPEMU_MODEL_COUNT] = {"", "seq", "chunk", "pairwise", "kahan", "fused", "int"};

static int take_model(reader *r, fpemu_gemm_spec *spec)
{
    static const char *const expected = "seq, chunk, pairwise, kahan, tc, fused, int, fp32 or fp64";
    fpemu_accumulator *s = &spec->sum;
    const size_t start = r->at, length = take_word(r);
    const char *const word = r->text + start;
    int64_t v;
    for (int wide = 0; wide < 2; wide++)
        if (fpemu_word_is(word, length, wide ? "fp64" : "fp32")) {
            s->model = FPEMU_MODEL_SEQUENTIAL;
            return fpemu_format_named(wide ? FPEMU_NAME_BINARY64 : FPEMU_NAME_BINARY32, &s->inner.format) == FPEMU_OK;
        }
    for (uint8_t i = 1; i < FPEMU_MODEL_COUNT; i++)
        s->model = fpemu_word_is(word, length, model_names[i]) ? i : s->model;
    if (fpemu_word_is(word, length, "tc"))
        s->model = FPEMU_MODEL_FUSED;
    if (!s->model) {
        /* a format alone is the format of a sum */
        char sum[48];
        fpemu_gemm_spec meant;
        snprintf(sum, sizeof sum, "seq(%.*s)", length < 40 ? (int)length : 0, word);
        if (fpemu_gemm_parse(sum, &meant, NULL) != FPEMU_OK)
            return fail(r, start, expected);
        fpemu_spec_hint(r->error, r->text, r->length, start, sum);
        return 0;
    }
    if (!need(r, '(', "'('"))
        return 0;
    switch (s->model) {
    case FPEMU_MODEL_CHUNKED:
        if (!take_number(r, 1, UINT32_MAX, "the length of a chunk", &v) || !need(r, ',', "',' and a format") ||
            !take_rounded(r, &s->inner))
            return 0;
        s->chunk = (uint32_t)v;
        s->outer = s->inner;
        if (take(r, ',') && !take_rounded(r, &s->outer))
            return 0;
        break;
    case FPEMU_MODEL_INTEGER:
        if (!take_number(r, 2, 64, "a width of 2 to 64 bits", &v) || !need(r, ',', "',' and saturate or wrap"))
            return 0;
        s->width = (uint32_t)v;
        s->wrap = (uint8_t)take_key(r, "wrap", 0);
        if (!s->wrap && !take_key(r, "saturate", 0))
            return fail(r, r->at, "saturate or wrap");
        skip_space(r);
        break;
    case FPEMU_MODEL_FUSED:
        if (length == 2) {
            if (!take_tensor_core(r, spec))
                return 0;
            break;
        }
        if (!take_number(r, 1, 64, "1 to 64 products", &v) || !need(r, ',', "',' and fraction bits"))
            return 0;
        s->block = (uint32_t)v;
        v = take_key(r, "exact", 0) ? FPEMU_SUM_EXACT : take_key(r, "chained", 0) ? FPEMU_SUM_CHAINED : 0;
        skip_space(r);
        if ((!v && !take_number(r, 0, 40, "0 to 40 fraction bits, exact or chained", &v)) ||
            !need(r, ',', "',' and a format"))
            return 0;
        s->fraction_bits = (uint32_t)v;
        s->least_exponent = FPEMU_NO_FLOOR;
        if (!take_rounded(r, &s->inner) || !take_options(r, s, 1))
            return 0;
        break;
    default:
        if (!take_rounded(r, &s->inner))
            return 0;
    }
    return need(r, ')', "',' or ')'");
}

static const char *const split_names[FPEMU_SPLITS_COUNT] = {"", "bf16x3", "bf16x6", "bf16x9", "tf32x3", "int8x"};

/* NAME [/BLOCK], or int8xSLICES. */
static int take_splits(reader *r, fpemu_gemm_spec *spec)
{
    const size_t start = r->at;
    int64_t v = 0;
    for (uint8_t i = 1; i < FPEMU_SPLITS_INT8; i++)
        spec->splits = take_key(r, split_names[i], 0) ? i : spec->splits;
    if (!spec->splits && r->length - start >= 5 && fpemu_word_is(r->text + start, 5, split_names[FPEMU_SPLITS_INT8])) {
        spec->splits = FPEMU_SPLITS_INT8;
        r->at += 5;
        if (!take_number(r, 2, SPLIT_SLICES, "2 to 18 slices", &v))
            return 0;
        spec->slices = (uint8_t)v;
    } else if (spec->splits && take(r, '/')) {
        if (!take_number(r, 1, UINT32_MAX, "elements of a block", &v))
            return 0;
        spec->split_block = (uint32_t)v;
    }
    skip_space(r);
    return spec->splits || fail(r, start, "bf16x3, bf16x6, bf16x9 or tf32x3, or int8x and 2 to 18 slices");
}

/* What operands that are not told are where they are split. */
static void imply_pieces(fpemu_gemm_spec *spec)
{
    const fpemu_name piece = fpemu_split_format((fpemu_splits)spec->splits);
    if (piece && spec->a.format.kind == FPEMU_KIND_INVALID)
        fpemu_format_named(piece, &spec->a.format);
    if (piece && spec->b.format.kind == FPEMU_KIND_INVALID)
        fpemu_format_named(piece, &spec->b.format);
}

static int take_spec(reader *r, fpemu_gemm_spec *spec)
{
    if (r->length > TEXT_LENGTH)
        return fail(r, TEXT_LENGTH, "at most 1023 bytes");
    skip_space(r);
    if (!take_model(r, spec))
        return 0;
    skip_space(r);
    static const char *const keys[] = {"a", "b", "ab", "product", "out"};
    static const uint8_t of_key[] = {1, 2, 3, 4, 8}; /* which of the targets */
    fpemu_target *const targets[] = {&spec->a, &spec->b, &spec->product, &spec->out};
    int seen = 0;
    while (take(r, ';')) {
        const size_t start = r->at;
        fpemu_target t;
        int key = 0;
        while (key < 5 && !take_key(r, keys[key], 1))
            key++;
        if (key == 5 && !(seen & 16) && take_key(r, "start", 1)) {
            seen |= 16;
            if (!take_key(r, "c", 0))
                return fail(r, r->at, "c");
            spec->start_from_c = 1;
            skip_space(r);
            continue;
        }
        if (key == 5 && !spec->splits && take_key(r, "splits", 1)) {
            if (!take_splits(r, spec))
                return 0;
            continue;
        }
        const int bits = key == 5 ? seen : of_key[key];
        if (key == 5 || (seen & bits))
            return fail(r, start, "a=, b=, ab=, product=, out=, splits= or start=c, each once");
        seen |= bits;
        if (!(bits & 3 ? take_target(r, &t) : take_rounded(r, &t)))
            return 0;
        for (int i = 0; i < 4; i++)
            *targets[i] = bits >> i & 1 ? t : *targets[i];
    }
    imply_pieces(spec);
    return r->at >= r->length || fail(r, r->at, "';' or the end");
}

fpemu_status fpemu_gemm_parse(const char *text, fpemu_gemm_spec *spec, fpemu_parse_error *error)
{
    if (error)
        memset(error, 0, sizeof *error);
    if (!spec)
        return FPEMU_ERROR_NULL;
    memset(spec, 0, sizeof *spec);
    if (!text)
        return FPEMU_ERROR_NULL;
    reader r = {.text = text, .status = FPEMU_ERROR_SPEC, .error = error};
    while (r.length <= TEXT_LENGTH && text[r.length])
        r.length++;
    if (take_spec(&r, spec))
        return FPEMU_OK;
    memset(spec, 0, sizeof *spec);
    return r.status;
}

/* -------------------------------------------------------------------------------------------------- printing */

typedef struct writer {
    char text[TEXT_LENGTH + 1];
    size_t length;
    fpemu_status status;
} writer;

static void write_text(writer *w, const char *text)
{
    const size_t n = strlen(text);
    if (w->length + n >= sizeof w->text) {
        w->status = FPEMU_ERROR_BUFFER;
        return;
    }
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

static void write_number(writer *w, const char *before, long long number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", number);
    write_text(w, before);
    write_text(w, digits);
}

static void write_target(writer *w, const char *before, const fpemu_target *t)
{
    char format[FPEMU_SPEC_LENGTH + 1];
    const fpemu_status status = fpemu_format_print(&t->format, format, sizeof format);
    write_text(w, before);
    if (status)
        w->status = status;
    else
        write_text(w, format);
    const char *mode = fpemu_mode_name((fpemu_mode)t->rounding.mode);
    if (!mode)
        w->status = FPEMU_ERROR_ROUNDING;
    else if (t->rounding.mode != FPEMU_MODE_RNE) {
        write_text(w, "/");
        write_text(w, mode);
    }
}

static int has_no_format(const fpemu_target *t)
{
    return t->format.kind == FPEMU_KIND_INVALID;
}

/* A target, if there is one. */
static void write_key(writer *w, const char *key, const fpemu_target *t)
{
    if (!has_no_format(t))
        write_target(w, key, t);
}

static int equal_targets(const fpemu_target *a, const fpemu_target *b)
{
    if (has_no_format(a) || has_no_format(b))
        return has_no_format(a) && has_no_format(b);
    return fpemu_format_equal(&a->format, &b->format) && a->rounding.mode == b->rounding.mode;
}

/* Whether a step has the same figures. */
static int equal_steps(const fpemu_accumulator *s, const fpemu_accumulator *c)
{
    return s->block == c->block && s->fraction_bits == c->fraction_bits && s->least_exponent == c->least_exponent &&
           s->ways == c->ways && s->late == c->late && s->group == c->group && s->order == c->order &&
           s->flush == c->flush && equal_targets(&s->inner, &c->inner);
}

/* The first unit with these figures, and the same scales if there is one; NULL if there is none. *core: its spec,
 * *kind: a block-scaled instruction. */
static const char *find_core(const fpemu_gemm_spec *spec, fpemu_gemm_spec *core, const struct block_unit **kind)
{
    for (size_t i = 0; i < 2 * GPU_NAMES; i++)
        for (size_t row = 0; row < CORE_FIGURES; row++)
            for (int n = 0; n < 2 * NAMED; n++) {
                const struct core_figures *const f = &core_figures[row];
                const fpemu_name operands = (fpemu_name)f->operands[n / 2];
                const fpemu_name result = n % 2 ? FPEMU_NAME_BINARY16 : FPEMU_NAME_BINARY32;
                const struct gpu_name *const gpu = &gpu_names[i % GPU_NAMES];
                const fpemu_accumulator *const s = &spec->sum;
                if (f->gpu != gpu->gpu || fpemu_gemm_tensor_core(core, (fpemu_gpu)f->gpu, operands, result) ||
                    !equal_steps(s, &core->sum))
                    continue;
                if (f->group && i < GPU_NAMES &&
                    !(s->chunk == core->sum.chunk && equal_targets(&s->outer, &core->sum.outer)))
                    continue;
                *kind = NULL;
                for (int k = 0; k < BLOCK_UNITS; k++)
                    *kind = block_units[k].operands == operands ? &block_units[k] : *kind;
                if (f->group ? *kind != NULL : fpemu_format_equal(&spec->a.format, &core->a.format))
                    return gpu->name;
            }
    memset(core, 0, sizeof *core);
    return NULL;
}

static void write_fused(writer *w, const fpemu_gemm_spec *spec, fpemu_gemm_spec *core)
{
    const fpemu_accumulator *s = &spec->sum;
    const struct block_unit *kind = NULL;
    /* a unit's name tells both operands */
    const char *const named = has_no_format(&spec->a) || has_no_format(&spec->b) ? NULL : find_core(spec, core, &kind);
    if (named) {
        write_text(w, "tc(");
        write_text(w, named);
        if (kind) {
            write_text(w, ",");
            write_text(w, kind->name);
        } else {
            fpemu_target operands = core->a;
            operands.format.subnormals = FPEMU_SUBNORMALS_KEEP; /* the unit flushes them */
            write_target(w, ",", &operands);
        }
        if (name_of(&s->inner.format) == FPEMU_NAME_BINARY16)
            write_text(w, ",fp16");
    } else {
        write_number(w, "fused(", s->block);
        if (s->fraction_bits <= 40)
            write_number(w, ",", s->fraction_bits);
        else
            write_text(w, s->fraction_bits == FPEMU_SUM_EXACT ? ",exact" : ",chained");
        write_target(w, ",", &s->inner);
        if (s->least_exponent != FPEMU_NO_FLOOR)
            write_number(w, ",least=", s->least_exponent);
        if (s->ways)
            write_number(w, ",ways=", s->ways);
        if (s->late)
            write_number(w, ",late=", s->late);
        if (s->order)
            write_text(w, s->order == FPEMU_PRODUCTS_BY_FOURS ? ",order=0145" : ",order=1032");
        write_text(w, s->flush ? ",flush" : "");
        if (s->group)
            write_number(w, ",group=", s->group);
    }
    if (s->group) {
        if (!equal_targets(&s->outer, &core->sum.outer))
            write_target(w, ",scales=", &s->outer);
        if (s->chunk != core->sum.chunk)
            write_number(w, ",every=", s->chunk);
    } else if (s->chunk) {
        write_number(w, ",promote=", s->chunk);
        if (name_of(&s->outer.format) != FPEMU_NAME_BINARY32 || s->outer.rounding.mode != FPEMU_MODE_RNE)
            write_target(w, ",outer=", &s->outer);
    }
}

fpemu_status fpemu_gemm_print(const fpemu_gemm_spec *spec, char *text, size_t capacity)
{
    if (text && capacity > 0)
        text[0] = '\0';
    if (!spec || !text)
        return FPEMU_ERROR_NULL;
    const fpemu_accumulator *s = &spec->sum;
    if (s->model == FPEMU_MODEL_INVALID || s->model >= FPEMU_MODEL_COUNT ||
        (s->model == FPEMU_MODEL_INTEGER && (s->width < 2 || s->width > 64)) ||
        (s->model == FPEMU_MODEL_CHUNKED && s->chunk == 0) || !fpemu_splits_exist(spec) ||
        (s->model == FPEMU_MODEL_FUSED && !core_dot_steps_exist(s)))
        return FPEMU_ERROR_ARGUMENT;
    if (!core_takes_sums(&spec->product.format) || !core_takes_sums(&spec->out.format) ||
        !core_takes_sums(&s->inner.format) || !core_takes_sums(&s->outer.format))
        return FPEMU_ERROR_UNSUPPORTED;
    writer w;
    fpemu_gemm_spec core; /* what the name of a tensor core implies */
    memset(&core, 0, sizeof core);
    w.length = 0;
    w.status = FPEMU_OK;
    if (s->model == FPEMU_MODEL_FUSED) {
        write_fused(&w, spec, &core);
    } else if (s->model == FPEMU_MODEL_INTEGER) {
        write_number(&w, "int(", s->width);
        write_text(&w, s->wrap ? ",wrap" : ",saturate");
    } else {
        write_text(&w, model_names[s->model]);
        if (s->model == FPEMU_MODEL_CHUNKED)
            write_number(&w, "(", s->chunk);
        write_target(&w, s->model == FPEMU_MODEL_CHUNKED ? "," : "(", &s->inner);
        if (s->model == FPEMU_MODEL_CHUNKED && !equal_targets(&s->inner, &s->outer))
            write_target(&w, ",", &s->outer);
    }
    write_text(&w, ")");
    core.splits = spec->splits;
    imply_pieces(&core);
    const int a = !equal_targets(&spec->a, &core.a), b = !equal_targets(&spec->b, &core.b);
    const int both = a && b && equal_targets(&spec->a, &spec->b);
    if (a)
        write_key(&w, both ? "; ab=" : "; a=", &spec->a);
    if (b && !both)
        write_key(&w, "; b=", &spec->b);
    write_key(&w, "; product=", &spec->product);
    write_key(&w, "; out=", &spec->out);
    if (spec->splits)
        write_text(&w, "; splits=");
    write_text(&w, split_names[spec->splits]);
    if (spec->splits == FPEMU_SPLITS_INT8)
        write_number(&w, "", spec->slices);
    if (spec->split_block)
        write_number(&w, "/", spec->split_block);
    if (spec->start_from_c)
        write_text(&w, "; start=c");
    if ((a && has_no_format(&spec->a)) || (b && has_no_format(&spec->b)))
        w.status = FPEMU_ERROR_UNSUPPORTED; /* read back, it is what is implied */
    if (w.status)
        return w.status;
    if (w.length >= capacity)
        return FPEMU_ERROR_BUFFER;
    memcpy(text, w.text, w.length + 1);
    return FPEMU_OK;
}
