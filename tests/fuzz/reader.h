/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.h - takes hostile bytes through one of the readers of the program. */
#ifndef FPEMU_FUZZ_READER_H
#define FPEMU_FUZZ_READER_H

#include "../common.h"

/* "npy", "npz", "safetensors", "gguf", "container", "index", "plan", "table"; NULL past the end. */
const char *reader_kind(unsigned i);
/* The archive in corpus/ with inputs of these kinds. */
extern const char *const reader_corpus;
/* Reads the bytes as a file of that kind, as far as it can be read. Returns 1 if all of it was, 0 if it was refused
 * with a reason; aborts on anything else. */
int reader_run(const char *kind, const uint8_t *bytes, size_t size);
extern char reader_reason[256]; /* of the last refusal */

/* Ends the program, which the fuzzer takes as a finding, where the condition does not hold. */
static inline void insist(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", reader_corpus, what);
        abort();
    }
}

#endif
