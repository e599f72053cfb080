/* SPDX-License-Identifier: BSD-2-Clause */
/* trouble.c - see trouble.h */
#include "common/trouble.h"

#include <stdarg.h>

#include "common/shown.h"

#undef fail
bool fail(trouble *why, const char *format, ...)
{
    if (why != NULL) {
        va_list arguments;
        va_start(arguments, format);
        shown_message(why->text, sizeof why->text, format, arguments);
        va_end(arguments);
    }
    return false;
}
