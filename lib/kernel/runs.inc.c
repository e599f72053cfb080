/* SPDX-License-Identifier: BSD-2-Clause */
/* runs.inc.c - which instance of kernel.inc.c serves a call, of those that are compiled in a file beside this one.
 * Included by variant.inc.c in the part of each carrier. */

#include "choice.inc.h"

extern const kernel_instances INSTANCES;

/* Elements that have a scale each at a time, of blocks that are no vectors. */
#define KERNEL_SPREAD 256

static void kernel_run(const core_plan *p, int type, int open, const loop_draw *d, size_t n, const void *x, void *y)
{
    const int own = type == FPEMU_TYPE_F16 ? KERNEL_F16 : type == FPEMU_TYPE_BF16 ? KERNEL_BF16 : KERNEL_OWN;
    const kernel_choice s = kernel_choose(p, own, open);
    const kernel_job j = {p, NULL, NULL, d, n, x, y};
    if (INSTANCES.rows[s.type][s.grid][s.ends][s.mode] && !fpemu_choices_at_run_time())
        INSTANCES.rows[s.type][s.grid][s.ends][s.mode](&j);
    else
        INSTANCES.any[s.mode](s, &j);
}

#if CARRIER_BITS == 32 && !SIMD_HAS_F16
/* Words of 16 bits by way of binary32, which the kernel does in registers elsewhere. */
static void kernel_run_words(const core_plan *p, int bfloat, const loop_draw *draw, size_t n, const uint16_t *x,
                             uint16_t *y)
{
    loop_draw d = draw ? *draw : (loop_draw){NULL, {0, 0}, 0};
    float tile[TILE];
    for (size_t at = 0, m; at < n; at += m, d.index += m, d.r = d.r ? d.r + m : NULL) {
        m = n - at < TILE ? n - at : TILE;
        words_widen(bfloat, m, x + at, tile);
        kernel_run(p, CARRIER_BITS, 0, &d, m, tile, tile);
        words_narrow(bfloat, 1, m, tile, y + at);
    }
}
#endif

/* As the loops of struct carrier_loops. */
static void CARRIER(loop_kernel)(const core_plan *p, int type, const loop_draw *d, size_t n, const void *x, void *y)
{
#if CARRIER_BITS == 32 && !SIMD_HAS_F16
    if (type != CARRIER_BITS) {
        kernel_run_words(p, type == FPEMU_TYPE_BF16, d, n, (const uint16_t *)x, (uint16_t *)y);
        return;
    }
#endif
    kernel_run(p, type, 0, d, n, x, y);
}

static void CARRIER(loop_kernel_given)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    const loop_draw d = {r, {0, 0}, 0};
    kernel_run(p, CARRIER_BITS, 0, &d, n, x, y);
}

static void CARRIER(loop_kernel_open)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    const loop_draw d = {r, {0, 0}, 0};
    kernel_run(p, CARRIER_BITS, 1, &d, n, x, y);
}

static void kernel_scaled_run(kernel_choice s, const core_plan *p, const kernel_scales *b, const loop_draw *d, size_t n,
                              const void *x, void *y)
{
    const kernel_job j = {p, NULL, b, d, n, x, y};
    if (INSTANCES.scaled_rows[s.scale][s.grid][s.ends][s.mode] && !fpemu_choices_at_run_time())
        INSTANCES.scaled_rows[s.scale][s.grid][s.ends][s.mode](&j);
    else
        INSTANCES.scaled[s.mode](s, &j);
}

static void CARRIER(loop_kernel_scaled)(const core_plan *p, int kind, int open, const loop_draw *draw, size_t length,
                                        size_t count, const realw *down, const realw *s, realw second, const void *x,
                                        void *y)
{
    const size_t vectors = length / SIMD_LANES, whole = length % SIMD_LANES == 0 && (vectors & (vectors - 1)) == 0;
    const size_t most = length < KERNEL_SPREAD ? KERNEL_SPREAD / length : 1;
    const realw first = core_value(p->fast_emin), end = core_value(open ? p->fast_cap : p->overflow[0]);
    realw binades[RUN_BLOCKS], ends[RUN_BLOCKS];
    kernel_choice choice = kernel_choose(p, KERNEL_OWN, open);
    kernel_scales b = {down, s, second, length == 1, 0};
    loop_draw d = *draw;
    choice.scale = kind;
    if (kind == SCALED_POWERS) {
        SIMD for (size_t k = 0; k < count; k++) {
            binades[k] = first * s[k];
            ends[k] = end * s[k];
        }
        b.down = binades;
        b.s = ends;
    }
    if (count == 1)
        b.shift = 8 * sizeof(size_t) - 1;
    else if (whole && vectors)
        b.shift = (unsigned)core_log2((uintw)vectors);
    if (length == 1 || count == 1 || (whole && vectors)) {
        kernel_scaled_run(choice, p, &b, &d, length * count, x, y);
        return;
    }
    /* blocks that are no vectors: a scale for each element, of a tile */
    for (size_t at = 0, runs; at < count; at += runs) {
        const char *const in = (const char *)x + at * length * sizeof(realw);
        char *const out = (char *)y + at * length * sizeof(realw);
        realw each_down[KERNEL_SPREAD], each_s[KERNEL_SPREAD];
        kernel_scales part = {b.down + at, b.s + at, b.second, 0, 8 * sizeof(size_t) - 1};
        runs = count - at < most ? count - at : most;
        if (runs > 1) {
            loop_spread(length, runs, part.down, each_down);
            loop_spread(length, runs, part.s, each_s);
            part = (kernel_scales){each_down, each_s, b.second, 1, 0};
        }
        kernel_scaled_run(choice, p, &part, &d, length * runs, in, out);
        d.index += length * runs;
        d.r = d.r ? d.r + length * runs : NULL;
    }
}

static void CARRIER(loop_affine)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y)
{
    if (core_affine_is_quick(p))
        CARRIER(loop_kernel_given)(p, n, x, r, y);
    else
        INSTANCES.affine[p->mode](p, n, x, r, y);
}

static void CARRIER(loop_kernel_codes)(const core_plan *p, const core_coder *c, const loop_draw *d, size_t n,
                                       const void *x, size_t size, void *codes)
{
    const kernel_job j = {p, c, NULL, d, n, x, codes};
    kernel_choice s = kernel_choose(p, KERNEL_OWN, 0);
    s.codes = (int)size;
    INSTANCES.codes[s.mode](s, &j);
}
