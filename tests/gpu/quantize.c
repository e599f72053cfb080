/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - quantising, encoding and decoding by libfpemu_cuda against libfpemu, bit for bit, counters and sums
 * included. Linked with gpu/simulate.c it runs the kernels on this processor; linked with the CUDA library
 * (memory_device.c gives the memory) it runs on the device.
 *
 *   every named format and a choice of others, every mode, variant, generator, number of random bits and setting
 *   lengths around every boundary (warp, piece, block of sums), offsets in the middle of them, in place
 *   arrays at any multiple of their elements' size, so that vectors lie aligned in both, in one or in none; what lies
 *   beside the result stays
 *   float, double, bfloat16 and binary16 arrays; codes of 1, 2, 4 and 8 bytes, both ways
 *   largest errors to the last bit */

#include "memory.h"

#define SEED 7
#include "random.h"

static unsigned long failures, comparisons;

static void fail(const char *spec, const char *what, const fpemu_rounding *r, size_t n, size_t i)
{
    if (failures++ < 25)
        printf("FAIL %s %s mode=%d bits=%d variant=%d generator=%d offset=%llu n=%zu at %zu\n", spec, what, r->mode,
               r->bits, r->variant, r->generator, (unsigned long long)r->offset, n, i);
}

/* A bit pattern of `bits` bits: any, or a number of ordinary size, by turns; now and then zero. */
static uint64_t pattern(int bits)
{
    const uint64_t r = next();
    if (r % 64 == 1)
        return 0;
    if (r % 3 == 0)
        return bits == 64 ? next() : next() >> (64 - bits);
    const double x = (double)(int64_t)next() / 9223372036854775808.0 * (double)((uint64_t)1 << (r >> 8) % 20) /
                     (double)((uint64_t)1 << (r >> 16) % 20);
    uint64_t u;
    uint32_t v;
    const float f = (float)x;
    memcpy(&u, &x, 8);
    memcpy(&v, &f, 4);
    return bits == 64 ? u : bits == 32 ? v : v >> 16; /* 16 bits: bfloat16, and a spread of binary16 */
}

enum { MOST = 10000 };

enum { BESIDE = 64, ROOM = 8 * MOST + 2 * BESIDE };

static unsigned char in[8 * MOST], want[8 * MOST], got[ROOM];

/* Where an array of such elements begins in its buffer. */
static size_t place_of(size_t size)
{
    return BESIDE / 2 + (next() % 2 ? 0 : next() % 4 * size);
}

/* Fetches n bytes from `place` of a buffer to got; whether all that lies beside them still is 0xa5. */
static int fetch(const unsigned char *d, size_t place, size_t n)
{
    int same = 1;
    from_device(got, d, place + n + BESIDE);
    for (size_t i = 0; i < BESIDE; i++)
        same &= (i >= place || got[place - 1 - i] == 0xa5) && got[place + n + i] == 0xa5;
    memmove(got, got + place, n);
    return same;
}

/* One call of each verb on n elements; `counted` asks for everything that can be counted. */
static void compare(const char *spec, const fpemu_format *f, const fpemu_rounding *r, int type, size_t n, int counted)
{
    static unsigned char scratch[1 << 20];
    uint64_t bins[2][40];
    const size_t size = fpemu_format_code_size(f);
    unsigned char *const buffer[2] = {device_memory(0, ROOM), device_memory(1, ROOM)};
    fpemu_cuda_stats *const d_s = device_memory(2, fpemu_cuda_stats_size());
    const fpemu_rounding there = for_device(*r, next() % 2);
    const void *const x = in;
    void *const y = want;
    for (int to_code = 0; to_code < 2; to_code++) {
        fpemu_stats s[2] = {empty_stats(counted > 1, bins[0], 40), empty_stats(counted > 1, bins[1], 40)};
        memset(bins, 0, sizeof bins);
        const int in_place = !to_code && counted == 1;
        const size_t out = to_code ? size : element[type];
        const fpemu_cuda_status expected =
            to_code ? (fpemu_cuda_status)fpemu_encode(f, r, types[type], n, x, y, counted ? &s[0] : NULL)
                    : (fpemu_cuda_status)fpemu_quantize(f, r, types[type], n, x, y, counted ? &s[0] : NULL);
        const size_t place[2] = {place_of(element[type]), place_of(out)};
        void *const from = buffer[0] + place[0], *const to = buffer[1] + place[1];
        memset(got, 0xa5, sizeof got);
        to_device(buffer[0], got, ROOM);
        to_device(buffer[1], got, ROOM);
        to_device(from, in, n * element[type]);
        fpemu_cuda_status status = fpemu_cuda_stats_clear(d_s, s[1].request.want, NULL);
        if (!status)
            status = to_code ? fpemu_cuda_encode(f, &there, types[type], n, from, to, counted ? d_s : NULL, NULL)
                             : fpemu_cuda_quantize(f, &there, types[type], n, from, in_place ? from : to,
                                                   counted ? d_s : NULL, NULL);
        if (status == FPEMU_CUDA_ERROR_CARRIER && status == expected)
            continue; /* a format that does not fit the 16-bit type */
        comparisons++;
        if (status != expected) {
            fail(spec, "status", r, n, (size_t)status);
            continue;
        }
        if (status)
            continue;
        if (!fetch(buffer[!in_place], place[!in_place], n * out))
            fail(spec, "beside", r, n, 0);
        for (size_t i = 0; i < n; i++)
            if (memcmp(got + i * out, want + i * out, out) != 0) {
                fail(spec, to_code ? "encode" : "quantize", r, n, i);
                break;
            }
        if (counted) {
            status = fpemu_cuda_stats_read(d_s, scratch, &s[1], NULL);
            if (status || !same_stats(&s[0], &s[1]) || memcmp(bins[0], bins[1], sizeof bins[0]) != 0)
                fail(spec, "stats", r, n, (size_t)status);
        }
        if (to_code && type != F64) {
            /* back, through codes that the format may not have written */
            for (size_t i = 0; i < n * size; i++)
                if (next() % 4 == 0)
                    want[i] = (unsigned char)next();
            static float right[MOST];
            const size_t codes = place_of(size), values = place_of(4);
            memset(got, 0xa5, sizeof got);
            to_device(buffer[1], got, ROOM);
            to_device(buffer[0] + codes, want, n * size);
            if (type == F32 &&
                fpemu_cuda_decode_f32(f, n, buffer[0] + codes, (void *)(buffer[1] + values), NULL) == FPEMU_CUDA_OK &&
                fpemu_decode_f32(f, n, want, right) == FPEMU_OK)
                if (!fetch(buffer[1], values, 4 * n) || memcmp(got, right, 4 * n) != 0)
                    fail(spec, "decode", r, n, 0);
        }
    }
}

static const size_t lengths[] = {0, 1, 31, 32, 33, 511, 512, 513, 1000, 4095, 4096, 4097, 9001};

static void try_format(const char *spec)
{
    fpemu_format f;
    if (fpemu_format_parse(spec, &f, NULL)) {
        printf("FAIL %s is not read\n", spec);
        failures++;
        return;
    }
    if (f.scaling || f.kind == FPEMU_KIND_CODEBOOK)
        return;
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (int type = F32; type <= F16; type++)
            for (int k = 0; k < 6; k++) {
                fpemu_rounding r = random_rounding(mode);
                const size_t n = lengths[next() % (sizeof lengths / sizeof *lengths)];
                r.compat = (uint8_t)(next() % 2 ? next() % FPEMU_COMPAT_MUPPET : FPEMU_COMPAT_NONE);
                /* with and without counters, which decide how long the pieces of a warp are */
                const int place = (k + k / 3) % 3;
                r.offset = place == 0 ? 0 : place == 1 ? next() % 10000 : UINT64_C(0xffffffff) - next() % 9000;
                if (type == F64 ? !f.fits_f64 : !f.fits_f32)
                    continue;
                for (size_t i = 0; i < n; i++) {
                    const uint64_t u = pattern((int)element[type] * 8);
                    memcpy(in + i * element[type], &u, element[type]);
                }
                compare(spec, &f, &r, type, n, k % 3);
            }
}

/* Largest errors that differ where binary32 ends: numbers far below the smallest step, and nothing past the ends. */
static void check_errors(void)
{
    static const char *const specs[] = {
        "fixed(8,4)", "fixed(8,4):wrap", "int8", "e4m3fn", "e5m2", "bf16", "fp16:nosub", "e4m3fn:flushout", "e8m0",
        "posit(8,1)", "int(8,scale=0.1)"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (int k = 0; k < 2 * FPEMU_MODE_COUNT; k++) {
            fpemu_format f;
            fpemu_rounding r = fpemu_rounding_nearest();
            const size_t n = lengths[6 + next() % 7];
            fpemu_format_parse(specs[s], &f, NULL);
            r.mode = (uint8_t)(k % FPEMU_MODE_COUNT);
            r.seed = next();
            if (f.kind == FPEMU_KIND_POSIT && r.mode != FPEMU_MODE_RNE)
                continue;
            for (size_t i = 0; i < n; i++) {
                const double tiny = f.min_positive / (double)((uint64_t)1 << (k % 3 == 0 ? 24 : 18 + next() % 16));
                const float x = (float)(tiny * (1 + (double)(next() % 8388608) / 8388608));
                memcpy(in + i * sizeof x, &x, sizeof x);
            }
            compare(specs[s], &f, &r, F32, n, 1);
        }
}

static void check_refusals(void)
{
    fpemu_format f;
    fpemu_rounding r = fpemu_rounding_nearest();
    float *const x = device_memory(0, 8 * MOST), *const y = device_memory(1, 8 * MOST);
    unsigned char *const d_s = device_memory(2, fpemu_cuda_stats_size() + 8);
    fpemu_cuda_stats *const crooked = (fpemu_cuda_stats *)(void *)(d_s + 4);
    static unsigned char scratch[1 << 20];
    fpemu_stats stats = {.request.want = 0};
    fpemu_rounding nowhere = {.generator = FPEMU_CUDA_STATE}, astray = nowhere;
    astray.seed = (uintptr_t)x + 4;
    fpemu_format_parse("e4m3fn", &f, NULL);
    const refusal cases[] = {
        SAYS(ERROR_NULL, "null", fpemu_cuda_quantize_f32(&f, &r, 4, NULL, y, NULL, NULL)),
        SAYS(ERROR_NULL, "no format", fpemu_cuda_quantize_f32(NULL, &r, 4, x, y, NULL, NULL)),
        SAYS(ERROR_NULL, "no rounding", fpemu_cuda_quantize_f32(&f, NULL, 4, x, y, NULL, NULL)),
        SAYS(OK, "nothing", fpemu_cuda_quantize_f32(NULL, NULL, 0, NULL, NULL, NULL, NULL)),
        SAYS(ERROR_OVERLAP, "overlap", fpemu_cuda_quantize_f32(&f, &r, 4, x, x + 1, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "alignment",
             fpemu_cuda_quantize_f32(&f, &r, 4, x, (float *)(void *)((char *)y + 1), NULL, NULL)),
        SAYS(ERROR_STATS, "stats", fpemu_cuda_stats_clear((fpemu_cuda_stats *)(void *)d_s, 64, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats", fpemu_cuda_stats_clear(crooked, 0, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of read", fpemu_cuda_stats_read(crooked, scratch, &stats, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of quantize", fpemu_cuda_quantize_f32(&f, &r, 4, x, y, crooked, NULL)),
        SAYS(ERROR_NULL, "no random state", fpemu_cuda_quantize_f32(&f, &nowhere, 4, x, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked random state", fpemu_cuda_encode_f32(&f, &astray, 4, x, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of encode", fpemu_cuda_encode_f32(&f, &r, 4, x, y, crooked, NULL)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, comparisons++)
        failures += differs(&cases[i]);
    r.offset = UINT64_MAX - 4096 - 4;
    const fpemu_cuda_status farthest = fpemu_cuda_quantize_f32(&f, &r, 4, x, y, NULL, NULL);
    r.offset++;
    const fpemu_cuda_status beyond = fpemu_cuda_encode_f32(&f, &r, 4, x, y, NULL, NULL);
    if (farthest != FPEMU_CUDA_OK || beyond != FPEMU_CUDA_ERROR_ARGUMENT) {
        printf("FAIL offsets: %d %d\n", farthest, beyond);
        failures++;
    }
    r = fpemu_rounding_nearest();
    r.nan = FPEMU_NAN_ERROR;
    fpemu_format_parse("e2m1", &f, NULL);
    if (fpemu_cuda_quantize_f32(&f, &r, 4, x, y, NULL, NULL) != FPEMU_CUDA_ERROR_UNSUPPORTED) {
        printf("FAIL the NaN policy error is not refused\n");
        failures++;
    }
}

/* Numbers that are no type of the verb are refused, where the same call with a type succeeds. */
static void check_types(void)
{
    fpemu_format f;
    fpemu_gemm_spec spec;
    const fpemu_rounding r = fpemu_rounding_nearest();
    const fpemu_shape shape = fpemu_shape_vector(4);
    const fpemu_gemm_shape matrix = {.m = 2, .n = 2, .k = 2};
    void *const x = device_memory(0, 8 * MOST), *const y = device_memory(1, 8 * MOST);
    fpemu_cuda_range *const range = device_memory(2, fpemu_cuda_range_size());
    const void *const both[] = {x, x};
    fpemu_format_parse("e4m3fn", &f, NULL);
    fpemu_gemm_parse("seq(fp32)", &spec, NULL);
    static const float zeros[8];
    to_device(x, zeros, sizeof zeros);
    fpemu_cuda_range_clear(range, NULL);
    for (int type = -32; type <= 128; type += 16) {
        const fpemu_type t = (fpemu_type)type;
        const fpemu_cuda_status arrays[] =
            LIST(fpemu_cuda_quantize(&f, &r, t, 4, x, y, NULL, NULL), fpemu_cuda_encode(&f, &r, t, 4, x, y, NULL, NULL),
                 fpemu_cuda_decode(&f, t, 4, x, y, NULL), fpemu_cuda_measure(&f, t, 4, x, range, NULL),
                 fpemu_cuda_quantize_tensor(&f, &r, t, &shape, x, y, NULL, NULL, NULL),
                 fpemu_cuda_pack(&f, &r, t, &shape, x, y, NULL, NULL, NULL),
                 fpemu_cuda_unpack(&f, t, &shape, x, y, NULL, NULL),
                 fpemu_cuda_pack_blocks(&f, &r, t, &shape, 0, 1, x, y, NULL, NULL, NULL),
                 fpemu_cuda_unpack_blocks(&f, t, &shape, 0, 1, x, y, NULL, NULL),
                 fpemu_cuda_arith(&f, &r, t, FPEMU_OPERATION_ADD, 4, both, NULL, y, NULL, NULL),
                 fpemu_cuda_arith_scaled(&f, &r, t, FPEMU_OPERATION_ADD, 4, both, NULL, NULL, y, NULL, NULL),
                 fpemu_cuda_apply(&f, &r, t, FPEMU_FUNCTION_EXP, 4, x, y, NULL, NULL),
                 fpemu_cuda_compare(t, FPEMU_RELATION_EQ, 4, both, NULL, y, NULL),
                 fpemu_cuda_compare_scaled(t, FPEMU_RELATION_EQ, 4, both, NULL, NULL, y, NULL));
        const fpemu_cuda_status products[] = {
            fpemu_cuda_gemm(&spec, &matrix, t, 1, x, x, 0, y, NULL, NULL, NULL),
            fpemu_cuda_gemm_scaled(&spec, &matrix, t, 1, x, NULL, x, NULL, 0, y, NULL, NULL, NULL),
            fpemu_cuda_gemv(&spec, FPEMU_ORDER_ROW_MAJOR, 0, 2, 2, t, 1, x, 2, x, 1, 0, y, 1, NULL, NULL, NULL),
            fpemu_cuda_dot(&spec, 2, t, x, 1, x, 1, y, NULL, NULL, NULL),
        };
        const int carrier = type == 32 || type == 64, any = carrier || type == 16 || type == -16;
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, comparisons++)
            if (arrays[i] != (any ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_ARGUMENT) && ++failures)
                printf("FAIL type %d, verb %zu of arrays: status %d\n", type, i, arrays[i]);
        for (size_t i = 0; i < sizeof products / sizeof *products; i++, comparisons++)
            if (products[i] != (carrier ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_ARGUMENT) && ++failures)
                printf("FAIL type %d, product %zu: status %d\n", type, i, products[i]);
    }
    comparisons++;
    if ((fpemu_cuda_gemm(&spec, &matrix, FPEMU_TYPE_F32, 0.1, x, x, 0, y, NULL, NULL, NULL) !=
             FPEMU_CUDA_ERROR_ARGUMENT ||
         fpemu_cuda_gemm(&spec, &matrix, FPEMU_TYPE_F64, 0.1, x, x, 0, y, NULL, NULL, NULL)) &&
        ++failures)
        printf("FAIL a factor 0.1 of binary32\n");
}

int main(void)
{
    static const char *const others[] =
        LIST("fp(6,9,0)", "fp(4,3,4)", "float(e=8,m=3)", "float(e=4,m=0,specials=finite)", "e5m2:saturate",
             "fp16:nosub", "fp16:flushin", "e4m3fn:flushout", "fixed(8,4)", "fixed(16,20)", "fixed(8,4):wrap",
             "ufixed(7,3)", "int(8,scale=0.1)", "int(8,scale=0.1,zero=3):wrap", "uint(24,scale=3)", "posit(8,1)",
             "posit(16,2)", "posit(32,2)", "p3109(8,4,se)", "p3109(8,1,ue)", "e2m3:nan=zero", "e3m2:nan=signmax",
             "fixed(32,16)", "float(e=11,m=30)");
    device_begin();
    for (int name = 1; name < FPEMU_NAME_COUNT; name++)
        try_format(fpemu_format_name((fpemu_name)name, 0));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        try_format(others[i]);
    check_errors();
    check_refusals();
    check_types();
    printf("quantize: %lu calls, %lu failures\n", comparisons, failures);
    return failures != 0;
}
