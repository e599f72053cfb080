/* SPDX-License-Identifier: BSD-2-Clause */
/* validate.c - fpemu validate: the library against GNU MPFR, and against an exact judge in integers where MPFR has no
 * such rounding. The judges are those of the tests; they share no code with the library. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../../tests/against_judges/compare.h"
#include "../../../tests/against_judges/points.h"
#include "../../../tests/against_judges/sweep.h"
#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "reports/jsonout.h"

static const char help[] =
    "Usage: fpemu validate [SPEC...] [-r MODE[,MODE...]] [--inputs N | --exhaustive] [--json]\n"
    "Compares the library with GNU MPFR, or where MPFR has no such format or mode with an exact\n"
    "judge in integers: value, bit pattern and counters. Inputs are the values of the format, the\n"
    "points midway and the thresholds past the ends, each with its neighbours, then random ones;\n"
    "binary32 and binary64 where they hold the format; overflow policies ieee, saturate and\n"
    "saturate-keep-inf. Without SPEC: the named formats and some more. Exit status 1 if anything\n"
    "differs.\n"
    "\n"
    "  -r, --rounding MODE   modes, separated by commas; may be repeated (default: the eight\n"
    "                        deterministic ones)\n"
    "      --inputs N        random inputs for each format, mode and policy (default: 10000)\n"
    "      --exhaustive      all 2^32 binary32 inputs instead, under the policy of the format:\n"
    "                        seconds for each format and mode\n"
    "      --seed N          seed of the random inputs (default: 0)\n"
    "      --json            the results as JSON\n"
    "\n"
    "Examples:\n"
    "  fpemu validate e4m3fn bf16\n"
    "  fpemu validate e4m3fn:saturate -r rne --exhaustive\n";

enum { OPT_INPUTS = 1000, OPT_EXHAUSTIVE };

static const struct option options[] = {{"rounding", required_argument, NULL, 'r'},
                                        {"inputs", required_argument, NULL, OPT_INPUTS},
                                        {"exhaustive", no_argument, NULL, OPT_EXHAUSTIVE},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

/* Beside the named formats. */
static const char *const more_formats[] = {"fp(4,3,4)",     "fp(5,2,0)",     "fp(6,9,0)",
                                           "p3109(8,3,se)", "p3109(8,4,sf)", "p3109(8,4,ue)",
                                           "fixed(8,4)",    "posit(8,2)",    "posit(16,1)"};
enum { MORE_FORMATS = sizeof more_formats / sizeof *more_formats };

typedef struct validation {
    uint64_t inputs, seed;
    bool exhaustive, json;
    progress bar;
    json_t *rows;
    /* The line in the making. */
    json_t *mismatches;
    uint64_t compared, failures;
    bool by_mpfr, f32, f64;
    bool failed; /* anything so far */
} validation;

static void report(void *context, const compare_mismatch *m)
{
    validation *v = context;
    progress_hide();
    if (!v->json) {
        compare_print(NULL, m);
        return;
    }
    char text[3][24];
    json_t *row = jsonout_object();
    snprintf(text[0], sizeof text[0], "0x%" PRIx64, m->x);
    snprintf(text[1], sizeof text[1], "0x%" PRIx64, m->judge);
    snprintf(text[2], sizeof text[2], "0x%" PRIx64, m->library);
    jsonout_set(row, "what", jsonout_text(m->what));
    jsonout_set(row, "carrier", jsonout_count(m->carrier));
    jsonout_set(row, "rounding", jsonout_rounding(m->rounding, FPEMU_MODE_DRAWS(m->rounding->mode)));
    jsonout_set(row, "index", jsonout_count(m->index));
    jsonout_set(row, "input", jsonout_text(text[0]));
    jsonout_set(row, "judge", jsonout_text(text[1]));
    jsonout_set(row, "library", jsonout_text(text[2]));
    jsonout_append(v->mismatches, row);
}

static void advance(void *context, uint64_t inputs)
{
    validation *v = context;
    progress_advance(&v->bar, inputs);
}

/* One format, mode and policy on one carrier: sampled, or every binary32 input. */
static void validate_one(validation *v, const char *spec, const fpemu_format *format, const fpemu_rounding *rounding,
                         unsigned carrier, const points *p)
{
    judge *j = judge_open_any(format, rounding, carrier);
    if (j == NULL)
        return;
    if (v->exhaustive) {
        sweep s;
        if (sweep_f32(&s, spec, format, rounding, j, UINT_MAX, report, v, advance)) {
            v->compared += UINT64_C(1) << 32;
            v->failures += s.failures;
        }
    } else {
        v->failures += compare_array(spec, format, rounding, carrier, p->x, p->n, j, UINT_MAX, report, v);
        v->compared += p->n;
    }
    v->by_mpfr = judge_kind_of(j) == JUDGE_MPFR;
    *(carrier == 32 ? &v->f32 : &v->f64) = true;
    judge_close(j);
}

static void finish_line(validation *v, const char *spec, const char *mode)
{
    if (v->json) {
        json_t *row = jsonout_object(), *carriers = jsonout_array();
        if (v->f32)
            jsonout_append(carriers, jsonout_count(32));
        if (v->f64)
            jsonout_append(carriers, jsonout_count(64));
        jsonout_set(row, "spec", jsonout_text(spec));
        jsonout_set(row, "mode", jsonout_text(mode));
        jsonout_set(row, "judge", jsonout_text(v->by_mpfr ? "mpfr" : "exact"));
        jsonout_set(row, "carriers", carriers);
        jsonout_set(row, "inputs", jsonout_count(v->compared));
        jsonout_set(row, "mismatch_count", jsonout_count(v->failures));
        jsonout_set(row, "mismatches", v->mismatches);
        jsonout_append(v->rows, row);
    } else {
        progress_hide();
        printf("%-16s %-4s %-6s %-9s %12" PRIu64 " ", spec, mode, v->by_mpfr ? "mpfr" : "exact",
               v->f32 && v->f64 ? "f32 f64"
               : v->f32         ? "f32"
                                : "f64",
               v->compared);
        if (v->failures > 0)
            printf("%" PRIu64 " MISMATCHES\n", v->failures);
        else
            puts("ok");
        fflush(stdout);
    }
    v->failed |= v->failures > 0;
}

static void validate_mode(validation *v, const char *spec, const fpemu_format *format, fpemu_mode mode,
                          const points inputs[2])
{
    v->compared = v->failures = 0;
    v->f32 = v->f64 = false;
    v->mismatches = v->json ? jsonout_array() : NULL;
    for (unsigned carrier = 32; carrier <= (v->exhaustive ? 32u : 64u); carrier += 32) {
        const points *p = &inputs[carrier == 64];
        for (unsigned policy = v->exhaustive ? 0 : 1; policy <= (v->exhaustive ? 0u : 3u); policy++) {
            fpemu_rounding rounding = fpemu_rounding_stochastic(v->seed, 0);
            rounding.mode = (uint8_t)mode;
            rounding.overflow = (uint8_t)policy;
            if (v->exhaustive || p->n > 0)
                validate_one(v, spec, format, &rounding, carrier, p);
            if (!v->exhaustive)
                progress_advance(&v->bar, 1);
        }
    }
    if (v->compared > 0)
        finish_line(v, spec, fpemu_mode_name(mode));
    else if (v->json)
        json_decref(v->mismatches);
}

/* Every mode of `modes` (bits); false if there was nothing to compare. */
static bool validate_format(validation *v, const char *spec, unsigned modes)
{
    const fpemu_format format = cli_format(spec);
    if (format.scaling != FPEMU_SCALING_NONE || format.kind == FPEMU_KIND_CODEBOOK)
        return false; /* tests/against_judges has judges for these */
    const points_want want = {.full_bits = 12, .reach = 1, .random = (size_t)v->inputs, .seed = v->seed};
    points inputs[2] = {{0}, {0}};
    bool any = false;

    if (!v->exhaustive) {
        points_make(&inputs[0], &format, 32, &want);
        points_make(&inputs[1], &format, 64, &want);
    }
    for (unsigned mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
        if (modes >> mode & 1) {
            validate_mode(v, spec, &format, (fpemu_mode)mode, inputs);
            any |= v->compared > 0;
        }
    }
    points_free(&inputs[0]);
    points_free(&inputs[1]);
    return any;
}

/* "rne,rtz" as bits. */
static unsigned read_modes(const char *text)
{
    unsigned modes = 0;
    while (true) {
        const size_t length = strcspn(text, ",");
        char name[64];
        fpemu_rounding rounding;
        if (length >= sizeof name)
            cli_usage("validate: unknown mode '%s'", text);
        memcpy(name, text, length);
        name[length] = '\0';
        if (fpemu_rounding_parse(name, &rounding, NULL) != FPEMU_OK)
            cli_usage("validate: unknown mode '%s'", name);
        if (rounding.compat != FPEMU_COMPAT_NONE || rounding.overflow != FPEMU_OVERFLOW_FROM_FORMAT)
            cli_usage("validate: no judge for the compatibility setting '%s'", name);
        modes |= 1u << rounding.mode;
        if (text[length] == '\0')
            return modes;
        text += length + 1;
    }
}

static unsigned count_bits(unsigned x)
{
    unsigned n = 0;
    for (; x != 0; x &= x - 1)
        n++;
    return n;
}

int cmd_validate(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    validation v = {.inputs = 10000};
    const unsigned drawn = 1u << FPEMU_MODE_SR | 1u << FPEMU_MODE_SE;
    unsigned modes = 0;
    bool inputs_given = false;

    for (int option; (option = cli_next(&c, "r:", options)) != -1;) {
        if (option == 'r') {
            modes |= read_modes(optarg);
        } else if (option == OPT_INPUTS) {
            v.inputs = cli_option_u64("--inputs", optarg, 0, 100000000);
            inputs_given = true;
        } else if (option == OPT_EXHAUSTIVE) {
            v.exhaustive = true;
        } else if (option == CLI_OPT_SEED) {
            v.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
        } else if (option == CLI_OPT_JSON) {
            v.json = true;
        }
    }
    if (v.exhaustive && inputs_given)
        cli_usage("validate: --inputs and --exhaustive exclude each other");
    if (modes == 0)
        modes = ((1u << FPEMU_MODE_COUNT) - 1) & ~drawn;
    if (v.exhaustive && (modes & drawn) != 0)
        cli_usage("validate: --exhaustive is for the deterministic modes");
    for (int i = 0; i < c.operands; i++)
        (void)cli_format(c.operand[i]); /* a bad spec is refused before any work */
    const unsigned formats = c.operands > 0 ? (unsigned)c.operands : FPEMU_NAME_COUNT - 1u + MORE_FORMATS;
    v.bar = progress_start("validate", formats * (uint64_t)count_bits(modes) * (v.exhaustive ? UINT64_C(1) << 32 : 6));
    v.rows = v.json ? jsonout_array() : NULL;
    if (!v.json)
        printf("%-16s %-4s %-6s %-9s %12s %s\n", "format", "mode", "judge", "carriers", "inputs", "result");
    for (unsigned i = 0; i < formats; i++) {
        const char *spec = c.operands > 0             ? c.operand[i]
                           : i < FPEMU_NAME_COUNT - 1 ? fpemu_format_name((fpemu_name)(i + 1), 0)
                                                      : more_formats[i - (FPEMU_NAME_COUNT - 1)];
        if (!validate_format(&v, spec, modes) && c.operands > 0) {
            cli_fail("validate: %s: nothing to compare: no judge for these modes%s, nor for scales and codebooks, "
                     "which make check-blocks judges",
                     spec, v.exhaustive ? ", or binary32 does not hold the format" : "");
        }
    }
    progress_hide();
    if (v.json)
        jsonout_print(v.rows);
    return v.failed ? CLI_FAILURE : CLI_OK;
}
