/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.c - libfpemu_cuda as a program of CUDA uses it, with libfpemu as the judge of every bit and counter:
 *
 *   every verb that only enqueues, captured into graphs, in every mode of capture, before its kernel was ever launched
 *   and after; replays read what then lies in device memory, and nothing of the host's; what waits is refused in a
 *   capture
 *   several streams at once, and several threads of the host; counters and ranges shared by streams
 *   arrays that begin at any element, of odd lengths; tensors with gaps; operands with leading dimensions
 *   an error that CUDA told the caller before stays
 *   streams --memory: hardly any device memory is left; alone, as it takes what others on the device may want
 *
 * What is compared is a list of tasks, each a verb and what it is given. Its arrays lie in an arena, of which there is
 * one on the host and one for each stream: the host's is filled, copied to the device, and worked on by both sides. */
#include <cuda_runtime_api.h>
#include <fpemu_cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 13
#include "random.h"

enum { F32, F64, BF16, F16 };
enum { RNE = FPEMU_MODE_RNE, SR = FPEMU_MODE_SR };
static const size_t element[] = {[F32] = 4, [F64] = 8, [BF16] = 2, [F16] = 2};

/* Elements of an array, room for one that begins late included; bytes of an input, an output and the scratch. */
enum { MOST = 5003, LATE = 8, SPAN = 8 * 5056, SLOT = 4 * SPAN, SCRATCH = 1 << 17, RANGE = 256 };
/* Inputs: three of each type, the third of at most 16 significant bits; bytes; scales. */
enum { CODES = 12, SCALES32, SCALES64, INPUTS };
enum { BINS = 50, TABLE = 700, STREAMS = 8, THREADS_AT_ONCE = 4 };
#define WANT_SCALAR (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM)
#define WANT_TENSOR (WANT_SCALAR | FPEMU_STATS_SCALES)

static unsigned long failures, comparisons;
static unsigned char stats_room[1 << 20];

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(int right, const char *what, const char *of, int number)
{
    comparisons++;
    if (!right && failures++ < 40)
        printf("FAIL %s, %s: %d\n", what, of, number);
}

/* ------------------------------------------------------------------------------------------------- tasks */

typedef enum verb {
    QUANTIZE,
    ENCODE,
    DECODE,
    TENSOR,
    PACK,
    UNPACK,
    PACK_BLOCKS,
    UNPACK_BLOCKS,
    SWIZZLE,
    UNSWIZZLE,
    MEASURE,
    ARITH,
    ARITH_SCALED,
    APPLY,
    COMPARE,
    COMPARE_SCALED,
    GEMM,
    GEMM_SCALED,
    GEMV,
    DOT,
    CHAIN
} verb;

/* What a task has beside its verb. */
enum {
    COUNTED = 1,
    IN_PLACE = 2,
    ACROSS = 4,    /* blocks along an axis that is not the last */
    GAPS = 8,      /* strides, or leading dimensions */
    SINGLE = 16,   /* an operand is one number */
    TRANSPOSE = 32 /* and columns first */
};

typedef struct task {
    const char *name;
    verb verb;
    int type;
    const char *spec; /* a format, or a model of sums; "table", "blocks of table": of TABLE values */
    int mode, with;
    int work; /* operation, function or relation */
} task;

static const task tasks[] = {
    {"quantize", QUANTIZE, F32, "e4m3fn", RNE, 0, 0},
    {"quantize", QUANTIZE, F32, "fp(6,9,0)", SR, 0, 0},
    {"quantize, counted", QUANTIZE, F32, "e5m2", SR, COUNTED, 0},
    {"quantize in place", QUANTIZE, F32, "e4m3fn", RNE, COUNTED | IN_PLACE, 0},
    {"quantize to a table", QUANTIZE, F32, "nf4", RNE, 0, 0},
    {"quantize f64", QUANTIZE, F64, "posit(16,2)", RNE, 0, 0},
    {"quantize f64, counted", QUANTIZE, F64, "fp16", SR, COUNTED, 0},
    {"quantize bf16", QUANTIZE, BF16, "e4m3fn", RNE, 0, 0},
    {"quantize bf16, counted", QUANTIZE, BF16, "e5m2", SR, COUNTED, 0},
    {"quantize f16", QUANTIZE, F16, "e4m3fn", SR, 0, 0},
    {"quantize f16, counted", QUANTIZE, F16, "fixed(8,4)", RNE, COUNTED, 0},
    {"encode", ENCODE, F32, "e4m3fn", RNE, 0, 0},
    {"encode, counted", ENCODE, F32, "fp16", SR, COUNTED, 0},
    {"encode f64", ENCODE, F64, "posit(32,2)", RNE, 0, 0},
    {"encode bf16", ENCODE, BF16, "e5m2", RNE, 0, 0},
    {"encode f16", ENCODE, F16, "e4m3fn", SR, COUNTED, 0},
    {"decode", DECODE, F32, "e4m3fn", RNE, 0, 0},
    {"decode", DECODE, F32, "posit(16,2)", RNE, 0, 0},
    {"decode f64", DECODE, F64, "e5m2", RNE, 0, 0},
    {"decode bf16", DECODE, BF16, "e4m3fn", RNE, 0, 0},
    {"decode f16", DECODE, F16, "e2m1", RNE, 0, 0},
    {"tensor", TENSOR, F32, "mxfp4", RNE, 0, 0},
    {"tensor, counted", TENSOR, F32, "mxfp8", SR, COUNTED, 0},
    {"tensor in place", TENSOR, F32, "mxfp4", RNE, IN_PLACE, 0},
    {"tensor across", TENSOR, F32, "mxfp4", RNE, ACROSS, 0},
    {"tensor with gaps", TENSOR, F32, "mxfp6_e2m3", RNE, GAPS, 0},
    {"tensor", TENSOR, F32, "nvfp4", RNE, 0, 0},
    {"tensor across, counted", TENSOR, F32, "nvfp4", SR, ACROSS | COUNTED, 0},
    {"tensor", TENSOR, F32, "group(int4,block=128)", RNE, 0, 0},
    {"tensor", TENSOR, F32, "muppet(8)", SR, COUNTED, 0},
    {"tensor", TENSOR, F32, "codebook(nf4,block=64)", RNE, 0, 0},
    {"tensor", TENSOR, F32, "table", RNE, 0, 0},
    {"tensor with gaps", TENSOR, F32, "blocks of table", RNE, GAPS, 0},
    {"tensor of a long block", TENSOR, F32, "mx(e4m3fn,block=4700)", RNE, 0, 0},
    {"tensor f64", TENSOR, F64, "nvfp4", RNE, GAPS, 0},
    {"tensor f64, counted", TENSOR, F64, "mx(e4m3fn,block=4500)", RNE, COUNTED, 0},
    {"tensor bf16", TENSOR, BF16, "mxfp4", RNE, ACROSS, 0},
    {"tensor bf16", TENSOR, BF16, "nvfp4", SR, 0, 0},
    {"tensor f16", TENSOR, F16, "mxfp8", RNE, GAPS, 0},
    {"tensor f16", TENSOR, F16, "nvfp4", RNE, COUNTED, 0},
    {"pack", PACK, F32, "mxfp4", RNE, COUNTED, 0},
    {"pack", PACK, F32, "nvfp4", SR, 0, 0},
    {"pack", PACK, F32, "table", RNE, 0, 0},
    {"pack f64", PACK, F64, "mxfp8", RNE, ACROSS, 0},
    {"pack bf16", PACK, BF16, "nvfp4", RNE, 0, 0},
    {"pack f16", PACK, F16, "mxfp4", RNE, GAPS, 0},
    {"unpack", UNPACK, F32, "mxfp4", RNE, 0, 0},
    {"unpack", UNPACK, F32, "table", RNE, 0, 0},
    {"unpack f64", UNPACK, F64, "mxfp8", RNE, ACROSS, 0},
    {"unpack bf16", UNPACK, BF16, "mxfp4", RNE, GAPS, 0},
    {"unpack f16", UNPACK, F16, "mxfp4", RNE, 0, 0},
    {"pack_blocks", PACK_BLOCKS, F32, "mxfp4", SR, COUNTED, 0},
    {"pack_blocks f64", PACK_BLOCKS, F64, "mxfp8", RNE, 0, 0},
    {"pack_blocks bf16", PACK_BLOCKS, BF16, "mxfp4", SR, 0, 0},
    {"pack_blocks f16", PACK_BLOCKS, F16, "mxfp8", RNE, COUNTED, 0},
    {"unpack_blocks", UNPACK_BLOCKS, F32, "mxfp4", RNE, 0, 0},
    {"unpack_blocks f64", UNPACK_BLOCKS, F64, "mxfp8", RNE, 0, 0},
    {"unpack_blocks bf16", UNPACK_BLOCKS, BF16, "mxfp8", RNE, 0, 0},
    {"unpack_blocks f16", UNPACK_BLOCKS, F16, "mxfp4", RNE, 0, 0},
    {"swizzle_scales", SWIZZLE, F32, "e8m0", RNE, 0, 0},
    {"unswizzle_scales", UNSWIZZLE, F32, "e8m0", RNE, 0, 0},
    {"measure", MEASURE, F32, "nvfp4", RNE, 0, 0},
    {"measure", MEASURE, F32, "s2fp8", RNE, 0, 0},
    {"measure f64", MEASURE, F64, "s2fp8", RNE, 0, 0},
    {"measure bf16", MEASURE, BF16, "nvfp4", RNE, 0, 0},
    {"measure f16", MEASURE, F16, "nvfp4", RNE, 0, 0},
    {"add", ARITH, F32, "fp16", RNE, 0, FPEMU_OPERATION_ADD},
    {"fma, counted", ARITH, F32, "bf16", SR, COUNTED, FPEMU_OPERATION_FMA},
    {"mul by one number", ARITH, F32, "fp16", RNE, SINGLE, FPEMU_OPERATION_MUL},
    {"div f64", ARITH, F64, "e5m2", RNE, SINGLE | COUNTED, FPEMU_OPERATION_DIV},
    {"sub bf16", ARITH, BF16, "bf16", RNE, 0, FPEMU_OPERATION_SUB},
    {"maximum f16", ARITH, F16, "fp16", RNE, SINGLE, FPEMU_OPERATION_MAXIMUM},
    {"add, scaled", ARITH_SCALED, F32, "fp16", RNE, 0, FPEMU_OPERATION_ADD},
    {"mul f64, scaled", ARITH_SCALED, F64, "fp16", RNE, COUNTED, FPEMU_OPERATION_MUL},
    {"add bf16, scaled", ARITH_SCALED, BF16, "bf16", SR, 0, FPEMU_OPERATION_ADD},
    {"mul f16, scaled", ARITH_SCALED, F16, "fp16", RNE, SINGLE, FPEMU_OPERATION_MUL},
    {"exp2", APPLY, F32, "fp16", RNE, 0, FPEMU_FUNCTION_EXP2},
    {"gelu, counted", APPLY, F32, "bf16", SR, COUNTED, FPEMU_FUNCTION_GELU},
    {"tanh f64", APPLY, F64, "e4m3fn", RNE, 0, FPEMU_FUNCTION_TANH},
    {"sin bf16", APPLY, BF16, "bf16", RNE, 0, FPEMU_FUNCTION_SIN},
    {"erf f16", APPLY, F16, "fp16", RNE, 0, FPEMU_FUNCTION_ERF},
    {"lt", COMPARE, F32, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"eq f64", COMPARE, F64, "fp32", RNE, SINGLE, FPEMU_RELATION_EQ},
    {"le bf16", COMPARE, BF16, "fp32", RNE, 0, FPEMU_RELATION_LE},
    {"lt f16", COMPARE, F16, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"lt, scaled", COMPARE_SCALED, F32, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"le f64, scaled", COMPARE_SCALED, F64, "fp32", RNE, 0, FPEMU_RELATION_LE},
    {"lt bf16, scaled", COMPARE_SCALED, BF16, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"eq f16, scaled", COMPARE_SCALED, F16, "fp32", RNE, SINGLE, FPEMU_RELATION_EQ},
    {"gemm", GEMM, F32, "fp32", RNE, 0, 0},
    {"gemm", GEMM, F32, "pairwise(fp16)", RNE, GAPS, 0},
    {"gemm of rounded operands", GEMM, F32, "seq(fp16); ab=e4m3fn", RNE, GAPS | TRANSPOSE, 0},
    {"gemm, counted", GEMM, F32, "chunk(16,fp16,fp32)", RNE, COUNTED, 0},
    {"gemm f64", GEMM, F64, "seq(fp(6,9,0)/sr); a=e5m2", RNE, TRANSPOSE, 0},
    {"gemm f64, counted", GEMM, F64, "tc(h100,fp16)", RNE, COUNTED | GAPS, 0},
    {"gemm_scaled", GEMM_SCALED, F32, "chunk(16,fp16,fp32)", RNE, 0, 0},
    {"gemm_scaled f64", GEMM_SCALED, F64, "chunk(16,fp32); ab=e2m1", RNE, GAPS | COUNTED, 0},
    {"gemv", GEMV, F32, "seq(fp16)", RNE, GAPS, 0},
    {"gemv f64", GEMV, F64, "kahan(bf16); ab=bf16", RNE, TRANSPOSE | COUNTED, 0},
    {"dot", DOT, F32, "kahan(fp16)", RNE, 0, 0},
    {"dot f64", DOT, F64, "seq(bf16/sr); ab=e5m2", RNE, GAPS | COUNTED, 0},
    {"measure, pack, unpack", CHAIN, F32, "nvfp4", RNE, COUNTED, 0},
    {"measure, pack, unpack", CHAIN, F32, "s2fp8", RNE, 0, 0},
    {"measure, pack, unpack f64", CHAIN, F64, "nvfp4", SR, 0, 0},
    {"measure, pack, unpack bf16", CHAIN, BF16, "nvfp4", RNE, 0, 0},
    {"measure, pack, unpack f16", CHAIN, F16, "nvfp4", RNE, COUNTED, 0},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

/* Where a list of tasks works. late: elements by which arrays begin after an address that suits vectors. */
typedef struct arena {
    unsigned char *in, *out, *scratch, *stats, *range; /* INPUTS spans; of each task a slot */
    size_t n, late_in, late_out;
} arena;

static void *input(const arena *a, int type, int which)
{
    return a->in + (size_t)(3 * type + which) * SPAN + a->late_in * element[type];
}

static void *other_input(const arena *a, int which, size_t size)
{
    return a->in + (size_t)which * SPAN + a->late_in * size;
}

/* The first or the second output of a task, of elements of `size` bytes. */
static void *output(const arena *a, int k, int second, size_t size)
{
    return a->out + (size_t)k * SLOT + (second ? SLOT / 2 : 0) + a->late_out * size;
}

static fpemu_cuda_stats *stats_of(const arena *a, int k)
{
    return tasks[k].with & COUNTED
               ? (fpemu_cuda_stats *)(void *)(a->stats + (size_t)k * ((fpemu_cuda_stats_size() + 255) / 256 * 256))
               : NULL;
}

static fpemu_cuda_range *range_of(const arena *a, int k)
{
    return (fpemu_cuda_range *)(void *)(a->range + (size_t)k * RANGE);
}

static uint32_t want_of(const task *t)
{
    if (t->verb >= GEMM && t->verb <= DOT)
        return 0;
    return t->verb == CHAIN || (t->verb >= TENSOR && t->verb <= UNPACK_BLOCKS) ? WANT_TENSOR : WANT_SCALAR;
}

static int has_range(const task *t)
{
    return t->verb == MEASURE || t->verb == CHAIN;
}

/* What a call is given that is the host's: read at launch, and no more. */
typedef struct things {
    fpemu_format f;
    fpemu_rounding r;
    fpemu_shape s;
    fpemu_gemm_spec spec;
    fpemu_gemm_shape product;
    const float *p32[3];
    const double *p64[3];
    const uint16_t *p16[3];
    size_t steps[3];
    fpemu_operand_scales_f32 s32[3];
    fpemu_operand_scales_f64 s64[3];
    float table[TABLE];
    uint64_t blocks, first, count; /* of pack_blocks */
    uint64_t scratch;              /* bytes */
} things;

static void fail_setup(const task *t, const char *what)
{
    fprintf(stderr, "%s %s: the test itself: %s\n", t->name, t->spec, what);
    exit(1);
}

static fpemu_status make_format(const task *t, things *h)
{
    fpemu_format table, scale;
    for (int i = 0; i < TABLE; i++)
        h->table[i] = (float)(i - 100) * (float)(i < 100 ? 101 - i : i - 99) / 1024;
    if (strcmp(t->spec, "table") == 0)
        return fpemu_format_table(&h->f, TABLE, h->table);
    if (strcmp(t->spec, "blocks of table") != 0)
        return fpemu_format_parse(t->spec, &h->f, NULL);
    if (fpemu_format_table(&table, TABLE, h->table) || fpemu_format_parse("fp32", &scale, NULL))
        return FPEMU_ERROR_FORMAT;
    return fpemu_format_blocked(&h->f, &table, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, 50);
}

/* Tensors: a vector, one whose blocks run across, one with gaps. */
static void make_shape(const task *t, size_t n, things *h)
{
    const uint64_t sizes[3] = {3, 37, 13};
    const int64_t x_stride[4] = {389, 191, 11, 2}, y_stride[4] = {217, 105, 6, 1};
    h->s = fpemu_shape_vector(n);
    if (t->with & ACROSS)
        (void)fpemu_shape_of(3, sizes, 1, &h->s);
    if (!(t->with & GAPS))
        return;
    h->s.outer = 3;
    h->s.rows = 2;
    h->s.length = 17;
    h->s.inner = 5;
    memcpy(h->s.x_stride, x_stride, sizeof x_stride);
    memcpy(h->s.y_stride, y_stride, sizeof y_stride);
}

static void make_product(const task *t, things *h)
{
    const int gaps = t->with & GAPS, across = t->with & TRANSPOSE;
    h->product.m = 33;
    h->product.n = 20;
    h->product.k = 40;
    if (gaps) /* rows of A, of B (or of their transposes, as columns) and of C, with elements between them */
        h->product.lda = h->product.ldb = h->product.ldc = 45;
    h->product.order = across ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    h->product.transpose_a = across != 0;
}

static things *prepare(int k, const arena *a)
{
    const task *const t = &tasks[k];
    things *const h = calloc(1, sizeof *h);
    if (!h)
        fail_setup(t, "no memory");
    h->r = t->mode == SR ? fpemu_rounding_stochastic(5, 6) : fpemu_rounding_nearest();
    h->r.offset = t->mode == SR ? 77 : 0;
    for (int o = 0; o < 3; o++) {
        h->steps[o] = t->with & SINGLE && o == 1 ? 0 : 1;
        h->p32[o] = input(a, F32, o);
        h->p64[o] = input(a, F64, o);
        h->p16[o] = input(a, t->type == BF16 ? BF16 : F16, o);
    }
    /* one operand with blocks of scales, one with none, one with few that come again */
    h->s32[0] = (fpemu_operand_scales_f32){{other_input(a, SCALES32, 4)}, 16, 0};
    h->s64[0] = (fpemu_operand_scales_f64){{other_input(a, SCALES64, 8)}, 16, 0};
    h->s32[2] = (fpemu_operand_scales_f32){{other_input(a, SCALES32, 4)}, 7, 3};
    h->s64[2] = (fpemu_operand_scales_f64){{other_input(a, SCALES64, 8)}, 7, 3};
    if (t->verb >= GEMM && t->verb <= DOT) {
        fpemu_gemm_shape sized;
        if (fpemu_gemm_parse(t->spec, &h->spec, NULL))
            fail_setup(t, "the model");
        make_product(t, h);
        sized = h->product;
        if (t->verb == GEMV || t->verb == DOT) {
            memset(&sized, 0, sizeof sized);
            sized.m = t->verb == DOT ? 1 : t->with & TRANSPOSE ? 40 : 33;
            sized.n = 1;
            sized.k = t->verb == DOT ? a->n : t->with & TRANSPOSE ? 33 : 40;
        }
        h->scratch = fpemu_cuda_gemm_scratch_size(&h->spec, &sized, t->type == F64 ? 64 : 32);
    } else {
        fpemu_layout l;
        if (make_format(t, h))
            fail_setup(t, "the format");
        make_shape(t, a->n, h);
        if (fpemu_packed_layout(&h->f, &h->s, &l) || l.bytes + LATE * 8 > SPAN)
            fail_setup(t, "the shape");
        h->blocks = l.blocks;
        h->first = h->blocks / 3;
        h->count = h->blocks - h->first - (h->blocks > 4);
        h->scratch = fpemu_cuda_scratch_size(&h->f, &h->s);
    }
    if (h->scratch > SCRATCH)
        fail_setup(t, "scratch");
    return h;
}

/* Whatever still looks at it shall not find what was there. */
static void destroy(things *h)
{
    memset(h, 0xff, sizeof *h);
    free(h);
}

/* Pieces of a product, as factors and steps. */
#define ALPHA 0.5f
#define BETA 1.5f
enum { ROWS = 33, COLUMNS = 40, SWIZZLE_ROWS = 130, SWIZZLE_COLUMNS = 7 };

static int64_t step_x(const task *t)
{
    return t->with & GAPS ? -2 : 1;
}

static size_t dot_length(const task *t, const arena *a)
{
    return t->with & GAPS ? a->n / 2 : a->n;
}

/* ------------------------------------------------------------------------------------- a task on both sides */

#define DEVICE(call, ...)                                                                                              \
    (t->type == F32    ? fpemu_cuda_##call##_f32(__VA_ARGS__)                                                          \
     : t->type == F64  ? fpemu_cuda_##call##_f64(__VA_ARGS__)                                                          \
     : t->type == BF16 ? fpemu_cuda_##call##_bf16(__VA_ARGS__)                                                         \
                       : fpemu_cuda_##call##_f16(__VA_ARGS__))
#define DEVICE_LISTS(call, list32, list64, list16)                                                                     \
    (t->type == F32    ? fpemu_cuda_##call##_f32 list32                                                                \
     : t->type == F64  ? fpemu_cuda_##call##_f64 list64                                                                \
     : t->type == BF16 ? fpemu_cuda_##call##_bf16 list16                                                               \
                       : fpemu_cuda_##call##_f16 list16)
#define HOST(call, ...)                                                                                                \
    (t->type == F32    ? fpemu_##call##_f32(__VA_ARGS__)                                                               \
     : t->type == F64  ? fpemu_##call##_f64(__VA_ARGS__)                                                               \
     : t->type == BF16 ? fpemu_##call##_bf16(__VA_ARGS__)                                                              \
                       : fpemu_##call##_f16(__VA_ARGS__))
#define HOST_LISTS(call, list32, list64, list16)                                                                       \
    (t->type == F32    ? fpemu_##call##_f32 list32                                                                     \
     : t->type == F64  ? fpemu_##call##_f64 list64                                                                     \
     : t->type == BF16 ? fpemu_##call##_bf16 list16                                                                    \
                       : fpemu_##call##_f16 list16)

static fpemu_cuda_status product_on_device(int k, const things *h, const arena *a, void *scratch, fpemu_cuda_stats *s,
                                           fpemu_cuda_stream q)
{
    const task *const t = &tasks[k];
    const fpemu_order order = t->with & TRANSPOSE ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    const int wide = t->type == F64, transpose = t->with & TRANSPOSE ? 1 : 0;
    const size_t lda = t->with & GAPS ? 45 : 0, length = dot_length(t, a);
    const void *const x = input(a, t->type, 0), *const y = input(a, t->type, 1);
    const void *const scales = other_input(a, wide ? SCALES64 : SCALES32, element[t->type]);
    void *const c = output(a, k, 0, element[t->type]);
    switch (t->verb) {
    case GEMM:
        return wide ? fpemu_cuda_gemm_f64(&h->spec, &h->product, (double)ALPHA, x, y, (double)BETA, c, scratch, s, q)
                    : fpemu_cuda_gemm_f32(&h->spec, &h->product, ALPHA, x, y, BETA, c, scratch, s, q);
    case GEMM_SCALED:
        return wide
                   ? fpemu_cuda_gemm_scaled_f64(&h->spec, &h->product, 1, x, scales, y, NULL, (double)BETA, c, scratch,
                                                s, q)
                   : fpemu_cuda_gemm_scaled_f32(&h->spec, &h->product, 1, x, scales, y, scales, BETA, c, scratch, s, q);
    case GEMV:
        return wide ? fpemu_cuda_gemv_f64(&h->spec, order, transpose, ROWS, COLUMNS, 1, x, lda, y, step_x(t),
                                          (double)BETA, c, 3, scratch, s, q)
                    : fpemu_cuda_gemv_f32(&h->spec, order, transpose, ROWS, COLUMNS, 1, x, lda, y, step_x(t), BETA, c,
                                          3, scratch, s, q);
    default:
        return wide ? fpemu_cuda_dot_f64(&h->spec, length, x, 1, y, step_x(t), c, scratch, s, q)
                    : fpemu_cuda_dot_f32(&h->spec, length, x, 1, y, step_x(t), c, scratch, s, q);
    }
}

static fpemu_status product_on_host(int k, const things *h, const arena *a, fpemu_stats *s)
{
    const task *const t = &tasks[k];
    const fpemu_order order = t->with & TRANSPOSE ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    const int wide = t->type == F64, transpose = t->with & TRANSPOSE ? 1 : 0;
    const size_t lda = t->with & GAPS ? 45 : 0, length = dot_length(t, a);
    const void *const x = input(a, t->type, 0), *const y = input(a, t->type, 1);
    const void *const scales = other_input(a, wide ? SCALES64 : SCALES32, element[t->type]);
    void *const c = output(a, k, 0, element[t->type]);
    switch (t->verb) {
    case GEMM:
        return wide ? fpemu_gemm_f64(&h->spec, &h->product, (double)ALPHA, x, y, (double)BETA, c, s)
                    : fpemu_gemm_f32(&h->spec, &h->product, ALPHA, x, y, BETA, c, s);
    case GEMM_SCALED:
        return wide ? fpemu_gemm_scaled_f64(&h->spec, &h->product, 1, x, scales, y, NULL, (double)BETA, c, s)
                    : fpemu_gemm_scaled_f32(&h->spec, &h->product, 1, x, scales, y, scales, BETA, c, s);
    case GEMV:
        return wide ? fpemu_gemv_f64(&h->spec, order, transpose, ROWS, COLUMNS, 1, x, lda, y, step_x(t), (double)BETA,
                                     c, 3, s)
                    : fpemu_gemv_f32(&h->spec, order, transpose, ROWS, COLUMNS, 1, x, lda, y, step_x(t), BETA, c, 3, s);
    default:
        return wide ? fpemu_dot_f64(&h->spec, length, x, 1, y, step_x(t), c, s)
                    : fpemu_dot_f32(&h->spec, length, x, 1, y, step_x(t), c, s);
    }
}

/* A tensor measured, its numbers packed, then its blocks in two calls, then read again; nothing waits. */
static fpemu_cuda_status chain_on_device(int k, const things *h, const arena *a, void *scratch, fpemu_cuda_stats *s,
                                         fpemu_cuda_stream q)
{
    const task *const t = &tasks[k];
    const uint64_t half = h->blocks / 2, rest = h->blocks - half;
    fpemu_cuda_range *const range = range_of(a, k);
    unsigned char *const x = input(a, t->type, 0);
    void *const bytes = output(a, k, 0, 1), *const y = output(a, k, 1, element[t->type]);
    const void *const later = x + half * h->f.block_length * element[t->type];
    fpemu_cuda_status status = fpemu_cuda_range_clear(range, q);
    if (!status)
        status = DEVICE(measure, &h->f, a->n, (void *)x, range, q);
    if (!status)
        status = fpemu_cuda_pack_tensor_scales(&h->f, &h->s, range, bytes, q);
    if (!status && half)
        status = DEVICE(pack_blocks, &h->f, &h->r, &h->s, 0, half, (void *)x, bytes, scratch, s, q);
    if (!status)
        status = DEVICE(pack_blocks, &h->f, &h->r, &h->s, half, rest, later, bytes, scratch, s, q);
    return status ? status : DEVICE(unpack, &h->f, &h->s, bytes, y, scratch, q);
}

static fpemu_status chain_on_host(int k, const things *h, const arena *a, fpemu_stats *s, fpemu_range *range)
{
    const task *const t = &tasks[k];
    const uint64_t half = h->blocks / 2, rest = h->blocks - half;
    unsigned char *const x = input(a, t->type, 0);
    void *const bytes = output(a, k, 0, 1), *const y = output(a, k, 1, element[t->type]);
    const void *const later = x + half * h->f.block_length * element[t->type];
    fpemu_shape told = h->s;
    fpemu_status status = HOST(measure, &h->f, a->n, (void *)x, range);
    told.whole = range;
    if (!status)
        status = fpemu_pack_tensor_scales(&h->f, &told, bytes);
    if (!status && half)
        status = HOST(pack_blocks, &h->f, &h->r, &h->s, 0, half, (void *)x, bytes, s);
    if (!status)
        status = HOST(pack_blocks, &h->f, &h->r, &h->s, half, rest, later, bytes, s);
    return status ? status : HOST(unpack, &h->f, &h->s, bytes, y);
}

/* Enqueues a task: its counters are cleared first. */
static fpemu_cuda_status on_device(int k, const things *h, const arena *a, fpemu_cuda_stream q)
{
    const task *const t = &tasks[k];
    const fpemu_operation operation = (fpemu_operation)t->work;
    const fpemu_relation relation = (fpemu_relation)t->work;
    const size_t size = element[t->type];
    fpemu_cuda_stats *const s = stats_of(a, k);
    void *const scratch = h->scratch ? a->scratch + (size_t)k * SCRATCH : NULL;
    void *const values = output(a, k, 0, size), *const bytes = output(a, k, 0, 1);
    void *const codes = output(a, k, 0, fpemu_format_code_size(&h->f));
    const void *const x = t->with & IN_PLACE ? values : input(a, t->type, 0);
    const void *const given = other_input(a, CODES, 1);
    const fpemu_cuda_status status = s ? fpemu_cuda_stats_clear(s, want_of(t), q) : FPEMU_CUDA_OK;
    if (status)
        return status;
    switch (t->verb) {
    case QUANTIZE: return DEVICE(quantize, &h->f, &h->r, a->n, x, values, s, q);
    case ENCODE: return DEVICE(encode, &h->f, &h->r, a->n, x, codes, s, q);
    case DECODE: return DEVICE(decode, &h->f, a->n, other_input(a, CODES, fpemu_format_code_size(&h->f)), values, q);
    case TENSOR: return DEVICE(quantize_tensor, &h->f, &h->r, &h->s, x, values, scratch, s, q);
    case PACK: return DEVICE(pack, &h->f, &h->r, &h->s, x, bytes, scratch, s, q);
    case UNPACK: return DEVICE(unpack, &h->f, &h->s, given, values, scratch, q);
    case PACK_BLOCKS: return DEVICE(pack_blocks, &h->f, &h->r, &h->s, h->first, h->count, x, bytes, scratch, s, q);
    case UNPACK_BLOCKS: return DEVICE(unpack_blocks, &h->f, &h->s, h->first, h->count, given, values, scratch, q);
    case SWIZZLE: return fpemu_cuda_swizzle_scales(SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes, q);
    case UNSWIZZLE: return fpemu_cuda_unswizzle_scales(SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes, q);
    case MEASURE: {
        const fpemu_cuda_status cleared = fpemu_cuda_range_clear(range_of(a, k), q);
        return cleared ? cleared : DEVICE(measure, &h->f, a->n, x, range_of(a, k), q);
    }
    case ARITH:
        return DEVICE_LISTS(arith, (&h->f, &h->r, operation, a->n, h->p32, h->steps, values, s, q),
                            (&h->f, &h->r, operation, a->n, h->p64, h->steps, values, s, q),
                            (&h->f, &h->r, operation, a->n, h->p16, h->steps, values, s, q));
    case ARITH_SCALED:
        return DEVICE_LISTS(arith_scaled, (&h->f, &h->r, operation, a->n, h->p32, h->steps, h->s32, values, s, q),
                            (&h->f, &h->r, operation, a->n, h->p64, h->steps, h->s64, values, s, q),
                            (&h->f, &h->r, operation, a->n, h->p16, h->steps, h->s32, values, s, q));
    case APPLY: return DEVICE(apply, &h->f, &h->r, (fpemu_function)t->work, a->n, input(a, t->type, 2), values, s, q);
    case COMPARE:
        return DEVICE_LISTS(compare, (relation, a->n, h->p32, h->steps, bytes, q),
                            (relation, a->n, h->p64, h->steps, bytes, q), (relation, a->n, h->p16, h->steps, bytes, q));
    case COMPARE_SCALED:
        return DEVICE_LISTS(compare_scaled, (relation, a->n, h->p32, h->steps, h->s32, bytes, q),
                            (relation, a->n, h->p64, h->steps, h->s64, bytes, q),
                            (relation, a->n, h->p16, h->steps, h->s32, bytes, q));
    case CHAIN: return chain_on_device(k, h, a, scratch, s, q);
    default: return product_on_device(k, h, a, scratch, s, q);
    }
}

/* The same by the library; s: NULL or counters, which it adds to. */
static fpemu_status on_host(int k, const things *h, const arena *a, fpemu_stats *s, fpemu_range *range)
{
    const task *const t = &tasks[k];
    const fpemu_operation operation = (fpemu_operation)t->work;
    const fpemu_relation relation = (fpemu_relation)t->work;
    const size_t size = element[t->type];
    void *const values = output(a, k, 0, size), *const bytes = output(a, k, 0, 1);
    void *const codes = output(a, k, 0, fpemu_format_code_size(&h->f));
    const void *const x = t->with & IN_PLACE ? values : input(a, t->type, 0);
    const void *const given = other_input(a, CODES, 1);
    switch (t->verb) {
    case QUANTIZE: return HOST(quantize, &h->f, &h->r, a->n, x, values, s);
    case ENCODE: return HOST(encode, &h->f, &h->r, a->n, x, codes, s);
    case DECODE: return HOST(decode, &h->f, a->n, other_input(a, CODES, fpemu_format_code_size(&h->f)), values);
    case TENSOR: return HOST(quantize_tensor, &h->f, &h->r, &h->s, x, values, s);
    case PACK: return HOST(pack, &h->f, &h->r, &h->s, x, bytes, s);
    case UNPACK: return HOST(unpack, &h->f, &h->s, given, values);
    case PACK_BLOCKS: return HOST(pack_blocks, &h->f, &h->r, &h->s, h->first, h->count, x, bytes, s);
    case UNPACK_BLOCKS: return HOST(unpack_blocks, &h->f, &h->s, h->first, h->count, given, values);
    case SWIZZLE: return fpemu_swizzle_scales(SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes);
    case UNSWIZZLE: return fpemu_unswizzle_scales(SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes);
    case MEASURE: return HOST(measure, &h->f, a->n, x, range);
    case ARITH:
        return HOST_LISTS(arith, (&h->f, &h->r, operation, a->n, h->p32, h->steps, values, s),
                          (&h->f, &h->r, operation, a->n, h->p64, h->steps, values, s),
                          (&h->f, &h->r, operation, a->n, h->p16, h->steps, values, s));
    case ARITH_SCALED:
        return HOST_LISTS(arith_scaled, (&h->f, &h->r, operation, a->n, h->p32, h->steps, h->s32, values, s),
                          (&h->f, &h->r, operation, a->n, h->p64, h->steps, h->s64, values, s),
                          (&h->f, &h->r, operation, a->n, h->p16, h->steps, h->s32, values, s));
    case APPLY: return HOST(apply, &h->f, &h->r, (fpemu_function)t->work, a->n, input(a, t->type, 2), values, s);
    case COMPARE:
        return HOST_LISTS(compare, (relation, a->n, h->p32, h->steps, bytes), (relation, a->n, h->p64, h->steps, bytes),
                          (relation, a->n, h->p16, h->steps, bytes));
    case COMPARE_SCALED:
        return HOST_LISTS(compare_scaled, (relation, a->n, h->p32, h->steps, h->s32, bytes),
                          (relation, a->n, h->p64, h->steps, h->s64, bytes),
                          (relation, a->n, h->p16, h->steps, h->s32, bytes));
    case CHAIN: return chain_on_host(k, h, a, s, range);
    default: return product_on_host(k, h, a, s);
    }
}

/* ------------------------------------------------------------------------------------- what is right */

/* Counters, and room for their histograms. */
typedef struct counted {
    fpemu_stats s;
    uint64_t bins[2][BINS];
} counted;

static void begin_counters(counted *c, uint32_t want)
{
    memset(c, 0, sizeof *c);
    c->s.request.want = want;
    c->s.request.histogram = c->bins[0];
    c->s.request.scale_histogram = c->bins[1];
    c->s.request.histogram_first = c->s.request.scale_first = -25;
    c->s.request.histogram_length = c->s.request.scale_length = BINS;
}

static int same_counters(const counted *p, const counted *q)
{
    const fpemu_stats *const a = &p->s, *const b = &q->s;
    return a->count == b->count && a->nan == b->nan && a->infinite == b->infinite && a->clipped == b->clipped &&
           a->overflow == b->overflow && a->invalid == b->invalid && a->div_by_zero == b->div_by_zero &&
           a->underflow == b->underflow && a->subnormal == b->subnormal && a->inexact == b->inexact &&
           a->min_abs == b->min_abs && a->max_abs == b->max_abs && a->max_error == b->max_error &&
           a->swamped == b->swamped && a->blocks == b->blocks && a->zero_blocks == b->zero_blocks &&
           a->nan_blocks == b->nan_blocks && a->saturated_scales == b->saturated_scales &&
           memcmp(&a->sum_error, &b->sum_error, sizeof a->sum_error) == 0 &&
           memcmp(&a->sum_error2, &b->sum_error2, sizeof a->sum_error2) == 0 &&
           memcmp(&a->sum_square, &b->sum_square, sizeof a->sum_square) == 0 &&
           memcmp(p->bins, q->bins, sizeof p->bins) == 0;
}

/* Contents of an arena, and what the tasks make of them. */
typedef struct answer {
    arena host; /* `out` is the result */
    unsigned char *before;
    counted counters[TASKS];
    fpemu_range range[TASKS];
} answer;

enum { IN_BYTES = INPUTS * SPAN, OUT_BYTES = TASKS * SLOT };

/* Finite numbers of several sizes, some zero; scales of few bits. */
static void fill(answer *w)
{
    for (size_t i = 0; i < SPAN / 8; i++) {
        uint32_t bits;
        for (int o = 0; o < 3; o++) {
            const uint64_t r = next();
            float v = (float)((int64_t)(r >> 40) - (1 << 23)) / (float)(1 << (r & 15)) / 4096;
            if (r >> 20 & 1)
                v = (float)((int)(r >> 30 & 63) - 32) / 8; /* ties, zeros */
            memcpy(&bits, &v, 4);
            bits &= o == 2 ? 0xffffff00u : 0xffffffffu;
            memcpy(&v, &bits, 4);
            const double wide = (double)v;
            const uint16_t top = (uint16_t)(bits >> 16), half = (uint16_t)(r >> 8 & 0xbbff);
            memcpy(w->host.in + (size_t)(3 * F32 + o) * SPAN + 4 * i, &v, 4);
            memcpy(w->host.in + (size_t)(3 * F64 + o) * SPAN + 8 * i, &wide, 8);
            memcpy(w->host.in + (size_t)(3 * BF16 + o) * SPAN + 2 * i, &top, 2);
            memcpy(w->host.in + (size_t)(3 * F16 + o) * SPAN + 2 * i, &half, 2);
        }
        const uint64_t r = next();
        const float scale = (float)((r >> 8) % 63 + 1) / (float)(1 << (r & 7)) * (r >> 60 & 1 ? 1 : -1);
        const double wide = (double)scale;
        memcpy(w->host.in + (size_t)SCALES32 * SPAN + 4 * i, &scale, 4);
        memcpy(w->host.in + (size_t)SCALES64 * SPAN + 8 * i, &wide, 8);
        memcpy(w->host.in + (size_t)CODES * SPAN + 8 * i, &r, 8);
    }
    for (int k = 0; k < TASKS; k++) /* finite numbers of the task's type, which some of them read */
        for (size_t i = 0; i < SLOT; i += SPAN)
            memcpy(w->before + (size_t)k * SLOT + i,
                   w->host.in + (size_t)(3 * tasks[k].type + (int)(i / SPAN) % 2) * SPAN, SPAN);
}

/* New contents for lists of n elements that begin late, and what is right for them. */
static void judge(answer *w, size_t n, size_t late_in, size_t late_out)
{
    if (!w->before) {
        w->host.in = malloc(IN_BYTES);
        w->host.out = malloc(OUT_BYTES);
        w->before = malloc(OUT_BYTES);
        if (!w->host.in || !w->host.out || !w->before) {
            fprintf(stderr, "no memory\n");
            exit(1);
        }
    }
    w->host.n = n;
    w->host.late_in = late_in;
    w->host.late_out = late_out;
    fill(w);
    memcpy(w->host.out, w->before, OUT_BYTES);
    memset(w->range, 0, sizeof w->range);
    for (int k = 0; k < TASKS; k++) {
        things *const h = prepare(k, &w->host);
        begin_counters(&w->counters[k], want_of(&tasks[k]));
        const fpemu_status status =
            on_host(k, h, &w->host, tasks[k].with & COUNTED ? &w->counters[k].s : NULL, &w->range[k]);
        if (status)
            fail_setup(&tasks[k], fpemu_status_text(status));
        destroy(h);
    }
}

/* ------------------------------------------------------------------------------------- on the device */

static arena new_arena(void)
{
    arena a = {.n = MOST};
    const size_t stats = (fpemu_cuda_stats_size() + 255) / 256 * 256;
    must(cudaMalloc((void **)&a.in, IN_BYTES), "memory");
    must(cudaMalloc((void **)&a.out, OUT_BYTES), "memory");
    must(cudaMalloc((void **)&a.scratch, (size_t)TASKS * SCRATCH), "memory");
    must(cudaMalloc((void **)&a.stats, TASKS * stats), "memory");
    must(cudaMalloc((void **)&a.range, TASKS * RANGE), "memory");
    if (fpemu_cuda_range_size() > RANGE || fpemu_cuda_stats_size() > sizeof stats_room) {
        fprintf(stderr, "ranges or counters have grown\n");
        exit(1);
    }
    return a;
}

static void free_arena(arena *a)
{
    must(cudaFree(a->in), "free");
    must(cudaFree(a->out), "free");
    must(cudaFree(a->scratch), "free");
    must(cudaFree(a->stats), "free");
    must(cudaFree(a->range), "free");
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    return stream;
}

/* Waits: what was on its way from the host has then arrived. */
static void upload(arena *a, const answer *w, cudaStream_t stream)
{
    a->n = w->host.n;
    a->late_in = w->host.late_in;
    a->late_out = w->host.late_out;
    must(cudaMemcpyAsync(a->in, w->host.in, IN_BYTES, cudaMemcpyHostToDevice, stream), "copy");
    must(cudaMemcpyAsync(a->out, w->before, OUT_BYTES, cudaMemcpyHostToDevice, stream), "copy");
    must(cudaMemsetAsync(a->scratch, 0xa5, (size_t)TASKS * SCRATCH, stream), "fill");
    must(cudaStreamSynchronize(stream), "copy");
}

static unsigned char got[OUT_BYTES];
static counted seen;

/* done: NULL, or which tasks there were. */
static void compare(const char *what, const arena *a, const answer *w, cudaStream_t stream, const unsigned char *done)
{
    const char *text = NULL;
    const fpemu_cuda_status finished = fpemu_cuda_finish(stream, &text);
    expect(finished == FPEMU_CUDA_OK, what, text ? text : "no words", (int)finished);
    must(cudaMemcpyAsync(got, a->out, OUT_BYTES, cudaMemcpyDeviceToHost, stream), "copy back");
    must(cudaStreamSynchronize(stream), "copy back");
    for (int k = 0; k < TASKS; k++) {
        char of[200];
        size_t at = 0;
        if (done && !done[k])
            continue;
        (void)snprintf(of, sizeof of, "%s %s n=%zu late %zu %zu", tasks[k].name, tasks[k].spec, a->n, a->late_in,
                       a->late_out);
        const unsigned char *const right = w->host.out + (size_t)k * SLOT, *const mine = got + (size_t)k * SLOT;
        while (at < SLOT && right[at] == mine[at])
            at++;
        expect(at == SLOT, what, of, (int)at);
        if (tasks[k].with & COUNTED) {
            begin_counters(&seen, want_of(&tasks[k]));
            const fpemu_cuda_status status = fpemu_cuda_stats_read(stats_of(a, k), stats_room, &seen.s, stream);
            expect(status == FPEMU_CUDA_OK && same_counters(&seen, &w->counters[k]), what, of, (int)status);
        }
        if (has_range(&tasks[k])) {
            fpemu_range range;
            const fpemu_cuda_status status = fpemu_cuda_range_read(range_of(a, k), &range, stream);
            expect(status == FPEMU_CUDA_OK && memcmp(&range, &w->range[k], sizeof range) == 0, what, of, (int)status);
        }
    }
}

/* Enqueues one task as a program does whose descriptors live no longer than the call. */
static fpemu_cuda_status enqueue(int k, const arena *a, cudaStream_t stream)
{
    things *const h = prepare(k, a);
    const fpemu_cuda_status status = on_device(k, h, a, stream);
    destroy(h);
    return status;
}

static void enqueue_all(const char *what, const arena *a, cudaStream_t stream)
{
    for (int k = 0; k < TASKS; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        expect(status == FPEMU_CUDA_OK, what, tasks[k].name, (int)status);
    }
}

/* ------------------------------------------------------------------------------------- graphs */

/* A graph of tasks first to last; NULL where that failed, which is told. */
static cudaGraphExec_t capture(const char *what, int first, int last, const arena *a, cudaStream_t stream,
                               enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int right = 1;
    must(cudaStreamBeginCapture(stream, mode), "capture");
    for (int k = first; k <= last; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        expect(status == FPEMU_CUDA_OK, what, tasks[k].name, (int)status);
        right &= status == FPEMU_CUDA_OK;
    }
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess && right)
        error = cudaGraphInstantiateWithFlags(&exec, graph, 0);
    expect(error == cudaSuccess && right, what, cudaGetErrorString(error), (int)error);
    if (graph)
        must(cudaGraphDestroy(graph), "graph");
    (void)cudaGetLastError();
    return error == cudaSuccess && right ? exec : NULL;
}

/* each: a graph for each task, else one for all. Launched for several contents of the same memory. */
static void check_graphs(const char *what, int each, enum cudaStreamCaptureMode mode, arena *a, const answer *rounds,
                         cudaStream_t stream)
{
    cudaGraphExec_t exec[TASKS];
    unsigned char done[TASKS];
    const int graphs = each ? TASKS : 1;
    upload(a, &rounds[0], stream);
    for (int k = 0; k < graphs; k++)
        exec[k] = capture(what, k, each ? k : TASKS - 1, a, stream, mode);
    for (int k = 0; k < TASKS; k++)
        done[k] = exec[each ? k : 0] != NULL;
    for (int round = 0; round < 3; round++) {
        upload(a, &rounds[(round + 1) % 2], stream);
        for (int k = 0; k < graphs; k++)
            if (exec[k])
                must(cudaGraphLaunch(exec[k], stream), "launch of a graph");
        compare(what, a, &rounds[(round + 1) % 2], stream, done);
    }
    for (int k = 0; k < graphs; k++)
        if (exec[k])
            must(cudaGraphExecDestroy(exec[k]), "graph");
}

/* What waits cannot be captured: it is refused, the capture is lost, all else goes on. */
static void check_waiting(arena *a, const answer *w, cudaStream_t stream)
{
    static const char *const names[] = {"stats_read", "range_read", "finish"};
    const char *text;
    fpemu_range range;
    int counts = 0, measures = 0;
    while (!(tasks[counts].with & COUNTED))
        counts++;
    while (tasks[measures].verb != MEASURE)
        measures++;
    for (int which = 0; which < 3; which++) {
        cudaGraph_t graph = NULL;
        begin_counters(&seen, want_of(&tasks[counts]));
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        const fpemu_cuda_status status = which == 0
                                             ? fpemu_cuda_stats_read(stats_of(a, counts), stats_room, &seen.s, stream)
                                         : which == 1 ? fpemu_cuda_range_read(range_of(a, measures), &range, stream)
                                                      : fpemu_cuda_finish(stream, &text);
        expect(status != FPEMU_CUDA_OK, "in a capture", names[which], (int)status);
        printf("in a capture %s says: %s\n", names[which], fpemu_cuda_status_text(status));
        (void)cudaStreamEndCapture(stream, &graph);
        if (graph)
            (void)cudaGraphDestroy(graph);
        (void)cudaGetLastError();
    }
    upload(a, w, stream);
    enqueue_all("after lost captures", a, stream);
    compare("after lost captures", a, w, stream, NULL);
}

/* ------------------------------------------------------------------------------------- streams and threads */

static void check_streams(const answer *rounds)
{
    arena a[STREAMS];
    cudaStream_t stream[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        a[i] = new_arena();
        stream[i] = new_stream();
        upload(&a[i], &rounds[i % 2], stream[i]);
    }
    for (int k = 0; k < TASKS; k++)
        for (int i = 0; i < STREAMS; i++) {
            const fpemu_cuda_status status = enqueue(k, &a[i], stream[i]);
            expect(status == FPEMU_CUDA_OK, "streams", tasks[k].name, (int)status);
        }
    for (int i = 0; i < STREAMS; i++) {
        compare("streams", &a[i], &rounds[i % 2], stream[i], NULL);
        free_arena(&a[i]);
        must(cudaStreamDestroy(stream[i]), "stream");
    }
}

typedef struct at_once {
    arena a;
    cudaStream_t stream;
    const answer *w;
    int wrong; /* statuses */
} at_once;

/* A thread uploads, works through the list twice, forwards and backwards, and waits. */
static void *work(void *given)
{
    at_once *const t = given;
    for (int pass = 0; pass < 2; pass++) {
        upload(&t->a, t->w, t->stream);
        for (int k = 0; k < TASKS; k++)
            t->wrong += enqueue(pass ? k : TASKS - 1 - k, &t->a, t->stream) != FPEMU_CUDA_OK;
        t->wrong += fpemu_cuda_finish(t->stream, NULL) != FPEMU_CUDA_OK;
    }
    return NULL;
}

static void check_threads(const answer *rounds)
{
    at_once all[THREADS_AT_ONCE];
    pthread_t thread[THREADS_AT_ONCE];
    for (int i = 0; i < THREADS_AT_ONCE; i++) {
        const at_once t = {new_arena(), new_stream(), &rounds[i % 2], 0};
        all[i] = t;
    }
    for (int i = 0; i < THREADS_AT_ONCE; i++)
        if (pthread_create(&thread[i], NULL, work, &all[i])) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    for (int i = 0; i < THREADS_AT_ONCE; i++)
        (void)pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS_AT_ONCE; i++) {
        expect(all[i].wrong == 0, "threads", "statuses", all[i].wrong);
        compare("threads", &all[i].a, all[i].w, all[i].stream, NULL);
        free_arena(&all[i].a);
        must(cudaStreamDestroy(all[i].stream), "stream");
    }
}

/* Two streams that count into the same memory at once, as fpemu_cuda(3) allows: nothing is lost. */
static void check_shared(arena *a, const answer *w, cudaStream_t stream)
{
    enum { TIMES = 100 };
    cudaStream_t other = new_stream();
    cudaEvent_t event;
    upload(a, w, stream);
    must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
    for (int k = 0; k < TASKS; k++) {
        const task *const t = &tasks[k];
        counted right;
        fpemu_range range;
        const int sums = t->verb == GEMM && t->with & COUNTED, plain = t->verb == QUANTIZE && t->with == COUNTED;
        if (!sums && !plain && t->verb != MEASURE)
            continue;
        things *const here = prepare(k, &w->host), *const there = prepare(k, a);
        fpemu_cuda_status status = t->verb == MEASURE ? fpemu_cuda_range_clear(range_of(a, k), stream)
                                                      : fpemu_cuda_stats_clear(stats_of(a, k), want_of(t), stream);
        must(cudaEventRecord(event, stream), "event");
        must(cudaStreamWaitEvent(other, event, 0), "event");
        begin_counters(&right, want_of(t));
        memset(&range, 0, sizeof range);
        for (int i = 0; i < 2 * TIMES && !status; i++) {
            const cudaStream_t q = i % 2 ? other : stream;
            void *const scratch = there->scratch ? a->scratch + (size_t)(k - i % 2) * SCRATCH : NULL;
            void *const y = output(a, k, i % 2, element[t->type]);
            const void *const x = input(a, t->type, i % 2);
            const void *const b = input(a, t->type, 2);
            fpemu_cuda_stats *const s = stats_of(a, k);
            if (t->verb == MEASURE)
                status = DEVICE(measure, &there->f, a->n, x, range_of(a, k), q);
            else if (plain)
                status = DEVICE(quantize, &there->f, &there->r, a->n, x, y, s, q);
            else if (t->type == F64)
                status = fpemu_cuda_gemm_f64(&there->spec, &there->product, 1, x, b, 0, y, scratch, s, q);
            else
                status = fpemu_cuda_gemm_f32(&there->spec, &there->product, 1, x, b, 0, y, scratch, s, q);
        }
        for (int i = 0; i < 2 * TIMES && !status; i++) { /* the same by the library */
            static double y[SPAN];
            const void *const x = input(&w->host, t->type, i % 2), *const b = input(&w->host, t->type, 2);
            if (t->verb == MEASURE)
                (void)HOST(measure, &here->f, w->host.n, x, &range);
            else if (plain)
                (void)HOST(quantize, &here->f, &here->r, w->host.n, x, (void *)y, &right.s);
            else if (t->type == F64)
                (void)fpemu_gemm_f64(&here->spec, &here->product, 1, x, b, 0, y, &right.s);
            else
                (void)fpemu_gemm_f32(&here->spec, &here->product, 1, x, b, 0, (float *)(void *)y, &right.s);
        }
        must(cudaStreamSynchronize(other), "shared");
        if (!status && t->verb == MEASURE) {
            fpemu_range all;
            status = fpemu_cuda_range_read(range_of(a, k), &all, stream);
            expect(status == FPEMU_CUDA_OK && memcmp(&all, &range, sizeof all) == 0, "a shared range", t->name,
                   (int)status);
        } else if (!status) {
            begin_counters(&seen, want_of(t));
            status = fpemu_cuda_stats_read(stats_of(a, k), stats_room, &seen.s, stream);
            expect(status == FPEMU_CUDA_OK && same_counters(&seen, &right), "shared counters", t->name, (int)status);
        } else
            expect(0, "shared", t->name, (int)status);
        destroy(here);
        destroy(there);
    }
    must(cudaEventDestroy(event), "event");
    must(cudaStreamDestroy(other), "stream");
}

/* ------------------------------------------------------------------------------------- places, errors, memory */

static void check_places(arena *a, answer *w, cudaStream_t stream)
{
    static const size_t lengths[] = {MOST, 1, 1001, 31, 2, 515, 33, 997};
    for (size_t i = 0; i < 2 * LATE; i++) { /* every place of the inputs, beside equal ones and others of the results */
        judge(w, lengths[(i + i / LATE) % LATE], i % LATE, i < LATE ? i : (3 * i + 1) % LATE);
        upload(a, w, stream);
        enqueue_all("places", a, stream);
        compare("places", a, w, stream, NULL);
    }
}

/* An error of the caller's that the caller has not looked at yet is still there after our calls. */
static void check_errors(arena *a, const answer *w, cudaStream_t stream)
{
    static float host[64];
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f, none;
    void *never = NULL;
    int everywhere = 0;
    memset(&none, 0, sizeof none);
    (void)fpemu_format_parse("e4m3fn", &f, NULL);
    must(cudaDeviceGetAttribute(&everywhere, cudaDevAttrPageableMemoryAccess, 0), "attribute");
    upload(a, w, stream);
    float *const x = input(a, F32, 0), *const y = output(a, 0, 1, 4);
    (void)cudaGetLastError();
    const cudaError_t error = cudaMalloc(&never, (size_t)1 << 60);
    expect(error != cudaSuccess && cudaPeekAtLastError() == error, "errors", "an impossible size", (int)error);
    enqueue_all("errors", a, stream);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that went well", (int)cudaPeekAtLastError());
    compare("errors", a, w, stream, NULL);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that wait", (int)cudaPeekAtLastError());
    const struct {
        const char *what;
        fpemu_cuda_status got, right;
    } refused[] = {
        {"no format", fpemu_cuda_quantize_f32(&none, &r, 64, x, y, NULL, stream), FPEMU_CUDA_ERROR_FORMAT},
        {"no array", fpemu_cuda_quantize_f32(&f, &r, 64, NULL, y, NULL, stream), FPEMU_CUDA_ERROR_NULL},
        {"overlap", fpemu_cuda_quantize_f32(&f, &r, 64, x, x + 1, NULL, stream), FPEMU_CUDA_ERROR_OVERLAP},
        {"no relation", fpemu_cuda_compare_f32((fpemu_relation)9, 64, NULL, NULL, (uint8_t *)(void *)y, stream),
         FPEMU_CUDA_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect(refused[i].got == refused[i].right, "errors", refused[i].what, (int)refused[i].got);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that were refused", (int)cudaPeekAtLastError());
    if (!everywhere) { /* else the device reaches it */
        const fpemu_cuda_status status = fpemu_cuda_quantize_f32(&f, &r, 64, host, y, NULL, stream);
        expect(status == FPEMU_CUDA_ERROR_POINTER, "errors", "memory of the host", (int)status);
        expect(cudaPeekAtLastError() == error, "errors", "after memory of the host", (int)cudaPeekAtLastError());
    }
    expect(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess, "errors", "the caller takes it", 0);
    enqueue_all("errors", a, stream);
    expect(cudaPeekAtLastError() == cudaSuccess, "errors", "none was made", (int)cudaPeekAtLastError());
    must(cudaStreamSynchronize(stream), "errors");
}

/* Nothing of ours has been launched yet, and no memory is left for the code and the stacks of kernels: each call says
 * so or works. With memory again, all work. */
static void check_memory(arena *a, const answer *w, cudaStream_t stream)
{
    enum { PIECES = 4096 };
    static void *piece[PIECES];
    unsigned char done[TASKS];
    size_t room = 0, all = 0;
    int pieces = 0, without = 0;
    upload(a, w, stream);
    must(cudaMemcpyAsync(got, a->out, OUT_BYTES, cudaMemcpyDeviceToHost, stream), "copy");
    must(cudaStreamSynchronize(stream), "copy");
    must(cudaMemGetInfo(&room, &all), "memory");
    for (size_t size = room; size >= (size_t)1 << 20 && pieces < PIECES;)
        if (cudaMalloc(&piece[pieces], size) == cudaSuccess)
            pieces++;
        else {
            (void)cudaGetLastError();
            size /= 2;
        }
    const size_t before = room;
    must(cudaMemGetInfo(&room, &all), "memory");
    for (int k = 0; k < TASKS; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        const cudaError_t error = cudaPeekAtLastError();
        const fpemu_cuda_status finished = fpemu_cuda_finish(stream, NULL);
        if (status != FPEMU_CUDA_OK && status != FPEMU_CUDA_ERROR_DEVICE_MEMORY)
            printf("%s: CUDA says %s\n", tasks[k].name, cudaGetErrorName(error));
        expect(status == FPEMU_CUDA_OK || status == FPEMU_CUDA_ERROR_DEVICE_MEMORY, "no memory", tasks[k].name,
               (int)status);
        expect(finished == FPEMU_CUDA_OK || finished == FPEMU_CUDA_ERROR_DEVICE_MEMORY, "no memory, waited",
               tasks[k].name, (int)finished);
        done[k] = status == FPEMU_CUDA_OK && finished == FPEMU_CUDA_OK;
        without += !done[k];
        (void)cudaGetLastError();
    }
    for (int i = 0; i < pieces; i++)
        must(cudaFree(piece[i]), "free");
    printf("%zu MiB in %d pieces left %zu KiB: %d of %d calls had no memory\n", before >> 20, pieces, room >> 10,
           without, (int)TASKS);
    compare("no memory", a, w, stream, done);
    upload(a, w, stream);
    enqueue_all("memory again", a, stream);
    compare("memory again", a, w, stream, NULL);
}

int main(int argc, char **argv)
{
    static answer rounds[2], placed;
    int count = 0;
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--memory") != 0)) {
        fprintf(stderr, "usage: %s [--memory]\n", argv[0]);
        return 2;
    }
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    for (int i = 0; i < 2; i++)
        judge(&rounds[i], MOST, 0, 0);
    arena a = new_arena();
    cudaStream_t stream = new_stream();
    if (argc == 2)
        check_memory(&a, &rounds[0], stream);
    else { /* graphs come first, while no kernel has been loaded */
        check_graphs("graph of what was never launched", 1, cudaStreamCaptureModeGlobal, &a, rounds, stream);
        check_waiting(&a, &rounds[0], stream);
        check_graphs("graph, thread-local", 1, cudaStreamCaptureModeThreadLocal, &a, rounds, stream);
        check_graphs("graph of all", 0, cudaStreamCaptureModeRelaxed, &a, rounds, stream);
        check_graphs("graph of all, global", 0, cudaStreamCaptureModeGlobal, &a, rounds, stream);
        check_streams(rounds);
        check_threads(rounds);
        check_shared(&a, &rounds[0], stream);
        check_places(&a, &placed, stream);
        check_errors(&a, &rounds[1], stream);
    }
    free_arena(&a);
    must(cudaStreamDestroy(stream), "stream");
    printf("streams%s: %lu compared, %lu differ\n", argc == 2 ? " --memory" : "", comparisons, failures);
    return failures != 0;
}
