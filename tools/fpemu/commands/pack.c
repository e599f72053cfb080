/* pack.c - fpemu pack: the tensors of a file packed to the bits of a format. */
#include "common/system.h"

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
#include "files/container.h"
#include "files/layout.h"
#include "files/output.h"
#include "files/partition.h"
#include "files/scratch.h"
#include "reports/jsonout.h"
#include "reports/report.h"

static const char help[] =
    "Usage: fpemu pack SPEC IN -o OUT [OPTION...]\n"
    "Rounds the tensors of a file to the format SPEC and writes their bits, with the scales of\n"
    "formats with blocks, to a file of packed tensors (container.md describes it byte by byte).\n"
    "Files are read as by quantize, and the values are those that it gives. Tensors of other types,\n"
    "and those not asked for, are copied. A NaN in a format without a code for it becomes a number,\n"
    "by its --nan policy; a line says so. Any size in bounded memory where blocks run along the last\n"
    "axis; else, and for blocks of a channel, one tensor at a time is in memory.\n"
    "\n"
    "  -o, --output OUT      the file to write\n"
    "      --axis N          along which the blocks of a format run: 0, 1, ..., or from the end -1,\n"
    "                        -2, ... (default: -1)\n"
    "      --layout SOFTWARE  a safetensors file as other software loads it instead: MXFP8, MXFP4 and\n"
    "                        NVFP4 of compressed-tensors and torchao, MXFP4 of gpt-oss\n"
    "      --config FILE     with --layout: what config.json has to say of it, as JSON of its own\n"
    "      --report          print what happened, a row for each tensor\n"
    "      --json            the report as JSON\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Examples: fpemu pack mxfp4 model.safetensors -o model.fpk --tensors '*.weight'\n"
    "          fpemu pack nvfp4 model.safetensors -o nvfp4.safetensors --layout compressed-tensors \\\n"
    "              --config config.json --tensors '*_proj.weight'\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"layout", required_argument, NULL, CLI_OPT_LAYOUT},
                                        {"config", required_argument, NULL, CLI_OPT_CONFIG},
                                        {"report", no_argument, NULL, CLI_OPT_REPORT},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *spec, *output;
    const layout *layout; /* NULL: a file of packed tensors */
    const char *config;   /* the file for what config.json has to say of it; NULL: none */
    char text[CLI_SPEC_SIZE];
    fpemu_format format;
    fpemu_rounding rounding;
    int axis;
    bool report, json;
    bool loses_nan; /* the format has no code for it */
    file in;
    container_entry *entry; /* of each tensor */
    fpemu_stats *stats, total;
    uint64_t *lost; /* NaN that became numbers, of each tensor */
    uint64_t all_lost;
} job;

static bool needs_binary64(const job *j, const tensor *t)
{
    return t->type->format == FPEMU_NAME_BINARY64 || !fpemu_format_fits_f32(&j->format);
}

static const char *name_of(const tensor *t)
{
    return t->name[0] != '\0' ? t->name : "the array";
}

static fpemu_shape shape_of(const job *j, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    fpemu_shape shape = fpemu_shape_vector(1);
    if (t->dimensions > 0) {
        cli_check(fpemu_shape_of(t->dimensions, t->extent, j->entry[i].axis, &shape), name_of(t));
    }
    return shape;
}

/* ------------------------------------------------------------------------------------------------- planning */

/* As safetensors name the types that .npy files have beside floating point. */
static const char *other_type(const job *j, const tensor *t)
{
    static const struct {
        const char *code, *name;
    } known[] = {{"b1", "BOOL"}, {"i1", "I8"},  {"u1", "U8"},  {"i2", "I16"}, {"u2", "U16"},
                 {"i4", "I32"},  {"u4", "U32"}, {"i8", "I64"}, {"u8", "U64"}};
    if (model_kind_written(j->in.model.kind) == MODEL_SAFETENSORS) {
        return t->type_text;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (t->type_text[0] != '\0' && strcmp(t->type_text + 1, known[k].code) == 0) {
            return known[k].name;
        }
    }
    cli_fail("%s: %s: data of type '%s' have no place in a file of packed tensors", j->in.path, name_of(t),
             t->type_text);
}

/* Layouts have whole blocks along the last axis; axis: negative of a tensor that is copied. */
static void check_layout(const job *j, const tensor *t, int axis)
{
    const char *why = j->layout == NULL                        ? NULL
                      : axis < 0                               ? layout_objection_to_name(j->layout, t)
                      : axis + 1 < (int)t->dimensions          ? "its blocks run along the last axis"
                                                               : layout_objection(j->layout, t);
    if (why != NULL) {
        cli_fail("%s: %s cannot be kept as %s has it: %s%s", j->in.path, name_of(t), j->layout->software, why,
                 axis < 0 ? "" : "; --tensors and --exclude choose others");
    }
}

static void plan(job *j)
{
    const model *m = &j->in.model;
    if (m->endless) {
        cli_fail("%s: how much raw data a pipe brings has to be known before", j->in.path);
    }
    j->entry = cli_allocate(m->count, sizeof *j->entry);
    j->stats = cli_allocate(m->count, sizeof *j->stats);
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
            partition_of(&j->in, i, &j->format, &j->rounding, j->axis);
            to->spec = j->text;
            to->axis = t->dimensions == 0 ? 0 : j->axis < 0 ? j->axis + (int)t->dimensions : j->axis;
            to->axis = j->format.scaling == FPEMU_SCALING_NONE && t->dimensions > 0 ? (int)t->dimensions - 1 : to->axis;
            const fpemu_shape shape = shape_of(j, i);
            fpemu_layout layout;
            cli_check(fpemu_packed_layout(&j->format, &shape, &layout), j->spec);
            to->bytes = layout.bytes;
            check_layout(j, t, to->axis);
        } else {
            check_layout(j, t, -1);
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
    for (size_t i = 0; i < w->count; i++) {
        count += w->x32 != NULL ? w->x32[i] != w->x32[i] : w->x64[i] != w->x64[i];
    }
    return count;
}

static void measure_tensor(job *j, size_t i, partition *a, bool binary64)
{
    walk w = walk_begin(&j->in, i, !binary64, binary64, 1, UINT64_MAX);
    while (walk_next(&w)) {
        const void *x = binary64 ? (const void *)w.x64 : (const void *)w.x32;
        cli_check(partition_measure(a, &j->format, w.count, binary64, x), j->spec);
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
    for (size_t size; (size = scratch_read_at(b->waiting, place, bytes, sizeof bytes)) > 0; place += size) {
        put(b, bytes, size);
    }
    fclose(b->waiting);
}

/* Piece by piece. The scales of all lie before the elements, which therefore wait in a file of their own. */
static uint32_t pack_tensor(job *j, output *out, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    const bool binary64 = needs_binary64(j, t);
    bool whole;
    partition a = partition_packed(&j->in, i, &j->format, j->axis, &whole);
    const fpemu_shape tensor_shape = shape_of(j, i);
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    if (a.needs_range && !j->in.model.walkable) {
        file_keep(&j->in);
    }
    if (a.needs_range) {
        measure_tensor(j, i, &a, binary64);
    }
    if (j->report) {
        report_want(&j->stats[i], &j->format);
    }
    walk w = walk_begin(&j->in, i, !binary64, binary64, a.unit, a.period);
    bytes_out to = {.out = out};
    unsigned char *bytes = NULL;
    size_t room = 0;
    while (walk_next(&w)) {
        const void *x = binary64 ? (const void *)w.x64 : (const void *)w.x32;
        const fpemu_shape shape = whole ? tensor_shape : partition_piece(&a, w.index, w.count);
        const bool once = w.index > 0 && j->format.block == FPEMU_BLOCK_TENSOR; /* its scale is there already */
        fpemu_layout l;
        cli_check(fpemu_packed_layout(&j->format, &shape, &l), j->spec);
        if (l.bytes > SIZE_MAX) {
            cli_fail("out of memory");
        }
        if (l.bytes > room) {
            free(bytes);
            room = (size_t)l.bytes;
            bytes = cli_allocate(room, 1);
        }
        if (w.index == 0 && w.count < t->count && l.scale_bytes > 0 && j->format.block != FPEMU_BLOCK_TENSOR) {
            to.waiting = scratch_open();
        }
        cli_check(
            partition_pack(&j->format, &rounding, &shape, w.index, binary64, x, bytes, j->report ? &j->stats[i] : NULL),
            j->spec);
        if (w.index == 0 && l.tensor_bytes > 0) {
            const unsigned char *global = j->layout != NULL ? layout_global(j->layout, bytes) : NULL;
            put(&to, global != NULL ? global : bytes, global != NULL ? 4 : (size_t)l.tensor_bytes);
        }
        put(&to, bytes + l.scales_offset, once ? 0 : (size_t)(l.elements_offset - l.scales_offset));
        put_elements(&to, bytes + l.elements_offset, (size_t)(l.bytes - l.elements_offset));
        j->lost[i] += j->loses_nan ? count_nan(&w) : 0;
    }
    walk_end(&w);
    free(bytes);
    if (to.waiting != NULL) {
        put_waiting(&to);
    }
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
    file_begin(&j->in, i);
    for (size_t got; (got = file_read(&j->in, i, bytes, sizeof bytes)) > 0;) {
        if (t->big_endian) {
            dtype_swap(bytes, size, got / size);
        }
        crc = container_crc(crc, bytes, got);
        output_write(out, bytes, got);
    }
    return crc;
}

static unsigned char *print_header(const job *j, size_t *size)
{
    const model *m = &j->in.model;
    const char *twice = NULL;
    unsigned char *header = j->layout != NULL ? layout_print(m, j->layout, j->in.chosen, size, &twice)
                                              : container_print(m, j->entry, size);
    if (twice != NULL) {
        cli_fail("%s: '%s': the file would have two tensors of one name", j->in.path, twice);
    }
    if (header == NULL) {
        cli_fail("out of memory");
    }
    return header;
}

static void write_config(const job *j)
{
    json_t *config = layout_config(&j->in.model, j->layout, j->in.chosen);
    char *text = config != NULL ? json_dumps(config, JSON_INDENT(2)) : NULL;
    if (text == NULL) {
        cli_fail("out of memory");
    }
    output out = output_open(j->config);
    output_write(&out, text, strlen(text));
    output_write(&out, "\n", 1);
    output_commit(&out);
    free(text);
    json_decref(config);
}

static void pack_file(job *j)
{
    const model *m = &j->in.model;
    size_t size;
    unsigned char *header = print_header(j, &size);
    output out = output_open(j->output);
    progress bar = progress_start("pack", j->in.chosen_elements);
    output_write(&out, header, size);
    free(header);
    for (size_t i = 0; i < m->count; i++) {
        const uint64_t bytes = j->entry[i].bytes;
        unsigned char tail[CONTAINER_TAIL_SIZE];
        uint32_t crc;
        if (j->in.chosen[i]) {
            crc = pack_tensor(j, &out, i);
            progress_advance(&bar, m->tensor[i].count);
        } else {
            crc = copy_tensor(j, &out, i);
        }
        if (j->layout == NULL) {
            output_write(&out, tail, container_tail(tail, crc, bytes, i + 1 == m->count));
        }
    }
    progress_hide();
    output_commit(&out);
}

static double bits_of(uint64_t bytes, uint64_t elements)
{
    return elements > 0 ? 8 * (double)bytes / (double)elements : 0;
}

/* What all tensors have together. */
static void add_up(job *j, uint64_t *bytes, uint64_t *elements)
{
    *bytes = *elements = 0;
    report_want(&j->total, &j->format);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            cli_check(fpemu_stats_merge(&j->total, &j->stats[i]), j->spec);
            *bytes += j->entry[i].bytes;
            *elements += j->in.model.tensor[i].count;
        }
    }
}

static void print_report(job *j)
{
    const int width = report_name_width(&j->in);
    uint64_t bytes, elements;
    char name[FILE_NAME_SIZE], bits[16];
    add_up(j, &bytes, &elements);
    report_heading(width, "tensor", "bits");
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            snprintf(bits, sizeof bits, "%.4g", bits_of(j->entry[i].bytes, t->count));
            report_row(width, file_name_text(name, t), bits, &j->stats[i], REPORT_NO_ERROR, false);
        }
    }
    snprintf(bits, sizeof bits, "%.4g", bits_of(bytes, elements));
    report_row(width, "total", bits, &j->total, REPORT_NO_ERROR, false);
    if (j->format.scaling != FPEMU_SCALING_NONE) {
        putchar('\n');
        report_block_heading(width, "tensor");
        for (size_t i = 0; i < j->in.model.count; i++) {
            if (j->in.chosen[i]) {
                report_block_row(width, file_name_text(name, &j->in.model.tensor[i]), &j->stats[i]);
            }
        }
        report_block_row(width, "total", &j->total);
    }
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
    jsonout_set(object, "input", jsonout_text(j->in.path));
    jsonout_set(object, "output", jsonout_text(j->output));
    jsonout_set(object, "spec", jsonout_text(j->text));
    jsonout_set(object, "rounding", jsonout_rounding(&j->rounding));
    set_packed(object, bytes, elements, j->all_lost);
    report_json_stats(object, &j->total, &j->format);
    for (size_t i = 0; i < j->in.model.count; i++) {
        if (j->in.chosen[i]) {
            json_t *entry = report_json_tensor(&j->in.model.tensor[i]);
            jsonout_set(entry, "axis", jsonout_integer(j->entry[i].axis));
            set_packed(entry, j->entry[i].bytes, j->in.model.tensor[i].count, j->lost[i]);
            report_json_stats(entry, &j->stats[i], &j->format);
            jsonout_append(list, entry);
        }
    }
    jsonout_set(object, "tensors", list);
    jsonout_set(object, "copied", report_json_left_out(&j->in));
    jsonout_print(object);
}

/* The argument of --layout; NULL: there was none. */
static const layout *find_layout(const job *j, const char *software)
{
    bool known;
    const layout *l = software != NULL ? layout_find(software, &j->format, &known) : NULL;
    if (software == NULL && j->config != NULL) {
        cli_usage("--config is for --layout");
    }
    if (software != NULL && !known) {
        cli_usage("--layout: '%s' is none of: " LAYOUT_NAMES, software);
    }
    if (software != NULL && l == NULL) {
        cli_usage("--layout: %s has no layout for %s; they are: " LAYOUT_FORMATS, software, j->spec);
    }
    if (l != NULL && j->config != NULL && !layout_has_config(l)) {
        cli_usage("--config: %s asks for nothing in config.json: the file says it all", software);
    }
    return l;
}

int cmd_pack(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    file_options files = {0};
    job j = {.axis = -1};
    const char *software = NULL;
    bool has_axis = false;
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_AXIS) {
            j.axis = partition_axis(optarg);
            has_axis = true;
        } else if (option == CLI_OPT_LAYOUT) {
            software = optarg;
        } else if (option == CLI_OPT_CONFIG) {
            j.config = output_path(optarg);
        } else if (option == CLI_OPT_REPORT) {
            j.report = true;
        } else if (option == CLI_OPT_JSON) {
            j.report = j.json = true;
        } else if (!cli_rounding_take(&asked, option, optarg)) {
            file_take(&files, option, optarg);
        }
    }
    cli_expect_operands(&c, 2, 2, "SPEC IN -o OUT");
    if (j.output == NULL) {
        cli_usage("pack: the output is missing: -o OUT");
    }
    file_check(&files);
    j.spec = c.operand[0];
    j.format = cli_format(j.spec);
    if (cli_from_file(&j.format)) {
        cli_usage("pack: %s: a file of packed tensors has no place for a table", j.spec);
    }
    cli_spec(&j.format, j.text);
    j.layout = find_layout(&j, software);
    j.rounding = cli_rounding_get(&asked);
    if (has_axis && j.format.scaling == FPEMU_SCALING_NONE) {
        cli_usage("--axis is for formats with blocks, %s has none", j.spec);
    }
    j.loses_nan = loses_nan(&j.format);
    j.in = file_open(c.operand[1], &files);
    file_expect_tensors(&j.in);
    if (j.layout != NULL && file_is_array(&j.in)) {
        cli_fail("%s: an array without a name, and --layout is for tensors with names", j.in.path);
    }
    const model_kind named = model_kind_of_name(j.output);
    if (named != MODEL_DETECT && named != (j.layout != NULL ? MODEL_SAFETENSORS : MODEL_CONTAINER)) {
        cli_usage("-o: '%s' is named as another kind than a %s", j.output,
                  j.layout != NULL ? "safetensors file" : "file of packed tensors");
    }
    plan(&j);
    pack_file(&j);
    if (j.config != NULL) {
        write_config(&j);
    }
    if (j.all_lost > 0 && !asked.has_nan) {
        fprintf(stderr, "fpemu: pack: %" PRIu64 " NaN became numbers, for %s has no code for them\n", j.all_lost,
                j.text);
    }
    if (j.json) {
        print_json(&j);
    } else if (j.report) {
        print_report(&j);
    }
    for (size_t i = 0; i < j.in.model.count; i++) {
        report_free(&j.stats[i]);
    }
    report_free(&j.total);
    file_close(&j.in);
    free(j.entry);
    free(j.stats);
    free(j.lost);
    return CLI_OK;
}
