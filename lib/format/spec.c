/* SPDX-License-Identifier: BSD-2-Clause */
/* spec.c - spec strings: read into a format, printed in canonical form. The grammar is stated in fpemu-formats(7):
 *
 *   SPEC = (NAME | SHORT | CALL) (":" WORD ["=" VALUE])*
 *
 * The calls of blocked formats stand in spec_blocks.c; their elements and scales are SPECs within the call.
 *
 * A text is read from left to right; what is wrong is reported where it stands, and numbers that make no format where
 * the last of them stands. */
#include "spec_blocks.h"

#include "codebook.h"
#include "format.h"
#include "named.h"
#include "near.h"
#include "scalar.h"

/* ----------------------------------------------------------------------------------------------------- calls */

static const call calls[] = {
    {"float",
     CALL_FLOAT,
     {{"e", FPEMU_PARAMETER_EXPONENT, INTEGER, 0},
      {"m", FPEMU_PARAMETER_MANTISSA, INTEGER, 0},
      {"bias", FPEMU_PARAMETER_BIAS, INTEGER, 1},
      {"specials", FPEMU_PARAMETER_SPECIALS, SPECIALS, 1},
      {"signed", FPEMU_PARAMETER_SIGNED, FLAG, 1},
      {0}}},
    {"fp",
     CALL_LEE,
     {{"e", FPEMU_PARAMETER_EXPONENT, INTEGER, 0},
      {"m", FPEMU_PARAMETER_MANTISSA, INTEGER, 0},
      {"b", FPEMU_PARAMETER_BIAS, INTEGER, 0},
      {0}}},
    {"p3109",
     CALL_P3109,
     {{"k", FPEMU_PARAMETER_BITS, INTEGER, 0},
      {"p", FPEMU_PARAMETER_MANTISSA, INTEGER, 0},
      {"domain", FPEMU_PARAMETER_SPECIALS, DOMAIN, 0},
      {0}}},
    {"fixed",
     CALL_FIXED,
     {{"wl", FPEMU_PARAMETER_BITS, INTEGER, 0}, {"fl", FPEMU_PARAMETER_FRACTION, INTEGER, 0}, {0}}},
    {"ufixed",
     CALL_UFIXED,
     {{"wl", FPEMU_PARAMETER_BITS, INTEGER, 0}, {"fl", FPEMU_PARAMETER_FRACTION, INTEGER, 0}, {0}}},
    {"int",
     CALL_INT,
     {{"bits", FPEMU_PARAMETER_BITS, INTEGER, 0},
      {"scale", FPEMU_PARAMETER_SCALE, DECIMAL, 1},
      {"zero", FPEMU_PARAMETER_ZERO, INTEGER, 1},
      {0}}},
    {"uint",
     CALL_UINT,
     {{"bits", FPEMU_PARAMETER_BITS, INTEGER, 0},
      {"scale", FPEMU_PARAMETER_SCALE, DECIMAL, 1},
      {"zero", FPEMU_PARAMETER_ZERO, INTEGER, 1},
      {0}}},
    {"table", CALL_TABLE, {{"table", FPEMU_PARAMETER_TABLE, TABLE, 0}, {0}}},
    {"posit", CALL_POSIT, {{"n", FPEMU_PARAMETER_BITS, INTEGER, 0}, {"es", FPEMU_PARAMETER_EXPONENT, INTEGER, 0}, {0}}},
};

/* In the order of fpemu_specials. */
static const char *const specials_names[] = {"ieee",   "fn",   "fnuz",    "finite", "p3109e",
                                             "p3109f", "e8m0", "dlfloat", "hif8",   NULL};
/* Bit 0: finite, bit 1: unsigned. */
static const char *const domain_names[] = {"se", "sf", "ue", "uf", NULL};
static const char *const flag_names[] = {"0", "1", NULL};

static int take_value(reader *r, enum argument_type type, value *v)
{
    switch (type) {
    case INTEGER: return take_integer(r, &v->number);
    case DECIMAL: return take_decimal(r, &v->decimal);
    case SPECIALS: return take_choice(r, specials_names, "ieee, fn, fnuz, finite, p3109e or p3109f", &v->number);
    case DOMAIN: return take_choice(r, domain_names, "se, sf, ue or uf", &v->number);
    case FLAG: return take_choice(r, flag_names, "0 or 1", &v->number);
    default: return fpemu_take_block_value(r, type, v);
    }
}

/* If "name=" stands next: its index in the list, r->at past the "=". MAX_ARGUMENTS for a positional argument, -1 for
 * an unknown name. */
static int take_name(reader *r, const argument *list)
{
    const size_t start = r->at, length = take_word(r);
    if (length == 0 || !take(r, '=')) {
        r->at = start;
        return MAX_ARGUMENTS;
    }
    for (int i = 0; list[i].name; i++)
        if (fpemu_word_is(r->text + start, length, list[i].name))
            return i;
    r->at = start;
    return -1;
}

/* All names of a call fit, with a comma and a space before each. */
#define NAMES 128

/* "e, m, ..." of the arguments that a call has, or still needs. */
static const char *list_names(const call *c, const reader *r, int only_missing, char text[NAMES])
{
    size_t n = 0;
    text[0] = '\0';
    for (const argument *a = c->arguments; a->name; a++)
        if (!only_missing || (!a->optional && !(r->given & a->parameter)))
            n += (size_t)snprintf(text + n, n < NAMES ? NAMES - n : 0, "%s%s=", n ? ", " : "", a->name);
    for (char *from = text, *to = text; n >= 80 && (*to = *from); from++) /* or the message may not fit */
        to += *from != ' ' && (n < 90 || *from != '=');
    if (strlen(text) > 76) {
        char *end = text + 73;
        while (*end != ',')
            end--;
        memcpy(end, ",...", 5);
    }
    return text;
}

static int take_arguments(reader *r, const call *c, value *values)
{
    char names[NAMES], expected[NAMES + 32];
    int next = 0; /* positional argument, -1 once a name came */
    if (!take(r, '(')) {
        snprintf(expected, sizeof expected, "'(' and arguments %s", list_names(c, r, 0, names));
        return fail(r, r->at, expected);
    }
    do {
        const size_t start = r->at;
        int i = take_name(r, c->arguments);
        if (i < 0) {
            const int fits = strlen(list_names(c, r, 0, names)) < 62;
            snprintf(expected, sizeof expected, "one of %s%s", fits ? "the arguments " : "", names);
            return fail(r, start, expected);
        }
        if (i == MAX_ARGUMENTS) {
            if (peek(r) == ')' || peek(r) == ',' || r->at >= r->length) {
                const char *missing = list_names(c, r, 1, names);
                snprintf(expected, sizeof expected, "an argument%s%s", *missing ? ": " : "", missing);
                return fail(r, r->at, expected);
            }
            if (next < 0)
                return fail(r, start, "a named argument after a named one");
            if (!c->arguments[next].name)
                return fail(r, start, "')' and no further argument");
            i = next++;
        } else {
            next = -1;
        }
        const argument *a = &c->arguments[i];
        if (r->given & a->parameter)
            return fail(r, start, "each argument once");
        const size_t place = r->at;
        if (!take_value(r, a->type, &values[i]))
            return 0;
        note_place(r, a->parameter, place);
    } while (take(r, ','));
    const char *missing = list_names(c, r, 1, names);
    if (*missing && (peek(r) == ')' || r->at >= r->length)) {
        snprintf(expected, sizeof expected, "',' and %s", missing);
        return fail(r, r->at, expected);
    }
    if (peek(r) != ')')
        return fail(r, r->at, "',' or ')'");
    r->at++;
    return 1;
}

/* The parameters that a call states. */
static int build(const call *c, const reader *r, const value *v, fpemu_format *f, fpemu_problem *problem)
{
    switch (c->kind) {
    case CALL_LEE: return fpemu_set_lee(f, v[0].number, v[1].number, v[2].number, problem);
    case CALL_P3109:
        return fpemu_set_p3109(f, v[0].number, v[1].number, (v[2].number & 2) == 0, (v[2].number & 1) == 0, problem);
    case CALL_FLOAT:
        fpemu_set_float(f, to_unsigned(v[0].number), to_unsigned(v[1].number),
                        r->given & FPEMU_PARAMETER_BIAS ? to_signed(v[2].number) : FPEMU_BIAS_DEFAULT,
                        (uint32_t)v[3].number, r->given & FPEMU_PARAMETER_SIGNED ? (int)v[4].number : 1);
        return 1;
    case CALL_FIXED:
    case CALL_UFIXED:
        f->kind = FPEMU_KIND_FIXED;
        f->bits = to_unsigned(v[0].number);
        f->fraction_bits = to_signed(v[1].number);
        f->is_signed = c->kind == CALL_FIXED;
        return 1;
    case CALL_INT:
    case CALL_UINT:
        f->kind = FPEMU_KIND_INT;
        f->bits = to_unsigned(v[0].number);
        f->is_signed = c->kind == CALL_INT;
        f->scale = r->given & FPEMU_PARAMETER_SCALE ? v[1].decimal : 1;
        f->zero_point = v[2].number;
        return 1;
    case CALL_POSIT:
        f->kind = FPEMU_KIND_POSIT;
        f->bits = to_unsigned(v[0].number);
        f->exponent_bits = to_unsigned(v[1].number);
        return 1;
    case CALL_TABLE: *f = v[0].format; return 1;
    default: return fpemu_build_blocked(c, r, v, f, problem);
    }
}

/* ----------------------------------------------------------------------------------------------------- names */

static fpemu_name name_of(const char *text, size_t length)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++) {
        const char *word;
        for (unsigned i = 0; (word = fpemu_format_name((fpemu_name)name, i)) != NULL; i++)
            if (fpemu_word_is(text, length, word))
                return (fpemu_name)name;
    }
    return FPEMU_NAME_NONE;
}

/* eXmY[fn|fnuz]; the word from r->start to r->at begins with e and a digit. */
static int read_short(reader *r, fpemu_format *f)
{
    const size_t end = r->at;
    size_t at = r->start + 1;
    note_place(r, FPEMU_PARAMETER_EXPONENT, at);
    f->kind = FPEMU_KIND_FLOAT;
    f->exponent_bits = to_unsigned(take_digits(r, &at));
    if (at >= end || fpemu_lower(r->text[at]) != 'm')
        return fail(r, at, "'m' and the mantissa bits, as in e5m2");
    at++;
    if (at >= end || !fpemu_is_digit(r->text[at]))
        return fail(r, at, "the mantissa bits, as in e5m2");
    note_place(r, FPEMU_PARAMETER_MANTISSA, at);
    f->mantissa_bits = to_unsigned(take_digits(r, &at));
    note_place(r, FPEMU_PARAMETER_SPECIALS, at < end ? at : r->start);
    f->bias = FPEMU_BIAS_DEFAULT;
    f->is_signed = 1;
    const char *const suffix = r->text + at;
    const size_t length = end - at;
    if (fpemu_word_is(suffix, length, "fn"))
        f->specials = FPEMU_SPECIALS_FN;
    else if (fpemu_word_is(suffix, length, "fnuz"))
        f->specials = FPEMU_SPECIALS_FNUZ;
    else if (length)
        return fail(r, at, "fn, fnuz, ':' or the end");
    return 1;
}

/* Binary{K}p{P}{s|u}{e|f}, P3109's own names; 0 without an error if the word is none. */
static int read_p3109_name(reader *r, fpemu_format *f, int *good)
{
    const size_t end = r->at, prefix = r->start + strlen("binary");
    if (end <= prefix || !fpemu_word_is(r->text + r->start, prefix - r->start, "binary"))
        return 0;
    size_t at = prefix;
    const int64_t k = take_digits(r, &at);
    if (at == prefix || at + 1 >= end || fpemu_lower(r->text[at]) != 'p' || !fpemu_is_digit(r->text[at + 1]))
        return 0;
    note_place(r, FPEMU_PARAMETER_BITS, prefix);
    note_place(r, FPEMU_PARAMETER_MANTISSA, ++at);
    const int64_t p = take_digits(r, &at);
    int64_t domain;
    fpemu_problem problem;
    r->at = at;
    *good = take_choice(r, domain_names, "se, sf, ue or uf", &domain);
    if (*good && !fpemu_set_p3109(f, k, p, (domain & 2) == 0, (domain & 1) == 0, &problem))
        *good = fail_problem(r, &problem);
    return 1;
}

/* intN, uintN of any width; 0 if the word is none. */
static int read_integer_name(reader *r, fpemu_format *f)
{
    const char *const word = r->text + r->start;
    const size_t prefix = fpemu_lower(word[0]) == 'u' ? 4 : 3;
    size_t at = r->start + prefix;
    if (at >= r->at || !fpemu_word_is(word, prefix, prefix == 4 ? "uint" : "int"))
        return 0;
    note_place(r, FPEMU_PARAMETER_BITS, at);
    const int64_t bits = take_digits(r, &at);
    if (at != r->at)
        return 0;
    f->kind = FPEMU_KIND_INT;
    f->bits = to_unsigned(bits);
    f->is_signed = prefix == 3;
    f->scale = 1;
    return 1;
}

static const call *find_call(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (fpemu_word_is(word, length, calls[i].name))
            return &calls[i];
    return fpemu_find_block_call(word, length);
}

/* A word that is no format, or the name of one with arguments: what may have been meant. */
static int fail_near(reader *r, size_t length)
{
    const char *const word = r->text + r->start;
    near_list list = {.count = 0};
    char text[NEAR_SIZE];
    if (!*fpemu_near_width(word, length, r->nested, text)) {
        fpemu_near_names(&list, word, length, r->nested);
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            if (fpemu_is_near(word, length, calls[i].name))
                fpemu_near_add(&list, calls[i].name);
        fpemu_near_print(&list, text);
    }
    if (!*text)
        return fail(r, r->start, "a format, such as bf16, e4m3fn or fixed(8,4)");
    fpemu_spec_hint(r->error, r->text, r->length, r->start, text);
    return 0;
}

static int fail_call(reader *r, fpemu_name name)
{
    char call[NEAR_CALL_SIZE], text[FPEMU_SPEC_LENGTH + 1];
    fpemu_format f;
    skip_space(r);
    const size_t begin = r->at + 1;
    if (r->nested || !fpemu_near_call(name, r->text + begin, r->length - begin, call) ||
        fpemu_format_parse(call, &f, NULL) != FPEMU_OK || fpemu_format_print(&f, text, sizeof text) != FPEMU_OK ||
        strlen(text) >= NEAR_SIZE)
        return fail(r, r->at, "':' or the end after the name of a format");
    fpemu_spec_hint(r->error, r->text, r->length, r->start, text);
    return 0;
}

/* NAME, SHORT or CALL: the parameters, not yet checked. */
static int read_base(reader *r, fpemu_format *f)
{
    fpemu_problem problem;
    skip_space(r);
    r->start = r->at;
    const char *const word = r->text + r->start;
    const size_t length = take_word(r), end = r->at;
    if (length == 0)
        return fail(r, r->start, "a format, such as bf16, e4m3fn or fixed(8,4)");
    const int opens = take(r, '(');
    r->at = end;
    int good = 1;
    const fpemu_name name = name_of(word, length);
    if (!opens && name && fpemu_format_named(name, f) == FPEMU_OK)
        return !r->nested || !f->scaling || fail(r, r->start, "a format without blocks of its own");
    const call *const c = find_call(word, length);
    if (c) {
        value values[MAX_ARGUMENTS];
        memset(values, 0, sizeof values);
        if (r->nested && c->kind == CALL_BLOCKED)
            return fail(r, r->start, "a format without blocks of its own");
        if (!take_arguments(r, c, values))
            return 0;
        return build(c, r, values, f, &problem) ? 1 : fail_problem(r, &problem);
    }
    if (opens && name)
        return fail_call(r, name);
    if (fpemu_lower(word[0]) == 'e' && length > 1 && fpemu_is_digit(word[1]))
        return read_short(r, f);
    if (read_integer_name(r, f))
        return 1;
    if (read_p3109_name(r, f, &good))
        return good;
    return fail_near(r, length);
}

/* ------------------------------------------------------------------------------------------------- modifiers */

#define FOR_FLOAT (1u << FPEMU_KIND_FLOAT)
#define FOR_STEPS (1u << FPEMU_KIND_FIXED | 1u << FPEMU_KIND_INT)
#define FOR_ALL (FOR_FLOAT | FOR_STEPS | 1u << FPEMU_KIND_POSIT | 1u << FPEMU_KIND_CODEBOOK)

/* In the order of the canonical form. Of one parameter only one may be given. */
static const struct modifier {
    const char *word;
    uint32_t parameter, kinds;
    uint8_t value;
} modifiers[] = {
    {"saturate", FPEMU_PARAMETER_OVERFLOW, FOR_ALL, FPEMU_OVERFLOW_SATURATE},
    {"ieee", FPEMU_PARAMETER_OVERFLOW, FOR_ALL, FPEMU_OVERFLOW_IEEE},
    {"keepinf", FPEMU_PARAMETER_OVERFLOW, FOR_ALL, FPEMU_OVERFLOW_SATURATE_KEEP_INF},
    {"wrap", FPEMU_PARAMETER_WRAP, FOR_STEPS, 1},
    {"symmetric", FPEMU_PARAMETER_SYMMETRIC, FOR_STEPS, 1},
    {"nosub", FPEMU_PARAMETER_SUBNORMALS, FOR_FLOAT, FPEMU_SUBNORMALS_NONE},
    {"flushin", FPEMU_PARAMETER_SUBNORMALS, FOR_FLOAT, FPEMU_SUBNORMALS_FLUSH_IN},
    {"flushout", FPEMU_PARAMETER_SUBNORMALS, FOR_FLOAT, FPEMU_SUBNORMALS_FLUSH_OUT},
    {"nan", FPEMU_PARAMETER_NAN, FOR_ALL, 0},
};

/* In the order of fpemu_nan, from keep. */
static const char *const nan_names[] = {"keep", "max", "signmax", "zero", "error", NULL};

static uint8_t *modified_field(fpemu_format *f, uint32_t parameter)
{
    switch (parameter) {
    case FPEMU_PARAMETER_OVERFLOW: return &f->overflow;
    case FPEMU_PARAMETER_WRAP: return &f->wrap;
    case FPEMU_PARAMETER_SYMMETRIC: return &f->symmetric;
    case FPEMU_PARAMETER_SUBNORMALS: return &f->subnormals;
    default: return &f->nan;
    }
}

static int read_modifier(reader *r, fpemu_format *f)
{
    const size_t start = r->at, length = take_word(r);
    const char *const known = f->kind == FPEMU_KIND_FLOAT ? "saturate, ieee, keepinf, nosub, flushin, flushout or nan="
                              : !(FOR_STEPS >> f->kind & 1) ? "saturate, ieee, keepinf or nan="
                                                            : "saturate, ieee, keepinf, wrap, symmetric or nan=";
    const struct modifier *m = NULL;
    for (size_t i = 0; i < sizeof modifiers / sizeof modifiers[0]; i++)
        if (fpemu_word_is(r->text + start, length, modifiers[i].word))
            m = &modifiers[i];
    if (!m || !(m->kinds >> f->kind & 1))
        return fail(r, start, known);
    if (r->given & m->parameter)
        return fail(r, start,
                    m->parameter == FPEMU_PARAMETER_OVERFLOW     ? "one overflow policy at most"
                    : m->parameter == FPEMU_PARAMETER_SUBNORMALS ? "one reading of subnormals at most"
                                                                 : "each modifier once");
    note_place(r, m->parameter, start);
    if (m->parameter != FPEMU_PARAMETER_NAN) {
        *modified_field(f, m->parameter) = m->value;
        return 1;
    }
    int64_t choice;
    if (!take(r, '='))
        return fail(r, r->at, "'=' and keep, max, signmax, zero or error");
    if (!take_choice(r, nan_names, "keep, max, signmax, zero or error", &choice))
        return 0;
    f->nan = (uint8_t)(FPEMU_NAN_KEEP + choice);
    return 1;
}

static int read_format(reader *r, fpemu_format *f)
{
    fpemu_problem problem, other;
    fpemu_format base;
    if (!read_base(r, f))
        return 0;
    base = *f; /* what is wrong with the format itself is reported before its modifiers are read, */
    if (!fpemu_derive(&base, &problem)) {
        base = *f; /* but for a most negative value that `symmetric` may leave out */
        base.symmetric = base.is_signed;
        if (!fpemu_derive(&base, &other))
            return fail_problem(r, &problem);
    }
    while (take(r, ':'))
        if (!read_modifier(r, f))
            return 0;
    if (!r->nested && r->at < r->length)
        return fail(r, r->at, "':' or the end");
    return fpemu_derive(f, &problem) || fail_problem(r, &problem);
}

static int read_scalar(reader *r, fpemu_format *f)
{
    reader inner = {.text = r->text,
                    .length = r->length,
                    .at = r->at,
                    .nested = 1,
                    .read_scalar = r->read_scalar,
                    .error = r->error};
    memset(f, 0, sizeof *f);
    if (!read_format(&inner, f))
        return 0;
    r->at = inner.at;
    return 1;
}

static int read_spec(reader *r, fpemu_format *f)
{
    if (r->length > FPEMU_SPEC_LENGTH)
        return fail(r, FPEMU_SPEC_LENGTH, "at most 255 bytes");
    return read_format(r, f);
}

fpemu_status fpemu_format_parse(const char *spec, fpemu_format *format, fpemu_parse_error *error)
{
    if (error)
        memset(error, 0, sizeof *error);
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if (!spec)
        return FPEMU_ERROR_NULL;
    reader r = {.text = spec, .length = fpemu_spec_length(spec), .read_scalar = read_scalar, .error = error};
    if (read_spec(&r, format))
        return FPEMU_OK;
    memset(format, 0, sizeof *format);
    return FPEMU_ERROR_SPEC;
}

fpemu_status fpemu_format_named(fpemu_name name, fpemu_format *format)
{
    if (!format)
        return FPEMU_ERROR_NULL;
    memset(format, 0, sizeof *format);
    if ((uint32_t)name >= FPEMU_NAME_COUNT || name == FPEMU_NAME_NONE)
        return FPEMU_ERROR_ARGUMENT;
    const char *const spec = fpemu_named_spec(name);
    if (spec)
        return fpemu_format_parse(spec, format, NULL);
    return fpemu_named_scalar(name, format) ? FPEMU_OK : FPEMU_ERROR_FORMAT;
}

/* -------------------------------------------------------------------------------------------------- printing */

/* Finite floats with a sign print in Lee's notation, the P3109 family in its own, all others as float(...). */
static void write_float(writer *w, const fpemu_format *f)
{
    const uint32_t e = f->exponent_bits;
    const int has_default = e > 0, bias_is_default = has_default && f->bias == fpemu_default_bias(e, f->specials);
    if (f->specials == FPEMU_SPECIALS_FINITE && f->is_signed && e >= 1 && e <= 7) {
        write_number(w, "fp(", e);
        write_number(w, ",", f->mantissa_bits);
        write_number(w, ",", f->bias - fpemu_default_bias(e, f->specials));
    } else if ((f->specials == FPEMU_SPECIALS_P3109E || f->specials == FPEMU_SPECIALS_P3109F) && bias_is_default) {
        write_number(w, "p3109(", f->bits);
        write_number(w, ",", f->precision);
        write_text(w, ",");
        write_text(w, domain_names[(f->is_signed ? 0 : 2) | (f->specials == FPEMU_SPECIALS_P3109F)]);
    } else {
        write_number(w, "float(e=", e);
        write_number(w, ",m=", f->mantissa_bits);
        if (!bias_is_default)
            write_number(w, ",bias=", f->bias);
        if (f->specials != FPEMU_SPECIALS_IEEE) {
            write_text(w, ",specials=");
            write_text(w, specials_names[f->specials]);
        }
        if (!f->is_signed)
            write_text(w, ",signed=0");
    }
    write_text(w, ")");
}

static void write_call(writer *w, const fpemu_format *f)
{
    char scale[FPEMU_DECIMAL_SIZE];
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: write_float(w, f); return;
    case FPEMU_KIND_FIXED:
        write_number(w, f->is_signed ? "fixed(" : "ufixed(", f->bits);
        write_number(w, ",", f->fraction_bits);
        break;
    case FPEMU_KIND_INT:
        write_number(w, f->is_signed ? "int(" : "uint(", f->bits);
        fpemu_decimal_print(f->scale, scale);
        if (strcmp(scale, "1") != 0) {
            write_text(w, ",scale=");
            write_text(w, scale);
        }
        if (f->zero_point)
            write_number(w, ",zero=", f->zero_point);
        break;
    case FPEMU_KIND_CODEBOOK:
        write_text(w, "table(");
        fpemu_write_table(w, f);
        break;
    default:
        write_number(w, "posit(", f->bits);
        write_number(w, ",", f->exponent_bits);
        break;
    }
    write_text(w, ")");
}

/* Those in which a format differs from what was said of it. */
static void write_modifiers(writer *w, fpemu_format *f, fpemu_format *said)
{
    for (size_t i = 0; i < sizeof modifiers / sizeof modifiers[0]; i++) {
        const struct modifier *m = &modifiers[i];
        const uint8_t field = *modified_field(f, m->parameter);
        if (field == *modified_field(said, m->parameter))
            continue;
        if (m->parameter == FPEMU_PARAMETER_NAN) {
            write_text(w, ":nan=");
            write_text(w, nan_names[field - FPEMU_NAN_KEEP]);
        } else if (field == m->value) {
            write_text(w, ":");
            write_text(w, m->word);
        }
    }
}

/* A format of the table that only needs modifiers to be f; 0 if there is none. */
static int find_named(const fpemu_format *f, fpemu_format *named)
{
    for (int name = FPEMU_NAME_NONE + 1; name < FPEMU_NAME_COUNT; name++)
        if ((fpemu_named_spec((fpemu_name)name) != NULL) == (f->scaling != FPEMU_SCALING_NONE) &&
            fpemu_format_named((fpemu_name)name, named) == FPEMU_OK && fpemu_same_base(f, named) &&
            named->symmetric <= f->symmetric)
            return name;
    return FPEMU_NAME_NONE;
}

static void write_format(writer *w, const fpemu_format *format)
{
    fpemu_format f = *format, said = {0};
    const int name = find_named(&f, &said);
    if (name) {
        write_text(w, fpemu_format_name((fpemu_name)name, 0));
    } else if (f.scaling) {
        fpemu_write_blocked(w, &f, &said);
    } else {
        write_call(w, &f);
        said = (fpemu_format){.overflow = FPEMU_OVERFLOW_IEEE, .nan = FPEMU_NAN_KEEP};
    }
    write_modifiers(w, &f, &said);
}

fpemu_status fpemu_format_print(const fpemu_format *format, char *text, size_t capacity)
{
    if (text && capacity > 0)
        text[0] = '\0';
    if (!format || !text)
        return FPEMU_ERROR_NULL;
    fpemu_problem problem;
    fpemu_format f = *format;
    if (!fpemu_derive(&f, &problem))
        return FPEMU_ERROR_FORMAT;
    if (f.kind == FPEMU_KIND_CODEBOOK && fpemu_has_own_table(&f))
        return FPEMU_ERROR_UNSUPPORTED;
    writer w = {.write_format = write_format};
    write_format(&w, &f);
    if (w.length >= capacity)
        return FPEMU_ERROR_BUFFER;
    memcpy(text, w.text, w.length + 1);
    return FPEMU_OK;
}
