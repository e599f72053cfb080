/* SPDX-License-Identifier: BSD-2-Clause */
/* emulated.c - every product by libfpemu's emulated GEMM. A sum is never cut: convolutions lay out the
 * windows of the whole batch for the gradient of weights. */
#include "backends/backends.h"
#include "backends/lowered.h"
#include "common/shown.h"

#include <fpemu.h>
#include <stdlib.h>
#include <string.h>

typedef struct emulated {
    fpemu_gemm_spec spec;
    bool counting;
    sum_counts counts;
} emulated;

static void add_counts(sum_counts *to, const fpemu_stats *from)
{
#ifdef _OPENMP
#pragma omp critical(fptrain_sums)
#endif
    {
        to->roundings += from->count;
        to->inexact += from->inexact;
        to->swamped += from->swamped;
        to->overflow += from->overflow;
        to->underflow += from->underflow;
    }
}

static void emulated_gemm(const backend *b, bool ta, bool tb, int m, int n, int k, const float *A, int lda,
                          const float *B, int ldb, bool add, float *C, int ldc)
{
    const fpemu_gemm_shape shape = {.m = (uint64_t)m,
                                    .n = (uint64_t)n,
                                    .k = (uint64_t)k,
                                    .lda = (uint64_t)lda,
                                    .ldb = (uint64_t)ldb,
                                    .ldc = (uint64_t)ldc,
                                    .transpose_a = ta,
                                    .transpose_b = tb};
    emulated *e = b->state;
    fpemu_stats stats = {0};
    const fpemu_status status = fpemu_gemm_f32(&e->spec, &shape, 1, A, B, add ? 1 : 0, C, e->counting ? &stats : NULL);
    if (status != FPEMU_OK)
        die("emulated product of matrices: %s", fpemu_status_text(status));
    if (e->counting)
        add_counts(&e->counts, &stats);
}

static void emulated_count(const backend *b, bool on)
{
    ((emulated *)b->state)->counting = on;
}

static sum_counts emulated_counted(const backend *b)
{
    return ((const emulated *)b->state)->counts;
}

static void emulated_free(backend *b)
{
    backend_lower_free(b);
    free(b->state);
    free(b);
}

/* Pieces would all draw the same random words, so what rounds at random is refused. */
static bool random_anywhere(const fpemu_gemm_spec *s)
{
    const fpemu_target *const t[] = {&s->a, &s->b, &s->product, &s->out, &s->sum.inner, &s->sum.outer};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (FPEMU_MODE_DRAWS(t[i]->rounding.mode))
            return true;
    return false;
}

backend *backend_emulated(const char *model, trouble *why)
{
    emulated *e = need(1, sizeof *e);
    fpemu_gemm_spec *spec = &e->spec;
    fpemu_parse_error error;
    char cut[SHOWN_SIZE];
    bool good = true;
    fpemu_why refused;
    if (fpemu_gemm_parse(model, spec, &error) != FPEMU_OK)
        good = fail(why, "backend emulated:%s, character %u of the model: %s", shown(model, error.position, cut),
                    (unsigned)error.position + 1, error.message);
    else if (fpemu_gemm_check(spec, FPEMU_TYPE_F32, &refused) != FPEMU_OK)
        good = fail(why, "backend emulated:%s: %s", shown(model, 0, cut), refused.message);
    else if (spec->start_from_c)
        good = fail(why, "backend emulated:%s: there is no matrix to start from", shown(model, 0, cut));
    else if (random_anywhere(spec))
        good =
            fail(why, "backend emulated:%s: accumulators of the trainer do not round at random", shown(model, 0, cut));
    if (!good) {
        free(e);
        return NULL;
    }
    backend *b = need(1, sizeof *b);
    *b = (backend){.name = "emulated",
                   .state = e,
                   .whole = true,
                   .free = emulated_free,
                   .gemm = emulated_gemm,
                   .count = emulated_count,
                   .counted = emulated_counted};
    backend_lower(b);
    return b;
}
