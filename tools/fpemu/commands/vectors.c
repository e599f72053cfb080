/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.c - fpemu vectors: operands, results and flags for a simulator's test bench. */
#include "common/system.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "files/output.h"
#include "testing/operands.h"
#include "testing/operation.h"

static const char help[] =
    "Usage: fpemu vectors SPEC [OPTION...]\n"
    "Writes test vectors for a conversion to the format SPEC, or an operation with results in it,\n"
    "for the test bench of a simulator: the code of each operand, the code of the result, and the\n"
    "flags, in hexadecimal.\n"
    "\n"
    "      --op OPERATION    convert (default) add sub mul div sqrt fma minimum maximum\n"
    "                        minimum-number maximum-number\n"
    "      --from SPEC2      format of the operands, also f32 or f64 (default: f32 for a conversion,\n"
    "                        SPEC for an operation)\n"
    "  -r, --rounding MODE[,MODE...]\n"
    "                        as for 'fpemu round', but not sr and se; may be repeated\n"
    "                        (default: rne)\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --level N         1: boundaries and a few random operands (default); 2: more of both,\n"
    "                        and every exponent with ties at every place\n"
    "      --seed N          seed of the random operands (default: 0)\n"
    "      --as FORM         hex: mode, operands, result, flags, a space between them (default)\n"
    "                        memh: the same as one word a line, as $readmemh reads it\n"
    "                        csv: a column for each flag, and the values\n"
    "  -o, --output FILE     the file to write (default: standard output)\n"
    "\n"
    "Flags: 01 inexact, 02 underflow, 04 overflow, 08 division by zero, 10 invalid, 20 subnormal.\n"
    "Modes: 0 rne, 1 rna, 2 rnz, 3 rtz, 4 raz, 5 rtp, 6 rtn, 7 rto.\n"
    "\n"
    "Examples: fpemu vectors e4m3fn --from fp16 -r rne,rtz --as memh -o vectors.mem\n"
    "          fpemu vectors fp16 --op fma --level 2\n";

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},
                                        {"nan", required_argument, NULL, CLI_OPT_NAN},
                                        {"level", required_argument, NULL, CLI_OPT_LEVEL},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"as", required_argument, NULL, CLI_OPT_AS},
                                        {"output", required_argument, NULL, 'o'},
                                        CLI_HELP_LONG,
                                        {0}};

/* Those of TestFloat, and one more. */
enum {
    FLAG_INEXACT = 0x01,
    FLAG_UNDERFLOW = 0x02,
    FLAG_OVERFLOW = 0x04,
    FLAG_DIVISION_BY_ZERO = 0x08,
    FLAG_INVALID = 0x10,
    FLAG_SUBNORMAL = 0x20
};

enum { MOST_MODES = 16 };

typedef struct vector {
    const char *mode; /* as the user wrote it */
    unsigned mode_number;
    uint64_t operand[OPERATION_MOST], result;
    unsigned flags;
} vector;

typedef struct bench {
    const char *spec;
    const operation *what;
    fpemu_format from, to;
    const struct form *form;
    output out; /* its file is stdout where no other was asked for */
} bench;

/* ------------------------------------------------------------------------------------------------- results */

static unsigned flags_of(const fpemu_stats *s)
{
    return (s->inexact ? FLAG_INEXACT : 0u) | (s->underflow ? FLAG_UNDERFLOW : 0u) |
           (s->overflow ? FLAG_OVERFLOW : 0u) | (s->div_by_zero ? FLAG_DIVISION_BY_ZERO : 0u) |
           (s->invalid ? FLAG_INVALID : 0u) | (s->subnormal ? FLAG_SUBNORMAL : 0u);
}

/* In binary32 where that holds both formats, else in binary64. */
static void convert(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t code = 0;
    if (fpemu_format_fits_f32(&b->from) && fpemu_format_fits_f32(&b->to)) {
        const float x = fpemu_decode_one_f32(&b->from, v->operand[0]);
        cli_check_call(fpemu_encode_f32(&b->to, rounding, 1, &x, &code, &stats), &b->to, rounding, false,
                       FPEMU_USE_ENCODE, b->spec);
    } else {
        const double x = fpemu_decode_one_f64(&b->from, v->operand[0]);
        cli_check_call(fpemu_encode_f64(&b->to, rounding, 1, &x, &code, &stats), &b->to, rounding, true,
                       FPEMU_USE_ENCODE, b->spec);
    }
    v->result = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

static void operate(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t code = 0;
    double x[OPERATION_MOST], y;
    const double *const operands[] = {&x[0], &x[1], &x[2]};
    for (int k = 0; k < OPERATION_MOST; k++)
        x[k] = fpemu_decode_one_f64(&b->from, v->operand[k]);
    operation_run(b->what, &b->to, rounding, 1, operands, &y, &stats, b->spec);
    cli_check(fpemu_encode_f64(&b->to, rounding, 1, &y, &code, NULL), b->spec); /* a value already, or NaN */
    v->result = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

/* --------------------------------------------------------------------------------------------------- forms */

static int digits(const fpemu_format *format)
{
    return (int)(format->bits + 3) / 4;
}

static void print_codes(const bench *b, const vector *v, char between)
{
    FILE *file = b->out.file;
    fprintf(file, "%x", v->mode_number);
    for (int k = 0; k < b->what->operands; k++)
        fprintf(file, "%c%0*" PRIx64, between, digits(&b->from), v->operand[k]);
    fprintf(file, "%c%0*" PRIx64 "%c%02x\n", between, digits(&b->to), v->result, between, v->flags);
}

static void print_hex(const bench *b, const vector *v)
{
    print_codes(b, v, ' ');
}

/* The name of operand k in the heads of files. */
static const char *operand_name(const bench *b, int k)
{
    static const char *const names[OPERATION_MOST] = {"a", "b", "c"};
    return b->what->converts ? "operand" : names[k];
}

static void head_memh(const bench *b)
{
    char from[CLI_SPEC_SIZE], to[CLI_SPEC_SIZE];
    FILE *file = b->out.file;
    const int operand = 4 * digits(&b->from), result = 4 * digits(&b->to);
    int low = 8 + result + operand * b->what->operands; /* of the mode */
    if (b->what->converts)
        fprintf(file, "// %s to %s\n", cli_spec(&b->from, from), cli_spec(&b->to, to));
    else
        fprintf(file, "// %s of %s to %s\n", b->what->name, cli_spec(&b->from, from), cli_spec(&b->to, to));
    fprintf(file, "// %d bits: mode [%d:%d]", low + 4, low + 3, low);
    for (int k = 0; k < b->what->operands; k++) {
        low -= operand;
        fprintf(file, ", %s [%d:%d]", operand_name(b, k), low + operand - 1, low);
    }
    fprintf(file, ", result [%d:8], flags [7:0]\n", 7 + result);
}

/* An underscore may stand between the digits of a number in Verilog. */
static void print_memh(const bench *b, const vector *v)
{
    print_codes(b, v, '_');
}

/* Conversions never divide. */
static void head_csv(const bench *b)
{
    FILE *file = b->out.file;
    fputs("mode", file);
    for (int k = 0; k < b->what->operands; k++)
        fprintf(file, ",%s", operand_name(b, k));
    fprintf(file, ",result,inexact,underflow,overflow%s,invalid,subnormal",
            b->what->converts ? "" : ",division_by_zero");
    for (int k = 0; k < b->what->operands; k++)
        fprintf(file, ",%s_value", operand_name(b, k));
    fputs(",result_value\n", file);
}

static void print_csv(const bench *b, const vector *v)
{
    static const unsigned flags[] = {FLAG_INEXACT,          FLAG_UNDERFLOW, FLAG_OVERFLOW,
                                     FLAG_DIVISION_BY_ZERO, FLAG_INVALID,   FLAG_SUBNORMAL};
    char text[NUMBER_SIZE];
    FILE *file = b->out.file;
    fputs(v->mode, file);
    for (int k = 0; k < b->what->operands; k++)
        fprintf(file, ",%s", number_print_code(text, v->operand[k], b->from.bits));
    fprintf(file, ",%s", number_print_code(text, v->result, b->to.bits));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!b->what->converts || flags[i] != FLAG_DIVISION_BY_ZERO)
            fprintf(file, ",%d", (v->flags & flags[i]) != 0);
    for (int k = 0; k < b->what->operands; k++)
        fprintf(file, ",%s", number_print(text, fpemu_decode_one_f64(&b->from, v->operand[k])));
    fprintf(file, ",%s\n", number_print(text, fpemu_decode_one_f64(&b->to, v->result)));
}

typedef struct form {
    const char *name;
    void (*head)(const bench *b);
    void (*print)(const bench *b, const vector *v);
} form;
static const form forms[] = {
    {"hex", NULL, print_hex}, {"memh", head_memh, print_memh}, {"csv", head_csv, print_csv}, {NULL, NULL, NULL}};

/* ------------------------------------------------------------------------------------------------- command */

typedef struct request {
    const char *operation, *from, *form, *output;
    const char *modes[MOST_MODES];
    int mode_count;
    cli_rounding rounding;
    uint64_t level, seed;
} request;

/* Splits "rne,rtz" in place. */
static void add_modes(request *q, char *list)
{
    for (char *end; list != NULL; list = end) {
        end = strchr(list, ',');
        if (end != NULL)
            *end++ = '\0';
        if (q->mode_count == MOST_MODES)
            cli_usage("vectors: more than %d roundings", MOST_MODES);
        q->modes[q->mode_count++] = list;
    }
}

static request read_options(cli *c)
{
    request q = {.operation = "convert", .form = "hex", .level = 1};
    for (int option; (option = cli_next(c, "r:o:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_OPERATION: q.operation = optarg; break;
        case CLI_OPT_FROM: q.from = optarg; break;
        case 'r': add_modes(&q, optarg); break;
        case CLI_OPT_LEVEL: q.level = cli_option_u64("--level", optarg, 1, 2); break;
        case CLI_OPT_SEED: /* of the operands, not of the rounding */
            q.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
            break;
        case CLI_OPT_AS: q.form = optarg; break;
        case 'o': q.output = strcmp(optarg, "-") == 0 ? NULL : optarg; break;
        default: cli_rounding_take(&q.rounding, option, optarg);
        }
    }
    if (q.mode_count == 0)
        q.modes[q.mode_count++] = "rne";
    return q;
}

static const form *find_form(const char *name)
{
    const form *f = forms;
    while (f->name != NULL && strcmp(f->name, name) != 0)
        f++;
    if (f->name == NULL)
        cli_usage("--as: '%s' is none of: hex memh csv", name);
    return f;
}

static fpemu_format operand_format(const char *spec)
{
    return cli_format(strcmp(spec, "f32") == 0 ? "fp32" : strcmp(spec, "f64") == 0 ? "fp64" : spec);
}

/* The roundings of the modes, each accepted by the formats. */
static void read_roundings(const bench *b, const request *q, fpemu_rounding *roundings)
{
    const double zero = 0, *const zeros[OPERATION_MOST] = {&zero, &zero, &zero};
    double y;
    cli_check(fpemu_quantize_f64(&b->from, &(fpemu_rounding){0}, 1, &zero, &y, NULL), "--from");
    for (int i = 0; i < q->mode_count; i++) {
        cli_rounding asked = q->rounding;
        asked.mode = q->modes[i];
        roundings[i] = cli_rounding_get(&asked);
        const unsigned nan = roundings[i].nan != FPEMU_NAN_FROM_FORMAT ? roundings[i].nan : b->to.nan;
        if (roundings[i].mode == FPEMU_MODE_SR || roundings[i].mode == FPEMU_MODE_SE)
            cli_usage("vectors: stochastic rounding has no one result");
        if (nan == FPEMU_NAN_ERROR)
            cli_usage("vectors: the NaN policy 'error' gives no result");
        operation_run(b->what, &b->to, &roundings[i], 1, zeros, &y, NULL, b->spec);
    }
}

/* At once, while errno says why. */
static void check_written(const bench *b)
{
    if (ferror(b->out.file))
        cli_fail("%s: %s", b->out.path, strerror(errno));
}

static void write_stage(const bench *b, const operands *in, input_stage stage, const char *mode,
                        const fpemu_rounding *rounding)
{
    vector v = {.mode = mode, .mode_number = rounding->mode};
    for (uint64_t i = 0; i < in->count[stage]; i++) {
        operands_codes(in, stage, i, v.operand);
        if (b->what->converts)
            convert(b, rounding, &v);
        else
            operate(b, rounding, &v);
        b->form->print(b, &v);
        check_written(b);
    }
}

int cmd_vectors(int argc, char **argv)
{
    static const input_depth depths[] = {{.every_bits = 8, .per_binade = 1, .reach = 1},
                                         {.every_bits = 16, .per_binade = 5, .reach = 2}};
    static const uint64_t random_operands[] = {256, 65536};
    cli c = cli_start(argc, argv, help);
    request q = read_options(&c);
    cli_expect_operands(&c, 1, 1, "SPEC");
    bench b = {.spec = c.operand[0], .what = operation_find(q.operation), .to = cli_format(c.operand[0])};
    const char *from = q.from != NULL ? q.from : b.what->converts ? "f32" : NULL;
    b.from = from != NULL ? operand_format(from) : b.to;
    b.form = find_form(q.form);
    fpemu_rounding roundings[MOST_MODES];
    read_roundings(&b, &q, roundings);

    const input_depth depth = depths[q.level - 1];
    operands in = operands_start(b.what, &b.from, &b.to, depth, random_operands[q.level - 1], q.seed);
    if (q.output != NULL) {
        cli_refuse_tables("-o", q.output);
        b.out = output_open(q.output);
    } else {
        b.out = (output){.file = stdout, .path = "standard output"};
    }
    if (b.form->head != NULL) {
        b.form->head(&b);
        check_written(&b);
    }
    for (int i = 0; i < q.mode_count; i++) {
        if (in.bits <= depth.every_bits) {
            write_stage(&b, &in, INPUTS_ALL, q.modes[i], &roundings[i]);
            continue;
        }
        write_stage(&b, &in, INPUTS_BOUNDARY, q.modes[i], &roundings[i]);
        if (q.level > 1 || !b.what->converts)
            write_stage(&b, &in, INPUTS_COVERAGE, q.modes[i], &roundings[i]);
        write_stage(&b, &in, INPUTS_RANDOM, q.modes[i], &roundings[i]);
    }
    if (q.output != NULL)
        output_commit(&b.out);
    operands_end(&in);
    return CLI_OK;
}
