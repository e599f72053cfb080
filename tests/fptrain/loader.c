/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.c - batches of the trainer: every sample once, in an order that seed and epoch decide; crops and flips. */
#include "data/loader.h"
#include "data/dataset.h"

#include "../unit/suite.h" /* after ours: check.h has a macro of the name of one of our functions */

enum { N = 103 };

/* N samples of 1 x 1 x 1; sample i has the pixel i and the label i. */
static dataset numbered(void)
{
    dataset d = {.c = 1, .h = 1, .w = 1, .classes = 10, .mean = calloc(1, 8), .deviation = malloc(8)};
    d.deviation[0] = 1.0 / 255;
    d.train = (split){.count = N, .pixels = malloc(N), .labels = malloc(N * sizeof *d.train.labels)};
    for (int i = 0; i < N; i++)
        d.train.labels[i] = d.train.pixels[i] = (uint8_t)i;
    d.test = (split){.count = 5, .pixels = calloc(5, 1), .labels = calloc(5, sizeof *d.test.labels)};
    return d;
}

static void read_epoch(loader *l, int epoch, int order[N])
{
    float inputs[10];
    int labels[10], got = 0, n, batches = 0;
    loader_epoch(l, epoch);
    while ((n = loader_next(l, inputs, labels)) > 0) {
        ck_assert_int_eq(n, got + 10 <= N ? 10 : N % 10);
        for (int i = 0; i < n; i++) {
            ck_assert_int_eq((int)inputs[i], labels[i]);
            order[got++] = labels[i];
        }
        batches++;
    }
    ck_assert_int_eq(got, N);
    ck_assert_uint_eq(loader_batches(l), (size_t)batches);
}

START_TEST(every_epoch_is_a_permutation)
{
    dataset d = numbered();
    loader l, same, other;
    loader_open(&l, &d, true, 10, 7);
    loader_open(&same, &d, true, 10, 7);
    loader_open(&other, &d, true, 10, 8);
    int before[N] = {0};
    for (int epoch = 0; epoch < 20; epoch++) {
        int order[N], again[N], else_where[N], seen[N] = {0};
        read_epoch(&l, epoch, order);
        for (int i = 0; i < N; i++)
            seen[order[i]]++;
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(seen[i], 1);
        read_epoch(&same, 19 - epoch, again); /* epochs in another order: each is the same as ever */
        read_epoch(&same, epoch, again);
        ck_assert_mem_eq(order, again, sizeof order);
        read_epoch(&other, epoch, else_where);
        ck_assert_mem_ne(order, else_where, sizeof order);
        ck_assert_mem_ne(order, before, sizeof order);
        memcpy(before, order, sizeof order);
    }
    loader_close(&l);
    loader_close(&same);
    loader_close(&other);
    dataset_free(&d);
}
END_TEST

/* Sample 0 comes at each place about as often: chi-squared of 102 degrees of freedom, 5 deviations allowed. */
START_TEST(places_are_equally_likely)
{
    enum { EPOCHS = 103 * 40 };
    dataset d = numbered();
    loader l;
    int count[N] = {0}, order[N];
    loader_open(&l, &d, true, 10, 1);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        read_epoch(&l, epoch, order);
        for (int i = 0; i < N; i++)
            count[i] += order[i] == 0;
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (count[i] - 40.0) * (count[i] - 40.0) / 40;
    ck_assert_msg(sum < 102 + 5 * 14.3, "%g", sum);
    loader_close(&l);
    dataset_free(&d);
}
END_TEST

START_TEST(without_shuffle)
{
    dataset d = numbered();
    loader l;
    int order[N];
    loader_open(&l, &d, true, 10, 1);
    l.shuffle = false;
    read_epoch(&l, 3, order);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(order[i], i);
    loader_close(&l);
    loader_open(&l, &d, false, 4, 1);
    ck_assert(!l.shuffle);
    ck_assert_uint_eq(loader_batches(&l), 2);
    loader_close(&l);
    dataset_free(&d);
}
END_TEST

/* One image of 2 x 3, two channels of which the second is the first plus 100. */
static dataset one_image(void)
{
    static const double mean[2] = {0.25, 0.5}, deviation[2] = {0.5, 0.125};
    dataset d = {.c = 2, .h = 2, .w = 3, .classes = 10, .mean = malloc(16), .deviation = malloc(16)};
    memcpy(d.mean, mean, sizeof mean);
    memcpy(d.deviation, deviation, sizeof deviation);
    d.train = (split){.count = 1, .pixels = malloc(12), .labels = calloc(1, sizeof *d.train.labels)};
    for (int i = 0; i < 6; i++) {
        d.train.pixels[i] = (uint8_t)(i + 1);
        d.train.pixels[6 + i] = (uint8_t)(i + 101);
    }
    return d;
}

static double normal(int channel, int pixel)
{
    return channel == 0 ? (pixel / 255.0 - 0.25) / 0.5 : (pixel / 255.0 - 0.5) / 0.125;
}

/* Pixels of the first channel by hand; in the second those that are not of the border have 100 more. */
static bool is_image(const float *inputs, const int expected[6])
{
    bool same = true;
    for (int i = 0; i < 6; i++) {
        same = same && inputs[i] == (float)normal(0, expected[i]);
        same = same && inputs[6 + i] == (float)normal(1, expected[i] ? expected[i] + 100 : 0);
    }
    return same;
}

START_TEST(flips)
{
    static const int plain[6] = {1, 2, 3, 4, 5, 6}, mirrored[6] = {3, 2, 1, 6, 5, 4};
    dataset d = one_image();
    loader l;
    float inputs[12];
    int label, flipped = 0;
    loader_open(&l, &d, true, 1, 3);
    for (int epoch = 0; epoch < 1000; epoch++) {
        l.flip = epoch >= 10;
        loader_epoch(&l, epoch);
        ck_assert_int_eq(loader_next(&l, inputs, &label), 1);
        const bool is_flipped = is_image(inputs, mirrored);
        ck_assert(is_flipped || is_image(inputs, plain));
        ck_assert(epoch >= 10 || !is_flipped);
        flipped += is_flipped;
    }
    ck_assert_int_gt(flipped, 420);
    ck_assert_int_lt(flipped, 570);
    loader_close(&l);
    dataset_free(&d);
}
END_TEST

START_TEST(crops)
{
    static const int moved[9][6] = {/* up or down, and in each to the left or right */
                                    {0, 0, 0, 0, 1, 2}, {0, 0, 0, 1, 2, 3}, {0, 0, 0, 2, 3, 0},
                                    {0, 1, 2, 0, 4, 5}, {1, 2, 3, 4, 5, 6}, {2, 3, 0, 5, 6, 0},
                                    {0, 4, 5, 0, 0, 0}, {4, 5, 6, 0, 0, 0}, {5, 6, 0, 0, 0, 0}};
    dataset d = one_image();
    loader l;
    float inputs[12];
    int label, count[9] = {0};
    loader_open(&l, &d, true, 1, 4);
    l.crop = 1;
    for (int epoch = 0; epoch < 900; epoch++) {
        int which = 0;
        loader_epoch(&l, epoch);
        ck_assert_int_eq(loader_next(&l, inputs, &label), 1);
        while (which < 9 && !is_image(inputs, moved[which]))
            which++;
        ck_assert_int_lt(which, 9);
        count[which]++;
    }
    for (int i = 0; i < 9; i++)
        ck_assert_msg(count[i] > 60 && count[i] < 140, "%d of crop %d", count[i], i);
    loader_close(&l);
    dataset_free(&d);
}
END_TEST

/* A text whose byte i is class i mod 251, so that every place shows what it is. */
START_TEST(text_windows)
{
    enum { LENGTH = 2000, STEPS = 7, BATCH = 4 };
    dataset d = {.classes = 251, .text = malloc(2 * LENGTH), .text_length = LENGTH};
    d.test.count = 200;
    d.train.count = LENGTH - 200;
    for (int i = 0; i < LENGTH; i++)
        d.text[i] = (uint16_t)(i % 251);
    for (int part = 0; part < 2; part++) {
        loader l;
        loader_open(&l, &d, part == 0, BATCH, 5);
        l.steps = STEPS;
        int starts = 0;
        for (int epoch = 0; epoch < 30; epoch++) {
            float inputs[BATCH * STEPS];
            int labels[BATCH * STEPS], n, samples = 0, batches = 0;
            loader_epoch(&l, epoch);
            while ((n = loader_next(&l, inputs, labels)) > 0) {
                for (int i = 0; i < n; i++) {
                    const int first = (int)inputs[i * STEPS];
                    starts |= part == 0 ? 1 << first % STEPS : 0;
                    for (int k = 0; k < STEPS; k++) {
                        ck_assert_int_eq((int)inputs[i * STEPS + k], (first + k) % 251);
                        ck_assert_int_eq(labels[i * STEPS + k], (first + k + 1) % 251);
                    }
                    ck_assert(part == 0 || (first - 1800 % 251 + 251) % 251 % STEPS == 0);
                }
                samples += n;
                batches++;
            }
            ck_assert_int_eq(samples, part ? 199 / STEPS : (1799 - (STEPS - 1)) / STEPS);
            ck_assert_uint_eq(loader_batches(&l), (size_t)batches);
        }
        ck_assert(part || starts == (1 << STEPS) - 1);
        loader_close(&l);
    }
    dataset_free(&d);
}
END_TEST

/* The image again as floats, among 70 channels (too many for a table) of which the others are -1: crops and flips of
 * both are the same pixels. */
START_TEST(other_numbers)
{
    enum { CHANNELS = 70 };
    dataset bytes = one_image(), d = {.c = CHANNELS, .h = 2, .w = 3, .classes = 10};
    d.mean = calloc(CHANNELS, sizeof *d.mean);
    d.deviation = calloc(CHANNELS, sizeof *d.deviation);
    d.train = (split){.count = 1, .values = malloc(CHANNELS * 6 * sizeof(float)), .labels = calloc(1, 2)};
    for (int c = 0; c < CHANNELS; c++) {
        d.mean[c] = c < 2 ? bytes.mean[c] * 255 : c;
        d.deviation[c] = c < 2 ? bytes.deviation[c] * 255 : 0.5;
        for (int i = 0; i < 6; i++)
            d.train.values[c * 6 + i] = c < 2 ? bytes.train.pixels[c * 6 + i] : -1;
    }
    loader l, other;
    float x[CHANNELS * 6], y[12];
    int label;
    loader_open(&l, &d, true, 1, 9);
    loader_open(&other, &bytes, true, 1, 9);
    l.crop = other.crop = 1;
    l.flip = other.flip = true;
    for (int epoch = 0; epoch < 50; epoch++) {
        loader_epoch(&l, epoch);
        loader_epoch(&other, epoch);
        ck_assert_int_eq(loader_next(&l, x, &label), 1);
        ck_assert_int_eq(loader_next(&other, y, &label), 1);
        for (int i = 0; i < 12; i++)
            ck_assert_float_eq_tol(x[i], y[i], 1e-5f);
        for (int i = 12; i < CHANNELS * 6; i++) /* -1 of an image, 0 of its border */
            ck_assert(x[i] == (float)((-1 - i / 6) / 0.5) ||
                      (x[i] == (float)(-(i / 6) / 0.5) && y[i % 6] == (float)normal(0, 0)));
    }
    loader_close(&l);
    loader_close(&other);
    dataset_free(&d);
    dataset_free(&bytes);
}
END_TEST

int main(void)
{
    return RUN_SUITE("loader", NULL, every_epoch_is_a_permutation, places_are_equally_likely, without_shuffle, flips,
                     crops, other_numbers, text_windows);
}
