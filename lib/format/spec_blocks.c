/* SPDX-License-Identifier: BSD-2-Clause */
/* spec_blocks.c - the calls of blocked formats in spec strings: mx(e2m1,block=16), bfp(7), group(int12,2048), ...
 *
 * Each is a row of one table: its arguments, and what holds for what is left out. A format is printed as the first row
 * that can say it; the last one, block(...), can say every format. */
#include "spec_blocks.h"

#include "blocking.h"
#include "core/scale.h"
#include "environment.h"
#include "named.h"

/* In the order of fpemu_scaling. */
static const char *const rule_names[FPEMU_SCALING_COUNT] = {
    "none",        "floor",  "ceil",        "even",       "rceil",  "hbfp",       "absmax", "nvfp4",
    "nvfp4-ao",    "recipe", "recipe-pow2", "muppet",     "s2fp8",  "reciprocal", "4over6", "4over6-mse",
    "nvfp4-clamp", "pairs",  "hif4",        "asymmetric", "minmax", "tinygemm",   "hqq",    "ggml-1",
    "ggml-0",      "eden",   "ggml-1k",     "ggml-0k",    "absmean"};

/* In the order of fpemu_outer. */
static const char *const outer_names[] = {"tensor", "row", NULL};

/* In the order of fpemu_search_error. */
static const char *const error_names[] = {"squares", "absolute", "weighted", NULL};

/* Where the element comes from. */
enum element { ANY, FROM_M, FROM_E_M, FROM_BITS, ANY_SYMMETRIC, FROM_TABLE };

#define RULE_BIT(name) (1u << FPEMU_SCALING_##name)
#define POWER_RULES (RULE_BIT(FLOOR) | RULE_BIT(CEIL) | RULE_BIT(EVEN) | RULE_BIT(RCEIL))
#define AFFINE_RULES                                                                                                   \
    (RULE_BIT(ASYMMETRIC) | RULE_BIT(MINMAX) | RULE_BIT(TINYGEMM) | RULE_BIT(HQQ) | RULE_BIT(GGML_1) |                 \
     RULE_BIT(GGML_0) | RULE_BIT(GGML_1K) | RULE_BIT(GGML_0K))
#define NVFP4_RULES                                                                                                    \
    (RULE_BIT(NVFP4) | RULE_BIT(NVFP4_AO) | RULE_BIT(NVFP4_CLAMP) | RULE_BIT(4OVER6) | RULE_BIT(4OVER6_MSE) |          \
     RULE_BIT(EDEN))

/* clang-format off */
#define AN_ELEMENT(optional) {"element", FPEMU_PARAMETER_ELEMENT, ELEMENT, optional}
#define A_BLOCK(optional) {"block", FPEMU_PARAMETER_BLOCK, BLOCK, optional}
#define A_SCALE {"scale", FPEMU_PARAMETER_BLOCK_SCALE, ELEMENT, 1}
#define AN_EXPONENT {"exponent", FPEMU_PARAMETER_BLOCK_EXPONENT, INTEGER, 1}
#define A_RULE(optional) {"rule", FPEMU_PARAMETER_RULE, RULE, optional}
#define A_MARGIN {"margin", FPEMU_PARAMETER_MARGIN, RATIO, 1}
#define A_RANGE {"target", FPEMU_PARAMETER_TARGET, DECIMAL, 1}, {"clip", FPEMU_PARAMETER_CLIP, DECIMAL, 1}
#define A_BOUND {"bound", FPEMU_PARAMETER_BOUND, DECIMAL, 1}
#define AN_OUTER {"outer", FPEMU_PARAMETER_OUTER, OUTER, 1}
#define A_SEARCH {"search", FPEMU_PARAMETER_SEARCH, SPAN, 1}, {"error", FPEMU_PARAMETER_ERROR, NORM, 1}
#define A_CORRECTION {"correct", FPEMU_PARAMETER_CORRECT, INTEGER, 1}
#define A_WIDTH(name) {name, FPEMU_PARAMETER_BITS, INTEGER, 0}

/* What holds where an argument is left out; 0 where it cannot be. */
static const struct family {
    call call;
    enum element element;
    uint32_t rules;    /* those that the call can say */
    uint8_t rule;
    uint8_t block;
    uint32_t length;
    uint8_t exponent;  /* of a power of two; 0: the scale is ... */
    fpemu_name scale;
    fpemu_name element_name;
} families[] = {
    {{"mx", CALL_BLOCKED, {AN_ELEMENT(0), A_BLOCK(1), A_SCALE, A_RULE(1), A_MARGIN, A_RANGE, A_SEARCH, A_CORRECTION, {0}}},
     ANY, POWER_RULES, FPEMU_SCALING_FLOOR, FPEMU_BLOCK_RUN, 32, 0, FPEMU_NAME_E8M0, FPEMU_NAME_NONE},
    {{"hbfp", CALL_BLOCKED, {A_WIDTH("m"), A_BLOCK(1), AN_EXPONENT, A_MARGIN, A_RANGE, {0}}},
     FROM_M, RULE_BIT(HBFP), FPEMU_SCALING_HBFP, FPEMU_BLOCK_TENSOR, 0, 12, FPEMU_NAME_NONE, FPEMU_NAME_NONE},
    {{"bfp", CALL_BLOCKED, {A_WIDTH("m"), A_BLOCK(1), AN_EXPONENT, A_RULE(1), A_MARGIN, A_RANGE, A_SEARCH, {0}}},
     FROM_M, POWER_RULES | RULE_BIT(HBFP), FPEMU_SCALING_FLOOR, FPEMU_BLOCK_RUN, 16, 8, FPEMU_NAME_NONE,
     FPEMU_NAME_NONE},
    {{"bm", CALL_BLOCKED,
      {{"e", FPEMU_PARAMETER_EXPONENT, INTEGER, 0}, {"m", FPEMU_PARAMETER_MANTISSA, INTEGER, 0}, A_BLOCK(1), A_MARGIN, A_RANGE,
       {0}}},
     FROM_E_M, RULE_BIT(FLOOR), FPEMU_SCALING_FLOOR, FPEMU_BLOCK_RUN, 32, 8, FPEMU_NAME_NONE, FPEMU_NAME_NONE},
    {{"nvfp4", CALL_BLOCKED, {AN_ELEMENT(1), A_BLOCK(1), A_SCALE, A_RULE(1), A_MARGIN, A_RANGE, A_BOUND, AN_OUTER, A_SEARCH, A_CORRECTION, {0}}},
     ANY, NVFP4_RULES, FPEMU_SCALING_NVFP4, FPEMU_BLOCK_RUN, 16, 0, FPEMU_NAME_E4M3FN,
     FPEMU_NAME_E2M1},
    {{"codebook", CALL_BLOCKED,
      {{"table", FPEMU_PARAMETER_TABLE, TABLE, 0}, A_BLOCK(1), A_SCALE, A_MARGIN, A_RANGE, A_SEARCH, {0}}},
     FROM_TABLE, RULE_BIT(ABSMAX), FPEMU_SCALING_ABSMAX, FPEMU_BLOCK_RUN, 256, 0, FPEMU_NAME_BINARY32, FPEMU_NAME_NONE},
    {{"group", CALL_BLOCKED, {AN_ELEMENT(0), A_BLOCK(1), A_SCALE, A_RULE(1), A_MARGIN, A_RANGE, A_SEARCH, {0}}},
     ANY_SYMMETRIC, RULE_BIT(ABSMAX) | RULE_BIT(ABSMEAN) | RULE_BIT(RECIPROCAL) | AFFINE_RULES, FPEMU_SCALING_ABSMAX, FPEMU_BLOCK_RUN, 2048, 0, FPEMU_NAME_BINARY32,
     FPEMU_NAME_NONE},
    {{"scaled", CALL_BLOCKED, {AN_ELEMENT(0), A_BLOCK(1), A_MARGIN, A_RULE(1), A_RANGE, {0}}},
     ANY, RULE_BIT(RECIPE) | RULE_BIT(RECIPE_POW2), FPEMU_SCALING_RECIPE, FPEMU_BLOCK_TENSOR, 0, 0, FPEMU_NAME_BINARY32,
     FPEMU_NAME_NONE},
    {{"muppet", CALL_BLOCKED, {A_WIDTH("bits"), A_BLOCK(1), AN_EXPONENT, {0}}},
     FROM_BITS, RULE_BIT(MUPPET), FPEMU_SCALING_MUPPET, FPEMU_BLOCK_TENSOR, 0, 10, FPEMU_NAME_NONE, FPEMU_NAME_NONE},
    {{"s2fp8", CALL_BLOCKED, {AN_ELEMENT(1), {0}}},
     ANY, RULE_BIT(S2FP8), FPEMU_SCALING_S2FP8, FPEMU_BLOCK_TENSOR, 0, 0, FPEMU_NAME_BINARY32, FPEMU_NAME_E5M2},
    {{"block", CALL_BLOCKED,
      {AN_ELEMENT(0), A_BLOCK(0), A_SCALE, AN_EXPONENT, A_RULE(0), A_MARGIN, A_RANGE, A_BOUND, AN_OUTER, A_SEARCH, A_CORRECTION, {0}}},
     ANY, ~0u, 0, 0, 0, 0, FPEMU_NAME_NONE, FPEMU_NAME_NONE},
};
/* clang-format on */

#define FAMILIES (sizeof families / sizeof families[0])

const call *fpemu_find_block_call(const char *word, size_t length)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (fpemu_word_is(word, length, families[i].call.name))
            return &families[i].call;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- arguments */

/* N, RxC, row, channel or tensor. */
static int take_block(reader *r, value *v)
{
    static const char *const expected = "N, RxC, row, channel or tensor";
    const size_t start = r->at, length = take_word(r), end = r->at;
    size_t at = start;
    const int64_t first = take_digits(r, &at);
    v->rows = v->length = 0;
    if (at == start) {
        const char *const word = r->text + start;
        v->number = fpemu_word_is(word, length, "row")       ? FPEMU_BLOCK_ROW
                    : fpemu_word_is(word, length, "channel") ? FPEMU_BLOCK_CHANNEL
                    : fpemu_word_is(word, length, "tensor")  ? FPEMU_BLOCK_TENSOR
                                                             : -1;
        return v->number >= 0 || fail(r, start, expected);
    }
    int64_t second = first;
    v->number = FPEMU_BLOCK_RUN;
    if (at < end && fpemu_lower(r->text[at]) == 'x') {
        const size_t digits = ++at;
        second = take_digits(r, &at);
        if (at == digits)
            return fail(r, at, "the length of the rows of a block RxC");
        v->number = FPEMU_BLOCK_TILE;
        v->rows = (uint32_t)first;
    }
    v->length = (uint32_t)second;
    if (at < end)
        return fail(r, start, expected);
    return (first > 0 && first <= UINT32_MAX && second > 0 && second <= UINT32_MAX) ||
           fail(r, start, "a block of 1 to 4294967295 elements along an axis");
}

static int take_rule(reader *r, value *v)
{
    const size_t start = r->at;
    while (take_word(r) || (r->at > start && peek(r) == '-'))
        r->at += peek(r) == '-';
    for (v->number = FPEMU_SCALING_FLOOR; v->number < FPEMU_SCALING_COUNT; v->number++)
        if (fpemu_word_is(r->text + start, r->at - start, rule_names[v->number]))
            return 1;
    return fail(r, start, "floor, ceil, absmax, nvfp4, asymmetric, ggml-0 or another rule of fpemu-formats(7)");
}

/* N, or N/D. */
static int take_fraction(reader *r, value *v)
{
    int64_t divisor;
    v->rows = 0;
    if (!take_integer(r, &v->number))
        return 0;
    if (!take(r, '/'))
        return 1;
    const size_t start = r->at;
    if (!take_integer(r, &divisor))
        return 0;
    v->rows = to_unsigned(divisor);
    return (v->number > 0 && v->number < 65536 && divisor > 0 && divisor < 65536) ||
           fail(r, start, "a fraction of whole numbers from 1 to 65535");
}

/* FIRST..LAST, or FIRST..LAST/GRID. */
static int take_search(reader *r, value *v)
{
    int64_t last = 0, grid = 0;
    const size_t start = r->at;
    if (!take_integer(r, &v->number))
        return 0;
    if (!take(r, '.') || !take(r, '.'))
        return fail(r, r->at, "FIRST..LAST, two whole numbers, or FIRST..LAST/GRID");
    if (!take_integer(r, &last))
        return 0;
    const int shares = take(r, '/');
    if (shares && !take_integer(r, &grid))
        return 0;
    v->rows = to_unsigned(grid);
    v->length = (uint32_t)last;
    return (v->number != last && v->number >= INT16_MIN && v->number <= INT16_MAX && last >= INT16_MIN &&
            last <= INT16_MAX && grid >= shares && grid <= UINT16_MAX) ||
           fail(r, start, "two different whole numbers below 32768, and a grid below 65536");
}

/* nf4, dynamicB or udynamicB. */
static int take_table(reader *r, value *v)
{
    static const char *const names[] = {"nf", "dynamic", "udynamic"};
    const size_t start = r->at, end = start + take_word(r);
    for (int name = FPEMU_CODEBOOK_NF4; name <= FPEMU_CODEBOOK_UDYNAMIC; name++) {
        const size_t prefix = strlen(names[name - 1]);
        size_t at = start + prefix;
        if (at < end && fpemu_word_is(r->text + start, prefix, names[name - 1])) {
            const int64_t bits = take_digits(r, &at);
            if (at == end &&
                fpemu_format_codebook(&v->format, (fpemu_codebook_name)name, to_unsigned(bits)) == FPEMU_OK)
                return 1;
        }
    }
    return fail(r, start, "nf4, or dynamic4 to dynamic8, or udynamic4 to udynamic8");
}

int fpemu_take_block_value(reader *r, enum argument_type type, value *v)
{
    switch (type) {
    case ELEMENT: return r->read_scalar(r, &v->format);
    case TABLE: return take_table(r, v);
    case BLOCK: return take_block(r, v);
    case RATIO: return take_fraction(r, v);
    case OUTER: return take_choice(r, outer_names, "tensor or row", &v->number);
    case SPAN: return take_search(r, v);
    case NORM: return take_choice(r, error_names, "squares, absolute or weighted", &v->number);
    default: return take_rule(r, v);
    }
}

/* The argument that was given for a parameter; NULL if there is none. */
static const value *find(const call *c, const reader *r, const value *v, uint32_t parameter)
{
    for (int i = 0; c->arguments[i].name; i++)
        if (c->arguments[i].parameter == parameter && (r->given & parameter))
            return &v[i];
    return NULL;
}

static uint8_t to_byte(int64_t x)
{
    return x < 0 || x > UINT8_MAX ? UINT8_MAX : (uint8_t)x;
}

/* Signed integers leave out their most negative value in group(...) where the rule has one number. */
static int becomes_symmetric(const fpemu_format *f, int rule)
{
    return !core_rule_is_affine(rule) && f->kind == FPEMU_KIND_INT && f->is_signed && f->zero_point == 0 &&
           f->bits > 1 && !f->wrap;
}

static int build_element(const struct family *m, const reader *r, const value *v, int rule, fpemu_format *f)
{
    const value *given = find(&m->call, r, v, FPEMU_PARAMETER_ELEMENT);
    switch (m->element) {
    case FROM_M:
        f->kind = FPEMU_KIND_FIXED;
        f->bits = v[0].number < 1 ? 0 : to_unsigned(v[0].number + 1);
        f->fraction_bits = to_signed(v[0].number);
        f->is_signed = f->symmetric = 1;
        return 1;
    case FROM_E_M:
        f->kind = FPEMU_KIND_FLOAT;
        f->exponent_bits = to_unsigned(v[0].number);
        f->mantissa_bits = to_unsigned(v[1].number);
        f->bias = f->exponent_bits > 0 && f->exponent_bits <= 11 ? INT32_C(1) << (f->exponent_bits - 1)
                                                                 : FPEMU_BIAS_DEFAULT; /* refused */
        f->specials = FPEMU_SPECIALS_FINITE;
        f->is_signed = 1;
        return 1;
    case FROM_BITS:
        f->kind = FPEMU_KIND_INT;
        f->bits = to_unsigned(v[0].number);
        f->is_signed = 1;
        f->scale = 1;
        return 1;
    case FROM_TABLE: *f = v[0].format; return 1;
    default: break;
    }
    if (!given)
        return fpemu_named_scalar(m->element_name, f);
    *f = given->format;
    f->symmetric |= m->element == ANY_SYMMETRIC && becomes_symmetric(f, rule);
    return 1;
}

/* Sets what amax is to become, of target=, margin=N/D or clip=; *f is the element. */
static int build_target(const call *c, const reader *r, const value *v, fpemu_format *f, fpemu_problem *problem)
{
    const value *target = find(c, r, v, FPEMU_PARAMETER_TARGET), *clip = find(c, r, v, FPEMU_PARAMETER_CLIP);
    const value *margin = find(c, r, v, FPEMU_PARAMETER_MARGIN);
    margin = margin && margin->rows ? margin : NULL;
    const uint32_t all = FPEMU_PARAMETER_TARGET | FPEMU_PARAMETER_CLIP | FPEMU_PARAMETER_MARGIN;
    fpemu_format element = *f;
    if (!target && !clip && !margin)
        return 1;
    if ((target != NULL) + (clip != NULL) + (margin != NULL) > 1)
        return refuse(problem, all, "target, margin=N/D or clip, one of them");
    if (!target && fpemu_format_complete(&element))
        return 1; /* what is wrong with it is said later */
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const double max = core_block_target(&element);
    const double wanted = target   ? target->decimal
                          : margin ? max * (double)margin->rows / (double)margin->number
                                   : max / clip->decimal;
    f->target = core_saturated32(wanted);
    fpemu_environment_leave(&environment);
    return f->target > 0 || refuse(problem, all, "a number above zero");
}

int fpemu_build_blocked(const call *c, const reader *r, const value *v, fpemu_format *f, fpemu_problem *problem)
{
    const struct family *m = families;
    while (&m->call != c)
        m++;
    const value *block = find(c, r, v, FPEMU_PARAMETER_BLOCK), *rule = find(c, r, v, FPEMU_PARAMETER_RULE);
    const value *scale = find(c, r, v, FPEMU_PARAMETER_BLOCK_SCALE);
    const value *exponent = find(c, r, v, FPEMU_PARAMETER_BLOCK_EXPONENT);
    const value *margin = find(c, r, v, FPEMU_PARAMETER_MARGIN);
    const value *bound = find(c, r, v, FPEMU_PARAMETER_BOUND), *outer = find(c, r, v, FPEMU_PARAMETER_OUTER);
    const value *search = find(c, r, v, FPEMU_PARAMETER_SEARCH), *error = find(c, r, v, FPEMU_PARAMETER_ERROR);
    const value *correct = find(c, r, v, FPEMU_PARAMETER_CORRECT);
    if (!build_element(m, r, v, rule ? (int)rule->number : m->rule, f))
        return refuse(problem, FPEMU_PARAMETER_ELEMENT, "an element format");
    if (!build_target(c, r, v, f, problem))
        return 0;
    f->scaling = rule ? (uint8_t)rule->number : m->rule;
    if (!(m->rules >> f->scaling & 1))
        return refuse(problem, FPEMU_PARAMETER_RULE,
                      m->rules == POWER_RULES       ? "floor, ceil, even or rceil"
                      : m->element == FROM_M        ? "floor, ceil, even, rceil or hbfp"
                      : m->rules & RULE_BIT(NVFP4)  ? "nvfp4, nvfp4-ao, nvfp4-clamp, eden, 4over6 or 4over6-mse"
                      : m->rules & RULE_BIT(ABSMAX) ? "absmax, absmean, reciprocal or a rule with zero points"
                                                    : "recipe or recipe-pow2");
    f->block = block ? (uint8_t)block->number : m->block;
    f->block_rows = block ? block->rows : 0;
    f->block_length = block ? block->length : m->length;
    f->margin = margin && !margin->rows ? to_signed(margin->number) : 0;
    f->bound = bound ? core_saturated32(bound->decimal) : 0;
    f->outer = outer ? (uint8_t)outer->number : 0;
    f->search_first = (int16_t)(search ? search->number : 0);
    f->search_last = (int16_t)(search ? (int32_t)search->length : 0);
    f->search_grid = (uint16_t)(search ? search->rows : 0);
    f->search_error = (uint16_t)(error ? error->number : 0);
    if (correct && (!f->block_length || correct->number < 1 || correct->number % f->block_length))
        return refuse(problem, FPEMU_PARAMETER_CORRECT, "a number of elements that makes whole blocks");
    const int64_t share = correct ? correct->number / f->block_length : 0;
    f->correct = share == 8 && f->scaling == FPEMU_SCALING_EDEN ? 0 : to_byte(share);
    if (bound && !(f->bound > 0))
        return refuse(problem, FPEMU_PARAMETER_BOUND, "a number above zero");
    if (scale && exponent)
        return refuse(problem, FPEMU_PARAMETER_BLOCK_SCALE | FPEMU_PARAMETER_BLOCK_EXPONENT,
                      "scale or exponent, one of them");
    if (scale)
        return fpemu_set_scale(f, &scale->format, problem);
    if (m->scale && !exponent) {
        fpemu_format named;
        return fpemu_named_scalar(m->scale, &named) && fpemu_set_scale(f, &named, problem);
    }
    if (!m->exponent && !exponent)
        return refuse(problem, 0, "a call with scale= or exponent=");
    f->scale_power = 1;
    f->scale_exponent_bits = exponent ? to_byte(exponent->number) : m->exponent;
    return 1;
}

/* --------------------------------------------------------------------------------------------- printing */

void fpemu_write_table(writer *w, const fpemu_format *f)
{
    static const char *const names[] = {"nf", "dynamic", "udynamic"};
    write_number(w, names[f->codebook - 1], f->bits);
}

static int has_argument(const call *c, uint32_t parameter)
{
    for (const argument *a = c->arguments; a->name; a++)
        if (a->parameter == parameter)
            return 1;
    return 0;
}

/* Whether the call can say the element, modifiers that can follow the call apart. */
static int says_element(const struct family *m, const fpemu_format *f)
{
    switch (m->element) {
    case FROM_M:
        return f->kind == FPEMU_KIND_FIXED && f->is_signed && f->symmetric && f->fraction_bits == (int32_t)f->bits - 1;
    case FROM_E_M:
        return f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_FINITE && f->is_signed &&
               f->exponent_bits > 0 && f->bias == INT32_C(1) << (f->exponent_bits - 1);
    case FROM_BITS:
        return f->kind == FPEMU_KIND_INT && f->is_signed && core_bits64(f->scale) == core_bits64(1.0) &&
               f->zero_point == 0;
    case FROM_TABLE: return f->kind == FPEMU_KIND_CODEBOOK;
    case ANY_SYMMETRIC: return !becomes_symmetric(f, f->scaling) || f->symmetric;
    default: return 1;
    }
}

/* Whether the scale is the one that holds where the call says none. */
static int has_default_scale(const struct family *m, const fpemu_format *f)
{
    fpemu_format scale, named;
    if (f->scale_power)
        return f->scale_exponent_bits == m->exponent;
    return m->scale && fpemu_scale_of(f, &scale) && fpemu_named_scalar(m->scale, &named) &&
           fpemu_format_equal(&scale, &named);
}

static int has_default_block(const struct family *m, const fpemu_format *f)
{
    return f->block == m->block && f->block_length == m->length && f->block_rows == 0 && m->rule;
}

static int says(const struct family *m, const fpemu_format *f)
{
    const call *c = &m->call;
    return (m->rules >> f->scaling & 1) && says_element(m, f) &&
           (has_default_block(m, f) || has_argument(c, FPEMU_PARAMETER_BLOCK)) &&
           (has_default_scale(m, f) ||
            has_argument(c, f->scale_power ? FPEMU_PARAMETER_BLOCK_EXPONENT : FPEMU_PARAMETER_BLOCK_SCALE)) &&
           (f->margin == 0 || has_argument(c, FPEMU_PARAMETER_MARGIN)) &&
           (f->target == 0 || has_argument(c, FPEMU_PARAMETER_TARGET)) &&
           (f->bound == 0 || has_argument(c, FPEMU_PARAMETER_BOUND)) &&
           (f->outer == 0 || has_argument(c, FPEMU_PARAMETER_OUTER)) &&
           (f->correct == 0 || has_argument(c, FPEMU_PARAMETER_CORRECT)) &&
           (f->search_first == f->search_last || has_argument(c, FPEMU_PARAMETER_SEARCH));
}

/* Writes the element as the first arguments of the call; what modifiers are still to be said. */
static void write_element(writer *w, const struct family *m, const fpemu_format *f, fpemu_format *said)
{
    fpemu_format element = *f, named;
    said->subnormals = said->wrap = 0;
    said->symmetric = m->element == FROM_M;
    said->overflow = FPEMU_OVERFLOW_IEEE;
    said->nan = FPEMU_NAN_KEEP;
    switch (m->element) {
    case FROM_M: write_number(w, "", f->fraction_bits); return;
    case FROM_E_M:
        write_number(w, "", f->exponent_bits);
        write_number(w, ",", f->mantissa_bits);
        return;
    case FROM_BITS: write_number(w, "", f->bits); return;
    case FROM_TABLE: fpemu_write_table(w, f); return;
    default: break;
    }
    fpemu_clear_blocked(&element);
    *said = *f;
    if (m->element == ANY_SYMMETRIC && becomes_symmetric(f, f->scaling))
        element.symmetric = 0;
    if (m->element_name && fpemu_named_scalar(m->element_name, &named) && fpemu_format_equal(&element, &named))
        return;
    w->write_format(w, &element);
}

/* ",name=" without the comma after the opening parenthesis. */
static void write_name(writer *w, const char *name)
{
    if (w->text[w->length - 1] != '(')
        write_text(w, ",");
    write_text(w, name);
}

static void write_decimal(writer *w, const char *name, float x)
{
    char text[FPEMU_DECIMAL_SIZE];
    fpemu_decimal_print((double)x, text);
    write_name(w, name);
    write_text(w, text);
}

static void write_block(writer *w, const fpemu_format *f)
{
    static const char *const words[] = {"", "row", "", "channel", "tensor"};
    write_name(w, "block=");
    if (f->block == FPEMU_BLOCK_TILE) {
        write_number(w, "", f->block_rows);
        write_text(w, "x");
    }
    if (f->block_length)
        write_number(w, "", f->block_length);
    write_text(w, words[f->block]);
}

/* What differs from what holds where the call does not say it; a call without an argument has no such difference. */
static void write_argument(writer *w, const struct family *m, const fpemu_format *f, uint32_t parameter)
{
    fpemu_format scale;
    if (parameter == FPEMU_PARAMETER_BLOCK && !has_default_block(m, f)) {
        write_block(w, f);
    } else if (parameter == FPEMU_PARAMETER_BLOCK_EXPONENT && f->scale_power && !has_default_scale(m, f)) {
        write_name(w, "exponent=");
        write_number(w, "", f->scale_exponent_bits);
    } else if (parameter == FPEMU_PARAMETER_BLOCK_SCALE && !f->scale_power && !has_default_scale(m, f) &&
               fpemu_scale_of(f, &scale)) {
        write_name(w, "scale=");
        w->write_format(w, &scale);
    } else if (parameter == FPEMU_PARAMETER_RULE && f->scaling != m->rule) {
        write_name(w, "rule=");
        write_text(w, rule_names[f->scaling]);
    } else if (parameter == FPEMU_PARAMETER_MARGIN && f->margin) {
        write_name(w, "margin=");
        write_number(w, "", f->margin);
    } else if (parameter == FPEMU_PARAMETER_TARGET && f->target > 0) {
        write_decimal(w, "target=", f->target);
    } else if (parameter == FPEMU_PARAMETER_BOUND && f->bound > 0) {
        write_decimal(w, "bound=", f->bound);
    } else if (parameter == FPEMU_PARAMETER_OUTER && f->outer) {
        write_name(w, "outer=");
        write_text(w, outer_names[f->outer]);
    } else if (parameter == FPEMU_PARAMETER_SEARCH && f->search_first != f->search_last) {
        write_name(w, "search=");
        write_number(w, "", f->search_first);
        write_number(w, "..", f->search_last);
        if (f->search_grid)
            write_number(w, "/", f->search_grid);
    } else if (parameter == FPEMU_PARAMETER_ERROR && f->search_error) {
        write_name(w, "error=");
        write_text(w, error_names[f->search_error]);
    } else if (parameter == FPEMU_PARAMETER_CORRECT && f->correct) {
        write_name(w, "correct=");
        write_number(w, "", f->correct * (int64_t)f->block_length);
    }
}

void fpemu_write_blocked(writer *w, const fpemu_format *f, fpemu_format *said)
{
    const struct family *m = families;
    while (!says(m, f)) /* the last one says everything */
        m++;
    write_text(w, m->call.name);
    write_text(w, "(");
    *said = *f;
    write_element(w, m, f, said);
    for (const argument *a = m->call.arguments; a->name; a++)
        write_argument(w, m, f, a->parameter);
    write_text(w, ")");
}
