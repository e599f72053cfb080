/* SPDX-License-Identifier: BSD-2-Clause */
/* number_list.h - numbers on standard output: one a line, or as a JSON array. */
#ifndef FPEMU_TOOL_NUMBER_LIST_H
#define FPEMU_TOOL_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "fpemu.h"
#include "reports/jsonout.h"

/* Start from the two options alone. */
typedef struct number_list {
    bool json, hexadecimal;
    jsonout_stream stream;
} number_list;

void number_list_add(number_list *list, double x);
/* A bit pattern of the format. */
void number_list_add_code(number_list *list, uint64_t code, const fpemu_format *format);
void number_list_end(const number_list *list);

#endif
