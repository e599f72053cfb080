/* SPDX-License-Identifier: BSD-2-Clause */
/* operands.c - operands of dot products on their way in: gathered, rounded, kept slab by slab. */
#include "operands.h"

#include <math.h>

void fpemu_operand_prepare(gemm_operand *o, const fpemu_target *t, int carrier)
{
    const kernels *k = fpemu_kernels();
    o->target = core_target_is_none(t) ? NULL : t;
    o->round32 = NULL;
    o->round64 = NULL;
    if (!o->target || t->format.kind == FPEMU_KIND_CODEBOOK ||
        (core_nan_policy(&t->format, &t->rounding) == FPEMU_NAN_ERROR && !t->format.has_nan))
        return;
    if (carrier == 32) {
        core_plan32 *const p = &o->plan32;
        core_plan_make32(p, &t->format, &t->rounding, 0);
        core_choose_fast32(p, &t->format);
        if (is_one_loop(p->rule, p->wrap))
            o->round32 = k->loops32->round[p->rule][p->mode];
    } else {
        core_plan64 *const p = &o->plan64;
        core_plan_make64(p, &t->format, &t->rounding, 0);
        core_choose_fast64(p, &t->format);
        if (is_one_loop(p->rule, p->wrap))
            o->round64 = k->loops64->round[p->rule][p->mode];
    }
}

/* n numbers of the carrier, elements `index` and following, in their place. */
static void round_numbers(gemm_tile *w, const gemm_operand *s, uint64_t index, size_t n, void *x)
{
    const int narrow = w->call->targets.carrier == 32;
    fpemu_rounding r = s->target->rounding;
    r.offset += index;
    if (!s->round32 && !s->round64) {
        const fpemu_type type = narrow ? FPEMU_TYPE_F32 : FPEMU_TYPE_F64;
        w->tally.found_nan |= fpemu_quantize(&s->target->format, &r, type, n, x, x, NULL) == FPEMU_ERROR_NAN;
        return;
    }
    uint32_t bits[2 * DOT_LANES];
    const int stochastic = CORE_DRAWS(r.mode); /* then n is at most as many */
    if (stochastic)
        fpemu_random_fill(w->call->k, &r, r.offset, n, bits);
    if (narrow)
        s->round32(&s->plan32, n, x, stochastic ? bits : NULL, x);
    else
        s->round64(&s->plan64, n, x, stochastic ? bits : NULL, x);
}

#define PUT(from_type, to_type)                                                                                        \
    for (size_t j = 0; j < n; j++) {                                                                                   \
        from_type x;                                                                                                   \
        memcpy(&x, p + (ptrdiff_t)j * step, sizeof x);                                                                 \
        ((to_type *)out)[at + j] = (to_type)x;                                                                         \
    }
/* Numbers of the carrier (o, l), `from_o` and `from_l` apart, to out[o * out_o + l * out_l], of which one is 1, as
 * floats (narrow) or doubles. A few elements o at a time: what lies in a line of the cache is taken while it is there. */
static void put_numbers(const gemm_call *c, int narrow, const char *from, ptrdiff_t from_o, ptrdiff_t from_l,
                        size_t count, size_t nk, size_t out_o, size_t out_l, void *out)
{
    const int floats = c->targets.carrier == 32, along_k = out_l == 1;
    const ptrdiff_t size = floats ? sizeof(float) : sizeof(double);
    const ptrdiff_t line = (along_k ? from_o : from_l) * size, step = (along_k ? from_l : from_o) * size;
    const size_t lines = along_k ? count : nk, length = along_k ? nk : count, out_line = along_k ? out_o : out_l;
    const size_t few = step == size ? length : 16;
    for (size_t first = 0; first < length; first += few)
        for (size_t i = 0; i < lines; i++) {
            const char *p = from + (ptrdiff_t)i * line + (ptrdiff_t)first * step;
            const size_t n = length - first < few ? length - first : few, at = i * out_line + first;
            if (step == size && narrow == floats)
                memcpy((char *)out + at * (size_t)size, p, n * (size_t)size);
            else if (step == size && floats && (uintptr_t)p % sizeof(float) == 0)
                c->k->widen(n, (const float *)(const void *)p, (double *)out + at);
            else if (floats && narrow)
                PUT(float, float)
            else if (floats)
                PUT(float, double)
            else if (narrow) /* exactly */
                PUT(double, float)
            else
                PUT(double, double)
        }
}
#undef PUT

void fpemu_operand_line(const gemm_call *c, const gemm_operand *s, const void *p, ptrdiff_t step, size_t n, void *out)
{
    if (step == 1) /* the many steps of put_numbers take long for a few numbers */
        memcpy(out, p, n * (c->targets.carrier == 32 ? sizeof(float) : sizeof(double)));
    else
        put_numbers(c, c->targets.carrier == 32, p, 0, step, 1, n, n, 1, out);
    if (s->round32)
        s->round32(&s->plan32, n, out, NULL, out);
    else if (s->round64)
        s->round64(&s->plan64, n, out, NULL, out);
}

/* n numbers of the carrier, to piece number `piece` of each, a float. */
static void take_floats(gemm_tile *w, const gemm_operand *s, unsigned piece, size_t n, char *x)
{
    const int carrier = w->call->targets.carrier;
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    double part[64];
    for (size_t at = 0; at < n; at += 64, x += 64 * size) {
        const size_t m = n - at < 64 ? n - at : 64;
        for (unsigned i = 0;; i++) {
            memcpy(part, x, m * size);
            round_numbers(w, s, 0, m, part);
            if (i == piece)
                break;
            for (size_t j = 0; j < m; j++) /* exactly */
                store(carrier, x + j * size, load(carrier, x + j * size) - load(carrier, (char *)part + j * size));
        }
        memcpy(x, part, m * size);
    }
}

/* Lines of numbers, to integer slices; a line is one element's, or each of its numbers another's. */
static void take_slices(gemm_tile *w, const gemm_operand *s, unsigned piece, size_t first, size_t lines, size_t length,
                        char *x)
{
    const gemm_call *c = w->call;
    const int carrier = c->targets.carrier;
    const int16_t *exponents = s == &c->rows ? w->row_exponents + (first - w->row) : w->lane_exponents;
    if (s->target)
        round_numbers(w, s, 0, lines * length, x);
    for (size_t i = 0; i < lines * length; i++, x += carrier == 32 ? sizeof(float) : sizeof(double)) {
        const int exponent = exponents[s->index_k == 1 ? i / length : i % length];
        store(carrier, x, fpemu_split_slice(load(carrier, x), exponent, piece, c->split.bits));
    }
}

int fpemu_operand_exponent(gemm_tile *w, const gemm_operand *s, size_t o)
{
    const gemm_call *c = w->call;
    const int carrier = c->targets.carrier;
    const size_t depth = c->targets.dot.depth ? (size_t)c->split.depth : 0;
    const ptrdiff_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    const char *p = (const char *)s->p + ((ptrdiff_t)(s->stride * w->batch) + (ptrdiff_t)o * s->step_o) * size;
    double some[64], most = 0;
    int exponent;
    for (size_t k = 0; k < depth; k += 64) {
        const size_t n = depth - k < 64 ? depth - k : 64;
        put_numbers(c, carrier == 32, p + (ptrdiff_t)k * s->step_k * size, 0, s->step_k, 1, n, n, 1, some);
        if (s->target)
            round_numbers(w, s, 0, n, some);
        for (size_t i = 0; i < n; i++) {
            const double x = fabs(load(carrier, (const char *)some + i * (size_t)size));
            most = x > most && x - x == 0 ? x : most;
        }
    }
    (void)frexp(most, &exponent);
    return exponent;
}

/* As fpemu_operand_read; where operands are split, elements k0 .. k0+nk, each this piece of it. */
static void read_elements(gemm_tile *w, const gemm_operand *s, unsigned piece, size_t first, size_t count, size_t k0,
                          size_t nk, size_t out_o, size_t out_l, void *out, void *room)
{
    const int carrier = w->call->targets.carrier;
    const int along_k = s->index_k == 1, narrow = is_narrow(w->call); /* lines are runs of the index */
    const size_t lines = along_k ? count : nk, length = along_k ? nk : count;
    const size_t size = carrier == 32 ? sizeof(float) : sizeof(double);
    const size_t lined_o = along_k ? length : 1, lined_l = along_k ? 1 : length;
    const char *p = (const char *)s->p +
                    ((ptrdiff_t)(s->stride * w->batch) + (ptrdiff_t)first * s->step_o + (ptrdiff_t)k0 * s->step_k) *
                        (ptrdiff_t)size;
    if (!s->target && !w->call->split.terms) {
        put_numbers(w->call, narrow, p, s->step_o, s->step_k, count, nk, out_o, out_l, out);
        return;
    }
    const int in_place = narrow && carrier == 32 && out_o == lined_o && out_l == lined_l;
    char *const lined = (char *)(in_place ? out : room);
    put_numbers(w->call, carrier == 32, p, s->step_o, s->step_k, count, nk, lined_o, lined_l, lined);
    if (w->call->split.bits) {
        take_slices(w, s, piece, first, lines, length, lined);
    } else if (w->call->split.terms) {
        take_floats(w, s, piece, lines * length, lined);
    } else if (s->target) {
        const uint64_t index = s->index_batch * w->batch + s->index_o * first + s->index_k * k0;
        if (!CORE_DRAWS(s->target->rounding.mode))
            round_numbers(w, s, index, lines * length, lined);
        else
            for (size_t line = 0; line < lines; line++)
                round_numbers(w, s, index + line * (along_k ? s->index_o : s->index_k), length,
                              lined + line * length * size);
    }
    if (!in_place)
        put_numbers(w->call, narrow, lined, (ptrdiff_t)lined_o, (ptrdiff_t)lined_l, count, nk, out_o, out_l, out);
}

void fpemu_operand_read(gemm_tile *w, const gemm_operand *s, size_t first, size_t count, size_t k0, size_t nk,
                        size_t out_o, size_t out_l, void *out, void *room)
{
    const gemm_split *split = &w->call->split;
    if (!split->terms) {
        read_elements(w, s, 0, first, count, k0, nk, out_o, out_l, out, room);
        return;
    }
    const size_t size = is_narrow(w->call) ? sizeof(float) : sizeof(double);
    for (size_t l = 0; l < nk;) {
        const split_run run = fpemu_split_run(split, k0 + l, nk - l);
        read_elements(w, s, split->piece[s->side][run.term], first, count, run.k, run.count, out_o, out_l,
                      (char *)out + l * out_l * size, room);
        l += run.count;
    }
}
