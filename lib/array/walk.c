/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c - core/walk.h compiled once for all that walk the blocks of a tensor. */
#include "blocks.h"

fpemu_status fpemu_walk_begin(core_walk *w, const fpemu_format *f, const fpemu_shape *shape, size_t size, int lines)
{
    return core_walk_begin(w, f, shape, size, lines);
}

void fpemu_walk_block(const core_walk *w, uint64_t b, core_place *p)
{
    core_walk_block(w, b, p);
}

core_span fpemu_walk_span(const core_walk *w, const core_place *p, uint64_t position, uint64_t most)
{
    return core_walk_span(w, p, position, most);
}
