/* walk.c - core/walk.h compiled once for all that walk the blocks of a tensor. */
#include "blocks.h"

fpemu_status fpemu_walk_begin(block_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size, int lines)
{
    return core_walk_begin(w, f, shape, size, lines);
}

void fpemu_walk_block(const block_walk *w, uint64_t b, block_place *p)
{
    core_walk_block(w, b, p);
}

block_span fpemu_walk_span(const block_walk *w, const block_place *p, uint64_t position, uint64_t most)
{
    return core_walk_span(w, p, position, most);
}
