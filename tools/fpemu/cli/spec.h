/* SPDX-License-Identifier: BSD-2-Clause */
/* spec.h - specs of formats as arguments, with tables that lie in files. */
#ifndef FPEMU_TOOL_SPEC_H
#define FPEMU_TOOL_SPEC_H

#include <stdbool.h>

#include "fpemu.h"

/* A spec string; a usage error that says where it went wrong otherwise. */
fpemu_format cli_format(const char *spec);
/* The canonical spec, in `text` of 256 bytes. */
#define CLI_SPEC_SIZE 256
const char *cli_spec(const fpemu_format *format, char text[CLI_SPEC_SIZE]);
/* Whether its table is one of a file: table(file=PATH), codebook(file=PATH,...). */
bool cli_from_file(const fpemu_format *format);
/* A usage error where writing the path would replace a file of a table that was read; path may be NULL. */
void cli_refuse_tables(const char *option, const char *path);

#endif
