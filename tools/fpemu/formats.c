/* formats.c - fpemu formats: the table of named formats. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "describe.h"
#include "jsonout.h"
#include "number.h"

static const char help[] =
    "Usage: fpemu formats [--json]\n"
    "Lists the named formats: bits, largest value, smallest normal and subnormal values, epsilon\n"
    "(the step at 1), and which special values there are. '-' where a notion has no meaning.\n"
    "\n"
    "      --json            as JSON, with the other names of each format\n";

static const struct option options[] = {{"json", no_argument, NULL, CLI_OPT_JSON}, CLI_HELP_LONG, {0}};

static const char *number_or_dash(char text[NUMBER_SIZE], double value, bool meaningful)
{
    return meaningful ? number_print(text, value) : "-";
}

static void print_row(const char *name, const fpemu_format *format)
{
    char max[NUMBER_SIZE], normal[NUMBER_SIZE], subnormal[NUMBER_SIZE], epsilon[NUMBER_SIZE], special[DESCRIBE_SIZE];
    printf("%-14s %4" PRIu32 "  %-22s  %-22s  %-22s  %-22s  %s\n", name, format->bits,
           number_print(max, fpemu_max(format)),
           number_or_dash(normal, fpemu_min_normal(format), describe_has_normals(format)),
           number_or_dash(subnormal, fpemu_min_positive(format), describe_has_subnormals(format)),
           number_or_dash(epsilon, fpemu_epsilon(format), fpemu_epsilon(format) > 0),
           describe_specials(special, format));
}

static json_t *json_row(fpemu_name name, const fpemu_format *format)
{
    json_t *row = jsonout_object();
    json_t *names = jsonout_array();
    const char *alias;
    for (unsigned i = 1; (alias = fpemu_name_text(name, i)) != NULL; i++) {
        jsonout_append(names, jsonout_text(alias));
    }
    jsonout_set(row, "name", jsonout_text(fpemu_name_text(name, 0)));
    jsonout_set(row, "aliases", names);
    describe_json(row, format);
    return row;
}

int cmd_formats(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    bool json = false;
    for (int option; (option = cli_next(&c, "", options)) != -1;) {
        json |= option == CLI_OPT_JSON;
    }
    cli_expect_operands(&c, 0, 0, "no argument");

    json_t *rows = json ? jsonout_array() : NULL;
    if (!json) {
        printf("%-14s %4s  %-22s  %-22s  %-22s  %-22s  %s\n", "name", "bits", "largest", "smallest-normal",
               "smallest-subnormal", "epsilon", "specials");
    }
    for (int name = 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format format;
        const char *text = fpemu_name_text((fpemu_name)name, 0);
        cli_check(fpemu_named((fpemu_name)name, &format), text);
        if (json) {
            jsonout_append(rows, json_row((fpemu_name)name, &format));
        } else {
            print_row(text, &format);
        }
    }
    if (json) {
        jsonout_print(rows);
    }
    return CLI_OK;
}
