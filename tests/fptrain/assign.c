/* SPDX-License-Identifier: BSD-2-Clause */
/* assign.c - groups, sizes, ratios, orders of demotion and promotions, against numbers worked out by hand. */
#include "backends/backends.h"
#include "ops/ops.h"
#include "policies/assignment_policy.h"
#include "policies/policy.h"
#include "sweep/sweep.h"

#include "expect.h"

/* ---------------------------------------------------------------------------------------------- networks */

static int convolved(graph *g, int x, int channels, int kernel, bool bias)
{
    return graph_conv(g, x, &(conv_spec){.channels = channels, .kernel = kernel, .padding = kernel / 2, .bias = bias});
}

/* Batches of 2. v and dv: input 32; conv1, batch_norm1, relu1 64 each; conv2 96; pool 6; linear 10. w and dw: conv1
 * 18 + 2, batch_norm1 2 + 2, conv2 54, linear 15 + 5. */
static graph *chain(void)
{
    graph *g = graph_new(1);
    int x = graph_input(g, 1, 4, 4);
    x = graph_relu(g, graph_batch_norm(g, convolved(g, x, 2, 3, true)));
    x = graph_global_pool(g, convolved(g, x, 3, 3, false));
    graph_cross_entropy(g, graph_linear(g, x, 5, true));
    return g;
}

/* Batches of 3. v and dv: input 96; conv1, relu1, conv2, batch_norm1, conv3, add1, relu2 192 each; pool 12; linear 9.
 * w and dw: conv1 72, conv2 144, batch_norm1 4 + 4, conv3 16, linear 12 + 3. */
static graph *residual(void)
{
    graph *g = graph_new(1);
    const int in = graph_relu(g, convolved(g, graph_input(g, 2, 4, 4), 4, 3, false));
    const int straight = graph_batch_norm(g, convolved(g, in, 4, 3, false));
    const int projected = convolved(g, in, 4, 1, false), out = graph_relu(g, graph_add(g, straight, projected));
    graph_cross_entropy(g, graph_linear(g, graph_global_pool(g, out), 3, true));
    return g;
}

/* Batches of 4. v and dv: input 32; conv1 64; slices 32 each; conv2 32; concat 64; conv3 64; linear 8. w and dw: conv1
 * 8, conv2 4, conv3 16, linear 32. The shuffle has no tensor. */
static graph *concatenation(void)
{
    graph *g = graph_new(1);
    const int in = convolved(g, graph_input(g, 2, 2, 2), 4, 1, false);
    const int kept = graph_slice(g, in, 0, 2), worked = convolved(g, graph_slice(g, in, 2, 2), 2, 1, false);
    const int joined = graph_shuffle(g, graph_concat(g, 2, (int[2]){kept, worked}), 2);
    graph_cross_entropy(g, graph_linear(g, convolved(g, joined, 4, 1, false), 2, false));
    return g;
}

/* Batches of 1: three groups of v 4, dv 4, w 16, dw 16, and the logits: v 4, dv 4. */
static graph *equals(void)
{
    graph *g = graph_new(1);
    int x = graph_input(g, 4, 1, 1);
    for (int i = 0; i < 3; i++)
        x = graph_linear(g, x, 4, false);
    graph_cross_entropy(g, x);
    return g;
}

/* Batches of 2 texts of 4 characters of 5. v and dv: embedding 24, lstm 16, linear 40; the numbers of the characters
 * are no tensor. w and dw: embedding 15, lstm 24 + 16 + 8, linear 10 + 5. */
static graph *recurrent(void)
{
    graph *g = graph_new(1);
    const int x = graph_lstm(g, graph_embedding(g, graph_tokens(g, 4, 5), 3), 2);
    graph_cross_entropy(g, graph_linear(g, x, 5, true));
    return g;
}

/* One text of 3 characters of 4. v and dv: embedding 18, linear1 54, attention 18, linear2 12. w and dw: embedding 24,
 * linear1 108 + 18, linear2 24 + 4. */
static graph *attentive(void)
{
    graph *g = graph_new(1);
    const int x = graph_embedding(g, graph_tokens(g, 3, 4), 6);
    graph_cross_entropy(g, graph_linear(g, graph_attention(g, graph_linear(g, x, 18, true), 2), 4, true));
    return g;
}

/* ---------------------------------------------------------------------------------------------- claims */

static void expect_groups(const char *name, const assignment *a, int count, const uint64_t *sizes, uint64_t all)
{
    EXPECT(a->groups == count, "%s: %d groups", name, a->groups);
    for (int i = 0; i < count && i < a->groups; i++)
        EXPECT(a->group_elements[i] == sizes[i], "%s, group %d: %llu", name, i,
               (unsigned long long)a->group_elements[i]);
    EXPECT(a->elements == all, "%s: %llu elements", name, (unsigned long long)a->elements);
}

static void expect_choice(assignment *a, const assign_choice *choice, const char *order, uint64_t low)
{
    trouble why;
    EXPECT(assignment_choose(a, choice, &why), "%s", why.text);
    char got[64] = "";
    for (int i = 0; i < a->demoted; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%d", a->order[i]);
    EXPECT(!strcmp(got, order), "%s %g: demoted %s, not %s", scheme_name(choice->scheme), choice->ratio, got, order);
    EXPECT(assignment_ratio(a) == (double)low / (double)a->elements, "%s %g: %g of %llu, not %llu",
           scheme_name(choice->scheme), choice->ratio, assignment_ratio(a) * (double)a->elements,
           (unsigned long long)a->elements, (unsigned long long)low);
}

static void done(assignment *a)
{
    graph *g = a->g;
    assignment_free(a);
    graph_free(g);
}

static int group_of(assignment *a, const char *name)
{
    char text[96];
    for (int i = 0; i < a->tensors; i++) {
        tensor_name(a->g, a->tensor[i].which, a->tensor[i].index, sizeof text, text);
        if (!strcmp(text, name))
            return a->tensor[i].group;
    }
    return -1;
}

/* ---------------------------------------------------------------------------------------------- tests */

static void test_chain(void)
{
    assignment *a = assignment_new(chain(), 2);
    expect_groups("chain", a, 4, (uint64_t[]){104, 500, 244, 20}, 868);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_FP32}, "", 0);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_UNIFORM}, "", 868 - 98);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0}, "", 0);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 1e-9}, "1", 442);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.576}, "1", 442); /* 500/868 = 0.57603... */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.5761}, "12", 442 + 224);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.9}, "120", 442 + 224 + 84);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 1}, "1203", 868 - 98);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO_INCREASING, .ratio = 0.1}, "30", 20 + 84);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO_INCREASING, .ratio = 1}, "3021", 868 - 98);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_GROUPS, .groups = 5}, "02", 84 + 224);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP}, "", 64 + 54 + 96);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP_OUT}, "", 64 + 54 + 96 + 96 + 64);
    EXPECT(!assignment_choose(a, &(assign_choice){.scheme = SCHEME_GROUPS, .groups = 16}, NULL), "a fifth group");
    done(a);
}

static void test_residual(void)
{
    assignment *a = assignment_new(residual(), 3);
    expect_groups("residual", a, 5, (uint64_t[]){336, 1088, 784, 1206, 18}, 3432);
    /* Parameters go with what their operator reads: conv3 stands after conv2, but reads relu1. */
    EXPECT(group_of(a, "conv3.weight") == 1, "%d", group_of(a, "conv3.weight"));
    EXPECT(group_of(a, "conv3.v") == 3, "%d", group_of(a, "conv3.v"));
    EXPECT(group_of(a, "batch_norm1.dv") == 2, "%d", group_of(a, "batch_norm1.dv"));
    EXPECT(group_of(a, "add1.v") == 3, "%d", group_of(a, "add1.v"));
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 1}, "31204", 3432 - 255);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.4}, "31", 1206 - 15 + 1088 - 160);
    /* relu1.v goes into both inner convolutions and counts once; conv1 and linear keep what they touch. */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP}, "", 192 + 144 + 192 + 16 + 192);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP_OUT}, "", 736 + 192 + 192 + 192);
    done(a);
}

static void test_concatenation(void)
{
    assignment *a = assignment_new(concatenation(), 4);
    expect_groups("concatenation", a, 5, (uint64_t[]){80, 264, 224, 192, 16}, 776);
    EXPECT(group_of(a, "shuffle1.v") == -1, "a shuffle has no tensor");
    EXPECT(group_of(a, "slice1.v") == 1 && group_of(a, "concat1.v") == 2, "by producer");
    EXPECT(group_of(a, "conv3.weight") == 2, "%d", group_of(a, "conv3.weight"));
    /* conv2 and conv3, which reads concat1 through the shuffle; conv3 feeds the last gemm operator directly. */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP}, "", 32 + 4 + 32 + 64 + 16);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP_OUT}, "", 148 + 32 + 32 + 64);
    done(a);
}

static void test_text_models(void)
{
    assignment *a = assignment_new(recurrent(), 2);
    expect_groups("recurrent", a, 3, (uint64_t[]){174, 62, 80}, 316);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.5}, "0", 174 - 63); /* 174/316 = 0.5506... */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.6}, "02", 174 - 63 + 80);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 1}, "021", 316 - 63 - 15);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP}, "", 0); /* lstm is the first, linear the last */
    done(a);

    a = assignment_new(attentive(), 1);
    expect_groups("attentive", a, 4, (uint64_t[]){336, 108, 92, 24}, 560);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.7}, "01", 336 - 150 + 108);
    /* The attention reads linear1.v and puts out attention1.v, which linear1 and linear2 keep high. */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP}, "", 0);
    done(a);
}

static void test_ties(void)
{
    assignment *a = assignment_new(equals(), 1);
    expect_groups("equals", a, 4, (uint64_t[]){40, 40, 40, 8}, 128);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.3125}, "0", 24); /* 40/128: reached */
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 0.3126}, "01", 48);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO, .ratio = 1}, "0123", 80);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO_INCREASING, .ratio = 1}, "3012", 80);
    done(a);

    /* 28/100 is 0.28, though 0.28 * 100 in doubles is more than 28. */
    graph *g = graph_new(1);
    graph_cross_entropy(g, graph_linear(g, graph_input(g, 4, 1, 1), 2, false));
    a = assignment_new(g, 7);
    expect_groups("one product", a, 2, (uint64_t[]){72, 28}, 100);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_RATIO_INCREASING, .ratio = 0.28}, "1", 28);
    expect_choice(a, &(assign_choice){.scheme = SCHEME_OP_OUT}, "", 0); /* the only one is the first and the last */
    done(a);
}

/* All 24 orders of four groups about equally often: 2400 draws, 100 each, deviation about 10. */
static void test_random_order(void)
{
    assignment *a = assignment_new(equals(), 1);
    int seen[4][4][4] = {{{0}}};
    for (uint64_t seed = 0; seed < 2400; seed++) {
        assignment_choose(a, &(assign_choice){.scheme = SCHEME_RATIO_RANDOM, .ratio = 1, .seed = seed}, NULL);
        int set = 0;
        for (int i = 0; i < 4; i++)
            set |= 1 << a->order[i];
        EXPECT(a->demoted == 4 && set == 15, "seed %d: no order of all groups", (int)seed);
        seen[a->order[0]][a->order[1]][a->order[2]]++;
    }
    for (int i = 0; i < 64; i++) {
        const int x = i / 16, y = i / 4 % 4, z = i % 4;
        const bool order = x != y && y != z && x != z;
        EXPECT(order ? seen[x][y][z] > 50 && seen[x][y][z] < 150 : seen[x][y][z] == 0, "order %d%d%d: %d", x, y, z,
               seen[x][y][z]);
    }
    /* It stops as the others do: at 40/128 and more, after one or two groups. */
    assignment_choose(a, &(assign_choice){.scheme = SCHEME_RATIO_RANDOM, .ratio = 0.3, .seed = 5}, NULL);
    uint64_t before = 0;
    for (int i = 0; i + 1 < a->demoted; i++)
        before += a->group_elements[a->order[i]];
    EXPECT((double)before < 0.3 * 128 && before + a->group_elements[a->order[a->demoted - 1]] >= 39, "%d demoted",
           a->demoted);
    done(a);
}

static void test_bits(void)
{
    assignment *a = assignment_new(chain(), 2);
    assign_settings s = assign_defaults();
    trouble why;
    EXPECT(assign_read(&s, "ratio=0.5", &why) && assign_complete(&s, &why), "%s", why.text);
    assignment_choose(a, &s.choice, &why);
    EXPECT(assignment_bits(a, &s) == 868 * 16 - 442 * 8, "%g bits", assignment_bits(a, &s));
    s.choice.scheme = SCHEME_FP32;
    assignment_choose(a, &s.choice, &why);
    EXPECT(assignment_bits(a, &s) == 868 * 32, "%g bits", assignment_bits(a, &s));
    done(a);

    /* The paper's formats and their largest values; dw is high. */
    const double high = 8581545984, low[ROLES] = {30, 30, 114688, 8581545984};
    for (int i = 0; i < ROLES; i++) {
        EXPECT(fpemu_format_max(&s.high[i].format) == high, "high %d: %.0f", i, fpemu_format_max(&s.high[i].format));
        EXPECT(fpemu_format_max(&s.low[i].format) == low[i], "low %d: %.0f", i, fpemu_format_max(&s.low[i].format));
    }
}

static void test_text(void)
{
    assign_settings s = assign_defaults();
    trouble why;
    EXPECT(assign_read(&s,
                       "op+out,hi=bf16,lo-forward=float(4,3,7,finite):saturate,promote=code,threshold=0.5,"
                       "rounding=rna,rounding-dw=sr,seed=12",
                       &why) &&
               assign_complete(&s, &why),
           "%s", why.text);
    EXPECT(s.choice.scheme == SCHEME_OP_OUT && s.promote == PROMOTE_CODE && s.threshold == 0.5 && s.choice.seed == 12,
           "numbers and names");
    EXPECT(fpemu_format_max(&s.low[ROLE_W].format) == 480 && s.low[ROLE_V].format.overflow == FPEMU_OVERFLOW_SATURATE,
           "a format with commas");
    EXPECT(s.low[ROLE_W].rounding.mode == FPEMU_MODE_RNA && s.high[ROLE_DW].rounding.mode == FPEMU_MODE_SR,
           "roundings");
    EXPECT(assign_read(&s, "groups=0110", &why) && s.choice.scheme == SCHEME_GROUPS && s.choice.groups == 6, "groups");

    static const char *const wrong[] = {"ratio=1.5",  "ratio=",  "ratio=0.5x", "threshold=-1", "seed=-1",
                                        "seed=",      "scheme=", "nonsense",   "nonsense=1",   "promote=maybe",
                                        "groups=012", "groups=", "ratio=nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        why.text[0] = 0;
        s = assign_defaults();
        EXPECT(!assign_read(&s, wrong[i], &why) && why.text[0], "%s was taken", wrong[i]);
    }
    EXPECT(!policy_assign("hi=fp(6,9", 0, NULL, &why) && !policy_assign("scheme=groups", 0, NULL, &why), "taken");
    EXPECT(!policy_assign("rounding=up", 0, NULL, &why) && !policy_named("other:ratio=1", 0, NULL, &why), "taken");
}

/* ---------------------------------------------------------------------------------------------- promotion */

/* A rounder and a policy over the chain; value 0 is the input, parameter 0 the weight of conv1. */
typedef struct bench {
    graph *g;
    rounder *r;
    policy *p;
} bench;

static bench bench_with(const char *text, int count, const format_line *lines)
{
    trouble why;
    bench b = {.g = chain()};
    b.r = rounder_new(b.g, 1);
    b.p = policy_named(text, count, lines, &why);
    if (!b.p)
        die("%s", why.text);
    b.p->type->assign(b.p, b.r);
    return b;
}

static bench bench_new(const char *text)
{
    return bench_with(text, 0, NULL);
}

static void bench_free(bench *b)
{
    b->p->type->free(b->p);
    rounder_free(b->r);
    graph_free(b->g);
}

static double top(const bench *b, role which, int index)
{
    return rule_max(&b->r->rule[which][index]);
}

static size_t promotions(const bench *b)
{
    size_t count;
    policy_promotions(b->p, &count);
    return count;
}

/* One step in which 1000 elements of a tensor are rounded, of which some are huge and some infinite. */
static void step(bench *b, uint64_t number, role which, int index, int huge, int infinite)
{
    static float x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i < huge ? 1e20f : i < huge + infinite ? -INFINITY : 1;
    rounder_begin(b->r, number);
    b->r->calls.round(&b->r->calls, which, index, 1000, x);
    b->p->type->after_gradients(b->p, b->r, number);
}

static void test_threshold(void)
{
    bench b = bench_new("assign:uniform,threshold=0.01");
    EXPECT(top(&b, ROLE_V, 0) == 30 && top(&b, ROLE_W, 0) == 30 && top(&b, ROLE_DV, 1) == 114688, "low at first");
    step(&b, 0, ROLE_V, 0, 10, 0);
    EXPECT(promotions(&b) == 0 && top(&b, ROLE_V, 0) == 30, "10 of 1000 is the threshold, not above it");
    step(&b, 1, ROLE_V, 0, 6, 4);
    EXPECT(promotions(&b) == 0, "10 of 1000, infinities counted");
    step(&b, 2, ROLE_V, 0, 11, 0);
    EXPECT(promotions(&b) == 1 && top(&b, ROLE_V, 0) == 8581545984, "11 of 1000");
    EXPECT(top(&b, ROLE_V, 1) == 30 && top(&b, ROLE_W, 0) == 30 && top(&b, ROLE_DV, 0) != 8581545984,
           "nothing else moves");
    step(&b, 3, ROLE_W, 0, 5, 6);
    EXPECT(promotions(&b) == 2 && top(&b, ROLE_W, 0) == 8581545984, "5 clipped and 6 infinite of 1000");
    step(&b, 4, ROLE_DV, 1, 1000, 0);
    step(&b, 5, ROLE_DW, 1, 1000, 0);
    step(&b, 6, ROLE_V, 0, 1000, 0);
    EXPECT(promotions(&b) == 2 && top(&b, ROLE_DV, 1) == 114688, "gradients, and what is high, are not promoted");
    step(&b, 7, ROLE_V, 0, 0, 0);
    EXPECT(top(&b, ROLE_V, 0) == 8581545984, "for good");

    size_t count;
    const promoted *log = policy_promotions(b.p, &count);
    EXPECT(log[0].step == 2 && log[0].which == ROLE_V && log[0].index == 0 && log[0].outside == 11 &&
               log[0].elements == 1000,
           "the log");
    EXPECT(log[1].step == 3 && log[1].which == ROLE_W && log[1].outside == 11, "the log");
    /* Without a batch, only parameters have a size: 98 w of 196 are low, less the 18 of the weight of conv1. */
    EXPECT(assignment_ratio(policy_assignment(b.p)) == 80.0 / 196, "%g", assignment_ratio(policy_assignment(b.p)));
    bench_free(&b);
}

/* Between max and max + half a unit a number is clipped, yet nearest does not overflow: FP(4,3,4) ends at 30. */
static void test_code(void)
{
    bench on = bench_new("assign:uniform,threshold=0.01");
    bench code = bench_new("assign:uniform,threshold=0.01,promote=code");
    bench off = bench_new("assign:uniform,threshold=0,promote=off");
    bench *all[] = {&on, &code, &off};
    for (int i = 0; i < 3; i++) {
        float x[100];
        for (int k = 0; k < 100; k++)
            x[k] = k < 2 ? 30.5f : 1;
        rounder_begin(all[i]->r, 0);
        all[i]->r->calls.round(&all[i]->r->calls, ROLE_V, 0, 100, x);
        all[i]->p->type->after_gradients(all[i]->p, all[i]->r, 0);
    }
    EXPECT(promotions(&on) == 1 && promotions(&code) == 0, "clipped, no overflow");
    step(&code, 1, ROLE_V, 1, 9, 0);
    EXPECT(promotions(&code) == 0, "9 of 1000");
    step(&code, 2, ROLE_V, 1, 10, 0);
    EXPECT(promotions(&code) == 1, "the paper's program promotes at the threshold");
    step(&off, 1, ROLE_V, 1, 1000, 0);
    EXPECT(promotions(&off) == 0, "off");
    for (int i = 0; i < 3; i++)
        bench_free(all[i]);
}

/* Biases and the normalisation stay FP32, conv2 has bfloat16: nothing of them is low, or promoted. */
static void test_exceptions(void)
{
    const format_line lines[] = {
        {"*.bias", "fp32", NULL}, {"batch_norm1.*", "fp32", NULL}, {"conv2.weight", "bf16", NULL}};
    bench b = bench_with("assign:uniform", 3, lines);
    EXPECT(!b.r->rule[ROLE_W][1].format.kind && !b.r->rule[ROLE_V][2].format.kind, "FP32 is left alone");
    EXPECT(top(&b, ROLE_W, 4) == 0x1.fep127, "%g", top(&b, ROLE_W, 4));
    EXPECT(top(&b, ROLE_W, 0) == 30 && top(&b, ROLE_DW, 4) == 8581545984, "the others are as they were");
    step(&b, 0, ROLE_W, 4, 500, 500);
    EXPECT(promotions(&b) == 0, "an exception was promoted");
    /* Without a batch only parameters have a size: of 196 low are the weights of conv1 and linear1, 18 + 15. FP32 are
     * biases and normalisation, 7 + 4 w, and of this 4 dw (a bias has its own gradient: dbias). */
    const assignment *a = policy_assignment(b.p);
    assign_settings s = assign_defaults();
    EXPECT(assignment_ratio(a) == 33.0 / 196, "%g", assignment_ratio(a));
    EXPECT(assign_read(&s, "uniform", NULL) && assign_complete(&s, NULL) &&
               assignment_bits(a, &s) == 33 * 8 + (54 + 94) * 16 + 15 * 32,
           "%g", assignment_bits(a, &s));
    bench_free(&b);

    trouble why;
    EXPECT(!policy_named("assign:uniform", 1, &(format_line){"w", "fp32", NULL}, &why), "a role is no exception");
    EXPECT(!policy_named("assign:uniform", 1, &(format_line){"*.bias", "fp(6", NULL}, &why), "taken");
}

static void test_checkpoint(void)
{
    bench a = bench_new("assign:ratio=1"), b = bench_new("assign:ratio=1"), high = bench_new("assign:ratio=0");
    step(&a, 4, ROLE_V, 2, 100, 0);
    step(&a, 9, ROLE_W, 1, 100, 0);
    a.p->type->after_epoch(a.p, a.r, 0);
    unsigned char bytes[256], again[256];
    const size_t length = a.p->type->save(a.p, NULL, 0);
    EXPECT(length > 0 && length <= sizeof bytes && a.p->type->save(a.p, bytes, sizeof bytes) == length, "%zu", length);

    trouble why;
    EXPECT(b.p->type->load(b.p, b.r, bytes, length, &why), "%s", why.text);
    EXPECT(promotions(&b) == 2 && top(&b, ROLE_V, 2) == 8581545984 && top(&b, ROLE_W, 1) == 8581545984, "restored");
    EXPECT(top(&b, ROLE_V, 1) == 30 && assignment_equal(policy_assignment(a.p), policy_assignment(b.p)), "the rest");
    EXPECT(b.p->type->save(b.p, again, sizeof again) == length && !memcmp(bytes, again, length), "all of the state");
    EXPECT(!high.p->type->load(high.p, high.r, bytes, length, &why), "promotions of what is high");
    EXPECT(!b.p->type->load(b.p, b.r, bytes, length, &why), "promotions twice");
    EXPECT(!b.p->type->load(b.p, b.r, bytes, length - 1, &why), "a part of a promotion");
    memset(bytes, 0xff, sizeof bytes);
    EXPECT(!high.p->type->load(high.p, high.r, bytes, length, &why), "nonsense");
    bench_free(&a);
    bench_free(&b);
    bench_free(&high);
}

/* ---------------------------------------------------------------------------------------------- what is told */

typedef struct sought {
    const char *key;
    double number;
} sought;

static void find_note(void *to, const char *key, double number)
{
    sought *s = to;
    if (!strcmp(key, s->key))
        s->number = number;
}

/* The number that the policy notes for the summary. */
static double noted(const policy *p, const char *key)
{
    sought s = {key, -1};
    p->type->note(p, find_note, &s);
    return s.number;
}

/* Without a batch 98 w and 98 dw, of 16 bits each when high. The weight of conv1, 18, is promoted in the second of
 * three epochs, the 15 of the linear layer in the third: 98, 80 and 65 are low at their ends. */
static void test_notes(void)
{
    bench b = bench_new("assign:uniform");
    b.p->type->after_epoch(b.p, b.r, 0);
    step(&b, 7, ROLE_W, 0, 20, 0);
    b.p->type->after_epoch(b.p, b.r, 1);
    step(&b, 9, ROLE_W, 5, 20, 0);
    b.p->type->after_epoch(b.p, b.r, 2);
    EXPECT(fabs(noted(b.p, "low_ratio_first") - 98.0 / 196) < 1e-12, "%g", noted(b.p, "low_ratio_first"));
    EXPECT(fabs(noted(b.p, "low_ratio_mean") - 81.0 / 196) < 1e-12, "%g", noted(b.p, "low_ratio_mean"));
    EXPECT(fabs(noted(b.p, "low_ratio_last") - 65.0 / 196) < 1e-12, "%g", noted(b.p, "low_ratio_last"));
    EXPECT(fabs(noted(b.p, "promoted_share_of_high") - 33 * 8 / (196.0 * 16)) < 1e-12, "%g",
           noted(b.p, "promoted_share_of_high"));
    EXPECT(noted(b.p, "promotions") == 2 && noted(b.p, "promoted_after_step.conv1.weight") == 8, "the log");
    bench_free(&b);
}

/* FP32 at 80 %. Within one point lie 79.5, of ratio 0.4, and 79, of 0.9; 78.9 does not; op, and what has one seed of
 * two, are no choice. */
static void test_choice(void)
{
    trial t[] = {{.scheme = SCHEME_FP32, .finished = 2, .best = {0.8, 0.8, 0.8}},
                 {.scheme = SCHEME_RATIO, .finished = 2, .best = {0.795, 0, 1}, .mean_ratio = {0.4, 0, 0}},
                 {.scheme = SCHEME_RATIO, .finished = 2, .best = {0.79, 0, 1}, .mean_ratio = {0.9, 0, 0}},
                 {.scheme = SCHEME_RATIO, .finished = 2, .best = {0.789, 0, 1}, .mean_ratio = {0.95, 0, 0}},
                 {.scheme = SCHEME_OP, .finished = 2, .best = {0.8, 0, 1}, .mean_ratio = {0.99, 0, 0}},
                 {.scheme = SCHEME_RATIO, .finished = 1, .best = {0.8, 0, 1}, .mean_ratio = {0.99, 0, 0}}};
    sweep s = {.seeds = 2, .count = 6, .trials = t};
    EXPECT(sweep_choose(&s, 1) == &t[2], "within 1 point");
    EXPECT(sweep_best(&s, &t[1]) == &t[1] && sweep_best(&s, &t[3]) == &t[3], "none is better");
    t[3].scheme = SCHEME_GROUPS;
    t[3].best.mean = 0.796;
    EXPECT(sweep_best(&s, &t[1]) == &t[3] && sweep_best(&s, &t[2]) == &t[3], "a set of groups is better");
    t[1].promotable = t[3].promote = t[3].promotable = true;
    EXPECT(sweep_best(&s, &t[1]) == &t[1], "but not to be compared with promotion");
    t[1].promotable = false;
    EXPECT(sweep_best(&s, &t[1]) == &t[3], "what has nothing to promote is compared with both");
    t[3] = (trial){.scheme = SCHEME_RATIO, .finished = 2, .best = {0.789, 0, 1}, .mean_ratio = {0.95, 0, 0}};
    EXPECT(sweep_choose(&s, 0.5) == &t[1], "within half a point");
    EXPECT(sweep_choose(&s, 1.1) == &t[3], "within 1.1 points");
    EXPECT(!sweep_choose(&s, 0.4), "within 0.4 points there is none");
    t[0].finished = 1;
    EXPECT(!sweep_choose(&s, 1), "without FP32 nothing can be chosen");
}

int main(void)
{
    test_chain();
    test_residual();
    test_concatenation();
    test_text_models();
    test_ties();
    test_random_order();
    test_bits();
    test_text();
    test_threshold();
    test_code();
    test_exceptions();
    test_checkpoint();
    test_notes();
    test_choice();
    return failures > 0;
}
