/* vectors.c - fpemu vectors: operands, results and flags for a simulator's test bench. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "inputs.h"
#include "number.h"
#include "output.h"

static const char help[] =
    "Usage: fpemu vectors SPEC [OPTION...]\n"
    "Writes test vectors for a conversion to the format SPEC, for the test bench of a simulator:\n"
    "the code of the operand, the code of the result, and the flags, in hexadecimal.\n"
    "\n"
    "      --from SPEC2      format of the operand, also f32 or f64 (default: f32)\n"
    "  -r, --rounding MODE[,MODE...]\n"
    "                        as for 'fpemu round', but not sr and se; may be repeated\n"
    "                        (default: rne)\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --level N         1: boundaries and a few random operands (default); 2: more of both,\n"
    "                        and every exponent with ties at every place\n"
    "      --seed N          seed of the random operands (default: 0)\n"
    "      --as FORM         hex: mode, operand, result, flags, a space between them (default)\n"
    "                        memh: the same as one word a line, as $readmemh reads it\n"
    "                        csv: a column for each flag, and the values\n"
    "  -o, --output FILE     the file to write (default: standard output)\n"
    "\n"
    "Flags: 01 inexact, 02 underflow, 04 overflow, 10 invalid, 20 subnormal. Modes: 0 rne,\n"
    "1 rna, 2 rnz, 3 rtz, 4 raz, 5 rtp, 6 rtn, 7 rto.\n"
    "\n"
    "Example: fpemu vectors e4m3fn --from fp16 -r rne,rtz --as memh -o vectors.mem\n";

static const struct option options[] = {{"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},
                                        {"nan", required_argument, NULL, CLI_OPT_NAN},
                                        {"level", required_argument, NULL, CLI_OPT_LEVEL},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"as", required_argument, NULL, CLI_OPT_AS},
                                        {"output", required_argument, NULL, 'o'},
                                        CLI_HELP_LONG,
                                        {0}};

/* Those of TestFloat, and one more. 08, division by zero, belongs to operations that divide. */
enum { FLAG_INEXACT = 0x01, FLAG_UNDERFLOW = 0x02, FLAG_OVERFLOW = 0x04, FLAG_INVALID = 0x10, FLAG_SUBNORMAL = 0x20 };

enum { MOST_MODES = 16 };

typedef struct vector {
    const char *mode; /* as the user wrote it */
    unsigned mode_number;
    uint64_t operand, result;
    unsigned flags;
} vector;

typedef struct bench {
    const char *spec;
    fpemu_format from, to;
    const struct form *form;
    output out; /* its file is stdout where no other was asked for */
} bench;

/* ---------------------------------------------------------------------------------------------- conversion */

static unsigned flags_of(const fpemu_stats *s)
{
    return (s->inexact ? FLAG_INEXACT : 0u) | (s->underflow ? FLAG_UNDERFLOW : 0u) |
           (s->overflow ? FLAG_OVERFLOW : 0u) | (s->invalid ? FLAG_INVALID : 0u) | (s->subnormal ? FLAG_SUBNORMAL : 0u);
}

/* In binary32 where that holds both formats, else in binary64. */
static void convert(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t code = 0;
    if (fpemu_fits_f32(&b->from) && fpemu_fits_f32(&b->to)) {
        const float x = fpemu_decode_one_f32(&b->from, v->operand);
        cli_check(fpemu_encode_f32(&b->to, rounding, 1, &x, &code, &stats), b->spec);
    } else {
        const double x = fpemu_decode_one_f64(&b->from, v->operand);
        cli_check(fpemu_encode_f64(&b->to, rounding, 1, &x, &code, &stats), b->spec);
    }
    v->result = number_load_code(&code, fpemu_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

/* --------------------------------------------------------------------------------------------------- forms */

static int digits(const fpemu_format *format)
{
    return (int)(format->bits + 3) / 4;
}

static void print_hex(const bench *b, const vector *v)
{
    fprintf(b->out.file, "%x %0*" PRIx64 " %0*" PRIx64 " %02x\n", v->mode_number, digits(&b->from), v->operand,
            digits(&b->to), v->result, v->flags);
}

static void head_memh(const bench *b)
{
    char from[CLI_SPEC_SIZE], to[CLI_SPEC_SIZE];
    const int operand = 4 * digits(&b->from), result = 4 * digits(&b->to);
    fprintf(b->out.file, "// %s to %s\n// %d bits: mode [%d:%d], operand [%d:%d], result [%d:8], flags [7:0]\n",
            cli_spec(&b->from, from), cli_spec(&b->to, to), 12 + operand + result, 11 + operand + result,
            8 + operand + result, 7 + operand + result, 8 + result, 7 + result);
}

/* An underscore may stand between the digits of a number in Verilog. */
static void print_memh(const bench *b, const vector *v)
{
    fprintf(b->out.file, "%x_%0*" PRIx64 "_%0*" PRIx64 "_%02x\n", v->mode_number, digits(&b->from), v->operand,
            digits(&b->to), v->result, v->flags);
}

static void head_csv(const bench *b)
{
    fputs("mode,operand,result,inexact,underflow,overflow,invalid,subnormal,operand_value,result_value\n", b->out.file);
}

static void print_csv(const bench *b, const vector *v)
{
    char operand[NUMBER_SIZE], result[NUMBER_SIZE], x[NUMBER_SIZE], y[NUMBER_SIZE];
    const unsigned f = v->flags;
    fprintf(b->out.file, "%s,%s,%s,%d,%d,%d,%d,%d,%s,%s\n", v->mode,
            number_print_code(operand, v->operand, b->from.bits), number_print_code(result, v->result, b->to.bits),
            (f & FLAG_INEXACT) != 0, (f & FLAG_UNDERFLOW) != 0, (f & FLAG_OVERFLOW) != 0, (f & FLAG_INVALID) != 0,
            (f & FLAG_SUBNORMAL) != 0, number_print(x, fpemu_decode_one_f64(&b->from, v->operand)),
            number_print(y, fpemu_decode_one_f64(&b->to, v->result)));
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
    const char *from, *form, *output;
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
        if (end != NULL) {
            *end++ = '\0';
        }
        if (q->mode_count == MOST_MODES) {
            cli_usage("vectors: more than %d roundings", MOST_MODES);
        }
        q->modes[q->mode_count++] = list;
    }
}

static request read_options(cli *c)
{
    request q = {.from = "f32", .form = "hex", .level = 1};
    for (int option; (option = cli_next(c, "r:o:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_FROM: q.from = optarg; break;
        case 'r': add_modes(&q, optarg); break;
        case CLI_OPT_LEVEL: q.level = cli_option_u64("--level", optarg, 1, 2); break;
        case CLI_OPT_SEED: /* of the operands, not of the rounding */
            q.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
            break;
        case CLI_OPT_AS: q.form = optarg; break;
        case 'o': q.output = output_path(optarg); break;
        default: cli_rounding_take(&q.rounding, option, optarg);
        }
    }
    if (q.mode_count == 0) {
        q.modes[q.mode_count++] = "rne";
    }
    return q;
}

static const form *find_form(const char *name)
{
    const form *f = forms;
    while (f->name != NULL && strcmp(f->name, name) != 0) {
        f++;
    }
    if (f->name == NULL) {
        cli_usage("--as: '%s' is none of: hex memh csv", name);
    }
    return f;
}

static fpemu_format operand_format(const char *spec)
{
    return cli_format(strcmp(spec, "f32") == 0 ? "fp32" : strcmp(spec, "f64") == 0 ? "fp64" : spec);
}

/* The roundings of the modes, each accepted by the formats. */
static void read_roundings(const bench *b, const request *q, fpemu_rounding *roundings)
{
    const double zero = 0;
    double y;
    cli_check(fpemu_quantize_f64(&b->from, &(fpemu_rounding){0}, 1, &zero, &y, NULL), q->from);
    for (int i = 0; i < q->mode_count; i++) {
        cli_rounding asked = q->rounding;
        asked.mode = q->modes[i];
        roundings[i] = cli_rounding_get(&asked);
        const unsigned nan = roundings[i].nan != FPEMU_NAN_FROM_FORMAT ? roundings[i].nan : b->to.nan;
        if (roundings[i].mode == FPEMU_SR || roundings[i].mode == FPEMU_SE) {
            cli_usage("vectors: stochastic rounding has no one result");
        }
        if (nan == FPEMU_NAN_ERROR) {
            cli_usage("vectors: the NaN policy 'error' gives no result");
        }
        cli_check(fpemu_quantize_f64(&b->to, &roundings[i], 1, &zero, &y, NULL), b->spec);
    }
}

/* At once, while errno says why. */
static void check_written(const bench *b)
{
    if (ferror(b->out.file)) {
        cli_fail("%s: %s", b->out.path, strerror(errno));
    }
}

static void write_stage(const bench *b, const inputs *in, input_stage stage, const char *mode,
                        const fpemu_rounding *rounding)
{
    vector v = {.mode = mode, .mode_number = rounding->mode};
    for (uint64_t i = 0; i < in->count[stage]; i++) {
        v.operand = inputs_code(in, stage, i);
        convert(b, rounding, &v);
        b->form->print(b, &v);
        check_written(b);
    }
}

/* Formats of up to so many bits are gone through code by code. */
static unsigned every_code_bits(uint64_t level)
{
    return level == 1 ? 8 : 16;
}

int cmd_vectors(int argc, char **argv)
{
    static const input_depth depths[] = {{.every_bits = 8, .per_binade = 1, .reach = 1},
                                         {.every_bits = 16, .per_binade = 5, .reach = 2}};
    static const uint64_t random_operands[] = {256, 65536};
    cli c = cli_start(argc, argv, help);
    request q = read_options(&c);
    cli_expect_operands(&c, 1, 1, "SPEC");
    bench b = {.spec = c.operand[0], .from = operand_format(q.from), .to = cli_format(c.operand[0])};
    b.form = find_form(q.form);
    fpemu_rounding roundings[MOST_MODES];
    read_roundings(&b, &q, roundings);

    inputs in = inputs_start(&b.from, &b.to, depths[q.level - 1], random_operands[q.level - 1], q.seed);
    if (q.output != NULL) {
        b.out = output_open(q.output);
    } else {
        b.out = (output){.file = stdout, .path = "standard output"};
    }
    if (b.form->head != NULL) {
        b.form->head(&b);
        check_written(&b);
    }
    for (int i = 0; i < q.mode_count; i++) {
        if (b.from.bits <= every_code_bits(q.level)) {
            write_stage(&b, &in, INPUTS_ALL, q.modes[i], &roundings[i]);
            continue;
        }
        write_stage(&b, &in, INPUTS_BOUNDARY, q.modes[i], &roundings[i]);
        if (q.level > 1) {
            write_stage(&b, &in, INPUTS_COVERAGE, q.modes[i], &roundings[i]);
        }
        write_stage(&b, &in, INPUTS_RANDOM, q.modes[i], &roundings[i]);
    }
    if (q.output != NULL) {
        output_commit(&b.out);
    }
    inputs_end(&in);
    return CLI_OK;
}
