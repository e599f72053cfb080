/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.inc.h - what one warp does, for one carrier; read twice by quantize.h. Warp `warp` of `warps` takes pieces
 * warp, warp + warps, ... of the stream. */

FPEMU_FN int gpu_form(const core_plan *p)
{
    if (p->rule >= CORE_RULE_FULL_RANGE && p->rule <= CORE_RULE_EVEN)
        return GPU_FORM_FAST;
    if (p->compat || p->wrap || (p->rule != CORE_RULE_FLOAT && p->rule != CORE_RULE_ANY))
        return GPU_FORM_GENERAL;
    return p->rule == CORE_RULE_FLOAT ? GPU_FORM_FLOAT : GPU_FORM_ANY;
}

/* An element of the input as carrier bits. */
FPEMU_FN uintw gpu_value(const gpu_quantize_job *j, uint64_t element)
{
#if CARRIER_BITS == 32
    if (j->call.x_type != GPU_F32)
        return gpu_widen(j->call.x_type, element);
#endif
    (void)j;
    return (uintw)element;
}

/* Result v for input u as element of the output; q: the integer behind v, affine formats only. fast: its form. */
GPU_PART uint64_t gpu_result(const gpu_quantize_job *j, int fast, uintw u, uintw v, int64_t q)
{
    if (j->call.y_type == GPU_CODES) {
        if (fast)
            return j->coder.fast_encode ? core_encode_fast(&j->coder, u, v) : core_encode_fixed(&j->coder, u, v);
        return j->plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&j->coder, u, v, q)
                                                     : core_encode(&j->coder, u, v);
    }
#if CARRIER_BITS == 32
    if (j->call.y_type != GPU_F32)
        return gpu_narrow(j->call.y_type, v);
#endif
    return v;
}

/* One element: result for input u with random bits r; *over, if it is asked for: the grid value of a finite u lies
 * outside the ends. */
GPU_PART uintw gpu_round_element(const gpu_quantize_job *j, int form, int rule, int mode, int counted, uintw u,
                                 uint32_t r, int *over, int64_t *q)
{
    const uintw random = (uintw)r << (CARRIER_BITS - 32);
    *over = 0;
    if (form == GPU_FORM_GENERAL)
        return core_element(&j->plan, &j->call.integers, u, r, over, q);
    if (form == GPU_FORM_FAST && !counted)
        return core_element_fast(&j->plan, rule, mode, u, random);
    if (form != GPU_FORM_FAST)
        return core_element_with_overflow(&j->plan, form == GPU_FORM_ANY, mode, u, random, over);
    const uintw g = rule == CORE_RULE_FULL_RANGE || rule == CORE_RULE_FULL_RANGE_GRID
                        ? core_element_full_range_grid(&j->plan, mode, u, random)
                        : core_element_shifter_grid(&j->plan, mode, u, random);
    *over = (u & ~CARRIER_SIGN) < CARRIER_INF && g > CORE_BY_SIGN(u, j->plan.max);
    return core_finish(&j->plan, u, g);
}

/* Adds the events of one element to its lane's. */
FPEMU_FN void gpu_lane_events(gpu_lane *lane, core_events e)
{
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)e.nan;
    n[GPU_INFINITE] += (uint32_t)e.infinite;
    n[GPU_CLIPPED] += (uint32_t)e.clipped;
    n[GPU_OVERFLOW] += (uint32_t)e.overflow;
    n[GPU_INVALID] += (uint32_t)e.invalid;
    n[GPU_UNDERFLOW] += (uint32_t)e.underflow;
    n[GPU_SUBNORMAL] += (uint32_t)e.subnormal;
    n[GPU_INEXACT] += (uint32_t)e.inexact;
}

/* Counts one element and adds it to its lane's sums. */
GPU_PART void gpu_count(const gpu_quantize_job *j, int sums, int histogram, gpu_lane *lane, double sum[3], uintw u,
                        uintw v, int over)
{
    const uintw a = u & ~CARRIER_SIGN, c = v & ~CARRIER_SIGN;
    const core_events e = core_events_of(j->plan.min_normal, u, 0, v, v, a > CORE_BY_SIGN(u, j->plan.max), (uintw)over);
    gpu_lane_events(lane, e);
    if (a >= CARRIER_INF)
        return;
#if CARRIER_BITS == 32
    gpu_lane_extrema32(lane, core_value(u), core_value(v), c >= CARRIER_INF);
    if (!sums && !histogram)
        return;
#endif
    const double x = core_to_double(u), y = core_to_double(v), d = x - y;
#if CARRIER_BITS != 32
    gpu_lane_extrema(lane, x, c < CARRIER_INF ? d : 0);
#endif
    if (sums && c < CARRIER_INF) {
        sum[0] += d < 0 ? -d : d;
        sum[1] += d * d;
        sum[2] += x * x;
    }
    if (histogram && a != 0)
        shared_add(&j->call.counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
}

/* Four elements of the input: neighbours from i on, aligned, or every 32nd. */
FPEMU_FN void gpu_load_four(const gpu_quantize_job *j, int quads, uint64_t i, uintw u[4])
{
    uint64_t element[4];
#if CARRIER_BITS == 32
    const uint32_t size = j->call.x_type == GPU_F32 ? 4 : 2;
#else
    const uint32_t size = 8;
#endif
    if (quads)
        gpu_load_quad(j->call.x, size, i, element);
    else
        UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_load_code(j->call.x, size, i + 32 * k);
    UNROLLED for (unsigned k = 0; k < 4; k++) u[k] = gpu_value(j, element[k]);
}

/* Results v for inputs u, to the output. */
FPEMU_FN void gpu_store_four(const gpu_quantize_job *j, int quads, uint64_t i, const uintw u[4], const uintw v[4])
{
    uint64_t element[4];
    UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_result(j, 1, u[k], v[k], 0);
    if (quads)
        gpu_store_quad(j->call.y, j->call.y_size, i, element);
    else
        UNROLLED for (unsigned k = 0; k < 4; k++) gpu_store_code(j->call.y, j->call.y_size, i + 32 * k, element[k]);
}

/* A lane's part of a strip, from place i of the arrays on: u becomes the results. */
FPEMU_FN void gpu_round_four(const gpu_quantize_job *j, int form, int rule, int mode, int counted, int quads, int sums,
                             int histogram, const gpu_words *words, gpu_lane *lane, double sum[3], uint64_t index,
                             uint64_t i, const uintw u[4])
{
    uint32_t r[4] = {0, 0, 0, 0};
    uintw v[4];
    if (mode >= FPEMU_MODE_SR)
        gpu_bits_of_four(&j->call.random, words, lane, index, quads ? 1 : 32, r);
    UNROLLED for (unsigned k = 0; k < 4; k++)
    {
        int over;
        int64_t q;
        v[k] = gpu_round_element(j, form, rule, mode, counted, u[k], r[k], &over, &q);
        if (counted)
            gpu_count(j, sums, histogram, lane, sum, u[k], v[k], over);
    }
    gpu_store_four(j, quads, i, u, v);
}

/* Strips of a piece, two at a time, so that more is under way. */
FPEMU_FN void gpu_quantize_strips(const gpu_quantize_job *j, int form, int rule, int mode, int counted, int quads,
                                  int sums, int histogram, const gpu_words *words, gpu_lane *lane, double sum[LANES][3],
                                  const gpu_strips *strips)
{
    for (uint64_t s = 0; s < strips->count; s += 2)
        FOR_LANES(l)
        {
            const uint64_t index = strips->first + s * 128 + (quads ? 4 * l : l), i = index - j->call.offset;
            const int two = s + 1 < strips->count;
            uintw u[2][4];
            UNROLLED for (unsigned h = 0; h < 2; h++)
            {
                if (h == 0 || two)
                    gpu_load_four(j, quads, i + 128 * h, u[h]);
            }
            UNROLLED for (unsigned h = 0; h < 2; h++)
            {
                if (h == 0 || two)
                    gpu_round_four(j, form, rule, mode, counted, quads, sums, histogram, words, &OF(lane, l),
                                   OF(sum, l), index + 128 * h, i + 128 * h, u[h]);
            }
        }
}

/* Elements [from, to), a lane having every 32nd by index. */
FPEMU_FN void gpu_quantize_rows(const gpu_quantize_job *j, int form, int rule, int mode, int counted, int sums,
                                int histogram, const gpu_words *words, gpu_lane *lane, double sum[LANES][3],
                                uint64_t from, uint64_t to)
{
    for (uint64_t row = from & ~(uint64_t)31; row < to; row += 32)
        FOR_LANES(l)
        {
            const uint64_t index = row + l, i = index - j->call.offset;
            if (index < from || index >= to)
                continue;
            const uint32_t r = j->call.random.used ? gpu_bits(&j->call.random, words, &OF(lane, l), index) : 0;
            const uintw u = gpu_value(j, gpu_load_code(j->call.x, j->call.x_size, i));
            int over;
            int64_t q = 0;
            const uintw v = gpu_round_element(j, form, rule, mode, counted, u, r, &over, &q);
            gpu_store_code(j->call.y, j->call.y_size, i, gpu_result(j, form == GPU_FORM_FAST, u, v, q));
            if (counted)
                gpu_count(j, sums, histogram, &OF(lane, l), OF(sum, l), u, v, over);
        }
}

/* Rounds (or codes) elements, counting them if asked to. Where sums are made a lane has every 32nd element, and random
 * numbers by Philox come four at a time for such. rule: of the plan. */
FPEMU_FN void gpu_quantize(const gpu_quantize_job *j, int form, int rule, int mode, int counted, uint64_t warp,
                           uint64_t warps)
{
    const uint64_t begin = j->call.offset, end = begin + j->call.n, piece = j->call.piece;
    const int sums = counted && (j->call.counts->want & FPEMU_STATS_SUMS);
    const int histogram = counted && (j->call.counts->want & FPEMU_STATS_HISTOGRAM);
    const int quads = !sums && j->call.phase != GPU_NO_QUADS;
    const uint64_t phase = quads ? (begin + j->call.phase) & 3 : GPU_NO_QUADS;
    uint32_t pieces = 0;
    gpu_lane lane[LANES];
    double sum[LANES][3];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t b = begin / piece + warp; b * piece < end; b += warps) {
        const uint64_t from = b * piece < begin ? begin : b * piece, to = (b + 1) * piece < end ? (b + 1) * piece : end;
        const gpu_words words = gpu_words_begin(&j->call.random, from);
        gpu_strips strips = gpu_strips_of(from, to, phase);
        if (form != GPU_FORM_FAST)
            strips.count = 0;
        FOR_LANES(l)
        for (int k = 0; k < 3; k++)
            OF(sum, l)[k] = 0;
        NOT_UNROLLED for (int part = 0; part < 3; part++)
        {
            const uint64_t last = strips.first + strips.count * 128;
            if (part == 1 && form == GPU_FORM_FAST) {
                if (quads)
                    gpu_quantize_strips(j, form, rule, mode, counted, 1, 0, histogram, &words, lane, sum, &strips);
                else
                    gpu_quantize_strips(j, form, rule, mode, counted, 0, sums, histogram, &words, lane, sum, &strips);
            } else if (part != 1) {
                gpu_quantize_rows(j, form, rule, mode, counted, sums, histogram, &words, lane, sum, part ? last : from,
                                  part ? to : strips.first);
            }
        }
        if (sums)
            for (int k = 0; k < 3; k++) {
                double one[LANES];
                FOR_LANES(l) OF(one, l) = OF(sum, l)[k];
                const double total = lanes_fold(one);
                if (lanes_writer())
                    gpu_add_exact(j->call.counts, k, total);
            }
        if (counted && (++pieces & 0xfff) == 0)
            gpu_lane_flush(lane, j->call.counts);
    }
    if (counted)
        gpu_lane_flush(lane, j->call.counts);
}

/* The value of a code, as element of the output. */
GPU_PART uint64_t gpu_decoded(const gpu_quantize_job *j, int fast, uint64_t code)
{
    const uintw v = fast ? core_decode_fast(&j->coder, (uintw)(code & j->coder.mask)) : core_decode(&j->coder, code);
    return gpu_result(j, 1, 0, v, 0);
}

/* Those of elements [from, to), a lane having every 32nd. */
FPEMU_FN void gpu_decode_rows(const gpu_quantize_job *j, int fast, uint64_t from, uint64_t to, uint64_t warp,
                              uint64_t warps)
{
    for (uint64_t row = from + warp * 32; row < to; row += warps * 32)
        FOR_LANES(l)
    if (row + l < to)
        gpu_store_code(j->call.y, j->call.y_size, row + l,
                       gpu_decoded(j, fast, gpu_load_code(j->call.x, j->call.x_size, row + l)));
}

/* Codes to values. */
FPEMU_FN void gpu_decode(const gpu_quantize_job *j, uint64_t warp, uint64_t warps)
{
    const gpu_strips strips = gpu_strips_of(0, j->call.n, j->call.phase);
    if (!j->coder.fast_decode) {
        gpu_decode_rows(j, 0, 0, j->call.n, warp, warps);
        return;
    }
    if (j->call.phase == GPU_NO_QUADS) {
        gpu_decode_rows(j, 1, 0, j->call.n, warp, warps);
        return;
    }
    for (uint64_t strip = warp; strip < strips.count; strip += warps)
        FOR_LANES(l)
        {
            const uint64_t i = strips.first + strip * 128 + 4 * l;
            uint64_t element[4];
            gpu_load_quad(j->call.x, j->call.x_size, i, element);
            UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_decoded(j, 1, element[k]);
            gpu_store_quad(j->call.y, j->call.y_size, i, element);
        }
    gpu_decode_rows(j, 1, 0, strips.first, warp, warps);
    gpu_decode_rows(j, 1, strips.first + strips.count * 128, j->call.n, warp, warps);
}
