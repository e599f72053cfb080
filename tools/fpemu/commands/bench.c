/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.c - fpemu bench: elements a second, as a ratio to memcpy in the same run.
 *
 * Every round of the measurement runs memcpy and each case once, so that a change of clock or load meets all of them;
 * the medians of the rounds are printed. Small arrays are gone through several times a round, so that the clock reads
 * some tens of microseconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "common/clock.h"
#include "files/partition.h"
#include "reports/jsonout.h"
#include "testing/operation.h"

static const char help[] =
    "Usage: fpemu bench [SPEC...] [OPTION...]\n"
    "Measures rounding of arrays of numbers, in billions of elements and gigabytes (read and\n"
    "written) a second and as a ratio to memcpy of as many numbers by as many threads, in the same run.\n"
    "The data spread over the exponents of each format; one result in ten is subnormal where the\n"
    "format has such values. Without SPECs, a choice of formats. A format that a mode or a type does\n"
    "not go with is left out. Where a scale belongs to the whole array, the rows of the modes have the\n"
    "array measured beforehand; a row \"measure\" has the pass that does it, which only reads.\n"
    "\n"
    "      --op OP           quantize (default), encode to codes or decode from them, pack to bytes or\n"
    "                        unpack from them; add, sub, mul, div, sqrt, fma, minimum, maximum,\n"
    "                        minimum-number, maximum-number; or a function (fpemu apply --help),\n"
    "                        of f16 and bf16 by a table of all operands too\n"
    "      --carrier TYPE    of the arrays: float, double, f16 or bf16; may be repeated (default: float\n"
    "                        and double)\n"
    "  -r, --rounding MODE   a mode to measure; may be repeated (default: rne and sr)\n"
    "      --bits N          random bits an element, 1 to 32 (sr and se; default: 32)\n"
    "      --generator G     hash or philox (default: hash)\n"
    "      --size N          elements of an array; may be repeated (default: 16384 and 1048576)\n"
    "      --threads N       threads; may be repeated (default: 1)\n"
    "      --counters        gather counters too\n"
    "      --json            as JSON\n"
    "\n"
    "Example: fpemu bench e4m3fn bf16 -r rne -r rtz --size 16384 --threads 1 --threads 2\n";

static const struct option options[] = {{"op", required_argument, NULL, CLI_OPT_OPERATION},
                                        {"carrier", required_argument, NULL, CLI_OPT_CARRIER},
                                        {"rounding", required_argument, NULL, 'r'},
                                        {"bits", required_argument, NULL, CLI_OPT_BITS},
                                        {"generator", required_argument, NULL, CLI_OPT_GENERATOR},
                                        {"size", required_argument, NULL, CLI_OPT_SIZE},
                                        {"threads", required_argument, NULL, CLI_OPT_THREADS},
                                        {"counters", no_argument, NULL, CLI_OPT_COUNTERS},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

static const char *const default_specs[] = {"fp16",
                                            "bf16",
                                            "e5m2",
                                            "e4m3fn",
                                            "e2m1",
                                            "fixed(8,7)",
                                            "int8",
                                            "posit(16,2)",
                                            "mxfp8",
                                            "mxfp6_e2m3",
                                            "mxfp4",
                                            "mxint8",
                                            "bfp(7,block=32)",
                                            "hbfp(8)",
                                            "msfp12",
                                            "bm(4,3)",
                                            "nvfp4",
                                            "group(int12)",
                                            "group(e4m3fn,128)",
                                            "scaled(e4m3fn)",
                                            "scaled(e4m3fn,block=row)",
                                            "muppet(8)",
                                            "nf4"};
enum { DEFAULT_SPECS = sizeof default_specs / sizeof *default_specs, ROUNDS = 15, MOST_MODES = 16, MOST_RUNS = 16 };
enum { WINDOW = 1 << 19, PATTERN = 1 << 16 }; /* elements of a round at least, and of the data before they repeat */
enum { LOWEST_BINADE = -1074, BINADES = 1074 + 1024 };
enum { ARRAYS = 4 };
enum { ALIGNMENT = 2 << 20 }; /* of arrays: a large page, so that memcpy and the loops find the same */

typedef enum bench_kind { QUANTIZE, ENCODE, DECODE, PACK, UNPACK, ARITHMETIC, FUNCTION } bench_kind;
static const char *const kind_names[] = {"quantize", "encode", "decode", "pack", "unpack"}; /* ARITHMETIC: by name */

typedef enum bench_type { FLOAT, DOUBLE, F16, BF16, TYPES } bench_type;
static const char *const type_names[TYPES] = {"float", "double", "f16", "bf16"};
static const size_t type_sizes[TYPES] = {4, 8, 2, 2};
static const fpemu_type types_of[TYPES] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, FPEMU_TYPE_F16, FPEMU_TYPE_BF16};

/* One line of the table. */
typedef struct bench_case {
    fpemu_format format;
    fpemu_rounding rounding;
    const char *mode;
    bench_type type;
    bool measures;     /* times fpemu_measure instead */
    bool looks_up;     /* a function by a table, which is made beforehand */
    fpemu_range range; /* of the array */
    double seconds[ROUNDS];
} bench_case;

typedef struct bench {
    bench_case *cases;
    size_t count, size, repeats; /* repeats: how often a round goes through the array */
    unsigned threads;
    bool counters;
    cli_rounding random_words; /* its bits and generator */
    bench_kind kind;
    const char *operation_name;
    const operation *arithmetic;
    fpemu_function function;
    uint16_t *table;             /* of the function */
    void *x, *y, *codes, *third; /* operands of arithmetic: x, codes, third */
    void *memory[ARRAYS];        /* of those, not aligned */
    size_t room;                 /* bytes of each */
    uint64_t *random;
    double power[BINADES];
    double memcpy_seconds[TYPES][ROUNDS];
} bench;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double seconds[ROUNDS])
{
    double sorted[ROUNDS];
    memcpy(sorted, seconds, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof *sorted, by_size);
    return sorted[ROUNDS / 2];
}

static bool takes_root(const bench *b)
{
    return b->kind == ARITHMETIC && b->arithmetic->code == FPEMU_OPERATION_SQRT;
}

/* The first `pattern` operands of arithmetic: numbers of the format, the others in another order. */
static void fill_operands(const bench *b, const bench_case *k, size_t pattern)
{
    const fpemu_rounding nearest = {.overflow = FPEMU_OVERFLOW_SATURATE};
    const size_t item_size = type_sizes[k->type], half = pattern / 2 * item_size, third = pattern / 3 * item_size;
    const size_t all = pattern * item_size;
    cli_check(fpemu_quantize(&k->format, &nearest, types_of[k->type], pattern, b->x, b->x, NULL), k->mode);
    memcpy(b->codes, (const char *)b->x + half, all - half);
    memcpy((char *)b->codes + (all - half), b->x, half);
    memcpy(b->third, (const char *)b->x + third, all - third);
    memcpy((char *)b->third + (all - third), b->x, third);
}

/* Numbers of all binades of the format alike: below the smallest normal value for a tenth of the elements, from there
 * to the largest value for the others. */
static void fill(const bench *b, const bench_case *k)
{
    float *const singles = k->type == FLOAT ? b->x : b->y; /* on their way to words */
    const double max = fpemu_format_max(&k->format), normal = fpemu_format_min_normal(&k->format);
    const int top = ilogb(max), bottom = ilogb(fpemu_format_min_positive(&k->format));
    const int middle = normal > 0 ? ilogb(normal) : top;
    const size_t pattern = b->size < PATTERN ? b->size : PATTERN, item_size = type_sizes[k->type];
    for (size_t i = 0; i < pattern; i++) {
        const uint64_t r = b->random[i];
        const unsigned binade = (unsigned)(r >> 8 & 0xffffff);
        const bool low = (r & 0xff) % 10 == 0 && middle > bottom;
        const int e = low ? bottom + (int)(binade % (unsigned)(middle - bottom))
                          : middle + (int)(binade % (unsigned)(top - middle + 1));
        const double magnitude = fmin((1 + (double)(r >> 33) * 0x1p-31) * b->power[e - LOWEST_BINADE], max);
        const bool below_zero = k->format.is_signed && (r >> 32 & 1) != 0 && !takes_root(b);
        const double x = below_zero ? -magnitude : magnitude;
        if (k->type == DOUBLE)
            ((double *)b->x)[i] = x;
        else
            singles[i] = (float)x;
    }
    if (k->type >= F16) {
        const fpemu_format words = cli_format(k->type == F16 ? "fp16:saturate" : "bf16:saturate");
        const fpemu_rounding nearest = fpemu_rounding_nearest();
        cli_check(fpemu_encode_f32(&words, &nearest, pattern, singles, b->x, NULL), k->mode);
    }
    if (b->kind >= ARITHMETIC)
        fill_operands(b, k, pattern);
    for (size_t i = pattern; i < b->size; i += pattern) {
        const size_t rest = b->size - i < pattern ? b->size - i : pattern;
        memcpy((char *)b->x + i * item_size, b->x, rest * item_size);
        if (b->kind >= ARITHMETIC) {
            memcpy((char *)b->codes + i * item_size, b->codes, rest * item_size);
            memcpy((char *)b->third + i * item_size, b->third, rest * item_size);
        }
    }
}

/* Arrays of `most` elements, in large pages where the system has them; and what every fill needs: random bits, and the
 * powers of two of binary64. */
static void prepare(bench *b, size_t most)
{
    void **const arrays[ARRAYS] = {&b->x, &b->y, &b->codes, &b->third};
    b->room = most * sizeof(double);
    b->table = cli_allocate(fpemu_function_table_size(), 1);
    for (int i = 0; i < ARRAYS; i++) {
        b->memory[i] = cli_allocate(most + ALIGNMENT / sizeof(double), sizeof(double));
        *arrays[i] = (char *)b->memory[i] + (0 - (uintptr_t)b->memory[i]) % ALIGNMENT;
#ifdef MADV_HUGEPAGE
        (void)madvise(*arrays[i], most * sizeof(double), MADV_HUGEPAGE); /* where it fails, ordinary ones do */
#endif
    }
    b->random = cli_allocate(PATTERN, sizeof *b->random);
    for (size_t i = 0; i < PATTERN; i++) {
        b->random[i] = (uint64_t)fpemu_random_word(FPEMU_GENERATOR_HASH, 0, 0, i) << 32 |
                       fpemu_random_word(FPEMU_GENERATOR_HASH, 0, 1, i);
    }
    for (int i = 0; i < BINADES; i++)
        b->power[i] = ldexp(1, LOWEST_BINADE + i);
}

static fpemu_status encode(const bench *b, const bench_case *k, size_t count, fpemu_stats *asked)
{
    return fpemu_encode(&k->format, &k->rounding, types_of[k->type], count, b->x, b->codes, asked);
}

static fpemu_status make_table(const bench *b, const bench_case *k)
{
    return fpemu_function_table(&k->format, &k->rounding, types_of[k->type], b->function, b->table);
}

/* Bytes of the packed array; 0 where they have no room. */
static uint64_t packed_size(const bench *b, const bench_case *k, size_t count)
{
    const fpemu_shape shape = fpemu_shape_vector(count);
    const uint64_t size = fpemu_packed_size(&k->format, &shape);
    return size <= b->room ? size : 0;
}

static fpemu_status pack(const bench *b, const bench_case *k, size_t count, fpemu_stats *asked)
{
    fpemu_shape shape = fpemu_shape_vector(count);
    shape.whole = partition_needs_range(&k->format) ? &k->range : NULL;
    if (packed_size(b, k, count) == 0)
        return FPEMU_ERROR_UNSUPPORTED;
    return fpemu_pack(&k->format, &k->rounding, types_of[k->type], &shape, b->x, b->codes, asked);
}

static fpemu_status unpack(const bench *b, const bench_case *k, size_t count)
{
    const fpemu_shape shape = fpemu_shape_vector(count);
    return fpemu_unpack(&k->format, types_of[k->type], &shape, b->codes, b->y);
}

static fpemu_status measure_array(const bench *b, const bench_case *k, size_t count, fpemu_range *range)
{
    *range = (fpemu_range){0};
    return fpemu_measure(&k->format, types_of[k->type], count, b->x, range);
}

/* The codes or bytes that a case reads, by its mode. */
static fpemu_status made_before(const bench *b, const bench_case *k, size_t count)
{
    switch (b->kind) {
    case DECODE: return encode(b, k, count, NULL);
    case UNPACK: return pack(b, k, count, NULL);
    default: return FPEMU_OK;
    }
}

static fpemu_status run_case(const bench *b, const bench_case *k, size_t count)
{
    fpemu_stats stats, *asked = NULL;
    fpemu_range range;
    if (b->counters) { /* only then: short calls feel it */
        memset(&stats, 0, sizeof stats);
        asked = &stats;
    }
    if (k->measures)
        return measure_array(b, k, count, &range);
    if (k->looks_up)
        return fpemu_function_look_up(b->table, count, b->x, b->y);
    switch (b->kind) {
    case ENCODE: return encode(b, k, count, asked);
    case DECODE: return fpemu_decode(&k->format, types_of[k->type], count, b->codes, b->y);
    case PACK: return pack(b, k, count, asked);
    case UNPACK: return unpack(b, k, count);
    case ARITHMETIC:
        return fpemu_arith(&k->format, &k->rounding, types_of[k->type], b->arithmetic->code, count,
                           (const void *const[]){b->x, b->codes, b->third}, NULL, b->y, asked);
    case FUNCTION:
        return fpemu_apply(&k->format, &k->rounding, types_of[k->type], b->function, count, b->x, b->y, asked);
    default: break;
    }
    if (partition_needs_range(&k->format)) {
        fpemu_shape shape = fpemu_shape_vector(count);
        shape.whole = &k->range;
        return fpemu_quantize_tensor(&k->format, &k->rounding, types_of[k->type], &shape, b->x, b->y, asked);
    }
    return fpemu_quantize(&k->format, &k->rounding, types_of[k->type], count, b->x, b->y, asked);
}

/* Bytes read and written for an element. */
static double element_bytes(const bench *b, const bench_case *k)
{
    const double number = (double)type_sizes[k->type];
    const uint32_t bits = k->format.bits;
    switch (b->kind) {
    case ENCODE:
    case DECODE: return number + (bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1);
    case PACK:
    case UNPACK: return number + (double)packed_size(b, k, b->size) / (double)b->size;
    case ARITHMETIC: return (1 + b->arithmetic->operands) * number;
    default: return 2 * number;
    }
}

static double time_memcpy(const bench *b, size_t item_size)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy; /* a call that the compiler cannot drop */
    const size_t size = b->size * item_size;
    const double start = clock_seconds();
    for (size_t i = 0; i < b->repeats; i++) {
        if (b->threads == 1) {
            copy(b->y, b->x, size);
            continue;
        }
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)b->threads) schedule(static, 1)
#endif
        for (unsigned k = 0; k < b->threads; k++) {
            const size_t begin = size / b->threads * k, end = k + 1 == b->threads ? size : size / b->threads * (k + 1);
            copy((char *)b->y + begin, (const char *)b->x + begin, end - begin);
        }
    }
    return (clock_seconds() - start) / (double)b->repeats;
}

static double time_case(const bench *b, const bench_case *k)
{
    const double start = clock_seconds();
    for (size_t i = 0; i < b->repeats; i++)
        cli_check(run_case(b, k, b->size), k->mode);
    return (clock_seconds() - start) / (double)b->repeats;
}

static void measure(bench *b)
{
    progress bar = progress_start("bench", ROUNDS * b->count);
    memset(b->y, 1, b->size * sizeof(double));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < b->count; i++) {
            bench_case *k = &b->cases[i];
            fill(b, k);
            if (partition_needs_range(&k->format))
                cli_check(measure_array(b, k, b->size, &k->range), k->mode);
            cli_check(made_before(b, k, b->size), k->mode);
            if (k->looks_up)
                cli_check(make_table(b, k), k->mode);
            time_memcpy(b, type_sizes[k->type]); /* pages and caches as in what follows */
            k->seconds[round] = time_case(b, k);
            b->memcpy_seconds[k->type][round] = time_memcpy(b, type_sizes[k->type]);
            progress_advance(&bar, 1);
        }
    }
    progress_hide();
}

static double speed(const bench *b, const double seconds[ROUNDS])
{
    return (double)b->size / fmax(median(seconds), 1e-9) / 1e9;
}

/* Bytes read and written an element. */
static double item_traffic(const bench *b, const bench_case *k)
{
    return k->measures ? (double)type_sizes[k->type] : element_bytes(b, k);
}

static void print_row(const bench *b, const char *spec, const char *mode, bench_type type, double traffic,
                      const double seconds[ROUNDS])
{
    const double s = speed(b, seconds);
    printf("%-20s  %-10s  %-6s  %10zu  %7u  %10.4f  %8.2f  %9.4f\n", spec, mode, type_names[type], b->size, b->threads,
           s, s * traffic, s / speed(b, b->memcpy_seconds[type]));
}

static void print_rows(const bench *b)
{
    for (int type = 0; type < TYPES; type++)
        if (b->memcpy_seconds[type][0] > 0)
            print_row(b, "memcpy", "", (bench_type)type, 2 * (double)type_sizes[type], b->memcpy_seconds[type]);
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *k = &b->cases[i];
        char spec[CLI_SPEC_SIZE], mode[32];
        snprintf(mode, sizeof mode, "%s%s", k->mode, k->looks_up ? " table" : "");
        print_row(b, cli_spec(&k->format, spec), mode, k->type, item_traffic(b, k), k->seconds);
    }
}

static void add_cases(const bench *b, json_t *list)
{
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *k = &b->cases[i];
        const double s = speed(b, k->seconds), copy = speed(b, b->memcpy_seconds[k->type]);
        char spec[CLI_SPEC_SIZE];
        json_t *entry = jsonout_object();
        jsonout_set(entry, "spec", jsonout_text(cli_spec(&k->format, spec)));
        jsonout_set(entry, "pass", jsonout_text(k->measures ? "measure" : b->operation_name));
        if (!k->measures)
            jsonout_set(entry, "rounding", jsonout_text(k->mode));
        if (b->kind == FUNCTION)
            jsonout_set(entry, "table", jsonout_bool(k->looks_up));
        jsonout_set(entry, "type", jsonout_text(type_names[k->type]));
        jsonout_set(entry, "size", jsonout_count(b->size));
        jsonout_set(entry, "threads", jsonout_count(b->threads));
        jsonout_set(entry, "elements_per_second", jsonout_real(s * 1e9));
        jsonout_set(entry, "bytes_per_second", jsonout_real(s * 1e9 * item_traffic(b, k)));
        jsonout_set(entry, "memcpy_elements_per_second", jsonout_real(copy * 1e9));
        jsonout_set(entry, "memcpy_ratio", jsonout_real(s / copy));
        jsonout_append(list, entry);
    }
}

static void add_case(bench *b, const char *spec, const char *mode, bench_type type, bool measures)
{
    cli_rounding asked = b->random_words;
    asked.mode = measures ? "rne" : mode;
    bench_case *k = &b->cases[b->count];
    *k = (bench_case){.format = cli_format(spec), .rounding = cli_rounding_get(&asked), .mode = mode};
    k->type = type;
    k->measures = measures;
    if (made_before(b, k, 1) != FPEMU_OK || run_case(b, k, 1) != FPEMU_OK)
        return;
    b->count++;
    if (b->kind == FUNCTION && type >= F16 && !b->counters && make_table(b, k) == FPEMU_OK) {
        b->cases[b->count] = *k;
        b->cases[b->count++].looks_up = true;
    }
}

/* Every format with every mode and type that goes with it, and what is measured beforehand. */
static void list_cases(bench *b, const char *const *specs, int spec_count, const char *const *modes, int mode_count,
                       unsigned types)
{
    b->cases = cli_allocate((size_t)spec_count * (size_t)(2 * mode_count + 1) * TYPES, sizeof *b->cases);
    for (int s = 0; s < spec_count; s++) {
        const fpemu_format format = cli_format(specs[s]);
        const size_t before = b->count;
        for (int m = 0; m < mode_count; m++) {
            for (int type = 0; type < TYPES; type++)
                if (types >> type & 1)
                    add_case(b, specs[s], modes[m], (bench_type)type, false);
        }
        for (int type = 0; type < TYPES && partition_needs_range(&format) && b->kind != UNPACK && b->count > before;
             type++)
            if (types >> type & 1)
                add_case(b, specs[s], "measure", (bench_type)type, true);
    }
    if (b->count == 0)
        cli_fail("bench: no format goes with a mode and a type asked for");
}

static void use_threads(unsigned threads)
{
#ifdef _OPENMP
    omp_set_num_threads((int)threads);
#else
    if (threads != 1)
        cli_fail("bench: built without OpenMP, there is one thread");
#endif
}

/* One more of the values that an option was given. */
static void add_value(uint64_t values[MOST_RUNS], int *count, const char *option, const char *argument, uint64_t most)
{
    if (*count == MOST_RUNS)
        cli_usage("bench: %s more than %d times", option, MOST_RUNS);
    values[(*count)++] = cli_option_u64(option, argument, 1, most);
}

static bench_type type_named(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(name, type_names[i]) == 0)
            return (bench_type)i;
    cli_usage("bench: --carrier is float, double, f16 or bf16, not '%s'", name);
}

static void set_operation(bench *b, const char *name)
{
    b->operation_name = name;
    for (int i = QUANTIZE; i < ARITHMETIC; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            b->kind = (bench_kind)i;
            return;
        }
    }
    b->arithmetic = operation_search(name);
    if (b->arithmetic != NULL && !b->arithmetic->converts) {
        b->kind = ARITHMETIC;
    } else if (fpemu_function_named(name, &b->function) == FPEMU_OK) {
        b->kind = FUNCTION;
    } else {
        cli_usage("bench: --op is quantize, encode, decode, pack, unpack, an operation such as add or a function such "
                  "as exp, not '%s'",
                  name);
    }
}

/* Sizes and threads as they were given; a count of 0 leaves what is in their places. */
typedef struct runs {
    uint64_t sizes[MOST_RUNS], threads[MOST_RUNS];
    int size_count, thread_count;
} runs;

static void print_heading(const bench *b)
{
    printf("%s loops, %s, %s\n%-20s  %-10s  %-6s  %10s  %7s  %10s  %8s  %9s\n", fpemu_variant(), b->operation_name,
           b->counters ? "with counters" : "no counters", "format", "rounding", "type", "elements", "threads",
           "G-elem/s", "GB/s", "of-memcpy");
}

/* Every case with every size and number of threads: rows of the table, or elements of `list`. */
static void run_all(bench *b, const runs *r, json_t *list)
{
    for (int s = 0; s < (r->size_count > 0 ? r->size_count : 2); s++) {
        for (int t = 0; t < (r->thread_count > 0 ? r->thread_count : 1); t++) {
            b->size = (size_t)r->sizes[s];
            b->repeats = 1 + WINDOW / b->size;
            b->threads = (unsigned)r->threads[t];
            use_threads(b->threads);
            measure(b);
            if (list != NULL)
                add_cases(b, list);
            else
                print_rows(b);
        }
    }
}

static void print_json(const bench *b, json_t *list)
{
    const fpemu_rounding *words = &b->random_words.fields;
    json_t *object = jsonout_object();
    jsonout_set(object, "variant", jsonout_text(fpemu_variant()));
    jsonout_set(object, "operation", jsonout_text(b->operation_name));
    jsonout_set(object, "counters", jsonout_bool(b->counters));
    jsonout_set(object, "bits", jsonout_integer(words->bits != 0 ? words->bits : 32));
    jsonout_set(object, "generator", jsonout_text(cli_generator_name(words->generator)));
    jsonout_set(object, "cases", list);
    jsonout_print(object);
}

int cmd_bench(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    const char *modes[MOST_MODES] = {"rne", "sr"};
    runs r = {.sizes = {1 << 14, 1 << 20}, .threads = {1}};
    uint64_t most = 1 << 20;
    int mode_count = 0;
    unsigned types = 0;
    bench b = {.operation_name = kind_names[QUANTIZE]};
    bool json = false;
    for (int option; (option = cli_next(&c, "r:", options)) != -1;) {
        if (option == 'r') {
            if (mode_count == MOST_MODES)
                cli_usage("bench: more than %d roundings", MOST_MODES);
            modes[mode_count++] = optarg;
        } else if (option == CLI_OPT_SIZE) {
            add_value(r.sizes, &r.size_count, "--size", optarg, UINT64_C(1) << 30);
            most = r.sizes[r.size_count - 1] > most ? r.sizes[r.size_count - 1] : most;
        } else if (option == CLI_OPT_THREADS) {
            add_value(r.threads, &r.thread_count, "--threads", optarg, 4096);
        } else if (option == CLI_OPT_BITS || option == CLI_OPT_GENERATOR) {
            cli_rounding_take(&b.random_words, option, optarg);
        } else if (option == CLI_OPT_COUNTERS) {
            b.counters = true;
        } else if (option == CLI_OPT_OPERATION) {
            set_operation(&b, optarg);
        } else if (option == CLI_OPT_CARRIER) {
            types |= 1u << type_named(optarg);
        } else {
            json = true;
        }
    }
    if ((b.kind == DECODE || b.kind == UNPACK) && b.counters)
        cli_usage("bench: %s has no counters", b.operation_name);
    prepare(&b, (size_t)most);
    list_cases(&b, c.operands > 0 ? (const char *const *)c.operand : default_specs,
               c.operands > 0 ? c.operands : DEFAULT_SPECS, modes, mode_count > 0 ? mode_count : 2,
               types != 0 ? types : 1u << FLOAT | 1u << DOUBLE);
    if (json) {
        json_t *list = jsonout_array();
        run_all(&b, &r, list);
        print_json(&b, list);
    } else {
        print_heading(&b);
        run_all(&b, &r, NULL);
    }
    free(b.cases);
    for (int i = 0; i < ARRAYS; i++)
        free(b.memory[i]);
    free(b.table);
    free(b.random);
    return CLI_OK;
}
