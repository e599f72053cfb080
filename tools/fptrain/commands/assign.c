/* SPDX-License-Identifier: BSD-2-Clause */
/* assign.c - fptrain assign: which tensors an assignment makes low, without training. */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "common/json.h"
#include "common/shown.h"
#include "policies/assignment_settings.h"
#include "run/network.h"

static const char help[] =
    "Usage: fptrain assign [OPTION...]\n"
    "Groups, tensors, sizes and formats of a precision assignment, without training.\n"
    "\n"
    "      --model NAME          the network (default: lenet); --width W: its width\n"
    "      --batch N             samples of a minibatch (default: 64)\n"
    "      --shape CxHxW         of the images, or 'text', --classes N, instead of those of --data WHERE\n"
    "      --scheme NAME         fp32, uniform, op, op+out, ratio (default), ratio-increasing,\n"
    "                            ratio-random or groups\n"
    "      --ratio R             low-precision ratio that the demotion of groups reaches (0 to 1)\n"
    "      --order-seed N        of ratio-random\n"
    "      --groups DIGITS       0 (high) or 1 (low) for each group\n"
    "      --hi SPEC             format of high tensors (default: fp(6,9,0))\n"
    "      --lo-forward SPEC     of low values and parameters (default: fp(4,3,4))\n"
    "      --lo-backward SPEC    of low gradients of values (default: fp(5,2,0))\n"
    "      --policy assign:TEXT  the same in one text, as for fptrain run\n"
    "      --json                as JSON\n"
    "      --config FILE, --set SECTION.KEY=VALUE\n"
    "  -h, --help\n";

typedef struct wish {
    settings run;
    assign_settings assign;
    model_shape shape;
    bool json;
} wish;

static void take(wish *w, const char *key, const char *value)
{
    trouble why;
    if (!assign_set(&w->assign, key, value, &why))
        die("assign: --%s: %s", strcmp(key, "seed") ? key : "order-seed", why.text);
}

static void read_own_options(wish *w, int argc, char **argv)
{
    enum { WIDTH = 256, SHAPE, CLASSES, SEED, JSON, KEY };
    static const struct option longs[] = {{"width", required_argument, NULL, WIDTH},
                                          {"shape", required_argument, NULL, SHAPE},
                                          {"classes", required_argument, NULL, CLASSES},
                                          {"order-seed", required_argument, NULL, SEED},
                                          {"json", no_argument, NULL, JSON},
                                          {"scheme", required_argument, NULL, KEY},
                                          {"ratio", required_argument, NULL, KEY},
                                          {"groups", required_argument, NULL, KEY},
                                          {"hi", required_argument, NULL, KEY},
                                          {"lo-forward", required_argument, NULL, KEY},
                                          {"lo-backward", required_argument, NULL, KEY},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    trouble why;
    int option, which;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", longs, &which)) != -1) {
        switch (option) {
        case WIDTH:
            if (!settings_set(&w->run, "model", "width", optarg, &why))
                die("assign: --width: %s", why.text);
            break;
        case SHAPE:
        case CLASSES:
            if (!model_shape_read(&w->shape, option == SHAPE ? "shape" : "classes", optarg, &why))
                die("assign: %s", why.text);
            break;
        case SEED: take(w, "seed", optarg); break;
        case JSON: w->json = true; break;
        case KEY: take(w, longs[which].name, optarg); break;
        case 'h': fputs(help, stdout); exit(fflush(stdout) != 0);
        default: options_refuse("assign", argv[optind - 1], longs, true);
        }
    }
    if (optind < argc)
        die("assign: nothing but options expected, not '%s'", argv[optind]);
}

/* The text of a policy first, then the options of this command. */
static wish read_options(int argc, char **argv)
{
    wish w = {.assign = assign_defaults()};
    trouble why;
    options_settings("assign", &w.run, &argc, argv);
    const char *policy = w.run.policy.name;
    if (strncmp(policy, "assign:", 7) && strcmp(policy, "fixed"))
        die("assign: a policy is 'assign:SETTINGS', not '%s'", policy);
    if (strcmp(policy, "fixed") && !assign_read(&w.assign, policy + 7, &why))
        die("assign: %s", why.text);
    if (w.run.format_count)
        die("assign: the exceptions of [formats] are for runs alone");
    read_own_options(&w, argc, argv);
    if (!assign_complete(&w.assign, &why))
        die("assign: %s", why.text);
    return w;
}

/* ---------------------------------------------------------------------------------------------- text */

static const char *format_text(const assign_settings *s, const assign_tensor *t, char text[256])
{
    const rule *r = assign_rule(s, t);
    if (!r->format.kind || fpemu_format_print(&r->format, text, 256) != FPEMU_OK)
        return "fp32";
    return text;
}

static const char *opener(const assignment *a, int group)
{
    return a->opener[group] < 0 ? "input" : graph_op(a->g, a->opener[group]).name;
}

static uint64_t low_elements(const assignment *a, int group)
{
    uint64_t low = 0;
    for (int i = 0; i < a->tensors; i++)
        low += a->tensor[i].group == group && a->tensor[i].low ? a->tensor[i].elements : 0;
    return low;
}

/* Place of a group in the order of demotion, from 1; 0: it was not demoted. */
static int place_in_order(const assignment *a, int group)
{
    for (int i = 0; i < a->demoted; i++)
        if (a->order[i] == group)
            return i + 1;
    return 0;
}

static double bits_of(const assignment *a, const assign_settings *s, scheme as)
{
    assign_settings other = *s;
    other.choice.scheme = as;
    other.choice.ratio = 0;
    assignment *copy = assignment_new(a->g, a->batch);
    trouble why;
    if (!assignment_choose(copy, &other.choice, &why))
        die("assign: %s", why.text);
    const double bits = assignment_bits(copy, &other);
    assignment_free(copy);
    return bits;
}

static void print_text(const wish *w, const assignment *a)
{
    const assign_settings *s = &w->assign;
    shown_put(stdout, w->run.model.name);
    printf(", width %g, batch %d: %d operators, %d groups, %d tensors, %" PRIu64 " elements\n", w->run.model.width,
           a->batch, graph_ops(a->g), a->groups, a->tensors, a->elements);
    printf("\n%5s  %-24s %14s %9s %9s %8s\n", "group", "from", "elements", "share", "low", "demoted");
    for (int i = 0; i < a->groups; i++) {
        const double size = (double)a->group_elements[i], low = (double)low_elements(a, i);
        printf("%5d  %-24s %14" PRIu64 " %7.2f %% %7.2f %%", i, opener(a, i), a->group_elements[i],
               100 * size / (double)a->elements, size > 0 ? 100 * low / size : 0);
        if (place_in_order(a, i))
            printf(" %8d", place_in_order(a, i));
        putchar('\n');
    }
    printf("\n%-36s %-4s %5s %14s  %s\n", "tensor", "role", "group", "elements", "format");
    for (int i = 0; i < a->tensors; i++) {
        const assign_tensor *t = &a->tensor[i];
        char name[96], format[256];
        tensor_name(a->g, t->which, t->index, sizeof name, name);
        printf("%-36s %-4s %5d %14" PRIu64 "  %s\n", name, role_name(t->which), t->group, t->elements,
               format_text(s, t, format));
    }
    const double bits = assignment_bits(a, s);
    printf("\nlow-precision ratio  %.6f\n", assignment_ratio(a));
    printf("model aggregate      %.0f bits, %.4f of all high, %.4f of FP32\n", bits, bits / bits_of(a, s, SCHEME_RATIO),
           bits / bits_of(a, s, SCHEME_FP32));
}

/* ---------------------------------------------------------------------------------------------- JSON */

static void print_json(const wish *w, const assignment *a)
{
    const assign_settings *s = &w->assign;
    json_t *groups = json_array(), *tensors = json_array();
    for (int i = 0; i < a->groups; i++)
        array_add(groups, json_pack("{s:i, s:s, s:I, s:I, s:i}", "group", i, "from", opener(a, i), "elements",
                                    (json_int_t)a->group_elements[i], "low", (json_int_t)low_elements(a, i), "demoted",
                                    place_in_order(a, i)));
    for (int i = 0; i < a->tensors; i++) {
        const assign_tensor *t = &a->tensor[i];
        char name[96], format[256];
        tensor_name(a->g, t->which, t->index, sizeof name, name);
        array_add(tensors, json_pack("{s:s, s:s, s:i, s:I, s:b, s:s}", "name", name, "role", role_name(t->which),
                                     "group", t->group, "elements", (json_int_t)t->elements, "low", (int)t->low,
                                     "format", format_text(s, t, format)));
    }
    json_t *all = needed(json_pack("{s:s, s:f, s:i, s:s, s:I, s:f, s:f, s:o, s:o}", "model", w->run.model.name, "width",
                                   w->run.model.width, "batch", a->batch, "scheme", scheme_name(s->choice.scheme),
                                   "elements", (json_int_t)a->elements, "low_precision_ratio", assignment_ratio(a),
                                   "bits", assignment_bits(a, s), "groups", groups, "tensors", tensors));
    char *text = needed(json_to_shown(all, JSON_INDENT(1)));
    puts(text);
    free(text);
    json_decref(all);
}

int command_assign(int argc, char **argv)
{
    wish w = read_options(argc, argv);
    trouble why;
    graph *g = network_of(&w.run, &w.shape, &why);
    if (!g)
        die("assign: %s", why.text);
    assignment *a = assignment_new(g, w.run.train.batch);
    if (w.assign.choice.scheme == SCHEME_GROUPS && w.assign.group_count != a->groups)
        die("assign: this network has %d groups, not %d", a->groups, w.assign.group_count);
    if (!assignment_choose(a, &w.assign.choice, &why))
        die("assign: %s", why.text);
    if (w.json)
        print_json(&w, a);
    else
        print_text(&w, a);
    assignment_free(a);
    graph_free(g);
    settings_free(&w.run);
    return 0;
}
