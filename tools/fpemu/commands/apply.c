/* SPDX-License-Identifier: BSD-2-Clause */
/* apply.c - fpemu apply: an elementary function of numbers or of an array file, in a format. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "common/near.h"
#include "files/file.h"
#include "files/output.h"
#include "files/writer.h"
#include "reports/loss.h"
#include "reports/number_list.h"

static const char help[] =
    "Usage: fpemu apply FUNCTION SPEC [OPTION...] [VALUE...]\n"
    "       fpemu apply FUNCTION SPEC IN -o OUT [OPTION...]\n"
    "The exact value of a function, correctly rounded once to the format SPEC: of numbers, as\n"
    "'fpemu round' reads and prints them, or of every element of a file of tensors, as 'fpemu\n"
    "quantize' does. Functions are proven for operands of at most 16 significant bits, as all of fp16,\n"
    "bf16 and tf32 are; others are refused, unless --from says to what they are rounded first.\n"
    "\n"
    "Functions: exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh\n"
    "asinh acosh atanh erf erfc rsqrt sigmoid silu gelu softplus.\n"
    "\n"
    "  -o, --output OUT      the file to write, or the directory; '-' is standard output\n"
    "      --force           write also into a directory that is there and not empty\n"
    "      --from SPEC       round operands first, to nearest, to this float of at most 16 significant\n"
    "                        bits; float(e=8,m=15) has just as many\n" FILE_HELP CLI_ROUNDING_HELP
    "      --index N         index of the first number in its stream (default: 0)\n"
    "      --hex             print in hexadecimal, as 0x1.8p+3\n"
    "      --json            print a JSON array of numbers; infinities and NaN are strings\n"
    "\n"
    "Example: fpemu apply gelu bf16 -1 0.5 3\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"from", required_argument, NULL, CLI_OPT_FROM},
                                        {"force", no_argument, NULL, CLI_OPT_FORCE},
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        {"index", required_argument, NULL, CLI_OPT_INDEX},
                                        {"hex", no_argument, NULL, CLI_OPT_HEX},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *spec, *output, *from_spec;
    fpemu_function function;
    fpemu_format format, from;
    fpemu_rounding rounding;
    file_options file;
    bool hexadecimal, json, force;
} job;

/* The first element that is no operand: it has more bits than functions are proven for. */
static size_t find_refused(bool binary64, size_t count, const void *x)
{
    for (size_t i = 0; i < count; i++) {
        const double value = binary64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (isfinite(value) &&
            (fabs(value) > (double)FLT_MAX || (double)(float)value != value || (bits & ((UINT64_C(1) << 37) - 1)) != 0))
            return i;
    }
    return 0;
}

/* In place. The first element is number `index` of the place, as a message names it; `stats` may be NULL. */
static void apply_piece(const job *j, const char *place, uint64_t index, bool binary64, size_t count, void *x,
                        fpemu_stats *stats)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_type type = dtype_carrier(binary64);
    if (j->from_spec != NULL)
        cli_check(fpemu_quantize(&j->from, &nearest, type, count, x, x, NULL), j->from_spec);
    const fpemu_status status = fpemu_apply(&j->format, &j->rounding, type, j->function, count, x, x, stats);
    if (status == FPEMU_ERROR_ARGUMENT) {
        const size_t i = find_refused(binary64, count, x);
        char text[NUMBER_SIZE];
        cli_fail("%s %" PRIu64
                 " is %s, no binary32 number of at most 16 significant bits, which %s takes; --from bf16, "
                 "fp16 or float(e=8,m=15) rounds operands first",
                 place, index + i, number_print(text, binary64 ? ((double *)x)[i] : (double)((float *)x)[i]),
                 fpemu_function_name(j->function));
    }
    cli_check_call(status, &j->format, &j->rounding, binary64, FPEMU_USE_FUNCTION + (int)j->function, j->spec);
}

/* Overflows of a piece of finite operands that gave no number: where a mode stops at one end, not all do. */
static uint64_t count_lost(const fpemu_stats *stats, bool binary64, size_t count, const void *x, const void *y)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < count && stats->overflow > 0; i++) {
        lost += binary64 ? isfinite(((const double *)x)[i]) && !isfinite(((const double *)y)[i])
                         : isfinite(((const float *)x)[i]) && !isfinite(((const float *)y)[i]);
    }
    return lost < stats->overflow ? lost : stats->overflow;
}

/* A file that is being worked on: what writer_write asks for. */
typedef struct file_job {
    job *j;
    file in;
    const dtype **type; /* of each tensor in the output */
    walk walk;
    bool binary64;
    void *bytes;
    loss_ends ends;
    uint64_t *lost; /* of each tensor, results that overflowed to NaN or infinity */
    progress bar;
} file_job;

static void begin_tensor(void *state, size_t i)
{
    file_job *f = state;
    f->binary64 = f->in.model.tensor[i].type->format == FPEMU_NAME_BINARY64;
    f->walk = walk_begin(&f->in, i, !f->binary64, f->binary64, 1, UINT64_MAX);
    f->bytes = cli_allocate(f->walk.room, sizeof(double));
}

static size_t next_piece(void *state, const void **bytes)
{
    file_job *f = state;
    walk *w = &f->walk;
    const tensor *t = &f->in.model.tensor[w->i];
    if (!walk_next(w)) {
        walk_end(w);
        free(f->bytes);
        return 0;
    }
    job piece = *f->j;
    piece.rounding.stream += w->i;
    piece.rounding.offset += w->index;
    void *x = f->binary64 ? (void *)w->x64 : (void *)w->x32;
    char place[2 * FILE_NAME_SIZE], name[FILE_NAME_SIZE];
    snprintf(place, sizeof place, t->name[0] != '\0' ? "%.200s: '%s', element" : "%.200s: %selement", f->in.path,
             file_name_text(name, t));
    fpemu_stats stats = {0};
    memcpy(f->bytes, x, w->count * (f->binary64 ? sizeof(double) : sizeof(float)));
    apply_piece(&piece, place, w->index, f->binary64, w->count, x, &stats);
    if (f->ends.below || f->ends.above)
        f->lost[w->i] += count_lost(&stats, f->binary64, w->count, f->bytes, x);
    dtype_store(f->type[w->i], t->big_endian, w->count, x, f->binary64, f->bytes);
    progress_advance(&f->bar, w->count);
    *bytes = f->bytes;
    return w->count * f->type[w->i]->size;
}

/* Results keep the type of the tensor where it holds the format, and are F32 elsewhere. */
static void apply_to_file(job *j, const char *path)
{
    file_job f = {.j = j, .in = file_open(path, &j->file)};
    file_expect_tensors(&f.in);
    file_expect_numbers(&f.in);
    file_check_output(&f.in, j->output);
    double probe = 0; /* one zero shows, also for an empty file, whether the format and the rounding are accepted */
    apply_piece(j, "", 0, false, 1, &probe, NULL);
    f.ends = loss_find_ends(&j->format, &j->rounding);
    f.lost = cli_allocate(f.in.model.count, sizeof *f.lost);
    f.type = cli_allocate(f.in.model.count, sizeof *f.type);
    for (size_t i = 0; i < f.in.model.count; i++) {
        if (f.in.chosen[i]) {
            const dtype *type = f.in.model.tensor[i].type;
            f.type[i] = dtype_holds(type, &j->format) ? type : dtype_named("F32");
        }
    }
    const writer_source source = {f.type, begin_tensor, next_piece, &f.bar, &f};
    f.bar = progress_start("apply", f.in.elements);
    writer_write(j->output, j->force, &f.in, &source);
    progress_hide();
    loss lost = {0};
    for (size_t i = 0; i < f.in.model.count; i++)
        if (f.in.chosen[i])
            loss_add_overflowed(&lost, &f.in.model.tensor[i], j->spec, &j->rounding, f.lost[i]);
    loss_tell(&lost, "apply");
    free(f.lost);
    free(f.type);
    file_close(&f.in);
}

/* list NULL: only looks whether all are accepted. */
static void apply_to_numbers(job j, char **operand, int operands, number_list *list)
{
    arguments a = arguments_start(operand, operands, 2);
    uint64_t number = 1;
    for (double x; arguments_next_number(&a, true, &x); j.rounding.offset++) {
        apply_piece(&j, "apply: operand", number++, true, 1, &x, NULL);
        if (list != NULL)
            number_list_add(list, x);
    }
}

int cmd_apply(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    uint64_t index = 0;
    job j = {0};
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_INDEX) {
            index = cli_option_u64("--index", optarg, 0, UINT64_MAX);
            asked.random = "--index";
        } else if (option == CLI_OPT_FROM) {
            j.from_spec = optarg;
        } else if (option == CLI_OPT_HEX) {
            j.hexadecimal = true;
        } else if (option == CLI_OPT_JSON) {
            j.json = true;
        } else if (option == CLI_OPT_FORCE) {
            j.force = true;
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            file_take(&j.file, option, optarg);
        }
    }
    cli_expect_operands(&c, j.output ? 3 : 2, j.output ? 3 : -1,
                        j.output ? "FUNCTION SPEC IN -o OUT" : "FUNCTION SPEC [VALUE...]");
    if (j.hexadecimal && j.json)
        cli_usage("apply: --hex and --json do not go together");
    if (j.output != NULL && (j.hexadecimal || j.json))
        cli_usage("apply: --hex and --json go with numbers, not with -o");
    file_check(&j.file);
    if (j.output == NULL && (j.force || j.file.as_numbers || j.file.least_dimensions > 0 || j.file.raw.type != NULL ||
                             j.file.wanted_count + j.file.unwanted_count > 0)) {
        cli_usage("apply: --force, --raw, --tensors, --exclude, --min-dims and --as-numbers go with -o");
    }
    if (fpemu_function_named(c.operand[0], &j.function) != FPEMU_OK) {
        near_search near = near_start(c.operand[0]);
        const char *name;
        for (int i = 0; (name = fpemu_function_name((fpemu_function)i)) != NULL; i++)
            near_try(&near, name);
        cli_usage("apply: no function '%.60s'%s; see 'fpemu apply --help'", c.operand[0], near_text(&near));
    }
    j.spec = c.operand[1];
    j.format = cli_format(j.spec);
    j.from = cli_format(j.from_spec != NULL ? j.from_spec : "bf16");
    if (j.from.kind != FPEMU_KIND_FLOAT || j.from.mantissa_bits > 15 || !fpemu_format_fits_f32(&j.from))
        cli_usage("--from: '%s' is no float of at most 16 significant bits", j.from_spec);
    j.rounding = cli_rounding_get(&asked);
    cli_rounding_refuse_idle(&asked, &j.format);
    j.rounding.offset = index;
    cli_check_use(&j.format, &j.rounding, true, FPEMU_USE_FUNCTION + (int)j.function, j.spec);
    if (j.output != NULL) {
        cli_refuse_tables("-o", j.output);
        apply_to_file(&j, c.operand[2]);
    } else {
        number_list list = {.json = j.json, .hexadecimal = j.hexadecimal};
        if (c.operands > 2) /* nothing is printed before all is known to be good; a pipe is read once */
            apply_to_numbers(j, c.operand, c.operands, NULL);
        apply_to_numbers(j, c.operand, c.operands, &list);
        number_list_end(&list);
    }
    return CLI_OK;
}
