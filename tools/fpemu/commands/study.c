/* SPDX-License-Identifier: BSD-2-Clause */
/* study.c - fpemu study: the error of dot products against their length, for several models of accumulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/accumulation.h"
#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands/commands.h"
#include "files/output.h"
#include "reports/jsonout.h"
#include "reports/line_plot.h"

static const char help[] =
    "Usage: fpemu study MODEL... [OPTION...]\n"
    "How the error of a dot product grows with its length K under several accumulators (models as\n"
    "for fpemu gemm). For each K from 2^FIRST to 2^LAST, 64 dot products of random numbers; the\n"
    "error is the mean of |s - exact| / (sum of |x y|), exact being the sum in binary64 of the\n"
    "operands as the model rounds them. swamped: additions that changed nothing, for each\n"
    "product.\n" ACCUMULATION_BLAS_HELP "\n"
    "      --lengths F:L     FIRST and LAST, 0 to 20 (default: 4:14)\n"
    "      --data KIND       uniform: [0, 1), sums that grow; signed: [-1, 1); normal: sums of\n"
    "                        twelve uniforms, variance 1 (default: uniform)\n"
    "      --seed N          seed of data and stochastic roundings (default: 0)\n"
    "      --plot FILE       draw error against K as SVG\n"
    "      --json            print a JSON object\n"
    "\n"
    "Example: fpemu study 'seq(fp16)' 'chunk(64,fp16)' 'seq(fp16/sr)' fp32 --plot study.svg\n";

enum { OPT_LENGTHS = CLI_OPT_LONG + 1100, OPT_DATA };

static const struct option options[] = {{"lengths", required_argument, NULL, OPT_LENGTHS},
                                        {"data", required_argument, NULL, OPT_DATA},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"plot", required_argument, NULL, CLI_OPT_PLOT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

enum { SIDE = 8, MOST_LENGTHS = 21 };

static const char *const kinds[] = {"uniform", "signed", "normal"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Multiples of 2^-24, so that every kind is exact in binary32 but for the last rounding of `normal`. */
static float datum(unsigned kind, uint64_t seed, uint64_t stream, uint64_t i)
{
    const double unit = ldexp(1, -24);
    if (kind == 0)
        return (float)((double)(fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, i) >> 8) * unit);
    if (kind == 1)
        return (float)((double)(fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, i) >> 8) * 2 * unit - 1);
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++)
        sum += (double)(fpemu_random_word(FPEMU_GENERATOR_HASH, seed, stream, 12 * i + k) >> 8) * unit;
    return (float)sum;
}

typedef struct result {
    double error[MOST_LENGTHS];
    double swamped[MOST_LENGTHS];
} result;

/* The operands as the model sees them. */
static void round_operands(const fpemu_target *to, size_t n, const float *x, float *y)
{
    if (to->format.kind != 0)
        cli_check(fpemu_quantize_f32(&to->format, &to->rounding, n, x, y, NULL), "operands");
    else
        memcpy(y, x, n * sizeof *y);
}

static void measure(const accumulation *m, uint64_t k, const float *a, const float *b, float *work, double *error,
                    double *swamped)
{
    const fpemu_gemm_shape shape = {.m = SIDE, .n = SIDE, .k = k};
    const size_t n = (size_t)k * SIDE;
    float *const ra = work, *const rb = work + n;
    float c[SIDE * SIDE];
    fpemu_stats stats = {0};
    accumulation_gemm_f32(m, &shape, a, b, c, m->blas ? NULL : &stats);
    if (m->blas) {
        memcpy(ra, a, n * sizeof *ra);
        memcpy(rb, b, n * sizeof *rb);
    } else {
        round_operands(&m->spec.a, n, a, ra);
        round_operands(&m->spec.b, n, b, rb);
    }
    *error = 0;
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            double exact = 0, size = 0;
            for (size_t l = 0; l < k; l++) {
                const double p = (double)ra[i * k + l] * (double)rb[l * SIDE + j];
                exact += p;
                size += fabs(p);
            }
            const double d = fabs((double)c[i * SIDE + j] - exact);
            *error += (d > 0 ? d / size : d) / (SIDE * SIDE);
        }
    }
    *swamped = m->blas ? NAN : (double)stats.swamped / ((double)k * SIDE * SIDE);
}

/* "F:L" */
static void read_lengths(const char *text, unsigned *first, unsigned *last)
{
    char left[8];
    uint64_t f, l;
    const char *colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    if (colon == NULL || length >= sizeof left)
        cli_usage("--lengths: '%s' is not of the form FIRST:LAST, two numbers from 0 to 20", text);
    memcpy(left, text, length);
    left[length] = '\0';
    if (!cli_read_u64(left, &f) || !cli_read_u64(colon + 1, &l) || f > l || l >= MOST_LENGTHS)
        cli_usage("--lengths: '%s' is not of the form FIRST:LAST, two numbers from 0 to 20", text);
    *first = (unsigned)f;
    *last = (unsigned)l;
}

static unsigned read_kind(const char *text)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (strcmp(kinds[i], text) == 0)
            return i;
    cli_usage("--data: '%s' is not uniform, signed or normal", text);
}

static void print_table(unsigned first, unsigned points, int models, const accumulation *spec, const result *r)
{
    int width = 5;
    for (int i = 0; i < models; i++) {
        const int length = (int)strlen(spec[i].text);
        width = length > width ? length : width;
    }
    printf("%-*s  %-7s", width, "model", "");
    for (unsigned p = 0; p < points; p++)
        printf("  %8u", 1u << (first + p));
    putchar('\n');
    for (int i = 0; i < models; i++) {
        printf("%-*s  %-7s", width, spec[i].text, "error");
        for (unsigned p = 0; p < points; p++)
            printf("  %8.2g", r[i].error[p]);
        putchar('\n');
        if (spec[i].blas)
            continue;
        printf("%-*s  %-7s", width, "", "swamped");
        for (unsigned p = 0; p < points; p++)
            printf("  %8.3g", r[i].swamped[p]);
        putchar('\n');
    }
}

static void print_json(unsigned first, unsigned points, const char *data, uint64_t seed, int models,
                       const accumulation *spec, const result *r)
{
    json_t *report = jsonout_object(), *lengths = jsonout_array(), *list = jsonout_array();
    for (unsigned p = 0; p < points; p++)
        jsonout_append(lengths, jsonout_count((uint64_t)1 << (first + p)));
    for (int i = 0; i < models; i++) {
        json_t *entry = jsonout_object(), *error = jsonout_array(), *swamped = jsonout_array();
        for (unsigned p = 0; p < points; p++) {
            jsonout_append(error, jsonout_real(r[i].error[p]));
            jsonout_append(swamped, jsonout_real_or_null(r[i].swamped[p], !spec[i].blas));
        }
        jsonout_set(entry, "model", jsonout_text(spec[i].text));
        jsonout_set(entry, "error", error);
        jsonout_set(entry, "swamped", swamped);
        jsonout_append(list, entry);
    }
    jsonout_set(report, "data", jsonout_text(data));
    jsonout_set(report, "seed", jsonout_count(seed));
    jsonout_set(report, "lengths", lengths);
    jsonout_set(report, "models", list);
    jsonout_print(report);
}

static void draw(const char *path, unsigned first, unsigned points, int models, const accumulation *spec,
                 const result *r)
{
    double x[MOST_LENGTHS];
    line_series *series = cli_allocate((size_t)models, sizeof *series);
    for (unsigned p = 0; p < points; p++)
        x[p] = ldexp(1, (int)(first + p));
    for (int i = 0; i < models; i++)
        series[i] = (line_series){spec[i].text, r[i].error};
    line_plot_write(path, "Error of dot products by accumulator", "length K", "mean |error| / sum of |products|",
                    points, x, (size_t)models, series);
    free(series);
}

/* Every model at every length, on the same data. */
static void measure_all(unsigned first, unsigned points, unsigned kind, uint64_t seed, int models,
                        const accumulation *spec, result *r)
{
    const size_t most = (size_t)SIDE << (first + points - 1);
    float *a = cli_allocate(most, sizeof *a), *b = cli_allocate(most, sizeof *b);
    float *work = cli_allocate(2 * most, sizeof *work);
    progress bar = progress_start("study", (uint64_t)models * points);
    for (unsigned p = 0; p < points; p++) {
        const size_t k = (size_t)1 << (first + p);
        for (size_t i = 0; i < SIDE * k; i++) {
            a[i] = datum(kind, seed, 2 * (uint64_t)p, i);
            b[i] = datum(kind, seed, 2 * (uint64_t)p + 1, i);
        }
        for (int i = 0; i < models; i++) {
            measure(&spec[i], k, a, b, work, &r[i].error[p], &r[i].swamped[p]);
            progress_advance(&bar, 1);
        }
    }
    progress_hide();
    free(a);
    free(b);
    free(work);
}

int cmd_study(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    unsigned first = 4, last = 14, kind = 0;
    uint64_t seed = 0;
    const char *plot = NULL;
    bool json = false;
    for (int option; (option = cli_next(&c, "", options)) != -1;) {
        switch (option) {
        case OPT_LENGTHS: read_lengths(optarg, &first, &last); break;
        case OPT_DATA: kind = read_kind(optarg); break;
        case CLI_OPT_SEED: seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX); break;
        case CLI_OPT_PLOT: plot = output_plot_path(optarg); break;
        default: json = true;
        }
    }
    cli_expect_operands(&c, 1, -1, "MODEL...");
    const int models = c.operands;
    const unsigned points = last - first + 1;
    accumulation *spec = cli_allocate((size_t)models, sizeof *spec);
    for (int i = 0; i < models; i++)
        spec[i] = accumulation_read(c.operand[i], false, seed);
    result *r = cli_allocate((size_t)models, sizeof *r);
    measure_all(first, points, kind, seed, models, spec, r);
    if (json)
        print_json(first, points, kinds[kind], seed, models, spec, r);
    else
        print_table(first, points, models, spec, r);
    if (plot != NULL)
        draw(plot, first, points, models, spec, r);
    free(spec);
    free(r);
    return CLI_OK;
}
