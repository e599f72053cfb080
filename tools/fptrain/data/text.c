/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - a file of bytes for character models: each distinct byte is a class, the last tenth is for testing. */
#include "data/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t largest = (size_t)1 << 30;
enum { FEWEST = 20 }; /* bytes of a text of which a tenth is worth a test */

bool text_read(dataset *d, source *s, trouble *why)
{
    uint8_t class_of[256];
    bool seen[256] = {false};
    snprintf(d->name, sizeof d->name, "text");
    d->text = source_rest(s, largest, &d->text_length, why);
    if (!d->text)
        return false;
    if (d->text_length < FEWEST)
        return fail(why, "%s: a text of %zu bytes; at least %d are needed", source_name(s), d->text_length, FEWEST);
    for (size_t i = 0; i < d->text_length; i++)
        seen[d->text[i]] = true;
    for (int byte = 0; byte < 256; byte++) {
        if (seen[byte]) {
            class_of[byte] = (uint8_t)d->classes;
            d->byte_of[d->classes++] = (uint8_t)byte;
        }
    }
    for (size_t i = 0; i < d->text_length; i++)
        d->text[i] = class_of[d->text[i]];
    d->test.count = d->text_length / 10;
    d->train.count = d->text_length - d->test.count;
    return true;
}

bool text_open(dataset *d, const char *path, trouble *why)
{
    source *s = source_open(path, why);
    const bool good = s && text_read(d, s, why);
    source_close(s);
    return good;
}
