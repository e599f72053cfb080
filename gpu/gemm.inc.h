/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.inc.h - tiles of products by the forms of core/dot_fast.h, for one carrier; read twice by gemm.h. A thread has
 * four by four outputs, so that a number it reads serves four of them. */

/* Products of a slab. */
#define GPU_DEEP (1024 / CARRIER_BITS)

/* Product k of every row and column: neighbours lie together, and rows are longer for the banks' sake. */
typedef struct GPU_ALIGNED gpu_mac_tile {
    realw a[GPU_DEEP][GPU_WIDE + 4], b[GPU_DEEP][GPU_WIDE + 4];
    core_hash_key key[GPU_DEEP]; /* of the roundings of the sums, where they are stochastic */
} gpu_mac_tile;

/* Outputs of a thread. outer: where sums have chunks, of them, and `s` is of the one at hand, which ends after `left`
 * products; Kahan's e. */
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
    FOR_THREADS(t) {
        realw x[GPU_WIDE * GPU_DEEP / THREADS];
        UNROLLED for (uint32_t i = 0; i < GPU_WIDE * GPU_DEEP / THREADS; i++) {
            const uint32_t place = i * THREADS + t;
            const uint32_t row = along ? place / GPU_DEEP : place % GPU_WIDE;
            const uint32_t k = along ? place % GPU_DEEP : place / GPU_WIDE;
            const int64_t at = begin + (int64_t)row * s->step + (int64_t)k * s->step_k;
            x[i] = 0;
            if (first + row < rows && k < n)
                x[i] = CARRIER_BITS == 64 && j->rule.wide ? (realw)((const double *)s->p)[at]
                                                          : (realw)((const float *)s->p)[at];
        }
        UNROLLED for (uint32_t i = 0; i < GPU_WIDE * GPU_DEEP / THREADS; i++) {
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
    const uint64_t products = core_smaller((chunk + 1) * j->rule.chunk, j->rule.depth);
    const uint64_t number = chunk + (j->rule.model == FPEMU_MODEL_FUSED ? 0 : products * (1u + j->rule.product.given));
    if (outer->form == CORE_DOT_NATIVE) {
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
            w->outer[i] = core_dot_operation(outer, CORE_DOT_NATIVE, FPEMU_OPERATION_ADD, w->s[i], w->outer[i], 0, 0);
    } else if (outer->form == CORE_DOT_NEAREST) {
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
            w->outer[i] = core_dot_operation(outer, CORE_DOT_NEAREST, FPEMU_OPERATION_ADD, w->s[i], w->outer[i], 0, 0);
    } else {
        realw s[GPU_SQUARE], sum[GPU_SQUARE];
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
            s[i] = w->s[i], sum[i] = w->outer[i];
        NOT_UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
            const uint32_t r = core_target_bits(g, number, gpu_output_index(j, o, i));
            sum[i] = core_dot_operation(outer, CORE_DOT_ANY, FPEMU_OPERATION_ADD, s[i], sum[i], 0, r);
        }
        UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
            w->outer[i] = sum[i];
    }
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        w->s[i] = 0;
}

/* One product in the model's roundings, the form a constant; r: random bits of each rounding. */
FPEMU_FN void gpu_mac_one(const core_dot_fast *inner, int form, int model, realw x, realw y, const uint32_t r[4],
                          realw *s, realw *outer)
{
    if (model != FPEMU_MODEL_KAHAN) {
        *s = core_dot_operation(inner, form, FPEMU_OPERATION_FMA, x, y, *s, r[0]);
        return;
    }
    const realw d = core_dot_operation(inner, form, FPEMU_OPERATION_FMA, x, y, -*outer, r[0]);
    const realw sum = core_dot_operation(inner, form, FPEMU_OPERATION_ADD, *s, d, 0, r[1]);
    const realw e = core_dot_operation(inner, form, FPEMU_OPERATION_ADD, sum, -*s, 0, r[2]);
    *outer = core_dot_operation(inner, form, FPEMU_OPERATION_ADD, e, -d, 0, r[3]);
    *s = sum;
}

/* The same by long forms, one output after the other: products may be rounded first. */
FPEMU_FN void gpu_mac_long(const gpu_gemm_job *j, int model, const core_dot_fast *inner, const core_dot_fast *product,
                           const realw *a, const realw *b, const gpu_outputs *o, uint64_t k, gpu_mac_sums *w)
{
    const unsigned given = j->rule.product.given, roundings = model == FPEMU_MODEL_KAHAN ? 4 : 1;
    const uint64_t number = k * (given + roundings) + (j->rule.chunk ? k / j->rule.chunk : 0);
    NOT_UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
        const uint64_t index = gpu_output_index(j, o, i);
        uint32_t r[4] = {0, 0, 0, 0};
        realw x = a[i / GPU_EACH], y = b[i % GPU_EACH];
        if (given) {
            x = core_dot_operation(product, CORE_DOT_ANY, FPEMU_OPERATION_MUL, x, y, 0,
                                   core_target_bits(&j->rule.product, number, index));
            y = 1;
        }
        if (j->rule.inner.stochastic) UNROLLED
            for (unsigned q = 0; q < 4; q++)
                if (q < roundings)
                    r[q] = core_target_bits(&j->rule.inner, number + given + q, index);
        gpu_mac_one(inner, CORE_DOT_ANY, model, x, y, r, &w->s[i], &w->outer[i]);
    }
}

/* Product k of the tile, product `number` of the sum. */
FPEMU_FN void gpu_mac_step(const gpu_gemm_job *j, int form, int model, const gpu_macs_of *f, const gpu_mac_tile *tile,
                           const gpu_outputs *o, unsigned t, uint32_t k, uint64_t number, gpu_mac_sums *w)
{
    const realw *const a = &tile->a[k][t / GPU_SIDE * GPU_EACH], *const b = &tile->b[k][t % GPU_SIDE * GPU_EACH];
    if (form == CORE_DOT_ANY) {
        gpu_mac_long(j, model, &f->inner, &f->product, a, b, o, number, w);
        return;
    }
    realw x[GPU_EACH], y[GPU_EACH];
    UNROLLED for (unsigned i = 0; i < GPU_EACH; i++)
        x[i] = a[i], y[i] = b[i];
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
        uint32_t r[4] = {0, 0, 0, 0};
        if (form == CORE_DOT_STOCHASTIC)
            r[0] = core_hash_rest(tile->key[k], w->place[i] ^ core_hash_lead(tile->key[k], 0));
        gpu_mac_one(&f->inner, form, model, x[i / GPU_EACH], y[i % GPU_EACH], r, &w->s[i], &w->outer[i]);
    }
}

/* Products [from, from + n) of a thread's outputs. */
FPEMU_FN void gpu_mac_slab(const gpu_gemm_job *j, int form, int model, const gpu_macs_of *f, const gpu_mac_tile *tile,
                           const gpu_outputs *o, unsigned t, uint64_t from, uint32_t n, gpu_mac_sums *w)
{
    const int chunked = model == FPEMU_MODEL_CHUNKED;
    for (uint32_t k = 0; k < n;) {
        const uint32_t end = chunked ? k + (uint32_t)core_smaller(n - k, w->left) : n;
        if (chunked)
            w->left -= end - k;
        for (; k < end; k++)
            gpu_mac_step(j, form, model, f, tile, o, t, k, from + k, w);
        if (chunked && (w->left == 0 || from + k == j->rule.depth)) {
            gpu_mac_join(j, &f->outer, o, (from + k - 1) / j->rule.chunk, w);
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
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++) {
        realw s = 0;
        if (j->rule.start_from_c && gpu_output_is_inside(j, o, i))
            s = (realw)gpu_outputs_begin(j, gpu_gemm_old(j, gpu_output_place(j, o, i)));
        w->s[i] = chunked ? 0 : s;
        w->outer[i] = chunked ? s : 0;
    }
}

FPEMU_FN void gpu_mac_end(const gpu_gemm_job *j, int chunked, const gpu_outputs *o, const gpu_mac_sums *w)
{
    UNROLLED for (unsigned i = 0; i < GPU_SQUARE; i++)
        gpu_outputs_end(j, o, i, (double)(chunked ? w->outer[i] : w->s[i]));
}

/* form: of the sums' rounding; model: sequential, chunked or Kahan's. Both are constants. */
FPEMU_FN void gpu_macs(const gpu_gemm_job *j, int form, int model, const gpu_macs_of *f, gpu_mac_tile *tile,
                       uint64_t block, uint64_t blocks)
{
    const int chunked = model == FPEMU_MODEL_CHUNKED;
    const uint64_t across = (j->n + GPU_WIDE - 1) / GPU_WIDE, down = (j->m + GPU_WIDE - 1) / GPU_WIDE;
    const core_dot *const p = &j->rule;
    for (uint64_t b = block; b < across * down * j->batch; b += blocks) {
        gpu_mac_sums sums[HELD];
        gpu_outputs outputs[HELD];
        const uint64_t left = b % across * GPU_WIDE, top = b / across % down * GPU_WIDE, batch = b / across / down;
        FOR_THREADS(t) {
            gpu_mac_begin(j, chunked, batch, top, left, t, &OF(outputs, t), &OF(sums, t));
            if (form == CORE_DOT_STOCHASTIC) UNROLLED
                for (unsigned i = 0; i < GPU_SQUARE; i++) {
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
                            p->inner.seed, core_dot_stream(p->inner.stream, k + t + (chunked ? (k + t) / p->chunk : 0)),
                            p->inner.offset >> 32);
            threads_meet();
            FOR_THREADS(t)
                gpu_mac_slab(j, form, model, f, tile, &OF(outputs, t), t, k, n, &OF(sums, t));
            threads_meet();
        }
        FOR_THREADS(t)
            gpu_mac_end(j, chunked, &OF(outputs, t), &OF(sums, t));
    }
}
#undef GPU_DEEP
