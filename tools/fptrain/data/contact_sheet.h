/* SPDX-License-Identifier: BSD-2-Clause */
/* contact_sheet.h - a grid of samples (a contact sheet): as a PNG file, or in half blocks of coloured characters. */
#ifndef FPTRAIN_DATA_CONTACT_SHEET_H
#define FPTRAIN_DATA_CONTACT_SHEET_H

#include "data/dataset.h"

/* RGB, row by row. */
typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

/* The first samples, so many columns and rows of them at most, in a grid with lines between. */
picture picture_sheet(const dataset *d, const split *from, int columns, int rows);
void picture_free(picture *p);
bool picture_png(const picture *p, const char *path, trouble *why);
/* Two pixels a character, in 24-bit colours. */
void picture_print(const picture *p);

#endif
