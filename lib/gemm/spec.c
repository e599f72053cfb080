/* SPDX-License-Identifier: BSD-2-Clause */
/* spec.c - how products are added up, as text, and the tensor cores by name. doc/accumulation.md states the
 * grammar and the figures. */
#include <stdio.h>

#include "array/array.h"
#include "core/dot_make.h"
#include "format/text.h"

/* --------------------------------------------------------------------------------------------- tensor cores */

static const struct gpu_name {
    const char *name;
    uint32_t gpu;
} gpu_names[] = {{"v100", FPEMU_GPU_V100}, {"a100", FPEMU_GPU_A100}, {"ada", FPEMU_GPU_ADA},  {"l40s", FPEMU_GPU_ADA},
                 {"h100", FPEMU_GPU_H100}, {"h200", FPEMU_GPU_H100}, {"b200", FPEMU_GPU_B200}};

#define GPU_NAMES (sizeof gpu_names / sizeof gpu_names[0])

/* One row a kind of operand; 16-bit operands but on V100 are fp16 and bf16. */
static const struct core_figures {
    uint8_t gpu, tf32, fp8, block, fraction_bits, cut; /* cut: fraction bits of the result where fewer than 23 */
    int16_t least, least_fp16;                         /* the latter 0: no binary16 result */
} core_figures[] = {
    {FPEMU_GPU_V100, 0, 0, 4, 23, 0, 0, -19},      {FPEMU_GPU_A100, 0, 0, 8, 24, 0, -132, -20},
    {FPEMU_GPU_A100, 1, 0, 4, 24, 0, -132, 0},     {FPEMU_GPU_ADA, 0, 0, 8, 24, 0, -132, -20},
    {FPEMU_GPU_ADA, 1, 0, 4, 24, 0, -132, 0},      {FPEMU_GPU_ADA, 0, 1, 16, 13, 13, -132, -20},
    {FPEMU_GPU_H100, 0, 0, 16, 25, 0, -133, -21},  {FPEMU_GPU_H100, 1, 0, 8, 25, 0, -133, 0},
    {FPEMU_GPU_H100, 0, 1, 32, 13, 13, -133, -21}, {FPEMU_GPU_B200, 0, 0, 16, 25, 0, -133, -21},
    {FPEMU_GPU_B200, 1, 0, 8, 25, 0, -133, 0},     {FPEMU_GPU_B200, 0, 1, 32, 25, 0, -133, 0},
};

#define CORE_FIGURES (sizeof core_figures / sizeof core_figures[0])

fpemu_status fpemu_gemm_tensor_core(fpemu_gemm_spec *spec, fpemu_gpu gpu, fpemu_name operands, fpemu_name result)
{
    if (!spec)
        return FPEMU_ERROR_NULL;
    memset(spec, 0, sizeof *spec);
    const int fp8 = operands == FPEMU_NAME_E4M3FN || operands == FPEMU_NAME_E5M2, tf32 = operands == FPEMU_NAME_TF32;
    if (!fp8 && !tf32 && operands != FPEMU_NAME_BINARY16 && (operands != FPEMU_NAME_BFLOAT16 || gpu == FPEMU_GPU_V100))
        return FPEMU_ERROR_UNSUPPORTED;
    const int half = result == FPEMU_NAME_BINARY16;
    if (half ? operands != FPEMU_NAME_BINARY16 && !fp8 : result != FPEMU_NAME_BINARY32)
        return FPEMU_ERROR_UNSUPPORTED;
    for (size_t i = 0; i < CORE_FIGURES; i++) {
        const struct core_figures *f = &core_figures[i];
        if (f->gpu != (uint32_t)gpu || f->tf32 != tf32 || f->fp8 != fp8)
            continue;
        if (half && !f->least_fp16)
            return FPEMU_ERROR_UNSUPPORTED;
        fpemu_accumulator *s = &spec->sum;
        s->model = FPEMU_MODEL_FUSED;
        s->block = f->block;
        s->fraction_bits = f->fraction_bits;
        s->least_exponent = half ? f->least_fp16 : f->least ? f->least : FPEMU_NO_FLOOR;
        s->inner.rounding.mode = half ? FPEMU_MODE_RNE : FPEMU_MODE_RTZ;
        fpemu_format_named(operands, &spec->a.format);
        spec->b = spec->a;
        return f->cut && !half
                   ? fpemu_format_float(&s->inner.format, 8, f->cut, FPEMU_BIAS_DEFAULT, FPEMU_SPECIALS_IEEE, 1)
                   : fpemu_format_named(result, &s->inner.format);
    }
    return FPEMU_ERROR_UNSUPPORTED;
}

/* --------------------------------------------------------------------------------------------------- reading */

#define TEXT_LENGTH 1023 /* of a whole spec; each format within it is bound to FPEMU_SPEC_LENGTH */

typedef struct reader {
    const char *text;
    size_t length, at;
    fpemu_status status; /* of what fails: FPEMU_ERROR_SPEC, or FPEMU_ERROR_UNSUPPORTED for a target that cannot be */
    fpemu_parse_error *error;
} reader;

/* Readers return 1, or 0 after an error was stored. */
static int fail(reader *r, size_t position, const char *expected)
{
    fpemu_spec_error(r->error, r->text, r->length, position, expected);
    return 0;
}

static void skip_space(reader *r)
{
    while (r->at < r->length && fpemu_is_space(r->text[r->at]))
        r->at++;
}

static int take(reader *r, char c)
{
    skip_space(r);
    if (r->at >= r->length || r->text[r->at] != c)
        return 0;
    r->at++;
    skip_space(r);
    return 1;
}

static int need(reader *r, char c, const char *expected)
{
    return take(r, c) || fail(r, r->at, expected);
}

static size_t take_word(reader *r)
{
    const size_t start = r->at;
    while (r->at < r->length && fpemu_is_word(r->text[r->at]))
        r->at++;
    return r->at - start;
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
    int64_t v = 0;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9') {
        v = v < INT64_C(1000000000000) ? v * 10 + (r->text[r->at] - '0') : v;
        r->at++;
    }
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
            return fail(r, start, "a mode: rne, rna, rnz, rtz, raz, rtp, rtn, rto, sr or se");
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

/* [, least=] [, promote=] [, outer=], in any order, each once. */
static int take_options(reader *r, fpemu_accumulator *s, int generic)
{
    int seen = 0;
    while (take(r, ',')) {
        const size_t start = r->at;
        int64_t v;
        if (generic && !(seen & 1) && take_key(r, "least", 1)) {
            seen |= 1;
            if (!take_number(r, -CORE_DOT_LEAST_EXPONENT, CORE_DOT_LEAST_EXPONENT, "an exponent", &v))
                return 0;
            s->least_exponent = (int32_t)v;
        } else if (!(seen & 2) && take_key(r, "promote", 1)) {
            seen |= 2;
            if (!take_number(r, 1, UINT32_MAX, "the number of products between promotions", &v))
                return 0;
            if (v % s->block)
                return fail(r, start, "a multiple of the products of a step");
            s->chunk = (uint32_t)v;
        } else if (!(seen & 4) && take_key(r, "outer", 1)) {
            seen |= 4;
            if (!take_rounded(r, &s->outer))
                return 0;
        } else {
            return fail(r, start, generic ? "least=, promote= or outer=, each once" : "promote= or outer=, each once");
        }
    }
    if ((seen & 4) && !(seen & 2))
        return fail(r, r->at, "promote=, which outer= needs");
    if ((seen & 2) && !(seen & 4))
        fpemu_format_named(FPEMU_NAME_BINARY32, &s->outer.format);
    return 1;
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
        return fail(r, start, "v100, a100, ada, l40s, h100, h200 or b200");
    if (!need(r, ',', "',' and the format of the operands"))
        return 0;
    const size_t place = r->at;
    if (!take_target(r, &operands))
        return 0;
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
    if (fpemu_gemm_tensor_core(spec, (fpemu_gpu)gpu, name_of(&operands.format), to))
        return fail(r, place, "operands and a result that this GPU has");
    return take_options(r, &spec->sum, 0);
}

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
    if (fpemu_word_is(word, length, "seq"))
        s->model = FPEMU_MODEL_SEQUENTIAL;
    else if (fpemu_word_is(word, length, "pairwise"))
        s->model = FPEMU_MODEL_PAIRWISE;
    else if (fpemu_word_is(word, length, "kahan"))
        s->model = FPEMU_MODEL_KAHAN;
    else if (fpemu_word_is(word, length, "chunk"))
        s->model = FPEMU_MODEL_CHUNKED;
    else if (fpemu_word_is(word, length, "int"))
        s->model = FPEMU_MODEL_INTEGER;
    else if (fpemu_word_is(word, length, "tc") || fpemu_word_is(word, length, "fused"))
        s->model = FPEMU_MODEL_FUSED;
    else {
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
        if (!take_number(r, 0, 40, "0 to 40 fraction bits", &v) || !need(r, ',', "',' and a format"))
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

static int take_spec(reader *r, fpemu_gemm_spec *spec)
{
    if (r->length > TEXT_LENGTH)
        return fail(r, TEXT_LENGTH, "at most 1023 bytes");
    skip_space(r);
    if (!take_model(r, spec))
        return 0;
    skip_space(r);
    int seen = 0;
    while (take(r, ';')) {
        static const char *const keys[] = {"a", "b", "ab", "product", "out"};
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
        const int bits = key == 0 ? 1 : key == 1 ? 2 : key == 2 ? 3 : key == 3 ? 4 : 8;
        if (key == 5 || (seen & bits))
            return fail(r, start, "a=, b=, ab=, product=, out= or start=c, each once");
        seen |= bits;
        if (!(bits & 3 ? take_target(r, &t) : take_rounded(r, &t)))
            return 0;
        if (bits & 1)
            spec->a = t;
        if (bits & 2)
            spec->b = t;
        if (bits == 4)
            spec->product = t;
        if (bits == 8)
            spec->out = t;
    }
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
    reader r = {text, 0, 0, FPEMU_ERROR_SPEC, error};
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

static int equal_targets(const fpemu_target *a, const fpemu_target *b)
{
    if (has_no_format(a) || has_no_format(b))
        return has_no_format(a) && has_no_format(b);
    return fpemu_format_equal(&a->format, &b->format) && a->rounding.mode == b->rounding.mode;
}

/* The first tensor core with these figures; 0 if there is none. *core: its spec. */
static int find_tensor_core(const fpemu_accumulator *s, const fpemu_gemm_spec *spec, fpemu_gemm_spec *core)
{
    const fpemu_name named = name_of(&spec->a.format);
    for (size_t i = 0; i < GPU_NAMES; i++)
        for (int result = FPEMU_NAME_BINARY32; result >= FPEMU_NAME_BINARY16;
             result -= FPEMU_NAME_BINARY32 - FPEMU_NAME_BINARY16) {
            if (fpemu_gemm_tensor_core(core, (fpemu_gpu)gpu_names[i].gpu, named, (fpemu_name)result))
                continue;
            const fpemu_accumulator *c = &core->sum;
            if (s->block == c->block && s->fraction_bits == c->fraction_bits &&
                s->least_exponent == c->least_exponent && equal_targets(&s->inner, &c->inner)) {
                return (int)i + 1;
            }
        }
    return 0;
}

static void write_fused(writer *w, const fpemu_gemm_spec *spec, fpemu_gemm_spec *core)
{
    const fpemu_accumulator *s = &spec->sum;
    const int named = find_tensor_core(s, spec, core);
    if (named) {
        write_text(w, "tc(");
        write_text(w, gpu_names[named - 1].name);
        write_target(w, ",", &core->a);
        if (name_of(&s->inner.format) == FPEMU_NAME_BINARY16)
            write_text(w, ",fp16");
    } else {
        memset(core, 0, sizeof *core);
        write_number(w, "fused(", s->block);
        write_number(w, ",", s->fraction_bits);
        write_target(w, ",", &s->inner);
        if (s->least_exponent != FPEMU_NO_FLOOR)
            write_number(w, ",least=", s->least_exponent);
    }
    if (s->chunk) {
        write_number(w, ",promote=", s->chunk);
        if (name_of(&s->outer.format) != FPEMU_NAME_BINARY32 || s->outer.rounding.mode != FPEMU_MODE_RNE)
            write_target(w, ",outer=", &s->outer);
    }
}

fpemu_status fpemu_gemm_print(const fpemu_gemm_spec *spec, char *text, size_t capacity)
{
    static const char *const models[FPEMU_MODEL_COUNT] = {"", "seq(", "chunk(", "pairwise(", "kahan(", "", "int("};
    if (text && capacity > 0)
        text[0] = '\0';
    if (!spec || !text)
        return FPEMU_ERROR_NULL;
    const fpemu_accumulator *s = &spec->sum;
    if (s->model == FPEMU_MODEL_INVALID || s->model >= FPEMU_MODEL_COUNT ||
        (s->model == FPEMU_MODEL_INTEGER && (s->width < 2 || s->width > 64)) ||
        (s->model == FPEMU_MODEL_CHUNKED && s->chunk == 0) ||
        (s->model == FPEMU_MODEL_FUSED && !core_dot_steps_exist(s)))
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_format *const rounded[] = {&spec->product.format, &spec->out.format, &s->inner.format,
                                           &s->outer.format};
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        if (!core_takes_sums(rounded[i]))
            return FPEMU_ERROR_UNSUPPORTED;
    writer w;
    fpemu_gemm_spec core; /* what the name of a tensor core implies */
    memset(&core, 0, sizeof core);
    w.length = 0;
    w.status = FPEMU_OK;
    write_text(&w, models[s->model]);
    if (s->model == FPEMU_MODEL_FUSED) {
        write_fused(&w, spec, &core);
    } else if (s->model == FPEMU_MODEL_INTEGER) {
        write_number(&w, "", s->width);
        write_text(&w, s->wrap ? ",wrap" : ",saturate");
    } else {
        if (s->model == FPEMU_MODEL_CHUNKED)
            write_number(&w, "", s->chunk);
        write_target(&w, s->model == FPEMU_MODEL_CHUNKED ? "," : "", &s->inner);
        if (s->model == FPEMU_MODEL_CHUNKED && !equal_targets(&s->inner, &s->outer))
            write_target(&w, ",", &s->outer);
    }
    write_text(&w, ")");
    const int a = !equal_targets(&spec->a, &core.a), b = !equal_targets(&spec->b, &core.b);
    const int both = a && b && equal_targets(&spec->a, &spec->b) && !has_no_format(&spec->a);
    if (both)
        write_target(&w, "; ab=", &spec->a);
    if (a && !both && !has_no_format(&spec->a))
        write_target(&w, "; a=", &spec->a);
    if (b && !both && !has_no_format(&spec->b))
        write_target(&w, "; b=", &spec->b);
    if (!has_no_format(&spec->product))
        write_target(&w, "; product=", &spec->product);
    if (!has_no_format(&spec->out))
        write_target(&w, "; out=", &spec->out);
    if (spec->start_from_c)
        write_text(&w, "; start=c");
    if (w.status)
        return w.status;
    if (w.length >= capacity)
        return FPEMU_ERROR_BUFFER;
    memcpy(text, w.text, w.length + 1);
    return FPEMU_OK;
}
