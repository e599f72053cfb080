/* quantize.c - fpemu quantize: an array file rounded to a format. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "commands.h"
#include "jsonout.h"
#include "number.h"
#include "progress.h"

static const char help[] =
    "Usage: fpemu quantize SPEC IN -o OUT [OPTION...]\n"
    "Rounds every element of an array file to the format SPEC. Files are NumPy's .npy with float32\n"
    "or float64 elements, or raw; OUT has the type, shape and order of IN. Any size in bounded\n"
    "memory. IN may be '-', standard input; OUT may be the file IN itself: it is replaced only when\n"
    "everything is written. The index of an element, which chooses its random word, is its position\n"
    "in the file's data.\n"
    "\n"
    "  -o, --output OUT      the file to write\n"
    "      --report          print what happened: counters, extrema, signal to noise\n"
    "      --json            the report as JSON\n" ARRAY_RAW_HELP CLI_ROUNDING_HELP
    "\n"
    "Example: fpemu quantize e4m3fn:saturate weights.npy -o rounded.npy --report\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"report", no_argument, NULL, CLI_OPT_REPORT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        ARRAY_RAW_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *spec, *output;
    fpemu_format format;
    fpemu_rounding rounding;
    fpemu_stats stats;
    bool report, json;
} job;

static fpemu_status quantize_piece(const job *j, bool binary64, size_t count, void *elements, fpemu_stats *stats)
{
    return binary64 ? fpemu_quantize_f64(&j->format, &j->rounding, count, elements, elements, stats)
                    : fpemu_quantize_f32(&j->format, &j->rounding, count, elements, elements, stats);
}

static void quantize_file(job *j, array_reader *in)
{
    const bool binary64 = in->header.item_size == 8;
    cli_check_carrier(&j->format, binary64, j->spec, "the data have to be float64");
    double probe = 0; /* one zero shows, also for an empty file, whether the format and the rounding are accepted */
    cli_check(quantize_piece(j, binary64, 1, &probe, NULL), j->spec);

    void *elements = cli_allocate(ARRAY_PIECE, in->header.item_size);
    output out = output_open(j->output);
    progress bar = progress_start("quantize", in->header.count);
    array_write_header(&out, in);
    for (size_t count; (count = array_read(in, elements)) > 0;) {
        cli_check(quantize_piece(j, binary64, count, elements, j->report ? &j->stats : NULL), j->spec);
        array_write(&out, in, elements, count);
        j->rounding.offset += count;
        progress_advance(&bar, count);
    }
    progress_hide();
    output_commit(&out);
    free(elements);
}

static void print_count(const char *what, uint64_t number, uint64_t count)
{
    printf("%-12s %" PRIu64, what, number);
    if (count > 0 && number > 0) {
        printf("  %.4g %%", 100.0 * (double)number / (double)count);
    }
    putchar('\n');
}

static void print_real(const char *what, double value)
{
    char text[NUMBER_SIZE];
    printf("%-12s %s\n", what, number_print(text, value));
}

static void print_report(const job *j)
{
    const fpemu_stats *s = &j->stats;
    char spec[CLI_SPEC_SIZE];
    printf("%-12s %s\n", "format", cli_spec(&j->format, spec));
    printf("%-12s %s\n", "rounding", fpemu_mode_name((fpemu_mode)j->rounding.mode));
    printf("%-12s %" PRIu64 "\n", "count", s->count);
    print_count("nan", s->nan, s->count);
    print_count("infinite", s->infinite, s->count);
    print_count("clipped", s->clipped, s->count);
    print_count("overflow", s->overflow, s->count);
    print_count("invalid", s->invalid, s->count);
    print_count("underflow", s->underflow, s->count);
    print_count("subnormal", s->subnormal, s->count);
    print_count("inexact", s->inexact, s->count);
    print_real("min_abs", s->min_abs);
    print_real("max_abs", s->max_abs);
    print_real("max_error", s->max_error);
    print_real("sum_error", fpemu_stats_sum_error(s));
    print_real("sum_error2", fpemu_stats_sum_error2(s));
    print_real("sum_square", fpemu_stats_sum_square(s));
    print_real("sqnr_db", fpemu_stats_sqnr(s));
}

static void print_json_report(const job *j, const array_reader *in)
{
    char spec[CLI_SPEC_SIZE];
    json_t *object = jsonout_object();
    jsonout_set(object, "input", jsonout_text(in->path));
    jsonout_set(object, "output", jsonout_text(j->output));
    jsonout_set(object, "type", jsonout_text(in->header.item_size == 8 ? "float64" : "float32"));
    jsonout_set(object, "spec", jsonout_text(cli_spec(&j->format, spec)));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding));
    jsonout_stats(object, &j->stats);
    jsonout_print(object);
}

int cmd_quantize(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    array_raw raw = {0};
    job j = {.stats = {.want = FPEMU_SUMS}};
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_REPORT) {
            j.report = true;
        } else if (option == CLI_OPT_JSON) {
            j.report = j.json = true;
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            array_raw_take(&raw, option, optarg);
        }
    }
    cli_expect_operands(&c, 2, 2, "SPEC IN -o OUT");
    if (j.output == NULL) {
        cli_usage("quantize: the output is missing: -o OUT");
    }
    array_raw_check(&raw);
    j.spec = c.operand[0];
    j.format = cli_format(j.spec);
    j.rounding = cli_rounding_get(&asked);

    array_reader in = array_open(c.operand[1], &raw);
    quantize_file(&j, &in);
    array_close(&in);
    if (j.json) {
        print_json_report(&j, &in);
    } else if (j.report) {
        print_report(&j);
    }
    return CLI_OK;
}
