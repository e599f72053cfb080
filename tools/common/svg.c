/* SPDX-License-Identifier: BSD-2-Clause */
/* svg.c - see svg.h */
#include "common/svg.h"

#include <string.h>

#include "common/shown.h"

void svg_begin(FILE *out, const svg_page *page)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" ", page->width, page->height);
    if (page->millimetres > 0) {
        fprintf(out, "width=\"%dmm\" height=\"%.1fmm\" ", page->millimetres,
                (double)page->millimetres * page->height / page->width);
    } else {
        fprintf(out, "width=\"%d\" height=\"%d\" ", page->width, page->height);
    }
    fprintf(out, "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"%d\">\n", page->font_size);
    if (page->style != NULL)
        fprintf(out, "<style>%s</style>\n", page->style);
    fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", page->width, page->height);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_text(FILE *out, const char *text)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): no character is longer than the text */
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        bool is_text;
        const size_t length = shown_character((const char *)c, &is_text);
        if (length == 1 && strchr("&<>\"", *c) != NULL)
            fprintf(out, "&#%d;", *c);
        else if (!is_text)
            fputc('?', out);
        else
            fwrite(c, 1, length, out);
        c += length;
    }
}

void svg_ascii(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        svg_text(out, *c >= 0x20 && *c <= 0x7e ? (const char[]){*c, '\0'} : "?");
}

void svg_title(FILE *out, int x, const char *title)
{
    fprintf(out, "<text x=\"%d\" y=\"24\" font-size=\"14\">", x);
    svg_ascii(out, title);
    fputs("</text>\n", out);
}
