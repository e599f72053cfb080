/* SPDX-License-Identifier: BSD-2-Clause */
/* block_runs.h - the fast form of gpu_blocks for tensors without gaps (runs.h): values or packed codes. What it leaves
 * over goes by gpu_blocks. What is rare, as NaN or scales at the carrier's ends, goes by gpu_block_runs_any, a strip at
 * a time. */
#ifndef FPEMU_GPU_BLOCK_RUNS_H
#define FPEMU_GPU_BLOCK_RUNS_H

#include "core/codebook_fast.h"
#include "runs.h"

/* Word l of the bits that fields of 4 b <= 32 bits make, one a lane, those of lane 0 lowest. Four fields reach all of
 * it, eight where b is 1. */
FPEMU_FN uint32_t gpu_run_word(const uint32_t *field, uint32_t b, uint32_t l)
{
    const uint32_t first = 8 * l / b;
    uint32_t word = 0;
    UNROLLED for (uint32_t k = 0; k < 8; k++) {
        if (k >= 4 && b > 1)
            break;
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
        FOR_LANES(l)
            gpu_store_code(to, b / 2, l, OF(field, l));
        return;
    }
    if (aligned && b == 6) { /* four lanes have three words */
        FOR_LANES(l) {
            const uint32_t k = l % 4, above = lanes_from(field, (l + 1) & 31u);
            if (k < 3)
                gpu_store_code(to, 4, l / 4 * 3 + k, OF(field, l) >> 8 * k | above << (24 - 8 * k));
        }
        return;
    }
    uint32_t word[LANES];
    FOR_LANES(l)
        OF(word, l) = gpu_run_word(field, b, l);
    FOR_LANES(l) {
        if (aligned && l < 4 * b)
            gpu_store_code(to, 4, l, OF(word, l));
        UNROLLED for (uint32_t k = 0; k < 4; k++)
            if (!aligned && 4 * l + k < bytes)
                to[4 * l + k] = (unsigned char)(OF(word, l) >> (8 * k));
    }
}

#include "core/carrier32.h"

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
    FOR_LANES(l) {
        core_extremes32 seen;
        gpu_lane_begin(&OF(lane, l));
        memset(&seen, 0, sizeof seen);
        if (own) NOT_UNROLLED
            for (uint64_t k = 0; k < 4 * count; k++) {
                const uint64_t i = (first + k / 4) * 128 + 4 * l + k % 4;
                core_extremes_add32(&seen, gpu_blocks_value32(j, gpu_load_code(job->x, size, i)));
            }
        OF(amax, l) = seen.amax;
        OF(nonfinite, l) = seen.nonfinite;
    }
    lanes_group_max32(amax, group);
    lanes_group_max32(nonfinite, group);
    FOR_LANES(l) {
        core_extremes32 e = {OF(amax, l), 0, 0, OF(nonfinite, l) != 0, 0};
        core_scale32 *const s = &OF(scale, l);
        memset(s, 0, sizeof *s);
        if (j->rule.scaled) {
            if (!own)
                e = gpu_run_extremes(job, first);
            core_scale_candidate32(&block, &e, 0, s);
            gpu_run_take_scale(j, &block, counted, &OF(lane, l), first, l, e.amax == 0 && !e.nonfinite, s);
        }
        OF(amax, l) = e.amax;
    }
    NOT_UNROLLED for (uint64_t strip = first; strip < first + count; strip++) {
        const uint64_t left = job->walk.total - strip * 128;
        const uint32_t in_strip = left < 128 ? (uint32_t)left : 128;
        uint32_t field[LANES];
        FOR_LANES(l) {
            gpu_words words = gpu_words_none();
            uint64_t word_high = ~UINT64_C(0);
            double sum[3] = {0, 0, 0};
            OF(field, l) = 0;
            NOT_UNROLLED for (uint32_t k = 0; k < 4; k++) {
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

/* Each apart, so that no kernel has the registers of more than it calls. */
#define RARE(name, table_too, counted)                                                                                 \
    FPEMU_SLOW void name(const gpu_blocks_job32 *j, uint64_t strip)                                                    \
    {                                                                                                                  \
        gpu_run_strips(j, table_too, counted, strip);                                                                  \
    }
RARE(gpu_run_rare, 0, 0)
RARE(gpu_run_rare_counted, 0, 1)
RARE(gpu_run_rare_table, 1, 0)
RARE(gpu_run_rare_table_counted, 1, 1)
#undef RARE

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
        *down = core_pow2_power32(&j->fast.by.pow2, j->fast.by.pow2.rule, e->amax);
        return (int)core_pow2_holds32(&j->fast.by.pow2, e->amax);
    }
    core_scale_candidate32(block, e, 0, scale);
    const int zero = scale->kind == CORE_SCALE_ZERO, divided = way == GPU_RUN_QUOTIENTS;
    *s = core_bits32(scale->s);
    *down = zero ? (divided ? CARRIER_INF : 0) : core_bits32(scale->down);
    return (zero || scale->kind == (divided ? CORE_SCALE_DIVIDE : CORE_SCALE_MULTIPLY)) &&
           core_bits32((block->largest * scale->s) * scale->d) < CARRIER_INF;
}

FPEMU_SLOW uint32_t gpu_run_philox(const gpu_random *g, uint64_t index)
{
    return core_random_bits(1, gpu_seed(g), gpu_stream(g), g->bits, index);
}

/* Random bits of four neighbours, the high half of whose words has the key. philox: they may be by that, which has no
 * key. */
FPEMU_FN void gpu_run_bits(const gpu_random *g, int philox, const gpu_words *words, uint64_t index, uint32_t r[4])
{
    if (philox && g->generator == FPEMU_GENERATOR_PHILOX) UNROLLED
        for (unsigned k = 0; k < 4; k++)
            r[k] = gpu_run_philox(g, index + k);
    else if (g->per_word == 0) UNROLLED
        for (unsigned k = 0; k < 4; k++)
            r[k] = core_field_top(0, g->bits, core_hash_word(words->key, (uint32_t)index + k), 0);
    else UNROLLED
        for (unsigned k = 0; k < 4; k++)
            r[k] = core_field_top(g->per_word, g->bits,
                                  core_hash_word(words->key, (uint32_t)core_word_index(g->per_word, index + k)),
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
    return !CORE_DRAWS(table->mode)
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
    const int table_search = rule != CORE_RULE_SHIFTER_STOP && rule != CORE_RULE_EVEN;
    const int sticky =
        (counted || table_search || (mode != FPEMU_MODE_RNE && mode != FPEMU_MODE_SR)) && j->rule.block.sticky;
    uint32_t t = core_bits32(quotient), v, q = 0;
    int over = 0, past = 0;
    if (sticky && (t & ~CARRIER_SIGN) == 0)
        t = (u & CARRIER_SIGN) | (uint32_t)((u & ~CARRIER_SIGN) != 0);
    if (table_search) {
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
    words->key = core_hash_keys(gpu_seed(g), gpu_stream(g), own);
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
    const int two = core_rule_is_nvfp4(block.rule);
    const float second = way == GPU_RUN_PRODUCTS && two ? block.tensor.b : 1;
    const float many = rule == CORE_RULE_EVEN && codes /* of whose steps an integer is made */
                           ? core_value32(core_power32(j->rule.coder.quantum + CARRIER_MANTISSA) | CARRIER_HIDDEN >> 1)
                           : 0;
    if (counted && gpu_wants_more(job->counts))
        return;
    FOR_LANES(l)
        gpu_lane_begin(&OF(lane, l));
    for (uint32_t step = warp; step < steps; step += warps) {
        const uint64_t first = (uint64_t)step * (128 * GPU_RUN_STRIPS);
        uint32_t u[LANES][GPU_RUN_STRIPS][4], amax[GPU_RUN_STRIPS][LANES], field[LANES];
        uint32_t serves[LANES], down[LANES], to[LANES], zero[LANES];
        core_scale32 scale[LANES];
        int one_key = 1;
        FOR_LANES(l) {
            gpu_run_load(job, first + 4 * l, OF(u, l));
            UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) {
                OF(amax[h], l) = 0;
                UNROLLED for (unsigned k = 0; k < 4; k++) {
                    const uint32_t a = OF(u, l)[h][k] & ~CARRIER_SIGN;
                    OF(amax[h], l) = a > OF(amax[h], l) ? a : OF(amax[h], l);
                }
            }
        }
        if (CORE_DRAWS(mode))
            one_key = gpu_run_key(&job->random, job->offset + first, 128 * GPU_RUN_STRIPS, &words, &word_high);
        if (!known && scaled) {
            lanes_group_max_of_four(amax, group);
            if (job->run > 128) /* blocks of two strips or of four */
                FOR_LANES(l) {
                    const uint32_t low = gpu_run_larger(OF(amax[0], l), OF(amax[1], l));
                    const uint32_t high = gpu_run_larger(OF(amax[2], l), OF(amax[3], l));
                    const int all = job->run > 256;
                    OF(amax[0], l) = OF(amax[1], l) = all ? gpu_run_larger(low, high) : low;
                    OF(amax[2], l) = OF(amax[3], l) = all ? gpu_run_larger(low, high) : high;
                }
        }
        /* each lane finds the scale of one of its blocks; NaN and infinities are larger than all else */
        FOR_LANES(l) {
            const unsigned own = l % GPU_RUN_STRIPS;
            uint32_t a = OF(amax[0], l), all = a;
            UNROLLED for (unsigned h = 1; h < GPU_RUN_STRIPS; h++) {
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
            NOT_UNROLLED for (uint32_t h = 0; h < GPU_RUN_STRIPS; h += job->run > 128 ? job->run / 128 : 1)
                gpu_block_runs_any(j, rule, counted, first / 128 + h);
            continue;
        }
        if ((codes || counted) && scaled)
            FOR_LANES(l) {
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
        UNROLLED for (unsigned h = 0; h < GPU_RUN_STRIPS; h++) {
            FOR_LANES(l) {
                const unsigned from = (l & ~(group - 1)) + h;
                const uint64_t i = first + 128 * h + 4 * l;
                const uint32_t by = lanes_from(down, from), s = way == GPU_RUN_POWERS ? 0 : lanes_from(to, from);
                const uint32_t b = job->element_bits;
                uint32_t r[4] = {0, 0, 0, 0}, y[4];
                if (CORE_DRAWS(mode))
                    gpu_run_bits(&job->random, philox, &words, job->offset + i, r);
                UNROLLED for (unsigned k = 0; k < 4; k++)
                    y[k] = gpu_run_element(j, &table, fast, way, rule, mode, codes, counted, many, &OF(lane, l), by, s,
                                           second, OF(u, l)[h][k], r[k]);
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

#include "core/carrier_end.h"

#endif /* FPEMU_GPU_BLOCK_RUNS_H */
