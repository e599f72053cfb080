/* tensor.h - tensors with scales: the jobs of measuring, quantising, packing and unpacking, and their kernels' bodies.
 *
 * A block is cut into pieces of 4096 elements, which are also what error sums are made of; a unit is one piece. A group
 * of 1 to 32 lanes takes a unit: the fewest that hold a whole block, 32 for longer ones, one where neighbours in memory
 * belong to neighbouring blocks. A lane has one element of each row of its group, or `width` = 4 neighbours, where
 * those lie aligned and no sums are made. Scales of blocks of one piece are found on the way; those of longer blocks,
 * and what belongs to the whole tensor, by kernels before, in the caller's scratch. */
#ifndef FPEMU_GPU_TENSOR_H
#define FPEMU_GPU_TENSOR_H

#include "bodies.h"
#include "core/block.h"
#include "names.h"
#include "core/packed_layout.h"
#include "core/pack.h"
#include "core/walk.h"

#define GPU_PIECE 4096

/* Tables up to this length travel with the job, longer ones lie in the scratch. */
#define GPU_TABLE 256

/* The largest magnitudes of a long block's finite elements, as bits of the carrier; nonfinite: 1 if there are others.
 */
typedef struct gpu_extremes {
    uint64_t amax, high, low, nonfinite;
} gpu_extremes;

/* What is known of a whole tensor. All zero bits = nothing seen. */
typedef struct gpu_range {
    uint64_t count, nonzero, nonfinite;
    uint64_t high, low;         /* bits of binary64: the largest element above zero, the smallest below */
    uint64_t most;              /* largest log2 in steps of 2^-32, plus 2^62 */
    uint64_t sum_low, sum_high; /* sums of the low 32 bits and of the rest of such steps */
    core_tensor tensor;         /* the rule's numbers, once the range is complete */
    gpu_extremes extremes;      /* the same as bits of the carrier */
} gpu_range;

/* *r as the CPU has it. */
FPEMU_FN void gpu_range_value(const gpu_range *r, fpemu_range *to)
{
    memset(to, 0, sizeof *to);
    to->count = r->count;
    to->nonzero = r->nonzero;
    to->nonfinite = r->nonfinite;
    to->max = core_value64(r->high);
    to->min = 0 - core_value64(r->low);
    to->amax = core_value64(r->high > r->low ? r->high : r->low);
    if (r->most)
        to->log2_max = (double)((int64_t)r->most - (INT64_C(1) << 62)) / 4294967296.0;
    to->log2_low = (r->sum_high << 32) + r->sum_low;
    const uint64_t top = r->sum_high >> 63 ? ~(uint64_t)0 << 32 : 0;
    to->log2_high = (int64_t)((r->sum_high >> 32 | top) + (uint64_t)(to->log2_low < r->sum_low));
}

/* From a range that was measured, or given by the caller, to what blocks need of it. `given`: NULL, or that. */
typedef struct gpu_tensor_rule {
    float largest_scale, largest; /* K and M of doc/blocks.md, 2.1 */
    uint8_t rule, wide;           /* fpemu_scaling; wide: the carrier is binary64 */
} gpu_tensor_rule;

FPEMU_FN core_tensor gpu_tensor_numbers(gpu_tensor_rule rule, const fpemu_range *w)
{
    const core_tensor none = {1, 1};
    if (rule.rule == FPEMU_SCALING_S2FP8)
        return core_s2fp8_tensor(w);
    if (rule.rule == FPEMU_SCALING_NVFP4 || rule.rule == FPEMU_SCALING_NVFP4_AO)
        return core_nvfp4_tensor(w, rule.rule == FPEMU_SCALING_NVFP4_AO, rule.largest_scale, rule.largest);
    return none;
}

FPEMU_FN void gpu_range_finish(gpu_range *r, gpu_tensor_rule rule, const fpemu_range *given)
{
    fpemu_range seen;
    gpu_range_value(r, &seen);
    const fpemu_range *w = given ? given : &seen;
    r->tensor = gpu_tensor_numbers(rule, w);
    const uint64_t magnitude = ~UINT64_C(0) >> 1;
    const double low = 0 - w->min;
    r->extremes.amax = rule.wide ? core_bits64(w->amax) : core_bits32(core_saturated32(w->amax));
    r->extremes.high = rule.wide ? core_bits64(w->max) : core_bits32(core_saturated32(w->max));
    r->extremes.low = rule.wide ? core_bits64(low) & magnitude : core_bits32(core_saturated32(low)) & 0x7fffffffu;
    r->extremes.nonfinite = w->nonfinite > 0;
}

/* Everything but the carrier's own. */
typedef struct gpu_tensor_job {
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
    core_tensor tensor; /* where they come from neither range nor bytes */
    uint32_t scale_bytes, element_bits;
    uint32_t group, quad_group; /* lanes of a group; 0: no four neighbours lie aligned */
    uint32_t run; /* not 0: whole sheets of 128 neighbours in memory, in blocks of so many, go by gpu_tensor_runs */
    uint32_t code_size;                                      /* not 0: `bytes` is an array of codes of that size */
    uint8_t tensor_from_bytes, whole, other, flat, by_block; /* whole: one scale; by_block: neighbouring lanes take
                                                                neighbouring blocks */
    uint8_t x_type, y_type, logarithms;
} gpu_tensor_job;

typedef struct gpu_tensor_job32 {
    gpu_tensor_job job;
    core_blocked32 rule;
    core_coder32 narrow;
    core_plan32 narrow_plan;
    float table[GPU_TABLE];
} gpu_tensor_job32;

typedef struct gpu_tensor_job64 {
    gpu_tensor_job job;
    core_blocked64 rule;
    float table[GPU_TABLE];
} gpu_tensor_job64;

FPEMU_STATIC_ASSERT(sizeof(gpu_tensor_job32) <= 4096 && sizeof(gpu_tensor_job64) <= 4096, "what a kernel may be given");

/* A lane's part of a unit: places begin + sub, + group, ... below end. */
typedef struct gpu_unit {
    core_place place;
    uint64_t block, begin, end; /* begin and end count from `origin`, so that sums find their lane */
    uint64_t origin, flat;
} gpu_unit;

FPEMU_FN uint64_t gpu_units(const gpu_tensor_job *j)
{
    return j->count * j->pieces;
}

/* Unit v; past the last it is empty. */
FPEMU_FN void gpu_unit_find(const gpu_tensor_job *j, uint64_t v, gpu_unit *u)
{
    uint64_t piece = 0, b = v;
    u->begin = u->end = u->origin = u->flat = u->block = 0;
    if (v >= gpu_units(j))
        return;
    if (j->pieces > 1) {
        const uint64_t q = core_walk_quotient(v, j->by_block ? j->count : j->pieces);
        piece = j->by_block ? q : v - q * j->pieces;
        b = j->by_block ? v - q * j->count : q;
    }
    u->block = j->by_block ? core_walk_visited(&j->walk, b) : j->first + b;
    core_walk_block(&j->walk, u->block, &u->place);
    if (j->flat) {
        u->flat = core_layout_before(&j->layout, u->block, 8) - core_layout_before(&j->layout, j->first, 8);
        u->place.x = u->place.y = 0;
    }
    /* without scales error sums go by index */
    const uint64_t offset = j->walk.block == CORE_WALK_INDEX ? j->offset : 0, least = offset % GPU_PIECE;
    u->origin = least;
    u->begin = piece * GPU_PIECE;
    u->end = core_smaller(u->begin + GPU_PIECE, u->place.elements + least);
    u->begin = u->begin < u->end ? u->begin : u->end;
}

/* How a lane takes elements: one at a time, or four. */
FPEMU_FN unsigned gpu_width(const gpu_tensor_job *j)
{
    return j->quad_group && !(j->counts && (j->counts->want & FPEMU_STATS_SUMS)) ? 4 : 1;
}

FPEMU_FN unsigned gpu_group(const gpu_tensor_job *j, unsigned width)
{
    return width == 4 ? j->quad_group : j->group;
}

/* Rows that the longest unit takes: the same for all lanes, which meet after each. */
FPEMU_FN uint64_t gpu_rows(const gpu_tensor_job *j, unsigned width)
{
    const uint64_t full = j->walk.n[0] * j->walk.n[1] * j->walk.n[2] * j->walk.n[3];
    const uint64_t before = j->walk.block == CORE_WALK_INDEX ? j->offset % GPU_PIECE : 0;
    const uint64_t most = j->pieces > 1 ? GPU_PIECE : full + before;
    const uint64_t row = (uint64_t)gpu_group(j, width) * width;
    return (most + row - 1) / row;
}

/* Where an element lies: its index, and its places in the arrays. */
FPEMU_FN core_span gpu_element(const gpu_tensor_job *j, const gpu_unit *u, uint64_t at)
{
    core_span s = core_walk_span(&j->walk, &u->place, at, 1);
    if (j->flat)
        s.x = s.y = (int64_t)(u->flat + at);
    return s;
}

/* Random bits of any element; a lane keeps the key of the last. */
FPEMU_FN uint32_t gpu_bits_anywhere(const gpu_random *r, gpu_words *w, uint64_t *high, gpu_lane *lane, uint64_t index)
{
    const uint64_t h = core_word_index(r->share, index) >> 32;
    if (r->generator != FPEMU_GENERATOR_PHILOX && h != *high) {
        w->key = core_hash_keys(r->seed, r->stream, h);
        *high = h;
    }
    return gpu_bits(r, w, lane, index);
}

/* The same of four neighbours. */
FPEMU_FN void gpu_bits_of_neighbours(const gpu_random *r, gpu_words *w, uint64_t *high, gpu_lane *lane, uint64_t index,
                                     uint32_t bits[4])
{
    const uint64_t h = core_word_index(r->share, index) >> 32;
    bits[0] = gpu_bits_anywhere(r, w, high, lane, index);
    if (r->generator != FPEMU_GENERATOR_PHILOX && r->share == 0 && h == core_word_index(r->share, index + 3) >> 32) {
        gpu_bits_of_four(r, w, lane, index, 1, bits);
        return;
    }
    UNROLLED for (unsigned k = 1; k < 4; k++) bits[k] = gpu_bits_anywhere(r, w, high, lane, index + k);
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

/* The numbers of the whole tensor, as packed. */
FPEMU_FN void gpu_store_tensor(unsigned char *bytes, core_tensor t)
{
    core_store_bytes(bytes, 4, core_bits32(t.a));
    core_store_bytes(bytes + 4, 4, core_bits32(t.b));
}

FPEMU_FN core_tensor gpu_load_tensor(const unsigned char *bytes)
{
    core_tensor t;
    t.a = core_value32((uint32_t)core_load_bytes(bytes, 4));
    t.b = core_value32((uint32_t)core_load_bytes(bytes + 4, 4));
    return t;
}

/* The same from a range, measured, or given by the caller. */
FPEMU_FN void gpu_pack_tensor(const gpu_range *range, gpu_tensor_rule rule, const fpemu_range *given,
                              unsigned char *bytes)
{
    fpemu_range seen;
    if (!given)
        gpu_range_value(range, &seen);
    gpu_store_tensor(bytes, gpu_tensor_numbers(rule, given ? given : &seen));
}

/* Byte i of the swizzled scales (those beyond the ends are 0), or of the plain ones. */
FPEMU_FN uint64_t gpu_swizzle_steps(uint64_t rows, uint64_t columns, int back)
{
    return back ? rows * columns : (rows + 127) / 128 * 128 * ((columns + 3) / 4 * 4);
}

FPEMU_FN void gpu_swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back, uint64_t i)
{
    const uint64_t wide = back ? columns : (columns + 3) / 4 * 4, r = core_walk_quotient(i, wide), c = i - r * wide;
    const uint64_t place = core_swizzled(r, c, columns);
    if (back)
        to[i] = from[place];
    else
        to[place] = r < rows && c < columns ? from[r * columns + c] : 0;
}

#define JOB gpu_tensor_job32
#include "core/carrier32.h"
#include "tensor.inc.h"
#include "core/carrier_end.h"
#undef JOB
#define JOB gpu_tensor_job64
#include "core/carrier64.h"
#include "tensor.inc.h"
#include "core/carrier_end.h"
#undef JOB

/* The form of core_blocked_element that a job takes. */
FPEMU_FN int gpu_tensor_form32(const gpu_tensor_job32 *j)
{
    return j->rule.is_table || j->rule.compat ? 2 : gpu_form32(&j->rule.plan);
}

FPEMU_FN int gpu_tensor_form64(const gpu_tensor_job64 *j)
{
    return j->rule.is_table || j->rule.compat ? 2 : gpu_form64(&j->rule.plan);
}

#endif /* FPEMU_GPU_TENSOR_H */
