/* bodies.inc.h - what one warp does, for one carrier; read twice by bodies.h, with the names of core/carrier*.inc.h and
 *   JOB the job, GPU(name) the names here. `warp` of `warps` warps takes pieces warp, warp + warps, ... of the stream.
 */

/* An element of the input as carrier bits. 16-bit types have the quick forms of core/code.h. */
FPEMU_FN uintw gpu_value(const JOB *j, uint64_t element)
{
#if CARRIER_BITS == 32
    if (j->job.x_type != GPU_F32)
        return core_decode_fast(&j->narrow, (uintw)element);
#endif
    (void)j;
    return (uintw)element;
}

/* Result v for input u as element of the output; q: the integer behind v, affine formats only. quick: its form. */
GPU_PART uint64_t gpu_result(const JOB *j, int fast, uintw u, uintw v, int64_t q)
{
    if (j->job.y_type == GPU_CODES) {
        if (fast)
            return j->coder.fast_encode ? core_encode_fast(&j->coder, u, v) : core_encode_fixed(&j->coder, u, v);
        return j->plan.rule >= CORE_RULE_AFFINE_FAST ? core_encode_affine(&j->coder, u, v, q)
                                                     : core_encode(&j->coder, u, v);
    }
#if CARRIER_BITS == 32
    if (j->job.y_type != GPU_F32)
        return core_encode_fast(&j->narrow, v, v);
#endif
    return v;
}

/* One element in one of the forms of core/quick.h, r as the carrier's highest bits. */
FPEMU_FN uintw gpu_fast(const JOB *j, int rule, int mode, uintw u, uintw r)
{
    const core_plan *const p = &j->plan;
    switch (rule) {
    case CORE_RULE_FULL_RANGE: return core_element_full_range(p, mode, u, r);
    case CORE_RULE_SHIFTER_PASS: return core_element_pass(p, mode, u, r);
    case CORE_RULE_SHIFTER_STOP: return core_element_stop(p, mode, u, r);
    case CORE_RULE_SHIFTER_STOP_INF: return core_element_stop_inf(p, mode, u, r);
    case CORE_RULE_EVEN: return core_element_even(p, mode, u, r);
    case CORE_RULE_FULL_RANGE_GRID: return core_finish(p, u, core_element_full_range_grid(p, mode, u, r));
    default: return core_finish(p, u, core_element_shifter_grid(p, mode, u, r));
    }
}

/* One element: result for input u with random bits r; *over, if it is asked for: the grid value of a finite u lies
 * outside the ends. */
GPU_PART uintw gpu_round_element(const JOB *j, int form, int rule, int mode, int counted, uintw u, uint32_t r,
                                 int *over, int64_t *q)
{
    const uintw sign = u & CARRIER_SIGN, a = u ^ sign, random = (uintw)r << (CARRIER_BITS - 32);
    *over = 0;
    if (form == GPU_FORM_GENERAL)
        return core_element(&j->plan, &j->job.integers, u, r, over, q);
    if (form == GPU_FORM_FAST && !counted)
        return gpu_fast(j, rule, mode, u, random);
    uintw g;
    if (form == GPU_FORM_FAST)
        g = rule == CORE_RULE_FULL_RANGE || rule == CORE_RULE_FULL_RANGE_GRID
                ? core_element_full_range_grid(&j->plan, mode, u, random)
                : core_element_shifter_grid(&j->plan, mode, u, random);
    else
        g = core_grid(&j->plan, mode, form == GPU_FORM_ANY, j->plan.n, a, sign, random);
    *over = a < CARRIER_INF && g > CORE_BY_SIGN(u, j->plan.max);
    return form == GPU_FORM_ANY ? core_finish_any(&j->plan, u, g) : core_finish(&j->plan, u, g);
}

/* Counts one element and adds it to its lane's sums. */
GPU_PART void gpu_count(const JOB *j, int sums, int histogram, gpu_lane *lane, double sum[3], uintw u, uintw v,
                        int over)
{
    const uintw a = u & ~CARRIER_SIGN, c = v & ~CARRIER_SIGN;
    const int is_nan = a > CARRIER_INF, finite = a < CARRIER_INF;
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)is_nan;
    n[GPU_INFINITE] += a == CARRIER_INF;
    n[GPU_CLIPPED] += finite && a > CORE_BY_SIGN(u, j->plan.max);
    n[GPU_OVERFLOW] += (uint32_t)over;
    n[GPU_INVALID] += c > CARRIER_INF && !is_nan && !over;
    n[GPU_UNDERFLOW] += finite && a != 0 && c == 0;
    n[GPU_SUBNORMAL] += c != 0 && c < j->plan.min_normal;
    n[GPU_INEXACT] += finite && u != v && (a | c) != 0;
    if (!finite)
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
        shared_add(&j->job.counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
}

/* Four elements of the input: neighbours from i on, aligned, or every 32nd. */
FPEMU_FN void gpu_load_four(const JOB *j, int quads, uint64_t i, uintw u[4])
{
    uint64_t element[4];
#if CARRIER_BITS == 32
    const uint32_t size = j->job.x_type == GPU_F32 ? 4 : 2;
#else
    const uint32_t size = 8;
#endif
    if (quads)
        gpu_load_quad(j->job.x, size, i, element);
    else
        UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_load_code(j->job.x, size, i + 32 * k);
    UNROLLED for (unsigned k = 0; k < 4; k++) u[k] = gpu_value(j, element[k]);
}

/* Results v for inputs u, to the output. */
FPEMU_FN void gpu_store_four(const JOB *j, int quads, uint64_t i, const uintw u[4], const uintw v[4])
{
    uint64_t element[4];
    UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_result(j, 1, u[k], v[k], 0);
    if (quads)
        gpu_store_quad(j->job.y, j->job.y_size, i, element);
    else
        UNROLLED for (unsigned k = 0; k < 4; k++) gpu_store_code(j->job.y, j->job.y_size, i + 32 * k, element[k]);
}

/* A lane's part of a sheet, from place i of the arrays on: u becomes the results. */
FPEMU_FN void gpu_round_four(const JOB *j, int form, int rule, int mode, int counted, int quads, int sums,
                             int histogram, const gpu_words *words, gpu_lane *lane, double sum[3], uint64_t index,
                             uint64_t i, const uintw u[4])
{
    uint32_t r[4] = {0, 0, 0, 0};
    uintw v[4];
    if (mode >= FPEMU_MODE_SR)
        gpu_bits_of_four(&j->job.random, words, lane, index, quads ? 1 : 32, r);
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

/* Sheets of a piece, two at a time, so that more is under way. */
FPEMU_FN void gpu_convert_sheets(const JOB *j, int form, int rule, int mode, int counted, int quads, int sums,
                                 int histogram, const gpu_words *words, gpu_lane *lane, double sum[LANES][3],
                                 const gpu_sheets *sheets)
{
    for (uint64_t s = 0; s < sheets->count; s += 2)
        FOR_LANES(l)
        {
            const uint64_t index = sheets->first + s * 128 + (quads ? 4 * l : l), i = index - j->job.offset;
            const int two = s + 1 < sheets->count;
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
FPEMU_FN void gpu_convert_rows(const JOB *j, int form, int rule, int mode, int counted, int sums, int histogram,
                               const gpu_words *words, gpu_lane *lane, double sum[LANES][3], uint64_t from, uint64_t to)
{
    for (uint64_t row = from & ~(uint64_t)31; row < to; row += 32)
        FOR_LANES(l)
        {
            const uint64_t index = row + l, i = index - j->job.offset;
            if (index < from || index >= to)
                continue;
            const uint32_t r = j->job.random.used ? gpu_bits(&j->job.random, words, &OF(lane, l), index) : 0;
            const uintw u = gpu_value(j, gpu_load_code(j->job.x, j->job.x_size, i));
            int over;
            int64_t q = 0;
            const uintw v = gpu_round_element(j, form, rule, mode, counted, u, r, &over, &q);
            gpu_store_code(j->job.y, j->job.y_size, i, gpu_result(j, form == GPU_FORM_FAST, u, v, q));
            if (counted)
                gpu_count(j, sums, histogram, &OF(lane, l), OF(sum, l), u, v, over);
        }
}

/* Rounds (or codes) elements, counting them if asked to. Where sums are made a lane has every 32nd element, and random
 * numbers by Philox come four at a time for such. rule: of the plan. */
FPEMU_FN void gpu_convert(const JOB *j, int form, int rule, int mode, int counted, uint64_t warp, uint64_t warps)
{
    const uint64_t begin = j->job.offset, end = begin + j->job.n, piece = j->job.piece;
    const int sums = counted && (j->job.counts->want & FPEMU_STATS_SUMS);
    const int histogram = counted && (j->job.counts->want & FPEMU_STATS_HISTOGRAM);
    const int quads = !sums && j->job.phase != GPU_NO_QUADS;
    const uint64_t phase = quads ? (begin + j->job.phase) & 3 : GPU_NO_QUADS;
    uint32_t pieces = 0;
    gpu_lane lane[LANES];
    double sum[LANES][3];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t b = begin / piece + warp; b * piece < end; b += warps) {
        const uint64_t from = b * piece < begin ? begin : b * piece, to = (b + 1) * piece < end ? (b + 1) * piece : end;
        const gpu_words words = gpu_words_begin(&j->job.random, from);
        gpu_sheets sheets = gpu_sheets_of(from, to, phase);
        if (form != GPU_FORM_FAST)
            sheets.count = 0;
        FOR_LANES(l)
        for (int k = 0; k < 3; k++)
            OF(sum, l)[k] = 0;
        NOT_UNROLLED for (int part = 0; part < 3; part++)
        {
            const uint64_t last = sheets.first + sheets.count * 128;
            if (part == 1 && form == GPU_FORM_FAST) {
                if (quads)
                    gpu_convert_sheets(j, form, rule, mode, counted, 1, 0, histogram, &words, lane, sum, &sheets);
                else
                    gpu_convert_sheets(j, form, rule, mode, counted, 0, sums, histogram, &words, lane, sum, &sheets);
            } else if (part != 1) {
                gpu_convert_rows(j, form, rule, mode, counted, sums, histogram, &words, lane, sum, part ? last : from,
                                 part ? to : sheets.first);
            }
        }
        if (sums)
            for (int k = 0; k < 3; k++) {
                double one[LANES];
                FOR_LANES(l) OF(one, l) = OF(sum, l)[k];
                const double total = lanes_fold(one);
                if (lanes_writer())
                    gpu_add_exact(j->job.counts, k, total);
            }
        if (counted && (++pieces & 0xfff) == 0)
            gpu_lane_flush(lane, j->job.counts);
    }
    if (counted)
        gpu_lane_flush(lane, j->job.counts);
}

/* The value of a code, as element of the output. */
GPU_PART uint64_t gpu_decoded(const JOB *j, int fast, uint64_t code)
{
    const uintw v = fast ? core_decode_fast(&j->coder, (uintw)(code & j->coder.mask)) : core_decode(&j->coder, code);
    return gpu_result(j, 1, 0, v, 0);
}

/* Those of elements [from, to), a lane having every 32nd. */
FPEMU_FN void gpu_decode_rows(const JOB *j, int fast, uint64_t from, uint64_t to, uint64_t warp, uint64_t warps)
{
    for (uint64_t row = from + warp * 32; row < to; row += warps * 32)
        FOR_LANES(l)
    if (row + l < to)
        gpu_store_code(j->job.y, j->job.y_size, row + l,
                       gpu_decoded(j, fast, gpu_load_code(j->job.x, j->job.x_size, row + l)));
}

/* Codes to values. */
FPEMU_FN void gpu_decode(const JOB *j, uint64_t warp, uint64_t warps)
{
    const gpu_sheets sheets = gpu_sheets_of(0, j->job.n, j->job.phase);
    if (!j->coder.fast_decode) {
        gpu_decode_rows(j, 0, 0, j->job.n, warp, warps);
        return;
    }
    if (j->job.phase == GPU_NO_QUADS) {
        gpu_decode_rows(j, 1, 0, j->job.n, warp, warps);
        return;
    }
    for (uint64_t sheet = warp; sheet < sheets.count; sheet += warps)
        FOR_LANES(l)
        {
            const uint64_t i = sheets.first + sheet * 128 + 4 * l;
            uint64_t element[4];
            gpu_load_quad(j->job.x, j->job.x_size, i, element);
            UNROLLED for (unsigned k = 0; k < 4; k++) element[k] = gpu_decoded(j, 1, element[k]);
            gpu_store_quad(j->job.y, j->job.y_size, i, element);
        }
    gpu_decode_rows(j, 1, 0, sheets.first, warp, warps);
    gpu_decode_rows(j, 1, sheets.first + sheets.count * 128, j->job.n, warp, warps);
}
