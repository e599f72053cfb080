/* SPDX-License-Identifier: BSD-2-Clause */
/* name_map.h - names of tensors turned into others by patterns.
 *
 *     features.0.* = conv1.*
 *     *.num_batches =
 *
 * A rule is PATTERN = REPLACEMENT. A * of the pattern stands for anything, also for nothing, as little as will do; the
 * first * of the replacement is what the first stood for, and so on, and \1 to \9 name them. The first rule that fits
 * decides; an empty replacement leaves the tensor out; what fits none keeps its name.
 */
#ifndef FPTRAIN_RUN_NAME_MAP_H
#define FPTRAIN_RUN_NAME_MAP_H

#include "base/base.h"

typedef struct name_map name_map;

enum { NAME_MAP_TEXT = 256 }; /* room for a name, with its zero */

/* Rules with commas between where there is a '=' in the text, else the file of that name: a rule a line; blank lines
 * and what begins with # do not count. Of an empty text a map without rules. NULL and a sentence on failure. */
name_map *name_map_read(const char *text, trouble *why);
/* What such a file has; its path is for messages. */
name_map *name_map_parse(const void *bytes, size_t length, const char *path, trouble *why);
void name_map_free(name_map *m);
/* The new name, "" where the tensor is left out; false and a sentence where it has no room. */
bool name_map_apply(const name_map *m, const char *name, char to[NAME_MAP_TEXT], trouble *why);
/* The rule that no name has met so far, or NULL. */
const char *name_map_idle(const name_map *m);

#endif
