/* SPDX-License-Identifier: BSD-2-Clause */
/* estimate.c - times of a step worked out by hand from the shapes of three products for each layer, and hardware files
 * that are refused. */
#include "estimate/time.h"
#include "ops/ops.h"

#include <unistd.h>

#include "expect.h"

static bool read_text(hardware *h, const char *text, trouble *why)
{
    char path[] = "hardware.XXXXXX"; /* in the build directory */
    const int file = mkstemp(path);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text) || close(file))
        exit(1);
    const bool good = hardware_read(h, path, why);
    (void)unlink(path);
    return good;
}

static hardware machine(const char *text)
{
    hardware h;
    trouble why = {""};
    EXPECT(read_text(&h, text, &why), "%s", why.text);
    return h;
}

static const char one_speed[] = "{\"name\": \"one\", \"bandwidth\": 4, \"rows\": [{\"fp32\": 1, \"fp16\": 2, "
                                "\"int8\": 5}]}";

/* 6 inputs, 13, 6 and 3 outputs, 4 samples. Products m x n x k: forward, of the weights, of the input:
 *     linear1   13x4x6    13x6x4    (nobody asks for the gradient of what is fed)
 *     linear2   6x4x13    6x13x4    13x4x6
 *     linear3   3x4x6     3x6x4     6x4x3
 * in multiply-adds 312 312, 312 312 312, 72 72 72. By sums of squares of log ratios the row 6x13x4 is nearest to
 * itself, to 3x4x6 (2.03 against 2.15) and to 3x6x4 (1.08 against 2.48); 13x4x6 to all others. */
static void linear(void)
{
    hardware h = machine("{\"name\": \"two\", \"bandwidth\": 2, \"rows\": ["
                         "{\"fp32\": 1000, \"fp16\": 1000, \"int8\": 1000},"
                         "{\"m\": 13, \"n\": 4, \"k\": 6, \"fp32\": 1, \"fp16\": 4, \"int8\": 10},"
                         "{\"m\": 6, \"n\": 13, \"k\": 4, \"fp32\": 2, \"fp16\": 8, \"int8\": 3}]}");
    graph *g = graph_new(1);
    int x = graph_input(g, 1, 3, 2);
    x = graph_relu(g, graph_linear(g, x, 13, true));
    x = graph_relu(g, graph_linear(g, x, 6, true));
    graph_cross_entropy(g, graph_linear(g, x, 3, true));
    const step_time t = estimate_step(g, &h, 4);
    EXPECT(t.macs == 1776, "%g multiply-adds", t.macs);
    EXPECT(near(t.products[UNIT_FP32], (1320 / 1.0 + 456 / 2.0) * 1e-9, 1e-12), "FP32: %g s", t.products[UNIT_FP32]);
    EXPECT(near(t.products[UNIT_FP16], (1320 / 4.0 + 456 / 8.0) * 1e-9, 1e-12), "FP16: %g s", t.products[UNIT_FP16]);
    EXPECT(near(t.products[UNIT_INT8], (1320 / 10.0 + 456 / 3.0) * 1e-9, 1e-12), "INT8: %g s", t.products[UNIT_INT8]);
    /* What is fed 24; v and dv of linear1, relu1 52 each, linear2, relu2 24 each, linear3 12; w and dw 91, 84, 21. */
    EXPECT(t.elements == 24 + 2 * (52 + 52 + 24 + 24 + 12) + 2 * (91 + 84 + 21), "%g elements", t.elements);
    /* Read and written, 4 bytes each time, at 2e9 bytes a second. */
    EXPECT(near(t.rounding, 744 * 8 / 2e9, 1e-12), "rounding: %g s", t.rounding);
    graph_free(g);
    hardware_free(&h);
}

/* 4x5x5 by two groups of 3 kernels 2x3x3, stride 2: 2 samples of 3x3 places: twice 3 x 18 x 18, three times since the
 * input is not what is fed; then 2 x 54 x 2 three times. */
static void convolutions(void)
{
    hardware h = machine("{\"name\": \"two\", \"bandwidth\": 2, \"rows\": ["
                         "{\"m\": 3, \"n\": 18, \"k\": 18, \"fp32\": 1, \"fp16\": 1, \"int8\": 1},"
                         "{\"m\": 6, \"n\": 18, \"k\": 18, \"fp32\": 2, \"fp16\": 1, \"int8\": 1}]}");
    graph *g = graph_new(1);
    const conv_spec spec = {.channels = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2};
    const int x = graph_conv(g, graph_relu(g, graph_input(g, 4, 5, 5)), &spec);
    graph_cross_entropy(g, graph_linear(g, x, 2, false));
    const step_time t = estimate_step(g, &h, 2);
    EXPECT(t.macs == 3 * 2 * 3 * 18 * 18 + 3 * 2 * 54 * 2, "%g multiply-adds", t.macs);
    /* Nearest to the second row are the gradients of inputs, 18x18x3 (4.42 against 6.42) and 54x2x2. */
    EXPECT(near(t.products[UNIT_FP32], (4320 / 1.0 + 2160 / 2.0) * 1e-9, 1e-12), "FP32: %g s", t.products[UNIT_FP32]);
    /* What is fed 200; relu 200, convolution 108, linear 4; 108 + 108 parameters. */
    EXPECT(t.elements == 200 + 2 * (200 + 108 + 4) + 2 * 216, "%g elements", t.elements);
    graph_free(g);
    hardware_free(&h);
}

/* 4 steps of an LSTM of 2 cells over 3 features: 4 gates x 2 x (3 + 2) multiply-adds each; then 5 x 2 for each step. */
static void recurrent(void)
{
    hardware h = machine(one_speed);
    graph *g = graph_new(1);
    const int x = graph_lstm(g, graph_embedding(g, graph_tokens(g, 4, 5), 3), 2);
    graph_cross_entropy(g, graph_linear(g, x, 5, false));
    const step_time t = estimate_step(g, &h, 2);
    EXPECT(near(t.macs, 3 * 2 * 4 * (40 + 10), 1e-12), "%g multiply-adds", t.macs);
    graph_free(g);
    hardware_free(&h);
}

static void units(void)
{
    static const int bits[] = {0, 2, 8, 9, 12, 16, 17, 24, 32};
    static const int unit[] = {UNIT_FP32, UNIT_INT8, UNIT_INT8, UNIT_FP16, UNIT_FP16,
                               UNIT_FP16, UNIT_FP32, UNIT_FP32, UNIT_FP32};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        EXPECT(estimate_unit(bits[i]) == unit[i], "%d bits on %s", bits[i], estimate_unit_name(estimate_unit(bits[i])));
}

static void refusals(void)
{
#define HEAD "{\"name\": \"x\", \"bandwidth\": 4, \"rows\": ["
#define SPEEDS "\"fp32\": 1, \"fp16\": 2, \"int8\": 5"
    static const struct {
        const char *text, *said;
    } bad[] = LIST({"", "line "}, {"{\"name\": \"x\",\n\"name\": \"y\"}", "line 2"}, {"[]", "hardware has a name"},
                   {"{\"bandwidth\": 4, \"rows\": [{" SPEEDS "}]}", "hardware has a name"},
                   {"{\"name\": \"x\", \"rows\": [{" SPEEDS "}]}", "a bandwidth in GB/s"},
                   {"{\"name\": \"x\", \"bandwidth\": 0, \"rows\": [{" SPEEDS "}]}", "a bandwidth in GB/s"},
                   {"{\"name\": \"x\", \"bandwidth\": \"4\", \"rows\": [{" SPEEDS "}]}", "a bandwidth in GB/s"},
                   {HEAD "]}", "rows of throughputs"}, {HEAD "1]}", "row 1 needs"},
                   {HEAD "{" SPEEDS "}, {\"fp32\": 1, \"fp16\": 2}]}", "row 2 needs fp32, fp16 and int8 above 0"},
                   {HEAD "{\"fp32\": 1, \"fp16\": -2, \"int8\": 5}]}", "row 1 needs"},
                   {HEAD "{\"m\": 1, \"n\": 2, " SPEEDS "}]}", "all of m, n, k or none"},
                   {HEAD "{\"m\": 0, \"n\": 2, \"k\": 1, " SPEEDS "}]}", "row 1 needs"});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hardware h;
        trouble why = {""};
        EXPECT(!read_text(&h, bad[i].text, &why) && strstr(why.text, bad[i].said) && !strchr(why.text, '\n'),
               "'%s' was taken, or: %s", bad[i].text, why.text);
    }
}

int main(void)
{
    linear();
    convolutions();
    recurrent();
    units();
    refusals();
    return failures != 0;
}
