/* svg.c - see svg.h */
#include "report/svg.h"

#include <math.h>
#include <string.h>

/* Ticks at 1, 2 or 5 times a power of ten, about six of them. Ends too close to tell their ticks apart are moved. */
axis axis_make(double low, double high, int from, int to)
{
    const double largest = fmax(fabs(low), fabs(high));
    if (!(high - low > 1e-9 * largest)) {
        low -= largest == 0 ? 1 : largest * 0.1;
        high += largest == 0 ? 1 : largest * 0.1;
    }
    const double rough = (high - low) / 6, power = pow(10, floor(log10(rough)));
    const double factor = rough / power;
    return (axis){low, high, power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), from, to};
}

double axis_place(const axis *a, double x)
{
    return a->from + (x - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* How many bytes a character of valid UTF-8 has here; 0: it has none. */
static int character(const unsigned char *c)
{
    const int length = *c < 0x80                  ? 1
                       : *c >= 0xc2 && *c < 0xe0 ? 2
                       : *c >= 0xe0 && *c < 0xf0 ? 3
                       : *c >= 0xf0 && *c < 0xf5 ? 4
                                                 : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if (length == 3 && ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0)))
        return 0;
    return length == 4 && ((*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] >= 0x90)) ? 0 : length;
}

void put_text(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int length = character(c);
        if (length == 1 && strchr("&<>\"'", *c))
            fprintf(out, "&#%d;", *c);
        else if (length == 0 || *c < 0x20 || *c == 0x7f || (length == 2 && *c == 0xc2 && c[1] < 0xa0))
            fputc('?', out);
        else
            fwrite(c, 1, (size_t)length, out);
        c += length > 0 ? length : 1;
    }
}

static const char alone_style[] =
    "<style>text{font:11px sans-serif;fill:#222}.title{font-size:13px;font-weight:600}"
    ".axis path{stroke:#bbb;fill:none;stroke-width:.7}.axis .mark{stroke:#222;stroke-dasharray:3 3}"
    ".cells rect{fill:#1f6fb5}.cells text{font-size:10px}"
    ".curve{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".c0{stroke:#1f6fb5}.c1{stroke:#c8324b;stroke-dasharray:7 3}.c2{stroke:#2b8a57;stroke-dasharray:2 4}"
    ".c3{stroke:#8450a0;stroke-dasharray:9 3 2 3}.c4{stroke:#b07a10;stroke-dasharray:4 4}"
    ".c5{stroke:#128a8a;stroke-dasharray:12 4}.c6{stroke:#666;stroke-dasharray:2 2}"
    ".c7{stroke:#8a5a2e;stroke-dasharray:9 3 2 3 2 3}</style>\n";

void svg_begin_alone(FILE *out, int width, int height)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n%s"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height, width, height, alone_style);
}
