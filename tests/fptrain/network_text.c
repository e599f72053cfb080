/* SPDX-License-Identifier: BSD-2-Clause */
/* network_text.c - networks described in a text: those of share/fptrain/networks are the models of the same names,
 * operator by operator and bit by bit; every layer of the table is reached; errors say where, and limits hold.
 * networks.c computes such networks and compares with another framework. */
#include "models/network_text.h"
#include "models/layers.h"
#include "models/model.h"

#include "expect.h"

static model_settings settings_of(const char *name, bool text, double width)
{
    return (model_settings)LIST(.name = name, .width = width, .c = text ? 1 : 3, .h = text ? 1 : 32, .w = text ? 1 : 32,
                                .classes = text ? 65 : 10, .steps = text ? 24 : 0, .from = "file", .line = 1);
}

/* ------------------------------------------------------------------------------------------------ the models */

static char *text_of(const char *name)
{
    char path[1024];
    const char *source = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/share/fptrain/networks/%s.net", source ? source : "..", name);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, NETWORK_TEXT_LARGEST + 1);
    EXPECT(file && text && fread(text, 1, NETWORK_TEXT_LARGEST, file) > 0, "%s", path);
    if (file)
        fclose(file);
    return text;
}

static void same_operators(const char *name, graph *a, graph *b)
{
    EXPECT(graph_ops(a) == graph_ops(b), "%s: %d operators, not %d", name, graph_ops(b), graph_ops(a));
    for (int i = 0; i < graph_ops(a) && i < graph_ops(b); i++) {
        const op_info x = graph_op(a, i), y = graph_op(b, i);
        EXPECT(!strcmp(x.name, y.name) && !strcmp(x.type, y.type) && x.inputs == y.inputs && x.output == y.output,
               "%s: %s is %s", name, x.name, y.name);
        EXPECT(x.inputs == y.inputs && !memcmp(x.input, y.input, (size_t)x.inputs * sizeof *x.input), "%s: %s reads",
               name, x.name);
        EXPECT(x.params == y.params && x.macs == y.macs && x.fan == y.fan, "%s: %s", name, x.name);
    }
    EXPECT(graph_logits(a) == graph_logits(b) && graph_values(a) == graph_values(b), "%s: values", name);
    for (int i = 0; i < graph_values(a) && i < graph_values(b); i++) {
        const value *x = graph_value(a, i), *y = graph_value(b, i);
        EXPECT(x->c == y->c && x->h == y->h && x->w == y->w && x->rows_per_sample == y->rows_per_sample &&
                   x->is_tensor == y->is_tensor,
               "%s: value %d", name, i);
    }
}

static void same_weights(const char *name, graph *a, graph *b)
{
    EXPECT(graph_params(a) == graph_params(b), "%s: parameters", name);
    for (int i = 0; i < graph_params(a) && i < graph_params(b); i++) {
        const param *x = graph_param(a, i), *y = graph_param(b, i);
        const int same = !strcmp(x->name, y->name) && x->dims == y->dims &&
                         !memcmp(x->dim, y->dim, (size_t)x->dims * sizeof *x->dim);
        EXPECT(same, "%s: %s and %s", name, x->name, y->name);
        float *u = malloc(x->size * sizeof *u), *v = malloc(x->size * sizeof *v);
        if (same && u && v) {
            graph_initial(a, i, u);
            graph_initial(b, i, v);
            EXPECT(!memcmp(u, v, x->size * sizeof *u), "%s: other first weights of %s", name, x->name);
        }
        FREE(u, v);
    }
}

static void same_as_model(const char *name, bool is_text, double width)
{
    char file[64];
    trouble why = {""};
    model_settings s = settings_of(name, is_text, width);
    graph *built = model_new(&s, 5, &why);
    EXPECT(built, "%s: %s", name, why.text);
    char *text = text_of(name);
    snprintf(file, sizeof file, "%s.net", name);
    s.name = file;
    s.text = text;
    graph *described = model_new(&s, 5, &why);
    EXPECT(described, "%s: %s", file, why.text);
    if (built && described) {
        same_operators(name, built, described);
        same_weights(name, built, described);
    }
    graph_free(built);
    graph_free(described);
    free(text);
}

static void the_models(void)
{
    static const struct {
        const char *name;
        bool text;
        double width[2]; /* the second, where it is not 0 */
    } models[] = {{"mlp", false, {1, 0.013}},       {"lenet", false, {1, 2.25}},  {"resnet20", false, {1, 0.3}},
                  {"resnet18", false, {0.1, 0.37}}, {"alexnet", false, {0.1}},    {"vgg", false, {0.1}},
                  {"googlenet", false, {0.1}},      {"squeezenet", false, {1}},   {"mobilenetv2", false, {1}},
                  {"shufflenetv2", false, {1}},     {"charlstm", true, {1, 0.4}}, {"chargpt", true, {1, 0.2}}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int k = 0; k < 2 && models[i].width[k] > 0; k++)
            same_as_model(models[i].name, models[i].text, models[i].width[k]);
}

/* ------------------------------------------------------------------------------------------------ layers */

static graph *described(const char *text, bool is_text, trouble *why)
{
    model_settings s = settings_of("own.net", is_text, 1);
    s.text = text;
    return model_new(&s, 1, why);
}

/* Every layer of the table, its arguments by name and in their order, and what became of the shapes. */
static void all_layers(void)
{
    static const char image[] = "conv 8 kernel=5 stride=2 pad=2 groups=1 bias=no name=stem\n" /* 8 x 16 x 16 */
                                "batch_norm, relu6, sigmoid, tanh, dropout 0.25\n"
                                "max_pool 3 stride=2 pad=1, average_pool kernel=2\n" /* 8 x 4 x 4 */
                                "branch concat { slice 0 4 } { slice 4 channels-4 }, shuffle groups=2\n"
                                "branch add { conv 12 3 1 1 4 yes } { shortcut channels+4 } { conv 12 1 }\n"
                                "global_pool, layer_norm, relu, linear outputs=classes bias=no # the end";
    static const char text[] = "embedding 12, positions, lstm 12\n"
                               "linear 3*channels, attention heads=3, linear classes";
    const char *const texts[] = {image, text};
    for (int k = 0; k < 2; k++) {
        trouble why = {""};
        graph *g = described(texts[k], k == 1, &why);
        EXPECT(g, "%s", why.text);
        if (g && k == 0) {
            EXPECT(!strcmp(graph_param(g, 0)->name, "stem.weight"), "%s", graph_param(g, 0)->name);
            /* 8*3*25, norm 16, 12*2*9 + 12, 12*8 + 12, norm 24, 12*10 */
            EXPECT(graph_param_count(g) == 600 + 16 + 228 + 108 + 24 + 120, "%zu", graph_param_count(g));
        }
        graph_free(g);
    }
    for (int i = 0; layer_table(i); i++) {
        const char *name = layer_table(i)->name, *at = strstr(image, name);
        EXPECT(at || strstr(text, name), "%s is not tried", name);
        EXPECT(layer_table(i)->about && strlen(layer_table(i)->about) > 5, "%s", name);
    }
}

static void names_and_scopes(void)
{
    trouble why = {""};
    graph *g = described("let a = 7\n"
                         "define twice n {\n  let b = a*n\n  linear b, relu\n  linear (b+1)*2-2, relu\n}\n"
                         "twice 2\ntwice 3*a-18\nrepeat 2 {\n let c = 5\n linear c }\n linear classes",
                         false, &why);
    EXPECT(g, "%s", why.text);
    static const int units[] = {14, 28, 21, 42, 5, 5, 10};
    int seen = 0;
    for (int i = 0; g && i < graph_ops(g); i++)
        if (!strcmp(graph_op(g, i).type, "linear")) {
            EXPECT(graph_value(g, graph_op(g, i).output)->c == units[seen], "linear %d: %d", seen + 1,
                   graph_value(g, graph_op(g, i).output)->c);
            seen++;
        }
    EXPECT(seen == 7, "%d", seen);
    graph_free(g);
}

/* The 61st relu and the first relu6 would have one name by their types and numbers. */
static void numbers_of_names(void)
{
    trouble why = {""};
    graph *g = described("repeat 61 { relu } relu6, relu, relu6, linear classes", false, &why);
    EXPECT(g, "%s", why.text);
    for (int i = 0; g && i < graph_ops(g); i++)
        for (int k = 0; k < i; k++)
            EXPECT(strcmp(graph_op(g, i).name, graph_op(g, k).name), "operators %d and %d are named %s", k, i,
                   graph_op(g, i).name);
    graph_free(g);
}

/* ------------------------------------------------------------------------------------------------ errors */

static void refused_on(bool is_text, const char *text, const char *sentence)
{
    trouble why = {""};
    graph *g = described(text, is_text, &why);
    EXPECT(!g && !strcmp(why.text, sentence), "'%.60s' says '%s'", text, why.text);
    graph_free(g);
}

static void refused(const char *text, const char *sentence)
{
    refused_on(false, text, sentence);
}

static void errors(void)
{
    refused("", "file:1: there is no layer");
    refused("# nothing\n\n", "file:3: there is no layer");
    refused("linear 10\ntahn\n",
            "file:2: there is no layer 'tahn' (did you mean 'tanh'?) ('fptrain models --layers' lists them)");
    refused("linear", "file:1: linear: 'outputs' is missing");
    refused("conv 4 3 5 1 1 yes no", "file:1: conv: 'no' is too much");
    refused("conv 4 3 padding=1", "file:1: conv has no argument 'padding'");
    refused("conv 4 3 pad=1 2", "file:1: conv: '2' after an argument with a name");
    refused("conv 4 3 kernel=3", "file:1: conv: 'kernel' for the second time");
    refused("relu 3", "file:1: relu: '3' is too much");
    refused("linear 0", "file:1: outputs is from 1 to 65536, not 0");
    refused("linear 65537", "file:1: outputs is from 1 to 65536, not 65537");
    refused("linear 10 bias=maybe", "file:1: bias is yes or no, not 'maybe'");
    refused("dropout 1", "file:1: rate is from 0 to 0.999, not 1");
    refused("dropout nan", "file:1: rate is a number such as 0.5, not 'nan'");
    refused("linear 3* 4", "file:1: '3*': a number or a name is missing; an expression has no blanks");
    refused("linear 7/2", "file:1: '7/2': the division leaves a rest");
    refused("linear 1/0", "file:1: '1/0': the division leaves a rest");
    refused("linear units", "file:1: 'units': nothing is called 'units'");
    refused("linear (3+4", "file:1: '(3+4': ')' is missing");
    refused("linear 3)", "file:1: '3)': no expression of whole numbers");
    refused("linear 99999999999999999999", "file:1: '99999999999999999999': the number is too large");
    refused("linear 65536*65536", "file:1: '65536*65536': the number is too large");
    refused("linear steps", "file:1: 'steps': nothing is called 'steps'");
    refused("linear scaled(0)", "file:1: 'scaled(0)': what the width multiplies is from 1 to 65536");
    refused("repeat 2 {", "file:1: '{' without '}'");
    refused("relu\n}", "file:2: '}' without '{'");
    refused("{ relu }", "file:1: a block without 'repeat', 'branch' or 'define' before it");
    refused("repeat 0 { relu }", "file:1: a block is repeated from 1 to 65536 times, not 0");
    refused("repeat 2 { }", "file:1: repeat N { ... } expected");
    refused("repeat 2\nrelu", "file:1: repeat N { ... } expected");
    refused("branch { relu } { }", "file:1: branch add { ... } { ... } or branch concat { ... } { ... } expected");
    refused("branch add { relu }", "file:1: a branch has at least two blocks");
    refused("branch add { conv 4 1 } { }", "file:1: add1: 4 x 32 x 32 and 3 x 32 x 32 do not add");
    refused("branch concat { conv 4 3 } { }", "file:1: concat1: 32 x 32 beside 30 x 30");
    refused("define relu { tanh }", "file:1: 'relu' is the name of something else");
    refused("define f n n { linear n }", "file:1: two arguments are called 'n'");
    refused("define f { tanh }\nlinear 10", "file:1: 'f' is defined and not used");
    refused("repeat 2 { define f { tanh } }", "file:1: define stands at the top alone");
    refused("define f n { linear n }\nf", "file:2: f takes 1 arguments, not 0");
    refused("define f { f }\nf", "file:1: blocks within blocks, more than 16 deep");
    refused("let a 3", "file:1: let NAME = EXPRESSION expected");
    refused("let a = 3\nlet a = 4", "file:2: 'a' is the name of something else");
    refused("let classes = 3", "file:1: 'classes' is the name of something else");
    refused("repeat 1 { let a = 3\n relu }\nlinear a", "file:3: 'a': nothing is called 'a'");
    refused("let a = 3\ndefine f { linear b }\nrepeat 1 { let b = 2, f }", "file:2: 'b': nothing is called 'b'");
    refused("tanh name=conv3", "file:1: 'conv3' is kept for the names that the program gives");
    refused("tanh name=input", "file:1: 'input' is kept for the names that the program gives");
    refused("tanh name=3x", "file:1: a name has 1 to 39 letters, digits, '_' and '-', a letter first");
    refused("repeat 2 { tanh name=t }", "file:1: two operators are called 't'");
    refused("linear 9", "file:1: the network ends with 9 x 1 x 1, and the data have 10 classes");
    refused("conv 10 33", "file:1: conv1: its input, 32 x 32, is smaller than the kernel");
    refused("conv 10 3 groups=2", "file:1: conv1: 3 and 10 channels in 2 groups");
    refused("slice 2 2", "file:1: slice1: channels 2 to 3 of 3");
    refused("attention 1", "file:1: attention1: queries, keys and values of 1 heads in 3 x 32 x 32");
    refused("embedding 4", "file:1: an embedding reads a text, and comes first");
    refused("tanh \x01", "file:1: a character that is no printable ASCII");
    refused_on(true, "linear 65", "file:1: the data are text, which only an embedding reads");
    refused_on(true, "branch add { embedding 4 } { }", "file:1: the data are text, which only an embedding reads");
    refused_on(true, "embedding 4\nattention 2",
               "file:2: attention1: queries, keys and values of 2 heads in 4 x 1 x 1");
}

/* Many of something: text before, one piece again and again, text behind. */
static void refused_many(const char *before, const char *piece, int count, const char *behind, const char *sentence)
{
    const size_t size = strlen(before) + strlen(piece) * (size_t)count + strlen(behind) + 1;
    char *text = calloc(1, size), *at = text;
    if (!text)
        exit(1);
    at += snprintf(at, size, "%s", before);
    for (int i = 0; i < count; i++, at += strlen(piece))
        strcpy(at, piece);
    strcpy(at, behind);
    refused(text, sentence);
    free(text);
}

static void limits(void)
{
    refused_many("", " ", NETWORK_TEXT_LARGEST + 1, "", "file:1: a text of more than 65536 bytes");
    refused_many("", "relu,", 8192, "relu", "file:1: more than 16384 words");
    refused_many("linear ", "1", 121, "", "file:1: a word of more than 120 characters");
    refused_many("", "repeat 1 {", 17, "relu", "file:1: blocks within blocks, more than 16 deep");
    refused("repeat 4096 { relu }\nrelu", "file:2: more than 4096 operators");
    refused("repeat 60000 { let a = 1, let b = 2 }", "file:1: more than 65536 statements are executed");
    refused_many("branch concat", "{ }", 65, "", "file:1: more than 64 branches");
    refused("conv 65536 1", "file:1: 65536 x 32 x 32 are too many");
    refused("conv 60000 1 stride=32\nbranch concat { } { }", "file:2: 120000 x 1 x 1 are too many");
    refused("repeat 3 { linear 65536 }",
            sizeof(size_t) > 4 ? "file:1: more than 2^32 parameters"
                               : "file:1: linear2: weight has more numbers than this machine can address");
    refused("conv 3 4096 pad=4096\nlinear 1", "file:1: 3 x 4129 x 4129 are too many");
    refused("conv 200 1\nconv 1 4096 pad=4064\nlinear 1",
            "file:2: conv2: a kernel of 4096 x 4096 over 200 channels is too large");
}

/* A width that nothing follows is refused, and so are the other settings of named models. */
static void settings_that_do_nothing(void)
{
    trouble why = {""};
    model_settings s = settings_of("own.net", false, 0.5);
    s.text = "linear 10";
    graph *g = model_new(&s, 1, &why);
    EXPECT(!g && !strcmp(why.text, "the model own.net does not use model.width; it takes none of these settings"), "%s",
           why.text);
    graph_free(g);
    s.text = "linear scaled(20), linear classes";
    g = model_new(&s, 1, &why);
    EXPECT(g && graph_value(g, 1)->c == 10, "%s", why.text);
    graph_free(g);
    s.heads = 2;
    g = model_new(&s, 1, &why);
    EXPECT(!g && !strcmp(why.text, "the model own.net does not use model.heads; it takes width"), "%s", why.text);
    graph_free(g);
}

static void sameness(void)
{
    EXPECT(network_text_same("relu\n  linear 3 # end\n\n", "# a\nrelu\nlinear 3"), "comments and blanks");
    EXPECT(network_text_same("conv 4 3\nrelu", "conv 4 \t3 \nrelu"), "longer gaps");
    EXPECT(!network_text_same("conv 4 3", "conv 43") && !network_text_same("conv 43", "conv 4 3"), "no gap");
    EXPECT(!network_text_same("relu\nlinear 3", "relu\nlinear 4"), "another number");
    EXPECT(!network_text_same("relu", "relu\nrelu"), "a line more");
    EXPECT(!network_text_same("relu\nrelu", "relu"), "a line less");
    EXPECT(network_text_is("a.net") && !network_text_is(".net") && !network_text_is("net") && !network_text_is("a.ne"),
           "names");
}

int main(void)
{
    the_models();
    all_layers();
    names_and_scopes();
    numbers_of_names();
    errors();
    limits();
    settings_that_do_nothing();
    sameness();
    return failures != 0;
}
