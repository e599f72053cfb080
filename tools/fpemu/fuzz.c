/* fuzz.c - fpemu fuzz: where somebody else's conversion differs from the library's.
 *
 * The inputs come in stages (inputs.h), in batches through the other side (foreign.h); every difference is put into a
 * class by what the input is to the format, and each class keeps its smallest example.
 */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "foreign.h"
#include "inputs.h"
#include "jsonout.h"
#include "number.h"
#include "progress.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const char help[] =
    "Usage: fpemu fuzz SPEC --against LIBRARY:FUNCTION [OPTION...]\n"
    "       fpemu fuzz SPEC --against-program COMMAND [OPTION...]\n"
    "Looks for inputs on which somebody else's conversion to (or from) the format SPEC differs\n"
    "from the library's, and prints each class of differences with its smallest example. Inputs\n"
    "of up to 16 bits are all tried; of wider ones the boundaries of the format, then every\n"
    "exponent with ties at every place, then random ones. Exit status: 0 no difference, 1 some.\n"
    "\n"
    "      --against LIB:FUN a function of a shared library, as ./libcast.so:to_e4m3\n"
    "      --against-program COMMAND\n"
    "                        a shell command: inputs on its standard input, one a line (numbers\n"
    "                        in hexadecimal, 0x1.8p+3, codes as 0x7e), results on its output\n"
    "      --signature S     IN-to-OUT of the types f32 f64 (values), u8 u16 u32 u64 (codes):\n"
    "                        OUT f(IN); or IN-to-OUT-array: void f(const IN *, OUT *, size_t n)\n"
    "                        (default: f32 to the codes of SPEC). A code as IN is one of SPEC,\n"
    "                        and decoded, or one of the format --from names, and converted\n"
    "      --from SPEC2      the format of codes as IN\n"
    "  -r, --rounding MODE   as for 'fpemu round', but not sr and se (default: rne)\n"
    "      --overflow POLICY ieee, saturate or saturate-keep-inf (default: the format's)\n"
    "      --nan POLICY      keep, max, signmax or zero (default: the format's)\n"
    "      --strict-nan      compare the bits of a NaN, not only that it is one\n"
    "      --inputs N        random inputs (default: 1048576)\n"
    "      --seed N          seed of the random inputs (default: 0)\n"
    "      --exhaustive      all inputs of 32 bits\n"
    "      --time-limit S    end the search after S seconds\n"
    "      --json            as JSON\n"
    "\n"
    "Example: fpemu fuzz e4m3fn --against ./libcast.so:to_e4m3 --overflow saturate\n";

static const struct option options[] = {{"against", required_argument, NULL, CLI_OPT_AGAINST},
                                        {"against-program", required_argument, NULL, CLI_OPT_PROGRAM},
                                        {"signature", required_argument, NULL, CLI_OPT_SIGNATURE},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"overflow", required_argument, NULL, CLI_OPT_OVERFLOW},
                                        {"nan", required_argument, NULL, CLI_OPT_NAN},
                                        {"strict-nan", no_argument, NULL, CLI_OPT_STRICT_NAN},
                                        {"inputs", required_argument, NULL, CLI_OPT_INPUTS},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"exhaustive", no_argument, NULL, CLI_OPT_EXHAUSTIVE},
                                        {"time-limit", required_argument, NULL, CLI_OPT_TIME_LIMIT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

/* What a difference is about, in the order of the report. */
typedef enum difference {
    STRAY_BITS, /* the right code, with bits above the width of the format */
    TIE,
    SUBNORMAL,
    UNDERFLOW_TO_ZERO,
    OVERFLOW_THRESHOLD,
    ABOVE_MAX,
    NEGATIVE,
    INFINITE,
    NOT_A_NUMBER,
    SIGNED_ZERO,
    ZERO,
    NORMAL,
    DIFFERENCES
} difference;
static const char *const difference_names[DIFFERENCES] = {
    "stray-bits", "tie",         "subnormal", "underflow", "overflow-threshold", "above-max", "negative", "infinity",
    "nan",        "signed-zero", "zero",      "normal"};

/* One number with its bits; the value is exact. */
typedef struct number {
    double value;
    uint64_t code;
} number;

typedef struct finding {
    uint64_t count;
    number input, expected, got;
} finding;

typedef struct search {
    const char *spec, *mode;   /* as the user wrote them */
    fpemu_format format, from; /* `from`: of the inputs; SPEC itself when its codes are decoded */
    uint64_t mask;             /* the bits of a code of `format` */
    bool decodes, strict_nan;
    fpemu_rounding rounding;
    foreign other;
    inputs in;
    double deadline;
    uint64_t done[INPUT_STAGES];
    bool late;
    finding found[DIFFERENCES];
    uint64_t *codes; /* a batch of inputs, */
    void *carrier;   /* as values where they are codes, */
    void *expected;  /* and its results */
} search;

/* ------------------------------------------------------------------------------------------------- classes */

/* Rounding to nearest turns around at x. */
static bool is_tie(const fpemu_format *format, double x, double low, double high)
{
    fpemu_format wider;
    if (format->kind == FPEMU_KIND_POSIT) {
        return fabs(x) > format->min_positive &&
               fpemu_posit(&wider, format->bits + 1, format->exponent_bits) == FPEMU_OK &&
               fpemu_is_representable(&wider, x);
    }
    return x - low == high - x;
}

/* The other of the two neighbours of a tie was taken: whatever else is wrong is no matter of ties. */
static bool is_wrong_tie(const fpemu_format *format, double x, double expected, double got)
{
    if (fpemu_is_representable(format, x)) {
        return false;
    }
    const double low = fpemu_next_down(format, x), high = fpemu_next_up(format, x);
    return is_tie(format, x, low, high) && ((expected == low && got == high) || (expected == high && got == low));
}

static difference classify(const fpemu_format *format, double x, double expected, double got)
{
    const double max = fpemu_max(format), lowest = fpemu_lowest(format), normal = fpemu_min_normal(format);
    const double size = fabs(x);
    if (isnan(x)) {
        return NOT_A_NUMBER;
    }
    if (isinf(x)) {
        return INFINITE;
    }
    if (expected == 0 && got == 0 && signbit(expected) != signbit(got)) {
        return SIGNED_ZERO;
    }
    if (x == 0) {
        return ZERO;
    }
    if (x < 0 && !format->is_signed) {
        return NEGATIVE;
    }
    if (x > max) {
        return x - max < max - fpemu_next_down(format, max) ? OVERFLOW_THRESHOLD : ABOVE_MAX;
    }
    if (x < lowest && lowest <= 0) { /* e8m0 begins above zero */
        return lowest - x < fpemu_next_up(format, lowest) - lowest ? OVERFLOW_THRESHOLD : ABOVE_MAX;
    }
    if (is_wrong_tie(format, x, expected, got)) {
        return TIE;
    }
    if (expected == 0) {
        return UNDERFLOW_TO_ZERO;
    }
    if (normal > fpemu_min_positive(format) && (size < normal || fabs(expected) < normal)) {
        return SUBNORMAL;
    }
    return size < fpemu_min_positive(format) ? UNDERFLOW_TO_ZERO : NORMAL;
}

/* The positive of two numbers of one size is the smaller; NaNs go by their bits. */
static bool is_smaller(number a, number b)
{
    const double x = fabs(a.value), y = fabs(b.value);
    if (x != y && !isnan(x)) {
        return x < y;
    }
    return a.code < b.code;
}

/* --------------------------------------------------------------------------------------------- comparison */

static double carrier_value(foreign_type type, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return type == FOREIGN_F32 ? (double)narrow : wide;
}

static number number_of(foreign_type type, const fpemu_format *format, uint64_t code)
{
    return (number){foreign_is_code(type) ? fpemu_decode_one_f64(format, code) : carrier_value(type, code), code};
}

static bool is_same(const search *s, number expected, number got)
{
    return expected.code == got.code || (!s->strict_nan && isnan(expected.value) && isnan(got.value));
}

static bool has_stray_bits(const search *s, uint64_t code)
{
    return foreign_is_code(s->other.signature.out) && code > s->mask;
}

static void take_difference(search *s, number input, number expected, number got)
{
    const number low = {got.value, got.code & s->mask};
    const bool stray = has_stray_bits(s, got.code) && is_same(s, expected, low);
    finding *f = &s->found[stray ? STRAY_BITS : classify(&s->format, input.value, expected.value, got.value)];
    if (f->count++ == 0 || is_smaller(input, f->input)) {
        f->input = input;
        f->expected = expected;
        f->got = got;
    }
}

static void compare(search *s, size_t n)
{
    const foreign_signature *t = &s->other.signature;
    const size_t size = foreign_size(t->out);
    if (memcmp(s->expected, s->other.out, n * size) == 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const number expected = number_of(t->out, &s->format, number_load_code(s->expected, size, i));
        const number got = number_of(t->out, &s->format, number_load_code(s->other.out, size, i));
        if (!is_same(s, expected, got) || has_stray_bits(s, got.code)) {
            take_difference(s, number_of(t->in, &s->from, s->codes[i]), expected, got);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- results */

/* Codes of the format, one byte each say, into elements of a type that may be wider. */
static void widen_codes(void *codes, size_t from, size_t to, size_t n)
{
    for (size_t i = n; from < to && i-- > 0;) {
        number_store_code(codes, to, i, number_load_code(codes, from, i));
    }
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
    if (!foreign_is_code(s->other.signature.in)) {
        const size_t size = foreign_size(s->other.signature.in);
        for (size_t i = 0; i < n; i++) {
            number_store_code(s->carrier, size, i, s->codes[i]);
        }
        return;
    }
    const size_t size = fpemu_code_size(&s->from);
    for (size_t i = 0; i < n; i++) {
        number_store_code(s->expected, size, i, s->codes[i]);
    }
    cli_check(binary32 ? fpemu_decode_f32(&s->from, n, s->expected, s->carrier)
                       : fpemu_decode_f64(&s->from, n, s->expected, s->carrier),
              s->spec);
}

/* What the library makes of the batch, in elements of the type of the results. */
static void expect(search *s, size_t n)
{
    const foreign_type in = s->other.signature.in, out = s->other.signature.out;
    const bool to_code = foreign_is_code(out);
    const bool both_fit = fpemu_fits_f32(&s->from) && fpemu_fits_f32(&s->format) && out != FOREIGN_F64;
    const bool binary32 = s->decodes ? out == FOREIGN_F32 : foreign_is_code(in) ? both_fit : in == FOREIGN_F32;
    load_carrier(s, binary32, n);
    if (s->decodes) {
        memcpy(s->expected, s->carrier, n * foreign_size(out));
        return;
    }
    if (to_code) {
        cli_check(binary32 ? fpemu_encode_f32(&s->format, &s->rounding, n, s->carrier, s->expected, NULL)
                           : fpemu_encode_f64(&s->format, &s->rounding, n, s->carrier, s->expected, NULL),
                  s->spec);
        widen_codes(s->expected, fpemu_code_size(&s->format), foreign_size(out), n);
        return;
    }
    cli_check(binary32 ? fpemu_quantize_f32(&s->format, &s->rounding, n, s->carrier, s->expected, NULL)
                       : fpemu_quantize_f64(&s->format, &s->rounding, n, s->carrier, s->expected, NULL),
              s->spec);
    if (!binary32 && out == FOREIGN_F32) {
        narrow_values(s->expected, n);
    } else if (binary32 && out == FOREIGN_F64) {
        widen_values(s->expected, n);
    }
}

/* -------------------------------------------------------------------------------------------------- search */

/* False when the search is over. */
static bool try_batch(search *s, input_stage stage, uint64_t first, size_t n)
{
    const size_t size = foreign_size(s->other.signature.in);
    for (size_t i = 0; i < n; i++) {
        s->codes[i] = inputs_code(&s->in, stage, first + i);
        number_store_code(s->other.in, size, i, s->codes[i]);
    }
    memset(s->other.out, 0xa5, n * foreign_size(s->other.signature.out)); /* so that results left out are noticed */
    const foreign_end end = foreign_run(&s->other, n, s->deadline);
    if (end == FOREIGN_DONE) {
        expect(s, n);
        compare(s, n);
        s->done[stage] += n;
    }
    s->late = end == FOREIGN_LATE;
    return end == FOREIGN_DONE;
}

/* Batches grow while they are quick, so that a time limit is kept. A program starts once a batch. */
static bool search_stage(search *s, input_stage stage, progress *bar)
{
    const uint64_t count = s->in.count[stage];
    size_t batch = s->other.program ? FOREIGN_BATCH : 1024;
    for (uint64_t first = 0; first < count;) {
        const size_t n = count - first < batch ? (size_t)(count - first) : batch;
        const double start = foreign_now();
        if (start > s->deadline) {
            s->late = true;
            return false;
        }
        if (!try_batch(s, stage, first, n)) {
            return false;
        }
        batch = foreign_now() - start < 0.1 && batch < FOREIGN_BATCH ? 2 * batch : batch;
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
    for (input_stage stage = first; stage <= last; stage++) {
        total += s->in.count[stage];
    }
    progress bar = progress_start("fuzz", total);
    for (input_stage stage = first; stage <= last && search_stage(s, stage, &bar); stage++) {
    }
    progress_hide();
}

/* -------------------------------------------------------------------------------------------------- report */

static unsigned bits_of(foreign_type type, const fpemu_format *format, uint64_t code)
{
    const unsigned all = 8 * (unsigned)foreign_size(type);
    const bool in_width = format->bits >= 64 || code >> format->bits == 0;
    return foreign_is_code(type) && in_width ? format->bits : all;
}

static uint64_t total(const uint64_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

static uint64_t mismatches(const search *s)
{
    uint64_t sum = 0;
    for (int i = 0; i < DIFFERENCES; i++) {
        sum += s->found[i].count;
    }
    return sum;
}

static const char *number_text(char text[2 * NUMBER_SIZE], foreign_type type, const fpemu_format *format, number x)
{
    char value[NUMBER_SIZE], code[NUMBER_SIZE];
    snprintf(text, 2 * NUMBER_SIZE, "%s (%s)", number_print(value, x.value),
             number_print_code(code, x.code, bits_of(type, format, x.code)));
    return text;
}

/* Enough for 17 digits with a sign, a point and an exponent. */
static int text_width(foreign_type type)
{
    return (int)sizeof "-1.2345678901234567e-308 (0x)" + 2 * (int)foreign_size(type);
}

static void print_table(const search *s)
{
    const foreign_signature *t = &s->other.signature;
    char signature[FOREIGN_SIGNATURE_SIZE], spec[CLI_SPEC_SIZE], input[2 * NUMBER_SIZE], expected[2 * NUMBER_SIZE];
    char got[2 * NUMBER_SIZE];
    printf("%s, %s, %s: %s\n", cli_spec(&s->format, spec), s->decodes ? "decoding" : s->mode,
           foreign_print_signature(signature, t), s->other.name);
    printf("inputs:");
    for (int i = 0; i < INPUT_STAGES; i++) {
        if (s->done[i] > 0) {
            printf(" %" PRIu64 " %s", s->done[i], inputs_stage_name((input_stage)i));
        }
    }
    if (s->done[INPUTS_ALL] == 0) {
        printf(", seed %" PRIu64, s->in.seed);
    }
    puts(s->late ? ", ended by the time limit" : "");
    if (mismatches(s) == 0) {
        puts("no difference");
        return;
    }
    const int wide = text_width(t->in), right = text_width(t->out);
    printf("%-18s  %10s  %-*s  %-*s  %s\n", "difference", "count", wide, "smallest input", right, "expected", "got");
    for (int i = 0; i < DIFFERENCES; i++) {
        const finding *f = &s->found[i];
        if (f->count > 0) {
            printf("%-18s  %10" PRIu64 "  %-*s  %-*s  %s\n", difference_names[i], f->count, wide,
                   number_text(input, t->in, &s->from, f->input), right,
                   number_text(expected, t->out, &s->format, f->expected),
                   number_text(got, t->out, &s->format, f->got));
        }
    }
}

static json_t *number_json(foreign_type type, const fpemu_format *format, number x)
{
    char code[NUMBER_SIZE];
    json_t *object = jsonout_object();
    jsonout_set(object, "value", jsonout_real(x.value));
    jsonout_set(object, "code", jsonout_text(number_print_code(code, x.code, bits_of(type, format, x.code))));
    return object;
}

static void print_json(const search *s)
{
    const foreign_signature *t = &s->other.signature;
    char signature[FOREIGN_SIGNATURE_SIZE], spec[CLI_SPEC_SIZE];
    json_t *object = jsonout_object(), *stages = jsonout_object(), *list = jsonout_array();
    for (int i = 0; i < INPUT_STAGES; i++) {
        if (s->done[i] > 0) {
            jsonout_set(stages, inputs_stage_name((input_stage)i), jsonout_count(s->done[i]));
        }
    }
    for (int i = 0; i < DIFFERENCES; i++) {
        const finding *f = &s->found[i];
        if (f->count > 0) {
            json_t *entry = jsonout_object();
            jsonout_set(entry, "class", jsonout_text(difference_names[i]));
            jsonout_set(entry, "count", jsonout_count(f->count));
            jsonout_set(entry, "input", number_json(t->in, &s->from, f->input));
            jsonout_set(entry, "expected", number_json(t->out, &s->format, f->expected));
            jsonout_set(entry, "got", number_json(t->out, &s->format, f->got));
            jsonout_append(list, entry);
        }
    }
    jsonout_set(object, "spec", jsonout_text(cli_spec(&s->format, spec)));
    jsonout_set(object, "from", jsonout_text(cli_spec(&s->from, spec)));
    jsonout_set(object, "signature", jsonout_text(foreign_print_signature(signature, t)));
    jsonout_set(object, "against", jsonout_text(s->other.name));
    jsonout_set(object, "rounding", s->decodes ? json_null() : jsonout_rounding(&s->rounding));
    jsonout_set(object, "seed", jsonout_count(s->in.seed));
    jsonout_set(object, "inputs", jsonout_count(total(s->done, INPUT_STAGES)));
    jsonout_set(object, "stages", stages);
    jsonout_set(object, "exhaustive", jsonout_bool(s->done[INPUTS_ALL] == s->in.count[INPUTS_ALL]));
    jsonout_set(object, "time_limit_reached", jsonout_bool(s->late));
    jsonout_set(object, "failure", s->other.failure[0] != '\0' ? jsonout_text(s->other.failure) : json_null());
    jsonout_set(object, "mismatches", jsonout_count(mismatches(s)));
    jsonout_set(object, "differences", list);
    jsonout_print(object);
}

/* The other side crashed, hung or gave nonsense: what was found until then was printed already. */
static _Noreturn void report_failure(const search *s)
{
    char input[2 * NUMBER_SIZE];
    const foreign *f = &s->other;
    cli_finish_stdout();
    if (f->failed_at == FOREIGN_NOWHERE) {
        cli_fail("%s", f->failure);
    }
    const number x = number_of(f->signature.in, &s->from, s->codes[f->failed_at]);
    cli_fail("%s; %s %s", f->failure, f->program ? "the first input without a result is" : "the input was",
             number_text(input, f->signature.in, &s->from, x));
}

/* ------------------------------------------------------------------------------------------------- command */

typedef struct request {
    const char *library, *program, *signature, *from;
    cli_rounding rounding;
    uint64_t inputs, seed, seconds;
    bool exhaustive, strict_nan, json;
} request;

static request read_options(cli *c)
{
    request q = {.inputs = UINT64_C(1) << 20};
    for (int option; (option = cli_next(c, "r:", options)) != -1;) {
        switch (option) {
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
        case CLI_OPT_JSON: q.json = true; break;
        default: cli_rounding_take(&q.rounding, option, optarg);
        }
    }
    if ((q.library == NULL) == (q.program == NULL)) {
        cli_usage("fuzz: one of --against and --against-program is needed");
    }
    return q;
}

/* The signature asked for, or the plain one of the format; and what the inputs are. */
static foreign_signature choose_signature(search *s, const request *q)
{
    const foreign_type code = foreign_code_type(fpemu_code_size(&s->format));
    foreign_signature t = {.in = fpemu_fits_f32(&s->format) ? FOREIGN_F32 : FOREIGN_F64, .out = code};
    if (q->from != NULL) {
        s->from = cli_format(q->from);
        t.in = foreign_code_type(fpemu_code_size(&s->from));
    }
    if (q->signature != NULL && !foreign_read_signature(q->signature, &t)) {
        cli_usage("--signature: '%s' is not IN-to-OUT or IN-to-OUT-array of f32 f64 u8 u16 u32 u64", q->signature);
    }
    s->decodes = foreign_is_code(t.in) && q->from == NULL;
    if (!foreign_is_code(t.in)) {
        if (q->from != NULL) {
            cli_usage("--from: the inputs of this signature are no codes");
        }
        s->from = cli_format(t.in == FOREIGN_F32 ? "fp32" : "fp64");
    } else if (s->decodes) {
        s->from = s->format;
    }
    if (s->decodes && foreign_is_code(t.out)) {
        cli_usage("--signature: codes to codes need --from, the format of the inputs");
    }
    if ((foreign_is_code(t.in) && foreign_size(t.in) < fpemu_code_size(&s->from)) ||
        (foreign_is_code(t.out) && foreign_size(t.out) < fpemu_code_size(&s->format))) {
        cli_usage("--signature: a type is too narrow for the codes of its format");
    }
    if ((t.out == FOREIGN_F32 || (t.in == FOREIGN_F32 && !s->decodes)) && !fpemu_fits_f32(&s->format)) {
        cli_usage("--signature: f32 does not hold every value of '%s'", s->spec);
    }
    return t;
}

static void check_rounding(const search *s)
{
    const double zero = 0;
    double y;
    if (s->rounding.mode == FPEMU_SR || s->rounding.mode == FPEMU_SE) {
        cli_usage("fuzz: stochastic rounding has no one result to compare");
    }
    if (s->rounding.nan == FPEMU_NAN_ERROR ||
        (s->rounding.nan == FPEMU_NAN_FROM_FORMAT && s->format.nan == FPEMU_NAN_ERROR)) {
        cli_usage("fuzz: the NaN policy 'error' gives no result to compare");
    }
    cli_check(fpemu_quantize_f64(&s->format, &s->rounding, 1, &zero, &y, NULL), s->spec);
    cli_check(fpemu_quantize_f64(&s->from, &(fpemu_rounding){0}, 1, &zero, &y, NULL), "--from");
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
    s.mask = UINT64_MAX >> (64 - s.format.bits);
    s.rounding = cli_rounding_get(&q.rounding);
    s.mode = q.rounding.mode != NULL ? q.rounding.mode : "rne";
    const foreign_signature signature = choose_signature(&s, &q);
    check_rounding(&s);
    if (q.exhaustive && s.from.bits > 32) {
        cli_usage("--exhaustive: the inputs have %u bits, more than 32", (unsigned)s.from.bits);
    }
    use_one_thread();
    s.other = q.library != NULL ? foreign_library(q.library, signature) : foreign_program(q.program, signature);
    s.deadline = q.seconds > 0 ? foreign_now() + (double)q.seconds : (double)INFINITY;
    s.in = inputs_start(&s.from, &s.format, depth, q.inputs, q.seed);
    s.codes = cli_allocate(FOREIGN_BATCH, sizeof *s.codes);
    s.carrier = cli_allocate(FOREIGN_BATCH, sizeof(double));
    s.expected = cli_allocate(FOREIGN_BATCH, sizeof(double));

    search_all(&s, q.exhaustive || s.from.bits <= 16);
    if (s.late && total(s.done, INPUT_STAGES) == 0) {
        cli_fail("%s gave no result before the time limit", s.other.name);
    }
    if (q.json) {
        print_json(&s);
    } else {
        print_table(&s);
    }
    if (s.other.failure[0] != '\0') {
        report_failure(&s);
    }
    foreign_close(&s.other);
    inputs_end(&s.in);
    free(s.codes);
    free(s.carrier);
    free(s.expected);
    return mismatches(&s) > 0 ? CLI_FAILURE : CLI_OK;
}
