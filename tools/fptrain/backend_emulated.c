/* backend_emulated.c - every product by libfpemu's emulated GEMM. A sum is never cut: convolutions lay out the
 * windows of the whole batch for the gradient of weights. */
#include "backend_parts.h"

#include <fpemu.h>
#include <stdlib.h>
#include <string.h>

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
    const fpemu_status status = fpemu_gemm_f32(b->state, &shape, 1, A, B, add ? 1 : 0, C, NULL);
    if (status != FPEMU_OK)
        die("emulated product of matrices: %s", fpemu_status_text(status));
}

static void emulated_free(backend *b)
{
    free(b->state);
    free(b);
}

/* Pieces would all draw the same random words, so what rounds at random is refused. */
static bool random_anywhere(const fpemu_gemm_spec *s)
{
    const fpemu_target *const t[] = {&s->a, &s->b, &s->product, &s->out, &s->sum.inner, &s->sum.outer};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (t[i]->rounding.mode == FPEMU_SR || t[i]->rounding.mode == FPEMU_SE)
            return true;
    return false;
}

backend *backend_emulated(const char *model, trouble *why)
{
    fpemu_gemm_spec *spec = need(1, sizeof *spec);
    fpemu_parse_error error;
    bool good = true;
    fpemu_status status = FPEMU_OK;
    if (fpemu_gemm_parse(model, spec, &error) != FPEMU_OK)
        good = fail(why, "backend emulated:%s, at %u: %s", model, (unsigned)error.position + 1, error.message);
    else if ((status = fpemu_gemm_check(spec, 32)) != FPEMU_OK)
        good = fail(why, "backend emulated:%s: %s", model, fpemu_status_text(status));
    else if (spec->start_from_c)
        good = fail(why, "backend emulated:%s: there is no matrix to start from", model);
    else if (random_anywhere(spec))
        good = fail(why, "backend emulated:%s: accumulators of the trainer do not round at random", model);
    if (!good) {
        free(spec);
        return NULL;
    }
    backend *b = need(1, sizeof *b);
    *b = (backend){.name = "emulated", .state = spec, .whole = true, .free = emulated_free, .gemm = emulated_gemm};
    backend_lower(b);
    return b;
}
