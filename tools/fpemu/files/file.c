/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c - see file.h */
#include "files/file.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/options.h"
#include "common/shown.h"
#include "files/layout.h"
#include "files/output.h"
#include "files/scratch.h"
#include "files/shards.h"

/* ------------------------------------------------------------------------------------------------- options */

static void add_pattern(const char ***patterns, size_t *count, const char *pattern)
{
    const char **grown = realloc(*patterns, (*count + 1) * sizeof *grown);
    if (grown == NULL)
        cli_fail("out of memory");
    grown[(*count)++] = pattern;
    *patterns = grown;
}

bool file_take(file_options *options, int option, const char *argument)
{
    switch (option) {
    case CLI_OPT_RAW:
        if (strcmp(argument, "f32") != 0 && strcmp(argument, "f64") != 0)
            cli_usage("--raw: '%s' is neither f32 nor f64", argument);
        options->raw.type = dtype_named(argument);
        return true;
    case CLI_OPT_BYTE_ORDER:
        if (strcmp(argument, "little") != 0 && strcmp(argument, "big") != 0)
            cli_usage("--byte-order: '%s' is neither little nor big", argument);
        options->raw.big_endian = argument[0] == 'b';
        options->has_byte_order = true;
        return true;
    case CLI_OPT_TENSORS: add_pattern(&options->wanted, &options->wanted_count, argument); return true;
    case CLI_OPT_MIN_DIMS:
        options->least_dimensions = (unsigned)cli_option_u64("--min-dims", argument, 0, MODEL_MOST_DIMENSIONS);
        return true;
    case CLI_OPT_AS_NUMBERS: options->as_numbers = true; return true;
    case CLI_OPT_EXCLUDE: add_pattern(&options->unwanted, &options->unwanted_count, argument); return true;
    default: return false;
    }
}

const dtype *file_dtype(const char *argument)
{
    const dtype *type = dtype_named(argument);
    if (type == NULL) {
        char known[256] = "";
        for (unsigned i = 0; dtype_at(i) != NULL; i++)
            strcat(strcat(known, " "), dtype_at(i)->name);
        cli_usage("--dtype: '%s' is none of:%s", argument, known);
    }
    return type;
}

void file_check(const file_options *options)
{
    if (options->has_byte_order && options->raw.type == NULL)
        cli_usage("--byte-order is for --raw: other files say their own");
}

/* ------------------------------------------------------------------------------------------------- opening */

static bool matches(const char *name, const char **patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

/* The fewest letters that would have to be added, left out or changed for the pattern to match; `*` takes any text, and
 * other marks stand for themselves. */
static size_t distance(const char *pattern, const char *name)
{
    enum { MOST = 256 };
    size_t row[MOST + 1];
    const size_t length = strlen(name) < MOST ? strlen(name) : MOST;
    for (size_t k = 0; k <= length; k++)
        row[k] = k;
    for (const char *p = pattern; *p != '\0'; p++) {
        size_t before = row[0];
        row[0] += *p != '*';
        for (size_t k = 1; k <= length; k++) {
            const size_t above = row[k], changed = before + (*p != '?' && *p != name[k - 1]);
            const size_t shorter = row[k - 1] + (*p != '*'), longer = above + (*p != '*');
            row[k] = shorter < longer ? shorter : longer;
            row[k] = *p != '*' && changed < row[k] ? changed : row[k];
            before = above;
        }
    }
    return row[length];
}

void file_refuse_pattern(const file *f, const char *option, const char *pattern)
{
    enum { MOST = 4096 }; /* names that are looked at: a hint is worth no minute */
    size_t least = strlen(pattern) / 2, nearest = f->model.count;
    for (size_t i = 0; i < f->model.count && i < MOST; i++) {
        const size_t here = distance(pattern, f->model.tensor[i].name);
        if (here < least) {
            least = here;
            nearest = i;
        }
    }
    if (nearest == f->model.count)
        cli_fail("%s: %s: no tensor has a name like '%s'", f->path, option, pattern);
    cli_fail("%s: %s: no tensor has a name like '%s'; near it is '%s'", f->path, option, pattern,
             f->model.tensor[nearest].name);
}

/* A pattern without a tensor is likely a slip of the pen. */
static void check_patterns(const file *f, const char *option, const char **patterns, size_t count)
{
    for (size_t p = 0; p < count; p++) {
        size_t i = 0;
        while (i < f->model.count && fnmatch(patterns[p], f->model.tensor[i].name, 0) != 0)
            i++;
        if (i == f->model.count)
            file_refuse_pattern(f, option, patterns[p]);
    }
}

static void choose(file *f, const file_options *options)
{
    if (file_is_array(f) && options->wanted_count + options->unwanted_count > 0)
        cli_fail("%s: --tensors and --exclude are for files of several tensors", f->path);
    check_patterns(f, "--tensors", options->wanted, options->wanted_count);
    check_patterns(f, "--exclude", options->unwanted, options->unwanted_count);
    f->asked = cli_allocate(f->model.count, sizeof *f->asked);
    f->chosen = cli_allocate(f->model.count, sizeof *f->chosen);
    for (size_t i = 0; i < f->model.count; i++) {
        const tensor *t = &f->model.tensor[i];
        f->asked[i] = t->dimensions >= options->least_dimensions &&
                      (options->wanted_count == 0 || matches(t->name, options->wanted, options->wanted_count)) &&
                      !matches(t->name, options->unwanted, options->unwanted_count);
        f->chosen[i] = f->asked[i] && t->type != NULL;
        f->chosen_count += f->chosen[i];
        f->chosen_elements += f->chosen[i] ? t->count : 0;
        f->elements += t->count;
    }
}

/* What is still codes once the layouts that are read are numbers; packed tensors are numbers. */
static void find_codes(file *f)
{
    const model *m = &f->model;
    coded_tensor *t = cli_allocate(m->count, sizeof *t);
    for (size_t i = 0; i < m->count; i++) {
        const tensor *own = &m->tensor[i];
        const bool numbers = own->stored.software != NULL || m->kind == MODEL_CONTAINER;
        t[i] = (coded_tensor){own->name, numbers                 ? "F32"
                                         : own->stored.parts > 0 ? own->stored.part[0].type_text
                                                                 : model_type_text(own)};
    }
    f->pair = coded_find(m->count, t);
    if (f->pair == NULL)
        cli_fail("out of memory");
    free(t);
}

static void finish_opening(file *f, file_options *options)
{
    choose(f, options);
    find_codes(f);
    f->as_numbers = options->as_numbers;
    free(options->wanted);
    free(options->unwanted);
}

/* A directory, or an index of files. */
static file open_shards(file f, file_options *options)
{
    if (!shards_open(&f.model, f.path))
        cli_fail("%s: %s", f.path, f.model.error);
    if (f.model.kind == MODEL_CONTAINER && options->kind != MODEL_PACKED)
        cli_fail("%s: a directory of packed tensors: 'fpemu unpack' makes it a readable one", f.path);
    finish_opening(&f, options);
    return f;
}

file file_open(const char *path, file_options *options)
{
    const bool standard = strcmp(path, "-") == 0;
    file f = {.path = standard ? "standard input" : path};
    if (*path == '\0')
        cli_usage("the name of the input is empty");
    if (!standard && options->raw.type == NULL && (options->kind == MODEL_DETECT || options->kind == MODEL_PACKED) &&
        shards_named(path)) {
        return open_shards(f, options);
    }
    FILE *stream = standard ? stdin : fopen(path, "rb");
    if (stream == NULL)
        cli_fail("%s: %s", path, strerror(errno));
    const model_kind kind = options->raw.type != NULL ? MODEL_RAW : options->kind;
    if (!reader_open(&f.model, stream, kind, standard ? NULL : path, &options->raw))
        cli_fail("%s: %s", f.path, f.model.error);
    finish_opening(&f, options);
    return f;
}

void file_expect_tensors(file *f)
{
    char text[400] = "";
    size_t used = 0, i = 0;
    if (f->chosen_count > 0)
        return;
    if (!f->as_numbers)
        file_expect_numbers(f);
    for (; i < f->model.count && used < sizeof text / 2; i++) {
        const tensor *t = &f->model.tensor[i];
        char text_of_name[FILE_NAME_SIZE];
        const char *name = t->name[0] != '\0' ? file_name_text(text_of_name, t) : "an array";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.80s (%s)", i > 0 ? ", " : "", name,
                                 t->type != NULL ? t->type->name : t->type_text);
    }
    if (f->model.count == 0)
        cli_fail("%s: the file holds no tensors", f->path);
    cli_fail("%s: no tensor of a floating-point type is left to take; there %s %s%s", f->path,
             f->model.count == 1 ? "is" : "are", text, i < f->model.count ? ", ..." : "");
}

void file_expect_numbers(file *f)
{
    const tensor *t = f->model.tensor;
    size_t count = 0, first = 0;
    for (size_t i = f->model.count; i-- > 0;) {
        if (f->asked[i] && f->pair[i].codes != f->pair[i].scales) {
            count++;
            first = i;
        }
    }
    if (count == 0)
        return;
    const tensor *codes = &t[f->pair[first].codes], *scales = &t[f->pair[f->pair[first].codes].scales];
    if (f->as_numbers) {
        cli_warn("%s: '%.100s' and '%.100s', codes and their scales, are taken as numbers; %zu tensors are such",
                 f->path, codes->name, scales->name, count);
        return;
    }
    char shape[2][FILE_SHAPE_SIZE], nearest[LAYOUT_NEAREST_SIZE];
    cli_fail("%s: '%.100s' (%s %s) are codes with scales in '%.100s' (%s %s), a layout that is not read; %s; %zu "
             "tensors are such: --as-numbers takes them as numbers",
             f->path, codes->name, model_type_text(codes), file_shape_text(shape[0], codes), scales->name,
             model_type_text(scales), file_shape_text(shape[1], scales), layout_nearest(&f->model, codes, nearest),
             count);
}

void file_close(file *f)
{
    reader_close(&f->model);
    free(f->asked);
    free(f->pair);
    free(f->chosen);
}

bool file_is_array(const file *f)
{
    const model *m = &f->model;
    return m->kind == MODEL_RAW || m->kind == MODEL_NPY ||
           (m->kind == MODEL_CONTAINER && m->parts == 0 && m->count == 1 && m->tensor[0].name[0] == '\0');
}

bool file_names_one(const char *output)
{
    return model_kind_of_name(output) != MODEL_DETECT || strcmp(output, "-") == 0;
}

void file_check_directory(const file *f, const char *output)
{
    if (f->model.parts > 0 && file_names_one(output))
        cli_usage("-o: '%s': the input is a directory of files, and so is the output", output);
}

void file_check_output(const file *f, const char *output)
{
    const model_kind kind = model_kind_of_name(output);
    file_check_directory(f, output);
    if (kind != MODEL_DETECT && f->model.kind != MODEL_RAW && kind != model_kind_written(f->model.kind)) {
        if (f->model.kind == MODEL_GGUF)
            cli_usage("-o: '%s': what is read from GGUF is written as safetensors", output);
        cli_usage("-o: '%s' is named as another kind than the input, which is %s", output,
                  model_kind_name(f->model.kind));
    }
}

void file_refuse_output(const file *f, const char *option, const char *path)
{
    const model *m = &f->model;
    output_refuse_same(option, path, "the input", m->file == stdin ? "/dev/stdin" : f->path);
    for (size_t k = 0; k < m->parts; k++)
        output_refuse_same(option, path, "a file of the input", m->part[k].path);
    output_refuse_same(option, path, "the index of the input", m->index_path);
}

/* ------------------------------------------------------------------------------------------------- reading */

_Noreturn static void fail_at(const file *f, size_t i)
{
    if (file_is_array(f))
        cli_fail("%s: %s", f->path, f->model.error);
    cli_fail("%s: tensor '%s': %s", f->path, f->model.tensor[i].name, f->model.error);
}

void file_begin(file *f, size_t i)
{
    if (!reader_begin(&f->model, &f->model.tensor[i]))
        fail_at(f, i);
}

size_t file_read(file *f, size_t i, void *bytes, size_t size)
{
    size_t got;
    if (!reader_read(&f->model, &f->model.tensor[i], bytes, size, &got))
        fail_at(f, i);
    return got;
}

uint64_t file_elements(const file *f, size_t i, uint64_t bytes)
{
    const tensor *t = &f->model.tensor[i];
    return bytes < t->bytes ? (uint64_t)((double)t->count * ((double)bytes / (double)t->bytes)) : t->count;
}

void file_read_at(file *f, size_t i, uint64_t from, void *bytes, size_t size)
{
    if (!reader_read_at(&f->model, &f->model.tensor[i], from, bytes, size))
        fail_at(f, i);
}

FILE *file_copy(file *f, size_t i)
{
    unsigned char bytes[1 << 16];
    FILE *copy = scratch_open();
    uint64_t place = 0;
    file_begin(f, i);
    for (size_t size; (size = file_read(f, i, bytes, sizeof bytes)) > 0; place += size)
        scratch_write_at(copy, place, bytes, size);
    return copy;
}

void file_keep(file *f)
{
    FILE *copy = file_copy(f, 0);
    if (f->model.file != stdin)
        fclose(f->model.file);
    f->model.file = copy;
    f->model.tensor[0].place = 0;
    f->model.walkable = true;
}

walk walk_begin(file *f, size_t i, bool want32, bool want64, uint64_t unit, uint64_t period)
{
    const tensor *t = &f->model.tensor[i];
    const uint64_t least = period <= FILE_PIECE ? period : unit > 0 ? unit : 1;
    uint64_t room = least < FILE_PIECE ? FILE_PIECE / least * least : least;
    walk w = {.file = f, .i = i, .period = period > room ? period : UINT64_MAX};
    if (!f->model.endless && room > t->count)
        room = t->count > 0 ? t->count : 1;
    if (room > SIZE_MAX / sizeof(double))
        cli_fail("out of memory");
    w.room = (size_t)room;
    w.bytes = cli_allocate(w.room, t->type->size);
    w.x32 = want32 ? cli_allocate(w.room, sizeof *w.x32) : NULL;
    w.x64 = want64 ? cli_allocate(w.room, sizeof *w.x64) : NULL;
    file_begin(f, i);
    return w;
}

bool walk_next(walk *w)
{
    const tensor *t = &w->file->model.tensor[w->i];
    w->index += w->count;
    const uint64_t left = w->period - w->index % w->period; /* of the period */
    const size_t wanted = left < w->room ? (size_t)left : w->room;
    w->count = file_read(w->file, w->i, w->bytes, wanted * t->type->size) / t->type->size;
    if (w->x32 != NULL)
        dtype_load(t->type, t->big_endian, w->count, w->bytes, false, w->x32);
    if (w->x64 != NULL && w->x32 == NULL)
        dtype_load(t->type, t->big_endian, w->count, w->bytes, true, w->x64);
    for (size_t i = 0; w->x64 != NULL && w->x32 != NULL && i < w->count; i++)
        w->x64[i] = (double)w->x32[i];
    return w->count > 0;
}

void walk_end(walk *w)
{
    free(w->bytes);
    free(w->x32);
    free(w->x64);
}

/* ------------------------------------------------------------------------------------------------- as text */

const char *file_shape_text(char text[FILE_SHAPE_SIZE], const tensor *t)
{
    size_t used = 0;
    snprintf(text, FILE_SHAPE_SIZE, "scalar");
    for (unsigned i = 0; i < t->dimensions && used < FILE_SHAPE_SIZE; i++)
        used += (size_t)snprintf(text + used, FILE_SHAPE_SIZE - used, "%s%" PRIu64, i > 0 ? "x" : "", t->extent[i]);
    return text;
}

const char *file_name_text(char text[FILE_NAME_SIZE], const tensor *t)
{
    snprintf(text, FILE_NAME_SIZE, "%s", t->name);
    shown_controls(text);
    return text;
}

const char *file_type_text(char text[MODEL_TYPE_SIZE], const char *type)
{
    snprintf(text, MODEL_TYPE_SIZE, "%s", type);
    shown_controls(text);
    return text;
}
