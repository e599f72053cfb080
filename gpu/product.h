/* product.h - dot products, one output a lane: the job and its kernel's body. Operands come rounded; neighbouring lanes
 * have neighbouring outputs, so that they read one number of a and neighbours of b. */
#ifndef FPEMU_GPU_PRODUCT_H
#define FPEMU_GPU_PRODUCT_H

#include "bodies.h"
#include "core/product.h"

/* Where an operand's numbers lie: steps from one output to the next, along k, from one product to the next; elements. */
typedef struct gpu_side {
    const void *p;
    int64_t step, step_k, stride;
} gpu_side;

typedef struct gpu_product_job {
    core_product rule;
    gpu_side a, b;           /* rows of op(A), columns of op(B) */
    void *c;
    int64_t step_row, step_column, stride;
    uint64_t m, n, batch;
    gpu_counts *counts;
    uint8_t reads_c;
} gpu_product_job;

FPEMU_STATIC_ASSERT(sizeof(gpu_product_job) <= 4096, "what a kernel may be given");

FPEMU_FN core_line gpu_line(const gpu_product_job *j, const gpu_side *s, uint64_t batch, uint64_t i)
{
    core_line line;
    const int64_t at = (int64_t)batch * s->stride + (int64_t)i * s->step;
    line.step = s->step_k;
    line.p = j->rule.wide ? (const void *)((const double *)s->p + at) : (const void *)((const float *)s->p + at);
    return line;
}

FPEMU_FN void gpu_product(const gpu_product_job *j, int counted, uint64_t warp, uint64_t warps)
{
    const uint64_t outputs = j->batch * j->m * j->n;
    gpu_lane lane[LANES];
    FOR_LANES(l) gpu_lane_begin(&OF(lane, l));
    for (uint64_t base = warp * 32; base < outputs; base += warps * 32) {
        FOR_LANES(l)
        {
            const uint64_t index = base + l;
            if (index >= outputs)
                continue;
            uint64_t rest = index;
            const uint64_t column = rest % j->n;
            rest /= j->n;
            const uint64_t row = rest % j->m, batch = rest / j->m;
            const int64_t at =
                (int64_t)batch * j->stride + (int64_t)row * j->step_row + (int64_t)column * j->step_column;
            const core_line a = gpu_line(j, &j->a, batch, row), b = gpu_line(j, &j->b, batch, column);
            double c = 0;
            if (j->reads_c)
                c = j->rule.wide ? ((const double *)j->c)[at] : (double)((const float *)j->c)[at];
            core_tally tally;
            memset(&tally, 0, sizeof tally);
            const double y = core_product_output(&j->rule, a, b, index, c, counted ? &tally : NULL);
            if (j->rule.wide)
                ((double *)j->c)[at] = y;
            else
                ((float *)j->c)[at] = (float)y;
            if (counted) {
                gpu_lane_take(&OF(lane, l), &tally.c);
                OF(lane, l).counter[GPU_ROUNDINGS] += (uint32_t)tally.roundings;
                OF(lane, l).counter[GPU_SWAMPED] += (uint32_t)tally.swamped;
            }
        }
        if (counted)
            gpu_lane_flush(lane, j->counts);
    }
}

#endif /* FPEMU_GPU_PRODUCT_H */
