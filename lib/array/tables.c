/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c - functions of 16-bit words as tables that the caller keeps: filled by the plain call, read by a look-up. */
#include "array.h"
#include "threads.h"

enum { WORDS = 65536 };

size_t fpemu_function_table_size(void)
{
    return WORDS * sizeof(uint16_t);
}

fpemu_status fpemu_function_table(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                  fpemu_function function, uint16_t *table)
{
    uint16_t word = 0;
    core_reach e;
    if (!carrier_is_narrow((int)type))
        return FPEMU_ERROR_ARGUMENT;
    if (!table)
        return FPEMU_ERROR_NULL;
    if (!core_reach_array(&e, table, WORDS, sizeof *table))
        return FPEMU_ERROR_ARGUMENT;
    fpemu_status status = fpemu_apply(format, rounding, type, function, 1, &word, &word, NULL);
    if (!status || status == FPEMU_ERROR_NAN)
        status = fpemu_refuse(NULL, fpemu_use_refused(format, rounding, FPEMU_USE_FUNCTION_TABLE), format, rounding,
                              (int)type);
    if (status)
        return status;
    for (size_t i = 0; i < WORDS; i++)
        table[i] = (uint16_t)i;
    return fpemu_apply(format, rounding, type, function, WORDS, table, table, NULL);
}

/* Eight at a time: all are read before one is written, so that none waits for a store that might be to x. */
static void look_up(const uint16_t *table, size_t n, const uint16_t *x, uint16_t *y)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint16_t eight[8];
        for (int k = 0; k < 8; k++)
            eight[k] = table[x[i + (size_t)k]];
        memcpy(y + i, eight, sizeof eight);
    }
    for (; i < n; i++)
        y[i] = table[x[i]];
}

fpemu_status fpemu_function_look_up(const uint16_t *table, size_t n, const uint16_t *x, uint16_t *y)
{
    if (n == 0)
        return FPEMU_OK;
    if (!table || !x || !y)
        return FPEMU_ERROR_NULL;
    core_reach from, to;
    const fpemu_status status = check_overlap(x, sizeof *x, y, sizeof *y, n);
    if (status)
        return status;
    if (!core_reach_array(&from, table, WORDS, sizeof *table) || !core_reach_array(&to, y, n, sizeof *y))
        return FPEMU_ERROR_ARGUMENT;
    if (core_reaches_meet(&from, &to))
        return FPEMU_ERROR_OVERLAP;
    const int parts = thread_count(n);
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        look_up(table, n, x, y);
        return FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int part = 0; part < parts; part++) {
        const size_t begin = part_begin(part, parts, n, 0), end = part_begin(part + 1, parts, n, 0);
        look_up(table, end - begin, x + begin, y + begin);
    }
    return FPEMU_OK;
}
