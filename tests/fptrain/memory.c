/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - the largest width in a memory, from parameters counted by hand. */
#include "estimate/memory.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { CHOICES = 4 };
static const memory_choice choices[CHOICES] = {
    {"momentum", false}, {"adam", false}, {"momentum", true}, {"adam", true}};

static settings settings_with(const char *model)
{
    settings s;
    settings_default(&s);
    (void)snprintf(s.model.name, sizeof s.model.name, "%s", model);
    return s;
}

static memory_fit fit_of(const settings *s, const model_shape *shape, uint64_t most, int choice)
{
    memory_fit fit;
    trouble why = {""};
    EXPECT(memory_largest_widths(s, shape, most, 1, &choices[choice], &fit, &why), "%s", why.text);
    return fit;
}

static void expect_fit(memory_fit f, double width, uint64_t parameters, uint64_t stored, uint64_t workspace)
{
    EXPECT(near(f.width, width, 1e-12) && f.parameters == parameters && f.memory.stored == stored &&
               f.memory.workspace == workspace,
           "width %g, %d parameters, %d + %d bytes; not %g, %d, %d + %d", f.width, (int)f.parameters,
           (int)f.memory.stored, (int)f.memory.workspace, width, (int)parameters, (int)stored, (int)workspace);
}

/* 6 inputs, 3 classes. At width 0.05 the layers of 256 and 128 have 12.8 and 6.4, that is 13 and 6 units: parameters
 * 13*6 + 13, 6*13 + 6, 3*6 + 3 = 91 + 84 + 21 = 196. At 0.04 10 and 5 units: 70 + 55 + 18 = 143. At 0.06 15 and 8.
 * At the largest width, 16, 4096 and 2048: 28672 + 8390656 + 6147. */
static const model_shape tiny = {.c = 1, .h = 3, .w = 2, .classes = 3};

static void whole_numbers(void)
{
    settings s = settings_with("mlp");
    expect_fit(fit_of(&s, &tiny, 12 * 196, 0), 0.05, 196, 2352, 0);
    expect_fit(fit_of(&s, &tiny, 12 * 196 - 1, 0), 0.04, 143, 1716, 0);
    expect_fit(fit_of(&s, &tiny, 16 * 196, 1), 0.05, 196, 3136, 0);
    expect_fit(fit_of(&s, &tiny, 16 * 196 - 1, 1), 0.04, 143, 2288, 0);
    expect_fit(fit_of(&s, &tiny, UINT64_C(1) << 40, 0), 16, 8425475, 12 * UINT64_C(8425475), 0);
    expect_fit(fit_of(&s, &tiny, 11, 0), 0, 0, 0, 0);
    settings_free(&s);
}

/* At 0.05: tensors of 78, 13, 78, 6, 18 and 3 elements, each one group with a scale of 4 bytes. 12 bits: 117 + 20 + 117
 * + 9 + 27 + 5 bytes and the scales, 319; 8 bits: 196 and the scales, 220. Workspace: weights and gradient of the
 * largest layer, 91 each, and of the four arrays and the weights before a step the largest tensor, 78 each. With 4 bits
 * in groups of 16, 5 groups of the 78, 1, 5, 1, 2, 1: 39 + 7 + 39 + 3 + 9 + 2 and 15 scales, 159. */
static void packed(void)
{
    settings s = settings_with("mlp");
    const uint64_t workspace = 4 * (2 * 91 + 5 * 78);
    expect_fit(fit_of(&s, &tiny, 759 + workspace, 2), 0.05, 196, 319 + 220 + 220, workspace);
    EXPECT(fit_of(&s, &tiny, 759 + workspace - 1, 2).width < 0.045, "%s", "one byte less is enough");
    expect_fit(fit_of(&s, &tiny, 979 + workspace, 3), 0.05, 196, 319 + 220 + 220 + 220, workspace);
    (void)snprintf(s.optimizer.weights, sizeof s.optimizer.weights, "group(int4,16)");
    expect_fit(fit_of(&s, &tiny, 599 + workspace, 2), 0.05, 196, 159 + 220 + 220, workspace);
    (void)snprintf(s.optimizer.weights, sizeof s.optimizer.weights, "nonesuch");
    memory_fit fit;
    trouble why = {""};
    EXPECT(!memory_largest_widths(&s, &tiny, 1 << 20, 1, &choices[2], &fit, &why) &&
               strstr(why.text, "format of the stored weight"),
           "nonesuch was taken, or: %s", why.text);
    settings_free(&s);
}

/* It comes in four widths alone: 1263854 parameters at 1, 433034 at 0.5. All choices at once. */
static void refused_widths(void)
{
    settings s = settings_with("shufflenetv2");
    const model_shape shape = {.c = 3, .h = 32, .w = 32, .classes = 10};
    memory_fit fit[CHOICES];
    trouble why = {""};
    expect_fit(fit_of(&s, &shape, 12 * UINT64_C(1263854), 0), 1, 1263854, 12 * UINT64_C(1263854), 0);
    EXPECT(memory_largest_widths(&s, &shape, 12 * UINT64_C(1263854) - 1, CHOICES, choices, fit, &why), "%s", why.text);
    EXPECT(near(fit[0].width, 0.5, 1e-12) && fit[0].parameters == 433034 && near(fit[1].width, 0.5, 1e-12) &&
               fit[2].width == 1 && fit[3].width == 1,
           "widths %g %g %g %g", fit[0].width, fit[1].width, fit[2].width, fit[3].width);
    const model_shape small = {.c = 3, .h = 4, .w = 4, .classes = 10};
    EXPECT(!memory_largest_widths(&s, &small, 1 << 20, CHOICES, choices, fit, &why) &&
               strstr(why.text, "images of at least 8 x 8"),
           "4 x 4 pixels were taken, or: %s", why.text);
    settings_free(&s);
}

int main(void)
{
    whole_numbers();
    packed();
    refused_widths();
    return failures != 0;
}
