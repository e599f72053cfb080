/* SPDX-License-Identifier: BSD-2-Clause */
/* box_walk.c - see box_walk.h */
#include "files/box_walk.h"

#include <stdlib.h>

#include "cli/error.h"
#include "files/reader.h"
#include "files/scratch.h"

/* A row of neighbours: `count` elements from `index` on in the tensor, from `at` on in the box. */
typedef struct row {
    uint64_t index, at, count;
} row;

typedef void take_row(const box_walk *b, const row *r, void *state);

/* Lines that are whole in the box make one row together. */
static void each_row(const box_walk *b, take_row *take, void *state)
{
    const fpemu_shape *s = &b->partition->shape;
    const uint64_t *from = b->box.from, *count = b->box.count;
    const bool together = count[3] == s->inner;
    row r = {.count = together ? count[2] * count[3] : count[3]};
    for (uint64_t o = from[0]; o < from[0] + count[0]; o++) {
        for (uint64_t k = from[1]; k < from[1] + count[1]; k++) {
            for (uint64_t l = from[2]; l < from[2] + (together ? 1 : count[2]); l++) {
                r.index = ((o * s->rows + k) * s->length + l) * s->inner + from[3];
                take(b, &r, state);
                r.at += r.count;
            }
        }
    }
}

box_walk box_walk_begin(file *f, size_t i, const partition *a, bool binary64)
{
    const box largest = partition_first_box(a);
    box_walk b = {.file = f, .i = i, .partition = a, .room = (size_t)partition_box_count(&largest)};
    if (b.room > SIZE_MAX / sizeof(double))
        cli_fail("out of memory");
    b.bytes = cli_allocate(b.room, f->model.tensor[i].type->size);
    b.x32 = binary64 ? NULL : cli_allocate(b.room, sizeof *b.x32);
    b.x64 = binary64 ? cli_allocate(b.room, sizeof *b.x64) : NULL;
    b.copy = reader_random_access(&f->model) ? NULL : file_copy(f, i); /* archives are read from their beginning only */
    return b;
}

static void get_row(const box_walk *b, const row *r, void *state)
{
    const size_t size = *(const size_t *)state;
    char *to = (char *)b->bytes + r->at * size;
    if (b->copy != NULL)
        scratch_read_at(b->copy, r->index * size, to, (size_t)r->count * size);
    else
        file_read_at(b->file, b->i, r->index * size, to, (size_t)r->count * size);
}

bool box_walk_next(box_walk *b)
{
    const tensor *t = &b->file->model.tensor[b->i];
    size_t size = t->type->size;
    if (!b->begun) {
        b->box = partition_first_box(b->partition);
        b->begun = true;
    } else if (!partition_next_box(b->partition, &b->box)) {
        return false;
    }
    b->count = (size_t)partition_box_count(&b->box);
    each_row(b, get_row, &size);
    dtype_load(t->type, t->big_endian, b->count, b->bytes, b->x64 != NULL, b->x64 != NULL ? (void *)b->x64 : b->x32);
    return true;
}

typedef struct target {
    FILE *scratch;
    const char *bytes;
    size_t size;
} target;

static void put_row(const box_walk *b, const row *r, void *state)
{
    const target *to = state;
    (void)b;
    scratch_write_at(to->scratch, r->index * to->size, to->bytes + r->at * to->size, (size_t)r->count * to->size);
}

void box_walk_put(const box_walk *b, FILE *scratch, const void *bytes, size_t size)
{
    target to = {scratch, bytes, size};
    each_row(b, put_row, &to);
}

void box_walk_end(box_walk *b)
{
    free(b->bytes);
    free(b->x32);
    free(b->x64);
    if (b->copy != NULL)
        fclose(b->copy);
}
