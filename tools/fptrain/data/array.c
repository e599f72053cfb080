/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c - see array.h */
#include "data/array.h"

#include <fpemu.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"

enum { LARGEST_SIDE = 4096, MOST_NUMBERS = 1 << 26 }; /* of an image, of a sample */

/* ------------------------------------------------------------------------------------------------ reading */

static size_t read_header_bytes(void *from, void *bytes, size_t size)
{
    size_t got = 0;
    return source_read(from, bytes, size, &got, NULL) ? got : 0;
}

/* Bytes of an element, by its code; 0: of no use. */
static unsigned element_size(const char *code)
{
    static const char *const known[] = {"u1", "i1", "b1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"};
    uint64_t length = 0;
    int end = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(code, known[i]) == 0)
            return (unsigned)(code[1] - '0');
    if (code[0] == 'S' && code[1] >= '0' && code[1] <= '9' && /* sscanf() takes signs and blanks too */
        sscanf(code + 1, "%5" SCNu64 "%n", &length, &end) == 1 && !code[1 + end] && length > 0)
        return (unsigned)length;
    return 0;
}

bool array_read(array *a, source *s, trouble *why)
{
    char error[NPY_ERROR_SIZE];
    uint64_t skipped, count = 1;
    memset(a, 0, sizeof *a);
    snprintf(a->name, sizeof a->name, "%s", source_name(s));
    if (!npy_read_header(read_header_bytes, s, &a->header, &skipped, error))
        return fail(why, "%s: %s", a->name, error);
    a->size = element_size(a->header.code);
    if (!a->size)
        return fail(why, "%s: elements of type '%s'; whole numbers and floats can be used", a->name,
                    a->header.type_text);
    for (unsigned i = 0; i < a->header.dimensions; i++) {
        const uint64_t extent = a->header.extent[i];
        if (extent == 0)
            return fail(why, "%s: an extent of 0", a->name);
        if (count > (UINT64_C(1) << 46) / extent)
            return fail(why, "%s: its header asks for more than 2^46 elements", a->name);
        count *= extent;
    }
    if (count > SIZE_MAX / 8)
        return fail(why, "%s: more elements than this machine can address", a->name);
    a->count = (size_t)count;
    a->bytes = source_take(s, a->count * a->size, why);
    if (!a->bytes || !source_end(s, why)) {
        array_free(a);
        return false;
    }
    if (a->header.code[0] != 'S' && a->header.big_endian != byte_order_is_big())
        byte_order_swap(a->bytes, a->size, a->count);
    return true;
}

void array_free(array *a)
{
    free(a->bytes);
    a->bytes = NULL;
}

/* ------------------------------------------------------------------------------------------------ elements */

#define WHOLE(type) (((const type *)(const void *)a->bytes)[i])

/* Element i of an array of whole numbers; those above 2^63 become that. */
static int64_t whole(const array *a, size_t i)
{
    if (a->header.code[0] == 'i') {
        switch (a->size) {
        case 1: return WHOLE(int8_t);
        case 2: return WHOLE(int16_t);
        case 4: return WHOLE(int32_t);
        default: return WHOLE(int64_t);
        }
    }
    switch (a->size) {
    case 1: return a->header.code[0] == 'b' ? WHOLE(uint8_t) != 0 : WHOLE(uint8_t);
    case 2: return WHOLE(uint16_t);
    case 4: return WHOLE(uint32_t);
    default: return WHOLE(uint64_t) > INT64_MAX ? INT64_MAX : WHOLE(int64_t);
    }
}

/* The same as a float, to the nearest. */
static float rounded(const array *a, size_t i)
{
    return a->size == 8 && a->header.code[0] == 'u' ? (float)WHOLE(uint64_t) : (float)whole(a, i);
}

static bool is_whole(const array *a)
{
    return strchr("uib", a->header.code[0]) != NULL;
}

/* All elements, in their order. A float64 becomes the nearest float. */
static float *floats(const array *a, trouble *why)
{
    float *x = need_room(a->count, sizeof *x);
    fpemu_format half;
    if (strcmp(a->header.code, "f4") == 0) {
        memcpy(x, a->bytes, a->count * sizeof *x);
    } else if (strcmp(a->header.code, "f2") == 0) {
        if (fpemu_format_named(FPEMU_NAME_BINARY16, &half) != FPEMU_OK ||
            fpemu_decode_f32(&half, a->count, a->bytes, x) != FPEMU_OK)
            die("binary16 cannot be decoded");
    } else if (strcmp(a->header.code, "f8") == 0) {
        for (size_t i = 0; i < a->count; i++)
            x[i] = (float)((const double *)(const void *)a->bytes)[i];
    } else {
        for (size_t i = 0; i < a->count; i++)
            x[i] = rounded(a, i);
    }
    for (size_t i = 0; i < a->count; i++) {
        if (isfinite(x[i]))
            continue;
        fail(why, "%s: element %zu is %s", a->name, i, isnan(x[i]) ? "NaN" : "infinite, or beyond float32");
        free(x);
        return NULL;
    }
    return x;
}

/* ------------------------------------------------------------------------------------------------ samples */

/* Which numbers a sample has, and how far they lie apart in the array, in elements. */
typedef struct geometry {
    uint64_t n, c, h, w;
    size_t sn, sc, sh, sw;
} geometry;

static bool may_be_channels(uint64_t extent)
{
    return extent == 1 || extent == 3 || extent == 4;
}

static bool is_word(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* The place of the channels among the four dimensions; -1: a sentence. */
static int channel_axis(const array *a, const char *layout, trouble *why)
{
    const uint64_t *e = a->header.extent;
    if (is_word(layout, "nchw") || is_word(layout, "nhwc"))
        return layout[1] == 'c' ? 1 : 3;
    const bool first = may_be_channels(e[1]), last = may_be_channels(e[3]);
    if (first != last)
        return first ? 1 : 3;
    fail(why,
         "%s: of a shape (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ") the channels may be the second or "
         "the last: data.layout = nchw or nhwc",
         a->name, e[0], e[1], e[2], e[3]);
    return -1;
}

static bool find_geometry(const array *a, const char *layout, geometry *g, trouble *why)
{
    const npy_header *h = &a->header;
    size_t stride[NPY_MOST_DIMENSIONS], step = 1;
    if (h->dimensions < 2 || h->dimensions > 4)
        return fail(why, "%s: %u dimensions; samples are (N, features), (N, H, W), (N, H, W, C) or (N, C, H, W)",
                    a->name, h->dimensions);
    for (unsigned i = 0; i < h->dimensions; i++) {
        const unsigned axis = h->fortran_order ? i : h->dimensions - 1 - i;
        stride[axis] = step;
        step *= (size_t)h->extent[axis];
    }
    *g = (geometry){.n = h->extent[0], .c = 1, .h = 1, .w = 1, .sn = stride[0]};
    int c = h->dimensions == 2 ? 1 : -1, y = 1;
    if (h->dimensions == 4) {
        c = channel_axis(a, layout, why);
        y = c == 1 ? 2 : 1;
        if (c < 0)
            return false;
    }
    if (c >= 0) {
        g->c = h->extent[c];
        g->sc = stride[c];
    }
    if (h->dimensions > 2) {
        g->h = h->extent[y];
        g->sh = stride[y];
        g->w = h->extent[y + 1];
        g->sw = stride[y + 1];
    }
    if (g->n > UINT32_MAX || g->h > LARGEST_SIDE || g->w > LARGEST_SIDE || g->c > MOST_NUMBERS / (g->h * g->w))
        return fail(why, "%s: %" PRIu64 " samples of %" PRIu64 " x %" PRIu64 " x %" PRIu64 " numbers are too many",
                    a->name, g->n, g->c, g->h, g->w);
    return true;
}

/* Whether the samples lie in the array as they are wanted. */
static bool is_in_order(const geometry *g)
{
    return (g->w == 1 || g->sw == 1) && (g->h == 1 || g->sh == g->w) && (g->c == 1 || g->sc == g->h * g->w) &&
           (g->n == 1 || g->sn == g->c * g->h * g->w);
}

static void reorder(const geometry *g, const void *from, void *to, bool bytes)
{
    size_t k = 0;
    for (size_t n = 0; n < g->n; n++)
        for (size_t c = 0; c < g->c; c++)
            for (size_t y = 0; y < g->h; y++) {
                const size_t first = n * g->sn + c * g->sc + y * g->sh;
                for (size_t x = 0; x < g->w; x++, k++)
                    if (bytes)
                        ((uint8_t *)to)[k] = ((const uint8_t *)from)[first + x * g->sw];
                    else
                        ((float *)to)[k] = ((const float *)from)[first + x * g->sw];
            }
}

/* The shape of the first split becomes that of the data set. */
static bool take_shape(dataset *d, const geometry *g, bool first, const array *a, trouble *why)
{
    if (first) {
        d->c = (int)g->c;
        d->h = (int)g->h;
        d->w = (int)g->w;
    }
    if (d->c == (int)g->c && d->h == (int)g->h && d->w == (int)g->w)
        return true;
    return fail(why,
                "%s: samples of %d x %d x %d numbers (channels, height, width), those for training have "
                "%d x %d x %d",
                a->name, (int)g->c, (int)g->h, (int)g->w, d->c, d->h, d->w);
}

static bool put_samples(array *a, split *to, const geometry *g, trouble *why)
{
    const bool bytes = strcmp(a->header.code, "u1") == 0;
    void *data = a->bytes;
    if (!bytes && !(data = floats(a, why)))
        return false;
    if (bytes)
        a->bytes = NULL;
    if (!is_in_order(g)) {
        void *ordered = need_room(a->count, bytes ? 1 : sizeof(float));
        reorder(g, data, ordered, bytes);
        free(data);
        data = ordered;
    }
    to->count = (size_t)g->n;
    to->pixels = bytes ? data : NULL;
    to->values = bytes ? NULL : data;
    return true;
}

bool array_samples(array *a, dataset *d, split *to, const char *layout, trouble *why)
{
    geometry g = {.n = 0};
    const bool first = d->c == 0;
    bool good = a->header.code[0] != 'S' || fail(why, "%s: text instead of numbers", a->name);
    good = good && find_geometry(a, layout, &g, why) && take_shape(d, &g, first, a, why) && put_samples(a, to, &g, why);
    if (good && !first && !d->train.pixels != !to->pixels)
        good = fail(why, "%s: one of the training and test samples is of bytes (uint8), the other of other numbers",
                    a->name);
    array_free(a);
    return good;
}

/* ------------------------------------------------------------------------------------------------ classes */

uint16_t *array_tokens(array *a, size_t *count, int *classes, bool fixed, trouble *why)
{
    const npy_header *h = &a->header;
    const int64_t most = fixed ? *classes : MOST_CLASSES;
    uint16_t *tokens = NULL;
    if (h->dimensions != 1 && !(h->dimensions == 2 && h->extent[1] == 1))
        fail(why, "%s: %u dimensions; classes and tokens are one number each, (N)", a->name, h->dimensions);
    else if (!is_whole(a))
        fail(why, "%s: elements of type '%s'; classes and tokens are whole numbers", a->name, h->type_text);
    else
        tokens = need_room(a->count, sizeof *tokens);
    *count = a->count;
    for (size_t i = 0; tokens && i < a->count; i++) {
        const int64_t class = whole(a, i);
        if (class < 0 || class >= most) {
            fail(why, "%s: element %zu, %s%" PRId64 ", is not in 0..%" PRId64, a->name, i,
                 class == INT64_MAX ? "at least " : "", class, most - 1);
            free(tokens);
            tokens = NULL;
            break;
        }
        /* cppcheck-suppress nullPointerRedundantCheck ; the loop ends where it becomes null */
        tokens[i] = (uint16_t)class;
        *classes = class >= *classes ? (int)class + 1 : *classes;
    }
    array_free(a);
    return tokens;
}

bool array_labels(array *a, split *to, int *classes, bool fixed, trouble *why)
{
    size_t count;
    char name[sizeof a->name];
    snprintf(name, sizeof name, "%s", a->name);
    to->labels = array_tokens(a, &count, classes, fixed, why);
    if (to->labels && count != to->count)
        return fail(why, "%s: %zu labels of %zu samples", name, count, to->count);
    return to->labels != NULL;
}
