/* SPDX-License-Identifier: BSD-2-Clause */
/* arith_scales.c - arithmetic on operands with scales against exact numbers (GMP), rounded by the slow judge.
 *
 *   every operation and comparison, every mode and stochastic variant, both carriers, counters included
 *   scales that are powers of two, of few bits, of a whole significand, products of two, and special values
 *   blocks of any length, scales that come again, single numbers, operands without scales; products that cancel
 *   all of this with every instruction set
 *
 * usage: arith_scales [ROUNDS]: how many random arrays a format gets in each mode (default 1)
 */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../judges/formats.h"
#include "expected.h"
#include "variants.h"

/* ------------------------------------------------------------------------------------------ exact numbers */

static number operand[3];

/* ------------------------------------------------------------------------------------------------ the data */

enum { MOST = 2200 };

typedef struct array {
    double element[MOST], scale[MOST];
    float element32[MOST], scale32[MOST];
    size_t step, length, count;
    int scaled;
} array;

static array arrays[3];
static uint64_t state = 20261120;

static unsigned pick(unsigned n)
{
    return (unsigned)(lh_next(&state) >> 33) % n;
}

/* +-(1 + ...) of so many bits, times 2^-low .. 2^high. */
static double draw(unsigned bits, int low, int high)
{
    const uint64_t k = (lh_next(&state) >> (64 - bits)) | UINT64_C(1) << (bits - 1);
    const double x = ldexp((double)k, 1 - (int)bits + low + (int)pick((unsigned)(high - low + 1)));
    return pick(2) ? -x : x;
}

static double draw_special(unsigned carrier)
{
    const double specials[] = LIST(0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, carrier == 32 ? 0x1p-149 : 0x1p-500,
                                   carrier == 32 ? 0x1.fffffep127 : 0x1.fffffep500);
    return specials[pick(sizeof specials / sizeof *specials)];
}

/* Kinds of scale: e8m0, e4m3, any number of 24 bits, the product of two, special. */
static double draw_scale(unsigned kind, unsigned carrier)
{
    switch (kind) {
    case 0: return ldexp(1, (int)pick(carrier == 32 ? 20 : 40) - 10);
    case 1: return fabs(draw(4, -6, 8));
    case 2: return draw(24, -12, 12);
    case 3: return (double)((float)draw(4, -6, 8) * (float)draw(24, -8, 2));
    case 4: return draw(24, carrier == 32 ? -126 : -250, carrier == 32 ? 127 : 250);
    default: return pick(3) ? ldexp(1, (int)pick(9) - 4) : draw_special(carrier);
    }
}

static void draw_array(array *a, unsigned carrier, size_t n)
{
    static const size_t lengths[] = {0, 1, 3, 16, 32, 700, 5000}, counts[] = {0, 1, 2, 7};
    const unsigned kind = pick(6), elements = pick(5);
    a->step = pick(6) ? 1 : 0;
    a->scaled = pick(6) != 0;
    a->length = lengths[pick(7)];
    a->count = counts[pick(4)];
    for (size_t i = 0; i < n; i++) {
        a->scale[i] = draw_scale(kind, carrier);
        switch (elements) {
        case 0: a->element[i] = draw(2, 0, 2); break;
        case 1: a->element[i] = draw(4, -9, 8); break;
        case 2: a->element[i] = draw(24, -10, 10); break;
        case 3: /* power of two scales leave room for all of binary64 */
            a->element[i] = draw(carrier == 64 && kind == 0 ? 53 : 24, carrier == 32 ? -140 : -250, 100);
            break;
        default: a->element[i] = pick(4) ? draw(11, -14, 15) : draw_special(carrier);
        }
    }
}

static double scale_of(const array *a, size_t i)
{
    const size_t block = a->length ? i / a->length : 0;
    return a->scaled ? a->scale[a->count ? block % a->count : block] : 1;
}

/* Makes the second operand (of fma the third) undo the first, or leave the last bits of its products. */
static void cancel(int third, unsigned carrier, size_t n)
{
    array *a = &arrays[0], *b = &arrays[third ? 2 : 1];
    for (size_t i = 0; i < n; i++) {
        if (third) {
            b->element[i] = -a->element[i * a->step];
            b->scale[i] = scale_of(a, i) * (carrier == 64 || pick(2) ? 1 : 1 - 0x1p-20); /* no more than binary64 */
            arrays[1].element[i] = pick(2) ? 1 : 1 + 0x1p-23;
        } else {
            b->element[i] = -scale_of(a, i);
            b->scale[i] = pick(2) ? a->element[i * a->step] : (double)nextafterf((float)a->element[i * a->step], 0);
        }
    }
    b->scaled = 1;
    b->step = b->length = 1;
    b->count = 0;
    if (third) {
        arrays[1].step = 1;
        arrays[1].scaled = 0;
    }
}

static void draw_arrays(unsigned carrier, fpemu_operation operation, size_t n)
{
    for (int o = 0; o < 3; o++)
        draw_array(&arrays[o], carrier, n);
    if (pick(3) == 0 && (operation <= FPEMU_OPERATION_SUB || operation == FPEMU_OPERATION_FMA))
        cancel(operation == FPEMU_OPERATION_FMA, carrier, n);
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < n; i++) {
            array *a = &arrays[o];
            a->element32[i] = (float)a->element[i];
            a->scale32[i] = (float)a->scale[i];
            if (carrier == 32) {
                a->element[i] = (double)a->element32[i];
                a->scale[i] = (double)a->scale32[i];
            }
        }
}

static void set_operands(size_t i)
{
    static number scale;
    if (!scale.k->_mp_alloc)
        mpz_init(scale.k);
    for (int o = 0; o < 3; o++) {
        number_double(&operand[o], arrays[o].element[arrays[o].step * i]);
        number_double(&scale, scale_of(&arrays[o], i));
        multiply(&operand[o], &scale);
        operand[o].invalid = 0; /* the operand is a NaN, as its decoded value would be */
    }
}

/* ------------------------------------------------------------------------------------------- the comparison */

static float y32[MOST];
static double y64[MOST];
static uint8_t truth[MOST];

static fpemu_status run(const fpemu_format *f, const fpemu_rounding *r, fpemu_operation operation, unsigned carrier,
                        size_t n, fpemu_stats *stats)
{
    fpemu_operand_scales scales[3];
    const void *elements[3];
    size_t steps[3];
    for (int o = 0; o < 3; o++) {
        const array *a = &arrays[o];
        const void *const values = carrier == 32 ? (const void *)a->scale32 : (const void *)a->scale;
        scales[o] = (fpemu_operand_scales){{a->scaled ? values : NULL}, a->length, a->count};
        elements[o] = carrier == 32 ? (const void *)a->element32 : (const void *)a->element;
        steps[o] = a->step;
    }
    if (operation == FPEMU_OPERATION_COUNT) { /* comparisons: one after the other, in bits of truth */
        fpemu_status all = FPEMU_OK;
        static uint8_t one[MOST];
        const int plain = !arrays[0].scaled && !arrays[1].scaled;
        memset(truth, 0, sizeof truth);
        for (unsigned k = 0; k < FPEMU_RELATION_COUNT; k++) {
            const fpemu_relation relation = (fpemu_relation)k;
            const fpemu_status status = plain
                                            ? fpemu_compare(carrier, relation, n, elements, steps, one)
                                            : fpemu_compare_scaled(carrier, relation, n, elements, steps, scales, one);
            all = status ? status : all;
            for (size_t i = 0; i < n; i++)
                truth[i] |= (uint8_t)(one[i] << k);
        }
        return all;
    }
    return fpemu_arith_scaled(f, r, carrier, operation, n, elements, steps, scales,
                              carrier == 32 ? (void *)y32 : (void *)y64, stats);
}

static void expect(fpemu_stats *e, double x, double y, uint32_t events)
{
    e->count++;
    e->nan += operand[0].kind == NOT_A_NUMBER;
    e->infinite += operand[0].kind == INFINITE;
    e->invalid += operand[0].invalid && !(events & JUDGE_INVALID);
    e->div_by_zero += (uint64_t)operand[0].div_by_zero;
    expect_events(e, events, 1);
    expect_extrema(e, x, y);
}

static void check_relations(unsigned carrier, size_t n)
{
    if (!lh_check(run(NULL, NULL, FPEMU_OPERATION_COUNT, carrier, n, NULL) == FPEMU_OK, "comparisons refused"))
        return;
    for (size_t i = 0; i < n; i++) {
        unsigned want = 0;
        set_operands(i);
        if (operand[0].kind != NOT_A_NUMBER && operand[1].kind != NOT_A_NUMBER) {
            const int c = compare(&operand[0], &operand[1]);
            want = (unsigned)((c == 0) << FPEMU_RELATION_EQ | (c < 0) << FPEMU_RELATION_LT |
                              (c <= 0) << FPEMU_RELATION_LE);
        }
        lh_check(truth[i] == want, "f%u comparisons of %a * %a with %a * %a: %u, judge %u", carrier,
                 arrays[0].element[arrays[0].step * i], scale_of(&arrays[0], i), arrays[1].element[arrays[1].step * i],
                 scale_of(&arrays[1], i), truth[i], want);
    }
}

static void check_operation(const char *spec, const fpemu_format *typed, const fpemu_format *f, const fpemu_rounding *r,
                            fpemu_operation operation, unsigned carrier, size_t n)
{
    char what[200];
    fpemu_stats have = {0}, want = {0};
    judge *j = judge_open_slow(typed, r, carrier);
    snprintf(what, sizeof what, "%s operation %u mode %u variant %u f%u", spec, operation, r->mode, r->variant,
             carrier);
    const int counted = (int)pick(2);
    const fpemu_status status = run(f, r, operation, carrier, n, counted ? &have : NULL);
    if (!lh_check(j && status == FPEMU_OK, "%s: %s", what, fpemu_status_text(status)))
        return;
    for (size_t i = 0; i < n; i++) {
        set_operands(i);
        operate(operation, &operand[0], &operand[1], &operand[2], r->mode == FPEMU_MODE_RTN);
        const judge_result answer = judge_number(j, carrier, &operand[0], fpemu_random_bits(r, i));
        const uint64_t got = carrier == 32 ? lh_float_bits(y32[i]) : lh_double_bits(y64[i]);
        lh_check(got == answer.bits, "%s element %zu: (%a * %a, %a * %a, %a * %a) -> %" PRIx64 ", judge %" PRIx64, what,
                 i, arrays[0].element[arrays[0].step * i], scale_of(&arrays[0], i),
                 arrays[1].element[arrays[1].step * i], scale_of(&arrays[1], i), arrays[2].element[arrays[2].step * i],
                 scale_of(&arrays[2], i), got, answer.bits);
        expect(&want, nearest_double(&operand[0]), carrier_value(carrier, answer.bits), answer.events);
    }
    const char *const other = counted ? other_counts(&have, &want) : NULL;
    lh_check(!other, "%s: counter %s", what, other);
    judge_close(j);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"binary32", "binary16",    "bfloat16", "e4m3fn",
                                        "e5m2",     "posit(16,1)", "binary64"};
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    static const size_t sizes[] = {1, 40, 257, MOST};
    for (int o = 0; o < 3; o++)
        mpz_init(operand[o].k);
    mpz_init(operand[0].k);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        fpemu_format f;
        fpemu_rounding r;
        const fpemu_format *typed = &ref_find(specs[s])->f;
        lh_check(fpemu_format_parse(specs[s], &f, NULL) == FPEMU_OK, "cannot parse %s", specs[s]);
        for (unsigned k = 0; k < rounds * FPEMU_OPERATION_COUNT; k++)
            for (unsigned i = 0; rounding_of(i, &r) && (i == 0 || f.kind != FPEMU_KIND_POSIT); i++)
                for (unsigned carrier = f.fits_f32 ? 32 : 64; carrier <= 64; carrier += 32) {
                    const fpemu_operation operation = (fpemu_operation)(k % FPEMU_OPERATION_COUNT);
                    const size_t n = sizes[pick(20) ? pick(3) : 3];
                    draw_arrays(carrier, operation, n);
                    check_operation(specs[s], typed, &f, &r, operation, carrier, n);
                    check_relations(carrier, n);
                }
    }
    if (!variants_is_child(argc, argv))
        variants_rerun(argv[0], argc > 1 ? argv[1] : "1", 0);
    const int status = lh_report("arith_scales");
    if (variants_is_child(argc, argv))
        variants_print(0);
    return status;
}
