/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - fpemu gemm: a product of two matrices under models of accumulation, against binary64. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/accumulation.h"
#include "cli/error.h"
#include "cli/options.h"
#include "commands/commands.h"
#include "files/file.h"
#include "files/output.h"
#include "files/writer.h"
#include "reports/jsonout.h"

static const char help[] =
    "Usage: fpemu gemm A B MODEL... [OPTION...]\n"
    "Multiplies two matrices (.npy of two dimensions; A is m x k, B is k x n) as a machine that\n"
    "adds up as MODEL says, and prints how far each result is from a product in binary64, and\n"
    "what happened on the way. A MODEL is an accumulator, with operand formats if wanted:\n"
    "  fp32   fp64   seq(fp16)   'seq(fp(6,9,0)/sr); ab=e5m2'   'chunk(64,fp(6,9,0)); ab=e5m2'\n"
    "  'pairwise(fp16)'   'kahan(bf16)'   'tc(h100,e4m3fn,promote=128)'   'int(32,wrap); "
    "ab=int8'\n" ACCUMULATION_BLAS_HELP "\n"
    "      --transpose-a     A holds the transpose\n"
    "      --transpose-b     B holds the transpose\n"
    "      --double          binary64 operands and results (default: binary32)\n"
    "      --seed N          seed of stochastic roundings (default: 0)\n"
    "  -o, --output FILE     write the product as .npy; one MODEL only\n"
    "      --json            print a JSON object\n"
    "\n"
    "relative: ||C - C64|| / ||C64||, over all elements. largest: the largest |C - C64|, in units\n"
    "of the largest |C64|. swamped: additions whose smaller number, not zero, changed nothing.\n"
    "\n"
    "Example: fpemu gemm a.npy b.npy fp32 'tc(h100,fp16)' 'seq(fp16)'\n";

enum { OPT_TRANSPOSE_A = CLI_OPT_LONG + 1000, OPT_TRANSPOSE_B };

static const struct option options[] = {{"transpose-a", no_argument, NULL, OPT_TRANSPOSE_A},
                                        {"transpose-b", no_argument, NULL, OPT_TRANSPOSE_B},
                                        {"double", no_argument, NULL, CLI_OPT_DOUBLE},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"output", required_argument, NULL, 'o'},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct matrix {
    uint64_t rows, columns;
    float *x32; /* NULL with --double */
    double *x64;
} matrix;

/* A whole matrix in row-major order, in binary64 and, unless `binary64`, in binary32. */
static matrix read_matrix(const char *path, bool binary64)
{
    file_options plain = {0};
    file f = file_open(path, &plain);
    const tensor *t = &f.model.tensor[0];
    if (!file_is_array(&f) || f.model.count != 1 || t->type == NULL || t->dimensions != 2)
        cli_fail("%s: not a matrix: a .npy file of two dimensions, of floating-point numbers, is needed", path);
    if (!binary64 && strcmp(t->type->name, "F64") == 0)
        cli_usage("gemm: '%s' holds binary64 numbers: --double computes with them", path);
    matrix m = {.rows = t->extent[0], .columns = t->extent[1]};
    m.x64 = cli_allocate(t->count > 0 ? t->count : 1, sizeof *m.x64);
    m.x32 = binary64 ? NULL : cli_allocate(t->count > 0 ? t->count : 1, sizeof *m.x32);
    walk w = walk_begin(&f, 0, !binary64, true, 1, UINT64_MAX);
    while (walk_next(&w)) {
        for (size_t i = 0; i < w.count; i++) {
            uint64_t at = w.index + i;
            if (t->fortran_order)
                at = at % m.rows * m.columns + at / m.rows;
            m.x64[at] = w.x64[i];
            if (m.x32 != NULL)
                m.x32[at] = w.x32[i];
        }
    }
    walk_end(&w);
    file_close(&f);
    return m;
}

/* How far the product is from the reference. */
typedef struct distance {
    double relative, largest;
} distance;

static distance compare(uint64_t n, const double *c, const double *reference)
{
    double error = 0, signal = 0, worst = 0, top = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double d = fabs(c[i] - reference[i]), r = fabs(reference[i]);
        error += d * d;
        signal += r * r;
        worst = d > worst || isnan(d) ? d : worst;
        top = r > top ? r : top;
    }
    return (distance){error > 0 ? sqrt(error / signal) : error, worst > 0 ? worst / top : worst};
}

static void print_row(int width, const char *text, const distance *d, const fpemu_stats *s)
{
    printf("%-*s  %10.4g  %10.4g", width, text, d->relative, d->largest);
    if (s == NULL) {
        printf("  %12s  %9s  %9s  %9s  %9s\n", "-", "-", "-", "-", "-");
        return;
    }
    printf("  %12" PRIu64 "  %9" PRIu64 "  %9" PRIu64 "  %9" PRIu64 "  %9" PRIu64 "\n", s->inexact, s->swamped,
           s->overflow, s->underflow, s->invalid);
}

static json_t *json_row(const char *text, const distance *d, const fpemu_stats *s)
{
    json_t *row = jsonout_object();
    jsonout_set(row, "model", jsonout_text(text));
    jsonout_set(row, "relative_error", jsonout_real(d->relative));
    jsonout_set(row, "largest_error", jsonout_real(d->largest));
    if (s != NULL) {
        json_t *counters = jsonout_object();
        jsonout_stats(counters, s);
        jsonout_set(counters, "swamped", jsonout_count(s->swamped));
        jsonout_set(row, "roundings", counters);
    }
    return row;
}

static void write_product(const char *path, uint64_t rows, uint64_t columns, bool binary64, void *c)
{
    uint64_t extent[] = {rows, columns};
    const tensor like = {.type = dtype_named(binary64 ? "F64" : "F32"), .dimensions = 2, .extent = extent};
    output out = output_open(path);
    writer_npy_header(&out, &like, like.type);
    dtype_store(like.type, false, (size_t)(rows * columns), c, binary64, c);
    output_write(&out, c, (size_t)(rows * columns) * like.type->size);
    output_commit(&out);
}

/* The products of all models: operands and shape, one with binary64 sums to compare with, and room for one more. */
typedef struct products {
    bool binary64;
    accumulation *model;
    matrix a, b;
    fpemu_gemm_shape shape;
    size_t count; /* elements of a product */
    double *reference, *c64;
    float *c32;
} products;

static void read_operands(products *p, char **path)
{
    fpemu_gemm_shape *shape = &p->shape;
    p->a = read_matrix(path[0], p->binary64);
    p->b = read_matrix(path[1], p->binary64);
    const matrix *a = &p->a, *b = &p->b;
    const uint64_t inner = shape->transpose_b ? b->columns : b->rows;
    shape->m = shape->transpose_a ? a->columns : a->rows;
    shape->k = shape->transpose_a ? a->rows : a->columns;
    shape->n = shape->transpose_b ? b->rows : b->columns;
    if (shape->k != inner) {
        cli_fail("%s is %" PRIu64 "x%" PRIu64 " and %s %" PRIu64 "x%" PRIu64 "%s: the inner lengths %" PRIu64
                 " and %" PRIu64 " differ",
                 path[0], a->rows, a->columns, path[1], b->rows, b->columns,
                 shape->transpose_a || shape->transpose_b ? " (transposed as asked for)" : "", shape->k, inner);
    }
    if (shape->m != 0 && shape->n > SIZE_MAX / sizeof(double) / shape->m)
        cli_fail("the product has too many elements");
    p->count = (size_t)(shape->m * shape->n);
}

static void multiply_exactly(products *p)
{
    const accumulation exact = accumulation_read("fp64", true, 0);
    p->reference = cli_allocate(p->count, sizeof *p->reference);
    p->c64 = cli_allocate(p->count, sizeof *p->c64);
    p->c32 = cli_allocate(p->count, sizeof *p->c32);
    accumulation_gemm_f64(&exact, &p->shape, p->a.x64, p->b.x64, p->reference, NULL);
}

static distance multiply(products *p, const accumulation *model, fpemu_stats *stats)
{
    if (p->binary64) {
        accumulation_gemm_f64(model, &p->shape, p->a.x64, p->b.x64, p->c64, stats);
    } else {
        accumulation_gemm_f32(model, &p->shape, p->a.x32, p->b.x32, p->c32, stats);
        for (size_t k = 0; k < p->count; k++)
            p->c64[k] = (double)p->c32[k];
    }
    return compare(p->count, p->c64, p->reference);
}

static void print_table(products *p, int models, const accumulation *spec)
{
    int width = 5;
    for (int i = 0; i < models; i++) {
        const int length = (int)strlen(spec[i].text);
        width = length > width ? length : width;
    }
    printf("%-*s  %10s  %10s  %12s  %9s  %9s  %9s  %9s\n", width, "model", "relative", "largest", "inexact", "swamped",
           "overflow", "underflow", "invalid");
    for (int i = 0; i < models; i++) {
        fpemu_stats stats = {0}, *const counted = spec[i].blas ? NULL : &stats;
        const distance d = multiply(p, &spec[i], counted);
        print_row(width, spec[i].text, &d, counted);
    }
}

static void print_json(products *p, int models, const accumulation *spec)
{
    json_t *report = jsonout_object(), *rows = jsonout_array();
    for (int i = 0; i < models; i++) {
        fpemu_stats stats = {0}, *const counted = spec[i].blas ? NULL : &stats;
        const distance d = multiply(p, &spec[i], counted);
        jsonout_append(rows, json_row(spec[i].text, &d, counted));
    }
    jsonout_set(report, "m", jsonout_count(p->shape.m));
    jsonout_set(report, "n", jsonout_count(p->shape.n));
    jsonout_set(report, "k", jsonout_count(p->shape.k));
    jsonout_set(report, "models", rows);
    jsonout_print(report);
}

static void free_products(products *p)
{
    free(p->model);
    free(p->a.x32);
    free(p->a.x64);
    free(p->b.x32);
    free(p->b.x64);
    free(p->reference);
    free(p->c64);
    free(p->c32);
}

int cmd_gemm(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    products p = {0};
    bool json = false;
    uint64_t seed = 0;
    const char *path = NULL;
    for (int option; (option = cli_next(&c, "o:", options)) != -1;) {
        switch (option) {
        case OPT_TRANSPOSE_A: p.shape.transpose_a = 1; break;
        case OPT_TRANSPOSE_B: p.shape.transpose_b = 1; break;
        case CLI_OPT_DOUBLE: p.binary64 = true; break;
        case CLI_OPT_SEED: seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX); break;
        case 'o': path = optarg; break;
        default: json = true;
        }
    }
    cli_expect_operands(&c, 3, -1, "A B MODEL...");
    const int models = c.operands - 2;
    output_refuse_standard("-o", path, "the table goes there; name a file for the product");
    if (path != NULL && models > 1)
        cli_usage("gemm: -o writes the product of one MODEL, not of %d", models);
    accumulation *spec = p.model = cli_allocate((size_t)models, sizeof *spec);
    for (int i = 0; i < models; i++)
        spec[i] = accumulation_read(c.operand[2 + i], p.binary64, seed);
    read_operands(&p, c.operand);
    multiply_exactly(&p);
    if (json)
        print_json(&p, models, spec);
    else
        print_table(&p, models, spec);
    if (path != NULL)
        write_product(path, p.shape.m, p.shape.n, p.binary64, p.binary64 ? (void *)p.c64 : (void *)p.c32);
    free_products(&p);
    return CLI_OK;
}
