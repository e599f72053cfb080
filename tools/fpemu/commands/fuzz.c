/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.c - fpemu fuzz: where somebody else's conversion or operation differs from the library's.
 *
 * The inputs come in stages (operands.h), in batches through the code that is tested (external.h); every difference is
 * put into a class (difference.h), and each class keeps its smallest example.
 */
#include <math.h>
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
#include "testing/failure.h"

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
    "tested code crashes, hangs or gives no result are told with the smallest of them, and the\n"
    "search goes on with the others.\n"
    "Exit status: 0 no difference, 1 some, 3 none, but some inputs could not be compared.\n"
    "\n"
    "      --op OPERATION    convert (default) add sub mul div sqrt fma minimum maximum\n"
    "                        minimum-number maximum-number: its operands are numbers of SPEC, or\n"
    "                        of the format --from names, and so many arguments of the function\n"
    "      --against LIB:FUN a function of a shared library, as ./libcast.so:to_e4m3\n"
    "      --against-program COMMAND\n"
    "                        a shell command: inputs on its standard input, the operands of one\n"
    "                        result a line (numbers in hexadecimal, 0x1.8p+3, codes as 0x7e),\n"
    "                        results on its output\n"
    "      --signature S     IN-to-OUT of the types f32 f64 (values), u8 u16 u32 u64 (codes):\n"
    "                        OUT f(IN); or IN-to-OUT-array: void f(const IN *, OUT *, size_t n)\n"
    "                        (default: f32 to the codes of SPEC). A code as IN is one of SPEC,\n"
    "                        and decoded, or one of the format --from names, and converted.\n"
    "                        Operations: OUT f(IN, IN), void f(const IN *, const IN *, OUT *,\n"
    "                        size_t n) and so on (default: codes). A SPEC with scales:\n"
    "                        f32-to-f32 (default), void f(const float *x, float *y, size_t n) on\n"
    "                        a tensor of n elements, a tensor a line for programs; f32-to-bytes,\n"
    "                        uint8_t *y as 'fpemu pack' lays them out; and the same of f64\n"
    "      --from SPEC2[,SPEC3...]\n"
    "                        the format of codes as IN, and of operands: one for all, or one\n"
    "                        for each (IN holds the widest)\n"
    "  -r, --rounding MODE   as for 'fpemu round' (default: rne). With sr and se the results need\n"
    "                        only follow the law: one of the two neighbours, at the right rate,\n"
    "                        by random bits of their own in every call and element\n"
    "      --bits N          sr: with so many random bits (default: 32)\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --strict-nan      compare the bits of a NaN, not only that it is one\n"
    "      --inputs N        random inputs (default: 1048576; tensors: 65536)\n"
    "      --seed N          seed of the random inputs (default: 0)\n"
    "      --exhaustive      all inputs of 32 bits, all operands together\n"
    "      --time-limit S    end the search after S seconds\n"
    "      --hang-after S    the tested code hangs when it gives nothing for S seconds (default: 10)\n"
    "      --json            as JSON\n"
    "\n"
    "Examples: fpemu fuzz e4m3fn --against ./libcast.so:to_e4m3 --overflow saturate\n"
    "          fpemu fuzz mxfp4 --against ./libmx.so:pack --signature f32-to-bytes\n"
    "          fpemu fuzz fp16 --op fma --against ./libhalf.so:half_fma\n";

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"against", required_argument, NULL, CLI_OPT_AGAINST},
                                        {"against-program", required_argument, NULL, CLI_OPT_PROGRAM},
                                        {"signature", required_argument, NULL, CLI_OPT_SIGNATURE},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
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
static void compare(search *s, size_t first, size_t n)
{
    const external_type out = s->other.signature.out;
    const size_t size = signature_size(out);
    s->compared += n;
    if (memcmp((const char *)s->expected + first * size, s->other.out, n * size) == 0)
        return;
    for (size_t i = first; i < first + n; i++) {
        const number expected = difference_number(out, &s->format, number_load_code(s->expected, size, i));
        const number got = difference_number(out, &s->format, number_load_code(s->other.out, size, i - first));
        if (!difference_same(s, expected, got) || difference_stray_bits(s, got.code)) {
            number operand[OPERATION_MOST] = {{0, 0}, {0, 0}, {0, 0}};
            for (int k = 0; k < s->what->operands; k++)
                operand[k] = difference_operand(s, k, i);
            difference_take(s, operand, expected, got);
        }
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

/* Operand k of element i of the batch as the tested code gets it, at place `to`: the code, or the value it means. */
static void store_operand(search *s, int k, size_t i, size_t to)
{
    const external_type in = s->other.signature.in;
    if (!s->what->converts && !signature_is_code(in))
        difference_store(in, s->other.in[k], to, fpemu_decode_one_f64(&s->from[k], s->codes[k][i]));
    else
        number_store_code(s->other.in[k], signature_size(in), to, s->codes[k][i]);
}

/* -------------------------------------------------------------------------------------------------- search */

/* The tested code on n elements of the batch from `first` on. */
static external_end run_part(search *s, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < s->what->operands; k++)
            store_operand(s, k, first + i, i);
    memset(s->other.out, 0xa5, n * signature_size(s->other.signature.out)); /* so that results left out are noticed */
    return clock_seconds() > s->deadline ? EXTERNAL_LATE : external_run(&s->other, n, s->deadline);
}

static external_end run_first(search *s)
{
    return run_part(s, 0, 1);
}

static bool try_part(search *s, size_t first, size_t n, bool guess);

/* A function of a library failed at a known element: what came before it has results, where they can be trusted. */
static bool go_round(search *s, size_t first, size_t n)
{
    const size_t at = s->other.failed_at, good = s->other.good;
    compare(s, first, good);
    return failure_take(s, first + at, 1) && (good == at || try_part(s, first + good, at - good, false)) &&
           (at + 1 == n || try_part(s, first + at + 1, n - at - 1, false));
}

/* A program failed, or nobody knows where: in parts. The first input without a result may be the one to blame, unless
 * the program keeps results back; where that was wrong, it is halves. */
static bool try_parts(search *s, size_t first, size_t n, bool guess)
{
    const size_t at = s->other.failed_at;
    const bool told = at > 0 || s->other.failing == EXTERNAL_HUNG; /* to wait once is dear enough */
    if (!guess || at == EXTERNAL_NOWHERE || !told || at + 1 >= n)
        return try_part(s, first, n / 2, guess) && try_part(s, first + n / 2, n - n / 2, guess);
    if (at > 0 && !try_part(s, first, at, false))
        return false;
    const uint64_t before = failure_count(s);
    return try_part(s, first + at, 1, false) && try_part(s, first + at + 1, n - at - 1, failure_count(s) > before);
}

/* All n elements from `first` on are compared, or put down as without a result. False: the search is over. */
static bool try_part(search *s, size_t first, size_t n, bool guess)
{
    const size_t known = failure_find(s, first, first + n);
    if (known < first + n) {
        return (known == first || try_part(s, first, known - first, guess)) &&
               (known + 1 == first + n || try_part(s, known + 1, first + n - known - 1, guess));
    }
    const external_end end = run_part(s, first, n);
    if (end == EXTERNAL_DONE) {
        compare(s, first, n);
        return true;
    }
    if (end == EXTERNAL_LATE) {
        s->late = true;
        return false;
    }
    if (n == 1)
        return failure_take(s, first, 1);
    if (!s->other.program && s->other.failed_at != EXTERNAL_NOWHERE)
        return go_round(s, first, n);
    const external whole = s->other;
    const uint64_t before = failure_count(s);
    const bool goes_on = try_parts(s, first, n, guess);
    if (goes_on && failure_count(s) == before && whole.failing != EXTERNAL_HUNG) { /* what is slow does not hang */
        s->other.failing = whole.failing;
        memcpy(s->other.failure, whole.failure, sizeof whole.failure);
        return failure_take(s, first, n);
    }
    return goes_on;
}

/* False when the search is over. */
static bool try_batch(search *s, input_stage stage, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t codes[OPERATION_MOST];
        operands_codes(&s->in, stage, first + i, codes);
        for (int k = 0; k < s->what->operands; k++)
            s->codes[k][i] = codes[k];
    }
    expect(s, n);
    s->compared = 0;
    const bool goes_on = try_part(s, 0, n, true);
    s->done[stage] += s->compared;
    return goes_on;
}

/* Batches grow while they are fast, so that a time limit is kept; they are no whole vectors, whose tails have defects
 * of their own. A program starts once a batch. */
static bool search_stage(search *s, input_stage stage, progress *bar)
{
    const uint64_t count = s->in.count[stage];
    size_t batch = s->other.program ? EXTERNAL_BATCH : 1023;
    for (uint64_t first = 0; first < count;) {
        const size_t n = count - first < batch ? (size_t)(count - first) : batch;
        const double start = clock_seconds();
        if (start > s->deadline) {
            s->late = true;
            return false;
        }
        if (!try_batch(s, stage, first, n))
            return false;
        batch = clock_seconds() - start < 0.1 && 2 * batch < EXTERNAL_BATCH ? 2 * batch + 1 : batch;
        first += n;
        progress_advance(bar, n);
    }
    return true;
}

static void search_all(search *s, bool exhaustive)
{
    const input_stage first = exhaustive ? INPUTS_ALL : INPUTS_BOUNDARY;
    const input_stage last = exhaustive ? INPUTS_ALL : INPUTS_RANDOM;
    uint64_t total = 0;
    for (input_stage stage = first; stage <= last; stage++)
        total += s->in.count[stage];
    progress bar = progress_start("fuzz", total);
    for (input_stage stage = first; stage <= last && search_stage(s, stage, &bar); stage++) {
    }
    progress_hide();
    failure_shrink(s, run_first);
}

/* ------------------------------------------------------------------------------------------------- command */

typedef struct request {
    const char *library, *program, *signature, *from, *operation;
    cli_rounding rounding;
    uint64_t inputs, seed, seconds, patience;
    bool exhaustive, strict_nan, json;
} request;

static request read_options(cli *c)
{
    request q = {.inputs = UINT64_MAX, .operation = "convert", .patience = 10};
    for (int option; (option = cli_next(c, "r:", options)) != -1;) {
        switch (option) {
        case CLI_OPT_OPERATION: q.operation = optarg; break;
        case CLI_OPT_AGAINST: q.library = optarg; break;
        case CLI_OPT_PROGRAM: q.program = optarg; break;
        case CLI_OPT_SIGNATURE: q.signature = optarg; break;
        case CLI_OPT_FROM: q.from = optarg; break;
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

/* The signature asked for, or the plain one of the format. */
static external_signature choose_signature(search *s, const request *q)
{
    const external_signature t = s->what->converts ? choose_conversion(s, q) : choose_operation(s, q);
    const bool in_is_spec = s->what->converts && t.in == EXTERNAL_F32 && !s->decodes;
    if ((signature_is_code(t.in) && signature_size(t.in) < operand_size(s)) ||
        (signature_is_code(t.out) && signature_size(t.out) < fpemu_format_code_size(&s->format))) {
        cli_usage("--signature: a type is too narrow for the codes of its format");
    }
    if ((t.out == EXTERNAL_F32 || in_is_spec) && !fpemu_format_fits_f32(&s->format))
        cli_usage("--signature: f32 does not hold every value of '%s'", s->spec);
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
    if (FPEMU_MODE_DRAWS(s->rounding.mode))
        cli_usage("fuzz: stochastic rounding of formats with scales has no one result; test that of the elements");
    return t;
}

/* Either of them. Returns the exit status. */
static int fuzz_outcomes(search *s, const request *q, bool tensors)
{
    const external_signature t = tensors ? choose_tensors(s, q) : choose_law(s, q);
    cli_check_use(&s->format, &s->rounding, t.in == EXTERNAL_F64,
                  t.bytes   ? FPEMU_USE_PACK
                  : tensors ? FPEMU_USE_QUANTIZE
                            : FPEMU_USE_ENCODE,
                  s->spec);
    s->other = start_external(q, t);
    s->in.seed = q->seed;
    s->outcomes = cli_allocate(OUTCOMES, sizeof *s->outcomes);
    const bool told = q->inputs < UINT64_MAX;
    if (tensors)
        tensors_search(s, told ? q->inputs : UINT64_C(1) << 16, q->seed);
    else
        law_search(s, told ? q->inputs : UINT64_C(1) << 23);
    const int status = fuzz_report_outcomes(s, q->json);
    external_close(&s->other);
    free(s->outcomes);
    return status;
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
    s.what = operation_find(q.operation, "");
    s.mask = UINT64_MAX >> (64 - s.format.bits);
    s.rounding = cli_rounding_get(&q.rounding);
    cli_rounding_refuse_idle(&q.rounding);
    s.mode = q.rounding.mode != NULL ? q.rounding.mode : "rne";
    s.deadline = q.seconds > 0 ? clock_seconds() + (double)q.seconds : (double)INFINITY;
    use_one_thread();
    const bool tensors = s.format.scaling != FPEMU_SCALING_NONE;
    if (tensors || FPEMU_MODE_DRAWS(s.rounding.mode))
        return fuzz_outcomes(&s, &q, tensors);
    const external_signature signature = choose_signature(&s, &q);
    check_rounding(&s);
    const unsigned bits = operands_bits(s.what, s.from);
    if (q.exhaustive && bits > 32)
        cli_usage("--exhaustive: the inputs have %u bits, more than 32", bits);
    s.other = start_external(&q, signature);
    s.in =
        operands_start(s.what, s.from, &s.format, depth, q.inputs < UINT64_MAX ? q.inputs : UINT64_C(1) << 20, q.seed);
    for (int k = 0; k < s.what->operands; k++) {
        s.codes[k] = cli_allocate(EXTERNAL_BATCH, sizeof *s.codes[k]);
        s.carrier[k] = cli_allocate(EXTERNAL_BATCH, sizeof(double));
    }
    s.expected = cli_allocate(EXTERNAL_BATCH, sizeof(double));

    search_all(&s, q.exhaustive || bits <= depth.every_bits);
    if (s.late && fuzz_report_inputs(&s) == 0 && failure_count(&s) == 0)
        cli_end(CLI_NOT_COMPARED, "%s gave no result before the time limit", s.other.name);
    if (q.json)
        fuzz_report_json(&s);
    else
        fuzz_report_table(&s);
    external_close(&s.other);
    operands_end(&s.in);
    for (int k = 0; k < OPERATION_MOST; k++) {
        free(s.codes[k]);
        free(s.carrier[k]);
    }
    free(s.expected);
    const int status = difference_count(&s) > 0 ? CLI_FAILURE : CLI_OK;
    if (failure_any(&s) != NULL)
        fuzz_report_failure(&s, status == CLI_OK ? CLI_NOT_COMPARED : status);
    return status;
}
