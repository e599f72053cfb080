/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.c - libfpemu_cuda's arithmetic, functions and comparisons against libfpemu's, bit for bit, counters and
 * sums included; simulated on this processor or run on a device, as quantize.c.
 *
 *   every operation, every mode, both generators; float, double, bfloat16 and binary16 arrays; single numbers
 *   numbers around the ends of a format
 *   operands with scales of one block, of many, repeated; scales that are no powers of two
 *   every function on numbers of 16 bits; wider ones become NaN
 *   every relation; lengths around warps and blocks of sums, offsets within them */

#include "memory.h"

#define SEED 3
#include "random.h"

enum { MOST = 9000 };

static unsigned long failures, comparisons;
static unsigned char in[3][8 * MOST], want[8 * MOST], got[8 * MOST], stats_room[1 << 20];

static void fail(const char *spec, const char *what, int work, const fpemu_rounding *r, int type, size_t n, size_t at)
{
    if (failures++ < 25)
        printf("FAIL %s %s %d mode=%d bits=%d variant=%d type=%d offset=%llu n=%zu at %zu\n", spec, what, work, r->mode,
               r->bits, r->variant, type, (unsigned long long)r->offset, n, at);
}

/* Any bits, or numbers of one size. */
static void fill(int type, int any)
{
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < MOST; i++) {
            const uint64_t r = next();
            const double x = (double)((int64_t)(r >> 30) % 65536 - 32768) / (double)(1 << (r & 15));
            const float f = (float)x;
            uint32_t v;
            memcpy(&v, &f, 4);
            const uint64_t bits = any && r % 3 == 0 ? next() : type == F32 ? v : v >> 16;
            if (type == F64 && !(any && r % 3 == 0))
                memcpy(in[o] + i * 8, &x, 8);
            else
                memcpy(in[o] + i * element[type], &bits, element[type]);
        }
}

/* Numbers around the ends of a format and of the type, and specials. */
static void fill_edges(int type, const fpemu_format *f)
{
    static const double factors[] = {1, 1, 0.5, 1.5, 2, 1 + 0x1p-11, 1 - 0x1p-9, 1 + 0x1p-23, 0x1p-40};
    static const uint16_t halves[] = {0,      1,      0x3ff,  0x400,  0x401,  0x3c00,
                                      0x3c01, 0x7bff, 0x7c00, 0x7e00, 0x5bff, 0x1400};
    const double ends[] = {0, 1, f->max, f->min_normal, f->min_positive, FLT_MAX, (double)INFINITY, (double)NAN};
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < MOST; i++) {
            const uint64_t r = next();
            const double x = ends[(r >> 8) % 8] * factors[(r >> 16) % 9] * (r & 1 ? 1 : -1);
            const float narrow = (float)x;
            uint32_t v;
            memcpy(&v, &narrow, 4);
            const uint64_t word = type == F32    ? v
                                  : type == BF16 ? v >> 16
                                                 : halves[(r >> 8) % 12] | (uint64_t)(r & 1) << 15;
            memcpy(in[o] + i * element[type], type == F64 ? (const void *)&x : (const void *)&word, element[type]);
        }
}

/* Scales of three operands, binary32 numbers, binary64 ones where the operands are, on the host and on the device. */
enum { SCALES = 600 };
typedef struct scale_set {
    fpemu_operand_scales here[3], there[3];
} scale_set;

static void choose_scales(int type, scale_set *s)
{
    static float single[3][SCALES];
    static double twice[3][SCALES];
    static const size_t lengths[] = {0, 1, 7, 32, 1000}, counts[] = {0, 1, 3};
    memset(s, 0, sizeof *s);
    for (int o = 0; o < 3; o++) {
        const size_t count = counts[next() % 3], length = count ? lengths[next() % 5] : next() % 2 ? 0 : 16;
        if (next() % 3 == 0)
            continue;
        for (int i = 0; i < SCALES; i++) {
            const uint64_t r = next();
            single[o][i] =
                r % 50 == 0 ? 0 : (float)((r >> 8) % 4095 + 1) / (float)(1 << (r >> 40) % 16) * (r & 1 ? 1 : -1);
            twice[o][i] = (double)single[o][i];
        }
        const size_t bytes = type == F64 ? sizeof twice[o] : sizeof single[o];
        const void *const here = type == F64 ? (const void *)twice[o] : (const void *)single[o];
        char *const there = (char *)device_memory(5, 3 * sizeof twice[o]) + (size_t)o * sizeof twice[o];
        to_device(there, here, bytes);
        s->here[o] = (fpemu_operand_scales){{here}, length, count};
        s->there[o] = (fpemu_operand_scales){{there}, length, count};
    }
}

/* What the CPU gives. function: work is one. */
static fpemu_cuda_status reference(const fpemu_format *f, const fpemu_rounding *r, int function, int work, int type,
                                   size_t n, const size_t *steps, const scale_set *scales, fpemu_stats *s)
{
    const fpemu_operation operation = (fpemu_operation)work;
    const fpemu_function apply = (fpemu_function)work;
    const void *const operands[3] = {in[0], in[1], in[2]};
    const fpemu_status status = function ? fpemu_apply(f, r, types[type], apply, n, in[0], want, s)
                                         : fpemu_arith_scaled(f, r, types[type], operation, n, operands, steps,
                                                              scales ? scales->here : NULL, want, s);
    return (fpemu_cuda_status)status;
}

static void one(const char *spec, const fpemu_format *f, int function, int work, int mode, int type, size_t n)
{
    fpemu_rounding r = random_rounding(mode);
    size_t steps[3] = {1, 1, 1};
    uint64_t bins[2][40] = {0};
    scale_set set;
    const scale_set *const scales = !function && next() % 3 == 0 ? &set : NULL;
    const int counted = (int)(next() % 3), single = !function && next() % 4 == 0;
    fpemu_stats s[2] = {empty_stats(counted > 1, bins[0], 40), empty_stats(counted > 1, bins[1], 40)};
    r.offset = next() % 3 ? next() % 9000 : 0;
    if (next() % 16 == 0) /* the farthest that kernels take, and before */
        r.offset = UINT64_MAX - MOST - 4096 - next() % 30000;
    if (!function && next() % 3 == 0)
        fill_edges(type, f);
    else
        fill(type, !function && next() % 2);
    if (function && type <= F64) /* what functions take */
        for (size_t i = 0; i < MOST; i++) {
            uint64_t u = 0;
            memcpy(&u, in[0] + i * element[type], element[type]);
            u &= type == F32 ? UINT64_C(0xffff0000) : ~((UINT64_C(1) << 37) - 1);
            memcpy(in[0] + i * element[type], &u, element[type]);
        }
    if (single)
        steps[next() % 2] = 0;
    if (scales)
        choose_scales(type, &set);
    const fpemu_cuda_status expected = reference(f, &r, function, work, type, n, steps, scales, counted ? &s[0] : NULL);
    if (scales && type == F64 && expected == FPEMU_CUDA_ERROR_ARGUMENT)
        return; /* a product is no binary64 number: check_operands */
    const fpemu_rounding there = for_device(r, next() % 2);
    void *d[3], *const d_y = device_memory(3, 8 * MOST);
    fpemu_cuda_stats *const d_s = device_memory(4, fpemu_cuda_stats_size());
    for (int o = 0; o < 3; o++) {
        d[o] = device_memory(o, 8 * MOST);
        to_device(d[o], in[o], n * element[type]);
    }
    void *const y = !single && counted == 1 ? d[0] : d_y; /* in place */
    fpemu_cuda_status status = fpemu_cuda_stats_clear(d_s, s[1].request.want, NULL);
    fpemu_cuda_stats *const stats = counted ? d_s : NULL;
    if (function)
        status = fpemu_cuda_apply(f, &there, types[type], (fpemu_function)work, n, d[0], y, stats, NULL);
    else
        status = fpemu_cuda_arith_scaled(f, &there, types[type], (fpemu_operation)work, n, (const void *const *)d,
                                         steps, scales ? scales->there : NULL, y, stats, NULL);
    if (r.nan == FPEMU_NAN_ERROR && status == FPEMU_CUDA_ERROR_UNSUPPORTED && !f->has_nan)
        return; /* devices refuse it */
    if (status == FPEMU_CUDA_ERROR_CARRIER && status == expected)
        return;
    comparisons++;
    from_device(got, y, n * element[type]);
    if (status != expected)
        fail(spec, "status", work, &r, type, n, (size_t)status);
    for (size_t i = 0; i < n && !status; i++)
        if (memcmp(got + i * element[type], want + i * element[type], element[type]) != 0) {
            fail(spec, function ? "apply" : "arith", work, &r, type, n, i);
            break;
        }
    if (counted && !status) {
        status = fpemu_cuda_stats_read(d_s, stats_room, &s[1], NULL);
        if (status || !same_stats(&s[0], &s[1]) || memcmp(bins[0], bins[1], sizeof bins[0]) != 0)
            fail(spec, "stats", work, &r, type, n, (size_t)status);
    }
}

static void check_relations(void)
{
    const fpemu_rounding r = fpemu_rounding_nearest();
    for (int relation = 0; relation < FPEMU_RELATION_COUNT; relation++)
        for (int wide_type = 0; wide_type < 2; wide_type++) {
            const int type = wide_type ? F64 : F32;
            const size_t n = 1000;
            fill(type, 1);
            memcpy(in[1], in[0], 3000);
            memset(in[0] + 3200, 0x80, 1); /* of unlike zeros, too */
            void *const d_a = device_memory(0, 8 * MOST), *const d_b = device_memory(1, 8 * MOST);
            uint8_t *const d_y = device_memory(3, 8 * MOST);
            to_device(d_a, in[0], 8 * n);
            to_device(d_b, in[1], 8 * n);
            scale_set set;
            fpemu_cuda_status status;
            choose_scales(type, &set);
            memset(want, 2, n);
            const void *const here[2] = {in[0], in[1]}, *const there[2] = {d_a, d_b};
            if (fpemu_compare_scaled(types[type], (fpemu_relation)relation, n, here, NULL, set.here, want)) {
                memset(&set, 0, sizeof set); /* some product is no binary64 number */
                fpemu_compare(types[type], (fpemu_relation)relation, n, here, NULL, want);
            }
            status =
                fpemu_cuda_compare_scaled(types[type], (fpemu_relation)relation, n, there, NULL, set.there, d_y, NULL);
            from_device(got, d_y, n);
            comparisons++;
            if (status || memcmp(got, want, n) != 0)
                fail("", "compare", relation, &r, type, n, 0);
        }
}

/* (1 - 2^-30) (1 + 2^-30) = 1 - 2^-60, each factor an element times its scale: in binary64 the product is 1. */
static void check_long_product(void)
{
    fpemu_format f;
    fpemu_rounding r = fpemu_rounding_nearest();
    const float x[4] = {1 - 0x1p-15f, 0x1.3ac5p1f, 1 + 0x1p-15f, 0x1.a068p-2f}; /* 80581 and 13325, over 2^15 */
    float *const d_x = device_memory(0, 8 * MOST), *const d_y = device_memory(3, 8 * MOST), y;
    const float *const all[2] = {d_x, d_x + 1};
    const fpemu_operand_scales_f32 scales[2] = {{{d_x + 2}, 0, 0}, {{d_x + 3}, 0, 0}};
    fpemu_format_named(FPEMU_NAME_BINARY16, &f);
    r.mode = FPEMU_MODE_RTZ;
    to_device(d_x, x, sizeof x);
    const fpemu_cuda_status status =
        fpemu_cuda_arith_scaled_f32(&f, &r, FPEMU_OPERATION_MUL, 1, all, NULL, scales, d_y, NULL, NULL);
    from_device(&y, d_y, sizeof y);
    comparisons++;
    if (status || y != 1 - 0x1p-11f) {
        printf("FAIL long product: %d %a\n", status, (double)y);
        failures++;
    }
}

/* Operands that functions do not take become NaN, as does a product that is no binary64 number. */
static void check_operands(void)
{
    fpemu_format f, wide;
    const fpemu_rounding r = fpemu_rounding_nearest();
    const float x[2] = {1.0000001f, 1};
    const double third[2] = {1.0 / 3, 1}, factor[2] = {1.0 / 3, 2};
    float *const d_x = device_memory(0, 8 * MOST), *const d_y = device_memory(3, 8 * MOST), y[2];
    double *const d_third = device_memory(1, 8 * MOST), *const d_factor = device_memory(6, 3 * SCALES * 8), sum[2];
    double *const d_sum = device_memory(2, 8 * MOST);
    const double *const terms[2] = {d_third, d_third};
    const fpemu_operand_scales_f64 scales[2] = {{{d_factor}, 1, 0}, {{NULL}, 0, 0}};
    fpemu_format_named(FPEMU_NAME_BINARY16, &f);
    fpemu_format_named(FPEMU_NAME_BINARY64, &wide);
    to_device(d_x, x, sizeof x);
    to_device(d_third, third, sizeof third);
    to_device(d_factor, factor, sizeof factor);
    const fpemu_cuda_status applied = fpemu_cuda_apply_f32(&f, &r, FPEMU_FUNCTION_EXP2, 2, d_x, d_y, NULL, NULL);
    const fpemu_cuda_status added =
        fpemu_cuda_arith_scaled_f64(&wide, &r, FPEMU_OPERATION_ADD, 2, terms, NULL, scales, d_sum, NULL, NULL);
    from_device(y, d_y, sizeof y);
    from_device(sum, d_sum, sizeof sum);
    comparisons += 2;
    if (applied || y[0] == y[0] || y[1] != 2 || added || sum[0] == sum[0] || sum[1] != 3) {
        printf("FAIL operands: %d %g %g, %d %g %g\n", applied, (double)y[0], (double)y[1], added, sum[0], sum[1]);
        failures++;
    }
}

static void check_refusals(void)
{
    fpemu_format f;
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_rounding farthest = r, beyond = r;
    farthest.offset = UINT64_MAX - 4096 - 2;
    beyond.offset = farthest.offset + 1;
    fpemu_format_named(FPEMU_NAME_BINARY16, &f);
    float *const x = device_memory(0, 8 * MOST), *const y = device_memory(3, 8 * MOST);
    float *const high = (float *)(UINTPTR_MAX - 3); /* the last of memory */
    unsigned char *const d_s = device_memory(4, fpemu_cuda_stats_size() + 8);
    fpemu_cuda_stats *const crooked = (fpemu_cuda_stats *)(void *)(d_s + 4);
    const size_t first[2] = {0, 1}, single[2] = {0, 0};
    const float *const in_y[2] = {y + 1, x}, *const numbers[2] = {x, x}, *const past[2] = {x, high};
    const fpemu_operand_scales_f32 inside[2] = {{{y + 1}, 1, 0}, {{NULL}, 0, 0}};
    const fpemu_operation add = FPEMU_OPERATION_ADD, root = FPEMU_OPERATION_SQRT;
    const fpemu_function power = FPEMU_FUNCTION_EXP2;
    const refusal cases[] = {
        SAYS(ERROR_OVERLAP, "a single number in y", fpemu_cuda_arith_f32(&f, &r, add, 2, in_y, first, y, NULL, NULL)),
        SAYS(ERROR_OVERLAP, "scales in y",
             fpemu_cuda_arith_scaled_f32(&f, &r, add, 2, numbers, NULL, inside, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of arith",
             fpemu_cuda_arith_f32(&f, &r, root, 2, numbers, NULL, y, crooked, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of apply", fpemu_cuda_apply_f32(&f, &r, power, 2, x, y, crooked, NULL)),
        SAYS(OK, "the farthest offset", fpemu_cuda_apply_f32(&f, &farthest, power, 2, x, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "an offset beyond",
             fpemu_cuda_arith_f32(&f, &beyond, root, 2, numbers, NULL, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "a single number past memory",
             fpemu_cuda_arith_f32(&f, &r, add, 2, past, single, y, NULL, NULL)),
        SAYS(ERROR_NULL, "no format", fpemu_cuda_arith_f32(NULL, &r, add, 2, numbers, NULL, y, NULL, NULL)),
        SAYS(ERROR_NULL, "no rounding", fpemu_cuda_apply_f32(&f, NULL, power, 2, x, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "y past memory", fpemu_cuda_arith_f32(&f, &r, add, 2, numbers, single, high, NULL, NULL)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, comparisons++)
        failures += differs(&cases[i]);
}

int main(void)
{
    static const char *const specs[] = {"fp16",        "e5m2", "bf16:saturate", "fixed(12,4)",
                                        "posit(16,2)", "e8m0", "fp32",          "hif8",
                                        "fp64",        "e2m1", "fp16:flushout", "int(8,scale=0.5)"};
    static const size_t lengths[] = {1, 31, 33, 400, 4097, 5000};
    device_begin();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        fpemu_format f;
        if (fpemu_format_parse(specs[i], &f, NULL)) {
            printf("FAIL %s is not read\n", specs[i]);
            failures++;
            continue;
        }
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
            for (int type = F32; type <= F16; type++) {
                if (type == F64 ? !f.fits_f64 : !f.fits_f32)
                    continue;
                const int rounds = mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_SR ? 4 : 1; /* in forms of their own */
                for (int work = 0; work < rounds * FPEMU_OPERATION_COUNT; work++)
                    one(specs[i], &f, 0, work % FPEMU_OPERATION_COUNT, mode, type,
                        lengths[next() % 3 + (next() % 16 == 0 ? 3 : 0)]);
                if (f.fits_f32)
                    one(specs[i], &f, 1, (int)(next() % FPEMU_FUNCTION_COUNT), mode, type, 50);
            }
    }
    for (int function = 0; function < FPEMU_FUNCTION_COUNT; function++) {
        fpemu_format f;
        fpemu_format_named(FPEMU_NAME_BINARY16, &f);
        one("fp16", &f, 1, function, FPEMU_MODE_RNE, F32, 300);
    }
    check_relations();
    check_long_product();
    check_operands();
    check_refusals();
    printf("arith: %lu calls, %lu failures\n", comparisons, failures);
    return failures != 0;
}
