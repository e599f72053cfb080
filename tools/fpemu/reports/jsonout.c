/* SPDX-License-Identifier: BSD-2-Clause */
/* jsonout.c - see jsonout.h */
#include "reports/jsonout.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/error.h"
#include "cli/rounding.h"
#include "common/json.h"

static json_t *checked(json_t *value)
{
    if (value == NULL)
        cli_fail("out of memory");
    return value;
}

json_t *jsonout_object(void)
{
    return checked(json_object());
}

json_t *jsonout_array(void)
{
    return checked(json_array());
}

json_t *jsonout_real(double value)
{
    return checked(json_of_double(value));
}

json_t *jsonout_real_or_null(double value, bool meaningful)
{
    return meaningful ? jsonout_real(value) : json_null();
}

json_t *jsonout_count(uint64_t value)
{
    return checked(json_of_count(value));
}

/* A failed write is remembered by stdout, which is checked in the end. */
static void print_and_free(json_t *value, size_t flags)
{
    char *text = json_to_shown(value, flags);
    if (text == NULL)
        cli_fail("out of memory");
    fputs(text, stdout);
    free(text);
    json_decref(value);
}

json_t *jsonout_integer(int64_t value)
{
    return checked(json_integer(value));
}

json_t *jsonout_bool(bool value)
{
    return json_boolean(value);
}

json_t *jsonout_text(const char *text)
{
    json_t *string = text != NULL ? json_string(text) : NULL;
    return string != NULL ? string : json_null();
}

void jsonout_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        cli_fail("out of memory");
}

void jsonout_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        cli_fail("out of memory");
}

json_t *jsonout_rounding(const fpemu_rounding *rounding, bool random)
{
    json_t *object = jsonout_object();
    jsonout_set(object, "mode", jsonout_text(fpemu_mode_name((fpemu_mode)rounding->mode)));
    jsonout_set(object, "compat", jsonout_text(cli_compat_name(rounding->compat)));
    jsonout_set(object, "overflow", jsonout_text(cli_overflow_name(rounding->overflow)));
    jsonout_set(object, "nan", jsonout_text(cli_nan_name(rounding->nan)));
    if (random) {
        jsonout_set(object, "bits", jsonout_integer(rounding->bits != 0 ? rounding->bits : 32));
        jsonout_set(object, "variant", jsonout_text(cli_variant_name(rounding->variant)));
        jsonout_set(object, "generator", jsonout_text(cli_generator_name(rounding->generator)));
        jsonout_set(object, "seed", jsonout_count(rounding->seed));
        jsonout_set(object, "stream", jsonout_count(rounding->stream));
    }
    return object;
}

void jsonout_stats(json_t *object, const fpemu_stats *stats)
{
    jsonout_set(object, "count", jsonout_count(stats->count));
    jsonout_set(object, "nan", jsonout_count(stats->nan));
    jsonout_set(object, "infinite", jsonout_count(stats->infinite));
    jsonout_set(object, "clipped", jsonout_count(stats->clipped));
    jsonout_set(object, "overflow", jsonout_count(stats->overflow));
    jsonout_set(object, "invalid", jsonout_count(stats->invalid));
    jsonout_set(object, "div_by_zero", jsonout_count(stats->div_by_zero));
    jsonout_set(object, "underflow", jsonout_count(stats->underflow));
    jsonout_set(object, "subnormal", jsonout_count(stats->subnormal));
    jsonout_set(object, "inexact", jsonout_count(stats->inexact));
    jsonout_set(object, "min_abs", jsonout_real(stats->min_abs));
    jsonout_set(object, "max_abs", jsonout_real(stats->max_abs));
    jsonout_set(object, "max_error", jsonout_real(stats->max_error));
    if ((stats->request.want & FPEMU_STATS_SUMS) != 0) {
        jsonout_set(object, "sum_error", jsonout_real(fpemu_stats_sum_error(stats)));
        jsonout_set(object, "sum_error2", jsonout_real(fpemu_stats_sum_error2(stats)));
        jsonout_set(object, "sum_square", jsonout_real(fpemu_stats_sum_square(stats)));
        jsonout_set(object, "sqnr_db", jsonout_real(fpemu_stats_sqnr(stats)));
    }
}

void jsonout_print(json_t *value)
{
    print_and_free(value, JSON_INDENT(2));
    putchar('\n');
}

void jsonout_stream_add(jsonout_stream *stream, json_t *value)
{
    fputs(stream->begun ? ",\n  " : "[\n  ", stdout);
    stream->begun = true;
    print_and_free(value, 0);
}

void jsonout_stream_end(const jsonout_stream *stream)
{
    puts(stream->begun ? "\n]" : "[]");
}
