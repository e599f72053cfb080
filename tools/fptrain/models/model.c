/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c - the table of models. */
#include "models/model.h"

#include <string.h>

#include "common/near.h"
#include "models/builders.h"

typedef struct entry {
    const char *name;
    int (*build)(const plan *p, int x);
    int least; /* images: the smallest height and width; text: 0 */
    const char *about;
} entry;

static const entry table[] = {
    {"mlp", build_mlp, 1, "two hidden layers, 256 and 128 units"},
    {"lenet", build_lenet, 16, "two convolutions and three linear layers (LeCun 1998), ReLU and max pooling"},
    {"resnet20", build_resnet20, 4, "residual network for small images, 16-32-64 channels (He 2016)"},
    {"resnet32", build_resnet32, 4, "the same with 5 blocks a stage"},
    {"resnet56", build_resnet56, 4, "the same with 9 blocks a stage"},
    {"resnet110", build_resnet110, 4, "the same with 18 blocks a stage"},
    {"resnet18", build_resnet18, 8, "residual network, 64-128-256-512 channels, 3x3 first convolution"},
    {"alexnet", build_alexnet, 29, "five convolutions and one linear layer"},
    {"vgg", build_vgg, 32, "eight 3x3 convolutions without normalisation"},
    {"googlenet", build_googlenet, 4, "nine inception blocks with normalisation"},
    {"squeezenet", build_squeezenet, 8, "fire blocks with normalisation"},
    {"mobilenetv2", build_mobilenetv2, 8, "inverted residuals with depthwise convolutions"},
    {"shufflenetv2", build_shufflenetv2, 8, "channel splits and shuffles; width 1, 0.5, 0.25 or 0.1"},
    {"charlstm", build_charlstm, 0, "embedding, an LSTM of 128 units, linear: the next character"},
    {"chargpt", build_chargpt, 0, "transformer of 4 blocks, 128 features, 4 heads: the next character"},
};
enum { MODELS = sizeof table / sizeof *table };

const char *model_name(int i)
{
    return i >= 0 && i < MODELS ? table[i].name : NULL;
}

const char *model_about(int i)
{
    return i >= 0 && i < MODELS ? table[i].about : NULL;
}

static bool settings_fit(const entry *e, const model_settings *s, trouble *why)
{
    const bool text = s->steps > 0;
    if (s->width < 0 || s->width > 64 || s->width != s->width)
        return fail(why, "the width of a model lies between 0 and 64; %g does not", s->width);
    if (text != (e->least == 0))
        return fail(why, "the model %s works on %s, and the data are %s", e->name, text ? "images" : "text",
                    text ? "text" : "images");
    if (!text && (s->h < e->least || s->w < e->least))
        return fail(why, "the model %s needs images of at least %d x %d; these have %d x %d", e->name, e->least,
                    e->least, s->h, s->w);
    return true;
}

graph *model_new(const model_settings *settings, uint64_t seed, trouble *why)
{
    int i = 0;
    near_search near = near_start(settings->name);
    while (i < MODELS && strcmp(settings->name, table[i].name))
        near_try(&near, table[i++].name);
    if (i == MODELS) {
        fail(why, "no model is called '%s'%s ('fptrain models' lists them)", settings->name, near_text(&near));
        return NULL;
    }
    if (!settings_fit(&table[i], settings, why))
        return NULL;

    const plan p = {graph_new(seed), settings, settings->width > 0 ? settings->width : 1, why};
    const int x = table[i].least ? graph_input(p.g, settings->c, settings->h, settings->w)
                                 : graph_tokens(p.g, settings->steps, settings->classes);
    const int logits = table[i].build(&p, x);
    if (logits < 0) {
        graph_free(p.g);
        return NULL;
    }
    graph_cross_entropy(p.g, logits);
    return p.g;
}
