/* outfile.c - see outfile.h */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PATH up to and with its last slash, then `.NAME.XXXXXX`; or the directory alone. */
static char *beside(const char *path, bool directory)
{
    const char *slash = strrchr(path, '/');
    const size_t head = slash ? (size_t)(slash - path) + 1 : 0, size = strlen(path) + 16;
    char *text = need(size, 1);
    if (directory)
        snprintf(text, size, "%.*s", head ? (int)head : 1, head ? path : ".");
    else
        snprintf(text, size, "%.*s.%s.XXXXXX", (int)head, path, path + head);
    return text;
}

static FILE *open_temporary(outfile *o)
{
    o->temporary = beside(o->path, false);
    const int descriptor = mkstemp(o->temporary);
    if (descriptor < 0)
        return NULL;
    const mode_t mask = umask(0); /* mkstemp gives the owner alone the right to read */
    umask(mask);
    fchmod(descriptor, 0666 & ~mask);
    return fdopen(descriptor, "wb");
}

bool outfile_open(outfile *o, const char *path, trouble *why)
{
    struct stat status;
    char *target = realpath(path, NULL); /* NULL: nothing is there yet */
    *o = (outfile){.path = target};
    if (!target) {
        o->path = need(strlen(path) + 1, 1);
        strcpy(o->path, path);
    }
    const bool direct = stat(o->path, &status) == 0 && !S_ISREG(status.st_mode);
    o->file = direct ? fopen(o->path, "wb") : open_temporary(o);
    if (o->file)
        return true;
    fail(why, "%s: %s", path, strerror(errno));
    free(o->path);
    free(o->temporary);
    return false;
}

void outfile_drop(outfile *o)
{
    if (o->file)
        fclose(o->file);
    if (o->temporary)
        unlink(o->temporary);
    free(o->path);
    free(o->temporary);
    *o = (outfile){.file = NULL};
}

/* Some file systems cannot sync a directory; the file itself is safe all the same. */
static void sync_directory(const char *path)
{
    char *name = beside(path, true);
    const int descriptor = open(name, O_RDONLY);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(name);
}

bool outfile_commit(outfile *o, trouble *why)
{
    bool good = fflush(o->file) == 0 && !ferror(o->file) && (!o->temporary || fsync(fileno(o->file)) == 0);
    good = fclose(o->file) == 0 && good;
    o->file = NULL;
    if (!good || (o->temporary && rename(o->temporary, o->path) != 0)) {
        fail(why, "%s: %s", o->path, strerror(errno));
        outfile_drop(o);
        return false;
    }
    if (o->temporary)
        sync_directory(o->path);
    free(o->path);
    free(o->temporary);
    return true;
}

bool outfile_write(const char *path, const void *bytes, size_t length, trouble *why)
{
    outfile o;
    if (!outfile_open(&o, path, why))
        return false;
    fwrite(bytes, 1, length, o.file); /* an error is remembered by the stream */
    return outfile_commit(&o, why);
}

bool outfile_directory(const char *path, trouble *why)
{
    const size_t length = strlen(path);
    char *part = need(length + 2, 1);
    memcpy(part, path, length);
    part[length] = '/';
    bool good = true;
    for (char *slash = part + 1; good && (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        good = mkdir(part, 0777) == 0 || errno == EEXIST || fail(why, "%s: %s", part, strerror(errno));
    }
    free(part);
    return good;
}
