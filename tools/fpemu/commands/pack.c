/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c - fpemu pack: the tensors of a file packed to the bits of a format. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/rounding.h"
#include "cli/spec.h"
#include "commands/commands.h"
#include "common/byte_order.h"
#include "common/shown.h"
#include "files/container.h"
#include "files/layout.h"
#include "files/output.h"
#include "files/partition.h"
#include "files/scratch.h"
#include "files/shards.h"
#include "files/writer.h"
#include "plans/assignment.h"
#include "reports/jsonout.h"
#include "reports/loss.h"
#include "reports/report.h"

static const char help[] =
    "Usage: fpemu pack SPEC IN -o OUT [OPTION...]\n"
    "       fpemu pack [SPEC] IN -o OUT --map GLOB=SPEC... | --plan FILE [OPTION...]\n"
    "Rounds the tensors of a file to the format SPEC and writes their bits, with the scales of\n"
    "formats with blocks, to a file of packed tensors (container.md describes it byte by byte).\n"
    "Files and directories are read as by quantize, and the values are those that it gives. Of a\n"
    "directory a directory of as many files is made, with its index, or one file where OUT ends in\n"
    ".fpk. Tensors of other types, and those not asked for, are copied. A NaN in a format without a\n"
    "code for it becomes a number, by its --nan policy; a line says so. Any size in bounded memory\n"
    "where blocks run along the last axis; else, and for blocks of a channel, one tensor at a time is\n"
    "in memory. OUT may be '-', standard output.\n"
    "\n"
    "  -o, --output OUT      the file to write\n" ASSIGNMENT_HELP
    "      --axis N          along which the blocks of a format run: 0, 1, ..., or from the end -1,\n"
    "                        -2, ... (default: -1, or that of the plan)\n"
    "      --layout SOFTWARE  a safetensors file as other software loads it instead: MXFP8, MXFP4 and\n"
    "                        NVFP4 of compressed-tensors and torchao, FP8, int8 and int4 of\n"
    "                        compressed-tensors, FP8 of DeepSeek, NVFP4 and FP8 of ModelOpt, MXFP4 of\n"
    "                        gpt-oss\n"
    "      --config FILE     with --layout: what config.json has to say of it, as JSON of its own\n"
    "      --force           write into a directory that is there and not empty\n"
    "      --report          print what happened, a row for each tensor\n"
    "      --json            the report as JSON\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Examples: fpemu pack mxfp4 model.safetensors -o model.fpk --min-dims 2\n"
    "          fpemu pack nvfp4 model.safetensors -o nvfp4.safetensors --layout compressed-tensors \\\n"
    "              --config config.json --tensors '*_proj.weight'\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"layout", required_argument, NULL, CLI_OPT_LAYOUT},
                                        {"config", required_argument, NULL, CLI_OPT_CONFIG},
                                        {"force", no_argument, NULL, CLI_OPT_FORCE},
                                        {"report", no_argument, NULL, CLI_OPT_REPORT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        ASSIGNMENT_LONG,
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *output;
    const char *software; /* whose layout is asked for; NULL: a file of packed tensors */
    const char *config;   /* the file for what config.json has to say of it; NULL: none */
    fpemu_rounding rounding;
    assignment assigned;
    bool report, json, force;
    file in;
    container_entry *entry; /* of each tensor */
    const layout **layout;  /* the same, with `software`; NULL: it is copied */
    struct layout *made;    /* where some of them lie */
    fpemu_stats *stats, total;
    loss_signs *signs; /* of each tensor, of the elements that were counted */
    uint64_t *lost;    /* NaN that became numbers, of each tensor */
    uint64_t all_lost;
    progress bar;
} job;

static const char *name_of(const tensor *t)
{
    return t->name[0] != '\0' ? t->name : "the array";
}

static const layout *layout_of(const job *j, size_t i)
{
    return j->software != NULL ? j->layout[i] : NULL;
}

static fpemu_shape shape_of(const job *j, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    fpemu_shape shape = fpemu_shape_vector(1);
    if (t->dimensions > 0)
        cli_check(fpemu_shape_of(t->dimensions, t->extent, j->entry[i].axis, &shape), name_of(t));
    return shape;
}

/* ------------------------------------------------------------------------------------------------- entries */

/* As safetensors name the types that .npy files have beside floating point. */
static const char *other_type(const job *j, const tensor *t)
{
    static const struct {
        const char *code, *name;
    } known[] = {{"b1", "BOOL"}, {"i1", "I8"},  {"u1", "U8"},  {"i2", "I16"}, {"u2", "U16"},
                 {"i4", "I32"},  {"u4", "U32"}, {"i8", "I64"}, {"u8", "U64"}};
    if (model_kind_written(j->in.model.kind) == MODEL_SAFETENSORS)
        return t->type_text;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (t->type_text[0] != '\0' && strcmp(t->type_text + 1, known[k].code) == 0)
            return known[k].name;
    cli_fail("%s: %s: data of type '%s' have no place in a file of packed tensors", j->in.path, name_of(t),
             t->type_text);
}

/* Layouts have whole blocks along the last axis. */
static void check_layout(const job *j, const tensor *t, const layout *l, int axis)
{
    const char *why = j->software == NULL             ? NULL
                      : l == NULL                     ? layout_objection_to_copy(j->software, t)
                      : axis + 1 < (int)t->dimensions ? "its blocks run along the last axis"
                                                      : layout_objection(l, t);
    if (why != NULL) {
        cli_fail("%s: %s cannot be kept as %s has it: %s%s", j->in.path, name_of(t), j->software, why,
                 l == NULL ? "" : "; --tensors and --exclude choose others");
    }
}

static void plan_entries(job *j)
{
    const model *m = &j->in.model;
    if (m->endless)
        cli_fail("%s: how much raw data a pipe brings has to be known before", j->in.path);
    j->entry = cli_allocate(m->count, sizeof *j->entry);
    j->stats = cli_allocate(m->count, sizeof *j->stats);
    j->signs = cli_allocate(m->count, sizeof *j->signs);
    j->lost = cli_allocate(m->count, sizeof *j->lost);
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        container_entry *to = &j->entry[i];
        if (t->fortran_order && t->dimensions > 1) {
            cli_fail("%s: %s is in Fortran order, for which a file of packed tensors has no word", j->in.path,
                     name_of(t));
        }
        *to = (container_entry){.dtype = t->type != NULL ? t->type->name : other_type(j, t), .bytes = t->bytes};
        if (j->in.chosen[i]) {
            const assignment_format *f = assignment_of(&j->assigned, i);
            const int axis = j->assigned.axis;
            partition_of(&j->in, i, &f->format, &j->rounding, axis);
            to->spec = f->text;
            to->axis = t->dimensions == 0 ? 0 : axis < 0 ? axis + (int)t->dimensions : axis;
            to->axis = f->format.scaling == FPEMU_SCALING_NONE && t->dimensions > 0 ? (int)t->dimensions - 1 : to->axis;
            const fpemu_shape shape = shape_of(j, i);
            fpemu_layout layout;
            cli_check(fpemu_packed_layout(&f->format, &shape, &layout), f->spec);
            to->bytes = layout.bytes;
            check_layout(j, t, layout_of(j, i), to->axis);
            to->bytes = layout_of(j, i) != NULL ? layout_bytes(layout_of(j, i), t) : to->bytes;
        } else {
            check_layout(j, t, NULL, -1);
        }
    }
}

/* -------------------------------------------------------------------------------------------------- packing */

/* Whether a NaN comes back as a number: neither the elements nor the scales of blocks have a code for it. */
static bool loses_nan(const fpemu_format *format)
{
    fpemu_format scale;
    const unsigned rule = format->scaling;
    const bool nan_blocks = rule != FPEMU_SCALING_NONE && rule != FPEMU_SCALING_RECIPE &&
                            rule != FPEMU_SCALING_RECIPE_POW2 && rule != FPEMU_SCALING_S2FP8 &&
                            fpemu_format_scale(format, &scale) == FPEMU_OK && scale.has_nan != 0;
    return format->has_nan == 0 && !nan_blocks;
}

static uint64_t count_nan(const walk *w)
{
    uint64_t count = 0;
    for (size_t i = 0; i < w->count; i++)
        count += w->x32 != NULL ? w->x32[i] != w->x32[i] : w->x64[i] != w->x64[i];
    return count;
}

static void measure_tensor(job *j, size_t i, partition *a, bool binary64)
{
    const assignment_format *f = assignment_of(&j->assigned, i);
    walk w = walk_begin(&j->in, i, !binary64, binary64, 1, UINT64_MAX);
    while (walk_next(&w)) {
        const void *x = binary64 ? (const void *)w.x64 : (const void *)w.x32;
        cli_check(partition_measure(a, &f->format, w.count, binary64, x), f->spec);
    }
    walk_end(&w);
}

/* Bytes that go to the file, or wait until those that lie before them are there. */
typedef struct bytes_out {
    output *out;
    FILE *waiting; /* or NULL */
    uint64_t size; /* of what waits */
    uint32_t crc;
} bytes_out;

static void put(bytes_out *b, const void *bytes, size_t size)
{
    b->crc = container_crc(b->crc, bytes, size);
    output_write(b->out, bytes, size);
}

static void put_elements(bytes_out *b, const void *bytes, size_t size)
{
    if (b->waiting != NULL) {
        scratch_write_at(b->waiting, b->size, bytes, size);
        b->size += size;
    } else {
        put(b, bytes, size);
    }
}

static void put_waiting(bytes_out *b)
{
    unsigned char bytes[1 << 16];
    uint64_t place = 0;
    for (size_t size; (size = scratch_read_at(b->waiting, place, bytes, sizeof bytes)) > 0; place += size)
        put(b, bytes, size);
    fclose(b->waiting);
}

/* Piece by piece. The scales of all lie before the elements, which therefore wait in a file of their own. */
static uint32_t pack_tensor(job *j, output *out, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    const assignment_format *now = assignment_of(&j->assigned, i);
    const fpemu_format *format = &now->format;
    const bool binary64 = dtype_needs_binary64(t->type, format), drops_nan = loses_nan(format);
    bool whole;
    partition a = partition_packed(&j->in, i, format, j->assigned.axis, &whole);
    const fpemu_shape tensor_shape = shape_of(j, i);
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    const loss_ends ends = loss_find_ends(format, &rounding);
    if (a.needs_range && !j->in.model.walkable)
        file_keep(&j->in);
    if (a.needs_range)
        measure_tensor(j, i, &a, binary64);
    if (j->report)
        report_want(&j->stats[i], format);
    walk w = walk_begin(&j->in, i, !binary64, binary64, a.unit, a.period);
    bytes_out to = {.out = out};
    const layout *const matrix = layout_of(j, i) != NULL && layout_of(j, i)->matrix != NULL ? layout_of(j, i) : NULL;
    const size_t tail_size = matrix != NULL ? (size_t)layout_tail_bytes(matrix, t) : 0;
    unsigned char *bytes = NULL, *tail = cli_allocate(tail_size, 1);
    uint64_t blocks = 0;
    size_t room = 0;
    while (walk_next(&w)) {
        const void *x = binary64 ? (const void *)w.x64 : (const void *)w.x32;
        const fpemu_shape shape = whole ? tensor_shape : partition_piece(&a, w.index, w.count);
        const bool once = w.index > 0 && format->block == FPEMU_BLOCK_TENSOR; /* its scale is there already */
        fpemu_layout l;
        cli_check(fpemu_packed_layout(format, &shape, &l), now->spec);
        if (l.bytes > SIZE_MAX)
            cli_fail("out of memory");
        if (l.bytes > room) {
            free(bytes);
            room = (size_t)l.bytes;
            bytes = cli_allocate(room, 1);
        }
        if (w.index == 0 && w.count < t->count && l.scale_bytes > 0 && format->block != FPEMU_BLOCK_TENSOR)
            to.waiting = scratch_open();
        /* Counting takes time, and the first piece shows whether anything is left of a tensor. */
        loss_signs signs = j->signs[i];
        loss_look(&signs, format, w.count, binary64, x);
        const bool counted = j->report || w.index == 0 || loss_one_sided(format) ||
                             (ends.below && signs.below > j->signs[i].below) ||
                             (ends.above && signs.above > j->signs[i].above);
        j->signs[i] = counted ? signs : j->signs[i];
        cli_check_call(
            partition_pack(format, &rounding, &shape, w.index, binary64, x, bytes, counted ? &j->stats[i] : NULL),
            format, &rounding, binary64, FPEMU_USE_PACK, now->spec);
        if (w.index == 0 && l.tensor_bytes > 0) {
            const unsigned char *global = layout_of(j, i) != NULL ? layout_global(layout_of(j, i), bytes) : NULL;
            put(&to, global != NULL ? global : bytes, global != NULL ? 4 : (size_t)l.tensor_bytes);
        }
        size_t scales = (size_t)(l.elements_offset - l.scales_offset);
        if (matrix != NULL)
            scales = layout_arrange(matrix, t, &l, &shape, blocks, bytes, tail);
        if (matrix != NULL && scales == 0)
            cli_fail("out of memory");
        blocks += once ? 0 : l.blocks;
        put(&to, bytes + l.scales_offset, once ? 0 : scales);
        put_elements(&to, bytes + l.elements_offset, (size_t)(l.bytes - l.elements_offset));
        j->lost[i] += drops_nan ? count_nan(&w) : 0;
        progress_advance(&j->bar, w.count);
    }
    walk_end(&w);
    free(bytes);
    if (to.waiting != NULL)
        put_waiting(&to);
    put(&to, tail, tail_size);
    free(tail);
    j->all_lost += j->lost[i];
    return to.crc;
}

/* Little-endian, whatever it was. */
static uint32_t copy_tensor(job *j, output *out, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    const unsigned size = t->count > 0 ? (unsigned)(t->bytes / t->count) : 1;
    unsigned char bytes[1 << 16];
    uint32_t crc = 0;
    uint64_t copied = 0;
    file_begin(&j->in, i);
    for (size_t got; (got = file_read(&j->in, i, bytes, sizeof bytes)) > 0;) {
        if (t->big_endian)
            byte_order_swap(bytes, size, got / size);
        crc = container_crc(crc, bytes, got);
        output_write(out, bytes, got);
        progress_advance(&j->bar, file_elements(&j->in, i, copied + got) - file_elements(&j->in, i, copied));
        copied += got;
    }
    return crc;
}

/* Where something could not be made: there is a tensor one of whose names would come twice, or no memory. */
static void check_made(const job *j, bool made, const char *twice)
{
    if (twice != NULL)
        cli_fail("%s: '%s': the file would have two tensors of one name", j->in.path, twice);
    if (!made)
        cli_fail("out of memory");
}

static unsigned char *print_header(const job *j, size_t first, size_t count, json_t *metadata, size_t *size)
{
    const model *m = &j->in.model;
    const char *twice = NULL;
    unsigned char *header = j->software != NULL ? layout_print(m, first, count, metadata, j->layout, size, &twice)
                                                : container_print(m, first, count, metadata, j->entry, size);
    check_made(j, header != NULL, twice);
    return header;
}

/* The kind of the files that are written. */
static model_kind kind_of(const job *j)
{
    return j->software != NULL ? MODEL_SAFETENSORS : MODEL_CONTAINER;
}

/* Of a directory; NULL where IN has none. */
static char *print_index(const job *j)
{
    const model *m = &j->in.model;
    const char *twice = NULL;
    uint64_t total = 0;
    json_t *weight_map = j->software != NULL ? layout_weight_map(m, j->layout, &twice) : NULL;
    check_made(j, j->software == NULL || weight_map != NULL, twice);
    for (size_t i = 0; i < m->count; i++)
        total += j->entry[i].bytes;
    char *index = m->index != NULL ? shards_print_index(m, kind_of(j), total, weight_map) : NULL;
    check_made(j, m->index == NULL || index != NULL, NULL);
    json_decref(weight_map);
    return index;
}

static void write_config(const job *j)
{
    json_t *config = layout_config(&j->in.model, j->layout);
    char *text = config != NULL ? json_dumps(config, JSON_INDENT(2)) : NULL;
    if (text == NULL)
        cli_fail("out of memory");
    output out = output_open(j->config);
    output_write(&out, text, strlen(text));
    output_write(&out, "\n", 1);
    output_commit(&out);
    free(text);
    json_decref(config);
}

static void write_tensors(void *state, output *out, size_t first, size_t count, json_t *metadata)
{
    job *j = state;
    size_t size;
    unsigned char *header = print_header(j, first, count, metadata, &size);
    output_write(out, header, size);
    free(header);
    for (size_t i = first; i < first + count; i++) {
        const uint64_t bytes = j->entry[i].bytes;
        unsigned char tail[CONTAINER_TAIL_SIZE];
        uint32_t crc;
        if (j->in.chosen[i])
            crc = pack_tensor(j, out, i);
        else
            crc = copy_tensor(j, out, i);
        if (j->software == NULL)
            output_write(out, tail, container_tail(tail, crc, bytes, i + 1 == first + count));
    }
}

static void pack_file(job *j)
{
    const model *m = &j->in.model;
    j->bar = progress_start("pack", j->in.elements);
    if (m->parts > 0 && !file_names_one(j->output)) {
        char *index = print_index(j);
        writer_write_parts(j->output, j->force, m, kind_of(j), index, write_tensors, j);
    } else {
        output out = output_open(j->output);
        write_tensors(j, &out, 0, m->count, m->metadata);
        output_commit(&out);
    }
    progress_hide();
}

static double bits_of(uint64_t bytes, uint64_t elements)
{
    return elements > 0 ? 8 * (double)bytes / (double)elements : 0;
}

/* What all tensors have together. */
static void add_up(job *j, uint64_t *bytes, uint64_t *elements)
{
    *bytes = *elements = 0;
    const assignment_format *single = assignment_single(&j->assigned, &j->in);
    report_want(&j->total, single != NULL ? &single->format : NULL);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            report_merge(&j->total, &j->stats[i]);
            *bytes += j->entry[i].bytes;
            *elements += j->in.model.tensor[i].count;
        }
    }
}

static void print_block_rows(const job *j, int width)
{
    char name[FILE_NAME_SIZE];
    size_t rows = 0;
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i] && assignment_of(&j->assigned, i)->format.scaling != FPEMU_SCALING_NONE) {
            if (rows++ == 0) {
                putchar('\n');
                report_block_heading(width, "tensor");
            }
            report_block_row(width, file_name_text(name, &j->in.model.tensor[i]), &j->stats[i]);
        }
    }
    if (rows > 0 && assignment_single(&j->assigned, &j->in) != NULL)
        report_block_row(width, "total", &j->total);
}

static void print_report(job *j)
{
    const int width = report_name_width(&j->in), specs = assignment_width(&j->assigned, &j->in);
    const bool several = assignment_single(&j->assigned, &j->in) == NULL;
    uint64_t bytes, elements;
    char name[FILE_NAME_SIZE], bits[16], second[REPORT_SECOND_SIZE];
    add_up(j, &bytes, &elements);
    report_heading(width, "tensor", several ? report_with_format(second, " bits", "format", specs) : "bits");
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            snprintf(bits, sizeof bits, "%5.4g", bits_of(j->entry[i].bytes, t->count));
            report_row(width, file_name_text(name, t),
                       several ? report_with_format(second, bits, assignment_of(&j->assigned, i)->text, specs) : bits,
                       &j->stats[i], REPORT_NO_ERROR, false);
        }
    }
    snprintf(bits, sizeof bits, "%5.4g", bits_of(bytes, elements));
    report_row(width, "total", several ? report_with_format(second, bits, "", specs) : bits, &j->total, REPORT_NO_ERROR,
               false);
    print_block_rows(j, width);
    printf("\nNaN that became numbers: %" PRIu64 "\n", j->all_lost);
}

static void set_packed(json_t *entry, uint64_t bytes, uint64_t elements, uint64_t lost)
{
    jsonout_set(entry, "bytes", jsonout_count(bytes));
    jsonout_set(entry, "bits_per_element", jsonout_real(bits_of(bytes, elements)));
    jsonout_set(entry, "nan_to_number", jsonout_count(lost));
}

static void print_json(job *j)
{
    json_t *object = jsonout_object(), *list = jsonout_array();
    uint64_t bytes, elements;
    add_up(j, &bytes, &elements);
    const assignment_format *single = assignment_single(&j->assigned, &j->in);
    jsonout_set(object, "input", jsonout_text(j->in.path));
    jsonout_set(object, "output", jsonout_text(j->output));
    jsonout_set(object, "spec", jsonout_text(single != NULL ? single->text : NULL));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding, assignment_draws(&j->assigned, &j->rounding)));
    set_packed(object, bytes, elements, j->all_lost);
    report_json_stats(object, &j->total, single != NULL ? &single->format : NULL);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            json_t *entry = report_json_tensor(&j->in.model.tensor[i]);
            jsonout_set(entry, "axis", jsonout_integer(j->entry[i].axis));
            set_packed(entry, j->entry[i].bytes, j->in.model.tensor[i].count, j->lost[i]);
            jsonout_set(entry, "spec", jsonout_text(assignment_of(&j->assigned, i)->text));
            report_json_stats(entry, &j->stats[i], &assignment_of(&j->assigned, i)->format);
            jsonout_append(list, entry);
        }
    }
    jsonout_set(object, "tensors", list);
    jsonout_set(object, "copied", report_json_left_out(&j->in));
    jsonout_print(object);
}

static void refuse_tables(const job *j)
{
    for (size_t k = 0; k < j->assigned.formats; k++)
        if (cli_from_file(&j->assigned.format[k].format))
            cli_usage("pack: %s: a file of packed tensors has no place for a table", j->assigned.format[k].spec);
}

/* The layout of each tensor that is chosen. */
static void find_layouts(job *j)
{
    const layout *first = NULL;
    j->layout = cli_allocate(j->in.model.count, sizeof *j->layout);
    j->made = cli_allocate(j->assigned.formats + 1, sizeof *j->made);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            const assignment_format *f = assignment_of(&j->assigned, i);
            j->layout[i] = layout_find(j->software, &f->format, j->made);
            if (j->layout[i] == NULL) {
                cli_usage("--layout: %s has no layout for %s; it has: %s", j->software, f->spec,
                          layout_formats(j->software));
            }
            first = first != NULL ? first : j->layout[i];
            if (j->layout[i] != first && layout_one_format(j->software))
                cli_usage("--layout: %s has one format for all tensors, and %s is another", j->software, f->spec);
        }
    }
    if (file_is_array(&j->in))
        cli_fail("%s: an array without a name, and --layout is for tensors with names", j->in.path);
    writer_refuse_names(&j->in);
}

static void check_software(const job *j)
{
    if (j->software == NULL && j->config != NULL)
        cli_usage("--config is for --layout");
    if (j->software != NULL && layout_formats(j->software) == NULL)
        cli_usage("--layout: '%s' is none of: " LAYOUT_NAMES, j->software);
    if (j->config != NULL && !layout_has_config(j->software))
        cli_usage("--config: %s asks for nothing in config.json: the file says it all", j->software);
}

/* OUT may be IN, but no single file of a directory that is read. */
static void refuse_outputs(const job *j, const char *plan)
{
    const model *m = &j->in.model;
    writer_refuse_same("--config", j->config, j->output, m, kind_of(j));
    writer_refuse_same("--plan", plan, j->output, m, kind_of(j));
    file_refuse_output(&j->in, "--config", j->config);
    output_refuse_same("--config", j->config, "the plan", plan);
    if (m->parts > 0 && file_names_one(j->output))
        file_refuse_output(&j->in, "-o", j->output);
}

int cmd_pack(int argc, char **argv)
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
        } else if (option == CLI_OPT_LAYOUT) {
            j.software = optarg;
        } else if (option == CLI_OPT_CONFIG) {
            j.config = output_path(optarg);
        } else if (option == CLI_OPT_FORCE) {
            j.force = true;
        } else if (option == CLI_OPT_REPORT) {
            j.report = true;
        } else if (option == CLI_OPT_JSON) {
            j.report = j.json = true;
        } else if (!assignment_take(&formats, option, optarg) && !cli_rounding_take(&asked, option, optarg)) {
            file_take(&files, option, optarg);
        }
    }
    const bool any = formats.maps > 0 || formats.plan != NULL; /* then SPEC may be missing */
    cli_expect_operands(&c, any ? 1 : 2, 2, any ? "[SPEC] IN -o OUT" : "SPEC IN -o OUT");
    if (j.output == NULL)
        cli_usage("pack: the output is missing: -o OUT");
    if (j.report) {
        output_refuse_standard("-o", j.output, "the report goes there; name a file for the tensors");
        output_refuse_standard("--config", j.config, "the report goes there; name a file for the configuration");
    } else if (output_is_standard(j.output)) {
        output_refuse_standard("--config", j.config, "the tensors go there; name a file for the configuration");
    }
    file_check(&files);
    check_software(&j);
    j.rounding = cli_rounding_get(&asked);
    j.assigned = assignment_open(&formats, c.operands == 2 ? c.operand[0] : NULL, has_axis ? &axis : NULL,
                                 c.operand[c.operands - 1], &files, &j.in);
    refuse_tables(&j);
    if (j.software != NULL)
        find_layouts(&j);
    const model_kind named = model_kind_of_name(j.output);
    if (named != MODEL_DETECT && named != kind_of(&j)) {
        cli_usage("-o: '%s' is named as another kind than a %s", j.output,
                  j.software != NULL ? "safetensors file" : "file of packed tensors");
    }
    refuse_outputs(&j, formats.plan);
    plan_entries(&j);
    pack_file(&j);
    if (j.config != NULL)
        write_config(&j);
    if (j.all_lost > 0 && !asked.has_nan) {
        const assignment_format *single = assignment_single(&j.assigned, &j.in);
        char cut[SHOWN_SIZE];
        cli_warn("pack: %" PRIu64 " NaN became numbers, for %s has no code for them", j.all_lost,
                 shown(single != NULL ? single->text : "their format", 0, cut));
    }
    loss lost = {0};
    for (size_t i = 0; i < j.in.model.count; i++) {
        if (j.in.chosen[i]) {
            const assignment_format *f = assignment_of(&j.assigned, i);
            loss_add(&lost, &j.in.model.tensor[i], f->text, &f->format, &j.rounding, &j.stats[i], &j.signs[i]);
        }
    }
    loss_tell(&lost, "pack");
    if (j.json)
        print_json(&j);
    else if (j.report)
        print_report(&j);
    for (size_t i = 0; i < j.in.model.count; i++)
        report_free(&j.stats[i]);
    report_free(&j.total);
    assignment_free(&j.assigned);
    free(formats.map);
    file_close(&j.in);
    free(j.entry);
    free(j.layout);
    free(j.made);
    free(j.stats);
    free(j.signs);
    free(j.lost);
    return CLI_OK;
}
