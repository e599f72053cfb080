/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - fpemu quantize: the tensors of a file rounded to a format. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/error.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "commands/commands.h"
#include "files/box_walk.h"
#include "files/file.h"
#include "files/given.h"
#include "files/partition.h"
#include "files/scratch.h"
#include "files/writer.h"
#include "plans/assignment.h"
#include "reports/jsonout.h"
#include "reports/loss.h"
#include "reports/report.h"

static const char help[] =
    "Usage: fpemu quantize SPEC IN -o OUT [OPTION...]\n"
    "       fpemu quantize [SPEC] IN -o OUT --map GLOB=SPEC... | --plan FILE [OPTION...]\n"
    "Rounds every floating-point number of a file to the format SPEC. Files are .safetensors (F64,\n"
    "F32, BF16, F16 and the F8 types), NumPy's .npy and .npz (float16, float32, float64), or raw;\n"
    "OUT is of the same kind, with the same names, shapes, order and metadata. A directory of\n"
    ".safetensors files, or its index, is one model; then OUT is a new directory with files and an\n"
    "index alike, without the other files. Tensors of other types, and those not asked for, are\n"
    "copied. Any size in bounded memory (fpemu(1), MEMORY, has the exceptions). IN may be '-',\n"
    "standard input, and OUT '-', standard output; OUT may be the file IN itself: it is replaced\n"
    "only when everything is written. The index of an element, which chooses its random word, is its\n"
    "position in the data of its tensor; the n-th tensor of a file, from 0, uses stream --stream + n.\n"
    "\n"
    "  -o, --output OUT      the file to write, or the directory\n"
    "      --force           write also into a directory that is there and not empty\n" ASSIGNMENT_HELP
    "      --axis N          along which the blocks of a format run: 0, 1, ..., or from the end -1,\n"
    "                        -2, ... (default: -1, or that of the plan)\n"
    "      --dtype TYPE      type of the rounded tensors in OUT: F32, BF16 and so on (default: as in\n"
    "                        IN where that holds every value of the format, else F32)\n" GIVEN_HELP
    "      --report          print what happened: counters, extrema, signal to noise\n"
    "      --json            the report as JSON\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Examples: fpemu quantize e4m3fn:saturate weights.npy -o rounded.npy --report\n"
    "          fpemu quantize e4m3fn model.safetensors -o rounded.safetensors --min-dims 2\n"
    "          fpemu quantize mxfp4 model/ -o rounded/ --map '*norm*=keep' --map 'lm_head.*=bf16'\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"dtype", required_argument, NULL, CLI_OPT_DTYPE},
                                        GIVEN_LONG,
                                        {"report", no_argument, NULL, CLI_OPT_REPORT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        {"force", no_argument, NULL, CLI_OPT_FORCE},
                                        ASSIGNMENT_LONG,
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *output;
    fpemu_rounding rounding;
    const dtype *asked; /* --dtype; NULL: as it comes */
    assignment assigned;
    given given;
    bool report, json, force;

    file in;
    const dtype **type;   /* of each tensor in OUT; NULL: copied */
    fpemu_format *format; /* likewise; with the blocks of given scales */
    fpemu_stats *stats;   /* of each tensor */
    loss_signs *signs;    /* likewise */
    fpemu_stats total;
    progress bar;
    walk walk;               /* over the tensor that is being written */
    const fpemu_format *now; /* its format */
    const char *spec;        /* as it was given */
    partition partition;
    bool binary64;
    void *bytes;
    FILE *scratch; /* the tensor that is being written, where it was taken in boxes */
    uint64_t scratch_at;
    size_t room;
} job;

/* ------------------------------------------------------------------------------------------------- rounding */

static const dtype *choose_type(const job *j, const tensor *t, const fpemu_format *f, const char *spec)
{
    const dtype *single = dtype_named("F32");
    if (j->asked != NULL)
        return j->asked;
    if (dtype_holds(t->type, f))
        return t->type;
    if (!dtype_holds(single, f))
        cli_check_carrier(f, false, spec, "the data have to be float64, or: --dtype F64");
    return single;
}

static void choose_types(job *j)
{
    const model *m = &j->in.model;
    j->type = cli_allocate(m->count, sizeof *j->type);
    j->format = cli_allocate(m->count, sizeof *j->format);
    j->stats = cli_allocate(m->count, sizeof *j->stats);
    j->signs = cli_allocate(m->count, sizeof *j->signs);
    for (size_t i = 0; i < m->count; i++) {
        if (j->in.chosen[i]) {
            const tensor *t = &m->tensor[i];
            const assignment_format *f = assignment_of(&j->assigned, i);
            j->format[i] = f->format;
            given_partition(&j->given, &j->in, i, &j->format[i], f->spec, &j->rounding, j->assigned.axis);
            j->type[i] = choose_type(j, t, &j->format[i], f->spec);
            const bool binary64 = dtype_needs_binary64(t->type, &j->format[i]);
            cli_check_use(&j->format[i], &j->rounding, binary64, FPEMU_USE_QUANTIZE, f->spec);
        }
    }
}

static void *piece(const job *j)
{
    return j->binary64 ? (void *)j->walk.x64 : (void *)j->walk.x32;
}

static void measure_tensor(job *j, size_t i)
{
    j->walk = walk_begin(&j->in, i, !j->binary64, j->binary64, 1, UINT64_MAX);
    while (walk_next(&j->walk))
        cli_check(partition_measure(&j->partition, j->now, j->walk.count, j->binary64, piece(j)), j->spec);
    walk_end(&j->walk);
}

static fpemu_rounding rounding_of(const job *j, size_t i)
{
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    return rounding;
}

/* To the type of tensor i in OUT. */
static void store(job *j, size_t i, size_t count, const void *x)
{
    const tensor *t = &j->in.model.tensor[i];
    if (!dtype_store(j->type[i], t->big_endian, count, x, j->binary64, j->bytes)) {
        cli_fail("%s: %s: %s does not hold every result of %s; --dtype F32 does", j->in.path,
                 t->name[0] != '\0' ? t->name : "the array", j->type[i]->name, j->spec);
    }
    progress_advance(&j->bar, count);
}

/* All of a tensor at once, to a file from which it comes in its order. */
static void quantize_boxes(job *j, size_t i)
{
    const fpemu_rounding rounding = rounding_of(j, i);
    box_walk b = box_walk_begin(&j->in, i, &j->partition, j->binary64);
    j->scratch = scratch_open();
    j->scratch_at = 0;
    j->room = b.room * j->type[i]->size;
    j->bytes = cli_allocate(b.room, j->type[i]->size);
    while (box_walk_next(&b)) {
        void *x = j->binary64 ? (void *)b.x64 : (void *)b.x32;
        loss_look(&j->signs[i], j->now, b.count, j->binary64, x);
        cli_check(partition_quantize_box(&j->partition, j->now, &rounding, &b.box, j->binary64, x, x, &j->stats[i]),
                  j->spec);
        store(j, i, b.count, x);
        box_walk_put(&b, j->scratch, j->bytes, j->type[i]->size);
    }
    box_walk_end(&b);
}

static void begin_tensor(void *state, size_t i)
{
    job *j = state;
    const assignment_format *f = assignment_of(&j->assigned, i);
    j->now = &j->format[i];
    j->spec = f->spec;
    j->format[i] = f->format;
    j->partition = given_partition(&j->given, &j->in, i, &j->format[i], f->spec, &j->rounding, j->assigned.axis);
    j->binary64 = dtype_needs_binary64(j->in.model.tensor[i].type, j->now);
    if ((j->partition.needs_range || j->partition.boxes) && !j->in.model.walkable)
        file_keep(&j->in);
    if (j->partition.needs_range)
        measure_tensor(j, i);
    if (j->report)
        report_want(&j->stats[i], j->now);
    if (j->partition.boxes) {
        quantize_boxes(j, i);
        return;
    }
    j->walk = walk_begin(&j->in, i, !j->binary64, j->binary64, j->partition.unit, j->partition.period);
    j->bytes = cli_allocate(j->walk.room, j->type[i]->size);
}

static size_t next_from_scratch(job *j, const void **bytes)
{
    const size_t size = scratch_read_at(j->scratch, j->scratch_at, j->bytes, j->room);
    j->scratch_at += size;
    *bytes = j->bytes;
    if (size == 0) {
        fclose(j->scratch);
        j->scratch = NULL;
        free(j->bytes);
    }
    return size;
}

static size_t next_piece(void *state, const void **bytes)
{
    job *j = state;
    walk *w = &j->walk;
    if (j->scratch != NULL)
        return next_from_scratch(j, bytes);
    if (!walk_next(w)) {
        walk_end(w);
        free(j->bytes);
        return 0;
    }
    void *x = piece(j);
    const fpemu_rounding rounding = rounding_of(j, w->i);
    loss_look(&j->signs[w->i], j->now, w->count, j->binary64, x);
    cli_check(
        partition_quantize(&j->partition, j->now, &rounding, w->index, w->count, j->binary64, x, x, &j->stats[w->i]),
        j->spec);
    store(j, w->i, w->count, x);
    *bytes = j->bytes;
    return w->count * j->type[w->i]->size;
}

/* For what is reported of all tensors: NULL where they have several formats. */
static const fpemu_format *format_of_all(const job *j)
{
    size_t i = 0;
    while (i + 1 < j->in.model.count && !j->in.chosen[i])
        i++;
    return assignment_single(&j->assigned, &j->in) != NULL ? &j->format[i] : NULL;
}

static void quantize_file(job *j)
{
    const writer_source source = {j->type, begin_tensor, next_piece, &j->bar, j};
    j->bar = progress_start("quantize", j->in.elements);
    writer_write(j->output, j->force, &j->in, &source);
    progress_hide();
    loss lost = {0};
    uint64_t nan_blocks = 0, blocks = 0;
    report_want(&j->total, format_of_all(j));
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            const assignment_format *f = assignment_of(&j->assigned, i);
            if (j->given.zero_text != NULL) /* about which negative numbers have values */
                j->signs[i].negative = 0;
            loss_add(&lost, &j->in.model.tensor[i], f->text, &j->format[i], &j->rounding, &j->stats[i], &j->signs[i]);
        }
        if (j->in.chosen[i] && j->report)
            report_merge(&j->total, &j->stats[i]);
        nan_blocks += j->stats[i].nan_blocks;
        blocks += j->stats[i].blocks;
    }
    loss_tell(&lost, "quantize");
    if (j->given.scale_text != NULL && nan_blocks > 0)
        cli_warn("quantize: %" PRIu64 " of %" PRIu64
                 " blocks became NaN: their scale or zero point is none that the format takes",
                 nan_blocks, blocks);
}

/* --------------------------------------------------------------------------------------------------- report */

static void print_count(const char *what, uint64_t number, uint64_t count)
{
    printf("%-12s %" PRIu64, what, number);
    if (count > 0 && number > 0)
        printf("  %.4g %%", 100.0 * (double)number / (double)count);
    putchar('\n');
}

static void print_real(const char *what, double value)
{
    char text[NUMBER_SIZE];
    printf("%-12s %s\n", what, number_print(text, value));
}

static void print_report(const job *j)
{
    const fpemu_stats *s = &j->total;
    const assignment_format *single = assignment_single(&j->assigned, &j->in);
    if (single != NULL)
        printf("%-12s %s\n", "format", single->text);
    else
        printf("%-12s %zu, by tensor\n", "formats", j->assigned.in_use);
    printf("%-12s %s\n", "rounding", fpemu_mode_name((fpemu_mode)j->rounding.mode));
    printf("%-12s %" PRIu64 "\n", "count", s->count);
    print_count("nan", s->nan, s->count);
    print_count("infinite", s->infinite, s->count);
    print_count("clipped", s->clipped, s->count);
    print_count("overflow", s->overflow, s->count);
    print_count("invalid", s->invalid, s->count);
    print_count("underflow", s->underflow, s->count);
    print_count("subnormal", s->subnormal, s->count);
    print_count("inexact", s->inexact, s->count);
    print_real("min_abs", s->min_abs);
    print_real("max_abs", s->max_abs);
    print_real("max_error", s->max_error);
    print_real("sum_error", fpemu_stats_sum_error(s));
    print_real("sum_error2", fpemu_stats_sum_error2(s));
    print_real("sum_square", fpemu_stats_sum_square(s));
    print_real("sqnr_db", fpemu_stats_sqnr(s));
    report_blocks(s, format_of_all(j));
}

static void print_block_rows(const job *j, int width)
{
    const assignment_format *single = assignment_single(&j->assigned, &j->in);
    size_t rows = 0;
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i] && j->format[i].scaling != FPEMU_SCALING_NONE) {
            char name[FILE_NAME_SIZE];
            if (rows++ == 0)
                report_block_heading(width, "tensor");
            report_block_row(width, file_name_text(name, &j->in.model.tensor[i]), &j->stats[i]);
        }
    }
    if (rows > 0 && single != NULL)
        report_block_row(width, "total", &j->total);
    if (rows > 0)
        putchar('\n');
}

/* A row for each tensor and one for all, before the report of all. */
static void print_tensors(const job *j)
{
    const int width = report_name_width(&j->in), specs = assignment_width(&j->assigned, &j->in);
    const bool several = assignment_single(&j->assigned, &j->in) == NULL;
    char name[FILE_NAME_SIZE], type[NUMBER_SIZE], second[REPORT_SECOND_SIZE];
    report_heading(width, "tensor", several ? report_with_format(second, "  dtype", "format", specs) : "  dtype");
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            snprintf(type, sizeof type, "%7s", j->type[i]->name);
            report_row(width, file_name_text(name, &j->in.model.tensor[i]),
                       several ? report_with_format(second, type, assignment_of(&j->assigned, i)->text, specs) : type,
                       &j->stats[i], REPORT_NO_ERROR, false);
        }
    }
    report_row(width, "total", several ? report_with_format(second, "       ", "", specs) : "       ", &j->total,
               REPORT_NO_ERROR, false);
    putchar('\n');
    print_block_rows(j, width);
}

static void print_json_report(const job *j)
{
    const assignment_format *single = assignment_single(&j->assigned, &j->in);
    json_t *object = jsonout_object();
    jsonout_set(object, "input", jsonout_text(j->in.path));
    jsonout_set(object, "output", jsonout_text(j->output));
    if (file_is_array(&j->in)) {
        jsonout_set(object, "type", jsonout_text(j->in.model.tensor[0].type->text));
        jsonout_set(object, "output_type", jsonout_text(j->type[0]->text));
    }
    jsonout_set(object, "spec", jsonout_text(single != NULL ? single->text : NULL));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding, assignment_draws(&j->assigned, &j->rounding)));
    report_json_stats(object, &j->total, format_of_all(j));
    if (!file_is_array(&j->in)) {
        json_t *list = jsonout_array();
        for (size_t i = 0; i < j->in.model.count; i++) {
            if (j->in.chosen[i]) {
                json_t *entry = report_json_tensor(&j->in.model.tensor[i]);
                jsonout_set(entry, "output_dtype", jsonout_text(j->type[i]->name));
                jsonout_set(entry, "spec", jsonout_text(assignment_of(&j->assigned, i)->text));
                report_json_stats(entry, &j->stats[i], &j->format[i]);
                jsonout_append(list, entry);
            }
        }
        jsonout_set(object, "tensors", list);
        jsonout_set(object, "copied", report_json_left_out(&j->in));
    }
    jsonout_print(object);
}

int cmd_quantize(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    file_options files = {0};
    assignment_options formats = {0};
    job j = {0};
    int axis = 0;
    bool has_axis = false;
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_AXIS) {
            axis = partition_axis(optarg);
            has_axis = true;
        } else if (option == CLI_OPT_DTYPE) {
            j.asked = file_dtype(optarg);
        } else if (option == CLI_OPT_REPORT) {
            j.report = true;
        } else if (option == CLI_OPT_JSON) {
            j.report = j.json = true;
        } else if (option == CLI_OPT_FORCE) {
            j.force = true;
        } else if (!given_take(&j.given, option, optarg) && !assignment_take(&formats, option, optarg) &&
                   !cli_rounding_take(&asked, option, optarg)) {
            file_take(&files, option, optarg);
        }
    }
    const bool any = formats.maps > 0 || formats.plan != NULL; /* then SPEC may be missing */
    cli_expect_operands(&c, any ? 1 : 2, 2, any ? "[SPEC] IN -o OUT" : "SPEC IN -o OUT");
    if (j.output == NULL)
        cli_usage("quantize: the output is missing: -o OUT");
    if (j.report)
        output_refuse_standard("-o", j.output, "the report goes there; name a file for the tensors");
    file_check(&files);
    j.rounding = cli_rounding_get(&asked);
    j.assigned = assignment_open(&formats, c.operands == 2 ? c.operand[0] : NULL, has_axis ? &axis : NULL,
                                 c.operand[c.operands - 1], &files, &j.in);
    file_check_output(&j.in, j.output);
    if (j.asked != NULL && j.asked->code == NULL && model_kind_written(j.in.model.kind) != MODEL_SAFETENSORS)
        cli_usage("--dtype: %s files have no type %s", model_kind_name(j.in.model.kind), j.asked->name);
    writer_refuse_same("--plan", formats.plan, j.output, &j.in.model, model_kind_written(j.in.model.kind));
    cli_refuse_tables("-o", j.output);
    given_open(&j.given, &j.in, j.output);
    choose_types(&j);
    quantize_file(&j);
    if (j.json) {
        print_json_report(&j);
    } else if (j.report) {
        if (!file_is_array(&j.in))
            print_tensors(&j);
        print_report(&j);
    }
    for (size_t i = 0; i < j.in.model.count; i++)
        report_free(&j.stats[i]);
    report_free(&j.total);
    assignment_free(&j.assigned);
    free(formats.map);
    file_close(&j.in);
    given_close(&j.given);
    free(j.type);
    free(j.format);
    free(j.stats);
    free(j.signs);
    return CLI_OK;
}
