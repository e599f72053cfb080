/* SPDX-License-Identifier: BSD-2-Clause */
/* input.h - bytes of the fuzzer as the file that a reader is given. */
#ifndef FPEMU_FUZZ_INPUT_H
#define FPEMU_FUZZ_INPUT_H

#include "../common.h"

#include "files/model.h"

/* Writes the bytes. A mutated header would hardly ever have the right length or checksum: a header of JSON that comes
 * alone, of safetensors or a container, gets them, in a container with data where the header says that they lie. */
void input_write(FILE *file, model_kind kind, const void *bytes, size_t size);
/* The same in a file without a name, which stands at its beginning; one at a time. */
FILE *input_open(model_kind kind, const void *bytes, size_t size);

#endif
