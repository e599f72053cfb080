/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.h - what a lane keeps from one element to the next: counters until they are added to the call's, and the random
 * words that its next elements share. */
#ifndef FPEMU_GPU_LANE_H
#define FPEMU_GPU_LANE_H

#include "core/events.h"
#include "core/random.h"
#include "stats.h"

/* What a lane gathers between two flushes, and the philox outputs that its next elements share. */
typedef struct gpu_lane {
    uint32_t counter[GPU_COUNTERS];
    uint64_t max_abs, not_min_abs, max_error;
    uint32_t largest, least; /* of binary32 inputs: bits of the largest, and 0 less those of the smallest */
    uint32_t error;          /* of errors that binary32 has without error, the largest */
    uint32_t near;           /* the last binary32 number up to max_error, or to another lane's: no error that binary32
                                rounds to a smaller one is larger, nor one that it has and that is no larger */
    uint64_t philox_counter;
    uint32_t philox[4], philox_valid;
} gpu_lane;

FPEMU_FN void gpu_lane_clear(gpu_lane *l)
{
    for (int k = 0; k < GPU_COUNTERS; k++)
        l->counter[k] = 0;
    l->max_abs = l->not_min_abs = l->max_error = 0;
    l->largest = l->least = l->error = l->near = 0;
}

FPEMU_FN void gpu_lane_begin(gpu_lane *l)
{
    gpu_lane_clear(l);
    l->philox_valid = 0;
}

/* x finite; d = x - y, or 0 where y is not finite. */
FPEMU_FN void gpu_lane_extrema(gpu_lane *l, double x, double d)
{
    const uint64_t magnitude = ~UINT64_C(0) >> 1, a = core_bits64(x) & magnitude, e = core_bits64(d) & magnitude;
    l->max_abs = a > l->max_abs ? a : l->max_abs;
    l->not_min_abs = a != 0 && ~a > l->not_min_abs ? ~a : l->not_min_abs;
    l->max_error = e > l->max_error ? e : l->max_error;
}

/* The error of one binary32 number, if it is larger than others. */
FPEMU_FN void gpu_lane_error32(gpu_lane *l, float x, float y)
{
    const double d = (double)x - (double)y;
    const uint64_t e = core_bits64(d) & (~UINT64_C(0) >> 1);
    if (e <= l->max_error)
        return;
    const float nearest = (float)core_value64(e);
    l->max_error = e;
    l->near = core_bits32(nearest) - ((double)nearest > core_value64(e));
}

/* The same in binary32; infinite: y is no finite number. */
FPEMU_FN void gpu_lane_extrema32(gpu_lane *l, float x, float y, int infinite)
{
    const uint32_t a = core_bits32(x) & 0x7fffffffu, near = core_bits32(x - y) & 0x7fffffffu;
    l->largest = a > l->largest ? a : l->largest;
    l->least = 0 - a > l->least ? 0 - a : l->least;
    if (near >= l->near && near != 0 && !infinite)
        gpu_lane_error32(l, x, y);
}

/* As gpu_lane_extrema32 for four finite numbers and finite results; exact: binary32 has all their differences. */
FPEMU_FN void gpu_lane_extrema_of_four(gpu_lane *l, int exact, const uint32_t u[4], const uint32_t v[4])
{
    uint32_t most = 0;
    int wide = 0; /* |y| > 2 |x|: other differences are exact, since y is 0 or at least |x| / 2 */
    UNROLLED for (unsigned k = 0; k < 4; k++) {
        const uint32_t a = u[k] & 0x7fffffffu,
                       near = core_bits32(core_value32(u[k]) - core_value32(v[k])) & 0x7fffffffu;
        l->largest = a > l->largest ? a : l->largest;
        l->least = 0 - a > l->least ? 0 - a : l->least;
        most = near > most ? near : most;
    }
    if (exact)
        l->error = most > l->error ? most : l->error;
    if (exact || most < l->near || most == 0)
        return;
    UNROLLED for (unsigned k = 0; k < 4; k++)
        wide |= core_value32(v[k] & 0x7fffffffu) > 2 * core_value32(u[k] & 0x7fffffffu);
    if (most > l->near || wide) UNROLLED
        for (unsigned k = 0; k < 4; k++)
            gpu_lane_error32(l, core_value32(u[k]), core_value32(v[k]));
}

/* Lets lanes know of each other's largest error. */
FPEMU_FN void gpu_lanes_share_near(gpu_lane *lane)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    lane[0].near = __reduce_max_sync(0xffffffffu, lane[0].near);
#elif !defined(__CUDA_ARCH__)
    uint32_t near = 0;
    FOR_LANES(l)
        near = OF(lane, l).near > near ? OF(lane, l).near : near;
    FOR_LANES(l)
        OF(lane, l).near = near;
#endif
}

/* What was kept of binary32 inputs, among the rest. */
FPEMU_FN void gpu_lane_widen(gpu_lane *l)
{
    const uint64_t a = core_bits64((double)core_value32(l->largest));
    const uint64_t b = core_bits64((double)core_value32(0 - l->least));
    l->max_abs = a > l->max_abs ? a : l->max_abs;
    l->not_min_abs = l->least && ~b > l->not_min_abs ? ~b : l->not_min_abs;
    const uint64_t e = core_bits64((double)core_value32(l->error));
    l->max_error = e > l->max_error ? e : l->max_error;
}

/* What the rules of core/ counted of one element or more, in binary64. */
FPEMU_FN void gpu_lane_take(gpu_lane *l, const core_counts *c)
{
    const uint64_t error = core_bits64(c->max_error);
    l->counter[GPU_NAN] += (uint32_t)c->nan;
    l->counter[GPU_INFINITE] += (uint32_t)c->infinite;
    l->counter[GPU_CLIPPED] += (uint32_t)c->clipped;
    l->counter[GPU_OVERFLOW] += (uint32_t)c->overflow;
    l->counter[GPU_INVALID] += (uint32_t)c->invalid;
    l->counter[GPU_UNDERFLOW] += (uint32_t)c->underflow;
    l->counter[GPU_SUBNORMAL] += (uint32_t)c->subnormal;
    l->counter[GPU_INEXACT] += (uint32_t)c->inexact;
    l->max_abs = c->max_abs > l->max_abs ? c->max_abs : l->max_abs;
    l->not_min_abs = c->min_abs && ~c->min_abs > l->not_min_abs ? ~c->min_abs : l->not_min_abs;
    l->max_error = error > l->max_error ? error : l->max_error;
}

/* Sum over the lanes, as lanes_sum, in two instructions: halves of counters have room for carries. */
FPEMU_FN uint64_t gpu_lanes_total(const uint32_t *n)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return (uint64_t)__reduce_add_sync(0xffffffffu, n[0] & 0xffff) +
           ((uint64_t)__reduce_add_sync(0xffffffffu, n[0] >> 16) << 16);
#else
    return lanes_sum(n);
#endif
}

/* Adds the lanes' counters to the call's, and clears them. */
FPEMU_FN void gpu_lane_flush(gpu_lane *lane, gpu_counts *to)
{
    for (int k = 0; k < GPU_COUNTERS; k++) {
        uint32_t n[LANES];
        FOR_LANES(l)
            OF(n, l) = OF(lane, l).counter[k];
        const uint64_t sum = gpu_lanes_total(n);
        if (sum && lanes_writer())
            shared_add(&to->counter[k], sum);
    }
    uint64_t largest[3][LANES];
    FOR_LANES(l) {
        gpu_lane_widen(&OF(lane, l));
        OF(largest[0], l) = OF(lane, l).max_abs;
        OF(largest[1], l) = OF(lane, l).not_min_abs;
        OF(largest[2], l) = OF(lane, l).max_error;
        gpu_lane_clear(&OF(lane, l));
    }
    uint64_t *const to_max[3] = {&to->max_abs, &to->not_min_abs, &to->max_error};
    for (int k = 0; k < 3; k++) {
        const uint64_t m = lanes_max(largest[k]);
        if (m && lanes_writer())
            shared_max(to_max[k], m);
    }
}

/* Random bits: what an element of the stream uses. */
typedef struct gpu_random {
    uint64_t seed, stream;
    const uint64_t *state; /* NULL, or where the seed lies, and behind it what is added to the stream */
    uint8_t generator, per_word, bits, used;
} gpu_random;

FPEMU_FN uint64_t gpu_seed(const gpu_random *r)
{
    return r->state ? r->state[0] : r->seed;
}

FPEMU_FN uint64_t gpu_stream(const gpu_random *r)
{
    return r->state ? r->stream + r->state[1] : r->stream;
}

/* What the elements of one piece share: a piece never passes a multiple of 2^32. */
typedef struct gpu_words {
    core_hash_key key;
    uint64_t high; /* of the words that the key is for */
    uint32_t lead; /* of pieces that pass no multiple of CORE_LEAD_WORDS either */
} gpu_words;

FPEMU_FN gpu_words gpu_words_begin(const gpu_random *r, uint64_t index)
{
    gpu_words w;
    w.key.k0 = w.key.k1 = w.lead = 0;
    w.high = core_word_index(r->per_word, index) >> 32;
    if (r->used && r->generator != FPEMU_GENERATOR_PHILOX)
        w.key = core_hash_keys(gpu_seed(r), gpu_stream(r), w.high);
    return w;
}

/* Before the first piece. */
FPEMU_FN gpu_words gpu_words_none(void)
{
    const gpu_words w = {{0, 0}, ~UINT64_C(0), 0};
    return w;
}

/* For the piece that begins at index. */
FPEMU_FN void gpu_words_next(gpu_words *w, const gpu_random *r, uint64_t index)
{
    const uint64_t j = core_word_index(r->per_word, index);
    if (w->high != j >> 32)
        *w = gpu_words_begin(r, index);
    w->lead = core_hash_lead(w->key, (uint32_t)j);
}

/* Random bits of an element, left-aligned in 32. */
FPEMU_FN uint32_t gpu_bits(const gpu_random *r, const gpu_words *w, gpu_lane *lane, uint64_t index)
{
    const uint64_t j = core_word_index(r->per_word, index);
    uint32_t word;
    if (r->generator == FPEMU_GENERATOR_PHILOX) {
        const uint64_t counter = (j >> 7) * 32 + (j & 31);
        if (!lane->philox_valid || lane->philox_counter != counter) {
            core_philox(gpu_seed(r), gpu_stream(r), counter, lane->philox);
            lane->philox_counter = counter;
            lane->philox_valid = 1;
        }
        const uint32_t k = (uint32_t)(j >> 5) & 3;
        word = k == 0 ? lane->philox[0] : k == 1 ? lane->philox[1] : k == 2 ? lane->philox[2] : lane->philox[3];
    } else {
        word = core_hash_word(w->key, (uint32_t)j);
    }
    return core_field_top(r->per_word, r->bits, word, core_field_shift(r->per_word, index));
}

/* The same of four elements, `step` apart. */
FPEMU_FN void gpu_bits_of_four(const gpu_random *r, const gpu_words *w, gpu_lane *lane, uint64_t index, uint32_t step,
                               uint32_t bits[4])
{
    if (r->generator != FPEMU_GENERATOR_PHILOX && r->per_word == 0) {
        UNROLLED for (uint32_t k = 0; k < 4; k++)
            bits[k] = core_field_top(0, r->bits, core_hash_word(w->key, (uint32_t)index + k * step), 0);
        return;
    }
    UNROLLED for (uint32_t k = 0; k < 4; k++)
        bits[k] = gpu_bits(r, w, lane, index + k * step);
}

/* How elements come by their bits. */
enum { GPU_RANDOM_WORDS, /* each from a word of its own, by the hash */ GPU_RANDOM_ANY };

FPEMU_FN int gpu_random_of(const gpu_random *r)
{
    return r->generator == FPEMU_GENERATOR_PHILOX || r->per_word ? GPU_RANDOM_ANY : GPU_RANDOM_WORDS;
}

/* The same within a piece of gpu_words_next; random: gpu_random_of(r), which a caller may know. */
FPEMU_FN uint32_t gpu_bits_of_piece(const gpu_random *r, int random, const gpu_words *w, gpu_lane *lane, uint64_t index)
{
    if (random == GPU_RANDOM_ANY)
        return gpu_bits(r, w, lane, index);
    return core_field_top(0, r->bits, core_hash_rest(w->key, (uint32_t)index ^ w->lead), 0);
}

/* Of four elements; 32 apart, they are those of four rows of 32 by index, of which rows share words. */
FPEMU_FN void gpu_bits_of_strip(const gpu_random *r, int random, const gpu_words *w, gpu_lane *lane, uint64_t index,
                                uint32_t step, uint32_t bits[4])
{
    const int own = gpu_random_of(r) == GPU_RANDOM_WORDS ? GPU_RANDOM_WORDS : random;
    if (own == GPU_RANDOM_WORDS || step != 32) {
        UNROLLED for (uint32_t k = 0; k < 4; k++)
            bits[k] = gpu_bits_of_piece(r, own, w, lane, index + k * step);
        return;
    }
    const uint32_t j = (uint32_t)core_word_index(r->per_word, index);
    const int philox = r->generator == FPEMU_GENERATOR_PHILOX;
    uint32_t word[4];
    if (philox && r->per_word == 0) {
        core_philox(gpu_seed(r), gpu_stream(r), (index >> 7) * 32 + (index & 31), word);
    } else if (philox) {
        NOT_UNROLLED for (uint32_t k = 0; k < 4; k++) {
            const uint32_t next = gpu_bits(r, w, lane, index + k * step);
            bits[0] = bits[1], bits[1] = bits[2], bits[2] = bits[3], bits[3] = next;
        }
        return;
    } else {
        word[0] = word[1] = word[2] = word[3] = core_hash_rest(w->key, j ^ w->lead);
        if (r->per_word == 1)
            word[2] = word[3] = core_hash_rest(w->key, (j + 32) ^ w->lead);
    }
    UNROLLED for (uint32_t k = 0; k < 4; k++)
        bits[k] = core_field_top(r->per_word, r->bits, word[k], core_field_shift(r->per_word, index + k * step));
}

#endif /* FPEMU_GPU_LANE_H */
