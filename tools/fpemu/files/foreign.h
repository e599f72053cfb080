/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign.h - files that are not read: what they are, and what to do. */
#ifndef FPEMU_TOOL_FOREIGN_H
#define FPEMU_TOOL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "files/model.h"

enum { FOREIGN_START = 512 };

/* Whether the first bytes of a file (as many of FOREIGN_START as it has), or where those leave it open its name, are
 * those of a known kind that is not read; then *error says which, and what to do. name: or NULL. */
bool foreign_kind(const unsigned char *start, size_t size, const char *name, char error[MODEL_ERROR_SIZE]);
/* The same for a zip archive, by the name of a member; NULL: none that is known. */
const char *foreign_member(const char *member);

#endif
