/* SPDX-License-Identifier: BSD-2-Clause */
/* leftovers.c - see leftovers.h */
#include "files/leftovers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ending.h"
#include "cli/error.h"

/* Changed only while all signals are blocked. */
static char **noted;
static size_t count;

static void remove_all(void)
{
    while (count > 0) {
        const char *path = noted[--count];
        if (unlink(path) != 0)
            rmdir(path);
    }
}

sigset_t leftovers_hold(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
}

void leftovers_let(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

void leftovers_note(const char *path)
{
    ending_act(remove_all);
    const sigset_t before = leftovers_hold();
    char *copy = strdup(path), **grown = realloc(noted, (count + 1) * sizeof *grown);
    noted = grown != NULL ? grown : noted;
    const bool good = copy != NULL && grown != NULL;
    if (good)
        noted[count++] = copy;
    else
        free(copy);
    leftovers_let(&before);
    if (!good) {
        unlink(path);
        cli_fail("out of memory");
    }
} /* cppcheck-suppress memleak ; `noted` has what grew */

void leftovers_forget(const char *path)
{
    const sigset_t before = leftovers_hold();
    for (size_t i = count; i-- > 0;) {
        if (strcmp(noted[i], path) == 0) {
            free(noted[i]);
            memmove(noted + i, noted + i + 1, (count - i - 1) * sizeof *noted);
            count--;
        }
    }
    leftovers_let(&before);
}
