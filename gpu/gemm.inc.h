/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.inc.h - tiles of products by the forms of core/dot_fast.h, for one carrier; read twice by gemm.h. A thread has
 * four by four outputs, so that a number it reads serves four of them. */
#define gpu_mac_tile CARRIER(gpu_mac_tile)
#define gpu_mac_sums CARRIER(gpu_mac_sums)
#define gpu_mac_begin CARRIER(gpu_mac_begin)
#define gpu_mac_end CARRIER(gpu_mac_end)
#define gpu_mac_fill CARRIER(gpu_mac_fill)
#define gpu_mac_join CARRIER(gpu_mac_join)
#define gpu_mac_step CARRIER(gpu_mac_step)
#define gpu_mac_slab CARRIER(gpu_mac_slab)
#define gpu_macs_of CARRIER(gpu_macs_of)

/* Products of a slab. */
#define GPU_DEEP (1024 / CARRIER_BITS)

/* Product k of every row and column: neighbours lie together, and rows are longer for the banks' sake. */
typedef struct GPU_ALIGNED gpu_mac_tile {
    realw a[GPU_DEEP][GPU_WIDE + 4], b[GPU_DEEP][GPU_WIDE + 4];
    core_hash_key key[GPU_DEEP]; /* of the roundings of the sums, where they are stochastic */
} gpu_mac_tile;

/* Outputs of a thread: where the sum has chunks, `s` of them and of the one at hand, which ends after `left` products. */
typedef struct gpu_mac_sums {
    realw s[GPU_SQUARE], outer[GPU_SQUARE];
    uint32_t place[GPU_SQUARE]; /* of its random words, for core_hash_rest */
    uint64_t left;
} gpu_mac_sums;

FPEMU_FN void gpu_mac_fill(const gpu_gemm_job *j, const gpu_operand *s, uint64_t batch, uint64_t first, uint64_t rows,
                           uint64_t from, uint32_t n, realw (*to)[GPU_WIDE + 4])
{
    const int along = s->step_k == 1 || s->step_k == -1;
    const int64_t begin = (int64_t)batch * s->stride + (int64_t)first * s->step + (int64_t)from * s->step_k;
    FOR_THREADS(t)
    {
        realw x[GPU_WIDE * GPU_DEEP / THREADS];
        UNROLLED for (uint32_t i = 0; i < GPU_WIDE * GPU_DEEP / THREADS; i++)
        {
            const uint32_t place = i * THREADS + t;
            const uint32_t row = along ? place / GPU_DEEP : place % GPU_WIDE;
            const uint32_t k = along ? place % GPU_DEEP : place / GPU_WIDE;
            const int64_t at = begin + (int64_t)row * s->step + (int64_t)k * s->step_k;
            x[i] = 0;
            if (first + row < rows && k < n)
                x[i] = CARRIER_BITS == 64 && j->rule.wide ? (realw)((const double *)s->p)[at]
                                                          : (realw)((const float *)s->p)[at];
        }
        UNROLLED for (uint32_t i = 0; i < GPU_WIDE * GPU_DEEP / THREADS; i++)
        {
            const uint32_t place = i * THREADS + t;
            if (along)
                to[place % GPU_DEEP][place / GPU_DEEP] = x[i];
            else
                to[place / GPU_WIDE][place % GPU_WIDE] = x[i];
        }
    }
}

/* Chunk number `chunk` ends: sums go into those outside. The rest is long, and for one at a time. */
FPEMU_FN void gpu_mac_join(const gpu_gemm_job *j, const core_dot_fast *outer, const gpu_outputs *o, uint64_t chunk,
                           gpu_mac_sums *w)
{
    const core_target *const g = &j->rule.outer;
    const uint64_t inside = j->rule.model == FPEMU_MODEL_FUSED ? 0 : core_smaller((chunk + 1) * j->rule.chunk, j->rule.depth);
    const uint64_t number = inside + chunk;
    if (outer->form == CORE_DOT_NATIVE) {
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) w->outer[i] =
            core_dot_operation(outer, CORE_DOT_NATIVE, FPEMU_OPERATION_ADD, w->s[i], w->outer[i], 0, 0);
    } else if (outer->form == CORE_DOT_NEAREST) {
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) w->outer[i] =
            core_dot_operation(outer, CORE_DOT_NEAREST, FPEMU_OPERATION_ADD, w->s[i], w->outer[i], 0, 0);
    } else {
        realw s[GPU_SQUARE], sum[GPU_SQUARE];
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) s[i] = w->s[i], sum[i] = w->outer[i];
        NOT_UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        {
            const uint32_t r = core_target_bits(g, number, gpu_output_index(j, o, i));
            sum[i] = core_dot_operation(outer, CORE_DOT_ANY, FPEMU_OPERATION_ADD, s[i], sum[i], 0, r);
        }
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) w->outer[i] = sum[i];
    }
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) w->s[i] = 0;
}

/* Product k of the tile, product `number` of the sum. */
FPEMU_FN void gpu_mac_step(const gpu_gemm_job *j, int form, const core_dot_fast *inner, const gpu_mac_tile *tile,
                           const gpu_outputs *o, unsigned t, uint32_t k, uint64_t number, gpu_mac_sums *w)
{
    const realw *const a = &tile->a[k][t / GPU_SIDE * GPU_EACH], *const b = &tile->b[k][t % GPU_SIDE * GPU_EACH];
    if (form == CORE_DOT_ANY) {
        const uint64_t chunk = j->rule.chunk ? number / j->rule.chunk : 0;
        NOT_UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        {
            const uint32_t r = core_target_bits(&j->rule.inner, number + chunk, gpu_output_index(j, o, i));
            w->s[i] = core_dot_operation(inner, form, FPEMU_OPERATION_FMA, a[i / GPU_EACH], b[i % GPU_EACH], w->s[i], r);
        }
        return;
    }
    realw x[GPU_EACH], y[GPU_EACH];
    UNROLLED for (unsigned i = 0; i < GPU_EACH; i++) x[i] = a[i], y[i] = b[i];
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
    {
        uint32_t r = 0;
        if (form == CORE_DOT_STOCHASTIC)
            r = core_hash_rest(tile->key[k], w->place[i] ^ core_hash_lead(tile->key[k], 0));
        w->s[i] = core_dot_operation(inner, form, FPEMU_OPERATION_FMA, x[i / GPU_EACH], y[i % GPU_EACH], w->s[i], r);
    }
}

/* Products [from, from + n) of a thread's outputs. */
FPEMU_FN void gpu_mac_slab(const gpu_gemm_job *j, int form, int chunked, const core_dot_fast *inner,
                           const core_dot_fast *outer, const gpu_mac_tile *tile, const gpu_outputs *o, unsigned t,
                           uint64_t from, uint32_t n, gpu_mac_sums *w)
{
    for (uint32_t k = 0; k < n;) {
        const uint32_t end = chunked ? k + (uint32_t)core_smaller(n - k, w->left) : n;
        if (chunked)
            w->left -= end - k;
        for (; k < end; k++)
            gpu_mac_step(j, form, inner, tile, o, t, k, from + k, w);
        if (chunked && (w->left == 0 || from + k == j->rule.depth)) {
            gpu_mac_join(j, outer, o, (from + k - 1) / j->rule.chunk, w);
            w->left = j->rule.chunk;
        }
    }
}

/* A thread's outputs before the first product. */
FPEMU_FN void gpu_mac_begin(const gpu_gemm_job *j, int chunked, uint64_t batch, uint64_t top, uint64_t left, unsigned t,
                            gpu_outputs *o, gpu_mac_sums *w)
{
    o->batch = batch;
    o->row = top + t / GPU_SIDE * GPU_EACH;
    o->column = left + t % GPU_SIDE * GPU_EACH;
    w->left = j->rule.chunk;
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
    {
        realw s = 0;
        if (j->rule.start_from_c && gpu_output_is_inside(j, o, i))
            s = (realw)gpu_outputs_begin(j, gpu_gemm_old(j, gpu_output_place(j, o, i)));
        w->s[i] = chunked ? 0 : s;
        w->outer[i] = s;
    }
}

FPEMU_FN void gpu_mac_end(const gpu_gemm_job *j, int chunked, const gpu_outputs *o, const gpu_mac_sums *w)
{
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        gpu_outputs_end(j, o, i, (double)(chunked ? w->outer[i] : w->s[i]));
}

/* form: of the sums' rounding; chunked: whether they have chunks. */
FPEMU_FN void gpu_macs_of(const gpu_gemm_job *j, int form, int chunked, const core_dot_fast *inner,
                          const core_dot_fast *outer, gpu_mac_tile *tile, uint64_t block, uint64_t blocks)
{
    const uint64_t across = (j->n + GPU_WIDE - 1) / GPU_WIDE, down = (j->m + GPU_WIDE - 1) / GPU_WIDE;
    const core_dot *const p = &j->rule;
    for (uint64_t b = block; b < across * down * j->batch; b += blocks) {
        gpu_mac_sums sums[HELD];
        gpu_outputs outputs[HELD];
        const uint64_t left = b % across * GPU_WIDE, top = b / across % down * GPU_WIDE, batch = b / across / down;
        FOR_THREADS(t)
        {
            gpu_mac_begin(j, chunked, batch, top, left, t, &OF(outputs, t), &OF(sums, t));
            if (form == CORE_DOT_STOCHASTIC)
                UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
                {
                    const uint32_t low = (uint32_t)(p->inner.offset + gpu_output_index(j, &OF(outputs, t), i));
                    OF(sums, t).place[i] = low ^ low >> 17;
                }
        }
        for (uint64_t k = 0; k < p->depth; k += GPU_DEEP) {
            const uint32_t n = (uint32_t)core_smaller(GPU_DEEP, p->depth - k);
            gpu_mac_fill(j, &j->a, batch, top, j->m, k, n, tile->a);
            gpu_mac_fill(j, &j->b, batch, left, j->n, k, n, tile->b);
            if (form == CORE_DOT_STOCHASTIC)
                FOR_THREADS(t)
                if (t < n)
                    tile->key[t] = core_hash_keys(
                        p->inner.seed,
                        core_dot_stream(p->inner.stream, k + t + (chunked ? (k + t) / p->chunk : 0)),
                        p->inner.offset >> 32);
            threads_meet();
            FOR_THREADS(t)
            gpu_mac_slab(j, form, chunked, inner, outer, tile, &OF(outputs, t), t, k, n, &OF(sums, t));
            threads_meet();
        }
        FOR_THREADS(t)
        gpu_mac_end(j, chunked, &OF(outputs, t), &OF(sums, t));
    }
}
#undef GPU_DEEP
