/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack.c - fpemu unpack: packed tensors as numbers again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands/commands.h"
#include "files/container.h"
#include "files/layout.h"
#include "files/writer.h"
#include "reports/jsonout.h"
#include "reports/report.h"

static const char help[] =
    "Usage: fpemu unpack IN -o OUT [--dtype TYPE] [--as-numbers] [--force]\n"
    "       fpemu unpack IN --list [--json]\n"
    "Writes the values of packed tensors, as 'fpemu quantize' would have given them: a .npy file of\n"
    "one array without a name, else a .safetensors file. What was not packed is copied. IN may also\n"
    "be a GGUF file, or a safetensors file in the layout of other software (files.md), whose blocks\n"
    "become F32; or a directory of files, or its index, which becomes a directory of safetensors.\n"
    "\n"
    "  -o, --output OUT      the file to write; '-' is standard output\n"
    "      --dtype TYPE      type of the tensors: F32, BF16 and so on (default: as before they were\n"
    "                        packed where that holds every value of the format, else F32)\n"
    "      --force           write into a directory that is there and not empty\n" FILE_AS_NUMBERS_HELP
    "      --list            print what the file holds instead\n"
    "      --json            the list as JSON\n"
    "\n"
    "Example: fpemu unpack model.fpk -o model.safetensors\n";

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"dtype", required_argument, NULL, CLI_OPT_DTYPE},
                                        {"force", no_argument, NULL, CLI_OPT_FORCE},
                                        FILE_AS_NUMBERS_LONG,
                                        {"list", no_argument, NULL, CLI_OPT_LIST},
                                        {"json", no_argument, NULL, CLI_OPT_JSON},
                                        CLI_HELP_LONG,
                                        {0}};

typedef struct job {
    file in;
    const dtype **type; /* of each tensor in OUT; NULL: copied */
    size_t i;           /* the tensor that is being written */
    void *bytes;        /* its values */
    bool given, force;
    walk walk; /* over blocks that are read as F32 */
    progress bar;
} job;

/* ------------------------------------------------------------------------------------------------- unpacking */

/* As before the tensor was packed, where that holds every value and OUT can say it. */
static const dtype *type_of(const job *j, const tensor *t, const fpemu_format *format)
{
    if (dtype_holds(t->type, format) && (t->type->code != NULL || !file_is_array(&j->in)))
        return t->type;
    return dtype_named(dtype_needs_binary64(t->type, format) ? "F64" : "F32");
}

/* What is copied keeps its type. */
static void check_copied_array(const job *j, const tensor *t)
{
    if (t->spec == NULL && (t->type == NULL || t->type->code == NULL)) {
        char type[MODEL_TYPE_SIZE];
        cli_fail("%s: an array without a name that is not packed: no .npy file is written of type %s", j->in.path,
                 file_type_text(type, t->type_text));
    }
}

static void choose_types(job *j, const dtype *asked)
{
    const model *m = &j->in.model;
    j->type = cli_allocate(m->count, sizeof *j->type);
    for (size_t i = 0; i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        fpemu_format format;
        fpemu_shape shape;
        if (t->stored.name != NULL)
            j->type[i] = asked != NULL ? asked : t->type;
        else if (t->spec != NULL && container_format(t, &format, &shape))
            j->type[i] = asked != NULL ? asked : type_of(j, t, &format);
    }
}

static void store(const job *j, size_t i, size_t count, const void *y, bool binary64)
{
    const tensor *t = &j->in.model.tensor[i];
    if (!dtype_store(j->type[i], false, count, y, binary64, j->bytes)) {
        cli_fail("%s: %s: %s does not hold every value of %s; --dtype F32 does", j->in.path,
                 t->name[0] != '\0' ? t->name : "the array", j->type[i]->name,
                 t->spec != NULL ? t->spec : t->stored.name);
    }
}

static void begin_tensor(void *state, size_t i)
{
    job *j = state;
    tensor *t = &j->in.model.tensor[i];
    const dtype *type = j->type[i];
    fpemu_format format;
    fpemu_shape shape;
    j->i = i;
    if (t->stored.name != NULL) {
        j->walk = walk_begin(&j->in, i, true, false, 1, UINT64_MAX);
        j->bytes = cli_allocate(j->walk.room, type->size);
        return;
    }
    if (t->bytes > SIZE_MAX || t->count > SIZE_MAX)
        cli_fail("out of memory");
    unsigned char *packed = cli_allocate((size_t)t->bytes, 1);
    file_begin(&j->in, i);
    size_t got = 0;
    do {
        got += file_read(&j->in, i, packed + got, (size_t)t->bytes - got + 1);
    } while (got < t->bytes);

    container_format(t, &format, &shape);
    const bool binary64 = dtype_needs_binary64(t->type, &format);
    void *y = cli_allocate((size_t)t->count, binary64 ? sizeof(double) : sizeof(float));
    cli_check(binary64 ? fpemu_unpack_f64(&format, &shape, packed, y) : fpemu_unpack_f32(&format, &shape, packed, y),
              t->spec);
    free(packed);
    j->given = false;
    j->bytes = cli_allocate((size_t)t->count, type->size);
    store(j, i, (size_t)t->count, y, binary64);
    free(y);
}

static size_t next_blocks(job *j, const void **bytes)
{
    if (!walk_next(&j->walk)) {
        walk_end(&j->walk);
        free(j->bytes);
        return 0;
    }
    store(j, j->i, j->walk.count, j->walk.x32, false);
    progress_advance(&j->bar, j->walk.count);
    *bytes = j->bytes;
    return j->walk.count * j->type[j->i]->size;
}

/* What was packed all at once. */
static size_t next_piece(void *state, const void **bytes)
{
    job *j = state;
    if (j->in.model.tensor[j->i].stored.name != NULL)
        return next_blocks(j, bytes);
    if (j->given) {
        free(j->bytes);
        return 0;
    }
    j->given = true;
    progress_advance(&j->bar, j->in.model.tensor[j->i].count);
    *bytes = j->bytes;
    const size_t size = (size_t)j->in.model.tensor[j->i].count * j->type[j->i]->size;
    return size > 0 ? size : next_piece(state, bytes);
}

static void unpack_file(job *j, const char *path)
{
    const writer_source source = {j->type, begin_tensor, next_piece, &j->bar, j};
    j->bar = progress_start("unpack", j->in.elements);
    writer_write(path, j->force, &j->in, &source);
    progress_hide();
}

/* --------------------------------------------------------------------------------------------------- listing */

static void print_list(const job *j)
{
    const int width = report_name_width(&j->in);
    printf("%-*s  %-7s  %-14s  %12s  %s\n", width, "tensor", "dtype", "shape", "bytes", "format");
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        char name[FILE_NAME_SIZE], type[MODEL_TYPE_SIZE], shape[FILE_SHAPE_SIZE];
        printf("%-*s  %-7s  %-14s  %12" PRIu64 "  ", width, file_name_text(name, t), file_type_text(type, t->type_text),
               file_shape_text(shape, t), model_bytes(t));
        if (t->stored.name != NULL) {
            printf("%s%s%s\n", t->stored.name, t->stored.software != NULL ? ", as " : "",
                   t->stored.software != NULL ? t->stored.software : "");
        } else if (t->spec != NULL) {
            printf("%s, axis %d\n", t->spec, t->axis);
        } else {
            puts("-");
        }
    }
}

static void print_json(const job *j)
{
    json_t *object = jsonout_object(), *list = jsonout_array();
    for (size_t i = 0; i < j->in.model.count; i++) {
        const tensor *t = &j->in.model.tensor[i];
        json_t *entry = report_json_tensor(t);
        jsonout_set(entry, "bytes", jsonout_count(model_bytes(t)));
        jsonout_set(entry, "spec", jsonout_text(t->spec));
        jsonout_set(entry, "axis", t->spec != NULL ? jsonout_integer(t->axis) : json_null());
        jsonout_append(list, entry);
    }
    jsonout_set(object, "input", jsonout_text(j->in.path));
    jsonout_set(object, "metadata", j->in.model.metadata != NULL ? json_incref(j->in.model.metadata) : json_null());
    jsonout_set(object, "tensors", list);
    jsonout_print(object);
}

static void expect_blocks(file *f)
{
    bool packed = f->model.kind == MODEL_CONTAINER || f->model.kind == MODEL_GGUF;
    for (size_t i = 0; i < f->model.count; i++)
        packed |= f->model.tensor[i].stored.name != NULL;
    if (!packed && !f->as_numbers)
        file_expect_numbers(f);
    if (!packed) {
        cli_fail("%s: no file of packed tensors: it is %s, and 'fpemu quantize' reads it", f->path,
                 model_kind_name(f->model.kind));
    }
}

int cmd_unpack(int argc, char **argv)
{
    cli c = cli_start(argc, argv, help);
    file_options files = {.kind = MODEL_PACKED};
    const char *path = NULL;
    const dtype *asked = NULL;
    bool list = false, json = false;
    job j = {0};
    for (int option; (option = cli_next(&c, "o:", options)) != -1;)
        if (option == 'o')
            path = output_path(optarg);
        else if (option == CLI_OPT_DTYPE)
            asked = file_dtype(optarg);
        else if (option == CLI_OPT_AS_NUMBERS)
            files.as_numbers = true;
        else if (option == CLI_OPT_FORCE)
            j.force = true;
        else if (option == CLI_OPT_LIST)
            list = true;
        else
            json = true;
    cli_expect_operands(&c, 1, 1, "IN -o OUT");
    if (list == (path != NULL) || (list && (asked != NULL || j.force || files.as_numbers)) || (json && !list)) {
        cli_usage("unpack: either -o OUT, with or without --dtype, --as-numbers and --force, or --list, with or "
                  "without --json");
    }
    j.in = file_open(c.operand[0], &files);
    expect_blocks(&j.in);
    if (list && json) {
        print_json(&j);
    } else if (list) {
        print_list(&j);
    } else {
        file_expect_numbers(&j.in);
        file_check_directory(&j.in, path);
        const model_kind named = model_kind_of_name(path), kind = file_is_array(&j.in) ? MODEL_NPY : MODEL_SAFETENSORS;
        if (named != MODEL_DETECT && named != kind)
            cli_usage("-o: '%s' is named as another kind than what comes, %s", path, model_kind_name(kind));
        if (asked != NULL && asked->code == NULL && kind == MODEL_NPY)
            cli_usage("--dtype: .npy files have no type %s", asked->name);
        if (kind == MODEL_NPY)
            check_copied_array(&j, &j.in.model.tensor[0]);
        choose_types(&j, asked);
        unpack_file(&j, path);
    }
    file_close(&j.in);
    free(j.type);
    return CLI_OK;
}
