/* SPDX-License-Identifier: BSD-2-Clause */
/* shelf.h - settings of experiments and networks that come with the program, found by their names. */
#ifndef FPTRAIN_RUN_SHELF_H
#define FPTRAIN_RUN_SHELF_H

#include <stdio.h>

#include "common/trouble.h"

/* The file that --config names: the text itself where there is such a file or it is a path, else NAME.ini (or NAME) of
 * the experiments. For free(); NULL and a sentence where there is neither. */
char *shelf_find(const char *name, trouble *why);
/* The same for the networks NAME.net that come with the program. */
char *shelf_find_network(const char *name, trouble *why);
/* The names, each with the first words of its file. */
bool shelf_list(FILE *out, trouble *why);
void shelf_list_networks(FILE *out); /* none, where the program has none */

#endif
