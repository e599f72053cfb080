/* SPDX-License-Identifier: BSD-2-Clause */
/* networks.c - losses, logits and gradients of whole networks against those of another framework in double precision:
 * tests/vectors/fptrain.txt, made by fptrain.py beside it. The first argument is the file; else $top_srcdir tells. */
#include "harness.h"
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 10, STEPS = 9, VOCABULARY = 11 };

static graph *lenet(void)
{
    graph *g = graph_new(1);
    const pool_spec half = {.kernel = 2};
    int x = graph_input(g, 1, 28, 28);
    x = graph_conv(g, x, &(conv_spec){.channels = 6, .kernel = 5, .padding = 2, .bias = true});
    x = graph_max_pool(g, graph_relu(g, x), &half);
    x = graph_conv(g, x, &(conv_spec){.channels = 16, .kernel = 5, .bias = true});
    x = graph_max_pool(g, graph_relu(g, x), &half);
    x = graph_relu(g, graph_linear(g, x, 120, true));
    x = graph_relu(g, graph_linear(g, x, 84, true));
    graph_cross_entropy(g, graph_linear(g, x, 10, true));
    return g;
}

static int conv_norm(graph *g, int x, int channels, int stride, int groups)
{
    const conv_spec spec = {.channels = channels, .kernel = 3, .padding = 1, .stride = stride, .groups = groups};
    return graph_batch_norm(g, graph_conv(g, x, &spec));
}

static graph *residual(void)
{
    graph *g = graph_new(1);
    const pool_spec window = {.kernel = 3, .stride = 2, .padding = 1};
    int x = graph_relu(g, conv_norm(g, graph_input(g, 3, 16, 16), 8, 1, 1));
    int y = graph_relu(g, conv_norm(g, x, 16, 2, 1));
    y = conv_norm(g, y, 16, 1, 1);
    x = graph_relu(g, graph_add(g, y, graph_shortcut(g, x, 16, 2)));
    const int a = graph_slice(g, x, 0, 8), b = graph_slice(g, x, 8, 8);
    const int c = graph_relu6(g, conv_norm(g, b, 8, 1, 8));
    x = graph_shuffle(g, graph_concat(g, 2, (int[2]){a, c}), 2);
    y = graph_conv(g, x, &(conv_spec){.channels = 8, .kernel = 3, .padding = 1, .groups = 2, .bias = true});
    const int p = graph_max_pool(g, x, &window), q = graph_average_pool(g, y, &window);
    x = graph_concat(g, 3, (int[3]){p, q, graph_average_pool(g, x, &window)});
    x = graph_tanh(g, graph_global_pool(g, graph_sigmoid(g, x)));
    graph_cross_entropy(g, graph_linear(g, x, 7, true));
    return g;
}

static graph *recurrent(void)
{
    graph *g = graph_new(1);
    int x = graph_embedding(g, graph_tokens(g, STEPS, VOCABULARY), 6);
    x = graph_lstm(g, graph_lstm(g, x, 10), 10);
    graph_cross_entropy(g, graph_linear(g, x, VOCABULARY, true));
    return g;
}

static graph *transformer(void)
{
    graph *g = graph_new(1);
    int x = graph_positions(g, graph_embedding(g, graph_tokens(g, STEPS, VOCABULARY), 12));
    int y = graph_attention(g, graph_linear(g, graph_layer_norm(g, x), 36, true), 3);
    x = graph_add(g, x, graph_linear(g, y, 12, true));
    y = graph_relu(g, graph_linear(g, graph_layer_norm(g, x), 20, true));
    x = graph_add(g, x, graph_linear(g, y, 12, true));
    graph_cross_entropy(g, graph_linear(g, x, VOCABULARY, false));
    return g;
}

/* The same networks as texts. */
static const char lenet_text[] = "conv 6 5 pad=2, relu, max_pool 2\n"
                                 "conv 16 5, relu, max_pool 2\n"
                                 "linear 120, relu, linear 84, relu, linear classes\n";
static const char residual_text[] = "define norm_conv to stride groups {\n"
                                    "    conv to 3 stride=stride pad=1 groups=groups bias=no, batch_norm\n"
                                    "}\n"
                                    "norm_conv 8 1 1, relu\n"
                                    "branch add { norm_conv 16 2 1, relu, norm_conv 16 1 1 } { shortcut 16 2 }, relu\n"
                                    "branch concat { slice 0 8 } { slice 8 8, norm_conv 8 1 8, relu6 }, shuffle 2\n"
                                    "branch concat { max_pool 3 stride=2 pad=1 }\n"
                                    "    { conv 8 3 pad=1 groups=2, average_pool 3 stride=2 pad=1 }\n"
                                    "    { average_pool 3 stride=2 pad=1 }\n"
                                    "sigmoid, global_pool, tanh, linear classes\n";
static const char recurrent_text[] = "embedding 6, repeat 2 { lstm 10 }, linear classes";
static const char transformer_text[] = "let d = 12\n"
                                       "embedding d, positions\n"
                                       "branch add { } { layer_norm, linear 3*d, attention 3, linear d }\n"
                                       "branch add { } { layer_norm, linear 20, relu, linear d }\n"
                                       "linear classes bias=no\n";

static const struct network {
    const char *name;
    graph *(*build)(void);
    const char *text;
    int c, side, classes, steps;
} networks[] = {{"lenet", lenet, lenet_text, 1, 28, 10, 0},
                {"residual", residual, residual_text, 3, 16, 7, 0},
                {"recurrent", recurrent, recurrent_text, 1, 1, VOCABULARY, STEPS},
                {"transformer", transformer, transformer_text, 1, 1, VOCABULARY, STEPS}};

static graph *described(const struct network *n)
{
    const model_settings s = {.name = "test.net",
                              .c = n->c,
                              .h = n->side,
                              .w = n->side,
                              .classes = n->classes,
                              .steps = n->steps,
                              .text = n->text,
                              .from = n->name,
                              .line = 1};
    trouble why = {""};
    graph *g = model_new(&s, 1, &why);
    check(g != NULL, "%s", why.text);
    if (!g)
        exit(1);
    return g;
}

static harness *run(const struct network *n, const backend *b, bool from_text, forward_result *result)
{
    graph *g = from_text ? described(n) : n->build();
    graph_finish(g, SAMPLES, b, 2);
    harness *h = harness_new(g, 0.25, 40);
    const value *in = graph_value(g, 0), *out = graph_value(g, graph_logits(g));
    const size_t fed = SAMPLES * (size_t)in->rows_per_sample * in->row;
    const size_t rows = SAMPLES * (size_t)out->rows_per_sample;
    float *x = need(fed, sizeof *x);
    int *labels = need(rows, sizeof *labels);
    for (size_t i = 0; i < fed; i++)
        x[i] = in->is_tensor ? (float)sequence(3, i) : (float)(i * 7 % VOCABULARY);
    for (size_t i = 0; i < rows; i++)
        labels[i] = (int)((i * 5 + 2) % out->row);
    *result = harness_run(h, SAMPLES, x, labels, NULL, 1);
    free(x);
    free(labels);
    return h;
}

/* One line of the file: a tensor's checksums and some of its elements. */
static void compare(const char *network, const char *line, const float *got, size_t n)
{
    char name[64];
    size_t count = 0;
    double dot, square, sum = 0, squares = 0;
    int used = 0;
    if (sscanf(line, "%63s %zu %lf %lf%n", name, &count, &dot, &square, &used) != 4 || count != n) {
        check(false, "%s: %zu elements where the file says: %.60s", network, n, line);
        return;
    }
    const double size = sqrt(square / (double)n);
    for (size_t i = 0; i < n; i++) {
        sum += (double)got[i] * sequence(99, i);
        squares += (double)got[i] * (double)got[i];
    }
    check(fabs(sum - dot) <= 1e-5 * size * (double)n, "%s, %s: checksum %.9g, not %.9g", network, name, sum, dot);
    check(fabs(squares - square) <= 1e-5 * square, "%s, %s: squares %.9g, not %.9g", network, name, squares, square);
    size_t index;
    double want;
    for (int more; sscanf(line + used, " %zu:%lf%n", &index, &want, &more) == 2; used += more)
        check(index < n && fabs((double)got[index] - want) <= 2e-5 * (size + fabs(want)),
              "%s, %s: element %zu is %.9g, not %.9g", network, name, index, (double)got[index], want);
}

static void read_network(FILE *file, char *line, int capacity, const char *backend_name, bool from_text)
{
    char name[64] = "";
    double loss = 0;
    size_t correct = 0, at = 0;
    forward_result r;
    sscanf(line, "network %63s %lf %zu", name, &loss, &correct);
    while (at < sizeof networks / sizeof *networks && strcmp(networks[at].name, name) != 0)
        at++;
    check(at < sizeof networks / sizeof *networks, "there is no network %s", name);
    const backend *b = backend_named(backend_name, NULL);
    harness *h = run(&networks[at], b, from_text, &r);
    check(fabs(r.loss - loss) < 2e-6 * loss && r.correct == correct, "%s: loss %.9g, not %.9g; %zu correct, not %zu",
          name, r.loss, loss, r.correct, correct);
    int p = -1;
    while (fgets(line, capacity, file) && strncmp(line, "network ", 8) != 0) {
        if (p < 0) {
            compare(name, line, h->v[graph_logits(h->g)], h->v_size[graph_logits(h->g)]);
        } else {
            const param *q = graph_param(h->g, p);
            check(strncmp(line, q->name, strlen(q->name)) == 0, "%s: %s where the file says %.30s", name, q->name,
                  line);
            compare(name, line, h->dw[p], q->size);
        }
        p++;
    }
    check(p == graph_params(h->g), "%s: %d parameters, not %d", name, graph_params(h->g), p);
    harness_free(h);
    backend_free(b);
}

static int read_file(const char *path, const char *backend_name, bool from_text)
{
    static char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        check(false, "cannot read %s", path);
        return 0;
    }
    line[0] = 0;
    if (fgets(line, sizeof line, file))
        while (strncmp(line, "network ", 8) == 0) {
            read_network(file, line, sizeof line, backend_name, from_text);
            count++;
        }
    fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"blas", "onednn", "emulated:fp64"};
    char path[4096];
    const char *source = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s", argc > 1 ? argv[1] : "");
    if (argc < 2)
        snprintf(path, sizeof path, "%s/tests/vectors/fptrain.txt", source ? source : "..");
    for (int i = 0; i < 3; i++) {
        const backend *b = backend_named(names[i], NULL);
        if (b)
            for (int from_text = 0; from_text < 2; from_text++)
                check(read_file(path, names[i], from_text) == 4, "%s does not hold four networks", path);
        backend_free(b);
    }
    return failures();
}
