/* SPDX-License-Identifier: BSD-2-Clause */
/* contact_sheet.c - see contact_sheet.h */
#include "data/contact_sheet.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic_file.h"

enum { LINE = 1, GREY = 96 };

/* From numbers to bytes: the least of the split is black, the largest white; bytes are as they are. */
typedef struct shades {
    float least, step; /* step 0: bytes */
} shades;

static shades shades_of(const split *s, size_t count)
{
    shades range = {0, 0};
    float largest = 0;
    for (size_t i = 0; s->values && i < count; i++) {
        range.least = i == 0 || s->values[i] < range.least ? s->values[i] : range.least;
        largest = i == 0 || s->values[i] > largest ? s->values[i] : largest;
    }
    range.step = s->values ? fmaxf(largest / 255 - range.least / 255, 1e-30f) : 0;
    return range;
}

/* Of other than three or four channels the first is shown, in grey. */
static void put_sample(picture *p, const dataset *d, const split *s, size_t first, shades range, int left, int top)
{
    const size_t plane = (size_t)d->h * (size_t)d->w;
    for (int y = 0; y < d->h; y++)
        for (int x = 0; x < d->w; x++)
            for (int c = 0; c < 3; c++) {
                const size_t i =
                    first + (d->c == 3 || d->c == 4 ? (size_t)c * plane : 0) + (size_t)y * (size_t)d->w + (size_t)x;
                uint8_t *const at = p->rgb + 3 * ((size_t)(top + y) * (size_t)p->width + (size_t)(left + x)) + c;
                if (s->values)
                    *at = (uint8_t)fminf((s->values[i] - range.least) / range.step, 255);
                else
                    *at = s->pixels[i];
            }
}

picture picture_sheet(const dataset *d, const split *from, int columns, int rows)
{
    picture p = {.width = columns * (d->w + LINE) - LINE, .height = rows * (d->h + LINE) - LINE};
    const size_t size = dataset_numbers(d);
    const shades range = shades_of(from, from->count * size);
    p.rgb = need((size_t)p.width * (size_t)p.height, 3);
    memset(p.rgb, GREY, (size_t)p.width * (size_t)p.height * 3);
    for (int i = 0; i < columns * rows && (size_t)i < from->count; i++)
        put_sample(&p, d, from, (size_t)i * size, range, i % columns * (d->w + LINE), i / columns * (d->h + LINE));
    return p;
}

void picture_free(picture *p)
{
    free(p->rgb);
    p->rgb = NULL;
}

bool picture_png(const picture *p, const char *path, trouble *why)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)p->width,
                       .height = (png_uint_32)p->height,
                       .format = PNG_FORMAT_RGB};
    atomic_file out;
    if (!atomic_file_open(&out, path, why))
        return false;
    if (png_image_write_to_stdio(&image, out.file, 0, p->rgb, 0, NULL))
        return atomic_file_commit(&out, why);
    atomic_file_drop(&out);
    return fail(why, "%s: %s", path, image.message);
}

void picture_print(const picture *p)
{
    for (int y = 0; y < p->height; y += 2) {
        for (int x = 0; x < p->width; x++) {
            const uint8_t *top = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
            const uint8_t *low = y + 1 < p->height ? top + 3 * (size_t)p->width : top;
            printf("\033[38;2;%d;%d;%dm\033[48;2;%d;%d;%dm\xe2\x96\x80", top[0], top[1], top[2], low[0], low[1],
                   low[2]);
        }
        puts("\033[0m");
    }
}
