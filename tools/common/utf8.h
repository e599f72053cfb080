/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.h - text of others in files that are UTF-8. */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

/* How many bytes the character at the start of the text has, 1..4; 0: it begins with no valid UTF-8, or has ended. */
int utf8_length(const char *text);

#endif
