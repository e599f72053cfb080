/* SPDX-License-Identifier: BSD-2-Clause */
/* number_list.c - see number_list.h */
#include "reports/number_list.h"

#include <stdio.h>

#include "cli/number.h"

void number_list_add(number_list *list, double x)
{
    char text[NUMBER_SIZE];
    if (list->json)
        jsonout_stream_add(&list->stream, jsonout_real(x));
    else
        puts(list->hexadecimal ? number_print_hex(text, x) : number_print(text, x));
}

void number_list_add_code(number_list *list, uint64_t code, const fpemu_format *format)
{
    char text[NUMBER_SIZE];
    if (list->json)
        jsonout_stream_add(&list->stream, jsonout_count(code));
    else
        puts(number_print_code(text, code, format->bits));
}

void number_list_end(const number_list *list)
{
    if (list->json)
        jsonout_stream_end(&list->stream);
}
