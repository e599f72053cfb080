/* SPDX-License-Identifier: BSD-2-Clause */
/* function_tables.c - tables of functions of 16-bit words: every word of every table against the call for one element
 * and that for arrays of words, in every mode that goes with tables; what is refused; look-ups of long and short
 * arrays, in place too. */
#include "../judges/longhand.h"
#include "half_words.h"

enum { LONG = 300000 };

typedef fpemu_status table_of(const fpemu_format *, const fpemu_rounding *, fpemu_function, uint16_t *);
static table_of *const makers[TYPES] = {fpemu_function_table_f16, fpemu_function_table_bf16};
static const char *const own[TYPES] = {"fp16", "bf16"};

static uint16_t table[WORDS + 1], looked_up[LONG], operands[LONG];

static void whole_table(const struct type *t, const char *spec, uint8_t mode, fpemu_function function)
{
    fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f;
    unsigned differ = 0, first = 0;
    r.mode = mode;
    lh_check(fpemu_format_parse(spec, &f, NULL) == FPEMU_OK, "%s", spec);
    table[WORDS] = 0x1234;
    if (!lh_check(makers[t - types](&f, &r, function, table) == FPEMU_OK && table[WORDS] == 0x1234,
                  "%s %s mode %u: no table", t->name, spec, (unsigned)mode))
        return;
    for (unsigned i = 0; i < WORDS; i++) {
        const double want = (double)fpemu_apply_one_f32(&f, &r, function, (float)value_of(t, i), 7);
        if (!lh_same_f64(value_of(t, table[i]), want)) {
            first = differ ? first : i;
            differ++;
        }
    }
    for (unsigned i = 0; i < WORDS; i++)
        operands[i] = (uint16_t)i;
    lh_check(fpemu_apply(&f, &r, t->type, function, WORDS, operands, looked_up, NULL) == FPEMU_OK &&
                 memcmp(looked_up, table, WORDS * sizeof *table) == 0,
             "%s %s mode %u, %s: an array of words differs", t->name, spec, (unsigned)mode,
             fpemu_function_name(function));
    lh_check(differ == 0, "%s %s mode %u, %s: %u words differ, %04x first", t->name, spec, (unsigned)mode,
             fpemu_function_name(function), differ, first);
}

static void refusals(const struct type *t)
{
    table_of *const make = makers[t - types];
    const char *const other = own[t == types];
    fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f;
    static const struct {
        const char *spec;
        uint8_t mode, nan;
        fpemu_status status;
    } cases[] = {{"e4m3fn", FPEMU_MODE_SR, FPEMU_NAN_FROM_FORMAT, FPEMU_ERROR_UNSUPPORTED},
                 {"e4m3fn", FPEMU_MODE_SE, FPEMU_NAN_FROM_FORMAT, FPEMU_ERROR_UNSUPPORTED},
                 {"e2m1", FPEMU_MODE_RNE, FPEMU_NAN_ERROR, FPEMU_ERROR_UNSUPPORTED},
                 {"mxfp8", FPEMU_MODE_RNE, FPEMU_NAN_FROM_FORMAT, FPEMU_ERROR_UNSUPPORTED},
                 {"e4m3fn", 77, FPEMU_NAN_FROM_FORMAT, FPEMU_ERROR_ROUNDING}};
    memset(table, 0x5a, sizeof table);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)fpemu_format_parse(cases[i].spec, &f, NULL);
        r.mode = cases[i].mode;
        r.nan = cases[i].nan;
        const fpemu_status got = make(&f, &r, FPEMU_FUNCTION_EXP, table);
        lh_check(got == cases[i].status, "%s %s: status %d", t->name, cases[i].spec, (int)got);
    }
    r = fpemu_rounding_nearest();
    (void)fpemu_format_parse(other, &f, NULL);
    lh_check(make(&f, &r, FPEMU_FUNCTION_EXP, table) == FPEMU_ERROR_CARRIER, "%s: takes %s", t->name, other);
    (void)fpemu_format_parse("e4m3fn", &f, NULL);
    lh_check(make(&f, &r, FPEMU_FUNCTION_COUNT, table) == FPEMU_ERROR_ARGUMENT, "%s: no function", t->name);
    lh_check(make(&f, &r, FPEMU_FUNCTION_EXP, NULL) == FPEMU_ERROR_NULL && make(NULL, &r, 0, table) &&
                 make(&f, NULL, 0, table),
             "%s: no pointer", t->name);
    int kept = 1;
    for (size_t i = 0; i < WORDS; i++)
        kept &= table[i] == 0x5a5a;
    lh_check(kept, "%s: a refusal changed the table", t->name);
    r.nan = FPEMU_NAN_ERROR; /* of a format with NaN it says nothing */
    lh_check(make(&f, &r, FPEMU_FUNCTION_LOG, table) == FPEMU_OK, "%s: NaN policy of a format with NaN", t->name);
}

static void look_ups(void)
{
    static const size_t sizes[] = {1, 2, 31, 1000, LONG};
    lh_check(fpemu_function_table_size() == WORDS * sizeof(uint16_t), "size of a table");
    for (size_t i = 0; i < WORDS; i++)
        table[i] = (uint16_t)(i * 40503u + 77);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int in_place = 0; in_place < 2; in_place++) {
            const size_t n = sizes[k];
            int right = 1;
            for (size_t i = 0; i < LONG; i++) {
                operands[i] = (uint16_t)(i * 52711u + 3);
                looked_up[i] = in_place ? operands[i] : 0xabcd;
            }
            lh_check(fpemu_function_look_up(table, n, in_place ? looked_up : operands, looked_up) == FPEMU_OK,
                     "look-up of %zu", n);
            for (size_t i = 0; i < n; i++)
                right &= looked_up[i] == (uint16_t)(operands[i] * 40503u + 77);
            if (n < LONG)
                right &= looked_up[n] == (in_place ? operands[n] : 0xabcd);
            lh_check(right, "look-up of %zu words, in place %d", n, in_place);
        }
    lh_check(fpemu_function_look_up(table, 0, NULL, NULL) == FPEMU_OK, "no words");
    lh_check(fpemu_function_look_up(NULL, 1, operands, looked_up) == FPEMU_ERROR_NULL &&
                 fpemu_function_look_up(table, 1, NULL, looked_up) == FPEMU_ERROR_NULL &&
                 fpemu_function_look_up(table, 1, operands, NULL) == FPEMU_ERROR_NULL,
             "look-up without a pointer");
    lh_check(fpemu_function_look_up(table, 9, operands, operands + 1) == FPEMU_ERROR_OVERLAP &&
                 fpemu_function_look_up(table, 2, operands, table + WORDS - 1) == FPEMU_ERROR_OVERLAP &&
                 fpemu_function_look_up(table, 1, table, looked_up) == FPEMU_OK,
             "overlaps of a look-up");
}

int main(void)
{
    static const fpemu_function some[] = {FPEMU_FUNCTION_TANH, FPEMU_FUNCTION_LOG, FPEMU_FUNCTION_GELU};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int f = 0; f < FPEMU_FUNCTION_COUNT; f++)
            whole_table(&types[t], own[t], FPEMU_MODE_RNE, (fpemu_function)f);
        for (size_t k = 0; k < sizeof some / sizeof *some; k++)
            for (uint8_t mode = FPEMU_MODE_RNA; mode < FPEMU_MODE_COUNT; mode += mode == FPEMU_MODE_RTO ? 3 : 1)
                whole_table(&types[t], k == 0 ? "e4m3fn" : k == 1 ? "fixed(8,4)" : "e5m2", mode, some[k]);
        whole_table(&types[t], "posit(8,1)", FPEMU_MODE_RNE, FPEMU_FUNCTION_SIGMOID);
        refusals(&types[t]);
    }
    look_ups();
    return lh_report("function_tables");
}
