/* SPDX-License-Identifier: BSD-2-Clause */
/* shared.h - what all runs of a comparison have in common, which is said once, and what tells them apart. */
#ifndef FPTRAIN_REPORT_SHARED_H
#define FPTRAIN_REPORT_SHARED_H

#include "report/group.h"

/* Of key i of the settings: KEY_SHARED has one value in all runs, KEY_TELLS has not in all groups; [output] and seeds
 * that differ are neither. */
typedef enum key_kind { KEY_SHARED, KEY_TELLS, KEY_LEFT_OUT } key_kind;
key_kind shared_key(const groups *g, int i);
/* The value of key i in a run of one of the groups; networks of one name are numbered, as "own.net (2)". */
enum { SHARED_TEXT = SETTINGS_TEXT + 16 };
const char *shared_value(const groups *g, const settings *s, int i, char text[SHARED_TEXT]);

/* Whether all groups have this line of [formats], in the same place among those that all have. */
bool shared_format(const groups *g, const format_line *line);
/* Whether groups have lines of their own, or none has any. */
bool formats_tell(const groups *g);
const char *formats_in_short(const settings *s); /* of a run without a line of its own, in a word */

/* Calls `put` with what all share beside the defaults: NAME = VALUE of settings, model and data always, then lines of
 * formats. */
typedef void shared_put(void *to, const char *name, const char *value);
void shared_each(const groups *g, shared_put *put, void *to);

#endif
