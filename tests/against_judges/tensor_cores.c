/* SPDX-License-Identifier: BSD-2-Clause */
/* tensor_cores.c - the models of tensor cores against what devices gave (tests/vectors/tensor_cores.txt): one matrix
 * instruction a line, whose words must come out, by every way that a product is computed. One NaN is like another. */

#include "../judges/longhand.h"
#include "../vectors/tensor_answers.h"

enum { COLUMNS = 17 }; /* as many outputs take whole vectors and what is left of them */

static void one(const tensor_answer *t)
{
    static float many[TENSOR_BYTES * COLUMNS], sums[COLUMNS];
    static double wide_a[TENSOR_BYTES], wide_many[TENSOR_BYTES * COLUMNS], wide_sums[COLUMNS];
    const tensor_instruction *const as = &tensor_instructions[t->instruction];
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s = {0};
    if (!lh_check(fpemu_gemm_parse(as->model, &spec, NULL) == FPEMU_OK, "%s cannot be read", as->model))
        return;
    spec.start_from_c = 1;
    s.m = 1;
    s.n = COLUMNS;
    s.k = t->n;
    for (unsigned k = 0; k < t->n; k++) {
        wide_a[k] = (double)t->a[k];
        for (unsigned j = 0; j < COLUMNS; j++) {
            many[k * COLUMNS + j] = t->b[k];
            wide_many[k * COLUMNS + j] = (double)t->b[k];
        }
    }
    for (int counted = 0; counted < 2; counted++) {
        fpemu_stats stats = {0};
        for (unsigned j = 0; j < COLUMNS; j++)
            wide_sums[j] = (double)(sums[j] = t->c);
        lh_check(!fpemu_gemm_f32(&spec, &s, 1, t->a, many, 1, sums, counted ? &stats : NULL) &&
                     !fpemu_gemm_f64(&spec, &s, 1, wide_a, wide_many, 1, wide_sums, counted ? &stats : NULL),
                 "line %u: refused", t->line);
        for (unsigned j = 0; j < COLUMNS; j++)
            lh_check(tensor_same((double)sums[j], (double)t->d) && tensor_same(wide_sums[j], (double)t->d),
                     "line %u, %s of %s: %a and %a, the device gave %a", t->line, as->name, as->model, (double)sums[j],
                     wide_sums[j], (double)t->d);
    }
}

int main(void)
{
    const char *source = getenv("top_srcdir");
    char path[4096];
    tensor_answer t = {0};
    unsigned of[TENSOR_INSTRUCTIONS] = {0};
    int found;
    (void)snprintf(path, sizeof path, "%s/tests/vectors/tensor_cores.txt", source ? source : ".");
    FILE *const file = fopen(path, "r");
    if (!lh_check(file != NULL, "cannot open %s", path))
        return lh_report("tensor_cores");
    while ((found = tensor_next(file, &t)) != 0) {
        if (!lh_check(found > 0, "line %u is not understood", t.line))
            continue;
        of[t.instruction]++;
        one(&t);
    }
    (void)fclose(file);
    for (unsigned i = 0; i < TENSOR_INSTRUCTIONS; i++)
        lh_check(of[i] >= 20, "%s of %s has %u answers", tensor_instructions[i].name, tensor_instructions[i].model,
                 of[i]);
    return lh_report("tensor_cores");
}
