/* SPDX-License-Identifier: BSD-2-Clause */
/* check_prepare.c - prepared calls give the bits, counters and statuses of the calls that plan anew, which the judges
 * look at; whatever is not to be kept is not kept. */

#include "suite.h"

enum { MOST = 5000, ROOM = MOST * 8 };

static const char *const specs[] =
    LIST("fp16", "e4m3fn", "e5m2:saturate", "e2m1", "e8m0", "fp(6,9,0)", "fp32", "bf16:flushout", "e3m4:nan=error",
         "fixed(8,4)", "fixed(12,6):wrap", "ufixed(9,8)", "int(8,scale=0.1)", "int(16,scale=0.003,zero=7)", "int(8)",
         "uint(8,scale=0.5,zero=128)", "posit(16,1)", "posit(8,2)", "dlfloat16", "binary8p4sf", "table(nf4)",
         "table(dynamic8)", "mxfp8", "mxfp4", "mxint8", "nvfp4", "msfp12", "bfp(7)", "s2fp8", "q8_0", "nf4");
static const char *const roundings[] = {"rne", "rna", "rtz", "rtp", "raz", "rto", "sr", "se", "qpytorch", "cpfloat-sr"};
static const fpemu_type types[] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, FPEMU_TYPE_F16, FPEMU_TYPE_BF16};
static const size_t sizes[] = {1, 15, 32, 33, 300, MOST};

/* Numbers of every size, some of them no numbers. */
static void fill(fpemu_type type, void *x)
{
    for (size_t i = 0; i < MOST; i++) {
        const uint32_t u = random_word();
        const double magnitude = ldexp((double)(int32_t)u * 0x1p-31, (int)(random_word() % 16) - 8);
        const double v = u % 512 == 0 ? NAN : u % 512 == 1 ? INFINITY : u % 512 == 2 ? -0.0 : magnitude;
        const float f = (float)v;
        const uint16_t word = (uint16_t)(u % 4 ? 0x3000 + u % 0x1c00 : u);
        if (type == FPEMU_TYPE_F64)
            memcpy((char *)x + 8 * i, &v, 8);
        else if (type == FPEMU_TYPE_F32)
            memcpy((char *)x + 4 * i, &f, 4);
        else
            memcpy((char *)x + 2 * i, &word, 2);
    }
}

static fpemu_stats counters(int round)
{
    fpemu_stats s;
    memset(&s, 0, sizeof s);
    s.request.want = round % 2 ? FPEMU_STATS_SUMS : 0;
    return s;
}

/* The call that plans anew. */
static fpemu_status plainly(const fpemu_format *f, const fpemu_rounding *r, fpemu_type type, int use, size_t n,
                            const void *x, void *y, fpemu_stats *stats)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    const void *operands[3];
    for (size_t o = 0; o < 3; o++)
        operands[o] = (const char *)x + 16 * o;
    switch (use) {
    case FPEMU_USE_QUANTIZE: return fpemu_quantize(f, r, type, n, x, y, stats);
    case FPEMU_USE_ENCODE: return fpemu_encode(f, r, type, n, x, y, stats);
    case FPEMU_USE_DECODE: return fpemu_decode(f, type, n, x, y);
    case FPEMU_USE_PACK: return fpemu_pack(f, r, type, &shape, x, y, stats);
    case FPEMU_USE_UNPACK: return fpemu_unpack(f, type, &shape, x, y);
    case FPEMU_USE_SCALES: return fpemu_scales(f, type, &shape, x, y, (char *)y + ROOM / 2, (float *)y + ROOM / 4 - 2);
    default:
        return use < FPEMU_USE_FUNCTION
                   ? fpemu_arith(f, r, type, (fpemu_operation)(use - FPEMU_USE_OPERATION), n, operands, NULL, y, stats)
                   : fpemu_apply(f, r, type, (fpemu_function)(use - FPEMU_USE_FUNCTION), n, x, y, stats);
    }
}

static fpemu_status prepared(const fpemu_prepared *p, const fpemu_rounding *r, int use, size_t n, const void *x,
                             void *y, fpemu_stats *stats)
{
    const fpemu_place place = {r->seed, r->stream, r->offset};
    const fpemu_shape shape = fpemu_shape_vector(n);
    const void *operands[3];
    for (size_t o = 0; o < 3; o++)
        operands[o] = (const char *)x + 16 * o;
    if (use == FPEMU_USE_SCALES)
        return fpemu_run_scales(p, &shape, x, y, (char *)y + ROOM / 2, (float *)y + ROOM / 4 - 2);
    if (use >= FPEMU_USE_OPERATION && use < FPEMU_USE_FUNCTION)
        return fpemu_run_operation(p, &place, n, operands, NULL, NULL, y, stats);
    if (n % 2 && (use == FPEMU_USE_QUANTIZE || use == FPEMU_USE_PACK || use == FPEMU_USE_UNPACK))
        return fpemu_run_tensor(p, &place, &shape, x, y, stats);
    return fpemu_run(p, &place, n, x, y, stats);
}

/* One format, rounding and use, on arrays of every type and of several lengths. */
static void compare(const char *spec, const char *mode, int use, unsigned char *x, unsigned char *y, unsigned char *z)
{
    const fpemu_format f = format_of(spec);
    fpemu_rounding r;
    GIVES_OK(fpemu_rounding_parse(mode, &r, NULL));
    for (size_t t = 0; t < COUNT(types); t++) {
        fpemu_prepared p, copy, twin;
        fpemu_why why, asked;
        const fpemu_status status = fpemu_prepare(&p, &f, &r, types[t], use, &why);
        r.seed = random_word();
        r.stream = random_word();
        r.offset = random_word();
        ck_assert_msg(status == fpemu_check_use(&f, &r, types[t], use, &asked), "%s, %s, use %d", spec, mode, use);
        ck_assert(memcmp(&why, &asked, sizeof why) == 0);
        if (status) {
            static const fpemu_prepared none;
            ck_assert(memcmp(&p, &none, sizeof p) == 0);
            continue;
        }
        GIVES_OK(fpemu_prepare(&twin, &f, &r, types[t], use, NULL));
        ck_assert_msg(memcmp(&p, &twin, sizeof p) == 0, "%s, %s: seed or stream is in it", spec, mode);
        copy = p;
        memset(&p, 0xa5, sizeof p); /* the copy is by itself */
        fill(types[t], x);
        for (size_t k = 0; k < 2 * COUNT(sizes); k++) {
            const size_t n = sizes[k / 2] - (use >= FPEMU_USE_OPERATION && sizes[k / 2] == MOST ? 40 : 0);
            fpemu_stats a = counters((int)k / 2), b = a, *const counted = k % 2 ? &a : NULL;
            memset(y, 0x5a, ROOM);
            memset(z, 0x5a, ROOM);
            const fpemu_status expected = plainly(&f, &r, types[t], use, n, x, y, counted);
            const fpemu_status got = prepared(&copy, &r, use, n, x, z, counted ? &b : NULL);
            ck_assert_msg(expected == got, "%s, %s, use %d, n = %zu: %d, not %d", spec, mode, use, n, got, expected);
            ck_assert_msg(memcmp(y, z, ROOM) == 0, "%s, %s, use %d, type %d, n = %zu", spec, mode, use, types[t], n);
            ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "%s, %s, use %d, n = %zu: stats", spec, mode, use, n);
        }
        ck_assert_msg(memcmp(&copy, &twin, sizeof copy) == 0, "%s, %s, use %d: a call changed it", spec, mode, use);
    }
}

START_TEST(same_as_planned_anew)
{
    static const int uses[] = LIST(FPEMU_USE_QUANTIZE, FPEMU_USE_ENCODE, FPEMU_USE_DECODE, FPEMU_USE_PACK,
                                   FPEMU_USE_UNPACK, FPEMU_USE_SCALES, FPEMU_USE_OPERATION + FPEMU_OPERATION_ADD,
                                   FPEMU_USE_OPERATION + FPEMU_OPERATION_DIV, FPEMU_USE_OPERATION + FPEMU_OPERATION_FMA,
                                   FPEMU_USE_OPERATION + FPEMU_OPERATION_SQRT, FPEMU_USE_FUNCTION + FPEMU_FUNCTION_EXP);
    unsigned char *const x = malloc(ROOM + 64), *const y = malloc(ROOM), *const z = malloc(ROOM);
    ck_assert(x && y && z);
    memset(x, 0, ROOM + 64);
    for (size_t s = 0; s < COUNT(specs); s++)
        for (size_t m = 0; m < COUNT(roundings); m++)
            for (size_t u = 0; u < COUNT(uses); u++)
                compare(specs[s], roundings[m], uses[u], x, y, z);
    FREE(x, y, z);
}
END_TEST

/* The same p, used by several threads at a time, each with a place of its own. */
START_TEST(threads_share_it)
{
    const fpemu_format f = format_of("nvfp4");
    fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
    fpemu_prepared p;
    static float x[64], y[16][64], z[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i - 30) * 0.37f;
    GIVES_OK(fpemu_prepare(&p, &f, &r, FPEMU_TYPE_F32, FPEMU_USE_QUANTIZE, NULL));
#ifdef _OPENMP
#pragma omp parallel for num_threads(4) schedule(dynamic)
#endif
    for (int k = 0; k < 1600; k++) {
        const fpemu_place place = {1, (uint64_t)k % 16, 5};
        float own[64];
        (void)fpemu_run(&p, &place, 64, x, own, NULL);
        if (k >= 1584)
            memcpy(y[k % 16], own, sizeof own);
    }
    r.offset = 5;
    for (int k = 0; k < 16; k++) {
        r.stream = (uint64_t)k;
        GIVES_OK(fpemu_quantize(&f, &r, FPEMU_TYPE_F32, 64, x, z, NULL));
        ck_assert(memcmp(y[k], z, sizeof z) == 0);
    }
    ck_assert(memcmp(y[0], y[1], sizeof y[0]) != 0);
}
END_TEST

START_TEST(refused)
{
    static const fpemu_prepared none;
    const fpemu_rounding nearest = fpemu_rounding_nearest(), drawn = fpemu_rounding_stochastic(3, 4);
    const fpemu_place place = {0, 0, 0};
    const fpemu_shape shape = fpemu_shape_vector(4);
    const float x[4] = {1, 2, 3, 4.3f};
    const void *const operands[2] = {x, x};
    float y[4] = {9, 9, 9, 9};
    const fpemu_format f = format_of("e4m3fn");
    fpemu_prepared p;
    fpemu_why why;
    REFUSES(NULL, fpemu_prepare(&p, &f, NULL, FPEMU_TYPE_F32, FPEMU_USE_QUANTIZE, NULL));
    GIVES_OK(fpemu_prepare(&p, &f, NULL, FPEMU_TYPE_F32, FPEMU_USE_DECODE, NULL));
    memset(&why, 0x5a, sizeof why);
    REFUSES(NULL, fpemu_prepare(NULL, &f, &nearest, FPEMU_TYPE_F32, FPEMU_USE_QUANTIZE, &why));
    ck_assert(!why.argument && !*why.message);
    REFUSES(ARGUMENT, fpemu_prepare(&p, &f, &nearest, FPEMU_TYPE_F16, FPEMU_USE_FUNCTION_TABLE, &why));
    ck_assert(why.argument == FPEMU_ARGUMENT_USE && strstr(why.message, "fpemu_function_table"));
    REFUSES(ARGUMENT, fpemu_run(&none, NULL, 4, x, y, NULL));
    REFUSES(NULL, fpemu_run(NULL, NULL, 4, x, y, NULL));
    REFUSES(ARGUMENT, fpemu_run_tensor(&none, NULL, &shape, x, y, NULL),
            fpemu_run_operation(&none, NULL, 4, operands, NULL, NULL, y, NULL),
            fpemu_run_scales(&none, &shape, x, y, NULL, NULL));

    GIVES_OK(fpemu_prepare(&p, &f, &drawn, FPEMU_TYPE_F32, FPEMU_USE_QUANTIZE, NULL));
    REFUSES(NULL, fpemu_run(&p, NULL, 4, x, y, NULL), fpemu_run(&p, &place, 4, NULL, y, NULL));
    REFUSES(OVERLAP, fpemu_run(&p, &place, 3, x, (float *)(void *)(uintptr_t)(x + 1), NULL));
    GIVES_OK(fpemu_run(&p, NULL, 0, NULL, NULL, NULL));
    REFUSES(ARGUMENT, fpemu_run_scales(&p, &shape, x, y, NULL, NULL),
            fpemu_run_operation(&p, &place, 4, operands, NULL, NULL, y, NULL));
    REFUSES(NULL, fpemu_run_tensor(&p, &place, NULL, x, y, NULL));
    GIVES_OK(fpemu_prepare(&p, &f, &nearest, FPEMU_TYPE_F32, FPEMU_USE_OPERATION, NULL));
    REFUSES(ARGUMENT, fpemu_run(&p, NULL, 4, x, y, NULL));
    REFUSES(NULL, fpemu_run_operation(&p, NULL, 4, NULL, NULL, NULL, y, NULL));
    ck_assert(y[0] > 8 && y[3] > 8);
    GIVES_OK(fpemu_run_operation(&p, NULL, 4, operands, NULL, NULL, y, NULL));
    ck_assert(y[0] < 2.1f && y[3] > 8.9f && y[3] < 9.1f); /* 8.6 lies nearer to 9 than to 8 */
}
END_TEST

int main(void)
{
    return RUN_SUITE("prepare", NULL, same_as_planned_anew, threads_share_it, refused);
}
