/* SPDX-License-Identifier: BSD-2-Clause */
/* networks.c - losses, logits and gradients of whole networks against those of another framework in double precision:
 * tests/vectors/fptrain.txt, made by fptrain.py beside it. The first argument is the file; else $top_srcdir tells. */
#include "harness.h"
#include "models/model.h"

enum { SAMPLES = 10, STEPS = 9, VOCABULARY = 11 };

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
/* What the other networks lack: shapes of convolutions and pools, values that two operators read, features that are
 * normalised, inputs of relu6 past 6. */
static const char layers_text[] =
    "conv 4 3 pad=1, branch add { } { }, branch add { } { }, branch add { } { }, relu6\n"
    "conv 4 3 pad=1 groups=4 bias=no, conv 6 5 stride=2 pad=2 bias=no, conv 5 3 bias=no\n"
    "branch add { conv 8 1 stride=2 bias=no } { shortcut 8 2 }, conv 4 1, tanh, conv 6 3 pad=1 groups=2\n"
    "branch concat { relu } { average_pool 3 stride=1 pad=1 } { relu }, shuffle 3\n"
    "branch add { max_pool 2 } { average_pool 2 }, conv 18 3 stride=2 pad=1 groups=18, relu\n"
    "conv 5 3 stride=3 pad=2 bias=no, linear 9 bias=no, batch_norm, relu, linear classes\n";
/* A convolution without room of its own, or beside it; what writes before its tensor ends the test. */
static const char points_text[] = "conv classes 1, global_pool";
static const char recurrent_text[] = "embedding 6, repeat 2 { lstm 10 }, linear classes";
static const char transformer_text[] = "let d = 12\n"
                                       "embedding d, positions\n"
                                       "branch add { } { layer_norm, linear 3*d, attention 3, linear d }\n"
                                       "branch add { } { layer_norm, linear 20, relu, linear d }\n"
                                       "linear classes bias=no\n";

static const struct network {
    const char *name, *text;
    int c, h, w, classes, steps;
} networks[] = {{"lenet", lenet_text, 1, 28, 28, 10, 0},
                {"residual", residual_text, 3, 16, 16, 7, 0},
                {"layers", layers_text, 3, 44, 37, 6, 0},
                {"points", points_text, 3, 40, 33, 6, 0},
                {"recurrent", recurrent_text, 1, 1, 1, VOCABULARY, STEPS},
                {"transformer", transformer_text, 1, 1, 1, VOCABULARY, STEPS}};

static graph *described(const struct network *n)
{
    const model_settings s = LIST(.name = "test.net", .c = n->c, .h = n->h, .w = n->w, .classes = n->classes,
                                  .steps = n->steps, .text = n->text, .from = n->name, .line = 1);
    trouble why = {""};
    graph *g = model_new(&s, 1, &why);
    check(g != NULL, "%s", why.text);
    if (!g)
        exit(1);
    return g;
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

static void read_network(FILE *file, char *line, int capacity, const char *backend_name)
{
    char name[64] = "";
    double loss = 0;
    size_t correct = 0, at = 0;
    sscanf(line, "network %63s %lf %zu", name, &loss, &correct);
    while (at < sizeof networks / sizeof *networks && strcmp(networks[at].name, name) != 0)
        at++;
    check(at < sizeof networks / sizeof *networks, "there is no network %s", name);
    const backend *b = backend_named(backend_name, NULL);
    graph *g = described(&networks[at]);
    graph_finish(g, SAMPLES, b, 2);
    harness *h = harness_new(g, 0.25, 40);
    const forward_result r = harness_feed(h, SAMPLES, 1);
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

static int read_file(const char *path, const char *backend_name)
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
            read_network(file, line, sizeof line, backend_name);
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
            check(read_file(path, names[i]) == (int)(sizeof networks / sizeof *networks),
                  "%s does not hold all networks", path);
        backend_free(b);
    }
    return failures();
}
