/* SPDX-License-Identifier: BSD-2-Clause */
/* models.c - parameter counts of the named models, against the counts that others publish for the same networks. */
#include "models/model.h"

#include "expect.h"

typedef struct expected {
    model_settings of; /* where nothing is said of 3 x 32 x 32 pixels and 10 classes; or of a text */
    size_t count;      /* 0: LSTM */
} expected;

/* An LSTM has 4 gates of input and state weights and two biases; a transformer block of d features 12 d^2 + 13 d. */
enum { VOCABULARY = 65, STEPS = 32, D = 128 };
enum { LSTM = 65 * 64 + 4 * 128 * (64 + 128) + 128 * 65 + 65 };
enum { GPT = 65 * D + STEPS * D + 4 * (12 * D * D + 13 * D) + 2 * D + D * 65 + 65 };

/* torchvision's VGG without normalisation, 224 x 224 and 1000 classes, less its classifier of 123642856, and one of 512
 * numbers. A ResNet-34 of kuangliu/pytorch-cifar. He et al. 2016, table 6, round 0.66 M (44 layers, with projections)
 * and 19.4 M (1202 layers). */
enum { VGG_HEAD = 512 * 10 + 10, VGG_CLASSIFIER = 123642856 };
/* A stage of c channels after one of half of them: a convolution of c/2 x c, then 2 n - 1 of c x c, all with norms. */
enum { BLOCK16 = 2 * (16 * 16 * 9 + 32) };
enum {
    STAGE32 = 32 * 16 * 9 + 64,
    PLAIN32 = 32 * 32 * 9 + 64,
    STAGE64 = 64 * 32 * 9 + 128,
    PLAIN64 = 64 * 64 * 9 + 128
};
enum { ENDS = 3 * 16 * 9 + 32 + 650 };

#define SMALL_RESNET(n) (ENDS + (n) * BLOCK16 + STAGE32 + (2 * (n) - 1) * PLAIN32 + STAGE64 + (2 * (n) - 1) * PLAIN64)

static const expected table[] =
    LIST({{.name = "resnet18"}, 11173962}, {{.name = "resnet18", .width = 0.5}, 2797610},
         {{.name = "resnet18", .width = 0.25}, 701466}, {{.name = "resnet18", .width = 0.1}, 112778},
         {{.name = "mobilenetv2"}, 2296922}, {{.name = "mobilenetv2", .width = 0.5}, 715834},
         {{.name = "mobilenetv2", .width = 0.25}, 254050}, {{.name = "mobilenetv2", .width = 0.1}, 89226},
         {{.name = "shufflenetv2"}, 1263854}, {{.name = "shufflenetv2", .width = 0.5}, 433034},
         {{.name = "shufflenetv2", .width = 0.25}, 180222}, {{.name = "shufflenetv2", .width = 0.1}, 74302},
         {{.name = "squeezenet"}, 734986}, {{.name = "squeezenet", .width = 0.5}, 232202},
         {{.name = "squeezenet", .width = 0.25}, 84778}, {{.name = "squeezenet", .width = 0.1}, 36482},
         {{.name = "resnet20"}, 269722}, {{.name = "resnet32"}, 464154}, {{.name = "resnet56"}, 853018},
         {{.name = "resnet110"}, 1727962}, {{.name = "resnet20", .projections = true}, 272474},
         /* a bias in place of scale and shift: 688 fewer */
         {{.name = "resnet20", .no_norm = true}, 269034}, {{.name = "alexnet"}, 2472266},
         {{.name = "googlenet"}, 6166250}, {{.name = "lenet", .c = 1, .h = 28, .w = 28}, 61706},
         {{.name = "mlp", .c = 1, .h = 28, .w = 28}, 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10},
         {{.name = "charlstm", .steps = STEPS}, 0}, {{.name = "chargpt", .steps = STEPS}, GPT},
         {{.name = "vgg"}, 132863336 - VGG_CLASSIFIER + VGG_HEAD},
         {{.name = "vgg", .blocks = "2,2,2,2,2"}, 133047848 - VGG_CLASSIFIER + VGG_HEAD},
         {{.name = "vgg", .blocks = "2,2,3,3,3"}, 138357544 - VGG_CLASSIFIER + VGG_HEAD},
         {{.name = "vgg", .blocks = "2,2,4,4,4"}, 143667240 - VGG_CLASSIFIER + VGG_HEAD},
         {{.name = "resnet18", .blocks = "3,4,6,3"}, 21282122}, {{.name = "resnet", .depth = 56}, 853018},
         {{.name = "resnet", .blocks = "18,18,18"}, 1727962}, {{.name = "resnet"}, SMALL_RESNET(3)},
         {{.name = "resnet", .depth = 8}, SMALL_RESNET(1)}, {{.name = "resnet", .depth = 44}, SMALL_RESNET(7)},
         {{.name = "resnet", .depth = 1202}, SMALL_RESNET(200)},
         {{.name = "mlp", .hidden = "1000,500,20"}, 3072 * 1000 + 1000 + 500000 + 500 + 10000 + 20 + 200 + 10},
         {{.name = "lenet", .kernel = 3, .hidden = "50"}, 6 * 27 + 6 + 16 * 54 + 16 + 16 * 49 * 50 + 50 + 510},
         {{.name = "chargpt", .blocks = "7", .features = 96, .heads = 6, .steps = STEPS},
          65 * 96 + STEPS * 96 + 7 * (12 * 96 * 96 + 13 * 96) + 192 + 96 * 65 + 65},
         {{.name = "chargpt", .blocks = "1", .hidden = "64", .steps = STEPS},
          65 * D + STEPS * D + (4 * D * D + 4 * D) + 4 * D + 2 * 64 * D + 64 + D + 2 * D + D * 65 + 65},
         {{.name = "charlstm", .features = 32, .hidden = "48,40", .steps = STEPS},
          65 * 32 + 4 * 48 * (32 + 48 + 1) + 4 * 40 * (48 + 40 + 1) + 40 * 65 + 65});

static void counts(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        model_settings s = table[i].of;
        trouble why = {""};
        const bool text = s.steps > 0;
        s.c = text || s.c ? s.c : 3;
        s.h = s.w = text || s.h ? s.h : 32;
        s.classes = text ? VOCABULARY : 10;
        graph *g = model_new(&s, 1, &why);
        EXPECT(g, "row %zu, %s: %s", i, s.name, why.text);
        if (!g)
            continue;
        size_t count = table[i].count;
        if (!count) /* one bias or, as in PyTorch, two */
            count = LSTM + 512 * (size_t)(graph_param_count(g) == LSTM + 1024 ? 2 : 1);
        EXPECT(graph_param_count(g) == count, "row %zu, %s x %g has %zu parameters, not %zu", i, s.name, s.width,
               graph_param_count(g), count);
        EXPECT(graph_value(g, graph_logits(g))->row == (size_t)s.classes, "%s: logits", s.name);
        graph_free(g);
    }
    EXPECT(SMALL_RESNET(7) / 10000 == 65 && SMALL_RESNET(200) / 100000 == 194, "%d, %d", SMALL_RESNET(7),
           SMALL_RESNET(200));
}

static void names(void)
{
    int n = 0;
    for (; model_name(n); n++) {
        int used = 0;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            used += !strcmp(table[i].of.name, model_name(n));
        EXPECT(used > 0, "%s has no count here", model_name(n));
        EXPECT(model_about(n) && *model_about(n), "%s", model_name(n));
    }
    EXPECT(n == 16, "%d models", n);
}

/* Of pictures of 3 x side x side, or of a text. */
static void refused(model_settings s, int side, const char *sentence)
{
    trouble why = {""};
    s.c = 3;
    s.h = s.w = side;
    s.classes = 10;
    graph *g = model_new(&s, 1, &why);
    EXPECT(!g && !strcmp(why.text, sentence), "'%s', not '%s'", why.text, sentence);
    graph_free(g);
}

/* What a model does not use is refused, for every one of them and every setting. */
static void settings_not_used(void)
{
    static const char *const keys[] = {"projections", "norm",     "blocks", "depth",
                                       "hidden",      "features", "heads",  "kernel"};
    for (int i = 0; model_name(i); i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const bool text = !strncmp(model_name(i), "char", 4);
            model_settings s = {.name = model_name(i), .c = 3, .h = 32, .w = 32, .classes = 10, .steps = text ? 8 : 0};
            trouble why = {""};
            s.projections = k == 0;
            s.no_norm = k == 1;
            s.blocks = k == 2 ? "1" : "";
            s.depth = k == 3 ? 8 : 0;
            s.hidden = k == 4 ? "16" : "";
            s.features = k == 5 ? 16 : 0;
            s.heads = k == 6 ? 2 : 0;
            s.kernel = k == 7 ? 1 : 0;
            graph *with = model_new(&s, 1, &why);
            s = (model_settings){.name = s.name, .c = 3, .h = 32, .w = 32, .classes = 10, .steps = s.steps};
            graph *without = model_new(&s, 1, NULL);
            char sentence[128];
            snprintf(sentence, sizeof sentence, "the model %s does not use model.%s; it takes", s.name, keys[k]);
            if (with) /* and what is taken makes another network, but for the heads, which have no parameters */
                EXPECT(k == 6 || graph_param_count(with) != graph_param_count(without), "%s, %s", s.name, keys[k]);
            else
                EXPECT(!strncmp(why.text, sentence, strlen(sentence)), "%s, %s: %s", s.name, keys[k], why.text);
            graph_free(with);
            graph_free(without);
        }
}

static void refusals(void)
{
    refused((model_settings){.name = "resnet", .depth = 21}, 32,
            "a resnet for small images has 6 n + 2 layers, as 8, 14 or 20; not 21");
    refused((model_settings){.name = "resnet", .depth = 20, .blocks = "3"}, 32,
            "model.depth and model.blocks both say how many blocks there are: one of them");
    refused((model_settings){.name = "mlp", .hidden = "128,,3"}, 32,
            "model.hidden is at most 32 numbers from 1 to 65536 with commas between, not ',3'");
    refused((model_settings){.name = "vgg", .blocks = "1,0"}, 32,
            "model.blocks is at most 32 numbers from 1 to 1000 with commas between, not '0'");
    refused((model_settings){.name = "chargpt", .heads = 3, .steps = 8}, 0, "128 features do not divide among 3 heads");
    refused((model_settings){.name = "lenet", .kernel = 31}, 32,
            "conv2: its input, 16 x 16, is smaller than the kernel");
    refused((model_settings){.name = "vgg", .blocks = "1,1,1,1,1,1"}, 32,
            "max_pool6: its input, 1 x 1, is smaller than the window");
    refused((model_settings){.name = "resnet21"}, 32,
            "no model is called 'resnet21' (did you mean 'resnet20'?) ('fptrain models' lists them)");
    refused((model_settings){.name = "alexnet"}, 28,
            "the model alexnet needs images of at least 29 x 29; these have 28 x 28");
    refused((model_settings){.name = "lenet", .steps = 16}, 0,
            "the model lenet works on images, and the data are text");
    refused((model_settings){.name = "chargpt"}, 32, "the model chargpt works on text, and the data are images");
    refused((model_settings){.name = "shufflenetv2", .width = 0.3}, 32,
            "shufflenetv2 has the widths 1, 0.5, 0.25 and 0.1, not 0.3");
    refused((model_settings){.name = "lenet", .width = -1}, 28,
            "the width of a model lies between 0 and 64; -1 does not");
}

int main(void)
{
    counts();
    names();
    settings_not_used();
    refusals();
    return failures != 0;
}
