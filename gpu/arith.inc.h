/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.inc.h - operations by arithmetic of a carrier and the forms of core/dot_fast.h, four elements a lane; read twice
 * by arith.h. */

/* An element of an operand as number, and back. */
FPEMU_FN realw gpu_arith_element(int type, uint64_t element)
{
#if CARRIER_BITS == 64
    if (type == GPU_F64)
        return core_value64(element);
#endif
    return (realw)core_value32(type == GPU_F32 ? (uint32_t)element : gpu_widen_fast(type, element));
}

FPEMU_FN uint64_t gpu_arith_result(int type, realw y)
{
#if CARRIER_BITS == 64
    if (type == GPU_F64)
        return core_bits64(y);
#endif
    const uint32_t u = core_bits32((float)y);
    return type == GPU_F32 ? u : gpu_narrow(type, u);
}

/* The result for operands x, rounded; r: random bits. */
FPEMU_FN realw gpu_arith_number(const gpu_arith_job *j, const core_dot_fast *g, int operation, int form,
                                const realw x[3], uint32_t r)
{
    realw y;
    if (operation == FPEMU_OPERATION_MINIMUM) {
        y = (realw)gpu_extremum(j->work, (double)x[0], (double)x[1]);
        y = form == CORE_DOT_NATIVE ? y : core_dot_taken(g, form, y, (uintw)r << (CARRIER_BITS - 32));
    } else {
        const int minus = operation == FPEMU_OPERATION_ADD && j->work == FPEMU_OPERATION_SUB;
        y = core_dot_operation(g, form, operation, x[0], minus ? -x[1] : x[1], x[2], r);
    }
    return form == CORE_DOT_ANY || y == y ? y : core_value(CARRIER_NAN);
}

/* Four neighbours, aligned, their type a constant. */
FPEMU_FN void gpu_arith_four(const gpu_arith_job *j, const core_dot_fast *g, int operation, int form, int type,
                             const gpu_words *words, gpu_lane *lane, uint64_t i)
{
    const unsigned count = operation == FPEMU_OPERATION_SQRT ? 1 : operation == FPEMU_OPERATION_FMA ? 3 : 2;
    const uint32_t size = type == GPU_F64 ? 8 : type == GPU_F32 ? 4 : 2;
    uint64_t element[3][4], out[4];
    uint32_t r[4] = {0, 0, 0, 0};
    UNROLLED for (unsigned o = 0; o < count; o++) {
        if (j->step[o])
            gpu_load_quad(j->operand[o], size, i, element[o]);
        else
            element[o][0] = element[o][1] = element[o][2] = element[o][3] = gpu_load_code(j->operand[o], size, 0);
    }
    if (j->random.used)
        gpu_bits_of_four(&j->random, words, lane, j->offset + i, 1, r);
    UNROLLED for (unsigned k = 0; k < 4; k++) {
        realw x[3] = {0, 0, 0};
        UNROLLED for (unsigned o = 0; o < count; o++)
            x[o] = gpu_arith_element(type, element[o][k]);
        const realw y = gpu_arith_number(j, g, operation, form, x, r[k]);
        out[k] = type == GPU_F64 ? gpu_arith_result(type, y) : core_bits32((float)y);
    }
    if (size == 2) { /* every number of the format is one of the type */
        const uint32_t pair[2] = {gpu_narrow_two(type, (uint32_t)out[0], (uint32_t)out[1]),
                                  gpu_narrow_two(type, (uint32_t)out[2], (uint32_t)out[3])};
        gpu_store_pairs(j->y, i, pair);
    } else {
        gpu_store_quad(j->y, size, i, out);
    }
}

/* Up to four elements 32 apart, below `end`. */
FPEMU_FN void gpu_arith_some(const gpu_arith_job *j, const core_dot_fast *g, int operation, int form,
                             const gpu_words *words, gpu_lane *lane, uint64_t i, uint64_t end)
{
    const unsigned count = operation == FPEMU_OPERATION_SQRT ? 1 : operation == FPEMU_OPERATION_FMA ? 3 : 2;
    const uint32_t size = j->type == GPU_F64 ? 8 : j->type == GPU_F32 ? 4 : 2;
    NOT_UNROLLED for (; i < end; i += 32) {
        realw x[3] = {0, 0, 0};
        UNROLLED for (unsigned o = 0; o < count; o++)
            x[o] = gpu_arith_element(j->type, gpu_load_code(j->operand[o], size, j->step[o] ? i : 0));
        const uint32_t r = j->random.used ? gpu_bits(&j->random, words, lane, j->offset + i) : 0;
        gpu_store_code(j->y, size, i, gpu_arith_result(j->type, gpu_arith_number(j, g, operation, form, x, r)));
    }
}

/* Strips of 128 elements, the first shorter, so that the others lie aligned. */
FPEMU_FN void gpu_arith_fast_of(const gpu_arith_job *j, const core_dot_fast *g, int operation, int form, uint64_t warp,
                                uint64_t warps)
{
    const uint64_t head = gpu_arith_head(j), strips = gpu_arith_strips(j);
    uint64_t high = j->offset >> 32;
    gpu_words words = gpu_words_begin(&j->random, j->offset);
    gpu_lane lane[LANES];
    FOR_LANES(l)
        OF(lane, l).philox_valid = 0;
    for (uint64_t s = warp; s < strips; s += warps) {
        const uint64_t from = s ? head + (s - 1) * 128 : 0, to = s ? core_smaller(j->n, from + 128) : head;
        for (uint64_t at = from, end; at < to; at = end) {
            end = core_smaller(to, at + (UINT64_C(1) << 32) - (uint32_t)(j->offset + at)); /* words of one key */
            if ((j->offset + at) >> 32 != high) {
                high = (j->offset + at) >> 32;
                words = gpu_words_begin(&j->random, j->offset + at);
            }
            const int quads = j->phase != GPU_NO_QUADS && s && end - at == 128;
            FOR_LANES(l) {
                const uint64_t i = at + 4 * l;
                if (!quads)
                    gpu_arith_some(j, g, operation, form, &words, &OF(lane, l), at + l, end);
                else if (CARRIER_BITS == 64 && j->type == GPU_F64)
                    gpu_arith_four(j, g, operation, form, GPU_F64, &words, &OF(lane, l), i);
                else if (j->type == GPU_F32)
                    gpu_arith_four(j, g, operation, form, GPU_F32, &words, &OF(lane, l), i);
                else if (j->type == GPU_BF16)
                    gpu_arith_four(j, g, operation, form, GPU_BF16, &words, &OF(lane, l), i);
                else
                    gpu_arith_four(j, g, operation, form, GPU_F16, &words, &OF(lane, l), i);
            }
        }
    }
}

/* operation: a constant, ADD for differences and MINIMUM for all its like too; any: whether the form is CORE_DOT_ANY or
 * another that has no loop here. */
FPEMU_FN void gpu_arith_fast(const gpu_arith_job *j, const core_dot_fast *g, int operation, int any, uint64_t warp,
                             uint64_t warps)
{
    if (any)
        gpu_arith_fast_of(j, g, operation, CORE_DOT_ANY, warp, warps);
    else if (g->form == CORE_DOT_NATIVE)
        gpu_arith_fast_of(j, g, operation, CORE_DOT_NATIVE, warp, warps);
    else if (g->form == CORE_DOT_NEAREST)
        gpu_arith_fast_of(j, g, operation, CORE_DOT_NEAREST, warp, warps);
    else
        gpu_arith_fast_of(j, g, operation, CARRIER_BITS == 64 ? CORE_DOT_STOCHASTIC : CORE_DOT_FULL_RANGE, warp, warps);
}
