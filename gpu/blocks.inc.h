/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.inc.h - what one warp does with units of a tensor, for one carrier; read twice by blocks.h. Warp `warp` of
 * `warps` takes 32 / group units at a time. */

/* The form of core_blocked_element that a job takes. */
FPEMU_FN int gpu_blocks_form(const gpu_blocks_job *j)
{
    return j->rule.is_table || j->rule.compat.setting ? 2 : gpu_form(&j->rule.plan);
}

/* An element of the input as carrier bits. */
FPEMU_FN uintw gpu_blocks_value(const gpu_blocks_job *j, uint64_t element)
{
#if CARRIER_BITS == 32
    if (j->call.x_type != GPU_F32)
        return gpu_widen(j->call.x_type, element);
#endif
    (void)j;
    return (uintw)element;
}

/* y as element of the output. */
FPEMU_FN uint64_t gpu_blocks_result(const gpu_blocks_job *j, uintw y)
{
#if CARRIER_BITS == 32
    if (j->call.y_type != GPU_F32)
        return gpu_narrow(j->call.y_type, y);
#endif
    (void)j;
    return y;
}

/* Bytes of an element of the arrays, which have one type. */
FPEMU_FN uint32_t gpu_blocks_size(const gpu_blocks_job *j)
{
    return CARRIER_BITS == 64 ? 8 : j->call.x_type == GPU_F32 ? 4 : 2;
}

/* Elements [at, at + n) of a unit, n = 1 or up to `width`, into u. */
FPEMU_FN void gpu_blocks_load(const gpu_blocks_job *j, unsigned width, const gpu_unit *unit, uint64_t at, unsigned n,
                              uintw u[4])
{
    const int64_t i = gpu_element(&j->call, unit, at).x;
    const unsigned char *const from = (const unsigned char *)j->call.x + i * (int64_t)gpu_blocks_size(j);
    uint64_t element[4];
    if (width == 4 && n == 4)
        gpu_load_quad(from, gpu_blocks_size(j), 0, element);
    else
        for (unsigned k = 0; k < n; k++)
            element[k] = gpu_load_code(from, gpu_blocks_size(j), k);
    for (unsigned k = 0; k < width; k++)
        if (k < n)
            u[k] = gpu_blocks_value(j, element[k]);
}

/* The same back, to place i of y. */
FPEMU_FN void gpu_blocks_store(const gpu_blocks_job *j, unsigned width, int64_t i, unsigned n,
                               const uint64_t element[4])
{
    unsigned char *const to = (unsigned char *)j->call.y + i * (int64_t)gpu_blocks_size(j);
    if (width == 4 && n == 4)
        gpu_store_quad(to, gpu_blocks_size(j), 0, element);
    else
        for (unsigned k = 0; k < n; k++)
            gpu_store_code(to, gpu_blocks_size(j), k, element[k]);
}

/* How many elements a lane has from `at` on, where a unit ends at `end`. */
FPEMU_FN unsigned gpu_blocks_have(unsigned width, uint64_t at, uint64_t end)
{
    return at >= end ? 0 : end - at < width ? (unsigned)(end - at) : width;
}

/* Joins the extremes of the lanes of each group. */
FPEMU_FN void gpu_group_extremes(core_extremes *e, unsigned group)
{
    uint64_t word[4][LANES];
    if (group == 1)
        return;
    FOR_LANES(l) {
        OF(word[0], l) = OF(e, l).amax;
        OF(word[1], l) = OF(e, l).high;
        OF(word[2], l) = OF(e, l).low;
        OF(word[3], l) = OF(e, l).nonfinite;
    }
    for (int k = 0; k < 4; k++)
        lanes_group_max(word[k], group);
    FOR_LANES(l) {
        OF(e, l).amax = (uintw)OF(word[0], l);
        OF(e, l).high = (uintw)OF(word[1], l);
        OF(e, l).low = (uintw)OF(word[2], l);
        OF(e, l).nonfinite = (uint8_t)OF(word[3], l);
    }
}

/* Finds the extremes of long blocks, piece by piece. */
FPEMU_FN void gpu_blocks_extremes(const gpu_blocks_job *j, unsigned width, uint64_t warp, uint64_t warps)
{
    const unsigned group = gpu_group(&j->call, width);
    const uint64_t each = 32 / group, rows = gpu_rows(&j->call, width), units = gpu_units(&j->call);
    const uint32_t size = gpu_blocks_size(j);
    for (uint64_t base = warp * each; base < units; base += warps * each) {
        gpu_unit unit[LANES];
        core_extremes e[LANES];
        FOR_LANES(l) {
            const unsigned sub = l & (group - 1);
            gpu_unit *const u = &OF(unit, l);
            gpu_unit_find(&j->call, base + l / group, u);
            memset(&OF(e, l), 0, sizeof OF(e, l));
            uint64_t row = 0;
            if (width == 4 && u->begin < u->end) { /* whose elements are neighbours in memory */
                const uint64_t full = (u->end - u->begin) / (4 * group);
                const int64_t first = gpu_element(&j->call, u, u->begin).x + 4 * (int64_t)sub;
                for (; row + 4 <= full; row += 4) {
                    const unsigned char *const from =
                        (const unsigned char *)j->call.x + (first + (int64_t)(row * group * 4)) * (int64_t)size;
                    uint64_t element[4][4];
                    if (size == 2) UNROLLED
                        for (unsigned h = 0; h < 4; h++)
                            gpu_load_quad(from, 2, h * group * 4, element[h]);
                    else UNROLLED
                        for (unsigned h = 0; h < 4; h++)
                            gpu_load_quad(from, CARRIER_BITS / 8, h * group * 4, element[h]);
                    UNROLLED for (unsigned h = 0; h < 4; h++) UNROLLED
                        for (unsigned k = 0; k < 4; k++)
                            core_extremes_add(&OF(e, l), gpu_blocks_value(j, element[h][k]));
                }
            }
            for (; row < rows; row++) {
                const uint64_t at = u->begin + (row * group + sub) * width;
                const unsigned n = gpu_blocks_have(width, at, u->end);
                uintw x[4];
                if (n)
                    gpu_blocks_load(j, width, u, at, n, x);
                for (unsigned k = 0; k < width; k++)
                    if (k < n)
                        core_extremes_add(&OF(e, l), x[k]);
            }
        }
        gpu_group_extremes(e, group);
        FOR_LANES(l) {
            const gpu_unit *const u = &OF(unit, l);
            if ((l & (group - 1)) != 0 || u->begin >= u->end)
                continue;
            gpu_extremes *const to = &j->call.extremes[u->block - j->call.first];
            shared_max(&to->amax, OF(e, l).amax);
            shared_max(&to->high, OF(e, l).high);
            shared_max(&to->low, OF(e, l).low);
            shared_or(&to->nonfinite, OF(e, l).nonfinite);
        }
    }
}

/* Measures a tensor whose walk is that of a scalar format, into job.range. */
FPEMU_FN void gpu_measure(const gpu_blocks_job *j, unsigned width, uint64_t warp, uint64_t warps)
{
    const uint64_t rows = gpu_rows(&j->call, width), units = gpu_units(&j->call);
    for (uint64_t v = warp; v < units; v += warps) {
        gpu_unit unit[LANES];
        uint64_t high[LANES], low[LANES], most[LANES];
        uint32_t nonzero[LANES], nonfinite[LANES];
        core_steps sum[LANES];
        FOR_LANES(l) {
            gpu_unit *const u = &OF(unit, l);
            gpu_unit_find(&j->call, v, u);
            OF(high, l) = OF(low, l) = OF(most, l) = 0;
            OF(nonzero, l) = OF(nonfinite, l) = 0;
            OF(sum, l).low = OF(sum, l).high = 0;
            for (uint64_t row = 0; row < rows; row++) {
                const uint64_t at = u->begin + (row * 32 + l) * width;
                const unsigned n = gpu_blocks_have(width, at, u->end);
                uintw x[4];
                if (n)
                    gpu_blocks_load(j, width, u, at, n, x);
                for (unsigned k = 0; k < width; k++) {
                    const uintw a = k < n ? x[k] & ~CARRIER_SIGN : 0;
                    if (k >= n)
                        continue;
                    if (a >= CARRIER_INF) {
                        OF(nonfinite, l)++;
                        continue;
                    }
                    const uint64_t wide = core_bits64(core_to_double(a));
                    uint64_t *const extreme = x[k] == a ? &OF(high, l) : &OF(low, l);
                    *extreme = wide > *extreme ? wide : *extreme;
                    OF(nonzero, l) += a != 0;
                    if (j->call.sums == FPEMU_SCALING_ABSMEAN) {
                        core_steps_add(&OF(sum, l), core_value64(wide));
                    } else if (j->call.sums && a != 0) {
                        const int64_t steps = core_log2_steps(core_value64(wide));
                        const uint64_t biased = (uint64_t)(steps + (INT64_C(1) << 62));
                        OF(sum, l).low += (uint64_t)steps & 0xffffffffu;
                        OF(sum, l).high += (uint64_t)(steps >> 32);
                        OF(most, l) = biased > OF(most, l) ? biased : OF(most, l);
                    }
                }
            }
            /* so that no total passes 64 bits */
            OF(sum, l).high += OF(sum, l).low >> 32;
            OF(sum, l).low &= 0xffffffffu;
        }
        lanes_group_max(high, 32);
        lanes_group_max(low, 32);
        lanes_group_max(most, 32);
        const uint64_t some = lanes_sum(nonzero), others = lanes_sum(nonfinite);
        FOR_LANES(l) {
            gpu_range *const to = j->call.range;
            if (j->call.sums) {
                shared_add(&to->sum_low, OF(sum, l).low);
                shared_add(&to->sum_high, OF(sum, l).high);
            }
            if (l != 0)
                continue;
            shared_max(&to->high, OF(high, l));
            shared_max(&to->low, OF(low, l));
            shared_max(&to->most, OF(most, l));
            shared_add(&to->nonzero, some);
            shared_add(&to->nonfinite, others);
        }
    }
}

/* What a lane counts of one element. */
FPEMU_FN void gpu_blocks_count(gpu_lane *lane, gpu_counts *counts, core_events e, uintw u, uintw y, double sum[3])
{
    const uintw a = u & ~CARRIER_SIGN, c = y & ~CARRIER_SIGN;
    gpu_lane_events(lane, e);
    if (a >= CARRIER_INF)
        return;
    const double x = core_to_double(u), d = x - core_to_double(y);
    gpu_lane_extrema(lane, x, c < CARRIER_INF ? d : 0);
    if (c < CARRIER_INF) {
        sum[0] += d < 0 ? -d : d;
        sum[1] += d * d;
        sum[2] += x * x;
    }
    if ((counts->want & FPEMU_STATS_HISTOGRAM) && a != 0)
        shared_add(&counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
}

/* As block_choose_scale of lib/array/blocks.inc.c: each lane for itself, with all elements of its block. */
FPEMU_SLOW void gpu_choose_scale(const gpu_blocks_job *j, const core_codebook *table, const gpu_unit *u,
                                 const core_block *block, const core_extremes *e, core_scale *s)
{
    const int chooses = core_rule_chooses(block->rule);
    realw row[CORE_CHOICE_ROWS], least = 0;
    if (s->kind == CORE_SCALE_NAN)
        return;
    for (unsigned i = 0; i < block->candidates; i++) {
        core_scale own;
        unsigned rows = 0;
        core_scale_candidate(block, e, i, &own);
        const realw down = own.kind == CORE_SCALE_ZERO ? 0 : own.down;
        for (uint64_t at = 0; at < u->place.elements; rows++) {
            row[rows] = 0;
            for (uint64_t k = 0; k < u->place.n[3]; k++, at++) {
                core_happened h;
                uintw x[4], p;
                gpu_blocks_load(j, 1, u, at, 1, x);
                row[rows] += chooses
                                 ? core_choice_error(block, down, own.s, x[0])
                                 : core_search_error(block->search_error, x[0],
                                                     core_blocked_element(&j->rule, table, 2, j->rule.plan.mode, &own,
                                                                          block->tensor, e->amax, x[0], 0, &p, &h));
            }
        }
        const realw total = core_choice_total(row, rows);
        if (i == 0 || total < least) {
            least = total;
            *s = own;
        }
    }
}

/* As block_neighbour there. */
FPEMU_FN gpu_unit gpu_neighbour(const gpu_blocks_job *j, const gpu_unit *u, uint64_t b)
{
    gpu_unit own = *u;
    core_walk_block(&j->call.walk, b, &own.place);
    own.consecutive += core_layout_before(&j->call.layout, b, 8) - core_layout_before(&j->call.layout, u->block, 8);
    return own;
}

/* As block_find_mantissa there. */
FPEMU_SLOW realw gpu_find_mantissa(const gpu_blocks_job *j, const gpu_unit *u, const core_block *block)
{
    const core_sharing s = core_walk_sharing(&j->call.walk, u->block, block->corrected);
    core_extremes e = {0, 0, 0, 0, 0};
    for (uint64_t row = 0; row < s.rows; row++)
        for (uint64_t k = 0; k < s.along; k++) {
            const gpu_unit own = gpu_neighbour(j, u, s.first + row * j->call.walk.across + k);
            for (uint64_t i = 0; i < own.place.elements; i++) {
                uintw x[4];
                gpu_blocks_load(j, 1, &own, i, 1, x);
                core_extremes_add(&e, x[0]);
            }
        }
    return (realw)core_mantissa(core_saturated32((double)block->largest), core_saturated32((double)core_value(e.amax)));
}

/* As block_find_group there, and what follows of it; amax: of the block. */
FPEMU_SLOW void gpu_correct_scale(const gpu_blocks_job *j, const core_codebook *table, const gpu_unit *u,
                                  const core_block *block, uint32_t r, uintw amax, core_scale *s)
{
    core_super_part part[CORE_SUPER_MOST];
    const int is_super = core_rule_is_super(block->rule);
    const core_sharing share = core_walk_sharing(&j->call.walk, u->block, block->corrected);
    realw squares[CORE_CHOICE_ROWS], products[CORE_CHOICE_ROWS];
    for (uint64_t k = 0; k < share.along; k++) {
        const gpu_unit own = gpu_neighbour(j, u, share.first + k);
        core_extremes e = {0, 0, 0, 0, 0};
        core_scale scale;
        core_happened h;
        realw all[CORE_SUPER_MOST];
        uintw x[4], p;
        for (uint64_t i = 0; i < own.place.elements; i++) {
            gpu_blocks_load(j, 1, &own, i, 1, x);
            core_extremes_add(&e, x[0]);
            if (is_super)
                all[i] = core_value(x[0]);
        }
        if (is_super) {
            memset(part + k, 0, sizeof *part);
            if (!e.nonfinite)
                part[k] = core_super_find(block, (unsigned)own.place.elements, all);
            continue;
        }
        core_scale_candidate(block, &e, 0, &scale);
        squares[k] = products[k] = 0;
        for (uint64_t i = 0; i < own.place.elements && scale.kind != CORE_SCALE_NAN; i++) {
            gpu_blocks_load(j, 1, &own, i, 1, x);
            core_blocked_element(&j->rule, table, 2, j->rule.plan.mode, &scale, block->tensor, e.amax, x[0], 0, &p, &h);
            if ((x[0] & ~CARRIER_SIGN) < CARRIER_INF) {
                const realw t = core_value(core_block_t(&scale, 0, x[0]));
                squares[k] += t * t;
                products[k] += t * core_value(p);
            }
        }
    }
    if (is_super) {
        core_super_scale(block, part, (unsigned)share.along, (unsigned)(u->block - share.first), amax, s);
        return;
    }
    const realw all = core_choice_total(squares, (unsigned)share.along);
    core_scale_correct(block, all, core_choice_total(products, (unsigned)share.along), r, s);
}

/* As block_find_ends there. */
FPEMU_SLOW void gpu_find_ends(const gpu_blocks_job *j, const gpu_unit *u, const core_block *block, core_extremes *e)
{
    int first = 1;
    uintw x[4];
    for (uint64_t i = 0; i < u->place.elements; i++) {
        gpu_blocks_load(j, 1, u, i, 1, x);
        core_ends_add(block->rule, e, &first, x[0]);
    }
}

/* As block_find_mean there, into e->high. */
FPEMU_SLOW void gpu_find_mean(const gpu_blocks_job *j, const gpu_unit *u, core_extremes *e)
{
    core_steps s = {0, 0};
    uint64_t count = 0, low;
    int64_t high;
    uintw x[4];
    for (uint64_t i = 0; i < u->place.elements; i++) {
        gpu_blocks_load(j, 1, u, i, 1, x);
        const uintw a = x[0] & ~CARRIER_SIGN;
        count += a < CARRIER_INF;
        core_steps_add(&s, a < CARRIER_INF ? core_to_double(a) : 0);
    }
    core_steps_join(s.low, s.high, &low, &high);
    e->high = core_bits((realw)core_steps_mean(low, high, count));
}

/* As block_find_levels there. */
FPEMU_SLOW void gpu_find_levels(const gpu_blocks_job *j, const gpu_unit *u, const core_block *block, uintw amax,
                                core_scale *s)
{
    const unsigned each = core_rule_levels(block->rule), n = (unsigned)u->place.elements;
    uintw group[CORE_LEVEL_ELEMENTS / 2], x[4];
    for (unsigned i = 0; i < n; i++) {
        gpu_blocks_load(j, 1, u, i, 1, x);
        const uintw a = x[0] & ~CARRIER_SIGN, kept = a < CARRIER_INF ? a : 0, before = i % each ? group[i / each] : 0;
        group[i / each] = kept > before ? kept : before;
    }
    core_scale_levels(block, amax, group, (n + each - 1) / each, s);
}

/* Quantises, or packs, the units of a tensor. form, mode: as core_blocked_element has them. */
FPEMU_FN void gpu_blocks(const gpu_blocks_job *j, int form, int mode, int counted, unsigned width, uint64_t warp,
                         uint64_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const unsigned group = gpu_group(job, width);
    const uint64_t each = 32 / group, rows = gpu_rows(job, width), units = gpu_units(job);
    const int scalar = !j->rule.scaled, kept = rows == 1 && !job->extremes && !job->whole && !scalar;
    const int sums = counted && (job->counts->want & FPEMU_STATS_SUMS);
    core_codebook table = j->rule.table;
    core_block block = j->rule.block;
    gpu_lane lane[LANES];
    gpu_words words[LANES];
    uint64_t word_high[LANES];
    uint32_t batches = 0;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->range ? job->range->tensor : job->tensor;
    if (job->tensor_from_bytes)
        block.tensor = gpu_load_tensor_scales(job->bytes);
    FOR_LANES(l) {
        gpu_lane_begin(&OF(lane, l));
        OF(word_high, l) = ~UINT64_C(0);
    }
    for (uint64_t base = warp * each; base < units; base += warps * each) {
        gpu_unit unit[LANES];
        core_extremes e[LANES];
        core_scale scale[LANES];
        uintw x[LANES][4];
        double sum[LANES][3];
        FOR_LANES(l) {
            const unsigned sub = l & (group - 1);
            gpu_unit *const u = &OF(unit, l);
            core_extremes *const own = &OF(e, l);
            gpu_unit_find(job, base + l / group, u);
            memset(own, 0, sizeof *own);
            if (u->begin >= u->end || scalar)
                continue;
            if (job->extremes || job->whole) {
                const gpu_extremes *const known =
                    job->whole ? &job->range->extremes : &job->extremes[u->block - job->first];
                own->amax = (uintw)known->amax;
                own->high = (uintw)known->high;
                own->low = (uintw)known->low;
                own->nonfinite = known->nonfinite != 0;
                own->other = job->other;
                continue;
            }
            for (uint64_t at = u->begin + sub * width; at < u->end; at += group * width) {
                const unsigned n = gpu_blocks_have(width, at, u->end);
                gpu_blocks_load(j, width, u, at, n, OF(x, l));
                for (unsigned k = 0; k < width; k++)
                    if (k < n)
                        core_extremes_add(own, OF(x, l)[k]);
            }
        }
        if (!scalar && !job->extremes && !job->whole)
            gpu_group_extremes(e, group);
        FOR_LANES(l) {
            const gpu_unit *const u = &OF(unit, l);
            core_scale *const s = &OF(scale, l);
            memset(s, 0, sizeof *s);
            if (u->begin >= u->end || scalar)
                continue;
            const int first = (l & (group - 1)) == 0 && u->begin == 0;
            if (job->lines)
                block.tensor = gpu_line_tensor(job, u->block, CARRIER_BITS == 64, first);
            if (core_rule_has_ends(block.rule))
                gpu_find_ends(j, u, &block, &OF(e, l));
            if (block.rule == FPEMU_SCALING_ABSMEAN && !job->whole && !job->given.scales)
                gpu_find_mean(j, u, &OF(e, l));
            if (job->given.scales)
                core_scale_given(&block, &job->given, u->block, s);
            else if (block.order == CORE_MANTISSA)
                core_scale_share(&block, &OF(e, l), gpu_find_mantissa(j, u, &block), s);
            else
                core_scale_candidate(&block, &OF(e, l), 0, s);
            if (block.candidates > 1 && !job->given.scales)
                gpu_choose_scale(j, &table, u, &block, &OF(e, l), s);
            if (block.corrected && block.order != CORE_MANTISSA && (OF(e, l).amax || core_rule_is_super(block.rule)) &&
                !job->given.scales)
                gpu_correct_scale(j, &table, u, &block,
                                  gpu_bits_anywhere(&job->random, &OF(words, l), &OF(word_high, l), &OF(lane, l),
                                                    job->offset + u->place.first),
                                  OF(e, l).amax, s);
            if (core_rule_levels(block.rule))
                gpu_find_levels(j, u, &block, OF(e, l).amax, s);
            if (!first)
                continue;
            if (job->bytes && job->scale_bytes)
                core_store_bytes(job->bytes + job->scales_offset + u->block * job->scale_bytes, job->scale_bytes,
                                 core_scale_code(&block, s));
            if (counted)
                gpu_count_block(&OF(lane, l), job->counts, s->kind == CORE_SCALE_NAN,
                                OF(e, l).amax == 0 && !OF(e, l).nonfinite, s->saturated, s->counted, s->exponent);
        }
        FOR_LANES(l)
            for (int k = 0; k < 3; k++)
                OF(sum, l)[k] = 0;
        for (uint64_t row = 0; row < rows; row++) {
            uint64_t code[LANES];
            FOR_LANES(l) {
                const gpu_unit *const u = &OF(unit, l);
                const uint64_t at = u->begin + (row * group + (l & (group - 1))) * width;
                const unsigned n = at < u->origin ? 0 : gpu_blocks_have(width, at, u->end);
                uint64_t result[4], codes[4];
                OF(code, l) = 0;
                if (n == 0)
                    continue;
                const core_span s = gpu_element(job, u, at - u->origin);
                if (!kept)
                    gpu_blocks_load(j, width, u, at - u->origin, n, OF(x, l));
                for (unsigned k = 0; k < width; k++) {
                    if (k >= n)
                        continue;
                    const uint32_t r = job->random.used
                                           ? gpu_bits_anywhere(&job->random, &OF(words, l), &OF(word_high, l),
                                                               &OF(lane, l), job->offset + s.first + k)
                                           : 0;
                    core_happened h;
                    uintw p;
                    const core_scale *own = &OF(scale, l);
                    core_scale levelled;
                    if (own->levels) {
                        levelled = core_scale_at(&block, own, (unsigned)(at - u->origin) + k);
                        own = &levelled;
                    }
                    const uintw y = core_blocked_element(&j->rule, &table, form, mode, own, block.tensor, OF(e, l).amax,
                                                         OF(x, l)[k], r, &p, &h);
                    if (job->y)
                        result[k] = gpu_blocks_result(j, y);
                    if (job->bytes)
                        codes[k] = core_blocked_code(&j->rule, &OF(scale, l), OF(x, l)[k], p, h.q);
                    if (counted)
                        gpu_blocks_count(&OF(lane, l), job->counts,
                                         core_blocked_events(&j->rule, OF(x, l)[k], y, p, &h), OF(x, l)[k], y,
                                         OF(sum, l));
                }
                if (job->y)
                    gpu_blocks_store(j, width, s.y, n, result);
                if (!job->bytes)
                    continue;
                if (width == 1)
                    OF(code, l) = codes[0];
                if (job->code_size)
                    gpu_store_code(job->bytes, job->code_size, s.first, codes[0]);
                else if (width == 4)
                    gpu_store_codes(job->bytes + job->elements_offset +
                                        core_layout_before(&job->layout, u->block, job->element_bits) +
                                        at / 4 * (job->element_bits / 2),
                                    codes, n, job->element_bits);
            }
            if (!job->bytes || job->code_size || width == 4)
                continue;
            FOR_LANES(l) {
                const gpu_unit *const u = &OF(unit, l);
                const uint32_t bits = job->element_bits, sub = l & (group - 1);
                const uint64_t at = u->begin + row * group + (sub & ~7u);
                uint64_t codes[8];
                lanes_octet(code, l, codes);
                if (at < u->end) {
                    const uint32_t n = u->end - at < 8 ? (uint32_t)(u->end - at) : 8;
                    gpu_store_octet(job->bytes + job->elements_offset +
                                        core_layout_before(&job->layout, u->block, bits) + at / 8 * bits,
                                    codes, bits, (n * bits + 7) / 8, sub & 7u);
                }
            }
        }
        if (sums)
            for (int k = 0; k < 3; k++) {
                double one[LANES];
                FOR_LANES(l)
                    OF(one, l) = OF(sum, l)[k];
                lanes_group_fold(one, group);
                FOR_LANES(l)
                    if ((l & (group - 1)) == 0 && OF(unit, l).begin < OF(unit, l).end)
                        gpu_add_exact(job->counts, k, OF(one, l));
            }
        if (counted && (++batches & 0xfff) == 0)
            gpu_lane_flush(lane, job->counts);
    }
    if (counted)
        gpu_lane_flush(lane, job->counts);
}

/* Packed bytes to values. */
FPEMU_FN void gpu_unpack(const gpu_blocks_job *j, unsigned width, uint64_t warp, uint64_t warps)
{
    const gpu_blocks_call *const job = &j->call;
    const unsigned group = gpu_group(job, width);
    const uint64_t each = 32 / group, rows = gpu_rows(job, width), units = gpu_units(job);
    const uint64_t mask = job->element_bits < 64 ? (UINT64_C(1) << job->element_bits) - 1 : ~UINT64_C(0);
    core_codebook table = j->rule.table;
    core_block block = j->rule.block;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->tensor;
    for (uint64_t base = warp * each; base < units; base += warps * each)
        FOR_LANES(l) {
            gpu_unit u;
            core_scale s;
            gpu_unit_find(job, base + l / group, &u);
            if (u.begin >= u.end)
                continue;
            memset(&s, 0, sizeof s);
            if (job->tensor_from_bytes)
                block.tensor = gpu_packed_tensor(job, u.block);
            if (j->rule.scaled)
                core_scale_read(
                    &block,
                    core_load_bytes(job->bytes + job->scales_offset + u.block * job->scale_bytes, job->scale_bytes),
                    &s);
            if (job->given.zeros) {
                s.order = job->given.order;
                s.zero = (realw)job->given.zeros[u.block];
            }
            const unsigned char *const from =
                job->bytes + job->elements_offset + core_layout_before(&job->layout, u.block, job->element_bits);
            for (uint64_t row = 0; row < rows; row++) {
                const uint64_t at = u.begin + (row * group + (l & (group - 1))) * width;
                const unsigned n = gpu_blocks_have(width, at, u.end);
                uint64_t result[4];
                if (n == 0)
                    continue;
                const core_span place = gpu_element(job, &u, at);
                for (unsigned k = 0; k < width; k++) {
                    if (k >= n)
                        continue;
                    const uint64_t code = job->code_size ? gpu_load_code(job->bytes, job->code_size, place.first + k)
                                                         : core_load_code(from, job->element_bits, at + k);
                    const core_scale own = s.levels ? core_scale_at(&block, &s, (unsigned)at + k) : s;
                    result[k] =
                        gpu_blocks_result(j, core_blocked_read(&j->rule, &table, &own, block.tensor, code & mask));
                }
                gpu_blocks_store(j, width, place.y, n, result);
            }
        }
}
