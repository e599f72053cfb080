/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c - see output.h */
#include "files/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/error.h"
#include "common/followed.h"
#include "common/outputs.h"
#include "files/leftovers.h"

static bool is_dash(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *output_path(const char *argument)
{
    if (is_dash(argument) && isatty(STDOUT_FILENO))
        cli_usage("-o -: standard output is a terminal, and these are no letters");
    return argument;
}

const char *output_plot_path(const char *argument)
{
    static const char *const others[] = {".png", ".pdf", ".jpg", ".jpeg", ".eps", ".gif"};
    const char *dot = strrchr(argument, '.');
    if (is_dash(argument))
        cli_usage("--plot: '-' is not taken for standard output; './-' names a file");
    output_refuse_standard("--plot", argument, "the table goes there; name a file for the plot");
    for (unsigned i = 0; dot != NULL && i < sizeof others / sizeof *others; i++) {
        if (strcasecmp(dot, others[i]) == 0) {
            cli_usage("--plot: '%s': plots are SVG; name it '%.*s.svg', and 'rsvg-convert' makes others of that",
                      argument, (int)(dot - argument), argument);
        }
    }
    return argument;
}

void output_refuse_same(const char *option, const char *path, const char *what, const char *other)
{
    if (path != NULL && other != NULL && same_target(path, other))
        cli_usage("%s: '%s' is %s: one of them would be lost", option, path, what);
}

bool output_is_standard(const char *path)
{
    int descriptor;
    return is_dash(path) || (followed_descriptor(path, &descriptor) && descriptor == STDOUT_FILENO);
}

void output_refuse_standard(const char *option, const char *path, const char *what)
{
    if (path != NULL && output_is_standard(path))
        cli_usage("%s '%s': %s", option, path, what);
}

/* A pipe may wait for its reader: then a signal has to end the program. */
static bool is_written_directly(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool open_guarded(output *out, const char *path, trouble *why)
{
    const sigset_t before = leftovers_hold();
    const bool good = atomic_file_open(out, path, why);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond its limit: the write fails instead */
    if (good && out->temporary != NULL)
        leftovers_note(out->temporary);
    leftovers_let(&before);
    return good;
}

output output_open(const char *path)
{
    output out;
    trouble why;
    if (is_dash(path))
        return (output){.file = stdout, .path = "standard output"};
    if (!(is_written_directly(path) ? atomic_file_open(&out, path, &why) : open_guarded(&out, path, &why)))
        cli_fail("%s", why.text);
    return out;
}

void output_write(output *out, const void *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, out->file) != size)
        cli_fail("%s: %s", out->path, strerror(errno));
}

/* Between the renaming and the end, a signal finds nothing under the temporary name. */
void output_commit(output *out)
{
    trouble why;
    if (out->file == stdout) {
        cli_finish_stdout();
        return;
    }
    char *temporary = out->temporary != NULL ? strdup(out->temporary) : NULL;
    if (!atomic_file_commit(out, &why))
        cli_fail("%s", why.text);
    if (temporary != NULL)
        leftovers_forget(temporary);
    free(temporary);
}
