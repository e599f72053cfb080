/* pack.c - fpemu pack: the tensors of a file packed to the bits of a format. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "along.h"
#include "commands.h"
#include "container.h"
#include "output.h"
#include "progress.h"
#include "report.h"

static const char help[] =
    "Usage: fpemu pack SPEC IN -o OUT [OPTION...]\n"
    "Rounds the tensors of a file to the format SPEC and writes their bits, with the scales of\n"
    "formats with blocks, to a file of packed tensors (container.md describes it byte by byte).\n"
    "Files are read as by quantize, and the values are those that it gives. Tensors of other types,\n"
    "and those not asked for, are copied. One tensor at a time is in memory.\n"
    "\n"
    "  -o, --output OUT      the file to write\n"
    "      --axis N          along which the blocks of a format run: 0, 1, ..., or from the end -1,\n"
    "                        -2, ... (default: -1)\n"
    "      --report          print what happened, a row for each tensor\n" FILE_HELP CLI_ROUNDING_HELP "\n"
    "Example: fpemu pack mxfp4 model.safetensors -o model.fpk --tensors '*.weight'\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"axis", required_argument, NULL, CLI_OPT_AXIS},
                                        {"report", no_argument, NULL, CLI_OPT_REPORT},
                                        FILE_LONG,
                                        CLI_ROUNDING_LONG,
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    const char *spec, *output;
    char text[CLI_SPEC_SIZE];
    fpemu_format format;
    fpemu_rounding rounding;
    int axis;
    bool report;
    file in;
    container_entry *entry; /* of each tensor */
    fpemu_stats *stats;
} job;

static bool needs_binary64(const job *j, const tensor *t)
{
    return t->type->format == FPEMU_BINARY64 || !fpemu_fits_f32(&j->format);
}

static const char *name_of(const tensor *t)
{
    return t->name[0] != '\0' ? t->name : "the array";
}

static fpemu_shape shape_of(const job *j, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    fpemu_shape shape = fpemu_vector(1);
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
    if (j->in.model.kind == MODEL_SAFETENSORS) {
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

static void plan(job *j)
{
    const model *m = &j->in.model;
    if (m->endless) {
        cli_fail("%s: how much raw data a pipe brings has to be known before", j->in.path);
    }
    j->entry = cli_allocate(m->count, sizeof *j->entry);
    j->stats = cli_allocate(m->count, sizeof *j->stats);
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        container_entry *to = &j->entry[i];
        if (t->fortran_order && t->dimensions > 1) {
            cli_fail("%s: %s is in Fortran order, for which a file of packed tensors has no word", j->in.path,
                     name_of(t));
        }
        *to = (container_entry){.dtype = t->type != NULL ? t->type->name : other_type(j, t), .bytes = t->bytes};
        if (j->in.chosen[i]) {
            along_of(&j->in, i, &j->format, j->axis);
            to->spec = j->text;
            to->axis = t->dimensions == 0 ? 0 : j->axis < 0 ? j->axis + (int)t->dimensions : j->axis;
            to->axis = j->format.scaling == FPEMU_SCALING_NONE && t->dimensions > 0 ? (int)t->dimensions - 1 : to->axis;
            const fpemu_shape shape = shape_of(j, i);
            fpemu_layout layout;
            cli_check(fpemu_packed_layout(&j->format, &shape, &layout), j->spec);
            to->bytes = layout.bytes;
        }
    }
}

/* -------------------------------------------------------------------------------------------------- packing */

static void *pack_tensor(job *j, size_t i)
{
    const tensor *t = &j->in.model.tensor[i];
    const bool binary64 = needs_binary64(j, t);
    const fpemu_shape shape = shape_of(j, i);
    if (j->entry[i].bytes > SIZE_MAX) {
        cli_fail("out of memory");
    }
    void *bytes = cli_allocate((size_t)j->entry[i].bytes, 1);
    fpemu_stats *stats = j->report ? &j->stats[i] : NULL;
    fpemu_rounding rounding = j->rounding;
    rounding.stream += i;
    j->stats[i].want = FPEMU_SUMS;
    walk w = walk_begin(&j->in, i, !binary64, binary64, t->count);
    while (walk_next(&w)) {
        cli_check(binary64 ? fpemu_pack_f64(&j->format, &rounding, &shape, w.x64, bytes, stats)
                           : fpemu_pack_f32(&j->format, &rounding, &shape, w.x32, bytes, stats),
                  j->spec);
    }
    walk_end(&w);
    return bytes;
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

static void pack_file(job *j)
{
    const model *m = &j->in.model;
    size_t size;
    unsigned char *header = container_print(m, j->entry, &size);
    if (header == NULL) {
        cli_fail("out of memory");
    }
    output out = output_open(j->output);
    progress bar = progress_start("pack", j->in.chosen_elements);
    output_write(&out, header, size);
    free(header);
    for (size_t i = 0; i < m->count; i++) {
        const uint64_t bytes = j->entry[i].bytes;
        unsigned char tail[CONTAINER_TAIL_SIZE];
        uint32_t crc;
        if (j->in.chosen[i]) {
            void *packed = pack_tensor(j, i);
            crc = container_crc(0, packed, (size_t)bytes);
            output_write(&out, packed, (size_t)bytes);
            free(packed);
            progress_advance(&bar, m->tensor[i].count);
        } else {
            crc = copy_tensor(j, &out, i);
        }
        output_write(&out, tail, container_tail(tail, crc, bytes, i + 1 == m->count));
    }
    progress_hide();
    output_commit(&out);
}

static void print_report(const job *j)
{
    const int width = report_name_width(&j->in);
    fpemu_stats total = {.want = FPEMU_SUMS};
    uint64_t bytes = 0, elements = 0;
    report_heading(width, "tensor", "bits");
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        if (j->in.chosen[i]) {
            char name[FILE_NAME_SIZE], bits[16];
            snprintf(bits, sizeof bits, "%.4g", t->count > 0 ? 8 * (double)j->entry[i].bytes / (double)t->count : 0.0);
            report_row(width, file_name_text(name, t), bits, &j->stats[i], REPORT_NO_ERROR, false);
            cli_check(fpemu_stats_merge(&total, &j->stats[i]), j->spec);
            bytes += j->entry[i].bytes;
            elements += t->count;
        }
    }
    char bits[16];
    snprintf(bits, sizeof bits, "%.4g", elements > 0 ? 8 * (double)bytes / (double)elements : 0.0);
    report_row(width, "total", bits, &total, REPORT_NO_ERROR, false);
}

int cmd_pack(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    cli_rounding asked = {0};
    file_options files = {0};
    job j = {.axis = -1};
    bool has_axis = false;
    for (int option; (option = cli_next(&c, "o:" CLI_ROUNDING_SHORT, options)) != -1;) {
        if (option == 'o') {
            j.output = output_path(optarg);
        } else if (option == CLI_OPT_AXIS) {
            j.axis = along_axis(optarg);
            has_axis = true;
        } else if (option == CLI_OPT_REPORT) {
            j.report = true;
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
    cli_spec(&j.format, j.text);
    j.rounding = cli_rounding_get(&asked);
    if (has_axis && j.format.scaling == FPEMU_SCALING_NONE) {
        cli_usage("--axis is for formats with blocks, %s has none", j.spec);
    }
    j.in = file_open(c.operand[1], &files);
    if (model_kind_of_name(j.output) != MODEL_DETECT && model_kind_of_name(j.output) != MODEL_CONTAINER) {
        cli_usage("-o: '%s' is named as another kind than a file of packed tensors", j.output);
    }
    plan(&j);
    pack_file(&j);
    if (j.report) {
        print_report(&j);
    }
    file_close(&j.in);
    free(j.entry);
    free(j.stats);
    return CLI_OK;
}
