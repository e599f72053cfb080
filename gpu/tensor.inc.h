/* tensor.inc.h - what one warp does with units of a tensor, for one carrier; read twice by tensor.h as bodies.inc.h is
 * by bodies.h. Warp `warp` of `warps` takes 32 / group units at a time. */

FPEMU_FN CORE_UINT GPU(tensor_load)(const JOB *j, int64_t i)
{
#if CORE_W == 32
    if (j->job.x_type != GPU_F32)
        return CORE(decode)(&j->narrow, ((const uint16_t *)j->job.x)[i]);
#endif
    return ((const CORE_UINT *)j->job.x)[i];
}

/* 16-bit arrays take y to the nearest of their numbers; a finite y stays finite. */
FPEMU_FN void GPU(tensor_store)(const JOB *j, int64_t i, CORE_UINT y)
{
#if CORE_W == 32
    if (j->job.y_type != GPU_F32) {
        const uint32_t sign = y & CORE_SIGN, a = y ^ sign;
        const uint32_t v =
            a < CORE_INF ? core_finish_any32(&j->narrow_plan, y,
                                             core_grid32(&j->narrow_plan, FPEMU_RNE, 1, 32, a, sign, 0))
                         : y;
        ((uint16_t *)j->job.y)[i] = (uint16_t)core_encode32(&j->narrow, v, v);
        return;
    }
#endif
    ((CORE_UINT *)j->job.y)[i] = y;
}

/* Joins the extremes of the lanes of each group. */
FPEMU_FN void GPU(group_extremes)(CORE(extremes) *e, unsigned group)
{
    uint64_t word[4][LANES];
    if (group == 1)
        return;
    FOR_LANES(l)
    {
        OF(word[0], l) = OF(e, l).amax;
        OF(word[1], l) = OF(e, l).high;
        OF(word[2], l) = OF(e, l).low;
        OF(word[3], l) = OF(e, l).nonfinite;
    }
    for (int k = 0; k < 4; k++)
        lanes_group_max(word[k], group);
    FOR_LANES(l)
    {
        OF(e, l).amax = (CORE_UINT)OF(word[0], l);
        OF(e, l).high = (CORE_UINT)OF(word[1], l);
        OF(e, l).low = (CORE_UINT)OF(word[2], l);
        OF(e, l).nonfinite = (uint8_t)OF(word[3], l);
    }
}

/* Finds the extremes of long blocks, piece by piece. */
FPEMU_FN void GPU(tensor_extremes)(const JOB *j, uint64_t warp, uint64_t warps)
{
    const unsigned group = j->job.group;
    const uint64_t each = 32 / group, rows = gpu_rows(&j->job), units = gpu_units(&j->job);
    for (uint64_t base = warp * each; base < units; base += warps * each) {
        gpu_unit unit[LANES];
        CORE(extremes) e[LANES];
        FOR_LANES(l)
        {
            const unsigned sub = l & (group - 1);
            gpu_unit *const u = &OF(unit, l);
            gpu_unit_find(&j->job, base + l / group, u);
            memset(&OF(e, l), 0, sizeof OF(e, l));
            for (uint64_t row = 0; row < rows; row++) {
                const uint64_t at = u->begin + row * group + sub;
                if (at < u->end)
                    CORE(extremes_add)(&OF(e, l), GPU(tensor_load)(j, gpu_element(&j->job, u, at).x));
            }
        }
        GPU(group_extremes)(e, group);
        FOR_LANES(l)
        {
            const gpu_unit *const u = &OF(unit, l);
            if ((l & (group - 1)) != 0 || u->begin >= u->end)
                continue;
            gpu_extremes *const to = &j->job.extremes[u->block - j->job.first];
            shared_max(&to->amax, OF(e, l).amax);
            shared_max(&to->high, OF(e, l).high);
            shared_max(&to->low, OF(e, l).low);
            shared_or(&to->nonfinite, OF(e, l).nonfinite);
        }
    }
}

/* Measures a tensor whose walk is that of a scalar format, into job.range. */
FPEMU_FN void GPU(tensor_measure)(const JOB *j, uint64_t warp, uint64_t warps)
{
    const uint64_t rows = gpu_rows(&j->job), units = gpu_units(&j->job);
    for (uint64_t v = warp; v < units; v += warps) {
        gpu_unit unit[LANES];
        uint64_t high[LANES], low[LANES], most[LANES], sum_low[LANES];
        uint32_t nonzero[LANES], nonfinite[LANES];
        int64_t sum[LANES];
        FOR_LANES(l)
        {
            gpu_unit *const u = &OF(unit, l);
            gpu_unit_find(&j->job, v, u);
            OF(high, l) = OF(low, l) = OF(most, l) = 0;
            OF(nonzero, l) = OF(nonfinite, l) = 0;
            OF(sum, l) = 0;
            for (uint64_t row = 0; row < rows; row++) {
                const uint64_t at = u->begin + row * 32 + l;
                if (at >= u->end || at < u->origin)
                    continue;
                const CORE_UINT x = GPU(tensor_load)(j, gpu_element(&j->job, u, at - u->origin).x), a = x & ~CORE_SIGN;
                if (a >= CORE_INF) {
                    OF(nonfinite, l)++;
                    continue;
                }
                const uint64_t wide = core_bits64(CORE_TO_DOUBLE(a));
                uint64_t *const side = x == a ? &OF(high, l) : &OF(low, l);
                *side = wide > *side ? wide : *side;
                OF(nonzero, l) += a != 0;
                if (j->job.logarithms && a != 0) {
                    const int64_t steps = core_log2_steps(core_value64(wide));
                    const uint64_t biased = (uint64_t)(steps + (INT64_C(1) << 62));
                    OF(sum, l) += steps;
                    OF(most, l) = biased > OF(most, l) ? biased : OF(most, l);
                }
            }
            /* halves of the sum, so that no total passes 64 bits */
            OF(sum_low, l) = (uint64_t)OF(sum, l) & 0xffffffffu;
        }
        lanes_group_max(high, 32);
        lanes_group_max(low, 32);
        lanes_group_max(most, 32);
        const uint64_t some = lanes_sum(nonzero), others = lanes_sum(nonfinite);
        FOR_LANES(l)
        {
            gpu_range *const to = j->job.range;
            if (j->job.logarithms && OF(most, l)) {
                const uint64_t s = (uint64_t)OF(sum, l);
                shared_add(&to->sum_low, OF(sum_low, l));
                shared_add(&to->sum_high, s >> 32 | (s >> 63 ? ~(uint64_t)0 << 32 : 0));
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

/* What a lane counts of one element. scalar: without scale and table, all is judged on x and y. */
FPEMU_FN void GPU(tensor_count)(gpu_lane *lane, gpu_counts *counts, int scalar, const core_happened *h, CORE_UINT u,
                                CORE_UINT y, double sum[3])
{
    const CORE_UINT a = u & ~CORE_SIGN, c = y & ~CORE_SIGN;
    const int is_nan = a > CORE_INF, finite = a < CORE_INF;
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)is_nan;
    n[GPU_INFINITE] += a == CORE_INF;
    n[GPU_CLIPPED] += h->clipped;
    n[GPU_OVERFLOW] += h->overflow;
    n[GPU_INVALID] += c > CORE_INF && !is_nan && !(scalar && h->overflow);
    n[GPU_UNDERFLOW] += finite && a != 0 && c == 0;
    n[GPU_SUBNORMAL] += h->subnormal;
    n[GPU_INEXACT] += finite && u != y && (a | c) != 0;
    if (!finite)
        return;
    const double x = CORE_TO_DOUBLE(u), d = x - CORE_TO_DOUBLE(y);
    gpu_lane_extrema(lane, x, c < CORE_INF ? d : 0);
    if (c < CORE_INF) {
        sum[0] += d < 0 ? -d : d;
        sum[1] += d * d;
        sum[2] += x * x;
    }
    if ((counts->want & FPEMU_HISTOGRAM) && a != 0)
        shared_add(&counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
}

/* Quantises, or packs, the units of a tensor. form, mode: as core_blocked_element has them. */
FPEMU_FN void GPU(tensor)(const JOB *j, int form, int mode, int counted, uint64_t warp, uint64_t warps)
{
    const gpu_tensor_job *const job = &j->job;
    const unsigned group = job->group;
    const uint64_t each = 32 / group, rows = gpu_rows(job), units = gpu_units(job);
    const int scalar = !j->rule.scaled, kept = rows == 1 && !job->extremes && !job->whole;
    const int sums = counted && (job->counts->want & FPEMU_SUMS);
    core_codebook table = j->rule.table;
    CORE(block) block = j->rule.block;
    gpu_lane lane[LANES];
    gpu_words words[LANES];
    uint64_t word_high[LANES];
    uint32_t batches = 0;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->range ? job->range->tensor : job->tensor;
    if (job->tensor_from_bytes)
        block.tensor = gpu_load_tensor(job->bytes);
    FOR_LANES(l)
    {
        gpu_lane_begin(&OF(lane, l));
        OF(word_high, l) = ~UINT64_C(0);
    }
    for (uint64_t base = warp * each; base < units; base += warps * each) {
        gpu_unit unit[LANES];
        CORE(extremes) e[LANES];
        CORE(scale) scale[LANES];
        CORE_UINT first[LANES];
        double sum[3][LANES];
        FOR_LANES(l)
        {
            const unsigned sub = l & (group - 1);
            gpu_unit *const u = &OF(unit, l);
            CORE(extremes) *const own = &OF(e, l);
            gpu_unit_find(job, base + l / group, u);
            memset(own, 0, sizeof *own);
            OF(first, l) = 0;
            if (u->begin >= u->end || scalar)
                continue;
            if (job->extremes || job->whole) {
                const gpu_extremes *const known =
                    job->whole ? &job->range->extremes : &job->extremes[u->block - job->first];
                own->amax = (CORE_UINT)known->amax;
                own->high = (CORE_UINT)known->high;
                own->low = (CORE_UINT)known->low;
                own->nonfinite = known->nonfinite != 0;
                own->other = job->other;
                continue;
            }
            for (uint64_t at = u->begin + sub; at < u->end; at += group) {
                const CORE_UINT x = GPU(tensor_load)(j, gpu_element(job, u, at).x);
                OF(first, l) = x;
                CORE(extremes_add)(own, x);
            }
        }
        if (!scalar && !job->extremes && !job->whole)
            GPU(group_extremes)(e, group);
        FOR_LANES(l)
        {
            const gpu_unit *const u = &OF(unit, l);
            CORE(scale) *const s = &OF(scale, l);
            memset(s, 0, sizeof *s);
            if (u->begin >= u->end || scalar)
                continue;
            CORE(scale_find)(&block, &OF(e, l), s);
            if ((l & (group - 1)) != 0 || u->begin != 0)
                continue;
            if (job->bytes && job->scale_bytes)
                core_store_bytes(job->bytes + job->scales_offset + u->block * job->scale_bytes, job->scale_bytes,
                                 CORE(scale_code)(&block, s));
            if (counted)
                gpu_count_block(&OF(lane, l), job->counts, s->kind == CORE_SCALE_NAN,
                                OF(e, l).amax == 0 && !OF(e, l).nonfinite, s->saturated, s->counted, s->exponent);
        }
        FOR_LANES(l)
        for (int k = 0; k < 3; k++)
            OF(sum[k], l) = 0;
        for (uint64_t row = 0; row < rows; row++) {
            uint64_t code[LANES];
            FOR_LANES(l)
            {
                const gpu_unit *const u = &OF(unit, l);
                const uint64_t at = u->begin + row * group + (l & (group - 1));
                OF(code, l) = 0;
                if (at >= u->end || at < u->origin)
                    continue;
                const core_span s = gpu_element(job, u, at - u->origin);
                const CORE_UINT x = kept && !scalar ? OF(first, l) : GPU(tensor_load)(j, s.x);
                const uint32_t r = job->random.used
                                       ? gpu_bits_anywhere(&job->random, &OF(words, l), &OF(word_high, l),
                                                           &OF(lane, l), job->offset + s.first)
                                       : 0;
                core_happened h;
                CORE_UINT p;
                const CORE_UINT y = CORE(blocked_element)(&j->rule, &table, form, mode, &OF(scale, l), block.tensor,
                                                          OF(e, l).amax, x, r, &p, &h);
                if (job->y)
                    GPU(tensor_store)(j, s.y, y);
                if (job->bytes) {
                    OF(code, l) = CORE(blocked_code)(&j->rule, &OF(scale, l), x, p, h.q);
                    if (job->code_size)
                        gpu_store_code(job->bytes, job->code_size, s.first, OF(code, l));
                }
                if (counted) {
                    double add[3] = {OF(sum[0], l), OF(sum[1], l), OF(sum[2], l)};
                    GPU(tensor_count)(&OF(lane, l), job->counts, scalar && !j->rule.is_table, &h, x, y, add);
                    for (int k = 0; k < 3; k++)
                        OF(sum[k], l) = add[k];
                }
            }
            if (!job->bytes || job->code_size)
                continue;
            FOR_LANES(l)
            {
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
                lanes_group_fold(sum[k], group);
                FOR_LANES(l)
                if ((l & (group - 1)) == 0 && OF(unit, l).begin < OF(unit, l).end)
                    gpu_add_exact(job->counts, k, OF(sum[k], l));
            }
        if (counted && (++batches & 0xfff) == 0)
            gpu_lane_flush(lane, job->counts);
    }
    if (counted)
        gpu_lane_flush(lane, job->counts);
}

/* Packed bytes to values. */
FPEMU_FN void GPU(untensor)(const JOB *j, uint64_t warp, uint64_t warps)
{
    const gpu_tensor_job *const job = &j->job;
    const unsigned group = job->group;
    const uint64_t each = 32 / group, rows = gpu_rows(job), units = gpu_units(job);
    const uint64_t mask = job->element_bits < 64 ? (UINT64_C(1) << job->element_bits) - 1 : ~UINT64_C(0);
    core_codebook table = j->rule.table;
    CORE(block) block = j->rule.block;
    table.values = job->table ? job->table : j->table;
    block.tensor = job->tensor;
    if (job->tensor_from_bytes)
        block.tensor = gpu_load_tensor(job->bytes);
    for (uint64_t base = warp * each; base < units; base += warps * each)
        FOR_LANES(l)
        {
            gpu_unit u;
            CORE(scale) s;
            gpu_unit_find(job, base + l / group, &u);
            if (u.begin >= u.end)
                continue;
            memset(&s, 0, sizeof s);
            if (j->rule.scaled)
                CORE(scale_read)(&block,
                                 core_load_bytes(job->bytes + job->scales_offset + u.block * job->scale_bytes,
                                                 job->scale_bytes), &s);
            const unsigned char *const from =
                job->bytes + job->elements_offset + core_layout_before(&job->layout, u.block, job->element_bits);
            for (uint64_t row = 0; row < rows; row++) {
                const uint64_t at = u.begin + row * group + (l & (group - 1));
                if (at >= u.end)
                    continue;
                const core_span place = gpu_element(job, &u, at);
                const uint64_t code = job->code_size ? gpu_load_code(job->bytes, job->code_size, place.first)
                                                     : core_load_code(from, job->element_bits, at);
                GPU(tensor_store)(j, place.y, CORE(blocked_read)(&j->rule, &table, &s, block.tensor, code & mask));
            }
        }
}
