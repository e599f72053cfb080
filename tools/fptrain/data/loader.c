/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.c - batches of a dataset: their order, crops and flips, normalised numbers. */
#include "data/loader.h"

#include <stdlib.h>
#include <string.h>

void loader_open(loader *l, const dataset *d, bool train, int batch, uint64_t seed)
{
    *l = (loader){.data = d, .from = train ? &d->train : &d->test, .seed = seed, .batch = batch, .steps = 64};
    l->shuffle = train;
}

void loader_close(loader *l)
{
    free(l->order);
    free(l->table);
    l->order = NULL;
    l->table = NULL;
}

/* Of a text the fewest that any place to start from leaves, so that every epoch has as many. */
static size_t samples(const loader *l)
{
    const size_t n = l->from->count, steps = (size_t)l->steps;
    if (!l->data->text)
        return n;
    const size_t latest = l->shuffle ? steps - 1 : 0;
    return n > latest ? (n - 1 - latest) / steps : 0;
}

/* Where the samples of this epoch begin in the text. */
static size_t text_start(const loader *l)
{
    const bool train = l->from == &l->data->train;
    const uint64_t offset = l->shuffle ? random_u64(l->seed, FOR_ORDER, (uint64_t)l->epoch, ~UINT64_C(0)) : 0;
    return (train ? 0 : l->data->text_length - l->data->test.count) + (size_t)(offset % (uint64_t)l->steps);
}

void loader_epoch(loader *l, int epoch)
{
    const size_t n = samples(l);
    free(l->order);
    l->order = need(n, sizeof *l->order);
    l->epoch = epoch;
    l->next = 0;
    for (size_t i = 0; i < n; i++)
        l->order[i] = (uint32_t)i;
    for (size_t i = n; l->shuffle && i > 1; i--) { /* Fisher and Yates, from the end */
        const size_t j = (size_t)((random_u64(l->seed, FOR_ORDER, (uint64_t)epoch, i) >> 32) * i >> 32);
        const uint32_t other = l->order[j];
        l->order[j] = l->order[i - 1];
        l->order[i - 1] = other;
    }
}

size_t loader_batches(const loader *l)
{
    return (samples(l) + (size_t)l->batch - 1) / (size_t)l->batch;
}

/* Of bytes as numbers 0..1. */
static float normal(const dataset *d, int channel, int pixel)
{
    return (float)((pixel / 255.0 - d->mean[channel]) / d->deviation[channel]);
}

/* Features have too many channels for a table, and one byte of each. */
static void make_table(loader *l)
{
    enum { MOST_CHANNELS = 64 };
    const dataset *d = l->data;
    if (l->table || d->c > MOST_CHANNELS || l->from->values)
        return;
    l->table = need((size_t)d->c, 256 * sizeof *l->table);
    for (int c = 0; c < d->c; c++)
        for (int p = 0; p < 256; p++)
            l->table[c * 256 + p] = normal(d, c, p);
}

/* How an image is moved over a black border, and whether it is mirrored. */
typedef struct place {
    int dx, dy;
    bool mirrored;
} place;

/* One image of bytes, line by line. */
static void put_image(const loader *l, const uint8_t *restrict from, float *restrict to, place at)
{
    const int h = l->data->h, w = l->data->w, first = at.mirrored ? w - 1 + at.dx : at.dx, step = at.mirrored ? -1 : 1;
    for (int c = 0; c < l->data->c; c++, from += h * w) {
        const float *restrict table = l->table + c * 256;
        for (int y = 0; y < h; y++, to += w) {
            const int sy = y + at.dy;
            const bool inside = sy >= 0 && sy < h;
            const uint8_t *line = from + (inside ? sy * w : 0);
            for (int x = 0, sx = first; x < w; x++, sx += step)
                to[x] = table[inside && sx >= 0 && sx < w ? line[sx] : 0];
        }
    }
}

/* One sample of other numbers, or of too many channels; the border is 0 before normalisation. */
static void put_numbers(const loader *l, size_t sample, float *to, place at)
{
    const dataset *d = l->data;
    const int h = d->h, w = d->w;
    size_t first = sample * (size_t)d->c * (size_t)h * (size_t)w;
    for (int c = 0; c < d->c; c++, first += (size_t)h * (size_t)w)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int sy = y + at.dy, sx = (at.mirrored ? w - 1 - x : x) + at.dx;
                const bool in = sy >= 0 && sy < h && sx >= 0 && sx < w;
                const size_t i = first + (size_t)(in ? sy * w + sx : 0);
                if (l->from->values)
                    *to++ = (float)(((in ? (double)l->from->values[i] : 0) - d->mean[c]) / d->deviation[c]);
                else
                    *to++ = normal(d, c, in ? l->from->pixels[i] : 0);
            }
}

static void put_images(loader *l, size_t n, float *inputs, int *labels)
{
    const dataset *d = l->data;
    const size_t size = (size_t)d->c * (size_t)d->h * (size_t)d->w;
    make_table(l);
    for (size_t i = 0; i < n; i++) {
        const size_t sample = l->order[l->next + i];
        const uint64_t word = random_u64(l->seed, FOR_AUGMENT, (uint64_t)l->epoch, sample);
        const uint32_t choices = 2 * (uint32_t)l->crop + 1;
        const place at = {.dx = (int)((word & 0xffff) * choices >> 16) - l->crop,
                          .dy = (int)((word >> 16 & 0xffff) * choices >> 16) - l->crop,
                          .mirrored = l->flip && word >> 63};
        if (l->table)
            put_image(l, l->from->pixels + sample * size, inputs + i * size, at);
        else
            put_numbers(l, sample, inputs + i * size, at);
        labels[i] = l->from->labels[sample];
    }
}

static void put_text(loader *l, size_t n, float *inputs, int *labels)
{
    const size_t steps = (size_t)l->steps, start = text_start(l);
    for (size_t i = 0; i < n; i++) {
        const uint16_t *from = l->data->text + start + l->order[l->next + i] * steps;
        for (size_t k = 0; k < steps; k++) {
            inputs[i * steps + k] = from[k];
            labels[i * steps + k] = from[k + 1];
        }
    }
}

int loader_next(loader *l, float *inputs, int *labels)
{
    const size_t left = samples(l) - l->next, n = left < (size_t)l->batch ? left : (size_t)l->batch;
    (l->data->text ? put_text : put_images)(l, n, inputs, labels);
    l->next += n;
    return (int)n;
}
