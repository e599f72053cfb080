/* SPDX-License-Identifier: BSD-2-Clause */
/* jsonout.h - what the commands print as JSON, by jansson.
 *
 * Numbers are written with 17 digits and read back exactly. JSON has no infinity and no NaN: these are the strings
 * "inf", "-inf" and "nan". Whole numbers have all their digits, also above 2^63 - 1.
 */
#ifndef FPEMU_TOOL_JSONOUT_H
#define FPEMU_TOOL_JSONOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fpemu.h"

/* All of these end the program when memory runs out. `set` takes over the reference to `value`. */
json_t *jsonout_object(void);
json_t *jsonout_array(void);
json_t *jsonout_real(double value);
json_t *jsonout_real_or_null(double value, bool meaningful);
json_t *jsonout_count(uint64_t value);
json_t *jsonout_integer(int64_t value);
json_t *jsonout_bool(bool value);
json_t *jsonout_text(const char *text); /* NULL, and bytes that are not UTF-8: null */
void jsonout_set(json_t *object, const char *key, json_t *value);
void jsonout_append(json_t *array, json_t *value);

/* The rounding as an object. random: random bits are drawn. */
json_t *jsonout_rounding(const fpemu_rounding *rounding, bool random);
/* Every counter, the extrema, and with FPEMU_STATS_SUMS the sums and the SQNR, set in `object`. */
void jsonout_stats(json_t *object, const fpemu_stats *stats);

/* Prints the value on stdout and gives it back. */
void jsonout_print(json_t *value);

/* An array printed one element after the other; start from all zero. After an error it has no end, so that it cannot
 * pass for complete. `add` gives the value back. */
typedef struct jsonout_stream {
    bool begun;
} jsonout_stream;
void jsonout_stream_add(jsonout_stream *stream, json_t *value);
void jsonout_stream_end(const jsonout_stream *stream);

#endif
