/* SPDX-License-Identifier: BSD-2-Clause */
/* raster.h - one picture of a file: PNG, or JPEG where libjpeg is there; its size and its colours changed.
 *
 * Numbers are taken as they are stored: gamma, profiles, transparency and orientation are passed over. Palettes become
 * colours, fewer than 8 bits the same shares of 255, of 16 bits the high byte counts.
 */
#ifndef FPTRAIN_DATA_RASTER_H
#define FPTRAIN_DATA_RASTER_H

#include "base/base.h"

typedef struct raster {
    int width, height, channels; /* channels: 1 grey, 3 red, green and blue side by side */
    uint8_t *pixels;             /* row by row */
} raster;

/* From the bytes of a file, which begin as those of its kind do. Nothing is reserved that so many bytes cannot fill. */
bool raster_read(raster *r, const uint8_t *bytes, size_t length, const char *name, trouble *why);
void raster_free(raster *r);

/* Grey to three equal channels, or colours to (19595 red + 38470 green + 7471 blue) / 65536, to the nearest. */
void raster_recolour(raster *r, int channels);
/* The largest square in the middle (of what is left over, the smaller half above and to the left), scaled to `side`
 * pixels: each is the mean of the part of the square that it covers, by areas, exact, and rounded to the nearest,
 * halves up. */
void raster_resize(raster *r, int side);

typedef enum raster_kind { RASTER_NONE, RASTER_READ, RASTER_OTHER } raster_kind;
/* By the end of its name: no picture, one that can be read, or one of a kind that cannot. */
raster_kind raster_kind_of(const char *name);

#endif
