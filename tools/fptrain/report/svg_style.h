/* SPDX-License-Identifier: BSD-2-Clause */
/* svg_style.h - the start of an SVG file that stands outside of the page, with a style sheet of its own. */
#ifndef FPTRAIN_REPORT_SVG_STYLE_H
#define FPTRAIN_REPORT_SVG_STYLE_H

#include <stdio.h>

void report_svg_begin(FILE *out, int width, int height);

#endif
