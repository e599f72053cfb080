/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.h - the fast form of blocks.h for tensors without gaps, binary32 alone: values or packed codes, in steps
 * of four strips of 128 neighbours, a lane having four neighbours of each. What it leaves over goes by gpu_blocks, and
 * what is rare, as NaN or scales at the carrier's ends, by gpu_block_runs_any, a strip at a time; the results are the
 * same (tests/gpu/blocks.c holds all to the CPU's). */
#ifndef FPEMU_GPU_BLOCK_RUNS_H
#define FPEMU_GPU_BLOCK_RUNS_H

#include "blocks.h"
#include "core/codebook_fast.h"

/* Strips of a step: so many loads are under way at a time, and so many lanes share the work of finding scales. */
#define GPU_RUN_STRIPS 4

/* Elements that go in strips. */
FPEMU_FN uint64_t gpu_run_elements(const gpu_blocks_call *j)
{
    const uint64_t unit = j->run > 128 ? j->run : 128;
    return j->whole ? j->walk.total : j->walk.total / unit * unit;
}

/* Word l of the bits that fields of 4 b <= 32 bits make, one a lane, those of lane 0 lowest. */
FPEMU_FN uint32_t gpu_run_word(const uint32_t *field, uint32_t b, uint32_t l)
{
    const uint32_t first = 8 * l / b;
    uint32_t word = 0;
    UNROLLED for (uint32_t k = 0; k < 4; k++)
    {
        const uint32_t v = lanes_from(field, (first + k) & 31u);
        const int32_t shift = (int32_t)((first + k) * 4 * b) - (int32_t)(32 * l);
        word |= shift >= 32 ? 0 : shift >= 0 ? v << shift : v >> -shift;
    }
    return word;
}

/* The packed elements of a strip, four codes a lane, as far as they are whole bytes of the first n. */
FPEMU_FN void gpu_run_store_codes(const gpu_blocks_call *j, uint64_t strip, uint32_t n, const uint32_t *field)
{
    const uint32_t b = j->element_bits, bytes = (n * b + 7) / 8;
    unsigned char *const to = j->bytes + j->elements_offset + strip * 16 * b;
    const int aligned = (uintptr_t)to % 4 == 0 && n == 128;
    if (aligned && (b == 8 || b == 4)) {
        FOR_LANES(l) gpu_store_code(to, b / 2, l, OF(field, l));
        return;
    }
    if (aligned && b == 6) { /* four lanes have three words */
        FOR_LANES(l)
        {
            const uint32_t k = l % 4, above = lanes_from(field, (l + 1) & 31u);
            if (k < 3)
                gpu_store_code(to, 4, l / 4 * 3 + k, OF(field, l) >> 8 * k | above << (24 - 8 * k));
        }
        return;
    }
    uint32_t word[LANES];
    FOR_LANES(l) OF(word, l) = gpu_run_word(field, b, l);
    FOR_LANES(l)
    {
        if (aligned && l < 4 * b)
            gpu_store_code(to, 4, l, OF(word, l));
        UNROLLED for (uint32_t k = 0; k < 4; k++) if (!aligned && 4 * l + k < bytes) to[4 * l + k] =
            (unsigned char)(OF(word, l) >> (8 * k));
    }
}

#include "core/carrier32.h"
/* What a lane has seen of a tensor: binary32, or 16-bit types in the upper half of as many bits. */
typedef struct gpu_seen {
    int32_t high; /* the largest, 0 at least */
    uint32_t low; /* with its sign bit, the one furthest below zero */
    uint32_t nonzero, nonfinite;
} gpu_seen;

FPEMU_FN void gpu_see(gpu_seen *s, uint32_t u)
{
    s->high = (int32_t)u > s->high ? (int32_t)u : s->high;
    s->low = u > s->low ? u : s->low;
    s->nonzero += (u & ~CARRIER_SIGN) != 0;
}

FPEMU_FN uint64_t gpu_seen_bits(int type, uint32_t magnitude)
{
    return core_bits64(core_to_double(type == GPU_F32 ? magnitude : gpu_widen(type, magnitude >> 16)));
}

/* As gpu_measure32, of a tensor without gaps and no logarithms. type: of the array. */
FPEMU_FN void gpu_measure_runs(const gpu_blocks_job32 *j, int type, uint64_t warp, uint64_t warps)
{
    const uint64_t steps = j->call.walk.total / (128 * GPU_RUN_STRIPS), done = steps * (128 * GPU_RUN_STRIPS);
    const uint32_t size = type == GPU_F32 ? 4 : 2, shift = type == GPU_F32 ? 0 : 16;
    const uint32_t infinity = type == GPU_F16 ? 0x7c000000u : CARRIER_INF;
    gpu_range *const to = j->call.range;
    gpu_seen seen[LANES];
    uint64_t high[LANES], low[LANES];
    uint32_t nonzero[LANES], nonfinite[LANES];
    FOR_LANES(l) memset(&OF(seen, l), 0, sizeof OF(seen, l));
    for (uint64_t step = warp; step < steps; step += warps)
        FOR_LANES(l)
        {
            uint32_t u[GPU_RUN_STRIPS][4];
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
            {
                uint64_t element[4];
                gpu_load_quad(j->call.x, size, (step * GPU_RUN_STRIPS + h) * 128 + 4 * l, element);
                UNROLLED for (unsigned k = 0; k < 4; k++) u[h][k] = (uint32_t)element[k] << shift;
            }
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
            {
                uint32_t largest = 0;
                UNROLLED for (unsigned k = 0; k < 4; k++)
                {
                    const uint32_t a = u[h][k] & ~CARRIER_SIGN;
                    largest = a > largest ? a : largest;
                }
                UNROLLED for (unsigned k = 0; k < 4; k++)
                {
                    const int other = largest >= infinity && (u[h][k] & ~CARRIER_SIGN) >= infinity;
                    OF(seen, l).nonfinite += (uint32_t)other;
                    gpu_see(&OF(seen, l), other ? 0 : u[h][k]);
                }
            }
        }
    for (uint64_t row = done + 32 * warp; row < j->call.walk.total; row += 32 * warps)
        FOR_LANES(l)
    if (row + l < j->call.walk.total) {
        const uint32_t u = (uint32_t)gpu_load_code(j->call.x, size, row + l) << shift;
        const int other = (u & ~CARRIER_SIGN) >= infinity;
        OF(seen, l).nonfinite += (uint32_t)other;
        gpu_see(&OF(seen, l), other ? 0 : u);
    }
    FOR_LANES(l)
    {
        const gpu_seen *const s = &OF(seen, l);
        OF(high, l) = gpu_seen_bits(type, (uint32_t)s->high);
        OF(low, l) = gpu_seen_bits(type, s->low & CARRIER_SIGN ? s->low ^ CARRIER_SIGN : 0);
        OF(nonzero, l) = s->nonzero;
        OF(nonfinite, l) = s->nonfinite;
    }
    lanes_group_max(high, 32);
    lanes_group_max(low, 32);
    const uint64_t some = lanes_sum(nonzero), others = lanes_sum(nonfinite);
    if (!lanes_writer())
        return;
    shared_max(&to->high, high[0]);
    shared_max(&to->low, low[0]);
    shared_add(&to->nonzero, some);
    shared_add(&to->nonfinite, others);
}

/* What is known of the block that a strip lies in. */
FPEMU_FN core_extremes32 gpu_run_extremes(const gpu_blocks_call *j, uint64_t strip)
{
    const gpu_extremes *const known =
        j->whole ? &j->range->extremes : &j->extremes[core_walk_quotient(strip * 128, j->walk.tile_length)];
    core_extremes32 e;
    e.amax = (uint32_t)known->amax;
    e.high = (uint32_t)known->high;
    e.low = (uint32_t)known->low;
    e.nonfinite = known->nonfinite != 0;
    e.other = j->other;
    return e;
}

/* The first lane of a block has its scale packed and counted. */
FPEMU_FN void gpu_run_take_scale(const gpu_blocks_job32 *j, const core_block32 *block, int counted, gpu_lane *lane,
                                 uint64_t strip, uint32_t l, int is_zero, const core_scale32 *s)
{
    const gpu_blocks_call *const job = &j->call;
    const uint64_t i = strip * 128 + 4 * l, length = job->walk.tile_length;
    const uint64_t b = job->whole                            ? 0
                       : job->run == length && length <= 128 ? strip * (128 / job->run) + 4 * l / job->run
                                                             : core_walk_quotient(i, length);
    if (i != (job->whole ? 0 : b * length))
        return;
    if (job->bytes && job->scale_bytes)
        core_store_bytes(job->bytes + job->scales_offset + b * job->scale_bytes, job->scale_bytes,
                         core_scale_code32(block, s));
    if (counted)
        gpu_count_block(lane, job->counts, s->kind == CORE_SCALE_NAN, is_zero, s->saturated, s->counted, s->exponent);
}

/* Strips of one block, or a strip of smaller ones, by the rules for whatever scale there is. */
FPEMU_FN void gpu_run_strips(const gpu_blocks_job32 *j, int table_too, int counted, uint64_t first)
{
    const gpu_blocks_call *const job = &j->call;
    const int own = !job->whole && !job->extremes && j->rule.scaled;
    const uint64_t count = job->run > 128 ? job->run / 128 : 1;
    const uint32_t size = gpu_blocks_size32(j), b = job->element_bits, group = job->run < 128 ? job->run / 4 : 32;
    core_codebook table = j->rule.table;
    core_block32 block = j->rule.block;
    core_scale32 scale[LANES];
    uint32_t amax[LANES], nonfinite[LANES];
    gpu_lane lane[LANES];
    table.values = job->table ? job->table : j->table;
    block.tensor = job->range ? job->range->tensor : job->tensor;
    FOR_LANES(l)
    {
        core_extremes32 seen;
        gpu_lane_begin(&OF(lane, l));
        memset(&seen, 0, sizeof seen);
        if (own)
            NOT_UNROLLED for (uint64_t k = 0; k < 4 * count; k++)
            {
                const uint64_t i = (first + k / 4) * 128 + 4 * l + k % 4;
                core_extremes_add32(&seen, gpu_blocks_value32(j, gpu_load_code(job->x, size, i)));
            }
        OF(amax, l) = seen.amax;
        OF(nonfinite, l) = seen.nonfinite;
    }
    lanes_group_max32(amax, group);
    lanes_group_max32(nonfinite, group);
    FOR_LANES(l)
    {
        core_extremes32 e = {OF(amax, l), 0, 0, OF(nonfinite, l) != 0, 0};
        core_scale32 *const s = &OF(scale, l);
        memset(s, 0, sizeof *s);
        if (j->rule.scaled) {
            if (!own)
                e = gpu_run_extremes(job, first);
            core_scale_find32(&block, &e, s);
            gpu_run_take_scale(j, &block, counted, &OF(lane, l), first, l, e.amax == 0 && !e.nonfinite, s);
        }
        OF(amax, l) = e.amax;
    }
    NOT_UNROLLED for (uint64_t strip = first; strip < first + count; strip++)
    {
        const uint64_t left = job->walk.total - strip * 128;
        const uint32_t in_strip = left < 128 ? (uint32_t)left : 128;
        uint32_t field[LANES];
        FOR_LANES(l)
        {
            gpu_words words = gpu_words_none();
            uint64_t word_high = ~UINT64_C(0);
            double sum[3] = {0, 0, 0};
            OF(field, l) = 0;
            NOT_UNROLLED for (uint32_t k = 0; k < 4; k++)
            {
                const uint64_t i = strip * 128 + 4 * l + k;
                core_happened h;
                uint32_t p;
                if (4 * l + k >= in_strip)
                    continue;
                const uint32_t x = gpu_blocks_value32(j, gpu_load_code(job->x, size, i));
                const uint32_t r = job->random.used ? gpu_bits_anywhere(&job->random, &words, &word_high, &OF(lane, l),
                                                                        job->offset + i)
                                                    : 0;
                const uint32_t y = core_blocked_element32(&j->rule, &table, table_too ? 2 : 0, j->rule.plan.mode,
                                                          &OF(scale, l), block.tensor, OF(amax, l), x, r, &p, &h);
                if (job->y)
                    gpu_store_code(job->y, size, i, gpu_blocks_result32(j, y));
                if (job->bytes)
                    OF(field, l) |= (uint32_t)core_blocked_code32(&j->rule, &OF(scale, l), x, p, h.q) << (k * b);
                if (counted)
                    gpu_blocks_count32(&OF(lane, l), job->counts, core_blocked_events32(&j->rule, x, y, p, &h), x, y,
                                       sum);
            }
        }
        if (job->bytes)
            gpu_run_store_codes(job, strip, in_strip, field);
    }
    if (counted)
        gpu_lane_flush(lane, job->counts);
}

FPEMU_SLOW void gpu_run_rare(const gpu_blocks_job32 *j, uint64_t strip)
{
    gpu_run_strips(j, 0, 0, strip);
}

FPEMU_SLOW void gpu_run_rare_counted(const gpu_blocks_job32 *j, uint64_t strip)
{
    gpu_run_strips(j, 0, 1, strip);
}

FPEMU_SLOW void gpu_run_rare_table(const gpu_blocks_job32 *j, uint64_t strip)
{
    gpu_run_strips(j, 1, 0, strip);
}

FPEMU_SLOW void gpu_run_rare_table_counted(const gpu_blocks_job32 *j, uint64_t strip)
{
    gpu_run_strips(j, 1, 1, strip);
}

FPEMU_FN void gpu_block_runs_any(const gpu_blocks_job32 *j, int rule, int counted, uint64_t strip)
{
    const int table_too = rule == CORE_RULE_FLOAT;
    if (table_too && counted)
        gpu_run_rare_table_counted(j, strip);
    else if (table_too)
        gpu_run_rare_table(j, strip);
    else if (counted)
        gpu_run_rare_counted(j, strip);
    else
        gpu_run_rare(j, strip);
}

/* How a job makes y of x. */
enum gpu_run_way {
    GPU_RUN_PRODUCTS,  /* t = x * down, P, y = (P * s) * second */
    GPU_RUN_QUOTIENTS, /* t = x / down */
    GPU_RUN_POWERS     /* s is a power of two, core_pow2_block of core/block_fast.h: y at once */
};

FPEMU_FN int gpu_run_way(const gpu_blocks_job32 *j)
{
    const int own = !j->call.whole && !j->call.extremes && !j->call.counts && !j->rule.is_table;
    return j->rule.block.rule == FPEMU_SCALING_ABSMAX ? GPU_RUN_QUOTIENTS
           : own && j->fast.by.pow2.usable            ? GPU_RUN_POWERS
                                                      : GPU_RUN_PRODUCTS;
}

/* What the elements of a block need of its scale: down, or of a power 2^c the bits of c, and s. Returns whether it serves:
 * no y lies beyond the carrier's end. */
FPEMU_FN int gpu_run_scale(const gpu_blocks_job32 *j, const core_block32 *block, int way, const core_extremes32 *e,
                           core_scale32 *scale, uint32_t *down, uint32_t *s)
{
    *s = 0;
    if (way == GPU_RUN_POWERS) {
        const uint32_t far = (uint32_t)(CARRIER_BIAS - 1) << CARRIER_MANTISSA; /* where 2^-c is a normal number too */
        *down = core_pow2_power32(&j->fast.by.pow2, j->fast.by.pow2.rule, e->amax);
        return (int)core_pow2_holds32(&j->fast.by.pow2, e->amax) & (int)(*down + far <= 2 * far);
    }
    core_scale_find32(block, e, scale);
    const int zero = scale->kind == CORE_SCALE_ZERO, divided = way == GPU_RUN_QUOTIENTS;
    *s = core_bits32(scale->s);
    *down = zero ? (divided ? CARRIER_INF : 0) : core_bits32(scale->down);
    return (zero || scale->kind == (divided ? CORE_SCALE_DIVIDE : CORE_SCALE_MULTIPLY)) &&
           core_bits32((block->max * scale->s) * scale->d) < CARRIER_INF;
}

/* A number of a 16-bit type as gpu_widen has it, by the device's own conversion; a NaN stays one. */
FPEMU_FN uint32_t gpu_run_widen(int type, uint64_t word)
{
#ifdef __CUDA_ARCH__
    float x;
    if (type == GPU_F16) {
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)word));
        return core_bits32(x);
    }
#endif
    return gpu_widen(type, word);
}

/* Four values of each strip of a step, from place i on. type: that of the array; quads: it is aligned. */
FPEMU_FN void gpu_run_load_as(const void *x, int type, int quads, uint64_t i, uint32_t u[GPU_RUN_STRIPS][4])
{
    const uint32_t size = type == GPU_F32 ? 4 : 2;
    UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
    {
        uint64_t element[4];
        if (quads)
            gpu_load_quad(x, size, i + 128 * h, element);
        else
            UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_load_code(x, size, i + 128 * h + k);
        UNROLLED for (unsigned k = 0; k < 4; k++) u[h][k] =
            type == GPU_F32 ? (uint32_t)element[k] : gpu_run_widen(type, element[k]);
    }
}

FPEMU_FN void gpu_run_load(const gpu_blocks_call *j, uint64_t i, uint32_t u[GPU_RUN_STRIPS][4])
{
    const int quads = j->x_quads, type = j->x_type; /* told apart once, so that no load waits for another */
    if (type == GPU_F32 && quads)
        gpu_run_load_as(j->x, GPU_F32, 1, i, u);
    else if (type == GPU_F32)
        gpu_run_load_as(j->x, GPU_F32, 0, i, u);
    else if (type == GPU_BF16 && quads)
        gpu_run_load_as(j->x, GPU_BF16, 1, i, u);
    else if (quads)
        gpu_run_load_as(j->x, GPU_F16, 1, i, u);
    else
        gpu_run_load_as(j->x, type, 0, i, u);
}

/* Four values back; finite: all of them are, and the device's own conversions make of them what gpu_narrow does. */
FPEMU_FN void gpu_run_store_as(void *y, int type, int finite, uint64_t i, const uint32_t v[4])
{
    uint64_t element[4];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (type != GPU_F32 && finite) {
        uint32_t two[2];
        UNROLLED for (unsigned k = 0; k < 2; k++)
        {
            const float low = core_value32(v[2 * k]), high = core_value32(v[2 * k + 1]);
            if (type == GPU_F16)
                asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(two[k]) : "f"(high), "f"(low));
            else
                asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(two[k]) : "f"(high), "f"(low));
        }
        *(uint2 *)((uint16_t *)y + i) = make_uint2(two[0], two[1]);
        return;
    }
#endif
    (void)finite;
    UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = type == GPU_F32 ? v[k] : gpu_narrow(type, v[k]);
    gpu_store_quad(y, type == GPU_F32 ? 4 : 2, i, element);
}

FPEMU_FN void gpu_run_store(const gpu_blocks_call *j, int finite, uint64_t i, const uint32_t v[4])
{
    if (!j->y_quads) {
        UNROLLED for (unsigned k = 0; k < 4; k++) gpu_store_code(
            j->y, j->y_type == GPU_F32 ? 4 : 2, i + k, j->y_type == GPU_F32 ? v[k] : gpu_narrow(j->y_type, v[k]));
        return;
    }
    switch (j->y_type) {
    case GPU_F32: gpu_run_store_as(j->y, GPU_F32, finite, i, v); break;
    case GPU_BF16: gpu_run_store_as(j->y, GPU_BF16, finite, i, v); break;
    default: gpu_run_store_as(j->y, GPU_F16, finite, i, v); break;
    }
}

FPEMU_SLOW uint32_t gpu_run_philox(const gpu_random *g, uint64_t index)
{
    return core_random_bits(1, g->seed, g->stream, g->bits, index);
}

/* Random bits of four neighbours, the high half of whose words has the key. philox: they may be by that, which has no
 * key. */
FPEMU_FN void gpu_run_bits(const gpu_random *g, int philox, const gpu_words *words, uint64_t index, uint32_t r[4])
{
    if (philox && g->generator == FPEMU_GENERATOR_PHILOX)
        UNROLLED for (unsigned k = 0; k < 4; k++) r[k] = gpu_run_philox(g, index + k);
    else if (g->per_word == 0)
        UNROLLED for (unsigned k = 0; k < 4; k++) r[k] =
            core_field_top(0, g->bits, core_hash_word(words->key, (uint32_t)index + k), 0);
    else
        UNROLLED for (unsigned k = 0; k < 4; k++) r[k] = core_field_top(
            g->per_word, g->bits, core_hash_word(words->key, (uint32_t)core_word_index(g->per_word, index + k)),
            core_field_shift(g->per_word, index + k));
}

/* A table where it is looked up often. */
typedef struct gpu_run_table {
    const float *values, *thresholds;
} gpu_run_table;

/* As core_codebook_index32, but for NaN: by the thresholds of core/codebook_fast.h where there are some. */
FPEMU_FN uint32_t gpu_run_index(const gpu_blocks_job32 *j, const core_codebook *table, const gpu_run_table *fast,
                                uint32_t u, uint32_t r)
{
    const uint32_t last = table->length - 1;
    const float t = core_value32(u);
    uint32_t k = 0;
    if (!j->search)
        return core_codebook_index32(table, u, r);
    for (uint32_t half = j->search / 2; half > 0; half /= 2)
        k += fast->thresholds[k + half - 1] < t ? half : 0;
    if (j->steps)
        return k;
    if (t <= fast->values[0] || k == last)
        return k;
    return table->mode < FPEMU_MODE_SR
               ? core_codebook_between32(table, k, t, r)
               : k + (uint32_t)core_search_up32(table->mode, table->n, t, fast->values[k], fast->values[k + 1], r);
}

/* An element of a block under a scale that serves: y, or the code of P. Rules SHIFTER_STOP and EVEN of
 * core/round_fast.h; any other: by a codebook. */
FPEMU_FN uint32_t gpu_run_element(const gpu_blocks_job32 *j, const core_codebook *table, const gpu_run_table *fast,
                                  int way, int rule, int mode, int codes, int counted, float many, gpu_lane *lane,
                                  uint32_t down, uint32_t s, float second, uint32_t u, uint32_t r)
{
    const core_plan32 *const p = &j->rule.plan;
    if (way == GPU_RUN_POWERS && !codes)
        return rule == CORE_RULE_EVEN ? core_pow2_fixed32(&j->fast.by.pow2, mode, u, down, r)
                                      : core_pow2_float32(&j->fast.by.pow2, mode, u, down, r);
    const uint32_t one = (uint32_t)CARRIER_BIAS << CARRIER_MANTISSA;
    const float x = core_value32(u), by = core_value32(way == GPU_RUN_POWERS ? one - down : down);
    const float quotient = way == GPU_RUN_QUOTIENTS ? x / by : x * by;
    const int sticky = mode != FPEMU_MODE_RNE && mode != FPEMU_MODE_SR && j->rule.block.sticky;
    uint32_t t = core_bits32(quotient), v, q = 0;
    int over = 0, past = 0;
    if (sticky && (t & ~CARRIER_SIGN) == 0)
        t = (u & CARRIER_SIGN) | (uint32_t)((u & ~CARRIER_SIGN) != 0);
    if (rule != CORE_RULE_SHIFTER_STOP && rule != CORE_RULE_EVEN) {
        q = gpu_run_index(j, table, fast, t, r);
        v = core_bits32(table->values[q]);
        past = over = core_value32(t) < table->values[0] || core_value32(t) > table->values[table->length - 1];
    } else if (counted) { /* the ends after the grid, to know what lies beyond */
        const uint32_t sign = t & CARRIER_SIGN, end = rule == CORE_RULE_EVEN ? CORE_BY_SIGN(t, p->max) : p->max[0];
        const uint32_t g = core_element_shifter_grid32(p, mode, t, r), kept = g > end ? end : g;
        v = rule == CORE_RULE_EVEN ? core_bits32(core_value32(kept | sign) + 0) : kept | sign; /* -0 becomes 0 */
        past = (t ^ sign) > end;
        over = g > end;
    } else if (codes && mode == FPEMU_MODE_RNE) {
        return rule == CORE_RULE_EVEN ? core_direct_even_code32(&j->fast.by.direct, t)
                                      : core_direct_code32(&j->fast.by.direct, t);
    } else {
        v = core_element_fast32(p, rule, mode, t, r);
    }
    const uint32_t y = core_bits32((core_value32(v) * core_value32(s)) * second);
    if (counted) {
        const core_seen32 seen = {p->min_normal, u, 0, y, v, (uint32_t)past, (uint32_t)over};
        lane->counter[GPU_CLIPPED] += core_event32(CORE_EVENT_CLIPPED, seen);
        lane->counter[GPU_OVERFLOW] += core_event32(CORE_EVENT_OVERFLOW, seen);
        lane->counter[GPU_UNDERFLOW] += core_event32(CORE_EVENT_UNDERFLOW, seen);
        lane->counter[GPU_SUBNORMAL] += core_event32(CORE_EVENT_SUBNORMAL, seen);
        lane->counter[GPU_INEXACT] += core_event32(CORE_EVENT_INEXACT, seen);
        gpu_lane_extrema32(lane, x, core_value32(y), 0);
    }
    if (!codes)
        return y;
    return rule == CORE_RULE_SHIFTER_STOP ? core_encode_fast32(&j->rule.coder, t, v)
           : rule == CORE_RULE_EVEN       ? core_fixed_quick_code32(&j->rule.coder, many, t, v)
                                          : q;
}

/* Makes the key of the random words of elements [index, index + n); 0: they have more than one. */
FPEMU_FN int gpu_run_key(const gpu_random *g, uint64_t index, uint64_t n, gpu_words *words, uint64_t *high)
{
    const uint64_t own = core_word_index(g->per_word, index) >> 32;
    if (g->generator == FPEMU_GENERATOR_PHILOX || own == *high)
        return own == core_word_index(g->per_word, index + n - 1) >> 32;
    words->key = core_hash_keys(g->seed, g->stream, own);
    *high = own;
    return own == core_word_index(g->per_word, index + n - 1) >> 32;
}

FPEMU_FN uint32_t gpu_run_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Values (codes 0) or codes of a tensor without gaps: of blocks of 16 to 512, a power of two, of blocks whose extremes are
 * known, or all under one scale, which takes in what lies behind the last strip. fast: of a table. philox: the generator may be
 * that. */
FPEMU_FN void gpu_block_runs(const gpu_blocks_job32 *j, const gpu_run_table *fast, int way, int rule, int mode,
                             int philox, int codes, int counted, uint32_t warp, uint32_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const unsigned group = job->run < 128 ? job->run / 4 : 32;
    const int known = way != GPU_RUN_POWERS && (job->whole || job->extremes);
    const int scaled = rule != CORE_RULE_FLOAT || j->rule.scaled;
    const uint32_t steps = (uint32_t)(job->walk.total / (128 * GPU_RUN_STRIPS));
    core_codebook table = j->rule.table;
    core_block32 block = j->rule.block;
    gpu_lane lane[LANES];
    gpu_words words = gpu_words_none();
    uint64_t word_high = ~UINT64_C(0);
    if (rule == CORE_RULE_FLOAT)
        table.values = fast->values;
    block.tensor = job->range ? job->range->tensor : job->tensor;
    const int two = block.rule == FPEMU_SCALING_NVFP4 || block.rule == FPEMU_SCALING_NVFP4_AO;
    const float second = way == GPU_RUN_PRODUCTS && two ? block.tensor.b : 1;
    const float many = rule == CORE_RULE_EVEN && codes /* of whose steps an integer is made */
                           ? core_value32(core_power32(j->rule.coder.quantum + CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1)
                           : 0;
    if (counted && gpu_wants_more(job->counts))
        return;
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint32_t step = warp; step < steps; step += warps) {
        const uint64_t first = (uint64_t)step * (128 * GPU_RUN_STRIPS);
        uint32_t u[LANES][GPU_RUN_STRIPS][4], amax[GPU_RUN_STRIPS][LANES], field[LANES];
        uint32_t serves[LANES], down[LANES], to[LANES], zero[LANES];
        core_scale32 scale[LANES];
        int one_key = 1;
        FOR_LANES(l)
        {
            gpu_run_load(job, first + 4 * l, OF(u, l));
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
            {
                OF(amax[h], l) = 0;
                UNROLLED for (unsigned k = 0; k < 4; k++)
                {
                    const uint32_t a = OF(u, l)[h][k] & ~CARRIER_SIGN;
                    OF(amax[h], l) = a > OF(amax[h], l) ? a : OF(amax[h], l);
                }
            }
        }
        if (mode >= FPEMU_MODE_SR)
            one_key = gpu_run_key(&job->random, job->offset + first, 128 * GPU_RUN_STRIPS, &words, &word_high);
        if (!known && scaled) {
            lanes_group_max_of_four(amax, group);
            if (job->run > 128) /* blocks of two strips or of four */
                FOR_LANES(l)
                {
                    const uint32_t low = gpu_run_larger(OF(amax[0], l), OF(amax[1], l));
                    const uint32_t high = gpu_run_larger(OF(amax[2], l), OF(amax[3], l));
                    const int all = job->run > 256;
                    OF(amax[0], l) = OF(amax[1], l) = all ? gpu_run_larger(low, high) : low;
                    OF(amax[2], l) = OF(amax[3], l) = all ? gpu_run_larger(low, high) : high;
                }
        }
        /* each lane finds the scale of one of its blocks; NaN and infinities are larger than all else */
        FOR_LANES(l)
        {
            const unsigned own = l % GPU_RUN_STRIPS;
            uint32_t a = OF(amax[0], l), all = a;
            UNROLLED for (unsigned h = 1; h < GPU_RUN_STRIPS; h++)
            {
                all = OF(amax[h], l) > all ? OF(amax[h], l) : all;
                a = own == h ? OF(amax[h], l) : a;
            }
            core_extremes32 e = {a, 0, 0, 0, 0};
            int found = 1;
            if (known && scaled)
                e = gpu_run_extremes(job, first / 128 + own);
            OF(down, l) = OF(to, l) = core_power32(0);
            if (scaled)
                found = gpu_run_scale(j, &block, way, &e, &OF(scale, l), &OF(down, l), &OF(to, l));
            OF(serves, l) = (uint32_t)(found & one_key) & (uint32_t)(all < CARRIER_INF);
            OF(zero, l) = e.amax == 0 && !e.nonfinite;
        }
        if (!lanes_all(serves)) {
            NOT_UNROLLED for (uint32_t h = 0; h<GPU_RUN_STRIPS; h += job->run> 128 ? job->run / 128 : 1)
                gpu_block_runs_any(j, rule, counted, first / 128 + h);
            continue;
        }
        if ((codes || counted) && scaled)
            FOR_LANES(l)
            {
                const unsigned sub = l & (group - 1);
                const uint64_t strip = first / 128 + sub;
                if (sub >= GPU_RUN_STRIPS)
                    continue;
                if (way == GPU_RUN_POWERS) {
                    const uint32_t exponent = (uint32_t)((int32_t)OF(down, l) >> CARRIER_MANTISSA) + j->fast.by.one;
                    const uint64_t place = strip * 128 + 4 * (l - sub);
                    if ((place & (job->run - 1)) == 0)
                        job->bytes[job->scales_offset + (place >> core_log2_32(job->run))] =
                            (unsigned char)(OF(zero, l) ? j->fast.by.zero : exponent & j->fast.by.mask);
                } else {
                    gpu_run_take_scale(j, &block, counted, &OF(lane, l), strip, l - sub, (int)OF(zero, l),
                                       &OF(scale, l));
                }
            }
        UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++)
        {
            FOR_LANES(l)
            {
                const unsigned from = (l & ~(group - 1)) + h;
                const uint64_t i = first + 128 * h + 4 * l;
                const uint32_t by = lanes_from(down, from), s = way == GPU_RUN_POWERS ? 0 : lanes_from(to, from);
                const uint32_t b = job->element_bits;
                uint32_t r[4] = {0, 0, 0, 0}, y[4];
                if (mode >= FPEMU_MODE_SR)
                    gpu_run_bits(&job->random, philox, &words, job->offset + i, r);
                UNROLLED for (unsigned k = 0; k < 4; k++) y[k] =
                    gpu_run_element(j, &table, fast, way, rule, mode, codes, counted, many, &OF(lane, l), by, s, second,
                                    OF(u, l)[h][k], r[k]);
                if (codes)
                    OF(field, l) = y[0] | y[1] << b | y[2] << 2 * b | y[3] << 3 * b;
                else
                    gpu_run_store(job, 1, i, y);
            }
            if (codes)
                gpu_run_store_codes(job, first / 128 + h, 128, field);
        }
    }
    const uint64_t unit = job->run > 128 ? job->run / 128 : 1;
    for (uint64_t strip = (uint64_t)steps * GPU_RUN_STRIPS + warp * unit; strip * 128 < gpu_run_elements(job);
         strip += warps * unit)
        gpu_block_runs_any(j, rule, counted, strip);
    if (counted)
        gpu_lane_flush(lane, job->counts);
}
/* Word l of a strip's packed codes, which take 4 b words, as far as they lie in the first n elements. */
FPEMU_FN uint32_t gpu_run_packed(const unsigned char *from, int aligned, uint32_t b, uint32_t n, uint32_t l)
{
    const uint32_t bytes = (n * b + 7) / 8;
    uint32_t word = 0;
    if (l >= 4 * b)
        return 0;
    if (aligned && n == 128)
        return (uint32_t)gpu_load_code(from, 4, l);
    UNROLLED for (uint32_t k = 0; k < 4; k++) if (4 * l + k < bytes) word |= (uint32_t)from[4 * l + k] << (8 * k);
    return word;
}

/* A lane's four codes, with any bits above them. word: of every lane. */
FPEMU_FN uint32_t gpu_run_field(const uint32_t *word, uint32_t b, uint32_t l)
{
    const uint32_t bit = 4 * b * l, shift = bit % 32;
    const uint32_t low = lanes_from(word, bit / 32), high = lanes_from(word, (bit / 32 + 1) & 31u);
    return low >> shift | (shift ? high << (32 - shift) : 0);
}

/* How codes become values. */
enum gpu_run_codes {
    GPU_RUN_FLOATS, /* core_decode_fast */
    GPU_RUN_FIXED,  /* core_fixed_quick_value */
    GPU_RUN_TABLE,
    GPU_RUN_NO_CODES
};

FPEMU_FN int gpu_run_codes(const gpu_blocks_job32 *j)
{
    const core_coder32 *const c = &j->rule.coder;
    return j->rule.is_table                ? GPU_RUN_TABLE
           : c->fast_decode                ? GPU_RUN_FLOATS
           : core_fixed_codes_quickly32(c) ? GPU_RUN_FIXED
                                           : GPU_RUN_NO_CODES;
}

FPEMU_FN uint32_t gpu_run_decoded(const gpu_blocks_job32 *j, const float *values, int codes, float step, uint32_t code)
{
    if (codes == GPU_RUN_TABLE)
        return code < j->rule.table.length ? core_bits32(values[code]) : CARRIER_NAN;
    return codes == GPU_RUN_FIXED ? core_fixed_quick_value32(&j->rule.coder, step, code)
                                  : core_decode_fast32(&j->rule.coder, code);
}

/* A strip of packed bytes by the rules for whatever scale there is. */
FPEMU_SLOW void gpu_unpack_strip(const gpu_blocks_job32 *j, uint64_t strip)
{
    const gpu_blocks_call *const job = &j->call;
    const uint64_t left = job->walk.total - strip * 128;
    const uint32_t in_strip = left < 128 ? (uint32_t)left : 128, b = job->element_bits;
    core_codebook table = j->rule.table;
    core_block32 block = j->rule.block;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->tensor_from_bytes ? gpu_load_tensor_scales(job->bytes) : job->tensor;
    FOR_LANES(l)
    NOT_UNROLLED for (uint32_t k = 0; k < 4; k++)
    {
        const uint64_t i = strip * 128 + 4 * l + k;
        core_scale32 s;
        if (4 * l + k >= in_strip)
            continue;
        memset(&s, 0, sizeof s);
        const uint64_t at = job->whole ? 0 : core_walk_quotient(i, job->walk.tile_length);
        if (j->rule.scaled)
            core_scale_read32(
                &block, core_load_bytes(job->bytes + job->scales_offset + at * job->scale_bytes, job->scale_bytes), &s);
        const uint64_t code = core_load_code(job->bytes + job->elements_offset, b, i) & ((1u << b) - 1);
        gpu_store_code(job->y, gpu_blocks_size32(j), i,
                       gpu_blocks_result32(j, core_blocked_read32(&j->rule, &table, &s, block.tensor, code)));
    }
}

/* Values of packed bytes, where both are without gaps; codes of at most 8 bits. values: of a table. */
FPEMU_FN void gpu_unpack_runs(const gpu_blocks_job32 *j, const float *values, int codes, uint32_t warp, uint32_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const uint32_t steps = (uint32_t)(job->walk.total / (128 * GPU_RUN_STRIPS)), b = job->element_bits;
    const uint32_t group = job->run < 128 ? job->run / 4 : 32, mask = (1u << b) - 1;
    const float step_value = codes == GPU_RUN_FIXED ? core_value32(core_power32(j->rule.coder.quantum)) : 0;
    const unsigned char *const elements = job->bytes + job->elements_offset;
    const int aligned = (uintptr_t)elements % 4 == 0;
    core_block32 block = j->rule.block;
    block.tensor = job->tensor_from_bytes ? gpu_load_tensor_scales(job->bytes) : job->tensor;
    for (uint32_t step = warp; step < steps; step += warps) {
        const uint64_t strip = (uint64_t)step * GPU_RUN_STRIPS;
        uint32_t word[GPU_RUN_STRIPS][LANES], scale[LANES], serves[LANES];
        float second[LANES];
        FOR_LANES(l)
        {
            core_scale32 s;
            const uint64_t i = (strip + l % GPU_RUN_STRIPS) * 128 + 4 * (l & ~(group - 1));
            const uint64_t at = job->whole ? 0 : core_walk_quotient(i, job->walk.tile_length);
            const unsigned char *const from = job->bytes + job->scales_offset + at * job->scale_bytes;
            const uint64_t code = job->scale_bytes == 1 ? *from : core_load_bytes(from, job->scale_bytes);
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) OF(word[h], l) =
                gpu_run_packed(elements + (strip + h) * 16 * b, aligned, b, 128, l);
            core_scale_read32(&block, code, &s);
            const int power =
                s.kind == CORE_SCALE_POWER && s.exponent >= 1 - CARRIER_BIAS && s.exponent <= CARRIER_BIAS;
            OF(serves, l) = s.kind == CORE_SCALE_MULTIPLY || s.kind == CORE_SCALE_NAN || power;
            OF(scale, l) = s.kind == CORE_SCALE_NAN ? CARRIER_NAN : power ? core_power32(s.exponent) : core_bits32(s.s);
            OF(second, l) = s.d;
        }
        if (!lanes_all(serves)) {
            NOT_UNROLLED for (uint32_t h = 0; h < GPU_RUN_STRIPS; h++) gpu_unpack_strip(j, strip + h);
            continue;
        }
        UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) FOR_LANES(l)
        {
            const uint32_t field = gpu_run_field(word[h], b, l), s = lanes_from(scale, (l & ~(group - 1)) + h);
            const core_scale32 product = {0, core_value32(s), OF(second, l), 0, CORE_SCALE_MULTIPLY, 0, 0};
            uint32_t y[4];
            UNROLLED for (unsigned k = 0; k < 4; k++) y[k] =
                core_block_y32(&product, gpu_run_decoded(j, values, codes, step_value, (field >> k * b) & mask));
            gpu_run_store(job, 0, (strip + h) * 128 + 4 * l, y);
        }
    }
    for (uint64_t strip = (uint64_t)steps * GPU_RUN_STRIPS + warp; strip * 128 < gpu_run_elements(job); strip += warps)
        gpu_unpack_strip(j, strip);
}
#include "core/carrier_end.h"

#endif /* FPEMU_GPU_BLOCK_RUNS_H */
