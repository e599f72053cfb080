/* SPDX-License-Identifier: BSD-2-Clause */
/* models.c - fptrain models: the networks by name, the layers that a text may have, and one network as a table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "common/shown.h"
#include "models/layers.h"
#include "numerics/rounder.h"
#include "run/network.h"
#include "run/shelf.h"

static const char help[] =
    "Usage: fptrain models\n"
    "       fptrain models NAME [OPTION...]\n"
    "       fptrain models --layers\n"
    "Lists the networks that 'fptrain run --model NAME' knows; or shows one of them, or one that the file\n"
    "NAME.net describes, as a table: its operators, what each reads, its shape, its parameters and the names\n"
    "of its tensors, which are what the patterns of [formats] match.\n"
    "\n"
    "      --shape CxHxW    of the images, or 'text', and --classes N, instead of those of --data WHERE\n"
    "      --layers         the layers of such a file and their arguments\n"
    "      --config FILE, --set SECTION.KEY=VALUE, as for run\n"
    "  -h, --help\n";

static void list(void)
{
    for (int i = 0; model_name(i); i++)
        printf("%-16s  %s\n", model_name(i), model_about(i));
    shelf_list_networks(stdout);
}

static void list_layers(void)
{
    const layer_kind *layer;
    for (int i = 0; (layer = layer_table(i)) != NULL; i++) {
        char text[160];
        int length = snprintf(text, sizeof text, "%s", layer->name);
        for (int k = 0; k < LAYER_ARGUMENTS && layer->argument[k].name; k++)
            length +=
                snprintf(text + length, sizeof text - (size_t)length, layer->argument[k].normal ? " [%s=%s]" : " %s",
                         layer->argument[k].name, layer->argument[k].normal);
        printf("%-62s   %s\n", text, layer->about);
    }
}

/* ------------------------------------------------------------------------------------------------ one network */

static void print_shape(const int *dim, int dims, char text[64])
{
    int length = 0;
    for (int i = 0; i < dims; i++)
        length += snprintf(text + length, 64 - (size_t)length, "%s%d", i ? " x " : "", dim[i]);
}

static void print_name(graph *g, role which, int index)
{
    char name[96];
    tensor_name(g, which, index, sizeof name, name);
    printf(" %s", name);
}

/* v and dv of a value, where it is a tensor. */
static void print_tensors(graph *g, int x)
{
    const value *v = graph_value(g, x);
    if (!v->is_tensor)
        return;
    print_name(g, ROLE_V, x);
    if (v->producer >= 0)
        print_name(g, ROLE_DV, x);
}

static void print_value(graph *g, int x, char text[64])
{
    const value *v = graph_value(g, x);
    print_shape((int[3]){v->c, v->h, v->w}, v->h == 1 && v->w == 1 ? 1 : 3, text);
}

static const char *producer(graph *g, int x)
{
    return graph_value(g, x)->producer < 0 ? "input" : graph_op(g, graph_value(g, x)->producer).name;
}

static void print_op(graph *g, const op_info *o)
{
    char reads[96] = "", shape[64] = "";
    size_t parameters = 0;
    int length = 0;
    for (int i = 0; i < o->inputs && length < (int)sizeof reads; i++)
        length +=
            snprintf(reads + length, sizeof reads - (size_t)length, "%s%s", i ? " " : "", producer(g, o->input[i]));
    for (int i = 0; i < o->params; i++)
        parameters += graph_param(g, o->first_param + i)->size;
    if (o->output >= 0)
        print_value(g, o->output, shape);
    printf("%-16s %-30s %-16s %11zu %13.4g ", o->name, reads, shape, parameters, o->macs);
    if (o->output >= 0)
        print_tensors(g, o->output);
    for (int i = 0; i < o->params; i++) {
        print_shape(graph_param(g, o->first_param + i)->dim, graph_param(g, o->first_param + i)->dims, shape);
        print_name(g, ROLE_W, o->first_param + i);
        printf(" (%s)", shape);
        print_name(g, ROLE_DW, o->first_param + i);
    }
    putchar('\n');
}

static void print_network(const settings *s, graph *g)
{
    const value *fed = graph_value(g, 0);
    char shape[64];
    double macs = 0;
    for (int i = 0; i < graph_ops(g); i++)
        macs += graph_op(g, i).macs;
    print_value(g, 0, shape);
    shown_put(stdout, s->model.name);
    printf(": %d operators, %zu parameters, %.4g multiply-adds forward a sample\n\n", graph_ops(g),
           graph_param_count(g), macs);
    printf("%-16s %-30s %-16s %11s %13s  %s\n", "operator", "reads", "output", "parameters", "multiply-adds",
           "tensors");
    printf("%-16s %-30s %-16s %11s %13s ", "input", "", fed->is_tensor ? shape : "characters", "", "");
    print_tensors(g, 0);
    putchar('\n');
    for (int i = 0; i < graph_ops(g); i++) {
        const op_info o = graph_op(g, i);
        print_op(g, &o);
    }
    if (fed->rows_per_sample > 1)
        printf("\nOutputs are those of each of the %d characters of a sample.\n", fed->rows_per_sample);
}

static void show(settings *s, const model_shape *shape)
{
    trouble why;
    graph *g = network_of(s, shape, &why);
    if (!g)
        die("models: %s", why.text);
    print_network(s, g);
    graph_free(g);
}

int command_models(int argc, char **argv)
{
    enum { SHAPE = 256, CLASSES, LAYERS };
    static const struct option longs[] = {{"shape", required_argument, NULL, SHAPE},
                                          {"classes", required_argument, NULL, CLASSES},
                                          {"layers", no_argument, NULL, LAYERS},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const int given = argc;
    settings s;
    model_shape shape = {0};
    trouble why;
    int option;
    options_settings("models", &s, &argc, argv);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (option == SHAPE || option == CLASSES) {
            if (!model_shape_read(&shape, option == SHAPE ? "shape" : "classes", optarg, &why))
                die("models: %s", why.text);
        } else if (option == LAYERS && given > 2) {
            die("models: --layers stands alone");
        } else if (option == LAYERS) {
            list_layers();
            return 0;
        } else if (option == 'h') {
            return fputs(help, stdout) < 0;
        } else {
            options_refuse("models", argv[optind - 1], longs, true);
        }
    }
    if (optind + 1 < argc)
        die("models: one name expected; '%s' is too much", argv[optind + 1]);
    if (optind < argc && (!settings_set(&s, "model", "name", argv[optind], &why) || !settings_network(&s, &why)))
        die("models: %s", why.text);
    if (given == 1)
        list();
    else
        show(&s, &shape);
    settings_free(&s);
    return 0;
}
