/* SPDX-License-Identifier: BSD-2-Clause */
/* uses.h - what the formats that have a name are for. */
#ifndef FPEMU_TOOL_USES_H
#define FPEMU_TOOL_USES_H

#include "fpemu.h"

/* A few words: who uses it, for what; NULL where there are none. */
const char *uses_of(fpemu_name name);
/* The same for a format that is one of these, modifiers apart. */
const char *uses_of_format(const fpemu_format *format);

#endif
