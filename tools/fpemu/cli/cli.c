/* cli.c - see cli.h. Every error ends the program here, in one place and one shape. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/progress.h"

/* -------------------------------------------------------------------------------------------------- errors */

static void print_error(const char *format, va_list arguments)
{
    char line[1024];
    vsnprintf(line, sizeof line, format, arguments);
    for (char *c = line; *c != '\0'; c++) {
        if (*c < 0x20 || *c > 0x7e) {
            *c = '?';
        }
    }
    progress_hide();
    fprintf(stderr, "fpemu: %s\n", line);
}

void cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    exit(CLI_USAGE);
}

void cli_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    exit(CLI_FAILURE);
}

void cli_check(fpemu_status status, const char *what)
{
    if (status == FPEMU_ERROR_NAN) {
        cli_fail("%s: a NaN came, and the NaN policy is 'error'", what);
    }
    if (status != FPEMU_OK) {
        cli_fail("%s: %s", what, fpemu_status_text(status));
    }
}

void cli_check_carrier(const fpemu_format *format, bool binary64, const char *spec, const char *remedy)
{
    if (!binary64 && !fpemu_format_fits_f32(format) && fpemu_format_fits_f64(format)) {
        cli_fail("%s: binary32 cannot hold every value of the format, binary64 can: %s", spec, remedy);
    }
}

void *cli_allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        cli_fail("out of memory");
    }
    return memory;
}

void cli_finish_stdout(void)
{
    const bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0 || failed_before) {
        const char *reason = errno != 0 ? strerror(errno) : "write error";
        fclose(stdout); /* so that the end of the program does not try once more */
        cli_fail("standard output: %s", reason);
    }
}

/* ------------------------------------------------------------------------------------------------- options */

cli cli_start(int argc, char **argv, const char *help)
{
    opterr = 0;
    optind = 1;
    return (cli){.argc = argc, .argv = argv, .help = help, .operand = argv + 1};
}

static bool is_negative_number(const char *text)
{
    double value;
    return text[0] == '-' && number_read_f64(text, &value);
}

/* An operand moves to a place of argv that the walk has passed already. */
int cli_next(cli *c, const char *shorts, const struct option *longs)
{
    char letters[64];
    snprintf(letters, sizeof letters, "-:h%s", shorts); /* '-': operands come as option 1, wherever they stand */
    for (;;) {
        if (optind < c->argc && is_negative_number(c->argv[optind])) {
            c->operand[c->operands++] = c->argv[optind++];
            continue;
        }
        const int before = optind;
        const int option = getopt_long(c->argc, c->argv, letters, longs, NULL);
        switch (option) {
        case 1: c->operand[c->operands++] = optarg; break;
        case -1:
            while (optind < c->argc) {
                c->operand[c->operands++] = c->argv[optind++];
            }
            return -1;
        case 'h':
            fputs(c->help, stdout);
            cli_finish_stdout();
            exit(CLI_OK);
        case ':': cli_usage("%s: option '%s' needs an argument", c->argv[0], c->argv[before]);
        case '?':
            if (optopt > 0 && optopt < 256 && strncmp(c->argv[before], "--", 2) != 0) {
                cli_usage("%s: unknown option '-%c'; see 'fpemu %s --help'", c->argv[0], optopt, c->argv[0]);
            }
            cli_usage("%s: option '%s' is unknown, ambiguous or takes no argument; see 'fpemu %s --help'", c->argv[0],
                      c->argv[before], c->argv[0]);
        default: return option;
        }
    }
}

void cli_expect_operands(const cli *c, int least, int most, const char *names)
{
    if (c->operands < least) {
        cli_usage("%s: expected %s; see 'fpemu %s --help'", c->argv[0], names, c->argv[0]);
    }
    if (most >= 0 && c->operands > most) {
        cli_usage("%s: unexpected argument '%s'; see 'fpemu %s --help'", c->argv[0], c->operand[most], c->argv[0]);
    }
}

bool cli_read_u64(const char *text, uint64_t *value)
{
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    const char *known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    if (*digits == '\0' || digits[strspn(digits, known)] != '\0') {
        return false;
    }
    errno = 0;
    const unsigned long long number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    if (errno != 0 || number > UINT64_MAX) {
        return false;
    }
    *value = number;
    return true;
}

uint64_t cli_option_u64(const char *option, const char *argument, uint64_t least, uint64_t most)
{
    uint64_t value;
    if (!cli_read_u64(argument, &value) || value < least || value > most) {
        cli_usage("%s: '%s' is not a whole number from %llu to %llu", option, argument, (unsigned long long)least,
                  (unsigned long long)most);
    }
    return value;
}

/* ---------------------------------------------------------------------------------------------- roundings */

typedef struct word {
    const char *text;
    uint8_t value;
} word;

/* The first word of a value is the one that is printed. */
static const word overflow_words[] = {{"format", FPEMU_OVERFLOW_FROM_FORMAT},
                                      {"ieee", FPEMU_OVERFLOW_IEEE},
                                      {"saturate", FPEMU_OVERFLOW_SATURATE},
                                      {"saturate-keep-inf", FPEMU_OVERFLOW_SATURATE_KEEP_INF},
                                      {"keepinf", FPEMU_OVERFLOW_SATURATE_KEEP_INF},
                                      {NULL, 0}};
static const word nan_words[] = {{"format", FPEMU_NAN_FROM_FORMAT},
                                 {"keep", FPEMU_NAN_KEEP},
                                 {"max", FPEMU_NAN_MAX},
                                 {"signmax", FPEMU_NAN_SIGNMAX},
                                 {"zero", FPEMU_NAN_ZERO},
                                 {"error", FPEMU_NAN_ERROR},
                                 {NULL, 0}};
static const word variant_words[] = {{"a", FPEMU_SR_VARIANT_A}, {"b", FPEMU_SR_VARIANT_B}, {"c", FPEMU_SR_VARIANT_C}, {NULL, 0}};
static const word generator_words[] = {{"hash", FPEMU_GENERATOR_HASH}, {"philox", FPEMU_GENERATOR_PHILOX}, {NULL, 0}};
static const word compat_words[] = {{"none", FPEMU_COMPAT_NONE},
                                    {"qpytorch", FPEMU_COMPAT_QPYTORCH},
                                    {"lee-inf", FPEMU_COMPAT_LEE_INF},
                                    {"cpfloat", FPEMU_COMPAT_CPFLOAT},
                                    {"ml-dtypes", FPEMU_COMPAT_ML_DTYPES},
                                    {"cuda", FPEMU_COMPAT_CUDA},
                                    {"pytorch-multiply", FPEMU_COMPAT_PYTORCH_MULTIPLY},
                                    {"pytorch-divide", FPEMU_COMPAT_PYTORCH_DIVIDE},
                                    {NULL, 0}};

static uint8_t read_word(const char *option, const word *words, const char *text)
{
    char known[128] = "";
    for (const word *w = words; w->text != NULL; w++) {
        if (strcmp(w->text, text) == 0) {
            return w->value;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", w->text);
    }
    cli_usage("%s: '%s' is none of:%s", option, text, known);
}

static const char *word_of(const word *words, unsigned value)
{
    while (words->text != NULL && words->value != value) {
        words++;
    }
    return words->text;
}

const char *cli_overflow_name(unsigned overflow)
{
    return word_of(overflow_words, overflow);
}

const char *cli_nan_name(unsigned nan)
{
    return word_of(nan_words, nan);
}

const char *cli_variant_name(unsigned variant)
{
    return word_of(variant_words, variant);
}

const char *cli_generator_name(unsigned generator)
{
    return word_of(generator_words, generator);
}

const char *cli_compat_name(unsigned compat)
{
    return word_of(compat_words, compat);
}

bool cli_rounding_take(cli_rounding *rounding, int option, const char *argument)
{
    switch (option) {
    case 'r': rounding->mode = argument; return true;
    case CLI_OPT_OVERFLOW:
        rounding->fields.overflow = read_word("--overflow", overflow_words, argument);
        rounding->has_overflow = true;
        return true;
    case CLI_OPT_NAN:
        rounding->fields.nan = read_word("--nan", nan_words, argument);
        rounding->has_nan = true;
        return true;
    case CLI_OPT_BITS: rounding->fields.bits = (uint8_t)cli_option_u64("--bits", argument, 1, 32); return true;
    case CLI_OPT_VARIANT: rounding->fields.variant = read_word("--variant", variant_words, argument); return true;
    case CLI_OPT_GENERATOR:
        rounding->fields.generator = read_word("--generator", generator_words, argument);
        return true;
    case CLI_OPT_SEED: rounding->fields.seed = cli_option_u64("--seed", argument, 0, UINT64_MAX); return true;
    case CLI_OPT_STREAM: rounding->fields.stream = cli_option_u64("--stream", argument, 0, UINT64_MAX); return true;
    default: return false;
    }
}

fpemu_rounding cli_rounding_get(const cli_rounding *rounding)
{
    fpemu_rounding result = rounding->fields;
    if (rounding->mode != NULL) {
        fpemu_rounding named;
        fpemu_parse_error error;
        if (fpemu_rounding_parse(rounding->mode, &named, &error) != FPEMU_OK) {
            cli_usage("rounding '%s': %s", rounding->mode, error.message);
        }
        result.mode = named.mode;
        result.compat = named.compat;
        result.overflow = rounding->has_overflow ? result.overflow : named.overflow;
        result.nan = rounding->has_nan ? result.nan : named.nan;
    }
    return result;
}

/* -------------------------------------------------------------------------------------------------- specs */

/* ------------------------------------------------------------------------------------------------- tables */

/* A table of a file, "file=PATH" in a spec, takes the place of a built-in one while the library reads or prints it. */
static const char file_mark[] = "file=", stand_in[] = "dynamic8";

typedef struct table {
    struct table *next;
    float *values;
    char name[CLI_SPEC_SIZE]; /* "file=PATH" */
} table;
static table *tables; /* those that were read; they stay, for formats borrow their values */

/* Numbers with white space between them; from a # on a line is a comment. */
static uint32_t read_values(const char *path, float *values, uint32_t most)
{
    FILE *file = fopen(path, "r");
    char word[64];
    uint32_t count = 0;
    unsigned line = 1;
    size_t used = 0;
    bool comment = false;
    if (file == NULL) {
        cli_fail("%s: %s", path, strerror(errno));
    }
    for (int c = '\n'; c != EOF;) {
        c = getc(file);
        const bool ends = c == EOF || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#';
        comment = (comment || c == '#') && c != '\n' && c != EOF;
        if (!ends && !comment && used + 1 < sizeof word) {
            word[used++] = (char)c;
        }
        word[used] = '\0';
        if (ends && used > 0) {
            if (count == most || !number_read_f32(word, &values[count]) || !isfinite(values[count]) ||
                (count > 0 && !(values[count - 1] < values[count]))) {
                cli_fail("%s, line %u: '%s': expected at most %u finite numbers, ascending as binary32", path, line,
                         word, (unsigned)most);
            }
            values[count] += 0.0f; /* no -0 */
            count++;
            used = 0;
        }
        line += c == '\n';
    }
    if (ferror(file) || count < 2) {
        cli_fail("%s: %s", path, ferror(file) ? strerror(errno) : "a table has at least 2 numbers");
    }
    fclose(file);
    return count;
}

/* The element of *format, read with a table that stood in for it, becomes that of the file. */
static void set_table(fpemu_format *format, table *t, const char *spec)
{
    enum { MOST = 65536 };
    fpemu_format element, scale, blocked;
    if (format->kind != FPEMU_KIND_CODEBOOK) {
        cli_usage("format '%s': %s is for codebook(%sPATH,...) and table(%sPATH)", spec, t->name, file_mark, file_mark);
    }
    t->values = cli_allocate(MOST, sizeof *t->values);
    cli_check(fpemu_format_table(&element, read_values(t->name + strlen(file_mark), t->values, MOST), t->values), spec);
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
        cli_check(fpemu_format_complete(&blocked), spec);
        element = blocked;
    }
    *format = element;
}

/* "codebook(file=PATH,64)" with the stand-in, and the table it names; NULL where there is none. */
static table *take_table(const char *spec, char text[CLI_SPEC_SIZE])
{
    const char *begin = strstr(spec, file_mark);
    if (begin == NULL) {
        return NULL;
    }
    const size_t before = (size_t)(begin - spec), length = strcspn(begin, ",():");
    const char *after = begin + length;
    if (length == strlen(file_mark) || before + sizeof stand_in + strlen(after) > CLI_SPEC_SIZE ||
        length >= CLI_SPEC_SIZE) {
        cli_usage("format '%s': %sPATH needs the name of a file, without commas, colons and parentheses", spec,
                  file_mark);
    }
    table *t = cli_allocate(1, sizeof *t);
    memcpy(t->name, begin, length);
    snprintf(text, CLI_SPEC_SIZE, "%.*s%s%s", (int)before, spec, stand_in, after);
    return t;
}

fpemu_format cli_format(const char *spec)
{
    fpemu_format format;
    fpemu_parse_error error;
    char text[CLI_SPEC_SIZE];
    table *t = take_table(spec, text);
    const fpemu_status status = fpemu_format_parse(t != NULL ? text : spec, &format, &error);
    if (status == FPEMU_ERROR_SPEC) {
        cli_usage("format '%s', character %u: %s", t != NULL ? text : spec, (unsigned)error.position + 1,
                  error.message);
    }
    if (status != FPEMU_OK) {
        cli_usage("format '%s': %s", spec, fpemu_status_text(status));
    }
    if (t != NULL) {
        set_table(&format, t, spec);
        t->next = tables;
        tables = t;
    }
    return format;
}

static const table *table_of(const fpemu_format *format)
{
    const table *t = format->kind == FPEMU_KIND_CODEBOOK ? tables : NULL;
    while (t != NULL && t->values != format->table) {
        t = t->next;
    }
    return t;
}

bool cli_from_file(const fpemu_format *format)
{
    return table_of(format) != NULL;
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
