/* SPDX-License-Identifier: BSD-2-Clause */
/* contents.h - what a file of tensors, or a directory of them, holds: as `fpemu info` lists it. */
#ifndef FPEMU_TOOL_CONTENTS_H
#define FPEMU_TOOL_CONTENTS_H

#include "files/file.h"

void contents_print(const file *f);
void contents_print_json(const file *f);

#endif
