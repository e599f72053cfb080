/* SPDX-License-Identifier: BSD-2-Clause */
/* svg.h - what every SVG file and the page of a report need. Errors are left to the stream. */
#ifndef COMMON_SVG_H
#define COMMON_SVG_H

#include <stdio.h>

/* A white page. */
typedef struct svg_page {
    int width, height; /* in units of the drawing */
    int millimetres;   /* the width on paper; 0: a pixel for each unit */
    int font_size;     /* in units */
    const char *style; /* rules of CSS; NULL: none */
} svg_page;

void svg_begin(FILE *out, const svg_page *page);
void svg_end(FILE *out);

/* Text of others for SVG: no mark-up and no control characters; bytes that are not UTF-8 come out as '?'. */
void svg_text(FILE *out, const char *text);
/* The same in printable ASCII, where the room that the text takes is reckoned from its bytes. */
void svg_ascii(FILE *out, const char *text);

/* The title at the top, `x` units from the left, in ASCII. */
void svg_title(FILE *out, int x, const char *title);

#endif
