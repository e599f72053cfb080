/* SPDX-License-Identifier: BSD-2-Clause */
/* codes.c - every code of every format up to 19 bits decodes to the judge's value and encodes back. What
 * the library derives of the values (ends, counts, enumeration) is held against them by tests/unit/check_format.c. */
#include "../judges/bits.h"
#include "../judges/formats.h"
#include "compare.h"

static unsigned long failures, formats;
static unsigned long long codes_checked;

static void fail(const char *spec, const char *what, uint64_t code, uint64_t judged, uint64_t library)
{
    if (failures++ < 100)
        printf("FAIL %s: %s, code 0x%" PRIx64 ": judge 0x%" PRIx64 ", library 0x%" PRIx64 "\n", spec, what, code,
               judged, library);
}

static void *allocate(size_t n)
{
    void *p = malloc(n);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void put_code(void *codes, size_t size, size_t i, uint64_t code)
{
    switch (size) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)codes)[i] = (uint16_t)code; break;
    case 4: ((uint32_t *)codes)[i] = (uint32_t)code; break;
    default: ((uint64_t *)codes)[i] = code; break;
    }
}

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Codes to look at: all of them up to 19 bits, else ends, powers of two and a spread. */
static size_t choose_codes(const fpemu_format *f, uint64_t **codes)
{
    uint64_t mask = mask_of(f->bits), i;
    size_t n = 0;
    if (f->bits <= 19) {
        *codes = allocate((size_t)(mask + 1) * sizeof **codes);
        for (i = 0; i <= mask; i++)
            (*codes)[n++] = i;
        return n;
    }
    *codes = allocate(20000 * sizeof **codes);
    for (i = 0; i < 1000; i++) {
        (*codes)[n++] = i;
        (*codes)[n++] = mask - i;
        (*codes)[n++] = (mask >> 1) - i;
        (*codes)[n++] = (mask >> 1) + 1 + i;
    }
    for (i = 2; i < f->bits; i++) {
        uint64_t d;
        for (d = 0; d < 9; d++)
            (*codes)[n++] = ((UINT64_C(1) << i) + d - 4) & mask;
    }
    for (i = 0; i < 8000; i++)
        (*codes)[n++] = i * UINT64_C(0x9e3779b97f4a7c15) >> (64 - f->bits);
    return n;
}

static void check_carrier(const char *spec, const fpemu_format *f, const fpemu_format *parameters, unsigned carrier)
{
    static const fpemu_rounding nearest;
    judge *j = judge_open(JUDGE_SLOW, parameters, &nearest, carrier);
    uint64_t *codes, *values;
    size_t n, i, size = carrier / 8;
    fpemu_status status;

    if (!j)
        return;
    n = choose_codes(f, &codes);
    void *in = allocate(n * 8), *out = allocate(n * 8), *back = allocate(n * 8);
    values = allocate(n * sizeof *values);
    for (i = 0; i < n; i++)
        values[i] = judge_decode(j, codes[i]);
    /* The second time with the bits above the width set: decoding ignores them. */
    for (int garbage = 0; garbage < 2; garbage++) {
        for (i = 0; i < n; i++)
            put_code(in, fpemu_format_code_size(f), i, codes[i] | (garbage ? ~mask_of(f->bits) : 0));
        status = fpemu_decode(f, carrier, n, in, out);
        if (status)
            fail(spec, "status of decode", 0, 0, status);
        for (i = 0; i < n; i++) {
            const uint64_t v = code_at(out, size, i), code = codes[i] | (garbage ? ~mask_of(f->bits) : 0);
            const uint64_t one = carrier == 32 ? lh_float_bits(fpemu_decode_one_f32(f, code))
                                               : lh_double_bits(fpemu_decode_one_f64(f, code));
            if (v != values[i] || one != values[i])
                fail(spec, carrier == 32 ? "decode f32" : "decode f64", codes[i], values[i], v);
        }
    }
    codes_checked += n;
    for (i = 0; i < n; i++)
        put_code(in, size, i, values[i]);
    status = fpemu_encode(f, &nearest, carrier, n, in, back, NULL);
    if (status)
        fail(spec, "status of encode", 0, 0, status);
    for (i = 0; i < n; i++) {
        judge_result r = judge_round(j, values[i], 0, 1);
        uint64_t code = code_at(back, fpemu_format_code_size(f), i);
        int shared, is_nan = carrier == 32 ? values[i] == 0x7fc00000 : values[i] == UINT64_C(0x7ff8000000000000);
        /* Codes of the subnormal range of a format without subnormals all mean zero; NaN has one code. */
        int unused = f->kind == FPEMU_KIND_FLOAT && f->subnormals && (r.code & mask_of(f->bits - f->is_signed)) == 0;
        if (code != r.code)
            fail(spec, carrier == 32 ? "encode f32" : "encode f64", codes[i], r.code, code);
        /* Affine integers of more bits than the carrier's significand share values, some with integers past the end. */
        shared = f->kind == FPEMU_KIND_INT && f->bits > (carrier == 32 ? 23 : 52);
        if (!shared && (r.bits != values[i] || (!is_nan && !unused && r.code != codes[i])))
            fail(spec, "the judge itself does not come back", codes[i], codes[i], r.code);
    }
    FREE(codes, values, in, out, back);
    judge_close(j);
}

static void check_format(const char *spec, const fpemu_format *parameters, int named)
{
    fpemu_format f = *parameters;
    if (named ? fpemu_format_parse(spec, &f, NULL) : fpemu_format_complete(&f)) {
        fail(spec, "refused", 0, 0, 0);
        return;
    }
    formats++;
    check_carrier(spec, &f, parameters, 32);
    check_carrier(spec, &f, parameters, 64);
}

int main(void)
{
    ref_each(check_format);
    printf("codes: %llu codes of %lu formats, %lu failures\n", codes_checked, formats, failures);
    return failures != 0;
}
