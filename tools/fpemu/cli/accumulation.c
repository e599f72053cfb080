/* SPDX-License-Identifier: BSD-2-Clause */
/* accumulation.c - see accumulation.h */
#include "common/system.h"

#include "cli/accumulation.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#if HAVE_CBLAS
#include <cblas.h>
#endif

#include "cli/error.h"
#include "cli/spec.h"
#include "common/shown.h"

accumulation accumulation_read(const char *text, bool binary64, uint64_t seed)
{
    accumulation m = {.blas = strcmp(text, "blas") == 0};
    fpemu_parse_error error;
    char cut[SHOWN_SIZE];
    if (m.blas) {
#if !HAVE_CBLAS
        cli_usage("model 'blas': fpemu was built without a BLAS");
#endif
        snprintf(m.text, sizeof m.text, "blas");
        return m;
    }
    if (fpemu_gemm_parse(text, &m.spec, &error) != FPEMU_OK) {
        cli_usage("model '%s', character %u: %s", shown(text, error.position, cut), (unsigned)error.position + 1,
                  error.message);
    }
    if (m.spec.a.format.scaling != FPEMU_SCALING_NONE || m.spec.b.format.scaling != FPEMU_SCALING_NONE) {
        const fpemu_format *format =
            m.spec.a.format.scaling != FPEMU_SCALING_NONE ? &m.spec.a.format : &m.spec.b.format;
        char spec[CLI_SPEC_SIZE];
        cli_spec(format, spec);
        cli_usage("model '%s': here operands take no format with scales; leave it out and round the files before, by "
                  "'fpemu quantize %s', B along its rows by --axis 0",
                  shown(text, 0, cut), spec);
    }
    fpemu_why why;
    if (fpemu_gemm_check(&m.spec, binary64 ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32, &why))
        cli_fail("%s: %s", text, why.message);
    if (m.spec.start_from_c)
        cli_usage("model '%s': there is no matrix to start from", shown(text, 0, cut));
    fpemu_target *const target[] = {&m.spec.a,   &m.spec.b,         &m.spec.product,
                                    &m.spec.out, &m.spec.sum.inner, &m.spec.sum.outer};
    for (unsigned i = 0; i < sizeof target / sizeof *target; i++) {
        if (FPEMU_MODE_DRAWS(target[i]->rounding.mode)) {
            target[i]->rounding.seed = seed;
            target[i]->rounding.stream = i;
        }
    }
    cli_check(fpemu_gemm_print(&m.spec, m.text, sizeof m.text), text);
    return m;
}

#if HAVE_CBLAS
/* CBLAS counts in int. */
static int as_int(uint64_t n)
{
    if (n > INT_MAX)
        cli_fail("model 'blas': a side of %llu elements is more than BLAS counts", (unsigned long long)n);
    return (int)n;
}

#define BLAS(function, zero)                                                                                           \
    do {                                                                                                               \
        const int rows = as_int(shape->m), columns = as_int(shape->n), inner = as_int(shape->k);                       \
        const int lda = shape->transpose_a ? rows : inner, ldb = shape->transpose_b ? inner : columns;                 \
        if (rows > 0 && columns > 0)                                                                                   \
            function(CblasRowMajor, shape->transpose_a ? CblasTrans : CblasNoTrans,                                    \
                     shape->transpose_b ? CblasTrans : CblasNoTrans, rows, columns, inner, 1, a, lda > 0 ? lda : 1, b, \
                     ldb > 0 ? ldb : 1, zero, c, columns);                                                             \
    } while (0)
#endif

void accumulation_gemm_f32(const accumulation *m, const fpemu_gemm_shape *shape, const float *a, const float *b,
                           float *c, fpemu_stats *stats)
{
#if HAVE_CBLAS
    if (m->blas) {
        BLAS(cblas_sgemm, 0.0f);
        return;
    }
#endif
    cli_check(fpemu_gemm_f32(&m->spec, shape, 1, a, b, 0, c, stats), m->text);
}

void accumulation_gemm_f64(const accumulation *m, const fpemu_gemm_shape *shape, const double *a, const double *b,
                           double *c, fpemu_stats *stats)
{
#if HAVE_CBLAS
    if (m->blas) {
        BLAS(cblas_dgemm, 0.0);
        return;
    }
#endif
    cli_check(fpemu_gemm_f64(&m->spec, shape, 1, a, b, 0, c, stats), m->text);
}
