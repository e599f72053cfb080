/* SPDX-License-Identifier: BSD-2-Clause */
/* output_directory.c - see output_directory.h */
#include "files/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/error.h"
#include "common/followed.h"
#include "common/temporary.h"
#include "files/leftovers.h"

static char *join(const char *directory, const char *name)
{
    char *path = cli_allocate(strlen(directory) + strlen(name) + 2, 1);
    return strcat(strcat(strcpy(path, directory), "/"), name);
}

static bool is_one_of(const output_directory *d, const char *name)
{
    for (size_t i = 0; i < d->names; i++)
        if (strcmp(d->name[i], name) == 0)
            return true;
    return false;
}

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* Whether a reader of models would take the file for a part of this one, or read it instead (shards.h). */
static bool belongs_to_a_model(const output_directory *d, const char *name)
{
    const bool packed = ends_in(d->name[0], ".fpk");
    return ends_in(name, ".safetensors") || ends_in(name, ".safetensors.index.json") ||
           (packed && (ends_in(name, ".fpk") || ends_in(name, ".fpk.index.json")));
}

/* An empty directory is as good as none. */
static void look_into(output_directory *d, bool force)
{
    DIR *directory = opendir(d->path);
    if (directory == NULL && errno == ENOENT)
        return;
    if (directory == NULL && errno == ENOTDIR)
        cli_fail("%s: is a file; a model of several files is written to a directory", d->path);
    if (directory == NULL)
        cli_fail("%s: %s", d->path, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (!force) {
            cli_fail("%s: the directory is there and not empty: name a fresh one, or --force writes the model into it",
                     d->path);
        }
        if (belongs_to_a_model(d, name) && !is_one_of(d, name)) {
            cli_fail("%s: '%s' in it is no file of the new model and would be taken for one: remove it, or name a "
                     "fresh directory",
                     d->path, name);
        }
        d->exists = true;
    }
    closedir(directory);
}

output_directory output_directory_open(const char *path, bool force, const char *const *name, size_t names)
{
    output_directory d = {.path = strdup(path), .name = name, .names = names};
    if (d.path == NULL)
        cli_fail("out of memory");
    for (size_t length = strlen(d.path); length > 1 && d.path[length - 1] == '/'; length--)
        d.path[length - 1] = '\0';
    look_into(&d, force);
    d.target = followed(d.path);
    if (d.target == NULL)
        cli_fail("%s: %s", d.path, strerror(errno));
    temporary_tidy(d.target);
    const sigset_t before = leftovers_hold();
    d.temporary = temporary_directory(d.target, &d.lock);
    const int error = errno;
    if (d.temporary != NULL)
        leftovers_note(d.temporary);
    leftovers_let(&before);
    if (d.temporary == NULL)
        cli_fail("%s: cannot create a directory beside it: %s", d.path, strerror(error));
    return d;
}

output output_directory_file(output_directory *d, size_t i)
{
    char *path = join(d->temporary, d->name[i]);
    leftovers_note(path); /* there from when it is committed */
    output out = output_open(path);
    free(path);
    free(out.path);
    out.path = join(d->path, d->name[i]); /* as errors name it */
    return out;
}

/* Into a directory that is there, one by one; the index is the last. */
static void move_files(output_directory *d)
{
    for (size_t i = 0; i < d->names; i++) {
        char *from = join(d->temporary, d->name[i]), *to = join(d->target, d->name[i]);
        if (rename(from, to) != 0)
            cli_fail("%s: %s", to, strerror(errno));
        leftovers_forget(from);
        free(from);
        free(to);
    }
    rmdir(d->temporary);
}

static void sync_entries(const char *path)
{
    const int descriptor = open(path, O_RDONLY);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
}

void output_directory_commit(output_directory *d)
{
    if (d->exists)
        move_files(d);
    else if (rename(d->temporary, d->target) != 0)
        cli_fail("%s: %s", d->path, strerror(errno));
    leftovers_forget(d->temporary);
    for (size_t i = 0; i < d->names; i++) {
        char *path = join(d->temporary, d->name[i]);
        leftovers_forget(path);
        free(path);
    }
    sync_entries(d->target);
    if (d->lock >= 0)
        close(d->lock);
    free(d->path);
    free(d->target);
    free(d->temporary);
}
