/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.c - see utf8.h */
#include "common/utf8.h"

int utf8_decode(const unsigned char *at, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = *at;
    *code = first;
    if (first < 0x80)
        return 1;
    const int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || (size_t)length > left)
        return 0;
    uint32_t value = first & (0xffu >> (length + 1));
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3fu);
    }
    *code = value;
    return value >= least[length] && value < UTF8_CODE_POINTS && (value < 0xd800 || value > 0xdfff) ? length : 0;
}

int utf8_length(const char *text)
{
    uint32_t code;
    return *text != '\0' ? utf8_decode((const unsigned char *)text, 4, &code) : 0; /* the end continues nothing */
}

bool utf8_is(const char *text, size_t length)
{
    uint32_t code;
    for (size_t at = 0; at < length;) {
        const int taken = utf8_decode((const unsigned char *)text + at, length - at, &code);
        if (taken == 0)
            return false;
        at += (size_t)taken;
    }
    return true;
}
