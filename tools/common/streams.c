/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.c - see streams.h */
#include "common/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

bool streams_reserve(trouble *why)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) {
            return fail(why, "cannot open /dev/null: %s", strerror(errno));
        }
    }
    return true;
}

bool streams_finish_output(trouble *why)
{
    const bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return true;
    fail(why, "standard output: %s", errno != 0 ? strerror(errno) : "write error");
    fclose(stdout);
    return false;
}
