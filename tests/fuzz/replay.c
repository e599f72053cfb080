/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c - takes the inputs of tests/fuzz/corpus through the readers, as libFuzzer would, with any compiler.
 *
 *   replay                   every input of the corpus: good-... has to be read, bad-... to be refused
 *   replay KIND FILE...      these files
 *
 * With FUZZ_KIND it is the entry point of libFuzzer for this kind instead.
 */
#include "archive.h"
#include "reader.h"

#ifdef FUZZ_KIND
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    reader_run(FUZZ_KIND, bytes, size);
    return 0;
}
#else

enum { KINDS = 32 };
static int defects, taken[KINDS];

/* Of the corpus: KIND.NAME. */
static void judge(const void *context, const char *name, const uint8_t *bytes, size_t size)
{
    (void)context;
    const size_t length = strcspn(name, ".");
    for (unsigned i = 0; i < KINDS && reader_kind(i) != NULL; i++) {
        if (strlen(reader_kind(i)) != length || strncmp(reader_kind(i), name, length) != 0)
            continue;
        const int good = reader_run(reader_kind(i), bytes, size);
        if (strncmp(name + length, good ? ".bad-" : ".good-", good ? 5 : 6) == 0) {
            printf("%s: %s%s\n", name, good ? "read, but it is bad" : "refused, but it is good: ", reader_reason);
            defects++;
        }
        taken[i]++;
        return;
    }
    printf("%s is of no kind\n", name);
    defects++;
}

static void tell(const void *context, const char *name, const uint8_t *bytes, size_t size)
{
    const int good = reader_run(context, bytes, size);
    printf("%s: %s%s\n", name, good ? "read" : "refused: ", reader_reason);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        archive_each(argv[i], tell, argv[1]);
    if (argc > 1)
        return 0;
    char path[2048];
    const char *source = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s.ar", source != NULL ? source : ".", reader_corpus);
    archive_each(path, judge, NULL);
    for (unsigned i = 0; reader_kind(i) != NULL; i++) {
        if (i == KINDS || taken[i] == 0) {
            printf("%s: nothing of kind %s\n", path, reader_kind(i));
            return 1;
        }
    }
    return defects > 0;
}
#endif
