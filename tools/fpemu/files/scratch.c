/* SPDX-License-Identifier: BSD-2-Clause */
/* scratch.c - see scratch.h */
#include "files/scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/error.h"
#include "common/temporary.h"
#include "files/leftovers.h"

static const char *directory(void)
{
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] != '\0' ? named : "/tmp";
}

_Noreturn static void fail(void)
{
    cli_fail("%s: a temporary file: %s", directory(), strerror(errno));
}

FILE *scratch_open(void)
{
    static const char name[] = "/fpemu-XXXXXX";
    int descriptor = temporary_unnamed(directory());
    if (descriptor < 0) {
        char *path = cli_allocate(strlen(directory()) + sizeof name, 1);
        const sigset_t before = leftovers_hold();
        descriptor = mkstemp(strcat(strcpy(path, directory()), name));
        if (descriptor >= 0)
            unlink(path);
        leftovers_let(&before);
        free(path);
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+b") : NULL;
    if (file == NULL)
        fail();
    return file;
}

void scratch_write_at(FILE *scratch, uint64_t from, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t put = pwrite(fileno(scratch), (const char *)bytes + done, size - done, (off_t)(from + done));
        if (put < 0 && errno != EINTR)
            fail();
        done += put > 0 ? (size_t)put : 0;
    }
}

size_t scratch_read_at(FILE *scratch, uint64_t from, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fileno(scratch), (char *)bytes + done, size - done, (off_t)(from + done));
        if (got < 0 && errno != EINTR)
            fail();
        if (got == 0)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}
