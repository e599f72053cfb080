/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c - fpemu formats: the table of named formats. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "reports/describe.h"
#include "reports/jsonout.h"
#include "reports/uses.h"

static const char help[] =
    "Usage: fpemu formats [--json]\n"
    "Lists the named formats: bits, largest value, smallest normal and subnormal values, epsilon\n"
    "(the step at 1), and which special values there are; then those with scales: bits an element,\n"
    "element, block, scale format, scale rule. '-' where a notion has no meaning. At the end of\n"
    "each line: what the format is for.\n"
    "\n"
    "      --json            as JSON, with the other names of each format\n";

static const struct option options[] = {{"json", no_argument, NULL, CLI_OPT_JSON}, CLI_HELP_LONG, {0}};

static const char *number_or_dash(char text[NUMBER_SIZE], double value, bool meaningful)
{
    return meaningful ? number_print(text, value) : "-";
}

static void print_row(const char *name, const fpemu_format *format, const char *use)
{
    char max[NUMBER_SIZE], normal[NUMBER_SIZE], subnormal[NUMBER_SIZE], epsilon[NUMBER_SIZE], special[DESCRIBE_SIZE];
    printf("%-14s %4" PRIu32 "  %-22s  %-22s  %-22s  %-22s  %-18s  %s\n", name, format->bits,
           number_print(max, fpemu_format_max(format)),
           number_or_dash(normal, fpemu_format_min_normal(format), describe_has_normals(format)),
           number_or_dash(subnormal, fpemu_format_min_positive(format), describe_has_subnormals(format)),
           number_or_dash(epsilon, fpemu_format_epsilon(format), fpemu_format_epsilon(format) > 0),
           describe_specials(special, format), use);
}

static void print_blocked_row(const char *name, const fpemu_format *format, const char *use)
{
    char bits[NUMBER_SIZE], element[CLI_SPEC_SIZE], scale[CLI_SPEC_SIZE], block[DESCRIBE_SIZE];
    const char *const scale_text = describe_scale(scale, format);
    printf("%-14s %8s  %-22s  %-8s  %-22s  %-8s  %s\n", name, number_print(bits, fpemu_format_bits_per_element(format)),
           describe_element(element, format), describe_block(block, format), scale_text != NULL ? scale_text : "-",
           describe_rule(format), use);
}

/* The rows of the formats without scales, or of those with. */
static void print_table(bool blocked)
{
    for (int name = 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format format;
        const char *text = fpemu_format_name((fpemu_name)name, 0);
        cli_check(fpemu_format_named((fpemu_name)name, &format), text);
        if ((format.scaling != FPEMU_SCALING_NONE) != blocked)
            continue;
        const char *use = uses_of((fpemu_name)name);
        (blocked ? print_blocked_row : print_row)(text, &format, use != NULL ? use : "-");
    }
}

static json_t *json_row(fpemu_name name, const fpemu_format *format)
{
    json_t *row = jsonout_object();
    json_t *names = jsonout_array();
    const char *alias;
    for (unsigned i = 1; (alias = fpemu_format_name(name, i)) != NULL; i++)
        jsonout_append(names, jsonout_text(alias));
    jsonout_set(row, "name", jsonout_text(fpemu_format_name(name, 0)));
    jsonout_set(row, "aliases", names);
    jsonout_set(row, "for", uses_of(name) != NULL ? jsonout_text(uses_of(name)) : json_null());
    describe_json(row, format);
    return row;
}

int cmd_formats(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    bool json = false;
    for (int option; (option = cli_next(&c, "", options)) != -1;)
        json |= option == CLI_OPT_JSON;
    cli_expect_operands(&c, 0, 0, "no argument");

    if (!json) {
        printf("%-14s %4s  %-22s  %-22s  %-22s  %-22s  %-18s  %s\n", "name", "bits", "largest", "smallest-normal",
               "smallest-subnormal", "epsilon", "specials", "for");
        print_table(false);
        printf("\n%-14s %8s  %-22s  %-8s  %-22s  %-8s  %s\n", "name", "bits/el.", "element", "block", "scale", "rule",
               "for");
        print_table(true);
        return CLI_OK;
    }
    json_t *rows = jsonout_array();
    for (int name = 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format format;
        cli_check(fpemu_format_named((fpemu_name)name, &format), fpemu_format_name((fpemu_name)name, 0));
        jsonout_append(rows, json_row((fpemu_name)name, &format));
    }
    jsonout_print(rows);
    return CLI_OK;
}
