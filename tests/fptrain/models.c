/* SPDX-License-Identifier: BSD-2-Clause */
/* models.c - parameter counts of the named models, against the counts that others publish for the same networks. */
#include "models/model.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

typedef struct expected {
    const char *name;
    double width;
    bool projections, no_norm;
    int c, side, steps, classes;
    size_t count;
} expected;

/* An LSTM has 4 gates of input and state weights and two biases; a transformer block of d features 12 d^2 + 13 d. */
enum { VOCABULARY = 65, STEPS = 32, D = 128 };
enum { LSTM = 65 * 64 + 4 * 128 * (64 + 128) + 128 * 65 + 65 };
enum { GPT = 65 * D + STEPS * D + 4 * (12 * D * D + 13 * D) + 2 * D + D * 65 + 65 };
enum { VGG_PAIRS = 3 * 64 + 64 * 128 + 128 * 256 + 256 * 256 + 256 * 512 + 3 * 512 * 512 };
enum { VGG = 9 * VGG_PAIRS + 64 + 128 + 2 * 256 + 4 * 512 + 5130 };

static const expected table[] = {
    {"resnet18", 1, false, false, 3, 32, 0, 10, 11173962},
    {"resnet18", 0.5, false, false, 3, 32, 0, 10, 2797610},
    {"resnet18", 0.25, false, false, 3, 32, 0, 10, 701466},
    {"resnet18", 0.1, false, false, 3, 32, 0, 10, 112778},
    {"mobilenetv2", 1, false, false, 3, 32, 0, 10, 2296922},
    {"mobilenetv2", 0.5, false, false, 3, 32, 0, 10, 715834},
    {"mobilenetv2", 0.25, false, false, 3, 32, 0, 10, 254050},
    {"mobilenetv2", 0.1, false, false, 3, 32, 0, 10, 89226},
    {"shufflenetv2", 1, false, false, 3, 32, 0, 10, 1263854},
    {"shufflenetv2", 0.5, false, false, 3, 32, 0, 10, 433034},
    {"shufflenetv2", 0.25, false, false, 3, 32, 0, 10, 180222},
    {"shufflenetv2", 0.1, false, false, 3, 32, 0, 10, 74302},
    {"squeezenet", 1, false, false, 3, 32, 0, 10, 734986},
    {"squeezenet", 0.5, false, false, 3, 32, 0, 10, 232202},
    {"squeezenet", 0.25, false, false, 3, 32, 0, 10, 84778},
    {"squeezenet", 0.1, false, false, 3, 32, 0, 10, 36482},
    {"resnet20", 1, false, false, 3, 32, 0, 10, 269722},
    {"resnet32", 1, false, false, 3, 32, 0, 10, 464154},
    {"resnet56", 1, false, false, 3, 32, 0, 10, 853018},
    {"resnet110", 1, false, false, 3, 32, 0, 10, 1727962},
    {"resnet20", 1, true, false, 3, 32, 0, 10, 272474},
    {"resnet20", 1, false, true, 3, 32, 0, 10, 269034}, /* a bias in place of scale and shift: 688 fewer */
    {"alexnet", 1, false, false, 3, 32, 0, 10, 2472266},
    {"googlenet", 1, false, false, 3, 32, 0, 10, 6166250},
    {"lenet", 1, false, false, 1, 28, 0, 10, 61706},
    {"mlp", 1, false, false, 1, 28, 0, 10, 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10},
    {"vgg", 1, false, false, 3, 32, 0, 10, VGG},
    {"charlstm", 1, false, false, 0, 0, STEPS, VOCABULARY, 0},
    {"chargpt", 1, false, false, 0, 0, STEPS, VOCABULARY, GPT},
};

static void counts(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const expected *e = &table[i];
        const model_settings s = {e->name, e->width, e->projections, e->no_norm, e->c, e->side, e->side, e->classes,
                                  e->steps};
        trouble why = {""};
        graph *g = model_new(&s, 1, &why);
        EXPECT(g, "%s: %s", e->name, why.text);
        if (!g)
            continue;
        size_t count = e->count;
        if (!strcmp(e->name, "charlstm")) /* one bias or, as in PyTorch, two */
            count = LSTM + 512 * (size_t)(graph_param_count(g) == LSTM + 1024 ? 2 : 1);
        EXPECT(graph_param_count(g) == count, "%s x %g has %zu parameters, not %zu", e->name, e->width,
               graph_param_count(g), count);
        EXPECT(graph_value(g, graph_logits(g))->row == (size_t)e->classes, "%s: logits", e->name);
        graph_free(g);
    }
}

static void names(void)
{
    int n = 0;
    for (; model_name(n); n++) {
        int used = 0;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            used += !strcmp(table[i].name, model_name(n));
        EXPECT(used > 0, "%s has no count here", model_name(n));
        EXPECT(model_about(n) && *model_about(n), "%s", model_name(n));
    }
    EXPECT(n == 15, "%d models", n);
}

static void refused(const char *name, double width, int side, int steps, const char *word)
{
    const model_settings s = {.name = name, .width = width, .c = 3, .h = side, .w = side, .classes = 10,
                              .steps = steps};
    trouble why = {""};
    graph *g = model_new(&s, 1, &why);
    EXPECT(!g && strstr(why.text, word), "%s: '%s'", name, why.text);
    graph_free(g);
}

int main(void)
{
    counts();
    names();
    refused("resnet21", 1, 32, 0, "resnet21");
    refused("alexnet", 1, 28, 0, "29 x 29");
    refused("lenet", 1, 0, 16, "text");
    refused("chargpt", 1, 32, 0, "images");
    refused("shufflenetv2", 0.3, 32, 0, "0.25");
    refused("lenet", -1, 28, 0, "width");
    return failures != 0;
}
