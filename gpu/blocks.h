/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.h - tensors with scales: the jobs of measuring, quantising, packing and unpacking, and their kernels' bodies.
 *
 * A block is cut into pieces of 4096 elements, which are also what error sums are made of; a unit is one piece. A group
 * of 1 to 32 lanes takes a unit: the fewest that hold a whole block, 32 for longer ones, one where neighbours in memory
 * belong to neighbouring blocks. A lane has one element of each row of its group, or `width` = 4 neighbours, where
 * those lie aligned and no sums are made. Scales of blocks of one piece are found on the way; those of longer blocks,
 * and what belongs to the whole tensor, by kernels before, in the caller's scratch. */
#ifndef FPEMU_GPU_BLOCKS_H
#define FPEMU_GPU_BLOCKS_H

#include "core/block.h"
#include "core/block_fast.h"
#include "core/packed_layout.h"
#include "core/pack.h"
#include "core/walk.h"
#include "quantize.h"
#include "range.h"

#define GPU_PIECE 4096

/* Tables up to this length travel with the job, longer ones lie in the scratch. */
#define GPU_TABLE 256

/* Everything but the carrier's own. */
typedef struct gpu_blocks_call {
    core_walk walk;
    core_layout layout;
    gpu_random random;
    uint64_t offset;
    uint64_t first, count; /* blocks */
    uint64_t pieces;       /* of a block */
    const void *x;
    void *y;              /* NULL: codes go to `bytes` alone */
    unsigned char *bytes; /* packed, NULL: values only */
    uint64_t scales_offset, elements_offset;
    const float *table;     /* NULL: that of the job */
    gpu_range *range;       /* numbers of the whole tensor, NULL: none */
    gpu_extremes *extremes; /* of every block, NULL: found on the way, or those of the range */
    gpu_counts *counts;
    gpu_extremes *lines; /* where they have numbers of their own, which line_rule makes; NULL: of the tensor */
    gpu_range_rule line_rule;
    core_tensor tensor; /* where they come from neither range nor bytes */
    fpemu_given given;  /* scales on the device in place of those found; or all zero */
    uint32_t scale_bytes, element_bits;
    uint32_t group, quad_group; /* lanes of a group; 0: no four neighbours lie aligned */
    uint32_t run; /* not 0: whole strips of 128 neighbours in memory, in blocks of so many, go by gpu_block_runs */
    uint32_t code_size;        /* not 0: `bytes` is an array of codes of that size */
    uint8_t tensor_from_bytes; /* its two numbers are packed already */
    uint8_t whole;             /* one scale for all of it */
    uint8_t other;             /* the range is not of this tensor alone */
    uint8_t consecutive;       /* blocks follow each other in the arrays, whatever the shape */
    uint8_t by_block;          /* neighbouring lanes take neighbouring blocks */
    uint8_t x_type, y_type;
    uint8_t sums;             /* the rule that asks the range for one, or 0 */
    uint8_t x_quads, y_quads; /* the array lies aligned for four elements at a time */
} gpu_blocks_call;

/* Fast forms of gpu_block_runs: y at once under a power of two, the code of P at once, and of such powers. */
typedef struct gpu_run_fast {
    core_pow2_block32 pow2;
    core_direct32 direct;
    uint32_t one, mask, zero; /* codes of 1, of the exponent's bits, of blocks that are zero */
} gpu_run_fast;

typedef struct gpu_blocks_job32 {
    gpu_blocks_call call;
    core_blocked32 rule;
    uint32_t search; /* 0: the table has no thresholds; else more than it has, a power of two */
    uint8_t steps;   /* they alone decide */
    union {          /* what gpu_block_runs has of a table, and of other formats */
        float thresholds[GPU_TABLE];
        gpu_run_fast by;
    } fast;
    float table[GPU_TABLE];
} gpu_blocks_job32;

typedef struct gpu_blocks_job64 {
    gpu_blocks_call call;
    core_blocked64 rule;
    float table[GPU_TABLE];
} gpu_blocks_job64;

FPEMU_STATIC_ASSERT(sizeof(gpu_blocks_job32) <= 4096 && sizeof(gpu_blocks_job64) <= 4096, "what a kernel may be given");

/* A lane's part of a unit: places begin + sub, + group, ... below end. */
typedef struct gpu_unit {
    core_place place;
    uint64_t block, begin, end; /* begin and end count from `origin`, so that sums find their lane */
    uint64_t origin, consecutive;
} gpu_unit;

FPEMU_FN uint64_t gpu_units(const gpu_blocks_call *j)
{
    return j->count * j->pieces;
}

/* Unit v; past the last it is empty. */
FPEMU_FN void gpu_unit_find(const gpu_blocks_call *j, uint64_t v, gpu_unit *u)
{
    uint64_t piece = 0, b = v;
    u->begin = u->end = u->origin = u->consecutive = u->block = 0;
    if (v >= gpu_units(j))
        return;
    if (j->pieces > 1) {
        const uint64_t q = core_walk_quotient(v, j->by_block ? j->count : j->pieces);
        piece = j->by_block ? q : v - q * j->pieces;
        b = j->by_block ? v - q * j->count : q;
    }
    u->block = j->by_block ? core_walk_visited(&j->walk, b) : j->first + b;
    core_walk_block(&j->walk, u->block, &u->place);
    if (j->consecutive) {
        u->consecutive = core_layout_before(&j->layout, u->block, 8) - core_layout_before(&j->layout, j->first, 8);
        u->place.x = u->place.y = 0;
    }
    /* without scales error sums go by index */
    const uint64_t offset = j->walk.block == CORE_WALK_INDEX ? j->offset : 0, least = offset % GPU_PIECE;
    u->origin = least;
    u->begin = piece * GPU_PIECE;
    u->end = core_smaller(u->begin + GPU_PIECE, u->place.elements + least);
    u->begin = u->begin < u->end ? u->begin : u->end;
}

/* The numbers of the tensor, or of the block's line, from packed bytes. */
FPEMU_FN core_tensor gpu_packed_tensor(const gpu_blocks_call *j, uint64_t block)
{
    return gpu_load_tensor_scales(j->bytes +
                                  (j->scales_offset > 8 ? core_walk_quotient(block, j->walk.across) * 8 : 0));
}

/* The numbers of the block's line from its elements; they are packed with its first block. */
FPEMU_FN core_tensor gpu_line_tensor(const gpu_blocks_call *j, uint64_t block, int wide, int packs)
{
    const uint64_t across = j->walk.across, line = core_walk_quotient(block, across);
    const uint64_t amax = j->lines[line - core_walk_quotient(j->first, across)].amax;
    fpemu_range range;
    memset(&range, 0, sizeof range);
    range.amax = wide ? core_value64(amax) : (double)core_value32((uint32_t)amax);
    const core_tensor t = gpu_tensor_scales(j->line_rule, &range);
    if (packs && j->bytes && block == line * across)
        gpu_store_tensor_scales(j->bytes + 8 * line, t);
    return t;
}

/* Whether sums are wanted or a histogram, which gpu_block_runs leaves to gpu_blocks. */
FPEMU_FN int gpu_wants_more(const gpu_counts *counts)
{
    return (counts->want & (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM)) != 0;
}

/* Whether gpu_block_runs has counted a job's elements. */
FPEMU_FN int gpu_is_counted(const gpu_blocks_call *j)
{
    return j->run && j->counts && !gpu_wants_more(j->counts);
}

/* How a lane takes elements: one at a time, or four. */
FPEMU_FN unsigned gpu_width(const gpu_blocks_call *j)
{
    return j->quad_group && !(j->counts && (j->counts->want & FPEMU_STATS_SUMS)) ? 4 : 1;
}

FPEMU_FN unsigned gpu_group(const gpu_blocks_call *j, unsigned width)
{
    return width == 4 ? j->quad_group : j->group;
}

/* Rows that the longest unit takes: the same for all lanes, which meet after each. */
FPEMU_FN uint64_t gpu_rows(const gpu_blocks_call *j, unsigned width)
{
    const uint64_t full = j->walk.n[0] * j->walk.n[1] * j->walk.n[2] * j->walk.n[3];
    const uint64_t before = j->walk.block == CORE_WALK_INDEX ? j->offset % GPU_PIECE : 0;
    const uint64_t most = j->pieces > 1 ? GPU_PIECE : full + before;
    const uint64_t row = (uint64_t)gpu_group(j, width) * width;
    return (most + row - 1) / row;
}

/* Where an element lies: its index, and its places in the arrays. */
FPEMU_FN core_span gpu_element(const gpu_blocks_call *j, const gpu_unit *u, uint64_t at)
{
    core_span s = core_walk_span(&j->walk, &u->place, at, 1);
    if (j->consecutive)
        s.x = s.y = (int64_t)(u->consecutive + at);
    return s;
}

/* Random bits of any element; a lane keeps the key of the last. */
FPEMU_FN uint32_t gpu_bits_anywhere(const gpu_random *r, gpu_words *w, uint64_t *high, gpu_lane *lane, uint64_t index)
{
    const uint64_t h = core_word_index(r->per_word, index) >> 32;
    if (r->generator != FPEMU_GENERATOR_PHILOX && h != *high) {
        w->key = core_hash_keys(gpu_seed(r), gpu_stream(r), h);
        *high = h;
    }
    return gpu_bits(r, w, lane, index);
}

/* Eight codes of b bits as bytes: lane k of the octet writes bytes k, k + 8, ...; of `bytes` in all. */
FPEMU_FN void gpu_store_octet(unsigned char *to, const uint64_t codes[8], uint32_t b, uint32_t bytes, uint32_t k)
{
    for (uint32_t at = k; at < bytes; at += 8) {
        uint32_t byte = 0;
        for (uint32_t c = 0; c < 8; c++) {
            const int32_t shift = (int32_t)(c * b) - (int32_t)(8 * at);
            if (shift < 8 && shift + (int32_t)b > 0)
                byte |= (uint32_t)(shift >= 0 ? codes[c] << shift : codes[c] >> -shift);
        }
        to[at] = (unsigned char)byte;
    }
}

/* n <= 4 codes of b bits as bytes, of which four codes take a whole number. */
FPEMU_FN void gpu_store_codes(unsigned char *to, const uint64_t codes[4], uint32_t n, uint32_t b)
{
    const uint32_t bytes = (n * b + 7) / 8;
    uint64_t word = 0;
    for (uint32_t k = 0; k < n; k++)
        word |= codes[k] << (k * b);
    if (bytes == 4 && (uintptr_t)to % 4 == 0)
        gpu_store_code(to, 4, 0, word);
    else if (bytes == 2 && (uintptr_t)to % 2 == 0)
        gpu_store_code(to, 2, 0, word);
    else
        for (uint32_t k = 0; k < bytes; k++)
            to[k] = (unsigned char)(word >> (8 * k));
}

/* The scale of a block is counted. */
FPEMU_FN void gpu_count_block(gpu_lane *lane, gpu_counts *counts, int is_nan, int empty, int saturated, int counted,
                              int exponent)
{
    lane->counter[GPU_BLOCKS]++;
    lane->counter[GPU_ZERO_BLOCKS] += (uint32_t)empty;
    lane->counter[GPU_NAN_BLOCKS] += (uint32_t)is_nan;
    lane->counter[GPU_SATURATED_SCALES] += (uint32_t)saturated;
    if ((counts->want & FPEMU_STATS_SCALES) && counted) {
        const int bin = exponent + GPU_SCALE_BINS / 2;
        shared_add(&counts->scale_bins[bin < 0 ? 0 : bin >= GPU_SCALE_BINS ? GPU_SCALE_BINS - 1 : bin], 1);
    }
}

/* Scales of one byte in the order that tensor cores read, or back: a step is four neighbours of a row, which stay
 * neighbours. Steps that follow one another are eight such fours of a row, 32 rows further on, and so on. */
FPEMU_FN uint64_t gpu_swizzle_steps(uint64_t rows, uint64_t columns)
{
    return (rows + 127) / 128 * ((columns + 31) / 32) * 1024;
}

/* Step i; those beyond the ends become 0. */
FPEMU_FN void gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back, uint64_t i)
{
    const uint64_t wide = (columns + 31) / 32, tile = core_walk_quotient(i / 1024, wide);
    const uint64_t r = tile * 128 + i / 8 % 4 * 32 + i / 32 % 32, c = (i / 1024 - tile * wide) * 32 + i % 8 * 4;
    const uint64_t place = core_swizzled(r, c, columns), plain = r * columns + c;
    const uint8_t *const x = from + (back ? place : plain);
    uint8_t *const y = to + (back ? plain : place);
    const uint64_t have = r < rows && c < columns ? core_smaller(columns - c, 4) : 0;
    uint32_t word = 0;
    if (c >= (columns + 3) / 4 * 4)
        return;
    if (have == 4 && (uintptr_t)x % 4 == 0)
        word = (uint32_t)gpu_load_code(x, 4, 0);
    else
        for (uint32_t k = 0; k < have; k++)
            word |= (uint32_t)x[k] << 8 * k;
    if ((uintptr_t)y % 4 == 0 && (!back || have == 4))
        gpu_store_code(y, 4, 0, word);
    else
        for (uint32_t k = 0; k < (back ? have : 4); k++)
            y[k] = (uint8_t)(word >> 8 * k);
}

#include "core/carrier32.h"
#include "blocks.inc.h"
#include "core/carrier_end.h"
#include "core/carrier64.h"
#include "blocks.inc.h"
#include "core/carrier_end.h"

#endif /* FPEMU_GPU_BLOCKS_H */
