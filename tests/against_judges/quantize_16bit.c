/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize_16bit.c - each of the 2^16 values of bfloat16 and of binary16, as binary32 and as binary64 input, to every
 * named format of 8 bits or fewer, in every deterministic mode: value, code and counters, library against judge. The
 * judge is asked for every single one. */
#include "../judges/formats.h"
#include "compare.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 2 << 16 };

static unsigned long failures, printed, lines;

/* binary16 to binary32, by its definition: E = 0 counts units of 2^-24. */
static uint32_t from_binary16(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, E = h >> 10 & 31, T = h & 0x3ff;
    if (E == 31)
        return sign | 0x7f800000 | T << 13;
    if (E)
        return sign | (E + 112) << 23 | T << 13;
    {
        float v = (float)T * 0x1p-24f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        return sign | bits;
    }
}

static uint64_t widened(uint32_t bits)
{
    float v;
    double d;
    uint64_t wide;
    memcpy(&v, &bits, sizeof v);
    d = (double)v;
    memcpy(&wide, &d, sizeof wide);
    return wide;
}

int main(void)
{
    static uint64_t narrow[COUNT], wide[COUNT];
    const ref_format *r;
    size_t i;
    uint32_t c;

    for (c = 0; c < 1 << 16; c++) {
        narrow[2 * c] = c << 16;
        narrow[2 * c + 1] = from_binary16(c);
        wide[2 * c] = widened(c << 16);
        wide[2 * c + 1] = widened(from_binary16(c));
    }
    for (i = 0; (r = ref_formats(i)) != NULL; i++) {
        fpemu_format f;
        int mode;
        if (r->f.bits > 8)
            continue;
        if (fpemu_format_parse(r->spec, &f, NULL) != FPEMU_OK) {
            printf("FAIL %s is not parsed\n", r->spec);
            failures++;
            continue;
        }
        for (mode = 0; mode < FPEMU_MODE_SR; mode++) {
            /* Both carriers take turns, and so do the policies: neighbours.c has them all. */
            unsigned carrier = (i + (size_t)mode) % 2 ? 64 : 32;
            fpemu_rounding rounding = {.mode = (uint8_t)mode, .overflow = (uint8_t)(1 + lines % 3)};
            judge *j = judge_open_any(&r->f, &rounding, carrier);
            unsigned long found;
            if (!j)
                continue;
            found = compare_array(r->spec, &f, &rounding, carrier, carrier == 32 ? narrow : wide, COUNT, j,
                                  printed < 100 ? 2 : 0, compare_print, NULL);
            failures += found;
            printed += found < 2 ? found : 2;
            lines++;
            judge_close(j);
        }
    }
    printf("quantize_16bit: %lu formats x modes, %d inputs each, %lu failures\n", lines, COUNT, failures);
    return failures != 0;
}
