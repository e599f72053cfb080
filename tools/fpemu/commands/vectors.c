/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.c - fpemu vectors: operands, results and flags for a simulator's test bench. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    "flags, in hexadecimal. To and from a format with scales they are tensors of --length numbers.\n"
    "\n"
    "      --op OPERATION    convert (default) add sub mul div sqrt fma minimum maximum\n"
    "                        minimum-number maximum-number; dot: a sum of products; gemm: M x N of them\n"
    "      --from SPEC2[,SPEC3...]\n"
    "                        format of the operands, one for all or one for each, also f32 or f64\n"
    "                        (default: f32 for a conversion, SPEC for an operation)\n"
    "      --model MODEL     dot, gemm: how products are added up, as for 'fpemu gemm', or with\n"
    "                        start=c; its ab=, a=, b= are the operands\n"
    "      --length N        dot: products (default: 4); tensors: elements (default: a block);\n"
    "                        1 to 256\n"
    "      --shape MxNxK     gemm: M and N 1 to 16, K 1 to 256 (default: 2x2x4)\n"
    "      --scales SPEC2    dot, gemm: format of the scales of the model's blocks\n"
    "  -r, --rounding MODE[,MODE...]\n"
    "                        as for 'fpemu round'; may be repeated (default: rne); sr and se have\n"
    "                        a column of random bits, four vectors for each operand\n"
    "      --bits N          random bits of a result (default: 32)\n"
    "      --variant V       a, b or c, as for 'fpemu round'\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --level N         1: boundaries and a few random operands (default); 2: more of both,\n"
    "                        and every exponent with ties at every place\n"
    "      --seed N          seed of the random operands (default: 0)\n"
    "      --as FORM         hex: mode, operands, result, flags, a space between them (default)\n"
    "                        memh: the same as one word a line, as $readmemh reads it\n"
    "                        csv: a column for each flag, and the values\n"
    "                        (memh and csv name the case of sums and tensors)\n"
    "                        svh: no vectors, but localparams of SystemVerilog for those of memh:\n"
    "                        how many there are, and where each field is\n"
    "                        testfloat: what testfloat_ver reads; --tininess is after by default\n"
    "      --tininess WHEN   before or after rounding: flag 02 is IEEE 754's underflow, a tiny and\n"
    "                        inexact result (default: 02 is our counter, a result of zero); 10 is\n"
    "                        raised by signalling NaN\n"
    "      --box N           operands and results of operations in N bits, 8 to 64, those above their own\n"
    "                        all 1, as RISC-V boxes NaN; where they are not, an operand counts as NaN\n"
    "      --classes         names the classes of the operands (of sums and tensors: of the result)\n"
    "                        and the case of rounding, behind each vector\n"
    "      --cover           prints how many vectors there are of each of these, aims at those that\n"
    "                        are missing; vectors go to the file of -o alone\n"
    "  -o, --output FILE     the file to write (default: standard output)\n"
    "\n"
    "Flags: 01 inexact, 02 underflow, 04 overflow, 08 division by zero, 10 invalid, 20 subnormal.\n"
    "Modes: 0 rne, 1 rna, 2 rnz, 3 rtz, 4 raz, 5 rtp, 6 rtn, 7 rto, 8 sr, 9 se, a rnp.\n"
    "\n"
    "Examples: fpemu vectors e4m3fn --from fp16 -r rne,rtz --as memh -o vectors.mem\n"
    "          fpemu vectors fp16 --op fma --from e4m3fn,e4m3fn,fp16\n"
    "          fpemu vectors fp32 --op dot --model 'tc(h100,e4m3fn); start=c' --length 32\n"
    "          fpemu vectors fp32 --op dot --model 'chunk(32,fp32); ab=e2m1' --length 64 --scales e8m0\n"
    "          fpemu vectors mxfp4 --from bf16 -r sr --bits 8 --cover -o mxfp4.txt\n";

enum {
    OPT_MODEL = CLI_OPT_HANG + 1000,
    OPT_LENGTH,
    OPT_SHAPE,
    OPT_SCALES,
    OPT_TININESS,
    OPT_BOX,
    OPT_CLASSES,
    OPT_COVER
};

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"model", required_argument, NULL, OPT_MODEL},
                                        {"length", required_argument, NULL, OPT_LENGTH},
                                        {"shape", required_argument, NULL, OPT_SHAPE},
                                        {"scales", required_argument, NULL, OPT_SCALES},
                                        {"tininess", required_argument, NULL, OPT_TININESS},
                                        {"box", required_argument, NULL, OPT_BOX},
                                        {"classes", no_argument, NULL, OPT_CLASSES},
                                        {"cover", no_argument, NULL, OPT_COVER},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},
                                        {"nan", required_argument, NULL, CLI_OPT_NAN},
                                        {"bits", required_argument, NULL, CLI_OPT_BITS},
                                        {"variant", required_argument, NULL, CLI_OPT_VARIANT},
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

enum { MOST_MODES = 16, MOST_RESULTS = 256, MOST_ROWS = 128, CLASSES_SIZE = 64 };

typedef struct vector {
    const char *mode; /* as the user wrote it */
    unsigned mode_number;
    const char *name; /* of the case, for sums and tensors */
    uint64_t *code;   /* of all fields, one after the other */
    double *value;    /* of codes of no format */
    double *exact;    /* what the results are rounded from */
    unsigned flags;
    int unboxed;              /* an operand whose upper bits are 0, counted from 1; 0: none */
    int row;                  /* of the cells that it hits, */
    bool hit[CELL_ROUNDINGS]; /* and their columns */
    char classes[CLASSES_SIZE];
} vector;

/* An operand, or `lanes` of one side by side: a0, a1, ...; results last. */
typedef struct field {
    const char *name;
    unsigned bits;
    fpemu_format format; /* of kind FPEMU_KIND_INVALID: its values are computed */
    size_t count;
} field;
enum { MOST_FIELDS = DOTS_OPERANDS + 2 };

typedef struct bench {
    const char *spec;
    enum { OPERATIONS, SUMS, TENSORS } kind;
    const operation *what; /* of sums and tensors NULL */
    fpemu_format from[OPERATION_MOST], to;
    field fields[MOST_FIELDS];
    int field_count, first_result;
    size_t random, scale, results, codes; /* indices of the first such code, and how many codes there are */
    unsigned random_bits;                 /* 0: no stochastic rounding */
    uint32_t words[MOST_RESULTS];
    operands in;
    uint64_t count, seed; /* `count`: vectors */
    enum { TININESS_OURS, TININESS_BEFORE, TININESS_AFTER } tininess;
    dots sums;
    blocks tensors;
    bool classes, cover;
    unsigned level;
    uint64_t hits[MOST_ROWS][CELL_ROUNDINGS], tried;
    bool seen[MOST_ROWS][CELL_ROUNDINGS]; /* in this mode */
    const struct form *form;
    output out; /* its file is stdout where no other was asked for, NULL where nothing is printed */
} bench;

static const char *const field_names[OPERATION_MOST] = {"a", "b", "c"};
static const fpemu_rounding nearest = {.mode = FPEMU_MODE_RNE};
static const input_depth depths[] = {{.every_bits = 8, .per_binade = 1, .reach = 1},
                                     {.every_bits = 16, .per_binade = 5, .reach = 2}};

typedef struct request {
    const char *operation, *form, *output, *tininess;
    dots_request dot; /* its `from`, `length`, `seed` and `level` are those of the others too */
    const char *modes[MOST_MODES];
    int mode_count;
    cli_rounding rounding;
    bool classes, cover;
    unsigned box;
} request;

static bool is_random(const fpemu_rounding *rounding)
{
    return FPEMU_MODE_DRAWS(rounding->mode);
}

/* Of sums and tensors; NULL past the end, and for operations. */
static const char *case_name(const bench *b, unsigned which)
{
    return b->kind == SUMS ? dots_case(which) : b->kind == TENSORS ? blocks_case(&b->tensors, which) : NULL;
}

static bool is_exhaustive(const bench *b)
{
    return b->in.bits <= depths[b->level - 1].every_bits;
}

/* Vectors of a stage, or a case. */
static uint64_t count_of(const bench *b, unsigned which)
{
    if (b->kind == SUMS)
        return dots_count(&b->sums, which);
    if (b->kind == TENSORS)
        return blocks_count(&b->tensors, which);
    const bool skipped = which == INPUTS_COVERAGE && b->level == 1 && b->what->converts;
    return (which == INPUTS_ALL) == is_exhaustive(b) && !skipped ? b->in.count[which] : 0;
}

/* ------------------------------------------------------------------------------------------------- results */

static unsigned flags_of(const fpemu_stats *s)
{
    return (s->inexact ? FLAG_INEXACT : 0u) | (s->underflow ? FLAG_UNDERFLOW : 0u) |
           (s->overflow ? FLAG_OVERFLOW : 0u) | (s->div_by_zero ? FLAG_DIVISION_BY_ZERO : 0u) |
           (s->invalid ? FLAG_INVALID : 0u) | (s->subnormal ? FLAG_SUBNORMAL : 0u);
}

/* A NaN of an operand whose first bit of the mantissa, the quiet one, is 0. */
static bool is_signalling(const fpemu_format *format, uint64_t code)
{
    return format->kind == FPEMU_KIND_FLOAT && format->specials == FPEMU_SPECIALS_IEEE && format->mantissa_bits > 0 &&
           isnan(fpemu_decode_one_f64(format, code)) && (code >> (format->mantissa_bits - 1) & 1) == 0;
}

/* IEEE 754's flags in place of ours. Underflow: the exact result, or what it rounds to as if exponents had no end, is
 * below the smallest normal number, and the result inexact. To find that, the result is 2^up times larger, among
 * binary64's normal numbers; `up` is even or odd so that ties of a format without a mantissa, which look at the
 * exponent, go the same way. */
static int tininess_up(const bench *b)
{
    return 64 + ((b->to.bias + 1) & 1);
}

static fpemu_format without_end(const bench *b)
{
    fpemu_format wide;
    cli_check(fpemu_format_float(&wide, 11, b->to.mantissa_bits, 1023, FPEMU_SPECIALS_IEEE, 1), b->spec);
    return wide;
}

/* Of sums the last rounding counts. */
static void judge_sums(bench *b, const fpemu_rounding *rounding, vector *v)
{
    const size_t n = b->codes - b->results;
    const fpemu_format wide = without_end(b);
    dots_run(&b->sums, NULL, v->code, v->exact, NULL);
    v->flags &= ~(unsigned)FLAG_UNDERFLOW;
    for (size_t k = 0; k < n; k++) {
        double y = ldexp(v->exact[k], tininess_up(b));
        if (b->tininess == TININESS_AFTER)
            y = fpemu_quantize_one_f64(&wide, rounding, y, k);
        const bool inexact = v->exact[k] != fpemu_decode_one_f64(&b->to, v->code[b->results + k]);
        if (inexact && fabs(y) < ldexp(fpemu_format_min_normal(&b->to), tininess_up(b)))
            v->flags |= FLAG_UNDERFLOW;
    }
    for (size_t s = 0, i = 0; s < DOTS_OPERANDS; s++)
        for (size_t k = 0; k < b->sums.all[s]; k++, i++)
            v->flags |= is_signalling(&b->sums.format[s], v->code[i]) ? FLAG_INVALID : 0u;
}

static void judge_operation(bench *b, const fpemu_rounding *rounding, vector *v)
{
    const fpemu_operation code = b->what->code;
    const bool root = code == FPEMU_OPERATION_SQRT,
               product = code == FPEMU_OPERATION_MUL || code == FPEMU_OPERATION_DIV || code == FPEMU_OPERATION_FMA;
    const int up = tininess_up(b);
    const fpemu_format wide = without_end(b);
    double x[OPERATION_MOST] = {0, 0, 0}, raw[OPERATION_MOST] = {0, 0, 0}, y;
    const double *const operands[] = {&x[0], &x[1], &x[2]};
    for (int k = 0; k < b->what->operands; k++) {
        raw[k] = fpemu_decode_one_f64(&b->from[k], v->code[k]);
        x[k] = ldexp(raw[k], root ? 2 * up : product && k == 1 ? 0 : up);
        v->flags |= is_signalling(&b->from[k], v->code[k]) ? FLAG_INVALID : 0u;
    }
    const double none = isnan(raw[0]) || isnan(raw[1]) ? 0 : raw[0] * raw[1]; /* infinity times zero, plus NaN */
    v->flags |= code == FPEMU_OPERATION_FMA && isnan(none) ? FLAG_INVALID : 0u;
    if (b->tininess == TININESS_AFTER)
        operation_run(b->what, &wide, rounding, 1, operands, &y, NULL, b->spec);
    else
        y = operation_exact(b->what, x);
    const bool tiny = fabs(y) < ldexp(fpemu_format_min_normal(&b->to), up); /* what is inexact is no zero */
    v->flags = (v->flags & ~(unsigned)FLAG_UNDERFLOW) | (tiny && (v->flags & FLAG_INEXACT) ? FLAG_UNDERFLOW : 0u);
}

/* In binary32 where that holds both formats, else in binary64. */
static void convert(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    const fpemu_format *from = &b->from[0];
    fpemu_stats stats = {0};
    uint64_t code = 0;
    if (fpemu_format_fits_f32(from) && fpemu_format_fits_f32(&b->to)) {
        const float x = fpemu_decode_one_f32(from, v->code[0]);
        cli_check_call(fpemu_encode_f32(&b->to, rounding, 1, &x, &code, &stats), &b->to, rounding, false,
                       FPEMU_USE_ENCODE, b->spec);
    } else {
        const double x = fpemu_decode_one_f64(from, v->code[0]);
        cli_check_call(fpemu_encode_f64(&b->to, rounding, 1, &x, &code, &stats), &b->to, rounding, true,
                       FPEMU_USE_ENCODE, b->spec);
    }
    v->code[b->results] = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

static void operate(const bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t code = 0;
    double x[OPERATION_MOST], y;
    const double *const operands[] = {&x[0], &x[1], &x[2]};
    for (int k = 0; k < OPERATION_MOST; k++)
        x[k] = k < b->what->operands ? fpemu_decode_one_f64(&b->from[k], v->code[k]) : 0;
    operation_run(b->what, &b->to, rounding, 1, operands, &y, &stats, b->spec);
    cli_check(fpemu_encode_f64(&b->to, &nearest, 1, &y, &code, NULL), b->spec); /* a value already, or NaN */
    v->code[b->results] = number_load_code(&code, fpemu_format_code_size(&b->to), 0);
    v->flags = flags_of(&stats);
}

/* Flags are of every rounding on the way, but `subnormal`, which is about the result. Models have no random bits of the
 * caller: the last rounding, from a sum that is rounded to odd, is made here. */
static void multiply_add_up(bench *b, const fpemu_rounding *rounding, vector *v)
{
    fpemu_stats stats = {0};
    uint64_t codes[MOST_RESULTS];
    double y[MOST_RESULTS];
    const size_t n = b->codes - b->results;
    const bool random = is_random(rounding);
    dots_run(&b->sums, random ? NULL : rounding, v->code, y, &stats);
    cli_check(fpemu_encode_f64(&b->to, random ? rounding : &nearest, n, y, codes, random ? &stats : NULL), b->spec);
    stats.subnormal = 0;
    for (size_t k = 0; k < n; k++) {
        v->code[b->results + k] = number_load_code(codes, fpemu_format_code_size(&b->to), k);
        stats.subnormal +=
            cell_class_of(&b->to, fpemu_decode_one_f64(&b->to, v->code[b->results + k])) == CELL_SUBNORMAL;
    }
    v->flags = flags_of(&stats);
}

/* ------------------------------------------------------------------------------------------------ classes */

/* The classes and the case of rounding; of several results the last in the order of cases. */
static void classify(bench *b, vector *v, unsigned which)
{
    double x[OPERATION_MOST] = {0, 0, 0};
    const size_t n = b->codes - b->results;
    const field *last = &b->fields[b->field_count - 1];
    int used = 0;
    cell_rounding rarest = CELL_EXACT;
    v->row = 0;
    memset(v->hit, 0, sizeof v->hit);
    if (b->kind == SUMS)
        dots_run(&b->sums, NULL, v->code, v->exact, NULL);
    for (int k = 0; b->kind == OPERATIONS && k < b->what->operands; k++) {
        x[k] = fpemu_decode_one_f64(&b->from[k], v->code[k]);
        const cell_class class = cell_class_of(&b->from[k], x[k]);
        v->row = v->row * CELL_CLASSES + (int)class;
        used += snprintf(v->classes + used, CLASSES_SIZE - (size_t)used, "%s.", cell_class_names[class]);
    }
    if (b->kind == OPERATIONS)
        v->exact[0] = operation_exact(b->what, x);
    for (size_t k = 0; k < n; k++) {
        const cell_rounding rounding = cell_rounding_of(&last->format, v->exact[k]);
        v->hit[rounding] = true;
        rarest = rounding > rarest ? rounding : rarest;
    }
    if (b->kind != OPERATIONS || b->what->operands == 1) {
        cell_class class = CELL_ZERO;
        for (size_t k = 0; k < n; k++) {
            const cell_class other =
                cell_class_of(&last->format, fpemu_decode_one_f64(&last->format, v->code[b->results + k]));
            class = other > class ? other : class;
        }
        v->row = (b->kind == OPERATIONS ? v->row : (int)which) * CELL_CLASSES + (int)class;
        used += snprintf(v->classes + used, CLASSES_SIZE - (size_t)used, "%s.", cell_class_names[class]);
    }
    snprintf(v->classes + used, CLASSES_SIZE - (size_t)used, "%s", cell_rounding_names[rarest]);
}

/* --------------------------------------------------------------------------------------------------- forms */

static int digits(const field *x)
{
    return (int)(x->bits + 3) / 4;
}

/* As it stands in its field: all bits above the format's own are 1, but those of an operand that is a NaN by their
 * being 0, which looks like 1.0. */
static uint64_t boxed(const bench *b, const vector *v, int f, uint64_t code)
{
    const field *x = &b->fields[f];
    if (v->unboxed == f + 1)
        return fpemu_encode_one_f64(&x->format, &nearest, 1, 0);
    const bool fills = x->format.kind == FPEMU_KIND_INVALID || x->format.bits >= x->bits;
    return fills ? code : code | (UINT64_MAX >> (64 - x->bits) & UINT64_MAX << x->format.bits);
}

static void print_codes(const bench *b, const vector *v, char between, unsigned flags)
{
    FILE *file = b->out.file;
    const uint64_t *code = v->code;
    for (int f = 0; f < b->field_count; f++)
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(file, "%0*" PRIx64 "%c", digits(&b->fields[f]), boxed(b, v, f, *code++), between);
    fprintf(file, "%02x", flags);
}

static void print_testfloat(const bench *b, const vector *v)
{
    print_codes(b, v, ' ', v->flags & ~(unsigned)FLAG_SUBNORMAL);
    fputc('\n', b->out.file);
}

static void print_hex(const bench *b, const vector *v)
{
    fprintf(b->out.file, "%x ", v->mode_number);
    print_codes(b, v, ' ', v->flags);
    fprintf(b->out.file, "%s%s\n", b->classes ? " " : "", b->classes ? v->classes : "");
}

/* Bits of a vector. */
static int width(const bench *b)
{
    int bits = 4 + 8;
    for (int f = 0; f < b->field_count; f++)
        bits += (int)b->fields[f].count * 4 * digits(&b->fields[f]);
    return bits;
}

static void print_svh(const bench *b)
{
    FILE *file = b->out.file;
    int low = width(b) - 4;
    fprintf(file, "localparam int COUNT = %" PRIu64 ", WIDTH = %d, MODE_LOW = %d;\n", b->count, width(b), low);
    for (int f = 0; f < b->field_count; f++) {
        const field *x = &b->fields[f];
        const int bits = 4 * digits(x);
        char name[16] = "";
        for (size_t i = 0; x->name[i] != '\0' && i + 1 < sizeof name; i++)
            name[i] = (char)toupper((unsigned char)x->name[i]);
        low -= (int)x->count * bits;
        fprintf(file, "localparam int %s_LOW = %d, %s_BITS = %d, %s_LANES = %zu;%s\n", name, low, name, bits, name,
                x->count, x->count > 1 ? " // the first lane is the highest" : "");
    }
    fprintf(file, "localparam int FLAGS_LOW = 0;\n");
}

static void head_memh(const bench *b)
{
    char from[OPERANDS_FORMATS_SIZE], to[CLI_SPEC_SIZE];
    FILE *file = b->out.file;
    int low = width(b) - 4; /* of the mode */
    cli_spec(&b->to, to);
    if (b->kind == SUMS && b->sums.rows * b->sums.columns > 1)
        fprintf(file, "// product of %zux%zux%zu, %s, to %s\n", b->sums.rows, b->sums.columns, b->sums.count[DOTS_A],
                b->sums.text, to);
    else if (b->kind == SUMS)
        fprintf(file, "// dot product of %zu, %s, to %s\n", b->sums.count[DOTS_A], b->sums.text, to);
    else if (b->kind == TENSORS)
        fprintf(file, "// %zu of %s to %s\n", b->tensors.length, cli_spec(&b->from[0], from), to);
    else if (b->what->converts)
        fprintf(file, "// %s to %s\n", operands_print_formats(b->what, b->from, from), to);
    else
        fprintf(file, "// %s of %s to %s\n", b->what->name, operands_print_formats(b->what, b->from, from), to);
    fprintf(file, "// %d bits: mode [%d:%d]", low + 4, low + 3, low);
    for (int f = 0; f < b->field_count; f++) {
        const field *x = &b->fields[f];
        const int bits = (int)x->count * 4 * digits(x);
        low -= bits;
        fprintf(file, ", %s [%d:%d]", x->name, low + bits - 1, low);
        if (x->count > 1)
            fprintf(file, " = %s[0] to %s[%zu], %d bits each", x->name, x->name, x->count - 1, 4 * digits(x));
    }
    fputs(", flags [7:0]\n", file);
}

/* An underscore may stand between the digits of a number in Verilog. */
static void print_memh(const bench *b, const vector *v)
{
    if (v->name != NULL || b->classes)
        fprintf(b->out.file, "// %s%s%s\n", v->name != NULL ? v->name : "", v->name != NULL && b->classes ? " " : "",
                b->classes ? v->classes : "");
    fprintf(b->out.file, "%x_", v->mode_number);
    print_codes(b, v, '_', v->flags);
    fputc('\n', b->out.file);
}

/* ",a,b,c", and of lanes ",a0,a1"; with `behind` after each. */
static void head_fields(const bench *b, const char *behind)
{
    for (int f = 0; f < b->field_count; f++) {
        const bool numbered = b->fields[f].count > 1 || (b->kind != OPERATIONS && f < b->first_result);
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(b->out.file, numbered ? ",%s%zu%s" : ",%s%.0zu%s", b->fields[f].name, numbered ? k : 0, behind);
    }
}

/* Only operations divide. */
static void head_csv(const bench *b)
{
    FILE *file = b->out.file;
    const bool divides = b->kind == OPERATIONS && !b->what->converts;
    fputs("mode", file);
    head_fields(b, "");
    fprintf(file, ",inexact,underflow,overflow%s,invalid,subnormal", divides ? ",division_by_zero" : "");
    head_fields(b, "_value");
    fprintf(file, "%s%s\n", b->kind != OPERATIONS ? ",case" : "", b->classes ? ",classes" : "");
}

static void print_csv(const bench *b, const vector *v)
{
    static const unsigned flags[] = {FLAG_INEXACT,          FLAG_UNDERFLOW, FLAG_OVERFLOW,
                                     FLAG_DIVISION_BY_ZERO, FLAG_INVALID,   FLAG_SUBNORMAL};
    char text[NUMBER_SIZE];
    FILE *file = b->out.file;
    const bool divides = b->kind == OPERATIONS && !b->what->converts;
    size_t i = 0;
    fputs(v->mode, file);
    for (int f = 0; f < b->field_count; f++)
        for (size_t k = 0; k < b->fields[f].count; k++)
            fprintf(file, ",%s", number_print_code(text, boxed(b, v, f, v->code[i++]), b->fields[f].bits));
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (divides || flags[k] != FLAG_DIVISION_BY_ZERO)
            fprintf(file, ",%d", (v->flags & flags[k]) != 0);
    i = 0;
    for (int f = 0; f < b->field_count; f++) {
        const fpemu_format *format = &b->fields[f].format;
        for (size_t k = 0; k < b->fields[f].count; k++, i++)
            fprintf(file, ",%s",
                    number_print(text, format->kind != FPEMU_KIND_INVALID ? fpemu_decode_one_f64(format, v->code[i])
                                                                          : v->value[i]));
    }
    fprintf(file, "%s%s%s%s\n", v->name != NULL ? "," : "", v->name != NULL ? v->name : "", b->classes ? "," : "",
            b->classes ? v->classes : "");
}

typedef struct form {
    const char *name;
    void (*head)(const bench *b);
    void (*print)(const bench *b, const vector *v);
    void (*end)(const bench *b);
} form;
static const form forms[] = {
    {"hex", NULL, print_hex, NULL}, {"memh", head_memh, print_memh, NULL},      {"csv", head_csv, print_csv, NULL},
    {"svh", NULL, NULL, print_svh}, {"testfloat", NULL, print_testfloat, NULL}, {NULL, NULL, NULL, NULL}};

static int row_columns(const bench *b)
{
    return b->kind == OPERATIONS && b->what->operands > 1 ? b->what->operands : 2;
}

/* What a row of cells is about, by a column of names; false where formats have no such numbers. */
static bool name_row(const bench *b, int row, const char *names[OPERATION_MOST])
{
    const bool ordinary = b->kind == OPERATIONS;
    const fpemu_format *result = &b->fields[b->field_count - 1].format;
    bool exists = true;
    for (int k = row_columns(b) - 1; k >= 0; k--, row /= CELL_CLASSES) {
        const cell_class class = (cell_class)(row % CELL_CLASSES);
        if (!ordinary && k == 0) {
            names[0] = case_name(b, (unsigned)row);
            return exists && names[0] != NULL && count_of(b, (unsigned)row) > 0;
        }
        names[k] = cell_class_names[class];
        exists = exists && cell_class_exists(ordinary && k < b->what->operands ? &b->from[k] : result, class);
    }
    return exists && row == 0;
}

/* A row for each combination of classes, a column for each case of rounding. */
static void print_cover(const bench *b)
{
    const char *names[OPERATION_MOST];
    const int columns = row_columns(b), first = b->kind == OPERATIONS ? 10 : 18;
    const bool result = b->kind != OPERATIONS || b->what->operands == 1;
    int rows = 0, hit = 0;
    for (int k = 0; k < columns; k++) {
        const char *name = b->kind != OPERATIONS ? "case" : b->what->operands == 1 ? "operand" : field_names[k];
        printf("%-*s ", k == 0 ? first : 10, k == 1 && result ? "result" : name);
    }
    for (int k = 0; k < CELL_ROUNDINGS; k++)
        printf(" %8s", cell_rounding_names[k]);
    putchar('\n');
    for (int row = 0; row < MOST_ROWS; row++) {
        if (!name_row(b, row, names))
            continue;
        rows++;
        for (int k = 0; k < columns; k++)
            printf("%-*s ", k == 0 ? first : 10, names[k]);
        for (int k = 0; k < CELL_ROUNDINGS; k++) {
            hit += b->hits[row][k] > 0;
            if (b->hits[row][k] > 0)
                printf(" %8" PRIu64, b->hits[row][k]);
            else
                printf(" %8s", "-");
        }
        putchar('\n');
    }
    printf("%d of %d cells, ", hit, rows * CELL_ROUNDINGS);
    if (b->tried > 0)
        printf("after %" PRIu64 " tries at the rest\n", b->tried);
    else
        puts("by all operands there are");
}

/* -------------------------------------------------------------------------------------------------- vectors */

/* At once, while errno says why. */
static void check_written(const bench *b)
{
    if (b->out.file != NULL && ferror(b->out.file))
        cli_fail("%s: %s", b->out.path, strerror(errno));
}

static void print_vector(bench *b, const vector *v)
{
    for (int k = 0; k < CELL_ROUNDINGS; k++) {
        b->hits[v->row][k] += v->hit[k];
        b->seen[v->row][k] |= v->hit[k];
    }
    b->count++;
    if (b->out.file != NULL && b->form->print != NULL)
        b->form->print(b, v);
    check_written(b);
}

/* With these random bits of each result. */
static void run(bench *b, const fpemu_rounding *rounding, vector *v, const uint64_t *bits)
{
    fpemu_stats stats = {0};
    for (size_t k = 0; b->random_bits > 0 && k < b->codes - b->results; k++) {
        v->code[b->random + k] = is_random(rounding) ? bits[k] : 0;
        v->value[b->random + k] = (double)v->code[b->random + k];
        b->words[k] = (uint32_t)(v->code[b->random + k] << (32 - b->random_bits));
    }
    if (b->kind == SUMS) {
        multiply_add_up(b, rounding, v);
    } else if (b->kind == TENSORS) {
        const size_t first = b->tensors.decodes ? b->results : b->scale - b->tensors.tensor;
        blocks_run(&b->tensors, rounding, v->code, v->code + first, v->value + b->scale, v->exact, &stats);
        v->flags = flags_of(&stats);
    } else {
        (b->what->converts ? convert : operate)(b, rounding, v);
    }
    if (b->tininess != TININESS_OURS)
        (b->kind == SUMS ? judge_sums : judge_operation)(b, rounding, v);
}

/* The most random bits with which each result is that of none. */
static void find_turns(bench *b, const fpemu_rounding *rounding, vector *v, uint64_t *low)
{
    uint64_t high[MOST_RESULTS], tried[MOST_RESULTS] = {0}, without[MOST_RESULTS];
    const size_t n = b->codes - b->results;
    memcpy(without, v->code + b->results, n * sizeof *without);
    for (size_t k = 0; k < n; k++) {
        low[k] = 0;
        high[k] = UINT64_MAX >> (64 - b->random_bits);
    }
    for (unsigned step = 0; step < b->random_bits; step++) {
        for (size_t k = 0; k < n; k++)
            tried[k] = low[k] + (high[k] - low[k] + 1) / 2;
        run(b, rounding, v, tried);
        for (size_t k = 0; k < n; k++)
            if (v->code[b->results + k] == without[k])
                low[k] = tried[k];
            else
                high[k] = tried[k] - 1;
    }
}

/* The operands are there. With random bits four vectors: none, the most that change nothing, one more, and any, by turns
 * where there are several results. */
static void write_vector(bench *b, vector *v, const fpemu_rounding *rounding, unsigned which, bool anew)
{
    const size_t n = b->codes - b->results;
    uint64_t bits[MOST_RESULTS] = {0}, turn[MOST_RESULTS];
    run(b, rounding, v, bits);
    if (b->classes || b->cover)
        classify(b, v, which);
    bool hits = !anew;
    for (int k = 0; k < CELL_ROUNDINGS; k++)
        hits = hits || (v->hit[k] && !b->seen[v->row][k]);
    if (!hits)
        return;
    if (!is_random(rounding)) {
        print_vector(b, v);
        return;
    }
    find_turns(b, rounding, v, turn);
    const uint64_t most = UINT64_MAX >> (64 - b->random_bits), place = b->count;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < n; k++) {
            const uint64_t any = inputs_random(b->seed, 60, place * MOST_RESULTS + k) & most;
            const uint64_t choice[] = {0, turn[k], turn[k] < most ? turn[k] + 1 : most, any};
            bits[k] = choice[(i + k) % 4];
        }
        run(b, rounding, v, bits);
        if (b->classes || b->cover)
            classify(b, v, which);
        print_vector(b, v);
    }
}

static void fill(bench *b, unsigned which, uint64_t i, vector *v)
{
    v->name = case_name(b, which);
    if (b->kind == OPERATIONS)
        operands_codes(&b->in, (input_stage)which, i, v->code);
    else if (b->kind == SUMS)
        dots_codes(&b->sums, which, i, v->code);
    else
        blocks_codes(&b->tensors, which, i, v->code);
}

/* Some operands of a random class in place of random ones, near a result's boundaries by turns. */
static void fill_by_class(bench *b, uint64_t i, vector *v)
{
    const input_stage stage = b->what->converts || i % 2 == 0 ? INPUTS_RANDOM : INPUTS_COVERAGE;
    fill(b, stage, b->in.count[stage] + i / 2, v);
    for (int k = 0; k < b->what->operands; k++) {
        const fpemu_format *from = &b->from[k];
        const uint64_t r = inputs_random(b->seed, 61, i * OPERATION_MOST + (uint64_t)k);
        const double small = fpemu_format_min_normal(from) * (double)(r >> 40) * 0x1p-24,
                     sign = r / 8 % 2 == 0 ? 1 : -1;
        const double points[] = {0, small, (double)INFINITY, (double)NAN};
        if (r % 8 < 4)
            v->code[k] =
                fpemu_encode_one_f64(from, &nearest, from->is_signed ? sign * points[r % 8] : points[r % 8], 0);
    }
}

/* Vectors that hit cells which were not. */
static void aim(bench *b, const fpemu_rounding *rounding, vector *v)
{
    enum { TRIES_OF_OPERATIONS = 1 << 17, TRIES_OF_A_CASE = 256 };
    if (b->kind == OPERATIONS && is_exhaustive(b))
        return;
    for (uint64_t i = 0; b->kind == OPERATIONS && i < TRIES_OF_OPERATIONS; i++, b->tried++) {
        fill_by_class(b, i, v);
        write_vector(b, v, rounding, 0, true);
    }
    for (unsigned which = 0; b->kind != OPERATIONS && case_name(b, which) != NULL; which++) {
        for (uint64_t i = 0; count_of(b, which) > 0 && i < TRIES_OF_A_CASE; i++, b->tried++) {
            fill(b, which, count_of(b, which) + i, v);
            write_vector(b, v, rounding, which, true);
        }
    }
}

/* Vectors for each operand that has a box, in which it is a NaN for want of one. */
static void write_unboxed(bench *b, const fpemu_rounding *rounding, vector *v)
{
    const input_stage stage = is_exhaustive(b) ? INPUTS_ALL : INPUTS_RANDOM;
    const uint64_t some = b->what->operands > 1 ? 4 : 1; /* by what the others are */
    for (int k = 0; k < b->what->operands; k++) {
        const fpemu_format *from = &b->from[k];
        for (uint64_t i = 0; from->has_nan && b->fields[k].bits > from->bits && i < some; i++) {
            fill(b, stage, i, v);
            v->code[k] = from->nan_code;
            v->unboxed = k + 1;
            write_vector(b, v, rounding, 0, false);
        }
    }
    v->unboxed = 0;
}

static void write_mode(bench *b, const char *name, const fpemu_rounding *rounding, vector *v)
{
    v->mode = name;
    v->mode_number = rounding->mode;
    memset(b->seen, 0, sizeof b->seen);
    for (unsigned which = 0; b->kind == OPERATIONS ? which < INPUT_STAGES : case_name(b, which) != NULL; which++) {
        for (uint64_t i = 0; i < count_of(b, which); i++) {
            fill(b, which, i, v);
            write_vector(b, v, rounding, which, false);
        }
    }
    if (b->kind == OPERATIONS)
        write_unboxed(b, rounding, v);
    if (b->cover)
        aim(b, rounding, v);
}

/* ------------------------------------------------------------------------------------------------- command */

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
    request q = {.operation = "convert", .dot = {.level = 1}};
    for (int option; (option = cli_next(c, "r:o:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_OPERATION: q.operation = optarg; break;
        case CLI_OPT_FROM: q.dot.from = optarg; break;
        case OPT_MODEL: q.dot.model = optarg; break;
        case OPT_LENGTH: q.dot.length = cli_option_u64("--length", optarg, 1, DOTS_LONGEST); break;
        case OPT_SHAPE: q.dot.shape = optarg; break;
        case OPT_SCALES: q.dot.scales = optarg; break;
        case OPT_TININESS: q.tininess = optarg; break;
        case OPT_BOX: q.box = (unsigned)cli_option_u64("--box", optarg, 8, 64); break;
        case OPT_CLASSES: q.classes = true; break;
        case OPT_COVER: q.cover = true; break;
        case 'r': add_modes(&q, optarg); break;
        case CLI_OPT_LEVEL: q.dot.level = (unsigned)cli_option_u64("--level", optarg, 1, 2); break;
        case CLI_OPT_SEED: /* of the operands, not of the rounding */
            q.dot.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
            break;
        case CLI_OPT_AS: q.form = optarg; break;
        case 'o': q.output = optarg; break;
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
        cli_usage("--as: '%s' is none of: hex memh csv svh testfloat", name);
    return f;
}

static void read_roundings(bench *b, const request *q, fpemu_rounding *roundings)
{
    cli_rounding asked = q->rounding;
    for (int i = 0; i < q->mode_count; i++) {
        asked.mode = q->modes[i];
        roundings[i] = cli_rounding_get(&asked);
        const unsigned nan = roundings[i].nan != FPEMU_NAN_FROM_FORMAT ? roundings[i].nan : b->to.nan;
        if (nan == FPEMU_NAN_ERROR)
            cli_usage("vectors: the NaN policy 'error' gives no result");
        if (is_random(&roundings[i]))
            b->random_bits = roundings[i].bits > 0 ? roundings[i].bits : 32;
    }
    if (b->random_bits == 0)
        cli_rounding_refuse_idle(&asked, &b->to);
}

/* Each is accepted by the formats. */
static void check_roundings(bench *b, const request *q, fpemu_rounding *roundings)
{
    const double zero = 0, *const zeros[OPERATION_MOST] = {&zero, &zero, &zero};
    const unsigned precision = b->to.kind == FPEMU_KIND_FLOAT ? b->to.mantissa_bits + 1 : b->to.bits;
    double y;
    for (int i = 0; i < q->mode_count; i++) {
        if (is_random(&roundings[i])) {
            roundings[i].generator = FPEMU_GENERATOR_WORDS;
            roundings[i].words = b->words;
        }
        if (b->kind == SUMS && is_random(&roundings[i]) && precision + b->random_bits + 2 > 53)
            cli_usage("vectors: --bits %u are too many: a sum is known to 53 bits", b->random_bits);
        if (b->kind == SUMS && !is_random(&roundings[i]))
            dots_check(&b->sums, &roundings[i]);
        else if (b->kind == TENSORS && !b->tensors.decodes)
            cli_check_use(&b->to, &roundings[i], true, FPEMU_USE_PACK, b->spec);
        else if (b->kind != OPERATIONS)
            cli_check_use(&b->to, &roundings[i], true, FPEMU_USE_ENCODE, b->spec);
        else
            operation_run(b->what, &b->to, &roundings[i], 1, zeros, &y, NULL, b->spec);
    }
}

static void read_tininess(bench *b, const char *option, const char *when)
{
    if (when == NULL)
        return;
    if (strcmp(when, "before") != 0 && strcmp(when, "after") != 0)
        cli_usage("--tininess: '%s' is neither before nor after", when);
    const bool sums = b->kind == SUMS && b->form->print != print_testfloat;
    if ((b->kind != OPERATIONS && !sums) || b->to.kind != FPEMU_KIND_FLOAT)
        cli_usage("%s is for conversions and operations%s to floats", option, sums ? ", and sums," : "");
    if (b->kind == SUMS && b->to.mantissa_bits > 50)
        cli_usage("%s: a sum is known to 53 bits, too few for '%s'", option, b->spec);
    b->tininess = strcmp(when, "before") == 0 ? TININESS_BEFORE : TININESS_AFTER;
}

/* The index of the first of its codes. */
static size_t add_field(bench *b, const char *name, const fpemu_format *format, unsigned bits, size_t count)
{
    const size_t first = b->codes;
    if (count > 0) {
        b->fields[b->field_count] = (field){.name = name, .bits = bits, .count = count};
        if (format != NULL)
            b->fields[b->field_count].format = *format;
        b->field_count++;
    }
    b->codes += count;
    return first;
}

/* The random bits of so many results, behind which come these. */
static void add_random(bench *b, size_t count)
{
    b->random = add_field(b, "random", NULL, b->random_bits, b->random_bits > 0 ? count : 0);
    b->first_result = b->field_count;
}

static void refuse_those_of_sums(const request *q, bool tensors)
{
    if (q->dot.model != NULL || q->dot.scales != NULL || q->dot.shape != NULL || (q->dot.length > 0 && !tensors))
        cli_usage("vectors: --model, --scales and --shape are for --op dot and gemm, --length for dot and formats with "
                  "scales");
}

/* How many bits a code takes. */
static unsigned box_of(const request *q, const fpemu_format *format)
{
    if (q->box > 0 && q->box < format->bits)
        cli_usage("--box: %u bits do not hold a code of %d bits", q->box, (int)format->bits);
    return q->box > 0 ? q->box : format->bits;
}

static void start_operation(bench *b, const request *q)
{
    b->what = operation_find(q->operation, " dot gemm");
    refuse_those_of_sums(q, false);
    for (int k = 0; k < OPERATION_MOST; k++)
        b->from[k] = b->to;
    if (q->dot.from != NULL || b->what->converts)
        operands_read_formats(b->what, b->what->operands, q->dot.from != NULL ? q->dot.from : "f32", b->from);
    for (int k = 0; k < b->what->operands; k++)
        add_field(b, b->what->converts ? "operand" : field_names[k], &b->from[k], box_of(q, &b->from[k]), 1);
    add_random(b, 1);
    b->results = add_field(b, "result", &b->to, box_of(q, &b->to), 1);
    b->in = operands_start(b->what, b->from, &b->to, depths[q->dot.level - 1], q->dot.random, q->dot.seed);
}

static void start_sums(bench *b, const request *q)
{
    b->kind = SUMS;
    b->sums = dots_start(&q->dot, &b->to);
    for (int s = 0; s < DOTS_OPERANDS; s++)
        add_field(b, dots_names[s], &b->sums.format[s], b->sums.format[s].bits, b->sums.all[s]);
    add_random(b, b->sums.rows * b->sums.columns);
    b->results = add_field(b, "result", &b->to, b->to.bits, b->sums.rows * b->sums.columns);
}

/* One of the formats has scales. */
static void start_tensors(bench *b, const request *q, const fpemu_format *from)
{
    const bool decodes = from->scaling != FPEMU_SCALING_NONE;
    fpemu_format single, scale;
    refuse_those_of_sums(q, true);
    b->kind = TENSORS;
    b->from[0] = *from;
    b->tensors = blocks_start(&q->dot, decodes ? from : &b->to, decodes ? &b->to : from, decodes);
    const blocks *t = &b->tensors;
    cli_check(fpemu_format_named(FPEMU_NAME_BINARY32, &single), "fp32");
    const bool known = fpemu_format_scale(&t->format, &scale) == FPEMU_OK && scale.bits == t->scale_bits;
    if (!decodes) {
        add_field(b, "x", from, from->bits, t->length);
        add_field(b, "amax", from, from->bits, t->part);
        add_random(b, t->length);
    }
    add_field(b, "tensor", &single, 32, t->tensor);
    b->scale = add_field(b, "scale", known ? &scale : NULL, t->scale_bits, t->scales);
    b->results = add_field(b, "code", &t->element, t->element_bits, t->length);
    if (decodes) {
        add_random(b, t->length);
        b->results = add_field(b, "y", &b->to, b->to.bits, t->length);
    }
}

/* What is rounded, by --op and --from. */
static void start(bench *b, const request *q)
{
    const bool sums = strcmp(q->operation, "dot") == 0 || strcmp(q->operation, "gemm") == 0;
    const bool converts = strcmp(q->operation, "convert") == 0;
    const char *from = q->dot.from == NULL || strcmp(q->dot.from, "f32") == 0 ? "fp32"
                       : strcmp(q->dot.from, "f64") == 0                      ? "fp64"
                                                                              : q->dot.from;
    fpemu_format other = b->to;
    if (converts)
        other = cli_format(from);
    if (b->to.scaling == FPEMU_SCALING_EDEN)
        cli_usage("vectors: '%s' draws random bits for its scales, for which vectors have no field", b->spec);
    if (b->to.scaling != FPEMU_SCALING_NONE && other.scaling != FPEMU_SCALING_NONE)
        cli_usage("--from: '%s' and '%s' both have scales; name a format of single numbers for one", from, b->spec);
    if (sums)
        start_sums(b, q);
    else if (converts && (b->to.scaling != FPEMU_SCALING_NONE || other.scaling != FPEMU_SCALING_NONE))
        start_tensors(b, q, &other);
    else
        start_operation(b, q);
}

int cmd_vectors(int argc, char **argv)
{
    static const uint64_t random_operands[] = {256, 65536};
    cli c = cli_start(argc, argv, help);
    request q = read_options(&c);
    cli_expect_operands(&c, 1, 1, "SPEC");
    bench b = {.spec = c.operand[0], .to = cli_format(c.operand[0])};
    b.form = find_form(q.form != NULL ? q.form : "hex");
    const bool prints = q.output != NULL && strcmp(q.output, "-") == 0;
    if (q.cover && (prints || (q.output == NULL && (q.form != NULL || q.classes))))
        cli_usage("vectors: --cover prints a table alone; for the vectors name a file with -o");
    if (prints)
        q.output = NULL;
    const bool testfloat = b.form->print == print_testfloat;
    if (q.classes && (testfloat || b.form->print == NULL))
        cli_usage("vectors: --classes has no place in %s", b.form->name);
    if (testfloat && q.mode_count > 1)
        cli_usage("vectors: testfloat names no mode: one -r for each file");
    if (testfloat && q.tininess == NULL)
        q.tininess = "after";
    b.classes = q.classes;
    b.cover = q.cover;
    b.seed = q.dot.seed;
    b.level = q.dot.level;
    q.dot.operation = q.operation;
    q.dot.random = random_operands[q.dot.level - 1];
    fpemu_rounding roundings[MOST_MODES];
    read_roundings(&b, &q, roundings);
    if (testfloat && b.random_bits > 0)
        cli_usage("vectors: testfloat has no place for random bits: take a mode without them");
    start(&b, &q);
    if (q.box > 0 && (testfloat || b.kind != OPERATIONS))
        cli_usage("vectors: --box is for conversions and operations, in a form other than testfloat");
    read_tininess(&b, testfloat ? "--as testfloat" : "--tininess", q.tininess);
    check_roundings(&b, &q, roundings);
    if (q.output != NULL) {
        cli_refuse_tables("-o", q.output);
        b.out = output_open(q.output);
    } else if (!b.cover) {
        b.out = (output){.file = stdout, .path = "standard output"};
    }
    if (b.out.file != NULL && b.form->head != NULL)
        b.form->head(&b);
    check_written(&b);
    vector v = {.code = cli_allocate(b.codes + OPERATION_MOST, sizeof *v.code),
                .value = cli_allocate(b.codes + 1, sizeof *v.value),
                .exact = cli_allocate(MOST_RESULTS, sizeof *v.exact)};
    for (int i = 0; i < q.mode_count; i++)
        write_mode(&b, q.modes[i], &roundings[i], &v);
    if (b.out.file != NULL && b.form->end != NULL)
        b.form->end(&b);
    check_written(&b);
    if (q.output != NULL)
        output_commit(&b.out);
    if (b.cover)
        print_cover(&b);
    free(v.code);
    free(v.value);
    free(v.exact);
    if (b.kind == SUMS)
        dots_end(&b.sums);
    else if (b.kind == TENSORS)
        blocks_end(&b.tensors);
    else
        operands_end(&b.in);
    return CLI_OK;
}
