/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.h - the standard streams of a program. */
#ifndef COMMON_STREAMS_H
#define COMMON_STREAMS_H

#include <stdbool.h>

#include "common/trouble.h"

/* For the start of main. A closed standard stream would give its number to the next file that is opened, and then
 * errors or results would land in that file. The stand-ins are opened the wrong way round, so that using them fails. */
bool streams_reserve(trouble *why);

/* Whether all that standard output was given has gone out; closes it where not, so that the end of the program does
 * not try once more. */
bool streams_finish_output(trouble *why);

#endif
