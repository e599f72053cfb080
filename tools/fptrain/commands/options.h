/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - what the commands refuse of their options: unknown ones, and outputs that would take a place. */
#ifndef FPTRAIN_COMMANDS_OPTIONS_H
#define FPTRAIN_COMMANDS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

#include "run/settings.h"

/* Ends the program, with what may have been meant: an option of the command or, where the command takes settings, of
 * those. `argument` as it was written. */
_Noreturn void options_refuse(const char *command, const char *argument, const struct option *own, bool settings);
/* The defaults, then what settings_options takes; a bad value ends the program. */
void options_settings(const char *command, settings *s, int *argc, char **argv);
char **options_copy(int argc, char **argv); /* for settings_options, which takes some away; for free() */
/* A whole number from 1 to `most`, or the program ends. */
int options_whole(const char *command, const char *option, const char *text, int most);
/* The name of an output as it was given, "-" and "" refused; no file of a run is replaced by one (run/occupied.h). */
const char *options_output(const char *command, const char *path);

/* What a command writes or reads; path NULL: nothing. */
typedef struct option_file {
    const char *option, *path;
    /* A file, a directory with files, a file, a data set as data.source names it (in place of that of the settings). */
    enum { OPTION_WRITES, OPTION_FILLS, OPTION_READS, OPTION_DATA } how;
} option_file;
/* Ends the program before anything is written where an output would take the place of another one, or of what is read,
 * also by the settings (NULL: there are none). */
void options_apart(const char *command, const settings *s, int count, const option_file *files);

#endif
