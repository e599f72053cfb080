/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c - takes the files of tests/fuzz/corpus through the readers, as libFuzzer would, with any compiler.
 *
 *   replay                   every file of the corpus: good-... has to be read, bad-... to be refused; without libjpeg
 *                            pictures that it would read are passed over
 *   replay KIND FILE...      these files
 */
#include "../../tools/common/system.h"

#include "reader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static int replay(const char *kind, const char *path)
{
    static uint8_t bytes[MOST];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    const size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    return reader_run(kind, bytes, size);
}

static int replay_directory(const char *kind, const char *directory)
{
    int defects = 0, files = 0;
    DIR *entries = opendir(directory);
    if (entries == NULL) {
        perror(directory);
        return 1;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        const int good = replay(kind, path);
        if (!good && strstr(reader_reason, "made without libjpeg") != NULL)
            continue;
        if (strncmp(entry->d_name, good ? "bad-" : "good-", good ? 4 : 5) == 0) {
            printf("%s: %s%s\n", path, good ? "read, but it is bad" : "refused, but it is good: ", reader_reason);
            defects++;
        }
        files++;
    }
    closedir(entries);
    return defects > 0 || files == 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc == 1) {
        const char *source = getenv("top_srcdir");
        for (unsigned i = 0; reader_kind(i) != NULL; i++) {
            char directory[2048];
            snprintf(directory, sizeof directory, "%s/tests/fuzz/corpus/%s", source != NULL ? source : ".",
                     reader_kind(i));
            status |= replay_directory(reader_kind(i), directory);
        }
    }
    for (int i = 2; i < argc; i++) {
        const int good = replay(argv[1], argv[i]);
        printf("%s: %s%s\n", argv[i], good ? "read" : "refused: ", reader_reason);
    }
    return status;
}
