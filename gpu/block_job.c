/* SPDX-License-Identifier: BSD-2-Clause */
/* block_job.c - how the lanes of a device take a tensor: walk, groups, vectors of four, runs. */
#include "block_job.h"
#include "block_runs.h"
#include "core/round_fast.h"
#include "unpack_runs.h"

uint64_t fpemu_gpu_full_block(const core_walk *w)
{
    return w->n[0] * w->n[1] * w->n[2] * w->n[3];
}

/* The shape without strides, whose checks need an array. */
fpemu_shape fpemu_gpu_contiguous(const fpemu_shape *shape)
{
    fpemu_shape s = *shape;
    memset(s.x_stride, 0, sizeof s.x_stride);
    memset(s.y_stride, 0, sizeof s.y_stride);
    return s;
}

/* The scale format, all zero where there is none. */
void fpemu_gpu_formats(const fpemu_format *f, fpemu_format *element, fpemu_format *scale)
{
    memset(scale, 0, sizeof *scale);
    fpemu_format_element(f, element);
    if (f->scaling && !f->scale_power)
        fpemu_format_scale(f, scale);
}

/* The smallest power of two that is not below n, at most 32. */
static uint32_t group_of(uint64_t n)
{
    uint32_t group = 1;
    while (group < n && group < 32)
        group *= 2;
    return group;
}

/* Whether neighbours in memory belong to neighbouring blocks. */
static int is_across(const gpu_tensor *c, const core_walk *w)
{
    if (c->bytes || c->stats || c->count != ALL_BLOCKS)
        return 0;
    if (w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW)
        return w->inner > 1 && w->x_axis[2] != 1;
    return w->block == FPEMU_BLOCK_CHANNEL && w->x_axis[2] == 1;
}

/* Whether the array lies so that blocks begin at vectors of four elements. axis: its strides. */
static int begins_aligned(const gpu_tensor *c, const core_walk *w, const void *p, const int64_t axis[4], int64_t step)
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    const size_t size = fpemu_gpu_size(c->type, 0), wanted = size < 4 ? 4 * size : 16;
    if (!p)
        return 1;
    if (step != 1 || (uintptr_t)p % wanted)
        return 0;
    if (c->count != ALL_BLOCKS) /* blocks one after the other */
        return 1;
    for (int a = 0; a < 4; a++)
        if (a != 2 && extent[a] > 1 && axis[a] % 4 && w->block != FPEMU_BLOCK_TENSOR && w->block != CORE_WALK_INDEX)
            return 0;
    return 1;
}

/* Whether four neighbours of a block can be taken at once: they follow one another everywhere, and every block begins
 * aligned. */
static int is_in_quads(const gpu_tensor *c, const core_walk *w, const gpu_blocks_call *j)
{
    const int runs = w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW;
    const int whole = w->block == FPEMU_BLOCK_TENSOR || (w->block == CORE_WALK_INDEX && !c->rounding);
    if (j->by_block || j->code_size || (!runs && !whole) || w->n[0] != 1 || w->n[1] != 1 || w->n[2] != 1 ||
        w->step[3] != 1 || (c->bytes && (j->element_bits > 16 || j->element_bits % 2)))
        return 0;
    if (runs && (w->inner != 1 || (w->length > w->tile_length && w->tile_length % 4) ||
                 (c->count != ALL_BLOCKS && w->blocks > 1 && (w->length % 4 || w->tile_length % 4))))
        return 0;
    return begins_aligned(c, w, c->x, w->x_axis, w->x[3]) && begins_aligned(c, w, c->y, w->y_axis, w->y[3]);
}

/* Whether elements follow one another in memory without a gap. */
static int is_dense(const core_walk *w, const int64_t axis[4])
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    uint64_t step = 1;
    for (int a = 3; a >= 0; step *= extent[a--])
        if (extent[a] > 1 && (axis[a] < 0 || (uint64_t)axis[a] != step))
            return 0;
    return 1;
}

/* Whether the array lies aligned for four elements at a time. */
static int is_aligned(const gpu_tensor *c, const void *p)
{
    const size_t size = fpemu_gpu_size(c->type, 0);
    return (uintptr_t)p % (size < 4 ? 4 * size : 16) == 0;
}

/* Whether elements follow one another from an aligned place on. */
int fpemu_gpu_is_run(const gpu_tensor *c, const core_walk *w, const void *p, const int64_t axis[4])
{
    return is_dense(w, axis) && is_aligned(c, p);
}

/* The length of blocks that follow one another in memory and are cut into whole strips, 128 for longer ones; 0: there
 * are none. */
static uint32_t run_length(const gpu_tensor *c, const core_walk *w, int whole)
{
    const uint64_t length = w->tile_length;
    if (c->count != ALL_BLOCKS || w->total >> 40 || (c->x && !is_dense(w, w->x_axis)) ||
        (c->y && !is_dense(w, w->y_axis)))
        return 0;
    if (whole)
        return c->bytes && w->inner != 1 ? 0 : 128; /* its elements are packed line by line */
    if ((w->block != FPEMU_BLOCK_RUN && w->block != FPEMU_BLOCK_ROW) || w->inner != 1 || w->total < length ||
        w->total < 128 || (w->length % length != 0 && w->outer * w->rows != 1))
        return 0;
    if (length >= 16 && length <= 512 && (length & (length - 1)) == 0)
        return (uint32_t)length;
    return length % 128 == 0 && w->total % length == 0 ? 128 : 0;
}

/* The run of a job for gpu_block_runs; 0: it does not go by that. */
uint32_t fpemu_gpu_run_length(const gpu_tensor *c, const core_walk *w, const gpu_blocks_job32 *j)
{
    const core_blocked32 *b = &j->rule;
    const int rule = b->plan.rule, known = j->call.whole || j->call.extremes;
    const uint32_t length = run_length(c, w, j->call.whole);
    if ((!b->scaled && (!b->is_table || !j->call.whole)) || b->compat.setting || b->block.rule == FPEMU_SCALING_S2FP8 ||
        b->block.candidates > 1 || b->block.corrected || core_rule_levels(b->block.rule) ||
        core_rule_is_affine(b->block.rule) || c->shape->given || c->format->outer ||
        (!b->is_table && rule != CORE_RULE_SHIFTER_STOP && rule != CORE_RULE_EVEN) ||
        (c->bytes && (j->call.element_bits > 8 || (rule == CORE_RULE_SHIFTER_STOP && !b->coder.fast_encode) ||
                      (rule == CORE_RULE_EVEN && !core_fixed_codes_quickly32(&b->coder)))))
        return 0;
    return known || (length == w->tile_length && !core_rule_sees_more(b->block.rule)) ? length : 0;
}

/* The run of a job for gpu_unpack_runs; 0: it does not go by that. */
uint32_t fpemu_gpu_unpack_length(const gpu_tensor *c, const core_walk *w, const gpu_blocks_job32 *j)
{
    if (!j->rule.scaled || j->call.given.zeros || core_rule_levels(j->rule.block.rule) || c->format->outer ||
        j->rule.block.order || core_rule_is_super(j->rule.block.rule) || j->rule.block.rule == FPEMU_SCALING_S2FP8 ||
        j->call.element_bits > 8 || gpu_run_codes(j) == GPU_RUN_NO_CODES || j->rule.coder.has_infinity)
        return 0;
    return run_length(c, w, j->call.whole);
}

void fpemu_gpu_fill_blocks(gpu_blocks_call *j, const gpu_tensor *c, const core_walk *w, const fpemu_layout *l)
{
    const uint64_t full = fpemu_gpu_full_block(w),
                   before = w->block == CORE_WALK_INDEX && c->rounding ? c->rounding->offset % GPU_PIECE : 0;
    memset(j, 0, sizeof *j);
    j->walk = *w;
    j->layout = core_layout_make(w);
    j->random = fpemu_gpu_random(c->rounding);
    j->offset = c->rounding ? c->rounding->offset : 0;
    j->consecutive = c->count != ALL_BLOCKS;
    j->first = c->first;
    j->count = j->consecutive ? c->count : w->blocks;
    j->pieces = (full + before - 1) / GPU_PIECE + 1;
    j->x = c->x;
    j->y = c->y;
    j->bytes = (unsigned char *)c->bytes;
    j->code_size = c->code_size;
    j->scales_offset = l->scales_offset;
    j->elements_offset = l->elements_offset;
    j->scale_bytes = (uint32_t)l->scale_bytes;
    j->element_bits = (uint32_t)l->element_bits;
    j->counts = (gpu_counts *)(void *)c->stats;
    j->tensor.a = j->tensor.b = 1;
    if (c->shape->given)
        j->given = *c->shape->given;
    if (j->given.tensor > 0)
        j->tensor = core_given_tensor(&j->given);
    j->x_type = j->y_type = (uint8_t)c->type;
    j->x_quads = (uint8_t)is_aligned(c, c->x);
    j->y_quads = (uint8_t)is_aligned(c, c->y);
    j->by_block = (uint8_t)is_across(c, w);
    j->group = j->by_block ? 1 : j->pieces > 1 ? 32 : group_of(full);
    if (w->block == CORE_WALK_INDEX) /* lanes of sums go by index */
        j->group = 32;
    if (c->bytes && !c->code_size && j->group < 8)
        j->group = 8;
    if (is_in_quads(c, w, j))
        j->quad_group = j->pieces > 1 ? 32 : group_of((full + 3) / 4);
}
