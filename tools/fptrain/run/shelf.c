/* SPDX-License-Identifier: BSD-2-Clause */
/* shelf.c - see shelf.h
 *
 * The directory is looked for beside the program, so that an installation may be moved: PREFIX/bin/../share, or share/
 * of the build tree; then where it was configured to be.
 */
#include "run/shelf.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "common/near.h"

#ifndef FPTRAIN_DATADIR
#define FPTRAIN_DATADIR "/usr/local/share"
#endif

/* Where the program lies, "" where that is not known. */
static char *program_directory(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return text_joined(path, "", "");
}

/* Of what kind a file is that comes with the program. */
typedef struct kind {
    const char *directory, *ending, *what, *list;
} kind;
static const kind experiment = {"/fptrain/experiments", ".ini", "experiment", "fptrain run --list"};
static const kind network = {"/fptrain/networks", ".net", "network", "fptrain models"};

/* Where those of a kind lie. For free(); NULL: nowhere. */
static char *shelf_of(const kind *k)
{
    char *program = program_directory();
    const char *above = ends_with(program, "/tools/fptrain")         ? "/../.."
                        : ends_with(program, "/tools/fptrain/.libs") ? "/../../.."
                                                                     : "/..";
    char *share = text_joined(program, above, "/share");
    char *places[] = {text_joined(share, k->directory, ""), text_joined(FPTRAIN_DATADIR, k->directory, "")};
    char *found = NULL;
    for (int i = 0; i < 2; i++)
        if (!found && access(places[i], R_OK | X_OK) == 0)
            found = places[i];
        else
            free(places[i]);
    free(share);
    free(program);
    return found;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Their names without the ending, in order; *count of them, each and the list for free(). */
static char **names_in(const kind *k, const char *directory, int *count)
{
    DIR *from = directory ? opendir(directory) : NULL;
    char **names = NULL;
    *count = 0;
    for (struct dirent *entry; from && (entry = readdir(from)) != NULL;) {
        if (!ends_with(entry->d_name, k->ending) || entry->d_name[0] == '.')
            continue;
        names = need_more(names, (uint64_t)*count + 1, sizeof *names);
        names[(*count)++] = copy_text(entry->d_name, strlen(entry->d_name) - strlen(k->ending));
    }
    if (from)
        closedir(from);
    if (*count > 0)
        qsort(names, (size_t)*count, sizeof *names, by_name);
    return names;
}

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static char *find(const kind *k, const char *name, trouble *why)
{
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return text_joined(name, "", "");
    int count;
    char *directory = shelf_of(k), **names = names_in(k, directory, &count), *path = NULL;
    near_search near = near_start(name);
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (!name[length] || !strcmp(name + length, k->ending)))
            path = text_joined(directory, "/", names[i]);
        near_try(&near, names[i]);
    }
    if (path) {
        char *file = text_joined(path, k->ending, "");
        free(path);
        path = file;
    } else {
        fail(why, "%.200s: no such file, and no %s of that name%s; '%s' shows them", name, k->what, near_text(&near),
             k->list);
    }
    free_names(names, count);
    free(directory);
    return path;
}

/* ------------------------------------------------------------------------------------------------ the list */

/* The first sentence of the comment that a file begins with, cut at `size` - 1 characters. */
static void first_words(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t used = 0;
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file) && line[0] == '#' && line[1] == ' ') {
        line[strcspn(line, "\n")] = '\0';
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", line + 2);
        if (used >= size)
            break;
    }
    if (file)
        fclose(file);
    for (char *end = text; (end = strstr(end, ". ")) != NULL; end++)
        if (end[2] >= 'A' && end[2] <= 'Z') { /* not "et al. 2018" */
            *end = '\0';
            break;
        }
    used = strlen(text);
    if (used > 0 && text[used - 1] == '.')
        text[used - 1] = '\0';
}

static int list(const kind *k, FILE *out, int least)
{
    int count, width = least;
    char *directory = shelf_of(k), **names = names_in(k, directory, &count);
    const char *shown = least ? k->ending : ""; /* beside names without one */
    for (int i = 0; i < count; i++) {
        const int length = (int)(strlen(names[i]) + strlen(shown));
        width = length > width ? length : width;
    }
    for (int i = 0; i < count; i++) {
        char *beginning = text_joined(directory, "/", names[i]), *path = text_joined(beginning, k->ending, "");
        char *name = text_joined(names[i], shown, ""), words[300];
        first_words(path, words, sizeof words);
        const bool cut = strlen(words) > (size_t)(98 - width);
        fprintf(out, "%-*s  %.*s%s\n", width, name, cut ? 95 - width : 98 - width, words, cut ? "..." : "");
        free(name);
        free(path);
        free(beginning);
    }
    free_names(names, count);
    free(directory);
    return count;
}

bool shelf_list(FILE *out, trouble *why)
{
    return list(&experiment, out, 0) > 0 ||
           fail(why, "no experiments, neither beside the program nor in %s%s", FPTRAIN_DATADIR, experiment.directory);
}

void shelf_list_networks(FILE *out)
{
    list(&network, out, 16);
}

/* ------------------------------------------------------------------------------------------------ finding */

char *shelf_find(const char *name, trouble *why)
{
    return find(&experiment, name, why);
}

char *shelf_find_network(const char *name, trouble *why)
{
    return find(&network, name, why);
}
