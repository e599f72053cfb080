/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c - see output.h */
#include "base/output.h"

#include "base/base.h"

atomic_file output_open(const char *command, const char *path)
{
    atomic_file file;
    trouble why;
    if (!atomic_file_open(&file, path, &why))
        die("%s: %s", command, why.text);
    return file;
}

void output_commit(const char *command, atomic_file *file)
{
    trouble why;
    if (!atomic_file_commit(file, &why))
        die("%s: %s", command, why.text);
}
