/* SPDX-License-Identifier: BSD-2-Clause */
/* entry.c - the entry point of libFuzzer for one kind of reader.h, which FUZZ_KIND names. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    reader_run(FUZZ_KIND, bytes, size);
    return 0;
}
