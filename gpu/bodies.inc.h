/* bodies.inc.h - what one warp does, for one carrier; read twice by bodies.h, with the names of core/carrier*.inc.h and
 *   JOB the job, GPU(name) the names here. `warp` of `warps` warps takes pieces warp, warp + warps, ... of the stream.
 */

/* An element of the input as carrier bits. */
FPEMU_FN CORE_UINT GPU(value)(const JOB *j, uint64_t element)
{
#if CORE_W == 32
    if (j->job.x_type != GPU_F32)
        return CORE(decode)(&j->narrow, element);
#endif
    (void)j;
    return (CORE_UINT)element;
}

/* Result v for input u as element of the output; q: the integer behind v, affine formats only. */
FPEMU_FN uint64_t GPU(result)(const JOB *j, CORE_UINT u, CORE_UINT v, int64_t q)
{
    if (j->job.y_type == GPU_CODES)
        return j->plan.rule >= CORE_RULE_SCALED ? CORE(encode_affine)(&j->coder, u, v, q)
                                                : CORE(encode)(&j->coder, u, v);
#if CORE_W == 32
    if (j->job.y_type != GPU_F32)
        return CORE(encode)(&j->narrow, v, v);
#endif
    return v;
}

/* One element: result for input u with random bits r; *over: the grid value of a finite u lies outside the ends. */
FPEMU_FN CORE_UINT GPU(element)(const JOB *j, int form, int mode, CORE_UINT u, uint32_t r, int *over, int64_t *q)
{
    if (form == GPU_FORM_GENERAL)
        return CORE(element)(&j->plan, &j->job.integers, u, r, over, q);
    const CORE_UINT sign = u & CORE_SIGN, a = u ^ sign;
    const CORE_UINT g =
        CORE(grid)(&j->plan, mode, form == GPU_FORM_ANY, j->plan.n, a, sign, (CORE_UINT)r << (CORE_W - 32));
    *over = a < CORE_INF && g > j->plan.max[sign != 0];
    return form == GPU_FORM_ANY ? CORE(finish_any)(&j->plan, u, g) : CORE(finish)(&j->plan, u, g);
}

/* Counts one element and adds it to its lane's sums. */
FPEMU_FN void GPU(count)(const JOB *j, int sums, int histogram, gpu_lane *lane, double sum[3], CORE_UINT u, CORE_UINT v,
                         int over)
{
    const CORE_UINT a = u & ~CORE_SIGN, c = v & ~CORE_SIGN;
    const int is_nan = a > CORE_INF, finite = a < CORE_INF;
    uint32_t *const n = lane->counter;
    n[GPU_NAN] += (uint32_t)is_nan;
    n[GPU_INFINITE] += a == CORE_INF;
    n[GPU_CLIPPED] += finite && a > j->plan.max[u != a];
    n[GPU_OVERFLOW] += (uint32_t)over;
    n[GPU_INVALID] += c > CORE_INF && !is_nan && !over;
    n[GPU_UNDERFLOW] += finite && a != 0 && c == 0;
    n[GPU_SUBNORMAL] += c != 0 && c < j->plan.min_normal;
    n[GPU_INEXACT] += finite && u != v && (a | c) != 0;
    if (!finite)
        return;
    const double x = CORE_TO_DOUBLE(u), y = CORE_TO_DOUBLE(v), d = x - y;
    gpu_lane_extrema(lane, x, c < CORE_INF ? d : 0);
    if (sums && c < CORE_INF) {
        sum[0] += d < 0 ? -d : d;
        sum[1] += d * d;
        sum[2] += x * x;
    }
    if (histogram && a != 0)
        shared_add(&j->job.counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
}

/* Rounds (or codes) elements, counting them if asked to. Where sums are made a lane has every 32nd element. */
FPEMU_FN void GPU(convert)(const JOB *j, int form, int mode, int counted, uint64_t warp, uint64_t warps)
{
    const uint64_t begin = j->job.offset, end = begin + j->job.n, piece = j->job.piece;
    const int sums = counted && (j->job.counts->want & FPEMU_SUMS);
    const int histogram = counted && (j->job.counts->want & FPEMU_HISTOGRAM);
    const uint64_t phase = sums || j->job.phase == GPU_NO_QUADS ? GPU_NO_QUADS : (begin + j->job.phase) & 3;
    gpu_lane lane[LANES];
    double sum[LANES][3];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t b = begin / piece + warp; b * piece < end; b += warps) {
        const gpu_words words = gpu_words_begin(&j->job.random, b * piece);
        const gpu_sheets sheets =
            gpu_sheets_of(b * piece < begin ? begin : b * piece, (b + 1) * piece < end ? (b + 1) * piece : end, phase);
        if (sums)
            FOR_LANES(l)
        for (int k = 0; k < 3; k++)
            OF(sum, l)[k] = 0;
        for (uint64_t sheet = 0; sheet < sheets.all; sheet++) {
            uint64_t element[LANES][4];
            FOR_LANES(l)
            {
                if (sheet < sheets.quads) {
                    const uint64_t at = gpu_sheet_place(&sheets, sheet, l, 0);
                    if (at < sheets.to)
                        gpu_load_quad(j->job.x, j->job.x_size, at - begin, OF(element, l));
                    continue;
                }
                for (unsigned k = 0; k < 4; k++) {
                    const uint64_t at = gpu_sheet_place(&sheets, sheet, l, k);
                    if (at < sheets.to)
                        OF(element, l)[k] = gpu_load_code(j->job.x, j->job.x_size, at - begin);
                }
            }
            FOR_LANES(l)
            {
                for (unsigned k = 0; k < 4; k++) {
                    const uint64_t index = gpu_sheet_place(&sheets, sheet, l, k);
                    if (index >= sheets.to)
                        continue;
                    const uint32_t r = j->job.random.used ? gpu_bits(&j->job.random, &words, &OF(lane, l), index) : 0;
                    const CORE_UINT u = GPU(value)(j, OF(element, l)[k]);
                    int over;
                    int64_t q = 0;
                    const CORE_UINT v = GPU(element)(j, form, mode, u, r, &over, &q);
                    OF(element, l)[k] = GPU(result)(j, u, v, q);
                    if (counted)
                        GPU(count)(j, sums, histogram, &OF(lane, l), OF(sum, l), u, v, over);
                    if (sheet >= sheets.quads)
                        gpu_store_code(j->job.y, j->job.y_size, index - begin, OF(element, l)[k]);
                }
                const uint64_t at = gpu_sheet_place(&sheets, sheet, l, 0);
                if (sheet < sheets.quads && at < sheets.to)
                    gpu_store_quad(j->job.y, j->job.y_size, at - begin, OF(element, l));
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
        if (counted)
            gpu_lane_flush(lane, j->job.counts);
    }
}

/* Codes to values. */
FPEMU_FN void GPU(decode)(const JOB *j, uint64_t warp, uint64_t warps)
{
    const gpu_sheets sheets = gpu_sheets_of(0, j->job.n, j->job.phase);
    for (uint64_t sheet = warp; sheet < sheets.all; sheet += warps)
        FOR_LANES(l)
        {
            const uint64_t first = gpu_sheet_place(&sheets, sheet, l, 0);
            const int quad = sheet < sheets.quads;
            uint64_t element[4];
            if (quad && first < sheets.to)
                gpu_load_quad(j->job.x, j->job.x_size, first, element);
            for (unsigned k = 0; k < 4; k++) {
                const uint64_t i = gpu_sheet_place(&sheets, sheet, l, k);
                if (i >= sheets.to)
                    continue;
                const uint64_t code = quad ? element[k] : gpu_load_code(j->job.x, j->job.x_size, i);
                element[k] = GPU(result)(j, 0, CORE(decode)(&j->coder, code), 0);
                if (!quad)
                    gpu_store_code(j->job.y, j->job.y_size, i, element[k]);
            }
            if (quad && first < sheets.to)
                gpu_store_quad(j->job.y, j->job.y_size, first, element);
        }
}
