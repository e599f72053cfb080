/* svg.h - pieces of an SVG file. */
#ifndef FPEMU_TOOL_SVG_H
#define FPEMU_TOOL_SVG_H

#include "output.h"

/* The head: a white sheet of width x height units, `millimetres` wide on paper, with a title. */
void svg_begin(output *out, int width, int height, int millimetres, const char *title);
/* At most 511 bytes. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void svg_put(output *out, const char *format, ...);
/* Text of others: no mark-up, printable ASCII. */
void svg_text(output *out, const char *text);

#endif
