/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.c - libfpemu_cuda's dot products against libfpemu's, bit for bit, counters included; simulated on
 * this processor or run on a device, as quantize.c.
 *
 *   every model, with and without rounded products, operands and result, stochastic ones, starting from c
 *   chunks with scales; matrices that are no multiple of a tile
 *   both carriers; orders, transposes, leading dimensions, batches; alpha and beta; gemv and dot with steps
 *   lengths around chunks, steps of tensor cores, levels of the tree and warps */

#include "memory.h"

#define SEED 5
#include "random.h"

enum { MOST = 20000 };

static unsigned long failures, comparisons;
static double a[MOST], b[MOST], c[MOST], want[MOST], got[MOST], scales[2][MOST];
static unsigned char stats_room[1 << 20];

/* Numbers below `size`, a power of two, some up to 32 times as large, exact in binary32, some zero; if odd, some large,
 * small or special. */
static void fill(double *x, double size, int wide, int odd)
{
    float *const narrow = (float *)(void *)x;
    for (size_t i = 0; i < MOST; i++) {
        const uint64_t r = next();
        double v = (double)((int64_t)(r >> 20) % 4096 - 2048) / 2048 * size;
        if (r % 5 == 0)
            v *= (double)(1 << (r >> 8) % 12) / 64;
        if (r % 9 == 0)
            v = r & 512 ? 0.0 : -0.0;
        if (wide && r % 4 == 0)
            v += (double)(r >> 40) / 1e17 * size;
        if (odd && r % 17 == 0)
            v *= (double)(UINT64_C(1) << (r >> 10) % 56) / (double)(UINT64_C(1) << 40);
        if (odd && r % 301 == 0)
            v = (r & 1024 ? 1e300 : -1e300) * 1e300 * (r & 2048 ? 0.0 : 1.0);
        if (wide)
            x[i] = v;
        else
            narrow[i] = (float)v;
    }
}

static void compare(const char *text, const char *what, int wide, int counted, fpemu_cuda_status status,
                    fpemu_cuda_status expected, const fpemu_cuda_stats *d_s, const fpemu_stats *right)
{
    const size_t bytes = MOST * (wide ? sizeof(double) : sizeof(float));
    fpemu_stats seen = {0};
    size_t at = 0;
    comparisons++;
    while (at < bytes && ((unsigned char *)got)[at] == ((unsigned char *)want)[at])
        at++;
    const fpemu_cuda_status read = counted ? fpemu_cuda_stats_read(d_s, stats_room, &seen, NULL) : FPEMU_CUDA_OK;
    if (status != expected || at < bytes || read || (counted && !same_stats(&seen, right)))
        if (failures++ < 25)
            printf("FAIL %s %s wide=%d counted=%d status %d (%d) byte %zu of %zu read %d count %llu %llu\n", text, what,
                   wide, counted, status, expected, at, bytes, read, (unsigned long long)seen.count,
                   (unsigned long long)right->count);
}

static void seed(fpemu_target *t)
{
    t->rounding.seed = next();
    t->rounding.stream = next();
    t->rounding.offset = next() % 8 ? next() % 100 : UINT64_C(0xfffffff0);
    if (next() % 2)
        return;
    t->rounding.generator = (uint8_t)(next() % 2);
    t->rounding.bits = (uint8_t)(next() % 33);
    t->rounding.variant = (uint8_t)(next() % 3);
}

static void one(const char *text, const fpemu_gemm_spec *given, int wide, int what)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 5, 8, 31, 32, 33, 40},
                          depths[] = {0, 1, 2, 3, 7, 15, 16, 17, 33, 64, 65};
    static const double factors[] = {1, 1, 0, -1, 0.5, 3};
    const size_t size = wide ? sizeof(double) : sizeof(float);
    fpemu_gemm_spec spec = *given;
    fpemu_gemm_shape s = {0};
    fpemu_stats right = {0};
    fpemu_target *const targets[] = {&spec.a, &spec.b, &spec.product, &spec.out, &spec.sum.inner, &spec.sum.outer};
    for (size_t i = 0; i < 6; i++)
        if (FPEMU_MODE_DRAWS(targets[i]->rounding.mode))
            seed(targets[i]);
    int counted = next() % 3 == 0;
    spec.start_from_c = spec.sum.model != FPEMU_MODEL_INTEGER && next() % 3 == 0;
    const double alpha = spec.start_from_c ? 1 : factors[next() % 6],
                 beta = spec.start_from_c ? 1 : factors[next() % 6];
    s.m = sizes[next() % 10];
    s.n = what == 1 ? 1 : sizes[next() % 8];
    s.k = depths[next() % 11];
    if (what == 0 && next() % 2) { /* tiles, whole ones and parts */
        static const uint64_t sides[] = {8, 9, 15, 16, 17, 33, 65, 70}, deep[] = {8, 16, 33, 63, 64, 65, 70};
        s.m = sides[next() % 8];
        s.n = sides[next() % 8];
        s.k = deep[next() % 7];
        counted = 0;
    }
    s.order = (uint8_t)(next() % 2);
    s.transpose_a = (uint8_t)(next() % 2);
    s.transpose_b = (uint8_t)(next() % 2);
    s.lda = s.ldb = s.ldc = next() % 2 ? 0 : 70;
    s.batch = next() % 3;
    if (s.batch > 1) {
        s.stride_a = next() % 2 ? 70 * 70 : 0;
        s.stride_b = next() % 2 ? 70 * 70 : 0;
        s.stride_c = 70 * 70;
    }
    const int small = next() % 4 == 0; /* products and c are at the small end of binary16 */
    fill(a, small ? 0x1p-7 : 8, wide, next() % 4 == 0);
    fill(b, small ? 0x1p-7 : 8, wide, next() % 4 == 0);
    fill(c, small ? 0x1p-13 : 8, wide, 0);
    memcpy(want, c, sizeof c);
    void *const d_a = device_memory(0, sizeof a), *const d_b = device_memory(1, sizeof b);
    void *const d_c = device_memory(3, sizeof c);
    fpemu_cuda_stats *const d_s = device_memory(2, fpemu_cuda_stats_size());
    to_device(d_a, a, sizeof a);
    to_device(d_b, b, sizeof b);
    to_device(d_c, c, sizeof c);
    fpemu_cuda_stats_clear(d_s, 0, NULL);
    fpemu_stats *const cpu = counted ? &right : NULL;
    fpemu_cuda_stats *const gpu = counted ? d_s : NULL;
    const int64_t incx = next() % 2 ? 1 : -2, incy = next() % 2 ? 3 : -1;
    if (what == 1) {
        s.n = s.k;
        s.batch = s.lda = s.stride_a = s.stride_b = 0;
    }
    /* a gemv or dot product as the shape that tells its scratch */
    fpemu_gemm_shape sized = s;
    if (what) {
        memset(&sized, 0, sizeof sized);
        sized.m = what == 2 ? 1 : s.transpose_a ? s.k : s.m;
        sized.n = 1;
        sized.k = what == 2 ? s.k : s.transpose_a ? s.m : s.k;
    }
    const uint64_t bytes = fpemu_cuda_gemm_scratch_size(&spec, &sized, wide ? 64 : 32);
    void *const scratch = bytes ? device_memory(4, (size_t)bytes) : NULL;
    const int scaled = what == 0 && spec.sum.chunk && next() % 2;
    void *const d_scales[2] = {device_memory(5, sizeof a), device_memory(6, sizeof b)};
    if (scaled) {
        fill(scales[0], 8, wide, next() % 4 == 0);
        fill(scales[1], 8, wide, next() % 4 == 0);
        for (int i = 0; wide && i < MOST; i++) /* binary32 numbers */
            scales[0][i] = (double)(float)scales[0][i], scales[1][i] = (double)(float)scales[1][i];
        for (int i = 0; spec.sum.group && i < 2; i++) /* numbers of their format */
            fpemu_quantize(&spec.sum.outer.format, &spec.sum.outer.rounding, wide ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32,
                           MOST, scales[i], scales[i], NULL);
        to_device(d_scales[0], scales[0], sizeof a);
        to_device(d_scales[1], scales[1], sizeof b);
    }
    fpemu_status expected;
    fpemu_cuda_status status;
    const size_t m = (size_t)s.m, n = (size_t)s.k;
    const fpemu_type type = wide ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32;
    const fpemu_order order = (fpemu_order)s.order;
    if (scaled) {
        const int one_side = wide && next() % 3 == 0;
        expected =
            fpemu_gemm_scaled(&spec, &s, type, alpha, a, scales[0], b, one_side ? NULL : scales[1], beta, want, cpu);
        status = fpemu_cuda_gemm_scaled(&spec, &s, type, alpha, d_a, d_scales[0], d_b, one_side ? NULL : d_scales[1],
                                        beta, d_c, scratch, gpu, NULL);
    } else if (what == 0) {
        expected = fpemu_gemm(&spec, &s, type, alpha, a, b, beta, want, cpu);
        status = fpemu_cuda_gemm(&spec, &s, type, alpha, d_a, d_b, beta, d_c, scratch, gpu, NULL);
    } else if (what == 1) {
        expected = fpemu_gemv(&spec, order, s.transpose_a, m, n, type, alpha, a, 0, b, incx, beta, want, incy, cpu);
        status = fpemu_cuda_gemv(&spec, order, s.transpose_a, m, n, type, alpha, d_a, 0, d_b, incx, beta, d_c, incy,
                                 scratch, gpu, NULL);
    } else {
        expected = fpemu_dot(&spec, n, type, a, incx, b, incy, want, cpu);
        status = fpemu_cuda_dot(&spec, n, type, d_a, incx, d_b, incy, d_c, scratch, gpu, NULL);
    }
    from_device(got, d_c, MOST * size);
    compare(text,
            what == 0   ? "gemm"
            : what == 1 ? "gemv"
                        : "dot",
            wide, counted, status, (fpemu_cuda_status)expected, d_s, &right);
}

/* Operands of more values than a kernel takes along: 1,000, whose table goes into the scratch. */
static void check_long_table(int rounds)
{
    static float table[1000];
    fpemu_gemm_spec spec;
    for (int i = 0; i < 1000; i++)
        table[i] = (float)(i - 500) / 64 + (float)(i % 7) / 1024;
    fpemu_gemm_parse("seq(fp32); ab=table(nf4)", &spec, NULL);
    fpemu_format *const f = &spec.a.format;
    f->codebook = FPEMU_CODEBOOK_CUSTOM;
    f->bits = 10;
    f->codebook_length = 1000;
    f->table = table;
    if (fpemu_format_complete(f)) {
        printf("FAIL a table of 1000 values is not taken\n");
        failures++;
        return;
    }
    for (int k = 0; k < rounds; k++)
        for (int wide = 0; wide < 2; wide++) {
            if (k % 2)
                spec.b.format = *f;
            one("a table of 1000 values", &spec, wide, k % 3);
        }
}

/* No sum, product or result is rounded to blocks or to a codebook, and no operand to blocks. */
static void check_targets(float *x)
{
    static const char *const formats[] = {"mx(e2m1,block=16)", "group(int4,32)", "nvfp4", "nf4", "table(nf4)"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        fpemu_format format;
        const bool read = fpemu_format_parse(formats[i], &format, NULL) == FPEMU_OK;
        for (int where = 0; where < 6; where++, comparisons++) {
            fpemu_gemm_spec spec;
            fpemu_gemm_parse("chunk(2,fp16,fp32); ab=e4m3fn", &spec, NULL);
            fpemu_target *const target[] = {&spec.a,   &spec.b,         &spec.product,
                                            &spec.out, &spec.sum.inner, &spec.sum.outer};
            const fpemu_gemm_shape s = {.m = 4, .n = 4, .k = 4};
            target[where]->format = format;
            const bool operand = where < 2, taken = operand && format.scaling == FPEMU_SCALING_NONE;
            const fpemu_cuda_status status =
                fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, x + 32, device_memory(4, 512), NULL, NULL);
            if (!read || status != (taken ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_UNSUPPORTED)) {
                printf("FAIL %s as target %d: status %d\n", formats[i], where, status);
                failures++;
            }
        }
    }
}

static void check_refusals(void)
{
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s = {0};
    float *const x = device_memory(0, sizeof a);
    unsigned char *const d_s = device_memory(2, fpemu_cuda_stats_size() + 8);
    fpemu_cuda_stats *const crooked = (fpemu_cuda_stats *)(void *)(d_s + 4);
    fpemu_gemm_spec split;
    fpemu_gemm_parse("fp32; splits=bf16x3", &split, NULL);
    fpemu_gemm_parse("seq(fp16); ab=e4m3fn", &spec, NULL);
    s.m = s.n = s.k = 4;
    float *const scratch = device_memory(4, 512), *const y = x + 32;
    const refusal cases[] = {
        SAYS(ERROR_NULL, "no scratch", fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, y, NULL, NULL, NULL)),
        SAYS(ERROR_OVERLAP, "overlap", fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, x + 8, scratch, NULL, NULL)),
        SAYS(ERROR_UNSUPPORTED, "splits", fpemu_cuda_gemm_f32(&split, &s, 1, x, x + 16, 0, y, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked scratch",
             fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, y, scratch + 2, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats",
             fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, y, scratch, crooked, NULL)),
        SAYS(ERROR_NULL, "no shape", fpemu_cuda_gemm_f32(&spec, NULL, 1, x, x + 16, 0, y, NULL, NULL, NULL)),
        SAYS(ERROR_NULL, "no model", fpemu_cuda_gemm_f32(NULL, &s, 1, x, x + 16, 0, y, NULL, NULL, NULL)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, comparisons++)
        failures += differs(&cases[i]);
    fpemu_gemm_spec there = spec;
    there.a.rounding = for_device(there.a.rounding, 1);
    const refusal state = SAYS(ERROR_ROUNDING, "random state in memory",
                               fpemu_cuda_gemm_f32(&there, &s, 1, x, x + 16, 0, y, scratch, NULL, NULL));
    failures += differs(&state);
    /* products that lie one in the other, of which no memory holds all operands: 2^62 of them, or 2^64 bytes */
    s.m = s.n = 1;
    s.k = s.batch = (size_t)1 << 31;
    s.stride_a = s.stride_c = 1;
    const fpemu_cuda_status large = fpemu_cuda_gemm_f32(&spec, &s, 1, x, x + 16, 0, y, scratch, NULL, NULL);
    if (fpemu_cuda_gemm_scratch_size(&spec, &s, 32) != UINT64_MAX || large != FPEMU_CUDA_ERROR_ARGUMENT) {
        printf("FAIL scratch of 2^64 bytes: status %d\n", large);
        failures++;
    }
    comparisons++;
    check_targets(x);
}

/* A22 -= A21 A12 inside one array, and two products of a batch side by side in it; an element that is shared. */
static void check_inside(const char *text)
{
    enum { N = 100, CUT = 37, REST = N - CUT };
    const fpemu_stats none = {0};
    fpemu_gemm_spec spec;
    fpemu_gemm_parse(text, &spec, NULL);
    const fpemu_gemm_shape update = {.m = REST, .n = REST, .k = CUT, .lda = N, .ldb = N, .ldc = N};
    const fpemu_gemm_shape beside = {
        .m = CUT, .n = 20, .k = 20, .lda = N, .ldb = N, .ldc = N, .batch = 2, .stride_b = 20, .stride_c = 20};
    const uint64_t bytes[] = {fpemu_cuda_gemm_scratch_size(&spec, &update, 32),
                              fpemu_cuda_gemm_scratch_size(&spec, &beside, 32)};
    void *const scratch = device_memory(4, (size_t)(bytes[0] > bytes[1] ? bytes[0] : bytes[1]) + 16);
    float *const d = device_memory(0, sizeof a), *const x = (float *)(void *)a, *const y = (float *)(void *)want;
    fill(a, 1, 0, 0);
    memcpy(want, a, sizeof a);
    to_device(d, a, sizeof a);
    fpemu_cuda_status expected =
        (fpemu_cuda_status)fpemu_gemm_f32(&spec, &update, -1, x + N * CUT, x + CUT, 1, y + N * CUT + CUT, NULL);
    fpemu_cuda_status status =
        fpemu_cuda_gemm_f32(&spec, &update, -1, d + N * CUT, d + CUT, 1, d + N * CUT + CUT, scratch, NULL, NULL);
    from_device(got, d, sizeof got);
    compare(text, "inside one array", 0, 0, status, expected, NULL, &none);
    memcpy(a, want, sizeof a);
    expected = (fpemu_cuda_status)fpemu_gemm_f32(&spec, &beside, 1, x, x + N * CUT, 0, y + 60, NULL);
    status = fpemu_cuda_gemm_f32(&spec, &beside, 1, d, d + N * CUT, 0, d + 60, scratch, NULL, NULL);
    from_device(got, d, sizeof got);
    compare(text, "products side by side", 0, 0, status, expected, NULL, &none);
    status =
        fpemu_cuda_gemm_f32(&spec, &update, -1, d + N * CUT, d + CUT, 1, d + N * CUT + CUT - 1, scratch, NULL, NULL);
    from_device(got, d, sizeof got);
    compare(text, "a column shared", 0, 0, status, FPEMU_CUDA_ERROR_OVERLAP, NULL, &none);
    const float *const corner = d + (size_t)N * (N - 1) + N - 1; /* C's last element */
    status = fpemu_cuda_gemv_f32(&spec, FPEMU_ORDER_ROW_MAJOR, 0, N, 1, 1, corner - (size_t)N * (N - 1), N, d, 1, 1,
                                 (float *)(uintptr_t)corner, -1, scratch, NULL, NULL);
    from_device(got, d, sizeof got);
    compare(text, "an element shared", 0, 0, status, FPEMU_CUDA_ERROR_OVERLAP, NULL, &none);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = LIST(
        "fp32", "fp64", "seq(fp16)", "seq(fp(6,9,0)/sr)", "seq(bf16)", "seq(bf16/rtz)", "seq(bf16:saturate/rtn)",
        "seq(fp16/rtn)", "seq(e5m2:saturate)", "seq(fp16/sr)", "seq(bf16/sr)", "seq(bf16/rtn); product=fp16",
        "seq(fp16); out=e5m2/sr", "seq(fixed(16,4)); product=fixed(20,8)/sr", "seq(posit(16,2))", "seq(e4m3fn)",
        "chunk(4,fp(6,9,0))", "chunk(4,bf16/rtp,fp64)", "chunk(9,fp(6,9,0)/sr,fp32)", "chunk(5,fp16,posit(16,2))",
        "chunk(16,fp16,fp32); ab=e5m2", "chunk(7,bf16/sr,fp(6,9,0)/sr); product=bf16/sr", "pairwise(fp16)",
        "pairwise(bf16/sr); product=fp16/sr", "pairwise(fp32); ab=bf16/sr", "kahan(bf16)",
        "kahan(fp16/sr); product=fp16/rtp", "kahan(fp64)", "tc(v100,fp16)", "tc(a100,bf16)", "tc(h100,fp16,fp16)",
        "tc(h100,e5m2,fp16)", "tc(h100,e4m3fn,promote=64)", "tc(b200,e5m2)", "tc(a100,tf32)",
        "fused(3,20,fp16,least=-30,promote=6,outer=fp16/sr); ab=fp16", "tc(amx,bf16)", "tc(avx512,bf16); start=c",
        "tc(cdna1,fp16); start=c", "tc(cdna1,bf16); out=bf16", "tc(cdna2,fp16)", "tc(cdna3,fp16); start=c",
        "tc(cdna3,tf32)", "tc(cdna3,e4m3fnuz,promote=32); start=c", "tc(b200,mxf8f6f4); start=c",
        "tc(b200,mxf8f6f4); a=e2m1; b=e5m2", "tc(b200,mxf4); out=fp16", "tc(b200,mxf4nvf4); start=c",
        "tc(b200,mxf4nvf4,scales=e8m0,every=32)",
        "fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e5m2",
        "fused(6,20,fp32/rtz,order=1032); ab=fp16; start=c", "int(32,saturate); ab=fixed(8,4)",
        "int(12,saturate); ab=int8", "int(14,wrap); a=int(8,scale=0.25); b=uint(6,scale=2)", "seq(fp16); ab=table(nf4)",
        "seq(fp(6,9,0)/sr); a=fp(4,3,4)/sr; b=e5m2; out=fp16/sr", "seq(e4m3fn:saturate/rna); out=bf16");
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    device_begin();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        fpemu_gemm_spec spec;
        if (fpemu_gemm_parse(specs[i], &spec, NULL)) {
            printf("FAIL %s is not read\n", specs[i]);
            failures++;
            continue;
        }
        for (int k = 0; k < rounds; k++)
            for (int wide = 0; wide < 2; wide++)
                one(specs[i], &spec, wide, k % 3);
    }
    check_long_table(rounds);
    check_inside("fp32");
    check_inside("seq(fp16); ab=e4m3fn");
    check_refusals();
    printf("gemm: %lu calls, %lu failures\n", comparisons, failures);
    return failures != 0;
}
