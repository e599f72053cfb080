/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c - the table of models. */
#include "models/model.h"

#include <stdio.h>
#include <string.h>

#include "common/near.h"
#include "models/builders.h"
#include "models/network_text.h"

/* The settings that a model uses beside its data; see keys[]. */
enum {
    WIDTH = 1,
    PROJECTIONS = 2,
    NORM = 4,
    BLOCKS = 8,
    DEPTH = 16,
    HIDDEN = 32,
    FEATURES = 64,
    HEADS = 128,
    KERNEL = 256
};

typedef struct entry {
    const char *name;
    int (*build)(const plan *p, int x);
    int least; /* images: the smallest height and width; text: 0 */
    unsigned uses;
    const char *about;
} entry;

enum { SMALL_RESNET = WIDTH | NORM | PROJECTIONS | KERNEL };
/* clang-format off */
static const entry table[] = {
    {"mlp", build_mlp, 1, WIDTH | HIDDEN, "two hidden layers, 256 and 128 units"},
    {"lenet", build_lenet, 16, WIDTH | HIDDEN | KERNEL,
     "two convolutions and three linear layers (LeCun 1998), ReLU and max pooling"},
    {"resnet20", build_resnet20, 4, SMALL_RESNET, "residual network for small images, 16-32-64 channels (He 2016)"},
    {"resnet32", build_resnet32, 4, SMALL_RESNET, "the same with 5 blocks a stage"},
    {"resnet56", build_resnet56, 4, SMALL_RESNET, "the same with 9 blocks a stage"},
    {"resnet110", build_resnet110, 4, SMALL_RESNET, "the same with 18 blocks a stage"},
    {"resnet", build_resnet, 4, SMALL_RESNET | BLOCKS | DEPTH,
     "the same with model.depth = 6 n + 2 layers, or model.blocks"},
    {"resnet18", build_resnet18, 8, WIDTH | NORM | BLOCKS | KERNEL,
     "residual network, 64-128-256-512 channels, 3x3 first convolution"},
    {"alexnet", build_alexnet, 29, WIDTH, "five convolutions and one linear layer"},
    {"vgg", build_vgg, 32, WIDTH | BLOCKS | KERNEL, "eight 3x3 convolutions without normalisation"},
    {"googlenet", build_googlenet, 4, WIDTH | NORM, "nine inception blocks with normalisation"},
    {"squeezenet", build_squeezenet, 8, WIDTH | NORM, "fire blocks with normalisation"},
    {"mobilenetv2", build_mobilenetv2, 8, WIDTH | NORM, "inverted residuals with depthwise convolutions"},
    {"shufflenetv2", build_shufflenetv2, 8, WIDTH | NORM, "channel splits and shuffles; width 1, 0.5, 0.25 or 0.1"},
    {"charlstm", build_charlstm, 0, WIDTH | FEATURES | HIDDEN,
     "embedding, an LSTM of 128 units, linear: the next character"},
    {"chargpt", build_chargpt, 0, WIDTH | BLOCKS | FEATURES | HEADS | HIDDEN,
     "transformer of 4 blocks, 128 features, 4 heads: the next character"},
};
/* clang-format on */
enum { MODELS = sizeof table / sizeof *table };

const char *model_name(int i)
{
    return i >= 0 && i < MODELS ? table[i].name : NULL;
}

const char *model_about(int i)
{
    return i >= 0 && i < MODELS ? table[i].about : NULL;
}

/* ------------------------------------------------------------------------------------------------ settings */

static const struct {
    unsigned use;
    const char *key;
} keys[] = {{WIDTH, "width"},   {PROJECTIONS, "projections"}, {NORM, "norm"},   {BLOCKS, "blocks"}, {DEPTH, "depth"},
            {HIDDEN, "hidden"}, {FEATURES, "features"},       {HEADS, "heads"}, {KERNEL, "kernel"}};
enum { KEYS = sizeof keys / sizeof *keys };

static bool is_given(const char *list)
{
    return list && *list;
}

static unsigned given(const model_settings *s)
{
    return (s->width > 0 && s->width != 1 ? WIDTH : 0u) | (s->projections ? PROJECTIONS : 0u) |
           (s->no_norm ? NORM : 0u) | (is_given(s->blocks) ? BLOCKS : 0u) | (s->depth ? DEPTH : 0u) |
           (is_given(s->hidden) ? HIDDEN : 0u) | (s->features ? FEATURES : 0u) | (s->heads ? HEADS : 0u) |
           (s->kernel ? KERNEL : 0u);
}

/* A setting that is given is one that the model uses. */
static bool uses_all(unsigned uses, const model_settings *s, trouble *why)
{
    const unsigned unused = given(s) & ~uses;
    char list[128] = "none of these settings";
    size_t length = 0;
    if (!unused)
        return true;
    int first = 0;
    while (!(keys[first].use & unused))
        first++;
    for (int i = 0; i < KEYS; i++)
        if (keys[i].use & uses)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", keys[i].key);
    return fail(why, "the model %s does not use model.%s; it takes %s", s->name, keys[first].key, list);
}

/* "3,4,6" */
static bool read_sizes(sizes *to, const char *key, const char *text, int most, trouble *why)
{
    to->count = 0;
    while (text && *text) {
        int size = 0, end = 0;
        const bool good = *text >= '0' && *text <= '9' && sscanf(text, "%6d%n", &size, &end) == 1 && size >= 1 &&
                          size <= most && (!text[end] || (text[end] == ',' && text[end + 1]));
        if (!good || to->count == SIZES)
            return fail(why, "model.%s is at most %d numbers from 1 to %d with commas between, not '%.60s'", key, SIZES,
                        most, text);
        to->size[to->count++] = size;
        text += end + (text[end] == ',');
    }
    return true;
}

static bool settings_fit(const entry *e, const model_settings *s, trouble *why)
{
    const bool text = s->steps > 0;
    if (s->width < 0 || s->width > 64 || s->width != s->width)
        return fail(why, "the width of a model lies between 0 and 64; %g does not", s->width);
    if ((double)s->c * s->h * s->w > 1 << 30)
        return fail(why, "an input of %d x %d x %d is too large", s->c, s->h, s->w);
    if (!uses_all(e->uses, s, why))
        return false;
    if (e->build == build_network_text)
        return true;
    if (text != (e->least == 0))
        return fail(why, "the model %s works on %s, and the data are %s", e->name, text ? "images" : "text",
                    text ? "text" : "images");
    if (!text && (s->h < e->least || s->w < e->least))
        return fail(why, "the model %s needs images of at least %d x %d; these have %d x %d", e->name, e->least,
                    e->least, s->h, s->w);
    return true;
}

/* ------------------------------------------------------------------------------------------------ building */

static const entry *find(const model_settings *s, trouble *why)
{
    static const entry described = {"", build_network_text, 1, WIDTH, ""};
    near_search near = near_start(s->name);
    if (network_text_is(s->name) && s->text)
        return &described;
    for (int i = 0; i < MODELS; i++) {
        if (strcmp(s->name, table[i].name) == 0)
            return &table[i];
        near_try(&near, table[i].name);
    }
    fail(why, "no model is called '%s'%s ('fptrain models' lists them)", s->name, near_text(&near));
    return NULL;
}

typedef struct building {
    const plan *plan;
    const entry *entry;
} building;

static int build(graph *g, const void *what)
{
    const building *b = what;
    const model_settings *s = b->plan->settings;
    const int x = s->steps > 0 ? graph_tokens(g, s->steps, s->classes) : graph_input(g, s->c, s->h, s->w);
    const int logits = b->entry->build(b->plan, x);
    if (logits >= 0)
        graph_cross_entropy(g, logits);
    return logits;
}

graph *model_new(const model_settings *settings, uint64_t seed, trouble *why)
{
    const entry *e = find(settings, why);
    bool width_used = false;
    plan p = {.settings = settings,
              .width = settings->width > 0 ? settings->width : 1,
              .why = why,
              .width_used = &width_used};
    if (!e || !settings_fit(e, settings, why) || !read_sizes(&p.blocks, "blocks", settings->blocks, 1000, why) ||
        !read_sizes(&p.hidden, "hidden", settings->hidden, 65536, why))
        return NULL;
    p.g = graph_new(seed);
    bool good = graph_attempt(p.g, build, &(building){&p, e}, why) >= 0;
    if (good && e->build == build_network_text && !width_used)
        good = uses_all(0, settings, why);
    if (good)
        return p.g;
    graph_free(p.g);
    return NULL;
}
