/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c - see reader.h: the commands of fpemu that write files, and two that print, on a file from a stranger. The
 * first byte of the input chooses the command, the others are the file. What a command writes can be read, has the
 * tensors of the file, and is the same when written once more; packed and unpacked is quantized; a command that
 * refuses says so in a line and leaves nothing.
 *
 * For libFuzzer (FUZZ_KIND) the commands run in this process, compiled with exit and atexit as they are here; what a
 * command that refuses has allocated is lost then, so the search for leaks is off. Else $FPEMU runs. */
#include "common/utf8.h"
#include "input.h"
#include "reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/reader.h"

char reader_reason[256];
const char *const reader_corpus = "command";

const char *reader_kind(unsigned i)
{
    return i == 0 ? "command" : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- files */

/* The only ones that may be there. The command's streams are the last two. */
enum { IN, ONE, TWO, PACKED, OUTPUT, ERRORS, FILES };
static const char *const names[FILES] = {"in", "one", "two", "packed", "output", "errors"};
static char directory[] = P_tmpdir "/fpemu-command-XXXXXX";
static char path[FILES][sizeof directory + 16];

static void remove_directory(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(path[i]);
    rmdir(directory);
}

static void make_directory(void)
{
    insist(mkdtemp(directory) != NULL, "mkdtemp");
    for (int i = 0; i < FILES; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", directory, names[i]);
    atexit(remove_directory);
}

static bool exists(int name)
{
    struct stat status;
    return lstat(path[name], &status) == 0;
}

static void insist_nothing_else(void)
{
    DIR *entries = opendir(directory);
    insist(entries != NULL, "no directory");
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        bool known = entry->d_name[0] == '.' && strspn(entry->d_name, ".") == strlen(entry->d_name);
        for (int i = 0; i < FILES; i++)
            known |= strcmp(entry->d_name, names[i]) == 0;
        insist(known, "a file is left behind");
    }
    closedir(entries);
}

/* To be freed. */
static unsigned char *content(int name, size_t *size)
{
    FILE *file = fopen(path[name], "rb");
    struct stat status;
    insist(file != NULL && fstat(fileno(file), &status) == 0, "a file is gone");
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size + 1);
    insist(bytes != NULL && fread(bytes, 1, *size, file) == *size, "a file cannot be read");
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

static bool same_bytes(int name, const unsigned char *bytes, size_t size)
{
    size_t length;
    unsigned char *now = content(name, &length);
    const bool same = length == size && memcmp(now, bytes, size) == 0;
    free(now);
    return same;
}

/* ------------------------------------------------------------------------------------------------------- commands */

enum { MOST_WORDS = 16 };

#ifdef FUZZ_KIND
#include <setjmp.h>

#include "cli/error.h"
#include "commands/commands.h"

_Noreturn void command_exit(int status);
int command_atexit(void (*act)(void));
int __lsan_is_turned_off(void); /* asked by the sanitizer's runtime */

static jmp_buf ending;
static volatile int ended_with;
static void (*last_act)(void);

_Noreturn void command_exit(int status)
{
    ended_with = status;
    longjmp(ending, 1);
}

int command_atexit(void (*act)(void))
{
    last_act = act;
    return 0;
}

int __lsan_is_turned_off(void)
{
    return 1;
}

static int call(int words, char **word)
{
    static const struct {
        const char *name;
        int (*run)(int, char **);
    } commands[] = LIST({"apply", cmd_apply}, {"compare", cmd_compare}, {"pack", cmd_pack}, {"quantize", cmd_quantize},
                        {"unpack", cmd_unpack});
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(word[0], commands[i].name) == 0)
            return commands[i].run(words, word);
    abort();
}

/* With standard streams of its own. Files that a refusal leaves open have larger numbers than one opened now. */
static int run(int words, char **word)
{
    FILE *const output = stdout, *const errors = stderr;
    stdout = fopen(path[OUTPUT], "wb");
    stderr = fopen(path[ERRORS], "wb");
    const int first = open("/dev/null", O_RDONLY);
    insist(stdout != NULL && stderr != NULL && first >= 0, "no files for standard streams");
    if (setjmp(ending) == 0) {
        ended_with = call(words, word);
        cli_finish_stdout();
    } else {
        for (int i = first + 1; i < first + 64; i++)
            close(i);
    }
    if (last_act != NULL)
        last_act();
    close(first);
    fclose(stdout);
    fclose(stderr);
    stdout = output;
    stderr = errors;
    return ended_with;
}

#else
#include <sys/wait.h>

static int run(int words, char **word)
{
    const char *program = getenv("FPEMU");
    char *argument[MOST_WORDS + 2] = {(char *)(program != NULL ? program : "fpemu")};
    int status = 0;
    memcpy(argument + 1, word, (size_t)words * sizeof *word);
    const pid_t child = fork();
    insist(child >= 0, "fork");
    if (child == 0) {
        if (dup2(creat(path[OUTPUT], 0600), STDOUT_FILENO) >= 0 && dup2(creat(path[ERRORS], 0600), STDERR_FILENO) >= 0)
            execvp(argument[0], argument);
        _exit(127);
    }
    insist(waitpid(child, &status, 0) == child && WIFEXITED(status), "the command ended by a signal");
    return WEXITSTATUS(status);
}
#endif

/* A command with words up to NULL; whether it did its work. Else it has said why, in a line that drives no terminal,
 * and no file `to` is there. */
static bool does(const char *const *word, int to)
{
    char *words[MOST_WORDS];
    int count = 0;
    size_t size;
    for (; word[count] != NULL; count++) {
        insist(count < MOST_WORDS, "too many words");
        words[count] = (char *)word[count];
    }
    const int status = run(count, words);
    unsigned char *said = content(ERRORS, &size);
    if (status != 0) {
        insist(status == 1 || status == 2, "an exit status that there is not");
        insist(!exists(to), "refused, and a file is there");
        insist(size > 8 && memcmp(said, "fpemu: ", 7) == 0 && memchr(said, '\n', size) == said + size - 1,
               "refused not in one line");
        for (size_t i = 0, length; i + 1 < size; i += length) {
            uint32_t code;
            length = (size_t)utf8_decode(said + i, size - 1 - i, &code);
            insist(length > 0 && code >= ' ' && (code < 0x7f || code > 0x9f) && (code < 0x202a || code > 0x202e) &&
                       (code < 0x2066 || code > 0x2069),
                   "what is no character to be printed");
        }
        snprintf(reader_reason, sizeof reader_reason, "%.*s", (int)(size - 1 < 255 ? size - 1 : 255), (char *)said);
    }
    free(said);
    return status == 0;
}

/* -------------------------------------------------------------------------------------------------------- tensors */

static model opened(int name)
{
    model m;
    insist(reader_open(&m, fopen(path[name], "rb"), MODEL_PACKED, NULL, NULL), m.error);
    return m;
}

/* All data of a tensor, to be freed. */
static unsigned char *data_of(model *m, tensor *t, size_t *size)
{
    size_t room = 1 << 12, got = 1;
    unsigned char *bytes = malloc(room);
    insist(bytes != NULL && reader_begin(m, t), m->error);
    for (*size = 0; got > 0; *size += got) {
        if (room - *size < 1 << 11) {
            bytes = realloc(bytes, room *= 2);
            insist(bytes != NULL, "out of memory");
        }
        insist(reader_read(m, t, bytes + *size, 1 << 10, &got), m->error);
    }
    return bytes;
}

static tensor *named(const model *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

static void insist_same_shape(const tensor *a, const tensor *b)
{
    insist(a->dimensions == b->dimensions && memcmp(a->extent, b->extent, a->dimensions * sizeof *a->extent) == 0,
           "another shape");
}

/* NaN for NaN, else bit for bit. */
static bool same_numbers(const tensor *a, unsigned char *x, const tensor *b, unsigned char *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double first, second;
        dtype_load(a->type, a->big_endian, 1, x + i * a->type->size, true, &first);
        dtype_load(b->type, b->big_endian, 1, y + i * b->type->size, true, &second);
        if (memcmp(&first, &second, sizeof first) != 0 && !(isnan(first) && isnan(second)))
            return false;
    }
    return true;
}

/* The tensors of one file are in the other, with the same shapes, types and data: numbers as numbers. */
static void insist_same_tensors(int first, int second)
{
    model a = opened(first), b = opened(second);
    insist(a.count == b.count, "another number of tensors");
    for (size_t i = 0; i < a.count; i++) {
        tensor *s = &a.tensor[i], *t = named(&b, s->name);
        insist(t != NULL, "a tensor is gone");
        insist_same_shape(s, t);
        insist(s->type == t->type, "another type");
        size_t n, m;
        unsigned char *x = data_of(&a, s, &n), *y = data_of(&b, t, &m);
        insist(n == m, "another size");
        insist(s->type != NULL && s->stored.name == NULL ? same_numbers(s, x, t, y, n / s->type->size)
                                                         : memcmp(x, y, n) == 0,
               "other data");
        FREE(x, y);
    }
    reader_close(&a);
    reader_close(&b);
}

/* A file that was written for IN can be read to its end, and has its tensors. */
static void insist_after_input(int name)
{
    model a = opened(IN), b = opened(name);
    insist(a.count == b.count, "another number of tensors");
    for (size_t i = 0; i < a.count; i++) {
        tensor *t = named(&b, a.tensor[i].name);
        size_t size;
        insist(t != NULL, "a tensor is gone");
        insist_same_shape(&a.tensor[i], t);
        free(data_of(&b, t, &size));
    }
    reader_close(&a);
    reader_close(&b);
}

/* -------------------------------------------------------------------------------------------------------- actions */

typedef struct route {
    model_kind kind; /* of the file */
    bool (*act)(const struct route *r);
    const char *spec;
    const char *option[2]; /* or NULL */
} route;

#define OPTIONS(r) (r)->option[0], (r)->option[1]

static bool quantize(const route *r)
{
    size_t size;
    if (!does((const char *[]){"quantize", r->spec, path[IN], "-o", path[ONE], OPTIONS(r), NULL}, ONE))
        return false;
    insist_after_input(ONE);
    unsigned char *bytes = content(ONE, &size);
    insist(does((const char *[]){"quantize", r->spec, path[ONE], "-o", path[TWO], OPTIONS(r), NULL}, TWO),
           reader_reason);
    insist(same_bytes(TWO, bytes, size), "quantized twice it is another file");
    free(bytes);
    return true;
}

static bool pack(const route *r)
{
    if (!does((const char *[]){"pack", r->spec, path[IN], "-o", path[PACKED], OPTIONS(r), NULL}, PACKED))
        return false;
    insist(does((const char *[]){"unpack", path[PACKED], "-o", path[ONE], NULL}, ONE), reader_reason);
    insist(does((const char *[]){"quantize", r->spec, path[IN], "-o", path[TWO], NULL}, TWO), reader_reason);
    insist_same_tensors(ONE, TWO);
    return true;
}

static bool unpack(const route *r)
{
    if (!does((const char *[]){"unpack", path[IN], "-o", path[ONE], OPTIONS(r), NULL}, ONE))
        return false;
    insist_after_input(ONE);
    return true;
}

static bool apply(const route *r)
{
    /* --from: numbers of more bits than functions take are refused */
    if (!does((const char *[]){"apply", "tanh", r->spec, path[IN], "--from", "bf16", "-o", path[ONE], OPTIONS(r), NULL},
              ONE))
        return false;
    insist_after_input(ONE);
    return true;
}

/* What was printed is JSON. */
static void insist_json(void)
{
    size_t size;
    unsigned char *text = content(OUTPUT, &size);
    json_t *read = json_loadb((char *)text, size, 0, NULL);
    insist(read != NULL, "no JSON is printed");
    json_decref(read);
    free(text);
}

static bool list(const route *r)
{
    (void)r;
    if (!does((const char *[]){"unpack", path[IN], "--list", "--json", NULL}, ONE))
        return false;
    insist_json();
    return true;
}

static bool compare(const route *r)
{
    if (!does((const char *[]){"compare", path[IN], r->spec, "e5m2", "--json", NULL}, ONE))
        return false;
    insist_json();
    return true;
}

/* A first byte of the corpus is a place here: new ones go to the end. */
static const route routes[] =
    LIST({MODEL_NPY, quantize, "e5m2", {"--dtype", "F32"}}, {MODEL_NPZ, quantize, "e5m2", {0}},
         {MODEL_SAFETENSORS, quantize, "e4m3fn", {0}}, {MODEL_SAFETENSORS, quantize, "mxfp4", {"--dtype", "BF16"}},
         {MODEL_GGUF, quantize, "bf16", {0}}, {MODEL_NPY, pack, "e5m2", {0}}, {MODEL_NPZ, pack, "mxfp8", {0}},
         {MODEL_SAFETENSORS, pack, "e5m2", {0}}, {MODEL_SAFETENSORS, pack, "nvfp4", {0}},
         {MODEL_SAFETENSORS, pack, "mxfp8", {"--layout", "compressed-tensors"}},
         {MODEL_SAFETENSORS, pack, "mxfp4", {"--layout", "gpt-oss"}},
         {MODEL_SAFETENSORS, pack, "nvfp4", {"--layout", "torchao"}}, {MODEL_CONTAINER, unpack, NULL, {0}},
         {MODEL_CONTAINER, unpack, NULL, {"--dtype", "F64"}}, {MODEL_SAFETENSORS, unpack, NULL, {0}},
         {MODEL_GGUF, unpack, NULL, {0}}, {MODEL_CONTAINER, list, NULL, {0}}, {MODEL_GGUF, list, NULL, {0}},
         {MODEL_SAFETENSORS, apply, "bf16", {0}}, {MODEL_NPZ, apply, "e4m3fn", {0}},
         {MODEL_SAFETENSORS, compare, "mxfp4", {0}}, {MODEL_NPY, compare, "e4m3fn", {0}});
enum { ROUTES = sizeof routes / sizeof *routes };

int reader_run(const char *kind, const uint8_t *bytes, size_t size)
{
    static bool made;
    insist(strcmp(kind, "command") == 0, "no such kind");
    if (!made) {
        make_directory();
        made = true;
    }
    if (size == 0)
        return 0;
    const route *r = &routes[bytes[0] % ROUTES];
    FILE *file = fopen(path[IN], "wb");
    insist(file != NULL, "no file to be read");
    input_write(file, r->kind, bytes + 1, size - 1);
    insist(fclose(file) == 0, "no file to be read");
    unsigned char *before = content(IN, &size);
    reader_reason[0] = '\0';
    const bool good = r->act(r);
    insist(good || reader_reason[0] != '\0', "refused without a reason");
    insist(same_bytes(IN, before, size), "the input is another file");
    free(before);
    insist_nothing_else();
    for (int i = 0; i < FILES; i++)
        unlink(path[i]);
    return good;
}
