/* SPDX-License-Identifier: BSD-2-Clause */
/* packed_layout.h - where the blocks of a tensor lie among its packed bytes (doc/blocks.md, 4). */
#ifndef FPEMU_CORE_PACKED_LAYOUT_H
#define FPEMU_CORE_PACKED_LAYOUT_H

#include "walk.h"

/* Blocks in groups of `down` rows of `across`; the last of each may be smaller. */
typedef struct core_layout {
    uint64_t down, across;
    uint64_t elements[2][2]; /* of a block: in the last row, last along it */
    uint8_t uniform;         /* all blocks are full */
} core_layout;

FPEMU_FN core_layout core_layout_make(const core_walk *w)
{
    core_layout p;
    uint64_t short_row = w->n[2], short_line = w->n[3];
    p.down = p.across = 1;
    if (w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_TILE) {
        p.across = w->across;
        short_line = w->length - (w->across - 1) * w->tile_length;
    }
    if (w->block == FPEMU_BLOCK_TILE) {
        p.down = w->down;
        short_row = w->rows - (w->down - 1) * w->tile_rows;
    }
    const uint64_t rest = w->n[0] * w->n[1];
    p.elements[0][0] = rest * w->n[2] * w->n[3];
    p.elements[0][1] = rest * w->n[2] * short_line;
    p.elements[1][0] = rest * short_row * w->n[3];
    p.elements[1][1] = rest * short_row * short_line;
    p.uniform = p.elements[1][1] == p.elements[0][0];
    return p;
}

/* Bytes of a block. */
FPEMU_FN uint64_t core_layout_bytes(uint64_t elements, uint64_t bits)
{
    return (elements * bits + 7) / 8;
}

/* Bytes before block b where an element takes `bits`. */
FPEMU_FN uint64_t core_layout_before(const core_layout *p, uint64_t b, uint64_t bits)
{
    if (p->uniform)
        return b * core_layout_bytes(p->elements[0][0], bits);
    uint64_t of_row[2];
    for (int last = 0; last < 2; last++)
        of_row[last] = (p->across - 1) * core_layout_bytes(p->elements[last][0], bits) +
                       core_layout_bytes(p->elements[last][1], bits);
    const uint64_t at = b % p->across, rows = b / p->across;
    const uint64_t row = rows % p->down, group = rows / p->down;
    return group * ((p->down - 1) * of_row[0] + of_row[1]) + row * of_row[0] +
           at * core_layout_bytes(p->elements[row == p->down - 1][0], bits);
}

/* Block scales of one byte in the order that tensor cores read: tiles of 128 rows x 4 columns. */
FPEMU_FN uint64_t core_swizzled(uint64_t r, uint64_t c, uint64_t columns)
{
    const uint64_t tile = r / 128 * ((columns + 3) / 4) + c / 4;
    return tile * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
}

#endif /* FPEMU_CORE_PACKED_LAYOUT_H */
