/* SPDX-License-Identifier: BSD-2-Clause */
/* svg_style.c - see svg_style.h */
#include "report/svg_style.h"

#include "common/svg.h"

static const char style[] =
    "text{font:11px sans-serif;fill:#222}.title{font-size:13px;font-weight:600}"
    ".axis path{stroke:#bbb;fill:none;stroke-width:.7}.axis .mark{stroke:#222;stroke-dasharray:3 3}"
    ".cells rect,.cells path{fill:#1f6fb5}.cells text{font-size:10px}"
    ".limit{fill:none;stroke:#c8324b;stroke-width:1.5}.smallest{stroke-dasharray:1.5 2}.normal{stroke-dasharray:5 3}"
    ".f0{fill:#1f6fb5}.f1{fill:#c8324b}.f2{fill:#2b8a57}.f3{fill:#8450a0}.f4{fill:#b07a10}.f5{fill:#128a8a}"
    ".f6{fill:#666}.f7{fill:#8a5a2e}.band{opacity:.18}"
    ".curve{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".c0{stroke:#1f6fb5}.c1{stroke:#c8324b;stroke-dasharray:7 3}.c2{stroke:#2b8a57;stroke-dasharray:2 4}"
    ".c3{stroke:#8450a0;stroke-dasharray:9 3 2 3}.c4{stroke:#b07a10;stroke-dasharray:4 4}"
    ".c5{stroke:#128a8a;stroke-dasharray:12 4}.c6{stroke:#666;stroke-dasharray:2 2}"
    ".c7{stroke:#8a5a2e;stroke-dasharray:9 3 2 3 2 3}.r1{stroke-width:3.2}.r2{stroke-width:.8}"
    ".faint{fill:none;stroke-width:1;stroke-dasharray:none;opacity:.3}";

void report_svg_begin(FILE *out, int width, int height)
{
    svg_begin(out, &(svg_page){.width = width, .height = height, .font_size = 11, .style = style});
}
