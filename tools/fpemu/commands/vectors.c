/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.c - fpemu vectors: operands, results and flags for a simulator's test bench. */
#include "common/system.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
    "                        minimum-number maximum-number; dot: a sum of products\n"
    "      --from SPEC2[,SPEC3...]\n"
    "                        format of the operands, one for all or one for each, also f32 or f64\n"
    "                        (default: f32 for a conversion, SPEC for an operation)\n"
    "      --model MODEL     dot: how products are added up, as for 'fpemu gemm', or with start=c;\n"
    "                        its ab=, a=, b= are the operands\n"
    "      --length N        dot: products, 1 to 256 (default: 4)\n"
    "      --scales SPEC2    dot: format of the scales of the model's blocks\n"
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
    "                        (memh and csv name the case of a dot product)\n"
    "                        svh: no vectors, but localparams of SystemVerilog for those of memh:\n"
    "                        how many there are, and where each field is\n"
    "      --tininess WHEN   before or after rounding: flag 02 is IEEE 754's underflow, a tiny and\n"
    "                        inexact result (default: 02 is our counter, a result of zero)\n"
    "  -o, --output FILE     the file to write (default: standard output)\n"
    "\n"
    "Flags: 01 inexact, 02 underflow, 04 overflow, 08 division by zero, 10 invalid, 20 subnormal.\n"
    "Modes: 0 rne, 1 rna, 2 rnz, 3 rtz, 4 raz, 5 rtp, 6 rtn, 7 rto.\n"
    "\n"
    "Examples: fpemu vectors e4m3fn --from fp16 -r rne,rtz --as memh -o vectors.mem\n"
    "          fpemu vectors fp16 --op fma --from e4m3fn,e4m3fn,fp16\n"
    "          fpemu vectors fp32 --op dot --model 'tc(h100,e4m3fn); start=c' --length 32\n"
    "          fpemu vectors fp32 --op dot --model 'chunk(32,fp32); ab=e2m1' --length 64 --scales e8m0\n";

enum { OPT_MODEL = CLI_OPT_HANG + 1000, OPT_LENGTH, OPT_SCALES, OPT_TININESS };

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"model", required_argument, NULL, OPT_MODEL},
                                        {"length", required_argument, NULL, OPT_LENGTH},
                                        {"scales", required_argument, NULL, OPT_SCALES},
                                        {"tininess", required_argument, NULL, OPT_TININESS},
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

enum { MOST_MODES = 16, MOST_CODES = 4 * DOTS_LONGEST + 1 };

typedef struct vector {
    const char *mode; /* as the user wrote it */
    unsigned mode_number;
    const char *name; /* of the case, for a dot product */
    uint64_t operand[MOST_CODES], result;
    unsigned flags;
} vector;

/* An operand, or `lanes` of one side by side: a0, a1, ... */
typedef struct field {
    const char *name;
    fpemu_format format;
    size_t count;
} field;
enum { MOST_FIELDS = DOTS_OPERANDS };

typedef struct bench {
    const char *spec;
    const operation *what; /* of a dot product NULL */
    fpemu_format from[OPERATION_MOST], to;
    field fields[MOST_FIELDS];
    int field_count;
    bool lanes; /* codes have numbers */
    operands in;
    uint64_t count; /* of vectors */
    enum { TININESS_OURS, TININESS_BEFORE, TININESS_AFTER } tininess;
    dots sums;
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

/* IEEE 754's underflow in place of ours: the exact result, or what it rounds to as if exponents had no end, is below
 * the smallest normal number, and the result inexact. */
static void judge_tininess(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    double x[OPERATION_MOST] = {0, 0, 0};
    const double normal = fpemu_format_min_normal(&b->to);
    if (b->tininess == TININESS_OURS)
        return;
    for (int k = 0; k < b->what->operands; k++)
        x[k] = fpemu_decode_one_f64(&b->from[k], v->operand[k]);
    double exact = operation_exact(b->what, x), limit = normal;
    if (b->tininess == TININESS_AFTER && exact != 0 && fabs(exact) < normal) { /* as 1 to 2, among normal numbers */
        const int e = ilogb(exact), odd = (e + b->to.bias) & 1; /* without a mantissa ties look at the exponent */
        fpemu_format wide;
        cli_check(fpemu_format_float(&wide, 5, b->to.mantissa_bits, 14 + odd, FPEMU_SPECIALS_IEEE, 1), b->spec);
        exact = fpemu_quantize_one_f64(&wide, rounding, ldexp(exact, -e), 0);
        limit = ldexp(normal, -e);
    }
    const bool tiny = exact != 0 && fabs(exact) < limit;
    v->flags = (v->flags & ~(unsigned)FLAG_UNDERFLOW) | (tiny && (v->flags & FLAG_INEXACT) ? FLAG_UNDERFLOW : 0u);
}

/* In binary32 where that holds both formats, else in binary64. */
static void convert(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    const fpemu_format *from = &b->from[0];
    fpemu_stats stats = {0};
    uint64_t code = 0;
    if (fpemu_format_fits_f32(from) && fpemu_format_fits_f32(&b->to)) {
        const float x = fpemu_decode_one_f32(from, v->operand[0]);
        cli_check_call(fpemu_encode_f32(&b->to, rounding, 1, &x, &code, &stats), &b->to, rounding, false,
                       FPEMU_USE_ENCODE, b->spec);
    } else {
        const double x = fpemu_decode_one_f64(from, v->operand[0]);
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
        x[k] = k < b->what->operands ? fpemu_decode_one_f64(&b->from[k], v->operand[k]) : 0;
    operation_run(b->what, &b->to, rounding, 1, operands, &y, &stats, b->spec);
    cli_check(fpemu_encode_f64(&b->to, rounding, 1, &y, &code, NULL), b->spec); /* a value already, or NaN */
    v->result = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

/* Of every rounding on the way, but `subnormal`, which is about the result. */
static void multiply_add_up(bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t code = 0;
    const double y = dots_run(&b->sums, rounding, v->operand, &stats);
    cli_check(fpemu_encode_f64(&b->to, rounding, 1, &y, &code, NULL), b->spec);
    v->result = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    stats.subnormal = fabs(y) > 0 && fabs(y) < fpemu_format_min_normal(&b->to);
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
    const uint64_t *code = v->operand;
    fprintf(file, "%x", v->mode_number);
    for (int f = 0; f < b->field_count; f++)
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(file, "%c%0*" PRIx64, between, digits(&b->fields[f].format), *code++);
    fprintf(file, "%c%0*" PRIx64 "%c%02x\n", between, digits(&b->to), v->result, between, v->flags);
}

static void print_hex(const bench *b, const vector *v)
{
    print_codes(b, v, ' ');
}

/* Bits of a vector. */
static int width(const bench *b)
{
    int bits = 4 + 4 * digits(&b->to) + 8;
    for (int f = 0; f < b->field_count; f++)
        bits += (int)b->fields[f].count * 4 * digits(&b->fields[f].format);
    return bits;
}

static void head_svh(const bench *b)
{
    FILE *file = b->out.file;
    int low = width(b) - 4;
    fprintf(file, "localparam int COUNT = %" PRIu64 ", WIDTH = %d, MODE_LOW = %d;\n", b->count, width(b), low);
    for (int f = 0; f < b->field_count; f++) {
        const field *x = &b->fields[f];
        const int bits = 4 * digits(&x->format);
        char name[16] = "";
        for (size_t i = 0; x->name[i] != '\0' && i + 1 < sizeof name; i++)
            name[i] = (char)toupper((unsigned char)x->name[i]);
        low -= (int)x->count * bits;
        fprintf(file, "localparam int %s_LOW = %d, %s_BITS = %d, %s_LANES = %zu;%s\n", name, low, name, bits, name,
                x->count, x->count > 1 ? " // the first lane is the highest" : "");
    }
    fprintf(file, "localparam int RESULT_LOW = 8, RESULT_BITS = %d, FLAGS_LOW = 0;\n", 4 * digits(&b->to));
}

static void head_memh(const bench *b)
{
    char from[OPERANDS_FORMATS_SIZE], to[CLI_SPEC_SIZE];
    FILE *file = b->out.file;
    int low = width(b) - 4; /* of the mode */
    cli_spec(&b->to, to);
    if (b->what == NULL)
        fprintf(file, "// dot product of %zu, %s, to %s\n", b->fields[0].count, b->sums.text, to);
    else if (b->what->converts)
        fprintf(file, "// %s to %s\n", operands_print_formats(b->what, b->from, from), to);
    else
        fprintf(file, "// %s of %s to %s\n", b->what->name, operands_print_formats(b->what, b->from, from), to);
    fprintf(file, "// %d bits: mode [%d:%d]", low + 4, low + 3, low);
    for (int f = 0; f < b->field_count; f++) {
        const field *x = &b->fields[f];
        const int bits = (int)x->count * 4 * digits(&x->format);
        low -= bits;
        fprintf(file, ", %s [%d:%d]", x->name, low + bits - 1, low);
        if (b->lanes && x->count > 1)
            fprintf(file, " = %s[0] to %s[%zu], %d bits each", x->name, x->name, x->count - 1, 4 * digits(&x->format));
    }
    fprintf(file, ", result [%d:8], flags [7:0]\n", 7 + 4 * digits(&b->to));
}

/* An underscore may stand between the digits of a number in Verilog. */
static void print_memh(const bench *b, const vector *v)
{
    if (v->name != NULL)
        fprintf(b->out.file, "// %s\n", v->name);
    print_codes(b, v, '_');
}

/* ",a,b,c", and of lanes ",a0,a1"; then with `_value` behind each. */
static void head_operands(const bench *b, const char *behind)
{
    for (int f = 0; f < b->field_count; f++) {
        for (size_t k = 0; k < b->fields[f].count; k++) {
            fprintf(b->out.file, ",%s", b->fields[f].name);
            if (b->lanes)
                fprintf(b->out.file, "%zu", k);
            fputs(behind, b->out.file);
        }
    }
}

/* Only operations divide. */
static void head_csv(const bench *b)
{
    FILE *file = b->out.file;
    const bool divides = b->what != NULL && !b->what->converts;
    fputs("mode", file);
    head_operands(b, "");
    fprintf(file, ",result,inexact,underflow,overflow%s,invalid,subnormal", divides ? ",division_by_zero" : "");
    head_operands(b, "_value");
    fprintf(file, ",result_value%s\n", b->what == NULL ? ",case" : "");
}

static void print_csv(const bench *b, const vector *v)
{
    static const unsigned flags[] = {FLAG_INEXACT,          FLAG_UNDERFLOW, FLAG_OVERFLOW,
                                     FLAG_DIVISION_BY_ZERO, FLAG_INVALID,   FLAG_SUBNORMAL};
    char text[NUMBER_SIZE];
    FILE *file = b->out.file;
    const bool divides = b->what != NULL && !b->what->converts;
    const uint64_t *code = v->operand;
    fputs(v->mode, file);
    for (int f = 0; f < b->field_count; f++)
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(file, ",%s", number_print_code(text, *code++, b->fields[f].format.bits));
    fprintf(file, ",%s", number_print_code(text, v->result, b->to.bits));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (divides || flags[i] != FLAG_DIVISION_BY_ZERO)
            fprintf(file, ",%d", (v->flags & flags[i]) != 0);
    code = v->operand;
    for (int f = 0; f < b->field_count; f++)
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(file, ",%s", number_print(text, fpemu_decode_one_f64(&b->fields[f].format, *code++)));
    fprintf(file, ",%s", number_print(text, fpemu_decode_one_f64(&b->to, v->result)));
    fprintf(file, "%s%s\n", v->name != NULL ? "," : "", v->name != NULL ? v->name : "");
}

typedef struct form {
    const char *name;
    void (*head)(const bench *b);
    void (*print)(const bench *b, const vector *v);
} form;
static const form forms[] = {{"hex", NULL, print_hex},
                             {"memh", head_memh, print_memh},
                             {"csv", head_csv, print_csv},
                             {"svh", head_svh, NULL},
                             {NULL, NULL, NULL}};

/* ------------------------------------------------------------------------------------------------- command */

typedef struct request {
    const char *operation, *form, *output, *tininess;
    dots_request dot; /* its `from`, `seed` and `level` are those of operations too */
    const char *modes[MOST_MODES];
    int mode_count;
    cli_rounding rounding;
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
    request q = {.operation = "convert", .form = "hex", .dot = {.level = 1}};
    for (int option; (option = cli_next(c, "r:o:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_OPERATION: q.operation = optarg; break;
        case CLI_OPT_FROM: q.dot.from = optarg; break;
        case OPT_MODEL: q.dot.model = optarg; break;
        case OPT_LENGTH: q.dot.length = cli_option_u64("--length", optarg, 1, DOTS_LONGEST); break;
        case OPT_SCALES: q.dot.scales = optarg; break;
        case OPT_TININESS: q.tininess = optarg; break;
        case 'r': add_modes(&q, optarg); break;
        case CLI_OPT_LEVEL: q.dot.level = (unsigned)cli_option_u64("--level", optarg, 1, 2); break;
        case CLI_OPT_SEED: /* of the operands, not of the rounding */
            q.dot.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
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
        cli_usage("--as: '%s' is none of: hex memh csv svh", name);
    return f;
}

/* The roundings of the modes, each accepted by the formats. */
static void read_roundings(const bench *b, const request *q, fpemu_rounding *roundings)
{
    const double zero = 0, *const zeros[OPERATION_MOST] = {&zero, &zero, &zero};
    double y;
    for (int i = 0; i < q->mode_count; i++) {
        cli_rounding asked = q->rounding;
        asked.mode = q->modes[i];
        roundings[i] = cli_rounding_get(&asked);
        const unsigned nan = roundings[i].nan != FPEMU_NAN_FROM_FORMAT ? roundings[i].nan : b->to.nan;
        if (roundings[i].mode == FPEMU_MODE_SR || roundings[i].mode == FPEMU_MODE_SE)
            cli_usage("vectors: stochastic rounding has no one result");
        if (nan == FPEMU_NAN_ERROR)
            cli_usage("vectors: the NaN policy 'error' gives no result");
        if (b->what == NULL)
            dots_check(&b->sums, &roundings[i]);
        else
            operation_run(b->what, &b->to, &roundings[i], 1, zeros, &y, NULL, b->spec);
    }
}

/* At once, while errno says why. */
static void check_written(const bench *b)
{
    if (ferror(b->out.file))
        cli_fail("%s: %s", b->out.path, strerror(errno));
}

static void write_vector(bench *b, vector *v, const fpemu_rounding *rounding)
{
    if (b->what == NULL)
        multiply_add_up(b, rounding, v);
    else if (b->what->converts)
        convert(b, rounding, v);
    else
        operate(b, rounding, v);
    judge_tininess(b, rounding, v);
    b->form->print(b, v);
    check_written(b);
}

static bool has_stage(const bench *b, const request *q, const input_depth *depth, input_stage stage)
{
    return (stage == INPUTS_ALL) == (b->in.bits <= depth->every_bits) &&
           (stage != INPUTS_COVERAGE || q->dot.level > 1 || !b->what->converts);
}

/* How many vectors of one rounding there are. */
static uint64_t count_vectors(const bench *b, const request *q, const input_depth *depth)
{
    uint64_t count = 0;
    for (unsigned which = 0; b->what == NULL && dots_case(which) != NULL; which++)
        count += dots_count(&b->sums, which);
    for (input_stage stage = INPUTS_BOUNDARY; b->what != NULL && stage < INPUT_STAGES; stage++)
        count += has_stage(b, q, depth, stage) ? b->in.count[stage] : 0;
    return count;
}

static void write_stage(bench *b, vector *v, input_stage stage, const fpemu_rounding *rounding)
{
    for (uint64_t i = 0; i < b->in.count[stage]; i++) {
        operands_codes(&b->in, stage, i, v->operand);
        write_vector(b, v, rounding);
    }
}

static void write_cases(bench *b, vector *v, const fpemu_rounding *rounding)
{
    for (unsigned which = 0; (v->name = dots_case(which)) != NULL; which++) {
        for (uint64_t i = 0; i < dots_count(&b->sums, which); i++) {
            dots_codes(&b->sums, which, i, v->operand);
            write_vector(b, v, rounding);
        }
    }
}

static void read_tininess(bench *b, const char *when)
{
    if (when == NULL)
        return;
    if (strcmp(when, "before") != 0 && strcmp(when, "after") != 0)
        cli_usage("--tininess: '%s' is neither before nor after", when);
    if (b->what == NULL || b->to.kind != FPEMU_KIND_FLOAT)
        cli_usage("--tininess: of conversions and operations to floats");
    b->tininess = strcmp(when, "before") == 0 ? TININESS_BEFORE : TININESS_AFTER;
}

static void add_field(bench *b, const char *name, const fpemu_format *format, size_t count)
{
    if (count > 0)
        b->fields[b->field_count++] = (field){name, *format, count};
}

static void start_operation(bench *b, const request *q)
{
    static const char *const names[OPERATION_MOST] = {"a", "b", "c"};
    b->what = operation_find(q->operation, " dot");
    if (q->dot.model != NULL || q->dot.length > 0 || q->dot.scales != NULL)
        cli_usage("vectors: --model, --length and --scales are for --op dot");
    for (int k = 0; k < OPERATION_MOST; k++)
        b->from[k] = b->to;
    if (q->dot.from != NULL || b->what->converts)
        operands_read_formats(b->what, b->what->operands, q->dot.from != NULL ? q->dot.from : "f32", b->from);
    for (int k = 0; k < b->what->operands; k++)
        add_field(b, b->what->converts ? "operand" : names[k], &b->from[k], 1);
}

static void start_dot(bench *b, const request *q)
{
    static const char *const names[DOTS_OPERANDS] = {"a", "b", "scale_a", "scale_b", "c"};
    b->sums = dots_start(&q->dot, &b->to);
    b->lanes = true;
    for (int s = 0; s < DOTS_OPERANDS; s++)
        add_field(b, names[s], &b->sums.format[s], b->sums.count[s]);
}

int cmd_vectors(int argc, char **argv)
{
    static const input_depth depths[] = {{.every_bits = 8, .per_binade = 1, .reach = 1},
                                         {.every_bits = 16, .per_binade = 5, .reach = 2}};
    static const uint64_t random_operands[] = {256, 65536};
    cli c = cli_start(argc, argv, help);
    request q = read_options(&c);
    cli_expect_operands(&c, 1, 1, "SPEC");
    bench b = {.spec = c.operand[0], .to = cli_format(c.operand[0]), .form = find_form(q.form)};
    const input_depth depth = depths[q.dot.level - 1];
    q.dot.random = random_operands[q.dot.level - 1];
    if (strcmp(q.operation, "dot") == 0)
        start_dot(&b, &q);
    else
        start_operation(&b, &q);
    read_tininess(&b, q.tininess);
    fpemu_rounding roundings[MOST_MODES];
    read_roundings(&b, &q, roundings);
    if (b.what != NULL)
        b.in = operands_start(b.what, b.from, &b.to, depth, q.dot.random, q.dot.seed);
    b.count = (uint64_t)q.mode_count * count_vectors(&b, &q, &depth);
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
    for (int i = 0; i < q.mode_count && b.form->print != NULL; i++) {
        vector v = {.mode = q.modes[i], .mode_number = roundings[i].mode};
        if (b.what == NULL) {
            write_cases(&b, &v, &roundings[i]);
            continue;
        }
        for (input_stage stage = INPUTS_BOUNDARY; stage < INPUT_STAGES; stage++)
            if (has_stage(&b, &q, &depth, stage))
                write_stage(&b, &v, stage, &roundings[i]);
    }
    if (q.output != NULL)
        output_commit(&b.out);
    if (b.what == NULL)
        dots_end(&b.sums);
    else
        operands_end(&b.in);
    return CLI_OK;
}
