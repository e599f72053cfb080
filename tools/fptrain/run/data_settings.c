/* SPDX-License-Identifier: BSD-2-Clause */
/* data_settings.c - see data_settings.h */
#include "run/data_settings.h"

#include <string.h>

static size_t at_most(uint64_t n)
{
    return n < SIZE_MAX ? (size_t)n : SIZE_MAX;
}

bool data_settings_read(const settings *s, dataset_options *options, trouble *why)
{
    enum { USUAL_STEPS = 64 }; /* as the table of settings has it: nothing was said */
    *options = (dataset_options){.seed = s->data.seed,
                                 .train_count = at_most(s->data.train_count),
                                 .test_count = at_most(s->data.test_count),
                                 .limit = at_most(s->data.limit),
                                 .test_limit = at_most(s->data.test_limit),
                                 .width = s->data.pad,
                                 .height = s->data.pad,
                                 .test = s->data.test,
                                 .test_share = s->data.test_share,
                                 .steps = s->data.steps == USUAL_STEPS ? 0 : s->data.steps,
                                 .names = s->data.names,
                                 .layout = s->data.layout,
                                 .classes = s->data.classes,
                                 .utf8 = strcmp(s->data.characters, "utf8") == 0,
                                 .normalise = s->data.normalise,
                                 .mean = s->data.mean,
                                 .deviation = s->data.deviation};
    return dataset_part_read(s->data.part, options, why);
}
