/* SPDX-License-Identifier: BSD-2-Clause */
/* spec.c - see spec.h */
#include "cli/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/error.h"
#include "common/outputs.h"
#include "common/shown.h"
#include "files/number_table.h"

/* A table of a file, "file=PATH" or "codes=PATH" in a spec, takes the place of a built-in one while the library reads or
 * prints it. */
static const char file_mark[] = "file=", codes_mark[] = "codes=", stand_in[] = "dynamic8";

typedef struct table {
    struct table *next;
    float *values;
    bool codes;
    char name[CLI_SPEC_SIZE]; /* "file=PATH" or "codes=PATH" */
} table;
static table *tables; /* those that were read; they stay, for formats borrow their values */

static const char *path_of(const table *t)
{
    return t->name + strlen(t->codes ? codes_mark : file_mark);
}

static uint32_t read_values(const table *t, float *values, uint32_t most)
{
    const char *path = path_of(t);
    FILE *file = fopen(path, "r");
    uint32_t count;
    trouble why;
    if (file == NULL)
        cli_fail("%s: %s", path, strerror(errno));
    if (!number_table_read(file, path, t->codes, most, values, &count, &why))
        cli_fail("%s", why.text);
    fclose(file);
    return count;
}

/* The element of *format, read with a table that stood in for it, becomes that of the file. */
static void set_table(fpemu_format *format, table *t, const char *spec)
{
    enum { MOST = 65536 };
    fpemu_format element, scale, blocked;
    if (format->kind != FPEMU_KIND_CODEBOOK)
        cli_usage("format '%s': %s is for codebook(%sPATH,...) and table(%sPATH)", spec, t->name, file_mark, file_mark);
    float *values = cli_allocate(MOST, sizeof *values);
    const uint32_t count = read_values(t, values, MOST);
    t->values = values;
    if (t->codes) {
        t->values = cli_allocate(FPEMU_CODES_MEMORY(count), sizeof *values);
        if (fpemu_format_codes(&element, count, values, t->values) != FPEMU_OK)
            cli_usage("format '%s': codes need two finite values, +0 beside -0, infinities of both signs as values are",
                      spec);
        free(values);
    } else {
        cli_check(fpemu_format_table(&element, count, values), spec);
    }
    element.overflow = format->overflow;
    element.nan = format->nan;
    cli_check(fpemu_format_complete(&element), spec);
    if (format->scaling != FPEMU_SCALING_NONE) {
        const bool has_scale = fpemu_format_scale(format, &scale) == FPEMU_OK;
        cli_check(fpemu_format_blocked(&blocked, &element, (fpemu_scaling)format->scaling, has_scale ? &scale : NULL,
                                       format->scale_exponent_bits, (fpemu_block)format->block, format->block_rows,
                                       format->block_length),
                  spec);
        blocked.margin = format->margin;
        blocked.target = format->target;
        blocked.bound = format->bound;
        blocked.outer = format->outer;
        blocked.search_first = format->search_first;
        blocked.search_last = format->search_last;
        blocked.search_grid = format->search_grid;
        blocked.search_error = format->search_error;
        blocked.correct = format->correct;
        cli_check(fpemu_format_complete(&blocked), spec);
        element = blocked;
    }
    *format = element;
}

/* "codebook(file=PATH,64)" with the stand-in, and the table it names; NULL where there is none. */
static table *take_table(const char *spec, char text[CLI_SPEC_SIZE])
{
    const char *of_file = strstr(spec, file_mark), *of_codes = strstr(spec, codes_mark);
    const bool codes = of_codes != NULL && (of_file == NULL || of_codes < of_file);
    const char *begin = codes ? of_codes : of_file;
    if (begin == NULL)
        return NULL;
    const size_t before = (size_t)(begin - spec), length = strcspn(begin, ",():");
    const char *after = begin + length;
    if (length == strlen(codes ? codes_mark : file_mark) || before + sizeof stand_in + strlen(after) > CLI_SPEC_SIZE ||
        length >= CLI_SPEC_SIZE) {
        cli_usage("format '%s': %sPATH needs the name of a file, without commas, colons and parentheses", spec,
                  file_mark);
    }
    table *t = cli_allocate(1, sizeof *t);
    memcpy(t->name, begin, length);
    t->codes = codes;
    snprintf(text, CLI_SPEC_SIZE, "%.*s%s%s", (int)before, spec, stand_in, after);
    return t;
}

/* Where in the spec stands what is at `position` of its text with the stand-in for the file. */
static size_t place_in_spec(const char *spec, const table *t, size_t position)
{
    const size_t begin = (size_t)(strstr(spec, t->name) - spec), end = begin + strlen(stand_in);
    return position < end ? (position < begin ? position : begin) : position - strlen(stand_in) + strlen(t->name);
}

/* Why a block type of ggml is no format here; NULL: it is none of those. */
static const char *why_not(const char *spec)
{
    static const char sum[] = "keeps the sum of each block, for products, beside the scale of q8_0";
    static const char other_search[] = "finds its scales, in super-blocks of 256, as no rule here does";
    static const char search[] = "finds its scales by a search over a table, and rules here are formulas";
    static const struct {
        const char *name, *why;
    } words[] = {{"q8_1", sum},          {"q2_k", other_search}, {"q3_k", other_search},
                 {"q8_k", other_search}, {"iq4_nl", search},     {"iq4_xs", search}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].name);
        if (strncasecmp(spec, words[i].name, length) == 0 && (spec[length] == '\0' || spec[length] == '_'))
            return words[i].why;
    }
    return NULL;
}

/* SPEC and file in the wrong order, or a glob that the shell made files of. */
static void refuse_file(const char *spec)
{
    char cut[SHOWN_SIZE];
    if (access(spec, F_OK) == 0)
        cli_usage("'%s' is a file, and a format is expected in its place: are the two swapped?", shown(spec, 0, cut));
}

fpemu_format cli_format(const char *spec)
{
    fpemu_format format;
    fpemu_parse_error error;
    char text[CLI_SPEC_SIZE], cut[SHOWN_SIZE];
    table *t = take_table(spec, text);
    if (t != NULL) { /* kept to the end, whatever comes */
        t->next = tables;
        tables = t;
    }
    const fpemu_status status = fpemu_format_parse(t != NULL ? text : spec, &format, &error);
    if (status == FPEMU_ERROR_SPEC && why_not(spec) != NULL)
        cli_usage("format '%s': ggml's, which is read from GGUF files, %s", spec, why_not(spec));
    if (status == FPEMU_ERROR_SPEC) {
        refuse_file(spec);
        const size_t at = t != NULL ? place_in_spec(spec, t, error.position) : error.position;
        cli_usage("format '%s', character %zu: %s", shown(spec, at, cut), at + 1, error.message);
    }
    if (status != FPEMU_OK)
        cli_usage("format '%s': %s", shown(spec, 0, cut), fpemu_status_text(status));
    if (t != NULL)
        set_table(&format, t, spec);
    return format;
}

static const table *table_of(const fpemu_format *format)
{
    const table *t = format->kind == FPEMU_KIND_CODEBOOK ? tables : NULL;
    while (t != NULL && t->values != format->table)
        t = t->next;
    return t;
}

bool cli_from_file(const fpemu_format *format)
{
    return table_of(format) != NULL;
}

void cli_refuse_tables(const char *option, const char *path)
{
    for (const table *t = tables; t != NULL; t = t->next)
        if (path != NULL && same_target(path, path_of(t)))
            cli_usage("%s: '%s' is a table that is read: one of them would be lost", option, path);
}

const char *cli_spec(const fpemu_format *format, char text[CLI_SPEC_SIZE])
{
    const table *t = table_of(format);
    fpemu_format printed = *format;
    if (t != NULL) {
        printed.codebook = FPEMU_CODEBOOK_DYNAMIC;
        printed.bits = 8;
        printed.codebook_length = 256;
        printed.table_word = 0;
        cli_check(fpemu_format_complete(&printed), "format");
    }
    cli_check(fpemu_format_print(&printed, text, CLI_SPEC_SIZE), "format");
    char *place = t != NULL ? strstr(text, stand_in) : NULL;
    if (place != NULL) {
        char tail[CLI_SPEC_SIZE];
        snprintf(tail, sizeof tail, "%s", place + strlen(stand_in));
        snprintf(place, CLI_SPEC_SIZE - (size_t)(place - text), "%s%s", t->name, tail);
    }
    return text;
}
