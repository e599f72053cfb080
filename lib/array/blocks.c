/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - quantising with scales: the numbers of the whole tensor found, blocks taken tile by
 * tile through the loops of the instruction set. The rules stand in core/block.h, the order of elements in walk.c. */
#include "blocks.h"
#include "core/packed_layout.h"
#include "threads.h"
#include "format/blocking.h"
#include "format/codebook.h"
#include "loops/stream.h"

#include <assert.h>

/* Parts of a tile: pieces of blocks. */
#define PARTS 32
/* A block of this many elements is split between threads, smaller ones are taken whole. */
#define LARGE 131072
/* Tensors below this are tried by the fast forms before anything else is prepared. */
#define SMALL 65536
/* Blocks up to which the reference finds scales as fast as loops for many do. */
#define FEW_BLOCKS 2
/* Fewer elements than these are taken as so many, the others being zero. */
#define FEW_LANES 16
/* Elements of tables that are made and counted at a time: of binary64 fewer, for the stack. */
#define TABLE_TILE (CARRIER_BITS == 32 ? 2 * TILE : TILE)
/* Elements that are copied at a time: words of a narrow carrier, strided ones. */
#define WORDS_TILE 4096
/* Elements of blocks that are made at a time where they pass the caches, those two tiles on being asked for meanwhile;
 * larger tiles are slower. Where scales of more blocks are found at once, what is asked for lies as far on as these
 * reach, and larger blocks, up to a size, are made in such pieces. */
#define STREAM_BLOCKS 512
#define STREAM_LARGEST 8192
/* The size of a tile for words: of the other carrier there are none. */
#define ASIDE(size) (CARRIER_BITS == 32 ? (size) : 1)

/* Random bits of a span of elements that are `step` apart. */
static void random_span(const kernels *k, const fpemu_rounding *r, const core_span *s, uint32_t *out)
{
    const int bits = r->bits ? r->bits : 32, per_word = core_per_word(bits);
    uint64_t i = r->offset + s->first, high = 0;
    core_hash_key key = {0, 0};
    if (s->step == 1) {
        fpemu_random_fill(k, r, i, (size_t)s->n, out);
        return;
    }
    if (r->generator != FPEMU_GENERATOR_HASH) {
        for (uint64_t e = 0; e < s->n; e++)
            out[e] = fpemu_element_bits(r, s->first + e * s->step);
        return;
    }
    for (uint64_t e = 0; e < s->n; e++, i += s->step) {
        const uint64_t word = core_word_index(per_word, i);
        if (e == 0 || word >> 32 != high) {
            high = word >> 32;
            key = core_hash_keys(r->seed, r->stream, high);
        }
        out[e] = core_field_top(per_word, bits, core_hash_word(key, (uint32_t)word), core_field_shift(per_word, i));
    }
}

/* The element saturates and is rounded without compatibility settings: those of blocks are the engine's. */
static void element_rounding(const fpemu_format *f, const fpemu_rounding *r, fpemu_rounding *e)
{
    *e = *r;
    if (f->scaling) {
        e->overflow = FPEMU_OVERFLOW_SATURATE;
        e->compat = FPEMU_COMPAT_NONE;
    }
}

/* The numbers of the whole tensor, for a format that has them; scale_max: the largest scale, of nvfp4 rules. */
static core_tensor tensor_of(const fpemu_format *f, double scale_max, const fpemu_range *range)
{
    if (f->scaling == FPEMU_SCALING_S2FP8)
        return core_s2fp8_tensor(range);
    return core_nvfp4_tensor(range, f->scaling, f->bound > 0 ? f->bound : core_saturated32(scale_max),
                             core_saturated32(core_block_target(f)));
}

int fpemu_block_tensor(const fpemu_format *f, const fpemu_range *range, core_tensor *t)
{
    fpemu_format scale = {0}; /* s2fp8 has none */
    if (!core_has_tensor(f) || (f->scaling != FPEMU_SCALING_S2FP8 && !fpemu_scale_of(f, &scale)))
        return 0;
    *t = tensor_of(f, scale.max, range);
    return 1;
}

static fpemu_status check_arrays(const core_walk *w, const void *x, const void *y, size_t size)
{
    core_reach from, to;
    if (w->array)
        return check_overlap(x, size, y, size, (size_t)w->total);
    if (!core_walk_reach(w, x, w->x_axis, size, &from) || !core_walk_reach(w, y, w->y_axis, size, &to))
        return FPEMU_ERROR_ARGUMENT;
    return (x != y || !core_walk_is_same(w)) && core_reaches_meet(&from, &to) ? FPEMU_ERROR_OVERLAP : FPEMU_OK;
}

/* Adds a scale to the caller's histogram. */
static void count_scale(const fpemu_stats_request *r, int exponent)
{
    const int64_t bin = (int64_t)exponent - r->scale_first + 1, last = (int64_t)r->scale_length - 1;
    uint64_t *const place = r->scale_histogram + (bin < 0 ? 0 : bin > last ? last : bin);
#ifdef _OPENMP
#pragma omp atomic
#endif
    ++*place;
}

/* What a block adds to the counters. `empty`: all of it zero. */
static void count_block(fpemu_stats *s, const fpemu_stats *caller, int kind, int empty, int saturated, int counted,
                        int exponent)
{
    s->blocks++;
    s->zero_blocks += (uint64_t)empty;
    s->nan_blocks += kind == CORE_SCALE_NAN;
    s->saturated_scales += (uint64_t)saturated;
    if ((caller->request.want & FPEMU_STATS_SCALES) && counted)
        count_scale(&caller->request, exponent);
}

/* Adds to the sum of logarithms, or of magnitudes, modulo 2^128: a caller's may be anything. */
static void add_to_sum(fpemu_range *r, uint64_t low, int64_t high)
{
    r->log2_low += low;
    r->log2_high = (int64_t)((uint64_t)r->log2_high + (uint64_t)high + (r->log2_low < low));
}

/* Adds a sum of logarithms in steps of 2^-32. */
static void add_logarithms(fpemu_range *r, int64_t sum, int64_t largest)
{
    const double most = (double)largest / 4294967296.0;
    r->log2_max = r->nonzero == 0 || most > r->log2_max ? most : r->log2_max;
    add_to_sum(r, (uint64_t)sum, sum < 0 ? -1 : 0);
}

/* Adds a sum of magnitudes. */
static void add_magnitudes(fpemu_range *r, const core_steps *s)
{
    uint64_t low;
    int64_t high;
    core_steps_join(s->low, s->high, &low, &high);
    add_to_sum(r, low, high);
}

/* Joins what two pieces of a tensor measured. */
static void join_range(fpemu_range *to, const fpemu_range *from)
{
    if (from->nonzero) {
        to->log2_max = to->nonzero == 0 || from->log2_max > to->log2_max ? from->log2_max : to->log2_max;
        add_to_sum(to, from->log2_low, from->log2_high);
    }
    to->count += from->count;
    to->nonzero += from->nonzero;
    to->nonfinite += from->nonfinite;
    to->amax = from->amax > to->amax ? from->amax : to->amax;
    to->max = from->max > to->max ? from->max : to->max;
    to->min = from->min < to->min ? from->min : to->min;
}

/* A sink for codes of a scalar format: context is the array. */
static void codes_to_array(void *context, uint64_t block, uint64_t position, size_t n, size_t size, const void *codes)
{
    (void)block;
    memcpy((char *)context + position * size, codes, n * size);
}

#include "core/carrier64.h"
#include "blocks.inc.c"
#include "core/carrier_end.h"

#include "core/carrier32.h"
#include "blocks.inc.c"
#include "core/carrier_end.h"

fpemu_status fpemu_quantize_tensor(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                   const fpemu_shape *shape, const void *x, void *y, fpemu_stats *stats)
{
    return FOR_TYPE(type, fpemu_block_tensor_run, NULL, format, rounding, shape, x, y, stats);
}

fpemu_status fpemu_measure(const fpemu_format *format, fpemu_type type, size_t n, const void *x, fpemu_range *range)
{
    return FOR_TYPE(type, measure_array, format, n, x, range);
}
