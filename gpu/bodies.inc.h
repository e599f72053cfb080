/* bodies.inc.h - what one warp does, for one carrier; read twice by bodies.h, with the names of core/carrier*.inc.h and
 *   JOB the job, GPU(name) the names here. `warp` of `warps` warps takes pieces warp, warp + warps, ... of the stream. */

/* Element i of the input as carrier bits. */
FPEMU_FN CORE_UINT GPU(load)(const JOB *j, uint64_t i)
{
#if CORE_W == 32
    if (j->job.x_type != GPU_F32)
        return CORE(decode)(&j->narrow, ((const uint16_t *)j->job.x)[i]);
#endif
    return ((const CORE_UINT *)j->job.x)[i];
}

/* Stores result v for input u as element i; q: the integer behind v, affine formats only. */
FPEMU_FN void GPU(store)(const JOB *j, uint64_t i, CORE_UINT u, CORE_UINT v, int64_t q)
{
    if (j->job.y_type == GPU_CODES) {
        const uint64_t code = j->plan.rule >= CORE_RULE_SCALED ? CORE(encode_affine)(&j->coder, u, v, q)
                                                               : CORE(encode)(&j->coder, u, v);
        gpu_store_code(j->job.y, j->job.size, i, code);
        return;
    }
#if CORE_W == 32
    if (j->job.y_type != GPU_F32) {
        ((uint16_t *)j->job.y)[i] = (uint16_t)CORE(encode)(&j->narrow, v, v);
        return;
    }
#endif
    ((CORE_UINT *)j->job.y)[i] = v;
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

/* Rounds (or codes) elements, counting them if asked to. */
FPEMU_FN void GPU(convert)(const JOB *j, int form, int mode, int counted, uint64_t warp, uint64_t warps)
{
    const uint64_t begin = j->job.offset, end = begin + j->job.n, piece = j->job.piece;
    const int sums = counted && (j->job.counts->want & FPEMU_SUMS);
    const int histogram = counted && (j->job.counts->want & FPEMU_HISTOGRAM);
    gpu_lane lane[LANES];
    double sum[3][LANES];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t b = begin / piece + warp; b * piece < end; b += warps) {
        const gpu_words words = gpu_words_begin(&j->job.random, b * piece);
        if (sums)
            FOR_LANES(l)
                for (int k = 0; k < 3; k++)
                    OF(sum[k], l) = 0;
        for (uint64_t row = b * piece; row < (b + 1) * piece && row < end; row += 32)
            FOR_LANES(l)
            {
                const uint64_t index = row + l;
                if (index < begin || index >= end)
                    continue;
                const uint64_t i = index - begin;
                const uint32_t r = j->job.random.used ? gpu_bits(&j->job.random, &words, &OF(lane, l), index) : 0;
                const CORE_UINT u = GPU(load)(j, i);
                int over;
                int64_t q = 0;
                const CORE_UINT v = GPU(element)(j, form, mode, u, r, &over, &q);
                GPU(store)(j, i, u, v, q);
                if (counted) {
                    const CORE_UINT a = u & ~CORE_SIGN, c = v & ~CORE_SIGN;
                    uint32_t *const n = OF(lane, l).counter;
                    const int is_nan = a > CORE_INF, finite = a < CORE_INF;
                    n[GPU_NAN] += (uint32_t)is_nan;
                    n[GPU_INFINITE] += a == CORE_INF;
                    n[GPU_CLIPPED] += finite && a > j->plan.max[u != a];
                    n[GPU_OVERFLOW] += (uint32_t)over;
                    n[GPU_INVALID] += c > CORE_INF && !is_nan && !over;
                    n[GPU_UNDERFLOW] += finite && a != 0 && c == 0;
                    n[GPU_SUBNORMAL] += c != 0 && c < j->plan.min_normal;
                    n[GPU_INEXACT] += finite && u != v && (a | c) != 0;
                    if (finite) {
                        const double x = CORE_TO_DOUBLE(u), y = CORE_TO_DOUBLE(v), d = x - y;
                        gpu_lane_extrema(&OF(lane, l), x, c < CORE_INF ? d : 0);
                        if (sums && c < CORE_INF) {
                            OF(sum[0], l) += d < 0 ? -d : d;
                            OF(sum[1], l) += d * d;
                            OF(sum[2], l) += x * x;
                        }
                        if (histogram && a != 0)
                            shared_add(&j->job.counts->bins[gpu_bin(core_bits64(x) & ~(UINT64_C(1) << 63))], 1);
                    }
                }
            }
        if (sums)
            for (int k = 0; k < 3; k++) {
                const double total = lanes_fold(sum[k]);
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
    for (uint64_t row = warp * 32; row < j->job.n; row += warps * 32)
        FOR_LANES(l)
        {
            const uint64_t i = row + l;
            if (i >= j->job.n)
                continue;
            const uint64_t code = gpu_load_code(j->job.x, j->job.size, i);
            GPU(store)(j, i, 0, CORE(decode)(&j->coder, code), 0);
        }
}
