/* svg.c - see svg.h */
#include "cli.h"

#include "svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void svg_put(output *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    output_write(out, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void svg_text(output *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("&<>\"", *c) != NULL) {
            svg_put(out, "&#%d;", *c);
        } else {
            svg_put(out, "%c", *c >= 0x20 && *c <= 0x7e ? *c : '?');
        }
    }
}

void svg_begin(output *out, int width, int height, int millimetres, const char *title)
{
    svg_put(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%dmm\" height=\"%.1fmm\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n",
            width, height, millimetres, (double)millimetres * height / width);
    svg_put(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"70\" y=\"24\" font-size=\"14\">", width,
            height);
    svg_text(out, title);
    svg_put(out, "</text>\n");
}
