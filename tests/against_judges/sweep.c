/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.c - all binary32 inputs of one format and rounding, library against judge. */
#include "sweep.h"
#include "../judges/bits.h"

#define CHUNK ((size_t)1 << 16)
#define BLOCK ((size_t)512)
#define INFINITY_BITS 0x7f800000u

typedef union lane {
    float value[CHUNK];
    uint32_t bits[CHUNK];
} lane;

typedef struct walk {
    sweep *s;
    const fpemu_format *f;
    const fpemu_rounding *r;
    judge *j;
    compare_mismatch m;
    unsigned most;
    compare_report *report;
    void *context;
    lane *x, *y;
    uint64_t run_start;  /* input that began the current run */
    uint64_t last_asked; /* so that runs of length 1 are asked about once */
} walk;

/* Inputs first..end-1 gave y: their weights mixed(i + 1) - mixed(i) add up to one difference. */
static void digest(walk *w, uint64_t first, uint64_t end, uint32_t y)
{
    w->s->digest += (mixed(end) - mixed(first)) * mixed(y + UINT64_C(0x9e3779b97f4a7c15));
}

static void mismatch(walk *w, uint32_t x, uint64_t judged, uint32_t library)
{
    if (w->s->failures++ >= w->most)
        return;
    w->m.what = "value";
    w->m.x = x;
    w->m.judge = judged;
    w->m.library = library;
    w->report(w->context, &w->m);
}

static void ask(walk *w, uint32_t x, uint32_t y)
{
    if (w->last_asked == x)
        return;
    w->last_asked = x;
    uint64_t judged = judge_round(w->j, x, 0, 0).bits;
    w->s->judge_calls++;
    if (judged != y)
        mismatch(w, x, judged, y);
}

/* Whether any of y[1..n-1] differs from the one before it. */
static int changes(const uint32_t *y, size_t n)
{
    uint32_t d = 0;
#ifdef _OPENMP
#pragma omp simd reduction(| : d)
#endif
    for (size_t i = 1; i < n; i++)
        d |= y[i] ^ y[i - 1];
    return d != 0;
}

static int quantize_chunk(walk *w, uint32_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->x->bits[i] = first + (uint32_t)i;
    fpemu_status status = fpemu_quantize_f32(w->f, w->r, n, w->x->value, w->y->value, NULL);
    if (status == FPEMU_OK || status == FPEMU_ERROR_NAN)
        return 1;
    mismatch(w, first, 0, (uint32_t)status);
    return 0;
}

/* One stretch of n outputs for the inputs first, first + 1, ...; `previous` is the output before it. */
static void scan(walk *w, uint32_t first, size_t n, uint32_t *previous, int judged_apart)
{
    const uint32_t *y = w->y->bits;

    for (size_t from = 0; from < n; from += BLOCK) {
        size_t to = from + BLOCK < n ? from + BLOCK : n;
        if (y[from] == *previous && !changes(y + from, to - from))
            continue;
        for (size_t i = from; i < to; i++) {
            uint32_t x = first + (uint32_t)i;
            if (y[i] == *previous)
                continue;
            if (!judged_apart) {
                ask(w, x - 1, *previous);
                ask(w, x, y[i]);
            }
            digest(w, w->run_start, x, *previous);
            w->run_start = x;
            w->s->runs++;
            *previous = y[i];
        }
    }
}

/* --------------------------------------------------------------------------------------------------- wrap */

/* What wrap means, in integers: x * 2^fl rounded to an integer, of which the low `bits` are kept. */
static uint32_t wrapped(const fpemu_format *f, unsigned mode, uint32_t x)
{
    int negative = (int)(x >> 31), E = (int)(x >> 23 & 255);
    uint64_t M = E ? (x & 0x7fffff) | 0x800000 : x & 0x7fffff;
    int shift = (E ? E : 1) - 150 + f->fraction_bits;
    uint64_t q, modulus = UINT64_C(1) << f->bits;

    if (shift >= 0) {
        q = shift >= (int)f->bits ? 0 : M << shift;
    } else {
        int drop = -shift < 60 ? -shift : 60; /* past 25 nothing is left but "some, and less than a half" */
        uint64_t rest = M & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
        int up = 0;
        q = M >> drop;
        switch (mode) {
        case FPEMU_MODE_RNE: up = rest > half || (rest == half && (q & 1)); break;
        case FPEMU_MODE_RNA: up = rest >= half; break;
        case FPEMU_MODE_RNZ: up = rest > half; break;
        case FPEMU_MODE_RNP: up = rest > half || (rest == half && !negative); break;
        case FPEMU_MODE_RAZ: up = rest != 0; break;
        case FPEMU_MODE_RTP: up = rest != 0 && !negative; break;
        case FPEMU_MODE_RTN: up = rest != 0 && negative; break;
        case FPEMU_MODE_RTO: up = rest != 0 && !(q & 1); break;
        default: break;
        }
        q += (uint64_t)up;
    }
    if (negative)
        q = 0 - q;
    q &= modulus - 1;
    float y = f->is_signed && q >= modulus / 2 ? -ldexpf((float)(modulus - q), -f->fraction_bits)
                                               : ldexpf((float)q, -f->fraction_bits);
    return lh_float_bits(y);
}

static void judge_wrapped(walk *w, uint32_t first, size_t n)
{
    /* Where |x| * 2^fl is below 1/4 or a multiple of 2^bits, the answer depends on nothing but the sign. */
    uint32_t start = wrapped(w->f, w->r->mode, first);
    int E = (int)(first >> 23 & 255), scale = E - 127 + w->f->fraction_bits;
    int constant = (first & 0x7fffffff) != 0 && (scale < -2 || scale - 23 >= (int)w->f->bits);

    if (constant && w->y->bits[0] == start && !changes(w->y->bits, n))
        return;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = first + (uint32_t)i, want = wrapped(w->f, w->r->mode, x);
        if (w->y->bits[i] != want)
            mismatch(w, x, want, w->y->bits[i]);
        if (x % 9973 == 0)
            ask(w, x, want); /* the formula, too, is judged */
    }
}

/* -------------------------------------------------------------------------------------------------- sweep */

static int wraps(const walk *w)
{
    unsigned policy = w->r->overflow ? w->r->overflow : w->f->overflow;
    return w->f->wrap && policy <= FPEMU_OVERFLOW_IEEE;
}

static void sweep_sign(walk *w, uint32_t sign, void (*progress)(void *, uint64_t))
{
    int apart = wraps(w);
    uint32_t previous = 0, nan, i;
    uint64_t end = sign + UINT64_C(0x80000000);

    for (i = 0; i < INFINITY_BITS; i += (uint32_t)CHUNK) {
        uint32_t first = sign + i;
        if (!quantize_chunk(w, first, CHUNK))
            return;
        if (i == 0) {
            previous = w->y->bits[0];
            w->run_start = first;
            w->s->runs++;
            ask(w, first, previous);
        }
        if (apart)
            judge_wrapped(w, first, CHUNK);
        scan(w, first, CHUNK, &previous, apart);
        if (progress)
            progress(w->context, CHUNK);
    }
    ask(w, sign + INFINITY_BITS - 1, previous);
    digest(w, w->run_start, sign + INFINITY_BITS, previous);

    /* The infinity, then NaNs: one answer for all of a sign. */
    if (!quantize_chunk(w, sign + INFINITY_BITS, 1))
        return;
    ask(w, sign + INFINITY_BITS, w->y->bits[0]);
    digest(w, sign + INFINITY_BITS, (uint64_t)sign + INFINITY_BITS + 1, w->y->bits[0]);
    nan = (uint32_t)judge_round(w->j, sign + INFINITY_BITS + 1, 0, 0).bits;
    w->s->judge_calls++;
    for (i = INFINITY_BITS + 1; i < 0x80000000; i += (uint32_t)CHUNK) {
        uint32_t first = sign + i;
        size_t n = end - first < CHUNK ? (size_t)(end - first) : CHUNK, k;
        if (!quantize_chunk(w, first, n))
            return;
        if (w->y->bits[0] == nan && !changes(w->y->bits, n)) {
            digest(w, first, first + n, nan);
        } else {
            for (k = 0; k < n; k++) {
                digest(w, first + k, first + k + 1, w->y->bits[k]);
                if (w->y->bits[k] != nan)
                    mismatch(w, first + (uint32_t)k, nan, w->y->bits[k]);
            }
        }
        if (progress)
            progress(w->context, n);
    }
}

int sweep_f32(sweep *s, const char *spec, const fpemu_format *format, const fpemu_rounding *rounding, judge *j,
              unsigned most, compare_report *report, void *context, void (*progress)(void *context, uint64_t inputs))
{
    walk w = {.s = s, .f = format, .r = rounding, .j = j, .most = most, .report = report, .context = context};

    *s = (sweep){0};
    if (FPEMU_MODE_DRAWS(rounding->mode) || (wraps(&w) && format->kind != FPEMU_KIND_FIXED))
        return 0;
    w.m.spec = spec;
    w.m.rounding = rounding;
    w.m.carrier = 32;
    w.last_asked = UINT64_MAX;
    w.x = malloc(sizeof *w.x);
    w.y = malloc(sizeof *w.y);
    if (!w.x || !w.y) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    sweep_sign(&w, 0, progress);
    sweep_sign(&w, 0x80000000, progress);
    FREE(w.x, w.y);
    return 1;
}
