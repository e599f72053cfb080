/* SPDX-License-Identifier: BSD-2-Clause */
/* sample.c - fpemu sample: arrays shaped like the tensors of a trained layer.
 *
 * Everything up to one final conversion is integer arithmetic on words of fpemu_random_word, so that the file has the
 * same bits on every machine. Element i of a matrix stands in row i / columns and column i % columns.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands/commands.h"
#include "files/file.h"
#include "files/writer.h"

static const char help[] =
    "Usage: fpemu sample KIND -o FILE [--seed N] [--shape RxC | --size N]\n"
    "Writes a float32 .npy file with two dimensions whose elements are spread like those of a\n"
    "trained layer. Equal arguments give equal bytes everywhere. KIND:\n"
    "  weights               normal, every row with a scale of its own around 2^-5\n"
    "  activations           after a ReLU: half are zero; a scale for every column, each of which\n"
    "                        is with probability 1/32 another 32 times larger\n"
    "  gradients             log-normal magnitudes around 2^-22, from 2^-40 to 2^-4, a tenth zero\n"
    "  normal                standard normal\n"
    "  uniform               uniform from -1 to 1\n"
    "\n"
    "  -o, --output FILE     the file to write\n"
    "      --seed N          another sample of the same kind (default: 0)\n"
    "      --shape RxC       R rows of C elements (default: 256x256)\n"
    "      --size N          N elements, in rows of up to 256\n"
    "\n"
    "Example: fpemu sample weights -o weights.npy\n";

enum { OPT_SHAPE = CLI_OPT_LONG + 1000 };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"seed", required_argument, NULL, CLI_OPT_SEED},
                                        {"shape", required_argument, NULL, OPT_SHAPE},
                                        {"size", required_argument, NULL, CLI_OPT_SIZE},
                                        CLI_HELP_LONG,
                                        {0}};

/* Streams of random words: a kind uses 16 * kind + one of these. */
enum { STREAM_VALUE = 0, STREAM_CHANNEL = 1, STREAM_CHOICE = 2 };

typedef struct source {
    uint64_t seed, stream;
    uint64_t columns;
} source;

static uint32_t random_word(const source *s, unsigned stream, uint64_t j)
{
    return fpemu_random_word(FPEMU_GENERATOR_HASH, s->seed, s->stream + stream, j);
}

/* A standard normal number times 2^32: the sum of 12 uniform ones, less its mean. Its variance is 1, its largest
 * magnitude 6. */
enum { UNIFORMS = 12 };
static int64_t normal(const source *s, unsigned stream, uint64_t i)
{
    int64_t sum = -(int64_t)UNIFORMS / 2 * ((int64_t)1 << 32);
    for (unsigned t = 0; t < UNIFORMS; t++)
        sum += random_word(s, stream, UNIFORMS * i + t);
    return sum;
}

/* 2^(e / 2^32) = mantissa * 2^exponent, the mantissa of 18 bits. */
typedef struct power {
    int64_t mantissa;
    int exponent;
} power;

static power power_of_two(int64_t e)
{
    /* round(2^(31 + 2^-k)), k = 1, 2, ..., 18 */
    static const uint64_t roots[] = {3037000500, 2553802834, 2341847524, 2242560872, 2194507417, 2170868212,
                                     2159144272, 2153306067, 2150392887, 2148937775, 2148210589, 2147847087,
                                     2147665360, 2147574502, 2147529075, 2147506361, 2147495005, 2147489326};
    const int64_t whole = e >= 0 ? e >> 32 : -((-e + INT64_C(0xffffffff)) >> 32);
    const uint32_t fraction = (uint32_t)(e - whole * ((int64_t)1 << 32));
    uint64_t mantissa = (uint64_t)1 << 31;
    for (unsigned k = 0; k < sizeof roots / sizeof *roots; k++)
        if ((fraction >> (31 - k) & 1) != 0)
            mantissa = mantissa * roots[k] >> 31;
    return (power){(int64_t)(mantissa >> 14), (int)whole - 17};
}

/* n * 2^-32 * p: the product has at most 53 bits, so this rounds once, to float. */
static float scaled(int64_t n, power p)
{
    return (float)ldexp((double)(n * p.mantissa), p.exponent - 32);
}

#define LOG2(x) ((int64_t)((x) * 4294967296.0))

static float weight(const source *s, uint64_t i)
{
    const int64_t spread = normal(s, STREAM_CHANNEL, i / s->columns) * 3 / 4;
    return scaled(normal(s, STREAM_VALUE, i), power_of_two(LOG2(-5) + spread));
}

static float activation(const source *s, uint64_t i)
{
    const uint64_t column = i % s->columns;
    const int64_t n = normal(s, STREAM_VALUE, i);
    const bool outlier = random_word(s, STREAM_CHOICE, column) % 32 == 0;
    const int64_t scale = normal(s, STREAM_CHANNEL, column) + (outlier ? LOG2(5) : 0);
    return n > 0 ? scaled(n, power_of_two(scale)) : 0.0f;
}

static float gradient(const source *s, uint64_t i)
{
    const uint32_t choice = random_word(s, STREAM_CHOICE, i);
    int64_t magnitude = LOG2(-22) + 3 * normal(s, STREAM_VALUE, i);
    if (choice % 10 == 0)
        return 0.0f;
    magnitude = magnitude < LOG2(-40) ? LOG2(-40) : magnitude > LOG2(-4) ? LOG2(-4) : magnitude;
    return scaled(choice >> 31 != 0 ? -((int64_t)1 << 32) : (int64_t)1 << 32, power_of_two(magnitude));
}

static float standard_normal(const source *s, uint64_t i)
{
    return scaled(normal(s, STREAM_VALUE, i), (power){1, 0});
}

static float uniform(const source *s, uint64_t i)
{
    return scaled(2 * (int64_t)random_word(s, STREAM_VALUE, i) - ((int64_t)1 << 32), (power){1, 0});
}

static const struct kind {
    const char *name;
    float (*element)(const source *s, uint64_t i);
} kinds[] = {{"weights", weight},
             {"activations", activation},
             {"gradients", gradient},
             {"normal", standard_normal},
             {"uniform", uniform}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The largest divisor up to 256. */
static uint64_t choose_columns(uint64_t size)
{
    uint64_t columns = 256;
    while (size % columns != 0)
        columns--;
    return columns;
}

/* "4x64". */
static void read_shape(const char *text, uint64_t *rows, uint64_t *columns)
{
    const uint64_t most = (uint64_t)1 << 48;
    const size_t length = strcspn(text, "x");
    char *first = cli_allocate(length + 1, 1);
    memcpy(first, text, length);
    if (text[length] == '\0' || !cli_read_u64(first, rows) || !cli_read_u64(text + length + 1, columns) ||
        (*columns > 0 && *rows > most / *columns)) {
        cli_usage("--shape: '%s' is not RxC, rows and columns, of at most 2^48 elements", text);
    }
    free(first);
}

static void write_sample(const struct kind *kind, const source *s, uint64_t rows, const char *path)
{
    uint64_t extent[] = {rows, s->columns};
    const uint64_t size = rows * s->columns;
    const tensor like = {.type = dtype_named("F32"), .dimensions = 2, .extent = extent};
    float *x = cli_allocate(FILE_PIECE, sizeof *x);
    output out = output_open(path);
    progress bar = progress_start("sample", size);
    writer_npy_header(&out, &like, like.type);
    for (uint64_t first = 0; first < size; first += FILE_PIECE) {
        const size_t count = size - first < FILE_PIECE ? (size_t)(size - first) : FILE_PIECE;
        for (size_t i = 0; i < count; i++)
            x[i] = kind->element(s, first + i);
        dtype_store(like.type, false, count, x, false, x);
        output_write(&out, x, count * sizeof *x);
        progress_advance(&bar, count);
    }
    progress_hide();
    output_commit(&out);
    free(x);
}

int cmd_sample(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    const char *path = NULL;
    bool has_size = false, has_shape = false;
    uint64_t size = 65536, rows = 0;
    source s = {0};
    for (int option; (option = cli_next(&c, "o:", options)) != -1;) {
        if (option == 'o') {
            path = output_path(optarg);
        } else if (option == CLI_OPT_SEED) {
            s.seed = cli_option_u64("--seed", optarg, 0, UINT64_MAX);
        } else if (option == OPT_SHAPE) {
            read_shape(optarg, &rows, &s.columns);
            has_shape = true;
        } else {
            size = cli_option_u64("--size", optarg, 0, (uint64_t)1 << 48);
            has_size = true;
        }
    }
    cli_expect_operands(&c, 1, 1, "KIND -o FILE");
    if (path == NULL)
        cli_usage("sample: the output is missing: -o FILE");
    if (has_size && has_shape)
        cli_usage("sample: --shape says the size: one of --shape and --size");
    if (!has_shape) {
        s.columns = choose_columns(size);
        rows = size / s.columns;
    }
    for (unsigned k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, c.operand[0]) == 0) {
            s.stream = 16 * (uint64_t)k;
            write_sample(&kinds[k], &s, rows, path);
            return CLI_OK;
        }
    }
    cli_usage("sample: '%s' is none of: weights activations gradients normal uniform", c.operand[0]);
}
