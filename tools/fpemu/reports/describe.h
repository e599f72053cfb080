/* SPDX-License-Identifier: BSD-2-Clause */
/* describe.h - the properties of a format as words and as JSON. */
#ifndef FPEMU_TOOL_DESCRIBE_H
#define FPEMU_TOOL_DESCRIBE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/spec.h"
#include "fpemu.h"

const char *describe_kind(const fpemu_format *format);
/* Floats: which codes are not numbers ("fn"), and what lies below the smallest normal value ("keep", "none",
 * "flush-in", "flush-out"); NULL for other kinds, the second for floats without room below it too. */
const char *describe_special_rule(const fpemu_format *format);
const char *describe_subnormals(const fpemu_format *format);

/* Whether the smallest normal value, and whether subnormal values, exist. */
bool describe_has_normals(const fpemu_format *format);
bool describe_has_subnormals(const fpemu_format *format);

/* "inf nan:6 -0": the codes that are no numbers, and the negative zero; "none". */
#define DESCRIBE_SIZE 64
const char *describe_specials(char text[DESCRIBE_SIZE], const fpemu_format *format);

/* Blocked formats: the rule that finds a scale ("floor"), the scale format ("e8m0", "2^c, c of 8 bits"), the shape of a
 * block ("32", "16x16", "row"); NULL for the others (the scale for s2fp8 too). */
const char *describe_rule(const fpemu_format *format);
const char *describe_scale(char text[CLI_SPEC_SIZE], const fpemu_format *format);
const char *describe_block(char text[DESCRIBE_SIZE], const fpemu_format *format);
/* "100..81/100, error squares"; NULL without a search. */
const char *describe_search(char text[DESCRIBE_SIZE], const fpemu_format *format);
/* The spec of the element format. */
const char *describe_element(char text[CLI_SPEC_SIZE], const fpemu_format *format);

/* Sets every key of `fpemu info --json` but the values. A key without meaning for the format is null. */
void describe_json(json_t *object, const fpemu_format *format);

#endif
