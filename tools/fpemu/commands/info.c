/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c - fpemu info: everything about one format. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "files/file.h"
#include "reports/contents.h"
#include "reports/describe.h"
#include "reports/jsonout.h"
#include "reports/uses.h"

static const char help[] =
    "Usage: fpemu info SPEC [--values] [--json]\n"
    "       fpemu info FILE [--json]\n"
    "Prints the properties of the format SPEC; with --values instead every code and its value, one\n"
    "a line, as '0x7e 448', for formats of up to 16 bits. Of a format with scales, the values are\n"
    "those of its elements. Of a file of tensors, or a directory of them, lists what it holds; a\n"
    "name that is also a SPEC is the format, and ./NAME the file. '-' is standard input.\n"
    "\n"
    "      --values          every code and its value\n"
    "      --json            as JSON; with --values, 'value_list' is added. A key without meaning\n"
    "                        for the format is null; infinities and NaN are strings\n"
    "\n"
    "Example: fpemu info e4m3fn --json\n";

static const struct option options[] = {
    {"values", no_argument, NULL, CLI_OPT_VALUES}, {"json", no_argument, NULL, CLI_OPT_JSON}, CLI_HELP_LONG, {0}};

enum { WIDEST_LISTED = 16 };

/* The value of every code, in the order of codes. */
static double *decode_all(const fpemu_format *given, const char *spec)
{
    fpemu_format element, *format = &element;
    cli_check(fpemu_format_element(given, &element), spec);
    const size_t count = (size_t)1 << format->bits, size = fpemu_format_code_size(format);
    double *values = cli_allocate(count, sizeof *values);
    void *codes = cli_allocate(count, size);
    for (size_t i = 0; i < count; i++)
        number_store_code(codes, size, i, i);
    cli_check(fpemu_decode_f64(format, count, codes, values), spec);
    free(codes);
    return values;
}

static void print_values(const fpemu_format *format, const double *values)
{
    for (size_t i = 0; i < (size_t)1 << format->bits; i++) {
        char code[NUMBER_SIZE], value[NUMBER_SIZE];
        printf("%s %s\n", number_print_code(code, i, format->bits), number_print(value, values[i]));
    }
}

static json_t *json_values(const fpemu_format *format, const double *values)
{
    json_t *list = jsonout_array();
    for (size_t i = 0; i < (size_t)1 << format->bits; i++) {
        json_t *entry = jsonout_object();
        jsonout_set(entry, "code", jsonout_count(i));
        jsonout_set(entry, "value", jsonout_real(values[i]));
        jsonout_append(list, entry);
    }
    return list;
}

static void print_number(const char *key, double value, bool meaningful)
{
    char text[NUMBER_SIZE];
    printf("%-16s %s\n", key, meaningful ? number_print(text, value) : "-");
}

static void print_text(const char *key, const char *text)
{
    printf("%-16s %s\n", key, text != NULL ? text : "-");
}

static void print_whole(const char *key, int64_t value)
{
    printf("%-16s %" PRId64 "\n", key, value);
}

/* "448 (code 0x7e)" */
static void print_end(const char *key, double value, uint64_t code, unsigned bits)
{
    char number[NUMBER_SIZE], pattern[NUMBER_SIZE];
    printf("%-16s %s (code %s)\n", key, number_print(number, value), number_print_code(pattern, code, bits));
}

static void print_layout(const fpemu_format *format)
{
    switch (format->kind) {
    case FPEMU_KIND_FLOAT:
        print_whole("exponent bits", format->exponent_bits);
        print_whole("mantissa bits", format->mantissa_bits);
        print_whole("bias", format->bias);
        if (describe_has_normals(format))
            printf("%-16s 2^%" PRId32 " to 2^%" PRId32 "\n", "normal binades", format->emin, format->emax);
        print_text("special values", describe_special_rule(format));
        print_text("subnormals", describe_subnormals(format));
        break;
    case FPEMU_KIND_FIXED: print_whole("fraction bits", format->fraction_bits); break;
    case FPEMU_KIND_INT:
        print_number("scale", format->scale, true);
        print_whole("zero point", format->zero_point);
        break;
    case FPEMU_KIND_CODEBOOK: break;
    default: print_whole("exponent bits", format->exponent_bits); break;
    }
}

/* What a blocked format has beside its element; the lines that follow are the element's. */
static void print_blocks(const fpemu_format *format)
{
    char text[CLI_SPEC_SIZE], block[DESCRIBE_SIZE];
    print_text("element", describe_element(text, format));
    print_text("block", describe_block(block, format));
    print_text("scale", describe_scale(text, format));
    print_text("scale rule", describe_rule(format));
    if (format->margin != 0)
        print_whole("margin", format->margin);
    if (format->target > 0)
        print_number("target", (double)format->target, true);
    if (format->bound > 0)
        print_number("bound", (double)format->bound, true);
    if (format->outer)
        print_text("outer", "row");
    if (format->correct)
        print_whole("correct", format->correct * (int64_t)format->block_length);
    if (describe_search(text, format))
        print_text("search", text);
    print_number("bits per element", fpemu_format_bits_per_element(format), true);
}

static void print_properties(const fpemu_format *format)
{
    char spec[CLI_SPEC_SIZE], specials[DESCRIBE_SIZE];
    const bool fixed_or_int = format->kind == FPEMU_KIND_FIXED || format->kind == FPEMU_KIND_INT;
    const double epsilon = fpemu_format_epsilon(format), min_positive = fpemu_format_min_positive(format);
    print_text("format", cli_spec(format, spec));
    if (uses_of_format(format) != NULL)
        print_text("for", uses_of_format(format));
    if (format->scaling != FPEMU_SCALING_NONE)
        print_blocks(format);
    print_text("kind", describe_kind(format));
    printf("%-16s %" PRIu32 "%s\n", "bits", format->bits, format->is_signed ? ", signed" : ", unsigned");
    print_layout(format);
    print_end("largest", fpemu_format_max(format), format->max_code, format->bits);
    print_end("lowest", fpemu_format_lowest(format), format->lowest_code, format->bits);
    print_number("smallest normal", fpemu_format_min_normal(format), describe_has_normals(format));
    print_number("smallest > 0", min_positive, min_positive > 0);
    print_number("epsilon", epsilon, epsilon > 0);
    printf("%-16s %" PRIu64 "\n", "finite values", fpemu_format_value_count(format));
    print_text("specials", describe_specials(specials, format));
    print_text("on overflow", format->scaling != FPEMU_SCALING_NONE ? "saturate"
                              : fixed_or_int && format->wrap        ? "wrap"
                                                                    : cli_overflow_name(format->overflow));
    print_text("on NaN", cli_nan_name(format->nan));
    print_text("held by", fpemu_format_fits_f32(format)   ? "binary32, binary64"
                          : fpemu_format_fits_f64(format) ? "binary64"
                                                          : "neither binary32 nor binary64");
}

/* Standard input, or a file that is there, and no spec. */
static bool names_a_file(const char *operand)
{
    fpemu_format format;
    struct stat status;
    return fpemu_format_parse(operand, &format, NULL) != FPEMU_OK &&
           (strcmp(operand, "-") == 0 || stat(operand, &status) == 0);
}

static void list_file(const char *path, bool json)
{
    const model_kind named = model_kind_of_name(path);
    file_options options = {.kind = named == MODEL_CONTAINER ? named : MODEL_PACKED};
    file f = file_open(path, &options);
    if (json)
        contents_print_json(&f);
    else
        contents_print(&f);
    file_close(&f);
}

int cmd_info(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    bool json = false, with_values = false;
    for (int option; (option = cli_next(&c, "", options)) != -1;) {
        json |= option == CLI_OPT_JSON;
        with_values |= option == CLI_OPT_VALUES;
    }
    cli_expect_operands(&c, 1, 1, "SPEC");
    const char *spec = c.operand[0];
    if (names_a_file(spec)) {
        if (with_values)
            cli_usage("info: --values lists the values of a format, and '%s' is a file", spec);
        list_file(spec, json);
        return CLI_OK;
    }
    const fpemu_format format = cli_format(spec);
    if (with_values && format.bits > WIDEST_LISTED) {
        cli_usage("info: --values lists formats of up to %d bits; %s has %u", WIDEST_LISTED, spec,
                  (unsigned)format.bits);
    }

    double *values = with_values ? decode_all(&format, spec) : NULL;
    if (json) {
        json_t *object = jsonout_object();
        jsonout_set(object, "for",
                    uses_of_format(&format) != NULL ? jsonout_text(uses_of_format(&format)) : json_null());
        describe_json(object, &format);
        if (with_values)
            jsonout_set(object, "value_list", json_values(&format, values));
        jsonout_print(object);
    } else if (with_values) {
        print_values(&format, values);
    } else {
        print_properties(&format);
    }
    free(values);
    return CLI_OK;
}
