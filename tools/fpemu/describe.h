/* describe.h - the properties of a format as words and as JSON. */
#ifndef FPEMU_TOOL_DESCRIBE_H
#define FPEMU_TOOL_DESCRIBE_H

#include <jansson.h>
#include <stdbool.h>

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

/* Sets every key of `fpemu info --json` but the values. A key without meaning for the format is null. */
void describe_json(json_t *object, const fpemu_format *format);

#endif
