/* SPDX-License-Identifier: BSD-2-Clause */
/* rounding.c - see rounding.h */
#include "cli/rounding.h"

#include <stdio.h>
#include <string.h>

#include "cli/error.h"
#include "cli/options.h"
#include "common/near.h"
#include "common/shown.h"

typedef struct word {
    const char *text;
    uint8_t value;
} word;

/* The first word of a value is the one that is printed. */
static const word overflow_words[] = {
    {"format", FPEMU_OVERFLOW_FROM_FORMAT},        {"ieee", FPEMU_OVERFLOW_IEEE},
    {"saturate", FPEMU_OVERFLOW_SATURATE},         {"saturate-keep-inf", FPEMU_OVERFLOW_SATURATE_KEEP_INF},
    {"keepinf", FPEMU_OVERFLOW_SATURATE_KEEP_INF}, {NULL, 0}};
static const word nan_words[] = {{"format", FPEMU_NAN_FROM_FORMAT},
                                 {"keep", FPEMU_NAN_KEEP},
                                 {"max", FPEMU_NAN_MAX},
                                 {"signmax", FPEMU_NAN_SIGNMAX},
                                 {"zero", FPEMU_NAN_ZERO},
                                 {"error", FPEMU_NAN_ERROR},
                                 {NULL, 0}};
static const word variant_words[] = {
    {"a", FPEMU_SR_VARIANT_A}, {"b", FPEMU_SR_VARIANT_B}, {"c", FPEMU_SR_VARIANT_C}, {NULL, 0}};
static const word generator_words[] = {{"hash", FPEMU_GENERATOR_HASH}, {"philox", FPEMU_GENERATOR_PHILOX}, {NULL, 0}};
static const word compat_words[] = {{"none", FPEMU_COMPAT_NONE},
                                    {"qpytorch", FPEMU_COMPAT_QPYTORCH},
                                    {"lee-inf", FPEMU_COMPAT_LEE_INF},
                                    {"cpfloat", FPEMU_COMPAT_CPFLOAT},
                                    {"ml-dtypes", FPEMU_COMPAT_ML_DTYPES},
                                    {"cuda", FPEMU_COMPAT_CUDA},
                                    {"pytorch-multiply", FPEMU_COMPAT_PYTORCH_MULTIPLY},
                                    {"pytorch-divide", FPEMU_COMPAT_PYTORCH_DIVIDE},
                                    {"pytorch-cast", FPEMU_COMPAT_PYTORCH_CAST},
                                    {NULL, 0}};

static uint8_t read_word(const char *option, const word *words, const char *text)
{
    char known[128] = "";
    near_search near = near_start(text);
    for (const word *w = words; w->text != NULL; w++) {
        if (strcmp(w->text, text) == 0)
            return w->value;
        near_try(&near, w->text);
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", w->text);
    }
    cli_usage("%s: '%s' is none of:%s%s", option, text, known, near_text(&near));
}

static const char *word_of(const word *words, unsigned value)
{
    while (words->text != NULL && words->value != value)
        words++;
    return words->text;
}

const char *cli_overflow_name(unsigned overflow)
{
    return word_of(overflow_words, overflow);
}

const char *cli_nan_name(unsigned nan)
{
    return word_of(nan_words, nan);
}

const char *cli_variant_name(unsigned variant)
{
    return word_of(variant_words, variant);
}

const char *cli_generator_name(unsigned generator)
{
    return word_of(generator_words, generator);
}

const char *cli_compat_name(unsigned compat)
{
    return word_of(compat_words, compat);
}

/* The options about random bits. */
static bool take_random(cli_rounding *rounding, int option, const char *argument)
{
    fpemu_rounding *to = &rounding->fields;
    switch (option) {
    case CLI_OPT_BITS:
        rounding->random = "--bits";
        to->bits = (uint8_t)cli_option_u64(rounding->random, argument, 1, 32);
        return true;
    case CLI_OPT_VARIANT:
        rounding->random = "--variant";
        rounding->has_variant = true;
        to->variant = read_word(rounding->random, variant_words, argument);
        return true;
    case CLI_OPT_GENERATOR:
        rounding->random = "--generator";
        to->generator = read_word(rounding->random, generator_words, argument);
        return true;
    case CLI_OPT_SEED:
        rounding->random = "--seed";
        to->seed = cli_option_u64(rounding->random, argument, 0, UINT64_MAX);
        return true;
    case CLI_OPT_STREAM:
        rounding->random = "--stream";
        to->stream = cli_option_u64(rounding->random, argument, 0, UINT64_MAX);
        return true;
    default: return false;
    }
}

bool cli_rounding_take(cli_rounding *rounding, int option, const char *argument)
{
    switch (option) {
    case 'r': rounding->mode = argument; return true;
    case CLI_OPT_OVERFLOW:
        rounding->fields.overflow = read_word("--overflow", overflow_words, argument);
        rounding->has_overflow = true;
        return true;
    case CLI_OPT_NAN:
        rounding->fields.nan = read_word("--nan", nan_words, argument);
        rounding->has_nan = true;
        return true;
    default: return take_random(rounding, option, argument);
    }
}

fpemu_rounding cli_rounding_get(const cli_rounding *rounding)
{
    fpemu_rounding result = rounding->fields;
    if (rounding->mode != NULL) {
        fpemu_rounding named;
        fpemu_parse_error error;
        char cut[SHOWN_SIZE];
        if (fpemu_rounding_parse(rounding->mode, &named, &error) != FPEMU_OK)
            cli_usage("rounding '%s': %s", shown(rounding->mode, error.position, cut), error.message);
        result.mode = named.mode;
        result.compat = named.compat;
        result.overflow = rounding->has_overflow ? result.overflow : named.overflow;
        result.nan = rounding->has_nan ? result.nan : named.nan;
    }
    return result;
}

void cli_rounding_refuse_idle(const cli_rounding *rounding, const fpemu_format *format)
{
    const fpemu_rounding result = cli_rounding_get(rounding);
    if (rounding->random != NULL && !FPEMU_DRAWS(format, &result)) {
        cli_usage("%s: the rounding %s draws no random bits; sr and se do", rounding->random,
                  rounding->mode != NULL ? rounding->mode : "rne");
    }
    if (rounding->has_variant && result.mode == FPEMU_MODE_SE)
        cli_usage("--variant: the rounding %s has none; sr has", rounding->mode);
}
