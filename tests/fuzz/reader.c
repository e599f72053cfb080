/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.c - see reader.h */
#include "reader.h"
#include "input.h"

#include <unistd.h>

#include "files/container.h"
#include "files/number_table.h"
#include "files/reader.h"
#include "files/safetensors.h"
#include "files/shards.h"
#include "plans/plan.h"

static const struct {
    const char *name;
    model_kind kind;
} kinds[] =
    LIST({"npy", MODEL_NPY}, {"npz", MODEL_NPZ}, {"safetensors", MODEL_SAFETENSORS}, {"gguf", MODEL_GGUF},
         {"container", MODEL_CONTAINER}, {"index", MODEL_DETECT}, {"plan", MODEL_DETECT}, {"table", MODEL_DETECT});
enum { KINDS = sizeof kinds / sizeof *kinds };

char reader_reason[256];
const char *const reader_corpus = "reader";

const char *reader_kind(unsigned i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

/* The same bytes again, from the middle of the data. */
static void read_again(model *m, const tensor *t, uint64_t from, const void *bytes, size_t size)
{
    static unsigned char again[4096];
    insist(size <= sizeof again && reader_read_at(m, t, from, again, size) && memcmp(again, bytes, size) == 0,
           "other bytes when read again");
    insist(!reader_read_at(m, t, t->bytes, again, 1), "a byte past the end");
}

/* Every byte of the data, converted to both carriers where they are numbers. */
static bool read_data(model *m, tensor *t)
{
    enum { PIECE = 512, MOST = 1 << 20 };
    static double buffer[PIECE], wide[8 * PIECE];
    static float narrow[8 * PIECE];
    uint64_t total = 0;
    if (!reader_begin(m, t))
        return false;
    for (size_t got = 1; got > 0 && total < MOST; total += got) {
        if (!reader_read(m, t, buffer, sizeof buffer, &got))
            return false;
        insist(got <= sizeof buffer && total + got <= t->bytes, "more data than the tensor has");
        if (got > 0 && reader_random_access(m))
            read_again(m, t, total, buffer, got);
        if (t->type != NULL && t->spec == NULL) {
            const size_t n = got / t->type->size;
            dtype_load(t->type, t->big_endian, n, buffer, true, wide);
            if (t->type->size < 8)
                dtype_load(t->type, false, n, buffer, false, narrow);
        }
    }
    insist(total >= MOST || total == t->bytes, "less data than the tensor has, and no error");
    return true;
}

/* Whatever the bits are, they can be unpacked: what the reader let through has a format and a size that fit. */
static bool unpack_data(model *m, tensor *t)
{
    fpemu_format format;
    fpemu_shape shape;
    size_t got = 0;
    insist(container_format(t, &format, &shape), "no format or no shape");
    insist(fpemu_packed_size(&format, &shape) == t->bytes, "another size");
    if (t->bytes > 1 << 16 || t->count > 1 << 20)
        return true;
    unsigned char *bytes = malloc((size_t)t->bytes + 1);
    double *y = calloc((size_t)t->count + 1, sizeof *y);
    insist(bytes != NULL && y != NULL, "out of memory");
    const bool good = reader_begin(m, t) && reader_read(m, t, bytes, (size_t)t->bytes + 1, &got);
    if (good) {
        insist(got == t->bytes, "less data than the tensor has, and no error");
        insist(fpemu_unpack_f64(&format, &shape, bytes, y) == FPEMU_OK || !fpemu_format_fits_f64(&format),
               "not unpacked");
        insist(fpemu_unpack_f32(&format, &shape, bytes, (float *)y) == FPEMU_OK || !fpemu_format_fits_f32(&format),
               "not unpacked");
    }
    FREE(bytes, y);
    return good;
}

/* Whether the tensors can stand in safetensors as they lie in the file. */
static bool are_safetensors(const model *m)
{
    bool good = (m->kind == MODEL_SAFETENSORS || m->kind == MODEL_GGUF || m->kind == MODEL_CONTAINER) &&
                safetensors_takes_names(m);
    for (size_t i = 0; i < m->count; i++)
        good = good && m->tensor[i].spec == NULL;
    return good;
}

/* What a reader lets through can be printed, and reads back the same. */
static void check_print(const model *m)
{
    const dtype **types = calloc(m->count + 1, sizeof *types);
    size_t size = 0;
    insist(types != NULL, "out of memory");
    unsigned char *header = safetensors_print(m, 0, m->count, m->metadata, types, &size);
    insist(header != NULL && size % 8 == 0, "the header cannot be printed");
    uint64_t data = 0;
    for (size_t i = 0; i < m->count; i++)
        data += m->tensor[i].bytes;
    if (data < 1 << 16) {
        FILE *file = tmpfile();
        model again;
        insist(file != NULL && fwrite(header, 1, size, file) == size, "tmpfile");
        for (uint64_t i = 0; i < data; i++)
            putc(0, file);
        again = (model){.kind = MODEL_SAFETENSORS, .file = file, .walkable = true};
        insist(safetensors_open(&again), again.error); /* and no tensors joined, as layouts have them */
        insist(again.count == m->count, "another number of tensors");
        for (size_t i = 0; i < m->count; i++) {
            const tensor *a = &m->tensor[i], *b = &again.tensor[i];
            insist(strcmp(a->name, b->name) == 0 && a->type == b->type && a->bytes == b->bytes &&
                       a->dimensions == b->dimensions &&
                       memcmp(a->extent, b->extent, a->dimensions * sizeof *a->extent) == 0,
                   "another tensor");
        }
        reader_close(&again);
    }
    FREE(header, types);
}

/* ------------------------------------------------------------------------------------- an index, beside two files */

static char directory[] = P_tmpdir "/fpemu-index-XXXXXX";
static const char *const beside[] = {"a.safetensors", "b.safetensors", "index.json"};
enum { BESIDE = sizeof beside / sizeof *beside };

static const char *path_of(const char *name)
{
    static char path[sizeof directory + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_beside(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    insist(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "a file beside the index");
}

static void remove_directory(void)
{
    for (int i = 0; i < BESIDE; i++)
        unlink(path_of(beside[i]));
    rmdir(directory);
}

/* The tensors x and y in a, z in b. */
static void make_directory(void)
{
    static const char a[] = "\x70\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                            "\"y\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[2,4]}}     abcd";
    static const char b[] = "\x38\0\0\0\0\0\0\0{\"z\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  abcd";
    insist(mkdtemp(directory) != NULL, "mkdtemp");
    atexit(remove_directory);
    write_beside(beside[0], a, sizeof a - 1);
    write_beside(beside[1], b, sizeof b - 1);
}

static bool open_index(model *m, const uint8_t *bytes, size_t size)
{
    static bool made;
    if (!made) {
        make_directory();
        made = true;
    }
    write_beside(beside[2], bytes, size);
    if (!shards_open(m, path_of(beside[2])))
        return false;
    insist(m->count <= 3, "more tensors than there are");
    char *index = shards_print_index(m, m->kind, 0, NULL);
    json_t *printed = index != NULL ? json_loads(index, 0, NULL) : NULL;
    insist(json_equal(json_object_get(printed, "weight_map"), json_object_get(m->index, "weight_map")),
           "another index when printed");
    json_decref(printed);
    free(index);
    return true;
}

static bool parse(plan *p, const void *bytes, size_t size, trouble *why)
{
    FILE *file = input_open(MODEL_RAW, bytes, size);
    const bool good = plan_parse(p, file, "file", why);
    fclose(file);
    return good;
}

/* What a plan says of every tensor; printed, it is read again and is the same. */
static int run_plan(const uint8_t *bytes, size_t size)
{
    plan p, printed;
    trouble why = {""};
    const bool good = parse(&p, bytes, size, &why);
    insist(good || why.text[0] != '\0', "refused without a reason");
    snprintf(reader_reason, sizeof reader_reason, "%.255s", good ? "" : why.text);
    if (!good)
        return 0;
    insist(plan_count(&p) > 0 && p.axis >= -64 && p.axis <= 64 && (p.has_axis || p.axis == 0),
           "no tensors, or an axis");
    uint64_t extents[] = {2, 3};
    const tensor none = {.name = "none"}, two = {.name = "two", .dimensions = 2, .extent = extents};
    char *text = json_dumps(p.root, JSON_INDENT(1));
    insist(text != NULL, "not printed");
    insist(parse(&printed, text, strlen(text), &why) && plan_count(&printed) == plan_count(&p), why.text);
    for (size_t i = 0; i < plan_count(&p); i++) {
        insist(strlen(plan_format(&p, i)) < 256, "a format too long");
        insist(strcmp(plan_name(&p, i), plan_name(&printed, i)) == 0, "another name");
        insist(strcmp(plan_format(&p, i), plan_format(&printed, i)) == 0, "another format");
        insist(plan_has_shape(&p, i, &two) == plan_has_shape(&printed, i, &two), "another shape");
        insist(plan_has_shape(&p, i, &none) == plan_has_shape(&printed, i, &none), "another shape");
    }
    free(text);
    plan_free(&printed);
    plan_free(&p);
    return 1;
}

/* How many words there are outside of comments. */
static uint32_t words_of(const uint8_t *bytes, size_t size)
{
    uint32_t count = 0;
    bool comment = false, word = false;
    for (size_t i = 0; i < size; i++) {
        comment = bytes[i] != '\n' && (comment || bytes[i] == '#');
        const bool in_word = !comment && memchr(" \t\n\v\f\r", bytes[i], 6) == NULL;
        count += in_word && !word;
        word = in_word;
    }
    return count;
}

/* What came of the numbers of a table ascends, and printed it is read again and is the same; the text has as many words.
 */
static int run_table(const uint8_t *bytes, size_t size)
{
    enum { MOST = 1000 };
    static float values[MOST], same[MOST];
    static char text[MOST * 32];
    uint32_t n = 0, m = 0;
    trouble why = {""};
    FILE *file = input_open(MODEL_RAW, bytes, size);
    const bool good = number_table_read(file, "file", false, MOST, values, &n, &why);
    fclose(file);
    insist(good || why.text[0] != '\0', "refused without a reason");
    snprintf(reader_reason, sizeof reader_reason, "%.255s", good ? "" : why.text);
    if (!good)
        return 0;
    insist(n >= 2 && n <= MOST && n == words_of(bytes, size), "another number of values");
    size_t length = 0;
    for (uint32_t i = 0; i < n; i++) {
        insist(isfinite(values[i]) && (i == 0 || values[i - 1] < values[i]), "not ascending");
        length += (size_t)snprintf(text + length, sizeof text - length, "%.9g\n", (double)values[i]);
    }
    file = input_open(MODEL_RAW, text, length);
    insist(number_table_read(file, "file", false, MOST, same, &m, &why) && m == n &&
               memcmp(values, same, n * sizeof *values) == 0,
           "another table when printed");
    fclose(file);
    return 1;
}

int reader_run(const char *kind, const uint8_t *bytes, size_t size)
{
    unsigned i = 0;
    while (i < KINDS && strcmp(kinds[i].name, kind) != 0)
        i++;
    insist(i < KINDS, "no such kind");
    if (strcmp(kind, "plan") == 0)
        return run_plan(bytes, size);
    if (strcmp(kind, "table") == 0)
        return run_table(bytes, size);
    model m;
    bool good = kinds[i].kind == MODEL_DETECT
                    ? open_index(&m, bytes, size)
                    : reader_open(&m, input_open(kinds[i].kind, bytes, size), kinds[i].kind, NULL, NULL);
    if (good && are_safetensors(&m))
        check_print(&m);
    for (size_t t = 0; good && t < m.count && t < 64; t++)
        good = m.tensor[t].spec != NULL ? unpack_data(&m, &m.tensor[t]) : read_data(&m, &m.tensor[t]);
    insist(good || m.error[0] != '\0', "refused without a reason");
    snprintf(reader_reason, sizeof reader_reason, "%s", good ? "" : m.error);
    reader_close(&m);
    return good;
}
