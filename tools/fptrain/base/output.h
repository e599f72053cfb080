/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h - files of a command that ends where they cannot be written. */
#ifndef FPTRAIN_BASE_OUTPUT_H
#define FPTRAIN_BASE_OUTPUT_H

#include "common/atomic_file.h"

/* On failure: die, with the name of the command before the sentence. */
atomic_file output_open(const char *command, const char *path);
void output_commit(const char *command, atomic_file *file);

#endif
