/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.c - see utf8.h */
#include "common/utf8.h"

int utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const int length = *c == 0                   ? 0
                       : *c < 0x80               ? 1
                       : *c >= 0xc2 && *c < 0xe0 ? 2
                       : *c >= 0xe0 && *c < 0xf0 ? 3
                       : *c >= 0xf0 && *c < 0xf5 ? 4
                                                 : 0;
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if (length == 3 && ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0))) {
        return 0;
    }
    return length == 4 && ((*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] >= 0x90)) ? 0 : length;
}
