/* SPDX-License-Identifier: BSD-2-Clause */
/* operation.c - see operation.h */
#include "testing/operation.h"

#include <stdio.h>
#include <string.h>

#include "cli/error.h"

static const operation operations[] = {{"convert", 1, true, FPEMU_OPERATION_ADD},
                                       {"add", 2, false, FPEMU_OPERATION_ADD},
                                       {"sub", 2, false, FPEMU_OPERATION_SUB},
                                       {"mul", 2, false, FPEMU_OPERATION_MUL},
                                       {"div", 2, false, FPEMU_OPERATION_DIV},
                                       {"sqrt", 1, false, FPEMU_OPERATION_SQRT},
                                       {"fma", 3, false, FPEMU_OPERATION_FMA},
                                       {"minimum", 2, false, FPEMU_OPERATION_MINIMUM},
                                       {"maximum", 2, false, FPEMU_OPERATION_MAXIMUM},
                                       {"minimum-number", 2, false, FPEMU_OPERATION_MINIMUM_NUMBER},
                                       {"maximum-number", 2, false, FPEMU_OPERATION_MAXIMUM_NUMBER}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

const operation *operation_search(const char *name)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

const operation *operation_find(const char *name, const char *others)
{
    const operation *found = operation_search(name);
    char known[160] = "";
    if (found != NULL)
        return found;
    for (int i = 0; i < OPERATIONS; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", operations[i].name);
    }
    cli_usage("--op: '%s' is none of:%s%s", name, known, others);
}

double operation_exact(const operation *o, const double operands[OPERATION_MOST])
{
    static const fpemu_rounding to_odd = {.mode = FPEMU_MODE_RTO};
    static fpemu_format binary64;
    if (o->converts)
        return operands[0];
    if (binary64.kind == FPEMU_KIND_INVALID)
        cli_check(fpemu_format_named(FPEMU_NAME_BINARY64, &binary64), "fp64");
    return fpemu_arith_one_f64(&binary64, &to_odd, o->code, operands[0], operands[1], operands[2], 0);
}

void operation_run(const operation *o, const fpemu_format *format, const fpemu_rounding *rounding, size_t n,
                   const double *const operands[OPERATION_MOST], double *y, fpemu_stats *stats, const char *spec)
{
    cli_check_call(o->converts ? fpemu_quantize_f64(format, rounding, n, operands[0], y, stats)
                               : fpemu_arith_f64(format, rounding, o->code, n, operands, NULL, y, stats),
                   format, rounding, true, o->converts ? FPEMU_USE_QUANTIZE : FPEMU_USE_OPERATION + (int)o->code, spec);
}
