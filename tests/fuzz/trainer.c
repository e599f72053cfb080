/* SPDX-License-Identifier: BSD-2-Clause */
/* trainer.c - reader.h for the files of the trainer: "idx", "cifar", "text", "utf8", "array", "archive", "tokens",
 * "settings", "checkpoint", "weights", "network", "log", "hardware". */
#include "common/system.h"

#include "reader.h"

#include <unistd.h>
#include <zlib.h>

#include "base/checkpoint.h"
#include "data/array.h"
#include "data/dataset.h"
#include "data/readers.h"
#include "estimate/time.h"
#include "models/model.h"
#include "models/network_text.h"
#include "report/csv.h"
#include "report/run_data.h"
#include "run/settings.h"

char reader_reason[256];
const char *const reader_corpus = "trainer";
static trouble why;

/* The bytes as a file, which source_close closes. NULL where they are packed and the unpacker does not start. */
static source *as_source(const uint8_t *bytes, size_t size)
{
    static FILE *kept;
    if (!kept)
        kept = tmpfile();
    insist(kept && ftruncate(fileno(kept), 0) == 0, "tmpfile");
    rewind(kept);
    insist(fwrite(bytes, 1, size, kept) == size && fflush(kept) == 0, "tmpfile");
    const int descriptor = dup(fileno(kept));
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    insist(file && fseek(file, 0, SEEK_SET) == 0, "dup");
    return source_from(file, "file", &why);
}

static bool run_idx(const uint8_t *bytes, size_t size)
{
    bool good = false;
    for (int dimensions = 3; dimensions >= 1 && !good; dimensions -= 2) {
        idx x;
        source *s = as_source(bytes, size);
        good = s && idx_read(&x, s, dimensions, &why);
        source_close(s);
        if (!good)
            continue;
        uint64_t sum = 0;
        insist(x.count > 0 && x.count == x.extent[0] * x.extent[1] * x.extent[2], "another number of elements");
        for (size_t i = 0; i < x.count; i++)
            sum += x.bytes[i];
        insist(sum <= 255 * (uint64_t)x.count, "elements");
        free(x.bytes);
    }
    return good;
}

static bool run_cifar(const uint8_t *bytes, size_t size)
{
    bool good = false;
    for (int labels = 1; labels <= 2 && !good; labels++) {
        const int classes = labels == 1 ? 10 : 100;
        split to = {.count = 0};
        source *s = as_source(bytes, size);
        good = s && cifar_read(&to, s, labels, classes, &why);
        source_close(s);
        insist(!good || to.count > 0, "no records");
        uint64_t sum = 0;
        for (size_t i = 0; i < 3072 * to.count; i++)
            sum += to.pixels[i];
        insist(sum <= 3072 * 255 * (uint64_t)to.count, "pixels");
        for (size_t i = 0; i < to.count; i++)
            insist(to.labels[i] < classes, "a label out of range");
        FREE(to.pixels, to.labels);
    }
    return good;
}

/* What is read makes the same bytes. */
static bool check_text(const uint8_t *bytes, size_t size, bool utf8)
{
    dataset d = {.classes = 0};
    source *s = as_source(bytes, size);
    const bool good = s && text_read(&d, s, &(dataset_options){.utf8 = utf8}, &why);
    const bool plain = good && bytes[0] != 0x1f && bytes[0] != 0xfd;
    source_close(s);
    size_t length = 0;
    for (size_t i = 0; good && i < d.text_length; i++) {
        insist(d.text[i] < d.classes, "a class out of range");
        const uint32_t code = d.symbol[d.text[i]];
        insist(utf8 || !plain || (i < size && code == bytes[i]), "another text");
        length += !utf8 || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    }
    insist(!plain || length == size, "another length");
    insist(!good || d.train.count + d.test.count == d.text_length, "characters are lost");
    dataset_free(&d);
    return good;
}

static bool run_text(const uint8_t *bytes, size_t size)
{
    return check_text(bytes, size, false);
}

static bool run_utf8(const uint8_t *bytes, size_t size)
{
    return check_text(bytes, size, true);
}

static void check_split(const dataset *d, const split *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->count * dataset_numbers(d); i++)
        sum += s->values ? (double)s->values[i] : s->pixels[i];
    insist(sum == sum, "a number that is none");
    for (size_t i = 0; s->labels && i < s->count; i++)
        insist(s->labels[i] < d->classes, "a label out of range");
}

/* Samples, labels or tokens: what the array can be, it is. */
static bool run_array(const uint8_t *bytes, size_t size)
{
    array a;
    dataset d = {.classes = 0};
    source *s = as_source(bytes, size);
    bool good = s && array_read(&a, s, &why);
    source_close(s);
    if (!good)
        return false;
    if (a.header.dimensions > 1 && !(a.header.dimensions == 2 && a.header.extent[1] == 1)) {
        good = array_samples(&a, &d, &d.train, NULL, &why);
    } else {
        size_t count;
        uint16_t *tokens = array_tokens(&a, &count, &d.classes, false, &why);
        good = tokens != NULL;
        for (size_t i = 0; good && i < count; i++)
            insist(tokens[i] < d.classes, "a token out of range");
        free(tokens);
    }
    if (good)
        check_split(&d, &d.train);
    dataset_free(&d);
    return good;
}

static bool run_archive(const uint8_t *bytes, size_t size)
{
    dataset d = {.classes = 0};
    FILE *file = tmpfile();
    insist(file && fwrite(bytes, 1, size, file) == size && fseek(file, 0, SEEK_SET) == 0, "tmpfile");
    const bool good = arrays_from_npz(&d, file, "file", &(dataset_options){.seed = 1}, &why);
    fclose(file);
    if (good) {
        check_split(&d, &d.train);
        check_split(&d, &d.test);
    }
    dataset_free(&d);
    return good;
}

static bool run_tokens(const uint8_t *bytes, size_t size)
{
    int classes = 0;
    size_t count;
    source *s = as_source(bytes, size);
    uint16_t *tokens = s ? tokens_read(s, false, &count, &classes, false, &why) : NULL;
    source_close(s);
    for (size_t i = 0; tokens && i < count; i++)
        insist(tokens[i] < classes, "a token out of range");
    free(tokens);
    return tokens != NULL;
}

/* What was read is printed, and reads back to the same. */
static bool run_settings(const uint8_t *bytes, size_t size)
{
    settings s, again;
    settings_default(&s);
    const bool good = settings_parse(&s, (const char *)bytes, size, "file", &why);
    if (good) {
        char *text = settings_print(&s);
        settings_default(&again);
        insist(settings_parse(&again, text, strlen(text), "printed", &why), why.text);
        char *text_again = settings_print(&again);
        insist(strcmp(text, text_again) == 0, "other settings");
        FREE(text, text_again);
        settings_free(&again);
    }
    settings_free(&s);
    return good;
}

/* Every byte of what was read. */
static void look_at(const checkpoint *c, size_t size)
{
    size_t all = 0, sum = 0;
    checkpoint_array a;
    for (size_t i = 0; c && checkpoint_at(c, i, &a); i++) {
        const uint8_t *bytes = a.bytes;
        insist(bytes && a.name[0] && a.length <= size, "an array without bytes");
        for (size_t k = 0; k < a.length; k++)
            sum += bytes[k];
        all += a.length;
    }
    insist(all <= size && sum <= 255 * size, "more than the file has");
}

/* A change would hardly ever keep the checksum: here it and the size are put right, and what is behind is tried. */
static void run_repaired(const uint8_t *bytes, size_t size)
{
    enum { CRC_AT = 43, SIZE_AT = 55, START = 75 };
    char digits[24];
    if (size < START)
        return;
    uint8_t *copy = malloc(size);
    insist(copy != NULL, "out of memory");
    memcpy(copy, bytes, size);
    memset(copy + CRC_AT, '0', 8);
    snprintf(digits, sizeof digits, "%020zu", size);
    memcpy(copy + SIZE_AT, digits, 20);
    snprintf(digits, sizeof digits, "%08lx", crc32(0, copy, (uInt)size));
    memcpy(copy + CRC_AT, digits, 8);
    checkpoint *c = checkpoint_parse(copy, size, "repaired", NULL);
    look_at(c, size);
    checkpoint_free(c);
    free(copy);
}

typedef struct span {
    const uint8_t *bytes;
    size_t left;
} span;

static bool read_span(void *from, void *bytes, size_t size, size_t *got, trouble *reason)
{
    span *s = from;
    (void)reason;
    *got = s->left < size ? s->left : size;
    if (*got == 0)
        return true;
    memcpy(bytes, s->bytes, *got);
    s->bytes += *got;
    s->left -= *got;
    return true;
}

/* The bytes as they come from a file that is not packed. */
static checkpoint *read_checkpoint(const uint8_t *bytes, size_t size, bool *whole)
{
    span all = {bytes, size};
    source *s = source_of(read_span, &all, "file");
    checkpoint *c = checkpoint_import_from(s, whole, &why);
    source_close(s);
    return c;
}

static bool run_checkpoint(const uint8_t *bytes, size_t size)
{
    checkpoint *c = read_checkpoint(bytes, size, NULL), *parsed = checkpoint_parse(bytes, size, "file", NULL);
    insist(!c == !parsed, "read as it comes it is another one");
    look_at(c, size);
    run_repaired(bytes, size);
    checkpoint_free(c);
    checkpoint_free(parsed);
    return c != NULL;
}

/* Any .safetensors file. */
static bool run_weights(const uint8_t *bytes, size_t size)
{
    bool whole;
    checkpoint *c = read_checkpoint(bytes, size, &whole);
    look_at(c, size);
    checkpoint_free(c);
    return c != NULL;
}

/* A network described in a text, of images and of characters; good where it fits one of them. */
static bool run_network(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    bool good = false;
    insist(text != NULL, "out of memory");
    memcpy(text, bytes, size);
    text[size] = '\0';
    for (int steps = 0; steps <= 8; steps += 8) {
        const model_settings s = LIST(.name = "file.net", .c = steps ? 1 : 3, .h = steps ? 1 : 16, .w = steps ? 1 : 16,
                                      .classes = 10, .steps = steps, .text = text, .from = "file", .line = 1);
        graph *g = model_new(&s, 1, &why);
        insist(g || strncmp(why.text, "file:", 5) == 0, "refused without a line");
        for (int i = 0; g && i < graph_params(g); i++)
            insist(graph_param(g, i)->size > 0, "a parameter of nothing");
        insist(!g || graph_value(g, graph_logits(g))->row == 10, "another number of classes");
        insist(network_text_same(text, text), "a text is not the same as itself");
        good = good || g;
        graph_free(g);
    }
    free(text);
    return good;
}

/* The log of a run, read for a report and as CSV. */
static char directory[64], log_file[128], settings_file[128];
static FILE *nowhere;

static void tidy(void)
{
    unlink(log_file);
    unlink(settings_file);
    rmdir(directory);
}

/* A directory of a run, for as long as the program runs. */
static int prepare(void)
{
    if (nowhere)
        return 1;
    strcpy(directory, P_tmpdir "/fptrain-log-XXXXXX");
    if (!mkdtemp(directory))
        return 0;
    snprintf(log_file, sizeof log_file, "%s/log.jsonl", directory);
    snprintf(settings_file, sizeof settings_file, "%s/settings.ini", directory);
    atexit(tidy);
    FILE *file = fopen(settings_file, "w");
    nowhere = fopen("/dev/null", "w");
    return file && fclose(file) == 0 && nowhere;
}

static bool run_log(const uint8_t *bytes, size_t size)
{
    static char *const runs[] = {directory};
    trouble other;
    run r;
    FILE *file = prepare() ? fopen(log_file, "wb") : NULL;
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror("log");
        abort();
    }
    const bool good = run_load(&r, directory, &why);
    if (good)
        run_free(&r);
    if (csv_write(nowhere, 1, runs, NULL, &other) != good) {
        fprintf(stderr, "log: what reads the log and what hands it over differ: %s\n", good ? other.text : why.text);
        abort();
    }
    return good;
}

/* A table of throughputs, and how long a step of a small network takes by it. */
static bool run_hardware(const uint8_t *bytes, size_t size)
{
    static graph *g;
    hardware h;
    if (!g) {
        g = model_new(&(model_settings){.name = "mlp", .c = 1, .h = 8, .w = 8, .classes = 10, .width = 1}, 1, &why);
        insist(g != NULL, why.text);
    }
    if (!hardware_parse(&h, bytes, size, "file", &why))
        return false;
    insist(h.count > 0 && h.bandwidth > 0 && strlen(h.name) < sizeof h.name, "no rows, or no bandwidth");
    const step_time t = estimate_step(g, &h, 4);
    insist(t.macs > 0 && t.elements > 0 && t.rounding >= 0, "a step without work");
    for (int unit = 0; unit < UNITS; unit++)
        insist(t.products[unit] >= 0, "a time that is none");
    hardware_free(&h);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(const uint8_t *bytes, size_t size);
} kinds[] = {{"idx", run_idx},          {"cifar", run_cifar},       {"text", run_text},
             {"utf8", run_utf8},        {"array", run_array},       {"archive", run_archive},
             {"tokens", run_tokens},    {"settings", run_settings}, {"checkpoint", run_checkpoint},
             {"weights", run_weights},  {"network", run_network},   {"log", run_log},
             {"hardware", run_hardware}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *reader_kind(unsigned i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

int reader_run(const char *kind, const uint8_t *bytes, size_t size)
{
    unsigned i = 0;
    while (i < KINDS && strcmp(kinds[i].name, kind) != 0)
        i++;
    insist(i < KINDS, "no such kind");
    why.text[0] = '\0';
    const bool good = kinds[i].run(bytes, size);
    insist(good || why.text[0] != '\0', "refused without a reason");
    snprintf(reader_reason, sizeof reader_reason, "%.255s", good ? "" : why.text);
    return good;
}
