/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.c - see lock.h */
#include "run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool lock_take(const char *directory, int *lock, trouble *why)
{
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return fail(why, "%s: %s", directory, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    const int error = errno;
    lock_release(*lock);
    *lock = -1;
    return error != EWOULDBLOCK ||
           fail(why, "%s: another fptrain is writing there; wait for its end, or choose another --out", directory);
}

void lock_release(int lock)
{
    if (lock >= 0)
        close(lock);
}
