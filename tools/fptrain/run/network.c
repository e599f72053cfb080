/* SPDX-License-Identifier: BSD-2-Clause */
/* network.c - see network.h */
#include "run/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/data_settings.h"

/* sscanf() takes signs and blanks, too. */
static bool is_plain(const char *text)
{
    return strspn(text, "0123456789x") == strlen(text);
}

bool model_shape_read(model_shape *s, const char *what, const char *text, trouble *why)
{
    int c, h, w, end = 0;
    if (!strcmp(what, "classes")) {
        if (!is_plain(text) || sscanf(text, "%5d%n", &c, &end) < 1 || text[end] || c < 2 || c > 65536)
            return fail(why, "--classes: '%s' is not in 2..65536", text);
        s->classes = c;
        return true;
    }
    if (!strcmp(text, "text")) {
        *s = (model_shape){.c = 1, .h = 1, .w = 1, .classes = s->classes, .steps = MODEL_SHAPE_TEXT};
        return true;
    }
    if (!is_plain(text) || sscanf(text, "%5dx%5dx%5d%n", &c, &h, &w, &end) < 3 || text[end] || c < 1 || h < 1 || w < 1)
        return fail(why, "--shape: '%s' is not as in 3x32x32, nor 'text'", text);
    s->c = c;
    s->h = h;
    s->w = w;
    return true;
}

graph *network_build(const settings *s, const model_shape *shape, trouble *why)
{
    const model_settings m = {.name = s->model.name,
                              .width = s->model.width,
                              .projections = s->model.projections,
                              .no_norm = !s->model.norm,
                              .c = shape->c,
                              .h = shape->h,
                              .w = shape->w,
                              .classes = shape->classes,
                              .steps = shape->steps,
                              .blocks = s->model.blocks,
                              .hidden = s->model.hidden,
                              .depth = s->model.depth,
                              .features = s->model.features,
                              .heads = s->model.heads,
                              .kernel = s->model.kernel,
                              .text = s->network.text,
                              .from = s->network.from,
                              .line = s->network.line};
    graph *g = model_new(&m, s->train.seed, why);
    if (!g || s->model.last == 1 || graph_scale_last(g, s->model.last))
        return g;
    fail(why, "model.last has no effect: no convolution or linear layer of %.60s is the last one with parameters",
         s->model.name);
    graph_free(g);
    return NULL;
}

bool network_shape(const settings *s, model_shape *shape, trouble *why)
{
    if (shape->c) {
        shape->classes = shape->classes ? shape->classes : 10;
        shape->steps = shape->steps == MODEL_SHAPE_TEXT ? s->data.steps : shape->steps;
        return true;
    }
    dataset data;
    dataset_options o;
    if (!data_settings_read(s, &o, why))
        return false;
    o.train_count = o.test_count = o.limit = 1;
    o.part = o.parts = 0;
    if (!dataset_open(&data, s->data.source, &o, why))
        return false;
    *shape = (model_shape){.c = data.c,
                           .h = data.h,
                           .w = data.w,
                           .classes = shape->classes ? shape->classes : data.classes,
                           .steps = data.text ? s->data.steps : 0};
    dataset_free(&data);
    return true;
}

graph *network_of(const settings *s, const model_shape *shape, trouble *why)
{
    model_shape whole = *shape;
    return network_shape(s, &whole, why) ? network_build(s, &whole, why) : NULL;
}
