/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.h - text of others on a terminal: a part of it that a line holds, without what drives a terminal. */
#ifndef COMMON_SHOWN_H
#define COMMON_SHOWN_H

#include <stddef.h>

enum { SHOWN_WIDTH = 60, SHOWN_SIZE = SHOWN_WIDTH + 8 };

/* The text, or of a long one some SHOWN_WIDTH characters, the one at `place` among them, with "..." for the rest. */
const char *shown(const char *text, size_t place, char out[SHOWN_SIZE]);
/* What is no printable ASCII becomes '?', in place: no argument or file can forge lines or drive a terminal. */
void shown_clean(char *line);

#endif
