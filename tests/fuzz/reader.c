/* reader.c - see reader.h. With FUZZ_KIND it is the entry point of libFuzzer for that kind. */
#include "../../tools/fpemu/cli.h"

#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/fpemu/model.h"
#include "../../tools/fpemu/safetensors.h"

static const struct {
    const char *name;
    model_kind kind;
} kinds[] = {{"npy", MODEL_NPY}, {"npz", MODEL_NPZ}, {"safetensors", MODEL_SAFETENSORS}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *reader_kind(unsigned i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

static void insist(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "reader: %s\n", what);
        abort();
    }
}

/* Every byte of the data, converted to both carriers where they are numbers. */
static bool read_data(model *m, tensor *t)
{
    enum { PIECE = 512, MOST = 1 << 20 };
    static double buffer[PIECE], wide[8 * PIECE];
    static float narrow[8 * PIECE];
    uint64_t total = 0;
    if (!model_begin(m, t)) {
        return false;
    }
    for (size_t got = 1; got > 0 && total < MOST; total += got) {
        if (!model_read(m, t, buffer, sizeof buffer, &got)) {
            return false;
        }
        insist(got <= sizeof buffer && total + got <= t->bytes, "more data than the tensor has");
        if (t->type != NULL) {
            const size_t n = got / t->type->size;
            dtype_load(t->type, t->big_endian, n, buffer, true, wide);
            if (t->type->size < 8) {
                dtype_load(t->type, false, n, buffer, false, narrow);
            }
        }
    }
    insist(total >= MOST || total == t->bytes, "less data than the tensor has, and no error");
    return true;
}

/* What a reader lets through can be printed, and reads back the same. */
static void check_print(const model *m)
{
    const dtype **types = calloc(m->count + 1, sizeof *types);
    size_t size = 0;
    insist(types != NULL, "out of memory");
    unsigned char *header = safetensors_print(m, types, &size);
    insist(header != NULL && size % 8 == 0, "the header cannot be printed");
    uint64_t data = 0;
    for (size_t i = 0; i < m->count; i++) {
        data += m->tensor[i].bytes;
    }
    if (data < 1 << 16) {
        FILE *file = tmpfile();
        model again;
        insist(file != NULL && fwrite(header, 1, size, file) == size, "tmpfile");
        for (uint64_t i = 0; i < data; i++) {
            putc(0, file);
        }
        insist(model_open(&again, file, MODEL_SAFETENSORS, NULL, NULL), again.error);
        insist(again.count == m->count, "another number of tensors");
        for (size_t i = 0; i < m->count; i++) {
            const tensor *a = &m->tensor[i], *b = &again.tensor[i];
            insist(strcmp(a->name, b->name) == 0 && a->type == b->type && a->bytes == b->bytes &&
                       a->dimensions == b->dimensions &&
                       memcmp(a->extent, b->extent, a->dimensions * sizeof *a->extent) == 0,
                   "another tensor");
        }
        model_close(&again);
    }
    free(header);
    free(types);
}

/* One file for all runs: the archive library wants a real one. */
static FILE *as_file(model_kind kind, const uint8_t *bytes, size_t size)
{
    static FILE *kept;
    if (kept == NULL) {
        kept = tmpfile();
        insist(kept != NULL, "tmpfile");
    }
    rewind(kept);
    insist(ftruncate(fileno(kept), 0) == 0, "tmpfile");
    /* A mutated header would hardly ever have the right length: one that comes alone gets it. */
    if (kind == MODEL_SAFETENSORS && size >= 2 && bytes[0] == '{' && (bytes[1] == '"' || bytes[1] == '}')) {
        size_t length = size;
        while (length > 1 && bytes[length - 1] != '}') {
            length--;
        }
        for (int i = 0; i < 8; i++) {
            putc((int)((uint64_t)length >> 8 * i & 0xff), kept);
        }
    }
    insist(fwrite(bytes, 1, size, kept) == size && fflush(kept) == 0, "tmpfile");
    const int descriptor = dup(fileno(kept));
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    insist(file != NULL && fseeko(file, 0, SEEK_SET) == 0, "dup");
    return file;
}

int reader_run(const char *kind, const uint8_t *bytes, size_t size)
{
    unsigned i = 0;
    while (i < KINDS && strcmp(kinds[i].name, kind) != 0) {
        i++;
    }
    insist(i < KINDS, "no such kind");
    model m;
    bool good = model_open(&m, as_file(kinds[i].kind, bytes, size), kinds[i].kind, NULL, NULL);
    if (good && kinds[i].kind == MODEL_SAFETENSORS) {
        check_print(&m);
    }
    for (size_t t = 0; good && t < m.count && t < 64; t++) {
        good = read_data(&m, &m.tensor[t]);
    }
    insist(good || m.error[0] != '\0', "refused without a reason");
    model_close(&m);
    return good;
}

#ifdef FUZZ_KIND
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    reader_run(FUZZ_KIND, bytes, size);
    return 0;
}
#endif
