/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.c - fpemu fuzz: where somebody else's conversion or operation differs from the library's.
 *
 * The inputs come in stages (operands.h), in batches through the code that is tested (external.h); every difference is
 * put into a class (difference.h), and each class keeps its smallest example.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "common/clock.h"
#include "reports/fuzz_report.h"
#include "testing/difference.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const char help[] =
    "Usage: fpemu fuzz SPEC --against LIBRARY:FUNCTION [OPTION...]\n"
    "       fpemu fuzz SPEC --against-program COMMAND [OPTION...]\n"
    "Looks for inputs on which somebody else's conversion to (or from) the format SPEC, or\n"
    "operation with results in it, differs from the library's, and prints each class of\n"
    "differences with its smallest example. Inputs of up to 16 bits, all operands together, are\n"
    "all tried; of wider ones the boundaries of the format, then every exponent with ties at\n"
    "every place (operands: what gives results there), then random ones. Inputs on which the\n"
    "tested code crashes, hangs or gives no result are told too.\n"
    "Exit status: 0 no difference, 1 some, 3 none, but some inputs could not be compared.\n"
    "\n"
    "      --op OPERATION    convert (default) add sub mul div sqrt fma minimum maximum\n"
    "                        minimum-number maximum-number; dot, gemm: sums of products\n"
    "      --against LIB:FUN a function of a shared library, as ./libcast.so:to_e4m3\n"
    "      --against-program COMMAND\n"
    "                        a shell command: inputs on its standard input, the operands of one\n"
    "                        result a line (numbers in hexadecimal, 0x1.8p+3, codes as 0x7e),\n"
    "                        results on its output\n"
    "      --signature S     IN-to-OUT of the types f32 f64 (values), u8 u16 u32 u64 (codes):\n"
    "                        OUT f(IN); IN-to-OUT-array: void f(const IN *, OUT *, size_t n)\n"
    "                        (default: f32 to the codes of SPEC). A code as IN is one of SPEC,\n"
    "                        and decoded, or one of the format --from names, and converted.\n"
    "                        Operations: an IN, or const IN *, for each operand (default: codes).\n"
    "                        A SPEC with scales: f32-to-f32 (default), void f(const float *x,\n"
    "                        float *y, size_t n) on a tensor of n elements; f32-to-bytes, uint8_t\n"
    "                        *y as 'fpemu pack' lays them out; and the same of f64. dot: void\n"
    "                        f(const IN *a, const IN *b, OUT *y, size_t n), behind b scales of a,\n"
    "                        of b, and c, where there are any; gemm: size_t m, n, k\n"
    "      --from SPEC2[,SPEC3...]\n"
    "                        the format of codes as IN, and of operands: one for all, or one\n"
    "                        for each (IN holds the widest)\n"
    "      --model MODEL     dot, gemm: how products are added up; with --length N, --shape MxNxK\n"
    "                        and --scales SPEC2 as for 'fpemu vectors'\n"
    "      --bound B         in place of a model: results may differ from exact sums by B times the\n"
    "                        sum of all magnitudes, and SPEC's smallest number a product\n"
    "      --axis A          SPEC with scales: blocks along axis 0 or 1 of matrices (by rows)\n"
    "                        with an extent of 3 along the other; size_t rows, size_t columns in\n"
    "                        place of n\n"
    "  -r, --rounding MODE   as for 'fpemu round' (default: rne). With sr and se the results need\n"
    "                        only follow the law: one of the two neighbours, at the right rate\n"
    "      --bits N          sr: with so many random bits (default: 32)\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --strict-nan      compare the bits of a NaN, not only that it is one\n"
    "      --inputs N        random inputs (default: 1048576; tensors, sums: 65536)\n"
    "      --seed N          seed of the random inputs (default: 0)\n"
    "      --exhaustive      all inputs of 32 bits, all operands together\n"
    "      --time-limit S    end the search after S seconds\n"
    "      --hang-after S    the tested code hangs when it gives nothing for S seconds (default: 10)\n"
    "      --json            as JSON\n"
    "\n"
    "Examples: fpemu fuzz e4m3fn --against ./libcast.so:to_e4m3 --overflow saturate\n"
    "          fpemu fuzz fp16 --op fma --against ./libhalf.so:half_fma\n"
    "          fpemu fuzz fp32 --op dot --from bf16 --bound 1e-6 --against ./libdot.so:dot\n";

enum { OPT_MODEL = CLI_OPT_HANG + 1000, OPT_LENGTH, OPT_SHAPE, OPT_SCALES, OPT_BOUND };

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"against", required_argument, NULL, CLI_OPT_AGAINST},
                                        {"against-program", required_argument, NULL, CLI_OPT_PROGRAM},
                                        {"signature", required_argument, NULL, CLI_OPT_SIGNATURE},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"model", required_argument, NULL, OPT_MODEL},
                                        {"length", required_argument, NULL, OPT_LENGTH},
                                        {"shape", required_argument, NULL, OPT_SHAPE},
                                        {"scales", required_argument, NULL, OPT_SCALES},
                                        {"bound", required_argument, NULL, OPT_BOUND},
                                        {"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"bits", required_argument, NULL, CLI_OPT_BITS},
                                        {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},
                                        {"nan", required_argument, NULL, CLI_OPT_NAN},
                                        {"strict-nan", no_argument, NULL, CLI_OPT_STRICT_NAN},
                                        {"inputs", required_argument, NULL, CLI_OPT_INPUTS},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"exhaustive", no_argument, NULL, CLI_OPT_EXHAUSTIVE},
                                        {"time-limit", required_argument, NULL, CLI_OPT_TIME_LIMIT},
                                        {"hang-after", required_argument, NULL, CLI_OPT_HANG},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

/* --------------------------------------------------------------------------------------------- comparison */

/* The elements of the batch from `first` on with the first n results. */
static void compare(trial *t, size_t first, size_t n)
{
    search *s = t->s;
    const external_type out = s->other.signature.out;
    const size_t size = signature_size(out);
    s->done[s->stage] += n;
    if (memcmp((const char *)s->expected + first * size, s->other.out, n * size) == 0)
        return;
    for (size_t i = first; i < first + n; i++) {
        const number expected = difference_number(out, &s->format, number_load_code(s->expected, size, i));
        const number got = difference_number(out, &s->format, number_load_code(s->other.out, size, i - first));
        if (!difference_same(s, expected, got) || difference_stray_bits(s, got.code))
            difference_take(s, i, expected, got);
    }
}

/* ------------------------------------------------------------------------------------------------- results */

/* Codes of the format, one byte each say, into elements of a type that may be wider. */
static void widen_codes(void *codes, size_t from, size_t to, size_t n)
{
    for (size_t i = n; from < to && i-- > 0;)
        number_store_code(codes, to, i, number_load_code(codes, from, i));
}

static void narrow_values(double *x, size_t n)
{
    float *y = (float *)(void *)x;
    for (size_t i = 0; i < n; i++) {
        const float narrow = (float)x[i];
        memcpy(y + i, &narrow, sizeof narrow);
    }
}

static void widen_values(float *x, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        float narrow;
        memcpy(&narrow, x + i, sizeof narrow);
        const double wide = (double)narrow;
        memcpy((char *)x + i * sizeof wide, &wide, sizeof wide);
    }
}

/* The codes of the batch as `carrier`: binary32 where the inputs are that, else binary64. */
static void load_carrier(search *s, bool binary32, size_t n)
{
    if (!signature_is_code(s->other.signature.in)) {
        const size_t size = signature_size(s->other.signature.in);
        for (size_t i = 0; i < n; i++)
            number_store_code(s->carrier[0], size, i, s->codes[0][i]);
        return;
    }
    const size_t size = fpemu_format_code_size(&s->from[0]);
    for (size_t i = 0; i < n; i++)
        number_store_code(s->expected, size, i, s->codes[0][i]);
    cli_check(binary32 ? fpemu_decode_f32(&s->from[0], n, s->expected, s->carrier[0])
                       : fpemu_decode_f64(&s->from[0], n, s->expected, s->carrier[0]),
              s->spec);
}

/* What the library makes of the batch, in elements of the type of the results. */
static void expect_conversion(search *s, size_t n)
{
    const external_type in = s->other.signature.in, out = s->other.signature.out;
    const bool to_code = signature_is_code(out);
    const bool both_fit =
        fpemu_format_fits_f32(&s->from[0]) && fpemu_format_fits_f32(&s->format) && out != EXTERNAL_F64;
    const bool binary32 = s->decodes ? out == EXTERNAL_F32 : signature_is_code(in) ? both_fit : in == EXTERNAL_F32;
    load_carrier(s, binary32, n);
    if (s->decodes) {
        memcpy(s->expected, s->carrier[0], n * signature_size(out));
        return;
    }
    if (to_code) {
        cli_check_call(binary32 ? fpemu_encode_f32(&s->format, &s->rounding, n, s->carrier[0], s->expected, NULL)
                                : fpemu_encode_f64(&s->format, &s->rounding, n, s->carrier[0], s->expected, NULL),
                       &s->format, &s->rounding, !binary32, FPEMU_USE_ENCODE, s->spec);
        widen_codes(s->expected, fpemu_format_code_size(&s->format), signature_size(out), n);
        return;
    }
    cli_check_call(binary32 ? fpemu_quantize_f32(&s->format, &s->rounding, n, s->carrier[0], s->expected, NULL)
                            : fpemu_quantize_f64(&s->format, &s->rounding, n, s->carrier[0], s->expected, NULL),
                   &s->format, &s->rounding, !binary32, FPEMU_USE_QUANTIZE, s->spec);
    if (!binary32 && out == EXTERNAL_F32)
        narrow_values(s->expected, n);
    else if (binary32 && out == EXTERNAL_F64)
        widen_values(s->expected, n);
}

static void expect_operation(search *s, size_t n)
{
    const external_type out = s->other.signature.out;
    const double *operands[OPERATION_MOST];
    for (int k = 0; k < OPERATION_MOST; k++) {
        operands[k] = s->carrier[k];
        for (size_t i = 0; k < s->what->operands && i < n; i++)
            ((double *)s->carrier[k])[i] = fpemu_decode_one_f64(&s->from[k], s->codes[k][i]);
    }
    if (!signature_is_code(out)) {
        operation_run(s->what, &s->format, &s->rounding, n, operands, s->expected, NULL, s->spec);
        if (out == EXTERNAL_F32)
            narrow_values(s->expected, n);
        return;
    }
    /* a result is a value of the format, or a NaN, which the policy makes a code of */
    double *results = s->carrier[0];
    operation_run(s->what, &s->format, &s->rounding, n, operands, results, NULL, s->spec);
    cli_check(fpemu_encode_f64(&s->format, &s->rounding, n, results, s->expected, NULL), s->spec);
    widen_codes(s->expected, fpemu_format_code_size(&s->format), signature_size(out), n);
}

static void expect(search *s, size_t n)
{
    if (s->what->converts)
        expect_conversion(s, n);
    else
        expect_operation(s, n);
}

/* The operands as the tested code gets them: codes, or the values that they mean. */
static void give(trial *t, size_t first, size_t n)
{
    search *s = t->s;
    const external_type in = s->other.signature.in;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < s->what->operands; k++)
            if (!s->what->converts && !signature_is_code(in))
                difference_store(in, s->other.in[k], i, fpemu_decode_one_f64(&s->from[k], s->codes[k][first + i]));
            else
                number_store_code(s->other.in[k], signature_size(in), i, s->codes[k][first + i]);
}

/* -------------------------------------------------------------------------------------------------- search */

/* Element i has no result, and is not tried again. */
static outcome *take(trial *t, int order, const char *part, const char *kind, size_t i)
{
    search *s = t->s;
    (void)kind;
    for (int k = 0; s->failings < FAILURES_MOST && k < s->what->operands; k++)
        s->failing[s->failings][k] = s->codes[k][i];
    s->failings += s->failings < FAILURES_MOST;
    return difference_outcome(s, order, part, i);
}

static bool has_failed(const search *s, const uint64_t codes[OPERATION_MOST])
{
    bool known = false;
    for (size_t f = 0; f < s->failings && !known; f++)
        known = memcmp(s->failing[f], codes, (size_t)s->what->operands * sizeof *codes) == 0;
    return known;
}

/* False when the search is over. */
static bool try_batch(trial *t, uint64_t first, size_t count)
{
    search *s = t->s;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t codes[OPERATION_MOST];
        operands_codes(&s->in, s->stage, first + i, codes);
        for (int k = 0; k < s->what->operands; k++)
            s->codes[k][n] = codes[k];
        n += !has_failed(s, codes);
    }
    expect(s, n);
    return trial_run(t, 0, n);
}

/* Batches grow while they are fast, so that a time limit is kept; they are no whole vectors, whose tails have defects
 * of their own. A program starts once a batch. */
static bool search_stage(trial *t, progress *bar)
{
    search *s = t->s;
    const uint64_t count = s->in.count[s->stage];
    size_t batch = s->other.program ? EXTERNAL_BATCH : 1023;
    for (uint64_t first = 0; first < count;) {
        const size_t n = count - first < batch ? (size_t)(count - first) : batch;
        const double start = clock_seconds();
        if (start > s->deadline) {
            s->late = true;
            return false;
        }
        if (!try_batch(t, first, n))
            return false;
        batch = clock_seconds() - start < 0.1 && 2 * batch < EXTERNAL_BATCH ? 2 * batch + 1 : batch;
        first += n;
        progress_advance(bar, n);
    }
    return true;
}

/* The operands at work still fail as they did. */
static bool still_fails(trial *t)
{
    const external_failing before = t->s->other.failing;
    const bool fails = trial_try(t, 0, 1) == EXTERNAL_FAILED && t->s->other.failing == before;
    t->s->other.failing = before;
    return fails;
}

/* Failures get an input with fewer bits. */
static void shrink_failures(trial *t)
{
    enum { TRIES = 400, TRIES_OF_HANGS = 4 };
    search *s = t->s;
    for (size_t i = 0; i < s->outcomes_used; i++) {
        outcome *o = &s->outcomes[i];
        if (o->order >= 0 || !o->alone)
            continue;
        s->other.failing = (external_failing)(o->order + EXTERNAL_FAILINGS);
        for (int k = 0; k < s->what->operands; k++)
            s->codes[k][0] = o->code[k];
        for (int k = 0; k < s->what->operands; k++)
            trial_shrink(t, s->codes[k], 1, s->other.failing == EXTERNAL_HUNG ? TRIES_OF_HANGS : TRIES, still_fails);
        difference_outcome(s, o->order, o->name, 0);
        o->count--;
    }
}

static void search_all(search *s, bool exhaustive)
{
    const input_stage first = exhaustive ? INPUTS_ALL : INPUTS_BOUNDARY;
    const input_stage last = exhaustive ? INPUTS_ALL : INPUTS_RANDOM;
    trial t = {s, give, compare, take};
    uint64_t total = 0;
    size_t used = 0;
    for (input_stage stage = first; stage <= last; stage++)
        total += s->in.count[stage];
    progress bar = progress_start("fuzz", total);
    for (s->stage = first; s->stage <= last && search_stage(&t, &bar); s->stage++) {
    }
    progress_hide();
    shrink_failures(&t);
    for (input_stage stage = first; stage <= last; stage++)
        if (s->done[stage] > 0)
            used += (size_t)snprintf(s->summary + used, sizeof s->summary - used, "%s%" PRIu64 " %s",
                                     used > 0 ? " " : "", s->done[stage], inputs_stage_name(stage));
    snprintf(s->summary + used, sizeof s->summary - used, "%s", used == 0 ? "none" : "");
    if (!exhaustive)
        snprintf(s->summary + strlen(s->summary), sizeof s->summary - strlen(s->summary), ", seed %" PRIu64,
                 s->in.seed);
}

/* ------------------------------------------------------------------------------------------------- command */

typedef struct request {
    const char *library, *program, *signature, *from, *operation;
    dots_request dot;
    cli_rounding rounding;
    uint64_t inputs, seed, seconds, patience;
    double bound; /* 0: none */
    int axis;
    bool exhaustive, strict_nan, json, sums;
} request;

static request read_options(cli *c)
{
    request q = {.inputs = UINT64_MAX, .operation = "convert", .patience = 10, .axis = TENSORS_OF_ONE_AXIS};
    for (int option; (option = cli_next(c, "r:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_OPERATION: q.operation = optarg; break;
        case CLI_OPT_AGAINST: q.library = optarg; break;
        case CLI_OPT_PROGRAM: q.program = optarg; break;
        case CLI_OPT_SIGNATURE: q.signature = optarg; break;
        case CLI_OPT_FROM: q.from = optarg; break;
        case OPT_MODEL: q.dot.model = optarg; break;
        case OPT_LENGTH: q.dot.length = cli_option_u64("--length", optarg, 1, DOTS_LONGEST); break;
        case OPT_SHAPE: q.dot.shape = optarg; break;
        case OPT_SCALES: q.dot.scales = optarg; break;
        case OPT_BOUND:
            if (!number_read_f64(optarg, &q.bound) || !(q.bound > 0 && q.bound < 1))
                cli_usage("--bound: '%s' is no number between 0 and 1", optarg);
            break;
        case CLI_OPT_AXIS: q.axis = (int)cli_option_u64("--axis", optarg, 0, 1); break;
        case CLI_OPT_STRICT_NAN: q.strict_nan = true; break;
        case CLI_OPT_INPUTS: q.inputs = cli_option_u64("--inputs", optarg, 0, UINT64_C(1) << 40); break;
        case CLI_OPT_SEED: /* of the inputs, not of the rounding */
            q.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
            break;
        case CLI_OPT_EXHAUSTIVE: q.exhaustive = true; break;
        case CLI_OPT_TIME_LIMIT: q.seconds = cli_option_u64("--time-limit", optarg, 1, 1000000); break;
        case CLI_OPT_HANG: q.patience = cli_option_u64("--hang-after", optarg, 1, 1000000); break;
        case CLI_OPT_JSON: q.json = true; break;
        default: cli_rounding_take(&q.rounding, option, optarg);
        }
    }
    if (q.library != NULL && q.program != NULL)
        cli_usage("fuzz: --against or --against-program, not both");
    if (q.library == NULL && q.program == NULL)
        cli_usage("fuzz: one of --against and --against-program is needed");
    q.sums = strcmp(q.operation, "dot") == 0 || strcmp(q.operation, "gemm") == 0;
    if (!q.sums &&
        (q.dot.model != NULL || q.bound > 0 || q.dot.length > 0 || q.dot.shape != NULL || q.dot.scales != NULL))
        cli_usage("fuzz: --model, --bound, --length, --shape and --scales are for --op dot and gemm");
    return q;
}

static void read_signature(const request *q, external_signature *t)
{
    if (q->signature != NULL && (!signature_read(q->signature, t) || (t->bytes && !t->tensors)))
        cli_usage("--signature: '%s' is not IN-to-OUT or IN-to-OUT-array of f32 f64 u8 u16 u32 u64", q->signature);
}

/* The signature of a conversion, and what its inputs are. */
static external_signature choose_conversion(search *s, const request *q)
{
    const external_type code = signature_code_type(fpemu_format_code_size(&s->format));
    external_signature t = {
        .in = fpemu_format_fits_f32(&s->format) ? EXTERNAL_F32 : EXTERNAL_F64, .out = code, .operands = 1};
    if (q->from != NULL) {
        operands_read_formats(s->what, s->what->operands, q->from, s->from);
        t.in = signature_code_type(fpemu_format_code_size(&s->from[0]));
    }
    read_signature(q, &t);
    s->decodes = signature_is_code(t.in) && q->from == NULL;
    if (!signature_is_code(t.in)) {
        if (q->from != NULL)
            cli_usage("--from: the inputs of this signature are no codes");
        s->from[0] = cli_format(t.in == EXTERNAL_F32 ? "fp32" : "fp64");
    } else if (s->decodes) {
        s->from[0] = s->format;
    }
    if (s->decodes && signature_is_code(t.out))
        cli_usage("--signature: codes to codes need --from, the format of the inputs");
    return t;
}

/* Bytes of a code of the widest operand. */
static size_t operand_size(const search *s)
{
    size_t most = 0;
    for (int k = 0; k < s->what->operands; k++) {
        const size_t size = fpemu_format_code_size(&s->from[k]);
        most = size > most ? size : most;
    }
    return most;
}

static external_signature choose_operation(search *s, const request *q)
{
    for (int k = 0; k < s->what->operands; k++)
        s->from[k] = s->format;
    if (q->from != NULL)
        operands_read_formats(s->what, s->what->operands, q->from, s->from);
    external_signature t = {.in = signature_code_type(operand_size(s)),
                            .out = signature_code_type(fpemu_format_code_size(&s->format)),
                            .operands = s->what->operands};
    read_signature(q, &t);
    for (int k = 0; k < s->what->operands; k++)
        if (t.in == EXTERNAL_F32 && !fpemu_format_fits_f32(&s->from[k]))
            cli_usage("--signature: f32 does not hold every operand");
    return t;
}

/* Codes of the operands have so many bytes; `in_is_spec`: numbers of SPEC are inputs. */
static void check_types(const search *s, const external_signature *t, size_t widest, bool in_is_spec)
{
    if ((signature_is_code(t->in) && signature_size(t->in) < widest) ||
        (signature_is_code(t->out) && signature_size(t->out) < fpemu_format_code_size(&s->format))) {
        cli_usage("--signature: a type is too narrow for the codes of its format");
    }
    if ((t->out == EXTERNAL_F32 || in_is_spec) && !fpemu_format_fits_f32(&s->format))
        cli_usage("--signature: f32 does not hold every value of '%s'", s->spec);
}

/* The signature asked for, or the plain one of the format. */
static external_signature choose_signature(search *s, const request *q)
{
    const external_signature t = s->what->converts ? choose_conversion(s, q) : choose_operation(s, q);
    const bool in_is_spec = s->what->converts && t.in == EXTERNAL_F32 && !s->decodes;
    check_types(s, &t, operand_size(s), in_is_spec);
    return t;
}

static void check_rounding(const search *s)
{
    const double zero = 0, *const zeros[OPERATION_MOST] = {&zero, &zero, &zero};
    double y;
    if (s->rounding.nan == FPEMU_NAN_ERROR ||
        (s->rounding.nan == FPEMU_NAN_FROM_FORMAT && s->format.nan == FPEMU_NAN_ERROR)) {
        cli_usage("fuzz: the NaN policy 'error' gives no result to compare");
    }
    operation_run(s->what, &s->format, &s->rounding, 1, zeros, &y, NULL, s->spec);
}

static external start_external(const request *q, external_signature signature)
{
    external f = q->library != NULL ? external_library(q->library, signature) : external_program(q->program, signature);
    f.patience = (double)q->patience;
    return f;
}

/* Stochastic rounding of numbers to SPEC. */
static external_signature choose_law(search *s, const request *q)
{
    if (!s->what->converts || q->from != NULL || q->exhaustive)
        cli_usage("fuzz: stochastic rounding is tested on conversions of numbers: no --op, --from or --exhaustive");
    const external_signature t = choose_signature(s, q);
    if (signature_is_code(t.in))
        cli_usage("--signature: stochastic rounding takes f32 or f64");
    return t;
}

/* Formats with scales: whole tensors. */
static external_signature choose_tensors(const search *s, const request *q)
{
    external_signature t = {.in = EXTERNAL_F32, .out = EXTERNAL_F32, .tensors = true, .operands = 1};
    if (!s->what->converts || q->from != NULL || q->exhaustive)
        cli_usage("fuzz: '%s' takes whole tensors of numbers: no --op, --from or --exhaustive", s->spec);
    read_signature(q, &t);
    t.array = true;
    if (signature_is_code(t.in) || (!t.bytes && t.out != t.in))
        cli_usage("--signature: '%s' has f32-to-f32, f64-to-f64, f32-to-bytes or f64-to-bytes", s->spec);
    if (q->axis == 0 && t.bytes)
        cli_usage("--axis: packed bytes are those of blocks along axis 1");
    if (FPEMU_DRAWS(&s->format, &s->rounding))
        cli_usage("fuzz: stochastic rounding of formats with scales has no one result; test that of the elements");
    return t;
}

static dots start_sums(const search *s, const request *q)
{
    dots_request dot = q->dot;
    if ((q->bound > 0) == (dot.model != NULL) || q->exhaustive || FPEMU_MODE_DRAWS(s->rounding.mode))
        cli_usage("fuzz: --op %s takes either --model or --bound, no --exhaustive, and a rounding with one result",
                  q->operation);
    if (q->bound > 0 && (dot.scales != NULL || q->rounding.mode != NULL))
        cli_usage("--bound: it is for sums without --scales, in any rounding");
    dot.operation = q->operation;
    dot.from = q->from;
    dot.seed = q->seed;
    dot.random = q->inputs < UINT64_MAX ? q->inputs : UINT64_C(1) << 16;
    dot.level = 2;
    if (q->bound > 0)
        dot.model = "seq(fp64)"; /* which only has the operands */
    dots d = dots_start(&dot, &s->format);
    if (q->bound == 0)
        dots_check(&d, &s->rounding);
    return d;
}

static external_signature choose_sums(search *s, const request *q, const dots *d)
{
    external_signature t = {.tensors = true, .out = signature_code_type(fpemu_format_code_size(&s->format))};
    size_t widest = 0;
    bool narrow = true;
    for (int k = 0; k < DOTS_OPERANDS; k++) {
        const size_t size = d->all[k] > 0 ? fpemu_format_code_size(&d->format[k]) : 0;
        widest = size > widest ? size : widest;
        narrow = narrow && (size == 0 || fpemu_format_fits_f32(&d->format[k]));
        t.operands += size > 0;
    }
    t.in = signature_code_type(widest);
    read_signature(q, &t);
    t.array = true;
    if (t.bytes || (t.in == EXTERNAL_F32 && !narrow))
        cli_usage("--signature: %s", t.bytes ? "results are no bytes" : "f32 does not hold every operand");
    check_types(s, &t, widest, false);
    return t;
}

/* Returns the exit status. */
static int finish(search *s, const request *q)
{
    const int status = fuzz_report(s, q->json);
    external_close(&s->other);
    free(s->outcomes);
    return status;
}

/* One of them. */
static int fuzz_outcomes(search *s, const request *q, bool tensors)
{
    dots d = {.changed = 0};
    if (q->sums)
        d = start_sums(s, q);
    const external_signature t = q->sums ? choose_sums(s, q, &d) : tensors ? choose_tensors(s, q) : choose_law(s, q);
    cli_check_use(&s->format, &s->rounding, t.in == EXTERNAL_F64 || q->sums,
                  t.bytes   ? FPEMU_USE_PACK
                  : tensors ? FPEMU_USE_QUANTIZE
                            : FPEMU_USE_ENCODE,
                  s->spec);
    s->other = start_external(q, t);
    s->in.seed = q->seed;
    const bool told = q->inputs < UINT64_MAX;
    if (q->sums)
        sums_search(s, &d, strcmp(q->operation, "gemm") == 0, q->bound);
    else if (tensors)
        tensors_search(s, told ? q->inputs : UINT64_C(1) << 16, q->seed, q->axis);
    else
        law_search(s, told ? q->inputs : UINT64_C(1) << 23);
    if (q->sums)
        dots_end(&d);
    return finish(s, q);
}

/* One thread in this process, so that it may fork at any time. */
static void use_one_thread(void)
{
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
}

int cmd_fuzz(int argc, char **argv)
{
    static const input_depth depth = {.every_bits = 16, .per_binade = 5, .reach = 2};
    cli c = cli_start(argc, argv, help);
    const request q = read_options(&c);
    cli_expect_operands(&c, 1, 1, "SPEC");
    search s = {.spec = c.operand[0], .format = cli_format(c.operand[0]), .strict_nan = q.strict_nan};
    s.what = operation_find(q.sums ? "convert" : q.operation, " dot gemm");
    s.operation = q.operation;
    s.mask = UINT64_MAX >> (64 - s.format.bits);
    s.rounding = cli_rounding_get(&q.rounding);
    cli_rounding_refuse_idle(&q.rounding, &s.format);
    s.mode = q.rounding.mode != NULL ? q.rounding.mode : "rne";
    s.deadline = q.seconds > 0 ? clock_seconds() + (double)q.seconds : (double)INFINITY;
    s.outcomes = cli_allocate(OUTCOMES, sizeof *s.outcomes);
    use_one_thread();
    const bool tensors = s.format.scaling != FPEMU_SCALING_NONE;
    if (q.axis != TENSORS_OF_ONE_AXIS && (!tensors || q.sums))
        cli_usage("--axis: '%s' has no blocks", s.spec);
    if (tensors || q.sums || FPEMU_MODE_DRAWS(s.rounding.mode))
        return fuzz_outcomes(&s, &q, tensors);
    const external_signature signature = choose_signature(&s, &q);
    check_rounding(&s);
    const unsigned bits = operands_bits(s.what, s.from);
    if (q.exhaustive && bits > 32)
        cli_usage("--exhaustive: the inputs have %u bits, more than 32", bits);
    s.other = start_external(&q, signature);
    s.singles = true;
    s.in =
        operands_start(s.what, s.from, &s.format, depth, q.inputs < UINT64_MAX ? q.inputs : UINT64_C(1) << 20, q.seed);
    for (int k = 0; k < s.what->operands; k++) {
        s.codes[k] = cli_allocate(EXTERNAL_BATCH, sizeof *s.codes[k]);
        s.carrier[k] = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    }
    s.expected = cli_allocate(EXTERNAL_BATCH, sizeof(double));

    search_all(&s, q.exhaustive || bits <= depth.every_bits);
    operands_end(&s.in);
    for (int k = 0; k < OPERATION_MOST; k++) {
        free(s.codes[k]);
        free(s.carrier[k]);
    }
    free(s.expected);
    return finish(&s, &q);
}
