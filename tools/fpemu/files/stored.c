/* SPDX-License-Identifier: BSD-2-Clause */
/* stored.c - see stored.h */
#include "files/stored.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/byte_order.h"
#include "files/ggml.h"
#include "files/grid.h"
#include "files/layout.h"

enum { PIECE = 8192 }; /* elements that are decoded at a time: a multiple of the elements of every block */

bool stored_some(model *m, uint64_t place, void *bytes, size_t size, size_t least)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(fileno(m->file), (char *)bytes + done, size - done, (off_t)(place + done));
        if (got < 0 && errno != EINTR)
            return model_refuse(m, "%s", strerror(errno));
        if (got == 0)
            return done >= least || model_refuse(m, "truncated while it was read");
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool stored_bytes(model *m, uint64_t place, void *bytes, size_t size)
{
    return stored_some(m, place, bytes, size, size);
}

/* n blocks, the first of them number `first`. */
static bool decode(model *m, const tensor *t, uint64_t first, size_t n, float *y)
{
    if (t->stored.grid != NULL)
        return grid_decode(m, t, first, n, y);
    if (t->stored.ggml == NULL)
        return layout_decode(m, t, first, n, y);
    unsigned char bytes[PIECE / 32 * 36]; /* no type takes more than 36 bytes for 32 elements */
    if (!stored_bytes(m, t->place + first * t->stored.size, bytes, n * t->stored.size))
        return false;
    ggml_decode(t->stored.ggml, n, bytes, y);
    return true;
}

bool stored_read(model *m, const tensor *t, uint64_t from, void *bytes, size_t size)
{
    const unsigned count = t->stored.count;
    float y[PIECE];
    for (size_t done = 0; done < size;) {
        const uint64_t at = from + done, first = at / (4 * (uint64_t)count), blocks = t->count / count;
        const size_t n = blocks - first < PIECE / count ? (size_t)(blocks - first) : PIECE / count;
        const size_t skipped = (size_t)(at - first * 4 * count), there = 4 * n * count - skipped;
        const size_t some = size - done < there ? size - done : there;
        const size_t needed = (skipped + some + 4 * (size_t)count - 1) / (4 * (size_t)count);
        if (!decode(m, t, first, needed, y))
            return false;
        if (byte_order_is_big())
            byte_order_swap(y, 4, needed * count);
        memcpy((char *)bytes + done, (const char *)y + skipped, some);
        done += some;
    }
    return true;
}
